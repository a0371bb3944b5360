/// Adaptive models of residuals, and the estimates of each field.
#include "tests/bench/delta_entropy.h"

#include "server/replication/builder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { AGE_BITS = 10 };

// ---- Models -------------------------------------------------------------------------------------

static bool model_init(struct bench_model *model, unsigned bits) {
    model->bits = bits;
    model->counts = calloc((size_t)1 << bits, sizeof *model->counts);
    return model->counts != NULL;
}

/// The number of bits of a residual's magnitude, and so of the plain bits that follow.
static unsigned bucket_of(const struct bench_model *model, uint32_t symbol) {
    uint64_t range = UINT64_C(1) << model->bits;
    uint64_t number = symbol < range / 2 ? 2 * (uint64_t)symbol : 2 * (range - symbol) - 1;
    unsigned bucket = 0;
    while ((number + 1) >> (bucket + 1) > 0)
        bucket++;
    return bucket;
}

/// Counts `residual`, modulo 2^bits.
static void model_take(struct bench_model *model, int64_t residual) {
    uint32_t symbol = (uint32_t)residual & (uint32_t)((UINT64_C(1) << model->bits) - 1);
    unsigned bucket = bucket_of(model, symbol);
    double cells = model->bits + 1.0;
    double plain = bucket - log2(((double)model->buckets[bucket] + 0.5) /
                                 ((double)model->total + 0.5 * cells));
    double all = (double)(model->total + model->different);
    uint32_t *count = &model->counts[symbol];
    model->bucket_cost += plain;
    if (*count > 0)
        model->cost -= log2(*count / all);
    else
        model->cost += plain - (model->total > 0 ? log2((double)model->different / all) : 0);
    model->different += *count == 0;
    ++*count;
    model->total++;
    model->buckets[bucket]++;
}

double bench_model_bits(const struct bench_model *model) {
    return fmin(model->cost, model->bucket_cost);
}

// ---- Estimates ----------------------------------------------------------------------------------

bool bench_entropy_init(struct bench_entropy *entropy, const struct hc_world *world) {
    const struct hc_game *game = world->game;
    size_t bytes = hc_unit_bytes(world);
    memset(entropy, 0, sizeof *entropy);
    entropy->extrapolated = malloc(bytes);
    entropy->held = malloc(bytes);
    bool ok = entropy->extrapolated != NULL && entropy->held != NULL &&
              model_init(&entropy->age, AGE_BITS);
    for (unsigned f = 0; f < game->input_field_count; f++)
        ok &= model_init(&entropy->input[f], game->input_fields[f].bits);
    for (unsigned k = 0; k < game->kind_count; k++)
        for (unsigned a = 0; a < 2; a++) {
            ok &= model_init(&entropy->there[a][k], 1);
            for (unsigned f = 0; f < game->kinds[k].field_count; f++)
                for (unsigned g = 0; g < BENCH_ESTIMATES; g++)
                    ok &= model_init(&entropy->fields[a][k][f][g], game->kinds[k].fields[f].bits);
        }
    return ok;
}

void bench_entropy_free(struct bench_entropy *entropy) {
    free(entropy->extrapolated);
    free(entropy->held);
    free(entropy->age.counts);
    for (unsigned f = 0; f < HC_FIELDS_MAX; f++)
        free(entropy->input[f].counts);
    for (unsigned a = 0; a < 2; a++)
        for (unsigned k = 0; k < HC_KINDS_MAX; k++) {
            free(entropy->there[a][k].counts);
            for (unsigned f = 0; f < HC_FIELDS_MAX; f++)
                for (unsigned g = 0; g < BENCH_ESTIMATES; g++)
                    free(entropy->fields[a][k][f][g].counts);
        }
}

static const struct hc_field *find(const struct hc_field *fields, unsigned count,
                                   const char *name) {
    for (unsigned i = 0; i < count; i++)
        if (strcmp(fields[i].name, name) == 0)
            return &fields[i];
    return NULL;
}

/// One sent value, and its baseline.
struct sent_value {
    struct bench_entropy *entropy;
    const struct hc_server *host;
    hc_unit unit;
    uint32_t step;
    bool has_baseline; ///< `from` is the baseline
    const uint8_t *referee;
    struct hc_unit_value from, to, extrapolated;
};

/// Continues `field` of an alive entity in a line through the baseline and the tick sent before it.
static int64_t in_line(const struct sent_value *sent, hc_entity entity,
                       const struct hc_field *field, const uint8_t *held) {
    const struct hc_timeline *timeline = sent->host->timeline;
    int64_t at = hc_field_get(field, held);
    hc_tick before = hc_tick_back(sent->from.tick, sent->step);
    if (before < hc_timeline_oldest(timeline) || before == sent->from.tick ||
        hc_timeline_presence(timeline, before)[entity] != HC_ALIVE)
        return at;
    const uint8_t *state =
        hc_timeline_states(timeline, before) + (size_t)entity * sent->host->world.stride;
    int64_t way = at - hc_field_get(field, state);
    return at + way * (int64_t)(sent->to.tick - sent->from.tick) / (int64_t)sent->step;
}

