/// Owns the changes of an input's fields that are the same for every game.
#include "common/input_fields.h"

#include <string.h>

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

void hc_input_latches(const struct hc_game *game, void *latches) {
    memset(latches, 0, game->input_size);
    for (uint8_t f = 0; f < game->input_field_count; f++) {
        const struct hc_field *field = &game->input_fields[f];
        bool is_latch = field->sampling == HC_LATCH ||
                        (field->sampling == HC_SAMPLING_BY_BITS && field->bits == 1);
        if (is_latch && !field->shown_ago && !field->own_shown_ago)
            hc_field_set(field, latches, field->is_signed ? -1 : (INT64_C(1) << field->bits) - 1);
    }
}

/// The field that tells when the player was shown itself, or when it was shown the others; NULL:
/// the inputs have none.
static const struct hc_field *find(const struct hc_game *game, bool own) {
    for (unsigned i = 0; game->lookback > 0 && i < game->input_field_count; i++)
        if (own ? game->input_fields[i].own_shown_ago : game->input_fields[i].shown_ago)
            return &game->input_fields[i];
    return NULL;
}

const struct hc_field *hc_shown_ago_field(const struct hc_game *game) {
    return find(game, false);
}

void hc_shown_ago_set(const struct hc_game *game, void *input, uint32_t own, uint32_t others) {
    const struct hc_field *field = find(game, false), *own_field = find(game, true);
    if (field == NULL)
        return;
    hc_field_set(field, input, others < game->lookback ? others : game->lookback);
    if (own_field != NULL)
        hc_field_set(own_field, input, own < game->lookback ? own : game->lookback);
}

bool hc_shown_ago_limit(const struct hc_game *game, void *input, uint32_t most) {
    const struct hc_field *field = find(game, false), *own_field = find(game, true);
    if (field == NULL)
        return false;
    bool more = hc_field_get(field, input) > most;
    if (more)
        hc_field_set(field, input, most);
    if (own_field != NULL && hc_field_get(own_field, input) > hc_field_get(field, input))
        hc_field_set(own_field, input, hc_field_get(field, input));
    return more;
}
