/// Owns the simulation of the other build.
#include "check/builds.h"

#include "check/call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEP_S = 10, AGES = 20, PATTERN = 0x5c, PLACE = 96 };

struct hc_ck_builds {
    const struct hc_world *other;
    struct hc_ck_faults *faults;
    struct hc_plain *plain;
    bool over; ///< a difference was found
};

struct hc_ck_builds *hc_ck_builds_create(const struct hc_world *other,
                                         struct hc_ck_faults *faults) {
    struct hc_ck_builds *builds = calloc(1, sizeof(*builds));
    if (builds == NULL)
        return NULL;
    *builds = (struct hc_ck_builds){
        .other = other, .faults = faults, .plain = hc_plain_create(other, false)};
    if (builds->plain == NULL) {
        free(builds);
        return NULL;
    }
    hc_plain_start(builds->plain);
    return builds;
}

void hc_ck_builds_destroy(struct hc_ck_builds *builds) {
    if (builds != NULL)
        hc_plain_destroy(builds->plain);
    free(builds);
}

/// The arguments of a step that a crash of the game may end.
struct call {
    struct hc_plain *plain;
    const uint8_t *inputs, *roster_changes;
};

static void step(void *context) {
    struct call *call = context;
    hc_plain_step(call->plain, call->inputs, call->roster_changes);
}

/// Compares the functions of inputs for one input.
static void compare_input(struct hc_ck_builds *builds, const struct hc_game *game,
                          const void *input, uint32_t age) {
    struct hc_ck_result a, b;
    size_t size = game->input_size;
    hc_ck_call_sanitize(game, input, &a);
    hc_ck_call_sanitize(builds->other->game, input, &b);
    if (a.end.signal != b.end.signal || (a.end.signal == 0 && memcmp(a.bytes, b.bytes, size) != 0))
        hc_ck_fault(builds->faults, HC_CK_BUILD, "sanitize_input",
                    "sanitize_input gives another input in the other build");
    hc_ck_call_predict(game, input, age, PATTERN, &a);
    hc_ck_call_predict(builds->other->game, input, age, PATTERN, &b);
    if (a.end.signal != b.end.signal || (a.end.signal == 0 && memcmp(a.bytes, b.bytes, size) != 0))
        hc_ck_fault(builds->faults, HC_CK_BUILD, "predict_input",
                    "predict_input gives another input in the other build, at age %u",
                    (unsigned)age);
}

/// Reports the first entity whose state or events differ.
static void compare_world(struct hc_ck_builds *builds, const struct hc_world *world,
                          const struct hc_plain *plain) {
    char place[PLACE];
    for (uint32_t e = 0; e < world->entities && !builds->over; e++) {
        const struct hc_kind *kind = hc_world_kind(world, (hc_entity)e);
        size_t at = (size_t)e * world->stride, events = (size_t)e * HC_EMITTED_MAX;
        const uint8_t *state = hc_plain_states(plain) + at;
        const uint8_t *other = hc_plain_states(builds->plain) + at;
        uint8_t count = hc_plain_event_counts(plain)[e];
        const char *what = NULL;
        hc_ck_place(world, hc_plain_tick(plain), (hc_entity)e, place, sizeof(place));
        if (hc_plain_presence(plain)[e] != hc_plain_presence(builds->plain)[e])
            what = "presence";
        else if (memcmp(state, other, kind->state_size) != 0)
            what = hc_ck_differing(kind, state, other) != NULL
                       ? hc_ck_differing(kind, state, other)->name
                       : "state";
        else if (count != hc_plain_event_counts(builds->plain)[e] ||
                 memcmp(hc_plain_events(plain) + events, hc_plain_events(builds->plain) + events,
                        count * sizeof(hc_game_event)) != 0)
            what = "events";
        if (what == NULL)
            continue;
        hc_ck_fault(builds->faults, HC_CK_BUILD, "state", "%s: another %s in the other build",
                    place, what);
        builds->over = true;
    }
}

void hc_ck_builds_step(struct hc_ck_builds *builds, const struct hc_world *world,
                       const struct hc_plain *plain, const uint8_t *inputs,
                       const uint8_t *roster_changes) {
    struct call call = {builds->plain, inputs, roster_changes};
    if (builds->over)
        return;
    for (hc_player p = 0; p < world->players; p++)
        compare_input(builds, world->game, inputs + (size_t)p * world->game->input_size,
                      1 + hc_plain_tick(plain) % AGES);
    struct hc_guard_end end;
    builds->over = !hc_ck_call_guarded(step, &call, STEP_S, "a step of the other build", &end);
    if (builds->over)
        hc_ck_crash(builds->faults, &end, "a step of the other build");
    compare_world(builds, world, plain);
}
