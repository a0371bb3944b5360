/// Owns the sockets of the server and the filters that sort their datagrams.
#define _GNU_SOURCE // recvmmsg, sendmmsg

#include "server/daemon/udp.h"

#include "common/elapsed.h"
#include "common/programs/clock.h"
#include "hindcast/check.h"
#include "hindcast/server.h"
#include "server/daemon/activation.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/sock_diag.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    RECEIVE_BUFFER = 4 << 20,   ///< bytes asked for each lane: some 10,000 small datagrams
    ROOM = HC_DATAGRAM_MAX + 1, ///< the last byte shows that a datagram was too long
    IPV4_AT = 12,               ///< offset of the IPv4 address in a mapped one
    BUFFER_EACH = 416,          ///< bytes of the granted buffer that a small datagram takes
    CID_AT = 1,                 ///< offset of the cid in DATA
    CID_BYTE_BITS = 2,          ///< of the match in the third byte of a cid; 8 are in the fourth
    NONCE_AT = 16,              ///< offset of the client_nonce in HELLO
    STAMP_SIZE = CMSG_SPACE(sizeof(struct timespec)),
};

/// Datagrams of one direction, in the layout of recvmmsg and sendmmsg.
struct batch {
    struct mmsghdr headers[HC_SV_DOOR_BATCH];
    struct iovec parts[HC_SV_DOOR_BATCH];
    struct sockaddr_storage peers[HC_SV_DOOR_BATCH];
};

/// The kernel's arrival times of a batch, in the layout of recvmmsg.
struct stamps {
    _Alignas(struct cmsghdr) uint8_t controls[HC_SV_DOOR_BATCH][STAMP_SIZE];
    uint64_t read_us; ///< when the batch was read, on hc_clock_us
    uint64_t unix_ns; ///< when the batch was read, on the clock of the kernel's times
};

struct udp {
    struct hc_sv_door door;
    sa_family_t family;
    uint64_t send_errors;
    uint64_t drops[HC_SV_DOOR_LANES];
    uint64_t emptied_us; ///< when the DATA lane was last read to its end
    uint64_t after_us;   ///< the batch arrived after this time
    struct stamps stamps;
    struct batch in, out;                  ///< `out` is sent from the socket of the DATA lane
    uint8_t bytes[HC_SV_DOOR_BATCH][ROOM]; ///< The datagrams of `in`.
};

static const struct hc_sv_door_kind kind;

struct hc_address hc_sv_udp_from_system(const struct sockaddr_storage *peer) {
    struct hc_address address = {0};
    if (peer->ss_family == AF_INET) {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)peer;
        const uint8_t *ip = (const uint8_t *)&v4->sin_addr;
        return hc_address_ipv4(ip[0], ip[1], ip[2], ip[3], ntohs(v4->sin_port));
    }
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)peer;
    memcpy(address.ip, &v6->sin6_addr, sizeof(address.ip));
    address.port = ntohs(v6->sin6_port);
    return address;
}

static socklen_t to_system(sa_family_t family, const struct hc_address *address,
                           struct sockaddr_storage *peer) {
    if (family == AF_INET) {
        struct sockaddr_in *v4 = (struct sockaddr_in *)peer;
        v4->sin_family = AF_INET;
        v4->sin_port = htons(address->port);
        memcpy(&v4->sin_addr, address->ip + IPV4_AT, sizeof(v4->sin_addr));
        return sizeof(*v4);
    }
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)peer;
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(address->port);
    memcpy(&v6->sin6_addr, address->ip, sizeof(address->ip));
    return sizeof(*v6);
}

static void prepare(struct batch *batch) {
    for (unsigned i = 0; i < HC_SV_DOOR_BATCH; i++) {
        batch->headers[i].msg_hdr.msg_iov = &batch->parts[i];
        batch->headers[i].msg_hdr.msg_iovlen = 1;
        batch->headers[i].msg_hdr.msg_name = &batch->peers[i];
        batch->headers[i].msg_hdr.msg_namelen = sizeof(batch->peers[i]);
    }
}

