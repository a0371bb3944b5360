/// Tests proto/reliable.
#include "hindcast/network_sim.h"
#include "hindcast/rng.h"
#include "proto/datagram.h"
#include "proto/reliable.h"
#include "proto/pack.h"
#include "tests/run_suite.h"

#include <stdlib.h>
#include <string.h>

enum {
    STORE = HC_RELIABLE_STORE_MIN,
    HEADER = 12, ///< seq, ack, ack_bits
    PERIOD_US = 16667,
};

/// As ck_assert, but without a report of each success to Check, which is slow in long loops.
#define HOLDS(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            ck_abort_msg("%s", #condition);                                                        \
    } while (0)

/// Both halves of one side, with their memory.
struct side {
    struct hc_reliable_out out;
    struct hc_reliable_in in;
    uint8_t queue[HC_RELIABLE_BYTES_MAX], store[STORE];
};

/// Pre-checks and unpacks one message; its values lie in `list`.
static enum hc_status unpack(const uint8_t *bytes, size_t size, struct hc_value *list,
                             struct hc_values *values) {
    size_t used;
    enum hc_status status = hc_precheck(bytes, size, &used);
    if (status != HC_OK)
        return status;
    hc_unpack(bytes, used, list);
    bool is_events = list[0].type == HC_VALUE_ARRAY && list[0].size > 0 &&
                     list[1].type == HC_VALUE_UNSIGNED && list[1].as.number == HC_MESSAGE_RELIABLE;
    if (!is_events)
        return HC_UNEXPECTED;
    *values = (struct hc_values){.next = list + 2, .left = list[0].size - 1u};
    return used == size ? HC_OK : HC_UNEXPECTED;
}

/// Gives a whole message to the receiver.
static enum hc_status take(struct hc_reliable_in *in, const uint8_t *bytes, size_t size) {
    static struct hc_value list[HC_PRECHECK_NODES_MAX];
    struct hc_values values;
    enum hc_status status = unpack(bytes, size, list, &values);
    if (status != HC_OK)
        return status;
    status = hc_reliable_check(in, values);
    HOLDS(hc_reliable_take(in, values) == status);
    return status;
}

// ---- Two sides and their network ----------------------------------------------------------------

/// The content of event `number` follows from the seed: [1, 255] bytes, mostly few.
static size_t make_event(uint64_t seed, uint32_t number, uint8_t out[static HC_MESSAGE_SIZE_MAX]) {
    struct hc_rng rng = hc_rng_init(seed, number);
    size_t size = 1 + hc_rng_below(&rng, hc_rng_below(&rng, 40) == 0 ? HC_MESSAGE_SIZE_MAX : 48);
    for (size_t i = 0; i < size; i += 8) {
        uint64_t bits = hc_rng_next(&rng);
        memcpy(out + i, &bits, size - i < 8 ? size - i : 8);
    }
    return size;
}

/// One side of a connection in virtual time.
struct endpoint {
    struct side events;
    struct hc_sent sent;
    struct hc_received replay;
    struct hc_network_sim *link; ///< to the peer
    uint64_t seed;               ///< of the events that it sends
    uint32_t put_next, put_end;
    uint32_t got_next;
    uint64_t srtt_us;
    uint64_t message_bytes, payload_bytes;
};

struct connection {
    struct endpoint ends[2];
    uint64_t now_us;
    size_t room;
};

static struct connection *connection_new(uint64_t seed, uint32_t first, uint32_t events,
                                         size_t room, const struct hc_network_sim_config *config) {
    struct connection *connection = calloc(1, sizeof *connection);
    ck_assert_ptr_nonnull(connection);
    connection->room = room;
    for (uint32_t i = 0; i < 2; i++) {
        struct endpoint *end = &connection->ends[i];
        hc_reliable_out_init(&end->events.out, first, end->events.queue, sizeof end->events.queue);
        hc_reliable_in_init(&end->events.in, first, end->events.store, sizeof end->events.store);
        hc_sent_init(&end->sent, 1);
        end->link = hc_network_sim_create(config, seed * 2 + i, 512, NULL);
        ck_assert_ptr_nonnull(end->link);
        end->seed = seed * 2 + i;
        end->put_next = end->got_next = first;
        end->put_end = first + events;
        end->srtt_us = 200000;
    }
    return connection;
}

static void connection_free(struct connection *connection) {
    for (int i = 0; i < 2; i++)
        hc_network_sim_destroy(connection->ends[i].link);
    free(connection);
}

