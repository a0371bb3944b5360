/// Owns the room of all matches, and which match each placed token went to.
#include "server/matches/placement.h"

#include "common/alloc.h"
#include "hindcast/check.h"
#include "server/spent_tokens.h"

#include <sodium.h>
#include <string.h>

/// Players and spectators.
struct people {
    unsigned players, spectators;
};

/// A match as it is known here.
struct room {
    struct people in;   ///< of the clients that are connected or linger
    struct people held; ///< of those that are placed, but not yet answered
    bool refuses;       ///< joins, because it is overloaded
    unsigned sessions;
    uint64_t *users; ///< [sessions] their client_ids
};

struct hc_sv_placement {
    struct hc_sv_placement_config config;
    struct hc_cookie_jar jar;
    struct room *rooms;      ///< [matches]
    uint64_t *users;         ///< [matches][places_of]
    unsigned sessions, most; ///< of all matches; the most at once
    struct hc_sv_spent spent;
    uint8_t *spent_memory;
};

static struct room *room_of(struct hc_sv_placement *placement, uint16_t match) {
    HC_ASSERT(match >= 1 && match <= placement->config.matches);
    return &placement->rooms[match - 1];
}

/// Sessions at once of a match.
static unsigned places_of(const struct hc_sv_placement_config *config) {
    return config->clients + config->spectators;
}

/// Adds a client with `players` players, or a spectator.
static void add(struct people *people, unsigned players) {
    people->players += players;
    people->spectators += players == 0;
}

uint16_t hc_sv_placement_named(unsigned matches, const uint8_t *bytes, size_t size) {
    uint32_t cid, seq, match = 0;
    if (hc_datagram_get_data_clear(bytes, size, &cid, &seq) == HC_OK)
        match = cid >> HC_SERVER_CID_MATCH_AT;
    else if (size == HC_DATAGRAM_CONNECT_SIZE &&
             hc_datagram_kind(bytes, size) == HC_DATAGRAM_CONNECT)
        match = hc_token_match(bytes + HC_DATAGRAM_CONNECT_TOKEN_AT);
    return match <= matches ? (uint16_t)match : 0;
}

struct hc_sv_placement *hc_sv_placement_create(const struct hc_sv_placement_config *config) {
    struct hc_sv_placement *placement = hc_allocate(NULL, sizeof *placement);
    uint32_t users = HC_REMEMBERED_EACH * config->matches * places_of(config);
    users = users > config->remembered_users ? users : config->remembered_users;
    if (placement == NULL)
        return NULL;
    placement->config = *config;
    hc_cookie_init(&placement->jar, config->cookie_secret);
    placement->spent.seed = config->hash_seed;
    placement->rooms = hc_allocate(NULL, config->matches * sizeof *placement->rooms);
    placement->users =
        hc_allocate(NULL, (size_t)config->matches * places_of(config) * sizeof *placement->users);
    placement->spent_memory = hc_allocate(NULL, hc_sv_spent_layout(&placement->spent, users, NULL));
    if (placement->rooms == NULL || placement->users == NULL || placement->spent_memory == NULL) {
        hc_sv_placement_destroy(placement);
        return NULL;
    }
    hc_sv_spent_layout(&placement->spent, users, placement->spent_memory);
    for (unsigned i = 0; i < config->matches; i++)
        placement->rooms[i].users = placement->users + (size_t)i * places_of(config);
    return placement;
}

void hc_sv_placement_destroy(struct hc_sv_placement *placement) {
    if (placement == NULL)
        return;
    hc_release(NULL, placement->spent_memory);
    hc_release(NULL, placement->users);
    hc_release(NULL, placement->rooms);
    sodium_memzero(placement, sizeof *placement);
    hc_release(NULL, placement);
}

void hc_sv_placement_set_keys(struct hc_sv_placement *placement, const struct hc_token_ring *keys) {
    placement->config.keys = *keys;
}

/// Opens the token of the CONNECT at `bytes` if its cookie and proof hold.
static enum hc_status open_token(struct hc_sv_placement *placement, const struct hc_address *from,
                                 const struct hc_connect *connect, const uint8_t *bytes,
                                 uint64_t unix_us, uint64_t now_us, struct hc_token *token) {
    const struct hc_sv_placement_config *config = &placement->config;
    enum hc_status status = connect->protocol_id == config->protocol_id ? HC_OK : HC_UNEXPECTED;
    if (status == HC_OK)
        status = hc_cookie_check(&placement->jar, now_us, connect->slot, from,
                                 connect->client_nonce, connect->cookie);
    if (status == HC_OK)
        status = hc_token_open(&config->keys, config->protocol_id, config->audience,
                               unix_us / 1000000, connect->token, token);
    if (status == HC_OK && token->match != 0 && token->kind != HC_TOKEN_RESUME)
        status = HC_INVALID;
    if (status == HC_OK)
        status = hc_token_check_proof(token->secret, bytes);
    return status;
}

/// The match where the user has a session; 0: none.
static uint16_t match_of_user(const struct hc_sv_placement *placement, uint64_t client_id) {
    for (unsigned i = 0; i < placement->config.matches; i++) {
        const struct room *room = &placement->rooms[i];
        for (unsigned user = 0; user < room->sessions; user++)
            if (room->users[user] == client_id)
                return (uint16_t)(i + 1);
    }
    return 0;
}

