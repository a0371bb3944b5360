/// Attacks on a real daemon: floods, kill -9, hostile names in its log, and requests to its token
/// port and its admin face.
#define _GNU_SOURCE // memmem, getloadavg

#include "common/programs/clock.h"
#include "hindcast/check.h"
#include "tests/attack/flood.h"
#include "tests/attack/loopback.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    SECOND_US = 1000000,
    TOKEN_LIFE_S = 600,
    TIMES_MAX = 10, ///< on a free machine times are judged against so many times their bound
};

#define SLIP_BOUND_MS 5.0

// A sanitizer delays the reuse of freed memory, so such a server's memory grows in any case.
#ifdef __SANITIZE_ADDRESS__
#define SANITIZED 1
#elif defined(__has_feature)
#define SANITIZED __has_feature(address_sanitizer)
#else
#define SANITIZED 0
#endif

/// The lateness of the server's ticks, at the 99th percentile, ms.
static double slip_ms(const json_t *report) {
    double slip = -1;
    json_unpack((json_t *)report, "{s:{s:{s:F}}}", "server", "tick_lateness_ms", "p99", &slip);
    return slip;
}

static json_int_t count_of(const json_t *report, const char *key) {
    return json_integer_value(json_object_get(json_object_get(report, "server"), key));
}

/// Begins to join users 1 to `count`, with a player each and tokens that last for `life_s`.
static void join_users(struct attack *attack, struct loopback_clients *crowd, unsigned count,
                       uint32_t life_s) {
    for (unsigned i = 0; i < count; i++) {
        struct hc_credential credential = loopback_issue_token(1 + i, NULL, life_s);
        loopback_join(attack, crowd, &credential, 1);
    }
}

// ---- Floods -------------------------------------------------------------------------------------

enum {
    PLAYERS = 8,
    JOIN_EACH_US = SECOND_US / 10,
    JOIN_BOUND_US = 10 * SECOND_US, ///< a client's timeout
    RUNG_US = 14 * SECOND_US,
    STAY_US = SECOND_US,
};

#define SHARE_BOUND_MS (500.0 / 60) ///< of a tick, at the 60 Hz that are played, for handshakes

struct flooded {
    double rate;                ///< HELLOs a second that were sent
    unsigned tried, joined;     ///< in time
    double slowest_ms, slip_ms; ///< of the slowest join
    double cpu, senders_cpu;    ///< of the server and the senders, in cores
    double share_ms;            ///< of a tick for handshakes, at the 99th percentile
    uint64_t growth;            ///< of the server's memory, bytes
    uint64_t sent, refused;     ///< HELLOs
    uint64_t read, unread;      ///< handshakes, by the server
    uint64_t drops, missed;     ///< DATA, ticks
    json_int_t overload_joins;  ///< CONNECTs that the server denied because of it
    unsigned disturbed;         ///< players that stalled or were harmed
    unsigned harmed;            ///< players that lost their connection or received a wrong state
    bool busy;                  ///< the machine is busy with other programs
};

/// Honest clients join, one after another, stay for a while and leave; each can use its whole
/// timeout while the flood lasts.
static void come_and_go(struct attack *attack, struct loopback_clients *crowd, uint64_t us) {
    uint64_t begun = hc_clock_us(), now = begun;
    for (; now - begun < us; now = hc_clock_us()) {
        struct hc_credential credential =
            loopback_issue_token(1000 + crowd->count, NULL, TOKEN_LIFE_S);
        if (crowd->count < LOOPBACK_CLIENTS_MAX && now - begun + JOIN_BOUND_US < us)
            loopback_join(attack, crowd, &credential, 1);
        loopback_run(crowd, JOIN_EACH_US);
        for (unsigned i = PLAYERS; i < crowd->count; i++)
            if (crowd->clients[i].playing_us != 0 &&
                hc_clock_us() - crowd->clients[i].playing_us > STAY_US)
                loopback_leave(crowd, i);
    }
}

static void count_joins(const struct loopback_clients *crowd, struct flooded *flooded) {
    for (unsigned i = PLAYERS; i < crowd->count; i++) {
        const struct loopback_client *client = &crowd->clients[i];
        uint64_t took_us = client->playing_us - client->begun_us;
        flooded->tried++;
        flooded->joined += client->playing_us != 0 && took_us < JOIN_BOUND_US;
        if (client->playing_us != 0 && (double)took_us / 1000 > flooded->slowest_ms)
            flooded->slowest_ms = (double)took_us / 1000;
    }
    for (unsigned i = 0; i < PLAYERS; i++) {
        const struct hc_client_stats *stats = hc_client_stats(crowd->clients[i].runner.client);
        bool harmed = stats->hash_mismatches > 0 || stats->losses > 0;
        flooded->harmed += harmed;
        flooded->disturbed += harmed || stats->stalls > 0;
    }
}

