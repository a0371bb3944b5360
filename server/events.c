/// The host's side of the program: the queue of its events, and the messages of the games.
#include "server/host_internal.h"

#include <string.h>

// ---- Events -------------------------------------------------------------------------------------

static void put_event(struct hc_sv_host *host, const struct hc_server_event *event) {
    if (host->event_count < HC_SV_EVENTS)
        host->events[(host->event_first + host->event_count++) % HC_SV_EVENTS] = *event;
}

void hc_sv_host_event(struct hc_sv_host *host, const struct hc_sv_peer *peer,
                      enum hc_server_event_kind kind, enum hc_close_reason close) {
    struct hc_server_event event = {.kind = kind,
                                    .address = peer->address,
                                    .cid = peer->connection.cid,
                                    .before =
                                        kind == HC_SERVER_EVENT_RECONNECTED ? peer->continues : 0,
                                    .close = close,
                                    .tick = close == HC_CLOSE_DESYNC ? peer->desync_tick : 0,
                                    .client_id = peer->user.client_id,
                                    .player_count = peer->replication.own_count};
    memcpy(event.name, peer->user.name, sizeof event.name);
    memcpy(event.user_data, peer->user.user_data, sizeof event.user_data);
    memcpy(event.players, peer->replication.own, sizeof event.players);
    put_event(host, &event);
}

void hc_sv_host_note_matches(struct hc_sv_host *host, hc_tick before) {
    const struct hc_game *game = host->world.game;
    for (hc_tick t = before; game->match_over != NULL && t < host->replicator.final;) {
        t++;
        const uint8_t *referee = hc_timeline_states(host->timeline, t);
        bool over = hc_timeline_presence(host->timeline, t)[HC_REFEREE] == HC_ALIVE &&
                    game->match_over(&host->world, referee);
        if (over && !host->match_over)
            put_event(host,
                      &(struct hc_server_event){.kind = HC_SERVER_EVENT_MATCH_ENDED, .tick = t});
        host->match_over = over;
    }
}

bool hc_sv_host_poll_event(struct hc_sv_host *host, struct hc_server_event *event) {
    if (host->event_count == 0)
        return false;
    *event = host->events[host->event_first];
    host->event_first = (host->event_first + 1) % HC_SV_EVENTS;
    host->event_count--;
    return true;
}

// ---- Messages of the game -----------------------------------------------------------------------

void hc_sv_host_drop_unread(struct hc_sv_host *host, const struct hc_sv_peer *peer) {
    host->unread_messages -= hc_events_channel_unread(&peer->messages);
    host->unread_unreliable -= hc_unreliable_count(&peer->messages.unreliable_in);
}

enum hc_status hc_sv_host_send_message(struct hc_sv_host *host, uint32_t cid, const void *message,
                                       size_t size, uint64_t now_us) {
    struct hc_sv_peer *peer = hc_sv_host_peer(host, cid);
    if (peer == NULL || !hc_sv_peer_has_session(peer))
        return HC_UNEXPECTED;
    enum hc_status status = hc_events_put(&peer->messages.out, message, size);
    if (status == HC_FULL)
        hc_sv_host_drop(host, peer, HC_SERVER_EVENT_LEFT, HC_CLOSE_TIMEOUT, true, now_us);
    return status;
}

enum hc_status hc_sv_host_send_unreliable(struct hc_sv_host *host, uint32_t cid,
                                          const void *message, size_t size) {
    struct hc_sv_peer *peer = hc_sv_host_peer(host, cid);
    if (peer == NULL || peer->state != HC_SV_PEER_PLAYING)
        return HC_UNEXPECTED;
    enum hc_status status = hc_unreliable_put(&peer->messages.unreliable_out, message, size);
    host->stats.unreliable_dropped += status == HC_FULL;
    return status;
}

const uint8_t *hc_sv_host_next_message(struct hc_sv_host *host,
                                       struct hc_server_message *received) {
    for (unsigned i = 0; host->unread_messages > 0 && i < host->config.clients; i++) {
        struct hc_sv_peer *peer = &host->peers[host->message_cursor];
        const uint8_t *message = NULL;
        if (hc_sv_peer_has_session(peer))
            message = hc_events_next(&peer->messages.in, &received->size);
        if (message != NULL) {
            host->unread_messages--;
            received->cid = peer->connection.cid;
            received->client_id = peer->user.client_id;
            return message;
        }
        host->message_cursor = (host->message_cursor + 1) % host->config.clients;
    }
    return NULL;
}

const uint8_t *hc_sv_host_next_unreliable(struct hc_sv_host *host,
                                          struct hc_server_message *received) {
    for (unsigned i = 0; host->unread_unreliable > 0 && i < host->config.clients; i++) {
        struct hc_sv_peer *peer = &host->peers[host->unreliable_cursor];
        const uint8_t *message = NULL;
        if (hc_sv_peer_has_session(peer))
            message = hc_unreliable_next(&peer->messages.unreliable_in, &received->size);
        if (message != NULL) {
            host->unread_unreliable--;
            received->cid = peer->connection.cid;
            received->client_id = peer->user.client_id;
            return message;
        }
        host->unreliable_cursor = (host->unreliable_cursor + 1) % host->config.clients;
    }
    return NULL;
}

bool hc_sv_host_next_game_event(struct hc_sv_host *host, struct hc_server_game_event *event) {
    struct hc_sv_final_event next;
    if (!hc_sv_journal_next(&host->replicator.journal, &next))
        return false;
    *event = (struct hc_server_game_event){.tick = next.tick,
                                           .entity = next.entity,
                                           .kind = (uint8_t)hc_game_event_kind(next.event),
                                           .number = hc_game_event_number(next.event)};
    return true;
}
