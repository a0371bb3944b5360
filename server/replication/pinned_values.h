/// Kept values: of a client that has acknowledged nothing for some time, what the newest snapshot
/// that it did acknowledge told it, copied from the versions, which forget them.
///
/// The client keeps those values for as long as that snapshot is its newest base, so that what it
/// sees is told against them once it is heard again, however long it was not. Of a view that fills
/// a datagram this decides whether all of it has room.
#pragma once

#include "server/replication/sent_log.h"

struct hc_sv_pinned_value {
    hc_sv_value_id value_id;
    hc_tick tick, known;
    hc_unit unit;
    uint8_t input[HC_INPUT_MAX];
};

struct hc_sv_pinned {
    const struct hc_world *world;
    hc_tick as_of;  ///< head of the snapshot whose values these are; HC_NO_TICK: none
    uint32_t count; ///< of the values
    struct hc_sv_pinned_value *values; ///< [units of a snapshot, at most], ascending units
    uint8_t *states;                   ///< [the same] of hc_unit_bytes
};

/// Lays the arrays out from `base` (NULL: only measures); returns the bytes needed. `world` is
/// borrowed.
size_t hc_sv_pinned_layout(struct hc_sv_pinned *pinned, const struct hc_world *world,
                           uint8_t *base);

/// Keeps nothing.
void hc_sv_pinned_clear(struct hc_sv_pinned *pinned);

/// Keeps what the ledger's newest base told, as far as the versions still have it, unless that is
/// kept already.
void hc_sv_pinned_take(struct hc_sv_pinned *pinned, const struct hc_sv_sent_log *sent_log,
                       const struct hc_sv_sent_values *sent_values);

/// The value of a version of `unit` that is kept, in `*out`, which is returned and borrowed until
/// the next take; NULL when it is not, and for 0.
const struct hc_unit_value *hc_sv_pinned_get(const struct hc_sv_pinned *pinned, hc_unit unit,
                                             hc_sv_value_id value_id, struct hc_unit_value *out);
