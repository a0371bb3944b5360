/// The server as a client's datagrams meet it: admission, counts, and snapshots of other players.
#include "hindcast/arena.h"
#include "client/snapshot_reader.h"
#include "hindcast/rng.h"
#include "proto/ack.h"
#include "server/host.h"
#include "tests/sim/endpoint.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { RATE = 100, TICK_US = 1000000 / RATE, SECOND_US = 1000000, PLAYERS = 8, SPAN = 256 };

static struct hc_sv_host_config config;
static struct hc_sv_host *host;
static struct hc_world world; ///< like the host's, to read snapshots with
static struct hc_cl_snapshot_reader *reader;
static struct hc_body body;
static uint64_t now_us;

/// A client, as far as the server can see one.
struct talker {
    struct hc_endpoint endpoint; ///< of the user whose number is the port
    struct hc_address address;
    struct hc_connect connect; ///< as last sent
    uint32_t cid, seq;
    struct hc_replay replay; ///< of what came from the server and is acknowledged
    hc_player player;
};

static void begin(void) {
    host = hc_sv_host_create(&config, now_us);
    ck_assert(host != NULL);
    ck_assert_int_eq(hc_world_init(&world, &hc_arena, config.clients, RATE, config.seed, NULL),
                     HC_OK);
    reader = hc_cl_snapshot_reader_create(&world, 1);
    ck_assert(reader != NULL);
}

static void set_up(void) {
    now_us = 5 * SECOND_US;
    config = hc_sv_host_config_default();
    config.game = &hc_arena;
    config.clients = PLAYERS;
    config.tick_rate = RATE;
    config.keys = hc_endpoint_token_ring();
    config.unix_us = HC_TEST_UNIX_US;
}

static void tear_down(void) {
    hc_sv_host_destroy(host);
    hc_cl_snapshot_reader_destroy(reader);
    reader = NULL;
    hc_world_free(&world);
    host = NULL;
}

/// Opens a DATA; true: it is a snapshot.
static bool open_snapshot(const struct talker *talker, const uint8_t *bytes, size_t size,
                          uint8_t out[static HC_DATAGRAM_MAX]) {
    struct hc_data data;
    ck_assert_int_eq(hc_endpoint_get_data(&talker->endpoint, false, bytes, size, out, &data),
                     HC_OK);
    ck_assert_int_eq(hc_body_begin(&body, data.body, data.body_size), HC_OK);
    return hc_body_next(&body) == HC_MESSAGE_SNAPSHOT;
}

/// The host sends everything; `out` gets the last datagram of `kind` to `talker`, DATA opened.
static size_t drain(const struct talker *talker, enum hc_datagram_kind kind,
                    uint8_t out[static HC_DATAGRAM_MAX]) {
    uint8_t bytes[HC_DATAGRAM_MAX], opened[HC_DATAGRAM_MAX];
    struct hc_address to;
    size_t size, kept = 0;
    while ((size = hc_sv_host_send(host, &to, bytes, now_us)) > 0) {
        if (!hc_address_equal(&to, &talker->address) || hc_datagram_kind(bytes, size) != kind)
            continue;
        if (kind == HC_DATAGRAM_DATA && !open_snapshot(talker, bytes, size, opened))
            continue;
        memcpy(out, kind == HC_DATAGRAM_DATA ? opened : bytes, size);
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
                             .client_nonce = {attempt, (uint8_t)port, (uint8_t)(port >> 8)}};
    struct hc_datagram_cookie cookie;
    ck_assert_int_eq(receive(&talker, bytes, hc_datagram_put_hello(&hello, bytes)), HC_OK);
    size_t size = drain(&talker, HC_DATAGRAM_COOKIE, bytes);
    ck_assert_int_eq(hc_datagram_get_cookie(bytes, size, &cookie), HC_OK);
    talker.connect =
        (struct hc_connect){.protocol_id = hello.protocol_id, .slot = cookie.slot, .players = 1};
    memcpy(talker.connect.client_nonce, hello.client_nonce, HC_NONCE_SIZE);
    memcpy(talker.connect.cookie, cookie.cookie, sizeof cookie.cookie);
    hc_endpoint_issue_token(&talker.endpoint, &hc_arena, port, (uint64_t)port << 8 | attempt);
    return talker;
}

