/// Datagrams that nobody of ours has sent, or not like that: refused, counted, and of no effect.
/// Those that somebody has made up are sealed all the same: what a peer may do that has keys.
#include "tests/scenario/play.h"
#include "tests/scenario/require.h"

#include "hindcast/arena.h"
#include "hindcast/rng.h"
#include "proto/snapshot.h"
#include "tests/run_suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { CLIENTS = 3, LATENCY_MS = 50, TAPE = 64 };

/// A datagram that was sent; `fresh` while it is still under way.
struct taped {
    unsigned client;
    uint64_t sent_us;
    size_t size;
    uint8_t bytes[HC_DATAGRAM_MAX],
        sealed[HC_DATAGRAM_MAX]; ///< as it was meant, and as it was sent
};

/// The newest datagrams, one ring for each direction.
struct tape {
    struct taped up[TAPE], down[TAPE];
    unsigned ups, downs;
};

static void record(struct taped ring[TAPE], unsigned *count, const struct play *play,
                   unsigned client, const uint8_t *bytes, size_t size) {
    struct taped *taped = &ring[(*count)++ % TAPE];
    taped->client = client;
    taped->sent_us = hc_sim_now(play->sim);
    taped->size = size;
    memcpy(taped->bytes, bytes, size);
    memcpy(taped->sealed, hc_sim_sealed(play->sim), size);
}

static void tape_up(struct play *play, unsigned client, const uint8_t *bytes, size_t size) {
    struct tape *tape = play->context;
    record(tape->up, &tape->ups, play, client, bytes, size);
}

static void tape_down(struct play *play, unsigned client, const uint8_t *bytes, size_t size) {
    struct tape *tape = play->context;
    record(tape->down, &tape->downs, play, client, bytes, size);
}

static bool is_fresh(const struct play *play, const struct taped *taped) {
    return taped->sent_us + LATENCY_MS * PLAY_MS > hc_sim_now(play->sim);
}

// ---- What must not change -----------------------------------------------------------------------

static uint64_t mix(uint64_t digest, const void *bytes, size_t size) {
    return XXH64(bytes, size, digest);
}

/// Everything that a timeline holds: each tick, each slot and each input.
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

static uint64_t host_digest(const struct play *play) {
    const struct hc_sv_host *host = hc_sim_host(play->sim);
    const struct hc_sv_host_stats *stats = hc_sv_host_stats(host);
    uint64_t digest = timeline_digest(ledger_world(play->sent_log), hc_sv_host_timeline(host));
    uint64_t numbers[] = {hc_sv_host_final(host, NULL),
                          hc_sv_host_clients(host),
                          stats->joins,
                          stats->leaves,
                          stats->timeouts,
                          stats->denied,
                          stats->inputs_received,
                          stats->inputs_forced,
                          stats->inputs_lost};
    return mix(digest, numbers, sizeof numbers);
}

