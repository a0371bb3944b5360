/// Players look for units out of their view, for spawn places in advance, and for a hash of the
/// world.
#include "client/world/snapshot_reader.h"
#include "common/arena/map.h"
#include "common/arena/rules.h"
#include "hindcast/fixed.h"
#include "hindcast/arena.h"
#include "hindcast/check.h"
#include "proto/message.h"
#include "tests/attack/honest_players.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum {
    CLIENTS = 24,
    LATENCY_MS = 60,
    DISPLAY_OFFSET = 24, ///< ticks: past ticks are shown, and so corrected
    VIEW = 1600,         ///< units; the map's side is 10,240
    MARGIN = VIEW / 4,   ///< beyond the view, before a unit leaves it
    PLAY_SECONDS = 30,
};

/// Counts of one match, for all rows that use it.
struct seen {
    struct attack attack;                                 ///< failed: a snapshot could not be read
    uint64_t values, corrections, inputs, roster_changes; ///< of others, that a client was sent
    uint64_t names;
    uint64_t hidden;             ///< of those, of units out of view
    int64_t farthest;            ///< of those, units
    uint64_t appeared, foretold; ///< spawn places, and those that a client predicted
    uint64_t computed;           ///< spawn places that follow from the world's seed
    uint64_t chains, verified;   ///< chain hashes, and those that confirm a guessed world
};

/// A match in which each player chases the nearest, and a second reader reads every snapshot.
struct hunt {
    struct seen *seen;
    struct honest_players *players;
    struct hc_game game;   ///< the arena with a smaller view
    struct hc_world world; ///< as WELCOME describes it
    struct hc_cl_snapshot_reader *readers[CLIENTS];
    uint32_t cids[CLIENTS];
    hc_tick shown[CLIENTS]; ///< by the newest snapshot
    struct hc_body body;
};

static const struct hc_timeline *server_of(const struct hunt *hunt) {
    return hc_server_timeline(hc_sim_host(hunt->players->sim));
}

static hc_player player_of(const struct hunt *hunt, unsigned client) {
    return hc_client_player(hc_sim_client(hunt->players->sim, client), 0);
}

/// The player's state at `tick`; NULL: it is absent.
static const struct hc_arena_player *player_at(const struct hc_world *world,
                                               const struct hc_timeline *timeline, hc_player player,
                                               hc_tick tick) {
    hc_entity entity = hc_world_player(world, player);
    if (hc_timeline_presence(timeline, tick)[entity] != HC_ALIVE)
        return NULL;
    return (const void *)(hc_timeline_states(timeline, tick) + (size_t)entity * world->stride);
}

// ---- The hunt -----------------------------------------------------------------------------------

/// Runs to the nearest living player, and shoots at it.
static void chase(void *context, struct hc_sim *sim, unsigned client, unsigned index, hc_tick tick,
                  void *out) {
    struct hunt *hunt = context;
    const struct hc_world *world = &hunt->world;
    const struct hc_timeline *timeline = server_of(hunt);
    hc_player own = player_of(hunt, client);
    const struct hc_arena_player *me =
        own == HC_NO_PLAYER ? NULL : player_at(world, timeline, own, hc_timeline_head(timeline));
    struct hc_arena_input input; // sometimes as drawn, to get around walls
    int32_t best = INT32_MAX, to_x = 0, to_y = 0;
    for (hc_player p = 0; me != NULL && p < world->players; p++) {
        const struct hc_arena_player *other =
            player_at(world, timeline, p, hc_timeline_head(timeline));
        if (p == own || other == NULL || other->health == 0)
            continue;
        int32_t dx = other->x - me->x, dy = other->y - me->y;
        if (abs(dx) + abs(dy) < best) {
            best = abs(dx) + abs(dy);
            to_x = dx;
            to_y = dy;
        }
    }
    (void)sim, (void)index;
    memcpy(&input, out, sizeof input);
    if (tick / 64 % 4 != 0) {
        input.move_x = (int8_t)((to_x > 0) - (to_x < 0));
        input.move_y = (int8_t)((to_y > 0) - (to_y < 0));
    }
    input.aim = (uint8_t)(hc_fixed_angle(to_x, to_y) * 256 / HC_FIXED_TURN);
    input.fire = 1;
    memcpy(out, &input, sizeof input);
}

