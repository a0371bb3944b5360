/// The final report of hindcast-bot and hindcast-load, as JSON and as a table.
#pragma once

#include "client/bots/fleet.h"
#include "client/bots/options.h"

#include <jansson.h>
#include <stdio.h>

/// The report of one run as one object, which the caller releases. `server` is the report of the
/// server's process, borrowed; NULL: there is none. `why`: what failed beside the clients; empty:
/// nothing. A value that is not known is null.
json_t *hc_cl_report_json(const char *program, const char *version,
                          const struct hc_cl_options *options,
                          const struct hc_cl_fleet_result *result, const json_t *server,
                          const char *why);

/// The report as a table for people, the verdict first.
void hc_cl_report_print(const json_t *report, FILE *out);
