/// The program that attacks the server and prints the results:
/// hc_attack [--only NAME ...] [--flood] [--json FILE]
#define _GNU_SOURCE // pipe2

#include "tests/attack/attack.h"
#include "tests/sim/crypto_calls.h"

#include <argp.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const struct attack_row rows[] = {
    {"amplification", ATTACK_CORES, "an unvalidated address is sent no more bytes than it sent",
     attack_amplification},
    {"victim-blamed", ATTACK_CORES,
     "junk from a victim's address neither keeps the victim out nor ends its session",
     attack_victim_address},
    {"foreign-cookie", ATTACK_CORES,
     "a cookie is valid only for its address, port and nonce, and for 20 seconds", attack_cookie},
    {"stolen-token", ATTACK_CORES,
     "a token without its secret admits no client and does not keep its owner out",
     attack_stolen_token},
    {"misused-token", ATTACK_CORES,
     "a token that is spent, expired, or for another key, audience or build admits no client",
     attack_misused_token},
    {"ticket-flood", ATTACK_CORES,
     "accounts that reconnect as often as they can cost other clients nothing",
     attack_ticket_flood},
    {"outages", ATTACK_CORES, "1,024 clients are all back after each of ten outages",
     attack_outages},
    {"rights", ATTACK_CORES,
     "a client has at most the players of its token, and watches only if its token allows it",
     attack_rights},
    {"put-out", ATTACK_CORES,
     "the server ends sessions of refused users, from before a set time, and of too long a life, "
     "and "
     "their tickets are refused",
     attack_ended_sessions},
    {"void-tokens", ATTACK_CORES,
     "a session that the server ends leaves its client neither its token nor a ticket",
     attack_void_tokens},
    {"forgotten-users", ATTACK_CORES,
     "more users than are remembered use no token twice, and no new user is denied",
     attack_forgotten_users},
    {"clock-steps", ATTACK_CORES,
     "no step of the server's clock admits a spent token again or keeps anybody out",
     attack_clock_steps},
    {"takeover", ATTACK_CORES,
     "a copied token and the cids on the path take no session over from a client that plays",
     attack_takeover},
    {"foreign-closes", ATTACK_CORES,
     "a client that closes for a reason of the server's has left by itself, and each CLOSE has one "
     "answer",
     attack_foreign_closes},
    {"lost-ends", ATTACK_CORES,
     "96 clients of a match that move twice and leave in one tick lose no end and leak no place",
     attack_lost_ends},
    {"household", ATTACK_CORES, "no more clients move to an address than may connect from it",
     attack_address_clients},
    {"reset-flood", ATTACK_CORES,
     "512 clients of a restarted server receive a RESET within a second of a flood by strangers",
     attack_reset_flood},
    {"searches", ATTACK_CORES,
     "a denied CONNECT and a DATA from a new address read few clients, however many there are",
     attack_searches},
    {"connect-flips", ATTACK_CORES, "a CONNECT with any changed bit admits no client",
     attack_connect_flips},
    {"curve-work", ATTACK_CORES,
     "a CONNECT that is refused costs the server no operation on the curve", attack_curve},
    {"accept-flips", ATTACK_CORES, "a client refuses an ACCEPT with any changed bit",
     attack_accept_flips},
    {"data-flips", ATTACK_CORES, "a DATA with any changed bit is refused, in both directions",
     attack_data_flips},
    {"replay", ATTACK_CORES, "a datagram is accepted only once, at any address and at any time",
     attack_replay},
    {"replay-window", ATTACK_CORES, "the replay window agrees with a set that forgets nothing",
     attack_replay_window},
    {"nonce-reuse", ATTACK_CORES,
     "no key seals twice with one nonce across lost connections, reconnects and restarts",
     attack_nonces},
    {"foretold-nonces", ATTACK_CORES,
     "no nonce of a client follows from other nonces or from its parts", attack_predicted_nonces},
    {"replayed-accept", ATTACK_CORES,
     "a client refuses an ACCEPT of an earlier run, and seals nothing twice with its keys",
     attack_replayed_accept},
    {"recorded-session", ATTACK_CORES, "a token key that leaks later opens no recorded session",
     attack_recorded_session},
    {"ack-bomb", ATTACK_CORES,
     "an ack of a datagram that was never sent is refused, in less than 10 us", attack_acks},
    {"msgpack-bomb", ATTACK_CORES,
     "no datagram takes more than 64 KiB, and the precheck passes none that msgpack-c refuses",
     attack_bombs},
    {"bad-names", ATTACK_CORES, "a name that is invalid UTF-8 or invisible admits no client",
     attack_names},
    {"log-injection", ATTACK_CORES, "a log line shows any name as one escaped word",
     attack_log_lines},
    {"future-inputs", ATTACK_CORES, "inputs beyond the future limit are refused and change nothing",
     attack_future},
    {"saved-inputs", ATTACK_CORES,
     "users who send four seconds of datagrams at once have each input read once at most",
     attack_saved_inputs},
    {"speed-hack", ATTACK_CORES, "three inputs in each tick move a player no farther than one",
     attack_speed},
    {"lag-switch", ATTACK_CORES,
     "a client that delays its inputs rewinds at most two ticks more than its latency explains",
     attack_lag_switch},
    {"late-limit", ATTACK_CORES,
     "a client's inputs may be as late as they usually are plus the late margin, with any acks",
     attack_late_limit},
    {"hindsight", ATTACK_CORES, "neither a new connection nor a new port opens more of the past",
     attack_hindsight},
    {"far-path", ATTACK_CORES,
     "a client that gets farther away loses inputs for at most two seconds, at any address",
     attack_far_path},
    {"ancient-claims", ATTACK_CORES, "inputs for a thousand ticks ago change nothing",
     attack_ancient},
    {"clock-day", ATTACK_CORES, "a client's clock makes no difference to the server",
     attack_clock_day},
    {"clock-fast", ATTACK_CORES,
     "a client whose clock runs ten times too fast moves no farther and disturbs no other",
     attack_clock_fast},
    {"leaping-final", ATTACK_CORES,
     "a player that holds its inputs back takes no game event from others, or it is counted",
     attack_leaping_final},
    {"wallhack", ATTACK_CORES,
     "no unit is sent that is farther away than the view and a quarter of it", attack_wallhack},
    {"foretold-places", ATTACK_CORES,
     "a client cannot compute a player's spawn place before it is sent", attack_predicted_places},
    {"chain-guess", ATTACK_CORES, "no chain hash confirms a guessed world", attack_chain},
    {"events", ATTACK_CORES,
     "messages arrive once and in order over 1 s +- 100 ms, a quarter lost, a quarter duplicated",
     attack_events},
    {"nat-rebind", ATTACK_CORES,
     "a client whose address changes plays on after at most a round trip", attack_rebind},
    {"spoofed-rebind", ATTACK_CORES, "datagrams in a client's name do not redirect it",
     attack_spoofed_rebind},
    {"restart", ATTACK_CORES,
     "64 clients of a restarted server play again within 2 s, with their tickets", attack_restart},
    {"price", ATTACK_CORES, "sealing costs less than the rest of a server's work",
     attack_sealing_cost},
    {"costly-client", ATTACK_CORES,
     "a client costs the server at most as much as two honest ones, 2.5 of them at many distances",
     attack_client_cost},
    {"silent-players", ATTACK_CORES,
     "players that press nothing cost the server at most twice as much as others",
     attack_silent_players},
    {"questions", ATTACK_CORES,
     "a client that asks all the time where its world differs is answered 16 times",
     attack_questions},
    {"forged-data", ATTACK_CORES,
     "the server opens a few forged DATA of a connection in a tick, and always its own",
     attack_forged_data},
    {"forged-copies", ATTACK_CORES,
     "a forged duplicate validates no address, few are opened, and none displaces a client's own",
     attack_forged_copies},
    {"flood", ATTACK_SOCKETS,
     "100,000 spoofed HELLOs a second for 14 s keep no client out and cost neither memory nor "
     "ticks",
     attack_flood},
    {"data-flood", ATTACK_SOCKETS,
     "a million forged DATA a second for 4 s are no overload: no snapshot is left out",
     attack_data_flood},
    {"kill", ATTACK_SOCKETS,
     "64 clients of a killed and restarted daemon play again, with their tickets", attack_kill},
    {"matches", ATTACK_SOCKETS,
     "a user who is never admitted keeps no match from others, who play on when a killed daemon "
     "has "
     "another number of matches",
     attack_matches},
    {"daemon-log", ATTACK_SOCKETS, "a line of the daemon's log is one event, with any names",
     attack_daemon_log},
    {"admin-port", ATTACK_SOCKETS,
     "the token port gives no token to web pages and strangers, and delays no tick", attack_admin},
    {"admin-face", ATTACK_SOCKETS,
     "nobody without the password reads or orders anything, and of 100,000 passwords a few are "
     "looked at",
     attack_admin_face},
    {"admin-pages", ATTACK_SOCKETS,
     "no web page, no stranger's request and no path reads or orders anything, also without a "
     "password",
     attack_admin_pages},
    {"admin-crowd", ATTACK_SOCKETS,
     "10,000 half-open connections keep neither a probe nor a player out, and take no memory",
     attack_admin_crowd},
};

