/// Owns the rates of the log's lines.
#include "server/daemon/log_limit.h"

#include "common/limit.h"

#include <stdio.h>
#include <string.h>
#include <xxhash.h>

/// Finds the place of a kind, or makes one.
static struct hc_sv_log_kind *find_kind(struct hc_sv_log_limit *limit, const char *name) {
    for (unsigned i = 0; i < limit->count; i++)
        if (strncmp(limit->kinds[i].name, name, HC_SV_LOG_KIND_MAX - 1) == 0)
            return &limit->kinds[i];
    if (limit->count == HC_SV_LOG_KINDS)
        return &limit->kinds[HC_SV_LOG_KINDS - 1];
    struct hc_sv_log_kind *kind = &limit->kinds[limit->count++];
    snprintf(kind->name, sizeof(kind->name), "%.*s", HC_SV_LOG_KIND_MAX - 1,
             limit->count == HC_SV_LOG_KINDS ? "others" : name);
    return kind;
}

/// Finds the place of a client for lines of one kind, or makes one.
static struct hc_sv_log_client *find_client(struct hc_sv_log_limit *limit,
                                            const struct hc_sv_log_kind *kind, const char *client) {
    uint64_t hash =
        XXH3_64bits_withSeed(client, strlen(client), limit->seed + (uint64_t)(kind - limit->kinds));
    struct hc_sv_log_client *set = limit->clients[hash % HC_SV_LOG_SETS], *least = set;
    for (unsigned way = 0; way < HC_SV_LOG_WAYS; way++) {
        if (set[way].hash == hash)
            return &set[way];
        if (set[way].until_us < least->until_us)
            least = &set[way];
    }
    *least = (struct hc_sv_log_client){.hash = hash};
    return least;
}

static bool exceeds(uint64_t *until_us, const struct hc_sv_log_rate *rate, uint64_t now_us) {
    return hc_limit_exceeds(until_us, rate->every_us, (uint64_t)rate->burst * rate->every_us,
                            now_us);
}

bool hc_sv_log_limit_allows(struct hc_sv_log_limit *limit, const struct hc_sv_log_rates *rates,
                            const char *kind, const char *client, uint64_t now_us) {
    struct hc_sv_log_kind *place = find_kind(limit, kind);
    // The client's rate comes first: lines that exceed it use nothing of the common rate.
    if ((client != NULL &&
         exceeds(&find_client(limit, place, client)->until_us, &rates->client, now_us)) ||
        exceeds(&place->until_us, &rates->all, now_us)) {
        place->suppressed++;
        return false;
    }
    return true;
}

const char *hc_sv_log_limit_take_suppressed(struct hc_sv_log_limit *limit, uint64_t *count) {
    for (unsigned i = 0; i < limit->count; i++) {
        struct hc_sv_log_kind *kind = &limit->kinds[i];
        *count = kind->suppressed;
        kind->suppressed = 0;
        if (*count > 0)
            return kind->name;
    }
    return NULL;
}
