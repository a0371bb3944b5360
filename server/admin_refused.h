/// The file of refused users.
///
/// Text: a client_id in decimal on each line, and at most one line `not-before UNIX_TIME`; blank
/// lines and lines that begin with # are skipped. It must be a regular file that other users cannot
/// write to.
#pragma once

#include "server/refused.h"

#include <stddef.h>

/// Reads `path` into `*refused`, of which `client_ids` are sorted. False: it cannot be used, `why`
/// says why, and `*refused` is of no use.
bool hc_sv_admin_refused_read(const char *path, struct hc_sv_refused *refused, char *why,
                              size_t why_size);
