/// Limits how often something may happen.
#include "common/limit.h"

bool hc_limit_exceeds(uint64_t *until_us, uint64_t cost_us, uint64_t burst_us, uint64_t now_us) {
    uint64_t from_us = *until_us > now_us ? *until_us : now_us;
    if (from_us + cost_us > now_us + burst_us)
        return true;
    *until_us = from_us + cost_us;
    return false;
}
