/// Owns what waits for the program that embeds the server: events, and the counts of messages of
/// clients' games.
///
/// A queue holds the events that must reach the program one by one and in order. The end of each
/// session has a place reserved in it, and a session begins only if there is room for its JOINED
/// too. Other changes of a session wait in its peer, where the newest replace the older ones.
///
/// Calls belong in this order: hc_sv_program_init; hc_sv_program_joined for each session,
/// hc_sv_program_changed in it, hc_sv_program_ended at its end; hc_sv_program_free.
#pragma once

#include "server/clients.h"

enum {
    HC_SV_EVENTS_MORE = 64, ///< places for events, beside two for each client's
};

struct hc_sv_program {
    const struct hc_allocator *allocator;
    struct hc_server_event *events; ///< [event_places], a ring
    unsigned event_places, event_first, event_count;
    unsigned sessions;          ///< sessions that have begun and not ended
    unsigned unread;            ///< peers with changes that the program has not read
    bool round_over;            ///< at the newest tick that was noted
    unsigned messages;          ///< of clients' games that the program has not read
    unsigned unreliable;        ///< unreliable ones that it has not read
    unsigned message_cursor;    ///< place of the peer whose messages are read next
    unsigned unreliable_cursor; ///< place of the peer whose unreliable ones are read next
};

/// Bytes that hc_sv_program_init obtains.
size_t hc_sv_program_memory(unsigned places);

/// Obtains memory for the events of `places` clients; false: it is short. hc_sv_program_free in any
/// case.
bool hc_sv_program_init(struct hc_sv_program *program, unsigned places,
                        const struct hc_allocator *allocator);

/// Gives the memory back. All zeros are allowed.
void hc_sv_program_free(struct hc_sv_program *program);

// ---- Events -------------------------------------------------------------------------------------

/// Whether a session can begin.
bool hc_sv_program_has_room(const struct hc_sv_program *program);

/// A session begins: queues JOINED. hc_sv_program_has_room.
void hc_sv_program_joined(struct hc_sv_program *program, struct hc_sv_peer *peer);

/// A session has ended: queues `kind`, LEFT or TIMEOUT, in the place that is reserved for it.
/// `by_client`: its client ended it.
void hc_sv_program_ended(struct hc_sv_program *program, struct hc_sv_peer *peer,
                         enum hc_server_event_kind kind, bool by_client,
                         enum hc_close_reason close);

/// A session was lost, has reconnected, or has moved: the program reads how it stands then.
void hc_sv_program_changed(struct hc_sv_program *program, struct hc_sv_peer *peer,
                           enum hc_server_event_kind kind);

/// Notes whether a round is over at `tick`, the next final one. Queues ROUND_ENDED if it was not at
/// the tick before, and the program reads events.
void hc_sv_program_note_round(struct hc_sv_program *program, bool over, hc_tick tick);

/// Removes the next event and writes it; false: there is none.
bool hc_sv_program_poll(struct hc_sv_program *program, const struct hc_sv_clients *clients,
                        struct hc_server_event *event);

// ---- Messages -----------------------------------------------------------------------------------

/// Counts messages of a client that its peer has taken.
void hc_sv_program_arrived(struct hc_sv_program *program, uint32_t messages, uint32_t unreliable);

/// Takes the peer's unread messages from the counts, before they are dropped.
void hc_sv_program_drop(struct hc_sv_program *program, const struct hc_sv_peer *peer);

/// The next message of a client, described in `*received`, valid until the next one is taken; NULL:
/// there is none.
const uint8_t *hc_sv_program_next_message(struct hc_sv_program *program,
                                          const struct hc_sv_clients *clients,
                                          struct hc_server_message *received);

/// The same of unreliable messages.
const uint8_t *hc_sv_program_next_unreliable(struct hc_sv_program *program,
                                             const struct hc_sv_clients *clients,
                                             struct hc_server_message *received);