enum { ROWS = sizeof rows / sizeof rows[0], ONLY_MAX = 64, NAME_WIDTH = 15 };

struct options {
    const char *only[ONLY_MAX];
    unsigned only_count;
    bool flood;
    const char *json; ///< NULL: none
    const char *daemon;
};

void attack_require(struct attack *attack, bool condition, const char *format, ...) {
    va_list arguments;
    if (condition || attack->failed)
        return;
    attack->failed = true;
    va_start(arguments, format);
    vsnprintf(attack->why, sizeof attack->why, format, arguments);
    va_end(arguments);
}

void attack_effect(struct attack *attack, const char *format, ...) {
    va_list arguments;
    size_t used = strlen(attack->effect);
    va_start(arguments, format);
    vsnprintf(attack->effect + used, sizeof attack->effect - used, format, arguments);
    va_end(arguments);
}

void attack_try(struct attack *attack, bool accepted) {
    attack->tries++;
    attack->accepted += accepted;
}

void attack_require_none(struct attack *attack, uint64_t tries_min) {
    attack_require(attack, attack->tries >= tries_min, "only %llu were tried",
                   (unsigned long long)attack->tries);
    attack_require(attack, attack->accepted == 0, "%llu of %llu got through",
                   (unsigned long long)attack->accepted, (unsigned long long)attack->tries);
}

