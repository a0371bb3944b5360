/// Tests proto/connection: both ends against each other.
#include "proto/connection.h"

#include "hindcast/network_sim.h"
#include "hindcast/rng.h"
#include "hindcast/server.h"
#include "tests/run_suite.h"

#include <stdlib.h>
#include <string.h>

enum {
    DATAGRAMS = 4000, ///< of each end, at most
    LIFE_US = 60000000,
    ROOM = 300, ///< bytes of messages in a datagram
};

/// As ck_assert, but without a report of each success to Check, which is slow in long loops.
#define HOLDS(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            ck_abort_msg("%s", #condition);                                                        \
    } while (0)

/// A datagram of an end, as an observer of both ends knows it.
struct record {
    uint64_t sent_us, arrived_us; ///< arrived: at the peer for the first time
    uint32_t delay_us;            ///< the wait that it reports
    bool exempt, accepted, acked;
};

struct end {
    struct hc_connection connection;
    struct hc_reliable_channel messages;
    uint8_t bytes[HC_RELIABLE_CHANNEL_BYTES];
    struct hc_network_sim *link; ///< to the peer
    struct record records[DATAGRAMS + 1];
    uint32_t put, got;            ///< messages
    uint32_t lost, acked_in_time; ///< datagrams
    uint64_t srtt_least_us, srtt_most_us;
};

static const struct hc_seal_keys keys = {.c2s = {1}, .s2c = {2}};
static struct end ends[2]; ///< by enum hc_connection_end
static struct hc_body body;

static void begin(enum hc_connection_end which, uint32_t cid, uint64_t now_us) {
    struct end *end = &ends[which];
    end->messages.bytes = end->bytes;
    hc_reliable_channel_begin(&end->messages);
    hc_connection_begin(&end->connection, which, cid, &keys, &end->messages, now_us);
}

static void set_up(void) {
    memset(ends, 0, sizeof ends);
    begin(HC_CONNECTION_CLIENT, 7, 0);
    begin(HC_CONNECTION_SERVER, 7, 0);
}

/// Wraps an empty DATA of one end; returns its size.
static size_t wrap(enum hc_connection_end from, uint8_t out[static HC_DATAGRAM_MAX],
                   uint64_t now_us) {
    size_t size = hc_connection_wrap(&ends[from].connection, out, 0, now_us);
    ck_assert_uint_gt(size, 0);
    return size;
}

/// Gives a datagram to an end, which opens and accepts it.
static enum hc_status take(enum hc_connection_end to, const uint8_t *bytes, size_t size,
                           uint64_t now_us, struct hc_accepted *accepted) {
    uint8_t opened[HC_DATAGRAM_MAX];
    struct hc_data data;
    enum hc_status status = hc_connection_open(&ends[to].connection, bytes, size, opened, &data);
    return status == HC_OK ? hc_connection_accept(&ends[to].connection, &data, now_us, accepted)
                           : status;
}

// ---- Over a network -----------------------------------------------------------------------------

static void send_datagram(struct end *end, bool exempt, uint64_t now_us) {
    struct hc_connection *connection = &end->connection;
    uint8_t out[HC_DATAGRAM_MAX];
    struct hc_writer writer = hc_connection_writer(connection, out);
    uint32_t seq = connection->sent.next;
    while (hc_reliable_put(&end->messages.out, &(uint32_t){end->put + 1}, sizeof(uint32_t)) ==
           HC_OK)
        end->put++;
    hc_connection_put_messages(connection, &writer, ROOM, now_us);
    end->records[seq] = (struct record){.sent_us = now_us,
                                        .delay_us = hc_connection_ack_delay_us(connection, now_us),
                                        .exempt = exempt};
    size_t size = (exempt ? hc_connection_wrap_exempt : hc_connection_wrap)(connection, out,
                                                                            writer.at, now_us);
    HOLDS(size > 0);
    HOLDS(exempt || hc_connection_keep_alive_us(connection) == now_us + HC_KEEP_ALIVE_US);
    hc_network_sim_send(end->link, now_us, out, size);
}

