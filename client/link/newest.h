/// The newest snapshot, as far as the connection needs it: what the server has of the own inputs,
/// its time and its final tick.
#pragma once

#include "proto/snapshot.h"

/// Only newest.c writes to it. Zeros: no snapshot has come on this connection.
struct hc_cl_newest {
    bool any;                    ///< A snapshot has come.
    uint64_t at_us;              ///< The newest one came at this local time.
    struct hc_snapshot snapshot; ///< The header of the newest one.
    bool has_chain;              ///< A snapshot with a chain has come.
    hc_tick final;               ///< The newest tick whose chain was received.
    uint64_t chain;              ///< The chain at `final`.
};

/// Whether the newest snapshot has overtaken one of the server tick `as_of`, or is that one.
bool hc_cl_newest_has_overtaken(const struct hc_cl_newest *newest, hc_tick as_of);

/// Takes the header of a snapshot that was not overtaken and comes now.
void hc_cl_newest_take(struct hc_cl_newest *newest, const struct hc_snapshot *header,
                       uint64_t now_us);

/// The oldest own input that the server can still use: those before it are acked or refused. With
/// own players, and after a snapshot.
hc_tick hc_cl_newest_wanted(const struct hc_cl_newest *newest);
