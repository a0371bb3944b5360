/// Measures the floor of a daemon with the kernel: a process of clients sends a datagram of each in
/// every tick, and the daemon's sockets receive, open, seal and send as many, without a game.
#define _GNU_SOURCE // sched_setaffinity

#include "client/programs/sockets.h"
#include "hindcast/check.h"
#include "proto/seal.h"
#include "server/daemon/doors.h"
#include "tests/bench/bench.h"
#include "tests/bench/floor.h"

#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    RATE = 60,
    TICKS = 5 * RATE,
    WARM_UP = RATE, // not measured
    TICK_NS = 1000000000 / RATE,
    CLIENTS = 256, // the defaults: about what an arena with 8 in view takes
    UP_SIZE = 80,
    DOWN_SIZE = 130,
    ARRIVED_MIN = 99, // percent; with fewer the floor is that of other work
};

/// One end of the wire, with a sealer for what it sends on each connection.
struct end {
    unsigned clients;
    size_t size; ///< of the datagrams that it sends
    struct hc_sealer *sealers;
    uint64_t received;
    struct hc_address *from; ///< of the server: where a client sends from
    unsigned *due;           ///< of the server: datagrams of a client that wait for an answer
};

enum direction { UP, DOWN };

/// A key for each connection and direction.
static void set_key(uint8_t key[static HC_SEAL_KEY_SIZE], uint32_t client,
                    enum direction direction) {
    memset(key, 0, HC_SEAL_KEY_SIZE);
    memcpy(key, &client, sizeof client);
    key[sizeof client] = (uint8_t)direction;
}

static bool init(struct end *end, unsigned clients, size_t size, enum direction direction) {
    uint8_t key[HC_SEAL_KEY_SIZE];
    *end = (struct end){.clients = clients,
                        .size = size,
                        .sealers = calloc(clients, sizeof *end->sealers),
                        .from = calloc(clients, sizeof *end->from),
                        .due = calloc(clients, sizeof *end->due)};
    if (end->sealers == NULL || end->from == NULL || end->due == NULL)
        return false;
    for (unsigned i = 0; i < clients; i++) {
        set_key(key, i, direction);
        hc_seal_init(&end->sealers[i], key);
    }
    return true;
}

static void release(struct end *end) {
    free(end->sealers);
    free(end->from);
    free(end->due);
}

/// Writes the next datagram of a connection.
static void seal(struct end *end, unsigned client, uint8_t out[HC_DATAGRAM_MAX]) {
    uint64_t next = end->sealers[client].next;
    struct hc_data data = {.cid = client,
                           .seq = next > 0 ? (uint32_t)next : 1,
                           .body = out + HC_DATA_BODY_AT,
                           .body_size = end->size - HC_DATA_BODY_AT - HC_TAG_SIZE};
    memset(out, 0, end->size);
    hc_seal_data(&end->sealers[client], out, hc_datagram_put_data(&data, out));
}

static void await_tick(struct timespec *due) {
    due->tv_nsec += TICK_NS;
    if (due->tv_nsec >= 1000000000) {
        due->tv_nsec -= 1000000000;
        due->tv_sec++;
    }
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, due, NULL);
}

/// Moves this process to the first core that it may use, or to the last one.
static void pin(bool last) {
    cpu_set_t all, one;
    size_t chosen = CPU_SETSIZE;
    CPU_ZERO(&one);
    if (sched_getaffinity(0, sizeof all, &all) != 0)
        return;
    for (size_t i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &all) && (last || chosen == CPU_SETSIZE))
            chosen = i;
    CPU_SET(chosen, &one);
    sched_setaffinity(0, sizeof one, &one);
}

// ---- The clients --------------------------------------------------------------------------------

static void on_datagram(void *context, uint32_t client, const uint8_t *bytes, size_t size) {
    struct end *end = context;
    (void)client, (void)bytes, (void)size; // a client would open it, on the other core
    end->received++;
}

/// In the other process: plays the clients, writes how many datagrams arrived, and ends it.
static void run_clients(struct end *end, uint16_t port, int pipe) {
    struct hc_cl_udp_peer server = {.length = sizeof(struct sockaddr_in)};
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct timespec due;
    uint8_t bytes[HC_DATAGRAM_MAX];
    char why[512];
    pin(true);
    memcpy(&server.address, &address, sizeof address);
    struct hc_cl_sockets *sockets =
        hc_cl_sockets_open(&server, 0, end->clients, end->clients, why, sizeof why);
    if (sockets == NULL)
        _exit(1);
    clock_gettime(CLOCK_MONOTONIC, &due);
    for (unsigned tick = 0; tick < TICKS + RATE; tick++) {
        await_tick(&due);
        hc_cl_sockets_receive(sockets, on_datagram, end);
        for (unsigned i = 0; tick < TICKS && i < end->clients; i++) {
            seal(end, i, bytes);
            hc_cl_sockets_send(sockets, i, bytes, end->size);
        }
        hc_cl_sockets_flush(sockets);
    }
    _exit(write(pipe, &end->received, sizeof end->received) == (ssize_t)sizeof end->received ? 0
                                                                                             : 1);
}

// ---- The server ---------------------------------------------------------------------------------

