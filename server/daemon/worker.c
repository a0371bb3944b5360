/// Owns a thread's event loop: reads the doors for the matches, and gives them the time.
#define _GNU_SOURCE // CLOCK_THREAD_CPUTIME_ID

#include "server/daemon/worker.h"

#include "common/elapsed.h"
#include "common/programs/clock.h"
#include "common/programs/loop.h"
#include "hindcast/check.h"
#include "server/daemon/activation.h"
#include "server/daemon/routing.h"
#include "server/daemon/runner.h"
#include "server/daemon/wall_clock.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    RECEIVE_FRACTION = 2,   ///< datagrams may delay a tick by 1 / this of it
    HANDSHAKE_FRACTION = 2, ///< handshakes may take 1 / this of each tick
    DRAIN_EVERY_US = 1000,  ///< the shortest interval at which the DATA lane is read
    DRAIN_CAPACITY = 8,     ///< the DATA lane is read before 1 / this of its receive buffer is full
    SEND_WAIT_US = 500,     ///< a datagram waits so long for others of its batch
    SET_TIME_EVERY_US = 1000000, ///< interval at which the servers are given the wall clock
    PUBLISH_EVERY_US = 1000000,  ///< interval at which counts are published
    WINDOW_US = 250000,          ///< in which the matches' shares of the worker's time are measured
    LOAD_SCALE = 256,
    PERIOD_FRACTION = 8, ///< a period is at most 1 / this of a tick shorter or longer than one
    MAIL_EACH = HC_SV_DOOR_CONNECTS, ///< CONNECTs of the mailbox in one turn of the loop
};

/// Processor time of this thread: unlike elapsed time, without preemption by other processes.
static uint64_t thread_cpu_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static uint64_t tick_us(const struct hc_sv_worker *worker) {
    return 1000000 / worker->setting->options->tick_rate;
}

// ---- Receiving and sending ----------------------------------------------------------------------

/// Sends all datagrams of a match that are due, each batch as soon as its first one has waited
/// SEND_WAIT_US: nobody waits until the snapshots of all clients are made. Returns the time.
static uint64_t send_all(struct hc_sv_worker *worker, struct hc_sv_match *match, uint64_t now) {
    struct hc_sv_doors *doors = worker->runner->doors;
    struct hc_address to;
    uint64_t flushed_us = now;
    size_t size;
    while ((size = hc_sv_match_send(match, &to, hc_sv_doors_room(doors), now)) > 0) {
        hc_sv_doors_queue(doors, &to, size);
        now = hc_clock_us();
        if (hc_since(flushed_us, now) < SEND_WAIT_US)
            continue;
        hc_sv_doors_flush(doors);
        flushed_us = now;
    }
    hc_sv_doors_flush(doors);
    return hc_clock_us();
}

/// Receives a batch of a lane, and gives its datagrams to their matches.
static struct hc_sv_batch receive_batch(struct hc_sv_worker *worker, enum hc_sv_door_lane lane) {
    struct hc_sv_batch batch = hc_sv_doors_receive(worker->runner->doors, lane);
    for (unsigned i = 0; i < batch.count; i++)
        hc_sv_routing_receive(worker, &batch.datagrams[i]);
    return batch;
}

/// Whether a batch of DATA arrived before a tick was due, and more may have.
static bool goes_on(const struct hc_sv_batch *batch, uint64_t due_us) {
    return batch->more &&
           (batch->count == 0 || batch->datagrams[batch->count - 1].arrived_us < due_us);
}

/// Sends the answers of the matches that were given a datagram, and reads their deadlines again;
/// `idle`: only of idle matches, which have no tick to send them. Returns the time.
static uint64_t answer(struct hc_sv_worker *worker, bool idle) {
    uint64_t now = hc_clock_us();
    for (struct hc_sv_match *match = NULL;
         (match = hc_sv_worker_next_match(worker, match)) != NULL;) {
        if (!match->touched || (idle && !match->idle))
            continue;
        now = send_all(worker, match, now);
        hc_sv_match_renew_deadline(match);
    }
    return now;
}