/// Reads the messages of an opened DATA. False: they have no room, so that it must count as lost.
static bool read_messages(const struct end *end, const struct hc_data *data) {
    HOLDS(hc_body_begin(&body, data->body, data->body_size) == HC_OK);
    if (hc_body_next(&body) == HC_MESSAGE_END)
        return true;
    enum hc_status status = hc_reliable_check(&end->messages.in, hc_body_values(&body));
    HOLDS(status == HC_OK || status == HC_FULL);
    return status == HC_OK;
}

static void take_messages(struct end *end, uint32_t most) {
    size_t size;
    for (const uint8_t *message;
         most-- > 0 && (message = hc_reliable_next(&end->messages.in, &size)) != NULL;) {
        uint32_t number = ++end->got;
        HOLDS(size == sizeof number && memcmp(message, &number, size) == 0);
    }
}

/// Checks the acks against what the peer accepted, and the losses against the acks.
static void check_acks(struct end *end, const struct hc_accepted *accepted, uint32_t checked_to) {
    for (uint32_t i = 0; i < accepted->count; i++) {
        struct record *record = &end->records[accepted->acked[i].seq];
        HOLDS(record->accepted && !record->acked);
        HOLDS(accepted->acked[i].sent_us == record->sent_us);
        record->acked = true;
        end->acked_in_time += accepted->acked[i].seq >= checked_to || record->exempt;
    }
    end->lost += accepted->lost;
}

/// Checks the round trip against the times that both datagrams took.
static void check_round_trip(struct end *end, const struct hc_accepted *accepted, uint64_t way_us,
                             uint32_t delay_us, uint64_t now_us) {
    uint64_t rtt_us;
    const struct record *record = &end->records[accepted->ack];
    if (!hc_connection_measure(&end->connection, accepted, delay_us, now_us, &rtt_us))
        return;
    HOLDS(rtt_us == record->arrived_us - record->sent_us + way_us);
    end->srtt_least_us = rtt_us < end->srtt_least_us ? rtt_us : end->srtt_least_us;
    end->srtt_most_us = rtt_us > end->srtt_most_us ? rtt_us : end->srtt_most_us;
    HOLDS(end->connection.srtt_us >= end->srtt_least_us);
    HOLDS(end->connection.srtt_us <= end->srtt_most_us);
}

static void receive_datagram(struct end *end, struct end *peer, uint8_t *bytes, size_t size,
                             struct hc_rng *rng, uint64_t now_us) {
    static uint8_t opened[HC_DATAGRAM_MAX];
    struct hc_connection *connection = &end->connection;
    struct hc_data data;
    uint32_t cid, seq, checked_to = connection->loss_checked_to;
    HOLDS(hc_datagram_get_data_clear(bytes, size, &cid, &seq) == HC_OK);
    struct record *record = &peer->records[seq];
    enum hc_status status = hc_connection_open(connection, bytes, size, opened, &data);
    HOLDS(status == HC_OK ? !record->accepted
                          : status == HC_TOO_OLD || (status == HC_DUPLICATE && record->accepted));
    if (status != HC_OK)
        return;
    size_t bit = 8 + hc_rng_below(rng, 8 * (uint32_t)size - 8); // any but the kind
    bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    HOLDS(hc_connection_open(connection, bytes, size, opened, &data) != HC_OK);
    bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    HOLDS(hc_connection_open(connection, bytes, size, opened, &data) == HC_OK);
    if (!read_messages(end, &data))
        return;
    struct hc_accepted accepted;
    uint32_t newest = connection->received.newest;
    HOLDS(hc_connection_accept(connection, &data, now_us, &accepted) == HC_OK);
    HOLDS(accepted.newest == (seq > newest) && connection->received_us == now_us);
    record->accepted = true;
    record->arrived_us = now_us;
    check_acks(end, &accepted, checked_to);
    check_round_trip(end, &accepted, now_us - record->sent_us, record->delay_us, now_us);
    if (data.body_size > 0)
        hc_reliable_channel_take(&end->messages, &body);
}

static struct hc_network_sim_config random_link(struct hc_rng *rng) {
    return (struct hc_network_sim_config){.latency_us = hc_rng_below(rng, 300000),
                                          .jitter_us = hc_rng_below(rng, 100000),
                                          .loss_ppm = hc_rng_below(rng, 300000),
                                          .burst_mean = hc_rng_below(rng, 8),
                                          .duplicate_ppm = hc_rng_below(rng, 300000),
                                          .reorder_ppm = hc_rng_below(rng, 300000)};
}