/// Opens a datagram of a client.
static void take(struct end *end, const struct hc_sv_datagram *datagram) {
    uint8_t key[HC_SEAL_KEY_SIZE], opened[HC_DATAGRAM_MAX];
    uint32_t cid, seq;
    enum hc_status status = hc_datagram_get_data_clear(datagram->bytes, datagram->size, &cid, &seq);
    HC_ASSERT(status == HC_OK && cid < end->clients);
    set_key(key, cid, UP);
    status = hc_seal_open_data(key, datagram->bytes, datagram->size, opened);
    HC_ASSERT(status == HC_OK);
    end->from[cid] = datagram->from;
    end->due[cid]++;
    end->received++;
}

/// Takes what has arrived, and answers each datagram, client by client.
static void turn(struct end *end, struct hc_sv_doors *doors) {
    struct hc_sv_batch batch;
    while ((batch = hc_sv_doors_receive(doors, HC_SV_DOOR_DATA)).count > 0)
        for (unsigned i = 0; i < batch.count; i++)
            take(end, &batch.datagrams[i]);
    for (unsigned i = 0; i < end->clients; i++)
        for (; end->due[i] > 0; end->due[i]--) {
            seal(end, i, hc_sv_doors_room(doors));
            hc_sv_doors_queue(doors, &end->from[i], end->size);
        }
    hc_sv_doors_flush(doors);
}

/// Serves all ticks; returns the processor time for each datagram received and its answer, us.
static double serve(struct end *end, struct hc_sv_doors *doors) {
    struct timespec due;
    uint64_t begun_ns = 0, before = 0;
    pin(false);
    clock_gettime(CLOCK_MONOTONIC, &due);
    for (unsigned tick = 0; tick < TICKS + RATE / 2; tick++) {
        if (tick == WARM_UP) {
            begun_ns = bench_cpu_ns();
            before = end->received;
        }
        await_tick(&due);
        turn(end, doors);
    }
    uint64_t count = end->received - before;
    return count > 0 ? (double)(bench_cpu_ns() - begun_ns) / 1000 / (double)count : 0;
}

static void print(const struct end *end, size_t up, double us, double arrived) {
    printf(
        "The floor of a daemon: its sockets receive, open, seal and send a datagram of each client "
        "in every\ntick, %d Hz, without a game; the clients have another core if there is one.\n\n",
        RATE);
    printf("clients  bytes up  bytes down  us a client-tick  answers arrived\n");
    printf("%7u %9zu %11zu %17.2f %14.1f %%\n", end->clients, up, end->size, us, arrived);
}

/// Plays both ends. False: the clients failed, or too few answers arrived.
static bool measure(struct end *end, struct end *clients, json_t *json) {
    struct hc_sv_doors *doors = NULL;
    const struct hc_sv_options options = {.bind = "127.0.0.1", .workers = 1};
    char why[512];
    int pipes[2], status = 1;
    uint64_t answers = 0;
    if (!hc_sv_doors_open(&options, &doors, why, sizeof why) || pipe(pipes) != 0)
        return false;
    fflush(NULL); // otherwise both processes would write it
    pid_t pid = fork();
    if (pid == 0)
        run_clients(clients, hc_sv_doors_facts(doors).address.port, pipes[1]);
    close(pipes[1]); // so that the end of the clients ends the read
    double us = pid > 0 ? serve(end, doors) : 0;
    bool good = pid > 0 && read(pipes[0], &answers, sizeof answers) == (ssize_t)sizeof answers &&
                waitpid(pid, &status, 0) == pid && status == 0;
    close(pipes[0]);
    hc_sv_doors_close(doors);
    double arrived = 100.0 * (double)answers / ((double)end->clients * TICKS);
    print(end, clients->size, us, arrived);
    json_array_append_new(json, json_pack("{s:i, s:i, s:i, s:f, s:f}", "clients", (int)end->clients,
                                          "bytes_up", (int)clients->size, "bytes_down",
                                          (int)end->size, "us", us, "arrived_pct", arrived));
    return good && arrived >= ARRIVED_MIN;
}

bool bench_wire(const struct bench_options *options, json_t *json) {
    const size_t least = HC_DATA_BODY_AT + HC_TAG_SIZE;
    struct end server, clients;
    size_t up = options->up > 0 ? options->up : UP_SIZE;
    size_t down = options->down > 0 ? options->down : DOWN_SIZE;
    unsigned count = options->players > 0 ? options->players : CLIENTS;
    if (up < least || down < least || up > HC_DATAGRAM_MAX || down > HC_DATAGRAM_MAX ||
        count > HC_SERVER_CLIENTS_MAX) {
        fprintf(stderr, "at most %d clients, and datagrams of %zu to %d bytes\n",
                HC_SERVER_CLIENTS_MAX, least, HC_DATAGRAM_MAX);
        return false;
    }
    bool ready = init(&server, count, down, DOWN);
    bool good = init(&clients, count, up, UP) && ready && measure(&server, &clients, json);
    if (!good)
        fprintf(stderr, "not all datagrams passed: the machine is too busy, or has no loopback\n");
    release(&server);
    release(&clients);
    return good;
}
