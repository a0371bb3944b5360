/// Tests of the server by datagrams of clients: admission, counts, snapshots and addresses.
#include "hindcast/arena.h"
#include "client/world/snapshot_reader.h"
#include "hindcast/rng.h"
#include "proto/ack.h"
#include "server/host.h"
#include "server/state.h"
#include "tests/run_suite.h"
#include "tests/sim/endpoint.h"

#include <stdlib.h>
#include <string.h>

enum { RATE = 100, TICK_US = 1000000 / RATE, SECOND_US = 1000000, PLAYERS = 8, SPAN = 256 };

static struct hc_server_config config;
static struct hc_sv_host_test host_test;
static struct hc_server *host;
static struct hc_world world; ///< a copy of the host's, to decode snapshots
static struct hc_cl_snapshot_reader *reader;
static struct hc_body body;
static uint64_t now_us;

/// A client, as the server sees it.
struct client {
    struct hc_endpoint endpoint; ///< of the user whose number is the port
    struct hc_address address;
    struct hc_connect connect; ///< as last sent
    uint32_t cid, seq;
    struct hc_received replay; ///< datagrams of the server that it received and acks
    hc_player player;
};

static void begin(void) {
    host = hc_sv_host_create(&config, &host_test, HC_TEST_UNIX_US, now_us);
    ck_assert(host != NULL);
    ck_assert_int_eq(hc_world_init(&world, &hc_arena, config.clients, RATE, config.seed, NULL),
                     HC_OK);
    reader = hc_cl_snapshot_reader_create(&world, 1);
    ck_assert(reader != NULL);
}

static void set_up(void) {
    now_us = 5 * SECOND_US;
    config = hc_test_server_config(&hc_arena);
    host_test = hc_sv_host_test_default();
    config.clients = PLAYERS;
    config.tick_rate = RATE;
}

static void tear_down(void) {
    hc_server_destroy(host);
    hc_cl_snapshot_reader_destroy(reader);
    reader = NULL;
    hc_world_free(&world);
    host = NULL;
}

/// Opens a datagram; true: it is a DATA whose first message is a snapshot.
static bool open_snapshot(const struct client *client, const uint8_t *bytes, size_t size,
                          uint8_t out[static HC_DATAGRAM_MAX]) {
    struct hc_data data;
    if (hc_datagram_kind(bytes, size) != HC_DATAGRAM_DATA)
        return false; // the ACCEPT again
    ck_assert_int_eq(hc_endpoint_get_data(&client->endpoint, false, bytes, size, out, &data),
                     HC_OK);
    ck_assert_int_eq(hc_body_begin(&body, data.body, data.body_size), HC_OK);
    return hc_body_next(&body) == HC_MESSAGE_SNAPSHOT;
}

/// Sends everything due; `out` gets the last datagram of `kind` to `client`, DATA opened.
static size_t drain(const struct client *client, enum hc_datagram_kind kind,
                    uint8_t out[static HC_DATAGRAM_MAX]) {
    uint8_t bytes[HC_DATAGRAM_MAX], opened[HC_DATAGRAM_MAX];
    struct hc_address to;
    size_t size, last = 0;
    while ((size = hc_server_send(host, &to, bytes, now_us)) > 0) {
        if (!hc_address_equal(&to, &client->address) || hc_datagram_kind(bytes, size) != kind)
            continue;
        if (kind == HC_DATAGRAM_DATA && !open_snapshot(client, bytes, size, opened))
            continue;
        memcpy(out, kind == HC_DATAGRAM_DATA ? opened : bytes, size);
        last = size;
    }
    return last;
}

static enum hc_status receive(const struct client *client, const uint8_t *bytes, size_t size) {
    return hc_server_receive(host, &client->address, bytes, size, now_us);
}

/// The `attempt`-th client at `port`, with its cookie.
static struct client get_cookie(uint16_t port, uint8_t attempt) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct client client = {.address = hc_address_ipv4(127, 0, 0, 1, port)};
    struct hc_hello hello = {.protocol_id = hc_test_protocol_id(&hc_arena),
                             .client_nonce = {attempt, (uint8_t)port, (uint8_t)(port >> 8)}};
    struct hc_datagram_cookie cookie;
    ck_assert_int_eq(receive(&client, bytes, hc_datagram_put_hello(&hello, bytes)), HC_OK);
    size_t size = drain(&client, HC_DATAGRAM_COOKIE, bytes);
    ck_assert_int_eq(hc_datagram_get_cookie(bytes, size, &cookie), HC_OK);
    client.connect =
        (struct hc_connect){.protocol_id = hello.protocol_id, .slot = cookie.slot, .players = 1};
    memcpy(client.connect.client_nonce, hello.client_nonce, HC_NONCE_SIZE);
    memcpy(client.connect.cookie, cookie.cookie, sizeof cookie.cookie);
    hc_endpoint_issue_token(&client.endpoint, &hc_arena, port, (uint64_t)port << 8 | attempt);
    return client;
}

