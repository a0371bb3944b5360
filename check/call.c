/// Owns the calls of a game's functions, each between guard bytes.
#include "check/call.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    GUARD = 64,
    GUARD_BYTE = 0xa7,
    CALL_S = 2,   ///< seconds of processor time that a function may take
    PLACES = 256, ///< places that are told apart
    PLACE = 96,   ///< bytes of a place
};

static struct hc_ck_faults *found; ///< the faults so far
static void (*end_checks)(void *); ///< after a call that lasted too long
static void *end_checks_context;

/// An output between guards, as long as every state and input.
struct output {
    uint8_t before[GUARD];
    uint8_t bytes[HC_STATE_MAX + GUARD]; // aligned as a struct of a game may need
};

void hc_ck_call_begin(struct hc_ck_faults *faults, void (*give_up)(void *context), void *context) {
    hc_guard_begin();
    found = faults;
    end_checks = give_up;
    end_checks_context = context;
}

const char *hc_ck_ending(const struct hc_guard_end *end) {
    static char text[HC_GUARD_TEXT];
    return hc_guard_ending(end, text);
}

/// Whether a call has ended in this place before; a line is looked up once for each.
static bool is_known(const void *place) {
    static const void *places[PLACES];
    static unsigned count;
    for (unsigned i = 0; i < count; i++)
        if (places[i] == place)
            return true;
    if (count < PLACES)
        places[count++] = place;
    return count == PLACES;
}

void hc_ck_crash(struct hc_ck_faults *faults, const struct hc_guard_end *end, const char *format,
                 ...) {
    static const char reads[] = "hc_scene_may_read";
    char begin[HC_GUARD_TEXT];
    bool is_read = end->failed != NULL && strncmp(end->failed, reads, sizeof(reads) - 1) == 0;
    va_list arguments;
    if (end->place != NULL && is_known(end->place))
        return;
    va_start(arguments, format);
    vsnprintf(begin, sizeof(begin), format, arguments);
    va_end(arguments);
    const char *ending = hc_ck_ending(end), *line = strrchr(ending, '(');
    char where[HC_GUARD_TEXT]; // a function is one place
    snprintf(where, sizeof(where), "%.*s", line != NULL ? (int)(line - ending) : HC_GUARD_TEXT - 1,
             ending);
    hc_ck_fault(faults, is_read ? HC_CK_READ : HC_CK_CRASH, where, "%s %s", begin, ending);
}

/// Adds the fault that a call lasted too long, and ends the checks: others would last as long.
#define END_IF_ENDLESS(end, ...)                                                                   \
    do {                                                                                           \
        if ((end)->signal == SIGALRM) {                                                            \
            hc_ck_crash(found, (end), __VA_ARGS__);                                                \
            end_checks(end_checks_context);                                                        \
        }                                                                                          \
    } while (0)

bool hc_ck_call_guarded(void (*function)(void *context), void *context, unsigned most_s,
                        const char *name, struct hc_guard_end *end) {
    hc_guard_call(function, context, most_s, end);
    END_IF_ENDLESS(end, "%s", name);
    return end->signal == 0;
}

static void prepare(struct output *output, uint8_t pattern, size_t size) {
    memset(output, GUARD_BYTE, sizeof(*output));
    memset(output->bytes, pattern, size);
}

static void finish(const struct output *output, size_t size, struct hc_ck_result *result) {
    result->inside = true;
    for (size_t i = 0; i < GUARD; i++)
        if (output->before[i] != GUARD_BYTE || output->bytes[size + i] != GUARD_BYTE)
            result->inside = false;
    memset(result->bytes, 0, sizeof(result->bytes));
    memcpy(result->bytes, output->bytes, size);
}

/// A call of a step, or of a run of steps.
struct step_call {
    struct hc_scene *scene;
    hc_entity first;
    uint32_t count;
    uint8_t *out, *presence;
    bool result;
};

static void call_step(void *context) {
    struct step_call *call = context;
    call->result = call->scene->world->game->step(call->scene, call->first, call->out);
}

void hc_ck_call_step(struct hc_scene *scene, hc_entity self, uint8_t pattern,
                     struct hc_ck_result *result) {
    static _Alignas(16) struct output output;
    struct step_call call = {.scene = scene, .first = self, .out = output.bytes};
    char place[PLACE];
    size_t size = hc_world_kind(scene->world, self)->state_size;
    prepare(&output, pattern, size);
    scene->self = scene->event_first = self;
    scene->groups_read = 0;
    scene->past_read = 0;
    scene->too_far = false;
    scene->not_reduced = false;
    scene->events = result->events;
    scene->event_counts = &result->event_count;
    scene->event_refused = false;
    result->event_count = 0;
    result->alive = hc_guard_call(call_step, &call, CALL_S, &result->end) && call.result;
    END_IF_ENDLESS(&result->end, "%s: the step",
                   hc_ck_place(scene->world, scene->tick, self, place, sizeof(place)));
    result->refused = scene->event_refused;
    finish(&output, size, result);
}

