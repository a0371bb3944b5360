/// The validation of one address, and the contest of two, without a host.
#include "common/elapsed.h"
#include "hindcast/address.h"
#include "proto/seal.h"
#include "server/contest.h"
#include "server/validation.h"
#include "tests/run_suite.h"

#include <string.h>

enum { DATAGRAM = 100 }; ///< bytes

static struct hc_sv_validation validation;
static struct hc_sv_contest contest;
static struct hc_connection connection;
static struct hc_reliable_channel messages;
static struct hc_address addresses[4]; ///< the home, and others
static uint64_t now_us;

static void set_up(void) {
    static uint8_t bytes[HC_RELIABLE_CHANNEL_BYTES];
    static const struct hc_seal_keys keys = {.c2s = {1}, .s2c = {2}};
    for (unsigned i = 0; i < 4; i++)
        addresses[i] = hc_address_ipv4(192, 0, 2, (uint8_t)i, 7);
    now_us = 1000000;
    messages = (struct hc_reliable_channel){.bytes = bytes};
    hc_reliable_channel_begin(&messages);
    hc_connection_begin(&connection, HC_CONNECTION_SERVER, 7, &keys, &messages, now_us);
    hc_sv_validation_clear(&validation);
    hc_sv_contest_begin(&contest, &addresses[0], now_us);
}

static struct hc_sv_sighting sighting(unsigned address, uint32_t seq, bool late) {
    return (struct hc_sv_sighting){
        .from = &addresses[address], .seq = seq, .late = late, .home = address == 0};
}

static void begin(enum hc_sv_validation_state state, unsigned address, uint32_t seq, bool late) {
    struct hc_sv_sighting shown = sighting(address, seq, late);
    hc_sv_validation_begin(&validation, state, &shown, now_us);
    memset(validation.data, (int)(1 + address), HC_PATH_SIZE);
}

static bool yields(unsigned address, bool late) {
    struct hc_sv_sighting shown = sighting(address, 9, late);
    return hc_sv_validation_yields(&validation, &shown, HC_PATH_STALL_US, now_us);
}

static bool is_answer(unsigned from, unsigned data) {
    uint8_t bytes[HC_PATH_SIZE];
    memset(bytes, (int)(1 + data), sizeof bytes);
    return hc_sv_validation_is_answer(&validation, &addresses[from], bytes);
}

static bool challenge_due(void) {
    return hc_sv_validation_challenge_due(&validation, DATAGRAM, now_us);
}

// ---- Validation ---------------------------------------------------------------------------------

START_TEST(each_state_sends_and_takes_answers_as_its_table_has_it) {
    static const struct {
        enum hc_sv_validation_state state;
        bool sends, answers_here, answers_elsewhere;
    } rows[] = {{HC_SV_VALIDATION_NONE, false, false, false},
                {HC_SV_VALIDATION_HELD, false, false, false},
                {HC_SV_VALIDATION_PROVING, true, true, false},
                {HC_SV_VALIDATION_OPEN, true, true, true}};
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        begin(i == 0 ? HC_SV_VALIDATION_OPEN : rows[i].state, 1, 5, false);
        hc_sv_validation_received(&validation, DATAGRAM, now_us);
        if (i == 0)
            hc_sv_validation_end(&validation);
        ck_assert_int_eq(validation.state, rows[i].state);
        ck_assert_int_eq(hc_sv_validation_is_of(&validation, &addresses[1]), i != 0);
        ck_assert(!hc_sv_validation_is_of(&validation, &addresses[2]));
        ck_assert_int_eq(challenge_due(), rows[i].sends);
        ck_assert_int_eq(hc_sv_validation_copies(&validation, DATAGRAM), rows[i].sends);
        ck_assert_int_eq(is_answer(1, 1), rows[i].answers_here);
        ck_assert_int_eq(is_answer(2, 1), rows[i].answers_elsewhere);
        ck_assert(!is_answer(1, 2));
        validation.full = true;
        ck_assert(!challenge_due() && !hc_sv_validation_copies(&validation, DATAGRAM));
    }
}
END_TEST

START_TEST(an_address_is_sent_three_times_the_bytes_that_came_from_it) {
    begin(HC_SV_VALIDATION_PROVING, 1, 5, false);
    ck_assert(!challenge_due()); // nothing was received yet
    hc_sv_validation_received(&validation, DATAGRAM, now_us);
    hc_sv_validation_received(&validation, 0, now_us);
    for (unsigned i = 0; i < 3; i++) // the number of the standard
        ck_assert(hc_sv_validation_copies(&validation, DATAGRAM));
    ck_assert(!hc_sv_validation_copies(&validation, 1));
    ck_assert(!challenge_due());
}
END_TEST

