/// Owns the signals of crashes and the time limit of calls.
#define _GNU_SOURCE

#include "common/programs/guard.h"

#include "common/programs/backtrace.h"
#include "common/on_failure.h"
#include "hindcast/check.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

enum {
    PERIOD_US = 100000, ///< between two checks of the call in progress
    WAIT_S = 60,        ///< seconds that a call may take without the processor
    GAMES = 2,          ///< plugins of a process
    STACK = 128 << 10,  ///< bytes for the handlers, because a call may have used up the stack
};

static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
enum { CRASHES = sizeof(crashes) / sizeof(*crashes) };

/// A signal handler has no other argument than its number.
static struct {
    struct sigaction before[CRASHES], before_alarm;
    stack_t stack_before;
    const void *games[GAMES]; ///< their files
    unsigned game_count;
    pthread_t thread;                 ///< of the call in progress
    sigjmp_buf back;                  ///< where the call in progress goes on when it ends
    volatile sig_atomic_t calling;    ///< a call is in progress
    volatile sig_atomic_t is_fresh;   ///< the call in progress has begun since the last check
    struct timespec since, cpu_since; ///< the first check of it
    unsigned most_s;
    struct hc_guard_end end; ///< of the last call that did not return
    char failed[240];        ///< assertion that ended that call
} guard;

static double seconds_between(const struct timespec *a, const struct timespec *b) {
    return (double)(b->tv_sec - a->tv_sec) + (double)(b->tv_nsec - a->tv_nsec) / 1e9;
}

/// The innermost place in a game. If there is none, the interrupted one; an assertion of the
/// program itself tells its own.
static const void *find_place(void) {
    const void *places[HC_PLACES_MAX];
    unsigned count = hc_backtrace(places);
    for (unsigned i = 0; i < count; i++)
        for (unsigned g = 0; g < guard.game_count; g++)
            if (hc_place_file(places[i]) == guard.games[g])
                return places[i];
    return count > 0 && guard.end.failed == NULL ? places[0] : NULL;
}

/// Goes on after the call in progress.
static HC_NORETURN void leave(int number) {
    guard.calling = 0;
    guard.end.signal = number;
    guard.end.place = find_place();
    siglongjmp(guard.back, 1);
}

/// Whether this thread makes the call in progress.
static bool is_calling(void) {
    return guard.calling && pthread_equal(pthread_self(), guard.thread);
}

static void on_crash(int number) {
    if (is_calling())
        leave(number);
    signal(number, SIG_DFL); // a crash of this program itself
    raise(number);
}

/// Ends a call that lasts too long. It counts processor time, which a busy machine does not use up.
static void on_period(int number) {
    struct timespec now, cpu;
    if (!is_calling()) {
        if (guard.calling) // the system has given the signal to another thread
            pthread_kill(guard.thread, number);
        return;
    }
    clock_gettime(CLOCK_MONOTONIC, &now);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    if (guard.is_fresh) {
        guard.is_fresh = 0;
        guard.since = now;
        guard.cpu_since = cpu;
    }
    if (seconds_between(&guard.cpu_since, &cpu) > guard.most_s ||
        seconds_between(&guard.since, &now) > guard.most_s + WAIT_S)
        leave(number);
}

/// Takes the place of hc_check_failed's message.
static void on_failure(const char *file, int line, const char *condition) {
    if (!is_calling())
        return;
    snprintf(guard.failed, sizeof(guard.failed), "%s", condition); // it may be on the stack
    guard.end.failed = guard.failed;
    guard.end.source = file;
    guard.end.line = line;
    leave(SIGABRT);
}

void hc_guard_begin(void) {
    static _Alignas(16) uint8_t stack[STACK];
    const void *places[HC_PLACES_MAX];
    struct sigaction action = {.sa_handler = on_crash, .sa_flags = SA_NODEFER | SA_ONSTACK};
    const struct timeval period = {.tv_usec = PERIOD_US};
    (void)hc_backtrace(places);
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof(stack)}, &guard.stack_before);
    for (unsigned i = 0; i < CRASHES; i++)
        sigaction(crashes[i], &action, &guard.before[i]);
    action.sa_handler = on_period;
    action.sa_flags |= SA_RESTART;
    sigaction(SIGALRM, &action, &guard.before_alarm);
    setitimer(ITIMER_REAL, &(struct itimerval){period, period}, NULL);
    hc_check_on_failure(on_failure);
}

void hc_guard_end(void) {
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 0}}, NULL);
    sigaction(SIGALRM, &guard.before_alarm, NULL);
    for (unsigned i = 0; i < CRASHES; i++)
        sigaction(crashes[i], &guard.before[i], NULL);
    sigaltstack(&guard.stack_before, NULL);
    hc_check_on_failure(NULL);
}

void hc_guard_game(const void *symbol) {
    HC_ASSERT(guard.game_count < GAMES);
    guard.games[guard.game_count++] = hc_place_file(symbol);
}

void hc_guard_forget(const void *symbol) {
    const void *file = hc_place_file(symbol);
    for (unsigned i = 0; i < guard.game_count; i++)
        if (guard.games[i] == file) {
            guard.games[i] = guard.games[--guard.game_count];
            return;
        }
}

bool hc_guard_call(void (*function)(void *context), void *context, unsigned most_s,
                   struct hc_guard_end *end) {
    HC_ASSERT(!guard.calling);
    guard.thread = pthread_self();
    guard.most_s = most_s;
    guard.is_fresh = 1;
    guard.end = (struct hc_guard_end){.signal = 0};
    if (sigsetjmp(guard.back, 0) == 0) {
        guard.calling = 1;
        function(context);
        guard.calling = 0;
    }
    *end = guard.end;
    return end->signal == 0;
}

const char *hc_guard_ending(const struct hc_guard_end *end, char text[HC_GUARD_TEXT]) {
    char place[HC_PLACE_TEXT];
    int length = 0;
    if (end->signal == SIGALRM)
        length = snprintf(text, HC_GUARD_TEXT, "does not return");
    else if (end->failed != NULL) {
        const char *slash = strrchr(end->source, '/');
        length = snprintf(text, HC_GUARD_TEXT, "fails a check, %s:%d: %s",
                          slash != NULL ? slash + 1 : end->source, end->line, end->failed);
    } else
        length = snprintf(text, HC_GUARD_TEXT, "ends by signal %d (%s)", end->signal,
                          strsignal(end->signal));
    if (end->place != NULL)
        snprintf(text + length, HC_GUARD_TEXT - (size_t)length, ", in %s",
                 hc_place_line(end->place, place, sizeof(place)));
    return text;
}
