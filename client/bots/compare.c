/// Owns the comparison of two reports.
#include "client/bots/compare.h"

#include "client/bots/figures.h"
#include "common/decimal.h"
#include "common/programs/report.h"

#include <stdlib.h>
#include <string.h>

enum {
    PLACES = 4,       ///< of a tolerance
    DURATION_PCT = 5, ///< by which the durations of two runs of one load may differ
    PERCENT = 100,
    SETTING_PATH_MAX = 128, ///< bytes of a setting's path
};

bool hc_cl_compare_tolerance(const char *text, double *percent) {
    char number[32];
    uint64_t value = 0;
    size_t size = strlen(text);
    if (size > 0 && text[size - 1] == '%')
        size--;
    if (size >= sizeof(number))
        return false;
    snprintf(number, sizeof(number), "%.*s", (int)size, text);
    if (hc_decimal_parse(number, PLACES, &value) != HC_OK)
        return false;
    *percent = (double)value / 1e4;
    return *percent <= HC_CL_COMPARE_TOLERANCE_MAX;
}

json_t *hc_cl_compare_read(const char *path, char *why, size_t why_size) {
    json_error_t error;
    json_t *report = json_load_file(path, 0, &error);
    const json_t *version = json_object_get(report, "schema_version");
    const char *program = json_string_value(json_object_get(report, "program"));
    if (report == NULL)
        snprintf(why, why_size, "--compare '%s': %s", path, error.text);
    else if (program == NULL || strcmp(program, "hindcast-load") != 0)
        snprintf(why, why_size, "--compare '%s': is no report that hindcast-load --json wrote",
                 path);
    else if (json_integer_value(version) != HC_REPORT_SCHEMA)
        snprintf(why, why_size,
                 "--compare '%s': has schema_version %" JSON_INTEGER_FORMAT ", and must have %d",
                 path, json_integer_value(version), HC_REPORT_SCHEMA);
    else
        return report;
    json_decref(report);
    return NULL;
}

// ---- Loads --------------------------------------------------------------------------------------

static bool is_far(const json_t *old, const json_t *new) {
    double was = json_number_value(old), is = json_number_value(new);
    double more = was > is ? was - is : is - was;
    return more > was * DURATION_PCT / PERCENT;
}

/// Adds a sentence if the loads differ in the value at `path`.
static void compare_load(json_t *other, const char *path, const json_t *old, const json_t *new) {
    const json_t *before = hc_cl_figures_find(old, path), *now = hc_cl_figures_find(new, path);
    char *a = json_dumps(before, JSON_ENCODE_ANY | JSON_REAL_PRECISION(9));
    char *b = json_dumps(now, JSON_ENCODE_ANY | JSON_REAL_PRECISION(9));
    bool equal = a != NULL && b != NULL && strcmp(a, b) == 0;
    if (strcmp(path, "duration_ms") == 0)
        equal = !is_far(before, now);
    if (!equal)
        json_array_append_new(other,
                              json_sprintf("%s was %s, and is %s", path, a != NULL ? a : "unknown",
                                           b != NULL ? b : "unknown"));
    free(a);
    free(b);
}

/// The parts of the load in which two runs differ.
static json_t *compare_loads(const json_t *old, const json_t *new) {
    static const char *const paths[] = {
        "clients",         "load.light_clients", "tick_rate_hz",     "duration_ms",
        "link.latency_ms", "link.latency_to_ms", "link.jitter_ms",   "link.loss_pct",
        "link.burst",      "link.duplicate_pct", "link.reorder_pct", "link.bandwidth_kbit",
        "link.queue_ms",
    };
    json_t *other = json_array();
    for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++)
        compare_load(other, paths[i], old, new);
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)hc_cl_figures_find(new, "load.settings"), name, value) {
        char path[SETTING_PATH_MAX];
        snprintf(path, sizeof(path), "load.settings.%s", name);
        compare_load(other, path, old, new);
    }
    return other;
}

// ---- Figures ------------------------------------------------------------------------------------

/// A comparison in progress.
struct comparison {
    const json_t *old, *new;
    double tolerance_pct;
    json_t *figures, *worse;
};

/// Whether a figure is none of the run: a setting, an outcome, or a part with a place of its own.
static bool is_left_out(const char *path) {
    static const char *const parts[] = {"verdict.",
                                        "held.",
                                        "conditions.",
                                        "comparison.",
                                        "steps.",
                                        "matches.",
                                        "host.",
                                        "seed",
                                        "load.held",
                                        "steps_verdict",
                                        "schema_version",
                                        "percentile_error",
                                        "bytes_overhead_per_datagram"};
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
        if (strncmp(path, parts[i], strlen(parts[i])) == 0)
            return true;
    return false;
}

