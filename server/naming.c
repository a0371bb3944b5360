/// Finds the names that a client lacks, and writes them.
#include "server/naming.h"

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
static const uint8_t *name_of(const struct hc_sv_clients *clients,
                              const struct hc_sv_roster *roster, const struct hc_sv_client *client,
                              hc_player p) {
    const struct hc_sv_player *player = &clients->players.slots[p];
    if (!player->in || player->leaving || roster->players[p].joined >= client->shown)
        return NULL;
    return player->npc ? player->npc_name : clients->peers[player->peer - 1].user.name;
}

/// Appends the name of the player in this slot if the client lacks it; `sight`: what it sees. It
/// may know the player's unit then, so that a drop ends the name when the player leaves its view:
/// on a congested path messages may go before the unit's first value.
static void add_lacking(struct hc_sv_lacking *lacking, const struct hc_sv_clients *clients,
                        const struct hc_sv_replicator *replicator,
                        const struct hc_sv_client *client, const struct hc_sv_slot *slot,
                        const struct hc_sv_interest_sight *sight) {
    hc_player player = hc_unit_player(replicator->config.world, slot->unit);
    const struct hc_sv_player *now = &clients->players.slots[player];
    if ((slot->name.acked && slot->name.number == now->name_number) ||
        !hc_sv_items_state(&slot->items, &client->sent_log, 0).known)
        return;
    const uint8_t *known = name_of(clients, &replicator->roster, client, player);
    if (known == NULL || hc_name_size(known) == 0 || !hc_sv_interest_in_view(sight, slot->unit))
        return;
    struct hc_player_name *name = &lacking->names[lacking->count];
    *name = (struct hc_player_name){.player = player, .since = now->named};
    memcpy(name->name, known, HC_NAME_MAX);
    lacking->numbers[lacking->count++] = now->name_number;
}

/// Gathers the names that the client lacks, as many as a NAMES may have, of players that are still
/// in view at the tick shown.
static void gather(struct hc_sv_lacking *lacking, const struct hc_sv_clients *clients,
                   const struct hc_sv_replicator *replicator, const struct hc_sv_client *client) {
    const struct hc_world *world = replicator->config.world;
    const struct hc_timeline *timeline = replicator->config.timeline;
    const struct hc_sv_slot *slot = next_player(&client->interest.view, world, NULL);
    if (slot == NULL)
        return;
    hc_tick tick = hc_tick_max(client->shown, hc_timeline_oldest(timeline));
    struct hc_sv_interest_sight sight;
    hc_sv_interest_sight_at(&client->interest, timeline, tick, client->own, client->own_count,
                            &sight);
    for (; slot != NULL && lacking->count < HC_NAMES_EACH;
         slot = next_player(&client->interest.view, world, slot))
        add_lacking(lacking, clients, replicator, client, slot, &sight);
}

void hc_sv_naming_put(const struct hc_sv_clients *clients,
                      const struct hc_sv_replicator *replicator, struct hc_sv_peer *peer,
                      struct hc_writer *body, uint64_t now_us) {
    struct hc_sv_lacking lacking;
    lacking.count = 0;
    if (!hc_sv_names_are_due(&peer->names, now_us))
        return;
    gather(&lacking, clients, replicator, &peer->replication);
    while (lacking.count > 0 && !hc_message_put_names(body, lacking.names, lacking.count))
        lacking.count--; // messages took the room
    if (lacking.count > 0)
        hc_sv_names_sent(&peer->names, &peer->replication.interest.view, &lacking,
                         peer->connection.sent.next, hc_sv_peer_resend_us(peer, HC_NAMES_RESEND_US),
                         now_us);
}
