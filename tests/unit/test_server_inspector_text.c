/// Tests server/daemon/json_text and inspector_text: whatever a match holds, an event is one line
/// of valid JSON with its numbers.
#include "server/daemon/inspector_text.h"

#include "hindcast/arena.h"
#include "tests/run_suite.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static struct hc_sv_json_text text;
static struct hc_world world;

static void set_up(void) {
    memset(&text, 0, sizeof text);
    ck_assert_int_eq(hc_world_init(&world, &hc_arena, 8, 60, 0, NULL), HC_OK);
}

static void tear_down(void) {
    hc_sv_json_text_free(&text);
    hc_world_free(&world);
}

/// The text as JSON, which the caller releases: one line, as an event needs it.
static json_t *parse(void) {
    json_error_t error;
    json_t *json = json_loadb(text.bytes, text.size, JSON_DECODE_ANY, &error);
    ck_assert_msg(json != NULL, "%s in %.*s", error.text, (int)text.size, text.bytes);
    ck_assert(!text.failed);
    ck_assert_ptr_null(memchr(text.bytes, '\n', text.size));
    return json;
}

START_TEST(numbers_are_exact_at_their_limits) {
    hc_sv_json_text_add(&text, "[");
    hc_sv_json_text_number(&text, INT64_MIN);
    hc_sv_json_text_next(&text, INT64_MAX);
    hc_sv_json_text_next(&text, 0);
    hc_sv_json_text_add(&text, ",");
    hc_sv_json_text_long(&text, UINT64_MAX);
    static const int64_t thousandths[] = {-1, 1, 10, 999, 1000, -1500, 12345};
    for (size_t i = 0; i < sizeof thousandths / sizeof *thousandths; i++) {
        hc_sv_json_text_add(&text, ",");
        hc_sv_json_text_decimal(&text, thousandths[i]);
    }
    hc_sv_json_text_add(&text, "]");
    json_decref(parse());
    static const char expected[] =
        "[-9223372036854775808,9223372036854775807,0,\"18446744073709551615\","
        "-0.001,0.001,0.010,0.999,1,-1.500,12.345]";
    ck_assert_uint_eq(text.size, sizeof expected - 1);
    ck_assert_mem_eq(text.bytes, expected, text.size);
}
END_TEST

START_TEST(every_byte_of_a_string_survives) {
    char bytes[127];
    for (unsigned i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(i + 1);
    hc_sv_json_text_string(&text, bytes, sizeof bytes);
    json_t *json = parse();
    ck_assert_uint_eq(json_string_length(json), sizeof bytes);
    ck_assert_mem_eq(json_string_value(json), bytes, sizeof bytes);
    json_decref(json);
}
END_TEST

START_TEST(a_text_grows_and_is_emptied) {
    for (unsigned i = 0; i < 100000; i++)
        hc_sv_json_text_add(&text, "abcdefg");
    ck_assert_uint_eq(text.size, 700000);
    size_t room = text.room;
    hc_sv_json_text_clear(&text);
    hc_sv_json_text_add(&text, "null");
    ck_assert_uint_eq(text.room, room);
    json_decref(parse());
}
END_TEST

/// A frame that is full, of the largest numbers.
static struct hc_sv_probe_frame *full_frame(void) {
    struct hc_sv_probe_frame *frame = calloc(1, sizeof *frame);
    ck_assert_ptr_nonnull(frame);
    memset(&frame->history, 0x7f, sizeof frame->history);
    frame->history.tick_count = HC_SV_PROBE_TICKS;
    frame->history.rewind_count = HC_SV_PROBE_REWINDS;
    for (unsigned i = 0; i < HC_SV_PROBE_REWINDS; i++) {
        struct hc_rewind *rewind = &frame->history.rewinds[i];
        rewind->cause_count = HC_REWIND_CAUSES_MAX;
        rewind->change_count = HC_REWIND_CHANGES_MAX;
        rewind->more_causes = true;
        for (unsigned c = 0; c < HC_REWIND_CHANGES_MAX; c++)
            rewind->changes[c].entity = (hc_entity)(c % world.entities);
    }
    frame->client_total = frame->client_count = HC_SV_PROBE_CLIENTS;
    for (unsigned i = 0; i < HC_SV_PROBE_CLIENTS; i++) {
        struct hc_server_client *client = &frame->clients[i];
        client->session.client_id = UINT64_MAX;
        client->session.player_count = HC_OWN_PLAYERS_MAX;
        client->margin_low_us = INT32_MIN;
        client->has_margin = i % 2 == 0;
        memcpy(client->name, "\"\\</script><b>&\n\x01", 17);
    }
    frame->alive = frame->entity_count = HC_SV_PROBE_ENTITIES;
    for (unsigned i = 0; i < HC_SV_PROBE_ENTITIES; i++)
        frame->entities[i] = (struct hc_sv_probe_entity){
            .entity = (hc_entity)(i % world.entities), .x = INT64_MIN, .y = INT64_MAX};
    return frame;
}

START_TEST(a_full_frame_is_valid_and_bounded) {
    struct hc_sv_probe_frame *frame = full_frame();
    hc_sv_inspector_text_frame(&text, &world, frame, 7);
    json_t *json = parse();
    const json_t *clients = json_object_get(json, "clients");
    ck_assert_uint_eq(json_array_size(clients), HC_SV_PROBE_CLIENTS);
    ck_assert_str_eq(json_string_value(json_array_get(json_array_get(clients, 3), 2)),
                     "\"\\</script><b>&\n\x01");
    ck_assert(json_is_null(json_array_get(json_array_get(clients, 3), 7)));
    ck_assert_uint_eq(json_array_size(json_object_get(json, "map")), 5 * HC_SV_PROBE_ENTITIES);
    ck_assert_uint_eq(json_array_size(json_object_get(json, "rewinds")), HC_SV_PROBE_REWINDS);
    ck_assert_uint_lt(text.size, 262144);
    json_decref(json);
    free(frame);
}
END_TEST

START_TEST(hello_and_sight_are_valid) {
    struct hc_sv_options options = {.matches = 3};
    const struct hc_sv_match_setting setting = {.version = "1", .options = &options};
    hc_sv_inspector_text_hello(&text, &setting, &world, 2, 5);
    json_t *json = parse();
    ck_assert_int_eq(json_integer_value(json_object_get(json, "worlds")), 5);
    ck_assert_uint_eq(json_array_size(json_object_get(json, "kinds")), hc_arena.kind_count);
    json_decref(json);
    hc_sv_json_text_clear(&text);
    struct hc_sv_probe_sight sight = {.cid = 9, .total = 1, .count = 1};
    sight.sent[0] = (struct hc_sv_probe_entity){.entity = 1, .tick = 4, .x = -3, .y = 5};
    hc_sv_inspector_text_sight(&text, &world, &sight, 7);
    json_decref(parse());
    static const char expected[] = "{\"frame\":7,\"cid\":9,\"total\":1,\"sent\":[1,1,0,4,-3,5]}";
    ck_assert_uint_eq(text.size, sizeof expected - 1);
    ck_assert_mem_eq(text.bytes, expected, text.size);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("inspector text");
    TCase *tc = tcase_create("inspector text");
    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_add_test(tc, numbers_are_exact_at_their_limits);
    tcase_add_test(tc, every_byte_of_a_string_survives);
    tcase_add_test(tc, a_text_grows_and_is_emptied);
    tcase_add_test(tc, a_full_frame_is_valid_and_bounded);
    tcase_add_test(tc, hello_and_sight_are_valid);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
