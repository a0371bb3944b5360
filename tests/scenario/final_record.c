/// Rows of final ticks, copied from the host's timeline.
#include "tests/scenario/final_record.h"

#include "proto/snapshot.h"
#include "check/plain.h"
#include "tests/scenario/require.h"

#include <stdlib.h>
#include <string.h>

struct final_record {
    struct hc_world world;
    uint32_t history, ticks;
    size_t state_bytes, input_bytes; ///< of one tick
    hc_tick final;
    bool begun;
    uint8_t *states, *presence;               ///< rows of one tick each
    uint8_t *inputs, *roster_changes, *slots; ///< rows of one tick each
    uint64_t *hashes, *chains;
    struct hc_sv_secrets secrets;
    bool *in; ///< [players] after the roster changes of the newest recorded tick
};

struct final_record *record_create(const struct hc_server_config *config, uint32_t ticks) {
    struct final_record *record = calloc(1, sizeof *record);
    ck_assert_ptr_nonnull(record);
    enum hc_status status = hc_world_init(&record->world, config->game, config->clients,
                                          config->tick_rate, config->seed, NULL);
    ck_assert_int_eq(status, HC_OK);
    const struct hc_world *world = &record->world;
    record->secrets = hc_sv_host_secrets(config->secret);
    record->history = config->history;
    record->ticks = ticks;
    record->state_bytes = (size_t)world->entities * world->stride;
    record->input_bytes = (size_t)world->players * world->game->input_size;
    record->states = malloc(ticks * record->state_bytes);
    record->presence = malloc((size_t)ticks * world->entities);
    record->inputs = malloc(ticks * record->input_bytes);
    record->roster_changes = malloc((size_t)ticks * world->players);
    record->slots = malloc((size_t)ticks * world->players);
    record->hashes = calloc(ticks, sizeof(uint64_t));
    record->chains = calloc(ticks, sizeof(uint64_t));
    record->in = calloc(world->players, sizeof(bool));
    ck_assert(record->states && record->presence && record->inputs && record->roster_changes &&
              record->slots && record->hashes && record->chains && record->in);
    return record;
}

void record_destroy(struct final_record *record) {
    free(record->states);
    free(record->presence);
    free(record->inputs);
    free(record->roster_changes);
    free(record->slots);
    free(record->hashes);
    free(record->chains);
    free(record->in);
    hc_world_free(&record->world);
    free(record);
}

static void note_state(struct final_record *record, const struct hc_timeline *timeline,
                       hc_tick tick) {
    memcpy(record->states + tick * record->state_bytes, hc_timeline_states(timeline, tick),
           record->state_bytes);
    memcpy(record->presence + (size_t)tick * record->world.entities,
           hc_timeline_presence(timeline, tick), record->world.entities);
    record->hashes[tick] = hc_timeline_hash(timeline, tick);
    if (tick > 0)
        record->chains[tick] = hc_snapshot_chain(record->secrets.chain, record->chains[tick - 1],
                                                 record->hashes[tick]);
}

/// Copies the slots of a tick.
static void copy_inputs(struct final_record *record, const struct hc_timeline *timeline,
                        hc_tick tick) {
    const uint16_t size = record->world.game->input_size;
    const uint16_t players = record->world.players;
    for (hc_player p = 0; p < players; p++) {
        enum hc_slot slot = hc_timeline_slot(timeline, p, tick);
        const uint8_t *effective = hc_timeline_effective(timeline, p, tick);
        if (slot == HC_SLOT_KNOWN)
            REQUIRE(memcmp(hc_timeline_input(timeline, p, tick), effective, size) == 0,
                    "the known input of %u at %u is not the effective one", p, tick);
        memcpy(record->inputs + tick * record->input_bytes + (size_t)p * size, effective, size);
        record->slots[(size_t)tick * players + p] = (uint8_t)slot;
        record->roster_changes[(size_t)tick * players + p] =
            (uint8_t)hc_timeline_roster(timeline, p, tick);
    }
}

/// Records the slots of a tick that has become final. A slot that has left the window was copied
/// before, and was then forced if it was unknown.
static void note_inputs(struct final_record *record, const struct hc_timeline *timeline,
                        hc_tick tick) {
    bool left = tick < hc_tick_back(hc_timeline_head(timeline), record->history);
    if (!left)
        copy_inputs(record, timeline, tick);
    for (hc_player p = 0; p < record->world.players; p++) {
        size_t cell = (size_t)tick * record->world.players + p;
        if (left && record->in[p] && record->slots[cell] == HC_SLOT_UNKNOWN)
            record->slots[cell] = HC_SLOT_FORCED;
        if (record->roster_changes[cell] != HC_ROSTER_NONE)
            record->in[p] = record->roster_changes[cell] == HC_ROSTER_JOIN;
    }
}

