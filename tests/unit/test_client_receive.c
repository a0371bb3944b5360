/// How a client (hindcast/client.h) receives snapshots, and the state that it shows.
#include "tests/unit/client_rig.h"
#include "tests/run_suite.h"

#include <stdlib.h>
#include <string.h>

// ---- Receiving ----------------------------------------------------------------------------------

/// The world at ticks 100 to 104, as one number.
static uint64_t world_hash(void) {
    uint64_t sum = 0;
    for (hc_tick tick = 100; tick <= 104; tick++)
        sum = sum * 31 + hc_timeline_hash(hc_client_timeline(client), tick);
    return sum;
}

static void play_anew(void) {
    hc_client_destroy(client);
    seq = ack = 0;
    play();
    run_to(now_us + 5 * TICK_US);
}

START_TEST(refused_datagram_changes_nothing) {
    uint8_t good[HC_DATAGRAM_MAX], bad[HC_DATAGRAM_MAX];
    unsigned refused = 0;
    play_anew();
    uint8_t *pickup = states + (size_t)(world.entities - 1) * world.stride;
    *pickup ^= 8; // not where it predicted
    struct hc_snapshot snapshot = snapshot_of(102);
    size_t size = put_snapshot(&snapshot, good);
    *pickup ^= 8;
    for (size_t bit = 0; bit < (size - HC_TAG_SIZE) * 8; bit++) {
        uint64_t before = world_hash();
        memcpy(bad, good, size);
        bad[bit / 8] ^= (uint8_t)(1 << bit % 8);
        if (give(bad, size) == HC_OK) { // the hash covers the states, not the stamps
            play_anew();
            continue;
        }
        refused++;
        ck_assert_uint_eq(world_hash(), before);
        hc_tick shown, as_of;
        ck_assert(hc_client_snapshot(client, &shown, &as_of) && shown == 100 && as_of == 100);
    }
    ck_assert_uint_gt(refused, size * 4);
    for (size_t cut = 0; cut < size; cut++)
        if (cut != HC_DATA_BODY_AT + HC_TAG_SIZE) // an empty body is valid
            ck_assert_int_ne(give(good, cut), HC_OK);
    ck_assert_uint_gt(hc_client_stats(client)->hash_mismatches, 0);
    uint64_t before = world_hash();
    ck_assert_int_eq(give(good, size), HC_OK); // its seq was not used up
    ck_assert_uint_ne(world_hash(), before);
}
END_TEST

/// A snapshot with one range of forced inputs and one correction.
static size_t put_forced(const struct hc_snapshot *snapshot,
                         const struct hc_snapshot_forced *forced, uint8_t out[HC_DATAGRAM_MAX]) {
    struct hc_snapshot_correction correction = {.unit = 0, .as_of = HC_NO_TICK};
    begin_snapshot(snapshot);
    struct hc_snapshot_lists lists = {.forced = forced, .forced_count = 1};
    hc_snapshot_put_lists(&bits, snapshot->tick, SIZE_MAX, &lists);
    hc_game_events_put_end(&bits);
    put_units(snapshot);
    hc_snapshot_put_corrections(&bits, snapshot, snapshot->tick, 102, &correction, 1);
    put_delta(0, 102, HC_NO_TICK, NULL);
    hc_bits_put(&bits, 0, 1);
    return end_snapshot(out);
}

/// A snapshot that names no unit.
static enum hc_status give_empty(hc_tick tick) {
    static const struct hc_snapshot_set nothing;
    uint8_t out[HC_DATAGRAM_MAX];
    struct hc_snapshot snapshot = snapshot_of(tick);
    snapshot.hash = 0;
    begin_snapshot(&snapshot);
    hc_bits_put(&bits, 0, 1); // of forced inputs
    hc_bits_put(&bits, 0, 1); // of joins and leaves
    hc_game_events_put_end(&bits);
    hc_snapshot_put_names(&bits, &snapshot, &nothing, NULL, 0);
    hc_bits_put(&bits, 0, 1); // of corrections
    return give(out, end_snapshot(out));
}

START_TEST(timeline_begins_at_a_snapshot_without_units_too) {
    now_us = START_US + 100 * TICK_US;
    join();
    next_datagram();
    ck_assert_int_eq(give_empty(100), HC_OK);
    ck_assert(event_is(HC_CLIENT_EVENT_PLAYING));
    run_to(now_us + 3 * TICK_US);
    hc_client_advance(client, now_us);
    ck_assert_uint_eq(head(), 103);
    ck_assert_int_eq(give_tick(102), HC_OK);
}
END_TEST