/// Asks for RECEIVE_BUFFER. Only SO_RCVBUFFORCE, which needs CAP_NET_ADMIN, may exceed
/// net.core.rmem_max.
static void set_receive_buffer(int descriptor) {
    int size = RECEIVE_BUFFER, granted = 0;
    socklen_t length = sizeof(granted);
    getsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &granted, &length);
    if (granted / 2 >= RECEIVE_BUFFER)
        return; // by the service manager, which may exceed the sysctl
    if (setsockopt(descriptor, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) != 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
}

/// Sets options that the socket works without: a kernel may refuse some, such as an IPv4 option on
/// an IPv6 socket. PROBE: the kernel neither fragments nor believes a "fragmentation needed", which
/// anybody can forge (RFC 8899, 3). The handshake shows that the path carries HC_DATAGRAM_MAX.
static void set_options(int descriptor) {
    int discover = IP_PMTUDISC_PROBE, discover6 = IPV6_PMTUDISC_PROBE;
    set_receive_buffer(descriptor);
    setsockopt(descriptor, IPPROTO_IP, IP_MTU_DISCOVER, &discover, sizeof(discover));
    setsockopt(descriptor, IPPROTO_IPV6, IPV6_MTU_DISCOVER, &discover6, sizeof(discover6));
}

static uint64_t unix_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/// A socket bound to `where`, or -1 with errno. `shares`: other sockets may bind the same port.
static int open_bound(const struct sockaddr *where, socklen_t length, bool shares) {
    int only6 = 0, share = shares, cause;
    int descriptor = socket(where->sa_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (descriptor < 0)
        return -1;
    set_options(descriptor);
    if (where->sa_family == AF_INET6)
        setsockopt(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &only6, sizeof(only6));
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEPORT, &share, sizeof(share));
    if (bind(descriptor, where, length) == 0)
        return descriptor;
    cause = errno;
    close(descriptor);
    errno = cause;
    return -1;
}

/// Attaches a filter program as `option`; false: the kernel refuses it.
static bool attach(int descriptor, int option, struct sock_filter *program, size_t count) {
    struct sock_fprog whole = {.len = (unsigned short)count, .filter = program};
    return setsockopt(descriptor, SOL_SOCKET, option, &whole, sizeof(whole)) == 0;
}

/// Makes the kernel choose a lane for each datagram to the port of `descriptor`. The numbers of the
/// sockets follow the order in which they were bound: the lanes of worker 0, then those of the
/// next. A datagram that is too short for its kind goes to a lane of worker 0.
static bool attach_sorting(int descriptor, unsigned workers) {
    struct sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, HC_DATAGRAM_DATA, 0, 9),
        // DATA: the upper 10 bits of the cid, whose 4 bytes are little-endian.
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, CID_AT + 3),
        BPF_STMT(BPF_ALU | BPF_LSH | BPF_K, CID_BYTE_BITS),
        BPF_STMT(BPF_MISC | BPF_TAX, 0),
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, CID_AT + 2),
        BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 8 - CID_BYTE_BITS),
        BPF_STMT(BPF_ALU | BPF_OR | BPF_X, 0),
        BPF_STMT(BPF_ALU | BPF_MOD | BPF_K, workers),
        BPF_STMT(BPF_ALU | BPF_MUL | BPF_K, HC_SV_DOOR_LANES),
        BPF_STMT(BPF_RET | BPF_A, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, HC_DATAGRAM_CONNECT, 0, 14),
        BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, HC_DATAGRAM_CONNECT_TOKEN_AT + 4, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, HC_SV_DOOR_CONNECT),
        // CONNECT: the match of the token, as hc_token_match reads it.
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, HC_DATAGRAM_CONNECT_TOKEN_AT + 3),
        BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 4),
        BPF_STMT(BPF_ALU | BPF_LSH | BPF_K, 7),
        BPF_STMT(BPF_MISC | BPF_TAX, 0),
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, HC_DATAGRAM_CONNECT_TOKEN_AT + 2),
        BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 1),
        BPF_STMT(BPF_ALU | BPF_OR | BPF_X, 0),
        BPF_STMT(BPF_ALU | BPF_MOD | BPF_K, workers),
        BPF_STMT(BPF_ALU | BPF_MUL | BPF_K, HC_SV_DOOR_LANES),
        BPF_STMT(BPF_ALU | BPF_ADD | BPF_K, HC_SV_DOOR_CONNECT),
        BPF_STMT(BPF_RET | BPF_A, 0),
        // HELLO and datagrams of no known kind.
        BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, NONCE_AT + 1, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, HC_SV_DOOR_HELLO),
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, NONCE_AT),
        BPF_STMT(BPF_ALU | BPF_MOD | BPF_K, workers),
        BPF_STMT(BPF_ALU | BPF_MUL | BPF_K, HC_SV_DOOR_LANES),
        BPF_STMT(BPF_ALU | BPF_ADD | BPF_K, HC_SV_DOOR_HELLO),
        BPF_STMT(BPF_RET | BPF_A, 0),
    };
    _Static_assert(32 - HC_SERVER_CID_MATCH_AT == 8 + CID_BYTE_BITS, "the match in a cid");
    return attach(descriptor, SO_ATTACH_REUSEPORT_CBPF, program,
                  sizeof(program) / sizeof(*program));
}