/// Queues events until there is no room, and sends a datagram.
static void send_datagram(struct endpoint *end, size_t room, uint64_t now_us) {
    uint8_t event[HC_MESSAGE_SIZE_MAX + 8];
    while (end->put_next != end->put_end) {
        size_t size = make_event(end->seed, end->put_next, event);
        if (hc_reliable_put(&end->events.out, event, size) != HC_OK)
            break;
        end->put_next++;
        end->payload_bytes += size;
    }
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct hc_writer writer = hc_bytes_writer(bytes, sizeof bytes);
    uint32_t seq = hc_sent_next(&end->sent, now_us);
    hc_bytes_put_u32(&writer, seq);
    hc_bytes_put_u32(&writer, end->replay.newest);
    hc_bytes_put_u32(&writer, hc_received_ack_bits(&end->replay));
    hc_reliable_send(&end->events.out, &writer, room, seq, now_us, end->srtt_us);
    HOLDS(!writer.failed && writer.at <= HEADER + room);
    end->message_bytes += writer.at - HEADER;
    hc_network_sim_send(end->link, now_us, bytes, writer.at);
}

/// Returns the received events and compares them with those that the peer put.
static void take_events(struct endpoint *end, const struct endpoint *peer) {
    uint8_t expected[HC_MESSAGE_SIZE_MAX + 8];
    size_t size;
    for (const uint8_t *event; (event = hc_reliable_next(&end->events.in, &size)) != NULL;) {
        HOLDS(end->got_next < peer->put_next);
        HOLDS(size == make_event(peer->seed, end->got_next, expected));
        HOLDS(memcmp(event, expected, size) == 0);
        end->got_next++;
    }
}

static void receive_datagram(struct endpoint *end, const uint8_t *bytes, size_t size,
                             uint64_t now_us) {
    struct hc_reader reader = hc_bytes_reader(bytes, size);
    uint32_t seq = hc_bytes_get_u32(&reader);
    uint32_t ack = hc_bytes_get_u32(&reader), ack_bits = hc_bytes_get_u32(&reader);
    if (hc_received_check(&end->replay, seq) != HC_OK)
        return;
    if (size > HEADER) {
        enum hc_status status = take(&end->events.in, bytes + HEADER, size - HEADER);
        if (status == HC_FULL)
            return; // as if it were lost
        HOLDS(status == HC_OK);
    }
    hc_received_accept(&end->replay, seq);
    struct hc_acked acked[HC_ACKS_MAX];
    uint32_t count;
    HOLDS(hc_sent_acked(&end->sent, ack, ack_bits, acked, &count) == HC_OK);
    for (uint32_t i = 0; i < count; i++) {
        hc_reliable_acked(&end->events.out, acked[i].seq);
        uint64_t sample_us = now_us - acked[i].sent_us;
        end->srtt_us = end->srtt_us - end->srtt_us / 8 + sample_us / 8;
    }
}

/// A tick of both sides. A side takes its events once in `lazy` ticks; 0: always.
static void step(struct connection *connection, struct hc_rng *rng, uint32_t lazy) {
    for (int i = 0; i < 2; i++) {
        struct endpoint *end = &connection->ends[i], *peer = &connection->ends[1 - i];
        uint8_t bytes[HC_NETWORK_SIM_PACKET_MAX];
        for (int size; (size = hc_network_sim_receive(peer->link, connection->now_us, bytes,
                                                      sizeof bytes)) >= 0;) {
            receive_datagram(end, bytes, (size_t)size, connection->now_us);
            if (lazy == 0)
                take_events(end, peer);
        }
        if (lazy > 0 && hc_rng_below(rng, lazy) == 0)
            take_events(end, peer);
        send_datagram(end, connection->room, connection->now_us);
    }
    connection->now_us += PERIOD_US;
}

static bool is_done(const struct connection *connection) {
    for (int i = 0; i < 2; i++) {
        const struct endpoint *end = &connection->ends[i], *peer = &connection->ends[1 - i];
        if (end->got_next != peer->put_end || end->events.out.oldest != end->put_end)
            return false;
    }
    return true;
}

static struct hc_network_sim_config random_link(struct hc_rng *rng) {
    return (struct hc_network_sim_config){.latency_us = hc_rng_below(rng, 400000),
                                          .jitter_us = hc_rng_below(rng, 200000),
                                          .loss_ppm = hc_rng_below(rng, 400000),
                                          .burst_mean = hc_rng_below(rng, 8),
                                          .duplicate_ppm = hc_rng_below(rng, 500000),
                                          .reorder_ppm = hc_rng_below(rng, 500000)};
}