START_TEST(snapshot_applies_corrections_and_forced_inputs_once) {
    play();
    press(3);
    run_to(now_us + 6 * TICK_US);
    struct hc_snapshot snapshot = snapshot_of(104);
    struct hc_snapshot_forced forced = {.own = 0, .first = 103, .count = 2};
    uint8_t out[HC_DATAGRAM_MAX];
    for (int i = 0; i < 2; i++) {
        size_t size = put_forced(&snapshot, &forced, out);
        ck_assert_int_eq(give(out, size), HC_OK);
        ck_assert_int_eq(give(out, size), HC_DUPLICATE);
        snapshot.as_of++;
    }
    const struct hc_client_stats *stats = hc_client_stats(client);
    ck_assert_uint_eq(stats->inputs_forced, 2);
    ck_assert_uint_eq(stats->corrections, 2);
    ck_assert_int_eq(hc_timeline_slot(hc_client_timeline(client), PLAYER, 103), HC_SLOT_RETRACTED);
    ck_assert_int_eq(hc_timeline_slot(hc_client_timeline(client), PLAYER, 105), HC_SLOT_KNOWN);
    ck_assert_uint_eq(stats->snapshots, 3);
    ck_assert_uint_eq(stats->rejected[HC_DUPLICATE], 2);
    forced.own = 1; // it has no second player
    ck_assert_int_eq(give(out, put_forced(&snapshot, &forced, out)), HC_MALFORMED);
}
END_TEST

/// A snapshot of unit 1, player 0: its join or leave, its newest input before the snapshot's tick,
/// and the one at the tick after that, unless `later` is NULL; unit 3 is dropped.
static size_t put_other(struct hc_snapshot *snapshot,
                        const struct hc_snapshot_roster *roster_change, hc_tick known,
                        const struct hc_arena_input *last, const struct hc_arena_input *later,
                        uint8_t out[HC_DATAGRAM_MAX]) {
    static const struct hc_snapshot_set nothing;
    const struct hc_snapshot_unit units[] = {{.unit = 1, .from = HC_SNAPSHOT_NOTHING},
                                             {.unit = 3, .from = HC_SNAPSHOT_DROPPED}};
    snapshot->hash = hash_of(1, 1);
    begin_snapshot(snapshot);
    struct hc_snapshot_lists lists = {.changes = roster_change, .change_count = 1};
    hc_snapshot_put_lists(&bits, snapshot->tick, SIZE_MAX, &lists);
    hc_game_events_put_end(&bits);
    hc_snapshot_put_names(&bits, snapshot, &nothing, units, 2);
    put_delta(1, snapshot->tick, known, last);
    hc_bits_put_number(&bits, later != NULL, 1); // runs
    if (later != NULL) {
        hc_bits_put_number(&bits, 1, 1); // ticks skipped
        hc_bits_put_number(&bits, 0, 2); // one input
        hc_value_put_input(&bits, &codec, (const uint8_t *)last, (const uint8_t *)later);
    }
    hc_bits_put(&bits, 0, 1);
    return end_snapshot(out);
}

START_TEST(snapshot_applies_inputs_of_others_and_drops_units) {
    const struct hc_arena_input last = {.aim = 40}, later = {.aim = 41};
    const struct hc_snapshot_roster join = {.tick = 101, .roster_change = HC_ROSTER_JOIN};
    uint8_t out[HC_DATAGRAM_MAX], seen[HC_INPUT_MAX];
    play();
    run_to(now_us + 6 * TICK_US);
    struct hc_snapshot snapshot = snapshot_of(104);
    ck_assert_int_eq(give(out, put_other(&snapshot, &join, 102, &last, &later, out)), HC_OK);
    const struct hc_timeline *timeline = hc_client_timeline(client);
    hc_tick known = HC_NO_TICK;
    ck_assert_int_eq(hc_timeline_roster(timeline, 0, 101), HC_ROSTER_JOIN);
    ck_assert(hc_timeline_newest_input(timeline, 0, 104, &known, seen));
    ck_assert_uint_eq(known, 102);
    ck_assert_mem_eq(seen, &last, sizeof last);
    ck_assert_int_eq(hc_timeline_slot(timeline, 0, 104), HC_SLOT_UNKNOWN);
    ck_assert_int_eq(hc_timeline_slot(timeline, 0, 105), HC_SLOT_KNOWN);
    ck_assert_mem_eq(hc_timeline_input(timeline, 0, 105), &later, sizeof later);
    ck_assert_int_eq(hc_timeline_presence(timeline, 104)[hc_unit_first(&world, 3)], HC_UNKNOWN);
    ck_assert_int_eq(hc_timeline_presence(timeline, 104)[hc_unit_first(&world, 4)], HC_ALIVE);
}
END_TEST

