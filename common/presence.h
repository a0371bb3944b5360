/// The presence of entities, read eight at a time: most slots of a world may be empty.
#pragma once

#include "hindcast/game.h"

#define HC_PRESENCE_ALIVE_BITS                                                                     \
    UINT64_C(0x0202020202020202) ///< of eight entities, see hc_eight_bytes
_Static_assert((HC_ALIVE & 2) != 0 && (HC_ABSENT & 2) == 0 && (HC_UNKNOWN & 2) == 0,
               "one bit of the presence is that of alive entities");

/// Eight bytes of an array with one for each entity or player, as one word.
static inline uint64_t hc_eight_bytes(const uint8_t *bytes) {
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

/// The first alive entity in [first, end); `end`: there is none.
static inline uint32_t hc_presence_next_alive(const uint8_t *presence, uint32_t first,
                                              uint32_t end) {
    while (first + 8 <= end && (hc_eight_bytes(presence + first) & HC_PRESENCE_ALIVE_BITS) == 0)
        first += 8;
    while (first < end && presence[first] != HC_ALIVE)
        first++;
    return first;
}
