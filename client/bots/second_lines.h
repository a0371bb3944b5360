/// The lines of --json-lines: one JSON object for each second of a run.
#pragma once

#include "client/bots/fleet.h"

#include <stdio.h>

/// The lines of a run. All zeros: none are written.
struct hc_cl_second_lines {
    FILE *out;                          ///< borrowed
    uint32_t clients;                   ///< of the run
    struct hc_cl_fleet_progress before; ///< of the line before
};

/// Begins the lines of a run.
void hc_cl_second_lines_begin(struct hc_cl_second_lines *lines, FILE *out, uint32_t clients);

/// Writes a line at once, so that another program can follow it. A failure shows in `ferror(out)`.
void hc_cl_second_lines_add(struct hc_cl_second_lines *lines,
                            const struct hc_cl_fleet_progress *now);
