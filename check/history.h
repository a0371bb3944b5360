/// The record: the timeline's rules in their simplest form, as the truth for comparisons.
///
/// It stores every operation from the beginning, computes each effective input by a search through
/// all of them, and steps every entity at every tick with the plain simulation. Its operations have
/// the rules and the results of those of the same name in common/timeline.h.
#pragma once

#include "common/timeline.h"

struct hc_history;

/// An empty record for ticks in [0, `ticks`), of a timeline with this configuration (`full` is
/// ignored; `config->world` is borrowed). NULL when memory is short.
struct hc_history *hc_history_create(const struct hc_timeline_config *config, uint32_t ticks);

/// Frees it; NULL is allowed.
void hc_history_destroy(struct hc_history *history);

/// See hc_timeline_start.
void hc_history_start(struct hc_history *history);

/// See hc_timeline_put_input.
enum hc_status hc_history_put_input(struct hc_history *history, hc_player player, hc_tick tick,
                                    const void *input);

/// See hc_timeline_put_roster.
enum hc_status hc_history_put_roster(struct hc_history *history, hc_player player, hc_tick tick,
                                     enum hc_roster roster_change);

/// See hc_timeline_force.
uint32_t hc_history_force(struct hc_history *history, hc_player player, hc_tick before);

/// See hc_timeline_retract.
enum hc_status hc_history_retract(struct hc_history *history, hc_player player, hc_tick tick);

/// See hc_timeline_put_state.
enum hc_status hc_history_put_state(struct hc_history *history, hc_tick tick, hc_tick as_of,
                                    const struct hc_entity_state *entities, uint32_t count);

/// Advances the head by one tick, whose states the next hc_history_resimulate computes.
void hc_history_advance(struct hc_history *history);

/// Steps every entity again from the earliest tick that an operation has changed since the last
/// call.
void hc_history_resimulate(struct hc_history *history);

/// The newest tick.
hc_tick hc_history_head(const struct hc_history *history);

/// The oldest tick with a state in the timeline's ring.
hc_tick hc_history_oldest(const struct hc_history *history);

/// The oldest tick with inputs in the timeline's ring.
hc_tick hc_history_first_input(const struct hc_history *history);

/// The states at any tick up to the head, as of the last resimulation. Ticks that have left the
/// ring stay as they were.
const uint8_t *hc_history_states(const struct hc_history *history, hc_tick tick);

/// The game events of `entity` at such a tick, zeros after them, and their number. An authoritative
/// state has none.
const hc_game_event *hc_history_events(const struct hc_history *history, hc_tick tick,
                                       hc_entity entity, uint32_t *count);

/// The presence of every entity at such a tick.
const uint8_t *hc_history_presence(const struct hc_history *history, hc_tick tick);

/// The effective inputs of the step from such a tick.
const uint8_t *hc_history_inputs(const struct hc_history *history, hc_tick tick);

/// See hc_timeline_slot; each call computes its result, as those below do.
enum hc_slot hc_history_slot(const struct hc_history *history, hc_player player, hc_tick tick);

/// See hc_timeline_roster.
enum hc_roster hc_history_roster(const struct hc_history *history, hc_player player, hc_tick tick);

/// See hc_timeline_newest_input.
bool hc_history_newest_input(const struct hc_history *history, hc_player player, hc_tick tick,
                             hc_tick *known, void *input);

/// See hc_timeline_inputs_through.
hc_tick hc_history_inputs_through(const struct hc_history *history, hc_player player);

/// Whether the newest roster change of `player` at any tick is a join.
bool hc_history_joined(const struct hc_history *history, hc_player player);
