/// Where a thread is in a match: the call that it makes, and the step that the call takes. A
/// handler of a signal, which has interrupted the thread, may ask for it.
#pragma once

#include "hindcast/server.h"

struct hc_sv_here {
    unsigned match;    ///< the number of the match; 0: the thread is in no match
    const char *phase; ///< what the call does: "receive", "advance", "send" or "next-world"
    hc_tick tick;      ///< of the step, or the newest one; 0 in a world that is not made yet
    bool steps;        ///< the call takes a step
    hc_entity entity;  ///< of the step
};

/// This thread begins a call into `server` (NULL: it is being made) of match `match`. `phase` is
/// borrowed for ever.
void hc_sv_here_begin(unsigned match, const char *phase, const struct hc_server *server);

/// The call has ended.
void hc_sv_here_end(void);

/// Where this thread is; handlers of signals may call it.
struct hc_sv_here hc_sv_here_now(void);
