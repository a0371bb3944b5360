/// Owns the text of the file of refused users.
#define _GNU_SOURCE // strsep

#include "server/daemon/refused_file.h"

#include "common/decimal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MODE_OTHERS_WRITE = 022 };

/// Parses one line; false: it is malformed.
static bool read_line(char *line, struct hc_sv_refused_file *refused) {
    static const char blanks[] = " \t\r\n";
    char *rest = NULL;
    char *word = strtok_r(line, blanks, &rest), *second = strtok_r(NULL, blanks, &rest);
    if (word == NULL || word[0] == '#')
        return true;
    if (strcmp(word, "not-before") == 0)
        return refused->not_before_s == 0 && second != NULL &&
               strtok_r(NULL, blanks, &rest) == NULL &&
               hc_decimal_parse(second, 0, &refused->not_before_s) == HC_OK;
    return second == NULL && refused->count < HC_SERVER_REFUSED_MAX &&
           hc_decimal_parse(word, 0, &refused->client_ids[refused->count++]) == HC_OK;
}

static int compare(const void *a, const void *b) {
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

static bool parse(const struct hc_sv_owner_file *file, void *out, char *why, size_t why_size) {
    struct hc_sv_refused_file *refused = out;
    char *rest = file->text, *line;
    if ((file->mode & MODE_OTHERS_WRITE) != 0) {
        snprintf(why, why_size, "--refused '%s': others may write to it (mode %03o): chmod go-w it",
                 file->path, (unsigned)file->mode);
        return false;
    }
    for (unsigned number = 1; (line = strsep(&rest, "\n")) != NULL; number++)
        if (!read_line(line, refused)) {
            snprintf(why, why_size,
                     "--refused '%s': line %u must be one of at most %d client_ids, or the only "
                     "`not-before UNIX_TIME`",
                     file->path, number, HC_SERVER_REFUSED_MAX);
            return false;
        }
    qsort(refused->client_ids, refused->count, sizeof(refused->client_ids[0]), compare);
    return true;
}

const struct hc_sv_owner_file_kind hc_sv_refused_file_kind = {
    .option = "--refused", .size = sizeof(struct hc_sv_refused_file), .parse = parse};
