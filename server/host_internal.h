/// The inside of a host, shared by its files: host (ticks and lifecycle), handshake, receive (data
/// of clients) and path (addresses, tickets and messages).
#pragma once

#include "hindcast/check.h"
#include "proto/ratchet.h"
#include "server/forged.h"
#include "server/host.h"
#include "server/peer.h"
#include "server/address_limit.h"
#include "server/refused_clients.h"
#include "server/replication/replicator.h"
#include "server/spent_tokens.h"

enum {
    HC_SV_CID_INDEX_BITS = 12, ///< of a cid, the lowest: the peer's place; the rest is random,
                               ///< but none that a connection had that ended lately
    HC_SV_EVENTS = 256,        ///< events waiting to be polled
    HC_SV_ENDED_EACH = 32,     ///< ended connections remembered, for each place of a client: more
                               ///< than one client_id has in 20 s
    HC_SV_RESETS_US = 50000,   ///< of all RESETs so much at once
    HC_SV_RESETS_WAIT = HC_REPLIES_MAX / 2, ///< so many may wait: the rest is for handshakes
};
/// The seq at which a connection is lost for its client: an honest one has made another connection
/// 2^30 datagrams ago.
#define HC_SV_SEQ_MAX HC_SEQ_LOST

_Static_assert(HC_SV_CLIENTS_MAX <= 1 << HC_SV_CID_INDEX_BITS,
               "a cid must hold every peer's place");

/// An answer to a datagram that belongs to no peer, or not yet.
struct hc_sv_reply {
    struct hc_address to;
    size_t size;
    uint8_t bytes[HC_DATAGRAM_ACCEPT_SIZE]; ///< the longest
};

/// The datagram that was handed out last, which goes to another address as well.
struct hc_sv_copy {
    struct hc_address to;
    size_t size; ///< 0: none
    uint8_t bytes[HC_DATAGRAM_MAX];
};

/// A player slot of the world.
struct hc_sv_player {
    uint16_t peer;       ///< whose it is, index + 1; 0: free
    bool in;             ///< its join has been stamped, and no leave
    bool leaving;        ///< its leave is to be stamped
    uint16_t next_owner; ///< of a leaving one: who has it next, index + 1; 0: nobody yet
};

/// A connection that has ended, whose datagrams may still come: its CONNECT is not to be admitted
/// again, nor its DATA taken for another's.
struct hc_sv_ended {
    uint32_t cid;
    uint64_t client_id; ///< of its client: whoever sees a nonce can use it too
    uint8_t client_nonce[HC_NONCE_SIZE];
    bool unheard;      ///< fell silent at once: it may have had no ACCEPT, and still asks
    bool left;         ///< the client has said goodbye, and says it again
    uint64_t until_us; ///< when no cookie of it can be valid any more
};

struct hc_sv_host {
    struct hc_sv_host_config config;
    struct hc_world world;
    struct hc_timeline *timeline;
    struct hc_sv_host_stats stats;
    struct hc_cookie_jar jar;
    struct hc_ratchet ratchet; ///< draws cids, nonces, tickets and ephemeral keys
    uint64_t protocol_id;
    uint64_t epoch_us;  ///< when tick 0 was due, moved on by ticks that were missed
    uint64_t unix_us;   ///< what the world's clocks showed
    uint64_t unix_at;   ///< at this time
    uint64_t resets_us; ///< by when all RESETs would have been sent at the rate allowed
    struct hc_sv_address_limit reset_rate;
    bool shutting_down;

    struct hc_sv_secrets secrets;
    struct hc_sv_replicator replicator;

    struct hc_sv_peer *peers;     ///< [clients]
    uint8_t *peer_memory;         ///< of all of them
    struct hc_sv_player *players; ///< [world.players]
    unsigned send_cursor;         ///< peers before it have been served in this round

    struct hc_sv_reply replies[HC_REPLIES_MAX];
    unsigned reply_first, reply_count;
    struct hc_sv_copy copy;
    struct hc_sv_event events[HC_SV_EVENTS];
    unsigned event_first, event_count;
    struct hc_sv_ended *ended; ///< [clients][HC_SV_ENDED_EACH], a ring for each place
    struct hc_sv_address_limit rate;
    struct hc_sv_spent spent;
    uint8_t *spent_memory;
    struct hc_sv_refused refused;
    struct hc_sv_forged forged;
    unsigned unheard;                ///< messages of clients' games that wait to be heard
    unsigned message_cursor;         ///< whose are next
    uint8_t opened[HC_DATAGRAM_MAX]; ///< the DATA being read
    struct hc_body body;             ///< its body
};

/// Ends a peer: its players leave at the next tick, and CLOSE is sent when `say` is true.
void hc_sv_host_drop(struct hc_sv_host *host, struct hc_sv_peer *peer, enum hc_sv_event_kind kind,
                     enum hc_close_reason close, bool say, uint64_t now_us);

