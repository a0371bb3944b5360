#include "tests/storm/edges.h"

#include "client/clock.h"
#include "common/scene.h"
#include "common/extrapolate.h"
#include "proto/cookie.h"
#include "proto/delta.h"
#include "proto/ratchet.h"
#include "proto/snapshot.h"
#include "tests/exact/history_run.h"
#include "tests/sim/party.h"
#include "tests/storm/inside.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

enum {
    SHARE = 16,   ///< of the matches, one in so many
    ROUNDS = 24,  ///< of each kind of message
    LIST_MAX = 8, ///< forced ranges, joins and leaves, and ticks with corrections
    NEAR_MAX = 32767,
    BITS_ROOM = 1 << 18, ///< bytes that nothing below fills
    CLOCK_ASKED = 8,     ///< times that each clock is asked
    STREAM = 91,
    HISTORY_ONE_IN = 8,
};

struct edges {
    struct storm_match *match;
    const struct hc_world *world;
    struct hc_extrapolator *extrapolator;
    struct hc_rng rng;
    uint8_t inputs[HC_INPUT_RUN_MAX][HC_OWN_PLAYERS_MAX][HC_INPUT_MAX];
    struct hc_body body;
    // A snapshot is drawn twice from the same numbers: to be put, and to be compared with what is
    // got.
    bool puts;
    struct hc_bits_writer out;
    struct hc_bits_reader in;
    uint8_t bits[BITS_ROOM];
    uint8_t room[3][HC_UNIT_ENTITIES_MAX * (1 + HC_STATE_MAX)]; ///< for one value each
};

static void expect(const struct edges *edges, const char *what, bool holds) {
    if (!holds)
        storm_fail(edges->match->verdict, STORM_WRONG, "edge", 0, "%s", what);
}

/// Often one of the ends.
static uint64_t number(struct edges *edges, uint64_t low, uint64_t high) {
    uint32_t kind = hc_rng_below(&edges->rng, 4);
    uint64_t any = hc_rng_next(&edges->rng), span = high - low;
    if (kind == 0)
        return low;
    if (kind == 1)
        return high;
    if (kind == 2) // near the low end
        any %= 64;
    return low + (span == UINT64_MAX ? any : any % (span + 1));
}

static void draw_fields(struct edges *edges, const struct hc_field *fields, uint16_t count,
                        uint8_t *out) {
    for (uint16_t f = 0; f < count; f++) {
        uint64_t range = UINT64_C(1) << fields[f].bits;
        int64_t value = (int64_t)number(edges, 0, range - 1);
        hc_field_set(&fields[f], out, fields[f].is_signed ? value - (int64_t)(range / 2) : value);
    }
}

/// A state as it is put: zeros where not alive.
static uint8_t draw_state(struct edges *edges, hc_entity entity, uint8_t least, uint8_t *state) {
    const struct hc_kind *kind = hc_world_kind(edges->world, entity);
    uint8_t presence = (uint8_t)number(edges, least, HC_ALIVE);
    memset(state, 0, edges->world->stride);
    if (presence == HC_ALIVE)
        draw_fields(edges, kind->fields, kind->field_count, state);
    return presence;
}

// ---- Snapshots ----------------------------------------------------------------------------------

static struct hc_snapshot draw_head(struct edges *edges) {
    struct hc_snapshot head = {.as_of = (hc_tick)number(edges, 0, HC_SNAPSHOT_TICK_MAX)};
    hc_tick as_of = head.as_of, span = hc_tick_min(as_of, HC_HISTORY_MAX);
    head.phase_us = (uint32_t)number(edges, 0, HC_PHASE_MAX_US);
    head.ack_delay_us = (uint32_t)number(edges, 0, HC_ACK_DELAY_MAX_US);
    head.tick = as_of - (hc_tick)number(edges, 0, span);
    head.late_limit = as_of - (hc_tick)number(edges, 0, span);
    head.final = as_of - (hc_tick)number(edges, 0, span);
    head.has_chain = number(edges, 0, 1) != 0;
    if (head.has_chain)
        head.chain = number(edges, 0, UINT64_MAX);
    head.hash = (uint32_t)number(edges, 0, UINT32_MAX);
    head.base = HC_NO_TICK;
    if (as_of > 0 && number(edges, 0, 2) > 0)
        head.base = as_of - (hc_tick)number(edges, 1, hc_tick_min(as_of, HC_SNAPSHOT_SPAN_MAX));
    head.own_count = (uint8_t)number(edges, 0, HC_OWN_PLAYERS_MAX);
    for (unsigned i = 0; i < head.own_count; i++)
        head.complete[i] = (hc_tick)(number(edges, hc_tick_max(head.tick, 1),
                                            (uint64_t)head.tick + HC_SNAPSHOT_SPAN_MAX) -
                                     1);
    return head;
}

