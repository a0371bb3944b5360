/// The processes that send a flood, and their volleys.
#define _GNU_SOURCE // pipe2, struct in_pktinfo

#include "tests/attack/flood.h"

#include "common/programs/clock.h"
#include "hindcast/arena.h"
#include "proto/datagram.h"
#include "tests/attack/loopback.h"
#include "tests/sim/endpoint.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    VOLLEY = 50, ///< datagrams of one system call, 60,000 bytes
    SOCKETS = 8, ///< of a sender, and so many ports
    PAUSE_US = 100,
    BEHIND_US = 50000, ///< a longer delay is not made up for
    NONCE_AT = 16,
    DATA_SIZE = 40, ///< short, so that many can be sent
    CONTROL_SIZE = CMSG_SPACE(sizeof(struct in_pktinfo)) + CMSG_SPACE(sizeof(uint16_t)),
};

/// Datagrams of one source address, for one system call.
struct volley {
    struct msghdr header;
    struct iovec part;
    struct sockaddr_in to;
    struct in_pktinfo *from; ///< in `control`
    enum flood_kind kind;
    uint16_t each; ///< bytes of a datagram
    uint8_t bytes[VOLLEY * HC_DATAGRAM_HELLO_SIZE];
    union {
        struct cmsghdr aligned;
        uint8_t bytes[CONTROL_SIZE];
    } control;
};

/// Gives datagram `i` a nonce or a connection of `number`.
static void renew(struct volley *volley, unsigned i, uint64_t number) {
    uint8_t *bytes = volley->bytes + (size_t)i * volley->each;
    struct hc_data data = {.cid = (uint32_t)number, .seq = (uint32_t)(number >> 32) | 1};
    if (volley->kind == FLOOD_HELLO)
        memcpy(bytes + NONCE_AT, &number, sizeof number);
    else
        hc_datagram_put_data(&data, bytes);
}

static void prepare(struct volley *volley, enum flood_kind kind, uint16_t port) {
    struct hc_hello hello = {.protocol_id = hc_test_protocol_id(&hc_arena)};
    volley->kind = kind;
    volley->each = kind == FLOOD_HELLO ? HC_DATAGRAM_HELLO_SIZE : DATA_SIZE;
    volley->to = (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    for (unsigned i = 0; kind == FLOOD_HELLO && i < VOLLEY; i++)
        hc_datagram_put_hello(&hello, volley->bytes + (size_t)i * volley->each);
    volley->part.iov_base = volley->bytes;
    volley->header = (struct msghdr){.msg_name = &volley->to,
                                     .msg_namelen = sizeof volley->to,
                                     .msg_iov = &volley->part,
                                     .msg_iovlen = 1,
                                     .msg_control = volley->control.bytes,
                                     .msg_controllen = CONTROL_SIZE};
    struct cmsghdr *control = CMSG_FIRSTHDR(&volley->header);
    control->cmsg_level = IPPROTO_IP;
    control->cmsg_type = IP_PKTINFO;
    control->cmsg_len = CMSG_LEN(sizeof *volley->from);
    volley->from = (struct in_pktinfo *)CMSG_DATA(control);
    control = CMSG_NXTHDR(&volley->header, control);
    control->cmsg_level = SOL_UDP;
    control->cmsg_type = UDP_SEGMENT;
    control->cmsg_len = CMSG_LEN(sizeof volley->each);
    memcpy(CMSG_DATA(control), &volley->each, sizeof volley->each);
}

/// Sends `count` new datagrams, at most a volley, from another address outside 127.0.x.y, where
/// others may listen. Returns whether the system accepted them.
static bool send_volley(struct volley *volley, int descriptor, unsigned count, uint64_t serial) {
    for (unsigned i = 0; i < count; i++) {
        uint64_t number = (serial + i) * UINT64_C(0x9e3779b97f4a7c15);
        renew(volley, i, number);
        if (i == 0)
            volley->from->ipi_spec_dst.s_addr =
                htonl(UINT32_C(0x7f010000) + (uint32_t)(number >> 44) * 7);
    }
    volley->part.iov_len = (size_t)count * volley->each;
    return sendmsg(descriptor, &volley->header, 0) == (ssize_t)volley->part.iov_len;
}

/// In the child: sends `rate` a second, evenly, until the time is over; `serial` numbers the first.
static struct flood_result send_all(enum flood_kind kind, uint16_t port, uint32_t rate, uint64_t us,
                                    uint64_t serial) {
    static struct volley volley;
    struct flood_result result = {.sent = 0};
    int sockets[SOCKETS], small = 1;
    uint64_t aimed = 0, behind = (uint64_t)rate * BEHIND_US / 1000000;
    prepare(&volley, kind, port);
    for (unsigned i = 0; i < SOCKETS; i++) {
        sockets[i] = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        setsockopt(sockets[i], SOL_SOCKET, SO_RCVBUF, &small, sizeof small); // no answer is read
    }
    uint64_t from = hc_clock_us();
    for (uint64_t now = from; now - from < us; now = hc_clock_us()) {
        uint64_t due = (now - from) * rate / 1000000;
        if (due > aimed + behind)
            aimed = due - behind;
        while (aimed < due) {
            unsigned count = due - aimed < VOLLEY ? (unsigned)(due - aimed) : VOLLEY;
            bool taken =
                send_volley(&volley, sockets[aimed / VOLLEY % SOCKETS], count, serial + aimed);
            *(taken ? &result.sent : &result.refused) += count;
            aimed += count;
        }
        hc_clock_sleep(PAUSE_US);
    }
    result.cpu_us = (uint64_t)attack_cpu_us();
    return result;
}

bool flood_begin(struct attack *attack, struct flood *flood, enum flood_kind kind, uint16_t port,
                 uint32_t rate, uint64_t us) {
    int ends[2];
    unsigned wanted = (rate + FLOOD_SENDER_RATE - 1) / FLOOD_SENDER_RATE;
    bool piped = pipe2(ends, O_CLOEXEC) == 0;
    attack_require(attack, piped, "no pipe can be had");
    if (!piped)
        return false;
    wanted = wanted < FLOOD_SENDERS_MAX ? wanted : FLOOD_SENDERS_MAX;
    *flood = (struct flood){.results = ends[0]};
    fflush(stdout);
    for (; flood->count < wanted; flood->count++) {
        pid_t sender = fork();
        if (sender == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            struct flood_result result =
                send_all(kind, port, rate / wanted, us, (uint64_t)flood->count << 48);
            _exit(write(ends[1], &result, sizeof result) == (ssize_t)sizeof result ? 0 : 1);
        }
        attack_require(attack, sender > 0, "no process can be had");
        if (sender < 0)
            break;
        flood->senders[flood->count] = sender;
    }
    close(ends[1]);
    return true;
}

struct flood_result flood_end(struct flood *flood) {
    struct flood_result sum = {.sent = 0}, result;
    while (read(flood->results, &result, sizeof result) == (ssize_t)sizeof result) {
        sum.sent += result.sent;
        sum.refused += result.refused;
        sum.cpu_us += result.cpu_us;
    }
    close(flood->results);
    for (unsigned i = 0; i < flood->count; i++)
        waitpid(flood->senders[i], NULL, 0);
    return sum;
}
