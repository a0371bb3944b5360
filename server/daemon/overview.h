/// The JSON of /status (--admin): the daemon, its matches and their clients.
#pragma once

#include "server/daemon/control.h"

#include <jansson.h>

enum { HC_SV_OVERVIEW_SCHEMA = 1 }; ///< `schema_version`, by the rules of reports

/// Makes an object, which the caller releases, after hc_sv_control_ask was answered. Of a
/// match that hangs, and of those of a worker that has not answered, `current` is false, and they
/// have no clients.
json_t *hc_sv_overview_json(struct hc_sv_control *control);
