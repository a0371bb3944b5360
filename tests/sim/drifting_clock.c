/// Computes what a client's clock shows, and when.
#include "tests/sim/drifting_clock.h"

uint64_t hc_sim_clock(uint64_t offset_us, int32_t ppm, uint64_t now) {
    int64_t drift = (int64_t)(now / 1000000) * ppm + (int64_t)(now % 1000000) * ppm / 1000000;
    return offset_us + now + (uint64_t)drift;
}

uint64_t hc_sim_clock_moment(uint64_t offset_us, int32_t ppm, uint64_t local) {
    if (local == UINT64_MAX)
        return UINT64_MAX;
    if (local <= offset_us)
        return 0;
    uint64_t span = local - offset_us;
    uint64_t rate = (uint64_t)(1000000 + ppm);
    uint64_t moment = span / rate * 1000000 + span % rate * 1000000 / rate;
    while (moment > 0 && hc_sim_clock(offset_us, ppm, moment - 1) >= local)
        moment--;
    while (hc_sim_clock(offset_us, ppm, moment) < local)
        moment++;
    return moment;
}
