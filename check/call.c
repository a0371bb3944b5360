/// Owns the signals of crashes, and the guard bytes.
#define _POSIX_C_SOURCE 200809L

#include "check/call.h"

#include <setjmp.h>
#include <signal.h>
#include <string.h>

enum { GUARD = 64, GUARD_BYTE = 0xa7 };

/// Where a crashed call goes on. A signal handler has no other argument than its number.
static sigjmp_buf crashed;
static volatile sig_atomic_t calling; ///< a call of the game is in progress

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

void hc_ck_call_begin(void) {
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    struct sigaction action = {.sa_handler = on_crash, .sa_flags = SA_NODEFER};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
        sigaction(numbers[i], &action, NULL);
}

int hc_ck_call_guarded(void (*function)(void *context), void *context) {
    int number = sigsetjmp(crashed, 0);
    if (number == 0) {
        calling = 1;
        function(context);
        calling = 0;
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
    scene->self = self;
    scene->groups_read = 0;
    result->alive = false;
    result->signal = sigsetjmp(crashed, 0);
    if (result->signal == 0) {
        calling = 1;
        result->alive = scene->world->game->step(scene, self, output.bytes);
        calling = 0;
    }
    finish(&output, size, result);
}

int hc_ck_call_run(struct hc_scene *scene, hc_entity first, uint32_t count, uint8_t pattern,
                   uint8_t *out, uint8_t *presence, bool *done) {
    memset(out, pattern, (size_t)count * scene->world->stride);
    memset(presence, pattern, count);
    scene->self = first;
    scene->groups_read = 0;
    *done = false;
    int number = sigsetjmp(crashed, 0);
    if (number == 0) {
        calling = 1;
        *done = scene->world->game->step_run(scene, first, count, out, presence);
        calling = 0;
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
        calling = 1;
        result->alive = world->game->start(world, self, output.bytes);
        calling = 0;
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
        calling = 1;
        game->predict_input(known, age, output.bytes);
        calling = 0;
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
        calling = 1;
        game->sanitize_input(output.bytes);
        calling = 0;
    }
    finish(&output, game->input_size, result);
}
