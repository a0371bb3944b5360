/// The daemon's process and files, and the clients' sockets.
#define _GNU_SOURCE // pipe2

#include "tests/attack/loopback.h"

#include "client/programs/resolve.h"
#include "common/programs/clock.h"
#include "hindcast/arena.h"
#include "hindcast/check.h"
#include "tests/sim/players.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    // These only end a wait that hangs.
    START_US = 60000000, ///< the longest wait for a server to listen
    STOP_US = 60000000,  ///< the longest wait for a server to end
    AWAIT_US = 60000000, ///< the longest wait for clients to play
    TURN_MS = 2,         ///< the longest sleep of the clients' loop
    BUSY_US = 7000,      ///< if 1 sleep in 100 takes longer, the machine is busy
};

// ---- The server ---------------------------------------------------------------------------------

static void path_of(const struct loopback_server *server, const char *file,
                    char path[static LOOPBACK_PATH_MAX + 16]) {
    snprintf(path, LOOPBACK_PATH_MAX + 16, "%s/%s", server->directory, file);
}

/// Creates a file that only this user may read, for writing; NULL: failed.
static FILE *create_file(const struct loopback_server *server, const char *name) {
    char path[LOOPBACK_PATH_MAX + 16];
    path_of(server, name, path);
    int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    return descriptor < 0 ? NULL : fdopen(descriptor, "w");
}

/// Writes the configuration: the admin face, if there is one, with a random password.
static bool prepare_config(const struct loopback_server *server) {
    uint8_t random[24];
    char hex[2 * sizeof random + 1];
    FILE *password = create_file(server, "password"), *config = create_file(server, "config");
    if (password == NULL || config == NULL)
        return false;
    randombytes_buf(random, sizeof random);
    fprintf(password, "%s\n", sodium_bin2hex(hex, sizeof hex, random, sizeof random));
    if (server->admin)
        fprintf(config, "admin = unix:%s/admin\n", server->directory);
    if (server->admin && !server->open)
        fprintf(config, "admin-password-file = %s/password\n", server->directory);
    return fclose(password) == 0 && fclose(config) == 0;
}

/// A directory of its own with the key file in it.
static bool prepare(struct loopback_server *server) {
    struct hc_token_ring ring = hc_endpoint_token_ring();
    char hex[2 * HC_TOKEN_KEY_SIZE + 1];
    if (server->directory[0] != 0)
        return true;
    snprintf(server->directory, sizeof server->directory, "/tmp/hc_attack.XXXXXX");
    if (mkdtemp(server->directory) == NULL)
        return false;
    FILE *file = create_file(server, "keys");
    if (file == NULL || !prepare_config(server))
        return false;
    sodium_bin2hex(hex, sizeof hex, ring.keys[0].key, sizeof ring.keys[0].key);
    fprintf(file, "%u %s\n", ring.keys[0].id, hex);
    return fclose(file) == 0;
}

/// In the child: becomes the server.
static void become(const struct loopback_server *server, uint16_t port, int out) {
    char port_text[8], clients[16], matches[16], keys[LOOPBACK_PATH_MAX + 16],
        report[LOOPBACK_PATH_MAX + 16], log[LOOPBACK_PATH_MAX + 16], config[LOOPBACK_PATH_MAX + 16];
    snprintf(port_text, sizeof port_text, "%u", port);
    snprintf(clients, sizeof clients, "%u", server->clients);
    snprintf(matches, sizeof matches, "%u", server->matches > 1 ? server->matches : 1);
    path_of(server, "keys", keys);
    path_of(server, "report", report);
    path_of(server, "log", log);
    path_of(server, "config", config);
    int descriptor = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (descriptor < 0 || dup2(out, STDOUT_FILENO) < 0 || dup2(descriptor, STDERR_FILENO) < 0)
        _exit(127);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execl(server->program, "hindcastd", "--bind", "127.0.0.1", "--port", port_text, "--max-clients",
          clients, "--matches", matches, "--workers", server->matches > 1 ? "2" : "1", "--seed",
          "1", "--json", report, "--log-format", server->format, "--config", config,
          server->dev ? "--dev" : "--key-file", server->dev ? (char *)NULL : keys, (char *)NULL);
    _exit(127);
}

