/// Limits how often wrong passwords may come from one peer.
///
/// The memory is constant. Peers share places, by two hashes that nobody can foretell, and one
/// place that has room suffices: so many strangers hardly limit anybody else.
#pragma once

#include "server/daemon/http_peer.h"

#include <stdbool.h>

enum {
    HC_SV_PASSWORD_LIMIT_PLACES = 1024,
    HC_SV_PASSWORDS_AT_ONCE = 10,
    HC_SV_PASSWORD_US = 1000000, ///< one more is allowed after this
};

/// Set by hc_sv_password_limit_init.
struct hc_sv_password_limit {
    uint8_t secret[16];                                ///< of the hashes
    uint64_t until_us[2][HC_SV_PASSWORD_LIMIT_PLACES]; ///< as in common/limit.h
};

/// Makes an empty limit, with a secret of its own.
void hc_sv_password_limit_init(struct hc_sv_password_limit *limit);

/// Whether no password of this peer may be looked at now.
bool hc_sv_password_limit_is_reached(const struct hc_sv_password_limit *limit,
                                     const struct hc_sv_http_peer *peer, uint64_t now_us);

/// A wrong password came from this peer.
void hc_sv_password_limit_count(struct hc_sv_password_limit *limit,
                                const struct hc_sv_http_peer *peer, uint64_t now_us);
