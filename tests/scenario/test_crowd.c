/// More players than a datagram can tell of: everybody is told what it sees, in turn if need be.
#include "tests/scenario/extras.h"
#include "tests/scenario/require.h"
#include "tests/scenario/told.h"

#include "client/snapshot_reader.h"
#include "hindcast/arena.h"
#include "server/replication/priority.h"
#include "tests/run_suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CROWD = 64,   ///< players in all
    CLIENTS = 16, ///< of these have a client, whose play is looked at
    LATENCY_MS = 50,
    TICK_US = 16667
};

static void sent(struct play *play, unsigned client, const uint8_t *bytes, size_t size) {
    told_sent(play->context, play, client, bytes, size);
}

static void changed(struct play *play, unsigned client) {
    told_changed(play->context, play, client);
}

static struct play *begin(const struct hc_sim_config *config, struct told **told) {
    struct hc_sim_config quick = *config;
    quick.host.clients = CROWD;
    quick.trace_worlds = false;
    struct play *play = play_create(&quick);
    play_without_stamps(play);
    *told = told_create(play);
    play->context = *told;
    play->host_ticked = extras_play;
    play->host_sent = sent;
    play->client_changed = changed;
    extras_join(hc_sim_host(play->sim), CLIENTS);
    return play;
}

static void end(struct play *play, struct told *told) {
    play_check_hashes(play);
    told_destroy(told);
    play_destroy(play);
}

/// Everybody's, added up; of what is a time or a wait, the greatest.
static struct value_count sum(const struct play *play, const struct told *told) {
    struct value_count all = {.snapshots = 0};
    for (unsigned i = 0; i < hc_sim_clients(play->sim); i++) {
        struct value_count one = value_count(told, i);
        all.snapshots += one.snapshots;
        all.past += one.past;
        all.units += one.units;
        all.corrections += one.corrections;
        all.dropped += one.dropped;
        all.inexact += one.inexact;
        all.waited = one.waited > all.waited ? one.waited : all.waited;
    }
    return all;
}

static void print(const char *label, const struct value_count *all, uint64_t bytes) {
    printf("%s: %lu snapshots of %.1f units and %.2f corrections, %.1f bytes; %lu inexact, %lu "
           "units dropped, at most %u without a word of a unit in view\n",
           label, (unsigned long)all->snapshots, (double)all->units / (double)all->snapshots,
           (double)all->corrections / (double)all->snapshots,
           (double)bytes / (double)all->snapshots, (unsigned long)all->inexact,
           (unsigned long)all->dropped, all->waited);
}

static uint64_t bytes_sent(const struct play *play) {
    return hc_sv_host_stats(hc_sim_host(play->sim))->bytes_out;
}

enum { UP = 1, DOWN = 2 };

static void set_links(struct play *play, unsigned ways, uint32_t loss_percent) {
    struct hc_network_sim_config link = play_link(LATENCY_MS, loss_percent);
    for (unsigned i = 0; i < CLIENTS; i++)
        hc_sim_set_link(play->sim, i, (ways & UP) != 0 ? &link : NULL,
                        (ways & DOWN) != 0 ? &link : NULL);
}

/// Lets nothing through for `blackout_us`, up, down or either way; with `everybody` the extras do
/// nothing either, then and until it has been looked at. Fails the test unless every client has all
/// in view exactly right a round trip and one snapshot after its end.
static void check_blackout(struct play *play, const struct told *told, unsigned ways,
                           bool everybody, uint64_t blackout_us) {
    set_links(play, UP | DOWN, 0);
    set_links(play, ways, 100);
    play->host_ticked = everybody ? NULL : extras_play;
    hc_sim_run(play->sim, blackout_us);
    set_links(play, ways, 0);
    hc_sim_run(play->sim, 2 * LATENCY_MS * PLAY_MS + TICK_US);
    play->host_ticked = extras_play;
    uint64_t now = hc_sim_now(play->sim);
    for (unsigned i = 0; i < CLIENTS; i++) {
        struct value_count count = value_count(told, i);
        REQUIRE(count.exact_us > count.inexact_us && count.exact_us + TICK_US + PLAY_MS >= now,
                "client %u is not exact: %lu us ago it was, %lu us ago it was not", i,
                (unsigned long)(now - count.exact_us), (unsigned long)(now - count.inexact_us));
    }
}

