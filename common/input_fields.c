/// Owns the changes of an input's fields that are the same for every game.
#include "common/input_fields.h"

void hc_input_cut(const struct hc_game *game, void *input) {
    for (uint8_t f = 0; f < game->input_field_count; f++) {
        const struct hc_field *field = &game->input_fields[f];
        int64_t value = hc_field_get(field, input);
        if (hc_field_fits(field, value))
            continue;
        int64_t range = INT64_C(1) << field->bits, low = field->is_signed ? -(range / 2) : 0;
        hc_field_set(field, input, value < low ? low : low + range - 1);
    }
}

const struct hc_field *hc_shown_ago_field(const struct hc_game *game) {
    for (unsigned i = 0; game->lookback > 0 && i < game->input_field_count; i++)
        if (game->input_fields[i].shown_ago)
            return &game->input_fields[i];
    return NULL;
}

void hc_shown_ago_set(const struct hc_game *game, void *input, uint32_t ago) {
    const struct hc_field *field = hc_shown_ago_field(game);
    if (field != NULL)
        hc_field_set(field, input, ago < game->lookback ? ago : game->lookback);
}

bool hc_shown_ago_limit(const struct hc_game *game, void *input, uint32_t most) {
    const struct hc_field *field = hc_shown_ago_field(game);
    if (field == NULL || hc_field_get(field, input) <= most)
        return false;
    hc_field_set(field, input, most);
    return true;
}