/// Whether the figure's value `is` is worse than `was` by more than the tolerance, and by enough to
/// say something.
static bool is_worse(const char *path, double was, double is, double percent) {
    enum hc_counter_better better = hc_cl_figures_better(path);
    double most = (was < 0 ? -was : was) * percent / PERCENT, grain = hc_cl_figures_grain(path);
    most = most > grain ? most : grain;
    return (better == HC_COUNTER_LESS && is - was > most) ||
           (better == HC_COUNTER_MORE && was - is > most);
}

static json_t *number_or_null(bool known, double value) {
    return known ? json_real(value) : json_null();
}

static void compare_figure(void *context, const char *path, const json_t *value) {
    static const char *const words[] = {
        [HC_COUNTER_NEITHER] = NULL, [HC_COUNTER_LESS] = "less", [HC_COUNTER_MORE] = "more"};
    struct comparison *all = context;
    double was = 0, is = 0;
    bool had = hc_cl_figures_number(hc_cl_figures_find(all->old, path), &was);
    bool has = hc_cl_figures_number(hc_cl_figures_find(all->new, path), &is);
    enum hc_counter_better better = hc_cl_figures_better(path);
    (void)value;
    if ((!had && !has) || is_left_out(path))
        return;
    // A counter that is new has no old value to be worse than.
    bool worse = better != HC_COUNTER_NEITHER && had &&
                 (!has || is_worse(path, was, is, all->tolerance_pct));
    json_array_append_new(
        all->figures,
        json_pack("{s:s, s:o, s:o, s:o, s:s?, s:b}", "path", path, "old", number_or_null(had, was),
                  "new", number_or_null(has, is), "change_pct",
                  number_or_null(had && has && was != 0, (is - was) * PERCENT / was), "better",
                  words[better], "worse", worse));
    if (worse && has)
        json_array_append_new(all->worse, json_sprintf("%s was %.9g, and is %.9g", path, was, is));
    else if (worse)
        json_array_append_new(all->worse, json_sprintf("%s was %.9g, and has no value", path, was));
}

/// Takes the figures that only the old report has.
static void compare_gone(void *context, const char *path, const json_t *value) {
    const struct comparison *all = context;
    if (hc_cl_figures_find(all->new, path) == NULL)
        compare_figure(context, path, value);
}

json_t *hc_cl_compare(const json_t *old, const json_t *new, double tolerance_pct) {
    struct comparison all = {old, new, tolerance_pct, json_array(), json_array()};
    json_t *other = compare_loads(old, new);
    hc_cl_figures_walk(new, compare_figure, &all);
    hc_cl_figures_walk(old, compare_gone, &all);
    bool good = json_array_size(all.worse) == 0 && json_array_size(other) == 0;
    return json_pack("{s:b, s:f, s:o, s:o, s:o}", "ok", good, "tolerance_pct", tolerance_pct,
                     "other_load", other, "worse", all.worse, "figures", all.figures);
}

// ---- The table ----------------------------------------------------------------------------------

static void print_value(FILE *out, const json_t *value) {
    if (json_is_number(value))
        fprintf(out, " %12.6g", json_number_value(value));
    else
        fprintf(out, " %12s", "-");
}

static void print_figure(FILE *out, const json_t *figure) {
    const json_t *change = json_object_get(figure, "change_pct");
    const char *better = json_string_value(json_object_get(figure, "better"));
    bool worse = json_is_true(json_object_get(figure, "worse"));
    fprintf(out, "  %-46s", json_string_value(json_object_get(figure, "path")));
    print_value(out, json_object_get(figure, "old"));
    print_value(out, json_object_get(figure, "new"));
    if (json_is_number(change))
        fprintf(out, " %+9.1f %%", json_number_value(change));
    else
        fprintf(out, " %11s", "-");
    fprintf(out, "%s%s%s\n", better != NULL ? "  " : "", better != NULL ? better : "",
            worse ? "  WORSE" : "");
}

void hc_cl_compare_print(const json_t *comparison, FILE *out) {
    const json_t *figures = json_object_get(comparison, "figures");
    size_t index;
    json_t *figure;
    fprintf(out, " compared\n  %-46s %12s %12s %11s  better\n", "figure", "old", "new", "change");
    for (int directed = 1; directed >= 0; directed--)
        json_array_foreach((json_t *)figures, index, figure) {
            if (json_is_string(json_object_get(figure, "better")) == (directed == 1))
                print_figure(out, figure);
        }
}