/// Adds the time of a reading of `all` datagrams to the work of the matches that accepted them.
/// Forged datagrams take time that is left, and must not make a server leave snapshots out.
static void share_reading(struct hc_sv_worker *worker, uint64_t us, unsigned all) {
    for (struct hc_sv_match *match = NULL;
         (match = hc_sv_worker_next_match(worker, match)) != NULL;) {
        if (all > 0)
            match->other_us += us * match->accepted / all;
        match->accepted = 0;
    }
}

/// The worker's track; NULL: there is no trace.
static struct hc_trace_track *track_of(const struct hc_sv_worker *worker) {
    return hc_sv_tracing_get(&worker->setting->tracing->workers[worker->index]);
}

/// Receives DATA until the lane is empty, it is `end_us`, or the rest arrived after `due_us`, when
/// a tick is due. The rest waits in the receive buffer. Returns the time.
static uint64_t receive_data(struct hc_sv_worker *worker, uint64_t now, uint64_t due_us,
                             uint64_t end_us) {
    struct hc_sv_batch batch;
    unsigned all = 0;
    uint64_t begun = now;
    struct hc_trace_track *track = track_of(worker);
    hc_trace_span span = hc_trace_begin(track, "receive");
    do {
        batch = receive_batch(worker, HC_SV_DOOR_DATA);
        all += batch.count;
        now = hc_clock_us();
    } while (now < end_us && goes_on(&batch, due_us));
    hc_trace_number(track, span, "datagrams", all);
    hc_trace_end(track, span);
    worker->drained += all;
    share_reading(worker, hc_since(begun, now), all);
    return now;
}

/// Chooses how often the DATA lane is read in the next tick: whole batches at a time, because a
/// wake-up for each datagram costs three times the processor time.
static void plan_drains(struct hc_sv_worker *worker) {
    worker->drain_every_us = tick_us(worker) / (worker->drained / worker->drain_size + 1);
    if (worker->drain_every_us < DRAIN_EVERY_US)
        worker->drain_every_us = DRAIN_EVERY_US;
    worker->drained = 0;
}

/// The earliest deadline of the matches.
static uint64_t deadline_of(struct hc_sv_worker *worker) {
    uint64_t deadline = UINT64_MAX;
    for (struct hc_sv_match *match = NULL;
         (match = hc_sv_worker_next_match(worker, match)) != NULL;) {
        if (match->touched)
            hc_sv_match_renew_deadline(match);
        if (match->deadline_us < deadline)
            deadline = match->deadline_us;
    }
    return deadline;
}

/// Reads the DATA lane if it is time to, always right before a tick. Several matches share the time
/// by which it may delay them.
static void drain(struct hc_sv_worker *worker, uint64_t now) {
    uint64_t deadline = deadline_of(worker);
    if (now < deadline && now < worker->drain_us)
        return;
    worker->drain_us = now + worker->drain_every_us;
    uint64_t most_us = tick_us(worker) / RECEIVE_FRACTION / worker->count;
    (void)receive_data(worker, now, deadline, now < deadline ? deadline : now + most_us);
}

// ---- Turns --------------------------------------------------------------------------------------

/// A worker's period lasts about a tick. It ends with a tick of a match where one is near, so that
/// the timer does not wake the worker for it.
static uint64_t shortest_period_us(const struct hc_sv_worker *worker) {
    return hc_since(tick_us(worker) / PERIOD_FRACTION, tick_us(worker));
}

static uint64_t longest_period_us(const struct hc_sv_worker *worker) {
    return tick_us(worker) + tick_us(worker) / PERIOD_FRACTION;
}

/// Sets the timer to the earliest deadline, or to the next reading of the DATA lane before it.
static void arm_timer(struct hc_sv_worker *worker) {
    uint64_t deadline = deadline_of(worker), now = hc_clock_us();
    uint64_t end_us = worker->period_us + longest_period_us(worker);
    if (end_us < deadline)
        deadline = end_us;
    // A reading shortly before the deadline would only wake the worker twice.
    if (worker->drain_us + DRAIN_EVERY_US / 2 < deadline)
        deadline = worker->drain_us;
    if (deadline == worker->armed_us && evtimer_pending(worker->runner->timer, NULL))
        return;
    worker->armed_us = deadline;
    hc_loop_arm(worker->runner->timer, deadline, now);
}

