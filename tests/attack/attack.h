/// Attacks on the server, each an executable row of one table: what is tried, how often, what got
/// through, and what those who play honestly felt of it.
///
/// A row is a function that fills in a struct attack. It says what must hold with attack_require;
/// the first thing that does not is printed beside the row, and the program exits with 1. Counts
/// and ratios are judged as they are, times only against ten times their bound: machines differ.
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// One row, as it is found to be.
struct attack {
    uint64_t tries, accepted;
    double amplification; ///< the most bytes out for one in; below 0: there is nothing to answer
    char effect[200];     ///< on those who play honestly, and figures of its own
    bool failed;
    char why[200];      ///< the first thing that does not hold
    const char *daemon; ///< path of hindcastd, for the rows that attack a real one
    bool flood;         ///< the whole ladder of floods is wanted
};

enum attack_kind {
    ATTACK_CORES,   ///< in virtual time, or against the cores
    ATTACK_SOCKETS, ///< against a daemon on loopback
};

struct attack_row {
    const char *name;
    enum attack_kind kind;
    const char *holds; ///< a sentence: what must be so
    void (*run)(struct attack *attack);
};

/// Says that something must hold; the rest is as for printf and tells what does not.
void attack_require(struct attack *attack, bool condition, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/// Adds to the row's effect.
void attack_effect(struct attack *attack, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/// Counts one try, and whether it got through.
void attack_try(struct attack *attack, bool accepted);

/// All got through that must, and nothing else: tries were made and none was accepted.
void attack_require_none(struct attack *attack, uint64_t tries_min);

/// Processor time of this thread, microseconds.
double attack_cpu_us(void);

// door.c: before anybody is let in.
void attack_amplification(struct attack *attack);
void attack_blame(struct attack *attack);
void attack_cookie(struct attack *attack);
void attack_stolen_token(struct attack *attack);
void attack_misused_token(struct attack *attack);
void attack_connect_flips(struct attack *attack);
void attack_curve(struct attack *attack);

// accounts.c: what one account can use up.
void attack_ticket_flood(struct attack *attack);
void attack_outages(struct attack *attack);
void attack_rights(struct attack *attack);
void attack_put_out(struct attack *attack);
void attack_clock_steps(struct attack *attack);

// limits.c: what one address may have.
void attack_household(struct attack *attack);
void attack_reset_flood(struct attack *attack);

// seal.c: datagrams that somebody has kept, changed or made up.
void attack_replay(struct attack *attack);
void attack_replay_window(struct attack *attack);
void attack_nonces(struct attack *attack);
void attack_data_flips(struct attack *attack);
void attack_accept_flips(struct attack *attack);
void attack_foretold(struct attack *attack);
void attack_replayed_accept(struct attack *attack);
void attack_recorded(struct attack *attack);

// body.c: what a client says that was let in.
void attack_acks(struct attack *attack);
void attack_bombs(struct attack *attack);
void attack_names(struct attack *attack);
void attack_log_lines(struct attack *attack);

// cheat.c: players who want more than their share.
void attack_future(struct attack *attack);
void attack_speed(struct attack *attack);
void attack_lag_switch(struct attack *attack);
void attack_ancient(struct attack *attack);
void attack_clock_day(struct attack *attack);
void attack_clock_fast(struct attack *attack);

// sight.c: players who look for more than their view.
void attack_wallhack(struct attack *attack);
void attack_foretell(struct attack *attack);
void attack_chain(struct attack *attack);

// late.c: players who want to change more of the past than their path makes them.
void attack_late_limit(struct attack *attack);
void attack_far_path(struct attack *attack);

// path.c: lost connections, moved clients, and a server that is started again.
void attack_events(struct attack *attack);
void attack_rebind(struct attack *attack);
void attack_spoofed_rebind(struct attack *attack);
void attack_restart(struct attack *attack);

// price.c: what all that costs.
void attack_price(struct attack *attack);

// cost.c: clients that make work.
void attack_cost(struct attack *attack);
void attack_forged_data(struct attack *attack);
void attack_forged_copies(struct attack *attack);

// field.c: a real daemon.
void attack_flood(struct attack *attack);
void attack_kill(struct attack *attack);
void attack_daemon_log(struct attack *attack);
void attack_admin(struct attack *attack);
