/// The owners of player slots.
#include "server/players.h"

#include "common/alloc.h"
#include "common/mark.h"

#include <string.h>

size_t hc_sv_players_memory(uint32_t count) {
    return count * sizeof(struct hc_sv_player);
}

bool hc_sv_players_init(struct hc_sv_players *players, uint32_t count,
                        const struct hc_allocator *allocator) {
    *players = (struct hc_sv_players){.count = count};
    players->slots = hc_allocate(allocator, hc_sv_players_memory(count));
    return players->slots != NULL;
}

void hc_sv_players_free(struct hc_sv_players *players, const struct hc_allocator *allocator) {
    hc_release(allocator, players->slots);
    players->slots = NULL;
}

// ---- Owners -------------------------------------------------------------------------------------

static uint64_t bit_of(hc_player player) {
    return UINT64_C(1) << player % 64;
}

static void occupy(struct hc_sv_players *players, hc_player player) {
    players->occupied[player / 64] |= bit_of(player);
}

hc_player hc_sv_players_next(const struct hc_sv_players *players, uint32_t from) {
    for (; from < players->count; from = (from / 64 + 1) * 64) {
        uint64_t left = players->occupied[from / 64] >> from % 64;
        if (left != 0)
            return (hc_player)(from + (uint32_t)__builtin_ctzll(left));
    }
    return (hc_player)players->count;
}

bool hc_sv_players_plays(const struct hc_sv_players *players, unsigned place, hc_player player) {
    const struct hc_sv_player *slot = &players->slots[player];
    return slot->in && !slot->leaving && slot->peer == place + 1;
}

static bool is_available(const struct hc_sv_player *player) {
    return (player->peer == 0 && !player->npc) || (player->leaving && player->next_owner == 0);
}

unsigned hc_sv_players_find(const struct hc_sv_players *players, unsigned count,
                            hc_player found[static HC_OWN_PLAYERS_MAX]) {
    unsigned n = 0;
    for (hc_player p = 0; p < players->count && n < count; p++)
        if (is_available(&players->slots[p]))
            found[n++] = p;
    return n;
}

void hc_sv_players_assign(struct hc_sv_players *players, unsigned place, unsigned count,
                          const hc_player assigned[static HC_OWN_PLAYERS_MAX]) {
    for (unsigned i = 0; i < count; i++) {
        struct hc_sv_player *player = &players->slots[assigned[i]];
        occupy(players, assigned[i]);
        *(player->leaving ? &player->next_owner : &player->peer) = (uint16_t)(place + 1);
    }
}

void hc_sv_players_leave(struct hc_sv_players *players, unsigned place, unsigned count,
                         const hc_player own[static HC_OWN_PLAYERS_MAX]) {
    for (unsigned i = 0; i < count; i++) {
        struct hc_sv_player *player = &players->slots[own[i]];
        if (player->next_owner == place + 1) // it never had the slot: the owner before has not left
            player->next_owner = 0;
        else
            player->leaving = true;
    }
}

enum hc_roster hc_sv_players_stamp(struct hc_sv_players *players, hc_player p, hc_tick head) {
    struct hc_sv_player *player = &players->slots[p];
    if (player->leaving) { // its next owner joins a tick later
        bool was_in = player->in;
        if (player->next_owner != 0)
            HC_MARK("slot-inherited");
        *player = (struct hc_sv_player){.peer = player->next_owner};
        if (player->peer == 0)
            players->occupied[p / 64] &= ~bit_of(p);
        return was_in ? HC_ROSTER_LEAVE : HC_ROSTER_NONE;
    }
    if ((player->peer == 0 && !player->npc) || player->in)
        return HC_ROSTER_NONE;
    player->in = true;
    hc_sv_players_named(players, p, head + 1);
    return HC_ROSTER_JOIN;
}

// ---- Names and NPCs -----------------------------------------------------------------------------

void hc_sv_players_named(struct hc_sv_players *players, hc_player player, hc_tick since) {
    players->slots[player].named = since;
    players->slots[player].name_number = ++players->newest_name;
}

hc_player hc_sv_players_add_npc(struct hc_sv_players *players) {
    for (uint32_t p = players->count; p-- > 0;) {
        struct hc_sv_player *player = &players->slots[p];
        if (player->peer != 0 || player->npc)
            continue;
        player->npc = true;
        occupy(players, (hc_player)p);
        return (hc_player)p;
    }
    return HC_NO_PLAYER;
}

bool hc_sv_players_has_npc(const struct hc_sv_players *players, hc_player player) {
    return player < players->count && players->slots[player].npc && !players->slots[player].leaving;
}

void hc_sv_players_name_npc(struct hc_sv_players *players, hc_player player,
                            const uint8_t name[static HC_TOKEN_NAME_SIZE], hc_tick since) {
    memcpy(players->slots[player].npc_name, name, HC_TOKEN_NAME_SIZE);
    hc_sv_players_named(players, player, since);
}

bool hc_sv_players_remove_npc(struct hc_sv_players *players, hc_player player) {
    if (player >= players->count || !players->slots[player].npc)
        return false;
    players->slots[player].leaving = true;
    return true;
}
