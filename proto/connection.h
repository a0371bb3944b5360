/// One connection, as either end holds it: keys, seqs, acks, round trips, losses, bytes in flight,
/// keep-alive, CLOSE.
///
/// Both ends use the same object; only the keys of the directions change places. It knows neither
/// addresses nor the handshake. Calls belong in this order:
///   1. hc_connection_begin, when the handshake has derived the keys, and hc_connection_carry;
///   2. for each DATA received: hc_connection_open; once every message of its body is decoded and
///      valid, hc_connection_accept, and only then take the messages; hc_connection_measure if one
///      of them reports a wait, and hc_connection_take_round_trip if that has measured one;
///   3. for each DATA sent: hc_connection_room, which may hold it back; hc_connection_writer,
///      hc_connection_put_messages if there is room, then hc_connection_wrap;
///   4. hc_connection_close, then hc_connection_send_close until closes_left is 0, while
///      hc_connection_accept takes the ack of a CLOSE; or, when the peer closes it,
///      hc_connection_take_close, then hc_connection_answer_close for each of its CLOSEs.
/// All may read the members; only connection.c writes to them.
#pragma once

#include "proto/ack.h"
#include "proto/flight.h"
#include "proto/reliable.h"
#include "proto/message.h"
#include "proto/seal.h"

enum hc_connection_end { HC_CONNECTION_CLIENT, HC_CONNECTION_SERVER };

/// A part of what a connection carries that must learn what becomes of its datagrams.
///
/// A part notes the seqs of the datagrams that carry it, and learns of every datagram of the
/// connection, its own or not. A datagram that counted as lost may be acked after all.
struct hc_carried {
    void (*acked)(void *owner, uint32_t seq);
    void (*lost)(void *owner, uint32_t seq); ///< also of acked ones; NULL: the part has a time of
                                             ///< its own after which it is sent again
};

struct hc_connection {
    enum hc_connection_end end; ///< which end this is
    uint32_t cid;               ///< 0: there was no connection yet
    uint64_t begun_us;
    uint32_t body_max; ///< The body of a DATA has at most so many bytes, in this direction.
    struct hc_reliable_channel *messages; ///< borrowed: they outlive a connection that is resumed

    const struct hc_carried *carried; ///< [carried_count] borrowed: all but the messages
    unsigned carried_count;
    void *owner; ///< of these parts, which they are called with

    struct hc_sealer sealer;                ///< of the datagrams sent
    uint8_t open_key[HC_SEAL_KEY_SIZE];     ///< of the datagrams received
    uint8_t continue_key[HC_SEAL_KEY_SIZE]; ///< of the proof that a connection continues this one

    struct hc_received received;
    uint64_t received_us;     ///< when the last valid datagram was received; at first `begun_us`
    uint64_t newest_us;       ///< when the datagram received.newest was received
    uint64_t sent_us;         ///< when the last datagram was sent; at first `begun_us`
    uint32_t acked;           ///< the newest acked seq
    uint32_t loss_checked_to; ///< seqs before it are acked or lost

    uint32_t measured;  ///< newest seq whose round trip was measured; 0: none
    uint64_t srtt_us;   ///< smoothed round trip as in RFC 6298; 0: none was measured
    uint64_t rttvar_us; ///< mean deviation of the round trips as in RFC 6298; 0: none was measured
    struct hc_flight flight; ///< the bound on sent.in_flight
    uint32_t room;           ///< the newest answer of hc_connection_room

    struct hc_close close; ///< reason 0: it is not closed
    bool closed_by_peer;   ///< the peer sent CLOSE
    uint32_t close_seq;    ///< of the first own CLOSE; later seqs are CLOSEs too
    uint32_t closes_left;  ///< own CLOSEs still to be sent; none is left when one is acked
    uint64_t close_us;     ///< when the next of them is due

    struct hc_sent sent; ///< last, because few places of its ring are read
};

/// The acks of a DATA.
struct hc_accepted {
    bool newest;                        ///< the seq of this DATA is greater than all before
    uint32_t ack;                       ///< the newest own seq that the peer had received
    uint32_t count;                     ///< datagrams acked for the first time
    uint32_t bytes;                     ///< of these, with the headers of IP and UDP
    struct hc_acked acked[HC_ACKS_MAX]; ///< datagrams acked for the first time, newest first
    uint32_t lost;                      ///< datagrams that are lost since the DATA before
};

/// Begins a new connection: nothing of an earlier one is left. Messages that are not acked are sent
/// again; the caller begins new ones (hc_reliable_channel_begin) unless the session is resumed.
/// Unreliable messages that were not sent are dropped.
void hc_connection_begin(struct hc_connection *connection, enum hc_connection_end end, uint32_t cid,
                         const struct hc_seal_keys *keys, struct hc_reliable_channel *messages,
                         uint64_t now_us);

/// The connection carries these `count` parts of `owner` besides its messages. The parts are
/// borrowed, and learn in this order.
void hc_connection_carry(struct hc_connection *connection, const struct hc_carried *parts,
                         unsigned count, void *owner);

/// Opens a DATA of `size` bytes into `opened`; `data` points into that. HC_OK or the reason of the
/// refusal; HC_UNEXPECTED: it is of another connection, or this one has not begun or has ended.
/// Changes nothing.
enum hc_status hc_connection_open(const struct hc_connection *connection, const uint8_t *bytes,
                                  size_t size, uint8_t opened[static HC_DATAGRAM_MAX],
                                  struct hc_data *data);

