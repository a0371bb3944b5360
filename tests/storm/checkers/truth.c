/// Checks that the server's final ticks are those of a plain simulation.
#include "tests/storm/checkers/truth.h"

#include "common/input_fields.h"
#include "hindcast/arena.h"
#include "proto/snapshot.h"
#include "check/plain.h"
#include "tests/storm/checkers/checker.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { CHANGES_MAX = 512 };

/// A roster change that the server has stamped.
struct change {
    hc_tick tick;
    hc_player player;
    bool join;
    const struct storm_conn *conn;
};

/// A player slot, as of the newest event and as of the newest final tick.
struct slot {
    bool wanted, leaving, in; ///< as of now: it is to join, is to leave, has joined
    uint32_t cid;             ///< of its owner
    const struct storm_conn *conn;
    bool inherited; ///< the next owner joins a tick after the leave
    uint32_t next_owner_cid;
    const struct storm_conn *next_owner;
    bool final_in;
    bool has_base;
    hc_tick base; ///< newest known input since the join
    uint8_t base_input[HC_INPUT_MAX];
    const struct storm_conn *final_conn;
};

struct storm_truth {
    struct storm_conns *conns;
    struct storm_verdict *verdict;
    struct hc_world world;
    struct hc_plain *plain;
    bool deep;
    uint32_t history, ticks_per_advance;
    hc_tick final, head;
    hc_tick changed; ///< newest final tick whose inputs may change what is shown of later ones
    struct slot *players;
    struct change changes[CHANGES_MAX];
    unsigned change_first, change_end;
    uint8_t *inputs, *roster_changes; ///< of the step that is being taken
    // By tick.
    uint8_t *slots; ///< [STORM_TICKS_MAX][players] enum hc_slot
    uint8_t *known; ///< [STORM_TICKS_MAX][players][input_size] of those that are known
    struct hc_sv_secrets secrets;
    uint16_t *well;   ///< [players] 1 + its match while it lives, else 0
    hc_tick appeared; ///< newest tick at which a player appeared where no client could predict
    uint64_t *chain;  ///< [STORM_TICKS_MAX]
    uint64_t *digest;
    uint64_t *units;            ///< [STORM_TICKS_MAX][units]
    uint8_t *states, *presence; ///< [STORM_TICKS_MAX] worlds; deep only
};

uint64_t storm_world_digest(const struct hc_world *world, const uint8_t *presence,
                            const uint8_t *states) {
    uint64_t digest = XXH64(presence, world->entities, 0);
    return XXH64(states, (size_t)world->entities * world->stride, digest);
}

static size_t state_bytes(const struct storm_truth *truth) {
    return (size_t)truth->world.entities * truth->world.stride;
}

/// Looks for players that appear at the newest tick of the plain simulation.
static void note_appearances(struct storm_truth *truth, hc_tick tick) {
    const struct hc_world *world = &truth->world;
    if (world->game->kinds[world->kind_of[1]].state_size < sizeof(struct hc_arena_player))
        return; // another game
    for (hc_player p = 0; p < world->players; p++) {
        hc_entity entity = hc_world_player(world, p);
        const struct hc_arena_player *player =
            (const void *)(hc_plain_states(truth->plain) + (size_t)entity * world->stride);
        bool well = hc_plain_presence(truth->plain)[entity] == HC_ALIVE && player->health > 0;
        uint16_t now = well ? (uint16_t)(1 + player->match) : 0;
        if (now != 0 && now != truth->well[p])
            truth->appeared = tick;
        truth->well[p] = now;
    }
}

/// Enters the newest tick of the plain simulation.
static void enter(struct storm_truth *truth, hc_tick tick) {
    const uint8_t *presence = hc_plain_presence(truth->plain);
    const uint8_t *states = hc_plain_states(truth->plain);
    note_appearances(truth, tick);
    truth->digest[tick] = storm_world_digest(&truth->world, presence, states);
    uint32_t units = hc_unit_total(&truth->world);
    for (uint32_t u = 0; u < units; u++)
        truth->units[(size_t)tick * units + u] =
            storm_unit_digest(&truth->world, (hc_unit)u, presence, states);
    if (tick > 0)
        truth->chain[tick] = hc_snapshot_chain(truth->secrets.chain, truth->chain[tick - 1],
                                               storm_world_hash(&truth->world, presence, states));
    if (truth->deep) {
        memcpy(truth->states + tick * state_bytes(truth), states, state_bytes(truth));
        memcpy(truth->presence + (size_t)tick * truth->world.entities, presence,
               truth->world.entities);
    }
}

