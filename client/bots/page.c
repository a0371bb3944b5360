/// Owns the page of a report: the values of its plots, its tables and its style.
#define _GNU_SOURCE // clock_gettime, open_memstream, strsep

#include "client/bots/page.h"

#include "client/bots/plot.h"
#include "client/bots/report.h"
#include "common/elapsed.h"
#include "common/programs/report.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DAY_S = 86400 };

/// The origin of a line's values.
enum origin {
    NO_LINE,
    LOAD_COUNT, ///< a uint32_t of each sample
    LOAD_SUM,   ///< a uint64_t that counts up: its rate
    LOAD_PEAK,  ///< a uint64_t of the time since the sample before
    LOAD_MEAN,  ///< a uint64_t, summed over the clients that play
    SERVER,     ///< a value of each status line
};

/// A line of a plot; `scale` is the unit of its values in that of the plot.
struct source {
    enum origin origin;
    const char *name;
    size_t offset; ///< in a sample
    double scale;
    const char *key; ///< of a status line
};

/// The plots over time.
static const struct plot {
    const char *title, *unit;
    struct source lines[HC_CL_PLOT_LINES];
    bool has_limit; ///< a line at the length of a tick
} plots[] = {
#define MEMBER(m) offsetof(struct hc_cl_fleet_progress, m)
    {"Clients",
     "",
     {{LOAD_COUNT, "playing", MEMBER(playing), 1, NULL},
      {LOAD_COUNT, "joining", MEMBER(connecting), 1, NULL},
      {LOAD_COUNT, "stalled", MEMBER(stalled), 1, NULL}},
     false},
    {"Work of a tick",
     "ms",
     {{SERVER, "p99", 0, 1, "tick_work_ms_p99"}, {SERVER, "median", 0, 1, "tick_work_ms_p50"}},
     true},
    {"Lateness",
     "ms",
     {{SERVER, "start of a tick, p99", 0, 1, "tick_late_ms_p99"},
      {LOAD_PEAK, "load test, worst", MEMBER(late_us), 1e-3, NULL}},
     false},
    {"Processor",
     "% of a core",
     {{SERVER, "server", 0, 1, "cpu_percent"}, {LOAD_SUM, "load test", MEMBER(cpu_us), 1e-4, NULL}},
     false},
    {"Bandwidth of all clients",
     "kB/s",
     {{LOAD_SUM, "down", MEMBER(bytes_in), 1e-3, NULL},
      {LOAD_SUM, "up", MEMBER(bytes_out), 1e-3, NULL}},
     false},
    {"Round trip", "ms", {{LOAD_MEAN, "mean of the clients", MEMBER(rtt_us), 1e-3, NULL}}, false},
    {"Rewinds, rollbacks",
     "a second",
     {{SERVER, "server", 0, 1, "rewinds_per_s"},
      {LOAD_SUM, "full clients", MEMBER(rollbacks), 1, NULL}},
     false},
    {"Losses",
     "a second",
     {{LOAD_SUM, "datagrams lost on the link", MEMBER(lost), 1, NULL},
      {LOAD_SUM, "stalls of clients", MEMBER(stalls), 1, NULL}},
     false},
#undef MEMBER
};

// ---- Series -------------------------------------------------------------------------------------

void hc_cl_page_series_begin(struct hc_cl_page_series *series) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    series->begun_s = (double)(now.tv_sec % DAY_S) + (double)now.tv_nsec / 1e9;
}

void hc_cl_page_series_add(struct hc_cl_page_series *series,
                           const struct hc_cl_fleet_progress *sample) {
    if (series->count == series->room) {
        uint32_t room = series->room == 0 ? 64 : 2 * series->room;
        struct hc_cl_fleet_progress *samples =
            realloc(series->samples, room * sizeof(*series->samples));
        if (samples == NULL)
            return;
        series->samples = samples;
        series->room = room;
    }
    series->samples[series->count++] = *sample;
}

void hc_cl_page_series_free(struct hc_cl_page_series *series) {
    free(series->samples);
    json_decref(series->server);
    *series = (struct hc_cl_page_series){.count = 0};
}

/// Seconds since the day began, of a status line's time such as 2026-01-31T12:34:56.789Z; -1: none.
static double time_of(const json_t *status) {
    const char *text = json_string_value(json_object_get(status, "time"));
    const char *clock = text != NULL ? strchr(text, 'T') : NULL;
    unsigned hour, minute;
    double second;
    if (clock == NULL || sscanf(clock, "T%2u:%2u:%lf", &hour, &minute, &second) != 3)
        return -1;
    return hour * 3600.0 + minute * 60.0 + second;
}

