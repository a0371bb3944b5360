/// A player's inputs undo nothing when they are late, and affect no other player when they are
/// stamped for a far future.
#include "check/plain.h"
#include "tests/scenario/scenario.h"
#include "tests/scenario/require.h"
#include "tests/sim/games.h"

#include "hindcast/arena.h"
#include "tests/run_suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { TICK_US = 16667, CLIENTS = 4 };

// ---- Late inputs --------------------------------------------------------------------------------

/// One-way latency of each client, in ms: the second client's inputs are always the latest.
static const uint32_t latency_ms[CLIENTS] = {10, 150, 80, 40};

/// Fails the test unless the server's every final tick is that of a plain simulation which has all
/// the inputs that were stamped, each at its tick.
static void check_in_time(const struct scenario *scenario) {
    const struct hc_world *world = record_world(scenario->record);
    const uint16_t size = world->game->input_size;
    struct hc_plain *plain = hc_plain_create(world, false);
    uint8_t *inputs = calloc(world->players, size), *roster_changes = calloc(world->players, 1);
    ck_assert(plain != NULL && inputs != NULL && roster_changes != NULL);
    hc_plain_set_secret(plain, record_secret(scenario->record));
    hc_plain_start(plain);
    for (hc_tick tick = 0; tick < record_final(scenario->record); tick++) {
        for (unsigned i = 0; i < CLIENTS; i++) {
            hc_player player = hc_client_player(hc_sim_client(scenario->sim, i), 0);
            const uint8_t *stamped = stamped_input(scenario->stamps[i][0], tick);
            bool takes = stamped != NULL && tick > scenario->joined[player];
            memset(inputs + (size_t)player * size, 0, size);
            if (takes)
                memcpy(inputs + (size_t)player * size, stamped, size);
            roster_changes[player] =
                tick == scenario->joined[player] ? HC_ROSTER_JOIN : HC_ROSTER_NONE;
        }
        hc_plain_step(plain, inputs, roster_changes);
        REQUIRE(memcmp(hc_plain_states(plain), record_states(scenario->record, tick + 1),
                       (size_t)world->entities * world->stride) == 0,
                "tick %u differs from one with all inputs in time", tick + 1);
    }
    hc_plain_destroy(plain);
    free(inputs);
    free(roster_changes);
}

START_TEST(a_late_input_undoes_no_shove_of_its_player) {
    struct hc_sim_config config = hc_sim_config_players(&shove, CLIENTS, 0, 351);
    hc_sim_fix_delays(&config.client, 0, 0);
    struct scenario *scenario = scenario_create(&config);
    for (unsigned i = 0; i < CLIENTS; i++) {
        struct hc_network_sim_config link = hc_sim_link(latency_ms[i], 0);
        hc_sim_set_link(scenario->sim, i, &link, &link);
    }
    ck_assert(hc_sim_join_all(scenario->sim));
    hc_sim_run(scenario->sim, 30 * SECOND_US);
    hc_sim_release_keys(scenario->sim);
    hc_sim_run(scenario->sim, 2 * SECOND_US);
    const struct hc_world *world = record_world(scenario->record);
    hc_tick final = record_final(scenario->record);
    for (unsigned i = 0; i < CLIENTS; i++) {
        hc_player player = hc_client_player(hc_sim_client(scenario->sim, i), 0);
        struct shove_player state;
        memcpy(&state,
               record_states(scenario->record, final) +
                   (size_t)hc_world_player(world, player) * world->stride,
               sizeof state);
        printf("inputs %3u ms late: shoved %u times in 30 s\n", latency_ms[i], state.shoved);
        ck_assert_uint_gt(state.shoved, 200);
        scenario_check_final(scenario, i);
    }
    const struct hc_server_stats *stats = hc_server_stats(hc_sim_host(scenario->sim));
    printf("%lu inputs came late, %lu rewinds\n", (unsigned long)stats->inputs_late,
           (unsigned long)stats->rewind_depth.count);
    ck_assert_uint_gt(stats->inputs_late, 3 * 30 * 60);
    ck_assert_uint_eq(stats->inputs_forced, 0);
    check_in_time(scenario);
    scenario_check_hashes(scenario);
    scenario_destroy(scenario);
}
END_TEST

// ---- Inputs for a far future --------------------------------------------------------------------

/// The inputs that the hostile client sends instead of its own.
enum hostility {
    SILENT,      ///< no inputs at all
    FAR,         ///< inputs for ticks beyond the future that the server accepts
    FAR_FORCING, ///< inputs as in FAR, with a request to force all ticks before them
    NEAR,        ///< inputs for ticks that the server accepts: the control
};

enum { HOSTILE = 0, HOSTILE_TICKS = 360 };

