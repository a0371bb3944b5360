/// The tournament tree of deadlines.
#include "tests/sim/deadlines.h"

#include "hindcast/check.h"

#include <stdlib.h>

struct hc_deadlines {
    uint32_t leaves;  ///< a power of two
    uint32_t *winner; ///< [2 * leaves] the entry that wins below each node; leaves stand last
    uint64_t *when;   ///< [leaves]
};

static uint32_t earlier(const struct hc_deadlines *deadlines, uint32_t node) {
    uint32_t left = deadlines->winner[2 * node], right = deadlines->winner[2 * node + 1];
    return deadlines->when[right] < deadlines->when[left] ? right : left;
}

struct hc_deadlines *hc_deadlines_create(uint32_t count) {
    HC_ASSERT(count >= 1 && count <= 1u << 20);
    struct hc_deadlines *deadlines = calloc(1, sizeof *deadlines);
    if (deadlines == NULL)
        return NULL;
    deadlines->leaves = 1;
    while (deadlines->leaves < count)
        deadlines->leaves *= 2;
    deadlines->winner = calloc(2 * (size_t)deadlines->leaves, sizeof *deadlines->winner);
    deadlines->when = calloc(deadlines->leaves, sizeof *deadlines->when);
    if (deadlines->winner == NULL || deadlines->when == NULL) {
        hc_deadlines_destroy(deadlines);
        return NULL;
    }
    for (uint32_t i = 0; i < deadlines->leaves; i++) {
        deadlines->winner[deadlines->leaves + i] = i;
        deadlines->when[i] = UINT64_MAX;
    }
    for (uint32_t node = deadlines->leaves - 1; node >= 1; node--)
        deadlines->winner[node] = earlier(deadlines, node);
    return deadlines;
}

void hc_deadlines_destroy(struct hc_deadlines *deadlines) {
    if (deadlines == NULL)
        return;
    free(deadlines->winner);
    free(deadlines->when);
    free(deadlines);
}

void hc_deadlines_set(struct hc_deadlines *deadlines, uint32_t entry, uint64_t when) {
    HC_ASSERT(entry < deadlines->leaves);
    deadlines->when[entry] = when;
    for (uint32_t node = (deadlines->leaves + entry) / 2; node >= 1; node /= 2)
        deadlines->winner[node] = earlier(deadlines, node);
}

uint64_t hc_deadlines_first(const struct hc_deadlines *deadlines, uint32_t *entry) {
    *entry = deadlines->winner[1];
    return deadlines->when[*entry];
}