/// Both ends send and receive for LIFE_US in steps of random length.
static void exchange(struct hc_rng *rng) {
    uint64_t now_us = 0;
    while (now_us < LIFE_US) {
        uint64_t step_us = 1 + hc_rng_below(rng, 30000);
        for (int i = 0; i < 2; i++) {
            struct end *end = &ends[i], *peer = &ends[1 - i];
            uint8_t bytes[HC_NETWORK_SIM_PACKET_MAX];
            for (int size;
                 (size = hc_network_sim_receive(peer->link, now_us, bytes, sizeof bytes)) >= 0;)
                receive_datagram(end, peer, bytes, (size_t)size, rng, now_us);
            take_messages(end, hc_rng_below(rng, 20));
            if (end->connection.sent.next <= DATAGRAMS)
                send_datagram(end, hc_rng_below(rng, 20) == 0, now_us);
        }
        now_us += step_us;
    }
}

START_TEST(both_ends_agree_over_any_link) {
    for (uint32_t round = 0; round < 30; round++) {
        struct hc_rng rng = hc_rng_init(31, round);
        struct hc_network_sim_config link = random_link(&rng);
        set_up();
        for (int i = 0; i < 2; i++) {
            ends[i].srtt_least_us = UINT64_MAX;
            ends[i].link = hc_network_sim_create(&link, round * 2 + (uint32_t)i, 1024, NULL);
            ck_assert_ptr_nonnull(ends[i].link);
        }
        exchange(&rng);
        for (int i = 0; i < 2; i++) {
            struct end *end = &ends[i];
            uint32_t exempt = 0, checked_to = end->connection.loss_checked_to;
            for (uint32_t seq = 1; seq < checked_to; seq++)
                exempt += end->records[seq].exempt && !end->records[seq].acked;
            for (uint32_t seq = checked_to; seq < end->connection.sent.next; seq++)
                end->acked_in_time -= end->records[seq].acked;
            ck_assert_uint_eq(end->lost, checked_to - 1 - end->acked_in_time - exempt);
            ck_assert_uint_gt(end->got, 1000);
            hc_network_sim_destroy(end->link);
        }
    }
}
END_TEST

// ---- One rule each ------------------------------------------------------------------------------

START_TEST(datagram_of_another_connection_or_of_the_own_direction_is_refused) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct hc_accepted accepted;
    size_t size = wrap(HC_CONNECTION_CLIENT, bytes, 0);
    ck_assert_int_eq(take(HC_CONNECTION_CLIENT, bytes, size, 0, &accepted), HC_MALFORMED);
    begin(HC_CONNECTION_SERVER, 8, 0);
    ck_assert_int_eq(take(HC_CONNECTION_SERVER, bytes, size, 0, &accepted), HC_UNEXPECTED);
}
END_TEST

START_TEST(connection_that_has_ended_or_not_begun_opens_nothing) {
    static const uint8_t no_key[HC_SEAL_KEY_SIZE];
    static const struct hc_connection not_begun;
    struct hc_sealer sealer;
    uint8_t bytes[HC_DATAGRAM_MAX], opened[HC_DATAGRAM_MAX];
    struct hc_accepted accepted;
    struct hc_data data = {.seq = 1};
    size_t size = hc_datagram_put_data(&data, bytes);
    hc_seal_init(&sealer, no_key);
    hc_seal_data(&sealer, bytes, size);
    ck_assert_int_eq(hc_connection_open(&not_begun, bytes, size, opened, &data), HC_UNEXPECTED);
    size = wrap(HC_CONNECTION_CLIENT, bytes, 0);
    hc_connection_close(&ends[HC_CONNECTION_SERVER].connection,
                        &(struct hc_close){.reason = HC_CLOSE_TIMEOUT}, false, 0);
    ck_assert_int_eq(take(HC_CONNECTION_SERVER, bytes, size, 0, &accepted), HC_UNEXPECTED);
}
END_TEST

