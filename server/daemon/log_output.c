/// Owns the log's buffer and its non-blocking writes.
#define _GNU_SOURCE // O_CLOEXEC, MSG_DONTWAIT

#include "server/daemon/log_output.h"

#include "common/elapsed.h"
#include "common/programs/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/// Opens the same pipe or terminal again, non-blocking; -1: failed. O_NONBLOCK on the given
/// descriptor would change it for all processes that share it.
static int open_again(int descriptor) {
    char path[32];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", descriptor);
    return open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

/// Makes `descriptor` that of the output.
static void use(struct hc_sv_log_output *output, int descriptor) {
    struct stat kind = {0};
    output->descriptor = descriptor;
    output->owned = output->sends = false;
    if (fstat(descriptor, &kind) != 0)
        return;
    output->sends = S_ISSOCK(kind.st_mode);
    if (!S_ISFIFO(kind.st_mode) && !isatty(descriptor))
        return;
    int again = open_again(descriptor);
    output->owned = again >= 0;
    if (output->owned)
        output->descriptor = again;
}

void hc_sv_log_output_open(struct hc_sv_log_output *output, int descriptor) {
    output->buffered = 0;
    output->begun = false;
    output->dropped = 0;
    use(output, descriptor);
}

/// Waits at most `wait_ms` until the descriptor takes bytes; false: it does not.
static bool writable(const struct hc_sv_log_output *output, int wait_ms) {
    struct pollfd state = {.fd = output->descriptor, .events = POLLOUT};
    return poll(&state, 1, wait_ms) == 1 && (state.revents & POLLOUT) != 0;
}

/// Writes at most `size` bytes and returns their number.
static size_t write_some(const struct hc_sv_log_output *output, size_t size) {
    ssize_t written;
    if (output->sends) {
        written = send(output->descriptor, output->bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    } else {
        // A writable pipe takes PIPE_BUF bytes without waiting.
        if (!output->owned && !writable(output, 0))
            return 0;
        written = write(output->descriptor, output->bytes, size < PIPE_BUF ? size : PIPE_BUF);
    }
    return written > 0 ? (size_t)written : 0;
}

bool hc_sv_log_output_flush(struct hc_sv_log_output *output) {
    while (output->buffered > 0) {
        size_t written = write_some(output, output->buffered);
        if (written == 0)
            return false;
        output->begun = output->bytes[written - 1] != '\n';
        output->buffered -= written;
        memmove(output->bytes, output->bytes + written, output->buffered);
    }
    return true;
}

bool hc_sv_log_output_put(struct hc_sv_log_output *output, const char *text, size_t size) {
    bool empty = hc_sv_log_output_flush(output);
    if ((output->dropped > 0 && !empty) || size > sizeof(output->bytes) - output->buffered) {
        output->dropped++;
        return false;
    }
    memcpy(output->bytes + output->buffered, text, size);
    output->buffered += size;
    hc_sv_log_output_flush(output);
    return true;
}

uint64_t hc_sv_log_output_take_dropped(struct hc_sv_log_output *output) {
    uint64_t dropped = output->dropped;
    if (dropped == 0 || !hc_sv_log_output_flush(output))
        return 0;
    output->dropped = 0;
    return dropped;
}

static uint64_t now_ms(void) {
    return hc_clock_us() / 1000;
}

void hc_sv_log_output_wait(struct hc_sv_log_output *output, unsigned wait_ms) {
    uint64_t end_ms = now_ms() + wait_ms, left_ms;
    while (!hc_sv_log_output_flush(output) && (left_ms = hc_since(now_ms(), end_ms)) > 0)
        if (!writable(output, (int)left_ms))
            break;
}

/// Drops the rest of a line that was written in part.
static void drop_line(struct hc_sv_log_output *output) {
    const char *end = memchr(output->bytes, '\n', output->buffered);
    size_t size = end != NULL ? (size_t)(end - output->bytes) + 1 : output->buffered;
    output->buffered -= size;
    memmove(output->bytes, output->bytes + size, output->buffered);
    output->begun = false;
    output->dropped++;
}

void hc_sv_log_output_redirect(struct hc_sv_log_output *output, int descriptor) {
    hc_sv_log_output_flush(output);
    if (output->begun)
        drop_line(output);
    hc_sv_log_output_close(output);
    use(output, descriptor);
    hc_sv_log_output_flush(output);
}

void hc_sv_log_output_close(struct hc_sv_log_output *output) {
    if (output->owned)
        close(output->descriptor);
    output->owned = false;
}