/// Reads the port from the server's first line.
static bool await_port(struct loopback_server *server, int out) {
    static const char prefix[] = "listening on 127.0.0.1:";
    char text[256] = "";
    size_t size = 0;
    for (uint64_t end = hc_clock_us() + START_US; hc_clock_us() < end && size < sizeof text - 1;) {
        struct pollfd readable = {.fd = out, .events = POLLIN};
        if (poll(&readable, 1, 100) <= 0)
            continue;
        ssize_t got = read(out, text + size, sizeof text - 1 - size);
        if (got <= 0)
            return false;
        size += (size_t)got;
        text[size] = 0;
        const char *found = strstr(text, prefix);
        if (found != NULL && strchr(found, '\n') != NULL) {
            server->port = (uint16_t)strtoul(found + sizeof prefix - 1, NULL, 10);
            return true;
        }
    }
    return false;
}

bool loopback_start(struct attack *attack, struct loopback_server *server, uint16_t port) {
    int ends[2];
    if (server->format == NULL)
        server->format = "json";
    bool prepared = prepare(server) && pipe2(ends, O_CLOEXEC) == 0;
    attack_require(attack, prepared, "no directory or pipe can be had: %s", strerror(errno));
    if (!prepared)
        return false;
    fflush(stdout);
    server->pid = fork();
    if (server->pid == 0)
        become(server, port, ends[1]);
    close(ends[1]);
    server->out = ends[0]; // a daemon whose report nobody reads would say so in its log
    bool listens = server->pid > 0 && await_port(server, ends[0]);
    attack_require(attack, listens, "%s does not listen", server->program);
    if (!listens && server->pid > 0)
        loopback_kill(server);
    return listens;
}

/// Forgets a process that has ended.
static void forget(struct loopback_server *server) {
    close(server->out);
    server->pid = 0;
}

void loopback_kill(struct loopback_server *server) {
    if (server->pid <= 0)
        return;
    kill(server->pid, SIGKILL);
    waitpid(server->pid, NULL, 0);
    forget(server);
}

json_t *loopback_stop(struct attack *attack, struct loopback_server *server) {
    char path[LOOPBACK_PATH_MAX + 16];
    int status = 0;
    pid_t ended = 0;
    if (server->pid <= 0)
        return NULL;
    kill(server->pid, SIGTERM);
    for (uint64_t end = hc_clock_us() + STOP_US; ended == 0 && hc_clock_us() < end;) {
        ended = waitpid(server->pid, &status, WNOHANG);
        hc_clock_sleep(5000);
    }
    // Status 1 is a run with the verdict NOT OK, as on a busy machine; the report gives the reason.
    bool in_order = ended == server->pid && WIFEXITED(status) && WEXITSTATUS(status) <= 1;
    attack_require(attack, in_order, "the server does not end in order");
    if (ended == server->pid)
        forget(server);
    loopback_kill(server);
    path_of(server, "report", path);
    json_t *report = json_load_file(path, 0, NULL);
    attack_require(attack, report != NULL, "the server leaves no report");
    return report;
}

void loopback_remove_files(struct loopback_server *server) {
    static const char *const files[] = {"keys", "report", "log", "password", "config", "admin"};
    char path[LOOPBACK_PATH_MAX + 16];
    loopback_kill(server);
    for (unsigned i = 0; server->directory[0] != 0 && i < sizeof files / sizeof files[0]; i++) {
        path_of(server, files[i], path);
        unlink(path);
    }
    if (server->directory[0] != 0)
        rmdir(server->directory);
    server->directory[0] = 0;
}