/// Makes the kernel drop datagrams of other lanes at the socket of `lane`: it gives a broadcast to
/// all sockets without sorting it. Offsets count from the UDP header.
static bool attach_filter(int descriptor, enum hc_sv_door_lane lane) {
    struct sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 8), // returns 0 if there is no such byte
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, HC_DATAGRAM_DATA, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, lane == HC_SV_DOOR_DATA ? UINT32_MAX : 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, HC_DATAGRAM_CONNECT, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, lane == HC_SV_DOOR_CONNECT ? UINT32_MAX : 0),
        BPF_STMT(BPF_RET | BPF_K, lane == HC_SV_DOOR_HELLO ? UINT32_MAX : 0),
    };
    return attach(descriptor, SO_ATTACH_FILTER, program, sizeof(program) / sizeof(*program));
}

/// Lets a lane without a worker have datagrams of all kinds again.
static void detach(int descriptor) {
    int none = 0;
    setsockopt(descriptor, SOL_SOCKET, SO_DETACH_REUSEPORT_BPF, &none, sizeof(none));
    setsockopt(descriptor, SOL_SOCKET, SO_DETACH_FILTER, &none, sizeof(none));
}

/// Closes all lanes of one worker but `kept` (HC_SV_DOOR_LANES: none).
static void close_lanes(struct hc_sv_door *door, enum hc_sv_door_lane kept) {
    for (unsigned lane = 0; lane < HC_SV_DOOR_LANES; lane++) {
        if (lane == kept || door->descriptors[lane] < 0)
            continue;
        close(door->descriptors[lane]);
        door->descriptors[lane] = -1;
    }
}

/// Makes the kernel sort among the lanes of all workers, which are open; false with errno: it
/// cannot.
static bool sort_lanes(struct hc_sv_door **ports, unsigned workers) {
    bool good = attach_sorting(ports[0]->descriptors[HC_SV_DOOR_DATA], workers);
    for (unsigned i = workers * HC_SV_DOOR_LANES; good && i-- > 0;) // the first DATA last
        good = attach_filter(ports[i / HC_SV_DOOR_LANES]->descriptors[i % HC_SV_DOOR_LANES],
                             i % HC_SV_DOOR_LANES);
    return good;
}