struct storm_truth *storm_truth_create(const struct hc_sim_config *sim, bool deep,
                                       struct storm_conns *conns, struct storm_verdict *verdict) {
    const struct hc_server_config *config = &sim->host;
    struct storm_truth *truth = calloc(1, sizeof *truth);
    if (truth == NULL || hc_world_init(&truth->world, config->game, config->clients,
                                       config->tick_rate, config->seed, NULL) != HC_OK) {
        free(truth);
        return NULL;
    }
    size_t players = truth->world.players, size = config->game->input_size;
    truth->conns = conns;
    truth->verdict = verdict;
    truth->deep = deep;
    truth->secrets = hc_sv_host_secrets(config->secret);
    truth->history = config->history;
    truth->ticks_per_advance = sim->host_test.ticks_per_advance;
    truth->plain = hc_plain_create(&truth->world, false);
    truth->players = calloc(players, sizeof *truth->players);
    truth->inputs = calloc(players, size);
    truth->well = calloc(players, sizeof *truth->well);
    truth->roster_changes = calloc(players, 1);
    truth->slots = calloc(STORM_TICKS_MAX, players);
    truth->known = calloc(STORM_TICKS_MAX, players * size);
    truth->chain = calloc(STORM_TICKS_MAX, sizeof *truth->chain);
    truth->digest = calloc(STORM_TICKS_MAX, sizeof *truth->digest);
    truth->units = malloc(STORM_TICKS_MAX * hc_unit_total(&truth->world) * sizeof *truth->units);
    truth->states = deep ? calloc(STORM_TICKS_MAX, state_bytes(truth)) : NULL;
    truth->presence = deep ? calloc(STORM_TICKS_MAX, truth->world.entities) : NULL;
    if (truth->plain == NULL || truth->players == NULL || truth->inputs == NULL ||
        truth->well == NULL || truth->roster_changes == NULL || truth->slots == NULL ||
        truth->known == NULL || truth->chain == NULL || truth->digest == NULL ||
        truth->units == NULL || (deep && (truth->states == NULL || truth->presence == NULL))) {
        storm_truth_destroy(truth);
        return NULL;
    }
    hc_plain_set_secret(truth->plain, truth->secrets.world);
    hc_plain_start(truth->plain);
    enter(truth, 0);
    return truth;
}

void storm_truth_destroy(struct storm_truth *truth) {
    if (truth == NULL)
        return;
    hc_plain_destroy(truth->plain);
    hc_world_free(&truth->world);
    free(truth->players);
    free(truth->inputs);
    free(truth->well);
    free(truth->roster_changes);
    free(truth->slots);
    free(truth->known);
    free(truth->chain);
    free(truth->digest);
    free(truth->units);
    free(truth->states);
    free(truth->presence);
    free(truth);
}

bool storm_truth_leaves(const struct storm_truth *truth, hc_player player) {
    return player < truth->world.players && truth->players[player].leaving;
}

