#include "server/ledger.h"

#include "common/alloc.h"
#include "common/mark.h"
#include "hindcast/check.h"
#include "proto/snapshot.h"

#include <string.h>

/// What one snapshot told of one unit. Entries are numbered from 1 as they are told; the place of
/// one in the ring is its number modulo the capacity.
struct entry {
    uint64_t older; ///< number of the next older one in the same bucket; below the oldest: none
    hc_sv_version version;
    hc_tick tick;
    hc_unit unit;
    uint8_t snapshot; ///< its place in the ring of snapshots
    bool correction;
};

struct snapshot {
    hc_tick as_of;
    uint32_t seq;
    uint64_t first; ///< number of its first entry; the next snapshot's begin where its end
    bool acked;
};

struct unit {
    struct hc_sv_ledger_unit shown;
    hc_tick told_as_of;  ///< of the newest snapshot that ever told a value of it; HC_NO_TICK: none
    hc_sv_version heard; ///< what the newest acknowledged snapshot that told it or dropped it said
    hc_tick heard_as_of; ///< HC_NO_TICK: none
    bool compared;       ///< its past ticks are
};

struct hc_sv_ledger {
    const struct hc_world *world;
    uint32_t capacity;   ///< entries, and buckets; a power of two
    unsigned shift;      ///< of a 64-bit hash, which leaves a bucket's number
    uint64_t next;       ///< number of the next entry
    uint32_t first, end; ///< numbers of the snapshots remembered, [first, end)
    uint32_t judged;     ///< those before this one are acknowledged or given up
    uint32_t newest_seq; ///< acknowledged
    hc_tick base;
    struct {
        hc_tick tick; ///< HC_NO_TICK: none
        hc_tick head;
    } equal[HC_SV_LEDGER_SNAPSHOTS];                   ///< by tick
    struct snapshot snapshots[HC_SV_LEDGER_SNAPSHOTS]; ///< by number
    struct unit *units;                                ///< [hc_unit_total]
    struct entry *entries;                             ///< [capacity] by number
    uint64_t *buckets; ///< [capacity] number of the newest entry whose (unit, tick) falls there
};

// ---- Memory ----

/// Lays everything out from `base`; NULL: only measures.
static size_t layout(struct hc_sv_ledger *ledger, const struct hc_world *world, uint32_t entries,
                     uint8_t *base) {
    size_t used = 0;
    HC_ASSERT(entries > 0 && entries <= UINT32_C(1) << 30);
    ledger->world = world;
    ledger->capacity = 2; // a shift by all of 64 bits is none
    ledger->shift = 63;
    for (; ledger->capacity < entries; ledger->shift--)
        ledger->capacity *= 2;
    hc_carve(base, &used, sizeof *ledger);
    ledger->units = hc_carve(base, &used, hc_unit_total(world) * sizeof *ledger->units);
    ledger->entries = hc_carve(base, &used, ledger->capacity * sizeof *ledger->entries);
    ledger->buckets = hc_carve(base, &used, ledger->capacity * sizeof *ledger->buckets);
    return used;
}

size_t hc_sv_ledger_memory(const struct hc_world *world, uint32_t entries) {
    struct hc_sv_ledger measured;
    return layout(&measured, world, entries, NULL);
}

struct hc_sv_ledger *hc_sv_ledger_init(const struct hc_world *world, uint32_t entries,
                                       void *memory) {
    struct hc_sv_ledger *ledger = memory;
    memset(ledger, 0, sizeof *ledger);
    layout(ledger, world, entries, memory);
    memset(ledger->buckets, 0, ledger->capacity * sizeof *ledger->buckets);
    ledger->next = 1; // an empty bucket's 0 is older than every entry
    for (uint32_t u = 0; u < hc_unit_total(world); u++)
        ledger->units[u].told_as_of = HC_NO_TICK;
    hc_sv_ledger_forget(ledger);
    return ledger;
}

// ---- Places ----

static struct entry *entry_at(const struct hc_sv_ledger *ledger, uint64_t number) {
    return &ledger->entries[number & (ledger->capacity - 1)];
}

static uint64_t *bucket_of(const struct hc_sv_ledger *ledger, hc_unit unit, hc_tick tick) {
    // Multiplicative hashing by 2^64 over the golden ratio (Knuth, The Art of Computer Programming,
    // volume 3, 6.4): keys that follow each other, as these do, fall far apart.
    uint64_t key = (uint64_t)tick * hc_unit_total(ledger->world) + unit;
    return &ledger->buckets[key * UINT64_C(0x9e3779b97f4a7c15) >> ledger->shift];
}

static struct snapshot *snapshot_at(struct hc_sv_ledger *ledger, uint32_t number) {
    return &ledger->snapshots[number % HC_SV_LEDGER_SNAPSHOTS];
}

