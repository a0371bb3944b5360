/// How late one client's inputs usually are, and from that how late they may be: the server counts
/// the ticks from the stamp of the newest input to its own tick, so a client that wants a deep
/// rewind must play as late as that, most of the time.
///
/// The usual lateness is a running median. Each tick in which a newer input has come moves it by a
/// step towards that input's lateness; a tick without one only lets it fall. A step is a sixteenth
/// of a tick, so a choke of half a second moves the limit by less than two ticks at 60 Hz. For a
/// second after the first input or a new address, and when for a whole second every newest input
/// was later than usual, a step is a tick: a path that got longer is followed after a second at
/// most, by a tick each tick. The limit never rises by more than a tick each tick, so the oldest
/// tick whose inputs are taken never goes back.
///
/// Calls belong in this order: hc_sv_lateness_begin; hc_sv_lateness_input for each datagram with
/// inputs, hc_sv_lateness_move for a new address; hc_sv_lateness_tick once a tick.
#pragma once

#include "hindcast/tick.h"

#include <stdbool.h>

enum { HC_SV_LATENESS_PARTS = 16 }; ///< of a tick: so finely the usual lateness is kept

struct hc_sv_lateness {
    bool any;       ///< an input has come
    bool came;      ///< one newer than all before has come since the last tick
    hc_tick newest; ///< stamp of the newest, while `any` or `came`
    uint32_t usual; ///< in parts of a tick; meaningful while `any`
    uint32_t age;   ///< ticks with a newer input since the first, or since the newest address
    uint32_t row;   ///< ticks in a row whose newest input was later than usual
};

/// Nothing is known of the client yet.
void hc_sv_lateness_begin(struct hc_sv_lateness *lateness);

/// The client's address is another one: for a second the usual lateness follows fast.
void hc_sv_lateness_move(struct hc_sv_lateness *lateness);

/// A datagram's newest input has the stamp `newest`, at most head + future. One that is no newer
/// than those before says nothing: it was resent or overtaken.
void hc_sv_lateness_input(struct hc_sv_lateness *lateness, hc_tick newest);

/// Takes in what has come since the last tick; `head` is the tick that it came in, `rate` the ticks
/// a second.
void hc_sv_lateness_tick(struct hc_sv_lateness *lateness, hc_tick head, uint32_t rate);

/// How late inputs may be, ticks: as late as usual, a tick and `slack` more, at most `history`;
/// `history` while nothing has come.
uint32_t hc_sv_lateness_limit(const struct hc_sv_lateness *lateness, uint32_t late_margin,
                              uint32_t history);
