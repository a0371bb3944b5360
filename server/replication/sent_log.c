/// The ring of sent snapshots, a hash table of their values, and what they make of each unit.
#include "server/replication/sent_log.h"

#include "common/alloc.h"
#include "common/mark.h"
#include "hindcast/check.h"
#include "proto/snapshot.h"

#include <string.h>

/// One value in one snapshot. Entries are numbered from 1; an entry lies in the ring at its number
/// modulo the capacity.
struct entry {
    uint64_t older; ///< number of the next older entry in its bucket; below the oldest: none
    hc_sv_value_id value_id;
    hc_tick tick;
    hc_unit unit;
    uint8_t snapshot; ///< its place in the ring of snapshots
    bool correction;
};

struct snapshot {
    hc_tick as_of;
    uint32_t seq;
    uint64_t first; ///< number of its first entry; its last precedes the next snapshot's first
    bool acked;
};

struct unit {
    struct hc_sv_sent_log_unit shown;
    hc_tick valued_as_of; ///< of the newest snapshot that ever carried a value; HC_NO_TICK: none
    hc_sv_value_id last;  ///< in the newest acked snapshot with a value or drop; 0: a drop
    hc_tick last_as_of;   ///< of that snapshot; HC_NO_TICK: none
    bool compared;        ///< corrections compare its past ticks
};

struct hc_sv_sent_log {
    const struct hc_world *world;
    uint32_t capacity;        ///< entries, and buckets; a power of two
    unsigned shift;           ///< of a 64-bit hash; leaves a bucket's number
    uint64_t next;            ///< number of the next entry
    uint32_t first, end;      ///< numbers of the logged snapshots, [first, end)
    uint32_t loss_checked_to; ///< snapshots before this one are acked or lost
    uint32_t newest_seq;      ///< acked
    hc_tick base;
    struct {
        hc_tick tick; ///< HC_NO_TICK: none
        hc_tick head;
    } equal[HC_SNAPSHOT_AGE_MAX];                   ///< by tick
    struct snapshot snapshots[HC_SNAPSHOT_AGE_MAX]; ///< by number
    struct unit *units;                             ///< [hc_unit_total]
    struct entry *entries;                          ///< [capacity] by number
    uint64_t *buckets; ///< [capacity] number of the newest entry whose (unit, tick) falls there
};

// ---- Memory ----

/// Lays everything out from `base`; NULL: only measures.
static size_t layout(struct hc_sv_sent_log *sent_log, const struct hc_world *world,
                     uint32_t entries, uint8_t *base) {
    size_t used = 0;
    HC_ASSERT(entries > 0 && entries <= UINT32_C(1) << 30);
    sent_log->world = world;
    sent_log->capacity = 2; // a shift by all of 64 bits is none
    sent_log->shift = 63;
    for (; sent_log->capacity < entries; sent_log->shift--)
        sent_log->capacity *= 2;
    hc_carve(base, &used, sizeof *sent_log);
    sent_log->units = hc_carve(base, &used, hc_unit_total(world) * sizeof *sent_log->units);
    sent_log->entries = hc_carve(base, &used, sent_log->capacity * sizeof *sent_log->entries);
    sent_log->buckets = hc_carve(base, &used, sent_log->capacity * sizeof *sent_log->buckets);
    return used;
}

size_t hc_sv_sent_log_memory(const struct hc_world *world, uint32_t entries) {
    struct hc_sv_sent_log measured;
    return layout(&measured, world, entries, NULL);
}

/// Ends every note of an equal tick.
static void clear_equal(struct hc_sv_sent_log *sent_log) {
    for (unsigned i = 0; i < HC_SNAPSHOT_AGE_MAX; i++)
        sent_log->equal[i].tick = HC_NO_TICK;
}

