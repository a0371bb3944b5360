/// Admits clients: HELLO, COOKIE, CONNECT and ACCEPT, the refusals, and RESET.
#pragma once

#include "server/state.h"

/// Answers HELLO and CONNECT. HC_OK or the cause of the refusal. `denied`: a CONNECT is denied for
/// this reason of the program's, unless there is another one; 0: it is not.
enum hc_status hc_sv_handshake_receive(struct hc_server *server, const struct hc_address *from,
                                       const uint8_t *bytes, size_t size,
                                       enum hc_deny_reason denied, uint64_t now_us);

/// Queues a RESET for a DATA of an unknown connection, if the limits allow one.
void hc_sv_handshake_reset(struct hc_server *server, const struct hc_address *from, uint32_t cid,
                           uint32_t seq, uint64_t now_us);
