/// Owns the control thread's events: signals, reports, the checks of the workers.
#define _GNU_SOURCE

#include "server/daemon/control.h"

#include "common/elapsed.h"
#include "common/programs/backtrace.h"
#include "common/programs/clock.h"
#include "common/programs/loop.h"
#include "common/programs/report.h"
#include "hindcast/check.h"
#include "server/daemon/memory.h"
#include "server/daemon/runner.h"
#include "server/daemon/wall_clock.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum {
    CHECK_US = 100000,   ///< interval of the checks of the workers
    HANG_US = 2000000,   ///< a call into a match that lasts so long hangs, after HANG_CHECKS
    HANG_CHECKS = 20,    ///< checks that find a call before it hangs: a process may stand still
    STOP_CHECKS = 40,    ///< checks that a stop may take, before ENDS_CHECKS holds
    ENDS_CHECKS = 5,     ///< checks that find a call before the end waits no longer for it
    ANSWER_US = 500000,  ///< a report waits so long for the workers' counts
    SECOND_US = 1000000, ///< interval of lines about the placement and the clock
};

// ---- Hangs --------------------------------------------------------------------------------------

/// Adds the number of a match to the fields of a line or a report, if there are several.
static void name_match(const struct hc_sv_control *control, json_t *fields, unsigned match) {
    if (control->options->matches > 1)
        json_object_set_new(fields, "match", json_integer((json_int_t)match));
}

/// Logs that a call that hung has ended.
static void log_end(struct hc_sv_control *control, unsigned worker, unsigned match,
                    uint64_t since_us) {
    json_t *fields = json_pack("{s:i, s:I}", "worker", (int)worker, "lasted_ms",
                               (json_int_t)(hc_since(since_us, hc_clock_us()) / 1000));
    name_match(control, fields, match);
    hc_sv_log_event(control->log, HC_SV_LOG_INFO, "match-goes-on", fields);
}

/// The call of a runner that was replaced has returned. False: its thread must not be joined yet.
static bool on_returned(void *context, const struct hc_sv_runner *runner) {
    struct hc_sv_control *control = context;
    if (!hc_sv_watchdog_leave(control->setting->watchdog, runner->thread))
        return false;
    log_end(control, runner->worker->index, runner->away->number, runner->stuck.since_us);
    return true;
}

/// A call into a match hangs: lets the watchdog find where, keeps clients out of the match, and
/// gives the worker another thread for its other matches.
static void meet_hang(struct hc_sv_control *control, unsigned index, unsigned match, uint64_t now) {
    const struct hc_sv_match_setting *setting = control->setting;
    struct hc_sv_worker *worker = &control->workers[index];
    struct hc_sv_control_seen *seen = &control->seen[index];
    const struct hc_sv_hang hang = {.worker = index,
                                    .match = (uint16_t)match,
                                    .named = control->options->matches > 1,
                                    .since_us = seen->since_us,
                                    .found_us = now};
    if (!hc_sv_watchdog_find(setting->watchdog, &worker->runner->watch, &hang))
        return;
    if (hc_sv_runner_replace(worker, seen->since_us))
        *seen = (struct hc_sv_control_seen){.checks = 0};
    else
        seen->match = (uint16_t)match;
    if (setting->placement == NULL)
        return;
    pthread_mutex_lock(setting->placement_lock);
    hc_sv_placement_refuse(setting->placement, (uint16_t)match);
    pthread_mutex_unlock(setting->placement_lock);
}

/// Checks a call of worker `index`, or for it; true: the call is found to last too long.
static bool check_call(struct hc_sv_control *control, unsigned index,
                       const struct hc_sv_watch *watch, struct hc_sv_control_seen *seen,
                       uint64_t now) {
    uint64_t since_us = hc_sv_watch_since(watch);
    if (since_us != seen->since_us) {
        if (seen->match != 0)
            log_end(control, index, seen->match, seen->since_us);
        *seen = (struct hc_sv_control_seen){.since_us = since_us};
    }
    seen->checks++;
    return since_us != 0 && seen->match == 0 && seen->checks > HANG_CHECKS &&
           hc_since(since_us, now) >= HANG_US;
}

