/// The margins that a server reports are those of the arrivals, as they are in virtual time, and
/// each client reads them.
#include "hindcast/arena.h"
#include "tests/sim/players.h"

#include "client/client.h"
#include "hindcast/arena.h"
#include "tests/run_suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CLIENTS = 3,
    LIGHT = 1,   ///< this client is light
    HOSTILE = 2, ///< this one stamps its inputs as it likes, if it is connected
    LATENCY_MS = 30,
    ARRIVALS = 60 * 64,
    UNIT_US = HC_MARGIN_UNIT_US,
    FUTURE = 64,
};

/// The margins that a client's inputs should have, from the arrivals of newer inputs.
struct expected {
    hc_tick newest; ///< HC_NO_TICK: none has come
    unsigned count;
    uint64_t at_us[ARRIVALS];
    int64_t early_us[ARRIVALS];
    struct hc_margin report; ///< the newest one that the host has sent
    hc_tick as_of;           ///< head of its snapshot
    uint64_t reported_us;    ///< 0: never
    unsigned reports;
};

struct play {
    struct hc_sim *sim;
    struct hc_body body;
    bool replays;  ///< each datagram of client 0 is sent again 50 and 300 ms later
    bool deceives; ///< the hostile client stamps far ahead
    uint32_t replayed;
    struct expected clients[CLIENTS];
    struct replay {
        uint64_t at_us;
        size_t size;
        uint8_t bytes[HC_DATAGRAM_MAX];
    } ring[64];
    uint32_t stored;
};

static struct play play;

/// When the host takes the step from `tick`, by its clock.
static uint64_t step_due_us(struct hc_server *host, hc_tick tick) {
    hc_tick head = hc_timeline_head(hc_server_timeline(host));
    uint32_t rate = hc_sim_config(play.sim)->host.tick_rate;
    return hc_server_deadline(host) + hc_tick_due_us(tick + 1, rate) -
           hc_tick_due_us(head + 1, rate);
}

static void host_received(void *context, struct hc_sim *sim, unsigned client, uint16_t port,
                          const uint8_t *bytes, size_t size, enum hc_status status) {
    struct expected *expected = &play.clients[client];
    struct hc_input_message message;
    struct hc_input_run run;
    struct hc_data data;
    (void)context, (void)port;
    if (status != HC_OK || hc_datagram_kind(bytes, size) != HC_DATAGRAM_DATA)
        return;
    ck_assert_int_eq(hc_datagram_get_data(bytes, size, &data), HC_OK);
    ck_assert_int_eq(hc_body_begin(&play.body, data.body, data.body_size), HC_OK);
    if (hc_body_next_of(&play.body, HC_MESSAGE_INPUT) != HC_MESSAGE_INPUT)
        return;
    const struct hc_game *game = hc_sim_config(sim)->host.game;
    ck_assert_int_eq(hc_message_get_input(&play.body, game, 1, &message, &run), HC_OK);
    struct hc_server *host = hc_sim_host(sim);
    hc_tick newest = hc_tick_min(message.first + message.count - 1,
                                 hc_timeline_head(hc_server_timeline(host)) + FUTURE);
    if (message.count == 0 || (expected->newest != HC_NO_TICK && newest <= expected->newest))
        return;
    ck_assert_uint_lt(expected->count, ARRIVALS);
    expected->newest = newest;
    uint64_t arrived_us = hc_sim_host_now(sim) + hc_sim_config(sim)->arrivals_ahead_us;
    expected->at_us[expected->count] = arrived_us;
    expected->early_us[expected->count++] = (int64_t)(step_due_us(host, newest) - arrived_us);
}

