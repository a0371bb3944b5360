/// Limits: every number of the standard (proto/PROTOCOL.md), once.
///
/// Games need some of them too: the size of a datagram, the own players and the size of a message
/// are in hindcast/connection.h, the limits of a world in hindcast/game.h. The simulation needs
/// others: history and future are in common/timeline.h, the entities of a unit in common/unit.h,
/// the ticks of an extrapolation in common/extrapolate.h. Sizes that follow from one layout stand
/// beside its table.
#pragma once

#include "hindcast/tick.h"

#include <stdint.h>

enum {
    // ---- Datagrams and bodies (1, 5.1) ----------------------------------------------------------

    HC_DATAGRAM_HELLO_SIZE = 1200,   ///< padded: no answer is longer, and the path carries 1200
    HC_DATAGRAM_COOKIE_SIZE = 44,    ///< bytes
    HC_DATAGRAM_CONNECT_SIZE = 1200, ///< padded, as HELLO
    HC_DATAGRAM_ACCEPT_SIZE = 1200,  ///< padded: the path back carries 1200 too
    HC_DATAGRAM_DENY_SIZE = 45,      ///< bytes
    HC_DATAGRAM_VERSION_SIZE = 32,   ///< bytes
    HC_DATAGRAM_RESET_SIZE = 21,     ///< bytes
    HC_ACCEPT_BODY_MAX = 1108,       ///< bytes of ACCEPT's body, always
    HC_DATA_BODY_MAX = 1167,         ///< bytes of DATA's body, at most
    HC_PRECHECK_DEPTH_MAX = 8,       ///< arrays inside arrays
    /// Values of a message, arrays included. A value takes a byte, so no datagram holds more; with
    /// 16 bytes a value this bounds what a datagram may cost to 19.2 kB. A lower limit would refuse
    /// bodies of one-byte integers.
    HC_PRECHECK_NODES_MAX = 1200,
    HC_INPUT_RUN_MAX = 512, ///< ticks of an input run

    // ---- Handshake (2.6, 2.10, 2.11) ------------------------------------------------------------

    HC_RETRY_US = 250000,        ///< from one HELLO or CONNECT to the next
    HC_VERSION_WAIT_US = 600000, ///< a COOKIE refutes a VERSION for so long: two HELLOs
    HC_COOKIE_USE_US = 2000000,  ///< a client uses a COOKIE so long: its address may change
    HC_COOKIES = 8, ///< different COOKIEs that a client uses: an observer can forge one
    HC_COOKIE_SLOT_US = 10000000, ///< a cookie is valid for the rest of its slot and the next one
    HC_CONNECTED_US = 1000000, ///< a client received this lately is connected: DENY 9 for another

    // ---- Used tokens, and connects of one user or address (2.12, 7.1) ---------------------------

    HC_SPENT_TOKENS = 4,        ///< used tokens that a server remembers of a client_id
    HC_REMEMBERED_USERS = 4096, ///< client_ids whose used tokens are remembered, unless it is set
    HC_REMEMBERED_EACH = 4,  ///< client_ids remembered at least, for each client that may connect
    HC_CONNECTS_AT_ONCE = 5, ///< connects of a client_id at once; later ones 1 a second
    HC_CONNECTS_PER_ADDRESS = 5,   ///< connects a second of an address, unless the server sets it
    HC_CLIENTS_PER_ADDRESS = 16,   ///< clients of an address at once, unless the server sets it
    HC_SESSION_LIFE_S = 24 * 3600, ///< of a session, unless the server sets it

    // ---- Connection (2.4, 2.7, 2.13, 2.14) ------------------------------------------------------

    HC_KEEP_ALIVE_US = 100000,  ///< from one DATA to the next, at most
    HC_TIMEOUT_US = 10000000,   ///< silence after which a connection is lost
    HC_RECONNECT_US = 30000000, ///< a lost client tries to reconnect, and a server waits for it
    HC_SILENT_MAX = 16,         ///< datagrams, except CLOSE, to a client before its first DATA
    HC_SILENT_ACCEPT = 8,  ///< DATA of these after which one datagram is the client's ACCEPT again
    HC_CLOSES = 30,        ///< CLOSEs that an end sends, unless one is acked before
    HC_CLOSES_AT_ONCE = 3, ///< CLOSEs that are sent together, first
    HC_CLOSE_PERIOD_US = 75000,     ///< from one of the later CLOSEs to the next
    HC_RESTART_SECONDS_MAX = 300,   ///< seconds of a server's restart, at most; a ticket lives on
    HC_RESTART_SPREAD_US = 1000000, ///< time over which the clients come back after these seconds
    HC_RECEIVED_WINDOW = 256,       ///< a seq so far behind the newest is too old
    HC_LOST_AFTER = 6,              ///< a datagram is lost when one so much later is acked
    HC_ACK_DELAY_MAX_US = 10000000, ///< a longer delay is reported as this
    HC_PHASE_MAX_US = 10000000,     ///< a longer phase is reported as this

