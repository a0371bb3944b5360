#include "tests/sim/lanes.h"

#include "hindcast/scene.h"

#include <string.h>

enum { LANE_WIDTH = 10000, REACH = 100 };

struct referee {
    uint8_t parity; ///< of the players present
};

static const struct hc_field referee_fields[] = {
    HC_FIELD(struct referee, parity, 1, false, .group = 0),
};

static const struct hc_field runner_fields[] = {
    HC_FIELD(struct lanes_runner, x, 24, true, .interpolate = HC_LINEAR),
    HC_FIELD(struct lanes_runner, y, 24, true, .interpolate = HC_LINEAR),
    HC_FIELD(struct lanes_runner, v, 16, true, .interpolate = HC_HOLD),
    HC_FIELD(struct lanes_runner, digest, 16, false, .interpolate = HC_HOLD),
    HC_FIELD(struct lanes_runner, inputs, 16, false, .interpolate = HC_HOLD),
};
_Static_assert(sizeof(struct lanes_runner) == 16, "the fields must cover the runner");

static const struct hc_field input_fields[] = {
    HC_FIELD(struct lanes_input, push, 4, true, .interpolate = HC_HOLD),
    HC_FIELD(struct lanes_input, touch, 8, false, .interpolate = HC_HOLD),
};
_Static_assert(sizeof(struct lanes_input) == 2, "the fields must cover the input");

static const struct hc_kind kinds[] = {
    {.name = "referee",
     .state_size = sizeof(struct referee),
     .field_count = 1,
     .fields = referee_fields,
     .x = -1,
     .y = -1},
    {.name = "runner",
     .state_size = sizeof(struct lanes_runner),
     .field_count = 5,
     .fields = runner_fields,
     .x = 0,
     .y = 1,
     .teleport = 5000},
};

static const struct hc_slots owned[] = {{.kind = 1, .count = 1}};

static const struct hc_reduction reductions[] = {{.op = HC_REDUCE_COUNT}};

static bool start(const struct hc_world *world, hc_entity self, void *out) {
    (void)world, (void)out;
    return self == HC_REFEREE;
}

static bool step_runner(struct hc_scene *scene, hc_entity self, struct lanes_runner *out) {
    enum hc_roster roster_change = hc_scene_roster(scene);
    const struct lanes_runner *now = hc_scene_state(scene, self);
    if (roster_change == HC_ROSTER_JOIN) {
        *out = (struct lanes_runner){.y = scene->world->owner_of[self] * LANE_WIDTH};
        return true;
    }
    if (roster_change == HC_ROSTER_LEAVE || now == NULL)
        return false;
    const struct lanes_input *input = hc_scene_input(scene);
    *out = *now;
    out->v += input->push * 4 - out->v / 8;
    out->x += out->v;
    if (out->x > 4000000 || out->x < -4000000)
        out->x = 0;
    out->digest = (uint16_t)(out->digest * 31u + (uint8_t)input->push * 7u + input->touch + 1u);
    out->inputs++;
    return true;
}

static bool step(struct hc_scene *scene, hc_entity self, void *out) {
    if (self != HC_REFEREE)
        return step_runner(scene, self, out);
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

#define LANES(version_)                                                                            \
    {                                                                                              \
        .name = "lanes", .version = (version_), .players_max = 64, .kinds = kinds,                 \
        .kind_count = 2, .owned = owned, .owned_count = 1, .input_fields = input_fields,           \
        .input_field_count = 2, .input_size = sizeof(struct lanes_input),                          \
        .reductions = reductions, .reduction_count = 1, .reach = REACH, .start = start,            \
        .step = step, .predict_input = predict_input, .sanitize_input = sanitize_input             \
    }

const struct hc_game lanes = LANES(1);
const struct hc_game lanes_next = LANES(2);