double attack_cpu_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

// ---- The table ----------------------------------------------------------------------------------

static void print_head(void) {
    printf("%-*s %9s %8s %6s %7s  %s\n", NAME_WIDTH, "attack", "tries", "accepted", "out/in",
           "seconds", "effect");
}

static void print_row(const struct attack_row *row, const struct attack *attack, double seconds) {
    char ratio[16] = "-";
    if (attack->amplification >= 0)
        snprintf(ratio, sizeof ratio, "%.2f", attack->amplification);
    printf("%-*s %9llu %8llu %6s %7.2f  %s\n", NAME_WIDTH, row->name,
           (unsigned long long)attack->tries, (unsigned long long)attack->accepted, ratio, seconds,
           attack->effect);
    if (attack->failed)
        printf("%-*s DOES NOT HOLD: %s: %s\n", NAME_WIDTH, "", row->holds, attack->why);
    fflush(stdout);
}

static json_t *row_json(const struct attack_row *row, const struct attack *attack, double seconds) {
    json_t *object = json_pack("{s:s, s:s, s:I, s:I, s:s, s:f, s:b}", "attack", row->name,
                               "must_hold", row->holds, "tries", (json_int_t)attack->tries,
                               "accepted", (json_int_t)attack->accepted, "effect", attack->effect,
                               "seconds", seconds, "holds", !attack->failed);
    if (attack->amplification >= 0)
        json_object_set_new(object, "amplification", json_real(attack->amplification));
    if (attack->failed)
        json_object_set_new(object, "why", json_string(attack->why));
    return object;
}

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static bool wanted(const struct options *options, const struct attack_row *row) {
    for (unsigned i = 0; i < options->only_count; i++)
        if (strcmp(options->only[i], row->name) == 0)
            return true;
    return options->only_count == 0;
}

