/// Owns the tables of the lists of counters, and what each kind means for sums and JSON.
#include "common/programs/counters.h"

#include "common/programs/daemon_counters.h"
#include "common/programs/report.h"
#include "hindcast/check.h"
#include "hindcast/client.h"
#include "hindcast/server.h"

#include <string.h>

enum { KEY_MAX = 40 }; ///< bytes

#define OF_SERVER(name, kind, unit, key, ...)                                                      \
    HC_COUNTER_ROW(struct hc_server_stats, name, kind, unit, key, __VA_ARGS__)
#define OF_OVERLOAD(name, kind, unit, key, ...)                                                    \
    HC_COUNTER_ROW(struct hc_server_overload, name, kind, unit, key, __VA_ARGS__)
#define OF_REMEMBERED(name, kind, unit, key, ...)                                                  \
    HC_COUNTER_ROW(struct hc_server_remembered, name, kind, unit, key, __VA_ARGS__)
#define OF_WORK(name, kind, unit, key, ...)                                                        \
    HC_COUNTER_ROW(struct hc_daemon_work, name, kind, unit, key, __VA_ARGS__)
#define OF_PROCESS(name, kind, unit, key, ...)                                                     \
    HC_COUNTER_ROW(struct hc_daemon_process, name, kind, unit, key, __VA_ARGS__)
#define OF_DOORS(name, kind, unit, key, ...)                                                       \
    HC_COUNTER_ROW(struct hc_daemon_doors, name, kind, unit, key, __VA_ARGS__)
#define OF_LANES(name, kind, unit, key, ...)                                                       \
    HC_COUNTER_ROW(struct hc_daemon_lanes, name, kind, unit, key, __VA_ARGS__)
#define OF_CLIENT(name, kind, unit, key, ...)                                                      \
    HC_COUNTER_ROW(struct hc_client_stats, name, kind, unit, key, __VA_ARGS__)
#define OF_TIMELINE(name, kind, unit, key, ...)                                                    \
    HC_COUNTER_ROW(struct hc_timeline_stats, name, kind, unit, key, __VA_ARGS__)

static const struct hc_counter of_server[] = {HC_SERVER_COUNTERS(OF_SERVER)};
static const struct hc_counter of_overload[] = {HC_SERVER_OVERLOAD_COUNTERS(OF_OVERLOAD)};
static const struct hc_counter of_remembered[] = {HC_SERVER_REMEMBERED_COUNTERS(OF_REMEMBERED)};
static const struct hc_counter of_timeline[] = {HC_TIMELINE_COUNTERS(OF_TIMELINE)};
static const struct hc_counter of_work[] = {HC_DAEMON_WORK_COUNTERS(OF_WORK)};
static const struct hc_counter of_process[] = {HC_DAEMON_PROCESS_COUNTERS(OF_PROCESS)};
static const struct hc_counter of_doors[] = {HC_DAEMON_DOORS_COUNTERS(OF_DOORS)};
static const struct hc_counter of_lanes[] = {HC_DAEMON_LANES_COUNTERS(OF_LANES)};
static const struct hc_counter of_link[] = {HC_CLIENT_LINK_COUNTERS(OF_CLIENT)};
static const struct hc_counter of_world[] = {HC_CLIENT_WORLD_COUNTERS(OF_CLIENT)};
static const struct hc_counter of_path[] = {HC_CLIENT_PATH_COUNTERS(OF_CLIENT)};

const struct hc_counters hc_counters_server = HC_COUNTERS_OF(of_server);
const struct hc_counters hc_counters_overload = HC_COUNTERS_OF(of_overload);
const struct hc_counters hc_counters_remembered = HC_COUNTERS_OF(of_remembered);
const struct hc_counters hc_counters_timeline = HC_COUNTERS_OF(of_timeline);
const struct hc_counters hc_counters_work = HC_COUNTERS_OF(of_work);
const struct hc_counters hc_counters_process = HC_COUNTERS_OF(of_process);
const struct hc_counters hc_counters_doors = HC_COUNTERS_OF(of_doors);
const struct hc_counters hc_counters_lanes = HC_COUNTERS_OF(of_lanes);
const struct hc_counters hc_counters_link = HC_COUNTERS_OF(of_link);
const struct hc_counters hc_counters_world = HC_COUNTERS_OF(of_world);
const struct hc_counters hc_counters_path = HC_COUNTERS_OF(of_path);

