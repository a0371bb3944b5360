/// Tests of client/link alone: a connection without a world.
#include "client/link/link.h"

#include "hindcast/arena.h"
#include "tests/run_suite.h"
#include "tests/sim/endpoint.h"
#include "tests/unit/scarce.h"

#include <string.h>

enum { CID = 77, RATE = 100, TICK_US = 1000000 / RATE };

static const uint8_t entropy[HC_CLIENT_ENTROPY_SIZE] = {5};
static const struct hc_cl_pace pace = {.interval_us = TICK_US};
static struct hc_client_config config;
static struct hc_client_stats stats;
static struct hc_cl_link client; ///< the link under test
static struct hc_endpoint server;
static struct hc_body body;
static uint32_t seq, ack; ///< newest sent by the server, newest received by it
static uint64_t now_us;

static void set_up(void) {
    config = hc_client_config_default();
    config.game = &hc_arena;
    config.rule_hash = hc_test_rule_hash(&hc_arena);
    config.entropy = entropy;
    hc_endpoint_issue_token(&server, &hc_arena, 1, 1);
    config.credential = server.credential;
    stats = (struct hc_client_stats){.losses = 0};
    memset(&client, 0, sizeof client);
    seq = ack = 0;
    now_us = 1000000;
    ck_assert(hc_cl_link_init(&client, &config, &stats, now_us));
    hc_cl_link_connect(&client, now_us, now_us);
}

static void tear_down(void) {
    hc_cl_link_free(&client);
}

// ---- The handshake ------------------------------------------------------------------------------

/// The next datagram of the handshake.
static enum hc_datagram_kind send_handshake(void) {
    uint8_t out[HC_DATAGRAM_MAX];
    ck_assert(hc_cl_handshake_advance(&client.handshake, now_us));
    size_t size = hc_cl_handshake_send(&client.handshake, &client.connection, out, now_us);
    return hc_datagram_kind(out, size);
}

static enum hc_cl_answer_kind give_cookie(void) {
    uint8_t out[HC_DATAGRAM_MAX];
    struct hc_cl_answer answer;
    struct hc_datagram_cookie cookie = {.slot = 3, .cookie = {1, 2, 3}};
    memcpy(cookie.client_nonce, client.handshake.attempt.nonce, HC_NONCE_SIZE);
    size_t size = hc_datagram_put_cookie(&cookie, out);
    ck_assert_int_eq(
        hc_cl_handshake_receive(&client.handshake, &client.body, out, size, now_us, &answer),
        HC_OK);
    return answer.kind;
}

/// Gives the ACCEPT of a world with one own player; the session of the connection before goes on if
/// `resumed`.
static void accept(bool resumed) {
    uint8_t out[HC_DATAGRAM_MAX];
    struct hc_cl_answer answer;
    struct hc_welcome welcome = {.tick_rate = RATE,
                                 .players = 2,
                                 .history = 64,
                                 .future = 64,
                                 .late_limit = 64,
                                 .tick = 100,
                                 .own_count = config.players,
                                 .own = {1},
                                 .resumed = resumed};
    memset(welcome.reset_token, 9, sizeof welcome.reset_token);
    struct hc_writer writer = hc_bytes_writer(out + HC_ACCEPT_BODY_AT, HC_ACCEPT_BODY_MAX);
    ck_assert(hc_message_put_welcome(&writer, &welcome));
    struct hc_accept accept = {.cid = CID, .body = out + HC_ACCEPT_BODY_AT, .body_size = writer.at};
    memcpy(accept.client_nonce, client.handshake.attempt.nonce, HC_NONCE_SIZE);
    memcpy(server.client_key, client.handshake.attempt.key, sizeof server.client_key);
    size_t size = hc_endpoint_put_accept(&server, &accept, out);
    ck_assert_int_eq(
        hc_cl_handshake_receive(&client.handshake, &client.body, out, size, now_us, &answer),
        HC_OK);
    ck_assert_int_eq(answer.kind, HC_CL_ANSWER_ACCEPT);
    hc_cl_link_begin(&client, &answer, now_us);
    seq = ack = 0;
}

