/// Calls into matches that do not return, for example because a step of the game does not: a match
/// hangs when such a call lasts too long. The thread that calls says when a call begins and ends,
/// the control thread finds one that lasts too long, and a thread of its own, the watchdog, asks
/// where it is: its function and line, which may take seconds to find.
///
/// While a worker's thread is in a call, it uses nothing but the match of the call. So everything
/// else that it uses can be taken from it: a call that was taken ends with hc_sv_watch_end
/// returning false, and its thread must then leave everything but the match alone.
#pragma once

#include "server/daemon/log.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/// The value of hc_sv_watch.since_us in a call that was taken.
#define HC_SV_WATCH_TAKEN UINT64_MAX

/// The call into a match that a thread makes now.
struct hc_sv_watch {
    atomic_bool left;              ///< the thread of a call that was taken uses nothing any more
    pthread_t thread;              ///< the thread, set before its first call
    atomic_uint match;             ///< the number of the match
    atomic_uint_fast64_t since_us; ///< when the call began; 0: there is none
};

/// A call that lasts too long.
struct hc_sv_hang {
    unsigned worker;   ///< index of the worker
    uint16_t match;    ///< the number of the match
    bool named;        ///< the log names the match: there are several
    uint64_t since_us; ///< when the call began
    uint64_t found_us; ///< when it was found to last too long
    bool makes;        ///< the call makes the match's next world
};

struct hc_sv_watchdog;

/// A call into match `match` begins at `now_us`.
static inline void hc_sv_watch_begin(struct hc_sv_watch *watch, unsigned match, uint64_t now_us) {
    atomic_store_explicit(&watch->match, match, memory_order_relaxed);
    atomic_store_explicit(&watch->since_us, now_us, memory_order_release);
}

/// The call has ended; false: it was taken.
static inline bool hc_sv_watch_end(struct hc_sv_watch *watch) {
    return atomic_exchange_explicit(&watch->since_us, 0, memory_order_acq_rel) != HC_SV_WATCH_TAKEN;
}

/// When the present call began; 0: there is none. Everything that its thread did before has
/// happened.
static inline uint64_t hc_sv_watch_since(const struct hc_sv_watch *watch) {
    return atomic_load_explicit(&watch->since_us, memory_order_acquire);
}

/// Takes the call that began at `since_us`; false: it has ended. Everything that its thread did
/// before the call has happened.
static inline bool hc_sv_watch_take(struct hc_sv_watch *watch, uint64_t since_us) {
    return atomic_compare_exchange_strong_explicit(&watch->since_us, &(uint_fast64_t){since_us},
                                                   HC_SV_WATCH_TAKEN, memory_order_acq_rel,
                                                   memory_order_relaxed);
}

/// Starts the thread for `matches` matches. It borrows `log`. A place in the file of `game`, a
/// symbol of it, is told rather than others. NULL: no memory or no thread.
struct hc_sv_watchdog *hc_sv_watchdog_start(struct hc_sv_log *log, const void *game,
                                            unsigned matches);

/// Lets the watchdog find the place of the call of `watch` and log it as `match-hangs`, soon. A
/// call that comes while another one of the same match waits replaces it. False: it has ended.
/// `watchdog` NULL: nothing is found.
bool hc_sv_watchdog_find(struct hc_sv_watchdog *watchdog, const struct hc_sv_watch *watch,
                         const struct hc_sv_hang *hang);

/// Must be true before a thread is joined whose calls were watched, and whose last one has ended:
/// then the watchdog does not ask it. False: it asks it now. `watchdog` NULL: true.
bool hc_sv_watchdog_leave(struct hc_sv_watchdog *watchdog, pthread_t thread);

/// Writes the place that was found for the newest hang of match `match`: "" if there is none yet,
/// or no watchdog. Returns `text`.
const char *hc_sv_watchdog_place(struct hc_sv_watchdog *watchdog, unsigned match, char *text,
                                 size_t size);

/// Ends the thread, and waits for it at most a second; false: it still asks for a place, and must
/// keep its memory until the process ends. NULL is allowed.
bool hc_sv_watchdog_stop(struct hc_sv_watchdog *watchdog);

/// Frees the watchdog, which has stopped; NULL is allowed.
void hc_sv_watchdog_free(struct hc_sv_watchdog *watchdog);
