/// Players who look for more than their view: units out of sight, places of appearance, the past.
#include "client/snapshot_reader.h"
#include "common/arena/map.h"
#include "common/arena/rules.h"
#include "common/fixed.h"
#include "hindcast/arena.h"
#include "hindcast/check.h"
#include "tests/attack/yard.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum {
    CLIENTS = 24,
    LATENCY_MS = 60,
    DISPLAY_OFFSET = 24, ///< ticks: past ticks are shown, and so corrected
    VIEW = 1600,         ///< units; the map's side is 10,240
    MARGIN = VIEW / 4,   ///< that a unit is farther away before it leaves the view
    PLAY_SECONDS = 30,
};

/// What a match shows, for all the rows that judge it.
struct seen {
    struct attack attack;                                 ///< failed: a snapshot could not be read
    uint64_t values, corrections, inputs, roster_changes; ///< of others, that were sent
    uint64_t hidden;                                      ///< of those, of units out of view
    int64_t farthest;                                     ///< of those, units
    uint64_t appeared, foretold; ///< places, and those that a client knew before
    uint64_t computed;           ///< that follow from the world's seed
    uint64_t chains, verified;   ///< chain hashes, and those that confirm a guessed world
};

/// A match in which everybody hunts everybody, and all snapshots are read as they are sent.
struct match {
    struct seen *seen;
    struct yard *yard;
    struct hc_game game;   ///< the arena with a smaller view
    struct hc_world world; ///< as WELCOME describes it
    struct hc_cl_snapshot_reader *readers[CLIENTS];
    uint32_t cids[CLIENTS];
    struct hc_body body;
};

static const struct hc_timeline *server_of(const struct match *match) {
    return hc_sv_host_timeline(hc_sim_host(match->yard->sim));
}

static hc_player player_of(const struct match *match, unsigned client) {
    return hc_client_player(hc_sim_client(match->yard->sim, client), 0);
}

/// The player's state at `tick`; NULL: it is not there.
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
static void hunt(struct yard *yard, unsigned client, hc_tick tick, void *out) {
    struct match *match = yard->context;
    const struct hc_world *world = &match->world;
    const struct hc_timeline *timeline = server_of(match);
    hc_player own = player_of(match, client);
    const struct hc_arena_player *me =
        own == HC_NO_PLAYER ? NULL : player_at(world, timeline, own, hc_timeline_head(timeline));
    struct hc_arena_input input = {0};
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
    yard_keys(yard->seed, client, tick, &input); // now and then another way, around walls
    if (tick / 64 % 4 != 0) {
        input.move_x = (int8_t)((to_x > 0) - (to_x < 0));
        input.move_y = (int8_t)((to_y > 0) - (to_y < 0));
    }
    input.aim = (uint8_t)(hc_fixed_angle(to_x, to_y) * 256 / HC_FIXED_TURN);
    input.fire = 1;
    memcpy(out, &input, sizeof input);
}

// ---- What is sent -------------------------------------------------------------------------------

