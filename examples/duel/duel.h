/// Duel: its states, inputs and events, for a client that draws it.
#pragma once

#include <hindcast/game.h>

enum {
    DUEL_PX = 16,             ///< units of a pixel
    DUEL_TILE = 40 * DUEL_PX, ///< a tile's side
    DUEL_COLUMNS = 16,
    DUEL_ROWS = 9, ///< tiles of the court
    DUEL_WIDTH = DUEL_COLUMNS * DUEL_TILE,
    DUEL_HEIGHT = DUEL_ROWS * DUEL_TILE,
    DUEL_RADIUS = 10 * DUEL_PX, ///< of a player
    DUEL_HEALTH = 100,
    DUEL_WIN = 10, ///< kills that win a round
};

/// The game events.
enum {
    DUEL_SHOT, ///< a player shot; no number
    DUEL_HIT,  ///< a player was hit; the number is the player that shot
    DUEL_KILL, ///< a player died; the number is the player that shot
};

struct duel_referee {
    uint8_t pause; ///< ticks until the next round; 0: it is on
};

struct duel_player {
    uint16_t x, y;  ///< units
    uint16_t aim;   ///< angle, in [0, 1024)
    uint8_t health; ///< 0: dead
    uint8_t kills;
    uint8_t wait;     ///< ticks until it may shoot, or until a dead player returns
    uint8_t victim;   ///< 1 + the player that its shot hit in the tick before; 0: none
    uint8_t killer;   ///< 1 + the player that killed it in the tick before; 0: none
    uint8_t shooting; ///< ticks for which its last shot is drawn
};

struct duel_input {
    int8_t move_x, move_y; ///< -1, 0, 1
    uint16_t aim;          ///< angle
    uint8_t fire;          ///< 0, 1
    // How many ticks ago the others and the player itself were shown: the library writes it.
    uint8_t shown_ago;
    uint16_t own_shown_ago;
};

extern const struct hc_game duel;

/// The letter of a tile of the level's file, whose rows end with a newline: '#' is a wall, 'S' a
/// place at which players appear. '#' outside of the court; '.' where the level has no letter.
static inline char duel_tile(const struct hc_game *game, int column, int row) {
    uint32_t at = (uint32_t)(row * (DUEL_COLUMNS + 1) + column);
    if (column < 0 || column >= DUEL_COLUMNS || row < 0 || row >= DUEL_ROWS)
        return '#';
    return game->level != NULL && at < game->level_size ? ((const char *)game->level)[at] : '.';
}

/// Whether a wall covers the place (x, y).
static inline bool duel_wall(const struct hc_game *game, int x, int y) {
    return x < 0 || y < 0 || duel_tile(game, x / DUEL_TILE, y / DUEL_TILE) == '#';
}
