#include "tests/sim/agenda.h"

#include "hindcast/check.h"

#include <stdlib.h>

struct hc_agenda {
    uint32_t leaves;  ///< a power of two
    uint32_t *winner; ///< [2 * leaves] the entry that wins below each node; leaves stand last
    uint64_t *when;   ///< [leaves]
};

static uint32_t play(const struct hc_agenda *agenda, uint32_t node) {
    uint32_t left = agenda->winner[2 * node], right = agenda->winner[2 * node + 1];
    return agenda->when[right] < agenda->when[left] ? right : left;
}

struct hc_agenda *hc_agenda_create(uint32_t count) {
    HC_ASSERT(count >= 1 && count <= 1u << 20);
    struct hc_agenda *agenda = calloc(1, sizeof *agenda);
    if (agenda == NULL)
        return NULL;
    agenda->leaves = 1;
    while (agenda->leaves < count)
        agenda->leaves *= 2;
    agenda->winner = calloc(2 * (size_t)agenda->leaves, sizeof *agenda->winner);
    agenda->when = calloc(agenda->leaves, sizeof *agenda->when);
    if (agenda->winner == NULL || agenda->when == NULL) {
        hc_agenda_destroy(agenda);
        return NULL;
    }
    for (uint32_t i = 0; i < agenda->leaves; i++) {
        agenda->winner[agenda->leaves + i] = i;
        agenda->when[i] = UINT64_MAX;
    }
    for (uint32_t node = agenda->leaves - 1; node >= 1; node--)
        agenda->winner[node] = play(agenda, node);
    return agenda;
}

void hc_agenda_destroy(struct hc_agenda *agenda) {
    if (agenda == NULL)
        return;
    free(agenda->winner);
    free(agenda->when);
    free(agenda);
}

void hc_agenda_set(struct hc_agenda *agenda, uint32_t entry, uint64_t when) {
    HC_ASSERT(entry < agenda->leaves);
    agenda->when[entry] = when;
    for (uint32_t node = (agenda->leaves + entry) / 2; node >= 1; node /= 2)
        agenda->winner[node] = play(agenda, node);
}

uint64_t hc_agenda_first(const struct hc_agenda *agenda, uint32_t *entry) {
    *entry = agenda->winner[1];
    return agenda->when[*entry];
}
