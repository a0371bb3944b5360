/// Lines of the log about the running host: the status at intervals, and the CONNECTs that were
/// denied.
#pragma once

#include "server/host.h"
#include "server/daemon/report.h"
#include "server/daemon/log.h"

/// All zeros but for `every_us` is a status before the first line.
struct hc_sv_status {
    uint64_t every_us;           ///< from one line to the next; 0: there are none
    uint64_t begun_us;           ///< when the interval of the next line began; 0: with the run
    struct hc_histogram tick_us; ///< work of the ticks of the interval
    /// Counts at the beginning of the interval.
    uint64_t rewinds, over_budget;
    uint64_t bytes_down, bytes_up; ///< with headers
    struct {
        uint64_t count, logged_us; ///< of the newest line, 0: none
    } denials[HC_DENY_REASONS_END];
};

/// A tick has worked for `work_us`.
void hc_sv_status_add_tick(struct hc_sv_status *status, uint64_t work_us);

/// Logs a status line if one is due. `report` holds the run so far, `clients` how many are
/// connected.
void hc_sv_status_log(struct hc_sv_status *status, struct hc_sv_log *log,
                      const struct hc_sv_report *report, unsigned clients, uint64_t now_us);

/// Logs the CONNECTs that were denied since the last line: a line for each reason, at most one in
/// 10 s; or, with `last`, whatever has not been logged yet.
void hc_sv_status_log_denials(struct hc_sv_status *status, struct hc_sv_log *log,
                              const struct hc_sv_host_stats *host, bool last, uint64_t now_us);
