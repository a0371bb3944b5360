/// The daemon's final report: what is known of a whole run, as JSON and as a table.
#pragma once

#include "server/host.h"
#include "server/udp.h"

#include <jansson.h>
#include <stdio.h>

/// IPv4 and UDP headers, counted for every datagram beside its own bytes.
enum { HC_SV_REPORT_OVERHEAD = 28 };

struct hc_sv_report {
    const char *version;
    uint64_t seed;      ///< below 2^63, as a JSON integer
    uint16_t tick_rate; ///< Hz
    hc_tick ticks;
    uint64_t duration_us, cpu_us;
    uint64_t client_ticks;       ///< clients connected, summed over the ticks
    unsigned clients_most;       ///< at once
    size_t resident_bytes;       ///< of the process, at its end
    struct hc_histogram tick_us; ///< work of a tick: advancing and sending
    struct hc_sv_udp_stats udp;
    const struct hc_sv_host_stats *host;
    const struct hc_timeline_stats *timeline;
};

/// The report as one object, which the caller releases. What this process cannot know is null.
json_t *hc_sv_report_json(const struct hc_sv_report *report);

/// The report as a table for people.
void hc_sv_report_print(const struct hc_sv_report *report, FILE *out);
