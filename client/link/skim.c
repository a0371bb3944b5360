/// Reads the beginnings of snapshots.
#include "client/link/skim.h"

enum hc_status hc_cl_skim(const struct hc_body *body, hc_tick near, uint8_t own_count,
                          struct hc_cl_skimmed *out) {
    struct hc_snapshot_forced forced;
    struct hc_bits_reader bits;
    enum hc_status status = hc_snapshot_get_message(body, &bits);
    if (status != HC_OK)
        return status;
    out->forced_count = 0;
    hc_snapshot_get(&bits, near, own_count, &out->header);
    while (hc_snapshot_get_forced(&bits, &out->header, &forced)) {
        if (out->forced_count == HC_SNAPSHOT_FORCED_MAX)
            return HC_MALFORMED;
        out->forced[out->forced_count++] = forced;
    }
    return bits.failed ? HC_MALFORMED : HC_OK;
}
