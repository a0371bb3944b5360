/// Owns games whose entities are shown in other ways.
#include "tests/storm/varied_game.h"

#include "hindcast/rng.h"

#include <string.h>

enum {
    FAST = 2000, ///< units/s: a little more than an arena's players run
    STREAM = 999,
    FLAGS_STREAM = 998,
    TELEPORTS_PPM = 500000,
    FIELDS_PPM = 300000,
};

/// Draws how the fields of a kind are shown.
static void vary_fields(struct hc_kind *kind, struct hc_field *fields, struct hc_rng *rng,
                        unsigned tick_rate) {
    if (hc_rng_chance(rng, TELEPORTS_PPM))
        kind->teleport = 1 + hc_rng_below(rng, FAST / tick_rate);
    for (uint16_t f = 0; f < kind->field_count; f++)
        if (hc_rng_chance(rng, FIELDS_PPM))
            fields[f].interpolate = (uint8_t)hc_rng_below(rng, HC_ANGLE + 1);
}

/// Draws the one field of a kind that tells of teleports.
static void vary_flag(const struct hc_kind *kind, struct hc_field *fields, struct hc_rng *rng) {
    for (uint16_t f = 0; f < kind->field_count; f++)
        fields[f].teleports = false;
    if (kind->field_count > 0)
        fields[hc_rng_below(rng, kind->field_count)].teleports = true;
}

void storm_varied_game_init(struct storm_varied_game *varied, const struct hc_game *game,
                            const struct storm_varying *varying) {
    struct hc_rng rng = hc_rng_init(varying->seed, STREAM);
    struct hc_rng flags = hc_rng_init(varying->seed, FLAGS_STREAM);
    for (uint8_t k = 0; k < game->kind_count; k++) {
        struct hc_kind *kind = &varied->kinds[k];
        *kind = game->kinds[k];
        memcpy(varied->fields[k], kind->fields, kind->field_count * sizeof *kind->fields);
        kind->fields = varied->fields[k];
        if (varying->fields)
            vary_fields(kind, varied->fields[k], &rng, varying->tick_rate);
        if (varying->flags)
            vary_flag(kind, varied->fields[k], &flags);
    }
    varied->game = *game;
    varied->game.kinds = varied->kinds;
}
