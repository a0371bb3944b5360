/// The names of other players that a client was sent and has not acked.
///
/// A client is sent the names of the players that it sees, its own included: a few in a NAMES, and
/// the next few when it has acked them. The slots of its view hold which of them it has acked. So a
/// client learns no name of a player that it does not see, and a crowd takes time, not bandwidth.
#pragma once

#include "proto/message.h"
#include "server/replication/view.h"

/// Names that a client lacks, as many as a NAMES may have, in the order of their players.
struct hc_sv_lacking {
    uint32_t count; ///< [0, HC_NAMES_EACH]
    struct hc_player_name names[HC_NAMES_EACH];
    uint32_t numbers[HC_NAMES_EACH]; ///< the numbers of the names, which differ for each new name
};

struct hc_sv_names {
    uint32_t seq;                              ///< of the newest NAMES; 0: it is acked, or none
    uint64_t due_us;                           ///< the next NAMES may be sent then
    uint64_t sent_us;                          ///< when the newest was
    uint32_t count;                            ///< names in the newest NAMES
    struct hc_player_name sent[HC_NAMES_EACH]; ///< names in the newest NAMES, [count]
};

/// Whether the next NAMES may be sent. Then none is awaited any more, and the one after it waits.
bool hc_sv_names_are_due(struct hc_sv_names *names, uint64_t now_us);

/// The datagram `seq` has the names `sent`, at least one. They are sent again after `resend_us`
/// without an ack.
void hc_sv_names_sent(struct hc_sv_names *names, struct hc_sv_view *view,
                      const struct hc_sv_lacking *sent, uint32_t seq, uint64_t resend_us,
                      uint64_t now_us);

/// The client acked the datagram `seq`.
void hc_sv_names_acked(struct hc_sv_names *names, struct hc_sv_view *view, uint32_t seq);

/// The datagram `seq` is lost: its names need not wait for the time after which they are resent.
void hc_sv_names_lost(struct hc_sv_names *names, uint32_t seq);
