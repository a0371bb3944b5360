/// A client plays the recorded session of the standard's vectors, and refuses their bad bodies.
#include "client/client.h"
#include "hindcast/arena.h"
#include "tests/run_suite.h"

#include <jansson.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

enum { HANDSHAKE = 4 }; ///< datagrams: HELLO, COOKIE, CONNECT, ACCEPT

static json_t *vectors;
static const json_t *connection, *datagrams;
static struct hc_client *client;
static uint64_t now_us;

/// Fills `out` with the bytes that `text` has in hex; returns their number.
static size_t bytes_of(const json_t *text, void *out, size_t size) {
    size_t used = 0;
    const char *hex = json_string_value(text);
    ck_assert_ptr_nonnull(hex);
    ck_assert_int_eq(sodium_hex2bin(out, size, hex, strlen(hex), NULL, &used, NULL), 0);
    return used;
}

static void given(const char *name, void *out, size_t size) {
    ck_assert_uint_eq(bytes_of(json_object_get(connection, name), out, size), size);
}

static uint64_t number(const json_t *of, const char *name) {
    ck_assert_msg(json_is_integer(json_object_get(of, name)), "no number %s", name);
    return (uint64_t)json_integer_value(json_object_get(of, name));
}

static bool is_from(const json_t *datagram, const char *sender) {
    return strcmp(json_string_value(json_object_get(datagram, "from")), sender) == 0;
}

static size_t datagram_of(const json_t *datagram, uint8_t out[static HC_DATAGRAM_MAX]) {
    return bytes_of(json_object_get(datagram, "datagram"), out, HC_DATAGRAM_MAX);
}

/// Gives the client's attempt the nonce and the secret of the recorded one that begins with HELLO.
static void set_drawn(const json_t *hello) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct hc_hello read;
    ck_assert_int_eq(hc_datagram_get_hello(bytes, datagram_of(hello, bytes), &read), HC_OK);
    struct hc_cl_attempt *attempt = &client->link.handshake.attempt;
    memcpy(attempt->nonce, read.client_nonce, HC_NONCE_SIZE);
    bytes_of(json_object_get(hello, "client_secret"), attempt->secret, sizeof attempt->secret);
    hc_seal_public(attempt->secret, attempt->key);
}

/// Creates the client of the connection: with its token, and with the secrets that it drew.
static void set_up(void) {
    json_error_t error;
    uint8_t connect[HC_DATAGRAM_MAX];
    struct hc_connect read;
    vectors = json_load_file("tests/conformance/vectors.json", 0, &error);
    ck_assert_msg(vectors != NULL, "%s", error.text);
    connection = json_object_get(vectors, "connection");
    datagrams = json_object_get(connection, "datagrams");
    size_t size = datagram_of(json_array_get(datagrams, 2), connect);
    ck_assert_int_eq(hc_datagram_get_connect(connect, size, &read), HC_OK);
    struct hc_client_config config = hc_client_config_default();
    config.game = &hc_arena;
    config.extrapolation = HC_EXTRAPOLATION_LINEAR;
    config.rule_hash =
        strtoull(json_string_value(json_object_get(connection, "rule_hash")), NULL, 16);
    config.timeout_us = 60000000;
    memcpy(config.credential.token, read.token, sizeof config.credential.token);
    given("secret", config.credential.secret, sizeof config.credential.secret);
    now_us = 5000000;
    client = hc_client_create(&config, now_us);
    ck_assert_ptr_nonnull(client);
    set_drawn(json_array_get(datagrams, 0));
}

static void tear_down(void) {
    hc_client_destroy(client);
    json_decref(vectors);
}

/// Compares one value with what the client has read.
static void check_value(const json_t *value, const struct hc_unit_value *read) {
    const json_t *entities = json_object_get(value, "entities"),
                 *input = json_object_get(value, "input");
    const struct hc_world *world = &client->world->game_world;
    hc_unit unit = (hc_unit)number(value, "unit");
    ck_assert_uint_eq(json_array_size(entities), hc_unit_count(world, unit));
    for (uint32_t e = 0; e < json_array_size(entities); e++) {
        const json_t *fields = json_array_get(entities, e);
        const struct hc_kind *kind =
            hc_world_kind(world, (hc_entity)(hc_unit_first(world, unit) + e));
        ck_assert_int_eq(read->presence[e], json_is_null(fields) ? HC_ABSENT : HC_ALIVE);
        for (unsigned f = 0; f < json_array_size(fields); f++)
            ck_assert_int_eq(hc_field_get(&kind->fields[f], read->states + e * world->stride),
                             json_integer_value(json_array_get(fields, f)));
    }
    uint64_t age = number(value, "age");
    ck_assert_uint_eq(read->known, age == 0 ? HC_NO_TICK : read->tick - age);
    for (unsigned f = 0; f < json_array_size(input); f++)
        ck_assert_int_eq(hc_field_get(&world->game->input_fields[f], read->input),
                         json_integer_value(json_array_get(input, f)));
}

