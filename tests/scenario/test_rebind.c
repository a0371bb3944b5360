/// Clients whose address changes every ten seconds: what that costs them, counted; and thieves who
/// would have it look so.
#include "client/session_internal.h"
#include "tests/scenario/play.h"
#include "tests/scenario/require.h"
#include "tests/sim/sim.h"

#include "hindcast/arena.h"
#include "hindcast/rng.h"
#include "tests/run_suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MS = 1000,
    SECOND = 1000 * MS,
    LATENCY_MS = 40,
    RTT_MS = 2 * LATENCY_MS,
    CLIENTS_MAX = 100,
    SEQS = 8192,
    MESSAGE_AT = HC_DATA_BODY_AT + 1, ///< after the array's header
    CHALLENGE_SIZE = HC_DATA_BODY_AT + HC_PATH_MESSAGE_SIZE + HC_TAG_SIZE,
};

/// One client's datagrams from the server, and its newest change of address.
struct mover {
    uint64_t sent_us[SEQS]; ///< 0: never
    bool heard[SEQS];
    uint32_t loss_checked_to; ///< seqs before it have been looked at
    uint64_t changed_us;      ///< 0: it has heard a snapshot since
    uint32_t said_min;        ///< bytes of its smallest DATA
    uint32_t lost_most, lost;
    uint64_t silence_most_us;
    uint64_t snapshots, snapshot_bytes; ///< heard
    uint32_t snapshot_most;             ///< bytes of the largest
};

/// What was seen of all clients of a world, and what a thief does there.
struct scene {
    struct mover movers[CLIENTS_MAX];
    unsigned thief_every; ///< copies every so many datagrams of client 0; 0: none
    bool thief_roams;     ///< each from another address
    uint32_t seen, copied, copied_bytes;
};

static bool is_data(const uint8_t *bytes, size_t size, uint32_t *seq) {
    uint32_t cid;
    return hc_datagram_get_data_clear(bytes, size, &cid, seq) == HC_OK && *seq < SEQS;
}

static void host_sent(void *context, struct hc_sim *sim, unsigned client, const uint8_t *bytes,
                      size_t size) {
    struct scene *scene = context;
    uint32_t seq;
    if (is_data(bytes, size, &seq))
        scene->movers[client].sent_us[seq] = hc_sim_now(sim);
}

static void client_received(void *context, struct hc_sim *sim, unsigned client,
                            const uint8_t *bytes, size_t size, enum hc_status status) {
    struct scene *scene = context;
    struct mover *mover = &scene->movers[client];
    uint32_t seq;
    if (status != HC_OK || !is_data(bytes, size, &seq))
        return;
    mover->heard[seq] = true;
    if (bytes[MESSAGE_AT] != HC_MESSAGE_SNAPSHOT)
        return;
    mover->snapshots++;
    mover->snapshot_bytes += size;
    mover->snapshot_most = size > mover->snapshot_most ? (uint32_t)size : mover->snapshot_most;
    if (mover->changed_us == 0)
        return;
    uint64_t silence_us = hc_sim_now(sim) - mover->changed_us;
    if (silence_us > mover->silence_most_us)
        mover->silence_most_us = silence_us;
    mover->changed_us = 0;
}

static bool client_says(void *context, struct hc_sim *sim, unsigned client, uint8_t *bytes,
                        size_t size) {
    struct scene *scene = context;
    struct mover *mover = &scene->movers[client];
    uint32_t seq;
    if (!is_data(bytes, size, &seq))
        return true;
    if (mover->said_min == 0 || size < mover->said_min)
        mover->said_min = (uint32_t)size;
    if (client != 0 || scene->thief_every == 0 || scene->seen++ % scene->thief_every != 0)
        return true;
    uint16_t port = scene->thief_roams ? (uint16_t)(1 + scene->copied % 1000) : 77;
    hc_sim_inject(sim, client, port, hc_sim_sealed(sim), size);
    scene->copied++;
    scene->copied_bytes += (uint32_t)size;
    return true;
}

