/// Random inputs of any game, from the table of its input's fields.
#pragma once

#include "hindcast/game.h"
#include "hindcast/rng.h"

/// A random value in the field's range.
int64_t hc_draw_field(const struct hc_field *field, struct hc_rng *rng);

/// Draws every field of an input uniformly from its range, and sanitizes the input. Writes
/// input_size bytes to `out`.
void hc_draw_input(const struct hc_game *game, struct hc_rng *rng, void *out);
