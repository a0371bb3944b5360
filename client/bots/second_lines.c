/// Owns the keys of a line for each second.
#include "client/bots/second_lines.h"

#include "client/bots/origin.h"
#include "common/elapsed.h"
#include "common/programs/report.h"

#include <jansson.h>

void hc_cl_second_lines_begin(struct hc_cl_second_lines *lines, FILE *out, uint32_t clients) {
    *lines = (struct hc_cl_second_lines){.out = out, .clients = clients};
}

/// The growth of a count since the line before; 0 if it fell, because a session that ends takes
/// its counts along.
static json_int_t since(uint64_t before, uint64_t now) {
    return (json_int_t)hc_since(before, now);
}

void hc_cl_second_lines_add(struct hc_cl_second_lines *lines,
                            const struct hc_cl_fleet_progress *now) {
    const struct hc_cl_fleet_progress *before = &lines->before;
    double span_us = (double)hc_since(before->elapsed_us, now->elapsed_us);
    json_t *line = json_pack(
        "{s:o, s:f, s:i, s:i, s:i, s:i, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:o}", "time",
        hc_cl_origin_date(), "elapsed_s", (double)now->elapsed_us / 1e6, "clients",
        (int)lines->clients, "playing", (int)now->playing, "connecting", (int)now->connecting,
        "stalled", (int)now->stalled, "rtt_ms",
        hc_report_ratio((double)now->rtt_us / 1e3, now->playing), "bytes_down",
        since(before->bytes_in, now->bytes_in), "bytes_up",
        since(before->bytes_out, now->bytes_out), "snapshots",
        since(before->snapshots, now->snapshots), "rollbacks",
        since(before->rollbacks, now->rollbacks), "stalls", since(before->stalls, now->stalls),
        "inputs_forced", since(before->inputs_forced, now->inputs_forced), "datagrams_lost",
        since(before->lost, now->lost), "load_late_ms", (double)now->late_us / 1e3,
        "load_cores_used", hc_report_ratio((double)since(before->cpu_us, now->cpu_us), span_us));
    lines->before = *now;
    if (line == NULL)
        return;
    json_dumpf(line, lines->out, JSON_REAL_PRECISION(6));
    fputc('\n', lines->out);
    fflush(lines->out);
    json_decref(line);
}
