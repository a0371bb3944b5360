/// Owns the reading of the owner's files, and the thread and the pipe that bring a file to the
/// loop.
#define _GNU_SOURCE // O_CLOEXEC, pipe2

#include "server/daemon/owner_file.h"

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
#include <sys/stat.h>
#include <unistd.h>

enum {
    WHY_MAX = 4500, ///< bytes of a sentence with a path
    MODE_ALL = 0777,
    READ_END = 0,
    WRITE_END = 1,
    JOB_SIZE = sizeof(void *), ///< of the job's address in the pipe
};

/// One reading. The thread owns it until it writes the job's address into the pipe, then the loop.
struct job {
    const struct hc_sv_owner_file_kind *kind;
    char *path;
    int done;             ///< the job's own descriptor of the pipe
    atomic_bool finished; ///< the thread has written all other members
    bool good;
    char why[WHY_MAX];
    _Alignas(max_align_t) unsigned char out[];
};

struct hc_sv_owner_file_reader {
    const struct hc_sv_owner_file_kind *kind;
    const char *path;
    hc_sv_owner_file_done *done;
    void *context;
    struct timeval slow;
    int ends[2];
    struct event *readable, *timer;
    bool busy, again;
};

// ---- Reading ------------------------------------------------------------------------------------

/// Reads at most `size` bytes and returns their number; -1: failed.
static ssize_t read_up_to(int descriptor, char *text, size_t size) {
    size_t at = 0;
    while (at < size) {
        ssize_t count = read(descriptor, text + at, size - at);
        if (count == 0)
            break;
        if (count > 0)
            at += (size_t)count;
        else if (errno != EINTR)
            return -1;
    }
    return (ssize_t)at;
}

/// Reads the text and parses it. Returns NULL, or the fault; "": the parser has put it in `why`.
static const char *read_text(const struct hc_sv_owner_file_kind *kind, int descriptor,
                             struct hc_sv_owner_file *file, void *out, char *why, size_t why_size) {
    file->text = malloc(HC_SV_OWNER_FILE_MAX + 1);
    if (file->text == NULL)
        return "there is no memory to read it";
    ssize_t size = read_up_to(descriptor, file->text, HC_SV_OWNER_FILE_MAX + 1);
    const char *wrong = NULL;
    if (size < 0)
        wrong = "cannot be read";
    else if (size > HC_SV_OWNER_FILE_MAX)
        wrong = "is larger than 4 MiB";
    else if (memchr(file->text, 0, (size_t)size) != NULL)
        wrong = "is no text";
    else {
        file->text[size] = 0;
        wrong = kind->parse(file, out, why, why_size) ? NULL : "";
    }
    if (size > 0)
        sodium_memzero(file->text, (size_t)size);
    free(file->text);
    return wrong;
}

bool hc_sv_owner_file_read(const struct hc_sv_owner_file_kind *kind, const char *path, void *out,
                           char *why, size_t why_size) {
    struct hc_sv_owner_file file = {.path = path};
    struct stat status;
    const char *wrong = NULL;
    // Without O_NONBLOCK, opening a pipe would wait for a writer.
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    memset(out, 0, kind->size);
    if (descriptor < 0)
        wrong = strerror(errno);
    else if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode))
        wrong = "is no regular file";
    else {
        file.owner = status.st_uid;
        file.mode = status.st_mode & MODE_ALL;
        wrong = read_text(kind, descriptor, &file, out, why, why_size);
    }
    if (wrong != NULL && wrong[0] != 0)
        snprintf(why, why_size, "%s '%s': %s", kind->option, path, wrong);
    if (descriptor >= 0)
        close(descriptor);
    if (wrong != NULL)
        sodium_memzero(out, kind->size);
    return wrong == NULL;
}

// ---- The thread ---------------------------------------------------------------------------------

static void free_job(struct job *job) {
    free(job->path);
    sodium_memzero(job, sizeof *job + job->kind->size);
    free(job);
}

