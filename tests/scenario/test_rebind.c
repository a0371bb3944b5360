/// Clients change their address every other second, and thieves send copies from other addresses;
/// the tests count the cost.
#include "client/client.h"
#include "tests/scenario/scenario.h"
#include "tests/scenario/require.h"
#include "tests/sim/sim.h"

#include "hindcast/arena.h"
#include "hindcast/rng.h"
#include "tests/run_suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LATENCY_MS = 40,
    RTT_MS = 2 * LATENCY_MS,
    CLIENTS_MAX = 40,
    SEQS = 8192,
    MESSAGE_AT = HC_DATA_BODY_AT + 1, ///< after the array's header
    CHALLENGE_SIZE = HC_DATA_BODY_AT + HC_PATH_MESSAGE_SIZE + HC_TAG_SIZE,
};

/// One client's datagrams from the server, and its newest change of address.
struct mover {
    uint64_t sent_us[SEQS]; ///< 0: never
    bool received[SEQS];
    uint32_t loss_checked_to; ///< losses before this seq are counted
    uint64_t changed_us;      ///< 0: it has received a snapshot since
    uint32_t smallest_sent;   ///< bytes of its smallest DATA
    uint32_t lost_most, lost;
    uint64_t silence_most_us;
    uint64_t snapshots, snapshot_bytes; ///< received
    uint32_t snapshot_most;             ///< bytes of the largest
};

/// The clients of a world, and a thief of client 0's datagrams.
struct scene {
    struct mover movers[CLIENTS_MAX];
    unsigned thief_every; ///< copies every so many datagrams of client 0; 0: none
    bool thief_roams;     ///< each copy comes from another address
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
    mover->received[seq] = true;
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

static bool client_sends(void *context, struct hc_sim *sim, unsigned client, uint8_t *bytes,
                         size_t size) {
    struct scene *scene = context;
    struct mover *mover = &scene->movers[client];
    uint32_t seq;
    if (!is_data(bytes, size, &seq))
        return true;
    if (mover->smallest_sent == 0 || size < mover->smallest_sent)
        mover->smallest_sent = (uint32_t)size;
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
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, clients, LATENCY_MS, seed);
    config.host.clients = (uint16_t)clients;
    config.host.tick_rate = rate;
    config.hooks.host_sent = host_sent;
    config.hooks.client_received = client_received;
    config.hooks.tamper = client_sends;
    config.context = scene;
    return config;
}

/// A simulation in which all clients have played for two seconds.
static struct hc_sim *begin(const struct hc_sim_config *config) {
    struct hc_sim *sim = hc_sim_create(config);
    ck_assert(sim != NULL);
    for (unsigned c = 0; c < config->clients; c++) {
        ck_assert(hc_sim_connect(sim, c));
        hc_sim_run(sim, 3 * MS_US);
    }
    hc_sim_run(sim, 2 * SECOND_US);
    return sim;
}

static const struct hc_server_stats *host_stats(struct hc_sim *sim) {
    return hc_server_stats(hc_sim_host(sim));
}

/// Counts the clients that never lost their connection; fails the test if one received a state with
/// another hash.
static unsigned connected(struct hc_sim *sim) {
    unsigned count = 0;
    for (unsigned c = 0; c < hc_sim_clients(sim); c++) {
        const struct hc_client_stats *stats = hc_client_stats(hc_sim_client(sim, c));
        ck_assert_uint_eq(stats->hash_mismatches, 0);
        count += hc_client_state(hc_sim_client(sim, c)) == HC_CLIENT_PLAYING && stats->losses == 0;
    }
    return count;
}

// ---- Clients that move --------------------------------------------------------------------------

/// The cost of changes of address.
struct cost {
    unsigned connected, changes;
    uint64_t silence_us;
    uint32_t datagrams; ///< of the server, at one change
    uint64_t lost;      ///< datagrams of the server lost at all changes
    uint64_t inputs;    ///< inputs that did not take effect
    uint32_t smallest_sent, snapshot_most;
};

