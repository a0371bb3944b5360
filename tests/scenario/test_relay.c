/// A neighbour copies a client's datagrams to the server from other addresses, before or after the
/// originals; the tests count the client's snapshots and the server's cost.
#include "tests/scenario/scenario.h"
#include "tests/scenario/require.h"
#include "tests/sim/sim.h"

#include "hindcast/arena.h"
#include "tests/run_suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LATENCY_MS = 40,
    CLIENTS = 4, ///< clients, the first of which is copied
    SPAN_S = 30,
    MOVED_S = 10,             ///< after which it moves, in some runs
    BURST_US = 600 * MS_US,   ///< in which the link loses all datagrams to the client, in some runs
    TRICKLE_US = 250 * MS_US, ///< a relay forwards one snapshot in so long, in some runs
    RELAY_PORT = 77,
    MESSAGE_AT = HC_DATA_BODY_AT + 1, ///< after the array's header
    CHALLENGE_SIZE = HC_DATA_BODY_AT + HC_PATH_MESSAGE_SIZE + HC_TAG_SIZE,
};

/// When a neighbour's copies of client 0's datagrams arrive.
enum copying {
    NO_COPIES,
    JUST_BEFORE,  ///< copies arrive at the same moment, and first
    LONG_BEFORE,  ///< copies arrive when they are sent
    JUST_AFTER,   ///< copies arrive a tick after them, from the address that the client had before
    COPYING_ENDS, ///< one more than the last
};

/// The neighbour's and the client's behaviour.
struct setup {
    enum copying copying;
    bool roams;        ///< each copy comes from another port
    unsigned passes;   ///< snapshots sent to the client of which one arrives; 0: none arrives
    uint64_t every_us; ///< time in which one snapshot arrives all the same; 0: none does
    bool moves;        ///< the client changes its address
    bool burst;        ///< the client's downlink fails for a while
    bool begins_late;  ///< the neighbour copies only from then on
};

struct neighbour {
    struct setup setup;
    bool active;
    uint16_t old_port;     ///< the client's port before it moved
    uint64_t forwarded_us; ///< when it last forwarded a snapshot
    uint32_t copied, snapshots_received;
    size_t held_size; ///< of the datagram that is to be copied next; 0: none
    uint8_t held[HC_DATAGRAM_MAX];
};

struct scene {
    struct neighbour neighbour;
    uint64_t snapshots, snapshot_bytes; ///< snapshots that client 0 received, and their bytes
    uint64_t newest_us, silence_us;     ///< when the newest came; the longest time between two
};

static void inject(struct scene *scene, struct hc_sim *sim, const uint8_t *bytes, size_t size) {
    struct neighbour *neighbour = &scene->neighbour;
    uint16_t port = neighbour->setup.roams ? (uint16_t)(1 + neighbour->copied % 1000) : RELAY_PORT;
    struct hc_address from = hc_address_ipv4(127, 0, 0, 1, port);
    neighbour->copied++;
    if (neighbour->setup.copying == LONG_BEFORE)
        hc_server_receive(hc_sim_host(sim), &from, bytes, size, hc_sim_host_now(sim));
    else
        hc_sim_inject(sim, 0, port, bytes, size);
}

static bool client_sends(void *context, struct hc_sim *sim, unsigned client, uint8_t *bytes,
                         size_t size) {
    struct scene *scene = context;
    struct neighbour *neighbour = &scene->neighbour;
    if (client != 0 || !neighbour->active || bytes[0] != HC_DATAGRAM_DATA)
        return true;
    const uint8_t *sealed = hc_sim_sealed(sim);
    if (neighbour->setup.copying == JUST_AFTER) {
        if (neighbour->held_size > 0 && neighbour->old_port != 0)
            hc_sim_inject(sim, 0, neighbour->old_port, neighbour->held, neighbour->held_size);
        neighbour->held_size = size;
        memcpy(neighbour->held, sealed, size);
    } else if (neighbour->setup.copying != NO_COPIES) {
        inject(scene, sim, sealed, size);
    }
    return true;
}

