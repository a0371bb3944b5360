/// The host: its configuration, its ticks, its peers' lifecycle and its queues of datagrams.
#include "server/host_internal.h"
#include "server/path.h"

#include "common/alloc.h"
#include "common/mark.h"
#include "server/replication/snapshot.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

enum {
    FAR_US = 100000, ///< a client with a longer round trip is far
    IDLE_S = 5,      ///< a client whose input stays the same for longer is idle
};

struct hc_sv_host_config hc_sv_host_config_default(void) {
    return (struct hc_sv_host_config){.clients = 8,
                                      .tick_rate = 60,
                                      .history = 64,
                                      .future = 64,
                                      .late_margin = 24,
                                      .last_tick = HC_SNAPSHOT_TICK_MAX,
                                      .timeout_us = HC_TIMEOUT_US,
                                      .linger_us = HC_RECONNECT_US,
                                      .connects_per_address = HC_CONNECTS_PER_ADDRESS,
                                      .clients_per_address = HC_CLIENTS_PER_ADDRESS,
                                      .players_per_client = HC_OWN_PLAYERS_MAX,
                                      .spectators = HC_SV_CLIENTS_MAX,
                                      .session_life_s = HC_SESSION_LIFE_S,
                                      .ticks_per_advance = 16,
                                      .client_rate = 262144};
}

/// NULL when every field is in its range, else a sentence about one that is not.
static const char *check_ranges(const struct hc_sv_host_config *config, char *why, size_t size) {
    const struct range {
        const char *name;
        uint32_t value, min, max;
    } ranges[] = {
        {"clients", config->clients, 1,
         config->game->players_max < HC_SV_CLIENTS_MAX ? config->game->players_max
                                                       : HC_SV_CLIENTS_MAX},
        {"tick_rate", config->tick_rate, 1, HC_TICK_RATE_MAX},
        {"history", config->history, 0, HC_HISTORY_MAX},
        {"future", config->future, 1, HC_FUTURE_MAX},
        {"late_margin", config->late_margin, 0, HC_HISTORY_MAX},
        {"last_tick", config->last_tick, 1, HC_SNAPSHOT_TICK_MAX},
        {"force_rewind", config->force_rewind, 0, config->history},
        {"timeout_us", config->timeout_us, 1, UINT32_MAX},
        {"players_per_client", config->players_per_client, 1, HC_OWN_PLAYERS_MAX},
        {"ticks_per_advance", config->ticks_per_advance, 1, 1024},
        {"client_rate", config->client_rate, HC_SV_CLIENT_RATE_MIN, UINT32_MAX},
        {"snapshot_rate", config->snapshot_rate, 0, config->tick_rate},
        {"keys.count", config->keys.count, 1, 2},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        const struct range *r = &ranges[i];
        if (r->value >= r->min && r->value <= r->max)
            continue;
        snprintf(why, size, "%s is %u, but must be in [%u, %u]", r->name, r->value, r->min, r->max);
        return why;
    }
    return NULL;
}

const char *hc_sv_host_config_check(const struct hc_sv_host_config *config, char *why,
                                    size_t why_size) {
    struct hc_world world = {0};
    if (config->game == NULL) {
        snprintf(why, why_size, "game is missing");
        return why;
    }
    if (hc_game_check(config->game, why, why_size) != NULL ||
        check_ranges(config, why, why_size) != NULL)
        return why;
    if (hc_world_init(&world, config->game, config->clients, config->tick_rate, config->seed,
                      config->allocator) != HC_OK) {
        snprintf(why, why_size, "a world of %u players has too many entities", config->clients);
        return why;
    }
    hc_world_free(&world);
    return NULL;
}

// ---- Creation -----------------------------------------------------------------------------------

static struct hc_timeline_config timeline_config(const struct hc_sv_host *host) {
    struct hc_timeline_config config = {.world = &host->world,
                                        .history = host->config.history,
                                        .future = host->config.future,
                                        .allocator = host->config.allocator};
    memcpy(config.secret, host->secrets.world, sizeof config.secret);
    return config;
}

/// Allocates and counts.
static void *obtain(struct hc_sv_host *host, size_t bytes) {
    host->stats.memory_bytes += bytes;
    return hc_allocate(host->config.allocator, bytes);
}

/// Lays out the memory of all peers from `base` (NULL: only measures); returns the bytes needed.
static size_t lay_out_peers(struct hc_sv_host *host, uint8_t *base) {
    size_t used = 0;
    for (unsigned i = 0; i < host->config.clients; i++) {
        struct hc_sv_peer measured;
        struct hc_sv_peer *peer = base == NULL ? &measured : &host->peers[i];
        used += hc_sv_peer_layout(peer, &host->replicator, base == NULL ? NULL : base + used);
    }
    return used;
}

