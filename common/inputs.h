/// The inputs and roster changes of all players in a window of ticks, with their effective inputs.
///
/// Part of the timeline, which documents the rules. Every slot of (player, tick) in
/// [first, head + future] has an enum hc_slot. A step has been given the slots before `head`: each
/// stores its effective input, and the tick of the known input from which a prediction starts. Each
/// change of these calls `changed`.
#pragma once

#include "common/timeline.h"
#include "hindcast/game.h"

struct hc_inputs {
    const struct hc_world *world;
    uint32_t history, future;
    bool replica;
    bool started;
    hc_tick first; ///< the oldest slot of the window: head - history
    hc_tick head;  ///< the slot of the next step
    hc_tick last;  ///< the newest slot of the window: head + future

    // Rows of one tick each, `players` wide; the row of a tick is tick % (history + future + 1).
    size_t cells;           ///< of all rows
    uint8_t *slot;          ///< enum hc_slot
    uint8_t *roster_change; ///< enum hc_roster
    hc_tick
        *base; ///< newest known tick before the slot since the last roster change, or HC_NO_TICK
    uint8_t *known;     ///< input_size bytes each, valid in HC_SLOT_KNOWN
    uint8_t *effective; ///< input_size bytes each, valid before `head` and where forced
    uint8_t *given;     ///< input_size bytes each, of active players, valid before `head`: the last
                        ///< step's input

    // Per player.
    hc_tick *past_base;      ///< newest known tick before the window, or HC_NO_TICK
    uint8_t *past_input;     ///< the input of that tick
    hc_tick *past_roster;    ///< newest roster change before the window, or HC_NO_TICK
    hc_tick *join_tick;      ///< authority: newest join
    hc_tick *inputs_through; ///< authority: A(p)
    bool *joined;            ///< authority: has joined and not left
    hc_tick *changed_at;     ///< newest tick of which an input or a roster change was put
    /// Bit p: player p is active. Every slot of another player is unknown and without a base, its
    /// effective inputs are zeros in all rows, and `base` is not valid.
    uint64_t *active;

    /// Called when the effective input of a slot before `head` may have changed.
    void (*changed)(void *context, hc_player player, hc_tick tick);
    void *context;
};

/// Lays the arrays out from `base` (NULL: only measures); returns the bytes needed. The caller sets
/// `world`, `history`, `future` and `replica` before.
size_t hc_inputs_layout(struct hc_inputs *inputs, uint8_t *base);

/// Moves the window forward to `head`. Known inputs that leave it become prediction bases, slots
/// that enter it are unknown. Never calls `changed`.
void hc_inputs_move(struct hc_inputs *inputs, hc_tick head);

/// Moves the window as hc_inputs_move does, and computes the slots that it skips. The first call
/// starts the window.
void hc_inputs_restart(struct hc_inputs *inputs, hc_tick head);

/// Whether the effective input of the slot of `cell`, before `head`, differs from `given`; sets
/// `given` to it.
bool hc_inputs_give(struct hc_inputs *inputs, size_t cell);

/// Computes the effective inputs of the slots of `head`, before their step.
void hc_inputs_prepare(struct hc_inputs *inputs);

/// See hc_timeline_put_input.
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

/// The index of (`player`, `tick`) in the row arrays; `tick` must be in the window.
size_t hc_inputs_cell(const struct hc_inputs *inputs, hc_player player, hc_tick tick);
