/// Follows how late a client's inputs usually are.
#include "server/lateness.h"

void hc_sv_lateness_begin(struct hc_sv_lateness *lateness) {
    *lateness = (struct hc_sv_lateness){.any = false};
}

void hc_sv_lateness_input(struct hc_sv_lateness *lateness, hc_tick newest) {
    if ((lateness->any || lateness->received) && newest <= lateness->newest)
        return;
    lateness->newest = newest;
    lateness->received = true;
}

void hc_sv_lateness_tick(struct hc_sv_lateness *lateness, hc_tick head, uint32_t rate) {
    bool received = lateness->received;
    if (!lateness->any && !received)
        return;
    uint32_t late = (head - hc_tick_min(head, lateness->newest)) * HC_SV_LATENESS_PARTS;
    lateness->received = false;
    if (!lateness->any) {
        lateness->any = true;
        lateness->usual = late;
        return;
    }
    if (received) {
        lateness->age += lateness->age < rate;
        lateness->later_in_row = late > lateness->usual ? lateness->later_in_row + 1 : 0;
    }
    bool fast = lateness->age < rate || lateness->later_in_row >= rate;
    uint32_t step = fast ? HC_SV_LATENESS_PARTS : 1;
    if (late < lateness->usual)
        lateness->usual -= step < lateness->usual - late ? step : lateness->usual - late;
    else if (received) // otherwise an input may have been lost
        lateness->usual += step < late - lateness->usual ? step : late - lateness->usual;
}

uint32_t hc_sv_lateness_limit(const struct hc_sv_lateness *lateness, uint32_t late_margin,
                              uint32_t history) {
    if (!lateness->any)
        return history;
    uint64_t ticks = (lateness->usual + HC_SV_LATENESS_PARTS - 1) / HC_SV_LATENESS_PARTS;
    ticks += UINT64_C(1) + late_margin;
    return ticks < history ? (uint32_t)ticks : history;
}
