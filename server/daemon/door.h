/// A door: a transport through which the datagrams of clients come and go, such as the UDP port. A
/// worker reads its doors by lanes and by batches, and sends by batches (server/daemon/doors.h).
///
/// A flood in one lane displaces nothing in another, and an unread datagram costs only its arrival.
/// A door gives a worker the DATA and the CONNECTs of the worker's matches, and HELLOs. Match m is
/// of worker m % workers.
#pragma once

#include "hindcast/address.h"
#include "proto/datagram.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    HC_SV_DOOR_BATCH = 64,   ///< datagrams that are received or sent together
    HC_SV_DOOR_CONNECTS = 4, ///< CONNECTs of one batch: each may take as long as 100 others
};

/// The first byte of a datagram selects its lane.
enum hc_sv_door_lane {
    HC_SV_DOOR_DATA,    ///< The lane of DATA, and of everything if the door cannot sort.
    HC_SV_DOOR_CONNECT, ///< The lane of clients that have received a COOKIE.
    HC_SV_DOOR_HELLO,   ///< The lane of HELLO, and of datagrams of no known kind.
    HC_SV_DOOR_LANES
};

/// A datagram that was received.
struct hc_sv_datagram {
    const uint8_t *bytes; ///< [size] borrowed
    size_t size;          ///< A longer datagram than HC_DATAGRAM_MAX has a size above that.
    struct hc_address from;
    uint64_t
        arrived_us; ///< The time of arrival on hc_clock_us; at the latest, that of its reading.
};

/// A datagram to send.
struct hc_sv_outgoing {
    struct hc_address to;
    uint32_t size; ///< The size of the datagram, in [0, HC_DATAGRAM_MAX].
    uint8_t bytes[HC_DATAGRAM_MAX];
};

/// Facts about a door, which do not change while it is open.
struct hc_sv_door_facts {
    struct hc_address address;     ///< The address at which clients reach the door.
    uint32_t receive_buffer;       ///< The smallest buffer of a lane, in bytes.
    uint32_t receive_buffer_asked; ///< The size in bytes that each of them should have.
    uint32_t capacity;             ///< The smallest buffer holds about so many small datagrams.
};

/// Counts since the door was opened.
struct hc_sv_door_stats {
    bool sorted;              ///< There is more than one lane.
    uint64_t send_errors;     ///< datagrams that could not be sent
    uint64_t receive_drops;   ///< datagrams that found the buffer of the DATA lane full
    uint64_t handshake_drops; ///< datagrams that found the buffer of another lane full
};

struct hc_sv_door;

/// The functions of a kind of door. Each is called for a batch, or more rarely.
struct hc_sv_door_kind {
    /// Receives datagrams of a lane, at most hc_sv_door_batch, into door->in, and returns their
    /// number. They are valid until the next call.
    unsigned (*receive)(struct hc_sv_door *door, enum hc_sv_door_lane lane);
    /// Sends those datagrams that go to the door's peers; drops and counts those that cannot be
    /// sent. Moves the others to the front of `out`, and returns their number.
    unsigned (*send)(struct hc_sv_door *door, struct hc_sv_outgoing **out, unsigned count);
    /// Sends one datagram at once, in a handler of a signal: it only calls sendto. NULL: the door
    /// cannot.
    void (*send_now)(const struct hc_sv_door *door, const struct hc_address *to,
                     const uint8_t *bytes, size_t size);
    /// The door for another thread of its worker, which receives and sends in the former's stead.
    /// NULL: no memory or no descriptors.
    struct hc_sv_door *(*share)(const struct hc_sv_door *door);
    /// Continues the counts of `before`, whose thread uses it no more.
    void (*go_on)(struct hc_sv_door *door, const struct hc_sv_door *before);
    /// Closes and frees the door. A worker must not close before all have ended.
    void (*close)(struct hc_sv_door *door);
    struct hc_sv_door_facts (*facts)(const struct hc_sv_door *door);
    /// Counts since the door was opened; to be called once a second, because counters of the system
    /// may wrap.
    struct hc_sv_door_stats (*stats)(struct hc_sv_door *door);
};

/// A door of one worker, which begins the struct of its kind.
struct hc_sv_door {
    const struct hc_sv_door_kind *kind;
    int descriptors[HC_SV_DOOR_LANES]; ///< The descriptor of a lane, to wait on; -1: no such lane.
    struct hc_sv_datagram in[HC_SV_DOOR_BATCH]; ///< The batch that was received last.
};

/// The most datagrams of a lane that one call receives. A tick waits for them.
static inline unsigned hc_sv_door_batch(enum hc_sv_door_lane lane) {
    return lane == HC_SV_DOOR_CONNECT ? HC_SV_DOOR_CONNECTS : HC_SV_DOOR_BATCH;
}
