/// Draws random inputs.
#include "common/draw_input.h"

void hc_draw_input(const struct hc_game *game, struct hc_rng *rng, void *out) {
    for (unsigned i = 0; i < game->input_field_count; i++) {
        const struct hc_field *field = &game->input_fields[i];
        int64_t count = INT64_C(1) << field->bits;
        int64_t drawn = (int64_t)(hc_rng_next(rng) >> (64 - field->bits));
        hc_field_set(field, out, field->is_signed ? drawn - count / 2 : drawn);
    }
    game->sanitize_input(out);
}
