/// The log line of an event of the server: a client's, or the end of a match.
#pragma once

#include "hindcast/server.h"

#include <jansson.h>

/// The fields of the line, an object that the caller releases; `*name` becomes the name of the
/// line, in static storage. The end of a match has the referee's fields and, if players have a
/// field `score`, the highest one and its player.
json_t *hc_sv_event_line(const struct hc_server *server, const struct hc_server_event *event,
                         const char **name);
