/// The places of peers, their searches, and the rings of ended connections.
#include "server/clients.h"

#include "common/alloc.h"
#include "hindcast/check.h"
#include "server/address_limit.h"

#include <sodium.h>
#include <string.h>

/// Lays out the memory of all peers from `base` (NULL: only measures); returns the bytes needed.
static size_t lay_out_peers(struct hc_sv_clients *clients, uint8_t *base) {
    size_t used = 0;
    for (unsigned i = 0; i < clients->config.places; i++)
        used += hc_sv_peer_layout(&clients->peers[i], clients->config.replicator,
                                  base == NULL ? NULL : base + used);
    return used;
}

static size_t ended_bytes(const struct hc_sv_clients_config *config) {
    return (size_t)HC_SV_ENDED_EACH * config->places * sizeof(struct hc_sv_ended);
}

bool hc_sv_clients_init(struct hc_sv_clients *clients, const struct hc_sv_clients_config *config) {
    const struct hc_allocator *allocator = config->allocator;
    *clients = (struct hc_sv_clients){.config = *config, .search = {.seed = config->seed}};
    size_t peers_bytes = config->places * sizeof *clients->peers;
    clients->peers = hc_allocate(allocator, peers_bytes);
    if (clients->peers == NULL)
        return false;
    bool has_players = hc_sv_players_init(&clients->players, config->players, allocator);
    size_t peer_bytes = lay_out_peers(clients, NULL);
    clients->peer_memory = hc_allocate(allocator, peer_bytes);
    clients->ended = hc_allocate(allocator, ended_bytes(config));
    size_t search_bytes = hc_sv_search_layout(&clients->search, config->places, NULL);
    clients->search_memory = hc_allocate(allocator, search_bytes);
    clients->memory_bytes = peers_bytes + hc_sv_players_memory(config->players) + peer_bytes +
                            ended_bytes(config) + search_bytes;
    if (!has_players || clients->peer_memory == NULL || clients->ended == NULL ||
        clients->search_memory == NULL)
        return false;
    hc_sv_search_layout(&clients->search, config->places, clients->search_memory);
    lay_out_peers(clients, clients->peer_memory);
    return true;
}

void hc_sv_clients_free(struct hc_sv_clients *clients) {
    const struct hc_allocator *allocator = clients->config.allocator;
    for (unsigned i = 0; clients->peers != NULL && i < clients->config.places; i++)
        sodium_memzero(&clients->peers[i], sizeof clients->peers[i]);
    hc_release(allocator, clients->search_memory);
    hc_release(allocator, clients->ended);
    hc_release(allocator, clients->peer_memory);
    hc_sv_players_free(&clients->players, allocator);
    hc_release(allocator, clients->peers);
    *clients = (struct hc_sv_clients){.config = {.places = 0}};
}

// ---- Places -------------------------------------------------------------------------------------

static uint64_t bit_of(unsigned place) {
    return UINT64_C(1) << place % 64;
}

struct hc_sv_peer *hc_sv_clients_from(const struct hc_sv_clients *clients, unsigned place) {
    uint64_t wanted = ~(bit_of(place) - 1);
    for (unsigned word = place / 64; word * 64 < clients->config.places; word++) {
        uint64_t taken = clients->taken[word] & wanted;
        if (taken != 0)
            return &clients->peers[word * 64 + (unsigned)__builtin_ctzll(taken)];
        wanted = UINT64_MAX;
    }
    return NULL;
}

struct hc_sv_peer *hc_sv_clients_next(const struct hc_sv_clients *clients,
                                      const struct hc_sv_peer *peer) {
    return hc_sv_clients_from(clients, peer == NULL ? 0 : hc_sv_clients_place(clients, peer) + 1);
}

struct hc_sv_peer *hc_sv_clients_find_free(const struct hc_sv_clients *clients) {
    struct hc_sv_peer *closing = NULL;
    for (unsigned i = 0; i < clients->config.places; i++) {
        struct hc_sv_peer *peer = &clients->peers[i];
        if (peer->state == HC_SV_PEER_FREE)
            return peer;
        if (peer->state == HC_SV_PEER_CLOSING &&
            (closing == NULL || peer->connection.closes_left < closing->connection.closes_left))
            closing = peer;
    }
    return closing;
}

void hc_sv_clients_renew(struct hc_sv_clients *clients) {
    for (struct hc_sv_peer *peer = NULL; (peer = hc_sv_clients_next(clients, peer)) != NULL;) {
        peer->forged = 0;
        unsigned place = hc_sv_clients_place(clients, peer);
        if (peer->state == HC_SV_PEER_FREE)
            clients->taken[place / 64] &= ~bit_of(place);
    }
}

// ---- Connections --------------------------------------------------------------------------------

