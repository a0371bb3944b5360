/// Tests server/daemon/agones_object and agones_seats: what the sidecar's answers mean, and how the
/// list and the counter follow the sessions.
#include "server/daemon/agones_object.h"
#include "server/daemon/agones_seats.h"
#include "tests/run_suite.h"

#include <stdio.h>
#include <string.h>

static json_t *parse(const char *text) {
    json_t *json = json_loads(text, 0, NULL);
    ck_assert_msg(json != NULL, "%s", text);
    return json;
}

// ---- The gameserver -----------------------------------------------------------------------------

static struct hc_sv_agones_object object;

static bool read_object(const char *text) {
    json_t *json = parse(text);
    bool good = hc_sv_agones_object_read(json, &object);
    json_decref(json);
    return good;
}

START_TEST(an_object_of_the_sidecar_is_read) {
    ck_assert(
        read_object("{\"object_meta\": {\"creation_timestamp\": \"-62135596800\", \"annotations\": "
                    "{\"agones.dev/last-allocated\": \"2026-01-02T03:04:05Z\"}}, \"spec\": "
                    "{\"health\": {\"disabled\": false, \"period_seconds\": 7}}, \"status\": "
                    "{\"state\": \"Allocated\", \"players\": null}}"));
    ck_assert_int_eq(object.state, HC_SV_AGONES_ALLOCATED);
    ck_assert_str_eq(object.allocated, "2026-01-02T03:04:05Z");
    ck_assert_uint_eq(object.health_period_s, 7);
    ck_assert(!object.health_is_off);
}
END_TEST

START_TEST(an_object_of_the_cluster_is_read_too) {
    ck_assert(
        read_object("{\"metadata\": {\"annotations\": {\"agones.dev/last-allocated\": \"x\"}}, "
                    "\"spec\": {\"health\": {\"disabled\": true, \"periodSeconds\": \"9\"}}, "
                    "\"status\": {\"state\": \"Reserved\"}}"));
    ck_assert_int_eq(object.state, HC_SV_AGONES_RESERVED);
    ck_assert_str_eq(object.allocated, "x");
    ck_assert_uint_eq(object.health_period_s, 9);
    ck_assert(object.health_is_off);
}
END_TEST

START_TEST(what_an_object_leaves_out_has_a_default) {
    ck_assert(read_object("{\"status\": {\"state\": \"Scheduled\"}}"));
    ck_assert_int_eq(object.state, HC_SV_AGONES_BEFORE);
    ck_assert_str_eq(object.allocated, "");
    ck_assert_uint_eq(object.health_period_s, HC_SV_AGONES_HEALTH_PERIOD_S);
    ck_assert(read_object("{\"spec\": {\"health\": {\"period_seconds\": 0}}, "
                          "\"status\": {\"state\": \"a word of next year\"}}"));
    ck_assert_int_eq(object.state, HC_SV_AGONES_UNKNOWN);
    ck_assert_uint_eq(object.health_period_s, HC_SV_AGONES_HEALTH_PERIOD_S);
}
END_TEST

START_TEST(a_long_text_of_an_object_is_cut) {
    char text[4096], word[2048];
    memset(word, 'x', sizeof(word));
    word[sizeof(word) - 1] = '\0';
    snprintf(text, sizeof(text), "{\"status\": {\"state\": \"%s\"}}", word);
    ck_assert(read_object(text));
    ck_assert_uint_eq(strlen(object.word), HC_SV_AGONES_WORD - 1);
    // Not within a character.
    memcpy(word + HC_SV_AGONES_WORD - 2, "\xc3\xa9", 3);
    snprintf(text, sizeof(text), "{\"status\": {\"state\": \"%s\"}}", word);
    ck_assert(read_object(text));
    ck_assert_uint_eq(strlen(object.word), HC_SV_AGONES_WORD - 2);
}
END_TEST

START_TEST(anything_else_is_no_object_and_changes_nothing) {
    static const char *const others[] = {"{}",
                                         "[]",
                                         "[{\"status\": {\"state\": \"Ready\"}}]",
                                         "{\"status\": null}",
                                         "{\"status\": {\"state\": 5}}",
                                         "{\"status\": [{\"state\": \"Ready\"}]}"};
    ck_assert(read_object("{\"status\": {\"state\": \"Ready\"}}"));
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        ck_assert_msg(!read_object(others[i]), "%s", others[i]);
    ck_assert_int_eq(object.state, HC_SV_AGONES_READY);
    ck_assert(!hc_sv_agones_object_read(NULL, &object));
}
END_TEST

