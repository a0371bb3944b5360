#include "tests/scenario/told.h"

#include "client/snapshot_reader.h"
#include "proto/datagram.h"
#include "tests/scenario/require.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum {
    HEADS = 256, ///< snapshots remembered of each client, by the head at sending
    LOOK = 8,    ///< snapshots between two looks of the server's at what is in view
};

/// A unit of one snapshot: what was told of it, or, in view and not told, what the server has.
struct fact {
    hc_tick tick;
    hc_unit unit;
    bool told, dropped, correction;
    uint64_t digest;
};

/// One snapshot as it was sent.
struct row {
    hc_tick as_of, tick; ///< HC_NO_TICK: none
    uint32_t count;
    struct fact *facts;
};

struct listener {
    struct hc_cl_snapshot_reader *reader;
    uint32_t cid;
    struct row rows[HEADS];
    uint32_t *viewed;    ///< [units] snapshots in a row in which it was in view
    uint32_t *waited;    ///< [units] of those, since it could be known, the newest not to tell it
    hc_tick interest_at; ///< as_of of the newest snapshot looked at with the client
    struct value_count count;
};

struct told {
    const struct hc_world *world;
    unsigned clients;
    struct hc_body body;
    struct fact *facts; ///< of the snapshot that is being read
    struct listener *listeners;
};

enum { FACTS_MAX = 8192 };

struct told *told_create(const struct play *play) {
    struct told *told = calloc(1, sizeof *told);
    ck_assert_ptr_nonnull(told);
    told->world = ledger_world(play->sent_log);
    told->clients = hc_sim_clients(play->sim);
    told->facts = calloc(FACTS_MAX, sizeof *told->facts);
    told->listeners = calloc(told->clients, sizeof *told->listeners);
    ck_assert(told->facts != NULL && told->listeners != NULL);
    for (unsigned i = 0; i < told->clients; i++) {
        struct listener *listener = &told->listeners[i];
        listener->interest_at = HC_NO_TICK;
        listener->viewed = calloc(hc_unit_total(told->world), sizeof *listener->viewed);
        listener->waited = calloc(hc_unit_total(told->world), sizeof *listener->waited);
        ck_assert(listener->viewed != NULL && listener->waited != NULL);
        for (unsigned n = 0; n < HEADS; n++)
            listener->rows[n].as_of = HC_NO_TICK;
    }
    return told;
}

void told_destroy(struct told *told) {
    for (unsigned i = 0; i < told->clients; i++) {
        struct listener *listener = &told->listeners[i];
        hc_cl_snapshot_reader_destroy(listener->reader);
        for (unsigned n = 0; n < HEADS; n++)
            free(listener->rows[n].facts);
        free(listener->viewed);
        free(listener->waited);
    }
    free(told->listeners);
    free(told->facts);
    free(told);
}

/// The states of a unit at a tick, as one number.
static uint64_t digest(const struct hc_world *world, hc_unit unit, const uint8_t *presence,
                       const uint8_t *states) {
    uint32_t count = hc_unit_count(world, unit);
    uint64_t sum = XXH64(presence, count, unit);
    return XXH64(states, (size_t)count * world->stride, sum);
}

static uint64_t digest_at(const struct hc_world *world, const struct hc_timeline *timeline,
                          hc_unit unit, hc_tick tick) {
    hc_entity first = hc_unit_first(world, unit);
    return digest(world, unit, hc_timeline_presence(timeline, tick) + first,
                  hc_timeline_states(timeline, tick) + (size_t)first * world->stride);
}

// ---- When it is sent ----------------------------------------------------------------------------

/// T, as the rule has it; `otherwise` when the client has not heard yet who it is.
static hc_tick wanted_tick(const struct play *play, unsigned client, hc_tick otherwise) {
    const struct hc_timeline *timeline = hc_sv_host_timeline(hc_sim_host(play->sim));
    const struct hc_client *core = hc_sim_client(play->sim, client);
    hc_tick tick = hc_timeline_head(timeline);
    for (unsigned i = 0; i < hc_sim_setup(play->sim, client)->config.players; i++) {
        hc_player player = hc_client_player(core, i);
        if (player == HC_NO_PLAYER)
            return otherwise;
        tick = hc_tick_min(tick, hc_timeline_inputs_through(timeline, player) + 1);
    }
    return tick;
}

