/// Owns the sequence of the program: options, server, tokens, frames, the end.
#define _GNU_SOURCE // argp, ppoll

#include "client/view/view.h"

#include "client/programs/failure.h"
#include "client/programs/next_server.h"
#include "client/programs/resolve.h"
#include "client/programs/spawn.h"
#include "client/programs/tokens.h"
#include "client/view/presses.h"
#include "client/view/screenshot.h"
#include "client/view/window.h"
#include "common/elapsed.h"
#include "common/programs/backtrace.h"
#include "common/programs/clock.h"
#include "common/programs/crash.h"
#include "common/programs/standard.h"

#include <argp.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

enum {
    WHY_MAX = 4600,       ///< bytes of a sentence with a path
    FRAME_US = 16667,     ///< from frame to frame
    LEAVE_US = 2000000,   ///< longest time for closing the connections
    CLOSE_MS = 1000,      ///< at the end, the trace's file may take so long
    TRACK_RECORDS = 4096, ///< room of a track of the trace
    SPAWN_CLIENTS = 16,   ///< of a server of --spawn: others may join
};

static const char program[] = "hindcast-view";

/// The window with its clients and their server.
struct session {
    const char *version;
    struct hc_cl_options *options;
    struct hc_cl_window window;
    struct hc_cl_udp_peer server;
    char name[264]; ///< of the server, as the user wrote it
    struct hc_credential tokens[HC_CL_WINDOW_PANES];
    struct hc_cl_next_server next_server;
    bool searches; ///< the search goes on
    struct hc_trace *trace;
    struct hc_trace_track *frames, *clients[HC_CL_WINDOW_PANES]; ///< NULL: there is no trace
};

/// Resolves the server, and reads or requests a token for each pane. `*issuer` stays as it is with
/// --token. False: failed, and `why` is a sentence.
static bool obtain_tokens(struct session *session, struct hc_cl_tokens_issuer *issuer, char *why) {
    const struct hc_cl_options *options = session->options;
    const struct hc_plugin *plugin = &options->plugin;
    uint64_t timeout_us = session->window.config.timeout_us;
    struct hc_cl_resolve_wish wish = {
        .host = options->host,
        .port = options->port,
        .protocol_id = hc_datagram_protocol_id(plugin->game, plugin->rule_hash),
        .patience_us = timeout_us,
    };
    if (!hc_cl_resolve(&wish, &session->server, why, WHY_MAX))
        return false;
    if (options->token != NULL)
        return hc_cl_tokens_read(options->token, 0, session->tokens, options->clients, why,
                                 WHY_MAX);
    snprintf(session->name, sizeof(session->name), "%s:%s", options->host, options->port);
    struct hc_cl_tokens_port port = {session->server, session->name, &options->wish};
    return hc_cl_tokens_request(&port, session->tokens, options->clients, timeout_us, issuer, why,
                                WHY_MAX) &&
           hc_cl_failure_check_game(plugin->game, wish.protocol_id, issuer, session->name, why,
                                    WHY_MAX);
}

/// Opens the panes of a window, whose clients begin to connect.
static bool open_panes(struct session *session, char *why) {
    struct hc_cl_window *window = &session->window;
    const struct hc_cl_options *options = session->options;
    for (uint32_t i = 0; i < options->clients; i++) {
        struct hc_cl_window_pane *pane = &window->panes[i];
        struct hc_client_config client = window->config;
        client.credential = session->tokens[i];
        struct hc_cl_pane_config config = {.client = &client,
                                           .server = &session->server,
                                           .knobs = &window->knobs[i],
                                           .search =
                                               session->searches ? &session->next_server : NULL,
                                           .seed = options->seed,
                                           .number = i,
                                           .track = session->clients[i],
                                           .bot = options->bot,
                                           .think = options->plugin.think};
        *pane = (struct hc_cl_window_pane){.has_self = false};
        if (!hc_cl_pane_open(&pane->client, &config, why, WHY_MAX))
            return false;
        window->count++;
    }
    hc_cl_next_server_connected(&session->next_server, hc_clock_us());
    return true;
}

/// Makes the search for a server that is started anew; false: no memory.
static bool open_next_server(struct session *session, const struct hc_cl_tokens_issuer *issuer,
                             char *why) {
    struct hc_cl_options *options = session->options;
    const struct hc_client_config *client = &session->window.config;
    struct hc_cl_next_server_config config = {
        .program = program,
        .game = options->game,
        .port = {session->server, session->name, &options->wish},
        .issuer = *issuer,
        .plugin = &options->plugin,
        .tokens = session->tokens,
        .count = options->clients,
        .patience_us = (uint64_t)client->timeout_us + client->reconnect_us,
    };
    session->searches = options->token == NULL;
    if (!session->searches)
        return true;
    snprintf(why, WHY_MAX, "no memory");
    return hc_cl_next_server_init(&session->next_server, &config);
}

