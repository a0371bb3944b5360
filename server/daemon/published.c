/// Owns the copies of counts that threads leave for another thread.
#define _GNU_SOURCE // sched_yield

#include "server/daemon/published.h"

#include "hindcast/check.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

bool hc_sv_published_open(struct hc_sv_published *published, size_t size) {
    HC_ASSERT(size > 0 && size % sizeof(size_t) == 0);
    published->count = size / sizeof(size_t);
    published->words = calloc(published->count, sizeof(*published->words));
    return published->words != NULL;
}

void hc_sv_published_close(struct hc_sv_published *published) {
    free(published->words);
    published->words = NULL;
}

void hc_sv_published_write(struct hc_sv_published *published, const void *value) {
    const unsigned char *bytes = value;
    size_t sequence = atomic_load_explicit(&published->sequence, memory_order_relaxed);
    atomic_store_explicit(&published->sequence, sequence + 1, memory_order_relaxed);
    for (size_t i = 0; i < published->count; i++) {
        size_t word;
        memcpy(&word, bytes + i * sizeof(word), sizeof(word));
        // Whoever reads the word sees the odd number too.
        atomic_store_explicit(&published->words[i], word, memory_order_release);
    }
    atomic_store_explicit(&published->sequence, sequence + 2, memory_order_release);
}

void hc_sv_published_read(const struct hc_sv_published *published, void *value) {
    unsigned char *bytes = value;
    for (;;) {
        size_t before = atomic_load_explicit(&published->sequence, memory_order_acquire);
        for (size_t i = 0; i < published->count; i++) {
            // The number is read after the words.
            size_t word = atomic_load_explicit(&published->words[i], memory_order_acquire);
            memcpy(bytes + i * sizeof(word), &word, sizeof(word));
        }
        size_t after = atomic_load_explicit(&published->sequence, memory_order_relaxed);
        if (before == after && before % 2 == 0)
            return;
        sched_yield(); // the writer may wait for this processor
    }
}
