/// The fields of an input: their ranges, those that are buttons, and those that tell how many ticks
/// before it the ticks were that its player was shown (hc_field.shown_ago, own_shown_ago).
#pragma once

#include "hindcast/game.h"

/// Cuts every field of an input to the nearest end of its range.
void hc_input_cut(const struct hc_game *game, void *input);

/// Writes the bits of an input (input_size bytes) that are buttons (HC_LATCH) to `latches`, and
/// zeros elsewhere.
void hc_input_latches(const struct hc_game *game, void *latches);

/// The field that tells the tick at which others were shown, in a game's inputs; NULL: they have
/// none.
const struct hc_field *hc_shown_ago_field(const struct hc_game *game);

/// Sets the fields that the game has: how many ticks before the input's tick its player was shown
/// itself, and the others; each at most the game's lookback.
void hc_shown_ago_set(const struct hc_game *game, void *input, uint32_t own, uint32_t others);

/// Lowers the others' to `most` if it is more, and the own to the others', in games that have them;
/// true: the others' was more.
bool hc_shown_ago_limit(const struct hc_game *game, void *input, uint32_t most);
