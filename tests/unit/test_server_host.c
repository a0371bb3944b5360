/// The server as a client's datagrams meet it: who is let in and when, what is counted, and what
/// others are told.
#include "common/arena/arena.h"
#include "common/rng.h"
#include "proto/body.h"
#include "proto/snapshot.h"
#include "server/host.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { RATE = 100, TICK_US = 1000000 / RATE, SECOND_US = 1000000, PLAYERS = 8, SPAN = 128 };

static struct hc_sv_host_config config;
static struct hc_sv_host *host;
static struct hc_world world; ///< like the host's, to read snapshots with
static struct hc_body body;
static uint64_t now_us;

/// A client, as far as the server can see one.
struct talker {
    struct hc_address address;
    struct hc_connect connect; ///< as last sent
    uint32_t cid, seq;
    hc_player player;
};

static void begin(void) {
    host = hc_sv_host_create(&config, now_us);
    ck_assert(host != NULL);
    ck_assert_int_eq(hc_world_init(&world, &hc_arena, config.clients, RATE, config.seed, NULL),
                     HC_OK);
}

static void set_up(void) {
    now_us = 5 * SECOND_US;
    config = hc_sv_host_config_default();
    config.game = &hc_arena;
    config.clients = PLAYERS;
    config.tick_rate = RATE;
}

static void tear_down(void) {
    hc_sv_host_destroy(host);
    hc_world_free(&world);
    host = NULL;
}

/// Lets the host send everything; the last datagram of `kind` to `talker` is left in `out`.
static size_t drain(const struct talker *talker, enum hc_datagram_kind kind,
                    uint8_t out[static HC_DATAGRAM_MAX]) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct hc_address to;
    size_t size, kept = 0;
    while ((size = hc_sv_host_send(host, &to, bytes, now_us)) > 0) {
        if (!hc_address_equal(&to, &talker->address) || hc_datagram_kind(bytes, size) != kind)
            continue;
        memcpy(out, bytes, size);
        kept = size;
    }
    return kept;
}

static enum hc_status receive(const struct talker *talker, const uint8_t *bytes, size_t size) {
    return hc_sv_host_receive(host, &talker->address, bytes, size, now_us);
}

/// A client at `port` that has its cookie, for the `attempt`-th time.
static struct talker greet(uint16_t port, uint8_t attempt) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct talker talker = {.address = hc_address_ipv4(127, 0, 0, 1, port)};
    struct hc_hello hello = {.protocol_id = hc_datagram_protocol_id(&hc_arena),
                             .client_nonce = {attempt}};
    struct hc_datagram_cookie cookie;
    ck_assert_int_eq(receive(&talker, bytes, hc_datagram_put_hello(&hello, bytes)), HC_OK);
    size_t size = drain(&talker, HC_DATAGRAM_COOKIE, bytes);
    ck_assert_int_eq(hc_datagram_get_cookie(bytes, size, &cookie), HC_OK);
    talker.connect = (struct hc_connect){.protocol_id = hello.protocol_id,
                                         .client_nonce = {attempt},
                                         .slot = cookie.slot,
                                         .players = 1};
    memcpy(talker.connect.cookie, cookie.cookie, sizeof cookie.cookie);
    return talker;
}

/// Says CONNECT; HC_DATAGRAM_NONE, DENY or ACCEPT: the answer.
static enum hc_datagram_kind say_connect(struct talker *talker) {
    uint8_t bytes[HC_DATAGRAM_MAX], denied[HC_DATAGRAM_MAX];
    struct hc_accept accept;
    struct hc_welcome welcome;
    uint64_t denials = hc_sv_host_stats(host)->denied;
    (void)receive(talker, bytes, hc_datagram_put_connect(&talker->connect, bytes));
    if (hc_sv_host_stats(host)->denied > denials) {
        ck_assert_uint_gt(drain(talker, HC_DATAGRAM_DENY, denied), 0);
        return HC_DATAGRAM_DENY;
    }
    size_t size = drain(talker, HC_DATAGRAM_ACCEPT, bytes);
    if (size == 0)
        return HC_DATAGRAM_NONE;
    ck_assert_int_eq(hc_datagram_get_accept(bytes, size, &accept), HC_OK);
    ck_assert_int_eq(hc_body_begin(&body, accept.body, accept.body_size), HC_OK);
    ck_assert_int_eq(hc_body_next(&body), HC_MESSAGE_WELCOME);
    ck_assert_int_eq(hc_message_get_welcome(&body, &hc_arena, &welcome), HC_OK);
    talker->cid = accept.cid;
    talker->player = welcome.own[0];
    return HC_DATAGRAM_ACCEPT;
}

