/// Bounds how far the wall clock may run ahead of the monotonic one.
#include "common/unix_time.h"

#include "common/elapsed.h"
#include "hindcast/check.h"

enum { SLEW_ONE_IN = 10000 }; ///< 100 ppm

/// Lets the offset that counts as right follow a reading's.
static void slew(struct hc_unix_time *time, uint64_t offset_us, uint64_t now_us) {
    uint64_t most_us = hc_since(time->slewed_us, now_us) / SLEW_ONE_IN;
    int64_t ahead_us = hc_offset(time->right_us, offset_us);
    time->slewed_us += most_us * SLEW_ONE_IN;
    if (ahead_us > (int64_t)most_us)
        ahead_us = (int64_t)most_us;
    if (ahead_us < -(int64_t)most_us)
        ahead_us = -(int64_t)most_us;
    time->right_us += (uint64_t)ahead_us;
}

void hc_unix_time_read(struct hc_unix_time *time, uint64_t unix_us, uint64_t now_us) {
    uint64_t offset_us = (uint64_t)hc_offset(now_us, unix_us);
    if (!time->read)
        *time = (struct hc_unix_time){.read = true, .right_us = offset_us, .slewed_us = now_us};
    slew(time, offset_us, now_us);
    time->ahead_us = hc_offset(time->right_us, offset_us);
    time->offset_us =
        time->ahead_us < HC_UNIX_AHEAD_US ? offset_us : time->right_us + HC_UNIX_AHEAD_US;
}

uint64_t hc_unix_time_us(const struct hc_unix_time *time, uint64_t now_us) {
    HC_ASSERT(time->read);
    return now_us + time->offset_us;
}

uint64_t hc_unix_time_latest_us(const struct hc_unix_time *time, uint64_t now_us) {
    HC_ASSERT(time->read);
    return now_us + (time->ahead_us < 0 ? time->right_us : time->offset_us);
}

bool hc_unix_time_stepped(const struct hc_unix_time *time) {
    return time->ahead_us > HC_UNIX_AHEAD_US || time->ahead_us < -HC_UNIX_AHEAD_US;
}
