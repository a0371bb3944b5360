/// The random operations before each advance, on an authority and on a replica.
#include "tests/exact/history_run.h"

#include <string.h>

/// A random tick in the window or a little outside of it.
static hc_tick draw_tick(struct history_run *run) {
    hc_tick from = hc_tick_back(hc_history_first_input(run->record), 3);
    hc_tick to = hc_history_head(run->record) + run->config.future + 2;
    return from + hc_rng_below(&run->rng, to - from + 1);
}

static hc_player draw_player(struct history_run *run) {
    return (hc_player)hc_rng_below(&run->rng, run->world.players);
}

/// Whether an early input must wait, because a roster change of its player comes before it.
static bool must_wait(const struct history_run *run, hc_player player, hc_tick head, hc_tick tick) {
    for (hc_tick t = head; run->lossless && t < tick; t++)
        if (run->truth->roster_changes[truth_cell(run->truth, player, t)] != HC_ROSTER_NONE)
            return true;
    return false;
}

/// Puts the input of a slot at its arrival.
static bool deliver(struct history_run *run, hc_player player, hc_tick tick) {
    struct truth *truth = run->truth;
    size_t cell = truth_cell(truth, player, tick);
    hc_tick head = hc_history_head(run->record);
    if (must_wait(run, player, head, tick)) {
        truth->arrival[cell] = (int32_t)tick;
        return true;
    }
    if (!truth->in[cell] && !hc_rng_chance(&run->rng, 50000))
        return true; // inputs of players that are out are rare
    if (!run_put_input(run, player, tick, truth_input(truth, player, tick)))
        return false;
    if (!hc_rng_chance(&run->rng, 20000))
        return true;
    uint8_t other[HC_INPUT_MAX] = {0};
    truth_draw_input(&run->world, &run->rng, other);
    return run_put_input(run, player, tick, other);
}

/// Puts all inputs that arrive at this head, in random order.
static bool deliver_arrivals(struct history_run *run) {
    enum { BATCH = 4096 };
    struct {
        hc_player player;
        hc_tick tick;
    } batch[BATCH], swapped;
    const struct truth *truth = run->truth;
    hc_tick head = hc_history_head(run->record);
    hc_tick from = hc_tick_back(head, (uint32_t)truth->plan.late_max);
    hc_tick to = hc_tick_min(head + (uint32_t)truth->plan.early_max, truth->plan.ticks - 1);
    uint32_t count = 0;
    for (hc_tick t = from; t <= to; t++) {
        for (hc_player p = 0; p < run->world.players; p++) {
            if (truth->arrival[truth_cell(truth, p, t)] != (int32_t)head || count == BATCH)
                continue;
            uint32_t at = hc_rng_below(&run->rng, count + 1);
            swapped = batch[at];
            batch[at].player = p;
            batch[at].tick = t;
            if (at != count)
                batch[count] = swapped;
            count++;
        }
    }
    for (uint32_t i = 0; i < count; i++)
        if (!deliver(run, batch[i].player, batch[i].tick))
            return false;
    return true;
}

/// Puts a player's inputs up to `to` that are not known yet.
static bool deliver_rest(struct history_run *run, hc_player player, hc_tick to) {
    for (hc_tick t = 0; t <= to; t++)
        if (run->truth->in[truth_cell(run->truth, player, t)] &&
            hc_history_slot(run->record, player, t) == HC_SLOT_UNKNOWN &&
            !run_put_input(run, player, t, truth_input(run->truth, player, t)))
            return false;
    return true;
}

static bool put_roster_changes(struct history_run *run) {
    const struct truth *truth = run->truth;
    hc_tick head = hc_history_head(run->record);
    for (hc_player p = 0; p < run->world.players; p++) {
        enum hc_roster roster_change = truth->roster_changes[truth_cell(truth, p, head)];
        if (run->lossless && roster_change == HC_ROSTER_LEAVE && !deliver_rest(run, p, head))
            return false;
        if (roster_change != HC_ROSTER_NONE && !run_put_roster(run, p, head, roster_change))
            return false;
    }
    return true;
}

/// Makes a call that is refused, or that forces slots.
static bool disturb_authority(struct history_run *run) {
    uint8_t input[HC_INPUT_MAX] = {0};
    hc_player player = draw_player(run);
    hc_tick tick = draw_tick(run), head = hc_history_head(run->record);
    switch (hc_rng_below(&run->rng, 12)) {
    case 0:
        return run_put_roster(run, player, tick == head ? tick + 1 : tick, HC_ROSTER_JOIN);
    case 1: {
        enum hc_roster again =
            hc_history_joined(run->record, player) ? HC_ROSTER_JOIN : HC_ROSTER_LEAVE;
        return run_put_roster(run, player, head, again);
    }
    case 2:
        truth_draw_input(&run->world, &run->rng, input);
        return run->lossless || run_put_input(run, player, tick, input);
    case 3:
        return run->lossless || run_force(run, player, tick);
    case 4:
        return run->lossless || run_force(run, player, hc_tick_back(head, tick % 4));
    default:
        return true;
    }
}

bool run_act_authority(struct history_run *run) {
    bool roster_first = hc_rng_below(&run->rng, 2) == 0;
    if (roster_first && !put_roster_changes(run))
        return false;
    if (!deliver_arrivals(run) || !disturb_authority(run))
        return false;
    if (!roster_first && !put_roster_changes(run))
        return false;
    // At the end of the history every input must have arrived.
    hc_tick head = hc_history_head(run->record);
    for (hc_player p = 0; run->lossless && run->done == run->advances && p < run->world.players;
         p++)
        if (hc_history_joined(run->record, p) && !deliver_rest(run, p, head))
            return false;
    return true;
}