START_TEST(sixty_four_agree_over_lossy_links_and_are_exact_at_once_after_a_blackout) {
    struct hc_sim_config config = play_config(&hc_arena, CLIENTS, LATENCY_MS, 401);
    config.up = config.down = play_link(LATENCY_MS, 5);
    config.up.jitter_us = config.down.jitter_us = 10 * PLAY_MS;
    config.client.display_offset = 8;
    struct told *told;
    struct play *play = begin(&config, &told);
    play_join_all(play);
    hc_sim_run(play->sim, PLAY_S / 2);
    told_restart(told);
    uint64_t bytes = bytes_sent(play);
    hc_sim_run(play->sim, PLAY_S);
    struct value_count all = sum(play, told);
    print("64 over 5 % loss", &all, bytes_sent(play) - bytes);
    ck_assert_uint_gt(all.snapshots, CLIENTS * 50);
    ck_assert_uint_gt(all.units, all.snapshots * CROWD / 4);
    ck_assert_uint_gt(all.corrections, all.snapshots / 10);
    ck_assert_uint_gt(all.dropped, 0);
    ck_assert_uint_le(all.waited, 8); // one look at what is in view takes so long
    check_blackout(play, told, UP | DOWN, true, 2 * PLAY_S);
    ledger_check_plain(play->sent_log);
    end(play, told);
}
END_TEST

// Where the others have gone on, what one sees would not fit a datagram without baselines: those
// from before the blackout serve, however long it was, and whatever a client has heard meanwhile.
START_TEST(however_long_a_blackout_all_that_has_gone_on_is_exact_a_round_trip_after_it) {
    static const struct {
        unsigned ways;
        uint32_t blackouts_ms[4];
    } all[] = {{UP | DOWN, {500, 1000, 2000, 8000}}, {UP, {4000}}, {DOWN, {2000, 3000}}};
    struct hc_sim_config config = play_config(&hc_arena, CLIENTS, LATENCY_MS, 430 + (unsigned)_i);
    config.client.display_offset = _i % 2 == 0 ? 0 : 8;
    struct told *told;
    struct play *play = begin(&config, &told);
    play_join_all(play);
    hc_sim_run(play->sim, PLAY_S / 2);
    for (unsigned i = 0; i < 4 && all[_i].blackouts_ms[i] > 0; i++) {
        check_blackout(play, told, all[_i].ways, false, all[_i].blackouts_ms[i] * PLAY_MS);
        hc_sim_run(play->sim, PLAY_S / 2);
    }
    ledger_check_plain(play->sent_log);
    end(play, told);
}
END_TEST

START_TEST(over_thin_lines_sixty_four_are_told_in_turn_and_nobody_starves) {
    enum { SECONDS = 3 };
    static const uint32_t rates[] = {HC_SV_CLIENT_RATE_MIN, 16000};
    for (unsigned n = 0; n < sizeof rates / sizeof rates[0]; n++) {
        struct hc_sim_config config = play_config(&hc_arena, CLIENTS, LATENCY_MS, 410 + n);
        config.host.client_rate = rates[n];
        config.client.display_offset = n * 8; // corrections come last, and shut nobody out
        config.up = config.down = play_link(LATENCY_MS, 2);
        struct told *told;
        struct play *play = begin(&config, &told);
        play_join_all(play);
        hc_sim_run(play->sim, PLAY_S / 2);
        told_restart(told);
        uint64_t bytes = bytes_sent(play);
        hc_sim_run(play->sim, SECONDS * PLAY_S);
        bytes = bytes_sent(play) - bytes;
        char label[64];
        struct value_count all = sum(play, told);
        snprintf(label, sizeof label, "64 at %u bytes/s", rates[n]);
        print(label, &all, bytes);
        ck_assert_uint_gt(all.snapshots, CLIENTS * SECONDS * 10); // ten a second at least
        ck_assert_uint_le(bytes / SECONDS / CLIENTS, rates[n]);
        // Some 45 are in view, and a third of them fits each snapshot: see the budget's proof.
        ck_assert_uint_gt(all.units, 15 * all.snapshots);
        ck_assert_uint_le(all.waited, HC_SV_PRIORITY_SPREAD * 3);
        end(play, told);
    }
}
END_TEST

