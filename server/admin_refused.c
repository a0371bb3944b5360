#define _GNU_SOURCE // O_CLOEXEC

#include "server/admin_refused.h"

#include "common/decimal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    LINE_MAX_SIZE = 256,
    MODE_OTHERS_WRITE = 022,
};

/// One line; false: it is none.
static bool read_line(char *line, struct hc_sv_refused *refused) {
    static const char blanks[] = " \t\r\n";
    char *rest = NULL;
    char *word = strtok_r(line, blanks, &rest), *second = strtok_r(NULL, blanks, &rest);
    if (word == NULL || word[0] == '#')
        return true;
    if (strcmp(word, "not-before") == 0)
        return refused->not_before_s == 0 && second != NULL &&
               strtok_r(NULL, blanks, &rest) == NULL &&
               hc_decimal_parse(second, 0, &refused->not_before_s) == HC_OK;
    return second == NULL && refused->count < HC_SV_REFUSED_MAX &&
           hc_decimal_parse(word, 0, &refused->client_ids[refused->count++]) == HC_OK;
}

static int compare(const void *a, const void *b) {
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

static bool read_lines(FILE *file, const char *path, struct hc_sv_refused *refused, char *why,
                       size_t why_size) {
    char line[LINE_MAX_SIZE];
    bool good = true;
    for (unsigned number = 1; good && fgets(line, sizeof(line), file) != NULL; number++) {
        good = read_line(line, refused);
        if (!good)
            snprintf(why, why_size,
                     "--refused '%s': line %u must be one of at most %d client_ids, or the only "
                     "`not-before UNIX_TIME`",
                     path, number, HC_SV_REFUSED_MAX);
    }
    if (good && ferror(file)) {
        snprintf(why, why_size, "--refused '%s': cannot be read", path);
        good = false;
    }
    return good;
}

/// Whether no other user can have changed the file.
static bool is_ours(int descriptor, const char *path, char *why, size_t why_size) {
    struct stat status;
    if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
        snprintf(why, why_size, "--refused '%s': is no regular file", path);
        return false;
    }
    if ((status.st_mode & MODE_OTHERS_WRITE) != 0) {
        snprintf(why, why_size, "--refused '%s': others may write to it (mode %03o): chmod go-w it",
                 path, (unsigned)status.st_mode & 0777U);
        return false;
    }
    return true;
}

bool hc_sv_admin_refused_read(const char *path, struct hc_sv_refused *refused, char *why,
                              size_t why_size) {
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "r");
    refused->count = 0;
    refused->not_before_s = 0;
    if (file == NULL) {
        snprintf(why, why_size, "--refused '%s': %s", path, strerror(errno));
        if (descriptor >= 0)
            close(descriptor);
        return false;
    }
    bool good =
        is_ours(descriptor, path, why, why_size) && read_lines(file, path, refused, why, why_size);
    fclose(file);
    qsort(refused->client_ids, refused->count, sizeof(refused->client_ids[0]), compare);
    return good;
}
