/// Limits how often lines of the log may be written: each kind of line has a rate, in all and for
/// each client. Counts suppressed lines.
///
/// The memory is constant. Where more clients fall into one set than fit, the limit forgets the
/// client that has used the least of its rate. Kinds beyond the capacity share the last place.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
    HC_SV_LOG_KINDS = 64,
    HC_SV_LOG_KIND_MAX = 24, ///< bytes of a kind's name with its terminator; longer names are cut
    HC_SV_LOG_SETS = 512,
    HC_SV_LOG_WAYS = 4,
};

/// A burst of lines, and one more after each `every_us`.
struct hc_sv_log_rate {
    uint32_t burst, every_us;
};

struct hc_sv_log_rates {
    struct hc_sv_log_rate all, client;
};

struct hc_sv_log_kind {
    char name[HC_SV_LOG_KIND_MAX];
    uint64_t until_us;   ///< as in server/address_limit.h
    uint64_t suppressed; ///< lines since hc_sv_log_limit_take_suppressed
};

struct hc_sv_log_client {
    uint64_t hash; ///< of the kind and the client's name
    uint64_t until_us;
};

/// All zeros but `seed` is the initial state.
struct hc_sv_log_limit {
    uint64_t seed; ///< random, so that nobody can choose clients that share a set
    unsigned count;
    struct hc_sv_log_kind kinds[HC_SV_LOG_KINDS];
    struct hc_sv_log_client clients[HC_SV_LOG_SETS][HC_SV_LOG_WAYS];
};

/// Whether a line of `kind` about `client` (any text; NULL: none) may be written at `now_us`.
/// Counts the line as written or as suppressed.
bool hc_sv_log_limit_allows(struct hc_sv_log_limit *limit, const struct hc_sv_log_rates *rates,
                            const char *kind, const char *client, uint64_t now_us);

/// Takes the next kind with suppressed lines, and their count since it was last taken; NULL: none.
const char *hc_sv_log_limit_take_suppressed(struct hc_sv_log_limit *limit, uint64_t *count);
