/// Owns the game of the shooting bots, the bots and their match.
#include "tests/sim/aim_match.h"

#include "hindcast/fixed.h"
#include "hindcast/scene.h"
#include "proto/datagram.h"
#include "proto/message.h"
#include "tests/sim/byte_game.h"
#include "tests/sim/players.h"

#include <string.h>

enum {
    PLAYERS = 8,
    PX = 16, // units of a pixel
    FIELD = 1000 * PX,
    RADIUS = 16 * PX,
    SPEED = 5 * PX, // a tick: 300 pixels a second
    PUSH = SPEED / 4,
    LOOKBACK = 40,
    FIRE_EVERY = 12, // ticks
    TURN_EVERY = 30, // ticks, on average
    WARM_UP_S = 3,
};

struct player {
    uint16_t x, y;
    int16_t vx, vy;
    uint16_t shots, hits;
};

struct input {
    int8_t move_x, move_y;
    uint16_t aim; ///< angle
    uint8_t fire;
    uint8_t shown_ago;
    uint16_t own_shown_ago;
};

static const struct hc_field player_fields[] = {
    HC_FIELD(struct player, x, 14, false, .interpolate = HC_LINEAR),
    HC_FIELD(struct player, y, 14, false, .interpolate = HC_LINEAR),
    HC_FIELD(struct player, vx, 8, true),
    HC_FIELD(struct player, vy, 8, true),
    HC_FIELD(struct player, shots, 16, false),
    HC_FIELD(struct player, hits, 16, false),
};
static const struct hc_field input_fields[] = {
    HC_FIELD(struct input, move_x, 2, true),
    HC_FIELD(struct input, move_y, 2, true),
    HC_FIELD(struct input, aim, 10, false),
    HC_FIELD(struct input, fire, 1, false),
    HC_FIELD(struct input, shown_ago, 6, false, .shown_ago = true),
    HC_FIELD(struct input, own_shown_ago, 6, false, .own_shown_ago = true),
};
static const struct hc_kind kinds[] = {
    BYTE_REFEREE,
    {"player", sizeof(struct player), 6, player_fields, "x", "y", 200 * PX, 0},
};
static const struct hc_slots owned[] = {{.kind = 1, .count = 1}};

/// Whether the line from `from` at the input's angle meets a player of `ago` ticks before.
static bool hits(struct hc_scene *scene, uint32_t ago, const struct player *from, uint16_t aim) {
    const hc_entity *ids;
    int64_t cos = hc_fixed_cos(aim), sin = hc_fixed_sin(aim);
    uint32_t count = hc_scene_past_neighbours(scene, ago, &ids);
    for (uint32_t i = 0; i < count; i++) {
        const struct player *other = hc_scene_past(scene, ago, ids[i]);
        int64_t dx = other->x - from->x, dy = other->y - from->y;
        int64_t along = dx * cos + dy * sin, across = dx * sin - dy * cos;
        if (along > 0 && across <= (int64_t)RADIUS * HC_FIXED_ONE &&
            across >= -(int64_t)RADIUS * HC_FIXED_ONE)
            return true;
    }
    return false;
}

static int16_t accelerate(int v, int push) {
    v += push != 0 ? push * PUSH : v > 0 ? -(v < PUSH ? v : PUSH) : -v < PUSH ? -v : PUSH;
    return (int16_t)(v > SPEED ? SPEED : v < -SPEED ? -SPEED : v);
}

static uint16_t move(int at, int16_t *v) {
    at += *v;
    if (at < 0 || at >= FIELD)
        *v = 0;
    return (uint16_t)(at < 0 ? 0 : at >= FIELD ? FIELD - 1 : at);
}

static bool step_player(struct hc_scene *scene, hc_entity self, struct player *out, bool past) {
    const struct player *now = hc_scene_state(scene, self);
    const struct input *input = hc_scene_input(scene);
    if (hc_scene_roster(scene) == HC_ROSTER_JOIN) {
        uint64_t random = hc_scene_random(scene, 0);
        *out = (struct player){.x = (uint16_t)(random % FIELD),
                               .y = (uint16_t)((random >> 32) % FIELD)};
        return true;
    }
    if (now == NULL || hc_scene_roster(scene) == HC_ROSTER_LEAVE)
        return false;
    *out = *now;
    out->vx = accelerate(now->vx, input->move_x);
    out->vy = accelerate(now->vy, input->move_y);
    out->x = move(now->x, &out->vx);
    out->y = move(now->y, &out->vy);
    if (input->fire == 0)
        return true;
    uint32_t ago = past ? input->shown_ago : 0, own_ago = past ? input->own_shown_ago : 0;
    const struct player *from = hc_scene_past(scene, own_ago, self);
    out->shots++;
    out->hits = (uint16_t)(out->hits + (from != NULL && hits(scene, ago, from, input->aim)));
    return true;
}

static bool step_compensated(struct hc_scene *scene, hc_entity self, void *out) {
    if (self == HC_REFEREE)
        memset(out, 0, 1);
    return self == HC_REFEREE || step_player(scene, self, out, true);
}

static bool step_plain(struct hc_scene *scene, hc_entity self, void *out) {
    if (self == HC_REFEREE)
        memset(out, 0, 1);
    return self == HC_REFEREE || step_player(scene, self, out, false);
}

static void predict(const void *last, uint32_t age, void *out) {
    (void)age;
    memcpy(out, last, sizeof(struct input));
    ((struct input *)out)->fire = 0;
}

static const struct hc_game game = {
    .name = "aim",
    .version = 1,
    .players_max = PLAYERS,
    .kinds = kinds,
    .kind_count = 2,
    .owned = owned,
    .owned_count = 1,
    .input_fields = input_fields,
    .input_field_count = 6,
    .input_size = sizeof(struct input),
    .reach = FIELD,
    .start = byte_start,
    .predict_input = predict,
    .sanitize_input = byte_sanitize,
    .lookback = LOOKBACK,
};