    // ---- Congestion (CONGESTION.md) -------------------------------------------------------------

    HC_FLIGHT_OVERHEAD = 28,                ///< bytes of a datagram's headers of IP and UDP
    HC_FLIGHT_QUEUE_US = 50000,             ///< queue that the bound leaves
    HC_FLIGHT_NEAR_US = 75000,              ///< a round trip so much above the least one is near it
    HC_FLIGHT_WINDOW_US = 10000000,         ///< over which the least round trip is taken
    HC_FLIGHT_FIRST_WINDOW_US = 5000000,    ///< of the first such window
    HC_FLIGHT_PATIENCE_FIRST_US = 1000000,  ///< patience of a new connection
    HC_FLIGHT_PATIENCE_LEAST_US = 200000,   ///< patience at least: acks may come each 100 ms only
    HC_FLIGHT_PATIENCE_MOST_US = 2000000,   ///< patience at most, on a path that reorders
    HC_FLIGHT_PATIENCE_ORDERED_US = 500000, ///< the most on any other
    HC_FLIGHT_BACK_US = 100000,        ///< queue on the way back that a client excepts, at most
    HC_FLIGHT_CELL_US = 50000,         ///< acked bytes are counted over eight of these
    HC_FLIGHT_LEAST = 160,             ///< bytes of a datagram that is sent in spite of the bound
    HC_FLIGHT_GROWTH_US = 1000000,     ///< the bound grows after so long without a change
    HC_FLIGHT_FREE_US = 10000000,      ///< a bound that holds nothing back for so long is none
    HC_FLIGHT_DRAIN_US = 500000,       ///< drains begin at multiples of this
    HC_FLIGHT_DRAIN_MOST_US = 1500000, ///< a drain lasts no longer
    HC_FLIGHT_PROBED = 480,     ///< bytes in flight with which a datagram may measure the path
    HC_FLIGHT_EQUAL_US = 10000, ///< two round trips that differ by no more are equally long

    // ---- Tickets (2.13) -------------------------------------------------------------------------

    HC_TICKET_LIFE_S = 600,         ///< of a ticket, Unix seconds
    HC_TICKET_RENEW_US = 120000000, ///< from one ticket to the next
    HC_TICKET_RESEND_US = 250000,   ///< from one TICKET to the next while none is acked

    // ---- Paths (2.16, 2.17) ---------------------------------------------------------------------

    HC_PATH_CHALLENGE_US = 100000, ///< from one PATH_CHALLENGE to the next
    HC_PATH_CHALLENGES = 8,        ///< PATH_CHALLENGEs of a row before each waits twice as long
    HC_PATH_DOUBLINGS = 3,         ///< doublings of the wait at most: 0.8 s
    HC_PATH_ROW_US = 10000000,     ///< a row without an answer is forgotten after this
    HC_PATH_FACTOR = 3, ///< bytes to an address that is not validated, for each that came from it
    HC_PATH_IN_USE_US = 10000000, ///< two addresses count as in use so long
    HC_PATH_RETURN_US = 10000000, ///< a move can be taken back so long
    HC_PATH_STALL_US = 300000, ///< an address stalls that acks nothing for this and 2 round trips
    HC_PATH_STALL_MOST_US = 1000000, ///< the most that these are together
    HC_PATH_STALL_SEQS = 32,    ///< an address also stalls that acks fewer than half of so many
    HC_PATH_SILENT_US = 150000, ///< an address that sends nothing for this loses its term
    HC_PATH_HOME_US = 10000000, ///< an address in use for this long becomes the home
    HC_PATH_BODY_MAX = 512,     ///< bytes of a body without SNAPSHOT after a move
    HC_PATH_WIDEN_US = 1000000, ///< from one larger body to the next, until one is acked

    // ---- Events (5.9) ---------------------------------------------------------------------------

    HC_RELIABLE_WINDOW = 256,             ///< numbers on the way, [oldest, oldest + this)
    HC_RELIABLE_BYTES_MAX = 16384,        ///< bytes of the events on the way
    HC_RELIABLE_RESEND_LEAST_US = 100000, ///< an event is resent after this or 5/4 of a round trip

    // ---- Unreliable messages (5.10) -------------------------------------------------------------

    HC_UNRELIABLE_EACH = 16,    ///< messages in a datagram
    HC_UNRELIABLE_BYTES = 1024, ///< of a queue: messages, and a byte for each

    // ---- Names (5.11) ---------------------------------------------------------------------------

    HC_NAMES_EACH = 16,          ///< in a NAMES, at most
    HC_NAMES_US = 100000,        ///< from one NAMES to the next, at least
    HC_NAMES_RESEND_US = 250000, ///< from one NAMES to the next while it is not acked, at least

    // ---- Notices (5.13) -------------------------------------------------------------------------

    HC_NOTICE_RESEND_US = 250000, ///< from one NOTICE to the next while it is not acked, at least

