/// A pane of the window: one client with its link, and the person or the bot that plays.
#pragma once

#include "common/programs/thinker.h"
#include "client/bots/udp.h"
#include "hindcast/client.h"

#include <stdbool.h>

struct hc_cl_pane {
    struct hc_client *client;
    struct hc_cl_udp *udp;
    const struct hc_game *game;
    uint64_t protocol_id; ///< of it
    bool bot;             ///< `brain` plays; else a person
    struct hc_thinker brain;
    hc_tick decided;             ///< newest tick for which the brain chose an input
    uint8_t input[HC_INPUT_MAX]; ///< of the person
    bool has_closed;             ///< the client is closed, and `why` is a sentence
    bool restarts;               ///< the newest loss was by a restart of the server
    bool is_other_build;         ///< the client is closed because the server is of another build
    uint64_t connected_us;       ///< when the newest datagram of a connection arrived; 0: none has
    char why[HC_DIFFERENCE_TEXT_MAX + 64];
};

/// The parts of a pane.
struct hc_cl_pane_config {
    const struct hc_client_config *client;
    const struct hc_cl_udp_peer *server;
    const struct hc_network_sim_config *link; ///< each direction
    uint64_t seed;                            ///< of the link and the bot
    uint32_t number;                          ///< of the pane
    bool bot;
    hc_bot_think *think; ///< of the game; NULL: a bot's inputs are random
};

/// Opens a pane, whose client begins to connect. False: failed, and `why` is a sentence.
bool hc_cl_pane_open(struct hc_cl_pane *pane, const struct hc_cl_pane_config *config, char *why,
                     size_t why_size);

/// Frees the client and its link.
void hc_cl_pane_close(struct hc_cl_pane *pane);

/// Does everything that is due: receives, plays and sends.
void hc_cl_pane_turn(struct hc_cl_pane *pane);

/// The time of the next hc_cl_pane_turn without a datagram.
uint64_t hc_cl_pane_deadline(const struct hc_cl_pane *pane);

/// Makes its client leave. It is gone once hc_cl_pane_left, after further turns.
void hc_cl_pane_leave(struct hc_cl_pane *pane);

/// Whether the client is closed and its last datagram sent.
bool hc_cl_pane_left(const struct hc_cl_pane *pane);
