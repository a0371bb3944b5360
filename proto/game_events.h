/// Game events in a SNAPSHOT: those that its game emitted at final ticks, and those of ticks that
/// are not final yet, as they are predicted.
///
///     events := 0 | 1 number4(final - last) number2(ticks - 1) { { 1 event } 0 }    for each tick
///     event  := entity:w kind:k number:b
///
///     early  := { 1 number2(gap) { 1 event } 0 }    for each tick, at the end of the snapshot
///
/// The ticks ascend up to `last`. w and k are the bits that the world's entities and the game's
/// kinds of events need, b those of the kind. The events of a tick ascend by entity, then by
/// number, then by kind. Early ticks descend from the tick shown on, and the gap is the number of
/// ticks left out since the one before. Padding ends them. A game without kinds of events has no
/// such parts.
#pragma once

#include "common/bits.h"
#include "hindcast/game.h"
#include "proto/limits.h"

/// The bits of an event of this kind, with the 1 before it.
uint32_t hc_game_events_bits(const struct hc_world *world, unsigned kind);

/// Begins the events of the `count` ticks up to `last`, which is at most `final` and less than
/// HC_GAME_EVENTS_TICKS before it. For each tick follow its events, then hc_game_events_put_end.
void hc_game_events_put(struct hc_bits_writer *bits, hc_tick final, hc_tick last, uint32_t count);

/// Appends an event.
void hc_game_events_put_event(struct hc_bits_writer *bits, const struct hc_world *world,
                              hc_entity entity, hc_game_event event);

/// Ends the events of a tick, or says that there are no ticks.
void hc_game_events_put_end(struct hc_bits_writer *bits);

/// Begins the early events of `tick`, which is before `before`: the early tick written last, or the
/// tick after the one shown. Its events follow, then hc_game_events_put_end.
void hc_game_events_put_early(struct hc_bits_writer *bits, hc_tick before, hc_tick tick);

/// Reads the first tick and the number of ticks; false: there are none, or the bits fail.
bool hc_game_events_get(struct hc_bits_reader *bits, hc_tick final, hc_tick *first,
                        uint32_t *count);

/// Reads the next early tick, before `*tick`, after `final` and less than HC_GAME_EVENTS_EARLY
/// before the tick `shown`, into `*tick`; false: there are no more, or the bits fail.
bool hc_game_events_get_early(struct hc_bits_reader *bits, hc_tick final, hc_tick shown,
                              hc_tick *tick);

/// Reads the next event of a tick, which follows `*entity` and `*event` unless `first`; false at
/// the end, and when the bits fail: no such entity, or out of order.
bool hc_game_events_get_event(struct hc_bits_reader *bits, const struct hc_world *world, bool first,
                              hc_entity *entity, hc_game_event *event);