START_TEST(snapshot_overtaken_by_a_leave_applies_no_inputs) {
    const struct hc_arena_input last = {.aim = 40}, later = {.aim = 41};
    const struct hc_snapshot_roster join = {.tick = 101, .roster_change = HC_ROSTER_JOIN};
    const struct hc_snapshot_roster leave = {.tick = 103, .roster_change = HC_ROSTER_LEAVE};
    uint8_t out[HC_DATAGRAM_MAX], late[HC_DATAGRAM_MAX];
    play();
    run_to(now_us + 6 * TICK_US);
    struct hc_snapshot old = snapshot_of(104), new = snapshot_of(105);
    old.as_of--;
    size_t size = put_other(&old, &join, 102, &last, &later, late);
    ck_assert_int_eq(give(out, put_other(&new, &leave, HC_NO_TICK, NULL, NULL, out)), HC_OK);
    ck_assert_int_eq(give(late, size), HC_OK);
    ck_assert_uint_eq(hc_client_stats(client)->snapshots_stale, 1);
    ck_assert_int_eq(hc_timeline_slot(hc_client_timeline(client), 0, 105), HC_SLOT_UNKNOWN);
}
END_TEST

START_TEST(snapshot_decodes_against_an_acked_baseline) {
    uint8_t out[HC_DATAGRAM_MAX];
    const struct hc_snapshot_unit unit = {.unit = 3, .from = HC_SNAPSHOT_BASE};
    struct hc_snapshot_set base_units = {.count = hc_unit_total(&world)};
    for (uint32_t u = 0; u < base_units.count; u++) // first all units, then that one
        base_units.units[u] = (hc_unit)u;
    play(); // the snapshot of server tick 100
    for (hc_tick tick = 101; tick < 110; tick++) {
        now_us += TICK_US;
        next_datagram();
        for (int held = 0; held < 2; held++) {
            struct hc_snapshot snapshot = snapshot_of(tick);
            snapshot.base = held ? tick - 1 : tick - 2 - 60;
            snapshot.hash = hash_of(3, 1);
            begin_snapshot(&snapshot);
            hc_bits_put(&bits, 0, 1);
            hc_bits_put(&bits, 0, 1);
            hc_game_events_put_end(&bits);
            hc_snapshot_put_names(&bits, &snapshot, &base_units, &unit, 1);
            put_delta_against(3, tick - 1, tick);
            hc_bits_put(&bits, 0, 1);
            ck_assert_int_eq(give(out, end_snapshot(out)), held ? HC_OK : HC_TOO_OLD);
            seq -= !held; // the next one takes it
            if (held)
                base_units = (struct hc_snapshot_set){.count = 1, .units = {3}};
        }
    }
    ck_assert_uint_eq(hc_client_stats(client)->snapshots, 10);
    ck_assert_uint_eq(hc_client_stats(client)->hash_checks, 10);
}
END_TEST

START_TEST(older_snapshot_does_not_replace_the_newest) {
    play();
    run_to(now_us + 6 * TICK_US);
    struct hc_snapshot old = snapshot_of(103), new = snapshot_of(105);
    old.as_of--;
    old.final = 60;
    new.final = 61;
    uint8_t late[HC_DATAGRAM_MAX];
    size_t size = put_snapshot(&old, late);
    ck_assert_int_eq(give_snapshot(&new), HC_OK);
    ck_assert_int_eq(give(late, size), HC_OK);
    hc_tick shown, as_of, final;
    uint64_t chain;
    ck_assert(hc_client_snapshot(client, &shown, &as_of));
    ck_assert(hc_client_final(client, &final, &chain));
    ck_assert_uint_eq(shown, 105);
    ck_assert_uint_eq(final, 61);
    ck_assert_uint_eq(hc_client_stats(client)->snapshots_stale, 1);
    now_us += TICK_US;
    ck_assert_uint_eq(next_datagram().input.first, 105);
}
END_TEST

