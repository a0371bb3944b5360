#include "tests/scenario/ledger.h"

#include "proto/snapshot.h"
#include "tests/oracle/plain.h"
#include "tests/scenario/require.h"

#include <stdlib.h>
#include <string.h>

struct sent_log {
    struct hc_world world;
    uint32_t history, ticks;
    size_t state_bytes, input_bytes; ///< of one tick
    hc_tick final;
    bool begun;
    uint8_t *states, *presence;               ///< rows of one tick each
    uint8_t *inputs, *roster_changes, *slots; ///< rows of one tick each
    uint64_t *hashes, *chains;
    struct hc_sv_secrets secrets;
    bool *in; ///< [players] after the controls of the newest tick entered
};

struct sent_log *ledger_create(const struct hc_sv_host_config *config, uint32_t ticks) {
    struct sent_log *sent_log = calloc(1, sizeof *sent_log);
    ck_assert_ptr_nonnull(sent_log);
    enum hc_status status = hc_world_init(&sent_log->world, config->game, config->clients,
                                          config->tick_rate, config->seed, NULL);
    ck_assert_int_eq(status, HC_OK);
    const struct hc_world *world = &sent_log->world;
    sent_log->secrets = hc_sv_host_secrets(config->secret);
    sent_log->history = config->history;
    sent_log->ticks = ticks;
    sent_log->state_bytes = (size_t)world->entities * world->stride;
    sent_log->input_bytes = (size_t)world->players * world->game->input_size;
    sent_log->states = malloc(ticks * sent_log->state_bytes);
    sent_log->presence = malloc((size_t)ticks * world->entities);
    sent_log->inputs = malloc(ticks * sent_log->input_bytes);
    sent_log->roster_changes = malloc((size_t)ticks * world->players);
    sent_log->slots = malloc((size_t)ticks * world->players);
    sent_log->hashes = calloc(ticks, sizeof(uint64_t));
    sent_log->chains = calloc(ticks, sizeof(uint64_t));
    sent_log->in = calloc(world->players, sizeof(bool));
    ck_assert(sent_log->states && sent_log->presence && sent_log->inputs &&
              sent_log->roster_changes && sent_log->slots && sent_log->hashes && sent_log->chains &&
              sent_log->in);
    return sent_log;
}

void ledger_destroy(struct sent_log *sent_log) {
    free(sent_log->states);
    free(sent_log->presence);
    free(sent_log->inputs);
    free(sent_log->roster_changes);
    free(sent_log->slots);
    free(sent_log->hashes);
    free(sent_log->chains);
    free(sent_log->in);
    hc_world_free(&sent_log->world);
    free(sent_log);
}

static void note_state(struct sent_log *sent_log, const struct hc_timeline *timeline,
                       hc_tick tick) {
    memcpy(sent_log->states + tick * sent_log->state_bytes, hc_timeline_states(timeline, tick),
           sent_log->state_bytes);
    memcpy(sent_log->presence + (size_t)tick * sent_log->world.entities,
           hc_timeline_presence(timeline, tick), sent_log->world.entities);
    sent_log->hashes[tick] = hc_timeline_hash(timeline, tick);
    if (tick > 0)
        sent_log->chains[tick] = hc_snapshot_chain(
            sent_log->secrets.chain, sent_log->chains[tick - 1], sent_log->hashes[tick]);
}

/// Enters the slots of a tick as they stand now.
static void copy_inputs(struct sent_log *sent_log, const struct hc_timeline *timeline,
                        hc_tick tick) {
    const uint16_t size = sent_log->world.game->input_size;
    const uint16_t players = sent_log->world.players;
    for (hc_player p = 0; p < players; p++) {
        enum hc_slot slot = hc_timeline_slot(timeline, p, tick);
        const uint8_t *effective = hc_timeline_effective(timeline, p, tick);
        if (slot == HC_SLOT_KNOWN)
            REQUIRE(memcmp(hc_timeline_input(timeline, p, tick), effective, size) == 0,
                    "the known input of %u at %u is not the effective one", p, tick);
        memcpy(sent_log->inputs + tick * sent_log->input_bytes + (size_t)p * size, effective, size);
        sent_log->slots[(size_t)tick * players + p] = (uint8_t)slot;
        sent_log->roster_changes[(size_t)tick * players + p] =
            (uint8_t)hc_timeline_roster(timeline, p, tick);
    }
}

/// Enters the slots of a tick that has become final. One that has left the window meanwhile was
/// copied just before, and has been forced since if it was unknown.
static void note_inputs(struct sent_log *sent_log, const struct hc_timeline *timeline,
                        hc_tick tick) {
    bool left = tick < hc_tick_back(hc_timeline_head(timeline), sent_log->history);
    if (!left)
        copy_inputs(sent_log, timeline, tick);
    for (hc_player p = 0; p < sent_log->world.players; p++) {
        size_t cell = (size_t)tick * sent_log->world.players + p;
        if (left && sent_log->in[p] && sent_log->slots[cell] == HC_SLOT_UNKNOWN)
            sent_log->slots[cell] = HC_SLOT_FORCED;
        if (sent_log->roster_changes[cell] != HC_ROSTER_NONE)
            sent_log->in[p] = sent_log->roster_changes[cell] == HC_ROSTER_JOIN;
    }
}

