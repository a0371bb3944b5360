/// The pace of DATA, and the choice of the inputs that each DATA carries.
#pragma once

#include "proto/message.h"

/// The pace at which a client predicts.
struct hc_cl_pace {
    uint64_t ticks;       ///< The number of ticks predicted so far.
    uint64_t interval_us; ///< The time from one tick to the next.
    bool steady;          ///< The client plays, and predicts a tick in each interval.
};

/// The inputs that a DATA may carry.
struct hc_cl_choice {
    hc_tick next;        ///< The stamped inputs end before this tick.
    hc_tick wanted;      ///< The server still needs the inputs from this tick on.
    uint32_t redundancy; ///< hc_client_config.input_redundancy
    uint64_t answer_us;  ///< The server acks an input within this time, unless it is lost.
    uint32_t tick_rate;  ///< Hz
};

/// Only sending.c writes to it.
struct hc_cl_sending {
    bool due;           ///< A DATA is to be sent.
    uint64_t due_us;    ///< The last DATA became due by its pace at this time.
    uint64_t ticks;     ///< hc_cl_pace.ticks at that time
    hc_tick unsent;     ///< No datagram has carried the stamps from this tick on.
    hc_tick wanted;     ///< The server lacked the stamps from this tick on when DATA was last sent.
    uint64_t wanted_us; ///< `wanted` is the same since this time.
};

/// Begins a new connection, whose first DATA is due.
void hc_cl_sending_begin(struct hc_cl_sending *sending, uint64_t now_us);

/// Makes a DATA due at once, apart from the pace.
void hc_cl_sending_make_due(struct hc_cl_sending *sending);

/// When the pace makes the next DATA due: with the next tick, but not before half an interval (many
/// ticks may come at once) and not after one and a half (none may come).
uint64_t hc_cl_sending_deadline(const struct hc_cl_sending *sending, const struct hc_cl_pace *pace);

/// Makes a DATA due by its pace.
void hc_cl_sending_advance(struct hc_cl_sending *sending, const struct hc_cl_pace *pace,
                           uint64_t now_us);

/// Whether a DATA is due; it is sent now.
bool hc_cl_sending_take_due(struct hc_cl_sending *sending);

/// Sets `force_before`, `first` and `count` of a message: to all inputs that the server lacks; or,
/// with a redundancy and if none is overdue, to the newest few and those never sent. When they do
/// not all fit the oldest go first: later ones could not take effect without them.
void hc_cl_sending_choose(struct hc_cl_sending *sending, const struct hc_cl_choice *choice,
                          struct hc_input_message *message, uint64_t now_us);

/// Notes that a DATA carries the stamps before `end`.
void hc_cl_sending_note(struct hc_cl_sending *sending, hc_tick end);
