#include "server/daemon/time_budget.h"

bool hc_sv_time_budget_lasts(const struct hc_sv_time_budget *share) {
    return share->taken_us == 0 || share->taken_us + share->longest_us <= share->limit_us;
}

void hc_sv_time_budget_take(struct hc_sv_time_budget *share, uint64_t us) {
    share->taken_us += us;
    if (us > share->longest_us)
        share->longest_us = us;
}

void hc_sv_time_budget_renew(struct hc_sv_time_budget *share) {
    if (share->taken_us > 0)
        hc_histogram_record(&share->ticks_us, share->taken_us);
    share->taken_us = 0;
    share->longest_us = 0;
}
