/// The origin of a report: when it was made, on which machine, and by which command line.
#pragma once

#include <jansson.h>

/// `{date, host, command_line}`, which the caller releases. The date is UTC, now. The command line
/// is quoted as a shell takes it, without secrets: HIDDEN stands in place of the values of
/// options about tokens, keys and passwords, also within --server-args, and of whatever is as long
/// as a key.
json_t *hc_cl_origin(int argc, char **argv);

/// The words of --server-args without secrets, as in `command_line`. The caller frees them. NULL:
/// no memory.
char *hc_cl_origin_words(const char *words);

/// The present time, UTC, such as 2026-01-31T12:34:56Z.
json_t *hc_cl_origin_date(void);