START_TEST(events_arrive_once_and_in_order_over_any_link) {
    enum { EVENTS = 1500 };
    for (uint32_t round = 0; round < 60; round++) {
        struct hc_rng rng = hc_rng_init(21, round);
        struct hc_network_sim_config config = random_link(&rng);
        // Some begin where signed numbers overflow or numbers end.
        uint32_t first = round % 3 == 0   ? 1
                         : round % 3 == 1 ? (1u << 31) - 700
                                          : HC_RELIABLE_NUMBER_MAX - EVENTS + 1;
        size_t room = HC_RELIABLE_ROOM_MIN + hc_rng_below(&rng, 800);
        uint32_t lazy = hc_rng_below(&rng, 2) * hc_rng_below(&rng, 12);
        struct connection *connection = connection_new(round, first, EVENTS, room, &config);
        uint32_t ticks = 0;
        for (; !is_done(connection); ticks++) {
            if (ticks >= 200000)
                ck_abort_msg("round %u stands still", round);
            if (hc_rng_below(&rng, 1000) ==
                0) { // another network or a blackout, in one or both directions
                config = random_link(&rng);
                if (hc_rng_below(&rng, 2) == 0)
                    config.loss_ppm = HC_NETWORK_SIM_PPM;
                uint32_t ways = 1 + hc_rng_below(&rng, 3);
                for (uint32_t way = 0; way < 2; way++)
                    if (ways >> way & 1)
                        hc_network_sim_set_config(connection->ends[way].link, connection->now_us,
                                                  &config);
            }
            step(connection, &rng, lazy);
        }
        for (int i = 0; i < 2; i++) {
            const struct hc_reliable_in *in = &connection->ends[i].events.in;
            ck_assert_uint_eq(in->received, EVENTS);
            ck_assert_uint_eq(in->held + in->early, 0);
            ck_assert_uint_eq(connection->ends[i].events.out.used, 0);
        }
        connection_free(connection);
    }
}
END_TEST

START_TEST(events_arrive_once_and_in_order_over_a_second_of_latency_and_a_quarter_lost) {
    enum { EVENTS = 1000000 };
    struct hc_network_sim_config config = {
        .latency_us = 1000000, .jitter_us = 100000, .loss_ppm = 250000, .duplicate_ppm = 250000};
    struct connection *connection = connection_new(1, 1, EVENTS, 300, &config);
    struct endpoint *ends = connection->ends;
    ends[1].put_end = 1; // one direction; the other carries only acks
    for (uint32_t ticks = 0; !is_done(connection); ticks++) {
        HOLDS(ticks < 2 * EVENTS);
        step(connection, NULL, 0);
    }
    ck_assert_uint_eq(ends[1].events.in.received, EVENTS);
    // A quarter is lost: an event takes 4/3 sendings; enough acks arrive.
    uint64_t sendings = ends[0].events.out.sendings;
    ck_assert(sendings > EVENTS * UINT64_C(13) / 10 && sendings < EVENTS * UINT64_C(7) / 5);
    // A header of two bytes an event, and little more for the message.
    uint64_t payload = ends[0].payload_bytes * sendings / EVENTS;
    ck_assert_uint_lt(ends[0].message_bytes, payload + 3 * sendings);
    connection_free(connection);
}
END_TEST

// ---- The sending half ---------------------------------------------------------------------------

static struct side *side_new(uint32_t first) {
    struct side *side = malloc(sizeof *side);
    ck_assert_ptr_nonnull(side);
    hc_reliable_out_init(&side->out, first, side->queue, sizeof side->queue);
    hc_reliable_in_init(&side->in, first, side->store, sizeof side->store);
    return side;
}

/// Puts events of `size` bytes, each filled with the low byte of its number, until HC_FULL.
static uint32_t put_until_full(struct hc_reliable_out *out, size_t size) {
    uint8_t event[HC_MESSAGE_SIZE_MAX];
    for (uint32_t count = 0;; count++) {
        memset(event, (uint8_t)out->next, size);
        enum hc_status status = hc_reliable_put(out, event, size);
        if (status == HC_FULL)
            return count;
        HOLDS(status == HC_OK);
        HOLDS(count < HC_RELIABLE_WINDOW);
    }
}

/// Sends one datagram with `room` for events, gives them to `in`, and returns how many it had.
static uint32_t pass(struct hc_reliable_out *out, struct hc_reliable_in *in, size_t room,
                     uint32_t seq, uint64_t now_us) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct hc_writer body = hc_bytes_writer(bytes, sizeof bytes);
    uint32_t count = hc_reliable_send(out, &body, room, seq, now_us, 0);
    HOLDS(body.at <= room);
    if (count > 0)
        HOLDS(take(in, bytes, body.at) == HC_OK);
    return count;
}

/// Takes all events, each of `size` bytes filled with the low byte of its number.
static uint32_t drain(struct hc_reliable_in *in, size_t size) {
    uint32_t count = 0;
    size_t got;
    for (const uint8_t *event; (event = hc_reliable_next(in, &got)) != NULL; count++) {
        HOLDS(got == size);
        for (size_t i = 0; i < got; i++)
            HOLDS(event[i] == (uint8_t)(in->next - 1));
    }
    return count;
}

