/// The samples of one own player, and the stamps that are made of them: no press of a button is
/// lost between two stamps (enum hc_sampling).
///
/// Each function takes the mask of hc_input_latches: its bits are buttons, and of all others the
/// newest sample counts. Inputs and masks have `size` bytes, at most HC_INPUT_MAX.
#pragma once

#include "hindcast/game.h"

/// Only latches.c writes to it. Zeros, then hc_cl_latches_begin.
struct hc_cl_latches {
    uint8_t sample[HC_INPUT_MAX];  ///< The newest sample. It outlives a connection.
    uint8_t presses[HC_INPUT_MAX]; ///< The buttons that were pressed since they were stamped so.
    uint8_t stamp[HC_INPUT_MAX];   ///< The newest stamp, zeros before the first.
    /// The newest stamp with those buttons alone that were still held: what a gap repeats.
    uint8_t repeated[HC_INPUT_MAX];
};

/// Begins anew without a stamp and without presses; the newest sample stays.
void hc_cl_latches_begin(struct hc_cl_latches *latches);

/// Takes a sample. The same sample again changes nothing, so a game may repeat it at will.
void hc_cl_latches_sample(struct hc_cl_latches *latches, const uint8_t *mask, const void *sample,
                          size_t size);

/// Makes the next stamp of the samples since the last one, and writes it to `out`.
void hc_cl_latches_stamp(struct hc_cl_latches *latches, const uint8_t *mask, void *out,
                         size_t size);

/// Repeats the newest stamp, for a tick without samples of its own, and writes it to `out`. A
/// button that was released before that stamp is not pressed again.
void hc_cl_latches_repeat(struct hc_cl_latches *latches, void *out, size_t size);