static struct talker join(uint16_t port, uint8_t attempt) {
    struct talker talker = greet(port, attempt);
    ck_assert_int_eq(say_connect(&talker), HC_DATAGRAM_ACCEPT);
    return talker;
}

static enum hc_status say(struct talker *talker, const uint8_t *said, size_t size) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct hc_data data = {.cid = talker->cid, .seq = ++talker->seq, .body = said};
    data.body_size = size;
    return receive(talker, bytes, hc_datagram_put_data(&data, bytes));
}

static void say_close(struct talker *talker) {
    uint8_t bytes[HC_DATA_BODY_MAX];
    struct hc_writer writer = hc_bytes_writer(bytes, sizeof bytes);
    ck_assert(hc_message_put_close(&writer, HC_CLOSE_LEFT));
    ck_assert_int_eq(say(talker, bytes, writer.at), HC_OK);
}

/// Inputs that differ from tick to tick in every field, and so take as much room as they can.
static const void *noise(void *context, uint32_t index, uint32_t player) {
    static struct hc_arena_input input;
    const struct talker *talker = context;
    uint64_t r = hc_random(3, talker->player, index, player);
    input = (struct hc_arena_input){.move_x = (int8_t)(r % 3) - 1,
                                    .move_y = (int8_t)(r / 8 % 3) - 1,
                                    .aim = (uint8_t)(r >> 16),
                                    .fire = r >> 24 & 1};
    return &input;
}

static void say_inputs(struct talker *talker, hc_tick first, uint32_t count) {
    uint8_t bytes[HC_DATA_BODY_MAX];
    struct hc_writer writer = hc_bytes_writer(bytes, sizeof bytes);
    struct hc_input_message input = {
        .client_tick = first + count, .force_before = first, .first = first, .count = count};
    ck_assert(hc_message_put_input(&writer, &hc_arena, 1, &input, noise, talker));
    ck_assert_uint_eq(input.count, count);
    ck_assert_int_eq(say(talker, bytes, writer.at), HC_OK);
}

static hc_tick head(void) {
    return hc_timeline_head(hc_sv_host_timeline(host));
}

/// Ticks go by; the newest snapshot for `talker` is left in `out`, its size returned.
static size_t run(unsigned ticks, const struct talker *talker, uint8_t out[HC_DATAGRAM_MAX]) {
    size_t size = 0;
    for (unsigned i = 0; i < ticks; i++) {
        now_us += TICK_US;
        hc_sv_host_advance(host, now_us);
        size_t got = drain(talker, HC_DATAGRAM_DATA, out);
        size = got > 0 ? got : size;
    }
    return size;
}

static void wait_ticks(unsigned ticks) {
    static const struct talker nobody;
    uint8_t bytes[HC_DATAGRAM_MAX];
    run(ticks, &nobody, bytes);
}

/// What a snapshot says of all players' inputs, by ticks after T.
struct told {
    struct hc_snapshot snapshot;
    bool input[PLAYERS][SPAN];
    hc_tick join[PLAYERS]; ///< HC_NO_TICK: none told
};