/// Compares the values of a SNAPSHOT, or its corrections; returns how many there are.
static uint32_t check_values(const json_t *values, bool corrections) {
    const struct hc_cl_received *read = hc_cl_snapshot_reader_newest(client->world->reader);
    uint32_t left = 0;
    for (uint32_t i = 0; i < read->value_count; i++)
        left += !read->values[i].dropped && read->values[i].correction == corrections;
    ck_assert_uint_eq(left, json_array_size(values));
    for (size_t k = 0; k < json_array_size(values); k++) {
        const json_t *value = json_array_get(values, k);
        for (uint32_t i = 0; i < read->value_count; i++) {
            const struct hc_cl_received_value *at = &read->values[i];
            if (at->correction != corrections || at->unit != number(value, "unit") ||
                at->value.tick != number(value, "tick") || at->dropped)
                continue;
            check_value(value, &at->value);
            left--;
        }
    }
    ck_assert_uint_eq(left, 0);
    return (uint32_t)json_array_size(values);
}

/// Sends until the client has sent the DATA that the server's next one acks.
static void send_through(uint32_t seq) {
    uint8_t out[HC_DATAGRAM_MAX];
    for (; client->link.connection.sent.next <= seq; now_us += 1000) {
        hc_client_advance(client, now_us);
        while (hc_client_send(client, out, now_us) > 0)
            continue;
    }
}

/// Expects the client to send this datagram next, byte by byte.
static void expect_sent(const json_t *datagram) {
    uint8_t ours[HC_DATAGRAM_MAX], theirs[HC_DATAGRAM_MAX];
    size_t size = datagram_of(datagram, theirs);
    hc_client_advance(client, now_us);
    ck_assert_uint_eq(hc_client_send(client, ours, now_us), size);
    ck_assert_mem_eq(ours, theirs, size);
}

static void expect_taken(const json_t *datagram) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    enum hc_status status = hc_client_receive(client, bytes, datagram_of(datagram, bytes), now_us);
    ck_assert_msg(status == HC_OK, "%s: %s", json_string_value(json_object_get(datagram, "kind")),
                  hc_status_text(status));
}

/// Plays the datagrams from `first` on, with a handshake at first.
static void play_from(const json_t *list, size_t first, uint32_t *compared) {
    for (size_t i = first; i < first + HANDSHAKE; i++)
        if (is_from(json_array_get(list, i), "client"))
            expect_sent(json_array_get(list, i));
        else
            expect_taken(json_array_get(list, i));
    for (size_t i = first + HANDSHAKE; i < json_array_size(list); i++) {
        const json_t *datagram = json_array_get(list, i), *values;
        if (!is_from(datagram, "server"))
            continue;
        send_through((uint32_t)number(datagram, "ack"));
        expect_taken(datagram);
        if ((values = json_object_get(datagram, "values")) == NULL)
            continue;
        *compared += check_values(values, false);
        *compared += check_values(json_object_get(datagram, "corrections"), true);
    }
}

/// Plays the whole connection; returns the values and corrections that were compared.
static uint32_t play(void) {
    uint32_t compared = 0;
    play_from(datagrams, 0, &compared);
    return compared;
}

/// Gives the client a body of the server in a DATA with this seq.
static enum hc_status give_body(const json_t *hex, uint32_t seq) {
    uint8_t body[HC_DATA_BODY_MAX], out[HC_DATAGRAM_MAX];
    struct hc_sealer sealer;
    struct hc_data data = {.cid = client->link.connection.cid,
                           .seq = seq,
                           .body = body,
                           .body_size = bytes_of(hex, body, sizeof body)};
    size_t size = hc_datagram_put_data(&data, out);
    hc_seal_init(&sealer, client->link.connection.open_key);
    hc_seal_data(&sealer, out, size);
    return hc_client_receive(client, out, size, now_us);
}

START_TEST(client_reads_the_recorded_connection_as_the_standard_does) {
    ck_assert_uint_ge(play(), 16);
    ck_assert_int_eq(hc_client_state(client), HC_CLIENT_PLAYING);
    const struct hc_client_stats *stats = hc_client_stats(client);
    ck_assert_uint_eq(stats->hash_checks, 3);
    ck_assert_uint_eq(stats->hash_mismatches, 0);
    ck_assert_uint_eq(stats->unreliable_received, 2);
    size_t size;
    static const char *const words[] = {"one", "two", "three"};
    for (int i = 0; i < 3; i++) {
        const void *message = hc_client_next_message(client, &size);
        ck_assert_uint_eq(size, strlen(words[i]));
        ck_assert_mem_eq(message, words[i], size);
    }
    ck_assert_str_eq(hc_client_player_name(client, 0), "J\u00fcrgen");
    ck_assert_uint_eq(stats->notices, 1); // it was sent twice
    struct hc_client_event event;
    do
        ck_assert(hc_client_poll_event(client, &event));
    while (event.kind != HC_CLIENT_EVENT_NOTICE);
    ck_assert_int_eq(event.notice->kind, HC_NOTICE_ENDING);
    ck_assert_uint_eq(event.notice->seconds, 60);
    ck_assert_str_eq(event.notice->where, "example.net:40000");
    ck_assert_str_eq(event.notice->text, "Wartung, 5 \u20ac");
}
END_TEST