static uint64_t oldest_entry(const struct hc_sv_ledger *ledger) {
    if (ledger->first == ledger->end)
        return ledger->next;
    return ledger->snapshots[ledger->first % HC_SV_LEDGER_SNAPSHOTS].first;
}

/// The end of the numbers of the snapshot's entries.
static uint64_t entries_end(const struct hc_sv_ledger *ledger, uint32_t number) {
    number++;
    return number == ledger->end ? ledger->next
                                 : ledger->snapshots[number % HC_SV_LEDGER_SNAPSHOTS].first;
}

// ---- Ticks that are equal ----

void hc_sv_ledger_equals(struct hc_sv_ledger *ledger, hc_tick tick) {
    HC_ASSERT(ledger->first < ledger->end);
    ledger->equal[tick % HC_SV_LEDGER_SNAPSHOTS].tick = tick;
    ledger->equal[tick % HC_SV_LEDGER_SNAPSHOTS].head = snapshot_at(ledger, ledger->end - 1)->as_of;
}

hc_tick hc_sv_ledger_equal_at(const struct hc_sv_ledger *ledger, hc_tick tick) {
    unsigned place = tick % HC_SV_LEDGER_SNAPSHOTS;
    return ledger->equal[place].tick == tick ? ledger->equal[place].head : HC_NO_TICK;
}

void hc_sv_ledger_compare(struct hc_sv_ledger *ledger, hc_unit unit, bool compared) {
    if (compared && !ledger->units[unit].compared)
        hc_sv_ledger_forget_equal(ledger);
    ledger->units[unit].compared = compared;
}

void hc_sv_ledger_forget_equal(struct hc_sv_ledger *ledger) {
    for (unsigned i = 0; i < HC_SV_LEDGER_SNAPSHOTS; i++)
        ledger->equal[i].tick = HC_NO_TICK;
}

/// Ends the equality of all ticks of which the snapshot held values.
static void end_equal(struct hc_sv_ledger *ledger, uint32_t number) {
    for (uint64_t i = snapshot_at(ledger, number)->first; i < entries_end(ledger, number); i++) {
        hc_tick tick = entry_at(ledger, i)->tick;
        if (ledger->equal[tick % HC_SV_LEDGER_SNAPSHOTS].tick == tick)
            ledger->equal[tick % HC_SV_LEDGER_SNAPSHOTS].tick = HC_NO_TICK;
    }
}

// ---- What is held ----

static bool newer(hc_tick as_of, hc_tick than) {
    return than == HC_NO_TICK || as_of > than;
}

static bool is_lost(const struct hc_sv_ledger *ledger, const struct snapshot *snapshot) {
    return !snapshot->acked && ledger->newest_seq > snapshot->seq &&
           ledger->newest_seq - snapshot->seq >= HC_SV_LEDGER_REORDER;
}

static void set_sent(struct unit *unit, hc_sv_version version, hc_tick as_of) {
    struct hc_sv_ledger_unit *shown = &unit->shown;
    shown->sent = version;
    shown->sent_as_of = as_of;
    bool dropped = as_of != HC_NO_TICK && version == 0 && newer(as_of, unit->told_as_of);
    shown->known = unit->told_as_of != HC_NO_TICK && !dropped;
}

/// The client was found to have been told `version` of the unit by the snapshot of head `as_of`.
static void hear(struct unit *unit, hc_sv_version version, hc_tick as_of) {
    struct hc_sv_ledger_unit *shown = &unit->shown;
    if (version != 0 && newer(as_of, shown->acked_as_of)) {
        shown->acked = version;
        shown->acked_as_of = as_of;
    }
    if (newer(as_of, unit->heard_as_of)) {
        unit->heard = version;
        unit->heard_as_of = as_of;
        shown->acked_dropped = version == 0;
    }
    if (newer(as_of, shown->sent_as_of)) { // it had been given up
        HC_MARK("ledger-acked-after-all");
        set_sent(unit, version, as_of);
    }
}

/// The snapshot is taken to be lost. Those before it are acknowledged or given up already: what was
/// sent newest before it and not given up can only be what was acknowledged newest.
static void give_up(struct hc_sv_ledger *ledger, uint32_t number) {
    const struct snapshot *snapshot = snapshot_at(ledger, number);
    end_equal(ledger, number);
    for (uint64_t i = snapshot->first; i < entries_end(ledger, number); i++) {
        const struct entry *entry = entry_at(ledger, i);
        struct unit *unit = &ledger->units[entry->unit];
        if (!entry->correction && unit->shown.sent_as_of == snapshot->as_of)
            set_sent(unit, unit->heard, unit->heard_as_of);
    }
}

/// What the snapshot of head `as_of` told of the unit is no baseline any more.
static void end_baseline(struct unit *unit, hc_tick as_of) {
    struct hc_sv_ledger_unit *shown = &unit->shown;
    if (shown->acked_as_of != as_of)
        return;
    shown->acked = 0;
    shown->acked_as_of = HC_NO_TICK;
}