static void take_event(struct storm_truth *truth, const struct hc_server_event *event,
                       const struct storm_conn *conn) {
    for (unsigned i = 0; i < event->player_count; i++) {
        hc_player player = event->players[i];
        if (player >= truth->world.players) {
            storm_fail(truth->verdict, STORM_WRONG, "events", truth->head, "there is no player %u",
                       player);
            return;
        }
        struct slot *slot = &truth->players[player];
        if (event->kind == HC_SERVER_EVENT_RECONNECTED) {
            bool next_owner = slot->inherited && slot->next_owner_cid == event->before;
            *(next_owner ? &slot->next_owner_cid : &slot->cid) = event->cid;
            *(next_owner ? &slot->next_owner : &slot->conn) = conn;
            if (slot->final_conn != NULL && slot->final_conn->cid == event->before)
                slot->final_conn = conn;
            for (unsigned c = truth->change_first; c < truth->change_end; c++) {
                struct change *change = &truth->changes[c % CHANGES_MAX];
                if (change->conn != NULL && change->conn->cid == event->before)
                    change->conn = conn; // its join is not final yet
            }
        } else if (event->kind == HC_SERVER_EVENT_LOST) {
            continue; // its players linger
        } else if (event->kind != HC_SERVER_EVENT_JOINED) {
            if (slot->inherited && slot->next_owner_cid == event->cid)
                slot->inherited = false;
            else
                slot->leaving = true;
        } else if (slot->leaving && !slot->inherited) {
            slot->inherited = true;
            slot->next_owner_cid = event->cid;
            slot->next_owner = conn;
        } else if (!slot->wanted) {
            slot->wanted = true;
            slot->cid = event->cid;
            slot->conn = conn;
        } else {
            storm_fail(truth->verdict, STORM_WRONG, "events", truth->head,
                       "player %u is given to two clients", player);
        }
    }
}

/// Looks at the slots of `tick` as they stand now.
static void capture(struct storm_truth *truth, const struct hc_timeline *timeline, hc_tick tick) {
    hc_player players = truth->world.players;
    size_t size = truth->world.game->input_size;
    for (hc_player p = 0; p < players; p++) {
        enum hc_slot slot = hc_timeline_slot(timeline, p, tick);
        size_t cell = (size_t)tick * players + p;
        if (truth->deep && truth->slots[cell] == HC_SLOT_KNOWN && slot == HC_SLOT_KNOWN &&
            memcmp(truth->known + cell * size, hc_timeline_input(timeline, p, tick), size) != 0)
            storm_fail(truth->verdict, STORM_WRONG, "rewritten", tick,
                       "the known input of player %u at %u was rewritten", p, tick);
        truth->slots[cell] = (uint8_t)slot;
        if (slot == HC_SLOT_KNOWN)
            memcpy(truth->known + cell * size, hc_timeline_input(timeline, p, tick), size);
    }
}

/// Fails when a final tick has changed.
static void check_unchanged(struct storm_truth *truth, const struct hc_timeline *timeline,
                            hc_tick tick) {
    struct storm_state held = {hc_timeline_presence(timeline, tick),
                               hc_timeline_states(timeline, tick)};
    if (storm_world_digest(&truth->world, held.presence, held.states) == truth->digest[tick])
        return;
    if (truth->deep)
        storm_fail_worlds(truth->verdict, "final", tick, &truth->world, "a final tick has changed",
                          held, storm_truth_state(truth, tick));
    storm_fail(truth->verdict, STORM_WRONG, "final", tick, "tick %u changed although %u was final",
               tick, truth->final);
}

static void expect(struct storm_truth *truth, const struct hc_server *host, uint64_t now_us) {
    const struct hc_timeline *timeline = hc_server_timeline(host);
    hc_tick head = hc_timeline_head(timeline), oldest = hc_timeline_oldest(timeline);
    // A late server does several ticks at once, without a look at the slots in between.
    uint64_t due = hc_server_deadline(host);
    bool late = now_us > due && now_us - due > 1000;
    hc_tick count = late ? truth->ticks_per_advance : 1;
    hc_tick first = hc_tick_back(head, truth->history), end = first + count;
    if (truth->deep)
        end = hc_tick_max(end, head + 1);
    for (hc_tick t = first; t < end && t < STORM_TICKS_MAX; t++)
        capture(truth, timeline, t);
    for (hc_tick t = oldest; t <= truth->final && (truth->deep || t < oldest + count); t++)
        check_unchanged(truth, timeline, t);
}

static void add_change(struct storm_truth *truth, hc_tick tick, hc_player player, bool join) {
    struct slot *slot = &truth->players[player];
    if (truth->change_end - truth->change_first == CHANGES_MAX) {
        storm_fail(truth->verdict, STORM_WRONG, "events", tick, "too many joins");
        return;
    }
    truth->changes[truth->change_end++ % CHANGES_MAX] =
        (struct change){.tick = tick, .player = player, .join = join, .conn = slot->conn};
    slot->in = join;
    // A leave discards all inputs of later ticks, also if the next owner joins at once.
    for (hc_tick t = tick + 1; !join && t < STORM_TICKS_MAX; t++)
        truth->slots[(size_t)t * truth->world.players + player] = HC_SLOT_UNKNOWN;
}

