/// The packets on a simulation's links: a datagram each, behind the port of its client.
#pragma once

#include "hindcast/network_sim.h"

enum { HC_PACKET_DATAGRAM = 2 }; ///< the byte of a packet at which its datagram begins

/// Puts a datagram, at most HC_DATAGRAM_MAX bytes, on a link, behind the port that its client has
/// now.
void hc_packet_send(struct hc_network_sim *link, uint64_t now_us, uint16_t port,
                    const uint8_t *bytes, size_t size);

/// The port before a packet's datagram.
uint16_t hc_packet_port(const uint8_t *packet);