/// The connection of a client is lost: it is kept, or else dropped.
void hc_sv_host_lose(struct hc_sv_host *host, struct hc_sv_peer *peer, uint64_t now_us);

/// Remembers that a connection has ended: its CONNECT may come late. `unheard`: nothing has come on
/// it; `left`: its client says goodbye.
void hc_sv_host_remember_ended(struct hc_sv_host *host, struct hc_sv_peer *peer, bool unheard,
                               bool left, uint64_t now_us);

/// Tells the embedder about `peer`.
void hc_sv_host_event(struct hc_sv_host *host, const struct hc_sv_peer *peer,
                      enum hc_sv_event_kind kind, enum hc_close_reason close);

/// Microseconds since the head was due, at most HC_PHASE_MAX_US.
uint32_t hc_sv_host_phase_us(const struct hc_sv_host *host, uint64_t now_us);

/// `size` bytes, at most HC_RATCHET_SIZE, that nobody can predict, different at every call.
void hc_sv_host_unpredictable(struct hc_sv_host *host, uint8_t *out, size_t size);

/// Inputs of the peer for ticks before head - this are refused.
uint32_t hc_sv_host_late_limit(const struct hc_sv_host *host, const struct hc_sv_peer *peer);

/// The peer whose connection has this cid, or had it last; NULL: none.
struct hc_sv_peer *hc_sv_host_peer(struct hc_sv_host *host, uint32_t cid);

/// Unix time in microseconds.
uint64_t hc_sv_host_unix_us(const struct hc_sv_host *host, uint64_t now_us);

/// Unix time in seconds.
uint64_t hc_sv_host_unix_s(const struct hc_sv_host *host, uint64_t now_us);

/// Whether as many clients, `except` apart, are connected from an address or its prefix as may be.
bool hc_sv_host_address_is_full(const struct hc_sv_host *host, const struct hc_address *address,
                                const struct hc_sv_peer *except);

/// Answers a DATA of a connection that nobody knows of, if it may be answered.
void hc_sv_handshake_reset(struct hc_sv_host *host, const struct hc_address *from, uint32_t cid,
                           uint32_t seq, uint64_t now_us);

/// Writes what is to be said to the peer now beside snapshots, and where it goes; returns its size,
/// 0 when nothing is.
size_t hc_sv_send_messages(struct hc_sv_host *host, struct hc_sv_peer *peer, struct hc_address *to,
                           uint8_t out[static HC_DATAGRAM_MAX], uint64_t now_us);

/// How a DATA of a peer stands to those that came before it.
enum hc_sv_arrival { HC_SV_ARRIVAL_NEWEST, HC_SV_ARRIVAL_LATE, HC_SV_ARRIVAL_DUPLICATE };

/// Whether a duplicate with this seq may say something of the peer's address: it is worth opening.
bool hc_sv_path_wants_duplicate(const struct hc_sv_peer *peer, const struct hc_address *from,
                                uint32_t seq, uint64_t now_us);

/// A DATA of `size` bytes came from an address.
void hc_sv_path_received(struct hc_sv_host *host, struct hc_sv_peer *peer,
                         const struct hc_address *from, uint32_t seq, size_t size,
                         enum hc_sv_arrival how, uint64_t now_us);

/// A snapshot of the peer is sent, `size` bytes at `bytes`: it goes to the address that the peer
/// has still to show as well, if that may be sent so much.
void hc_sv_path_copy(struct hc_sv_host *host, struct hc_sv_peer *peer, const uint8_t *bytes,
                     size_t size, uint64_t now_us);

/// The peer has answered a PATH_CHALLENGE from an address.
void hc_sv_path_response(struct hc_sv_host *host, struct hc_sv_peer *peer,
                         const struct hc_address *from, const uint8_t data[static HC_PATH_SIZE],
                         uint64_t now_us);

/// Answers HELLO and CONNECT. HC_OK or why the datagram was refused.
enum hc_status hc_sv_handshake_receive(struct hc_sv_host *host, const struct hc_address *from,
                                       const uint8_t *bytes, size_t size, uint64_t now_us);

/// Takes a DATA of a client. HC_OK or why it was refused; then nothing changed.
enum hc_status hc_sv_receive_data(struct hc_sv_host *host, const struct hc_address *from,
                                  const uint8_t *bytes, size_t size, uint64_t now_us);

/// Closes the unknown slots of a peer's player before `before`, counts them and remembers them to
/// be told.
void hc_sv_receive_force(struct hc_sv_host *host, struct hc_sv_peer *peer, hc_player player,
                         hc_tick before);

/// Whether `player` is the peer's now: it has joined for it, and has not left.
bool hc_sv_host_plays(const struct hc_sv_host *host, const struct hc_sv_peer *peer,
                      hc_player player);
