/// Records the inputs that a client stamps for one local player, by tick.
#pragma once

#include "common/timeline.h"

struct stamped_inputs;

/// Creates a record for ticks in [0, `ticks`) and inputs of `input_size` bytes.
struct stamped_inputs *stamped_inputs_create(uint32_t ticks, uint16_t input_size);

/// Frees it; NULL is allowed.
void stamped_inputs_destroy(struct stamped_inputs *stamps);

/// Records new inputs of `player` in the client's timeline; call it whenever the client has
/// changed. Fails the test if a stamped input has changed.
void stamped_inputs_note(struct stamped_inputs *stamps, const struct hc_timeline *timeline,
                         hc_player player);

/// The input of `tick`, or NULL if none was stamped.
const uint8_t *stamped_input(const struct stamped_inputs *stamps, hc_tick tick);

/// Whether the client knows that the server forced `tick`.
bool stamped_retracted(const struct stamped_inputs *stamps, hc_tick tick);

/// The first stamped tick; HC_NO_TICK before it.
hc_tick stamped_first(const struct stamped_inputs *stamps);