static struct hc_sim_config configure(struct scene *scene, unsigned clients, uint16_t rate,
                                      uint64_t seed) {
    struct hc_sim_config config = play_config_bare(clients, LATENCY_MS, seed);
    config.host.clients = (uint16_t)clients;
    config.host.tick_rate = rate;
    config.hooks.host_sent = host_sent;
    config.hooks.client_received = client_received;
    config.hooks.tamper = client_says;
    config.context = scene;
    return config;
}

/// A simulation in which everybody has played for two seconds.
static struct hc_sim *begin(const struct hc_sim_config *config) {
    struct hc_sim *sim = hc_sim_create(config);
    ck_assert(sim != NULL);
    for (unsigned c = 0; c < config->clients; c++) {
        ck_assert(hc_sim_connect(sim, c));
        hc_sim_run(sim, 3 * MS);
    }
    hc_sim_run(sim, 2 * SECOND);
    return sim;
}

static const struct hc_sv_host_stats *host_stats(struct hc_sim *sim) {
    return hc_sv_host_stats(hc_sim_host(sim));
}

/// Nobody has stalled, lost its connection or seen a state with another hash.
static unsigned kept(struct hc_sim *sim) {
    unsigned count = 0;
    for (unsigned c = 0; c < hc_sim_clients(sim); c++) {
        const struct hc_client_stats *stats = hc_client_stats(hc_sim_client(sim, c));
        ck_assert_uint_eq(stats->hash_mismatches, 0);
        count += hc_client_state(hc_sim_client(sim, c)) == HC_CLIENT_PLAYING && stats->losses == 0;
    }
    return count;
}

// ---- Clients that move --------------------------------------------------------------------------

/// What changes of address have cost, at most.
struct cost {
    unsigned kept, changes;
    uint64_t silence_us;
    uint32_t datagrams; ///< of the server, at one change
    uint64_t lost;      ///< of those in all
    uint64_t inputs;    ///< that did not take effect, in all
    uint32_t said_min, snapshot_most;
};

/// Counts what the server sent a client that has not arrived, of all that has had the time to.
static void judge(struct hc_sim *sim, struct mover *mover) {
    uint32_t lost = 0;
    for (; mover->loss_checked_to < SEQS; mover->loss_checked_to++) {
        uint64_t sent_us = mover->sent_us[mover->loss_checked_to];
        if (sent_us + (LATENCY_MS + 1) * MS > hc_sim_now(sim) ||
            (sent_us == 0 && mover->loss_checked_to > 0))
            break;
        lost += sent_us != 0 && !mover->heard[mover->loss_checked_to];
    }
    mover->lost += lost;
    mover->lost_most = lost > mover->lost_most ? lost : mover->lost_most;
}

/// Changes the address of each client of one world `changes` times, `every_us` apart, each at a
/// moment of its own within ticks.
static struct cost move(const struct hc_sim_config *config, unsigned changes, uint64_t every_us) {
    struct scene *scene = config->context;
    struct hc_sim *sim = begin(config);
    struct cost cost = {.changes = changes * config->clients};
    for (unsigned c = 0; c < config->clients; c++)
        judge(sim, &scene->movers[c]); // nothing has changed yet
    for (unsigned c = 0; c < config->clients; c++)
        scene->movers[c].lost = scene->movers[c].lost_most = 0;
    uint64_t begun_us = hc_sim_now(sim);
    for (unsigned c = 0; c < config->clients; c++)
        scene->movers[c].snapshot_most = 0; // the first one tells everything
    for (unsigned n = 0; n < changes; n++)
        for (unsigned c = 0; c < config->clients; c++) {
            struct mover *mover = &scene->movers[c];
            uint64_t apart_us = every_us / config->clients;
            uint64_t jitter_us = hc_random((uint32_t)config->seed, n, c, 3) % apart_us;
            hc_sim_run_until(sim, begun_us + n * every_us + c * apart_us + jitter_us);
            judge(sim, mover);
            hc_sim_rebind(sim, c);
            mover->changed_us = hc_sim_now(sim);
        }
    hc_sim_run(sim, SECOND);
    cost.kept = kept(sim);
    for (unsigned c = 0; c < config->clients; c++) {
        struct mover *mover = &scene->movers[c];
        judge(sim, mover);
        cost.lost += mover->lost;
        cost.datagrams = mover->lost_most > cost.datagrams ? mover->lost_most : cost.datagrams;
        cost.silence_us =
            mover->silence_most_us > cost.silence_us ? mover->silence_most_us : cost.silence_us;
        cost.snapshot_most =
            mover->snapshot_most > cost.snapshot_most ? mover->snapshot_most : cost.snapshot_most;
        if (cost.said_min == 0 || mover->said_min < cost.said_min)
            cost.said_min = mover->said_min;
        ck_assert_uint_eq(mover->changed_us, 0); // heard again
        ck_assert_uint_eq(hc_sim_events(sim, c)->count[HC_CLIENT_EVENT_MOVED], changes);
    }
    cost.inputs = host_stats(sim)->inputs_forced + host_stats(sim)->inputs_lost;
    ck_assert_uint_eq(host_stats(sim)->moved, cost.changes);
    hc_sim_destroy(sim);
    return cost;
}

