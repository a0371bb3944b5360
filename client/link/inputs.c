/// Samples and stamps the inputs of the own players.
#include "client/link/inputs.h"

#include "common/input_fields.h"
#include "common/mark.h"

#include <string.h>

void hc_cl_inputs_init(struct hc_cl_inputs *inputs, const struct hc_game *game, uint8_t players) {
    inputs->game = game;
    inputs->players = players;
    hc_input_latches(game, inputs->buttons);
}

void hc_cl_inputs_begin(struct hc_cl_inputs *inputs) {
    inputs->any = false;
    inputs->next = 0;
    for (unsigned i = 0; i < HC_OWN_PLAYERS_MAX; i++)
        hc_cl_latches_begin(&inputs->latches[i]);
}

void hc_cl_inputs_press(struct hc_cl_inputs *inputs, unsigned index, const void *input) {
    uint8_t sample[HC_INPUT_MAX] = {0};
    memcpy(sample, input, inputs->game->input_size);
    hc_input_cut(inputs->game, sample); // a value that does not fit its bits cannot be sent
    inputs->game->sanitize_input(sample);
    hc_cl_latches_sample(&inputs->latches[index], inputs->buttons, sample,
                         inputs->game->input_size);
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

/// Stamps `tick`, with the samples since the newest stamp or with that stamp again.
static void stamp(struct hc_cl_inputs *inputs, hc_tick tick, bool repeats,
                  const struct hc_cl_inputs_shown *shown) {
    const struct hc_game *game = inputs->game;
    for (uint8_t i = 0; i < inputs->players; i++) {
        uint8_t input[HC_INPUT_MAX] = {0};
        if (repeats)
            hc_cl_latches_repeat(&inputs->latches[i], input, game->input_size);
        else
            hc_cl_latches_stamp(&inputs->latches[i], inputs->buttons, input, game->input_size);
        game->sanitize_input(input); // the server does, and no sample had all of these buttons
        hc_shown_ago_set(game, input, ago(shown->own, tick), ago(shown->others, tick));
        memcpy(inputs->stamped + place_of(inputs, tick, i), input, game->input_size);
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
        stamp(inputs, tick, true, shown);
    stamp(inputs, end, false, shown);
    return first;
}