static int compare(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/// Rounds a time down to units.
static int64_t units(int64_t us) {
    return (us >= 0 ? us : us - UNIT_US + 1) / UNIT_US;
}

/// Checks a report that the host makes now against the arrivals of its window.
static void check_report(struct expected *expected, const struct hc_margin *report) {
    int64_t sorted[HC_MARGIN_SAMPLES];
    uint64_t now_us = hc_sim_host_now(play.sim);
    unsigned count = 0;
    for (unsigned i = expected->count;
         i-- > 0 && expected->at_us[i] + HC_MARGIN_WINDOW_US > now_us;)
        sorted[count++] = expected->early_us[i];
    ck_assert_uint_eq(report->samples, count);
    if (count == 0)
        return;
    qsort(sorted, count, sizeof sorted[0], compare);
    ck_assert_int_eq(report->low, units(sorted[count * 2 / 100]));
    ck_assert_int_eq(report->median, units(sorted[(count - 1) / 2]));
}

static void host_sent(void *context, struct hc_sim *sim, unsigned client, const uint8_t *bytes,
                      size_t size) {
    struct expected *expected = &play.clients[client];
    struct hc_data data;
    struct hc_bits_reader bits;
    struct hc_snapshot snapshot;
    (void)context;
    if (hc_datagram_kind(bytes, size) != HC_DATAGRAM_DATA)
        return;
    ck_assert_int_eq(hc_datagram_get_data(bytes, size, &data), HC_OK);
    ck_assert_int_eq(hc_body_begin(&play.body, data.body, data.body_size), HC_OK);
    if (hc_body_next_of(&play.body, HC_MESSAGE_SNAPSHOT) != HC_MESSAGE_SNAPSHOT)
        return;
    ck_assert_int_eq(hc_snapshot_get_message(&play.body, &bits), HC_OK);
    hc_snapshot_get(&bits, hc_timeline_head(hc_server_timeline(hc_sim_host(sim))), 1, &snapshot);
    uint64_t now_us = hc_sim_host_now(sim);
    bool due = expected->reported_us == 0 ? expected->count > 0
                                          : now_us - expected->reported_us >= HC_MARGIN_REPORT_US;
    ck_assert(snapshot.has_margin || !due);
    if (!snapshot.has_margin)
        return;
    check_report(expected, &snapshot.margin);
    expected->report = snapshot.margin;
    expected->as_of = snapshot.as_of;
    expected->reported_us = now_us;
    expected->reports++;
}

/// The client holds the report that the host has sent before, or an older one if that is lost.
static void client_changed(void *context, struct hc_sim *sim, unsigned client) {
    const struct expected *expected = &play.clients[client];
    const struct hc_cl_margin *margin = &hc_sim_client(sim, client)->link.margin;
    (void)context;
    if (margin->at_us == 0 || margin->as_of != expected->as_of)
        return;
    ck_assert_uint_eq(margin->samples, expected->report.samples);
    ck_assert(margin->known == (margin->samples > 0));
    ck_assert_int_eq(margin->low_us, expected->report.low * UNIT_US);
    ck_assert_int_eq(margin->median_us, expected->report.median * UNIT_US);
}

/// Sends what client 0 has sent 50 and 300 ms ago again.
static void client_sent(void *context, struct hc_sim *sim, unsigned client, const uint8_t *bytes,
                        size_t size) {
    (void)context, (void)bytes;
    if (client != 0 || !play.replays)
        return;
    for (unsigned i = 0; i < 2; i++) {
        uint32_t back = i == 0 ? 3 : 18;
        const struct replay *old = &play.ring[(play.stored - back) % 64];
        if (play.stored < back)
            continue;
        hc_sim_inject(sim, 0, hc_sim_address(sim, 0).port, old->bytes, old->size);
        play.replayed++;
    }
    struct replay *replay = &play.ring[play.stored++ % 64];
    memcpy(replay->bytes, hc_sim_sealed(sim), size);
    replay->size = size;
}

/// Makes the client_tick of the hostile client's INPUT, and so its stamps, as great as its bytes
/// allow.
static bool tamper(void *context, struct hc_sim *sim, unsigned client, uint8_t *bytes,
                   size_t size) {
    uint8_t *body = bytes + HC_DATA_BODY_AT;
    (void)context, (void)sim;
    if (client == HOSTILE && play.deceives && hc_datagram_kind(bytes, size) == HC_DATAGRAM_DATA &&
        body[1] == HC_MESSAGE_INPUT && body[2] == 0xcd) // of 16 bits
        body[3] = body[4] = 0xff;
    return true;
}

/// Connects the clients, and plays for 3 s.
static struct hc_sim *begin(unsigned clients, const struct hc_network_sim_config *up,
                            uint32_t arrivals_ahead_us) {
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, CLIENTS, LATENCY_MS, 17);
    config.arrivals_ahead_us = arrivals_ahead_us;
    hc_sim_fix_delays(&config.client, 3, 0);
    memset(&play, 0, sizeof play);
    if (up != NULL)
        config.up = *up;
    config.hooks.host_received = host_received;
    config.hooks.host_sent = host_sent;
    config.hooks.client_changed = client_changed;
    config.hooks.client_sent = client_sent;
    config.hooks.tamper = tamper;
    play.sim = hc_sim_create(&config);
    ck_assert_ptr_nonnull(play.sim);
    hc_sim_setup(play.sim, LIGHT)->light = true;
    for (unsigned i = 0; i < clients; i++) {
        play.clients[i].newest = HC_NO_TICK;
        ck_assert(hc_sim_connect(play.sim, i));
    }
    hc_sim_run(play.sim, 3 * SECOND_US);
    return play.sim;
}