struct hc_sv_sent_log *hc_sv_sent_log_init(const struct hc_world *world, uint32_t entries,
                                           void *memory) {
    struct hc_sv_sent_log *sent_log = memory;
    memset(sent_log, 0, sizeof *sent_log);
    layout(sent_log, world, entries, memory);
    memset(sent_log->buckets, 0, sent_log->capacity * sizeof *sent_log->buckets);
    sent_log->next = 1; // an empty bucket's 0 is older than every entry
    sent_log->base = HC_NO_TICK;
    clear_equal(sent_log);
    for (uint32_t u = 0; u < hc_unit_total(world); u++)
        sent_log->units[u] =
            (struct unit){.shown = {.acked_as_of = HC_NO_TICK, .sent_as_of = HC_NO_TICK},
                          .valued_as_of = HC_NO_TICK,
                          .last_as_of = HC_NO_TICK};
    return sent_log;
}

// ---- Places ----

static struct entry *entry_at(const struct hc_sv_sent_log *sent_log, uint64_t number) {
    return &sent_log->entries[number & (sent_log->capacity - 1)];
}

static uint64_t *bucket_of(const struct hc_sv_sent_log *sent_log, hc_unit unit, hc_tick tick) {
    // Multiplicative hashing by 2^64 over the golden ratio (Knuth, The Art of Computer Programming,
    // volume 3, 6.4): keys that follow each other, as these do, fall far apart.
    uint64_t key = (uint64_t)tick * hc_unit_total(sent_log->world) + unit;
    return &sent_log->buckets[key * UINT64_C(0x9e3779b97f4a7c15) >> sent_log->shift];
}

static struct snapshot *snapshot_at(struct hc_sv_sent_log *sent_log, uint32_t number) {
    return &sent_log->snapshots[number % HC_SNAPSHOT_AGE_MAX];
}

static uint64_t oldest_entry(const struct hc_sv_sent_log *sent_log) {
    if (sent_log->first == sent_log->end)
        return sent_log->next;
    return sent_log->snapshots[sent_log->first % HC_SNAPSHOT_AGE_MAX].first;
}

/// The end of the numbers of the snapshot's entries.
static uint64_t entries_end(const struct hc_sv_sent_log *sent_log, uint32_t number) {
    number++;
    return number == sent_log->end ? sent_log->next
                                   : sent_log->snapshots[number % HC_SNAPSHOT_AGE_MAX].first;
}

// ---- Equal ticks ----

void hc_sv_sent_log_mark_equal(struct hc_sv_sent_log *sent_log, hc_tick tick) {
    HC_ASSERT(sent_log->first < sent_log->end);
    sent_log->equal[tick % HC_SNAPSHOT_AGE_MAX].tick = tick;
    sent_log->equal[tick % HC_SNAPSHOT_AGE_MAX].head =
        snapshot_at(sent_log, sent_log->end - 1)->as_of;
}

hc_tick hc_sv_sent_log_equal_at(const struct hc_sv_sent_log *sent_log, hc_tick tick) {
    unsigned place = tick % HC_SNAPSHOT_AGE_MAX;
    return sent_log->equal[place].tick == tick ? sent_log->equal[place].head : HC_NO_TICK;
}

void hc_sv_sent_log_compare(struct hc_sv_sent_log *sent_log, hc_unit unit, bool compared) {
    if (compared && !sent_log->units[unit].compared)
        clear_equal(sent_log);
    sent_log->units[unit].compared = compared;
}

/// Ends the notes of all ticks whose values the snapshot carried.
static void end_equal(struct hc_sv_sent_log *sent_log, uint32_t number) {
    for (uint64_t i = snapshot_at(sent_log, number)->first; i < entries_end(sent_log, number);
         i++) {
        hc_tick tick = entry_at(sent_log, i)->tick;
        if (sent_log->equal[tick % HC_SNAPSHOT_AGE_MAX].tick == tick)
            sent_log->equal[tick % HC_SNAPSHOT_AGE_MAX].tick = HC_NO_TICK;
    }
}

// ---- A client's values ----

static bool newer(hc_tick as_of, hc_tick than) {
    return than == HC_NO_TICK || as_of > than;
}

