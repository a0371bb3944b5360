/// Owns the thread of a piece of work, and the pipe that brings its result to the loop.
#define _GNU_SOURCE // O_CLOEXEC, pipe2

#include "server/daemon/background.h"

#include "common/programs/clock.h"
#include "hindcast/check.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sodium.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    READ_END = 0,
    WRITE_END = 1,
    JOB_SIZE = sizeof(void *), ///< of the job's address in the pipe
};

/// One piece of work. The thread owns it until it writes the job's address into the pipe, then the
/// loop.
struct job {
    struct hc_sv_background_work work; ///< with the job's own order
    void *order, *out;                 ///< owned
    int done;                          ///< the job's own descriptor of the pipe
    atomic_bool finished;              ///< the thread has written all other members
    bool good;
    char why[HC_SV_BACKGROUND_WHY_MAX];
};

struct hc_sv_background {
    struct hc_sv_background_work work;
    hc_sv_background_done *done;
    void *context;
    struct timeval slow;
    int ends[2];
    struct event *readable, *timer;
    bool busy, again;
};

// ---- The thread ---------------------------------------------------------------------------------

static void free_job(struct job *job) {
    if (job->order != NULL)
        sodium_memzero(job->order, job->work.order_size);
    if (job->out != NULL)
        sodium_memzero(job->out, job->work.out_size);
    free(job->order);
    free(job->out);
    free(job);
}

static void *run(void *argument) {
    struct job *job = argument;
    int done = job->done;
    job->good = job->work.run(job->order, job->out, job->why, sizeof job->why);
    ssize_t written;
    atomic_store(&job->finished, true);
    do
        written = write(done, &job, JOB_SIZE);
    while (written < 0 && errno == EINTR);
    if (written != JOB_SIZE) // the place is closed
        free_job(job);
    close(done);
    return NULL;
}

/// Starts a thread that receives no signals; false: failed.
static bool begin(struct job *job) {
    sigset_t all, before;
    pthread_attr_t attributes;
    pthread_t thread;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool begun = pthread_create(&thread, &attributes, run, job) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return begun;
}

/// A job of the work, with a descriptor of its own; NULL: no memory or no descriptor.
static struct job *create_job(const struct hc_sv_background *background) {
    struct job *job = calloc(1, sizeof *job);
    if (job == NULL)
        return NULL;
    job->work = background->work;
    job->order = malloc(job->work.order_size);
    job->out = calloc(1, job->work.out_size);
    job->done = fcntl(background->ends[WRITE_END], F_DUPFD_CLOEXEC, 0);
    if (job->order != NULL)
        memcpy(job->order, background->work.order, job->work.order_size);
    if (job->order != NULL && job->out != NULL && job->done >= 0)
        return job;
    if (job->done >= 0)
        close(job->done);
    free_job(job);
    return NULL;
}

// ---- The loop -----------------------------------------------------------------------------------

void hc_sv_background_start(struct hc_sv_background *background) {
    background->again = background->busy;
    if (background->busy)
        return;
    struct job *job = create_job(background);
    background->busy = job != NULL && begin(job);
    if (background->busy) {
        evtimer_add(background->timer, &background->slow);
        return;
    }
    if (job != NULL) {
        close(job->done);
        free_job(job);
    }
    background->done(background->context, HC_SV_BACKGROUND_FAILED, NULL,
                     "there is no thread to read it");
}

bool hc_sv_background_runs(const struct hc_sv_background *background) {
    return background->busy;
}

static void on_done(evutil_socket_t descriptor, short events, void *context) {
    struct hc_sv_background *background = context;
    struct job *job;
    (void)events;
    if (read(descriptor, &job, JOB_SIZE) != JOB_SIZE)
        return;
    HC_ASSERT(atomic_load(&job->finished));
    background->busy = false;
    evtimer_del(background->timer);
    if (job->good)
        background->done(background->context, HC_SV_BACKGROUND_DONE, job->out, NULL);
    else
        background->done(background->context, HC_SV_BACKGROUND_FAILED, NULL, job->why);
    free_job(job);
    if (background->again)
        hc_sv_background_start(background);
}

static void on_slow(evutil_socket_t descriptor, short events, void *context) {
    struct hc_sv_background *background = context;
    (void)descriptor;
    (void)events;
    background->done(background->context, HC_SV_BACKGROUND_SLOW, NULL, NULL);
}

struct hc_sv_background *hc_sv_background_open(struct event_base *base,
                                               const struct hc_sv_background_work *work,
                                               unsigned slow_ms, hc_sv_background_done *done,
                                               void *context) {
    struct hc_sv_background *background = calloc(1, sizeof *background);
    if (background == NULL)
        return NULL;
    *background = (struct hc_sv_background){.work = *work,
                                            .done = done,
                                            .context = context,
                                            .slow = hc_clock_span((uint64_t)slow_ms * 1000),
                                            .ends = {-1, -1}};
    if (pipe2(background->ends, O_CLOEXEC | O_NONBLOCK) == 0) {
        background->readable =
            event_new(base, background->ends[READ_END], EV_READ | EV_PERSIST, on_done, background);
        background->timer = evtimer_new(base, on_slow, background);
    }
    if (background->readable == NULL || background->timer == NULL ||
        event_add(background->readable, NULL) != 0) {
        hc_sv_background_close(background);
        return NULL;
    }
    return background;
}

void hc_sv_background_close(struct hc_sv_background *background) {
    struct job *job;
    if (background == NULL)
        return;
    if (background->ends[READ_END] >= 0 &&
        read(background->ends[READ_END], &job, JOB_SIZE) == JOB_SIZE && atomic_load(&job->finished))
        free_job(job);
    if (background->readable != NULL)
        event_free(background->readable);
    if (background->timer != NULL)
        event_free(background->timer);
    for (unsigned i = 0; i < 2; i++)
        if (background->ends[i] >= 0)
            close(background->ends[i]);
    free(background);
}
