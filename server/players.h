/// Owns the player slots of a world: the client or the NPC that has each, now and next.
///
/// A slot is free, or has an owner. An owner joins when the slot's join is stamped, and leaves when
/// its leave is: the next owner gets the slot then, and joins a tick later.
///
/// Calls belong in this order: hc_sv_players_init; then any, with hc_sv_players_stamp of each
/// occupied slot once per tick; hc_sv_players_free.
#pragma once

#include "hindcast/allocator.h"
#include "hindcast/game.h"
#include "hindcast/tick.h"
#include "proto/limits.h"
#include "proto/token.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// A player slot of the world.
struct hc_sv_player {
    uint16_t peer;        ///< place of the owner + 1; 0: free
    bool in;              ///< the join has been stamped, and no leave since
    bool leaving;         ///< the leave is not yet stamped
    bool npc;             ///< the server's own: it has no peer
    uint16_t next_owner;  ///< of a leaving player: the next owner's place + 1; 0: none yet
    hc_tick named;        ///< of a player that is in: the first tick with its present name
    uint32_t name_number; ///< of a player that is in: of its present name, see
                          ///< hc_sv_players_named
    uint8_t npc_name[HC_TOKEN_NAME_SIZE]; ///< of an NPC; its end is zeros
};

struct hc_sv_players {
    struct hc_sv_player *slots; ///< [count]
    uint32_t count;
    uint32_t newest_name;                   ///< number of the newest name of a player
    uint64_t occupied[HC_PLAYERS_MAX / 64]; ///< bit p: slot p has an owner, or did when the newest
                                            ///< tick began
};

/// Bytes that hc_sv_players_init obtains.
size_t hc_sv_players_memory(uint32_t count);

/// Obtains memory for `count` free slots; false: it is short. hc_sv_players_free in any case.
bool hc_sv_players_init(struct hc_sv_players *players, uint32_t count,
                        const struct hc_allocator *allocator);

/// Gives the memory back. All zeros are allowed.
void hc_sv_players_free(struct hc_sv_players *players, const struct hc_allocator *allocator);

/// The first occupied slot from `from` on; `count`: there is none. So the work of a tick does not
/// depend on the free ones.
hc_player hc_sv_players_next(const struct hc_sv_players *players, uint32_t from);

/// Whether the client in `place` owns `player`, which has joined and is not leaving.
bool hc_sv_players_plays(const struct hc_sv_players *players, unsigned place, hc_player player);

/// Finds up to `count` slots that are free now or at the next tick, lowest first. Returns how many
/// it found.
unsigned hc_sv_players_find(const struct hc_sv_players *players, unsigned count,
                            hc_player found[static HC_OWN_PLAYERS_MAX]);

/// The client in `place` gets the `count` slots, which hc_sv_players_find found: now, or when their
/// owners have left.
void hc_sv_players_assign(struct hc_sv_players *players, unsigned place, unsigned count,
                          const hc_player assigned[static HC_OWN_PLAYERS_MAX]);

/// The client in `place` gives up its `count` slots: it leaves those that it has at the next tick.
void hc_sv_players_leave(struct hc_sv_players *players, unsigned place, unsigned count,
                         const hc_player own[static HC_OWN_PLAYERS_MAX]);

/// The join or leave that is due for `player` at `head`, and takes effect by this call; or none.
enum hc_roster hc_sv_players_stamp(struct hc_sv_players *players, hc_player player, hc_tick head);

/// The player has another name, from the tick `since` on. Names are told apart by their numbers: a
/// player can get several names in one tick.
void hc_sv_players_named(struct hc_sv_players *players, hc_player player, hc_tick since);

/// Gives the highest free slot to an NPC, which joins at the next tick. HC_NO_PLAYER: none is free.
hc_player hc_sv_players_add_npc(struct hc_sv_players *players);

/// Whether `player` is an NPC that is not leaving.
bool hc_sv_players_has_npc(const struct hc_sv_players *players, hc_player player);

/// Names an NPC from the tick `since` on.
void hc_sv_players_name_npc(struct hc_sv_players *players, hc_player player,
                            const uint8_t name[static HC_TOKEN_NAME_SIZE], hc_tick since);

/// Lets an NPC leave at the next tick. Returns false if `player` is none.
bool hc_sv_players_remove_npc(struct hc_sv_players *players, hc_player player);
