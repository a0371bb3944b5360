/// One client as the host sees it: its user, its connection and its replication.
///
/// A client that loses its connection lingers for a while. If it reconnects in time, its new
/// connection replaces the lost one, and it has its players again.
#pragma once

#include "hindcast/game.h"
#include "proto/ack.h"
#include "proto/address.h"
#include "proto/datagram.h"
#include "proto/events.h"
#include "proto/limits.h"
#include "proto/message.h"
#include "proto/seal.h"
#include "server/lateness.h"
#include "server/replication/client.h"

enum {
    HC_SV_SEEN = 2048, ///< ticks: more than history and future together
    HC_SV_CLOSE_PERIOD_US = HC_CLOSE_PERIOD_US,
    HC_SV_TICKET_SEQS = 4,
    HC_SV_FLOOD_PACKETS = HC_FLOOD_DATAGRAMS,
    HC_SV_FLOOD_BYTES = HC_FLOOD_BYTES,
    HC_SV_FLOOD_US = HC_FLOOD_US,
};

enum hc_sv_peer_state {
    HC_SV_PEER_FREE,
    HC_SV_PEER_PLAYING,
    HC_SV_PEER_CLOSING,   ///< its players have left, or are kept; CLOSE is still being sent
    HC_SV_PEER_LINGERING, ///< its connection is lost; its players wait for another one
};

/// Who a client is, as its token says.
struct hc_sv_user {
    uint64_t client_id;
    uint8_t token_id[HC_TOKEN_ID_SIZE]; ///< of the token that its present connection came with
    bool by_ticket;                     ///< that token is a ticket
    uint8_t players;                    ///< the most local players that it may have
    bool watch;                         ///< it may be a spectator
    uint64_t begun_s;                   ///< when its session began, Unix time
    uint64_t end_us;                    ///< when its session has lasted for long enough; 0: never
    uint64_t ticket;                    ///< greatest number of a ticket that it used or was given
    uint8_t name[HC_TOKEN_NAME_SIZE];   ///< padded with zeros
    uint8_t user_data[HC_TOKEN_USER_DATA_SIZE];
};

/// Another address from which the newest datagrams of a client come: its own only if it answers
/// from there (RFC 9000, 8.2 and 9.3). Until then it is asked, and sent what the old address is
/// sent, lest the client lose more than a round trip; all in all at most HC_PATH_FACTOR the bytes
/// that came from it (8.1).
///
/// It may be a thief's, who sees the client's datagrams and brings copies of them first. So nothing
/// that goes there is of the client's share, nor does it say anything of the client's path if it is
/// lost; and who is asked in vain, at one address or at many, is asked more and more rarely.
struct hc_sv_path {
    bool any;
    bool held;  ///< nothing is sent there, because the present address is in use as well
    bool open;  ///< nothing that goes to the present address is acknowledged
    bool late;  ///< it came up by a duplicate
    bool homed; ///< it, or one before it in a row, is the client's home
    bool full;  ///< as many clients are connected from there as may be: nothing is sent there
    struct hc_address address;
    uint8_t data[HC_PATH_SIZE];
    uint32_t first;    ///< seq of the datagram by which it, or one before it in a row, came up
    uint64_t begun_us; ///< when that came
    uint64_t bytes_in, bytes_out;
    uint32_t asked;    ///< in a row without an answer, at whatever addresses
    uint64_t asked_us; ///< when last; meaningful if it was
};

/// Whether a client uses two addresses at once: then one of them is that of a relay, which copies
/// its datagrams. A datagram shows it that comes from the present or the former address though its
/// seq is not below the one by which the other address came up; duplicates count.
///
/// A relay can win every race, and can hand PATH_CHALLENGEs on. So while two addresses are in use
/// the client keeps the one that it has shown earlier, as long as it acknowledges at least half of
/// what goes there and nowhere else.
struct hc_sv_contest {
    bool any;          ///< two addresses were in use,
    uint64_t seen_us;  ///< for the last time then
    bool moved;        ///< it had the former address
    uint32_t first;    ///< until this seq of the client's came from the present one,
    uint64_t moved_us; ///< which was shown then
    struct hc_address former;
    struct hc_address home;   ///< that has served it last for long: a relay's many have not
    uint64_t held_us;         ///< when it got the present address
    uint32_t since;           ///< seqs from this on went to the present address alone
    uint32_t loss_checked_to; ///< newest of the client's acks that has been looked at
    uint64_t acked_us;        ///< when a new one last showed that at least half of them arrive
};

/// Whether the path to an address to which the client has moved may carry less than a full DATA: no
/// handshake has shown that it carries one.
struct hc_sv_narrow {
    bool any;          ///< until a larger body than HC_PATH_BODY_MAX has arrived
    uint32_t tried;    ///< seq of a DATA with one; 0: none yet
    uint64_t tried_us; ///< when that was sent
};

/// The ticket that a client has, or is being told.
struct hc_sv_ticket {
    bool any, acked;
    uint64_t made_us;
    uint32_t seqs[HC_SV_TICKET_SEQS]; ///< of the newest datagrams that carried it; 0: none
    uint32_t told;                    ///< how often it was told
    uint64_t told_us;                 ///< when last
    struct hc_ticket ticket;
};

