/// Owns the entries of faults, which the log and the report share.
#include "server/daemon/faults.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

void hc_sv_faults_open(struct hc_sv_faults *faults) {
    *faults = (struct hc_sv_faults){.desyncs = NULL};
    pthread_mutex_init(&faults->lock, NULL);
}

void hc_sv_faults_close(struct hc_sv_faults *faults) {
    json_decref(faults->desyncs);
    json_decref(faults->overflows);
    faults->desyncs = faults->overflows = NULL;
    pthread_mutex_destroy(&faults->lock);
}

/// Appends the entry to a list, which takes it over; returns it, or NULL if the list is full.
static json_t *append(struct hc_sv_faults *faults, json_t **list, json_t *entry) {
    pthread_mutex_lock(&faults->lock);
    if (*list == NULL)
        *list = json_array();
    bool fits = json_array_size(*list) < HC_SV_FAULTS_MAX;
    if (fits)
        json_array_append_new(*list, entry);
    pthread_mutex_unlock(&faults->lock);
    if (fits)
        return entry;
    json_decref(entry);
    return NULL;
}

json_t *hc_sv_faults_add_desync(struct hc_sv_faults *faults, const struct hc_server_event *event) {
    const struct hc_difference *difference = &event->difference;
    char user[24], text[HC_DIFFERENCE_TEXT_MAX];
    snprintf(user, sizeof(user), "%" PRIu64, event->client_id);
    json_t *entry = json_pack("{s:s, s:I}", "user", user, "tick", (json_int_t)difference->tick);
    if (difference->kind != NULL) {
        json_object_set_new(entry, "kind", json_string(difference->kind->name));
        json_object_set_new(entry, "entity", json_integer(difference->entity));
    }
    if (difference->field != NULL)
        json_object_set_new(entry, "field", json_string(difference->field->name));
    if (difference->compared) {
        json_object_set_new(entry, "client_value", json_integer(difference->client_value));
        json_object_set_new(entry, "server_value", json_integer(difference->server_value));
    }
    json_object_set_new(entry, "text",
                        json_string(hc_difference_text(difference, text, sizeof(text))));
    return append(faults, &faults->desyncs, entry);
}

json_t *hc_sv_faults_next_overflow(struct hc_sv_faults *faults, const struct hc_server *server) {
    uint32_t count;
    const struct hc_overflow *list = hc_timeline_overflows(hc_server_timeline(server), &count);
    if (faults->seen >= count)
        return NULL;
    const struct hc_overflow *overflow = &list[faults->seen++];
    const struct hc_world *world = hc_server_world(server);
    const struct hc_kind *kind = hc_world_kind(world, overflow->entity);
    char text[HC_OVERFLOW_TEXT_MAX];
    json_t *entry = json_pack(
        "{s:I, s:s, s:i, s:s, s:I, s:s}", "tick", (json_int_t)overflow->tick, "kind", kind->name,
        "entity", (int)overflow->entity, "field", kind->fields[overflow->field].name, "value",
        (json_int_t)overflow->value, "text", hc_overflow_text(world, overflow, text, sizeof(text)));
    return append(faults, &faults->overflows, entry);
}

static void gather(json_t *all, const json_t *one) {
    size_t i;
    json_t *entry;
    json_array_foreach((json_t *)one, i, entry) {
        if (json_array_size(all) < HC_SV_FAULTS_MAX)
            json_array_append_new(all, json_deep_copy(entry));
    }
}

void hc_sv_faults_gather(struct hc_sv_faults *faults, json_t *desyncs, json_t *overflows) {
    pthread_mutex_lock(&faults->lock);
    gather(desyncs, faults->desyncs);
    gather(overflows, faults->overflows);
    pthread_mutex_unlock(&faults->lock);
}
