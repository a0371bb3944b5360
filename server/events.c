/// The host's side of the program: the queue of its events, and the messages of the games.
#include "server/host_internal.h"

#include <string.h>

// ---- Events -------------------------------------------------------------------------------------

// The queue holds what must reach the program one by one and in order. The end of each session has
// a place reserved in it, and a session begins only if there is room for its JOINED too. Other
// changes of a session wait in its peer, where the newest replace the older ones.

/// Other changes of a session, in the order in which those can have happened that are unread.
static const enum hc_server_event_kind change_kinds[] = {
    HC_SERVER_EVENT_RECONNECTED, HC_SERVER_EVENT_MOVED, HC_SERVER_EVENT_LOST};
enum { CHANGE_KINDS = sizeof change_kinds / sizeof change_kinds[0] };

static unsigned bit_of(enum hc_server_event_kind kind) {
    return 1u << kind;
}

/// Places of the queue that are neither taken nor reserved.
static unsigned places_left(const struct hc_sv_host *host) {
    HC_ASSERT(host->event_count + host->sessions <= host->event_places);
    return host->event_places - host->event_count - host->sessions;
}

bool hc_sv_host_events_fit(const struct hc_sv_host *host) {
    return places_left(host) >= 2; // JOINED, and what is reserved for the end
}

static void put_event(struct hc_sv_host *host, const struct hc_server_event *event) {
    HC_ASSERT(host->event_count < host->event_places);
    host->events[(host->event_first + host->event_count++) % host->event_places] = *event;
}

/// Describes a session in an event.
static struct hc_server_event event_of(const struct hc_sv_peer *peer,
                                       enum hc_server_event_kind kind) {
    struct hc_server_event event = {.kind = kind,
                                    .address = peer->address,
                                    .cid = peer->connection.cid,
                                    .client_id = peer->user.client_id,
                                    .player_count = peer->replication.own_count};
    memcpy(event.name, peer->user.name, sizeof event.name);
    memcpy(event.user_data, peer->user.user_data, sizeof event.user_data);
    memcpy(event.players, peer->replication.own, sizeof event.players);
    return event;
}

void hc_sv_host_joined(struct hc_sv_host *host, struct hc_sv_peer *peer) {
    struct hc_server_event event = event_of(peer, HC_SERVER_EVENT_JOINED);
    HC_ASSERT(hc_sv_host_events_fit(host));
    peer->unread = (struct hc_sv_unread){.cid = peer->connection.cid};
    put_event(host, &event);
    host->sessions++;
}

void hc_sv_host_ended_session(struct hc_sv_host *host, struct hc_sv_peer *peer,
                              enum hc_server_event_kind kind, enum hc_sv_ending ending,
                              enum hc_close_reason close) {
    struct hc_server_event event = event_of(peer, kind);
    event.cid = peer->unread.cid;
    event.close = close;
    event.by_client = ending == HC_SV_END_CLOSED || ending == HC_SV_END_REPLACED;
    if (close == HC_CLOSE_DESYNC)
        event.difference = peer->difference;
    host->unread -= peer->unread.kinds != 0;
    peer->unread.kinds = 0;
    host->sessions--;
    put_event(host, &event);
}

void hc_sv_host_changed(struct hc_sv_host *host, struct hc_sv_peer *peer,
                        enum hc_server_event_kind kind) {
    host->unread += peer->unread.kinds == 0;
    if (kind == HC_SERVER_EVENT_RECONNECTED) // with another address and connection
        peer->unread.kinds = 0;
    peer->unread.kinds |= bit_of(kind);
}

/// Removes the oldest unread change of a session, and describes it.
static struct hc_server_event next_change(struct hc_sv_host *host, struct hc_sv_peer *peer) {
    unsigned next = 0;
    while ((peer->unread.kinds & bit_of(change_kinds[next])) == 0)
        next++;
    HC_ASSERT(next < CHANGE_KINDS);
    struct hc_server_event event = event_of(peer, change_kinds[next]);
    if (event.kind == HC_SERVER_EVENT_RECONNECTED)
        event.before = peer->unread.cid;
    if (event.kind == HC_SERVER_EVENT_LOST)
        event.close = HC_CLOSE_TIMEOUT;
    peer->unread.cid = event.cid;
    peer->unread.kinds &= ~bit_of(event.kind);
    host->unread -= peer->unread.kinds == 0;
    return event;
}

void hc_sv_host_note_matches(struct hc_sv_host *host, hc_tick before) {
    const struct hc_game *game = host->world.game;
    for (hc_tick t = before; game->match_over != NULL && t < host->replicator.final;) {
        t++;
        const uint8_t *referee = hc_timeline_states(host->timeline, t);
        bool over = hc_timeline_presence(host->timeline, t)[HC_REFEREE] == HC_ALIVE &&
                    game->match_over(&host->world, referee);
        if (over && !host->match_over && places_left(host) > 0)
            put_event(host,
                      &(struct hc_server_event){.kind = HC_SERVER_EVENT_MATCH_ENDED, .tick = t});
        host->match_over = over;
    }
}

