/// Owns the table of steps and its result.
#include "client/bots/steps.h"

#include "common/programs/report.h"

#include <string.h>

/// The columns: a key of the row, the path of its value in a report, and the head of the column.
static const struct column {
    const char *key, *path, *head;
    int decimals;
} columns[] = {
    {"clients", "clients", "clients", 0},
    {"tick_ms_p50", "server.tick_ms.p50", "work p50 ms", 2},
    {"tick_ms_p99", "server.tick_ms.p99", "work p99 ms", 2},
    {"tick_lateness_ms_p99", "server.tick_lateness_ms.p99", "start p99 ms", 2},
    {"ticks_missed", "server.ticks_missed", "missed", 0},
    {"cpu_us_per_client_tick", "server.cpu_us_per_client_tick", "us/client", 1},
    {"bytes_down_per_client_s", "bytes_down_per_client_s", "bytes/s down", 0},
    {"rtt_ms_p99", "rtt_ms.p99", "rtt p99 ms", 1},
    {"load_lateness_ms_p99", "load.lateness_ms.p99", "own p99 ms", 2},
};

enum { COLUMNS = sizeof(columns) / sizeof(*columns), WIDTH = 13 };

json_t *hc_cl_steps_row(const json_t *report) {
    json_t *row = json_object();
    for (size_t i = 0; i < COLUMNS; i++) {
        const json_t *value = hc_report_find(report, columns[i].path);
        json_object_set_new(row, columns[i].key,
                            value == NULL ? json_null() : json_copy((json_t *)value));
    }
    const json_t *held = hc_report_find(report, "load.held");
    json_object_set_new(row, "held", json_deep_copy(json_object_get(held, "ok")));
    json_object_set_new(row, "reasons", json_deep_copy(json_object_get(held, "reasons")));
    return row;
}

void hc_cl_steps_print_head(FILE *out) {
    for (size_t i = 0; i < COLUMNS; i++)
        fprintf(out, "%*s", i == 0 ? 9 : WIDTH, columns[i].head);
    fprintf(out, "\n");
}

void hc_cl_steps_print_row(const json_t *row, FILE *out) {
    size_t index;
    json_t *reason;
    for (size_t i = 0; i < COLUMNS; i++) {
        const json_t *value = hc_report_find(row, columns[i].key);
        int width = i == 0 ? 9 : WIDTH;
        if (value == NULL)
            fprintf(out, "%*s", width, "-");
        else
            fprintf(out, "%*.*f", width, columns[i].decimals, json_number_value(value));
    }
    fprintf(out, "  %s\n", json_is_true(json_object_get(row, "held")) ? "held" : "not held:");
    json_array_foreach(json_object_get(row, "reasons"), index, reason) {
        fprintf(out, "          %s\n", json_string_value(json_object_get(reason, "text")));
    }
    fflush(out);
}

static bool is_load_late(const json_t *row) {
    size_t index;
    json_t *reason;
    json_array_foreach(json_object_get(row, "reasons"), index, reason) {
        if (strcmp(json_string_value(json_object_get(reason, "key")), "load_late") == 0)
            return true;
    }
    return false;
}

json_t *hc_cl_steps_verdict(const json_t *rows, bool failed) {
    size_t index;
    json_t *row;
    char text[160];
    double most = 0;
    bool limited = false, all = true;
    json_array_foreach((json_t *)rows, index, row) {
        bool held = json_is_true(json_object_get(row, "held"));
        if (held)
            most = hc_report_number(row, "clients");
        all = all && held;
        limited = limited || (!held && is_load_late(row));
    }
    bool good = most > 0 && !limited && !failed;
    if (most == 0)
        snprintf(text, sizeof(text), "NOT OK: no step was held");
    else
        snprintf(text, sizeof(text), "%s: %.0f clients were held%s%s", good ? "OK" : "NOT OK", most,
                 all && !failed ? ", in the last step" : "",
                 failed    ? "; the next step could not be run"
                 : limited ? "; then the load test itself was late, and the server may hold more"
                           : "");
    return json_pack("{s:b, s:s, s:i}", "ok", good, "text", text, "held_clients", (int)most);
}