// ---- Sent values --------------------------------------------------------------------------------

/// The unit's distance from the client's player at `tick` on the server: the larger of |dx| and
/// |dy| of its nearest alive entity; 0: it has none, or is in every view.
static int64_t distance(const struct hunt *hunt, unsigned client, hc_unit unit, hc_tick tick) {
    const struct hc_world *world = &hunt->world;
    const struct hc_timeline *timeline = server_of(hunt);
    hc_player own = player_of(hunt, client);
    const struct hc_arena_player *eye = player_at(world, timeline, own, tick);
    hc_entity first = hc_unit_first(world, unit);
    int64_t nearest = INT64_MAX;
    if (unit == 0 || hc_unit_player(world, unit) == own || eye == NULL)
        return 0;
    for (uint32_t e = first; e < first + hc_unit_count(world, unit); e++) {
        int64_t x, y;
        const uint8_t *state = hc_timeline_states(timeline, tick) + (size_t)e * world->stride;
        if (hc_timeline_presence(timeline, tick)[e] != HC_ALIVE ||
            !hc_world_position(world, (hc_entity)e, state, &x, &y))
            continue;
        int64_t dx = llabs(x - eye->x), dy = llabs(y - eye->y);
        int64_t away = dx > dy ? dx : dy;
        nearest = away < nearest ? away : nearest;
    }
    return nearest == INT64_MAX ? 0 : nearest;
}

/// Counts a unit that was sent as it was at `tick`, if it is out of view.
static void count_hidden(struct hunt *hunt, unsigned client, hc_unit unit, hc_tick tick) {
    hc_tick head = hc_timeline_head(server_of(hunt));
    int64_t away = distance(hunt, client, unit, hc_tick_min(tick, head));
    bool hidden = away > VIEW + MARGIN;
    hunt->seen->hidden += hidden;
    if (hidden && away > hunt->seen->farthest)
        hunt->seen->farthest = away;
}

