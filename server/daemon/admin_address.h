/// The address of --admin: `ADDRESS:PORT`, `[ADDRESS]:PORT` or `unix:/PATH`.
#pragma once

#include <stdbool.h>
#include <sys/socket.h>

struct hc_sv_admin_address {
    struct sockaddr_storage address;
    socklen_t size;
    const char *path; ///< of a Unix socket, in the parsed text; NULL: TCP
    bool loopback;    ///< only programs of this machine reach it
};

/// Parses a numeric address; names are refused, so that the start asks no name server. False: it is
/// none.
bool hc_sv_admin_address_parse(const char *text, struct hc_sv_admin_address *parsed);

/// Writes "ADDRESS:PORT", or "unix:" and the path, to `text`.
void hc_sv_admin_address_format(const struct hc_sv_admin_address *address, char *text, size_t size);