/// Takes the seq and the acks of a DATA that was opened, and lets the messages and the
/// carried parts know: first of the acked datagrams, the oldest first, then of the lost ones.
/// HC_MALFORMED, and nothing changed: it acks a datagram that was never sent.
enum hc_status hc_connection_accept(struct hc_connection *connection, const struct hc_data *data,
                                    uint64_t now_us, struct hc_accepted *accepted);

/// Measures the round trip of the own datagram accepted->ack, less the wait of `delay_us` that the
/// DATA reports. False: a DATA before, or one that acked a newer datagram, has measured it, or it
/// is forgotten. A DATA that reports no wait may be the first to ack it.
bool hc_connection_measure(struct hc_connection *connection, const struct hc_accepted *accepted,
                           uint64_t delay_us, uint64_t now_us, uint64_t *rtt_us);

/// Takes a round trip that was measured, of which `rtt_us` is due to the path of the own datagrams,
/// into the bound on the bytes in flight.
void hc_connection_take_round_trip(struct hc_connection *connection,
                                   const struct hc_accepted *accepted, uint64_t rtt_us,
                                   uint64_t now_us);

/// The path of the own datagrams is another one: nothing is known of it.
void hc_connection_change_path(struct hc_connection *connection, uint64_t now_us);

/// Bytes that the body of the next DATA may have, [0, connection->body_max]; 0: the bound on the
/// bytes in flight holds it back. It is asked before a DATA is made, so one that is held back takes
/// no seq. CLOSE, PATH_CHALLENGE and PATH_RESPONSE need not ask.
uint32_t hc_connection_room(struct hc_connection *connection, uint64_t now_us);

/// Writes the body of the DATA that is wrapped next: into `out` at HC_DATA_BODY_AT, at most
/// connection->body_max bytes.
struct hc_writer hc_connection_writer(const struct hc_connection *connection,
                                      uint8_t out[static HC_DATAGRAM_MAX]);

/// Appends messages of at most `room` bytes to the body of the DATA that is wrapped next, first
/// reliable ones.
void hc_connection_put_messages(struct hc_connection *connection, struct hc_writer *body,
                                size_t room, uint64_t now_us);

/// Numbers and seals the DATA in `out`, whose body of `body_size` bytes is at HC_DATA_BODY_AT.
/// Returns its size; 0: no seq is left.
size_t hc_connection_wrap(struct hc_connection *connection, uint8_t out[static HC_DATAGRAM_MAX],
                          size_t body_size, uint64_t now_us);

/// As hc_connection_wrap, for a DATA to another path than the others: it does not keep the
/// connection alive, and its loss does not count.
size_t hc_connection_wrap_exempt(struct hc_connection *connection,
                                 uint8_t out[static HC_DATAGRAM_MAX], size_t body_size,
                                 uint64_t now_us);

/// Microseconds since the datagram that the next `ack` names was received, at most
/// HC_ACK_DELAY_MAX_US, for the messages that report it.
uint32_t hc_connection_ack_delay_us(const struct hc_connection *connection, uint64_t now_us);

/// When a DATA is due, even an empty one, to keep the connection alive.
uint64_t hc_connection_keep_alive_us(const struct hc_connection *connection);

/// When the connection is lost because nothing was received for `timeout_us`; 0: it has too few
/// seqs left.
uint64_t hc_connection_lost_us(const struct hc_connection *connection, uint64_t timeout_us);

/// Whether the keys were used for as long as they may be: the client makes a new connection.
bool hc_connection_keys_expired(const struct hc_connection *connection, uint64_t now_us);

/// Closes the connection. CLOSE becomes due HC_CLOSES times if `send`; nothing else may be sent,
/// except by hc_connection_answer_close. Again: for another reason.
void hc_connection_close(struct hc_connection *connection, const struct hc_close *close, bool send,
                         uint64_t now_us);

/// When the next CLOSE is due; UINT64_MAX: none is left.
uint64_t hc_connection_close_due_us(const struct hc_connection *connection);

/// Writes the next CLOSE if it is due; returns its size, 0: none is due, or no seq is left.
size_t hc_connection_send_close(struct hc_connection *connection,
                                uint8_t out[static HC_DATAGRAM_MAX], uint64_t now_us);

/// The peer's CLOSE was accepted: it ends the connection, unless that has ended. The peer repeats
/// its CLOSE until it is answered, and hc_connection_open opens nothing else of use any more.
void hc_connection_take_close(struct hc_connection *connection, const struct hc_close *close);

/// Writes the answer to a CLOSE of the peer, a DATA that acks it; returns its size, 0: no seq is
/// left.
size_t hc_connection_answer_close(struct hc_connection *connection,
                                  uint8_t out[static HC_DATAGRAM_MAX], uint64_t now_us);

/// Writes the farewell of a connection that is open: a CLOSE for RESTARTING, with a wait of a
/// second, or for SHUTDOWN. It is the same at each call, and changes nothing: it may be sent by
/// somebody who cannot use the connection, once nobody sends on it any more. Returns its size.
size_t hc_connection_farewell(const struct hc_connection *connection, bool restarts,
                              uint8_t out[static HC_DATAGRAM_MAX]);

/// Whether nothing that arrives on the connection has an effect any more, or it has not begun.
bool hc_connection_is_over(const struct hc_connection *connection);