/// Sends CONNECT; returns the kind of the answer: HC_DATAGRAM_NONE, DENY or ACCEPT.
static enum hc_datagram_kind send_connect(struct client *client) {
    uint8_t bytes[HC_DATAGRAM_MAX], denied[HC_DATAGRAM_MAX], opened[HC_DATAGRAM_MAX];
    struct hc_accept accept;
    struct hc_welcome welcome;
    uint64_t denials = hc_server_stats(host)->denied;
    (void)receive(client, bytes,
                  hc_endpoint_put_connect(&client->endpoint, &client->connect, bytes));
    if (hc_server_stats(host)->denied > denials) {
        ck_assert_uint_gt(drain(client, HC_DATAGRAM_DENY, denied), 0);
        return HC_DATAGRAM_DENY;
    }
    size_t size = drain(client, HC_DATAGRAM_ACCEPT, bytes);
    if (size == 0)
        return HC_DATAGRAM_NONE;
    ck_assert_int_eq(hc_endpoint_get_accept(&client->endpoint, bytes, size, opened, &accept),
                     HC_OK);
    ck_assert_int_eq(hc_body_begin(&body, accept.body, accept.body_size), HC_OK);
    ck_assert_int_eq(hc_body_next(&body), HC_MESSAGE_WELCOME);
    ck_assert_int_eq(hc_message_get_welcome(&body, &hc_arena, &welcome), HC_OK);
    client->cid = accept.cid;
    client->player = welcome.own[0];
    return HC_DATAGRAM_ACCEPT;
}

static struct client join(uint16_t port, uint8_t attempt) {
    struct client client = get_cookie(port, attempt);
    ck_assert_int_eq(send_connect(&client), HC_DATAGRAM_ACCEPT);
    return client;
}

static enum hc_status send_data(struct client *client, const uint8_t *payload, size_t size) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct hc_data data = {.cid = client->cid,
                           .seq = ++client->seq,
                           .ack = client->replay.newest,
                           .ack_bits = hc_received_ack_bits(&client->replay),
                           .body = payload};
    data.body_size = size;
    return receive(client, bytes, hc_endpoint_put_data(&client->endpoint, true, &data, bytes));
}

static void send_close(struct client *client) {
    uint8_t bytes[HC_DATA_BODY_MAX];
    struct hc_writer writer = hc_bytes_writer(bytes, sizeof bytes);
    ck_assert(hc_message_put_close(&writer, &(struct hc_close){.reason = HC_CLOSE_LEFT}));
    ck_assert_int_eq(send_data(client, bytes, writer.at), HC_OK);
}

/// An input that differs from the one before in every field, and so takes the most room.
static const void *noise(void *context, uint32_t index, uint32_t player) {
    static struct hc_arena_input input;
    const struct client *client = context;
    uint64_t r = hc_random(3, client->player, index, player);
    input = (struct hc_arena_input){.move_x = (int8_t)(r % 3) - 1,
                                    .move_y = (int8_t)(r / 8 % 3) - 1,
                                    .aim = (uint8_t)(r >> 16),
                                    .fire = r >> 24 & 1};
    return &input;
}

static void send_inputs_showing(struct client *client, hc_tick first, uint32_t count,
                                uint32_t display_offset) {
    uint8_t bytes[HC_DATA_BODY_MAX];
    struct hc_writer writer = hc_bytes_writer(bytes, sizeof bytes);
    struct hc_input_message input = {.client_tick = first + count,
                                     .display_offset = display_offset,
                                     .force_before = first,
                                     .first = first,
                                     .count = count};
    ck_assert(hc_message_put_input(&writer, &hc_arena, 1, &input, noise, client));
    ck_assert_uint_eq(input.count, count);
    ck_assert_int_eq(send_data(client, bytes, writer.at), HC_OK);
}

static void send_inputs(struct client *client, hc_tick first, uint32_t count) {
    send_inputs_showing(client, first, count, 0);
}

static hc_tick head(void) {
    return hc_timeline_head(hc_server_timeline(host));
}

