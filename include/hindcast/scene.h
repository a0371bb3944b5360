/// The scene: the tick before, as a step may read it. A step reads the world only through a scene.
///
/// The timeline fills a scene from its ring; a test may fill one from plain buffers. When
/// HC_VALIDATE is 1, a read that the contract does not allow aborts.
#pragma once

#include "hindcast/api.h"
#include "hindcast/check.h"
#include "hindcast/game.h"
#include "hindcast/rng.h"

HC_C_BEGIN

enum { HC_SCENE_SECRET_SIZE = 16 }; ///< bytes

/// The world at a tick before that of a scene, as the scene shows its own.
struct hc_past {
    const uint8_t *states;   ///< [entities * stride]
    const uint8_t *presence; ///< [entities] an enum hc_presence each
};

/// A scene. A step reads it by the functions below, and sets nothing; the members are for programs
/// and tests that call a step.
struct hc_scene {
    const struct hc_world *world;
    hc_tick tick;                  ///< the tick that the step reads; it writes tick + 1
    const uint8_t *states;         ///< [entities * stride] at `tick`
    const uint8_t *presence;       ///< [entities] an enum hc_presence each
    const uint8_t *inputs;         ///< [players * input_size] the effective inputs of `tick`
    const uint8_t *roster_changes; ///< [players] an enum hc_roster each
    const int64_t *reductions;     ///< [reduction_count] over the players at `tick`
    const uint8_t *secret;         ///< [HC_SCENE_SECRET_SIZE] the server's; NULL on a client

    /// Points `*ids` at the alive entities within reach of `self`, in ascending order, without
    /// `self`; valid until the next call. Returns their number.
    uint32_t (*neighbours)(struct hc_scene *scene, hc_entity self, const hc_entity **ids);
    void *source; ///< the timeline or other owner of the buffers, for these functions

    /// Sets `*past` to the world `ago` ticks before `tick`, `ago` in [1, lookback]. False: it is
    /// not held, as before the first tick. NULL: there is no past, as in an extrapolation.
    bool (*past)(const struct hc_scene *scene, uint32_t ago, struct hc_past *past);

    /// As `neighbours`, of the entities that were alive `ago` ticks before, within reach of the
    /// place of `self` at `tick`. `ago` is in [1, lookback]; set together with `past`.
    uint32_t (*past_neighbours)(struct hc_scene *scene, hc_entity self, uint32_t ago,
                                const hc_entity **ids);

    // The caller of the step sets these for each entity.
    hc_entity self;
    uint8_t groups_read; ///< bit g: the step has read field group g of the referee
    bool too_far;        ///< the step has looked back further than the game's lookback
    bool not_reduced;    ///< the step has read a reduction that the game does not have
    uint64_t past_read;  ///< bit a - 1: the step has read states of `a` ticks ago
    bool event_refused;  ///< a step emitted an event that its game's tables do not allow
    bool emitted;        ///< a step emitted an event

    // Where the steps of the entities of one kind from `event_first` on emit.
    hc_game_event *events; ///< [events_max] of each entity, ascending; NULL: events are dropped
    uint8_t *event_counts; ///< events that each entity has emitted; the caller sets 0
    hc_entity event_first;
};

/// The tick that the step reads.
static inline hc_tick hc_scene_tick(const struct hc_scene *scene) {
    return scene->tick;
}

/// In hc_game.step_run: lets the functions of the scene read as `self` from here on.
static inline void hc_scene_turn(struct hc_scene *scene, hc_entity self) {
    scene->self = self;
}

/// Whether the contract lets `self` read `other`; in constant time, for assertions.
HC_API bool hc_scene_may_read(const struct hc_scene *scene, hc_entity other);

/// The state of `other`; NULL unless it is alive. `other` must be `self`, an entity of the same
/// owner, or a neighbour. hc_scene_referee reads the referee. The referee's step reads its own
/// state and the reductions, and no other entity.
static inline const void *hc_scene_state(const struct hc_scene *scene, hc_entity other) {
    HC_CHECK(hc_scene_may_read(scene, other));
    if (scene->presence[other] != HC_ALIVE)
        return NULL;
    return scene->states + (size_t)other * scene->world->stride;
}

/// The state of the referee, for its fields of `group` only; NULL while it is unknown. From then on
/// a change of such a field steps `self` again. So fields that change often, such as a clock, have
/// another group (hc_field.group, else 0) than those that all players read:
///
///     HC_FIELD(struct my_referee, clock, 12, false, .group = GROUP_CLOCK, .countdown = true),
///     HC_FIELD(struct my_referee, phase, 2, false, .group = GROUP_PHASE),
///
///     const struct my_referee *referee = hc_scene_referee(scene, GROUP_PHASE);
///     bool over = referee != NULL && referee->phase == PHASE_OVER; // not: referee->clock
///
/// A step that needs both calls it for each. The referee's own step may read all groups.
static inline const void *hc_scene_referee(struct hc_scene *scene, unsigned group) {
    HC_CHECK(group < HC_GROUPS_MAX);
    scene->groups_read |= (uint8_t)(1u << group);
    return scene->presence[HC_REFEREE] == HC_ALIVE ? scene->states : NULL;
}