/// Checks the call that a worker makes.
static void check_worker(struct hc_sv_control *control, unsigned index, uint64_t now) {
    const struct hc_sv_watch *watch = &control->workers[index].runner->watch;
    struct hc_sv_control_seen *seen = &control->seen[index];
    if (!check_call(control, index, watch, seen, now))
        return;
    unsigned match = atomic_load_explicit(&watch->match, memory_order_relaxed);
    if (hc_sv_watch_since(watch) == seen->since_us)
        meet_hang(control, index, match, now); // otherwise the number may be of the next call
}

/// Checks the call that makes the next world of match `number`. The match has its former world
/// meanwhile, where clients may join.
static void check_maker(struct hc_sv_control *control, unsigned number, uint64_t now) {
    unsigned index = hc_sv_worker_of(number, control->options->workers);
    const struct hc_sv_watch *watch = &hc_sv_worker_match(control->workers, number)->maker_watch;
    struct hc_sv_control_seen *seen = &control->makers[number - 1];
    if (!check_call(control, index, watch, seen, now))
        return;
    const struct hc_sv_hang hang = {.worker = index,
                                    .match = (uint16_t)number,
                                    .named = true,
                                    .since_us = seen->since_us,
                                    .found_us = now,
                                    .makes = true};
    if (hc_sv_watchdog_find(control->setting->watchdog, watch, &hang))
        seen->match = (uint16_t)number;
}

/// Calls `take` for each call that hangs, with what is known of it but for `named` and `found_us`.
static void each_hang(struct hc_sv_control *control,
                      void (*take)(struct hc_sv_control *control, const struct hc_sv_hang *hang)) {
    for (unsigned i = 0; i < control->options->workers; i++) {
        const struct hc_sv_control_seen *seen = &control->seen[i];
        const struct hc_sv_runner *runner = control->workers[i].runner->former;
        struct hc_sv_hang hang = {.worker = i, .match = seen->match, .since_us = seen->since_us};
        if (hang.match != 0)
            take(control, &hang);
        for (; runner != NULL; runner = runner->former) {
            hang.match = runner->away->number;
            hang.since_us = runner->stuck.since_us;
            take(control, &hang);
        }
    }
    for (unsigned number = 1; number <= control->options->matches; number++) {
        const struct hc_sv_control_seen *seen = &control->makers[number - 1];
        struct hc_sv_hang hang = {.worker = hc_sv_worker_of(number, control->options->workers),
                                  .match = seen->match,
                                  .since_us = seen->since_us,
                                  .makes = true};
        if (hang.match != 0)
            take(control, &hang);
    }
}

/// Whether the daemon ends without this worker.
static bool gives_up(const struct hc_sv_control *control, unsigned index) {
    const struct hc_sv_control_seen *seen = &control->seen[index];
    if (atomic_load(&control->run.ends) || control->stop_checks >= STOP_CHECKS)
        return seen->since_us != 0 && seen->checks >= ENDS_CHECKS;
    return control->stopping && seen->match != 0;
}

/// Ends the loop when no worker is waited for any more.
static void end_if_over(struct hc_sv_control *control) {
    for (unsigned i = 0; i < control->options->workers; i++)
        if (!atomic_load(&control->workers[i].closed) && !gives_up(control, i))
            return;
    event_base_loopbreak(control->base);
}

// ---- The report ---------------------------------------------------------------------------------

/// The users that the placement of several matches remembers, and the most clients at once.
static struct hc_server_remembered placed_users(const struct hc_sv_control *control,
                                                unsigned *most) {
    const struct hc_sv_match_setting *setting = control->setting;
    pthread_mutex_lock(setting->placement_lock);
    struct hc_server_remembered placed = hc_sv_placement_remembered(setting->placement);
    *most = hc_sv_placement_most(setting->placement);
    pthread_mutex_unlock(setting->placement_lock);
    return placed;
}

