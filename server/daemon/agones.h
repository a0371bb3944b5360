/// A server in a fleet of Agones: what it tells the sidecar of its pod, and what it learns there.
///
/// It runs in the control thread, in this order:
///     1. With --agones-port, the port is learned before it is bound.
///     2. POST /ready, once every worker's loop turns and the first tick ran; not if players may
///        come already, because the gameserver was allocated to a former process of the pod.
///     3. POST /health, more often than twice in the period of the gameserver, while all loops
///     turn.
///     4. The list `players` and the counter `rooms` follow the sessions and the matches.
///     5. Sessions of a gameserver that is Ready or Reserved: POST /allocate. Allocated and empty
///        for --agones-empty-after: as --agones-empty says.
///     6. After a drain: POST /shutdown, and the end on SIGTERM, or after 15 s without one.
///
/// Three connections keep these apart: one for health, one for the stream of changes, and one for
/// all else. A sidecar that is late, slow, gone or wrong is asked again, at most every 5 s; the log
/// has a line when that begins, and one when it ends.
#pragma once

#include "server/daemon/control.h"

struct hc_sv_agones;

/// Opens the client if there is --agones, and with --agones-port waits at most 60 s for the port,
/// which it writes to `port`. `control` is open. NULL: there is none, or `why` is a sentence.
struct hc_sv_agones *hc_sv_agones_open(struct hc_sv_control *control, uint16_t *port, char *why,
                                       size_t why_size);

/// Frees it after the loop has ended; NULL is allowed.
void hc_sv_agones_close(struct hc_sv_agones *agones);