/// Whether the neighbour forwards a snapshot to the client.
static bool forwards(struct neighbour *neighbour, uint64_t now_us) {
    const struct setup *setup = &neighbour->setup;
    if (setup->every_us != 0 && now_us - neighbour->forwarded_us >= setup->every_us) {
        neighbour->forwarded_us = now_us;
        return true;
    }
    return setup->passes != 0 && neighbour->snapshots_received++ % setup->passes == 0;
}

/// The neighbour forwards every PATH_CHALLENGE and some snapshots; without latency if its copies
/// arrive long before.
static void stranger_sent(void *context, struct hc_sim *sim, uint16_t port, const uint8_t *bytes,
                          size_t size) {
    struct neighbour *neighbour = &((struct scene *)context)->neighbour;
    (void)port;
    if (size != CHALLENGE_SIZE && !forwards(neighbour, hc_sim_now(sim)))
        return;
    if (neighbour->setup.copying == LONG_BEFORE)
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

/// Counts over half a minute.
struct outcome {
    uint64_t snapshots, silence_us, bytes_out, stranger_bytes, copied_bytes, moved, losses, stalls;
};

/// Loses all datagrams to client 0 for so long that the server doubts its address.
static void lose_all(struct hc_sim *sim, const struct hc_network_sim_config *down) {
    struct hc_network_sim_config lossy = *down;
    lossy.loss_ppm = HC_NETWORK_SIM_PPM;
    hc_sim_set_link(sim, 0, NULL, &lossy);
    hc_sim_run(sim, BURST_US);
    hc_sim_set_link(sim, 0, NULL, down);
}

static struct outcome play_with_neighbour(struct setup setup) {
    struct scene *scene = calloc(1, sizeof *scene);
    ck_assert(scene != NULL);
    scene->neighbour = (struct neighbour){.setup = setup};
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, CLIENTS, LATENCY_MS, 760);
    config.hooks.client_received = client_received;
    config.hooks.stranger_sent = stranger_sent;
    config.hooks.tamper = client_sends;
    config.context = scene;
    struct hc_sim *sim = hc_sim_create(&config);
    ck_assert(sim != NULL);
    for (unsigned c = 0; c < CLIENTS; c++)
        ck_assert(hc_sim_connect(sim, c));
    hc_sim_run(sim, 2 * SECOND_US);
    const struct hc_server_stats *stats = hc_server_stats(hc_sim_host(sim));
    struct outcome outcome = {.bytes_out = stats->bytes_out};
    scene->snapshots = scene->silence_us = 0;
    scene->neighbour.active = !setup.begins_late;
    scene->neighbour.old_port = hc_sim_address(sim, 0).port;
    uint64_t begun_us = hc_sim_now(sim);
    hc_sim_run(sim, MOVED_S * SECOND_US);
    if (setup.moves)
        hc_sim_rebind(sim, 0);
    scene->neighbour.active = true;
    if (setup.burst)
        lose_all(sim, &config.down);
    hc_sim_run_until(sim, begun_us + SPAN_S * (uint64_t)SECOND_US);
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
    printf(
        "%s%s%s%s%s%s: %lu snapshots, silent for %.0f ms at most, moved %lu times, %lu bytes sent, "
        "%lu to strangers, %lu copied\n",
        names[setup.copying], setup.roams ? ", from everywhere" : "",
        setup.passes > 0 || setup.every_us > 0 ? ", some handed on" : "",
        setup.begins_late ? ", later" : "", setup.moves ? ", the client moves" : "",
        setup.burst ? ", its link fails" : "", (unsigned long)outcome.snapshots,
        (double)outcome.silence_us / MS_US, (unsigned long)outcome.moved,
        (unsigned long)outcome.bytes_out, (unsigned long)outcome.stranger_bytes,
        (unsigned long)outcome.copied_bytes);
    fflush(stdout);
    ck_assert_uint_eq(client->hash_mismatches, 0);
    hc_sim_destroy(sim);
    free(scene);
    return outcome;
}

/// Fails the test unless at least 90 % of the snapshots arrive, the connection is never lost, and
/// the server sends at most a tenth more.
static void require_served(const struct outcome *disturbed, const struct outcome *undisturbed) {
    ck_assert_uint_ge(100 * disturbed->snapshots, 90 * undisturbed->snapshots);
    ck_assert_uint_eq(disturbed->losses, 0);
    ck_assert_uint_le(10 * disturbed->bytes_out, 11 * undisturbed->bytes_out);
}

