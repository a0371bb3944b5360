/// What a client holds of the ticks that it may still show: the newest value that was sent to it of
/// every (tick, entity), and in which datagram.
///
/// A value counts as held while its datagram is acknowledged or may yet arrive; once the datagram
/// is presumed lost nothing is known of what the client holds. So a correction repeats until it is
/// acknowledged, and not more often than it has to.
#pragma once

#include "common/game.h"
#include "proto/ack.h"

enum {
    /// A datagram is presumed lost when one sent this many later has been acknowledged: more than
    /// the reordering of +- 50 ms at 60 Hz.
    HC_SV_TOLD_REORDER = 6,
};

/// Rows of one tick each; the row of a tick is tick % rows.
struct hc_sv_told {
    const struct hc_world *world;
    uint32_t rows;
    hc_tick *tick;     ///< [rows] whose row it is, HC_NO_TICK: nobody's
    uint32_t *seq;     ///< [rows][entities] of the datagram, 0: nothing sent
    uint8_t *presence; ///< [rows][entities] as sent
    uint8_t *states;   ///< [rows][entities * stride] as sent, zeros unless alive
};

/// Lays the arrays out from `base` (NULL: only measures) for ticks in a window of `rows`; returns
/// the bytes needed.
size_t hc_sv_told_layout(struct hc_sv_told *told, const struct hc_world *world, uint32_t rows,
                         uint8_t *base);

/// Forgets everything.
void hc_sv_told_clear(struct hc_sv_told *told);

/// The client was sent `presence` and `state` (borrowed, read when HC_ALIVE) of (tick, entity) in
/// the datagram `seq`. A tick older than the row's is not kept.
void hc_sv_told_put(struct hc_sv_told *told, hc_tick tick, hc_entity entity, uint8_t presence,
                    const uint8_t *state, uint32_t seq);

/// hc_sv_told_put for every entity of the tick: `presence` and `states` are the whole world's.
void hc_sv_told_put_all(struct hc_sv_told *told, hc_tick tick, const uint8_t *presence,
                        const uint8_t *states, uint32_t seq);

/// hc_sv_told_holds for every entity of the tick: `presence` and `states` are the whole world's.
bool hc_sv_told_holds_all(const struct hc_sv_told *told, const struct hc_sent *sent, uint32_t acked,
                          hc_tick tick, const uint8_t *presence, const uint8_t *states);

/// Whether the client holds, or is about to, just this value.
bool hc_sv_told_holds(const struct hc_sv_told *told, const struct hc_sent *sent, uint32_t acked,
                      hc_tick tick, hc_entity entity, uint8_t presence, const uint8_t *state);
