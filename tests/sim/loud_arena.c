/// The step of the arena, with shouts.
#include "tests/sim/loud_arena.h"

#include <string.h>

static bool step(struct hc_scene *scene, hc_entity self, void *out) {
    const struct hc_loud_arena *loud = (const void *)scene->world->game;
    bool alive = hc_arena.step(scene, self, out);
    bool shouts = alive && scene->world->kind_of[self] == HC_ARENA_KIND_PLAYER &&
                  scene->tick < loud->end && scene->tick % HC_LOUD_EVERY == 0;
    for (uint32_t i = 0; i < HC_LOUD_SHOUTS && shouts; i++)
        hc_emit(scene, HC_LOUD_SHOUT, i);
    return alive;
}

void hc_loud_arena_init(struct hc_loud_arena *loud, hc_tick end) {
    *loud = (struct hc_loud_arena){.game = hc_arena, .end = end};
    memcpy(loud->events, hc_arena.event_kinds, HC_LOUD_SHOUT * sizeof *loud->events);
    loud->events[HC_LOUD_SHOUT] =
        (struct hc_game_event_kind){.name = "shout", .bits = HC_EVENT_BITS_MAX};
    memcpy(loud->kinds, hc_arena.kinds, hc_arena.kind_count * sizeof *loud->kinds);
    loud->kinds[HC_ARENA_KIND_PLAYER].events_max += HC_LOUD_SHOUTS;
    loud->game.event_kinds = loud->events;
    loud->game.event_kind_count = HC_LOUD_SHOUT + 1;
    loud->game.kinds = loud->kinds;
    loud->game.step = step;
    loud->game.view = 0;
}
