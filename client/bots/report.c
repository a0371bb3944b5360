/// Owns the report's figures of the clients, and their verdict.
#include "client/bots/report.h"

#include "client/bots/origin.h"
#include "common/programs/counters.h"
#include "common/programs/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    SENT_PERMILLE_MIN = 990, ///< of the due datagrams; with fewer the program was late
    VALUE_MAX = 4200,        ///< bytes of a setting's value
    WORK_PERCENT_MAX = 80,   ///< of a tick, that the p99 of its work takes while a load is held
};

/// How much a percentile of a histogram may be above the exact one, as a ratio.
static const double percentile_error = 1.0 / (1 << HC_HISTOGRAM_SUB_BITS);

/// The server's part without a report of the server: all null.
static json_t *unknown_server(void) {
    json_t *server = hc_report_unknown((const char *const[]){
        "cpu_us_per_client_tick", "denied_by_reason", "datagrams_refused", NULL});
    json_object_set_new(server, "remembered_users",
                        hc_counters_object(&hc_counters_remembered, NULL));
    hc_counters_report(&hc_counters_server, NULL, server);
    hc_counters_report(&hc_counters_overload, NULL, server);
    hc_counters_report(&hc_counters_timeline, NULL, server);
    hc_counters_report(&hc_counters_work, NULL, server);
    hc_counters_report(&hc_counters_process, NULL, server);
    hc_counters_report(&hc_counters_doors, NULL, server);
    hc_counters_report(&hc_counters_lanes, NULL, server);
    return server;
}

static json_t *link_part(const struct hc_cl_options *options) {
    const struct hc_network_sim_config *link = &options->link;
    json_t *part =
        json_pack("{s:s?, s:f, s:f, s:f, s:i, s:f, s:f}", "name", options->link_name, "latency_ms",
                  link->latency_us / 1e3, "jitter_ms", link->jitter_us / 1e3, "loss_pct",
                  link->loss_ppm / 1e4, "burst", (int)link->burst_mean, "duplicate_pct",
                  link->duplicate_ppm / 1e4, "reorder_pct", link->reorder_ppm / 1e4);
    bool limited = link->bytes_per_s > 0;
    json_object_set_new(part, "latency_to_ms",
                        options->latency_to_us > 0 ? json_real(options->latency_to_us / 1e3)
                                                   : json_null());
    json_object_set_new(part, "bandwidth_kbit",
                        limited ? json_real(options->bandwidth_bit_s / 1e3) : json_null());
    json_object_set_new(part, "queue_ms", limited ? json_real(link->queue_us / 1e3) : json_null());
    return part;
}

/// Whether a setting of hindcast-load makes another load, and has no other place in the report.
static bool makes_load(enum hc_cl_setting i) {
    const struct hc_setting *row = &hc_cl_settings[i];
    static const enum hc_cl_setting others[] = {
        HC_CL_SETTING_connect,     HC_CL_SETTING_spawn,     HC_CL_SETTING_clients,
        HC_CL_SETTING_light,       HC_CL_SETTING_step,      HC_CL_SETTING_until,
        HC_CL_SETTING_duration_us, HC_CL_SETTING_processes, HC_CL_SETTING_report};
    for (size_t k = 0; k < sizeof(others) / sizeof(*others); k++)
        if (i == others[k])
            return false;
    return (row->programs & HC_CL_OPTIONS_LOAD) != 0 &&
           (row->group == HC_CL_SETTINGS_RUN || row->group == HC_CL_SETTINGS_PROFILE ||
            i == HC_CL_SETTING_game);
}

/// The settings that make the load, as texts.
static json_t *settings_part(const struct hc_cl_options *options) {
    json_t *part = json_object();
    for (unsigned i = 0; i < HC_CL_SETTING_COUNT; i++) {
        const struct hc_setting *row = &hc_cl_settings[i];
        char text[VALUE_MAX], *words = NULL;
        if (!makes_load((enum hc_cl_setting)i))
            continue;
        if (!hc_setting_format(row, options, text, sizeof(text)))
            snprintf(text, sizeof(text), "%s", row->none != NULL ? row->none : "none");
        if (i == HC_CL_SETTING_server_args && options->server_args != NULL &&
            (words = hc_cl_origin_words(options->server_args)) == NULL)
            continue; // no memory
        json_object_set_new(part, row->name, json_string(words != NULL ? words : text));
        free(words);
    }
    return part;
}

