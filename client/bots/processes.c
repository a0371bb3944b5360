/// Owns the processes of a fleet, their pipes and the merge of their counts.
#define _GNU_SOURCE // sched_getaffinity, signalfd

#include "client/bots/processes.h"

#include "common/programs/write_all.h"
#include "hindcast/check.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WHY_MAX = 512 };

/// Messages that a process writes into its pipe: any number of PROGRESS, then RESULT or FAILURE.
enum kind { PROGRESS, RESULT, FAILURE };

/// One process of the fleet.
struct worker {
    pid_t pid;
    int pipe; ///< to read from; -1: closed
    bool done;
    struct hc_cl_fleet_progress progress; ///< newest
    bool fresh;                           ///< the newest progress came after the last sum
};

struct processes {
    const struct hc_cl_fleet_config *config;
    uint32_t count, open;
    struct worker *workers; ///< [count]
    struct hc_cl_fleet_result *result;
    char *why;
    size_t why_size;
};

uint32_t hc_cl_processes_default(uint32_t clients) {
    cpu_set_t set;
    int cores = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
    return (uint32_t)cores < clients ? (uint32_t)cores : clients;
}

// ---- In a process of the fleet ------------------------------------------------------------------

static void put(int pipe, const void *bytes, size_t size) {
    if (!hc_write_all(pipe, bytes, size))
        _exit(1); // the first process has ended
}

static void put_message(int pipe, enum kind kind, const void *bytes, size_t size) {
    put(pipe, &kind, sizeof(kind));
    put(pipe, bytes, size);
}

static void put_progress(void *context, const struct hc_cl_fleet_progress *progress) {
    put_message(*(int *)context, PROGRESS, progress, sizeof(*progress));
}

/// Plays in this process; false: failed, and `why` is a sentence.
static bool run_here(const struct hc_cl_fleet_config *config, struct hc_cl_fleet_result *result,
                     char *why, size_t why_size) {
    struct hc_cl_fleet *fleet = hc_cl_fleet_create(config, why, why_size);
    if (fleet == NULL)
        return false;
    hc_cl_fleet_run(fleet);
    hc_cl_fleet_result(fleet, result);
    hc_cl_fleet_destroy(fleet);
    return true;
}

/// Plays a part of the clients in a new process, and ends it.
static void run_worker(struct hc_cl_fleet_config config, int pipe, const sigset_t *mask) {
    static struct hc_cl_fleet_result result; // the histograms are too large for the stack
    char why[WHY_MAX] = "";
    // The terminal's interrupt is for the first process, which passes it on.
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    sigprocmask(SIG_SETMASK, mask, NULL);
    signal(SIGPIPE, SIG_IGN);
    if (config.progress != NULL) {
        config.progress = put_progress;
        config.progress_context = &pipe;
    }
    if (run_here(&config, &result, why, sizeof(why)))
        put_message(pipe, RESULT, &result, sizeof(result));
    else
        put_message(pipe, FAILURE, why, sizeof(why));
    _exit(0);
}

// ---- In the first process -----------------------------------------------------------------------

static bool get(int pipe, void *bytes, size_t size) {
    uint8_t *at = bytes;
    while (size > 0) {
        ssize_t got = read(pipe, at, size);
        if (got == 0 || (got < 0 && errno != EINTR))
            return false;
        if (got > 0) {
            at += got;
            size -= (size_t)got;
        }
    }
    return true;
}

/// Reports the sum of all processes once each of them has sent its progress of this second.
static void sum_progress(const struct processes *all) {
    struct hc_cl_fleet_progress sum = {0};
    for (uint32_t i = 0; i < all->count; i++)
        if (all->workers[i].pipe >= 0 && !all->workers[i].fresh)
            return;
    for (uint32_t i = 0; i < all->count; i++) {
        all->workers[i].fresh = false;
        hc_cl_fleet_merge_progress(&sum, &all->workers[i].progress);
    }
    all->config->progress(all->config->progress_context, &sum);
}

/// Reads a message of a process, or the end of its pipe.
static void read_message(struct processes *all, struct worker *worker) {
    static struct hc_cl_fleet_result result;
    enum kind kind;
    char why[WHY_MAX];
    if (!get(worker->pipe, &kind, sizeof(kind))) {
        close(worker->pipe);
        worker->pipe = -1;
        all->open--;
    } else if (kind == PROGRESS && get(worker->pipe, &worker->progress, sizeof(worker->progress))) {
        worker->fresh = true;
        sum_progress(all);
    } else if (kind == RESULT && get(worker->pipe, &result, sizeof(result))) {
        hc_cl_fleet_merge(all->result, &result);
        worker->done = true;
    } else if (kind == FAILURE && get(worker->pipe, why, sizeof(why))) {
        snprintf(all->why, all->why_size, "%.*s", WHY_MAX - 1, why);
        worker->done = true;
    }
}

/// Ends all processes after a signal.
static void forward_signal(const struct processes *all, int signals) {
    struct signalfd_siginfo info;
    if (read(signals, &info, sizeof(info)) != (ssize_t)sizeof(info))
        return;
    for (uint32_t i = 0; i < all->count; i++)
        if (all->workers[i].pipe >= 0)
            kill(all->workers[i].pid, SIGTERM);
}

