#include "client/report.h"

#include "common/report.h"

#include <limits.h>
#include <string.h>

enum {
    LIST_COLUMN = 84, ///< of a list, after which it goes on in the next line
    FIELDS_SHOWN = 8, ///< those that cost most
};

/// The server's part while no server told it.
static json_t *unknown_server(void) {
    json_t *server = hc_report_unknown((const char *const[]){
        "cpu_us_per_client_tick", "ticks_missed", "rewinds", "resimulated_ticks", "entity_steps",
        "resimulated_entity_steps", "corrections", "memory_bytes",
        "bytes_down_by_field_per_client_s", "longest_unsent_ticks", NULL});
    json_object_set_new(server, "bytes_down_by_purpose_per_client_s",
                        hc_report_unknown((const char *const[]){
                            "own", "others", "unowned", "corrections", "inputs", "names", "head",
                            "acks", "copies", "overhead", NULL}));
    json_object_set_new(server, "inputs",
                        hc_report_unknown((const char *const[]){"received", "late", "forced",
                                                                "refused", "lost", NULL}));
    static const char *const histograms[] = {"tick_ms", "tick_lateness_ms", "rewind_depth_ticks"};
    for (size_t i = 0; i < sizeof(histograms) / sizeof(*histograms); i++)
        json_object_set_new(server, histograms[i], hc_report_unknown_histogram());
    return server;
}

static json_t *link_part(const struct hc_cl_options *options,
                         const struct hc_cl_load_result *result) {
    const struct hc_link_config *link = &options->link;
    return json_pack("{s:s?, s:f, s:f, s:f, s:i, s:f, s:f, s:I, s:I}", "name", options->link_name,
                     "latency_ms", link->latency_us / 1e3, "jitter_ms", link->jitter_us / 1e3,
                     "loss_pct", link->loss_ppm / 1e4, "burst", (int)link->burst_mean,
                     "duplicate_pct", link->duplicate_ppm / 1e4, "reorder_pct",
                     link->reorder_ppm / 1e4, "lost", (json_int_t)result->udp.link_lost,
                     "dropped_full", (json_int_t)result->udp.link_dropped_full);
}

static json_t *client_part(const struct hc_cl_options *options,
                           const struct hc_cl_load_result *result) {
    static const struct hc_histogram none;
    const struct hc_client_stats *sum = &result->sum;
    const struct hc_cl_load_ends *ends = &result->ends;
    struct hc_histogram delay = none;
    for (uint32_t i = 0; i < ends->accepted; i++)
        hc_histogram_record(&delay, options->input_delay);
    json_t *client = json_pack(
        "{s:I, s:o, s:I, s:I, s:I, s:o, s:I, s:I}", "rollbacks", (json_int_t)sum->rollbacks,
        "rollback_depth_ticks", hc_report_histogram(&sum->rollback_depth, 1), "snapshots",
        (json_int_t)sum->snapshots, "snapshots_matched", (json_int_t)sum->snapshots_matched,
        "stalls", (json_int_t)sum->stalls, "input_delay_ticks", hc_report_histogram(&delay, 1),
        "hash_checks", (json_int_t)sum->hash_checks, "hash_mismatches",
        (json_int_t)sum->hash_mismatches);
    // Beside the figures, what they are to be weighed against.
    json_t *beside =
        json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "accepted",
                  (json_int_t)ends->accepted, "left", (json_int_t)ends->left, "denied",
                  (json_int_t)ends->denied, "closed_by_server", (json_int_t)ends->closed,
                  "timeouts", (json_int_t)ends->timeout, "snapshots_stale",
                  (json_int_t)sum->snapshots_stale, "stalled_ticks", (json_int_t)sum->stalled_ticks,
                  "inputs_sampled", (json_int_t)sum->inputs_sampled, "inputs_forced",
                  (json_int_t)sum->inputs_forced, "corrections", (json_int_t)sum->corrections,
                  "restarts", (json_int_t)sum->restarts, "memory_bytes",
                  (json_int_t)sum->memory_bytes, "rejected", hc_report_rejected(sum->rejected));
    json_object_update(client, beside);
    json_decref(beside);
    return client;
}

