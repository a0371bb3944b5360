/// A small game with tables that use every field size, sign and kind of slot.
#pragma once

#include "hindcast/game.h"

struct small_referee {
    uint16_t clock; ///< counts down
    uint8_t phase;
    int8_t lead;
};

struct small_player {
    int32_t x, y;
    uint16_t score;
    int16_t debt;
    uint8_t health;
};

struct small_item {
    int16_t x, y;
};

struct small_ghost {
    uint32_t age;
};

struct small_input {
    int8_t right;
    uint8_t buttons;
};

enum { SMALL_REFEREE, SMALL_PLAYER, SMALL_ITEM, SMALL_GHOST, SMALL_KINDS };

static const struct hc_field small_referee_fields[] = {
    HC_FIELD(struct small_referee, clock, 16, false, .group = 1, .countdown = true),
    HC_FIELD(struct small_referee, phase, 2, false, .group = 2),
    HC_FIELD(struct small_referee, lead, 8, true, .group = 7),
};

/// The size of a player's state without the padding at the end of the struct.
enum { SMALL_PLAYER_SIZE = 13 };
static const struct hc_field small_player_fields[] = {
    HC_FIELD(struct small_player, x, 24, true, .interpolate = HC_LINEAR),
    HC_FIELD(struct small_player, y, 32, true, .interpolate = HC_LINEAR),
    HC_FIELD(struct small_player, score, 16, false, .interpolate = HC_HOLD),
    HC_FIELD(struct small_player, debt, 9, true, .interpolate = HC_HOLD),
    HC_FIELD(struct small_player, health, 7, false, .interpolate = HC_HOLD),
};

static const struct hc_field small_item_fields[] = {
    HC_FIELD(struct small_item, x, 16, true, .interpolate = HC_LINEAR),
    HC_FIELD(struct small_item, y, 16, true, .interpolate = HC_LINEAR),
};

static const struct hc_field small_ghost_fields[] = {
    HC_FIELD(struct small_ghost, age, 32, false, .interpolate = HC_HOLD),
};

static const struct hc_field small_input_fields[] = {
    HC_FIELD(struct small_input, right, 2, true, .interpolate = HC_HOLD),
    HC_FIELD(struct small_input, buttons, 3, false, .interpolate = HC_HOLD),
};

static const struct hc_kind small_kinds[SMALL_KINDS] = {
    [SMALL_REFEREE] = {.name = "referee",
                       .state_size = sizeof(struct small_referee),
                       .field_count = 3,
                       .fields = small_referee_fields},
    [SMALL_PLAYER] = {.name = "player",
                      .state_size = SMALL_PLAYER_SIZE,
                      .field_count = 5,
                      .fields = small_player_fields,
                      .x = "x",
                      .y = "y",
                      .teleport = 500},
    [SMALL_ITEM] = {.name = "item",
                    .state_size = sizeof(struct small_item),
                    .field_count = 2,
                    .fields = small_item_fields,
                    .x = "x",
                    .y = "y"},
    [SMALL_GHOST] = {.name = "ghost",
                     .state_size = sizeof(struct small_ghost),
                     .field_count = 1,
                     .fields = small_ghost_fields},
};

static const struct hc_slots small_owned[] = {
    {.kind = SMALL_PLAYER, .count = 1},
    {.kind = SMALL_ITEM, .count = 2},
};

static const struct hc_slots small_unowned[] = {
    {.kind = SMALL_ITEM, .count = 1, .every = 2},
    {.kind = SMALL_GHOST, .count = 2},
};

static const struct hc_reduction small_reductions[] = {
    {.op = HC_REDUCE_COUNT},
    {.op = HC_REDUCE_SUM, .field = "score"},
    {.op = HC_REDUCE_MAX, .field = "debt"},
};

static bool small_start(const struct hc_world *world, hc_entity self, void *out) {
    (void)world, (void)self, (void)out;
    return true;
}

static bool small_step(struct hc_scene *scene, hc_entity self, void *out) {
    (void)scene, (void)self, (void)out;
    return false;
}

static void small_predict(const void *last, uint32_t age, void *out) {
    (void)last, (void)age, (void)out;
}

static void small_sanitize(void *input) {
    (void)input;
}

static const struct hc_game small_game = {
    .name = "small-1",
    .version = 3,
    .players_max = 8,
    .kinds = small_kinds,
    .kind_count = SMALL_KINDS,
    .owned = small_owned,
    .owned_count = 2,
    .unowned = small_unowned,
    .unowned_count = 2,
    .input_fields = small_input_fields,
    .input_field_count = 2,
    .input_size = sizeof(struct small_input),
    .reductions = small_reductions,
    .reduction_count = 3,
    .reach = 100,
    .start = small_start,
    .step = small_step,
    .predict_input = small_predict,
    .sanitize_input = small_sanitize,
};
