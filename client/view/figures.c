/// Owns the figures of a client, and the words for them.
#include "client/view/figures.h"

#include "common/elapsed.h"

#include <math.h>
#include <stdio.h>

enum { NUMBER = 8 }; ///< bytes of a number: at most 5 letters

struct hc_cl_figures_counts hc_cl_figures_count(const struct hc_client *client, uint64_t now_us) {
    const struct hc_client_stats *stats = hc_client_stats(client);
    return (struct hc_cl_figures_counts){.now_us = now_us,
                                         .corrections = stats->corrections,
                                         .forced = stats->inputs_forced,
                                         .snapshots = stats->snapshots,
                                         .bytes_in = stats->bytes_in,
                                         .bytes_out = stats->bytes_out,
                                         .late = stats->margin_late_us.count,
                                         .reports = stats->margin_late_us.count +
                                                    stats->margin_early_us.count,
                                         .rollbacks = stats->rollback_depth.count,
                                         .depth = stats->rollback_depth.sum};
}

unsigned hc_cl_figures_depth(const struct hc_cl_figures_counts *from,
                             const struct hc_cl_figures_counts *to) {
    uint64_t count = to->rollbacks - from->rollbacks;
    return count == 0 ? 0 : (unsigned)((to->depth - from->depth + count / 2) / count);
}

/// Writes a number in at most five letters, one of them a sign.
static const char *number(char text[static NUMBER], double value) {
    static const char units[] = " kMGTPE";
    unsigned unit = 0;
    for (; fabs(value) >= 999.5 && unit + 2 < sizeof(units); unit++)
        value /= 1000;
    bool is_short = fabs(value) < 9.95 && (unit == 0 || value > 0);
    int places = is_short && value != floor(value) ? 1 : 0;
    int length = snprintf(text, NUMBER, "%.*f", places, fmax(fmin(value, 999), -999));
    if (unit > 0)
        snprintf(text + length, (size_t)(NUMBER - length), "%c", units[unit]);
    return text;
}

// ---- The figures --------------------------------------------------------------------------------

enum { VALUE = HC_CL_FIGURES_VALUE + 1 };

static void write_one(char text[static VALUE], double value, const char *unit) {
    char digits[NUMBER];
    snprintf(text, VALUE, "%s%s", number(digits, value), unit);
}

static void write_two(char text[static VALUE], double first, double second, const char *unit) {
    char digits[NUMBER], more[NUMBER];
    snprintf(text, VALUE, "%s/%s%s", number(digits, first), number(more, second), unit);
}

/// How often a count grew in a second of the interval.
static double rate(const struct hc_cl_figures_source *source, uint64_t from, uint64_t to) {
    uint64_t us = hc_since(source->from.now_us, source->to.now_us);
    return source->from.now_us == 0 || us == 0 ? 0 : (double)(to - from) * 1e6 / (double)us;
}

static void write_round_trip(const struct hc_cl_figures_source *source, char *text) {
    write_two(text, (double)source->recent.rtt_min_us / 1e3, (double)source->recent.rtt_us / 1e3,
              " ms");
}

static void write_margin(const struct hc_cl_figures_source *source, char *text) {
    if (source->recent.margin_known)
        write_two(text, source->recent.margin_low_us / 1e3, source->recent.margin_median_us / 1e3,
                  " ms");
    else
        snprintf(text, VALUE, "-");
}

static void write_input_delay(const struct hc_cl_figures_source *source, char *text) {
    bool automatic = source->timing.input_delay_max > source->timing.input_delay;
    write_one(text, source->recent.input_delay, automatic ? " auto" : " ticks");
}

static void write_lead(const struct hc_cl_figures_source *source, char *text) {
    bool automatic = source->timing.lead_max > source->timing.lead;
    write_one(text, source->recent.lead, automatic ? " auto" : " ticks");
}

static void write_late(const struct hc_cl_figures_source *source, char *text) {
    uint64_t reports = source->to.reports - source->from.reports;
    uint64_t late = source->to.late - source->from.late;
    if (reports == 0)
        snprintf(text, VALUE, "-");
    else
        write_one(text, 100.0 * (double)late / (double)reports, " %");
}

static void write_forced(const struct hc_cl_figures_source *source, char *text) {
    write_one(text, rate(source, source->from.forced, source->to.forced), " /s");
}

static void write_rollbacks(const struct hc_cl_figures_source *source, char *text) {
    write_one(text, rate(source, source->from.rollbacks, source->to.rollbacks), " /s");
}

static void write_depth(const struct hc_cl_figures_source *source, char *text) {
    write_one(text, hc_cl_figures_depth(&source->from, &source->to), " ticks");
}

static void write_in_flight(const struct hc_cl_figures_source *source, char *text) {
    if (source->recent.in_flight_bound_bytes > 0)
        write_two(text, source->recent.in_flight_bytes, source->recent.in_flight_bound_bytes, " B");
    else
        write_one(text, source->recent.in_flight_bytes, " B");
}

static void write_age(const struct hc_cl_figures_source *source, char *text) {
    write_one(text, (double)source->recent.snapshot_age_us / 1e3, " ms");
}

static void write_predicted(const struct hc_cl_figures_source *source, char *text) {
    write_one(text, source->recent.predicted_ticks, " ticks");
}

static void write_others(const struct hc_cl_figures_source *source, char *text) {
    write_one(text, source->recent.others_ticks, " ticks");
}

static void write_loss(const struct hc_cl_figures_source *source, char *text) {
    write_two(text, source->recent.loss_up_ppm / 1e4, source->recent.loss_down_ppm / 1e4, " %");
}

static void write_jitter(const struct hc_cl_figures_source *source, char *text) {
    write_one(text, (double)source->recent.jitter_us / 1e3, " ms");
}

static void write_up(const struct hc_cl_figures_source *source, char *text) {
    write_one(text, rate(source, source->from.bytes_out, source->to.bytes_out) / 125, " kbit/s");
}

static void write_down(const struct hc_cl_figures_source *source, char *text) {
    write_one(text, rate(source, source->from.bytes_in, source->to.bytes_in) / 125, " kbit/s");
}

static void write_snapshots(const struct hc_cl_figures_source *source, char *text) {
    write_two(text, rate(source, source->from.snapshots, source->to.snapshots), source->tick_rate,
              " Hz");
}

static void write_corrections(const struct hc_cl_figures_source *source, char *text) {
    write_one(text, rate(source, source->from.corrections, source->to.corrections), " /s");
}

void hc_cl_figures_write(const struct hc_cl_figures_source *source,
                         struct hc_cl_figure figures[HC_CL_FIGURE_COUNT]) {
#define ROW(name, title, ...) {title, write_##name},
    static const struct {
        const char *title;
        void (*write)(const struct hc_cl_figures_source *source, char *text);
    } rows[] = {HC_CL_FIGURES(ROW)};
    for (unsigned i = 0; i < HC_CL_FIGURE_COUNT; i++) {
        figures[i].name = rows[i].title;
        rows[i].write(source, figures[i].value);
    }
}