struct hc_sv_peer {
    enum hc_sv_peer_state state;
    uint64_t lingers_until_us; ///< end of the wait of a client without connection; 0: none waits

    // Of the client.
    struct hc_sv_user user;
    struct hc_sv_client replication;
    bool heard_once; ///< a datagram of the client was received, on this connection or one before
    struct hc_events_out events_out;
    struct hc_events_in events_in;
    uint8_t *events_bytes; ///< of both
    /// [own][tick % HC_SV_SEEN] tick + 1 of an input that has been counted
    hc_tick (*seen)[HC_SV_SEEN];

    // Of the connection.
    uint32_t cid;
    uint32_t continues; ///< cid of the connection before, until a datagram is received on this; 0:
                        ///< none
    struct hc_address address;
    uint8_t client_nonce[HC_NONCE_SIZE];
    uint8_t accept[HC_DATAGRAM_ACCEPT_SIZE]; ///< built once, resent byte-identical
    struct hc_sealer sealer;
    uint8_t c2s[HC_SEAL_KEY_SIZE];
    uint32_t forged; ///< datagrams of this tick that named the connection and were opened in vain
    struct hc_replay replay;
    struct hc_sent sent;
    uint32_t acked;           ///< the newest acked seq
    uint32_t loss_checked_to; ///< seqs before it are acked or lost
    uint64_t received_us;     ///< when the newest valid datagram was received
    uint64_t newest_us;       ///< when the datagram that is acked as newest was received
    uint64_t sent_us;         ///< when the newest datagram was sent
    uint64_t flood_us;        ///< when all received datagrams would have come at the allowed rate
    uint64_t flood_bytes_us;  ///< and all their bytes
    uint64_t srtt_us;         ///< the round trip smoothed as in RFC 6298; 0: none yet
    struct hc_sv_path path;
    struct hc_sv_contest contest;
    struct hc_sv_narrow narrow;
    struct hc_sv_ticket ticket;
    struct hc_sv_lateness lateness; ///< of the client's inputs
    bool messages_due;
    bool messages_sent; ///< since the newest snapshot
    bool snapshot_due;
    bool snapshot_starved; ///< the newest due snapshot found too little bandwidth, so one is due at
                           ///< every tick
    enum hc_close_reason close;
    unsigned closes_left;
    uint64_t close_us; ///< when the next CLOSE is due

    unsigned ended_next; ///< in the ring of ended connections of this place
};

/// Lays out the memory of a peer from `base` (NULL: only measures); returns the bytes needed.
size_t hc_sv_peer_layout(struct hc_sv_peer *peer, const struct hc_world *world, uint8_t *base);

/// Takes a free peer into use, that has been laid out, and connects it.
void hc_sv_peer_open(struct hc_sv_peer *peer, uint32_t cid, uint32_t rate,
                     const struct hc_address *address,
                     const uint8_t client_nonce[static HC_NONCE_SIZE], uint64_t now_us);

/// Gives a peer another connection; `rate` bytes/s is the most it is sent. Its players and its
/// events stay as they are.
void hc_sv_peer_connect(struct hc_sv_peer *peer, uint32_t cid, uint32_t rate,
                        const struct hc_address *address,
                        const uint8_t client_nonce[static HC_NONCE_SIZE], uint64_t now_us);

/// The channel of events begins anew, in both directions.
void hc_sv_peer_begin_events(struct hc_sv_peer *peer);

/// Whether a datagram of `size` bytes that came now is one of too many.
bool hc_sv_peer_floods(struct hc_sv_peer *peer, size_t size, uint64_t now_us);

/// From now on only CLOSE is sent, for `reason`.
void hc_sv_peer_close(struct hc_sv_peer *peer, enum hc_close_reason reason, uint64_t now_us);

/// Judges and takes what every DATA carries beside its body; on HC_OK the peer has been heard, and
/// what was acknowledged is no longer told again. Otherwise nothing changed. `ack_delay_us` is how
/// long the client says it had held what it acknowledges as newest.
enum hc_status hc_sv_peer_accept(struct hc_sv_peer *peer, const struct hc_data *data,
                                 uint32_t ack_delay_us, uint64_t now_us);

/// The most bytes that the body of a DATA without a snapshot may have now. Snapshots become smaller
/// when they are lost; events do not.
uint32_t hc_sv_peer_messages_most(const struct hc_sv_peer *peer, uint64_t now_us);

/// Writes the DATA header around a body of `body_size` bytes that stands at HC_DATA_BODY_AT of
/// `out`, numbered and acknowledging, and seals it; returns the datagram's size, 0 when no seq is
/// left.
size_t hc_sv_peer_wrap(struct hc_sv_peer *peer, uint8_t out[static HC_DATAGRAM_MAX],
                       size_t body_size, uint64_t now_us);

/// Writes the next CLOSE that is due; returns its size, 0 when none is. After the last the peer is
/// free, or kept.
size_t hc_sv_peer_send_close(struct hc_sv_peer *peer, uint8_t out[static HC_DATAGRAM_MAX],
                             uint64_t now_us);

/// Microseconds since the datagram that `ack` names came, for the message that says so.
uint32_t hc_sv_peer_ack_delay(const struct hc_sv_peer *peer, uint64_t now_us);
