/// The search for a stored run, the extrapolation along it, and its extension.
// Inline, because a call costs as much as the hash of a unit. Scalar, as in all of the simulation.
#define XXH_INLINE_ALL        // NOLINT(readability-identifier-naming)
#define XXH_VECTOR XXH_SCALAR // NOLINT(readability-identifier-naming)

#include "common/runs.h"

#include "common/alloc.h"
#include "common/mix.h"
#include "hindcast/check.h"

#include <string.h>
#include <xxhash.h>

_Static_assert(HC_INPUT_MAX == 16, "an input is two words");

enum { TAGS = 8 }; ///< of a word

size_t hc_runs_layout(struct hc_runs *runs, const struct hc_world *world,
                      struct hc_extrapolator *extrapolator, uint32_t places, uint32_t each,
                      uint32_t kept, uint8_t *base) {
    size_t used = 0, count = (size_t)places * each;
    HC_ASSERT(places > 0 && each > 0 && kept > 0 && kept <= HC_RUN_TICKS);
    *runs = (struct hc_runs){.world = world,
                             .extrapolator = extrapolator,
                             .places = places,
                             .each = each,
                             .kept = kept,
                             .words = (each + TAGS - 1) / TAGS};
    runs->at = hc_carve(base, &used, count * sizeof *runs->at);
    runs->used = hc_carve(base, &used, count * sizeof *runs->used);
    runs->tags =
        hc_carve(base, &used, (size_t)HC_RUN_TICKS * places * runs->words * sizeof *runs->tags);
    runs->states = hc_carve(base, &used, count * kept * hc_unit_bytes(world));
    return used;
}

void hc_runs_refer(struct hc_runs *runs, const void *referee) {
    const struct hc_kind *kind = &runs->world->game->kinds[0];
    uint64_t hash = runs->groups * 2u + (referee == NULL);
    for (unsigned f = 0; f < kind->field_count && referee != NULL; f++)
        if ((runs->groups >> kind->fields[f].group & 1) != 0)
            hash = hc_mix(hash + f, (uint64_t)hc_field_get(&kind->fields[f], referee));
    runs->referee = referee;
    runs->referee_hash = hash;
}

uint64_t hc_runs_hash(const struct hc_world *world, hc_unit unit,
                      const struct hc_unit_value *value) {
    size_t count = hc_unit_count(world, unit), size = count * world->stride;
    if (value->states == value->presence + count) // as hc_unit_place puts them, of a player
        return XXH3_64bits(value->presence, count + size);
    return XXH3_64bits_withSeed(value->presence, count, XXH3_64bits(value->states, size));
}

/// A walk of a unit from a baseline along stored runs.
struct walk {
    struct hc_runs *runs;
    hc_unit unit;
    size_t place;
    struct hc_unit_value now;    ///< value that the walk has reached; points into the run
    uint64_t hash;               ///< of these states
    uint8_t input[HC_INPUT_MAX]; ///< the owner's
    uint64_t given;              ///< hash of that, of the unit and of the referee
};

static void give(struct walk *walk, const uint8_t *input) {
    uint64_t words[2] = {0};
    memcpy(walk->input, input, sizeof walk->input);
    memcpy(words, input, sizeof words);
    walk->given =
        hc_mix(hc_mix(hc_mix(walk->runs->referee_hash, walk->unit), words[0]), words[1]) | 1;
}

static struct hc_run *run_at(const struct walk *walk, unsigned run) {
    return &walk->runs->at[walk->place * walk->runs->each + run];
}

/// The number of the extrapolation that used the run last.
static uint64_t *used_at(const struct walk *walk, unsigned run) {
    return &walk->runs->used[walk->place * walk->runs->each + run];
}

/// Where the hash of the run at a tick is stored.
static uint64_t *hash_at(struct hc_run *run, hc_tick tick) {
    return &run->hashes[tick % HC_RUN_TICKS];
}

/// The tags of all runs of the place at a tick.
static uint64_t *tags_at(const struct walk *walk, hc_tick tick) {
    const struct hc_runs *runs = walk->runs;
    return runs->tags + (tick % HC_RUN_TICKS * (size_t)runs->places + walk->place) * runs->words;
}

/// The tag of a run: a byte of the hash of its states and of `given`.
static uint64_t tag_of(uint64_t hash, uint64_t given) {
    return (hash ^ given >> 1) & 0xff;
}

/// Stores the hash of a run's states at a tick.
static void store_hash(const struct walk *walk, unsigned run, hc_tick tick, uint64_t hash) {
    uint64_t *word = &tags_at(walk, tick)[run / TAGS];
    unsigned shift = 8 * (run % TAGS);
    *word = (*word & ~(UINT64_C(0xff) << shift)) | tag_of(hash, walk->given) << shift;
    *hash_at(run_at(walk, run), tick) = hash;
}

/// The presence and the states of a run at a tick.
static uint8_t *states_at(const struct walk *walk, unsigned run, hc_tick tick) {
    const struct hc_runs *runs = walk->runs;
    size_t row = (walk->place * runs->each + run) * runs->kept + tick % runs->kept;
    return runs->states + row * hc_unit_bytes(runs->world);
}

/// Whether the walk is on the run, and the run's end is near enough to `end`.
static bool leads_to(const struct walk *walk, unsigned run, hc_tick end) {
    struct hc_run *at = run_at(walk, run);
    hc_tick tick = walk->now.tick;
    return *hash_at(at, tick) == walk->hash && at->given == walk->given && tick >= at->first &&
           tick <= at->to && end + walk->runs->kept > at->to;
}

