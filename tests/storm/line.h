/// Lines: what either side of a connection knows to have arrived, and what the client may still
/// show, read off what both say.
#pragma once

#include "client/snapshot_reader.h"
#include "server/replication/sent_log.h"
#include "tests/storm/beside.h"
#include "tests/storm/conns.h"
#include "tests/storm/held.h"
#include "tests/storm/units.h"

struct storm_match;

enum {
    STORM_LINE_REPORTS = 1024,                   ///< DATA of a client that are remembered
    STORM_LINE_SNAPSHOTS = 512,                  ///< DATA of the server that are
    STORM_LINE_WINDOW = 128,                     ///< past ticks of each
    STORM_LINE_RANGES = 64,                      ///< forced in each
    STORM_LINE_CONTROLS = 256,                   ///< joins and leaves told that are remembered
    STORM_LINE_HEADS = HC_SV_SENT_LOG_SNAPSHOTS, ///< for which the server remembers what it told
};

/// When the server heard that a datagram has arrived: when it may have forgotten what that told, or
/// knew it still.
enum { STORM_LINE_LATE = 1, STORM_LINE_IN_TIME = 2 };

/// A set of units.
struct storm_set {
    uint64_t bits[STORM_UNITS_MAX / 64];
};

/// What a client said in a DATA.
struct storm_report {
    uint32_t seq, ack, ack_bits;
    bool has_input;
    hc_tick client_tick;
    uint32_t display_offset;
    uint64_t ack_delay_us;
};

struct storm_range {
    hc_player player;
    hc_tick first;
    uint32_t count;
};

/// What the server said in a DATA.
struct storm_snapshot {
    uint32_t seq, acked; ///< its number, and the newest that it knew to have arrived
    uint64_t sent_us;
    bool received, full;
    hc_tick as_of, tick;
    hc_tick from;             ///< what is shown from here on must be right; HC_NO_TICK: not known
    struct storm_set told;    ///< of which units it had values
    struct storm_set dropped; ///< which units it told to forget
    struct storm_set kept;    ///< of these, those of which the past must be right, too
    uint64_t
        digests[STORM_LINE_WINDOW]; ///< of the ticks in [from, tick), of those, as they were then
    unsigned corrections, range_count;
    struct storm_range ranges[STORM_LINE_RANGES];
};

/// A range of forced inputs that was told.
struct storm_forced {
    struct storm_range range;
    uint32_t seq; ///< the first that told it
};

/// A join or leave that was told in every snapshot from `since` to `last`.
struct storm_control {
    struct hc_snapshot_roster roster_change;
    uint32_t since, last; ///< datagrams; 0: none
};

/// A unit, as the server must see it for a client.
struct storm_unit_seen {
    bool known;                ///< told, and not to be forgotten since, or that was lost
    uint32_t first_drop, drop; ///< the first and the newest datagram since then that told to forget
                               ///< it; 0: none, or one of them has arrived
    hc_tick acked;             ///< head of the newest snapshot with a value of it that has arrived
    hc_tick in;                ///< head since which it is in view; HC_NO_TICK: it is not
};

/// One connection.
struct storm_line {
    const struct storm_conn *conn;
    struct hc_cl_snapshot_reader *reader;
    struct storm_unit_seen units[STORM_UNITS_MAX];
    hc_tick as_of;                      ///< of the newest snapshot
    uint32_t entries[STORM_LINE_HEADS]; ///< by head: values told
    hc_tick entry_head[STORM_LINE_HEADS];
    struct storm_report reports[STORM_LINE_REPORTS];
    struct storm_snapshot snapshots[STORM_LINE_SNAPSHOTS];
    uint8_t sent[STORM_SEQS], heard[STORM_SEQS]; ///< of the client's seqs: 1
    uint8_t acked[STORM_SEQS];                   ///< of the server's: it knows that it has arrived,
                                                 ///< and heard of it STORM_LINE_LATE or IN_TIME
    uint32_t newest_heard, newest_acked;
    uint32_t unsure;   ///< up to this one what is not known to have arrived may be so to the server
    bool in_order;     ///< the one before the newest heard was heard before it
    uint32_t full_seq; ///< newest datagram in which something may have been left out
    uint64_t rtt_us;   ///< at least what the server has measured; UINT64_MAX: nothing
    struct storm_forced forced[STORM_LINE_RANGES];
    unsigned forced_next;
    struct storm_control roster_changes[STORM_LINE_CONTROLS];
    unsigned controls_next;
    uint32_t newest; ///< datagram with a snapshot
    uint8_t retracted[HC_OWN_PLAYERS_MAX][STORM_TICKS_MAX];
    uint64_t taken_corrections, taken_forced;
    struct storm_held *held;
};

struct storm_told {
    struct storm_line *lines[STORM_CONNS_MAX];
    uint64_t corrections;
    bool lost; ///< somebody's snapshots could not be read
    struct hc_body body;
};

static inline void storm_set_add(struct storm_set *set, hc_unit unit) {
    set->bits[unit / 64] |= UINT64_C(1) << unit % 64;
}

static inline bool storm_set_has(const struct storm_set *set, hc_unit unit) {
    return (set->bits[unit / 64] >> unit % 64 & 1) != 0;
}

/// The line of a connection, which begins with the first call; NULL: it is not followed. And that
/// of an honest connection alone.
struct storm_line *storm_line_any(struct storm_match *match, unsigned client, uint32_t cid);
struct storm_line *storm_line_of(struct storm_match *match, unsigned client, uint32_t cid);

/// Frees it; NULL is allowed.
void storm_line_free(struct storm_line *line);

/// Takes in what the server says that it has heard since it said so last.
void storm_line_hear(struct storm_match *match, struct storm_line *line,
                     const struct hc_data *data);

/// The first tick that the client may still show, by what it has reported last; HC_NO_TICK: it has
/// reported nothing.
hc_tick storm_line_window(const struct storm_line *line);

/// Ticks before this one the client is past when it hears, by its newest report and the shortest
/// way there and back that its links have; 0: that is not known. What the server has measured is no
/// less, and once it has measured anything it spares what would come too late.
hc_tick storm_line_past_before(const struct storm_match *match, const struct storm_line *line,
                               unsigned client);

/// The first past tick that the client may show when it takes this snapshot; HC_NO_TICK: not known.
/// What the server takes for it is no later: while the client moves on it may add the ticks of the
/// least round trip that it has measured, less one.
hc_tick storm_line_shown_from(const struct storm_match *match, const struct storm_line *line,
                              const struct storm_snapshot *snapshot);

/// Whether the server knows, or must think, that the datagram has not arrived.
bool storm_line_lost(const struct storm_line *line, uint32_t seq);

/// Whether the server may have forgotten what it told at that head: it is long ago, or there was
/// too much since.
bool storm_line_forgotten(const struct storm_match *match, const struct storm_line *line,
                          hc_tick as_of, hc_tick head);

/// Whether the server may have forgotten what datagram `seq` told.
bool storm_line_old(const struct storm_match *match, const struct storm_line *line, uint32_t seq,
                    const struct storm_snapshot *now);