/// Counts the datagrams to a client that have not arrived, although they had the time.
static void judge(struct hc_sim *sim, struct mover *mover) {
    uint32_t lost = 0;
    for (; mover->loss_checked_to < SEQS; mover->loss_checked_to++) {
        uint64_t sent_us = mover->sent_us[mover->loss_checked_to];
        if (sent_us + (LATENCY_MS + 1) * MS_US > hc_sim_now(sim) ||
            (sent_us == 0 && mover->loss_checked_to > 0))
            break;
        lost += sent_us != 0 && !mover->received[mover->loss_checked_to];
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
        judge(sim, &scene->movers[c]); // before any change
    for (unsigned c = 0; c < config->clients; c++)
        scene->movers[c].lost = scene->movers[c].lost_most = 0;
    uint64_t begun_us = hc_sim_now(sim);
    for (unsigned c = 0; c < config->clients; c++)
        scene->movers[c].snapshot_most = 0; // the first one carries everything
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
    hc_sim_run(sim, SECOND_US);
    cost.connected = connected(sim);
    for (unsigned c = 0; c < config->clients; c++) {
        struct mover *mover = &scene->movers[c];
        judge(sim, mover);
        cost.lost += mover->lost;
        cost.datagrams = mover->lost_most > cost.datagrams ? mover->lost_most : cost.datagrams;
        cost.silence_us =
            mover->silence_most_us > cost.silence_us ? mover->silence_most_us : cost.silence_us;
        cost.snapshot_most =
            mover->snapshot_most > cost.snapshot_most ? mover->snapshot_most : cost.snapshot_most;
        if (cost.smallest_sent == 0 || mover->smallest_sent < cost.smallest_sent)
            cost.smallest_sent = mover->smallest_sent;
        ck_assert_uint_eq(mover->changed_us, 0); // it has received a snapshot since
        ck_assert_uint_eq(hc_sim_events(sim, c)->count[HC_CLIENT_EVENT_MOVED], changes);
    }
    cost.inputs = host_stats(sim)->inputs_forced + host_stats(sim)->inputs_lost;
    ck_assert_uint_eq(host_stats(sim)->moved, cost.changes);
    hc_sim_destroy(sim);
    return cost;
}

/// Fifty clients, five in a world, move every other second; ten with the expensive checks on.
enum { WORLDS = HC_VALIDATE ? 2 : 10, EACH = 5, SESSIONS = WORLDS * EACH };

static struct cost move_all(uint16_t rate, uint32_t loss_ppm, unsigned changes) {
    struct cost all = {.connected = 0};
    for (unsigned w = 0; w < WORLDS; w++) {
        struct scene *scene = calloc(1, sizeof *scene);
        ck_assert(scene != NULL);
        struct hc_sim_config config = configure(scene, EACH, rate, 700 + w);
        config.up.loss_ppm = config.down.loss_ppm = loss_ppm;
        struct cost cost = move(&config, changes, 2 * SECOND_US);
        all.connected += cost.connected;
        all.changes += cost.changes;
        all.lost += cost.lost;
        all.inputs += cost.inputs;
        all.silence_us = cost.silence_us > all.silence_us ? cost.silence_us : all.silence_us;
        all.datagrams = cost.datagrams > all.datagrams ? cost.datagrams : all.datagrams;
        free(scene);
    }
    printf("%u Hz, %u %% loss: %u of %d kept over %u changes; silent for %.1f ms at most, %u "
           "datagrams lost at most, %.1f each time; %lu inputs lost\n",
           rate, loss_ppm / 10000, all.connected, SESSIONS, all.changes,
           (double)all.silence_us / MS_US, all.datagrams, (double)all.lost / all.changes,
           (unsigned long)all.inputs);
    return all;
}

/// Checks the cost on links that lose no datagram.
static void check_all(uint16_t rate) {
    uint32_t tick_us = (uint32_t)SECOND_US / rate + 1;
    struct cost cost = move_all(rate, 0, 6);
    ck_assert_uint_eq(cost.connected, SESSIONS);
    // After a change the client sends within a tick, and its datagram takes half a round trip. The
    // server answers within a tick, which takes the other half.
    ck_assert_uint_le(cost.silence_us, RTT_MS * MS_US + 2 * tick_us);
    ck_assert_uint_le(cost.datagrams, (uint32_t)RTT_MS * rate / 1000 + 2);
    ck_assert_uint_eq(cost.inputs, 0);
}

START_TEST(a_client_that_moves_every_other_second_loses_at_most_a_round_trip_at_30_hz) {
    check_all(30);
}
END_TEST

START_TEST(a_client_that_moves_every_other_second_loses_at_most_a_round_trip_at_60_hz) {
    check_all(60);
}
END_TEST

START_TEST(moving_clients_stay_connected_when_datagrams_are_lost) {
    for (uint16_t rate = 30; rate <= 60; rate += 30) {
        struct cost cost = move_all(rate, 50000, 3);
        ck_assert_uint_eq(cost.connected, SESSIONS);
        // Three datagrams in a row that would end the silence may be lost; each is sent again with
        // the next tick.
        ck_assert_uint_le(cost.silence_us, RTT_MS * MS_US + 5 * ((uint32_t)SECOND_US / rate + 1));
    }
}
END_TEST

START_TEST(a_snapshot_too_large_for_a_new_address_waits_for_more_datagrams_from_it) {
    enum { CROWD = 40, RATE = 60, CHANGES = 2, TICK_US = SECOND_US / RATE + 1 };
    struct scene *scene = calloc(1, sizeof *scene);
    ck_assert(scene != NULL);
    struct hc_sim_config config = configure(scene, CROWD, RATE, 720);
    struct cost cost = move(&config, CHANGES, SECOND_US);
    ck_assert_uint_eq(cost.connected, CROWD);
    // Three bytes may answer one, and the PATH_CHALLENGE goes first: the client must send so many
    // datagrams before the largest snapshot.
    uint32_t needed = (CHALLENGE_SIZE + cost.snapshot_most - 1) / (3 * cost.smallest_sent) + 1;
    ck_assert(needed >= 3 && needed <= 6);
    printf("snapshots of up to %u bytes for datagrams of %u: silent for %.1f ms at most\n",
           cost.snapshot_most, cost.smallest_sent, (double)cost.silence_us / MS_US);
    ck_assert_uint_le(cost.silence_us, RTT_MS * MS_US + (needed + 1) * TICK_US);
    ck_assert_uint_eq(cost.inputs, 0);
    free(scene);
}
END_TEST

// ---- Paths that carry less ----------------------------------------------------------------------

/// A path that loses large datagrams, and the effect.
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

START_TEST(a_client_that_moves_to_a_path_of_smaller_datagrams_plays_on) {
    enum { CROWD = 40, MOST = 600, EVENTS = 60, WITHIN_S = 5 };
    static const uint8_t event[HC_MESSAGE_SIZE_MAX];
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
    unsigned received = 0;
    for (unsigned i = 0; i < EVENTS; i++)
        ck_assert_int_eq(hc_server_send_message(hc_sim_host(sim), client->link.connection.cid,
                                                event, sizeof event, hc_sim_host_now(sim)),
                         HC_OK);
    narrow.most = MOST;
    narrow.silence_us = 0;
    hc_sim_rebind(sim, 0);
    for (unsigned ms = 0; ms < WITHIN_S * 1000; ms += 10) {
        size_t size;
        hc_sim_run(sim, 10 * MS_US);
        while (hc_client_next_message(client, &size) != NULL)
            received++;
    }
    printf(
        "%u of %d events came; %u datagrams too large for the path; silent for %.0f ms at most\n",
        received, EVENTS, narrow.lost, (double)narrow.silence_us / MS_US);
    fflush(stdout);
    ck_assert_uint_gt(narrow.lost, 0);
    ck_assert_uint_eq(received, EVENTS);
    ck_assert_uint_le(narrow.silence_us, SECOND_US);
    ck_assert_uint_eq(connected(sim), CROWD);
    hc_sim_destroy(sim);
    free(scene);
}
END_TEST

// ---- Clients that move all the time -------------------------------------------------------------

enum {
    TICK_US = SECOND_US / 60 + 1,
    STEP_MS = 10,
    MOVE_MS = 670, ///< from one move to the next: 40 ticks
    JOURNEY_MS = 14 * MOVE_MS,
    OUTAGE_MS = 4 * MOVE_MS, ///< the first outage begins so late; others later after a move
};

/// A client that moves every MOVE_MS, and an outage of its link.
struct journey {
    uint32_t latency_ms;
    uint32_t loss_ppm;  ///< on both ways, all the time
    uint32_t outage_ms; ///< 0: none
    uint32_t from_ms;   ///< when the outage begins
    bool both_ways;     ///< the client's datagrams are lost, too
};

static void note_silence(struct narrow *narrow, uint64_t now_us) {
    if (now_us - narrow->newest_us > narrow->silence_us)
        narrow->silence_us = now_us - narrow->newest_us;
}

/// The client's longest time without a snapshot, outside the outage.
static uint64_t longest_silence_us(const struct journey *journey) {
    struct narrow narrow = {.most = 0};
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, 1, journey->latency_ms, 770);
    config.up.loss_ppm = config.down.loss_ppm = journey->loss_ppm;
    config.hooks.client_received = narrow_received;
    config.context = &narrow;
    struct hc_network_sim_config dead = {.loss_ppm = HC_NETWORK_SIM_PPM};
    struct hc_sim *sim = begin(&config);
    narrow.silence_us = 0;
    for (uint32_t ms = 0; ms < JOURNEY_MS; ms += STEP_MS) {
        bool outage = journey->outage_ms > 0;
        if (ms % MOVE_MS == 0)
            hc_sim_rebind(sim, 0);
        if (outage && ms == journey->from_ms)
            hc_sim_set_link(sim, 0, journey->both_ways ? &dead : NULL, &dead);
        if (outage && ms == journey->from_ms + journey->outage_ms) {
            hc_sim_set_link(sim, 0, &config.up, &config.down);
            narrow.newest_us = hc_sim_now(sim);
        }
        hc_sim_run(sim, STEP_MS * MS_US);
    }
    note_silence(&narrow, hc_sim_now(sim));
    ck_assert_uint_eq(connected(sim), 1);
    hc_sim_destroy(sim);
    return narrow.silence_us;
}

