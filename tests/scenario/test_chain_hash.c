/// The first snapshot of a connection and of each 16 heads has the chain hash, also when ticks are
/// late and snapshots rare.
#include "tests/scenario/scenario.h"
#include "tests/scenario/require.h"

#include "hindcast/arena.h"
#include "hindcast/rng.h"
#include "proto/datagram.h"
#include "proto/snapshot.h"
#include "tests/run_suite.h"

enum {
    CLIENTS = 5,
    CHAIN_TICKS = 16,
    PAUSES = 24,
    PAUSE_TICKS_MAX = 12,
    PAUSE_EACH_US = SECOND_US / 4,
};

/// Counts the snapshots that one client was sent.
struct receiver {
    uint32_t cid;
    hc_tick newest;   ///< head of the newest; HC_NO_TICK: none yet
    uint32_t offsets; ///< bit o: the groups of 16 heads may begin at heads that are o modulo 16
    uint64_t snapshots, chains, skipped;
};

struct watch {
    struct receiver receivers[CLIENTS];
    struct hc_body body;
};

/// The group of 16 heads that a head is in, if groups begin at `offset` modulo 16.
static uint64_t group(hc_tick head, unsigned offset) {
    return ((uint64_t)head + CHAIN_TICKS - offset) / CHAIN_TICKS;
}

static void take_snapshot(struct receiver *receiver, const struct hc_snapshot *snapshot) {
    bool first = receiver->newest == HC_NO_TICK;
    for (unsigned offset = 0; !first && offset < CHAIN_TICKS; offset++) {
        bool begins = group(snapshot->as_of, offset) != group(receiver->newest, offset);
        if (snapshot->has_chain != begins)
            receiver->offsets &= ~(1u << offset);
    }
    REQUIRE(!first || snapshot->has_chain, "the first snapshot, of head %u, has no chain hash",
            snapshot->as_of);
    REQUIRE(receiver->offsets != 0, "cid %x: head %u after head %u, chain hash %d", receiver->cid,
            snapshot->as_of, receiver->newest, snapshot->has_chain);
    receiver->skipped += first ? 0 : snapshot->as_of - receiver->newest - 1;
    receiver->newest = snapshot->as_of;
    receiver->snapshots++;
    receiver->chains += snapshot->has_chain;
}

static void host_sent(void *context, struct hc_sim *sim, unsigned client, const uint8_t *bytes,
                      size_t size) {
    struct watch *watch = context;
    struct receiver *receiver = &watch->receivers[client];
    struct hc_data data;
    struct hc_bits_reader bits;
    struct hc_snapshot snapshot;
    if (hc_datagram_kind(bytes, size) != HC_DATAGRAM_DATA)
        return;
    ck_assert_int_eq(hc_datagram_get_data(bytes, size, &data), HC_OK);
    ck_assert_int_eq(hc_body_begin(&watch->body, data.body, data.body_size), HC_OK);
    if (hc_body_next(&watch->body) != HC_MESSAGE_SNAPSHOT)
        return;
    ck_assert_int_eq(hc_snapshot_get_message(&watch->body, &bits), HC_OK);
    hc_snapshot_get(&bits, hc_timeline_head(hc_server_timeline(hc_sim_host(sim))), 1, &snapshot);
    if (receiver->cid != data.cid) {
        receiver->cid = data.cid;
        receiver->newest = HC_NO_TICK;
        receiver->offsets = (1u << CHAIN_TICKS) - 1;
    }
    take_snapshot(receiver, &snapshot);
}

/// Plays with pauses of the host, after each of which it simulates several ticks at once.
static struct watch play_with_pauses(uint16_t snapshot_rate, bool pauses, uint64_t seed) {
    struct watch watch = {.body = {0}};
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, CLIENTS, 20, seed);
    struct hc_rng rng = hc_rng_init(seed, 0);
    config.host.snapshot_rate = snapshot_rate;
    config.hooks.host_sent = host_sent;
    config.context = &watch;
    struct hc_sim *sim = hc_sim_create(&config);
    ck_assert_ptr_nonnull(sim);
    ck_assert(hc_sim_connect_all(sim));
    for (unsigned i = 0; i < PAUSES; i++) {
        uint32_t ticks = hc_rng_below(&rng, PAUSE_TICKS_MAX);
        if (pauses)
            hc_sim_freeze_host(sim, hc_sim_now(sim) + ticks * SECOND_US / config.host.tick_rate);
        hc_sim_run(sim, PAUSE_EACH_US);
        if (i == PAUSES / 2)
            ck_assert(hc_sim_connect(sim, 0)); // another connection, with another first snapshot
    }
    hc_sim_destroy(sim);
    return watch;
}

START_TEST(the_first_snapshot_of_every_16_heads_has_the_chain_hash_also_when_ticks_are_late) {
    static const uint16_t rates[] = {0, 20, 7, 1};
    for (unsigned i = 0; i < 2 * sizeof rates / sizeof rates[0]; i++) {
        uint16_t rate = rates[i / 2];
        struct watch watch = play_with_pauses(rate, i % 2 != 0, 700 + i);
        for (unsigned client = 0; client < CLIENTS; client++) {
            const struct receiver *receiver = &watch.receivers[client];
            ck_assert_uint_gt(receiver->snapshots, 3);
            ck_assert_uint_gt(receiver->chains, 3);
            // Only then did a chain hash wait for a later head.
            ck_assert(receiver->skipped > 0 || (rate == 0 && i % 2 == 0));
        }
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("chain");
    TCase *tests = tcase_create("chain");
    tcase_add_test(
        tests, the_first_snapshot_of_every_16_heads_has_the_chain_hash_also_when_ticks_are_late);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
