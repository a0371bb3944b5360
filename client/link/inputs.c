/// Samples and stamps the inputs of the own players.
#include "client/link/inputs.h"

#include "common/input_fields.h"
#include "common/mark.h"

#include <string.h>

void hc_cl_inputs_init(struct hc_cl_inputs *inputs, const struct hc_game *game, uint8_t players) {
    inputs->game = game;
    inputs->players = players;
}

void hc_cl_inputs_begin(struct hc_cl_inputs *inputs) {
    inputs->any = false;
    inputs->next = 0;
    memset(inputs->last, 0, sizeof inputs->last);
}

void hc_cl_inputs_press(struct hc_cl_inputs *inputs, unsigned index, const void *input) {
    uint8_t *pressed = inputs->pressed[index];
    memcpy(pressed, input, inputs->game->input_size);
    hc_input_cut(inputs->game, pressed); // a value that does not fit its bits cannot be sent
    inputs->game->sanitize_input(pressed);
}

/// The byte of the ring at which the input of player `index` at `tick` begins.
static size_t place_of(const struct hc_cl_inputs *inputs, hc_tick tick, unsigned index) {
    return ((size_t)(tick % HC_CL_INPUTS) * inputs->players + index) * inputs->game->input_size;
}

const uint8_t *hc_cl_inputs_at(const struct hc_cl_inputs *inputs, hc_tick tick, unsigned index) {
    return inputs->stamped + place_of(inputs, tick, index);
}

/// Sets or clears the mark of a forced input; returns whether it was set.
static bool mark_forced(struct hc_cl_inputs *inputs, unsigned index, hc_tick tick, bool set) {
    uint64_t *word = &inputs->forced[index][tick % HC_CL_INPUTS / 64];
    uint64_t bit = UINT64_C(1) << tick % 64;
    bool was_set = (*word & bit) != 0;
    *word = set ? *word | bit : *word & ~bit;
    return was_set;
}

uint32_t hc_cl_inputs_force(struct hc_cl_inputs *inputs, unsigned index, hc_tick first,
                            uint32_t count) {
    uint32_t forced = 0;
    for (uint32_t i = 0; i < count; i++) {
        hc_tick tick = first + i;
        bool in_ring = inputs->any && tick < inputs->next && inputs->next - tick <= HC_CL_INPUTS;
        forced += in_ring && !mark_forced(inputs, index, tick, true);
    }
    return forced;
}

/// How many ticks `shown` is before `tick`.
static uint32_t ago(hc_tick shown, hc_tick tick) {
    return tick > shown ? tick - shown : 0;
}

/// Stamps the newest inputs with `tick`.
static void stamp(struct hc_cl_inputs *inputs, hc_tick tick,
                  const struct hc_cl_inputs_shown *shown) {
    for (uint8_t i = 0; i < inputs->players; i++) {
        uint8_t *input = inputs->last[i];
        hc_shown_ago_set(inputs->game, input, ago(shown->own, tick), ago(shown->others, tick));
        memcpy(inputs->stamped + place_of(inputs, tick, i), input, inputs->game->input_size);
        mark_forced(inputs, i, tick, false);
    }
    inputs->next = tick + 1;
    inputs->any = true;
}

hc_tick hc_cl_inputs_sample(struct hc_cl_inputs *inputs, hc_tick wanted, hc_tick end,
                            const struct hc_cl_inputs_shown *shown) {
    if (inputs->any && inputs->next > end)
        return inputs->next; // that tick has its input
    hc_tick first = hc_tick_max(wanted, hc_tick_back(end, HC_CL_INPUTS - 1));
    if (inputs->any)
        first = hc_tick_max(first, inputs->next);
    first = hc_tick_min(first, end);
    if (first < end)
        HC_MARK("stamp-gap-filled");
    for (hc_tick tick = first; tick < end; tick++)
        stamp(inputs, tick, shown);
    memcpy(inputs->last, inputs->pressed, sizeof inputs->last);
    stamp(inputs, end, shown);
    return first;
}
