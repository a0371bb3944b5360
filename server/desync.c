/// Answers clients that ask where their world differs, and names the difference when they leave.
#include "server/desync.h"

void hc_sv_desync_ask(const struct hc_world *world, struct hc_sv_peer *peer,
                      const struct hc_compare *compare) {
    struct hc_sv_answer *answer = &peer->answer;
    const struct hc_sv_sent_log *sent_log = &peer->replication.sent_log;
    hc_unit unit;
    if (answer->answers == HC_COMPARES_MAX)
        return;
    const struct hc_unit_value *value = hc_sv_client_compare(&peer->replication, compare, &unit);
    answer->answers++;
    if (value == NULL)
        return;
    answer->due = answer->any = true;
    answer->as_of = compare->as_of;
    answer->tick = sent_log->tick[hc_sv_sent_log_place(sent_log, compare->as_of)];
    answer->unit = unit;
    hc_unit_copy(world, unit, &answer->value, value);
    peer->messages_due = true;
}

void hc_sv_desync_put(const struct hc_world *world, struct hc_sv_peer *peer,
                      struct hc_writer *body) {
    struct hc_sv_answer *answer = &peer->answer;
    if (answer->due && hc_differs_put(body, world, answer->as_of, answer->unit, &answer->value))
        answer->due = false;
}

/// Writes the server's value of what the client says differs, if the answer has it.
static bool find_value(const struct hc_world *world, const struct hc_sv_answer *answer,
                       struct hc_difference *out) {
    if (!answer->any || answer->tick != out->tick || hc_unit_of(world, out->entity) != answer->unit)
        return false;
    size_t place = (size_t)(out->entity - hc_unit_first(world, answer->unit));
    const uint8_t *state = answer->value.states + place * world->stride;
    out->server_value =
        out->field == NULL ? answer->value.presence[place] : hc_field_get(out->field, state);
    return true;
}

struct hc_difference hc_sv_desync_difference(const struct hc_world *world,
                                             const struct hc_sv_peer *peer,
                                             const struct hc_close_desync *close) {
    struct hc_difference difference = {.tick = close->tick};
    if (close->entity >= world->entities)
        return difference;
    difference.entity = close->entity;
    difference.kind = hc_world_kind(world, difference.entity);
    if (close->field < difference.kind->field_count)
        difference.field = &difference.kind->fields[close->field];
    difference.compared = close->compared && find_value(world, &peer->answer, &difference);
    if (difference.compared)
        difference.client_value = close->value;
    return difference;
}
