/// The runs of vacant players.
#include "common/vacancy.h"

#include "common/presence.h"

struct hc_vacancy hc_vacancy_of(const struct hc_timeline *tl, const struct hc_ring_row *row,
                                const struct hc_ring_row *next, bool again) {
    const uint8_t *counts = tl->event_total > 0 ? hc_ring_event_counts(tl, next->slot) : NULL;
    return (struct hc_vacancy){.row = row, .next = next, .event_counts = counts, .again = again};
}

/// The first entity in [first, end) that is alive at the tick or in what the row of the next one
/// holds, or has game events there; `end`: none. Of a step that has been taken before, also the
/// first one that became known or unknown by it.
static uint32_t next_used(const struct hc_vacancy *at, uint32_t first, uint32_t end) {
    const uint8_t *now = at->row->presence, *then = at->next->presence;
    for (; first + 8 <= end; first += 8) {
        uint64_t a = hc_eight_bytes(now + first), b = hc_eight_bytes(then + first);
        uint64_t used = ((a | b) & HC_PRESENCE_ALIVE_BITS) | (at->again ? a ^ b : 0);
        if (at->event_counts != NULL)
            used |= hc_eight_bytes(at->event_counts + first);
        if (used != 0)
            break;
    }
    for (; first < end; first++) {
        bool used = now[first] == HC_ALIVE || then[first] == HC_ALIVE ||
                    (at->again && now[first] != then[first]);
        if (used || (at->event_counts != NULL && at->event_counts[first] != 0))
            break;
    }
    return first;
}

/// The first player in [first, end) that joins or leaves at `tick`; `end`: none does.
static hc_player next_change(const struct hc_timeline *tl, hc_tick tick, hc_player first,
                             hc_player end) {
    const uint8_t *changes = tl->inputs.roster_change + hc_inputs_cell(&tl->inputs, 0, tick);
    while (first + 8 <= end && hc_eight_bytes(changes + first) == 0)
        first = (hc_player)(first + 8);
    while (first < end && changes[first] == HC_ROSTER_NONE)
        first++;
    return first;
}

_Static_assert(HC_ROSTER_NONE == 0, "no change is all zeros");

/// Whether steps may be left out: the game promises that vacant players stay so.
static bool leaves_out(const struct hc_timeline *tl) {
    return tl->config.world->game->stays_vacant && !tl->config.full;
}

uint32_t hc_vacancy_end(const struct hc_timeline *tl, const struct hc_vacancy *at, uint32_t first) {
    const struct hc_world *world = tl->config.world;
    hc_player player = world->owner_of[first], end = world->players;
    if (!leaves_out(tl) || player == HC_NO_PLAYER || first != hc_world_player(world, player) ||
        at->row->presence[first] == HC_ALIVE)
        return first;
    uint32_t used = next_used(at, first, hc_world_player(world, end));
    if (used < hc_world_player(world, end))
        end = world->owner_of[used];
    return hc_world_player(world, next_change(tl, at->row->tick, player, end));
}

uint32_t hc_vacancy_next(const struct hc_timeline *tl, const struct hc_vacancy *at, uint32_t first,
                         uint32_t end) {
    const struct hc_world *world = tl->config.world;
    if (!leaves_out(tl) || (first != HC_REFEREE && world->owner_of[first] == HC_NO_PLAYER))
        return end;
    hc_player player = first == HC_REFEREE ? 0 : (hc_player)(world->owner_of[first] + 1);
    for (; player < world->players && hc_world_player(world, player) < end; player++) {
        uint32_t block = hc_world_player(world, player);
        if (hc_vacancy_end(tl, at, block) > block)
            return block;
    }
    return end;
}
