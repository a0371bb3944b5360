/// Owns the plan of a match, and how it is drawn.
#include "tests/storm/plan.h"

#include "tests/storm/examples.h"

#include "hindcast/rng.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    SLOTS_FEW = 13,     ///< slots of a server where no crowd plays: with more a match takes long
    SLOTS_CROWD = 64,   ///< slots of a server where a crowd plays
    WORD_MAX = 128,     ///< of an assignment
    BRIEF_CROWD = 40,   ///< percent that the storm of a crowd lasts at most
    VIEW_FAR = 1500,    ///< that players see in a crowd
    VIEWS_PPM = 900000, ///< of the crowds, which see no more
    RARE_PPM = 50000,   ///< of keys that are dear in a crowd
    ALL_PPM = 1000000,
};

#define BLANKS " \t\r\n"

#define KEY(key, neutral_, ppm_, min_, max_, what_)                                                \
    {.name = #key,                                                                                 \
     .what = (what_),                                                                              \
     .neutral = (neutral_),                                                                        \
     .min = (min_),                                                                                \
     .max = (max_),                                                                                \
     .ppm = (ppm_)},
const struct storm_key storm_match_keys[STORM_MATCH_KEY_COUNT] = {STORM_MATCH_KEYS(KEY)};
const struct storm_key storm_client_keys[STORM_CLIENT_KEY_COUNT] = {STORM_CLIENT_KEYS(KEY)};

/// The stream of a key depends on its name alone, so that keys may come, go and move.
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
    // The smaller of two draws: the interesting part of a wide range is its beginning.
    if (key->min * 10 < key->max && span > 10 && again < at && strcmp(key->name, "attack") != 0 &&
        strcmp(key->name, "split_mask") != 0)
        at = again;
    return key->min + (int64_t)at;
}

/// Half of all matches have at most 4 clients, one in twenty is a crowd.
static int64_t draw_clients(uint64_t seed) {
    struct hc_rng rng = hc_rng_init(seed, stream_of("clients", 0));
    uint32_t kind = hc_rng_below(&rng, 100);
    if (kind < 5)
        return STORM_CLIENTS_MAX;
    if (kind < 70)
        return 1 + hc_rng_below(&rng, 4);
    return 1 + hc_rng_below(&rng, 8);
}

static bool is_crowd(const struct storm_plan *plan) {
    return plan->match[STORM_clients] > SLOTS_FEW;
}

/// The number of a key that is drawn from another range, or more often, than in most matches.
static int64_t draw_otherwise(enum storm_match_key which, uint64_t seed, int64_t max,
                              uint32_t ppm) {
    struct storm_key key = storm_match_keys[which];
    key.max = max;
    key.ppm = ppm;
    return draw(&key, seed, 0);
}

/// Keeps the cost of a crowd low: the storm is brief, and most crowds have a short view. Three
/// expensive settings are rare: the game of lanes, which has no view; one place in which all
/// players appear; and keys that are pressed after the storm.
static void draw_crowd(struct storm_plan *plan) {
    plan->match[STORM_view] = draw_otherwise(STORM_view, plan->seed, VIEW_FAR, VIEWS_PPM);
    plan->match[STORM_lanes] = draw_otherwise(STORM_lanes, plan->seed, 1, RARE_PPM);
    plan->match[STORM_calm_inputs] = draw_otherwise(STORM_calm_inputs, plan->seed, 1, RARE_PPM);
    plan->match[STORM_fray_crowd] = draw_otherwise(STORM_fray_crowd, plan->seed, 1, RARE_PPM);
    plan->match[STORM_brief] = draw_otherwise(STORM_brief, plan->seed, BRIEF_CROWD, ALL_PPM);
    for (unsigned i = 0; i < STORM_CLIENTS_MAX; i++)
        plan->client[i][STORM_C_players] = storm_client_keys[STORM_C_players].max;
}

/// Without a crowd its ranges would be wasted.
static void draw_few(struct storm_plan *plan) {
    plan->match[STORM_slots] =
        draw_otherwise(STORM_slots, plan->seed, SLOTS_FEW, storm_match_keys[STORM_slots].ppm);
    plan->match[STORM_split_mask] =
        draw_otherwise(STORM_split_mask, plan->seed, (1 << SLOTS_FEW) - 1, ALL_PPM);
}

