/// Notices of the admin face: made of the parameters of a request, which may be anything.
#pragma once

#include "hindcast/notice.h"

#include <stddef.h>

/// Completes a notice that has its kind with `seconds`, `where` and `text` (empty: none). False: it
/// cannot be sent, and `why` is a sentence that names the parameter.
bool hc_sv_admin_notice_make(struct hc_notice *notice, uint64_t seconds, const char *where,
                             const char *text, char *why, size_t why_size);
