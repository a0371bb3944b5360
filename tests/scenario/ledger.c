#include "tests/scenario/ledger.h"

#include "proto/snapshot.h"
#include "tests/oracle/plain.h"
#include "tests/scenario/require.h"

#include <stdlib.h>
#include <string.h>

struct ledger {
    struct hc_world world;
    uint32_t history, ticks;
    size_t state_bytes, input_bytes; ///< of one tick
    hc_tick final;
    bool begun;
    uint8_t *states, *presence;         ///< rows of one tick each
    uint8_t *inputs, *controls, *slots; ///< rows of one tick each
    uint64_t *hashes, *chains;
    struct hc_sv_secrets secrets;
    bool *in; ///< [players] after the controls of the newest tick entered
};

struct ledger *ledger_create(const struct hc_sv_host_config *config, uint32_t ticks) {
    struct ledger *ledger = calloc(1, sizeof *ledger);
    ck_assert_ptr_nonnull(ledger);
    enum hc_status status = hc_world_init(&ledger->world, config->game, config->clients,
                                          config->tick_rate, config->seed, NULL);
    ck_assert_int_eq(status, HC_OK);
    const struct hc_world *world = &ledger->world;
    ledger->secrets = hc_sv_host_secrets(config->secret);
    ledger->history = config->history;
    ledger->ticks = ticks;
    ledger->state_bytes = (size_t)world->entities * world->stride;
    ledger->input_bytes = (size_t)world->players * world->game->input_size;
    ledger->states = malloc(ticks * ledger->state_bytes);
    ledger->presence = malloc((size_t)ticks * world->entities);
    ledger->inputs = malloc(ticks * ledger->input_bytes);
    ledger->controls = malloc((size_t)ticks * world->players);
    ledger->slots = malloc((size_t)ticks * world->players);
    ledger->hashes = calloc(ticks, sizeof(uint64_t));
    ledger->chains = calloc(ticks, sizeof(uint64_t));
    ledger->in = calloc(world->players, sizeof(bool));
    ck_assert(ledger->states && ledger->presence && ledger->inputs && ledger->controls &&
              ledger->slots && ledger->hashes && ledger->chains && ledger->in);
    return ledger;
}

void ledger_destroy(struct ledger *ledger) {
    free(ledger->states);
    free(ledger->presence);
    free(ledger->inputs);
    free(ledger->controls);
    free(ledger->slots);
    free(ledger->hashes);
    free(ledger->chains);
    free(ledger->in);
    hc_world_free(&ledger->world);
    free(ledger);
}

static void note_state(struct ledger *ledger, const struct hc_timeline *timeline, hc_tick tick) {
    memcpy(ledger->states + tick * ledger->state_bytes, hc_timeline_states(timeline, tick),
           ledger->state_bytes);
    memcpy(ledger->presence + (size_t)tick * ledger->world.entities,
           hc_timeline_presence(timeline, tick), ledger->world.entities);
    ledger->hashes[tick] = hc_timeline_hash(timeline, tick);
    if (tick > 0)
        ledger->chains[tick] = hc_snapshot_chain(ledger->secrets.chain, ledger->chains[tick - 1],
                                                 ledger->hashes[tick]);
}

/// Enters the slots of a tick as they stand now.
static void copy_inputs(struct ledger *ledger, const struct hc_timeline *timeline, hc_tick tick) {
    const uint16_t size = ledger->world.game->input_size;
    const uint16_t players = ledger->world.players;
    for (hc_player p = 0; p < players; p++) {
        enum hc_slot slot = hc_timeline_slot(timeline, p, tick);
        const uint8_t *effective = hc_timeline_effective(timeline, p, tick);
        if (slot == HC_SLOT_KNOWN)
            REQUIRE(memcmp(hc_timeline_input(timeline, p, tick), effective, size) == 0,
                    "the known input of %u at %u is not the effective one", p, tick);
        memcpy(ledger->inputs + tick * ledger->input_bytes + (size_t)p * size, effective, size);
        ledger->slots[(size_t)tick * players + p] = (uint8_t)slot;
        ledger->controls[(size_t)tick * players + p] =
            (uint8_t)hc_timeline_control(timeline, p, tick);
    }
}

/// Enters the slots of a tick that has become final. One that has left the window meanwhile was
/// copied just before, and has been forced since if it was unknown.
static void note_inputs(struct ledger *ledger, const struct hc_timeline *timeline, hc_tick tick) {
    bool left = tick < hc_tick_back(hc_timeline_head(timeline), ledger->history);
    if (!left)
        copy_inputs(ledger, timeline, tick);
    for (hc_player p = 0; p < ledger->world.players; p++) {
        size_t cell = (size_t)tick * ledger->world.players + p;
        if (left && ledger->in[p] && ledger->slots[cell] == HC_SLOT_UNKNOWN)
            ledger->slots[cell] = HC_SLOT_FORCED;
        if (ledger->controls[cell] != HC_CONTROL_NONE)
            ledger->in[p] = ledger->controls[cell] == HC_CONTROL_JOIN;
    }
}

