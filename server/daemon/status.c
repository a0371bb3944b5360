/// Owns what the log has reported of the host, so that each line counts only what is new.
#include "server/daemon/status.h"

#include "common/elapsed.h"
#include "common/programs/report.h"

#include <inttypes.h>

enum { TROUBLE_LINE_US = 10000000 }; ///< interval of the lines about one trouble

/// Logs an event with the number of the match.
static void log_event(const struct hc_sv_status *status, struct hc_sv_log *log,
                      enum hc_sv_log_level level, const char *event, json_t *fields) {
    if (status->match != 0)
        json_object_set_new(fields, "match", json_integer(status->match));
    hc_sv_log_event(log, level, event, fields);
}

void hc_sv_status_add_tick(struct hc_sv_status *status, uint64_t work_us) {
    if (status->every_us != 0)
        hc_histogram_record(&status->tick_us, work_us);
}

static uint64_t over_budget(const struct hc_sv_report *report) {
    return report->work.worked_too_long + report->host->ticks_late + report->host->ticks_missed;
}

static double per_s(uint64_t count, uint64_t before, uint64_t us) {
    return (double)(count - before) * 1e6 / (double)us;
}

/// The values of `now` that are not in `before`, an earlier state of the same histogram.
static void subtract(struct hc_histogram *now, const struct hc_histogram *before) {
    for (unsigned i = 0; i < HC_HISTOGRAM_BUCKETS; i++)
        now->buckets[i] -= before->buckets[i];
    now->count -= before->count;
}

/// A percentile of microseconds in milliseconds, with two decimals.
static double ms(const struct hc_histogram *us, uint32_t permille) {
    uint64_t hundredths = (hc_histogram_percentile(us, permille) + 5) / 10;
    return (double)hundredths / 100;
}

void hc_sv_status_log(struct hc_sv_status *status, struct hc_sv_log *log,
                      const struct hc_sv_report *report, unsigned clients, uint64_t now_us) {
    const struct hc_server_stats *host = report->host;
    if (status->begun_us == 0) {
        status->begun_us = now_us;
        status->cpu_us = hc_report_cpu_us();
    }
    uint64_t us = hc_since(status->begun_us, now_us);
    if (status->every_us == 0 || us < status->every_us)
        return;
    uint64_t bytes_down = host->bytes_out + HC_REPORT_OVERHEAD * host->datagrams_out;
    uint64_t bytes_up = host->bytes_in + HC_REPORT_OVERHEAD * host->datagrams_in;
    struct hc_histogram lateness = host->lateness;
    uint64_t cpu_us = hc_report_cpu_us();
    const struct hc_histogram *work = &status->tick_us;
    subtract(&lateness, &status->lateness_us);
    log_event(status, log, HC_SV_LOG_INFO, "status",
              json_pack("{s:i, s:f, s:f, s:I, s:I, s:I, s:I, s:f, s:I}", "clients", (int)clients,
                        "tick_work_ms_p50", ms(work, 500), "tick_work_ms_p99", ms(work, 990),
                        "over_budget", (json_int_t)(over_budget(report) - status->over_budget),
                        "rewinds_per_s",
                        (json_int_t)per_s(host->rewind_depth.count, status->rewinds, us),
                        "bytes_down_per_s", (json_int_t)per_s(bytes_down, status->bytes_down, us),
                        "bytes_up_per_s", (json_int_t)per_s(bytes_up, status->bytes_up, us),
                        "tick_late_ms_p99", ms(&lateness, 990), "cpu_percent",
                        (json_int_t)(100 * (hc_since(status->cpu_us, cpu_us)) / us)));
    status->begun_us = now_us;
    status->tick_us = (struct hc_histogram){0};
    status->over_budget = over_budget(report);
    status->rewinds = host->rewind_depth.count;
    status->bytes_down = bytes_down;
    status->bytes_up = bytes_up;
    status->lateness_us = host->lateness;
    status->cpu_us = cpu_us;
}

