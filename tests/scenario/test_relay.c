/// Neighbours who copy a client's datagrams to the server from other addresses, sooner or later
/// than they come themselves: what the client still receives, and what that costs, counted.
#include "tests/scenario/play.h"
#include "tests/scenario/require.h"
#include "tests/sim/sim.h"

#include "hindcast/arena.h"
#include "tests/run_suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MS = 1000,
    SECOND = 1000 * MS,
    LATENCY_MS = 40,
    CLIENTS = 4, ///< of which the first is copied
    SPAN_S = 30,
    MOVED_S = 10, ///< after which it moves, in some matches
    RELAY_PORT = 77,
    MESSAGE_AT = HC_DATA_BODY_AT + 1, ///< after the array's header
    CHALLENGE_SIZE = HC_DATA_BODY_AT + HC_PATH_MESSAGE_SIZE + HC_TAG_SIZE,
};

/// What a neighbour does with the datagrams of client 0.
enum copying {
    NO_COPIES,
    JUST_BEFORE,  ///< copies arrive in the same moment, and first
    LONG_BEFORE,  ///< copies arrive when they are sent
    JUST_AFTER,   ///< copies arrive a tick after them, from the address that the client had before
    COPYING_ENDS, ///< one more than the last
};

struct neighbour {
    enum copying copying;
    bool roams;      ///< each copy comes from another port
    unsigned passes; ///< one in so many snapshots sent to it reaches the client; 0: none
    bool active;
    uint16_t before; ///< the client's port before it moved
    uint32_t copied, snapshots_had;
    size_t held_size; ///< of the datagram that is to be copied next; 0: none
    uint8_t held[HC_DATAGRAM_MAX];
};

struct scene {
    struct neighbour neighbour;
    uint64_t snapshots, snapshot_bytes; ///< that client 0 received
    uint64_t newest_us, silence_us;     ///< between two of them, at most
};

static void inject(struct scene *scene, struct hc_sim *sim, const uint8_t *bytes, size_t size) {
    struct neighbour *neighbour = &scene->neighbour;
    uint16_t port = neighbour->roams ? (uint16_t)(1 + neighbour->copied % 1000) : RELAY_PORT;
    struct hc_address from = hc_address_ipv4(127, 0, 0, 1, port);
    neighbour->copied++;
    if (neighbour->copying == LONG_BEFORE)
        hc_sv_host_receive(hc_sim_host(sim), &from, bytes, size, hc_sim_host_now(sim));
    else
        hc_sim_inject(sim, 0, port, bytes, size);
}

static bool client_says(void *context, struct hc_sim *sim, unsigned client, uint8_t *bytes,
                        size_t size) {
    struct scene *scene = context;
    struct neighbour *neighbour = &scene->neighbour;
    if (client != 0 || !neighbour->active || bytes[0] != HC_DATAGRAM_DATA)
        return true;
    const uint8_t *sealed = hc_sim_sealed(sim);
    if (neighbour->copying == JUST_AFTER) {
        if (neighbour->held_size > 0 && neighbour->before != 0)
            hc_sim_inject(sim, 0, neighbour->before, neighbour->held, neighbour->held_size);
        neighbour->held_size = size;
        memcpy(neighbour->held, sealed, size);
    } else if (neighbour->copying != NO_COPIES) {
        inject(scene, sim, sealed, size);
    }
    return true;
}

/// The neighbour hands on every question of the server's, and of the rest what it likes; at once,
/// if it is that near.
static void stranger_sent(void *context, struct hc_sim *sim, uint16_t port, const uint8_t *bytes,
                          size_t size) {
    struct neighbour *neighbour = &((struct scene *)context)->neighbour;
    (void)port;
    bool question = size == CHALLENGE_SIZE;
    if (!question &&
        (neighbour->passes == 0 || neighbour->snapshots_had++ % neighbour->passes != 0))
        return;
    if (neighbour->copying == LONG_BEFORE)
        hc_client_receive(hc_sim_client(sim, 0), bytes, size, hc_sim_client_now(sim, 0));
    else
        hc_sim_relay(sim, 0, bytes, size);
}

static void client_received(void *context, struct hc_sim *sim, unsigned client,
                            const uint8_t *bytes, size_t size, enum hc_status status) {
    struct scene *scene = context;
    if (client != 0 || status != HC_OK || bytes[0] != HC_DATAGRAM_DATA ||
        bytes[MESSAGE_AT] != HC_MESSAGE_SNAPSHOT)
        return;
    uint64_t silence_us = hc_sim_now(sim) - scene->newest_us;
    if (scene->newest_us != 0 && silence_us > scene->silence_us)
        scene->silence_us = silence_us;
    scene->newest_us = hc_sim_now(sim);
    scene->snapshots++;
    scene->snapshot_bytes += size;
}

/// What came of half a minute.
struct outcome {
    uint64_t snapshots, silence_us, bytes_out, stranger_bytes, copied_bytes, moved, losses, stalls;
};

