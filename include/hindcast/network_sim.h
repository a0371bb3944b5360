/// A seeded model of one direction of a network: delay, loss, duplication, reordering and a queue.
///
/// The fate of the n-th packet depends on the seed, n and the conditions (in bursts also on the
/// packet before), never on its bytes or on the clock; only a limited rate depends on lengths and
/// times. Delays vary from packet to packet, so jitter alone reorders too. All arithmetic is in
/// integers: a seed gives the same fates on every machine.
///
/// A game uses two of them for its link to a server: to try itself on bad links, or to run a server
/// and several clients in one process and in virtual time (examples/offline).
#pragma once

#include "hindcast/allocator.h"
#include "hindcast/api.h"
#include "hindcast/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

HC_C_BEGIN

struct hc_network_sim;

enum {
    HC_NETWORK_SIM_PACKET_MAX = 1500,       ///< bytes of a packet
    HC_NETWORK_SIM_PACKETS_MAX = 1 << 16,   ///< packets in flight
    HC_NETWORK_SIM_DELAY_US_MAX = 60000000, ///< greatest latency, and greatest jitter
    HC_NETWORK_SIM_BURST_MAX = 1000000,     ///< greatest mean length of a burst, in packets
    HC_NETWORK_SIM_REORDER_US_MAX = 50000,  ///< greatest extra delay of a reordered packet
    HC_NETWORK_SIM_PPM = 1000000,           ///< certainty
};

/// The conditions of the network.
struct hc_network_sim_config {
    uint32_t latency_us;    ///< one way; in [0, HC_NETWORK_SIM_DELAY_US_MAX]
    uint32_t jitter_us;     ///< a delay is uniform in latency +- jitter, at least 0
    uint32_t loss_ppm;      ///< packets lost in the long run; HC_NETWORK_SIM_PPM: a blackout
    uint32_t burst_mean;    ///< mean length of a loss burst, in packets; 0 or 1: independent losses
    uint32_t duplicate_ppm; ///< packets that arrive twice, the copy after a delay of its own
    /// Packets (and copies) that take up to HC_NETWORK_SIM_REORDER_US_MAX longer.
    uint32_t reorder_ppm;
    /// The rate of the bottleneck, which packets pass one after another before everything else; 0:
    /// no limit. Packets are lost and copied after it.
    uint32_t bytes_per_s;
    /// The queue before the bottleneck has room for so many bytes, and besides for those that pass
    /// within so long. A packet without room is dropped, the newest (tail drop). An empty queue
    /// takes any packet.
    uint32_t queue_bytes;
    uint32_t queue_us; ///< in [0, HC_NETWORK_SIM_DELAY_US_MAX]
};

/// Counts since creation. At any time
/// sent + duplicated = delivered + lost + dropped_full + dropped_queue + packets in flight.
struct hc_network_sim_stats {
    uint64_t sent;          ///< calls of hc_network_sim_send
    uint64_t delivered;     ///< packets received
    uint64_t lost;          ///< dropped by loss
    uint64_t dropped_full;  ///< packets and copies dropped because `packets_max` were in flight
    uint64_t dropped_queue; ///< packets dropped because the bottleneck's queue was full
    uint64_t duplicated;    ///< copies made
};

/// No delay, no loss, no limit.
HC_API struct hc_network_sim_config hc_network_sim_config_default(void);

/// NULL when the conditions are valid, else the name of the first field out of its range.
HC_API const char *hc_network_sim_config_check(const struct hc_network_sim_config *config);

/// Writes the conditions of a preset to `*config`: good 20 ms +- 2 without loss, ok 50 +- 10 with
/// 1 %, bad 80 +- 20 with 5 %, awful 150 +- 50 with 20 % in bursts of 3 on average. False, and
/// nothing written, for another name.
HC_API bool hc_network_sim_preset(const char *name, struct hc_network_sim_config *config);

/// Creates a simulation with room for `packets_max` packets in flight, in
/// [1, HC_NETWORK_SIM_PACKETS_MAX]. It allocates only here, from `allocator` (NULL: malloc), which
/// must outlive it. NULL when a number is out of its range or memory is short.
HC_API struct hc_network_sim *hc_network_sim_create(const struct hc_network_sim_config *config,
                                                    uint64_t seed, uint32_t packets_max,
                                                    const struct hc_allocator *allocator);

/// Frees a simulation with the packets in flight; NULL is allowed.
HC_API void hc_network_sim_destroy(struct hc_network_sim *sim);

/// Changes the conditions at `now_us`, for packets sent from then on. Packets in flight keep their
/// fate, except that those that still wait for the bottleneck pass it at the new rate. HC_INVALID:
/// a field out of its range; nothing changed.
HC_API enum hc_status hc_network_sim_set_config(struct hc_network_sim *sim, uint64_t now_us,
                                                const struct hc_network_sim_config *config);

/// Sends `length` bytes, at most HC_NETWORK_SIM_PACKET_MAX, at `now_us`, and decides whether and
/// when they arrive. They are copied.
HC_API void hc_network_sim_send(struct hc_network_sim *sim, uint64_t now_us, const void *bytes,
                                size_t length);

/// The time at which the next packet arrives; UINT64_MAX when none is in flight.
HC_API uint64_t hc_network_sim_deadline(const struct hc_network_sim *sim);

/// Takes the next packet that has arrived at `now_us`, in order of arrival and then of sending.
/// Returns its length, which may be 0; -1 when there is none. A packet longer than `capacity` is
/// cut to it, as on a datagram socket.
HC_API int hc_network_sim_receive(struct hc_network_sim *sim, uint64_t now_us, void *buffer,
                                  size_t capacity);

/// The number of packets in flight.
HC_API uint32_t hc_network_sim_in_flight(const struct hc_network_sim *sim);

/// The counts since creation.
HC_API struct hc_network_sim_stats hc_network_sim_stats(const struct hc_network_sim *sim);

HC_C_END
