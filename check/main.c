/// Owns hindcast-check: its random histories, and its report.
#define _GNU_SOURCE

#include "check/builds.h"
#include "check/call.h"
#include "check/examine.h"
#include "check/functions.h"
#include "check/hides.h"
#include "check/library.h"
#include "check/options.h"
#include "check/plain.h"
#include "check/reached.h"
#include "check/spread.h"
#include "common/draw_input.h"
#include "common/elapsed.h"
#include "common/programs/clock.h"
#include "common/programs/plugin.h"
#include "common/programs/report.h"

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    PLAYERS_MAX = 8,
    TICKS_MIN = 60,
    TICKS_MORE = 240,
    LONG_EVERY = 10, ///< histories
    LONG_TIMES = 16,
    HOLD = 20,     ///< ticks for which an input is held, at most
    JOIN = 100000, ///< ppm of the ticks at which a player that is out joins
    LEAVE = 8000,
    LONG_LEAVE = 100,
    SPREAD_S =
        60, ///< of processor time for a history with late inputs, per LONG_MOST ticks or less
    LONG_LEAST = TICKS_MIN * LONG_TIMES,
    LONG_MOST = (TICKS_MIN + TICKS_MORE) * LONG_TIMES,
    CLOSE_MS = 1000,
    TRACK_RECORDS = 4096,
    WHY_MAX = 9000, ///< bytes of a sentence with two paths
};

/// The counts of a run.
struct counts {
    uint64_t steps, ticks, started_us;
    struct hc_ck_reached reached;
};

/// A history to play, as its seed draws it.
struct history {
    const struct hc_world *world;
    const struct hc_world *other; ///< of the game's other build; NULL: there is none
    struct hc_rng *rng;
    uint64_t seed;
    uint32_t ticks;
    uint32_t leave_ppm; ///< of the ticks at which a player that is in leaves
};

/// Plays the history with every input in time, and examines each of its steps. False: no memory.
static bool examine(const struct history *history, struct hc_ck_faults *faults,
                    struct counts *counts) {
    const struct hc_world *world = history->world, *other = history->other;
    struct hc_rng *rng = history->rng;
    const uint16_t size = world->game->input_size;
    struct hc_plain *plain = hc_plain_create(world, false);
    struct hc_ck_examiner *examiner = hc_ck_examiner_create(world, faults, history->seed);
    struct hc_ck_builds *builds = other != NULL ? hc_ck_builds_create(other, faults) : NULL;
    struct hc_rng asked = hc_rng_init(history->seed, 1);
    uint8_t *inputs = calloc(world->players, size), *rosters = calloc(world->players, 1);
    bool *in = calloc(world->players, sizeof(*in));
    hc_tick *until = calloc(world->players, sizeof(*until));
    bool good = plain != NULL && examiner != NULL && inputs != NULL && rosters != NULL &&
                in != NULL && until != NULL && (other == NULL || builds != NULL);
    if (good) {
        hc_plain_set_stepper(plain, hc_ck_examine, examiner);
        hc_plain_start(plain);
    }
    hc_tick tick = 0;
    for (; good && tick < history->ticks && !hc_ck_examiner_crashed(examiner); tick++) {
        for (hc_player p = 0; p < world->players; p++) {
            rosters[p] = HC_ROSTER_NONE;
            if (hc_rng_chance(rng, in[p] ? history->leave_ppm : JOIN)) {
                in[p] = !in[p];
                rosters[p] = in[p] ? HC_ROSTER_JOIN : HC_ROSTER_LEAVE;
                if (in[p])
                    memset(inputs + (size_t)p * size, 0, size);
                until[p] = tick + 1;
            } else if (!in[p]) { // at the tick of its leave it still had its input
                memset(inputs + (size_t)p * size, 0, size);
            } else if (tick >= until[p]) {
                hc_draw_input(world->game, rng, inputs + (size_t)p * size);
                until[p] = tick + 1 + hc_rng_below(rng, HOLD);
            }
        }
        hc_plain_step(plain, inputs, rosters);
        hc_ck_reached_tick(&counts->reached, world, plain, faults);
        hc_ck_hides_tick(world, other, plain, faults, &asked);
        if (builds != NULL)
            hc_ck_builds_step(builds, world, plain, inputs, rosters);
    }
    if (examiner != NULL)
        counts->steps += hc_ck_examiner_steps(examiner);
    counts->ticks += tick;
    hc_ck_reached_history(&counts->reached, history->ticks);
    free(until);
    free(in);
    free(rosters);
    free(inputs);
    hc_ck_builds_destroy(builds);
    hc_ck_examiner_destroy(examiner);
    hc_plain_destroy(plain);
    return good;
}

