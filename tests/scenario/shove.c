#include "tests/scenario/shove.h"

#include "hindcast/scene.h"
#include "tests/sim/lanes.h"

#include <string.h>

enum { REACH = 100, APART = 40, EDGE = 150, PUSH = 25, ARM_OUT_EVERY = 3 };

struct referee {
    uint8_t parity; ///< of the players present
};

static const struct hc_field referee_fields[] = {
    HC_FIELD(struct referee, parity, 1, false, .group = 0),
};

static const struct hc_field player_fields[] = {
    HC_FIELD(struct shove_player, x, 24, true, .interpolate = HC_LINEAR),
    HC_FIELD(struct shove_player, y, 24, true, .interpolate = HC_LINEAR),
    HC_FIELD(struct shove_player, arm, 2, true, .interpolate = HC_HOLD),
    HC_FIELD(struct shove_player, shoved, 16, false, .interpolate = HC_HOLD),
    HC_FIELD(struct shove_player, digest, 16, false, .interpolate = HC_HOLD),
    HC_FIELD(struct shove_player, padding, 1, false, .interpolate = HC_HOLD),
};
_Static_assert(sizeof(struct shove_player) == 16, "the fields must cover the player");

static const struct hc_field input_fields[] = {
    HC_FIELD(struct lanes_input, push, 4, true, .interpolate = HC_HOLD),
    HC_FIELD(struct lanes_input, touch, 8, false, .interpolate = HC_HOLD),
};

static const struct hc_kind kinds[] = {
    {.name = "referee",
     .state_size = sizeof(struct referee),
     .field_count = 1,
     .fields = referee_fields,
     .x = -1,
     .y = -1},
    {.name = "player",
     .state_size = sizeof(struct shove_player),
     .field_count = 6,
     .fields = player_fields,
     .x = 0,
     .y = 1,
     .teleport = 1000},
};

static const struct hc_slots owned[] = {{.kind = 1, .count = 1}};

static const struct hc_reduction reductions[] = {{.op = HC_REDUCE_COUNT}};

static bool start(const struct hc_world *world, hc_entity self, void *out) {
    (void)world, (void)out;
    return self == HC_REFEREE;
}

/// Adds up the arms that reach `out`, which still is where it was.
static int32_t gather(struct hc_scene *scene, struct shove_player *out) {
    const hc_entity *ids;
    uint32_t count = hc_scene_neighbours(scene, &ids);
    int32_t pushed = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct shove_player *other = hc_scene_state(scene, ids[i]);
        int32_t side = out->x >= other->x ? 1 : -1;
        if (other->arm != side)
            continue;
        pushed += side * PUSH;
        out->shoved++;
    }
    return pushed;
}

static bool step_player(struct hc_scene *scene, hc_entity self, struct shove_player *out) {
    enum hc_roster roster_change = hc_scene_roster(scene);
    const struct shove_player *now = hc_scene_state(scene, self);
    if (roster_change == HC_ROSTER_JOIN) {
        *out = (struct shove_player){.x = scene->world->owner_of[self] * APART};
        return true;
    }
    if (roster_change == HC_ROSTER_LEAVE || now == NULL)
        return false;
    const struct lanes_input *input = hc_scene_input(scene);
    *out = *now;
    out->x += gather(scene, out) + input->push;
    out->x = out->x > EDGE ? EDGE : out->x < -EDGE ? -EDGE : out->x;
    out->arm = 0;
    if (input->touch % ARM_OUT_EVERY == 0)
        out->arm = input->push < 0 ? -1 : 1;
    out->digest = (uint16_t)(out->digest * 31u + (uint32_t)(out->x + EDGE));
    return true;
}

static bool step(struct hc_scene *scene, hc_entity self, void *out) {
    if (self != HC_REFEREE)
        return step_player(scene, self, out);
    *(struct referee *)out = (struct referee){.parity = hc_scene_reduction(scene, 0) & 1};
    return true;
}

static void predict_input(const void *last, uint32_t age, void *out) {
    memcpy(out, last, sizeof(struct lanes_input));
    if (age > 20)
        memset(out, 0, sizeof(struct lanes_input));
}

static void sanitize_input(void *input) {
    (void)input; // all that fits is allowed
}

const struct hc_game shove = {
    .name = "shove",
    .version = 1,
    .players_max = 16,
    .kinds = kinds,
    .kind_count = 2,
    .owned = owned,
    .owned_count = 1,
    .input_fields = input_fields,
    .input_field_count = 2,
    .input_size = sizeof(struct lanes_input),
    .reductions = reductions,
    .reduction_count = 1,
    .reach = REACH,
    .start = start,
    .step = step,
    .predict_input = predict_input,
    .sanitize_input = sanitize_input,
};