/// Publishes the counts that are of no match, and logs drops; `last`: all that are not logged yet.
static void publish_own(struct hc_sv_worker *worker, bool last) {
    struct hc_sv_door_stats doors = hc_sv_doors_stats(worker->runner->doors);
    hc_sv_status_log_drops(&worker->drops, worker->setting->log, &doors, last, hc_clock_us());
    struct hc_sv_worker_counts counts = {
        .doors.receive_drops = doors.receive_drops,
        .doors.send_errors = doors.send_errors,
        .doors.handshakes_us = worker->handshake_budget.ticks_us,
        .lanes.handshakes = worker->handshakes,
        .lanes.handshake_drops = doors.handshake_drops,
        .sorted = doors.sorted,
    };
    hc_sv_published_write(&worker->counts, &counts);
}

/// Publishes all counts; `last`: the worker ends.
static void publish_all(struct hc_sv_worker *worker, bool last) {
    uint64_t now = hc_clock_us();
    for (struct hc_sv_match *match = NULL;
         (match = hc_sv_worker_next_match(worker, match)) != NULL;)
        hc_sv_match_publish(match, &worker->scratch, now);
    publish_own(worker, last);
}

/// Wakes the control thread.
static void notify(const struct hc_sv_worker *worker) {
    uint64_t one = 1;
    ssize_t size = write(worker->run->notice, &one, sizeof(one));
    (void)size; // it only fails if the thread is woken anyway
}

/// Asks for the end of the run.
static void ask_for(const struct hc_sv_worker *worker, int end) {
    if (atomic_exchange(&worker->run->end, end) == HC_SV_RUN_GOES_ON)
        notify(worker);
}

/// Asks for the end of the run when the only world has had all its ticks, or those of --ticks.
static void ask_for_end(const struct hc_sv_worker *worker, const struct hc_sv_match *match) {
    uint32_t ticks = worker->setting->options->ticks;
    int end = HC_SV_RUN_GOES_ON;
    if (hc_server_ended(match->server))
        end = HC_SV_RUN_WORLD;
    else if (ticks != 0 && match->counted_tick >= ticks)
        end = HC_SV_RUN_TICKS;
    if (end != HC_SV_RUN_GOES_ON)
        ask_for(worker, end);
}

/// Lets handshakes wake the worker, or no longer.
static void wake_by_handshakes(struct hc_sv_runner *runner, bool wakes) {
    for (unsigned i = 0; i < runner->doors->count; i++)
        for (unsigned lane = HC_SV_DOOR_DATA + 1; lane < HC_SV_DOOR_LANES; lane++)
            if (runner->readable[i][lane] != NULL)
                (void)(wakes ? event_add(runner->readable[i][lane], NULL)
                             : event_del(runner->readable[i][lane]));
}

/// Whether handshakes wait in the socket for the next server, which inherits it and answers them at
/// once. Otherwise this server denies them with the time after which the next one is there.
static bool leaves_handshakes(const struct hc_sv_worker *worker) {
    const struct hc_sv_activation *activation = worker->setting->options->activation;
    return worker->restarts && activation != NULL && activation->games > 0;
}

/// Starts the next tick's time budget of handshakes, and reads their lanes again.
static void renew_handshake_budget(struct hc_sv_worker *worker) {
    hc_sv_time_budget_renew(&worker->handshake_budget);
    wake_by_handshakes(worker->runner, !leaves_handshakes(worker));
    event_add(worker->runner->mail, NULL);
}

/// Gives the servers the Unix time if it is due; tokens expire by it.
static void set_time(struct hc_sv_worker *worker, uint64_t now) {
    if (hc_since(worker->time_set_us, now) < SET_TIME_EVERY_US)
        return;
    worker->time_set_us = now;
    for (struct hc_sv_match *match = NULL;
         (match = hc_sv_worker_next_match(worker, match)) != NULL;)
        hc_server_set_time(match->server, hc_sv_wall_clock_bounded_us(worker->setting->wall_clock),
                           now);
    publish_own(worker, false);
}