void hc_sv_status_log_overload(struct hc_sv_status *status, struct hc_sv_log *log,
                               const struct hc_server_stats *host) {
    const struct hc_server_overload *overload = &host->overload;
    if (overload->linear != status->linear)
        log_event(status, log, HC_SV_LOG_INFO, "extrapolation",
                  json_pack("{s:s, s:s}", "how", overload->linear ? "linear" : "step", "why",
                            overload->linear ? "the work takes much of the time"
                                             : "the work takes little of the time"));
    status->linear = overload->linear;
    if (overload->level > status->overload)
        log_event(status, log, HC_SV_LOG_WARN, "overload",
                  json_pack("{s:i, s:s}", "overload_level", (int)overload->level, "why",
                            hc_server_overload_text(overload->level)));
    else if (overload->level == HC_SERVER_OVERLOAD_NONE &&
             status->overload != HC_SERVER_OVERLOAD_NONE)
        log_event(status, log, HC_SV_LOG_INFO, "overload-ended",
                  json_pack("{s:i, s:I, s:I}", "highest", (int)status->overload,
                            "snapshots_left_out", (json_int_t)overload->snapshots, "joins_refused",
                            (json_int_t)overload->joins));
    if (overload->level > status->overload || overload->level == HC_SERVER_OVERLOAD_NONE)
        status->overload = overload->level;
}

void hc_sv_status_log_remembered(struct hc_sv_status *status, struct hc_sv_log *log,
                                 const struct hc_server_remembered *remembered) {
    struct hc_sv_status_remembered *logged = &status->remembered;
    uint64_t fifths = UINT64_C(5) * remembered->users / remembered->capacity;
    bool full = remembered->forgotten > logged->forgotten;
    bool filling = fifths >= 4;
    logged->forgotten = remembered->forgotten;
    if (fifths < 3)
        logged->filling = logged->full = false;
    if ((full && !logged->full) || (filling && !logged->filling))
        log_event(status, log, HC_SV_LOG_WARN, full ? "remembered-users-full" : "remembered-users",
                  json_pack("{s:I, s:I, s:s}", "users", (json_int_t)remembered->users, "capacity",
                            (json_int_t)remembered->capacity, "why",
                            full ? "tokens that were issued before those of forgotten users are "
                                   "refused (--remembered-users)"
                                 : "more users than --remembered-users will soon be forgotten, the "
                                   "oldest tokens first"));
    logged->full |= full;
    logged->filling |= filling || full;
}

/// Whether there is something new in a count, and its line is due. `*fresh` is how much is new.
static bool is_due(struct hc_sv_status_line *line, uint64_t count, bool last, uint64_t now_us,
                   uint64_t *fresh) {
    *fresh = count - line->count;
    bool recent = line->logged_us != 0 && hc_since(line->logged_us, now_us) < TROUBLE_LINE_US;
    if (*fresh == 0 || (recent && !last))
        return false;
    line->count = count;
    line->logged_us = now_us;
    return true;
}

/// Logs the denied CONNECTs, a line for each reason.
static void log_denials(struct hc_sv_status *status, struct hc_sv_log *log,
                        const struct hc_server_stats *host, bool last, uint64_t now_us) {
    for (unsigned i = 1; i < HC_DENY_REASONS_END; i++) {
        const struct hc_server_denials *denials = &host->denials[i];
        uint64_t count;
        if (!is_due(&status->denials[i], denials->count, last, now_us, &count))
            continue;
        char address[HC_ADDRESS_TEXT_MAX], user[24];
        const char *why = hc_deny_text((enum hc_deny_reason)i);
        json_t *fields =
            json_pack("{s:s, s:I, s:s, s:s}", "reason", hc_deny_word((enum hc_deny_reason)i),
                      "count", (json_int_t)count, "address",
                      hc_address_format(&denials->address, address), "why", why);
        snprintf(user, sizeof(user), "%" PRIu64, denials->client_id);
        if (denials->proven)
            json_object_set_new(fields, "user", json_string(user));
        log_event(status, log, HC_SV_LOG_WARN, "denied", fields);
    }
}