/// All that a run of the check needs and has found.
struct run {
    struct hc_ck_options options;
    struct hc_plugin plugin, build;
    struct hc_ck_faults *faults;
    struct counts counts;
    char why[WHY_MAX]; ///< a plugin's match at its loading failed; empty: none did
    struct hc_trace *trace;
    struct hc_trace_track *track; ///< NULL: there is no trace
    hc_trace_span history;        ///< the one that is played
    int done;                     ///< a pipe to the process that waits for this one
};

/// The arguments of a call that a crash of the game may end.
struct call {
    const struct hc_world *world;
    struct hc_ck_faults *faults;
    struct hc_rng *rng;
    uint32_t ticks;
    bool good;
};

static void spread(void *context) {
    struct call *call = context;
    call->good = hc_ck_spread(call->world, call->faults, call->rng, call->ticks);
}

/// Plays one history. False: no memory.
static bool play(struct run *run, uint64_t seed) {
    static const uint16_t rates[] = {60, 30, 64, 120};
    const struct hc_game *game = run->plugin.game;
    struct hc_rng rng = hc_rng_init(seed, 0);
    struct hc_world world, other = {.game = NULL};
    uint16_t most = game->players_max < PLAYERS_MAX ? game->players_max : PLAYERS_MAX;
    bool is_long = seed % LONG_EVERY == 0; // and with few leaves: a round may end
    uint16_t players = is_long ? most : (uint16_t)(1 + hc_rng_below(&rng, most));
    uint16_t rate = rates[hc_rng_below(&rng, sizeof(rates) / sizeof(*rates))];
    uint32_t ticks = (TICKS_MIN + hc_rng_below(&rng, TICKS_MORE)) * (is_long ? LONG_TIMES : 1);
    if (run->options.ticks != 0)
        ticks = run->options.ticks;
    if (hc_world_init(&world, game, players, rate, hc_rng_next(&rng), NULL) != HC_OK)
        return false;
    if (run->build.game != NULL &&
        hc_world_init(&other, run->build.game, players, rate, world.seed, NULL) != HC_OK) {
        hc_world_free(&world);
        return false;
    }
    hc_trace_number(run->track, run->history, "players", players);
    hc_trace_number(run->track, run->history, "ticks", ticks);
    hc_ck_faults_set_seed(run->faults, seed);
    hc_trace_span span = hc_trace_begin(run->track, "functions");
    hc_ck_functions(&world, run->faults, &rng);
    hc_trace_end(run->track, span);
    struct history history = {.world = &world,
                              .other = run->build.game != NULL ? &other : NULL,
                              .rng = &rng,
                              .seed = seed,
                              .ticks = ticks,
                              .leave_ppm = ticks < LONG_LEAST ? LEAVE : LONG_LEAVE};
    uint64_t steps = run->counts.steps;
    span = hc_trace_begin(run->track, "examined steps");
    bool good = examine(&history, run->faults, &run->counts);
    hc_trace_number(run->track, span, "steps", run->counts.steps - steps);
    hc_trace_end(run->track, span);
    // Histories of a faulty step differ in any case.
    struct call call = {.world = &world, .faults = run->faults, .rng = &rng, .ticks = ticks};
    if (good && hc_ck_faults_count(run->faults) == 0) {
        static const char name[] = "a history with late inputs";
        struct hc_guard_end end;
        span = hc_trace_begin(run->track, "late inputs");
        if (!hc_ck_call_guarded(spread, &call, SPREAD_S * (1 + ticks / LONG_MOST), name, &end))
            hc_ck_crash(run->faults, &end, "%s", name);
        hc_trace_end(run->track, span);
        good = end.signal != 0 || call.good;
    }
    hc_world_free(&other);
    hc_world_free(&world);
    return good;
}

