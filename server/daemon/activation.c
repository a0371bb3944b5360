/// Owns the check of the sockets that the service manager passes.
#define _GNU_SOURCE // unsetenv

#include "server/daemon/activation.h"

#include "common/decimal.h"
#include "server/daemon/admin_address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    FIRST = 3, ///< the descriptor of the first socket
    MOST = HC_SV_ACTIVATION_GAMES + 1,
    NAME_MAX_SHOWN = 64, ///< bytes of a name in a sentence
};

/// The facts about a socket.
struct facts {
    struct sockaddr_storage address;
    bool is_game, is_admin;
};

// ---- One socket ---------------------------------------------------------------------------------

static bool read_facts(int descriptor, struct facts *facts) {
    int type = 0, listens = 0;
    socklen_t size = sizeof(type), address_size = sizeof(facts->address);
    *facts = (struct facts){.is_game = false};
    if (getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size) != 0 ||
        getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0 ||
        getsockname(descriptor, (struct sockaddr *)&facts->address, &address_size) != 0)
        return false;
    sa_family_t family = facts->address.ss_family;
    bool is_ip = family == AF_INET || family == AF_INET6;
    facts->is_game = type == SOCK_DGRAM && is_ip;
    facts->is_admin = type == SOCK_STREAM && listens && (is_ip || family == AF_UNIX);
    return true;
}

/// The port of an IP address, in host byte order.
static uint16_t port_of(const struct sockaddr_storage *address) {
    // sin_port and sin6_port lie at the same offset.
    return ntohs(((const struct sockaddr_in *)address)->sin_port);
}

/// Whether `descriptor` is bound to the address of the sockets before it.
static bool joins(const struct hc_sv_activation *activation, const struct facts *facts) {
    struct facts first;
    return activation->games == 0 ||
           (read_facts(activation->game[0], &first) &&
            memcmp(&first.address, &facts->address, sizeof(first.address)) == 0);
}

/// Takes one socket; false: it is not what its name says, or one too many.
static bool take(struct hc_sv_activation *activation, int descriptor, const char *name, char *why,
                 size_t why_size) {
    struct facts facts;
    const char *fault = NULL;
    bool wants_game = strcmp(name, "game") == 0, wants_admin = strcmp(name, "admin") == 0;
    if (!read_facts(descriptor, &facts))
        fault = strerror(errno);
    else if (wants_game && !facts.is_game)
        fault = "a socket of this name must be of UDP";
    else if (wants_admin && !facts.is_admin)
        fault = "a socket of this name must be a stream socket that listens";
    else if (!facts.is_game && !facts.is_admin)
        fault = "it must be a UDP socket for the game, or a listening stream socket for --admin";
    else if (facts.is_game && port_of(&facts.address) == 0)
        fault = "it must be bound to a port";
    else if (facts.is_game && !joins(activation, &facts))
        fault = "all UDP sockets must be bound to the same address and port";
    else if (facts.is_admin && activation->admin >= 0)
        fault = "there must be one stream socket for --admin";
    else if (facts.is_game && activation->games == HC_SV_ACTIVATION_GAMES)
        fault = "there are too many UDP sockets";
    if (fault != NULL) {
        snprintf(why, why_size, "descriptor %d of LISTEN_FDS, '%.*s': %s", descriptor,
                 NAME_MAX_SHOWN, name, fault);
        return false;
    }
    fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK);
    if (facts.is_game)
        activation->game[activation->games++] = descriptor;
    else
        activation->admin = descriptor;
    return true;
}

// ---- The environment ----------------------------------------------------------------------------

/// Reads how many sockets are passed to this process; false: a variable is no such number.
static bool read_count(unsigned *count, char *why, size_t why_size) {
    const char *process = getenv("LISTEN_PID"), *sockets = getenv("LISTEN_FDS");
    uint64_t number;
    *count = 0;
    if (process == NULL || sockets == NULL)
        return true;
    if (hc_decimal_parse(process, 0, &number) != HC_OK) {
        snprintf(why, why_size, "LISTEN_PID '%s': must be the number of a process", process);
        return false;
    }
    if (number != (uint64_t)getpid())
        return true; // meant for a parent
    if (hc_decimal_parse(sockets, 0, &number) != HC_OK || number > MOST) {
        snprintf(why, why_size, "LISTEN_FDS '%s': must be a number of sockets in [0, %d]", sockets,
                 (int)MOST);
        return false;
    }
    *count = (unsigned)number;
    return true;
}

