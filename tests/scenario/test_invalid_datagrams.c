/// Forged and changed datagrams are refused and counted, and change nothing. Forged ones are sealed
/// correctly, because a hostile peer has its keys.
#include "tests/scenario/scenario.h"
#include "tests/scenario/require.h"

#include "hindcast/arena.h"
#include "hindcast/rng.h"
#include "proto/snapshot.h"
#include "tests/run_suite.h"
#include "tests/sim/tape.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { CLIENTS = 3, LATENCY_MS = 50, TAPE = 64 };

static bool is_fresh(const struct scenario *scenario, const struct hc_sim_taped *taped) {
    return taped->sent_us + LATENCY_MS * MS_US > hc_sim_now(scenario->sim);
}

// ---- Digests of a host and a client -------------------------------------------------------------

static uint64_t mix(uint64_t digest, const void *bytes, size_t size) {
    return XXH64(bytes, size, digest);
}

/// Digests a timeline: each tick, each slot and each input.
static uint64_t timeline_digest(const struct hc_world *world, const struct hc_timeline *timeline) {
    uint64_t digest = 0;
    hc_tick head = hc_timeline_head(timeline), oldest = hc_timeline_oldest(timeline);
    for (hc_tick tick = oldest; tick <= head; tick++) {
        uint64_t hash = hc_timeline_hash(timeline, tick);
        digest = mix(digest, &hash, sizeof hash);
    }
    for (hc_tick tick = oldest; tick < head + 64; tick++) {
        for (hc_player p = 0; p < world->players; p++) {
            enum hc_slot slot = hc_timeline_slot(timeline, p, tick);
            enum hc_roster roster_change = hc_timeline_roster(timeline, p, tick);
            digest = mix(digest, &slot, sizeof slot);
            digest = mix(digest, &roster_change, sizeof roster_change);
            if (slot == HC_SLOT_KNOWN)
                digest = mix(digest, hc_timeline_input(timeline, p, tick), world->game->input_size);
        }
    }
    return digest;
}

static uint64_t host_digest(const struct scenario *scenario) {
    const struct hc_server *host = hc_sim_host(scenario->sim);
    const struct hc_server_stats *stats = hc_server_stats(host);
    uint64_t digest = timeline_digest(record_world(scenario->record), hc_server_timeline(host));
    uint64_t numbers[] = {hc_sv_host_final(host, NULL),
                          hc_server_clients(host),
                          stats->joins,
                          stats->leaves,
                          stats->timeouts,
                          stats->denied,
                          stats->inputs_received,
                          stats->inputs_forced,
                          stats->inputs_lost};
    return mix(digest, numbers, sizeof numbers);
}

static uint64_t client_digest(const struct scenario *scenario, unsigned client) {
    const struct hc_client *core = hc_sim_client(scenario->sim, client);
    const struct hc_client_stats *stats = hc_client_stats(core);
    uint64_t digest = timeline_digest(record_world(scenario->record), hc_client_timeline(core));
    hc_tick shown = 0, as_of = 0, final = 0;
    uint64_t chain = 0;
    hc_client_snapshot(core, &shown, &as_of);
    hc_client_final(core, &final, &chain);
    uint64_t numbers[] = {shown,
                          as_of,
                          final,
                          chain,
                          hc_client_state(core),
                          stats->snapshots,
                          stats->corrections,
                          stats->inputs_forced,
                          stats->rtt_us.count};
    return mix(digest, numbers, sizeof numbers);
}

