/// Owns the loop over short writes.
#include "common/programs/write_all.h"

#include <errno.h>
#include <unistd.h>

bool hc_write_all(int descriptor, const void *bytes, size_t size) {
    const char *at = bytes;
    while (size > 0) {
        ssize_t count = write(descriptor, at, size);
        if (count > 0) {
            at += count;
            size -= (size_t)count;
        } else if (count == 0 || errno != EINTR) {
            errno = count == 0 ? ENOSPC : errno;
            return false;
        }
    }
    return true;
}
