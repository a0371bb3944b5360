/// Owns the thread that looks at turns, and the signal that asks a thread where it is.
#define _GNU_SOURCE

#include "server/daemon/watchdog.h"

#include "common/elapsed.h"
#include "common/programs/backtrace.h"
#include "common/programs/clock.h"

#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    LOOK_MS = 500,     ///< between two looks
    HANG_US = 2000000, ///< a turn of this length hangs, if it lasted at the look before too
    ASK_S = 1,         ///< a thread is waited for so long
};

/// A turn, as the looks have found it.
struct seen {
    uint64_t since_us; ///< of the turn; 0: none
    bool is_long;      ///< the turn had lasted too long
    bool logged;
};

struct hc_sv_watchdog {
    struct hc_sv_log *log;
    const void *game_file;
    struct hc_sv_watch *const *watches;
    unsigned count;
    struct seen *seen; ///< [count]
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool stops;
};

// ---- Where a thread is --------------------------------------------------------------------------

/// A signal handler has no other argument than its number.
static struct {
    sem_t done;
    unsigned count;
    const void *places[HC_PLACES_MAX];
} asked;

static int ask_signal(void) {
    return SIGRTMIN;
}

static void on_ask(int number) {
    (void)number;
    asked.count = hc_backtrace(asked.places);
    sem_post(&asked.done);
}

/// Writes where the thread is to `text`: the innermost place in the game, or of all.
static void ask(const struct hc_sv_watchdog *watchdog, pthread_t thread, char *text, size_t size) {
    struct timespec until;
    snprintf(text, size, "an unknown place");
    while (sem_trywait(&asked.done) == 0) // of an answer that came too late
        ;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += ASK_S;
    if (pthread_kill(thread, ask_signal()) != 0 || sem_timedwait(&asked.done, &until) != 0 ||
        asked.count == 0)
        return;
    unsigned at = 0;
    for (unsigned i = asked.count; i-- > 0;)
        if (hc_place_file(asked.places[i]) == watchdog->game_file)
            at = i;
    hc_place_line(asked.places[at], text, size);
}

// ---- Looks --------------------------------------------------------------------------------------

static void log_turn(const struct hc_sv_watchdog *watchdog, unsigned index, bool hangs,
                     uint64_t now_us) {
    const struct hc_sv_watch *watch = watchdog->watches[index];
    uint64_t lasted_us = hc_since(watchdog->seen[index].since_us, now_us);
    json_t *fields =
        json_pack("{s:i, s:I}", "worker", (int)index, "lasted_ms", (json_int_t)(lasted_us / 1000));
    if (hangs && watch->match != 0)
        json_object_set_new(fields, "match", json_integer(watch->match));
    if (hangs) {
        char place[HC_PLACE_TEXT], why[HC_PLACE_TEXT + 64];
        ask(watchdog, watch->thread, place, sizeof(place));
        snprintf(why, sizeof(why), "a turn of the match does not end: it is in %s", place);
        json_object_set_new(fields, "why", json_string(why));
    }
    hc_sv_log_event(watchdog->log, hangs ? HC_SV_LOG_ERROR : HC_SV_LOG_INFO,
                    hangs ? "match-hangs" : "match-goes-on", fields);
}

/// Looks at the turn of a worker. A process that was stopped for a while finds turns that seem long
/// at the first look after that, and not at the second.
static void look(struct hc_sv_watchdog *watchdog, unsigned index, uint64_t now_us) {
    struct seen *seen = &watchdog->seen[index];
    uint64_t since_us =
        atomic_load_explicit(&watchdog->watches[index]->since_us, memory_order_acquire);
    if (since_us != seen->since_us) {
        if (seen->logged)
            log_turn(watchdog, index, false, now_us);
        *seen = (struct seen){.since_us = since_us};
    }
    bool is_long = since_us != 0 && hc_since(since_us, now_us) >= HANG_US;
    if (is_long && seen->is_long && !seen->logged) {
        seen->logged = true;
        log_turn(watchdog, index, true, now_us);
        hc_sv_log_advance(watchdog->log); // the worker that writes lines may be this one
    }
    seen->is_long = is_long;
}

/// Waits for the next look; false: the watchdog stops.
static bool wait_for_look(struct hc_sv_watchdog *watchdog) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += LOOK_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    pthread_mutex_lock(&watchdog->lock);
    while (!watchdog->stops &&
           pthread_cond_timedwait(&watchdog->wake, &watchdog->lock, &until) == 0)
        ;
    bool goes_on = !watchdog->stops;
    pthread_mutex_unlock(&watchdog->lock);
    return goes_on;
}

static void *watch_turns(void *context) {
    struct hc_sv_watchdog *watchdog = context;
    while (wait_for_look(watchdog))
        for (unsigned i = 0; i < watchdog->count; i++)
            look(watchdog, i, hc_clock_us());
    return NULL;
}

// ---- The thread ---------------------------------------------------------------------------------

static void prepare_ask(void) {
    const void *places[HC_PLACES_MAX];
    struct sigaction action = {.sa_handler = on_ask, .sa_flags = SA_RESTART | SA_ONSTACK};
    (void)hc_backtrace(places); // loads what a handler must not load
    sem_init(&asked.done, 0, 0);
    sigaction(ask_signal(), &action, NULL);
}

struct hc_sv_watchdog *hc_sv_watchdog_start(struct hc_sv_log *log, const void *game,
                                            struct hc_sv_watch *const *watches, unsigned count) {
    struct hc_sv_watchdog *watchdog = calloc(1, sizeof(*watchdog));
    pthread_condattr_t attributes;
    sigset_t all, before;
    if (watchdog == NULL)
        return NULL;
    watchdog->log = log;
    watchdog->game_file = hc_place_file(game);
    watchdog->watches = watches;
    watchdog->count = count;
    watchdog->seen = calloc(count, sizeof(*watchdog->seen));
    pthread_mutex_init(&watchdog->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&watchdog->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    prepare_ask();
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); // signals are for the other threads
    bool runs = watchdog->seen != NULL &&
                pthread_create(&watchdog->thread, NULL, watch_turns, watchdog) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (runs)
        return watchdog;
    free(watchdog->seen);
    free(watchdog);
    return NULL;
}

void hc_sv_watchdog_stop(struct hc_sv_watchdog *watchdog) {
    if (watchdog == NULL)
        return;
    pthread_mutex_lock(&watchdog->lock);
    watchdog->stops = true;
    pthread_cond_signal(&watchdog->wake);
    pthread_mutex_unlock(&watchdog->lock);
    pthread_join(watchdog->thread, NULL);
    pthread_cond_destroy(&watchdog->wake);
    pthread_mutex_destroy(&watchdog->lock);
    free(watchdog->seen);
    free(watchdog);
}
