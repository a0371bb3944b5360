/// What must hold beside the worlds: what goes along with a state, what a client stamps, takes
/// twice or shows, and who is let in.
#pragma once

#include "proto/message.h"
#include "tests/storm/match.h"
#include "tests/storm/conns.h"

struct storm_match;

enum { STORM_SEQS = 32768, STORM_NONCES = 4096 };

/// The datagrams of one connection that a client has taken.
struct storm_seen {
    uint32_t cid, newest;
    uint8_t seqs[STORM_SEQS];
    hc_tick head;          ///< of the newest snapshot
    hc_tick base;          ///< head of the newest base
    hc_tick before, after; ///< of the last two of which one gave way to the other and that was
                           ///< newer by half of what is kept or more
};

/// What is known of a player in [tick, as_of]: its inputs and controls.
uint64_t storm_beside_digest(const struct hc_world *world, const struct hc_timeline *timeline,
                             hc_player player, hc_tick tick, hc_tick as_of);

/// The hash of a world by its definition, field by field.
uint64_t storm_beside_hash(const struct hc_world *world, const uint8_t *presence,
                           const uint8_t *states);

/// A client sends these stamps: they must be what it uses itself.
void storm_beside_stamps(struct storm_match *match, unsigned client, const struct storm_conn *conn,
                         const struct hc_input_message *message, struct hc_input_run *run);

/// A client has answered a DATA: each is taken once, and none is taken for another.
void storm_beside_answered(struct storm_match *match, unsigned client, const uint8_t *bytes,
                           size_t size, enum hc_status status);

/// The server sends one of its handshakes: who is accepted had a cookie.
void storm_beside_door(struct storm_match *match, unsigned client, const uint8_t *bytes,
                       size_t size);

/// A client has received; its newest snapshot is `sent`, and `news` if it has only now come.
void storm_beside_taken(struct storm_match *match, unsigned client, const struct storm_conn *conn,
                        const struct storm_sent *sent, bool news);
