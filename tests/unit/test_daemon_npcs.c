/// Tests of the NPCs of hindcastd: their random numbers.
#include "hindcast/arena.h"
#include "hindcast/server.h"
#include "server/daemon/npcs.h"
#include "tests/run_suite.h"

#include <check.h>

enum { NPCS = 3, SEED = 7 };

static uint64_t seen[NPCS]; ///< the state of each NPC's random numbers at its first thought
static unsigned thoughts;

static void note(const struct hc_bot *bot, void *input) {
    (void)input;
    ck_assert_uint_lt(thoughts, NPCS);
    seen[thoughts++] = bot->rng->state;
}

/// Lets the NPCs of a server with the world's seed SEED think once.
static void think(void) {
    struct hc_server_config config = hc_server_config_default();
    struct hc_sv_options options = {.tick_rate = config.tick_rate, .npcs = NPCS, .seed = SEED};
    options.plugin.think = note;
    config.game = &hc_arena;
    config.clients = NPCS + 1;
    config.seed = SEED;
    config.keys.count = 1;
    config.keys.keys[0].key[0] = 1;
    struct hc_server *server = hc_server_create(&config, 0, 0);
    ck_assert_ptr_nonnull(server);
    struct hc_sv_npcs *npcs = hc_sv_npcs_create(server, &options);
    ck_assert_ptr_nonnull(npcs);
    thoughts = 0;
    hc_sv_npcs_think(npcs);
    ck_assert_uint_eq(thoughts, NPCS);
    hc_sv_npcs_destroy(npcs);
    hc_server_destroy(server);
}

START_TEST(npcs_draw_numbers_that_the_seed_of_the_world_does_not_give) {
    think();
    for (uint32_t npc = 0; npc < NPCS; npc++)
        for (uint32_t stream = 0; stream < 64; stream++)
            ck_assert_uint_ne(seen[npc], hc_rng_init(SEED, stream).state);
    uint64_t first = seen[0];
    think(); // another match of the same seed
    ck_assert_uint_ne(seen[0], first);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("daemon_npcs");
    TCase *tests = tcase_create("npcs");
    suite_add_tcase(suite, tests);
    tcase_add_test(tests, npcs_draw_numbers_that_the_seed_of_the_world_does_not_give);
    return run_suite(suite);
}
