/// Owns the paths of figures, and which of two values is better.
#include "client/bots/figures.h"

#include "client/bots/fleet.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEY_MAX = 64,    ///< bytes of a key, with its terminator
    NEAR_MAX = 8,    ///< keys that are named as near
    DEPTH_MAX = 8,   ///< objects within each other
    HOPELESS = 1000, ///< distance of keys that are not compared
};

// ---- Paths --------------------------------------------------------------------------------------

/// Copies the first key of a path. Returns what follows it; NULL: the key is too long.
static const char *next_key(const char *path, char key[static KEY_MAX]) {
    size_t size = strcspn(path, ".");
    if (size == 0 || size >= KEY_MAX)
        return NULL;
    memcpy(key, path, size);
    key[size] = '\0';
    return path + size + (path[size] == '.');
}

static const json_t *member_of(const json_t *value, const char *key) {
    char *end;
    if (!json_is_array(value))
        return json_object_get(value, key);
    unsigned long place = strtoul(key, &end, 10);
    return *end == '\0' && key[0] >= '0' && key[0] <= '9' ? json_array_get(value, place) : NULL;
}

const json_t *hc_cl_figures_find(const json_t *report, const char *path) {
    char key[KEY_MAX];
    const json_t *value = report;
    if (path[0] == '\0' || path[strlen(path) - 1] == '.')
        return NULL;
    while (value != NULL && *path != '\0') {
        path = next_key(path, key);
        if (path == NULL)
            return NULL;
        value = member_of(value, key);
    }
    return value;
}

bool hc_cl_figures_is(const json_t *value) {
    return json_is_number(value) || json_is_boolean(value) || json_is_null(value);
}

bool hc_cl_figures_number(const json_t *value, double *number) {
    if (!json_is_number(value) && !json_is_boolean(value))
        return false;
    *number = json_is_number(value) ? json_number_value(value) : json_is_true(value);
    return true;
}

/// A walk through a report.
struct walk {
    void (*visit)(void *context, const char *path, const json_t *value);
    void *context;
    char path[HC_CL_FIGURES_PATH_MAX];
};

static void walk_value(struct walk *walk, size_t size, const json_t *value, unsigned depth);

/// Walks through the member `key` of an object or array.
static void walk_member(struct walk *walk, size_t size, const char *key, const json_t *value,
                        unsigned depth) {
    int more =
        snprintf(walk->path + size, sizeof(walk->path) - size, "%s%s", size > 0 ? "." : "", key);
    if (more > 0 && size + (size_t)more < sizeof(walk->path))
        walk_value(walk, size + (size_t)more, value, depth + 1);
    walk->path[size] = '\0';
}

static void walk_value(struct walk *walk, size_t size, const json_t *value, unsigned depth) {
    const char *key;
    char place[24];
    json_t *member;
    size_t index;
    if (hc_cl_figures_is(value))
        walk->visit(walk->context, walk->path, value);
    if (depth > DEPTH_MAX)
        return;
    json_object_foreach((json_t *)value, key, member) {
        walk_member(walk, size, key, member, depth);
    }
    json_array_foreach((json_t *)value, index, member) {
        snprintf(place, sizeof(place), "%zu", index);
        walk_member(walk, size, place, member, depth);
    }
}

void hc_cl_figures_walk(const json_t *report,
                        void (*visit)(void *context, const char *path, const json_t *value),
                        void *context) {
    struct walk walk = {.visit = visit, .context = context};
    walk_value(&walk, 0, report, 0);
}

// ---- Directions ---------------------------------------------------------------------------------

/// The lists, with the objects of a report that have their counters.
static const struct {
    const char *object;
    const struct hc_counters *list;
} lists[] = {
    {"server.", &hc_counters_server},
    {"server.", &hc_counters_overload},
    {"server.", &hc_counters_timeline},
    {"server.", &hc_counters_work},
    {"server.", &hc_counters_process},
    {"server.", &hc_counters_doors},
    {"server.", &hc_counters_lanes},
    {"server.remembered_users.", &hc_counters_remembered},
    {"client.", &hc_counters_link},
    {"client.", &hc_counters_world},
    {"", &hc_counters_path},
    {"", &hc_cl_fleet_counters},
    {"", &hc_cl_fleet_udp_counters},
};

/// The figures with a direction that are no counters.
static const char *const lesser[] = {"bytes_down_per_client_s", "bytes_up_per_client_s",
                                     "server.cpu_us_per_client_tick"};

/// Whether `rest`, which follows an object's name in a path, is a figure of the counter that is
/// compared.
static bool is_compared(const struct hc_counter *counter, const char *rest) {
    static const char *const percentiles[] = {".p50", ".p90", ".p99"};
    size_t size = strlen(counter->key);
    if (strncmp(rest, counter->key, size) != 0)
        return false;
    if (counter->kind != HC_COUNTER_HISTOGRAM)
        return rest[size] == '\0';
    for (size_t i = 0; i < sizeof(percentiles) / sizeof(*percentiles); i++)
        if (strcmp(rest + size, percentiles[i]) == 0)
            return true;
    return false;
}

