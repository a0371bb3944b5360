/// Owns the sentences on why a client was not admitted, or lost its connection.
#include "client/bots/failure.h"

#include <inttypes.h>
#include <stdio.h>

void hc_cl_failure_text(char *text, size_t size, const struct hc_client_attempt *attempt,
                        bool gave_up, bool expired, const struct hc_cl_udp_stats *udp) {
    if (attempt->denied && attempt->proven)
        snprintf(text, size, "%s", hc_deny_text(attempt->deny));
    else if (attempt->denied)
        snprintf(text, size, "%s%s (not proven: anybody on the path could have sent this)",
                 hc_deny_text(attempt->deny),
                 expired ? "; by this machine's clock it has expired, too" : "");
    else if (attempt->answered && !gave_up)
        snprintf(
            text, size,
            "the server answers, but the handshake was not complete at the end: datagrams were "
            "lost, or the path from it carries less than %d bytes",
            HC_DATAGRAM_MAX);
    else if (attempt->answered)
        snprintf(text, size,
                 "the server answers, but none of its datagrams of %d bytes arrives: the path from "
                 "it may carry less, or the token's secret is wrong",
                 HC_DATAGRAM_MAX);
    else if (udp->too_long > 0)
        snprintf(text, size,
                 "no answer: %" PRIu64 " datagrams of %d bytes were refused as too long, by this "
                 "machine or on the path",
                 udp->too_long, HC_DATAGRAM_MAX);
    else
        snprintf(text, size,
                 "no answer; if there is a server, the path to it may carry less than datagrams of "
                 "%d bytes",
                 HC_DATAGRAM_MAX);
}

const char *hc_cl_failure_loss(enum hc_client_loss loss) {
    switch (loss) {
    case HC_CLIENT_LOSS_SILENCE:
        return "it received nothing from the server for too long";
    case HC_CLIENT_LOSS_RESET:
        return "the server does not know it: the server was restarted, or has dropped it";
    case HC_CLIENT_LOSS_TIMEOUT:
        return "the server has received nothing for too long";
    case HC_CLIENT_LOSS_RENEWAL:
        return "it needs new keys";
    case HC_CLIENT_LOSS_RESTART:
        return "the server restarts";
    }
    return "for no known reason";
}
