/// Owns a client's socket, its batches and its network simulations.
#define _GNU_SOURCE // recvmmsg, sendmmsg

#include "client/programs/udp.h"

#include "hindcast/check.h"
#include "hindcast/rng.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    BATCH = 8,                  ///< datagrams of one system call: mostly there is one
    ROOM = HC_DATAGRAM_MAX + 1, ///< the last byte shows that a datagram was too long
    SIM_PACKETS_PER_S = 512,    ///< capacity of a simulation: twice a tick rate of 240 Hz
    SIM_PACKETS_MIN = 64,
    SIM_BYTES = 192, ///< of a simulation without its packets, about
    CACHE_LINE = 64, ///< bytes
};

/// Purposes of the random numbers of simulations.
enum { UP, DOWN };

struct hc_cl_udp {
    int descriptor;               ///< -1 on shared sockets
    struct hc_cl_udp_peer server; ///< of a socket of its own
    struct hc_cl_follow follow;
    struct hc_cl_sockets *sockets; ///< shared; NULL: it has a socket of its own
    uint32_t client;               ///< of the shared sockets
    struct hc_network_sim *up, *down;
    struct hc_cl_udp_stats stats;
};

/// Datagrams of one system call, on the stack.
struct batch {
    struct mmsghdr headers[BATCH];
    struct iovec parts[BATCH];
    uint8_t bytes[BATCH][ROOM];
};

/// Makes a network simulation with room for all datagrams that can be in flight at once.
static struct hc_network_sim *create_sim(const struct hc_network_sim_config *config, uint64_t seed,
                                         uint32_t direction) {
    uint64_t longest_us =
        (uint64_t)config->latency_us + config->jitter_us + HC_NETWORK_SIM_REORDER_US_MAX;
    longest_us += config->bytes_per_s > 0 ? config->queue_us : 0;
    uint64_t packets = SIM_PACKETS_MIN + longest_us * SIM_PACKETS_PER_S / 1000000;
    if (packets > HC_NETWORK_SIM_PACKETS_MAX)
        packets = HC_NETWORK_SIM_PACKETS_MAX;
    return hc_network_sim_create(config, hc_random(seed, direction, 0, 0), (uint32_t)packets, NULL);
}

/// Makes both network simulations and returns `udp`; NULL: failed, with `udp` closed.
static struct hc_cl_udp *create_sims(struct hc_cl_udp *udp,
                                     const struct hc_network_sim_config *config, uint64_t seed,
                                     char *why, size_t why_size) {
    udp->up = create_sim(config, seed, UP);
    udp->down = create_sim(config, seed, DOWN);
    if (udp->up != NULL && udp->down != NULL)
        return udp;
    snprintf(why, why_size, "no memory for another client's network simulation");
    hc_cl_udp_close(udp);
    return NULL;
}

