/// A match of the daemon: a server of its own, with its counts and its log lines.
///
/// A daemon has one match or several, numbered from 1, that share nothing. Of several, a match
/// without clients is idle: it has a world, but no ticks, until the first client joins. When its
/// last client has gone it gets another world, with another seed; used tokens stay used. The world
/// of a daemon's only match plays without clients too, and no other follows it.
#pragma once

#include "common/programs/counters.h"
#include "server/daemon/door.h"
#include "server/daemon/farewells.h"
#include "server/daemon/faults.h"
#include "server/daemon/log.h"
#include "server/daemon/match_trace.h"
#include "server/daemon/npcs.h"
#include "server/daemon/options.h"
#include "server/daemon/probe.h"
#include "server/daemon/published.h"
#include "server/daemon/report.h"
#include "server/daemon/status.h"
#include "server/daemon/tracing.h"
#include "server/daemon/udp.h"
#include "server/daemon/wall_clock.h"
#include "server/daemon/watchdog.h"
#include "server/matches/placement.h"

#include <pthread.h>
#include <stdatomic.h>

/// The settings that all matches of a daemon read.
struct hc_sv_match_setting {
    const char *version;
    const struct hc_sv_options *options;
    struct hc_game game; ///< of the options, with their view
    struct hc_sv_log *log;
    struct hc_sv_placement *placement;            ///< NULL: there is one match
    pthread_mutex_t *placement_lock;              ///< all threads hold it to use the placement
    uint8_t cookie_secret[HC_SERVER_SECRET_SIZE]; ///< of several matches
    uint64_t began_us;                            ///< of the daemon's clock of ticks
    struct hc_sv_wall_clock *wall_clock;          ///< by which tokens expire
    struct hc_sv_watchdog *watchdog;              ///< NULL: there is none
    atomic_bool *drains;                          ///< true: no user without a session is admitted
    struct hc_sv_tracing *tracing;                ///< the tracks of the trace
};

/// The counts of a match, of all its worlds, as the report has them.
struct hc_sv_match_counts {
    uint64_t worlds, seed; ///< how many worlds it has had, and the seed of the present one
    uint64_t ticks, clients_now, clients_most;
    struct hc_daemon_work work;
    struct hc_server_stats host;
    struct hc_timeline_stats timeline;
};

extern const struct hc_counters hc_sv_match_counters; ///< of struct hc_sv_match_counts

/// The fate of a world into which a call hangs.
enum hc_sv_stuck_fate {
    HC_SV_STUCK_WAITS,    ///< the call may return, and the match go on with its world
    HC_SV_STUCK_RETURNED, ///< the call has returned, and the worker takes the match back
    HC_SV_STUCK_BACK,     ///< the match goes on with its world
    HC_SV_STUCK_LEFT, ///< the world is left to the call: its clients are told, and another follows
    HC_SV_STUCK_REPLACED, ///< the match has another world
    HC_SV_STUCK_CLOSED,   ///< the world was left, and no other follows
};

/// A call that hangs. The control thread sets RETURNED, the worker all that follows. While it is
/// RETURNED or LEFT the worker uses it; then the control thread frees it once the call has
/// returned.
struct hc_sv_stuck {
    uint64_t since_us;        ///< when the call began
    atomic_int fate;          ///< an enum hc_sv_stuck_fate
    struct hc_server *server; ///< the world that was left; the control thread frees it
    struct hc_sv_npcs *npcs;  ///< of the server
};