/// Reads the messages of all processes until all pipes have ended.
static void read_all(struct processes *all, int signals) {
    struct pollfd *waits = calloc(all->count + 1, sizeof(*waits));
    HC_ASSERT(waits != NULL);
    while (all->open > 0) {
        for (uint32_t i = 0; i < all->count; i++)
            waits[i] = (struct pollfd){.fd = all->workers[i].pipe, .events = POLLIN};
        waits[all->count] = (struct pollfd){.fd = signals, .events = POLLIN};
        if (poll(waits, all->count + 1, -1) < 0 && errno != EINTR)
            break;
        if (waits[all->count].revents != 0)
            forward_signal(all, signals);
        for (uint32_t i = 0; i < all->count; i++)
            if (waits[i].fd >= 0 && waits[i].revents != 0)
                read_message(all, &all->workers[i]);
    }
    free(waits);
}

/// How many of `whole` process `i` of `count` has, if they are dealt from the first process on.
static uint32_t dealt(uint32_t whole, uint32_t i, uint32_t count) {
    return (whole + count - 1 - i) / count;
}

/// Sets the part of the whole run that process `i` of `count` plays. Light clients are dealt from
/// the last process on, so that each process has a client.
static void take_part(struct hc_cl_fleet_config *config, uint32_t i, uint32_t count) {
    uint32_t spare = config->spare_end - config->spare_first, last = count - 1;
    config->first = config->first_light = 0;
    for (uint32_t k = 0; k < i; k++) {
        config->first += dealt(config->clients, k, count);
        config->first_light += dealt(config->lights, last - k, count);
        config->spare_first += dealt(spare, k, count);
    }
    config->count = dealt(config->clients, i, count);
    config->count_light = dealt(config->lights, last - i, count);
    config->spare_end = config->spare_first + dealt(spare, i, count);
    config->churn_per_s /= count;
    config->storm = dealt(config->storm, last - i, count);
}

/// Starts process `i` with its part of the clients; false: failed, with errno.
static bool start(struct processes *all, uint32_t i, const sigset_t *mask) {
    struct hc_cl_fleet_config config = *all->config;
    struct worker *worker = &all->workers[i];
    int ends[2];
    take_part(&config, i, all->count);
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    fflush(NULL); // otherwise both processes would write buffered output
    worker->pid = fork();
    if (worker->pid == 0)
        run_worker(config, ends[1], mask);
    close(ends[1]);
    if (worker->pid < 0) {
        close(ends[0]);
        return false;
    }
    worker->pipe = ends[0];
    all->open++;
    return true;
}

/// Waits until all processes have ended; false: one of them failed.
static bool reap(struct processes *all) {
    bool good = true;
    for (uint32_t i = 0; i < all->count; i++) {
        const struct worker *worker = &all->workers[i];
        int status = 0;
        if (worker->pid <= 0 || waitpid(worker->pid, &status, 0) != worker->pid)
            continue;
        if (WIFSIGNALED(status))
            snprintf(all->why, all->why_size, "a process of the load test ended by signal %d (%s)",
                     WTERMSIG(status), strsignal(WTERMSIG(status)));
        else if (!worker->done)
            snprintf(all->why, all->why_size, "a process of the load test gave no result");
        good = good && worker->done;
    }
    return good && *all->why == '\0';
}

/// Starts all processes, reads their messages, and waits for them. `signals` ends them early.
static bool run_all(struct processes *all, int signals, const sigset_t *mask) {
    bool good = true;
    for (uint32_t i = 0; good && i < all->count; i++)
        good = start(all, i, mask);
    if (!good) {
        snprintf(all->why, all->why_size, "no process for the load test: %s", strerror(errno));
        for (uint32_t i = 0; i < all->count; i++)
            if (all->workers[i].pipe >= 0)
                kill(all->workers[i].pid, SIGTERM);
    }
    read_all(all, signals);
    return reap(all);
}

bool hc_cl_processes_run(const struct hc_cl_fleet_config *config, uint32_t processes,
                         struct hc_cl_fleet_result *result, char *why, size_t why_size) {
    struct hc_cl_fleet_config alone = *config;
    sigset_t set, mask;
    HC_ASSERT(processes >= 1 && processes <= config->clients + config->lights);
    *why = '\0';
    *result = (struct hc_cl_fleet_result){.first = HC_NO_TICK};
    take_part(&alone, 0, 1);
    if (processes == 1)
        return run_here(&alone, result, why, why_size);
    struct processes all = {.config = config,
                            .count = processes,
                            .workers = calloc(processes, sizeof(*all.workers)),
                            .result = result,
                            .why = why,
                            .why_size = why_size};
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, &mask);
    int signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    snprintf(why, why_size, "no memory for the load test");
    bool good = all.workers != NULL && signals >= 0;
    for (uint32_t i = 0; good && i < processes; i++)
        all.workers[i].pipe = -1;
    if (good) {
        *why = '\0';
        good = run_all(&all, signals, &mask);
    }
    if (signals >= 0)
        close(signals);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    free(all.workers);
    return good;
}
