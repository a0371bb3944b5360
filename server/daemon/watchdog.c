/// Owns the thread that finds where a call does not return, and the signal that asks a thread.
#define _GNU_SOURCE // pthread_timedjoin_np

#include "server/daemon/watchdog.h"

#include "common/elapsed.h"
#include "common/programs/backtrace.h"
#include "hindcast/check.h"
#include "server/daemon/here.h"
#include "server/daemon/options.h"
#include "common/programs/thread.h"

#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    ASK_S = 1, ///< a thread that is asked is waited for so long
    END_S = 1, ///< the watchdog is waited for so long
};

/// A hang whose place is to be found.
struct found {
    struct hc_sv_hang hang; ///< match 0: there is none
    pthread_t thread;       ///< the thread that makes the call
    bool gone;              ///< the thread may have been joined
};

struct hc_sv_watchdog {
    struct hc_sv_log *log;
    const void *game_file;
    unsigned matches;
    pthread_t thread;
    pthread_mutex_t lock; ///< of all that follows
    pthread_cond_t wake;
    bool stops;
    struct found *found;           ///< [matches] the hangs whose places are sought next
    bool asks;                     ///< the watchdog asks the thread `asked`
    pthread_t asked;               ///< see `asks`
    char (*places)[HC_PLACE_TEXT]; ///< [matches] what was found; "": nothing
};

// ---- Where a thread is --------------------------------------------------------------------------

/// A signal handler has no other argument than its number.
static struct {
    sem_t done;
    unsigned count;
    const void *places[HC_PLACES_MAX];
    struct hc_sv_here here;
} asked;

static void on_ask(int number) {
    (void)number;
    asked.count = hc_backtrace(asked.places);
    asked.here = hc_sv_here_now();
    sem_post(&asked.done);
}

/// Writes where the thread is to `text`: the innermost place in the game, or of all; and to `*here`
/// its place in the match, 0 if it is not known.
static void ask(const struct hc_sv_watchdog *watchdog, pthread_t thread, struct hc_sv_here *here,
                char *text, size_t size) {
    struct timespec until;
    snprintf(text, size, "an unknown place");
    *here = (struct hc_sv_here){.match = 0};
    while (sem_trywait(&asked.done) == 0) // of an answer that came too late
        ;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += ASK_S;
    if (pthread_kill(thread, hc_thread_question()) != 0 || sem_timedwait(&asked.done, &until) != 0)
        return;
    *here = asked.here;
    if (asked.count == 0)
        return;
    unsigned at = 0;
    for (unsigned i = asked.count; i-- > 0;)
        if (hc_place_file(asked.places[i]) == watchdog->game_file)
            at = i;
    hc_place_line(asked.places[at], text, size);
}

// ---- The watchdog -------------------------------------------------------------------------------

static void log_hang(const struct hc_sv_watchdog *watchdog, const struct hc_sv_hang *hang,
                     const struct hc_sv_here *here, const char *place) {
    char why[HC_PLACE_TEXT + 64];
    snprintf(why, sizeof(why), "%s: it is in %s",
             hang->makes ? "the next world of the match does not begin"
                         : "a call into the match does not return",
             place);
    json_t *fields =
        json_pack("{s:i, s:I, s:s}", "worker", (int)hang->worker, "lasted_ms",
                  (json_int_t)(hc_since(hang->since_us, hang->found_us) / 1000), "why", why);
    if (hang->named)
        json_object_set_new(fields, "match", json_integer(hang->match));
    if (here->match == hang->match && !hang->makes) {
        json_object_set_new(fields, "tick", json_integer((json_int_t)here->tick));
        if (here->steps)
            json_object_set_new(fields, "entity", json_integer(here->entity));
        json_object_set_new(fields, "phase", json_string(here->phase));
    }
    hc_sv_log_event(watchdog->log, HC_SV_LOG_ERROR, "match-hangs", fields);
}

/// Takes a hang that was found; false: there is none.
static bool take(struct hc_sv_watchdog *watchdog, struct found *found) {
    for (unsigned i = 0; i < watchdog->matches; i++) {
        *found = watchdog->found[i];
        watchdog->found[i].hang.match = 0;
        if (found->hang.match != 0)
            return true;
    }
    return false;
}

/// Waits for a hang and takes it; false: there is none any more, and the watchdog stops.
static bool wait_for(struct hc_sv_watchdog *watchdog, struct found *found) {
    pthread_mutex_lock(&watchdog->lock);
    bool any = take(watchdog, found);
    while (!any && !watchdog->stops) {
        pthread_cond_wait(&watchdog->wake, &watchdog->lock);
        any = take(watchdog, found);
    }
    watchdog->asks = any && !found->gone;
    watchdog->asked = found->thread;
    pthread_mutex_unlock(&watchdog->lock);
    return any;
}

