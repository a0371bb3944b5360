/// The doors of a worker: it receives from one after another, and each datagram that it sends
/// leaves by the door of its destination.
///
/// Doors are created here alone. Another kind of door is another file like server/daemon/udp.c and
/// another row of `openers` in doors.c.
#pragma once

#include "server/daemon/door.h"
#include "server/daemon/options.h"

enum { HC_SV_DOORS_MAX = 4 }; ///< doors of a worker

struct hc_sv_doors {
    unsigned count;
    struct hc_sv_door *all[HC_SV_DOORS_MAX]; ///< [count] owned
    unsigned next[HC_SV_DOOR_LANES];         ///< The door whose lane is read next.
    unsigned queued;
    struct hc_sv_outgoing out[HC_SV_DOOR_BATCH]; ///< [queued], and room for the next
};

/// Datagrams that were received together.
struct hc_sv_batch {
    const struct hc_sv_datagram *datagrams; ///< [count] borrowed until the next call
    unsigned count;
    bool more; ///< There may be more in the lane of some door.
};

/// Opens all doors that the options ask for, for each of their workers, and writes the doors of
/// each to `*workers`. False: failed, and `why` is a sentence.
bool hc_sv_doors_open(const struct hc_sv_options *options, struct hc_sv_doors **workers, char *why,
                      size_t why_size);

/// The doors of one worker for another thread, which receives and sends in its stead. NULL: no
/// memory or no descriptors.
struct hc_sv_doors *hc_sv_doors_share(const struct hc_sv_doors *doors);

/// Continues the counts of `before`, whose thread uses it no more.
void hc_sv_doors_go_on(struct hc_sv_doors *doors, const struct hc_sv_doors *before);

/// Closes the doors of one worker, and frees them; NULL is allowed. A worker must not close before
/// all have ended.
void hc_sv_doors_close(struct hc_sv_doors *doors);

/// Receives a batch of a lane from the door that is read next.
struct hc_sv_batch hc_sv_doors_receive(struct hc_sv_doors *doors, enum hc_sv_door_lane lane);

/// Room of HC_DATAGRAM_MAX bytes for the next datagram to send.
static inline uint8_t *hc_sv_doors_room(struct hc_sv_doors *doors) {
    return doors->out[doors->queued].bytes;
}

/// Sends the queue.
void hc_sv_doors_flush(struct hc_sv_doors *doors);

/// Sends one datagram at once by all doors that can in a handler of a signal; the others are left
/// alone. The destination of another kind of door gets nothing.
void hc_sv_doors_send_now(const struct hc_sv_doors *doors, const struct hc_address *to,
                          const uint8_t *bytes, size_t size);

/// Queues the `size` bytes in the room for `to`; sends a full batch.
static inline void hc_sv_doors_queue(struct hc_sv_doors *doors, const struct hc_address *to,
                                     size_t size) {
    struct hc_sv_outgoing *out = &doors->out[doors->queued++];
    out->to = *to;
    out->size = (uint32_t)size;
    if (doors->queued == HC_SV_DOOR_BATCH)
        hc_sv_doors_flush(doors);
}

/// The facts of the last door, UDP's, with the smallest capacity of all.
struct hc_sv_door_facts hc_sv_doors_facts(const struct hc_sv_doors *doors);

/// The counts of all doors; to be called once a second.
struct hc_sv_door_stats hc_sv_doors_stats(const struct hc_sv_doors *doors);