static bool same_head(const struct hc_snapshot *a, const struct hc_snapshot *b) {
    bool same = a->as_of == b->as_of && a->phase_us == b->phase_us &&
                a->ack_delay_us == b->ack_delay_us && a->tick == b->tick &&
                a->late_limit == b->late_limit && a->final == b->final &&
                a->has_chain == b->has_chain && a->chain == b->chain && a->hash == b->hash &&
                a->base == b->base && a->own_count == b->own_count;
    for (unsigned i = 0; i < b->own_count; i++)
        same &= a->complete[i] == b->complete[i];
    return same;
}

static struct hc_snapshot do_head(struct edges *edges) {
    struct hc_snapshot got, head = draw_head(edges);
    hc_tick near =
        (hc_tick)number(edges, hc_tick_back(head.as_of, NEAR_MAX), (uint64_t)head.as_of + NEAR_MAX);
    if (edges->puts)
        hc_snapshot_put(&edges->out, &head);
    else {
        hc_snapshot_get(&edges->in, near, head.own_count, &got);
        expect(edges, "a snapshot's head that is read as another", same_head(&got, &head));
    }
    return head;
}

static void do_forced(struct edges *edges, const struct hc_snapshot *head) {
    hc_tick low = hc_tick_back(head->tick, HC_SNAPSHOT_SPAN_MAX);
    for (uint64_t left = head->own_count > 0 ? number(edges, 0, LIST_MAX) : 0; left > 0; left--) {
        struct hc_snapshot_forced got = {.count = 0},
                                  forced = {.own = (uint8_t)number(edges, 0, head->own_count - 1u),
                                            .first = (hc_tick)number(edges, low, head->tick),
                                            .count = (uint32_t)number(edges, 1, HC_INPUT_RUN_MAX)};
        if (edges->puts)
            hc_snapshot_put_forced(&edges->out, head->tick, &forced);
        else
            expect(edges, "forced inputs that are read as others",
                   hc_snapshot_get_forced(&edges->in, head, &got) && got.own == forced.own &&
                       got.first == forced.first && got.count == forced.count);
    }
    struct hc_snapshot_forced none;
    if (edges->puts)
        hc_snapshot_put_end(&edges->out);
    else
        expect(edges, "forced inputs of nothing", !hc_snapshot_get_forced(&edges->in, head, &none));
}

static void do_controls(struct edges *edges, hc_tick tick) {
    const struct hc_world *world = edges->world;
    hc_tick low = hc_tick_back(tick, HC_SNAPSHOT_SPAN_MAX), high = tick + HC_SNAPSHOT_SPAN_MAX;
    struct hc_snapshot_roster got = {.roster_change = HC_ROSTER_NONE};
    for (uint64_t left = number(edges, 0, LIST_MAX); left > 0; left--) {
        struct hc_snapshot_roster roster_change = {
            .player = (hc_player)number(edges, 0, world->players - 1u),
            .tick = (hc_tick)number(edges, low, high),
            .roster_change = (enum hc_roster)number(edges, HC_ROSTER_JOIN, HC_ROSTER_LEAVE)};
        if (edges->puts)
            hc_snapshot_put_roster(&edges->out, tick, &roster_change);
        else
            expect(edges, "a join or leave that is read as another",
                   hc_snapshot_get_roster(&edges->in, world, tick, &got) &&
                       got.player == roster_change.player && got.tick == roster_change.tick &&
                       got.roster_change == roster_change.roster_change);
    }
    if (edges->puts)
        hc_snapshot_put_end(&edges->out);
    else
        expect(edges, "a join or leave of nobody",
               !hc_snapshot_get_roster(&edges->in, world, tick, &got));
}

/// Any value; a guess may be unknown.
static struct hc_unit_value draw_value(struct edges *edges, hc_unit unit, hc_tick tick,
                                       uint8_t least, uint8_t *room) {
    const struct hc_world *world = edges->world;
    const struct hc_game *game = world->game;
    struct hc_unit_value value = {.tick = tick, .known = HC_NO_TICK};
    hc_unit_place(world, &value, room);
    for (uint32_t i = 0; i < hc_unit_count(world, unit); i++)
        value.presence[i] = draw_state(edges, (hc_entity)(hc_unit_first(world, unit) + i), least,
                                       value.states + (size_t)i * world->stride);
    if (hc_unit_player(world, unit) == HC_NO_PLAYER || tick == 0 || number(edges, 0, 2) == 0)
        return value;
    value.known = (hc_tick)number(edges, 0, tick - 1);
    draw_fields(edges, game->input_fields, game->input_field_count, value.input);
    return value;
}

