/// The world as a client knows it: the timeline that it predicts and rolls back, the snapshots
/// that change it, and the part of it that is shown.
///
/// Calls belong in this order:
///   1. hc_cl_world_init;
///   2. for each connection: hc_cl_world_build;
///   3. for each DATA: hc_cl_world_read for each message of the world; once the DATA is accepted,
///      hc_cl_snapshot_reader_accept, hc_cl_world_roster for each roster change of the snapshot,
///      hc_cl_world_take, hc_cl_world_forget_names, and hc_cl_world_name for each name;
///   4. for each tick: hc_cl_world_put_input for each new input of the own players, and
///      hc_cl_world_advance;
///   5. hc_cl_world_free.
#pragma once

#include "client/world/display.h"
#include "client/world/game_events.h"
#include "client/world/interpolation.h"
#include "client/world/seen.h"
#include "client/world/snapshot_reader.h"
#include "common/timeline.h"
#include "hindcast/client.h"
#include "proto/message.h"

enum {
    HC_CL_WORLD_FUTURE_MIN = 64, ///< ticks after the head that take inputs, at least
    HC_CL_WORLD_AHEAD_MIN = 48,  ///< ticks that input delay and lead may be together, at least
};

/// Only world.c writes to it, apart from the members that have a header of their own.
struct hc_cl_world {
    const struct hc_client_config *config; ///< borrowed
    struct hc_client_stats *stats;         ///< The counts of the client; borrowed.
    const struct hc_client *client;        ///< The argument of the game's hooks, nothing else.
    struct hc_world game_world;            ///< The world of the server; zeros before the first.
    hc_player own[HC_OWN_PLAYERS_MAX];     ///< [own_count] the own players
    uint8_t own_count;
    struct hc_timeline *timeline; ///< NULL: there was no connection yet.
    struct hc_cl_snapshot_reader *reader;
    struct hc_cl_interpolation interpolation;
    struct hc_cl_seen seen;
    void *memory; ///< The memory of `interpolation` and of `seen`.
    size_t bytes; ///< The size of everything that was built.
    struct hc_cl_display display;
    struct hc_cl_game_events game_events; ///< The game events, whose queue outlives a connection.
    uint32_t rollback_ticks;              ///< The depth of the newest rollback.
};

/// The messages of one DATA that are of the world.
struct hc_cl_world_messages {
    const struct hc_cl_received *snapshot; ///< NULL: none
    bool has_differs;
    struct hc_differs differs;
    uint32_t name_count;
    struct hc_player_name names[HC_NAMES_EACH]; ///< [name_count]
};

/// Sets configuration, counts and the argument of the game's hooks, which are borrowed. Zeros come
/// before it.
void hc_cl_world_init(struct hc_cl_world *world, const struct hc_client_config *config,
                      struct hc_client_stats *stats, const struct hc_client *client);

/// Frees what was built, and builds the world of a WELCOME, without a state. `input_delay`: the
/// greatest that may be in effect; `ahead`: input delay and lead are at most so many together, at
/// least HC_CL_WORLD_AHEAD_MIN; both in ticks. False: memory is short; hc_cl_world_free frees the
/// allocated part.
bool hc_cl_world_build(struct hc_cl_world *world, const struct hc_welcome *welcome,
                       uint32_t input_delay, uint32_t ahead);

/// The configuration has another display offset, at most its maximum, or shows the others otherwise,
/// from a position in simulated time on, in 1/HC_CL_INTERPOLATION_WHOLE ticks.
void hc_cl_world_choose_display(struct hc_cl_world *world, int64_t position);

/// Frees what was built; NULL is allowed.
void hc_cl_world_free(struct hc_cl_world *world);

/// Whether messages of `type` are of the world.
bool hc_cl_world_reads(enum hc_message_type type);

/// Reads the present message of `body`, and changes nothing but counts of hashes. `near` is a tick
/// within 32767 of the server tick of a snapshot. HC_OK or the reason of the refusal; HC_INVALID: a
/// snapshot's hash is wrong.
enum hc_status hc_cl_world_read(struct hc_cl_world *world, const struct hc_body *body, hc_tick near,
                                struct hc_cl_world_messages *messages);

/// The newest predicted tick, after the first snapshot was taken.
hc_tick hc_cl_world_head(const struct hc_cl_world *world);

/// Puts a snapshot that was accepted into the timeline, rolls back, and turns what changes in the
/// shown state into errors that fade. `overtaken`: a newer one was taken before. `position`: in
/// simulated time, in 1/HC_CL_INTERPOLATION_WHOLE ticks. True: the timeline began anew at the
/// snapshot's tick, because it is the first or newer than the head.
bool hc_cl_world_take(struct hc_cl_world *world, const struct hc_cl_received *snapshot,
                      bool overtaken, int64_t position, uint64_t now_us);

/// Takes a roster change. True: it is new and of another player; `*event` tells the game, and
/// borrows the name.
bool hc_cl_world_roster(struct hc_cl_world *world, const struct hc_snapshot_roster *change,
                        struct hc_client_event *event);

/// Forgets the names of players that a snapshot in the DATA `seq` drops: when they return they may
/// have left meanwhile, and others have taken their places.
void hc_cl_world_forget_names(struct hc_cl_world *world, const struct hc_cl_received *snapshot,
                              uint32_t seq);

/// Takes a name in the DATA `seq`. True: it is new; `*event` tells the game.
bool hc_cl_world_name(struct hc_cl_world *world, const struct hc_player_name *name, uint32_t seq,
                      struct hc_client_event *event);

/// Puts the input of the own player `index` at `tick` into the timeline.
void hc_cl_world_put_input(struct hc_cl_world *world, unsigned index, hc_tick tick,
                           const void *input);

/// Predicts the tick `head`, the one after the newest predicted one, while the newest snapshot is
/// of the tick `newest`.
void hc_cl_world_advance(struct hc_cl_world *world, hc_tick head, hc_tick newest);

/// The times shown at a position in simulated time, in 1/HC_CL_INTERPOLATION_WHOLE ticks; after the
/// first snapshot.
struct hc_cl_interpolation_times hc_cl_world_times(const struct hc_cl_world *world,
                                                   int64_t position);

/// Delivers the game events that are shown at a position in simulated time, in
/// 1/HC_CL_INTERPOLATION_WHOLE ticks; after the first snapshot.
void hc_cl_world_show_events(struct hc_cl_world *world, int64_t position);