/// Takes all sockets, with the names of `names` between colons; NULL: they have none.
static bool take_all(struct hc_sv_activation *activation, unsigned count, char *names, char *why,
                     size_t why_size) {
    unsigned named = names != NULL;
    for (const char *at = names; at != NULL && *at != '\0'; at++)
        named += *at == ':';
    if (names != NULL && named != count) {
        snprintf(why, why_size,
                 "LISTEN_FDNAMES '%.*s': must have %u names between colons, for "
                 "LISTEN_FDS",
                 NAME_MAX_SHOWN, names, count);
        return false;
    }
    for (unsigned i = 0; i < count; i++) {
        char *end = names != NULL ? strchr(names, ':') : NULL;
        if (end != NULL)
            *end = '\0';
        if (!take(activation, FIRST + (int)i, names != NULL ? names : "", why, why_size))
            return false;
        names = end != NULL ? end + 1 : names;
    }
    return true;
}

bool hc_sv_activation_take(struct hc_sv_activation *activation, char *why, size_t why_size) {
    unsigned count;
    *activation = (struct hc_sv_activation){.admin = -1};
    bool good =
        read_count(&count, why, why_size) &&
        (count == 0 || take_all(activation, count, getenv("LISTEN_FDNAMES"), why, why_size));
    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDS");
    unsetenv("LISTEN_FDNAMES");
    return good;
}

// ---- The settings -------------------------------------------------------------------------------

/// Whether the numeric address `text` is that of the socket.
static bool is_address(const char *text, const struct sockaddr_storage *address) {
    struct in6_addr ip;
    if (address->ss_family == AF_INET6)
        return inet_pton(AF_INET6, text, &ip) == 1 &&
               memcmp(&ip, &((const struct sockaddr_in6 *)address)->sin6_addr, sizeof(ip)) == 0;
    return inet_pton(AF_INET, text, &ip) == 1 &&
           memcmp(&ip, &((const struct sockaddr_in *)address)->sin_addr, sizeof(struct in_addr)) ==
               0;
}

/// Whether --admin names the address of the socket.
static bool is_admin(const char *admin, const struct sockaddr_storage *address, char *text,
                     size_t size) {
    struct hc_sv_admin_address found = {.address = *address};
    if (address->ss_family == AF_UNIX)
        found.path = ((const struct sockaddr_un *)&found.address)->sun_path;
    hc_sv_admin_address_format(&found, text, size);
    return admin != NULL && strcmp(admin, text) == 0;
}

bool hc_sv_activation_check(const struct hc_sv_activation *activation,
                            const struct hc_sv_options *options, char *why, size_t why_size) {
    struct facts facts;
    char text[256];
    if (activation->games > 0 && read_facts(activation->game[0], &facts)) {
        unsigned port = port_of(&facts.address);
        if (options->given[HC_SV_SETTING_port] && options->port != port) {
            snprintf(why, why_size,
                     "--port '%u': the service manager passes a socket of port %u: set this, or "
                     "none",
                     options->port, port);
            return false;
        }
        if (options->given[HC_SV_SETTING_bind] && !is_address(options->bind, &facts.address)) {
            snprintf(why, why_size,
                     "--bind '%s': the service manager passes a socket of another address: set "
                     "this, or none",
                     options->bind);
            return false;
        }
    }
    if (activation->admin < 0 || !read_facts(activation->admin, &facts) ||
        is_admin(options->admin, &facts.address, text, sizeof(text)))
        return true;
    snprintf(why, why_size, "--admin '%s': the service manager passes a socket of %s: set this",
             options->admin != NULL ? options->admin : "", text);
    return false;
}