static bool receive_roster_changes(struct history_run *run) {
    const struct truth *truth = run->truth;
    hc_tick head = hc_history_head(run->record);
    hc_tick from = hc_tick_back(head, (uint32_t)truth->plan.late_max);
    hc_tick to = hc_tick_min(head + (uint32_t)truth->plan.early_max, truth->plan.ticks - 1);
    for (hc_tick t = from; t <= to; t++) {
        for (hc_player p = 0; p < run->world.players; p++) {
            size_t cell = truth_cell(truth, p, t);
            if (truth->roster_changes[cell] != HC_ROSTER_NONE &&
                truth->arrival[cell] == (int32_t)head &&
                !run_put_roster(run, p, t, truth->roster_changes[cell]))
                return false;
        }
    }
    return true;
}

/// Sets one field of a state to any value that fits.
static void falsify(struct history_run *run, hc_entity entity, uint8_t *state) {
    const struct hc_kind *kind = hc_world_kind(&run->world, entity);
    const struct hc_field *field = &kind->fields[hc_rng_below(&run->rng, kind->field_count)];
    int64_t value = (int64_t)(hc_rng_next(&run->rng) % (UINT64_C(1) << field->bits));
    if (hc_rng_below(&run->rng, 2) == 0) // close to the true value
        value = hc_field_get(field, state) + (int64_t)hc_rng_below(&run->rng, 33) - 16;
    else if (field->is_signed)
        value -= INT64_C(1) << (field->bits - 1);
    if (hc_field_fits(field, value))
        hc_field_set(field, state, value);
}

/// The state of one entity to be put: mostly its true state at `tick`.
static struct hc_entity_state draw_state(struct history_run *run, hc_tick tick, hc_entity entity,
                                         uint8_t *state) {
    const struct truth *truth = run->truth;
    const struct hc_world *world = &run->world;
    struct hc_entity_state put = {.entity = entity, .state = state};
    bool other_tick = hc_rng_chance(&run->rng, 60000);
    hc_tick of = other_tick ? hc_rng_below(&run->rng, truth->plan.ticks) : tick;
    put.presence = truth->presence[(size_t)of * world->entities + entity];
    memcpy(state, truth->states + ((size_t)of * world->entities + entity) * world->stride,
           world->stride);
    if (hc_rng_chance(&run->rng, 60000))
        put.presence = (uint8_t)hc_rng_below(&run->rng, 2); // unknown or absent
    if (put.presence == HC_ALIVE && hc_rng_chance(&run->rng, 60000))
        falsify(run, entity, state);
    return put;
}

bool run_receive_state(struct history_run *run, hc_tick tick) {
    enum { MOST = 256 };
    struct hc_entity_state puts[MOST];
    uint8_t states[MOST][HC_STATE_MAX];
    static const uint32_t parts_ppm[4] = {30000, 200000, 700000, 1000000};
    uint32_t part_ppm = parts_ppm[hc_rng_below(&run->rng, 4)], count = 0;
    hc_tick as_of = tick + hc_rng_below(&run->rng, 12);
    for (uint32_t e = 0; e < run->world.entities && count < MOST; e++) {
        if (!hc_rng_chance(&run->rng, part_ppm))
            continue;
        puts[count] = draw_state(run, tick, (hc_entity)e, states[count]);
        count++;
    }
    return run_put_state(run, tick, as_of, puts, count);
}

static bool disturb_replica(struct history_run *run) {
    uint8_t input[HC_INPUT_MAX] = {0};
    struct hc_entity_state wrong = {.entity = 1, .presence = HC_ALIVE + 1, .state = input};
    hc_player player = draw_player(run);
    hc_tick tick = draw_tick(run);
    switch (hc_rng_below(&run->rng, 12)) {
    case 0:
    case 1:
        return run_retract(run, player, tick);
    case 2:
        truth_draw_input(&run->world, &run->rng, input);
        return run_put_input(run, player, tick, input);
    case 3:
        return run_put_state(run, hc_history_head(run->record), tick, &wrong, 1);
    case 4:
        wrong = (struct hc_entity_state){.entity = (hc_entity)run->world.entities};
        return run_put_state(run, hc_history_head(run->record), tick, &wrong, 1);
    default:
        return true;
    }
}

/// Puts a state after the head, as after a stall.
static bool restart(struct history_run *run) {
    hc_tick head = hc_history_head(run->record);
    hc_tick to = head + 1 + hc_rng_below(&run->rng, run->config.history + 8);
    uint32_t left = run->advances - run->done;
    if (to + left + run->config.future + 2 >= run->truth->plan.ticks)
        return true;
    run->counts[COUNT_RESTARTS]++;
    return run_receive_state(run, to);
}

bool run_act_replica(struct history_run *run) {
    hc_tick head = hc_history_head(run->record);
    if (!receive_roster_changes(run) || !deliver_arrivals(run) || !disturb_replica(run))
        return false;
    if (hc_rng_chance(&run->rng, 8000))
        return restart(run);
    for (uint32_t states = hc_rng_below(&run->rng, 3); states > 1; states--) {
        hc_tick from = hc_tick_back(hc_history_oldest(run->record), 1);
        if (!run_receive_state(run, from + hc_rng_below(&run->rng, head - from + 1)))
            return false;
    }
    return true;
}