json_t *hc_cl_report_json(const char *program, const char *version,
                          const struct hc_cl_options *options,
                          const struct hc_cl_load_result *result, const json_t *server) {
    const struct hc_cl_udp_stats *udp = &result->udp;
    double client_s = (double)result->client_us / 1e6;
    double up = (double)udp->bytes_out + HC_REPORT_OVERHEAD * (double)udp->datagrams_out;
    double down = (double)udp->bytes_in + HC_REPORT_OVERHEAD * (double)udp->datagrams_in;
    json_t *their = server != NULL ? json_object_get(server, "server") : NULL;
    bool played = result->tick_rate != 0;
    return json_pack(
        "{s:s, s:s, s:I, s:I, s:o, s:o, s:i, s:o, s:o, s:o, s:o, s:i, s:o, s:o, s:o, s:o}",
        "program", program, "version", version, "seed", (json_int_t)options->seed, "duration_ms",
        (json_int_t)(result->duration_us / 1000), "tick_rate_hz",
        played ? json_integer(result->tick_rate) : json_null(), "ticks",
        played ? json_integer((json_int_t)result->ticks) : json_null(), "clients",
        (int)options->clients, "link", link_part(options, result), "bytes_down_per_client_s",
        hc_report_ratio(down, client_s), "bytes_up_per_client_s", hc_report_ratio(up, client_s),
        "datagrams_down_per_client_s", hc_report_ratio((double)udp->datagrams_in, client_s),
        "bytes_overhead_per_datagram", HC_REPORT_OVERHEAD, "rtt_ms",
        hc_report_histogram(&result->sum.rtt_us, 1000), "jitter_ms",
        result->jitters > 0 ? json_real((double)result->jitter_us / 1e3) : json_null(), "server",
        json_is_object(their) ? json_incref(their) : unknown_server(), "client",
        client_part(options, result));
}

/// The value at a path such as "server.inputs.late"; NULL: none.
static const json_t *find(const json_t *at, const char *path) {
    while (at != NULL && *path != '\0') {
        size_t length = strcspn(path, ".");
        char key[40];
        if (length >= sizeof(key))
            return NULL;
        memcpy(key, path, length);
        key[length] = '\0';
        at = json_object_get(at, key);
        path += length + (path[length] == '.');
    }
    return at;
}

/// A line of the table: its label, and one value with so many decimals and its unit.
static void row(FILE *out, const json_t *report, const char *label, const char *path, int decimals,
                const char *unit) {
    const json_t *value = find(report, path);
    if (json_is_number(value))
        fprintf(out, "    %-26s %12.*f%s%s\n", label, decimals, json_number_value(value),
                *unit != '\0' ? "  " : "", unit);
    else
        fprintf(out, "    %-26s %12s\n", label, "unknown");
}

/// A line with the percentiles of a histogram.
static void row_histogram(FILE *out, const json_t *report, const char *label, const char *path,
                          int decimals, const char *unit) {
    const json_t *values = find(report, path);
    if (!json_is_number(json_object_get(values, "p50"))) {
        fprintf(out, "    %-26s %12s\n", label,
                json_is_integer(json_object_get(values, "count")) ? "none" : "unknown");
        return;
    }
    fprintf(out, "    %-26s %12.*f  %s  (90 %%: %.*f  99 %%: %.*f  max: %.*f)\n", label, decimals,
            json_number_value(json_object_get(values, "p50")), unit, decimals,
            json_number_value(json_object_get(values, "p90")), decimals,
            json_number_value(json_object_get(values, "p99")), decimals,
            json_number_value(json_object_get(values, "max")));
}

/// The greatest members of an object of numbers, at most `most`, in as many lines as they take.
static void row_greatest(FILE *out, const json_t *report, const char *label, const char *path,
                         unsigned most) {
    json_t *left = json_deep_copy(find(report, path)), *value;
    const char *key;
    int column = fprintf(out, "    %-26s", label);
    for (unsigned n = 0; n < most; n++) {
        const char *greatest = NULL;
        double number = -1;
        json_object_foreach(left, key, value) {
            if (!json_is_number(value) || json_number_value(value) <= number)
                continue;
            greatest = key;
            number = json_number_value(value);
        }
        if (greatest == NULL) {
            if (n == 0)
                fprintf(out, " %12s", "unknown");
            break;
        }
        if (column > LIST_COLUMN)
            column = fprintf(out, "\n    %-26s", "") - 1;
        column += fprintf(out, "  %s %.0f", greatest, number);
        json_object_del(left, greatest);
    }
    fputc('\n', out);
    json_decref(left);
}

