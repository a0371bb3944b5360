#include "tests/exact/trial.h"

#include <string.h>

/// A tick around the window, also a little outside of it.
static hc_tick draw_tick(struct trial *trial) {
    hc_tick from = hc_tick_back(hc_history_first_input(trial->record), 3);
    hc_tick to = hc_history_head(trial->record) + trial->config.future + 2;
    return from + hc_rng_below(&trial->rng, to - from + 1);
}

static hc_player draw_player(struct trial *trial) {
    return (hc_player)hc_rng_below(&trial->rng, trial->world.players);
}

/// Whether an input that would come early must wait because its player comes or goes before it.
static bool must_wait(const struct trial *trial, hc_player player, hc_tick head, hc_tick tick) {
    for (hc_tick t = head; trial->lossless && t < tick; t++)
        if (trial->truth->roster_changes[truth_cell(trial->truth, player, t)] != HC_ROSTER_NONE)
            return true;
    return false;
}

/// Puts the input of a slot, whose time has come.
static bool deliver(struct trial *trial, hc_player player, hc_tick tick) {
    struct truth *truth = trial->truth;
    size_t cell = truth_cell(truth, player, tick);
    hc_tick head = hc_history_head(trial->record);
    if (must_wait(trial, player, head, tick)) {
        truth->arrival[cell] = (int32_t)tick;
        return true;
    }
    if (!truth->in[cell] && !hc_rng_chance(&trial->rng, 50000))
        return true; // hardly anybody sends inputs while out
    if (!trial_put_input(trial, player, tick, truth_input(truth, player, tick)))
        return false;
    if (!hc_rng_chance(&trial->rng, 20000))
        return true;
    uint8_t other[HC_INPUT_MAX] = {0};
    truth_draw_input(&trial->world, &trial->rng, other);
    return trial_put_input(trial, player, tick, other);
}

/// Puts all inputs that come at this head, in random order.
static bool deliver_arrivals(struct trial *trial) {
    enum { BATCH = 4096 };
    struct {
        hc_player player;
        hc_tick tick;
    } batch[BATCH], kept;
    const struct truth *truth = trial->truth;
    hc_tick head = hc_history_head(trial->record);
    hc_tick from = hc_tick_back(head, (uint32_t)truth->plan.late_max);
    hc_tick to = hc_tick_min(head + (uint32_t)truth->plan.early_max, truth->plan.ticks - 1);
    uint32_t count = 0;
    for (hc_tick t = from; t <= to; t++) {
        for (hc_player p = 0; p < trial->world.players; p++) {
            if (truth->arrival[truth_cell(truth, p, t)] != (int32_t)head || count == BATCH)
                continue;
            uint32_t at = hc_rng_below(&trial->rng, count + 1);
            kept = batch[at];
            batch[at].player = p;
            batch[at].tick = t;
            if (at != count)
                batch[count] = kept;
            count++;
        }
    }
    for (uint32_t i = 0; i < count; i++)
        if (!deliver(trial, batch[i].player, batch[i].tick))
            return false;
    return true;
}

/// Puts what has not come of a player's inputs up to `to`.
static bool deliver_rest(struct trial *trial, hc_player player, hc_tick to) {
    for (hc_tick t = 0; t <= to; t++)
        if (trial->truth->in[truth_cell(trial->truth, player, t)] &&
            hc_history_slot(trial->record, player, t) == HC_SLOT_UNKNOWN &&
            !trial_put_input(trial, player, t, truth_input(trial->truth, player, t)))
            return false;
    return true;
}

static bool author_controls(struct trial *trial) {
    const struct truth *truth = trial->truth;
    hc_tick head = hc_history_head(trial->record);
    for (hc_player p = 0; p < trial->world.players; p++) {
        enum hc_roster roster_change = truth->roster_changes[truth_cell(truth, p, head)];
        if (trial->lossless && roster_change == HC_ROSTER_LEAVE && !deliver_rest(trial, p, head))
            return false;
        if (roster_change != HC_ROSTER_NONE && !trial_put_roster(trial, p, head, roster_change))
            return false;
    }
    return true;
}

/// Calls that are refused, or that close slots.
static bool disturb_authority(struct trial *trial) {
    uint8_t input[HC_INPUT_MAX] = {0};
    hc_player player = draw_player(trial);
    hc_tick tick = draw_tick(trial), head = hc_history_head(trial->record);
    switch (hc_rng_below(&trial->rng, 12)) {
    case 0:
        return trial_put_roster(trial, player, tick == head ? tick + 1 : tick, HC_ROSTER_JOIN);
    case 1: {
        enum hc_roster again =
            hc_history_joined(trial->record, player) ? HC_ROSTER_JOIN : HC_ROSTER_LEAVE;
        return trial_put_roster(trial, player, head, again);
    }
    case 2:
        truth_draw_input(&trial->world, &trial->rng, input);
        return trial->lossless || trial_put_input(trial, player, tick, input);
    case 3:
        return trial->lossless || trial_force(trial, player, tick);
    case 4:
        return trial->lossless || trial_force(trial, player, hc_tick_back(head, tick % 4));
    default:
        return true;
    }
}

bool trial_act_authority(struct trial *trial) {
    bool controls_first = hc_rng_below(&trial->rng, 2) == 0;
    if (controls_first && !author_controls(trial))
        return false;
    if (!deliver_arrivals(trial) || !disturb_authority(trial))
        return false;
    if (!controls_first && !author_controls(trial))
        return false;
    // The history ends: nothing may stay on its way.
    hc_tick head = hc_history_head(trial->record);
    for (hc_player p = 0;
         trial->lossless && trial->done == trial->advances && p < trial->world.players; p++)
        if (hc_history_joined(trial->record, p) && !deliver_rest(trial, p, head))
            return false;
    return true;
}

