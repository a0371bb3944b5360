/// A checker watches a match and fails it when one invariant is broken.
///
/// It sees datagrams, events, clocks and timelines. It does not model the product's decisions: an
/// invariant holds with any of them.
#pragma once

#include "tests/storm/match_internal.h"

/// A datagram as both ends read it: open, with zeros for the tag.
struct storm_datagram {
    const uint8_t *bytes;
    size_t size;
    enum hc_datagram_kind kind;
    bool is_data;              ///< `data` is its content
    struct hc_data data;       ///< body borrowed
    enum hc_message_type type; ///< of a DATA's first message; HC_MESSAGE_END: none
    struct storm_conn *conn;   ///< of a DATA's cid; NULL: none is known
};

/// The parts of the calm at which something must hold.
enum storm_calm { STORM_CALM_LAST_PART, STORM_CALM_CHECK };

/// Hooks may be NULL, and are called only while nothing is wrong. `state` is `state_size` bytes,
/// zero at the beginning of a match.
struct storm_checker {
    const char *name;
    size_t state_size;
    void (*host_advances)(struct storm_match *match, void *state);
    void (*host_ticked)(struct storm_match *match, void *state);
    /// The server is about to receive a datagram.
    void (*host_receives)(struct storm_match *match, void *state);
    /// `conn` may be NULL.
    void (*host_event)(struct storm_match *match, void *state, const struct hc_server_event *event,
                       struct storm_conn *conn);
    void (*host_received)(struct storm_match *match, void *state, uint16_t port,
                          const struct storm_datagram *datagram, enum hc_status status);
    /// `copy`: it goes to an address that is not validated, as well as to the one that is.
    void (*host_sent)(struct storm_match *match, void *state, unsigned client,
                      const struct storm_datagram *datagram, bool copy);
    void (*client_created)(struct storm_match *match, void *state, unsigned client);
    /// The client is accepted again after a lost connection. It holds nothing from before.
    void (*client_reconnected)(struct storm_match *match, void *state, unsigned client);
    void (*client_leaves)(struct storm_match *match, void *state, unsigned client);
    /// The client has a datagram to send; an attacker may not send it after all.
    void (*client_sends)(struct storm_match *match, void *state, unsigned client, size_t size);
    void (*client_sent)(struct storm_match *match, void *state, unsigned client,
                        const struct storm_datagram *datagram);
    void (*client_received)(struct storm_match *match, void *state, unsigned client,
                            const struct storm_datagram *datagram, enum hc_status status);
    void (*client_event)(struct storm_match *match, void *state, unsigned client,
                         const struct hc_client_event *event);
    /// The client has received or advanced.
    void (*client_changed)(struct storm_match *match, void *state, unsigned client);
    /// The client is about to be destroyed, or the match to end.
    void (*client_ends)(struct storm_match *match, void *state, unsigned client);
    void (*calm)(struct storm_match *match, void *state, enum storm_calm part);
    void (*end)(struct storm_match *match, void *state);
    /// Server and clients are destroyed. Called in every case.
    void (*free)(struct storm_match *match, void *state);
};

extern const struct storm_checker storm_check_truth, storm_check_steps, storm_check_sent_values,
    storm_check_interest, storm_check_received_values, storm_check_agreement,
    storm_check_own_inputs, storm_check_replay, storm_check_messages, storm_check_sessions,
    storm_check_rate, storm_check_paths, storm_check_refusals, storm_check_bounds, storm_check_time,
    storm_check_liveness, storm_check_shown, storm_check_game_events, storm_check_counters,
    storm_check_unreliable, storm_check_names, storm_check_taps, storm_check_offered,
    storm_check_recovery;

enum { STORM_CHECKERS = 24 };

/// All of them.
extern const struct storm_checker *const storm_checkers[STORM_CHECKERS];