/// Opens the lanes of all workers beside the first worker's DATA; false with errno, and none of
/// them, if the kernel cannot sort or has no more sockets.
static bool open_lanes(struct hc_sv_door **ports, unsigned workers) {
    struct sockaddr_storage local = {0};
    socklen_t length = sizeof(local);
    int first = ports[0]->descriptors[HC_SV_DOOR_DATA], share = 1;
    getsockname(first, (struct sockaddr *)&local, &length);
    // Only after binding: otherwise the bind could have joined the port of another server.
    bool good = setsockopt(first, SOL_SOCKET, SO_REUSEPORT, &share, sizeof(share)) == 0;
    for (unsigned i = 1; good && i < workers * HC_SV_DOOR_LANES; i++) {
        int *lane = &ports[i / HC_SV_DOOR_LANES]->descriptors[i % HC_SV_DOOR_LANES];
        *lane = open_bound((struct sockaddr *)&local, length, true);
        good = *lane >= 0;
    }
    if (good && sort_lanes(ports, workers))
        return true;
    int cause = errno;
    detach(first);
    share = 0; // no other server may join the port
    setsockopt(first, SOL_SOCKET, SO_REUSEPORT, &share, sizeof(share));
    for (unsigned i = 0; i < workers; i++)
        close_lanes(ports[i], i == 0 ? HC_SV_DOOR_DATA : HC_SV_DOOR_LANES);
    errno = cause;
    return false;
}

static void close_door(struct hc_sv_door *door) {
    close_lanes(door, HC_SV_DOOR_LANES);
    free(door);
}

/// The door of a worker, without a socket; NULL: no memory.
static struct hc_sv_door *create(sa_family_t family) {
    struct udp *udp = calloc(1, sizeof(*udp));
    if (udp == NULL)
        return NULL;
    udp->door.kind = &kind;
    for (unsigned lane = 0; lane < HC_SV_DOOR_LANES; lane++)
        udp->door.descriptors[lane] = -1;
    udp->family = family;
    prepare(&udp->in);
    prepare(&udp->out);
    for (unsigned i = 0; i < HC_SV_DOOR_BATCH; i++) {
        udp->in.parts[i] = (struct iovec){udp->bytes[i], ROOM};
        udp->in.headers[i].msg_hdr.msg_control = udp->stamps.controls[i];
    }
    return &udp->door;
}

/// Makes the doors of all workers, without sockets; false: no memory.
static bool create_all(sa_family_t family, unsigned workers, struct hc_sv_door **ports, char *why,
                       size_t why_size) {
    bool good = true;
    for (unsigned i = 0; i < workers; i++) {
        ports[i] = create(family);
        good = good && ports[i] != NULL;
    }
    if (!good)
        snprintf(why, why_size, "no memory for the sockets of --workers %u", workers);
    return good;
}

/// Asks for the kernel's time of arrival of all DATA.
static void stamp_data(struct hc_sv_door **ports, unsigned workers) {
    int stamp = 1;
    for (unsigned i = 0; i < workers; i++)
        setsockopt(ports[i]->descriptors[HC_SV_DOOR_DATA], SOL_SOCKET, SO_TIMESTAMPNS, &stamp,
                   sizeof(stamp));
}

/// Gives the first worker the bound `descriptor`, and all workers their lanes; false: failed.
static bool open_workers(int descriptor, sa_family_t family, unsigned workers,
                         struct hc_sv_door **ports, char *why, size_t why_size) {
    if (!create_all(family, workers, ports, why, why_size)) {
        close(descriptor);
        return false;
    }
    ports[0]->descriptors[HC_SV_DOOR_DATA] = descriptor;
    if (!open_lanes(ports, workers) && workers > 1) {
        int cause = errno;
        if (cause == EMFILE || cause == ENFILE || cause == ENOMEM || cause == ENOBUFS)
            snprintf(why, why_size, "--workers %u: no more sockets can be had: %s", workers,
                     strerror(cause));
        else
            snprintf(why, why_size,
                     "--workers %u: this system cannot give the datagrams of one port to several "
                     "sockets (SO_REUSEPORT with a filter): %s",
                     workers, strerror(cause));
        return false;
    }
    stamp_data(ports, workers);
    return true;
}

