/// Owns the checks of a port with several matches.
#include "tests/storm/matches.h"

#include "client/client.h"
#include "proto/datagram.h"
#include "tests/sim/hosts.h"

#include <stdlib.h>
#include <string.h>

enum {
    CHAINS = 4096,          ///< final ticks of a match whose chain hashes are remembered
    SESSIONS_MAX = 128,     ///< of a match, at most
    RETRY_US = 250000,      ///< between two handshakes
    LIVE_US = 1000000,      ///< a user's other connection must be silent so long
    COOKIE_US = 2000000,    ///< for which a client uses a cookie
    WAIT_US = 3000000,      ///< a denied client asks again after that at the latest
    RESTART_US = 2000000,   ///< a client that knows of a restart tries after that at the latest
    RECONNECT_US = 8000000, ///< for which a lost client tries to connect again, unless drawn
};

/// One match's newest world.
struct world {
    bool any;
    uint64_t seed;           ///< seed, another one in each world
    uint64_t denied;         ///< denials for want of room, when they were last read
    hc_tick final;           ///< newest final tick
    uint64_t chains[CHAINS]; ///< chain hashes by final tick
};

struct guest {
    uint64_t user;     ///< user of the newest session
    uint64_t wants_us; ///< time since when nothing keeps the client out
    bool denied;       ///< the client was denied for want of room, and has closed
};

struct storm_matches {
    struct world worlds[HC_SIM_MATCHES_MAX];
    struct guest guests[STORM_CLIENTS_MAX];
    unsigned restarts;
    bool announced; ///< the program says that it restarts
    bool filled;    ///< the clients fill the matches
};

bool storm_matches_planned(const struct storm_plan *plan) {
    return plan->match[STORM_matches] != 0;
}

void storm_matches_begin(struct storm_match *match) {
    match->many = calloc(1, sizeof *match->many);
    if (match->many == NULL)
        abort();
}

void storm_matches_free(struct storm_match *match) {
    free(match->many);
}

static unsigned matches_of(const struct storm_match *match) {
    return (unsigned)storm_match_get(match, STORM_matches);
}

uint16_t storm_matches_room(const struct storm_match *match) {
    int64_t slots = storm_match_get(match, STORM_slots), matches = matches_of(match);
    int64_t players = storm_plan_players(match->plan);
    if (slots != 0)
        return (uint16_t)slots;
    // Where a client finds no room, each match has at most three places left.
    int64_t room = (players + matches * (HC_OWN_PLAYERS_MAX - 1)) / matches + 1;
    return (uint16_t)(room > HC_OWN_PLAYERS_MAX ? room : HC_OWN_PLAYERS_MAX);
}

bool storm_matches_barred(const struct storm_match *match, unsigned client) {
    return storm_client_get(match, client, STORM_C_barred) != 0 && !match->many->filled;
}

/// The user of a client that is always the same.
static uint64_t user_of(unsigned client) {
    return (uint64_t)(client + 1) << 32;
}

/// Refuses the barred users in all matches, as the program does at its start.
static void refuse(struct storm_match *match) {
    uint64_t refused[STORM_CLIENTS_MAX];
    uint32_t count = 0;
    for (unsigned i = 0; i < match->clients; i++)
        if (storm_client_get(match, i, STORM_C_barred) == 1)
            refused[count++] = user_of(i);
    unsigned matches = hc_sim_matches(match->sim);
    for (unsigned place = 0; place < (matches > 0 ? matches : 1); place++)
        hc_server_set_refused(hc_sim_match(match->sim, place), refused, count, 0,
                              hc_sim_host_now(match->sim));
}

void storm_matches_set_up_client(struct storm_match *match, unsigned client) {
    struct hc_sim_setup *setup = hc_sim_setup(match->sim, client);
    int64_t barred = storm_client_get(match, client, STORM_C_barred);
    if (setup->config.reconnect_us == 0)
        setup->config.reconnect_us = RECONNECT_US;
    if (barred != 0)
        setup->user = user_of(client);
    if (barred == 2) {
        setup->allowed_players = 1;
        setup->config.players = 2;
    }
    if (client + 1 == match->clients)
        refuse(match);
}