/// A value against whatever guess, often much like it.
static void do_delta(struct edges *edges, hc_unit unit, hc_tick tick) {
    const struct hc_world *world = edges->world;
    struct hc_unit_value guess = draw_value(edges, unit, tick, HC_UNKNOWN, edges->room[0]);
    struct hc_unit_value value = draw_value(edges, unit, tick, HC_ABSENT, edges->room[1]), got;
    for (uint32_t i = 0; number(edges, 0, 1) != 0 && i < hc_unit_count(world, unit); i++)
        if (number(edges, 0, 3) > 0 && guess.presence[i] != HC_UNKNOWN) {
            value.presence[i] = guess.presence[i];
            memcpy(value.states + (size_t)i * world->stride,
                   guess.states + (size_t)i * world->stride, world->stride);
        }
    if (edges->puts) {
        hc_delta_put(&edges->out, world, unit, &guess, &value, NULL);
        return;
    }
    memset(edges->room[2], 0xa5, sizeof edges->room[2]);
    memset(&got, 0xa5, sizeof got);
    hc_unit_place(world, &got, edges->room[2]);
    hc_delta_get(&edges->in, world, unit, &guess, &got);
    expect(edges, "a value that is read as another",
           got.tick == tick && got.known == value.known &&
               hc_unit_equal(world, unit, &got, &value));
}

/// Units in ascending order, of which some are in `base`, what the newest base told.
static uint32_t draw_names(struct edges *edges, const struct hc_snapshot *head,
                           struct hc_snapshot_set *base, struct hc_snapshot_unit *units) {
    bool has_base = head->base != HC_NO_TICK, has_older = has_base && head->base > 0;
    uint32_t count = 0, total = hc_unit_total(edges->world);
    uint64_t share = number(edges, 0, 4);
    base->count = 0;
    for (uint32_t u = 0; u < total && count < HC_SNAPSHOT_UNITS_MAX; u++) {
        bool in_base = has_base && number(edges, 0, 2) > 0;
        struct hc_snapshot_unit unit = {.unit = (hc_unit)u, .as_of = HC_NO_TICK};
        if (in_base)
            base->units[base->count++] = (hc_unit)u;
        if (number(edges, 0, 4) > share)
            continue;
        unit.from = (enum hc_snapshot_from)number(
            edges, in_base ? HC_SNAPSHOT_BASE : HC_SNAPSHOT_OLDER, HC_SNAPSHOT_DROPPED);
        if (unit.from == HC_SNAPSHOT_OLDER && !has_older)
            unit.from = HC_SNAPSHOT_NOTHING;
        if (unit.from == HC_SNAPSHOT_OLDER)
            unit.as_of = head->base -
                         (hc_tick)number(edges, 1, hc_tick_min(head->base, HC_SNAPSHOT_AGE_MAX));
        units[count++] = unit;
    }
    return count;
}

static void do_units(struct edges *edges, const struct hc_snapshot *head) {
    struct hc_snapshot_unit units[HC_SNAPSHOT_UNITS_MAX], got[HC_SNAPSHOT_UNITS_MAX];
    struct hc_snapshot_set base;
    uint32_t count = draw_names(edges, head, &base, units);
    if (edges->puts)
        hc_snapshot_put_names(&edges->out, head, &base, units, count);
    else
        expect(edges, "another number of units",
               hc_snapshot_get_names(&edges->in, edges->world, head, &base, got) == count);
    for (uint32_t i = 0; i < count; i++) {
        if (!edges->puts)
            expect(edges, "a unit that is read as another",
                   got[i].unit == units[i].unit && got[i].from == units[i].from &&
                       got[i].as_of == units[i].as_of);
        if (units[i].from != HC_SNAPSHOT_DROPPED)
            do_delta(edges, units[i].unit, head->tick);
    }
}

static void do_correction(struct edges *edges, const struct hc_snapshot *head, hc_tick at,
                          hc_unit *next) {
    const struct hc_world *world = edges->world;
    hc_tick oldest = hc_tick_back(head->as_of, HC_SNAPSHOT_CORRECTION_AGE);
    struct hc_snapshot_correction got,
        said = {.unit = (hc_unit)number(edges, *next, hc_unit_total(world) - 1),
                .as_of = HC_NO_TICK};
    if (head->as_of > 0 && number(edges, 0, 2) > 0) {
        said.as_of = (hc_tick)number(edges, oldest, head->as_of - 1);
        said.same = number(edges, 0, 1) != 0;
    }
    if (edges->puts)
        hc_snapshot_put_correction(&edges->out, head, *next, &said);
    else {
        hc_snapshot_get_correction(&edges->in, world, head, *next, &got);
        expect(edges, "a correction that is read as another",
               got.unit == said.unit && got.as_of == said.as_of && got.same == said.same);
    }
    do_delta(edges, said.unit, at);
    *next = (hc_unit)(said.unit + 1);
}

static void do_corrections(struct edges *edges, const struct hc_snapshot *head) {
    uint32_t got_count, total = hc_unit_total(edges->world);
    hc_tick got_at, before = head->tick;
    for (uint64_t left = number(edges, 0, LIST_MAX); left > 0 && before > 0; left--) {
        hc_tick at = (hc_tick)number(edges, hc_tick_back(before - 1, HC_HISTORY_MAX), before - 1);
        uint32_t count = (uint32_t)number(edges, 1, UINT16_MAX + 1);
        if (edges->puts)
            hc_snapshot_put_correction_tick(&edges->out, before, at, count);
        else
            expect(edges, "corrections of another tick",
                   hc_snapshot_get_correction_tick(&edges->in, before, &got_at, &got_count) &&
                       got_at == at && got_count == count);
        for (hc_unit next = 0; count > 0 && next < total; count--)
            do_correction(edges, head, at, &next);
        before = at;
    }
    if (edges->puts)
        hc_snapshot_put_end(&edges->out);
    else
        expect(edges, "corrections of no tick",
               !hc_snapshot_get_correction_tick(&edges->in, before, &got_at, &got_count));
}

