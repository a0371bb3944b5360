#include "server/tell.h"

#include <string.h>

enum {
    KEY_BITS = 3, ///< of an input's field that counts as keys, at most
};

/// What is listed of a change of the owner's input.
enum listing {
    NOTHING,
    KEYS,      ///< of keys, only those
    WITH_KEYS, ///< the whole input when a key changes
    ALL,
};

/// Whether two inputs differ, or their keys alone.
static bool differs(const struct hc_game *game, bool keys, const uint8_t *a, const uint8_t *b) {
    for (unsigned i = 0; i < game->input_field_count; i++) {
        const struct hc_field *field = &game->input_fields[i];
        if ((field->bits <= KEY_BITS || !keys) && hc_field_get(field, a) != hc_field_get(field, b))
            return true;
    }
    return false;
}

/// Brings `given` to `input`, or its keys alone.
static void take(const struct hc_game *game, bool keys, const uint8_t *input, uint8_t *given) {
    for (unsigned i = 0; i < game->input_field_count; i++) {
        const struct hc_field *field = &game->input_fields[i];
        if (field->bits <= KEY_BITS || !keys)
            hc_field_set(field, given, hc_field_get(field, input));
    }
}

/// What the owner's steps were given between the baseline and `end`. True: keys have changed.
static bool list(const struct hc_timeline *timeline, const struct hc_value_base *base, hc_tick end,
                 enum listing listing, struct hc_solo_changes *out) {
    const struct hc_game *game = base->world->game;
    hc_player player = hc_unit_player(base->world, base->unit);
    uint8_t given[HC_INPUT_MAX] = {0}, input[HC_INPUT_MAX];
    bool any_keys = false;
    hc_solo_input(base->world, base->from, given);
    out->count = 0;
    for (hc_tick t = base->from->tick; t < end; t++) {
        memcpy(input, hc_timeline_effective(timeline, player, t), game->input_size);
        game->sanitize_input(input); // as who reads it does: a prediction may not be so
        bool keys = differs(game, true, input, given);
        if (!keys && (listing != ALL || !differs(game, false, input, given)))
            continue;
        any_keys |= keys;
        take(game, listing == KEYS, input, given);
        struct hc_solo_change *change = &out->at[out->count++];
        change->tick = t;
        memcpy(change->input, given, sizeof given);
    }
    return any_keys;
}

static bool same_list(const struct hc_game *game, const struct hc_solo_changes *a,
                      const struct hc_solo_changes *b) {
    bool same = a->count == b->count;
    for (unsigned i = 0; same && i < a->count; i++)
        same =
            a->at[i].tick == b->at[i].tick && !differs(game, false, a->at[i].input, b->at[i].input);
    return same;
}

/// The shortest telling so far, and one that is tried.
struct telling {
    uint8_t data[2][HC_SV_TELL_BYTES];
    unsigned best;                         ///< of the two
    size_t bits;                           ///< of the best; SIZE_MAX: there is none yet
    const struct hc_solo_changes *changes; ///< that it lists
};

static void attempt(struct telling *telling, const struct hc_value_base *base,
                    const struct hc_solo_changes *changes, const struct hc_unit_value *value) {
    struct hc_bits_writer bits = hc_bits_writer(telling->data[!telling->best], HC_SV_TELL_BYTES);
    hc_value_put(&bits, base, changes, value, NULL);
    size_t taken = hc_bits_written(&bits);
    HC_ASSERT(!bits.failed);
    if (taken >= telling->bits)
        return;
    hc_bits_finish(&bits);
    telling->best = !telling->best;
    telling->bits = taken;
    telling->changes = changes;
}

void hc_sv_tell(struct hc_bits_writer *bits, const struct hc_timeline *timeline, hc_tick since,
                const struct hc_value_base *base, const struct hc_unit_value *value,
                struct hc_delta_counts *counts) {
    struct hc_solo_changes all, some, keys;
    struct telling telling;
    telling.best = 0; // its memory is large, and this is called very often
    telling.bits = SIZE_MAX;
    if (base->from == NULL || base->from->tick < since ||
        !hc_solo_lists(base->world, base->unit, base->from, value->tick)) {
        hc_value_put(bits, base, NULL, value, counts);
        return;
    }
    bool moved = list(timeline, base, value->tick, ALL, &all);
    if (!moved) // else it has hardly come out as if it had not
        attempt(&telling, base, NULL, value);
    if (all.count > 0)
        attempt(&telling, base, &all, value);
    if (moved) {
        list(timeline, base, value->tick, WITH_KEYS, &some);
        list(timeline, base, value->tick, KEYS, &keys);
        if (!same_list(base->world->game, &some, &all))
            attempt(&telling, base, &some, value);
        if (!same_list(base->world->game, &keys, &some))
            attempt(&telling, base, &keys, value);
    }
    if (counts != NULL)
        hc_value_put(bits, base, telling.changes, value, counts);
    else
        hc_bits_append(bits, telling.data[telling.best], telling.bits);
}
