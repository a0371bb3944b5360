/// Owns the report's figures of the server.
#include "server/daemon/report.h"

#include "common/programs/counters.h"
#include "common/programs/report.h"

#include <inttypes.h>

/// The clients' part, which only clients know: all null.
static json_t *client_part(void) {
    json_t *object = hc_counters_object(&hc_counters_link, NULL);
    hc_counters_report(&hc_counters_world, NULL, object);
    json_object_set_new(object, "input_delay_ticks", hc_report_unknown_histogram());
    return object;
}

static double client_seconds(const struct hc_sv_report *report) {
    return (double)report->work.client_ticks / report->tick_rate;
}

/// Bytes sent, with IP and UDP headers.
static double bytes_down(const struct hc_server_stats *host) {
    return (double)host->bytes_out + HC_REPORT_OVERHEAD * (double)host->datagrams_out;
}

/// Denied CONNECTs by the name of the reason, without reasons that did not occur.
static json_t *denials(const struct hc_server_stats *host) {
    json_t *object = json_object();
    for (unsigned i = 1; i < HC_DENY_REASONS_END; i++)
        if (host->denials[i].count > 0)
            json_object_set_new(object, hc_deny_word((enum hc_deny_reason)i),
                                json_integer((json_int_t)host->denials[i].count));
    return object;
}

static uint64_t refused(const struct hc_server_stats *host) {
    uint64_t sum = 0;
    for (unsigned i = HC_OK + 1; i < HC_STATUS_COUNT; i++)
        sum += host->rejected[i];
    return sum;
}

/// The client whose late inputs cost the most; null: there is none.
static json_t *latest_part(const struct hc_server_latest *latest) {
    char user[24];
    snprintf(user, sizeof(user), "%" PRIu64, latest->client_id);
    return latest->ticks == 0
               ? json_null()
               : json_pack("{s:s, s:I}", "user", user, "ticks", (json_int_t)latest->ticks);
}

static json_t *server_part(const struct hc_sv_report *report) {
    const struct hc_server_stats *host = report->host;
    json_t *server = json_pack(
        "{s:o, s:o, s:I, s:O, s:O, s:O, s:o, s:{s:o}}", "cpu_us_per_client_tick",
        hc_report_ratio((double)report->process.cpu_us, (double)report->work.client_ticks),
        "denied_by_reason", denials(host), "datagrams_refused", (json_int_t)refused(host),
        "desyncs", report->desyncs, "overflows", report->overflows, "hangs", report->hangs,
        "remembered_users", hc_counters_object(&hc_counters_remembered, &host->remembered),
        "overload", "latest_client", latest_part(&host->latest));
    hc_counters_report(&hc_counters_server, host, server);
    hc_counters_report(&hc_counters_overload, &host->overload, server);
    hc_counters_report(&hc_counters_timeline, report->timeline, server);
    hc_counters_report(&hc_counters_work, &report->work, server);
    hc_counters_report(&hc_counters_process, &report->process, server);
    hc_counters_report(&hc_counters_doors, &report->doors, server);
    hc_counters_report(&hc_counters_lanes, report->sorted ? &report->lanes : NULL, server);
    return server;
}

void hc_sv_report_add_stats(struct hc_server_stats *sum, const struct hc_server_stats *one) {
    hc_counters_add(&hc_counters_server, sum, one);
    hc_counters_add(&hc_counters_overload, &sum->overload, &one->overload);
    hc_counters_add(&hc_counters_remembered, &sum->remembered, &one->remembered);
    for (unsigned i = 0; i < HC_DENY_REASONS_END; i++)
        sum->denials[i].count += one->denials[i].count;
    if (one->latest.ticks > sum->latest.ticks)
        sum->latest = one->latest;
}

void hc_sv_report_add_ended(struct hc_server_stats *sum, const struct hc_server_stats *ended) {
    const struct hc_server_remembered remembered = sum->remembered;
    uint64_t memory_bytes = sum->memory_bytes;
    enum hc_server_overload_level level = sum->overload.level;
    bool linear = sum->overload.linear;
    hc_sv_report_add_stats(sum, ended);
    sum->remembered = remembered;
    sum->memory_bytes = memory_bytes;
    sum->overload.level = level;
    sum->overload.linear = linear;
}