/// Runs ticks; `out` gets the newest snapshot for `client`; returns its size.
static size_t run(unsigned ticks, const struct client *client, uint8_t out[HC_DATAGRAM_MAX]) {
    struct hc_server_event event;
    size_t size = 0;
    for (unsigned i = 0; i < ticks; i++) {
        now_us += TICK_US;
        hc_server_advance(host, now_us);
        while (hc_server_poll_event(host, &event)) {
        }
        size_t got = drain(client, HC_DATAGRAM_DATA, out);
        size = got > 0 ? got : size;
    }
    return size;
}

static void wait_ticks(unsigned ticks) {
    static const struct client no_client;
    uint8_t bytes[HC_DATAGRAM_MAX];
    run(ticks, &no_client, bytes);
}

/// The players' units, inputs by ticks after T, and joins that a snapshot contains.
struct content {
    struct hc_snapshot snapshot;
    uint32_t units;
    bool unit[PLAYERS];
    bool input[PLAYERS][SPAN];
    hc_tick join[PLAYERS]; ///< HC_NO_TICK: none
};

static void read_content(const uint8_t *bytes, size_t size, struct content *content) {
    const struct hc_cl_received *received = NULL;
    struct hc_data data;
    memset(content, 0, sizeof *content);
    memset(content->join, 0xff, sizeof content->join);
    ck_assert_int_eq(hc_datagram_get_data(bytes, size, &data), HC_OK);
    ck_assert_int_eq(hc_body_begin(&body, data.body, data.body_size), HC_OK);
    ck_assert_int_eq(hc_body_next(&body), HC_MESSAGE_SNAPSHOT);
    ck_assert_int_eq(hc_cl_snapshot_reader_decode(reader, &body, head(), &received), HC_OK);
    ck_assert_int_eq(hc_body_next(&body), HC_MESSAGE_END);
    content->snapshot = received->header;
    content->units = received->value_count;
    for (uint32_t i = 0; i < received->value_count; i++) {
        hc_player player = hc_unit_player(&world, received->values[i].unit);
        if (player < PLAYERS)
            content->unit[player] = true;
    }
    for (uint32_t i = 0; i < received->input_count; i++) {
        const struct hc_cl_received_input *input = &received->inputs[i];
        if (input->tick - received->header.tick < SPAN)
            content->input[input->player][input->tick - received->header.tick] = true;
    }
    for (uint32_t i = 0; i < received->roster_count; i++)
        if (received->roster_changes[i].player < PLAYERS &&
            received->roster_changes[i].roster_change == HC_ROSTER_JOIN)
            content->join[received->roster_changes[i].player] = received->roster_changes[i].tick;
}

// ---- Admission ----------------------------------------------------------------------------------

START_TEST(full_server_resumes_its_own_client_from_the_same_port) {
    config.clients = 1;
    begin();
    join(1000, 1);
    wait_ticks(5);
    struct client again = get_cookie(1000, 2);
    // The server has received from the old connection within the last second.
    ck_assert_int_eq(send_connect(&again), HC_DATAGRAM_DENY);
    ck_assert_uint_eq(hc_server_stats(host)->denials[HC_DENY_CONNECTED].count, 1);
    ck_assert_uint_eq(hc_server_stats(host)->leaves, 0);
    now_us += SECOND_US;
    hc_server_advance(host, now_us);
    ck_assert_int_eq(send_connect(&again), HC_DATAGRAM_ACCEPT);
    ck_assert_uint_eq(hc_server_clients(host), 1);
    ck_assert_uint_eq(hc_server_stats(host)->leaves, 0); // its player stays
    ck_assert_uint_eq(hc_server_stats(host)->resumed, 1);
    hc_tick resumed = head();
    wait_ticks(2);
    const struct hc_timeline *timeline = hc_server_timeline(host);
    for (hc_tick t = resumed; t <= head(); t++)
        ck_assert_int_eq(hc_timeline_roster(timeline, 0, t), HC_ROSTER_NONE);
}
END_TEST

START_TEST(closing_client_frees_the_last_place_at_once) {
    config.clients = 2;
    begin();
    join(1000, 1);
    struct client last = join(1001, 1);
    wait_ticks(5);
    send_close(&last);
    struct client next = get_cookie(1002, 1);
    ck_assert_int_eq(send_connect(&next), HC_DATAGRAM_ACCEPT);
    ck_assert_uint_eq(next.player, last.player);
    struct client beyond = get_cookie(1003, 1); // the leaving player's slot has one next owner
    ck_assert_int_eq(send_connect(&beyond), HC_DATAGRAM_DENY);
}
END_TEST