START_TEST(a_client_that_moves_every_40_ticks_is_served_within_a_round_trip) {
    for (uint32_t latency_ms = 10; latency_ms <= 250; latency_ms += 80)
        for (uint32_t lossy = 0; lossy < 2; lossy++) {
            struct journey journey = {.latency_ms = latency_ms, .loss_ppm = lossy * 50000};
            uint64_t silence_us = longest_silence_us(&journey);
            printf("moves every 40 ticks, %u ms each way, %u %% loss: silent for %.1f ms at most\n",
                   latency_ms, lossy * 5, (double)silence_us / MS_US);
            fflush(stdout);
            // A tick each of the client, the server and the snapshot before; three in a row are
            // lost.
            ck_assert_uint_le(silence_us, 2 * latency_ms * MS_US + (3 + 3 * lossy) * TICK_US);
        }
}
END_TEST

/// The longest silence after outages at several times after a move.
static uint64_t longest_after_outage_us(struct journey journey) {
    enum { PHASE_MS = 160 };
    uint64_t longest_us = 0;
    for (uint32_t phase_ms = 0; phase_ms < MOVE_MS; phase_ms += PHASE_MS) {
        journey.from_ms = OUTAGE_MS + phase_ms;
        uint64_t silence_us = longest_silence_us(&journey);
        longest_us = silence_us > longest_us ? silence_us : longest_us;
    }
    return longest_us;
}