static bool is_lost(const struct hc_sv_sent_log *sent_log, const struct snapshot *snapshot) {
    return !snapshot->acked && sent_log->newest_seq > snapshot->seq &&
           sent_log->newest_seq - snapshot->seq >= HC_LOST_AFTER;
}

static void set_sent(struct unit *unit, hc_sv_value_id value_id, hc_tick as_of) {
    struct hc_sv_sent_log_unit *shown = &unit->shown;
    shown->sent = value_id;
    shown->sent_as_of = as_of;
    bool dropped = as_of != HC_NO_TICK && value_id == 0 && newer(as_of, unit->valued_as_of);
    shown->known = unit->valued_as_of != HC_NO_TICK && !dropped;
}

/// The client acked the snapshot of head `as_of`, which carried this value of the unit.
static void ack_value(struct unit *unit, hc_sv_value_id value_id, hc_tick as_of) {
    struct hc_sv_sent_log_unit *shown = &unit->shown;
    if (value_id != 0 && newer(as_of, shown->acked_as_of)) {
        shown->acked = value_id;
        shown->acked_as_of = as_of;
    }
    if (newer(as_of, unit->last_as_of)) {
        unit->last = value_id;
        unit->last_as_of = as_of;
    }
    if (newer(as_of, shown->sent_as_of)) { // the snapshot counted as lost
        HC_MARK("sent-log-acked-after-all");
        set_sent(unit, value_id, as_of);
    }
}

/// Takes the snapshot for lost. Those before it are acked or lost already, so the newest value of
/// them that is not lost is the newest acked one.
static void lose(struct hc_sv_sent_log *sent_log, uint32_t number) {
    const struct snapshot *snapshot = snapshot_at(sent_log, number);
    end_equal(sent_log, number);
    for (uint64_t i = snapshot->first; i < entries_end(sent_log, number); i++) {
        const struct entry *entry = entry_at(sent_log, i);
        struct unit *unit = &sent_log->units[entry->unit];
        if (!entry->correction && unit->shown.sent_as_of == snapshot->as_of)
            set_sent(unit, unit->last, unit->last_as_of);
    }
}

/// The unit's value in the snapshot of head `as_of` is no longer a baseline.
static void end_baseline(struct unit *unit, hc_tick as_of) {
    struct hc_sv_sent_log_unit *shown = &unit->shown;
    if (shown->acked_as_of != as_of)
        return;
    shown->acked = 0;
    shown->acked_as_of = HC_NO_TICK;
}

/// Evicts the oldest snapshot.
static void evict_oldest(struct hc_sv_sent_log *sent_log) {
    uint32_t number = sent_log->first;
    const struct snapshot *snapshot = snapshot_at(sent_log, number);
    bool ends = snapshot->acked && snapshot->as_of != sent_log->base;
    HC_ASSERT(sent_log->first < sent_log->end);
    if (!snapshot->acked)
        lose(sent_log, number);
    end_equal(sent_log, number);
    for (uint64_t i = snapshot->first; ends && i < entries_end(sent_log, number); i++)
        end_baseline(&sent_log->units[entry_at(sent_log, i)->unit], snapshot->as_of);
    sent_log->first++;
    if (sent_log->loss_checked_to < sent_log->first)
        sent_log->loss_checked_to = sent_log->first;
}

static bool is_logged(const struct hc_sv_sent_log *sent_log, hc_tick as_of) {
    return sent_log->first < sent_log->end &&
           as_of >= sent_log->snapshots[sent_log->first % HC_SNAPSHOT_AGE_MAX].as_of;
}

/// Sets another base, HC_NO_TICK: none. The baselines of the one before end if it is evicted.
static void set_base(struct hc_sv_sent_log *sent_log, hc_tick as_of) {
    hc_tick before = sent_log->base;
    sent_log->base = as_of;
    if (before == HC_NO_TICK || is_logged(sent_log, before))
        return;
    for (uint32_t u = 0; u < hc_unit_total(sent_log->world); u++)
        end_baseline(&sent_log->units[u], before);
}

