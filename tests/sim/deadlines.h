/// Finds the earliest of many deadlines: a tournament tree over a fixed number of entries.
#pragma once

#include <stddef.h>
#include <stdint.h>

struct hc_deadlines;

/// Creates `count` entries, [1, 2^20], none of them due (UINT64_MAX). NULL when memory is short.
struct hc_deadlines *hc_deadlines_create(uint32_t count);

/// Frees it; NULL is allowed.
void hc_deadlines_destroy(struct hc_deadlines *deadlines);

/// Makes `entry` due at `when`; UINT64_MAX: never.
void hc_deadlines_set(struct hc_deadlines *deadlines, uint32_t entry, uint64_t when);

/// Returns the earliest deadline, and its entry to `*entry`: among equals the lowest.
uint64_t hc_deadlines_first(const struct hc_deadlines *deadlines, uint32_t *entry);