static void do_all(struct edges *edges) {
    struct hc_snapshot head = do_head(edges);
    do_forced(edges, &head);
    do_controls(edges, head.tick);
    do_units(edges, &head);
    do_corrections(edges, &head);
}

static enum hc_message_type begin(struct edges *edges, const struct hc_writer *body) {
    bool fine = hc_body_begin(&edges->body, body->data, body->at) == HC_OK;
    expect(edges, "a body that cannot be read", fine);
    return fine ? hc_body_next(&edges->body) : HC_MESSAGE_END;
}

/// The bits come out of a message as they went in, if there is room for them.
static void try_message(struct edges *edges, size_t size) {
    uint8_t bytes[HC_DATA_BODY_MAX];
    struct hc_writer body = hc_bytes_writer(bytes, sizeof bytes);
    bool fits = hc_snapshot_put_message(&body, edges->bits, size);
    expect(edges, "a SNAPSHOT that fits, or does not",
           fits == (size + HC_SNAPSHOT_OVERHEAD <= sizeof bytes));
    struct hc_bits_reader bits;
    if (fits)
        expect(edges, "a SNAPSHOT of other bits",
               begin(edges, &body) == HC_MESSAGE_SNAPSHOT &&
                   hc_snapshot_get_message(&edges->body, &bits) == HC_OK && bits.size == size &&
                   memcmp(bits.data, edges->bits, size) == 0);
}

static void try_snapshot(struct edges *edges) {
    struct hc_rng from = edges->rng;
    edges->puts = true;
    edges->out = hc_bits_writer(edges->bits, sizeof edges->bits);
    do_all(edges);
    size_t size = hc_bits_finish(&edges->out);
    expect(edges, "a snapshot that does not fit", size > 0);
    edges->puts = false;
    edges->rng = from;
    edges->in = hc_bits_reader(edges->bits, size);
    do_all(edges);
    expect(edges, "a snapshot that is not read to its end", hc_bits_done(&edges->in));
    try_message(edges, size);
}

/// A head one of whose numbers is beyond its range is not read.
static void try_beyond(struct edges *edges) {
    struct hc_snapshot got, head = draw_head(edges);
    head.as_of = (hc_tick)number(edges, HC_HISTORY_MAX + 1, HC_SNAPSHOT_TICK_MAX);
    head.tick = head.late_limit = head.final = head.as_of;
    head.base = HC_NO_TICK;
    head.own_count = 1;
    head.complete[0] = head.tick + HC_SNAPSHOT_SPAN_MAX - 1;
    hc_tick *const ticks[] = {&head.tick, &head.late_limit, &head.final};
    uint32_t which = hc_rng_below(&edges->rng, 7);
    if (which < 3)
        *ticks[which] -= HC_HISTORY_MAX + 1;
    head.as_of = which == 3 ? HC_SNAPSHOT_TICK_MAX + 1 : head.as_of;
    head.phase_us = which == 4 ? HC_PHASE_MAX_US + 1 : head.phase_us;
    head.ack_delay_us = which == 5 ? HC_ACK_DELAY_MAX_US + 1 : head.ack_delay_us;
    head.complete[0] += which == 6 || which == 0;
    if (which == 3)
        head.tick = head.late_limit = head.final = head.as_of;
    edges->out = hc_bits_writer(edges->bits, sizeof edges->bits);
    hc_snapshot_put(&edges->out, &head);
    edges->in = hc_bits_reader(edges->bits, hc_bits_finish(&edges->out));
    hc_snapshot_get(&edges->in, head.as_of, head.own_count, &got);
    expect(edges, "a head beyond a range that is read", edges->in.failed);
}

