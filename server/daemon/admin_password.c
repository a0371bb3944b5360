/// Owns the file of the admin face's password.
#define _GNU_SOURCE // strncasecmp

#include "server/daemon/admin_password.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static hc_sv_owner_file_parse parse;

static const struct hc_sv_owner_file_kind kind = {.option = "--admin-password-file",
                                                  .size = sizeof(struct hc_sv_admin_credentials),
                                                  .parse = parse};

static bool parse(const struct hc_sv_owner_file *file, void *out, char *why, size_t why_size) {
    struct hc_sv_admin_credentials *credentials = out;
    size_t size = strcspn(file->text, "\r\n");
    if (!hc_sv_owner_file_is_private(file, &kind, why, why_size))
        return false;
    if (size < HC_SV_ADMIN_PASSWORD_MIN || size > HC_SV_ADMIN_PASSWORD_MAX ||
        file->text[size + strspn(file->text + size, "\r\n")] != '\0') {
        snprintf(why, why_size,
                 "--admin-password-file '%s': must be one line of %d to %d bytes, which can be "
                 "made by `openssl rand -hex 16`",
                 file->path, HC_SV_ADMIN_PASSWORD_MIN, HC_SV_ADMIN_PASSWORD_MAX);
        return false;
    }
    snprintf(credentials->text, sizeof(credentials->text), "admin:%.*s", (int)size, file->text);
    return true;
}

bool hc_sv_admin_credentials_read(const char *name, struct hc_sv_admin_credentials *credentials,
                                  char *why, size_t why_size) {
    char place[HC_SV_OWNER_FILE_PATH_MAX];
    const char *path = hc_sv_owner_file_locate(name, place, sizeof(place));
    return hc_sv_owner_file_read(&kind, path, credentials, why, why_size);
}

static struct hc_sv_admin_password hash(const char *text, size_t size) {
    struct hc_sv_admin_password password;
    crypto_generichash(password.hash, sizeof(password.hash), (const unsigned char *)text, size,
                       NULL, 0);
    return password;
}

struct hc_sv_admin_password hc_sv_admin_password_of(struct hc_sv_admin_credentials *credentials) {
    struct hc_sv_admin_password password = hash(credentials->text, strlen(credentials->text));
    sodium_memzero(credentials, sizeof(*credentials));
    return password;
}

bool hc_sv_admin_password_matches(const struct hc_sv_admin_password *password,
                                  const char *authorization) {
    static const char basic[] = "Basic ";
    char text[2 * sizeof(struct hc_sv_admin_credentials)];
    size_t size;
    if (authorization == NULL || strncasecmp(authorization, basic, sizeof(basic) - 1) != 0)
        return false;
    authorization += sizeof(basic) - 1;
    if (sodium_base642bin((unsigned char *)text, sizeof(text), authorization, strlen(authorization),
                          NULL, &size, NULL, sodium_base64_VARIANT_ORIGINAL) != 0)
        return false;
    struct hc_sv_admin_password given = hash(text, size);
    sodium_memzero(text, sizeof(text));
    return sodium_memcmp(given.hash, password->hash, sizeof(given.hash)) == 0;
}
