/// The record: the timeline's rules restated without any cleverness, as the truth to compare with.
///
/// It keeps every operation from the beginning, works each effective input out by looking back
/// through all of them, and steps every entity of every tick with the plain simulation. Operations
/// mean what those of the same name in common/timeline.h mean, and answer with the same status.
#pragma once

#include "common/timeline.h"

struct hc_history;

/// An empty record for ticks in [0, `ticks`), of a timeline with this configuration (`full` is
/// ignored; `config->world` is borrowed). NULL when memory is short.
struct hc_history *hc_history_create(const struct hc_timeline_config *config, uint32_t ticks);

/// Frees it; NULL is allowed.
void hc_history_destroy(struct hc_history *history);

/// See the functions of the same name in timeline.h.
void hc_history_start(struct hc_history *history);
enum hc_status hc_history_put_input(struct hc_history *history, hc_player player, hc_tick tick,
                                    const void *input);
enum hc_status hc_history_put_roster(struct hc_history *history, hc_player player, hc_tick tick,
                                     enum hc_roster roster_change);
uint32_t hc_history_force(struct hc_history *history, hc_player player, hc_tick before);
enum hc_status hc_history_retract(struct hc_history *history, hc_player player, hc_tick tick);
enum hc_status hc_history_put_state(struct hc_history *history, hc_tick tick, hc_tick as_of,
                                    const struct hc_entity_state *entities, uint32_t count);

/// Goes one tick on, of which the states are known after the next settle. On the authority nothing
/// is simulated before that.
void hc_history_advance(struct hc_history *history);

/// Simulates again, whole, every tick from the earliest that an operation has named since the last
/// call.
void hc_history_resimulate(struct hc_history *history);

/// The ring of the timeline: newest tick, oldest tick with a state, oldest tick with inputs.
hc_tick hc_history_head(const struct hc_history *history);
hc_tick hc_history_oldest(const struct hc_history *history);
hc_tick hc_history_first_input(const struct hc_history *history);

/// Of any tick up to the head, as of the last settle; also of ticks that have left the ring, which
/// stay what they were then.
const uint8_t *hc_history_states(const struct hc_history *history, hc_tick tick);
const uint8_t *hc_history_presence(const struct hc_history *history, hc_tick tick);
const uint8_t *hc_history_inputs(const struct hc_history *history, hc_tick tick);

/// See the functions of the same name in timeline.h; computed anew at each call.
enum hc_slot hc_history_slot(const struct hc_history *history, hc_player player, hc_tick tick);
enum hc_roster hc_history_roster(const struct hc_history *history, hc_player player, hc_tick tick);
bool hc_history_newest_input(const struct hc_history *history, hc_player player, hc_tick tick,
                             hc_tick *known, void *input);
hc_tick hc_history_inputs_through(const struct hc_history *history, hc_player player);

/// Whether the newest control of `player` at any tick is a join.
bool hc_history_joined(const struct hc_history *history, hc_player player);