START_TEST(a_client_that_moves_every_40_ticks_is_served_soon_after_an_outage) {
    for (uint32_t latency_ms = 10; latency_ms <= 100; latency_ms += 90)
        for (uint32_t outage_ms = 600; outage_ms <= 2400; outage_ms *= 4)
            for (unsigned both = 0; both < 2; both++) {
                uint64_t silence_us = longest_after_outage_us((struct journey){
                    .latency_ms = latency_ms, .outage_ms = outage_ms, .both_ways = both == 1});
                printf("moves every 40 ticks, %u ms each way, %u ms without link%s: silent for "
                       "%.1f ms at most\n",
                       latency_ms, outage_ms, both == 1 ? "" : " to the client",
                       (double)silence_us / MS_US);
                fflush(stdout);
                // The client leaves an address just before the challenge arrives. The server gives
                // up that address when it is silent, and challenges the next one.
                uint64_t most_us =
                    HC_PATH_SILENT_US + HC_PATH_CHALLENGE_US + 4 * latency_ms * MS_US + 4 * TICK_US;
                // Challenges that the outage lost made the next ones rare, until the next move.
                ck_assert_uint_le(silence_us, most_us + (both == 1 ? 0 : MOVE_MS * MS_US));
            }
}
END_TEST

// ---- Thieves ------------------------------------------------------------------------------------

