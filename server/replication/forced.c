/// The ranges of a client's forced inputs.
#include "server/replication/forced.h"

#include "common/mark.h"
#include "proto/message.h"

#include <string.h>

void hc_sv_forced_add(struct hc_sv_forced *forced, hc_player player, hc_tick first,
                      uint32_t count) {
    for (unsigned i = 0; i < forced->count; i++) {
        struct hc_sv_forced_range *range = &forced->ranges[i];
        if (range->player != player || range->first + range->count != first ||
            range->count + count > HC_INPUT_RUN_MAX)
            continue;
        range->count += count;
        range->sent_since = 0;
        return;
    }
    if (forced->count == HC_SV_FORCED_RANGES) {
        HC_MARK("forced-ranges-full");
        memmove(forced->ranges, forced->ranges + 1, --forced->count * sizeof forced->ranges[0]);
    }
    forced->ranges[forced->count++] =
        (struct hc_sv_forced_range){.player = player, .first = first, .count = count};
}

void hc_sv_forced_acked(struct hc_sv_forced *forced, uint32_t seq) {
    unsigned left = 0;
    for (unsigned i = 0; i < forced->count; i++)
        if (forced->ranges[i].sent_since == 0 || seq < forced->ranges[i].sent_since)
            forced->ranges[left++] = forced->ranges[i];
    forced->count = left;
}