/// Logs the clients of other games and builds.
static void log_builds(struct hc_sv_status *status, struct hc_sv_log *log,
                       const struct hc_server_stats *host, bool last, uint64_t now_us) {
    uint64_t fresh;
    if (!is_due(&status->builds, host->other_builds, last, now_us, &fresh))
        return;
    char address[HC_ADDRESS_TEXT_MAX], protocol_id[24];
    snprintf(protocol_id, sizeof(protocol_id), "0x%016" PRIx64, host->other_build.protocol_id);
    log_event(status, log, HC_SV_LOG_WARN, "other-build",
              json_pack("{s:I, s:s, s:s, s:s}", "count", (json_int_t)fresh, "address",
                        hc_address_format(&host->other_build.address, address), "protocol_id",
                        protocol_id, "why",
                        "clients of another game, or of another build of this one, ask to join"));
}

/// Logs the ticks that were over budget, and those that were left out.
static void log_ticks(struct hc_sv_status *status, struct hc_sv_log *log,
                      const struct hc_sv_report *report, bool last, uint64_t now_us) {
    uint64_t late = report->host->ticks_late, worked = report->work.worked_too_long, fresh;
    uint64_t missed = report->host->ticks_missed;
    if (!is_due(&status->ticks, late + worked + missed, last, now_us, &fresh))
        return;
    log_event(status, log, HC_SV_LOG_WARN, "ticks-late",
              json_pack("{s:I, s:I, s:I, s:I, s:s}", "count", (json_int_t)fresh, "began_late",
                        (json_int_t)late, "worked_too_long", (json_int_t)worked, "left_out",
                        (json_int_t)missed, "why",
                        missed > 0 ? "the server was so late that it left ticks out"
                                   : "ticks begin late or take longer than they may; the machine "
                                     "is busy, or the game's steps are too slow"));
}

/// Logs the inputs that had no effect.
static void log_inputs(struct hc_sv_status *status, struct hc_sv_log *log,
                       const struct hc_server_stats *host, bool last, uint64_t now_us) {
    uint64_t fresh;
    if (is_due(&status->inputs, host->inputs_refused + host->inputs_lost, last, now_us, &fresh))
        log_event(status, log, HC_SV_LOG_WARN, "inputs-refused",
                  json_pack("{s:I, s:I, s:I, s:I, s:I, s:s}", "count", (json_int_t)fresh, "refused",
                            (json_int_t)host->inputs_refused, "lost", (json_int_t)host->inputs_lost,
                            "late", (json_int_t)host->refused_late, "ahead",
                            (json_int_t)host->refused_ahead, "why",
                            "inputs were later than --history or --late-margin allows, or for "
                            "ticks too far ahead"));
}

void hc_sv_status_log_troubles(struct hc_sv_status *status, struct hc_sv_log *log,
                               const struct hc_sv_report *report, bool last, uint64_t now_us) {
    log_denials(status, log, report->host, last, now_us);
    log_builds(status, log, report->host, last, now_us);
    log_ticks(status, log, report, last, now_us);
    log_inputs(status, log, report->host, last, now_us);
}

void hc_sv_status_log_drops(struct hc_sv_status_line *line, struct hc_sv_log *log,
                            const struct hc_sv_door_stats *doors, bool last, uint64_t now_us) {
    uint64_t fresh, all = doors->receive_drops + doors->handshake_drops;
    if (!is_due(line, all, last, now_us, &fresh))
        return;
    hc_sv_log_event(log, HC_SV_LOG_WARN, "datagrams-dropped",
                    json_pack("{s:I, s:I, s:I, s:s}", "count", (json_int_t)fresh, "data",
                              (json_int_t)doors->receive_drops, "handshakes",
                              (json_int_t)doors->handshake_drops, "why",
                              "receive buffers were full: of a flood, or because the machine is "
                              "busy"));
}
