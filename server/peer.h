/// One client as the server sees it: its user, its connection and its replication.
///
/// A client that loses its connection lingers for a while. If it reconnects in time, its new
/// connection replaces the lost one, and it has its players again. The state changes so:
///
///     hc_sv_peer_open          FREE, CLOSING                       to FREE
///     hc_sv_peer_connect       FREE, PLAYING, LOST, LINGERING      to PLAYING
///     hc_sv_peer_lose          PLAYING                             to LOST
///     hc_sv_peer_end           PLAYING, LOST                       to CLOSING
///     hc_sv_peer_end           PLAYING without CLOSE, LINGERING    to FREE
///     hc_sv_peer_closed        PLAYING, LOST                       to FREE
///     hc_sv_peer_close_ended   LOST, by the last CLOSE or an ack   to LINGERING
///     hc_sv_peer_close_ended   CLOSING, the same                   to FREE
#pragma once

#include "hindcast/game.h"
#include "hindcast/server.h"
#include "proto/connection.h"
#include "proto/message.h"
#include "server/contest.h"
#include "server/lateness.h"
#include "server/margin.h"
#include "server/names.h"
#include "server/notices.h"
#include "server/replication/client.h"
#include "server/validation.h"

enum {
    HC_SV_SEEN = 2048, ///< ticks: more than history and future
    HC_SV_TICKET_SEQS = 4,
};

enum hc_sv_peer_state {
    HC_SV_PEER_FREE,
    HC_SV_PEER_PLAYING,
    HC_SV_PEER_LOST, ///< the connection is lost, and CLOSE is still being sent; the client lingers
    HC_SV_PEER_LINGERING, ///< no CLOSE is sent any more; its players wait for the client
    HC_SV_PEER_CLOSING,   ///< the session has ended; CLOSE is still being sent
    HC_SV_PEER_STATES
};

/// A client's user, from its token.
struct hc_sv_user {
    uint64_t client_id;
    uint8_t token_id[HC_TOKEN_ID_SIZE]; ///< of the newest connection's token
    bool by_ticket;                     ///< the newest connection's token is a ticket
    bool begun_elsewhere;               ///< a ticket opened the session: its token is not known
    uint8_t players;                    ///< the most local players
    bool watch;                         ///< the client may be a spectator
    uint64_t begun_s;                   ///< the beginning of its session, Unix time
    uint64_t end_us;                    ///< the end of its session; 0: no limit
    uint64_t ticket;                    ///< greatest number of a ticket that it used or was sent
    uint8_t name[HC_TOKEN_NAME_SIZE];   ///< padded with zeros
    uint8_t user_data[HC_TOKEN_USER_DATA_SIZE];
};

/// Whether the path to an address to which the client has moved may carry less than a full DATA,
/// because no handshake has tested it.
struct hc_sv_narrow {
    bool any;          ///< until the client acks a larger body than HC_PATH_BODY_MAX
    uint32_t tried;    ///< seq of a DATA with one; 0: none yet
    uint64_t tried_us; ///< when that was sent
};

/// The newest ticket of a client, which is sent until the client acks it.
struct hc_sv_ticket {
    bool any, acked;
    uint64_t made_us;
    uint32_t seqs[HC_SV_TICKET_SEQS]; ///< of the newest datagrams that carried it; 0: none
    uint32_t sends;                   ///< datagrams that carried it
    uint64_t sent_us;                 ///< when the newest of them was sent
    struct hc_ticket ticket;
};

/// News of a session that the program has not read.
struct hc_sv_unread {
    unsigned kinds; ///< a bit for each hc_server_event_kind
    uint32_t cid;   ///< the cid by which the program knows the session
};

/// The answer to the newest COMPARE of a client that could be answered.
struct hc_sv_answer {
    bool any, due;
    uint32_t answers;           ///< COMPAREs of the connection so far
    hc_tick as_of;              ///< head of the snapshot
    hc_tick tick;               ///< tick of the snapshot
    hc_unit unit;               ///< the first that differs
    struct hc_unit_value value; ///< of that unit, as it was sent; in memory of the peer's own
};