START_TEST(refused_snapshot_is_neither_acked_nor_a_baseline) {
    uint8_t out[HC_DATAGRAM_MAX], bad[HC_DATAGRAM_MAX];
    play();
    run_to(now_us + 3 * TICK_US);
    struct hc_snapshot snapshot = snapshot_of(103);
    size_t size = put_snapshot(&snapshot, out);
    struct hc_data data;
    ck_assert_int_eq(hc_datagram_get_data(out, size, &data), HC_OK);
    for (int i = 0; i < 2; i++) { // an ack of a datagram never sent; a message of clients
        uint8_t body_bytes[HC_DATA_BODY_MAX];
        struct hc_writer writer = hc_bytes_writer(body_bytes, sizeof body_bytes);
        struct hc_input_message input = {.first = 1};
        hc_bytes_put(&writer, data.body, data.body_size);
        if (i == 1)
            ck_assert(hc_message_put_input(&writer, &hc_arena, 0, &input, NULL, NULL));
        struct hc_data wrong = data;
        wrong.ack += i == 0;
        wrong.body = body_bytes;
        wrong.body_size = writer.at;
        size_t wrong_size = hc_datagram_put_data(&wrong, bad);
        ck_assert_int_eq(give(bad, wrong_size), HC_MALFORMED);
    }
    seq--; // the client acks this one
    next_datagram();
    seq++;
    ck_assert_int_eq(give(out, size), HC_OK);
    now_us += TICK_US;
    next_datagram();
}
END_TEST

/// A client whose WELCOME was of `tick`.
static void join_at(hc_tick tick) {
    hc_client_destroy(client);
    seq = ack = 0;
    begin();
    next_datagram();
    give_cookie();
    next_datagram();
    struct hc_welcome welcome = welcome_now();
    welcome.tick = tick;
    ck_assert_int_eq(give_accept(&welcome), HC_OK);
}

START_TEST(ticks_near_the_end_of_their_type_are_refused) {
    static const hc_tick welcomed[] = {5, HC_SNAPSHOT_TICK_MAX, HC_NO_TICK - 1};
    static const hc_tick shown[] = {HC_NO_TICK, HC_SNAPSHOT_TICK_MAX + 1, HC_NO_TICK - 2};
    for (int i = 0; i < 3; i++) {
        join_at(welcomed[i]);
        struct hc_snapshot snapshot = snapshot_of(1);
        snapshot.as_of = snapshot.tick = snapshot.refused_before = snapshot.final = shown[i];
        snapshot.inputs_through[0] = shown[i] - 1;
        ck_assert_int_eq(give_snapshot(&snapshot), HC_MALFORMED);
        ck_assert_int_eq(hc_client_state(client), HC_CLIENT_JOINING);
    }
    join_at(HC_SNAPSHOT_TICK_MAX);
    struct hc_snapshot snapshot = snapshot_of(1);
    snapshot.as_of = snapshot.tick = snapshot.final = HC_SNAPSHOT_TICK_MAX;
    snapshot.refused_before = snapshot.inputs_through[0] = snapshot.tick - 1;
    ck_assert_int_eq(give_snapshot(&snapshot), HC_OK);
    run_to(now_us + 20 * TICK_US);
    ck_assert_uint_eq(head(), HC_SNAPSHOT_TICK_MAX + config.prediction_limit);
}
END_TEST

START_TEST(newest_chain_stays_known) {
    play();
    struct hc_snapshot snapshot = snapshot_of(100);
    for (hc_tick tick = 101; tick < 120; tick++) {
        now_us += TICK_US;
        snapshot = snapshot_of(tick);
        snapshot.final = tick - 9;
        snapshot.has_chain = tick % 4 == 0;
        snapshot.chain = tick;
        ck_assert_int_eq(give_snapshot(&snapshot), HC_OK);
        hc_tick final;
        uint64_t chain;
        ck_assert(hc_client_final(client, &final, &chain));
        ck_assert_uint_eq(final, tick < 104 ? 36 : tick / 4 * 4 - 9);
        ck_assert_uint_eq(chain, tick < 104 ? 0 : tick / 4 * 4);
    }
}
END_TEST

START_TEST(spectator_follows_and_stamps_nothing) {
    config.players = 0;
    play();
    for (hc_tick tick = 100; tick < 120; tick++) {
        now_us += TICK_US;
        struct sent sent = next_datagram();
        ck_assert(sent.has_input);
        ck_assert_uint_eq(sent.input.count, 0);
        ck_assert_uint_eq(sent.input.client_tick, tick + 1);
        ck_assert_int_eq(give_tick(tick + 1), HC_OK);
    }
    ck_assert_uint_eq(hc_client_stats(client)->inputs_sampled, 0);
    ck_assert_uint_eq(hc_client_player(client, 0), HC_NO_PLAYER);
}
END_TEST

// ---- Showing ------------------------------------------------------------------------------------

