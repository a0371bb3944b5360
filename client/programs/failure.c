/// Owns the sentences on why a client was not admitted, or lost its connection.
#include "client/programs/failure.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { LATE_US = 1000000 }; ///< a program that was so late may itself be the cause

static void write_denial(char *text, size_t size, const struct hc_cl_failure *failure) {
    const struct hc_client_attempt *attempt = &failure->attempt;
    const char *reason = hc_deny_text(attempt->deny);
    char number[16] = "";
    if (!hc_datagram_is_deny_reason(attempt->deny))
        snprintf(number, sizeof(number), " (%u)", (unsigned)attempt->deny);
    if (attempt->proven)
        snprintf(text, size, "%s%s", reason, number);
    else
        snprintf(text, size, "%s%s%s (not proven: anybody on the path could have sent this)",
                 reason, number,
                 failure->expired ? "; by this machine's clock it has expired, too" : "");
}

/// Writes why a handshake was not complete, although the server answered.
static void write_incomplete(char *text, size_t size, const struct hc_cl_failure *failure) {
    if (failure->udp.refused > 0)
        snprintf(text, size, "the server answered, but then no program listened there");
    else if (failure->gave_up)
        snprintf(text, size,
                 "the server answers, but none of its datagrams of %d bytes arrives: the path from "
                 "it may carry less, or the token's secret is wrong",
                 HC_DATAGRAM_MAX);
    else
        snprintf(text, size,
                 "the server answers, but the handshake was not complete at the end: datagrams "
                 "were lost, or the path from it carries less than %d bytes",
                 HC_DATAGRAM_MAX);
}

void hc_cl_failure_text(char *text, size_t size, const struct hc_cl_failure *failure) {
    const struct hc_cl_udp_stats *udp = &failure->udp;
    if (failure->attempt.denied)
        write_denial(text, size, failure);
    else if (failure->late_us >= LATE_US)
        snprintf(text, size, "no admission in time: this program itself was up to %.1f s late",
                 (double)failure->late_us / 1e6);
    else if (failure->attempt.answered)
        write_incomplete(text, size, failure);
    else if (udp->refused > 0)
        snprintf(text, size,
                 "no program listens there: %" PRIu64 " datagrams were refused for that reason",
                 udp->refused);
    else if (udp->too_long > 0)
        snprintf(text, size,
                 "no answer: %" PRIu64 " datagrams of %d bytes were refused as too long, by this "
                 "machine or on the path",
                 udp->too_long, HC_DATAGRAM_MAX);
    else if (failure->gave_up)
        snprintf(text, size,
                 "no answer: no server runs there, or something on the path drops its datagrams, "
                 "such as a firewall or a limit below %d bytes",
                 HC_DATAGRAM_MAX);
    else
        snprintf(text, size, "no answer until the end");
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

void hc_cl_failure_game(char *text, size_t size, const struct hc_game *game, uint64_t protocol_id,
                        const char *theirs, uint64_t their_id) {
    char ours[sizeof(((struct hc_cl_tokens_issuer *)NULL)->game)];
    snprintf(ours, sizeof(ours), "%s %" PRIu32, game->name, game->version);
    if (theirs[0] != '\0' && strcmp(theirs, ours) != 0)
        snprintf(text, size, "the server plays %s, and this program %s (--game FILE)", theirs,
                 ours);
    else
        snprintf(text, size,
                 "the server plays another %s%s: its protocol_id is 0x%016" PRIx64
                 ", and this program's 0x%016" PRIx64,
                 theirs[0] != '\0' ? "build of " : "game, or another build of ", ours, their_id,
                 protocol_id);
}

bool hc_cl_failure_check_game(const struct hc_game *game, uint64_t protocol_id,
                              const struct hc_cl_tokens_issuer *issuer, const char *name, char *why,
                              size_t why_size) {
    char text[256];
    if (issuer->protocol_id == 0 || issuer->protocol_id == protocol_id)
        return true;
    hc_cl_failure_game(text, sizeof(text), game, protocol_id, issuer->game, issuer->protocol_id);
    snprintf(why, why_size, "%s: %s", name, text);
    return false;
}
