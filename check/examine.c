/// Owns the conditions under which a step is repeated, and the sentences of their faults.
#include "check/examine.h"

#include "check/view.h"
#include "common/draw_input.h"
#include "common/scene.h"
#include "common/unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PATTERN = 0x5c,    ///< bytes of outputs before usual steps
    DIRTY = 0xa3,      ///< complement of PATTERN: every bit differs
    STEPS_A_TICK = 64, ///< in larger worlds the dearest repetitions are of about this many steps
    REPETITIONS = 3,   ///< of a step and of one that differs, before that is a fault
    PLACE = 96,        ///< bytes of a place
    WHERE = 160,       ///< bytes of a place's identity
};

struct hc_ck_examiner {
    const struct hc_world *world;
    struct hc_ck_faults *faults;
    uint64_t seed, steps;
    bool crashed;
    struct hc_rng rng;
    hc_tick tick;                         ///< of `shown` and `backwards`
    struct hc_ck_view shown, changed;     ///< the world as it is, and with changes
    struct hc_ck_result *backwards;       ///< [entities] of the steps in descending order
    const struct hc_scene *scene;         ///< of the step that is examined
    hc_entity *known;                     ///< [entities] neighbours that a client knows
    uint8_t *past_states, *past_presence; ///< [lookback] worlds of a past that is not as it is
    hc_entity *past_known;                ///< [entities] past neighbours of the same
    uint64_t past_made;                   ///< bit a - 1: the world of `a` ticks ago is made
    uint64_t past_declared;               ///< hc_scene.past_read of the step that is examined
    uint32_t past_held;                   ///< ticks of the past that the client holds
    uint8_t *run_states, *run_presence;   ///< the output of `step_run`, as in a view
};

struct hc_ck_examiner *hc_ck_examiner_create(const struct hc_world *world,
                                             struct hc_ck_faults *faults, uint64_t seed) {
    struct hc_ck_examiner *examiner = calloc(1, sizeof(*examiner));
    if (examiner == NULL)
        return NULL;
    examiner->world = world;
    examiner->faults = faults;
    examiner->seed = seed;
    examiner->rng = hc_rng_init(seed, 1);
    examiner->tick = HC_NO_TICK;
    examiner->backwards = calloc(world->entities, sizeof(*examiner->backwards));
    examiner->known = calloc(world->entities, sizeof(*examiner->known));
    examiner->run_states = calloc(world->entities, world->stride);
    examiner->run_presence = calloc(world->entities, 1);
    examiner->past_states =
        calloc(world->game->lookback + 1u, (size_t)world->entities * world->stride);
    examiner->past_known = calloc(world->entities, sizeof(*examiner->past_known));
    examiner->past_presence = calloc(world->game->lookback + 1u, world->entities);
    if (examiner->past_states != NULL && examiner->past_known != NULL &&
        examiner->past_presence != NULL && examiner->run_states != NULL &&
        examiner->run_presence != NULL && hc_ck_view_create(world, &examiner->shown) &&
        hc_ck_view_create(world, &examiner->changed) && examiner->backwards != NULL &&
        examiner->known != NULL)
        return examiner;
    hc_ck_examiner_destroy(examiner);
    return NULL;
}

void hc_ck_examiner_destroy(struct hc_ck_examiner *examiner) {
    if (examiner == NULL)
        return;
    hc_ck_view_free(&examiner->shown);
    hc_ck_view_free(&examiner->changed);
    free(examiner->backwards);
    free(examiner->known);
    free(examiner->run_states);
    free(examiner->run_presence);
    free(examiner->past_states);
    free(examiner->past_known);
    free(examiner->past_presence);
    free(examiner);
}

bool hc_ck_examiner_crashed(const struct hc_ck_examiner *examiner) {
    return examiner->crashed;
}

uint64_t hc_ck_examiner_steps(const struct hc_ck_examiner *examiner) {
    return examiner->steps;
}

// ---- Sentences ----------------------------------------------------------------------------------

/// Whether two steps emitted the same events.
static bool same_events(const struct hc_ck_result *a, const struct hc_ck_result *b) {
    return a->event_count == b->event_count &&
           memcmp(a->events, b->events, a->event_count * sizeof(a->events[0])) == 0;
}