/// The newest connection of a session that its client is known to have had, before the present one.
struct hc_sv_former {
    uint32_t cid; ///< 0: none
    uint8_t continue_key[HC_SEAL_KEY_SIZE];
};

/// The datagrams of a session, but handshakes, CLOSEs and copies.
struct hc_sv_traffic {
    uint64_t datagrams_in, bytes_in;
    uint64_t datagrams_out, bytes_out;
    uint64_t lost; ///< datagrams sent that counted as lost
};

/// A peer. The members that every datagram and every tick read come first, close together: between
/// two ticks a peer leaves the processor's caches.
struct hc_sv_peer {
    enum hc_sv_peer_state state; ///< only peer.c writes to it
    bool ever_received; ///< a DATA of the client was received, on this connection or one before
    bool messages_due;
    bool messages_sent; ///< since the newest snapshot
    bool snapshot_due;
    bool snapshot_starved;  ///< the newest one found too little bandwidth: one is due at every tick
    uint8_t snapshot_every; ///< the client is sent one in this many of its snapshots
    hc_tick snapshot_tick;  ///< to be shown when a snapshot was last asked for
    int32_t snapshot_credit; ///< snapshots that it lacks, in ticks times snapshots a second
    uint32_t forged;         ///< datagrams of this tick that named it and could not be opened
    hc_tick active_at;       ///< head when an input last differed from the one before
    /// [own][tick % HC_SV_SEEN] tick + 1 of an input that was counted
    hc_tick (*seen)[HC_SV_SEEN];
    uint64_t late_inputs; ///< that were taken, of the session
    uint64_t late_ticks;  ///< by which its late inputs went back, in all
    struct hc_sv_traffic traffic;
    uint64_t lingers_until_us;  ///< while it lingers
    uint64_t flood_us;          ///< the end of all received datagrams at the allowed rate
    uint64_t flood_bytes_us;    ///< the end of all received bytes at the allowed rate
    struct hc_address address;  ///< of the connection
    struct hc_sv_former former; ///< until a DATA arrives on the present connection
    uint64_t unproven_us;       ///< the end of all wrong proofs of `continues` at the allowed rate
    struct hc_sv_lateness lateness; ///< of the inputs of the session
    struct hc_sv_narrow narrow;
    uint8_t newest_input[HC_OWN_PLAYERS_MAX][HC_INPUT_MAX];
    struct hc_connection connection;
    struct hc_sv_client replication;
    struct hc_sv_validation validation;
    struct hc_sv_contest contest;
    struct hc_sv_margin margin;      ///< of the inputs of the connection
    struct hc_sv_ticket ticket;      ///< of the connection
    struct hc_sv_names names;        ///< of the connection
    struct hc_sv_delivery delivery;  ///< of the session
    struct hc_sv_answer answer;      ///< of the connection
    struct hc_difference difference; ///< of the CLOSE of a client that computes another world
    struct hc_reliable_channel messages;
    struct hc_sv_user user;
    struct hc_sv_unread unread; ///< of the session
    unsigned ended_next;        ///< in this peer's ring of ended connections
    uint8_t client_nonce[HC_NONCE_SIZE];
    uint8_t accept[HC_DATAGRAM_ACCEPT_SIZE]; ///< built once, resent byte-identical
    bool accept_repeated;                    ///< without another CONNECT
    struct hc_server_farewell farewell;      ///< of the connection; sizes 0: not made yet
};

/// Lays out the memory of a peer from `base` (NULL: only measures); returns the bytes needed.
size_t hc_sv_peer_layout(struct hc_sv_peer *peer, struct hc_sv_replicator *replicator,
                         uint8_t *base);

