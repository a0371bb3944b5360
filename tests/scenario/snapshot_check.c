/// A second reader of each client's snapshots, and the units that each one sent.
#include "tests/scenario/snapshot_check.h"

#include "client/world/snapshot_reader.h"
#include "proto/datagram.h"
#include "server/replication/sent_log.h"
#include "tests/scenario/require.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum {
    HEADS = 256, ///< snapshots remembered of each client, by the head at sending
    LOOK = 8,    ///< snapshots between two updates of the server's interest set
};

/// A unit of one snapshot: the value that was sent, or the server's value if it is in view and was
/// not sent.
struct fact {
    hc_tick tick;
    hc_unit unit;
    bool sent, dropped, correction;
    uint64_t digest;
};

/// One snapshot as it was sent.
struct row {
    hc_tick as_of, tick; ///< HC_NO_TICK: none
    uint32_t count;
    struct fact *facts;
};

struct receiver {
    struct hc_cl_snapshot_reader *reader;
    uint32_t cid;
    struct row rows[HEADS];
    uint32_t *in_view;     ///< [units] snapshots in a row in which it was in view
    uint32_t *unsent;      ///< [units] of those, the newest in a row without it
    hc_tick checked_as_of; ///< as_of of the newest snapshot that was checked with the client
    struct snapshot_count count;
};

struct snapshot_check {
    const struct scenario *scenario;
    const struct hc_world *world;
    unsigned clients;
    struct hc_body body;
    struct fact *facts; ///< of the snapshot that is being read
    struct receiver *receivers;
};

enum { FACTS_MAX = 8192 };

