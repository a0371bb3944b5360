/// Owns what is known of the names that a client was sent.
#include "server/names.h"

#include <string.h>

bool hc_sv_names_are_due(struct hc_sv_names *names, uint64_t now_us) {
    if (now_us < names->due_us)
        return false;
    names->due_us = now_us + HC_NAMES_US;
    names->seq = 0;
    names->count = 0;
    return true;
}

/// Notes in their slots that the names were sent with these `numbers`, or (NULL) were acked. The
/// names and the slots are in the order of players.
static void note(const struct hc_sv_names *names, const struct hc_sv_view *view,
                 const uint32_t *numbers) {
    struct hc_sv_slot *slot = hc_sv_view_slot(view, view->first);
    for (uint32_t i = 0; i < names->count && slot != NULL;) {
        hc_unit unit = (hc_unit)(1 + names->sent[i].player);
        if (slot->unit == unit)
            slot->name.acked = numbers == NULL;
        if (slot->unit == unit && numbers != NULL)
            slot->name.number = numbers[i];
        if (slot->unit >= unit)
            i++;
        else
            slot = hc_sv_view_slot(view, slot->next);
    }
}

void hc_sv_names_sent(struct hc_sv_names *names, struct hc_sv_view *view,
                      const struct hc_sv_lacking *sent, uint32_t seq, uint64_t resend_us,
                      uint64_t now_us) {
    names->count = sent->count;
    memcpy(names->sent, sent->names, sent->count * sizeof sent->names[0]);
    note(names, view, sent->numbers);
    names->seq = seq;
    names->sent_us = now_us;
    names->due_us = now_us + resend_us;
}

/// The newest NAMES is acked or lost.
static void settle(struct hc_sv_names *names) {
    names->seq = 0;
    names->due_us = names->sent_us + HC_NAMES_US;
}

void hc_sv_names_acked(struct hc_sv_names *names, struct hc_sv_view *view, uint32_t seq) {
    if (names->seq != seq)
        return;
    note(names, view, NULL);
    settle(names);
}

void hc_sv_names_lost(struct hc_sv_names *names, uint32_t seq) {
    if (names->seq == seq)
        settle(names);
}
