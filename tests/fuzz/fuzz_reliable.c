/// Fuzzes messages: the fuzzer is the network between two ends. It drops, repeats, reorders and
/// forges datagrams. Each end must return the messages of the other, once and in order; after a
/// forgery it may fail, or return forged messages.
///
/// The input is two bytes for the configuration, then a list of actions.
#include "hindcast/check.h"
#include "proto/reliable.h"
#include "proto/unpack.h"
#include "tests/fuzz/actions.h"

#include <string.h>

enum {
    FLIGHTS = 24,
    BODY_MAX = 600,
    STORE = HC_RELIABLE_STORE_MIN + 100,
    PUT_MAX = 2000, ///< messages of one side, to bound the time
    ROUNDS = 200,   ///< in which all messages must arrive when nothing is lost
};

/// A datagram in flight.
struct flight {
    unsigned to;
    uint32_t seq, ack, ack_bits;
    size_t size;
    uint8_t body[BODY_MAX];
};

struct end {
    struct hc_reliable_out out;
    struct hc_reliable_in in;
    struct hc_sent sent;
    struct hc_received replay;
    uint32_t put, got;
    uint8_t sizes[PUT_MAX]; ///< of the messages that it put
    bool deceived;          ///< this end took a datagram that the other end did not send
    uint8_t out_bytes[HC_RELIABLE_BYTES_MAX], in_bytes[STORE];
};