static void count_chain(struct hunt *hunt, const struct hc_snapshot *head) {
    uint64_t before = hunt->players->chains[(head->final - 1) % HONEST_CHAINS];
    const struct hc_timeline *server = server_of(hunt);
    uint8_t bytes[8];
    if (!head->has_chain || head->final == 0 || before == 0 ||
        head->final < hc_timeline_oldest(server))
        return;
    // An attacker that has guessed the world right and knows the chain up to it.
    uint64_t hash = hc_timeline_hash(server, head->final);
    for (unsigned i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(hash >> (8 * i));
    hunt->seen->chains++;
    hunt->seen->verified += XXH3_64bits_withSeed(bytes, sizeof bytes, before) == head->chain;
}

static void count_snapshot(struct hunt *hunt, unsigned client,
                           const struct hc_cl_received *received) {
    const struct hc_world *world = &hunt->world;
    hc_player own = player_of(hunt, client);
    if (own == HC_NO_PLAYER)
        return;
    for (uint32_t i = 0; i < received->value_count; i++) {
        const struct hc_cl_received_value *value = &received->values[i];
        if (value->dropped || value->unit == 0 || hc_unit_player(world, value->unit) == own)
            continue;
        hunt->seen->values += !value->correction;
        hunt->seen->corrections += value->correction;
        count_hidden(hunt, client, value->unit, value->value.tick);
    }
    for (uint32_t i = 0; i < received->input_count; i++) {
        hunt->seen->inputs++;
        count_hidden(hunt, client, (hc_unit)(1 + received->inputs[i].player),
                     received->inputs[i].tick);
    }
    for (uint32_t i = 0; i < received->roster_count; i++) {
        hunt->seen->roster_changes++;
        count_hidden(hunt, client, (hc_unit)(1 + received->roster_changes[i].player),
                     hc_tick_max(received->roster_changes[i].tick + 1, received->header.tick));
    }
    count_chain(hunt, &received->header);
}

static void count_names(struct hunt *hunt, unsigned client) {
    struct hc_player_name names[HC_NAMES_EACH];
    uint32_t count;
    enum hc_status status = hc_message_get_names(&hunt->body, hunt->world.players, names, &count);
    attack_require(&hunt->seen->attack, status == HC_OK, "a NAMES cannot be read: %d", status);
    for (uint32_t i = 0; status == HC_OK && i < count; i++) {
        hunt->seen->names += names[i].player != player_of(hunt, client);
        count_hidden(hunt, client, (hc_unit)(1 + names[i].player), hunt->shown[client]);
    }
}

static void read_snapshot(struct hunt *hunt, unsigned client, uint32_t cid) {
    const struct hc_cl_received *received;
    if (hunt->readers[client] == NULL || hunt->cids[client] != cid) {
        hc_cl_snapshot_reader_destroy(hunt->readers[client]);
        hunt->readers[client] = hc_cl_snapshot_reader_create(&hunt->world, 1);
        hunt->cids[client] = cid;
    }
    enum hc_status status = hc_cl_snapshot_reader_read(
        hunt->readers[client], &hunt->body, hc_timeline_head(server_of(hunt)), &received);
    attack_require(&hunt->seen->attack, status == HC_OK, "a snapshot cannot be read: %d", status);
    if (status != HC_OK)
        return;
    hunt->shown[client] = received->header.tick;
    count_snapshot(hunt, client, received);
}

static void read_datagram(void *context, struct hc_sim *sim, unsigned client, const uint8_t *bytes,
                          size_t size) {
    struct hunt *hunt = context;
    (void)sim;
    struct hc_data data;
    enum hc_message_type type;
    if (hc_datagram_kind(bytes, size) != HC_DATAGRAM_DATA ||
        hc_datagram_get_data(bytes, size, &data) != HC_OK ||
        hc_body_begin(&hunt->body, data.body, data.body_size) != HC_OK)
        return;
    while ((type = hc_body_next(&hunt->body)) != HC_MESSAGE_END) {
        if (type == HC_MESSAGE_SNAPSHOT)
            read_snapshot(hunt, client, data.cid);
        if (type == HC_MESSAGE_NAMES)
            count_names(hunt, client);
    }
}

// ---- Where players appear -----------------------------------------------------------------------

/// Whether the player spawns at `tick`.
static bool appears(const struct hc_world *world, const struct hc_timeline *timeline,
                    hc_player player, hc_tick tick) {
    const struct hc_arena_player *before = player_at(world, timeline, player, tick - 1);
    const struct hc_arena_player *now = player_at(world, timeline, player, tick);
    return now != NULL && now->health > 0 &&
           (before == NULL || before->health == 0 || before->match != now->match);
}

/// Compares the server's spawn places with those that follow from the seed, which every client has.
static void look_at_server(void *context, struct hc_sim *sim) {
    struct hunt *hunt = context;
    (void)sim;
    const struct hc_timeline *timeline = server_of(hunt);
    const struct hc_world *world = &hunt->world;
    hc_tick head = hc_timeline_head(timeline);
    for (hc_player p = 0; head > 0 && p < world->players; p++) {
        uint16_t x, y;
        if (!appears(world, timeline, p, head))
            continue;
        const struct hc_arena_player *player = player_at(world, timeline, p, head);
        hc_arena_free_place(
            world,
            hc_random(world->seed, head - 1, hc_world_player(world, p), HC_ARENA_RANDOM_SPAWN), &x,
            &y);
        hunt->seen->appeared++;
        hunt->seen->computed += x == player->x && y == player->y;
    }
}

/// Counts spawns in the client's predictions beyond its snapshot.
static void look_at_client(void *context, struct hc_sim *sim, unsigned client,
                           const uint8_t *opened, size_t size, enum hc_status status) {
    struct hunt *hunt = context;
    const struct hc_client *core = hc_sim_client(sim, client);
    const struct hc_timeline *timeline = hc_client_timeline(core);
    hc_tick shown, as_of;
    (void)opened, (void)size, (void)status;
    if (timeline == NULL || !hc_client_snapshot(core, &shown, &as_of))
        return;
    for (hc_tick t = hc_tick_max(shown, hc_timeline_oldest(timeline)) + 1;
         t <= hc_timeline_head(timeline); t++)
        for (hc_player p = 0; p < hunt->world.players; p++)
            hunt->seen->foretold += appears(&hunt->world, timeline, p, t);
}

// ---- The rows -----------------------------------------------------------------------------------

/// Plays the match and fills in `seen`.
static void play_match(struct seen *seen) {
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, CLIENTS, LATENCY_MS, 901);
    struct hunt *hunt = calloc(1, sizeof *hunt);
    HC_ASSERT(hunt != NULL);
    hunt->seen = seen;
    hunt->game = hc_arena;
    hunt->game.view = VIEW;
    config.host.game = &hunt->game;
    config.client.display_offset = DISPLAY_OFFSET;
    config.up.jitter_us = config.down.jitter_us = 20 * MS_US;
    config.up.loss_ppm = config.down.loss_ppm = 50000;
    struct honest_players *players = hunt->players = honest_create(&config);
    const struct hc_server_config *host = &hc_sim_config(players->sim)->host;
    enum hc_status status =
        hc_world_init(&hunt->world, &hunt->game, host->clients, host->tick_rate, host->seed, NULL);
    HC_ASSERT(status == HC_OK);
    hc_sim_observe(players->sim,
                   &(struct hc_sim_hooks){.script = chase,
                                          .host_ticked = look_at_server,
                                          .host_sent = read_datagram,
                                          .client_received = look_at_client},
                   hunt);
    for (unsigned i = 0; i < CLIENTS; i++)
        snprintf(hc_sim_setup(players->sim, i)->name, HC_TOKEN_NAME_SIZE, "player %u", i);
    honest_join_all(&seen->attack, players);
    hc_sim_run(players->sim, PLAY_SECONDS * (uint64_t)SECOND_US);
    for (unsigned i = 0; i < CLIENTS; i++)
        hc_cl_snapshot_reader_destroy(hunt->readers[i]);
    honest_destroy(players);
    hc_world_free(&hunt->world);
    free(hunt);
}