/// Takes the values of status lines since the clients began.
static void take_server(struct hc_cl_plot_line *line, const struct hc_cl_page_series *series,
                        const struct source *source) {
    size_t index, count = json_array_size(series->server);
    uint32_t every = (uint32_t)(count / HC_CL_PLOT_POINTS) + 1, taken = 0;
    json_t *status;
    json_array_foreach(series->server, index, status) {
        const json_t *value = json_object_get(status, source->key);
        const char *text = json_string_value(value);
        double at = time_of(status) - series->begun_s;
        if (at < -DAY_S / 2.0) // midnight has passed
            at += DAY_S;
        if (at > 0 && value != NULL)
            hc_cl_plot_add(line, taken++, every, at,
                           source->scale * (text != NULL ? atof(text) : json_number_value(value)));
    }
}

static double value_of(const struct source *source, const struct hc_cl_fleet_progress *now,
                       const struct hc_cl_fleet_progress *before) {
    uint64_t sum = 0, sum_before = 0, us = hc_since(before->elapsed_us, now->elapsed_us);
    uint32_t count = 0;
    if (source->origin == LOAD_COUNT) {
        memcpy(&count, (const uint8_t *)now + source->offset, sizeof(count));
        return count;
    }
    memcpy(&sum, (const uint8_t *)now + source->offset, sizeof(sum));
    memcpy(&sum_before, (const uint8_t *)before + source->offset, sizeof(sum_before));
    if (source->origin == LOAD_MEAN)
        return now->playing > 0 ? (double)sum / now->playing : 0;
    if (source->origin == LOAD_PEAK)
        return (double)sum;
    return us > 0 && sum > sum_before ? (double)(sum - sum_before) * 1e6 / (double)us : 0;
}

static void take_load(struct hc_cl_plot_line *line, const struct hc_cl_page_series *series,
                      const struct source *source) {
    static const struct hc_cl_fleet_progress none;
    uint32_t every = series->count / HC_CL_PLOT_POINTS + 1;
    for (uint32_t i = 0; i < series->count; i++) {
        const struct hc_cl_fleet_progress *now = &series->samples[i];
        double value = value_of(source, now, i > 0 ? &series->samples[i - 1] : &none);
        hc_cl_plot_add(line, i, every, (double)now->elapsed_us / 1e6, source->scale * value);
    }
}

static void put_plots(FILE *out, const json_t *report, const struct hc_cl_page_series *series) {
    static struct hc_cl_plot_line lines[HC_CL_PLOT_LINES];
    double rate = hc_report_number(report, "tick_rate_hz");
    for (size_t p = 0; p < sizeof(plots) / sizeof(*plots); p++) {
        struct hc_cl_plot plot = {.title = plots[p].title,
                                  .unit = plots[p].unit,
                                  .x_unit = "s",
                                  .from_zero = true,
                                  .limit = plots[p].has_limit && rate > 0 ? 1000 / rate : 0,
                                  .limit_name = "a tick",
                                  .lines = lines};
        for (; plot.count < HC_CL_PLOT_LINES; plot.count++) {
            const struct source *source = &plots[p].lines[plot.count];
            if (source->origin == NO_LINE)
                break;
            lines[plot.count].name = source->name;
            lines[plot.count].count = 0;
            if (source->origin == SERVER)
                take_server(&lines[plot.count], series, source);
            else
                take_load(&lines[plot.count], series, source);
        }
        hc_cl_plot_write(out, &plot);
    }
}

// ---- Steps --------------------------------------------------------------------------------------

static void put_cell(FILE *out, const json_t *row, const char *key, int decimals) {
    const json_t *value = hc_report_find(row, key);
    if (value == NULL)
        fputs("<td>-</td>", out);
    else
        fprintf(out, "<td>%.*f</td>", decimals, json_number_value(value));
}

static void put_step(FILE *out, const json_t *row) {
    static const struct {
        const char *key;
        int decimals;
    } cells[] = {{"tick_ms_p50", 2},
                 {"tick_ms_p99", 2},
                 {"tick_lateness_ms_p99", 2},
                 {"cpu_us_per_client_tick", 1},
                 {"bytes_down_per_client_s", 0},
                 {"load_lateness_ms_p99", 2}};
    bool held = json_is_true(json_object_get(row, "held"));
    size_t index;
    json_t *reason;
    fputs("<tr>", out);
    put_cell(out, row, "clients", 0);
    fprintf(out, "<td class=\"%s\">%s</td>", held ? "ok" : "bad", held ? "held" : "not held");
    for (size_t i = 0; i < sizeof(cells) / sizeof(*cells); i++)
        put_cell(out, row, cells[i].key, cells[i].decimals);
    fputs("</tr>\n", out);
    json_array_foreach(json_object_get(row, "reasons"), index, reason) {
        fputs("<tr><td></td><td class=\"why\" colspan=\"7\">", out);
        hc_cl_plot_text(out, json_string_value(json_object_get(reason, "text")));
        fputs("</td></tr>\n", out);
    }
}