/// All inputs that the server knows from some tick up to another are told, and no others.
static void try_told_inputs(struct edges *edges) {
    const struct hc_timeline *server = hc_sv_host_timeline(hc_sim_host(edges->match->sim));
    const struct hc_game *game = edges->world->game;
    hc_player player = (hc_player)number(edges, 0, edges->world->players - 1u);
    hc_tick head = hc_timeline_head(server);
    hc_tick tick = (hc_tick)number(edges, hc_timeline_oldest(server), head);
    hc_tick end = (hc_tick)number(edges, tick,
                                  head + (hc_tick)storm_match_get(edges->match, STORM_future) + 1);
    struct hc_unit_value value =
        draw_value(edges, (hc_unit)(1 + player), tick, HC_ABSENT, edges->room[0]);
    edges->out = hc_bits_writer(edges->bits, sizeof edges->bits);
    hc_snapshot_put_inputs(&edges->out, server, game, player, &value, end);
    edges->in = hc_bits_reader(edges->bits, hc_bits_finish(&edges->out));
    hc_tick next = tick;
    bool same = true;
    for (uint32_t runs = hc_snapshot_get_runs(&edges->in); runs > 0 && same; runs--) {
        hc_tick first, from = next;
        uint32_t count = hc_snapshot_get_run(&edges->in, next, &first);
        for (; from < first && from < end; from++)
            same &= hc_timeline_slot(server, player, from) != HC_SLOT_KNOWN;
        for (next = first; next < first + count && same; next++) {
            hc_delta_get_input(&edges->in, game, value.input, value.input);
            same =
                next < end && hc_timeline_slot(server, player, next) == HC_SLOT_KNOWN &&
                memcmp(value.input, hc_timeline_input(server, player, next), game->input_size) == 0;
        }
    }
    for (; next < end; next++)
        same &= hc_timeline_slot(server, player, next) != HC_SLOT_KNOWN;
    expect(edges, "inputs that are read as others", same && hc_bits_done(&edges->in));
}

// ---- Inputs, INPUT and WELCOME ------------------------------------------------------------------

/// Each is the one before it as often as not.
static void draw_inputs(struct edges *edges, uint32_t count, uint32_t players) {
    const struct hc_game *game = edges->world->game;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t p = 0; p < players; p++) {
            memset(edges->inputs[i][p], 0, HC_INPUT_MAX);
            if (i > 0 && hc_rng_below(&edges->rng, 2) == 0)
                memcpy(edges->inputs[i][p], edges->inputs[i - 1][p], HC_INPUT_MAX);
            else
                draw_fields(edges, game->input_fields, game->input_field_count,
                            edges->inputs[i][p]);
        }
}

static const void *drawn_input(void *context, uint32_t index, uint32_t player) {
    const struct edges *edges = context;
    return edges->inputs[index][player];
}

static bool same_run(const struct edges *edges, struct hc_input_run *run, uint32_t count,
                     uint32_t players) {
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t p = 0; p < players; p++) {
            const void *input = hc_input_run_next(run);
            if (input == NULL ||
                memcmp(input, edges->inputs[i][p], edges->world->game->input_size) != 0)
                return false;
        }
    return hc_input_run_next(run) == NULL;
}

/// As many ticks go into a run as its bytes hold, not one less.
static void try_run(struct edges *edges) {
    const struct hc_game *game = edges->world->game;
    uint8_t bytes[HC_DATA_BODY_MAX];
    uint32_t players = (uint32_t)number(edges, 1, HC_OWN_PLAYERS_MAX);
    uint32_t count = (uint32_t)number(edges, 1, HC_INPUT_RUN_MAX);
    size_t capacity = number(edges, 0, 160), used = 0, needed = 0;
    struct hc_input_run run;
    draw_inputs(edges, count, players);
    uint32_t packed =
        hc_input_run_pack(game, players, count, drawn_input, edges, bytes, capacity, &used);
    expect(edges, "a run that is read as another",
           packed <= count && used <= capacity &&
               (packed == 0 ||
                (hc_input_run_begin(&run, game, players, packed, bytes, used) == HC_OK &&
                 same_run(edges, &run, packed, players))));
    if (packed < count)
        expect(edges, "a run that has room for more",
               hc_input_run_pack(game, players, packed + 1, drawn_input, edges, bytes, sizeof bytes,
                                 &needed) == packed + 1 &&
                   needed > capacity);
}

/// What a client says, up to the last tick and not beyond it.
static void try_input(struct edges *edges) {
    const struct hc_game *game = edges->world->game;
    uint8_t bytes[HC_DATA_BODY_MAX];
    struct hc_writer body = hc_bytes_writer(bytes, sizeof bytes);
    uint32_t players = (uint32_t)number(edges, 0, HC_OWN_PLAYERS_MAX);
    struct hc_input_message got,
        message = {
            .client_tick = (hc_tick)number(edges, 0, HC_NO_TICK - 1),
            .display_offset = (uint32_t)number(edges, 0, HC_HISTORY_MAX),
            .ack_delay_us = (uint32_t)number(edges, 0, HC_ACK_DELAY_MAX_US),
            .count = players > 0 ? (uint32_t)number(edges, 0, HC_INPUT_RUN_MAX) : 0,
        };
    struct hc_input_run run;
    message.first = (hc_tick)number(edges, 0, HC_NO_TICK - 1 - message.count);
    message.force_before = (hc_tick)number(edges, 0, message.first);
    draw_inputs(edges, message.count, players);
    expect(edges, "an INPUT that does not fit",
           hc_message_put_input(&body, game, players, &message, drawn_input, edges));
    expect(edges, "an INPUT that is read as another",
           begin(edges, &body) == HC_MESSAGE_INPUT &&
               hc_message_get_input(&edges->body, game, players, &got, &run) == HC_OK &&
               got.client_tick == message.client_tick &&
               got.display_offset == message.display_offset &&
               got.ack_delay_us == message.ack_delay_us && got.first == message.first &&
               got.force_before == message.force_before && got.count == message.count &&
               same_run(edges, &run, got.count, players));
    body = hc_bytes_writer(bytes, sizeof bytes);
    message = (struct hc_input_message){.client_tick = HC_NO_TICK};
    expect(edges, "an INPUT of no tick",
           !hc_message_put_input(&body, game, 0, &message, NULL, NULL) ||
               begin(edges, &body) != HC_MESSAGE_INPUT ||
               hc_message_get_input(&edges->body, game, 0, &got, &run) != HC_OK);
}