static bool build_replicator(struct hc_sv_host *host) {
    struct hc_sv_replicator_config config = {.world = &host->world,
                                             .timeline = host->timeline,
                                             .clients = host->config.clients,
                                             .history = host->config.history,
                                             .future = host->config.future,
                                             .snapshot_rate = host->config.snapshot_rate,
                                             .show_head = host->config.show_head,
                                             .allocator = host->config.allocator};
    memcpy(config.chain_key, host->secrets.chain, sizeof config.chain_key);
    host->stats.memory_bytes += hc_sv_replicator_memory(&config);
    return hc_sv_replicator_init(&host->replicator, &config);
}

/// Obtains all memory; false: it is short.
static bool build(struct hc_sv_host *host) {
    const struct hc_sv_host_config *config = &host->config;
    if (hc_world_init(&host->world, config->game, config->clients, config->tick_rate, config->seed,
                      config->allocator) != HC_OK)
        return false;
    host->stats.memory_bytes +=
        host->world.entities * (sizeof *host->world.kind_of + sizeof *host->world.owner_of);
    struct hc_timeline_config timeline = timeline_config(host);
    host->timeline = hc_timeline_create(&timeline);
    host->stats.memory_bytes += hc_timeline_memory(&timeline);
    bool replicates = build_replicator(host);
    host->peers = obtain(host, config->clients * sizeof *host->peers);
    host->players = obtain(host, config->clients * sizeof *host->players);
    host->peer_memory = obtain(host, lay_out_peers(host, NULL));
    host->ended = obtain(host, (size_t)HC_SV_ENDED_EACH * config->clients * sizeof *host->ended);
    uint32_t users = HC_SPENT_CLIENTS_EACH * (uint32_t)config->clients;
    users = users > HC_SPENT_CLIENTS_MIN ? users : HC_SPENT_CLIENTS_MIN;
    host->spent_memory = obtain(host, hc_sv_spent_layout(&host->spent, users, NULL));
    if (host->timeline == NULL || !replicates || host->peers == NULL || host->players == NULL ||
        host->peer_memory == NULL || host->ended == NULL || host->spent_memory == NULL)
        return false;
    hc_sv_spent_layout(&host->spent, users, host->spent_memory);
    lay_out_peers(host, host->peer_memory);
    return true;
}

/// Draws the cookies' secret, which stays in memory: nothing else can be derived from it. The
/// configured secret, from which everything can be drawn, is erased.
static void use_secret(struct hc_sv_host *host) {
    uint8_t cookies[HC_COOKIE_SECRET_SIZE];
    hc_ratchet_init(&host->ratchet, host->config.secret);
    sodium_memzero(host->config.secret, sizeof host->config.secret);
    hc_ratchet_draw(&host->ratchet, cookies, sizeof cookies);
    hc_cookie_init(&host->jar, cookies);
    sodium_memzero(cookies, sizeof cookies);
}

struct hc_sv_host *hc_sv_host_create(const struct hc_sv_host_config *config, uint64_t now_us) {
    char why[256];
    if (hc_sv_host_config_check(config, why, sizeof why) != NULL || sodium_init() < 0)
        return NULL;
    struct hc_sv_host *host = hc_allocate(config->allocator, sizeof *host);
    if (host == NULL)
        return NULL;
    host->config = *config;
    if (config->rule_hash == 0)
        host->config.rule_hash = hc_game_rule_hash(config->game, config->allocator);
    host->secrets = hc_sv_host_secrets(config->secret);
    host->stats.memory_bytes = sizeof *host;
    if (host->config.rule_hash == 0 || !build(host)) {
        hc_sv_host_destroy(host);
        return NULL;
    }
    host->epoch_us = now_us;
    hc_sv_overload_init(&host->overload, config->history);
    host->protocol_id = hc_datagram_protocol_id(config->game, host->config.rule_hash);
    use_secret(host);
    hc_sv_host_unpredictable(host, (uint8_t *)&host->rate.seed, sizeof host->rate.seed);
    host->spent.seed = host->reset_rate.seed = host->rate.seed;
    hc_sv_host_unpredictable(host, (uint8_t *)&host->forged.seed, sizeof host->forged.seed);
    hc_sv_host_set_time(host, config->unix_us, now_us);
    hc_timeline_start(host->timeline);
    return host;
}

void hc_sv_host_start(struct hc_sv_host *host, uint64_t now_us) {
    HC_ASSERT(hc_timeline_head(host->timeline) == 0);
    host->epoch_us = now_us;
}