/// Checks the plugin's file. The arena is a part of this program.
static void check_library(const char *path, struct hc_ck_faults *faults) {
    if (!hc_ck_library_imports(path, faults))
        printf("not checked: the imported functions, because %s has no symbols of this machine\n",
               path);
    if (!hc_ck_library_variables(path, faults))
        printf("not checked: variables, because %s was stripped of the symbols that name them\n",
               path);
    if (!hc_ck_library_floats(path, faults))
        printf("not checked: floating point, because objdump (of binutils) cannot read %s\n", path);
}

/// Prints the verdict and the notes, and writes the JSON; false: it cannot be written.
static bool report(const struct run *run) {
    const struct hc_ck_options *options = &run->options;
    const struct counts *counts = &run->counts;
    const char *game = run->plugin.game->name;
    double seconds = (double)hc_since(counts->started_us, hc_clock_us()) / 1e6;
    uint32_t found = hc_ck_faults_count(run->faults);
    json_t *notes = hc_ck_reached_notes(&counts->reached, run->plugin.game), *note;
    size_t i;
    char verdict[32] = "OK: no fault";
    if (found > 0)
        snprintf(verdict, sizeof(verdict), "NOT OK: %" PRIu32 " fault%s", found,
                 found == 1 ? "" : "s");
    printf("%s: game %s%s, %" PRIu64 " histories of %" PRIu32 " to %" PRIu32
           " ticks from seed %" PRIu64 ", %" PRIu64 " ticks, %" PRIu64 " steps, %.1f s\n",
           verdict, game, options->build != NULL ? " in two builds" : "", options->histories,
           counts->reached.ticks_min, counts->reached.ticks_max, options->seed, counts->ticks,
           counts->steps, seconds);
    json_array_foreach(notes, i, note) printf("note: %s\n", json_string_value(note));
    json_t *json = json_pack(
        "{s:s, s:s, s:s, s:I, s:I, s:[I, I], s:I, s:I, s:f, s:o, s:o}", "program", "hindcast-check",
        "version", HC_VERSION, "game", game, "seed", (json_int_t)options->seed, "histories",
        (json_int_t)options->histories, "history_ticks", (json_int_t)counts->reached.ticks_min,
        (json_int_t)counts->reached.ticks_max, "ticks", (json_int_t)counts->ticks, "steps",
        (json_int_t)counts->steps, "duration_s", seconds, "faults", hc_ck_faults_json(run->faults),
        "notes", notes);
    bool good = options->json == NULL || hc_report_write(json, "hindcast-check", options->json);
    json_decref(json);
    return good;
}

/// Prints the report; returns the exit status.
static int conclude(struct run *run) {
    if (run->why[0] != '\0' && hc_ck_faults_count(run->faults) == 0)
        hc_ck_fault(run->faults, HC_CK_CRASH, "match", "%s", run->why);
    return report(run) && hc_ck_faults_count(run->faults) == 0 ? 0 : 1;
}

/// Tells the waiting process the exit status and ends this one. Calls that a crash ended have left
/// their memory behind, so then nothing is freed.
static _Noreturn void end(const struct run *run, int status) {
    hc_trace_end(run->track, run->history); // a crash may have interrupted it
    (void)hc_trace_close(run->trace, CLOSE_MS);
    fflush(NULL);
    if (write(run->done, &(char){(char)status}, 1) != 1 ||
        hc_ck_faults_have(run->faults, HC_CK_CRASH, NULL))
        _exit(status);
    hc_ck_faults_destroy(run->faults);
    exit(status);
}

static void give_up(void *context) {
    end(context, conclude(context));
}