// ---- Sending and acks ----

void hc_sv_sent_log_begin(struct hc_sv_sent_log *sent_log, hc_tick as_of, uint32_t seq) {
    HC_ASSERT(as_of != HC_NO_TICK && seq > sent_log->newest_seq);
    if (sent_log->first < sent_log->end) {
        const struct snapshot *last = snapshot_at(sent_log, sent_log->end - 1);
        HC_ASSERT(as_of > last->as_of && seq > last->seq);
    }
    // Each snapshot has another head, so the ring always has a place for the next.
    while (sent_log->first < sent_log->end &&
           as_of - snapshot_at(sent_log, sent_log->first)->as_of >= HC_SNAPSHOT_AGE_MAX)
        evict_oldest(sent_log);
    HC_ASSERT(sent_log->end - sent_log->first < HC_SNAPSHOT_AGE_MAX);
    if (sent_log->base != HC_NO_TICK && as_of - sent_log->base >= HC_SNAPSHOT_SPAN_MAX)
        set_base(sent_log, HC_NO_TICK);
    *snapshot_at(sent_log, sent_log->end++) =
        (struct snapshot){.as_of = as_of, .seq = seq, .first = sent_log->next};
}

bool hc_sv_sent_log_put(struct hc_sv_sent_log *sent_log, hc_unit unit, hc_tick tick,
                        hc_sv_value_id value_id, bool correction) {
    HC_ASSERT(sent_log->first < sent_log->end && unit < hc_unit_total(sent_log->world));
    HC_ASSERT(value_id != 0 || !correction);
    while (sent_log->next - oldest_entry(sent_log) == sent_log->capacity) {
        if (sent_log->end - sent_log->first == 1)
            return false;
        evict_oldest(sent_log);
    }
    uint32_t number = sent_log->end - 1;
    uint64_t *bucket = bucket_of(sent_log, unit, tick);
    *entry_at(sent_log, sent_log->next) =
        (struct entry){.older = *bucket,
                       .value_id = value_id,
                       .tick = tick,
                       .unit = unit,
                       .snapshot = (uint8_t)(number % HC_SNAPSHOT_AGE_MAX),
                       .correction = correction};
    *bucket = sent_log->next++;
    if (correction)
        return true;
    struct unit *sent = &sent_log->units[unit];
    hc_tick as_of = snapshot_at(sent_log, number)->as_of;
    HC_ASSERT(newer(as_of, sent->shown.sent_as_of)); // one value in a snapshot
    if (value_id != 0)
        sent->valued_as_of = as_of;
    set_sent(sent, value_id, as_of);
    return true;
}

/// The logged snapshot in the datagram `seq`; `end`: none.
static uint32_t find(struct hc_sv_sent_log *sent_log, uint32_t seq) {
    uint32_t low = sent_log->first, high = sent_log->end;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (snapshot_at(sent_log, middle)->seq < seq)
            low = middle + 1;
        else
            high = middle;
    }
    return low < sent_log->end && snapshot_at(sent_log, low)->seq == seq ? low : sent_log->end;
}

bool hc_sv_sent_log_acked(struct hc_sv_sent_log *sent_log, uint32_t seq) {
    uint32_t number = find(sent_log, seq);
    struct snapshot *snapshot = snapshot_at(sent_log, number);
    bool is_snapshot = number < sent_log->end;
    if (is_snapshot && !snapshot->acked) {
        snapshot->acked = true;
        if (number < sent_log->loss_checked_to) // it counted as lost
            end_equal(sent_log, number);
        if (newer(snapshot->as_of, sent_log->base))
            set_base(sent_log, snapshot->as_of);
        for (uint64_t i = snapshot->first; i < entries_end(sent_log, number); i++) {
            const struct entry *entry = entry_at(sent_log, i);
            if (!entry->correction)
                ack_value(&sent_log->units[entry->unit], entry->value_id, snapshot->as_of);
        }
    }
    if (sent_log->newest_seq < seq)
        sent_log->newest_seq = seq;
    for (; sent_log->loss_checked_to < sent_log->end; sent_log->loss_checked_to++) {
        snapshot = snapshot_at(sent_log, sent_log->loss_checked_to);
        if (is_lost(sent_log, snapshot)) {
            HC_MARK("sent-log-lost");
            lose(sent_log, sent_log->loss_checked_to);
        } else if (!snapshot->acked) {
            break;
        }
    }
    return is_snapshot;
}

