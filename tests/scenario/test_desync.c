/// A client whose build computes another world than the server says so, and leaves.
#include "tests/scenario/scenario.h"

#include "hindcast/arena.h"
#include "tests/run_suite.h"

#include <string.h>

enum {
    CLIENTS = 3,
    LATENCY_MS = 30,
    RATE = 240,
    DIFFERS_FROM = 2000, ///< a tick that the match of hc_game_rule_hash does not reach
};

/// The arena's step, except that players are one unit farther from a late tick on.
static bool step_other(struct hc_scene *scene, hc_entity self, void *out) {
    bool alive = hc_arena.step(scene, self, out);
    struct hc_arena_player *player = out;
    if (alive && scene->world->kind_of[self] == HC_ARENA_KIND_PLAYER && scene->tick >= DIFFERS_FROM)
        player->x++;
    return alive;
}

/// The desync events of each client, and the LEFT events of the server.
struct seen {
    unsigned desyncs[CLIENTS], left;
    struct hc_client_event desync; ///< the newest
    struct hc_server_event leave;  ///< the newest
};

static void client_event(void *context, struct hc_sim *sim, unsigned client,
                         const struct hc_client_event *event) {
    struct seen *seen = context;
    (void)sim;
    if (event->kind != HC_CLIENT_EVENT_DESYNC)
        return;
    seen->desyncs[client]++;
    seen->desync = *event;
}

static void host_event(void *context, struct hc_sim *sim, const struct hc_server_event *event) {
    struct seen *seen = context;
    (void)sim;
    if (event->kind != HC_SERVER_EVENT_LEFT)
        return;
    seen->left++;
    seen->leave = *event;
}

static const struct hc_game *other_arena(void) {
    static struct hc_game other;
    other = hc_arena;
    other.step = step_other;
    other.step_run = NULL;
    return &other;
}

/// Client 0 has another build.
static struct hc_sim *begin(struct seen *seen, bool stays) {
    struct hc_sim_config config = scenario_config_bare(CLIENTS, LATENCY_MS, 81);
    config.host.tick_rate = RATE;
    config.hooks.client_event = client_event;
    config.hooks.host_event = host_event;
    config.context = seen;
    struct hc_sim *sim = hc_sim_create(&config);
    ck_assert_ptr_nonnull(sim);
    hc_sim_setup(sim, 0)->config.game = other_arena();
    hc_sim_setup(sim, 0)->config.stays_desynced = stays;
    for (unsigned i = 0; i < CLIENTS; i++)
        ck_assert(hc_sim_connect(sim, i));
    hc_sim_run(sim, (DIFFERS_FROM - 100) * (uint64_t)SECOND_US / RATE);
    for (unsigned i = 0; i < CLIENTS; i++)
        ck_assert_int_eq(hc_client_state(hc_sim_client(sim, i)), HC_CLIENT_PLAYING);
    return sim;
}

START_TEST(a_client_with_another_step_names_a_suspect_and_leaves) {
    struct seen seen = {.left = 0};
    ck_assert_uint_eq(hc_game_rule_hash(other_arena(), NULL), hc_game_rule_hash(&hc_arena, NULL));
    struct hc_sim *sim = begin(&seen, false);
    hc_sim_run(sim, 2 * (uint64_t)SECOND_US);
    ck_assert_uint_eq(seen.desyncs[0], 1);
    ck_assert_uint_eq(seen.desyncs[1] + seen.desyncs[2], 0);
    ck_assert_uint_gt(seen.desync.tick, DIFFERS_FROM);
    ck_assert_uint_le(seen.desync.tick, DIFFERS_FROM + RATE / 10);
    ck_assert_str_eq(seen.desync.entity_kind->name, "player");
    ck_assert_str_eq(seen.desync.field->name, "x");
    const struct hc_client *client = hc_sim_client(sim, 0);
    ck_assert_int_eq(hc_client_state(client), HC_CLIENT_CLOSED);
    ck_assert_int_eq(hc_sim_events(sim, 0)->last.kind, HC_CLIENT_EVENT_CLOSED);
    ck_assert_int_eq(hc_sim_events(sim, 0)->last.close, HC_CLOSE_DESYNC);
    ck_assert_uint_eq(seen.left, 1);
    ck_assert_int_eq(seen.leave.close, HC_CLOSE_DESYNC);
    ck_assert_uint_eq(seen.leave.tick, seen.desync.tick);
    ck_assert_uint_eq(hc_sv_host_stats(hc_sim_host(sim))->desyncs, 1);
    ck_assert_uint_eq(hc_sv_host_clients(hc_sim_host(sim)), CLIENTS - 1);
    hc_sim_destroy(sim);
}
END_TEST

START_TEST(a_client_that_stays_reports_its_desync_once) {
    struct seen seen = {.left = 0};
    struct hc_sim *sim = begin(&seen, true);
    hc_sim_run(sim, 2 * (uint64_t)SECOND_US);
    ck_assert_uint_eq(seen.desyncs[0], 1);
    ck_assert_uint_eq(hc_client_stats(hc_sim_client(sim, 0))->desyncs, 1);
    ck_assert_uint_gt(hc_client_stats(hc_sim_client(sim, 0))->hash_mismatches, 3);
    ck_assert_uint_eq(seen.left, 0);
    ck_assert_uint_eq(hc_sv_host_clients(hc_sim_host(sim)), CLIENTS);
    hc_sim_destroy(sim);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("desync");
    TCase *tests = tcase_create("desync");
    tcase_add_test(tests, a_client_with_another_step_names_a_suspect_and_leaves);
    tcase_add_test(tests, a_client_that_stays_reports_its_desync_once);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