void hc_sv_host_destroy(struct hc_sv_host *host) {
    if (host == NULL)
        return;
    const struct hc_allocator *allocator = host->config.allocator;
    for (unsigned i = 0; host->peers != NULL && i < host->config.clients; i++)
        sodium_memzero(&host->peers[i], sizeof host->peers[i]);
    hc_release(allocator, host->spent_memory);
    hc_release(allocator, host->ended);
    hc_release(allocator, host->peer_memory);
    hc_release(allocator, host->players);
    hc_release(allocator, host->peers);
    hc_sv_replicator_free(&host->replicator);
    hc_timeline_destroy(host->timeline);
    hc_world_free(&host->world);
    sodium_memzero(host, sizeof *host);
    hc_release(allocator, host);
}

// ---- Peers --------------------------------------------------------------------------------------

bool hc_sv_host_plays(const struct hc_sv_host *host, const struct hc_sv_peer *peer,
                      hc_player player) {
    const struct hc_sv_player *slot = &host->players[player];
    return slot->in && !slot->leaving && slot->peer == peer - host->peers + 1;
}

bool hc_sv_host_address_is_full(const struct hc_sv_host *host, const struct hc_address *address,
                                const struct hc_sv_peer *except) {
    uint8_t prefix[16], other[16];
    unsigned count = 0, most = host->config.clients_per_address;
    if (most == 0 || hc_address_is_loopback(address))
        return false;
    hc_sv_address_limit_prefix(address, prefix);
    for (unsigned i = 0; i < host->config.clients; i++) {
        const struct hc_sv_peer *peer = &host->peers[i];
        hc_sv_address_limit_prefix(&peer->address, other);
        count += peer->state == HC_SV_PEER_PLAYING && peer != except &&
                 memcmp(prefix, other, sizeof prefix) == 0;
    }
    return count >= most;
}

void hc_sv_host_event(struct hc_sv_host *host, const struct hc_sv_peer *peer,
                      enum hc_sv_event_kind kind, enum hc_close_reason close) {
    if (host->event_count == HC_SV_EVENTS)
        return;
    struct hc_sv_event *event =
        &host->events[(host->event_first + host->event_count++) % HC_SV_EVENTS];
    *event = (struct hc_sv_event){.kind = kind,
                                  .address = peer->address,
                                  .cid = peer->connection.cid,
                                  .before = kind == HC_SV_EVENT_RESUMED ? peer->continues : 0,
                                  .close = close,
                                  .client_id = peer->user.client_id,
                                  .player_count = peer->replication.own_count};
    memcpy(event->name, peer->user.name, sizeof event->name);
    memcpy(event->players, peer->replication.own, sizeof event->players);
}

void hc_sv_host_remember_ended(struct hc_sv_host *host, struct hc_sv_peer *peer,
                               bool never_received, bool left, uint64_t now_us) {
    size_t ring = (size_t)(peer - host->peers) * HC_SV_ENDED_EACH;
    struct hc_sv_ended *ended = &host->ended[ring + peer->ended_next++ % HC_SV_ENDED_EACH];
    *ended = (struct hc_sv_ended){.cid = peer->connection.cid,
                                  .client_id = peer->user.client_id,
                                  .never_received = never_received,
                                  .left = left,
                                  .until_us = now_us + 2 * (uint64_t)HC_COOKIE_SLOT_US};
    memcpy(ended->client_nonce, peer->client_nonce, HC_NONCE_SIZE);
}

static void drop_unread_messages(struct hc_sv_host *host, const struct hc_sv_peer *peer) {
    host->unread_messages -= hc_events_channel_unread(&peer->messages);
}

void hc_sv_host_drop(struct hc_sv_host *host, struct hc_sv_peer *peer, enum hc_sv_event_kind kind,
                     enum hc_close_reason close, bool send_close, uint64_t now_us) {
    HC_ASSERT(hc_sv_peer_has_session(peer));
    hc_sv_host_event(host, peer, kind, close);
    if (kind == HC_SV_EVENT_TIMEOUT)
        host->stats.timeouts++;
    else
        host->stats.leaves++;
    uint16_t index = (uint16_t)(peer - host->peers + 1);
    const struct hc_sv_client *client = &peer->replication;
    for (unsigned i = 0; i < client->own_count; i++) {
        struct hc_sv_player *player = &host->players[client->own[i]];
        if (player->next_owner == index) // it never had the slot: the owner before has yet to leave
            player->next_owner = 0;
        else
            player->leaving = true;
    }
    drop_unread_messages(host, peer);
    bool never_received = kind == HC_SV_EVENT_TIMEOUT && peer->connection.replay.newest == 0;
    if (peer->state == HC_SV_PEER_PLAYING)
        hc_sv_host_remember_ended(host, peer, never_received, close == HC_CLOSE_LEFT, now_us);
    if (kind == HC_SV_EVENT_TIMEOUT && !peer->ever_received)
        hc_sv_spent_forget(&host->spent, peer->user.client_id, peer->user.token_id,
                           peer->user.by_ticket);
    hc_sv_peer_end(peer, close, send_close, now_us);
}

