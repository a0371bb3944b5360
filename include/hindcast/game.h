/// The contract between Hindcast and a game: tables that describe it, and one rule, its step.
///
/// A game is a constant `struct hc_game`. Its world is a fixed set of entity slots, numbered by
/// hc_entity: slot 0 is the referee, then each player has a block of slots (the first is the player
/// itself), then come the unowned slots. The number determines kind and owner, which never change.
/// The presence of a slot tells whether it is in use.
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
    HC_STATE_MAX = 256,      ///< bytes of an entity's state
    HC_INPUT_MAX = 16,       ///< bytes of an input
    HC_FIELDS_MAX = 64,      ///< fields of one kind, or of the input
    HC_UNIT_BITS_MAX = 7200, ///< bits of the fields of a player and its slots, and 3 for each field
    HC_KINDS_MAX = 8,        ///< kinds of one game, the referee's included
    HC_GROUPS_MAX = 8,       ///< field groups of the referee
    HC_REDUCTIONS_MAX = 8,   ///< reductions of one game
    HC_PLAYERS_MAX = 4096,   ///< players of one world
    HC_TICK_RATE_MAX = 240,  ///< ticks a second
    HC_LOOKBACK_MAX = 64,    ///< ticks, see hc_game.lookback
    HC_EVENT_KINDS_MAX = 16, ///< kinds of game events
    HC_EVENT_BITS_MAX = 28,  ///< bits of the number of a game event
    HC_EMITTED_MAX = 16,     ///< game events of one entity in one tick
};

/// Whether an entity exists at a tick; HC_UNKNOWN occurs only on clients.
enum hc_presence { HC_UNKNOWN = 0, HC_ABSENT = 1, HC_ALIVE = 2 };

/// A roster change of a player at a tick: the server joins it or lets it leave.
enum hc_roster { HC_ROSTER_NONE = 0, HC_ROSTER_JOIN = 1, HC_ROSTER_LEAVE = 2 };

/// The interpolation of a field between two ticks.
enum hc_interpolation {
    HC_HOLD,   ///< the older value
    HC_LINEAR, ///< linear from the older to the newer value
    HC_ANGLE,  ///< linear along the shorter arc, modulo 2^bits
};

/// The sampling of a field of the input: the client library stamps a tick with one value, and the
/// game may have set many since the tick before (hc_client_set_input).
enum hc_sampling {
    HC_SAMPLING_BY_BITS, ///< HC_LATCH for one bit, HC_NEWEST for more
    HC_NEWEST,           ///< the newest value, for a stick or an aim
    /// Each bit is a button, and no press is lost. A button that was pressed and released between
    /// two ticks is pressed in one tick. A button that was released and pressed again between two
    /// ticks is released in one tick, and pressed from the next one on. Several presses between two
    /// ticks are one press.
    HC_LATCH,
};

/// One integer field of an entity's state or of an input. The fields cover every byte of their
/// struct once, in ascending order of `offset`, so that comparing bytes compares fields. Each
/// begins at a multiple of its size.
struct hc_field {
    const char *name;
    uint16_t offset; ///< bytes from the start of the struct
    uint8_t size;    ///< bytes in memory, host byte order: 1, 2 or 4
    uint8_t bits;    ///< values lie in [0, 2^bits), or [-2^(bits-1), 2^(bits-1)) when signed
    bool is_signed;
    uint8_t interpolate; ///< an enum hc_interpolation
    uint8_t group;       ///< field group of the referee, [0, HC_GROUPS_MAX); 0 for other kinds
    bool countdown;      ///< unsigned: the linear extrapolation lowers it by 1 each tick to 0; the
                         ///< referee's also falls while a client holds the referee
    /// Name of a signed field of this kind, which the linear extrapolation adds to this field,
    /// within the range of this one; NULL: it adds nothing. It only makes snapshots smaller: the
    /// step still moves the field, and a snapshot carries each difference, as after a bounce.
    const char *moves_by;
    uint16_t moves_per; ///< ticks in which the value of `moves_by` is added once; 0: a second
    /// True: this field of the input holds the ticks from the tick at which the player was shown
    /// the others to the tick of the input. At most one field of the input of a game with a
    /// lookback; it is unsigned, and its bits hold `lookback`. The client library writes it into
    /// every input. The server limits it to `lookback`, to hc_server_config.lag_compensation_ms,
    /// and to the oldest tick that it has sent to that client. With it, hc_scene_past shows the
    /// others as the player saw them. By default the clients of such a game show the others as they
    /// were received (hc_client_config.others).
    bool shown_ago;
    /// True: this field of the input holds the ticks from the tick at which the player was shown
    /// itself to the tick of the input. At most one field, beside that of `shown_ago`; the server
    /// limits it to the value of that one. With it, hc_scene_past shows the place from which the
    /// player aimed.
    bool own_shown_ago;
    /// An enum hc_sampling, of a field of the input that the game sets. HC_LATCH belongs to an
    /// unsigned field, or to one bit.
    uint8_t sampling;
    /// True: a change of this field from one tick to the next means that the entity has teleported,
    /// however short the way: no field is interpolated between the two, and no correction fades
    /// across. At most one field of a kind, such as a count of teleports; not of the input.
    bool teleports;
};

