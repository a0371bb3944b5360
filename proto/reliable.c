/// Reliable messages: their window, resending and acks; their log at the receiver.
#include "proto/reliable.h"

#include "common/elapsed.h"

#include "hindcast/check.h"
#include "proto/pack.h"

#include <string.h>

_Static_assert(HC_RELIABLE_WINDOW % 64 == 0, "the window is whole words");
_Static_assert(HC_RELIABLE_WINDOW - 1 <= UINT8_MAX, "a record's slot is one byte");
_Static_assert(HC_MESSAGE_SIZE_MAX <= UINT8_MAX, "a length is one byte, here and on the wire");

enum {
    TYPE_SIZE = 1,
    BINARY_HEADER = 2,
    FIX_ARRAY_MAX = 15,               ///< values in an array with a header of one byte
    GAP_MAX = HC_RELIABLE_WINDOW - 2, ///< between the first and the last place of the window
};

// ---- Sending ------------------------------------------------------------------------------------

static struct hc_reliable_entry *entry_of(struct hc_reliable_out *out, uint32_t number) {
    return &out->entries[number % HC_RELIABLE_WINDOW];
}

void hc_reliable_out_init(struct hc_reliable_out *out, uint32_t first, uint8_t *bytes,
                          uint32_t capacity) {
    HC_ASSERT(first > 0 && first <= HC_RELIABLE_NUMBER_MAX);
    HC_ASSERT(capacity >= HC_MESSAGE_SIZE_MAX && capacity <= HC_RELIABLE_BYTES_MAX);
    memset(out, 0, sizeof *out);
    out->bytes = bytes;
    out->capacity = capacity;
    out->oldest = first;
    out->next = first;
}

enum hc_status hc_reliable_put(struct hc_reliable_out *out, const void *message, size_t size) {
    if (size == 0 || size > HC_MESSAGE_SIZE_MAX)
        return HC_INVALID;
    if (out->next - out->oldest == HC_RELIABLE_WINDOW || size > out->capacity - out->used ||
        out->next > HC_RELIABLE_NUMBER_MAX)
        return HC_FULL;
    struct hc_reliable_entry *entry = entry_of(out, out->next++);
    *entry = (struct hc_reliable_entry){.at = (uint16_t)out->end, .size = (uint8_t)size};
    size_t before_end = out->capacity - out->end < size ? out->capacity - out->end : size;
    memcpy(out->bytes + out->end, message, before_end);
    memcpy(out->bytes, (const uint8_t *)message + before_end, size - before_end);
    out->end = (out->end + (uint32_t)size) % out->capacity;
    out->used += (uint32_t)size;
    return HC_OK;
}

/// The messages of one datagram, by their distance from the oldest.
struct batch {
    uint64_t bits[HC_RELIABLE_WORDS];
    uint32_t first; ///< number of the first
    uint32_t last;  ///< distance of the last
    uint32_t count;
    uint32_t values; ///< of the RELIABLE after the number: messages and gaps
    size_t size;     ///< bytes of those
};

static bool carries(const uint64_t bits[static HC_RELIABLE_WORDS], uint32_t distance) {
    return bits[distance / 64] >> distance % 64 & 1;
}

static size_t number_size(uint32_t number) {
    return number < 128 ? 1 : number <= UINT8_MAX ? 2 : number <= UINT16_MAX ? 3 : 5;
}

/// Adds the message at `distance`, if the message then takes no more than `room` bytes.
static bool add_event(struct batch *batch, const struct hc_reliable_out *out, uint32_t distance,
                      uint8_t size, size_t room) {
    struct batch more = *batch;
    if (more.count == 0)
        more.first = out->oldest + distance;
    uint32_t gap = more.count == 0 ? 0 : distance - more.last - 1;
    more.bits[distance / 64] |= (uint64_t)1 << distance % 64;
    more.last = distance;
    more.count++;
    more.values += gap == 0 ? 1 : 2;
    more.size += (gap == 0 ? 0 : number_size(gap)) + BINARY_HEADER + size;
    size_t header = more.values + 2 <= FIX_ARRAY_MAX ? 1 : 3;
    if (header + TYPE_SIZE + number_size(more.first) + more.size > room)
        return false;
    *batch = more;
    return true;
}

