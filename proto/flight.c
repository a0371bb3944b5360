/// Owns the bound on the bytes in flight: see flight.h.
#include "proto/flight.h"

#include "common/elapsed.h"

#include <string.h>

// ---- The least of a window ----------------------------------------------------------------------

void hc_least_begin(struct hc_least *least, uint64_t now_us) {
    *least = (struct hc_least){.now = INT64_MAX, .before = INT64_MAX, .begun_us = now_us};
}

bool hc_least_take(struct hc_least *least, int64_t value, uint64_t now_us) {
    uint64_t window_us =
        least->before == INT64_MAX ? HC_FLIGHT_FIRST_WINDOW_US : HC_FLIGHT_WINDOW_US;
    bool ended = hc_since(least->begun_us, now_us) >= window_us;
    if (ended)
        *least = (struct hc_least){.now = INT64_MAX, .before = least->now, .begun_us = now_us};
    if (value < least->now)
        least->now = value;
    return ended;
}

int64_t hc_least_get(const struct hc_least *least) {
    return least->now < least->before ? least->now : least->before;
}

// ---- The pace of the acks -----------------------------------------------------------------------

/// Begins the cells up to the one of `now_us`.
static void advance_cells(struct hc_flight *flight, uint64_t now_us) {
    uint64_t cell = now_us / HC_FLIGHT_CELL_US;
    uint64_t passed = hc_since(flight->cell, cell);
    for (uint64_t i = 0; i < passed && i < HC_FLIGHT_CELLS; i++)
        flight->acked[(cell - i) % HC_FLIGHT_CELLS] = 0;
    if (passed > 0)
        flight->cell = cell;
}

/// Bytes a second that the newest acks named.
static uint64_t pace(struct hc_flight *flight, uint64_t now_us) {
    uint64_t acked = 0, cells_us = (HC_FLIGHT_CELLS - 1) * (uint64_t)HC_FLIGHT_CELL_US;
    advance_cells(flight, now_us);
    for (unsigned i = 0; i < HC_FLIGHT_CELLS; i++)
        acked += flight->acked[i];
    return acked * 1000000 / (cells_us + now_us % HC_FLIGHT_CELL_US);
}

static uint64_t least_us(const struct hc_flight *flight) {
    return (uint64_t)hc_least_get(&flight->least);
}

/// The bytes that the path holds at `bytes_per_s`, with a queue of HC_FLIGHT_QUEUE_US.
static uint32_t held_by_path(const struct hc_flight *flight, uint64_t bytes_per_s) {
    uint64_t bytes = bytes_per_s * (least_us(flight) + HC_FLIGHT_QUEUE_US) / 1000000;
    return bytes < HC_FLIGHT_FREE ? (uint32_t)bytes : HC_FLIGHT_FREE - 1;
}

// ---- The bound ----------------------------------------------------------------------------------

void hc_flight_begin(struct hc_flight *flight, uint64_t now_us) {
    *flight = (struct hc_flight){.bound = HC_FLIGHT_FREE,
                                 .near_us = now_us,
                                 .away_us = {0, HC_FLIGHT_PATIENCE_FIRST_US / 2},
                                 .cell = now_us / HC_FLIGHT_CELL_US};
    hc_least_begin(&flight->least, now_us);
}

static bool is_bound(const struct hc_flight *flight) {
    return flight->bound != HC_FLIGHT_FREE;
}

/// How long no round trip may be near the least one.
static uint64_t patience_us(const struct hc_flight *flight, uint64_t now_us) {
    bool reorders =
        flight->reordered_us > 0 && hc_since(flight->reordered_us, now_us) < HC_FLIGHT_WINDOW_US;
    uint64_t most_us = reorders ? HC_FLIGHT_PATIENCE_MOST_US : HC_FLIGHT_PATIENCE_ORDERED_US;
    uint64_t away_us =
        flight->away_us[0] > flight->away_us[1] ? flight->away_us[0] : flight->away_us[1];
    if (away_us < HC_FLIGHT_PATIENCE_LEAST_US / 2)
        return HC_FLIGHT_PATIENCE_LEAST_US;
    return away_us < most_us / 2 ? 2 * away_us : most_us;
}