START_TEST(timed_out_client_frees_its_place_while_closes_are_still_sent) {
    config.clients = 1;
    config.timeout_us = 2 * SECOND_US;
    begin();
    join(1000, 1);
    for (int i = 0; i < 200; i++)
        wait_ticks(1);
    ck_assert_uint_eq(hc_server_stats(host)->timeouts, 1);
    ck_assert(!hc_server_closed(host));
    struct client next = get_cookie(1001, 1);
    ck_assert_int_eq(send_connect(&next), HC_DATAGRAM_ACCEPT);
}
END_TEST

START_TEST(next_owner_that_leaves_early_frees_the_slot) {
    config.clients = 1;
    begin();
    struct client client = join(1000, 1);
    wait_ticks(5);
    for (uint16_t port = 1001; port < 1005; port++) { // all between two ticks
        send_close(&client);
        client = join(port, 1);
    }
    hc_tick left = head();
    wait_ticks(2);
    const struct hc_timeline *timeline = hc_server_timeline(host);
    ck_assert_int_eq(hc_timeline_roster(timeline, 0, left), HC_ROSTER_LEAVE);
    ck_assert_int_eq(hc_timeline_roster(timeline, 0, left + 1), HC_ROSTER_JOIN);
    send_inputs(&client, head(), 3);
    ck_assert_uint_eq(hc_server_stats(host)->inputs_received, 3);
}
END_TEST

START_TEST(late_connect_of_an_ended_connection_admits_no_client) {
    begin();
    struct client client = join(1000, 1);
    wait_ticks(5);
    send_close(&client);
    for (uint64_t end_us = now_us + 25 * SECOND_US; now_us < end_us; wait_ticks(10)) {
        ck_assert_int_eq(send_connect(&client), HC_DATAGRAM_NONE);
        ck_assert_uint_eq(hc_server_clients(host), 0);
    }
    ck_assert_uint_eq(hc_server_stats(host)->joins, 1);
    join(1000, 2); // the same port, a new nonce: another attempt
}
END_TEST

START_TEST(client_that_lost_every_accept_can_still_connect) {
    config.timeout_us = SECOND_US;
    begin();
    struct client client = join(1000, 1); // its ACCEPTs are lost
    wait_ticks(2 * RATE);
    ck_assert_uint_eq(hc_server_stats(host)->timeouts, 1);
    ck_assert_int_eq(send_connect(&client), HC_DATAGRAM_ACCEPT);
}
END_TEST

START_TEST(server_admits_no_client_while_its_reply_queue_is_full) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    begin();
    struct client client = get_cookie(1000, 1),
                  crowd = {.address = hc_address_ipv4(127, 0, 0, 1, 1001)};
    struct hc_hello hello = {.protocol_id = hc_test_protocol_id(&hc_arena)};
    size_t size = hc_datagram_put_hello(&hello, bytes);
    unsigned waiting = 0;
    while (waiting < 1000 && receive(&crowd, bytes, size) == HC_OK)
        waiting++;
    ck_assert_uint_lt(waiting, 1000);
    size = hc_endpoint_put_connect(&client.endpoint, &client.connect, bytes);
    ck_assert_int_eq(receive(&client, bytes, size), HC_FULL);
    ck_assert_uint_eq(hc_server_clients(host), 0);
    drain(&crowd, HC_DATAGRAM_COOKIE, bytes);
    ck_assert_int_eq(send_connect(&client), HC_DATAGRAM_ACCEPT);
}
END_TEST

START_TEST(older_attempt_never_replaces_a_newer_connection) {
    begin();
    struct client old = join(1000, 1);
    wait_ticks(101);
    struct client client = join(1000, 2);
    uint8_t nothing[1] = {0};
    for (int i = 0; i < 300; i++) { // live for a second, then silent for two
        if (i < 100)
            ck_assert_int_eq(send_data(&client, nothing, 0), HC_OK);
        ck_assert_int_eq(send_connect(&old), HC_DATAGRAM_NONE);
        wait_ticks(1);
    }
    ck_assert_int_eq(send_data(&client, nothing, 0), HC_OK);
    ck_assert_uint_eq(hc_server_stats(host)->joins, 1);
    ck_assert_uint_eq(hc_server_stats(host)->resumed, 1);
}
END_TEST

START_TEST(unfinished_attempt_never_replaces_a_live_connection) {
    begin();
    struct client never = get_cookie(1000, 1);
    struct client client = join(1000, 2);
    uint8_t nothing[1] = {0};
    for (int i = 0; i < 300; i++) {
        ck_assert_int_eq(send_data(&client, nothing, 0), HC_OK);
        ck_assert_int_eq(send_connect(&never), HC_DATAGRAM_DENY);
        wait_ticks(1);
    }
    ck_assert_uint_eq(hc_server_stats(host)->joins, 1);
}
END_TEST