bool hc_sv_host_poll_event(struct hc_sv_host *host, struct hc_server_event *event) {
    if (host->event_count > 0) {
        *event = host->events[host->event_first];
        host->event_first = (host->event_first + 1) % host->event_places;
        host->event_count--;
        return true;
    }
    struct hc_sv_peer *peer = NULL;
    if (host->unread == 0)
        return false;
    do
        peer = hc_sv_clients_next(&host->clients, peer);
    while (peer->unread.kinds == 0);
    *event = next_change(host, peer);
    return true;
}

uint32_t hc_sv_host_sessions(const struct hc_sv_host *host, struct hc_server_session *out,
                             uint32_t most) {
    uint32_t count = hc_sv_clients_sessions(&host->clients, out, most);
    HC_ASSERT(count == host->sessions);
    return count;
}

// ---- Messages of the game -----------------------------------------------------------------------

void hc_sv_host_drop_unread(struct hc_sv_host *host, const struct hc_sv_peer *peer) {
    host->unread_messages -= hc_events_channel_unread(&peer->messages);
    host->unread_unreliable -= hc_unreliable_count(&peer->messages.unreliable_in);
}

enum hc_status hc_sv_host_send_message(struct hc_sv_host *host, uint32_t cid, const void *message,
                                       size_t size, uint64_t now_us) {
    struct hc_sv_peer *peer = hc_sv_clients_of_cid(&host->clients, cid);
    if (peer == NULL || !hc_sv_peer_has_session(peer))
        return HC_UNEXPECTED;
    enum hc_status status = hc_events_put(&peer->messages.out, message, size);
    if (status == HC_FULL)
        hc_sv_host_drop(host, peer, HC_SERVER_EVENT_LEFT, HC_SV_END_SENT,
                        &(struct hc_close){.reason = HC_CLOSE_TIMEOUT}, now_us);
    return status;
}

enum hc_status hc_sv_host_send_unreliable(struct hc_sv_host *host, uint32_t cid,
                                          const void *message, size_t size) {
    struct hc_sv_peer *peer = hc_sv_clients_of_cid(&host->clients, cid);
    if (peer == NULL || peer->state != HC_SV_PEER_PLAYING)
        return HC_UNEXPECTED;
    enum hc_status status = hc_unreliable_put(&peer->messages.unreliable_out, message, size);
    host->stats.unreliable_dropped += status == HC_FULL;
    return status;
}

const uint8_t *hc_sv_host_next_message(struct hc_sv_host *host,
                                       struct hc_server_message *received) {
    for (unsigned i = 0; host->unread_messages > 0 && i < host->clients.config.places; i++) {
        struct hc_sv_peer *peer = &host->clients.peers[host->message_cursor];
        const uint8_t *message = NULL;
        if (hc_sv_peer_has_session(peer))
            message = hc_events_next(&peer->messages.in, &received->size);
        if (message != NULL) {
            host->unread_messages--;
            received->cid = peer->connection.cid;
            received->client_id = peer->user.client_id;
            return message;
        }
        host->message_cursor = (host->message_cursor + 1) % host->clients.config.places;
    }
    return NULL;
}

const uint8_t *hc_sv_host_next_unreliable(struct hc_sv_host *host,
                                          struct hc_server_message *received) {
    for (unsigned i = 0; host->unread_unreliable > 0 && i < host->clients.config.places; i++) {
        struct hc_sv_peer *peer = &host->clients.peers[host->unreliable_cursor];
        const uint8_t *message = NULL;
        if (hc_sv_peer_has_session(peer))
            message = hc_unreliable_next(&peer->messages.unreliable_in, &received->size);
        if (message != NULL) {
            host->unread_unreliable--;
            received->cid = peer->connection.cid;
            received->client_id = peer->user.client_id;
            return message;
        }
        host->unreliable_cursor = (host->unreliable_cursor + 1) % host->clients.config.places;
    }
    return NULL;
}

bool hc_sv_host_next_game_event(struct hc_sv_host *host, struct hc_server_game_event *event) {
    struct hc_sv_final_event next;
    if (!hc_sv_final_events_next(&host->replicator.final_events, &next))
        return false;
    *event = (struct hc_server_game_event){.tick = next.tick,
                                           .entity = next.entity,
                                           .kind = (uint8_t)hc_game_event_kind(next.event),
                                           .number = hc_game_event_number(next.event)};
    return true;
}
