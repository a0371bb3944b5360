/// The figures of a client's connection and prediction, as short texts.
#pragma once

#include "hindcast/client.h"

/// X(name, title, sentence): the figures, the most important first. `title` stands in the overlay,
/// the table in docs/TIMING.md has it with `sentence`.
#define HC_CL_FIGURES(X)                                                                           \
    X(round_trip, "round trip", "The least of 10 s and the smoothed one, ms.")                     \
    X(margin, "margin",                                                                            \
      "The least but the worst 2 %, and the median, of 2 s, ms: how long before its tick began "   \
      "an own input came to the server; below 0 it was late.")                                     \
    X(input_delay, "delay", "Input delay in effect now, ticks; `auto`: the client chooses it.")    \
    X(lead, "lead", "Lead in effect now, ticks; `auto`: the client chooses it.")                   \
    X(late, "late",                                                                                \
      "Share of the reports of the margin in which over 2 % of the inputs were late.")             \
    X(forced, "forced", "Own inputs a second that the server forced.")                             \
    X(rollbacks, "rollbacks", "Rollbacks a second.")                                               \
    X(depth, "depth", "Mean of the ticks that a rollback simulated again.")                        \
    X(in_flight, "in flight",                                                                      \
      "Bytes sent to the server and neither acked nor lost, and the most that may be, if the "     \
      "path is congested.")                                                                        \
    X(age, "state age", "Time since the newest snapshot arrived, ms.")                             \
    X(predicted, "predicted", "Ticks from the newest snapshot's to the predicted one.")            \
    X(others, "others", "Ticks that the others are shown behind the predicted one.")               \
    X(loss, "loss", "Share of the newest datagrams that were lost, to the server and from it.")    \
    X(jitter, "jitter", "Mean deviation of the round trip, ms.")                                   \
    X(up, "up", "To the server, without the headers of IP and UDP.")                               \
    X(down, "down", "From the server, without the headers of IP and UDP.")                         \
    X(snapshots, "snapshots", "Snapshots a second, and ticks of the server a second.")             \
    X(corrections, "corrected", "States of past ticks a second that the server corrected.")

#define HC_CL_FIGURE(name, ...) HC_CL_FIGURE_##name,
enum hc_cl_figure_number { HC_CL_FIGURES(HC_CL_FIGURE) HC_CL_FIGURE_COUNT };
#undef HC_CL_FIGURE

enum {
    HC_CL_FIGURES_NAME = 11,  ///< letters of a title and of the gap behind it
    HC_CL_FIGURES_VALUE = 14, ///< letters of a value at most
    HC_CL_FIGURES_USUAL = 13, ///< letters of a value, but of two numbers below -10k
};

struct hc_cl_figure {
    const char *name; ///< the title, in static storage
    char value[HC_CL_FIGURES_VALUE + 1];
};

/// Counts of a client at one moment.
struct hc_cl_figures_counts {
    uint64_t now_us;
    uint64_t corrections, forced, snapshots, bytes_in, bytes_out;
    uint64_t late, reports;    ///< reports of the margin below 0, and all
    uint64_t rollbacks, depth; ///< depth: of all rollbacks, in ticks
};

/// The numbers behind the figures.
struct hc_cl_figures_source {
    struct hc_client_recent recent;
    struct hc_cl_figures_counts from, to; ///< the ends of an interval; rates are 0 if it is empty
    struct hc_client_timing timing;       ///< as configured
    uint32_t tick_rate;                   ///< of the server, Hz; 0: not known
};

/// The counts of `client` now.
struct hc_cl_figures_counts hc_cl_figures_count(const struct hc_client *client, uint64_t now_us);

/// The mean depth of the rollbacks between two moments, in ticks, rounded; 0: there were none.
unsigned hc_cl_figures_depth(const struct hc_cl_figures_counts *from,
                             const struct hc_cl_figures_counts *to);

/// Writes all figures. Any number has room: large ones are written with k, M, G ...
void hc_cl_figures_write(const struct hc_cl_figures_source *source,
                         struct hc_cl_figure figures[HC_CL_FIGURE_COUNT]);
