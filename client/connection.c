/// Owns what the client keeps of its connection: see connection.h.
#include "client/connection.h"

#include <string.h>

// ---- Begin and end ------------------------------------------------------------------------------

void hc_cl_connection_begin(struct hc_cl_connection *connection, uint32_t cid,
                            const struct hc_seal_keys *keys,
                            const uint8_t reset_token[static HC_RESET_TOKEN_SIZE],
                            uint64_t now_us) {
    *connection = (struct hc_cl_connection){.cid = cid,
                                            .established = true,
                                            .accepted_us = now_us,
                                            .received_us = now_us,
                                            .data_due = true,
                                            .data_us = now_us};
    hc_seal_init(&connection->sealer, keys->c2s);
    memcpy(connection->s2c, keys->s2c, sizeof connection->s2c);
    hc_sent_init(&connection->sent, 1);
    hc_cl_connection_set_reset_token(connection, reset_token);
}

void hc_cl_connection_lose(struct hc_cl_connection *connection) {
    connection->established = false;
}

void hc_cl_connection_set_reset_token(struct hc_cl_connection *connection,
                                      const uint8_t reset_token[static HC_RESET_TOKEN_SIZE]) {
    memcpy(connection->reset_token, reset_token, sizeof connection->reset_token);
}

void hc_cl_connection_close(struct hc_cl_connection *connection, uint64_t now_us) {
    connection->closes_left = HC_CLOSES;
    connection->closes_due = HC_CLOSES_AT_ONCE;
    connection->close_us = now_us + HC_CLOSE_PERIOD_US;
}

bool hc_cl_connection_keys_expired(const struct hc_cl_connection *connection, uint64_t now_us) {
    return connection->sent.next >= HC_SEQ_RENEW || connection->replay.newest >= HC_SEQ_RENEW ||
           now_us - connection->accepted_us >= HC_KEYS_LIFE_US;
}

// ---- Receiving ----------------------------------------------------------------------------------

enum hc_status hc_cl_connection_open(const struct hc_cl_connection *connection,
                                     const uint8_t *bytes, size_t size,
                                     uint8_t opened[static HC_DATAGRAM_MAX], struct hc_data *data) {
    uint32_t cid, seq;
    enum hc_status status = hc_datagram_get_data_clear(bytes, size, &cid, &seq);
    if (status != HC_OK)
        return status;
    if (!connection->established || cid != connection->cid)
        return HC_UNEXPECTED;
    status = hc_replay_check(&connection->replay, seq);
    if (status == HC_OK)
        status = hc_seal_open_data(connection->s2c, bytes, size, opened);
    return status == HC_OK ? hc_datagram_get_data(opened, size, data) : status;
}

enum hc_status hc_cl_connection_receive(struct hc_cl_connection *connection,
                                        const struct hc_data *data, uint64_t now_us,
                                        struct hc_acked acked[static HC_ACKS_MAX],
                                        uint32_t *count) {
    enum hc_status status =
        hc_sent_acked(&connection->sent, data->ack, data->ack_bits, acked, count);
    if (status != HC_OK)
        return status;
    if (data->seq > connection->replay.newest)
        connection->newest_us = now_us;
    hc_replay_accept(&connection->replay, data->seq);
    connection->received_us = now_us;
    return HC_OK;
}

bool hc_cl_connection_measure(struct hc_cl_connection *connection, uint32_t ack, uint64_t delay_us,
                              uint64_t now_us, uint64_t *rtt_us) {
    uint64_t sent_us;
    if (ack <= connection->measured || !hc_sent_when(&connection->sent, ack, &sent_us))
        return false;
    // On a very short path the server's wait, by its clock, may be the longer one.
    uint64_t elapsed_us = now_us - sent_us;
    *rtt_us = elapsed_us > delay_us ? elapsed_us - delay_us : 0;
    connection->measured = ack;
    return true;
}

bool hc_cl_connection_challenge(struct hc_cl_connection *connection,
                                const uint8_t path[static HC_PATH_SIZE]) {
    bool differs = memcmp(connection->path, path, HC_PATH_SIZE) != 0;
    memcpy(connection->path, path, HC_PATH_SIZE);
    connection->path_due = true;
    connection->data_due = true;
    return differs;
}

// ---- Sending ------------------------------------------------------------------------------------

/// When the next DATA becomes due.
static uint64_t next_data_us(const struct hc_cl_connection *connection, uint64_t wait_us) {
    return connection->data_us + (wait_us < HC_KEEP_ALIVE_US ? wait_us : HC_KEEP_ALIVE_US);
}

bool hc_cl_connection_advance(struct hc_cl_connection *connection, uint64_t wait_us,
                              uint64_t now_us) {
    if (connection->closes_left > 0) {
        if (connection->closes_left > connection->closes_due && now_us >= connection->close_us) {
            connection->closes_due++;
            connection->close_us = now_us + HC_CLOSE_PERIOD_US;
        }
        return false;
    }
    if (now_us < next_data_us(connection, wait_us))
        return false;
    connection->data_due = true;
    connection->data_us = now_us;
    return true;
}

uint64_t hc_cl_connection_deadline(const struct hc_cl_connection *connection, uint64_t wait_us) {
    if (connection->closes_left > 0)
        return connection->closes_due > 0 ? 0 : connection->close_us;
    return next_data_us(connection, wait_us);
}

bool hc_cl_connection_take(struct hc_cl_connection *connection) {
    bool due = connection->data_due;
    connection->data_due = false;
    if (connection->closes_left == 0)
        return due;
    if (connection->closes_due == 0)
        return false;
    connection->closes_due--;
    connection->closes_left--;
    return true;
}

void hc_cl_connection_put_path(struct hc_cl_connection *connection, struct hc_writer *body) {
    if (connection->path_due)
        (void)hc_message_put_path(body, HC_MESSAGE_PATH_RESPONSE, connection->path);
    connection->path_due = false;
}

uint32_t hc_cl_connection_ack_delay_us(const struct hc_cl_connection *connection, uint64_t now_us) {
    uint64_t delay_us = connection->replay.newest > 0 ? now_us - connection->newest_us : 0;
    return (uint32_t)(delay_us < HC_ACK_DELAY_MAX_US ? delay_us : HC_ACK_DELAY_MAX_US);
}

size_t hc_cl_connection_send(struct hc_cl_connection *connection,
                             uint8_t out[static HC_DATAGRAM_MAX], size_t body_size,
                             uint64_t now_us) {
    struct hc_data data = {.cid = connection->cid,
                           .seq = hc_sent_next(&connection->sent, now_us),
                           .ack = connection->replay.newest,
                           .ack_bits = hc_replay_ack_bits(&connection->replay),
                           .body = out + HC_DATA_BODY_AT,
                           .body_size = body_size};
    if (data.seq == 0)
        return 0;
    size_t size = hc_datagram_put_data(&data, out);
    hc_seal_data(&connection->sealer, out, size);
    return size;
}