void snapshot_check_destroy(struct snapshot_check *check) {
    for (unsigned i = 0; i < check->clients; i++) {
        struct receiver *receiver = &check->receivers[i];
        hc_cl_snapshot_reader_destroy(receiver->reader);
        for (unsigned n = 0; n < HEADS; n++)
            free(receiver->rows[n].facts);
        free(receiver->in_view);
        free(receiver->unsent);
    }
    free(check->receivers);
    free(check->facts);
    free(check);
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

/// T by the rule; `otherwise` if the client does not know its players yet.
static hc_tick expected_tick(const struct scenario *scenario, unsigned client, hc_tick otherwise) {
    const struct hc_timeline *timeline = hc_server_timeline(hc_sim_host(scenario->sim));
    const struct hc_client *core = hc_sim_client(scenario->sim, client);
    hc_tick tick = hc_timeline_head(timeline);
    for (unsigned i = 0; i < hc_sim_setup(scenario->sim, client)->config.players; i++) {
        hc_player player = hc_client_player(core, i);
        if (player == HC_NO_PLAYER)
            return otherwise;
        tick = hc_tick_min(tick, hc_timeline_inputs_through(timeline, player) + 1);
    }
    return tick;
}

/// Fails the test unless the unit's newest known input is the server's.
static void check_input(const struct hc_world *world, const struct hc_timeline *timeline,
                        const struct hc_cl_received_value *unit) {
    hc_player player = hc_unit_player(world, unit->unit);
    uint8_t input[HC_INPUT_MAX];
    hc_tick known = HC_NO_TICK;
    if (player == HC_NO_PLAYER)
        return;
    bool any = hc_timeline_newest_input(timeline, player, unit->value.tick, &known, input);
    REQUIRE(unit->value.known == (any ? known : HC_NO_TICK),
            "player %u is sent as known until %u, not %u", player, unit->value.known, known);
    REQUIRE(!any || memcmp(unit->value.input, input, world->game->input_size) == 0,
            "another input of player %u at %u", player, known);
}

/// Notes the units that were sent; fails the test unless they are the server's. Returns their
/// count.
static uint32_t check_sent(struct snapshot_check *check, const struct hc_timeline *timeline,
                           const struct hc_cl_received *received, struct receiver *receiver) {
    const struct hc_world *world = check->world;
    REQUIRE(received->value_count <= FACTS_MAX, "%u units in one snapshot", received->value_count);
    for (uint32_t i = 0; i < received->value_count; i++) {
        const struct hc_cl_received_value *unit = &received->values[i];
        struct fact *fact = &check->facts[i];
        *fact = (struct fact){.tick = unit->value.tick,
                              .unit = unit->unit,
                              .sent = true,
                              .dropped = unit->dropped,
                              .correction = unit->correction};
        if (!unit->correction)
            receiver->unsent[unit->unit] = 0;
        if (unit->dropped)
            continue;
        fact->digest = digest(world, unit->unit, unit->value.presence, unit->value.states);
        REQUIRE(fact->digest == digest_at(world, timeline, unit->unit, unit->value.tick),
                "unit %u of tick %u is not the server's", unit->unit, unit->value.tick);
        if (!unit->correction)
            check_input(world, timeline, unit);
    }
    return received->value_count;
}

static bool is_sent(const struct hc_cl_received *received, hc_unit unit) {
    for (uint32_t i = 0; i < received->value_count && !received->values[i].correction; i++)
        if (received->values[i].unit == unit)
            return !received->values[i].dropped;
    return false;
}

/// Adds the units that are in view, as of the server's last update, and were not sent in their
/// turn.
static uint32_t add_unsent(struct snapshot_check *check, const struct scenario *scenario,
                           unsigned client, const struct hc_cl_received *received, uint32_t count) {
    const struct hc_timeline *timeline = hc_server_timeline(hc_sim_host(scenario->sim));
    struct receiver *receiver = &check->receivers[client];
    hc_tick tick = received->header.tick;
    for (uint32_t u = 0; u < hc_unit_total(check->world); u++) {
        hc_unit unit = (hc_unit)u;
        if (scenario_in_view(scenario, client, unit, hc_timeline_presence(timeline, tick),
                             hc_timeline_states(timeline, tick), check->world->game->view))
            receiver->in_view[unit]++;
        else
            receiver->in_view[unit] = 0;
        if (receiver->in_view[unit] <= LOOK)
            receiver->unsent[unit] = 0;
        if (receiver->in_view[unit] <= LOOK || is_sent(received, unit))
            continue;
        if (++receiver->unsent[unit] > receiver->count.unsent)
            receiver->count.unsent = receiver->unsent[unit];
        if (receiver->unsent[unit] < HC_SV_WHOLE_EVERY)
            continue; // in a crowd it may wait for a whole snapshot
        REQUIRE(count < FACTS_MAX, "too many facts");
        check->facts[count++] = (struct fact){
            .tick = tick, .unit = unit, .digest = digest_at(check->world, timeline, unit, tick)};
    }
    return count;
}

static struct receiver *receiver_of(struct snapshot_check *check, const struct scenario *scenario,
                                    unsigned client, uint32_t cid) {
    struct receiver *receiver = &check->receivers[client];
    if (receiver->reader != NULL && receiver->cid == cid)
        return receiver;
    hc_cl_snapshot_reader_destroy(receiver->reader);
    receiver->reader = hc_cl_snapshot_reader_create(
        check->world, hc_sim_setup(scenario->sim, client)->config.players);
    ck_assert_ptr_nonnull(receiver->reader);
    receiver->cid = cid;
    receiver->checked_as_of = HC_NO_TICK;
    return receiver;
}

static void host_sent(void *context, struct hc_sim *sim, unsigned client, const uint8_t *bytes,
                      size_t size) {
    struct snapshot_check *check = context;
    const struct scenario *scenario = check->scenario;
    const struct hc_timeline *timeline = hc_server_timeline(hc_sim_host(sim));
    hc_tick head = hc_timeline_head(timeline);
    struct hc_data data;
    const struct hc_cl_received *received;
    if (hc_datagram_kind(bytes, size) != HC_DATAGRAM_DATA)
        return;
    ck_assert_int_eq(hc_datagram_get_data(bytes, size, &data), HC_OK);
    ck_assert_int_eq(hc_body_begin(&check->body, data.body, data.body_size), HC_OK);
    if (hc_body_next(&check->body) != HC_MESSAGE_SNAPSHOT)
        return;
    struct receiver *receiver = receiver_of(check, scenario, client, data.cid);
    struct row *row = &receiver->rows[head % HEADS];
    REQUIRE(row->as_of != head, "two snapshots of head %u for client %u", head, client);
    enum hc_status status =
        hc_cl_snapshot_reader_read(receiver->reader, &check->body, head, &received);
    REQUIRE(status == HC_OK, "client %u: the snapshot of %u fails with %d", client, head, status);
    REQUIRE(received->header.as_of == head &&
                received->header.tick == expected_tick(scenario, client, received->header.tick),
            "client %u is shown (%u, %u) at %u", client, received->header.tick,
            received->header.as_of, head);
    uint32_t count = check_sent(check, timeline, received, receiver);
    count = add_unsent(check, scenario, client, received, count);
    free(row->facts);
    *row = (struct row){.as_of = head, .tick = received->header.tick, .count = count};
    row->facts = malloc((count + 1) * sizeof *row->facts);
    ck_assert_ptr_nonnull(row->facts);
    memcpy(row->facts, check->facts, count * sizeof *row->facts);
}

// ---- When it is applied -------------------------------------------------------------------------

static bool is_unknown(const struct hc_world *world, const struct hc_timeline *timeline,
                       hc_unit unit, hc_tick tick) {
    const uint8_t *presence = hc_timeline_presence(timeline, tick) + hc_unit_first(world, unit);
    for (uint32_t e = 0; e < hc_unit_count(world, unit); e++)
        if (presence[e] != HC_UNKNOWN)
            return false;
    return true;
}

/// Whether the client holds this; fails the test if it was sent and the client does not.
static bool check_fact(const struct snapshot_check *check, const struct hc_timeline *timeline,
                       unsigned client, const struct fact *fact) {
    if (fact->tick < hc_timeline_oldest(timeline))
        return true;
    bool same = fact->dropped
                    ? is_unknown(check->world, timeline, fact->unit, fact->tick)
                    : digest_at(check->world, timeline, fact->unit, fact->tick) == fact->digest;
    REQUIRE(same || !fact->sent, "client %u does not hold unit %u of tick %u as it was sent%s",
            client, fact->unit, fact->tick, fact->correction ? ", a correction" : "");
    return same;
}

static void client_changed(void *context, struct hc_sim *sim, unsigned client) {
    struct snapshot_check *check = context;
    const struct hc_client *core = hc_sim_client(sim, client);
    struct receiver *receiver = &check->receivers[client];
    struct snapshot_count *count = &receiver->count;
    hc_tick tick, as_of;
    if (!hc_client_snapshot(core, &tick, &as_of) || as_of == receiver->checked_as_of)
        return;
    const struct hc_timeline *timeline = hc_client_timeline(core);
    const struct row *row = &receiver->rows[as_of % HEADS];
    REQUIRE(row->as_of == as_of && row->tick == tick, "client %u: no snapshot (%u, %u) was sent",
            client, tick, as_of);
    REQUIRE(tick >= hc_timeline_oldest(timeline) && tick <= hc_timeline_head(timeline),
            "client %u does not hold tick %u", client, tick);
    bool exact = true;
    for (uint32_t i = 0; i < row->count; i++) {
        const struct fact *fact = &row->facts[i];
        exact = check_fact(check, timeline, client, fact) && exact;
        count->units += fact->sent && !fact->dropped && !fact->correction;
        count->corrections += fact->correction;
        count->dropped += fact->dropped;
    }
    receiver->checked_as_of = as_of;
    count->snapshots++;
    count->past += tick < as_of;
    count->inexact += !exact;
    *(exact ? &count->exact_us : &count->inexact_us) = hc_sim_now(sim);
}

// ---- The check ----------------------------------------------------------------------------------

struct snapshot_check *snapshot_check_create(struct scenario *scenario) {
    struct snapshot_check *check = calloc(1, sizeof *check);
    ck_assert_ptr_nonnull(check);
    check->scenario = scenario;
    check->world = record_world(scenario->record);
    check->clients = hc_sim_clients(scenario->sim);
    check->facts = calloc(FACTS_MAX, sizeof *check->facts);
    check->receivers = calloc(check->clients, sizeof *check->receivers);
    ck_assert(check->facts != NULL && check->receivers != NULL);
    for (unsigned i = 0; i < check->clients; i++) {
        struct receiver *receiver = &check->receivers[i];
        receiver->checked_as_of = HC_NO_TICK;
        receiver->in_view = calloc(hc_unit_total(check->world), sizeof *receiver->in_view);
        receiver->unsent = calloc(hc_unit_total(check->world), sizeof *receiver->unsent);
        ck_assert(receiver->in_view != NULL && receiver->unsent != NULL);
        for (unsigned n = 0; n < HEADS; n++)
            receiver->rows[n].as_of = HC_NO_TICK;
    }
    hc_sim_observe(scenario->sim,
                   &(struct hc_sim_hooks){.host_sent = host_sent, .client_changed = client_changed},
                   check);
    return check;
}

bool snapshot_check_waits(const struct snapshot_check *check, unsigned client, hc_tick as_of,
                          hc_unit unit) {
    const struct row *row = &check->receivers[client].rows[as_of % HEADS];
    REQUIRE(row->as_of == as_of, "client %u: no snapshot of head %u was sent", client, as_of);
    bool waits = !hc_sv_cadence_is_whole(row->tick);
    for (uint32_t i = 0; i < row->count && waits; i++)
        waits = row->facts[i].unit != unit || row->facts[i].correction;
    return waits;
}

struct snapshot_count snapshot_check_count(const struct snapshot_check *check, unsigned client) {
    return check->receivers[client].count;
}

void snapshot_check_restart(struct snapshot_check *check) {
    for (unsigned i = 0; i < check->clients; i++)
        check->receivers[i].count = (struct snapshot_count){.snapshots = 0};
}