uint64_t loopback_memory(const struct loopback_server *server) {
    char path[64], line[256];
    unsigned long long kilobytes = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)server->pid);
    FILE *file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "VmData: %llu kB", &kilobytes) == 1)
            break;
    if (file != NULL)
        fclose(file);
    return kilobytes * 1024;
}

json_t *loopback_log(const struct loopback_server *server) {
    char path[LOOPBACK_PATH_MAX + 16], *line = NULL;
    size_t room = 0;
    ssize_t size;
    json_t *lines = json_array();
    path_of(server, "log", path);
    FILE *file = fopen(path, "r");
    while (file != NULL && (size = getline(&line, &room, file)) > 0)
        json_array_append_new(lines,
                              json_stringn_nocheck(line, (size_t)size - (line[size - 1] == '\n')));
    free(line);
    if (file != NULL)
        fclose(file);
    return lines;
}

// ---- Clients ------------------------------------------------------------------------------------

struct hc_credential loopback_issue_token(uint64_t user, const char *name, uint32_t life_s) {
    struct hc_token_ring ring = hc_endpoint_token_ring();
    struct hc_token token = {.players = HC_OWN_PLAYERS_MAX,
                             .watch = true,
                             .issued_s = (uint64_t)time(NULL),
                             .expire_s = (uint64_t)time(NULL) + life_s,
                             .client_id = user};
    struct hc_credential credential;
    uint8_t nonce[HC_TOKEN_NONCE_SIZE];
    randombytes_buf(token.token_id, sizeof token.token_id);
    randombytes_buf(token.secret, sizeof token.secret);
    randombytes_buf(nonce, sizeof nonce);
    if (name != NULL)
        memcpy(token.name, name,
               strlen(name) < sizeof token.name ? strlen(name) : sizeof token.name);
    hc_token_seal(&ring.keys[0], hc_test_protocol_id(&hc_arena), &token, nonce, credential.token);
    memcpy(credential.secret, token.secret, sizeof credential.secret);
    return credential;
}

static void press_keys(void *owner, bool due, uint64_t now_us) {
    struct loopback_client *client = owner;
    struct hc_arena_input keys;
    hc_tick head;
    (void)now_us;
    if (!due || !hc_cl_runner_new_tick(&client->runner, &head) ||
        hc_client_player(client->runner.client, 0) == HC_NO_PLAYER)
        return;
    hc_sim_draw_keys(&hc_arena, 1, client->place, 0, head, &keys);
    hc_client_set_input(client->runner.client, 0, &keys);
}

static void note_event(void *owner, const struct hc_client_event *event, uint64_t now_us) {
    struct loopback_client *client = owner;
    client->last = *event;
    if (event->kind == HC_CLIENT_EVENT_LOST && client->lost_us == 0)
        client->lost_us = now_us;
    if (event->kind == HC_CLIENT_EVENT_PLAYING && client->playing_us == 0)
        client->playing_us = now_us;
    else if (event->kind == HC_CLIENT_EVENT_PLAYING && client->lost_us != 0)
        client->back_us = now_us;
}

static const struct hc_cl_runner_calls calls = {.advances = press_keys, .event = note_event};

void loopback_join(struct attack *attack, struct loopback_clients *crowd,
                   const struct hc_credential *credential, uint8_t players) {
    struct hc_client_config config = hc_client_config_default();
    struct hc_network_sim_config link = hc_network_sim_config_default();
    struct hc_cl_udp_peer peer;
    char why[256] = "no room", port[8];
    HC_ASSERT(crowd->count < LOOPBACK_CLIENTS_MAX);
    struct loopback_client *client = &crowd->clients[crowd->count];
    *client = (struct loopback_client){.runner = {.calls = &calls, .owner = client},
                                       .place = crowd->count,
                                       .begun_us = hc_clock_us()};
    config.game = &hc_arena;
    config.rule_hash = hc_test_rule_hash(config.game);
    config.credential = *credential;
    config.players = players;
    snprintf(port, sizeof port, "%u", crowd->server->port);
    struct hc_cl_resolve_wish wish = {.host = "127.0.0.1", .port = port};
    if (hc_cl_resolve(&wish, &peer, why, sizeof why))
        client->runner.udp = hc_cl_udp_open(&peer, &link, client->begun_us, why, sizeof why);
    bool begun = client->runner.udp != NULL &&
                 hc_cl_runner_begin(&client->runner, &config, false, client->begun_us);
    attack_require(attack, begun, "no client: %s", why);
    crowd->count += begun;
}

