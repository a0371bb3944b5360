/// The places of a client's logged snapshots, their acks and losses, and its corrections.
#include "server/replication/sent_log.h"

#include "common/alloc.h"
#include "common/mark.h"
#include "hindcast/check.h"

static hc_sv_places bit(unsigned place) {
    return UINT64_C(1) << place;
}

static struct hc_sv_logged_correction *correction_at(const struct hc_sv_sent_log *sent_log,
                                                     uint32_t number) {
    return &sent_log->corrections[number % HC_SV_CORRECTIONS];
}

size_t hc_sv_sent_log_layout(struct hc_sv_sent_log *sent_log, uint8_t *base) {
    size_t used = 0;
    sent_log->corrections =
        hc_carve(base, &used, HC_SV_CORRECTIONS * sizeof *sent_log->corrections);
    return used;
}

void hc_sv_sent_log_clear(struct hc_sv_sent_log *sent_log) {
    *sent_log = (struct hc_sv_sent_log){.newest = HC_SV_PLACES - 1,
                                        .base = HC_NO_TICK,
                                        .base_tick = HC_NO_TICK,
                                        .first = 1,
                                        .end = 1,
                                        .corrections = sent_log->corrections};
    for (unsigned i = 0; i < HC_SV_PLACES; i++)
        sent_log->equal[i].tick = HC_NO_TICK;
}

// ---- Equal ticks --------------------------------------------------------------------------------

void hc_sv_sent_log_mark_equal(struct hc_sv_sent_log *sent_log, hc_tick tick) {
    sent_log->equal[tick % HC_SV_PLACES].tick = tick;
    sent_log->equal[tick % HC_SV_PLACES].head = sent_log->as_of[sent_log->newest];
}

hc_tick hc_sv_sent_log_equal_at(const struct hc_sv_sent_log *sent_log, hc_tick tick) {
    unsigned at = tick % HC_SV_PLACES;
    return sent_log->equal[at].tick == tick ? sent_log->equal[at].head : HC_NO_TICK;
}

static void end_equal_tick(struct hc_sv_sent_log *sent_log, hc_tick tick) {
    if (sent_log->equal[tick % HC_SV_PLACES].tick == tick)
        sent_log->equal[tick % HC_SV_PLACES].tick = HC_NO_TICK;
}

/// Ends the notes of all ticks of which the snapshot carried values.
static void end_equal(struct hc_sv_sent_log *sent_log, unsigned place) {
    end_equal_tick(sent_log, sent_log->tick[place]);
    for (uint32_t i = sent_log->first_correction[place];
         i != sent_log->end && correction_at(sent_log, i)->place == place; i++)
        end_equal_tick(sent_log, correction_at(sent_log, i)->tick);
}

// ---- Snapshots ----------------------------------------------------------------------------------

/// The oldest logged snapshot; there is one.
static unsigned oldest(const struct hc_sv_sent_log *sent_log) {
    unsigned count = (unsigned)__builtin_popcountll(sent_log->logged);
    return (sent_log->newest + 1 - count) % HC_SV_PLACES;
}

hc_sv_places hc_sv_sent_log_evict(struct hc_sv_sent_log *sent_log, hc_tick as_of) {
    hc_sv_places gone = 0;
    while (sent_log->logged != 0 &&
           as_of - sent_log->as_of[oldest(sent_log)] >= HC_SNAPSHOT_AGE_MAX) {
        unsigned place = oldest(sent_log);
        end_equal(sent_log, place);
        while (sent_log->first != sent_log->end &&
               correction_at(sent_log, sent_log->first)->place == place)
            sent_log->first++;
        gone |= bit(place);
        sent_log->logged &= ~bit(place);
    }
    sent_log->lost &= ~gone;
    if (sent_log->base != HC_NO_TICK && as_of - sent_log->base >= HC_SNAPSHOT_SPAN_MAX)
        sent_log->base = HC_NO_TICK;
    return gone;
}