static void forget_oldest(struct hc_sv_ledger *ledger) {
    uint32_t number = ledger->first;
    const struct snapshot *snapshot = snapshot_at(ledger, number);
    bool ends = snapshot->acked && snapshot->as_of != ledger->base;
    HC_ASSERT(ledger->first < ledger->end);
    if (!snapshot->acked)
        give_up(ledger, number);
    end_equal(ledger, number);
    for (uint64_t i = snapshot->first; ends && i < entries_end(ledger, number); i++)
        end_baseline(&ledger->units[entry_at(ledger, i)->unit], snapshot->as_of);
    ledger->first++;
    if (ledger->judged < ledger->first)
        ledger->judged = ledger->first;
}

static bool is_remembered(const struct hc_sv_ledger *ledger, hc_tick as_of) {
    return ledger->first < ledger->end &&
           as_of >= ledger->snapshots[ledger->first % HC_SV_LEDGER_SNAPSHOTS].as_of;
}

/// Another base takes the place of the one before it, HC_NO_TICK: none does. If that is not
/// remembered otherwise, its baselines end.
static void set_base(struct hc_sv_ledger *ledger, hc_tick as_of) {
    hc_tick before = ledger->base;
    ledger->base = as_of;
    if (before == HC_NO_TICK || is_remembered(ledger, before))
        return;
    for (uint32_t u = 0; u < hc_unit_total(ledger->world); u++)
        end_baseline(&ledger->units[u], before);
}

// ---- Sending and acknowledging ----

void hc_sv_ledger_begin(struct hc_sv_ledger *ledger, hc_tick as_of, uint32_t seq) {
    HC_ASSERT(as_of != HC_NO_TICK && seq > ledger->newest_seq);
    if (ledger->first < ledger->end) {
        const struct snapshot *last = snapshot_at(ledger, ledger->end - 1);
        HC_ASSERT(as_of > last->as_of && seq > last->seq);
    }
    // At most one to a head: so there are never more than the ring has places for.
    while (ledger->first < ledger->end &&
           as_of - snapshot_at(ledger, ledger->first)->as_of >= HC_SV_LEDGER_SNAPSHOTS)
        forget_oldest(ledger);
    HC_ASSERT(ledger->end - ledger->first < HC_SV_LEDGER_SNAPSHOTS);
    if (ledger->base != HC_NO_TICK && as_of - ledger->base >= HC_SNAPSHOT_SPAN_MAX)
        set_base(ledger, HC_NO_TICK);
    *snapshot_at(ledger, ledger->end++) =
        (struct snapshot){.as_of = as_of, .seq = seq, .first = ledger->next};
}

bool hc_sv_ledger_tell(struct hc_sv_ledger *ledger, hc_unit unit, hc_tick tick,
                       hc_sv_version version, bool correction) {
    HC_ASSERT(ledger->first < ledger->end && unit < hc_unit_total(ledger->world));
    HC_ASSERT(version != 0 || !correction);
    while (ledger->next - oldest_entry(ledger) == ledger->capacity) {
        if (ledger->end - ledger->first == 1)
            return false;
        forget_oldest(ledger);
    }
    uint32_t number = ledger->end - 1;
    uint64_t *bucket = bucket_of(ledger, unit, tick);
    *entry_at(ledger, ledger->next) =
        (struct entry){.older = *bucket,
                       .version = version,
                       .tick = tick,
                       .unit = unit,
                       .snapshot = (uint8_t)(number % HC_SV_LEDGER_SNAPSHOTS),
                       .correction = correction};
    *bucket = ledger->next++;
    if (correction)
        return true;
    struct unit *told = &ledger->units[unit];
    hc_tick as_of = snapshot_at(ledger, number)->as_of;
    HC_ASSERT(newer(as_of, told->shown.sent_as_of)); // once in a snapshot
    if (version != 0)
        told->told_as_of = as_of;
    set_sent(told, version, as_of);
    return true;
}

/// The snapshot that went out as `seq`; `end` when none that is remembered did.
static uint32_t find(struct hc_sv_ledger *ledger, uint32_t seq) {
    uint32_t low = ledger->first, high = ledger->end;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (snapshot_at(ledger, middle)->seq < seq)
            low = middle + 1;
        else
            high = middle;
    }
    return low < ledger->end && snapshot_at(ledger, low)->seq == seq ? low : ledger->end;
}

