/// The threads of a worker. When a call into a match hangs, another thread takes the place of the
/// one that makes it, which uses nothing but the match any more.
#pragma once

#include "server/daemon/worker.h"

#include <event2/event.h>

/// The functions that a runner's thread calls.
struct hc_sv_runner_calls {
    event_callback_fn handshake; ///< a lane of handshakes is readable; the context is the worker
    event_callback_fn mail;      ///< the mailbox has some; the same context
    event_callback_fn timer;     ///< the worker's timer; the same context
    void (*end)(struct hc_sv_worker *worker); ///< the loop has ended
};

/// Makes the worker's first runner, which takes over `doors`, with an event loop. False: no memory
/// or no descriptors.
bool hc_sv_runner_open(struct hc_sv_worker *worker, struct hc_sv_doors *doors,
                       const struct hc_sv_runner_calls *calls);

/// Starts its thread, which receives no signals. False: there is none.
bool hc_sv_runner_start(struct hc_sv_runner *runner);

/// Gives the worker another thread, because the call that the present one began at `since_us`
/// hangs. False: the call has ended, or there is no memory, descriptor or thread. Only the control
/// thread may call it.
bool hc_sv_runner_replace(struct hc_sv_worker *worker, uint64_t since_us);

/// Ends the runners that were replaced and have left their matches, which come back, or whose
/// worlds were left. Calls `returned` for each before; false: its thread must not be joined yet.
/// Only the control thread may call it.
void hc_sv_runner_collect(struct hc_sv_worker *worker,
                          bool (*returned)(void *context, const struct hc_sv_runner *runner),
                          void *context);

/// Frees a runner whose thread has ended; NULL is allowed.
void hc_sv_runner_close(struct hc_sv_runner *runner);
