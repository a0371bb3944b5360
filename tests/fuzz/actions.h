/// Fuzz actions: the input of a fuzz program as a list.
///
/// An action is a byte for its kind, a byte of length, and that many bytes; the last one may be
/// shorter. A fuzzer can insert, remove and change one and leave the meaning of the others.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Bytes to take values from; behind the end all are zero.
struct fuzz_source {
    const uint8_t *bytes;
    size_t left;
};

struct fuzz_action {
    uint8_t kind;
    struct fuzz_source source;
};

/// Takes the next action off `*input`; false at the end.
bool fuzz_action_next(struct fuzz_source *input, struct fuzz_action *action);

/// Takes the next byte.
uint8_t fuzz_take(struct fuzz_source *source);

/// Takes the next `size` bytes, at most 8, as a number, the lowest first.
uint64_t fuzz_take_number(struct fuzz_source *source, unsigned size);

/// Takes the next `size` bytes to `out`.
void fuzz_take_bytes(struct fuzz_source *source, void *out, size_t size);