/// One thread at a time calls the functions of a match: its worker's. Another thread may read
/// `clients`, the published counts and the faults.
struct hc_sv_match {
    const struct hc_sv_match_setting *setting;
    uint16_t number;   ///< [1, matches]
    uint16_t shown;    ///< number in the log; 0: none, because the match is the only one
    bool lasts;        ///< the match's world is the only one of the daemon
    uint32_t phase_us; ///< of its ticks within the daemon's, so that matches are spread over it
    struct hc_sv_play_settings settings; ///< in force
    struct hc_sv_watch *watch;           ///< the watch of the thread that calls the server
    bool away;                 ///< a call into the match hangs in a former thread of the worker
    atomic_bool back;          ///< the former thread has left the match, which need not be away
    struct hc_sv_stuck *stuck; ///< of the call for which it is away, until its fate is decided
    atomic_uint left_worlds;   ///< worlds that are left to calls which still hang
    bool is_left;              ///< its world was left to the call, and it waits for another
    unsigned farewell_rounds;  ///< to be sent, each to all clients of the world that was left
    bool farewell_restarts;    ///< the clients shall come back
    uint64_t farewell_us;      ///< when the next round is due
    struct hc_sv_farewells farewells; ///< of the present clients
    struct hc_server *server;         ///< NULL: it has none
    struct hc_sv_npcs *npcs;          ///< of the server
    uint64_t worlds, seed;            ///< how many it has had, and the seed of the present one
    bool idle;                        ///< the world waits for its first client
    uint64_t empty_us;                ///< when its last client went; 0: it has one, or never had
    uint64_t deadline_us;             ///< of the server; UINT64_MAX: idle
    hc_tick counted_tick;             ///< newest tick in report.work.client_ticks
    uint64_t advance_us, send_us, other_us; ///< time worked since the last tick, for overload
    uint64_t busy_us;                       ///< time worked in the present window of the worker
    uint32_t load_scale;                    ///< of its work for overload, in 1/256
    unsigned accepted;                      ///< datagrams of the present reading
    bool touched;                ///< the match was given a datagram since its last deadline
    struct hc_sv_report report;  ///< of the present world, with the counts of its ticks
    struct hc_server_stats past; ///< of the worlds before
    struct hc_timeline_stats past_timeline;
    uint64_t past_ticks;
    struct hc_sv_faults faults; ///< of all worlds
    struct hc_sv_status status;
    atomic_bool refuses;                ///< joins, because it is overloaded, as the placement knows
    atomic_uint clients;                ///< connected now
    atomic_uint sessions;               ///< connected or lingering
    struct hc_sv_published counts;      ///< a struct hc_sv_match_counts
    uint64_t published_us;              ///< when they were published
    struct hc_rewind_log *rewinds;      ///< for a trace and the inspector; NULL: there are none
    struct hc_sv_match_trace traces[2]; ///< of the present world, and of one that was left
    unsigned traced;                    ///< index of the present world's
    struct hc_sv_probe_seat inspected;  ///< for the inspector
    struct hc_server_client *listed;    ///< [listed_count] clients for --admin and others
    uint32_t listed_count, listed_most;
    hc_tick listed_tick; ///< head of the timeline then

    // Another world, while it is made.
    bool makes; ///< `maker` runs, or waits to be joined
    pthread_t maker;
    struct hc_sv_watch maker_watch; ///< the call of `maker`
    atomic_bool made;
    struct hc_server *next; ///< once it is made; NULL: no memory
    uint64_t next_seed;
    struct hc_server_config next_config;
};

/// The trace of the present world.
static inline struct hc_sv_match_trace *hc_sv_match_trace_of(struct hc_sv_match *match) {
    return &match->traces[match->traced];
}

/// NULL when a server can be created by the options, else `why`, a sentence.
const char *hc_sv_match_check(const struct hc_sv_match_setting *setting,
                              const struct hc_token_ring *keys, char *why, size_t why_size);

/// Makes match `number` of one that is all zeros. False: no memory.
bool hc_sv_match_open(struct hc_sv_match *match, const struct hc_sv_match_setting *setting,
                      uint16_t number, const struct hc_token_ring *keys);

/// Plays with other settings from `now_us` on. Those that are FIXED are as before.
void hc_sv_match_set(struct hc_sv_match *match, const struct hc_sv_play_settings *settings,
                     uint64_t now_us);

/// Begins the world of a match that is not idle at `now_us`.
void hc_sv_match_begin(struct hc_sv_match *match, uint64_t now_us);

/// Waits until `until_us` for the thread that makes the next world, if there is one. False: it goes
/// on, and uses the match.
bool hc_sv_match_join(struct hc_sv_match *match, uint64_t until_us);

/// Frees its server, after hc_sv_match_join.
void hc_sv_match_close(struct hc_sv_match *match);

/// Logs an event with the match's number, if there are several; takes over `fields`, an object.
void hc_sv_match_log(struct hc_sv_match *match, enum hc_sv_log_level level, const char *event,
                     json_t *fields);

