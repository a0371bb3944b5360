/// The file of refused users.
///
/// Text: a client_id in decimal on each line, and at most one line `not-before UNIX_TIME`; blank
/// lines and lines that begin with # are skipped. It must be a regular file that other users cannot
/// write to.
#pragma once

#include "server/daemon/owner_file.h"
#include "server/refused_clients.h"

/// The file, whose reader fills in a struct hc_sv_refused, of which `client_ids` are sorted.
extern const struct hc_sv_owner_file_kind hc_sv_refused_file_kind;
