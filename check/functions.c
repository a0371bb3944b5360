/// Owns the rules of the functions that are no step.
#include "check/functions.h"

#include "check/call.h"
#include "common/draw_input.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { INPUTS = 64, AGE_MAX = 200, PATTERN = 0x5c, DIRTY = 0xa3, PLACE = 96 };

/// Reports fields out of range, of a struct that `name` describes.
static void check_fields(struct hc_ck_faults *faults, const struct hc_field *fields, unsigned count,
                         const void *data, enum hc_ck_kind kind, const char *name) {
    for (unsigned i = 0; i < count; i++)
        if (!hc_field_fits(&fields[i], hc_field_get(&fields[i], data)))
            hc_ck_fault(faults, kind, fields[i].name,
                        "%s: field %s is %" PRId64 ", which does not fit %s%u bits", name,
                        fields[i].name, hc_field_get(&fields[i], data),
                        fields[i].is_signed ? "signed " : "", fields[i].bits);
}

/// The first field of two inputs that differs; NULL: they are equal.
static const struct hc_field *differing(const struct hc_game *game, const void *a, const void *b) {
    for (unsigned i = 0; i < game->input_field_count; i++)
        if (hc_field_get(&game->input_fields[i], a) != hc_field_get(&game->input_fields[i], b))
            return &game->input_fields[i];
    return NULL;
}

static void check_start(const struct hc_world *world, struct hc_ck_faults *faults) {
    struct hc_ck_result first, again;
    char place[PLACE];
    for (uint32_t e = 0; e < world->entities; e++) {
        const struct hc_kind *kind = hc_world_kind(world, (hc_entity)e);
        hc_ck_place(world, 0, (hc_entity)e, place, sizeof(place));
        hc_ck_call_start(world, (hc_entity)e, &first);
        hc_ck_call_start(world, (hc_entity)(world->entities - 1 - e), &again);
        hc_ck_call_start(world, (hc_entity)e, &again);
        if (first.end.signal != 0)
            hc_ck_crash(faults, &first.end, "%s: start", place);
        if (first.end.signal != 0 || again.end.signal != 0)
            continue;
        if (!first.inside)
            hc_ck_fault(faults, HC_CK_OVERRUN, "start",
                        "%s: start writes outside of its %u bytes of state", place,
                        kind->state_size);
        if (first.alive != again.alive ||
            (first.alive && memcmp(first.bytes, again.bytes, kind->state_size) != 0))
            hc_ck_fault(faults, HC_CK_START, kind->name,
                        "%s: start gives another state when it is repeated", place);
        if (first.alive)
            check_fields(faults, kind->fields, kind->field_count, first.bytes, HC_CK_RANGE, place);
    }
    hc_ck_call_start(world, HC_REFEREE, &first);
    if (first.end.signal == 0 && !first.alive)
        hc_ck_fault(faults, HC_CK_START, "referee", "tick 0: the referee is absent at the start");
}

/// Sanitizes `input`, and reports when its result is no allowed input.
static void check_sanitize(const struct hc_game *game, struct hc_ck_faults *faults,
                           const void *input, struct hc_ck_result *result) {
    struct hc_ck_result again;
    hc_ck_call_sanitize(game, input, result);
    hc_ck_call_sanitize(game, result->bytes, &again);
    if (result->end.signal != 0 || again.end.signal != 0) {
        hc_ck_crash(faults, result->end.signal != 0 ? &result->end : &again.end, "sanitize_input");
        return;
    }
    if (!result->inside)
        hc_ck_fault(faults, HC_CK_OVERRUN, "sanitize_input",
                    "sanitize_input writes outside of its %u bytes", game->input_size);
    check_fields(faults, game->input_fields, game->input_field_count, result->bytes, HC_CK_SANITIZE,
                 "sanitize_input");
    const struct hc_field *field = differing(game, result->bytes, again.bytes);
    if (field != NULL)
        hc_ck_fault(faults, HC_CK_SANITIZE, "twice",
                    "sanitize_input changes its own result: field %s from %" PRId64 " to %" PRId64,
                    field->name, hc_field_get(field, result->bytes),
                    hc_field_get(field, again.bytes));
}

/// Predicts from `last`, an allowed input.
static void check_predict(const struct hc_game *game, struct hc_ck_faults *faults, const void *last,
                          uint32_t age) {
    struct hc_ck_result predicted, again, allowed;
    hc_ck_call_predict(game, last, age, PATTERN, &predicted);
    hc_ck_call_predict(game, last, age, DIRTY, &again);
    if (predicted.end.signal != 0 || again.end.signal != 0) {
        hc_ck_crash(faults, predicted.end.signal != 0 ? &predicted.end : &again.end,
                    "predict_input, at age %" PRIu32 ",", age);
        return;
    }
    if (!predicted.inside)
        hc_ck_fault(faults, HC_CK_OVERRUN, "predict_input",
                    "predict_input writes outside of its output at age %" PRIu32, age);
    const struct hc_field *field = differing(game, predicted.bytes, again.bytes);
    if (field != NULL)
        hc_ck_fault(faults, HC_CK_PREDICT, "twice",
                    "predict_input gives another field %s when it is repeated at age %" PRIu32,
                    field->name, age);
    check_fields(faults, game->input_fields, game->input_field_count, predicted.bytes,
                 HC_CK_PREDICT, "predict_input");
    if (hc_ck_faults_have(faults, HC_CK_SANITIZE, NULL))
        return;
    hc_ck_call_sanitize(game, predicted.bytes, &allowed);
    field = differing(game, predicted.bytes, allowed.bytes);
    if (field != NULL && allowed.end.signal == 0)
        hc_ck_fault(faults, HC_CK_PREDICT, "allowed",
                    "predict_input predicts an input that sanitize_input changes: field %s from "
                    "%" PRId64 " to %" PRId64 " at age %" PRIu32,
                    field->name, hc_field_get(field, predicted.bytes),
                    hc_field_get(field, allowed.bytes), age);
}

void hc_ck_functions(const struct hc_world *world, struct hc_ck_faults *faults,
                     struct hc_rng *rng) {
    const struct hc_game *game = world->game;
    uint8_t input[HC_INPUT_MAX] = {0};
    struct hc_ck_result allowed;
    check_start(world, faults);
    check_sanitize(game, faults, input, &allowed);
    const struct hc_field *field = differing(game, input, allowed.bytes);
    if (field != NULL)
        hc_ck_fault(faults, HC_CK_SANITIZE, "neutral",
                    "sanitize_input changes the neutral input, all zeros: field %s to %" PRId64,
                    field->name, hc_field_get(field, allowed.bytes));
    for (unsigned i = 0; i < INPUTS; i++) {
        for (unsigned f = 0; f < game->input_field_count; f++)
            hc_field_set(&game->input_fields[f], input, hc_draw_field(&game->input_fields[f], rng));
        check_sanitize(game, faults, input, &allowed);
        check_predict(game, faults, allowed.bytes, 1 + hc_rng_below(rng, AGE_MAX));
    }
}