json_t *hc_sv_report_json(const struct hc_sv_report *report) {
    const struct hc_server_stats *host = report->host;
    double client_s = client_seconds(report);
    double up = (double)host->bytes_in + HC_REPORT_OVERHEAD * (double)host->datagrams_in;
    double down = bytes_down(host);
    json_t *link = hc_report_unknown(
        (const char *const[]){"name", "latency_ms", "jitter_ms", "loss_pct", "burst",
                              "duplicate_pct", "reorder_pct", "bandwidth_kbit", "queue_ms", NULL});
    json_t *server = server_part(report), *reasons = json_array();
    hc_report_judge_server(reasons, server);
    json_t *object = json_pack(
        "{s:o, s:i, s:s, s:s, s:I, s:I, s:i, s:I, s:i, s:o, s:o, s:o, s:o, s:i, s:n, s:o, s:o}",
        "verdict", hc_report_verdict(reasons, server), "schema_version", HC_REPORT_SCHEMA,
        "program", "hindcastd", "version", report->version, "seed", (json_int_t)report->seed,
        "duration_ms", (json_int_t)(report->duration_us / 1000), "tick_rate_hz",
        (int)report->tick_rate, "ticks", (json_int_t)report->ticks, "clients",
        (int)report->clients_most, "link", link, "bytes_down_per_client_s",
        hc_report_ratio(down, client_s), "bytes_up_per_client_s", hc_report_ratio(up, client_s),
        "datagrams_down_per_client_s", hc_report_ratio((double)host->datagrams_out, client_s),
        "bytes_overhead_per_datagram", HC_REPORT_OVERHEAD, "jitter_ms", "server", server, "client",
        client_part());
    hc_counters_report(&hc_counters_path, NULL, object);
    if (report->matches != NULL) {
        json_object_set_new(server, "placed_users",
                            hc_counters_object(&hc_counters_remembered, &report->placed));
        json_object_set_new(object, "workers", json_integer(report->workers));
        json_object_set(object, "matches", report->matches);
    }
    return object;
}

/// Prints the number of denied CONNECTs by reason.
static void print_denials(const json_t *report, FILE *out) {
    const json_t *by = hc_report_find(report, "server.denied_by_reason");
    char text[256] = "";
    size_t at = 0;
    const char *word;
    json_t *count;
    json_object_foreach((json_t *)by, word, count) {
        if (at < sizeof(text))
            at += (size_t)snprintf(text + at, sizeof(text) - at, "%s %s %.0f", at == 0 ? ":" : ",",
                                   word, json_number_value(count));
    }
    hc_report_line(out, "denied", "%.0f%s", hc_report_number(report, "server.denied"), text);
}

/// Prints the client whose late inputs went back the farthest.
static void print_latest(const json_t *report, FILE *out) {
    const json_t *latest = hc_report_find(report, "server.overload.latest_client");
    if (latest != NULL)
        hc_report_line(out, "latest inputs", "of user %s: %.0f ticks back in all",
                       json_string_value(json_object_get(latest, "user")),
                       hc_report_number(latest, "ticks"));
}

/// Prints a line for each match that hangs.
static void print_hangs(const json_t *report, FILE *out) {
    const json_t *hangs = hc_report_find(report, "server.hangs"), *hang;
    size_t i;
    json_array_foreach((json_t *)hangs, i, hang) {
        const json_t *match = hc_report_find(hang, "match"), *place = hc_report_find(hang, "place");
        char which[24] = "the match";
        if (match != NULL)
            snprintf(which, sizeof(which), "match %.0f", json_number_value(match));
        hc_report_line(out, "hangs", "%s, for %.1f s: it is in %s", which,
                       hc_report_number(hang, "lasted_ms") / 1e3,
                       place != NULL ? json_string_value(place) : "an unknown place");
    }
}