static void join(bool resumed) {
    ck_assert_int_eq(send_handshake(), HC_DATAGRAM_HELLO);
    ck_assert_int_eq(give_cookie(), HC_CL_ANSWER_NONE);
    ck_assert_int_eq(send_handshake(), HC_DATAGRAM_CONNECT);
    accept(resumed);
}

START_TEST(link_connects_by_hello_cookie_connect_and_accept) {
    ck_assert(hc_cl_link_connects(&client));
    join(false);
    ck_assert(!hc_cl_link_connects(&client));
    ck_assert_uint_eq(client.connection.cid, CID);
    ck_assert_uint_eq(client.welcome.tick, 100);
    ck_assert_uint_eq(hc_cl_link_near(&client), 100);
}
END_TEST

START_TEST(attempt_that_is_to_begin_later_sends_nothing_before) {
    hc_cl_link_connect(&client, now_us + 5000, now_us);
    ck_assert_int_eq(send_handshake(), HC_DATAGRAM_NONE);
    ck_assert_uint_eq(hc_cl_handshake_deadline(&client.handshake), now_us + 5000);
    now_us += 5000;
    ck_assert_int_eq(send_handshake(), HC_DATAGRAM_HELLO);
}
END_TEST

START_TEST(link_without_memory_for_messages_is_not_made) {
    struct scarce scarce = {.left = 0};
    struct hc_allocator allocator = {scarce_allocate, scarce_release, &scarce};
    static struct hc_cl_link poor;
    config.allocator = &allocator;
    ck_assert(!hc_cl_link_init(&poor, &config, &stats, now_us));
    hc_cl_link_free(&poor);
    ck_assert_int_eq(scarce.held, 0);
    config.allocator = NULL;
}
END_TEST

// ---- DATA ---------------------------------------------------------------------------------------

/// The DATA that the link sends when the server has the inputs before `wanted`; a report of the
/// tick `tick`. Returns its INPUT.
static struct hc_input_message send_data(hc_tick tick) {
    uint8_t out[HC_DATAGRAM_MAX], opened[HC_DATAGRAM_MAX];
    struct hc_writer writer = hc_bytes_writer(out + HC_DATA_BODY_AT, HC_DATA_BODY_MAX);
    struct hc_cl_input_report report = {.client_tick = tick, .display_offset = 4};
    struct hc_input_message input;
    struct hc_input_run run;
    struct hc_data data;
    ck_assert(hc_cl_sending_take_due(&client.sending));
    hc_cl_link_put_inputs(&client, &writer, hc_cl_link_reserve(&client, true), &report, now_us);
    hc_cl_link_put_path(&client, &writer);
    size_t size = hc_cl_link_finish_data(&client, &writer, out, now_us);
    ck_assert_int_eq(hc_endpoint_get_data(&server, true, out, size, opened, &data), HC_OK);
    ack = data.seq;
    ck_assert_int_eq(hc_body_begin(&body, data.body, data.body_size), HC_OK);
    ck_assert_int_eq(hc_body_next(&body), HC_MESSAGE_INPUT);
    ck_assert_int_eq(hc_message_get_input(&body, &hc_arena, 1, &input, &run), HC_OK);
    return input;
}

/// Gives a DATA with the messages that were written to `writer`, whose bytes are at `out`.
static enum hc_status give_data(const uint8_t *out, const struct hc_writer *writer,
                                struct hc_cl_link_messages *messages) {
    uint8_t sealed[HC_DATAGRAM_MAX], opened[HC_DATAGRAM_MAX];
    struct hc_data data = {.cid = CID,
                           .seq = ++seq,
                           .ack = ack,
                           .body = out + HC_DATA_BODY_AT,
                           .body_size = writer->at};
    struct hc_accepted accepted;
    size_t size = hc_endpoint_put_data(&server, false, &data, sealed);
    enum hc_status status = hc_cl_link_open(&client, sealed, size, opened, &data);
    if (status == HC_OK && client.connection.closed_by_peer)
        return hc_cl_link_receive_last(&client, &data, now_us);
    if (status == HC_OK)
        status = hc_body_begin(&client.body, data.body, data.body_size);
    while (status == HC_OK && hc_body_next(&client.body) != HC_MESSAGE_END)
        status = hc_cl_link_read(&client, client.body.type, messages);
    if (status == HC_OK)
        status = hc_cl_link_accept(&client, &data, now_us, &accepted);
    return status;
}

