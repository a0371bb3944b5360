/// What a client (client/hindcast.h) makes of what a server says, and what it shows of it.
#include "tests/unit/client_rig.h"
#include "tests/run_suite.h"

#include <stdlib.h>
#include <string.h>

// ---- What the server says -----------------------------------------------------------------------

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

START_TEST(what_is_refused_changes_nothing) {
    uint8_t good[HC_DATAGRAM_MAX], bad[HC_DATAGRAM_MAX];
    unsigned refused = 0;
    play_anew();
    uint8_t *pickup = states + (size_t)(world.entities - 1) * world.stride;
    *pickup ^= 8; // not where it predicted
    struct hc_snapshot snapshot = snapshot_of(102);
    size_t size = put_snapshot(&snapshot, good);
    *pickup ^= 8;
    for (size_t bit = 0; bit < size * 8; bit++) {
        uint64_t before = world_hash();
        memcpy(bad, good, size);
        bad[bit / 8] ^= (uint8_t)(1 << bit % 8);
        if (give(bad, size) == HC_OK) { // the hash covers what is shown, not the stamps
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
        ck_assert_int_ne(give(good, cut), HC_OK);
    ck_assert_uint_gt(hc_client_stats(client)->hash_mismatches, 0);
    uint64_t before = world_hash();
    ck_assert_int_eq(give(good, size), HC_OK); // its seq was not used up
    ck_assert_uint_ne(world_hash(), before);
}
END_TEST

START_TEST(a_snapshot_tells_of_players_states_and_own_inputs_once) {
    play();
    press(3);
    run_to(now_us + 6 * TICK_US);
    struct hc_snapshot snapshot = snapshot_of(104);
    struct hc_snapshot_forced forced = {.player = PLAYER, .first = 103, .count = 2};
    uint8_t out[HC_DATAGRAM_MAX];
    for (int i = 0; i < 2; i++) {
        struct hc_writer writer = hc_bytes_writer(out + HC_DATA_BODY_AT, HC_DATA_BODY_MAX);
        ck_assert(hc_snapshot_put(&writer, &world, &snapshot, presence, states));
        ck_assert(hc_snapshot_put_forced(&writer, 104, &forced));
        ck_assert(hc_snapshot_put_correction(&writer, &world, 104, 102, 0, HC_ALIVE, states));
        struct hc_data data = {
            .cid = CID, .seq = ++seq, .body = out + HC_DATA_BODY_AT, .body_size = writer.at};
        size_t size = hc_datagram_put_data(&data, out);
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
    forced.player = 0; // somebody else's inputs are nobody's business
    struct hc_writer writer = hc_bytes_writer(out + HC_DATA_BODY_AT, HC_DATA_BODY_MAX);
    ck_assert(hc_snapshot_put(&writer, &world, &snapshot, presence, states));
    ck_assert(hc_snapshot_put_forced(&writer, 104, &forced));
    struct hc_data data = {
        .cid = CID, .seq = ++seq, .body = out + HC_DATA_BODY_AT, .body_size = writer.at};
    ck_assert_int_eq(give(out, hc_datagram_put_data(&data, out)), HC_MALFORMED);
}
END_TEST

START_TEST(an_older_snapshot_does_not_turn_back_what_is_known_of_the_server) {
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
    ck_assert(hc_client_snapshot(client, &shown, &as_of) &&
              hc_client_final(client, &final, &chain));
    ck_assert_uint_eq(shown, 105);
    ck_assert_uint_eq(final, 61);
    ck_assert_uint_eq(hc_client_stats(client)->snapshots_stale, 1);
    now_us += TICK_US;
    ck_assert_uint_eq(hear().input.first, 105);
}
END_TEST

START_TEST(ticks_near_the_end_of_their_type_are_not_believed) {
    play();
    struct hc_snapshot snapshot = snapshot_of(100);
    snapshot.as_of = HC_NO_TICK - 2;
    snapshot.tick = snapshot.refusal = snapshot.final = HC_NO_TICK - 2;
    snapshot.complete[0] = HC_NO_TICK - 3;
    ck_assert_int_eq(give_snapshot(&snapshot), HC_MALFORMED);
    ck_assert_uint_eq(head(), 100);
}
END_TEST

START_TEST(a_spectator_follows_without_stamping_anything) {
    config.players = 0;
    play();
    for (hc_tick tick = 100; tick < 120; tick++) {
        now_us += TICK_US;
        struct heard heard = hear();
        ck_assert(heard.has_input);
        ck_assert_uint_eq(heard.input.count, 0);
        ck_assert_uint_eq(heard.input.client_tick, tick + 1);
        ck_assert_int_eq(show_tick(tick + 1), HC_OK);
    }
    ck_assert_uint_eq(hc_client_stats(client)->inputs_sampled, 0);
    ck_assert_uint_eq(hc_client_player(client, 0), HC_NO_PLAYER);
}
END_TEST

// ---- What is shown ------------------------------------------------------------------------------

START_TEST(what_is_shown_never_goes_back_and_rests_while_it_stalls) {
    play();
    hc_tick tick, last = 0;
    uint32_t fraction, last_fraction = 0;
    for (int i = 0; i < 4000; i++, now_us += 777) {
        hear();
        hc_tick as_of = snapshot_of(1).as_of;
        if (i % 13 == 0 && i % 1000 < 700) // now and then a state, and sometimes none for long
            ck_assert_int_eq(show_tick(hc_tick_max(100, as_of - 4)), HC_OK);
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

static void add_all(TCase *tests) {
    tcase_add_test(tests, what_is_refused_changes_nothing);
    tcase_add_test(tests, a_snapshot_tells_of_players_states_and_own_inputs_once);
    tcase_add_test(tests, an_older_snapshot_does_not_turn_back_what_is_known_of_the_server);
    tcase_add_test(tests, ticks_near_the_end_of_their_type_are_not_believed);
    tcase_add_test(tests, a_spectator_follows_without_stamping_anything);
    tcase_add_test(tests, what_is_shown_never_goes_back_and_rests_while_it_stalls);
}

int main(void) {
    Suite *suite = suite_create("client_intake");
    TCase *tests = tcase_create("client_intake");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    add_all(tests);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