static void *run(void *argument) {
    struct job *job = argument;
    int done = job->done;
    job->good = hc_sv_owner_file_read(job->kind, job->path, job->out, job->why, sizeof job->why);
    ssize_t written;
    atomic_store(&job->finished, true);
    do
        written = write(done, &job, JOB_SIZE);
    while (written < 0 && errno == EINTR);
    if (written != JOB_SIZE) // the reader is closed
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

/// Starts a reading; false: no memory, descriptor or thread.
static bool begin_reading(struct hc_sv_owner_file_reader *reader) {
    struct job *job = calloc(1, sizeof *job + reader->kind->size);
    if (job == NULL)
        return false;
    job->kind = reader->kind;
    job->path = strdup(reader->path);
    job->done = fcntl(reader->ends[WRITE_END], F_DUPFD_CLOEXEC, 0);
    if (job->path == NULL || job->done < 0 || !begin(job)) {
        if (job->done >= 0)
            close(job->done);
        free_job(job);
        return false;
    }
    return true;
}

// ---- The reader ---------------------------------------------------------------------------------

void hc_sv_owner_file_reader_start(struct hc_sv_owner_file_reader *reader) {
    char why[WHY_MAX];
    reader->again = reader->busy;
    if (reader->busy)
        return;
    reader->busy = begin_reading(reader);
    if (reader->busy) {
        evtimer_add(reader->timer, &reader->slow);
        return;
    }
    snprintf(why, sizeof why, "%s '%s': there is no thread to read it", reader->kind->option,
             reader->path);
    reader->done(reader->context, HC_SV_OWNER_FILE_REFUSED, NULL, why);
}

static void on_done(evutil_socket_t descriptor, short events, void *context) {
    struct hc_sv_owner_file_reader *reader = context;
    struct job *job;
    (void)events;
    if (read(descriptor, &job, JOB_SIZE) != JOB_SIZE)
        return;
    HC_ASSERT(atomic_load(&job->finished));
    reader->busy = false;
    evtimer_del(reader->timer);
    if (job->good)
        reader->done(reader->context, HC_SV_OWNER_FILE_READ, job->out, NULL);
    else
        reader->done(reader->context, HC_SV_OWNER_FILE_REFUSED, NULL, job->why);
    free_job(job);
    if (reader->again)
        hc_sv_owner_file_reader_start(reader);
}

static void on_slow(evutil_socket_t descriptor, short events, void *context) {
    struct hc_sv_owner_file_reader *reader = context;
    (void)descriptor;
    (void)events;
    reader->done(reader->context, HC_SV_OWNER_FILE_SLOW, NULL, NULL);
}

struct hc_sv_owner_file_reader *
hc_sv_owner_file_reader_open(struct event_base *base, const struct hc_sv_owner_file_kind *kind,
                             const char *path, unsigned slow_ms, hc_sv_owner_file_done *done,
                             void *context) {
    struct hc_sv_owner_file_reader *reader = calloc(1, sizeof *reader);
    if (reader == NULL)
        return NULL;
    *reader = (struct hc_sv_owner_file_reader){.kind = kind,
                                               .path = path,
                                               .done = done,
                                               .context = context,
                                               .slow = hc_clock_span((uint64_t)slow_ms * 1000),
                                               .ends = {-1, -1}};
    if (pipe2(reader->ends, O_CLOEXEC | O_NONBLOCK) == 0) {
        reader->readable =
            event_new(base, reader->ends[READ_END], EV_READ | EV_PERSIST, on_done, reader);
        reader->timer = evtimer_new(base, on_slow, reader);
    }
    if (reader->readable == NULL || reader->timer == NULL ||
        event_add(reader->readable, NULL) != 0) {
        hc_sv_owner_file_reader_close(reader);
        return NULL;
    }
    return reader;
}

void hc_sv_owner_file_reader_close(struct hc_sv_owner_file_reader *reader) {
    struct job *job;
    if (reader == NULL)
        return;
    if (reader->ends[READ_END] >= 0 && read(reader->ends[READ_END], &job, JOB_SIZE) == JOB_SIZE &&
        atomic_load(&job->finished))
        free_job(job);
    if (reader->readable != NULL)
        event_free(reader->readable);
    if (reader->timer != NULL)
        event_free(reader->timer);
    for (unsigned i = 0; i < 2; i++)
        if (reader->ends[i] >= 0)
            close(reader->ends[i]);
    free(reader);
}
