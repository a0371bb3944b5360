/// Owns the text of a key file, and replaces the file as a whole.
#define _GNU_SOURCE // O_CLOEXEC, asprintf, strsep

#include "server/daemon/key_file.h"

#include "common/decimal.h"
#include "common/programs/write_all.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    LINE_MAX_SIZE = 256,
    HEX_SIZE = 2 * HC_TOKEN_KEY_SIZE,
    MODE_KEPT = 0640, ///< permissions that a replaced file keeps
    MODE_OWN = 0600,
};

/// Parses one line; false: it is neither a key nor skipped.
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

static bool parse(const struct hc_sv_owner_file *file, void *out, char *why, size_t why_size) {
    struct hc_token_ring *ring = out;
    char *rest = file->text, *line;
    if (!hc_sv_owner_file_is_private(file, &hc_sv_key_file_kind, why, why_size))
        return false;
    for (unsigned number = 1; (line = strsep(&rest, "\n")) != NULL; number++)
        if (!read_line(line, ring)) {
            snprintf(why, why_size,
                     "--key-file '%s': line %u must be a number in [0, 255] and %d hexadecimal "
                     "digits, of at most two different keys",
                     file->path, number, HEX_SIZE);
            return false;
        }
    if (ring->count == 0)
        snprintf(why, why_size, "--key-file '%s': has no key", file->path);
    return ring->count > 0;
}

const struct hc_sv_owner_file_kind hc_sv_key_file_kind = {
    .option = "--key-file", .size = sizeof(struct hc_token_ring), .pipes = true, .parse = parse};

bool hc_sv_key_file_read(const char *path, struct hc_token_ring *ring, char *why, size_t why_size) {
    return hc_sv_owner_file_read(&hc_sv_key_file_kind, path, ring, why, why_size);
}

static bool write_ring(int descriptor, const struct hc_token_ring *ring) {
    static const char comment[] =
        "# Token keys of hindcastd, a line each: number and key.\n"
        "# The first key is used: tokens and tickets are issued with it.\n"
        "# The second key is only accepted. It is the next key if its number is the first one's + "
        "1\n"
        "# (0 after 255), and `hindcastd key --use` makes it the first; otherwise it is the former "
        "key.\n";
    char hex[HEX_SIZE + 1], line[LINE_MAX_SIZE];
    bool good = hc_write_all(descriptor, comment, sizeof(comment) - 1);
    for (uint32_t i = 0; good && i < ring->count; i++) {
        sodium_bin2hex(hex, sizeof(hex), ring->keys[i].key, sizeof(ring->keys[i].key));
        int size = snprintf(line, sizeof(line), "%u %s\n", ring->keys[i].id, hex);
        good = hc_write_all(descriptor, line, (size_t)size);
    }
    sodium_memzero(hex, sizeof(hex));
    sodium_memzero(line, sizeof(line));
    return good && fsync(descriptor) == 0;
}

/// Replaces `path` as a whole by a file that holds `ring`.
static bool replace(const char *path, const struct hc_token_ring *ring, char *why,
                    size_t why_size) {
    char *beside = NULL;
    int descriptor = -1;
    struct stat before;
    bool replaces = stat(path, &before) == 0;
    bool good = asprintf(&beside, "%s.new", path) > 0;
    if (!good)
        beside = NULL;
    else
        descriptor = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, MODE_OWN);
    good = descriptor >= 0;
    if (good && replaces) // a group that may read it still may
        good = fchown(descriptor, (uid_t)-1, before.st_gid) == 0 &&
               fchmod(descriptor, before.st_mode & MODE_KEPT) == 0;
    good = good && write_ring(descriptor, ring);
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
    return good;
}

bool hc_sv_key_file_publish(const char *path, struct hc_token_ring *ring, char *why,
                            size_t why_size) {
    uint8_t key[HC_TOKEN_KEY_SIZE];
    *ring = (struct hc_token_ring){.count = 0};
    if (access(path, F_OK) == 0 && !hc_sv_key_file_read(path, ring, why, why_size))
        return false;
    randombytes_buf(key, sizeof(key));
    bool good = hc_token_ring_publish(ring, key) == HC_OK;
    if (!good)
        snprintf(why, why_size,
                 "--key-file '%s': key %u is published already and not used yet: send SIGHUP to "
                 "every server, then run hindcastd key --use",
                 path, ring->keys[1].id);
    good = good && replace(path, ring, why, why_size);
    sodium_memzero(key, sizeof(key));
    if (!good)
        sodium_memzero(ring, sizeof(*ring));
    return good;
}

bool hc_sv_key_file_use(const char *path, struct hc_token_ring *ring, char *why, size_t why_size) {
    if (!hc_sv_key_file_read(path, ring, why, why_size))
        return false;
    bool good = hc_token_ring_use(ring) == HC_OK;
    if (!good && ring->count == 1)
        snprintf(why, why_size,
                 "--key-file '%s': has no second key: publish one first, with hindcastd key", path);
    else if (!good)
        snprintf(why, why_size,
                 "--key-file '%s': key %u is used already, and key %u is a former one: publish the "
                 "next key first, with hindcastd key",
                 path, ring->keys[0].id, ring->keys[1].id);
    good = good && replace(path, ring, why, why_size);
    if (!good)
        sodium_memzero(ring, sizeof(*ring));
    return good;
}

struct hc_token_ring hc_sv_key_file_random(void) {
    struct hc_token_ring ring = {.count = 1};
    randombytes_buf(ring.keys[0].key, sizeof(ring.keys[0].key));
    return ring;
}

void hc_sv_key_file_issue(const struct hc_token_key *key, uint64_t protocol_id,
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
