/// Follows how late a client's inputs usually are, which determines its late limit.
///
/// Lateness is the number of ticks from the stamp of the newest input to the server tick. A client
/// that wants a deep rewind must therefore play that late most of the time.
///
/// The usual lateness is a running median. A tick in which a newer input came moves it by one step
/// towards the lateness of that input. A tick without one can only lower it. A step is a sixteenth
/// of a tick, so half a second of late inputs raises the limit by less than two ticks at 60 Hz. A
/// step is a whole tick for a second after the first input, and while the newest inputs of a whole
/// second were all later than usual; so the limit follows a longer path after a second at most. The
/// limit rises by at most one tick per tick, so the oldest tick whose inputs are accepted never
/// goes back.
///
/// Lateness is of a session. A new connection or another address begins nothing anew: a client has
/// as many of them as it wants.
///
/// Calls in this order: hc_sv_lateness_begin; hc_sv_lateness_input for each datagram with inputs;
/// hc_sv_lateness_tick once per tick in which the client is connected.
#pragma once

#include "hindcast/tick.h"

#include <stdbool.h>

enum { HC_SV_LATENESS_PARTS = 16 }; ///< of a tick: the unit of the usual lateness

struct hc_sv_lateness {
    bool any;              ///< an input was received before the last tick
    bool received;         ///< an input newer than all before was received since the last tick
    hc_tick newest;        ///< stamp of the newest input; meaningful while `any` or `received`
    uint32_t usual;        ///< the usual lateness, in parts of a tick; meaningful while `any`
    uint32_t age;          ///< ticks with a newer input since the first one
    uint32_t later_in_row; ///< ticks in a row whose newest input was later than usual
};

/// Begins without any input.
void hc_sv_lateness_begin(struct hc_sv_lateness *lateness);

/// Notes the stamp of a datagram's newest input, at most head + future. A stamp that is no newer
/// than the ones before changes nothing: the input was resent or overtaken.
void hc_sv_lateness_input(struct hc_sv_lateness *lateness, hc_tick newest);

/// Updates the usual lateness with the input received since the last tick. `head` is the tick in
/// which it came; `rate` is in ticks per second.
void hc_sv_lateness_tick(struct hc_sv_lateness *lateness, hc_tick head, uint32_t rate);

/// The late limit in ticks: the usual lateness, one tick and `late_margin`; at most `history`, and
/// `history` before the first input.
uint32_t hc_sv_lateness_limit(const struct hc_sv_lateness *lateness, uint32_t late_margin,
                              uint32_t history);
