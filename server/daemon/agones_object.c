/// Owns the reading of the gameserver object.
#include "server/daemon/agones_object.h"

#include <stdio.h>
#include <string.h>

enum { HEALTH_PERIOD_MAX_S = 3600 };

/// The member of the first or the second name; NULL: there is neither.
static const json_t *member(const json_t *json, const char *name, const char *other) {
    const json_t *found = json_object_get(json, name);
    return found != NULL ? found : json_object_get(json, other);
}

void hc_sv_agones_copy(const char *from, char *text, size_t size) {
    size_t length = strlen(from);
    if (length >= size)
        for (length = size - 1; length > 0 && (from[length] & 0xc0) == 0x80;)
            length--;
    memcpy(text, from, length);
    text[length] = '\0';
}

static void copy(char text[HC_SV_AGONES_WORD], const json_t *json) {
    const char *value = json_string_value(json);
    hc_sv_agones_copy(value != NULL ? value : "", text, HC_SV_AGONES_WORD);
}

int64_t hc_sv_agones_number(const json_t *json) {
    const char *text = json_string_value(json);
    int64_t number = 0;
    if (json_is_integer(json))
        return json_integer_value(json) >= 0 ? json_integer_value(json) : -1;
    if (text == NULL || *text == '\0' || strlen(text) > 18) // 18 digits always fit
        return -1;
    for (; *text != '\0'; text++) {
        if (*text < '0' || *text > '9')
            return -1;
        number = number * 10 + (*text - '0');
    }
    return number;
}

static enum hc_sv_agones_state state_of(const char *word) {
    static const struct {
        const char *word;
        enum hc_sv_agones_state state;
    } states[] = {
        {"PortAllocation", HC_SV_AGONES_BEFORE}, {"Creating", HC_SV_AGONES_BEFORE},
        {"Starting", HC_SV_AGONES_BEFORE},       {"Scheduled", HC_SV_AGONES_BEFORE},
        {"RequestReady", HC_SV_AGONES_BEFORE},   {"Ready", HC_SV_AGONES_READY},
        {"Reserved", HC_SV_AGONES_RESERVED},     {"Allocated", HC_SV_AGONES_ALLOCATED},
        {"Shutdown", HC_SV_AGONES_ENDING},       {"Error", HC_SV_AGONES_ENDING},
        {"Unhealthy", HC_SV_AGONES_ENDING},
    };
    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
        if (strcmp(states[i].word, word) == 0)
            return states[i].state;
    return HC_SV_AGONES_UNKNOWN;
}

bool hc_sv_agones_object_read(const json_t *json, struct hc_sv_agones_object *object) {
    const json_t *status = json_object_get(json, "status");
    const json_t *meta = member(json, "object_meta", "metadata");
    const json_t *health = json_object_get(json_object_get(json, "spec"), "health");
    if (!json_is_string(json_object_get(status, "state")))
        return false;
    int64_t period_s = hc_sv_agones_number(member(health, "period_seconds", "periodSeconds"));
    copy(object->word, json_object_get(status, "state"));
    copy(object->allocated,
         json_object_get(json_object_get(meta, "annotations"), "agones.dev/last-allocated"));
    object->state = state_of(object->word);
    object->health_is_off = json_is_true(json_object_get(health, "disabled"));
    if (period_s < 1) // Agones replaces 0 by its default
        period_s = HC_SV_AGONES_HEALTH_PERIOD_S;
    object->health_period_s =
        (uint32_t)(period_s < HEALTH_PERIOD_MAX_S ? period_s : HEALTH_PERIOD_MAX_S);
    return true;
}

uint16_t hc_sv_agones_object_port(const json_t *json, const char *name) {
    const json_t *ports = json_object_get(json_object_get(json, "status"), "ports"), *port;
    size_t i;
    json_array_foreach(ports, i, port) {
        const char *found = json_string_value(json_object_get(port, "name"));
        int64_t number = hc_sv_agones_number(json_object_get(port, "port"));
        if (found != NULL && strcmp(found, name) == 0 && number >= 1 && number <= UINT16_MAX)
            return (uint16_t)number;
    }
    return 0;
}