struct hc_cl_udp *hc_cl_udp_open(const struct hc_cl_udp_peer *server,
                                 const struct hc_network_sim_config *config, uint64_t seed,
                                 char *why, size_t why_size) {
    struct hc_cl_udp *udp = calloc(1, sizeof(*udp));
    if (udp == NULL) {
        snprintf(why, why_size, "no memory for another client");
        return NULL;
    }
    udp->descriptor =
        socket(server->address.ss_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (udp->descriptor < 0 ||
        connect(udp->descriptor, (const struct sockaddr *)&server->address, server->length) != 0) {
        snprintf(why, why_size, "no socket for another client: %s", strerror(errno));
        hc_cl_udp_close(udp);
        return NULL;
    }
    udp->server = *server;
    hc_cl_sockets_set_options(udp->descriptor);
    return create_sims(udp, config, seed, why, why_size);
}

struct hc_cl_udp *hc_cl_udp_share(struct hc_cl_sockets *sockets, uint32_t client,
                                  const struct hc_network_sim_config *config, uint64_t seed,
                                  char *why, size_t why_size) {
    struct hc_cl_udp *udp = calloc(1, sizeof(*udp));
    if (udp == NULL) {
        snprintf(why, why_size, "no memory for another client");
        return NULL;
    }
    udp->descriptor = -1;
    udp->sockets = sockets;
    udp->client = client;
    return create_sims(udp, config, seed, why, why_size);
}

void hc_cl_udp_set_link(struct hc_cl_udp *udp, const struct hc_network_sim_config *up,
                        const struct hc_network_sim_config *down, uint64_t now_us) {
    HC_ASSERT(hc_network_sim_set_config(udp->up, now_us, up) == HC_OK);
    HC_ASSERT(hc_network_sim_set_config(udp->down, now_us, down) == HC_OK);
}

void hc_cl_udp_close(struct hc_cl_udp *udp) {
    if (udp == NULL)
        return;
    if (udp->descriptor >= 0)
        close(udp->descriptor);
    hc_network_sim_destroy(udp->up);
    hc_network_sim_destroy(udp->down);
    free(udp);
}

int hc_cl_udp_descriptor(const struct hc_cl_udp *udp) {
    return udp->descriptor;
}

static void prepare(struct batch *batch) {
    memset(batch->headers, 0, sizeof(batch->headers));
    for (unsigned i = 0; i < BATCH; i++) {
        batch->parts[i] = (struct iovec){batch->bytes[i], ROOM};
        batch->headers[i].msg_hdr.msg_iov = &batch->parts[i];
        batch->headers[i].msg_hdr.msg_iovlen = 1;
    }
}

void hc_cl_udp_put(struct hc_cl_udp *udp, const uint8_t *bytes, size_t size, uint64_t now_us) {
    udp->stats.datagrams_in++;
    udp->stats.bytes_in += size;
    hc_network_sim_send(udp->down, now_us, bytes, size);
}

/// Counts an error of the socket by its cause.
static void count_report(struct hc_cl_udp *udp) {
    udp->stats.too_long += errno == EMSGSIZE;
    udp->stats.refused += errno == ECONNREFUSED;
}

void hc_cl_udp_receive(struct hc_cl_udp *udp, uint64_t now_us) {
    struct batch batch;
    int count;
    do {
        prepare(&batch);
        count = recvmmsg(udp->descriptor, batch.headers, BATCH, 0, NULL);
        if (count < 0) // an error is a report on an earlier datagram; the client's timeout decides
            count_report(udp);
        if (count > 0)
            hc_cl_follow_received(&udp->follow, now_us);
        for (int i = 0; i < count; i++)
            hc_cl_udp_put(udp, batch.bytes[i], batch.headers[i].msg_len, now_us);
    } while (count == BATCH);
}

int hc_cl_udp_take(struct hc_cl_udp *udp, uint8_t out[static HC_DATAGRAM_MAX + 1],
                   uint64_t now_us) {
    return hc_network_sim_receive(udp->down, now_us, out, ROOM);
}

void hc_cl_udp_send(struct hc_cl_udp *udp, const uint8_t *bytes, size_t size, uint64_t now_us) {
    HC_ASSERT(size <= HC_DATAGRAM_MAX);
    udp->stats.datagrams_out++;
    udp->stats.bytes_out += size;
    hc_network_sim_send(udp->up, now_us, bytes, size);
}

/// Sends the first `count` datagrams of the batch. Drops a refused one, as a network would; the
/// refusal may also report that an earlier datagram found no server.
static void send_batch(struct hc_cl_udp *udp, struct batch *batch, unsigned count,
                       uint64_t now_us) {
    for (unsigned sent = 0; sent < count;) {
        int done = sendmmsg(udp->descriptor, batch->headers + sent, count - sent, 0);
        if (done > 0) {
            sent += (unsigned)done;
        } else if (errno != EINTR) {
            udp->stats.send_errors++;
            count_report(udp);
            hc_cl_follow_refused(&udp->follow, now_us);
            sent++;
        }
    }
}

static void flush_shared(struct hc_cl_udp *udp, uint64_t now_us) {
    uint8_t bytes[ROOM];
    int size;
    while ((size = hc_network_sim_receive(udp->up, now_us, bytes, ROOM)) >= 0)
        hc_cl_sockets_send(udp->sockets, udp->client, bytes, (size_t)size);
}

void hc_cl_udp_flush(struct hc_cl_udp *udp, uint64_t now_us) {
    struct batch batch;
    unsigned count;
    if (hc_network_sim_deadline(udp->up) > now_us)
        return;
    if (udp->sockets != NULL) {
        flush_shared(udp, now_us);
        return;
    }
    do {
        prepare(&batch);
        int size = 0;
        for (count = 0; count < BATCH; count++) {
            size = hc_network_sim_receive(udp->up, now_us, batch.bytes[count], ROOM);
            if (size < 0)
                break;
            batch.parts[count].iov_len = (size_t)size;
        }
        send_batch(udp, &batch, count, now_us);
    } while (count == BATCH);
    hc_cl_follow(&udp->follow, &udp->descriptor, 1, &udp->server, now_us);
}

uint64_t hc_cl_udp_deadline(const struct hc_cl_udp *udp) {
    uint64_t up = hc_network_sim_deadline(udp->up), down = hc_network_sim_deadline(udp->down);
    return up < down ? up : down;
}

bool hc_cl_udp_idle(const struct hc_cl_udp *udp) {
    return hc_network_sim_in_flight(udp->up) == 0;
}

void hc_cl_udp_prefetch(const struct hc_cl_udp *udp) {
    for (size_t at = 0; at < SIM_BYTES; at += CACHE_LINE) {
        __builtin_prefetch((const uint8_t *)udp->up + at, 1);
        __builtin_prefetch((const uint8_t *)udp->down + at, 1);
    }
}

uint64_t hc_cl_udp_dropped(const struct hc_cl_udp *udp) {
    return udp->descriptor >= 0 ? hc_cl_sockets_dropped(udp->descriptor) : 0;
}

struct hc_cl_udp_stats hc_cl_udp_stats(const struct hc_cl_udp *udp) {
    struct hc_cl_udp_stats stats = udp->stats;
    struct hc_network_sim_stats up = hc_network_sim_stats(udp->up),
                                down = hc_network_sim_stats(udp->down);
    stats.sim_lost = up.lost + down.lost;
    stats.sim_lost_down = down.lost + down.dropped_full + down.dropped_queue;
    stats.sim_dropped_queue = up.dropped_queue + down.dropped_queue;
    stats.sim_dropped_full = up.dropped_full + down.dropped_full;
    return stats;
}