static void read_told(const uint8_t *bytes, size_t size, struct told *told) {
    static uint8_t presence[HC_DATAGRAM_MAX * 8], states[HC_DATAGRAM_MAX * 8 * HC_STATE_MAX];
    struct hc_snapshot_inputs inputs;
    struct hc_snapshot_control control;
    struct hc_data data;
    enum hc_message_type type;
    memset(told, 0, sizeof *told);
    memset(told->join, 0xff, sizeof told->join);
    ck_assert_uint_le(world.entities, sizeof presence);
    ck_assert_int_eq(hc_datagram_get_data(bytes, size, &data), HC_OK);
    ck_assert_int_eq(hc_body_begin(&body, data.body, data.body_size), HC_OK);
    while ((type = hc_body_next(&body)) != HC_MESSAGE_END) {
        hc_tick tick = told->snapshot.tick;
        if (type == HC_MESSAGE_SNAPSHOT) {
            ck_assert_int_eq(hc_snapshot_get(&body, &world, &told->snapshot, presence, states),
                             HC_OK);
        } else if (type == HC_MESSAGE_INPUTS) {
            ck_assert_int_eq(hc_snapshot_get_inputs(&body, &world, tick, &inputs), HC_OK);
            for (hc_tick t = inputs.first; t < inputs.first + inputs.count; t++)
                if (t >= tick && t - tick < SPAN)
                    told->input[inputs.player][t - tick] = true;
        } else if (type == HC_MESSAGE_CONTROL) {
            ck_assert_int_eq(hc_snapshot_get_control(&body, &world, tick, &control), HC_OK);
            if (control.control == HC_CONTROL_JOIN)
                told->join[control.player] = control.tick;
        }
    }
}

// ---- Who is let in ------------------------------------------------------------------------------

START_TEST(a_full_server_takes_its_own_client_back_from_the_same_port) {
    config.clients = 1;
    begin();
    join(1000, 1);
    wait_ticks(5);
    struct talker again = greet(1000, 2);
    // The old connection was heard less than a second ago: no answer, and above all no denial.
    ck_assert_int_eq(say_connect(&again), HC_DATAGRAM_NONE);
    ck_assert_uint_eq(hc_sv_host_stats(host)->leaves, 0);
    now_us += SECOND_US;
    hc_sv_host_advance(host, now_us);
    ck_assert_int_eq(say_connect(&again), HC_DATAGRAM_ACCEPT);
    ck_assert_uint_eq(hc_sv_host_clients(host), 1);
    ck_assert_uint_eq(hc_sv_host_stats(host)->leaves, 1);
    hc_tick dropped = head();
    wait_ticks(2);
    const struct hc_timeline *timeline = hc_sv_host_timeline(host);
    ck_assert_int_eq(hc_timeline_control(timeline, 0, dropped), HC_CONTROL_LEAVE);
    ck_assert_int_eq(hc_timeline_control(timeline, 0, dropped + 1), HC_CONTROL_JOIN);
}
END_TEST

START_TEST(the_last_place_can_be_had_in_the_moment_of_a_goodbye) {
    config.clients = 2;
    begin();
    join(1000, 1);
    struct talker last = join(1001, 1);
    wait_ticks(5);
    say_close(&last);
    struct talker next = greet(1002, 1);
    ck_assert_int_eq(say_connect(&next), HC_DATAGRAM_ACCEPT);
    ck_assert_uint_eq(next.player, last.player);
    struct talker beyond = greet(1003, 1); // the leaving player's slot is given away once
    ck_assert_int_eq(say_connect(&beyond), HC_DATAGRAM_DENY);
}
END_TEST

START_TEST(a_place_is_free_while_the_goodbye_to_a_silent_client_is_still_being_said) {
    config.clients = 1;
    config.timeout_us = 2 * SECOND_US;
    begin();
    join(1000, 1);
    for (int i = 0; i < 200; i++)
        wait_ticks(1);
    ck_assert_uint_eq(hc_sv_host_stats(host)->timeouts, 1);
    ck_assert(!hc_sv_host_closed(host));
    struct talker next = greet(1001, 1);
    ck_assert_int_eq(say_connect(&next), HC_DATAGRAM_ACCEPT);
}
END_TEST