/// WELCOME for as many players of its own as there may be, for one more, and for more than there
/// are at all.
static void try_welcome(struct edges *edges) {
    const struct hc_game *game = edges->world->game;
    uint8_t bytes[HC_DATA_BODY_MAX];
    struct hc_welcome got, welcome = {.tick_rate = (uint16_t)number(edges, 1, HC_TICK_RATE_MAX),
                                      .players = game->players_max,
                                      .seed = number(edges, 0, UINT64_MAX),
                                      .history = (uint32_t)number(edges, 0, HC_HISTORY_MAX),
                                      .future = (uint32_t)number(edges, 1, HC_FUTURE_MAX),
                                      .tick = (hc_tick)number(edges, 0, HC_NO_TICK - 1),
                                      .phase_us = (uint32_t)number(edges, 0, HC_PHASE_MAX_US),
                                      .own_count = HC_OWN_PLAYERS_MAX,
                                      .own = {3, 1, 0, 2}};
    welcome.late_limit = (uint32_t)number(edges, 0, welcome.history);
    struct hc_writer body = hc_bytes_writer(bytes, sizeof bytes);
    expect(edges, "a WELCOME that does not fit", hc_message_put_welcome(&body, &welcome));
    expect(edges, "a WELCOME that is read as another",
           begin(edges, &body) == HC_MESSAGE_WELCOME &&
               hc_message_get_welcome(&edges->body, game, &got) == HC_OK &&
               got.tick_rate == welcome.tick_rate && got.players == welcome.players &&
               got.seed == welcome.seed && got.history == welcome.history &&
               got.future == welcome.future && got.late_limit == welcome.late_limit &&
               got.tick == welcome.tick && got.phase_us == welcome.phase_us &&
               got.own_count == welcome.own_count &&
               memcmp(got.own, welcome.own, sizeof welcome.own) == 0);
    // The list is its head and a byte for each.
    static const uint8_t list[] = {0x90 | HC_OWN_PLAYERS_MAX, 3, 1, 0, 2};
    uint8_t *at = bytes;
    while (memcmp(at, list, sizeof list) != 0)
        at++;
    uint8_t *list_end = at + sizeof list;
    memmove(list_end + 1, list_end, (size_t)(bytes + body.at - list_end));
    (*at)++;
    *list_end = HC_OWN_PLAYERS_MAX;
    body.at++;
    expect(edges, "a WELCOME for too many players",
           begin(edges, &body) == HC_MESSAGE_WELCOME &&
               hc_message_get_welcome(&edges->body, game, &got) == HC_MALFORMED);
    welcome.players = HC_OWN_PLAYERS_MAX - 1;
    body = hc_bytes_writer(bytes, sizeof bytes);
    expect(edges, "a WELCOME for more players than there are",
           hc_message_put_welcome(&body, &welcome) && begin(edges, &body) == HC_MESSAGE_WELCOME &&
               hc_message_get_welcome(&edges->body, game, &got) == HC_MALFORMED);
}

// ---- Other parts --------------------------------------------------------------------------------

static void timeline_is(struct edges *edges, struct hc_timeline_config config, const char *wanted) {
    const char *why = hc_timeline_config_check(&config);
    expect(edges, "a timeline's configuration that is judged wrongly",
           why == NULL || wanted == NULL ? why == wanted : strcmp(why, wanted) == 0);
    if (why == NULL)
        return;
    struct hc_timeline *timeline = hc_timeline_create(&config);
    expect(edges, "a timeline that cannot be", timeline == NULL);
    hc_timeline_destroy(timeline);
}

static void try_timeline(struct edges *edges) {
    struct hc_timeline_config config = hc_timeline_config_default();
    timeline_is(edges, config, "world");
    config.world = edges->world;
    expect(edges, "a timeline's defaults", config.history == 64 && config.future == 64);
    timeline_is(edges, config, NULL);
    config.history = HC_HISTORY_MAX;
    config.future = 1;
    timeline_is(edges, config, NULL);
    config.history++;
    timeline_is(edges, config, "history");
    config.history = 0;
    config.future--;
    timeline_is(edges, config, "future");
    config.future = HC_FUTURE_MAX;
    timeline_is(edges, config, NULL);
    config.future++;
    timeline_is(edges, config, "future");
}

