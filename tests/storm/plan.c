#include "tests/storm/plan.h"

#include "common/rng.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS_MAX = 13 }; ///< with more players a match takes long

#define KEY(key, neutral_, ppm_, min_, max_, what_)                                                \
    {.name = #key,                                                                                 \
     .what = (what_),                                                                              \
     .neutral = (neutral_),                                                                        \
     .min = (min_),                                                                                \
     .max = (max_),                                                                                \
     .ppm = (ppm_)},
const struct storm_key storm_match_keys[STORM_MATCH_KEY_COUNT] = {STORM_MATCH_KEYS(KEY)};
const struct storm_key storm_client_keys[STORM_CLIENT_KEY_COUNT] = {STORM_CLIENT_KEYS(KEY)};

/// A number that depends on the key's name alone, so that keys may come, go and move.
static uint32_t stream_of(const char *name, unsigned client) {
    uint32_t hash = 2166136261u; // FNV-1a
    for (; *name != '\0'; name++)
        hash = (hash ^ (uint8_t)*name) * 16777619u;
    return (hash ^ client) * 16777619u;
}

static int64_t draw(const struct storm_key *key, uint64_t seed, unsigned client) {
    struct hc_rng rng = hc_rng_init(seed, stream_of(key->name, client));
    if (!hc_rng_chance(&rng, key->ppm))
        return key->neutral;
    uint32_t span = (uint32_t)(key->max - key->min);
    uint32_t at = hc_rng_below(&rng, span + 1), again = hc_rng_below(&rng, span + 1);
    // Of two draws the smaller one: a wide range has its interesting part at its beginning.
    if (key->min * 10 < key->max && span > 10 && again < at && strcmp(key->name, "attack") != 0 &&
        strcmp(key->name, "split_mask") != 0)
        at = again;
    return key->min + (int64_t)at;
}

/// Half of all matches have at most 4 clients, one in twenty has as many as the server takes.
static int64_t draw_clients(uint64_t seed) {
    struct hc_rng rng = hc_rng_init(seed, stream_of("clients", 0));
    uint32_t kind = hc_rng_below(&rng, 100);
    if (kind < 5)
        return SLOTS_MAX;
    if (kind < 70)
        return 1 + hc_rng_below(&rng, 4);
    return 1 + hc_rng_below(&rng, 8);
}

void storm_plan_draw(struct storm_plan *plan, uint64_t seed) {
    *plan = (struct storm_plan){.seed = seed};
    for (unsigned k = 0; k < STORM_MATCH_KEY_COUNT; k++)
        plan->match[k] = draw(&storm_match_keys[k], seed, 0);
    plan->match[STORM_clients] = draw_clients(seed);
    for (unsigned i = 0; i < STORM_CLIENTS_MAX; i++)
        for (unsigned k = 0; k < STORM_CLIENT_KEY_COUNT; k++)
            plan->client[i][k] = draw(&storm_client_keys[k], seed, i + 1);
}

static const struct storm_key *find(const struct storm_key *keys, size_t count, const char *name,
                                    size_t length, size_t *index) {
    for (*index = 0; *index < count; ++*index)
        if (strlen(keys[*index].name) == length && memcmp(keys[*index].name, name, length) == 0)
            return &keys[*index];
    return NULL;
}

static bool in_range(const struct storm_key *key, int64_t value) {
    return value == key->neutral || (value >= key->min && value <= key->max) ||
           (key->min > 0 && value == 0);
}

const char *storm_plan_set(struct storm_plan *plan, const char *assignment) {
    const char *equals = strchr(assignment, '=');
    if (equals == NULL)
        return "is no key=value";
    char *end;
    int64_t value = strtoll(equals + 1, &end, 10);
    if (end == equals + 1 || *end != '\0')
        return "has no number as its value";
    size_t length = strcspn(assignment, "@="), index;
    if (assignment[length] == '=') {
        const struct storm_key *key =
            find(storm_match_keys, STORM_MATCH_KEY_COUNT, assignment, length, &index);
        if (key == NULL)
            return "names no key of a match";
        if (!in_range(key, value))
            return "is out of the key's range";
        plan->match[index] = value;
        return NULL;
    }
    const struct storm_key *key =
        find(storm_client_keys, STORM_CLIENT_KEY_COUNT, assignment, length, &index);
    if (key == NULL)
        return "names no key of a client";
    if (!in_range(key, value))
        return "is out of the key's range";
    const char *which = assignment + length + 1;
    bool all = *which == '*';
    unsigned long client = all ? 0 : strtoul(which, &end, 10);
    if (client >= STORM_CLIENTS_MAX || (!all && end != equals))
        return "names no client";
    for (unsigned i = 0; i < STORM_CLIENTS_MAX; i++)
        if (all || i == client)
            plan->client[i][index] = value;
    return NULL;
}

void storm_plan_print_options(const struct storm_plan *plan, FILE *out) {
    struct storm_plan drawn;
    storm_plan_draw(&drawn, plan->seed);
    fprintf(out, "--seed %" PRIu64, plan->seed);
    for (unsigned k = 0; k < STORM_MATCH_KEY_COUNT; k++)
        if (plan->match[k] != drawn.match[k])
            fprintf(out, " --set %s=%" PRId64, storm_match_keys[k].name, plan->match[k]);
    unsigned clients = (unsigned)plan->match[STORM_clients];
    for (unsigned k = 0; k < STORM_CLIENT_KEY_COUNT; k++) {
        unsigned same = 0, changed = 0;
        for (unsigned i = 0; i < clients; i++) {
            same += plan->client[i][k] == plan->client[0][k];
            changed += plan->client[i][k] != drawn.client[i][k];
        }
        if (changed > 1 && same == clients)
            fprintf(out, " --set %s@*=%" PRId64, storm_client_keys[k].name, plan->client[0][k]);
        for (unsigned i = 0; i < clients && !(changed > 1 && same == clients); i++)
            if (plan->client[i][k] != drawn.client[i][k])
                fprintf(out, " --set %s@%u=%" PRId64, storm_client_keys[k].name, i,
                        plan->client[i][k]);
    }
    fputc('\n', out);
}

void storm_plan_print(const struct storm_plan *plan, FILE *out) {
    fprintf(out, "seed %" PRIu64 ":", plan->seed);
    for (unsigned k = 0; k < STORM_MATCH_KEY_COUNT; k++)
        if (plan->match[k] != storm_match_keys[k].neutral)
            fprintf(out, " %s=%" PRId64, storm_match_keys[k].name, plan->match[k]);
    for (unsigned i = 0; i < (unsigned)plan->match[STORM_clients]; i++) {
        fprintf(out, "\n  client %u:", i);
        for (unsigned k = 0; k < STORM_CLIENT_KEY_COUNT; k++)
            if (plan->client[i][k] != storm_client_keys[k].neutral)
                fprintf(out, " %s=%" PRId64, storm_client_keys[k].name, plan->client[i][k]);
    }
    fputc('\n', out);
}

unsigned storm_plan_slots(const struct storm_plan *plan) {
    if (plan->match[STORM_slots] != 0)
        return (unsigned)plan->match[STORM_slots];
    int64_t clients = plan->match[STORM_clients], players = 0, needed = 0;
    for (unsigned i = 0; i < clients; i++) {
        players += plan->client[i][STORM_C_players];
        // Whoever comes back may find its old place still taken.
        needed += plan->client[i][STORM_C_back_ticks] != 0;
    }
    needed += players > clients ? players : clients;
    return needed < SLOTS_MAX ? (unsigned)needed : SLOTS_MAX;
}
