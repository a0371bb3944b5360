/// Owns the games of examples/, as a storm plays them.
#include "tests/storm/examples.h"

#include "examples/duel/duel.h"
#include "examples/pong/pong.h"

/// The level of duel: walls, and places at which players appear, so close that shots hit.
static const char level[] = "................\n"
                            "................\n"
                            "....##..........\n"
                            "...S....S.......\n"
                            ".......#........\n"
                            "....S......S....\n"
                            "................\n"
                            "..........##....\n"
                            "................\n";

const struct hc_game *storm_examples_game(unsigned number) {
    static struct hc_game with_level;
    if (number == 1)
        return &pong;
    if (number == 0)
        return NULL;
    if (with_level.level == NULL) { // a process plays on one thread
        with_level = duel;
        with_level.level_size = sizeof level - 1;
        with_level.level = level;
    }
    return &with_level;
}
