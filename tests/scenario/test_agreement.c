/// Server and clients agree: on what each snapshot shows, and in the end on every final tick.
#include "tests/scenario/play.h"
#include "tests/scenario/require.h"

#include "common/arena/arena.h"
#include "proto/datagram.h"
#include "proto/snapshot.h"
#include "tests/run_suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- Each snapshot ------------------------------------------------------------------------------

/// The server's states of the tick that a snapshot showed, as they were when it was sent.
struct shown {
    hc_tick tick;
    uint8_t *states, *presence;
};

struct snapshots {
    struct hc_body body;
    struct shown *sent[PLAY_CLIENTS_MAX]; ///< [PLAY_TICKS] by the head at sending
    hc_tick checked[PLAY_CLIENTS_MAX];    ///< as_of of the newest snapshot looked at
    uint64_t agreed, past;                ///< past: of a tick before the head
    uint8_t *states, *presence;
};

static size_t state_bytes(const struct play *play) {
    const struct hc_world *world = ledger_world(play->ledger);
    return (size_t)world->entities * world->stride;
}

/// What is told must be what the server's timeline holds now, of the tick that the rule names.
static void remember_sent(struct play *play, unsigned client, const uint8_t *bytes, size_t size) {
    struct snapshots *all = play->context;
    const struct hc_world *world = ledger_world(play->ledger);
    const struct hc_timeline *timeline = hc_sv_host_timeline(hc_sim_host(play->sim));
    struct hc_data data;
    struct hc_snapshot snapshot;
    if (hc_datagram_kind(bytes, size) != HC_DATAGRAM_DATA)
        return;
    ck_assert_int_eq(hc_datagram_get_data(bytes, size, &data), HC_OK);
    ck_assert_int_eq(hc_body_begin(&all->body, data.body, data.body_size), HC_OK);
    if (hc_body_next(&all->body) != HC_MESSAGE_SNAPSHOT)
        return;
    ck_assert_int_eq(hc_snapshot_get(&all->body, world, &snapshot, all->presence, all->states),
                     HC_OK);
    hc_tick head = hc_timeline_head(timeline), wanted = head;
    const struct hc_client *core = hc_sim_client(play->sim, client);
    for (unsigned i = 0; i < snapshot.own_count; i++) {
        hc_player player = hc_client_player(core, i);
        wanted = player != HC_NO_PLAYER
                     ? hc_tick_min(wanted, hc_timeline_complete(timeline, player) + 1)
                     : snapshot.tick; // the client has not heard yet who it is
    }
    ck_assert_uint_eq(snapshot.as_of, head);
    ck_assert_uint_eq(snapshot.tick, wanted);
    ck_assert_mem_eq(all->presence, hc_timeline_presence(timeline, wanted), world->entities);
    ck_assert_mem_eq(all->states, hc_timeline_states(timeline, wanted), state_bytes(play));
    struct shown *shown = &all->sent[client][head];
    ck_assert_msg(shown->states == NULL, "two snapshots of head %u for client %u", head, client);
    *shown = (struct shown){
        .tick = wanted, .states = malloc(state_bytes(play)), .presence = malloc(world->entities)};
    memcpy(shown->states, all->states, state_bytes(play));
    memcpy(shown->presence, all->presence, world->entities);
}

static void check_applied(struct play *play, unsigned client) {
    struct snapshots *all = play->context;
    const struct hc_world *world = ledger_world(play->ledger);
    const struct hc_client *core = hc_sim_client(play->sim, client);
    hc_tick tick, as_of;
    if (!hc_client_snapshot(core, &tick, &as_of))
        return;
    const struct hc_timeline *timeline = hc_client_timeline(core);
    const struct shown *sent = &all->sent[client][as_of];
    REQUIRE(sent->states != NULL && tick == sent->tick, "client %u: nothing like (%u, %u) was sent",
            client, tick, as_of);
    REQUIRE(tick >= hc_timeline_oldest(timeline) && tick <= hc_timeline_head(timeline),
            "client %u does not hold tick %u", client, tick);
    REQUIRE(memcmp(hc_timeline_presence(timeline, tick), sent->presence, world->entities) == 0 &&
                memcmp(hc_timeline_states(timeline, tick), sent->states, state_bytes(play)) == 0,
            "client %u holds another tick %u than the server had at %u", client, tick, as_of);
    if (as_of != all->checked[client]) {
        all->agreed++;
        all->past += tick < as_of;
    }
    all->checked[client] = as_of;
}

START_TEST(a_client_holds_what_the_server_held_when_it_sent_each_snapshot) {
    enum { CLIENTS = 6 };
    struct hc_sim_config config = play_config(&hc_arena, CLIENTS, 100, 51);
    config.up = config.down = play_link(100, 10);
    config.up.jitter_us = config.down.jitter_us = 40 * PLAY_MS;
    config.down.duplicate_ppm = 100000;
    config.client.display_offset = 10;
    struct play *play = play_create(&config);
    struct snapshots *all = calloc(1, sizeof *all);
    for (unsigned i = 0; i < CLIENTS; i++)
        all->sent[i] = calloc(PLAY_TICKS, sizeof *all->sent[i]);
    all->states = malloc(state_bytes(play));
    all->presence = malloc(ledger_world(play->ledger)->entities);
    play->context = all;
    play->host_sent = remember_sent;
    play->client_changed = check_applied;
    play_join_all(play);
    hc_sim_run(play->sim, 10 * PLAY_S);
    printf("%lu snapshots agreed, %lu of them of a past tick\n", (unsigned long)all->agreed,
           (unsigned long)all->past);
    ck_assert_uint_gt(all->agreed, CLIENTS * 250);
    ck_assert_uint_gt(all->past, CLIENTS * 200);
    play_check_hashes(play);
    for (unsigned i = 0; i < CLIENTS; i++) {
        for (hc_tick t = 0; t < PLAY_TICKS; t++) {
            free(all->sent[i][t].states);
            free(all->sent[i][t].presence);
        }
        free(all->sent[i]);
    }
    free(all->states);
    free(all->presence);
    free(all);
    play_destroy(play);
}
END_TEST

