/// Owns the sockets of light clients, the addresses of each, and their batches.
#define _GNU_SOURCE // recvmmsg, sendmmsg, struct in_pktinfo

#include "client/programs/sockets.h"

#include "common/programs/clock.h"
#include "hindcast/check.h"

#include <errno.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    BATCH = 64,                 ///< datagrams of one system call
    READY = 64,                 ///< sockets that one system call reports
    RECEIVE_BUFFER = 4 << 20,   ///< bytes
    ROOM = HC_DATAGRAM_MAX + 1, ///< the last byte shows that a datagram was too long
    SOURCE_FIRST = 0x7f010001,  ///< 127.1.0.1
    LOOPBACK_NET = 127,
    SPARE_DESCRIPTORS = 64, ///< besides one socket for each client
};

/// Room for the one control message of a datagram.
union control {
    char bytes[CMSG_SPACE(sizeof(struct in_pktinfo))];
    struct cmsghdr align;
};

/// Datagrams of one system call.
struct batch {
    struct mmsghdr headers[BATCH];
    struct iovec parts[BATCH];
    struct sockaddr_in peers[BATCH];
    union control controls[BATCH];
    uint8_t bytes[BATCH][ROOM];
};

struct hc_cl_sockets {
    struct hc_cl_udp_peer server;
    bool shared; ///< the clients share sockets; false: each has a connected one of its own
    uint32_t first, count, sources;
    uint32_t descriptor_count;
    int *descriptors;   ///< [descriptor_count]
    int ready;          ///< epoll
    uint32_t queued_on; ///< index of the descriptor whose datagrams are queued
    unsigned queued;
    uint64_t send_errors;
    struct hc_cl_follow follow; ///< of connected sockets
    struct batch in, out;
};

bool hc_cl_sockets_is_loopback(const struct hc_cl_udp_peer *server) {
    if (server->address.ss_family == AF_INET) {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)&server->address;
        return ntohl(v4->sin_addr.s_addr) >> 24 == LOOPBACK_NET;
    }
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)&server->address;
    return IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
}

// PROBE: the kernel neither fragments nor believes a "fragmentation needed", which anybody can
// forge (RFC 8899, 3). The handshake shows that the path carries HC_DATAGRAM_MAX.
void hc_cl_sockets_set_options(int descriptor) {
    int size = RECEIVE_BUFFER, discover = IP_PMTUDISC_PROBE, discover6 = IPV6_PMTUDISC_PROBE;
    if (setsockopt(descriptor, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) != 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
    setsockopt(descriptor, IPPROTO_IP, IP_MTU_DISCOVER, &discover, sizeof(discover));
    setsockopt(descriptor, IPPROTO_IPV6, IPV6_MTU_DISCOVER, &discover6, sizeof(discover6));
}

void hc_cl_sockets_raise_limit(uint32_t clients) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= clients + SPARE_DESCRIPTORS)
        return;
    limit.rlim_cur = clients + SPARE_DESCRIPTORS;
    if (limit.rlim_cur > limit.rlim_max)
        limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

uint64_t hc_cl_sockets_dropped(int descriptor) {
    uint32_t memory[SK_MEMINFO_VARS] = {0};
    socklen_t size = sizeof(memory);
    if (getsockopt(descriptor, SOL_SOCKET, SO_MEMINFO, memory, &size) != 0)
        return 0; // an older kernel
    return memory[SK_MEMINFO_DROPS];
}

/// Opens the socket at `index`; false: failed, with errno.
static bool open_one(struct hc_cl_sockets *sockets, uint32_t index) {
    int on = 1, family = sockets->server.address.ss_family;
    struct sockaddr_in any = {.sin_family = AF_INET};
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = index};
    int descriptor = socket(family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    sockets->descriptors[index] = descriptor;
    if (descriptor < 0)
        return false;
    hc_cl_sockets_set_options(descriptor);
    if (sockets->shared) {
        if (bind(descriptor, (const struct sockaddr *)&any, sizeof(any)) != 0 ||
            setsockopt(descriptor, IPPROTO_IP, IP_PKTINFO, &on, sizeof(on)) != 0)
            return false;
    } else if (connect(descriptor, (const struct sockaddr *)&sockets->server.address,
                       sockets->server.length) != 0) {
        return false;
    }
    return epoll_ctl(sockets->ready, EPOLL_CTL_ADD, descriptor, &event) == 0;
}

