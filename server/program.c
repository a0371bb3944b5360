/// The queue of events, and the cursors through the messages of clients' games.
#include "server/program.h"

#include "common/alloc.h"
#include "hindcast/check.h"

#include <string.h>

/// Changes of a session, in the order in which those can have happened that are unread.
static const enum hc_server_event_kind change_kinds[] = {
    HC_SERVER_EVENT_RECONNECTED, HC_SERVER_EVENT_MOVED, HC_SERVER_EVENT_LOST};
enum { CHANGE_KINDS = sizeof change_kinds / sizeof change_kinds[0] };

static unsigned event_places(unsigned places) {
    return 2u * places + HC_SV_EVENTS_MORE;
}

size_t hc_sv_program_memory(unsigned places) {
    return event_places(places) * sizeof(struct hc_server_event);
}

bool hc_sv_program_init(struct hc_sv_program *program, unsigned places,
                        const struct hc_allocator *allocator) {
    *program = (struct hc_sv_program){.allocator = allocator, .event_places = event_places(places)};
    program->events = hc_allocate(allocator, hc_sv_program_memory(places));
    return program->events != NULL;
}

void hc_sv_program_free(struct hc_sv_program *program) {
    hc_release(program->allocator, program->events);
    program->events = NULL;
}

// ---- Events -------------------------------------------------------------------------------------

static unsigned bit_of(enum hc_server_event_kind kind) {
    return 1u << kind;
}

/// Places of the queue that are neither taken nor reserved.
static unsigned places_left(const struct hc_sv_program *program) {
    HC_ASSERT(program->event_count + program->sessions <= program->event_places);
    return program->event_places - program->event_count - program->sessions;
}

bool hc_sv_program_has_room(const struct hc_sv_program *program) {
    return places_left(program) >= 2; // JOINED, and what is reserved for the end
}

static void put_event(struct hc_sv_program *program, const struct hc_server_event *event) {
    HC_ASSERT(program->event_count < program->event_places);
    unsigned place = (program->event_first + program->event_count++) % program->event_places;
    program->events[place] = *event;
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

void hc_sv_program_joined(struct hc_sv_program *program, struct hc_sv_peer *peer) {
    struct hc_server_event event = event_of(peer, HC_SERVER_EVENT_JOINED);
    HC_ASSERT(hc_sv_program_has_room(program));
    peer->unread = (struct hc_sv_unread){.cid = peer->connection.cid};
    put_event(program, &event);
    program->sessions++;
}

void hc_sv_program_ended(struct hc_sv_program *program, struct hc_sv_peer *peer,
                         enum hc_server_event_kind kind, bool by_client,
                         enum hc_close_reason close) {
    struct hc_server_event event = event_of(peer, kind);
    event.cid = peer->unread.cid;
    event.close = close;
    event.by_client = by_client;
    if (close == HC_CLOSE_DESYNC)
        event.difference = peer->difference;
    program->unread -= peer->unread.kinds != 0;
    peer->unread.kinds = 0;
    program->sessions--;
    put_event(program, &event);
}

void hc_sv_program_changed(struct hc_sv_program *program, struct hc_sv_peer *peer,
                           enum hc_server_event_kind kind) {
    program->unread += peer->unread.kinds == 0;
    if (kind == HC_SERVER_EVENT_RECONNECTED) // with another address and connection
        peer->unread.kinds = 0;
    peer->unread.kinds |= bit_of(kind);
}

void hc_sv_program_note_round(struct hc_sv_program *program, bool over, hc_tick tick) {
    if (over && !program->round_over && places_left(program) > 0)
        put_event(program,
                  &(struct hc_server_event){.kind = HC_SERVER_EVENT_ROUND_ENDED, .tick = tick});
    program->round_over = over;
}

/// Removes the oldest unread change of a session, and describes it.
static struct hc_server_event next_change(struct hc_sv_program *program, struct hc_sv_peer *peer) {
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
    program->unread -= peer->unread.kinds == 0;
    return event;
}

bool hc_sv_program_poll(struct hc_sv_program *program, const struct hc_sv_clients *clients,
                        struct hc_server_event *event) {
    if (program->event_count > 0) {
        *event = program->events[program->event_first];
        program->event_first = (program->event_first + 1) % program->event_places;
        program->event_count--;
        return true;
    }
    struct hc_sv_peer *peer = NULL;
    if (program->unread == 0)
        return false;
    do
        peer = hc_sv_clients_next(clients, peer);
    while (peer->unread.kinds == 0);
    *event = next_change(program, peer);
    return true;
}

// ---- Messages -----------------------------------------------------------------------------------

void hc_sv_program_arrived(struct hc_sv_program *program, uint32_t messages, uint32_t unreliable) {
    program->messages += messages;
    program->unreliable += unreliable;
}

void hc_sv_program_drop(struct hc_sv_program *program, const struct hc_sv_peer *peer) {
    program->messages -= hc_reliable_channel_unread(&peer->messages);
    program->unreliable -= hc_unreliable_count(&peer->messages.unreliable_in);
}

/// Tells whose message it is.
static void describe(const struct hc_sv_peer *peer, struct hc_server_message *received) {
    received->cid = peer->connection.cid;
    received->client_id = peer->user.client_id;
}

const uint8_t *hc_sv_program_next_message(struct hc_sv_program *program,
                                          const struct hc_sv_clients *clients,
                                          struct hc_server_message *received) {
    const unsigned places = clients->config.places;
    for (unsigned i = 0; program->messages > 0 && i < places; i++) {
        struct hc_sv_peer *peer = &clients->peers[program->message_cursor];
        const uint8_t *message = NULL;
        if (hc_sv_peer_has_session(peer))
            message = hc_reliable_next(&peer->messages.in, &received->size);
        if (message != NULL) {
            program->messages--;
            describe(peer, received);
            return message;
        }
        program->message_cursor = (program->message_cursor + 1) % places;
    }
    return NULL;
}

const uint8_t *hc_sv_program_next_unreliable(struct hc_sv_program *program,
                                             const struct hc_sv_clients *clients,
                                             struct hc_server_message *received) {
    const unsigned places = clients->config.places;
    for (unsigned i = 0; program->unreliable > 0 && i < places; i++) {
        struct hc_sv_peer *peer = &clients->peers[program->unreliable_cursor];
        const uint8_t *message = NULL;
        if (hc_sv_peer_has_session(peer))
            message = hc_unreliable_next(&peer->messages.unreliable_in, &received->size);
        if (message != NULL) {
            program->unreliable--;
            describe(peer, received);
            return message;
        }
        program->unreliable_cursor = (program->unreliable_cursor + 1) % places;
    }
    return NULL;
}
