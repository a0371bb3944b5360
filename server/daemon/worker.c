/// Owns a thread's event loop: gives the matches their datagrams and the time.
#define _GNU_SOURCE // CLOCK_THREAD_CPUTIME_ID

#include "server/daemon/worker.h"

#include "common/elapsed.h"
#include "common/programs/clock.h"
#include "common/programs/loop.h"
#include "hindcast/check.h"
#include "server/daemon/wall_clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum {
    RECEIVE_FRACTION = 2,   ///< datagrams may delay a tick by 1 / this of it
    HANDSHAKE_FRACTION = 2, ///< handshakes may take 1 / this of each tick
    DRAIN_EVERY_US = 1000,  ///< the shortest interval at which the DATA lane is read
    DRAIN_CAPACITY = 8,     ///< the DATA lane is read before 1 / this of its receive buffer is full
    SEND_WAIT_US = 500,     ///< a datagram waits so long for others of its batch
    SET_TIME_EVERY_US = 1000000, ///< interval at which the servers are given the wall clock
    WINDOW_US = 250000,          ///< in which the matches' shares of the worker's time are measured
    LOAD_SCALE = 256,
    PERIOD_FRACTION = 8, ///< a period is at most 1 / this of a tick shorter or longer than one
    MAIL_EACH = HC_SV_UDP_CONNECTS, ///< CONNECTs of the mailbox in one turn of the loop
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

/// The worker's match `number`; NULL: it is not of this worker, or does not exist.
static struct hc_sv_match *find_match(struct hc_sv_worker *worker, unsigned number) {
    const struct hc_sv_options *options = worker->setting->options;
    if (number < 1 || number > options->matches ||
        hc_sv_worker_of(number, options->workers) != worker->index)
        return NULL;
    return &worker->matches[(number - 1) / options->workers];
}

// ---- Receiving and sending ----------------------------------------------------------------------

/// Sends all datagrams of a match that are due, each batch as soon as its first one has waited
/// SEND_WAIT_US: nobody waits until the snapshots of all clients are made. Returns the time.
static uint64_t send_all(struct hc_sv_worker *worker, struct hc_sv_match *match, uint64_t now) {
    struct hc_address to;
    uint64_t flushed_us = now;
    size_t size;
    while ((size = hc_server_send(match->server, &to, hc_sv_udp_room(worker->udp), now)) > 0) {
        hc_sv_udp_queue(worker->udp, &to, size);
        now = hc_clock_us();
        if (hc_since(flushed_us, now) < SEND_WAIT_US)
            continue;
        hc_sv_udp_flush(worker->udp);
        flushed_us = now;
    }
    hc_sv_udp_flush(worker->udp);
    return hc_clock_us();
}

/// Chooses the match of a CONNECT whose token names none of the daemon's, see
/// hc_sv_placement_choose.
static void place(struct hc_sv_worker *worker, const struct hc_sv_udp_datagram *datagram,
                  struct hc_sv_placed *placed) {
    const struct hc_sv_match_setting *setting = worker->setting;
    pthread_mutex_lock(setting->placement_lock);
    hc_sv_placement_choose(setting->placement, &datagram->from, datagram->bytes, datagram->size,
                           hc_sv_wall_clock_bounded_us(setting->wall_clock), datagram->arrived_us,
                           placed);
    pthread_mutex_unlock(setting->placement_lock);
}

/// Ends the choice of a match, see hc_sv_placement_finish.
static void finish_placement(struct hc_sv_worker *worker, const struct hc_sv_placed *placed) {
    pthread_mutex_lock(worker->setting->placement_lock);
    hc_sv_placement_finish(worker->setting->placement, placed);
    pthread_mutex_unlock(worker->setting->placement_lock);
}

