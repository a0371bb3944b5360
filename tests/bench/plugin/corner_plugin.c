/// The corner arena as a plugin: players appear where a world of 256 would be. Worlds with room for
/// more are compared in it, because their views are alike.
#include "hindcast/plugin.h"
#include "hindcast/arena.h"
#include "tests/bench/corner_arena.h"

static const uint16_t players = 256;
static struct hc_game corner;

__attribute__((constructor)) static void make_game(void) {
    bench_corner_arena(&corner, &players);
}

HC_GAME_EXPORT(corner, hc_arena_think);
