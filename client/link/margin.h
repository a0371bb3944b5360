/// The newest report of the margin of the own inputs: how long before its tick began at the server
/// the newest input of a DATA came there, negative if it came later.
///
/// The server measures it, and reports the low one and the median of HC_MARGIN_WINDOW_US in some
/// snapshots. With an input delay or a lead that is greater by so much as the low margin is
/// negative, no input of that time would have been late but the worst HC_MARGIN_WORST_PERCENT; with
/// a lower one by so much as it is positive, neither.
#pragma once

#include "proto/snapshot.h"

/// Only margin.c writes to it. Zeros: no report has come on this connection.
struct hc_cl_margin {
    bool known;        ///< Some inputs came to the server in the time of the newest report.
    int32_t low_us;    ///< The low margin of that time; 0 while it is not known.
    int32_t median_us; ///< The median of that time; 0 while it is not known.
    uint32_t samples;  ///< The report covers so many DATA.
    hc_tick as_of;     ///< The server's head when it made the report.
    uint64_t at_us;    ///< The report came at this local time; 0: none has come.
};

/// Takes the report of a snapshot that was not overtaken, if it has one.
void hc_cl_margin_take(struct hc_cl_margin *margin, const struct hc_snapshot *header,
                       uint64_t now_us);