/// Begins to drain the queue.
static void drain(struct hc_flight *flight, uint64_t now_us) {
    flight->drain = now_us / HC_FLIGHT_DRAIN_US;
    flight->drains = true;
    flight->drains_us = now_us;
    flight->probe_us = flight->alone_us = flight->probe_rtt_us = 0;
    flight->pace = pace(flight, now_us);
}

/// The path is congested: sets the bound or lowers it.
static void lower(struct hc_flight *flight, uint64_t now_us) {
    uint32_t held = held_by_path(flight, pace(flight, now_us));
    bool begins = !is_bound(flight);
    if (held < flight->bound)
        flight->bound = held;
    flight->changed_us = now_us;
    if (begins)
        flight->held_us = now_us;
    if (begins)
        drain(flight, now_us);
    flight->doubts = true;
}

/// Raises the bound by `bytes`.
static void raise(struct hc_flight *flight, uint32_t bytes) {
    uint32_t most = HC_FLIGHT_FREE - 1;
    flight->bound = bytes < most - flight->bound ? flight->bound + bytes : most;
}

/// Ends or begins a drain. Those of several connections begin together, at multiples of
/// HC_FLIGHT_DRAIN_US.
static void drain_in_turn(struct hc_flight *flight, uint64_t now_us) {
    uint64_t present = now_us / HC_FLIGHT_DRAIN_US;
    if (flight->drains && hc_since(flight->drains_us, now_us) >= HC_FLIGHT_DRAIN_MOST_US) {
        flight->drains = false;
        flight->near_us = now_us;
    }
    if (flight->drains || present == flight->drain)
        return;
    bool window_ended = present * HC_FLIGHT_DRAIN_US / HC_FLIGHT_WINDOW_US !=
                        flight->drain * HC_FLIGHT_DRAIN_US / HC_FLIGHT_WINDOW_US;
    bool holds = hc_since(flight->held_us, now_us) < HC_FLIGHT_DRAIN_US;
    if (flight->doubts || (window_ended && holds))
        drain(flight, now_us);
    flight->drain = present;
    flight->doubts = false;
}

/// Bytes that a datagram may have in spite of the bound.
static uint32_t hold(struct hc_flight *flight, uint32_t in_flight, bool silent, uint64_t now_us) {
    flight->held_us = now_us;
    return in_flight == 0 || silent ? HC_FLIGHT_LEAST : 0;
}

/// Bytes that a datagram may have while nothing is acked: each HC_KEEP_ALIVE_US seven eighths of
/// those that were acked in such a time before, because some parts cannot be divided.
static uint32_t of_silence(const struct hc_flight *flight, const struct hc_flight_state *state) {
    uint64_t bytes = flight->newest_pace * HC_KEEP_ALIVE_US / 1000000;
    bytes -= bytes / 8;
    if (!state->silent)
        return 0;
    return bytes < HC_FLIGHT_LEAST ? HC_FLIGHT_LEAST : (uint32_t)bytes;
}

uint32_t hc_flight_room(struct hc_flight *flight, const struct hc_flight_state *state,
                        uint64_t now_us) {
    uint64_t patience = patience_us(flight, now_us);
    uint32_t in_flight = state->in_flight;
    if (hc_least_get(&flight->least) == INT64_MAX)
        return HC_FLIGHT_FREE;
    if (flight->far_us > flight->near_us && hc_since(flight->far_us, now_us) > patience &&
        !flight->drains)
        lower(flight, now_us);
    bool unacked = state->waits_us > least_us(flight) + patience;
    if (!is_bound(flight))
        return unacked ? of_silence(flight, state) : HC_FLIGHT_FREE;
    if (hc_since(flight->changed_us, now_us) >= HC_FLIGHT_GROWTH_US &&
        hc_since(flight->short_us, now_us) <= patience) {
        raise(flight, flight->bound / 4);
        flight->changed_us = now_us;
    }
    drain_in_turn(flight, now_us);
    uint32_t room = flight->bound > in_flight ? flight->bound - in_flight : 0;
    if (room < HC_FLIGHT_LEAST || flight->drains || unacked)
        return hold(flight, in_flight, state->silent, now_us);
    if (hc_since(flight->held_us, now_us) >= HC_FLIGHT_FREE_US)
        flight->bound = HC_FLIGHT_FREE;
    return room;
}