/// The figures of clients. Those of a predicted world are null without full clients.
static json_t *client_part(const struct hc_cl_options *options,
                           const struct hc_cl_fleet_result *result) {
    const struct hc_client_stats *full = options->clients > 0 ? &result->full : NULL;
    json_t *client = hc_counters_object(&hc_counters_link, &result->all);
    hc_counters_report(&hc_counters_world, full, client);
    json_object_set_new(client, "snapshots_decoded",
                        full != NULL ? json_integer((json_int_t)full->snapshots) : json_null());
    return client;
}

/// The program's own part.
static json_t *self_part(const struct hc_cl_options *options,
                         const struct hc_cl_fleet_result *result) {
    const struct hc_cl_fleet_self *self = &result->self;
    return json_pack("{s:i, s:i, s:o, s:o, s:o}", "full_clients", (int)options->clients,
                     "light_clients", (int)options->light, "cores_used",
                     hc_report_ratio((double)self->cpu_us, (double)result->duration_us),
                     "sent_ratio", hc_report_ratio((double)self->sent, (double)self->due),
                     "settings", settings_part(options));
}

/// Adds a reason if the program itself was late, so that its figures do not describe the server.
static void judge_self(json_t *reasons, const char *program,
                       const struct hc_cl_fleet_result *result) {
    const struct hc_cl_fleet_self *self = &result->self;
    uint64_t late_us = hc_histogram_percentile(&self->lateness_us, 990);
    bool behind = self->sent * 1000 < self->due * SENT_PERMILLE_MIN;
    bool late = result->tick_rate != 0 && late_us > 500000U / result->tick_rate;
    char sent[80] = "", by[64] = "", unread[80] = "";
    if (behind)
        snprintf(sent, sizeof(sent), "%.1f %% of the datagrams that were due were sent",
                 100.0 * (double)self->sent / (double)self->due);
    if (late)
        snprintf(by, sizeof(by), "p99 of its lateness is %.1f ms", (double)late_us / 1e3);
    if (self->dropped > 0)
        snprintf(unread, sizeof(unread), "%s%" PRIu64 " datagrams were dropped unread",
                 behind || late ? ", " : "", self->dropped);
    hc_report_reason(reasons, behind || late || self->dropped > 0, "load_late",
                     "%s itself was late, do not trust this: %s%s%s%s", program, sent,
                     behind && late ? ", " : "", by, unread);
}

/// Writes how many clients were denied for each reason; empty: none.
static void list_denials(const struct hc_cl_fleet_ends *ends, char *text, size_t size) {
    size_t at = 0;
    *text = '\0';
    for (unsigned i = 0; i < HC_DENY_REASONS_END; i++)
        if (ends->denied_by_reason[i] > 0 && at < size)
            at += (size_t)snprintf(text + at, size - at, "%s%s %" PRIu32, at == 0 ? ": " : ", ",
                                   hc_deny_word((enum hc_deny_reason)i), ends->denied_by_reason[i]);
}

