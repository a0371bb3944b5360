/// The inputs of one player, copied from its client's timeline.
#include "tests/scenario/stamped_inputs.h"

#include "tests/scenario/require.h"

#include <stdlib.h>
#include <string.h>

struct stamped_inputs {
    uint32_t ticks;
    uint16_t input_size;
    hc_tick first;
    uint8_t *inputs;
    bool *stamped, *retracted;
};

struct stamped_inputs *stamped_inputs_create(uint32_t ticks, uint16_t input_size) {
    struct stamped_inputs *stamps = calloc(1, sizeof *stamps);
    ck_assert_ptr_nonnull(stamps);
    stamps->ticks = ticks;
    stamps->input_size = input_size;
    stamps->first = HC_NO_TICK;
    stamps->inputs = calloc(ticks, input_size);
    stamps->stamped = calloc(ticks, sizeof(bool));
    stamps->retracted = calloc(ticks, sizeof(bool));
    ck_assert(stamps->inputs && stamps->stamped && stamps->retracted);
    return stamps;
}

void stamped_inputs_destroy(struct stamped_inputs *stamps) {
    if (stamps == NULL)
        return;
    free(stamps->inputs);
    free(stamps->stamped);
    free(stamps->retracted);
    free(stamps);
}

static void note_input(struct stamped_inputs *stamps, hc_tick tick, const void *input) {
    uint8_t *stored = stamps->inputs + (size_t)tick * stamps->input_size;
    if (stamps->stamped[tick]) {
        REQUIRE(memcmp(stored, input, stamps->input_size) == 0, "stamp %u was rewritten", tick);
        return;
    }
    memcpy(stored, input, stamps->input_size);
    stamps->stamped[tick] = true;
    if (stamps->first == HC_NO_TICK || tick < stamps->first)
        stamps->first = tick;
}

void stamped_inputs_note(struct stamped_inputs *stamps, const struct hc_timeline *timeline,
                         hc_player player) {
    if (!hc_timeline_started(timeline))
        return;
    hc_tick head = hc_timeline_head(timeline);
    hc_tick end = hc_tick_min(head + HC_FUTURE_MAX, stamps->ticks);
    for (hc_tick tick = hc_tick_back(head, HC_HISTORY_MAX); tick < end; tick++) {
        enum hc_slot slot = hc_timeline_slot(timeline, player, tick);
        if (slot == HC_SLOT_KNOWN)
            note_input(stamps, tick, hc_timeline_input(timeline, player, tick));
        if (slot == HC_SLOT_RETRACTED)
            stamps->retracted[tick] = true;
    }
}

const uint8_t *stamped_input(const struct stamped_inputs *stamps, hc_tick tick) {
    if (tick >= stamps->ticks || !stamps->stamped[tick])
        return NULL;
    return stamps->inputs + (size_t)tick * stamps->input_size;
}

bool stamped_retracted(const struct stamped_inputs *stamps, hc_tick tick) {
    return tick < stamps->ticks && stamps->retracted[tick];
}

hc_tick stamped_first(const struct stamped_inputs *stamps) {
    return stamps->first;
}