START_TEST(a_full_window_or_ring_takes_no_event_until_the_oldest_is_acked) {
    static const struct {
        size_t size;
        uint32_t fit;
    } cases[] = {{1, 256}, {64, 256}, {65, 252}, {255, 64}};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        struct side *side = side_new(1);
        size_t size = cases[c].size;
        ck_assert_uint_eq(put_until_full(&side->out, size), cases[c].fit);
        // Only an ack of the oldest makes room, because the peer returns events in order.
        uint32_t first = pass(&side->out, &side->in, HC_RELIABLE_ROOM_MIN, 1, 0);
        uint32_t second = pass(&side->out, &side->in, HC_RELIABLE_ROOM_MIN, 2, 0);
        ck_assert(first > 0 && second > 0);
        hc_reliable_acked(&side->out, 2);
        ck_assert_uint_eq(put_until_full(&side->out, size), 0);
        hc_reliable_acked(&side->out, 1);
        uint32_t room = (uint32_t)((sizeof side->queue - side->out.used) / size);
        uint32_t more = put_until_full(&side->out, size);
        ck_assert_uint_eq(more, room < first + second ? room : first + second);
        ck_assert_uint_ge(more, first + second);
        // The rings overflow many times.
        uint32_t got = drain(&side->in, size), seq = 3;
        for (; seq < 3000; seq++) {
            pass(&side->out, &side->in, HC_RELIABLE_ROOM_MIN, seq, 0);
            got += drain(&side->in, size);
            hc_reliable_acked(&side->out, seq);
            put_until_full(&side->out, size);
        }
        ck_assert_uint_eq(side->in.next, side->out.next - cases[c].fit);
        ck_assert_uint_eq(got, side->in.next - 1);
        ck_assert_uint_gt(got, 2900);
        free(side);
    }
}
END_TEST

START_TEST(an_event_has_from_1_to_255_bytes) {
    struct side *side = side_new(1);
    uint8_t event[HC_MESSAGE_SIZE_MAX + 1] = {0};
    struct hc_reliable_out before = side->out;
    ck_assert_int_eq(hc_reliable_put(&side->out, event, 0), HC_INVALID);
    ck_assert_int_eq(hc_reliable_put(&side->out, event, sizeof event), HC_INVALID);
    ck_assert_mem_eq(&side->out, &before, sizeof before);
    ck_assert_int_eq(hc_reliable_put(&side->out, event, 1), HC_OK);
    ck_assert_int_eq(hc_reliable_put(&side->out, event, HC_MESSAGE_SIZE_MAX), HC_OK);
    free(side);
}
END_TEST

START_TEST(a_new_connection_resends_unacked_events_and_each_arrives_once) {
    struct side *side = side_new(1);
    for (int i = 0; i < 6; i++)
        ck_assert_int_eq(hc_reliable_put(&side->out, &"abcdef"[i], 1), HC_OK);
    ck_assert_uint_eq(pass(&side->out, &side->in, 11 + 1 + 1, 1, 0), 3); // three fit and arrive
    hc_reliable_out_continue(&side->out);                                // before their ack
    hc_reliable_acked(&side->out, 1); // a datagram 1 of the new connection
    ck_assert_uint_eq(side->out.oldest, 1);
    ck_assert_uint_eq(pass(&side->out, &side->in, 500, 1, 0), 6);
    hc_reliable_acked(&side->out, 1);
    ck_assert_uint_eq(side->out.oldest, 7);
    size_t size;
    for (int i = 0; i < 6; i++)
        ck_assert_int_eq(*hc_reliable_next(&side->in, &size), "abcdef"[i]);
    ck_assert_ptr_null(hc_reliable_next(&side->in, &size));
    free(side);
}
END_TEST

START_TEST(event_numbers_run_out_instead_of_repeating) {
    struct side *side = side_new(HC_RELIABLE_NUMBER_MAX - 1);
    ck_assert_uint_eq(put_until_full(&side->out, 3), 2);
    ck_assert_uint_eq(pass(&side->out, &side->in, 100, 1, 0), 2);
    hc_reliable_acked(&side->out, 1);
    ck_assert_uint_eq(drain(&side->in, 3), 2);
    ck_assert_uint_eq(put_until_full(&side->out, 3), 0);
    ck_assert_uint_eq(pass(&side->out, &side->in, 100, 2, 0), 0);
    // The receiver refuses a number beyond the last, too.
    const uint8_t last[] = {0x93, 8, 0xce, 255, 255, 255, 255, 0xc4, 1, 7};
    const uint8_t after[] = {0x94, 8, 0xce, 255, 255, 255, 254, 0xc4, 1, 7, 0xc4, 1, 7};
    ck_assert_int_eq(take(&side->in, last, sizeof last), HC_MALFORMED);
    ck_assert_int_eq(take(&side->in, after, sizeof after), HC_MALFORMED);
    free(side);
}
END_TEST

START_TEST(an_event_is_sent_again_after_five_quarters_of_a_round_trip_or_100_ms) {
    static const struct {
        uint64_t rtt_us, wait_us;
    } cases[] = {{0, 100000}, {80000, 100000}, {80004, 100005}, {2000000, 2500000}};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        struct side *side = side_new(1);
        uint8_t bytes[600];
        uint64_t rtt_us = cases[c].rtt_us, at_us = 5000;
        ck_assert_int_eq(hc_reliable_put(&side->out, "one", 3), HC_OK);
        for (uint32_t sending = 1; sending < 5; sending++) {
            struct hc_writer body = hc_bytes_writer(bytes, sizeof bytes);
            uint64_t early_us = at_us - 1;
            if (sending > 1)
                ck_assert_uint_eq(
                    hc_reliable_send(&side->out, &body, 500, sending * 2, early_us, rtt_us), 0);
            ck_assert_uint_eq(body.at, 0);
            ck_assert_uint_eq(
                hc_reliable_send(&side->out, &body, 500, sending * 2 + 1, at_us, rtt_us), 1);
            at_us += cases[c].wait_us;
        }
        // An ack of any of the datagrams acks the event.
        hc_reliable_acked(&side->out, 5);
        struct hc_writer body = hc_bytes_writer(bytes, sizeof bytes);
        ck_assert_uint_eq(hc_reliable_send(&side->out, &body, 500, 99, at_us * 2, rtt_us), 0);
        ck_assert_uint_eq(side->out.oldest, side->out.next);
        free(side);
    }
}
END_TEST