unsigned hc_sv_sent_log_begin(struct hc_sv_sent_log *sent_log, hc_tick as_of, hc_tick tick,
                              uint32_t seq) {
    unsigned before = sent_log->newest, place = (before + 1) % HC_SV_PLACES;
    HC_ASSERT(as_of != HC_NO_TICK && (sent_log->logged & bit(place)) == 0);
    HC_ASSERT(sent_log->logged == 0 ||
              (as_of > sent_log->as_of[before] && seq > sent_log->seq[before]));
    sent_log->newest = place;
    sent_log->logged |= bit(place);
    sent_log->acked &= sent_log->logged & ~bit(place);
    sent_log->as_of[place] = as_of;
    sent_log->tick[place] = tick;
    sent_log->seq[place] = seq;
    sent_log->first_correction[place] = sent_log->end;
    return place;
}

/// The place of the snapshot in the datagram `seq`; HC_SV_PLACES: none is logged.
static unsigned find(const struct hc_sv_sent_log *sent_log, uint32_t seq) {
    hc_sv_places left = sent_log->logged;
    while (left != 0) {
        unsigned place = hc_sv_sent_log_newest(sent_log, left);
        if (sent_log->seq[place] <= seq)
            return sent_log->seq[place] == seq ? place : HC_SV_PLACES;
        left &= ~bit(place);
    }
    return HC_SV_PLACES;
}

bool hc_sv_sent_log_acked(struct hc_sv_sent_log *sent_log, uint32_t seq) {
    unsigned place = find(sent_log, seq);
    if (place == HC_SV_PLACES)
        return false;
    if ((sent_log->lost & bit(place)) != 0) {
        HC_MARK("sent-log-acked-after-all");
        end_equal(sent_log, place);
    }
    sent_log->acked |= bit(place);
    sent_log->lost &= ~bit(place);
    if (sent_log->base == HC_NO_TICK || sent_log->as_of[place] > sent_log->base) {
        sent_log->base = sent_log->as_of[place];
        sent_log->base_tick = sent_log->tick[place];
    }
    return true;
}

void hc_sv_sent_log_lost(struct hc_sv_sent_log *sent_log, uint32_t seq) {
    unsigned place = find(sent_log, seq);
    if (place == HC_SV_PLACES || (sent_log->acked & bit(place)) != 0)
        return;
    HC_MARK("sent-log-lost");
    sent_log->lost |= bit(place);
    end_equal(sent_log, place);
}

hc_sv_places hc_sv_sent_log_showing(const struct hc_sv_sent_log *sent_log, hc_tick tick) {
    hc_sv_places places = 0;
    for (unsigned place = 0; place < HC_SV_PLACES; place++)
        places |= (hc_sv_places)(sent_log->tick[place] == tick) << place;
    return places & sent_log->logged;
}

// ---- Corrections --------------------------------------------------------------------------------

static bool is_logged(const struct hc_sv_sent_log *sent_log, uint32_t number) {
    return number - sent_log->first < sent_log->end - sent_log->first;
}

void hc_sv_sent_log_correct(struct hc_sv_sent_log *sent_log, hc_unit unit, hc_tick tick,
                            hc_sv_value_id value_id, uint32_t *newest) {
    HC_ASSERT(hc_sv_sent_log_room(sent_log) > 0 && value_id != 0);
    *correction_at(sent_log, sent_log->end) =
        (struct hc_sv_logged_correction){.value_id = value_id,
                                         .tick = tick,
                                         .older = *newest,
                                         .unit = unit,
                                         .place = (uint8_t)sent_log->newest};
    *newest = sent_log->end++;
}

const struct hc_sv_logged_correction *
hc_sv_sent_log_corrected(const struct hc_sv_sent_log *sent_log, hc_unit unit, hc_tick tick,
                         uint32_t newest, hc_sv_places except) {
    while (is_logged(sent_log, newest)) {
        const struct hc_sv_logged_correction *correction = correction_at(sent_log, newest);
        if (correction->unit != unit)
            return NULL; // the number is of before it wrapped
        if (correction->tick == tick && (except & bit(correction->place)) == 0)
            return correction;
        newest = correction->older;
    }
    return NULL;
}