/// Writes the difference of two results of `self` to `text`: a field with its values.
static const char *difference(const struct hc_ck_examiner *examiner, hc_entity self,
                              const struct hc_ck_result *usual, const struct hc_ck_result *other,
                              char text[static PLACE]) {
    if (other->end.signal != 0)
        snprintf(text, PLACE, "it %s", hc_ck_ending(&other->end));
    else if (!same_events(usual, other))
        snprintf(text, PLACE, "it emits %u events instead of %u, or others", other->event_count,
                 usual->event_count);
    else if (usual->alive != other->alive)
        snprintf(text, PLACE, "the entity is %s instead of %s", other->alive ? "alive" : "absent",
                 usual->alive ? "alive" : "absent");
    else {
        const struct hc_field *field =
            hc_ck_differing(hc_world_kind(examiner->world, self), usual->bytes, other->bytes);
        snprintf(text, PLACE, "field %s is %" PRId64 " instead of %" PRId64, field->name,
                 hc_field_get(field, other->bytes), hc_field_get(field, usual->bytes));
    }
    return text;
}

static bool same(const struct hc_ck_examiner *examiner, hc_entity self,
                 const struct hc_ck_result *a, const struct hc_ck_result *b) {
    if (a->end.signal != b->end.signal || a->alive != b->alive || !same_events(a, b))
        return false;
    return !a->alive ||
           memcmp(a->bytes, b->bytes, hc_world_kind(examiner->world, self)->state_size) == 0;
}

/// Reports that a repetition of a step differs.
static void report(struct hc_ck_examiner *examiner, enum hc_ck_kind kind, hc_entity self,
                   const struct hc_ck_result *usual, const struct hc_ck_result *other,
                   const char *why) {
    char place[PLACE], what[PLACE];
    hc_ck_place(examiner->world, examiner->tick, self, place, sizeof(place));
    hc_ck_fault(examiner->faults, kind, hc_world_kind(examiner->world, self)->name, "%s: %s: %s",
                place, why, difference(examiner, self, usual, other, what));
}

/// Whether the step gives `other` under a condition, in `scene` and with output of `pattern`,
/// because of that. It does not if one of the two results is another one when it is repeated: then
/// the step depends on more than the world, which is reported in place of the condition's fault.
static bool is_caused(struct hc_ck_examiner *examiner, hc_entity self,
                      const struct hc_ck_result *usual, struct hc_scene *scene, uint8_t pattern,
                      const struct hc_ck_result *other) {
    struct hc_scene shown = hc_ck_view_show(examiner->scene, &examiner->shown);
    struct hc_ck_result again;
    for (unsigned i = 0; i < 2 * REPETITIONS; i++) {
        bool is_usual = i % 2 == 0;
        const struct hc_ck_result *before = is_usual ? usual : other;
        examiner->past_made = 0;
        hc_ck_call_step(is_usual ? &shown : scene, self, is_usual ? PATTERN : pattern, &again);
        if (same(examiner, self, before, &again))
            continue;
        report(examiner, HC_CK_REPEAT, self, before, &again,
               "the step gives another state when it is repeated");
        return false;
    }
    return true;
}

// ---- Conditions ---------------------------------------------------------------------------------

/// Reports fields out of range.
static void check_range(struct hc_ck_examiner *examiner, hc_entity self,
                        const struct hc_ck_result *result, const char *when) {
    const struct hc_kind *kind = hc_world_kind(examiner->world, self);
    char place[PLACE], where[WHERE];
    for (unsigned i = 0; i < kind->field_count && result->alive; i++) {
        const struct hc_field *field = &kind->fields[i];
        int64_t value = hc_field_get(field, result->bytes);
        if (hc_field_fits(field, value))
            continue;
        snprintf(where, sizeof(where), "%s.%s", kind->name, field->name);
        hc_ck_place(examiner->world, examiner->tick, self, place, sizeof(place));
        hc_ck_fault(examiner->faults, HC_CK_RANGE, where,
                    "%s: field %s is %" PRId64 "%s, which does not fit %s%u bits", place,
                    field->name, value, when, field->is_signed ? "signed " : "", field->bits);
    }
}

/// Reports events that the game's tables do not allow. A step whose events fill their room has
/// emitted one more, unless its kind or number is wrong too.
static void check_emitted(struct hc_ck_examiner *examiner, hc_entity self,
                          const struct hc_ck_result *result) {
    const struct hc_kind *kind = hc_world_kind(examiner->world, self);
    char place[PLACE];
    if (!result->refused)
        return;
    hc_ck_place(examiner->world, examiner->tick, self, place, sizeof(place));
    if (result->event_count < kind->events_max)
        hc_ck_fault(examiner->faults, HC_CK_EMIT, kind->name,
                    "%s: the step emits an event that event_kinds does not have: its kind is not "
                    "below event_kind_count, or its number has more than the bits of its kind",
                    place);
    else
        hc_ck_fault(examiner->faults, HC_CK_EMIT, kind->name,
                    "%s: the step emits more events than events_max of the kind %s, which is %u",
                    place, kind->name, kind->events_max);
}

