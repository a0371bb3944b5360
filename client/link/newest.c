/// Owns the header of the newest snapshot.
#include "client/link/newest.h"

#include "hindcast/check.h"

bool hc_cl_newest_has_overtaken(const struct hc_cl_newest *newest, hc_tick as_of) {
    return newest->any && as_of <= newest->snapshot.as_of;
}

void hc_cl_newest_take(struct hc_cl_newest *newest, const struct hc_snapshot *header,
                       uint64_t now_us) {
    newest->any = true;
    newest->at_us = now_us;
    newest->snapshot = *header;
    if (header->has_chain) {
        newest->has_chain = true;
        newest->final = header->final;
        newest->chain = header->chain;
    }
}

hc_tick hc_cl_newest_wanted(const struct hc_cl_newest *newest) {
    const struct hc_snapshot *snapshot = &newest->snapshot;
    hc_tick wanted = HC_NO_TICK;
    HC_ASSERT(newest->any);
    for (uint8_t i = 0; i < snapshot->own_count; i++)
        wanted = hc_tick_min(wanted, snapshot->inputs_through[i] + 1);
    return hc_tick_max(wanted, snapshot->refused_before);
}