/// Fifty sessions, five to a world, move every ten seconds. With all checks on, which takes many
/// times as long, ten of them do.
enum { WORLDS = HC_VALIDATE ? 2 : 10, EACH = 5, SESSIONS = WORLDS * EACH };

static struct cost move_all(uint16_t rate, uint32_t loss_ppm, unsigned changes) {
    struct cost all = {.kept = 0};
    for (unsigned w = 0; w < WORLDS; w++) {
        struct scene *scene = calloc(1, sizeof *scene);
        ck_assert(scene != NULL);
        struct hc_sim_config config = configure(scene, EACH, rate, 700 + w);
        config.up.loss_ppm = config.down.loss_ppm = loss_ppm;
        struct cost cost = move(&config, changes, 10 * SECOND);
        all.kept += cost.kept;
        all.changes += cost.changes;
        all.lost += cost.lost;
        all.inputs += cost.inputs;
        all.silence_us = cost.silence_us > all.silence_us ? cost.silence_us : all.silence_us;
        all.datagrams = cost.datagrams > all.datagrams ? cost.datagrams : all.datagrams;
        free(scene);
    }
    printf("%u Hz, %u %% loss: %u of %d kept over %u changes; silent for %.1f ms at most, %u "
           "datagrams lost at most, %.1f each time; %lu inputs lost\n",
           rate, loss_ppm / 10000, all.kept, SESSIONS, all.changes, (double)all.silence_us / MS,
           all.datagrams, (double)all.lost / all.changes, (unsigned long)all.inputs);
    return all;
}

/// On links that lose nothing nothing is lost but by the changes.
static void check_all(uint16_t rate) {
    uint32_t tick_us = (uint32_t)SECOND / rate + 1;
    struct cost cost = move_all(rate, 0, 6);
    ck_assert_uint_eq(cost.kept, SESSIONS);
    // From the change on: the client speaks within a tick of its own, which takes half a round trip
    // to the server; that speaks within a tick of its own, and what it says takes the other half.
    ck_assert_uint_le(cost.silence_us, RTT_MS * MS + 2 * tick_us);
    ck_assert_uint_le(cost.datagrams, (uint32_t)RTT_MS * rate / 1000 + 2);
    ck_assert_uint_eq(cost.inputs, 0);
}

START_TEST(who_moves_every_ten_seconds_loses_a_round_trip_at_most_at_30_hz) {
    check_all(30);
}
END_TEST

START_TEST(who_moves_every_ten_seconds_loses_a_round_trip_at_most_at_60_hz) {
    check_all(60);
}
END_TEST

START_TEST(where_datagrams_are_lost_all_who_move_are_kept) {
    for (uint16_t rate = 30; rate <= 60; rate += 30) {
        struct cost cost = move_all(rate, 50000, 3);
        ck_assert_uint_eq(cost.kept, SESSIONS);
        // Three in a row of what would end it may be lost, each of which is tried again with the
        // next tick.
        ck_assert_uint_le(cost.silence_us, RTT_MS * MS + 5 * ((uint32_t)SECOND / rate + 1));
    }
}
END_TEST

