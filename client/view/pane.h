/// A pane of the window: one client with its link, and the person or the bot that plays.
#pragma once

#include "client/programs/runner.h"
#include "client/view/knobs.h"

#include <stdbool.h>

struct hc_cl_pane {
    struct hc_cl_runner runner;
    const struct hc_game *game;
    uint64_t protocol_id; ///< of it
    bool bot;             ///< `brain` plays; else a person
    struct hc_thinker brain;
    uint8_t input[HC_INPUT_MAX]; ///< of the person
    bool has_closed;             ///< the client is closed, and `why` is a sentence
    bool restarts;               ///< the newest loss was by a restart of the server
    char why[HC_DIFFERENCE_TEXT_MAX + 64];
    char server_notice[HC_NOTICE_LINE_SIZE]; ///< the newest notice of the server; empty: none
    uint64_t server_notice_us;               ///< when it came
};

/// The parts of a pane.
struct hc_cl_pane_config {
    const struct hc_client_config *client;
    const struct hc_cl_udp_peer *server;
    const struct hc_cl_knobs *knobs;  ///< The knobs replace their members of `client`.
    struct hc_cl_next_server *search; ///< Borrowed; NULL: there is none.
    uint64_t seed;                    ///< of the link and the bot
    uint32_t number;                  ///< of the pane
    struct hc_trace_track *track;     ///< for its client; NULL: there is no trace
    bool bot;
    hc_bot_think *think; ///< of the game; NULL: a bot's inputs are random
};

/// Opens a pane, whose client begins to connect. False: failed, and `why` is a sentence.
bool hc_cl_pane_open(struct hc_cl_pane *pane, const struct hc_cl_pane_config *config, char *why,
                     size_t why_size);

/// Frees the client and its link.
void hc_cl_pane_close(struct hc_cl_pane *pane);

/// Applies a change of the knobs to the client or its link. False: the client refuses it, because
/// its configuration has no room for it, and nothing changed.
bool hc_cl_pane_apply(struct hc_cl_pane *pane, const struct hc_cl_knobs *knobs,
                      enum hc_cl_knobs_change change);

/// Does everything that is due: receives, plays and sends.
void hc_cl_pane_turn(struct hc_cl_pane *pane);