static void wants(struct storm_match *match, unsigned client, uint64_t after_us) {
    struct guest *guest = &match->many->guests[client];
    guest->wants_us = hc_sim_now(match->sim) + after_us;
    guest->denied = false;
}

void storm_matches_connects(struct storm_match *match, unsigned client) {
    wants(match, client, 0);
}

// ---- Sessions -----------------------------------------------------------------------------------

static uint32_t sessions_of(struct storm_match *match, unsigned place,
                            struct hc_server_session sessions[static SESSIONS_MAX]) {
    uint32_t count = hc_server_sessions(hc_sim_match(match->sim, place), sessions, SESSIONS_MAX);
    HC_ASSERT(count <= SESSIONS_MAX);
    return count;
}

static unsigned hosts_of(const struct storm_match *match) {
    unsigned matches = hc_sim_matches(match->sim);
    return matches > 0 ? matches : 1;
}

/// The sessions of a user, in all matches.
static unsigned count_sessions(struct storm_match *match, uint64_t user) {
    struct hc_server_session sessions[SESSIONS_MAX];
    unsigned found = 0;
    for (unsigned place = 0; place < hosts_of(match); place++)
        for (uint32_t count = sessions_of(match, place, sessions), i = 0; i < count; i++)
            found += sessions[i].client_id == user;
    return found;
}

/// Whether the match at a place has room for a client with so many players.
static bool has_room(struct storm_match *match, unsigned place, unsigned players) {
    const struct hc_server_config *config = &hc_sim_config(match->sim)->host;
    struct hc_server_session sessions[SESSIONS_MAX];
    unsigned taken = 0, watching = 0;
    for (uint32_t count = sessions_of(match, place, sessions), i = 0; i < count; i++) {
        taken += sessions[i].player_count;
        watching += sessions[i].player_count == 0;
    }
    return players == 0 ? watching < config->spectators : taken + players <= config->clients;
}

/// Whether a match to which a CONNECT may go has room for it: the one that its ticket names, or
/// any.
static bool any_room(struct storm_match *match, const uint8_t *bytes, size_t size,
                     unsigned players) {
    uint16_t named = hc_sv_placement_named(hc_sim_matches(match->sim), bytes, size);
    if (named != 0)
        return has_room(match, named - 1u, players);
    for (unsigned place = 0; place < hosts_of(match); place++)
        if (has_room(match, place, players))
            return true;
    return false;
}

/// The place of the match that has the client's session; the number of hosts: none.
static unsigned place_of(struct storm_match *match, unsigned client) {
    struct hc_server_session sessions[SESSIONS_MAX];
    uint32_t cid = hc_sim_client(match->sim, client)->link.connection.cid;
    unsigned place = 0;
    for (; place < hosts_of(match); place++)
        for (uint32_t count = sessions_of(match, place, sessions), i = 0; i < count; i++)
            if (sessions[i].cid == cid)
                return place;
    return place;
}

// ---- The hosts ----------------------------------------------------------------------------------

static unsigned seat_of(const struct storm_match *match, uint16_t port) {
    return (unsigned)(port - STORM_PORT_FIRST) % match->clients;
}

/// The newest world of the match that a hook is about.
static struct world *active_world(struct storm_match *match) {
    struct world *world = &match->many->worlds[hc_sim_active(match->sim)];
    uint64_t seed = hc_server_world(hc_sim_host(match->sim))->seed;
    if (!world->any || world->seed != seed)
        *world = (struct world){.any = true, .seed = seed};
    return world;
}

static void host_ticked(void *context, struct hc_sim *sim) {
    struct storm_match *match = context;
    struct world *world = active_world(match);
    uint64_t chain;
    world->final = hc_sv_host_final(hc_sim_host(sim), &chain);
    world->chains[world->final % CHAINS] = chain;
    match->outcome->ticks++;
}

