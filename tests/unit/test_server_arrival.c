/// Tests that margins are those of the arrivals, whenever the server reads a datagram.
#include "proto/snapshot.h"
#include "tests/run_suite.h"
#include "tests/unit/handshake_rig.h"

static struct hc_body body;
static struct client player;

static void begin(void) {
    set_up();
    player = client_at(loopback(1000), 1);
    ck_assert(connects(&player));
}

static hc_tick head(void) {
    return hc_timeline_head(hc_server_timeline(host));
}

/// The time at which the server takes the step from `tick`.
static uint64_t step_us(hc_tick tick) {
    uint32_t rate = config.tick_rate;
    return hc_server_deadline(host) + hc_tick_due_us(tick + 1, rate) -
           hc_tick_due_us(head() + 1, rate);
}

static const void *no_keys(void *context, uint32_t index, uint32_t own) {
    static const struct hc_arena_input input;
    (void)context, (void)index, (void)own;
    return &input;
}

/// Reads a datagram to the player; true: it has a snapshot.
static bool read_snapshot(const uint8_t *bytes, size_t size, struct hc_snapshot *snapshot) {
    uint8_t opened[HC_DATAGRAM_MAX];
    struct hc_data data;
    struct hc_bits_reader bits;
    if (hc_endpoint_get_data(&player.endpoint, false, bytes, size, opened, &data) != HC_OK)
        return false;
    ck_assert_int_eq(hc_body_begin(&body, data.body, data.body_size), HC_OK);
    if (hc_body_next_of(&body, HC_MESSAGE_SNAPSHOT) != HC_MESSAGE_SNAPSHOT)
        return false;
    ck_assert_int_eq(hc_snapshot_get_message(&body, &bits), HC_OK);
    hc_snapshot_get(&bits, head(), 1, snapshot);
    ck_assert(!bits.failed);
    return true;
}

/// Advances to the next tick; `snapshot` gets the header of the player's newest snapshot.
static bool tick(struct hc_snapshot *snapshot) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct hc_address to;
    struct hc_server_event event;
    bool any = false;
    size_t size;
    now_us = hc_server_deadline(host);
    hc_server_advance(host, now_us);
    while (hc_server_poll_event(host, &event))
        ;
    while ((size = hc_server_send(host, &to, bytes, now_us)) > 0)
        any |= read_snapshot(bytes, size, snapshot);
    return any;
}

/// Gives the server the input of `stamp`, which arrived at `arrived_us`, and checks the low
/// margin of the next snapshot.
static void check_margin(hc_tick stamp, uint64_t arrived_us) {
    uint8_t bytes[HC_DATA_BODY_MAX];
    struct hc_writer writer = hc_bytes_writer(bytes, sizeof bytes);
    struct hc_input_message input = {.client_tick = stamp, .first = stamp, .count = 1};
    struct hc_snapshot snapshot;
    uint64_t read_us = now_us, due_us = step_us(stamp);
    ck_assert(hc_message_put_input(&writer, &hc_arena, 1, &input, no_keys, NULL));
    now_us = arrived_us;
    ck_assert_int_eq(send_data(&player, bytes, writer.at), HC_OK);
    now_us = read_us;
    ck_assert(tick(&snapshot) && snapshot.has_margin);
    ck_assert_int_eq(snapshot.margin.low, (int64_t)(due_us - arrived_us) / HC_MARGIN_UNIT_US);
}

static void wait_ticks(unsigned ticks) {
    struct hc_snapshot snapshot;
    for (unsigned i = 0; i < ticks; i++)
        tick(&snapshot);
}

START_TEST(margin_is_that_of_the_arrival_however_late_the_server_reads) {
    begin();
    wait_ticks(10);
    check_margin(head() + 4, now_us);
    wait_ticks(2 * config.tick_rate); // the margins of before are no longer reported
    check_margin(head() + 4, now_us - 1500);
    wait_ticks(2 * config.tick_rate);
    check_margin(head() + 1, now_us - 7 * 16667);
}
END_TEST

/// A server that could not catch up leaves ticks out.
START_TEST(margin_follows_the_schedule_when_ticks_are_left_out) {
    begin();
    wait_ticks(10);
    check_margin(head() + 4, now_us);
    now_us += 3 * SECOND_US;
    hc_server_advance(host, now_us);
    ck_assert_uint_gt(hc_server_stats(host)->ticks_missed, 0);
    wait_ticks(1);
    check_margin(head() + 2, now_us - 1000);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("server arrival");
    TCase *tests = tcase_create("arrival");
    tcase_add_checked_fixture(tests, NULL, tear_down);
    tcase_add_test(tests, margin_is_that_of_the_arrival_however_late_the_server_reads);
    tcase_add_test(tests, margin_follows_the_schedule_when_ticks_are_left_out);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
