/// The bundled game: players run, shove and shoot each other in a walled arena seen from above.
///
/// Lengths are in units of 1/8 pixel, speeds in units per second, angles in 1/256 turns (0 is
/// towards +x, 64 towards +y). States count durations in ticks.
#pragma once

#include "hindcast/plugin.h"

HC_C_BEGIN

/// The arena as a game, for the programs and for hc_client_config.game.
HC_API extern const struct hc_game hc_arena;

enum {
    HC_ARENA_PIXEL = 8,      ///< units
    HC_ARENA_TILE = 256,     ///< side of a map tile: 32 pixels
    HC_ARENA_RADIUS = 80,    ///< radius of a player, units: 10 pixels
    HC_ARENA_GRASP = 192,    ///< a player takes a pickup within this distance: 24 pixels
    HC_ARENA_REACH = 512,    ///< distance in x and y that a step can read: 64 pixels
    HC_ARENA_VIEW = 6400,    ///< distance in x and y that a player sees: 800 pixels
    HC_ARENA_SHOTS = 4,      ///< slots of each player
    HC_ARENA_PLAYERS = 4096, ///< players of a world at most
    HC_ARENA_SIDE_MAX = 256  ///< tiles along the map's side: with more it would exceed 16 bits
};

enum {
    HC_ARENA_RUN_SPEED = 1600,  ///< units/s
    HC_ARENA_SHOT_SPEED = 3840, ///< units/s
    HC_ARENA_HEALTH = 100,      ///< health of a fresh player; the maximum
    HC_ARENA_DAMAGE = 25,       ///< health that one shot takes
    HC_ARENA_CURE = 50,         ///< health that one pickup gives
    HC_ARENA_SCORE_LIMIT = 15,  ///< kills that end the round
    HC_ARENA_SCORE_MAX = 127,   ///< the maximum of scores and of deaths
};

/// Durations in milliseconds.
enum hc_arena_duration {
    HC_ARENA_SHOT_MS = 800,     ///< a shot's life
    HC_ARENA_COOLDOWN_MS = 250, ///< from one shot to the next
    HC_ARENA_RAPID_MS = 120,    ///< from one shot to the next during rapid fire
    HC_ARENA_BOOST_MS = 5000,   ///< rapid fire
    HC_ARENA_DEATH_MS = 2000,   ///< from death to respawn
    HC_ARENA_REFILL_MS = 6000,  ///< from a taken pickup to its return
    HC_ARENA_ROUND_MS = 120000, ///< the longest round
    HC_ARENA_PAUSE_MS = 8000,   ///< from the end of a round to the next
};

/// The kinds of entities.
enum { HC_ARENA_KIND_REFEREE, HC_ARENA_KIND_PLAYER, HC_ARENA_KIND_SHOT, HC_ARENA_KIND_PICKUP };

/// The phases of a round.
enum hc_arena_phase {
    HC_ARENA_WAITING, ///< the round waits for a second player; kills and deaths do not count
    HC_ARENA_PLAYING,
    HC_ARENA_OVER, ///< players neither run nor shoot
};

/// The reductions that the referee reads.
enum { HC_ARENA_PRESENT, HC_ARENA_TOTAL_SCORE, HC_ARENA_BEST_SCORE };

/// The referee's field groups.
enum { HC_ARENA_GROUP_PHASE, HC_ARENA_GROUP_CLOCK };

/// The game events. Each is one of the entity that its comment names first.
enum hc_arena_event {
    HC_ARENA_EVENT_SHOT, ///< a shot begins
    HC_ARENA_EVENT_HIT, ///< a shot strikes player `number`; a shot has at most HC_ARENA_STRUCK in a
                        ///< tick
    HC_ARENA_EVENT_KILL,  ///< a shot kills player `number`, and the kill counts; replaces HIT
    HC_ARENA_EVENT_DEATH, ///< a player dies
    HC_ARENA_EVENT_TAKEN, ///< a pickup is taken by player `number`
};

/// Players that one shot names as struck in a tick. It may strike more.
#define HC_ARENA_STRUCK 2

struct hc_arena_referee {
    uint8_t phase;  ///< an enum hc_arena_phase
    uint8_t match;  ///< number of the round, modulo 256; players restart when it changes
    uint16_t clock; ///< ticks until the phase ends; 0 while waiting. A group of its own
};

struct hc_arena_player {
    uint16_t x, y;
    int16_t vx, vy;   ///< units/s
    uint8_t health;   ///< 0: dead
    uint8_t score;    ///< kills in this round
    uint8_t deaths;   ///< deaths in this round
    uint8_t cooldown; ///< ticks until it may shoot
    uint8_t aim;      ///< angle
    uint8_t match;    ///< the round that it plays in
    uint16_t respawn; ///< ticks until a dead player returns
    uint16_t rapid;   ///< ticks of rapid fire left
};

struct hc_arena_shot {
    uint16_t x, y;
    uint16_t kills; ///< players that it killed; 0 before its last tick
    uint8_t angle;
    uint8_t life; ///< ticks left; 0: spent, and absent at the next tick
};

/// The effects of a pickup.
enum hc_arena_gift { HC_ARENA_GIFT_HEALTH, HC_ARENA_GIFT_RAPID };

/// A pickup's `winner` without a winner.
#define HC_ARENA_NOBODY 8191

struct hc_arena_pickup {
    uint16_t x, y;
    uint16_t gift;   ///< an enum hc_arena_gift
    uint16_t winner; ///< the hc_player that takes it at this tick, or HC_ARENA_NOBODY
    uint16_t refill; ///< ticks until it can be taken; 0: it can be
};

struct hc_arena_input {
    int8_t move_x, move_y; ///< -1, 0 or 1
    uint8_t aim;           ///< angle
    uint8_t fire;          ///< 0 or 1
};

/// The arena's bots, a hc_bot_think: the same seed and states give the same inputs on every
/// machine.
HC_API void hc_arena_think(const struct hc_bot *bot, void *input);

HC_C_END
