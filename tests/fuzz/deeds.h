/// The input of a fuzz program as a list of deeds, and the choices inside one.
///
/// A deed is a byte that says which, a byte of length, and that many bytes; the last one may be cut
/// short. So a fuzzer can put in, take out and change one without moving what the others mean.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Bytes that choices are taken from; behind the end all of them are zero.
struct fuzz_choices {
    const uint8_t *bytes;
    size_t left;
};

struct fuzz_deed {
    uint8_t which;
    struct fuzz_choices selections;
};

/// Takes the next deed off `*input`; false at its end.
bool fuzz_deed_next(struct fuzz_choices *input, struct fuzz_deed *deed);

/// The next byte.
uint8_t fuzz_choose(struct fuzz_choices *selections);

/// The next `size` bytes, at most 8, as a number, the lowest first.
uint64_t fuzz_choose_number(struct fuzz_choices *selections, unsigned size);

/// Copies the next `size` bytes to `out`.
void fuzz_choose_bytes(struct fuzz_choices *selections, void *out, size_t size);