START_TEST(unanswered_challenges_become_rarer_also_from_address_to_address) {
    uint64_t waits[HC_PATH_CHALLENGES + HC_PATH_DOUBLINGS + 3] = {0};
    unsigned count = sizeof waits / sizeof waits[0];
    for (unsigned i = 0; i < count; i++) {
        uint64_t before_us = now_us;
        begin(HC_SV_VALIDATION_PROVING, 1 + i % 3, 5, false);
        hc_sv_validation_received(&validation, 1000000, now_us);
        ck_assert(hc_sv_validation_copies(&validation, 1) == (i <= HC_PATH_CHALLENGES));
        validation.bytes_out = 1; // it was sent something
        while (!challenge_due())
            now_us += 1000;
        hc_sv_validation_challenged(&validation, DATAGRAM, now_us);
        waits[i] = hc_since(before_us, now_us);
    }
    ck_assert_uint_eq(waits[0], 0);
    for (unsigned i = 1; i <= HC_PATH_CHALLENGES; i++)
        ck_assert_uint_eq(waits[i], HC_PATH_CHALLENGE_US);
    for (unsigned i = 1; i <= HC_PATH_DOUBLINGS; i++)
        ck_assert_uint_eq(waits[HC_PATH_CHALLENGES + i], HC_PATH_CHALLENGE_US << i);
    ck_assert_uint_eq(waits[count - 1], HC_PATH_CHALLENGE_US << HC_PATH_DOUBLINGS);
    now_us += HC_PATH_ROW_US; // the row is forgotten
    ck_assert(challenge_due());
    ck_assert_uint_eq(validation.unanswered, 0);
}
END_TEST

START_TEST(a_row_of_addresses_keeps_its_first_seq_and_that_it_had_the_home) {
    begin(HC_SV_VALIDATION_OPEN, 0, 5, false);
    begin(HC_SV_VALIDATION_OPEN, 1, 9, false);
    ck_assert(validation.homed);
    ck_assert_uint_eq(validation.first, 5);
    begin(HC_SV_VALIDATION_OPEN, 2, 3, true);
    ck_assert_uint_eq(validation.first, 3);
    hc_sv_validation_end(&validation);
    begin(HC_SV_VALIDATION_OPEN, 1, 9, false);
    ck_assert(!validation.homed);
    ck_assert_uint_eq(validation.first, 9);
}
END_TEST

START_TEST(an_open_address_stays_until_it_is_silent_or_had_its_time) {
    begin(HC_SV_VALIDATION_PROVING, 1, 5, false);
    ck_assert(yields(2, false));
    begin(HC_SV_VALIDATION_OPEN, 1, 5, false);
    hc_sv_validation_received(&validation, DATAGRAM, now_us);
    ck_assert(!yields(2, false) && !yields(2, true) && yields(0, false)); // the home
    now_us += HC_PATH_SILENT_US / 2;
    ck_assert(!yields(2, false) && yields(2, true));
    now_us += HC_PATH_SILENT_US / 2;
    ck_assert(yields(2, false));
    now_us = validation.begun_us + HC_PATH_STALL_US;
    hc_sv_validation_received(&validation, DATAGRAM, now_us);
    ck_assert(!yields(2, false) && yields(2, true));
    now_us += HC_PATH_STALL_US;
    hc_sv_validation_received(&validation, DATAGRAM, now_us);
    ck_assert(yields(2, false));
    begin(HC_SV_VALIDATION_OPEN, 0, 5, false);
    hc_sv_validation_received(&validation, DATAGRAM, now_us);
    ck_assert(!yields(0, false)); // once in a stall
}
END_TEST

// ---- The contest --------------------------------------------------------------------------------

/// Sends `count` datagrams, of which the client acks one in `every`; the last is one of them.
static void send_and_ack(uint32_t count, uint32_t every) {
    uint8_t out[HC_DATAGRAM_MAX];
    struct hc_accepted accepted;
    static uint32_t seq;
    for (uint32_t i = 1; i <= count; i++) {
        ck_assert_uint_gt(hc_connection_wrap(&connection, out, 0, now_us), 0);
        struct hc_data data = {.cid = 7, .seq = ++seq, .ack = connection.sent.next - 1};
        if (i % every == count % every)
            ck_assert_int_eq(hc_connection_accept(&connection, &data, now_us, &accepted), HC_OK);
    }
    hc_sv_contest_check_acks(&contest, &connection, &addresses[1], now_us);
}