/// Reports that a slot of a vacant player comes alive or emits, if the game promises otherwise.
static void check_vacant(struct hc_ck_examiner *examiner, hc_entity self,
                         const struct hc_ck_result *result) {
    const struct hc_world *world = examiner->world;
    const struct hc_scene *scene = examiner->scene;
    hc_player owner = world->owner_of[self];
    char place[PLACE];
    if (!world->game->stays_vacant || owner == HC_NO_PLAYER ||
        scene->roster_changes[owner] != HC_ROSTER_NONE ||
        (!result->alive && result->event_count == 0))
        return;
    for (uint32_t i = 0; i < world->per_owner; i++)
        if (scene->presence[hc_world_player(world, owner) + i] == HC_ALIVE)
            return;
    hc_ck_place(world, examiner->tick, self, place, sizeof(place));
    hc_ck_fault(
        examiner->faults, HC_CK_VACANT, hc_world_kind(world, self)->name,
        "%s: its player is vacant, and the step %s: the game says stays_vacant, so such steps "
        "are left out",
        place, result->alive ? "lets it appear" : "emits events");
}

/// Reports that the step has written into the world before it, and restores that.
static void check_written(struct hc_ck_examiner *examiner, hc_entity self) {
    const struct hc_world *world = examiner->world;
    const struct hc_scene *scene = examiner->scene;
    struct hc_ck_view *view = &examiner->shown;
    char place[PLACE], other[PLACE];
    hc_ck_place(world, examiner->tick, self, place, sizeof(place));
    for (uint32_t e = 0; e < world->entities; e++) {
        size_t at = (size_t)e * world->stride;
        if (view->presence[e] == scene->presence[e] &&
            memcmp(view->states + at, scene->states + at, world->stride) == 0)
            continue;
        const struct hc_field *field = hc_ck_differing(hc_world_kind(world, (hc_entity)e),
                                                       view->states + at, scene->states + at);
        hc_ck_place(world, examiner->tick, (hc_entity)e, other, sizeof(other));
        hc_ck_fault(examiner->faults, HC_CK_WRITE, "state",
                    "%s: the step writes %s%s into the state before it, of %s", place,
                    field != NULL ? "field " : "", field != NULL ? field->name : "presence", other);
    }
    if (memcmp(view->inputs, scene->inputs, (size_t)world->players * world->game->input_size) != 0)
        hc_ck_fault(examiner->faults, HC_CK_WRITE, "input",
                    "%s: the step writes into the inputs that it reads", place);
    hc_ck_view_copy(scene, view);
}

/// Reports a slot of a run whose state is not that of its `step`, or whose other bytes are written.
static void check_run_slot(struct hc_ck_examiner *examiner, hc_entity entity) {
    const struct hc_world *world = examiner->world;
    const struct hc_kind *kind = hc_world_kind(world, entity);
    const struct hc_ck_result *single = &examiner->backwards[entity];
    const uint8_t *state = examiner->run_states + (size_t)entity * world->stride;
    uint8_t presence = examiner->run_presence[entity];
    struct hc_ck_result result = *single;
    struct hc_scene shown = hc_ck_view_show(examiner->scene, &examiner->shown);
    char place[PLACE];
    result.alive = presence == HC_ALIVE;
    hc_ck_place(world, examiner->tick, entity, place, sizeof(place));
    if (presence != HC_ALIVE && presence != HC_ABSENT)
        hc_ck_fault(examiner->faults, HC_CK_RUN, "presence",
                    "%s: step_run leaves its presence unwritten, or neither alive nor absent",
                    place);
    for (unsigned i = kind->state_size; i < world->stride; i++)
        if (state[i] != PATTERN)
            hc_ck_fault(examiner->faults, HC_CK_RUN, "outside",
                        "%s: step_run writes behind its %u bytes of state", place,
                        kind->state_size);
    memcpy(result.bytes, state, kind->state_size);
    if (single->end.signal == 0 && !same(examiner, entity, single, &result) &&
        is_caused(examiner, entity, single, &shown, PATTERN, single))
        report(examiner, HC_CK_RUN, entity, single, &result,
               "step_run gives another state than step");
}

/// Takes all steps again by `step_run`, in runs of one kind, and compares them with the single
/// ones. Steps that depend on more than the world differ without a fault of the run.
static void check_runs(struct hc_ck_examiner *examiner, const struct hc_scene *scene) {
    const struct hc_world *world = examiner->world;
    if (hc_ck_faults_have(examiner->faults, HC_CK_VARIABLE, NULL) ||
        hc_ck_faults_have(examiner->faults, HC_CK_REPEAT, NULL))
        return;
    uint32_t end;
    for (uint32_t first = 1; first < world->entities; first = end) {
        struct hc_scene shown = hc_ck_view_show(scene, &examiner->shown);
        uint32_t most = 1 + hc_rng_below(&examiner->rng, world->entities);
        struct hc_guard_end call_end;
        for (end = first + 1; end < world->entities && end - first < most &&
                              world->kind_of[end] == world->kind_of[first];)
            end++;
        bool done = hc_ck_call_run(&shown, (hc_entity)first, end - first, PATTERN,
                                   examiner->run_states + (size_t)first * world->stride,
                                   examiner->run_presence + first, &call_end);
        if (call_end.signal != 0)
            hc_ck_crash(examiner->faults, &call_end, "step_run");
        for (uint32_t e = first; e < end && done; e++)
            check_run_slot(examiner, (hc_entity)e);
    }
    hc_ck_view_copy(scene, &examiner->shown);
}

