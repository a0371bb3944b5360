/// Simulates the same timelines on every machine, and prints the hash of each game's rule, and a
/// line of hashes for each timeline. Their inputs come in time, or late by 6 or 12 ticks.
///
/// Once a tick's inputs are known, its world is the same however late they came. With the words
/// GAME LATE COUNT it plays that timeline so often instead, for somebody who times it.
#include "common/draw_input.h"
#include "hindcast/arena.h"
#include "hindcast/check.h"
#include "hindcast/rng.h"
#include "hindcast/timeline.h"
#include "tests/storm/examples.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLAYERS = 4, TICKS = 3000, HOLD_TICKS = 5, RATE = 60, LATEST = 12, GAMES = 3 };

/// A player holds a drawn input for a while.
static void put(struct hc_timeline *timeline, const struct hc_world *world, hc_player player,
                hc_tick tick) {
    uint64_t input[HC_INPUT_MAX / sizeof(uint64_t)] = {0};
    struct hc_rng rng = hc_rng_init(hc_random(3, player, tick / (HOLD_TICKS + player), 0), 0);
    hc_draw_input(world->game, &rng, input);
    enum hc_status status = hc_timeline_put_input(timeline, player, tick, input);
    HC_ASSERT(status == HC_OK || tick == 0); // the tick of the joins
}

/// The hash of all worlds whose inputs are known at last.
static uint64_t play(const struct hc_game *game, uint32_t late) {
    struct hc_world world = {0};
    uint16_t players = game->players_max < PLAYERS ? game->players_max : PLAYERS;
    enum hc_status status = hc_world_init(&world, game, players, RATE, 1, NULL);
    HC_ASSERT(status == HC_OK);
    struct hc_timeline_config config = hc_timeline_config_default();
    config.world = &world;
    struct hc_timeline *timeline = hc_timeline_create(&config);
    HC_ASSERT(timeline != NULL);
    hc_timeline_start(timeline);
    for (hc_player p = 0; p < players; p++)
        hc_timeline_put_roster(timeline, p, 0, HC_ROSTER_JOIN);
    uint64_t predicted = 0, known = 0;
    for (hc_tick head = 0; head < TICKS; head++) {
        for (hc_player p = 0; p < players && head >= late; p++)
            put(timeline, &world, p, head - late);
        hc_timeline_advance(timeline);
        predicted = hc_random(predicted ^ hc_timeline_hash(timeline, head + 1), 0, 0, 0);
        if (head >= late && head - late < TICKS - LATEST)
            known = hc_random(known ^ hc_timeline_hash(timeline, head + 1 - late), 0, 0, 0);
    }
    const struct hc_timeline_stats *stats = hc_timeline_stats(timeline);
    printf("%s, inputs %" PRIu32 " ticks late: predicted %016" PRIx64 " known %016" PRIx64
           " rewinds %" PRIu64 " steps %" PRIu64 "\n",
           game->name, late, predicted, known, stats->rewinds, stats->resimulated_steps);
    hc_timeline_destroy(timeline);
    hc_world_free(&world);
    return known;
}

/// Plays the timeline that the words name.
static int play_often(const struct hc_game *const games[static GAMES], char **words) {
    unsigned long late = strtoul(words[1], NULL, 10), count = strtoul(words[2], NULL, 10);
    for (unsigned g = 0; g < GAMES && late <= LATEST; g++)
        if (strcmp(games[g]->name, words[0]) == 0) {
            while (count-- > 0)
                play(games[g], (uint32_t)late);
            return 0;
        }
    fprintf(stderr, "hc_timelines: no such timeline\n");
    return 2;
}

int main(int argc, char **argv) {
    const struct hc_game *const games[GAMES] = {&hc_arena, storm_examples_game(1),
                                                storm_examples_game(2)};
    static const uint32_t lates[] = {6, LATEST};
    if (argc == 4)
        return play_often(games, argv + 1);
    for (unsigned g = 0; g < GAMES; g++) {
        printf("%s: rule %016" PRIx64 "\n", games[g]->name, hc_game_rule_hash(games[g], NULL));
        uint64_t in_time = play(games[g], 0);
        for (unsigned l = 0; l < sizeof lates / sizeof *lates; l++) {
            uint64_t known = play(games[g], lates[l]);
            HC_ASSERT(known == in_time);
        }
    }
    return 0;
}