/// Joins and leaves are stamped with the head at which they became due; the next owner of a slot
/// joins in the tick after the leave.
static void stamp(struct storm_truth *truth, hc_tick head) {
    for (hc_player p = 0; p < truth->world.players; p++) {
        struct slot *slot = &truth->players[p];
        if (slot->leaving) {
            if (slot->in)
                add_change(truth, head, p, false);
            slot->leaving = false;
            slot->wanted = slot->inherited;
            slot->cid = slot->next_owner_cid;
            slot->conn = slot->next_owner;
            slot->inherited = false;
        } else if (slot->wanted && !slot->in) {
            add_change(truth, head, p, true);
        }
    }
}

/// Takes the joins and leaves of `tick` off the queue.
static void take_changes(struct storm_truth *truth, hc_tick tick) {
    memset(truth->roster_changes, HC_ROSTER_NONE, truth->world.players);
    while (truth->change_first < truth->change_end) {
        const struct change *change = &truth->changes[truth->change_first % CHANGES_MAX];
        if (change->tick != tick)
            return;
        truth->roster_changes[change->player] = change->join ? HC_ROSTER_JOIN : HC_ROSTER_LEAVE;
        if (change->join)
            truth->players[change->player].final_conn = change->conn;
        truth->change_first++;
    }
}

/// Whether the server has made `input` of `sent`: equal, but for an earlier tick that was shown.
static bool is_of(const struct hc_game *game, const uint8_t *sent, const uint8_t *input) {
    const struct hc_field *ago = hc_shown_ago_field(game);
    uint8_t limited[HC_INPUT_MAX];
    memcpy(limited, sent, game->input_size);
    if (ago != NULL)
        hc_shown_ago_limit(game, limited, (uint32_t)hc_field_get(ago, input));
    return memcmp(limited, input, game->input_size) == 0;
}

/// A known input must be the one that its client sent, on this connection or on one that it took
/// over.
static void check_sent(struct storm_truth *truth, hc_player player, hc_tick tick,
                       const uint8_t *input) {
    const struct storm_conn *newest = truth->players[player].final_conn;
    bool any = false;
    for (const struct storm_conn *conn = newest; conn != NULL && conn->honest;
         conn = conn->previous) {
        const uint8_t *sent = storm_conn_input(truth->conns, conn, player, tick);
        if (sent != NULL && is_of(truth->world.game, sent, input))
            return;
        any |= sent != NULL;
    }
    if (newest != NULL && newest->honest)
        storm_fail(truth->verdict, STORM_WRONG, "input", tick,
                   any ? "the input of player %u is not what client %u sent"
                       : "the server has an input of player %u that client %u never sent",
                   player, newest->seat);
}

/// The effective input of a slot that is final, by the rule, into `out`. `seen`: the slot was
/// looked at after the advance.
static void effective(struct storm_truth *truth, hc_player player, hc_tick tick, bool seen,
                      uint8_t *out) {
    static const uint8_t neutral[HC_INPUT_MAX] = {0};
    const struct hc_game *game = truth->world.game;
    struct slot *slot = &truth->players[player];
    size_t cell = (size_t)tick * truth->world.players + player, size = game->input_size;
    uint8_t roster_change = truth->roster_changes[player], *kind = &truth->slots[cell];
    memset(out, 0, size);
    if (roster_change == HC_ROSTER_JOIN) {
        slot->final_in = true;
        slot->has_base = false;
        *kind = HC_SLOT_UNKNOWN;
        return;
    }
    if (!slot->final_in) {
        // The leave has discarded all inputs of later ticks.
        if (*kind == HC_SLOT_KNOWN && seen)
            storm_fail(truth->verdict, STORM_WRONG, "after-leave", tick,
                       "player %u is not in, but has a known input", player);
        *kind = HC_SLOT_UNKNOWN;
        return;
    }
    slot->final_in = roster_change != HC_ROSTER_LEAVE;
    if (*kind == HC_SLOT_KNOWN) {
        memcpy(out, truth->known + cell * size, size);
        check_sent(truth, player, tick, out);
        uint8_t predicted[HC_INPUT_MAX] = {0};
        if (slot->has_base)
            game->predict_input(slot->base_input, tick - slot->base, predicted);
        if (memcmp(out, neutral, size) != 0 || memcmp(out, predicted, size) != 0)
            truth->changed = tick;
        slot->has_base = true;
        slot->base = tick;
        memcpy(slot->base_input, out, size);
        return;
    }
    *kind = HC_SLOT_FORCED;
    if (slot->has_base)
        game->predict_input(slot->base_input, tick - slot->base, out);
}