void hc_flight_sent(struct hc_flight *flight, uint32_t in_flight, uint64_t now_us) {
    if (flight->drains && flight->probe_us == 0 && in_flight <= HC_FLIGHT_PROBED)
        flight->probe_us = now_us;
    if (in_flight > 0)
        return;
    if (flight->drains && flight->alone_us == 0)
        flight->alone_us = now_us;
    bool known = hc_least_get(&flight->least) != INT64_MAX;
    uint64_t ack_us = now_us + (known ? least_us(flight) : 0); // until then no ack can come
    if (flight->near_us < ack_us)
        flight->near_us = ack_us;
}

void hc_flight_acked(struct hc_flight *flight, uint32_t bytes, uint64_t now_us) {
    advance_cells(flight, now_us);
    flight->acked[flight->cell % HC_FLIGHT_CELLS] += bytes;
    flight->newest_pace = pace(flight, now_us);
}

void hc_flight_reordered(struct hc_flight *flight, uint64_t now_us) {
    flight->reordered_us = now_us;
}

// ---- Round trips --------------------------------------------------------------------------------

/// The drained path has this round trip. If it is much longer than the least one, then by no queue
/// of this connection: the path is another one.
static void end_drain(struct hc_flight *flight, uint64_t rtt_us, uint64_t now_us) {
    bool longer = rtt_us > least_us(flight) + HC_FLIGHT_QUEUE_US;
    hc_least_begin(&flight->least, now_us);
    hc_least_take(&flight->least, (int64_t)rtt_us, now_us);
    flight->drains = flight->doubts = false;
    flight->bound = longer ? HC_FLIGHT_FREE : held_by_path(flight, flight->pace);
    flight->changed_us = now_us;
}

/// Whether a drain has measured the path: by a datagram that was alone on it, or by two after each
/// other that took equally long, so that no queue was growing or being drained.
static bool is_drained(struct hc_flight *flight, uint64_t rtt_us, uint64_t sent_us) {
    if (!flight->drains || flight->probe_us == 0 || sent_us < flight->probe_us)
        return false;
    uint64_t before_us = flight->probe_rtt_us;
    uint64_t differs_us = hc_since(before_us, rtt_us) + hc_since(rtt_us, before_us);
    flight->probe_rtt_us = rtt_us;
    return sent_us == flight->alone_us || (before_us > 0 && differs_us <= HC_FLIGHT_EQUAL_US);
}

/// Takes a round trip into the least one; with a bound older ones stay.
static void take_least(struct hc_flight *flight, uint64_t rtt_us, uint64_t now_us) {
    if (is_bound(flight))
        flight->least.begun_us = now_us;
    if (!hc_least_take(&flight->least, (int64_t)rtt_us, now_us))
        return;
    flight->away_us[1] = flight->away_us[0];
    flight->away_us[0] = 0;
}

/// A round trip is near the least one.
static void note_near(struct hc_flight *flight, uint64_t now_us) {
    uint64_t away_us = hc_since(flight->near_us, now_us);
    if (!is_bound(flight) && away_us > flight->away_us[0])
        flight->away_us[0] = away_us;
    if (flight->near_us < now_us)
        flight->near_us = now_us;
    flight->doubts = false;
}

void hc_flight_measured(struct hc_flight *flight, uint64_t rtt_us, uint64_t sent_us, uint32_t bytes,
                        uint64_t now_us) {
    if (is_bound(flight) && is_drained(flight, rtt_us, sent_us))
        end_drain(flight, rtt_us, now_us);
    take_least(flight, rtt_us, now_us);
    uint64_t queue_us = hc_since(least_us(flight), rtt_us);
    if (queue_us > HC_FLIGHT_NEAR_US) {
        if (flight->far_us <= flight->near_us)
            flight->far_us = now_us;
        return;
    }
    note_near(flight, now_us);
    if (queue_us <= HC_FLIGHT_QUEUE_US)
        flight->short_us = now_us;
    if (!is_bound(flight) || queue_us > HC_FLIGHT_QUEUE_US / 2)
        return;
    uint32_t held = held_by_path(flight, pace(flight, now_us));
    if (flight->bound < held)
        flight->bound = held;
    raise(flight, bytes / 4);
}
