/// The file of refused users.
///
/// Text: a client_id in decimal on each line, and at most one line `not-before UNIX_TIME`; blank
/// lines and lines that begin with # are skipped. It must be a regular file, and no other user may
/// have write permission on it.
#pragma once

#include "server/daemon/owner_file.h"
#include "hindcast/server.h"

/// The content of the file.
struct hc_sv_refused_file {
    uint64_t client_ids[HC_SERVER_REFUSED_MAX]; ///< the first `count`, ascending
    uint32_t count;
    uint64_t not_before_s; ///< Unix time; 0: none
};

/// The kind of this file; its parser fills in a struct hc_sv_refused_file with sorted `client_ids`.
extern const struct hc_sv_owner_file_kind hc_sv_refused_file_kind;
