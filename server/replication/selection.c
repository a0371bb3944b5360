/// Which units a snapshot sends, and how many ticks of inputs.
#include "server/replication/selection.h"

#include "common/mark.h"
#include "hindcast/check.h"

enum {
    AGAIN_BITS = 1, ///< estimated, of the name of a unit that the base carried
    NAME_BITS = 8,  ///< of another name
    INPUT_BITS = 8, ///< of an input
};

static uint32_t least(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

// ---- Gathering ----------------------------------------------------------------------------------

/// The baseline that the unit's value is encoded against, and its name; none if the client has
/// acked none that it can be.
static struct hc_sv_sent_value base_of(const struct hc_sv_builder *builder,
                                       const struct hc_sv_sent_log_unit *known,
                                       struct hc_snapshot_unit *name) {
    const struct hc_snapshot *header = &builder->header;
    struct hc_sv_sent_value none = {.id = 0};
    name->from = HC_SNAPSHOT_NOTHING;
    name->as_of = known->acked_as_of;
    struct hc_sv_sent_value base =
        known->acked == 0 ? none : hc_sv_builder_acked(builder, name->unit, known->acked);
    // A delta may list what the owner did since the baseline; the client may not know what the unit
    // did out of its view.
    if (base.id == 0 || base.value->tick > header->tick ||
        base.value->tick < builder->client->interest.since[name->unit])
        return none;
    bool newest = known->acked_as_of == header->base;
    if (!newest && header->base - known->acked_as_of > HC_SNAPSHOT_AGE_MAX)
        return none;
    name->from = newest ? HC_SNAPSHOT_BASE : HC_SNAPSHOT_OLDER;
    return base;
}

/// Ticks from the one shown on that have known inputs of the unit's player, unless it is own.
static uint32_t inputs_of(const struct hc_sv_builder *builder, hc_unit unit) {
    hc_player player = hc_unit_player(builder->world, unit);
    if (player == HC_NO_PLAYER || hc_sv_client_owns(builder->client, player))
        return 0;
    hc_tick newest = builder->replicator->roster.players[player].newest_input;
    return hc_tick_max(newest + 1, builder->header.tick) - builder->header.tick;
}

/// Adds the inputs from the tick shown on, up to the tick at which their player leaves the view, as
/// far as that is simulated.
static void gather_inputs(struct hc_sv_builder *builder) {
    struct hc_sv_selection *selections = builder->selections;
    hc_tick head = builder->header.as_of, tick = builder->header.tick, end = tick;
    for (uint32_t i = 0; i < builder->selection_count; i++) {
        struct hc_sv_selection *selection = &selections[i];
        selection->inputs =
            hc_sv_selection_drops(selection) ? 0 : inputs_of(builder, selection->name.unit);
        end = hc_tick_max(end, tick + selection->inputs);
    }
    for (hc_tick t = tick + 1; t < end && t <= head; t++) {
        struct hc_sv_interest_look look = hc_sv_builder_look(builder, t);
        uint32_t before = t - tick;
        for (uint32_t i = 0; i < builder->selection_count && !look.everything; i++)
            if (selections[i].inputs > before &&
                !hc_sv_interest_in_view(&look, selections[i].name.unit)) {
                HC_MARK("inputs-out-of-view");
                selections[i].inputs = before;
            }
    }
    for (uint32_t i = 0; i < builder->selection_count; i++)
        selections[i].bits += INPUT_BITS * least(selections[i].inputs, HC_SNAPSHOT_INPUTS_NEAR);
}

/// Chooses the baseline of a unit in view, and measures the delta.
static void choose_base(struct hc_sv_builder *builder, const struct hc_sv_sent_log_unit *known,
                        struct hc_sv_selection *selection) {
    hc_unit unit = selection->name.unit;
    selection->value.id = hc_sv_sent_values_put(&builder->shown, unit);
    selection->value.value =
        hc_sv_sent_values_get(&builder->replicator->sent_values, selection->value.id);
    selection->base = base_of(builder, known, &selection->name);
    if (!hc_sv_client_owns_unit(builder->client, unit) &&
        hc_sv_builder_too_dear(builder, unit, selection->base, selection->value)) {
        HC_MARK("extrapolations-all-taken");
        selection->base = (struct hc_sv_sent_value){.id = 0};
        selection->name.from = HC_SNAPSHOT_NOTHING;
    }
    if (selection->name.from == HC_SNAPSHOT_BASE)
        selection->bits = AGAIN_BITS;
    struct hc_sv_delta delta =
        hc_sv_builder_delta(builder, unit, selection->base, selection->value);
    hc_sv_builder_count_delta(builder, &delta);
    selection->delta = delta.bits;
    selection->bits += delta.bits;
}

/// Adds a unit that the client sees, or must forget.
static void gather_unit(struct hc_sv_builder *builder, hc_unit unit,
                        const struct hc_sv_sent_log_unit *known, bool sees) {
    struct hc_sv_client *client = builder->client;
    uint32_t view = builder->world->game->view;
    struct hc_sv_selection *selection = &builder->selections[builder->selection_count];
    struct hc_sv_candidate *candidate = &builder->candidates[builder->selection_count++];
    *selection = (struct hc_sv_selection){.name = {.unit = unit, .from = HC_SNAPSHOT_DROPPED},
                                          .bits = NAME_BITS};
    if (sees)
        choose_base(builder, known, selection);
    bool same = selection->delta <= 1 && known->known && sees;
    *candidate = (struct hc_sv_candidate){
        .unit = unit,
        .own = hc_sv_client_owns_unit(client, unit),
        .changed = !same,
        .distance = view == 0 ? 0
                              : hc_sv_interest_distance(&client->interest, builder->timeline,
                                                        builder->header.tick, unit),
        .view = view};
    if (known->sent != 0 && sees) { // else the unit was out of view
        uint32_t unsent = builder->header.as_of - known->sent_as_of;
        if (unsent > builder->counts->longest_unsent_ticks)
            builder->counts->longest_unsent_ticks = unsent;
    }
}

void hc_sv_selection_gather(struct hc_sv_builder *builder) {
    struct hc_sv_client *client = builder->client;
    uint32_t units = hc_unit_total(builder->world);
    builder->selection_count = 0;
    builder->counts->units_examined += units;
    // A new value may replace an old one, so all are stored before any is borrowed.
    for (uint32_t u = 0; u < units; u++)
        if (hc_sv_interest_sees(&client->interest, (hc_unit)u))
            hc_sv_sent_values_put(&builder->shown, (hc_unit)u);
    for (uint32_t u = 0; u < units; u++) {
        hc_unit unit = (hc_unit)u;
        const struct hc_sv_sent_log_unit *known = hc_sv_sent_log_unit(client->sent_log, unit);
        bool sees = hc_sv_interest_sees(&client->interest, unit);
        hc_sv_sent_log_compare(client->sent_log, unit, sees && known->acked != 0);
        if (!sees && !known->known) {
            hc_sv_priority_sent(&client->priority, unit); // it waits for nothing
            continue;
        }
        gather_unit(builder, unit, known, sees);
    }
    builder->gathered = true;
    gather_inputs(builder);
    hc_sv_priority_grow(&client->priority, builder->candidates, builder->selection_count);
}

const struct hc_sv_selection *hc_sv_selection_find(const struct hc_sv_builder *builder,
                                                   hc_unit unit) {
    uint32_t low = 0, high = builder->selection_count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (builder->selections[middle].name.unit < unit)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < builder->selection_count && builder->selections[low].name.unit == unit;
    return found ? &builder->selections[low] : NULL;
}

// ---- Choosing -----------------------------------------------------------------------------------

uint32_t hc_sv_selection_choose(struct hc_sv_builder *builder, uint32_t room, uint32_t most) {
    struct hc_sv_selection *selections = builder->selections;
    uint32_t taken = 0, used = 0, all = 0;
    for (uint32_t i = 0; i < builder->selection_count; i++)
        all += selections[i].bits;
    bool fits = all <= room && builder->selection_count <= most;
    for (uint32_t i = 0; i < builder->selection_count; i++)
        selections[i].chosen = fits;
    if (fits)
        return builder->selection_count;
    if (!builder->ordered)
        hc_sv_priority_order(&builder->client->priority, builder->candidates,
                             builder->selection_count);
    builder->ordered = true;
    for (uint32_t i = 0; i < builder->selection_count && taken < most; i++) {
        const struct hc_sv_selection *found =
            hc_sv_selection_find(builder, builder->candidates[i].unit);
        struct hc_sv_selection *selection = &selections[found - selections];
        if (!builder->candidates[i].own && used + selection->bits > room)
            continue;
        used += selection->bits;
        selection->chosen = true;
        taken++;
    }
    return taken;
}

/// Bits of the chosen units with so many ticks of inputs, by estimate.
static uint32_t bits_with(const struct hc_sv_builder *builder, uint32_t inputs) {
    uint32_t used = 0;
    for (uint32_t i = 0; i < builder->selection_count; i++) {
        const struct hc_sv_selection *selection = &builder->selections[i];
        uint32_t near = least(selection->inputs, HC_SNAPSHOT_INPUTS_NEAR);
        if (selection->chosen)
            used += selection->bits + INPUT_BITS * (least(selection->inputs, inputs) - near);
    }
    return used;
}

uint32_t hc_sv_selection_inputs(const struct hc_sv_builder *builder, uint32_t room) {
    uint32_t low = HC_SNAPSHOT_INPUTS_NEAR, high = HC_SNAPSHOT_INPUTS_MAX;
    if (bits_with(builder, high) <= room)
        return high;
    while (low < high) {
        uint32_t middle = (low + high + 1) / 2;
        if (bits_with(builder, middle) <= room)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

void hc_sv_selection_sent(struct hc_sv_builder *builder) {
    struct hc_sv_client *client = builder->client;
    for (uint32_t i = 0; i < builder->selection_count; i++) {
        const struct hc_sv_selection *selection = &builder->selections[i];
        if (!selection->chosen)
            continue;
        bool logged = hc_sv_sent_log_put(client->sent_log, selection->name.unit,
                                         builder->header.tick, selection->value.id, false);
        HC_ASSERT(logged); // the log has room for more units than one snapshot carries
        hc_sv_priority_sent(&client->priority, selection->name.unit);
    }
}
