/// The addresses in use, and the acks of the present one.
#include "server/contest.h"

#include "common/elapsed.h"
#include "common/mark.h"

void hc_sv_contest_begin(struct hc_sv_contest *contest, const struct hc_address *home,
                         uint64_t now_us) {
    *contest = (struct hc_sv_contest){
        .present = {.held_us = now_us, .since = 1, .acked_us = now_us}, .home = *home};
}

void hc_sv_contest_note(struct hc_sv_contest *contest, uint64_t now_us) {
    HC_MARK("two-addresses-in-use");
    contest->any = true;
    contest->seen_us = now_us;
}

bool hc_sv_contest_is_on(const struct hc_sv_contest *contest, uint64_t now_us) {
    return contest->any && hc_since(contest->seen_us, now_us) < HC_PATH_IN_USE_US;
}

void hc_sv_contest_check_acks(struct hc_sv_contest *contest, const struct hc_connection *connection,
                              const struct hc_address *address, uint64_t now_us) {
    uint32_t sent = 0, missing = 0;
    if (connection->acked < contest->present.since ||
        connection->acked <= contest->present.loss_checked_to)
        return;
    for (uint32_t seq = connection->acked;
         seq >= contest->present.since && sent < HC_PATH_STALL_SEQS; seq--, sent++)
        missing += hc_sent_misses(&connection->sent, seq);
    contest->present.loss_checked_to = connection->acked;
    if (2 * missing > sent)
        return;
    contest->present.acked_us = now_us;
    if (sent == HC_PATH_STALL_SEQS && hc_since(contest->present.held_us, now_us) >= HC_PATH_HOME_US)
        contest->home = *address;
}

uint64_t hc_sv_contest_stall_us(const struct hc_connection *connection) {
    uint64_t us = HC_PATH_STALL_US + 2 * connection->srtt_us;
    return us < HC_PATH_STALL_MOST_US ? us : HC_PATH_STALL_MOST_US;
}

bool hc_sv_contest_stalls(const struct hc_sv_contest *contest,
                          const struct hc_connection *connection, uint64_t now_us) {
    return hc_since(contest->present.acked_us, now_us) >= hc_sv_contest_stall_us(connection);
}

bool hc_sv_contest_is_former(const struct hc_sv_contest *contest, const struct hc_address *from,
                             uint32_t seq, uint64_t now_us) {
    return contest->former.any && seq >= contest->former.first &&
           (hc_since(contest->former.moved_us, now_us) < HC_PATH_RETURN_US ||
            hc_sv_contest_is_on(contest, now_us)) &&
           hc_address_equal(from, &contest->former.address);
}

void hc_sv_contest_move(struct hc_sv_contest *contest, const struct hc_address *former,
                        uint32_t first, uint64_t now_us) {
    contest->former.any = true;
    contest->former.address = *former;
    contest->former.first = first;
    contest->former.moved_us = now_us;
}

void hc_sv_contest_take_back(struct hc_sv_contest *contest) {
    contest->former.any = false;
}

void hc_sv_contest_hold(struct hc_sv_contest *contest, uint32_t next, uint64_t now_us) {
    contest->present.since = next;
    contest->present.acked_us = contest->present.held_us = now_us;
}

void hc_sv_contest_shared(struct hc_sv_contest *contest, uint32_t next) {
    contest->present.since = next;
}

void hc_sv_contest_wait(struct hc_sv_contest *contest, uint64_t now_us) {
    if (contest->present.acked_us > contest->present.held_us)
        contest->present.acked_us = now_us;
}
