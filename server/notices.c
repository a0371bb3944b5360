/// Owns the ring of notices, and what a client has of them.
#include "server/notices.h"

#include "common/elapsed.h"
#include "hindcast/check.h"

#include <string.h>

static const struct hc_sv_notice *at(const struct hc_sv_notices *notices, uint32_t number) {
    return &notices->ring[number % HC_SV_NOTICES];
}

void hc_sv_notices_add(struct hc_sv_notices *notices, const struct hc_notice *notice,
                       uint16_t place, uint64_t now_us) {
    HC_ASSERT(notices->newest < UINT32_MAX); // 1,000 a second take 49 days
    notices->newest++;
    notices->ring[notices->newest % HC_SV_NOTICES] =
        (struct hc_sv_notice){.notice = *notice,
                              .until_us = now_us + notice->seconds * UINT64_C(1000000),
                              .place = place};
}

void hc_sv_delivery_begin(struct hc_sv_delivery *delivery, const struct hc_sv_notices *notices) {
    *delivery = (struct hc_sv_delivery){.number = notices->newest};
}

void hc_sv_delivery_continue(struct hc_sv_delivery *delivery) {
    *delivery = (struct hc_sv_delivery){.number = delivery->number};
}

/// Seconds of the notice that are left, at least one of those that it had.
static uint32_t seconds_left(const struct hc_sv_notice *notice, uint64_t now_us) {
    uint64_t left_us = hc_since(now_us, notice->until_us), left_s = (left_us + 999999) / 1000000;
    if (notice->notice.seconds == 0)
        return 0;
    return left_s > 0 ? (uint32_t)left_s : 1;
}

uint32_t hc_sv_delivery_next(struct hc_sv_delivery *delivery, const struct hc_sv_notices *notices,
                             uint16_t place, struct hc_notice *notice, uint64_t *missed,
                             uint64_t now_us) {
    uint32_t replaced = notices->newest > HC_SV_NOTICES ? notices->newest - HC_SV_NOTICES : 0;
    if (delivery->number < replaced) {
        *missed += replaced - delivery->number;
        *delivery = (struct hc_sv_delivery){.number = replaced};
    }
    while (delivery->number < notices->newest) {
        const struct hc_sv_notice *next = at(notices, delivery->number + 1);
        if (next->place == place || next->place == HC_SV_NOTICE_TO_ALL) {
            if (delivery->sends > 0 && now_us < delivery->due_us)
                return 0;
            *notice = next->notice;
            notice->seconds = seconds_left(next, now_us);
            return delivery->number + 1;
        }
        delivery->number++;
    }
    return 0;
}

void hc_sv_delivery_sent(struct hc_sv_delivery *delivery, uint32_t seq, uint64_t resend_us,
                         uint64_t now_us) {
    delivery->seqs[delivery->sends++ % HC_SV_NOTICE_SEQS] = seq;
    delivery->due_us = now_us + resend_us;
}

/// Whether one of the newest datagrams with the notice is `seq`.
static bool has(const struct hc_sv_delivery *delivery, uint32_t seq) {
    bool found = false;
    for (unsigned i = 0; i < HC_SV_NOTICE_SEQS; i++)
        found |= delivery->seqs[i] == seq;
    return found;
}

void hc_sv_delivery_acked(struct hc_sv_delivery *delivery, uint32_t seq) {
    if (delivery->sends > 0 && has(delivery, seq))
        *delivery = (struct hc_sv_delivery){.number = delivery->number + 1};
}

void hc_sv_delivery_lost(struct hc_sv_delivery *delivery, uint32_t seq) {
    if (delivery->sends > 0 && delivery->seqs[(delivery->sends - 1) % HC_SV_NOTICE_SEQS] == seq)
        delivery->due_us = 0;
}
