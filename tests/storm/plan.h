/// The plan of a match: every number that it is played with, drawn from one seed.
///
/// A number has a key. Each is drawn from a random stream of its own, which the key's name selects:
/// a new key changes no other's number, a new name changes every match. Each may be set by hand,
/// which makes a failing match smaller.
///
/// One seed in twenty is a crowd: 16 clients with 4 players each, most of which see a part of the
/// arena only, in a brief storm.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
    STORM_CLIENTS_MAX = 16, ///< clients that may connect in a match
    STORM_TICKS_MAX = 4096, ///< of a match, its end included
    STORM_TICKS_MIN = 300,  ///< of the server, in a match in which nothing is wrong
};

/// X(key, neutral, ppm, min, max, description). With a probability of `ppm` in a million the number
/// is drawn from [min, max], small ones more often where min is below a tenth of max; else it is
/// the neutral one, with which nothing out of the ordinary happens.
#define STORM_MATCH_KEYS(X)                                                                        \
    X(lanes, 0, 150000, 1, 1, "1: the game of lanes; 0: the arena")                                \
    X(example, 0, 40000, 1, 2, "1: examples/pong, 2: examples/duel, in the place of these")        \
    X(tick_rate, 60, 400000, 15, 128, "Hz")                                                        \
    X(history, 64, 500000, 0, 128, "W; ticks")                                                     \
    X(slack, 512, 80000, 0, 40,                                                                    \
      "late_margin: inputs may be later than usual by so much and a tick")                         \
    X(future, 64, 300000, 1, 100, "inputs are accepted up to head + future; ticks")                \
    X(clients, 1, 1000000, 1, 16, "that connect; small numbers are far more frequent")             \
    X(slots, 0, 100000, 1, 64, "of the server; 0: as many as the clients need")                    \
    X(ticks, 300, 1000000, 250, 460, "of storm, before all is calm")                               \
    X(brief, 0, 920000, 30, 60, "percent that all ticks of the storm are cut to; 0: they are not") \
    X(timeout_ms, 10000, 400000, 700, 4000, "silence after which either end gives up")             \
    X(ticks_per_advance, 16, 300000, 1, 64, "the server catches up at most so many at once")       \
    X(keep_ms, 0, 250000, 50, 3000,                                                                \
      "for which the players of a lost client linger; 0: they leave")                              \
    X(host_stalls, 0, 250000, 1, 3, "times that the server does nothing for a while")              \
    X(host_stall_ms, 100, 1000000, 5, 2500, "how long")                                            \
    X(split_tick, 0, 200000, 1, 400, "when some clients are cut off together; 0: never")           \
    X(split_ms, 200, 1000000, 20, 3000, "for how long")                                            \
    X(split_mask, 1, 1000000, 1, 65535, "which: bit i is client i")                                \
    X(hostile, 0, 300000, 1, 3, "clients, the last ones, that attack")                             \
    X(calm_inputs, 0, 500000, 1, 1, "1: keys are pressed for a while after the storm, too")        \
    X(fray_ms, 0, 250000, 200, 3000,                                                               \
      "longest phase of the quick arena, see quick_arena.h; 0: none")                              \
    X(fray_wait_ms, 2000, 700000, 1, 1000,                                                         \
      "until a dead player, or a pickup, appears there again")                                     \
    X(fray_whim, 0, 700000, 1, 100, "ends a match there where the aims' sum is a multiple")        \
    X(fray_goal, 3, 700000, 1, 6, "kills that end a match there")                                  \
    X(fray_health, 100, 800000, 1, 100, "of a player that appears there")                          \
    X(fray_crowd, 0, 400000, 1, 1, "1: all appear there in one place")                             \
    X(force_rewind, 0, 80000, 1, 64, "ticks that the server repeats at every tick; W at most")     \
    X(snapshot_rate, 0, 120000, 5, 60, "Hz; 0, or above the tick rate: a snapshot every tick")     \
    X(client_rate, 262144, 250000, 4000, 60000, "bytes/s that each client is sent at most")        \
    X(view, 0, 350000, 512, 4096, "of players in an arena; 0: all of a small one")                 \
    X(names, 0, 500000, 1, 1, "1: the users of the clients have names, another at each connect")   \
    X(final_kinds, 0, 200000, 1, 31, "of game events that wait for the final tick, a bit each")    \
    X(talk, 0, 150000, 1, 40, "ticks between messages that games send; 0: they send none")         \
    X(told, 0, 125000, 1, 1, "1: all that the server sends is read, see sent_values.c")            \
    X(tame, 0, 166667, 1, 1, "1: played again without its attacks, which must hurt nobody")        \
    X(shared, 0, 100000, 1, 3, "the clients share a narrow link: 1 up, 2 down, 3 both ways")       \
    X(shared_rate, 60000, 1000000, 20000, 250000, "bytes/s of that link")                          \
    X(shared_queue_ms, 100, 1000000, 20, 500, "of that link")                                      \
    X(shared_dip_tick, 0, 400000, 1, 400, "when that link is narrower for a while; 0: never")      \
    X(shared_dip_ms, 1000, 1000000, 500, 3000, "how long")                                         \
    X(flags, 0, 150000, 1, 1, "1: a field of each kind tells that its entity has teleported")      \
    X(matches, 0, 200000, 2, 5, "on the server's port, see matches.h; 0: one world")               \
    X(restarts, 0, 600000, 1, 3, "of a port with matches: to one world, and to matches again")