START_TEST(client_resumes_the_recorded_session_after_a_reset) {
    const json_t *after = json_object_get(json_object_get(vectors, "reconnection"), "datagrams");
    size_t size;
    uint32_t compared = 0;
    play();
    for (int i = 0; i < 3; i++)
        hc_client_next_message(client, &size);
    expect_taken(json_array_get(after, 0)); // RESET
    ck_assert_int_eq(hc_client_state(client), HC_CLIENT_RECONNECTING);
    set_drawn(json_array_get(after, 1));
    play_from(after, 1, &compared); // with its ticket and the proof of what it continues
    ck_assert(client->link.welcome.resumed);
    const void *message = hc_client_next_message(client, &size);
    ck_assert_uint_eq(size, 4);
    ck_assert_mem_eq(message, "four", size);
}
END_TEST

START_TEST(server_reads_the_datagrams_of_the_recorded_client) {
    uint8_t bytes[HC_DATAGRAM_MAX], opened[HC_DATAGRAM_MAX];
    static struct hc_body body;
    unsigned read = 0;
    struct hc_seal_keys keys;
    const json_t *theirs = json_array_get(datagrams, 3); // ACCEPT
    bytes_of(json_object_get(theirs, "c2s"), keys.c2s, sizeof keys.c2s);
    for (size_t i = HANDSHAKE; i < json_array_size(datagrams); i++) {
        const json_t *datagram = json_array_get(datagrams, i);
        const json_t *input = json_array_get(json_object_get(datagram, "messages"), 0);
        struct hc_data data;
        struct hc_input_message message;
        struct hc_input_run run;
        if (!is_from(datagram, "client"))
            continue;
        size_t size = datagram_of(datagram, bytes);
        ck_assert_int_eq(hc_seal_open_data(keys.c2s, bytes, size, opened), HC_OK);
        ck_assert_int_eq(hc_datagram_get_data(opened, size, &data), HC_OK);
        ck_assert_uint_eq(data.seq, number(datagram, "seq"));
        ck_assert_uint_eq(data.ack, number(datagram, "ack"));
        ck_assert_uint_eq(data.ack_bits, number(datagram, "ack_bits"));
        ck_assert_int_eq(hc_body_begin(&body, data.body, data.body_size), HC_OK);
        ck_assert_int_eq(hc_body_next(&body), HC_MESSAGE_INPUT);
        ck_assert_int_eq(hc_message_get_input(&body, &hc_arena, 1, &message, &run), HC_OK);
        ck_assert_int_eq(message.client_tick, json_integer_value(json_array_get(input, 1)));
        ck_assert_int_eq(message.count, json_integer_value(json_array_get(input, 6)));
        read++;
    }
    ck_assert_uint_ge(read, 4);
}
END_TEST

START_TEST(client_refuses_every_malformed_and_rejected_body_and_takes_the_others) {
    size_t refused = 0;
    play();
    uint32_t newest = client->link.connection.received.newest, seq = newest;
    for (int malformed = 1; malformed >= 0; malformed--) {
        const json_t *list = json_object_get(vectors, malformed ? "malformed" : "rejected");
        for (size_t i = 0; i < json_array_size(list); i++, refused++) {
            const json_t *bad = json_array_get(list, i);
            enum hc_status status = give_body(json_object_get(bad, "body"), ++seq);
            bool is_malformed = status == HC_MALFORMED || status == HC_TRUNCATED;
            ck_assert_msg(is_malformed == (malformed == 1) && status != HC_OK, "%s: %s",
                          json_string_value(json_object_get(bad, "why")), hc_status_text(status));
            ck_assert_uint_eq(client->link.connection.received.newest, newest);
        }
    }
    ck_assert_uint_ge(refused, 20);
    const json_t *good = json_object_get(vectors, "well_formed");
    for (size_t i = 0; i < json_array_size(good); i++)
        ck_assert_msg(give_body(json_array_get(good, i), ++seq) == HC_OK, "well formed %zu", i);
    ck_assert_uint_eq(client->link.connection.received.newest, seq);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("client_vectors");
    TCase *tests = tcase_create("client_vectors");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, client_reads_the_recorded_connection_as_the_standard_does);
    tcase_add_test(tests, client_resumes_the_recorded_session_after_a_reset);
    tcase_add_test(tests, server_reads_the_datagrams_of_the_recorded_client);
    tcase_add_test(tests, client_refuses_every_malformed_and_rejected_body_and_takes_the_others);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
