/// Reads the key file beside the event loop: a thread does it, so that a file system that does not
/// answer stops no tick.
///
/// Calls belong in this order: open; any number of start; close. All are of the loop's thread, and
/// so is the callback.
#pragma once

#include "proto/token.h"

#include <stdbool.h>
#include <stddef.h>

struct event_base;
struct hc_sv_admin_keys_reading;

/// How a reading stands.
enum hc_sv_admin_keys_status {
    HC_SV_ADMIN_KEYS_READ,    ///< the keys are there
    HC_SV_ADMIN_KEYS_REFUSED, ///< they cannot be used, and `why` says why
    HC_SV_ADMIN_KEYS_SLOW,    ///< nothing has come for so long; one of the others follows
};

/// What a reading has come to; the keys are borrowed for the call, and NULL unless they are there.
typedef void hc_sv_admin_keys_done(void *context, enum hc_sv_admin_keys_status status,
                                   const struct hc_token_ring *keys, const char *why);

/// Like hc_sv_admin_keys_read, which it is but for tests.
typedef bool hc_sv_admin_keys_reader(const char *path, struct hc_token_ring *ring, char *why,
                                     size_t why_size);

/// For the file at `path`, which is borrowed. A reading that takes longer than `slow_ms` is slow.
/// NULL: no memory or no descriptors.
struct hc_sv_admin_keys_reading *
hc_sv_admin_keys_reading_open(struct event_base *base, const char *path,
                              hc_sv_admin_keys_reader *reader, unsigned slow_ms,
                              hc_sv_admin_keys_done *done, void *context);

/// Reads the file, and calls `done` in a later turn of the loop. While a reading lasts it is done
/// once more after that, however often this is called. False: there is no thread to be had.
bool hc_sv_admin_keys_reading_start(struct hc_sv_admin_keys_reading *reading);

/// Ends it; a reading that lasts ends unheard. NULL is allowed.
void hc_sv_admin_keys_reading_close(struct hc_sv_admin_keys_reading *reading);
