/// A kernel for LD_PRELOAD that grants a receive buffer of at most 208 KiB, or RMEM_MAX bytes, as a
/// stock one does to a process without CAP_NET_ADMIN.
#define _GNU_SOURCE

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

int setsockopt(int descriptor, int level, int option, const void *value, socklen_t size) {
    const char *set = getenv("RMEM_MAX");
    const int most = set != NULL ? atoi(set) : 212992;
    if (level == SOL_SOCKET && option == SO_RCVBUFFORCE) {
        errno = EPERM;
        return -1;
    }
    if (level == SOL_SOCKET && option == SO_RCVBUF && *(const int *)value > most)
        value = &most;
    return (int)syscall(SYS_setsockopt, descriptor, level, option, value, size);
}
