/// The clients of a small world, without a host.
#pragma once

#include "server/clients.h"
#include "server/replication/replicator.h"
#include "tests/run_suite.h"
#include "tests/unit/small_game.h"

#include <string.h>

enum { RIG_PLAYERS = 4, RIG_PLACES = 6, RIG_PER_ADDRESS = 2 };

static struct hc_world world;
static struct hc_timeline *timeline;
static struct hc_sv_replicator replicator;
static struct hc_sv_clients clients;
static uint32_t rig_joins; ///< so far: the random bits of the newest one's cid

/// Creates the world, and clients that have no session.
static void rig_create(void) {
    rig_joins = 0;
    ck_assert_int_eq(hc_world_init(&world, &small_game, RIG_PLAYERS, 60, 1, NULL), HC_OK);
    struct hc_timeline_config config = hc_timeline_config_default();
    config.world = &world;
    timeline = hc_timeline_create(&config);
    ck_assert_ptr_nonnull(timeline);
    struct hc_sv_replicator_config shared = {.world = &world,
                                             .timeline = timeline,
                                             .clients = RIG_PLACES,
                                             .history = config.history,
                                             .future = config.future};
    ck_assert(hc_sv_replicator_init(&replicator, &shared));
    struct hc_sv_clients_config of_clients = {.replicator = &replicator,
                                              .players = RIG_PLAYERS,
                                              .places = RIG_PLACES,
                                              .per_address = RIG_PER_ADDRESS,
                                              .seed = 7};
    ck_assert(hc_sv_clients_init(&clients, &of_clients));
    ck_assert_uint_gt(clients.memory_bytes, 0);
}

static void rig_destroy(void) {
    hc_sv_clients_free(&clients);
    hc_sv_clients_free(&clients); // has no effect
    hc_sv_replicator_free(&replicator);
    hc_timeline_destroy(timeline);
    hc_world_free(&world);
}

/// Connects a peer, which has been opened or has a session, with a nonce of `client_id`.
static inline void rig_connect(struct hc_sv_peer *peer, uint64_t client_id, uint32_t random,
                               const struct hc_address *from, uint64_t now_us) {
    struct hc_seal_keys keys = {.c2s = {1}, .s2c = {2}};
    struct hc_connect connect = {.client_nonce = {(uint8_t)client_id}, .extrapolations = 3};
    uint32_t cid = hc_sv_clients_cid(&clients, peer, random, now_us);
    ck_assert_uint_ne(cid, 0);
    hc_sv_peer_connect(peer, cid, &keys, &connect, 100000, from, now_us);
    hc_sv_clients_connected(&clients, peer, client_id, from);
    peer->user.client_id = client_id;
}

/// Begins the session of a client with `count` players in the first free place.
static inline struct hc_sv_peer *rig_join(uint64_t client_id, unsigned count,
                                          const struct hc_address *from) {
    struct hc_sv_peer *peer = hc_sv_clients_find_free(&clients);
    hc_player found[HC_OWN_PLAYERS_MAX] = {0};
    ck_assert_ptr_nonnull(peer);
    ck_assert_uint_eq(hc_sv_players_find(&clients.players, count, found), count);
    hc_sv_players_assign(&clients.players, hc_sv_clients_place(&clients, peer), count, found);
    hc_sv_peer_open(peer);
    rig_connect(peer, client_id, ++rig_joins, from, 0);
    peer->replication.own_count = (uint8_t)count;
    memcpy(peer->replication.own, found, sizeof found);
    return peer;
}
