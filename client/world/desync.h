/// Snapshots whose hash does not match: they are counted, and the server is asked for its values.
///
/// A client whose snapshots do not match computes another world than the server. It asks for the
/// server's values of the newest such snapshot, which the reader holds until the answer comes:
/// until then no other snapshot is decoded.
#pragma once

#include "client/world/snapshot_reader.h"
#include "proto/message.h"

enum {
    HC_CL_DESYNC_MISMATCHES = 3, ///< snapshots with a wrong hash
    HC_CL_DESYNC_US = 1000000,   ///< within so long are a desync
};

/// Only desync.c writes to it. Zeros are the beginning of a connection.
struct hc_cl_desync {
    uint64_t seen_us[HC_CL_DESYNC_MISMATCHES - 1]; ///< The newest mismatches came then: a ring.
    uint32_t count;                                ///< The number of mismatches.
    hc_tick as_of; ///< The newest mismatch: an older or equal one does not count, it may be a copy.
    bool asks;     ///< The client asks the server for its values of `as_of`.
    const struct hc_cl_snapshot_reader *reader; ///< The reader that holds this snapshot; borrowed.
    uint64_t began_us;                          ///< The client began to ask at this time.
    uint64_t due_us;                            ///< The next COMPARE is due at this time.
    bool reported;                              ///< The game knows of the desync.
};

/// Notes a snapshot of the server tick `as_of` whose hash does not match. True: so many of
/// different heads have not matched within HC_CL_DESYNC_US that this is no damage by chance, and
/// the game does not know yet.
bool hc_cl_desync_note(struct hc_cl_desync *desync, hc_tick as_of, uint64_t now_us);

/// Begins to ask for the server's values of the mismatch that was noted last, which `reader` holds
/// until hc_cl_desync_report.
void hc_cl_desync_ask(struct hc_cl_desync *desync, const struct hc_cl_snapshot_reader *reader,
                      uint64_t now_us);

/// Ends the question: the game is told.
void hc_cl_desync_report(struct hc_cl_desync *desync);

/// The bytes that the COMPARE which is sent now may take; 0: the client does not ask.
size_t hc_cl_desync_reserve(const struct hc_cl_desync *desync);

/// Appends COMPARE to a body while the client asks and one is due.
void hc_cl_desync_put(struct hc_cl_desync *desync, struct hc_writer *body, uint64_t now_us);

/// Compares the server's values with the client's, and writes the difference, or a suspect if there
/// is none, to `*difference`. False: they answer no question of the client.
bool hc_cl_desync_answer(const struct hc_cl_desync *desync, const struct hc_differs *differs,
                         struct hc_difference *difference);

/// The suspect of the snapshot that the client asks about.
struct hc_difference hc_cl_desync_suspect(const struct hc_cl_desync *desync);

/// Whether no answer has come for too long.
bool hc_cl_desync_overdue(const struct hc_cl_desync *desync, uint64_t now_us);

/// The CLOSE that names a difference.
struct hc_close hc_cl_desync_close(const struct hc_difference *difference);