#define STORM_CLIENT_KEYS(X)                                                                       \
    X(players, 1, 300000, 0, 4, "local players")                                                   \
    X(delay, 3, 700000, 0, 12, "D; ticks")                                                         \
    X(lead, 0, 300000, 1, 20, "ticks")                                                             \
    X(delay_max, 0, 250000, 1, 12, "above the delay: it is automatic up to so many ticks")         \
    X(lead_max, 0, 150000, 1, 20, "the same for the lead")                                         \
    X(display, 0, 500000, 1, 40, "display offset; ticks")                                          \
    X(others, 0, 350000, 1, 2, "are shown: 1 as predicted, 2 as received, 0 by the game")          \
    X(limit, 64, 400000, 4, 120, "prediction limit; ticks")                                        \
    X(redundancy, 0, 150000, 1, 24, "inputs in each datagram; 0: all unacknowledged ones")         \
    X(extrapolation, 2, 250000, 0, 1, "its best: 0 holds values, 1 moves them, 2 steps them")      \
    X(smoothing_ms, 50, 300000, 0, 200, "in which half of a correction is blended")                \
    X(pops, 0, 100000, 1, 1, "1: it is not; what is corrected pops")                               \
    X(up_latency_ms, 0, 900000, 1, 220, "one way")                                                 \
    X(up_jitter_ms, 0, 600000, 1, 80, "")                                                          \
    X(up_loss, 0, 600000, 1, 450, "in a thousand")                                                 \
    X(up_burst, 0, 400000, 2, 9, "mean length of a loss burst; packets")                           \
    X(up_duplicate, 0, 300000, 1, 400, "in a thousand")                                            \
    X(up_reorder, 0, 300000, 1, 400, "in a thousand")                                              \
    X(up_rate, 0, 100000, 3000, 60000, "bytes/s; 0: no limit")                                     \
    X(up_queue_ms, 50, 1000000, 5, 300, "of a limited rate")                                       \
    X(down_latency_ms, 0, 900000, 1, 220, "one way")                                               \
    X(down_jitter_ms, 0, 600000, 1, 80, "")                                                        \
    X(down_loss, 0, 600000, 1, 450, "in a thousand")                                               \
    X(down_burst, 0, 400000, 2, 9, "mean length of a loss burst; packets")                         \
    X(down_duplicate, 0, 300000, 1, 400, "in a thousand")                                          \
    X(down_reorder, 0, 300000, 1, 400, "in a thousand")                                            \
    X(down_rate, 0, 100000, 8000, 120000, "bytes/s; 0: no limit")                                  \
    X(down_queue_ms, 50, 1000000, 5, 300, "of a limited rate")                                     \
    X(join_tick, 0, 400000, 1, 350, "when it connects")                                            \
    X(leave_tick, 0, 250000, 40, 440, "when it goes; 0: never")                                    \
    X(crash, 0, 500000, 1, 1, "1: it goes without a goodbye")                                      \
    X(back_ticks, 0, 600000, 1, 200, "after which it connects again; 0: never")                    \
    X(same_port, 0, 500000, 1, 1, "1: from the same address")                                      \
    X(reconnect_ms, 0, 350000, 300, 8000,                                                          \
      "for which it tries to reconnect when it is lost; 0: not")                                   \
    X(same_user, 0, 300000, 1, 1, "1: it connects as the same user, and takes over its players")   \
    X(stall_tick, 0, 200000, 1, 450, "when it does nothing for a while; 0: never")                 \
    X(stall_ms, 200, 1000000, 10, 3500, "how long")                                                \
    X(dark_tick, 0, 200000, 1, 450, "when its links lose all for a while; 0: never")               \
    X(dark_ms, 200, 1000000, 10, 3500, "how long")                                                 \
    X(dark_ways, 3, 400000, 1, 2, "1: up, 2: down, 3: both")                                       \
    X(worse_tick, 0, 150000, 1, 450, "when its links become worse for a while; 0: never")          \
    X(worse_ms, 500, 1000000, 50, 3000, "how long")                                                \
    X(worse_latency_ms, 0, 1000000, 0, 300, "more latency each way")                               \
    X(worse_loss, 0, 1000000, 0, 600, "at least, in a thousand")                                   \
    X(dip_tick, 0, 150000, 1, 450, "when its links are narrow for a while; 0: never")              \
    X(dip_ms, 1000, 1000000, 500, 3000, "how long")                                                \
    X(dip_rate, 1000, 300000, 1000, 8000, "bytes/s meanwhile")                                     \
    X(dip_queue, 65536, 700000, 1500, 65535, "bytes before such a link")                           \
    X(dip_ways, 3, 500000, 1, 2, "1: up, 2: down, 3: both")                                        \
    X(scan_ms, 0, 80000, 20, 200, "for which its links lose all, again and again, as in a scan")   \
    X(scan_every_ms, 10000, 900000, 1000, 9000, "from one such scan to the next")                  \
    X(route_tick, 0, 120000, 1, 450, "when its way becomes longer or shorter; 0: never")           \
    X(route_ms, 40, 900000, -100, 100, "by which it is longer, one way")                           \
    X(route_ways, 3, 400000, 1, 2, "1: up, 2: down, 3: both")                                      \
    X(frame_ms, 0, 120000, 8, 60, "of its frames: one advance each; 0: whenever one is due")       \
    X(tap_ticks, 0, 250000, 30, 90,                                                                \
      "between taps of its buttons, pressed and released within a tick; 0: its keys press them")   \
    X(sleeps, 0, 300000, 1, 1, "1: its clock stands nearly still while it does nothing")           \
    X(clock_offset_s, 0, 500000, 1, 100000, "what its clock shows at the beginning")               \
    X(clock_ppm, 0, 400000, -500, 500, "by which its clock is fast")                               \
    X(jump_tick, 0, 80000, 1, 400, "when its clock jumps; 0: never")                               \
    X(jump_ms, 20, 1000000, 1, 1500, "how far")                                                    \
    X(script, 0, 800000, 1, 4,                                                                     \
      "its hands: 0 hold keys for a while, 1 mash, 2 hold one, "                                   \
      "3 chase, 4 flip")                                                                           \
    X(attack, 1, 1000000, 1, 4095, "of a hostile one: a bit for each way, see match_internal.h")   \
    X(rebind_ticks, 0, 150000, 5, 300,                                                             \
      "after which its address changes, again and again; 0: never")                                \
    X(knob_ticks, 0, 250000, 8, 150,                                                               \
      "after which it changes input delay, lead and what it shows, again and again; 0: never")     \
    X(barred, 0, 250000, 1, 2,                                                                     \
      "from a port with matches: 1 its user is refused, 2 it wants more players than its token")

