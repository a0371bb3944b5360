/// Attacks on a real daemon: floods, kill -9, and hostile names in its log.
#define _GNU_SOURCE // memmem, getloadavg

#include "client/client.h"
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
};

// A sanitizer delays the reuse of freed memory, so such a server's memory grows in any case.
#ifdef __SANITIZE_ADDRESS__
#define SANITIZED 1
#elif defined(__has_feature)
#define SANITIZED __has_feature(address_sanitizer)
#else
#define SANITIZED 0
#endif

static json_int_t count_of(const json_t *report, const char *key) {
    return json_integer_value(json_object_get(json_object_get(report, "server"), key));
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
    flooded->slip_ms = loopback_slip_ms(report);
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
    loopback_join_users(attack, &crowd, PLAYERS, TOKEN_LIFE_S);
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
            calm = flooded.slip_ms < LOOPBACK_SLIP_BOUND_MS;
        bool punctual = flooded.slip_ms >= 0 && (!calm || flooded.slip_ms < LOOPBACK_SLIP_BOUND_MS);
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
    attack_require(
        attack,
        flooded->slip_ms >= 0 &&
            (flooded->busy || flooded->slip_ms < LOOPBACK_SLIP_BOUND_MS * LOOPBACK_TIMES_MAX),
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
    loopback_join_users(attack, &crowd, PLAYERS, TOKEN_LIFE_S);
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
                  playing, PLAYERS, (int)left_out, loopback_slip_ms(report),
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
    loopback_join_users(attack, &crowd, RETURNERS, SHORT_S);
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
    for (unsigned back = 0; again && back < RETURNERS &&
                            hc_clock_us() - killed_us < LOOPBACK_TIMES_MAX * (uint64_t)BOUND_US;) {
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

/// Whether a client plays again and has a ticket of that session. Without it its next CONNECT would
/// name the match of the session before, which may be full.
static bool is_back(const struct loopback_client *client) {
    return client->back_us != 0 && client->runner.client->link.ticket_seq != 0;
}

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
            back += is_back(&crowd->clients[i]);
    }
    for (unsigned i = 0; i < honest; i++) {
        const struct loopback_client *client = &crowd->clients[i];
        attack_require(attack, is_back(client),
                       "client %u waits with %u matches: state %d, event %d, deny %d, loss %d", i,
                       matches, hc_client_state(client->runner.client), client->last.kind,
                       client->last.deny, client->last.loss);
        attack_try(attack, !is_back(client));
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
