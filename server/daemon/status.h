/// Log lines about the running host: its status at intervals, and denied CONNECTs.
#pragma once

#include "hindcast/server.h"
#include "server/daemon/door.h"
#include "server/daemon/log.h"
#include "server/daemon/report.h"

/// The newest line about a trouble: its count and its time.
struct hc_sv_status_line {
    uint64_t count, logged_us; ///< 0: there was none
};

/// All zeros but `every_us` and `match` is the state before the first line.
struct hc_sv_status {
    uint16_t match;              ///< named in each line; 0: none
    uint64_t every_us;           ///< interval of the status lines; 0: none
    uint64_t begun_us;           ///< begin of the current interval; 0: begin of the run
    struct hc_histogram tick_us; ///< work of the ticks in the interval
    /// Counts at the begin of the interval.
    uint64_t rewinds, over_budget, cpu_us;
    struct hc_histogram lateness_us;        ///< of the ticks
    uint64_t bytes_down, bytes_up;          ///< with IP and UDP headers
    enum hc_server_overload_level overload; ///< the highest level logged since there was none
    bool linear;                            ///< the newest line said that snapshots are linear
    struct hc_sv_status_line denials[HC_DENY_REASONS_END], builds, ticks, inputs;
    struct hc_sv_status_remembered {
        bool filling, full; ///< a line about it was logged
        uint64_t forgotten; ///< count of forgotten users at the last check
    } remembered;
};

/// Records that a tick took `work_us`.
void hc_sv_status_add_tick(struct hc_sv_status *status, uint64_t work_us);

/// Logs a status line if it is due. `report` holds the counts of the run so far, `clients` is the
/// number of connected clients.
void hc_sv_status_log(struct hc_sv_status *status, struct hc_sv_log *log,
                      const struct hc_sv_report *report, unsigned clients, uint64_t now_us);

/// Logs each level of overload when it is first reached, the end of all, and each change of the
/// extrapolation in snapshots.
void hc_sv_status_log_overload(struct hc_sv_status *status, struct hc_sv_log *log,
                               const struct hc_server_stats *host);

/// Logs what has gone wrong since the last line about it, each at most once in 10 s; with `last`,
/// all that is not logged yet. These are: CONNECTs that were denied, by reason; HELLOs of other
/// games and builds; ticks that were late or left out; and inputs that were refused or lost.
void hc_sv_status_log_troubles(struct hc_sv_status *status, struct hc_sv_log *log,
                               const struct hc_sv_report *report, bool last, uint64_t now_us);
/// Logs, at most once in 10 s, how many datagrams the doors of a worker have dropped unread, of
/// clients that play and of handshakes; with `last`, at once.
void hc_sv_status_log_drops(struct hc_sv_status_line *line, struct hc_sv_log *log,
                            const struct hc_sv_door_stats *doors, bool last, uint64_t now_us);

/// Logs when four fifths of the users are remembered that may be, and when one is forgotten for
/// another; again after fewer than three fifths were.
void hc_sv_status_log_remembered(struct hc_sv_status *status, struct hc_sv_log *log,
                                 const struct hc_server_remembered *remembered);