/// Begins a tick: takes all steps in descending order, to be compared with the usual ones.
static void begin_tick(struct hc_ck_examiner *examiner, const struct hc_scene *scene) {
    struct hc_scene shown = hc_ck_view_show(scene, &examiner->shown);
    char place[PLACE];
    examiner->tick = scene->tick;
    hc_ck_view_copy(scene, &examiner->shown);
    for (uint32_t e = examiner->world->entities; e-- > 0;) {
        struct hc_ck_result *result = &examiner->backwards[e];
        hc_ck_call_step(&shown, (hc_entity)e, PATTERN, result);
        examiner->steps++;
        if (result->end.signal != 0)
            hc_ck_crash(
                examiner->faults, &result->end, "%s: the step",
                hc_ck_place(examiner->world, examiner->tick, (hc_entity)e, place, sizeof(place)));
    }
    hc_ck_view_copy(scene, &examiner->shown);
    if (examiner->world->game->step_run != NULL)
        check_runs(examiner, scene);
}

// ---- What a step may not read -------------------------------------------------------------------

/// The parts of a world: entities, inputs, roster changes, field groups, all reductions, and the
/// past.
enum part { ENTITY, INPUT, ROSTER, GROUP, REDUCTIONS, LOOKBACK };

static uint32_t part_count(const struct hc_world *world) {
    return world->entities + 2u * world->players + HC_GROUPS_MAX + 2;
}

/// Splits the number of a part into its kind, which it returns, and its index.
static enum part part_of(const struct hc_world *world, uint32_t number, uint32_t *index) {
    const uint32_t counts[] = {
        world->entities, world->players, world->players, HC_GROUPS_MAX, 1, 1};
    unsigned part = 0;
    while (number >= counts[part])
        number -= counts[part++];
    *index = number;
    return (enum part)part;
}

/// Draws the fields of `group`, or with -1 all fields.
static void randomize_fields(const struct hc_kind *kind, int group, struct hc_rng *rng,
                             uint8_t *state) {
    for (unsigned i = 0; i < kind->field_count; i++)
        if (group < 0 || kind->fields[i].group == group)
            hc_field_set(&kind->fields[i], state, hc_draw_field(&kind->fields[i], rng));
}

static void copy_field(const struct hc_field *field, uint8_t *to, const uint8_t *from) {
    memcpy(to + field->offset, from + field->offset, field->size);
}

/// Changes an entity that the step of `scene->self` may not read, in a way that leaves it so.
static bool change_entity(const struct hc_scene *scene, struct hc_ck_view *view, hc_entity entity,
                          struct hc_rng *rng) {
    const struct hc_world *world = scene->world;
    const struct hc_kind *kind = hc_world_kind(world, entity);
    struct hc_scene changed = hc_ck_view_show(scene, view);
    uint8_t *state = view->states + (size_t)entity * world->stride;
    uint8_t *presence = &view->presence[entity], before = *presence;
    uint8_t old[HC_STATE_MAX];
    if (entity == HC_REFEREE || hc_scene_may_read(scene, entity))
        return false;
    memcpy(old, state, world->stride);
    if (hc_rng_below(rng, 4) == 0)
        *presence = before == HC_ALIVE ? HC_ABSENT : HC_ALIVE;
    randomize_fields(kind, -1, rng, state);
    if (hc_scene_may_read(&changed, entity)) { // it has come into reach
        *presence = before;
        if (before == HC_ALIVE && kind->x != NULL) {
            copy_field(&kind->fields[hc_kind_field(kind, kind->x)], state, old);
            copy_field(&kind->fields[hc_kind_field(kind, kind->y)], state, old);
        }
    }
    if (*presence != HC_ALIVE)
        memset(state, 0, world->stride);
    return true;
}

