/// Owns the changes of the file of refused users.
#define _GNU_SOURCE // O_CLOEXEC, asprintf

#include "server/daemon/ban_file.h"

#include "common/decimal.h"
#include "common/programs/write_all.h"
#include "server/daemon/refused_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WORD_MAX = 24, MODE_ALL = 0777 };

/// Whether a line of `size` bytes, without its end, is that of the user.
static bool is_of(const char *line, size_t size, uint64_t client_id) {
    char word[WORD_MAX];
    uint64_t found;
    while (size > 0 && strchr(" \t\r", line[size - 1]) != NULL)
        size--;
    for (; size > 0 && strchr(" \t", *line) != NULL; size--)
        line++;
    if (size == 0 || size >= sizeof(word))
        return false;
    memcpy(word, line, size);
    word[size] = '\0';
    return hc_decimal_parse(word, 0, &found) == HC_OK && found == client_id;
}

/// Whether the order leaves the line in the file: its user is named by no ban.
static bool stays(const struct hc_sv_ban_order *order, const char *line, size_t size) {
    for (unsigned i = 0; i < order->count; i++)
        if (is_of(line, size, order->bans[i].client_id))
            return false;
    return true;
}

/// Whether ban `i` is the last one that names its user.
static bool is_last(const struct hc_sv_ban_order *order, unsigned i) {
    for (unsigned next = i + 1; next < order->count; next++)
        if (order->bans[next].client_id == order->bans[i].client_id)
            return false;
    return true;
}

/// Writes the changed text.
static void write_text(const struct hc_sv_ban_order *order, const char *text, FILE *out) {
    while (*text != '\0') {
        size_t size = strcspn(text, "\n");
        if (stays(order, text, size))
            fprintf(out, "%.*s\n", (int)size, text);
        text += size + (text[size] != '\0');
    }
    for (unsigned i = 0; i < order->count; i++)
        if (!order->bans[i].lifted && is_last(order, i))
            fprintf(out, "%" PRIu64 "\n", order->bans[i].client_id);
}

/// Whether a reading takes the text from a file with this owner and mode.
static bool check(const char *path, const char *text, const struct stat *found, char *why,
                  size_t why_size) {
    static const struct hc_sv_refused_file none;
    struct hc_sv_refused_file *refused = malloc(sizeof(*refused));
    const struct hc_sv_owner_file file = {.path = path,
                                          .text = strdup(text),
                                          .owner = found->st_uid,
                                          .mode = found->st_mode & MODE_ALL};
    snprintf(why, why_size, "--refused '%s': no memory to change it", path);
    bool good = refused != NULL && file.text != NULL;
    if (good) {
        *refused = none;
        good = hc_sv_refused_file_kind.parse(&file, refused, why, why_size);
    }
    free(refused);
    free(file.text);
    return good;
}

/// Reads a regular file as a text, which the caller frees. NULL: failed, see errno.
static char *read_whole(const char *path, struct stat *found) {
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "r") : NULL;
    char *text = NULL;
    size_t size = 0;
    if (file == NULL) {
        if (descriptor >= 0)
            close(descriptor);
        return NULL;
    }
    errno = EINVAL;
    bool good = fstat(descriptor, found) == 0 && S_ISREG(found->st_mode) &&
                found->st_size <= HC_SV_OWNER_FILE_MAX;
    if (good)
        text = calloc(1, (size_t)found->st_size + 1);
    if (text != NULL)
        size = fread(text, 1, (size_t)found->st_size, file);
    if (text != NULL && (ferror(file) || strlen(text) != size)) {
        free(text);
        text = NULL;
        errno = EIO;
    }
    fclose(file);
    return text;
}

/// Replaces `path` as a whole; false: failed, see errno.
static bool replace(const char *path, const char *text, mode_t mode) {
    char *beside = NULL;
    if (asprintf(&beside, "%s.new", path) < 0)
        return false;
    unlink(beside); // a change that ended with its process has left it
    int descriptor = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    bool good = descriptor >= 0 && hc_write_all(descriptor, text, strlen(text)) &&
                fchmod(descriptor, mode) == 0 && fsync(descriptor) == 0;
    good = good && rename(beside, path) == 0;
    int error = errno;
    if (descriptor >= 0)
        close(descriptor);
    if (!good && descriptor >= 0)
        unlink(beside);
    free(beside);
    errno = error;
    return good;
}

bool hc_sv_ban_file_change(const struct hc_sv_ban_order *order, char *why, size_t why_size) {
    struct stat found;
    char *text = read_whole(order->path, &found), *changed = NULL;
    size_t size;
    bool good = false;
    FILE *out = text != NULL ? open_memstream(&changed, &size) : NULL;
    if (out != NULL) {
        write_text(order, text, out);
        good = fclose(out) == 0;
    }
    if (!good) {
        snprintf(why, why_size, "--refused '%s': %s", order->path, strerror(errno));
    } else {
        good = check(order->path, changed, &found, why, why_size);
        if (good && !replace(order->path, changed, found.st_mode & MODE_ALL)) {
            snprintf(why, why_size, "--refused '%s': cannot be replaced: %s", order->path,
                     strerror(errno));
            good = false;
        }
    }
    free(text);
    free(changed);
    return good;
}

bool hc_sv_ban_file_run(const void *order, void *out, char *why, size_t why_size) {
    const struct hc_sv_ban_order *bans = order;
    *(unsigned *)out = bans->count;
    return hc_sv_ban_file_change(bans, why, why_size);
}