/// Gives a CONNECT of another worker's match to that worker.
static void send_mail(struct hc_sv_worker *worker, const struct hc_sv_udp_datagram *datagram,
                      const struct hc_sv_placed *placed) {
    unsigned workers = worker->setting->options->workers;
    struct hc_sv_worker *other = &worker->all[hc_sv_worker_of(placed->match, workers)];
    struct hc_sv_mailbox *box = &other->mailbox;
    pthread_mutex_lock(&box->lock);
    bool fits = box->count < HC_SV_WORKER_MAIL;
    if (fits) {
        struct hc_sv_mail *mail = &box->mail[(box->first + box->count++) % HC_SV_WORKER_MAIL];
        *mail = (struct hc_sv_mail){
            .from = datagram->from, .arrived_us = datagram->arrived_us, .placed = *placed};
        memcpy(mail->bytes, datagram->bytes, sizeof(mail->bytes));
    }
    pthread_mutex_unlock(&box->lock);
    if (fits)
        hc_sv_worker_wake(other);
    else
        finish_placement(worker, placed); // nobody has admitted it
}

/// Gives a CONNECT to its match, which is the worker's, and ends the placement.
static void receive_placed(struct hc_sv_worker *worker, const struct hc_sv_udp_datagram *datagram,
                           struct hc_sv_placed *placed) {
    struct hc_sv_match *match =
        placed->match != 0 ? find_match(worker, placed->match) : &worker->matches[0];
    HC_ASSERT(match != NULL);
    (void)hc_sv_match_receive_placed(match, datagram, placed);
    hc_sv_match_log_events(match);
    finish_placement(worker, placed);
}

/// Gives a CONNECT whose token names none of the daemon's matches to the one that the placement
/// chooses.
static void place_connect(struct hc_sv_worker *worker, const struct hc_sv_udp_datagram *datagram) {
    struct hc_sv_placed placed;
    place(worker, datagram, &placed);
    if (placed.match == 0 || find_match(worker, placed.match) != NULL)
        receive_placed(worker, datagram, &placed);
    else
        send_mail(worker, datagram, &placed);
}

/// The match that a DATA or a CONNECT names; 0: none of the daemon's. All are of the only match.
static uint16_t named_by(const struct hc_sv_worker *worker,
                         const struct hc_sv_udp_datagram *datagram) {
    const struct hc_sv_match_setting *setting = worker->setting;
    if (setting->placement == NULL)
        return 1;
    return hc_sv_placement_named(setting->options->matches, datagram->bytes, datagram->size);
}

/// Gives a datagram of any lane to its match. Any match answers a HELLO, and DATA of none.
static void receive(struct hc_sv_worker *worker, const struct hc_sv_udp_datagram *datagram) {
    enum hc_datagram_kind kind = hc_datagram_kind(datagram->bytes, datagram->size);
    uint16_t named = named_by(worker, datagram);
    if (kind == HC_DATAGRAM_CONNECT && named == 0) {
        place_connect(worker, datagram);
        return;
    }
    struct hc_sv_match *match = named == 0 ? &worker->matches[0] : find_match(worker, named);
    if (match == NULL)
        return; // a broadcast: the match's worker has its own copy
    enum hc_status status = hc_sv_match_receive(match, datagram);
    match->accepted += status == HC_OK && kind == HC_DATAGRAM_DATA;
    if (kind == HC_DATAGRAM_CONNECT)
        hc_sv_match_log_events(match); // the placement knows the session before the next CONNECT
}

/// Receives a batch of a lane and returns the number of its datagrams.
static unsigned receive_batch(struct hc_sv_worker *worker, enum hc_sv_udp_lane lane) {
    unsigned count = hc_sv_udp_receive(worker->udp, lane);
    for (unsigned i = 0; i < count; i++) {
        struct hc_sv_udp_datagram datagram = hc_sv_udp_received(worker->udp, i);
        receive(worker, &datagram);
    }
    return count;
}

