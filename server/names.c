/// Owns the names of players that each client is sent.
#include "server/names.h"

#include "server/host_internal.h"

#include <string.h>

/// The slot after `slot` (NULL: the first) of a player that the client sees; NULL: there is none.
static struct hc_sv_slot *next_player(const struct hc_sv_view *view, const struct hc_world *world,
                                      const struct hc_sv_slot *slot) {
    struct hc_sv_slot *next = hc_sv_view_slot(view, slot == NULL ? view->first : slot->next);
    while (next != NULL &&
           (!hc_sv_slot_sees(next) || hc_unit_player(world, next->unit) == HC_NO_PLAYER))
        next = hc_sv_view_slot(view, next->next);
    return next;
}

/// The name of the player that the client is shown in this slot; NULL: the player has left or
/// joined since the tick shown.
static const uint8_t *name_of(const struct hc_sv_host *host, const struct hc_sv_client *client,
                              hc_player p) {
    const struct hc_sv_player *player = &host->players[p];
    hc_tick joined = host->replicator.roster.players[p].joined;
    if (!player->in || player->leaving || joined >= client->shown)
        return NULL;
    return player->npc ? player->npc_name : host->peers[player->peer - 1].user.name;
}

/// Whether the client lacks the name of the player in this slot, and `*name` if so.
static bool lacks(const struct hc_sv_host *host, const struct hc_sv_client *client,
                  const struct hc_sv_slot *slot, struct hc_player_name *name) {
    hc_player player = hc_unit_player(&host->world, slot->unit);
    const struct hc_sv_player *now = &host->players[player];
    if (slot->name.acked && slot->name.number == now->name_number)
        return false;
    const uint8_t *known = name_of(host, client, player);
    if (known == NULL || hc_name_size(known) == 0)
        return false;
    *name = (struct hc_player_name){.player = player, .since = now->named};
    memcpy(name->name, known, HC_NAME_MAX);
    return true;
}

/// Gathers the names that the client lacks, as many as a NAMES may have, of players that are still
/// in view at the tick shown.
static uint32_t gather(const struct hc_sv_host *host, const struct hc_sv_client *client,
                       struct hc_player_name names[static HC_NAMES_EACH]) {
    const struct hc_sv_slot *slot = next_player(&client->interest.view, &host->world, NULL);
    uint32_t count = 0;
    if (slot == NULL)
        return 0;
    hc_tick tick = hc_tick_max(client->shown, hc_timeline_oldest(host->timeline));
    struct hc_sv_interest_look look;
    hc_sv_interest_look_at(&client->interest, host->timeline, tick, client->own, client->own_count,
                           &look);
    for (; slot != NULL && count < HC_NAMES_EACH;
         slot = next_player(&client->interest.view, &host->world, slot))
        if (lacks(host, client, slot, &names[count]))
            count += hc_sv_interest_in_view(&look, slot->unit);
    return count;
}

/// Notes in their slots that the names of `players` were sent, or (NULL) were acked. The names and
/// the slots are in the order of players.
static void note(const struct hc_sv_names *names, const struct hc_sv_view *view,
                 const struct hc_sv_player *players) {
    struct hc_sv_slot *slot = hc_sv_view_slot(view, view->first);
    for (uint32_t i = 0; i < names->count && slot != NULL;) {
        const struct hc_player_name *name = &names->sent[i];
        hc_unit unit = (hc_unit)(1 + name->player);
        if (slot->unit == unit)
            slot->name.acked = players == NULL;
        if (slot->unit == unit && players != NULL)
            slot->name.number = players[name->player].name_number;
        if (slot->unit >= unit)
            i++;
        else
            slot = hc_sv_view_slot(view, slot->next);
    }
}

void hc_sv_host_named(struct hc_sv_host *host, hc_player player, hc_tick since) {
    host->players[player].named = since;
    host->players[player].name_number = ++host->newest_name;
}

/// The newest NAMES is acked or lost.
static void settle(struct hc_sv_names *names) {
    names->seq = 0;
    names->due_us = names->sent_us + HC_NAMES_US;
}

void hc_sv_names_acked(struct hc_sv_names *names, struct hc_sv_view *view, uint32_t seq) {
    if (names->seq != seq)
        return;
    note(names, view, NULL);
    settle(names);
}

void hc_sv_names_lost(struct hc_sv_names *names, uint32_t seq) {
    if (names->seq == seq)
        settle(names);
}

/// Microseconds after which a NAMES that is not acked is lost (RFC 6298).
static uint64_t resend_us(const struct hc_connection *connection) {
    uint64_t us = connection->srtt_us + 4 * connection->rttvar_us;
    return us > HC_NAMES_RESEND_US ? us : HC_NAMES_RESEND_US;
}

void hc_sv_names_put(struct hc_sv_host *host, struct hc_sv_peer *peer, struct hc_writer *body,
                     uint64_t now_us) {
    struct hc_sv_names *names = &peer->names;
    if (now_us < names->due_us)
        return;
    names->due_us = now_us + HC_NAMES_US;
    names->seq = 0;
    names->count = gather(host, &peer->replication, names->sent);
    while (names->count > 0 && !hc_message_put_names(body, names->sent, names->count))
        names->count--; // messages took the room
    if (names->count == 0)
        return;
    note(names, &peer->replication.interest.view, host->players);
    names->seq = peer->connection.sent.next;
    names->sent_us = now_us;
    names->due_us = now_us + resend_us(&peer->connection);
}
