/// Values: encoding and decoding against a baseline, its extrapolation and input changes.
#include "proto/value.h"

#include "hindcast/check.h"
#include "proto/fields.h"

#include <string.h>

/// Extrapolates the baseline to `tick` into `out`, which gets the scratch memory.
static void extrapolate(const struct hc_value_base *base, const struct hc_input_changes *changes,
                        hc_tick tick, struct hc_unit_value *out) {
    out->tick = tick;
    hc_unit_place(base->world, out, base->scratch);
    if (base->from == NULL)
        hc_extrapolate_absent(base->world, base->unit, tick, out);
    else
        hc_extrapolate(base->extrapolator, base->unit, base->from, changes, base->referee, tick,
                       out);
}

static bool takes_changes(const struct hc_value_base *base, hc_tick tick) {
    return base->from != NULL &&
           hc_extrapolate_takes_changes(base->world, base->unit, base->from, tick);
}

/// Bits of a tick in [0, left).
static unsigned tick_bits(hc_tick left) {
    unsigned bits = 0;
    while (left > UINT32_C(1) << bits)
        bits++;
    return bits;
}

// ---- Input changes ------------------------------------------------------------------------------

static void put_changes(struct hc_bits_writer *bits, const struct hc_value_base *base,
                        const struct hc_input_changes *changes, hc_tick end) {
    uint8_t first[HC_INPUT_MAX];
    const uint8_t *before = first;
    hc_tick next = base->from->tick;
    hc_extrapolate_input(base->world, base->from, first);
    for (unsigned i = 0; i < changes->count; i++) {
        const struct hc_input_change *change = &changes->at[i];
        HC_ASSERT(change->tick >= next && change->tick < end);
        if (i > 0)
            hc_bits_put(bits, 1, 1);
        hc_bits_put(bits, change->tick - next, tick_bits(end - next));
        hc_delta_put_other_input(bits, base->world->game, before, change->input);
        before = change->input;
        next = change->tick + 1;
    }
    if (next < end)
        hc_bits_put(bits, 0, 1);
}

static void get_changes(struct hc_bits_reader *bits, const struct hc_value_base *base, hc_tick end,
                        struct hc_input_changes *out) {
    const struct hc_game *game = base->world->game;
    uint8_t input[HC_INPUT_MAX] = {0};
    hc_tick next = base->from->tick;
    hc_extrapolate_input(base->world, base->from, input);
    out->count = 0;
    do {
        struct hc_input_change *change = &out->at[out->count++];
        hc_tick by = hc_bits_get(bits, tick_bits(end - next));
        if (by >= end - next) {
            bits->failed = true;
            by = 0;
        }
        change->tick = next + by;
        hc_delta_get_other_input(bits, game, input, input);
        game->sanitize_input(input); // the steps need a sanitized one
        memcpy(change->input, input, sizeof input);
        next = change->tick + 1;
    } while (next < end && hc_bits_get(bits, 1) != 0);
}

// ---- Values -------------------------------------------------------------------------------------

void hc_value_put_extrapolated(struct hc_bits_writer *bits, const struct hc_value_base *base,
                               const struct hc_input_changes *changes,
                               const struct hc_unit_value *extrapolated,
                               const struct hc_unit_value *value) {
    bool takes = takes_changes(base, value->tick), listed = changes != NULL && changes->count > 0;
    HC_ASSERT(takes || !listed);
    if (!takes) {
        hc_delta_put(bits, base->world, base->unit, extrapolated, value);
        return;
    }
    bool same = !listed && hc_delta_same(base->world, base->unit, extrapolated, value);
    hc_bits_put(bits, same, 1);
    if (same)
        return;
    hc_bits_put(bits, listed, 1);
    if (!listed) {
        hc_delta_put_changes(bits, base->world, base->unit, extrapolated, value);
        return;
    }
    put_changes(bits, base, changes, value->tick);
    hc_delta_put(bits, base->world, base->unit, extrapolated, value);
}

void hc_value_put(struct hc_bits_writer *bits, const struct hc_value_base *base,
                  const struct hc_input_changes *changes, const struct hc_unit_value *value) {
    struct hc_unit_value extrapolated;
    extrapolate(base, changes, value->tick, &extrapolated);
    hc_value_put_extrapolated(bits, base, changes, &extrapolated, value);
}

void hc_value_get(struct hc_bits_reader *bits, const struct hc_value_base *base,
                  struct hc_unit_value *out) {
    struct hc_input_changes changes;
    struct hc_unit_value extrapolated;
    changes.count = 0; // the rest is large, and this function is called often
    bool same = hc_bits_get(bits, 1) != 0;
    if (!same && takes_changes(base, out->tick) && hc_bits_get(bits, 1) != 0) {
        get_changes(bits, base, out->tick, &changes);
        same = hc_bits_get(bits, 1) != 0;
    }
    extrapolate(base, &changes, out->tick, &extrapolated);
    hc_delta_get_changes(bits, base->world, base->unit, same, &extrapolated, out);
    if (hc_unit_player(base->world, base->unit) != HC_NO_PLAYER)
        base->world->game->sanitize_input(out->input);
}