enum { VICTIMS = 12, THEFT_S = 10 };

/// Plays ten seconds while a thief sends copies of every `every`-th datagram of client 0, which
/// arrive first (0: there is no thief).
static struct scene *play_with_thief(unsigned every, bool roams, uint32_t client_rate) {
    struct scene *scene = calloc(1, sizeof *scene);
    ck_assert(scene != NULL);
    struct hc_sim_config config = configure(scene, VICTIMS, 60, 730);
    config.host.client_rate = client_rate;
    struct hc_sim *sim = begin(&config);
    scene->movers[0].snapshots = scene->movers[0].snapshot_bytes = 0;
    scene->thief_every = every;
    scene->thief_roams = roams;
    hc_sim_run(sim, THEFT_S * SECOND_US);
    ck_assert_uint_eq(host_stats(sim)->moved, 0);
    ck_assert_uint_eq(connected(sim), VICTIMS);
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
    // Three times the copies of the first second; then a PATH_CHALLENGE of 45 bytes every 0.8 s.
    ck_assert_uint_le(bytes, 16000);
    hc_sim_destroy(sim);
    return scene;
}

/// Whether `with` is at least 0.98 of `without`.
static bool as_good(uint64_t with, uint64_t without) {
    return 100 * with >= 98 * without;
}

START_TEST(copies_that_arrive_first_cost_their_client_nothing) {
    static const uint32_t rates[] = {262144, 6500}; // enough for all snapshots, and less
    static const unsigned every[] = {1, 4};
    for (unsigned r = 0; r < 2; r++) {
        struct scene *undisturbed = play_with_thief(0, false, rates[r]);
        for (unsigned e = 0; e < 2; e++) {
            struct scene *disturbed = play_with_thief(every[e], e == 1, rates[r]);
            ck_assert(as_good(disturbed->movers[0].snapshots, undisturbed->movers[0].snapshots));
            ck_assert(as_good(disturbed->movers[0].snapshot_bytes,
                              undisturbed->movers[0].snapshot_bytes));
            free(disturbed);
        }
        free(undisturbed);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("rebind");
    TCase *moving = tcase_create("moving");
    tcase_add_test(moving,
                   a_client_that_moves_every_other_second_loses_at_most_a_round_trip_at_30_hz);
    tcase_add_test(moving, moving_clients_stay_connected_when_datagrams_are_lost);
    tcase_add_test(moving, a_snapshot_too_large_for_a_new_address_waits_for_more_datagrams_from_it);
    tcase_add_test(moving, a_client_that_moves_every_40_ticks_is_served_within_a_round_trip);
    tcase_add_test(moving, a_client_that_moves_every_40_ticks_is_served_soon_after_an_outage);
    suite_add_tcase(suite, moving);
    TCase *long_plays = add_long_plays(suite);
    tcase_add_test(long_plays, a_client_that_moves_to_a_path_of_smaller_datagrams_plays_on);
    tcase_add_test(long_plays, copies_that_arrive_first_cost_their_client_nothing);
    tcase_add_test(long_plays,
                   a_client_that_moves_every_other_second_loses_at_most_a_round_trip_at_60_hz);
    return run_suite(suite);
}
