/// The control thread, in which main() runs: signals, reloads, reports, and the end of the run.
///
/// It waits for no match. Workers take its orders from their mailboxes, and publish counts for it.
/// So a match that does not return from a tick delays neither a report, which has its newest
/// counts, nor the end.
#pragma once

#include "server/daemon/notify.h"
#include "server/daemon/reload.h"
#include "server/daemon/status.h"
#include "server/daemon/worker.h"

enum {
    HC_SV_CONTROL_SIGNALS = 6,
    HC_SV_CONTROL_READERS = 2, ///< the admin face and the query port
};

/// The call into a match that a thread makes, as the control thread has found it.
struct hc_sv_control_seen {
    uint64_t since_us; ///< when it began; 0: there was none
    unsigned checks;   ///< that found it
    uint16_t match;    ///< of one that hangs and whose worker got no other thread; 0: it is not so
};

/// Somebody who reads what the workers publish.
struct hc_sv_control_reader {
    void (*published)(void *context);
    void *context;
};

struct hc_sv_control {
    const struct hc_sv_match_setting *setting;
    const struct hc_sv_options *options; ///< of the setting
    struct hc_sv_log *log;               ///< of the setting
    struct hc_sv_worker *workers;        ///< [options->workers]
    struct hc_sv_run run;
    struct event_base *base;
    struct event *signals[HC_SV_CONTROL_SIGNALS];
    struct event *noticed;      ///< the workers have something to tell
    struct event *check;        ///< the next check of the workers
    struct event *ticked;       ///< --ticks of several matches are over
    struct event *unanswered;   ///< a report waits no longer for the workers
    struct hc_sv_reload reload; ///< opened by the caller
    atomic_bool drains;         ///< no user without a session is admitted
    uint64_t drained_us;        ///< when a drain ends at the latest
    struct hc_sv_notify notify; ///< opened by the caller
    bool termed;                ///< SIGTERM has begun or shortened a drain
    bool has_drained;           ///< the drain has ended, see `drained`
    bool stopping;              ///< the daemon ends
    bool restarts;              ///< the clients come back to the next daemon
    unsigned stop_checks;       ///< since then
    struct hc_sv_status placed; ///< the log lines of the placement
    uint64_t second_us;         ///< when what is logged once a second was checked
    uint64_t began_unix_us;     ///< Unix time when the workers began
    uint64_t began_cpu_us;      ///< processor time of the process when the workers began
    uint64_t asked;             ///< the newest number of an order to publish
    bool asks;                  ///< a report waits for the answers
    bool wanted;                ///< a reader waits for them
    struct hc_sv_control_reader readers[HC_SV_CONTROL_READERS]; ///< [reader_count]
    unsigned reader_count;
    json_t *hangs;                                     ///< while they are listed
    unsigned hanging;                                  ///< while they are counted
    struct hc_sv_control_seen seen[HC_SV_WORKERS_MAX]; ///< the calls of the workers
    struct hc_sv_control_seen *makers; ///< [matches] the calls that make their next worlds

    // Set by the client of Agones, if there is one.
    struct hc_sv_control_reader fleet; ///< as one of `readers`
    /// Called once when a drain has ended: its owner stops the daemon then, unless SIGTERM comes
    /// before. NULL: the daemon stops at once.
    void (*drained)(void *context);

    // Memory for a report.
    struct hc_sv_report report;
    struct hc_server_stats stats; ///< of all matches
    struct hc_timeline_stats timeline;
    struct hc_sv_match_counts match;
    struct hc_sv_worker_counts worker;
};

/// Blocks (SIG_BLOCK) or unblocks (SIG_UNBLOCK) the handled signals in this thread. While the
/// daemon sets up, no signal is lost or ends it.
void hc_sv_control_mask_signals(int how);

/// Makes the event base and `run` of a control that is all zeros. It borrows the workers, which may
/// be opened later. False: no memory or no descriptors.
bool hc_sv_control_open(struct hc_sv_control *control, const struct hc_sv_match_setting *setting,
                        struct hc_sv_worker *workers);

/// Registers the events of signals and files, after hc_sv_reload_open. False: no memory.
bool hc_sv_control_watch(struct hc_sv_control *control);

/// Obeys signals until the threads of all workers have ended; when the daemon ends, those of
/// hanging matches are not waited for, and not `closed`.
void hc_sv_control_run(struct hc_sv_control *control);

/// Closes all connections, and ends the run once they are closed; the clients come back if the
/// daemon `restarts`. `why` is for the log. Again: nothing more.
void hc_sv_control_stop(struct hc_sv_control *control, const char *why, bool restarts);

/// Tells a notice, for which hc_notice_check holds, to all clients of match `number`, or (0) of all
/// matches. False: a worker has not taken as many before, and its clients miss this one.
bool hc_sv_control_announce(struct hc_sv_control *control, unsigned number,
                            const struct hc_notice *notice);

/// Admits nobody without a session any more, and stops once there is no session, or after
/// `seconds`. Clients are told. Again: with other seconds.
void hc_sv_control_drain(struct hc_sv_control *control, uint64_t seconds);

/// The same, with the seconds, the address and the text of a notice of HC_NOTICE_ENDING.
void hc_sv_control_drain_to(struct hc_sv_control *control, const struct hc_notice *notice);

/// As hc_sv_reload_start, and tells the service manager.
void hc_sv_control_reload(struct hc_sv_control *control);

/// Ends all workers at once, without closing their connections.
void hc_sv_control_end(struct hc_sv_control *control);

/// Makes a report of what the workers have published. The caller releases it.
json_t *hc_sv_control_report(struct hc_sv_control *control);

/// The counts that are of no match, valid until the next call or report.
const struct hc_sv_report *hc_sv_control_sums(struct hc_sv_control *control);

/// The calls into matches that hang, an array as in a report. The caller releases it.
json_t *hc_sv_control_hangs(struct hc_sv_control *control);

/// The number of these calls.
unsigned hc_sv_control_hanging(struct hc_sv_control *control);

/// Whether a call into match `number` hangs; one that makes its next world does not count.
bool hc_sv_control_match_hangs(const struct hc_sv_control *control, unsigned number);

/// Adds one of HC_SV_CONTROL_READERS: `published` is called after each hc_sv_control_ask.
void hc_sv_control_add_reader(struct hc_sv_control *control, void (*published)(void *context),
                              void *context);

/// Orders all workers to publish their counts and clients. Once they have, but those that hang, or
/// after half a second, the readers are called. Again before: nothing more.
void hc_sv_control_ask(struct hc_sv_control *control);

/// Whether a worker has obeyed the newest such order, so that the clients of its matches may be
/// read, until the next one.
bool hc_sv_control_has_published(const struct hc_sv_control *control, unsigned index);

/// Whether the loops of all workers turn, and no match lacks a world because a call into it hangs.
bool hc_sv_control_is_healthy(struct hc_sv_control *control);

/// Whether clients may join: the daemon neither ends nor drains, and at least one match neither
/// hangs nor refuses joins because it is overloaded. A full one counts, because its clients play.
bool hc_sv_control_is_ready(const struct hc_sv_control *control);

/// Frees all but the workers.
void hc_sv_control_close(struct hc_sv_control *control);
