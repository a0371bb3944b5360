/// Owns the record of a timeline's rewinds: their causes, and the entities that changed.
#include "common/rewind_log.h"

#include "common/alloc.h"
#include "hindcast/check.h"

#include <string.h>

_Static_assert(HC_REWIND_CHANGES_MAX < UINT8_MAX - 1, "hc_rewind_log.place holds an index");

struct hc_rewind_log *hc_rewind_log_create(const struct hc_world *world,
                                           const struct hc_allocator *allocator) {
    struct hc_rewind_log *log = hc_allocate(allocator, sizeof *log + world->entities);
    if (log == NULL)
        return NULL;
    log->allocator = allocator;
    log->entities = world->entities;
    return log;
}

void hc_rewind_log_destroy(struct hc_rewind_log *log) {
    if (log != NULL)
        hc_release(log->allocator, log);
}

uint64_t hc_rewind_log_count(const struct hc_rewind_log *log) {
    return log->count;
}

const struct hc_rewind *hc_rewind_log_get(const struct hc_rewind_log *log, uint64_t number) {
    bool kept = number < log->count && log->count - number <= HC_REWINDS_KEPT;
    return kept ? &log->kept[number % HC_REWINDS_KEPT] : NULL;
}

struct hc_rewind *hc_rewind_log_newest(struct hc_rewind_log *log) {
    return log->count == 0 ? NULL : &log->kept[(log->count - 1) % HC_REWINDS_KEPT];
}

static bool is_same(const struct hc_rewind_cause *a, const struct hc_rewind_cause *b) {
    return a->kind == b->kind && a->tick == b->tick && a->player == b->player &&
           a->entity == b->entity;
}

void hc_rewind_log_cause(struct hc_rewind_log *log, const struct hc_rewind_cause *cause) {
    struct hc_rewind *open = &log->open;
    for (uint32_t i = 0; i < open->cause_count; i++)
        if (is_same(&open->causes[i], cause))
            return;
    if (open->cause_count == HC_REWIND_CAUSES_MAX)
        open->more_causes = true;
    else
        open->causes[open->cause_count++] = *cause;
}

void hc_rewind_log_change(struct hc_rewind_log *log, hc_entity entity, hc_tick tick) {
    struct hc_rewind *open = &log->open;
    uint8_t *place = &log->place[entity];
    HC_ASSERT(entity < log->entities);
    if (*place == UINT8_MAX)
        return;
    if (*place != 0) {
        struct hc_rewind_change *change = &open->changes[*place - 1];
        change->last = hc_tick_max(change->last, tick);
        return;
    }
    open->entities++;
    *place = UINT8_MAX;
    if (open->change_count == HC_REWIND_CHANGES_MAX)
        return;
    open->changes[open->change_count] =
        (struct hc_rewind_change){.entity = entity, .first = tick, .last = tick};
    *place = (uint8_t)++open->change_count;
}

void hc_rewind_log_end(struct hc_rewind_log *log, hc_tick from, hc_tick head, uint32_t ticks,
                       uint64_t steps, uint64_t changed) {
    struct hc_rewind *open = &log->open;
    if (ticks > 0) {
        open->head = head;
        open->from = from;
        open->ticks = ticks;
        open->steps = steps;
        open->changed = changed;
        log->kept[log->count++ % HC_REWINDS_KEPT] = *open;
    }
    if (open->entities > 0)
        memset(log->place, 0, log->entities);
    open->entities = open->change_count = open->cause_count = 0;
    open->more_causes = false;
}