static void stamp_up_to(hc_tick end) {
    struct hc_cl_inputs_shown shown = {end, end};
    hc_cl_inputs_sample(&client.inputs, hc_cl_newest_wanted(&client.newest), end, &shown);
}

/// The server has the inputs up to `complete`.
static void take_header(hc_tick complete) {
    struct hc_snapshot header = {.as_of = complete + 1,
                                 .tick = complete + 1,
                                 .refused_before = 50,
                                 .own_count = 1,
                                 .inputs_through = {complete}};
    hc_cl_newest_take(&client.newest, &header, now_us);
}

START_TEST(inputs_are_sent_until_the_server_has_them) {
    join(false);
    struct hc_input_message input = send_data(100);
    ck_assert_uint_eq(input.count, 0); // no tick was predicted
    ck_assert_uint_eq(input.first, 100);
    take_header(104);
    stamp_up_to(110);
    hc_cl_sending_make_due(&client.sending);
    input = send_data(107);
    ck_assert_uint_eq(input.client_tick, 107);
    ck_assert_uint_eq(input.display_offset, 4);
    ck_assert_uint_eq(input.first, 105);
    ck_assert_uint_eq(input.count, 6);
    take_header(108);
    hc_cl_sending_make_due(&client.sending);
    input = send_data(107);
    ck_assert_uint_eq(input.first, 109);
    ck_assert_uint_eq(input.force_before, 109);
}
END_TEST

START_TEST(data_is_due_by_its_pace) {
    join(false);
    ck_assert(hc_cl_sending_take_due(&client.sending)); // at once
    uint64_t due_us = hc_cl_link_deadline(&client, &pace);
    ck_assert_uint_eq(due_us, now_us + TICK_US);
    hc_cl_link_advance(&client, &pace, due_us - 1);
    ck_assert(!hc_cl_sending_take_due(&client.sending));
    hc_cl_link_advance(&client, &pace, due_us);
    ck_assert(hc_cl_sending_take_due(&client.sending));
}
END_TEST

START_TEST(path_challenge_is_answered_by_the_next_data) {
    uint8_t out[HC_DATAGRAM_MAX];
    const uint8_t path[HC_PATH_SIZE] = {1, 2, 3};
    struct hc_cl_link_messages messages = {.has_path = false};
    join(false);
    ck_assert(hc_cl_sending_take_due(&client.sending));
    for (int i = 0; i < 2; i++) {
        struct hc_writer writer = hc_bytes_writer(out + HC_DATA_BODY_AT, HC_DATA_BODY_MAX);
        ck_assert(hc_message_put_path(&writer, HC_MESSAGE_PATH_CHALLENGE, path));
        ck_assert_int_eq(give_data(out, &writer, &messages), HC_OK);
        // A repeated one is of the same new address.
        ck_assert_int_eq(hc_cl_link_take_messages(&client, &messages, seq), i == 0);
        send_data(100);
        ck_assert_int_eq(hc_body_next(&body), HC_MESSAGE_PATH_RESPONSE);
    }
}
END_TEST

START_TEST(newest_ticket_is_the_credential_and_the_reset_token_from_then_on) {
    struct hc_cl_link_messages messages = {.has_ticket = true};
    join(false);
    memset(messages.ticket.credential.token, 4, HC_TOKEN_SIZE);
    memset(messages.ticket.reset_token, 5, HC_RESET_TOKEN_SIZE);
    hc_cl_link_take_messages(&client, &messages, 7);
    memset(messages.ticket.credential.token, 6, HC_TOKEN_SIZE);
    hc_cl_link_take_messages(&client, &messages, 6); // it was overtaken
    ck_assert_uint_eq(client.handshake.credential.token[0], 4);
    ck_assert_uint_eq(client.reset_token[0], 5);
}
END_TEST

