/// The connections of a match, as both the server's events and the datagrams show them.
#pragma once

#include "proto/body.h"
#include "server/host.h"
#include "tests/storm/plan.h"

enum {
    STORM_CONNS_MAX = 256,
    STORM_SENT = 1024,  ///< snapshots remembered
    STORM_SEQS = 32768, ///< datagrams of a connection, in each direction
    STORM_CLOSES = 64,  ///< CLOSEs of a connection that wait for their answers
};

/// A snapshot that was sent: the server's values at its tick.
struct storm_sent {
    hc_tick as_of, tick;
    bool full;        ///< a unit may have been left out for want of room
    bool cut;         ///< inputs of ticks up to the head may have been left out for want of room
    uint64_t *units;  ///< [units] storm_unit_digest at the tick; NULL: no snapshot
    uint64_t *bases;  ///< [players] storm_unit_base at the tick
    uint64_t *inputs; ///< [players] storm_inputs_digest from the tick on
    uint8_t *presence, *states; ///< NULL unless `deep`
};

/// One accepted connection.
struct storm_conn {
    uint32_t cid;
    unsigned seat;
    bool honest;
    bool connected;
    bool lingering;              ///< lost; its players wait for the client
    bool received;               ///< the server has accepted a datagram of it
    struct storm_conn *previous; ///< connection whose players this one took over; NULL: it joined
    bool took_over;              ///< `previous` was connected or lingering then
    bool welcomed;               ///< the client's ACCEPT was sent
    bool resumed; ///< the client's WELCOME says that the messages of `previous` go on
    uint8_t reset_token[HC_RESET_TOKEN_SIZE]; ///< reset token of the client's WELCOME
    uint16_t welcome_port;                    ///< port that the WELCOME was sent to
    uint16_t home_port;                       ///< port that the server has validated last
    uint64_t client_id;
    hc_tick begun; ///< the server's head when it was accepted
    uint64_t joined_us, dropped_us;
    uint64_t lost_us;     ///< when it began to linger; 0: never
    uint64_t freed_us;    ///< when its players were free, or another connection's
    uint64_t received_us; ///< when the server accepted a datagram of it last, or the connection
    uint64_t sent_us;     ///< when its client sent a datagram last
    uint64_t first_us;    ///< when its client accepted its first snapshot; 0: not yet
    uint16_t close_ports[STORM_CLOSES]; ///< ports of CLOSEs that are not answered yet; 0: none
    unsigned closes;                    ///< CLOSEs that came
    hc_tick snapshot_head;              ///< head of the newest snapshot sent to it, or HC_NO_TICK
    hc_tick full_head;                  ///< head of the newest snapshot that was full
    uint8_t player_count;
    hc_player players[HC_OWN_PLAYERS_MAX];
    struct storm_sent *sent; ///< [STORM_SENT] by head
    hc_tick first, end;      ///< the client has sent inputs of [first, end); equal: none
    uint8_t *inputs;         ///< [STORM_TICKS_MAX][player_count][input_size]
    uint8_t *has_input;      ///< [STORM_TICKS_MAX]
    uint8_t *accepted;       ///< [STORM_SEQS] by the server
};

struct storm_conns {
    const struct hc_game *game;
    unsigned count;
    struct storm_conn conns[STORM_CONNS_MAX];
    int newest[STORM_CLIENTS_MAX]; ///< of each seat, -1: none
    struct hc_body body;           ///< to read messages with
};

void storm_conns_init(struct storm_conns *conns, const struct hc_game *game);
void storm_conns_free(struct storm_conns *conns);

/// Takes in an event of the server at `head`, of the client in `seat`. Returns the connection, or
/// NULL: unknown, or too many to follow.
struct storm_conn *storm_conns_event(struct storm_conns *conns, const struct hc_server_event *event,
                                     unsigned seat, bool honest, hc_tick head, uint64_t now_us);

/// The connection of that cid in that seat, NULL: none.
struct storm_conn *storm_conns_find(struct storm_conns *conns, unsigned seat, uint32_t cid);

/// The connection of that cid in any seat; NULL: none.
struct storm_conn *storm_conns_any(struct storm_conns *conns, uint32_t cid);

/// How many linger.
unsigned storm_conns_lingering(const struct storm_conns *conns);

/// The input that own player `own` sent for `tick`. A second one does not replace the first; false:
/// it is another.
bool storm_conn_add_input(const struct storm_conns *conns, struct storm_conn *conn, unsigned own,
                          hc_tick tick, const uint8_t *input);

/// The input that `player` of the connection sent for `tick`; NULL: none.
const uint8_t *storm_conn_input(const struct storm_conns *conns, const struct storm_conn *conn,
                                hc_player player, hc_tick tick);
