/// The daemon's report of a run, as JSON and as a table for people.
#pragma once

#include "common/programs/daemon_counters.h"
#include "hindcast/server.h"

#include <jansson.h>
#include <stdio.h>

struct hc_sv_report {
    const char *version;
    uint64_t seed;         ///< below 2^63, as a JSON integer
    uint16_t tick_rate;    ///< Hz
    uint64_t ticks;        ///< of all matches
    uint64_t duration_us;  ///< since the workers began
    unsigned clients_most; ///< at once
    struct hc_daemon_work work;
    struct hc_daemon_process process;
    struct hc_daemon_doors doors;
    struct hc_daemon_lanes lanes;
    bool sorted;                 ///< the kernel sorts datagrams into lanes
    json_t *desyncs, *overflows; ///< arrays, see faults.h; borrowed
    json_t *hangs;               ///< an array of the matches that hang, borrowed
    const struct hc_server_stats *host;
    const struct hc_timeline_stats *timeline;
    unsigned workers;                   ///< of several matches; 0: there is one match
    struct hc_server_remembered placed; ///< by tokens that name none of several matches
    json_t *matches; ///< [matches] their parts, borrowed; NULL: there is one match
};

/// Adds the counts of one server to those of others.
void hc_sv_report_add_stats(struct hc_server_stats *sum, const struct hc_server_stats *one);

/// Adds the counts of a server that has ended, whose world another one follows: without its memory,
/// its level of overload, and the users that it remembers, which the next one goes on with.
void hc_sv_report_add_ended(struct hc_server_stats *sum, const struct hc_server_stats *ended);

/// Makes the report as an object, which the caller releases. Values that this process cannot know
/// are null.
json_t *hc_sv_report_json(const struct hc_sv_report *report);

/// Prints a report of hc_sv_report_json as a table for people, the verdict first.
void hc_sv_report_print(const json_t *report, FILE *out);
