/// The places of a client's logged snapshots, their acks and losses, and the items of units.
#include "server/replication/sent_log.h"

#include "common/alloc.h"
#include "common/mark.h"
#include "common/prefetch.h"
#include "hindcast/check.h"

#include <stddef.h>

enum { TICKS_BACK = 128 }; ///< from a snapshot's head to a tick that it corrects, at most

_Static_assert(TICKS_BACK + HC_SNAPSHOT_AGE_MAX <= 256, "a correction has 8 bits of its tick");
_Static_assert(HC_SV_CORRECTIONS <= UINT16_MAX, "a correction has 16 bits of the older one");

static hc_sv_places bit(unsigned place) {
    return UINT64_C(1) << place;
}

static struct hc_sv_logged_correction *correction_at(const struct hc_sv_sent_log *sent_log,
                                                     uint64_t number) {
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
                                        .first = 1,
                                        .end = 1,
                                        .corrections = sent_log->corrections};
    for (unsigned i = 0; i < HC_SV_PLACES; i++)
        sent_log->equal[i].tick = HC_NO_TICK;
}

void hc_sv_sent_log_prefetch(const struct hc_sv_sent_log *sent_log) {
    hc_prefetch(sent_log, offsetof(struct hc_sv_sent_log, first_correction));
    hc_prefetch(sent_log->equal, sizeof *sent_log - offsetof(struct hc_sv_sent_log, equal));
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
    hc_tick as_of = sent_log->as_of[place];
    end_equal_tick(sent_log, sent_log->tick[place]);
    for (uint64_t i = sent_log->first_correction[place];
         i != sent_log->end && correction_at(sent_log, i)->place == place; i++)
        end_equal_tick(sent_log, as_of - (uint8_t)(as_of - correction_at(sent_log, i)->tick));
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

hc_tick hc_sv_sent_log_next_base(const struct hc_sv_sent_log *sent_log,
                                 const struct hc_sv_cadence *bases, hc_sv_places *usable) {
    unsigned count = (unsigned)__builtin_popcountll(sent_log->logged);
    *usable = sent_log->acked;
    if (sent_log->base == HC_NO_TICK || bases->period <= 1)
        return sent_log->base;
    for (unsigned age = 0; age < count; age++) {
        unsigned place = (sent_log->newest - age) % HC_SV_PLACES;
        hc_tick as_of = sent_log->as_of[place];
        if (as_of + HC_SV_BASE_AGE < sent_log->base)
            break;
        if ((sent_log->acked & bit(place)) != 0 &&
            hc_sv_cadence_begins(bases, sent_log->tick[place]))
            return as_of;
        *usable &= ~bit(place);
    }
    *usable = sent_log->acked;
    return sent_log->base;
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
    unsigned count = (unsigned)__builtin_popcountll(sent_log->logged);
    for (unsigned age = 0; age < count; age++) {
        unsigned place = (sent_log->newest - age) % HC_SV_PLACES;
        if (sent_log->seq[place] <= seq)
            return sent_log->seq[place] == seq ? place : HC_SV_PLACES;
    }
    return HC_SV_PLACES;
}

unsigned hc_sv_sent_log_place(const struct hc_sv_sent_log *sent_log, hc_tick as_of) {
    for (unsigned place = 0; place < HC_SV_PLACES; place++)
        if ((sent_log->logged & bit(place)) != 0 && sent_log->as_of[place] == as_of)
            return place;
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

uint64_t hc_sv_sent_log_correct(struct hc_sv_sent_log *sent_log, hc_tick tick,
                                hc_sv_value_id value_id, uint64_t newest) {
    hc_tick as_of = sent_log->as_of[sent_log->newest];
    HC_ASSERT(hc_sv_sent_log_room(sent_log) > 0 && value_id != 0);
    HC_ASSERT(as_of >= tick && as_of - tick < TICKS_BACK);
    bool follows = newest >= sent_log->first;
    *correction_at(sent_log, sent_log->end) =
        (struct hc_sv_logged_correction){.value_id = value_id,
                                         .older = follows ? (uint16_t)(sent_log->end - newest) : 0,
                                         .tick = (uint8_t)tick,
                                         .place = (uint8_t)sent_log->newest};
    return sent_log->end++;
}

// ---- Items --------------------------------------------------------------------------------------

/// The newest of some logged places, of which there is at least one.
static unsigned newest(const struct hc_sv_sent_log *sent_log, hc_sv_places places) {
    unsigned by = (HC_SV_PLACES - 1 - sent_log->newest) % HC_SV_PLACES; // makes it the last bit
    hc_sv_places turned = places << by | places >> ((HC_SV_PLACES - by) % HC_SV_PLACES);
    return (sent_log->newest - (unsigned)__builtin_clzll(turned)) % HC_SV_PLACES;
}

unsigned hc_sv_sent_log_acked_place(const struct hc_sv_sent_log *sent_log) {
    return sent_log->acked == 0 ? sent_log->newest : newest(sent_log, sent_log->acked);
}

void hc_sv_items_begin(struct hc_sv_items *items) {
    items->values = items->drops = 0;
    items->corrected = 0;
    items->compared_at = items->valued_as_of = HC_NO_TICK;
    items->evicted = 0;
    items->evicted_as_of = HC_NO_TICK;
}

void hc_sv_items_evict(struct hc_sv_items *items, const struct hc_sv_sent_log *sent_log,
                       hc_sv_places gone) {
    hc_sv_places acked = (items->values | items->drops) & gone & sent_log->acked;
    if (acked != 0) {
        unsigned place = newest(sent_log, acked);
        items->evicted = (items->values >> place & 1) != 0 ? items->value_ids[place] : 0;
        items->evicted_as_of = sent_log->as_of[place];
    }
    items->values &= ~gone;
    items->drops &= ~gone;
}

void hc_sv_items_put(struct hc_sv_items *items, const struct hc_sv_sent_log *sent_log,
                     hc_sv_value_id value_id) {
    hc_sv_places place = UINT64_C(1) << sent_log->newest;
    HC_ASSERT(((items->values | items->drops) & place) == 0); // one item of a unit in a snapshot
    if (value_id == 0) {
        items->drops |= place;
        return;
    }
    items->values |= place;
    items->value_ids[sent_log->newest] = value_id;
    items->valued_as_of = sent_log->as_of[sent_log->newest];
}

void hc_sv_items_correct(struct hc_sv_items *items, struct hc_sv_sent_log *sent_log, hc_tick tick,
                         hc_sv_value_id value_id) {
    items->corrected = hc_sv_sent_log_correct(sent_log, tick, value_id, items->corrected);
}

bool hc_sv_items_compare(struct hc_sv_items *items, bool compared, hc_tick as_of) {
    bool begins = compared && items->compared_at == HC_NO_TICK;
    if (begins || !compared)
        items->compared_at = compared ? as_of : HC_NO_TICK;
    return begins;
}

/// The newest item that is not lost; false: there is none, or it is a drop. `*as_of` is its head,
/// HC_NO_TICK without one.
static bool newest_sent(const struct hc_sv_items *items, const struct hc_sv_sent_log *sent_log,
                        hc_tick *as_of) {
    hc_sv_places sent = (items->values | items->drops) & ~sent_log->lost;
    *as_of = items->evicted_as_of;
    if (sent == 0)
        return items->evicted != 0;
    unsigned place = newest(sent_log, sent);
    *as_of = sent_log->as_of[place];
    return (items->values >> place & 1) != 0;
}

hc_sv_value_id hc_sv_items_sent(const struct hc_sv_items *items,
                                const struct hc_sv_sent_log *sent_log) {
    hc_sv_places places = (items->values | items->drops) & ~sent_log->lost;
    if (places == 0)
        return items->evicted;
    unsigned place = newest(sent_log, places);
    return (items->values >> place & 1) != 0 ? items->value_ids[place] : 0;
}

struct hc_sv_item_state hc_sv_items_state(const struct hc_sv_items *items,
                                          const struct hc_sv_sent_log *sent_log,
                                          hc_sv_places usable) {
    struct hc_sv_item_state state = {.acked = 0, .acked_as_of = HC_NO_TICK};
    hc_sv_places acked = items->values & usable;
    if (acked != 0) {
        unsigned place = newest(sent_log, acked);
        state.acked = items->value_ids[place];
        state.acked_as_of = sent_log->as_of[place];
    } else if (items->evicted != 0 && items->evicted_as_of == sent_log->base) {
        state.acked = items->evicted;
        state.acked_as_of = sent_log->base;
    }
    hc_tick as_of;
    bool has_value = newest_sent(items, sent_log, &as_of);
    state.sent_as_of = has_value ? as_of : HC_NO_TICK;
    state.known = items->valued_as_of != HC_NO_TICK &&
                  (has_value || as_of == HC_NO_TICK || as_of < items->valued_as_of);
    return state;
}

/// The unit's newest correction of `tick` that is logged, not counting those in `except`; NULL:
/// none.
static const struct hc_sv_logged_correction *corrected(const struct hc_sv_items *items,
                                                       const struct hc_sv_sent_log *sent_log,
                                                       hc_tick tick, hc_sv_places except) {
    for (uint64_t number = items->corrected; number >= sent_log->first;) {
        const struct hc_sv_logged_correction *correction =
            &sent_log->corrections[number % HC_SV_CORRECTIONS];
        if (correction->tick == (uint8_t)tick && (except >> correction->place & 1) == 0)
            return correction;
        number = correction->older == 0 ? 0 : number - correction->older;
    }
    return NULL;
}

struct hc_sv_held hc_sv_items_held(const struct hc_sv_items *items,
                                   const struct hc_sv_sent_log *sent_log, hc_tick tick,
                                   hc_sv_places showing) {
    struct hc_sv_held held = {.value_id = 0, .as_of = HC_NO_TICK};
    hc_sv_places sent = (items->values | items->drops) & showing & ~sent_log->lost;
    const struct hc_sv_logged_correction *correction =
        corrected(items, sent_log, tick, sent_log->lost);
    if (correction != NULL)
        sent |= UINT64_C(1) << correction->place;
    held.sent = sent != 0 || ((items->values | items->drops) & showing) != 0 ||
                corrected(items, sent_log, tick, 0) != NULL;
    if (sent == 0)
        return held;
    unsigned place = newest(sent_log, sent);
    if (correction != NULL && correction->place == place)
        held.value_id = correction->value_id;
    else if ((items->values >> place & 1) != 0)
        held.value_id = items->value_ids[place];
    if (held.value_id != 0 && (sent_log->acked >> place & 1) != 0)
        held.as_of = sent_log->as_of[place];
    return held;
}