/// A scenario in which one client's datagrams are forged.
struct attack {
    struct scenario *scenario;
    uint32_t cid, seq;        ///< of the hostile client: its own, and the newest used
    uint64_t accepted, sent;  ///< inputs in accepted datagrams; datagrams
    uint64_t malformed;       ///< datagrams refused
    uint64_t digest[CLIENTS]; ///< of all that each client has predicted
};

static void note_seq(void *context, struct hc_sim *sim, unsigned client, const uint8_t *bytes,
                     size_t size) {
    struct attack *attack = context;
    struct hc_data data;
    (void)sim;
    if (client != HOSTILE || hc_datagram_get_data(bytes, size, &data) != HC_OK)
        return;
    attack->cid = data.cid;
    attack->seq = data.seq;
}

static void digest_client(void *context, struct hc_sim *sim, unsigned client) {
    struct attack *attack = context;
    const struct hc_timeline *timeline = hc_client_timeline(hc_sim_client(sim, client));
    if (timeline == NULL || !hc_timeline_started(timeline))
        return;
    hc_tick head = hc_timeline_head(timeline);
    uint64_t hash = hc_timeline_hash(timeline, head);
    attack->digest[client] = XXH64(&hash, sizeof hash, attack->digest[client] ^ head);
}

/// Always runs to the right.
static const void *forged_input(void *context, uint32_t index, uint32_t player) {
    static const struct hc_arena_input input = {.move_x = 1, .aim = 77, .fire = 1};
    (void)context, (void)index, (void)player;
    return &input;
}

/// The tick of the first input in the `n`-th forged datagram.
static hc_tick far_tick(hc_tick head, unsigned n) {
    const hc_tick ticks[] = {head + 65,      head + 66,    head + 127,     head + 128,
                             head + 129,     head + 577,   head + 100000,  INT32_MAX,
                             1u << 31,       1u << 31 | 1, HC_NO_TICK - 9, HC_NO_TICK - 2,
                             HC_NO_TICK - 1, HC_NO_TICK};
    return ticks[n % (sizeof ticks / sizeof ticks[0])];
}

/// Gives the server the hostile client's next datagram.
static void send_forged(struct attack *attack, enum hostility hostility, unsigned n) {
    struct hc_sim *sim = attack->scenario->sim;
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct hc_writer body = hc_bytes_writer(bytes + HC_DATA_BODY_AT, HC_DATA_BODY_MAX);
    hc_tick head = hc_timeline_head(hc_server_timeline(hc_sim_host(sim)));
    struct hc_input_message message = {.client_tick = head, .first = head + 1};
    if (hostility == FAR || hostility == FAR_FORCING)
        message.first = far_tick(head, n);
    if (hostility != SILENT)
        message.count = hostility == NEAR ? 64 : 1 + n % 5;
    if (hostility == FAR_FORCING)
        message.force_before = message.first;
    ck_assert(hc_message_put_input(&body, &hc_arena, 1, &message, forged_input, NULL));
    struct hc_data data = {.cid = attack->cid,
                           .seq = ++attack->seq,
                           .body = bytes + HC_DATA_BODY_AT,
                           .body_size = body.at};
    size_t size = hc_datagram_put_data(&data, bytes);
    struct hc_address from = hc_sim_address(sim, HOSTILE);
    uint8_t room[HC_DATAGRAM_MAX];
    enum hc_status status =
        hc_server_receive(hc_sim_host(sim), &from, hc_sim_seal(sim, true, bytes, size, room), size,
                          hc_sim_host_now(sim));
    // Inputs beyond the last possible tick make a message malformed.
    bool sound = message.first < HC_NO_TICK && message.count <= HC_NO_TICK - message.first;
    ck_assert_int_eq(status, sound ? HC_OK : HC_MALFORMED);
    attack->sent++;
    attack->malformed += !sound;
    attack->accepted += sound ? message.count : 0;
}

/// A scenario of 8 s; in the last 6 the hostile client's datagrams are forged.
static void run_attack(struct attack *attack, enum hostility hostility) {
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, CLIENTS, 50, 352);
    *attack = (struct attack){.scenario = scenario_create(&config)};
    hc_sim_observe(attack->scenario->sim,
                   &(struct hc_sim_hooks){.client_sent = note_seq, .client_changed = digest_client},
                   attack);
    ck_assert(hc_sim_join_all(attack->scenario->sim));
    hc_sim_run(attack->scenario->sim, 2 * SECOND_US);
    hc_sim_kill(attack->scenario->sim, HOSTILE);
    hc_sim_run(attack->scenario->sim, 200 * MS_US); // its own last datagrams arrive
    for (unsigned n = 0; n < HOSTILE_TICKS; n++) {
        send_forged(attack, hostility, n);
        hc_sim_run(attack->scenario->sim, TICK_US);
    }
}