/// How far the unit is from the client's player at `tick` on the server: the larger of |dx| and
/// |dy| of its nearest alive entity; 0: it has none, or is in every view.
static int64_t distance(const struct match *match, unsigned client, hc_unit unit, hc_tick tick) {
    const struct hc_world *world = &match->world;
    const struct hc_timeline *timeline = server_of(match);
    hc_player own = player_of(match, client);
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

/// Counts something that was sent of a unit as it was at `tick`.
static void judge(struct match *match, unsigned client, hc_unit unit, hc_tick tick) {
    hc_tick head = hc_timeline_head(server_of(match));
    int64_t away = distance(match, client, unit, hc_tick_min(tick, head));
    bool hidden = away > VIEW + MARGIN;
    match->seen->hidden += hidden;
    if (hidden && away > match->seen->farthest)
        match->seen->farthest = away;
}

static void judge_chain(struct match *match, const struct hc_snapshot *head) {
    uint64_t before = match->yard->chains[(head->final - 1) % YARD_CHAINS];
    const struct hc_timeline *server = server_of(match);
    uint8_t bytes[8];
    if (!head->has_chain || head->final == 0 || before == 0 ||
        head->final < hc_timeline_oldest(server))
        return;
    // Somebody who has guessed all of the world right, and even knows the chain up to it.
    uint64_t hash = hc_timeline_hash(server, head->final);
    for (unsigned i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(hash >> (8 * i));
    match->seen->chains++;
    match->seen->verified += XXH3_64bits_withSeed(bytes, sizeof bytes, before) == head->chain;
}

static void judge_snapshot(struct match *match, unsigned client,
                           const struct hc_cl_received *said) {
    const struct hc_world *world = &match->world;
    hc_player own = player_of(match, client);
    if (own == HC_NO_PLAYER)
        return;
    for (uint32_t i = 0; i < said->value_count; i++) {
        const struct hc_cl_received_value *told = &said->told[i];
        if (told->dropped || told->unit == 0 || hc_unit_player(world, told->unit) == own)
            continue;
        match->seen->values += !told->correction;
        match->seen->corrections += told->correction;
        judge(match, client, told->unit, told->value.tick);
    }
    for (uint32_t i = 0; i < said->input_count; i++) {
        match->seen->inputs++;
        judge(match, client, (hc_unit)(1 + said->inputs[i].player), said->inputs[i].tick);
    }
    for (uint32_t i = 0; i < said->roster_count; i++) {
        match->seen->roster_changes++;
        judge(match, client, (hc_unit)(1 + said->roster_changes[i].player),
              hc_tick_max(said->roster_changes[i].tick + 1, said->head.tick));
    }
    judge_chain(match, &said->head);
}

static void read_snapshot(struct yard *yard, unsigned client, const uint8_t *sealed, size_t size) {
    struct match *match = yard->context;
    uint8_t room[HC_DATAGRAM_MAX];
    const uint8_t *bytes = hc_sim_open(yard->sim, false, sealed, size, room);
    const struct hc_cl_received *said;
    struct hc_data data;
    bool is_data = hc_datagram_kind(bytes, size) == HC_DATAGRAM_DATA &&
                   hc_datagram_get_data(bytes, size, &data) == HC_OK &&
                   hc_body_begin(&match->body, data.body, data.body_size) == HC_OK;
    if (!is_data || hc_body_next(&match->body) != HC_MESSAGE_SNAPSHOT)
        return;
    if (match->readers[client] == NULL || match->cids[client] != data.cid) {
        hc_cl_snapshot_reader_destroy(match->readers[client]);
        match->readers[client] = hc_cl_snapshot_reader_create(&match->world, 1);
        match->cids[client] = data.cid;
    }
    enum hc_status status = hc_cl_snapshot_reader_read(match->readers[client], &match->body,
                                                       hc_timeline_head(server_of(match)), &said);
    attack_require(&match->seen->attack, status == HC_OK, "a snapshot cannot be read: %d", status);
    if (status == HC_OK)
        judge_snapshot(match, client, said);
}

// ---- Where players appear -----------------------------------------------------------------------

/// Whether the player is there and well at `tick`, and was not one tick before.
static bool appears(const struct hc_world *world, const struct hc_timeline *timeline,
                    hc_player player, hc_tick tick) {
    const struct hc_arena_player *before = player_at(world, timeline, player, tick - 1);
    const struct hc_arena_player *now = player_at(world, timeline, player, tick);
    return now != NULL && now->health > 0 &&
           (before == NULL || before->health == 0 || before->match != now->match);
}

/// What the server has just decided, against what follows from the seed that every client has.
static void look_at_server(struct yard *yard) {
    struct match *match = yard->context;
    const struct hc_timeline *timeline = server_of(match);
    const struct hc_world *world = &match->world;
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
        match->seen->appeared++;
        match->seen->computed += x == player->x && y == player->y;
    }
}

/// What the client predicts beyond the tick that it was sent.
static void look_at_client(struct yard *yard, unsigned client, const uint8_t *opened, size_t size,
                           enum hc_status status) {
    struct match *match = yard->context;
    const struct hc_client *core = hc_sim_client(yard->sim, client);
    const struct hc_timeline *timeline = hc_client_timeline(core);
    hc_tick shown, as_of;
    (void)opened, (void)size, (void)status;
    if (timeline == NULL || !hc_client_snapshot(core, &shown, &as_of))
        return;
    for (hc_tick t = hc_tick_max(shown, hc_timeline_oldest(timeline)) + 1;
         t <= hc_timeline_head(timeline); t++)
        for (hc_player p = 0; p < match->world.players; p++)
            match->seen->foretold += appears(&match->world, timeline, p, t);
}

// ---- The rows -----------------------------------------------------------------------------------

/// Plays the match and fills in `seen`.
static void play_match(struct seen *seen) {
    struct hc_sim_config config = yard_config(CLIENTS, 0, LATENCY_MS, 901);
    struct match *match = calloc(1, sizeof *match);
    HC_ASSERT(match != NULL);
    match->seen = seen;
    match->game = hc_arena;
    match->game.view = VIEW;
    config.host.game = &match->game;
    config.client.display_offset = DISPLAY_OFFSET;
    config.up.jitter_us = config.down.jitter_us = 20 * YARD_MS;
    config.up.loss_ppm = config.down.loss_ppm = 50000;
    struct yard *yard = match->yard = yard_create(&config);
    const struct hc_sv_host_config *host = &hc_sim_config(yard->sim)->host;
    enum hc_status status = hc_world_init(&match->world, &match->game, host->clients,
                                          host->tick_rate, host->seed, NULL);
    HC_ASSERT(status == HC_OK);
    yard->context = match;
    yard->script = hunt;
    yard->host_ticked = look_at_server;
    yard->host_sent = read_snapshot;
    yard->client_received = look_at_client;
    yard_join_all(&seen->attack, yard);
    hc_sim_run(yard->sim, PLAY_SECONDS * (uint64_t)YARD_S);
    for (unsigned i = 0; i < CLIENTS; i++)
        hc_cl_snapshot_reader_destroy(match->readers[i]);
    yard_destroy(yard);
    hc_world_free(&match->world);
    free(match);
}

/// The rows judge one match: the first of them plays it. A match that failed fails every row.
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
    attack->tries = seen->values + seen->corrections + seen->inputs + seen->roster_changes;
    attack->accepted = seen->hidden;
    attack_effect(attack, "%llu values, %llu corrections, %llu inputs, %llu joins of others; ",
                  (unsigned long long)seen->values, (unsigned long long)seen->corrections,
                  (unsigned long long)seen->inputs, (unsigned long long)seen->roster_changes);
    attack_effect(attack, "%llu places; the farthest out of view at %lld of %d units",
                  (unsigned long long)seen->appeared, (long long)seen->farthest, VIEW);
    attack_require(attack,
                   seen->corrections > 1000 && seen->inputs > 1000 && seen->appeared > CLIENTS,
                   "too little happened");
    attack_require_none(attack, 100000);
}

void attack_foretell(struct attack *attack) {
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
