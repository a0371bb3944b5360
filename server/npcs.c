/// Owns the players that the server plays itself: NPCs.
#include "server/host_internal.h"

#include "common/input_fields.h"

#include <string.h>

hc_player hc_sv_host_add_npc(struct hc_sv_host *host) {
    for (hc_player p = host->world.players; p-- > 0;) {
        struct hc_sv_player *player = &host->players[p];
        if (player->peer != 0 || player->npc)
            continue;
        player->npc = true;
        hc_sv_host_occupy(host, p);
        return p;
    }
    return HC_NO_PLAYER;
}

enum hc_status hc_sv_host_name_npc(struct hc_sv_host *host, hc_player player, const char *name) {
    uint8_t field[HC_TOKEN_NAME_SIZE] = {0};
    if (player >= host->world.players || !host->players[player].npc ||
        host->players[player].leaving)
        return HC_UNEXPECTED;
    size_t size = strlen(name);
    if (size > sizeof field)
        return HC_INVALID;
    for (size_t i = 0; i < size; i++) // without an ending zero
        field[i] = (uint8_t)name[i];
    if (!hc_sv_users_name_is_valid(field))
        return HC_INVALID;
    struct hc_sv_player *npc = &host->players[player];
    memcpy(npc->npc_name, field, sizeof field);
    hc_sv_host_named(host, player, hc_timeline_head(host->timeline) + 1);
    return HC_OK;
}

enum hc_status hc_sv_host_remove_npc(struct hc_sv_host *host, hc_player player) {
    if (player >= host->world.players || !host->players[player].npc)
        return HC_UNEXPECTED;
    host->players[player].leaving = true;
    return HC_OK;
}

enum hc_status hc_sv_host_put_npc_input(struct hc_sv_host *host, hc_player player, hc_tick tick,
                                        const void *input) {
    const struct hc_game *game = host->world.game;
    uint8_t allowed[HC_INPUT_MAX], before[HC_INPUT_MAX] = {0};
    hc_tick known;
    if (player >= host->world.players || !host->players[player].npc ||
        host->players[player].leaving)
        return HC_UNEXPECTED;
    if (tick < hc_timeline_head(host->timeline))
        return HC_TOO_OLD;
    memcpy(allowed, input, game->input_size);
    hc_input_cut(game, allowed);
    game->sanitize_input(allowed);
    uint32_t ahead = tick - hc_timeline_head(host->timeline);
    hc_shown_ago_set(game, allowed, ahead, ahead);
    enum hc_status status = hc_timeline_put_input(host->timeline, player, tick, allowed);
    if (status == HC_OK) {
        hc_sv_roster_input(&host->replicator.roster, player, tick);
        hc_timeline_newest_input(host->timeline, player, tick, &known, before);
        hc_sv_replicator_turn(&host->replicator, player, before, allowed);
    }
    return status;
}