/// Sends the answers of the matches that were given a datagram, and reads their deadlines again;
/// `idle`: only of idle matches, which have no tick to send them. Returns the time.
static uint64_t answer(struct hc_sv_worker *worker, bool idle) {
    uint64_t now = hc_clock_us();
    for (unsigned i = 0; i < worker->count; i++) {
        struct hc_sv_match *match = &worker->matches[i];
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
    for (unsigned i = 0; all > 0 && i < worker->count; i++) {
        struct hc_sv_match *match = &worker->matches[i];
        match->other_us += us * match->accepted / all;
        match->accepted = 0;
    }
}

/// Receives DATA until the lane is empty, it is `end_us`, or the rest arrived after `due_us`, when
/// a tick is due. The rest waits in the receive buffer. Returns the time.
static uint64_t receive_data(struct hc_sv_worker *worker, uint64_t now, uint64_t due_us,
                             uint64_t end_us) {
    unsigned count, all = 0;
    uint64_t begun = now;
    do {
        count = receive_batch(worker, HC_SV_UDP_DATA);
        all += count;
        now = hc_clock_us();
    } while (count == HC_SV_UDP_BATCH && now < end_us &&
             hc_sv_udp_received(worker->udp, count - 1).arrived_us < due_us);
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
    for (unsigned i = 0; i < worker->count; i++) {
        struct hc_sv_match *match = &worker->matches[i];
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
    if (deadline == worker->armed_us && evtimer_pending(worker->timer, NULL))
        return;
    worker->armed_us = deadline;
    hc_loop_arm(worker->timer, deadline, now);
}

/// Starts the next tick's time budget of handshakes, and reads their lanes again.
static void renew_handshake_budget(struct hc_sv_worker *worker) {
    hc_sv_time_budget_renew(&worker->handshake_budget);
    for (unsigned lane = HC_SV_UDP_DATA + 1; lane < HC_SV_UDP_LANES; lane++)
        if (worker->readable[lane] != NULL)
            event_add(worker->readable[lane], NULL);
    event_add(worker->mail, NULL);
}

/// Logs that the wall clock was set, or is right again.
static void log_clock(const struct hc_sv_match_setting *setting) {
    bool stepped;
    int64_t ahead_s;
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

/// Gives the servers the Unix time if it is due; tokens expire by it.
static void set_time(struct hc_sv_worker *worker, uint64_t now) {
    if (hc_since(worker->time_set_us, now) < SET_TIME_EVERY_US)
        return;
    worker->time_set_us = now;
    if (worker->index == 0)
        log_clock(worker->setting);
    for (unsigned i = 0; i < worker->count; i++)
        hc_server_set_time(worker->matches[i].server,
                           hc_sv_wall_clock_bounded_us(worker->setting->wall_clock), now);
    worker->udp_stats = hc_sv_udp_stats(worker->udp);
}

/// Measures the matches' shares of the time. A match counts as loaded by its work's part of the
/// time that the others leave it, which is at least an equal share. So a match that takes more than
/// that leaves work out first, and one alone by its part of all time.
static void share_time(struct hc_sv_worker *worker, uint64_t now) {
    uint64_t all_us = 0, window_us = hc_since(worker->window_us, now);
    if (window_us < WINDOW_US)
        return;
    for (unsigned i = 0; i < worker->count; i++)
        all_us += worker->matches[i].busy_us;
    for (unsigned i = 0; i < worker->count; i++) {
        struct hc_sv_match *match = &worker->matches[i];
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

/// Does what is due for one match at `now`, when its turn begins. True: it had a tick.
static bool run_match(struct hc_sv_worker *worker, struct hc_sv_match *match, uint64_t now) {
    uint64_t begun = hc_clock_us();
    hc_sv_watch_begin(&worker->watch, match->shown, begun);
    bool ticked = hc_sv_match_advance(match, now);
    uint64_t advanced = hc_clock_us();
    uint64_t end = send_all(worker, match, advanced);
    match->advance_us += hc_since(begun, advanced);
    match->send_us += hc_since(advanced, end);
    hc_sv_match_log_events(match);
    hc_sv_match_drop_messages(match);
    if (ticked)
        hc_sv_match_end_tick(match, match->advance_us + match->send_us + match->other_us, now);
    hc_sv_match_renew_deadline(match);
    match->other_us += hc_since(end, hc_clock_us());
    if (ticked)
        note_work(match);
    hc_sv_watch_end(&worker->watch);
    return ticked;
}

/// The match whose deadline comes first and is not after `now`; NULL: none.
static struct hc_sv_match *next_due(struct hc_sv_worker *worker, uint64_t now) {
    struct hc_sv_match *next = NULL;
    for (unsigned i = 0; i < worker->count; i++) {
        struct hc_sv_match *match = &worker->matches[i];
        if (match->deadline_us <= now && (next == NULL || match->deadline_us < next->deadline_us))
            next = match;
    }
    return next;
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
    for (unsigned i = 0; i < worker->count; i++) {
        hc_sv_match_log_troubles(&worker->matches[i], false, now);
        if (!worker->stopping)
            hc_sv_match_renew(&worker->matches[i], &worker->keys, now);
    }
}

/// Whether the worker has nothing left to do: all its matches are closed.
static bool is_done(const struct hc_sv_worker *worker) {
    for (unsigned i = 0; i < worker->count; i++)
        if (!hc_server_closed(worker->matches[i].server))
            return false;
    return worker->stopping;
}

/// Ends the loop. Worker 0 waits for the others, because it serves signals.
static void end_if_done(struct hc_sv_worker *worker) {
    bool now = atomic_load(worker->ends);
    if (!worker->closed && (now || is_done(worker))) {
        worker->closed = true;
        if (atomic_fetch_sub(worker->open, 1) == 1 && worker->index != 0)
            hc_sv_worker_wake(&worker->all[0]);
    }
    if (worker->closed && (now || worker->index != 0 || atomic_load(worker->open) == 0))
        event_base_loopbreak(worker->base);
}

/// Does everything that is due at `now`, and sets the timer to the next deadline.
static void turn(struct hc_sv_worker *worker, uint64_t now) {
    uint64_t begun = now;
    bool ticked = false;
    drain(worker, now);
    (void)answer(worker, true);
    // A match that is due again meanwhile waits for the next turn.
    struct hc_sv_match *match;
    for (unsigned i = 0; i < worker->count && (match = next_due(worker, now)) != NULL; i++) {
        ticked |= run_match(worker, match, begun);
        begun = hc_clock_us();
    }
    end_period(worker, ticked, now);
    hc_sv_log_advance(worker->setting->log);
    set_time(worker, now);
    end_if_done(worker);
    if (!worker->closed)
        arm_timer(worker);
}

/// Ends a callback: unlocks the worker, and lets the daemon do what it does after a turn.
static void leave(struct hc_sv_worker *worker) {
    pthread_mutex_unlock(&worker->lock);
    if (worker->after_turn != NULL)
        worker->after_turn(worker->context, hc_clock_us());
}

static void on_timer(evutil_socket_t descriptor, short events, void *context) {
    struct hc_sv_worker *worker = context;
    (void)descriptor;
    (void)events;
    pthread_mutex_lock(&worker->lock);
    turn(worker, hc_clock_us());
    leave(worker);
}

/// Receives HELLOs and CONNECTs in turn, so that neither delays the other, until both lanes are
/// empty, the timer is due, or their time budget is used up. The rest waits in the receive buffers.
/// A CLOSE that arrived before a CONNECT is read before it, and frees its place. Handshakes are not
/// counted as work: ticks go before them, so a flood of them is no overload.
static void receive_handshakes(struct hc_sv_worker *worker) {
    struct hc_sv_time_budget *budget = &worker->handshake_budget;
    uint64_t now = hc_clock_us(), deadline = worker->armed_us;
    for (unsigned empty = 0; empty < 2 && now < deadline && hc_sv_time_budget_lasts(budget);) {
        receive_data(worker, now, deadline, deadline);
        uint64_t from = thread_cpu_us();
        unsigned count = receive_batch(worker, worker->next_lane);
        now = answer(worker, false);
        hc_sv_time_budget_take(budget, hc_since(from, thread_cpu_us()));
        worker->handshakes += count;
        empty = count < hc_sv_udp_batch(worker->next_lane) ? empty + 1 : 0;
        worker->next_lane =
            worker->next_lane == HC_SV_UDP_CONNECT ? HC_SV_UDP_HELLO : HC_SV_UDP_CONNECT;
    }
    if (!hc_sv_time_budget_lasts(budget)) {
        event_del(worker->readable[HC_SV_UDP_CONNECT]);
        event_del(worker->readable[HC_SV_UDP_HELLO]);
    }
}

static void on_handshake(evutil_socket_t descriptor, short events, void *context) {
    struct hc_sv_worker *worker = context;
    (void)descriptor;
    (void)events;
    pthread_mutex_lock(&worker->lock);
    receive_handshakes(worker);
    // The timer does all else: a look at all clients for each HELLO would cost more than the HELLO.
    for (unsigned i = 0; i < worker->count; i++)
        hc_sv_match_log_events(&worker->matches[i]);
    arm_timer(worker); // an idle match may have begun
    pthread_mutex_unlock(&worker->lock);
}

// ---- Mail ---------------------------------------------------------------------------------------

/// Takes the oldest mail; false: there is none.
static bool take_mail(struct hc_sv_mailbox *box, struct hc_sv_mail *mail) {
    pthread_mutex_lock(&box->lock);
    bool any = box->count > 0;
    if (any) {
        *mail = box->mail[box->first];
        box->first = (box->first + 1) % HC_SV_WORKER_MAIL;
        box->count--;
    }
    pthread_mutex_unlock(&box->lock);
    return any;
}

/// The mailbox has some, or the daemon ends. The rest waits for the next turn of the loop.
static void on_mail(evutil_socket_t descriptor, short events, void *context) {
    struct hc_sv_worker *worker = context;
    struct hc_sv_time_budget *budget = &worker->handshake_budget;
    struct hc_sv_mail mail;
    uint64_t woken;
    (void)events;
    pthread_mutex_lock(&worker->lock);
    ssize_t size = read(descriptor, &woken, sizeof(woken));
    (void)size; // nothing to read: another thread has not written yet
    bool any = true;
    for (unsigned i = 0; i < MAIL_EACH && any && hc_sv_time_budget_lasts(budget); i++) {
        uint64_t from = thread_cpu_us();
        any = take_mail(&worker->mailbox, &mail);
        if (!any)
            break;
        struct hc_sv_udp_datagram datagram = {.bytes = mail.bytes,
                                              .size = sizeof(mail.bytes),
                                              .from = mail.from,
                                              .arrived_us = mail.arrived_us};
        receive_placed(worker, &datagram, &mail.placed);
        (void)answer(worker, false);
        hc_sv_time_budget_take(budget, hc_since(from, thread_cpu_us()));
    }
    if (any)
        hc_sv_worker_wake(worker);
    if (any && !hc_sv_time_budget_lasts(budget))
        event_del(worker->mail);
    turn(worker, hc_clock_us());
    leave(worker);
}

void hc_sv_worker_wake(struct hc_sv_worker *worker) {
    uint64_t one = 1;
    ssize_t size = write(worker->mailbox.wake, &one, sizeof(one));
    (void)size; // it only fails if it is awake anyway
}

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

bool hc_sv_worker_open(struct hc_sv_worker *worker, struct event_base *base,
                       const struct hc_token_ring *keys) {
    worker->base = base;
    worker->keys = *keys;
    worker->next_lane = HC_SV_UDP_CONNECT;
    worker->handshake_budget.limit_us = tick_us(worker) / HANDSHAKE_FRACTION;
    worker->mailbox.wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    pthread_mutex_init(&worker->lock, NULL);
    pthread_mutex_init(&worker->mailbox.lock, NULL);
    return worker->mailbox.wake >= 0 && open_matches(worker);
}

/// Plans the readings of the DATA lane, which has received nothing yet.
static void begin_drains(struct hc_sv_worker *worker) {
    worker->drain_size = hc_sv_udp_capacity(worker->udp) / DRAIN_CAPACITY;
    if (worker->drain_size < 1)
        worker->drain_size = 1;
    if (worker->drain_size > HC_SV_UDP_BATCH)
        worker->drain_size = HC_SV_UDP_BATCH;
    plan_drains(worker);
}

bool hc_sv_worker_watch(struct hc_sv_worker *worker) {
    for (enum hc_sv_udp_lane lane = HC_SV_UDP_DATA + 1; lane < HC_SV_UDP_LANES; lane++) {
        int descriptor = hc_sv_udp_descriptor(worker->udp, lane);
        if (descriptor < 0)
            continue;
        worker->readable[lane] =
            event_new(worker->base, descriptor, EV_READ | EV_PERSIST, on_handshake, worker);
        if (!hc_loop_add(worker->readable[lane]))
            return false;
    }
    worker->mail =
        event_new(worker->base, worker->mailbox.wake, EV_READ | EV_PERSIST, on_mail, worker);
    worker->timer = evtimer_new(worker->base, on_timer, worker);
    begin_drains(worker);
    return hc_loop_add(worker->mail) && worker->timer != NULL;
}

void hc_sv_worker_begin(struct hc_sv_worker *worker) {
    uint64_t now = worker->setting->began_us;
    worker->period_us = worker->window_us = now;
    for (unsigned i = 0; i < worker->count; i++)
        hc_sv_match_begin(&worker->matches[i], now);
    // The first turn runs inside the loop, so that it can break the loop.
    event_active(worker->timer, EV_TIMEOUT, 0);
}

void hc_sv_worker_close(struct hc_sv_worker *worker) {
    for (unsigned lane = 0; lane < HC_SV_UDP_LANES; lane++)
        hc_loop_free_event(worker->readable[lane]);
    hc_loop_free_event(worker->timer);
    hc_loop_free_event(worker->mail);
    for (unsigned i = 0; worker->matches != NULL && i < worker->count; i++)
        hc_sv_match_close(&worker->matches[i]);
    free(worker->matches);
    if (worker->mailbox.wake >= 0)
        close(worker->mailbox.wake);
    hc_sv_udp_close(worker->udp);
    pthread_mutex_destroy(&worker->mailbox.lock);
    pthread_mutex_destroy(&worker->lock);
}

// ---- From any thread ----------------------------------------------------------------------------

void hc_sv_worker_stop(struct hc_sv_worker *worker, bool restarts, uint64_t now_us) {
    pthread_mutex_lock(&worker->lock);
    worker->stopping = true;
    for (unsigned i = 0; i < worker->count; i++) {
        struct hc_sv_match *match = &worker->matches[i];
        if (restarts)
            hc_server_restart(match->server, worker->setting->options->restart_s, now_us);
        else
            hc_server_shutdown(match->server, now_us);
        match->touched = true;
    }
    pthread_mutex_unlock(&worker->lock);
    hc_sv_worker_wake(worker);
}

void hc_sv_worker_set_keys(struct hc_sv_worker *worker, const struct hc_token_ring *keys) {
    pthread_mutex_lock(&worker->lock);
    worker->keys = *keys;
    for (unsigned i = 0; i < worker->count; i++)
        (void)hc_server_set_keys(worker->matches[i].server, keys); // the file has one or two
    pthread_mutex_unlock(&worker->lock);
}

void hc_sv_worker_set_refused(struct hc_sv_worker *worker, const uint64_t *client_ids,
                              uint32_t count, uint64_t not_before_s, uint64_t now_us) {
    pthread_mutex_lock(&worker->lock);
    for (unsigned i = 0; i < worker->count; i++) {
        struct hc_sv_match *match = &worker->matches[i];
        enum hc_status status =
            hc_server_set_refused(match->server, client_ids, count, not_before_s, now_us);
        HC_ASSERT(status == HC_OK);
        match->touched = true;
    }
    pthread_mutex_unlock(&worker->lock);
    hc_sv_worker_wake(worker);
}

unsigned hc_sv_worker_clients(struct hc_sv_worker *worker) {
    unsigned count = 0;
    pthread_mutex_lock(&worker->lock);
    for (unsigned i = 0; i < worker->count; i++)
        count += hc_server_clients(worker->matches[i].server);
    pthread_mutex_unlock(&worker->lock);
    return count;
}

void hc_sv_worker_add_to_report(struct hc_sv_worker *worker, struct hc_sv_report *report,
                                struct hc_server_stats *stats, struct hc_timeline_stats *timeline,
                                json_t **matches) {
    pthread_mutex_lock(&worker->lock);
    struct hc_sv_udp_stats udp = hc_sv_udp_stats(worker->udp);
    report->udp.sorted |= udp.sorted;
    report->udp.send_errors += udp.send_errors;
    report->udp.receive_drops += udp.receive_drops;
    report->udp.handshake_drops += udp.handshake_drops;
    report->handshakes += worker->handshakes;
    hc_histogram_merge(&report->handshake_budget.ticks_us, &worker->handshake_budget.ticks_us);
    for (unsigned i = 0; i < worker->count; i++) {
        const struct hc_sv_match *match = &worker->matches[i];
        hc_sv_match_add_to_report(match, report, stats, timeline);
        if (matches != NULL)
            matches[match->number - 1] = hc_sv_match_report(match);
    }
    pthread_mutex_unlock(&worker->lock);
}
