/// The scenario's records, and its checks of final ticks.
#include "tests/scenario/scenario.h"

#include "tests/scenario/require.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/// Finds joins at the head, because a client may learn of its own join before it is final.
static void scan_joins(struct scenario *scenario, const struct hc_timeline *timeline) {
    const uint16_t players = record_world(scenario->record)->players;
    for (; scenario->scanned <= hc_timeline_head(timeline); scenario->scanned++) {
        for (hc_player p = 0; p < players && p < SCENARIO_CLIENTS_MAX; p++)
            if (hc_timeline_roster(timeline, p, scenario->scanned) == HC_ROSTER_JOIN)
                scenario->joined[p] = scenario->scanned;
    }
    scenario->scanned--; // roster changes of the head may still come
}

static void host_advances(void *context, struct hc_sim *sim) {
    struct scenario *scenario = context;
    record_before_advance(scenario->record, hc_sim_host(sim));
}

static void host_ticked(void *context, struct hc_sim *sim) {
    struct scenario *scenario = context;
    const struct hc_server *host = hc_sim_host(sim);
    scan_joins(scenario, hc_server_timeline(host));
    record_final_ticks(scenario->record, host);
}

static void client_changed(void *context, struct hc_sim *sim, unsigned client) {
    struct scenario *scenario = context;
    const struct hc_client *core = hc_sim_client(sim, client);
    const struct hc_timeline *timeline = hc_client_timeline(core);
    for (unsigned i = 0; timeline != NULL && i < HC_OWN_PLAYERS_MAX; i++) {
        struct stamped_inputs *stamps = scenario->stamps[client][i];
        hc_player player = hc_client_player(core, i);
        if (stamps != NULL && player != HC_NO_PLAYER)
            stamped_inputs_note(stamps, timeline, player);
    }
}

struct scenario *scenario_create(const struct hc_sim_config *config) {
    struct scenario *scenario = calloc(1, sizeof *scenario);
    ck_assert_ptr_nonnull(scenario);
    ck_assert_uint_le(config->clients, SCENARIO_CLIENTS_MAX);
    scenario->sim = hc_sim_create(config);
    ck_assert_ptr_nonnull(scenario->sim);
    hc_sim_observe(scenario->sim,
                   &(struct hc_sim_hooks){.host_advances = host_advances,
                                          .host_ticked = host_ticked,
                                          .client_changed = client_changed},
                   scenario);
    scenario->record = record_create(&hc_sim_config(scenario->sim)->host, SCENARIO_TICKS_MAX);
    record_final_ticks(scenario->record, hc_sim_host(scenario->sim));
    for (unsigned p = 0; p < SCENARIO_CLIENTS_MAX; p++)
        scenario->joined[p] = HC_NO_TICK;
    for (unsigned i = 0; i < config->clients; i++)
        for (unsigned k = 0; k < config->client.players; k++)
            scenario->stamps[i][k] =
                stamped_inputs_create(SCENARIO_TICKS_MAX, config->host.game->input_size);
    return scenario;
}

void scenario_drop_stamps(struct scenario *scenario) {
    for (unsigned i = 0; i < SCENARIO_CLIENTS_MAX; i++) {
        for (unsigned k = 0; k < HC_OWN_PLAYERS_MAX; k++) {
            stamped_inputs_destroy(scenario->stamps[i][k]);
            scenario->stamps[i][k] = NULL;
        }
    }
}

void scenario_destroy(struct scenario *scenario) {
    scenario_drop_stamps(scenario);
    record_destroy(scenario->record);
    hc_sim_destroy(scenario->sim);
    free(scenario);
}

static uint64_t sum(const uint64_t rejected[HC_STATUS_COUNT]) {
    uint64_t total = 0;
    for (unsigned i = 0; i < HC_STATUS_COUNT; i++)
        total += rejected[i];
    return total;
}

uint64_t scenario_client_rejected(const struct scenario *scenario, unsigned client) {
    return sum(hc_client_stats(hc_sim_client(scenario->sim, client))->rejected);
}

uint64_t scenario_host_rejected(const struct scenario *scenario) {
    return sum(hc_server_stats(hc_sim_host(scenario->sim))->rejected);
}

/// The larger of the distances along x and y.
static int64_t apart(int64_t ax, int64_t ay, int64_t bx, int64_t by) {
    int64_t dx = ax < bx ? bx - ax : ax - bx, dy = ay < by ? by - ay : ay - by;
    return dx > dy ? dx : dy;
}

/// Whether the alive `entity` is within `range` of the alive `eye`.
static bool sees(const struct hc_world *world, const uint8_t *states, hc_entity eye,
                 hc_entity entity, uint32_t range) {
    int64_t x, y, eye_x, eye_y;
    if (!hc_world_position(world, entity, states + (size_t)entity * world->stride, &x, &y))
        return world->owner_of[entity] == HC_NO_PLAYER;
    return hc_world_position(world, eye, states + (size_t)eye * world->stride, &eye_x, &eye_y) &&
           apart(eye_x, eye_y, x, y) <= range;
}

