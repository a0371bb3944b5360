/// Owns the list of faults and their sentences.
#define _GNU_SOURCE

#include "check/faults.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FAULTS_MAX = 64, WHERE_MAX = 512 };

struct hc_ck_faults {
    const char *path, *build;
    uint64_t first, seed; ///< of the first history, and of the present one
    uint32_t ticks, count;
    struct {
        enum hc_ck_kind kind;
        char where[WHERE_MAX];
    } known[FAULTS_MAX];
    json_t *json;
};

const char *hc_ck_kind_name(enum hc_ck_kind kind) {
    static const char *const names[HC_CK_KINDS] = {
        [HC_CK_UNWRITTEN] = "unwritten",
        [HC_CK_REPEAT] = "repeat",
        [HC_CK_ORDER] = "order",
        [HC_CK_READ] = "read",
        [HC_CK_WRITE] = "write",
        [HC_CK_OVERRUN] = "overrun",
        [HC_CK_RUN] = "run",
        [HC_CK_RANGE] = "range",
        [HC_CK_SECRET] = "secret",
        [HC_CK_VACANT] = "vacant",
        [HC_CK_EMIT] = "emit",
        [HC_CK_CRASH] = "crash",
        [HC_CK_START] = "start",
        [HC_CK_PREDICT] = "predict",
        [HC_CK_SANITIZE] = "sanitize",
        [HC_CK_HIDES] = "hides",
        [HC_CK_BUILD] = "build",
        [HC_CK_SPREAD] = "spread",
        [HC_CK_ALLOCATION] = "allocation",
        [HC_CK_CLOCK] = "clock",
        [HC_CK_RANDOM] = "random",
        [HC_CK_FUNCTION] = "function",
        [HC_CK_FLOAT] = "float",
        [HC_CK_VARIABLE] = "variable",
    };
    return names[kind];
}

struct hc_ck_faults *hc_ck_faults_create(const char *path, const char *build, uint64_t seed,
                                         uint32_t ticks) {
    struct hc_ck_faults *faults = calloc(1, sizeof(*faults));
    if (faults == NULL)
        return NULL;
    faults->path = path;
    faults->build = build;
    faults->first = faults->seed = seed;
    faults->ticks = ticks;
    faults->json = json_array();
    return faults;
}

void hc_ck_faults_destroy(struct hc_ck_faults *faults) {
    if (faults != NULL)
        json_decref(faults->json);
    free(faults);
}

void hc_ck_faults_set_seed(struct hc_ck_faults *faults, uint64_t seed) {
    faults->seed = seed;
}

/// Writes an option with a path to `out`, as a shell reads it.
static void write_option(FILE *out, const char *option, const char *path) {
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./";
    if (path == NULL)
        return;
    bool quoted = path[strspn(path, plain)] != '\0';
    fprintf(out, " %s %s", option, quoted ? "'" : "");
    for (; *path != '\0'; path++)
        if (*path == '\'')
            fputs("'\\''", out);
        else
            putc(*path, out);
    fputs(quoted ? "'" : "", out);
}

/// The command that plays `histories` again from `seed` on.
static char *command_of(const struct hc_ck_faults *faults, uint64_t seed, uint64_t histories) {
    char *command = NULL;
    size_t size;
    FILE *out = open_memstream(&command, &size);
    if (out == NULL)
        abort();
    fprintf(out, "hindcast-check");
    write_option(out, "--game", faults->path);
    write_option(out, "--build", faults->build);
    fprintf(out, " --seed %" PRIu64 " --histories %" PRIu64, seed, histories);
    if (faults->ticks != 0)
        fprintf(out, " --ticks %" PRIu32, faults->ticks);
    fclose(out);
    return command;
}

char *hc_ck_faults_command(const struct hc_ck_faults *faults, uint64_t histories) {
    return command_of(faults, faults->first, histories);
}

/// The command that finds a new fault again. A game that keeps something needs all histories so
/// far.
static char *command_for(const struct hc_ck_faults *faults, enum hc_ck_kind kind) {
    bool keeps = kind == HC_CK_REPEAT || hc_ck_faults_have(faults, HC_CK_REPEAT, NULL) ||
                 (kind != HC_CK_VARIABLE && hc_ck_faults_have(faults, HC_CK_VARIABLE, NULL));
    return keeps ? command_of(faults, faults->first, faults->seed - faults->first + 1)
                 : command_of(faults, faults->seed, 1);
}

void hc_ck_fault(struct hc_ck_faults *faults, enum hc_ck_kind kind, const char *where,
                 const char *format, ...) {
    char *text = NULL;
    va_list arguments;
    if (faults->count == FAULTS_MAX || hc_ck_faults_have(faults, kind, where))
        return;
    faults->known[faults->count].kind = kind;
    snprintf(faults->known[faults->count++].where, WHERE_MAX, "%s", where);

    va_start(arguments, format);
    int good = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (good < 0)
        abort();
    char *command = command_for(faults, kind);
    printf("%s: %s. Repeat: %s\n", hc_ck_kind_name(kind), text, command);
    fflush(stdout);
    json_array_append_new(faults->json, json_pack("{s:s, s:s, s:s}", "kind", hc_ck_kind_name(kind),
                                                  "text", text, "command", command));
    free(text);
    free(command);
}

bool hc_ck_faults_have(const struct hc_ck_faults *faults, enum hc_ck_kind kind, const char *where) {
    for (uint32_t i = 0; i < faults->count; i++)
        if (faults->known[i].kind == kind &&
            (where == NULL || strncmp(faults->known[i].where, where, WHERE_MAX - 1) == 0))
            return true;
    return false;
}

uint32_t hc_ck_faults_count(const struct hc_ck_faults *faults) {
    return faults->count;
}

json_t *hc_ck_faults_json(const struct hc_ck_faults *faults) {
    return json_incref(faults->json);
}

const char *hc_ck_place(const struct hc_world *world, hc_tick tick, hc_entity entity, char *text,
                        size_t size) {
    snprintf(text, size, "tick %" PRIu32 ", entity %u (%s)", tick, (unsigned)entity,
             hc_world_kind(world, entity)->name);
    return text;
}

const struct hc_field *hc_ck_differing(const struct hc_kind *kind, const void *a, const void *b) {
    for (unsigned i = 0; i < kind->field_count; i++)
        if (hc_field_get(&kind->fields[i], a) != hc_field_get(&kind->fields[i], b))
            return &kind->fields[i];
    return NULL;
}
