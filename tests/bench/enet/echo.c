/// A server without a game over ENet, and its clients: each client sends a packet at every tick,
/// and the server one to each client. tests/bench/enet/compare.sh builds and runs it.
///
///     enet_echo CLIENTS SECONDS BYTES_UP BYTES_DOWN
///
/// Prints the processor time of the server for each client and tick, us, and the share of the
/// packets that arrived in each direction.
#include <enet/enet.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { RATE = 60, BYTES_MAX = 1200, TICK_NS = 1000000000 / RATE, CONNECT_TICKS = 3 * RATE };

struct end {
    ENetHost *host;
    unsigned clients, ticks;
    size_t bytes; ///< of each packet that it sends
    unsigned connected;
    unsigned long received;
};

static unsigned long cpu_us(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (unsigned long)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
           (unsigned long)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/// Waits until `*due`, and moves it on by a tick.
static void await_tick(struct timespec *due) {
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, due, NULL);
    due->tv_nsec += TICK_NS;
    if (due->tv_nsec >= 1000000000) {
        due->tv_nsec -= 1000000000;
        due->tv_sec++;
    }
}

static void receive_all(struct end *end) {
    ENetEvent event;
    while (enet_host_service(end->host, &event, 0) > 0) {
        if (event.type == ENET_EVENT_TYPE_RECEIVE) {
            end->received++;
            enet_packet_destroy(event.packet);
        } else if (event.type == ENET_EVENT_TYPE_CONNECT) {
            // Otherwise ENet drops packets by itself when the round trip varies.
            enet_peer_throttle_configure(event.peer, 1000, ENET_PEER_PACKET_THROTTLE_SCALE, 0);
            end->connected++;
        }
    }
}

static void send_all(struct end *end) {
    static const uint8_t bytes[BYTES_MAX];
    for (size_t i = 0; i < end->host->peerCount; i++) {
        ENetPeer *peer = &end->host->peers[i];
        if (peer->state == ENET_PEER_STATE_CONNECTED)
            enet_peer_send(peer, 0, enet_packet_create(bytes, end->bytes, 0));
    }
    enet_host_flush(end->host);
}

/// Plays until all are connected, then `end->ticks` ticks; returns the processor time of those.
static unsigned long play(struct end *end) {
    struct timespec due;
    clock_gettime(CLOCK_MONOTONIC, &due);
    for (unsigned i = 0; i < CONNECT_TICKS; i++) {
        await_tick(&due);
        receive_all(end);
    }
    unsigned long begun_us = cpu_us();
    end->received = 0;
    for (unsigned i = 0; i < end->ticks; i++) {
        await_tick(&due);
        receive_all(end);
        send_all(end);
    }
    return cpu_us() - begun_us;
}

static int run_clients(struct end *end, const ENetAddress *server) {
    end->host = enet_host_create(NULL, end->clients, 1, 0, 0);
    for (unsigned i = 0; end->host != NULL && i < end->clients; i++)
        enet_host_connect(end->host, server, 1, 0);
    if (end->host == NULL)
        return 1;
    play(end);
    printf("%.4f of the packets arrived at the clients\n",
           (double)end->received / end->ticks / end->clients);
    fflush(stdout);
    return end->connected == end->clients ? 0 : 1;
}

static int run_server(struct end *end, const ENetAddress *server, pid_t clients) {
    int status = 1;
    end->host = enet_host_create(server, end->clients, 1, 0, 0);
    unsigned long us = end->host != NULL ? play(end) : 0;
    waitpid(clients, &status, 0);
    if (end->connected != end->clients || status != 0) {
        fprintf(stderr, "only %u of %u clients have connected\n", end->connected, end->clients);
        return 1;
    }
    printf("%.4f of the packets arrived at the server\n",
           (double)end->received / end->ticks / end->clients);
    printf("%.2f us for each client and tick\n", (double)us / end->ticks / end->clients);
    return 0;
}

int main(int argc, char **argv) {
    ENetAddress server = {.port = 40123};
    if (argc != 5 || enet_initialize() != 0) {
        fprintf(stderr, "usage: enet_echo CLIENTS SECONDS BYTES_UP BYTES_DOWN\n");
        return 2;
    }
    struct end end = {.clients = (unsigned)atoi(argv[1]), .ticks = (unsigned)atoi(argv[2]) * RATE};
    size_t up = (size_t)atoi(argv[3]), down = (size_t)atoi(argv[4]);
    enet_address_set_host_ip(&server, "127.0.0.1");
    pid_t clients = fork();
    end.bytes = clients == 0 ? up : down;
    return clients == 0 ? run_clients(&end, &server) : run_server(&end, &server, clients);
}
