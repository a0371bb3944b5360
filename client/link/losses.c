/// Counts recent losses in both directions.
#include "client/link/losses.h"

enum {
    LOSS_SHIFT = 6, ///< an outcome counts for 1/64
    LOSS_SPAN = 64, ///< datagrams of the server that are examined at most
    MILLION = 1000000,
};

void hc_cl_losses_count(struct hc_cl_losses *losses, uint32_t acked, uint32_t lost) {
    for (; acked > 0; acked--)
        losses->up_ppm -= losses->up_ppm >> LOSS_SHIFT;
    for (; lost > 0; lost--)
        losses->up_ppm += (MILLION - losses->up_ppm) >> LOSS_SHIFT;
}

uint32_t hc_cl_losses_down_ppm(const struct hc_received *received) {
    uint32_t missing = 0, examined = 0;
    for (uint32_t back = HC_LOST_AFTER; back < HC_LOST_AFTER + LOSS_SPAN; back++) {
        if (back >= received->newest)
            break;
        examined++;
        missing += hc_received_check(received, received->newest - back) == HC_OK;
    }
    return examined == 0 ? 0 : (uint32_t)((uint64_t)missing * MILLION / examined);
}