bool scenario_in_view(const struct scenario *scenario, unsigned client, hc_unit unit,
                      const uint8_t *presence, const uint8_t *states, uint32_t range) {
    const struct hc_world *world = record_world(scenario->record);
    const struct hc_client *core = hc_sim_client(scenario->sim, client);
    hc_entity first = hc_unit_first(world, unit);
    hc_player own = hc_client_player(core, 0);
    if (unit == 0 || own == HC_NO_PLAYER || world->game->view == 0)
        return true;
    for (unsigned i = 0; (own = hc_client_player(core, i)) != HC_NO_PLAYER; i++) {
        hc_entity eye = hc_world_player(world, own);
        if (own == hc_unit_player(world, unit))
            return true;
        for (uint32_t e = first; e < first + hc_unit_count(world, unit); e++)
            if (presence[eye] == HC_ALIVE && presence[e] == HC_ALIVE &&
                sees(world, states, eye, (hc_entity)e, range))
                return true;
    }
    return false;
}

/// Counts the ticks up to `tick`, at most `most`, for which the unit was in view, or out of it.
static uint32_t ticks_in_view(const struct scenario *scenario, unsigned client, hc_unit unit,
                              hc_tick tick, uint32_t range, bool in, uint32_t most) {
    uint32_t ticks = 0;
    while (ticks < most && ticks <= tick &&
           scenario_in_view(scenario, client, unit, record_presence(scenario->record, tick - ticks),
                            record_states(scenario->record, tick - ticks), range) == in)
        ticks++;
    return ticks;
}

static bool is_alive(const struct hc_world *world, hc_unit unit, const uint8_t *presence) {
    for (uint32_t e = 0; e < hc_unit_count(world, unit); e++)
        if (presence[hc_unit_first(world, unit) + e] == HC_ALIVE)
            return true;
    return false;
}

/// Checks a unit of the client at a final tick. Returns whether the client knows it.
static bool check_unit(const struct scenario *scenario, unsigned client, hc_unit unit,
                       hc_tick tick) {
    enum { IN_VIEW = 60, OUT_OF_VIEW = 120 };
    const struct hc_world *world = record_world(scenario->record);
    const struct hc_timeline *timeline = hc_client_timeline(hc_sim_client(scenario->sim, client));
    hc_entity first = hc_unit_first(world, unit);
    uint32_t count = hc_unit_count(world, unit), view = world->game->view;
    const uint8_t *presence = record_presence(scenario->record, tick) + first;
    const uint8_t *states = record_states(scenario->record, tick) + (size_t)first * world->stride;
    const uint8_t *held = hc_timeline_presence(timeline, tick) + first;
    bool known = false;
    for (uint32_t e = 0; e < count; e++)
        known = known || held[e] != HC_UNKNOWN;
    if (!known) {
        REQUIRE(ticks_in_view(scenario, client, unit, tick, view, true, IN_VIEW) < IN_VIEW,
                "client %u does not know unit %u at %u, which is in view", client, unit, tick);
        return false;
    }
    // Twice the view is more than the margin against flicker at its border.
    REQUIRE(!is_alive(world, unit, record_presence(scenario->record, tick)) ||
                ticks_in_view(scenario, client, unit, tick, 2 * view, false, OUT_OF_VIEW) <
                    OUT_OF_VIEW,
            "client %u knows unit %u at %u, which is far away", client, unit, tick);
    REQUIRE(memcmp(held, presence, count) == 0 &&
                memcmp(hc_timeline_states(timeline, tick) + (size_t)first * world->stride, states,
                       (size_t)count * world->stride) == 0,
            "client %u holds unit %u at %u otherwise than the server", client, unit, tick);
    return true;
}

hc_tick scenario_check_final(const struct scenario *scenario, unsigned client) {
    const struct hc_client *core = hc_sim_client(scenario->sim, client);
    const struct hc_timeline *timeline = hc_client_timeline(core);
    const struct hc_world *world = record_world(scenario->record);
    hc_tick final;
    uint64_t chain;
    bool all = true;
    ck_assert(hc_client_final(core, &final, &chain));
    ck_assert_uint_le(final, record_final(scenario->record));
    ck_assert_msg(chain == record_chain(scenario->record, final), "chain at %u", final);
    // Not every snapshot has the chain hash, so the newest may be of a tick that has left the ring.
    hc_tick tick = hc_tick_max(final, hc_timeline_oldest(timeline));
    for (uint32_t u = 0; u < hc_unit_total(world); u++)
        all = check_unit(scenario, client, (hc_unit)u, tick) && all;
    ck_assert_msg(!all || hc_timeline_hash(timeline, tick) == record_hash(scenario->record, tick),
                  "hash at %u", tick);
    return tick;
}

void scenario_check_hashes(const struct scenario *scenario) {
    for (unsigned i = 0; i < hc_sim_clients(scenario->sim); i++) {
        const struct hc_client *core = hc_sim_client(scenario->sim, i);
        if (core == NULL)
            continue;
        const struct hc_client_stats *stats = hc_client_stats(core);
        ck_assert_uint_gt(stats->hash_checks, 0);
        ck_assert_uint_eq(stats->hash_mismatches, 0);
    }
}
