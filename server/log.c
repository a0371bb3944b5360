#define _POSIX_C_SOURCE 200809L // clock_gettime, gmtime_r

#include "server/log.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *const level_names[] = {"error", "warn", "info", "debug"};

/// The wall clock in RFC 3339, to the millisecond; it goes into log lines and nowhere else.
static void format_time(char *text, size_t size) {
    struct timespec now = {0};
    struct tm parts;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &parts);
    size_t length = strftime(text, size, "%Y-%m-%dT%H:%M:%S", &parts);
    snprintf(text + length, size - length, ".%03dZ", (int)(now.tv_nsec / 1000000));
}

/// Whether a string needs no quotes in a line of key=value.
static bool plain(const char *text) {
    return *text != '\0' &&
           text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                             "-_.:[]/+")] == '\0';
}

static void print_text(const char *time_text, const char *level, const char *event,
                       const json_t *fields) {
    const char *key;
    json_t *value;
    fprintf(stderr, "%s %-5s %s", time_text, level, event);
    json_object_foreach((json_t *)fields, key, value) {
        if (json_is_string(value) && plain(json_string_value(value))) {
            fprintf(stderr, " %s=%s", key, json_string_value(value));
            continue;
        }
        char *dump = json_dumps(value, JSON_ENCODE_ANY | JSON_ENSURE_ASCII | JSON_COMPACT);
        fprintf(stderr, " %s=%s", key, dump != NULL ? dump : "?");
        free(dump);
    }
    fputc('\n', stderr);
}

static void print_json(const char *time_text, const char *level, const char *event,
                       json_t *fields) {
    json_t *line = json_pack("{s:s, s:s, s:s}", "time", time_text, "level", level, "event", event);
    json_object_update_missing(line, fields);
    json_dumpf(line, stderr, JSON_COMPACT | JSON_ENSURE_ASCII);
    fputc('\n', stderr);
    json_decref(line);
}

void hc_sv_log_event(const struct hc_sv_log *log, enum hc_sv_log_level level, const char *event,
                     json_t *fields) {
    if (level <= log->level) {
        char time_text[40];
        format_time(time_text, sizeof(time_text));
        if (log->format == HC_SV_LOG_JSON)
            print_json(time_text, level_names[level], event, fields);
        else
            print_text(time_text, level_names[level], event, fields);
    }
    json_decref(fields);
}
