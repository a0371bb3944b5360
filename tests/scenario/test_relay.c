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
    MOVED_S = 10,          ///< after which it moves, in some matches
    BURST_US = 600 * MS,   ///< in which the link loses all that the client is sent, in some matches
    TRICKLE_US = 250 * MS, ///< a relay hands on one snapshot in so long, in some matches
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

/// What a match is about.
struct how {
    enum copying copying;
    bool roams;        ///< each copy comes from another port
    unsigned passes;   ///< one in so many snapshots sent to it reaches the client; 0: none
    uint64_t every_us; ///< or one in so long; 0: none
    bool moves;        ///< the client does
    bool burst;        ///< the client's downlink fails for a while
};

struct neighbour {
    struct how how;
    bool active;
    uint16_t before;    ///< the client's port before it moved
    uint64_t passed_us; ///< when it handed on a snapshot last
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
    uint16_t port = neighbour->how.roams ? (uint16_t)(1 + neighbour->copied % 1000) : RELAY_PORT;
    struct hc_address from = hc_address_ipv4(127, 0, 0, 1, port);
    neighbour->copied++;
    if (neighbour->how.copying == LONG_BEFORE)
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
    if (neighbour->how.copying == JUST_AFTER) {
        if (neighbour->held_size > 0 && neighbour->before != 0)
            hc_sim_inject(sim, 0, neighbour->before, neighbour->held, neighbour->held_size);
        neighbour->held_size = size;
        memcpy(neighbour->held, sealed, size);
    } else if (neighbour->how.copying != NO_COPIES) {
        inject(scene, sim, sealed, size);
    }
    return true;
}

/// Whether a snapshot that the neighbour has got goes on to the client.
static bool hands_on(struct neighbour *neighbour, uint64_t now_us) {
    const struct how *how = &neighbour->how;
    if (how->every_us != 0 && now_us - neighbour->passed_us >= how->every_us) {
        neighbour->passed_us = now_us;
        return true;
    }
    return how->passes != 0 && neighbour->snapshots_had++ % how->passes == 0;
}

/// The neighbour hands on every question of the server's, and of the rest what it likes; at once,
/// if it is that near.
static void stranger_sent(void *context, struct hc_sim *sim, uint16_t port, const uint8_t *bytes,
                          size_t size) {
    struct neighbour *neighbour = &((struct scene *)context)->neighbour;
    (void)port;
    if (size != CHALLENGE_SIZE && !hands_on(neighbour, hc_sim_now(sim)))
        return;
    if (neighbour->how.copying == LONG_BEFORE)
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

/// What the server sends client 0 is lost, for long enough that its address stalls.
static void lose_all(struct hc_sim *sim, const struct hc_network_sim_config *down) {
    struct hc_network_sim_config lossy = *down;
    lossy.loss_ppm = HC_NETWORK_SIM_PPM;
    hc_sim_set_link(sim, 0, NULL, &lossy);
    hc_sim_run(sim, BURST_US);
    hc_sim_set_link(sim, 0, NULL, down);
}

static struct outcome play_beside(struct how how) {
    struct scene *scene = calloc(1, sizeof *scene);
    ck_assert(scene != NULL);
    scene->neighbour = (struct neighbour){.how = how};
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
    uint64_t begun_us = hc_sim_now(sim);
    hc_sim_run(sim, MOVED_S * SECOND);
    if (how.moves)
        hc_sim_rebind(sim, 0);
    if (how.burst)
        lose_all(sim, &config.down);
    hc_sim_run_until(sim, begun_us + SPAN_S * (uint64_t)SECOND);
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
        "%s%s%s%s%s: %lu snapshots, silent for %.0f ms at most, moved %lu times, %lu bytes sent, "
        "%lu to strangers, %lu copied\n",
        names[how.copying], how.roams ? ", from everywhere" : "",
        how.passes > 0 || how.every_us > 0 ? ", some handed on" : "",
        how.moves ? ", the client moves" : "", how.burst ? ", its link fails" : "",
        (unsigned long)outcome.snapshots, (double)outcome.silence_us / MS,
        (unsigned long)outcome.moved, (unsigned long)outcome.bytes_out,
        (unsigned long)outcome.stranger_bytes, (unsigned long)outcome.copied_bytes);
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
    struct outcome alone = play_beside((struct how){.copying = NO_COPIES});
    for (enum copying copying = JUST_BEFORE; copying <= LONG_BEFORE; copying++)
        for (unsigned how = 0; how < 4; how++) {
            struct outcome beside = play_beside(
                (struct how){.copying = copying, .roams = how % 2 == 1, .passes = how / 2 * 10});
            require_served(&beside, &alone);
            ck_assert_uint_le(beside.moved, 2); // there and back
        }
}
END_TEST

START_TEST(a_client_that_moves_beside_a_relay_is_served_again) {
    struct outcome alone = play_beside((struct how){.copying = NO_COPIES, .moves = true});
    for (enum copying copying = JUST_BEFORE; copying <= LONG_BEFORE; copying++)
        for (unsigned trickles = 0; trickles < 2; trickles++) {
            struct outcome beside = play_beside(
                (struct how){.copying = copying, .every_us = trickles * TRICKLE_US, .moves = true});
            require_served(&beside, &alone);
            ck_assert_uint_le(beside.silence_us, 2 * SECOND);
        }
}
END_TEST

START_TEST(a_relay_that_gets_the_address_in_a_stall_cannot_hold_it_by_a_trickle) {
    struct outcome alone = play_beside((struct how){.copying = NO_COPIES, .burst = true});
    for (enum copying copying = JUST_BEFORE; copying <= LONG_BEFORE; copying++)
        for (unsigned roams = 0; roams < 2; roams++) {
            struct outcome beside = play_beside((struct how){
                .copying = copying, .roams = roams == 1, .every_us = TRICKLE_US, .burst = true});
            require_served(&beside, &alone);
        }
}
END_TEST

START_TEST(copies_that_come_later_from_the_former_address_silence_nobody) {
    struct outcome alone = play_beside((struct how){.copying = NO_COPIES, .moves = true});
    struct outcome beside = play_beside((struct how){.copying = JUST_AFTER, .moves = true});
    require_served(&beside, &alone);
    ck_assert_uint_le(beside.silence_us, 2 * SECOND);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("relay");
    TCase *tests = tcase_create("relay");
    tcase_add_test(tests, a_relay_that_is_always_first_silences_nobody);
    tcase_add_test(tests, a_client_that_moves_beside_a_relay_is_served_again);
    tcase_add_test(tests, a_relay_that_gets_the_address_in_a_stall_cannot_hold_it_by_a_trickle);
    tcase_add_test(tests, copies_that_come_later_from_the_former_address_silence_nobody);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