static struct hc_client_recent recent_of(unsigned client) {
    struct hc_client_recent recent;
    ck_assert(hc_client_recent(hc_sim_client(play.sim, client), &recent));
    return recent;
}

START_TEST(low_margin_follows_the_uplink_alone_within_1200_ms) {
    enum { LONGER_MS = 40 };
    struct hc_sim *sim = begin(2, NULL, 0);
    struct hc_client_recent before[2];
    for (unsigned i = 0; i < 2; i++) {
        before[i] = recent_of(i);
        ck_assert(before[i].margin_known);
        ck_assert_int_le(before[i].margin_low_us, before[i].margin_median_us);
    }
    struct hc_network_sim_config up = hc_sim_link(LATENCY_MS + LONGER_MS, 0);
    for (unsigned i = 0; i < 2; i++)
        hc_sim_set_link(sim, i, &up, NULL);
    hc_sim_run(sim, 1200 * MS_US);
    for (unsigned i = 0; i < 2; i++) {
        struct hc_client_recent after = recent_of(i);
        ck_assert(after.margin_known);
        int32_t wanted_us = before[i].margin_low_us - LONGER_MS * MS_US;
        printf("client %u: %d us, then %d us\n", i, before[i].margin_low_us, after.margin_low_us);
        ck_assert_int_ge(after.margin_low_us, wanted_us - UNIT_US);
        ck_assert_int_le(after.margin_low_us, wanted_us + UNIT_US);
    }
    up = hc_sim_link(LATENCY_MS, 0);
    for (unsigned i = 0; i < 2; i++)
        hc_sim_set_link(sim, i, &up, NULL);
    hc_sim_run(sim, 4200 * MS_US); // the client's clock had begun to follow the longer way
    for (unsigned i = 0; i < 2; i++) {
        struct hc_client_recent after = recent_of(i);
        ck_assert_int_ge(after.margin_low_us, before[i].margin_low_us - UNIT_US);
        ck_assert_int_le(after.margin_low_us, before[i].margin_low_us + UNIT_US);
        ck_assert_uint_gt(play.clients[i].reports, 60);
    }
    hc_sim_destroy(sim);
}
END_TEST

START_TEST(lost_duplicated_and_replayed_data_do_not_distort_the_margin) {
    struct hc_sim *sim = begin(2, NULL, 0);
    struct hc_client_recent clean = recent_of(0);
    hc_sim_destroy(sim);
    struct hc_network_sim_config up = hc_sim_link(LATENCY_MS, 20);
    up.duplicate_ppm = HC_NETWORK_SIM_PPM / 2;
    sim = begin(2, &up, 0);
    play.replays = true;
    hc_sim_run(sim, 5 * SECOND_US);
    struct hc_client_recent after = recent_of(0);
    ck_assert_uint_gt(play.replayed, 400);
    ck_assert_int_ge(after.margin_low_us, clean.margin_low_us - UNIT_US);
    ck_assert_int_le(after.margin_low_us, clean.margin_low_us + UNIT_US);
    hc_sim_destroy(sim);
}
END_TEST