/// The lowest bits of a cid: the peer's place.
static unsigned place_bits(const struct hc_sv_clients *clients) {
    return clients->config.match != 0 ? HC_SV_MATCH_INDEX_BITS : HC_SV_CID_INDEX_BITS;
}

/// The place that the cid names, which may be none.
static unsigned place_of(const struct hc_sv_clients *clients, uint32_t cid) {
    return cid & ((1u << place_bits(clients)) - 1);
}

uint32_t hc_sv_clients_cid(const struct hc_sv_clients *clients, const struct hc_sv_peer *peer,
                           uint32_t random, uint64_t now_us) {
    const unsigned bits = place_bits(clients);
    uint32_t cid = random << bits | hc_sv_clients_place(clients, peer);
    if (clients->config.match != 0)
        cid = (cid & ((1u << HC_SERVER_CID_MATCH_AT) - 1)) | clients->config.match
                                                                 << HC_SERVER_CID_MATCH_AT;
    bool valid = cid >> bits != 0 && cid != peer->connection.cid &&
                 hc_sv_clients_find_ended(clients, cid, now_us) == NULL;
    return valid ? cid : 0;
}

void hc_sv_clients_connected(struct hc_sv_clients *clients, struct hc_sv_peer *peer,
                             uint64_t client_id, const struct hc_address *address) {
    unsigned place = hc_sv_clients_place(clients, peer);
    clients->taken[place / 64] |= bit_of(place);
    hc_sv_search_user(&clients->search, place, client_id);
    hc_sv_clients_move(clients, peer, address);
}

void hc_sv_clients_move(struct hc_sv_clients *clients, struct hc_sv_peer *peer,
                        const struct hc_address *address) {
    peer->address = *address;
    hc_sv_search_address(&clients->search, hc_sv_clients_place(clients, peer), address);
}

void hc_sv_clients_ended(struct hc_sv_clients *clients, struct hc_sv_peer *peer,
                         bool never_received, bool left, uint64_t now_us) {
    unsigned place = hc_sv_clients_place(clients, peer);
    unsigned index = peer->ended_next++ % HC_SV_ENDED_EACH;
    struct hc_sv_ended *ended = &clients->ended[(size_t)place * HC_SV_ENDED_EACH + index];
    hc_sv_search_ended(&clients->search, place, index, peer->user.client_id);
    *ended = (struct hc_sv_ended){.cid = peer->connection.cid,
                                  .client_id = peer->user.client_id,
                                  .never_received = never_received,
                                  .left = left,
                                  .until_us = now_us + 2 * (uint64_t)HC_COOKIE_SLOT_US};
    memcpy(ended->client_nonce, peer->client_nonce, HC_NONCE_SIZE);
}

// ---- Queries ------------------------------------------------------------------------------------

struct hc_sv_peer *hc_sv_clients_of_cid(const struct hc_sv_clients *clients, uint32_t cid) {
    unsigned place = place_of(clients, cid);
    if (place >= clients->config.places || clients->peers[place].connection.cid != cid)
        return NULL;
    return &clients->peers[place];
}

struct hc_sv_peer *hc_sv_clients_of_user(struct hc_sv_clients *clients, uint64_t client_id) {
    struct hc_sv_search *search = &clients->search;
    unsigned place = hc_sv_search_next_user(search, 0, client_id);
    for (; place < search->places; place = hc_sv_search_next_user(search, place + 1, client_id)) {
        struct hc_sv_peer *peer = &clients->peers[place];
        if (hc_sv_peer_has_session(peer) && peer->user.client_id == client_id)
            return peer;
    }
    return NULL;
}

const struct hc_sv_ended *hc_sv_clients_find_ended(const struct hc_sv_clients *clients,
                                                   uint32_t cid, uint64_t now_us) {
    unsigned place = place_of(clients, cid);
    if (place >= clients->config.places)
        return NULL;
    const struct hc_sv_ended *ring = &clients->ended[(size_t)place * HC_SV_ENDED_EACH];
    for (unsigned i = 0; i < HC_SV_ENDED_EACH; i++)
        if (now_us < ring[i].until_us && ring[i].cid == cid)
            return &ring[i];
    return NULL;
}

bool hc_sv_clients_has_ended(struct hc_sv_clients *clients, uint64_t client_id,
                             const uint8_t nonce[static HC_NONCE_SIZE], uint64_t now_us) {
    struct hc_sv_search *search = &clients->search;
    unsigned place = hc_sv_search_next_ended(search, 0, client_id);
    for (; place < search->places; place = hc_sv_search_next_ended(search, place + 1, client_id)) {
        const struct hc_sv_ended *ring = &clients->ended[(size_t)place * HC_SV_ENDED_EACH];
        for (unsigned i = 0; i < HC_SV_ENDED_EACH; i++)
            if (now_us < ring[i].until_us && !ring[i].never_received &&
                ring[i].client_id == client_id &&
                memcmp(ring[i].client_nonce, nonce, HC_NONCE_SIZE) == 0)
                return true;
    }
    return false;
}

