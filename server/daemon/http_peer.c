/// Owns which part of an address is one user's.
#include "server/daemon/http_peer.h"

#include <netinet/in.h>
#include <string.h>

enum { NETWORK_SIZE = 8 }; ///< bytes of an IPv6 address that are one user's

struct hc_sv_http_peer hc_sv_http_peer(const struct sockaddr_storage *address) {
    struct hc_sv_http_peer peer = {.bytes = {0}};
    const struct in_addr *ipv4 = &((const struct sockaddr_in *)(const void *)address)->sin_addr;
    const struct in6_addr *ipv6 = &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
    if (address->ss_family == AF_INET) {
        static const uint8_t mapped[] = {[10] = 0xff, [11] = 0xff};
        memcpy(peer.bytes, mapped, sizeof(mapped));
        memcpy(peer.bytes + sizeof(mapped), ipv4, sizeof(*ipv4));
    } else if (address->ss_family == AF_INET6) {
        memcpy(peer.bytes, ipv6, IN6_IS_ADDR_V4MAPPED(ipv6) ? sizeof(*ipv6) : NETWORK_SIZE);
    }
    return peer;
}

struct hc_sv_http_peer hc_sv_http_peer_of(int descriptor) {
    struct sockaddr_storage address = {.ss_family = AF_UNSPEC};
    socklen_t size = sizeof(address);
    if (getpeername(descriptor, (struct sockaddr *)&address, &size) != 0)
        address.ss_family = AF_UNSPEC;
    return hc_sv_http_peer(&address);
}
