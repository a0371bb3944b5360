/// The parts of a server, for the files that work on several of them: handshake, inputs, path,
/// receive, send, sessions, ticks, and server, which calls them in order.
///
/// A part is a struct of its own with one file that writes to it, and knows none of these files.
#pragma once

#include "hindcast/check.h"
#include "proto/message.h"
#include "proto/ratchet.h"
#include "server/admission.h"
#include "server/clients.h"
#include "server/clock.h"
#include "server/forged.h"
#include "server/host_test.h"
#include "server/outbox.h"
#include "server/overload.h"
#include "server/program.h"
#include "server/replication/replicator.h"
#include "server/schedule.h"

/// The DATA that is being read.
struct hc_sv_reading {
    uint64_t arrived_us;             ///< newest arrival of a DATA that names a client
    uint8_t opened[HC_DATAGRAM_MAX]; ///< the decrypted datagram
    struct hc_body body;             ///< its body
};

struct hc_server {
    struct hc_server_config config; ///< without its secrets and keys
    struct hc_sv_host_test test;
    struct hc_server_stats stats; ///< each file counts what it does
    struct hc_ratchet ratchet;    ///< draws all that must be unpredictable

    struct hc_world world;
    struct hc_timeline *timeline;
    struct hc_rewind_log *rewinds; ///< borrowed; NULL: rewinds are not recorded
    struct hc_sv_clock clock; ///< Every time in the server is of this one.
    struct hc_sv_schedule schedule;
    struct hc_sv_replicator replicator;
    struct hc_sv_overload overload;

    struct hc_sv_admission admission;
    struct hc_sv_clients clients;
    struct hc_sv_outbox outbox;
    struct hc_sv_notices notices;
    struct hc_sv_program program;
    struct hc_sv_forged forged;
    struct hc_sv_reading reading;
};