/// The server must predict a player after `tick` from the newest input known since the join.
static void compare_base(struct storm_truth *truth, const struct hc_timeline *timeline,
                         hc_player player, hc_tick tick) {
    const struct slot *slot = &truth->players[player];
    bool wanted = slot->final_in && slot->has_base;
    uint8_t input[HC_INPUT_MAX];
    hc_tick base = HC_NO_TICK;
    bool has = hc_timeline_newest_input(timeline, player, tick + 1, &base, input);
    if (has != wanted ||
        (has && (base != slot->base ||
                 memcmp(input, slot->base_input, truth->world.game->input_size) != 0)))
        storm_fail(truth->verdict, STORM_WRONG, "newest-input", tick,
                   "after %u the server predicts player %u from its input of %u, must be %u", tick,
                   player, has ? base : HC_NO_TICK, wanted ? slot->base : HC_NO_TICK);
}

/// Compares the final slots that are still in the server's window.
static void compare_slots(struct storm_truth *truth, const struct hc_timeline *timeline,
                          hc_tick tick) {
    size_t size = truth->world.game->input_size;
    for (hc_player p = 0; p < truth->world.players; p++) {
        if (hc_timeline_roster(timeline, p, tick) != (enum hc_roster)truth->roster_changes[p])
            storm_fail(truth->verdict, STORM_WRONG, "roster", tick,
                       "player %u: roster change %d, must be %u", p,
                       (int)hc_timeline_roster(timeline, p, tick), truth->roster_changes[p]);
        if (memcmp(hc_timeline_effective(timeline, p, tick), truth->inputs + p * size, size) != 0)
            storm_fail(truth->verdict, STORM_WRONG, "effective", tick,
                       "the effective input of player %u at %u (slot %d, base %u) is another than "
                       "the rule gives",
                       p, tick, (int)hc_timeline_slot(timeline, p, tick),
                       truth->players[p].has_base ? truth->players[p].base : HC_NO_TICK);
        compare_base(truth, timeline, p, tick);
    }
}

/// Takes the step of `tick`, whose inputs are all final.
static void play_on(struct storm_truth *truth, const struct hc_timeline *timeline, hc_tick tick) {
    hc_tick head = hc_timeline_head(timeline), first = hc_tick_back(head, truth->history);
    hc_player players = truth->world.players;
    bool seen = tick >= first && tick < head;
    if (seen)
        capture(truth, timeline, tick);
    take_changes(truth, tick);
    for (hc_player p = 0; p < players; p++) {
        uint8_t was = truth->slots[(size_t)tick * players + p];
        effective(truth, p, tick, seen, truth->inputs + p * truth->world.game->input_size);
        if (seen && was == HC_SLOT_UNKNOWN &&
            truth->slots[(size_t)tick * players + p] == HC_SLOT_FORCED)
            storm_fail(truth->verdict, STORM_WRONG, "open-slot", tick,
                       "tick %u is final, but player %u's input of %u may still come", tick + 1, p,
                       tick);
    }
    if (seen)
        compare_slots(truth, timeline, tick);
    hc_plain_step(truth->plain, truth->inputs, truth->roster_changes);
    enter(truth, tick + 1);
    if (tick + 1 < hc_timeline_oldest(timeline))
        return;
    struct storm_state held = {hc_timeline_presence(timeline, tick + 1),
                               hc_timeline_states(timeline, tick + 1)};
    struct storm_state right = {hc_plain_presence(truth->plain), hc_plain_states(truth->plain)};
    if (memcmp(held.presence, right.presence, truth->world.entities) != 0 ||
        memcmp(held.states, right.states, state_bytes(truth)) != 0)
        storm_fail_worlds(truth->verdict, "truth", tick + 1, &truth->world, "the server", held,
                          right);
}

