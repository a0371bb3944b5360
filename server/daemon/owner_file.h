/// Reads a small text file of the server's owner: at once, or in a thread beside the event loop, so
/// that a hanging file system stops no tick.
///
/// Calls belong in this order, all in the loop's thread, where the callback runs too:
///     1. hc_sv_owner_file_reader_open
///     2. any number of hc_sv_owner_file_reader_start
///     3. hc_sv_owner_file_reader_close
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct event_base;
struct hc_sv_owner_file_reader;

enum { HC_SV_OWNER_FILE_MAX = 1 << 22 }; ///< bytes

/// A regular file that was read.
struct hc_sv_owner_file {
    const char *path;
    char *text; ///< holds no 0 before its terminator; writable; erased after the parse
    uid_t owner;
    mode_t mode; ///< permission bits only
};

/// Parses the file into the zeroed `out`. False: the file cannot be used, and `why` is a sentence.
/// May be called in any thread.
typedef bool hc_sv_owner_file_parse(const struct hc_sv_owner_file *file, void *out, char *why,
                                    size_t why_size);

/// A kind of file and its parser.
struct hc_sv_owner_file_kind {
    const char *option; ///< of the command line, for messages
    size_t size;        ///< bytes of the parsed value
    hc_sv_owner_file_parse *parse;
};

/// The state of a reading.
enum hc_sv_owner_file_status {
    HC_SV_OWNER_FILE_READ,    ///< the file was read and parsed
    HC_SV_OWNER_FILE_REFUSED, ///< the file cannot be used, and `why` is a sentence
    HC_SV_OWNER_FILE_SLOW,    ///< the reading takes long; one of the others follows
};

/// Reports the state of a reading. `out` is borrowed for the call, and NULL unless the file was
/// read; `why` is NULL unless it is refused.
typedef void hc_sv_owner_file_done(void *context, enum hc_sv_owner_file_status status,
                                   const void *out, const char *why);

/// Reads `path` now and parses it into `out`, which has `kind->size` bytes. False: the file cannot
/// be used, `why` is a sentence, and `out` is zeroed.
bool hc_sv_owner_file_read(const struct hc_sv_owner_file_kind *kind, const char *path, void *out,
                           char *why, size_t why_size);

/// Opens a reader of the file at `path`. It borrows `path`, and `kind` for ever. A reading that
/// takes longer than `slow_ms` is slow. NULL: no memory or no descriptors.
struct hc_sv_owner_file_reader *
hc_sv_owner_file_reader_open(struct event_base *base, const struct hc_sv_owner_file_kind *kind,
                             const char *path, unsigned slow_ms, hc_sv_owner_file_done *done,
                             void *context);

/// Reads the file, and calls `done` in a later turn of the loop. Calls during a reading cause
/// together one more reading after it. If no thread can be started, the file is refused at once.
void hc_sv_owner_file_reader_start(struct hc_sv_owner_file_reader *reader);

/// Closes the reader; `done` is not called for an unfinished reading. NULL is allowed.
void hc_sv_owner_file_reader_close(struct hc_sv_owner_file_reader *reader);
