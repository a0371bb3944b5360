/// Input runs, bit-packed: the inputs of some players over consecutive ticks.
///
/// For each tick and each player: one bit, 0 when the input equals that of the same player one tick
/// before (all zeros before the first), else 1 and the fields in table order, `bits` bits each, as
/// common/bits.h packs them. Any bits decode to fields that fit. The caller applies the game's
/// sanitize_input.
#pragma once

#include "common/bits.h"
#include "hindcast/connection.h"
#include "hindcast/game.h"
#include "hindcast/status.h"
#include "proto/limits.h"

#include <stddef.h>
#include <stdint.h>

/// The input of `player`, by its place in the run, at tick first + `index`: input_size bytes, valid
/// until the next call.
typedef const void *hc_input_source(void *context, uint32_t index, uint32_t player);

/// A reader of a run, valid as long as the packed bytes.
struct hc_input_run {
    const struct hc_game *game;
    struct hc_bits_reader bits;
    uint32_t players;
    uint32_t left;   ///< inputs left to read, of all players
    uint32_t player; ///< of the next input
    uint8_t last[HC_OWN_PLAYERS_MAX][HC_INPUT_MAX];
};

/// Packs up to `*count` ticks for `players` in [1, HC_OWN_PLAYERS_MAX], as many as `capacity` bytes
/// hold; `*count` becomes their number. Returns the bytes used.
size_t hc_input_run_pack(const struct hc_game *game, uint32_t players, uint32_t *count,
                         hc_input_source *source, void *context, uint8_t *out, size_t capacity);

/// Opens a run of `count` ticks, and reads all of it once to check its end. HC_MALFORMED: it does
/// not end where the bytes do, or its padding is not zero; *run is unspecified then.
enum hc_status hc_input_run_begin(struct hc_input_run *run, const struct hc_game *game,
                                  uint32_t players, uint32_t count, const uint8_t *packed,
                                  size_t size);

/// The next input, input_size bytes, valid until the next call for the same player; NULL after the
/// last. The players of the first tick come first, then those of the second.
const void *hc_input_run_next(struct hc_input_run *run);