/// Loads a plugin; ends the program if it is none, and with a fault if its loading fails. A failure
/// of the match that is played then is a fault only if no history has one, which names the step.
static void load_game(struct run *run, struct hc_plugin *plugin, const char *path) {
    if (hc_plugin_load(plugin, path, run->why, sizeof(run->why)) || plugin->loaded)
        return;
    fprintf(stderr, "hindcast-check: %s\n", run->why);
    end(run, 2);
}

/// Begins the trace, if the options name one, or ends the program.
static void begin_trace(struct run *run) {
    static char program[] = "hindcast-check";
    const struct hc_trace_config config = {.program = program,
                                           .version = HC_VERSION,
                                           .reported = hc_trace_print_report,
                                           .context = program};
    const struct hc_ck_options *options = &run->options;
    char why[HC_TRACE_WHY_MAX] = "no memory or no thread for a trace";
    if (options->trace == NULL)
        return;
    run->trace = hc_trace_open(&config);
    if (run->trace != NULL)
        run->track = hc_trace_add(run->trace, 0, TRACK_RECORDS, "histories");
    if (run->track != NULL &&
        hc_trace_begin_at(run->trace, options->trace,
                          (uint64_t)options->trace_limit_mb * HC_TRACE_MEGABYTE, why))
        return;
    fprintf(stderr, "hindcast-check: %s\n", why);
    end(run, 1);
}

static _Noreturn void check(struct run *run) {
    begin_trace(run);
    hc_trace_span span = hc_trace_root(run->track, "loading");
    load_game(run, &run->plugin, run->options.game);
    if (run->options.build != NULL) {
        load_game(run, &run->build, run->options.build);
        if (hc_game_hash(run->plugin.game) != hc_game_hash(run->build.game)) {
            fprintf(stderr,
                    "hindcast-check: --build '%s': it has another name, version, level or "
                    "other tables than the game of --game\n",
                    run->options.build);
            end(run, 2);
        }
    }
    hc_trace_end(run->track, span);
    span = hc_trace_root(run->track, "library");
    if (run->options.game != NULL)
        check_library(run->options.game, run->faults);
    hc_trace_end(run->track, span);
    hc_ck_call_begin(run->faults, give_up, run);
    bool good = true;
    for (uint64_t i = 0; good && i < run->options.histories; i++) {
        run->history = hc_trace_root(run->track, "history");
        hc_trace_number(run->track, run->history, "seed", run->options.seed + i);
        good = play(run, run->options.seed + i);
        hc_trace_end(run->track, run->history);
    }
    if (!good)
        fprintf(stderr, "hindcast-check: not enough memory\n");
    end(run, good ? conclude(run) : 1);
}

/// Waits for the process that checks; returns the exit status. That process calls the game, so its
/// end says nothing unless it has sent its status before.
static int wait_for(pid_t child, int done, const struct run *run) {
    char sent;
    int status = 0;
    bool concluded = read(done, &sent, 1) == 1;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (concluded && WIFEXITED(status)) // its end may find more, such as a leak
        return sent != 0 ? sent : WEXITSTATUS(status);
    char *command = hc_ck_faults_command(run->faults, run->options.histories);
    printf("crash: the game ends the program. Repeat: %s\n", command);
    free(command);
    return 1;
}

int main(int argc, char **argv) {
    static struct run run; // survives the end of a call by a signal
    int ends[2];
    run.counts.started_us = hc_clock_us();
    argp_program_version = "hindcast-check " HC_VERSION_AND_COMMIT;
    hc_ck_options_parse(&run.options, argc, argv);
    run.faults = hc_ck_faults_create(run.options.game, run.options.build, run.options.seed,
                                     run.options.ticks);
    pid_t child = run.faults == NULL || pipe(ends) < 0 ? -1 : fork();
    if (child < 0) {
        perror("hindcast-check");
        return 1;
    }
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(ends[0]);
        run.done = ends[1];
        check(&run);
    }
    close(ends[1]);
    int status = wait_for(child, ends[0], &run);
    hc_ck_faults_destroy(run.faults);
    return status;
}