/// Measures the matches' shares of the time. A match counts as loaded by its work's part of the
/// time that the others leave it, which is at least an equal share. So a match that takes more than
/// that leaves work out first, and one alone by its part of all time.
static void share_time(struct hc_sv_worker *worker, uint64_t now) {
    uint64_t all_us = 0, window_us = hc_since(worker->window_us, now);
    if (window_us < WINDOW_US)
        return;
    for (struct hc_sv_match *match = NULL;
         (match = hc_sv_worker_next_match(worker, match)) != NULL;)
        all_us += match->busy_us;
    for (struct hc_sv_match *match = NULL;
         (match = hc_sv_worker_next_match(worker, match)) != NULL;) {
        uint64_t others_us = hc_since(match->busy_us, all_us), least_us = window_us / worker->count;
        uint64_t left_us = hc_since(others_us, window_us);
        left_us = left_us > least_us ? left_us : least_us;
        match->load_scale = (uint32_t)(window_us * LOAD_SCALE / left_us);
        match->busy_us = 0;
    }
    worker->window_us = now;
}

/// Gives the server the time worked since its last tick.
static void note_work(struct hc_sv_match *match) {
    uint64_t scale = match->load_scale;
    match->busy_us += match->advance_us + match->send_us + match->other_us;
    hc_server_note_work(match->server, match->advance_us * scale / LOAD_SCALE,
                        match->send_us * scale / LOAD_SCALE, match->other_us * scale / LOAD_SCALE,
                        hc_clock_us());
    match->advance_us = match->send_us = match->other_us = 0;
}

/// Does what is due for one match at `now`, when its work begins. True: it had a tick.
static bool run_match(struct hc_sv_worker *worker, struct hc_sv_match *match, uint64_t now) {
    uint64_t begun = hc_clock_us(), late_us = hc_since(match->deadline_us, begun);
    struct hc_sv_match_trace *trace = hc_sv_match_trace_of(match);
    hc_sv_match_begin_turn(match, late_us);
    hc_sv_match_trace_part(trace, "advance");
    bool ticked = hc_sv_match_advance(match, now);
    uint64_t advanced = hc_clock_us();
    hc_sv_match_trace_part(trace, "send");
    uint64_t end = send_all(worker, match, advanced);
    hc_sv_match_trace_part(trace, "events");
    match->advance_us += hc_since(begun, advanced);
    match->send_us += hc_since(advanced, end);
    hc_sv_match_log_events(match);
    hc_sv_match_drop_messages(match);
    if (ticked)
        hc_sv_match_end_tick(match, match->advance_us + match->send_us + match->other_us, now);
    hc_sv_match_renew_deadline(match);
    match->other_us += hc_since(end, hc_clock_us());
    const struct hc_sv_probe_work work = {.late_us = late_us,
                                          .receive_us = match->other_us,
                                          .advance_us = match->advance_us,
                                          .send_us = match->send_us};
    if (ticked)
        hc_sv_match_inspect(match, &work, now);
    if (ticked)
        note_work(match);
    if (ticked && hc_since(match->published_us, now) >= PUBLISH_EVERY_US)
        hc_sv_match_publish(match, &worker->scratch, now);
    if (ticked && match->lasts)
        ask_for_end(worker, match);
    hc_sv_match_trace_end(trace, match->server, ticked);
    return ticked;
}

/// The match whose deadline comes first and is not after `now`; NULL: none.
static struct hc_sv_match *next_due(struct hc_sv_worker *worker, uint64_t now) {
    struct hc_sv_match *next = NULL;
    for (struct hc_sv_match *match = NULL;
         (match = hc_sv_worker_next_match(worker, match)) != NULL;) {
        if (match->deadline_us <= now && (next == NULL || match->deadline_us < next->deadline_us))
            next = match;
    }
    return next;
}

