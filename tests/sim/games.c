/// The games of lanes and of shoving: their tables and steps.
#include "tests/sim/games.h"

#include "hindcast/scene.h"

#include <string.h>

enum { REACH = 100, PREDICTED_TICKS = 20 };

// ---- What both games share ----------------------------------------------------------------------

struct referee {
    uint8_t parity; ///< of the players present
};

static const struct hc_field referee_fields[] = {
    HC_FIELD(struct referee, parity, 1, false, .group = 0),
};

#define REFEREE_KIND                                                                               \
    {                                                                                              \
        .name = "referee", .state_size = sizeof(struct referee), .field_count = 1,                 \
        .fields = referee_fields                                                 \
    }

static const struct hc_field input_fields[] = {
    HC_FIELD(struct lanes_input, push, 4, true, .interpolate = HC_HOLD),
    HC_FIELD(struct lanes_input, touch, 8, false, .interpolate = HC_HOLD),
};
_Static_assert(sizeof(struct lanes_input) == 2, "the fields must cover the input");

static const struct hc_slots owned[] = {{.kind = 1, .count = 1}};

static const struct hc_reduction reductions[] = {{.op = HC_REDUCE_COUNT}};

static bool start(const struct hc_world *world, hc_entity self, void *out) {
    (void)world, (void)out;
    return self == HC_REFEREE;
}

static bool step_referee(struct hc_scene *scene, struct referee *out) {
    *out = (struct referee){.parity = hc_scene_reduction(scene, 0) & 1};
    return true;
}

/// The player as it is now; NULL: it joins, it leaves or it is absent. Sets `*joins`.
static const void *player_now(struct hc_scene *scene, hc_entity self, bool *joins) {
    enum hc_roster roster_change = hc_scene_roster(scene);
    const void *now = hc_scene_state(scene, self);
    *joins = roster_change == HC_ROSTER_JOIN;
    return roster_change == HC_ROSTER_NONE ? now : NULL;
}

static void predict_input(const void *last, uint32_t age, void *out) {
    memcpy(out, last, sizeof(struct lanes_input));
    if (age > PREDICTED_TICKS)
        memset(out, 0, sizeof(struct lanes_input));
}

static void sanitize_input(void *input) {
    (void)input; // all that fits is allowed
}

#define GAME(name_, version_, players_max_, kinds_, step_)                                         \
    {                                                                                              \
        .name = (name_), .version = (version_), .players_max = (players_max_), .kinds = (kinds_),  \
        .kind_count = 2, .owned = owned, .owned_count = 1, .input_fields = input_fields,           \
        .input_field_count = 2, .input_size = sizeof(struct lanes_input),                          \
        .reductions = reductions, .reduction_count = 1, .reach = REACH, .start = start,            \
        .step = (step_), .predict_input = predict_input, .sanitize_input = sanitize_input          \
    }

// ---- Lanes --------------------------------------------------------------------------------------

enum { LANE_WIDTH = 10000, LANE_END = 4000000 };

static const struct hc_field runner_fields[] = {
    HC_FIELD(struct lanes_runner, x, 24, true, .interpolate = HC_LINEAR),
    HC_FIELD(struct lanes_runner, y, 24, true, .interpolate = HC_LINEAR),
    HC_FIELD(struct lanes_runner, v, 16, true, .interpolate = HC_HOLD),
    HC_FIELD(struct lanes_runner, digest, 16, false, .interpolate = HC_HOLD),
    HC_FIELD(struct lanes_runner, inputs, 16, false, .interpolate = HC_HOLD),
};
_Static_assert(sizeof(struct lanes_runner) == 16, "the fields must cover the runner");

static const struct hc_kind lanes_kinds[] = {
    REFEREE_KIND,
    {.name = "runner",
     .state_size = sizeof(struct lanes_runner),
     .field_count = 5,
     .fields = runner_fields,
     .x = "x",
     .y = "y",
     .teleport = 5000},
};

static bool step_lanes(struct hc_scene *scene, hc_entity self, void *state) {
    struct lanes_runner *out = state;
    bool joins;
    if (self == HC_REFEREE)
        return step_referee(scene, state);
    const struct lanes_runner *now = player_now(scene, self, &joins);
    if (joins)
        *out = (struct lanes_runner){.y = scene->world->owner_of[self] * LANE_WIDTH};
    if (now == NULL)
        return joins;
    const struct lanes_input *input = hc_scene_input(scene);
    *out = *now;
    out->v += input->push * 4 - out->v / 8;
    out->x += out->v;
    if (out->x > LANE_END || out->x < -LANE_END)
        out->x = 0;
    out->digest = (uint16_t)(out->digest * 31u + (uint8_t)input->push * 7u + input->touch + 1u);
    out->inputs++;
    return true;
}

const struct hc_game lanes = GAME("lanes", 1, 64, lanes_kinds, step_lanes);
const struct hc_game lanes_next = GAME("lanes", 2, 64, lanes_kinds, step_lanes);

// ---- Shoving ------------------------------------------------------------------------------------

enum { APART = 40, EDGE = 150, SHOVE = 25, ARM_OUT_EVERY = 3 };

static const struct hc_field shove_fields[] = {
    HC_FIELD(struct shove_player, x, 24, true, .interpolate = HC_LINEAR),
    HC_FIELD(struct shove_player, y, 24, true, .interpolate = HC_LINEAR),
    HC_FIELD(struct shove_player, arm, 2, true, .interpolate = HC_HOLD),
    HC_FIELD(struct shove_player, shoved, 16, false, .interpolate = HC_HOLD),
    HC_FIELD(struct shove_player, digest, 16, false, .interpolate = HC_HOLD),
    HC_FIELD(struct shove_player, padding, 1, false, .interpolate = HC_HOLD),
};
_Static_assert(sizeof(struct shove_player) == 16, "the fields must cover the player");

static const struct hc_kind shove_kinds[] = {
    REFEREE_KIND,
    {.name = "player",
     .state_size = sizeof(struct shove_player),
     .field_count = 6,
     .fields = shove_fields,
     .x = "x",
     .y = "y",
     .teleport = 1000},
};

/// Adds up the arms that reach `out`, which has not moved yet.
static int32_t sum_shoves(struct hc_scene *scene, struct shove_player *out) {
    const hc_entity *ids;
    uint32_t count = hc_scene_neighbours(scene, &ids);
    int32_t shoved = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct shove_player *other = hc_scene_state(scene, ids[i]);
        int32_t side = out->x >= other->x ? 1 : -1;
        if (other->arm != side)
            continue;
        shoved += side * SHOVE;
        out->shoved++;
    }
    return shoved;
}

static bool step_shove(struct hc_scene *scene, hc_entity self, void *state) {
    struct shove_player *out = state;
    bool joins;
    if (self == HC_REFEREE)
        return step_referee(scene, state);
    const struct shove_player *now = player_now(scene, self, &joins);
    if (joins)
        *out = (struct shove_player){.x = scene->world->owner_of[self] * APART};
    if (now == NULL)
        return joins;
    const struct lanes_input *input = hc_scene_input(scene);
    *out = *now;
    out->x += sum_shoves(scene, out) + input->push;
    out->x = out->x > EDGE ? EDGE : out->x < -EDGE ? -EDGE : out->x;
    out->arm = 0;
    if (input->touch % ARM_OUT_EVERY == 0)
        out->arm = input->push < 0 ? -1 : 1;
    out->digest = (uint16_t)(out->digest * 31u + (uint32_t)(out->x + EDGE));
    return true;
}

const struct hc_game shove = GAME("shove", 1, 16, shove_kinds, step_shove);
