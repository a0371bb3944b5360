/// Attacks on the server, each a row of one table: the tries, those that were accepted, and the
/// effect on honest players.
///
/// A row is a function that fills in a struct attack. It states with attack_require the conditions
/// that must hold; the first one that fails is printed beside the row, and the program exits
/// with 1. Counts and ratios have exact bounds. Times must be within ten times theirs, because
/// machines differ.
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The result of one row.
struct attack {
    uint64_t tries, accepted;
    double amplification; ///< the most bytes out for one in; below 0: does not apply
    char effect[200];     ///< on honest players, and other figures
    bool failed;
    char why[200];      ///< the first condition that does not hold
    const char *daemon; ///< path of hindcastd, for rows that attack a real one
    bool flood;         ///< the ladder of floods is run too
};

enum attack_kind {
    ATTACK_CORES,   ///< in virtual time, or against the cores
    ATTACK_SOCKETS, ///< against a daemon on loopback
};

struct attack_row {
    const char *name;
    enum attack_kind kind;
    const char *holds; ///< a sentence that must be true
    void (*run)(struct attack *attack);
};

/// Requires a condition; the rest is printf's arguments for its failure.
void attack_require(struct attack *attack, bool condition, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/// Appends to the row's effect.
void attack_effect(struct attack *attack, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/// Counts one try, and whether the server accepted it.
void attack_try(struct attack *attack, bool accepted);

/// Requires at least `tries_min` tries, and that none was accepted.
void attack_require_none(struct attack *attack, uint64_t tries_min);

/// Processor time of this thread, microseconds.
double attack_cpu_us(void);

// handshake.c: attacks without a session.
void attack_amplification(struct attack *attack);
void attack_victim_address(struct attack *attack);
void attack_cookie(struct attack *attack);
void attack_stolen_token(struct attack *attack);
void attack_misused_token(struct attack *attack);
void attack_connect_flips(struct attack *attack);
void attack_curve(struct attack *attack);

// accounts.c: accounts that exhaust resources, or keep a session that they lost.
void attack_ticket_flood(struct attack *attack);
void attack_outages(struct attack *attack);
void attack_rights(struct attack *attack);
void attack_ended_sessions(struct attack *attack);
void attack_void_tokens(struct attack *attack);
void attack_forgotten_users(struct attack *attack);
void attack_clock_steps(struct attack *attack);
void attack_takeover(struct attack *attack);
void attack_foreign_closes(struct attack *attack);

// lost_ends.c: clients that move and leave faster than the program reads events.
void attack_lost_ends(struct attack *attack);

// address_limits.c: limits of one network address.
void attack_address_clients(struct attack *attack);
void attack_reset_flood(struct attack *attack);
void attack_searches(struct attack *attack);

// sealed_datagrams.c: recorded, changed and forged datagrams.
void attack_replay(struct attack *attack);
void attack_replay_window(struct attack *attack);
void attack_nonces(struct attack *attack);
void attack_data_flips(struct attack *attack);
void attack_accept_flips(struct attack *attack);
void attack_predicted_nonces(struct attack *attack);
void attack_replayed_accept(struct attack *attack);
void attack_recorded_session(struct attack *attack);

// parsing.c: hostile contents of datagrams, names and log lines.
void attack_acks(struct attack *attack);
void attack_bombs(struct attack *attack);
void attack_names(struct attack *attack);
void attack_log_lines(struct attack *attack);

// time_cheats.c: players that cheat with ticks, inputs and clocks.
void attack_future(struct attack *attack);
void attack_saved_inputs(struct attack *attack);
void attack_speed(struct attack *attack);
void attack_lag_switch(struct attack *attack);
void attack_ancient(struct attack *attack);
void attack_clock_day(struct attack *attack);
void attack_clock_fast(struct attack *attack);

// leaping_final.c: a player that holds its inputs back.
void attack_leaping_final(struct attack *attack);

// hidden_units.c: players that look for units out of their view.
void attack_wallhack(struct attack *attack);
void attack_predicted_places(struct attack *attack);
void attack_chain(struct attack *attack);

// late_inputs.c: players that change more of the past than their latency explains.
void attack_late_limit(struct attack *attack);
void attack_hindsight(struct attack *attack);
void attack_far_path(struct attack *attack);

// connections.c: messages over bad links, clients that move, and restarted servers.
void attack_events(struct attack *attack);
void attack_rebind(struct attack *attack);
void attack_spoofed_rebind(struct attack *attack);
void attack_restart(struct attack *attack);

// sealing_cost.c: the server's time for sealing.
void attack_sealing_cost(struct attack *attack);

// client_cost.c: clients that cost the server more than others.
void attack_client_cost(struct attack *attack);
void attack_silent_players(struct attack *attack);
void attack_questions(struct attack *attack);
void attack_forged_data(struct attack *attack);
void attack_forged_copies(struct attack *attack);

// daemon.c: a real daemon.
void attack_flood(struct attack *attack);
void attack_data_flood(struct attack *attack);
void attack_kill(struct attack *attack);
void attack_matches(struct attack *attack);
void attack_daemon_log(struct attack *attack);

// http_faces.c: the token port and the admin face of a real daemon.
void attack_admin(struct attack *attack);
void attack_admin_face(struct attack *attack);
void attack_admin_pages(struct attack *attack);
void attack_admin_crowd(struct attack *attack);
