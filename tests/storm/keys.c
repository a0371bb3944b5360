/// Owns the inputs that players make.
#include "common/draw_input.h"
#include "common/input_fields.h"
#include "hindcast/arena.h"
#include "hindcast/rng.h"
#include "tests/sim/games.h"
#include "tests/storm/examples.h"
#include "tests/storm/match_internal.h"

#include <string.h>

enum { HOLD_FOR_A_WHILE, MASH, HOLD_ONE, CHASE, FLIP };

static void press(const struct storm_match *match, uint64_t random, void *input) {
    const struct hc_game *example =
        storm_examples_game((unsigned)storm_match_get(match, STORM_example));
    if (example != NULL) {
        struct hc_rng rng = hc_rng_init(random, 0);
        hc_draw_input(example, &rng, input);
        return;
    }
    if (storm_match_get(match, STORM_lanes) != 0) {
        struct lanes_input keys = {.push = (int8_t)((int)(random % 16) - 8),
                                   .touch = (uint8_t)(random >> 8)};
        memcpy(input, &keys, sizeof keys);
        return;
    }
    struct hc_arena_input keys = {.move_x = (int8_t)((int)(random % 3) - 1),
                                  .move_y = (int8_t)((int)(random / 8 % 3) - 1),
                                  .aim = (uint8_t)(random >> 16),
                                  .fire = (random >> 24) % 4 == 0};
    memcpy(input, &keys, sizeof keys);
}

bool storm_keys_look(const struct storm_plan *plan, unsigned client) {
    return plan->client[client][STORM_C_script] == CHASE && plan->match[STORM_lanes] == 0 &&
           plan->match[STORM_example] == 0;
}

/// The input that the client's script makes.
static void script(struct storm_match *match, unsigned client, unsigned index, hc_tick tick,
                   void *input) {
    uint32_t who = client * HC_OWN_PLAYERS_MAX + index, seed = (uint32_t)match->plan->seed;
    int64_t script = storm_client_get(match, client, STORM_C_script);
    const struct hc_client *core = hc_sim_client(match->sim, client);
    const struct hc_timeline *timeline = hc_client_timeline(core);
    hc_player player = hc_client_player(core, index);
    if (storm_keys_look(match->plan, client) && player != HC_NO_PLAYER) {
        struct hc_world world = *hc_client_world(core);
        world.game =
            &hc_arena; // the quick arena has the same tables, and a bot looks at nothing else
        hc_thinker_think(&match->seats[client].bots[index], &world, tick,
                         hc_timeline_presence(timeline, tick), hc_timeline_states(timeline, tick),
                         player, input);
        return;
    }
    uint32_t part = tick / (5 + who % 8); // keys are held for a while, each player's differently
    if (script == MASH)
        part = tick;
    else if (script == HOLD_ONE)
        part = 0;
    else if (script == FLIP)
        part = tick & 1;
    press(match, hc_random(seed, who, part, 7), input);
}

uint32_t storm_keys_buttons(const struct hc_game *game, uint8_t buttons[static HC_INPUT_MAX]) {
    uint32_t any = 0;
    memset(buttons, 0, HC_INPUT_MAX);
    hc_input_latches(game, buttons);
    game->sanitize_input(buttons); // it may not allow all of them at once
    uint8_t latches[HC_INPUT_MAX] = {0};
    hc_input_latches(game, latches);
    for (unsigned i = 0; i < game->input_size; i++)
        any |= buttons[i] &= latches[i];
    return any;
}

/// Taps the buttons: samples between two ticks press them, the newest one shows them released. The
/// tap before must have been sent, and inputs of this connection: after a stall, stamps go further
/// than the head, and a tap waits.
static void tap(struct storm_match *match, unsigned client, unsigned index, hc_tick tick,
                uint8_t *input) {
    struct storm_seat *seat = &match->seats[client];
    struct storm_taps *taps = &seat->taps[index];
    const struct storm_conn *conn = storm_conns_find(&match->conns, client, seat->cid);
    hc_tick every = (hc_tick)storm_client_get(match, client, STORM_C_tap_ticks);
    struct hc_client *core = hc_sim_client(match->sim, client);
    const struct hc_game *game = hc_client_world(core)->game;
    uint8_t buttons[HC_INPUT_MAX], latches[HC_INPUT_MAX] = {0}, pressed[HC_INPUT_MAX] = {0};
    hc_input_latches(game, latches);
    for (unsigned i = 0; i < game->input_size; i++)
        input[i] &= (uint8_t)~latches[i];
    if (storm_keys_buttons(game, buttons) == 0 || hc_client_state(core) != HC_CLIENT_PLAYING ||
        conn == NULL || conn->first == conn->end || taps->stamped != taps->count ||
        tick < taps->head + every)
        return;
    taps->head = tick;
    taps->end = conn->end;
    taps->count++;
    memcpy(pressed, buttons, game->input_size);
    hc_client_set_input(core, index, pressed);
    hc_client_set_input(core, index, pressed);
}

void storm_keys(struct storm_match *match, unsigned client, unsigned index, hc_tick tick,
                void *input) {
    if (match->quiet)
        return;
    script(match, client, index, tick, input);
    if (storm_client_get(match, client, STORM_C_tap_ticks) != 0)
        tap(match, client, index, tick, input);
}