START_TEST(replayed_datagram_and_ack_of_an_unsent_one_change_nothing) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct hc_accepted accepted;
    size_t size = wrap(HC_CONNECTION_CLIENT, bytes, 0);
    ck_assert_int_eq(take(HC_CONNECTION_SERVER, bytes, size, 0, &accepted), HC_OK);
    struct hc_connection before = ends[HC_CONNECTION_SERVER].connection;
    ck_assert_int_eq(take(HC_CONNECTION_SERVER, bytes, size, 1, &accepted), HC_DUPLICATE);
    for (uint32_t ack = 1; ack > 0; ack *= 2) {
        struct hc_data data = {.cid = 7, .seq = 8, .ack = ack};
        ck_assert_int_eq(
            hc_connection_accept(&ends[HC_CONNECTION_SERVER].connection, &data, 1, &accepted),
            HC_MALFORMED);
    }
    ck_assert_mem_eq(&before, &ends[HC_CONNECTION_SERVER].connection, sizeof before);
}
END_TEST

START_TEST(body_of_data_is_as_large_as_the_connection_allows) {
    struct hc_connection *connection = &ends[HC_CONNECTION_CLIENT].connection;
    uint8_t out[HC_DATAGRAM_MAX];
    const uint8_t message[100] = {1};
    struct hc_writer writer = hc_connection_writer(connection, out);
    ck_assert_ptr_eq(writer.data, out + HC_DATA_BODY_AT);
    ck_assert_uint_eq(writer.size, HC_DATA_BODY_MAX);
    connection->body_max = 250;
    for (unsigned i = 0; i < 5; i++)
        ck_assert_int_eq(hc_reliable_put(&connection->messages->out, message, sizeof message),
                         HC_OK);
    writer = hc_connection_writer(connection, out);
    hc_connection_put_messages(connection, &writer, 1000, 0);
    ck_assert_uint_gt(writer.at, 2 * sizeof message);
    ck_assert_uint_le(writer.at, 250);
    ck_assert_uint_eq(hc_connection_wrap(connection, out, writer.at, 0),
                      HC_DATA_BODY_AT + writer.at + HC_TAG_SIZE);
}
END_TEST

START_TEST(new_connection_keeps_nothing_but_the_messages) {
    static struct hc_connection first;
    struct end *end = &ends[HC_CONNECTION_CLIENT];
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct hc_accepted accepted;
    uint64_t rtt_us;
    memcpy(&first, &end->connection, sizeof first);
    for (uint64_t now_us = 0; now_us < 1000; now_us += 100) {
        size_t size = wrap(HC_CONNECTION_CLIENT, bytes, now_us);
        ck_assert_int_eq(take(HC_CONNECTION_SERVER, bytes, size, now_us, &accepted), HC_OK);
        size = wrap(HC_CONNECTION_SERVER, bytes, now_us);
        ck_assert_int_eq(take(HC_CONNECTION_CLIENT, bytes, size, now_us + 50, &accepted), HC_OK);
        ck_assert(hc_connection_measure(&end->connection, &accepted, 0, now_us + 50, &rtt_us));
    }
    hc_connection_close(&end->connection, &(struct hc_close){.reason = HC_CLOSE_LEFT}, true, 1000);
    ck_assert_int_eq(hc_reliable_put(&end->messages.out, "message", 7), HC_OK);
    struct hc_writer writer = hc_bytes_writer(bytes, sizeof bytes);
    hc_connection_put_messages(&end->connection, &writer, ROOM, 0);
    ck_assert_uint_gt(writer.at, 0);
    hc_connection_begin(&end->connection, HC_CONNECTION_CLIENT, 7, &keys, &end->messages, 0);
    ck_assert_mem_eq(&first, &end->connection, sizeof first);
    writer = hc_bytes_writer(bytes, sizeof bytes);
    hc_connection_put_messages(&end->connection, &writer, ROOM, 0);
    ck_assert_uint_gt(writer.at, 0); // again, because it was not acked
}
END_TEST

