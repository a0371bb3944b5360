/// What the server tells, read by a second reader as it is sent: checked against the server's
/// timeline then, and against what the client holds once it has come.
#pragma once

#include "tests/scenario/play.h"

struct told;

/// For all clients of `play`, which keeps the hooks that are theirs to call.
struct told *told_create(const struct play *play);

void told_destroy(struct told *told);

/// Reads a datagram of the server's, in the hook host_sent. Fails the test unless it shows the tick
/// that it has to, once for each head, and every state and every newest input in it is the
/// server's.
void told_sent(struct told *told, struct play *play, unsigned client, const uint8_t *bytes,
               size_t size);

/// Looks at the newest snapshot that the client has applied, in the hook client_changed. Fails the
/// test unless everything that it told is there, and what it dropped is unknown.
void told_changed(struct told *told, struct play *play, unsigned client);

/// What has been seen of one client since the last told_restart.
struct value_count {
    uint64_t snapshots;                   ///< applied, and all told there was as it was sent
    uint64_t past;                        ///< of those, of a tick before the head
    uint64_t units, corrections, dropped; ///< told in them
    uint64_t inexact;    ///< snapshots at whose tick something in view was not as the server had it
    uint32_t waited;     ///< snapshots in a row that told nothing of some unit in view, the most
    uint64_t exact_us;   ///< when the newest was applied after which all in view was exact
    uint64_t inexact_us; ///< when the newest was applied after which it was not
};
struct value_count value_count(const struct told *told, unsigned client);

/// Begins to count anew.
void told_restart(struct told *told);