/// Refuses the newest refused users in a match.
static void set_refused(struct hc_sv_worker *worker, struct hc_sv_match *match, uint64_t now) {
    const struct hc_sv_refused_file *file = &worker->refused->file;
    enum hc_status status = hc_server_set_refused(match->server, file->client_ids, file->count,
                                                  file->not_before_s, now);
    HC_ASSERT(status == HC_OK);
    match->touched = true;
}

/// Closes all connections of a match.
static void stop(struct hc_sv_worker *worker, struct hc_sv_match *match, uint64_t now) {
    if (worker->restarts)
        hc_server_restart(match->server, worker->restart_s, now);
    else
        hc_server_shutdown(match->server, now);
    match->touched = true;
}

/// Obeys the orders that a match has missed while it was away.
static void catch_up(struct hc_sv_worker *worker, struct hc_sv_match *match, uint64_t now) {
    match->touched = true;
    (void)hc_server_set_keys(match->server, &worker->keys);
    hc_sv_match_set(match, &worker->settings, now);
    if (worker->refused != NULL)
        set_refused(worker, match, now);
    if (worker->stopping)
        stop(worker, match, now);
    hc_sv_match_log_events(match);
    hc_sv_match_update_placement(match);
}

/// Tells the clients of a world that was left, and gives its match another one.
static void mend(struct hc_sv_worker *worker, struct hc_sv_match *match, uint64_t now) {
    bool ends = worker->setting->options->stuck_policy == HC_SV_STUCK_POLICY_END;
    if (match->away &&
        hc_sv_match_mend(match, &worker->keys, worker->stopping, worker->restarts, now))
        catch_up(worker, match, now);
    if (match->is_left && ends)
        ask_for(worker, HC_SV_RUN_STUCK);
    if (hc_sv_match_farewell_due(match, now))
        hc_sv_farewells_send(&match->farewells, match->farewell_restarts, worker->runner->doors);
}

/// Does what is due for the worker once a period. `ticked`: a match had a tick at `now`.
static void end_period(struct hc_sv_worker *worker, bool ticked, uint64_t now) {
    uint64_t lasted_us = hc_since(worker->period_us, now);
    if (lasted_us < (ticked ? shortest_period_us(worker) : longest_period_us(worker)))
        return;
    worker->period_us = now;
    renew_handshake_budget(worker);
    plan_drains(worker);
    share_time(worker, now);
    for (unsigned i = 0; i < worker->count; i++)
        mend(worker, &worker->matches[i], now);
    for (struct hc_sv_match *match = NULL;
         (match = hc_sv_worker_next_match(worker, match)) != NULL;) {
        hc_sv_match_log_troubles(match, false, now);
        if (!worker->stopping)
            hc_sv_match_renew(match, &worker->keys, now);
    }
}

/// Whether the worker has nothing left to do: all its matches are closed, and the clients of worlds
/// that were left are told.
static bool is_done(struct hc_sv_worker *worker) {
    for (unsigned i = 0; worker->stopping && i < worker->count; i++)
        if (worker->matches[i].farewell_rounds > 0 || worker->matches[i].stuck != NULL)
            return false;
    for (struct hc_sv_match *match = NULL;
         (match = hc_sv_worker_next_match(worker, match)) != NULL;)
        if (!hc_server_closed(match->server))
            return false;
    return worker->stopping;
}

/// Does everything that is due at `now`, and sets the timer to the next deadline.
static void turn(struct hc_sv_worker *worker, uint64_t now) {
    uint64_t begun = now;
    bool ticked = false;
    atomic_store_explicit(&worker->turned_us, now, memory_order_relaxed);
    drain(worker, now);
    (void)answer(worker, true);
    // A match that is due again meanwhile waits for the next turn.
    struct hc_sv_match *match;
    for (unsigned i = 0; i < worker->count && (match = next_due(worker, now)) != NULL; i++) {
        ticked |= run_match(worker, match, begun);
        begun = hc_clock_us();
    }
    end_period(worker, ticked, now);
    set_time(worker, now);
    if (!atomic_load_explicit(&worker->ticked, memory_order_relaxed))
        atomic_store(&worker->ticked, ticked || deadline_of(worker) == UINT64_MAX);
    if (atomic_load(&worker->run->ends) || is_done(worker))
        event_base_loopbreak(worker->runner->base);
    else
        arm_timer(worker);
}