START_TEST(a_port_is_found_by_its_name) {
    json_t *json =
        parse("{\"status\": {\"ports\": [null, {\"port\": 1}, {\"name\": \"big\", \"port\": "
              "65536}, {\"name\": \"none\", \"port\": 0}, {\"name\": \"game\", \"port\": "
              "7777}, {\"name\": \"text\", \"port\": \"7778\"}]}}");
    ck_assert_uint_eq(hc_sv_agones_object_port(json, "game"), 7777);
    ck_assert_uint_eq(hc_sv_agones_object_port(json, "text"), 7778);
    ck_assert_uint_eq(hc_sv_agones_object_port(json, "big"), 0);
    ck_assert_uint_eq(hc_sv_agones_object_port(json, "none"), 0);
    ck_assert_uint_eq(hc_sv_agones_object_port(json, "other"), 0);
    json_decref(json);
    json = parse("{\"status\": {\"ports\": null}}");
    ck_assert_uint_eq(hc_sv_agones_object_port(json, "game"), 0);
    json_decref(json);
}
END_TEST

START_TEST(numbers_are_whole_and_not_negative) {
    static const struct {
        const char *text;
        int64_t number;
    } numbers[] = {{"[5]", 5},
                   {"[\"5\"]", 5},
                   {"[\"0\"]", 0},
                   {"[-1]", -1},
                   {"[\"-1\"]", -1},
                   {"[\"\"]", -1},
                   {"[1.5]", -1},
                   {"[\"1e3\"]", -1},
                   {"[null]", -1},
                   {"[\" 1\"]", -1},
                   {"[\"999999999999999999\"]", 999999999999999999},
                   {"[\"1000000000000000000\"]", -1}};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        json_t *json = parse(numbers[i].text);
        ck_assert_msg(hc_sv_agones_number(json_array_get(json, 0)) == numbers[i].number, "%s",
                      numbers[i].text);
        json_decref(json);
    }
}
END_TEST

// ---- Players ------------------------------------------------------------------------------------

static struct hc_sv_agones_players players;

static void open_players(void) {
    memset(&players, 0, sizeof(players));
    ck_assert(hc_sv_agones_players_open(&players));
}

static void close_players(void) {
    hc_sv_agones_players_close(&players);
}

static bool read_list(const char *text) {
    json_t *json = parse(text);
    bool good = hc_sv_agones_players_read(&players, json);
    json_decref(json);
    return good;
}

/// Changes the list until it is right; writes all changes, such as "+1 -2 ".
static const char *changes(bool lapsed) {
    static char text[256];
    const char *value;
    bool adds;
    text[0] = '\0';
    while ((value = hc_sv_agones_players_next(&players, lapsed, &adds)) != NULL) {
        char copy[32];
        snprintf(copy, sizeof(copy), "%s", value);
        size_t used = strlen(text);
        ck_assert_uint_lt(used, 200);
        snprintf(text + used, sizeof(text) - used, "%c%s ", adds ? '+' : '-', copy);
        hc_sv_agones_players_change(&players, copy, adds);
    }
    return text;
}

START_TEST(players_are_added_once_and_removed_when_they_have_left) {
    ck_assert(read_list("{\"capacity\": \"4\", \"values\": []}"));
    hc_sv_agones_players_want(&players, 1);
    hc_sv_agones_players_want(&players, UINT64_MAX);
    hc_sv_agones_players_want(&players, 1);
    ck_assert_str_eq(changes(false), "+1 +18446744073709551615 ");
    ck_assert_str_eq(changes(false), "");
    hc_sv_agones_players_clear(&players);
    hc_sv_agones_players_want(&players, 2);
    ck_assert_str_eq(changes(false), "-1 -18446744073709551615 +2 ");
}
END_TEST

START_TEST(a_promised_player_is_not_added_again_and_leaves_as_any_other) {
    ck_assert(read_list("{\"capacity\": \"4\", \"values\": [\"7\", \"8\", \"a name\"]}"));
    hc_sv_agones_players_want(&players, 7);
    ck_assert_str_eq(changes(false), "");
    hc_sv_agones_players_clear(&players);
    ck_assert_str_eq(changes(false), "-7 ");
    ck_assert_str_eq(changes(true), "-8 -a name ");
}
END_TEST

START_TEST(a_player_who_came_before_the_list_was_read_leaves_it_as_any_other) {
    hc_sv_agones_players_want(&players, 7);
    ck_assert(read_list("{\"capacity\": \"4\", \"values\": [\"7\", \"9\"]}"));
    hc_sv_agones_players_clear(&players);
    ck_assert_str_eq(changes(false), "-7 ");
}
END_TEST

START_TEST(a_list_that_was_read_again_keeps_whose_the_values_are) {
    ck_assert(read_list("{\"capacity\": 4, \"values\": null}"));
    hc_sv_agones_players_want(&players, 1);
    ck_assert_str_eq(changes(false), "+1 ");
    ck_assert(read_list("{\"capacity\": 4, \"values\": [\"1\", \"9\", 5, null]}"));
    hc_sv_agones_players_clear(&players);
    ck_assert_str_eq(changes(false), "-1 ");
}
END_TEST