/// Adds the counts of all workers.
static void add_workers(struct hc_sv_control *control) {
    struct hc_sv_report *report = &control->report;
    struct hc_sv_worker_counts *counts = &control->worker;
    for (unsigned i = 0; i < control->options->workers; i++) {
        hc_sv_published_read(&control->workers[i].counts, counts);
        hc_counters_add(&hc_counters_doors, &report->doors, &counts->doors);
        hc_counters_add(&hc_counters_lanes, &report->lanes, &counts->lanes);
        report->sorted |= counts->sorted;
    }
}

/// Adds the counts of all matches, and returns their parts of the report, an array.
static json_t *add_matches(struct hc_sv_control *control) {
    struct hc_sv_report *report = &control->report;
    struct hc_sv_match_counts *counts = &control->match;
    json_t *parts = json_array();
    for (unsigned number = 1; number <= control->options->matches; number++) {
        struct hc_sv_match *match = hc_sv_worker_match(control->workers, number);
        hc_sv_published_read(&match->counts, counts);
        hc_sv_match_add_counts(counts, report, &control->stats, &control->timeline);
        hc_sv_faults_gather(&match->faults, report->desyncs, report->overflows);
        json_array_append_new(parts, hc_sv_match_report(number, counts));
    }
    return parts;
}

/// Adds a call that hangs to `hangs`.
static void add_hang(struct hc_sv_control *control, const struct hc_sv_hang *hang) {
    char place[HC_PLACE_TEXT];
    hc_sv_watchdog_place(control->setting->watchdog, hang->match, place, sizeof(place));
    json_t *entry = json_pack("{s:i, s:I, s:s?}", "worker", (int)hang->worker, "lasted_ms",
                              (json_int_t)(hc_since(hang->since_us, hc_clock_us()) / 1000), "place",
                              place[0] != '\0' ? place : NULL);
    name_match(control, entry, hang->match);
    json_array_append_new(control->hangs, entry);
}

json_t *hc_sv_control_hangs(struct hc_sv_control *control) {
    json_t *hangs = json_array();
    control->hangs = hangs;
    each_hang(control, add_hang);
    control->hangs = NULL;
    return hangs;
}

const struct hc_sv_report *hc_sv_control_sums(struct hc_sv_control *control) {
    static const struct hc_sv_report none;
    struct hc_sv_report *report = &control->report;
    *report = none;
    add_workers(control);
    if (control->setting->placement != NULL)
        report->placed = placed_users(control, &report->clients_most);
    report->duration_us = hc_since(control->setting->began_us, hc_clock_us());
    report->process.started_us = control->began_unix_us;
    report->process.cpu_us = hc_since(control->began_cpu_us, hc_report_cpu_us());
    report->process.resident_bytes = hc_sv_memory_resident();
    report->process.reloads = control->reload.reloads;
    report->process.reloads_refused = control->reload.refusals;
    return report;
}

json_t *hc_sv_control_report(struct hc_sv_control *control) {
    static const struct hc_server_stats no_stats;
    struct hc_sv_report *report = &control->report;
    (void)hc_sv_control_sums(control);
    control->stats = no_stats;
    control->timeline = (struct hc_timeline_stats){.advances = 0};
    report->version = control->setting->version;
    report->seed = control->options->seed;
    report->tick_rate = control->options->tick_rate;
    report->desyncs = json_array();
    report->overflows = json_array();
    report->host = &control->stats;
    report->timeline = &control->timeline;
    report->hangs = hc_sv_control_hangs(control);
    json_t *parts = add_matches(control);
    if (control->setting->placement != NULL) {
        report->workers = control->options->workers;
        report->matches = parts;
    } else {
        report->clients_most = (unsigned)control->match.clients_most;
    }
    json_t *json = hc_sv_report_json(report);
    json_decref(parts);
    json_decref(report->hangs);
    json_decref(report->desyncs);
    json_decref(report->overflows);
    return json;
}

