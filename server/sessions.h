/// Ends sessions, and lets players join and leave.
#pragma once

#include "server/state.h"

/// The side that ends a session, and how the other one learns of it.
enum hc_sv_ending {
    HC_SV_END_SENT,     ///< the server, which sends CLOSE
    HC_SV_END_SILENT,   ///< the server, because there is no connection
    HC_SV_END_CLOSED,   ///< the client, which sent CLOSE
    HC_SV_END_REPLACED, ///< the client, which begins another session
};

/// Ends a session: its players leave at the next tick. `kind`: HC_SERVER_EVENT_LEFT or
/// HC_SERVER_EVENT_TIMEOUT.
void hc_sv_sessions_drop(struct hc_server *server, struct hc_sv_peer *peer,
                         enum hc_server_event_kind kind, enum hc_sv_ending ending,
                         const struct hc_close *close, uint64_t now_us);

/// Ends a session for `reason`, which its client is sent.
void hc_sv_sessions_close(struct hc_server *server, struct hc_sv_peer *peer,
                          enum hc_close_reason reason, uint64_t now_us);

/// Ends the sessions of users that are refused.
void hc_sv_sessions_close_refused(struct hc_server *server, uint64_t now_us);

/// Ends all sessions, and admits nobody any more.
void hc_sv_sessions_close_all(struct hc_server *server, const struct hc_close *close,
                              uint64_t now_us);

/// Begins a tick for the sessions: ends those of silent clients, and stamps the joins and leaves of
/// players.
void hc_sv_sessions_tick(struct hc_server *server, uint64_t now_us);
