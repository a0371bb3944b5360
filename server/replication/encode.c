/// Which input changes a delta lists.
#include "server/replication/encode.h"

#include "proto/fields.h"

#include <string.h>

enum {
    KEY_BITS = 3, ///< of an input's field that counts as keys, at most
};

/// Which of the input's fields count as keys, bit i for field i.
static uint32_t key_fields(const struct hc_game *game) {
    uint32_t keys = 0;
    for (unsigned i = 0; i < game->input_field_count; i++)
        keys |= (uint32_t)(game->input_fields[i].bits <= KEY_BITS) << i;
    return keys;
}

/// Whether the keys of two inputs differ.
static bool keys_differ(const struct hc_game *game, uint32_t keys, const uint8_t *a,
                        const uint8_t *b) {
    return (hc_fields_compare(game->input_fields, game->input_field_count, a, b) & keys) != 0;
}

/// Lists all changes of the owner's input in the steps from the baseline to `end`; the steps before
/// are given `given`. Returns whether keys have changed.
static bool list_all(const struct hc_timeline *timeline, const struct hc_value_base *base,
                     hc_tick end, uint32_t keys, const uint8_t *given,
                     struct hc_input_changes *out) {
    const struct hc_game *game = base->world->game;
    hc_player player = hc_unit_player(base->world, base->unit);
    const uint8_t *last = NULL; // before it is sanitized
    bool any_keys = false;
    out->count = 0;
    for (hc_tick t = base->from->tick; t < end; t++) {
        const uint8_t *now = hc_timeline_effective(timeline, player, t);
        if (last != NULL && memcmp(last, now, game->input_size) == 0)
            continue;
        last = now;
        struct hc_input_change *change = &out->at[out->count];
        memset(change->input, 0, sizeof change->input);
        memcpy(change->input, now, game->input_size);
        game->sanitize_input(change->input); // as the reader does; a prediction may need it
        if (memcmp(change->input, given, game->input_size) == 0)
            continue;
        any_keys |= keys_differ(game, keys, change->input, given);
        change->tick = t;
        given = change->input;
        out->count++;
    }
    return any_keys;
}

/// Lists the changes of keys among `all`; `alone`: the fields that are no keys stay as `given`.
static void list_keys(const struct hc_game *game, const struct hc_input_changes *all, uint32_t keys,
                      const uint8_t *given, bool alone, struct hc_input_changes *out) {
    const uint8_t *last = given;
    out->count = 0;
    for (unsigned i = 0; i < all->count; i++) {
        const struct hc_input_change *change = &all->at[i];
        if (!keys_differ(game, keys, change->input, last))
            continue;
        struct hc_input_change *listed = &out->at[out->count++];
        *listed = *change;
        for (unsigned f = 0; f < game->input_field_count && alone; f++)
            if ((keys >> f & 1) == 0)
                hc_field_set(&game->input_fields[f], listed->input,
                             hc_field_get(&game->input_fields[f], given));
        last = listed->input;
    }
}

static bool same_list(const struct hc_game *game, const struct hc_input_changes *a,
                      const struct hc_input_changes *b) {
    bool same = a->count == b->count;
    for (unsigned i = 0; same && i < a->count; i++)
        same = a->at[i].tick == b->at[i].tick &&
               memcmp(a->at[i].input, b->at[i].input, game->input_size) == 0;
    return same;
}

/// Encodes the value with these changes, and keeps the delta if it is the shortest.
static void attempt(struct hc_sv_encoding *encoding, const struct hc_value_base *base,
                    const struct hc_input_changes *changes, const struct hc_unit_value *value) {
    struct hc_bits_writer bits =
        hc_bits_writer(encoding->data[!encoding->best], HC_SV_ENCODE_BYTES);
    hc_value_put(&bits, base, changes, value, NULL);
    uint32_t written = (uint32_t)hc_bits_written(&bits);
    HC_ASSERT(!bits.failed);
    if (written >= encoding->bits)
        return;
    hc_bits_finish(&bits);
    encoding->best = !encoding->best;
    encoding->bits = written;
    encoding->changes = changes;
}

void hc_sv_encode_value(struct hc_sv_encoding *encoding, const struct hc_timeline *timeline,
                        hc_tick since, const struct hc_value_base *base,
                        const struct hc_unit_value *value) {
    encoding->best = 0;
    encoding->bits = UINT32_MAX;
    if (base->from == NULL || base->from->tick < since ||
        !hc_extrapolate_takes_changes(base->world, base->unit, base->from, value->tick)) {
        attempt(encoding, base, NULL, value);
        return;
    }
    const struct hc_game *game = base->world->game;
    struct hc_input_changes *all = &encoding->all;
    uint8_t given[HC_INPUT_MAX] = {0};
    uint32_t keys = key_fields(game);
    hc_extrapolate_input(base->world, base->from, given);
    bool pressed = list_all(timeline, base, value->tick, keys, given, all);
    if (!pressed) // a value rarely equals its extrapolation after a change of keys
        attempt(encoding, base, NULL, value);
    if (all->count > 0 && encoding->bits > 1) // no delta takes less than a bit
        attempt(encoding, base, all, value);
    if (!pressed)
        return;
    list_keys(game, all, keys, given, false, &encoding->keys);
    list_keys(game, all, keys, given, true, &encoding->keys_alone);
    if (!same_list(game, &encoding->keys, all))
        attempt(encoding, base, &encoding->keys, value);
    if (!same_list(game, &encoding->keys_alone, &encoding->keys))
        attempt(encoding, base, &encoding->keys_alone, value);
}
