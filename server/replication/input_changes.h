/// Input changes: those of a player between a baseline and a value, which a delta may list.
///
/// A delta lists the changes of keys (fields of few bits). A field that changes all the time, as an
/// aim does, matters little but at the end; its value at those changes is listed where that saves
/// more bits than it costs (encoder.h).
#pragma once

#include "common/extrapolate.h"
#include "common/timeline.h"

/// An input as words, for comparisons and choices of whole fields.
struct hc_sv_input_words {
    uint64_t at[HC_INPUT_MAX / 8];
};

/// The ticks at which a player's effective input differs from that of the tick before.
struct hc_sv_changed_ticks {
    hc_tick head;     ///< at which they were last renewed
    hc_tick settled;  ///< up to this tick the inputs no longer change
    uint64_t changed; ///< of the 64 ticks before that head, bit t % 64 for tick t
};

struct hc_sv_input_changes {
    const struct hc_world *world;
    struct hc_sv_changed_ticks *players; ///< [world.players]
    struct hc_sv_input_words keys;       ///< ones in the fields of the input that count as keys
};

/// The inputs of a player in the steps from a baseline to a value.
struct hc_sv_input_span {
    const struct hc_timeline *timeline;
    hc_tick since; ///< the timeline has the inputs from it on
    hc_player player;
    hc_tick from, end;    ///< ticks of the baseline and of the value
    const uint8_t *given; ///< [HC_INPUT_MAX] the input of the steps before
};

/// Lays the memory out from `base` (NULL: only measures); returns the bytes needed. `world` is
/// borrowed.
size_t hc_sv_input_changes_layout(struct hc_sv_input_changes *changes, const struct hc_world *world,
                                  uint8_t *base);

/// Nothing is known of any player.
void hc_sv_input_changes_begin(struct hc_sv_input_changes *changes);

/// Whether the keys of two inputs (input_size bytes) differ.
bool hc_sv_input_changes_keys_differ(const struct hc_sv_input_changes *changes, const uint8_t *a,
                                     const uint8_t *b);

/// Lists all changes in the span.
void hc_sv_input_changes_all(struct hc_sv_input_changes *changes,
                             const struct hc_sv_input_span *span, struct hc_input_changes *out);

/// Lists the changes of keys among `all`, where the steps before are given the input `given`
/// (HC_INPUT_MAX bytes); `alone`: the fields that are no keys stay as `given`.
void hc_sv_input_changes_of_keys(const struct hc_sv_input_changes *changes,
                                 const struct hc_input_changes *all, const uint8_t *given,
                                 bool alone, struct hc_input_changes *out);

/// Whether two lists are the same.
bool hc_sv_input_changes_same(const struct hc_sv_input_changes *changes,
                              const struct hc_input_changes *a, const struct hc_input_changes *b);
