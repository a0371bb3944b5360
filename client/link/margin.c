/// Takes the server's reports of the margin.
#include "client/link/margin.h"

void hc_cl_margin_take(struct hc_cl_margin *margin, const struct hc_snapshot *header,
                       uint64_t now_us) {
    if (!header->has_margin)
        return;
    const struct hc_margin *report = &header->margin;
    *margin = (struct hc_cl_margin){.known = report->samples > 0,
                                    .low_us = report->low * HC_MARGIN_UNIT_US,
                                    .median_us = report->median * HC_MARGIN_UNIT_US,
                                    .samples = report->samples,
                                    .as_of = header->as_of,
                                    .at_us = now_us};
}