// ---- At once ------------------------------------------------------------------------------------

enum { PORT_FIRST = 2000, LISTENERS = 4 };

/// One who joins together with many others, and what it has heard of so far.
struct listener {
    struct hc_party party;
    struct hc_cl_snapshot_reader *reader;
    bool *joined; ///< [players]
    bool *told;   ///< [units]
    uint32_t joins, units;
};

/// Lets a client join from `port`, between two ticks.
static void join(struct hc_sv_host *host, uint64_t now_us, uint16_t port, struct hc_party *party) {
    uint8_t bytes[HC_DATAGRAM_MAX], opened[HC_DATAGRAM_MAX];
    struct hc_accept accept;
    struct hc_address to, from = hc_address_ipv4(127, 0, 0, 1, port);
    struct hc_hello hello = {.protocol_id = hc_datagram_protocol_id(&hc_arena)};
    struct hc_datagram_cookie cookie;
    hc_sv_host_receive(host, &from, bytes, hc_datagram_put_hello(&hello, bytes), now_us);
    size_t size = hc_sv_host_send(host, &to, bytes, now_us);
    ck_assert_int_eq(hc_datagram_get_cookie(bytes, size, &cookie), HC_OK);
    struct hc_connect connect = {
        .protocol_id = hello.protocol_id, .slot = cookie.slot, .players = 1};
    memcpy(connect.cookie, cookie.cookie, sizeof cookie.cookie);
    hc_party_issue(party, &hc_arena, port, port);
    hc_sv_host_receive(host, &from, bytes, hc_party_put_connect(party, &connect, bytes), now_us);
    size = hc_sv_host_send(host, &to, bytes, now_us);
    ck_assert_int_eq(hc_party_get_accept(party, bytes, size, opened, &accept), HC_OK);
    ck_assert_uint_eq(hc_sv_host_send(host, &to, bytes, now_us), 0);
}

/// Hears the snapshot of tick `tick`; fails the test unless the first tells of the referee and of
/// the listener itself.
static void listen(struct listener *listener, hc_unit own, const uint8_t *bytes, size_t size,
                   hc_tick tick) {
    static struct hc_body body;
    const struct hc_cl_received *said;
    uint8_t opened[HC_DATAGRAM_MAX];
    struct hc_data data;
    ck_assert_int_eq(hc_party_get_data(&listener->party, false, bytes, size, opened, &data), HC_OK);
    if (data.body_size == 0)
        return; // it keeps the connection alive
    ck_assert_int_eq(hc_body_begin(&body, data.body, data.body_size), HC_OK);
    ck_assert_int_eq(hc_body_next(&body), HC_MESSAGE_SNAPSHOT);
    ck_assert_int_eq(hc_cl_snapshot_reader_read(listener->reader, &body, tick, &said), HC_OK);
    for (uint32_t i = 0; i < said->roster_count; i++) {
        listener->joins += !listener->joined[said->roster_changes[i].player];
        listener->joined[said->roster_changes[i].player] = true;
    }
    for (uint32_t i = 0; i < said->value_count; i++) {
        listener->units += !listener->told[said->told[i].unit];
        listener->told[said->told[i].unit] = true;
    }
    ck_assert(listener->told[0] && listener->told[own]);
}