/// Closes all doors that are open.
static void close_all(struct hc_sv_door **ports, unsigned workers) {
    for (unsigned i = 0; i < workers; i++) {
        if (ports[i] != NULL)
            close_door(ports[i]);
        ports[i] = NULL;
    }
}

/// As hc_sv_udp_open, with the sockets of the service manager: one, or all lanes of all workers.
static bool take_inherited(const struct hc_sv_activation *activation, unsigned workers,
                           struct hc_sv_door **ports, char *why, size_t why_size) {
    unsigned lanes = workers * HC_SV_DOOR_LANES;
    struct sockaddr_storage local = {0};
    socklen_t length = sizeof(local);
    getsockname(activation->game[0], (struct sockaddr *)&local, &length);
    for (unsigned i = 0; i < activation->games; i++) {
        detach(activation->game[i]);
        set_options(activation->game[i]);
    }
    bool good = activation->games == 1 &&
                open_workers(activation->game[0], local.ss_family, workers, ports, why, why_size);
    if (good || (activation->games == 1 && workers == 1))
        return good;
    if (activation->games != lanes) {
        snprintf(why, why_size,
                 "--workers '%u': the service manager passes %u UDP sockets of the port, and must "
                 "pass %u with SO_REUSEPORT, %d for each worker",
                 workers, activation->games, lanes, (int)HC_SV_DOOR_LANES);
        return false;
    }
    if (!create_all(local.ss_family, workers, ports, why, why_size))
        return false;
    for (unsigned i = 0; i < lanes; i++)
        ports[i / HC_SV_DOOR_LANES]->descriptors[i % HC_SV_DOOR_LANES] = activation->game[i];
    stamp_data(ports, workers);
    if (sort_lanes(ports, workers))
        return true;
    snprintf(why, why_size,
             "the kernel cannot sort datagrams among the UDP sockets of the service manager, which "
             "need SO_REUSEPORT (ReusePort=yes): %s",
             strerror(errno));
    return false;
}

int hc_sv_udp_bind(const char *bind_to, const char *option, uint16_t port, sa_family_t *family,
                   char *why, size_t why_size) {
    char service[8];
    struct addrinfo hints = {.ai_socktype = SOCK_DGRAM,
                             .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE};
    struct addrinfo *where = NULL;
    snprintf(service, sizeof(service), "%u", port);
    int found = getaddrinfo(bind_to, service, &hints, &where);
    if (found != 0) {
        snprintf(why, why_size, "--bind '%s': must be a numeric address: %s", bind_to,
                 gai_strerror(found));
        return -1;
    }
    int descriptor = open_bound(where->ai_addr, where->ai_addrlen, false), cause = errno;
    *family = (sa_family_t)where->ai_family;
    freeaddrinfo(where);
    if (descriptor < 0 && strcmp(bind_to, "::") == 0 &&
        (cause == EAFNOSUPPORT || cause == EADDRNOTAVAIL))
        return hc_sv_udp_bind("0.0.0.0", option, port, family, why, why_size);
    if (descriptor < 0)
        snprintf(why, why_size, "--bind '%s' %s %u: %s", bind_to, option, port, strerror(cause));
    return descriptor;
}

/// As hc_sv_udp_open.
static bool open_at(const char *bind_to, uint16_t port, unsigned workers, struct hc_sv_door **ports,
                    char *why, size_t why_size) {
    sa_family_t family;
    int descriptor = hc_sv_udp_bind(bind_to, "--port", port, &family, why, why_size);
    return descriptor >= 0 && open_workers(descriptor, family, workers, ports, why, why_size);
}