    // ---- Desyncs (5) ----------------------------------------------------------------------------

    HC_COMPARES_MAX = 16,         ///< COMPAREs that a server answers on a connection, at most
    HC_COMPARE_US = 50000,        ///< from one COMPARE to the next while no answer comes
    HC_COMPARE_WAIT_US = 1000000, ///< a client waits so long for the answer
    HC_DIFFERS_BYTES = 1000,      ///< of the values in a DIFFERS, at most

    // ---- Snapshots (6) --------------------------------------------------------------------------

    /// Ticks that inputs and roster changes may lie from the snapshot's tick, either way, and the
    /// newest baseline from the head, back.
    HC_SNAPSHOT_SPAN_MAX = 1 << 20,
    HC_SNAPSHOT_UNITS_MAX = 256,       ///< units in a snapshot, besides corrections
    HC_SNAPSHOT_CORRECTIONS_MAX = 512, ///< corrections in a snapshot
    HC_SNAPSHOT_INPUTS_SUM_MAX = 4096, ///< inputs in a snapshot
    HC_SNAPSHOT_ROSTER_MAX = 1024,     ///< roster changes in a snapshot
    HC_SNAPSHOT_FORCED_MAX = 64,       ///< forced ranges in a snapshot
    HC_SNAPSHOT_FORCED_SENT = 32,      ///< the newest forced ranges, which a server sends
    HC_SNAPSHOT_AGE_MAX = 64,          ///< heads from the newest baseline back to another one
    HC_SNAPSHOT_BASELINE_TICKS = 128,  ///< heads for which a client holds baselines
    HC_SNAPSHOT_VALUES_MIN = 4096,     ///< values that a client holds at least
    HC_SNAPSHOT_VALUES_EACH = 128,     ///< values held of each unit in a snapshot, if that is more
    HC_SNAPSHOT_INPUTS_BEFORE = 64,    ///< ticks before the one shown of which inputs are sent
    HC_SNAPSHOT_INPUTS_NEAR = 8,       ///< ticks of inputs that go with a player's unit
    HC_GAME_EVENTS_TICKS = 1024,       ///< final ticks whose game events may still be sent
    HC_GAME_EVENTS_MAX = 512,          ///< game events in a snapshot
    HC_GAME_EVENTS_EARLY = 64,         ///< ticks up to the one shown that early lists are of
    HC_SNAPSHOT_CHAIN_TICKS = 16,  ///< heads of a group, whose first snapshot has the chain hash
    HC_MARGIN_UNIT_US = 250,       ///< of a margin, rounded down
    HC_MARGIN_MAX = INT16_MAX,     ///< units of a margin, at most; at least -HC_MARGIN_MAX - 1
    HC_MARGIN_SAMPLES = 256,       ///< margins of a client that its report covers, at most
    HC_MARGIN_WINDOW_US = 2000000, ///< age of the margins that a report covers, at most
    HC_MARGIN_WORST_PERCENT = 2,   ///< of the margins are below the low one
    HC_MARGIN_REPORT_US = 100000,  ///< from one report of the margin to the next, at most
    /// Heads from the newest back to a correction's baseline.
    HC_SNAPSHOT_CORRECTION_AGE = HC_SNAPSHOT_BASELINE_TICKS,

    // ---- Floods (7.1, 7.3) ----------------------------------------------------------------------

    HC_RESETS_PER_S = 10000,    ///< RESETs a second, in all
    HC_RESETS_PER_ADDRESS = 16, ///< RESETs a second to one IPv4 address or IPv6 /64, loopback apart
    HC_REPLIES_MAX = 256,       ///< answers to handshakes, and RESETs, that wait to be sent
    HC_FORGED_PER_SOURCE = 16,  ///< DATA of one source in a tick that do not open
    HC_FORGED_PER_CONNECTION = 64, ///< such DATA of all sources that name one connection, in a tick
    HC_FLOOD_DATAGRAMS = 2,        ///< datagrams of a client for each tick
    HC_FLOOD_BYTES = 1092,         ///< bytes of it for each tick and player: 64 KiB/s at 60 Hz
    HC_FLOOD_US = 500000, ///< time over which both are counted: delayed datagrams come at once
};

/// A client renews a connection whose keys sealed or opened this seq, or are this old.
#define HC_SEQ_RENEW (UINT32_C(1) << 31)
#define HC_KEYS_LIFE_US (UINT64_C(24) * 3600 * 1000000)

/// A server takes a connection as lost that has sent this seq.
#define HC_SEQ_LOST (UINT32_C(3) << 30)

/// The seqs of farewells, above any other: that of a shutdown, then that of a restart.
#define HC_SEQ_FAREWELL (UINT32_MAX - 1)

/// The newest head that is read, and the newest tick that a server simulates: no tick of a snapshot
/// overflows.
#define HC_SNAPSHOT_TICK_MAX (HC_NO_TICK - 4 * (hc_tick)HC_SNAPSHOT_SPAN_MAX)
