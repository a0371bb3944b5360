/// Owns the comparison of a socket's local address with the one that the kernel would choose now.
#define _GNU_SOURCE // SOCK_CLOEXEC

#include "client/programs/follow.h"

#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

enum {
    SILENT_US = 1000000, ///< silence after which a socket is examined
    REFUSED_US = 50000,  ///< from an error to that: a machine that has just lost an address
};

void hc_cl_follow_received(struct hc_cl_follow *follow, uint64_t now_us) {
    follow->due_us = now_us + SILENT_US;
}

void hc_cl_follow_refused(struct hc_cl_follow *follow, uint64_t now_us) {
    if (follow->due_us > now_us + REFUSED_US)
        follow->due_us = now_us + REFUSED_US;
}

/// Whether a socket has the local IP address of another one.
static bool has_address_of(int descriptor, int other) {
    struct sockaddr_storage names[2];
    socklen_t sizes[2] = {sizeof(names[0]), sizeof(names[1])};
    memset(names, 0, sizeof(names));
    if (getsockname(descriptor, (struct sockaddr *)&names[0], &sizes[0]) != 0 ||
        getsockname(other, (struct sockaddr *)&names[1], &sizes[1]) != 0)
        return true;
    if (names[0].ss_family == AF_INET)
        return ((struct sockaddr_in *)&names[0])->sin_addr.s_addr ==
               ((struct sockaddr_in *)&names[1])->sin_addr.s_addr;
    return memcmp(&((struct sockaddr_in6 *)&names[0])->sin6_addr,
                  &((struct sockaddr_in6 *)&names[1])->sin6_addr, sizeof(struct in6_addr)) == 0;
}

/// Whether the kernel would give a socket to the server another local address now. Without a way to
/// the server it would give none.
static bool has_moved(int descriptor, const struct hc_cl_udp_peer *server) {
    int fresh = socket(server->address.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool moved = fresh >= 0 &&
                 connect(fresh, (const struct sockaddr *)&server->address, server->length) == 0 &&
                 !has_address_of(descriptor, fresh);
    if (fresh >= 0)
        close(fresh);
    return moved;
}

void hc_cl_follow(struct hc_cl_follow *follow, const int *descriptors, uint32_t count,
                  const struct hc_cl_udp_peer *server, uint64_t now_us) {
    const struct sockaddr none = {.sa_family = AF_UNSPEC};
    if (now_us < follow->due_us)
        return;
    bool begins = follow->due_us == 0;
    follow->due_us = now_us + SILENT_US;
    if (begins || !has_moved(descriptors[0], server))
        return;
    for (uint32_t i = 0; i < count; i++) {
        (void)connect(descriptors[i], &none, sizeof(none)); // gives the old address up
        (void)connect(descriptors[i], (const struct sockaddr *)&server->address, server->length);
    }
}