/// Changes part `number` in the view if the step may not read it; `groups` are the field groups
/// that it has declared.
static bool change_part(const struct hc_ck_examiner *examiner, const struct hc_scene *scene,
                        struct hc_ck_view *view, uint8_t groups, uint32_t number) {
    const struct hc_world *world = scene->world;
    hc_player owner = world->owner_of[scene->self];
    struct hc_rng rng =
        hc_rng_init(hc_random(examiner->seed, examiner->tick, scene->self, 0), number);
    uint32_t index;
    switch (part_of(world, number, &index)) {
    case ENTITY:
        return change_entity(scene, view, (hc_entity)index, &rng);
    case INPUT:
        for (unsigned i = 0; i < world->game->input_size && index != owner; i++)
            view->inputs[index * world->game->input_size + i] ^= (uint8_t)hc_rng_next(&rng);
        return index != owner;
    case ROSTER:
        if (index != owner)
            view->rosters[index] = (uint8_t)hc_rng_below(&rng, HC_ROSTER_LEAVE + 1);
        return index != owner;
    case GROUP:
        if (scene->self == HC_REFEREE || (groups & 1u << index) != 0 ||
            view->presence[HC_REFEREE] != HC_ALIVE)
            return false;
        randomize_fields(&world->game->kinds[0], (int)index, &rng, view->states);
        return true;
    case LOOKBACK:
        view->past = HC_CK_PAST_CHANGED;
        return world->game->lookback > 0;
    default:
        for (unsigned i = 0; i < world->game->reduction_count; i++)
            view->reductions[i] ^= scene->self == HC_REFEREE ? 0 : (int64_t)hc_rng_next(&rng) >> 33;
        return scene->self != HC_REFEREE;
    }
}

/// Writes the name of part `number` and why `self` may not read it.
static void name_part(const struct hc_scene *scene, uint32_t number, char *text, size_t size) {
    uint32_t index;
    enum part part = part_of(scene->world, number, &index);
    switch (part) {
    case ENTITY:
        snprintf(text, size, "entity %u (%.32s), %s", (unsigned)index,
                 hc_world_kind(scene->world, (hc_entity)index)->name,
                 scene->self == HC_REFEREE ? "which only a reduction shows to the referee"
                                           : "which is out of its reach");
        break;
    case INPUT:
    case ROSTER:
        snprintf(text, size, "the %s of player %u, which is not its owner",
                 part == INPUT ? "input" : "roster change", (unsigned)index);
        break;
    case GROUP:
        snprintf(text, size, "field group %u of the referee without hc_scene_referee",
                 (unsigned)index);
        break;
    case LOOKBACK:
        snprintf(text, size, "the past (without hc_scene_past, or out of its reach)");
        break;
    default:
        snprintf(text, size, "a reduction, which only the referee may read");
    }
}

// ---- The past -----------------------------------------------------------------------------------

/// Makes the world of `ago` ticks before with changes of all that the step may not read there.
static void change_past(struct hc_ck_examiner *examiner, hc_entity self, uint32_t ago,
                        const struct hc_past *usual, struct hc_past *made) {
    const struct hc_world *world = examiner->world;
    struct hc_rng rng = hc_rng_init(hc_random(examiner->seed, examiner->tick, self, 1), ago);
    bool declared = (examiner->past_declared >> (ago - 1) & 1) != 0;
    struct hc_scene scene = *examiner->scene;
    scene.self = self;
    for (uint32_t e = 1; e < world->entities; e++) {
        const struct hc_kind *kind = hc_world_kind(world, (hc_entity)e);
        uint8_t *state = (uint8_t *)made->states + (size_t)e * world->stride;
        if (usual->presence[e] != HC_ALIVE ||
            (declared && hc_scene_may_read_past(&scene, ago, (hc_entity)e)))
            continue;
        for (unsigned i = 0; i < kind->field_count; i++)
            if (!declared ||
                ((int)i != hc_kind_field(kind, kind->x) && (int)i != hc_kind_field(kind, kind->y)))
                hc_field_set(&kind->fields[i], state, hc_draw_field(&kind->fields[i], &rng));
    }
}

/// Takes out of the world of `ago` ticks before what the client of the changed view does not know.
static void hide_past(const struct hc_ck_examiner *examiner, const struct hc_past *made) {
    const struct hc_world *world = examiner->world;
    for (uint32_t e = 0; e < world->entities; e++) {
        if (examiner->changed.presence[e] != HC_UNKNOWN)
            continue;
        ((uint8_t *)made->presence)[e] = HC_UNKNOWN;
        memset((uint8_t *)made->states + (size_t)e * world->stride, 0, world->stride);
    }
}

