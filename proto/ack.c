/// Acks: the replay window of the received seqs, and the ring of the sent ones.
#include "proto/ack.h"

#include "hindcast/check.h"

#include <string.h>

enum { RECEIVED_WORDS = HC_RECEIVED_WINDOW / 32 + 1 };

_Static_assert(HC_RECEIVED_WINDOW % 32 == 0, "the window is whole words");

static uint32_t word_of(uint32_t seq) {
    return seq / 32 % RECEIVED_WORDS;
}

static bool is_marked(const struct hc_received *received, uint32_t seq) {
    return received->bits[word_of(seq)] >> seq % 32 & 1;
}

enum hc_status hc_received_check(const struct hc_received *received, uint32_t seq) {
    if (seq == 0)
        return HC_MALFORMED;
    if (seq > received->newest)
        return HC_OK;
    if (received->newest - seq >= HC_RECEIVED_WINDOW)
        return HC_TOO_OLD;
    return is_marked(received, seq) ? HC_DUPLICATE : HC_OK;
}

void hc_received_accept(struct hc_received *received, uint32_t seq) {
    HC_ASSERT(hc_received_check(received, seq) == HC_OK);
    if (seq > received->newest) {
        // A word of the ring still holds the marks of seqs one ring earlier.
        uint32_t words = seq / 32 - received->newest / 32;
        if (words > RECEIVED_WORDS)
            words = RECEIVED_WORDS;
        for (uint32_t i = 0; i < words; i++)
            received->bits[(seq / 32 - i) % RECEIVED_WORDS] = 0;
        received->newest = seq;
    }
    received->bits[word_of(seq)] |= 1u << seq % 32;
}

/// The bits in the reverse order.
static uint32_t reverse(uint32_t bits) {
    bits = (bits & 0x55555555) << 1 | (bits >> 1 & 0x55555555);
    bits = (bits & 0x33333333) << 2 | (bits >> 2 & 0x33333333);
    bits = (bits & 0x0f0f0f0f) << 4 | (bits >> 4 & 0x0f0f0f0f);
    return __builtin_bswap32(bits);
}

uint32_t hc_received_ack_bits(const struct hc_received *received) {
    uint32_t newest = received->newest, before = newest - 32;
    uint64_t marks = (uint64_t)received->bits[word_of(newest)] << 32;
    if (newest >= 32)
        marks |= received->bits[word_of(before)];
    return reverse((uint32_t)(marks >> newest % 32)); // of the seqs from `before` to newest - 1
}

void hc_sent_init(struct hc_sent *sent, uint32_t first) {
    HC_ASSERT(first > 0);
    memset(sent, 0, sizeof *sent);
    sent->first = first;
    sent->next = first;
}

/// Takes a datagram out of flight.
static void leave(struct hc_sent *sent, struct hc_sent_entry *entry) {
    if (!entry->left)
        sent->in_flight -= entry->bytes;
    entry->left = true;
}

uint32_t hc_sent_next(struct hc_sent *sent, uint64_t now_us) {
    if (sent->next == UINT32_MAX)
        return 0;
    uint32_t seq = sent->next++;
    struct hc_sent_entry *entry = &sent->ring[seq % HC_SENT_RING];
    leave(sent, entry); // the datagram that it forgets
    *entry = (struct hc_sent_entry){.sent_us = now_us, .seq = seq};
    return seq;
}

void hc_sent_note_size(struct hc_sent *sent, uint16_t bytes) {
    struct hc_sent_entry *entry = &sent->ring[(sent->next - 1) % HC_SENT_RING];
    HC_ASSERT(entry->bytes == 0 && !entry->left);
    entry->bytes = bytes;
    sent->in_flight += bytes;
}

/// Whether every seq in the acks was sent.
static bool acks_possible(const struct hc_sent *sent, uint32_t ack, uint32_t ack_bits) {
    if (ack == 0)
        return ack_bits == 0;
    if (ack < sent->first || ack >= sent->next)
        return false;
    // Bit i names ack - 1 - i: ack - first bits are for seqs that exist.
    uint32_t existing = ack - sent->first;
    return existing >= 32 || ack_bits >> existing == 0;
}

/// Which of the seqs up to `ack` were acked before, bit i for ack - i, as far as that is noted: so
/// an ack reads no more of the ring than it is the first to ack.
static uint64_t acked_before(const struct hc_sent *sent, uint32_t ack) {
    uint32_t newer = ack - sent->acked, older = sent->acked - ack;
    if (ack >= sent->acked)
        return newer < 64 ? sent->acked_bits << newer : 0;
    return older < 64 ? sent->acked_bits >> older : 0;
}

/// Notes that the seqs `acked` were acked, bit i for ack - i.
static void note_acked(struct hc_sent *sent, uint32_t ack, uint64_t acked) {
    if (ack > sent->acked) {
        sent->acked_bits = acked_before(sent, ack) | acked;
        sent->acked = ack;
    } else if (sent->acked - ack < 64) {
        sent->acked_bits |= acked << (sent->acked - ack);
    }
}

enum hc_status hc_sent_acked(struct hc_sent *sent, uint32_t ack, uint32_t ack_bits,
                             struct hc_acked acked[static HC_ACKS_MAX], uint32_t *count) {
    *count = 0;
    if (!acks_possible(sent, ack, ack_bits))
        return HC_MALFORMED;
    if (ack == 0)
        return HC_OK;
    uint64_t named = (uint64_t)ack_bits << 1 | 1, first = 0;
    for (named &= ~acked_before(sent, ack); named != 0; named &= named - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(named);
        struct hc_sent_entry *entry = &sent->ring[(ack - i) % HC_SENT_RING];
        if (entry->seq != ack - i || entry->acked)
            continue;
        entry->acked = true;
        leave(sent, entry);
        first |= UINT64_C(1) << i;
        acked[(*count)++] =
            (struct hc_acked){.seq = entry->seq, .bytes = entry->bytes, .sent_us = entry->sent_us};
    }
    note_acked(sent, ack, first);
    return HC_OK;
}

bool hc_sent_when(const struct hc_sent *sent, uint32_t seq, uint64_t *sent_us) {
    const struct hc_sent_entry *entry = &sent->ring[seq % HC_SENT_RING];
    if (seq == 0 || entry->seq != seq)
        return false;
    *sent_us = entry->sent_us;
    return true;
}

void hc_sent_exempt(struct hc_sent *sent, uint32_t seq) {
    struct hc_sent_entry *entry = &sent->ring[seq % HC_SENT_RING];
    HC_ASSERT(seq != 0 && entry->seq == seq && seq + 1 == sent->next);
    entry->exempt = true;
    leave(sent, entry);
}

void hc_sent_lose(struct hc_sent *sent, uint32_t seq) {
    struct hc_sent_entry *entry = &sent->ring[seq % HC_SENT_RING];
    if (seq != 0 && entry->seq == seq)
        leave(sent, entry);
}

bool hc_sent_misses(const struct hc_sent *sent, uint32_t seq) {
    const struct hc_sent_entry *entry = &sent->ring[seq % HC_SENT_RING];
    return seq != 0 && entry->seq == seq && !entry->acked && !entry->exempt;
}
