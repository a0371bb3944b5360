/// Owns the loading of shared libraries, from their files or from copies.
#define _GNU_SOURCE // memfd_create

#include "common/programs/library.h"

#include "common/programs/write_all.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PATH_MAX_BYTES = 4096, CHUNK = 65536 };

/// Copies all that is left of a file; false: failed, with errno.
static bool copy_all(int from, int to) {
    char bytes[CHUNK];
    ssize_t got;
    while ((got = read(from, bytes, sizeof(bytes))) > 0)
        if (!hc_write_all(to, bytes, (size_t)got))
            return false;
    return got == 0;
}

/// Copies a file into memory, under its own name; -1: failed, with errno.
static int copy_file(const char *path) {
    const char *slash = strrchr(path, '/');
    int from = open(path, O_RDONLY | O_CLOEXEC);
    if (from < 0)
        return -1;
    int to = memfd_create(slash != NULL ? slash + 1 : path, MFD_CLOEXEC);
    bool good = to >= 0 && copy_all(from, to);
    int cause = errno;
    close(from);
    if (to >= 0 && !good)
        close(to);
    errno = cause;
    return good ? to : -1;
}

bool hc_library_open(struct hc_library *library, const char *path, bool anew, char *why,
                     size_t why_size) {
    char place[PATH_MAX_BYTES];
    *library = (struct hc_library){.handle = NULL};
    // Without a slash the system would search its own directories for the file.
    int length =
        snprintf(place, sizeof(place), "%s%s", strchr(path, '/') == NULL ? "./" : "", path);
    if (length < 0 || (size_t)length >= sizeof(place)) {
        snprintf(why, why_size, "the path is too long");
        return false;
    }
    if (anew) {
        int file = copy_file(place);
        if (file < 0) {
            snprintf(why, why_size, "%s", strerror(errno));
            return false;
        }
        library->file = file;
        // A debugger opens it by this path too.
        snprintf(place, sizeof(place), "/proc/%ld/fd/%d", (long)getpid(), file);
    }
    library->handle = dlopen(place, RTLD_NOW | RTLD_LOCAL);
    if (library->handle != NULL)
        return true;
    snprintf(why, why_size, "%s", dlerror());
    hc_library_close(library);
    return false;
}

const void *hc_library_find(const struct hc_library *library, const char *name) {
    return dlsym(library->handle, name);
}

void hc_library_close(struct hc_library *library) {
    if (library->handle != NULL)
        dlclose(library->handle);
    if (library->file > 0)
        close(library->file);
    *library = (struct hc_library){.handle = NULL};
}