// ---- Counts -------------------------------------------------------------------------------------

START_TEST(datagram_may_arrive_while_the_snapshot_that_it_acks_is_made) {
    begin();
    struct client client = join(1000, 1);
    wait_ticks(2);
    struct hc_sv_peer *peer = hc_sv_clients_of_cid(&host->clients, client.cid);
    hc_received_accept(&client.replay, peer->connection.sent.next - 1);
    now_us -= TICK_US / 4;
    send_inputs(&client, 1, 4);
    ck_assert_uint_lt(peer->connection.srtt_us, TICK_US);
}
END_TEST

START_TEST(datagrams_read_in_another_order_than_they_arrived_stall_no_address) {
    begin();
    struct client client = join(1000, 1);
    struct hc_sv_peer *peer = hc_sv_clients_of_cid(&host->clients, client.cid);
    for (unsigned i = 0; i < 4; i++) {
        wait_ticks(1);
        hc_received_accept(&client.replay, peer->connection.sent.next - 1);
        now_us += TICK_US / 4;
        send_inputs(&client, 1 + i, 1);
        now_us -= TICK_US / 4;
    }
    wait_ticks(1);
    hc_received_accept(&client.replay, peer->connection.sent.next - 1);
    now_us += TICK_US / 4;
    send_inputs(&client, 5, 1);
    now_us--;
    client.address = hc_address_ipv4(127, 0, 0, 2, 7);
    send_inputs(&client, 6, 1);
    ck_assert_int_eq(peer->validation.state, HC_SV_VALIDATION_PROVING);
}
END_TEST

START_TEST(server_counts_a_refused_late_input_once) {
    config.history = 8;
    begin();
    struct client client = join(1000, 1);
    wait_ticks(30);
    hc_tick first = head() - 20;
    for (unsigned i = 0; i < 5; i++) {
        send_inputs(&client, first, 3 + i); // the same ones, and one more
        ck_assert_uint_eq(hc_server_stats(host)->inputs_refused, 3 + i);
    }
    ck_assert_uint_eq(hc_server_stats(host)->inputs_received, 0);
}
END_TEST

// ---- Other players' inputs and joins ------------------------------------------------------------

START_TEST(snapshot_without_room_has_the_nearest_inputs_of_every_player) {
    enum { SHARE = 6 };
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct client clients[PLAYERS];
    struct content content;
    host_test.future = 200;
    begin();
    for (unsigned i = 0; i < PLAYERS; i++)
        clients[i] = join((uint16_t)(1000 + i), 1);
    wait_ticks(3);
    for (unsigned i = 1; i < PLAYERS; i++)
        send_inputs(&clients[i], head() + 1, host_test.future - 1);
    read_content(bytes, run(1, &clients[0], bytes), &content);
    uint32_t least = SPAN, most = 0;
    for (unsigned i = 1; i < PLAYERS; i++) {
        const bool *input = content.input[clients[i].player];
        hc_tick from = head() - content.snapshot.tick; // those of `head()` on are known
        uint32_t count = 0;
        while (from + count < SPAN && input[from + count])
            count++;
        least = count < least ? count : least;
        most = count > most ? count : most;
    }
    ck_assert_uint_lt(least, host_test.future - 1); // else there is no shortage
    ck_assert_uint_gt(least, 0);
    ck_assert_uint_le(most - least, SHARE);
}
END_TEST

START_TEST(server_sends_inputs_before_a_leave_to_slower_clients) {
    uint8_t bytes[HC_DATAGRAM_MAX] = {0};
    struct content content;
    begin();
    struct client slow = join(1000, 1), other = join(1001, 1);
    ck_assert_int_eq(send_data(&slow, bytes, 0), HC_OK);
    wait_ticks(2); // `slow` sends no input: its snapshots stay at its join
    hc_tick first = head();
    send_inputs(&other, first, 20);
    wait_ticks(10);
    send_close(&other);
    for (int i = 0; i < 20; i++) {
        read_content(bytes, run(1, &slow, bytes), &content);
        ck_assert_uint_le(content.snapshot.tick, first);
        for (hc_tick t = first; t < first + 10; t++)
            ck_assert_msg(content.input[other.player][t - content.snapshot.tick],
                          "%d ticks after: %u of %u", i, t, first);
    }
}
END_TEST

