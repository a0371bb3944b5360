/// The figures of hc_bench feel that must keep a bound, each printed beside it.
#pragma once

#include <jansson.h>
#include <stdbool.h>

/// A figure and the most that it may be.
struct feel_bound {
    const char *table, *what, *unit;
    double value, most;
};

/// Whether a figure is not beyond ten times its bound.
bool feel_is_near(double value, double most);

/// Prints the figures and adds them to `json`. False: one is beyond ten times its bound.
bool feel_bounds(const struct feel_bound *bounds, unsigned count, json_t *json);
