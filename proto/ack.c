/// Acks: the replay window of the received seqs, and the ring of the sent ones.
#include "proto/ack.h"

#include "hindcast/check.h"

#include <string.h>

enum { REPLAY_WORDS = HC_REPLAY_WINDOW / 32 + 1 };

_Static_assert(HC_REPLAY_WINDOW % 32 == 0, "the window is whole words");

static uint32_t word_of(uint32_t seq) {
    return seq / 32 % REPLAY_WORDS;
}

static bool is_marked(const struct hc_replay *replay, uint32_t seq) {
    return replay->bits[word_of(seq)] >> seq % 32 & 1;
}

enum hc_status hc_replay_check(const struct hc_replay *replay, uint32_t seq) {
    if (seq == 0)
        return HC_MALFORMED;
    if (seq > replay->newest)
        return HC_OK;
    if (replay->newest - seq >= HC_REPLAY_WINDOW)
        return HC_TOO_OLD;
    return is_marked(replay, seq) ? HC_DUPLICATE : HC_OK;
}

void hc_replay_accept(struct hc_replay *replay, uint32_t seq) {
    HC_ASSERT(hc_replay_check(replay, seq) == HC_OK);
    if (seq > replay->newest) {
        // A word of the ring still holds the marks of seqs one ring earlier.
        uint32_t words = seq / 32 - replay->newest / 32;
        if (words > REPLAY_WORDS)
            words = REPLAY_WORDS;
        for (uint32_t i = 0; i < words; i++)
            replay->bits[(seq / 32 - i) % REPLAY_WORDS] = 0;
        replay->newest = seq;
    }
    replay->bits[word_of(seq)] |= 1u << seq % 32;
}

uint32_t hc_replay_ack_bits(const struct hc_replay *replay) {
    uint32_t bits = 0;
    for (uint32_t i = 0; i < 32 && replay->newest > i + 1; i++)
        bits |= (uint32_t)is_marked(replay, replay->newest - 1 - i) << i;
    return bits;
}

void hc_sent_init(struct hc_sent *sent, uint32_t first) {
    HC_ASSERT(first > 0);
    memset(sent, 0, sizeof *sent);
    sent->first = first;
    sent->next = first;
}

uint32_t hc_sent_next(struct hc_sent *sent, uint64_t now_us) {
    if (sent->next == UINT32_MAX)
        return 0;
    uint32_t seq = sent->next++;
    sent->ring[seq % HC_SENT_RING] = (struct hc_sent_entry){.sent_us = now_us, .seq = seq};
    return seq;
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

enum hc_status hc_sent_acked(struct hc_sent *sent, uint32_t ack, uint32_t ack_bits,
                             struct hc_acked acked[static HC_ACKS_MAX], uint32_t *count) {
    *count = 0;
    if (!acks_possible(sent, ack, ack_bits))
        return HC_MALFORMED;
    if (ack == 0)
        return HC_OK;
    uint64_t named = (uint64_t)ack_bits << 1 | 1;
    for (uint32_t i = 0; i < HC_ACKS_MAX; i++) {
        if ((named >> i & 1) == 0)
            continue;
        struct hc_sent_entry *entry = &sent->ring[(ack - i) % HC_SENT_RING];
        if (entry->seq != ack - i || entry->acked)
            continue;
        entry->acked = true;
        acked[(*count)++] = (struct hc_acked){.seq = entry->seq, .sent_us = entry->sent_us};
    }
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
}

bool hc_sent_misses(const struct hc_sent *sent, uint32_t seq) {
    const struct hc_sent_entry *entry = &sent->ring[seq % HC_SENT_RING];
    return seq != 0 && entry->seq == seq && !entry->acked && !entry->exempt;
}
