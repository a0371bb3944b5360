/// Owns the geometry of plots.
#include "client/bots/plot.h"

enum {
    WIDTH = 520, ///< of a plot; units of its viewBox
    HEIGHT = 190,
    LEFT = 46, ///< margins
    RIGHT = 12,
    TOP = 10,
    BOTTOM = 24,
    X_MARKS = 6, ///< at most
    Y_MARKS = 4,
    TEXT_RISE = 4, ///< from a line to the base of its number
};

/// A limit farther above the values than this is left out, because it would flatten them.
static const double limit_factor = 4;

void hc_cl_plot_add(struct hc_cl_plot_line *line, uint32_t index, uint32_t every, double x,
                    double y) {
    uint32_t at = index / every, joined = index % every;
    if (at >= HC_CL_PLOT_POINTS)
        return;
    line->count = at + 1;
    line->x[at] = joined == 0 ? x : (line->x[at] * joined + x) / (joined + 1);
    line->y[at] = joined == 0 ? y : (line->y[at] * joined + y) / (joined + 1);
}

void hc_cl_plot_text(FILE *out, const char *text) {
    for (; *text != '\0'; text++) {
        if (*text == '<')
            fputs("&lt;", out);
        else if (*text == '>')
            fputs("&gt;", out);
        else if (*text == '&')
            fputs("&amp;", out);
        else if (*text == '"')
            fputs("&quot;", out);
        else
            fputc(*text, out);
    }
}

static double most(double a, double b) {
    return a > b ? a : b;
}

/// The least multiple of `step` that is `value` or more, but for the rounding of sums; `value` >=
/// 0.
static double round_up(double value, double step) {
    double steps = (double)(uint64_t)(value / step);
    return steps * step + (value > (steps + 1e-9) * step ? step : 0);
}

/// The distance of marks on an axis of `range`, > 0: 1, 2 or 5 times a power of ten.
static double step_of(double range, unsigned marks) {
    static const double factors[] = {1, 2, 5};
    double step = 1;
    while (step * 10 <= range / marks)
        step *= 10;
    while (step > range / marks)
        step /= 10;
    for (size_t i = 0; i < sizeof(factors) / sizeof(*factors); i++)
        if (range / (step * factors[i]) <= marks)
            return step * factors[i];
    return step * 10;
}

/// Writes a mark's number, short because it stands in the margin.
static void put_number(FILE *out, double value) {
    if (value >= 1e6)
        fprintf(out, "%gM", value / 1e6);
    else if (value >= 1e4)
        fprintf(out, "%gk", value / 1e3);
    else
        fprintf(out, "%.6g", value);
}

/// The ranges of a plot.
struct axes {
    double x_first, x_last, y_most, y_step;
};

static double place_x(const struct axes *axes, double x) {
    double range = axes->x_last - axes->x_first;
    return LEFT + (x - axes->x_first) / (range > 0 ? range : 1) * (WIDTH - LEFT - RIGHT);
}

static double place_y(const struct axes *axes, double y) {
    return HEIGHT - BOTTOM - y / axes->y_most * (HEIGHT - TOP - BOTTOM);
}

/// The ranges of all points, from 0 up to a round number; false: there is no point.
static bool measure(const struct hc_cl_plot *plot, struct axes *axes) {
    bool any = false;
    *axes = (struct axes){.x_first = 0};
    for (unsigned k = 0; k < plot->count; k++)
        for (uint32_t i = 0; i < plot->lines[k].count; i++) {
            double x = plot->lines[k].x[i];
            axes->y_most = most(axes->y_most, plot->lines[k].y[i]);
            axes->x_first = any && axes->x_first < x ? axes->x_first : x;
            axes->x_last = most(axes->x_last, x);
            any = true;
        }
    if (!any)
        return false;
    if (plot->limit > 0 && plot->limit <= limit_factor * axes->y_most)
        axes->y_most = most(axes->y_most, plot->limit);
    axes->y_most = axes->y_most > 0 ? axes->y_most : 1;
    if (plot->from_zero)
        axes->x_first = 0;
    axes->y_step = step_of(axes->y_most, Y_MARKS);
    axes->y_most = round_up(axes->y_most, axes->y_step);
    return true;
}