START_TEST(an_heir_that_goes_before_it_has_the_slot_leaves_it_to_the_next) {
    config.clients = 1;
    begin();
    struct talker talker = join(1000, 1);
    wait_ticks(5);
    for (uint16_t port = 1001; port < 1005; port++) { // all between two ticks
        say_close(&talker);
        talker = join(port, 1);
    }
    hc_tick left = head();
    wait_ticks(2);
    const struct hc_timeline *timeline = hc_sv_host_timeline(host);
    ck_assert_int_eq(hc_timeline_control(timeline, 0, left), HC_CONTROL_LEAVE);
    ck_assert_int_eq(hc_timeline_control(timeline, 0, left + 1), HC_CONTROL_JOIN);
    say_inputs(&talker, head(), 3);
    ck_assert_uint_eq(hc_sv_host_stats(host)->inputs_received, 3);
}
END_TEST

START_TEST(a_connect_that_comes_after_the_end_admits_nobody_while_its_cookie_is_valid) {
    begin();
    struct talker talker = join(1000, 1);
    wait_ticks(5);
    say_close(&talker);
    for (uint64_t end_us = now_us + 25 * SECOND_US; now_us < end_us; wait_ticks(10)) {
        ck_assert_int_eq(say_connect(&talker), HC_DATAGRAM_NONE);
        ck_assert_uint_eq(hc_sv_host_clients(host), 0);
    }
    ck_assert_uint_eq(hc_sv_host_stats(host)->joins, 1);
    join(1000, 2); // the same port with a new nonce is another attempt
}
END_TEST

START_TEST(a_client_whose_accepts_were_lost_gets_in_when_they_come_through) {
    config.timeout_us = SECOND_US;
    begin();
    struct talker talker = join(1000, 1); // it never hears of it
    wait_ticks(2 * RATE);
    ck_assert_uint_eq(hc_sv_host_stats(host)->timeouts, 1);
    ck_assert_int_eq(say_connect(&talker), HC_DATAGRAM_ACCEPT);
}
END_TEST

START_TEST(an_older_attempts_connect_never_replaces_the_connection_that_followed) {
    begin();
    struct talker old = join(1000, 1);
    wait_ticks(101);
    struct talker talker = join(1000, 2);
    uint8_t nothing[1] = {0};
    for (int i = 0; i < 300; i++) { // live for a second, then silent for two
        if (i < 100)
            ck_assert_int_eq(say(&talker, nothing, 0), HC_OK);
        ck_assert_int_eq(say_connect(&old), HC_DATAGRAM_NONE);
        wait_ticks(1);
    }
    ck_assert_int_eq(say(&talker, nothing, 0), HC_OK);
    ck_assert_uint_eq(hc_sv_host_stats(host)->joins, 2);
}
END_TEST

START_TEST(a_live_connection_is_not_replaced_by_an_attempt_that_never_was_one) {
    begin();
    struct talker never = greet(1000, 1);
    struct talker talker = join(1000, 2);
    uint8_t nothing[1] = {0};
    for (int i = 0; i < 300; i++) {
        ck_assert_int_eq(say(&talker, nothing, 0), HC_OK);
        ck_assert_int_eq(say_connect(&never), HC_DATAGRAM_NONE);
        wait_ticks(1);
    }
    ck_assert_uint_eq(hc_sv_host_stats(host)->joins, 1);
}
END_TEST

// ---- What is counted ----------------------------------------------------------------------------

START_TEST(an_input_that_came_too_late_is_refused_once_however_often_it_comes) {
    config.history = 8;
    begin();
    struct talker talker = join(1000, 1);
    wait_ticks(30);
    hc_tick first = head() - 20;
    for (unsigned i = 0; i < 5; i++) {
        say_inputs(&talker, first, 3 + i); // the same ones, and one more
        ck_assert_uint_eq(hc_sv_host_stats(host)->inputs_refused, 3 + i);
    }
    ck_assert_uint_eq(hc_sv_host_stats(host)->inputs_received, 0);
}
END_TEST

// ---- What others are told -----------------------------------------------------------------------