void hc_cl_report_print(const json_t *report, FILE *out) {
    const char *name = json_string_value(find(report, "link.name"));
    double latency = json_number_value(find(report, "link.latency_ms"));
    double burst = json_number_value(find(report, "link.burst"));
    fprintf(out, "\n%s: %d clients, %.1f s", json_string_value(find(report, "program")),
            (int)json_number_value(find(report, "clients")),
            json_number_value(find(report, "duration_ms")) / 1e3);
    if (json_is_number(find(report, "tick_rate_hz")))
        fprintf(out, ", %.0f Hz", json_number_value(find(report, "tick_rate_hz")));
    fprintf(out, ", link%s%s: %.0f ms +- %.0f, %.4g %% loss", name != NULL ? " " : "",
            name != NULL ? name : "", latency, json_number_value(find(report, "link.jitter_ms")),
            json_number_value(find(report, "link.loss_pct")));
    if (burst > 1)
        fprintf(out, " in bursts of %.0f", burst);
    fprintf(out, ", each way\n");

    fprintf(out, "\n  network, per client\n");
    row_histogram(out, report, "round trip, median", "rtt_ms", 1, "ms");
    row(out, report, "jitter", "jitter_ms", 1, "ms");
    row(out, report, "down, with headers", "bytes_down_per_client_s", 0, "bytes/s");
    row(out, report, "up, with headers", "bytes_up_per_client_s", 0, "bytes/s");
    row(out, report, "datagrams down", "datagrams_down_per_client_s", 1, "/s");

    fprintf(out, "\n  server\n");
    row(out, report, "rewinds", "server.rewinds", 0, "");
    row_histogram(out, report, "rewind depth, median", "server.rewind_depth_ticks", 0, "ticks");
    row(out, report, "ticks resimulated", "server.resimulated_ticks", 0, "ticks");
    row(out, report, "inputs received", "server.inputs.received", 0, "inputs");
    row(out, report, "  of these late", "server.inputs.late", 0, "inputs");
    row(out, report, "inputs forced", "server.inputs.forced", 0, "inputs");
    row(out, report, "inputs lost", "server.inputs.lost", 0, "inputs");
    row(out, report, "ticks missed", "server.ticks_missed", 0, "ticks");
    row_histogram(out, report, "work of a tick, median", "server.tick_ms", 3, "ms");
    row_histogram(out, report, "a tick's lateness, median", "server.tick_lateness_ms", 3, "ms");
    row(out, report, "processor time", "server.cpu_us_per_client_tick", 1, "us/client/tick");
    row(out, report, "memory", "server.memory_bytes", 0, "bytes");
    row(out, report, "longest wait to be told", "server.longest_unsent_ticks", 0, "ticks");
    row_greatest(out, report, "sent to each, bytes/s", "server.bytes_down_by_purpose_per_client_s",
                 UINT_MAX);
    row_greatest(out, report, "  of values, most by field",
                 "server.bytes_down_by_field_per_client_s", FIELDS_SHOWN);

    fprintf(out, "\n  clients, all together\n");
    row(out, report, "rollbacks", "client.rollbacks", 0, "");
    row_histogram(out, report, "rollback depth, median", "client.rollback_depth_ticks", 0, "ticks");
    row(out, report, "snapshots", "client.snapshots", 0, "snapshots");
    row(out, report, "  of these as predicted", "client.snapshots_matched", 0, "snapshots");
    row(out, report, "stalls", "client.stalls", 0, "");
    row(out, report, "hashes checked", "client.hash_checks", 0, "snapshots");
    row(out, report, "  of these mismatched", "client.hash_mismatches", 0, "snapshots");
    fputc('\n', out);
}

bool hc_cl_report_write(const json_t *report, const char *path) {
    bool standard = strcmp(path, "-") == 0;
    FILE *file = standard ? stdout : fopen(path, "w");
    if (file == NULL)
        return false;
    bool written = json_dumpf(report, file, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) == 0;
    written = fputc('\n', file) != EOF && written;
    return (standard ? fflush(file) : fclose(file)) == 0 && written;
}
