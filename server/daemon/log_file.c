/// Owns the thread that writes the log's file.
#define _GNU_SOURCE // pipe2, O_CLOEXEC

#include "server/daemon/log_file.h"

#include "common/elapsed.h"
#include "common/programs/clock.h"
#include "common/programs/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PATH_SIZE = 4096,
    BUFFER_SIZE = 2 * HC_SV_LOG_BUFFER, ///< more than the longest line
    RETRY_MS = 200,                     ///< between two writes that fail, such as to a full disk
    OPEN_MS = 3000,                     ///< the longest wait for the first open
    WAIT_EACH_US = 5000,                ///< between two checks whether the thread has ended
    MODE = 0640,
    READ_END = 0,
    WRITE_END = 1,
};

struct hc_sv_log_file {
    int ends[2], wake; ///< the pipe, and an eventfd that wakes the thread
    pthread_t thread;
    int descriptor; ///< the thread's file
    atomic_bool ends_soon, ended;
    bool first;           ///< the thread begins with the first open, which the caller awaits
    int cause;            ///< of a failed first open; 0: it is open
    atomic_bool answered; ///< the first open has succeeded or failed
    pthread_mutex_t lock;
    bool reopens;          ///< locked: the thread is to open `path`
    struct hc_sv_log *log; ///< locked: the log that is told of it
    char path[PATH_SIZE];  ///< locked
    size_t used;           ///< bytes in `buffer`
    char buffer[BUFFER_SIZE];
};

/// Opens a file; a pipe without a reader is refused (ENXIO). -1: failed, see errno.
static int open_at(const char *path) {
    const int flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY;
    int descriptor = open(path, flags | O_NONBLOCK, MODE);
    if (descriptor >= 0)
        (void)fcntl(descriptor, F_SETFL, O_APPEND); // the thread may wait
    return descriptor;
}

/// Writes the reason why a file cannot be opened.
static void explain(const char *path, int cause, char *why, size_t why_size) {
    snprintf(why, why_size, "--log-file '%s': %s", path,
             cause == ENXIO ? "is a pipe or a device that nobody reads" : strerror(cause));
}

// ---- The thread ---------------------------------------------------------------------------------

