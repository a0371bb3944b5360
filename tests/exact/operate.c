/// The operations, each applied to the record and to both timelines.
#include "tests/exact/history_run.h"

static bool same_status(const struct history_run *run, hc_tick tick, const char *operation,
                        enum hc_status truly, const enum hc_status held[RUN_TIMELINES]) {
    for (unsigned k = 0; k < RUN_TIMELINES; k++)
        if (held[k] != truly)
            return run_differs(run, tick, "%s: answered \"%s\", truly \"%s\"", operation,
                               hc_status_text(held[k]), hc_status_text(truly));
    return true;
}

bool run_put_input(struct history_run *run, hc_player player, hc_tick tick, const uint8_t *input) {
    enum hc_status held[RUN_TIMELINES];
    enum hc_status truly = hc_history_put_input(run->record, player, tick, input);
    for (unsigned k = 0; k < RUN_TIMELINES; k++)
        held[k] = hc_timeline_put_input(run->timelines[k], player, tick, input);
    if (truly == HC_OK && tick < hc_history_head(run->record)) {
        run->counts[COUNT_LATE_INPUTS]++;
        run->late[player] = run->any_late = true;
    } else if (truly == HC_OK) {
        run->counts[COUNT_EARLY_INPUTS]++;
    }
    run->counts[COUNT_OLD_INPUTS] += truly == HC_TOO_OLD;
    run->counts[COUNT_DOUBLED] += truly == HC_DUPLICATE;
    return same_status(run, tick, "put_input", truly, held);
}

bool run_put_roster(struct history_run *run, hc_player player, hc_tick tick,
                    enum hc_roster roster_change) {
    enum hc_status held[RUN_TIMELINES];
    enum hc_status truly = hc_history_put_roster(run->record, player, tick, roster_change);
    for (unsigned k = 0; k < RUN_TIMELINES; k++)
        held[k] = hc_timeline_put_roster(run->timelines[k], player, tick, roster_change);
    if (truly == HC_OK)
        run->counts[roster_change == HC_ROSTER_JOIN ? COUNT_JOINS : COUNT_LEAVES]++;
    return same_status(run, tick, "put_roster", truly, held);
}

bool run_force(struct history_run *run, hc_player player, hc_tick before) {
    uint32_t truly = hc_history_force(run->record, player, before);
    run->counts[COUNT_FORCED] += truly;
    for (unsigned k = 0; k < RUN_TIMELINES; k++) {
        uint32_t held = hc_timeline_force(run->timelines[k], player, before);
        if (held != truly)
            return run_differs(run, before, "force: closed %u slots of player %u, truly %u",
                               (unsigned)held, (unsigned)player, (unsigned)truly);
    }
    return true;
}

bool run_retract(struct history_run *run, hc_player player, hc_tick tick) {
    enum hc_status held[RUN_TIMELINES];
    enum hc_status truly = hc_history_retract(run->record, player, tick);
    for (unsigned k = 0; k < RUN_TIMELINES; k++)
        held[k] = hc_timeline_retract(run->timelines[k], player, tick);
    run->counts[COUNT_RETRACTED] += truly == HC_OK;
    return same_status(run, tick, "retract", truly, held);
}

bool run_put_state(struct history_run *run, hc_tick tick, hc_tick as_of,
                   const struct hc_entity_state *entities, uint32_t count) {
    enum hc_status held[RUN_TIMELINES];
    enum hc_status truly = hc_history_put_state(run->record, tick, as_of, entities, count);
    for (unsigned k = 0; k < RUN_TIMELINES; k++)
        held[k] = hc_timeline_put_state(run->timelines[k], tick, as_of, entities, count);
    if (truly == HC_OK)
        run->counts[COUNT_STATES] += count;
    return same_status(run, tick, "put_state", truly, held);
}
