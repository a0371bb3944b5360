/// COMPARE and DIFFERS: how a client whose snapshot did not match its hash learns where it differs.
///
///     COMPARE [11, as_of, hashes]       DIFFERS [12, as_of, unit, values]
///
/// `hashes` has 2 bytes, little-endian, for each unit with a value in the SNAPSHOT of head `as_of`,
/// in its order: the low bits of the sum of the unit's entity hashes. The server answers with its
/// values of the first unit whose hash differs, as it sent them:
///
///     values := { presence:1 fields }      presence 1 absent, 2 alive; fields of alive ones alone
///
/// The fields stand in the order of their table, each in its `size` bytes, little-endian: also a
/// value that does not fit its bits. Entities that would exceed HC_DIFFERS_BYTES are left out.
///
/// The functions put and get as those of message.h.
#pragma once

#include "common/unit.h"
#include "hindcast/difference.h"
#include "proto/body.h"
#include "proto/limits.h"

/// Bytes of a COMPARE at most: an array, the type, a number, and a binary with a header of 3.
enum {
    HC_COMPARE_HASH_BYTES = 2,
    HC_COMPARE_SIZE_MAX = 1 + 1 + 5 + 3 + HC_COMPARE_HASH_BYTES * HC_SNAPSHOT_UNITS_MAX
};

/// A question.
struct hc_compare {
    hc_tick as_of;
    uint32_t count;        ///< units, [1, HC_SNAPSHOT_UNITS_MAX]
    const uint8_t *hashes; ///< of each, borrowed: from the datagram, or for hc_compare_put
};

/// An answer.
struct hc_differs {
    hc_tick as_of;
    hc_unit unit;
    struct hc_reader values; ///< borrowed from the datagram; hc_differs_next reads it
};

/// An entity's state in an answer.
struct hc_differs_entity {
    uint8_t presence; ///< HC_ABSENT or HC_ALIVE
    uint8_t state[HC_STATE_MAX];
};

/// Sets the hash of the unit `index`, of the sum of its entity hashes.
static inline void hc_compare_set_hash(uint8_t *hashes, uint32_t index, uint64_t sum) {
    hashes[2 * index] = (uint8_t)sum;
    hashes[2 * index + 1] = (uint8_t)(sum >> 8);
}

/// Whether the hash of the unit `index` is that of this sum of entity hashes.
static inline bool hc_compare_is_hash(const uint8_t *hashes, uint32_t index, uint64_t sum) {
    return hashes[2 * index] == (uint8_t)sum && hashes[2 * index + 1] == (uint8_t)(sum >> 8);
}

/// Appends COMPARE.
bool hc_compare_put(struct hc_writer *body, const struct hc_compare *compare);

/// Reads COMPARE.
enum hc_status hc_compare_get(const struct hc_body *body, struct hc_compare *out);

/// Appends DIFFERS with `value`, that of `unit` in the snapshot of head `as_of`.
bool hc_differs_put(struct hc_writer *body, const struct hc_world *world, hc_tick as_of,
                    hc_unit unit, const struct hc_unit_value *value);

/// Reads DIFFERS of `world`; all entities of its values are well formed.
enum hc_status hc_differs_get(const struct hc_body *body, const struct hc_world *world,
                              struct hc_differs *out);

/// Reads the state of `entity`, the next one of the answer's unit; false: the answer ends before.
bool hc_differs_next(struct hc_differs *differs, const struct hc_world *world, hc_entity entity,
                     struct hc_differs_entity *out);

/// Finds the first difference between an entity of the client and of the server, whose presences
/// and states these are, and writes it to `*out`, all but its tick; false: there is none.
bool hc_compare_entity(const struct hc_world *world, hc_entity entity, uint8_t client_presence,
                       const uint8_t *client_state, uint8_t server_presence,
                       const uint8_t *server_state, struct hc_difference *out);
