/// The tables of hc_bench feel that play walkers: "delayed", "grid" and "steady".
#pragma once

#include "tests/bench/bench.h"

/// Some datagrams take longer: how many ticks in a row a walker is shown far off.
bool feel_delayed(json_t *json);

/// The cost of each preset over latency, jitter and loss; `full`: in all cells.
bool feel_grid(bool full, json_t *json);

/// The ticks that the server simulates again on a steady path.
bool feel_steady(json_t *json);