/// Writes the table of steps, and a plot over the number of clients.
static void put_steps(FILE *out, const json_t *report) {
    static struct hc_cl_plot_line lines[2];
    const json_t *steps = json_object_get(report, "steps");
    double rate = hc_report_number(report, "tick_rate_hz");
    struct hc_cl_plot plot = {.title = "Work of a tick by clients",
                              .unit = "ms",
                              .x_unit = "clients",
                              .limit = rate > 0 ? 800 / rate : 0,
                              .limit_name = "80 % of a tick",
                              .lines = lines,
                              .count = 2};
    size_t index;
    json_t *row;
    if (json_array_size(steps) == 0)
        return;
    lines[0] = (struct hc_cl_plot_line){.name = "p99"};
    lines[1] = (struct hc_cl_plot_line){.name = "median"};
    json_array_foreach((json_t *)steps, index, row) {
        double clients = hc_report_number(row, "clients");
        if (hc_report_find(row, "tick_ms_p99") == NULL)
            continue;
        hc_cl_plot_add(&lines[0], (uint32_t)index, 1, clients,
                       hc_report_number(row, "tick_ms_p99"));
        hc_cl_plot_add(&lines[1], (uint32_t)index, 1, clients,
                       hc_report_number(row, "tick_ms_p50"));
    }
    fputs("<h2>Steps</h2>\n<p class=\"verdict", out);
    fputs(json_is_true(hc_report_find(report, "steps_verdict.ok")) ? "\">" : " bad\">", out);
    hc_cl_plot_text(out, json_string_value(hc_report_find(report, "steps_verdict.text")));
    fputs("</p>\n<div class=\"plots\">", out);
    hc_cl_plot_write(out, &plot);
    fputs("</div>\n<div class=\"wide\"><table class=\"steps\"><thead><tr><th>clients</th><th></th>"
          "<th>work p50 ms</th><th>work p99 ms</th><th>start p99 ms</th><th>us a client-tick</th>"
          "<th>bytes/s down</th><th>load test p99 ms</th></tr></thead><tbody>\n",
          out);
    json_array_foreach((json_t *)steps, index, row) {
        put_step(out, row);
    }
    fputs("</tbody></table></div>\n<p class=\"note\">The plots and figures below are those of the "
          "highest step that was held, or of the first one.</p>\n",
          out);
}

// ---- Figures ------------------------------------------------------------------------------------

/// Writes the lines of a report for people as tables. Headings begin with one space, lines with two
/// and a label.
static void put_lines(FILE *out, char *text) {
    char *line;
    bool open = false;
    while ((line = strsep(&text, "\n")) != NULL) {
        if (line[0] != ' ')
            continue;
        if (line[1] != ' ') {
            fputs(open ? "</tbody></table></section>\n<section><h3>" : "<section><h3>", out);
            hc_cl_plot_text(out, line + 1);
            fputs("</h3><table><tbody>\n", out);
            open = true;
            continue;
        }
        char *value = strstr(line + 2, "  ");
        if (!open || value == NULL)
            continue;
        *value++ = '\0';
        fputs("<tr><th>", out);
        hc_cl_plot_text(out, line + 2);
        fputs("</th><td>", out);
        hc_cl_plot_text(out, value + strspn(value, " "));
        fputs("</td></tr>\n", out);
    }
    if (open)
        fputs("</tbody></table></section>\n", out);
}

static void put_figures(FILE *out, const json_t *report) {
    char *text = NULL;
    size_t size = 0;
    FILE *lines = open_memstream(&text, &size);
    if (lines == NULL)
        return;
    hc_cl_report_print(report, lines);
    if (fclose(lines) == 0)
        put_lines(out, text);
    free(text);
}

// ---- The page -----------------------------------------------------------------------------------