/// hc_scene.past as the changed view shows it; the scene's source is an examiner.
static bool shown_past(const struct hc_scene *scene, uint32_t ago, struct hc_past *past) {
    struct hc_ck_examiner *examiner = scene->source;
    const struct hc_world *world = examiner->world;
    struct hc_past usual;
    if (ago < 1 || ago > world->game->lookback ||
        !examiner->scene->past(examiner->scene, ago, &usual))
        return false;
    if (examiner->changed.past == HC_CK_PAST_CLIENT && ago > examiner->past_held)
        return false;
    size_t bytes = (size_t)world->entities * world->stride;
    uint64_t bit = UINT64_C(1) << (ago - 1);
    uint8_t *states = examiner->past_states + (ago - 1) * bytes;
    uint8_t *presence = examiner->past_presence + (ago - 1) * (size_t)world->entities;
    *past = (struct hc_past){.states = states, .presence = presence};
    if ((examiner->past_made & bit) != 0)
        return true;
    examiner->past_made |= bit;
    memcpy(states, usual.states, bytes);
    memcpy(presence, usual.presence, world->entities);
    if (examiner->changed.past == HC_CK_PAST_CHANGED)
        change_past(examiner, scene->self, ago, &usual, past);
    else if (examiner->changed.past == HC_CK_PAST_CLIENT)
        hide_past(examiner, past);
    return true;
}

/// hc_scene.past_neighbours of the same: without entities that are not alive in it.
static uint32_t shown_past_neighbours(struct hc_scene *scene, hc_entity self, uint32_t ago,
                                      const hc_entity **ids) {
    struct hc_ck_examiner *examiner = scene->source;
    struct hc_scene usual = *examiner->scene;
    struct hc_past past;
    uint32_t known = 0;
    if (!shown_past(scene, ago, &past))
        return 0;
    uint32_t count = usual.past_neighbours(&usual, self, ago, ids);
    for (uint32_t i = 0; i < count; i++)
        if (past.presence[(*ids)[i]] == HC_ALIVE)
            examiner->past_known[known++] = (*ids)[i];
    *ids = examiner->past_known;
    return known;
}

/// hc_scene.neighbours as they are.
static uint32_t usual_neighbours(struct hc_scene *scene, hc_entity self, const hc_entity **ids) {
    const struct hc_ck_examiner *examiner = scene->source;
    struct hc_scene usual = *examiner->scene;
    return usual.neighbours(&usual, self, ids);
}

/// Lets a scene that shows the changed view show the past of that view.
static void use_past(struct hc_ck_examiner *examiner, struct hc_scene *scene) {
    if (examiner->world->game->lookback == 0)
        return;
    scene->neighbours = usual_neighbours;
    scene->past = shown_past;
    scene->past_neighbours = shown_past_neighbours;
    scene->source = examiner;
}

/// Changes everything that the step of `self` may not read. If the result differs, finds the part
/// that it reads.
static void check_reads(struct hc_ck_examiner *examiner, hc_entity self, uint8_t groups,
                        const struct hc_ck_result *usual) {
    struct hc_scene scene = hc_ck_view_show(examiner->scene, &examiner->shown);
    struct hc_scene changed = hc_ck_view_show(examiner->scene, &examiner->changed);
    uint32_t parts = part_count(examiner->world);
    use_past(examiner, &changed);
    struct hc_ck_result all, one;
    char place[PLACE], what[PLACE], name[WHERE] = "more than it may", where[2 * WHERE];
    scene.self = self;
    hc_ck_view_copy(&scene, &examiner->changed);
    for (uint32_t i = 0; i < parts; i++)
        change_part(examiner, &scene, &examiner->changed, groups, i);
    examiner->past_made = 0;
    hc_ck_call_step(&changed, self, PATTERN, &all);
    if (same(examiner, self, usual, &all) ||
        !is_caused(examiner, self, usual, &changed, PATTERN, &all))
        return;
    for (uint32_t i = 0; i < parts; i++) {
        hc_ck_view_copy(&scene, &examiner->changed);
        if (!change_part(examiner, &scene, &examiner->changed, groups, i))
            continue;
        examiner->past_made = 0;
        hc_ck_call_step(&changed, self, PATTERN, &one);
        if (same(examiner, self, usual, &one))
            continue;
        name_part(&scene, i, name, sizeof(name));
        all = one;
        break;
    }
    hc_ck_place(examiner->world, examiner->tick, self, place, sizeof(place));
    snprintf(where, sizeof(where), "%s %s", hc_world_kind(examiner->world, self)->name,
             strpbrk(name, "(") != NULL ? strpbrk(name, "(") : "other");
    hc_ck_fault(examiner->faults, HC_CK_READ, where, "%s: the step reads %s: when that changes, %s",
                place, name, difference(examiner, self, usual, &all, what));
}

// ---- On a client --------------------------------------------------------------------------------

/// hc_scene.neighbours without the entities that the changed view does not know.
static uint32_t known_neighbours(struct hc_scene *scene, hc_entity self, const hc_entity **ids) {
    struct hc_ck_examiner *examiner = scene->source;
    struct hc_scene usual = *examiner->scene;
    const hc_entity *all;
    uint32_t count = usual.neighbours(&usual, self, &all), known = 0;
    for (uint32_t i = 0; i < count; i++)
        if (examiner->changed.presence[all[i]] == HC_ALIVE)
            examiner->known[known++] = all[i];
    *ids = examiner->known;
    return known;
}