bool hc_sv_udp_open(const struct hc_sv_options *options, struct hc_sv_door **workers, char *why,
                    size_t why_size) {
    const struct hc_sv_activation *activation = options->activation;
    bool good =
        activation != NULL && activation->games > 0
            ? take_inherited(activation, options->workers, workers, why, why_size)
            : open_at(options->bind, options->port, options->workers, workers, why, why_size);
    if (!good)
        close_all(workers, options->workers);
    return good;
}

static struct hc_sv_door *share(const struct hc_sv_door *door) {
    struct hc_sv_door *shared = create(((const struct udp *)door)->family);
    bool good = shared != NULL;
    for (unsigned lane = 0; good && lane < HC_SV_DOOR_LANES; lane++) {
        if (door->descriptors[lane] < 0)
            continue;
        shared->descriptors[lane] = fcntl(door->descriptors[lane], F_DUPFD_CLOEXEC, 0);
        good = shared->descriptors[lane] >= 0;
    }
    if (good)
        return shared;
    if (shared != NULL)
        close_door(shared);
    return NULL;
}

static void go_on(struct hc_sv_door *door, const struct hc_sv_door *former) {
    struct udp *udp = (struct udp *)door;
    const struct udp *before = (const struct udp *)former;
    udp->send_errors = before->send_errors;
    memcpy(udp->drops, before->drops, sizeof(udp->drops));
    udp->emptied_us = before->emptied_us;
}

// ---- Receiving and sending ----------------------------------------------------------------------

/// When a datagram of the batch that was just read arrived. The bounds hold even if the system's
/// clock was set since then.
static uint64_t arrival_us(const struct udp *udp, const struct msghdr *header) {
    const struct stamps *stamps = &udp->stamps;
    const struct cmsghdr *control = CMSG_FIRSTHDR(header);
    const uint8_t *bytes = header->msg_iov->iov_base;
    if (control == NULL || control->cmsg_type != SCM_TIMESTAMPNS || bytes[0] != HC_DATAGRAM_DATA)
        return stamps->read_us;
    struct timespec at;
    memcpy(&at, CMSG_DATA(control), sizeof(at));
    uint64_t at_ns = (uint64_t)at.tv_sec * 1000000000 + (uint64_t)at.tv_nsec;
    uint64_t ago_us = hc_since(at_ns, stamps->unix_ns) / 1000;
    uint64_t most_us = hc_since(udp->after_us, stamps->read_us);
    return hc_since(ago_us < most_us ? ago_us : most_us, stamps->read_us);
}

static unsigned receive(struct hc_sv_door *door, enum hc_sv_door_lane lane) {
    struct udp *udp = (struct udp *)door;
    for (unsigned i = 0; i < HC_SV_DOOR_BATCH; i++) {
        udp->in.headers[i].msg_hdr.msg_namelen = sizeof(udp->in.peers[i]);
        udp->in.headers[i].msg_hdr.msg_controllen = STAMP_SIZE;
    }
    uint64_t begun_us = hc_clock_us();
    int received =
        recvmmsg(door->descriptors[lane], udp->in.headers, hc_sv_door_batch(lane), 0, NULL);
    unsigned count = received > 0 ? (unsigned)received : 0;
    udp->stamps.read_us = hc_clock_us();
    udp->stamps.unix_ns = unix_ns();
    udp->after_us = udp->emptied_us;
    if (lane == HC_SV_DOOR_DATA && count < HC_SV_DOOR_BATCH)
        udp->emptied_us = begun_us;
    for (unsigned i = 0; i < count; i++)
        door->in[i] = (struct hc_sv_datagram){
            .bytes = udp->bytes[i],
            .size = udp->in.headers[i].msg_len,
            .from = hc_sv_udp_from_system(&udp->in.peers[i]),
            .arrived_us = arrival_us(udp, &udp->in.headers[i].msg_hdr),
        };
    return count;
}