struct hc_cl_sockets *hc_cl_sockets_open(const struct hc_cl_udp_peer *server, uint32_t first,
                                         uint32_t count, uint32_t sources, char *why,
                                         size_t why_size) {
    struct hc_cl_sockets *sockets = calloc(1, sizeof(*sockets));
    HC_ASSERT(count >= 1 && sources >= 1);
    snprintf(why, why_size, "no memory for the light clients");
    if (sockets == NULL)
        return NULL;
    sockets->server = *server;
    sockets->shared = server->address.ss_family == AF_INET && hc_cl_sockets_is_loopback(server);
    sockets->first = first;
    sockets->count = count;
    sockets->sources = sockets->shared ? sources : 1;
    sockets->descriptor_count = (count + sockets->sources - 1) / sockets->sources;
    sockets->descriptors = malloc(sockets->descriptor_count * sizeof(*sockets->descriptors));
    for (uint32_t i = 0; sockets->descriptors != NULL && i < sockets->descriptor_count; i++)
        sockets->descriptors[i] = -1;
    sockets->ready = epoll_create1(EPOLL_CLOEXEC);
    bool good = sockets->descriptors != NULL && sockets->ready >= 0;
    for (uint32_t i = 0; good && i < sockets->descriptor_count; i++)
        if (!open_one(sockets, i)) {
            snprintf(why, why_size, "no socket for the light clients: %s", strerror(errno));
            good = false;
        }
    if (good)
        return sockets;
    hc_cl_sockets_close(sockets);
    return NULL;
}

void hc_cl_sockets_close(struct hc_cl_sockets *sockets) {
    if (sockets == NULL)
        return;
    for (uint32_t i = 0; sockets->descriptors != NULL && i < sockets->descriptor_count; i++)
        if (sockets->descriptors[i] >= 0)
            close(sockets->descriptors[i]);
    if (sockets->ready >= 0)
        close(sockets->ready);
    free(sockets->descriptors);
    free(sockets);
}

/// The place of a source address among `sources`: consecutive clients have consecutive ones.
static uint32_t source_of(const struct hc_cl_sockets *sockets, uint32_t client) {
    return (sockets->first + client) % sockets->sources;
}

static void prepare(struct hc_cl_sockets *sockets, unsigned i, size_t size) {
    struct batch *batch = &sockets->in;
    batch->parts[i] = (struct iovec){batch->bytes[i], size};
    batch->headers[i].msg_hdr = (struct msghdr){.msg_iov = &batch->parts[i], .msg_iovlen = 1};
    if (!sockets->shared)
        return;
    batch->headers[i].msg_hdr.msg_name = &batch->peers[i];
    batch->headers[i].msg_hdr.msg_namelen = sizeof(batch->peers[i]);
    batch->headers[i].msg_hdr.msg_control = &batch->controls[i];
    batch->headers[i].msg_hdr.msg_controllen = sizeof(batch->controls[i]);
}

/// The client that a received datagram is for; `count`: none, or it is not from the server.
static uint32_t receiver_of(struct hc_cl_sockets *sockets, uint32_t index, unsigned i) {
    const struct sockaddr_in *server = (const struct sockaddr_in *)&sockets->server.address;
    struct msghdr *header = &sockets->in.headers[i].msg_hdr;
    const struct sockaddr_in *peer = &sockets->in.peers[i];
    if (!sockets->shared)
        return index;
    const struct cmsghdr *control = CMSG_FIRSTHDR(header);
    struct in_pktinfo info;
    if (control == NULL || control->cmsg_type != IP_PKTINFO || peer->sin_port != server->sin_port ||
        peer->sin_addr.s_addr != server->sin_addr.s_addr)
        return sockets->count;
    memcpy(&info, CMSG_DATA(control), sizeof(info));
    uint32_t source = ntohl(info.ipi_addr.s_addr) - SOURCE_FIRST;
    if (source >= sockets->sources)
        return sockets->count;
    uint32_t place =
        (source + sockets->sources - sockets->first % sockets->sources) % sockets->sources;
    uint32_t client = index * sockets->sources + place;
    return client < sockets->count ? client : sockets->count;
}