bool hc_sv_ledger_acked(struct hc_sv_ledger *ledger, uint32_t seq) {
    uint32_t number = find(ledger, seq);
    struct snapshot *snapshot = snapshot_at(ledger, number);
    bool is_snapshot = number < ledger->end;
    if (is_snapshot && !snapshot->acked) {
        snapshot->acked = true;
        if (number < ledger->judged) // it had been given up
            end_equal(ledger, number);
        if (newer(snapshot->as_of, ledger->base))
            set_base(ledger, snapshot->as_of);
        for (uint64_t i = snapshot->first; i < entries_end(ledger, number); i++) {
            const struct entry *entry = entry_at(ledger, i);
            if (!entry->correction)
                hear(&ledger->units[entry->unit], entry->version, snapshot->as_of);
        }
    }
    if (ledger->newest_seq < seq)
        ledger->newest_seq = seq;
    for (; ledger->judged < ledger->end; ledger->judged++) {
        snapshot = snapshot_at(ledger, ledger->judged);
        if (is_lost(ledger, snapshot)) {
            HC_MARK("ledger-presumed-lost");
            give_up(ledger, ledger->judged);
        } else if (!snapshot->acked) {
            break;
        }
    }
    return is_snapshot;
}

void hc_sv_ledger_forget(struct hc_sv_ledger *ledger) {
    ledger->first = ledger->judged = ledger->end;
    ledger->base = HC_NO_TICK;
    hc_sv_ledger_forget_equal(ledger);
    for (uint32_t u = 0; u < hc_unit_total(ledger->world); u++) {
        struct unit *unit = &ledger->units[u];
        unit->shown = (struct hc_sv_ledger_unit){.acked_as_of = HC_NO_TICK};
        unit->heard = 0;
        unit->heard_as_of = HC_NO_TICK;
        set_sent(unit, 0, HC_NO_TICK);
    }
}

// ---- Questions ----

const struct hc_sv_ledger_unit *hc_sv_ledger_unit(const struct hc_sv_ledger *ledger, hc_unit unit) {
    HC_ASSERT(unit < hc_unit_total(ledger->world));
    return &ledger->units[unit].shown;
}

hc_tick hc_sv_ledger_base(const struct hc_sv_ledger *ledger) {
    return ledger->base;
}

/// What the base told, when it is not remembered otherwise: nothing newer is acknowledged.
static uint32_t units_of_base(const struct hc_sv_ledger *ledger, hc_unit *out, uint32_t most) {
    uint32_t count = 0;
    for (uint32_t u = 0; u < hc_unit_total(ledger->world); u++) {
        if (ledger->units[u].shown.acked_as_of != ledger->base)
            continue;
        HC_ASSERT(count < most);
        out[count++] = (hc_unit)u;
    }
    return count;
}

uint32_t hc_sv_ledger_units(const struct hc_sv_ledger *ledger, hc_tick as_of, hc_unit *out,
                            uint32_t most) {
    uint32_t number = ledger->first, count = 0;
    const struct snapshot *snapshots = ledger->snapshots;
    if (as_of == ledger->base && !is_remembered(ledger, as_of))
        return units_of_base(ledger, out, most);
    while (number < ledger->end && snapshots[number % HC_SV_LEDGER_SNAPSHOTS].as_of != as_of)
        number++;
    HC_ASSERT(number < ledger->end);
    uint64_t first = snapshots[number % HC_SV_LEDGER_SNAPSHOTS].first;
    for (uint64_t i = first; i < entries_end(ledger, number); i++) {
        const struct entry *entry = entry_at(ledger, i);
        if (entry->correction || entry->version == 0)
            continue;
        HC_ASSERT(count < most);
        out[count++] = entry->unit;
    }
    return count;
}

hc_sv_version hc_sv_ledger_holds(const struct hc_sv_ledger *ledger, hc_unit unit, hc_tick tick,
                                 hc_tick *acked_as_of) {
    HC_ASSERT(unit < hc_unit_total(ledger->world));
    uint64_t oldest = oldest_entry(ledger);
    *acked_as_of = HC_NO_TICK;
    for (uint64_t i = *bucket_of(ledger, unit, tick); i >= oldest;) {
        const struct entry *entry = entry_at(ledger, i);
        const struct snapshot *snapshot = &ledger->snapshots[entry->snapshot];
        i = entry->older;
        if (entry->unit != unit || entry->tick != tick || is_lost(ledger, snapshot))
            continue;
        if (snapshot->acked && entry->version != 0)
            *acked_as_of = snapshot->as_of;
        return entry->version;
    }
    return 0;
}

bool hc_sv_ledger_told(const struct hc_sv_ledger *ledger, hc_unit unit, hc_tick tick) {
    HC_ASSERT(unit < hc_unit_total(ledger->world));
    uint64_t oldest = oldest_entry(ledger);
    for (uint64_t i = *bucket_of(ledger, unit, tick); i >= oldest; i = entry_at(ledger, i)->older)
        if (entry_at(ledger, i)->unit == unit && entry_at(ledger, i)->tick == tick)
            return true;
    return false;
}