/// The local time of a time of the server's is the first at which the server's is that late.
static void try_clock(struct edges *edges) {
    enum { LATE_US = 1000000000 };
    struct hc_cl_clock clock = {.count = 0};
    hc_cl_clock_estimate(&clock, number(edges, 0, LATE_US), number(edges, 0, 1000000),
                         number(edges, 0, LATE_US));
    for (unsigned i = 0; i < CLOCK_ASKED; i++) {
        uint64_t server_us = number(edges, 0, 2 * (uint64_t)LATE_US);
        uint64_t local_us = hc_cl_clock_local_us(&clock, server_us);
        expect(edges, "a clock that is asked for the local time of the server's",
               hc_cl_clock_server_us(&clock, local_us) >= server_us &&
                   (local_us == 0 || hc_cl_clock_server_us(&clock, local_us - 1) < server_us));
    }
}

/// The referee is guessed to be what it becomes when it is held at each tick; what nobody has told
/// of, to be absent.
static void try_guess(struct edges *edges) {
    const struct hc_world *world = edges->world;
    struct hc_unit_value from = {.known = HC_NO_TICK}, guess = {.known = HC_NO_TICK};
    uint8_t state[2][HC_STATE_MAX] = {{0}};
    hc_tick ticks = (hc_tick)number(edges, 0, 3 * HC_EXTRAPOLATE_TICKS_MAX);
    const struct hc_kind *kind = hc_world_kind(world, HC_REFEREE);
    hc_unit_place(world, &from, edges->room[0]);
    hc_unit_place(world, &guess, edges->room[1]);
    from.presence[0] = draw_state(edges, HC_REFEREE, HC_ALIVE, from.states);
    for (uint16_t f = 0; f < kind->field_count && ticks > 0; f++) { // some end just then
        const struct hc_field *field = &kind->fields[f];
        if (field->countdown && number(edges, 0, 1) != 0 && (ticks + 1) >> (field->bits - 1) == 0)
            hc_field_set(field, from.states, (int64_t)number(edges, ticks - 1, ticks + 1));
    }
    memcpy(state[0], from.states, world->stride);
    for (hc_tick t = 0; t < ticks; t++)
        hc_scene_hold_referee(world, state[t % 2], state[(t + 1) % 2]);
    hc_extrapolate(edges->extrapolator, 0, &from, NULL, NULL, ticks, &guess);
    expect(edges, "a guess of the referee",
           guess.presence[0] == HC_ALIVE &&
               memcmp(guess.states, state[ticks % 2], world->stride) == 0);
    hc_unit unit = (hc_unit)number(edges, 0, hc_unit_total(world) - 1);
    memset(edges->room[1], 0xff, sizeof edges->room[1]);
    hc_extrapolate_absent(world, unit, ticks, &guess);
    bool nothing = guess.tick == ticks && guess.known == HC_NO_TICK;
    for (uint32_t i = 0; i < hc_unit_count(world, unit); i++)
        nothing &= guess.presence[i] == HC_ABSENT;
    for (size_t i = 0; i < (size_t)hc_unit_count(world, unit) * world->stride; i++)
        nothing &= guess.states[i] == 0;
    expect(edges, "a guess from nothing", nothing);
}

static void put_u32(uint8_t *out, uint32_t value) {
    for (int i = 0; i < 4; i++)
        out[i] = (uint8_t)(value >> 8 * i);
}

/// The cookie by PROTOCOL.md; its secret is the first that the host draws.
static void cookie_of(const struct hc_sv_host_config *config, uint32_t slot,
                      const struct hc_address *from, const uint8_t *nonce, uint8_t *cookie) {
    uint8_t secret[32], key[32], text[4 + 16 + 2 + HC_NONCE_SIZE];
    struct hc_ratchet ratchet;
    put_u32(text, slot);
    memcpy(text + 4, from->ip, 16);
    text[20] = (uint8_t)from->port;
    text[21] = (uint8_t)(from->port >> 8);
    memcpy(text + 22, nonce, HC_NONCE_SIZE);
    hc_ratchet_init(&ratchet, config->secret);
    hc_ratchet_draw(&ratchet, secret, sizeof secret);
    if (crypto_generichash(key, sizeof key, text, 4, secret, sizeof secret) != 0 ||
        crypto_generichash(cookie, HC_COOKIE_SIZE, text, sizeof text, key, sizeof key) != 0)
        abort();
}

