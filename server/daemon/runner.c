/// Owns the threads of workers: the present one, and those that hang in a match.
#define _GNU_SOURCE

#include "server/daemon/runner.h"

#include "common/programs/crash.h"
#include "common/programs/loop.h"
#include "common/programs/thread.h"

#include <stdlib.h>

static void *run(void *context) {
    struct hc_sv_runner *runner = context;
    hc_crash_watch_thread();
    runner->watch.thread = pthread_self();
    while (sem_wait(&runner->start) != 0)
        ;
    if (!runner->goes)
        return NULL;
    event_base_dispatch(runner->base);
    runner->calls->end(runner->worker);
    return NULL;
}

/// Registers the events that wake the worker; false: no memory.
static bool watch(struct hc_sv_runner *runner) {
    struct hc_sv_worker *worker = runner->worker;
    struct event_base *base = runner->base;
    for (unsigned i = 0; i < runner->doors->count; i++)
        for (unsigned lane = HC_SV_DOOR_DATA + 1; lane < HC_SV_DOOR_LANES; lane++) {
            int descriptor = runner->doors->all[i]->descriptors[lane];
            if (descriptor < 0)
                continue;
            runner->readable[i][lane] =
                event_new(base, descriptor, EV_READ | EV_PERSIST, runner->calls->handshake, worker);
            if (!hc_loop_add(runner->readable[i][lane]))
                return false;
        }
    runner->mail =
        event_new(base, worker->mailbox.wake, EV_READ | EV_PERSIST, runner->calls->mail, worker);
    runner->timer = evtimer_new(base, runner->calls->timer, worker);
    return hc_loop_add(runner->mail) && runner->timer != NULL;
}

void hc_sv_runner_close(struct hc_sv_runner *runner) {
    if (runner == NULL)
        return;
    for (unsigned i = 0; i < HC_SV_DOORS_MAX; i++)
        for (unsigned lane = 0; lane < HC_SV_DOOR_LANES; lane++)
            hc_loop_free_event(runner->readable[i][lane]);
    hc_loop_free_event(runner->timer);
    hc_loop_free_event(runner->mail);
    hc_loop_free(runner->base);
    hc_sv_doors_close(runner->doors);
    sem_destroy(&runner->start);
    free(runner);
}

/// A runner that takes over `doors` (NULL: they could not be had). NULL: no memory or no
/// descriptors.
static struct hc_sv_runner *create(struct hc_sv_worker *worker, struct hc_sv_doors *doors,
                                   const struct hc_sv_runner_calls *calls) {
    struct hc_sv_runner *runner = doors != NULL ? calloc(1, sizeof(*runner)) : NULL;
    if (runner == NULL) {
        hc_sv_doors_close(doors);
        return NULL;
    }
    runner->worker = worker;
    runner->doors = doors;
    runner->calls = calls;
    sem_init(&runner->start, 0, 0);
    runner->base = hc_loop_create();
    if (runner->base == NULL || !watch(runner)) {
        hc_sv_runner_close(runner);
        return NULL;
    }
    // The first turn runs inside the loop, so that it can break the loop.
    event_active(runner->timer, EV_TIMEOUT, 0);
    return runner;
}

/// Makes a runner the worker's.
static void use(struct hc_sv_worker *worker, struct hc_sv_runner *runner) {
    worker->runner = runner;
    for (unsigned i = 0; i < worker->count; i++)
        worker->matches[i].watch = &runner->watch;
}

bool hc_sv_runner_open(struct hc_sv_worker *worker, struct hc_sv_doors *doors,
                       const struct hc_sv_runner_calls *calls) {
    struct hc_sv_runner *runner = create(worker, doors, calls);
    if (runner != NULL)
        use(worker, runner);
    return runner != NULL;
}

bool hc_sv_runner_start(struct hc_sv_runner *runner) {
    runner->goes = hc_thread_start(&runner->thread, run, runner);
    sem_post(&runner->start);
    return runner->goes;
}

// ---- Runners that hang --------------------------------------------------------------------------

bool hc_sv_runner_replace(struct hc_sv_worker *worker, uint64_t since_us) {
    struct hc_sv_runner *former = worker->runner;
    struct hc_sv_runner *runner = create(worker, hc_sv_doors_share(former->doors), former->calls);
    if (runner == NULL)
        return false;
    bool begun = hc_thread_start(&runner->thread, run, runner);
    runner->goes = begun && hc_sv_watch_take(&former->watch, since_us);
    if (!runner->goes) {
        sem_post(&runner->start);
        if (begun)
            pthread_join(runner->thread, NULL);
        hc_sv_runner_close(runner);
        return false;
    }
    former->away = hc_sv_worker_match(worker->all, atomic_load(&former->watch.match));
    former->stuck.since_us = since_us;
    former->away->stuck = &former->stuck;
    former->away->away = true;
    atomic_store(&former->away->back, false);
    hc_sv_doors_go_on(runner->doors, former->doors);
    runner->former = former;
    use(worker, runner);
    sem_post(&runner->start);
    return true;
}

/// Whether nobody uses the call of a runner any more, whose thread has left its match. If it has
/// returned soon, the match is back, and its worker must have taken it.
static bool is_settled(struct hc_sv_runner *runner) {
    struct hc_sv_worker *worker = runner->worker;
    int fate = HC_SV_STUCK_WAITS;
    if (atomic_compare_exchange_strong(&runner->stuck.fate, &fate, HC_SV_STUCK_RETURNED)) {
        atomic_store(&runner->away->back, true);
        hc_sv_mailbox_wake(&worker->mailbox);
        return false;
    }
    bool used = fate == HC_SV_STUCK_LEFT || fate == HC_SV_STUCK_RETURNED;
    return !used || atomic_load(&worker->closed);
}

void hc_sv_runner_collect(struct hc_sv_worker *worker,
                          bool (*returned)(void *context, const struct hc_sv_runner *runner),
                          void *context) {
    struct hc_sv_runner *runner;
    for (struct hc_sv_runner **at = &worker->runner->former; (runner = *at) != NULL;) {
        if (!atomic_load(&runner->watch.left) || !is_settled(runner) ||
            !returned(context, runner)) {
            at = &runner->former;
            continue;
        }
        *at = runner->former;
        pthread_join(runner->thread, NULL);
        hc_sv_npcs_destroy(runner->stuck.npcs); // of a world that was left
        hc_server_destroy(runner->stuck.server);
        if (runner->stuck.server != NULL)
            atomic_fetch_sub(&runner->away->left_worlds, 1);
        hc_sv_runner_close(runner);
    }
}
