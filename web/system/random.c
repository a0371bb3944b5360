/// Owns random numbers of a build to WebAssembly, by WASI's random_get.
#include "web/system/sodium.h"

#include "hindcast/check.h"

#include <wasi/api.h>

void randombytes_buf(void *bytes, size_t size) {
    int failed = __wasi_random_get(bytes, size);
    HC_ASSERT(!failed);
}
