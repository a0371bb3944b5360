/// Owns the signals of crashes, the time limit of calls, and the guard bytes.
#define _XOPEN_SOURCE 700 // setitimer

#include "check/call.h"

#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum {
    GUARD = 64,
    GUARD_BYTE = 0xa7,
    PERIOD_S = 1,        ///< of processor time, between two looks at the call in progress
    PERIODS_OF_CALL = 2, ///< that one function of the game may last
};

/// Where a crashed call goes on. A signal handler has no other argument than its number.
static sigjmp_buf crashed;
static volatile sig_atomic_t calling; ///< periods that the call in progress may last; 0: none
static volatile sig_atomic_t lasted;  ///< periods that it has lasted
static volatile sig_atomic_t endless; ///< a call lasted too long
static void (*at_next_call)(void *);  ///< after such a call
static void *at_next_call_context;

/// An output between guards, as long as every state and input.
struct output {
    uint8_t before[GUARD];
    uint8_t bytes[HC_STATE_MAX + GUARD]; // aligned as a struct of a game may need
};

static void on_crash(int number) {
    if (!calling) { // a crash of this program itself
        signal(number, SIG_DFL);
        raise(number);
    }
    calling = 0;
    siglongjmp(crashed, number);
}

/// Ends a call that lasts too long. It counts processor time, which a busy machine does not use up.
static void on_period(int number) {
    if (!calling || ++lasted <= calling)
        return;
    calling = 0;
    endless = 1;
    siglongjmp(crashed, number);
}

void hc_ck_call_begin(void (*give_up)(void *context), void *context) {
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    struct sigaction action = {.sa_handler = on_crash, .sa_flags = SA_NODEFER};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
        sigaction(numbers[i], &action, NULL);
    const struct timeval period = {.tv_sec = PERIOD_S};
    action.sa_handler = on_period;
    sigaction(SIGVTALRM, &action, NULL);
    at_next_call = give_up;
    at_next_call_context = context;
    setitimer(ITIMER_VIRTUAL, &(struct itimerval){period, period}, NULL);
}

const char *hc_ck_ending(int number) {
    static char text[64];
    if (number == SIGVTALRM)
        return "does not return";
    snprintf(text, sizeof(text), "ends by signal %d", number);
    return text;
}

/// Begins a call of the game that may last so many periods.
static void enter(int periods) {
    if (endless)
        at_next_call(at_next_call_context);
    lasted = 0;
    calling = periods;
}

static void leave(void) {
    calling = 0;
}

int hc_ck_call_guarded(void (*function)(void *context), void *context, unsigned most_s) {
    int number = sigsetjmp(crashed, 0);
    if (number == 0) {
        enter((int)(most_s / PERIOD_S));
        function(context);
        leave();
    }
    return number;
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

void hc_ck_call_step(struct hc_scene *scene, hc_entity self, uint8_t pattern,
                     struct hc_ck_result *result) {
    static _Alignas(16) struct output output;
    size_t size = hc_world_kind(scene->world, self)->state_size;
    prepare(&output, pattern, size);
    scene->self = scene->event_first = self;
    scene->groups_read = 0;
    scene->past_read = 0;
    scene->too_far = false;
    scene->events = result->events;
    scene->event_counts = &result->event_count;
    scene->event_refused = false;
    result->event_count = 0;
    result->alive = false;
    result->signal = sigsetjmp(crashed, 0);
    if (result->signal == 0) {
        enter(PERIODS_OF_CALL);
        result->alive = scene->world->game->step(scene, self, output.bytes);
        leave();
    }
    result->refused = scene->event_refused;
    finish(&output, size, result);
}

int hc_ck_call_run(struct hc_scene *scene, hc_entity first, uint32_t count, uint8_t pattern,
                   uint8_t *out, uint8_t *presence, bool *done) {
    memset(out, pattern, (size_t)count * scene->world->stride);
    memset(presence, pattern, count);
    scene->self = first;
    scene->groups_read = 0;
    scene->past_read = 0;
    scene->events = NULL;
    *done = false;
    int number = sigsetjmp(crashed, 0);
    if (number == 0) {
        enter(PERIODS_OF_CALL);
        *done = scene->world->game->step_run(scene, first, count, out, presence);
        leave();
    }
    return number;
}

void hc_ck_call_start(const struct hc_world *world, hc_entity self, struct hc_ck_result *result) {
    static _Alignas(16) struct output output;
    size_t size = hc_world_kind(world, self)->state_size;
    prepare(&output, 0, size);
    result->alive = false;
    result->signal = sigsetjmp(crashed, 0);
    if (result->signal == 0) {
        enter(PERIODS_OF_CALL);
        result->alive = world->game->start(world, self, output.bytes);
        leave();
    }
    finish(&output, size, result);
}

void hc_ck_call_predict(const struct hc_game *game, const void *last, uint32_t age, uint8_t pattern,
                        struct hc_ck_result *result) {
    static _Alignas(16) struct output output;
    _Alignas(16) uint8_t known[HC_INPUT_MAX];
    memcpy(known, last, game->input_size);
    prepare(&output, pattern, game->input_size);
    result->signal = sigsetjmp(crashed, 0);
    if (result->signal == 0) {
        enter(PERIODS_OF_CALL);
        game->predict_input(known, age, output.bytes);
        leave();
    }
    finish(&output, game->input_size, result);
    if (memcmp(known, last, game->input_size) != 0)
        result->inside = false;
}

void hc_ck_call_sanitize(const struct hc_game *game, const void *input,
                         struct hc_ck_result *result) {
    static _Alignas(16) struct output output;
    prepare(&output, 0, game->input_size);
    memcpy(output.bytes, input, game->input_size);
    result->signal = sigsetjmp(crashed, 0);
    if (result->signal == 0) {
        enter(PERIODS_OF_CALL);
        game->sanitize_input(output.bytes);
        leave();
    }
    finish(&output, game->input_size, result);
}

void hc_ck_call_hides(const struct hc_world *world, hc_entity viewer, const void *viewer_state,
                      hc_entity other, const void *other_state, uint8_t pattern,
                      struct hc_ck_result *result) {
    static _Alignas(16) struct output copies[2], before[2];
    memset(copies, pattern, sizeof(copies));
    memcpy(copies[0].bytes, viewer_state, hc_world_kind(world, viewer)->state_size);
    memcpy(copies[1].bytes, other_state, hc_world_kind(world, other)->state_size);
    memcpy(before, copies, sizeof(copies));
    result->alive = false;
    result->signal = sigsetjmp(crashed, 0);
    if (result->signal == 0) {
        enter(PERIODS_OF_CALL);
        result->alive = world->game->hides(world, viewer, copies[0].bytes, other, copies[1].bytes);
        leave();
    }
    result->inside = memcmp(before, copies, sizeof(copies)) == 0;
}