/// Estimates `field` of entity `i`; `appears`: it is absent in the extrapolation.
static int64_t estimate_field(const struct sent_value *sent, uint32_t i, bool appears,
                              const struct hc_field *field, unsigned way) {
    const struct hc_world *world = &sent->host->world;
    const struct hc_game *game = world->game;
    hc_entity first = hc_unit_first(world, sent->unit), entity = (hc_entity)(first + i);
    size_t at = (size_t)i * world->stride;
    if (appears) {
        const struct hc_kind *kind = hc_world_kind(world, first);
        const struct hc_field *same = find(kind->fields, kind->field_count, field->name);
        return i > 0 && same != NULL ? hc_field_get(same, sent->to.states) : 0;
    }
    int64_t value = hc_field_get(field, sent->extrapolated.states + at);
    if (way != BENCH_ESTIMATE_EXTRAPOLATED && sent->from.presence[i] == HC_ALIVE)
        value = way == BENCH_ESTIMATE_HELD ? hc_field_get(field, sent->from.states + at)
                                           : in_line(sent, entity, field, sent->from.states + at);
    if (i > 0 || hc_unit_player(world, sent->unit) == HC_NO_PLAYER)
        return value;
    const struct hc_field *input = find(game->input_fields, game->input_field_count, field->name);
    if (input != NULL && value == hc_field_get(input, sent->extrapolated.input))
        return hc_field_get(input, sent->to.input);
    return value;
}

static void take_entity(const struct sent_value *sent, uint32_t i) {
    struct bench_entropy *entropy = sent->entropy;
    const struct hc_world *world = &sent->host->world;
    hc_entity entity = (hc_entity)(hc_unit_first(world, sent->unit) + i);
    unsigned kind = world->kind_of[entity];
    bool appears = sent->extrapolated.presence[i] != HC_ALIVE;
    bool alive = sent->to.presence[i] == HC_ALIVE;
    model_take(&entropy->there[!appears][kind], alive);
    for (unsigned f = 0; alive && f < world->game->kinds[kind].field_count; f++) {
        const struct hc_field *field = &world->game->kinds[kind].fields[f];
        int64_t value = hc_field_get(field, sent->to.states + (size_t)i * world->stride);
        for (unsigned g = 0; g < BENCH_ESTIMATES; g++)
            model_take(&entropy->fields[appears][kind][f][g],
                       value - estimate_field(sent, i, appears, field, g));
    }
}

static uint32_t age_of(const struct hc_unit_value *value) {
    return value->known == HC_NO_TICK ? 0 : value->tick - value->known;
}

static void take_value(const struct sent_value *sent) {
    struct bench_entropy *entropy = sent->entropy;
    const struct hc_world *world = &sent->host->world;
    const struct hc_game *game = world->game;
    entropy->values++;
    for (uint32_t i = 0; i < hc_unit_count(world, sent->unit); i++)
        take_entity(sent, i);
    if (hc_unit_player(world, sent->unit) == HC_NO_PLAYER)
        return;
    model_take(&entropy->age, (int64_t)age_of(&sent->to) - age_of(&sent->extrapolated));
    for (unsigned f = 0; f < game->input_field_count; f++)
        model_take(&entropy->input[f],
                   hc_field_get(&game->input_fields[f], sent->to.input) -
                       hc_field_get(&game->input_fields[f], sent->extrapolated.input));
}

/// Measures the value of a unit that the snapshot sends.
static void take_selection(struct bench_entropy *entropy, const struct hc_server *host,
                           const struct hc_sv_selection *selection, uint32_t step) {
    const struct hc_sv_builder *builder = host->replicator.builder;
    const struct hc_world *world = &host->world;
    hc_unit unit = selection->name.unit;
    hc_tick tick = builder->header.tick;
    const struct hc_sv_value *from = selection->base;
    struct sent_value sent = {.entropy = entropy,
                              .host = host,
                              .unit = unit,
                              .step = step,
                              .to = selection->value->unit,
                              .referee = unit == 0 ? NULL : builder->encoder.referee,
                              .has_baseline = selection->name.from != HC_SNAPSHOT_NOTHING};
    hc_unit_place(world, &sent.extrapolated, entropy->extrapolated);
    entropy->taken += selection->delta;
    if (sent.has_baseline) {
        sent.from = from->unit;
        hc_extrapolate(host->replicator.extrapolator, HC_EXTRAPOLATION_STEP, unit, &sent.from,
                       &(struct hc_extrapolate_under){.referee = sent.referee}, tick,
                       &sent.extrapolated);
    } else {
        hc_extrapolate_absent(world, unit, tick, &sent.extrapolated);
        hc_unit_place(world, &sent.from, entropy->held);
        hc_extrapolate_absent(world, unit, tick, &sent.from);
    }
    take_value(&sent);
}

void bench_entropy_take(struct bench_entropy *entropy, const struct hc_server *host,
                        uint32_t step) {
    const struct hc_sv_builder *builder = host->replicator.builder;
    for (uint32_t i = 0; i < builder->selection_count; i++)
        if (builder->selections[i].chosen && builder->selections[i].value != NULL)
            take_selection(entropy, host, &builder->selections[i], step);
}

// ---- Sums ---------------------------------------------------------------------------------------

unsigned bench_entropy_best(const struct bench_entropy *entropy, unsigned appears, unsigned kind,
                            unsigned field, double *bits) {
    const struct bench_model *models = entropy->fields[appears][kind][field];
    unsigned best = 0;
    for (unsigned g = 1; g < BENCH_ESTIMATES; g++)
        if (bench_model_bits(&models[g]) < bench_model_bits(&models[best]))
            best = g;
    *bits = bench_model_bits(&models[best]);
    return best;
}

double bench_entropy_bits(const struct bench_entropy *entropy) {
    double sum = bench_model_bits(&entropy->age);
    for (unsigned f = 0; f < HC_FIELDS_MAX; f++)
        sum += bench_model_bits(&entropy->input[f]);
    for (unsigned a = 0; a < 2; a++)
        for (unsigned k = 0; k < HC_KINDS_MAX; k++) {
            sum += bench_model_bits(&entropy->there[a][k]);
            for (unsigned f = 0; f < HC_FIELDS_MAX; f++) {
                double bits;
                bench_entropy_best(entropy, a, k, f, &bits);
                sum += bits;
            }
        }
    return sum;
}