START_TEST(sent_events_fit_the_room_whole_and_oldest_first) {
    for (uint32_t round = 0; round < 3000; round++) {
        struct hc_rng rng = hc_rng_init(22, round);
        static const uint32_t firsts[] = {1, 100, 120, 250, 65500, 1u << 20};
        struct side *side = side_new(firsts[round % 6]);
        uint32_t events = 1 + hc_rng_below(&rng, 200);
        uint8_t event[HC_MESSAGE_SIZE_MAX + 8], bytes[HC_DATA_BODY_MAX];
        for (uint32_t i = 0; i < events; i++)
            if (hc_reliable_put(&side->out, event, make_event(round, side->out.next, event)) !=
                HC_OK)
                break;
        // Some are acked first: there are gaps.
        for (uint32_t seq = 1; seq < 30; seq++) {
            struct hc_writer body = hc_bytes_writer(bytes, sizeof bytes);
            hc_reliable_send(&side->out, &body, HC_RELIABLE_ROOM_MIN, seq, 0, 0);
            if (hc_rng_chance(&rng, 400000))
                hc_reliable_acked(&side->out, seq);
        }
        uint32_t waiting = 0;
        for (uint32_t n = side->out.oldest; n != side->out.next; n++)
            waiting += !side->out.entries[n % HC_RELIABLE_WINDOW].acked;
        size_t room = hc_rng_below(&rng, HC_DATA_BODY_MAX + 1);
        struct hc_writer body = hc_bytes_writer(bytes, sizeof bytes);
        body.at = hc_rng_below(&rng, 300); // after other messages
        size_t before = body.at;
        uint32_t count = hc_reliable_send(&side->out, &body, room, 30, 1000000, 0);
        HOLDS(!body.failed && body.at - before <= room);
        HOLDS(count > 0 || room < HC_RELIABLE_ROOM_MIN || waiting == 0);
        HOLDS(count == waiting || body.at - before + HC_RELIABLE_ROOM_MIN > room ||
              body.at + HC_RELIABLE_ROOM_MIN > sizeof bytes);
        // Exactly the first `count` of the waiting ones were sent now.
        for (uint32_t n = side->out.oldest, seen = 0; n != side->out.next; n++) {
            const struct hc_reliable_entry *entry = &side->out.entries[n % HC_RELIABLE_WINDOW];
            if (!entry->acked)
                HOLDS((entry->sent && entry->sent_us == 1000000) == (seen++ < count));
        }
        free(side);
    }
}
END_TEST

START_TEST(an_ack_of_a_forgotten_datagram_is_ignored_and_its_event_counts_once) {
    struct side *side = side_new(1);
    ck_assert_int_eq(hc_reliable_put(&side->out, "\1", 1), HC_OK);
    ck_assert_uint_eq(pass(&side->out, &side->in, 300, 7, 0), 1);
    ck_assert_int_eq(hc_reliable_put(&side->out, "\2", 1), HC_OK);
    ck_assert_uint_eq(pass(&side->out, &side->in, 300, 7 + HC_RELIABLE_CARRIERS, 1), 1);
    hc_reliable_acked(&side->out, 7);
    hc_reliable_acked(&side->out, 0);
    hc_reliable_acked(&side->out, 8);
    hc_reliable_acked(&side->out, 7 + 2 * HC_RELIABLE_CARRIERS);
    ck_assert_uint_eq(side->out.oldest, 1);
    ck_assert_uint_eq(pass(&side->out, &side->in, 300, 8 + HC_RELIABLE_CARRIERS, 200000), 2);
    ck_assert_uint_eq(side->in.duplicates, 2);
    ck_assert_uint_eq(drain(&side->in, 1), 2);
    hc_reliable_acked(&side->out, 8 + HC_RELIABLE_CARRIERS);
    ck_assert_uint_eq(side->out.oldest, 3);
    // The ack of an earlier datagram comes late, when other events have the places of its own.
    put_until_full(&side->out, 1);
    hc_reliable_acked(&side->out, 7 + HC_RELIABLE_CARRIERS);
    ck_assert_uint_eq(side->out.oldest, 3);
    free(side);
}
END_TEST

// ---- The receiving half -------------------------------------------------------------------------

