/// The UDP port as a door: sends and receives datagrams in batches. The kernel sorts received
/// datagrams into lanes.
///
/// Each lane is a socket with its own receive buffer. While the lanes share the port
/// (SO_REUSEPORT), another program of the same user could share it too.
///
/// Several workers may share a port, each with lanes of its own. The kernel gives DATA to the
/// worker of the match in its cid, CONNECT to the worker of the match in its token, and HELLO to a
/// worker by a byte of its client_nonce.
#pragma once

#include "server/daemon/door.h"
#include "server/daemon/options.h"

#include <sys/socket.h>

/// The address of a datagram's sender, as the kernel gives it.
struct hc_address hc_sv_udp_from_system(const struct sockaddr_storage *peer);

/// A non-blocking UDP socket on the numeric address `bind_to` and a port (0: any), and its family.
/// "::" takes IPv4 too, and falls back to IPv4 alone on a system without IPv6. -1: failed, and
/// `why` is a sentence that names the port's `option`.
int hc_sv_udp_bind(const char *bind_to, const char *option, uint16_t port, sa_family_t *family,
                   char *why, size_t why_size);

/// Opens non-blocking sockets on the numeric address of --bind and --port (0: any) for each worker
/// of the options, and writes a door of each to `*workers`. "::" takes IPv4 too, and falls back to
/// IPv4 alone on a system without IPv6. False: failed, for instance because another program has the
/// port, or because the kernel cannot sort for several workers; `why` is a sentence.
///
/// The kernel grants the asked receive buffer to a process with CAP_NET_ADMIN, and at most the
/// sysctl net.core.rmem_max to any other. Of DATA the door knows the kernel's time of arrival. A
/// broadcast that is not of a lane counts as one of its receive_drops, because the kernel gives it
/// to all lanes.
bool hc_sv_udp_open(const struct hc_sv_options *options, struct hc_sv_door **workers, char *why,
                    size_t why_size);
