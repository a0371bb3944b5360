/// Input delay and lead: how far ahead inputs are stamped and the prediction runs, chosen from the
/// margins of the own inputs where the game leaves a choice.
///
/// Both delays together are the least at which the low margin of the last HC_MARGIN_WINDOW_US would
/// not have been negative: all inputs but the worst HC_MARGIN_WORST_PERCENT are in time. So a link
/// that stops for 60 ms every few seconds raises no lead, and the delays change seldom; with the
/// least margin of a second each of its stops raised the lead by 2 ticks for 4 s.
/// The delays rise with a report that shows more to be needed, and fall when less was needed for
/// HC_CL_DELAYS_PROOF_US, the window of the first report included, the lead by HC_CL_DELAYS_FALL_US
/// at most: if it fell farther, a client would stand still until its server has caught up. The
/// input delay takes as much as it may, and the lead the rest; what then remains is rewound. A
/// report also covers inputs that were stamped before the delays changed: it is read by the least
/// delays of its time, so that nothing is corrected twice.
#pragma once

#include "client/link/margin.h"
#include "hindcast/client.h"

enum {
    HC_CL_DELAYS_PROOF_US = 4000000, ///< less was needed for so long before the delays fall
    HC_CL_DELAYS_FALL_US = 200000,   ///< by so much the lead falls at once: a slewed clock follows
    HC_CL_DELAYS_SPARE_US = 1000,    ///< a margin that counts as none: the client clock errs
};

/// Only delays.c writes to it. hc_cl_delays_begin begins.
struct hc_cl_delays {
    struct hc_client_timing bounds; ///< The delays that the game allows, as far as the server does.
    uint32_t input_delay;           ///< An input sampled at tick P is stamped P + input_delay.
    uint32_t lead;                  ///< The predicted tick is ahead of the server's by so many.
    uint32_t before;     ///< The least sum of both that reports cover, with `mixed_until`.
    hc_tick mixed_until; ///< Reports made before this server tick cover earlier delays; 0: none do.
    uint64_t report_us;  ///< The newest report came at this local time; 0: none has.
    uint64_t calm_us;    ///< Less than both was needed since this local time; 0: it is not.
    uint32_t peak;       ///< The most that was needed since then.
};

/// The time of a report.
struct hc_cl_delays_now {
    uint64_t now_us;    ///< local time
    uint64_t rtt_us;    ///< the smoothed round trip
    uint32_t tick_rate; ///< Hz
};

/// Begins with what `timing` allows, on a server that takes inputs up to `future` ticks after its
/// head: an automatic input delay begins with its maximum, an automatic lead with its minimum.
/// True: `future` has limited the delays.
bool hc_cl_delays_begin(struct hc_cl_delays *delays, const struct hc_client_timing *timing,
                        uint32_t future);

/// Takes another choice of the game. Delays in effect stay as far as it allows them. True: `future`
/// has limited them.
bool hc_cl_delays_allow(struct hc_cl_delays *delays, const struct hc_client_timing *timing,
                        uint32_t future);

/// Takes the newest report of the margins, once.
void hc_cl_delays_take(struct hc_cl_delays *delays, const struct hc_cl_margin *margin,
                       const struct hc_cl_delays_now *now);