/// The ways to extrapolate a newer value of an entity from an older one; a snapshot encodes only
/// the difference between both (PROTOCOL.md, section 6). In ascending order of work and of
/// precision.
enum hc_extrapolation {
    HC_EXTRAPOLATION_HOLD,   ///< every field stays
    HC_EXTRAPOLATION_LINEAR, ///< the fields move as the tables say: `countdown` and `moves_by`
    HC_EXTRAPOLATION_STEP,   ///< the game's step
};

/// HC_FIELD(s, m, bits, is_signed, ...) describes member `m` of struct `s`; more designators may
/// follow. In C++ the macro needs C++20, and the designators stand in the order of struct hc_field.
#define HC_FIELD(s, m, b, ...) HC_FIELD_OF(s, m, b, __VA_ARGS__, )
#define HC_FIELD_OF(s, m, b, sg, ...)                                                              \
    {                                                                                              \
        .name = #m, .offset = offsetof(s, m), .size = sizeof(((s *)0)->m), .bits = (b),            \
        .is_signed = (sg), __VA_ARGS__                                                             \
    }

/// A kind of game events, such as shots, hits or kills. A step emits them with hc_emit.
struct hc_game_event_kind {
    const char *name;
    uint8_t bits; ///< the number of an event lies in [0, 2^bits), [0, HC_EVENT_BITS_MAX]
    /// A client delivers an event of the kind as soon as it knows of it, for example for a score or
    /// a log. False: when the tick of the event is shown, as is right for sounds and effects.
    bool at_once;
    /// An event of the kind comes once, when its tick is final, and is never taken back: for a kill
    /// feed, a score or the end of a match. It waits for the slowest player's inputs. False: it
    /// comes as soon as it is predicted, or with the state that shows it, and may be cancelled.
    bool final_only;
};

/// A game event as one word: its kind and its number. Within an entity and a tick, equal words are
/// the same event.
typedef uint32_t hc_game_event;

/// The word of an event.
static inline hc_game_event hc_game_event_of(unsigned kind, uint32_t number) {
    return number << 4 | kind;
}

/// The kind of an event, an index in hc_game.event_kinds.
static inline unsigned hc_game_event_kind(hc_game_event event) {
    return event & 15u;
}

/// The number of an event, which the game gave it: for example the player that was hit.
static inline uint32_t hc_game_event_number(hc_game_event event) {
    return event >> 4;
}

/// The description that all entities of one kind share.
struct hc_kind {
    const char *name;
    uint16_t state_size; ///< bytes, in [1, HC_STATE_MAX]
    uint16_t field_count;
    const struct hc_field *fields;
    const char *x, *y; ///< names of the position fields; NULL, NULL: no position, no neighbours
    uint32_t teleport; ///< a longer move in x or y within a tick is not interpolated; wire units.
                       ///< A shorter one is, unless a field says otherwise (hc_field.teleports).
    /// The most game events that an entity emits in one step, [0, HC_EMITTED_MAX]; the timeline
    /// keeps room for them at every tick. Count the worst case, which hindcast-check may not meet:
    /// a step that emits an event for each neighbour emits as many as there may be.
    uint8_t events_max;
};