START_TEST(a_full_list_takes_no_more) {
    ck_assert(read_list("{\"capacity\": \"1\", \"values\": [\"9\"]}"));
    hc_sv_agones_players_want(&players, 1);
    ck_assert_str_eq(changes(false), "");
    ck_assert_str_eq(changes(true), "-9 +1 ");
    for (uint64_t user = 1; user <= 5000; user++)
        hc_sv_agones_players_want(&players, user);
    ck_assert_uint_eq(json_object_size(players.wanted), HC_SV_AGONES_PLAYERS_MAX);
}
END_TEST

START_TEST(an_answer_that_is_no_list_changes_nothing) {
    ck_assert(read_list("{\"capacity\": \"3\", \"values\": [\"9\"]}"));
    ck_assert(!read_list("{}"));
    ck_assert(!read_list("[]"));
    ck_assert(!read_list("{\"capacity\": \"-1\", \"values\": []}"));
    ck_assert(!hc_sv_agones_players_read(&players, NULL));
    ck_assert_str_eq(changes(true), "-9 ");
}
END_TEST

// ---- Rooms --------------------------------------------------------------------------------------

START_TEST(a_counter_is_read_or_refused) {
    struct hc_sv_agones_rooms rooms = {.count = 5};
    json_t *json = parse("[{\"count\": \"1\", \"capacity\": \"4\"}, {\"capacity\": 2}, {\"count\": "
                         "\"x\", \"capacity\": 2}, {}, 5]");
    ck_assert(hc_sv_agones_rooms_read(&rooms, json_array_get(json, 0)));
    ck_assert_int_eq(rooms.count, 1);
    ck_assert_int_eq(rooms.capacity, 4);
    ck_assert(hc_sv_agones_rooms_read(&rooms, json_array_get(json, 1)));
    ck_assert_int_eq(rooms.count, 0);
    for (size_t i = 2; i < 5; i++)
        ck_assert(!hc_sv_agones_rooms_read(&rooms, json_array_get(json, i)));
    ck_assert(!hc_sv_agones_rooms_read(&rooms, NULL));
    ck_assert_int_eq(rooms.capacity, 2);
    json_decref(json);
}
END_TEST

START_TEST(rooms_rise_with_matches_and_fall_when_they_end) {
    static const struct {
        int64_t count, before, used, change, lapsed;
    } rows[] = {
        {0, 0, 0, 0, 0},   // nothing happens
        {0, 0, 1, 1, 1},   // a match that nobody promised
        {1, 0, 1, 0, 0},   // one that was promised
        {2, 0, 1, 0, -1},  // one of two promised ones
        {2, 1, 0, -1, -2}, // it ends, and the other promise stays
        {2, 2, 1, -1, -1}, // one of two ends
        {4, 4, 0, -4, -4}, // all end
        {1, 3, 1, 0, 0},   // the counter lacks one that still plays
        {0, 2, 1, 1, 1},   // it lacks more
        {3, 0, 0, 0, -3},  // promises alone
        {4, 4, 9, 0, 0},   // never above the capacity
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct hc_sv_agones_rooms rooms = {
            .count = rows[i].count, .capacity = 4, .used = rows[i].before};
        ck_assert_int_eq(hc_sv_agones_rooms_change(&rooms, rows[i].used, false), rows[i].change);
        ck_assert_int_eq(hc_sv_agones_rooms_change(&rooms, rows[i].used, true), rows[i].lapsed);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("server_agones");
    TCase *of_object = tcase_create("object"), *of_players = tcase_create("players"),
          *of_rooms = tcase_create("rooms");
    tcase_add_test(of_object, an_object_of_the_sidecar_is_read);
    tcase_add_test(of_object, an_object_of_the_cluster_is_read_too);
    tcase_add_test(of_object, what_an_object_leaves_out_has_a_default);
    tcase_add_test(of_object, a_long_text_of_an_object_is_cut);
    tcase_add_test(of_object, anything_else_is_no_object_and_changes_nothing);
    tcase_add_test(of_object, a_port_is_found_by_its_name);
    tcase_add_test(of_object, numbers_are_whole_and_not_negative);
    suite_add_tcase(suite, of_object);
    tcase_add_checked_fixture(of_players, open_players, close_players);
    tcase_add_test(of_players, players_are_added_once_and_removed_when_they_have_left);
    tcase_add_test(of_players, a_promised_player_is_not_added_again_and_leaves_as_any_other);
    tcase_add_test(of_players, a_player_who_came_before_the_list_was_read_leaves_it_as_any_other);
    tcase_add_test(of_players, a_list_that_was_read_again_keeps_whose_the_values_are);
    tcase_add_test(of_players, a_full_list_takes_no_more);
    tcase_add_test(of_players, an_answer_that_is_no_list_changes_nothing);
    suite_add_tcase(suite, of_players);
    tcase_add_test(of_rooms, a_counter_is_read_or_refused);
    tcase_add_test(of_rooms, rooms_rise_with_matches_and_fall_when_they_end);
    suite_add_tcase(suite, of_rooms);
    return run_suite(suite);
}