/// Lets the world's players join between two ticks, and plays `ticks` of them. A few of the players
/// listen, the others have no client.
static void join_at_once(struct hc_sv_host *host, const struct hc_world *world, uint32_t ticks,
                         struct listener listeners[static LISTENERS]) {
    uint64_t now_us = 1000;
    for (unsigned i = 0; i < LISTENERS; i++) {
        listeners[i] = (struct listener){.reader = hc_cl_snapshot_reader_create(world, 1),
                                         .joined = calloc(world->players, sizeof(bool)),
                                         .told = calloc(hc_unit_total(world), sizeof(bool))};
        ck_assert(listeners[i].reader && listeners[i].joined && listeners[i].told);
        join(host, now_us, (uint16_t)(PORT_FIRST + i), &listeners[i].party);
    }
    extras_join(host, LISTENERS);
    for (uint32_t n = 1; n <= ticks; n++) {
        uint8_t bytes[HC_DATAGRAM_MAX];
        struct hc_address to;
        size_t size;
        now_us += TICK_US;
        hc_sv_host_advance(host, now_us);
        while ((size = hc_sv_host_send(host, &to, bytes, now_us)) > 0) {
            uint16_t i = (uint16_t)(to.port - PORT_FIRST);
            listen(&listeners[i], (hc_unit)(1 + i), bytes, size, n);
        }
    }
    for (unsigned i = 0; i < LISTENERS; i++) {
        hc_cl_snapshot_reader_destroy(listeners[i].reader);
        free(listeners[i].joined);
        free(listeners[i].told);
    }
}

START_TEST(however_many_join_at_once_each_is_told_of_itself_at_once_and_of_the_others_in_turn) {
    static const struct {
        uint16_t count;
        uint32_t rate, ticks;
    } crowds[] = {{64, HC_SV_CLIENT_RATE_MIN, 64}, {600, 262144, 12}, {300, 16000, 40}};
    for (unsigned n = 0; n < sizeof crowds / sizeof crowds[0]; n++) {
        struct hc_sv_host_config config = hc_sv_host_config_default();
        struct hc_world world = {.game = NULL};
        struct listener listeners[LISTENERS];
        config.game = &hc_arena;
        config.clients = crowds[n].count;
        config.client_rate = crowds[n].rate;
        config.history = 8;
        config.keys = hc_party_ring();
        config.unix_us = HC_PARTY_UNIX_US;
        struct hc_sv_host *host = hc_sv_host_create(&config, 0);
        ck_assert_ptr_nonnull(host);
        ck_assert_int_eq(
            hc_world_init(&world, config.game, config.clients, config.tick_rate, 0, NULL), HC_OK);
        join_at_once(host, &world, crowds[n].ticks, listeners);
        for (unsigned i = 0; i < LISTENERS; i++) {
            const struct listener *one = &listeners[i];
            printf("%u at once, %u bytes/s: after %u ticks one has heard of %u joins, %u units\n",
                   crowds[n].count, crowds[n].rate, crowds[n].ticks, one->joins, one->units);
            ck_assert_uint_gt(one->units, 16);
            ck_assert_uint_gt(one->joins, 8);
            ck_assert_uint_le(one->joins, one->units); // of who joins far away nothing is said
        }
        hc_world_free(&world);
        hc_sv_host_destroy(host);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("crowd");
    TCase *tests = tcase_create("crowd");
    tcase_add_test(tests, sixty_four_agree_over_lossy_links_and_are_exact_at_once_after_a_blackout);
    tcase_add_loop_test(
        tests, however_long_a_blackout_all_that_has_gone_on_is_exact_a_round_trip_after_it, 0, 3);
    tcase_add_test(tests, over_thin_lines_sixty_four_are_told_in_turn_and_nobody_starves);
    tcase_add_test(
        tests, however_many_join_at_once_each_is_told_of_itself_at_once_and_of_the_others_in_turn);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
