/// The connections of a match as its oracles see them: who plays which player, and what each
/// client has stamped.
#pragma once

#include "proto/body.h"
#include "server/host.h"
#include "tests/storm/allowance.h"
#include "tests/storm/elsewhere.h"
#include "tests/storm/plan.h"
#include "tests/storm/rtt.h"
#include "tests/storm/talk.h"
#include "tests/storm/verdict.h"

enum {
    STORM_CONNS_MAX = 256,
    STORM_SENT = 1024, ///< snapshots remembered
};

/// A snapshot that was sent: what it had to show, of whatever it told.
struct storm_sent {
    hc_tick as_of, tick;
    bool full;                  ///< something may have been left out,
    bool cut;                   ///< or inputs up to the head
    uint64_t *units;            ///< [units] storm_unit_digest at the tick; NULL: this is none
    uint64_t *bases;            ///< [players] storm_unit_base there
    uint64_t *beside;           ///< [players] storm_beside_digest from there on
    uint8_t *presence, *states; ///< NULL unless worlds are kept
};

/// One accepted connection.
struct storm_conn {
    uint32_t cid;
    unsigned seat;
    bool honest;
    bool there; ///< the server has not let go of it
    bool kept;  ///< it is lost, and its players wait for who comes back
    bool heard; ///< the server has taken something of it
    /// The one whose place it took, and whose players: they had joined before. NULL: none.
    struct storm_conn *before;
    bool took;     ///< that one was there then, or its players were kept
    bool welcomed; ///< it was sent its ACCEPT
    bool goes_on;  ///< its WELCOME says that what was said to the one before goes on
    uint8_t reset_token[HC_RESET_TOKEN_SIZE]; ///< that its WELCOME gave it,
    uint16_t port;                            ///< for this port
    uint64_t client_id;
    hc_tick begun; ///< the server's head then
    uint64_t joined_us, dropped_us;
    uint64_t lost_us;     ///< when it was lost and its players began to be kept; 0: it was not
    uint64_t freed_us;    ///< when its players were free, or another's
    uint64_t received_us; ///< when the server took something of it last, or began it
    struct storm_wait in; ///< of what the server has taken of it
    uint32_t late_limit,
        late_limit_before; ///< storm_rtt_late_limit at the newest advance, and before it
    uint64_t sent_us;      ///< when its client sent something last
    uint8_t player_count;
    hc_player players[HC_OWN_PLAYERS_MAX];
    uint64_t shown_us;     ///< when its client took its first snapshot; 0: not yet
    uint32_t shown_back;   ///< that one's as_of - T; ticks
    hc_tick snapshot_head; ///< head at the newest snapshot sent to it, or HC_NO_TICK
    hc_tick full_head; ///< head of the newest snapshot in which something may have been left out
    struct storm_sent *sent; ///< [STORM_SENT] by head at sending
    hc_tick first, end;      ///< its stamps lie in [first, end); equal: none
    uint8_t *stamps;         ///< [STORM_TICKS_MAX][player_count][input_size]
    uint8_t *stamped;        ///< [STORM_TICKS_MAX] 1: stamped
    struct storm_allowance allowance;
    struct storm_elsewhere elsewhere;
    struct storm_talk_conn talk; ///< of what goes on with it
};

struct storm_conns {
    const struct hc_game *game;
    struct storm_verdict *verdict;
    unsigned count;
    struct storm_conn conns[STORM_CONNS_MAX];
    int newest[STORM_CLIENTS_MAX]; ///< of each seat, -1: none
    struct hc_body body;
};

void storm_conns_init(struct storm_conns *conns, const struct hc_game *game,
                      struct storm_verdict *verdict);
void storm_conns_free(struct storm_conns *conns);

/// The server at `head` has accepted, or let go of, the client in `seat`. Returns the connection,
/// or NULL when there are too many to follow.
struct storm_conn *storm_conns_event(struct storm_conns *conns, const struct hc_sv_event *event,
                                     unsigned seat, bool honest, hc_tick head, uint64_t now_us);

/// The connection of that cid, NULL: none.
struct storm_conn *storm_conns_find(struct storm_conns *conns, unsigned seat, uint32_t cid);

/// How many are lost whose players are kept.
unsigned storm_conns_kept(const struct storm_conns *conns);

/// The connection of that cid, whoever's; NULL: none.
struct storm_conn *storm_conns_named(struct storm_conns *conns, uint32_t cid);

/// A client sends a DATA: what it stamps is remembered. Fails when a stamp is another than before,
/// or when stamps are not consecutive: none may be left out but those of ticks before `refusal`,
/// which the server would not take any more.
void storm_conns_sent(struct storm_conns *conns, unsigned seat, hc_tick late_limit, uint64_t now_us,
                      const uint8_t *bytes, size_t size);

/// What `player` of the connection was stamped at `tick`; NULL: nothing.
const uint8_t *storm_conn_stamp(const struct storm_conns *conns, const struct storm_conn *conn,
                                hc_player player, hc_tick tick);