void hc_sv_host_lose(struct hc_sv_host *host, struct hc_sv_peer *peer, uint64_t now_us) {
    HC_ASSERT(peer->state == HC_SV_PEER_PLAYING);
    // A client without any DATA may never have received its ACCEPT.
    if (host->config.linger_us == 0 || !peer->ever_received) {
        hc_sv_host_drop(host, peer, HC_SV_EVENT_TIMEOUT, HC_CLOSE_TIMEOUT, true, now_us);
        return;
    }
    hc_sv_host_event(host, peer, HC_SV_EVENT_LOST, HC_CLOSE_TIMEOUT);
    host->stats.lost++;
    hc_sv_host_remember_ended(host, peer, peer->connection.replay.newest == 0, false, now_us);
    hc_sv_peer_lose(peer, now_us + host->config.linger_us, now_us);
}

static void drop_silent(struct hc_sv_host *host, uint64_t now_us) {
    for (unsigned i = 0; i < host->config.clients; i++) {
        struct hc_sv_peer *peer = &host->peers[i];
        if (peer->state == HC_SV_PEER_PLAYING &&
            now_us >= hc_connection_lost_us(&peer->connection, host->config.timeout_us))
            hc_sv_host_lose(host, peer, now_us);
        if (hc_sv_peer_lingers(peer) && now_us >= peer->lingers_until_us)
            hc_sv_host_drop(host, peer, HC_SV_EVENT_TIMEOUT, HC_CLOSE_TIMEOUT, false, now_us);
        if (hc_sv_peer_has_session(peer) && peer->user.end_us != 0 && now_us >= peer->user.end_us)
            hc_sv_host_drop(host, peer, HC_SV_EVENT_LEFT, HC_CLOSE_KICKED, true, now_us);
    }
}

// ---- Ticks --------------------------------------------------------------------------------------

static uint64_t due_us(const struct hc_sv_host *host, hc_tick tick) {
    return host->epoch_us + hc_tick_due_us(tick, host->world.tick_rate);
}

uint32_t hc_sv_host_phase_us(const struct hc_sv_host *host, uint64_t now_us) {
    uint64_t due = due_us(host, hc_timeline_head(host->timeline));
    uint64_t phase = now_us > due ? now_us - due : 0;
    return phase < HC_PHASE_MAX_US ? (uint32_t)phase : HC_PHASE_MAX_US;
}

static void stamp(struct hc_sv_host *host, hc_player player, enum hc_roster roster_change) {
    hc_tick head = hc_timeline_head(host->timeline);
    enum hc_status status = hc_timeline_put_roster(host->timeline, player, head, roster_change);
    HC_ASSERT(status == HC_OK);
    hc_sv_roster_stamp(&host->replicator.roster, player, head, roster_change);
}

/// Stamps joins and leaves as inputs of the head. A slot gets its next owner when its leave is
/// stamped, so its next join is of a later tick.
static void stamp_roster(struct hc_sv_host *host) {
    for (hc_player p = 0; p < host->world.players; p++) {
        struct hc_sv_player *player = &host->players[p];
        if (player->leaving) { // its next owner joins a tick later
            if (player->in)
                stamp(host, p, HC_ROSTER_LEAVE);
            if (player->next_owner != 0)
                HC_MARK("slot-inherited");
            *player = (struct hc_sv_player){.peer = player->next_owner};
        } else if (player->peer != 0 && !player->in) {
            stamp(host, p, HC_ROSTER_JOIN);
            player->in = true;
        }
    }
}

uint32_t hc_sv_host_late_limit(const struct hc_sv_host *host, const struct hc_sv_peer *peer) {
    return hc_sv_lateness_limit(&peer->lateness, host->config.late_margin,
                                host->overload.late_most);
}

static void update_lateness(struct hc_sv_host *host) {
    hc_tick head = hc_timeline_head(host->timeline);
    for (unsigned i = 0; i < host->config.clients; i++)
        if (host->peers[i].state == HC_SV_PEER_PLAYING)
            hc_sv_lateness_tick(&host->peers[i].lateness, head, host->world.tick_rate);
}