START_TEST(a_snapshot_that_is_large_for_a_new_address_waits_for_what_allows_it) {
    enum { CROWD = 100, RATE = 60, CHANGES = 2, TICK_US = SECOND / RATE + 1 };
    struct scene *scene = calloc(1, sizeof *scene);
    ck_assert(scene != NULL);
    struct hc_sim_config config = configure(scene, CROWD, RATE, 720);
    struct cost cost = move(&config, CHANGES, SECOND);
    ck_assert_uint_eq(cost.kept, CROWD);
    // Three bytes for one, the question first: so many datagrams of the client allow the largest.
    uint32_t needed = (CHALLENGE_SIZE + cost.snapshot_most - 1) / (3 * cost.said_min) + 1;
    ck_assert_uint_le(needed, 6);
    printf("snapshots of up to %u bytes for datagrams of %u: silent for %.1f ms at most\n",
           cost.snapshot_most, cost.said_min, (double)cost.silence_us / MS);
    ck_assert_uint_le(cost.silence_us, RTT_MS * MS + (needed + 1) * TICK_US);
    ck_assert_uint_eq(cost.inputs, 0);
    free(scene);
}
END_TEST

// ---- Paths that carry less ----------------------------------------------------------------------

/// What a path carries at most, and what came of that.
struct narrow {
    size_t most; ///< bytes of a datagram to client 0; 0: any
    struct hc_network_sim_config good, bad;
    unsigned lost;
    uint64_t newest_us, silence_us; ///< between two snapshots of client 0, at most
};

static void narrow_sent(void *context, struct hc_sim *sim, unsigned client, const uint8_t *bytes,
                        size_t size) {
    struct narrow *narrow = context;
    (void)bytes;
    if (client != 0)
        return;
    bool lost = narrow->most != 0 && size > narrow->most;
    narrow->lost += lost;
    hc_sim_set_link(sim, 0, NULL, lost ? &narrow->bad : &narrow->good);
}

static void narrow_received(void *context, struct hc_sim *sim, unsigned client,
                            const uint8_t *bytes, size_t size, enum hc_status status) {
    struct narrow *narrow = context;
    (void)size;
    if (client != 0 || status != HC_OK || bytes[MESSAGE_AT] != HC_MESSAGE_SNAPSHOT)
        return;
    uint64_t silence_us = hc_sim_now(sim) - narrow->newest_us;
    if (narrow->newest_us != 0 && silence_us > narrow->silence_us)
        narrow->silence_us = silence_us;
    narrow->newest_us = hc_sim_now(sim);
}

START_TEST(a_client_that_moves_to_a_path_of_smaller_datagrams_goes_on) {
    enum { CROWD = 100, MOST = 600, EVENTS = 60, WITHIN_S = 5 };
    static const uint8_t event[HC_EVENTS_SIZE_MAX];
    struct narrow narrow = {.most = 0};
    struct scene *scene = calloc(1, sizeof *scene);
    ck_assert(scene != NULL);
    struct hc_sim_config config = configure(scene, CROWD, 60, 740);
    config.hooks.host_sent = narrow_sent;
    config.hooks.client_received = narrow_received;
    config.hooks.tamper = NULL;
    config.context = &narrow;
    narrow.good = narrow.bad = config.down;
    narrow.bad.loss_ppm = HC_NETWORK_SIM_PPM;
    struct hc_sim *sim = begin(&config);
    struct hc_client *client = hc_sim_client(sim, 0);
    unsigned heard = 0;
    for (unsigned i = 0; i < EVENTS; i++)
        ck_assert_int_eq(hc_sv_host_send_message(hc_sim_host(sim), client->connection.cid, event,
                                                 sizeof event, hc_sim_host_now(sim)),
                         HC_OK);
    narrow.most = MOST;
    narrow.silence_us = 0;
    hc_sim_rebind(sim, 0);
    for (unsigned ms = 0; ms < WITHIN_S * 1000; ms += 10) {
        size_t size;
        hc_sim_run(sim, 10 * MS);
        while (hc_client_next_message(client, &size) != NULL)
            heard++;
    }
    printf(
        "%u of %d events came; %u datagrams too large for the path; silent for %.0f ms at most\n",
        heard, EVENTS, narrow.lost, (double)narrow.silence_us / MS);
    fflush(stdout);
    ck_assert_uint_gt(narrow.lost, 0);
    ck_assert_uint_eq(heard, EVENTS);
    ck_assert_uint_le(narrow.silence_us, SECOND);
    ck_assert_uint_eq(kept(sim), CROWD);
    hc_sim_destroy(sim);
    free(scene);
}
END_TEST