/// Whether the peer's connection is lost and its players wait for the client.
static inline bool hc_sv_peer_lingers(const struct hc_sv_peer *peer) {
    return peer->state == HC_SV_PEER_LOST || peer->state == HC_SV_PEER_LINGERING;
}

/// Whether the peer has a client, connected or lingering.
static inline bool hc_sv_peer_has_session(const struct hc_sv_peer *peer) {
    return peer->state == HC_SV_PEER_PLAYING || hc_sv_peer_lingers(peer);
}

/// Opens a peer, which has been laid out, for a new client. Of the client before no CLOSE is sent
/// any more.
void hc_sv_peer_open(struct hc_sv_peer *peer);

/// Gives a peer the new connection that `connect` asks for, on which it is sent at most `rate`
/// bytes/s. Its players and its messages stay.
void hc_sv_peer_connect(struct hc_sv_peer *peer, uint32_t cid, const struct hc_seal_keys *keys,
                        const struct hc_connect *connect, uint32_t rate,
                        const struct hc_address *address, uint64_t now_us);

/// The farewell of a client that plays, for its present address.
const struct hc_server_farewell *hc_sv_peer_farewell(struct hc_sv_peer *peer);

/// Begins to load what the next datagram to the client reads into the processor's cache, all but
/// what the peer points to.
void hc_sv_peer_prefetch(const struct hc_sv_peer *peer);

/// Counts a datagram of `size` bytes; true: the client sent too many, and this one is dropped.
bool hc_sv_peer_floods(struct hc_sv_peer *peer, size_t size, uint64_t now_us);

/// The connection is lost: CLOSE is sent, and the peer lingers.
void hc_sv_peer_lose(struct hc_sv_peer *peer, uint64_t lingers_until_us, uint64_t now_us);

/// Ends the session. A connection that is not lost is closed, with CLOSE if `send_close`; a CLOSE
/// that is still being sent says so from now on.
void hc_sv_peer_end(struct hc_sv_peer *peer, const struct hc_close *close, bool send_close,
                    uint64_t now_us);

/// Ends the session, because its client sent CLOSE.
void hc_sv_peer_closed(struct hc_sv_peer *peer, const struct hc_close *close);

/// If no CLOSE is to be sent any more, frees the peer or lets it linger.
void hc_sv_peer_close_ended(struct hc_sv_peer *peer);

/// Microseconds after which a datagram is sent again that is not acked (RFC 6298), at least
/// `least_us`.
uint64_t hc_sv_peer_resend_us(const struct hc_sv_peer *peer, uint64_t least_us);

/// Takes a DATA that was opened, with its acks of snapshots and tickets. `*newest`: its seq is
/// greater than all before. Unless it returns HC_OK, nothing changed. `ack_delay_us` is the time
/// that the client reports between the newest acked datagram and this one.
enum hc_status hc_sv_peer_accept(struct hc_sv_peer *peer, const struct hc_data *data,
                                 uint32_t ack_delay_us, bool *newest, uint64_t now_us);

/// The most bytes of the body of a DATA without a snapshot. Lost snapshots are followed by smaller
/// ones; messages cannot shrink.
uint32_t hc_sv_peer_messages_most(const struct hc_sv_peer *peer, uint64_t now_us);

/// As hc_connection_wrap; a body that tests the path is noted.
size_t hc_sv_peer_wrap(struct hc_sv_peer *peer, uint8_t out[static HC_DATAGRAM_MAX],
                       size_t body_size, uint64_t now_us);

/// Writes the next due CLOSE; returns its size, 0: none is due. After the last the peer is free or
/// lingers.
size_t hc_sv_peer_send_close(struct hc_sv_peer *peer, uint8_t out[static HC_DATAGRAM_MAX],
                             uint64_t now_us);

/// Writes all but the session to `out`, as it is at `now_us`.
void hc_sv_peer_describe(const struct hc_sv_peer *peer, struct hc_server_client *out,
                         uint64_t now_us);