START_TEST(server_sends_the_join_of_a_player_without_inputs) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct content content;
    begin();
    struct client quick = join(1000, 1);
    wait_ticks(2);
    struct client silent = join(1001, 1);
    hc_tick joined = head();
    for (int i = 0; i < 100; i++) {
        send_inputs(&quick, head(), 2);
        read_content(bytes, run(1, &quick, bytes), &content);
        ck_assert_uint_eq(content.snapshot.tick, head());
        ck_assert_uint_eq(content.join[quick.player], HC_NO_TICK);
        // The join is sent with the unit; interest is not updated at every tick.
        ck_assert(content.unit[silent.player] || i < 8);
        ck_assert_uint_eq(content.join[silent.player],
                          content.unit[silent.player] ? joined : HC_NO_TICK);
    }
}
END_TEST

START_TEST(snapshot_has_units_despite_many_forced_inputs_and_roster_changes) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct content content;
    struct client guests[PLAYERS];
    host_test.future = HC_FUTURE_MAX; // roster changes are sent for this long
    config.client_rate = HC_SERVER_CLIENT_RATE_MIN;
    begin();
    struct client patchy = join(999, 1); // it acks nothing
    wait_ticks(2);
    unsigned seen = 0;
    for (uint16_t i = 0; i < 300; i++) {
        for (uint16_t j = 0; j < 4; j++) { // they send only CLOSE
            if (i % 12 == j)
                guests[j] = join((uint16_t)(1000 + 4 * i + j), 1);
            if (i % 12 == j + 8)
                send_close(&guests[j]);
        }
        if (i % 3 == 0)
            send_inputs(&patchy, head(), 1); // the next two inputs are forced
        size_t size = run(1, &patchy, bytes);
        if (size == 0)
            continue;
        read_content(bytes, size, &content);
        ck_assert_uint_ge(content.units, 1);
        seen++;
    }
    ck_assert_uint_gt(hc_server_stats(host)->inputs_forced, 64);
    ck_assert_uint_gt(seen, 10);
}
END_TEST

// ---- Decoding under loss ------------------------------------------------------------------------

static bool same_state(const struct hc_cl_received_value *received) {
    const struct hc_timeline *timeline = hc_server_timeline(host);
    hc_entity first = hc_unit_first(&world, received->unit);
    uint32_t count = hc_unit_count(&world, received->unit);
    return memcmp(received->value.presence,
                  hc_timeline_presence(timeline, received->value.tick) + first, count) == 0 &&
           memcmp(received->value.states,
                  hc_timeline_states(timeline, received->value.tick) + (size_t)first * world.stride,
                  (size_t)count * world.stride) == 0;
}

static bool same_owner(const struct hc_cl_received_value *received) {
    hc_player player = hc_unit_player(&world, received->unit);
    uint8_t input[HC_INPUT_MAX] = {0};
    hc_tick known = HC_NO_TICK;
    if (player == HC_NO_PLAYER)
        return received->value.known == HC_NO_TICK;
    hc_timeline_newest_input(hc_server_timeline(host), player, received->value.tick, &known, input);
    return received->value.known == known &&
           memcmp(received->value.input, input, sizeof input) == 0;
}

/// Decodes a datagram with the client's reader and acks it; its values and inputs must be the
/// host's. Returns the number of values if they had a baseline, else 0.
static uint32_t receive_snapshot(struct client *client, struct hc_cl_snapshot_reader *own_reader,
                                 const uint8_t *bytes, size_t size) {
    const struct hc_timeline *timeline = hc_server_timeline(host);
    const struct hc_cl_received *snapshot = NULL;
    struct hc_data data;
    ck_assert_int_eq(hc_datagram_get_data(bytes, size, &data), HC_OK);
    ck_assert_int_eq(hc_body_begin(&body, data.body, data.body_size), HC_OK);
    ck_assert_int_eq(hc_body_next(&body), HC_MESSAGE_SNAPSHOT);
    ck_assert_int_eq(hc_cl_snapshot_reader_read(own_reader, &body, head(), &snapshot), HC_OK);
    for (uint32_t i = 0; i < snapshot->value_count; i++) {
        const struct hc_cl_received_value *received = &snapshot->values[i];
        ck_assert(received->dropped || (same_state(received) && same_owner(received)));
    }
    for (uint32_t i = 0; i < snapshot->input_count; i++) {
        const struct hc_cl_received_input *input = &snapshot->inputs[i];
        ck_assert_int_eq(hc_timeline_slot(timeline, input->player, input->tick), HC_SLOT_KNOWN);
        ck_assert_mem_eq(hc_timeline_input(timeline, input->player, input->tick), input->input,
                         world.game->input_size);
    }
    hc_received_accept(&client->replay, data.seq);
    return snapshot->header.base == HC_NO_TICK ? 0 : snapshot->value_count;
}