static void read_report(const json_t *report, struct flooded *flooded) {
    double duration = json_number_value(json_object_get(report, "duration_ms"));
    flooded->slip_ms = slip_ms(report);
    json_unpack((json_t *)report, "{s:{s:{s:F}}}", "server", "handshakes_ms_of_a_tick", "p99",
                &flooded->share_ms);
    json_unpack((json_t *)report, "{s:{s:{s:I}}}", "server", "overload", "joins_refused",
                &flooded->overload_joins);
    flooded->read = (uint64_t)count_of(report, "handshakes_read");
    flooded->unread = (uint64_t)count_of(report, "handshakes_dropped_unread");
    flooded->drops = (uint64_t)count_of(report, "receive_drops");
    flooded->missed = (uint64_t)count_of(report, "ticks_missed");
    flooded->cpu = (double)count_of(report, "cpu_ms") / duration;
}

/// Runs the flood, and honest joins meanwhile.
static void send_flood(struct attack *attack, struct loopback_clients *crowd, uint32_t rate,
                       uint64_t us, struct flooded *flooded) {
    struct flood flood;
    if (!flood_begin(attack, &flood, FLOOD_HELLO, crowd->server->port, rate, us))
        return;
    come_and_go(attack, crowd, us);
    struct flood_result result = flood_end(&flood);
    flooded->sent = result.sent;
    flooded->refused = result.refused;
    flooded->rate = (double)result.sent * SECOND_US / (double)us;
    flooded->senders_cpu = (double)result.cpu_us / (double)us;
}

/// Starts a server with players, floods it with `rate` HELLOs a second for `us`, and joins honest
/// clients meanwhile.
static struct flooded play_flood(struct attack *attack, uint32_t rate, uint64_t us) {
    struct loopback_server server = {.program = attack->daemon, .clients = 64};
    static struct loopback_clients crowd;
    struct flooded flooded = {.joined = 0};
    crowd = (struct loopback_clients){.server = &server};
    if (!loopback_start(attack, &server, 0))
        return flooded;
    join_users(attack, &crowd, PLAYERS, TOKEN_LIFE_S);
    bool playing = loopback_await(&crowd, PLAYERS);
    attack_require(attack, playing, "the clients do not play before the flood");
    uint64_t before = loopback_memory(&server);
    send_flood(attack, &crowd, rate, us, &flooded);
    uint64_t after = loopback_memory(&server);
    flooded.growth = after > before ? after - before : 0;
    loopback_run(&crowd, SECOND_US);
    count_joins(&crowd, &flooded);
    flooded.busy = loopback_machine_is_busy(&crowd);
    json_t *report = loopback_stop(attack, &server);
    loopback_destroy_clients(&crowd);
    read_report(report, &flooded);
    json_decref(report);
    loopback_remove_files(&server);
    return flooded;
}

/// This machine's load, in processes.
static double load_average(void) {
    double load = -1;
    getloadavg(&load, 1);
    return load;
}

/// The handshakes that the server read, percent of those that came.
static double read_percent(const struct flooded *flooded) {
    uint64_t all = flooded->read + flooded->unread;
    return all > 0 ? 100 * (double)flooded->read / (double)all : 0;
}

static void print_rung_head(void) {
    printf("  %7s %8s %8s %6s %9s %9s %9s %12s %7s %8s %9s %6s\n", "HELLO/s", "offered", "unread",
           "read", "joined", "slowest", "slip p99", "handshakes", "server", "senders", "disturbed",
           "load");
}

static void print_rung(uint32_t rate, const struct flooded *flooded, bool holds) {
    printf("  %7u %8.0f %8llu %4.0f %% %4u / %-3u %6.2f s %6.2f ms %6.2f ms/t. %5.0f %% %6.0f %% "
           "%4u / %u %7.1f%s\n",
           rate, flooded->rate, (unsigned long long)flooded->unread, read_percent(flooded),
           flooded->joined, flooded->tried, flooded->slowest_ms / 1000, flooded->slip_ms,
           flooded->share_ms, 100 * flooded->cpu, 100 * flooded->senders_cpu, flooded->disturbed,
           PLAYERS, load_average(), holds ? "" : "  <- does not hold");
    if (flooded->drops > 0)
        printf("  %7s %llu datagrams of players dropped unread\n", "",
               (unsigned long long)flooded->drops);
    fflush(stdout);
}