/// The server sends a datagram at `now_us`, and its first ack comes after `elapsed_us`, of which
/// the client reports `delay_us` as its wait.
static uint64_t measure(uint64_t now_us, uint64_t elapsed_us, uint64_t delay_us) {
    struct hc_connection *connection = &ends[HC_CONNECTION_SERVER].connection;
    uint8_t out[HC_DATAGRAM_MAX];
    struct hc_accepted accepted;
    uint64_t rtt_us, again_us;
    wrap(HC_CONNECTION_SERVER, out, now_us);
    struct hc_data data = {.seq = connection->received.newest + 1,
                           .ack = connection->sent.next - 1};
    now_us += elapsed_us;
    ck_assert_int_eq(hc_connection_accept(connection, &data, now_us, &accepted), HC_OK);
    ck_assert(hc_connection_measure(connection, &accepted, delay_us, now_us, &rtt_us));
    data.seq++;
    ck_assert_int_eq(hc_connection_accept(connection, &data, now_us, &accepted), HC_OK);
    ck_assert(!hc_connection_measure(connection, &accepted, delay_us, now_us, &again_us));
    return rtt_us;
}

START_TEST(round_trips_are_smoothed_by_rfc_6298) {
    const struct hc_connection *connection = &ends[HC_CONNECTION_SERVER].connection;
    ck_assert_uint_eq(measure(0, 80000, 0), 80000);
    ck_assert_uint_eq(connection->srtt_us, 80000);
    ck_assert_uint_eq(connection->rttvar_us, 40000);
    ck_assert_uint_eq(measure(1000, 200000, 40000), 160000);
    ck_assert_uint_eq(connection->srtt_us, 90000);
    ck_assert_uint_eq(connection->rttvar_us, 50000);
    ck_assert_uint_eq(measure(2000, 10000, 0), 10000);
    ck_assert_uint_eq(connection->srtt_us, 80000);
    ck_assert_uint_eq(connection->rttvar_us, 57500);
}
END_TEST

START_TEST(wait_that_is_longer_than_the_round_trip_makes_it_0) {
    ck_assert_uint_eq(measure(1000, 2000, 2001), 0);
}
END_TEST

START_TEST(ack_that_came_before_its_datagram_was_sent_makes_the_round_trip_0) {
    struct hc_connection *connection = &ends[HC_CONNECTION_SERVER].connection;
    uint8_t out[HC_DATAGRAM_MAX];
    struct hc_accepted accepted;
    struct hc_data data = {.seq = 1, .ack = 1}; // by a guess
    uint64_t rtt_us;
    ck_assert_uint_gt(hc_connection_wrap_exempt(connection, out, 0, 2000), 0);
    ck_assert_int_eq(hc_connection_accept(connection, &data, 1999, &accepted), HC_OK);
    ck_assert(hc_connection_measure(connection, &accepted, 0, 1999, &rtt_us));
    ck_assert_uint_eq(rtt_us, 0);
    ck_assert_uint_eq(connection->srtt_us, 0);
}
END_TEST

START_TEST(round_trip_is_measured_by_the_first_datagram_that_reports_a_wait) {
    struct hc_connection *connection = &ends[HC_CONNECTION_SERVER].connection;
    uint8_t out[HC_DATAGRAM_MAX];
    struct hc_accepted accepted;
    uint64_t rtt_us;
    wrap(HC_CONNECTION_SERVER, out, 1000);
    for (uint32_t seq = 1; seq <= 2; seq++) { // the first reports none
        struct hc_data data = {.seq = seq, .ack = 1};
        ck_assert_int_eq(hc_connection_accept(connection, &data, 3000, &accepted), HC_OK);
    }
    ck_assert_uint_eq(accepted.count, 0);
    ck_assert(hc_connection_measure(connection, &accepted, 500, 3000, &rtt_us));
    ck_assert_uint_eq(rtt_us, 1500);
}
END_TEST

START_TEST(datagram_that_a_late_ack_is_the_first_to_name_is_measured) {
    enum { NEWER = 40 }; // more than ack_bits reach back
    struct hc_connection *connection = &ends[HC_CONNECTION_SERVER].connection;
    uint8_t out[HC_DATAGRAM_MAX];
    const uint32_t acks[] = {NEWER, 1, NEWER, 1};
    for (uint32_t seq = 1; seq <= NEWER; seq++)
        wrap(HC_CONNECTION_SERVER, out, 1000);
    for (uint32_t i = 0; i < 4; i++) {
        struct hc_data data = {.seq = 4 - i, .ack = acks[i]};
        struct hc_accepted accepted;
        uint64_t rtt_us = 0;
        ck_assert_int_eq(hc_connection_accept(connection, &data, 3000, &accepted), HC_OK);
        bool measured = hc_connection_measure(connection, &accepted, 0, 3000, &rtt_us);
        ck_assert_uint_eq(rtt_us, i < 2 ? 2000 : 0);
        ck_assert(measured == (i < 2));
        ck_assert_uint_eq(connection->acked, NEWER);
    }
}
END_TEST

