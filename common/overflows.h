/// Overflows: states that a step has written although a field of them does not fit its bits.
///
/// Such a state is a fault of the rule: it cannot be sent, because the wire has only the field's
/// bits. A kind's bits beyond its fields are compared by whole words, so that every step can be
/// checked.
#pragma once

#include "hindcast/timeline.h"

enum { HC_OVERFLOWS_WORDS = HC_STATE_MAX / 4 }; ///< of a state

/// The bits of a kind's state that must be zeros, or equal a sign. Every field lies in one word,
/// because it is aligned to its size.
struct hc_overflows_kind {
    uint32_t words;                         ///< words up to the last one with such bits
    uint32_t beyond[HC_OVERFLOWS_WORDS];    ///< ones: the bits above a field's own
    uint32_t of_signed[HC_OVERFLOWS_WORDS]; ///< ones: those of signed fields
};

struct hc_overflows {
    const struct hc_world *world;
    struct hc_overflows_kind kinds[HC_KINDS_MAX];
    uint32_t count;
    struct hc_overflow list[HC_OVERFLOWS_MAX];
};

/// Compiles the tables of `world`, which is borrowed; no overflow is known.
void hc_overflows_init(struct hc_overflows *overflows, const struct hc_world *world);

/// Lists the fields of `state`, which the step of `entity` to `tick` wrote, that do not fit.
void hc_overflows_list(struct hc_overflows *overflows, hc_tick tick, hc_entity entity,
                       const uint8_t *state);

/// Whether a state fits. The state is read in words of 4 bytes, so up to 3 bytes after it.
static inline bool hc_overflows_fits(const struct hc_overflows_kind *kind, const uint8_t *state) {
    uint32_t differs = 0;
    for (uint32_t i = 0; i < kind->words; i++) {
        uint32_t word;
        memcpy(&word, state + 4 * (size_t)i, sizeof word);
        // Of a signed field each bit above must equal the one below it, the lowest of them the
        // sign.
        differs |= (word ^ (word << 1 & kind->of_signed[i])) & kind->beyond[i];
    }
    return differs == 0;
}

/// Checks the alive ones of `count` states of one kind, of the entities from `first` on, which a
/// step to `tick` wrote.
static inline void hc_overflows_check(struct hc_overflows *overflows, hc_tick tick, hc_entity first,
                                      uint32_t count, const uint8_t *states,
                                      const uint8_t *presence) {
    const struct hc_world *world = overflows->world;
    const struct hc_overflows_kind *kind = &overflows->kinds[world->kind_of[first]];
    for (uint32_t i = 0; kind->words > 0 && i < count; i++) {
        const uint8_t *state = states + (size_t)i * world->stride;
        if (presence[i] == HC_ALIVE && !hc_overflows_fits(kind, state))
            hc_overflows_list(overflows, tick, (hc_entity)(first + i), state);
    }
}