static uint64_t client_digest(const struct play *play, unsigned client) {
    const struct hc_client *core = hc_sim_client(play->sim, client);
    const struct hc_client_stats *stats = hc_client_stats(core);
    uint64_t digest = timeline_digest(ledger_world(play->sent_log), hc_client_timeline(core));
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

/// Hands the bytes to the host, which must refuse them (or, with `may_answer`, may do so) and be
/// what it was.
static void hand_host(struct play *play, const struct hc_address *from, const uint8_t *bytes,
                      size_t size, bool may_answer) {
    struct hc_sv_host *host = hc_sim_host(play->sim);
    uint64_t before = host_digest(play), counted = play_host_rejected(play);
    enum hc_status status = hc_sv_host_receive(host, from, bytes, size, hc_sim_host_now(play->sim));
    REQUIRE(may_answer || status != HC_OK, "%zu bytes of kind %02x were taken by the server", size,
            size > 0 ? bytes[0] : 0u);
    REQUIRE(play_host_rejected(play) == counted + (status != HC_OK), "a refusal was not counted");
    REQUIRE(host_digest(play) == before, "%zu bytes of kind %02x changed the server", size,
            size > 0 ? bytes[0] : 0u);
}

static void hand_client(struct play *play, unsigned client, const uint8_t *bytes, size_t size) {
    struct hc_client *core = hc_sim_client(play->sim, client);
    uint64_t before = client_digest(play, client), counted = play_client_rejected(play, client);
    enum hc_status status =
        hc_client_receive(core, bytes, size, hc_sim_client_now(play->sim, client));
    REQUIRE(status != HC_OK, "%zu bytes of kind %02x were taken by a client", size,
            size > 0 ? bytes[0] : 0u);
    REQUIRE(play_client_rejected(play, client) == counted + 1, "a refusal was not counted");
    REQUIRE(client_digest(play, client) == before, "%zu bytes of kind %02x changed a client", size,
            size > 0 ? bytes[0] : 0u);
}

/// The same with something that was made up, or changed, by a peer that has the keys.
static void attack_host(struct play *play, const struct hc_address *from, const uint8_t *bytes,
                        size_t size, bool may_answer) {
    uint8_t room[HC_DATAGRAM_MAX];
    hand_host(play, from, hc_sim_seal(play->sim, true, bytes, size, room), size, may_answer);
}

static void attack_client(struct play *play, unsigned client, const uint8_t *bytes, size_t size) {
    uint8_t room[HC_DATAGRAM_MAX];
    hand_client(play, client, hc_sim_seal(play->sim, false, bytes, size, room), size);
}

// ---- The attacks --------------------------------------------------------------------------------

static struct play *begin(uint64_t seed, struct tape *tape) {
    struct hc_sim_config config = play_config(&hc_arena, CLIENTS, LATENCY_MS, seed);
    struct play *play = play_create(&config);
    play->context = tape;
    play->client_sent = tape_up;
    play->host_sent = tape_down;
    play_join_all(play);
    return play;
}

/// Runs on, and fails the test unless all still play in step.
static void end(struct play *play) {
    hc_sim_run(play->sim, PLAY_S);
    play->hands_off = true;
    hc_sim_run(play->sim, 2 * PLAY_S);
    for (unsigned i = 0; i < CLIENTS; i++) {
        ck_assert_int_eq(play_state(play, i), HC_CLIENT_PLAYING);
        play_check_final(play, i);
    }
    ck_assert_uint_eq(hc_sv_host_stats(hc_sim_host(play->sim))->inputs_forced, 0);
    ledger_check_plain(play->sent_log);
    play_check_hashes(play);
    play_destroy(play);
}

START_TEST(garbage_is_refused) {
    static struct tape tape;
    struct play *play = begin(161, &tape);
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
        struct hc_address client = hc_sim_address(play->sim, n % CLIENTS);
        // Whoever pads a HELLO with zeros is no attacker; noise is not zeros.
        attack_host(play, n % 4 == 0 ? &client : &stranger, bytes, size, false);
        attack_client(play, n % CLIENTS, bytes, size);
        if (n % 50 == 0)
            hc_sim_run(play->sim, 20 * PLAY_MS);
    }
    end(play);
}
END_TEST

START_TEST(truncated_datagrams_are_refused) {
    static struct tape tape;
    struct play *play = begin(162, &tape);
    unsigned tried = 0;
    for (unsigned n = 0; n < 10; n++) {
        hc_sim_run(play->sim, 100 * PLAY_MS);
        for (unsigned i = 0; i < TAPE; i++) {
            const struct taped *up = &tape.up[i], *down = &tape.down[i];
            struct hc_address from = hc_sim_address(play->sim, up->client);
            if (i % 8 != n % 8)
                continue;
            // Fresh ones: not even the sequence number speaks against them.
            for (size_t size = 0; is_fresh(play, up) && size < up->size; size++, tried++)
                hand_host(play, &from, up->sealed, size, false);
            for (size_t size = 0; is_fresh(play, down) && size < down->size; size++, tried++)
                hand_client(play, down->client, down->sealed, size);
        }
    }
    ck_assert_uint_gt(tried, 1000);
    end(play);
}
END_TEST

START_TEST(replayed_datagrams_are_refused) {
    static struct tape tape;
    struct play *play = begin(163, &tape);
    struct hc_address stranger = hc_address_ipv4(127, 0, 0, 1, 999);
    unsigned tried = 0;
    // The first of all, HELLO and CONNECT, are answered again, but nobody joins twice.
    for (unsigned n = 0; n < 20; n++) {
        for (unsigned i = 0; i < TAPE; i++) {
            const struct taped *up = &tape.up[i], *down = &tape.down[i];
            struct hc_address from = hc_sim_address(play->sim, up->client);
            bool data = hc_datagram_kind(up->bytes, up->size) == HC_DATAGRAM_DATA;
            if (up->size > 0 && !is_fresh(play, up)) {
                attack_host(play, &from, up->bytes, up->size, !data);
                attack_host(play, &stranger, up->bytes, up->size, !data);
            }
            if (down->size > 0 && !is_fresh(play, down))
                attack_client(play, down->client, down->bytes, down->size);
            if (down->size > 0) // and what is meant for another
                attack_client(play, (down->client + 1) % CLIENTS, down->bytes, down->size);
            tried += 4;
        }
        hc_sim_run(play->sim, 100 * PLAY_MS);
    }
    ck_assert_uint_gt(tried, 1000);
    end(play);
}
END_TEST

