/// The port for server browsers (--query-port): A2S over UDP, on the control thread.
///
/// It answers an address that has proved to receive its answers, at most 20 times a second, and all
/// together at most 500 times; before, with a challenge that is no longer than the request. It
/// reads a bounded number of datagrams a second, and the kernel drops the rest: no flood takes more
/// of the thread. Workers list their clients for it at most once a second, as for the admin face.
#pragma once

#include "server/daemon/control.h"

struct hc_sv_query_port;

/// Opens the port that the options of `control` name, which borrows it; `game_port` is that of the
/// game. NULL: failed, and `why` is a sentence. Without the option it is NULL too, and `why` is
/// empty.
struct hc_sv_query_port *hc_sv_query_port_open(struct hc_sv_control *control, uint16_t game_port,
                                               char *why, size_t why_size);

/// Closes it; NULL is allowed. No worker runs any more.
void hc_sv_query_port_close(struct hc_sv_query_port *port);
