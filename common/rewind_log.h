/// The record of a timeline's rewinds (hindcast/rewind.h), as the timeline writes it: causes and
/// changes are collected in an open rewind, which the end of a resimulation closes.
#pragma once

#include "hindcast/rewind.h"

struct hc_rewind_log {
    const struct hc_allocator *allocator;
    uint32_t entities;                      ///< of the world
    uint64_t count;                         ///< closed rewinds
    struct hc_rewind open;                  ///< the causes and changes since the newest end
    struct hc_rewind kept[HC_REWINDS_KEPT]; ///< rewind n is at n % HC_REWINDS_KEPT
    uint8_t place[]; ///< [entities] 1 + index in open.changes; 0: unchanged; UINT8_MAX: left out
};

/// Adds a cause to the open rewind, unless it is listed already.
void hc_rewind_log_cause(struct hc_rewind_log *log, const struct hc_rewind_cause *cause);

/// Adds the change of the state of `entity` at `tick` to the open rewind.
void hc_rewind_log_change(struct hc_rewind_log *log, hc_entity entity, hc_tick tick);

/// Closes the open rewind, which stepped `ticks` ticks from `from` to `head` again, with `steps`
/// steps that changed `changed` states. `ticks` 0: nothing was, so it is forgotten.
void hc_rewind_log_end(struct hc_rewind_log *log, hc_tick from, hc_tick head, uint32_t ticks,
                       uint64_t steps, uint64_t changed);

/// The newest closed rewind, for its server to name the clients; NULL: there is none.
struct hc_rewind *hc_rewind_log_newest(struct hc_rewind_log *log);