static const char style[] =
    "<style>\n"
    ":root{color-scheme:light dark;--ink:#1c2430;--dim:#5f6b7c;--rule:#e2e6ec;--page:#f5f6f8;"
    "--card:#fff;--s0:#2563c9;--s1:#cf6215;--s2:#7b8794;--ok:#1a7f4b;--bad:#c02c38}\n"
    "@media(prefers-color-scheme:dark){:root{--ink:#e4e8ee;--dim:#98a4b5;--rule:#2c3440;"
    "--page:#12161c;--card:#1a2028;--s0:#6ea8ff;--s1:#f0995a;--s2:#8a96a6;--ok:#52c587;"
    "--bad:#ff7b85}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0;background:var(--page);color:var(--ink);font:15px/1.45 system-ui,sans-serif}\n"
    "main{max-width:1120px;margin:0 auto;padding:24px 16px}\n"
    "h1{font-size:20px;margin:0 0 4px}h2{font-size:16px;margin:28px 0 10px}"
    "h3{font-size:14px;margin:0 0 6px}h3::first-letter{text-transform:uppercase}\n"
    ".sub,.note,small{color:var(--dim)}.sub{margin:0 0 "
    "14px}code,.verdict small{display:block}code{font-size:12px;overflow-wrap:anywhere}\n"
    ".verdict{margin:0 0 14px;padding:10px 14px;border-left:4px solid "
    "var(--ok);background:var(--card);"
    "border-radius:4px;overflow-wrap:anywhere}.verdict.bad{border-color:var(--bad)}\n"
    ".plots,.figures{display:grid;gap:14px;align-items:start;"
    "grid-template-columns:repeat(auto-fill,minmax(min(100%,440px),1fr))}\n"
    "figure,section,.wide{margin:0;padding:12px 14px 8px;background:var(--card);"
    "border:1px solid var(--rule);border-radius:6px}.wide{overflow-x:auto;margin-top:14px}\n"
    "figcaption{display:flex;flex-wrap:wrap;gap:2px 8px;align-items:baseline;margin-bottom:4px}\n"
    ".keys{margin-left:auto;display:flex;flex-wrap:wrap;gap:2px 14px;color:var(--dim);"
    "font-size:13px}.keys i{display:inline-block;width:12px;height:3px;margin-right:6px;"
    "vertical-align:middle}\n"
    "output{color:var(--ink)}output,svg text,table{font-variant-numeric:tabular-nums}\n"
    "svg{display:block;width:100%;height:auto}svg text{fill:var(--dim);"
    "font:11px system-ui,sans-serif}.grid{stroke:var(--rule);fill:none}\n"
    "polyline{fill:none;stroke-width:1.6;stroke-linejoin:round;vector-effect:non-scaling-stroke}"
    ".cursor{stroke:var(--dim);display:none}\n"
    ".s0{stroke:var(--s0)}.s1{stroke:var(--s1)}.s2{stroke:var(--s2)}"
    "i.s0{background:var(--s0)}i.s1{background:var(--s1)}i.s2{background:var(--s2)}"
    "circle.s0{fill:var(--s0)}circle.s1{fill:var(--s1)}circle.s2{fill:var(--s2)}\n"
    "path.limit{stroke:var(--bad);stroke-dasharray:4 3;fill:none}i.limit{background:var(--bad)}\n"
    ".none{color:var(--dim);margin:24px 0}\n"
    "table{border-collapse:collapse;width:100%;font-size:13px}"
    "td,th{padding:4px 8px 4px 0;border-top:1px solid var(--rule);vertical-align:top;"
    "text-align:left}tr:first-child>*{border-top:0}tbody th{width:8.5em}"
    "th{font-weight:500;color:var(--dim);white-space:nowrap}td{overflow-wrap:anywhere}\n"
    ".steps td,.steps th{text-align:right;white-space:nowrap}"
    ".steps .why{text-align:left;color:var(--dim);white-space:normal}"
    ".steps .ok{color:var(--ok)}.steps .bad{color:var(--bad)}\n"
    "</style>\n";

/// Shows the values at the pointer in the captions of the plots.
static const char script[] =
    "<script>\n"
    "for (const figure of document.querySelectorAll('figure')) {\n"
    "  const svg = figure.querySelector('svg');\n"
    "  if (!svg) continue;\n"
    "  const cursor = svg.querySelector('.cursor'), outputs = figure.querySelectorAll('output');\n"
    "  const lines = [...svg.querySelectorAll('polyline')].reverse().map(line => ({\n"
    "    values: line.dataset.y.split(' '), points: line.points}));\n"
    "  svg.onpointermove = event => {\n"
    "    const box = svg.getBoundingClientRect();\n"
    "    const at = (event.clientX - box.left) * svg.viewBox.baseVal.width / box.width;\n"
    "    lines.forEach((line, i) => {\n"
    "      let best = 0;\n"
    "      for (let k = 0; k < line.points.length; k++)\n"
    "        if (Math.abs(line.points[k].x - at) < Math.abs(line.points[best].x - at)) best = k;\n"
    "      outputs[i].value = line.values[best];\n"
    "      if (i == 0) cursor.setAttribute('transform', `translate(${line.points[best].x})`);\n"
    "    });\n"
    "    cursor.style.display = 'inline';\n"
    "  };\n"
    "  svg.onpointerleave = () => {\n"
    "    cursor.style.display = 'none';\n"
    "    outputs.forEach(output => output.value = '');\n"
    "  };\n"
    "}\n"
    "</script>\n";