/// Says CONNECT; HC_DATAGRAM_NONE, DENY or ACCEPT: the answer.
static enum hc_datagram_kind say_connect(struct talker *talker) {
    uint8_t bytes[HC_DATAGRAM_MAX], denied[HC_DATAGRAM_MAX], opened[HC_DATAGRAM_MAX];
    struct hc_accept accept;
    struct hc_welcome welcome;
    uint64_t denials = hc_sv_host_stats(host)->denied;
    (void)receive(talker, bytes,
                  hc_endpoint_put_connect(&talker->endpoint, &talker->connect, bytes));
    if (hc_sv_host_stats(host)->denied > denials) {
        ck_assert_uint_gt(drain(talker, HC_DATAGRAM_DENY, denied), 0);
        return HC_DATAGRAM_DENY;
    }
    size_t size = drain(talker, HC_DATAGRAM_ACCEPT, bytes);
    if (size == 0)
        return HC_DATAGRAM_NONE;
    ck_assert_int_eq(hc_endpoint_get_accept(&talker->endpoint, bytes, size, opened, &accept),
                     HC_OK);
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
    struct hc_data data = {.cid = talker->cid,
                           .seq = ++talker->seq,
                           .ack = talker->replay.newest,
                           .ack_bits = hc_replay_ack_bits(&talker->replay),
                           .body = said};
    data.body_size = size;
    return receive(talker, bytes, hc_endpoint_put_data(&talker->endpoint, true, &data, bytes));
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

static void say_inputs_showing(struct talker *talker, hc_tick first, uint32_t count,
                               uint32_t display_offset) {
    uint8_t bytes[HC_DATA_BODY_MAX];
    struct hc_writer writer = hc_bytes_writer(bytes, sizeof bytes);
    struct hc_input_message input = {.client_tick = first + count,
                                     .display_offset = display_offset,
                                     .force_before = first,
                                     .first = first,
                                     .count = count};
    ck_assert(hc_message_put_input(&writer, &hc_arena, 1, &input, noise, talker));
    ck_assert_uint_eq(input.count, count);
    ck_assert_int_eq(say(talker, bytes, writer.at), HC_OK);
}

static void say_inputs(struct talker *talker, hc_tick first, uint32_t count) {
    say_inputs_showing(talker, first, count, 0);
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
    uint32_t units;
    bool unit[PLAYERS]; ///< the player's was told
    bool input[PLAYERS][SPAN];
    hc_tick join[PLAYERS]; ///< HC_NO_TICK: none told
};

static void read_told(const uint8_t *bytes, size_t size, struct told *told) {
    const struct hc_cl_received *said = NULL;
    struct hc_data data;
    memset(told, 0, sizeof *told);
    memset(told->join, 0xff, sizeof told->join);
    ck_assert_int_eq(hc_datagram_get_data(bytes, size, &data), HC_OK);
    ck_assert_int_eq(hc_body_begin(&body, data.body, data.body_size), HC_OK);
    ck_assert_int_eq(hc_body_next(&body), HC_MESSAGE_SNAPSHOT);
    ck_assert_int_eq(hc_cl_snapshot_reader_decode(reader, &body, head(), &said), HC_OK);
    ck_assert_int_eq(hc_body_next(&body), HC_MESSAGE_END);
    told->snapshot = said->head;
    told->units = said->value_count;
    for (uint32_t i = 0; i < said->value_count; i++) {
        hc_player player = hc_unit_player(&world, said->values[i].unit);
        if (player < PLAYERS)
            told->unit[player] = true;
    }
    for (uint32_t i = 0; i < said->input_count; i++) {
        const struct hc_cl_received_input *input = &said->inputs[i];
        if (input->tick - said->head.tick < SPAN)
            told->input[input->player][input->tick - said->head.tick] = true;
    }
    for (uint32_t i = 0; i < said->roster_count; i++)
        if (said->roster_changes[i].player < PLAYERS &&
            said->roster_changes[i].roster_change == HC_ROSTER_JOIN)
            told->join[said->roster_changes[i].player] = said->roster_changes[i].tick;
}

// ---- Who is let in ------------------------------------------------------------------------------

START_TEST(a_full_server_takes_its_own_client_back_from_the_same_port) {
    config.clients = 1;
    begin();
    join(1000, 1);
    wait_ticks(5);
    struct talker again = greet(1000, 2);
    // The server has received from the old connection within the last second.
    ck_assert_int_eq(say_connect(&again), HC_DATAGRAM_DENY);
    ck_assert_uint_eq(hc_sv_host_stats(host)->denials[HC_DENY_CONNECTED].count, 1);
    ck_assert_uint_eq(hc_sv_host_stats(host)->leaves, 0);
    now_us += SECOND_US;
    hc_sv_host_advance(host, now_us);
    ck_assert_int_eq(say_connect(&again), HC_DATAGRAM_ACCEPT);
    ck_assert_uint_eq(hc_sv_host_clients(host), 1);
    ck_assert_uint_eq(hc_sv_host_stats(host)->leaves, 0); // its player has stayed
    ck_assert_uint_eq(hc_sv_host_stats(host)->resumed, 1);
    hc_tick resumed = head();
    wait_ticks(2);
    const struct hc_timeline *timeline = hc_sv_host_timeline(host);
    for (hc_tick t = resumed; t <= head(); t++)
        ck_assert_int_eq(hc_timeline_roster(timeline, 0, t), HC_ROSTER_NONE);
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
    ck_assert_int_eq(hc_timeline_roster(timeline, 0, left), HC_ROSTER_LEAVE);
    ck_assert_int_eq(hc_timeline_roster(timeline, 0, left + 1), HC_ROSTER_JOIN);
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

START_TEST(no_cid_is_given_again_soon_after_its_connection) {
    enum { CONNECTIONS = 16 };
    uint32_t cids[CONNECTIONS];
    config.clients = 1;
    config.secret[0] = 0xf6, config.secret[1] = 0x2f; // draws the 13th one again before long
    begin();
    for (unsigned i = 0; i < CONNECTIONS; i++) {
        struct talker talker = greet((uint16_t)(1000 + i), 1);
        talker.connect.players = 0;
        ck_assert_int_eq(say_connect(&talker), HC_DATAGRAM_ACCEPT);
        for (unsigned k = 0; k < i; k++)
            ck_assert_uint_ne(cids[k], talker.cid);
        cids[i] = talker.cid;
        say_close(&talker);
    }
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

START_TEST(nobody_is_let_in_who_cannot_be_told_so) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    begin();
    struct talker talker = greet(1000, 1), crowd = {.address = hc_address_ipv4(127, 0, 0, 1, 1001)};
    struct hc_hello hello = {.protocol_id = hc_datagram_protocol_id(&hc_arena)};
    size_t size = hc_datagram_put_hello(&hello, bytes);
    unsigned waiting = 0;
    while (waiting < 1000 && receive(&crowd, bytes, size) == HC_OK)
        waiting++;
    ck_assert_uint_lt(waiting, 1000);
    size = hc_endpoint_put_connect(&talker.endpoint, &talker.connect, bytes);
    ck_assert_int_eq(receive(&talker, bytes, size), HC_FULL);
    ck_assert_uint_eq(hc_sv_host_clients(host), 0);
    drain(&crowd, HC_DATAGRAM_COOKIE, bytes);
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
    ck_assert_uint_eq(hc_sv_host_stats(host)->joins, 1);
    ck_assert_uint_eq(hc_sv_host_stats(host)->resumed, 1);
}
END_TEST

START_TEST(a_live_connection_is_not_replaced_by_an_attempt_that_never_was_one) {
    begin();
    struct talker never = greet(1000, 1);
    struct talker talker = join(1000, 2);
    uint8_t nothing[1] = {0};
    for (int i = 0; i < 300; i++) {
        ck_assert_int_eq(say(&talker, nothing, 0), HC_OK);
        ck_assert_int_eq(say_connect(&never), HC_DATAGRAM_DENY);
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
    config.future = 200;
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
    uint8_t bytes[HC_DATAGRAM_MAX] = {0};
    struct told told;
    begin();
    struct talker slow = join(1000, 1), other = join(1001, 1);
    ck_assert_int_eq(say(&slow, bytes, 0), HC_OK);
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
        ck_assert_uint_eq(told.join[quick.player], HC_NO_TICK);
        // From when it is seen on, which is not looked at every tick.
        ck_assert(told.unit[silent.player] || i < 8);
        ck_assert_uint_eq(told.join[silent.player], told.unit[silent.player] ? joined : HC_NO_TICK);
    }
}
END_TEST

START_TEST(a_snapshot_leaves_room_for_units_whatever_was_forced_and_whoever_came_and_went) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct told told;
    struct talker guests[PLAYERS];
    config.future = HC_FUTURE_MAX; // so long joins and leaves are told
    config.client_rate = HC_SV_CLIENT_RATE_MIN;
    begin();
    struct talker patchy = join(999, 1); // it acknowledges nothing
    wait_ticks(2);
    unsigned seen = 0;
    for (uint16_t i = 0; i < 300; i++) {
        for (uint16_t j = 0; j < 4; j++) { // they say nothing, but goodbye
            if (i % 12 == j)
                guests[j] = join((uint16_t)(1000 + 4 * i + j), 1);
            if (i % 12 == j + 8)
                say_close(&guests[j]);
        }
        if (i % 3 == 0)
            say_inputs(&patchy, head(), 1); // the next two inputs are forced
        size_t size = run(1, &patchy, bytes);
        if (size == 0)
            continue;
        read_told(bytes, size, &told);
        ck_assert_uint_ge(told.units, 1);
        seen++;
    }
    ck_assert_uint_gt(hc_sv_host_stats(host)->inputs_forced, 64);
    ck_assert_uint_gt(seen, 10);
}
END_TEST

// ---- What is told against what ------------------------------------------------------------------

static bool same_state(const struct hc_cl_received_value *told) {
    const struct hc_timeline *timeline = hc_sv_host_timeline(host);
    hc_entity first = hc_unit_first(&world, told->unit);
    uint32_t count = hc_unit_count(&world, told->unit);
    return memcmp(told->value.presence, hc_timeline_presence(timeline, told->value.tick) + first,
                  count) == 0 &&
           memcmp(told->value.states,
                  hc_timeline_states(timeline, told->value.tick) + (size_t)first * world.stride,
                  (size_t)count * world.stride) == 0;
}

static bool same_owner(const struct hc_cl_received_value *told) {
    hc_player player = hc_unit_player(&world, told->unit);
    uint8_t input[HC_INPUT_MAX] = {0};
    hc_tick known = HC_NO_TICK;
    if (player == HC_NO_PLAYER)
        return told->value.known == HC_NO_TICK;
    hc_timeline_newest_input(hc_sv_host_timeline(host), player, told->value.tick, &known, input);
    return told->value.known == known && memcmp(told->value.input, input, sizeof input) == 0;
}

/// Reads a datagram as a client does that has received, and acknowledged, what its reader keeps;
/// all that it tells must be as the host has it. Returns how much of it was told against something.
static uint32_t hear(struct talker *talker, struct hc_cl_snapshot_reader *own_reader,
                     const uint8_t *bytes, size_t size) {
    const struct hc_timeline *timeline = hc_sv_host_timeline(host);
    const struct hc_cl_received *said = NULL;
    struct hc_data data;
    ck_assert_int_eq(hc_datagram_get_data(bytes, size, &data), HC_OK);
    ck_assert_int_eq(hc_body_begin(&body, data.body, data.body_size), HC_OK);
    ck_assert_int_eq(hc_body_next(&body), HC_MESSAGE_SNAPSHOT);
    ck_assert_int_eq(hc_cl_snapshot_reader_read(own_reader, &body, head(), &said), HC_OK);
    for (uint32_t i = 0; i < said->value_count; i++) {
        const struct hc_cl_received_value *told = &said->values[i];
        ck_assert(told->dropped || (same_state(told) && same_owner(told)));
    }
    for (uint32_t i = 0; i < said->input_count; i++) {
        const struct hc_cl_received_input *input = &said->inputs[i];
        ck_assert_int_eq(hc_timeline_slot(timeline, input->player, input->tick), HC_SLOT_KNOWN);
        ck_assert_mem_eq(hc_timeline_input(timeline, input->player, input->tick), input->input,
                         world.game->input_size);
    }
    hc_replay_accept(&talker->replay, data.seq);
    return said->head.base == HC_NO_TICK ? 0 : said->value_count;
}

START_TEST(whatever_is_lost_all_that_comes_can_be_read_and_is_true) {
    static const uint32_t rates[] = {HC_SV_CLIENT_RATE_MIN, 20000, 262144};
    const unsigned round = (unsigned)_i;
    struct hc_rng rng = hc_rng_init(81, round);
    struct hc_cl_snapshot_reader *readers[PLAYERS];
    struct talker talkers[PLAYERS];
    struct hc_address to;
    uint8_t bytes[HC_DATAGRAM_MAX], opened[HC_DATAGRAM_MAX];
    uint32_t loss = hc_rng_below(&rng, 700000), against = 0;
    config.client_rate = rates[round % 3];
    config.history = 8 + hc_rng_below(&rng, 120);
    config.snapshot_rate = round % 2 == 0 ? 0 : 30;
    begin();
    for (unsigned i = 0; i < PLAYERS; i++) {
        talkers[i] = join((uint16_t)(1000 + i), 1);
        readers[i] = hc_cl_snapshot_reader_create(&world, 1);
    }
    for (unsigned tick = 0; tick < 300; tick++) {
        for (unsigned i = 0; i < PLAYERS; i++) // those of higher numbers are later
            if (tick > 20 && hc_rng_below(&rng, 2) == 0)
                say_inputs_showing(&talkers[i], hc_tick_back(head(), 2 * i + hc_rng_below(&rng, 4)),
                                   1 + hc_rng_below(&rng, 12), 8 * i);
        now_us += TICK_US;
        hc_sv_host_advance(host, now_us);
        for (size_t size; (size = hc_sv_host_send(host, &to, bytes, now_us)) > 0;)
            if (!hc_rng_chance(&rng, loss) &&
                open_snapshot(&talkers[to.port - 1000], bytes, size, opened))
                against += hear(&talkers[to.port - 1000], readers[to.port - 1000], opened, size);
    }
    ck_assert_uint_gt(against, 300);
    ck_assert(round % 3 != 2 || hc_sv_host_stats(host)->corrections > 100);
    for (unsigned i = 0; i < PLAYERS; i++)
        hc_cl_snapshot_reader_destroy(readers[i]);
}
END_TEST

// ---- What it costs ------------------------------------------------------------------------------

/// Bits of values at the tick shown.
static uint64_t values_of(const struct hc_sv_snapshot_bits *bits) {
    return bits->own + bits->others + bits->unowned;
}

/// Between two looks at what was counted one snapshot of `size` bytes was sent, whose every bit was
/// counted.
static void check_counted(const struct hc_sv_host_stats *before, const struct hc_sv_host_stats *now,
                          size_t size) {
    const struct hc_sv_snapshot_bits *old = &before->bits, *bits = &now->bits;
    uint64_t values = values_of(bits) - values_of(old);
    uint64_t spent = values + bits->header - old->header + bits->names - old->names + bits->inputs -
                     old->inputs + bits->corrections - old->corrections;
    size_t packed = (size_t)(spent + 7) / 8;
    ck_assert_uint_eq(now->snapshots, before->snapshots + 1);
    packed += packed < 256 ? 2u : 3u; // its length, in one byte or in two
    ck_assert_uint_eq(size, HC_DATA_BODY_AT + 2 + packed + HC_TAG_SIZE);
}

START_TEST(every_bit_of_a_snapshot_is_counted_for_what_it_was_spent_on) {
    enum { TICKS = 500 };
    struct hc_rng rng = hc_rng_init(83, 0);
    struct talker talkers[PLAYERS];
    struct hc_address to;
    uint8_t bytes[HC_DATAGRAM_MAX], opened[HC_DATAGRAM_MAX];
    begin();
    for (unsigned i = 0; i < PLAYERS; i++)
        talkers[i] = join((uint16_t)(1000 + i), 1);
    for (unsigned tick = 0; tick < TICKS; tick++) {
        for (unsigned i = 0; i < PLAYERS; i++) // those of higher numbers are later
            if (hc_rng_below(&rng, 2) == 0)
                say_inputs_showing(&talkers[i], hc_tick_back(head(), 2 * i + hc_rng_below(&rng, 4)),
                                   1 + hc_rng_below(&rng, 12), 8 * i);
        now_us += TICK_US;
        hc_sv_host_advance(host, now_us);
        struct hc_sv_host_stats before = *hc_sv_host_stats(host);
        for (size_t size; (size = hc_sv_host_send(host, &to, bytes, now_us)) > 0;) {
            struct hc_data data;
            bool snapshot = open_snapshot(&talkers[to.port - 1000], bytes, size, opened);
            ck_assert_int_eq(hc_datagram_get_data(opened, size, &data), HC_OK);
            hc_replay_accept(&talkers[to.port - 1000].replay, data.seq);
            if (!snapshot)
                continue;
            check_counted(&before, hc_sv_host_stats(host), size);
            before = *hc_sv_host_stats(host);
        }
    }
    const struct hc_sv_host_stats *stats = hc_sv_host_stats(host);
    ck_assert_uint_gt(stats->corrections, 100);
    ck_assert_uint_gt(stats->deltas_reused, 100);
}
END_TEST

static void add_all(TCase *tests) {
    tcase_add_test(tests, a_full_server_takes_its_own_client_back_from_the_same_port);
    tcase_add_test(tests, the_last_place_can_be_had_in_the_moment_of_a_goodbye);
    tcase_add_test(tests, a_place_is_free_while_the_goodbye_to_a_silent_client_is_still_being_said);
    tcase_add_test(tests, an_heir_that_goes_before_it_has_the_slot_leaves_it_to_the_next);
    tcase_add_test(tests,
                   a_connect_that_comes_after_the_end_admits_nobody_while_its_cookie_is_valid);
    tcase_add_test(tests, nobody_is_let_in_who_cannot_be_told_so);
    tcase_add_test(tests, an_older_attempts_connect_never_replaces_the_connection_that_followed);
    tcase_add_test(tests, no_cid_is_given_again_soon_after_its_connection);
    tcase_add_test(tests, a_client_whose_accepts_were_lost_gets_in_when_they_come_through);
    tcase_add_test(tests, a_live_connection_is_not_replaced_by_an_attempt_that_never_was_one);
    tcase_add_test(tests, an_input_that_came_too_late_is_refused_once_however_often_it_comes);
    tcase_add_test(tests, when_not_all_inputs_fit_the_nearest_of_everybody_go_first);
    tcase_add_test(tests, inputs_before_a_leave_are_told_to_those_who_have_not_come_so_far);
    tcase_add_test(tests,
                   a_snapshot_leaves_room_for_units_whatever_was_forced_and_whoever_came_and_went);
    tcase_add_loop_test(tests, whatever_is_lost_all_that_comes_can_be_read_and_is_true, 0, 18);
    tcase_add_test(tests, of_a_player_that_has_not_said_anything_since_it_joined_the_join_is_told);
    tcase_add_test(tests, every_bit_of_a_snapshot_is_counted_for_what_it_was_spent_on);
}

START_TEST(a_join_is_told_until_a_datagram_that_told_it_is_acknowledged) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct told told;
    unsigned before = 0;
    begin();
    struct talker watcher = join(1000, 1);
    wait_ticks(3);
    struct talker other = join(1001, 2);
    for (unsigned tick = 0; tick < 30; tick++) {
        say_inputs(&watcher, hc_tick_back(head(), 2), 4);
        say_inputs(&other, hc_tick_back(head(), 2), 4);
        size_t size = run(1, &watcher, bytes);
        struct hc_data data;
        read_told(bytes, size, &told);
        ck_assert_int_eq(hc_datagram_get_data(bytes, size, &data), HC_OK);
        bool tells = told.join[other.player] != HC_NO_TICK;
        if (tick < 20)
            before += tells;
        else
            ck_assert_msg(tells == (tick == 20), "tick %u", tick);
        if (tick != 20)
            continue;
        hc_cl_snapshot_reader_accept(reader); // this one alone arrives
        hc_replay_accept(&watcher.replay, data.seq);
    }
    ck_assert_uint_gt(before, 10); // from when it was first seen
}
END_TEST