static void call_run(void *context) {
    struct step_call *call = context;
    call->result = call->scene->world->game->step_run(call->scene, call->first, call->count,
                                                      call->out, call->presence);
}

bool hc_ck_call_run(struct hc_scene *scene, hc_entity first, uint32_t count, uint8_t pattern,
                    uint8_t *out, uint8_t *presence, struct hc_guard_end *end) {
    struct step_call call = {scene, first, count, out, presence, false};
    memset(out, pattern, (size_t)count * scene->world->stride);
    memset(presence, pattern, count);
    scene->self = first;
    scene->groups_read = 0;
    scene->past_read = 0;
    scene->events = NULL;
    return hc_ck_call_guarded(call_run, &call, CALL_S, "step_run", end) && call.result;
}

struct start_call {
    const struct hc_world *world;
    hc_entity self;
    void *out;
    bool result;
};

static void call_start(void *context) {
    struct start_call *call = context;
    call->result = call->world->game->start(call->world, call->self, call->out);
}

void hc_ck_call_start(const struct hc_world *world, hc_entity self, struct hc_ck_result *result) {
    static _Alignas(16) struct output output;
    struct start_call call = {world, self, output.bytes, false};
    char place[PLACE];
    size_t size = hc_world_kind(world, self)->state_size;
    prepare(&output, 0, size);
    result->alive = hc_guard_call(call_start, &call, CALL_S, &result->end) && call.result;
    END_IF_ENDLESS(&result->end, "%s: start", hc_ck_place(world, 0, self, place, sizeof(place)));
    finish(&output, size, result);
}

struct input_call {
    const struct hc_game *game;
    const void *last;
    uint32_t age;
    void *out;
};

static void call_predict(void *context) {
    const struct input_call *call = context;
    call->game->predict_input(call->last, call->age, call->out);
}

void hc_ck_call_predict(const struct hc_game *game, const void *last, uint32_t age, uint8_t pattern,
                        struct hc_ck_result *result) {
    static _Alignas(16) struct output output;
    _Alignas(16) uint8_t known[HC_INPUT_MAX];
    struct input_call call = {game, known, age, output.bytes};
    memcpy(known, last, game->input_size);
    prepare(&output, pattern, game->input_size);
    hc_ck_call_guarded(call_predict, &call, CALL_S, "predict_input", &result->end);
    finish(&output, game->input_size, result);
    if (memcmp(known, last, game->input_size) != 0)
        result->inside = false;
}

static void call_sanitize(void *context) {
    const struct input_call *call = context;
    call->game->sanitize_input(call->out);
}

void hc_ck_call_sanitize(const struct hc_game *game, const void *input,
                         struct hc_ck_result *result) {
    static _Alignas(16) struct output output;
    struct input_call call = {.game = game, .out = output.bytes};
    prepare(&output, 0, game->input_size);
    memcpy(output.bytes, input, game->input_size);
    hc_ck_call_guarded(call_sanitize, &call, CALL_S, "sanitize_input", &result->end);
    finish(&output, game->input_size, result);
}

struct hides_call {
    const struct hc_world *world;
    hc_entity viewer, other;
    const void *viewer_state, *other_state;
    bool result;
};

static void call_hides(void *context) {
    struct hides_call *call = context;
    call->result = call->world->game->hides(call->world, call->viewer, call->viewer_state,
                                            call->other, call->other_state);
}

void hc_ck_call_hides(const struct hc_world *world, hc_entity viewer, const void *viewer_state,
                      hc_entity other, const void *other_state, uint8_t pattern,
                      struct hc_ck_result *result) {
    static _Alignas(16) struct output copies[2], before[2];
    struct hides_call call = {world, viewer, other, copies[0].bytes, copies[1].bytes, false};
    memset(copies, pattern, sizeof(copies));
    memcpy(copies[0].bytes, viewer_state, hc_world_kind(world, viewer)->state_size);
    memcpy(copies[1].bytes, other_state, hc_world_kind(world, other)->state_size);
    memcpy(before, copies, sizeof(copies));
    result->alive =
        hc_ck_call_guarded(call_hides, &call, CALL_S, "hides", &result->end) && call.result;
    result->inside = memcmp(before, copies, sizeof(copies)) == 0;
}