/// A run of slots of one kind. Owned slots: `count` for each player. Unowned slots: `count`, and
/// one more for each full `every` player slots of the world, in use or not: with `every` 4, worlds
/// of 3, 4 and 11 players have 0, 1 and 2 more. The slots of the entries follow each other in the
/// order of the table. The first unowned slot is 1 + players * per_owner, from which the step of an
/// unowned entity computes its index in its kind.
struct hc_slots {
    uint8_t kind;
    uint16_t count;
    uint16_t every; ///< 0: no more; always for owned slots
};

/// The operation of a reduction. The maximum of no players is 0.
enum hc_reduce { HC_REDUCE_COUNT, HC_REDUCE_SUM, HC_REDUCE_MAX };

/// One number over all players that are alive at a tick, and over nothing else. The referee reads
/// the world through reductions alone: a player keeps in a field all that the referee must know of
/// a shot or a ball.
struct hc_reduction {
    enum hc_reduce op;
    const char *field; ///< name of a field of the player's kind; NULL for HC_REDUCE_COUNT
};

struct hc_scene;
struct hc_world;

/// A game: its tables and its rule. All is constant, and borrowed by each world of the game.
struct hc_game {
    const char *name;     ///< 1 to 15 letters, digits or '-'
    uint32_t version;     ///< another one after every change of a rule or a table
    uint16_t players_max; ///< the most players of a world, [1, HC_PLAYERS_MAX]

    const struct hc_kind *kinds; ///< kinds[0] is the referee's
    uint8_t kind_count;
    /// Slots of each player, in this order; owned[0] is the player, with count 1.
    const struct hc_slots *owned;
    uint8_t owned_count; ///< entries of `owned`
    const struct hc_slots *unowned;
    uint8_t unowned_count; ///< entries of `unowned`

    const struct hc_field *input_fields; ///< fields of the input; a neutral input is all zeros
    uint8_t input_field_count;
    uint16_t input_size; ///< bytes, in [1, HC_INPUT_MAX]

    const struct hc_reduction *reductions;
    uint8_t reduction_count;

    /// The distance within which an entity reads others: |dx| <= reach and |dy| <= reach, in the
    /// unit of the position fields, at the tick that the step reads, before anything moves.
    /// Entities of one owner read each other at any distance. A change of an entity steps those
    /// within its reach again, so a reach of the whole world costs the most. In a game with a
    /// lookback, a player reads the decision of its shooter a tick later and must be within reach
    /// of it then: the reach is at least the range of a shot and the distances that both move in
    /// `lookback` ticks.
    uint32_t reach;
    /// The distance within which a player sees others: |dx| <= view and |dy| <= view, in the same
    /// unit. An entity in view stays in it until it is a quarter farther away. 0: a player sees
    /// all.
    uint32_t view;

    /// Writes the state of `self` at tick 0 to `out` (state_size bytes, zeroed); true: it is alive.
    bool (*start)(const struct hc_world *world, hc_entity self, void *out);

    /// The rule of the game: computes the next state of `self` from `scene`, which shows the tick
    /// before, and writes all of it to `out` (state_size bytes, content unspecified). True: `self`
    /// is alive at the next tick. False: it is absent, and `out` is ignored. Called for alive and
    /// for absent slots, in any order.
    bool (*step)(struct hc_scene *scene, hc_entity self, void *out);

    /// Predicts the input `age` >= 1 ticks after the newest known one, `last`, into `out`. Both
    /// have input_size bytes.
    ///
    /// A cleared button predicts its release. Clear buttons that act when they are pressed, and
    /// keep those that act when they are released: each of these would act when it is cleared, and
    /// its game events would be cancelled.
    void (*predict_input)(const void *last, uint32_t age, void *out);

    /// Changes a player's input, whose fields fit their bits, to one that the game allows.
    void (*sanitize_input)(void *input);

