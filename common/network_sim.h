/// A seeded model of one direction of a network link: it delays, loses, doubles, reorders, queues.
///
/// The fate of the n-th packet sent depends on the seed, n and the conditions alone (and in bursts
/// on the packet before), never on its bytes or on the clock; only a limited rate looks at lengths
/// and times. Delays vary from packet to packet, so jitter alone reorders too. Everything is
/// integer arithmetic: one seed, one history, everywhere.
#pragma once

#include "common/alloc.h"
#include "hindcast/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hc_network_sim;

enum {
    HC_NETWORK_SIM_PACKET_MAX = 1500,       ///< bytes of a packet
    HC_NETWORK_SIM_PACKETS_MAX = 1 << 16,   ///< packets in flight that a link may be created for
    HC_NETWORK_SIM_DELAY_US_MAX = 60000000, ///< the greatest latency, and the greatest jitter
    HC_NETWORK_SIM_BURST_MAX = 1000000,     ///< the greatest mean length of a burst, in packets
    HC_NETWORK_SIM_REORDER_US_MAX =
        50000,                    ///< a reordered packet is held back up to this much longer
    HC_NETWORK_SIM_PPM = 1000000, ///< certainty
};

/// The conditions on a link.
struct hc_network_sim_config {
    uint32_t latency_us;    ///< one way; in [0, HC_NETWORK_SIM_DELAY_US_MAX]
    uint32_t jitter_us;     ///< a delay is uniform in latency +- jitter, but never below 0
    uint32_t loss_ppm;      ///< packets lost in the long run; HC_NETWORK_SIM_PPM: a blackout
    uint32_t burst_mean;    ///< mean length of a loss burst, in packets; 0 or 1: independent losses
    uint32_t duplicate_ppm; ///< packets that arrive twice, the copy after a delay of its own
    uint32_t
        reorder_ppm; ///< packets (and copies) held back by up to HC_NETWORK_SIM_REORDER_US_MAX more
    /// The bottleneck, before everything else: one packet after another leaves at this rate; 0: no
    /// limit. Those that are lost pass it, copies are made behind it.
    uint32_t bytes_per_s;
    /// Bytes that may wait in front of the bottleneck; a packet that finds no room is dropped. One
    /// that finds nothing before it always passes.
    uint32_t queue_bytes;
};

/// What has happened on a link. At any time
/// sent + duplicated = delivered + lost + dropped_full + dropped_queue + packets still in flight.
struct hc_network_sim_stats {
    uint64_t sent;          ///< calls of hc_network_sim_send
    uint64_t delivered;     ///< packets received
    uint64_t lost;          ///< dropped by loss
    uint64_t dropped_full;  ///< packets and copies dropped because too many were in flight
    uint64_t dropped_queue; ///< packets dropped in front of the bottleneck
    uint64_t duplicated;    ///< copies made
};

/// No delay, no loss: a wire.
struct hc_network_sim_config hc_network_sim_config_default(void);

/// NULL when the conditions can be used, else the name of the first field out of its range.
const char *hc_network_sim_config_check(const struct hc_network_sim_config *config);

/// The conditions by name, to `*config`: good 20 ms +- 2 without loss, ok 50 +- 10 with 1 %,
/// bad 80 +- 20 with 5 %, awful 150 +- 50 with 20 % in bursts of 3 on average. False, and nothing
/// written, for another name.
bool hc_network_sim_preset(const char *name, struct hc_network_sim_config *config);

/// A link with room for `packets_max` packets in flight, in [1, HC_NETWORK_SIM_PACKETS_MAX], all
/// obtained here from `allocator` (NULL: malloc), which must outlive the link. NULL when a number
/// is out of its range or memory is short.
struct hc_network_sim *hc_network_sim_create(const struct hc_network_sim_config *config,
                                             uint64_t seed, uint32_t packets_max,
                                             const struct hc_allocator *allocator);

/// Frees it with what is in flight; NULL is allowed.
void hc_network_sim_destroy(struct hc_network_sim *link);

/// Changes the conditions for packets sent from now on; those in flight keep their fate.
/// HC_INVALID: a field out of its range; nothing changed.
enum hc_status hc_network_sim_set_config(struct hc_network_sim *link,
                                         const struct hc_network_sim_config *config);

/// Sends `length` bytes, at most HC_NETWORK_SIM_PACKET_MAX, at `now_us`; they are copied. Decides
/// whether and when they arrive.
void hc_network_sim_send(struct hc_network_sim *link, uint64_t now_us, const void *bytes,
                         size_t length);

/// When the next packet is due; UINT64_MAX when none is in flight.
uint64_t hc_network_sim_deadline(const struct hc_network_sim *link);

/// Takes the next packet that is due at `now_us` off the link, in order of due times and, among
/// equals, of sending. Its length, which may be 0; -1 when none is due. Of a packet longer than
/// `capacity` the rest is lost, and `capacity` returned, as a datagram socket does.
int hc_network_sim_receive(struct hc_network_sim *link, uint64_t now_us, void *buffer,
                           size_t capacity);

/// Packets in flight.
uint32_t hc_network_sim_in_flight(const struct hc_network_sim *link);

/// What has happened since creation.
struct hc_network_sim_stats hc_network_sim_stats(const struct hc_network_sim *link);