static void try_cookie(struct edges *edges) {
    enum { SLOT_US = 10000000 };
    struct hc_sv_host_config config = hc_sim_config(edges->match->sim)->host;
    struct hc_address to, from = hc_address_ipv4(10, 1, 2, 3, 4567);
    uint8_t bytes[HC_DATAGRAM_MAX], wanted[HC_COOKIE_SIZE];
    uint64_t now_us = number(edges, 0, 100 * (uint64_t)SLOT_US);
    struct hc_datagram_cookie cookie;
    struct hc_hello hello = {.protocol_id = hc_datagram_protocol_id(config.game)};
    for (size_t i = 0; i < sizeof config.secret; i++)
        config.secret[i] = (uint8_t)hc_rng_next(&edges->rng);
    hello.client_nonce[0] = (uint8_t)hc_rng_next(&edges->rng);
    config.allocator = NULL;
    struct hc_sv_host *host = hc_sv_host_create(&config, now_us);
    if (host == NULL)
        abort();
    size_t size = hc_datagram_put_hello(&hello, bytes);
    expect(edges, "a HELLO", hc_sv_host_receive(host, &from, bytes, size, now_us) == HC_OK);
    size = hc_sv_host_send(host, &to, bytes, now_us);
    cookie_of(&config, (uint32_t)(now_us / SLOT_US), &from, hello.client_nonce, wanted);
    expect(edges, "a cookie that is not the standard's",
           hc_datagram_get_cookie(bytes, size, &cookie) == HC_OK &&
               cookie.slot == now_us / SLOT_US && hc_address_equal(&to, &from) &&
               memcmp(cookie.cookie, wanted, sizeof wanted) == 0);
    hc_sv_host_destroy(host);
}

/// Whether a user at this address is let in.
static bool gets_in(struct edges *edges, struct hc_sv_host *host, struct hc_address from,
                    uint64_t user) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct hc_party party;
    struct hc_address to;
    struct hc_datagram_cookie cookie = {.slot = 0};
    const struct hc_game *game = edges->world->game;
    struct hc_hello hello = {.protocol_id = hc_datagram_protocol_id(game),
                             .client_nonce = {(uint8_t)user}};
    uint64_t joins = hc_sv_host_stats(host)->joins;
    size_t size = hc_datagram_put_hello(&hello, bytes);
    (void)hc_sv_host_receive(host, &from, bytes, size, 0);
    size = hc_sv_host_send(host, &to, bytes, 0);
    expect(edges, "a HELLO's answer", hc_datagram_get_cookie(bytes, size, &cookie) == HC_OK);
    struct hc_connect connect = {
        .protocol_id = hello.protocol_id, .slot = cookie.slot, .players = 1};
    memcpy(connect.client_nonce, hello.client_nonce, HC_NONCE_SIZE);
    memcpy(connect.cookie, cookie.cookie, sizeof connect.cookie);
    hc_party_issue(&party, game, user, user);
    size = hc_party_put_connect(&party, &connect, bytes);
    (void)hc_sv_host_receive(host, &from, bytes, size, 0);
    while (hc_sv_host_send(host, &to, bytes, 0) > 0)
        continue;
    return hc_sv_host_stats(host)->joins == joins + 1;
}

/// From one address so many are let in, and no more; whoever comes from another does not count.
static void try_neighbours(struct edges *edges) {
    enum { MOST = 2, PLACES = 4 };
    struct hc_sv_host_config config = hc_sim_config(edges->match->sim)->host;
    struct hc_address crowded = hc_address_ipv4(10, 1, 2, 3, 1000);
    struct hc_address other = hc_address_ipv4(10, 4, 5, 6, 1000);
    config.clients = PLACES;
    config.clients_per_address = MOST;
    config.unix_us = HC_PARTY_UNIX_US;
    config.audience = 0;
    config.allocator = NULL;
    struct hc_sv_host *host = hc_sv_host_create(&config, 0);
    if (host == NULL)
        abort();
    for (uint64_t user = 1; user <= MOST; user++, crowded.port++)
        expect(edges, "an address of few", gets_in(edges, host, crowded, user));
    expect(edges, "another address", gets_in(edges, host, other, MOST + 1));
    expect(edges, "an address of too many", !gets_in(edges, host, crowded, MOST + 2));
    hc_sv_host_destroy(host);
}

/// A history of a timeline alone.
static void try_history(struct storm_match *match) {
    struct history_run *run = malloc(sizeof *run);
    if (run == NULL)
        abort();
    if (!run_history(run, match->plan->seed, 0))
        storm_fail(match->verdict, STORM_WRONG, "history", 0,
                   "timelines differ: exact_histories --seed %lu --histories 1",
                   (unsigned long)match->plan->seed);
    free(run);
}

void storm_edges_end(struct storm_match *match) {
    if (match->verdict->result != STORM_FINE)
        return;
    if (match->plan->seed % HISTORY_ONE_IN == 3)
        try_history(match);
    if (match->plan->seed % SHARE != 9)
        return;
    struct edges *edges = calloc(1, sizeof *edges);
    if (edges == NULL)
        abort();
    edges->match = match;
    edges->world = storm_truth_world(match->truth);
    edges->rng = hc_rng_init(match->plan->seed, STREAM);
    edges->extrapolator = hc_extrapolator_create(edges->world);
    if (edges->extrapolator == NULL)
        abort();
    void (*const tries[])(struct edges *) = {try_snapshot, try_beyond,  try_told_inputs, try_run,
                                             try_input,    try_welcome, try_clock,       try_guess};
    for (unsigned round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < sizeof tries / sizeof tries[0]; i++)
            tries[i](edges);
    try_timeline(edges);
    try_cookie(edges);
    try_neighbours(edges);
    hc_extrapolator_destroy(edges->extrapolator);
    free(edges);
}