// ---- Thieves ------------------------------------------------------------------------------------

enum { VICTIMS = 12, THEFT_S = 30 };

/// What client 0 hears in half a minute, while a thief brings copies of every `every`-th of its
/// datagrams before they come (0: there is none).
static struct scene *rob(unsigned every, bool roams, uint32_t client_rate) {
    struct scene *scene = calloc(1, sizeof *scene);
    ck_assert(scene != NULL);
    struct hc_sim_config config = configure(scene, VICTIMS, 60, 730);
    config.host.client_rate = client_rate;
    struct hc_sim *sim = begin(&config);
    scene->movers[0].snapshots = scene->movers[0].snapshot_bytes = 0;
    scene->thief_every = every;
    scene->thief_roams = roams;
    hc_sim_run(sim, THEFT_S * SECOND);
    ck_assert_uint_eq(host_stats(sim)->moved, 0);
    ck_assert_uint_eq(kept(sim), VICTIMS);
    ck_assert_uint_eq(hc_client_stats(hc_sim_client(sim, 0))->stalls, 0);
    uint64_t bytes, sent = hc_sim_strangers(sim, &bytes);
    ck_assert_uint_le(bytes, 3 * (uint64_t)scene->copied_bytes);
    ck_assert(every != 0 || sent == 0);
    printf("share %u B/s, every %u-th copied%s: %lu snapshots, %lu bytes; the thief had %lu "
           "bytes for %u\n",
           client_rate, every, roams ? " from elsewhere" : "",
           (unsigned long)scene->movers[0].snapshots,
           (unsigned long)scene->movers[0].snapshot_bytes, (unsigned long)bytes,
           scene->copied_bytes);
    // Three times what came in the first second; then a question of 45 bytes every 0.8 s.
    ck_assert_uint_le(bytes, 16000);
    hc_sim_destroy(sim);
    return scene;
}

/// Whether `with` is at least 0.98 of `without`.
static bool as_good(uint64_t with, uint64_t without) {
    return 100 * with >= 98 * without;
}

START_TEST(copies_that_come_first_take_nothing_from_whom_they_are_of) {
    static const uint32_t rates[] = {262144, 6500}; // all that there is to say, and less
    static const unsigned every[] = {1, 4};
    for (unsigned r = 0; r < 2; r++) {
        struct scene *alone = rob(0, false, rates[r]);
        for (unsigned e = 0; e < 2; e++) {
            struct scene *robbed = rob(every[e], e == 1, rates[r]);
            ck_assert(as_good(robbed->movers[0].snapshots, alone->movers[0].snapshots));
            ck_assert(as_good(robbed->movers[0].snapshot_bytes, alone->movers[0].snapshot_bytes));
            free(robbed);
        }
        free(alone);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("rebind");
    TCase *moving = tcase_create("moving"), *thieves = tcase_create("thieves");
    tcase_add_test(moving, who_moves_every_ten_seconds_loses_a_round_trip_at_most_at_30_hz);
    tcase_add_test(moving, who_moves_every_ten_seconds_loses_a_round_trip_at_most_at_60_hz);
    tcase_add_test(moving, where_datagrams_are_lost_all_who_move_are_kept);
    tcase_add_test(moving, a_snapshot_that_is_large_for_a_new_address_waits_for_what_allows_it);
    tcase_add_test(moving, a_client_that_moves_to_a_path_of_smaller_datagrams_goes_on);
    tcase_add_test(thieves, copies_that_come_first_take_nothing_from_whom_they_are_of);
    suite_add_tcase(suite, moving);
    suite_add_tcase(suite, thieves);
    return run_suite(suite);
}