/// The final tick: the first with an input that may still come, and not before the window.
static hc_tick final_by_rule(const struct storm_truth *truth, const struct hc_timeline *timeline) {
    hc_tick head = hc_timeline_head(timeline), final = head;
    for (hc_player p = 0; p < truth->world.players; p++)
        if (truth->players[p].in)
            final = hc_tick_min(final, hc_timeline_inputs_through(timeline, p) + 1);
    return hc_tick_max(truth->final, hc_tick_max(final, hc_tick_back(head, truth->history)));
}

static void look(struct storm_truth *truth, const struct hc_server *host) {
    const struct hc_timeline *timeline = hc_server_timeline(host);
    hc_tick head = hc_timeline_head(timeline);
    uint64_t chain;
    hc_tick final = hc_sv_host_final(host, &chain);
    for (hc_tick t = truth->head; t < head && t < truth->head + 2; t++)
        stamp(truth, t);
    hc_tick wanted = final_by_rule(truth, timeline);
    if (final != wanted)
        storm_fail(truth->verdict, STORM_WRONG, "final", head,
                   "the final tick is %u at head %u, must be %u (it was %u)", final, head, wanted,
                   truth->final);
    if (final >= STORM_TICKS_MAX || final > head || final < truth->final)
        storm_fail(truth->verdict, STORM_WRONG, "final", head, "final %u", final);
    while (truth->verdict->result == STORM_FINE && truth->final < final) {
        play_on(truth, timeline, truth->final);
        truth->final++;
    }
    if (truth->verdict->result == STORM_FINE && chain != truth->chain[final])
        storm_fail(truth->verdict, STORM_WRONG, "chain", final,
                   "the server's chain hash at %u is not that of the plain simulation", final);
    truth->head = head;
}

const struct hc_world *storm_truth_world(const struct storm_truth *truth) {
    return &truth->world;
}

hc_tick storm_truth_final(const struct storm_truth *truth) {
    return truth->final;
}

hc_tick storm_truth_changed(const struct storm_truth *truth) {
    return truth->changed;
}

hc_tick storm_truth_appeared(const struct storm_truth *truth) {
    return truth->appeared;
}

uint64_t storm_truth_chain(const struct storm_truth *truth, hc_tick tick) {
    return truth->chain[tick];
}

uint64_t storm_truth_digest(const struct storm_truth *truth, hc_tick tick) {
    return truth->digest[tick];
}

uint64_t storm_truth_unit(const struct storm_truth *truth, hc_unit unit, hc_tick tick) {
    return truth->units[(size_t)tick * hc_unit_total(&truth->world) + unit];
}

struct storm_state storm_truth_state(const struct storm_truth *truth, hc_tick tick) {
    if (!truth->deep)
        return (struct storm_state){NULL, NULL};
    return (struct storm_state){truth->presence + (size_t)tick * truth->world.entities,
                                truth->states + tick * state_bytes(truth)};
}

enum hc_slot storm_truth_slot(const struct storm_truth *truth, hc_player player, hc_tick tick) {
    return (enum hc_slot)truth->slots[(size_t)tick * truth->world.players + player];
}

// ---- The checker --------------------------------------------------------------------------------

static void host_advances(struct storm_match *match, void *state) {
    (void)state;
    expect(match->truth, hc_sim_host(match->sim), hc_sim_host_now(match->sim));
}

static void host_ticked(struct storm_match *match, void *state) {
    (void)state;
    look(match->truth, hc_sim_host(match->sim));
}

static void host_event(struct storm_match *match, void *state, const struct hc_server_event *event,
                       struct storm_conn *conn) {
    (void)state;
    if (event->kind != HC_SERVER_EVENT_MOVED)
        take_event(match->truth, event, conn);
}

const struct storm_checker storm_check_truth = {.name = "truth",
                                                .host_advances = host_advances,
                                                .host_ticked = host_ticked,
                                                .host_event = host_event};