/// Points `*ids` at the neighbours of `self`, see hc_scene.neighbours; returns their number. An
/// entity that is not alive or has no position has none.
static inline uint32_t hc_scene_neighbours(struct hc_scene *scene, const hc_entity **ids) {
    return scene->neighbours(scene, scene->self, ids);
}

/// Whether the contract lets `self` read the state of `other` of `ago` ticks before.
HC_API bool hc_scene_may_read_past(const struct hc_scene *scene, uint32_t ago, hc_entity other);

/// The state of `other` `ago` ticks before; NULL unless it was alive then. `ago` is in
/// [0, lookback]; 0 reads as hc_scene_state does. `other` must be `self`, an entity of the same
/// owner, or a past neighbour of that tick; never the referee. The referee's step may not look
/// back, not even at itself: it keeps in its state what it needs later.
///
/// From then on a change of such a past state steps `self` again. NULL also before the first tick,
/// and on a client before its first snapshot or while it does not know the entity.
HC_API const void *hc_scene_past(struct hc_scene *scene, uint32_t ago, hc_entity other);

/// Points `*ids` at the past neighbours of `self`: the alive entities of `ago` ticks before, within
/// reach of the place that `self` has now, in ascending order, without `self`; valid until the next
/// call. Returns their number. `ago` is in [0, lookback]; 0 is hc_scene_neighbours. A shot that
/// hits at once compares its line with them: they stand where the shooter saw them.
HC_API uint32_t hc_scene_past_neighbours(struct hc_scene *scene, uint32_t ago,
                                         const hc_entity **ids);

/// The effective input of the owner of `self`, which must have an owner.
static inline const void *hc_scene_input(const struct hc_scene *scene) {
    hc_player owner = scene->world->owner_of[scene->self];
    HC_CHECK(owner != HC_NO_PLAYER);
    return scene->inputs + (size_t)owner * scene->world->game->input_size;
}

/// The roster change of the owner of `self` at this tick; `self` must have an owner. All slots of a
/// player see it.
///
/// At HC_ROSTER_JOIN the input is all zeros, and the player is absent unless the game let it stay
/// after a leave. At HC_ROSTER_LEAVE the state and the input are, for the last time, still those
/// of the player that leaves. From the next tick on its input is all zeros, until a user joins in
/// the slot. A player whose client has lost its connection leaves only when the time to reconnect
/// is over.
static inline enum hc_roster hc_scene_roster(const struct hc_scene *scene) {
    hc_player owner = scene->world->owner_of[scene->self];
    HC_CHECK(owner != HC_NO_PLAYER);
    return (enum hc_roster)scene->roster_changes[owner];
}

/// Reduction `index` of the game's table; only for the referee's step. 0 if the table has none.
static inline int64_t hc_scene_reduction(struct hc_scene *scene, unsigned index) {
    HC_CHECK(scene->self == HC_REFEREE && index < scene->world->game->reduction_count);
    bool has = index < scene->world->game->reduction_count;
    scene->not_reduced |= !has;
    return has ? scene->reductions[index] : 0;
}

/// 64 random bits: a hash of the world's seed, the tick, `self` and `purpose`. Clients know the
/// seed, so they can predict outcomes of these bits.
static inline uint64_t hc_scene_random(const struct hc_scene *scene, uint32_t purpose) {
    return hc_random(scene->world->seed, scene->tick, scene->self, purpose);
}

/// 64 random bits that no client can predict: SipHash-2-4 of the tick, `self` and `purpose` under
/// the server's secret. Within a match the same three give the same bits, however often the tick is
/// simulated. False, and nothing written, on a client and in an extrapolation (PROTOCOL.md): the
/// step then makes nothing up. Each field that the bits decide stays as it is, or the entity is
/// absent, and no event that they decide is emitted, until the client receives the server's state.
/// Other fields go on. hindcast-check compares two secrets and none.
///
/// Only the draw is secret: its result is visible to each client that receives the state. So draw a
/// result that must stay hidden, such as the next card, only at the tick at which it is shown.
HC_API bool hc_scene_secret_random(const struct hc_scene *scene, uint32_t purpose, uint64_t *bits);

/// Emits a game event of `self`, such as a shot that is heard, which is no part of the world's
/// state. The event belongs to the tick that the step writes, and its identity is (tick, self,
/// kind, number). `kind` is an index in hc_game.event_kinds. `number` is below 2^bits of that kind;
/// it distinguishes several events of a kind, and may carry a meaning, such as the player that was
/// hit.
///
/// The events of an entity at a tick are those of its newest step, so a rewind takes them back like
/// a state. A client's game gets each of them once, however often the tick is simulated
/// (hc_client_next_game_event); the server's gets it when its tick is final. A step emits the same
/// event at most once: a repetition has no effect. More events than events_max of the kind, or one
/// that does not fit the tables, are dropped; the dev preset aborts.
///
/// A client is sent at most 512 bits of the events of one tick: those of its own players and their
/// slots and of the referee first, then as many others as fit. An event takes 1 bit, the bits of
/// the number, and those that count the entities and the kinds of events. Events that do not fit
/// are not sent to that client (hc_server_stats.game_events_left_out), and the client cancels those
/// that it has predicted.
HC_API void hc_emit(struct hc_scene *scene, unsigned kind, uint32_t number);

HC_C_END
