/// The margin of a client's inputs: how long before its tick began at the server an input came.
///
/// An input drives the step from its tick to the next one, and the server takes that step when the
/// next tick is due. The margin is the time from the arrival of the input to that moment, negative
/// if the input came later. It is measured by the kernel's arrival stamp and the schedule of ticks,
/// so it does not depend on when the server got around to either. A round trip shows both
/// directions together; the margin shows the client's own direction, and its clock.
///
/// A DATA counts once, by its newest input, if that is newer than all before: repeated, duplicated
/// and overtaken inputs came earlier. The margins of HC_MARGIN_WINDOW_US are kept sorted: so the
/// low one and the median are at hand for each snapshot. The low margin is the least but the worst
/// HC_MARGIN_WORST_PERCENT, rounded down: a single datagram that was delayed does not lower it.
///
/// Margins are of a connection; all zeros begins one. Calls: hc_sv_margin_input for each datagram
/// with inputs, hc_sv_margin_report for each snapshot.
#pragma once

#include "proto/limits.h"
#include "proto/snapshot.h"

/// The margin of a DATA.
struct hc_sv_margin_sample {
    uint64_t at_us; ///< its arrival
    int16_t units;  ///< of HC_MARGIN_UNIT_US
};

/// The members that every snapshot reads come first.
struct hc_sv_margin {
    bool any;                          ///< an input has come
    bool reported;                     ///< a report was made
    hc_tick newest;                    ///< stamp of the newest input; meaningful while `any`
    uint64_t reported_us;              ///< when the newest report was made
    struct hc_margin report;           ///< the newest one
    uint32_t first;                    ///< place of the oldest sample
    uint32_t count;                    ///< samples
    int16_t sorted[HC_MARGIN_SAMPLES]; ///< margins of the samples in ascending order, [count]
    struct hc_sv_margin_sample samples[HC_MARGIN_SAMPLES]; ///< a ring
};

/// Notes a datagram whose newest input has the stamp `newest`, at most head + future. It came at
/// `arrived_us`; the step that the input drives is due at `due_us`.
void hc_sv_margin_input(struct hc_sv_margin *margin, hc_tick newest, uint64_t due_us,
                        uint64_t arrived_us);

/// Begins to load what the next report reads, if no sample becomes too old, into the processor's
/// cache.
void hc_sv_margin_prefetch(const struct hc_sv_margin *margin);

/// Whether a snapshot that is made at `now_us` reports the margin, and the report: when there is
/// one for the first time, when its low margin is less than in the report before, when margins
/// cease or come again, and at the latest HC_MARGIN_REPORT_US after the report before, which may
/// be lost.
bool hc_sv_margin_report(struct hc_sv_margin *margin, uint64_t now_us, struct hc_margin *report);
