/// A worker of the daemon: a thread's event loop, its sockets and its matches.
///
/// Match m is of worker m % workers, and the kernel gives the worker its datagrams
/// (server/daemon/udp.h). A CONNECT whose token names no match goes to the match that the placement
/// chooses; of another worker's match, through that worker's mailbox.
///
/// The worker runs the ticks of its matches in the order of their deadlines, and reads the sockets
/// between them. A match's tick cannot be interrupted, so it may delay the other matches of its
/// worker, and no other.
///
/// `lock` guards the worker's matches and keys. The worker holds it in each of its callbacks;
/// another thread takes it to read the counts or to call the servers.
#pragma once

#include "server/daemon/match.h"
#include "server/daemon/udp.h"
#include "server/daemon/watchdog.h"

#include <pthread.h>
#include <stdatomic.h>

struct event;
struct event_base;

enum { HC_SV_WORKER_MAIL = 64 }; ///< CONNECTs that wait for a worker; one more is dropped

/// A CONNECT that another worker received.
struct hc_sv_mail {
    struct hc_address from;
    uint64_t arrived_us;
    struct hc_sv_placed placed;
    uint8_t bytes[HC_DATAGRAM_CONNECT_SIZE];
};

struct hc_sv_mailbox {
    pthread_mutex_t lock;
    int wake; ///< an eventfd; -1: none
    unsigned first, count;
    struct hc_sv_mail mail[HC_SV_WORKER_MAIL];
};

struct hc_sv_worker {
    const struct hc_sv_match_setting *setting;
    struct hc_sv_worker *all; ///< [options.workers]
    unsigned index;
    pthread_t thread;
    struct hc_sv_watch watch;
    pthread_mutex_t lock;
    struct hc_sv_udp *udp; ///< owned
    struct event_base *base;
    struct hc_sv_match *matches; ///< [count], see hc_sv_worker_match
    unsigned count;
    struct hc_token_ring keys;
    struct hc_sv_mailbox mailbox;
    struct event *readable[HC_SV_UDP_LANES]; ///< none of DATA, which is read by time
    struct event *mail;                      ///< the mailbox has some, or the daemon ends
    struct event *timer;
    enum hc_sv_udp_lane next_lane; ///< HELLO or CONNECT, read next
    uint64_t time_set_us;          ///< when the servers were last given the wall clock
    uint64_t armed_us;             ///< deadline of the timer
    uint64_t period_us;            ///< when the present period began, which lasts about a tick
    uint64_t window_us;            ///< begin of the window of hc_sv_match.busy_us
    uint64_t drain_us;             ///< when the DATA lane is read next, beside every tick
    uint32_t drained;              ///< datagrams of the DATA lane since the last tick
    uint32_t drain_size;           ///< the datagrams that one reading should find, at most
    uint64_t drain_every_us;       ///< the interval that follows from them
    uint64_t handshakes;           ///< datagrams received that are not DATA
    struct hc_sv_time_budget handshake_budget;
    struct hc_sv_udp_stats udp_stats; ///< when the wall clock was last given
    bool stopping;
    bool closed;       ///< the loop has ended, or is about to
    atomic_bool *ends; ///< of all workers: end at once
    atomic_uint *open; ///< the workers whose loops run
    /// Called after each turn of worker 0, without the lock; NULL: none.
    void (*after_turn)(void *context, uint64_t now_us);
    void *context;
};

/// The worker of match `number`, among `workers`.
static inline unsigned hc_sv_worker_of(unsigned number, unsigned workers) {
    return number % workers;
}

/// Opens a worker, which has its setting, `all`, `index`, `ends` and `open`, on `base`, with its
/// share of the matches. False: no memory, with a sentence on standard error.
bool hc_sv_worker_open(struct hc_sv_worker *worker, struct event_base *base,
                       const struct hc_token_ring *keys);

/// Registers the events that wake the worker; its `udp` is open. False: no memory.
bool hc_sv_worker_watch(struct hc_sv_worker *worker);

/// Begins the first turn inside the loop of `base`, which the caller runs.
void hc_sv_worker_begin(struct hc_sv_worker *worker);

/// Frees all, after the loop has ended.
void hc_sv_worker_close(struct hc_sv_worker *worker);

/// Wakes the worker's loop from any thread.
void hc_sv_worker_wake(struct hc_sv_worker *worker);

// The caller of these holds no worker's lock.

/// Closes all connections of the worker's matches, by hc_server_restart if the daemon `restarts`,
/// else by hc_server_shutdown. The worker's loop ends when their servers are closed.
void hc_sv_worker_stop(struct hc_sv_worker *worker, bool restarts, uint64_t now_us);

/// Accepts tokens of these keys from now on.
void hc_sv_worker_set_keys(struct hc_sv_worker *worker, const struct hc_token_ring *keys);

/// As hc_server_set_refused, for each match.
void hc_sv_worker_set_refused(struct hc_sv_worker *worker, const uint64_t *client_ids,
                              uint32_t count, uint64_t not_before_s, uint64_t now_us);

/// The number of connected clients.
unsigned hc_sv_worker_clients(struct hc_sv_worker *worker);

/// Adds the worker's counts to the report, see hc_sv_match_add_to_report, and those of each of its
/// matches to the array `matches` unless it is NULL.
void hc_sv_worker_add_to_report(struct hc_sv_worker *worker, struct hc_sv_report *report,
                                struct hc_server_stats *stats, struct hc_timeline_stats *timeline,
                                json_t **matches);