/// Adds the reasons in the clients' counts.
static void judge_clients(json_t *reasons, uint32_t clients,
                          const struct hc_cl_fleet_result *result) {
    const struct hc_cl_fleet_ends *ends = &result->ends;
    const struct hc_client_stats *sum = &result->all;
    char denials[160];
    list_denials(ends, denials, sizeof(denials));
    hc_report_reason(reasons, ends->denied, "denied",
                     "clients not admitted: %" PRIu64 " of %" PRIu32 "%s", ends->denied, clients,
                     denials);
    const struct {
        uint64_t count;
        const char *key, *text;
    } rows[] = {
        {ends->timeout, "timeouts", "received no answer, or no more"},
        {ends->closed, "closed_by_server", "were closed by the server"},
        {ends->cut_off, "cut_off", "received nothing just before the end"},
        {ends->failed, "failed", "could not be started"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        hc_report_reason(reasons, rows[i].count, rows[i].key,
                         "clients that %s: %" PRIu64 " of %" PRIu32, rows[i].text, rows[i].count,
                         clients);
    hc_report_reason(reasons, ends->desynced, "desyncs",
                     "clients that computed another world than the server: %" PRIu64 " of %" PRIu32
                     "; first, %s",
                     ends->desynced, clients, result->desync);
    hc_report_reason(reasons, sum->losses, "connections_lost",
                     "connections lost: %" PRIu64 ", reconnected: %" PRIu64, sum->losses,
                     sum->reconnects);
    hc_report_reason(reasons, sum->hash_mismatches, "hash_mismatches",
                     "snapshots that did not match the server's hash: %" PRIu64 " of %" PRIu64,
                     sum->hash_mismatches, sum->hash_checks);
    hc_report_reason(reasons, sum->inputs_forced, "inputs_forced",
                     "inputs that the server forced: %" PRIu64 " of %" PRIu64, sum->inputs_forced,
                     sum->inputs_sampled);
    hc_report_reason(reasons, sum->stalls, "stalls",
                     "stalls of clients, too far ahead of the newest snapshot: %" PRIu64,
                     sum->stalls);
    hc_report_reason(reasons, result->udp.sim_dropped_full, "link_full",
                     "datagrams dropped by the simulated link because it was full: %" PRIu64,
                     result->udp.sim_dropped_full);
}

/// The verdict on a run. `why` is the failure of a process; empty: none.
static json_t *verdict(const char *program, const struct hc_cl_options *options,
                       const struct hc_cl_fleet_result *result, const json_t *server,
                       const char *why) {
    json_t *reasons = json_array();
    const struct hc_cl_due_snapshots *snapshots = &result->snapshots;
    judge_self(reasons, program, result);
    hc_report_reason(reasons, *why != '\0', "process", "%s", why);
    judge_clients(reasons, options->clients + options->light, result);
    hc_report_reason(
        reasons, snapshots->starved, "snapshots",
        "clients that lack more than 5 %% of their snapshots beyond the link's loss: "
        "%" PRIu64 " of %" PRIu64 "; %" PRIu64 " of %" PRIu64 " due came at %u a second",
        snapshots->starved, snapshots->sessions, snapshots->received, snapshots->due,
        options->snapshot_rate > 0 ? options->snapshot_rate : (unsigned)result->tick_rate);
    hc_report_judge_server(reasons, server);
    return hc_report_verdict(reasons, server);
}

/// Whether the server held the load, with the reasons why not. Without a report of the server only
/// the clients judge.
static json_t *held(const char *program, const struct hc_cl_options *options,
                    const struct hc_cl_fleet_result *result, const json_t *server,
                    const char *why) {
    json_t *reasons = json_array();
    const struct hc_cl_due_snapshots *snapshots = &result->snapshots;
    uint64_t missed = (uint64_t)hc_report_number(server, "ticks_missed");
    uint64_t left_out = (uint64_t)hc_report_number(server, "overload.snapshots_left_out");
    uint64_t late = (uint64_t)hc_report_number(server, "ticks_over_budget.began_late");
    double work_ms = hc_report_number(server, "tick_ms.p99");
    double most_ms = result->tick_rate > 0 ? WORK_PERCENT_MAX * 10.0 / result->tick_rate : 0;
    judge_self(reasons, program, result);
    hc_report_reason(reasons, *why != '\0', "process", "%s", why);
    judge_clients(reasons, options->clients + options->light, result);
    hc_report_reason(reasons, snapshots->incomplete, "snapshots",
                     "clients that lack more than 0.5 %% of their snapshots beyond the link's "
                     "loss: %" PRIu64 " of %" PRIu64,
                     snapshots->incomplete, snapshots->sessions);
    hc_report_reason(reasons, snapshots->incomplete > 0 ? late : 0, "ticks_began_late",
                     "ticks that began more than a tick late, and share the next one's snapshot: "
                     "%" PRIu64,
                     late);
    hc_report_reason(reasons, missed, "ticks_missed", "ticks left out: %" PRIu64, missed);
    hc_report_reason(reasons, left_out, "overload",
                     "snapshots that the server left out under overload: %" PRIu64, left_out);
    hc_report_reason(reasons, work_ms > most_ms, "tick_work",
                     "p99 of a tick's work is %.1f ms, more than %d %% of a tick", work_ms,
                     WORK_PERCENT_MAX);
    return json_pack("{s:b, s:o}", "ok", json_array_size(reasons) == 0, "reasons", reasons);
}

/// The limits within which a load is held, each with the reasons that break it.
static const struct limit {
    const char *key;
    const char *reasons[5]; ///< NULL behind the last one
} limits[] = {
    {"load_in_time", {"load_late"}},
    {"processes", {"process"}},
    {"admitted", {"denied", "timeouts", "failed"}},
    {"stayed", {"closed_by_server", "cut_off", "desyncs", "connections_lost"}},
    {"snapshots", {"snapshots"}},
    {"play", {"inputs_forced", "stalls", "hash_mismatches", "link_full"}},
    {"ticks", {"ticks_missed", "ticks_began_late"}},
    {"tick_work", {"tick_work"}},
    {"overload", {"overload"}},
};

/// Whether one of the reasons breaks the limit.
static bool is_broken(const struct limit *limit, const json_t *reasons) {
    size_t index;
    json_t *reason;
    json_array_foreach((json_t *)reasons, index, reason) {
        const char *key = json_string_value(json_object_get(reason, "key"));
        for (size_t i = 0; limit->reasons[i] != NULL; i++)
            if (strcmp(key, limit->reasons[i]) == 0)
                return true;
    }
    return false;
}

/// The clients that broke a limit, if each of them does so alone; otherwise all of them did.
static uint64_t breakers(const char *limit, uint32_t clients,
                         const struct hc_cl_fleet_result *result) {
    const struct hc_cl_fleet_ends *ends = &result->ends;
    uint64_t count = clients;
    if (strcmp(limit, "admitted") == 0)
        count = ends->denied + ends->timeout + ends->failed;
    if (strcmp(limit, "stayed") == 0)
        count = ends->closed + ends->cut_off + ends->desynced + result->all.losses;
    if (strcmp(limit, "snapshots") == 0)
        count = result->snapshots.incomplete;
    return count < clients ? count : clients;
}

/// How many clients each of the limits held, and all of them together.
static json_t *held_clients(uint32_t clients, const struct hc_cl_fleet_result *result,
                            const json_t *reasons) {
    json_t *by = json_object();
    uint64_t least = clients;
    for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
        uint64_t count = clients;
        if (is_broken(&limits[i], reasons))
            count -= breakers(limits[i].key, clients, result);
        json_object_set_new(by, limits[i].key, json_integer((json_int_t)count));
        least = count < least ? count : least;
    }
    return json_pack("{s:I, s:o}", "clients", (json_int_t)least, "limits", by);
}

json_t *hc_cl_report_json(const char *program, const char *version,
                          const struct hc_cl_options *options,
                          const struct hc_cl_fleet_result *result, const json_t *server,
                          const char *why) {
    const struct hc_cl_udp_stats *udp = &result->udp;
    double client_s = (double)result->client_us / 1e6;
    double up = (double)udp->bytes_out + HC_REPORT_OVERHEAD * (double)udp->datagrams_out;
    double down = (double)udp->bytes_in + HC_REPORT_OVERHEAD * (double)udp->datagrams_in;
    json_t *server_part = server != NULL ? json_object_get(server, "server") : NULL;
    bool played = result->tick_rate != 0;
    json_t *load_held = held(program, options, result, server_part, why);
    json_t *report = json_pack(
        "{s:o, s:o, s:i, s:s, s:s, s:I, s:I, s:o, s:o, s:i, s:o, s:o, s:o, s:o, s:i, s:o, s:o, "
        "s:o}",
        "verdict", verdict(program, options, result, server_part, why), "held",
        held_clients(options->clients + options->light, result,
                     json_object_get(load_held, "reasons")),
        "schema_version", HC_REPORT_SCHEMA, "program", program, "version", version, "seed",
        (json_int_t)options->seed, "duration_ms", (json_int_t)(result->duration_us / 1000),
        "tick_rate_hz", played ? json_integer(result->tick_rate) : json_null(), "ticks",
        result->last > result->first ? json_integer((json_int_t)(result->last - result->first))
                                     : json_null(),
        "clients", (int)(options->clients + options->light), "link", link_part(options),
        "bytes_down_per_client_s", hc_report_ratio(down, client_s), "bytes_up_per_client_s",
        hc_report_ratio(up, client_s), "datagrams_down_per_client_s",
        hc_report_ratio((double)udp->datagrams_in, client_s), "bytes_overhead_per_datagram",
        HC_REPORT_OVERHEAD, "server",
        json_is_object(server_part) ? json_incref(server_part) : unknown_server(), "client",
        client_part(options, result), "load", self_part(options, result));
    json_object_set_new(json_object_get(report, "load"), "held", load_held);
    hc_counters_report(&hc_counters_path, &result->all, report);
    hc_counters_report(&hc_cl_fleet_counters, result, report);
    hc_counters_report(&hc_cl_fleet_udp_counters, &result->udp, report);
    json_object_set_new(report, "percentile_error", json_real(percentile_error));
    return report;
}

/// Replaces the object at `key` by one with a place for each cause.
static void shape_causes(json_t *object, const char *key) {
    json_t *causes = json_object();
    for (unsigned i = 0; i < HC_STATUS_COUNT; i++)
        json_object_set_new(causes, hc_status_text((enum hc_status)i), json_null());
    json_object_set_new(object, key, causes);
}

json_t *hc_cl_report_shape(const char *program, const char *version,
                           const struct hc_cl_options *options) {
    static const struct hc_cl_fleet_result none = {.first = HC_NO_TICK};
    json_t *shape = hc_cl_report_json(program, version, options, &none, NULL, "");
    json_t *server = json_object_get(shape, "server");
    json_t *denials = json_object(), *overload = json_object_get(server, "overload");
    json_object_set_new(overload, "ticks_by_level", json_array());
    json_object_set_new(overload, "latest_client", json_pack("{s:n}", "ticks"));
    for (unsigned i = 1; i < HC_DENY_REASONS_END; i++)
        json_object_set_new(denials, hc_deny_word((enum hc_deny_reason)i), json_null());
    json_object_set_new(server, "denied_by_reason", denials);
    json_object_set_new(server, "placed_users", hc_counters_object(&hc_counters_remembered, NULL));
    shape_causes(server, "rejected");
    shape_causes(json_object_get(shape, "client"), "rejected");
    if (options->step > 0) {
        json_object_set_new(shape, "steps", json_array());
        json_object_set_new(shape, "steps_verdict", json_pack("{s:n, s:n}", "ok", "held_clients"));
    }
    return shape;
}

void hc_cl_report_print_held(const json_t *report, FILE *out) {
    double clients = hc_report_number(report, "clients");
    const char *key, *comma = ": ";
    json_t *count;
    fprintf(out, "held: %.0f of %.0f clients", hc_report_number(report, "held.clients"), clients);
    json_object_foreach((json_t *)hc_report_find(report, "held.limits"), key, count) {
        if (json_number_value(count) < clients) {
            fprintf(out, "%s%s %.0f", comma, key, json_number_value(count));
            comma = ", ";
        }
    }
}

void hc_cl_report_print_host(const json_t *report, FILE *out) {
    const char *processor = json_string_value(hc_report_find(report, "host.processor"));
    const char *machine = json_string_value(hc_report_find(report, "host.machine"));
    const char *kernel = json_string_value(hc_report_find(report, "host.kernel"));
    fprintf(out, "%s%s%s, %.0f cores, %s", machine != NULL ? machine : "",
            processor != NULL ? " " : "", processor != NULL ? processor : "",
            hc_report_number(report, "host.cores"), kernel != NULL ? kernel : "");
}

void hc_cl_report_print_link(const json_t *report, FILE *out) {
    const json_t *name = hc_report_find(report, "link.name");
    double burst = hc_report_number(report, "link.burst");
    fprintf(out, "link%s%s: %.0f", name != NULL ? " " : "",
            name != NULL ? json_string_value(name) : "",
            hc_report_number(report, "link.latency_ms"));
    if (hc_report_find(report, "link.latency_to_ms") != NULL)
        fprintf(out, " to %.0f", hc_report_number(report, "link.latency_to_ms"));
    fprintf(out, " ms +- %.0f, %.4g %% loss", hc_report_number(report, "link.jitter_ms"),
            hc_report_number(report, "link.loss_pct"));
    if (burst > 1)
        fprintf(out, " in bursts of %.0f", burst);
    if (hc_report_find(report, "link.bandwidth_kbit") != NULL)
        fprintf(out, ", %g kbit/s with a queue of %g ms",
                hc_report_number(report, "link.bandwidth_kbit"),
                hc_report_number(report, "link.queue_ms"));
    fprintf(out, ", each way");
}

static void print_run(const json_t *report, FILE *out) {
    double light = hc_report_number(report, "load.light_clients");
    fprintf(out, "%s\n", json_string_value(hc_report_find(report, "verdict.text")));
    hc_cl_report_print_held(report, out);
    fprintf(out, "\n\n%s: %.0f clients", json_string_value(hc_report_find(report, "program")),
            hc_report_number(report, "clients"));
    if (light > 0)
        fprintf(out, ", %.0f of them light", light);
    fprintf(out, ", %.1f s", hc_report_number(report, "duration_ms") / 1e3);
    if (hc_report_find(report, "tick_rate_hz") != NULL)
        fprintf(out, " at %.0f Hz", hc_report_number(report, "tick_rate_hz"));
    fprintf(out, ", ");
    hc_cl_report_print_link(report, out);
    fprintf(out, "\n");
}

/// Prints the lines about snapshots. Light clients decode none.
static void print_snapshots(const json_t *report, FILE *out) {
    const json_t *client = hc_report_find(report, "client");
    double all = hc_report_number(client, "snapshots");
    double decoded = hc_report_number(client, "snapshots_decoded");
    double matched = hc_report_number(client, "snapshots_matched");
    if (hc_report_find(client, "snapshots_decoded") == NULL) {
        hc_report_line(out, "snapshots", "%.0f, none of them decoded", all);
        return;
    }
    if (decoded < all)
        hc_report_line(out, "snapshots", "%.0f, %.0f of them decoded, %.0f as predicted", all,
                       decoded, matched);
    else
        hc_report_line(out, "snapshots", "%.0f, %.0f of them as predicted", all, matched);
    hc_report_line(out, "hashes", "%.0f checked, %.0f did not match",
                   hc_report_number(client, "hash_checks"),
                   hc_report_number(client, "hash_mismatches"));
    hc_report_line(out, "rollbacks", "%.0f", hc_report_number(client, "rollbacks"));
    if (hc_report_find(client, "others_in_view") != NULL)
        hc_report_line(out, "in view", "%.1f other players on average",
                       hc_report_number(client, "others_in_view"));
}

static void print_clients(const json_t *report, FILE *out) {
    const json_t *client = hc_report_find(report, "client");
    fprintf(out, " clients\n");
    hc_report_line(out, "connections", "%.0f accepted, %.0f lost, %.0f reconnected",
                   hc_report_number(client, "accepted"),
                   hc_report_number(client, "connections_lost"),
                   hc_report_number(client, "reconnects"));
    hc_report_line_histogram(out, report, "round trip", "rtt_ms", 1, "ms", "");
    hc_report_line_histogram(out, report, "snapshot age", "snapshot_age_ms", 1, "ms", "");
    hc_report_line_histogram(out, report, "low margin", "margin_ms.early", 1, "ms early", "");
    hc_report_line_histogram(out, report, "low margin", "margin_ms.late", 1, "ms late", "");
    if (hc_report_find(report, "jitter_ms") != NULL)
        hc_report_line(out, "jitter", "%.1f ms", hc_report_number(report, "jitter_ms"));
    hc_report_print_bandwidth(out, report);
    print_snapshots(report, out);
    hc_report_line_histogram(out, client, "rollback depth", "rollback_depth_ticks", 0, "ticks", "");
    hc_report_line(out, "own inputs", "%.0f sampled, %.0f forced by the server: late or lost",
                   hc_report_number(client, "inputs_sampled"),
                   hc_report_number(client, "inputs_forced"));
    hc_report_line(out, "stalls", "%.0f", hc_report_number(client, "stalls"));
    const json_t *events = hc_report_find(client, "game_events");
    if (hc_report_find(events, "predicted") != NULL)
        hc_report_line(out, "game events",
                       "%.0f predicted: %.0f confirmed, %.0f cancelled; %.0f late",
                       hc_report_number(events, "predicted"), hc_report_number(events, "confirmed"),
                       hc_report_number(events, "cancelled"), hc_report_number(events, "late"));
}

static void print_self(const json_t *report, FILE *out) {
    const json_t *load = hc_report_find(report, "load");
    fprintf(out, " %s itself\n", json_string_value(hc_report_find(report, "program")));
    hc_report_line(out, "processes", "%.0f, which used %.2f cores",
                   hc_report_number(load, "processes"), hc_report_number(load, "cores_used"));
    if (hc_report_find(load, "sent_ratio") != NULL)
        hc_report_line(out, "sent", "%.2f %% of the datagrams that were due",
                       100 * hc_report_number(load, "sent_ratio"));
    hc_report_line_histogram(out, load, "lateness", "lateness_ms", 3, "ms", "");
    hc_report_line_histogram(out, load, "time to join", "join_ms", 1, "ms", "");
    double due = hc_report_number(load, "snapshots.due");
    double lost = hc_report_number(load, "snapshots.lost_on_link");
    double received = hc_report_number(load, "snapshots.received");
    if (due > 0)
        hc_report_line(out, "complete",
                       "%.2f %% of the snapshots that were due, without those lost on the link; "
                       "%.0f sessions lack more than 0.5 %%",
                       100 * received / (due > lost ? due - lost : 1),
                       hc_report_number(load, "snapshots.sessions_incomplete"));
    hc_report_line(out, "load", "%s",
                   hc_report_find(load, "held.ok") != NULL &&
                           json_is_true(hc_report_find(load, "held.ok"))
                       ? "held"
                       : "not held");
}

/// Prints the outcomes of the conditions, and the figures that a comparison found worse.
static void print_outcomes(const json_t *report, FILE *out) {
    const json_t *conditions = hc_report_find(report, "conditions");
    const json_t *comparison = hc_report_find(report, "comparison");
    size_t index;
    json_t *outcome;
    if (json_array_size(conditions) > 0)
        fprintf(out, " conditions\n");
    json_array_foreach((json_t *)conditions, index, outcome) {
        hc_report_line(out, json_is_true(json_object_get(outcome, "ok")) ? "passed" : "failed",
                       "%s", json_string_value(json_object_get(outcome, "text")));
    }
    if (comparison == NULL)
        return;
    fprintf(out, " comparison\n");
    hc_report_line(out, "tolerance", "%g %%, and %zu figures are worse",
                   hc_report_number(comparison, "tolerance_pct"),
                   json_array_size(json_object_get(comparison, "worse")));
    json_array_foreach(json_object_get(comparison, "other_load"), index, outcome) {
        hc_report_line(out, "another load", "%s", json_string_value(outcome));
    }
    json_array_foreach(json_object_get(comparison, "worse"), index, outcome) {
        hc_report_line(out, "worse", "%s", json_string_value(outcome));
    }
}

void hc_cl_report_print(const json_t *report, FILE *out) {
    print_run(report, out);
    print_clients(report, out);
    hc_report_print_server(out, report);
    print_self(report, out);
    print_outcomes(report, out);
}
