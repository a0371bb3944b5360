/// The contract between Hindcast and a game: tables that describe it, and one rule, its step.
///
/// A game is a constant `struct hc_game`. Its world is a fixed set of entity slots, numbered by
/// hc_entity: 0 is the referee, then for each player a block of the slots that it owns (the first
/// is the player itself), then the unowned ones. Kind and owner follow from the number and never
/// change; whether a slot is in use is its presence.
#pragma once

#include "hindcast/allocator.h"
#include "hindcast/api.h"
#include "hindcast/status.h"
#include "hindcast/tick.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

HC_C_BEGIN

typedef uint16_t hc_entity; ///< a slot of the world, in [0, hc_world.entities)
typedef uint16_t hc_player; ///< a player of the world, in [0, hc_world.players)

#define HC_REFEREE ((hc_entity)0)
#define HC_NO_PLAYER ((hc_player)UINT16_MAX)

enum {
    HC_STATE_MAX = 64,      ///< bytes of an entity's state
    HC_INPUT_MAX = 16,      ///< bytes of an input
    HC_FIELDS_MAX = 32,     ///< fields of one kind, or of the input
    HC_KINDS_MAX = 8,       ///< kinds of one game, the referee's included
    HC_GROUPS_MAX = 8,      ///< field groups of the referee
    HC_REDUCTIONS_MAX = 8,  ///< reductions of one game
    HC_PLAYERS_MAX = 4096,  ///< players of one world
    HC_TICK_RATE_MAX = 240, ///< ticks a second
};

/// Whether an entity exists at a tick; HC_UNKNOWN occurs on clients alone.
enum hc_presence { HC_UNKNOWN = 0, HC_ABSENT = 1, HC_ALIVE = 2 };

/// What the server says of a player at a tick, beside the player's input.
enum hc_roster { HC_ROSTER_NONE = 0, HC_ROSTER_JOIN = 1, HC_ROSTER_LEAVE = 2 };

/// How a field is shown between two ticks.
enum hc_interpolation {
    HC_HOLD,   ///< the older tick's value
    HC_LINEAR, ///< straight from the older to the newer
    HC_ANGLE,  ///< the shorter way round, modulo 2^bits
};

/// One integer field of an entity's state or of an input. The fields of a struct cover every byte
/// of it, once, in ascending order of `offset`: so comparing bytes compares fields.
struct hc_field {
    const char *name;
    uint16_t offset; ///< bytes from the start of the struct
    uint8_t size;    ///< bytes in memory, host byte order: 1, 2 or 4
    uint8_t bits;    ///< values lie in [0, 2^bits), or [-2^(bits-1), 2^(bits-1)) when signed
    bool is_signed;
    uint8_t interpolate; ///< an enum hc_interpolation
    uint8_t group;       ///< of the referee's fields: in [0, HC_GROUPS_MAX); else 0
    bool countdown;      ///< of the referee's: falls by 1 a tick to 0 while a client holds it
};

/// Describes member `m` of struct `s`; `b` bits wide, signedness `sg`; more designators may follow.
/// A game in C++ needs C++20 for it.
#define HC_FIELD(s, m, b, sg, ...)                                                                 \
    {                                                                                              \
        .name = #m, .offset = offsetof(s, m), .size = sizeof(((s *)0)->m), .bits = (b),            \
        .is_signed = (sg), __VA_ARGS__                                                             \
    }

/// What all entities of one kind share.
struct hc_kind {
    const char *name;
    uint16_t state_size; ///< bytes, in [1, HC_STATE_MAX]
    uint16_t field_count;
    const struct hc_field *fields;
    int8_t x, y;       ///< indices of the position fields, or -1, -1: no position, no neighbours
    uint32_t teleport; ///< a move of more than this in x or y within a tick is not interpolated
};

/// A run of slots of one kind: `count`, and one more for every `every` players (0: none more).
struct hc_slots {
    uint8_t kind;
    uint16_t count;
    uint16_t every; ///< unowned slots only
};

/// How the values of one field become one number.
enum hc_reduce { HC_REDUCE_COUNT, HC_REDUCE_SUM, HC_REDUCE_MAX };

/// How the referee sees the world: one number over all players that are alive at a tick.
struct hc_reduction {
    enum hc_reduce op;
    uint8_t field; ///< of the player kind; unused by HC_REDUCE_COUNT. The maximum of none is 0
};

struct hc_scene;
struct hc_world;

struct hc_game {
    const char *name; ///< letters, digits, '-'; at most 15 bytes
    uint32_t version; ///< any change of rule or table is another version
    uint16_t players_max;

    const struct hc_kind *kinds; ///< kinds[0] is the referee's
    uint8_t kind_count;
    const struct hc_slots *owned; ///< each player's slots; owned[0] is the player, with count 1
    uint8_t owned_count;          ///< entries of `owned`
    const struct hc_slots *unowned;
    uint8_t unowned_count; ///< entries of `unowned`

    const struct hc_field *input_fields; ///< describes the input; a neutral input is all zeros
    uint8_t input_field_count;
    uint16_t input_size; ///< bytes, in [1, HC_INPUT_MAX]

    const struct hc_reduction *reductions;
    uint8_t reduction_count;