/// Waits for a datagram, or until `until_us` or a client has work.
static void wait_until(struct hc_cl_window *window, uint64_t until_us) {
    struct pollfd descriptors[HC_CL_WINDOW_PANES];
    for (unsigned i = 0; i < window->count; i++) {
        uint64_t deadline_us = hc_cl_runner_deadline(&window->panes[i].client.runner);
        until_us = deadline_us < until_us ? deadline_us : until_us;
        descriptors[i].fd = hc_cl_udp_descriptor(window->panes[i].client.runner.udp);
        descriptors[i].events = POLLIN;
    }
    uint64_t now_us = hc_clock_us(), wait_us = hc_since(now_us, until_us);
    struct timespec timeout = {(time_t)(wait_us / 1000000), (long)(wait_us % 1000000 * 1000)};
    ppoll(descriptors, window->count, &timeout, NULL);
}

/// Opens the panes anew on a server that was started anew. False: failed, and `why` is a sentence.
static bool join_next(struct session *session, char *why) {
    struct hc_cl_window *window = &session->window;
    hc_cl_window_close_panes(window);
    bool is_other = session->next_server.fresh.game != NULL;
    if (is_other && !hc_cl_window_change_game(window, &session->next_server.fresh, why, WHY_MAX))
        return false;
    hc_cl_next_server_apply(&session->next_server);
    return open_panes(session, why);
}

/// Searches for the server if no client hears it. False: `why` is a sentence.
static bool search(struct session *session, char *why) {
    enum hc_cl_next_server_state state =
        hc_cl_next_server_turn(&session->next_server, hc_clock_us());
    session->searches = state != HC_CL_NEXT_SERVER_FAILED;
    if (!session->searches &&
        session->next_server.why[0] != '\0') { // another game is played there now
        snprintf(why, WHY_MAX, "%s: %s", session->name, session->next_server.why);
        return false;
    }
    return state != HC_CL_NEXT_SERVER_FOUND || join_next(session, why);
}

/// Gives each client its turn. False: one is closed, and `why` is a sentence.
static bool turn(struct session *session, char *why) {
    struct hc_cl_window *window = &session->window;
    if (session->searches && !search(session, why))
        return false;
    for (unsigned i = 0; i < window->count; i++) {
        struct hc_cl_pane *pane = &window->panes[i].client;
        hc_cl_pane_turn(pane);
        if (pane->has_closed && !(pane->runner.stranded && session->searches)) {
            snprintf(why, WHY_MAX, "%s:%s: %s", session->options->host, session->options->port,
                     pane->why);
            return false;
        }
    }
    return true;
}

static bool all_play(const struct hc_cl_window *window) {
    for (unsigned i = 0; i < window->count; i++)
        if (hc_client_state(window->panes[i].client.runner.client) != HC_CLIENT_PLAYING)
            return false;
    return true;
}

/// Draws frame after frame until the person closes the window, or after --frames. False: it ended
/// early, and `why` is a sentence.
static bool play(struct session *session, char *why) {
    struct hc_cl_window *window = &session->window;
    const struct hc_cl_options *options = session->options;
    const char *presses = options->press;
    uint32_t played = 0;
    uint64_t frame_us = hc_clock_us();
    while (!window->closed) {
        hc_cl_window_events(window);
        if (!turn(session, why))
            return false;
        uint64_t now_us = hc_clock_us();
        if (now_us >= frame_us) {
            hc_trace_span frame = hc_trace_root(session->frames, "frame");
            hc_trace_span part = hc_trace_begin(session->frames, "draw");
            hc_cl_window_draw(window, now_us);
            hc_trace_end(session->frames, part);
            if (all_play(window)) {
                played++;
                hc_cl_presses_push(&presses);
            }
            if (options->frames > 0 && played >= options->frames)
                return options->screenshot == NULL ||
                       hc_cl_screenshot_write(window->renderer, options->screenshot, why, WHY_MAX);
            part = hc_trace_begin(session->frames, "present");
            SDL_RenderPresent(window->renderer);
            hc_trace_end(session->frames, frame);
            frame_us = frame_us + FRAME_US > now_us ? frame_us + FRAME_US : now_us + FRAME_US;
        }
        wait_until(window, frame_us);
    }
    if (options->frames > 0)
        snprintf(why, WHY_MAX, "ended after %u of %u frames of play", played, options->frames);
    return options->frames == 0;
}

