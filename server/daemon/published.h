/// A value that one thread writes now and then, and another reads at any time without making the
/// writer wait: a sequence lock, with atomic words as H.-J. Boehm describes it ("Can seqlocks get
/// along with programming language memory models?", 2012).
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct hc_sv_published {
    size_t count;           ///< words of the value
    atomic_size_t sequence; ///< odd while the value is written
    atomic_size_t *words;   ///< [count]
};

/// Opens a value of `size` bytes, a multiple of a pointer's, all zeros. False: no memory.
bool hc_sv_published_open(struct hc_sv_published *published, size_t size);

/// Frees it; one that is all zeros is allowed.
void hc_sv_published_close(struct hc_sv_published *published);

/// Writes the value. One thread at a time may write.
void hc_sv_published_write(struct hc_sv_published *published, const void *value);

/// Reads the value that was written last, and again if it was written meanwhile.
void hc_sv_published_read(const struct hc_sv_published *published, void *value);