static void pack_event(const struct hc_reliable_out *out, const struct hc_reliable_entry *entry,
                       struct hc_writer *body) {
    size_t before_end = out->capacity - entry->at;
    size_t size = entry->size;
    before_end = before_end < size ? before_end : size;
    hc_pack_bin(body, size);
    hc_pack_bin_body(body, out->bytes + entry->at, before_end);
    hc_pack_bin_body(body, out->bytes, size - before_end);
}

static void pack_batch(struct hc_reliable_out *out, const struct batch *batch,
                       struct hc_writer *body, uint64_t now_us) {
    hc_pack_array(body, 2 + batch->values);
    hc_pack_uint8(body, HC_MESSAGE_RELIABLE);
    hc_pack_uint32(body, batch->first);
    uint32_t expected = batch->first;
    for (uint32_t i = batch->first - out->oldest; i <= batch->last; i++) {
        if (!carries(batch->bits, i))
            continue;
        uint32_t number = out->oldest + i;
        struct hc_reliable_entry *entry = entry_of(out, number);
        if (number != expected)
            hc_pack_uint32(body, number - expected);
        pack_event(out, entry, body);
        entry->sent = true;
        entry->sent_us = now_us;
        expected = number + 1;
    }
}

uint32_t hc_reliable_send(struct hc_reliable_out *out, struct hc_writer *body, size_t room,
                          uint32_t seq, uint64_t now_us, uint64_t rtt_us) {
    HC_ASSERT(seq != 0);
    if (out->oldest == out->next) // mostly: the carriers are not in the caches
        return 0;
    HC_ASSERT(out->carriers[seq % HC_RELIABLE_CARRIERS].seq != seq);
    uint64_t interval = rtt_us + rtt_us / 4;
    if (interval < HC_RELIABLE_RESEND_LEAST_US)
        interval = HC_RELIABLE_RESEND_LEAST_US;
    size_t left = body->failed ? 0 : body->size - body->at;
    room = room < left ? room : left;
    struct batch batch = {0};
    for (uint32_t i = 0; i < out->next - out->oldest; i++) {
        const struct hc_reliable_entry *entry = entry_of(out, out->oldest + i);
        if (entry->acked || (entry->sent && hc_since(entry->sent_us, now_us) < interval))
            continue;
        // Smaller ones behind it wait too: otherwise a large one might never be sent.
        if (!add_event(&batch, out, i, entry->size, room))
            break;
    }
    if (batch.count == 0)
        return 0;
    pack_batch(out, &batch, body, now_us);
    HC_ASSERT(!body->failed);
    struct hc_reliable_carrier *carrier = &out->carriers[seq % HC_RELIABLE_CARRIERS];
    *carrier = (struct hc_reliable_carrier){.seq = seq, .base = out->oldest};
    memcpy(carrier->bits, batch.bits, sizeof carrier->bits);
    out->sendings += batch.count;
    return batch.count;
}

void hc_reliable_acked(struct hc_reliable_out *out, uint32_t seq) {
    struct hc_reliable_carrier *carrier = &out->carriers[seq % HC_RELIABLE_CARRIERS];
    if (out->oldest == out->next || seq == 0 || carrier->seq != seq)
        return;
    carrier->seq = 0;
    for (uint32_t i = 0; i < HC_RELIABLE_WINDOW; i++) {
        uint32_t number = carrier->base + i;
        // Entries below the oldest belong to later messages now.
        if (carries(carrier->bits, i) && number >= out->oldest)
            entry_of(out, number)->acked = true;
    }
    while (out->oldest != out->next && entry_of(out, out->oldest)->acked)
        out->used -= entry_of(out, out->oldest++)->size;
}

