/// The last words for the clients of a match, ready before anything happens: when its server cannot
/// be called any more, because a call into it hangs or the process crashes, they still learn that
/// they shall come back, or that the server ends.
///
/// One thread renews them while others, also handlers of signals, may read. A reader that is
/// overtaken twice meanwhile reads a mixture, which no client takes for a farewell.
#pragma once

#include "hindcast/server.h"
#include "server/daemon/doors.h"

#include <stdatomic.h>
#include <stdbool.h>

struct hc_sv_farewells {
    uint32_t most;                     ///< clients
    struct hc_server_farewell *all[2]; ///< [2][most]
    uint32_t counts[2];
    atomic_uint current; ///< which of the two is read
};

/// Opens the farewells of at most `most` clients, none of which is there. False: no memory.
bool hc_sv_farewells_open(struct hc_sv_farewells *farewells, uint32_t most);

/// Frees them; those that are all zeros are allowed.
void hc_sv_farewells_close(struct hc_sv_farewells *farewells);

/// Writes those of the server's present clients.
void hc_sv_farewells_renew(struct hc_sv_farewells *farewells, struct hc_server *server);

/// Sends them, those of a restart or of a shutdown.
void hc_sv_farewells_send(const struct hc_sv_farewells *farewells, bool restarts,
                          struct hc_sv_doors *doors);

/// Returns the newest, `*count` of them.
const struct hc_server_farewell *hc_sv_farewells_read(const struct hc_sv_farewells *farewells,
                                                      uint32_t *count);