/// The counter of a figure that is compared; NULL: it is none.
static const struct hc_counter *counter_of(const char *path) {
    for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
        size_t size = strlen(lists[i].object);
        if (strncmp(path, lists[i].object, size) != 0)
            continue;
        for (size_t k = 0; k < lists[i].list->count; k++)
            if (is_compared(&lists[i].list->rows[k], path + size))
                return &lists[i].list->rows[k];
    }
    return NULL;
}

enum hc_counter_better hc_cl_figures_better(const char *path) {
    const struct hc_counter *counter = counter_of(path);
    for (size_t i = 0; i < sizeof(lesser) / sizeof(*lesser); i++)
        if (strcmp(path, lesser[i]) == 0)
            return HC_COUNTER_LESS;
    return counter != NULL ? counter->better : HC_COUNTER_NEITHER;
}

double hc_cl_figures_grain(const char *path) {
    static const struct {
        const char *unit;
        double grain;
    } rows[] = {{"ms", 0.1}, {"ticks", 1}};
    const struct hc_counter *counter = counter_of(path);
    if (counter == NULL || counter->kind == HC_COUNTER_SUM)
        return 0;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if (strcmp(counter->unit, rows[i].unit) == 0)
            return rows[i].grain;
    return 0;
}

// ---- Neighbours ---------------------------------------------------------------------------------

/// The number of characters to add, remove or replace between two keys.
static unsigned distance(const char *a, const char *b) {
    unsigned row[KEY_MAX];
    size_t width = strlen(b);
    if (width >= KEY_MAX || strlen(a) >= KEY_MAX)
        return HOPELESS;
    for (unsigned j = 0; j <= width; j++)
        row[j] = j;
    for (unsigned i = 1; a[i - 1] != '\0'; i++) {
        unsigned corner = row[0];
        row[0] = i;
        for (unsigned j = 1; j <= width; j++) {
            unsigned above = row[j], swap = corner + (a[i - 1] != b[j - 1]);
            unsigned least = row[j - 1] < above ? row[j - 1] : above;
            row[j] = least + 1 < swap ? least + 1 : swap;
            corner = above;
        }
    }
    return row[width];
}

/// Whether a value is a figure, or an object that may have some.
static bool may_be_named(const json_t *value) {
    return hc_cl_figures_is(value) || json_is_object(value) || json_is_array(value);
}

/// Writes the keys of an object that are nearest to `key`, the nearest first.
static void list_near(const json_t *object, const char *key, char *text, size_t size) {
    unsigned least = 0, named = 0;
    size_t at = 0;
    *text = '\0';
    for (unsigned d = 0; d <= HOPELESS && named < NEAR_MAX; d = least) {
        const char *other;
        json_t *value;
        least = HOPELESS + 1;
        json_object_foreach((json_t *)object, other, value) {
            unsigned far = distance(key, other);
            if (!may_be_named(value))
                continue;
            if (far == d && named < NEAR_MAX && at < size) {
                at += (size_t)snprintf(text + at, size - at, "%s%s", at > 0 ? ", " : "", other);
                named++;
            } else if (far > d && far < least) {
                least = far;
            }
        }
    }
}

bool hc_cl_figures_check(const json_t *shape, const char *path, char *why, size_t why_size) {
    char key[KEY_MAX], near[512];
    const json_t *value = shape;
    const char *rest = path;
    if (*path == '\0' || path[strlen(path) - 1] == '.' || strlen(path) >= HC_CL_FIGURES_PATH_MAX) {
        snprintf(why, why_size, "has no path of a figure, such as rtt_ms.p99");
        return false;
    }
    while (*rest != '\0') {
        const char *from = rest;
        rest = next_key(from, key);
        if (rest == NULL) {
            snprintf(why, why_size, "has no path of a figure, such as rtt_ms.p99");
            return false;
        }
        const json_t *member = member_of(value, key);
        int before = from > path ? (int)(from - path - 1) : 0;
        if (json_is_array(value) && key[strspn(key, "0123456789")] == '\0')
            return true; // only the run knows how long it is
        if (json_is_array(value)) {
            snprintf(why, why_size, "'%s' is no place in %.*s: it is an array, from 0", key, before,
                     path);
            return false;
        }
        if (member == NULL) {
            list_near(value, key, near, sizeof(near));
            snprintf(why, why_size, "there is no '%s' in %.*s%s: it has %s", key, before, path,
                     before > 0 ? "" : "the report", *near != '\0' ? near : "no other figures");
            return false;
        }
        value = member;
    }
    if (hc_cl_figures_is(value))
        return true;
    list_near(value, "", near, sizeof(near));
    snprintf(why, why_size, "'%s' is no number%s%s", path, *near != '\0' ? ": it has " : "", near);
    return false;
}