static void receive_from(struct hc_cl_sockets *sockets, uint32_t index,
                         hc_cl_sockets_receiver *receiver, void *context) {
    int count;
    do {
        for (unsigned i = 0; i < BATCH; i++)
            prepare(sockets, i, ROOM);
        // An error reports that no server listens there; the client's timeout decides.
        count = recvmmsg(sockets->descriptors[index], sockets->in.headers, BATCH, 0, NULL);
        if (count > 0)
            hc_cl_follow_received(&sockets->follow, hc_clock_us());
        for (int i = 0; i < count; i++) {
            uint32_t client = receiver_of(sockets, index, (unsigned)i);
            if (client < sockets->count)
                receiver(context, client, sockets->in.bytes[i], sockets->in.headers[i].msg_len);
        }
    } while (count == BATCH);
}

void hc_cl_sockets_receive(struct hc_cl_sockets *sockets, hc_cl_sockets_receiver *receiver,
                           void *context) {
    struct epoll_event events[READY];
    // Each socket at most once: datagrams that arrive meanwhile wait for the next call.
    for (uint32_t seen = 0; seen < sockets->descriptor_count;) {
        int count = epoll_wait(sockets->ready, events, READY, 0);
        for (int i = 0; i < count; i++)
            receive_from(sockets, events[i].data.u32, receiver, context);
        if (count < READY)
            return;
        seen += READY;
    }
}

void hc_cl_sockets_send(struct hc_cl_sockets *sockets, uint32_t client, const uint8_t *bytes,
                        size_t size) {
    struct batch *batch = &sockets->out;
    uint32_t index = client / sockets->sources;
    HC_ASSERT(client < sockets->count && size <= HC_DATAGRAM_MAX);
    if (sockets->queued == BATCH || (sockets->queued > 0 && sockets->queued_on != index))
        hc_cl_sockets_flush(sockets);
    unsigned i = sockets->queued++;
    sockets->queued_on = index;
    memcpy(batch->bytes[i], bytes, size);
    batch->parts[i] = (struct iovec){batch->bytes[i], size};
    struct msghdr *header = &batch->headers[i].msg_hdr;
    *header = (struct msghdr){.msg_iov = &batch->parts[i], .msg_iovlen = 1};
    if (!sockets->shared)
        return;
    header->msg_name = &sockets->server.address;
    header->msg_namelen = sockets->server.length;
    header->msg_control = &batch->controls[i];
    header->msg_controllen = sizeof(batch->controls[i]);
    struct in_pktinfo info = {.ipi_spec_dst.s_addr =
                                  htonl(SOURCE_FIRST + source_of(sockets, client))};
    struct cmsghdr *control = CMSG_FIRSTHDR(header);
    control->cmsg_level = IPPROTO_IP;
    control->cmsg_type = IP_PKTINFO;
    control->cmsg_len = CMSG_LEN(sizeof(info));
    memcpy(CMSG_DATA(control), &info, sizeof(info));
}

/// Drops a refused datagram, as a network would; the refusal may also report that an earlier one
/// found no server.
void hc_cl_sockets_flush(struct hc_cl_sockets *sockets) {
    for (unsigned sent = 0; sent < sockets->queued;) {
        int done = sendmmsg(sockets->descriptors[sockets->queued_on], sockets->out.headers + sent,
                            sockets->queued - sent, 0);
        if (done > 0) {
            sent += (unsigned)done;
        } else if (errno != EINTR) {
            sockets->send_errors++;
            hc_cl_follow_refused(&sockets->follow, hc_clock_us());
            sent++;
        }
    }
    if (!sockets->shared && sockets->queued > 0)
        hc_cl_follow(&sockets->follow, sockets->descriptors, sockets->descriptor_count,
                     &sockets->server, hc_clock_us());
    sockets->queued = 0;
}

struct hc_cl_sockets_stats hc_cl_sockets_stats(const struct hc_cl_sockets *sockets) {
    struct hc_cl_sockets_stats stats = {.send_errors = sockets->send_errors};
    for (uint32_t i = 0; i < sockets->descriptor_count; i++)
        stats.dropped += hc_cl_sockets_dropped(sockets->descriptors[i]);
    return stats;
}
