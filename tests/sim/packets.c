/// Puts datagrams on links.
#include "tests/sim/packets.h"

#include "common/bytes.h"
#include "hindcast/check.h"
#include "hindcast/connection.h"

void hc_packet_send(struct hc_network_sim *link, uint64_t now_us, uint16_t port,
                    const uint8_t *bytes, size_t size) {
    uint8_t packet[HC_PACKET_DATAGRAM + HC_DATAGRAM_MAX];
    struct hc_writer writer = hc_bytes_writer(packet, sizeof packet);
    hc_bytes_put_u16(&writer, port);
    hc_bytes_put(&writer, bytes, size);
    HC_ASSERT(!writer.failed);
    hc_network_sim_send(link, now_us, packet, writer.at);
}

uint16_t hc_packet_port(const uint8_t *packet) {
    struct hc_reader reader = hc_bytes_reader(packet, HC_PACKET_DATAGRAM);
    return hc_bytes_get_u16(&reader);
}
