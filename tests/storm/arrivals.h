/// What arrives at the server: each datagram is counted, taken once, and done at once.
///
/// A DATA of a connection that stands is taken unless it was before; then the slots that it gives
/// up are closed, and none that it fills is unknown any more.
#pragma once

#include "proto/message.h"

struct storm_match;
struct storm_conn;
struct storm_arrived;

enum { STORM_ARRIVED_MAX = 256 };

/// All zeros is the beginning.
struct storm_arrivals {
    uint64_t count, bytes, rejected[HC_STATUS_COUNT];
    struct storm_arrived *of[STORM_ARRIVED_MAX]; ///< by connection; NULL: nothing
};

void storm_arrivals_free(struct storm_arrivals *arrivals);

/// An honest client says this in its DATA `seq`.
void storm_arrivals_said(struct storm_match *match, const struct storm_conn *conn, uint32_t seq,
                         const struct hc_input_message *message);

/// The server was handed a datagram from `port`.
void storm_arrivals_received(struct storm_match *match, uint16_t port, const uint8_t *bytes,
                             size_t size, enum hc_status status);

/// The server shows a connection `tick`, its first snapshot: all of its players have joined,
/// and the first of them before that.
void storm_arrivals_shown(struct storm_match *match, const struct storm_conn *conn, hc_tick tick);

/// Whether the server has taken anything of the connection.
bool storm_arrivals_any(const struct storm_match *match, const struct storm_conn *conn);
/// Whether the server has taken this DATA of a connection.
bool storm_arrivals_taken(struct storm_match *match, uint32_t cid, uint32_t seq);
