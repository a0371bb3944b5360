/// The contest of relays: whether a client uses two addresses at once, and which of them it gets.
///
/// Of two addresses in use one belongs to a relay, which copies the client's datagrams. Proof is a
/// datagram from the present or the former address with a seq not below the one that showed the
/// other address first; duplicates count.
///
/// A relay can win every race, and can forward PATH_CHALLENGEs. So while two addresses are in use
/// the client keeps the one that it validated earlier, as long as it acks at least half of the
/// datagrams that go only there. An address that does not is stalled.
///
///     state       meaning
///     ALONE       one address is in use, as far as known
///     CONTESTED   two were in use within the last HC_PATH_IN_USE_US
///
///     hc_sv_contest_begin       a new connection               to ALONE
///     hc_sv_contest_note        proof of two addresses         to CONTESTED
///     the time passes           HC_PATH_IN_USE_US              to ALONE
///     hc_sv_contest_move        another address is validated   stays
///     hc_sv_contest_take_back   the client was not there       stays
///
/// A client that moved can be taken back to its former address, once: for HC_PATH_RETURN_US, and
/// while the addresses are contested.
#pragma once

#include "proto/connection.h"
#include "hindcast/address.h"

#include <stdbool.h>

struct hc_sv_contest {
    bool any;         ///< two addresses were in use once
    uint64_t seen_us; ///< when two addresses were in use last
    struct {
        bool any;
        struct hc_address address;
        uint32_t first;    ///< the client's first seq that came from the present address
        uint64_t moved_us; ///< when the present address was validated
    } former;              ///< the address that the client moved from
    struct {
        uint64_t held_us;         ///< when the client got the address
        uint32_t since;           ///< seqs from this one on went only there
        uint32_t loss_checked_to; ///< the newest ack of the client that has been checked
        uint64_t acked_us;        ///< when a new ack last showed that at least half of them arrive
    } present;                    ///< how the present address serves the client
    struct hc_address home;       ///< the last address that served it for long
};

/// Begins at the address of a new connection, which is the client's home.
void hc_sv_contest_begin(struct hc_sv_contest *contest, const struct hc_address *home,
                         uint64_t now_us);

/// Datagrams of the client came from two addresses.
void hc_sv_contest_note(struct hc_sv_contest *contest, uint64_t now_us);

/// Whether two addresses are in use.
bool hc_sv_contest_is_on(const struct hc_sv_contest *contest, uint64_t now_us);

/// Checks after a new ack whether at least half of the datagrams that went to the present `address`
/// alone are acked. Only the newest HC_PATH_STALL_SEQS up to the newest acked one count. An address
/// that serves the client for HC_PATH_HOME_US becomes its home.
void hc_sv_contest_check_acks(struct hc_sv_contest *contest, const struct hc_connection *connection,
                              const struct hc_address *address, uint64_t now_us);

/// How long an address may ack too little. A pause of the server makes the round trip longer, so
/// the time has a limit.
uint64_t hc_sv_contest_stall_us(const struct hc_connection *connection);

/// Whether too few of the datagrams that went to the present address alone were acked for some
/// time. Call it when a datagram of the client comes, because only then it can ack.
bool hc_sv_contest_stalls(const struct hc_sv_contest *contest,
                          const struct hc_connection *connection, uint64_t now_us);

/// Whether the datagram `seq` comes from the former address, although the client sent it after it
/// moved.
bool hc_sv_contest_is_former(const struct hc_sv_contest *contest, const struct hc_address *from,
                             uint32_t seq, uint64_t now_us);

/// The client moves away from `former`; its datagrams from the seq `first` on came from elsewhere.
void hc_sv_contest_move(struct hc_sv_contest *contest, const struct hc_address *former,
                        uint32_t first, uint64_t now_us);

/// The client moves back to its former address, and that is the end of it.
void hc_sv_contest_take_back(struct hc_sv_contest *contest);

/// The client has another address, to which the datagrams from the seq `next` on will go alone.
void hc_sv_contest_hold(struct hc_sv_contest *contest, uint32_t next, uint64_t now_us);

/// The datagrams before the seq `next` went to another address too, so their acks prove nothing.
void hc_sv_contest_shared(struct hc_sv_contest *contest, uint32_t next);

/// The present address gains time, because copies of its datagrams go to another address: unless it
/// never acked, because a relay has many addresses.
void hc_sv_contest_wait(struct hc_sv_contest *contest, uint64_t now_us);
