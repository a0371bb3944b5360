/// The encoding of a value as the shortest delta, and the steps that its extrapolation takes.
#include "server/replication/encoder.h"

#include "common/alloc.h"
#include "hindcast/check.h"

enum {
    RUNS = 32,           ///< of each unit
    RUN_STATES = 12,     ///< of each run: the ticks that clients are shown at once, in the main
    SECOND_SAVES = 6,    ///< bits that a second list must have saved lately to be tried
    SECOND_UNTRIED = 16, ///< deltas of which one tries the second list all the same
    SECOND_WEIGHT = 64,  ///< share of the mean by which one delta moves it, as 1 / this
    SECOND_PARTS = 1024, ///< of a bit
};

size_t hc_sv_encoder_layout(struct hc_sv_encoder_shared *shared, const struct hc_world *world,
                            struct hc_extrapolator *extrapolator, uint32_t each, uint8_t *base) {
    shared->world = world;
    hc_value_codec_init(&shared->codec, world);
    size_t used = hc_sv_deltas_layout(&shared->deltas, world, each, base);
    used += hc_runs_layout(&shared->runs, world, extrapolator, hc_unit_total(world), RUNS,
                           RUN_STATES, base == NULL ? NULL : base + used);
    used += hc_sv_input_changes_layout(&shared->input_changes, world,
                                       base == NULL ? NULL : base + used);
    shared->encoding = hc_carve(base, &used, sizeof *shared->encoding);
    return used;
}

void hc_sv_encoder_share(struct hc_sv_encoder_shared *shared) {
    hc_sv_input_changes_begin(&shared->input_changes);
    for (unsigned i = 0; i < 2; i++) // at first each delta tries one
        shared->second[i] = (struct hc_sv_second_list){.saved = 2 * SECOND_SAVES * SECOND_PARTS};
    hc_sv_deltas_begin(&shared->deltas);
}

/// Encodes the value with the input changes, and keeps the delta if it is the shortest. It
/// extrapolates only if the list of changes leaves room for a shorter one. Returns the entities
/// that then differ from their extrapolation, bit i for entity i.
static uint32_t attempt(struct hc_sv_encoder *encoder, const struct hc_value_base *base,
                        const struct hc_sv_value *from, const struct hc_input_changes *changes,
                        const struct hc_unit_value *value) {
    struct hc_sv_encoding *encoding = encoder->shared->encoding;
    uint32_t differs = 0;
    if (encoding->bits != UINT32_MAX && changes->count > 0 &&
        hc_value_listed_bits(base, changes, value->tick) >= encoding->bits)
        return 0;
    struct hc_bits_writer bits = hc_bits_writer(encoding->data[!encoding->best], HC_SV_DELTA_MAX);
    if (from == NULL ||
        !hc_extrapolate_simulates(base->how, base->unit, value->tick - from->unit.tick)) {
        hc_value_put(&bits, base, NULL, value);
    } else {
        struct hc_unit_value extrapolated = hc_runs_extrapolate(
            &encoder->shared->runs, base->unit, &from->unit, from->states, changes, value->tick);
        differs = hc_value_put_extrapolated(&bits, base, changes, &extrapolated, value);
    }
    uint32_t written = (uint32_t)hc_bits_written(&bits);
    HC_ASSERT(!hc_bits_failed(&bits));
    if (written >= encoding->bits)
        return differs;
    hc_bits_finish(&bits);
    encoding->best = !encoding->best;
    encoding->bits = written;
    return differs;
}

/// Whether a delta tries a second list.
static bool tries_second(struct hc_sv_second_list *second) {
    if (second->saved < SECOND_SAVES * SECOND_PARTS && ++second->untried < SECOND_UNTRIED)
        return false;
    second->untried = 0;
    return true;
}