/// Appends a message of `count` events of `size` bytes each, all `fill`, from `number` on.
static size_t craft(uint8_t bytes[static HC_DATAGRAM_MAX], uint32_t number, uint32_t count,
                    size_t size, uint8_t fill) {
    uint8_t event[HC_MESSAGE_SIZE_MAX + 1];
    memset(event, fill, sizeof event);
    struct hc_writer body = hc_bytes_writer(bytes, HC_DATAGRAM_MAX);
    hc_pack_array(&body, 2 + count);
    hc_pack_uint8(&body, HC_MESSAGE_RELIABLE);
    hc_pack_uint32(&body, number);
    for (uint32_t i = 0; i < count; i++) {
        hc_pack_bin(&body, size);
        hc_pack_bin_body(&body, event, size);
    }
    HOLDS(!body.failed);
    return body.at;
}

START_TEST(an_event_beyond_the_window_or_malformed_is_refused_and_changes_nothing) {
    struct side *side = side_new(1);
    uint8_t bytes[HC_DATAGRAM_MAX];
    ck_assert_int_eq(take(&side->in, bytes, craft(bytes, 1, 3, 4, 'a')), HC_OK);
    ck_assert_int_eq(take(&side->in, bytes, craft(bytes, 9, 2, 4, 'b')), HC_OK);
    static struct hc_reliable_in before;
    before = side->in;
    static const uint32_t ahead[] = {
        260, 261, 515, 1u << 20, INT32_MAX, 1u << 31, UINT32_MAX - 1, UINT32_MAX};
    for (size_t i = 0; i < sizeof ahead / sizeof ahead[0]; i++)
        ck_assert_int_eq(take(&side->in, bytes, craft(bytes, ahead[i], 1, 4, 'c')), HC_MALFORMED);
    // Also when only the last event of a message is beyond it.
    ck_assert_int_eq(take(&side->in, bytes, craft(bytes, 258, 3, 4, 'c')), HC_MALFORMED);
    ck_assert_int_eq(take(&side->in, bytes, craft(bytes, 5, 1, 0, 'c')), HC_MALFORMED);
    ck_assert_int_eq(take(&side->in, bytes, craft(bytes, 5, 1, 256, 'c')), HC_MALFORMED);
    ck_assert_int_eq(take(&side->in, bytes, craft(bytes, 0, 1, 4, 'c')), HC_MALFORMED);
    ck_assert_int_eq(take(&side->in, bytes, craft(bytes, 5, 0, 4, 'c')), HC_MALFORMED);
    static const struct {
        uint8_t bytes[12];
        size_t size;
    } wrong[] = {
        {{0x91, 8}, 2},                                        // no number
        {{0x93, 8, 5, 1}, 4},                                  // a gap alone
        {{0x94, 8, 5, 1, 0xc4, 1, 7}, 7},                      // a gap first
        {{0x94, 8, 5, 0xc4, 1, 7, 1}, 7},                      // a gap last
        {{0x95, 8, 5, 0xc4, 1, 7, 0, 0xc4, 1, 7}, 10},         // a gap of nothing
        {{0x95, 8, 5, 0xc4, 1, 7, 0xff, 0xc4, 1, 7}, 10},      // a negative one
        {{0x96, 8, 5, 0xc4, 1, 7, 1, 1, 0xc4, 1, 7}, 11},      // two gaps
        {{0x95, 8, 3, 0xc4, 1, 7, 0xcc, 255, 0xc4, 1, 7}, 11}, // wider than any window
        {{0x93, 8, 5, 0xa1, 'x'}, 5},                          // a text
        {{0x93, 8, 5, 0xc0}, 4},                               // nil
        {{0x93, 8, 5, 0x91, 7}, 5},                            // an array
        {{0x93, 8, 0xff, 0xc4, 1, 7}, 6},                      // a negative number
        {{0x93, 8, 0xc4, 1, 7, 5}, 6},                         // number and event exchanged
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        ck_assert_msg(take(&side->in, wrong[i].bytes, wrong[i].size) == HC_MALFORMED, "%zu", i);
    ck_assert_mem_eq(&side->in, &before, sizeof before);
    for (size_t size; hc_reliable_next(&side->in, &size) != NULL;)
        ck_assert_uint_eq(size, 4);
    ck_assert_int_eq(take(&side->in, bytes, craft(bytes, 258, 2, 4, 'd')), HC_OK);
    free(side);
}
END_TEST

START_TEST(an_event_received_before_is_dropped_even_with_other_bytes) {
    struct side *side = side_new(1);
    uint8_t bytes[HC_DATAGRAM_MAX];
    ck_assert_int_eq(take(&side->in, bytes, craft(bytes, 3, 2, 4, 'a')), HC_OK);
    ck_assert_int_eq(take(&side->in, bytes, craft(bytes, 1, 5, 9, 'b')), HC_OK);
    ck_assert_int_eq(take(&side->in, bytes, craft(bytes, 2, 4, 255, 'c')), HC_OK);
    static const char expected[] = "bbaab";
    size_t size;
    for (size_t i = 0; i < 5; i++) {
        const uint8_t *event = hc_reliable_next(&side->in, &size);
        ck_assert_ptr_nonnull(event);
        ck_assert_int_eq(event[0], expected[i]);
        ck_assert_uint_eq(size, expected[i] == 'a' ? 4 : 9);
    }
    ck_assert_ptr_null(hc_reliable_next(&side->in, &size));
    ck_assert_int_eq(take(&side->in, bytes, craft(bytes, 1, 5, 1, 'd')), HC_OK);
    ck_assert_ptr_null(hc_reliable_next(&side->in, &size));
    ck_assert_uint_eq(side->in.duplicates, 11);
    free(side);
}
END_TEST

START_TEST(a_peer_with_too_many_bytes_on_the_way_is_refused) {
    struct side *side = side_new(1);
    uint8_t bytes[HC_DATAGRAM_MAX];
    uint32_t taken = 0;
    for (uint32_t number = 2; number < 200; number++) {
        enum hc_status status = take(&side->in, bytes, craft(bytes, number, 1, 255, 'a'));
        taken += status == HC_OK;
        ck_assert_int_eq(status, number < 2 + HC_RELIABLE_BYTES_MAX / 255 ? HC_OK : HC_MALFORMED);
    }
    ck_assert_uint_eq(taken, HC_RELIABLE_BYTES_MAX / 255);
    free(side);
}
END_TEST

START_TEST(a_receiver_that_returns_no_events_is_full_until_it_does) {
    static const size_t sizes[] = {1, 60, 255};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        struct side *side = side_new(1);
        uint8_t bytes[HC_DATAGRAM_MAX];
        for (uint32_t number = 1, round = 0; round < 20; round++) {
            uint32_t begun = number;
            enum hc_status status;
            while ((status = take(&side->in, bytes,
                                  craft(bytes, number, 1, sizes[s], (uint8_t)number))) == HC_OK)
                number++;
            ck_assert_int_eq(status, HC_FULL);
            ck_assert_uint_eq(number - begun, sizes[s] == 255 ? STORE / 257 : HC_RELIABLE_WINDOW);
            static struct hc_reliable_in before;
            before = side->in;
            ck_assert_int_eq(take(&side->in, bytes, craft(bytes, number, 1, sizes[s], 0)), HC_FULL);
            ck_assert_mem_eq(&side->in, &before, sizeof before);
            ck_assert_uint_eq(drain(&side->in, sizes[s]), number - begun);
        }
        free(side);
    }
}
END_TEST

