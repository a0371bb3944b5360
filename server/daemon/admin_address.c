/// Owns the text of the address of --admin.
#include "server/daemon/admin_address.h"

#include "common/decimal.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

enum { HOST_MAX = 64 }; ///< bytes of a numeric address with its terminator

static const char unix_prefix[] = "unix:";

static bool parse_unix(const char *path, struct hc_sv_admin_address *parsed) {
    struct sockaddr_un *address = (void *)&parsed->address;
    size_t length = strlen(path);
    if (path[0] != '/' || length >= sizeof(address->sun_path))
        return false;
    address->sun_family = AF_UNIX;
    memcpy(address->sun_path, path, length + 1);
    parsed->size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + 1);
    parsed->path = path;
    parsed->loopback = true;
    return true;
}

/// Copies the host of `text`, without the brackets of IPv6; returns the text of the port. NULL:
/// malformed.
static const char *split(const char *text, char host[static HOST_MAX]) {
    bool bracket = text[0] == '[';
    const char *begin = text + bracket, *colon = strrchr(text, ':');
    const char *end = bracket ? strchr(begin, ']') : colon;
    if (colon == NULL || end == NULL || end + bracket != colon || end - begin >= HOST_MAX)
        return NULL;
    memcpy(host, begin, (size_t)(end - begin));
    host[end - begin] = '\0';
    return colon + 1;
}

bool hc_sv_admin_address_parse(const char *text, struct hc_sv_admin_address *parsed) {
    char host[HOST_MAX];
    uint64_t port;
    *parsed = (struct hc_sv_admin_address){.size = 0};
    if (strncmp(text, unix_prefix, sizeof(unix_prefix) - 1) == 0)
        return parse_unix(text + sizeof(unix_prefix) - 1, parsed);
    const char *port_text = split(text, host);
    if (port_text == NULL || hc_decimal_parse(port_text, 0, &port) != HC_OK || port > UINT16_MAX)
        return false;
    struct sockaddr_in *ipv4 = (void *)&parsed->address;
    struct sockaddr_in6 *ipv6 = (void *)&parsed->address;
    if (text[0] != '[' && inet_pton(AF_INET, host, &ipv4->sin_addr) == 1) {
        ipv4->sin_family = AF_INET;
        ipv4->sin_port = htons((uint16_t)port);
        parsed->size = sizeof(*ipv4);
        parsed->loopback = ntohl(ipv4->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
        return true;
    }
    if (text[0] != '[' || inet_pton(AF_INET6, host, &ipv6->sin6_addr) != 1)
        return false;
    ipv6->sin6_family = AF_INET6;
    ipv6->sin6_port = htons((uint16_t)port);
    parsed->size = sizeof(*ipv6);
    parsed->loopback = IN6_IS_ADDR_LOOPBACK(&ipv6->sin6_addr);
    return true;
}

void hc_sv_admin_address_format(const struct hc_sv_admin_address *address, char *text,
                                size_t size) {
    const struct sockaddr_in *ipv4 = (const void *)&address->address;
    const struct sockaddr_in6 *ipv6 = (const void *)&address->address;
    char host[HOST_MAX] = "";
    if (address->path != NULL)
        snprintf(text, size, "%s%s", unix_prefix, address->path);
    else if (ipv4->sin_family == AF_INET)
        snprintf(text, size, "%s:%u", inet_ntop(AF_INET, &ipv4->sin_addr, host, sizeof(host)),
                 ntohs(ipv4->sin_port));
    else
        snprintf(text, size, "[%s]:%u", inet_ntop(AF_INET6, &ipv6->sin6_addr, host, sizeof(host)),
                 ntohs(ipv6->sin6_port));
}
