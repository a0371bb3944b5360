/// Reads a small text file of the server's owner: at once, or in the background, so that a hanging
/// file system stops no other event.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum {
    HC_SV_OWNER_FILE_MAX = 1 << 22,   ///< bytes
    HC_SV_OWNER_FILE_PATH_MAX = 4096, ///< bytes of a path with its terminator
};

/// A file that was read.
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
    bool pipes;         ///< a pipe may be read too, once
    hc_sv_owner_file_parse *parse;
};

/// The place of a secret file that an option names: a name without a slash is first looked for in
/// $CREDENTIALS_DIRECTORY, where service managers put secrets. Returns `name`, or `path` with it.
const char *hc_sv_owner_file_locate(const char *name, char *path, size_t size);

/// Reads `path` now and parses it into `out`, which has `kind->size` bytes. False: the file cannot
/// be used, `why` is a sentence, and `out` is zeroed. Waits at most 10 s for the writer of a pipe.
bool hc_sv_owner_file_read(const struct hc_sv_owner_file_kind *kind, const char *path, void *out,
                           char *why, size_t why_size);

/// An order to read a file in the background (server/daemon/background.h).
struct hc_sv_owner_file_order {
    const struct hc_sv_owner_file_kind *kind; ///< borrowed for ever
    bool again; ///< the file was read before; the result is all zeros if it is a pipe
    char path[HC_SV_OWNER_FILE_PATH_MAX];
};

/// A hc_sv_background_run whose order is a struct hc_sv_owner_file_order, and whose result has
/// `kind->size` bytes.
bool hc_sv_owner_file_run(const void *order, void *out, char *why, size_t why_size);

/// Whether no other user can read or change the file, which holds a secret. root may let a group
/// read its file: so a container platform gives a secret to a server, and a service manager a
/// credential, whose permissions for one user look like a group's. False: `why` is a sentence.
bool hc_sv_owner_file_is_private(const struct hc_sv_owner_file *file,
                                 const struct hc_sv_owner_file_kind *kind, char *why,
                                 size_t why_size);