/// Writes the report of the run so far into the log, as a table or as one line of JSON. The log
/// never waits for its reader.
static void log_report(struct hc_sv_control *control) {
    json_t *report = hc_sv_control_report(control);
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    control->asks = false;
    if (file != NULL) {
        if (control->log->format == HC_SV_LOG_TEXT)
            hc_sv_report_print(report, file);
        else if (json_dumpf(report, file, JSON_COMPACT | JSON_REAL_PRECISION(9)) == 0)
            fputc('\n', file);
        fclose(file);
        hc_sv_log_text(control->log, text, size);
    }
    free(text);
    json_decref(report);
}

void hc_sv_control_add_reader(struct hc_sv_control *control, void (*published)(void *context),
                              void *context) {
    HC_ASSERT(control->reader_count < HC_SV_CONTROL_READERS);
    control->readers[control->reader_count++] =
        (struct hc_sv_control_reader){.published = published, .context = context};
}

/// Writes the report that waits, and calls the readers of counts.
static void answer(struct hc_sv_control *control) {
    bool wanted = control->wanted;
    evtimer_del(control->unanswered);
    control->wanted = false;
    if (control->asks)
        log_report(control);
    for (unsigned i = 0; wanted && i < control->reader_count; i++)
        control->readers[i].published(control->readers[i].context);
    if (wanted && control->fleet.published != NULL)
        control->fleet.published(control->fleet.context);
}

bool hc_sv_control_has_published(const struct hc_sv_control *control, unsigned index) {
    const struct hc_sv_worker *worker = &control->workers[index];
    return atomic_load(&worker->closed) || atomic_load(&worker->published) >= control->asked;
}

/// Answers if all workers have published their counts, but those that hang.
static void answer_if_published(struct hc_sv_control *control) {
    if (!control->asks && !control->wanted)
        return;
    for (unsigned i = 0; i < control->options->workers; i++)
        if (control->seen[i].match == 0 && !hc_sv_control_has_published(control, i))
            return;
    answer(control);
}

static void on_unanswered(evutil_socket_t descriptor, short events, void *context) {
    (void)descriptor;
    (void)events;
    answer(context);
}

/// Orders all workers to publish their counts.
static void ask(struct hc_sv_control *control) {
    struct timeval most = hc_clock_span(ANSWER_US);
    const struct hc_sv_orders orders = {.publish = ++control->asked};
    for (unsigned i = 0; i < control->options->workers; i++)
        hc_sv_mailbox_order(&control->workers[i].mailbox, &orders);
    evtimer_add(control->unanswered, &most);
}

void hc_sv_control_ask(struct hc_sv_control *control) {
    if (control->wanted)
        return;
    control->wanted = true;
    ask(control);
}

// ---- Health -------------------------------------------------------------------------------------

/// Notes a hang of a match.
static void note_hang(struct hc_sv_control *control, const struct hc_sv_hang *hang) {
    (void)hang;
    control->hanging++;
}

unsigned hc_sv_control_hanging(struct hc_sv_control *control) {
    control->hanging = 0;
    each_hang(control, note_hang);
    return control->hanging;
}

bool hc_sv_control_is_healthy(struct hc_sv_control *control) {
    uint64_t now = hc_clock_us();
    for (unsigned number = 1; number <= control->options->matches; number++)
        if (hc_sv_control_match_hangs(control, number) || control->makers[number - 1].match != 0)
            return false;
    for (unsigned i = 0; i < control->options->workers; i++) {
        const struct hc_sv_worker *worker = &control->workers[i];
        if (!atomic_load(&worker->closed) &&
            hc_since(atomic_load_explicit(&worker->turned_us, memory_order_relaxed), now) >=
                HANG_US)
            return false;
    }
    return true;
}

