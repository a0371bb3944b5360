/// The earliest of many deadlines: a tournament tree over a fixed number of entries.
#pragma once

#include <stddef.h>
#include <stdint.h>

struct hc_agenda;

/// `count` entries, [1, 2^20], none of them due (UINT64_MAX). NULL when memory is short.
struct hc_agenda *hc_agenda_create(uint32_t count);

/// Frees it; NULL is allowed.
void hc_agenda_destroy(struct hc_agenda *agenda);

/// `entry` is due at `when`; UINT64_MAX: never.
void hc_agenda_set(struct hc_agenda *agenda, uint32_t entry, uint64_t when);

/// When the earliest entry is due, and which it is: among equals that of the lowest number.
uint64_t hc_agenda_first(const struct hc_agenda *agenda, uint32_t *entry);