// ---- Two processes ------------------------------------------------------------------------------

/// The outcome of one row.
struct outcome {
    unsigned row;
    double seconds;
    struct attack attack;
};
_Static_assert(sizeof(struct outcome) <= PIPE_BUF, "a pipe takes an outcome whole");

/// The child that attacks the daemon and mostly waits, while this process computes.
struct child {
    pid_t pid;    ///< 0: it does not run
    int outcomes; ///< the end of a pipe with the outcomes of its rows
};

static bool selected(const struct options *options, unsigned row, enum attack_kind kind) {
    return rows[row].kind == kind && wanted(options, &rows[row]);
}

static struct outcome run_row(const struct options *options, unsigned row) {
    struct outcome outcome = {
        .row = row,
        .attack = {.amplification = -1, .daemon = options->daemon, .flood = options->flood}};
    double from = now_s();
    rows[row].run(&outcome.attack);
    outcome.seconds = now_s() - from;
    return outcome;
}

/// In the child: runs its rows and sends an outcome for each.
static void run_sockets(const struct options *options, int outcomes) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (unsigned i = 0; i < ROWS; i++) {
        if (!selected(options, i, ATTACK_SOCKETS))
            continue;
        struct outcome outcome = run_row(options, i);
        fflush(stdout);
        if (write(outcomes, &outcome, sizeof outcome) != (ssize_t)sizeof outcome)
            _exit(1);
    }
    _exit(0);
}

/// Starts the child if it has rows to run. If that fails, its rows fail.
static struct child start_child(const struct options *options) {
    struct child child = {.outcomes = -1};
    int ends[2];
    bool needed = false;
    for (unsigned i = 0; i < ROWS; i++)
        needed = needed || selected(options, i, ATTACK_SOCKETS);
    if (!needed || pipe2(ends, O_CLOEXEC) != 0)
        return child;
    fflush(stdout);
    child.pid = fork();
    if (child.pid == 0)
        run_sockets(options, ends[1]);
    close(ends[1]);
    child.outcomes = ends[0];
    return child;
}

/// The outcome of `row`, which the child runs next; a failure if the child has ended.
static struct outcome await_outcome(const struct child *child, unsigned row) {
    struct outcome outcome;
    if (child->outcomes >= 0 &&
        read(child->outcomes, &outcome, sizeof outcome) == (ssize_t)sizeof outcome)
        return outcome;
    outcome = (struct outcome){.row = row, .attack = {.amplification = -1}};
    attack_require(&outcome.attack, false, "its process ended");
    return outcome;
}

static void end_child(struct child *child) {
    if (child->pid > 0)
        waitpid(child->pid, NULL, 0);
    if (child->outcomes >= 0)
        close(child->outcomes);
}

/// Prints the row and adds it to `table`; returns whether it failed.
static bool show(const struct outcome *outcome, json_t *table) {
    const struct attack_row *row = &rows[outcome->row];
    print_row(row, &outcome->attack, outcome->seconds);
    json_array_append_new(table, row_json(row, &outcome->attack, outcome->seconds));
    return outcome->attack.failed;
}