bool hc_sv_control_match_hangs(const struct hc_sv_control *control, unsigned number) {
    unsigned index = hc_sv_worker_of(number, control->options->workers);
    const struct hc_sv_runner *runner = control->workers[index].runner->former;
    for (; runner != NULL; runner = runner->former)
        if (runner->away->number == number &&
            atomic_load(&runner->stuck.fate) != HC_SV_STUCK_REPLACED)
            return true;
    return control->seen[index].match != 0; // the worker serves none of its matches
}

bool hc_sv_control_is_ready(const struct hc_sv_control *control) {
    for (unsigned number = 1; number <= control->options->matches; number++)
        if (!hc_sv_control_match_hangs(control, number) &&
            !atomic_load(&hc_sv_worker_match(control->workers, number)->refuses))
            return !control->stopping && !atomic_load(&control->drains);
    return false;
}

// ---- The end ------------------------------------------------------------------------------------

void hc_sv_control_stop(struct hc_sv_control *control, const char *why, bool restarts) {
    unsigned clients = 0, workers = control->options->workers;
    if (control->stopping)
        return;
    control->stopping = true;
    control->restarts = restarts;
    hc_sv_notify_stopping(&control->notify);
    for (unsigned i = 0; i < workers; i++)
        clients += hc_sv_worker_clients(&control->workers[i]);
    json_t *fields = json_pack("{s:s, s:i}", "reason", why, "clients", (int)clients);
    if (restarts)
        json_object_set_new(fields, "restart_seconds",
                            json_integer((json_int_t)control->options->restart_s));
    hc_sv_log_event(control->log, HC_SV_LOG_INFO, "stopping", fields);
    const struct hc_sv_orders orders = {
        .stop = true, .restarts = restarts, .restart_s = control->options->restart_s};
    for (unsigned i = 0; i < workers; i++)
        hc_sv_mailbox_order(&control->workers[i].mailbox, &orders);
    end_if_over(control);
}

bool hc_sv_control_announce(struct hc_sv_control *control, unsigned number,
                            const struct hc_notice *notice) {
    const struct hc_sv_announcement order = {.match = (uint16_t)number, .notice = *notice};
    bool good = true;
    for (unsigned i = 0; i < control->options->workers; i++)
        if (number == 0 || hc_sv_worker_of(number, control->options->workers) == i)
            good = hc_sv_mailbox_announce(&control->workers[i].mailbox, &order) && good;
    return good;
}

void hc_sv_control_drain(struct hc_sv_control *control, uint64_t seconds) {
    uint64_t most = seconds < HC_NOTICE_SECONDS_MAX ? seconds : HC_NOTICE_SECONDS_MAX;
    hc_sv_control_drain_to(
        control, &(struct hc_notice){.kind = HC_NOTICE_ENDING, .seconds = (uint32_t)most});
}

void hc_sv_control_drain_to(struct hc_sv_control *control, const struct hc_notice *notice) {
    unsigned clients = 0;
    if (control->stopping)
        return;
    for (unsigned i = 0; i < control->options->workers; i++)
        clients += hc_sv_worker_clients(&control->workers[i]);
    atomic_store(&control->drains, true);
    control->drained_us = hc_clock_us() + (uint64_t)notice->seconds * SECOND_US;
    (void)hc_sv_control_announce(control, 0, notice);
    json_t *fields =
        json_pack("{s:I, s:i}", "seconds", (json_int_t)notice->seconds, "clients", (int)clients);
    if (notice->where[0] != '\0')
        json_object_set_new(fields, "where", json_string(notice->where));
    hc_sv_log_event(control->log, HC_SV_LOG_INFO, "draining", fields);
}