static bool has_room(const struct hc_sv_placement *placement, const struct room *room,
                     unsigned players) {
    unsigned spectators = room->in.spectators + room->held.spectators;
    unsigned taken = room->in.players + room->held.players;
    if (room->refuses)
        return false;
    return players == 0 ? spectators < placement->config.spectators
                        : taken + players <= placement->config.players;
}

/// The match with the most players that has room for a client with `players` players; 0: none.
static uint16_t fullest_with_room(const struct hc_sv_placement *placement, unsigned players) {
    unsigned best = 0, most = 0;
    for (unsigned i = 0; i < placement->config.matches; i++) {
        const struct room *room = &placement->rooms[i];
        unsigned taken = room->in.players + room->held.players;
        if (!has_room(placement, room, players) || (best != 0 && taken <= most))
            continue;
        best = i + 1;
        most = taken;
    }
    return (uint16_t)best;
}

/// Chooses the match of an opened token.
static void choose(struct hc_sv_placement *placement, const struct hc_token *token,
                   uint64_t unix_us, uint64_t now_us, struct hc_sv_placed *placed) {
    struct hc_sv_spent *spent = &placement->spent;
    uint64_t now_s = unix_us / 1000000;
    uint16_t *match = hc_sv_spent_match(spent, token);
    if (match != NULL && *match != 0) {
        placed->match = *match;
        placed->again = true;
        return;
    }
    placed->denied = hc_sv_spent_check(spent, token, false, now_us);
    if (placed->denied != 0)
        return;
    bool remembered = hc_sv_spent_use(spent, token, now_s, now_us);
    HC_ASSERT(remembered);
    placed->match = match_of_user(placement, token->client_id);
    if (placed->match == 0)
        placed->match = fullest_with_room(placement, placed->players);
    if (placed->match == 0)
        placed->match = 1; // which denies it as full
    match = hc_sv_spent_match(spent, token);
    HC_ASSERT(match != NULL); // it was used just now
    *match = placed->match;
    placed->first = true;
    add(&room_of(placement, placed->match)->held, placed->players);
}

void hc_sv_placement_choose(struct hc_sv_placement *placement, const struct hc_address *from,
                            const uint8_t *bytes, size_t size, uint64_t unix_us, uint64_t now_us,
                            struct hc_sv_placed *placed) {
    struct hc_connect connect;
    struct hc_token token;
    *placed = (struct hc_sv_placed){.match = 0};
    enum hc_status status = hc_datagram_get_connect(bytes, size, &connect);
    if (status == HC_OK)
        status = open_token(placement, from, &connect, bytes, unix_us, now_us, &token);
    if (status == HC_OK) {
        placed->players = connect.players;
        placed->client_id = token.client_id;
        placed->ticket = token.kind == HC_TOKEN_RESUME;
        memcpy(placed->token_id, token.token_id, sizeof placed->token_id);
        choose(placement, &token, unix_us, now_us, placed);
    }
    sodium_memzero(&token, sizeof token);
}

static uint64_t denials_for_room(const struct hc_server_stats *stats) {
    return stats->denials[HC_DENY_FULL].count + stats->denials[HC_DENY_SPECTATORS].count;
}

enum hc_status hc_sv_placement_give(struct hc_sv_placed *placed, struct hc_server *server,
                                    const struct hc_address *from, const uint8_t *bytes,
                                    size_t size, uint64_t now_us) {
    const struct hc_server_stats *stats = hc_server_stats(server);
    uint64_t denied = stats->denied, full = denials_for_room(stats);
    enum hc_status status = placed->denied != 0
                                ? hc_server_deny(server, from, bytes, size, placed->denied, now_us)
                                : hc_server_receive(server, from, bytes, size, now_us);
    placed->admitted = stats->denied == denied;
    placed->full = denials_for_room(stats) != full;
    return status;
}

void hc_sv_placement_finish(struct hc_sv_placement *placement, const struct hc_sv_placed *placed) {
    bool forgets =
        placed->again && placed->full && match_of_user(placement, placed->client_id) == 0;
    if (placed->first) {
        struct people *held = &room_of(placement, placed->match)->held;
        held->players -= placed->players;
        held->spectators -= placed->players == 0;
        forgets = !placed->admitted;
    }
    if (forgets)
        hc_sv_spent_forget(&placement->spent, placed->client_id, placed->token_id, placed->ticket);
}

void hc_sv_placement_set_match(struct hc_sv_placement *placement, uint16_t match,
                               const struct hc_server_session *sessions, uint32_t count,
                               bool refuses) {
    struct room *room = room_of(placement, match);
    HC_ASSERT(count <= places_of(&placement->config));
    placement->sessions += count - room->sessions;
    room->sessions = count;
    room->in = (struct people){.players = 0};
    room->refuses = refuses;
    for (uint32_t i = 0; i < count; i++) {
        room->users[i] = sessions[i].client_id;
        add(&room->in, sessions[i].player_count);
    }
    if (placement->sessions > placement->most)
        placement->most = placement->sessions;
}

void hc_sv_placement_refuse(struct hc_sv_placement *placement, uint16_t match) {
    room_of(placement, match)->refuses = true;
}

unsigned hc_sv_placement_most(const struct hc_sv_placement *placement) {
    return placement->most;
}

struct hc_server_remembered hc_sv_placement_remembered(const struct hc_sv_placement *placement) {
    return placement->spent.counts;
}
