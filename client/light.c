/// Owns what load tests do with clients without a world.
#include "client/light.h"

#include "client/client.h"
#include "client/session.h"

enum {
    CACHE_LINE = 64, ///< bytes
    SENT_EACH = CACHE_LINE / sizeof(struct hc_sent_entry),
    SENT_LINES = HC_ACKS_MAX / SENT_EACH + 1,
};

struct hc_client *hc_cl_light_create(const struct hc_client_config *config, uint64_t now_us) {
    return hc_cl_session_create_light(config, now_us);
}

static void prefetch(const void *from, size_t bytes) {
    for (size_t at = 0; at < bytes; at += CACHE_LINE)
        __builtin_prefetch((const uint8_t *)from + at, 1);
}

void hc_cl_light_prefetch(const struct hc_client *client, unsigned stage) {
    const struct hc_cl_link *link = &client->link;
    const struct hc_connection *connection = &link->connection;
    if (stage == 1) { // the entries of `sent` that an ack names
        for (uint32_t i = 0; i < SENT_LINES; i++)
            prefetch(&connection->sent.ring[(connection->acked + 1 - i * SENT_EACH) % HC_SENT_RING],
                     1);
        return;
    }
    prefetch(&client->config, sizeof client->config);
    prefetch(&client->stats.datagrams_in, CACHE_LINE);
    prefetch(&client->state, CACHE_LINE);
    prefetch(&client->events.first, CACHE_LINE);
    prefetch(&link->messages, CACHE_LINE);
    prefetch(connection, offsetof(struct hc_connection, sent.ring));
    prefetch(&connection->received_us,
             sizeof *connection - offsetof(struct hc_connection, received_us));
    prefetch(&link->skimmed, CACHE_LINE);
    prefetch(&link->welcome, sizeof link->welcome);
    prefetch(&link->clock.rtt_us, sizeof link->clock.rtt_us);
    prefetch(&link->clock.count, CACHE_LINE);
    prefetch(&link->newest, sizeof link->newest + sizeof link->sending);
    prefetch(&client->timing, sizeof client->timing);
    prefetch(&link->inputs, 2 * CACHE_LINE);
    prefetch(&link->body, 3 * CACHE_LINE);
}

uint32_t hc_cl_light_tick_rate(const struct hc_client *client) {
    return hc_cl_session_tick_rate(client);
}

bool hc_cl_light_head(const struct hc_client *client, hc_tick *head) {
    return hc_cl_session_head(client, head);
}
