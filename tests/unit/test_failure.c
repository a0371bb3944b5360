/// Tests client/programs/failure: each cause has its own words.
#include "client/programs/failure.h"
#include "hindcast/arena.h"
#include "tests/run_suite.h"

#include <string.h>

static void check(const struct hc_cl_failure *failure, const char *words) {
    char text[320];
    hc_cl_failure_text(text, sizeof text, failure);
    ck_assert_msg(strstr(text, words) != NULL, "%s", text);
}

START_TEST(client_without_an_answer_reports_that_no_program_listens_if_the_network_reports_it) {
    struct hc_cl_failure failure = {.gave_up = true};
    check(&failure,
          "no answer: no server runs there, or something on the path drops its datagrams");
    failure.udp.too_long = 3;
    check(&failure, "no answer: 3 datagrams of 1200 bytes were refused as too long");
    failure.udp.refused = 2;
    check(&failure, "no program listens there: 2 datagrams were refused");
    failure = (struct hc_cl_failure){.gave_up = false};
    check(&failure, "no answer until the end");
}
END_TEST

START_TEST(client_whose_server_answered_reports_the_lack) {
    struct hc_cl_failure failure = {.attempt.answered = true, .gave_up = true};
    check(&failure, "none of its datagrams of 1200 bytes arrives");
    failure.gave_up = false;
    check(&failure, "the handshake was not complete at the end");
    failure.udp.refused = 1;
    check(&failure, "the server answered, but then no program listened there");
}
END_TEST

START_TEST(late_program_blames_itself_unless_the_server_denied) {
    struct hc_cl_failure failure = {.gave_up = true, .late_us = 999999};
    check(&failure, "no server runs there");
    failure.late_us = 2500000;
    check(&failure, "this program itself was up to 2.5 s late");
    failure.attempt.answered = true;
    check(&failure, "this program itself was up to 2.5 s late");
    failure.attempt = (struct hc_client_attempt){
        .answered = true, .denied = true, .proven = true, .deny = HC_DENY_FULL};
    check(&failure, "the server is full");
    failure.attempt.proven = false;
    failure.expired = true;
    check(&failure, "; by this machine's clock it has expired, too (not proven");
}
END_TEST

START_TEST(denial_for_an_unknown_reason_has_its_number) {
    struct hc_cl_failure failure = {
        .attempt = {.denied = true, .proven = true, .deny = (enum hc_deny_reason)40}};
    check(&failure, "for a reason that this client does not know (40)");
}
END_TEST

START_TEST(both_games_are_named_as_far_as_they_are_known) {
    char text[256], why[320];
    struct hc_game pong = hc_arena;
    pong.name = "pong";
    pong.version = 3;
    hc_cl_failure_game(text, sizeof text, &pong, 1, "arena 12", 2);
    ck_assert_str_eq(text, "the server plays arena 12, and this program pong 3 (--game FILE)");
    hc_cl_failure_game(text, sizeof text, &pong, 1, "pong 3", 2);
    ck_assert_str_eq(text, "the server plays another build of pong 3: its protocol_id is "
                           "0x0000000000000002, and this program's 0x0000000000000001");
    hc_cl_failure_game(text, sizeof text, &pong, 1, "", 2);
    ck_assert_ptr_nonnull(
        strstr(text, "the server plays another game, or another build of pong 3: "));
    struct hc_cl_tokens_issuer issuer = {.protocol_id = 1, .game = "pong 3"};
    ck_assert(hc_cl_failure_check_game(&pong, 1, &issuer, "host:1", why, sizeof why));
    issuer.protocol_id = 0;
    ck_assert(hc_cl_failure_check_game(&pong, 1, &issuer, "host:1", why, sizeof why));
    issuer = (struct hc_cl_tokens_issuer){.protocol_id = 2, .game = "arena 12"};
    ck_assert(!hc_cl_failure_check_game(&pong, 1, &issuer, "host:1", why, sizeof why));
    ck_assert_str_eq(why,
                     "host:1: the server plays arena 12, and this program pong 3 (--game FILE)");
}
END_TEST

int main(void) {
    Suite *suite = suite_create("failure");
    TCase *tests = tcase_create("failure");
    tcase_add_test(
        tests, client_without_an_answer_reports_that_no_program_listens_if_the_network_reports_it);
    tcase_add_test(tests, client_whose_server_answered_reports_the_lack);
    tcase_add_test(tests, late_program_blames_itself_unless_the_server_denied);
    tcase_add_test(tests, denial_for_an_unknown_reason_has_its_number);
    tcase_add_test(tests, both_games_are_named_as_far_as_they_are_known);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
