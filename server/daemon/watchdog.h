/// Watches the turns of matches, from a thread of its own: a match hangs when a turn of it lasts
/// too long, for example because a step of the game does not return. The log then says so once,
/// with the function and line, and once when the turn has ended after all.
#pragma once

#include "server/daemon/log.h"

#include <pthread.h>
#include <stdatomic.h>

/// The turn of a match that a worker's thread takes now.
struct hc_sv_watch {
    atomic_uint_fast64_t since_us; ///< begin of the turn; 0: there is none
    unsigned match;                ///< number of the match; 0: the only one
    pthread_t thread;
};

struct hc_sv_watchdog;

/// A turn begins at `now_us`.
static inline void hc_sv_watch_begin(struct hc_sv_watch *watch, unsigned match, uint64_t now_us) {
    watch->match = match;
    watch->thread = pthread_self();
    atomic_store_explicit(&watch->since_us, now_us, memory_order_release);
}

/// The turn has ended.
static inline void hc_sv_watch_end(struct hc_sv_watch *watch) {
    atomic_store_explicit(&watch->since_us, 0, memory_order_relaxed);
}

/// Starts the thread; all are borrowed until hc_sv_watchdog_stop. A place in the file of `game`, a
/// symbol of it, is told rather than others. NULL: no memory or no thread.
struct hc_sv_watchdog *hc_sv_watchdog_start(struct hc_sv_log *log, const void *game,
                                            struct hc_sv_watch *const *watches, unsigned count);

/// Ends the thread; NULL is allowed.
void hc_sv_watchdog_stop(struct hc_sv_watchdog *watchdog);
