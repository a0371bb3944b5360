/// The peer of an HTTP connection: the part of its network address that is one user's.
#pragma once

#include <stdint.h>
#include <sys/socket.h>

/// All of an IPv4 address, 64 bits of an IPv6 address, all zeros for a Unix socket.
struct hc_sv_http_peer {
    uint8_t bytes[16];
};

/// The peer at an address. An IPv4 address in IPv6 form is that IPv4 address.
struct hc_sv_http_peer hc_sv_http_peer(const struct sockaddr_storage *address);

/// The peer of a socket; all zeros if it has none any more.
struct hc_sv_http_peer hc_sv_http_peer_of(int descriptor);