/// The value of a counter that is one number, of any size.
static uint64_t number(const struct hc_counter *counter, const void *member) {
    uint64_t wide;
    uint32_t level;
    if (counter->size == sizeof(bool))
        return *(const bool *)member;
    if (counter->size == sizeof(level)) {
        memcpy(&level, member, sizeof(level));
        return level;
    }
    HC_ASSERT(counter->size == sizeof(wide));
    memcpy(&wide, member, sizeof(wide));
    return wide;
}

void hc_counters_add(const struct hc_counters *list, void *sum, const void *one) {
    for (const struct hc_counter *c = list->rows; c < list->rows + list->count; c++) {
        void *to = (char *)sum + c->offset;
        const void *from = (const char *)one + c->offset;
        switch (c->kind) {
        case HC_COUNTER_HISTOGRAM:
            hc_histogram_merge(to, from);
            break;
        case HC_COUNTER_MAX:
        case HC_COUNTER_LEVEL:
        case HC_COUNTER_FLAG:
            if (number(c, from) > number(c, to))
                memcpy(to, from, c->size);
            break;
        case HC_COUNTER_SUM:
        case HC_COUNTER_GAUGE:
        case HC_COUNTER_MEAN:
        case HC_COUNTER_CAUSES:
        case HC_COUNTER_LEVELS:
            for (size_t i = 0; i < c->size / sizeof(uint64_t); i++)
                ((uint64_t *)to)[i] += ((const uint64_t *)from)[i];
            break;
        }
    }
}

/// The JSON of a counter; `member` NULL: unknown.
static json_t *value_of(const struct hc_counter *counter, const void *member) {
    const uint64_t *numbers = member;
    const struct hc_mean *mean = member;
    unsigned scale = strcmp(counter->unit, "ms") == 0 ? 1000 : 1;
    json_t *array;
    if (member == NULL)
        return counter->kind == HC_COUNTER_HISTOGRAM ? hc_report_unknown_histogram() : json_null();
    switch (counter->kind) {
    case HC_COUNTER_HISTOGRAM:
        return hc_report_histogram(member, scale);
    case HC_COUNTER_MEAN:
        return hc_report_ratio((double)mean->sum / scale, (double)mean->count);
    case HC_COUNTER_CAUSES:
        return hc_report_rejected(member);
    case HC_COUNTER_LEVELS:
        array = json_array();
        for (size_t i = 0; i < counter->size / sizeof(*numbers); i++)
            json_array_append_new(array, json_integer((json_int_t)numbers[i]));
        return array;
    case HC_COUNTER_FLAG:
        return json_boolean(number(counter, member));
    default:
        return json_integer((json_int_t)(number(counter, member) / scale));
    }
}

/// Puts `value`, which it takes over, into `object` by a key, whose dots lead into objects.
static void put(json_t *object, const char *key, json_t *value) {
    char outer[KEY_MAX];
    for (const char *dot; (dot = strchr(key, '.')) != NULL; key = dot + 1) {
        HC_ASSERT((size_t)(dot - key) < sizeof(outer));
        memcpy(outer, key, (size_t)(dot - key));
        outer[dot - key] = '\0';
        if (json_object_get(object, outer) == NULL)
            json_object_set_new(object, outer, json_object());
        object = json_object_get(object, outer);
    }
    json_object_set_new(object, key, value);
}

void hc_counters_report(const struct hc_counters *list, const void *counts, json_t *object) {
    for (const struct hc_counter *c = list->rows; c < list->rows + list->count; c++)
        put(object, c->key, value_of(c, counts == NULL ? NULL : (const char *)counts + c->offset));
}

json_t *hc_counters_object(const struct hc_counters *list, const void *counts) {
    json_t *object = json_object();
    hc_counters_report(list, counts, object);
    return object;
}