START_TEST(reset_counts_with_the_token_of_this_connection_alone) {
    uint8_t out[HC_DATAGRAM_MAX];
    struct hc_reset reset = {.cid = CID};
    join(false);
    size_t size = hc_datagram_put_reset(&reset, out);
    ck_assert_int_eq(hc_cl_link_check_reset(&client, out, size), HC_MALFORMED);
    memset(reset.token, 9, sizeof reset.token);
    size = hc_datagram_put_reset(&reset, out);
    ck_assert_int_eq(hc_cl_link_check_reset(&client, out, size), HC_OK);
    reset.cid = CID + 1;
    size = hc_datagram_put_reset(&reset, out);
    ck_assert_int_eq(hc_cl_link_check_reset(&client, out, size), HC_UNEXPECTED);
    reset.cid = CID;
    size = hc_datagram_put_reset(&reset, out);
    hc_cl_link_connect(&client, now_us, now_us); // it is lost already
    ck_assert_int_eq(hc_cl_link_check_reset(&client, out, size), HC_UNEXPECTED);
}
END_TEST

START_TEST(messages_go_on_in_a_resumed_session_and_begin_anew_in_another) {
    join(false);
    ck_assert_int_eq(hc_reliable_put(&client.messages.out, "hello", 5), HC_OK);
    hc_cl_link_connect(&client, now_us, now_us);
    join(true);
    send_data(100);
    ck_assert_int_eq(hc_body_next(&body), HC_MESSAGE_RELIABLE);
    hc_cl_link_connect(&client, now_us, now_us);
    join(false);
    send_data(100);
    ck_assert_int_eq(hc_body_next(&body), HC_MESSAGE_END);
}
END_TEST

START_TEST(each_close_of_the_server_is_answered) {
    uint8_t out[HC_DATAGRAM_MAX];
    struct hc_cl_link_messages messages = {.has_close = false};
    join(false);
    for (int i = 0; i < 3; i++) {
        struct hc_writer writer = hc_bytes_writer(out + HC_DATA_BODY_AT, HC_DATA_BODY_MAX);
        struct hc_close close = {.reason = HC_CLOSE_KICKED};
        uint8_t sent[HC_DATAGRAM_MAX];
        ck_assert(hc_message_put_close(&writer, &close));
        ck_assert_int_eq(give_data(out, &writer, &messages), HC_OK);
        if (i == 0)
            hc_cl_link_take_close(&client, &messages.close);
        ck_assert(client.close_unanswered);
        ck_assert_uint_gt(hc_cl_link_answer_close(&client, sent, now_us), 0);
        ck_assert(!client.close_unanswered);
    }
}
END_TEST

START_TEST(messages_that_only_clients_send_are_malformed) {
    uint8_t out[HC_DATAGRAM_MAX];
    struct hc_cl_link_messages messages = {.has_path = false};
    const uint8_t path[HC_PATH_SIZE] = {1};
    join(false);
    struct hc_writer writer = hc_bytes_writer(out + HC_DATA_BODY_AT, HC_DATA_BODY_MAX);
    ck_assert(hc_message_put_path(&writer, HC_MESSAGE_PATH_RESPONSE, path));
    ck_assert_int_eq(give_data(out, &writer, &messages), HC_MALFORMED);
}
END_TEST