/// A plain receiver: every received event in an array.
struct plain {
    uint32_t expected, next, early;
    uint8_t size[2000], fill[2000]; ///< 0 bytes: not received
};

static enum hc_status plain_take(struct plain *plain, uint32_t number, uint32_t count, uint8_t size,
                                 uint8_t fill) {
    uint32_t bytes = 0, full = 0;
    for (uint32_t n = number; n < number + count; n++) {
        if (n >= plain->expected + HC_RELIABLE_WINDOW)
            return HC_MALFORMED;
        bytes += plain->size[n] == 0 ? size : 0;
        full |= n >= plain->next + HC_RELIABLE_WINDOW;
    }
    uint32_t held = 0;
    for (uint32_t n = plain->next; n < plain->next + HC_RELIABLE_WINDOW; n++)
        held += plain->size[n] + (plain->size[n] > 0 ? HC_RELIABLE_RECORD : 0u);
    if (plain->early + bytes > HC_RELIABLE_BYTES_MAX)
        return HC_MALFORMED;
    if (full || held + bytes + bytes / size * HC_RELIABLE_RECORD > STORE)
        return HC_FULL;
    for (uint32_t n = number; n < number + count; n++) {
        if (plain->size[n] > 0)
            continue;
        plain->size[n] = size;
        plain->fill[n] = fill;
    }
    plain->early += bytes;
    for (; plain->size[plain->expected] > 0; plain->expected++)
        plain->early -= plain->size[plain->expected];
    return HC_OK;
}

