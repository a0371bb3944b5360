/// Reads a small text file of the server's owner: at once, or in a thread beside the event loop, so
/// that a file system that does not answer stops no tick.
///
/// Calls belong in this order: open; any number of start; close. All are of the loop's thread, and
/// so is the callback.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct event_base;
struct hc_sv_owner_file_reader;

enum { HC_SV_OWNER_FILE_MAX = 1 << 22 }; ///< bytes

/// A regular file as it was read.
struct hc_sv_owner_file {
    const char *path;
    char *text; ///< ends with its only 0; may be written to, and is erased afterwards
    uid_t owner;
    mode_t mode; ///< permissions alone
};

/// Fills in the zeroed `out` with what the file says. False: it cannot be used, and `why` is a
/// sentence. It is called in any thread.
typedef bool hc_sv_owner_file_parse(const struct hc_sv_owner_file *file, void *out, char *why,
                                    size_t why_size);

/// What a file holds.
struct hc_sv_owner_file_kind {
    const char *option; ///< of the command line, for the sentences
    size_t size;        ///< of what is parsed, bytes
    hc_sv_owner_file_parse *parse;
};

/// How a reading stands.
enum hc_sv_owner_file_status {
    HC_SV_OWNER_FILE_READ,    ///< the file is read and parsed
    HC_SV_OWNER_FILE_REFUSED, ///< it cannot be used, and `why` says why
    HC_SV_OWNER_FILE_SLOW,    ///< nothing has come for so long; one of the others follows
};

/// Reports how a reading stands. `out` is borrowed for the call, and NULL unless the file is read;
/// `why` is NULL unless it is refused.
typedef void hc_sv_owner_file_done(void *context, enum hc_sv_owner_file_status status,
                                   const void *out, const char *why);

/// Reads `path` now and parses it into `out`, which has `kind->size` bytes. False: it cannot be
/// used, `why` is a sentence, and `out` is zeroed.
bool hc_sv_owner_file_read(const struct hc_sv_owner_file_kind *kind, const char *path, void *out,
                           char *why, size_t why_size);

/// A reader of the file at `path`; `kind` and `path` are borrowed, `kind` for ever. A reading that
/// takes longer than `slow_ms` is slow. NULL: no memory or no descriptors.
struct hc_sv_owner_file_reader *
hc_sv_owner_file_reader_open(struct event_base *base, const struct hc_sv_owner_file_kind *kind,
                             const char *path, unsigned slow_ms, hc_sv_owner_file_done *done,
                             void *context);

/// Reads the file, and calls `done` in a later turn of the loop. If a reading lasts, the file is
/// read once more after it, however often this is called. Without a thread `done` is called at
/// once: the file is refused.
void hc_sv_owner_file_reader_start(struct hc_sv_owner_file_reader *reader);

/// Closes the reader; nobody is told of a reading that lasts. NULL is allowed.
void hc_sv_owner_file_reader_close(struct hc_sv_owner_file_reader *reader);
