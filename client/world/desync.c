/// Owns the count of snapshots whose hash does not match, and the question about the newest.
#include "client/world/desync.h"

#include "common/elapsed.h"

/// Counts a mismatch; true: it is the last of HC_CL_DESYNC_MISMATCHES within HC_CL_DESYNC_US.
static bool count_mismatch(struct hc_cl_desync *desync, hc_tick as_of, uint64_t now_us) {
    uint64_t *oldest = &desync->seen_us[desync->count++ % (HC_CL_DESYNC_MISMATCHES - 1)];
    bool many =
        desync->count >= HC_CL_DESYNC_MISMATCHES && hc_since(*oldest, now_us) <= HC_CL_DESYNC_US;
    *oldest = now_us;
    desync->as_of = as_of;
    return many;
}

bool hc_cl_desync_note(struct hc_cl_desync *desync, hc_tick as_of, uint64_t now_us) {
    if (desync->reported || (desync->count > 0 && as_of <= desync->as_of))
        return false;
    return count_mismatch(desync, as_of, now_us);
}

void hc_cl_desync_ask(struct hc_cl_desync *desync, const struct hc_cl_snapshot_reader *reader,
                      uint64_t now_us) {
    desync->asks = true;
    desync->reader = reader;
    desync->began_us = desync->due_us = now_us;
}

void hc_cl_desync_report(struct hc_cl_desync *desync) {
    desync->asks = false;
    desync->reported = true;
}

size_t hc_cl_desync_reserve(const struct hc_cl_desync *desync) {
    return desync->asks ? HC_COMPARE_SIZE_MAX : 0;
}

void hc_cl_desync_put(struct hc_cl_desync *desync, struct hc_writer *body, uint64_t now_us) {
    uint8_t hashes[HC_COMPARE_HASH_BYTES * HC_SNAPSHOT_UNITS_MAX];
    if (!desync->asks || now_us < desync->due_us)
        return;
    struct hc_compare compare = {.as_of = desync->as_of, .hashes = hashes};
    compare.count = hc_cl_snapshot_reader_hashes(desync->reader, hashes);
    if (compare.count > 0 && hc_compare_put(body, &compare))
        desync->due_us = now_us + HC_COMPARE_US;
}

bool hc_cl_desync_answer(const struct hc_cl_desync *desync, const struct hc_differs *differs,
                         struct hc_difference *difference) {
    if (!desync->asks || differs->as_of != desync->as_of)
        return false;
    if (!hc_cl_snapshot_reader_compare(desync->reader, differs, difference))
        *difference = hc_cl_desync_suspect(desync);
    return true;
}

struct hc_difference hc_cl_desync_suspect(const struct hc_cl_desync *desync) {
    return hc_cl_snapshot_reader_suspect(desync->reader);
}

bool hc_cl_desync_overdue(const struct hc_cl_desync *desync, uint64_t now_us) {
    return desync->asks && hc_since(desync->began_us, now_us) >= HC_COMPARE_WAIT_US;
}

struct hc_close hc_cl_desync_close(const struct hc_difference *difference) {
    const struct hc_kind *kind = difference->kind;
    struct hc_close close = {.reason = HC_CLOSE_DESYNC,
                             .desync = {.tick = difference->tick,
                                        .entity = HC_CLOSE_NO_ENTITY,
                                        .field = HC_CLOSE_NO_FIELD,
                                        .compared = difference->compared,
                                        .value = difference->client_value}};
    if (kind != NULL)
        close.desync.entity = difference->entity;
    if (kind != NULL && difference->field != NULL)
        close.desync.field = (uint8_t)(difference->field - kind->fields);
    return close;
}