static void host_event(void *context, struct hc_sim *sim, const struct hc_server_event *event) {
    static const char *const kinds[] = {
        "joins", "leaves", "times out", "is lost", "is connected again", "has moved"};
    struct storm_match *match = context;
    if (event->kind == HC_SERVER_EVENT_ROUND_ENDED)
        return;
    unsigned client = seat_of(match, event->address.port);
    STORM_NOTE(match, "client %u %s in match %u of %u, cid %08x, %u players", client,
               kinds[event->kind], hc_sim_active(sim) + 1, hc_sim_matches(sim), event->cid,
               event->player_count);
    if (event->kind != HC_SERVER_EVENT_JOINED)
        return;
    match->outcome->joins++;
    match->many->guests[client].user = event->client_id;
    if (storm_matches_barred(match, client))
        storm_wrong(match, "barred", 0, client, "is admitted");
    if (count_sessions(match, event->client_id) > 1)
        storm_wrong(match, "two-sessions", 0, client, "has sessions in two matches");
}

/// A CONNECT was denied for want of room only if there is none.
static void host_received(void *context, struct hc_sim *sim, unsigned client, uint16_t port,
                          const uint8_t *bytes, size_t size, enum hc_status status) {
    struct storm_match *match = context;
    const struct hc_server_denials *denials = hc_server_stats(hc_sim_host(sim))->denials;
    struct world *world = active_world(match);
    uint64_t denied = denials[HC_DENY_FULL].count + denials[HC_DENY_SPECTATORS].count;
    struct hc_connect connect;
    (void)client, (void)status;
    if (hc_datagram_kind(bytes, size) != HC_DATAGRAM_CONNECT || world->denied == denied)
        return;
    world->denied = denied;
    match->outcome->denials++;
    if (hc_datagram_get_connect(bytes, size, &connect) == HC_OK &&
        any_room(match, bytes, size, connect.players))
        storm_wrong(match, "denied", 0, seat_of(match, port),
                    "is denied a place, and a match has one");
}

/// Whether an honest client may be denied for a reason. One that tries to reconnect for longer than
/// its session lingers, and has no ticket yet, has used its token.
static bool may_be_denied(struct storm_match *match, enum hc_deny_reason reason, unsigned client) {
    switch (reason) {
    case HC_DENY_FULL:
    case HC_DENY_SPECTATORS: // host_received judges both
    case HC_DENY_CONNECTED:
        return true;
    case HC_DENY_USED:
        return hc_client_state(hc_sim_client(match->sim, client)) != HC_CLIENT_CONNECTING &&
               count_sessions(match, match->many->guests[client].user) == 0;
    case HC_DENY_RATE:
        return storm_client_get(match, client, STORM_C_same_user) != 0;
    case HC_DENY_SHUTDOWN:
        return match->many->announced;
    default:
        return false;
    }
}

static void host_sent(void *context, struct hc_sim *sim, unsigned client, const uint8_t *bytes,
                      size_t size) {
    struct storm_match *match = context;
    struct hc_deny deny;
    (void)sim;
    match->outcome->datagrams++;
    STORM_NOTE(match, "server > %u: kind %02x, %zu bytes", client, bytes[0], size);
    if (hc_datagram_get_deny(bytes, size, &deny) == HC_OK && !storm_matches_barred(match, client) &&
        !may_be_denied(match, deny.reason, client))
        storm_fail(match->verdict, STORM_WRONG, "denied", 0, "client %u is denied: %s", client,
                   hc_deny_text(deny.reason));
}

// ---- The clients --------------------------------------------------------------------------------

static void script(void *context, struct hc_sim *sim, unsigned client, unsigned index, hc_tick tick,
                   void *input) {
    (void)sim;
    storm_keys(context, client, index, tick, input);
}

static void client_received(void *context, struct hc_sim *sim, unsigned client,
                            const uint8_t *bytes, size_t size, enum hc_status status) {
    struct storm_match *match = context;
    struct hc_deny deny;
    STORM_NOTE(match, "client %u receives kind %02x, %zu bytes: %s", client, bytes[0], size,
               hc_status_text(status));
    if (status == HC_OK && hc_datagram_get_deny(bytes, size, &deny) == HC_OK && deny.retry_ms > 0)
        wants(match, client, WAIT_US);
    if (hc_client_stats(hc_sim_client(sim, client))->hash_mismatches > 0)
        storm_wrong(match, "hash", 0, client, "receives a snapshot with another hash");
}