/// Takes the step as a client does that has no secret and does not know some of the others.
static void check_client(struct hc_ck_examiner *examiner, hc_entity self) {
    const struct hc_world *world = examiner->world;
    struct hc_scene scene = hc_ck_view_show(examiner->scene, &examiner->changed);
    struct hc_ck_view *view = &examiner->changed;
    struct hc_ck_result result;
    char place[PLACE];
    hc_ck_view_copy(examiner->scene, view);
    for (uint32_t unit = 0; unit < hc_unit_total(world); unit++) {
        hc_entity first = hc_unit_first(world, (hc_unit)unit);
        uint32_t count = hc_unit_count(world, (hc_unit)unit);
        bool needed = unit == hc_unit_of(world, self) ||
                      (self == HC_REFEREE && hc_unit_player(world, (hc_unit)unit) != HC_NO_PLAYER);
        if (needed || hc_rng_below(&examiner->rng, 2) == 0)
            continue;
        memset(view->presence + first, HC_UNKNOWN, count);
        memset(view->states + (size_t)first * world->stride, 0, (size_t)count * world->stride);
    }
    scene.secret = NULL;
    use_past(examiner, &scene);
    view->past = HC_CK_PAST_CLIENT;
    examiner->past_made = 0;
    examiner->past_held = hc_rng_below(&examiner->rng, world->game->lookback + 1);
    scene.neighbours = known_neighbours;
    scene.source = examiner;
    hc_ck_call_step(&scene, self, PATTERN, &result);
    hc_ck_place(world, examiner->tick, self, place, sizeof(place));
    if (result.end.signal != 0)
        hc_ck_crash(examiner->faults, &result.end,
                    "%s: on a client, where some entities are unknown, the step", place);
    else
        check_range(examiner, self, &result, " on a client");
}

// ---- Without the secret -------------------------------------------------------------------------

static bool has_event(const struct hc_ck_result *result, hc_game_event event) {
    for (unsigned i = 0; i < result->event_count; i++)
        if (result->events[i] == event)
            return true;
    return false;
}

/// The results of a step with two secrets and with none.
struct draws {
    const struct hc_ck_result *usual;
    struct hc_ck_result other, none;
};

/// The first field that depends on the secret and without it does not stay as it was in `old`.
static const struct hc_field *made_up_field(const struct hc_kind *kind, const struct draws *draws,
                                            const uint8_t *old) {
    if (!draws->usual->alive || !draws->other.alive)
        return NULL;
    for (unsigned i = 0; i < kind->field_count; i++) {
        const struct hc_field *field = &kind->fields[i];
        if (hc_field_get(field, draws->usual->bytes) != hc_field_get(field, draws->other.bytes) &&
            hc_field_get(field, draws->none.bytes) != hc_field_get(field, old))
            return field;
    }
    return NULL;
}

/// Writes what of the result without the secret would need it; NULL: nothing does.
static const char *made_up(const struct hc_ck_examiner *examiner, hc_entity self,
                           const struct draws *draws, char text[static PLACE]) {
    const struct hc_ck_view *view = &examiner->shown;
    const uint8_t *old = view->states + (size_t)self * examiner->world->stride;
    for (unsigned i = 0; i < draws->none.event_count; i++) {
        hc_game_event event = draws->none.events[i];
        if (has_event(draws->usual, event) && has_event(&draws->other, event))
            continue;
        snprintf(text, PLACE, "it emits an event %.32s",
                 examiner->world->game->event_kinds[hc_game_event_kind(event)].name);
        return text;
    }
    if (!draws->none.alive)
        return NULL;
    if (view->presence[self] != HC_ALIVE)
        return "the entity appears";
    const struct hc_field *field = made_up_field(hc_world_kind(examiner->world, self), draws, old);
    if (field == NULL)
        return NULL;
    snprintf(text, PLACE, "field %.32s becomes %" PRId64 " and was %" PRId64, field->name,
             hc_field_get(field, draws->none.bytes), hc_field_get(field, old));
    return text;
}

