/// A game of walkers on a field without walls, which meet nobody: so that what is shown wrong comes
/// from the network alone.
#pragma once

#include "hindcast/game.h"

enum {
    HC_WALKER_UNITS = 16, ///< units of a pixel
    HC_WALKER_WIDTH_PX = 1280,
    HC_WALKER_HEIGHT_PX = 720,
    HC_WALKER_SPEED_PX = 5,    ///< a tick
    HC_WALKER_START_TICKS = 4, ///< from rest to full speed, and from there to rest
    HC_WALKERS_MAX = 16,
    HC_WALKER_EVENT_SHOT = 0, ///< a kind of game events: the trigger was pulled
};

struct hc_walker {
    uint16_t x, y;  ///< units
    int8_t vx, vy;  ///< units a tick
    uint16_t fires; ///< the trigger is pulled
};

struct hc_walker_input {
    int8_t move_x, move_y; ///< -1, 0 or 1
    uint8_t fire;          ///< 0 or 1
};

extern const struct hc_game hc_walkers;