    /// Whether `other` is hidden from the player `viewer` although it is in view; NULL: no entity
    /// is. Both are alive, or `viewer_state` is the last state of `viewer`. Only the server calls
    /// it, at any time and in any order.
    ///
    /// `other` is neither the referee nor one of the viewer's own slots: it is another player, one
    /// of the slots of another player, or an unowned entity. A player and its slots are sent
    /// together: a client sees all of them as long as one that is alive is not hidden. So a game
    /// that hides a player hides its slots too, for example by the same distance. An entity that a
    /// step reads should not be hidden from the reader, whose client would predict without it. The
    /// game events of an entity are not sent for ticks at which it is hidden, and a client cancels
    /// those that it has predicted.
    bool (*hides)(const struct hc_world *world, hc_entity viewer, const void *viewer_state,
                  hc_entity other, const void *other_state);

    /// Optional (NULL: rounds have no end): whether the round is over, by the state of the referee
    /// at a tick. The round ends at each tick at which it is over and was not at the tick before.
    /// Only the server calls it, once for each final tick, and reports the end as an event. A tick
    /// is final when no late input can change it any more: when all inputs before it have come, or
    /// `history` ticks after it. The next round is up to the rules.
    bool (*round_over)(const struct hc_world *world, const void *referee);

    /// Optional (NULL: none): the rule for many slots at once, for kinds whose steps are so short
    /// that a call of `step` for each costs more than the step. Steps the `count` slots of one kind
    /// from `first` on, alive and absent ones, exactly as `step` would. For the i-th slot it writes
    /// all of the next state to `out + i * world->stride` (state_size bytes) and HC_ALIVE or
    /// HC_ABSENT to `presence[i]`; the state of an absent one is ignored. False: it writes nothing,
    /// and `step` is called for each slot, for example because of their kind.
    ///
    /// It may read what `step` may read: directly from scene->states and scene->presence, or
    /// through the scene's functions after hc_scene_turn, which hc_emit needs too. Never called for
    /// the referee. The dev preset compares every result with that of `step`.
    bool (*step_run)(struct hc_scene *scene, hc_entity first, uint32_t count, uint8_t *out,
                     uint8_t *presence);

    /// Read-only data of the rules, such as a map: the same bytes on server and clients. A step
    /// reads it through `scene->world->game`. NULL: none.
    const void *level;
    uint32_t level_size; ///< bytes; 0 without a level

    /// Ticks in [0, HC_LOOKBACK_MAX]: a step reads past states of up to so many ticks before, see
    /// hc_scene_past. 0: it reads none.
    ///
    /// Each of them takes as much memory as a tick of history, on server and clients, even if no
    /// step looks back. Otherwise only reads cost: a late input that changes a past state repeats
    /// each step that has looked back at it, of up to `lookback` later ticks.
    ///
    /// For lag compensation choose the ticks of hc_server_config.lag_compensation_ms (400 ms: 24 at
    /// 60 Hz): the server lowers `shown_ago` to the lesser of both, so that more is never read. A
    /// player is compensated up to a round trip of that time. The field `shown_ago` must hold it.
    uint32_t lookback;

    /// The game events that steps emit, see hc_emit; NULL and 0: none.
    const struct hc_game_event_kind *event_kinds;
    uint8_t event_kind_count; ///< [0, HC_EVENT_KINDS_MAX]

    /// True: players that are vacant stay so. A player is vacant at a tick if neither it nor any of
    /// its slots is alive, and it neither joins nor leaves. True promises that the step of such a
    /// slot returns false and emits nothing; then the step is not called, and a world's empty
    /// places cost almost nothing. False: the steps of all slots are called, for a game in which
    /// players or their slots appear without a join.
    bool stays_vacant;
};

/// The parameters of a world: constant for its life, and equal on server and clients.
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
    int8_t x_of[HC_KINDS_MAX], y_of[HC_KINDS_MAX]; ///< index of each kind's position fields, or -1
    int8_t teleports_of[HC_KINDS_MAX];  ///< index of each kind's field that `teleports`, or -1
    uint8_t reduced[HC_REDUCTIONS_MAX]; ///< index of the field of each reduction; of a count 0
    const struct hc_allocator *allocator;
};

/// Checks a game's tables. Returns NULL when they are valid; else writes a sentence about the first
/// error to `why` (`why_size` bytes, always terminated) and returns `why`.
HC_API const char *hc_game_check(const struct hc_game *game, char *why, size_t why_size);