/// The knee is the first rung at which a client cannot join or ticks are late. If ticks are late
/// without a flood, the machine is busy, and only joins count.
static void climb(struct attack *attack) {
    static const uint32_t rungs[] = {0,      20000,  50000,  100000, 150000, 200000,
                                     300000, 400000, 600000, 800000, 1000000};
    double highest = 0, knee = 0;
    bool calm = true;
    print_rung_head();
    for (unsigned i = 0; i < sizeof rungs / sizeof rungs[0]; i++) {
        struct flooded flooded = play_flood(attack, rungs[i], RUNG_US);
        if (rungs[i] == 0)
            calm = flooded.slip_ms < SLIP_BOUND_MS;
        bool punctual = flooded.slip_ms >= 0 && (!calm || flooded.slip_ms < SLIP_BOUND_MS);
        bool holds =
            punctual && flooded.tried > 0 && flooded.joined == flooded.tried && flooded.harmed == 0;
        print_rung(rungs[i], &flooded, holds);
        if (knee == 0 && holds)
            highest = flooded.rate;
        else if (knee == 0)
            knee = flooded.rate;
    }
    attack_effect(attack, "; holds at %.0f/s, ", highest);
    if (knee > 0)
        attack_effect(attack, "knee %.0f/s", knee);
    else
        attack_effect(attack, "no knee");
    if (!calm)
        attack_effect(attack, " (joins; ticks late at 0)");
}

static void judge_flood(struct attack *attack, const struct flooded *flooded) {
    attack_require(attack, flooded->tried > 5 && flooded->joined == flooded->tried,
                   "%u of %u honest clients joined", flooded->joined, flooded->tried);
    attack_require(attack, flooded->overload_joins == 0, "the flood makes the server deny joins");
    attack_require(attack, flooded->harmed == 0, "%u of those who play are harmed",
                   flooded->harmed);
    attack_require(attack, SANITIZED || flooded->growth == 0,
                   "the server's memory grew by %llu bytes", (unsigned long long)flooded->growth);
    attack_require(attack,
                   flooded->slip_ms >= 0 &&
                       (flooded->busy || flooded->slip_ms < SLIP_BOUND_MS * TIMES_MAX),
                   "ticks slip by %.1f ms", flooded->slip_ms);
    // The server enforces this bound on any machine.
    attack_require(attack, flooded->share_ms > 0 && flooded->share_ms < 1.2 * SHARE_BOUND_MS,
                   "handshakes take %.1f ms of a tick", flooded->share_ms);
    attack_require(attack, flooded->read + flooded->unread >= flooded->sent,
                   "of %llu HELLOs %llu are accounted for", (unsigned long long)flooded->sent,
                   (unsigned long long)(flooded->read + flooded->unread));
}

void attack_flood(struct attack *attack) {
    enum { RATE = 100000 };
    struct flooded flooded = play_flood(attack, RATE, RUNG_US);
    attack->tries = flooded.sent;
    attack->accepted = 0;
    attack_effect(attack,
                  "joined %u of %u, slowest %.0f ms; slip p99 %.2f ms; handshakes p99 %.2f ms of a "
                  "tick, %.0f %% read; %d denied; heap +%llu; %.0f %% core; load %.1f",
                  flooded.joined, flooded.tried, flooded.slowest_ms, flooded.slip_ms,
                  flooded.share_ms, read_percent(&flooded), (int)flooded.overload_joins,
                  (unsigned long long)flooded.growth, 100 * flooded.cpu, load_average());
    judge_flood(attack, &flooded);
    // A busy machine may not have it all sent.
    attack_require_none(attack, RATE / 10 * (RUNG_US / SECOND_US));
    if (attack->flood)
        climb(attack);
}

void attack_data_flood(struct attack *attack) {
    enum { RATE = 1000000, SECONDS = 4 };
    struct loopback_server server = {.program = attack->daemon, .clients = PLAYERS};
    static struct loopback_clients crowd;
    struct flood flood;
    json_int_t left_out = -1;
    crowd = (struct loopback_clients){.server = &server};
    if (!loopback_start(attack, &server, 0))
        return;
    join_users(attack, &crowd, PLAYERS, TOKEN_LIFE_S);
    attack_require(attack, loopback_await(&crowd, PLAYERS), "the clients do not play");
    if (!flood_begin(attack, &flood, FLOOD_DATA, server.port, RATE, SECONDS * SECOND_US))
        return;
    loopback_run(&crowd, SECONDS * SECOND_US);
    attack->tries = flood_end(&flood).sent;
    bool busy = loopback_machine_is_busy(&crowd);
    unsigned playing = loopback_playing(&crowd);
    json_t *report = loopback_stop(attack, &server);
    loopback_destroy_clients(&crowd);
    json_unpack(report, "{s:{s:{s:I}}}", "server", "overload", "snapshots_left_out", &left_out);
    attack_effect(attack, "%u of %u play on; %d snapshots are left out; slip p99 %.2f ms%s",
                  playing, PLAYERS, (int)left_out, slip_ms(report),
                  busy ? "; the machine is busy" : "");
    json_decref(report);
    loopback_remove_files(&server);
    attack_require(attack, playing == PLAYERS, "%u of %u play on", playing, PLAYERS);
    attack_require(attack, left_out == 0 || (busy && left_out > 0), "%d snapshots are left out",
                   (int)left_out);
    attack->accepted = 0;
    attack_require_none(attack, RATE * SECONDS / 10); // a busy machine may not have it all sent
}