static void put_axes(FILE *out, const struct axes *axes, const char *x_unit) {
    double range = axes->x_last - axes->x_first;
    double step = step_of(range > 0 ? range : 1, X_MARKS), end = axes->x_last * 1.0001;
    for (double y = 0; y <= axes->y_most * 1.0001; y += axes->y_step) {
        double at = place_y(axes, y);
        fprintf(out, "<path class=\"grid\" d=\"M%d %.1fH%d\"/>", LEFT, at, WIDTH - RIGHT);
        fprintf(out, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">", LEFT - 6, at + TEXT_RISE);
        put_number(out, y);
        fputs("</text>", out);
    }
    for (double x = round_up(axes->x_first, step); x <= end; x += step) {
        bool last = x + step > end;
        double at = place_x(axes, x);
        // The last number carries the unit, and must not leave the plot.
        fprintf(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"%s\">", at, HEIGHT - 6,
                last && at > WIDTH - 1.5 * LEFT ? "end" : "middle");
        put_number(out, x);
        fprintf(out, "%s%s</text>", last ? " " : "", last ? x_unit : "");
    }
}

static void put_values(FILE *out, const char *name, const double *values, uint32_t count) {
    fprintf(out, " data-%s=\"", name);
    for (uint32_t i = 0; i < count; i++)
        fprintf(out, "%s%.4g", i > 0 ? " " : "", values[i]);
    fputc('"', out);
}

static void put_line(FILE *out, const struct axes *axes, const struct hc_cl_plot_line *line,
                     unsigned number) {
    fprintf(out, "<polyline class=\"s%u\" data-name=\"", number);
    hc_cl_plot_text(out, line->name);
    fputc('"', out);
    put_values(out, "x", line->x, line->count);
    put_values(out, "y", line->y, line->count);
    fputs(" points=\"", out);
    for (uint32_t i = 0; i < line->count; i++)
        fprintf(out, "%s%.1f,%.1f", i > 0 ? " " : "", place_x(axes, line->x[i]),
                place_y(axes, line->y[i]));
    fputs("\"/>", out);
    if (line->count == 1)
        fprintf(out, "<circle class=\"s%u\" cx=\"%.1f\" cy=\"%.1f\" r=\"2.5\"/>", number,
                place_x(axes, line->x[0]), place_y(axes, line->y[0]));
}

static void put_caption(FILE *out, const struct hc_cl_plot *plot, bool has_limit) {
    fputs("<figcaption><b>", out);
    hc_cl_plot_text(out, plot->title);
    fprintf(out, "</b> <small>%s</small><span class=\"keys\">", plot->unit);
    for (unsigned k = 0; k < plot->count; k++) {
        if (plot->lines[k].count == 0)
            continue;
        fprintf(out, "<span><i class=\"s%u\"></i>", k);
        hc_cl_plot_text(out, plot->lines[k].name);
        fputs(" <output></output></span>", out);
    }
    if (has_limit)
        fprintf(out, "<span><i class=\"limit\"></i>%s</span>", plot->limit_name);
    fputs("</span></figcaption>", out);
}

void hc_cl_plot_write(FILE *out, const struct hc_cl_plot *plot) {
    struct axes axes;
    bool known = measure(plot, &axes);
    bool has_limit = known && plot->limit > 0 && plot->limit <= axes.y_most;
    fputs("<figure>", out);
    put_caption(out, plot, has_limit);
    if (!known) {
        fputs("<p class=\"none\">Not known: the run was too short, or the server is not one that "
              "this program started (--spawn).</p></figure>\n",
              out);
        return;
    }
    fprintf(out, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"", WIDTH, HEIGHT);
    hc_cl_plot_text(out, plot->title);
    fputs("\">", out);
    put_axes(out, &axes, plot->x_unit);
    if (has_limit)
        fprintf(out, "<path class=\"limit\" d=\"M%d %.1fH%d\"/>", LEFT, place_y(&axes, plot->limit),
                WIDTH - RIGHT);
    // The first line is the most important one, and is drawn over the others.
    for (unsigned k = plot->count; k-- > 0;)
        if (plot->lines[k].count > 0)
            put_line(out, &axes, &plot->lines[k], k);
    fprintf(out, "<path class=\"cursor\" d=\"M0 %dV%d\"/></svg></figure>\n", TOP, HEIGHT - BOTTOM);
}