static struct outcome play_beside(enum copying copying, bool roams, unsigned passes, bool moves) {
    struct scene *scene = calloc(1, sizeof *scene);
    ck_assert(scene != NULL);
    scene->neighbour = (struct neighbour){.copying = copying, .roams = roams, .passes = passes};
    struct hc_sim_config config = play_config_bare(CLIENTS, LATENCY_MS, 760);
    config.hooks.client_received = client_received;
    config.hooks.stranger_sent = stranger_sent;
    config.hooks.tamper = client_says;
    config.context = scene;
    struct hc_sim *sim = hc_sim_create(&config);
    ck_assert(sim != NULL);
    for (unsigned c = 0; c < CLIENTS; c++)
        ck_assert(hc_sim_connect(sim, c));
    hc_sim_run(sim, 2 * SECOND);
    const struct hc_sv_host_stats *stats = hc_sv_host_stats(hc_sim_host(sim));
    struct outcome outcome = {.bytes_out = stats->bytes_out};
    scene->snapshots = scene->silence_us = 0;
    scene->neighbour.active = true;
    scene->neighbour.before = hc_sim_address(sim, 0).port;
    if (moves) {
        hc_sim_run(sim, MOVED_S * SECOND);
        hc_sim_rebind(sim, 0);
    }
    hc_sim_run(sim, (moves ? SPAN_S - MOVED_S : SPAN_S) * (uint64_t)SECOND);
    const struct hc_client_stats *client = hc_client_stats(hc_sim_client(sim, 0));
    outcome.snapshots = scene->snapshots;
    outcome.silence_us = scene->silence_us;
    outcome.bytes_out = stats->bytes_out - outcome.bytes_out;
    outcome.copied_bytes = stats->copied_bytes;
    outcome.moved = stats->moved;
    outcome.losses = client->losses;
    outcome.stalls = client->stalls;
    hc_sim_strangers(sim, &outcome.stranger_bytes);
    static const char *const names[COPYING_ENDS] = {"no copies", "copies just before",
                                                    "copies long before", "copies just after"};
    printf("%s%s%s%s: %lu snapshots, silent for %.0f ms at most, moved %lu times, %lu bytes sent, "
           "%lu to strangers, %lu copied\n",
           names[copying], roams ? ", from everywhere" : "", passes > 0 ? ", some handed on" : "",
           moves ? ", the client moves" : "", (unsigned long)outcome.snapshots,
           (double)outcome.silence_us / MS, (unsigned long)outcome.moved,
           (unsigned long)outcome.bytes_out, (unsigned long)outcome.stranger_bytes,
           (unsigned long)outcome.copied_bytes);
    fflush(stdout);
    ck_assert_uint_eq(client->hash_mismatches, 0);
    hc_sim_destroy(sim);
    free(scene);
    return outcome;
}

/// At least 90 % of the snapshots come, the connection is never lost, and all the server sends is
/// at most a tenth more.
static void require_served(const struct outcome *beside, const struct outcome *alone) {
    ck_assert_uint_ge(100 * beside->snapshots, 90 * alone->snapshots);
    ck_assert_uint_eq(beside->losses, 0);
    ck_assert_uint_le(10 * beside->bytes_out, 11 * alone->bytes_out);
}

START_TEST(a_relay_that_is_always_first_silences_nobody) {
    struct outcome alone = play_beside(NO_COPIES, false, 0, false);
    for (enum copying copying = JUST_BEFORE; copying <= LONG_BEFORE; copying++)
        for (unsigned how = 0; how < 4; how++) {
            struct outcome beside = play_beside(copying, how % 2 == 1, how / 2 * 10, false);
            require_served(&beside, &alone);
            ck_assert_uint_le(beside.moved, 2); // there and back
        }
}
END_TEST

START_TEST(a_client_that_moves_beside_a_relay_is_served_again) {
    struct outcome alone = play_beside(NO_COPIES, false, 0, true);
    for (enum copying copying = JUST_BEFORE; copying <= LONG_BEFORE; copying++) {
        struct outcome beside = play_beside(copying, false, 0, true);
        require_served(&beside, &alone);
        ck_assert_uint_le(beside.silence_us, 2 * SECOND);
    }
}
END_TEST

START_TEST(copies_that_come_later_from_the_former_address_silence_nobody) {
    struct outcome alone = play_beside(NO_COPIES, false, 0, true);
    struct outcome beside = play_beside(JUST_AFTER, false, 0, true);
    require_served(&beside, &alone);
    ck_assert_uint_le(beside.silence_us, 2 * SECOND);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("relay");
    TCase *tests = tcase_create("relay");
    tcase_add_test(tests, a_relay_that_is_always_first_silences_nobody);
    tcase_add_test(tests, a_client_that_moves_beside_a_relay_is_served_again);
    tcase_add_test(tests, copies_that_come_later_from_the_former_address_silence_nobody);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
