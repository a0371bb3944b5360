/// Stamps: the inputs that one local player's client has put under each tick, as it did so.
#pragma once

#include "common/timeline.h"

struct stamps;

/// For ticks in [0, `ticks`) and inputs of `input_size` bytes.
struct stamps *stamps_create(uint32_t ticks, uint16_t input_size);

/// Frees it; NULL is allowed.
void stamps_destroy(struct stamps *stamps);

/// Enters what is new in the client's timeline about `player`; to be called whenever the client has
/// changed. Fails the test when an input is another than it was.
void stamps_note(struct stamps *stamps, const struct hc_timeline *timeline, hc_player player);

/// The input of `tick`, or NULL when none has been stamped.
const uint8_t *stamps_input(const struct stamps *stamps, hc_tick tick);

/// Whether the client has taken the input of `tick` back, or never had one, because the server did
/// without.
bool stamps_retracted(const struct stamps *stamps, hc_tick tick);

/// The first tick stamped, and the one after the last; both HC_NO_TICK before the first.
hc_tick stamps_first(const struct stamps *stamps);
hc_tick stamps_end(const struct stamps *stamps);