void ledger_expect(struct sent_log *sent_log, const struct hc_sv_host *host) {
    const struct hc_timeline *timeline = hc_sv_host_timeline(host);
    hc_tick head = hc_timeline_head(timeline);
    if (sent_log->history > 0 && head >= sent_log->history)
        copy_inputs(sent_log, timeline, head - sent_log->history);
}

/// Fails the test if an old final tick, still in the ring, is not what it was.
static void check_unchanged(const struct sent_log *sent_log, const struct hc_timeline *timeline) {
    hc_tick oldest = hc_timeline_oldest(timeline);
    for (hc_tick tick = oldest; tick <= sent_log->final; tick++)
        REQUIRE(hc_timeline_hash(timeline, tick) == sent_log->hashes[tick],
                "tick %u changed although %u was final", tick, sent_log->final);
}

void ledger_note(struct sent_log *sent_log, const struct hc_sv_host *host) {
    const struct hc_timeline *timeline = hc_sv_host_timeline(host);
    uint64_t chain;
    hc_tick final = hc_sv_host_final(host, &chain), head = hc_timeline_head(timeline);
    REQUIRE(final < sent_log->ticks, "too long a play");
    REQUIRE(final <= head && final >= hc_tick_back(head, sent_log->history), "final %u at head %u",
            final, head);
    if (sent_log->begun) {
        REQUIRE(final >= sent_log->final, "final went from %u to %u", sent_log->final, final);
        check_unchanged(sent_log, timeline);
    }
    hc_tick first = sent_log->begun ? sent_log->final + 1 : 0;
    for (hc_tick tick = first; tick <= final; tick++) {
        note_state(sent_log, timeline, tick);
        if (tick > 0 && sent_log->history > 0)
            note_inputs(sent_log, timeline, tick - 1);
    }
    sent_log->begun = true;
    sent_log->final = final;
    REQUIRE(chain == sent_log->chains[final], "another chain hash at tick %u", final);
}

const struct hc_world *ledger_world(const struct sent_log *sent_log) {
    return &sent_log->world;
}

hc_tick ledger_final(const struct sent_log *sent_log) {
    return sent_log->final;
}

const uint8_t *ledger_states(const struct sent_log *sent_log, hc_tick tick) {
    REQUIRE(tick <= sent_log->final, "tick %u is not final", tick);
    return sent_log->states + tick * sent_log->state_bytes;
}

const uint8_t *ledger_presence(const struct sent_log *sent_log, hc_tick tick) {
    REQUIRE(tick <= sent_log->final, "tick %u is not final", tick);
    return sent_log->presence + (size_t)tick * sent_log->world.entities;
}

uint64_t ledger_hash(const struct sent_log *sent_log, hc_tick tick) {
    REQUIRE(tick <= sent_log->final, "tick %u is not final", tick);
    return sent_log->hashes[tick];
}

const uint8_t *ledger_secret(const struct sent_log *sent_log) {
    return sent_log->secrets.world;
}

uint64_t ledger_chain(const struct sent_log *sent_log, hc_tick tick) {
    REQUIRE(tick <= sent_log->final, "tick %u is not final", tick);
    return sent_log->chains[tick];
}

const uint8_t *ledger_inputs(const struct sent_log *sent_log, hc_tick tick) {
    REQUIRE(sent_log->history > 0, "no inputs are kept");
    REQUIRE(tick < sent_log->final, "slot %u is not final", tick);
    return sent_log->inputs + tick * sent_log->input_bytes;
}

const uint8_t *ledger_controls(const struct sent_log *sent_log, hc_tick tick) {
    REQUIRE(sent_log->history > 0, "no inputs are kept");
    REQUIRE(tick < sent_log->final, "slot %u is not final", tick);
    return sent_log->roster_changes + (size_t)tick * sent_log->world.players;
}

enum hc_slot ledger_slot(const struct sent_log *sent_log, hc_player player, hc_tick tick) {
    REQUIRE(sent_log->history > 0, "no inputs are kept");
    REQUIRE(tick < sent_log->final, "slot %u is not final", tick);
    return (enum hc_slot)sent_log->slots[(size_t)tick * sent_log->world.players + player];
}

uint32_t ledger_forced(const struct sent_log *sent_log, hc_player player, hc_tick first,
                       hc_tick end) {
    uint32_t forced = 0;
    for (hc_tick tick = first; tick < end; tick++)
        forced += ledger_slot(sent_log, player, tick) == HC_SLOT_FORCED;
    return forced;
}

void ledger_check_plain(const struct sent_log *sent_log) {
    const struct hc_world *world = &sent_log->world;
    struct hc_plain *plain = hc_plain_create(world, false);
    ck_assert_ptr_nonnull(plain);
    hc_plain_set_secret(plain, sent_log->secrets.world);
    hc_plain_start(plain);
    for (hc_tick tick = 0;; tick++) {
        REQUIRE(memcmp(hc_plain_presence(plain), ledger_presence(sent_log, tick),
                       world->entities) == 0 &&
                    memcmp(hc_plain_states(plain), ledger_states(sent_log, tick),
                           sent_log->state_bytes) == 0,
                "the server's tick %u is not that of the plain simulation", tick);
        if (tick == sent_log->final)
            break;
        hc_plain_step(plain, ledger_inputs(sent_log, tick), ledger_controls(sent_log, tick));
    }
    hc_plain_destroy(plain);
}
