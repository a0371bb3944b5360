/// Owns the players that the server plays itself: NPCs.
#include "server/host_internal.h"

#include "common/input_fields.h"

#include <string.h>

hc_player hc_sv_host_add_npc(struct hc_sv_host *host) {
    return hc_sv_players_add_npc(&host->clients.players);
}

enum hc_status hc_sv_host_name_npc(struct hc_sv_host *host, hc_player player, const char *name) {
    uint8_t field[HC_TOKEN_NAME_SIZE] = {0};
    if (!hc_sv_players_has_npc(&host->clients.players, player))
        return HC_UNEXPECTED;
    size_t size = strlen(name);
    if (size > sizeof field)
        return HC_INVALID;
    for (size_t i = 0; i < size; i++) // without an ending zero
        field[i] = (uint8_t)name[i];
    if (!hc_sv_users_name_is_valid(field))
        return HC_INVALID;
    hc_sv_players_name_npc(&host->clients.players, player, field,
                           hc_timeline_head(host->timeline) + 1);
    return HC_OK;
}

enum hc_status hc_sv_host_remove_npc(struct hc_sv_host *host, hc_player player) {
    return hc_sv_players_remove_npc(&host->clients.players, player) ? HC_OK : HC_UNEXPECTED;
}

enum hc_status hc_sv_host_put_npc_input(struct hc_sv_host *host, hc_player player, hc_tick tick,
                                        const void *input) {
    const struct hc_game *game = host->world.game;
    uint8_t allowed[HC_INPUT_MAX], before[HC_INPUT_MAX] = {0};
    hc_tick known;
    if (!hc_sv_players_has_npc(&host->clients.players, player))
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