/// Makes the clients leave the server.
static void leave(struct hc_cl_window *window) {
    uint64_t end_us = hc_clock_us() + LEAVE_US;
    bool left = window->count == 0;
    for (unsigned i = 0; i < window->count; i++)
        hc_cl_runner_leave(&window->panes[i].client.runner, hc_clock_us());
    while (!left && hc_clock_us() < end_us) {
        left = true;
        for (unsigned i = 0; i < window->count; i++) {
            hc_cl_pane_turn(&window->panes[i].client);
            left = left && hc_cl_runner_deadline(&window->panes[i].client.runner) == UINT64_MAX;
        }
        if (!left)
            wait_until(window, end_us);
    }
}

/// Begins the trace, if the options name one. False: failed, and `why` is a sentence.
static bool begin_trace(struct session *session, char why[static WHY_MAX]) {
    static char name[] = "hindcast-view";
    const struct hc_cl_options *options = session->options;
    const struct hc_trace_config config = {.program = name,
                                           .version = session->version,
                                           .reported = hc_trace_print_report,
                                           .context = name};
    if (options->trace == NULL)
        return true;
    session->trace = hc_trace_open(&config);
    bool good = session->trace != NULL;
    if (good)
        session->frames = hc_trace_add(session->trace, 0, TRACK_RECORDS, "window");
    for (uint32_t i = 0; good && i < options->clients; i++) {
        char track[HC_TRACE_NAME_MAX];
        snprintf(track, sizeof(track), "client %u", i + 1);
        session->clients[i] = hc_trace_add(session->trace, i + 1, TRACK_RECORDS, track);
        good = session->clients[i] != NULL;
    }
    snprintf(why, WHY_MAX, "no memory or no thread for a trace");
    return good && session->frames != NULL &&
           hc_trace_begin_at(session->trace, options->trace,
                             (uint64_t)options->trace_limit_mb * HC_TRACE_MEGABYTE, why);
}

/// Plays on the server of `options`; false: failed, and `why` is a sentence.
static bool run(struct hc_cl_options *options, const char *version, char *why) {
    static struct session session; // too large for the stack, and its canvas must not move
    struct hc_cl_window *window = &session.window;
    struct hc_cl_tokens_issuer issuer = {.process = 0};
    session.options = options;
    session.version = version;
    bool good = begin_trace(&session, why) && hc_cl_window_open(window, options, why, WHY_MAX) &&
                (options->press == NULL || hc_cl_presses_check(options->press, why, WHY_MAX)) &&
                obtain_tokens(&session, &issuer, why) && open_next_server(&session, &issuer, why) &&
                open_panes(&session, why) && play(&session, why);
    leave(window);
    hc_cl_window_close(window);
    hc_cl_next_server_free(&session.next_server);
    (void)hc_trace_close(session.trace, CLOSE_MS);
    return good;
}

/// Starts a server for --spawn, and tells how others join. False: failed, and `why` is a sentence.
static bool spawn(struct hc_cl_options *options, struct hc_cl_spawn *server, char *why) {
    uint32_t most = options->plugin.game->players_max;
    struct hc_cl_spawn_config config = {.program = program,
                                        .game = options->game,
                                        .clients = most < SPAWN_CLIENTS ? most : SPAWN_CLIENTS,
                                        .seed = options->seed};
    if (!hc_cl_spawn_start(server, &config, why, WHY_MAX))
        return false;
    snprintf(options->host, sizeof(options->host), "127.0.0.1");
    snprintf(options->port, sizeof(options->port), "%s", server->port);
    printf("others may join: hindcast-bot --connect %s:%s%s%s\n", options->host, options->port,
           options->game != NULL ? " --game " : "", options->game != NULL ? options->game : "");
    fflush(stdout);
    return true;
}

int hc_cl_view_run(const char *version, int argc, char **argv) {
    struct hc_cl_options options;
    struct hc_cl_spawn server;
    char why[WHY_MAX];
    hc_standard_open();
    hc_cl_options_parse(&options, HC_CL_OPTIONS_VIEW, argc, argv);
    hc_crash_watch(program, hc_place_of((void (*)(void))options.plugin.game->step), false);
    if (options.spawn && !spawn(&options, &server, why)) {
        fprintf(stderr, "%s: %s\n", program, why);
        return 1;
    }
    bool good = run(&options, version, why);
    if (!good)
        fprintf(stderr, "%s: %s\n", program, why);
    if (options.spawn)
        json_decref(hc_cl_spawn_stop(&server, why, sizeof(why)));
    return good ? 0 : 1;
}