START_TEST(each_end_sends_three_closes_at_once_and_the_others_apart) {
    for (int i = 0; i < 2; i++) {
        struct hc_connection *connection = &ends[i].connection;
        uint8_t out[HC_DATAGRAM_MAX];
        ck_assert_uint_eq(hc_connection_close_due_us(connection), UINT64_MAX);
        hc_connection_close(connection, &(struct hc_close){.reason = HC_CLOSE_KICKED}, true, 1000);
        for (unsigned n = 0; n < HC_CLOSES; n++) {
            uint64_t due_us = 1000 + (n < HC_CLOSES_AT_ONCE ? 0 : n - HC_CLOSES_AT_ONCE + 1) *
                                         (uint64_t)HC_CLOSE_PERIOD_US;
            ck_assert_uint_eq(hc_connection_close_due_us(connection), due_us);
            ck_assert_uint_eq(hc_connection_send_close(connection, out, due_us - 1), 0);
            ck_assert_uint_gt(hc_connection_send_close(connection, out, due_us), 0);
        }
        ck_assert_uint_eq(connection->closes_left, 0);
        ck_assert_uint_eq(hc_connection_close_due_us(connection), UINT64_MAX);
    }
}
END_TEST

START_TEST(farewell_is_the_same_at_each_call_and_leaves_its_end_as_it_was) {
    struct hc_connection *server = &ends[HC_CONNECTION_SERVER].connection;
    struct hc_accepted accepted;
    uint8_t first[HC_DATAGRAM_MAX], again[HC_DATAGRAM_MAX], data[HC_DATAGRAM_MAX];
    static struct hc_connection before;
    before = *server;
    size_t size = hc_connection_farewell(server, true, first);
    ck_assert_uint_le(size, HC_SERVER_FAREWELL_MAX);
    ck_assert_int_eq(memcmp(&before, server, sizeof before), 0);
    size_t data_size = wrap(HC_CONNECTION_SERVER, data, 0);
    ck_assert_int_eq(take(HC_CONNECTION_CLIENT, data, data_size, 0, &accepted), HC_OK);
    ck_assert_uint_eq(hc_connection_farewell(server, true, again), size);
    ck_assert_int_eq(memcmp(first, again, size), 0);
    ck_assert_uint_le(hc_connection_farewell(server, false, again), HC_SERVER_FAREWELL_MAX);
    ck_assert_int_ne(memcmp(first, again, size), 0);
    // It is newer than any other datagram, and is taken once.
    ck_assert_int_eq(take(HC_CONNECTION_CLIENT, first, size, 0, &accepted), HC_OK);
    ck_assert(accepted.newest);
    ck_assert_int_eq(take(HC_CONNECTION_CLIENT, first, size, 0, &accepted), HC_DUPLICATE);
}
END_TEST

START_TEST(ack_of_a_close_ends_them_and_an_ack_of_a_datagram_before_does_not) {
    for (int i = 0; i < 2; i++) {
        struct hc_connection *connection = &ends[i].connection;
        struct hc_accepted accepted;
        uint8_t out[HC_DATAGRAM_MAX];
        ck_assert_uint_gt(hc_connection_wrap(connection, out, 0, 1000), 0);
        struct hc_data data = {.seq = 1, .ack = connection->sent.next - 1};
        hc_connection_close(connection, &(struct hc_close){.reason = HC_CLOSE_KICKED}, true, 1000);
        ck_assert_uint_gt(hc_connection_send_close(connection, out, 1000), 0);
        ck_assert_int_eq(hc_connection_accept(connection, &data, 2000, &accepted), HC_OK);
        ck_assert_uint_eq(connection->closes_left, HC_CLOSES - 1);
        ck_assert(!hc_connection_is_over(connection));
        data = (struct hc_data){.seq = 2, .ack = connection->sent.next - 1};
        ck_assert_int_eq(hc_connection_accept(connection, &data, 2000, &accepted), HC_OK);
        ck_assert_uint_eq(connection->closes_left, 0);
        ck_assert_uint_eq(hc_connection_close_due_us(connection), UINT64_MAX);
        ck_assert(hc_connection_is_over(connection));
    }
}
END_TEST