/// Stops a daemon that drains once it has no session, or no more time; or lets others do so.
static void end_drain(struct hc_sv_control *control, uint64_t now) {
    unsigned sessions = 0;
    if (!atomic_load(&control->drains) || control->stopping || control->has_drained)
        return;
    for (unsigned i = 0; i < control->options->workers; i++)
        sessions += hc_sv_worker_sessions(&control->workers[i]);
    if (sessions > 0 && now < control->drained_us)
        return;
    control->has_drained = true;
    if (control->drained != NULL)
        control->drained(control->fleet.context);
    else
        hc_sv_control_stop(control, "drained", false);
}

void hc_sv_control_end(struct hc_sv_control *control) {
    atomic_store(&control->run.ends, true);
    for (unsigned i = 0; i < control->options->workers; i++)
        hc_sv_mailbox_wake(&control->workers[i].mailbox);
}

/// A worker has answered, has ended, or asks for the end of the run.
static void on_notice(evutil_socket_t descriptor, short events, void *context) {
    struct hc_sv_control *control = context;
    uint64_t count;
    (void)events;
    ssize_t size = read(descriptor, &count, sizeof(count));
    (void)size; // nothing to read: a check came first
    int end = atomic_load(&control->run.end);
    if (end != HC_SV_RUN_GOES_ON)
        hc_sv_control_stop(control,
                           end == HC_SV_RUN_TICKS   ? "--ticks"
                           : end == HC_SV_RUN_WORLD ? "a world has no more ticks"
                                                    : "a match is stuck",
                           end == HC_SV_RUN_STUCK);
    answer_if_published(control);
    end_if_over(control);
}

/// Several matches begin at different times: for them --ticks counts the time.
static void on_ticked(evutil_socket_t descriptor, short events, void *context) {
    (void)descriptor;
    (void)events;
    hc_sv_control_stop(context, "--ticks", false);
}

// ---- The service manager ------------------------------------------------------------------------

void hc_sv_control_reload(struct hc_sv_control *control) {
    hc_sv_notify_reload(&control->notify, true);
    hc_sv_reload_start(&control->reload);
}

/// Tells the state in a line, as `systemctl status` shows it.
static void notify_status(struct hc_sv_control *control) {
    char status[HC_SV_NOTIFY_STATUS_MAX];
    unsigned clients = 0, hanging = hc_sv_control_hanging(control);
    for (unsigned i = 0; i < control->options->workers; i++)
        clients += hc_sv_worker_clients(&control->workers[i]);
    int size = snprintf(status, sizeof(status), "%s: %u clients in %u matches",
                        control->stopping               ? "ending"
                        : atomic_load(&control->drains) ? "draining"
                                                        : "serving",
                        clients, control->options->matches);
    if (hanging > 0)
        snprintf(status + size, sizeof(status) - (size_t)size, ", %u hang", hanging);
    hc_sv_notify_status(&control->notify, status);
}

/// Tells the service manager that the daemon serves, and lives: each worker's loop turns.
static void notify_manager(struct hc_sv_control *control, uint64_t now) {
    bool ticked = true;
    for (unsigned i = 0; i < control->options->workers; i++)
        ticked = ticked && atomic_load(&control->workers[i].ticked);
    if (ticked && !control->stopping)
        hc_sv_notify_ready(&control->notify);
    if (!hc_sv_reload_runs(&control->reload))
        hc_sv_notify_reload(&control->notify, false);
    if (hc_sv_control_is_healthy(control))
        hc_sv_notify_alive(&control->notify, now);
}

// ---- Checks -------------------------------------------------------------------------------------

/// Logs that the wall clock was set, or is right again.
static void log_clock(const struct hc_sv_match_setting *setting) {
    bool stepped;
    int64_t ahead_s;
    (void)hc_sv_wall_clock_bounded_us(setting->wall_clock);
    if (!hc_sv_wall_clock_changed(setting->wall_clock, &stepped, &ahead_s))
        return;
    if (!stepped)
        hc_sv_log_event(setting->log, HC_SV_LOG_INFO, "clock-right", json_object());
    else
        hc_sv_log_event(
            setting->log, HC_SV_LOG_ERROR, "clock-stepped",
            json_pack("{s:I, s:s}", "ahead_s", (json_int_t)ahead_s, "why",
                      ahead_s > 0 ? "the wall clock was set ahead, and tokens expire as if it had "
                                    "not been; if it is right now, start the server again"
                                  : "the wall clock was set back, and tokens expire later"));
}

