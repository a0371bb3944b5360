/// The output of the log: writes texts to a descriptor without ever waiting for its reader.
///
/// Texts enter a buffer of fixed size, whole or not at all, and leave it as the descriptor takes
/// them. After the first text without room all others are dropped until the buffer is empty, so
/// that the gap is in one place, where the log can count it.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HC_SV_LOG_BUFFER = 1 << 16 }; ///< bytes

struct hc_sv_log_output {
    int descriptor;
    bool owned;       ///< opened here, non-blocking
    bool sends;       ///< the descriptor is a socket
    bool begun;       ///< the bytes so far end within a line
    size_t buffered;  ///< bytes
    uint64_t dropped; ///< texts since hc_sv_log_output_take_dropped
    char bytes[HC_SV_LOG_BUFFER];
};

/// Opens an output to `descriptor`. The caller still owns it, and its flags do not change, because
/// other processes may share it.
void hc_sv_log_output_open(struct hc_sv_log_output *output, int descriptor);

/// Writes to another descriptor from now on, beginning with the lines that are buffered. The rest
/// of a line that was written in part is dropped, and the line counted.
void hc_sv_log_output_redirect(struct hc_sv_log_output *output, int descriptor);

/// Buffers `size` bytes and writes as many as the descriptor takes; false: the text is dropped and
/// counted.
bool hc_sv_log_output_put(struct hc_sv_log_output *output, const char *text, size_t size);

/// Writes as many bytes as the descriptor takes. True: the buffer is empty.
bool hc_sv_log_output_flush(struct hc_sv_log_output *output);

/// The number of dropped texts, once the buffer is empty, and 0 before. Resets the count.
uint64_t hc_sv_log_output_take_dropped(struct hc_sv_log_output *output);

/// Writes the buffer as the reader makes room, for at most `wait_ms`.
void hc_sv_log_output_wait(struct hc_sv_log_output *output, unsigned wait_ms);

/// Closes the output; buffered bytes are lost.
void hc_sv_log_output_close(struct hc_sv_log_output *output);