/// Fails the test unless the host refuses the bytes (with `may_answer` it may accept them), counts
/// that, and does not change.
static void give_host(struct scenario *scenario, const struct hc_address *from,
                      const uint8_t *bytes, size_t size, bool may_answer) {
    struct hc_server *host = hc_sim_host(scenario->sim);
    uint64_t before = host_digest(scenario), counted = scenario_host_rejected(scenario);
    enum hc_status status =
        hc_server_receive(host, from, bytes, size, hc_sim_host_now(scenario->sim));
    REQUIRE(may_answer || status != HC_OK, "%zu bytes of kind %02x were taken by the server", size,
            size > 0 ? bytes[0] : 0u);
    REQUIRE(scenario_host_rejected(scenario) == counted + (status != HC_OK),
            "a refusal was not counted");
    REQUIRE(host_digest(scenario) == before, "%zu bytes of kind %02x changed the server", size,
            size > 0 ? bytes[0] : 0u);
}

static void give_client(struct scenario *scenario, unsigned client, const uint8_t *bytes,
                        size_t size) {
    struct hc_client *core = hc_sim_client(scenario->sim, client);
    uint64_t before = client_digest(scenario, client),
             counted = scenario_client_rejected(scenario, client);
    enum hc_status status =
        hc_client_receive(core, bytes, size, hc_sim_client_now(scenario->sim, client));
    REQUIRE(status != HC_OK, "%zu bytes of kind %02x were taken by a client", size,
            size > 0 ? bytes[0] : 0u);
    REQUIRE(scenario_client_rejected(scenario, client) == counted + 1, "a refusal was not counted");
    REQUIRE(client_digest(scenario, client) == before, "%zu bytes of kind %02x changed a client",
            size, size > 0 ? bytes[0] : 0u);
}

/// The same with bytes that a peer with the keys has forged or changed.
static void attack_host(struct scenario *scenario, const struct hc_address *from,
                        const uint8_t *bytes, size_t size, bool may_answer) {
    uint8_t room[HC_DATAGRAM_MAX];
    give_host(scenario, from, hc_sim_seal(scenario->sim, true, bytes, size, room), size,
              may_answer);
}

static void attack_client(struct scenario *scenario, unsigned client, const uint8_t *bytes,
                          size_t size) {
    uint8_t room[HC_DATAGRAM_MAX];
    give_client(scenario, client, hc_sim_seal(scenario->sim, false, bytes, size, room), size);
}

// ---- The attacks --------------------------------------------------------------------------------

static struct scenario *begin(uint64_t seed, struct hc_sim_tape *tape) {
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, CLIENTS, LATENCY_MS, seed);
    config.client.stays_desynced = true; // it is given wrong states on purpose
    struct scenario *scenario = scenario_create(&config);
    hc_sim_tape_begin(tape, scenario->sim, TAPE);
    ck_assert(hc_sim_join_all(scenario->sim));
    return scenario;
}

/// Fails the test unless all clients still play in step some seconds later.
static void end(struct scenario *scenario) {
    hc_sim_run(scenario->sim, SECOND_US);
    hc_sim_release_keys(scenario->sim);
    hc_sim_run(scenario->sim, 2 * SECOND_US);
    for (unsigned i = 0; i < CLIENTS; i++) {
        ck_assert_int_eq(hc_sim_client_state(scenario->sim, i), HC_CLIENT_PLAYING);
        scenario_check_final(scenario, i);
    }
    ck_assert_uint_eq(hc_server_stats(hc_sim_host(scenario->sim))->inputs_forced, 0);
    record_check_plain(scenario->record);
    scenario_check_hashes(scenario);
    scenario_destroy(scenario);
}

