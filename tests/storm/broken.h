/// Broken datagrams: at the end of some matches each honest side is handed what no honest peer
/// sends, well addressed and newly numbered, and must refuse it and stay what it was.
#pragma once

#include "proto/datagram.h"

struct storm_match;

/// The newest DATA of either direction, of which broken ones are made.
struct storm_heard {
    size_t size; ///< 0: none
    uint8_t bytes[HC_DATAGRAM_MAX];
};

/// Remembers what a client took, or sent.
void storm_broken_note(const struct storm_match *match, struct storm_heard *heard,
                       const uint8_t *bytes, size_t size);

/// Hands everybody broken datagrams; the match must not go on after it.
void storm_broken_end(struct storm_match *match);