START_TEST(the_receiver_agrees_with_a_plain_list) {
    static struct plain plain;
    uint32_t seen[HC_STATUS_COUNT] = {0};
    for (uint32_t round = 0; round < 60; round++) {
        struct hc_rng rng = hc_rng_init(23, round);
        struct side *side = side_new(1);
        memset(&plain, 0, sizeof plain);
        plain.expected = plain.next = 1;
        uint32_t largest = round % 2 == 0 ? HC_MESSAGE_SIZE_MAX : 60, ahead = 64u << round % 3;
        for (int i = 0; i < 6000 && plain.next < 1200; i++) {
            uint8_t bytes[HC_DATAGRAM_MAX];
            uint32_t back = hc_rng_below(&rng, 6), count = 1 + hc_rng_below(&rng, 4);
            // Mostly a missing event; sometimes any in the window and beyond.
            uint32_t number = hc_rng_chance(&rng, 100000)
                                  ? plain.expected
                                  : plain.expected + hc_rng_below(&rng, ahead + 20);
            number = number > back ? number - back : 1;
            uint8_t size = (uint8_t)(1 + hc_rng_below(&rng, largest));
            uint8_t fill = (uint8_t)hc_rng_next(&rng);
            enum hc_status status = take(&side->in, bytes, craft(bytes, number, count, size, fill));
            ck_assert_msg(status == plain_take(&plain, number, count, size, fill),
                          "round %u step %d", round, i);
            seen[status]++;
            HOLDS(side->in.expected == plain.expected);
            for (uint32_t poll = hc_rng_below(&rng, 12); poll > 0; poll--) {
                size_t got;
                const uint8_t *event = hc_reliable_next(&side->in, &got);
                HOLDS((event != NULL) == (plain.next < plain.expected));
                if (event == NULL)
                    break;
                HOLDS(got == plain.size[plain.next]);
                for (size_t b = 0; b < got; b++)
                    HOLDS(event[b] == plain.fill[plain.next]);
                plain.next++;
            }
        }
        free(side);
    }
    ck_assert_uint_gt(seen[HC_OK], 10000);
    ck_assert_uint_gt(seen[HC_MALFORMED], 1000);
    ck_assert_uint_gt(seen[HC_FULL], 100);
}
END_TEST

START_TEST(a_shortened_or_altered_message_is_refused_or_read_within_its_bounds) {
    struct side *side = side_new(1);
    uint8_t event[HC_MESSAGE_SIZE_MAX + 8], bytes[HC_DATAGRAM_MAX];
    for (uint32_t i = 0; i < 40; i++)
        hc_reliable_put(&side->out, event, make_event(3, i, event));
    // Two of three are acked: the message has gaps.
    for (uint32_t seq = 1; seq < 30; seq++) {
        struct hc_writer body = hc_bytes_writer(bytes, sizeof bytes);
        hc_reliable_send(&side->out, &body, 60, seq, 0, 0);
        if (seq % 3 != 0)
            hc_reliable_acked(&side->out, seq);
    }
    struct hc_writer body = hc_bytes_writer(bytes, sizeof bytes);
    ck_assert_uint_gt(hc_reliable_send(&side->out, &body, 700, 30, 1000000, 0), 5);
    for (size_t size = 0; size < body.at; size++)
        ck_assert_int_ne(take(&side->in, bytes, size), HC_OK);
    uint32_t refused = 0;
    for (uint32_t round = 0; round < 40000; round++) {
        struct hc_rng rng = hc_rng_init(24, round);
        uint8_t altered[sizeof bytes];
        memcpy(altered, bytes, body.at);
        for (uint32_t flips = 1 + hc_rng_below(&rng, 4); flips > 0; flips--)
            altered[hc_rng_below(&rng, (uint32_t)body.at)] ^=
                (uint8_t)(1u << hc_rng_below(&rng, 8));
        if (round % 100 == 0)
            hc_reliable_in_init(&side->in, 1, side->store, sizeof side->store);
        refused += take(&side->in, altered, body.at) != HC_OK;
        size_t size;
        while (hc_reliable_next(&side->in, &size) != NULL)
            HOLDS(size > 0 && size <= HC_MESSAGE_SIZE_MAX);
        HOLDS(side->in.early <= HC_RELIABLE_BYTES_MAX);
        HOLDS(side->in.held <= side->in.used);
    }
    ck_assert_uint_gt(refused, 5000); // most altered bytes are inside an event
    free(side);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("proto_reliable");
    TCase *tests = tcase_create("events");
    tcase_add_test(tests, events_arrive_once_and_in_order_over_any_link);
    tcase_add_test(tests, a_full_window_or_ring_takes_no_event_until_the_oldest_is_acked);
    tcase_add_test(tests, an_event_has_from_1_to_255_bytes);
    tcase_add_test(tests, event_numbers_run_out_instead_of_repeating);
    tcase_add_test(tests, a_new_connection_resends_unacked_events_and_each_arrives_once);
    tcase_add_test(tests, an_event_is_sent_again_after_five_quarters_of_a_round_trip_or_100_ms);
    tcase_add_test(tests, sent_events_fit_the_room_whole_and_oldest_first);
    tcase_add_test(tests, an_ack_of_a_forgotten_datagram_is_ignored_and_its_event_counts_once);
    tcase_add_test(tests, an_event_beyond_the_window_or_malformed_is_refused_and_changes_nothing);
    tcase_add_test(tests, an_event_received_before_is_dropped_even_with_other_bytes);
    tcase_add_test(tests, a_peer_with_too_many_bytes_on_the_way_is_refused);
    tcase_add_test(tests, a_receiver_that_returns_no_events_is_full_until_it_does);
    tcase_add_test(tests, the_receiver_agrees_with_a_plain_list);
    tcase_add_test(tests, a_shortened_or_altered_message_is_refused_or_read_within_its_bounds);
    suite_add_tcase(suite, tests);
    TCase *long_plays = add_long_plays(suite);
    tcase_add_test(long_plays,
                   events_arrive_once_and_in_order_over_a_second_of_latency_and_a_quarter_lost);
    return run_suite(suite);
}