void hc_reliable_out_continue(struct hc_reliable_out *out) {
    memset(out->carriers, 0, sizeof out->carriers);
    for (uint32_t number = out->oldest; number != out->next; number++)
        entry_of(out, number)->sent = false;
}

// ---- Receiving ----------------------------------------------------------------------------------

static struct hc_reliable_place *place_of(struct hc_reliable_in *in, uint32_t number) {
    return &in->places[number % HC_RELIABLE_WINDOW];
}

void hc_reliable_in_init(struct hc_reliable_in *in, uint32_t first, uint8_t *bytes,
                         uint32_t capacity) {
    HC_ASSERT(first > 0 && first <= HC_RELIABLE_NUMBER_MAX);
    HC_ASSERT(capacity >= HC_RELIABLE_STORE_MIN && capacity <= HC_RELIABLE_STORE_MAX);
    memset(in, 0, sizeof *in);
    in->bytes = bytes;
    in->capacity = capacity;
    in->next = first;
    in->expected = first;
}

/// A walk through the messages of a RELIABLE.
struct walk {
    struct hc_values values;
    uint64_t number; ///< of the current message
    const uint8_t *bytes;
    size_t size;
    bool begun;
};

static struct walk walk_begin(struct hc_values values) {
    struct walk walk = {.values = values};
    walk.number = hc_values_unsigned(&walk.values, HC_RELIABLE_NUMBER_MAX);
    walk.values.failed |= walk.number == 0 || walk.values.left == 0;
    return walk;
}

/// Makes the next message the current one; false after the last, or when walk->values.failed.
static bool walk_next(struct walk *walk) {
    struct hc_values *values = &walk->values;
    if (values->failed || values->left == 0)
        return false;
    walk->number += walk->begun;
    if (walk->begun && values->next->type == HC_VALUE_UNSIGNED) {
        uint64_t gap = hc_values_unsigned(values, GAP_MAX);
        values->failed |= gap == 0;
        walk->number += gap;
    }
    walk->begun = true;
    walk->bytes = hc_values_binary(values, &walk->size);
    values->failed |= walk->size == 0 || walk->size > HC_MESSAGE_SIZE_MAX;
    return !values->failed;
}

/// HC_OK for a new message; HC_DUPLICATE, HC_MALFORMED or HC_FULL.
static enum hc_status check_number(const struct hc_reliable_in *in, uint64_t number) {
    if (number < in->expected)
        return HC_DUPLICATE;
    if (number > HC_RELIABLE_NUMBER_MAX || number - in->expected >= HC_RELIABLE_WINDOW)
        return HC_MALFORMED;
    if (number - in->next >= HC_RELIABLE_WINDOW)
        return HC_FULL;
    return in->places[number % HC_RELIABLE_WINDOW].held ? HC_DUPLICATE : HC_OK;
}

/// Checks a RELIABLE; `*need`: bytes of the log that it takes.
static enum hc_status examine(const struct hc_reliable_in *in, struct hc_values values,
                              uint32_t *need) {
    bool full = false;
    uint32_t bytes = 0, count = 0;
    struct walk walk = walk_begin(values);
    while (walk_next(&walk)) {
        enum hc_status status = check_number(in, walk.number);
        if (status == HC_MALFORMED)
            return HC_MALFORMED;
        full |= status == HC_FULL;
        bytes += status == HC_DUPLICATE ? 0 : (uint32_t)walk.size;
        count += status != HC_DUPLICATE;
    }
    *need = bytes + count * HC_RELIABLE_RECORD;
    // The messages on the way begin at `expected` or before.
    if (walk.values.failed || in->early + bytes > HC_RELIABLE_BYTES_MAX)
        return HC_MALFORMED;
    return full || *need > in->capacity - in->held ? HC_FULL : HC_OK;
}

