/// What client and server count of themselves, and of the time that has passed, against what is
/// counted from outside: as their headers define the numbers, to the last one.
#pragma once

#include "hindcast/client.h"
#include "proto/snapshot.h"
#include "server/host.h"

struct storm_match;

/// Of one client since it was created.
struct storm_client_tally {
    uint64_t in, in_bytes, out, out_bytes, rejected[HC_STATUS_COUNT];
    uint64_t stalls;               ///< events
    uint64_t told, applied, stale; ///< snapshots: taken, not ignored, and of these overtaken ones
    bool any;                      ///< of its connection it has taken one
    hc_tick as_of;                 ///< newest of these
    uint64_t advances, restarts;   ///< as it said when it was looked at last
    hc_tick head;                  ///< then; HC_NO_TICK before the first
    hc_tick shown;                 ///< then, by its newest snapshot
    bool leaves;                   ///< it has said goodbye while it played
    hc_tick left_tick, left_as_of; ///< the newest snapshot then, and its head
    hc_tick left_head;
    uint64_t left_digest;
    size_t bytes; ///< that its allocator has given out
    struct hc_allocator allocator;
};

/// Of the server.
struct storm_host_tally {
    uint64_t out, out_bytes, answers, denials;
    uint64_t snapshots, rewound, copies;
    uint64_t bits; ///< of these snapshots, by what they were spent on
    uint64_t events[HC_SV_EVENT_MOVED + 1];
    hc_tick head;              ///< after its newest advance
    uint64_t resimulated;      ///< ticks up to then
    uint64_t rewinds;          ///< up to then
    hc_tick rewound_from;      ///< the newest advance simulated the states from here to
                               ///< before its head again
    uint64_t closing_until_us; ///< goodbyes may be due until then
};

/// The first `count` numbers after the type of a DATA's first message, all of them unsigned; false
/// when they are not there.
bool storm_counts_peek(const uint8_t *bytes, size_t size, unsigned count, uint64_t *numbers);

/// The head of the SNAPSHOT that a DATA begins with, for a client of `own_count` players; `near` is
/// a tick not far from it. False: there is none.
bool storm_counts_snapshot(const uint8_t *bytes, size_t size, hc_tick near, uint8_t own_count,
                           struct hc_snapshot *out);

/// The type of a DATA's first message; HC_MESSAGE_END: it has none, or is no DATA.
enum hc_message_type storm_counts_type(const uint8_t *bytes, size_t size);

/// A client has been created; the one before it in its seat is gone.
void storm_counts_created(struct storm_match *match, unsigned client);

/// It was accepted again, and begins anew.
void storm_counts_again(struct storm_match *match, unsigned client);

/// It has datagrams to send, or has been handed one.
void storm_counts_sent(struct storm_match *match, unsigned client, size_t size);
void storm_counts_received(struct storm_match *match, unsigned client, const uint8_t *bytes,
                           size_t size, enum hc_status status);

/// It has received or has advanced. It begins anew only at a tick that it could not have predicted.
void storm_counts_changed(struct storm_match *match, unsigned client);

/// It has been told to say goodbye: from now on nothing changes what it holds.
void storm_counts_left(struct storm_match *match, unsigned client);

/// It is about to be gone, or the match to end.
void storm_counts_gone(struct storm_match *match, unsigned client);

/// The server has something to say, an event or a datagram, which may be a copy of the last one.
void storm_counts_host_event(struct storm_match *match, const struct hc_sv_event *event);
void storm_counts_host_sent(struct storm_match *match, unsigned client, const uint8_t *bytes,
                            size_t size, bool copy);

/// The server has advanced its head.
void storm_counts_host_ticked(struct storm_match *match);

/// The match ends.
void storm_counts_end(struct storm_match *match);

/// Everything has been destroyed.
void storm_counts_freed(struct storm_match *match);