/// Tells once a second what is due about the clock and the placement.
static void log_second(struct hc_sv_control *control, uint64_t now) {
    unsigned most;
    if (hc_since(control->second_us, now) < SECOND_US)
        return;
    control->second_us = now;
    notify_status(control);
    log_clock(control->setting);
    if (control->setting->placement == NULL)
        return;
    struct hc_server_remembered placed = placed_users(control, &most);
    hc_sv_status_log_remembered(&control->placed, control->log, &placed);
}

static void on_check(evutil_socket_t descriptor, short events, void *context) {
    struct hc_sv_control *control = context;
    uint64_t now = hc_clock_us();
    struct hc_trace_track *track = hc_sv_tracing_get(&control->setting->tracing->control);
    hc_trace_span span = hc_trace_root(track, "check");
    (void)descriptor;
    (void)events;
    for (unsigned i = 0; i < control->options->workers; i++) {
        hc_sv_runner_collect(&control->workers[i], on_returned, control);
        check_worker(control, i, now);
    }
    for (unsigned number = 1; number <= control->options->matches; number++)
        check_maker(control, number, now);
    end_drain(control, now);
    notify_manager(control, now);
    control->stop_checks += control->stopping;
    log_second(control, now);
    hc_sv_log_advance(control->log);
    answer_if_published(control);
    end_if_over(control);
    hc_loop_arm(control->check, now + CHECK_US, now);
    hc_trace_end(track, span);
}

// ---- Signals ------------------------------------------------------------------------------------

/// Whether a SIGTERM drains before the end: the first one, unless a drain has ended.
static bool drains_first(const struct hc_sv_control *control) {
    return !control->termed && !control->has_drained &&
           (control->options->drain_on_term_s > 0 || control->drained != NULL);
}

/// Begins a drain, unless one goes on that ends sooner.
static void drain_on_term(struct hc_sv_control *control) {
    uint64_t seconds = control->options->drain_on_term_s;
    control->termed = true;
    if (!atomic_load(&control->drains) || control->drained_us > hc_clock_us() + seconds * SECOND_US)
        hc_sv_control_drain(control, seconds);
}

/// SIGTERM and SIGINT: closes all connections and ends; SIGTERM drains before, as --drain-on-term
/// says. SIGUSR2: the same, and the clients come back. A second of these signals ends at once.
static void on_stop(evutil_socket_t signal_number, short events, void *context) {
    struct hc_sv_control *control = context;
    (void)events;
    if (control->stopping) {
        hc_sv_control_end(control);
        end_if_over(control);
        return;
    }
    if (signal_number == SIGTERM && drains_first(control)) {
        drain_on_term(control);
        return;
    }
    bool restarts = signal_number == SIGUSR2;
    const char *why = signal_number == SIGTERM ? "SIGTERM" : "SIGINT";
    hc_sv_control_stop(control, restarts ? "SIGUSR2" : why, restarts);
}

/// SIGUSR1 and SIGQUIT: a report follows once the workers have published their counts. The log
/// limits how often.
static void on_report(evutil_socket_t signal_number, short events, void *context) {
    struct hc_sv_control *control = context;
    (void)signal_number;
    (void)events;
    if (!hc_sv_log_takes_report(control->log) || control->asks)
        return;
    control->asks = true;
    ask(control);
}

/// SIGHUP: reads the files again.
static void on_hangup(evutil_socket_t signal_number, short events, void *context) {
    struct hc_sv_control *control = context;
    (void)signal_number;
    (void)events;
    hc_sv_control_reload(control);
}

