/// The inputs of all players in a window of ticks, and what each of them effectively is.
///
/// Part of the timeline, which documents the rules; here is how they are kept. Every slot of
/// (player, tick) in [first, head + future] stands as an enum hc_slot. Slots before `head` have
/// been given to a step: their effective input is stored, with the tick of the known input that a
/// prediction would start from, and whoever changes it is told through `changed`.
#pragma once

#include "common/timeline.h"
#include "hindcast/game.h"

struct hc_inputs {
    const struct hc_world *world;
    uint32_t history, future;
    bool replica;
    bool started;
    hc_tick first; ///< the oldest slot of the window: head - history
    hc_tick head;  ///< the slot that the next step will be given
    hc_tick last;  ///< the newest slot of the window: head + future

    // Rows of one tick each, `players` wide; the row of a tick is tick % (history + future + 1).
    uint8_t *slot;          ///< enum hc_slot
    uint8_t *roster_change; ///< enum hc_roster
    hc_tick *base;      ///< newest known tick before the slot since the last control, or HC_NO_TICK
    uint8_t *known;     ///< input_size bytes each, meaningful in HC_SLOT_KNOWN
    uint8_t *effective; ///< input_size bytes each, meaningful before `head` and where forced
    uint8_t *given;     ///< input_size bytes each, meaningful before `head`: the last step's input

    // Per player.
    hc_tick *left_base;   ///< newest known tick that has left the window, or HC_NO_TICK
    uint8_t *left_input;  ///< its input
    hc_tick *left_roster; ///< newest control that has left the window, or HC_NO_TICK
    hc_tick *joined;      ///< authority: newest join
    hc_tick *complete;    ///< A(p)
    bool *in;             ///< authority: has joined and not left

    /// Tells that the effective input or the control of a slot before `head` may have changed.
    void (*changed)(void *context, hc_player player, hc_tick tick);
    void *context;
};

/// Lays the arrays out from `base` (NULL: only measures); returns the bytes needed. The members
/// above the arrays must be set.
size_t hc_inputs_layout(struct hc_inputs *inputs, uint8_t *base);

/// Moves the window so that `head` is the next slot to be stepped, forward only. What leaves
/// becomes the prediction base; what enters is unknown; nothing is reported as changed.
void hc_inputs_move(struct hc_inputs *inputs, hc_tick head);

/// Moves the window as hc_inputs_move does, and computes the slots that no step was given. The
/// first call starts the window.
void hc_inputs_restart(struct hc_inputs *inputs, hc_tick head);

/// Whether a slot before `head` is another than its step was given; from now on it is given.
bool hc_inputs_give(struct hc_inputs *inputs, hc_player player, hc_tick tick);

/// Computes the effective inputs of the slots of `head`, before the step that is given them.
void hc_inputs_prepare(struct hc_inputs *inputs);

/// See the functions of the same name in timeline.h.
enum hc_status hc_inputs_put(struct hc_inputs *inputs, hc_player player, hc_tick tick,
                             const void *input);
/// See hc_timeline_put_roster.
enum hc_status hc_inputs_put_roster(struct hc_inputs *inputs, hc_player player, hc_tick tick,
                                    enum hc_roster roster_change);
/// See hc_timeline_force.
uint32_t hc_inputs_force(struct hc_inputs *inputs, hc_player player, hc_tick before);
/// See hc_timeline_retract.
enum hc_status hc_inputs_retract(struct hc_inputs *inputs, hc_player player, hc_tick tick);
/// See hc_timeline_newest_input.
bool hc_inputs_newest(const struct hc_inputs *inputs, hc_player player, hc_tick tick,
                      hc_tick *known, void *input);

/// The number of the cell of (`player`, `tick`) in the row arrays; `tick` must be in the window.
size_t hc_inputs_cell(const struct hc_inputs *inputs, hc_player player, hc_tick tick);
