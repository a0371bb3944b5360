/// The way out of the log: a descriptor that is written to without ever waiting for its reader.
///
/// Texts enter a buffer of fixed size, whole or not at all, and leave it as far as the descriptor
/// takes them at once. From a text that finds no room on all others are dropped too, until all that
/// waits has left: so the gap is in one place, and is named there.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HC_SV_LOG_BUFFER = 1 << 16 }; ///< bytes that wait for a slow reader

struct hc_sv_log_output {
    int descriptor;
    bool owned;       ///< it was opened here, and does not wait
    bool sends;       ///< it is a socket
    size_t waiting;   ///< bytes of the buffer
    uint64_t dropped; ///< texts since the last one that was taken
    char bytes[HC_SV_LOG_BUFFER];
};

/// Begins to write to `descriptor`, which stays the caller's, as do its flags: others may share it.
void hc_sv_log_output_open(struct hc_sv_log_output *output, int descriptor);

/// Takes `size` bytes, and writes what can be written at once; false: they are dropped and counted.
bool hc_sv_log_output_put(struct hc_sv_log_output *output, const char *text, size_t size);

/// Writes what can be written at once. True: nothing waits any more.
bool hc_sv_log_output_flush(struct hc_sv_log_output *output);

/// How many texts were dropped, once others are taken again; else 0. They are counted anew.
uint64_t hc_sv_log_output_take_dropped(struct hc_sv_log_output *output);

/// Writes what waits, as the reader makes room, for at most `wait_ms`.
void hc_sv_log_output_wait(struct hc_sv_log_output *output, unsigned wait_ms);

/// Lets go of the descriptor; what still waits is lost.
void hc_sv_log_output_close(struct hc_sv_log_output *output);
