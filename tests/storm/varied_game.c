/// Owns games whose entities are shown in other ways.
#include "tests/storm/varied_game.h"

#include "hindcast/rng.h"

#include <string.h>

enum {
    FAST = 2000, ///< units/s: a little more than an arena's players run
    STREAM = 999,
    TELEPORTS_PPM = 500000,
    FIELDS_PPM = 300000,
};

void storm_varied_game_init(struct storm_varied_game *varied, const struct hc_game *game,
                            uint64_t seed, unsigned tick_rate) {
    struct hc_rng rng = hc_rng_init(seed, STREAM);
    for (uint8_t k = 0; k < game->kind_count; k++) {
        struct hc_kind *kind = &varied->kinds[k];
        *kind = game->kinds[k];
        memcpy(varied->fields[k], kind->fields, kind->field_count * sizeof *kind->fields);
        kind->fields = varied->fields[k];
        if (hc_rng_chance(&rng, TELEPORTS_PPM))
            kind->teleport = 1 + hc_rng_below(&rng, FAST / tick_rate);
        for (uint16_t f = 0; f < kind->field_count; f++)
            if (hc_rng_chance(&rng, FIELDS_PPM))
                varied->fields[k][f].interpolate = (uint8_t)hc_rng_below(&rng, HC_ANGLE + 1);
    }
    varied->game = *game;
    varied->game.kinds = varied->kinds;
}