/// The run that the walk is on, the one that goes farthest, of those that lead to `end`; `each`:
/// none. Few other runs have its tag.
static unsigned find_run(const struct walk *walk, hc_tick end) {
    const uint64_t ones = UINT64_MAX / 0xff, tag = tag_of(walk->hash, walk->given);
    const struct hc_runs *runs = walk->runs;
    const uint64_t *tags = tags_at(walk, walk->now.tick);
    unsigned best = runs->each;
    for (uint32_t word = 0; word < runs->words; word++) {
        uint64_t differs = tags[word] ^ ones * tag; // a byte of 0: equal; a 1 above it passes
        for (uint64_t same = (differs - ones) & ~differs & ones << 7; same != 0; same &= same - 1) {
            unsigned i = word * TAGS + (unsigned)__builtin_ctzll(same) / 8;
            if (i < runs->each && leads_to(walk, i, end) &&
                (best == runs->each || run_at(walk, i)->to > run_at(walk, best)->to))
                best = i;
        }
    }
    return best;
}

/// Stores where the walk is as the state of a run at that tick.
static void store_state(const struct walk *walk, unsigned run) {
    struct hc_unit_value to = {.tick = walk->now.tick};
    hc_unit_place(walk->runs->world, &to, states_at(walk, run, to.tick));
    hc_unit_copy(walk->runs->world, walk->unit, &to, &walk->now);
    store_hash(walk, run, to.tick, walk->hash);
}

/// Begins a run where the walk is, instead of the one that was not used for the longest time.
static unsigned begin_run(const struct walk *walk) {
    const uint64_t *used = used_at(walk, 0);
    unsigned oldest = 0;
    for (unsigned i = 1; i < walk->runs->each; i++)
        if (used[i] < used[oldest])
            oldest = i;
    store_state(walk, oldest);
    struct hc_run *run = run_at(walk, oldest);
    run->given = walk->given;
    run->first = run->to = walk->now.tick;
    return oldest;
}

/// Puts the walk at a tick of a run.
static void jump(struct walk *walk, unsigned run, hc_tick tick) {
    walk->now.tick = tick;
    walk->hash = *hash_at(run_at(walk, run), tick);
    hc_unit_place(walk->runs->world, &walk->now, states_at(walk, run, tick));
}

/// Simulates the unit from the end of a run to `end`. False: it read more of the referee than any
/// before, so that no stored run is found any more.
static bool extend(struct walk *walk, unsigned number, hc_tick end) {
    struct hc_runs *runs = walk->runs;
    struct hc_run *run = run_at(walk, number);
    jump(walk, number, run->to);
    hc_extrapolator_enter(runs->extrapolator, walk->unit, &walk->now, walk->input, runs->referee);
    for (hc_tick t = run->to + 1; t <= end; t++) {
        struct hc_unit_value at = {.tick = t};
        hc_extrapolator_step(runs->extrapolator);
        hc_unit_place(runs->world, &at, states_at(walk, number, t));
        hc_extrapolator_read(runs->extrapolator, &at);
        store_hash(walk, number, t, hc_runs_hash(runs->world, walk->unit, &at));
    }
    hc_extrapolator_leave(runs->extrapolator);
    run->to = end;
    run->first = hc_tick_max(run->first, hc_tick_back(end, HC_RUN_TICKS - 1));
    uint8_t groups = hc_extrapolator_groups(runs->extrapolator);
    if ((groups & ~runs->groups) == 0)
        return true;
    runs->groups |= groups;
    hc_runs_refer(runs, runs->referee);
    return false;
}

/// Goes on to `end` under the same input. False: the walk must begin anew.
static bool go_on(struct walk *walk, hc_tick end) {
    unsigned number = find_run(walk, end);
    if (number == walk->runs->each)
        number = begin_run(walk);
    struct hc_run *run = run_at(walk, number);
    *used_at(walk, number) = walk->runs->extrapolations;
    if (run->to < end && !extend(walk, number, end))
        return false;
    jump(walk, number, end);
    return true;
}

/// Goes on to `tick` with the input changes. False: the walk must begin anew.
static bool go_to(struct walk *walk, const struct hc_input_changes *changes, hc_tick tick) {
    for (unsigned next = 0; walk->now.tick < tick;) {
        if (next < changes->count && changes->at[next].tick == walk->now.tick)
            give(walk, changes->at[next++].input);
        hc_tick end = next < changes->count ? changes->at[next].tick : tick;
        if (!go_on(walk, end))
            return false;
    }
    return true;
}

struct hc_unit_value hc_runs_extrapolate(struct hc_runs *runs, hc_unit unit,
                                         const struct hc_unit_value *from, uint64_t hash,
                                         const struct hc_input_changes *changes, hc_tick tick) {
    struct walk walk = {.runs = runs, .unit = unit, .place = unit % runs->places};
    uint8_t first[HC_INPUT_MAX] = {0};
    if (hc_unit_player(runs->world, unit) != HC_NO_PLAYER)
        hc_extrapolate_input(runs->world, from, first);
    runs->extrapolations++;
    do {
        walk.now = *from;
        walk.hash = hash;
        give(&walk, first);
    } while (!go_to(&walk, changes, tick));
    struct hc_unit_value now = walk.now;
    if (now.known != HC_NO_TICK)
        now.known += tick - from->tick;
    if (changes->count == 0)
        return now;
    memcpy(now.input, changes->at[changes->count - 1].input, runs->world->game->input_size);
    if (now.known == HC_NO_TICK)
        now.known = tick - 1;
    return now;
}
