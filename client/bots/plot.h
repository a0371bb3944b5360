/// Plots as SVG in a page: axes with round numbers, a key for each line, and lines.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum {
    HC_CL_PLOT_LINES = 3,    ///< of a plot
    HC_CL_PLOT_POINTS = 400, ///< of a line; more values are joined
};

/// The points of a line; without points it is not known.
struct hc_cl_plot_line {
    const char *name;
    uint32_t count;
    double x[HC_CL_PLOT_POINTS], y[HC_CL_PLOT_POINTS];
};

struct hc_cl_plot {
    const char *title, *unit, *x_unit;
    bool from_zero; ///< the x axis begins at 0, else at the first point
    double limit;   ///< drawn as a line of its own; 0: none
    const char *limit_name;
    const struct hc_cl_plot_line *lines; ///< [count]
    unsigned count;
};

/// Adds the value number `index` at `x`; `every` consecutive values make one point, their mean.
void hc_cl_plot_add(struct hc_cl_plot_line *line, uint32_t index, uint32_t every, double x,
                    double y);

/// Writes text, with the characters that HTML reserves escaped.
void hc_cl_plot_text(FILE *out, const char *text);

/// Writes a plot as a figure.
void hc_cl_plot_write(FILE *out, const struct hc_cl_plot *plot);