/// Forces the inputs that the coming tick pushes out of the window, and all those of lingering
/// clients, which cannot send any.
static void close_window(struct hc_sv_host *host) {
    hc_tick head = hc_timeline_head(host->timeline);
    for (hc_player p = 0; p < host->world.players; p++) {
        if (!host->players[p].in)
            continue;
        struct hc_sv_peer *peer = &host->peers[host->players[p].peer - 1];
        uint32_t late_limit = hc_sv_host_late_limit(host, peer);
        if (hc_sv_peer_lingers(peer))
            hc_sv_receive_force(host, peer, p, head + 1);
        else if (head >= late_limit)
            hc_sv_receive_force(host, peer, p, head - late_limit + 1);
    }
}

/// F: every tick before it has all its inputs, or accepts no more.
static hc_tick final_tick(const struct hc_sv_host *host) {
    hc_tick head = hc_timeline_head(host->timeline), final = head;
    for (hc_player p = 0; p < host->world.players; p++)
        if (host->players[p].in)
            final = hc_tick_min(final, hc_timeline_inputs_through(host->timeline, p) + 1);
    return hc_tick_max(final, hc_tick_back(head, host->config.history));
}

/// Whether the peer can be sent a snapshot: all of its players have joined.
static bool ready(const struct hc_sv_host *host, const struct hc_sv_peer *peer) {
    for (unsigned i = 0; i < peer->replication.own_count; i++)
        if (!hc_sv_host_plays(host, peer, peer->replication.own[i]))
            return false;
    return peer->state == HC_SV_PEER_PLAYING;
}

/// Whether this head has a snapshot: the configured rate, evenly spread.
static bool has_snapshot(const struct hc_sv_host *host, hc_tick head) {
    uint64_t rate = host->config.snapshot_rate, ticks = host->config.tick_rate;
    return rate == 0 || head * rate / ticks != (head - UINT64_C(1)) * rate / ticks;
}

/// Whether fewer snapshots harm the client least: it watches, its player does nothing, or its
/// picture is old in any case.
static bool is_far(const struct hc_sv_host *host, const struct hc_sv_peer *peer) {
    hc_tick head = hc_timeline_head(host->timeline);
    return peer->replication.own_count == 0 || peer->connection.srtt_us >= FAR_US ||
           head - peer->active_at >= (hc_tick)IDLE_S * host->world.tick_rate;
}

/// Marks the clients that the new head's snapshot is due for.
static void mark_snapshots(struct hc_sv_host *host) {
    hc_tick head = hc_timeline_head(host->timeline);
    uint64_t rate = host->config.snapshot_rate, ticks = host->config.tick_rate;
    uint64_t number = rate == 0 ? head : head * rate / ticks;
    bool snapshot = has_snapshot(host, head);
    struct hc_sv_overload_counts *counts = &host->stats.overload;
    uint32_t clients[2] = {0};
    for (unsigned i = 0; i < host->config.clients; i++) {
        struct hc_sv_peer *peer = &host->peers[i];
        if (!ready(host, peer))
            continue;
        bool far = is_far(host, peer);
        bool sends = hc_sv_overload_sends(&host->overload, number, i, far);
        clients[far]++;
        peer->snapshot_due |= (snapshot && sends) || peer->snapshot_starved;
        counts->snapshots += snapshot && !sends;
        counts->far_snapshots += snapshot && !sends && far;
    }
    hc_sv_overload_tick(&host->overload, clients[false], clients[true]);
    counts->ticks[host->overload.level]++;
    counts->late_limited_ticks += host->overload.late_most < host->config.history;
}

static void tick(struct hc_sv_host *host, uint64_t now_us) {
    hc_tick head = hc_timeline_head(host->timeline);
    const struct hc_timeline_stats *stats = hc_timeline_stats(host->timeline);
    uint64_t late_us = now_us - due_us(host, head + 1);
    hc_histogram_record(&host->stats.lateness, late_us);
    host->stats.ticks_late += late_us >= 1000000 / host->world.tick_rate;
    hc_sv_forged_renew(&host->forged);
    for (unsigned i = 0; i < host->config.clients; i++)
        host->peers[i].forged = 0;
    drop_silent(host, now_us);
    stamp_roster(host);
    update_lateness(host);
    close_window(host);
    if (host->config.force_rewind > 0)
        hc_timeline_redo(host->timeline, hc_tick_back(head, host->config.force_rewind));
    hc_timeline_advance(host->timeline);
    if (stats->depth > 0)
        hc_histogram_record(&host->stats.rewind_depth, stats->depth);
    hc_sv_replicator_advance(&host->replicator, final_tick(host));
    for (unsigned i = 0; i < host->config.clients; i++)
        host->peers[i].messages_due = host->peers[i].state == HC_SV_PEER_PLAYING;
    mark_snapshots(host);
    host->send_cursor = 0;
}