/// Lays out a world; `allocator` (NULL: malloc) and `game` must outlive it. HC_INVALID: an invalid
/// game, a number out of its range, or too many entities. HC_NO_MEMORY: memory is short. On failure
/// `*world` is all zeros.
HC_API enum hc_status hc_world_init(struct hc_world *world, const struct hc_game *game,
                                    uint16_t players, uint16_t tick_rate, uint64_t seed,
                                    const struct hc_allocator *allocator);

/// Frees the memory of a world, which may be all zeros.
HC_API void hc_world_free(struct hc_world *world);

/// The slot of `player` itself.
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
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    switch (field->size) {
    case 1:
        memcpy(&u8, from, sizeof u8);
        return field->is_signed ? (int64_t)(u8 ^ 0x80) - 0x80 : (int64_t)u8;
    case 2:
        memcpy(&u16, from, sizeof u16);
        return field->is_signed ? (int64_t)(int16_t)u16 : (int64_t)u16;
    default:
        memcpy(&u32, from, sizeof u32);
        return field->is_signed ? (int64_t)(int32_t)u32 : (int64_t)u32;
    }
}

/// Stores `value`, which must fit the field's bits, into the struct at `data`.
HC_API void hc_field_set(const struct hc_field *field, void *data, int64_t value);

/// Whether `value` fits the field's bits and signedness.
HC_API bool hc_field_fits(const struct hc_field *field, int64_t value);

/// Writes the position of an alive entity, in wire units, to `*x` and `*y`; false, and nothing
/// written, when its kind has none.
static inline bool hc_world_position(const struct hc_world *world, hc_entity entity,
                                     const void *state, int64_t *x, int64_t *y) {
    const struct hc_kind *kind = hc_world_kind(world, entity);
    int8_t x_field = world->x_of[world->kind_of[entity]],
           y_field = world->y_of[world->kind_of[entity]];
    if (x_field < 0)
        return false;
    *x = hc_field_get(&kind->fields[x_field], state);
    *y = hc_field_get(&kind->fields[y_field], state);
    return true;
}

/// Whether an entity that is alive in both states leaps from one to the other: its field that
/// `teleports` differs, or it is farther in x or y than its kind's `teleport`.
static inline bool hc_world_teleports(const struct hc_world *world, hc_entity entity,
                                      const void *from, const void *to) {
    int64_t x = 0, y = 0, to_x = 0, to_y = 0, most = hc_world_kind(world, entity)->teleport;
    int8_t flag = world->teleports_of[world->kind_of[entity]];
    const struct hc_field *fields = hc_world_kind(world, entity)->fields;
    if (flag >= 0 && hc_field_get(&fields[flag], from) != hc_field_get(&fields[flag], to))
        return true;
    if (!hc_world_position(world, entity, from, &x, &y) ||
        !hc_world_position(world, entity, to, &to_x, &to_y))
        return false;
    return to_x - x > most || x - to_x > most || to_y - y > most || y - to_y > most;
}

/// The index of the field of that name in a kind; -1: it has none, or `name` is NULL.
HC_API int hc_kind_field(const struct hc_kind *kind, const char *name);

/// The hash of a tick over `presence[entities]` and `states[entities * stride]`, as PROTOCOL.md
/// defines it: fields in table order, little-endian; equal on every architecture.
HC_API uint64_t hc_world_hash(const struct hc_world *world, const uint8_t *presence,
                              const uint8_t *states);

/// The hash of a game's name, version, tables and level: a client and a server with different
/// hashes cannot connect. It leaves out rules and `view`, which only the server applies and may
/// change without a new client, and `sampling` and `teleports` of fields.
HC_API uint64_t hc_game_hash(const struct hc_game *game);

/// The hash of a game's rule: of every tick of a fixed match, with random inputs, joins and leaves,
/// that this function plays within milliseconds. A client and a server with different hashes cannot
/// connect, so builds with equal tables and different steps do not meet. 0: the game is invalid, or
/// memory from `allocator` (NULL: malloc) is short.
HC_API uint64_t hc_game_rule_hash(const struct hc_game *game, const struct hc_allocator *allocator);

HC_C_END