START_TEST(two_addresses_are_in_use_for_ten_seconds_after_the_newest_proof) {
    ck_assert(!hc_sv_contest_is_on(&contest, now_us));
    hc_sv_contest_note(&contest, now_us);
    now_us += HC_PATH_IN_USE_US - 1;
    ck_assert(hc_sv_contest_is_on(&contest, now_us));
    ck_assert(!hc_sv_contest_is_on(&contest, now_us + 1));
}
END_TEST

START_TEST(the_former_address_counts_for_datagrams_that_were_sent_after_the_move) {
    ck_assert(!hc_sv_contest_is_former(&contest, &addresses[0], 50, now_us));
    hc_sv_contest_move(&contest, &addresses[0], 40, now_us);
    ck_assert(hc_sv_contest_is_former(&contest, &addresses[0], 40, now_us));
    ck_assert(!hc_sv_contest_is_former(&contest, &addresses[0], 39, now_us));
    ck_assert(!hc_sv_contest_is_former(&contest, &addresses[1], 40, now_us));
    now_us += HC_PATH_RETURN_US;
    ck_assert(!hc_sv_contest_is_former(&contest, &addresses[0], 40, now_us));
    hc_sv_contest_note(&contest, now_us); // as long as two are in use
    ck_assert(hc_sv_contest_is_former(&contest, &addresses[0], 40, now_us));
    hc_sv_contest_take_back(&contest);
    ck_assert(!hc_sv_contest_is_former(&contest, &addresses[0], 40, now_us));
}
END_TEST

START_TEST(an_address_stalls_that_acks_less_than_half_of_what_goes_there_alone) {
    send_and_ack(64, 2);
    now_us += HC_PATH_STALL_US - 1;
    ck_assert(!hc_sv_contest_stalls(&contest, &connection, now_us));
    send_and_ack(64, 3);
    now_us++;
    ck_assert(hc_sv_contest_stalls(&contest, &connection, now_us));
    hc_sv_contest_shared(&contest, connection.sent.next);
    send_and_ack(4, 1); // the others went elsewhere, too
    ck_assert(!hc_sv_contest_stalls(&contest, &connection, now_us));
    ck_assert(hc_address_equal(&contest.home, &addresses[0]));
    connection.srtt_us = HC_PATH_STALL_MOST_US;
    ck_assert_uint_eq(hc_sv_contest_stall_us(&connection), HC_PATH_STALL_MOST_US);
}
END_TEST

START_TEST(an_address_that_serves_for_ten_seconds_becomes_the_home) {
    hc_sv_contest_hold(&contest, connection.sent.next, now_us);
    now_us += HC_PATH_HOME_US;
    send_and_ack(HC_PATH_STALL_SEQS - 1, 1);
    ck_assert(hc_address_equal(&contest.home, &addresses[0]));
    send_and_ack(1, 1);
    ck_assert(hc_address_equal(&contest.home, &addresses[1]));
}
END_TEST

START_TEST(copies_give_time_to_an_address_only_if_it_has_acked) {
    hc_sv_contest_hold(&contest, 1, now_us);
    now_us += HC_PATH_STALL_US;
    hc_sv_contest_wait(&contest, now_us);
    ck_assert(hc_sv_contest_stalls(&contest, &connection, now_us));
    send_and_ack(1, 1);
    now_us += HC_PATH_STALL_US;
    hc_sv_contest_wait(&contest, now_us);
    ck_assert(!hc_sv_contest_stalls(&contest, &connection, now_us));
}
END_TEST

int main(void) {
    Suite *suite = suite_create("server path");
    TCase *tc = tcase_create("path");
    tcase_add_checked_fixture(tc, set_up, NULL);
    tcase_add_test(tc, each_state_sends_and_takes_answers_as_its_table_has_it);
    tcase_add_test(tc, an_address_is_sent_three_times_the_bytes_that_came_from_it);
    tcase_add_test(tc, unanswered_challenges_become_rarer_also_from_address_to_address);
    tcase_add_test(tc, a_row_of_addresses_keeps_its_first_seq_and_that_it_had_the_home);
    tcase_add_test(tc, an_open_address_stays_until_it_is_silent_or_had_its_time);
    tcase_add_test(tc, two_addresses_are_in_use_for_ten_seconds_after_the_newest_proof);
    tcase_add_test(tc, the_former_address_counts_for_datagrams_that_were_sent_after_the_move);
    tcase_add_test(tc, an_address_stalls_that_acks_less_than_half_of_what_goes_there_alone);
    tcase_add_test(tc, an_address_that_serves_for_ten_seconds_becomes_the_home);
    tcase_add_test(tc, copies_give_time_to_an_address_only_if_it_has_acked);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
