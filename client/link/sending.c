/// Owns the pace of DATA and the choice of its inputs.
#include "client/link/sending.h"

#include "client/link/inputs.h"
#include "common/elapsed.h"

void hc_cl_sending_begin(struct hc_cl_sending *sending, uint64_t now_us) {
    *sending = (struct hc_cl_sending){.due = true, .due_us = now_us};
}

void hc_cl_sending_make_due(struct hc_cl_sending *sending) {
    sending->due = true;
}

uint64_t hc_cl_sending_deadline(const struct hc_cl_sending *sending,
                                const struct hc_cl_pace *pace) {
    uint64_t wait_us = pace->interval_us;
    if (pace->ticks != sending->ticks)
        wait_us = pace->interval_us / 2;
    else if (pace->steady)
        wait_us = pace->interval_us + pace->interval_us / 2;
    return sending->due_us + wait_us;
}

void hc_cl_sending_advance(struct hc_cl_sending *sending, const struct hc_cl_pace *pace,
                           uint64_t now_us) {
    sending->due = true;
    sending->due_us = now_us;
    sending->ticks = pace->ticks;
}

bool hc_cl_sending_take_due(struct hc_cl_sending *sending) {
    bool due = sending->due;
    sending->due = false;
    return due;
}

/// Whether some of `count` unacked inputs were lost: the server has had a round trip to ack all but
/// the newest `redundancy`. They are too many, or, where nothing was sampled since, they have
/// waited too long.
static bool overdue(const struct hc_cl_sending *sending, const struct hc_cl_choice *choice,
                    uint32_t count, uint64_t now_us) {
    uint64_t waited_us = hc_since(sending->wanted_us, now_us);
    uint64_t interval_us = 1000000u / choice->tick_rate;
    uint32_t spare = choice->redundancy + 2;
    return count > hc_tick_at_us(choice->answer_us, choice->tick_rate) + spare ||
           (count > choice->redundancy && waited_us > choice->answer_us + spare * interval_us);
}

void hc_cl_sending_choose(struct hc_cl_sending *sending, const struct hc_cl_choice *choice,
                          struct hc_input_message *message, uint64_t now_us) {
    hc_tick next = choice->next;
    uint32_t redundancy = choice->redundancy;
    // The ring holds every input that a server can still use.
    hc_tick wanted = hc_tick_max(choice->wanted, hc_tick_back(next, HC_CL_INPUTS));
    wanted = hc_tick_min(wanted, next);
    if (wanted != sending->wanted) {
        sending->wanted = wanted;
        sending->wanted_us = now_us;
    }
    message->force_before = wanted;
    message->first = wanted;
    if (redundancy > 0 && !overdue(sending, choice, next - wanted, now_us))
        message->first =
            hc_tick_max(wanted, hc_tick_min(sending->unsent, hc_tick_back(next, redundancy)));
    message->count = next - message->first;
    if (message->count > HC_INPUT_RUN_MAX)
        message->count = HC_INPUT_RUN_MAX;
}

void hc_cl_sending_note(struct hc_cl_sending *sending, hc_tick end) {
    sending->unsent = hc_tick_max(sending->unsent, end);
}
