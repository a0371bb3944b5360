/// With each snapshot a client receives the inputs of others that it predicts from.
#include "tests/scenario/scenario.h"
#include "tests/scenario/require.h"

#include "hindcast/arena.h"
#include "tests/run_suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLIENTS = 5, GUEST = CLIENTS - 1, WATCHER = 0, AHEAD = 128, HEADS = 1500 };

/// The inputs of a player that the server knew when it sent a snapshot of tick T.
struct known {
    bool in, has_base;
    hc_tick base; ///< newest known input before T
    uint8_t base_input[HC_INPUT_MAX];
    uint8_t roster_change[AHEAD]; ///< from T on
    bool is_known[AHEAD];
    uint8_t input[AHEAD][HC_INPUT_MAX];
};

struct forwarding {
    struct known (*sent)[CLIENTS]; ///< [HEADS] by the head at sending
    bool in[CLIENTS];
    hc_tick scanned, checked;
    uint64_t bases, inputs, roster_changes; ///< counts of those that the watcher has
};

static void know(const struct hc_timeline *timeline, hc_player player, hc_tick tick,
                 struct known *known) {
    const size_t size = sizeof(struct hc_arena_input);
    known->has_base =
        hc_timeline_newest_input(timeline, player, tick, &known->base, known->base_input);
    for (unsigned i = 0; i < AHEAD; i++) {
        known->roster_change[i] = (uint8_t)hc_timeline_roster(timeline, player, tick + i);
        known->is_known[i] = hc_timeline_slot(timeline, player, tick + i) == HC_SLOT_KNOWN;
        if (known->is_known[i])
            memcpy(known->input[i], hc_timeline_input(timeline, player, tick + i), size);
    }
}

static void remember(void *context, struct hc_sim *sim, unsigned client, const uint8_t *bytes,
                     size_t size) {
    struct forwarding *all = context;
    const struct hc_timeline *timeline = hc_server_timeline(hc_sim_host(sim));
    hc_player own = hc_client_player(hc_sim_client(sim, WATCHER), 0);
    hc_tick head = hc_timeline_head(timeline);
    if (client != WATCHER || hc_datagram_kind(bytes, size) != HC_DATAGRAM_DATA ||
        own == HC_NO_PLAYER)
        return;
    REQUIRE(head < HEADS, "the scenario is too long");
    hc_tick tick = hc_tick_min(head, hc_timeline_inputs_through(timeline, own) + 1);
    for (hc_player p = 0; p < CLIENTS; p++) {
        for (hc_tick t = all->scanned; t < head; t++) {
            enum hc_roster roster_change = hc_timeline_roster(timeline, p, t);
            if (roster_change != HC_ROSTER_NONE)
                all->in[p] = roster_change == HC_ROSTER_JOIN;
        }
        all->sent[head][p].in = all->in[p] && p != own;
        know(timeline, p, tick, &all->sent[head][p]);
    }
    all->scanned = head;
}

/// Fails the test unless the client knows as much, and predicts from the same input.
static void check_player(struct forwarding *all, const struct hc_timeline *timeline, hc_tick tick,
                         hc_player player, const struct known *known) {
    const size_t size = sizeof(struct hc_arena_input);
    uint8_t input[HC_INPUT_MAX];
    hc_tick base = 0;
    for (unsigned i = 0; i < AHEAD; i++) {
        REQUIRE(known->roster_change[i] == HC_ROSTER_NONE ||
                    hc_timeline_roster(timeline, player, tick + i) == known->roster_change[i],
                "the roster change of player %u at %u is not known", player, tick + i);
        all->roster_changes += known->roster_change[i] != HC_ROSTER_NONE;
        if (!known->in || !known->is_known[i])
            continue;
        REQUIRE(hc_timeline_slot(timeline, player, tick + i) == HC_SLOT_KNOWN &&
                    memcmp(hc_timeline_input(timeline, player, tick + i), known->input[i], size) ==
                        0,
                "the input of player %u at %u is not known", player, tick + i);
        all->inputs++;
    }
    if (!known->in)
        return;
    bool has_base = hc_timeline_newest_input(timeline, player, tick, &base, input);
    REQUIRE(has_base == known->has_base, "player %u is predicted from nothing at %u", player, tick);
    REQUIRE(!has_base || (base == known->base && memcmp(input, known->base_input, size) == 0),
            "player %u is predicted from %u at %u, not from %u", player, base, tick, known->base);
    all->bases += has_base;
}

static void check_received(void *context, struct hc_sim *sim, unsigned client) {
    struct forwarding *all = context;
    const struct hc_client *core = hc_sim_client(sim, client);
    hc_tick tick, as_of;
    if (client != WATCHER || !hc_client_snapshot(core, &tick, &as_of) || as_of == all->checked)
        return;
    all->checked = as_of;
    for (hc_player p = 0; p < CLIENTS; p++)
        check_player(all, hc_client_timeline(core), tick, p, &all->sent[as_of][p]);
}

START_TEST(a_snapshot_carries_all_known_inputs_of_others_from_its_tick_on) {
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, CLIENTS, 100, 171);
    struct forwarding all = {0};
    all.sent = calloc(HEADS, sizeof *all.sent);
    struct scenario *scenario = scenario_create(&config);
    scenario_drop_stamps(scenario);
    hc_sim_observe(scenario->sim,
                   &(struct hc_sim_hooks){.host_sent = remember, .client_changed = check_received},
                   &all);
    for (unsigned i = 0; i < CLIENTS; i++) {
        // With unequal latencies an input is late for one client and early for another.
        struct hc_network_sim_config link =
            hc_sim_link(20 + 40 * (CLIENTS - i), i == WATCHER ? 0 : 10);
        hc_sim_set_link(scenario->sim, i, &link, &link);
    }
    ck_assert(hc_sim_join_all(scenario->sim));
    hc_sim_run(scenario->sim, 4 * SECOND_US);
    hc_sim_leave(scenario->sim, GUEST);
    hc_sim_run(scenario->sim, 3 * SECOND_US);
    ck_assert(hc_sim_connect(scenario->sim, GUEST));
    hc_sim_run(scenario->sim, 3 * SECOND_US);
    printf("%lu bases, %lu inputs and %lu roster changes forwarded\n", (unsigned long)all.bases,
           (unsigned long)all.inputs, (unsigned long)all.roster_changes);
    ck_assert_uint_gt(all.bases, 1500);
    ck_assert_uint_gt(all.inputs, 1500);
    ck_assert_uint_gt(all.roster_changes, 5);
    scenario_check_hashes(scenario);
    free(all.sent);
    scenario_destroy(scenario);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("forwarding");
    TCase *tests = tcase_create("forwarding");
    tcase_add_test(tests, a_snapshot_carries_all_known_inputs_of_others_from_its_tick_on);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
