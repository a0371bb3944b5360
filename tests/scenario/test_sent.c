/// The list of what a client was sent: the server's states as they were when the snapshot was sent,
/// and those that the client then holds.
#include "tests/scenario/scenario.h"

#include "hindcast/arena.h"
#include "tests/run_suite.h"

#include <string.h>

enum { CLIENTS = 5, SECONDS = 8, MOST = 256, WATCHED = 2 };

struct observed {
    uint64_t fresh;    ///< states of the newest tick that was sent
    uint64_t compared; ///< states that the timeline still had
};

static uint32_t cid_of(const struct hc_server *host, uint64_t now_us) {
    struct hc_server_client clients[CLIENTS];
    uint32_t count = hc_server_list_clients(host, clients, CLIENTS, now_us);
    return count > WATCHED ? clients[WATCHED].session.cid : 0;
}

/// Checks the list right after a datagram was made, when the timeline still has what it holds.
static void host_sent(void *context, struct hc_sim *sim, unsigned client, const uint8_t *bytes,
                      size_t size) {
    struct observed *observed = context;
    struct hc_server_sent sent[MOST];
    const struct hc_server *host = hc_sim_host(sim);
    const struct hc_timeline *timeline = hc_server_timeline(host);
    const struct hc_world *world = hc_server_world(host);
    (void)bytes, (void)size, (void)client;
    uint32_t count = hc_server_list_sent(host, cid_of(host, hc_sim_host_now(sim)), sent, MOST);
    hc_tick newest = 0;
    for (uint32_t i = 0; i < count; i++)
        newest = hc_tick_max(newest, sent[i].tick);
    bool good = true, listed[UINT16_MAX] = {false}; // few assertions: each is slow
    for (uint32_t i = 0; i < count; i++) {
        good &= sent[i].tick <= hc_timeline_head(timeline) && !listed[sent[i].entity];
        listed[sent[i].entity] = true;
        observed->fresh += sent[i].tick == newest;
        // Of a tick that no rewind has changed since, the timeline has the same.
        if (sent[i].tick < hc_timeline_oldest(timeline) ||
            hc_timeline_changed(timeline, sent[i].tick) != sent[i].tick)
            continue;
        const uint8_t *states = hc_timeline_states(timeline, sent[i].tick);
        good &= memcmp(states + (size_t)sent[i].entity * world->stride, sent[i].state,
                       hc_world_kind(world, sent[i].entity)->state_size) == 0;
        observed->compared++;
    }
    ck_assert(good);
}

START_TEST(the_list_of_what_a_client_was_sent_is_what_the_client_then_holds) {
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, CLIENTS, 60, 4);
    struct observed observed = {0};
    struct scenario *scenario = scenario_create(&config);
    struct hc_sim *sim = scenario->sim;
    hc_sim_observe(sim, &(struct hc_sim_hooks){.host_sent = host_sent}, &observed);
    hc_sim_set_links(sim, hc_sim_link(60, 5));
    ck_assert(hc_sim_join_all(sim));
    hc_sim_run(sim, (uint64_t)SECONDS * SECOND_US);
    ck_assert_uint_gt(observed.fresh, (uint64_t)SECONDS * 60);
    ck_assert_uint_gt(observed.compared, (uint64_t)SECONDS * 60);
    hc_sim_release_keys(sim);
    hc_sim_set_links(sim, hc_sim_link(20, 0));
    hc_sim_run(sim, 3 * SECOND_US);

    const struct hc_server *host = hc_sim_host(sim);
    const struct hc_world *world = hc_server_world(host);
    const struct hc_timeline *held = hc_client_timeline(hc_sim_client(sim, 0));
    struct hc_server_client clients[CLIENTS];
    struct hc_server_sent sent[MOST];
    ck_assert_uint_eq(hc_server_list_clients(host, clients, CLIENTS, hc_sim_host_now(sim)),
                      CLIENTS);
    uint32_t cid = 0, checked = 0;
    for (unsigned i = 0; i < CLIENTS; i++)
        if (clients[i].players[0] == hc_client_player(hc_sim_client(sim, 0), 0))
            cid = clients[i].session.cid;
    uint32_t count = hc_server_list_sent(host, cid, sent, MOST);
    ck_assert_uint_gt(count, CLIENTS);
    for (uint32_t i = 0; i < count; i++) {
        if (sent[i].tick < hc_timeline_oldest(held) || sent[i].tick > hc_timeline_head(held))
            continue;
        const uint8_t *states = hc_timeline_states(held, sent[i].tick);
        checked++;
        ck_assert_mem_eq(states + (size_t)sent[i].entity * world->stride, sent[i].state,
                         hc_world_kind(world, sent[i].entity)->state_size);
    }
    ck_assert_uint_gt(checked, CLIENTS);
    ck_assert_uint_eq(hc_server_list_sent(host, cid, NULL, 0), count);
    ck_assert_uint_eq(hc_server_list_sent(host, cid ^ 1, sent, MOST), 0);
    scenario_destroy(scenario);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("sent");
    TCase *tc = tcase_create("sent");
    tcase_add_test(tc, the_list_of_what_a_client_was_sent_is_what_the_client_then_holds);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