bool hc_sv_clients_address_is_full(struct hc_sv_clients *clients, const struct hc_address *address,
                                   const struct hc_sv_peer *except) {
    struct hc_sv_search *search = &clients->search;
    uint8_t prefix[16], other[16];
    unsigned count = 0, most = clients->config.per_address;
    if (most == 0 || hc_address_is_loopback(address))
        return false;
    hc_sv_address_limit_prefix(address, prefix);
    uint64_t hash = hc_sv_search_hash(search, address);
    unsigned place = hc_sv_search_next_address(search, 0, hash);
    for (; place < search->places; place = hc_sv_search_next_address(search, place + 1, hash)) {
        const struct hc_sv_peer *peer = &clients->peers[place];
        hc_sv_address_limit_prefix(&peer->address, other);
        count += peer->state == HC_SV_PEER_PLAYING && peer != except &&
                 memcmp(prefix, other, sizeof prefix) == 0;
    }
    return count >= most;
}

/// Whether fewer than `most` sessions are of spectators.
static bool spectator_fits(const struct hc_sv_clients *clients, unsigned most) {
    unsigned count = 0;
    for (struct hc_sv_peer *peer = NULL; (peer = hc_sv_clients_next(clients, peer)) != NULL;)
        count += hc_sv_peer_has_session(peer) && peer->replication.own_count == 0;
    return count < most;
}

bool hc_sv_clients_have_room(const struct hc_sv_clients *clients, const struct hc_sv_peer *known,
                             unsigned count, unsigned spectators) {
    hc_player found[HC_OWN_PLAYERS_MAX];
    unsigned own = known != NULL ? known->replication.own_count : 0;
    if (known != NULL && own == count)
        return true;
    if (count == 0)
        return spectator_fits(clients, spectators);
    return own + hc_sv_players_find(&clients->players, count, found) >= count;
}

unsigned hc_sv_clients_connected_count(const struct hc_sv_clients *clients) {
    unsigned count = 0;
    for (struct hc_sv_peer *peer = NULL; (peer = hc_sv_clients_next(clients, peer)) != NULL;)
        count += peer->state == HC_SV_PEER_PLAYING;
    return count;
}

bool hc_sv_clients_are_gone(const struct hc_sv_clients *clients) {
    for (struct hc_sv_peer *peer = NULL; (peer = hc_sv_clients_next(clients, peer)) != NULL;)
        if (peer->state != HC_SV_PEER_FREE)
            return false;
    return true;
}

static struct hc_server_session session_of(const struct hc_sv_peer *peer) {
    return (struct hc_server_session){.client_id = peer->user.client_id,
                                      .cid = peer->connection.cid,
                                      .player_count = peer->replication.own_count,
                                      .connected = peer->state == HC_SV_PEER_PLAYING};
}

/// The first taken place of a session after that of `peer` (NULL: of all); NULL: there is none.
static struct hc_sv_peer *next_session(const struct hc_sv_clients *clients,
                                       const struct hc_sv_peer *peer) {
    struct hc_sv_peer *next = hc_sv_clients_next(clients, peer);
    while (next != NULL && !hc_sv_peer_has_session(next))
        next = hc_sv_clients_next(clients, next);
    return next;
}

uint32_t hc_sv_clients_sessions(const struct hc_sv_clients *clients, struct hc_server_session *out,
                                uint32_t most) {
    uint32_t count = 0;
    for (struct hc_sv_peer *peer = NULL; (peer = next_session(clients, peer)) != NULL; count++)
        if (count < most)
            out[count] = session_of(peer);
    return count;
}

uint32_t hc_sv_clients_farewells(struct hc_sv_clients *clients, struct hc_server_farewell *out,
                                 uint32_t most) {
    uint32_t count = 0;
    for (struct hc_sv_peer *peer = NULL; (peer = next_session(clients, peer)) != NULL;) {
        if (peer->state != HC_SV_PEER_PLAYING)
            continue;
        if (count < most)
            out[count] = *hc_sv_peer_farewell(peer);
        count++;
    }
    return count;
}

uint32_t hc_sv_clients_list(const struct hc_sv_clients *clients, struct hc_server_client *out,
                            uint32_t most, uint64_t now_us) {
    uint32_t count = 0;
    for (struct hc_sv_peer *peer = NULL; (peer = next_session(clients, peer)) != NULL; count++) {
        if (count >= most)
            continue;
        out[count].session = session_of(peer);
        hc_sv_peer_describe(peer, &out[count], now_us);
    }
    return count;
}
