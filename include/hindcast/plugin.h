/// A game as a plugin: a shared library that hindcastd, hindcast-bot, hindcast-load and
/// hindcast-check load with --game FILE.so.
///
/// One C file with a `const struct hc_game` and one line, HC_GAME_EXPORT, is a plugin:
///
///     cc -std=c11 -O2 -fPIC -shared $(pkg-config --cflags hindcast) -o mygame.so mygame.c
///
/// It is linked with no library: the programs bring the functions of game.h, scene.h, rng.h,
/// fixed.h and check.h. A plugin has no state, because a process may hold several worlds.
#pragma once

#include "hindcast/api.h"
#include "hindcast/fixed.h"
#include "hindcast/game.h"
#include "hindcast/rng.h"
#include "hindcast/scene.h"

HC_C_BEGIN

/// The version of the binary interface between games and programs: of every struct, constant and
/// inline function of the headers above. A program loads only plugins of its own version.
#define HC_GAME_ABI 5

enum {
    HC_BOT_MEMORY = 64,  ///< bytes
    HC_GAME_STRUCTS = 6, ///< structs in HC_GAME_SIZES
};

/// A bot that chooses its input for the step from `tick`. A client's bot is given what that client
/// shows: entities out of its view are HC_UNKNOWN, and their states zeros. An NPC of `hindcastd
/// --npcs` is given the whole world of the server, and its input takes effect 100 ms later.
struct hc_bot {
    const struct hc_world *world;
    hc_tick tick; ///< tick of the own player's state; ticks ascend, but for a restart of the world
    const uint8_t *presence; ///< [entities] an enum hc_presence each
    const uint8_t *states;   ///< [entities * stride], as the bot's client shows them
    hc_player player;        ///< the bot's own
    struct hc_rng *rng; ///< the only source of random numbers, so that a seed repeats a run; the
                        ///< seed of NPCs is secret, because clients know that of the world
    void *memory;       ///< HC_BOT_MEMORY bytes of this bot, aligned as uint64_t; at first 0
};

/// Writes a bot's input (input_size bytes, zeroed) to `input`.
typedef void hc_bot_think(const struct hc_bot *bot, void *input);

/// The content of a plugin.
struct hc_game_export {
    uint32_t abi;                    ///< HC_GAME_ABI
    uint32_t sizes[HC_GAME_STRUCTS]; ///< HC_GAME_SIZES, against a change that kept HC_GAME_ABI
    const struct hc_game *game;
    hc_bot_think *think; ///< NULL: bots choose random inputs
    /// A file whose content becomes hc_game.level, by its path from the plugin's directory; NULL:
    /// none.
    const char *level;
};

/// The only symbol that a program looks up in a plugin.
extern HC_EXPORT const struct hc_game_export hindcast_game;

HC_C_END

/// The sizes of the structs that games and programs share, in bytes.
#define HC_GAME_SIZES                                                                              \
    {                                                                                              \
        sizeof(struct hc_game), sizeof(struct hc_kind), sizeof(struct hc_field),                   \
            sizeof(struct hc_world), sizeof(struct hc_scene), sizeof(struct hc_bot)                \
    }

/// Defines the plugin's symbol for `game`, a `const struct hc_game`, and `think`, a hc_bot_think or
/// NULL.
#define HC_GAME_EXPORT(game, think) HC_GAME_EXPORT_LEVEL(game, think, NULL)

/// Defines the plugin's symbol as HC_GAME_EXPORT does, with the path `level`, see hc_game_export.
#define HC_GAME_EXPORT_LEVEL(game, think, level)                                                   \
    const struct hc_game_export hindcast_game = {HC_GAME_ABI, HC_GAME_SIZES, &(game), (think),     \
                                                 (level)}