START_TEST(a_relay_whose_copies_arrive_first_silences_no_client) {
    struct outcome undisturbed = play_with_neighbour((struct setup){.copying = NO_COPIES});
    for (enum copying copying = JUST_BEFORE; copying <= LONG_BEFORE; copying++)
        for (unsigned setup = 0; setup < 4; setup++) {
            struct outcome disturbed = play_with_neighbour((struct setup){
                .copying = copying, .roams = setup % 2 == 1, .passes = setup / 2 * 10});
            require_served(&disturbed, &undisturbed);
            ck_assert_uint_le(disturbed.moved, 2); // there and back
        }
}
END_TEST

START_TEST(a_client_that_moves_beside_a_relay_is_served_again) {
    struct outcome undisturbed =
        play_with_neighbour((struct setup){.copying = NO_COPIES, .moves = true});
    for (enum copying copying = JUST_BEFORE; copying <= LONG_BEFORE; copying++)
        for (unsigned setup = 0; setup < 8; setup++) {
            struct outcome disturbed =
                play_with_neighbour((struct setup){.copying = copying,
                                                   .every_us = setup % 2 * TRICKLE_US,
                                                   .moves = true,
                                                   .burst = setup / 2 % 2 == 1,
                                                   .begins_late = setup / 4 == 1});
            require_served(&disturbed, &undisturbed);
            ck_assert_uint_le(disturbed.silence_us, 2 * SECOND_US);
        }
}
END_TEST

START_TEST(a_client_that_moves_beside_a_relay_of_many_addresses_is_served_again) {
    struct outcome undisturbed =
        play_with_neighbour((struct setup){.copying = NO_COPIES, .moves = true});
    for (enum copying copying = JUST_BEFORE; copying <= LONG_BEFORE; copying++)
        for (unsigned trickles = 0; trickles < 2; trickles++) {
            struct outcome disturbed =
                play_with_neighbour((struct setup){.copying = copying,
                                                   .roams = true,
                                                   .every_us = trickles * TRICKLE_US,
                                                   .moves = true});
            require_served(&disturbed, &undisturbed);
            ck_assert_uint_le(disturbed.silence_us, 2 * SECOND_US);
        }
}
END_TEST

START_TEST(a_relay_that_obtains_the_address_in_a_stall_cannot_hold_it_by_a_trickle) {
    struct outcome undisturbed =
        play_with_neighbour((struct setup){.copying = NO_COPIES, .burst = true});
    for (enum copying copying = JUST_BEFORE; copying <= LONG_BEFORE; copying++)
        for (unsigned roams = 0; roams < 2; roams++) {
            struct outcome disturbed = play_with_neighbour((struct setup){
                .copying = copying, .roams = roams == 1, .every_us = TRICKLE_US, .burst = true});
            require_served(&disturbed, &undisturbed);
        }
}
END_TEST

START_TEST(copies_that_arrive_later_from_the_former_address_silence_no_client) {
    struct outcome undisturbed =
        play_with_neighbour((struct setup){.copying = NO_COPIES, .moves = true});
    struct outcome disturbed =
        play_with_neighbour((struct setup){.copying = JUST_AFTER, .moves = true});
    require_served(&disturbed, &undisturbed);
    ck_assert_uint_le(disturbed.silence_us, 2 * SECOND_US);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("relay");
    TCase *tests = tcase_create("relay");
    tcase_add_test(tests, a_client_that_moves_beside_a_relay_of_many_addresses_is_served_again);
    tcase_add_test(tests, copies_that_arrive_later_from_the_former_address_silence_no_client);
    suite_add_tcase(suite, tests);
    TCase *long_plays = add_long_plays(suite);
    tcase_add_test(long_plays, a_relay_whose_copies_arrive_first_silences_no_client);
    tcase_add_test(long_plays, a_client_that_moves_beside_a_relay_is_served_again);
    tcase_add_test(long_plays,
                   a_relay_that_obtains_the_address_in_a_stall_cannot_hold_it_by_a_trickle);
    return run_suite(suite);
}