/// Fails the test unless what a unit is told to have done last is what the server knows.
static void check_input(const struct hc_world *world, const struct hc_timeline *timeline,
                        const struct hc_cl_received_value *unit) {
    hc_player player = hc_unit_player(world, unit->unit);
    uint8_t input[HC_INPUT_MAX];
    hc_tick known = HC_NO_TICK;
    if (player == HC_NO_PLAYER)
        return;
    bool any = hc_timeline_newest_input(timeline, player, unit->value.tick, &known, input);
    REQUIRE(unit->value.known == (any ? known : HC_NO_TICK),
            "player %u is told to be known until %u, not %u", player, unit->value.known, known);
    REQUIRE(!any || memcmp(unit->value.input, input, world->game->input_size) == 0,
            "another input of player %u at %u", player, known);
}

/// Enters what is told; fails the test unless it is the server's. Returns how many facts there are.
static uint32_t check_told(struct told *told, const struct hc_timeline *timeline,
                           const struct hc_cl_received *said, struct listener *listener) {
    const struct hc_world *world = told->world;
    REQUIRE(said->value_count <= FACTS_MAX, "%u units in one snapshot", said->value_count);
    for (uint32_t i = 0; i < said->value_count; i++) {
        const struct hc_cl_received_value *unit = &said->told[i];
        struct fact *fact = &told->facts[i];
        *fact = (struct fact){.tick = unit->value.tick,
                              .unit = unit->unit,
                              .told = true,
                              .dropped = unit->dropped,
                              .correction = unit->correction};
        if (!unit->correction)
            listener->waited[unit->unit] = 0;
        if (unit->dropped)
            continue;
        fact->digest = digest(world, unit->unit, unit->value.presence, unit->value.states);
        REQUIRE(fact->digest == digest_at(world, timeline, unit->unit, unit->value.tick),
                "unit %u of tick %u is told otherwise than it is", unit->unit, unit->value.tick);
        if (!unit->correction)
            check_input(world, timeline, unit);
    }
    return said->value_count;
}

static bool is_told(const struct hc_cl_received *said, hc_unit unit) {
    for (uint32_t i = 0; i < said->value_count && !said->told[i].correction; i++)
        if (said->told[i].unit == unit)
            return !said->told[i].dropped;
    return false;
}

/// Adds what is in view, as of the server's last look, and not told.
static uint32_t add_untold(struct told *told, const struct play *play, unsigned client,
                           const struct hc_cl_received *said, uint32_t count) {
    const struct hc_timeline *timeline = hc_sv_host_timeline(hc_sim_host(play->sim));
    struct listener *listener = &told->listeners[client];
    hc_tick tick = said->head.tick;
    for (uint32_t u = 0; u < hc_unit_total(told->world); u++) {
        hc_unit unit = (hc_unit)u;
        if (play_in_view(play, client, unit, hc_timeline_presence(timeline, tick),
                         hc_timeline_states(timeline, tick), told->world->game->view))
            listener->viewed[unit]++;
        else
            listener->viewed[unit] = 0;
        if (listener->viewed[unit] <= LOOK)
            listener->waited[unit] = 0;
        if (listener->viewed[unit] <= LOOK || is_told(said, unit))
            continue;
        if (++listener->waited[unit] > listener->count.waited)
            listener->count.waited = listener->waited[unit];
        REQUIRE(count < FACTS_MAX, "too many facts");
        told->facts[count++] = (struct fact){
            .tick = tick, .unit = unit, .digest = digest_at(told->world, timeline, unit, tick)};
    }
    return count;
}

static struct listener *listener_of(struct told *told, const struct play *play, unsigned client,
                                    uint32_t cid) {
    struct listener *listener = &told->listeners[client];
    if (listener->reader != NULL && listener->cid == cid)
        return listener;
    hc_cl_snapshot_reader_destroy(listener->reader);
    listener->reader =
        hc_cl_snapshot_reader_create(told->world, hc_sim_setup(play->sim, client)->config.players);
    ck_assert_ptr_nonnull(listener->reader);
    listener->cid = cid;
    listener->interest_at = HC_NO_TICK;
    return listener;
}