/// Whether two descriptors are of one file.
static bool is_same(int one, int other) {
    struct stat a, b;
    return fstat(one, &a) == 0 && fstat(other, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

/// Opens the file anew if the thread is to. True: it is another file than before.
static bool reopen(struct hc_sv_log_file *file) {
    char path[PATH_SIZE], why[PATH_SIZE + 100];
    pthread_mutex_lock(&file->lock);
    bool reopens = file->reopens;
    struct hc_sv_log *log = file->log;
    memcpy(path, file->path, sizeof(path));
    file->reopens = false;
    pthread_mutex_unlock(&file->lock);
    if (!reopens)
        return false;
    int descriptor = open_at(path);
    if (descriptor < 0) {
        explain(path, errno, why, sizeof(why));
        hc_sv_log_event(log, HC_SV_LOG_ERROR, "log-file-refused", json_pack("{s:s}", "why", why));
        return false;
    }
    bool other = !is_same(file->descriptor, descriptor);
    close(file->descriptor);
    file->descriptor = descriptor;
    hc_sv_log_event(log, HC_SV_LOG_INFO, "log-reopened", json_pack("{s:s}", "file", path));
    return other;
}

/// The begin of the line that has the byte at `at`.
static size_t line_begin(const struct hc_sv_log_file *file, size_t at) {
    const char *last = memrchr(file->buffer, '\n', at);
    return last != NULL ? (size_t)(last - file->buffer) + 1 : 0;
}

/// Waits until the thread is woken, or for `wait_ms` (-1: without end).
static void wait_for(struct hc_sv_log_file *file, bool reads, int wait_ms) {
    struct pollfd states[2] = {{.fd = file->wake, .events = POLLIN},
                               {.fd = file->ends[READ_END], .events = POLLIN}};
    uint64_t count;
    if (poll(states, reads ? 2 : 1, wait_ms) > 0 && (states[0].revents & POLLIN) != 0) {
        ssize_t size = read(file->wake, &count, sizeof(count));
        (void)size; // only this thread reads it
    }
}

/// Writes `size` bytes of the buffer, and tries again if the file does not take them. At the end it
/// gives up.
static void write_out(struct hc_sv_log_file *file, size_t size) {
    size_t at = 0;
    while (at < size) {
        ssize_t written = write(file->descriptor, file->buffer + at, size - at);
        if (written > 0)
            at += (size_t)written;
        else if (written < 0 && errno == EINTR)
            continue;
        else if (atomic_load(&file->ends_soon))
            break;
        else {
            wait_for(file, false, RETRY_MS);
            if (reopen(file)) // it may be on another disk, and begins with a whole line
                at = line_begin(file, at);
        }
    }
    file->used -= size;
    memmove(file->buffer, file->buffer + size, file->used);
}

/// The bytes of whole lines in the buffer; all of a line that is longer.
static size_t whole_lines(const struct hc_sv_log_file *file) {
    const char *last = memrchr(file->buffer, '\n', file->used);
    if (last != NULL)
        return (size_t)(last - file->buffer) + 1;
    return file->used == BUFFER_SIZE ? file->used : 0;
}

/// The first open; false: failed.
static bool open_first(struct hc_sv_log_file *file) {
    file->descriptor = open_at(file->path);
    bool good = file->descriptor >= 0;
    file->cause = good ? 0 : errno;
    atomic_store(&file->answered, true);
    return good;
}

static void *run(void *context) {
    struct hc_sv_log_file *file = context;
    if (file->first && !open_first(file))
        return NULL;
    for (;;) {
        reopen(file);
        ssize_t size =
            read(file->ends[READ_END], file->buffer + file->used, BUFFER_SIZE - file->used);
        if (size == 0)
            break;
        if (size > 0) {
            file->used += (size_t)size;
            write_out(file, whole_lines(file));
        } else if (errno != EINTR)
            wait_for(file, true, -1);
    }
    write_out(file, file->used);
    atomic_store(&file->ended, true);
    return NULL;
}

// ---- Lifecycle ----------------------------------------------------------------------------------

static void free_file(struct hc_sv_log_file *file) {
    int all[] = {file->ends[READ_END], file->ends[WRITE_END], file->wake, file->descriptor};
    for (unsigned i = 0; i < sizeof(all) / sizeof(*all); i++)
        if (all[i] >= 0)
            close(all[i]);
    pthread_mutex_destroy(&file->lock);
    free(file);
}

/// Opens the pipe, whose ends do not wait, and starts the thread; false: failed.
static bool begin(struct hc_sv_log_file *file) {
    file->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    return file->wake >= 0 && pipe2(file->ends, O_CLOEXEC | O_NONBLOCK) == 0 &&
           hc_thread_start(&file->thread, run, file);
}

/// A file whose thread has not begun; NULL: no memory.
static struct hc_sv_log_file *make(void) {
    struct hc_sv_log_file *file = calloc(1, sizeof(*file));
    if (file == NULL)
        return NULL;
    file->ends[READ_END] = file->ends[WRITE_END] = file->wake = file->descriptor = -1;
    pthread_mutex_init(&file->lock, NULL);
    return file;
}

/// Waits until the thread has opened the file or failed; false: it still hangs.
static bool await_first(struct hc_sv_log_file *file) {
    uint64_t end_us = hc_clock_us() + OPEN_MS * 1000;
    while (!atomic_load(&file->answered) && hc_clock_us() < end_us)
        hc_clock_sleep(WAIT_EACH_US);
    return atomic_load(&file->answered);
}

struct hc_sv_log_file *hc_sv_log_file_open(const char *path, char *why, size_t why_size) {
    struct hc_sv_log_file *file = make();
    explain(path, file == NULL ? ENOMEM : EAGAIN, why, why_size);
    if (file == NULL)
        return NULL;
    file->first = true;
    snprintf(file->path, sizeof(file->path), "%s", path);
    if (!begin(file)) {
        free_file(file);
        return NULL;
    }
    if (!await_first(file)) {
        snprintf(why, why_size, "--log-file '%s': has not opened after %d s", path, OPEN_MS / 1000);
        return NULL; // its thread hangs, and uses it
    }
    if (file->cause == 0)
        return file;
    explain(path, file->cause, why, why_size);
    pthread_join(file->thread, NULL);
    free_file(file);
    return NULL;
}

struct hc_sv_log_file *hc_sv_log_file_start(struct hc_sv_log *log, const char *path) {
    struct hc_sv_log_file *file = make();
    if (file == NULL)
        return NULL;
    file->descriptor = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
    file->reopens = true;
    file->log = log;
    snprintf(file->path, sizeof(file->path), "%s", path);
    if (begin(file))
        return file;
    free_file(file);
    return NULL;
}

int hc_sv_log_file_descriptor(const struct hc_sv_log_file *file) {
    return file->ends[WRITE_END];
}

static void wake_up(const struct hc_sv_log_file *file) {
    uint64_t one = 1;
    ssize_t size = write(file->wake, &one, sizeof(one));
    (void)size; // it only fails if the thread is woken anyway
}

void hc_sv_log_file_reopen(struct hc_sv_log_file *file, struct hc_sv_log *log, const char *path) {
    pthread_mutex_lock(&file->lock);
    file->reopens = true;
    file->log = log;
    snprintf(file->path, sizeof(file->path), "%s", path);
    pthread_mutex_unlock(&file->lock);
    wake_up(file);
}

void hc_sv_log_file_close(struct hc_sv_log_file *file, unsigned wait_ms) {
    if (file == NULL)
        return;
    uint64_t end_us = hc_clock_us() + (uint64_t)wait_ms * 1000;
    close(file->ends[WRITE_END]);
    file->ends[WRITE_END] = -1;
    while (!atomic_load(&file->ended) && hc_clock_us() < end_us)
        hc_clock_sleep(WAIT_EACH_US);
    atomic_store(&file->ends_soon, true);
    wake_up(file);
    end_us = hc_clock_us() + (uint64_t)wait_ms * 1000;
    while (!atomic_load(&file->ended) && hc_clock_us() < end_us)
        hc_clock_sleep(WAIT_EACH_US);
    if (!atomic_load(&file->ended))
        return; // its thread hangs, and uses it
    pthread_join(file->thread, NULL);
    free_file(file);
}
