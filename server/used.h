/// Tokens that are used up: each opens one session.
///
/// One is remembered until it expires, when it is worth nothing anyway, and is never forgotten
/// before: when there is no room for another the one that wants it must not be let in.
#pragma once

#include "proto/token.h"

#include <stdbool.h>

struct hc_sv_used_entry {
    uint8_t token_id[HC_TOKEN_ID_SIZE];
    uint64_t expire_s; ///< Unix time
};

/// The memory is lent.
struct hc_sv_used {
    struct hc_sv_used_entry *entries; ///< [capacity]
    uint32_t capacity, count;
};

/// Whether a token is used up.
bool hc_sv_used_has(const struct hc_sv_used *used, const uint8_t token_id[static HC_TOKEN_ID_SIZE]);

/// Whether another one can be remembered, if need be by forgetting those that have expired.
bool hc_sv_used_room(struct hc_sv_used *used, uint64_t now_s);

/// Remembers one that is not, for which there is room.
void hc_sv_used_add(struct hc_sv_used *used, const uint8_t token_id[static HC_TOKEN_ID_SIZE],
                    uint64_t expire_s);

/// A token that is remembered is not used up after all.
void hc_sv_used_forget(struct hc_sv_used *used, const uint8_t token_id[static HC_TOKEN_ID_SIZE]);
