/// Owns digests of units, on the server and as each client received them.
#include "tests/storm/units.h"

#include "client/client.h"
#include "hindcast/rng.h"
#include "tests/storm/match_internal.h"
#include "tests/storm/checkers/truth.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { HEADS = sizeof((struct storm_received_unit *)0)->received / sizeof(hc_tick) };

void storm_units_init(struct storm_units *units, const struct hc_world *world) {
    units->world = world;
    units->total = hc_unit_total(world);
    HC_ASSERT(units->total <= STORM_UNITS_MAX);
    units->tick = malloc(STORM_UNIT_ROWS * sizeof *units->tick);
    units->head = malloc(STORM_UNIT_ROWS * sizeof *units->head);
    units->digests = malloc(STORM_UNIT_ROWS * units->total * sizeof *units->digests);
    units->inputs_head = malloc(STORM_UNIT_ROWS * sizeof *units->inputs_head);
    units->inputs_us = malloc(STORM_UNIT_ROWS * sizeof *units->inputs_us);
    units->bases = malloc((size_t)STORM_UNIT_ROWS * world->players * 2 * sizeof *units->bases);
    if (units->tick == NULL || units->head == NULL || units->digests == NULL ||
        units->inputs_head == NULL || units->inputs_us == NULL || units->bases == NULL)
        abort();
    units->inputs = units->bases + (size_t)STORM_UNIT_ROWS * world->players;
    memset(units->tick, 0xff, STORM_UNIT_ROWS * sizeof *units->tick);
    memset(units->inputs_head, 0xff, STORM_UNIT_ROWS * sizeof *units->inputs_head);
}

void storm_units_free(struct storm_units *units) {
    free(units->tick);
    free(units->head);
    free(units->digests);
    free(units->inputs_head);
    free(units->inputs_us);
    free(units->bases);
}

uint64_t storm_unit_digest(const struct hc_world *world, hc_unit unit, const uint8_t *presence,
                           const uint8_t *states) {
    hc_entity first = hc_unit_first(world, unit);
    uint32_t count = hc_unit_count(world, unit);
    uint64_t digest = unit;
    for (uint32_t e = 0; e < count; e++)
        digest = digest * 4 + presence[first + e];
    return XXH3_64bits_withSeed(states + (size_t)first * world->stride,
                                (size_t)count * world->stride, digest);
}

const uint64_t *storm_units_row(struct storm_match *match, hc_tick tick) {
    struct storm_units *units = &match->units;
    const struct hc_timeline *timeline = storm_match_timeline(match);
    hc_tick head = hc_timeline_head(timeline);
    size_t row = tick % STORM_UNIT_ROWS;
    uint64_t *digests = units->digests + row * units->total;
    if (units->tick[row] == tick && units->head[row] == head)
        return digests;
    units->tick[row] = tick;
    units->head[row] = head;
    for (uint32_t u = 0; u < units->total; u++)
        digests[u] =
            storm_unit_digest(units->world, (hc_unit)u, hc_timeline_presence(timeline, tick),
                              hc_timeline_states(timeline, tick));
    return digests;
}