START_TEST(shown_time_never_goes_back_and_rests_in_a_stall) {
    play();
    hc_tick tick, last = 0;
    uint32_t fraction, last_fraction = 0;
    for (int i = 0; i < 4000; i++, now_us += 777) {
        next_datagram();
        hc_tick as_of = snapshot_of(1).as_of;
        if (i > 0 && i % 13 == 0 && i % 1000 < 700) // a state now and then, sometimes none for long
            ck_assert_int_eq(give_tick(hc_tick_max(100, as_of - 4)), HC_OK);
        ck_assert(hc_client_show_tick(client, now_us, &tick, &fraction));
        ck_assert(tick > last || (tick == last && fraction >= last_fraction));
        ck_assert_uint_le(tick, head());
        ck_assert(fraction == 0 || tick < head());
        if (hc_client_state(client) == HC_CLIENT_STALLED && now_us % TICK_US > 2000)
            ck_assert_uint_ge(tick + 1, head());
        last = tick;
        last_fraction = fraction;
    }
    ck_assert_uint_gt(hc_client_stats(client)->stalls, 1);
}
END_TEST

/// Gives a TICKET of bytes `fill` in the DATA `number`.
static enum hc_status give_ticket(uint32_t number, uint8_t fill) {
    uint8_t out[HC_DATAGRAM_MAX];
    struct hc_ticket ticket;
    struct hc_writer writer = hc_bytes_writer(out + HC_DATA_BODY_AT, HC_DATA_BODY_MAX);
    memset(&ticket, fill, sizeof ticket);
    ck_assert(hc_message_put_ticket(&writer, &ticket));
    struct hc_data data = {.cid = CID,
                           .seq = number,
                           .ack = ack,
                           .body = out + HC_DATA_BODY_AT,
                           .body_size = writer.at};
    return give(out, hc_datagram_put_data(&data, out));
}

/// Gives a RESET with a token of bytes `fill`.
static enum hc_status give_reset(uint8_t fill) {
    uint8_t out[HC_DATAGRAM_MAX];
    struct hc_reset reset = {.cid = CID};
    memset(reset.token, fill, sizeof reset.token);
    return give(out, hc_datagram_put_reset(&reset, out));
}

START_TEST(client_keeps_the_ticket_that_was_sent_last_in_whatever_order_they_come) {
    struct hc_connect connect;
    play();
    ck_assert_int_eq(give_ticket(seq + 2, 2), HC_OK);
    ck_assert_int_eq(give_ticket(seq + 1, 1), HC_OK);
    ck_assert_int_eq(give_reset(1), HC_MALFORMED);
    ck_assert_int_eq(give_reset(2), HC_OK);
    ck_assert_int_eq(hc_client_state(client), HC_CLIENT_RECONNECTING);
    ck_assert_int_eq(next_datagram().kind, HC_DATAGRAM_HELLO);
    ck_assert_int_eq(give_cookie(), HC_OK);
    struct sent sent = next_datagram();
    ck_assert_int_eq(hc_datagram_get_connect(sent.bytes, sizeof sent.bytes, &connect), HC_OK);
    for (unsigned i = 0; i < sizeof connect.token; i++)
        ck_assert_uint_eq(connect.token[i], 2);
}
END_TEST

static void add_all(TCase *tests) {
    tcase_add_test(tests, refused_datagram_changes_nothing);
    tcase_add_test(tests, timeline_begins_at_a_snapshot_without_units_too);
    tcase_add_test(tests, snapshot_applies_corrections_and_forced_inputs_once);
    tcase_add_test(tests, snapshot_overtaken_by_a_leave_applies_no_inputs);
    tcase_add_test(tests, snapshot_decodes_against_an_acked_baseline);
    tcase_add_test(tests, snapshot_applies_inputs_of_others_and_drops_units);
    tcase_add_test(tests, refused_snapshot_is_neither_acked_nor_a_baseline);
    tcase_add_test(tests, newest_chain_stays_known);
    tcase_add_test(tests, older_snapshot_does_not_replace_the_newest);
    tcase_add_test(tests, ticks_near_the_end_of_their_type_are_refused);
    tcase_add_test(tests, spectator_follows_and_stamps_nothing);
    tcase_add_test(tests, shown_time_never_goes_back_and_rests_in_a_stall);
    tcase_add_test(tests, client_keeps_the_ticket_that_was_sent_last_in_whatever_order_they_come);
}

int main(void) {
    Suite *suite = suite_create("client_receive");
    TCase *tests = tcase_create("client_receive");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    add_all(tests);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
