/// The fields of an input: their ranges, and the one that tells how many ticks before it the tick
/// was that its player was shown (hc_field.shown_ago).
#pragma once

#include "hindcast/game.h"

/// Cuts every field of an input to the nearest end of its range.
void hc_input_cut(const struct hc_game *game, void *input);

/// The field that tells the shown tick, in a game's inputs; NULL: they have none.
const struct hc_field *hc_shown_ago_field(const struct hc_game *game);

/// Sets it, at most to the game's lookback, if the game has it.
void hc_shown_ago_set(const struct hc_game *game, void *input, uint32_t ago);

/// Lowers it to `most` if it is more and the game has it; true: it was more.
bool hc_shown_ago_limit(const struct hc_game *game, void *input, uint32_t most);
