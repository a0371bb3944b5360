/// The way of a datagram to its match: DATA by its cid and CONNECT by its token; a CONNECT whose
/// token names no match of the daemon to the one that the placement chooses, of another worker
/// through that worker's mailbox.
#pragma once

#include "server/daemon/worker.h"

/// Gives a datagram of any lane to its match. Any match answers a HELLO, and DATA of none.
void hc_sv_routing_receive(struct hc_sv_worker *worker, const struct hc_sv_datagram *datagram);

/// Gives a CONNECT for which the placement has chosen a match of this worker (0: any) to it, and
/// ends the placement.
void hc_sv_routing_receive_placed(struct hc_sv_worker *worker,
                                  const struct hc_sv_datagram *datagram,
                                  struct hc_sv_placed *placed);