static void on_timer(evutil_socket_t descriptor, short events, void *context) {
    (void)descriptor;
    (void)events;
    turn(context, hc_clock_us());
}

/// Receives HELLOs and CONNECTs alternately, so that neither delays the other, until both lanes are
/// empty, the timer is due, or their time budget is used up. The rest waits in the receive buffers.
/// A CLOSE that arrived before a CONNECT is read before it, and frees its place. Handshakes are not
/// counted as work: ticks go before them, so a flood of them is no overload.
static void receive_handshakes(struct hc_sv_worker *worker) {
    struct hc_sv_time_budget *budget = &worker->handshake_budget;
    uint64_t now = hc_clock_us(), deadline = worker->armed_us;
    for (unsigned empty = 0; empty < 2 && now < deadline && hc_sv_time_budget_lasts(budget);) {
        receive_data(worker, now, deadline, deadline);
        uint64_t from = thread_cpu_us();
        struct hc_sv_batch batch = receive_batch(worker, worker->next_lane);
        now = answer(worker, false);
        hc_sv_time_budget_take(budget, hc_since(from, thread_cpu_us()));
        worker->handshakes += batch.count;
        empty = batch.more ? 0 : empty + 1;
        worker->next_lane =
            worker->next_lane == HC_SV_DOOR_CONNECT ? HC_SV_DOOR_HELLO : HC_SV_DOOR_CONNECT;
    }
    if (!hc_sv_time_budget_lasts(budget))
        wake_by_handshakes(worker->runner, false);
}

static void on_handshake(evutil_socket_t descriptor, short events, void *context) {
    struct hc_sv_worker *worker = context;
    (void)descriptor;
    (void)events;
    hc_trace_span span = hc_trace_root(track_of(worker), "handshakes");
    receive_handshakes(worker);
    hc_trace_end(track_of(worker), span);
    // The timer does all else: a look at all clients for each HELLO would cost more than the HELLO.
    for (struct hc_sv_match *match = NULL;
         (match = hc_sv_worker_next_match(worker, match)) != NULL;)
        hc_sv_match_log_events(match);
    arm_timer(worker); // an idle match may have begun
}

// ---- Mail ---------------------------------------------------------------------------------------

/// Goes on with the matches that are back, and obeys the orders that they have missed.
static void welcome(struct hc_sv_worker *worker, uint64_t now) {
    for (unsigned i = 0; i < worker->count; i++) {
        struct hc_sv_match *match = &worker->matches[i];
        if (!match->away || !atomic_load(&match->back))
            continue;
        match->away = false;
        hc_sv_match_decide(match, HC_SV_STUCK_BACK);
        catch_up(worker, match, now);
    }
}

/// Ends the sessions of clients. One that has gone, or whose match is away, is left alone.
static void kick(struct hc_sv_worker *worker, const struct hc_sv_orders *orders, uint64_t now) {
    for (unsigned i = 0; i < orders->kick_count; i++) {
        struct hc_sv_match *match = hc_sv_worker_match(worker->all, orders->kicks[i].match);
        if (match->away)
            continue;
        (void)hc_server_kick(match->server, orders->kicks[i].cid, HC_CLOSE_KICKED, now);
        match->touched = true;
    }
}

/// Gives clients the notices that the control thread has ordered. A match that is away misses it.
static void announce(struct hc_sv_worker *worker, const struct hc_sv_orders *orders, uint64_t now) {
    for (unsigned i = 0; i < orders->announcement_count; i++) {
        const struct hc_sv_announcement *order = &orders->announcements[i];
        for (struct hc_sv_match *match = NULL;
             (match = hc_sv_worker_next_match(worker, match)) != NULL;)
            if (order->match == 0 || order->match == match->number)
                (void)hc_server_notify(match->server, order->cid, &order->notice, now);
    }
}