// ---- Queries ----

const struct hc_sv_sent_log_unit *hc_sv_sent_log_unit(const struct hc_sv_sent_log *sent_log,
                                                      hc_unit unit) {
    HC_ASSERT(unit < hc_unit_total(sent_log->world));
    return &sent_log->units[unit].shown;
}

hc_tick hc_sv_sent_log_base(const struct hc_sv_sent_log *sent_log) {
    return sent_log->base;
}

/// The units of an evicted base. Nothing newer is acked.
static uint32_t units_of_base(const struct hc_sv_sent_log *sent_log, hc_unit *out, uint32_t most) {
    uint32_t count = 0;
    for (uint32_t u = 0; u < hc_unit_total(sent_log->world); u++) {
        if (sent_log->units[u].shown.acked_as_of != sent_log->base)
            continue;
        HC_ASSERT(count < most);
        out[count++] = (hc_unit)u;
    }
    return count;
}

uint32_t hc_sv_sent_log_units(const struct hc_sv_sent_log *sent_log, hc_tick as_of, hc_unit *out,
                              uint32_t most) {
    uint32_t number = sent_log->first, count = 0;
    const struct snapshot *snapshots = sent_log->snapshots;
    if (as_of == sent_log->base && !is_logged(sent_log, as_of))
        return units_of_base(sent_log, out, most);
    while (number < sent_log->end && snapshots[number % HC_SNAPSHOT_AGE_MAX].as_of != as_of)
        number++;
    HC_ASSERT(number < sent_log->end);
    uint64_t first = snapshots[number % HC_SNAPSHOT_AGE_MAX].first;
    for (uint64_t i = first; i < entries_end(sent_log, number); i++) {
        const struct entry *entry = entry_at(sent_log, i);
        if (entry->correction || entry->value_id == 0)
            continue;
        HC_ASSERT(count < most);
        out[count++] = entry->unit;
    }
    return count;
}

hc_sv_value_id hc_sv_sent_log_holds(const struct hc_sv_sent_log *sent_log, hc_unit unit,
                                    hc_tick tick, hc_tick *acked_as_of) {
    HC_ASSERT(unit < hc_unit_total(sent_log->world));
    uint64_t oldest = oldest_entry(sent_log);
    *acked_as_of = HC_NO_TICK;
    for (uint64_t i = *bucket_of(sent_log, unit, tick); i >= oldest;) {
        const struct entry *entry = entry_at(sent_log, i);
        const struct snapshot *snapshot = &sent_log->snapshots[entry->snapshot];
        i = entry->older;
        if (entry->unit != unit || entry->tick != tick || is_lost(sent_log, snapshot))
            continue;
        if (snapshot->acked && entry->value_id != 0)
            *acked_as_of = snapshot->as_of;
        return entry->value_id;
    }
    return 0;
}

bool hc_sv_sent_log_has(const struct hc_sv_sent_log *sent_log, hc_unit unit, hc_tick tick) {
    HC_ASSERT(unit < hc_unit_total(sent_log->world));
    uint64_t oldest = oldest_entry(sent_log);
    for (uint64_t i = *bucket_of(sent_log, unit, tick); i >= oldest;
         i = entry_at(sent_log, i)->older)
        if (entry_at(sent_log, i)->unit == unit && entry_at(sent_log, i)->tick == tick)
            return true;
    return false;
}
