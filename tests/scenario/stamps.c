#include "tests/scenario/stamps.h"

#include "tests/scenario/require.h"

#include <stdlib.h>
#include <string.h>

struct stamps {
    uint32_t ticks;
    uint16_t input_size;
    hc_tick first, end;
    uint8_t *inputs;
    bool *stamped, *retracted;
};

struct stamps *stamps_create(uint32_t ticks, uint16_t input_size) {
    struct stamps *stamps = calloc(1, sizeof *stamps);
    ck_assert_ptr_nonnull(stamps);
    stamps->ticks = ticks;
    stamps->input_size = input_size;
    stamps->first = stamps->end = HC_NO_TICK;
    stamps->inputs = calloc(ticks, input_size);
    stamps->stamped = calloc(ticks, sizeof(bool));
    stamps->retracted = calloc(ticks, sizeof(bool));
    ck_assert(stamps->inputs && stamps->stamped && stamps->retracted);
    return stamps;
}

void stamps_destroy(struct stamps *stamps) {
    if (stamps == NULL)
        return;
    free(stamps->inputs);
    free(stamps->stamped);
    free(stamps->retracted);
    free(stamps);
}

static void note_input(struct stamps *stamps, hc_tick tick, const void *input) {
    uint8_t *kept = stamps->inputs + (size_t)tick * stamps->input_size;
    if (stamps->stamped[tick]) {
        REQUIRE(memcmp(kept, input, stamps->input_size) == 0, "stamp %u was rewritten", tick);
        return;
    }
    memcpy(kept, input, stamps->input_size);
    stamps->stamped[tick] = true;
    if (stamps->first == HC_NO_TICK)
        stamps->first = stamps->end = tick;
    stamps->first = hc_tick_min(stamps->first, tick);
    stamps->end = hc_tick_max(stamps->end, tick + 1);
}

void stamps_note(struct stamps *stamps, const struct hc_timeline *timeline, hc_player player) {
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

const uint8_t *stamps_input(const struct stamps *stamps, hc_tick tick) {
    if (tick >= stamps->ticks || !stamps->stamped[tick])
        return NULL;
    return stamps->inputs + (size_t)tick * stamps->input_size;
}

bool stamps_retracted(const struct stamps *stamps, hc_tick tick) {
    return tick < stamps->ticks && stamps->retracted[tick];
}

hc_tick stamps_first(const struct stamps *stamps) {
    return stamps->first;
}

hc_tick stamps_end(const struct stamps *stamps) {
    return stamps->end;
}