START_TEST(closes_after_a_pause_are_not_sent_all_at_once) {
    enum { PAUSE_US = 10 * HC_CLOSE_PERIOD_US };
    struct hc_connection *connection = &ends[HC_CONNECTION_CLIENT].connection;
    uint8_t out[HC_DATAGRAM_MAX];
    hc_connection_close(connection, &(struct hc_close){.reason = HC_CLOSE_LEFT}, true, 0);
    for (unsigned n = 0; n <= HC_CLOSES_AT_ONCE; n++) // the first of the later ones is overdue
        ck_assert_uint_gt(hc_connection_send_close(connection, out, PAUSE_US), 0);
    ck_assert_uint_eq(hc_connection_close_due_us(connection), PAUSE_US + HC_CLOSE_PERIOD_US);
}
END_TEST

START_TEST(connection_that_the_peer_closed_sends_no_close) {
    struct hc_connection *connection = &ends[HC_CONNECTION_SERVER].connection;
    uint8_t out[HC_DATAGRAM_MAX];
    hc_connection_close(connection, &(struct hc_close){.reason = HC_CLOSE_LEFT}, false, 1000);
    ck_assert_int_eq(connection->close.reason, HC_CLOSE_LEFT);
    ck_assert_uint_eq(hc_connection_send_close(connection, out, UINT64_MAX - 1), 0);
}
END_TEST

START_TEST(connection_is_lost_by_silence_or_when_its_seqs_run_short) {
    struct hc_connection *connection = &ends[HC_CONNECTION_SERVER].connection;
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct hc_accepted accepted;
    ck_assert_uint_eq(hc_connection_lost_us(connection, 1000), 1000);
    size_t size = wrap(HC_CONNECTION_CLIENT, bytes, 300);
    ck_assert_int_eq(take(HC_CONNECTION_SERVER, bytes, size, 400, &accepted), HC_OK);
    ck_assert_uint_eq(hc_connection_lost_us(connection, 1000), 1400);
    connection->sent.next = HC_SEQ_LOST - 1;
    ck_assert_uint_eq(hc_connection_lost_us(connection, 1000), 1400);
    wrap(HC_CONNECTION_SERVER, bytes, 500);
    ck_assert_uint_eq(hc_connection_lost_us(connection, 1000), 0);
}
END_TEST

START_TEST(datagram_to_another_path_keeps_nothing_alive_and_is_never_lost) {
    struct hc_connection *connection = &ends[HC_CONNECTION_SERVER].connection;
    uint8_t out[HC_DATAGRAM_MAX];
    struct hc_accepted accepted;
    ck_assert_uint_gt(hc_connection_wrap_exempt(connection, out, 0, 1000), 0);
    ck_assert_uint_eq(hc_connection_keep_alive_us(connection), HC_KEEP_ALIVE_US);
    wrap(HC_CONNECTION_SERVER, out, 2000);
    ck_assert_uint_eq(hc_connection_keep_alive_us(connection), 2000 + HC_KEEP_ALIVE_US);
    for (uint32_t seq = 3; seq <= 2 + HC_LOST_AFTER; seq++)
        wrap(HC_CONNECTION_SERVER, out, 2000);
    struct hc_data data = {.cid = 7, .seq = 1, .ack = 2 + HC_LOST_AFTER};
    ck_assert_int_eq(hc_connection_accept(connection, &data, 3000, &accepted), HC_OK);
    ck_assert_uint_eq(accepted.lost, 1); // seq 2
}
END_TEST

/// The ends that two carried parts learned, in order: the seq, with 100 added for a loss, and 1000
/// for the second part.
struct learned {
    uint32_t at[64];
    unsigned count;
};

static void first_acked(void *owner, uint32_t seq) {
    struct learned *learned = owner;
    learned->at[learned->count++] = seq;
}

static void first_lost(void *owner, uint32_t seq) {
    struct learned *learned = owner;
    learned->at[learned->count++] = 100 + seq;
}