/// Lists the clients of the matches for the control thread.
static void list_clients(struct hc_sv_worker *worker, uint64_t now) {
    for (struct hc_sv_match *match = NULL;
         (match = hc_sv_worker_next_match(worker, match)) != NULL;)
        hc_sv_match_list_clients(match, now);
}

/// Obeys the orders of the control thread.
static void obey(struct hc_sv_worker *worker) {
    struct hc_sv_orders orders = hc_sv_mailbox_take_orders(&worker->mailbox);
    uint64_t now = hc_clock_us();
    bool stops = orders.stop && !worker->stopping;
    if (orders.new_keys)
        worker->keys = orders.keys;
    if (orders.new_settings)
        worker->settings = orders.settings;
    if (orders.refused != NULL) {
        hc_sv_refused_users_release(worker->refused);
        worker->refused = orders.refused;
    }
    welcome(worker, now);
    if (stops) {
        worker->stopping = true;
        worker->restarts = orders.restarts;
        worker->restart_s = orders.restart_s;
        wake_by_handshakes(worker->runner, !leaves_handshakes(worker));
    }
    for (struct hc_sv_match *match = NULL;
         (match = hc_sv_worker_next_match(worker, match)) != NULL;) {
        if (orders.new_keys)
            (void)hc_server_set_keys(match->server, &worker->keys); // the file has one or two
        if (orders.new_settings)
            hc_sv_match_set(match, &worker->settings, now);
        if (orders.refused != NULL)
            set_refused(worker, match, now);
        if (stops)
            stop(worker, match, now);
    }
    announce(worker, &orders, now);
    kick(worker, &orders, now);
    if (orders.publish != 0) {
        publish_all(worker, false);
        list_clients(worker, now);
        atomic_store(&worker->published, orders.publish);
        notify(worker);
    }
    sodium_memzero(&orders.keys, sizeof(orders.keys));
}

/// The mailbox has some, or the daemon ends. The rest waits for the next turn of the loop.
static void on_mail(evutil_socket_t descriptor, short events, void *context) {
    struct hc_sv_worker *worker = context;
    struct hc_sv_time_budget *budget = &worker->handshake_budget;
    struct hc_sv_mail mail;
    uint64_t woken;
    (void)events;
    ssize_t size = read(descriptor, &woken, sizeof(woken));
    (void)size; // nothing to read: another thread has not written yet
    hc_trace_span span = hc_trace_root(track_of(worker), "orders and mail");
    obey(worker);
    bool any = true;
    for (unsigned i = 0; i < MAIL_EACH && any && hc_sv_time_budget_lasts(budget); i++) {
        uint64_t from = thread_cpu_us();
        any = hc_sv_mailbox_take(&worker->mailbox, &mail);
        if (!any)
            break;
        struct hc_sv_datagram datagram = {.bytes = mail.bytes,
                                          .size = sizeof(mail.bytes),
                                          .from = mail.from,
                                          .arrived_us = mail.arrived_us};
        hc_sv_routing_receive_placed(worker, &datagram, &mail.placed);
        (void)answer(worker, false);
        hc_sv_time_budget_take(budget, hc_since(from, thread_cpu_us()));
    }
    hc_trace_end(track_of(worker), span);
    if (any)
        hc_sv_mailbox_wake(&worker->mailbox);
    if (any && !hc_sv_time_budget_lasts(budget))
        event_del(worker->runner->mail);
    turn(worker, hc_clock_us());
}

// ---- The end ------------------------------------------------------------------------------------

/// Ends the worker: logs what is left to log, and publishes the last counts.
static void end(struct hc_sv_worker *worker) {
    for (struct hc_sv_match *match = NULL;
         (match = hc_sv_worker_next_match(worker, match)) != NULL;)
        hc_sv_match_log_troubles(match, true, hc_clock_us());
    publish_all(worker, true);
    atomic_store(&worker->closed, true);
    notify(worker);
}

static const struct hc_sv_runner_calls calls = {
    .handshake = on_handshake, .mail = on_mail, .timer = on_timer, .end = end};

// ---- Lifecycle ----------------------------------------------------------------------------------