START_TEST(received_snapshots_decode_to_the_servers_state_despite_loss) {
    static const uint32_t rates[] = {HC_SERVER_CLIENT_RATE_MIN, 20000, 262144};
    const unsigned round = (unsigned)_i;
    struct hc_rng rng = hc_rng_init(81, round);
    struct hc_cl_snapshot_reader *readers[PLAYERS];
    struct client clients[PLAYERS];
    struct hc_address to;
    uint8_t bytes[HC_DATAGRAM_MAX], opened[HC_DATAGRAM_MAX];
    uint32_t loss = hc_rng_below(&rng, 700000), with_baseline = 0;
    config.client_rate = rates[round % 3];
    config.history = 8 + hc_rng_below(&rng, 120);
    config.snapshot_rate = round % 2 == 0 ? 0 : 30;
    begin();
    for (unsigned i = 0; i < PLAYERS; i++) {
        clients[i] = join((uint16_t)(1000 + i), 1);
        readers[i] = hc_cl_snapshot_reader_create(&world, 1);
    }
    for (unsigned tick = 0; tick < 300; tick++) {
        for (unsigned i = 0; i < PLAYERS; i++) // clients of higher numbers send later
            if (tick > 20 && hc_rng_below(&rng, 2) == 0)
                send_inputs_showing(&clients[i],
                                    hc_tick_back(head(), 2 * i + hc_rng_below(&rng, 4)),
                                    1 + hc_rng_below(&rng, 12), 8 * i);
        now_us += TICK_US;
        hc_server_advance(host, now_us);
        for (size_t size; (size = hc_server_send(host, &to, bytes, now_us)) > 0;)
            if (!hc_rng_chance(&rng, loss) &&
                open_snapshot(&clients[to.port - 1000], bytes, size, opened))
                with_baseline += receive_snapshot(&clients[to.port - 1000], readers[to.port - 1000],
                                                  opened, size);
    }
    ck_assert_uint_gt(with_baseline, 300);
    ck_assert(round % 3 != 2 || hc_server_stats(host)->corrections > 100);
    for (unsigned i = 0; i < PLAYERS; i++)
        hc_cl_snapshot_reader_destroy(readers[i]);
}
END_TEST

static void add_all(TCase *tests) {
    tcase_add_test(tests, full_server_resumes_its_own_client_from_the_same_port);
    tcase_add_test(tests, closing_client_frees_the_last_place_at_once);
    tcase_add_test(tests, timed_out_client_frees_its_place_while_closes_are_still_sent);
    tcase_add_test(tests, next_owner_that_leaves_early_frees_the_slot);
    tcase_add_test(tests, late_connect_of_an_ended_connection_admits_no_client);
    tcase_add_test(tests, server_admits_no_client_while_its_reply_queue_is_full);
    tcase_add_test(tests, older_attempt_never_replaces_a_newer_connection);
    tcase_add_test(tests, client_that_lost_every_accept_can_still_connect);
    tcase_add_test(tests, unfinished_attempt_never_replaces_a_live_connection);
    tcase_add_test(tests, datagram_may_arrive_while_the_snapshot_that_it_acks_is_made);
    tcase_add_test(tests, datagrams_read_in_another_order_than_they_arrived_stall_no_address);
    tcase_add_test(tests, server_counts_a_refused_late_input_once);
    tcase_add_test(tests, snapshot_without_room_has_the_nearest_inputs_of_every_player);
    tcase_add_test(tests, server_sends_inputs_before_a_leave_to_slower_clients);
    tcase_add_test(tests, snapshot_has_units_despite_many_forced_inputs_and_roster_changes);
    tcase_add_loop_test(tests, received_snapshots_decode_to_the_servers_state_despite_loss, 0, 3);
    tcase_add_test(tests, server_sends_the_join_of_a_player_without_inputs);
}

START_TEST(server_repeats_a_join_until_the_client_acks_it) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct content content;
    unsigned before = 0;
    begin();
    struct client watcher = join(1000, 1);
    wait_ticks(3);
    struct client other = join(1001, 2);
    for (unsigned tick = 0; tick < 30; tick++) {
        send_inputs(&watcher, hc_tick_back(head(), 2), 4);
        send_inputs(&other, hc_tick_back(head(), 2), 4);
        size_t size = run(1, &watcher, bytes);
        struct hc_data data;
        read_content(bytes, size, &content);
        ck_assert_int_eq(hc_datagram_get_data(bytes, size, &data), HC_OK);
        bool sent = content.join[other.player] != HC_NO_TICK;
        if (tick < 20)
            before += sent;
        else
            ck_assert_msg(sent == (tick == 20), "tick %u", tick);
        if (tick != 20)
            continue;
        hc_cl_snapshot_reader_accept(reader); // only this one is received
        hc_received_accept(&watcher.replay, data.seq);
    }
    ck_assert_uint_gt(before, 10); // since the unit is in the interest set
}
END_TEST