enum storm_match_key {
#define STORM_ENUM(key, ...) STORM_##key,
    STORM_MATCH_KEYS(STORM_ENUM) STORM_MATCH_KEY_COUNT
};

enum storm_client_key {
#define STORM_CLIENT_ENUM(key, ...) STORM_C_##key,
    STORM_CLIENT_KEYS(STORM_CLIENT_ENUM) STORM_CLIENT_KEY_COUNT
};

struct storm_plan {
    uint64_t seed;
    int64_t match[STORM_MATCH_KEY_COUNT];
    int64_t client[STORM_CLIENTS_MAX][STORM_CLIENT_KEY_COUNT];
};

/// A key of the match, or of each client.
struct storm_key {
    const char *name, *what;
    int64_t neutral, min, max;
    uint32_t ppm;
};
extern const struct storm_key storm_match_keys[STORM_MATCH_KEY_COUNT];
extern const struct storm_key storm_client_keys[STORM_CLIENT_KEY_COUNT];

/// Draws everything from `seed`.
void storm_plan_draw(struct storm_plan *plan, uint64_t seed);

/// Sets one number: "key=value" of the match, "key@i=value" of client i, "key@*=value" of all.
/// NULL, or why it is no assignment.
const char *storm_plan_set(struct storm_plan *plan, const char *assignment);

/// Makes the assignments that `text` begins with: words with a '=' and blanks between them. Returns
/// the rest of the text, or NULL: the word at `*wrong` is no assignment, and `*why` says why.
const char *storm_plan_set_words(struct storm_plan *plan, const char *text, const char **wrong,
                                 const char **why);

/// The tick of this match's storm for one that was drawn: earlier in a brief storm, but not 0,
/// which is never.
int64_t storm_plan_tick(const struct storm_plan *plan, int64_t tick);

/// Prints the command options that give the plan.
void storm_plan_print_options(const struct storm_plan *plan, FILE *out);

/// Prints every number that is not neutral.
void storm_plan_print(const struct storm_plan *plan, FILE *out);

/// Whether a client is hostile: the last ones are. One at least is honest, and on a port with
/// matches all are.
bool storm_plan_hostile(const struct storm_plan *plan, unsigned client);

/// The local players of all clients together.
unsigned storm_plan_players(const struct storm_plan *plan);

/// The server's slots: as set, or as many as all clients and their players need, at most as many as
/// it allows.
unsigned storm_plan_slots(const struct storm_plan *plan);
