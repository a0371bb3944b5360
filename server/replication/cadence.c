/// The credit of a cadence, and the cadence of bases.
#include "server/replication/cadence.h"

#include "hindcast/check.h"

bool hc_sv_cadence_sends(const struct hc_sv_cadence *cadence, hc_tick shown, hc_tick tick,
                         int32_t *credit) {
    int32_t price = (int32_t)cadence->period;
    int32_t earned = *credit + (int32_t)cadence->snapshots;
    bool sends = shown == HC_NO_TICK || earned >= 2 * price;
    if (!sends && earned >= 0)
        sends = hc_sv_cadence_number(cadence, tick) != hc_sv_cadence_number(cadence, shown);
    earned -= sends ? price : 0;
    *credit = earned < -price ? -price : earned < 2 * price ? earned : 2 * price;
    return sends;
}

/// Ticks from one snapshot of the client that may be a base to the next.
static uint32_t common_period(uint32_t whole, uint32_t every) {
    return every % whole == 0 ? every : every * whole; // `whole` is a prime, or 1
}

_Static_assert(HC_SV_WHOLE_EVERY == 2, "the least common multiple is the one or the product");

bool hc_sv_cadence_shares_bases(uint32_t every) {
    return every > 0 && common_period(HC_SV_WHOLE_EVERY, every) <= HC_SV_BASE_EVERY;
}

struct hc_sv_cadence hc_sv_cadence_of_bases(hc_tick tick, uint32_t whole, uint32_t every) {
    uint32_t own = every == 0 ? whole : common_period(whole, every);
    uint32_t period = every == 0 ? own : HC_SV_BASE_EVERY / own * own;
    HC_ASSERT(period > 0);
    return (struct hc_sv_cadence){
        .snapshots = 1, .period = period, .phase = (period - tick % own) % period};
}