/// Takes the step with another secret. If the result differs, takes it without one: what depends on
/// the secret stays as it is then, or the entity is absent.
static void check_secret(struct hc_ck_examiner *examiner, hc_entity self,
                         const struct hc_ck_result *usual) {
    static const uint8_t other[HC_SCENE_SECRET_SIZE] = {1}; // the plain simulation's is all zeros
    struct hc_scene scene = hc_ck_view_show(examiner->scene, &examiner->shown);
    struct draws draws = {.usual = usual};
    char place[PLACE], text[PLACE];
    scene.secret = other;
    hc_ck_call_step(&scene, self, PATTERN, &draws.other);
    if (same(examiner, self, usual, &draws.other) ||
        !is_caused(examiner, self, usual, &scene, PATTERN, &draws.other))
        return;
    scene.secret = NULL;
    hc_ck_call_step(&scene, self, PATTERN, &draws.none);
    const char *what = draws.none.end.signal != 0 ? NULL : made_up(examiner, self, &draws, text);
    hc_ck_place(examiner->world, examiner->tick, self, place, sizeof(place));
    if (what != NULL)
        hc_ck_fault(examiner->faults, HC_CK_SECRET, hc_world_kind(examiner->world, self)->name,
                    "%s: where hc_scene_secret_random is false, as on a client, %s, which only its "
                    "bits may decide",
                    place, what);
}

// ---- The examination ----------------------------------------------------------------------------

/// Repeats the step at once, with other bytes in its output, and compares it with the one in
/// descending order. False: its result is no function of the world, so no other check of it tells
/// anything.
static bool check_repeats(struct hc_ck_examiner *examiner, struct hc_scene *shown, hc_entity self,
                          const struct hc_ck_result *usual) {
    struct hc_ck_result again;
    hc_ck_call_step(shown, self, PATTERN, &again);
    if (!same(examiner, self, usual, &again)) {
        report(examiner, HC_CK_REPEAT, self, usual, &again,
               "the step gives another state when it is repeated at once");
        return false;
    }
    if (hc_ck_faults_have(examiner->faults, HC_CK_REPEAT, NULL))
        return false;
    hc_ck_call_step(shown, self, DIRTY, &again);
    if (!same(examiner, self, usual, &again)) {
        if (is_caused(examiner, self, usual, shown, DIRTY, &again))
            report(examiner, HC_CK_UNWRITTEN, self, usual, &again,
                   "the step does not write all of its state, which is not zeroed before");
        return false;
    }
    if (!same(examiner, self, usual, &examiner->backwards[self])) {
        if (is_caused(examiner, self, usual, shown, PATTERN, usual))
            report(
                examiner, HC_CK_ORDER, self, usual, &examiner->backwards[self],
                "the step gives another state when the entities are stepped in descending order");
        return false;
    }
    return true;
}

bool hc_ck_examine(void *context, struct hc_scene *scene, hc_entity self, void *out) {
    struct hc_ck_examiner *examiner = context;
    struct hc_ck_result usual;
    char place[PLACE];
    examiner->scene = scene;
    if (examiner->tick != scene->tick)
        begin_tick(examiner, scene);
    struct hc_scene shown = hc_ck_view_show(scene, &examiner->shown);
    hc_ck_call_step(&shown, self, PATTERN, &usual);
    uint8_t groups = shown.groups_read;
    examiner->past_declared = shown.past_read;
    examiner->steps++;
    hc_ck_place(examiner->world, examiner->tick, self, place, sizeof(place));
    if (usual.end.signal != 0) {
        hc_ck_crash(examiner->faults, &usual.end, "%s: the step", place);
        examiner->crashed = true;
        return false;
    }
    if (!usual.inside)
        hc_ck_fault(examiner->faults, HC_CK_OVERRUN, hc_world_kind(examiner->world, self)->name,
                    "%s: the step writes outside of its %u bytes of state", place,
                    hc_world_kind(examiner->world, self)->state_size);
    if (shown.too_far)
        hc_ck_fault(examiner->faults, HC_CK_READ, "lookback",
                    "%s: the step looks back further than the game's lookback of %u ticks, or is "
                    "the referee's",
                    place, (unsigned)examiner->world->game->lookback);
    if (shown.not_reduced)
        hc_ck_fault(examiner->faults, HC_CK_READ, "reduction",
                    "%s: the step reads a reduction that the game does not have: there are %u",
                    place, (unsigned)examiner->world->game->reduction_count);
    check_written(examiner, self);
    if (check_repeats(examiner, &shown, self, &usual)) {
        check_range(examiner, self, &usual, "");
        check_emitted(examiner, self, &usual);
        check_vacant(examiner, self, &usual);
        if (hc_rng_below(&examiner->rng, examiner->world->entities) < STEPS_A_TICK) {
            check_reads(examiner, self, groups, &usual);
            check_client(examiner, self);
            check_secret(examiner, self, &usual);
        }
    }
    hc_ck_view_copy(scene, &examiner->shown);
    memcpy(out, usual.bytes, hc_world_kind(examiner->world, self)->state_size);
    memcpy(scene->events, usual.events, usual.event_count * sizeof(usual.events[0]));
    *scene->event_counts = usual.event_count;
    return usual.alive;
}
