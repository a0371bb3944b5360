/// Server and client without one of the blocks of memory that they ask for.
#include "hindcast/arena.h"
#include "tests/sim/players.h"

#include "tests/run_suite.h"

#include <stdlib.h>

enum { BLOCKS_MAX = 64 }; ///< more than either asks for

/// An allocator that has no block `without`.
struct shortage {
    unsigned without, asked;
    int held;
};

static void *allocate(void *context, size_t bytes) {
    struct shortage *shortage = context;
    if (shortage->asked++ == shortage->without)
        return NULL;
    shortage->held++;
    return malloc(bytes);
}

static void release(void *context, void *block) {
    ((struct shortage *)context)->held -= block != NULL;
    free(block);
}

static struct hc_allocator allocator_of(struct shortage *shortage) {
    return (struct hc_allocator){.allocate = allocate, .release = release, .context = shortage};
}

START_TEST(a_server_without_a_block_is_not_created_and_leaves_none) {
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, 2, 20, 7);
    struct hc_sim *sim = hc_sim_create(&config);
    ck_assert_ptr_nonnull(sim);
    struct hc_server_config host = hc_sim_config(sim)->host;
    unsigned without = 0;
    for (bool lacked = true; lacked; without++) {
        struct shortage shortage = {.without = without};
        struct hc_allocator allocator = allocator_of(&shortage);
        host.allocator = &allocator;
        struct hc_server *created = hc_sv_host_create(&host, NULL, HC_TEST_UNIX_US, 0);
        lacked = shortage.asked > without;
        ck_assert_int_eq(created != NULL, !lacked);
        hc_server_destroy(created);
        ck_assert_int_eq(shortage.held, 0);
        ck_assert_uint_lt(without, BLOCKS_MAX);
    }
    ck_assert_uint_gt(without, 1);
    hc_sim_destroy(sim);
}
END_TEST

START_TEST(a_client_without_a_block_is_closed_and_leaves_none) {
    unsigned without = 0;
    for (bool lacked = true; lacked; without++) {
        struct hc_sim_config config = hc_sim_config_players(&hc_arena, 1, 20, 7);
        struct hc_sim *sim = hc_sim_create(&config);
        struct shortage shortage = {.without = without};
        struct hc_allocator allocator = allocator_of(&shortage);
        ck_assert_ptr_nonnull(sim);
        hc_sim_setup(sim, 0)->config.allocator = &allocator;
        bool created = hc_sim_connect(sim, 0);
        hc_sim_run(sim, SECOND_US / 2);
        const struct hc_client *core = hc_sim_client(sim, 0);
        lacked = shortage.asked > without;
        ck_assert(created || lacked);
        if (created && lacked) {
            ck_assert_int_eq(hc_client_state(core), HC_CLIENT_CLOSED);
            ck_assert_int_eq(hc_sim_events(sim, 0)->last.kind, HC_CLIENT_EVENT_CLOSED);
            ck_assert_int_eq(hc_sim_events(sim, 0)->last.close, HC_CLOSE_ERROR);
        } else if (created) {
            ck_assert_int_eq(hc_client_state(core), HC_CLIENT_PLAYING);
        }
        hc_sim_destroy(sim);
        ck_assert_int_eq(shortage.held, 0);
        ck_assert_uint_lt(without, BLOCKS_MAX);
    }
    ck_assert_uint_gt(without, 1);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("memory shortage");
    TCase *tests = tcase_create("memory shortage");
    tcase_add_test(tests, a_server_without_a_block_is_not_created_and_leaves_none);
    tcase_add_test(tests, a_client_without_a_block_is_closed_and_leaves_none);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
