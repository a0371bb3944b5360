/// A hanging file system for LD_PRELOAD: opening PATH waits while a file PATH.hangs exists.
#define _GNU_SOURCE

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PATH_SIZE = 4096, AGAIN_US = 5000 };

static int open_late(const char *path, int flags, va_list arguments) {
    char hangs[PATH_SIZE];
    mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
    snprintf(hangs, sizeof hangs, "%s.hangs", path);
    while (access(hangs, F_OK) == 0)
        usleep(AGAIN_US);
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

// The names of `open` of programs with files of 64 bits, and in headers that check its arguments.
#define OPENS(name)                                                                                \
    int name(const char *path, int flags, ...) {                                                   \
        va_list arguments;                                                                         \
        va_start(arguments, flags);                                                                \
        int descriptor = open_late(path, flags, arguments);                                        \
        va_end(arguments);                                                                         \
        return descriptor;                                                                         \
    }
OPENS(open)
OPENS(open64)

int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);

int __open_2(const char *path, int flags) {
    return open(path, flags);
}

int __open64_2(const char *path, int flags) {
    return open(path, flags);
}