static const struct {
    int number;
    event_callback_fn callback;
} signals[HC_SV_CONTROL_SIGNALS] = {{SIGTERM, on_stop},   {SIGINT, on_stop},
                                    {SIGUSR2, on_stop},   {SIGHUP, on_hangup},
                                    {SIGUSR1, on_report}, {SIGQUIT, on_report}};

void hc_sv_control_mask_signals(int how) {
    sigset_t set;
    sigemptyset(&set);
    for (unsigned i = 0; i < HC_SV_CONTROL_SIGNALS; i++)
        sigaddset(&set, signals[i].number);
    pthread_sigmask(how, &set, NULL);
}

// ---- Lifecycle ----------------------------------------------------------------------------------

bool hc_sv_control_open(struct hc_sv_control *control, const struct hc_sv_match_setting *setting,
                        struct hc_sv_worker *workers) {
    control->setting = setting;
    control->workers = workers;
    control->options = setting->options;
    control->log = setting->log;
    control->run.notice = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    control->base = hc_loop_create();
    control->makers = calloc(control->options->matches, sizeof(*control->makers));
    return control->run.notice >= 0 && control->base != NULL && control->makers != NULL;
}

bool hc_sv_control_watch(struct hc_sv_control *control) {
    struct event_base *base = control->base;
    bool good = true;
    for (unsigned i = 0; i < HC_SV_CONTROL_SIGNALS; i++) {
        control->signals[i] = evsignal_new(base, signals[i].number, signals[i].callback, control);
        good = hc_loop_add(control->signals[i]) && good;
    }
    control->noticed =
        event_new(base, control->run.notice, EV_READ | EV_PERSIST, on_notice, control);
    control->check = evtimer_new(base, on_check, control);
    control->ticked = evtimer_new(base, on_ticked, control);
    control->unanswered = evtimer_new(base, on_unanswered, control);
    good = hc_loop_add(control->noticed) && good;
    return good && control->check != NULL && control->ticked != NULL &&
           control->unanswered != NULL && hc_sv_reload_watch(&control->reload, base);
}

/// Logs that the daemon ends although a call hangs.
static void log_abandoned(struct hc_sv_control *control, const struct hc_sv_hang *hang) {
    json_t *fields =
        json_pack("{s:i, s:I, s:s}", "worker", (int)hang->worker, "lasted_ms",
                  (json_int_t)(hc_since(hang->since_us, hc_clock_us()) / 1000), "why",
                  hang->makes ? "the daemon ends, and the next world of the match did not begin"
                              : "the daemon ends, but a call into the match does not return");
    name_match(control, fields, hang->match);
    hc_sv_log_event(control->log, HC_SV_LOG_ERROR, "match-abandoned", fields);
}

void hc_sv_control_run(struct hc_sv_control *control) {
    const struct hc_sv_options *options = control->options;
    uint64_t now = hc_clock_us();
    hc_loop_arm(control->check, now, now);
    if (options->ticks != 0 && options->matches > 1)
        hc_loop_arm(control->ticked,
                    control->setting->began_us +
                        (uint64_t)options->ticks * 1000000 / options->tick_rate,
                    now);
    event_base_dispatch(control->base);
    if (control->asks)
        log_report(control);
    each_hang(control, log_abandoned);
}

void hc_sv_control_close(struct hc_sv_control *control) {
    for (unsigned i = 0; i < HC_SV_CONTROL_SIGNALS; i++)
        hc_loop_free_event(control->signals[i]);
    hc_loop_free_event(control->noticed);
    hc_loop_free_event(control->check);
    hc_loop_free_event(control->ticked);
    hc_loop_free_event(control->unanswered);
    hc_sv_reload_close(&control->reload);
    hc_sv_notify_close(&control->notify);
    hc_loop_free(control->base);
    free(control->makers);
    if (control->run.notice > 0) // 0 is standard input
        close(control->run.notice);
}
