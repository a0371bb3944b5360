/// The inspector: the page of the admin face that shows matches while they play, and the events
/// that it is sent (server-sent events), about ten a second.
///
/// A match is looked at by a probe (server/daemon/probe.h) as long as somebody reads its events.
/// A reader that is slow misses frames, and one that reads nothing for some seconds is closed.
#pragma once

#include "server/daemon/control.h"

struct bufferevent;
struct evhttp_request;
struct hc_sv_inspector;

enum { HC_SV_INSPECTOR_READERS = 16 }; ///< at once

/// Makes the inspector of a daemon, which borrows `control`. NULL: no memory.
struct hc_sv_inspector *hc_sv_inspector_open(struct hc_sv_control *control);

/// Closes it, after its HTTP server and once no worker runs any more; NULL is allowed.
void hc_sv_inspector_close(struct hc_sv_inspector *inspector);

/// Whether a request is for the inspector, by its path.
bool hc_sv_inspector_is_asked(struct evhttp_request *request);

/// Answers such a request, which may be made.
void hc_sv_inspector_answer(struct hc_sv_inspector *inspector, struct evhttp_request *request);

/// Whether events are sent to this connection.
bool hc_sv_inspector_sends(const struct hc_sv_inspector *inspector,
                           const struct bufferevent *connection);
