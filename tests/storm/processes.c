/// Owns the processes that play seed after seed.
#define _DEFAULT_SOURCE // NOLINT(readability-identifier-naming): for MAP_ANONYMOUS

#include "tests/storm/processes.h"

#include "common/programs/clock.h"
#include "tests/storm/marks.h"

#include <errno.h>
#include <inttypes.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ENDLESS_S = 60 }; ///< a match that takes a processor longer than this does not end

/// The part of the shared memory that one process writes.
struct member {
    pid_t process;
    uint64_t playing;  ///< the place of its seed
    uint64_t begun_ms; ///< of its own processor time, when it began with it; 0: it plays none
    struct storm_totals totals;
    uint64_t marks[STORM_MARKS_MAX];
};

struct shared {
    _Atomic uint64_t next;
    _Atomic uint32_t failures;
    struct member members[STORM_JOBS_MAX];
};

static uint64_t now_ms(void) {
    return hc_clock_us() / 1000;
}

/// The processor time that a process has taken, at least 1 ms. Other processes take wall time, too.
static uint64_t used_ms(pid_t process) {
    clockid_t clock;
    struct timespec used = {0};
    if (clock_getcpuclockid(process, &clock) == 0)
        clock_gettime(clock, &used);
    return (uint64_t)used.tv_sec * 1000 + (uint64_t)used.tv_nsec / 1000000 + 1;
}

static void *share(size_t bytes) {
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static void set_all(const struct storm_work *work, struct storm_plan *plan) {
    for (unsigned i = 0; i < work->set_count; i++)
        storm_plan_set(plan, work->sets[i]);
}

void storm_work_plan(const struct storm_work *work, uint64_t seed, struct storm_plan *plan) {
    storm_plan_draw(plan, seed);
    set_all(work, plan);
}

void storm_processes_report(const struct storm_plan *plan, const struct storm_outcome *outcome) {
    static const char *const results[] = {"fine", "INCORRECT", "STUCK"};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL)
        return;
    const struct storm_verdict *verdict = &outcome->verdict;
    fprintf(out, "FAILED seed %" PRIu64 ": %s, oracle %s, tick %u: %s\n", plan->seed,
            results[verdict->result], verdict->oracle, verdict->tick, verdict->text);
    // Again with all checks: they may find more.
    struct storm_outcome again;
    struct storm_options deep = {.deep = true, .print = out};
    if (strcmp(verdict->oracle, "crash") != 0 && strcmp(verdict->oracle, "endless") != 0) {
        fprintf(out, "the last events:\n");
        storm_match_play(plan, &deep, &again);
        if (again.verdict.result != STORM_FINE)
            fprintf(out, "closely: %s, oracle %s, tick %u: %s\n", results[again.verdict.result],
                    again.verdict.oracle, again.verdict.tick, again.verdict.text);
    }
    fprintf(out, "repeat: hc_storm ");
    storm_plan_print_options(plan, out);
    fclose(out);
    fwrite(text, 1, size, stdout);
    fflush(stdout);
    free(text);
}

// ---- A member -----------------------------------------------------------------------------------

/// The plan at a place of the work; the settings of a list were checked before.
static void plan_at(const struct storm_work *work, uint64_t place, struct storm_plan *plan) {
    const char *wrong, *why;
    if (work->list == NULL) {
        storm_work_plan(work, work->first + place, plan);
        return;
    }
    storm_plan_draw(plan, work->list[place].seed);
    storm_plan_set_words(plan, work->list[place].settings, &wrong, &why);
    set_all(work, plan);
}

static void play_one(const struct storm_work *work, struct shared *shared, struct member *member) {
    struct storm_plan plan;
    struct storm_outcome outcome;
    struct storm_options options = {.deep = false};
    plan_at(work, member->playing, &plan);
    storm_match_judge(&plan, &options, &outcome);
    storm_totals_add(&member->totals, &outcome);
    if (work->trace) {
        printf("%" PRIu64 " %016" PRIx64 "\n", plan.seed, outcome.trace);
        fflush(stdout);
    }
    storm_marks_take(member->marks);
    if (outcome.verdict.result == STORM_FINE)
        return;
    atomic_fetch_add(&shared->failures, 1);
    storm_processes_report(&plan, &outcome);
}

/// A match gets the memory that the one before it freed, without asking the system each time.
static void keep_memory(void) {
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 1 << 20); // links are above, and hardly touched
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    mallopt(M_TOP_PAD, 1 << 25);
#endif
}

static void member_main(const struct storm_work *work, struct shared *shared, struct member *member,
                        uint64_t until_ms) {
    uint64_t count = work->end - work->first;
    keep_memory();
    while (atomic_load(&shared->failures) < STORM_FAILURES_MAX &&
           (until_ms == 0 || now_ms() < until_ms)) {
        uint64_t place = atomic_fetch_add(&shared->next, 1);
        if (place >= count)
            break;
        member->playing = place;
        member->begun_ms = used_ms(getpid());
        play_one(work, shared, member);
        member->begun_ms = 0;
    }
    fflush(stdout);
    _exit(0);
}

// ---- The first ----------------------------------------------------------------------------------