void record_before_advance(struct final_record *record, const struct hc_server *host) {
    const struct hc_timeline *timeline = hc_server_timeline(host);
    hc_tick head = hc_timeline_head(timeline);
    if (record->history > 0 && head >= record->history)
        copy_inputs(record, timeline, head - record->history);
}

/// Fails the test if an old final tick in the ring has changed.
static void check_unchanged(const struct final_record *record, const struct hc_timeline *timeline) {
    hc_tick oldest = hc_timeline_oldest(timeline);
    for (hc_tick tick = oldest; tick <= record->final; tick++)
        REQUIRE(hc_timeline_hash(timeline, tick) == record->hashes[tick],
                "tick %u changed although %u was final", tick, record->final);
}

void record_final_ticks(struct final_record *record, const struct hc_server *host) {
    const struct hc_timeline *timeline = hc_server_timeline(host);
    uint64_t chain;
    hc_tick final = hc_sv_host_final(host, &chain), head = hc_timeline_head(timeline);
    REQUIRE(final < record->ticks, "the scenario is too long");
    REQUIRE(final <= head && final >= hc_tick_back(head, record->history), "final %u at head %u",
            final, head);
    if (record->begun) {
        REQUIRE(final >= record->final, "final went from %u to %u", record->final, final);
        check_unchanged(record, timeline);
    }
    hc_tick first = record->begun ? record->final + 1 : 0;
    for (hc_tick tick = first; tick <= final; tick++) {
        note_state(record, timeline, tick);
        if (tick > 0 && record->history > 0)
            note_inputs(record, timeline, tick - 1);
    }
    record->begun = true;
    record->final = final;
    REQUIRE(chain == record->chains[final], "another chain hash at tick %u", final);
}

const struct hc_world *record_world(const struct final_record *record) {
    return &record->world;
}

hc_tick record_final(const struct final_record *record) {
    return record->final;
}

const uint8_t *record_states(const struct final_record *record, hc_tick tick) {
    REQUIRE(tick <= record->final, "tick %u is not final", tick);
    return record->states + tick * record->state_bytes;
}

const uint8_t *record_presence(const struct final_record *record, hc_tick tick) {
    REQUIRE(tick <= record->final, "tick %u is not final", tick);
    return record->presence + (size_t)tick * record->world.entities;
}

uint64_t record_hash(const struct final_record *record, hc_tick tick) {
    REQUIRE(tick <= record->final, "tick %u is not final", tick);
    return record->hashes[tick];
}

const uint8_t *record_secret(const struct final_record *record) {
    return record->secrets.world;
}

uint64_t record_chain(const struct final_record *record, hc_tick tick) {
    REQUIRE(tick <= record->final, "tick %u is not final", tick);
    return record->chains[tick];
}

const uint8_t *record_inputs(const struct final_record *record, hc_tick tick) {
    REQUIRE(record->history > 0, "no inputs are stored");
    REQUIRE(tick < record->final, "slot %u is not final", tick);
    return record->inputs + tick * record->input_bytes;
}

const uint8_t *record_roster_changes(const struct final_record *record, hc_tick tick) {
    REQUIRE(record->history > 0, "no inputs are stored");
    REQUIRE(tick < record->final, "slot %u is not final", tick);
    return record->roster_changes + (size_t)tick * record->world.players;
}

enum hc_slot record_slot(const struct final_record *record, hc_player player, hc_tick tick) {
    REQUIRE(record->history > 0, "no inputs are stored");
    REQUIRE(tick < record->final, "slot %u is not final", tick);
    return (enum hc_slot)record->slots[(size_t)tick * record->world.players + player];
}

uint32_t record_count_forced(const struct final_record *record, hc_player player, hc_tick first,
                             hc_tick end) {
    uint32_t forced = 0;
    for (hc_tick tick = first; tick < end; tick++)
        forced += record_slot(record, player, tick) == HC_SLOT_FORCED;
    return forced;
}

void record_check_plain(const struct final_record *record) {
    const struct hc_world *world = &record->world;
    struct hc_plain *plain = hc_plain_create(world, false);
    ck_assert_ptr_nonnull(plain);
    hc_plain_set_secret(plain, record->secrets.world);
    hc_plain_start(plain);
    for (hc_tick tick = 0;; tick++) {
        REQUIRE(
            memcmp(hc_plain_presence(plain), record_presence(record, tick), world->entities) == 0 &&
                memcmp(hc_plain_states(plain), record_states(record, tick), record->state_bytes) ==
                    0,
            "the server's tick %u differs from the plain simulation's", tick);
        if (tick == record->final)
            break;
        hc_plain_step(plain, record_inputs(record, tick), record_roster_changes(record, tick));
    }
    hc_plain_destroy(plain);
}
