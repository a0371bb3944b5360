/// A worker of the daemon: a thread's event loop, its doors and its matches.
///
/// Match m is of worker m % workers. The doors give the worker its datagrams
/// (server/daemon/doors.h), which reach their matches as server/daemon/routing.h says.
///
/// The worker runs the ticks of its matches in the order of their deadlines, and reads the doors
/// between them. A match's tick cannot be interrupted, so it may delay the other matches of its
/// worker, and no other.
///
/// A match hangs when a call into it does not return. Then the worker gets another thread, which
/// goes on with the other matches: the match is away, and its former thread uses nothing but the
/// match. If the call returns soon, that thread ends, and the match comes back. Otherwise the world
/// is left to it: its clients are told, and the match gets another world (hc_sv_match_mend).
///
/// Nobody else touches the matches while the worker's thread runs. The control thread puts orders
/// into the mailbox, and reads the counts that the worker publishes once a second, and when it is
/// ordered to.
#pragma once

#include "server/daemon/doors.h"
#include "server/daemon/mailbox.h"
#include "server/daemon/match.h"
#include "server/daemon/time_budget.h"
#include "server/daemon/watchdog.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

struct event;
struct event_base;

/// Why a worker asks for the end of the run.
enum hc_sv_run_end {
    HC_SV_RUN_GOES_ON,
    HC_SV_RUN_TICKS, ///< --ticks is reached
    HC_SV_RUN_WORLD, ///< the world has no more ticks
    HC_SV_RUN_STUCK, ///< a match is stuck, and --stuck-policy is `end`
};

/// The notices between all workers and the control thread.
struct hc_sv_run {
    int notice;       ///< an eventfd that wakes the control thread
    atomic_bool ends; ///< the workers end at once
    atomic_int end;   ///< an enum hc_sv_run_end
};

/// The counts of a worker that are of none of its matches.
struct hc_sv_worker_counts {
    struct hc_daemon_doors doors;
    struct hc_daemon_lanes lanes;
    bool sorted; ///< the kernel sorts datagrams into lanes
};

struct hc_sv_runner_calls;

/// The thread of a worker, and what it alone uses.
struct hc_sv_runner {
    struct hc_sv_worker *worker;
    pthread_t thread;
    struct hc_sv_watch watch;
    struct hc_sv_doors *doors; ///< owned
    struct event_base *base;
    /// The events of a door's lanes; none of DATA, which is read by time.
    struct event *readable[HC_SV_DOORS_MAX][HC_SV_DOOR_LANES];
    struct event *mail; ///< the mailbox has some, or the daemon ends
    struct event *timer;
    const struct hc_sv_runner_calls *calls;
    sem_t start; ///< the semaphore that the new thread waits for
    bool goes;   ///< the thread runs its loop after `start`; otherwise it ends

    // Of a runner that was replaced.
    struct hc_sv_match *away;    ///< the match in which its thread hangs
    struct hc_sv_stuck stuck;    ///< that call
    struct hc_sv_runner *former; ///< the next runner that was replaced; NULL: none
};

struct hc_sv_worker {
    const struct hc_sv_match_setting *setting;
    struct hc_sv_worker *all; ///< [options.workers]
    struct hc_sv_run *run;
    unsigned index;
    struct hc_sv_runner *runner; ///< owned; its `former` begins the list of those it replaced
    struct hc_sv_match *matches; ///< [count], see hc_sv_worker_match
    unsigned count;
    struct hc_token_ring keys;
    struct hc_sv_play_settings settings; ///< in force
    struct hc_sv_refused_users *refused; ///< the newest refused users, held; NULL: none
    struct hc_sv_mailbox mailbox;
    enum hc_sv_door_lane next_lane; ///< HELLO or CONNECT, read next
    uint64_t time_set_us;           ///< when the servers were last given the wall clock
    uint64_t armed_us;              ///< deadline of the timer
    uint64_t period_us;             ///< when the present period began, which lasts about a tick
    uint64_t window_us;             ///< begin of the window of hc_sv_match.busy_us
    uint64_t drain_us;              ///< when the DATA lane is read next, beside every tick
    uint32_t drained;               ///< datagrams of the DATA lane since the last tick
    uint32_t drain_size;            ///< the datagrams that one reading should find, at most
    uint64_t drain_every_us;        ///< the interval that follows from them
    struct hc_sv_status_line drops; ///< the newest log line about dropped datagrams
    uint64_t handshakes;            ///< datagrams received that are not DATA
    struct hc_sv_time_budget handshake_budget;
    bool stopping, restarts;
    uint32_t restart_s;                ///< of `restarts`
    struct hc_sv_match_counts scratch; ///< memory for counts while they are published

    // For the control thread.
    struct hc_sv_published counts;  ///< a struct hc_sv_worker_counts
    atomic_uint_fast64_t published; ///< the newest number that an order to publish had
    atomic_uint_fast64_t turned_us; ///< when the loop turned last
    atomic_bool ticked;             ///< its first tick is over, or no match has any yet
    atomic_bool closed;             ///< the thread touches nothing any more, and may be joined
};

/// The worker of match `number`, among `workers`.
static inline unsigned hc_sv_worker_of(unsigned number, unsigned workers) {
    return number % workers;
}

/// Match `number` of a daemon, [1, matches], whose workers these are.
static inline struct hc_sv_match *hc_sv_worker_match(struct hc_sv_worker *workers,
                                                     unsigned number) {
    unsigned count = workers[0].setting->options->workers;
    return &workers[hc_sv_worker_of(number, count)].matches[(number - 1) / count];
}

/// The worker's next match after `match` (NULL: the first one) that is not away; NULL: none.
static inline struct hc_sv_match *hc_sv_worker_next_match(struct hc_sv_worker *worker,
                                                          struct hc_sv_match *match) {
    struct hc_sv_match *end = worker->matches + worker->count;
    match = match == NULL ? worker->matches : match + 1;
    while (match < end && match->away)
        match++;
    return match < end ? match : NULL;
}

/// Opens a worker, which has its setting, `all`, `run` and `index`, with its share of the matches.
/// False: no memory or no descriptors.
bool hc_sv_worker_open(struct hc_sv_worker *worker, const struct hc_token_ring *keys);

/// Takes over `doors`, and registers the events that wake the worker. False: no memory.
bool hc_sv_worker_watch(struct hc_sv_worker *worker, struct hc_sv_doors *doors);

/// Obeys the orders so far, begins the worlds, and starts the thread, which receives no signals.
/// False: there is no thread; then `closed` is set.
bool hc_sv_worker_begin(struct hc_sv_worker *worker);

/// Waits for the worker's threads, if it is `closed`, and until `until_us` for those that make
/// worlds. False: one of them goes on, and may use everything.
bool hc_sv_worker_join(struct hc_sv_worker *worker, uint64_t until_us);

/// Frees all, after all threads have ended.
void hc_sv_worker_close(struct hc_sv_worker *worker);

/// The number of connected clients; from any thread.
unsigned hc_sv_worker_clients(const struct hc_sv_worker *worker);

/// The number of clients that are connected or linger; from any thread.
unsigned hc_sv_worker_sessions(const struct hc_sv_worker *worker);