/// Opens the worker's share of the matches; false: no memory.
static bool open_matches(struct hc_sv_worker *worker) {
    const struct hc_sv_options *options = worker->setting->options;
    unsigned matches = options->matches, first = worker->index;
    if (first == 0)
        first = options->workers;
    worker->count = (matches - first) / options->workers + 1;
    worker->matches = calloc(worker->count, sizeof(*worker->matches));
    for (unsigned i = 0; worker->matches != NULL && i < worker->count; i++) {
        unsigned number = first + i * options->workers;
        struct hc_sv_match *match = &worker->matches[i];
        match->phase_us = (uint32_t)(tick_us(worker) * i / worker->count);
        if (!hc_sv_match_open(match, worker->setting, (uint16_t)number, &worker->keys))
            return false;
    }
    return worker->matches != NULL;
}

bool hc_sv_worker_open(struct hc_sv_worker *worker, const struct hc_token_ring *keys) {
    worker->keys = *keys;
    worker->settings = hc_sv_options_play(worker->setting->options);
    worker->next_lane = HC_SV_DOOR_CONNECT;
    worker->handshake_budget.limit_us = tick_us(worker) / HANDSHAKE_FRACTION;
    return hc_sv_mailbox_open(&worker->mailbox) &&
           hc_sv_published_open(&worker->counts, sizeof(struct hc_sv_worker_counts)) &&
           open_matches(worker);
}

/// Plans the readings of the DATA lane, which has received nothing yet.
static void begin_drains(struct hc_sv_worker *worker) {
    worker->drain_size = hc_sv_doors_facts(worker->runner->doors).capacity / DRAIN_CAPACITY;
    if (worker->drain_size < 1)
        worker->drain_size = 1;
    if (worker->drain_size > HC_SV_DOOR_BATCH)
        worker->drain_size = HC_SV_DOOR_BATCH;
    plan_drains(worker);
}

bool hc_sv_worker_watch(struct hc_sv_worker *worker, struct hc_sv_doors *doors) {
    if (!hc_sv_runner_open(worker, doors, &calls))
        return false;
    begin_drains(worker);
    return true;
}

bool hc_sv_worker_begin(struct hc_sv_worker *worker) {
    struct hc_sv_runner *runner = worker->runner;
    uint64_t now = worker->setting->began_us;
    worker->period_us = worker->window_us = now;
    atomic_store(&worker->turned_us, now);
    obey(worker);
    for (unsigned i = 0; i < worker->count; i++)
        hc_sv_match_begin(&worker->matches[i], now);
    if (hc_sv_runner_start(runner))
        return true;
    atomic_store(&worker->closed, true);
    return false;
}

bool hc_sv_worker_join(struct hc_sv_worker *worker, uint64_t until_us) {
    if (!atomic_load(&worker->closed) || worker->runner->former != NULL)
        return false;
    if (worker->runner->goes)
        pthread_join(worker->runner->thread, NULL);
    worker->runner->goes = false;
    bool made = true;
    for (unsigned i = 0; i < worker->count; i++)
        made = hc_sv_match_join(&worker->matches[i], until_us) && made;
    return made;
}

void hc_sv_worker_close(struct hc_sv_worker *worker) {
    hc_sv_runner_close(worker->runner);
    for (unsigned i = 0; worker->matches != NULL && i < worker->count; i++)
        hc_sv_match_close(&worker->matches[i]);
    free(worker->matches);
    hc_sv_published_close(&worker->counts);
    hc_sv_mailbox_close(&worker->mailbox);
    hc_sv_refused_users_release(worker->refused);
    sodium_memzero(&worker->keys, sizeof(worker->keys));
}

unsigned hc_sv_worker_clients(const struct hc_sv_worker *worker) {
    unsigned count = 0;
    for (unsigned i = 0; i < worker->count; i++)
        count += atomic_load_explicit(&worker->matches[i].clients, memory_order_relaxed);
    return count;
}

unsigned hc_sv_worker_sessions(const struct hc_sv_worker *worker) {
    unsigned count = 0;
    for (unsigned i = 0; i < worker->count; i++)
        count += atomic_load_explicit(&worker->matches[i].sessions, memory_order_relaxed);
    return count;
}
