/// The password of the admin face: HTTP Basic, with the name admin.
///
/// Its file has one line of 16 to 256 bytes, and no other user may have any permission on it.
#pragma once

#include "server/daemon/owner_file.h"

#include <stdint.h>

enum {
    HC_SV_ADMIN_PASSWORD_MIN = 16, ///< bytes: too many to be guessed
    HC_SV_ADMIN_PASSWORD_MAX = 256,
    HC_SV_ADMIN_PASSWORD_HASH = 32,
};

/// The name and the password, as HTTP Basic sends them.
struct hc_sv_admin_credentials {
    char text[sizeof("admin:") + HC_SV_ADMIN_PASSWORD_MAX];
};

/// Reads the file, which hc_sv_owner_file_locate finds. False: it cannot be used, and `why` is a
/// sentence.
bool hc_sv_admin_credentials_read(const char *name, struct hc_sv_admin_credentials *credentials,
                                  char *why, size_t why_size);

/// A hash of the credentials.
struct hc_sv_admin_password {
    uint8_t hash[HC_SV_ADMIN_PASSWORD_HASH];
};

/// Erases the credentials.
struct hc_sv_admin_password hc_sv_admin_password_of(struct hc_sv_admin_credentials *credentials);

/// Whether the header Authorization (NULL: none) has the password. It is compared by hashes, in
/// constant time.
bool hc_sv_admin_password_matches(const struct hc_sv_admin_password *password,
                                  const char *authorization);