/// Encodes `value`, of the timeline as it is now, as the shorter delta of the two that are tried;
/// `from` is the baseline. Fields that are no keys matter where an entity is not as extrapolated
/// without their changes.
static void encode(struct hc_sv_encoder *encoder, const struct hc_value_base *base,
                   const struct hc_sv_value *from, const struct hc_unit_value *value) {
    struct hc_sv_encoding *encoding = encoder->shared->encoding;
    struct hc_sv_input_changes *changes = &encoder->shared->input_changes;
    const struct hc_world *world = base->codec->world;
    uint8_t given[HC_INPUT_MAX] = {0};
    bool takes =
        base->from != NULL && base->from->tick >= encoder->since &&
        hc_extrapolate_takes_changes(world, base->how, base->unit, base->from, value->tick);
    encoding->best = 0;
    encoding->bits = UINT32_MAX;
    encoding->alone.count = 0;
    if (takes) {
        hc_extrapolate_input(world, base->from, given);
        struct hc_sv_input_span span = {.timeline = encoder->timeline,
                                        .since = encoder->since,
                                        .player = hc_unit_player(world, base->unit),
                                        .from = base->from->tick,
                                        .end = value->tick,
                                        .given = given};
        hc_sv_input_changes_all(changes, &span, &encoding->all);
        hc_sv_input_changes_of_keys(changes, &encoding->all, given, true, &encoding->alone);
    }
    uint32_t differs = attempt(encoder, base, from, &encoding->alone, value);
    struct hc_sv_second_list *second = &encoder->shared->second[differs > 1];
    if (differs == 0 || !takes || !tries_second(second))
        return;
    hc_sv_input_changes_of_keys(changes, &encoding->all, given, false, &encoding->whole);
    if (hc_sv_input_changes_same(changes, &encoding->whole, &encoding->alone))
        return;
    uint32_t before = encoding->bits;
    attempt(encoder, base, from, &encoding->whole, value);
    second->saved += (before - encoding->bits) * (SECOND_PARTS / SECOND_WEIGHT);
    second->saved -= second->saved / SECOND_WEIGHT;
}

void hc_sv_encoder_begin(struct hc_sv_encoder *encoder, const struct hc_sv_value *referee) {
    bool alive = referee->unit.presence[0] == HC_ALIVE;
    encoder->referee_id = referee->id;
    encoder->referee = alive ? referee->unit.states : NULL;
    hc_runs_refer(&encoder->shared->runs, encoder->referee);
}

/// The key of a delta between two values, by their numbers.
static struct hc_sv_delta_key key_of(const struct hc_sv_encoder *encoder, hc_unit unit,
                                     hc_sv_value_id base, hc_sv_value_id value) {
    enum hc_extrapolation how = base == 0 ? HC_EXTRAPOLATION_HOLD : encoder->how;
    bool steps = unit != 0 && how == HC_EXTRAPOLATION_STEP;
    return (struct hc_sv_delta_key){.base = base,
                                    .value = value,
                                    .referee = steps ? encoder->referee_id : 0,
                                    .unit = unit,
                                    .how = how};
}

void hc_sv_encoder_prefetch(const struct hc_sv_encoder *encoder, hc_unit unit, hc_sv_value_id base,
                            hc_sv_value_id value) {
    struct hc_sv_delta_key key = key_of(encoder, unit, base, value);
    hc_sv_deltas_prefetch(&encoder->shared->deltas, &key);
}

bool hc_sv_encoder_too_dear(const struct hc_sv_encoder *encoder, hc_unit unit,
                            const struct hc_sv_value *base, const struct hc_sv_value *value) {
    if (base == NULL || unit == 0 ||
        hc_sv_extrapolation_fits(&encoder->cost, HC_EXTRAPOLATE_TICKS_MAX))
        return false;
    struct hc_sv_delta_key key = key_of(encoder, unit, base->id, value->id);
    uint32_t steps = hc_sv_encoder_steps(encoder->how, base->unit.tick, value->unit.tick);
    return hc_sv_deltas_find(&encoder->shared->deltas, &key) == NULL &&
           !hc_sv_extrapolation_fits(&encoder->cost, steps);
}

struct hc_sv_delta hc_sv_encoder_delta(struct hc_sv_encoder *encoder, hc_unit unit,
                                       const struct hc_sv_value *base,
                                       const struct hc_sv_value *value, bool pays) {
    struct hc_sv_encoder_shared *shared = encoder->shared;
    struct hc_sv_delta_key key = key_of(encoder, unit, base == NULL ? 0 : base->id, value->id);
    const struct hc_sv_delta_entry *stored = hc_sv_deltas_find(&shared->deltas, &key);
    if (stored != NULL) {
        encoder->reused++;
        return (struct hc_sv_delta){.data = stored->data, .bits = stored->bits};
    }
    encoder->encoded++;
    if (base != NULL && unit != 0 && pays) {
        uint32_t steps = hc_sv_encoder_steps(encoder->how, base->unit.tick, value->unit.tick);
        hc_sv_extrapolation_take(&encoder->cost, steps);
        encoder->steps += steps;
    }
    struct hc_sv_encoding *encoding = shared->encoding;
    struct hc_value_base against = {.codec = &shared->codec,
                                    .extrapolator = shared->runs.extrapolator,
                                    .how = encoder->how,
                                    .unit = unit,
                                    .from = base == NULL ? NULL : &base->unit,
                                    .referee = unit == 0 ? NULL : encoder->referee};
    encode(encoder, &against, base, &value->unit);
    struct hc_sv_delta delta = {.data = encoding->data[encoding->best], .bits = encoding->bits};
    hc_sv_deltas_put(&shared->deltas, &key, delta.data, delta.bits);
    return delta;
}