START_TEST(whatever_bit_is_flipped_on_the_way_is_refused) {
    static struct tape tape;
    struct play *play = begin(164, &tape);
    unsigned tried = 0;
    for (unsigned n = 0; n < 20; n++) {
        hc_sim_run(play->sim, 70 * PLAY_MS);
        struct taped up = tape.up[(tape.ups - 1 - n % 3) % TAPE];
        struct taped down = tape.down[(tape.downs - 1 - n % 3) % TAPE];
        struct hc_address from = hc_sim_address(play->sim, up.client);
        // Fresh, as above.
        for (size_t bit = 0; bit < up.size * 8; bit++, tried++) {
            up.sealed[bit / 8] ^= (uint8_t)(1u << bit % 8);
            hand_host(play, &from, up.sealed, up.size, false);
            up.sealed[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
        for (size_t bit = 0; bit < down.size * 8; bit++, tried++) {
            down.sealed[bit / 8] ^= (uint8_t)(1u << bit % 8);
            hand_client(play, down.client, down.sealed, down.size);
            down.sealed[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
    }
    ck_assert_uint_gt(tried, 1000);
    end(play);
}
END_TEST

/// Where in the snapshot datagram the units begin and where its bits end, counted in bits from the
/// datagram's start; false when it holds no snapshot.
static bool find_units(const struct play *play, const struct taped *down, size_t *first,
                       size_t *end) {
    static struct hc_body body;
    struct hc_data data;
    struct hc_bits_reader bits;
    struct hc_snapshot head;
    struct hc_snapshot_forced forced;
    struct hc_snapshot_roster roster_change;
    hc_tick near = hc_timeline_head(hc_sv_host_timeline(hc_sim_host(play->sim)));
    if (hc_datagram_get_data(down->bytes, down->size, &data) != HC_OK ||
        hc_body_begin(&body, data.body, data.body_size) != HC_OK ||
        hc_body_next(&body) != HC_MESSAGE_SNAPSHOT ||
        hc_snapshot_get_message(&body, &bits) != HC_OK)
        return false;
    hc_snapshot_get(&bits, near, 1, &head);
    while (hc_snapshot_get_forced(&bits, &head, &forced)) {
    }
    while (hc_snapshot_get_roster(&bits, ledger_world(play->sent_log), head.tick, &roster_change)) {
    }
    ck_assert(!bits.failed);
    size_t start = (size_t)(bits.data - down->bytes);
    *first = (start + bits.at) * 8 - bits.count;
    *end = (start + bits.size) * 8;
    return true;
}

/// Hands its client a datagram.
static enum hc_status give(const struct play *play, const struct taped *down, uint64_t now) {
    uint8_t room[HC_DATAGRAM_MAX];
    return hc_client_receive(hc_sim_client(play->sim, down->client),
                             hc_sim_seal(play->sim, false, down->bytes, down->size, room),
                             down->size, now);
}

START_TEST(flipped_bits_in_a_state_are_found_by_its_hash) {
    static struct tape tape;
    struct play *play = begin(165, &tape);
    uint64_t mismatches = 0, refused = 0, taken = 0;
    for (unsigned n = 0; n < 100; n++) {
        hc_sim_run(play->sim, 70 * PLAY_MS);
        struct taped down = tape.down[(tape.downs - 1) % TAPE];
        uint64_t now = hc_sim_client_now(play->sim, down.client);
        size_t bit, end;
        if (!find_units(play, &down, &bit, &end))
            continue;
        // What is taken may differ in inputs alone; as its number is used up by it, it ends this
        // round.
        for (; bit < end; bit++) {
            uint64_t before = client_digest(play, down.client);
            down.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
            enum hc_status status = give(play, &down, now);
            taken += status == HC_OK;
            if (status == HC_OK)
                break;
            refused++;
            REQUIRE(client_digest(play, down.client) == before, "a refused one changed a client");
            down.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
    }
    for (unsigned i = 0; i < CLIENTS; i++)
        mismatches += hc_client_stats(hc_sim_client(play->sim, i))->hash_mismatches;
    printf("%lu flips refused, %lu of them found by the hash, %lu taken\n", (unsigned long)refused,
           (unsigned long)mismatches, (unsigned long)taken);
    ck_assert_uint_gt(mismatches, 200);
    play_destroy(play);
}
END_TEST

static uint64_t snapshots_of(const struct play *play, unsigned client) {
    return hc_client_stats(hc_sim_client(play->sim, client))->snapshots;
}

START_TEST(a_forged_copy_that_comes_first_does_not_keep_the_true_snapshot_out) {
    static struct tape tape;
    struct play *play = begin(167, &tape);
    hc_sim_run(play->sim, PLAY_S);
    for (unsigned n = 0; n < 50; n++) {
        hc_sim_run(play->sim, 20 * PLAY_MS); // a tick at least: another datagram
        struct taped down = tape.down[(tape.downs - 1) % TAPE];
        uint64_t before = snapshots_of(play, down.client);
        // All is sound but that it acknowledges what was never sent: ack follows kind, cid and seq.
        down.bytes[9 + 3] ^= 0x40;
        attack_client(play, down.client, down.bytes, down.size);
        down.bytes[9 + 3] ^= 0x40;
        enum hc_status status = give(play, &down, hc_sim_client_now(play->sim, down.client));
        ck_assert_int_eq(status, HC_OK);
        ck_assert_uint_eq(snapshots_of(play, down.client), before + 1);
    }
    end(play);
}
END_TEST

START_TEST(a_client_whose_every_datagram_is_mangled_disturbs_no_other) {
    static struct tape tape;
    struct play *play = begin(166, &tape);
    struct hc_rng rng = hc_rng_init(166, 1);
    hc_player victim = hc_client_player(hc_sim_client(play->sim, 0), 0);
    for (unsigned n = 0; n < 2000; n++) {
        struct taped *taped = &tape.up[hc_rng_below(&rng, TAPE)];
        struct hc_address from = hc_sim_address(play->sim, 0);
        if (taped->size > HC_DATA_BODY_AT && taped->client == 0) {
            uint8_t bytes[HC_DATAGRAM_MAX];
            memcpy(bytes, taped->bytes, taped->size);
            for (unsigned flips = 1 + hc_rng_below(&rng, 4); flips > 0; flips--)
                bytes[5 + hc_rng_below(&rng, (uint32_t)taped->size - 5)] ^=
                    (uint8_t)(1u << hc_rng_below(&rng, 8));
            uint8_t room[HC_DATAGRAM_MAX];
            hc_sv_host_receive(hc_sim_host(play->sim), &from,
                               hc_sim_seal(play->sim, true, bytes, taped->size, room), taped->size,
                               hc_sim_host_now(play->sim));
        }
        if (n % 10 == 0)
            hc_sim_run(play->sim, 15 * PLAY_MS);
    }
    play->hands_off = true;
    hc_sim_run(play->sim, 3 * PLAY_S);
    for (unsigned i = 1; i < CLIENTS; i++) {
        ck_assert_int_eq(play_state(play, i), HC_CLIENT_PLAYING);
        play_check_final(play, i);
        hc_player player = hc_client_player(hc_sim_client(play->sim, i), 0);
        ck_assert_uint_ne(player, victim);
        ck_assert_uint_eq(ledger_forced(play->sent_log, player, play->joined[player],
                                        ledger_final(play->sent_log)),
                          0);
    }
    ledger_check_plain(play->sent_log);
    play_destroy(play);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("hostile");
    TCase *tests = tcase_create("hostile");
    tcase_add_test(tests, garbage_is_refused);
    tcase_add_test(tests, truncated_datagrams_are_refused);
    tcase_add_test(tests, replayed_datagrams_are_refused);
    tcase_add_test(tests, whatever_bit_is_flipped_on_the_way_is_refused);
    tcase_add_test(tests, flipped_bits_in_a_state_are_found_by_its_hash);
    tcase_add_test(tests, a_forged_copy_that_comes_first_does_not_keep_the_true_snapshot_out);
    tcase_add_test(tests, a_client_whose_every_datagram_is_mangled_disturbs_no_other);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
