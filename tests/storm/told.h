/// What the server tells beside the state: corrections of past ticks that a client may still show,
/// and which of its inputs came too late. Both are repeated until they are known to be held, and
/// not after.
///
/// What has reached the server is read off the acks that it sends itself; what has reached a client
/// is seen. Reading every snapshot is dear: in those matches only whose plan says so.
#pragma once

#include "hindcast/client.h"

struct storm_match;
struct storm_told;

/// NULL when this match is not one of those that are looked at.
struct storm_told *storm_told_create(const struct storm_match *match);
void storm_told_destroy(struct storm_told *told);

/// A client sends a datagram.
void storm_told_sent(struct storm_match *match, unsigned client, const uint8_t *bytes, size_t size);

/// The server sends a DATA to the client in this seat.
void storm_told_host_sent(struct storm_match *match, unsigned client, const uint8_t *bytes,
                          size_t size);

/// A client has taken a datagram.
void storm_told_received(struct storm_match *match, unsigned client, const uint8_t *bytes,
                         size_t size);

/// The clients' counters before a client is gone, the server's at the match's end.
void storm_told_gone(struct storm_match *match, unsigned client);
void storm_told_end(struct storm_match *match);

/// How many DATA of the clients the server says that it has taken, and of how many it has said
/// nothing.
uint64_t storm_told_heard(const struct storm_told *told);
uint64_t storm_told_unheard(const struct storm_told *told);