// ---- kill -9 ------------------------------------------------------------------------------------

void attack_kill(struct attack *attack) {
    enum { RETURNERS = 64, BOUND_US = 2 * SECOND_US, SHORT_S = 5 };
    struct loopback_server server = {.program = attack->daemon, .clients = RETURNERS};
    static struct loopback_clients crowd;
    uint64_t slowest_us = 0;
    crowd = (struct loopback_clients){.server = &server};
    if (!loopback_start(attack, &server, 0))
        return;
    join_users(attack, &crowd, RETURNERS, SHORT_S);
    uint64_t expired_us = hc_clock_us() + (SHORT_S + 1) * (uint64_t)SECOND_US;
    loopback_await(&crowd, RETURNERS);
    do
        loopback_run(&crowd, SECOND_US / 20);
    while (hc_clock_us() < expired_us); // from then on tickets count
    attack_require(attack, loopback_playing(&crowd) == RETURNERS, "only %u of %d play",
                   loopback_playing(&crowd), RETURNERS);
    uint64_t killed_us = hc_clock_us();
    loopback_kill(&server);
    bool again = loopback_start(attack, &server, server.port);
    for (unsigned back = 0;
         again && back < RETURNERS && hc_clock_us() - killed_us < TIMES_MAX * (uint64_t)BOUND_US;) {
        loopback_run(&crowd, SECOND_US / 20);
        back = 0;
        for (unsigned i = 0; i < RETURNERS; i++)
            back += crowd.clients[i].back_us != 0;
    }
    for (unsigned i = 0; i < RETURNERS; i++) {
        const struct loopback_client *client = &crowd.clients[i];
        attack_try(attack, client->back_us == 0);
        if (client->back_us != 0 && client->back_us - killed_us > slowest_us)
            slowest_us = client->back_us - killed_us;
    }
    attack_effect(attack, "%llu of %d play again, the slowest %.2f s after the kill, by ticket",
                  (unsigned long long)(attack->tries - attack->accepted), RETURNERS,
                  (double)slowest_us / SECOND_US);
    attack_require_none(attack, RETURNERS);
    json_decref(loopback_stop(attack, &server));
    loopback_destroy_clients(&crowd);
    loopback_remove_files(&server);
}

// ---- The log ------------------------------------------------------------------------------------

/// Names that are admitted, and that would confuse a reader of logs.
static const char *const names[] = {"${jndi:ldap://a.example/x}",
                                    "%n%s%n%x%p",
                                    "\" level=\"error",
                                    "\",\"event\":\"stopping\",\"a\":\"",
                                    "x level=error event=stopped",
                                    "\\n\\u001b[2J\\x0a",
                                    "`reboot`; $(reboot)",
                                    "<script>alert(1)</script>",
                                    "}{][,:\"'",
                                    "\xe2\x82\xac\xf0\x9f\x90\x89"};
enum { NAMES = sizeof names / sizeof names[0] };

/// Names that are refused: none of their bytes may be in the log.
static const char *const refused[] = {"a\nlevel=error event=stopped", "\x1b[2J", "\r\n\r\n",
                                      "\xe2\x80\xae gnp", "a\xff\xfe"};
enum { REFUSED = sizeof refused / sizeof refused[0] };

/// Whether a line of text is TIME LEVEL EVENT and key=value words, with quotes around special
/// bytes.
static bool is_text_line(const char *line) {
    bool quoted = false;
    unsigned words = 1;
    for (const char *c = line; *c != 0; c++) {
        if (*c < ' ' || *c > '~')
            return false;
        if (quoted && *c == '\\' && c[1] != 0)
            c++;
        else if (*c == '"')
            quoted = !quoted;
        else if (*c == ' ' && !quoted)
            words++;
    }
    return !quoted && words >= 3 && strncmp(line, "20", 2) == 0 && line[10] == 'T' &&
           line[23] == 'Z';
}

/// Whether a line is one JSON object of an event; stores the name of a join in `*name`.
static bool is_json_line(const char *line, json_t **object, const char **name) {
    const char *event = NULL;
    *object = json_loads(line, 0, NULL);
    *name = NULL;
    if (json_unpack(*object, "{s:s}", "event", &event) != 0)
        return false;
    if (strcmp(event, "joined") == 0)
        json_unpack(*object, "{s:s}", "name", name);
    return true;
}

/// The bit of the name that a line of JSON shows.
static uint32_t name_bit(const char *shown) {
    for (unsigned i = 0; i < NAMES; i++)
        if (strcmp(names[i], shown) == 0)
            return 1u << i;
    return 0;
}