/// Prints a line for each match that has had clients.
static void print_matches(const json_t *report, FILE *out) {
    const json_t *matches = hc_report_find(report, "matches"), *match;
    size_t i;
    char name[24];
    if (matches == NULL)
        return;
    hc_report_line(out, "matches", "%zu, on %.0f workers", json_array_size(matches),
                   hc_report_number(report, "workers"));
    json_array_foreach((json_t *)matches, i, match) {
        if (hc_report_number(match, "joins") == 0)
            continue;
        snprintf(name, sizeof(name), "match %.0f", hc_report_number(match, "match"));
        hc_report_line(out, name,
                       "%.0f joined, at most %.0f at once; %.0f ticks, work p99 %.2f ms, late p99 "
                       "%.2f ms, %.0f missed",
                       hc_report_number(match, "joins"), hc_report_number(match, "clients"),
                       hc_report_number(match, "ticks"), hc_report_number(match, "tick_ms.p99"),
                       hc_report_number(match, "tick_lateness_ms.p99"),
                       hc_report_number(match, "ticks_missed"));
    }
}

void hc_sv_report_print(const json_t *report, FILE *out) {
    fprintf(out, "%s\n\nhindcastd: %.1f s, %.0f ticks at %.0f Hz, seed %.0f\n",
            json_string_value(hc_report_find(report, "verdict.text")),
            hc_report_number(report, "duration_ms") / 1e3, hc_report_number(report, "ticks"),
            hc_report_number(report, "tick_rate_hz"), hc_report_number(report, "seed"));
    hc_report_line(out, "clients", "%.0f joined, at most %.0f at once; %.0f left, %.0f timed out",
                   hc_report_number(report, "server.joins"), hc_report_number(report, "clients"),
                   hc_report_number(report, "server.leaves"),
                   hc_report_number(report, "server.timeouts"));
    hc_report_line(out, "connections", "%.0f lost, %.0f reconnected, %.0f changed their address",
                   hc_report_number(report, "server.connections_lost"),
                   hc_report_number(report, "server.connections_reconnected"),
                   hc_report_number(report, "server.connections_moved"));
    print_denials(report, out);
    hc_report_print_bandwidth(out, report);
    hc_report_line(out, "datagrams", "%.0f received, %.0f sent; %.0f refused, %.0f dropped unread",
                   hc_report_number(report, "server.datagrams_received"),
                   hc_report_number(report, "server.datagrams_sent"),
                   hc_report_number(report, "server.datagrams_refused"),
                   hc_report_number(report, "server.receive_drops"));
    if (hc_report_find(report, "server.handshakes_read") != NULL)
        hc_report_line(out, "handshakes", "%.0f datagrams received, %.0f dropped unread",
                       hc_report_number(report, "server.handshakes_read"),
                       hc_report_number(report, "server.handshakes_dropped_unread"));
    const json_t *overload = hc_report_find(report, "server.overload");
    const json_t *by_level = hc_report_find(overload, "ticks_by_level");
    double ticks = 0;
    for (size_t level = HC_SERVER_OVERLOAD_NONE + 1; level < json_array_size(by_level); level++)
        ticks += json_number_value(json_array_get(by_level, level));
    hc_report_line(out, "overload",
                   "%.0f ticks; %.0f snapshots left out, %.0f of them of far or idle clients; %.0f "
                   "joins refused; snapshots linear in %.0f ticks",
                   ticks, hc_report_number(overload, "snapshots_left_out"),
                   hc_report_number(overload, "far_snapshots_left_out"),
                   hc_report_number(overload, "joins_refused"),
                   hc_report_number(overload, "linear_ticks"));
    print_latest(report, out);
    hc_report_line(out, "remembered users", "%.0f of %.0f, %.0f forgotten for others",
                   hc_report_number(report, "server.remembered_users.users"),
                   hc_report_number(report, "server.remembered_users.capacity"),
                   hc_report_number(report, "server.remembered_users.forgotten"));
    if (hc_report_find(report, "server.placed_users") != NULL)
        hc_report_line(out, "placed users", "%.0f of %.0f remembered, %.0f forgotten for others",
                       hc_report_number(report, "server.placed_users.users"),
                       hc_report_number(report, "server.placed_users.capacity"),
                       hc_report_number(report, "server.placed_users.forgotten"));
    hc_report_print_server(out, report);
    print_hangs(report, out);
    print_matches(report, out);
}
