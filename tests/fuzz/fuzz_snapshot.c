/// Fuzzes snapshots without their values: a snapshot of any contents is written and read back. It
/// must be the same, or not fit.
///
/// The input is the room, then the contents.
#include "hindcast/arena.h"
#include "hindcast/check.h"
#include "proto/snapshot.h"
#include "tests/fuzz/actions.h"

#include <string.h>

enum { PLAYERS = 40, ROOM_MAX = 1100, LISTED_MAX = 6, NEAR = 30000 };

/// The contents of a snapshot, without values.
struct contents {
    struct hc_snapshot head;
    uint32_t forced_count, roster_count, unit_count, correction_count;
    struct hc_snapshot_forced forced[LISTED_MAX];
    struct hc_snapshot_roster roster_changes[LISTED_MAX];
    struct hc_snapshot_set base;
    struct hc_snapshot_unit units[HC_SNAPSHOT_UNITS_MAX];
    hc_tick corrected;
    struct hc_snapshot_correction corrections[LISTED_MAX];
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// ---- Contents -----------------------------------------------------------------------------------

/// Takes a tick at most `most` before `tick`.
static hc_tick take_before(struct fuzz_source *source, hc_tick tick, uint32_t most) {
    hc_tick by = (hc_tick)fuzz_take_number(source, 2) % (most + 1);
    return hc_tick_back(tick, by);
}

static void take_margin(struct fuzz_source *source, struct hc_margin *margin) {
    margin->samples = (uint16_t)(fuzz_take_number(source, 2) % (HC_MARGIN_SAMPLES + 1));
    if (margin->samples == 0)
        return;
    int16_t low = (int16_t)fuzz_take_number(source, 2);
    int16_t median = (int16_t)fuzz_take_number(source, 2);
    margin->low = low < median ? low : median;
    margin->median = low < median ? median : low;
}

static void take_header(struct fuzz_source *source, struct hc_snapshot *head) {
    uint8_t how = fuzz_take(source);
    *head = (struct hc_snapshot){.base = HC_NO_TICK, .own_count = how % (HC_OWN_PLAYERS_MAX + 1)};
    head->as_of = 1 + (hc_tick)fuzz_take_number(source, 4) % (HC_SNAPSHOT_TICK_MAX - 1);
    head->phase_us = (uint32_t)fuzz_take_number(source, 3) % (HC_PHASE_MAX_US + 1);
    head->ack_delay_us = (uint32_t)fuzz_take_number(source, 3) % (HC_ACK_DELAY_MAX_US + 1);
    head->tick = hc_tick_max(1, take_before(source, head->as_of, HC_HISTORY_MAX));
    head->refused_before = take_before(source, head->as_of, HC_HISTORY_MAX);
    head->final = take_before(source, head->as_of, HC_HISTORY_MAX);
    head->hash = (uint32_t)fuzz_take_number(source, 4);
    head->has_chain = (how & 64) != 0;
    head->chain = head->has_chain ? fuzz_take_number(source, 8) : 0;
    if ((how & 128) != 0) {
        head->base = take_before(source, head->as_of - 1, (how & 32) != 0 ? UINT16_MAX : 63);
        head->how = (enum hc_extrapolation)(how % (HC_EXTRAPOLATION_STEP + 1));
    }
    for (unsigned i = 0; i < head->own_count; i++)
        head->inputs_through[i] = head->tick - 1 + fuzz_take(source);
    head->has_margin = (how & 16) != 0;
    if (head->has_margin)
        take_margin(source, &head->margin);
    uint32_t most = hc_tick_min(head->tick, HC_SNAPSHOT_INPUTS_BEFORE);
    head->inputs_before = (how & 8) != 0 ? fuzz_take(source) % (most + 1) : 0;
}

static void take_lists(struct fuzz_source *source, const struct hc_world *world,
                       struct contents *out) {
    hc_tick tick = out->head.tick;
    uint32_t sizes = fuzz_take(source);
    out->forced_count = out->head.own_count > 0 ? sizes % LISTED_MAX : 0;
    out->roster_count = (sizes >> 4) % LISTED_MAX;
    for (uint32_t i = 0; i < out->forced_count; i++) {
        struct hc_snapshot_forced *forced = &out->forced[i];
        forced->own = fuzz_take(source) % out->head.own_count;
        forced->first = take_before(source, tick, UINT16_MAX);
        forced->count = 1 + (uint32_t)fuzz_take_number(source, 2) % HC_INPUT_RUN_MAX;
    }
    for (uint32_t i = 0; i < out->roster_count; i++) {
        struct hc_snapshot_roster *roster_change = &out->roster_changes[i];
        uint8_t how = fuzz_take(source);
        roster_change->player = (hc_player)(fuzz_take(source) % world->players);
        roster_change->tick = (how & 1) != 0 ? take_before(source, tick, UINT16_MAX)
                                             : tick + (hc_tick)fuzz_take_number(source, 2);
        roster_change->roster_change = (how & 2) != 0 ? HC_ROSTER_JOIN : HC_ROSTER_LEAVE;
    }
}

/// Takes four bits for each unit: whether the newest baseline has it, whether it is named, and its
/// baseline.
static void take_units(struct fuzz_source *source, const struct hc_world *world,
                       struct contents *out) {
    hc_tick base = out->head.base;
    for (uint32_t u = 0; u < hc_unit_total(world) && source->left > 0; u++) {
        struct hc_snapshot_unit *unit = &out->units[out->unit_count];
        uint8_t how = fuzz_take(source);
        bool in_base = base != HC_NO_TICK && (how & 1) != 0;
        if (in_base)
            out->base.units[out->base.count++] = (hc_unit)u;
        if ((how & 2) == 0)
            continue;
        *unit = (struct hc_snapshot_unit){
            .unit = (hc_unit)u, .from = (enum hc_snapshot_from)(how >> 2 & 3), .as_of = HC_NO_TICK};
        if (unit->from == HC_SNAPSHOT_BASE && !in_base)
            unit->from = HC_SNAPSHOT_NOTHING;
        if (unit->from == HC_SNAPSHOT_OLDER && (base == HC_NO_TICK || base == 0))
            unit->from = HC_SNAPSHOT_DROPPED;
        if (unit->from == HC_SNAPSHOT_OLDER)
            unit->as_of = take_before(source, base - 1, HC_SNAPSHOT_AGE_MAX - 1);
        out->unit_count++;
    }
}

static void take_corrections(struct fuzz_source *source, const struct hc_world *world,
                             struct contents *out) {
    hc_unit next = 0;
    out->corrected = take_before(source, out->head.tick - 1, HC_HISTORY_MAX / 2);
    while (source->left > 0 && out->correction_count < LISTED_MAX && next < hc_unit_total(world)) {
        struct hc_snapshot_correction *correction = &out->corrections[out->correction_count++];
        uint8_t how = fuzz_take(source);
        uint32_t unit = next + (how >> 2) % (hc_unit_total(world) - next);
        *correction = (struct hc_snapshot_correction){.unit = (hc_unit)unit, .as_of = HC_NO_TICK};
        next = (hc_unit)(unit + 1);
        if ((how & 1) == 0)
            continue;
        correction->as_of =
            take_before(source, out->head.as_of - 1, HC_SNAPSHOT_CORRECTION_AGE - 1);
        correction->same = (how & 2) != 0;
    }
}

// ---- Writing and reading ------------------------------------------------------------------------

static void put_all(struct hc_bits_writer *bits, const struct contents *from) {
    hc_tick tick = from->head.tick;
    hc_snapshot_put(bits, &from->head);
    struct hc_snapshot_lists lists = {.forced = from->forced,
                                      .forced_count = from->forced_count,
                                      .changes = from->roster_changes,
                                      .change_count = from->roster_count};
    hc_snapshot_put_lists(bits, tick, SIZE_MAX, &lists);
    hc_snapshot_put_names(bits, &from->head, &from->base, from->units, from->unit_count);
    if (from->correction_count > 0)
        hc_snapshot_put_corrections(bits, &from->head, tick, from->corrected, from->corrections,
                                    from->correction_count);
    hc_bits_put(bits, 0, 1);
}

static void check_header(const struct hc_snapshot *a, const struct hc_snapshot *b) {
    HC_ASSERT(a->as_of == b->as_of && a->tick == b->tick && a->base == b->base);
    HC_ASSERT(a->phase_us == b->phase_us && a->ack_delay_us == b->ack_delay_us);
    HC_ASSERT(a->refused_before == b->refused_before && a->final == b->final && a->hash == b->hash);
    HC_ASSERT(a->has_chain == b->has_chain && a->chain == b->chain);
    for (unsigned i = 0; i < a->own_count; i++)
        HC_ASSERT(a->inputs_through[i] == b->inputs_through[i]);
    HC_ASSERT(a->inputs_before == b->inputs_before);
    HC_ASSERT(a->has_margin == b->has_margin && a->margin.samples == b->margin.samples);
    HC_ASSERT(a->margin.low == b->margin.low && a->margin.median == b->margin.median);
}

static void check_lists(struct hc_bits_reader *bits, const struct hc_world *world,
                        const struct contents *from) {
    struct hc_snapshot_forced forced;
    struct hc_snapshot_roster roster_change;
    for (uint32_t i = 0; i < from->forced_count; i++) {
        HC_ASSERT(hc_snapshot_get_forced(bits, &from->head, &forced));
        HC_ASSERT(forced.own == from->forced[i].own && forced.first == from->forced[i].first &&
                  forced.count == from->forced[i].count);
    }
    HC_ASSERT(!hc_snapshot_get_forced(bits, &from->head, &forced));
    for (uint32_t i = 0; i < from->roster_count; i++) {
        HC_ASSERT(hc_snapshot_get_roster(bits, world, from->head.tick, &roster_change));
        HC_ASSERT(roster_change.player == from->roster_changes[i].player &&
                  roster_change.tick == from->roster_changes[i].tick &&
                  roster_change.roster_change == from->roster_changes[i].roster_change);
    }
    HC_ASSERT(!hc_snapshot_get_roster(bits, world, from->head.tick, &roster_change));
}

static void check_corrections(struct hc_bits_reader *bits, const struct hc_world *world,
                              const struct contents *from) {
    hc_tick at = from->head.tick;
    hc_unit next = 0;
    uint32_t count;
    if (from->correction_count > 0) {
        HC_ASSERT(hc_snapshot_get_correction_tick(bits, at, &at, &count));
        HC_ASSERT(at == from->corrected && count == from->correction_count);
    }
    for (uint32_t i = 0; i < from->correction_count; i++) {
        const struct hc_snapshot_correction *wanted = &from->corrections[i];
        struct hc_snapshot_correction read;
        hc_snapshot_get_correction(bits, world, &from->head, next, &read);
        HC_ASSERT(read.unit == wanted->unit && read.as_of == wanted->as_of);
        HC_ASSERT(read.as_of == HC_NO_TICK || read.same == wanted->same);
        next = (hc_unit)(read.unit + 1);
    }
    HC_ASSERT(!hc_snapshot_get_correction_tick(bits, at, &at, &count));
}

static void check_all(const struct hc_body *body, const struct hc_world *world, hc_tick near,
                      const struct contents *from) {
    struct hc_snapshot_unit units[HC_SNAPSHOT_UNITS_MAX];
    struct hc_bits_reader bits;
    struct hc_snapshot head;
    HC_ASSERT(hc_snapshot_get_message(body, &bits) == HC_OK);
    hc_snapshot_get(&bits, near, from->head.own_count, &head);
    check_header(&head, &from->head);
    check_lists(&bits, world, from);
    uint32_t count = hc_snapshot_get_names(&bits, world, &head, &from->base, units);
    HC_ASSERT(!bits.failed && count == from->unit_count);
    for (uint32_t i = 0; i < count; i++)
        HC_ASSERT(units[i].unit == from->units[i].unit && units[i].from == from->units[i].from &&
                  units[i].as_of == from->units[i].as_of);
    check_corrections(&bits, world, from);
    HC_ASSERT(hc_bits_done(&bits));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct hc_world world;
    static struct hc_body body;
    static struct contents contents;
    struct fuzz_source source = {.bytes = data, .left = size};
    uint8_t packed[ROOM_MAX], bytes[ROOM_MAX + HC_SNAPSHOT_OVERHEAD];
    size_t room = (size_t)fuzz_take_number(&source, 2) % (ROOM_MAX + 1);
    if (world.entities == 0)
        HC_ASSERT(hc_world_init(&world, &hc_arena, PLAYERS, 60, 1, NULL) == HC_OK);
    memset(&contents, 0, sizeof contents);
    take_header(&source, &contents.head);
    hc_tick near = contents.head.as_of - NEAR;
    near += (hc_tick)fuzz_take_number(&source, 2) % (2 * NEAR);
    take_lists(&source, &world, &contents);
    take_corrections(&(struct fuzz_source){.bytes = source.bytes, .left = source.left}, &world,
                     &contents);
    take_units(&source, &world, &contents);
    struct hc_bits_writer bits = hc_bits_writer(packed, room);
    struct hc_writer writer = hc_bytes_writer(bytes, sizeof bytes);
    put_all(&bits, &contents);
    size_t used = hc_bits_finish(&bits);
    if (hc_bits_failed(&bits))
        return 0;
    HC_ASSERT(hc_snapshot_put_message(&writer, packed, used));
    HC_ASSERT(hc_body_begin(&body, bytes, writer.at) == HC_OK);
    HC_ASSERT(hc_body_next(&body) == HC_MESSAGE_SNAPSHOT);
    check_all(&body, &world, near, &contents);
    return 0;
}
