/// Changes the file of refused users (--refused) as a whole: bans users, and lifts bans.
#pragma once

#include "server/daemon/owner_file.h"

#include <stdint.h>

enum { HC_SV_BANS_MAX = 64 }; ///< changes of one order

/// A user who is banned, or whose ban is lifted.
struct hc_sv_ban {
    uint64_t client_id;
    bool lifted;
};

/// An order to change the file, in the order of `bans`.
struct hc_sv_ban_order {
    char path[HC_SV_OWNER_FILE_PATH_MAX];
    unsigned count;
    struct hc_sv_ban bans[HC_SV_BANS_MAX]; ///< [count]
};

/// Changes the file. Its comments stay. False: it stays as it is, and `why` is a sentence.
bool hc_sv_ban_file_change(const struct hc_sv_ban_order *order, char *why, size_t why_size);

/// A hc_sv_background_run whose order is a struct hc_sv_ban_order, and whose result is the number
/// of changes, an unsigned.
bool hc_sv_ban_file_run(const void *order, void *out, char *why, size_t why_size);