static void judge_log(struct attack *attack, const struct loopback_server *server, bool json) {
    json_t *lines = loopback_log(server), *line, *object;
    uint32_t seen = 0, joined = 0;
    size_t i;
    json_array_foreach(lines, i, line) {
        const char *text = json_string_value(line), *name = NULL;
        bool whole = text != NULL && strlen(text) == json_string_length(line);
        object = NULL;
        bool sound = whole && (json ? is_json_line(text, &object, &name) : is_text_line(text));
        attack_try(attack, !sound);
        joined += json ? name != NULL : whole && strstr(text, " joined ") != NULL;
        seen |= name != NULL ? name_bit(name) : 0;
        json_decref(object);
    }
    attack_require(attack, joined == NAMES, "the log shows %u joins of %d", joined, NAMES);
    attack_require(attack, !json || seen == (1u << NAMES) - 1, "names are not what they were");
    json_decref(lines);
}

void attack_daemon_log(struct attack *attack) {
    static struct loopback_clients crowd;
    for (unsigned json = 0; json < 2; json++) {
        struct loopback_server server = {.program = attack->daemon,
                                         .clients = NAMES + REFUSED,
                                         .format = json ? "json" : "text"};
        crowd = (struct loopback_clients){.server = &server};
        if (!loopback_start(attack, &server, 0))
            return;
        for (unsigned i = 0; i < NAMES + REFUSED; i++) {
            const char *name = i < NAMES ? names[i] : refused[i - NAMES];
            struct hc_credential credential = loopback_issue_token(1 + i, name, TOKEN_LIFE_S);
            loopback_join(attack, &crowd, &credential, 1);
        }
        loopback_await(&crowd, NAMES);
        loopback_run(&crowd, SECOND_US / 2);
        json_decref(loopback_stop(attack, &server));
        loopback_destroy_clients(&crowd);
        judge_log(attack, &server, json);
        loopback_remove_files(&server);
    }
    attack_effect(attack, "every line is one event, as text and as JSON; %d names read back",
                  NAMES);
    attack_require_none(attack, 2 * NAMES);
}

// ---- Many matches -------------------------------------------------------------------------------

/// Kills the server and starts it with `matches`, under its clients; counts those that play again.
static void restart_with(struct attack *attack, struct loopback_server *server,
                         struct loopback_clients *crowd, unsigned honest, unsigned matches) {
    loopback_kill(server);
    server->matches = matches;
    server->clients = matches > 1 ? honest / matches : honest;
    for (unsigned i = 0; i < honest; i++)
        crowd->clients[i].back_us = 0;
    unsigned back = 0;
    if (!loopback_start(attack, server, server->port))
        return;
    for (uint64_t end_us = hc_clock_us() + 60 * (uint64_t)SECOND_US;
         back < honest && hc_clock_us() < end_us;) {
        loopback_run(crowd, SECOND_US / 20);
        back = 0;
        for (unsigned i = 0; i < honest; i++)
            back += crowd->clients[i].back_us != 0;
    }
    for (unsigned i = 0; i < honest; i++) {
        const struct loopback_client *client = &crowd->clients[i];
        attack_require(attack, client->back_us != 0,
                       "client %u waits with %u matches: state %d, event %d, deny %d, loss %d", i,
                       matches, hc_client_state(client->runner.client), client->last.kind,
                       client->last.deny, client->last.loss);
        attack_try(attack, client->back_us == 0);
    }
}

void attack_matches(struct attack *attack) {
    enum { HONEST = 16, MATCHES = 4, HOSTILE_USER = 9999 };
    struct loopback_server server = {
        .program = attack->daemon, .clients = HONEST / MATCHES, .matches = MATCHES};
    static struct loopback_clients crowd, strangers;
    crowd = strangers = (struct loopback_clients){.server = &server};
    if (!loopback_start(attack, &server, 0))
        return;
    for (unsigned i = 0; i < HONEST; i++) { // a denied user and an honest one take turns
        struct hc_credential bad = loopback_issue_token(HOSTILE_USER, refused[0], TOKEN_LIFE_S);
        struct hc_credential good = loopback_issue_token(1 + i, NULL, TOKEN_LIFE_S);
        loopback_join(attack, &strangers, &bad, 1);
        loopback_run(&strangers, SECOND_US / 20);
        loopback_join(attack, &crowd, &good, 1);
        loopback_run(&crowd, SECOND_US / 20);
    }
    loopback_await(&crowd, HONEST);
    unsigned playing = loopback_playing(&crowd);
    for (unsigned i = 0; i < HONEST; i++)
        attack_try(attack, i >= playing);
    static const unsigned after[] = {1, MATCHES, 1};
    for (unsigned i = 0; i < sizeof after / sizeof after[0]; i++)
        restart_with(attack, &server, &crowd, HONEST, after[i]);
    attack_effect(attack, "%u of %d play beside a user who is denied; %llu of %llu in all", playing,
                  HONEST, (unsigned long long)(attack->tries - attack->accepted),
                  (unsigned long long)attack->tries);
    attack_require_none(attack, 4 * HONEST);
    json_decref(loopback_stop(attack, &server));
    loopback_destroy_clients(&strangers);
    loopback_destroy_clients(&crowd);
    loopback_remove_files(&server);
}