/// A port with matches has no crowd, no attackers and no small game. Without one nobody is barred,
/// and the first client never is.
static void draw_matches(struct storm_plan *plan) {
    if (is_crowd(plan) || plan->match[STORM_example] != 0 || plan->match[STORM_hostile] != 0)
        plan->match[STORM_matches] = 0;
    bool many = plan->match[STORM_matches] != 0;
    if (!many)
        plan->match[STORM_restarts] = 0;
    for (unsigned i = 0; i < STORM_CLIENTS_MAX; i++)
        if (!many || i == 0)
            plan->client[i][STORM_C_barred] = 0;
}

void storm_plan_draw(struct storm_plan *plan, uint64_t seed) {
    *plan = (struct storm_plan){.seed = seed};
    for (unsigned k = 0; k < STORM_MATCH_KEY_COUNT; k++)
        plan->match[k] = draw(&storm_match_keys[k], seed, 0);
    plan->match[STORM_clients] = draw_clients(seed);
    for (unsigned i = 0; i < STORM_CLIENTS_MAX; i++)
        for (unsigned k = 0; k < STORM_CLIENT_KEY_COUNT; k++)
            plan->client[i][k] = draw(&storm_client_keys[k], seed, i + 1);
    if (is_crowd(plan))
        draw_crowd(plan);
    else
        draw_few(plan);
    // No client lingers with a timeout as long as the match.
    if (plan->match[STORM_keep_ms] != 0)
        plan->match[STORM_timeout_ms] =
            draw_otherwise(STORM_timeout_ms, seed, storm_match_keys[STORM_timeout_ms].max, ALL_PPM);
    draw_matches(plan);
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

const char *storm_plan_set_words(struct storm_plan *plan, const char *text, const char **wrong,
                                 const char **why) {
    for (;; text += strcspn(text, BLANKS)) {
        text += strspn(text, BLANKS);
        size_t length = strcspn(text, BLANKS);
        char word[WORD_MAX];
        if (memchr(text, '=', length) == NULL)
            return text;
        *wrong = text;
        *why = "is too long";
        if (length < sizeof word) {
            memcpy(word, text, length);
            word[length] = '\0';
            *why = storm_plan_set(plan, word);
        }
        if (*why != NULL)
            return NULL;
    }
}

int64_t storm_plan_tick(const struct storm_plan *plan, int64_t tick) {
    int64_t brief = plan->match[STORM_brief];
    if (brief == 0 || tick == 0)
        return tick;
    return tick * brief > 100 ? tick * brief / 100 : 1;
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

bool storm_plan_hostile(const struct storm_plan *plan, unsigned client) {
    int64_t clients = plan->match[STORM_clients];
    return client > 0 && clients - (int64_t)client <= plan->match[STORM_hostile] &&
           plan->match[STORM_matches] == 0;
}

unsigned storm_plan_players(const struct storm_plan *plan) {
    int64_t players = 0;
    for (unsigned i = 0; i < plan->match[STORM_clients]; i++)
        players += plan->client[i][STORM_C_players];
    return (unsigned)players;
}

/// The slots that the match needs, if its game had any number of players.
static unsigned slots_wanted(const struct storm_plan *plan) {
    if (plan->match[STORM_slots] != 0)
        return (unsigned)plan->match[STORM_slots];
    unsigned clients = (unsigned)plan->match[STORM_clients], players = storm_plan_players(plan);
    unsigned needed = players > clients ? players : clients;
    unsigned most = is_crowd(plan) ? SLOTS_CROWD : SLOTS_FEW;
    // A client that connects again may find its old place still taken.
    for (unsigned i = 0; i < clients; i++)
        needed += plan->client[i][STORM_C_back_ticks] != 0;
    return needed < most ? needed : most;
}

unsigned storm_plan_slots(const struct storm_plan *plan) {
    const struct hc_game *example = storm_examples_game((unsigned)plan->match[STORM_example]);
    unsigned wanted = slots_wanted(plan);
    return example != NULL && wanted > example->players_max ? example->players_max : wanted;
}
