/// Owns what a client does about snapshots whose hash does not match: it counts them, asks the
/// server for its values, names the difference and leaves.
#include "client/session_internal.h"

#include "common/elapsed.h"

#include <stdio.h>
#include <string.h>

/// The CLOSE that names the difference.
static struct hc_close close_of(const struct hc_difference *difference) {
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

/// Tells the game where the world differs, and closes the connection unless it is configured to
/// stay.
static void report(struct hc_client *client, const struct hc_difference *difference,
                   uint64_t now_us) {
    char line[HC_DIFFERENCE_TEXT_MAX + 64], text[HC_DIFFERENCE_TEXT_MAX];
    client->desync.asks = false;
    client->desync.reported = true;
    client->stats.desyncs++;
    hc_cl_session_event(client, &(struct hc_client_event){.kind = HC_CLIENT_EVENT_DESYNC,
                                                          .tick = difference->tick,
                                                          .difference = *difference});
    snprintf(line, sizeof line, "this build computes another world than the server: %s",
             hc_difference_text(difference, text, sizeof text));
    hc_cl_session_log(client, line);
    if (client->config.stays_desynced || client->state == HC_CLIENT_LEAVING)
        return;
    client->state = HC_CLIENT_LEAVING;
    struct hc_close close = close_of(difference);
    hc_connection_close(&client->connection, &close, true, now_us);
}

static void report_suspect(struct hc_client *client, uint64_t now_us) {
    struct hc_difference suspect = hc_cl_snapshot_reader_suspect(client->reader);
    report(client, &suspect, now_us);
}

/// Whether so many snapshots of different heads have not matched within a second that this is no
/// damage by chance.
static bool count_mismatch(struct hc_cl_desync *desync, hc_tick as_of, uint64_t now_us) {
    uint64_t *oldest = &desync->seen_us[desync->count++ % (HC_CL_DESYNC_MISMATCHES - 1)];
    bool many =
        desync->count >= HC_CL_DESYNC_MISMATCHES && hc_since(*oldest, now_us) <= HC_CL_DESYNC_US;
    *oldest = now_us;
    desync->as_of = as_of;
    return many;
}

void hc_cl_desync_mismatch(struct hc_client *client, uint64_t now_us) {
    struct hc_cl_desync *desync = &client->desync;
    hc_tick as_of = hc_cl_snapshot_reader_newest(client->reader)->header.as_of;
    if (desync->reported || (desync->count > 0 && as_of <= desync->as_of) ||
        !count_mismatch(desync, as_of, now_us))
        return;
    if (client->state == HC_CLIENT_LEAVING) {
        report_suspect(client, now_us); // nothing but CLOSE may be sent
        return;
    }
    desync->asks = true;
    desync->began_us = desync->due_us = now_us;
    client->sending.due = true;
}

void hc_cl_desync_put(struct hc_client *client, struct hc_writer *body, uint64_t now_us) {
    struct hc_cl_desync *desync = &client->desync;
    uint8_t hashes[HC_COMPARE_HASH_BYTES * HC_SNAPSHOT_UNITS_MAX];
    if (!desync->asks || now_us < desync->due_us)
        return;
    struct hc_compare compare = {.as_of = desync->as_of, .hashes = hashes};
    compare.count = hc_cl_snapshot_reader_hashes(client->reader, hashes);
    if (compare.count > 0 && hc_compare_put(body, &compare))
        desync->due_us = now_us + HC_COMPARE_US;
}

void hc_cl_desync_answer(struct hc_client *client, const struct hc_differs *differs,
                         uint64_t now_us) {
    struct hc_difference difference;
    if (!client->desync.asks || differs->as_of != client->desync.as_of)
        return;
    if (hc_cl_snapshot_reader_compare(client->reader, differs, &difference))
        report(client, &difference, now_us);
    else
        report_suspect(client, now_us);
}

void hc_cl_desync_advance(struct hc_client *client, uint64_t now_us) {
    if (client->desync.asks && hc_since(client->desync.began_us, now_us) >= HC_COMPARE_WAIT_US)
        report_suspect(client, now_us);
}