// ---- Bots ---------------------------------------------------------------------------------------

/// Aims at a player as the client draws it.
static bool aim_at(const struct hc_client *client, uint64_t now_us, hc_entity target,
                   uint16_t *aim) {
    struct hc_client_shown self, other;
    hc_entity own = hc_world_player(hc_client_world(client), hc_client_player(client, 0));
    if (target == own || !hc_client_show(client, now_us, own, &self) ||
        !hc_client_show(client, now_us, target, &other))
        return false;
    int32_t dx = (int32_t)(HC_SHOWN(&other, struct player, x) - HC_SHOWN(&self, struct player, x));
    int32_t dy = (int32_t)(HC_SHOWN(&other, struct player, y) - HC_SHOWN(&self, struct player, y));
    *aim = (uint16_t)hc_fixed_angle(dx, dy);
    return true;
}

static void script(void *context, struct hc_sim *sim, unsigned client, unsigned index, hc_tick tick,
                   void *data) {
    const struct aim_setting *setting = context;
    struct input *input = data;
    (void)index;
    // Each turns at ticks of its own, on average once in TURN_EVERY.
    hc_tick turn = tick;
    while (turn > 0 && hc_random(setting->seed, turn, client, 1) % TURN_EVERY != 0)
        turn--;
    uint64_t way = hc_random(setting->seed, turn, client, 2);
    input->move_x = (int8_t)((int)(way % 3) - 1);
    input->move_y = (int8_t)((int)(way / 3 % 3) - 1);
    if ((tick + client) % FIRE_EVERY != 0)
        return;
    const struct hc_client *own = hc_sim_client(sim, client);
    hc_player target = (hc_player)(hc_random(setting->seed, tick, client, 3) % PLAYERS);
    input->fire = aim_at(own, hc_sim_client_now(sim, client),
                         hc_world_player(hc_client_world(own), target), &input->aim);
}

/// Writes 0 over the display offset that the first client reports: its INPUT begins with an array,
/// its type, the client tick and the offset, which is one byte of msgpack.
static bool tamper(void *context, struct hc_sim *sim, unsigned client, uint8_t *bytes,
                   size_t size) {
    uint8_t *value = bytes + HC_DATA_BODY_AT + 2;
    (void)context, (void)sim;
    if (client != 0 || size <= HC_DATA_BODY_AT + 8 || value[-1] != HC_MESSAGE_INPUT)
        return true;
    value += value[0] < 0x80 ? 1 : value[0] == 0xcc ? 2 : value[0] == 0xcd ? 3 : 5;
    if (*value == HC_DISPLAY_OFFSET_MAX)
        *value = 0;
    return true;
}

// ---- The match ----------------------------------------------------------------------------------

static void count(struct hc_sim *sim, struct aim_result *result) {
    const struct hc_timeline *timeline = hc_server_timeline(hc_sim_host(sim));
    hc_tick final = hc_sv_host_final(hc_sim_host(sim), NULL);
    *result = (struct aim_result){.shots = 0};
    for (hc_entity e = 1; e <= PLAYERS; e++) {
        struct player player;
        memcpy(&player, hc_timeline_states(timeline, final) + e * sizeof(player), sizeof(player));
        result->shots += player.shots;
        result->hits += player.hits;
    }
}

bool aim_match(const struct aim_setting *setting, struct aim_result *result) {
    struct hc_game played = game;
    played.step = setting->compensated ? step_compensated : step_plain;
    struct hc_sim_config config =
        hc_sim_config_players(&played, PLAYERS, setting->latency_ms, setting->seed);
    config.host.tick_rate = AIM_RATE;
    hc_sim_fix_delays(&config.client, AIM_INPUT_DELAY, 0);
    config.client.others = setting->others;
    config.up.jitter_us = config.down.jitter_us = setting->jitter_ms * MS_US;
    config.up.loss_ppm = config.down.loss_ppm = setting->loss_ppm;
    if (setting->lag_compensation_ms > 0)
        config.host.lag_compensation_ms = setting->lag_compensation_ms;
    config.hooks =
        (struct hc_sim_hooks){.script = script, .tamper = setting->cheats ? tamper : NULL};
    config.context = (void *)setting;
    struct hc_sim *sim = hc_sim_create(&config);
    bool good = sim != NULL;
    if (good && setting->cheats)
        hc_sim_setup(sim, 0)->config.display_offset = HC_DISPLAY_OFFSET_MAX;
    good = good && hc_sim_connect_all(sim);
    if (good) {
        struct aim_result before;
        hc_sim_run_until(sim, WARM_UP_S * UINT64_C(1000000));
        count(sim, &before);
        hc_sim_run_until(sim, (WARM_UP_S + setting->seconds) * UINT64_C(1000000));
        count(sim, result);
        result->shots -= before.shots;
        result->hits -= before.hits;
        for (unsigned i = 0; i < PLAYERS; i++) {
            struct hc_client_recent recent;
            hc_client_recent(hc_sim_client(sim, i), &recent);
            result->others_ticks += recent.others_ticks;
        }
        result->others_ticks /= PLAYERS;
        for (unsigned i = 0; i < PLAYERS; i++)
            result->mismatches += hc_client_stats(hc_sim_client(sim, i))->hash_mismatches;
        result->inputs = hc_server_stats(hc_sim_host(sim))->inputs_received;
        result->unsent = hc_server_stats(hc_sim_host(sim))->shown_ago_unsent;
        result->limited = hc_server_stats(hc_sim_host(sim))->shown_ago_limited;
    }
    hc_sim_destroy(sim);
    return good;
}