START_TEST(when_not_all_inputs_fit_the_nearest_of_everybody_go_first) {
    enum { SHARE = 6 };
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct talker talkers[PLAYERS];
    struct told told;
    config.future = 120;
    begin();
    for (unsigned i = 0; i < PLAYERS; i++)
        talkers[i] = join((uint16_t)(1000 + i), 1);
    wait_ticks(3);
    for (unsigned i = 1; i < PLAYERS; i++)
        say_inputs(&talkers[i], head() + 1, config.future - 1);
    read_told(bytes, run(1, &talkers[0], bytes), &told);
    uint32_t least = SPAN, most = 0;
    for (unsigned i = 1; i < PLAYERS; i++) {
        const bool *input = told.input[talkers[i].player];
        hc_tick from = head() - told.snapshot.tick; // those of `head()` on are known
        uint32_t count = 0;
        while (from + count < SPAN && input[from + count])
            count++;
        least = count < least ? count : least;
        most = count > most ? count : most;
    }
    ck_assert_uint_lt(least, config.future - 1); // or there was no shortage
    ck_assert_uint_gt(least, 0);
    ck_assert_uint_le(most - least, SHARE);
}
END_TEST

START_TEST(inputs_before_a_leave_are_told_to_those_who_have_not_come_so_far) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct told told;
    begin();
    struct talker slow = join(1000, 1), other = join(1001, 1);
    wait_ticks(2); // `slow` sends no input: what it is shown stays at its join
    hc_tick first = head();
    say_inputs(&other, first, 20);
    wait_ticks(10);
    say_close(&other);
    for (int i = 0; i < 20; i++) {
        read_told(bytes, run(1, &slow, bytes), &told);
        ck_assert_uint_le(told.snapshot.tick, first);
        for (hc_tick t = first; t < first + 10; t++)
            ck_assert_msg(told.input[other.player][t - told.snapshot.tick],
                          "%d ticks after: %u of %u", i, t, first);
    }
}
END_TEST

START_TEST(of_a_player_that_has_not_said_anything_since_it_joined_the_join_is_told) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct told told;
    begin();
    struct talker quick = join(1000, 1);
    wait_ticks(2);
    struct talker silent = join(1001, 1);
    hc_tick joined = head();
    for (int i = 0; i < 100; i++) {
        say_inputs(&quick, head(), 2);
        read_told(bytes, run(1, &quick, bytes), &told);
        ck_assert_uint_eq(told.snapshot.tick, head());
        ck_assert_uint_eq(told.join[silent.player], joined);
        ck_assert_uint_eq(told.join[quick.player], HC_NO_TICK);
    }
}
END_TEST

static void add_all(TCase *tests) {
    tcase_add_test(tests, a_full_server_takes_its_own_client_back_from_the_same_port);
    tcase_add_test(tests, the_last_place_can_be_had_in_the_moment_of_a_goodbye);
    tcase_add_test(tests, a_place_is_free_while_the_goodbye_to_a_silent_client_is_still_being_said);
    tcase_add_test(tests, an_heir_that_goes_before_it_has_the_slot_leaves_it_to_the_next);
    tcase_add_test(tests,
                   a_connect_that_comes_after_the_end_admits_nobody_while_its_cookie_is_valid);
    tcase_add_test(tests, an_older_attempts_connect_never_replaces_the_connection_that_followed);
    tcase_add_test(tests, a_client_whose_accepts_were_lost_gets_in_when_they_come_through);
    tcase_add_test(tests, a_live_connection_is_not_replaced_by_an_attempt_that_never_was_one);
    tcase_add_test(tests, an_input_that_came_too_late_is_refused_once_however_often_it_comes);
    tcase_add_test(tests, when_not_all_inputs_fit_the_nearest_of_everybody_go_first);
    tcase_add_test(tests, inputs_before_a_leave_are_told_to_those_who_have_not_come_so_far);
    tcase_add_test(tests, of_a_player_that_has_not_said_anything_since_it_joined_the_join_is_told);
}

int main(void) {
    Suite *suite = suite_create("server host");
    TCase *tests = tcase_create("host");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    add_all(tests);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