/// Writes when, where and by which command line the report was made.
static void put_origin(FILE *out, const json_t *report) {
    const char *date = json_string_value(hc_report_find(report, "date"));
    const char *line = json_string_value(hc_report_find(report, "command_line"));
    if (date == NULL || line == NULL)
        return;
    char *text = NULL;
    size_t size = 0;
    FILE *host = open_memstream(&text, &size);
    if (host == NULL)
        return;
    hc_cl_report_print_host(report, host);
    fprintf(out, "<p class=\"sub\"><time>%s</time> &middot; ", date);
    if (fclose(host) == 0)
        hc_cl_plot_text(out, text);
    free(text);
    fputs(" <code>", out);
    hc_cl_plot_text(out, line);
    fputs("</code></p>\n", out);
}

/// Writes the conditions that are true, and whether a comparison is worse, where nobody misses it.
static void put_failures(FILE *out, const json_t *report) {
    const json_t *comparison = hc_report_find(report, "comparison");
    size_t index;
    json_t *outcome;
    json_array_foreach((json_t *)hc_report_find(report, "conditions"), index, outcome) {
        if (json_is_true(json_object_get(outcome, "ok")))
            continue;
        fputs("<p class=\"verdict bad\">", out);
        hc_cl_plot_text(out, json_string_value(json_object_get(outcome, "text")));
        fputs("</p>\n", out);
    }
    if (comparison == NULL || json_is_true(json_object_get(comparison, "ok")))
        return;
    fprintf(out, "<p class=\"verdict bad\">%zu figures are worse by more than %g %%%s</p>\n",
            json_array_size(json_object_get(comparison, "worse")),
            hc_report_number(comparison, "tolerance_pct"),
            json_array_size(json_object_get(comparison, "other_load")) > 0
                ? ", and the earlier run had another load"
                : "");
}

static void put_head(FILE *out, const json_t *report) {
    fputs("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
          "<link rel=\"icon\" href=\"data:,\">\n<title>hindcast-load</title>\n",
          out);
    fputs(style, out);
    fprintf(out, "</head>\n<body>\n<main>\n<h1>hindcast-load: %.0f clients</h1>\n",
            hc_report_number(report, "clients"));
    fprintf(out, "<p class=\"sub\">%.0f full, %.0f light &middot; %.1f s at %.0f Hz &middot; ",
            hc_report_number(report, "load.full_clients"),
            hc_report_number(report, "load.light_clients"),
            hc_report_number(report, "duration_ms") / 1e3,
            hc_report_number(report, "tick_rate_hz"));
    hc_cl_report_print_link(report, out);
    fputs(" &middot; version ", out);
    hc_cl_plot_text(out, json_string_value(hc_report_find(report, "version")));
    fputs("</p>\n", out);
    put_origin(out, report);
    fprintf(out, "<p class=\"verdict%s\">", hc_report_ok(report) ? "" : " bad");
    hc_cl_plot_text(out, json_string_value(hc_report_find(report, "verdict.text")));
    fputs(" <small>", out);
    hc_cl_report_print_held(report, out);
    fputs("</small></p>\n", out);
    put_failures(out, report);
}

bool hc_cl_page_write(const json_t *report, const struct hc_cl_page_series *series,
                      const char *path) {
    FILE *out = fopen(path, "w");
    if (out == NULL)
        return false;
    put_head(out, report);
    put_steps(out, report);
    fputs("<h2>Over time</h2>\n<div class=\"plots\">\n", out);
    put_plots(out, report, series);
    fputs("</div>\n<h2>Figures</h2>\n<div class=\"figures\">\n", out);
    put_figures(out, report);
    fputs("</div>\n</main>\n", out);
    fputs(script, out);
    fputs("</body>\n</html>\n", out);
    bool good = ferror(out) == 0;
    return fclose(out) == 0 && good;
}
