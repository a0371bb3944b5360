/// The rule of the walkers.
#include "tests/sim/walkers.h"

#include "hindcast/scene.h"
#include "tests/sim/byte_game.h"

#include <string.h>

enum {
    SPEED = HC_WALKER_SPEED_PX * HC_WALKER_UNITS,
    PUSH = SPEED / HC_WALKER_START_TICKS,
};

static const struct hc_field walker_fields[] = {
    HC_FIELD(struct hc_walker, x, 15, false, .interpolate = HC_LINEAR),
    HC_FIELD(struct hc_walker, y, 14, false, .interpolate = HC_LINEAR),
    HC_FIELD(struct hc_walker, vx, 8, true),
    HC_FIELD(struct hc_walker, vy, 8, true),
    HC_FIELD(struct hc_walker, fires, 1, false),
};
static const struct hc_field input_fields[] = {
    HC_FIELD(struct hc_walker_input, move_x, 2, true),
    HC_FIELD(struct hc_walker_input, move_y, 2, true),
    HC_FIELD(struct hc_walker_input, fire, 1, false),
};
static const struct hc_kind kinds[] = {
    BYTE_REFEREE,
    {"walker", sizeof(struct hc_walker), 5, walker_fields, "x", "y", 200 * HC_WALKER_UNITS, 1},
};
static const struct hc_slots owned[] = {{.kind = 1, .count = 1}};
static const struct hc_game_event_kind event_kinds[] = {{.name = "shot", .bits = 1}};

/// The speed, one push nearer to the wanted one.
static int8_t accelerate(int v, int wanted) {
    int least = v - PUSH, most = v + PUSH;
    wanted *= SPEED;
    return (int8_t)(wanted < least ? least : wanted > most ? most : wanted);
}

/// The place after a move; the field ends there.
static uint16_t move(int at, int v, int size_px) {
    int to = at + v, size = size_px * HC_WALKER_UNITS;
    return (uint16_t)(to < 0 ? 0 : to >= size ? size - 1 : to);
}

static bool step(struct hc_scene *scene, hc_entity self, void *out) {
    if (self == HC_REFEREE) {
        memset(out, 0, 1);
        return true;
    }
    const struct hc_walker *now = hc_scene_state(scene, self);
    const struct hc_walker_input *input = hc_scene_input(scene);
    struct hc_walker *next = out;
    if (hc_scene_roster(scene) == HC_ROSTER_JOIN) {
        uint64_t random = hc_scene_random(scene, 0);
        *next = (struct hc_walker){
            .x = (uint16_t)(random % (HC_WALKER_WIDTH_PX * HC_WALKER_UNITS)),
            .y = (uint16_t)((random >> 32) % (HC_WALKER_HEIGHT_PX * HC_WALKER_UNITS))};
        return true;
    }
    if (now == NULL || hc_scene_roster(scene) == HC_ROSTER_LEAVE)
        return false;
    int8_t vx = accelerate(now->vx, input->move_x), vy = accelerate(now->vy, input->move_y);
    *next = (struct hc_walker){.x = move(now->x, vx, HC_WALKER_WIDTH_PX),
                               .y = move(now->y, vy, HC_WALKER_HEIGHT_PX),
                               .vx = vx,
                               .vy = vy,
                               .fires = input->fire};
    if (input->fire && !now->fires)
        hc_emit(scene, HC_WALKER_EVENT_SHOT, 0);
    return true;
}

static void predict(const void *last, uint32_t age, void *out) {
    (void)age;
    memcpy(out, last, sizeof(struct hc_walker_input));
}

const struct hc_game hc_walkers = {
    .name = "walkers",
    .version = 1,
    .players_max = HC_WALKERS_MAX,
    .kinds = kinds,
    .kind_count = 2,
    .owned = owned,
    .owned_count = 1,
    .input_fields = input_fields,
    .input_field_count = 3,
    .input_size = sizeof(struct hc_walker_input),
    .reach = HC_WALKER_UNITS,
    .start = byte_start,
    .step = step,
    .predict_input = predict,
    .sanitize_input = byte_sanitize,
    .event_kinds = event_kinds,
    .event_kind_count = 1,
};