/// Gives the placement the match's sessions, and whether it refuses joins.
void hc_sv_match_update_placement(struct hc_sv_match *match);

/// Logs the server's events, and gives the placement the sessions after them.
void hc_sv_match_log_events(struct hc_sv_match *match);

/// As hc_sv_status_log_troubles; of an idle match too.
void hc_sv_match_log_troubles(struct hc_sv_match *match, bool last, uint64_t now_us);

/// Gives the server a datagram that arrived at `now_us`; of an idle match, sets its first tick.
enum hc_status hc_sv_match_receive(struct hc_sv_match *match,
                                   const struct hc_sv_datagram *datagram);

/// The same with a CONNECT that was placed, see hc_sv_placement_give.
enum hc_status hc_sv_match_receive_placed(struct hc_sv_match *match,
                                          const struct hc_sv_datagram *datagram,
                                          struct hc_sv_placed *placed);

/// As hc_server_send.
size_t hc_sv_match_send(struct hc_sv_match *match, struct hc_address *to,
                        uint8_t out[static HC_DATAGRAM_MAX], uint64_t now_us);

/// Reads the deadline again. An idle match has none.
void hc_sv_match_renew_deadline(struct hc_sv_match *match);

/// Begins a turn of the match, `late_us` after it was due, in the trace if there is one.
void hc_sv_match_begin_turn(struct hc_sv_match *match, uint64_t late_us);

/// Runs the ticks that are due at `now_us`; true: there were any. They are counted.
bool hc_sv_match_advance(struct hc_sv_match *match, uint64_t now_us);

/// Ends the work of a tick, which took `work_us`: records it, logs what is due, and gives the
/// server the time that it worked.
void hc_sv_match_end_tick(struct hc_sv_match *match, uint64_t work_us, uint64_t now_us);

/// Notes a tick for the inspector, if somebody looks at the match.
void hc_sv_match_inspect(struct hc_sv_match *match, const struct hc_sv_probe_work *work,
                         uint64_t now_us);

/// Receives and drops the messages of the clients: a plugin has no rule for them.
void hc_sv_match_drop_messages(struct hc_sv_match *match);

/// Whether the match waits for another world: its last client went a while ago, or its world has no
/// more ticks.
bool hc_sv_match_is_over(const struct hc_sv_match *match, uint64_t now_us);

/// Gives a match that is over another world, which a thread of its own makes meanwhile: call it at
/// every tick. `keys` are those of the daemon.
void hc_sv_match_renew(struct hc_sv_match *match, const struct hc_token_ring *keys,
                       uint64_t now_us);

/// Decides the fate of the call for which the match was away, and leaves it to the control thread.
void hc_sv_match_decide(struct hc_sv_match *match, enum hc_sv_stuck_fate fate);

/// Does what is due for a match that is away, at every period of the worker: leaves its world to
/// the call that hangs, once that has lasted too long or the match `ends`, and has another one
/// made. If it ends, the farewells say so, unless the daemon `restarts`. True: the match has
/// another world, which its caller must give what it has missed, and is away no more.
bool hc_sv_match_mend(struct hc_sv_match *match, const struct hc_token_ring *keys, bool ends,
                      bool restarts, uint64_t now_us);

/// Whether a round of farewells is due; then the caller sends them all.
bool hc_sv_match_farewell_due(struct hc_sv_match *match, uint64_t now_us);

/// Publishes the match's counts; `scratch` is memory for them.
void hc_sv_match_publish(struct hc_sv_match *match, struct hc_sv_match_counts *scratch,
                         uint64_t now_us);

/// Lists the clients for --admin and --agones. Another thread reads them after it has ordered the
/// list, and has learned that it is made.
void hc_sv_match_list_clients(struct hc_sv_match *match, uint64_t now_us);

/// Adds the counts of a match to a report whose `host` and `timeline` are `*stats` and `*timeline`.
void hc_sv_match_add_counts(const struct hc_sv_match_counts *counts, struct hc_sv_report *report,
                            struct hc_server_stats *stats, struct hc_timeline_stats *timeline);

/// The part of the report of match `number`, an object.
json_t *hc_sv_match_report(unsigned number, const struct hc_sv_match_counts *counts);