/// Fails the test unless both scenarios have the same world, effective inputs, slots of the others
/// and predictions of the others. Returns the number of compared ticks.
static hc_tick compare_attacks(const struct attack *a, const struct attack *b) {
    const struct final_record *one = a->scenario->record, *two = b->scenario->record;
    const struct hc_world *world = record_world(one);
    hc_tick end = hc_tick_min(record_final(one), record_final(two));
    for (hc_tick tick = 0; tick < end; tick++) {
        REQUIRE(record_hash(one, tick) == record_hash(two, tick), "tick %u differs", tick);
        ck_assert_mem_eq(record_inputs(one, tick), record_inputs(two, tick),
                         (size_t)world->players * world->game->input_size);
        for (unsigned i = HOSTILE + 1; i < CLIENTS; i++) {
            hc_player player = hc_client_player(hc_sim_client(a->scenario->sim, i), 0);
            enum hc_slot slot = record_slot(one, player, tick);
            REQUIRE(slot == record_slot(two, player, tick), "slot %u of %u differs", tick, player);
            REQUIRE(tick <= a->scenario->joined[player] || slot == HC_SLOT_KNOWN,
                    "slot %u of %u is not known", tick, player);
        }
    }
    for (unsigned i = HOSTILE + 1; i < CLIENTS; i++) {
        REQUIRE(a->digest[i] == b->digest[i], "client %u has predicted otherwise", i);
        ck_assert_uint_eq(hc_client_stats(hc_sim_client(b->scenario->sim, i))->stalls, 0);
    }
    return end;
}

static const struct hc_server_stats *stats_of(const struct attack *attack) {
    return hc_server_stats(hc_sim_host(attack->scenario->sim));
}

START_TEST(inputs_for_a_far_future_are_refused_and_change_nothing) {
    static struct attack silent, attack;
    run_attack(&silent, SILENT);
    ck_assert_uint_eq(stats_of(&silent)->inputs_refused, 0);
    for (enum hostility hostility = FAR; hostility <= FAR_FORCING; hostility++) {
        run_attack(&attack, hostility);
        hc_tick ticks = compare_attacks(&silent, &attack);
        printf("%s: %lu datagrams, of which %lu malformed; %lu inputs, %lu refused; %u ticks are "
               "the same as without\n",
               hostility == FAR ? "far inputs" : "far inputs that force what is before them",
               (unsigned long)attack.sent, (unsigned long)attack.malformed,
               (unsigned long)attack.accepted, (unsigned long)stats_of(&attack)->inputs_refused,
               ticks);
        ck_assert_uint_gt(ticks, 400);
        ck_assert_uint_gt(attack.malformed, 0);
        ck_assert_uint_gt(attack.accepted, HOSTILE_TICKS);
        ck_assert_uint_eq(stats_of(&attack)->inputs_refused, attack.accepted);
        ck_assert_uint_eq(stats_of(&attack)->inputs_received, stats_of(&silent)->inputs_received);
        ck_assert_uint_eq(scenario_host_rejected(attack.scenario) -
                              scenario_host_rejected(silent.scenario),
                          attack.malformed);
        record_check_plain(attack.scenario->record);
        scenario_destroy(attack.scenario);
    }
    scenario_destroy(silent.scenario);
}
END_TEST

START_TEST(inputs_within_the_future_limit_are_accepted_and_affect_only_their_player) {
    static struct attack silent, attack;
    run_attack(&silent, SILENT);
    run_attack(&attack, NEAR);
    uint64_t more = stats_of(&attack)->inputs_received - stats_of(&silent)->inputs_received;
    printf("near inputs: %lu taken, %lu refused\n", (unsigned long)more,
           (unsigned long)stats_of(&attack)->inputs_refused);
    // Each tick from the first input to the last plus the future limit, once.
    ck_assert_uint_ge(more, HOSTILE_TICKS + 63 - 1);
    ck_assert_uint_eq(stats_of(&attack)->inputs_refused, 0);
    hc_tick final =
        hc_tick_min(record_final(silent.scenario->record), record_final(attack.scenario->record));
    ck_assert(record_hash(silent.scenario->record, final) !=
              record_hash(attack.scenario->record, final));
    for (unsigned i = HOSTILE + 1; i < CLIENTS; i++) {
        hc_player player = hc_client_player(hc_sim_client(attack.scenario->sim, i), 0);
        ck_assert_uint_eq(record_count_forced(attack.scenario->record, player,
                                              attack.scenario->joined[player] + 1, final),
                          0);
    }
    record_check_plain(attack.scenario->record);
    scenario_destroy(attack.scenario);
    scenario_destroy(silent.scenario);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("reports of inputs");
    TCase *tests = tcase_create("reports of inputs");
    tcase_add_test(tests, a_late_input_undoes_no_shove_of_its_player);
    tcase_add_test(tests, inputs_for_a_far_future_are_refused_and_change_nothing);
    tcase_add_test(tests, inputs_within_the_future_limit_are_accepted_and_affect_only_their_player);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
