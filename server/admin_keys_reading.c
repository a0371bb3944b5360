/// Owns the thread that reads the key file, and its way back to the event loop.
#define _GNU_SOURCE // pipe2

#include "server/admin_keys_reading.h"

#include "hindcast/check.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sodium.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    WHY_MAX = 4500,
    PATH_MAX_SIZE = 4096,
    READ_END = 0,
    WRITE_END = 1,
    JOB_SIZE = sizeof(void *), ///< of the address that goes through the pipe
};

/// One reading: the thread's until it has written its address into the pipe, then the loop's.
struct job {
    char path[PATH_MAX_SIZE];
    hc_sv_admin_keys_reader *reader;
    int done;             ///< a descriptor of the job's own
    atomic_bool finished; ///< the thread has written all else
    bool good;
    struct hc_token_ring keys;
    char why[WHY_MAX];
};

struct hc_sv_admin_keys_reading {
    const char *path;
    hc_sv_admin_keys_reader *reader;
    hc_sv_admin_keys_done *done;
    void *context;
    struct timeval slow;
    int ends[2];
    struct event *readable, *timer;
    bool busy, again;
};

static void free_job(struct job *job) {
    sodium_memzero(job, sizeof *job);
    free(job);
}

static void *run(void *argument) {
    struct job *job = argument;
    int done = job->done;
    job->good = job->reader(job->path, &job->keys, job->why, sizeof job->why);
    ssize_t written;
    atomic_store(&job->finished, true);
    do
        written = write(done, &job, JOB_SIZE);
    while (written < 0 && errno == EINTR);
    if (written != JOB_SIZE) // the loop is gone
        free_job(job);
    close(done);
    return NULL;
}

/// A thread that takes no signal; false: there is none.
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

bool hc_sv_admin_keys_reading_start(struct hc_sv_admin_keys_reading *reading) {
    reading->again = reading->busy;
    if (reading->busy)
        return true;
    struct job *job = calloc(1, sizeof *job);
    size_t length = strlen(reading->path);
    if (job == NULL || length >= sizeof job->path) {
        free(job);
        return false;
    }
    memcpy(job->path, reading->path, length + 1);
    job->reader = reading->reader;
    job->done = fcntl(reading->ends[WRITE_END], F_DUPFD_CLOEXEC, 0);
    if (job->done < 0 || !begin(job)) {
        if (job->done >= 0)
            close(job->done);
        free(job);
        return false;
    }
    reading->busy = true;
    evtimer_add(reading->timer, &reading->slow);
    return true;
}

static void on_done(evutil_socket_t descriptor, short what, void *context) {
    struct hc_sv_admin_keys_reading *reading = context;
    struct job *job;
    (void)what;
    if (read(descriptor, &job, JOB_SIZE) != JOB_SIZE)
        return;
    HC_ASSERT(atomic_load(&job->finished));
    reading->busy = false;
    evtimer_del(reading->timer);
    if (job->good)
        reading->done(reading->context, HC_SV_ADMIN_KEYS_READ, &job->keys, NULL);
    else
        reading->done(reading->context, HC_SV_ADMIN_KEYS_REFUSED, NULL, job->why);
    free_job(job);
    if (reading->again && !hc_sv_admin_keys_reading_start(reading))
        reading->done(reading->context, HC_SV_ADMIN_KEYS_REFUSED, NULL,
                      "no thread can be had to read the keys");
}

static void on_slow(evutil_socket_t descriptor, short what, void *context) {
    struct hc_sv_admin_keys_reading *reading = context;
    (void)descriptor;
    (void)what;
    reading->done(reading->context, HC_SV_ADMIN_KEYS_SLOW, NULL, NULL);
}

struct hc_sv_admin_keys_reading *
hc_sv_admin_keys_reading_open(struct event_base *base, const char *path,
                              hc_sv_admin_keys_reader *reader, unsigned slow_ms,
                              hc_sv_admin_keys_done *done, void *context) {
    struct hc_sv_admin_keys_reading *reading = calloc(1, sizeof *reading);
    if (reading == NULL)
        return NULL;
    *reading = (struct hc_sv_admin_keys_reading){
        .path = path,
        .reader = reader,
        .done = done,
        .context = context,
        .slow = {.tv_sec = slow_ms / 1000, .tv_usec = slow_ms % 1000 * 1000},
        .ends = {-1, -1}};
    if (pipe2(reading->ends, O_CLOEXEC | O_NONBLOCK) == 0) {
        reading->readable =
            event_new(base, reading->ends[READ_END], EV_READ | EV_PERSIST, on_done, reading);
        reading->timer = evtimer_new(base, on_slow, reading);
    }
    if (reading->readable == NULL || reading->timer == NULL ||
        event_add(reading->readable, NULL) != 0) {
        hc_sv_admin_keys_reading_close(reading);
        return NULL;
    }
    return reading;
}

void hc_sv_admin_keys_reading_close(struct hc_sv_admin_keys_reading *reading) {
    struct job *job;
    if (reading == NULL)
        return;
    if (reading->ends[READ_END] >= 0 && read(reading->ends[READ_END], &job, JOB_SIZE) == JOB_SIZE &&
        atomic_load(&job->finished))
        free_job(job);
    if (reading->readable != NULL)
        event_free(reading->readable);
    if (reading->timer != NULL)
        event_free(reading->timer);
    for (unsigned i = 0; i < 2; i++)
        if (reading->ends[i] >= 0)
            close(reading->ends[i]);
    free(reading);
}