enum hc_status hc_reliable_check(const struct hc_reliable_in *in, struct hc_values values) {
    uint32_t need;
    return examine(in, values, &need);
}

/// Removes the gaps of the log.
static void compact(struct hc_reliable_in *in) {
    uint32_t to = 0;
    for (uint32_t at = 0, size; at < in->used; at += size) {
        struct hc_reliable_place *place = &in->places[in->bytes[at]];
        size = HC_RELIABLE_RECORD + in->bytes[at + 1];
        if (!place->held || place->at != at)
            continue;
        memmove(in->bytes + to, in->bytes + at, size);
        place->at = (uint16_t)to;
        to += size;
    }
    HC_ASSERT(to == in->held);
    in->used = to;
}

static void store(struct hc_reliable_in *in, uint32_t number, const uint8_t *bytes, uint8_t size) {
    HC_ASSERT(in->capacity - in->used >= (uint32_t)HC_RELIABLE_RECORD + size);
    struct hc_reliable_place *place = place_of(in, number);
    *place = (struct hc_reliable_place){.at = (uint16_t)in->used, .size = size, .held = true};
    in->bytes[in->used] = (uint8_t)(number % HC_RELIABLE_WINDOW);
    in->bytes[in->used + 1] = size;
    memcpy(in->bytes + in->used + HC_RELIABLE_RECORD, bytes, size);
    in->used += HC_RELIABLE_RECORD + size;
    in->held += HC_RELIABLE_RECORD + size;
    in->early += size;
    in->received++;
}

enum hc_status hc_reliable_take(struct hc_reliable_in *in, struct hc_values values) {
    uint32_t need;
    enum hc_status status = examine(in, values, &need);
    if (status != HC_OK)
        return status;
    if (need > in->capacity - in->used)
        compact(in);
    struct walk walk = walk_begin(values);
    while (walk_next(&walk)) {
        if (check_number(in, walk.number) == HC_OK)
            store(in, (uint32_t)walk.number, walk.bytes, (uint8_t)walk.size);
        else
            in->duplicates++;
    }
    // The window's first place follows its last, and may be held already.
    while (in->expected - in->next < HC_RELIABLE_WINDOW && place_of(in, in->expected)->held)
        in->early -= place_of(in, in->expected++)->size;
    return HC_OK;
}

const uint8_t *hc_reliable_next(struct hc_reliable_in *in, size_t *size) {
    *size = 0;
    if (in->next == in->expected)
        return NULL;
    struct hc_reliable_place *place = place_of(in, in->next++);
    HC_ASSERT(place->held);
    place->held = false;
    in->held -= (uint32_t)HC_RELIABLE_RECORD + place->size;
    *size = place->size;
    return in->bytes + place->at + HC_RELIABLE_RECORD;
}

// ---- Both ---------------------------------------------------------------------------------------

void hc_reliable_channel_begin(struct hc_reliable_channel *channel) {
    hc_reliable_out_init(&channel->out, 1, channel->bytes, HC_RELIABLE_BYTES_MAX);
    hc_reliable_in_init(&channel->in, 1, channel->bytes + HC_RELIABLE_BYTES_MAX,
                        HC_RELIABLE_STORE_MIN);
    hc_unreliable_begin(&channel->unreliable_out);
    hc_unreliable_begin(&channel->unreliable_in);
}

uint32_t hc_reliable_channel_take(struct hc_reliable_channel *channel, struct hc_body *body) {
    uint32_t before = channel->in.expected;
    hc_body_rewind(body);
    hc_body_next_of(body, HC_MESSAGE_RELIABLE);
    enum hc_status status = hc_reliable_take(&channel->in, hc_body_values(body));
    HC_ASSERT(status == HC_OK);
    return channel->in.expected - before;
}

uint32_t hc_reliable_channel_unread(const struct hc_reliable_channel *channel) {
    return channel->in.expected - channel->in.next;
}
