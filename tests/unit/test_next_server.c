/// Tests client/programs/next_server and token_ask, with real token ports and virtual time.
#define _GNU_SOURCE

#include "client/programs/next_server.h"
#include "hindcast/arena.h"
#include "server/daemon/key_file.h"
#include "server/daemon/token_http.h"
#include "server/daemon/wall_clock.h"
#include "tests/run_suite.h"

#include <arpa/inet.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    COUNT = 40, ///< tokens: more than a slice of the port
    STEP_US = 10000,
    PATIENCE_US = 40000000,
    TURNS = 100000, ///< a search ends long before
};

/// A server's token port, and a search with its tokens.
struct rig {
    struct hc_sv_wall_clock wall_clock;
    struct event_base *base;
    struct hc_sv_token_http *http;
    struct sockaddr_in at;
    struct hc_plugin plugin;
    struct hc_cl_tokens_wish wish;
    struct hc_credential tokens[COUNT];
    struct hc_cl_next_server search;
    uint64_t now_us;
};

static uint64_t id_of(const struct hc_plugin *plugin) {
    return hc_datagram_protocol_id(plugin->game, plugin->rule_hash);
}

/// Chooses a TCP port that is free now.
static void choose_port(struct rig *rig) {
    socklen_t length = sizeof rig->at;
    rig->at =
        (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int descriptor = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert_int_eq(bind(descriptor, (struct sockaddr *)&rig->at, sizeof rig->at), 0);
    ck_assert_int_eq(getsockname(descriptor, (struct sockaddr *)&rig->at, &length), 0);
    close(descriptor);
}

/// Starts a server of a game; false: the port is taken.
static bool serve(struct rig *rig, const struct hc_game *game, uint64_t protocol_id) {
    char why[256];
    struct hc_sv_token_http_issuer issuer = {.key = hc_sv_key_file_random().keys[0],
                                             .protocol_id = protocol_id,
                                             .game = game,
                                             .wall_clock = &rig->wall_clock};
    rig->http = hc_sv_token_http_open(rig->base, ntohs(rig->at.sin_port), &issuer, why, sizeof why);
    return rig->http != NULL;
}

static void end_server(struct rig *rig) {
    hc_sv_token_http_close(rig->http);
    rig->http = NULL;
}

/// Lets the server work until it waits, and for a moment more: an answer takes its time.
static void run_server(const struct rig *rig) {
    const struct timeval moment = {.tv_usec = 200};
    event_base_loopexit(rig->base, &moment);
    event_base_dispatch(rig->base);
}

/// Searches for at most `most_us`, until the search says something or a request was answered or
/// vain. No client hears the server after `connected_us`.
static enum hc_cl_next_server_state await(struct rig *rig, uint64_t connected_us,
                                          uint64_t most_us) {
    enum hc_cl_next_server_state state = HC_CL_NEXT_SERVER_NONE;
    uint64_t end_us = rig->now_us + most_us;
    hc_cl_next_server_connected(&rig->search, connected_us);
    for (unsigned i = 0; i < TURNS && state == HC_CL_NEXT_SERVER_NONE && rig->now_us < end_us;
         i++) {
        state = hc_cl_next_server_turn(&rig->search, rig->now_us);
        if (hc_cl_token_ask_is_active(&rig->search.ask))
            run_server(rig);
        else
            rig->now_us += STEP_US;
    }
    return state;
}

/// Requests the first tokens of the present server.
static struct hc_cl_tokens_issuer first_tokens(struct rig *rig,
                                               const struct hc_cl_tokens_port *port) {
    struct hc_cl_token_ask ask = {.size = 0};
    enum hc_cl_token_ask_state state = HC_CL_TOKEN_ASK_WAITS;
    hc_cl_token_ask_begin(&ask, &port->server, port->wish, COUNT, 0);
    for (unsigned i = 0; i < TURNS && state == HC_CL_TOKEN_ASK_WAITS; i++) {
        run_server(rig);
        state = hc_cl_token_ask_turn(&ask, 0);
    }
    ck_assert_int_eq(state, HC_CL_TOKEN_ASK_ANSWERED);
    ck_assert_uint_eq(hc_cl_tokens_parse(ask.answer, rig->tokens, COUNT), COUNT);
    struct hc_cl_tokens_issuer issuer = hc_cl_tokens_parse_issuer(ask.answer);
    hc_cl_token_ask_end(&ask);
    return issuer;
}

static void open_rig(struct rig *rig) {
    char why[256];
    ck_assert_int_ge(sodium_init(), 0);
    memset(rig, 0, sizeof *rig);
    rig->base = event_base_new();
    rig->now_us = 100000000;
    hc_sv_wall_clock_open(&rig->wall_clock);
    ck_assert(hc_plugin_load(&rig->plugin, NULL, why, sizeof why));
    do
        choose_port(rig);
    while (!serve(rig, &hc_arena, id_of(&rig->plugin)));
    struct hc_cl_next_server_config config = {.program = "test",
                                              .port = {.name = "server", .wish = &rig->wish},
                                              .plugin = &rig->plugin,
                                              .tokens = rig->tokens,
                                              .count = COUNT,
                                              .patience_us = PATIENCE_US};
    memcpy(&config.port.server.address, &rig->at, sizeof rig->at);
    config.port.server.length = sizeof rig->at;
    config.issuer = first_tokens(rig, &config.port);
    ck_assert(hc_cl_next_server_init(&rig->search, &config));
}

static void close_rig(struct rig *rig) {
    hc_cl_next_server_free(&rig->search);
    hc_sv_token_http_close(rig->http);
    event_base_free(rig->base);
    hc_sv_wall_clock_close(&rig->wall_clock);
}

START_TEST(the_head_of_an_answer_describes_its_server) {
    struct rig rig;
    open_rig(&rig);
    const struct hc_cl_tokens_issuer *issuer = &rig.search.config.issuer;
    char game[32];
    snprintf(game, sizeof game, "arena %u", (unsigned)hc_arena.version);
    ck_assert_str_eq(issuer->game, game);
    ck_assert_uint_eq(issuer->protocol_id, id_of(&rig.plugin));
    ck_assert_uint_ne(issuer->process, 0);
    struct hc_cl_tokens_issuer none =
        hc_cl_tokens_parse_issuer("HTTP/1.1 200 OK\r\n\r\nHindcast-Process: 1\r\n\r\n");
    ck_assert(none.process == 0 && none.protocol_id == 0 && none.game[0] == '\0');
    close_rig(&rig);
}
END_TEST

START_TEST(server_that_answers_its_clients_is_not_asked) {
    struct rig rig;
    open_rig(&rig);
    for (unsigned i = 0; i < 500; i++, rig.now_us += STEP_US) {
        hc_cl_next_server_connected(&rig.search, rig.now_us - 900000);
        ck_assert_int_eq(hc_cl_next_server_turn(&rig.search, rig.now_us), HC_CL_NEXT_SERVER_NONE);
        ck_assert(!hc_cl_token_ask_is_active(&rig.search.ask));
    }
    close_rig(&rig);
}
END_TEST

START_TEST(silent_server_of_the_same_process_changes_nothing) {
    struct rig rig;
    open_rig(&rig);
    struct hc_credential before = rig.tokens[0];
    ck_assert_int_eq(await(&rig, rig.now_us, 10000000), HC_CL_NEXT_SERVER_NONE);
    ck_assert_int_eq(memcmp(&before, &rig.tokens[0], sizeof before), 0);
    ck_assert_str_eq(rig.search.why, "");
    close_rig(&rig);
}
END_TEST

START_TEST(server_that_was_started_anew_gives_its_tokens_within_two_seconds) {
    struct rig rig;
    open_rig(&rig);
    struct hc_credential before[COUNT];
    memcpy(before, rig.tokens, sizeof before);
    end_server(&rig);
    uint64_t connected_us = rig.now_us;
    ck_assert_int_eq(await(&rig, connected_us, 5000000), HC_CL_NEXT_SERVER_NONE);
    ck_assert(serve(&rig, &hc_arena, id_of(&rig.plugin)));
    ck_assert_int_eq(await(&rig, connected_us, 2000000), HC_CL_NEXT_SERVER_FOUND);
    hc_cl_next_server_apply(&rig.search);
    for (unsigned i = 0; i < COUNT; i++)
        ck_assert_int_ne(memcmp(&before[i], &rig.tokens[i], sizeof before[i]), 0);
    ck_assert_ptr_eq(rig.plugin.game, &hc_arena);
    ck_assert_int_eq(await(&rig, rig.now_us, 5000000), HC_CL_NEXT_SERVER_NONE);
    close_rig(&rig);
}
END_TEST

START_TEST(server_with_another_game_ends_the_search_after_ten_seconds_and_both_are_named) {
    struct rig rig;
    struct hc_game ping = hc_arena;
    char why[128];
    open_rig(&rig);
    ping.name = "ping";
    ping.version = 9;
    end_server(&rig);
    ck_assert(serve(&rig, &ping, 77));
    uint64_t connected_us = rig.now_us;
    ck_assert_int_eq(await(&rig, connected_us, 10000000), HC_CL_NEXT_SERVER_NONE);
    ck_assert_int_eq(await(&rig, connected_us, 3000000), HC_CL_NEXT_SERVER_FAILED);
    snprintf(why, sizeof why, "the server plays ping 9, and this program arena %u (--game FILE)",
             (unsigned)hc_arena.version);
    ck_assert_str_eq(rig.search.why, why);
    ck_assert_int_eq(await(&rig, connected_us, 1000000), HC_CL_NEXT_SERVER_FAILED);
    close_rig(&rig);
}
END_TEST

START_TEST(search_for_a_server_that_is_gone_ends_without_a_sentence) {
    struct rig rig;
    open_rig(&rig);
    end_server(&rig);
    uint64_t connected_us = rig.now_us;
    ck_assert_int_eq(await(&rig, connected_us, PATIENCE_US), HC_CL_NEXT_SERVER_NONE);
    ck_assert_int_eq(await(&rig, connected_us, STEP_US), HC_CL_NEXT_SERVER_FAILED);
    ck_assert_str_eq(rig.search.why, "");
    close_rig(&rig);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("next server");
    TCase *tests = tcase_create("next server");
    tcase_add_test(tests, the_head_of_an_answer_describes_its_server);
    tcase_add_test(tests, server_that_answers_its_clients_is_not_asked);
    tcase_add_test(tests, silent_server_of_the_same_process_changes_nothing);
    tcase_add_test(tests, server_that_was_started_anew_gives_its_tokens_within_two_seconds);
    tcase_add_test(tests,
                   server_with_another_game_ends_the_search_after_ten_seconds_and_both_are_named);
    tcase_add_test(tests, search_for_a_server_that_is_gone_ends_without_a_sentence);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