START_TEST(garbage_is_refused) {
    static struct hc_sim_tape tape;
    struct scenario *scenario = begin(161, &tape);
    struct hc_rng rng = hc_rng_init(161, 1);
    static const uint8_t kinds[] = {1, 2, 3, 4, 5, 6, 0x40, 0x41, 0};
    struct hc_address stranger = hc_address_ipv4(127, 0, 0, 1, 999);
    for (unsigned n = 0; n < 1500; n++) {
        uint8_t bytes[HC_DATAGRAM_MAX];
        size_t size = n % 3 == 0 ? HC_DATAGRAM_MAX : hc_rng_below(&rng, HC_DATAGRAM_MAX + 1);
        for (size_t i = 0; i < size; i++)
            bytes[i] = (uint8_t)hc_rng_next(&rng);
        if (size > 0)
            bytes[0] = kinds[n % sizeof kinds];
        if (size > 8 && n % 2 == 0)
            memcpy(bytes + 1, HC_DATAGRAM_MAGIC, HC_MAGIC_SIZE);
        struct hc_address client = hc_sim_address(scenario->sim, n % CLIENTS);
        // The padding of a HELLO must be zeros, and noise is not.
        attack_host(scenario, n % 4 == 0 ? &client : &stranger, bytes, size, false);
        attack_client(scenario, n % CLIENTS, bytes, size);
        if (n % 50 == 0)
            hc_sim_run(scenario->sim, 20 * MS_US);
    }
    end(scenario);
}
END_TEST

START_TEST(truncated_datagrams_are_refused) {
    static struct hc_sim_tape tape;
    struct scenario *scenario = begin(162, &tape);
    unsigned tried = 0;
    for (unsigned n = 0; n < 10; n++) {
        hc_sim_run(scenario->sim, 100 * MS_US);
        for (unsigned i = 0; i < TAPE; i++) {
            const struct hc_sim_taped *up = &tape.up[i], *down = &tape.down[i];
            struct hc_address from = hc_sim_address(scenario->sim, up->client);
            if (i % 8 != n % 8)
                continue;
            // Only fresh ones, so that their seq is still acceptable.
            for (size_t size = 0; is_fresh(scenario, up) && size < up->size; size++, tried++)
                give_host(scenario, &from, up->sealed, size, false);
            for (size_t size = 0; is_fresh(scenario, down) && size < down->size; size++, tried++)
                give_client(scenario, down->client, down->sealed, size);
        }
    }
    ck_assert_uint_gt(tried, 1000);
    end(scenario);
}
END_TEST

START_TEST(replayed_datagrams_are_refused) {
    static struct hc_sim_tape tape;
    struct scenario *scenario = begin(163, &tape);
    struct hc_address stranger = hc_address_ipv4(127, 0, 0, 1, 999);
    unsigned tried = 0;
    // The host answers HELLO and CONNECT again, but no client joins twice.
    for (unsigned n = 0; n < 20; n++) {
        for (unsigned i = 0; i < TAPE; i++) {
            const struct hc_sim_taped *up = &tape.up[i], *down = &tape.down[i];
            struct hc_address from = hc_sim_address(scenario->sim, up->client);
            bool data = hc_datagram_kind(up->opened, up->size) == HC_DATAGRAM_DATA;
            if (up->size > 0 && !is_fresh(scenario, up)) {
                attack_host(scenario, &from, up->opened, up->size, !data);
                attack_host(scenario, &stranger, up->opened, up->size, !data);
            }
            if (down->size > 0 && !is_fresh(scenario, down))
                attack_client(scenario, down->client, down->opened, down->size);
            if (down->size > 0) // and another client's
                attack_client(scenario, (down->client + 1) % CLIENTS, down->opened, down->size);
            tried += 4;
        }
        hc_sim_run(scenario->sim, 100 * MS_US);
    }
    ck_assert_uint_gt(tried, 1000);
    end(scenario);
}
END_TEST