/// Any address may be that of a peer.
static unsigned send_all(struct hc_sv_door *door, struct hc_sv_outgoing **out, unsigned count) {
    struct udp *udp = (struct udp *)door;
    for (unsigned i = 0; i < count; i++) {
        HC_ASSERT(out[i]->size <= HC_DATAGRAM_MAX);
        udp->out.parts[i] = (struct iovec){out[i]->bytes, out[i]->size};
        udp->out.headers[i].msg_hdr.msg_namelen =
            to_system(udp->family, &out[i]->to, &udp->out.peers[i]);
    }
    for (unsigned sent = 0; sent < count;) {
        int done =
            sendmmsg(door->descriptors[HC_SV_DOOR_DATA], udp->out.headers + sent, count - sent, 0);
        if (done > 0) {
            sent += (unsigned)done;
        } else if (errno != EINTR) {
            // Only the first datagram failed; the others may go to other addresses.
            udp->send_errors++;
            sent++;
        }
    }
    return 0;
}

static void send_now(const struct hc_sv_door *door, const struct hc_address *to,
                     const uint8_t *bytes, size_t size) {
    const struct udp *udp = (const struct udp *)door;
    struct sockaddr_storage peer;
    memset(&peer, 0, sizeof(peer));
    socklen_t length = to_system(udp->family, to, &peer);
    ssize_t sent = sendto(door->descriptors[HC_SV_DOOR_DATA], bytes, size, MSG_DONTWAIT,
                          (const struct sockaddr *)&peer, length);
    (void)sent; // nobody counts any more
}

// ---- Facts and counts ---------------------------------------------------------------------------

/// The bytes that the kernel granted to the lane with the smallest receive buffer.
static uint32_t granted_by_kernel(const struct hc_sv_door *door) {
    uint32_t least = RECEIVE_BUFFER;
    for (unsigned lane = 0; lane < HC_SV_DOOR_LANES; lane++) {
        int size = 0;
        socklen_t length = sizeof(size);
        if (door->descriptors[lane] < 0)
            continue;
        getsockopt(door->descriptors[lane], SOL_SOCKET, SO_RCVBUF, &size, &length);
        // The kernel reserves as much again for its own overhead, and reports the sum.
        if ((uint32_t)size / 2 < least)
            least = (uint32_t)size / 2;
    }
    return least;
}

static struct hc_sv_door_facts facts(const struct hc_sv_door *door) {
    struct sockaddr_storage local = {0};
    socklen_t length = sizeof(local);
    uint32_t granted = granted_by_kernel(door);
    getsockname(door->descriptors[HC_SV_DOOR_DATA], (struct sockaddr *)&local, &length);
    return (struct hc_sv_door_facts){.address = hc_sv_udp_from_system(&local),
                                     .receive_buffer = granted,
                                     .receive_buffer_asked = RECEIVE_BUFFER,
                                     .capacity = granted / BUFFER_EACH};
}

static struct hc_sv_door_stats stats(struct hc_sv_door *door) {
    struct udp *udp = (struct udp *)door;
    for (unsigned lane = 0; lane < HC_SV_DOOR_LANES; lane++) {
        uint32_t memory[SK_MEMINFO_VARS] = {0};
        socklen_t length = sizeof(memory);
        if (getsockopt(door->descriptors[lane], SOL_SOCKET, SO_MEMINFO, memory, &length) == 0)
            udp->drops[lane] += memory[SK_MEMINFO_DROPS] - (uint32_t)udp->drops[lane];
    }
    return (struct hc_sv_door_stats){
        .sorted = door->descriptors[HC_SV_DOOR_HELLO] >= 0,
        .send_errors = udp->send_errors,
        .receive_drops = udp->drops[HC_SV_DOOR_DATA],
        .handshake_drops = udp->drops[HC_SV_DOOR_CONNECT] + udp->drops[HC_SV_DOOR_HELLO],
    };
}

static const struct hc_sv_door_kind kind = {.receive = receive,
                                            .send = send_all,
                                            .send_now = send_now,
                                            .share = share,
                                            .go_on = go_on,
                                            .close = close_door,
                                            .facts = facts,
                                            .stats = stats};