// ---- Another address ----------------------------------------------------------------------------

START_TEST(a_snapshot_goes_to_an_address_to_be_shown_as_well_for_a_while_as_far_as_it_may) {
    enum { TICKS = 300, PATIENCE_TICKS = RATE, QUESTIONS_MAX = 16 };
    uint8_t bytes[HC_DATAGRAM_MAX], opened[HC_DATAGRAM_MAX], home_bytes[HC_DATAGRAM_MAX];
    struct hc_address to;
    size_t size, home_size = 0;
    unsigned at_home = 0, copies = 0, questions = 0;
    uint64_t in = 0, out = 0;
    begin();
    struct talker client = join(1000, 1);
    const struct hc_address home = client.address;
    const struct hc_sv_host_stats *stats = hc_sv_host_stats(host);
    say_inputs(&client, head(), 2);
    wait_ticks(3);
    client.address.port = 2000;
    for (unsigned tick = 0; tick < TICKS; tick++) {
        uint64_t before = stats->bytes_in;
        say_inputs(&client, hc_tick_back(head(), 2), 4);
        in += stats->bytes_in - before;
        now_us += TICK_US;
        hc_sv_host_advance(host, now_us);
        while ((size = hc_sv_host_send(host, &to, bytes, now_us)) > 0) {
            bool snapshot = open_snapshot(&client, bytes, size, opened);
            if (hc_address_equal(&to, &home)) {
                for (int type; snapshot && (type = hc_body_next(&body)) != HC_MESSAGE_END;)
                    ck_assert_int_ne(type, HC_MESSAGE_PATH_CHALLENGE);
                at_home += snapshot;
                home_size = size;
                memcpy(home_bytes, bytes, size);
                continue;
            }
            ck_assert(hc_address_equal(&to, &client.address));
            ck_assert(!snapshot || (size == home_size && memcmp(bytes, home_bytes, size) == 0));
            copies += snapshot;
            questions += !snapshot;
            out += size;
            ck_assert_uint_le(out, 3 * in);
        }
    }
    ck_assert_uint_eq(at_home, TICKS);
    ck_assert_uint_eq(copies, stats->copies);
    ck_assert_uint_ge(copies, PATIENCE_TICKS / 2);
    ck_assert_uint_le(copies, PATIENCE_TICKS);
    ck_assert_uint_gt(questions, 8);
    ck_assert_uint_le(questions, QUESTIONS_MAX);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("server host");
    TCase *tests = tcase_create("host");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    add_all(tests);
    tcase_add_test(tests, a_join_is_told_until_a_datagram_that_told_it_is_acknowledged);
    tcase_add_test(tests,
                   a_snapshot_goes_to_an_address_to_be_shown_as_well_for_a_while_as_far_as_it_may);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
