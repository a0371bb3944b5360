/// The final report of hindcast-bot and hindcast-load, as JSON and as a table.
#pragma once

#include "client/bots/fleet.h"
#include "client/programs/options.h"

#include <jansson.h>
#include <stdio.h>

/// Makes the report of one run as an object, which the caller releases. `server` is the server's
/// own report, borrowed; NULL: none. `why` is the failure of a process; empty: none. Unknown values
/// are null.
json_t *hc_cl_report_json(const char *program, const char *version,
                          const struct hc_cl_options *options,
                          const struct hc_cl_fleet_result *result, const json_t *server,
                          const char *why);

/// The shape of the reports of a run with these options, which the caller releases: each figure
/// that one may have has its place, with any value. Arrays are empty.
json_t *hc_cl_report_shape(const char *program, const char *version,
                           const struct hc_cl_options *options);

/// Prints the report as a table for people, the verdict first.
void hc_cl_report_print(const json_t *report, FILE *out);

/// Prints the conditions of the link, as a part of a line.
void hc_cl_report_print_link(const json_t *report, FILE *out);

/// Prints how many clients were held, and by which limits not all of them, as a part of a line.
void hc_cl_report_print_held(const json_t *report, FILE *out);

/// Prints the machine, as a part of a line.
void hc_cl_report_print_host(const json_t *report, FILE *out);