/// Also when datagrams arrive ahead of the clock of the other calls, and when the host leaves ticks
/// out.
START_TEST(margins_are_exact_on_a_link_with_jitter_reordering_and_loss) {
    static const uint32_t aheads_us[] = {0, 1000, 5000};
    struct hc_network_sim_config up = hc_sim_link(LATENCY_MS, 10);
    up.jitter_us = 20000;
    up.reorder_ppm = HC_NETWORK_SIM_PPM / 10;
    struct hc_sim *sim = begin(2, &up, aheads_us[_i]);
    hc_sim_run(sim, 5 * SECOND_US); // the hooks compare each report
    hc_sim_freeze_host(sim, hc_sim_now(sim) + 700 * MS_US);
    hc_sim_run(sim, 6 * SECOND_US);
    ck_assert_uint_gt(hc_server_stats(hc_sim_host(sim))->ticks_missed, 0);
    for (unsigned i = 0; i < 2; i++)
        ck_assert_uint_gt(play.clients[i].reports, 120);
    hc_sim_destroy(sim);
}
END_TEST

START_TEST(a_silent_client_has_an_unknown_margin) {
    struct hc_sim *sim = begin(1, NULL, 0);
    struct hc_network_sim_config blackout = hc_sim_link(LATENCY_MS, 100);
    ck_assert(recent_of(0).margin_known);
    hc_sim_set_link(sim, 0, &blackout, NULL);
    hc_sim_run(sim, 2200 * MS_US);
    ck_assert(!recent_of(0).margin_known && recent_of(0).margin_low_us == 0);
    struct hc_network_sim_config healed = hc_sim_link(LATENCY_MS, 0);
    hc_sim_set_link(sim, 0, &healed, NULL);
    hc_sim_run(sim, 200 * MS_US);
    ck_assert(recent_of(0).margin_known);
    hc_sim_destroy(sim);
}
END_TEST

START_TEST(a_client_that_stamps_absurdly_has_a_bounded_margin_and_harms_nobody) {
    struct hc_sim *sim = begin(CLIENTS, NULL, 0);
    hc_sim_run(sim, 3 * SECOND_US); // its ticks take 16 bits
    int32_t before_us = recent_of(0).margin_low_us;
    play.deceives = true;
    hc_sim_run(sim, 200 * MS_US);
    const struct hc_margin *report = &play.clients[HOSTILE].report;
    ck_assert_uint_gt(report->samples, 0);
    int64_t most_us = 0;
    for (unsigned i = 0; i < play.clients[HOSTILE].count; i++)
        if (play.clients[HOSTILE].early_us[i] > most_us)
            most_us = play.clients[HOSTILE].early_us[i];
    ck_assert_int_gt(most_us, FUTURE * SECOND_US / 60);
    ck_assert_int_le(most_us, (FUTURE + 2) * SECOND_US / 60);
    hc_sim_run(sim, 3 * SECOND_US); // all its inputs are forced by then
    ck_assert_uint_eq(report->samples, 0);
    ck_assert_int_eq(recent_of(0).margin_low_us, before_us);
    hc_sim_destroy(sim);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("margin");
    TCase *tests = tcase_create("margin");
    tcase_add_test(tests, low_margin_follows_the_uplink_alone_within_1200_ms);
    tcase_add_test(tests, lost_duplicated_and_replayed_data_do_not_distort_the_margin);
    tcase_add_loop_test(tests, margins_are_exact_on_a_link_with_jitter_reordering_and_loss, 0, 3);
    tcase_add_test(tests, a_silent_client_has_an_unknown_margin);
    tcase_add_test(tests, a_client_that_stamps_absurdly_has_a_bounded_margin_and_harms_nobody);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