static void client_event(void *context, struct hc_sim *sim, unsigned client,
                         const struct hc_client_event *event) {
    struct storm_match *match = context;
    (void)sim;
    STORM_NOTE(match, "client %u has event %d, reason %d", client, event->kind, event->close);
    if (event->kind == HC_CLIENT_EVENT_LOST)
        wants(match, client, event->loss == HC_CLIENT_LOSS_RESTART ? RESTART_US : 0);
    if (event->kind == HC_CLIENT_EVENT_DENIED)
        match->many->guests[client].denied =
            event->deny == HC_DENY_FULL || event->deny == HC_DENY_SPECTATORS;
    bool error = event->kind == HC_CLIENT_EVENT_CLOSED &&
                 (event->close == HC_CLOSE_ERROR || event->close == HC_CLOSE_DESYNC);
    if (error || event->kind == HC_CLIENT_EVENT_VERSION || event->kind == HC_CLIENT_EVENT_DESYNC)
        storm_wrong(match, "closed", 0, client, "gives up for an error");
}

/// How long a client on clean links may shake hands.
static uint64_t handshake_us(const struct storm_match *match, unsigned client) {
    uint64_t most_us = 4 * storm_calm_rtt_us(match, client) + 3 * RETRY_US + LIVE_US;
    if (storm_client_get(match, client, STORM_C_rebind_ticks) != 0)
        most_us += COOKIE_US + 2 * RETRY_US; // its cookie was for another address
    return most_us;
}

/// Whether nothing has kept the client out for longer than it may shake hands.
static bool is_kept_out(const struct storm_match *match, unsigned client) {
    uint64_t since_us = match->healed_us + storm_calm_straggle_us(match, client);
    uint64_t wants_us = match->many->guests[client].wants_us;
    since_us = since_us > wants_us ? since_us : wants_us;
    return hc_sim_now(match->sim) > since_us + handshake_us(match, client);
}

static void client_changed(void *context, struct hc_sim *sim, unsigned client) {
    struct storm_match *match = context;
    enum hc_client_state state = hc_client_state(hc_sim_client(sim, client));
    bool tries = state == HC_CLIENT_CONNECTING || state == HC_CLIENT_RECONNECTING ||
                 state == HC_CLIENT_JOINING;
    if (tries && match->healed && !storm_matches_barred(match, client) &&
        is_kept_out(match, client))
        storm_fail(
            match->verdict, STORM_STUCK, "kept-out", 0,
            "client %u is kept out %lu ms after it could be in", client,
            (unsigned long)((hc_sim_now(sim) - match->many->guests[client].wants_us) / 1000));
}

struct hc_sim_hooks storm_matches_hooks(void) {
    return (struct hc_sim_hooks){.script = script,
                                 .host_ticked = host_ticked,
                                 .host_event = host_event,
                                 .host_received = host_received,
                                 .host_sent = host_sent,
                                 .client_received = client_received,
                                 .client_changed = client_changed,
                                 .client_event = client_event};
}

// ---- Actions ------------------------------------------------------------------------------------

void storm_matches_announce(struct storm_match *match) {
    if ((match->plan->seed + match->many->restarts) % 2 != 0)
        return; // it crashes
    STORM_NOTE(match, "the server says that it restarts");
    match->many->announced = true;
    hc_sim_announce_restart(match->sim, 0);
}

void storm_matches_restart(struct storm_match *match) {
    struct storm_matches *many = match->many;
    unsigned matches = many->restarts++ % 2 == 0 ? 0 : matches_of(match);
    unsigned all = storm_matches_room(match) * matches_of(match);
    unsigned most = hc_sim_config(match->sim)->host.game->players_max;
    all = all < most ? all : most;
    STORM_NOTE(match, "the server starts again, with %u matches", matches);
    many->announced = false;
    memset(many->worlds, 0, sizeof many->worlds);
    for (unsigned i = 0; i < match->clients; i++) // their cookies were for the program before
        wants(match, i, COOKIE_US + 2 * RETRY_US);
    if (!hc_sim_restart_hosts(match->sim, matches,
                              matches == 0 ? (uint16_t)all : storm_matches_room(match)))
        abort();
    refuse(match);
}

