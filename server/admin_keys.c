#define _GNU_SOURCE // O_CLOEXEC, asprintf

#include "server/admin_keys.h"

#include "common/decimal.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    LINE_MAX_SIZE = 256,
    HEX_SIZE = 2 * HC_TOKEN_KEY_SIZE,
    MODE_OTHERS = 077,
    MODE_OWN = 0600,
};

/// One line; false: it is none, and not to be passed over.
static bool read_line(char *line, struct hc_token_ring *ring) {
    static const char blanks[] = " \t\r\n";
    char *rest = NULL;
    char *id_text = strtok_r(line, blanks, &rest), *key_text = strtok_r(NULL, blanks, &rest);
    uint64_t id;
    size_t size;
    if (id_text == NULL || id_text[0] == '#')
        return true;
    if (ring->count == 2 || hc_decimal_parse(id_text, 0, &id) != HC_OK || id > UINT8_MAX ||
        key_text == NULL || strlen(key_text) != HEX_SIZE || strtok_r(NULL, blanks, &rest) != NULL)
        return false;
    struct hc_token_key *key = &ring->keys[ring->count++];
    key->id = (uint8_t)id;
    bool known = ring->count == 2 && ring->keys[0].id == key->id;
    return sodium_hex2bin(key->key, sizeof(key->key), key_text, HEX_SIZE, NULL, &size, NULL) == 0 &&
           size == sizeof(key->key) && !known;
}

/// Whether nobody else can have read the file or changed it.
static bool is_private(int descriptor, const char *path, char *why, size_t why_size) {
    struct stat status;
    if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
        snprintf(why, why_size, "--key-file '%s': is no regular file", path);
        return false;
    }
    if (status.st_uid != geteuid() && status.st_uid != 0) {
        snprintf(why, why_size, "--key-file '%s': belongs to user %u, and must be this user's",
                 path, (unsigned)status.st_uid);
        return false;
    }
    if ((status.st_mode & MODE_OTHERS) != 0) {
        snprintf(why, why_size,
                 "--key-file '%s': others may use it (mode %03o): chmod 600 it, and if they could "
                 "read it rotate the key",
                 path, (unsigned)status.st_mode & 0777U);
        return false;
    }
    return true;
}

static bool read_lines(FILE *file, const char *path, struct hc_token_ring *ring, char *why,
                       size_t why_size) {
    char line[LINE_MAX_SIZE];
    bool good = true;
    for (unsigned number = 1; good && fgets(line, sizeof(line), file) != NULL; number++) {
        good = read_line(line, ring);
        if (!good)
            snprintf(why, why_size,
                     "--key-file '%s': line %u must be a number in [0, 255] and %d hexadecimal "
                     "digits, of at most two different keys",
                     path, number, HEX_SIZE);
    }
    sodium_memzero(line, sizeof(line));
    if (good && ring->count == 0)
        snprintf(why, why_size, "--key-file '%s': has no key", path);
    return good && ring->count > 0;
}

bool hc_sv_admin_keys_read(const char *path, struct hc_token_ring *ring, char *why,
                           size_t why_size) {
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "r");
    *ring = (struct hc_token_ring){.count = 0};
    if (file == NULL) {
        snprintf(why, why_size, "--key-file '%s': %s", path, strerror(errno));
        if (descriptor >= 0)
            close(descriptor);
        return false;
    }
    bool good =
        is_private(descriptor, path, why, why_size) && read_lines(file, path, ring, why, why_size);
    fclose(file);
    if (!good)
        sodium_memzero(ring, sizeof(*ring));
    return good;
}

struct hc_token_ring hc_sv_admin_keys_random(void) {
    struct hc_token_ring ring = {.count = 1};
    randombytes_buf(ring.keys[0].key, sizeof(ring.keys[0].key));
    return ring;
}

static bool write_ring(int descriptor, const struct hc_token_ring *ring) {
    static const char comment[] = "# Token keys of hindcastd: the current one, then the previous\n";
    char hex[HEX_SIZE + 1], line[LINE_MAX_SIZE];
    bool good = write(descriptor, comment, sizeof(comment) - 1) == (ssize_t)sizeof(comment) - 1;
    for (uint32_t i = 0; good && i < ring->count; i++) {
        sodium_bin2hex(hex, sizeof(hex), ring->keys[i].key, sizeof(ring->keys[i].key));
        int size = snprintf(line, sizeof(line), "%u %s\n", ring->keys[i].id, hex);
        good = write(descriptor, line, (size_t)size) == size;
    }
    sodium_memzero(hex, sizeof(hex));
    sodium_memzero(line, sizeof(line));
    return good && fsync(descriptor) == 0;
}

bool hc_sv_admin_keys_rotate(const char *path, char *why, size_t why_size) {
    struct hc_token_ring ring = {.count = 0}, fresh = hc_sv_admin_keys_random();
    char *beside = NULL;
    if (access(path, F_OK) == 0) {
        if (!hc_sv_admin_keys_read(path, &ring, why, why_size))
            return false;
        fresh.keys[0].id = (uint8_t)(ring.keys[0].id + 1);
    }
    enum hc_status status = hc_token_ring_rotate(&ring, &fresh.keys[0]);
    int descriptor = -1;
    bool good = status == HC_OK && asprintf(&beside, "%s.new", path) > 0;
    if (good)
        descriptor = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, MODE_OWN);
    good = descriptor >= 0 && write_ring(descriptor, &ring);
    if (descriptor >= 0)
        good = close(descriptor) == 0 && good;
    good = good && rename(beside, path) == 0;
    if (!good) {
        snprintf(why, why_size, "--key-file '%s': cannot be written by way of '%s': %s", path,
                 beside != NULL ? beside : "", strerror(errno));
        if (descriptor >= 0)
            unlink(beside);
    }
    free(beside);
    sodium_memzero(&ring, sizeof(ring));
    sodium_memzero(&fresh, sizeof(fresh));
    return good;
}

void hc_sv_admin_keys_issue(const struct hc_token_key *key, uint64_t protocol_id,
                            const struct hc_token *token,
                            char text[static HC_CREDENTIAL_TEXT_SIZE + 1]) {
    struct hc_token issued = *token;
    struct hc_credential credential;
    uint8_t nonce[HC_TOKEN_NONCE_SIZE];
    randombytes_buf(issued.token_id, sizeof(issued.token_id));
    randombytes_buf(issued.secret, sizeof(issued.secret));
    randombytes_buf(nonce, sizeof(nonce));
    hc_token_seal(key, protocol_id, &issued, nonce, credential.token);
    memcpy(credential.secret, issued.secret, sizeof(credential.secret));
    hc_token_write_credential(&credential, text);
    sodium_memzero(&issued, sizeof(issued));
    sodium_memzero(&credential, sizeof(credential));
}

uint64_t hc_sv_admin_keys_now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}