static void *find_places(void *context) {
    struct hc_sv_watchdog *watchdog = context;
    struct found found;
    while (wait_for(watchdog, &found)) {
        char place[HC_PLACE_TEXT] = "an unknown place";
        struct hc_sv_here here = {.match = 0};
        if (!found.gone)
            ask(watchdog, found.thread, &here, place, sizeof(place));
        log_hang(watchdog, &found.hang, &here, place);
        pthread_mutex_lock(&watchdog->lock);
        watchdog->asks = false;
        snprintf(watchdog->places[found.hang.match - 1], HC_PLACE_TEXT, "%s", place);
        pthread_mutex_unlock(&watchdog->lock);
    }
    return NULL;
}

bool hc_sv_watchdog_find(struct hc_sv_watchdog *watchdog, const struct hc_sv_watch *watch,
                         const struct hc_sv_hang *hang) {
    if (watchdog == NULL)
        return hc_sv_watch_since(watch) == hang->since_us;
    HC_ASSERT(hang->match >= 1 && hang->match <= watchdog->matches);
    pthread_mutex_lock(&watchdog->lock);
    // A thread whose call goes on has not been left, and is found by hc_sv_watchdog_leave.
    bool goes_on = hc_sv_watch_since(watch) == hang->since_us;
    if (goes_on) {
        watchdog->found[hang->match - 1] = (struct found){.hang = *hang, .thread = watch->thread};
        watchdog->places[hang->match - 1][0] = '\0';
        pthread_cond_signal(&watchdog->wake);
    }
    pthread_mutex_unlock(&watchdog->lock);
    return goes_on;
}

bool hc_sv_watchdog_leave(struct hc_sv_watchdog *watchdog, pthread_t thread) {
    if (watchdog == NULL)
        return true;
    pthread_mutex_lock(&watchdog->lock);
    for (unsigned i = 0; i < watchdog->matches; i++)
        if (watchdog->found[i].hang.match != 0 && pthread_equal(watchdog->found[i].thread, thread))
            watchdog->found[i].gone = true;
    bool asks = watchdog->asks && pthread_equal(watchdog->asked, thread);
    pthread_mutex_unlock(&watchdog->lock);
    return !asks;
}

const char *hc_sv_watchdog_place(struct hc_sv_watchdog *watchdog, unsigned match, char *text,
                                 size_t size) {
    text[0] = '\0';
    if (watchdog == NULL)
        return text;
    HC_ASSERT(match >= 1 && match <= watchdog->matches);
    pthread_mutex_lock(&watchdog->lock);
    snprintf(text, size, "%s", watchdog->places[match - 1]);
    pthread_mutex_unlock(&watchdog->lock);
    return text;
}

// ---- The thread ---------------------------------------------------------------------------------

static void prepare_ask(void) {
    const void *places[HC_PLACES_MAX];
    struct sigaction action = {.sa_handler = on_ask, .sa_flags = SA_RESTART | SA_ONSTACK};
    (void)hc_backtrace(places); // loads what a handler must not load
    sem_init(&asked.done, 0, 0);
    sigaction(hc_thread_question(), &action, NULL);
}

struct hc_sv_watchdog *hc_sv_watchdog_start(struct hc_sv_log *log, const void *game,
                                            unsigned matches) {
    struct hc_sv_watchdog *watchdog = calloc(1, sizeof(*watchdog));
    if (watchdog == NULL)
        return NULL;
    watchdog->log = log;
    watchdog->game_file = hc_place_file(game);
    watchdog->matches = matches;
    watchdog->places = calloc(matches, sizeof(*watchdog->places));
    watchdog->found = calloc(matches, sizeof(*watchdog->found));
    pthread_mutex_init(&watchdog->lock, NULL);
    pthread_cond_init(&watchdog->wake, NULL);
    prepare_ask();
    if (watchdog->places != NULL && watchdog->found != NULL &&
        hc_thread_start(&watchdog->thread, find_places, watchdog))
        return watchdog;
    hc_sv_watchdog_free(watchdog);
    return NULL;
}

bool hc_sv_watchdog_stop(struct hc_sv_watchdog *watchdog) {
    struct timespec until;
    if (watchdog == NULL)
        return true;
    pthread_mutex_lock(&watchdog->lock);
    watchdog->stops = true;
    pthread_cond_signal(&watchdog->wake);
    pthread_mutex_unlock(&watchdog->lock);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += END_S;
    return pthread_timedjoin_np(watchdog->thread, NULL, &until) == 0;
}

void hc_sv_watchdog_free(struct hc_sv_watchdog *watchdog) {
    if (watchdog == NULL)
        return;
    pthread_cond_destroy(&watchdog->wake);
    pthread_mutex_destroy(&watchdog->lock);
    free(watchdog->places);
    free(watchdog->found);
    free(watchdog);
}