/// One multiplication, because much is mixed; digests are only compared on this machine.
static uint64_t mix(uint64_t digest, uint64_t value) {
    digest = (digest ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return digest ^ digest >> 32;
}

static uint64_t mix_input(const struct hc_timeline *timeline, uint64_t digest, hc_player player,
                          hc_tick tick, uint16_t size) {
    uint64_t words[HC_INPUT_MAX / sizeof(uint64_t)] = {0};
    enum hc_roster roster_change = hc_timeline_roster(timeline, player, tick);
    if (roster_change != HC_ROSTER_NONE)
        digest = mix(digest, ((uint64_t)tick << 16 | player) << 2 | (uint64_t)roster_change);
    if (hc_timeline_slot(timeline, player, tick) != HC_SLOT_KNOWN)
        return digest;
    memcpy(words, hc_timeline_input(timeline, player, tick), size);
    digest = mix(mix(digest, ((uint64_t)tick << 16 | player) << 2), words[0]);
    return size > sizeof words[0] ? mix(digest, words[1]) : digest;
}

uint64_t storm_inputs_digest(const struct hc_world *world, const struct hc_timeline *timeline,
                             hc_player player, hc_tick tick, hc_tick as_of) {
    // A player that is not in has no inputs; those from before its leave may stay.
    bool done = hc_timeline_presence(timeline, tick)[hc_world_player(world, player)] != HC_ALIVE;
    uint64_t digest = 1;
    as_of = hc_tick_min(as_of, tick + 32); // the least ring of a client
    for (hc_tick t = tick; !done && t <= as_of; t++) {
        digest = mix_input(timeline, digest, player, t, world->game->input_size);
        done = hc_timeline_roster(timeline, player, t) == HC_ROSTER_LEAVE;
    }
    return digest | 1;
}

uint64_t storm_world_hash(const struct hc_world *world, const uint8_t *presence,
                          const uint8_t *states) {
    uint64_t hash = 0;
    for (uint32_t e = 0; e < world->entities; e++) {
        uint8_t bytes[1 + HC_STATE_MAX] = {presence[e]};
        const struct hc_kind *kind = hc_world_kind(world, (hc_entity)e);
        size_t length = presence[e] == HC_ALIVE ? 1u + kind->state_size : 1u;
        for (uint16_t f = 0; presence[e] == HC_ALIVE && f < kind->field_count; f++) {
            const struct hc_field *field = &kind->fields[f];
            uint64_t value = (uint64_t)hc_field_get(field, states + (size_t)e * world->stride);
            for (unsigned i = 0; i < field->size; i++)
                bytes[1 + field->offset + i] = (uint8_t)(value >> 8 * i);
        }
        hash = XXH3_64bits_withSeed(bytes, length, hash);
    }
    return hash;
}

uint64_t storm_unit_base(const struct hc_world *world, const struct hc_timeline *timeline,
                         hc_player player, hc_tick tick) {
    uint8_t input[HC_INPUT_MAX] = {0};
    hc_tick known = HC_NO_TICK;
    uint64_t value = 0;
    if (hc_timeline_presence(timeline, tick)[hc_world_player(world, player)] != HC_ALIVE)
        return 0;
    if (!hc_timeline_newest_input(timeline, player, tick, &known, input))
        known = HC_NO_TICK;
    memcpy(&value, input, world->game->input_size < 8 ? world->game->input_size : 8);
    return hc_random(value, player, known, 1) | 1;
}

bool storm_unit_always_seen(const struct storm_match *match, const struct storm_conn *conn,
                            hc_unit unit) {
    bool always = unit == 0 || conn->player_count == 0 || match->units.world->game->view == 0;
    for (unsigned i = 0; i < conn->player_count; i++)
        always |= conn->players[i] == hc_unit_player(match->units.world, unit);
    return always;
}

int64_t storm_unit_distance(const struct storm_match *match, const struct storm_conn *conn,
                            hc_unit unit, hc_tick tick) {
    const struct hc_world *world = match->units.world;
    const struct hc_timeline *server = storm_match_timeline(match);
    const uint8_t *presence = hc_timeline_presence(server, tick);
    const uint8_t *states = hc_timeline_states(server, tick);
    int64_t nearest = -1;
    for (unsigned i = 0; i < conn->player_count; i++) {
        hc_entity eye = hc_world_player(world, conn->players[i]), e = hc_unit_first(world, unit);
        int64_t x = 0, y = 0, ex = 0, ey = 0;
        if (presence[eye] != HC_ALIVE)
            return -1;
        if (!hc_world_position(world, eye, states + (size_t)eye * world->stride, &ex, &ey))
            return -1;
        for (uint32_t n = hc_unit_count(world, unit); n > 0; n--, e++) {
            if (presence[e] != HC_ALIVE ||
                !hc_world_position(world, e, states + (size_t)e * world->stride, &x, &y))
                continue;
            int64_t dx = x > ex ? x - ex : ex - x, dy = y > ey ? y - ey : ey - y;
            int64_t apart = dx > dy ? dx : dy;
            nearest = nearest < 0 || apart < nearest ? apart : nearest;
        }
    }
    return nearest;
}

static int64_t range_of(const struct storm_match *match) {
    int64_t view = match->units.world->game->view;
    return view + view / 4;
}

bool storm_unit_may_be_hidden(const struct storm_match *match, const struct storm_conn *conn,
                              hc_unit unit, hc_tick tick) {
    if (storm_unit_always_seen(match, conn, unit))
        return false;
    int64_t away = storm_unit_distance(match, conn, unit, tick);
    return away < 0 || away > range_of(match);
}

bool storm_unit_hidden(const struct storm_match *match, const struct storm_conn *conn, hc_unit unit,
                       hc_tick tick) {
    return !storm_unit_always_seen(match, conn, unit) &&
           storm_unit_distance(match, conn, unit, tick) > range_of(match);
}

bool storm_unit_known(const struct hc_world *world, hc_unit unit, const uint8_t *presence) {
    hc_entity first = hc_unit_first(world, unit);
    for (uint32_t e = 0; e < hc_unit_count(world, unit); e++)
        if (presence[first + e] != HC_UNKNOWN)
            return true;
    return false;
}

/// The digests of all players' inputs at `tick`, once for all that are sent it at this head.
static size_t inputs_row(struct storm_match *match, hc_tick tick) {
    struct storm_units *units = &match->units;
    const struct hc_timeline *timeline = storm_match_timeline(match);
    hc_tick head = hc_timeline_head(timeline);
    size_t row = tick % STORM_UNIT_ROWS, first = row * units->world->players;
    (void)storm_units_row(match, tick);
    if (units->inputs_head[row] == head)
        return first;
    units->inputs_head[row] = head;
    units->inputs_us[row] = hc_sim_now(match->sim);
    for (hc_player p = 0; p < units->world->players; p++) {
        uint64_t base = storm_unit_base(units->world, timeline, p, tick);
        units->bases[first + p] = base;
        units->inputs[first + p] =
            base == 0 ? 0 : storm_inputs_digest(units->world, timeline, p, tick, head);
    }
    return first;
}

/// Leaves out the players of whom inputs arrived after the row was made at this head: the server
/// may have compared them before or since.
static void leave_out_changed(struct storm_match *match, struct storm_sent *sent, hc_tick tick) {
    const struct storm_units *units = &match->units;
    const struct hc_timeline *timeline = storm_match_timeline(match);
    hc_tick head = hc_timeline_head(timeline);
    if (units->inputs_us[tick % STORM_UNIT_ROWS] == hc_sim_now(match->sim))
        return;
    for (hc_player p = 0; p < units->world->players; p++) {
        if (storm_unit_base(units->world, timeline, p, tick) != sent->bases[p])
            sent->bases[p] = 0;
        else if (sent->inputs[p] != 0 &&
                 storm_inputs_digest(units->world, timeline, p, tick, head) != sent->inputs[p])
            sent->inputs[p] = 0;
    }
}

void storm_units_sent(struct storm_match *match, const struct storm_conn *conn,
                      struct storm_sent *sent, hc_tick tick) {
    const struct storm_units *units = &match->units;
    uint32_t total = units->total;
    hc_player players = units->world->players;
    size_t first = inputs_row(match, tick);
    if (sent->units == NULL)
        sent->units = malloc((total + 2u * players) * sizeof *sent->units);
    if (sent->units == NULL)
        abort();
    sent->bases = sent->units + total;
    sent->inputs = sent->bases + players;
    memcpy(sent->units, units->digests + tick % STORM_UNIT_ROWS * total,
           total * sizeof *sent->units);
    memcpy(sent->bases, units->bases + first, players * sizeof *sent->bases);
    memcpy(sent->inputs, units->inputs + first, players * sizeof *sent->inputs);
    for (unsigned i = 0; i < conn->player_count; i++)
        if (conn->players[i] < players)
            sent->bases[conn->players[i]] = sent->inputs[conn->players[i]] = 0;
    leave_out_changed(match, sent, tick);
    if (units->world->game->view == 0)
        return;
    // Inputs end where their player leaves the interest set.
    hc_tick head = hc_timeline_head(storm_match_timeline(match));
    for (hc_player p = 0; p < players; p++)
        for (hc_tick t = tick; t <= head && sent->inputs[p] != 0; t++)
            if (storm_unit_may_be_hidden(match, conn, (hc_unit)(1 + p), t))
                sent->inputs[p] = 0;
}

// ---- Clients ------------------------------------------------------------------------------------

void storm_units_created(struct storm_match *match, unsigned client) {
    struct storm_seat *seat = &match->seats[client];
    for (uint32_t u = 0; u < STORM_UNITS_MAX; u++) {
        seat->units[u] = (struct storm_received_unit){.as_of = HC_NO_TICK, .since = HC_NO_TICK};
        memset(seat->units[u].received, 0xff, sizeof seat->units[u].received);
    }
}

/// Takes in a value, or a drop. One that was overtaken counts only as received.
static void receive(struct storm_received_unit *unit, hc_tick as_of, bool dropped) {
    if (!dropped)
        unit->received[as_of % HEADS] = as_of;
    if (unit->as_of != HC_NO_TICK && unit->as_of >= as_of)
        return;
    unit->as_of = as_of;
    unit->dropped = dropped;
    if (dropped)
        unit->since = HC_NO_TICK;
    else if (unit->since == HC_NO_TICK)
        unit->since = as_of;
}

void storm_units_taken(struct storm_match *match, unsigned client) {
    const struct hc_cl_received *received =
        hc_cl_snapshot_reader_newest(hc_sim_client(match->sim, client)->world->reader);
    struct storm_seat *seat = &match->seats[client];
    for (uint32_t i = 0; i < received->value_count; i++)
        if (!received->values[i].correction)
            receive(&seat->units[received->values[i].unit], received->header.as_of,
                    received->values[i].dropped);
}

bool storm_units_differ(const struct storm_match *match, unsigned client,
                        const struct storm_sent *sent, hc_unit *unit) {
    const struct hc_world *world = match->units.world;
    const struct storm_seat *seat = &match->seats[client];
    const struct hc_timeline *own = hc_client_timeline(hc_sim_client(match->sim, client));
    const uint8_t *presence = hc_timeline_presence(own, sent->tick);
    const uint8_t *states = hc_timeline_states(own, sent->tick);
    for (uint32_t u = 0; u < match->units.total; u++) {
        *unit = (hc_unit)u;
        if (seat->units[u].as_of != sent->as_of)
            continue;
        if (seat->units[u].dropped
                ? storm_unit_known(world, *unit, presence)
                : storm_unit_digest(world, *unit, presence, states) != sent->units[u])
            return true;
    }
    return false;
}

bool storm_units_received(const struct storm_match *match, unsigned client, hc_tick as_of,
                          hc_unit unit) {
    return match->seats[client].units[unit].received[as_of % HEADS] == as_of;
}

bool storm_units_received_at(const struct storm_match *match, unsigned client,
                             const struct storm_conn *conn, hc_unit unit, hc_tick tick) {
    for (hc_tick head = tick; head < tick + STORM_SENT && head <= conn->snapshot_head; head++) {
        const struct storm_sent *sent = &conn->sent[head % STORM_SENT];
        if (sent->as_of == head && sent->tick == tick &&
            storm_units_received(match, client, head, unit))
            return true;
    }
    return false;
}

void storm_units_fail(struct storm_match *match, const char *oracle, hc_tick tick, hc_unit unit,
                      const char *who, const struct hc_timeline *held, struct storm_state right) {
    const struct hc_world *world = match->units.world;
    struct storm_state now = {hc_timeline_presence(held, tick), hc_timeline_states(held, tick)};
    size_t bytes = (size_t)world->entities * world->stride, first = hc_unit_first(world, unit);
    uint32_t count = hc_unit_count(world, unit);
    uint8_t *all = malloc(world->entities + bytes);
    if (all == NULL)
        abort();
    // Only this unit may differ, so that nothing else is named.
    memcpy(all, now.presence, world->entities);
    memcpy(all + world->entities, now.states, bytes);
    if (right.presence != NULL) {
        memcpy(all + first, right.presence + first, count);
        memcpy(all + world->entities + first * world->stride, right.states + first * world->stride,
               count * world->stride);
        storm_fail_worlds(match->verdict, oracle, tick, world, who, now,
                          (struct storm_state){all, all + world->entities});
    }
    free(all);
    storm_fail(match->verdict, STORM_WRONG, oracle, tick, "%s: unit %u", who, unit);
}
