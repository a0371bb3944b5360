/// The notices of a server, and which of them each client has.
///
/// The newest notices are in a ring; a client gets them one by one, each until it has acked it, in
/// the order of their numbers. So a notice takes no memory of each client, and a client that acks
/// nothing for long misses those that newer ones have replaced in the ring.
///
/// For a client: hc_sv_delivery_begin; before each of its datagrams hc_sv_delivery_next, and
/// hc_sv_delivery_sent if the datagram has that notice; hc_sv_delivery_acked and
/// hc_sv_delivery_lost.
#pragma once

#include "proto/notice.h"

enum {
    HC_SV_NOTICES = 32, ///< the newest ones, which clients can still be sent
    HC_SV_NOTICE_SEQS = 4,
    HC_SV_NOTICE_TO_ALL = UINT16_MAX,
};

struct hc_sv_notice {
    struct hc_notice notice;
    uint64_t until_us; ///< its seconds end then
    uint16_t place;    ///< of the peer that it is for, or HC_SV_NOTICE_TO_ALL
};

/// Zeros are the beginning.
struct hc_sv_notices {
    uint32_t newest;                         ///< number of the newest notice; 0: there was none
    struct hc_sv_notice ring[HC_SV_NOTICES]; ///< by number
};

/// The notices that a client has, and the next one, which is on its way.
struct hc_sv_delivery {
    uint32_t number;                  ///< this notice and those before are acked, or not for it
    uint32_t seqs[HC_SV_NOTICE_SEQS]; ///< of the newest datagrams with the next one; 0: none
    uint32_t sends;                   ///< datagrams with it
    uint64_t due_us;                  ///< The next one is sent again then.
};

/// Adds a notice, for which hc_notice_check holds, for the peer in `place` or for all.
void hc_sv_notices_add(struct hc_sv_notices *notices, const struct hc_notice *notice,
                       uint16_t place, uint64_t now_us);

/// Begins a session: its client gets the notices from now on.
void hc_sv_delivery_begin(struct hc_sv_delivery *delivery, const struct hc_sv_notices *notices);

/// A new connection of the session begins: a notice that is not acked is sent again.
void hc_sv_delivery_continue(struct hc_sv_delivery *delivery);

/// The number of the notice that is due to the client in `place`, which it writes to `*notice`,
/// with the seconds that are left; 0: none. Adds those that it misses to `*missed`.
uint32_t hc_sv_delivery_next(struct hc_sv_delivery *delivery, const struct hc_sv_notices *notices,
                             uint16_t place, struct hc_notice *notice, uint64_t *missed,
                             uint64_t now_us);

/// The datagram `seq` has the notice. It is sent again after `resend_us` without an ack.
void hc_sv_delivery_sent(struct hc_sv_delivery *delivery, uint32_t seq, uint64_t resend_us,
                         uint64_t now_us);

/// The client acked the datagram `seq`.
void hc_sv_delivery_acked(struct hc_sv_delivery *delivery, uint32_t seq);

/// The datagram `seq` is lost: its notice need not wait for the time after which it is sent again.
void hc_sv_delivery_lost(struct hc_sv_delivery *delivery, uint32_t seq);
