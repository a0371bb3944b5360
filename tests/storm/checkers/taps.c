/// Checks that a client stamps each tap of its buttons, and once: no press is lost, none counts
/// twice, however the input delay changes meanwhile. That the server takes what was stamped is for
/// the truth, and for own inputs.
#include "common/input_fields.h"
#include "tests/storm/checkers/checker.h"

#include <string.h>

enum { SOON = 100 }; ///< ticks that are sent after a tap at most before it is

/// The stamps of a connection.
struct row {
    bool begun, left_out; ///< the client has left out stamps, which the server would refuse
    hc_tick next;         ///< ticks before it were looked at
    bool pressed[HC_OWN_PLAYERS_MAX];
    unsigned presses[HC_OWN_PLAYERS_MAX];
};

struct taps {
    struct row rows[STORM_CONNS_MAX];
};

static bool is_pressed(const struct storm_match *match, const uint8_t *input,
                       const uint8_t *buttons) {
    bool pressed = false;
    for (unsigned i = 0; i < match->conns.game->input_size; i++)
        pressed |= (input[i] & buttons[i]) != 0;
    return pressed;
}

/// Counts the presses of an own player in the stamps since the last look.
static void count(const struct storm_match *match, const struct storm_conn *conn, unsigned own,
                  struct row *row) {
    uint8_t buttons[HC_INPUT_MAX];
    storm_keys_buttons(match->conns.game, buttons);
    for (hc_tick t = row->next; t < conn->end; t++) {
        const uint8_t *input = storm_conn_input(&match->conns, conn, conn->players[own], t);
        bool pressed = input != NULL && is_pressed(match, input, buttons);
        row->left_out |= input == NULL;
        row->presses[own] += pressed && !row->pressed[own];
        row->pressed[own] = pressed;
    }
}

static void client_sent(struct storm_match *match, void *state, unsigned client,
                        const struct storm_datagram *datagram) {
    const struct storm_conn *conn = datagram->conn;
    if (conn == NULL || !conn->honest || conn->first == conn->end ||
        conn->cid != match->seats[client].cid ||
        storm_client_get(match, client, STORM_C_tap_ticks) == 0)
        return;
    struct row *row = &((struct taps *)state)->rows[conn - match->conns.conns];
    if (!row->begun)
        row->next = conn->first;
    row->begun = true;
    for (unsigned own = 0; own < conn->player_count; own++) {
        struct storm_taps *taps = &match->seats[client].taps[own];
        count(match, conn, own, row);
        taps->stamped = row->presses[own];
        if (row->presses[own] > taps->count)
            storm_wrong(match, "taps", conn->end, client, "stamps a tap twice");
        else if (!row->left_out && row->presses[own] < taps->count && conn->end > taps->end + SOON)
            storm_wrong(match, "taps", conn->end, client, "has lost a tap");
    }
    row->next = conn->end;
}

const struct storm_checker storm_check_taps = {
    .name = "taps", .state_size = sizeof(struct taps), .client_sent = client_sent};
