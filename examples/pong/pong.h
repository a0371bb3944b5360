/// Pong: its states and inputs, for a client that draws it.
#pragma once

#include <hindcast/game.h>

enum {
    PONG_WIDTH = 640,
    PONG_HEIGHT = 360,
    PONG_MARGIN = 24, ///< from a paddle to its end of the court
    PONG_PADDLE = 32, ///< half of a paddle's length
    PONG_BALL = 6,    ///< half of the ball's side
    PONG_WIN = 11,    ///< points that win a round
};

struct pong_referee {
    uint8_t pause; ///< ticks until the next round; 0: it is on
};

struct pong_paddle {
    uint16_t x, y;
    uint16_t score;
};

struct pong_ball {
    uint16_t x, y;
    int8_t vx, vy;
    uint8_t wait;  ///< ticks until it is served
    uint8_t point; ///< the side that has just scored, 1 or 2; 0: none
};

struct pong_input {
    int8_t move; ///< -1 up, 0, 1 down
};

extern const struct hc_game pong;