void ledger_expect(struct ledger *ledger, const struct hc_sv_host *host) {
    const struct hc_timeline *timeline = hc_sv_host_timeline(host);
    hc_tick head = hc_timeline_head(timeline);
    if (ledger->history > 0 && head >= ledger->history)
        copy_inputs(ledger, timeline, head - ledger->history);
}

/// Fails the test if an old final tick, still in the ring, is not what it was.
static void check_unchanged(const struct ledger *ledger, const struct hc_timeline *timeline) {
    hc_tick oldest = hc_timeline_oldest(timeline);
    for (hc_tick tick = oldest; tick <= ledger->final; tick++)
        REQUIRE(hc_timeline_hash(timeline, tick) == ledger->hashes[tick],
                "tick %u changed although %u was final", tick, ledger->final);
}

void ledger_note(struct ledger *ledger, const struct hc_sv_host *host) {
    const struct hc_timeline *timeline = hc_sv_host_timeline(host);
    uint64_t chain;
    hc_tick final = hc_sv_host_final(host, &chain), head = hc_timeline_head(timeline);
    REQUIRE(final < ledger->ticks, "too long a play");
    REQUIRE(final <= head && final >= hc_tick_back(head, ledger->history), "final %u at head %u",
            final, head);
    if (ledger->begun) {
        REQUIRE(final >= ledger->final, "final went from %u to %u", ledger->final, final);
        check_unchanged(ledger, timeline);
    }
    hc_tick first = ledger->begun ? ledger->final + 1 : 0;
    for (hc_tick tick = first; tick <= final; tick++) {
        note_state(ledger, timeline, tick);
        if (tick > 0 && ledger->history > 0)
            note_inputs(ledger, timeline, tick - 1);
    }
    ledger->begun = true;
    ledger->final = final;
    REQUIRE(chain == ledger->chains[final], "another chain hash at tick %u", final);
}

const struct hc_world *ledger_world(const struct ledger *ledger) {
    return &ledger->world;
}

hc_tick ledger_final(const struct ledger *ledger) {
    return ledger->final;
}

const uint8_t *ledger_states(const struct ledger *ledger, hc_tick tick) {
    REQUIRE(tick <= ledger->final, "tick %u is not final", tick);
    return ledger->states + tick * ledger->state_bytes;
}

const uint8_t *ledger_presence(const struct ledger *ledger, hc_tick tick) {
    REQUIRE(tick <= ledger->final, "tick %u is not final", tick);
    return ledger->presence + (size_t)tick * ledger->world.entities;
}

uint64_t ledger_hash(const struct ledger *ledger, hc_tick tick) {
    REQUIRE(tick <= ledger->final, "tick %u is not final", tick);
    return ledger->hashes[tick];
}

const uint8_t *ledger_secret(const struct ledger *ledger) {
    return ledger->secrets.world;
}

uint64_t ledger_chain(const struct ledger *ledger, hc_tick tick) {
    REQUIRE(tick <= ledger->final, "tick %u is not final", tick);
    return ledger->chains[tick];
}

const uint8_t *ledger_inputs(const struct ledger *ledger, hc_tick tick) {
    REQUIRE(ledger->history > 0, "no inputs are kept");
    REQUIRE(tick < ledger->final, "slot %u is not final", tick);
    return ledger->inputs + tick * ledger->input_bytes;
}

const uint8_t *ledger_controls(const struct ledger *ledger, hc_tick tick) {
    REQUIRE(ledger->history > 0, "no inputs are kept");
    REQUIRE(tick < ledger->final, "slot %u is not final", tick);
    return ledger->controls + (size_t)tick * ledger->world.players;
}

enum hc_slot ledger_slot(const struct ledger *ledger, hc_player player, hc_tick tick) {
    REQUIRE(ledger->history > 0, "no inputs are kept");
    REQUIRE(tick < ledger->final, "slot %u is not final", tick);
    return (enum hc_slot)ledger->slots[(size_t)tick * ledger->world.players + player];
}

uint32_t ledger_forced(const struct ledger *ledger, hc_player player, hc_tick first, hc_tick end) {
    uint32_t forced = 0;
    for (hc_tick tick = first; tick < end; tick++)
        forced += ledger_slot(ledger, player, tick) == HC_SLOT_FORCED;
    return forced;
}

void ledger_check_plain(const struct ledger *ledger) {
    const struct hc_world *world = &ledger->world;
    struct hc_plain *plain = hc_plain_create(world, false);
    ck_assert_ptr_nonnull(plain);
    hc_plain_set_secret(plain, ledger->secrets.world);
    hc_plain_start(plain);
    for (hc_tick tick = 0;; tick++) {
        REQUIRE(
            memcmp(hc_plain_presence(plain), ledger_presence(ledger, tick), world->entities) == 0 &&
                memcmp(hc_plain_states(plain), ledger_states(ledger, tick), ledger->state_bytes) ==
                    0,
            "the server's tick %u is not that of the plain simulation", tick);
        if (tick == ledger->final)
            break;
        hc_plain_step(plain, ledger_inputs(ledger, tick), ledger_controls(ledger, tick));
    }
    hc_plain_destroy(plain);
}
