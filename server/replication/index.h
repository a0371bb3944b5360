/// The index: the positions of the newest ticks of sights, for all clients.
#pragma once

#include "common/grid.h"
#include "common/timeline.h"
#include "common/unit.h"

enum { HC_SV_INDEX_TICKS = 16 }; ///< ticks whose indices are stored: clients are shown many

/// The alive entities with a position at one tick.
struct hc_sv_index_tick {
    hc_tick tick, head;         ///< as it was at this head; HC_NO_TICK: not in use
    struct hc_grid_shape shape; ///< with no more buckets than the entities need
    struct hc_grid grid;
    uint32_t everywhere_count;
    hc_unit *everywhere; ///< [unowned units] in every view: alive, unowned, without a position
};

/// The positions of the newest ticks of sights, for all clients.
struct hc_sv_index {
    const struct hc_world *world;
    struct hc_grid_shape shape;                       ///< with buckets for all entities
    uint32_t placed;                                  ///< entities in the grid that was filled last
    struct hc_sv_index_tick ticks[HC_SV_INDEX_TICKS]; ///< by tick
    uint32_t stamp;                                   ///< of the present sight
    uint32_t *stamps; ///< [units] the newest sight that came upon the unit
    hc_unit *found;   ///< [units] of the present sight
};

/// Lays the index out from `base` (NULL: only measures); returns the bytes needed. `world` is
/// borrowed.
size_t hc_sv_index_layout(struct hc_sv_index *index, const struct hc_world *world, uint8_t *base);

/// Forgets all ticks.
void hc_sv_index_clear(struct hc_sv_index *index);

/// The index of `tick`, in [oldest, head], as it is now; valid until the next call.
const struct hc_sv_index_tick *hc_sv_index_at(struct hc_sv_index *index,
                                              const struct hc_timeline *timeline, hc_tick tick);