struct world {
    struct end ends[2];
    uint32_t first;
    uint64_t now_us, rtt_us;
    uint32_t count;
    struct flight flights[FLIGHTS];
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_end(const struct end *end) {
    const struct hc_reliable_in *in = &end->in;
    const struct hc_reliable_out *out = &end->out;
    HC_ASSERT(in->held <= in->used && in->used <= in->capacity);
    HC_ASSERT(in->expected - in->next <= HC_RELIABLE_WINDOW && in->early <= HC_RELIABLE_BYTES_MAX);
    HC_ASSERT(out->next - out->oldest <= HC_RELIABLE_WINDOW && out->used <= out->capacity);
    HC_ASSERT(end->deceived || end->got <= PUT_MAX);
}

// ---- The ends -----------------------------------------------------------------------------------

/// A byte of an end's message.
static uint8_t event_byte(unsigned side, uint32_t index, uint32_t at) {
    return (uint8_t)(side * 101 + index * 31 + (index >> 8) * 7 + at);
}

static void put(struct world *w, unsigned side, size_t size) {
    struct end *end = &w->ends[side];
    uint8_t message[HC_MESSAGE_SIZE_MAX + 1];
    uint32_t next = end->out.next;
    if (end->put == PUT_MAX)
        return;
    for (uint32_t i = 0; i < size; i++)
        message[i] = event_byte(side, end->put, i);
    enum hc_status status = hc_reliable_put(&end->out, message, size);
    HC_ASSERT((status == HC_INVALID) == (size == 0 || size > HC_MESSAGE_SIZE_MAX));
    HC_ASSERT(end->out.next == next + (status == HC_OK));
    if (status == HC_OK)
        end->sizes[end->put++] = (uint8_t)size;
}

/// Takes up to `most` messages, and compares them with those of the other end.
static void take_out(struct world *w, unsigned side, uint32_t most) {
    struct end *end = &w->ends[side];
    const struct end *other = &w->ends[1 - side];
    const uint8_t *message;
    size_t size;
    for (; most > 0 && (message = hc_reliable_next(&end->in, &size)) != NULL; most--, end->got++) {
        HC_ASSERT(size >= 1 && size <= HC_MESSAGE_SIZE_MAX);
        HC_ASSERT(end->in.next == w->first + end->got + 1);
        if (end->deceived)
            continue;
        HC_ASSERT(end->got < other->put && size == other->sizes[end->got]);
        for (uint32_t i = 0; i < size; i++)
            HC_ASSERT(message[i] == event_byte(1 - side, end->got, i));
    }
}

/// Reads a body: RELIABLE, or nothing.
static enum hc_status read_body(const uint8_t *body, size_t size, struct hc_values *values) {
    static struct hc_value list[HC_PRECHECK_NODES_MAX];
    size_t used;
    *values = (struct hc_values){.left = 0};
    if (size == 0)
        return HC_OK;
    enum hc_status status = hc_precheck(body, size, &used);
    if (status != HC_OK)
        return status;
    hc_unpack(body, used, list);
    *values = (struct hc_values){.next = list + 1, .left = list[0].size};
    if (used != size || list[0].type != HC_VALUE_ARRAY ||
        hc_values_unsigned(values, UINT8_MAX) != HC_MESSAGE_RELIABLE || values->failed)
        return HC_MALFORMED;
    return HC_OK;
}

/// Takes a datagram as a whole or refuses it; a refused one must change nothing.
static enum hc_status receive(struct end *end, const struct flight *flight) {
    struct hc_acked acked[HC_ACKS_MAX];
    struct hc_values values;
    uint32_t count = 0;
    struct hc_reliable_in before = end->in;
    enum hc_status status = hc_received_check(&end->replay, flight->seq);
    if (status == HC_OK)
        status = read_body(flight->body, flight->size, &values);
    if (status == HC_OK && flight->size > 0)
        status = hc_reliable_check(&end->in, values);
    if (status == HC_OK)
        status = hc_sent_acked(&end->sent, flight->ack, flight->ack_bits, acked, &count);
    HC_ASSERT(memcmp(&before, &end->in, sizeof before) == 0);
    if (status != HC_OK)
        return status;
    HC_ASSERT(flight->size == 0 || hc_reliable_take(&end->in, values) == HC_OK);
    hc_received_accept(&end->replay, flight->seq);
    for (uint32_t i = count; i-- > 0;)
        hc_reliable_acked(&end->out, acked[i].seq);
    return HC_OK;
}

// ---- The network --------------------------------------------------------------------------------

static struct flight remove_flight(struct world *w, uint32_t index) {
    struct flight flight = w->flights[index];
    memmove(&w->flights[index], &w->flights[index + 1],
            (--w->count - index) * sizeof w->flights[0]);
    return flight;
}

/// Sends a datagram of `side`; when the network is full the oldest flight is dropped.
static struct flight *send(struct world *w, unsigned side, size_t room) {
    struct end *end = &w->ends[side];
    if (w->count == FLIGHTS)
        (void)remove_flight(w, 0);
    struct flight *flight = &w->flights[w->count++];
    struct hc_writer body = hc_bytes_writer(flight->body, sizeof flight->body);
    flight->to = 1 - side;
    flight->seq = hc_sent_next(&end->sent, w->now_us);
    flight->ack = end->replay.newest;
    flight->ack_bits = hc_received_ack_bits(&end->replay);
    uint32_t carried = hc_reliable_send(&end->out, &body, room, flight->seq, w->now_us, w->rtt_us);
    HC_ASSERT((carried > 0) == (body.at > 0) && body.at <= room);
    flight->size = body.at;
    return flight;
}

/// Forges a datagram behind the newest one that was sent.
static void forge(struct world *w, struct fuzz_source *source) {
    unsigned to = fuzz_take(source) & 1;
    struct end *end = &w->ends[to];
    struct flight flight = {.to = to, .seq = end->replay.newest + 1 + fuzz_take(source)};
    uint8_t acks = fuzz_take(source);
    if ((acks & 1) != 0)
        flight.ack = end->sent.next - 1 - (acks >> 4);
    if ((acks & 2) != 0)
        flight.ack_bits = (uint32_t)fuzz_take_number(source, 4);
    flight.size = source->left;
    HC_ASSERT(flight.size <= sizeof flight.body);
    fuzz_take_bytes(source, flight.body, flight.size);
    if (receive(end, &flight) == HC_OK) {
        end->deceived = true;
        w->ends[1 - to].deceived |= flight.ack > 0; // it may wait for messages that never come
    }
}

/// Delivers a flight with changed bytes.
static void change(struct world *w, uint32_t index, struct fuzz_source *source) {
    struct flight flight = remove_flight(w, index);
    while (source->left > 0 && flight.size > 0) {
        uint64_t place = fuzz_take_number(source, 2) % flight.size;
        flight.body[place] ^= fuzz_take(source);
    }
    if (receive(&w->ends[flight.to], &flight) == HC_OK)
        w->ends[flight.to].deceived = true;
}

/// Delivers everything: unless a datagram was forged, every message must arrive.
static void drain(struct world *w) {
    take_out(w, 0, UINT32_MAX);
    take_out(w, 1, UINT32_MAX);
    for (unsigned round = 0; round < ROUNDS; round++) {
        if (w->ends[0].out.oldest == w->ends[0].out.next &&
            w->ends[1].out.oldest == w->ends[1].out.next)
            break;
        w->now_us += 200000;
        for (unsigned side = 0; side < 2; side++) {
            enum hc_status status = receive(&w->ends[1 - side], send(w, side, BODY_MAX));
            bool forged = w->ends[0].deceived || w->ends[1].deceived;
            HC_ASSERT(forged || status == HC_OK);
            take_out(w, 1 - side, UINT32_MAX);
        }
    }
    for (unsigned side = 0; side < 2; side++) {
        check_end(&w->ends[side]);
        if (w->ends[0].deceived || w->ends[1].deceived)
            continue;
        take_out(w, side, UINT32_MAX);
        HC_ASSERT(w->ends[side].got == w->ends[1 - side].put);
        HC_ASSERT(w->ends[side].out.used == 0 && w->ends[side].in.held == 0);
    }
}

static void act(struct world *w, uint8_t kind, struct fuzz_source *source) {
    unsigned side = kind >> 7;
    uint32_t index = w->count == 0 ? 0 : fuzz_take(source) % w->count;
    struct flight flight;
    switch (kind % 8) {
    case 0:
        do
            put(w, side, fuzz_take(source));
        while (source->left > 0);
        break;
    case 1:
        send(w, side, (size_t)fuzz_take(source) * 3 % (BODY_MAX + 1));
        break;
    case 2: // delivered
        if (w->count == 0)
            return;
        flight = remove_flight(w, index);
        (void)receive(&w->ends[flight.to], &flight);
        break;
    case 3: // delivered, and later again
        if (w->count > 0)
            (void)receive(&w->ends[w->flights[index].to], &w->flights[index]);
        break;
    case 4: // delivered with changes
        if (w->count > 0)
            change(w, index, source);
        break;
    case 5:
        forge(w, source);
        break;
    case 6:
        take_out(w, side, fuzz_take(source));
        break;
    default:
        w->now_us += (uint64_t)fuzz_take(source) * 4000;
        if (w->count > 0 && (kind & 8) != 0)
            (void)remove_flight(w, index); // dropped
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const uint32_t firsts[] = {1, 200, HC_RELIABLE_NUMBER_MAX - 300, HC_RELIABLE_NUMBER_MAX};
    static const uint32_t rings[] = {HC_RELIABLE_BYTES_MAX, 4096, 1000, HC_MESSAGE_SIZE_MAX};
    static struct world w;
    struct fuzz_source input = {.bytes = data, .left = size};
    struct fuzz_action action;
    memset(&w, 0, sizeof w);
    uint8_t how = fuzz_take(&input);
    w.first = firsts[how % 4];
    w.rtt_us = (how & 4) != 0 ? 150000 : 0;
    uint32_t ring = rings[fuzz_take(&input) % 4];
    for (unsigned side = 0; side < 2; side++) {
        struct end *end = &w.ends[side];
        hc_reliable_out_init(&end->out, w.first, end->out_bytes, ring);
        hc_reliable_in_init(&end->in, w.first, end->in_bytes, sizeof end->in_bytes);
        hc_sent_init(&end->sent, 1);
    }
    while (fuzz_action_next(&input, &action)) {
        act(&w, action.kind, &action.source);
        check_end(&w.ends[0]);
        check_end(&w.ends[1]);
    }
    drain(&w);
    return 0;
}