START_TEST(newest_header_names_the_wanted_inputs_and_the_final_tick) {
    struct hc_cl_newest newest = {.any = false};
    struct hc_snapshot header = {.as_of = 110,
                                 .tick = 104,
                                 .refused_before = 100,
                                 .final = 90,
                                 .has_chain = true,
                                 .chain = 5,
                                 .own_count = 2,
                                 .inputs_through = {107, 103}};
    ck_assert(!hc_cl_newest_has_overtaken(&newest, 110));
    hc_cl_newest_take(&newest, &header, 7);
    ck_assert(hc_cl_newest_has_overtaken(&newest, 110));
    ck_assert(!hc_cl_newest_has_overtaken(&newest, 111));
    ck_assert_uint_eq(hc_cl_newest_wanted(&newest), 104);
    header.has_chain = false;
    header.final = 95;
    header.refused_before = 106;
    hc_cl_newest_take(&newest, &header, 7);
    ck_assert_uint_eq(newest.final, 90); // the newest with a chain
    ck_assert_uint_eq(hc_cl_newest_wanted(&newest), 106);
}
END_TEST

START_TEST(margin_stands_until_the_next_report) {
    struct hc_cl_margin margin = {.known = false};
    struct hc_snapshot header = {.as_of = 110};
    hc_cl_margin_take(&margin, &header, 5000000);
    ck_assert(!margin.known && margin.at_us == 0);
    header = (struct hc_snapshot){
        .as_of = 116, .has_margin = true, .margin = {.samples = 59, .low = -41, .median = 7}};
    hc_cl_margin_take(&margin, &header, 5100000);
    header = (struct hc_snapshot){.as_of = 117};
    hc_cl_margin_take(&margin, &header, 5116667);
    ck_assert(margin.known && margin.samples == 59);
    ck_assert_int_eq(margin.low_us, -41 * HC_MARGIN_UNIT_US);
    ck_assert_int_eq(margin.median_us, 7 * HC_MARGIN_UNIT_US);
    ck_assert_uint_eq(margin.as_of, 116);
    ck_assert_uint_eq(margin.at_us, 5100000);
    header = (struct hc_snapshot){.as_of = 122, .has_margin = true};
    hc_cl_margin_take(&margin, &header, 5200000);
    ck_assert(!margin.known && margin.low_us == 0 && margin.at_us == 5200000);
}
END_TEST

START_TEST(losses_count_for_a_64th_each) {
    struct hc_cl_losses losses = {.up_ppm = 0};
    struct hc_received replay = {.newest = 0};
    hc_cl_losses_count(&losses, 0, 1);
    ck_assert_uint_eq(losses.up_ppm, 1000000 / 64);
    hc_cl_losses_count(&losses, 2000, 0);
    ck_assert_uint_lt(losses.up_ppm, 64);
    ck_assert_uint_eq(hc_cl_losses_down_ppm(&replay), 0);
    for (uint32_t i = 1; i <= 400; i++)
        if (i % 4 != 0)
            hc_received_accept(&replay, i);
    ck_assert_uint_eq(hc_cl_losses_down_ppm(&replay), 250000);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("client_link");
    TCase *tests = tcase_create("client_link");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, link_connects_by_hello_cookie_connect_and_accept);
    tcase_add_test(tests, attempt_that_is_to_begin_later_sends_nothing_before);
    tcase_add_test(tests, link_without_memory_for_messages_is_not_made);
    tcase_add_test(tests, inputs_are_sent_until_the_server_has_them);
    tcase_add_test(tests, data_is_due_by_its_pace);
    tcase_add_test(tests, path_challenge_is_answered_by_the_next_data);
    tcase_add_test(tests, newest_ticket_is_the_credential_and_the_reset_token_from_then_on);
    tcase_add_test(tests, reset_counts_with_the_token_of_this_connection_alone);
    tcase_add_test(tests, messages_go_on_in_a_resumed_session_and_begin_anew_in_another);
    tcase_add_test(tests, each_close_of_the_server_is_answered);
    tcase_add_test(tests, messages_that_only_clients_send_are_malformed);
    tcase_add_test(tests, newest_header_names_the_wanted_inputs_and_the_final_tick);
    tcase_add_test(tests, margin_stands_until_the_next_report);
    tcase_add_test(tests, losses_count_for_a_64th_each);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
