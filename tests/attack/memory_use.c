/// Wrappers of the C library's allocation functions.
#include "tests/attack/memory_use.h"

#include <stddef.h>

static uint64_t asked;

uint64_t memory_asked(void) {
    return asked;
}

// The linker turns calls of `f` into calls of `__wrap_f`, and `__real_f` into the library's `f`.
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);

void *__wrap_malloc(size_t size) {
    asked += size;
    return __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size) {
    asked += count * size;
    return __real_calloc(count, size);
}

void *__wrap_realloc(void *block, size_t size) {
    asked += size;
    return __real_realloc(block, size);
}
