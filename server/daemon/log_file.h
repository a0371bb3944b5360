/// The file of --log-file. A thread writes it, because a file system may hang: the log gives the
/// thread its lines through a pipe, which never waits (server/daemon/log_output.h).
///
/// Another program may rename the file at any time; hc_sv_log_file_reopen then makes a new one.
/// Only whole lines go into a file. When the disk is full the lines wait in the pipe, and what does
/// not fit is dropped and counted by the log.
#pragma once

#include "server/daemon/log.h"

struct hc_sv_log_file;

/// Starts the thread and waits until it has opened the file at `path`, which is appended to. NULL:
/// it cannot be, or does not open for 3 s, and `why` is a sentence.
struct hc_sv_log_file *hc_sv_log_file_open(const char *path, char *why, size_t why_size);

/// Starts the thread, which opens the file at `path` for `log` as after hc_sv_log_file_reopen, so
/// that a hanging file system delays no caller. Without the file the lines go to standard error.
/// NULL: no memory, no descriptors or no thread.
struct hc_sv_log_file *hc_sv_log_file_start(struct hc_sv_log *log, const char *path);

/// The descriptor to which the log writes.
int hc_sv_log_file_descriptor(const struct hc_sv_log_file *file);

/// Lets the thread open the file at `path`, which may be another one, in place of the one before.
/// `log`, which is that of the file, has a line `log-reopened`, or `log-file-refused` and the file
/// before.
void hc_sv_log_file_reopen(struct hc_sv_log_file *file, struct hc_sv_log *log, const char *path);

/// Closes it after the log has finished. Waits at most `wait_ms` for what is not written yet; a
/// thread that hangs for longer keeps its memory. NULL is allowed.
void hc_sv_log_file_close(struct hc_sv_log_file *file, unsigned wait_ms);