void storm_matches_retry(struct storm_match *match) {
    for (unsigned i = 0; i < match->clients; i++) {
        const struct hc_client *core = hc_sim_client(match->sim, i);
        bool gone = core == NULL || hc_client_state(core) == HC_CLIENT_CLOSED ||
                    hc_client_state(core) == HC_CLIENT_LEAVING;
        if (gone && !storm_matches_barred(match, i))
            storm_match_connect(match, i);
    }
}

/// The client has the chain hash that its match had.
static void check_chain(struct storm_match *match, unsigned client, unsigned place) {
    const struct world *world = &match->many->worlds[place];
    hc_tick final;
    uint64_t chain;
    bool any = hc_client_final(hc_sim_client(match->sim, client), &final, &chain);
    if (any && final <= world->final && world->chains[final % CHAINS] != 0 &&
        world->chains[final % CHAINS] != chain)
        storm_wrong(match, "chain", final, client, "has another past than its match");
}

/// The client plays, or was denied for want of room.
static void check_client(struct storm_match *match, unsigned client) {
    const struct hc_client *core = hc_sim_client(match->sim, client);
    if (storm_matches_barred(match, client) || match->many->guests[client].denied)
        return;
    if (core == NULL || hc_client_state(core) == HC_CLIENT_CLOSED)
        storm_fail(match->verdict, STORM_STUCK, "kept-out", 0, "client %u has given up", client);
    else if (hc_client_state(core) == HC_CLIENT_PLAYING ||
             hc_client_state(core) == HC_CLIENT_STALLED) {
        unsigned place = place_of(match, client);
        if (place == hosts_of(match))
            storm_fail(match->verdict, STORM_STUCK, "kept-out", 0,
                       "client %u plays, and no match knows it", client);
        else
            check_chain(match, client, place);
    }
}

void storm_matches_check(struct storm_match *match) {
    for (unsigned i = 0; i < match->clients; i++)
        check_client(match, i);
}

void storm_matches_leave(struct storm_match *match) {
    for (unsigned i = 0; i < match->clients; i++)
        if (hc_sim_client(match->sim, i) != NULL)
            hc_sim_leave(match->sim, i);
}

void storm_matches_fill(struct storm_match *match) {
    struct hc_server_session sessions[SESSIONS_MAX];
    uint16_t room = hc_sim_config(match->sim)->host.clients;
    for (unsigned place = 0; place < hosts_of(match); place++)
        if (sessions_of(match, place, sessions) > 0)
            storm_fail(match->verdict, STORM_STUCK, "left", 0,
                       "user %lx has left, and has a session in match %u",
                       (unsigned long)sessions[0].client_id, place + 1);
    match->many->filled = true;
    for (unsigned i = 0; i < match->clients; i++) {
        struct hc_sim_setup *setup = hc_sim_setup(match->sim, i);
        setup->user = 0;
        setup->allowed_players = HC_OWN_PLAYERS_MAX;
        setup->config.players =
            room < HC_OWN_PLAYERS_MAX ? (uint8_t)room : (uint8_t)HC_OWN_PLAYERS_MAX;
        storm_match_connect(match, i);
    }
}

void storm_matches_end(struct storm_match *match) {
    unsigned fit = 0, playing = 0, players = hc_sim_setup(match->sim, 0)->config.players;
    storm_matches_check(match);
    for (unsigned place = 0; place < hosts_of(match); place++)
        fit += hc_sim_config(match->sim)->host.clients / players;
    for (unsigned i = 0; i < match->clients; i++) {
        enum hc_client_state state = hc_client_state(hc_sim_client(match->sim, i));
        playing += state == HC_CLIENT_PLAYING || state == HC_CLIENT_STALLED;
    }
    fit = fit < match->clients ? fit : match->clients;
    if (playing != fit)
        storm_fail(match->verdict, STORM_WRONG, "places", 0,
                   "%u clients of %u players each are in, and %u have room", playing, players, fit);
}