/// Runs the selected rows; returns the number of those that do not hold. The ladder of floods
/// measures this machine, so it runs alone.
static unsigned run_rows(const struct options *options, json_t *table) {
    unsigned failed = 0, ran = 0;
    double begun = now_s();
    struct child child = {.outcomes = -1};
    print_head();
    if (!options->flood)
        child = start_child(options);
    for (unsigned i = 0; i < ROWS; i++) {
        if (!selected(options, i, ATTACK_CORES))
            continue;
        struct outcome outcome = run_row(options, i);
        failed += show(&outcome, table);
        ran++;
    }
    if (options->flood)
        child = start_child(options);
    for (unsigned i = 0; i < ROWS; i++) {
        if (!selected(options, i, ATTACK_SOCKETS))
            continue;
        struct outcome outcome = await_outcome(&child, i);
        failed += show(&outcome, table);
        ran++;
    }
    end_child(&child);
    printf("%u rows in %.1f s, %u do not hold\n", ran, now_s() - begun, failed);
    return failed;
}

// ---- The command line ---------------------------------------------------------------------------

static void list_rows(void) {
    for (unsigned i = 0; i < ROWS; i++)
        printf("%-*s %s\n", NAME_WIDTH, rows[i].name, rows[i].holds);
}

static bool is_row(const char *name) {
    for (unsigned i = 0; i < ROWS; i++)
        if (strcmp(rows[i].name, name) == 0)
            return true;
    return false;
}

enum { OPTION_ONLY = 256, OPTION_LIST, OPTION_FLOOD, OPTION_JSON, OPTION_DAEMON };

static const struct argp_option known[] = {
    {"only", OPTION_ONLY, "NAME", 0, "Only this row; may be repeated", 0},
    {"list", OPTION_LIST, NULL, 0, "Print the rows and their conditions, and exit", 0},
    {"flood", OPTION_FLOOD, NULL, 0, "Also climb the ladder of floods, which takes minutes", 0},
    {"json", OPTION_JSON, "FILE", 0, "Write the table to FILE too", 0},
    {"daemon", OPTION_DAEMON, "PATH", 0, "The hindcastd to attack (beside this program)", 0},
    {0},
};

static error_t parse(int key, char *argument, struct argp_state *state) {
    struct options *options = state->input;
    switch (key) {
    case OPTION_ONLY:
        if (!is_row(argument))
            argp_error(state, "--only '%s': there is no such row; see --list", argument);
        if (options->only_count == ONLY_MAX)
            argp_error(state, "--only: at most %d", ONLY_MAX);
        options->only[options->only_count++] = argument;
        return 0;
    case OPTION_LIST:
        list_rows();
        exit(0);
    case OPTION_FLOOD:
        options->flood = true;
        return 0;
    case OPTION_JSON:
        options->json = argument;
        return 0;
    case OPTION_DAEMON:
        options->daemon = argument;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/// Writes the path of hindcastd in this program's directory into `path`.
static const char *daemon_beside(const char *program, char *path, size_t size) {
    const char *slash = strrchr(program, '/');
    size_t directory = slash != NULL ? (size_t)(slash - program) + 1 : 0;
    snprintf(path, size, "%.*shindcastd", (int)directory, program);
    return path;
}

int main(int argc, char **argv) {
    static const struct argp argp = {
        .options = known,
        .parser = parse,
        .doc = "Attacks the server in every known way, and prints for each the tries, those that "
               "were accepted, the bytes answered for each sent, and the effect on honest players. "
               "Exits with 1 if a row does not hold."};
    char beside[4096];
    struct options options = {.daemon = daemon_beside(argv[0], beside, sizeof beside)};
    argp_parse(&argp, argc, argv, 0, NULL, &options);
    if (sodium_init() < 0) {
        fprintf(stderr, "hc_attack: the system gives no random numbers\n");
        return 1;
    }
    hc_crypto_calls_stop();
    json_t *table = json_array();
    unsigned failed = run_rows(&options, table);
    bool written =
        options.json == NULL ||
        json_dump_file(table, options.json, JSON_INDENT(2) | JSON_REAL_PRECISION(6)) == 0;
    json_decref(table);
    if (!written)
        fprintf(stderr, "hc_attack: --json '%s': cannot be written\n", options.json);
    return failed == 0 && written ? 0 : 1;
}