static void second_acked(void *owner, uint32_t seq) {
    struct learned *learned = owner;
    learned->at[learned->count++] = 1000 + seq;
}

START_TEST(carried_parts_learn_of_acks_the_oldest_first_and_then_of_losses) {
    static const struct hc_carried parts[] = {{first_acked, first_lost}, {second_acked, NULL}};
    struct hc_connection *connection = &ends[HC_CONNECTION_SERVER].connection;
    struct learned learned = {.count = 0};
    struct hc_accepted accepted;
    uint8_t out[HC_DATAGRAM_MAX];
    hc_connection_carry(connection, parts, 2, &learned);
    for (uint32_t seq = 1; seq <= 2 + HC_LOST_AFTER; seq++)
        wrap(HC_CONNECTION_SERVER, out, 2000);
    // Acks 2 and 2 + HC_LOST_AFTER.
    struct hc_data data = {
        .cid = 7, .seq = 1, .ack = 2 + HC_LOST_AFTER, .ack_bits = 1u << (HC_LOST_AFTER - 1)};
    ck_assert_int_eq(hc_connection_accept(connection, &data, 3000, &accepted), HC_OK);
    const uint32_t wanted[] = {2, 1002, 2 + HC_LOST_AFTER, 1002 + HC_LOST_AFTER, 101, 102};
    ck_assert_uint_eq(learned.count, sizeof wanted / sizeof wanted[0]);
    ck_assert_mem_eq(learned.at, wanted, sizeof wanted);
    ck_assert_uint_eq(accepted.lost, 1);
    // A copy tells nothing anew; a later ack of a lost one does.
    data.seq = 2;
    ck_assert_int_eq(hc_connection_accept(connection, &data, 3000, &accepted), HC_OK);
    ck_assert_uint_eq(learned.count, sizeof wanted / sizeof wanted[0]);
    data = (struct hc_data){.cid = 7, .seq = 3, .ack = 1};
    ck_assert_int_eq(hc_connection_accept(connection, &data, 3000, &accepted), HC_OK);
    ck_assert_uint_eq(learned.count, sizeof wanted / sizeof wanted[0] + 2);
    ck_assert_uint_eq(learned.at[learned.count - 2], 1);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("connection");
    TCase *tc = tcase_create("connection");
    tcase_add_checked_fixture(tc, set_up, NULL);
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, both_ends_agree_over_any_link);
    tcase_add_test(tc, datagram_of_another_connection_or_of_the_own_direction_is_refused);
    tcase_add_test(tc, connection_that_has_ended_or_not_begun_opens_nothing);
    tcase_add_test(tc, replayed_datagram_and_ack_of_an_unsent_one_change_nothing);
    tcase_add_test(tc, body_of_data_is_as_large_as_the_connection_allows);
    tcase_add_test(tc, new_connection_keeps_nothing_but_the_messages);
    tcase_add_test(tc, round_trips_are_smoothed_by_rfc_6298);
    tcase_add_test(tc, wait_that_is_longer_than_the_round_trip_makes_it_0);
    tcase_add_test(tc, ack_that_came_before_its_datagram_was_sent_makes_the_round_trip_0);
    tcase_add_test(tc, round_trip_is_measured_by_the_first_datagram_that_reports_a_wait);
    tcase_add_test(tc, datagram_that_a_late_ack_is_the_first_to_name_is_measured);
    tcase_add_test(tc, each_end_sends_three_closes_at_once_and_the_others_apart);
    tcase_add_test(tc, farewell_is_the_same_at_each_call_and_leaves_its_end_as_it_was);
    tcase_add_test(tc, ack_of_a_close_ends_them_and_an_ack_of_a_datagram_before_does_not);
    tcase_add_test(tc, closes_after_a_pause_are_not_sent_all_at_once);
    tcase_add_test(tc, connection_that_the_peer_closed_sends_no_close);
    tcase_add_test(tc, connection_is_lost_by_silence_or_when_its_seqs_run_short);
    tcase_add_test(tc, carried_parts_learn_of_acks_the_oldest_first_and_then_of_losses);
    tcase_add_test(tc, datagram_to_another_path_keeps_nothing_alive_and_is_never_lost);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
