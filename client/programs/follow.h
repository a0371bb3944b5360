/// Connected UDP sockets that follow this machine when its address changes.
///
/// The kernel chooses the local address of a socket when it is connected. When the machine gets
/// another one, by another network or a lease that ended, the kernel refuses to send from the old
/// one, or its datagrams no longer come through.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

/// A server's address in the form of the system calls.
struct hc_cl_udp_peer {
    struct sockaddr_storage address;
    socklen_t length;
};

/// When sockets are examined. All zeros: nothing was sent yet.
struct hc_cl_follow {
    uint64_t due_us;
};

/// Datagrams were received: the address holds.
void hc_cl_follow_received(struct hc_cl_follow *follow, uint64_t now_us);

/// The kernel refused to send a datagram.
void hc_cl_follow_refused(struct hc_cl_follow *follow, uint64_t now_us);

/// After an error, or a second of silence, and then each second: connects sockets to `server` anew
/// if the kernel would give the first one another local address than it has. To be called when
/// datagrams were sent. The descriptors stay the same.
void hc_cl_follow(struct hc_cl_follow *follow, const int *descriptors, uint32_t count,
                  const struct hc_cl_udp_peer *server, uint64_t now_us);
