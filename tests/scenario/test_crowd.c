/// More players than a datagram can tell of: everybody is told what it sees, in turn if need be.
#include "tests/scenario/told.h"
#include "tests/scenario/require.h"

#include "client/reader.h"
#include "common/arena/arena.h"
#include "server/budget.h"
#include "tests/run_suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CROWD = 64, LATENCY_MS = 50, TICK_US = 16667 };

static void sent(struct play *play, unsigned client, const uint8_t *bytes, size_t size) {
    told_sent(play->context, play, client, bytes, size);
}

static void changed(struct play *play, unsigned client) {
    told_changed(play->context, play, client);
}

static struct play *begin(const struct hc_sim_config *config, struct told **told) {
    struct hc_sim_config quick = *config;
    quick.trace_worlds = false;
    struct play *play = play_create(&quick);
    play_without_stamps(play);
    *told = told_create(play);
    play->context = *told;
    play->host_sent = sent;
    play->client_changed = changed;
    return play;
}

static void end(struct play *play, struct told *told) {
    play_check_hashes(play);
    told_destroy(told);
    play_destroy(play);
}

/// Everybody's, added up; of what is a time or a wait, the greatest.
static struct told_count sum(const struct play *play, const struct told *told) {
    struct told_count all = {.snapshots = 0};
    for (unsigned i = 0; i < hc_sim_clients(play->sim); i++) {
        struct told_count one = told_count(told, i);
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

static void print(const char *label, const struct told_count *all, uint64_t bytes) {
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

START_TEST(sixty_four_agree_over_lossy_links_and_are_exact_at_once_after_a_blackout) {
    struct hc_sim_config config = play_config(&hc_arena, CROWD, LATENCY_MS, 401);
    config.up = config.down = play_link(LATENCY_MS, 5);
    config.up.jitter_us = config.down.jitter_us = 10 * PLAY_MS;
    config.client.display_offset = 8;
    struct told *told;
    struct play *play = begin(&config, &told);
    play_join_all(play);
    hc_sim_run(play->sim, PLAY_S);
    told_restart(told);
    uint64_t bytes = bytes_sent(play);
    hc_sim_run(play->sim, 2 * PLAY_S);
    struct told_count all = sum(play, told);
    print("64 over 5 % loss", &all, bytes_sent(play) - bytes);
    ck_assert_uint_gt(all.snapshots, CROWD * 100);
    ck_assert_uint_gt(all.units, all.snapshots * CROWD / 4);
    ck_assert_uint_gt(all.corrections, all.snapshots / 10);
    ck_assert_uint_gt(all.dropped, 0);
    ck_assert_uint_le(all.waited, 8); // one look at what is in view takes so long
    // Nothing comes through either way.
    play_set_links(play, play_link(LATENCY_MS, 100));
    hc_sim_run(play->sim, 2 * PLAY_S);
    play_set_links(play, play_link(LATENCY_MS, 0));
    hc_sim_run(play->sim, 2 * LATENCY_MS * PLAY_MS + TICK_US);
    uint64_t now = hc_sim_now(play->sim);
    for (unsigned i = 0; i < CROWD; i++) {
        struct told_count count = told_count(told, i);
        REQUIRE(count.exact_us > count.inexact_us && count.exact_us + TICK_US + PLAY_MS >= now,
                "client %u is not exact: %lu us ago it was, %lu us ago it was not", i,
                (unsigned long)(now - count.exact_us), (unsigned long)(now - count.inexact_us));
    }
    ledger_check_plain(play->ledger);
    end(play, told);
}
END_TEST

START_TEST(over_thin_lines_sixty_four_are_told_in_turn_and_nobody_starves) {
    enum { SECONDS = 3 };
    static const uint32_t rates[] = {HC_SV_CLIENT_RATE_MIN, 16000};
    for (unsigned n = 0; n < sizeof rates / sizeof rates[0]; n++) {
        struct hc_sim_config config = play_config(&hc_arena, CROWD, LATENCY_MS, 410 + n);
        config.host.client_rate = rates[n];
        config.client.display_offset = n * 8; // corrections come last, and shut nobody out
        config.up = config.down = play_link(LATENCY_MS, 2);
        struct told *told;
        struct play *play = begin(&config, &told);
        play_join_all(play);
        hc_sim_run(play->sim, PLAY_S);
        told_restart(told);
        uint64_t bytes = bytes_sent(play);
        hc_sim_run(play->sim, SECONDS * PLAY_S);
        bytes = bytes_sent(play) - bytes;
        char label[64];
        struct told_count all = sum(play, told);
        snprintf(label, sizeof label, "64 at %u bytes/s", rates[n]);
        print(label, &all, bytes);
        ck_assert_uint_gt(all.snapshots, CROWD * SECONDS * 10); // ten a second at least
        ck_assert_uint_le(bytes / SECONDS / CROWD, rates[n]);
        // Some 45 are in view, and a third of them fits each snapshot: see the budget's proof.
        ck_assert_uint_gt(all.units, 15 * all.snapshots);
        ck_assert_uint_le(all.waited, HC_SV_BUDGET_SPREAD * 3);
        end(play, told);
    }
}
END_TEST

START_TEST(a_late_joiner_plays_after_two_round_trips_and_soon_knows_all_that_it_sees) {
    for (uint64_t seed = 420; seed < 422; seed++) {
        struct hc_sim_config config = play_config(&hc_arena, CROWD, LATENCY_MS, seed);
        struct told *told;
        struct play *play = begin(&config, &told);
        for (unsigned i = 0; i + 1 < CROWD; i++)
            ck_assert(hc_sim_connect(play->sim, i));
        hc_sim_run(play->sim, PLAY_S);
        uint64_t asked = hc_sim_now(play->sim);
        ck_assert(hc_sim_connect(play->sim, CROWD - 1));
        // HELLO and COOKIE, CONNECT and what comes with the next tick.
        hc_sim_run(play->sim, 4 * LATENCY_MS * PLAY_MS + TICK_US + PLAY_MS);
        ck_assert_int_eq(play_state(play, CROWD - 1), HC_CLIENT_PLAYING);
        const struct hc_client *core = hc_sim_client(play->sim, CROWD - 1);
        const struct hc_timeline *timeline = hc_client_timeline(core);
        hc_entity own = hc_world_player(hc_client_world(core), hc_client_player(core, 0));
        ck_assert_uint_eq(hc_timeline_presence(timeline, hc_timeline_head(timeline))[own],
                          HC_ALIVE);
        play_set_links(play, play_link(LATENCY_MS, 5));
        hc_sim_run(play->sim, PLAY_S / 2);
        struct told_count count = told_count(told, CROWD - 1);
        printf("playing after %.1f ms; %lu of %lu snapshots inexact\n",
               (double)(4 * LATENCY_MS * PLAY_MS + TICK_US) / 1000, (unsigned long)count.inexact,
               (unsigned long)count.snapshots);
        ck_assert_uint_gt(count.exact_us, count.inexact_us);
        ck_assert_uint_gt(count.exact_us, asked);
        // The server has had half a second's inputs of it.
        const struct hc_timeline *server = hc_sv_host_timeline(hc_sim_host(play->sim));
        ck_assert_uint_ge(hc_timeline_complete(server, hc_client_player(core, 0)) + 16,
                          hc_timeline_head(server));
        end(play, told);
    }
}
END_TEST

// ---- At once ------------------------------------------------------------------------------------

enum { PORT_FIRST = 2000 };

/// Takes all that the host sends. What goes to `port` last and is of `kind` is left in `out`;
/// returns its size, 0: there was none.
static size_t drain(struct hc_sv_host *host, uint64_t now_us, uint16_t port,
                    enum hc_datagram_kind kind, uint8_t out[static HC_DATAGRAM_MAX]) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct hc_address to;
    size_t size, kept = 0;
    while ((size = hc_sv_host_send(host, &to, bytes, now_us)) > 0) {
        if (to.port != port || hc_datagram_kind(bytes, size) != kind)
            continue;
        memcpy(out, bytes, size);
        kept = size;
    }
    return kept;
}

static void join(struct hc_sv_host *host, uint64_t now_us, uint16_t port, struct hc_party *party) {
    uint8_t bytes[HC_DATAGRAM_MAX], opened[HC_DATAGRAM_MAX];
    struct hc_accept accept;
    struct hc_address from = hc_address_ipv4(127, 0, 0, 1, port);
    struct hc_hello hello = {.protocol_id = hc_datagram_protocol_id(&hc_arena)};
    struct hc_datagram_cookie cookie;
    hc_sv_host_receive(host, &from, bytes, hc_datagram_put_hello(&hello, bytes), now_us);
    size_t size = drain(host, now_us, port, HC_DATAGRAM_COOKIE, bytes);
    ck_assert_int_eq(hc_datagram_get_cookie(bytes, size, &cookie), HC_OK);
    struct hc_connect connect = {
        .protocol_id = hello.protocol_id, .slot = cookie.slot, .players = 1};
    memcpy(connect.cookie, cookie.cookie, sizeof cookie.cookie);
    hc_party_issue(party, &hc_arena, port, port);
    hc_sv_host_receive(host, &from, bytes, hc_party_put_connect(party, &connect, bytes), now_us);
    size = drain(host, now_us, port, HC_DATAGRAM_ACCEPT, bytes);
    ck_assert_int_eq(hc_party_get_accept(party, bytes, size, opened, &accept), HC_OK);
}

/// Lets `count` join between two ticks, and plays `ticks` of them. Returns of how many joins and of
/// how many units the first one was told.
static void join_at_once(uint16_t count, uint32_t rate, uint32_t ticks, uint32_t *joins,
                         uint32_t *units) {
    static struct hc_body body;
    struct hc_sv_host_config config = hc_sv_host_config_default();
    struct hc_world world = {.game = NULL};
    const struct hc_cl_said *said;
    struct hc_party first, another;
    uint64_t now_us = 1000;
    config.game = &hc_arena;
    config.keys = hc_party_ring();
    config.unix_us = HC_PARTY_UNIX_US;
    config.clients = count;
    config.client_rate = rate;
    config.history = 8;
    struct hc_sv_host *host = hc_sv_host_create(&config, 0);
    ck_assert_ptr_nonnull(host);
    ck_assert_int_eq(hc_world_init(&world, &hc_arena, count, 60, config.seed, NULL), HC_OK);
    struct hc_cl_reader *reader = hc_cl_reader_create(&world, 1);
    bool *joined = calloc(count, sizeof *joined), *told = calloc(hc_unit_total(&world), 1);
    ck_assert(reader != NULL && joined != NULL && told != NULL);
    for (uint16_t i = 0; i < count; i++)
        join(host, now_us, (uint16_t)(PORT_FIRST + i), i == 0 ? &first : &another);
    for (uint32_t n = 0; n < ticks; n++) {
        uint8_t bytes[HC_DATAGRAM_MAX], opened[HC_DATAGRAM_MAX];
        struct hc_data data;
        now_us += TICK_US;
        hc_sv_host_advance(host, now_us);
        size_t size = drain(host, now_us, PORT_FIRST, HC_DATAGRAM_DATA, bytes);
        if (size == 0)
            continue;
        ck_assert_int_eq(hc_party_get_data(&first, false, bytes, size, opened, &data), HC_OK);
        ck_assert_int_eq(hc_body_begin(&body, data.body, data.body_size), HC_OK);
        ck_assert_int_eq(hc_body_next(&body), HC_MESSAGE_SNAPSHOT);
        ck_assert_int_eq(hc_cl_reader_read(reader, &body, n, &said), HC_OK);
        for (uint32_t i = 0; i < said->control_count; i++)
            joined[said->controls[i].player] = true;
        for (uint32_t i = 0; i < said->told_count; i++)
            told[said->told[i].unit] = true;
        ck_assert(n > 0 || (told[0] && told[1])); // the referee and itself
    }
    *joins = *units = 0;
    for (uint32_t i = 0; i < count; i++)
        *joins += joined[i];
    for (uint32_t i = 0; i < hc_unit_total(&world); i++)
        *units += told[i];
    hc_cl_reader_destroy(reader);
    hc_world_free(&world);
    hc_sv_host_destroy(host);
    free(joined);
    free(told);
}

START_TEST(however_many_join_at_once_each_is_told_of_itself_at_once_and_of_the_others_in_turn) {
    static const struct {
        uint16_t count;
        uint32_t rate, ticks;
    } crowds[] = {{64, HC_SV_CLIENT_RATE_MIN, 64}, {600, 262144, 12}, {300, 16000, 40}};
    for (unsigned n = 0; n < sizeof crowds / sizeof crowds[0]; n++) {
        uint32_t joins, units;
        join_at_once(crowds[n].count, crowds[n].rate, crowds[n].ticks, &joins, &units);
        printf("%u at once, %u bytes/s: after %u ticks one has heard of %u joins and %u units\n",
               crowds[n].count, crowds[n].rate, crowds[n].ticks, joins, units);
        ck_assert_uint_gt(units, 16);
        ck_assert_uint_gt(joins, 8);
        ck_assert_uint_le(joins, units); // of who joins far away nothing is said
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("crowd");
    TCase *tests = tcase_create("crowd");
    tcase_add_test(tests, sixty_four_agree_over_lossy_links_and_are_exact_at_once_after_a_blackout);
    tcase_add_test(tests, over_thin_lines_sixty_four_are_told_in_turn_and_nobody_starves);
    tcase_add_test(tests,
                   a_late_joiner_plays_after_two_round_trips_and_soon_knows_all_that_it_sees);
    tcase_add_test(
        tests, however_many_join_at_once_each_is_told_of_itself_at_once_and_of_the_others_in_turn);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
