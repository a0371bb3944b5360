/// The server's UDP port: sends and receives datagrams of many peers in batches. The kernel sorts
/// received datagrams into lanes.
///
/// Each lane is a socket with its own receive buffer. A flood in one lane displaces nothing in
/// another, and an unread datagram costs only its arrival. While the lanes share the port
/// (SO_REUSEPORT), another program of the same user could share it too.
///
/// Several workers may share a port, each with lanes of its own. The kernel gives DATA to the
/// worker of the match in its cid, CONNECT to the worker of the match in its token, and HELLO to a
/// worker by a byte of its client_nonce. Match m is of worker m % workers.
#pragma once

#include "hindcast/address.h"
#include "proto/datagram.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    HC_SV_UDP_BATCH = 64,               ///< datagrams of one system call
    HC_SV_UDP_CONNECTS = 4,             ///< CONNECTs of one: each may take as long as 100 others
    HC_SV_UDP_RECEIVE_BUFFER = 4 << 20, ///< bytes asked for each lane: some 10,000 small datagrams
};

/// The first byte of a datagram selects its lane.
enum hc_sv_udp_lane {
    HC_SV_UDP_DATA,    ///< the only lane where the kernel cannot sort
    HC_SV_UDP_CONNECT, ///< from clients that have received a COOKIE
    HC_SV_UDP_HELLO,   ///< HELLO, and datagrams of no known kind
    HC_SV_UDP_LANES
};

struct hc_sv_udp;

/// Counts since the port was opened.
struct hc_sv_udp_stats {
    bool sorted;              ///< there is more than one lane
    uint64_t send_errors;     ///< datagrams that the kernel refused to send
    uint64_t receive_drops;   ///< datagrams that found the DATA lane's receive buffer full, and
                              ///< broadcasts of another kind, which the kernel gives to all lanes
    uint64_t handshake_drops; ///< datagrams that found another lane's receive buffer full
};

/// Opens non-blocking sockets on the numeric address `bind` and `port` (0: any) for `workers`
/// workers, and writes one of each to `*ports`. "::" takes IPv4 too, and falls back to IPv4 alone
/// on a system without IPv6. False: failed, for instance because another program has the port, or
/// because the kernel cannot sort for several workers; `why` is a sentence.
bool hc_sv_udp_open(const char *bind, uint16_t port, unsigned workers, struct hc_sv_udp **ports,
                    char *why, size_t why_size);

/// The sockets of one worker for another thread, which receives and sends in its stead. NULL: no
/// memory or no descriptors.
struct hc_sv_udp *hc_sv_udp_share(const struct hc_sv_udp *udp);

/// Continues the counts of `before`, whose thread uses it no more.
void hc_sv_udp_continue(struct hc_sv_udp *udp, const struct hc_sv_udp *before);

/// Closes the sockets of one worker; NULL is allowed. A worker must not close before all have
/// ended.
void hc_sv_udp_close(struct hc_sv_udp *udp);

/// The descriptor of a lane, to wait on; -1: the kernel cannot sort, and the lane does not exist.
int hc_sv_udp_descriptor(const struct hc_sv_udp *udp, enum hc_sv_udp_lane lane);

/// The bound address.
struct hc_address hc_sv_udp_address(const struct hc_sv_udp *udp);

/// Bytes that the kernel granted to the lane with the smallest receive buffer. It grants
/// HC_SV_UDP_RECEIVE_BUFFER to a process with CAP_NET_ADMIN, and at most the sysctl
/// net.core.rmem_max to any other.
uint32_t hc_sv_udp_receive_buffer(const struct hc_sv_udp *udp);

/// The most datagrams of a lane that one call receives. A tick waits for them.
static inline unsigned hc_sv_udp_batch(enum hc_sv_udp_lane lane) {
    return lane == HC_SV_UDP_CONNECT ? HC_SV_UDP_CONNECTS : HC_SV_UDP_BATCH;
}

/// Receives up to hc_sv_udp_batch datagrams of a lane and returns their number. They are read with
/// hc_sv_udp_received, and are valid until the next call.
unsigned hc_sv_udp_receive(struct hc_sv_udp *udp, enum hc_sv_udp_lane lane);

struct hc_sv_udp_datagram {
    const uint8_t *bytes;
    size_t size; ///< above HC_DATAGRAM_MAX if the datagram is longer than that
    struct hc_address from;
    uint64_t arrived_us; ///< on hc_clock_us: of DATA the kernel's time, else when it was read
};

/// Datagram `index` of the last batch.
struct hc_sv_udp_datagram hc_sv_udp_received(const struct hc_sv_udp *udp, unsigned index);

/// Small datagrams that the smallest receive buffer holds, about.
uint32_t hc_sv_udp_capacity(const struct hc_sv_udp *udp);

/// Room of HC_DATAGRAM_MAX bytes for the next datagram to send.
uint8_t *hc_sv_udp_room(struct hc_sv_udp *udp);

/// Queues the `size` bytes in the room for `to`; sends a full batch.
void hc_sv_udp_queue(struct hc_sv_udp *udp, const struct hc_address *to, size_t size);

/// Sends the queue. Drops and counts datagrams that the kernel refuses.
void hc_sv_udp_flush(struct hc_sv_udp *udp);

/// Counts since the port was opened. The kernel's drop counters wrap at 2^32: call this more often
/// than that many drops can occur.
struct hc_sv_udp_stats hc_sv_udp_stats(struct hc_sv_udp *udp);
