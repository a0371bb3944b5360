/// One bot: a client with its link, its inputs and its counts, from its start in the ramp to its
/// end.
#pragma once

#include "client/bots/due.h"
#include "client/bots/fleet.h"
#include "client/bots/keys.h"
#include "client/programs/runner.h"

/// Kinds of lines about single bots.
enum hc_cl_bot_line {
    HC_CL_BOT_PLAYS,
    HC_CL_BOT_WAITS,
    HC_CL_BOT_LOST,
    HC_CL_BOT_REFUSED,
    HC_CL_BOT_ENDED,
    HC_CL_BOT_DESYNC,
    HC_CL_BOT_LINES
};

enum { HC_CL_BOT_NOTICES = 8 };

/// A notice that was printed, and the bot that had it first.
struct hc_cl_bot_notice {
    char text[HC_NOTICE_TEXT_MAX + 1]; ///< The seconds of the others may be less by now.
    enum hc_notice_kind kind;
    uint32_t number; ///< of the bot
    uint64_t since_us;
};

/// The common part of the bots of a fleet.
struct hc_cl_bots {
    const struct hc_cl_fleet_config *config;
    struct hc_cl_fleet_result *result;
    uint64_t started_us;             ///< of the fleet
    uint64_t late_us;                ///< longest lateness since the last progress
    bool terminal;                   ///< standard error may show a line of progress
    uint32_t lines[HC_CL_BOT_LINES]; ///< printed
    struct hc_cl_bot_notice notices[HC_CL_BOT_NOTICES]; ///< the newest, a ring
    uint32_t notice_count;                              ///< printed
};

struct hc_cl_bot {
    struct hc_cl_runner runner;
    struct hc_cl_bots *bots;
    bool light;
    uint32_t number; ///< in the whole run
    uint32_t token;  ///< index of the session's token
    struct hc_thinker brain;
    struct hc_cl_keys keys;                   ///< of a light client
    uint64_t begun_us, accepted_us, ended_us; ///< 0: not yet
    uint64_t late_us;     ///< how late its turns were at most while it connected for the first time
    bool lost;            ///< a session before was lost with its server, and none began since
    bool received;        ///< a snapshot was received
    uint64_t snapshots;   ///< snapshots received as of the last turn
    uint64_t snapshot_us; ///< when the newest one arrived
    struct hc_cl_due due; ///< the session's snapshots
    bool rejoined;        ///< a session before this one has ended
    bool denial_printed;  ///< for the current attempts to connect
    hc_tick first, last;  ///< server ticks of the first and the newest snapshot, if `received`
};

/// Makes a bot, whose link `runner.udp` the caller sets. `number`: in the whole run, also of its
/// token.
void hc_cl_bot_init(struct hc_cl_bot *bot, struct hc_cl_bots *bots, bool light, uint32_t number);

/// Starts the bot's client; false, counted and printed: no memory.
bool hc_cl_bot_begin(struct hc_cl_bot *bot, uint64_t now);

/// Does everything that is due at `now`, and returns the next deadline; UINT64_MAX: the client is
/// closed, and all is sent. Often only the link is due, to send on.
uint64_t hc_cl_bot_turn(struct hc_cl_bot *bot, uint64_t now);

/// Frees the client of a session that has ended, so that hc_cl_bot_begin starts another one with
/// the token of that index.
void hc_cl_bot_renew(struct hc_cl_bot *bot, uint32_t token);

/// Frees the client of a session that the server has lost, and counts it, so that hc_cl_bot_restart
/// starts another one.
void hc_cl_bot_lose(struct hc_cl_bot *bot, uint64_t now);

/// Makes the bot as it was before its first session, for a server that was started anew. The
/// caller begins it.
void hc_cl_bot_restart(struct hc_cl_bot *bot);

/// Counts and prints a client that waited for the search in vain. `why`: a sentence, or empty.
void hc_cl_bot_give_up(struct hc_cl_bot *bot, const char *why);

/// Counts how the client stands just before it leaves.
void hc_cl_bot_count_end(struct hc_cl_bot *bot, uint64_t now);

/// Counts the snapshots of a session that ends, or leaves, at `now`.
void hc_cl_bot_count_snapshots(struct hc_cl_bot *bot, uint64_t now);

/// Adds the counts of the present session to `result`.
void hc_cl_bot_add_session(const struct hc_cl_bot *bot, uint64_t end_us,
                           struct hc_cl_fleet_result *result);
