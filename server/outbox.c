/// The ring of replies, the copy, and the cursor.
#include "server/outbox.h"

#include "hindcast/check.h"

#include <string.h>

void hc_sv_outbox_init(struct hc_sv_outbox *outbox) {
    outbox->first = outbox->count = 0;
    outbox->copy.size = 0;
    outbox->cursor = 0;
}

bool hc_sv_outbox_is_full(const struct hc_sv_outbox *outbox) {
    return outbox->count == HC_REPLIES_MAX;
}

bool hc_sv_outbox_is_crowded(const struct hc_sv_outbox *outbox) {
    return outbox->count >= HC_SV_OUTBOX_CROWDED;
}

static void put(struct hc_sv_waiting *waiting, const struct hc_address *to, const uint8_t *bytes,
                size_t size) {
    HC_ASSERT(size <= sizeof waiting->bytes);
    waiting->to = *to;
    waiting->size = size;
    memcpy(waiting->bytes, bytes, size);
}

void hc_sv_outbox_reply(struct hc_sv_outbox *outbox, const struct hc_address *to,
                        const uint8_t *bytes, size_t size) {
    HC_ASSERT(!hc_sv_outbox_is_full(outbox));
    put(&outbox->replies[(outbox->first + outbox->count++) % HC_REPLIES_MAX], to, bytes, size);
}

void hc_sv_outbox_copy(struct hc_sv_outbox *outbox, const struct hc_address *to,
                       const uint8_t *bytes, size_t size) {
    HC_ASSERT(outbox->copy.size == 0);
    put(&outbox->copy, to, bytes, size);
}

static size_t get(const struct hc_sv_waiting *waiting, struct hc_address *to, uint8_t *out) {
    *to = waiting->to;
    memcpy(out, waiting->bytes, waiting->size);
    return waiting->size;
}

size_t hc_sv_outbox_take(struct hc_sv_outbox *outbox, struct hc_address *to,
                         uint8_t out[static HC_DATAGRAM_MAX]) {
    size_t size = get(&outbox->copy, to, out);
    outbox->copy.size = 0;
    if (size > 0 || outbox->count == 0)
        return size;
    size = get(&outbox->replies[outbox->first], to, out);
    outbox->first = (outbox->first + 1) % HC_REPLIES_MAX;
    outbox->count--;
    return size;
}

void hc_sv_outbox_seek(struct hc_sv_outbox *outbox, unsigned place) {
    outbox->cursor = place;
}
