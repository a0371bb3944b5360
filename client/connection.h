/// One connection to the server: keys, numbers of datagrams, acks, round trips, keep-alive, CLOSE.
///
/// It knows no game and no world. Calls belong in this order:
///   1. hc_cl_connection_begin when an ACCEPT was opened;
///   2. for each DATA received: hc_cl_connection_open; once all of its body is valid,
///      hc_cl_connection_receive; then hc_cl_connection_measure if it reports a wait;
///   3. hc_cl_connection_advance at hc_cl_connection_deadline; hc_cl_connection_send whenever
///      hc_cl_connection_take is true;
///   4. hc_cl_connection_close, and 3 until closes_left is 0; or hc_cl_connection_lose.
#pragma once

#include "proto/ack.h"
#include "proto/datagram.h"
#include "proto/message.h"
#include "proto/seal.h"

/// All zeros: there was no connection yet. Only connection.c writes to it.
struct hc_cl_connection {
    uint32_t cid;         ///< 0: there was none; stays when it is lost
    bool established;     ///< not lost
    uint64_t accepted_us; ///< when it began
    uint64_t received_us; ///< when the newest valid datagram came

    struct hc_sealer sealer;
    uint8_t s2c[HC_SEAL_KEY_SIZE];
    uint8_t reset_token[HC_RESET_TOKEN_SIZE]; ///< the newest

    struct hc_replay replay;
    uint64_t newest_us; ///< when the datagram replay.newest came
    struct hc_sent sent;
    uint32_t measured; ///< newest seq whose round trip was measured

    bool data_due;
    uint64_t data_us;           ///< when the last DATA became due
    bool path_due;              ///< a PATH_CHALLENGE is to be answered
    uint8_t path[HC_PATH_SIZE]; ///< the newest one
    uint32_t closes_left;       ///< CLOSE to be sent; 0: it does not close
    uint32_t closes_due;
    uint64_t close_us; ///< when the next CLOSE becomes due
};

/// Begins a new connection at `now_us`, with a DATA due. Nothing of an earlier one is left.
void hc_cl_connection_begin(struct hc_cl_connection *connection, uint32_t cid,
                            const struct hc_seal_keys *keys,
                            const uint8_t reset_token[static HC_RESET_TOKEN_SIZE], uint64_t now_us);

/// The connection is lost: no DATA opens any more. Its cid stays.
void hc_cl_connection_lose(struct hc_cl_connection *connection);

/// Replaces the token that a RESET of this connection must carry.
void hc_cl_connection_set_reset_token(struct hc_cl_connection *connection,
                                      const uint8_t reset_token[static HC_RESET_TOKEN_SIZE]);

/// Opens a DATA of `size` bytes into `opened`; `data` points into that. HC_OK or the reason of the
/// refusal. Changes nothing.
enum hc_status hc_cl_connection_open(const struct hc_cl_connection *connection,
                                     const uint8_t *bytes, size_t size,
                                     uint8_t opened[static HC_DATAGRAM_MAX], struct hc_data *data);

/// Counts `data` as received at `now_us`. Writes the datagrams that it is the first to ack to
/// `acked`, newest first, and their number to `*count`. HC_MALFORMED, and nothing changed: it acks
/// a datagram that was never sent.
enum hc_status hc_cl_connection_receive(struct hc_cl_connection *connection,
                                        const struct hc_data *data, uint64_t now_us,
                                        struct hc_acked acked[static HC_ACKS_MAX], uint32_t *count);

/// Measures the round trip of the own datagram `ack`, less the wait of `delay_us` that the server
/// reports. False: it is measured already, or forgotten. Each is measured once, no matter which
/// datagram acked it first.
bool hc_cl_connection_measure(struct hc_cl_connection *connection, uint32_t ack, uint64_t delay_us,
                              uint64_t now_us, uint64_t *rtt_us);

/// Takes a PATH_CHALLENGE, which the next DATA answers. True: it differs from the one before.
bool hc_cl_connection_challenge(struct hc_cl_connection *connection,
                                const uint8_t path[static HC_PATH_SIZE]);

/// Appends the PATH_RESPONSE that is due, if any, to `body`, which must have room for it.
void hc_cl_connection_put_path(struct hc_cl_connection *connection, struct hc_writer *body);

/// Microseconds between the newest datagram received and `now_us`, as the peer is to be sent them.
uint32_t hc_cl_connection_ack_delay_us(const struct hc_cl_connection *connection, uint64_t now_us);

/// Whether the keys were used for as long as they may be.
bool hc_cl_connection_keys_expired(const struct hc_cl_connection *connection, uint64_t now_us);

/// Makes a DATA due `wait_us` after the last one, but at least every HC_KEEP_ALIVE_US; or, while
/// it closes, a CLOSE. True: a DATA became due.
bool hc_cl_connection_advance(struct hc_cl_connection *connection, uint64_t wait_us,
                              uint64_t now_us);

/// When hc_cl_connection_advance has something to do next.
uint64_t hc_cl_connection_deadline(const struct hc_cl_connection *connection, uint64_t wait_us);

/// Begins to close at `now_us`: CLOSE is sent HC_CLOSES times, and no other DATA.
void hc_cl_connection_close(struct hc_cl_connection *connection, uint64_t now_us);

/// Takes the DATA that is due; while it closes, the CLOSE. False: none is due.
bool hc_cl_connection_take(struct hc_cl_connection *connection);

/// Numbers and seals the DATA in `out`, whose body of `body_size` bytes is at HC_DATA_BODY_AT.
/// Returns its size; 0: all numbers are used up.
size_t hc_cl_connection_send(struct hc_cl_connection *connection,
                             uint8_t out[static HC_DATAGRAM_MAX], size_t body_size,
                             uint64_t now_us);
