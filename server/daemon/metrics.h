/// The counters of the daemon as metrics of Prometheus (text format 0.0.4).
///
/// Each counter of the lists (hindcast/counter.h) is a metric. Its name is `hindcast_`, the words
/// of the counter's key in reports, the base unit if it has one (`seconds`, `bytes`, or `ticks` of
/// a gauge or a histogram), and `_total` if it only grows. Metrics of a match have a label `match`.
/// No label names a player.
#pragma once

#include "server/daemon/match.h"

#include <stdio.h>

enum { HC_SV_METRICS_NAME_MAX = 96 }; ///< bytes of a name with its terminator

struct hc_sv_metrics {
    const char *version;
    uint16_t tick_rate;                      ///< Hz
    unsigned matches;                        ///< of `counts`
    const struct hc_sv_match_counts *counts; ///< [matches]
    const struct hc_daemon_process *process;
    const struct hc_daemon_doors *doors;
    const struct hc_daemon_lanes *lanes;       ///< NULL: the kernel does not sort datagrams
    const struct hc_server_remembered *placed; ///< of several matches; NULL: there is one
    unsigned hanging;                          ///< calls into matches that do not return
    bool ready;                                ///< the daemon admits clients
};

/// Writes the name of a counter's metric, of a list whose names begin with `prefix`.
void hc_sv_metrics_name(const char *prefix, const struct hc_counter *counter,
                        char name[static HC_SV_METRICS_NAME_MAX]);

/// Writes all metrics.
void hc_sv_metrics_write(const struct hc_sv_metrics *metrics, FILE *out);