/// Returns the match of all rows, which the first of them plays. A match that failed fails every
/// row.
static const struct seen *see_match(struct attack *attack) {
    static struct seen seen;
    static bool played;
    if (!played)
        play_match(&seen);
    played = true;
    attack_require(attack, !seen.attack.failed, "%s", seen.attack.why);
    return &seen;
}

void attack_wallhack(struct attack *attack) {
    const struct seen *seen = see_match(attack);
    attack->tries =
        seen->values + seen->corrections + seen->inputs + seen->roster_changes + seen->names;
    attack->accepted = seen->hidden;
    attack_effect(attack, "%llu values, %llu corrections, %llu inputs, %llu joins of others; ",
                  (unsigned long long)seen->values, (unsigned long long)seen->corrections,
                  (unsigned long long)seen->inputs, (unsigned long long)seen->roster_changes);
    attack_effect(attack, "%llu names, %llu places; the farthest out of view at %lld of %d units",
                  (unsigned long long)seen->names, (unsigned long long)seen->appeared,
                  (long long)seen->farthest, VIEW);
    attack_require(attack,
                   seen->corrections > 1000 && seen->inputs > 1000 && seen->names > 100 &&
                       seen->appeared > CLIENTS,
                   "too little happened");
    attack_require_none(attack, 100000);
}

void attack_predicted_places(struct attack *attack) {
    const struct seen *seen = see_match(attack);
    attack->tries = seen->appeared;
    attack->accepted = seen->computed + seen->foretold;
    attack_effect(attack, "%llu follow from the seed, %llu are predicted by clients",
                  (unsigned long long)seen->computed, (unsigned long long)seen->foretold);
    attack_require_none(attack, 2 * CLIENTS);
}

void attack_chain(struct attack *attack) {
    const struct seen *seen = see_match(attack);
    attack->tries = seen->chains;
    attack->accepted = seen->verified;
    attack_effect(attack, "a world that is guessed right is confirmed %llu times",
                  (unsigned long long)seen->verified);
    attack_require_none(attack, 500);
}
