/// Owns the numbers and the ends of the standard files.
#define _GNU_SOURCE

#include "common/programs/standard.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

void hc_standard_open(void) {
    for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; descriptor++)
        if (fcntl(descriptor, F_GETFD) == -1 && errno == EBADF)
            (void)open("/dev/null", O_RDWR); // takes the least free number: this one
}

bool hc_standard_flush(FILE *out, const char *program) {
    errno = 0;
    bool failed = ferror(out) != 0;
    if (fflush(out) == 0 && !failed)
        return true;
    fprintf(stderr, "%s: standard output cannot be written: %s\n", program,
            strerror(errno != 0 ? errno : EIO));
    return false;
}
