/// The faults of a game's rule that a match has shown: clients that computed another world, and
/// values that do not fit their fields.
#pragma once

#include "hindcast/server.h"

#include <jansson.h>
#include <pthread.h>

enum { HC_SV_FAULTS_MAX = 16 }; ///< of each list

struct hc_sv_faults {
    pthread_mutex_t lock; ///< whoever changes or copies the lists holds it
    json_t *desyncs;      ///< array of desyncs; NULL: none so far
    json_t *overflows;    ///< array of overflows; NULL: none so far
    uint32_t seen;        ///< overflows of the present world that were taken
};

/// Begins with empty lists.
void hc_sv_faults_open(struct hc_sv_faults *faults);

/// Frees the lists.
void hc_sv_faults_close(struct hc_sv_faults *faults);

/// Adds a client that left because it computes another world. Returns the entry, borrowed; NULL:
/// the list is full.
json_t *hc_sv_faults_add_desync(struct hc_sv_faults *faults, const struct hc_server_event *event);

/// Adds the next overflow that the server's timeline lists; as hc_sv_faults_add_desync. NULL: there
/// is none that is new, or the list is full.
json_t *hc_sv_faults_next_overflow(struct hc_sv_faults *faults, const struct hc_server *server);

/// Appends copies of the entries to the arrays, up to HC_SV_FAULTS_MAX in each. Any thread may call
/// it.
void hc_sv_faults_gather(struct hc_sv_faults *faults, json_t *desyncs, json_t *overflows);
