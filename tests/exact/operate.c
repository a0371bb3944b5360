#include "tests/exact/trial.h"

static bool same_status(const struct trial *trial, hc_tick tick, const char *operation,
                        enum hc_status truly, const enum hc_status held[TRIAL_KEEPERS]) {
    for (unsigned k = 0; k < TRIAL_KEEPERS; k++)
        if (held[k] != truly)
            return trial_differs(trial, tick, "%s: answered \"%s\", truly \"%s\"", operation,
                                 hc_status_text(held[k]), hc_status_text(truly));
    return true;
}

bool trial_put_input(struct trial *trial, hc_player player, hc_tick tick, const uint8_t *input) {
    enum hc_status held[TRIAL_KEEPERS];
    enum hc_status truly = hc_history_put_input(trial->record, player, tick, input);
    for (unsigned k = 0; k < TRIAL_KEEPERS; k++)
        held[k] = hc_timeline_put_input(trial->keepers[k], player, tick, input);
    if (truly == HC_OK && tick < hc_history_head(trial->record)) {
        trial->counts[COUNT_LATE_INPUTS]++;
        trial->late[player] = trial->any_late = true;
    } else if (truly == HC_OK) {
        trial->counts[COUNT_EARLY_INPUTS]++;
    }
    trial->counts[COUNT_OLD_INPUTS] += truly == HC_TOO_OLD;
    trial->counts[COUNT_DOUBLED] += truly == HC_DUPLICATE;
    return same_status(trial, tick, "put_input", truly, held);
}

bool trial_put_roster(struct trial *trial, hc_player player, hc_tick tick,
                      enum hc_roster roster_change) {
    enum hc_status held[TRIAL_KEEPERS];
    enum hc_status truly = hc_history_put_roster(trial->record, player, tick, roster_change);
    for (unsigned k = 0; k < TRIAL_KEEPERS; k++)
        held[k] = hc_timeline_put_roster(trial->keepers[k], player, tick, roster_change);
    if (truly == HC_OK)
        trial->counts[roster_change == HC_ROSTER_JOIN ? COUNT_JOINS : COUNT_LEAVES]++;
    return same_status(trial, tick, "put_control", truly, held);
}

bool trial_force(struct trial *trial, hc_player player, hc_tick before) {
    uint32_t truly = hc_history_force(trial->record, player, before);
    trial->counts[COUNT_FORCED] += truly;
    for (unsigned k = 0; k < TRIAL_KEEPERS; k++) {
        uint32_t held = hc_timeline_force(trial->keepers[k], player, before);
        if (held != truly)
            return trial_differs(trial, before, "force: closed %u slots of player %u, truly %u",
                                 (unsigned)held, (unsigned)player, (unsigned)truly);
    }
    return true;
}

bool trial_retract(struct trial *trial, hc_player player, hc_tick tick) {
    enum hc_status held[TRIAL_KEEPERS];
    enum hc_status truly = hc_history_retract(trial->record, player, tick);
    for (unsigned k = 0; k < TRIAL_KEEPERS; k++)
        held[k] = hc_timeline_retract(trial->keepers[k], player, tick);
    trial->counts[COUNT_RETRACTED] += truly == HC_OK;
    return same_status(trial, tick, "retract", truly, held);
}

bool trial_put_state(struct trial *trial, hc_tick tick, hc_tick as_of,
                     const struct hc_entity_state *entities, uint32_t count) {
    enum hc_status held[TRIAL_KEEPERS];
    enum hc_status truly = hc_history_put_state(trial->record, tick, as_of, entities, count);
    for (unsigned k = 0; k < TRIAL_KEEPERS; k++)
        held[k] = hc_timeline_put_state(trial->keepers[k], tick, as_of, entities, count);
    if (truly == HC_OK)
        trial->counts[COUNT_PINS] += count;
    return same_status(trial, tick, "put_state", truly, held);
}
