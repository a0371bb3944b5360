/// The run of one client over its link: the client is given what has arrived, advances, and sends
/// what is due. Bots and panes of a window differ in their inputs, and in what they do with events.
///
/// Calls belong in this order:
///   1. the caller sets `udp`, `calls`, `owner` and `search`;
///   2. hc_cl_runner_begin;
///   3. hc_cl_runner_turn after datagrams have arrived (hc_cl_udp_receive), and at its deadline;
///   4. hc_cl_runner_leave, and turns until the deadline is UINT64_MAX;
///   5. hc_cl_runner_end; back to 2.
#pragma once

#include "client/programs/next_server.h"
#include "client/programs/runner_trace.h"
#include "client/programs/udp.h"
#include "common/programs/thinker.h"
#include "hindcast/client.h"

/// The calls of a runner to its owner.
struct hc_cl_runner_calls {
    /// The client has been given what arrived, and advances next. `due`: its deadline has come,
    /// and it takes the inputs that are set by then.
    void (*advances)(void *owner, bool due, uint64_t now_us);
    /// The client has raised an event.
    void (*event)(void *owner, const struct hc_client_event *event, uint64_t now_us);
};

/// A client and its link. All zeros, apart from what the caller sets, before the first client.
struct hc_cl_runner {
    struct hc_client *client; ///< NULL: there is none.
    struct hc_cl_udp *udp;    ///< The link outlives the client.
    const struct hc_cl_runner_calls *calls;
    void *owner;                      ///< The first argument of the calls.
    struct hc_cl_next_server *search; ///< Learns when the connection receives something; or NULL.
    hc_tick decided;       ///< The newest tick for which an input was chosen; HC_NO_TICK: none.
    uint64_t due_us;       ///< The deadline of the client alone, as of its last turn.
    uint64_t received_us;  ///< The newest accepted datagram arrived at this time; 0: none has.
    uint64_t connected_us; ///< The newest datagram of any connection arrived then; 0: none has.
    struct hc_cl_runner_trace trace;
    bool stranded; ///< Another build of the server ended the client, and the search goes on.
};

/// Creates a client that begins to connect, a light one if `light`. False: no memory.
bool hc_cl_runner_begin(struct hc_cl_runner *runner, const struct hc_client_config *config,
                        bool light, uint64_t now_us);

/// Frees the client, if there is one. The link remains.
void hc_cl_runner_end(struct hc_cl_runner *runner);

/// Does everything that is due at `now_us`, and returns the next deadline. Often only the link is
/// due, to send on.
uint64_t hc_cl_runner_turn(struct hc_cl_runner *runner, uint64_t now_us);

/// The time of the next turn without a datagram; UINT64_MAX: the client is closed, and all is sent.
uint64_t hc_cl_runner_deadline(const struct hc_cl_runner *runner);

/// Makes the client leave, in the next turn.
void hc_cl_runner_leave(struct hc_cl_runner *runner, uint64_t now_us);

/// Whether an input is to be chosen: the client has predicted another tick, the `*head`, since the
/// last one was.
bool hc_cl_runner_new_tick(struct hc_cl_runner *runner, hc_tick *head);

/// Lets `brain` choose the input of the client's first player, for the world as it is shown; not of
/// a light client.
void hc_cl_runner_think(const struct hc_cl_runner *runner, struct hc_thinker *brain);