void loopback_run(struct loopback_clients *crowd, uint64_t us) {
    struct pollfd waits[LOOPBACK_CLIENTS_MAX];
    for (uint64_t end = hc_clock_us() + us; hc_clock_us() < end;) {
        unsigned count = 0;
        for (unsigned i = 0; i < crowd->count; i++) {
            struct hc_cl_runner *runner = &crowd->clients[i].runner;
            uint64_t now_us = hc_clock_us();
            hc_cl_udp_receive(runner->udp, now_us);
            hc_cl_runner_turn(runner, now_us);
            waits[count++] =
                (struct pollfd){.fd = hc_cl_udp_descriptor(runner->udp), .events = POLLIN};
        }
        uint64_t from = hc_clock_us();
        poll(waits, count, TURN_MS);
        hc_histogram_record(&crowd->sleep_us, hc_clock_us() - from);
    }
}

bool loopback_await(struct loopback_clients *crowd, unsigned count) {
    for (uint64_t end = hc_clock_us() + AWAIT_US; loopback_playing(crowd) != count;) {
        if (hc_clock_us() >= end)
            return false;
        loopback_run(crowd, TURN_MS * 1000);
    }
    return true;
}

void loopback_join_users(struct attack *attack, struct loopback_clients *crowd, unsigned count,
                         uint32_t life_s) {
    for (unsigned i = 0; i < count; i++) {
        struct hc_credential credential = loopback_issue_token(1 + i, NULL, life_s);
        loopback_join(attack, crowd, &credential, 1);
    }
}

double loopback_slip_ms(const json_t *report) {
    double slip = -1;
    json_unpack((json_t *)report, "{s:{s:{s:F}}}", "server", "tick_lateness_ms", "p99", &slip);
    return slip;
}

double loopback_judge_slip(struct attack *attack, const struct loopback_clients *crowd,
                           const json_t *report) {
    double slip = loopback_slip_ms(report);
    bool in_time =
        loopback_machine_is_busy(crowd) || slip < LOOPBACK_SLIP_BOUND_MS * LOOPBACK_TIMES_MAX;
    attack_require(attack, slip >= 0 && in_time, "ticks slip by %.1f ms", slip);
    return slip;
}

bool loopback_machine_is_busy(const struct loopback_clients *crowd) {
    return hc_histogram_percentile(&crowd->sleep_us, 990) > BUSY_US;
}

void loopback_leave(struct loopback_clients *crowd, unsigned place) {
    hc_cl_runner_leave(&crowd->clients[place].runner, hc_clock_us());
}

unsigned loopback_playing(const struct loopback_clients *crowd) {
    unsigned playing = 0;
    for (unsigned i = 0; i < crowd->count; i++) {
        enum hc_client_state state = hc_client_state(crowd->clients[i].runner.client);
        playing += state == HC_CLIENT_PLAYING || state == HC_CLIENT_STALLED;
    }
    return playing;
}

void loopback_destroy_clients(struct loopback_clients *crowd) {
    for (unsigned i = 0; i < crowd->count; i++) {
        hc_cl_runner_end(&crowd->clients[i].runner);
        hc_cl_udp_close(crowd->clients[i].runner.udp);
    }
    crowd->count = 0;
}
