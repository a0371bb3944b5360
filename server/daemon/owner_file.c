/// Owns the reading of the owner's files.
#define _GNU_SOURCE // O_CLOEXEC

#include "server/daemon/owner_file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MODE_ALL = 0777,
    MODE_OTHERS = 07,
    MODE_GROUP = 070,
    MODE_GROUP_READ = 040,
    PIPE_MS = 10000, ///< longest wait for the writer of a pipe
};

/// Waits until the descriptor can be read, which a regular file can at once. False: it cannot.
static bool readable(int descriptor) {
    struct pollfd state = {.fd = descriptor, .events = POLLIN};
    int count;
    do
        count = poll(&state, 1, PIPE_MS);
    while (count < 0 && errno == EINTR);
    return count == 1;
}

/// Reads at most `size` bytes and returns their number; -1: failed.
static ssize_t read_up_to(int descriptor, char *text, size_t size) {
    size_t at = 0;
    bool waits = true; // a pipe without a writer would seem to be at its end
    while (at < size) {
        if (waits && !readable(descriptor))
            return -1;
        ssize_t count = read(descriptor, text + at, size - at);
        if (count == 0)
            break;
        if (count > 0)
            at += (size_t)count;
        else if (errno != EINTR && errno != EAGAIN)
            return -1;
        waits = count < 0;
    }
    return (ssize_t)at;
}

/// Reads the text and parses it. Returns NULL, or the fault; "": the parser has put it in `why`.
static const char *read_text(const struct hc_sv_owner_file_kind *kind, int descriptor,
                             struct hc_sv_owner_file *file, void *out, char *why, size_t why_size) {
    file->text = malloc(HC_SV_OWNER_FILE_MAX + 1);
    if (file->text == NULL)
        return "there is no memory to read it";
    ssize_t size = read_up_to(descriptor, file->text, HC_SV_OWNER_FILE_MAX + 1);
    const char *wrong = NULL;
    if (size < 0)
        wrong = "cannot be read";
    else if (size > HC_SV_OWNER_FILE_MAX)
        wrong = "is larger than 4 MiB";
    else if (memchr(file->text, 0, (size_t)size) != NULL)
        wrong = "is no text";
    else {
        file->text[size] = 0;
        wrong = kind->parse(file, out, why, why_size) ? NULL : "";
    }
    if (size > 0)
        sodium_memzero(file->text, (size_t)size);
    free(file->text);
    return wrong;
}

/// Why a file of this kind is not read, or NULL.
static const char *fault_of(const struct hc_sv_owner_file_kind *kind, const struct stat *status) {
    if (S_ISREG(status->st_mode))
        return NULL;
    return S_ISFIFO(status->st_mode) && kind->pipes ? NULL : "is no regular file";
}

/// Reads a file for the first time, or again.
static bool read_file(const struct hc_sv_owner_file_order *order, void *out, char *why,
                      size_t why_size) {
    const struct hc_sv_owner_file_kind *kind = order->kind;
    const char *path = order->path;
    struct hc_sv_owner_file file = {.path = path};
    struct stat status;
    const char *wrong = NULL;
    memset(out, 0, kind->size);
    if (order->again && kind->pipes && stat(path, &status) == 0 && S_ISFIFO(status.st_mode))
        return true;
    // Without O_NONBLOCK, opening a pipe would wait for a writer.
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0)
        wrong = strerror(errno);
    else if (fstat(descriptor, &status) != 0)
        wrong = strerror(errno);
    else
        wrong = fault_of(kind, &status);
    if (wrong == NULL) {
        file.owner = status.st_uid;
        file.mode = status.st_mode & MODE_ALL;
        wrong = read_text(kind, descriptor, &file, out, why, why_size);
    }
    if (wrong != NULL && wrong[0] != 0)
        snprintf(why, why_size, "%s '%s': %s", kind->option, path, wrong);
    if (descriptor >= 0)
        close(descriptor);
    if (wrong != NULL)
        sodium_memzero(out, kind->size);
    return wrong == NULL;
}

bool hc_sv_owner_file_read(const struct hc_sv_owner_file_kind *kind, const char *path, void *out,
                           char *why, size_t why_size) {
    struct hc_sv_owner_file_order order = {.kind = kind};
    snprintf(order.path, sizeof order.path, "%s", path);
    return read_file(&order, out, why, why_size);
}

bool hc_sv_owner_file_run(const void *order, void *out, char *why, size_t why_size) {
    return read_file(order, out, why, why_size);
}

const char *hc_sv_owner_file_locate(const char *name, char *path, size_t size) {
    const char *directory = getenv("CREDENTIALS_DIRECTORY");
    if (directory == NULL || strchr(name, '/') != NULL)
        return name;
    int length = snprintf(path, size, "%s/%s", directory, name);
    return length > 0 && (size_t)length < size && access(path, F_OK) == 0 ? path : name;
}

bool hc_sv_owner_file_is_private(const struct hc_sv_owner_file *file,
                                 const struct hc_sv_owner_file_kind *kind, char *why,
                                 size_t why_size) {
    if (file->owner != geteuid() && file->owner != 0) {
        snprintf(why, why_size, "%s '%s': belongs to user %u, and must be this user's",
                 kind->option, file->path, (unsigned)file->owner);
        return false;
    }
    bool group_may_read = file->owner == 0 && (file->mode & MODE_GROUP) == MODE_GROUP_READ;
    const char *who = (file->mode & MODE_OTHERS) != 0 ? "every user" : "its group";
    if ((file->mode & MODE_OTHERS) == 0 && ((file->mode & MODE_GROUP) == 0 || group_may_read))
        return true;
    snprintf(why, why_size,
             "%s '%s': %s may use it (mode %03o): chmod 600 it, or 640 if it is root's and the "
             "group is the server's alone, and replace its secrets if others could read it "
             "(SECURITY.md)",
             kind->option, file->path, who, (unsigned)file->mode);
    return false;
}