void hc_sv_host_note_work(struct hc_sv_host *host, uint64_t advance_us, uint64_t send_us,
                          uint64_t other_us, uint64_t now_us) {
    const struct hc_timeline_stats *stats = hc_timeline_stats(host->timeline);
    uint64_t again = stats->resimulated_steps - host->noted_resimulated;
    uint64_t steps = stats->steps - host->noted_steps + again;
    struct hc_sv_work work = {.send_us = send_us,
                              .rewind_us = steps > 0 ? advance_us * again / steps : 0};
    work.other_us = other_us + advance_us - work.rewind_us;
    host->noted_resimulated = stats->resimulated_steps;
    host->noted_steps = stats->steps;
    hc_sv_overload_note(&host->overload, &work, now_us);
    struct hc_sv_overload_counts *counts = &host->stats.overload;
    counts->level = host->overload.level;
    if (counts->level > counts->highest)
        counts->highest = counts->level;
}

bool hc_sv_host_ended(const struct hc_sv_host *host) {
    return hc_timeline_head(host->timeline) >= host->config.last_tick;
}

/// Whether the next tick is due.
static bool tick_due(const struct hc_sv_host *host, uint64_t now_us) {
    return !hc_sv_host_ended(host) && now_us >= due_us(host, hc_timeline_head(host->timeline) + 1);
}

void hc_sv_host_advance(struct hc_sv_host *host, uint64_t now_us) {
    for (uint32_t n = 0; n < host->config.ticks_per_advance && tick_due(host, now_us); n++)
        tick(host, now_us);
    // Too late to catch up: leave out the missed ticks and set the clock back by them.
    while (tick_due(host, now_us)) {
        hc_tick head = hc_timeline_head(host->timeline);
        uint64_t behind = now_us - due_us(host, head + 1);
        uint64_t missed = behind * host->world.tick_rate / 1000000 + 1;
        HC_MARK("epoch-set-back");
        host->stats.ticks_missed += missed;
        host->epoch_us += (missed * 1000000 + host->world.tick_rate - 1) / host->world.tick_rate;
    }
    if (hc_sv_host_ended(host) && !host->shutting_down)
        hc_sv_host_shutdown(host, now_us);
    host->send_cursor = 0; // because a CLOSE may be due without a tick
}

uint64_t hc_sv_host_deadline(const struct hc_sv_host *host) {
    uint64_t deadline = UINT64_MAX;
    if (!hc_sv_host_ended(host))
        deadline = due_us(host, hc_timeline_head(host->timeline) + 1);
    for (unsigned i = 0; i < host->config.clients; i++) {
        uint64_t close_us = hc_connection_close_due_us(&host->peers[i].connection);
        deadline = close_us < deadline ? close_us : deadline;
    }
    return deadline;
}

// ---- Datagrams ----------------------------------------------------------------------------------

enum hc_status hc_sv_host_receive(struct hc_sv_host *host, const struct hc_address *from,
                                  const uint8_t *bytes, size_t size, uint64_t now_us) {
    host->stats.datagrams_in++;
    host->stats.bytes_in += size;
    enum hc_status status = hc_datagram_kind(bytes, size) == HC_DATAGRAM_DATA
                                ? hc_sv_receive_data(host, from, bytes, size, now_us)
                                : hc_sv_handshake_receive(host, from, bytes, size, now_us);
    if (status != HC_OK)
        host->stats.rejected[status]++;
    return status;
}

static size_t send_copy(struct hc_sv_host *host, struct hc_address *to, uint8_t *out) {
    struct hc_sv_copy *copy = &host->copy;
    size_t size = copy->size;
    *to = copy->to;
    memcpy(out, copy->bytes, size);
    copy->size = 0;
    return size;
}

static size_t send_reply(struct hc_sv_host *host, struct hc_address *to, uint8_t *out) {
    if (host->reply_count == 0)
        return 0;
    const struct hc_sv_reply *reply = &host->replies[host->reply_first];
    host->reply_first = (host->reply_first + 1) % HC_REPLIES_MAX;
    host->reply_count--;
    *to = reply->to;
    memcpy(out, reply->bytes, reply->size);
    return reply->size;
}

/// Whether the peer may be sent another DATA. Few are allowed before its first one, because the
/// address may be that of an amplification's victim.
static bool may_send(const struct hc_sv_peer *peer) {
    return peer->connection.replay.newest > 0 || peer->connection.sent.next <= HC_SILENT_DATA_MAX;
}

