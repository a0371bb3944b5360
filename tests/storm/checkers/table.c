/// Owns the table of all checkers.
#include "tests/storm/checkers/checker.h"

const struct storm_checker *const storm_checkers[STORM_CHECKERS] = {
    &storm_check_truth,           ///< the server's final ticks are a plain simulation's
    &storm_check_steps,           ///< a tick follows from the one before it
    &storm_check_sent_values,     ///< no value sent is wrong or hidden by interest
    &storm_check_interest,        ///< a client knows no unit that is out of its view
    &storm_check_received_values, ///< a client holds the values that it has received
    &storm_check_agreement,       ///< at the calm all hold the same
    &storm_check_own_inputs,      ///< no input is lost or rewritten, and forced ones are given up
    &storm_check_taps,            ///< a tap counts, and once
    &storm_check_replay,          ///< either end accepts each datagram once
    &storm_check_messages,        ///< every message arrives once and in order
    &storm_check_unreliable,      ///< an unreliable message arrives at most once, unaltered
    &storm_check_names,           ///< a client knows players by names that are theirs
    &storm_check_sessions,        ///< a resumed session keeps its players
    &storm_check_rate,            ///< no client is sent more than its rate
    &storm_check_offered,         ///< no narrow link is flooded
    &storm_check_paths,           ///< an address that is not validated is sent little
    &storm_check_refusals,        ///< no honest client is refused
    &storm_check_bounds,          ///< work, memory and datagrams stay within their bounds
    &storm_check_time,            ///< ticks are done when they are due
    &storm_check_recovery,        ///< a client plays on soon after a trouble
    &storm_check_liveness,        ///< at the calm nothing is stuck
    &storm_check_shown,           ///< a client shows its recorded ticks, and never backwards
    &storm_check_game_events,     ///< a client shows each game event once
    &storm_check_counters,        ///< counters equal the traffic and events seen from outside
};