// ---- Another address ----------------------------------------------------------------------------

START_TEST(server_copies_snapshots_to_an_unvalidated_address_within_limits) {
    enum { TICKS = 300, PATIENCE_TICKS = RATE, CHALLENGES_MAX = 16 };
    uint8_t bytes[HC_DATAGRAM_MAX], opened[HC_DATAGRAM_MAX], home_bytes[HC_DATAGRAM_MAX];
    struct hc_address to;
    size_t size, home_size = 0;
    unsigned at_home = 0, copies = 0, challenges = 0;
    uint64_t in = 0, out = 0;
    begin();
    struct client client = join(1000, 1);
    const struct hc_address home = client.address;
    const struct hc_server_stats *stats = hc_server_stats(host);
    send_inputs(&client, head(), 2);
    wait_ticks(3);
    client.address.port = 2000;
    for (unsigned tick = 0; tick < TICKS; tick++) {
        uint64_t before = stats->bytes_in;
        send_inputs(&client, hc_tick_back(head(), 2), 4);
        in += stats->bytes_in - before;
        now_us += TICK_US;
        hc_server_advance(host, now_us);
        while ((size = hc_server_send(host, &to, bytes, now_us)) > 0) {
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
            challenges += !snapshot;
            out += size;
            ck_assert_uint_le(out, 3 * in);
        }
    }
    ck_assert_uint_eq(at_home, TICKS);
    ck_assert_uint_eq(copies, stats->copies);
    ck_assert_uint_ge(copies, PATIENCE_TICKS / 2);
    ck_assert_uint_le(copies, PATIENCE_TICKS);
    ck_assert_uint_gt(challenges, 8);
    ck_assert_uint_le(challenges, CHALLENGES_MAX);
}
END_TEST

START_TEST(a_flood_of_unreliable_messages_takes_no_more_than_its_clients_room) {
    enum { DATAGRAMS = 25, EACH = 4 };
    uint8_t message[HC_MESSAGE_SIZE_MAX] = {7}, bytes[HC_DATA_BODY_MAX];
    struct hc_server_message received;
    unsigned flooded = 0, honest_ones = 0;
    begin();
    struct client flooder = join(1000, 1), honest = join(2000, 1);
    for (unsigned i = 0; i <= DATAGRAMS; i++) {
        struct hc_unreliable queue = {.begin = 0};
        struct hc_writer writer = hc_bytes_writer(bytes, sizeof bytes);
        for (unsigned k = 0; k < EACH; k++)
            ck_assert_int_eq(hc_unreliable_put(&queue, message, sizeof message), HC_OK);
        ck_assert_uint_eq(hc_unreliable_send(&queue, &writer, sizeof bytes), EACH);
        ck_assert_int_eq(send_data(i < DATAGRAMS ? &flooder : &honest, bytes, writer.at), HC_OK);
    }
    while (hc_server_next_unreliable(host, &received) != NULL) {
        flooded += received.cid == flooder.cid;
        honest_ones += received.cid == honest.cid;
    }
    ck_assert_uint_eq(flooded, EACH);
    ck_assert_uint_eq(honest_ones, EACH);
    ck_assert_uint_eq(hc_server_stats(host)->unreliable_received, 2 * EACH);
    ck_assert_uint_eq(hc_server_stats(host)->unreliable_dropped, (DATAGRAMS - 1) * EACH);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("server host");
    TCase *tests = tcase_create("host");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    add_all(tests);
    tcase_add_test(tests, server_repeats_a_join_until_the_client_acks_it);
    tcase_add_test(tests, server_copies_snapshots_to_an_unvalidated_address_within_limits);
    tcase_add_test(tests, a_flood_of_unreliable_messages_takes_no_more_than_its_clients_room);
    suite_add_tcase(suite, tests);
    TCase *long_plays = add_long_plays(suite);
    tcase_add_checked_fixture(long_plays, set_up, tear_down);
    tcase_add_loop_test(long_plays, received_snapshots_decode_to_the_servers_state_despite_loss, 3,
                        18);
    return run_suite(suite);
}
