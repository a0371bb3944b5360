/// Unix time by two clocks: the wall clock, which may be set wrong, and the monotonic one.
///
/// Tokens expire by Unix time. A wall clock that is set ahead by mistake would expire all of them
/// at once; so the time is the wall clock's, but at most HC_UNIX_AHEAD_US ahead of the first
/// reading by the monotonic clock. A wall clock that is set back is followed at once. When it is
/// right again, the time is, too.
///
/// The first reading counts as right. It follows the newer ones by 100 ppm of the time that passes,
/// which is more than leap seconds and small corrections of a clock add up to.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { HC_UNIX_AHEAD_US = 5000000 };

/// All zeros is the state before the first reading.
struct hc_unix_time {
    bool read;
    uint64_t right_us;  ///< Unix time less the monotonic one, of a clock that was never set
    uint64_t slewed_us; ///< until when it has followed the newer readings, by the monotonic clock
    uint64_t offset_us; ///< Unix time less the monotonic one
    int64_t ahead_us;   ///< of the newest reading, from `right_us`
};

/// The wall clock shows `unix_us` at `now_us` of the monotonic clock.
void hc_unix_time_read(struct hc_unix_time *time, uint64_t unix_us, uint64_t now_us);

/// Unix time, microseconds. There was a reading.
uint64_t hc_unix_time_us(const struct hc_unix_time *time, uint64_t now_us);

/// Unix time, or that of a clock that was never set, if that is later: what is valid for a while
/// from then on is so whether the wall clock is set right meanwhile or not.
uint64_t hc_unix_time_latest_us(const struct hc_unix_time *time, uint64_t now_us);

/// Whether the wall clock was set by more than HC_UNIX_AHEAD_US, either way.
bool hc_unix_time_stepped(const struct hc_unix_time *time);
