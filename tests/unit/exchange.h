/// The datagrams between one client and its server, which all arrive at once: for tests of the
/// public headers alone, whose server issues the token.
#pragma once

#include "hindcast/client.h"
#include "hindcast/server.h"

enum { EXCHANGE_PORT = 7 }; ///< of the client, on loopback

/// Advances both ends to `now_us`; the client's datagrams arrive before the server's tick.
static inline void exchange(struct hc_client *client, struct hc_server *server, uint64_t now_us) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct hc_address from = hc_address_ipv4(127, 0, 0, 1, EXCHANGE_PORT), to;
    size_t size;
    hc_client_advance(client, now_us);
    while ((size = hc_client_send(client, bytes, now_us)) > 0)
        (void)hc_server_receive(server, &from, bytes, size, now_us);
    hc_server_advance(server, now_us);
    while ((size = hc_server_send(server, &to, bytes, now_us)) > 0)
        (void)hc_client_receive(client, bytes, size, now_us);
}
