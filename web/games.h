/// The games of a page: the arena, and those that hindcast.js has loaded as side modules.
#pragma once

#include "hindcast/drawing.h"
#include "hindcast/plugin.h"

/// The arena, as a plugin would export it.
HC_EXPORT const struct hc_game_export *hc_web_arena(void);

/// The arena's drawing.
HC_EXPORT const struct hc_drawing *hc_web_arena_drawing(void);

/// NULL: the game was compiled for this module, and is valid; else the rest of a sentence about the
/// fault, in static storage.
HC_EXPORT const char *hc_web_game_check(const struct hc_game_export *found);

/// NULL: the drawing was compiled for this module, and draws `game`; else as hc_web_game_check.
HC_EXPORT const char *hc_web_drawing_check(const struct hc_drawing *drawing,
                                           const struct hc_game *game);

/// A copy of `game` with the `size` bytes at `level`, borrowed, as its level. It is never freed,
/// because a side module is not. NULL: memory is short.
HC_EXPORT const struct hc_game *hc_web_game_with_level(const struct hc_game *game,
                                                       const uint8_t *level, uint32_t size);