// ---- The port that issues tokens ----------------------------------------------------------------

enum { IDLE = 500, ANSWER_MAX = 1 << 16 };

static int dial_admin(const struct loopback_server *server) {
    struct timeval patience = {.tv_sec = 60}; // only ends a wait that hangs
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    snprintf(to.sun_path, sizeof to.sun_path, "%.90s/admin", server->directory);
    if (connect(descriptor, (struct sockaddr *)&to, sizeof to) == 0)
        return descriptor;
    close(descriptor);
    return -1;
}

/// A connection to the admin face, if there is one, or else to the token port; -1: none.
static int dial(const struct loopback_server *server) {
    if (server->admin)
        return dial_admin(server);
    struct timeval patience = {.tv_sec = 60}; // only ends a wait that hangs
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons(server->port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (connect(descriptor, (struct sockaddr *)&to, sizeof to) == 0)
        return descriptor;
    close(descriptor);
    return -1;
}

/// Sends `size` bytes and reads the answer as text; returns the HTTP status, 0 for none.
static unsigned ask(const struct loopback_server *server, const char *request, size_t size,
                    char answer[static ANSWER_MAX]) {
    size_t used = 0;
    int descriptor = dial(server);
    answer[0] = 0;
    if (descriptor < 0)
        return 0;
    for (size_t at = 0; at < size;) {
        ssize_t sent = send(descriptor, request + at, size - at, MSG_NOSIGNAL);
        if (sent <= 0)
            break;
        at += (size_t)sent;
    }
    shutdown(descriptor, SHUT_WR);
    for (ssize_t got; used < ANSWER_MAX - 1 &&
                      (got = recv(descriptor, answer + used, ANSWER_MAX - 1 - used, 0)) > 0;)
        used += (size_t)got;
    answer[used] = 0;
    close(descriptor);
    return strncmp(answer, "HTTP/1.", 7) == 0 ? (unsigned)strtoul(answer + 9, NULL, 10) : 0;
}

/// Sends a request with the port in the place of a `#`, and so many filling bytes in that of a `*`.
static unsigned ask_as(const struct loopback_server *server, const char *pattern, size_t filling,
                       char answer[static ANSWER_MAX]) {
    static char request[1 << 18];
    size_t used = 0;
    for (const char *c = pattern; *c != 0; c++) {
        if (*c == '#') {
            used += (size_t)snprintf(request + used, 8, "%u", server->port);
        } else if (*c == '*') {
            memset(request + used, 'a', filling);
            used += filling;
        } else {
            request[used++] = *c;
        }
    }
    return ask(server, request, used, answer);
}

/// Requests that must not get a token, and the status of the answer; 0: any refusal.
static const struct request {
    const char *pattern;
    size_t filling;
    unsigned status;
} requests[] = {
    {"POST /token HTTP/1.1\r\nHost: 127.0.0.1:#\r\nOrigin: http://evil.example\r\n\r\n", 0, 403},
    {"POST /token HTTP/1.1\r\nHost: localhost:#\r\norigin: null\r\n\r\n", 0, 403},
    {"POST /token HTTP/1.1\r\nHost: evil.example\r\n\r\n", 0, 403},
    {"POST /token HTTP/1.1\r\nHost: evil.example:#\r\n\r\n", 0, 403},
    {"POST /token HTTP/1.1\r\nHost: 127.0.0.1.evil.example\r\n\r\n", 0, 403},
    {"POST http://evil.example/token HTTP/1.1\r\nHost: 127.0.0.1:#\r\n\r\n", 0, 403},
    {"POST /token HTTP/1.0\r\n\r\n", 0, 403},
    {"GET /token HTTP/1.1\r\nHost: 127.0.0.1:#\r\n\r\n", 0, 0},
    {"PUT /token HTTP/1.1\r\nHost: 127.0.0.1:#\r\n\r\n", 0, 0},
    {"OPTIONS /token HTTP/1.1\r\nHost: 127.0.0.1:#\r\n\r\n", 0, 0},
    {"CONNECT 127.0.0.1:# HTTP/1.1\r\nHost: 127.0.0.1:#\r\n\r\n", 0, 0},
    {"POST /token?count=0 HTTP/1.1\r\nHost: 127.0.0.1:#\r\n\r\n", 0, 400},
    {"POST /token?count=4097 HTTP/1.1\r\nHost: 127.0.0.1:#\r\n\r\n", 0, 400},
    {"POST /token?count=-1 HTTP/1.1\r\nHost: 127.0.0.1:#\r\n\r\n", 0, 400},
    {"POST /token?count=99999999999999999999 HTTP/1.1\r\nHost: 127.0.0.1:#\r\n\r\n", 0, 400},
    {"POST /../../etc/passwd HTTP/1.1\r\nHost: 127.0.0.1:#\r\n\r\n", 0, 404},
    {"POST / HTTP/1.1\r\nHost: 127.0.0.1:#\r\n\r\n", 0, 404},
    {"POST /token HTTP/1.1\r\nHost: 127.0.0.1:#\r\nX: *\r\n\r\n", 9000, 0},
    {"POST /* HTTP/1.1\r\nHost: 127.0.0.1:#\r\n\r\n", 70000, 0},
    {"POST /token HTTP/1.1\r\nHost: 127.0.0.1:#\r\nContent-Length: 70000\r\n\r\n*", 70000, 413},
    {"POST /token HTTP/1.1\r\nHost: 127.0.0.1:#\r\nContent-Length: 9999999999\r\n\r\n*", 10, 413},
    {"POST /token HTTP/1.1\r\nHost: 127.0.0.1:#\r\nContent-Length: -5\r\n\r\n", 0, 0},
    {"POST /token HTTP/1.1\r\nHost: 127.0.0.1:#\r\nTransfer-Encoding: chunked\r\n\r\n"
     "fffffff\r\n*",
     70000, 0},
    {"\x16\x03\x01\x02", 0, 0},
    {"*", 100000, 0},
};

/// Obtains tokens as a program of this machine; false: the server refuses.
static bool obtain(const struct loopback_server *server, struct hc_credential *credentials,
                   unsigned count) {
    static char answer[ANSWER_MAX];
    char pattern[96];
    snprintf(pattern, sizeof pattern, "POST /token?count=%u HTTP/1.0\r\nHost: 127.0.0.1:#\r\n\r\n",
             count);
    if (ask_as(server, pattern, 0, answer) != 200)
        return false;
    const char *line = strstr(answer, "\r\n\r\n");
    line = line != NULL ? line + 4 : "";
    for (unsigned i = 0; i < count; i++) {
        size_t length = strcspn(line, "\n");
        if (hc_token_read_credential(line, length, &credentials[i]) != HC_OK)
            return false;
        line += length + (line[length] == '\n');
    }
    return true;
}

/// Runs the clients while IDLE connections send half a request, or nothing.
static void idle_beside(struct attack *attack, const struct loopback_server *server,
                        struct loopback_clients *crowd) {
    static int descriptors[IDLE];
    unsigned open = 0;
    for (unsigned i = 0; i < IDLE; i++) {
        descriptors[i] = dial(server);
        open += descriptors[i] >= 0;
        if (i % 2 == 0 && descriptors[i] >= 0)
            (void)!send(descriptors[i], "POST /token HTTP/1.1\r\nX", 23, MSG_NOSIGNAL);
        if (i % 20 == 0)
            loopback_run(crowd, 1000);
    }
    attack_require(attack, open == IDLE, "only %u connections", open);
    loopback_run(crowd, 3 * SECOND_US);
    for (unsigned i = 0; i < IDLE; i++)
        if (descriptors[i] >= 0)
            close(descriptors[i]);
}

void attack_admin(struct attack *attack) {
    enum { HERE = 4 };
    struct loopback_server server = {.program = attack->daemon, .clients = HERE, .dev = true};
    static struct loopback_clients crowd;
    static char answer[ANSWER_MAX];
    struct hc_credential credentials[HERE];
    crowd = (struct loopback_clients){.server = &server};
    if (!loopback_start(attack, &server, 0))
        return;
    for (unsigned i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        unsigned status = ask_as(&server, requests[i].pattern, requests[i].filling, answer);
        attack_try(attack, status == 200);
        attack_require(attack, requests[i].status == 0 || status == requests[i].status,
                       "request %u is answered by %u", i, status);
    }
    bool obtained = obtain(&server, credentials, HERE);
    attack_require(attack, obtained, "a program of this machine gets no tokens");
    for (unsigned i = 0; obtained && i < HERE; i++)
        loopback_join(attack, &crowd, &credentials[i], 1);
    loopback_await(&crowd, HERE);
    idle_beside(attack, &server, &crowd);
    attack_require(attack, loopback_playing(&crowd) == HERE, "only %u of %d play",
                   loopback_playing(&crowd), HERE);
    json_t *report = loopback_stop(attack, &server);
    double slip = slip_ms(report);
    bool in_time = loopback_machine_is_busy(&crowd) || slip < SLIP_BOUND_MS * TIMES_MAX;
    attack_require(attack, slip >= 0 && in_time, "ticks slip by %.1f ms", slip);
    json_int_t late = -1;
    json_unpack(report, "{s:{s:{s:I}}}", "server", "ticks_over_budget", "began_late", &late);
    attack_effect(attack,
                  "beside %d idle connections tick slip p99 %.2f ms, %lld ticks began late, %lld "
                  "missed",
                  IDLE, slip, (long long)late, (long long)count_of(report, "ticks_missed"));
    attack_require_none(attack, sizeof requests / sizeof requests[0]);
    json_decref(report);
    loopback_destroy_clients(&crowd);
    loopback_remove_files(&server);
}

/// Requests without the password, whose answer is none of these. Status 0: any other one.
static const struct {
    const char *pattern;
    size_t filling;
    unsigned status;
} orders[] = {
    {"GET /status HTTP/1.1\r\nHost: localhost\r\n\r\n", 0, 401},
    {"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", 0, 401},
    {"GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n", 0, 401},
    {"GET /../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n", 0, 401},
    {"POST /restart HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n", 0, 401},
    {"POST /kick HTTP/1.1\r\nHost: localhost\r\nContent-Length: 6\r\n\r\nuser=1", 0, 401},
    {"POST /drain HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nseconds=0", 0, 401},
    {"GET /status HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic YWRtaW46\r\n\r\n", 0, 401},
    {"GET /status HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic *\r\n\r\n", 7000, 401},
    {"GET /status HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer *\r\n\r\n", 32, 401},
    {"GET /healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n", 0, 403},
    {"GET http://evil.example/healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", 0, 403},
    {"GET /healthz HTTP/1.0\r\n\r\n", 0, 403},
    {"POST /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n", 0, 405},
    {"PUT /restart HTTP/1.1\r\nHost: localhost\r\n\r\n", 0, 0},
    {"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: *\r\n\r\n", 9000, 0},
    {"POST /kick HTTP/1.1\r\nHost: localhost\r\nContent-Length: 70000\r\n\r\n*", 70000, 413},
    {"POST /kick HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nfffffff\r\n*",
     70000, 0},
    {"\x16\x03\x01\x02", 0, 0},
};

/// Tries as many passwords; each is refused.
static void try_passwords(struct attack *attack, struct loopback_clients *crowd, unsigned count) {
    static char answer[ANSWER_MAX];
    for (unsigned i = 0; i < count; i++) {
        char credentials[64], base64[128], request[256];
        int size = snprintf(credentials, sizeof credentials, "admin:%048u", i);
        sodium_bin2base64(base64, sizeof base64, (const uint8_t *)credentials, (size_t)size,
                          sodium_base64_VARIANT_ORIGINAL);
        size = snprintf(request, sizeof request,
                        "POST /restart HTTP/1.0\r\nHost: localhost\r\nContent-Length: 0\r\n"
                        "Authorization: Basic %s\r\n\r\n",
                        base64);
        unsigned status = ask(crowd->server, request, (size_t)size, answer);
        attack_try(attack, status / 100 == 2);
        attack_require(attack, status == 401, "password %u is answered by %u", i, status);
        if (i % 20 == 0)
            loopback_run(crowd, 1000);
    }
}

void attack_admin_face(struct attack *attack) {
    enum { PLAY = 4, PASSWORDS = 2000, ORDERS = sizeof orders / sizeof orders[0] };
    struct loopback_server server = {.program = attack->daemon, .clients = PLAY, .admin = true};
    static struct loopback_clients crowd;
    static char answer[ANSWER_MAX];
    crowd = (struct loopback_clients){.server = &server};
    if (!loopback_start(attack, &server, 0))
        return;
    join_users(attack, &crowd, PLAY, TOKEN_LIFE_S);
    attack_require(attack, loopback_await(&crowd, PLAY), "the clients do not play");
    for (unsigned i = 0; i < ORDERS; i++) {
        unsigned status = ask_as(&server, orders[i].pattern, orders[i].filling, answer);
        attack_try(attack, status / 100 == 2);
        attack_require(attack, orders[i].status == 0 || status == orders[i].status,
                       "request %u is answered by %u", i, status);
        loopback_run(&crowd, SECOND_US / 100);
    }
    try_passwords(attack, &crowd, PASSWORDS);
    loopback_run(&crowd, SECOND_US / 10);
    idle_beside(attack, &server, &crowd);
    unsigned health =
        ask_as(&server, "GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n", 0, answer);
    attack_require(attack, health == 200, "beside them /healthz is answered by %u", health);
    unsigned playing = loopback_playing(&crowd);
    attack_require(attack, playing == PLAY, "only %u of %d play", playing, PLAY);
    json_t *report = loopback_stop(attack, &server);
    double slip = slip_ms(report);
    bool in_time = loopback_machine_is_busy(&crowd) || slip < SLIP_BOUND_MS * TIMES_MAX;
    attack_require(attack, slip >= 0 && in_time, "ticks slip by %.1f ms", slip);
    attack_effect(attack, "beside %d passwords and %d idle connections tick slip p99 %.2f ms",
                  PASSWORDS, IDLE, slip);
    attack_require_none(attack, ORDERS + PASSWORDS);
    json_decref(report);
    loopback_destroy_clients(&crowd);
    loopback_remove_files(&server);
}
