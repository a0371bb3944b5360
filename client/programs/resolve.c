/// Owns the choice of a server's address among those of its name.
#define _GNU_SOURCE // getaddrinfo

#include "client/programs/resolve.h"

#include "common/elapsed.h"
#include "common/programs/clock.h"
#include "proto/datagram.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

enum {
    ADDRESSES = 16,  ///< of a name; further ones are left out
    TRY_US = 250000, ///< from the HELLO to one address to that to the next (RFC 8305, 8)
    TEXT_MAX = 1024, ///< bytes of the list of addresses in a message
};

/// The addresses of a name, with a socket to each.
struct search {
    uint32_t count;
    struct hc_cl_udp_peer peers[ADDRESSES];
    struct pollfd sockets[ADDRESSES]; ///< the descriptor is -1 if it could not be opened
    struct hc_hello hello;
};

/// Finds the addresses of a name, each once; false: failed, and `why` is a sentence.
static bool look_up(const struct hc_cl_resolve_wish *wish, struct search *search, char *why,
                    size_t why_size) {
    struct addrinfo hints = {.ai_socktype = SOCK_DGRAM, .ai_flags = AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    int status = getaddrinfo(wish->host, wish->port, &hints, &found);
    if (status != 0) {
        snprintf(why, why_size, "--connect '%s:%s': %s", wish->host, wish->port,
                 gai_strerror(status));
        return false;
    }
    for (const struct addrinfo *at = found; at != NULL && search->count < ADDRESSES;
         at = at->ai_next) {
        struct hc_cl_udp_peer *peer = &search->peers[search->count++];
        memcpy(&peer->address, at->ai_addr, at->ai_addrlen);
        peer->length = at->ai_addrlen;
    }
    freeaddrinfo(found);
    return true;
}

static void open_sockets(struct search *search) {
    for (uint32_t i = 0; i < search->count; i++) {
        const struct hc_cl_udp_peer *peer = &search->peers[i];
        int descriptor =
            socket(peer->address.ss_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (descriptor >= 0 &&
            connect(descriptor, (const struct sockaddr *)&peer->address, peer->length) != 0) {
            close(descriptor); // this machine has no way to it
            descriptor = -1;
        }
        search->sockets[i] = (struct pollfd){.fd = descriptor, .events = POLLIN};
    }
}

static void close_sockets(struct search *search) {
    for (uint32_t i = 0; i < search->count; i++)
        if (search->sockets[i].fd >= 0)
            close(search->sockets[i].fd);
}

/// Whether a datagram answers the HELLO, be it by a refusal.
static bool is_answer(const struct search *search, const uint8_t *bytes, size_t size) {
    struct hc_datagram_cookie cookie;
    struct hc_version version;
    if (hc_datagram_get_cookie(bytes, size, &cookie) == HC_OK)
        return memcmp(cookie.client_nonce, search->hello.client_nonce, HC_NONCE_SIZE) == 0;
    return hc_datagram_get_version(bytes, size, &version) == HC_OK &&
           memcmp(version.client_nonce, search->hello.client_nonce, HC_NONCE_SIZE) == 0;
}

/// Waits for an answer from any address until `end_us`, or until address `asked` is known to have
/// no server. Returns the address that answered; `count`: none.
static uint32_t await_answer(struct search *search, uint32_t asked, uint64_t end_us) {
    uint8_t bytes[HC_DATAGRAM_MAX + 1];
    for (uint64_t now_us = hc_clock_us(); now_us < end_us; now_us = hc_clock_us()) {
        bool refused = false;
        if (poll(search->sockets, search->count, (int)(hc_since(now_us, end_us) / 1000 + 1)) <= 0)
            continue;
        for (uint32_t i = 0; i < search->count; i++) {
            if (search->sockets[i].revents == 0)
                continue;
            ssize_t size = recv(search->sockets[i].fd, bytes, sizeof(bytes), 0);
            if (size >= 0 && is_answer(search, bytes, (size_t)size))
                return i;
            refused = refused || (size < 0 && i == asked);
        }
        if (refused &&
            asked + 1 < search->count) // the last one waits, so that each round takes a while
            break;
    }
    return search->count;
}

/// Asks one address after another until one answers, and returns it; `count`: none did.
static uint32_t ask(struct search *search, uint64_t patience_us) {
    uint8_t hello[HC_DATAGRAM_HELLO_SIZE];
    uint64_t now_us = hc_clock_us(), end_us = now_us + patience_us;
    size_t size = hc_datagram_put_hello(&search->hello, hello);
    while (now_us < end_us)
        for (uint32_t i = 0; i < search->count; i++, now_us = hc_clock_us()) {
            // A refused datagram is one that found no server.
            bool sent = search->sockets[i].fd >= 0 &&
                        send(search->sockets[i].fd, hello, size, 0) == (ssize_t)size;
            bool last = i + 1 == search->count;
            uint32_t answered = await_answer(search, i, sent || last ? now_us + TRY_US : now_us);
            if (answered < search->count)
                return answered;
        }
    return search->count;
}

/// Lists the addresses of the search.
static void list(const struct search *search, char *text, size_t size) {
    char host[INET6_ADDRSTRLEN];
    size_t at = 0;
    for (uint32_t i = 0; i < search->count && at < size; i++) {
        const struct hc_cl_udp_peer *peer = &search->peers[i];
        if (getnameinfo((const struct sockaddr *)&peer->address, peer->length, host, sizeof(host),
                        NULL, 0, NI_NUMERICHOST) != 0)
            host[0] = '\0';
        at += (size_t)snprintf(text + at, size - at, "%s%s", i == 0 ? "" : ", ", host);
    }
}

bool hc_cl_resolve(const struct hc_cl_resolve_wish *wish, struct hc_cl_udp_peer *peer, char *why,
                   size_t why_size) {
    struct search search = {.hello = {.protocol_id = wish->protocol_id}};
    char addresses[TEXT_MAX];
    uint32_t chosen = 0;
    if (!look_up(wish, &search, why, why_size))
        return false;
    uint8_t *nonce = search.hello.client_nonce;
    if (search.count > 1 && getrandom(nonce, HC_NONCE_SIZE, 0) == HC_NONCE_SIZE) {
        open_sockets(&search);
        chosen = ask(&search, wish->patience_us);
        close_sockets(&search);
    }
    if (chosen < search.count) {
        *peer = search.peers[chosen];
        return true;
    }
    list(&search, addresses, sizeof(addresses));
    snprintf(why, why_size,
             "--connect '%s:%s': no server answers within %.0f s at its addresses %s", wish->host,
             wish->port, (double)wish->patience_us / 1e6, addresses);
    return false;
}