// ---- The final tick -----------------------------------------------------------------------------

START_TEST(once_inputs_stop_and_links_heal_all_agree_at_every_final_tick) {
    enum { CLIENTS = 6, LATENCY_MS = 80 };
    for (uint64_t seed = 61; seed < 64; seed++) {
        struct hc_sim_config config = play_config(&hc_arena, CLIENTS, LATENCY_MS, seed);
        config.up = config.down = play_link(LATENCY_MS, 20);
        config.up.jitter_us = config.down.jitter_us = 30 * PLAY_MS;
        config.client.display_offset = 15;
        struct play *play = play_create(&config);
        play_join_all(play);
        hc_sim_run(play->sim, 8 * PLAY_S);
        play->hands_off = true;
        play_set_links(play, play_link(LATENCY_MS, 0));
        // W ticks of 1/60 s and a round trip.
        hc_sim_run(play->sim, (uint64_t)config.host.history * PLAY_S / 60 + 2 * LATENCY_MS * 1000);
        hc_tick last[CLIENTS] = {0};
        for (unsigned n = 0; n < 60; n++) {
            hc_sim_run(play->sim, 20 * PLAY_MS);
            for (unsigned i = 0; i < CLIENTS; i++) {
                hc_tick final = play_check_final(play, i);
                ck_assert_uint_ge(final, last[i]);
                last[i] = final;
            }
        }
        hc_tick head = hc_timeline_head(hc_sv_host_timeline(hc_sim_host(play->sim)));
        for (unsigned i = 0; i < CLIENTS; i++)
            ck_assert_uint_gt(last[i], head - 30);
        ledger_check_plain(play->ledger);
        play_check_hashes(play);
        play_destroy(play);
    }
}
END_TEST

static hc_tick final_lag(const struct play *play) {
    const struct hc_sv_host *host = hc_sim_host(play->sim);
    return hc_timeline_head(hc_sv_host_timeline(host)) - hc_sv_host_final(host, NULL);
}

START_TEST(a_silent_client_holds_the_final_tick_back_by_the_window_and_then_no_more) {
    struct hc_sim_config config = play_config(&hc_arena, 4, 50, 71);
    config.host.timeout_us = 3 * PLAY_S;
    struct play *play = play_create(&config);
    play_join_all(play);
    hc_sim_run(play->sim, 2 * PLAY_S);
    ck_assert_uint_le(final_lag(play), 6); // 3 ticks of latency, D 3, and the ways between ticks
    hc_sim_kill(play->sim, 2);
    hc_sim_run(play->sim, 2 * PLAY_S);
    for (unsigned n = 0; n < 30; n++) { // the ledger sees at each tick that it is not more than W
        ck_assert_uint_eq(final_lag(play), config.host.history);
        hc_sim_run(play->sim, 20 * PLAY_MS);
    }
    hc_sim_run(play->sim, 2 * PLAY_S);
    ck_assert_uint_eq(hc_sv_host_stats(hc_sim_host(play->sim))->timeouts, 1);
    ck_assert_uint_le(final_lag(play), 6);
    ledger_check_plain(play->ledger);
    play_destroy(play);
}
END_TEST

START_TEST(a_spectator_holds_nothing_back_and_agrees_too) {
    struct hc_sim_config config = play_config(&hc_arena, 3, 60, 72);
    struct play *play = play_create(&config);
    hc_sim_setup(play->sim, 2)->config.players = 0;
    play_join_all(play);
    hc_sim_run(play->sim, 3 * PLAY_S);
    struct hc_link_config dead = play_link(60, 100);
    hc_sim_set_link(play->sim, 2, &dead, NULL);
    hc_sim_run(play->sim, 2 * PLAY_S);
    ck_assert_uint_le(final_lag(play), 8);
    ck_assert_int_eq(play_state(play, 2), HC_CLIENT_PLAYING); // it still hears the server
    play->hands_off = true;
    hc_sim_run(play->sim, 2 * PLAY_S);
    for (unsigned i = 0; i < 3; i++)
        play_check_final(play, i);
    play_destroy(play);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("agreement");
    TCase *tests = tcase_create("agreement");
    tcase_add_test(tests, a_client_holds_what_the_server_held_when_it_sent_each_snapshot);
    tcase_add_test(tests, once_inputs_stop_and_links_heal_all_agree_at_every_final_tick);
    tcase_add_test(tests, a_silent_client_holds_the_final_tick_back_by_the_window_and_then_no_more);
    tcase_add_test(tests, a_spectator_holds_nothing_back_and_agrees_too);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
