/// The selection: the units that one snapshot sends, and against which baselines.
///
/// Calls belong in this order: hc_sv_selection_gather; hc_sv_selection_choose and
/// hc_sv_selection_inputs, with less when the datagram turns out too small; hc_sv_selection_sent.
#pragma once

#include "server/replication/builder.h"

/// A unit that a snapshot may send.
struct hc_sv_selection {
    struct hc_snapshot_unit name;
    struct hc_sv_sent_value base, value; ///< none: against nothing, and dropped
    uint32_t delta;                      ///< bits of the value against the base
    uint32_t inputs;                     ///< ticks of inputs from the tick shown on, at most
    uint32_t bits;                       ///< estimated, in all with the nearest inputs
    bool chosen;
};

/// Gathers the units that the client sees, and those that it saw and must forget.
void hc_sv_selection_gather(struct hc_sv_builder *builder);

/// Chooses at most `most` units: the referee and the client's own, then those that fit into `room`
/// bits by estimate, the most urgent first; one that does not fit is skipped. Returns their number.
uint32_t hc_sv_selection_choose(struct hc_sv_builder *builder, uint32_t room, uint32_t most);

/// How many ticks of inputs fit beside the chosen units by estimate, the same for every unit.
uint32_t hc_sv_selection_inputs(const struct hc_sv_builder *builder, uint32_t room);

/// The snapshot sends the chosen units.
void hc_sv_selection_sent(struct hc_sv_builder *builder);

/// The selection of `unit`; NULL: it is not gathered.
const struct hc_sv_selection *hc_sv_selection_find(const struct hc_sv_builder *builder,
                                                   hc_unit unit);

/// Whether the unit is dropped: the client must forget it.
static inline bool hc_sv_selection_drops(const struct hc_sv_selection *selection) {
    return selection->name.from == HC_SNAPSHOT_DROPPED;
}