void told_sent(struct told *told, struct play *play, unsigned client, const uint8_t *bytes,
               size_t size) {
    const struct hc_timeline *timeline = hc_sv_host_timeline(hc_sim_host(play->sim));
    hc_tick head = hc_timeline_head(timeline);
    struct hc_data data;
    const struct hc_cl_received *said;
    if (hc_datagram_kind(bytes, size) != HC_DATAGRAM_DATA)
        return;
    ck_assert_int_eq(hc_datagram_get_data(bytes, size, &data), HC_OK);
    ck_assert_int_eq(hc_body_begin(&told->body, data.body, data.body_size), HC_OK);
    if (hc_body_next(&told->body) != HC_MESSAGE_SNAPSHOT)
        return;
    struct listener *listener = listener_of(told, play, client, data.cid);
    struct row *row = &listener->rows[head % HEADS];
    REQUIRE(row->as_of != head, "two snapshots of head %u for client %u", head, client);
    enum hc_status status = hc_cl_snapshot_reader_read(listener->reader, &told->body, head, &said);
    REQUIRE(status == HC_OK, "client %u: a snapshot of %u that is read with %d", client, head,
            status);
    REQUIRE(said->head.as_of == head &&
                said->head.tick == wanted_tick(play, client, said->head.tick),
            "client %u is shown (%u, %u) at %u", client, said->head.tick, said->head.as_of, head);
    uint32_t count = check_told(told, timeline, said, listener);
    count = add_untold(told, play, client, said, count);
    free(row->facts);
    *row = (struct row){.as_of = head, .tick = said->head.tick, .count = count};
    row->facts = malloc((count + 1) * sizeof *row->facts);
    ck_assert_ptr_nonnull(row->facts);
    memcpy(row->facts, told->facts, count * sizeof *row->facts);
}

// ---- When it has come ---------------------------------------------------------------------------

static bool is_unknown(const struct hc_world *world, const struct hc_timeline *timeline,
                       hc_unit unit, hc_tick tick) {
    const uint8_t *presence = hc_timeline_presence(timeline, tick) + hc_unit_first(world, unit);
    for (uint32_t e = 0; e < hc_unit_count(world, unit); e++)
        if (presence[e] != HC_UNKNOWN)
            return false;
    return true;
}

/// Whether the client holds this, which it must if it was told.
static bool check_fact(const struct told *told, const struct hc_timeline *timeline, unsigned client,
                       const struct fact *fact) {
    if (fact->tick < hc_timeline_oldest(timeline))
        return true;
    bool same = fact->dropped
                    ? is_unknown(told->world, timeline, fact->unit, fact->tick)
                    : digest_at(told->world, timeline, fact->unit, fact->tick) == fact->digest;
    REQUIRE(same || !fact->told, "client %u does not hold unit %u of tick %u as it was told%s",
            client, fact->unit, fact->tick, fact->correction ? ", a correction" : "");
    return same;
}

void told_changed(struct told *told, struct play *play, unsigned client) {
    const struct hc_client *core = hc_sim_client(play->sim, client);
    struct listener *listener = &told->listeners[client];
    struct value_count *count = &listener->count;
    hc_tick tick, as_of;
    if (!hc_client_snapshot(core, &tick, &as_of) || as_of == listener->interest_at)
        return;
    const struct hc_timeline *timeline = hc_client_timeline(core);
    const struct row *row = &listener->rows[as_of % HEADS];
    REQUIRE(row->as_of == as_of && row->tick == tick, "client %u: nothing like (%u, %u) was sent",
            client, tick, as_of);
    REQUIRE(tick >= hc_timeline_oldest(timeline) && tick <= hc_timeline_head(timeline),
            "client %u does not hold tick %u", client, tick);
    bool exact = true;
    for (uint32_t i = 0; i < row->count; i++) {
        const struct fact *fact = &row->facts[i];
        exact = check_fact(told, timeline, client, fact) && exact;
        count->units += fact->told && !fact->dropped && !fact->correction;
        count->corrections += fact->correction;
        count->dropped += fact->dropped;
    }
    listener->interest_at = as_of;
    count->snapshots++;
    count->past += tick < as_of;
    count->inexact += !exact;
    *(exact ? &count->exact_us : &count->inexact_us) = hc_sim_now(play->sim);
}

struct value_count value_count(const struct told *told, unsigned client) {
    return told->listeners[client].count;
}

void told_restart(struct told *told) {
    for (unsigned i = 0; i < told->clients; i++)
        told->listeners[i].count = (struct value_count){.snapshots = 0};
}
