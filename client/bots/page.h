/// The page of --report: plots over time and the report's figures, in one HTML file that loads
/// nothing else.
#pragma once

#include "client/bots/fleet.h"

#include <jansson.h>

/// The figures of a run over time. All zeros: none.
struct hc_cl_page_series {
    double begun_s; ///< seconds since the day began, UTC, when the clients began
    uint32_t count, room;
    struct hc_cl_fleet_progress *samples; ///< [room], one each second
    json_t *server;                       ///< status lines of the server's log, owned; NULL: none
};

/// Begins a series: the run begins now.
void hc_cl_page_series_begin(struct hc_cl_page_series *series);

/// Adds a sample. Without memory it is left out.
void hc_cl_page_series_add(struct hc_cl_page_series *series,
                           const struct hc_cl_fleet_progress *sample);

/// Releases it.
void hc_cl_page_series_free(struct hc_cl_page_series *series);

/// Writes the page of a report and its series to `path`; false when that fails.
bool hc_cl_page_write(const json_t *report, const struct hc_cl_page_series *series,
                      const char *path);
