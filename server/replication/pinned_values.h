/// Pinned values: copies of the values of one client's newest baseline, which outlive the sent
/// values.
///
/// A client stores the values of its newest baseline until it receives a newer one. Pinning them
/// lets the server encode deltas for a client that has acked nothing for a long time. Without them
/// a crowded snapshot would not fit into a datagram then.
#pragma once

#include "server/replication/sent_log.h"

struct hc_sv_pinned_value {
    hc_sv_value_id value_id;
    hc_unit unit;
    struct hc_unit_value value;
};

struct hc_sv_pinned {
    const struct hc_world *world;
    hc_tick as_of;                     ///< the head of the pinned snapshot; HC_NO_TICK: none
    uint32_t count;                    ///< of the values
    struct hc_sv_pinned_value *values; ///< [units of a snapshot, at most], ascending units
    uint8_t *states;                   ///< [the same] of hc_unit_bytes
};

/// Lays the arrays out from `base` (NULL: only measures); returns the bytes needed. `world` is
/// borrowed.
size_t hc_sv_pinned_layout(struct hc_sv_pinned *pinned, const struct hc_world *world,
                           uint8_t *base);

/// Pins nothing.
void hc_sv_pinned_clear(struct hc_sv_pinned *pinned);

/// Pins the values of the log's newest baseline as far as `sent_values` still has them, unless that
/// baseline is pinned already.
void hc_sv_pinned_take(struct hc_sv_pinned *pinned, const struct hc_sv_sent_log *sent_log,
                       const struct hc_sv_sent_values *sent_values);

/// The pinned value of `unit` with this number, borrowed until the next take; NULL: it is not
/// pinned, or the number is 0.
const struct hc_unit_value *hc_sv_pinned_get(const struct hc_sv_pinned *pinned, hc_unit unit,
                                             hc_sv_value_id value_id);