    uint32_t reach; ///< an entity reads others within |dx| <= reach and |dy| <= reach, wire units
    uint32_t view;  ///< how far a player sees, |dx| and |dy|, wire units; 0: everything

    /// Writes the state of `self` at tick 0 to `out` (zeroed, state_size bytes); true: it is alive.
    bool (*start)(const struct hc_world *world, hc_entity self, void *out);

    /// THE rule: writes all of the next state of `self` to `out` (state_size bytes, content
    /// unspecified) from what `scene` shows of the tick before; true: it is alive then. Called for
    /// alive and absent slots alike, in any order. When false, `out` is disregarded.
    bool (*step)(struct hc_scene *scene, hc_entity self, void *out);

    /// Guesses an input `age` >= 1 ticks after the newest known one, `last`; writes `out`.
    void (*predict_input)(const void *last, uint32_t age, void *out);

    /// Brings a player's input, whose fields fit their bits, into what the game allows.
    void (*sanitize_input)(void *input);

    /// Whether `other` is hidden from the player `viewer`, although in view; NULL: nothing is. Both
    /// are alive, or `viewer` was last like `viewer_state`. The server alone asks, as it pleases.
    /// What a step reads had better not be hidden: its reader's client predicts without it.
    bool (*hides)(const struct hc_world *world, hc_entity viewer, const void *viewer_state,
                  hc_entity other, const void *other_state);
};

/// What makes two worlds the same: fixed for a world's life, and equal on server and clients.
struct hc_world {
    const struct hc_game *game;
    uint16_t players;   ///< player slots, in [1, game->players_max]
    uint16_t tick_rate; ///< ticks a second, in [1, HC_TICK_RATE_MAX]
    uint64_t seed;

    // Derived by hc_world_init.
    uint32_t entities;   ///< slots in all, at most 65535
    uint16_t per_owner;  ///< slots that each player owns
    uint16_t stride;     ///< bytes from one entity's state to the next in an array of states
    uint8_t *kind_of;    ///< [entities] kind of each slot
    hc_player *owner_of; ///< [entities] owner of each slot, HC_NO_PLAYER for none
    const struct hc_allocator *allocator;
};

/// Finds what is wrong with a game's tables: NULL when nothing, else a sentence in `why`
/// (`why_size` bytes, always terminated), which is also returned.
HC_API const char *hc_game_check(const struct hc_game *game, char *why, size_t why_size);

/// Lays out a world; `allocator` (NULL: malloc) and `game` must outlive it.
/// HC_INVALID: a number outside its range or too many entities. HC_NO_MEMORY.
HC_API enum hc_status hc_world_init(struct hc_world *world, const struct hc_game *game,
                                    uint16_t players, uint16_t tick_rate, uint64_t seed,
                                    const struct hc_allocator *allocator);

/// Gives back what hc_world_init allocated; `world` may be all zeros.
HC_API void hc_world_free(struct hc_world *world);

/// The slot that is `player` itself.
static inline hc_entity hc_world_player(const struct hc_world *world, hc_player player) {
    return (hc_entity)(1 + player * world->per_owner);
}

/// The kind of `entity`.
static inline const struct hc_kind *hc_world_kind(const struct hc_world *world, hc_entity entity) {
    return &world->game->kinds[world->kind_of[entity]];
}

/// The value of `field` in the struct at `data`.
static inline int64_t hc_field_get(const struct hc_field *field, const void *data) {
    const uint8_t *from = (const uint8_t *)data + field->offset;
    uint8_t byte;
    uint16_t half;
    uint32_t word;
    switch (field->size) {
    case 1:
        memcpy(&byte, from, sizeof byte);
        return field->is_signed ? (int64_t)(int8_t)byte : (int64_t)byte;
    case 2:
        memcpy(&half, from, sizeof half);
        return field->is_signed ? (int64_t)(int16_t)half : (int64_t)half;
    default:
        memcpy(&word, from, sizeof word);
        return field->is_signed ? (int64_t)(int32_t)word : (int64_t)word;
    }
}

/// Stores `value`, which must fit the field's bits, into the struct at `data`.
HC_API void hc_field_set(const struct hc_field *field, void *data, int64_t value);

/// Whether `value` fits the field's bits and signedness.
HC_API bool hc_field_fits(const struct hc_field *field, int64_t value);

/// The position of an alive entity in wire units; false, and nothing written, without a position.
static inline bool hc_world_position(const struct hc_world *world, hc_entity entity,
                                     const void *state, int64_t *x, int64_t *y) {
    const struct hc_kind *kind = hc_world_kind(world, entity);
    if (kind->x < 0)
        return false;
    *x = hc_field_get(&kind->fields[kind->x], state);
    *y = hc_field_get(&kind->fields[kind->y], state);
    return true;
}

/// The hash of a whole tick: `presence[entities]` and `states[entities * stride]`, as defined in
/// PROTOCOL.md over fields in table order, little-endian; equal on every architecture.
HC_API uint64_t hc_world_hash(const struct hc_world *world, const uint8_t *presence,
                              const uint8_t *states);

/// Identifies a game's name, version and every table: two builds that differ in any cannot talk.
/// `view` is not in it, as rules are not: the server alone applies it, so it may be changed there
/// without a new client.
HC_API uint64_t hc_game_hash(const struct hc_game *game);

HC_C_END
