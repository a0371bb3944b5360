/// The bandwidth of one client: how many bytes its next datagram may have.
///
/// It is a token bucket. Its rate falls by a seventh when more than one in twenty datagrams of the
/// last second was lost, and rises by a fortieth otherwise. The rate stays between the cap and a
/// sixteenth of the cap (or HC_SV_BANDWIDTH_FLOOR), because some paths lose datagrams at any rate.
/// A second without acks or losses changes nothing. Over any time t, a sender that asks for room
/// first sends at most t + HC_SV_BANDWIDTH_BURST_MS of the cap, IP headers included.
#pragma once

#include <stdint.h>

enum {
    HC_SV_BANDWIDTH_FLOOR = 4000,   ///< bytes/s: losses push no rate below it
    HC_SV_BANDWIDTH_PART = 16,      ///< nor below the cap divided by this
    HC_SV_BANDWIDTH_BURST_MS = 100, ///< of the rate may be saved up
    HC_SV_BANDWIDTH_OVERHEAD =
        61, ///< bytes of a datagram besides its body: IP, UDP, header and seal
    HC_SV_BANDWIDTH_WINDOW_US = 1000000, ///< over which losses are counted
};

struct hc_sv_bandwidth {
    uint32_t cap;      ///< bytes/s
    uint32_t rate;     ///< bytes/s now
    int64_t saved;     ///< millionths of a byte that may be sent at `at_us`; negative: a debt
    uint64_t at_us;    ///< when `saved` was counted
    uint64_t since_us; ///< when the counts below began
    uint32_t sent, lost;
};

/// Begins at the cap, at least HC_SV_BANDWIDTH_FLOOR bytes/s, at `now_us`, with all of a burst
/// saved up.
void hc_sv_bandwidth_begin(struct hc_sv_bandwidth *bandwidth, uint32_t cap, uint64_t now_us);

/// Makes `cap` the cap, at least HC_SV_BANDWIDTH_FLOOR bytes/s. A rate at the cap stays at it.
void hc_sv_bandwidth_limit(struct hc_sv_bandwidth *bandwidth, uint32_t cap, uint64_t now_us);

/// Body bytes that the next datagram may have, at most `most`; 0: none may be sent now.
int32_t hc_sv_bandwidth_room(struct hc_sv_bandwidth *bandwidth, uint32_t most, uint64_t now_us);

/// A datagram with a body of `bytes` is sent. Bytes beyond the room are a debt, which is paid
/// first.
void hc_sv_bandwidth_spend(struct hc_sv_bandwidth *bandwidth, uint32_t bytes);

/// So many datagrams were acked, so many were lost.
void hc_sv_bandwidth_learn(struct hc_sv_bandwidth *bandwidth, uint32_t acked, uint32_t lost,
                           uint64_t now_us);