static void add_counts(struct hc_sv_host_stats *stats, const struct hc_sv_snapshot_counts *counts) {
    stats->snapshots++;
    stats->snapshots_rewound += counts->rewound;
    stats->corrections += counts->corrections;
    stats->deltas_encoded += counts->deltas_encoded;
    stats->deltas_reused += counts->deltas_reused;
    stats->extrapolation_steps += counts->extrapolation_steps;
    stats->units_examined += counts->units_examined;
    if (counts->longest_unsent_ticks > stats->longest_unsent_ticks)
        stats->longest_unsent_ticks = counts->longest_unsent_ticks;
}

/// Writes the peer's snapshot; returns the datagram's size, 0: it is starved, or no seq is left.
static size_t send_snapshot(struct hc_sv_host *host, struct hc_sv_peer *peer,
                            uint8_t out[static HC_DATAGRAM_MAX], uint64_t now_us) {
    hc_tick head = hc_timeline_head(host->timeline);
    struct hc_writer body = hc_bytes_writer(out + HC_DATA_BODY_AT, HC_DATA_BODY_MAX);
    struct hc_sv_snapshot_counts counts;
    struct hc_sv_snapshot_datagram datagram = {
        .seq = peer->connection.sent.next, // hc_sv_peer_wrap takes it
        .phase_us = hc_sv_host_phase_us(host, now_us),
        .ack_delay_us = hc_connection_ack_delay_us(&peer->connection, now_us),
        .late_limit = hc_tick_back(head, hc_sv_host_late_limit(host, peer))};
    peer->snapshot_starved = !hc_sv_snapshot_send(&host->replicator, &peer->replication, &datagram,
                                                  &body, &counts, now_us);
    if (peer->snapshot_starved)
        return 0;
    peer->messages_sent = false;
    add_counts(&host->stats, &counts);
    return hc_sv_peer_wrap(peer, out, body.at, now_us);
}

static size_t send_peer(struct hc_sv_host *host, struct hc_address *to,
                        uint8_t out[static HC_DATAGRAM_MAX], uint64_t now_us) {
    for (; host->send_cursor < host->config.clients; host->send_cursor++) {
        struct hc_sv_peer *peer = &host->peers[host->send_cursor];
        *to = peer->address;
        size_t size = hc_sv_peer_send_close(peer, out, now_us);
        bool allowed = may_send(peer);
        if (size == 0 && allowed && peer->messages_due)
            size = hc_sv_send_messages(host, peer, to, out, now_us);
        if (size == 0 && allowed && peer->snapshot_due) {
            peer->snapshot_due = false;
            size = send_snapshot(host, peer, out, now_us);
            hc_sv_path_copy(host, peer, out, size, now_us);
        }
        if (size > 0)
            return size;
    }
    return 0;
}

size_t hc_sv_host_send(struct hc_sv_host *host, struct hc_address *to,
                       uint8_t out[static HC_DATAGRAM_MAX], uint64_t now_us) {
    size_t size = send_copy(host, to, out);
    if (size == 0)
        size = send_reply(host, to, out);
    if (size == 0)
        size = send_peer(host, to, out, now_us);
    if (size > 0) {
        host->stats.datagrams_out++;
        host->stats.bytes_out += size;
    }
    return size;
}

void hc_sv_host_shutdown(struct hc_sv_host *host, uint64_t now_us) {
    host->shutting_down = true;
    host->send_cursor = 0;
    for (unsigned i = 0; i < host->config.clients; i++)
        if (hc_sv_peer_has_session(&host->peers[i]))
            hc_sv_host_drop(host, &host->peers[i], HC_SV_EVENT_LEFT, HC_CLOSE_SHUTDOWN, true,
                            now_us);
}

// ---- Keys and time ------------------------------------------------------------------------------

void hc_sv_host_unpredictable(struct hc_sv_host *host, uint8_t *out, size_t size) {
    hc_ratchet_draw(&host->ratchet, out, size);
}

struct hc_sv_secrets hc_sv_host_secrets(const uint8_t secret[static HC_COOKIE_SECRET_SIZE]) {
    static const uint8_t label[] = "HCAST01 world";
    struct hc_sv_secrets secrets;
    _Static_assert(sizeof secrets >= crypto_generichash_BYTES_MIN &&
                       sizeof secrets <= crypto_generichash_BYTES_MAX,
                   "the secrets are one hash");
    int failed = crypto_generichash((uint8_t *)&secrets, sizeof secrets, label, sizeof label - 1,
                                    secret, HC_COOKIE_SECRET_SIZE);
    HC_ASSERT(failed == 0);
    return secrets;
}

