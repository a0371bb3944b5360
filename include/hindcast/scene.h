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
    void *source; ///< the timeline or other owner of the buffers, for `neighbours`

    // The caller of the step sets these for each entity.
    hc_entity self;
    uint8_t groups_read; ///< bit g: the step has read field group g of the referee
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
/// owner, or a neighbour. hc_scene_referee reads the referee.
static inline const void *hc_scene_state(const struct hc_scene *scene, hc_entity other) {
    HC_CHECK(hc_scene_may_read(scene, other));
    if (scene->presence[other] != HC_ALIVE)
        return NULL;
    return scene->states + (size_t)other * scene->world->stride;
}

/// The state of the referee, for its fields of `group` only; NULL while it is unknown. From then on
/// a change of such a field steps `self` again.
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

/// The effective input of the owner of `self`, which must have an owner.
static inline const void *hc_scene_input(const struct hc_scene *scene) {
    hc_player owner = scene->world->owner_of[scene->self];
    HC_CHECK(owner != HC_NO_PLAYER);
    return scene->inputs + (size_t)owner * scene->world->game->input_size;
}

/// The roster change of the owner of `self` at this tick; `self` must have an owner.
static inline enum hc_roster hc_scene_roster(const struct hc_scene *scene) {
    hc_player owner = scene->world->owner_of[scene->self];
    HC_CHECK(owner != HC_NO_PLAYER);
    return (enum hc_roster)scene->roster_changes[owner];
}

/// Reduction `index` of the game's table; only for the referee's step.
static inline int64_t hc_scene_reduction(const struct hc_scene *scene, unsigned index) {
    HC_CHECK(scene->self == HC_REFEREE && index < scene->world->game->reduction_count);
    return scene->reductions[index];
}

/// 64 random bits: a hash of the world's seed, the tick, `self` and `purpose`. Clients know the
/// seed, so they can predict outcomes of these bits.
static inline uint64_t hc_scene_random(const struct hc_scene *scene, uint32_t purpose) {
    return hc_random(scene->world->seed, scene->tick, scene->self, purpose);
}

/// 64 random bits that no client can predict: SipHash-2-4 of the tick, `self` and `purpose` under
/// the server's secret. False, and nothing written, on a client and in an extrapolation
/// (PROTOCOL.md): the step then leaves the entity as it is, or absent, until the client receives
/// the server's state.
HC_API bool hc_scene_secret_random(const struct hc_scene *scene, uint32_t purpose, uint64_t *bits);

HC_C_END