static bool start_member(const struct storm_work *work, struct shared *shared, unsigned i,
                         uint64_t until_ms) {
    fflush(NULL);
    pid_t process = fork();
    if (process == 0)
        member_main(work, shared, &shared->members[i], until_ms);
    shared->members[i].process = process;
    return process > 0;
}

/// A member has died over a seed.
static void report_death(const struct storm_work *work, struct shared *shared, unsigned i,
                         bool endless, int status) {
    struct member *member = &shared->members[i];
    struct storm_plan plan;
    struct storm_outcome outcome = {.ticks = 0};
    plan_at(work, member->playing, &plan);
    storm_fail(&outcome.verdict, endless ? STORM_STUCK : STORM_WRONG, endless ? "endless" : "crash",
               0, endless ? "the match does not end" : "status %d", status);
    member->totals.sum[STORM_TOTAL_SEEDS]++;
    member->totals.sum[endless ? STORM_TOTAL_STUCK : STORM_TOTAL_CRASHED]++;
    atomic_fetch_add(&shared->failures, 1);
    storm_processes_report(&plan, &outcome);
    member->begun_ms = 0;
}

/// Waits for members until all have ended; replaces those that died.
static void look_after(const struct storm_work *work, struct shared *shared, uint64_t begun_ms,
                       uint64_t until_ms) {
    unsigned left = work->jobs;
    bool killed[STORM_JOBS_MAX] = {false};
    uint64_t printed_ms = begun_ms;
    while (left > 0) {
        for (unsigned i = 0; i < work->jobs; i++) {
            struct member *member = &shared->members[i];
            int status;
            if (member->process <= 0)
                continue;
            if (waitpid(member->process, &status, WNOHANG) == 0) {
                uint64_t since_ms = member->begun_ms;
                if (!killed[i] && since_ms != 0 &&
                    used_ms(member->process) > since_ms + ENDLESS_S * 1000)
                    killed[i] = kill(member->process, SIGKILL) == 0;
                continue;
            }
            member->process = 0;
            left--;
            if (member->begun_ms == 0)
                continue;
            report_death(work, shared, i, killed[i], status);
            killed[i] = false;
            left += start_member(work, shared, i, until_ms);
        }
        hc_clock_sleep(5000);
        if (work->progress && now_ms() - printed_ms > 1000) {
            printed_ms = now_ms();
            fprintf(stderr, "\r%" PRIu64 " seeds, %.0f s, %u failures ",
                    (uint64_t)atomic_load(&shared->next), (double)(printed_ms - begun_ms) / 1000,
                    (unsigned)atomic_load(&shared->failures));
        }
    }
    if (work->progress)
        fprintf(stderr, "\r\033[K");
}

bool storm_processes_play(const struct storm_work *work, struct storm_result_of_work *result) {
    *result = (struct storm_result_of_work){.end = work->first};
    struct shared *shared = share(sizeof *shared);
    if (shared == NULL)
        return false;
    uint64_t begun_ms = now_ms();
    uint64_t until_ms = work->seconds > 0 ? begun_ms + (uint64_t)(work->seconds * 1000) : 0;
    bool fine = true;
    for (unsigned i = 0; i < work->jobs; i++)
        fine = start_member(work, shared, i, until_ms) && fine;
    look_after(work, shared, begun_ms, until_ms);
    for (unsigned i = 0; i < work->jobs; i++) {
        storm_totals_merge(&result->totals, &shared->members[i].totals);
        for (unsigned k = 0; k < STORM_MARKS_MAX; k++)
            result->marks[k] += shared->members[i].marks[k];
    }
    uint64_t played = atomic_load(&shared->next), count = work->end - work->first;
    result->end = work->first + (played < count ? played : count);
    result->totals.sum[STORM_TOTAL_WALL_MS] = now_ms() - begun_ms;
    munmap(shared, sizeof *shared);
    return fine;
}

void storm_processes_try(const struct storm_plan *plan, const struct storm_options *options,
                         struct storm_outcome *outcome) {
    struct storm_outcome *shared = share(sizeof *shared);
    *outcome = (struct storm_outcome){.ticks = 0};
    if (shared == NULL)
        return;
    fflush(NULL);
    pid_t process = fork();
    if (process == 0) {
        if (options->print == NULL && freopen("/dev/null", "w", stderr) == NULL)
            _exit(1);
        struct rlimit limit;
        if (getrlimit(RLIMIT_CPU, &limit) == 0 && limit.rlim_max > ENDLESS_S) {
            limit.rlim_cur = ENDLESS_S;
            setrlimit(RLIMIT_CPU, &limit);
        }
        storm_match_judge(plan, options, shared);
        fflush(NULL);
        _exit(0);
    }
    int status = 0;
    while (process > 0 && waitpid(process, &status, 0) < 0 && errno == EINTR)
        continue;
    *outcome = *shared;
    munmap(shared, sizeof *shared);
    bool endless = WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU;
    if (process < 0 || status != 0) {
        outcome->verdict.result = STORM_FINE;
        storm_fail(&outcome->verdict, endless ? STORM_STUCK : STORM_WRONG,
                   endless ? "endless" : "crash", 0, "status %d", status);
    }
}
