/// The daemon's final report: what is known of a whole run, as JSON and as a table.
#pragma once

#include "server/host.h"
#include "server/daemon/time_budget.h"
#include "server/daemon/udp.h"

#include <jansson.h>
#include <stdio.h>

struct hc_sv_report {
    const char *version;
    const struct hc_game *game; ///< whose fields are named
    uint64_t seed;              ///< below 2^63, as a JSON integer
    uint16_t tick_rate;         ///< Hz
    hc_tick ticks;
    uint64_t duration_us, cpu_us;
    uint64_t client_ticks;          ///< clients connected, summed over the ticks
    unsigned clients_most;          ///< at once
    size_t resident_bytes;          ///< of the process, at its end
    struct hc_histogram tick_us;    ///< work of a tick: advancing and sending
    uint64_t ticks_worked_too_long; ///< of these, that took longer than a tick lasts
    uint64_t handshakes;            ///< datagrams read that are no DATA
    struct hc_sv_time_budget
        handshake_budget; ///< processor time that they and their answers took of the ticks
    struct hc_sv_udp_stats udp;
    const struct hc_sv_host_stats *host;
    const struct hc_timeline_stats *timeline;
};

/// The report as one object, which the caller releases. What this process cannot know is null.
///
/// `server.bytes_down_by_purpose_per_client_s` is all that was sent, its members' sum: values of
/// the client's `own` players, of `others` and of what is `unowned` at the tick shown,
/// `corrections` of past ticks, other players' `inputs`, the `names` of units, the `head` with what
/// was forced and who came and went, the `acks` of the client's datagrams; and `overhead`, which is
/// IP, UDP, the rest of the header, the seal, what frames and fills a message, handshakes and
/// goodbyes. `server.bytes_down_by_field_per_client_s` divides the values at the tick shown among
/// "kind.field", "input.field" (the owner's) and `flags` (what has changed, presence and ages), as
/// those are that were counted by field (host.h); null where none was.
json_t *hc_sv_report_json(const struct hc_sv_report *report);

/// A report that hc_sv_report_json has made as a table for people, the verdict first.
void hc_sv_report_print(const json_t *report, FILE *out);
