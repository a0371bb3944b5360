/// Owns the arithmetic of a time budget.
#include "server/daemon/time_budget.h"

bool hc_sv_time_budget_lasts(const struct hc_sv_time_budget *budget) {
    return budget->taken_us == 0 || budget->taken_us + budget->longest_us <= budget->limit_us;
}

void hc_sv_time_budget_take(struct hc_sv_time_budget *budget, uint64_t us) {
    budget->taken_us += us;
    if (us > budget->longest_us)
        budget->longest_us = us;
}

void hc_sv_time_budget_renew(struct hc_sv_time_budget *budget) {
    if (budget->taken_us > 0)
        hc_histogram_record(&budget->ticks_us, budget->taken_us);
    budget->taken_us = 0;
    budget->longest_us = 0;
}
