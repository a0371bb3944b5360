/// Measures the margins of a client's inputs, and reports the low one and the median.
#include "server/margin.h"

#include "common/elapsed.h"
#include "common/prefetch.h"

#include <stddef.h>
#include <string.h>

/// The time from an arrival to a due time in units, rounded down and limited.
static int16_t in_units(uint64_t arrived_us, uint64_t due_us) {
    int64_t us = hc_offset(arrived_us, due_us);
    int64_t units = us / HC_MARGIN_UNIT_US - (us % HC_MARGIN_UNIT_US < 0);
    if (units > HC_MARGIN_MAX)
        return HC_MARGIN_MAX;
    return units < -HC_MARGIN_MAX - 1 ? -HC_MARGIN_MAX - 1 : (int16_t)units;
}

/// The place in `sorted` of the first margin that is at least `value`.
static uint32_t place_of(const struct hc_sv_margin *margin, int16_t value) {
    uint32_t low = 0, high = margin->count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (margin->sorted[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void remove_oldest(struct hc_sv_margin *margin) {
    int16_t *at = margin->sorted + place_of(margin, margin->samples[margin->first].units);
    margin->count--;
    margin->first = (margin->first + 1) % HC_MARGIN_SAMPLES;
    memmove(at, at + 1, (size_t)(margin->sorted + margin->count - at) * sizeof *at);
}

static void add(struct hc_sv_margin *margin, int16_t value, uint64_t arrived_us) {
    if (margin->count == HC_MARGIN_SAMPLES)
        remove_oldest(margin);
    uint32_t next = (margin->first + margin->count) % HC_MARGIN_SAMPLES;
    int16_t *at = margin->sorted + place_of(margin, value);
    memmove(at + 1, at, (size_t)(margin->sorted + margin->count - at) * sizeof *at);
    *at = value;
    margin->samples[next] = (struct hc_sv_margin_sample){.at_us = arrived_us, .units = value};
    margin->count++;
}

void hc_sv_margin_input(struct hc_sv_margin *margin, hc_tick newest, uint64_t due_us,
                        uint64_t arrived_us) {
    if (margin->any && newest <= margin->newest)
        return;
    margin->any = true;
    margin->newest = newest;
    add(margin, in_units(arrived_us, due_us), arrived_us);
}

void hc_sv_margin_prefetch(const struct hc_sv_margin *margin) {
    hc_prefetch(margin, offsetof(struct hc_sv_margin, sorted));
}

bool hc_sv_margin_report(struct hc_sv_margin *margin, uint64_t now_us, struct hc_margin *report) {
    while (margin->count > 0 &&
           hc_since(margin->samples[margin->first].at_us, now_us) >= HC_MARGIN_WINDOW_US)
        remove_oldest(margin);
    if (!margin->any)
        return false;
    *report = (struct hc_margin){.samples = (uint16_t)margin->count};
    if (margin->count > 0) {
        report->low = margin->sorted[margin->count * HC_MARGIN_WORST_PERCENT / 100];
        report->median = margin->sorted[(margin->count - 1) / 2];
    }
    const struct hc_margin *before = &margin->report;
    bool other = !margin->reported || (report->samples == 0) != (before->samples == 0) ||
                 report->low < before->low;
    if (!other && hc_since(margin->reported_us, now_us) < HC_MARGIN_REPORT_US)
        return false;
    margin->reported = true;
    margin->reported_us = now_us;
    margin->report = *report;
    return true;
}
