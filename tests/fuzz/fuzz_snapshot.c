// All that a server can say in a snapshot besides values: made up from any bytes, written, and read
// back. It must be the same, or not fit.
//
// The input is the room, then choices.
#include "hindcast/arena.h"
#include "hindcast/check.h"
#include "proto/delta.h"
#include "proto/snapshot.h"
#include "tests/fuzz/deeds.h"

#include <string.h>

enum { PLAYERS = 40, ROOM_MAX = 1100, LISTED_MAX = 6, NEAR = 30000 };

/// A list of what comes with a tick, and what it looks like.
struct made_up {
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

// ---- Making up ----------------------------------------------------------------------------------

/// A tick at most `most` before `tick`.
static hc_tick choose_before(struct fuzz_choices *selections, hc_tick tick, uint32_t most) {
    hc_tick by = (hc_tick)fuzz_choose_number(selections, 2) % (most + 1);
    return hc_tick_back(tick, by);
}

static void choose_head(struct fuzz_choices *selections, struct hc_snapshot *head) {
    uint8_t how = fuzz_choose(selections);
    *head = (struct hc_snapshot){.base = HC_NO_TICK, .own_count = how % (HC_OWN_PLAYERS_MAX + 1)};
    head->as_of = 1 + (hc_tick)fuzz_choose_number(selections, 4) % (HC_SNAPSHOT_TICK_MAX - 1);
    head->phase_us = (uint32_t)fuzz_choose_number(selections, 3) % (HC_PHASE_MAX_US + 1);
    head->ack_delay_us = (uint32_t)fuzz_choose_number(selections, 3) % (HC_ACK_DELAY_MAX_US + 1);
    head->tick = hc_tick_max(1, choose_before(selections, head->as_of, HC_HISTORY_MAX));
    head->late_limit = choose_before(selections, head->as_of, HC_HISTORY_MAX);
    head->final = choose_before(selections, head->as_of, HC_HISTORY_MAX);
    head->hash = (uint32_t)fuzz_choose_number(selections, 4);
    head->has_chain = (how & 64) != 0;
    head->chain = head->has_chain ? fuzz_choose_number(selections, 8) : 0;
    if ((how & 128) != 0)
        head->base = choose_before(selections, head->as_of - 1, (how & 32) != 0 ? UINT16_MAX : 63);
    for (unsigned i = 0; i < head->own_count; i++)
        head->complete[i] = head->tick - 1 + fuzz_choose(selections);
}

static void choose_lists(struct fuzz_choices *selections, const struct hc_world *world,
                         struct made_up *out) {
    hc_tick tick = out->head.tick;
    uint32_t sizes = fuzz_choose(selections);
    out->forced_count = out->head.own_count > 0 ? sizes % LISTED_MAX : 0;
    out->roster_count = (sizes >> 4) % LISTED_MAX;
    for (uint32_t i = 0; i < out->forced_count; i++) {
        struct hc_snapshot_forced *forced = &out->forced[i];
        forced->own = fuzz_choose(selections) % out->head.own_count;
        forced->first = choose_before(selections, tick, UINT16_MAX);
        forced->count = 1 + (uint32_t)fuzz_choose_number(selections, 2) % HC_INPUT_RUN_MAX;
    }
    for (uint32_t i = 0; i < out->roster_count; i++) {
        struct hc_snapshot_roster *roster_change = &out->roster_changes[i];
        uint8_t how = fuzz_choose(selections);
        roster_change->player = (hc_player)(fuzz_choose(selections) % world->players);
        roster_change->tick = (how & 1) != 0 ? choose_before(selections, tick, UINT16_MAX)
                                             : tick + (hc_tick)fuzz_choose_number(selections, 2);
        roster_change->roster_change = (how & 2) != 0 ? HC_ROSTER_JOIN : HC_ROSTER_LEAVE;
    }
}

/// For each unit four bits: whether the newest base told it, whether it is named, and against what.
static void choose_units(struct fuzz_choices *selections, const struct hc_world *world,
                         struct made_up *out) {
    hc_tick base = out->head.base;
    for (uint32_t u = 0; u < hc_unit_total(world) && selections->left > 0; u++) {
        struct hc_snapshot_unit *unit = &out->units[out->unit_count];
        uint8_t how = fuzz_choose(selections);
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
            unit->as_of = choose_before(selections, base - 1, HC_SNAPSHOT_AGE_MAX - 1);
        out->unit_count++;
    }
}

static void choose_corrections(struct fuzz_choices *selections, const struct hc_world *world,
                               struct made_up *out) {
    hc_unit next = 0;
    out->corrected = choose_before(selections, out->head.tick - 1, HC_HISTORY_MAX / 2);
    while (selections->left > 0 && out->correction_count < LISTED_MAX &&
           next < hc_unit_total(world)) {
        struct hc_snapshot_correction *correction = &out->corrections[out->correction_count++];
        uint8_t how = fuzz_choose(selections);
        uint32_t unit = next + (how >> 2) % (hc_unit_total(world) - next);
        *correction = (struct hc_snapshot_correction){.unit = (hc_unit)unit, .as_of = HC_NO_TICK};
        next = (hc_unit)(unit + 1);
        if ((how & 1) == 0)
            continue;
        correction->as_of =
            choose_before(selections, out->head.as_of - 1, HC_SNAPSHOT_CORRECTION_AGE - 1);
        correction->same = (how & 2) != 0;
    }
}

// ---- There and back -----------------------------------------------------------------------------

static void put_all(struct hc_bits_writer *bits, const struct made_up *from) {
    hc_tick tick = from->head.tick;
    hc_unit next = 0;
    hc_snapshot_put(bits, &from->head);
    for (uint32_t i = 0; i < from->forced_count; i++)
        hc_snapshot_put_forced(bits, tick, &from->forced[i]);
    hc_snapshot_put_end(bits);
    for (uint32_t i = 0; i < from->roster_count; i++)
        hc_snapshot_put_roster(bits, tick, &from->roster_changes[i]);
    hc_snapshot_put_end(bits);
    hc_snapshot_put_names(bits, &from->head, &from->base, from->units, from->unit_count);
    if (from->correction_count > 0)
        hc_snapshot_put_correction_tick(bits, tick, from->corrected, from->correction_count);
    for (uint32_t i = 0; i < from->correction_count; i++) {
        hc_snapshot_put_correction(bits, &from->head, next, &from->corrections[i]);
        next = (hc_unit)(from->corrections[i].unit + 1);
    }
    hc_snapshot_put_end(bits);
}

static void check_head(const struct hc_snapshot *a, const struct hc_snapshot *b) {
    HC_ASSERT(a->as_of == b->as_of && a->tick == b->tick && a->base == b->base);
    HC_ASSERT(a->phase_us == b->phase_us && a->ack_delay_us == b->ack_delay_us);
    HC_ASSERT(a->late_limit == b->late_limit && a->final == b->final && a->hash == b->hash);
    HC_ASSERT(a->has_chain == b->has_chain && a->chain == b->chain);
    for (unsigned i = 0; i < a->own_count; i++)
        HC_ASSERT(a->complete[i] == b->complete[i]);
}

static void check_lists(struct hc_bits_reader *bits, const struct hc_world *world,
                        const struct made_up *from) {
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
                              const struct made_up *from) {
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
                      const struct made_up *from) {
    struct hc_snapshot_unit units[HC_SNAPSHOT_UNITS_MAX];
    struct hc_bits_reader bits;
    struct hc_snapshot head;
    HC_ASSERT(hc_snapshot_get_message(body, &bits) == HC_OK);
    hc_snapshot_get(&bits, near, from->head.own_count, &head);
    check_head(&head, &from->head);
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
    static struct made_up made_up;
    struct fuzz_choices selections = {.bytes = data, .left = size};
    uint8_t packed[ROOM_MAX], bytes[ROOM_MAX + HC_SNAPSHOT_OVERHEAD];
    size_t room = fuzz_choose_number(&selections, 2) % (ROOM_MAX + 1);
    if (world.entities == 0)
        HC_ASSERT(hc_world_init(&world, &hc_arena, PLAYERS, 60, 1, NULL) == HC_OK);
    memset(&made_up, 0, sizeof made_up);
    choose_head(&selections, &made_up.head);
    hc_tick near = made_up.head.as_of - NEAR;
    near += (hc_tick)fuzz_choose_number(&selections, 2) % (2 * NEAR);
    choose_lists(&selections, &world, &made_up);
    choose_corrections(&(struct fuzz_choices){.bytes = selections.bytes, .left = selections.left},
                       &world, &made_up);
    choose_units(&selections, &world, &made_up);
    struct hc_bits_writer bits = hc_bits_writer(packed, room);
    struct hc_writer writer = hc_bytes_writer(bytes, sizeof bytes);
    put_all(&bits, &made_up);
    size_t used = hc_bits_finish(&bits);
    if (bits.failed)
        return 0;
    HC_ASSERT(hc_snapshot_put_message(&writer, packed, used));
    HC_ASSERT(hc_body_begin(&body, bytes, writer.at) == HC_OK);
    HC_ASSERT(hc_body_next(&body) == HC_MESSAGE_SNAPSHOT);
    check_all(&body, &world, near, &made_up);
    return 0;
}