void hc_sv_host_set_keys(struct hc_sv_host *host, const struct hc_token_ring *keys) {
    HC_ASSERT(keys->count >= 1 && keys->count <= 2);
    host->config.keys = *keys;
    for (unsigned i = 0; i < host->config.clients; i++)
        host->peers[i].ticket.any = false;
}

void hc_sv_host_set_refused(struct hc_sv_host *host, const struct hc_sv_refused *refused,
                            uint64_t now_us) {
    host->refused = *refused;
    for (unsigned i = 0; i < host->config.clients; i++) {
        struct hc_sv_peer *peer = &host->peers[i];
        if (hc_sv_peer_has_session(peer) && (peer->user.begun_s < refused->not_before_s ||
                                             hc_sv_refused_has(refused, peer->user.client_id)))
            hc_sv_host_drop(host, peer, HC_SV_EVENT_LEFT, HC_CLOSE_KICKED, true, now_us);
    }
    host->send_cursor = 0;
}

void hc_sv_host_set_time(struct hc_sv_host *host, uint64_t unix_us, uint64_t now_us) {
    host->unix_us = unix_us;
    host->unix_at = now_us;
}

struct hc_sv_peer *hc_sv_host_peer(struct hc_sv_host *host, uint32_t cid) {
    uint32_t index = cid & ((1u << HC_SV_CID_INDEX_BITS) - 1);
    if (index >= host->config.clients || host->peers[index].connection.cid != cid)
        return NULL;
    return &host->peers[index];
}

uint64_t hc_sv_host_unix_us(const struct hc_sv_host *host, uint64_t now_us) {
    return host->unix_us + (now_us > host->unix_at ? now_us - host->unix_at : 0);
}

uint64_t hc_sv_host_unix_s(const struct hc_sv_host *host, uint64_t now_us) {
    return hc_sv_host_unix_us(host, now_us) / 1000000;
}

// ---- Messages of the game -----------------------------------------------------------------------

enum hc_status hc_sv_host_send_message(struct hc_sv_host *host, uint32_t cid, const void *message,
                                       size_t size, uint64_t now_us) {
    struct hc_sv_peer *peer = hc_sv_host_peer(host, cid);
    if (peer == NULL || !hc_sv_peer_has_session(peer))
        return HC_UNEXPECTED;
    enum hc_status status = hc_events_put(&peer->messages.out, message, size);
    if (status == HC_FULL)
        hc_sv_host_drop(host, peer, HC_SV_EVENT_LEFT, HC_CLOSE_TIMEOUT, true, now_us);
    return status;
}

const uint8_t *hc_sv_host_next_message(struct hc_sv_host *host, struct hc_sv_message *received) {
    for (unsigned i = 0; host->unread_messages > 0 && i < host->config.clients; i++) {
        struct hc_sv_peer *peer = &host->peers[host->message_cursor];
        const uint8_t *message = NULL;
        if (hc_sv_peer_has_session(peer))
            message = hc_events_next(&peer->messages.in, &received->size);
        if (message != NULL) {
            host->unread_messages--;
            received->cid = peer->connection.cid;
            received->client_id = peer->user.client_id;
            return message;
        }
        host->message_cursor = (host->message_cursor + 1) % host->config.clients;
    }
    return NULL;
}

// ---- Queries ------------------------------------------------------------------------------------

bool hc_sv_host_closed(const struct hc_sv_host *host) {
    for (unsigned i = 0; i < host->config.clients; i++)
        if (host->peers[i].state != HC_SV_PEER_FREE)
            return false;
    return host->shutting_down;
}

bool hc_sv_host_poll_event(struct hc_sv_host *host, struct hc_sv_event *event) {
    if (host->event_count == 0)
        return false;
    *event = host->events[host->event_first];
    host->event_first = (host->event_first + 1) % HC_SV_EVENTS;
    host->event_count--;
    return true;
}

const struct hc_timeline *hc_sv_host_timeline(const struct hc_sv_host *host) {
    return host->timeline;
}

hc_tick hc_sv_host_final(const struct hc_sv_host *host, uint64_t *chain) {
    if (chain != NULL)
        *chain = host->replicator.chain;
    return host->replicator.final;
}

unsigned hc_sv_host_clients(const struct hc_sv_host *host) {
    unsigned count = 0;
    for (unsigned i = 0; i < host->config.clients; i++)
        count += host->peers[i].state == HC_SV_PEER_PLAYING;
    return count;
}

const struct hc_sv_host_stats *hc_sv_host_stats(const struct hc_sv_host *host) {
    return &host->stats;
}
