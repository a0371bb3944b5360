/// The arena as a plugin, which hc_bench compares with the one that is built in.
#include "hindcast/arena.h"
#include "hindcast/plugin.h"

HC_GAME_EXPORT(hc_arena, NULL);
