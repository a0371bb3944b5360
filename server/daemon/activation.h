/// The sockets that the service manager opened and passed to the daemon (socket activation): they
/// stay open while one daemon follows another. $LISTEN_PID, $LISTEN_FDS and $LISTEN_FDNAMES tell
/// how many there are, from descriptor 3 on, and their names.
///
/// A UDP socket is of the game, a listening stream socket of the admin face. The names `game` and
/// `admin` ask for these kinds; any other name is taken for what its socket is.
#pragma once

#include "server/daemon/door.h"
#include "server/daemon/options.h"

enum { HC_SV_ACTIVATION_GAMES = HC_SV_WORKERS_MAX * HC_SV_DOOR_LANES };

struct hc_sv_activation {
    unsigned games;
    int game[HC_SV_ACTIVATION_GAMES]; ///< [games] sockets of one port, in the order of their bind
    int admin;                        ///< -1: none
};

/// Takes the sockets, and removes the variables from the environment; no variables: no sockets.
/// False: they are wrong, and `why` is a sentence.
bool hc_sv_activation_take(struct hc_sv_activation *activation, char *why, size_t why_size);

/// Whether the settings agree with the sockets; false: `why` is a sentence.
bool hc_sv_activation_check(const struct hc_sv_activation *activation,
                            const struct hc_sv_options *options, char *why, size_t why_size);
