/// Draws random inputs.
#include "common/draw_input.h"

#include "common/input_fields.h"

int64_t hc_draw_field(const struct hc_field *field, struct hc_rng *rng) {
    int64_t drawn = (int64_t)(hc_rng_next(rng) >> (64 - field->bits));
    return field->is_signed ? drawn - (INT64_C(1) << (field->bits - 1)) : drawn;
}

void hc_draw_input(const struct hc_game *game, struct hc_rng *rng, void *out) {
    for (unsigned i = 0; i < game->input_field_count; i++)
        hc_field_set(&game->input_fields[i], out, hc_draw_field(&game->input_fields[i], rng));
    game->sanitize_input(out);
    hc_shown_ago_limit(game, out, game->lookback);
}
