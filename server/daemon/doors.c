/// Owns the creation of doors, and the order in which those of a worker are read.
#include "server/daemon/doors.h"

#include "hindcast/check.h"
#include "server/daemon/udp.h"

#include <stdio.h>
#include <stdlib.h>

/// Opens a kind of door for each worker of the options. False: failed, and `why` is a sentence.
typedef bool opener(const struct hc_sv_options *options, struct hc_sv_door **workers, char *why,
                    size_t why_size);

/// All kinds of doors. The last one sends what is of no other: the address of any host is its peer.
static opener *const openers[] = {hc_sv_udp_open};

enum { OPENERS = sizeof(openers) / sizeof(*openers) };
_Static_assert(sizeof(openers) / sizeof(*openers) <= HC_SV_DOORS_MAX, "a worker has each kind");

// ---- Lifecycle ----------------------------------------------------------------------------------

/// Opens a kind of door, and adds a door of it to each worker's; false: failed.
static bool add(opener *open, const struct hc_sv_options *options, struct hc_sv_doors **workers,
                char *why, size_t why_size) {
    struct hc_sv_door *opened[HC_SV_WORKERS_MAX] = {NULL};
    if (!open(options, opened, why, why_size))
        return false;
    for (unsigned i = 0; i < options->workers; i++)
        workers[i]->all[workers[i]->count++] = opened[i];
    return true;
}

bool hc_sv_doors_open(const struct hc_sv_options *options, struct hc_sv_doors **workers, char *why,
                      size_t why_size) {
    bool good = true;
    snprintf(why, why_size, "no memory for the doors of --workers %u", options->workers);
    for (unsigned i = 0; i < options->workers; i++) {
        workers[i] = calloc(1, sizeof(*workers[i]));
        good = good && workers[i] != NULL;
    }
    for (unsigned i = 0; good && i < OPENERS; i++)
        good = add(openers[i], options, workers, why, why_size);
    for (unsigned i = 0; !good && i < options->workers; i++) {
        hc_sv_doors_close(workers[i]);
        workers[i] = NULL;
    }
    return good;
}

struct hc_sv_doors *hc_sv_doors_share(const struct hc_sv_doors *doors) {
    struct hc_sv_doors *shared = calloc(1, sizeof(*shared));
    for (unsigned i = 0; shared != NULL && i < doors->count; i++) {
        struct hc_sv_door *door = doors->all[i]->kind->share(doors->all[i]);
        if (door == NULL) {
            hc_sv_doors_close(shared);
            return NULL;
        }
        shared->all[shared->count++] = door;
    }
    return shared;
}

void hc_sv_doors_go_on(struct hc_sv_doors *doors, const struct hc_sv_doors *before) {
    for (unsigned i = 0; i < doors->count; i++)
        doors->all[i]->kind->go_on(doors->all[i], before->all[i]);
}

void hc_sv_doors_close(struct hc_sv_doors *doors) {
    if (doors == NULL)
        return;
    for (unsigned i = 0; i < doors->count; i++)
        doors->all[i]->kind->close(doors->all[i]);
    free(doors);
}

// ---- Receiving and sending ----------------------------------------------------------------------

struct hc_sv_batch hc_sv_doors_receive(struct hc_sv_doors *doors, enum hc_sv_door_lane lane) {
    struct hc_sv_door *door = doors->all[doors->next[lane]];
    struct hc_sv_batch batch = {.datagrams = door->in};
    if (door->descriptors[lane] >= 0)
        batch.count = door->kind->receive(door, lane);
    batch.more = batch.count == hc_sv_door_batch(lane);
    if (batch.more)
        return batch; // the same door is read next
    doors->next[lane] = (doors->next[lane] + 1) % doors->count;
    batch.more = doors->next[lane] != 0;
    return batch;
}

void hc_sv_doors_flush(struct hc_sv_doors *doors) {
    struct hc_sv_outgoing *out[HC_SV_DOOR_BATCH];
    unsigned left = doors->queued;
    for (unsigned i = 0; i < left; i++)
        out[i] = &doors->out[i];
    for (unsigned i = 0; i < doors->count && left > 0; i++)
        left = doors->all[i]->kind->send(doors->all[i], out, left);
    HC_ASSERT(left == 0);
    doors->queued = 0;
}

void hc_sv_doors_send_now(const struct hc_sv_doors *doors, const struct hc_address *to,
                          const uint8_t *bytes, size_t size) {
    for (unsigned i = 0; i < doors->count; i++)
        if (doors->all[i]->kind->send_now != NULL)
            doors->all[i]->kind->send_now(doors->all[i], to, bytes, size);
}

// ---- Facts and counts ---------------------------------------------------------------------------

struct hc_sv_door_facts hc_sv_doors_facts(const struct hc_sv_doors *doors) {
    const struct hc_sv_door *last = doors->all[doors->count - 1];
    struct hc_sv_door_facts facts = last->kind->facts(last);
    for (unsigned i = 0; i + 1 < doors->count; i++) {
        uint32_t capacity = doors->all[i]->kind->facts(doors->all[i]).capacity;
        facts.capacity = capacity < facts.capacity ? capacity : facts.capacity;
    }
    return facts;
}

struct hc_sv_door_stats hc_sv_doors_stats(const struct hc_sv_doors *doors) {
    struct hc_sv_door_stats sum = {.send_errors = 0};
    for (unsigned i = 0; i < doors->count; i++) {
        struct hc_sv_door_stats stats = doors->all[i]->kind->stats(doors->all[i]);
        sum.sorted |= stats.sorted;
        sum.send_errors += stats.send_errors;
        sum.receive_drops += stats.receive_drops;
        sum.handshake_drops += stats.handshake_drops;
    }
    return sum;
}