START_TEST(a_datagram_with_any_flipped_bit_is_refused) {
    static struct hc_sim_tape tape;
    struct scenario *scenario = begin(164, &tape);
    unsigned tried = 0;
    for (unsigned n = 0; n < 20; n++) {
        hc_sim_run(scenario->sim, 70 * MS_US);
        struct hc_sim_taped up = tape.up[(tape.ups - 1 - n % 3) % TAPE];
        struct hc_sim_taped down = tape.down[(tape.downs - 1 - n % 3) % TAPE];
        struct hc_address from = hc_sim_address(scenario->sim, up.client);
        // Fresh, as above.
        for (size_t bit = 0; bit < up.size * 8; bit++, tried++) {
            up.sealed[bit / 8] ^= (uint8_t)(1u << bit % 8);
            give_host(scenario, &from, up.sealed, up.size, false);
            up.sealed[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
        for (size_t bit = 0; bit < down.size * 8; bit++, tried++) {
            down.sealed[bit / 8] ^= (uint8_t)(1u << bit % 8);
            give_client(scenario, down.client, down.sealed, down.size);
            down.sealed[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
    }
    ck_assert_uint_gt(tried, 1000);
    end(scenario);
}
END_TEST

/// Finds the first bit of a snapshot's units and the end of its bits, counted from the datagram's
/// start; false: it holds no snapshot.
static bool find_units(const struct scenario *scenario, const struct hc_sim_taped *down,
                       size_t *first, size_t *end) {
    static struct hc_body body;
    struct hc_data data;
    struct hc_bits_reader bits;
    struct hc_snapshot head;
    struct hc_snapshot_forced forced;
    struct hc_snapshot_roster roster_change;
    hc_tick near = hc_timeline_head(hc_server_timeline(hc_sim_host(scenario->sim)));
    if (hc_datagram_get_data(down->opened, down->size, &data) != HC_OK ||
        hc_body_begin(&body, data.body, data.body_size) != HC_OK ||
        hc_body_next(&body) != HC_MESSAGE_SNAPSHOT ||
        hc_snapshot_get_message(&body, &bits) != HC_OK)
        return false;
    hc_snapshot_get(&bits, near, 1, &head);
    while (hc_snapshot_get_forced(&bits, &head, &forced)) {
    }
    while (
        hc_snapshot_get_roster(&bits, record_world(scenario->record), head.tick, &roster_change)) {
    }
    ck_assert(!bits.failed);
    size_t start = (size_t)(bits.data - down->opened);
    *first = (start + bits.at) * 8 - bits.count;
    *end = (start + bits.size) * 8;
    return true;
}

/// Gives a datagram to its client.
static enum hc_status give(const struct scenario *scenario, const struct hc_sim_taped *down,
                           uint64_t now) {
    uint8_t room[HC_DATAGRAM_MAX];
    return hc_client_receive(hc_sim_client(scenario->sim, down->client),
                             hc_sim_seal(scenario->sim, false, down->opened, down->size, room),
                             down->size, now);
}

START_TEST(the_hash_finds_flipped_bits_in_a_state) {
    static struct hc_sim_tape tape;
    struct scenario *scenario = begin(165, &tape);
    uint64_t mismatches = 0, refused = 0, taken = 0;
    for (unsigned n = 0; n < 100; n++) {
        hc_sim_run(scenario->sim, 70 * MS_US);
        struct hc_sim_taped down = tape.down[(tape.downs - 1) % TAPE];
        uint64_t now = hc_sim_client_now(scenario->sim, down.client);
        size_t bit, end;
        if (!find_units(scenario, &down, &bit, &end))
            continue;
        // An accepted snapshot may differ in inputs alone. It uses up its seq and ends this round.
        for (; bit < end; bit++) {
            uint64_t before = client_digest(scenario, down.client);
            down.opened[bit / 8] ^= (uint8_t)(1u << bit % 8);
            enum hc_status status = give(scenario, &down, now);
            taken += status == HC_OK;
            if (status == HC_OK)
                break;
            refused++;
            REQUIRE(client_digest(scenario, down.client) == before,
                    "a refused one changed a client");
            down.opened[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
    }
    for (unsigned i = 0; i < CLIENTS; i++)
        mismatches += hc_client_stats(hc_sim_client(scenario->sim, i))->hash_mismatches;
    printf("%lu flips refused, %lu of them found by the hash, %lu taken\n", (unsigned long)refused,
           (unsigned long)mismatches, (unsigned long)taken);
    ck_assert_uint_gt(mismatches, 200);
    scenario_destroy(scenario);
}
END_TEST

static uint64_t snapshots_of(const struct scenario *scenario, unsigned client) {
    return hc_client_stats(hc_sim_client(scenario->sim, client))->snapshots;
}

START_TEST(a_forged_copy_that_arrives_first_does_not_displace_the_true_snapshot) {
    static struct hc_sim_tape tape;
    struct scenario *scenario = begin(167, &tape);
    hc_sim_run(scenario->sim, SECOND_US);
    for (unsigned n = 0; n < 50; n++) {
        hc_sim_run(scenario->sim, 20 * MS_US); // a tick at least: another datagram
        struct hc_sim_taped down = tape.down[(tape.downs - 1) % TAPE];
        uint64_t before = snapshots_of(scenario, down.client);
        // The copy acknowledges a datagram that was never sent: ack follows kind, cid and seq.
        down.opened[9 + 3] ^= 0x40;
        attack_client(scenario, down.client, down.opened, down.size);
        down.opened[9 + 3] ^= 0x40;
        enum hc_status status =
            give(scenario, &down, hc_sim_client_now(scenario->sim, down.client));
        ck_assert_int_eq(status, HC_OK);
        ck_assert_uint_eq(snapshots_of(scenario, down.client), before + 1);
    }
    end(scenario);
}
END_TEST

START_TEST(a_client_that_sends_mangled_datagrams_disturbs_no_other) {
    static struct hc_sim_tape tape;
    struct scenario *scenario = begin(166, &tape);
    struct hc_rng rng = hc_rng_init(166, 1);
    hc_player victim = hc_client_player(hc_sim_client(scenario->sim, 0), 0);
    for (unsigned n = 0; n < 2000; n++) {
        struct hc_sim_taped *taped = &tape.up[hc_rng_below(&rng, TAPE)];
        struct hc_address from = hc_sim_address(scenario->sim, 0);
        if (taped->size > HC_DATA_BODY_AT && taped->client == 0) {
            uint8_t bytes[HC_DATAGRAM_MAX];
            memcpy(bytes, taped->opened, taped->size);
            for (unsigned flips = 1 + hc_rng_below(&rng, 4); flips > 0; flips--)
                bytes[5 + hc_rng_below(&rng, (uint32_t)taped->size - 5)] ^=
                    (uint8_t)(1u << hc_rng_below(&rng, 8));
            uint8_t room[HC_DATAGRAM_MAX];
            hc_server_receive(hc_sim_host(scenario->sim), &from,
                              hc_sim_seal(scenario->sim, true, bytes, taped->size, room),
                              taped->size, hc_sim_host_now(scenario->sim));
        }
        if (n % 10 == 0)
            hc_sim_run(scenario->sim, 15 * MS_US);
    }
    hc_sim_release_keys(scenario->sim);
    hc_sim_run(scenario->sim, 3 * SECOND_US);
    for (unsigned i = 1; i < CLIENTS; i++) {
        ck_assert_int_eq(hc_sim_client_state(scenario->sim, i), HC_CLIENT_PLAYING);
        scenario_check_final(scenario, i);
        hc_player player = hc_client_player(hc_sim_client(scenario->sim, i), 0);
        ck_assert_uint_ne(player, victim);
        ck_assert_uint_eq(record_count_forced(scenario->record, player, scenario->joined[player],
                                              record_final(scenario->record)),
                          0);
    }
    record_check_plain(scenario->record);
    scenario_destroy(scenario);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("hostile");
    TCase *tests = tcase_create("hostile");
    tcase_add_test(tests, garbage_is_refused);
    tcase_add_test(tests, truncated_datagrams_are_refused);
    tcase_add_test(tests, replayed_datagrams_are_refused);
    tcase_add_test(tests, a_datagram_with_any_flipped_bit_is_refused);
    tcase_add_test(tests, the_hash_finds_flipped_bits_in_a_state);
    tcase_add_test(tests, a_forged_copy_that_arrives_first_does_not_displace_the_true_snapshot);
    tcase_add_test(tests, a_client_that_sends_mangled_datagrams_disturbs_no_other);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