static bool hear_controls(struct trial *trial) {
    const struct truth *truth = trial->truth;
    hc_tick head = hc_history_head(trial->record);
    hc_tick from = hc_tick_back(head, (uint32_t)truth->plan.late_max);
    hc_tick to = hc_tick_min(head + (uint32_t)truth->plan.early_max, truth->plan.ticks - 1);
    for (hc_tick t = from; t <= to; t++) {
        for (hc_player p = 0; p < trial->world.players; p++) {
            size_t cell = truth_cell(truth, p, t);
            if (truth->roster_changes[cell] != HC_ROSTER_NONE &&
                truth->arrival[cell] == (int32_t)head &&
                !trial_put_roster(trial, p, t, truth->roster_changes[cell]))
                return false;
        }
    }
    return true;
}

/// Changes a state so that it is no longer true: one field of it, to any value that fits.
static void falsify(struct trial *trial, hc_entity entity, uint8_t *state) {
    const struct hc_kind *kind = hc_world_kind(&trial->world, entity);
    const struct hc_field *field = &kind->fields[hc_rng_below(&trial->rng, kind->field_count)];
    int64_t value = (int64_t)(hc_rng_next(&trial->rng) % (UINT64_C(1) << field->bits));
    if (hc_rng_below(&trial->rng, 2) == 0) // near the true one
        value = hc_field_get(field, state) + (int64_t)hc_rng_below(&trial->rng, 33) - 16;
    else if (field->is_signed)
        value -= INT64_C(1) << (field->bits - 1);
    if (hc_field_fits(field, value))
        hc_field_set(field, state, value);
}

/// What one entity of a put state says: the truth of `tick`, or not quite.
static struct hc_entity_state draw_state(struct trial *trial, hc_tick tick, hc_entity entity,
                                         uint8_t *state) {
    const struct truth *truth = trial->truth;
    const struct hc_world *world = &trial->world;
    struct hc_entity_state put = {.entity = entity, .state = state};
    bool lie = hc_rng_chance(&trial->rng, 60000);
    hc_tick of = lie ? hc_rng_below(&trial->rng, truth->plan.ticks) : tick;
    put.presence = truth->presence[(size_t)of * world->entities + entity];
    memcpy(state, truth->states + ((size_t)of * world->entities + entity) * world->stride,
           world->stride);
    if (hc_rng_chance(&trial->rng, 60000))
        put.presence = (uint8_t)hc_rng_below(&trial->rng, 2); // unknown or absent
    if (put.presence == HC_ALIVE && hc_rng_chance(&trial->rng, 60000))
        falsify(trial, entity, state);
    return put;
}

bool trial_hear_state(struct trial *trial, hc_tick tick) {
    enum { MOST = 256 };
    struct hc_entity_state puts[MOST];
    uint8_t states[MOST][HC_STATE_MAX];
    static const uint32_t parts_ppm[4] = {30000, 200000, 700000, 1000000};
    uint32_t part_ppm = parts_ppm[hc_rng_below(&trial->rng, 4)], count = 0;
    hc_tick as_of = tick + hc_rng_below(&trial->rng, 12);
    for (uint32_t e = 0; e < trial->world.entities && count < MOST; e++) {
        if (!hc_rng_chance(&trial->rng, part_ppm))
            continue;
        puts[count] = draw_state(trial, tick, (hc_entity)e, states[count]);
        count++;
    }
    return trial_put_state(trial, tick, as_of, puts, count);
}

static bool disturb_replica(struct trial *trial) {
    uint8_t input[HC_INPUT_MAX] = {0};
    struct hc_entity_state wrong = {.entity = 1, .presence = HC_ALIVE + 1, .state = input};
    hc_player player = draw_player(trial);
    hc_tick tick = draw_tick(trial);
    switch (hc_rng_below(&trial->rng, 12)) {
    case 0:
    case 1:
        return trial_retract(trial, player, tick);
    case 2:
        truth_draw_input(&trial->world, &trial->rng, input);
        return trial_put_input(trial, player, tick, input);
    case 3:
        return trial_put_state(trial, hc_history_head(trial->record), tick, &wrong, 1);
    case 4:
        wrong = (struct hc_entity_state){.entity = (hc_entity)trial->world.entities};
        return trial_put_state(trial, hc_history_head(trial->record), tick, &wrong, 1);
    default:
        return true;
    }
}

/// Goes on somewhere after the head, as after a stall or a first meeting.
static bool restart(struct trial *trial) {
    hc_tick head = hc_history_head(trial->record);
    hc_tick to = head + 1 + hc_rng_below(&trial->rng, trial->config.history + 8);
    uint32_t left = trial->advances - trial->done;
    if (to + left + trial->config.future + 2 >= trial->truth->plan.ticks)
        return true;
    trial->counts[COUNT_RESTARTS]++;
    return trial_hear_state(trial, to);
}

bool trial_act_replica(struct trial *trial) {
    hc_tick head = hc_history_head(trial->record);
    if (!hear_controls(trial) || !deliver_arrivals(trial) || !disturb_replica(trial))
        return false;
    if (hc_rng_chance(&trial->rng, 8000))
        return restart(trial);
    for (uint32_t states = hc_rng_below(&trial->rng, 3); states > 1; states--) {
        hc_tick from = hc_tick_back(hc_history_oldest(trial->record), 1);
        if (!trial_hear_state(trial, from + hc_rng_below(&trial->rng, head - from + 1)))
            return false;
    }
    return true;
}
