/// How often lines of the log may be written: a rate for every kind of line, in all and for each
/// client that lines of it are about; and what was left out by it.
///
/// The memory is constant. Of more clients than fit in one set the one with the most of its rate
/// left is forgotten; more kinds than fit share the last place.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
    HC_SV_LOG_KINDS = 32,
    HC_SV_LOG_KIND_MAX = 24, ///< bytes of a kind's name with its end; longer ones are cut
    HC_SV_LOG_SETS = 512,
    HC_SV_LOG_WAYS = 4,
};

/// So many at once, and one more in each `every_us` since.
struct hc_sv_log_rate {
    uint32_t burst, every_us;
};

struct hc_sv_log_rates {
    struct hc_sv_log_rate all, client;
};

struct hc_sv_log_kind {
    char name[HC_SV_LOG_KIND_MAX];
    uint64_t until_us;   ///< as in server/address_limit.h
    uint64_t suppressed; ///< lines, since they were last taken
};

struct hc_sv_log_client {
    uint64_t hash; ///< of a kind and a client
    uint64_t until_us;
};

/// All zeros but the seed is the beginning.
struct hc_sv_log_limit {
    uint64_t seed; ///< random: nobody can choose clients that share a set
    unsigned count;
    struct hc_sv_log_kind kinds[HC_SV_LOG_KINDS];
    struct hc_sv_log_client clients[HC_SV_LOG_SETS][HC_SV_LOG_WAYS];
};

/// Whether a line of `kind` may be written at `now_us`, about `client` (any text; NULL: about
/// none); it counts either way.
bool hc_sv_log_limit_allows(struct hc_sv_log_limit *limit, const struct hc_sv_log_rates *rates,
                            const char *kind, const char *client, uint64_t now_us);

/// A kind of which lines were left out, and how many since they were last taken; NULL: no more.
const char *hc_sv_log_limit_take_suppressed(struct hc_sv_log_limit *limit, uint64_t *count);
