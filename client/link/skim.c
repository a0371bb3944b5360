/// Owns the work of light clients on snapshots: they read headers, and follow the server's ticks.
#include "client/light.h"

#include "client/session_internal.h"
#include "hindcast/check.h"

enum {
    CACHE_LINE = 64, ///< bytes
    SENT_EACH = CACHE_LINE / sizeof(struct hc_sent_entry),
    SENT_LINES = HC_ACKS_MAX / SENT_EACH + 1,
};

struct hc_client *hc_cl_light_create(const struct hc_client_config *config, uint64_t now_us) {
    struct hc_client *client = hc_client_create(config, now_us);
    if (client != NULL)
        client->is_light = true;
    return client;
}

static void prefetch(const void *from, size_t bytes) {
    for (size_t at = 0; at < bytes; at += CACHE_LINE)
        __builtin_prefetch((const uint8_t *)from + at, 1);
}

void hc_cl_light_prefetch(const struct hc_client *client, unsigned stage) {
    const struct hc_connection *connection = &client->connection;
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
    prefetch(&client->messages, CACHE_LINE);
    prefetch(connection, offsetof(struct hc_connection, sent.ring));
    prefetch(&connection->received_us,
             sizeof *connection - offsetof(struct hc_connection, received_us));
    prefetch(&client->light.snapshot, CACHE_LINE);
    prefetch(&client->welcome, sizeof client->welcome);
    prefetch(&client->clock.rtt_us, sizeof client->clock.rtt_us);
    prefetch(&client->clock.count, CACHE_LINE);
    prefetch(&client->newest,
             sizeof client->newest + sizeof client->prediction + sizeof client->sending);
    prefetch(&client->inputs.pressed, CACHE_LINE);
    prefetch(&client->body, 3 * CACHE_LINE);
}

uint32_t hc_cl_light_tick_rate(const struct hc_client *client) {
    return client->welcome.tick_rate;
}

bool hc_cl_light_head(const struct hc_client *client, hc_tick *head) {
    if (!client->newest.any)
        return false;
    *head = hc_cl_predict_head(client);
    return true;
}

enum hc_status hc_cl_light_read(struct hc_client *client, hc_tick near,
                                const struct hc_cl_received **snapshot) {
    struct hc_cl_light *light = &client->light;
    struct hc_cl_received *read = &light->snapshot;
    struct hc_snapshot_forced forced;
    struct hc_bits_reader bits;
    enum hc_status status = hc_snapshot_get_message(&client->body, &bits);
    if (status != HC_OK)
        return status;
    *read = (struct hc_cl_received){.forced = light->forced};
    hc_snapshot_get(&bits, near, client->welcome.own_count, &read->header);
    while (hc_snapshot_get_forced(&bits, &read->header, &forced)) {
        if (read->forced_count == HC_SNAPSHOT_FORCED_MAX)
            return HC_MALFORMED;
        light->forced[read->forced_count++] = forced;
    }
    if (bits.failed)
        return HC_MALFORMED;
    *snapshot = read;
    return HC_OK;
}

static bool take_bit(uint64_t *bits, hc_tick tick, bool set) {
    uint64_t *word = &bits[tick % HC_CL_INPUTS / 64], bit = UINT64_C(1) << tick % 64;
    bool was_set = (*word & bit) != 0;
    *word = set ? *word | bit : *word & ~bit;
    return was_set;
}

void hc_cl_light_stamped(struct hc_client *client, hc_tick tick) {
    for (uint8_t i = 0; i < client->welcome.own_count; i++)
        take_bit(client->light.is_forced[i], tick, false);
}

/// Counts each forced input once; the server repeats them until they are acked.
static void count_forced(struct hc_client *client, const struct hc_snapshot_forced *forced) {
    const struct hc_cl_prediction *prediction = &client->prediction;
    for (uint32_t i = 0; i < forced->count; i++) {
        hc_tick tick = forced->first + i;
        bool in_ring =
            prediction->any && tick < prediction->next && prediction->next - tick <= HC_CL_INPUTS;
        if (in_ring && !take_bit(client->light.is_forced[forced->own], tick, true))
            client->stats.inputs_forced++;
    }
}

void hc_cl_light_take(struct hc_client *client, uint64_t now_us) {
    const struct hc_cl_received *snapshot = &client->light.snapshot;
    struct hc_cl_prediction *prediction = &client->prediction;
    hc_tick tick = snapshot->header.tick;
    HC_ASSERT(client->is_light);
    client->stats.snapshots++;
    for (uint32_t i = 0; i < snapshot->forced_count; i++)
        count_forced(client, &snapshot->forced[i]);
    if (client->newest.any && tick > prediction->light_head)
        hc_cl_predict_catch_up(client, tick, now_us);
    if (tick <= prediction->light_head)
        return;
    client->stats.restarts += client->newest.any;
    prediction->light_head = tick;
    hc_cl_predict_restart(client, now_us);
}
