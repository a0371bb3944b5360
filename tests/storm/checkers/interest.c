/// Checks that on clean links a client knows no unit that has been out of its view for a while.
#include "tests/storm/checkers/checker.h"

enum {
    LOOK = 8,   ///< ticks after which the server has renewed the interest set
    AROUND = 8, ///< snapshots in which all is sent
    MARGIN =
        16, ///< ticks beyond the round trip; and a part of the view that rewinds may move units
};

/// The ticks after which a change of view has arrived.
static uint32_t while_ticks(const struct storm_match *match, unsigned client) {
    uint64_t rtt = storm_calm_rtt_us(match, client) / match->tick_us + 1;
    return LOOK + MARGIN + (uint32_t)rtt + AROUND * (storm_calm_wait_ticks(match) - 1);
}

/// Whether a rewind deeper than a look has rewritten ticks of [first, last] at a head after
/// `since`: then the client may not have received yet where units were.
static bool rewritten(const struct storm_match *match, hc_tick first, hc_tick last, hc_tick since) {
    for (hc_tick t = first; t <= last; t++) {
        hc_tick changed = hc_timeline_changed(storm_match_timeline(match), t);
        if (changed > since && changed > t + LOOK)
            return true;
    }
    return false;
}

/// Whether the unit was out of view at every tick of [first, last].
static bool was_out(const struct storm_match *match, const struct storm_conn *conn, hc_unit unit,
                    hc_tick first, hc_tick last) {
    int64_t view = match->units.world->game->view;
    for (hc_tick t = first; t <= last; t++) {
        int64_t away = storm_unit_distance(match, conn, unit, t);
        if (away <= view + view / 4 + view / MARGIN)
            return false;
    }
    return true;
}

static void client_changed(struct storm_match *match, void *state, unsigned client) {
    const struct storm_seat *seat = &match->seats[client];
    const struct hc_client *core = hc_sim_client(match->sim, client);
    const struct storm_conn *conn = storm_conns_find(&match->conns, client, seat->cid);
    hc_tick tick, as_of, oldest = hc_timeline_oldest(storm_match_timeline(match));
    uint32_t ticks = while_ticks(match, client);
    (void)state;
    if ((!match->last_part && !match->settled) || seat->hostile || conn == NULL ||
        !conn->connected || match->units.world->game->view == 0 || conn->first_us == 0 ||
        hc_sim_now(match->sim) < conn->first_us + ticks * match->tick_us ||
        !hc_client_snapshot(core, &tick, &as_of) || as_of == seat->seen_as_of ||
        tick < oldest + ticks + LOOK || conn->full_head + ticks >= as_of ||
        rewritten(match, tick - ticks - LOOK, tick, as_of - ticks))
        return;
    for (uint32_t u = 0; u < match->units.total; u++) {
        hc_unit unit = (hc_unit)u;
        if (seat->units[u].since != HC_NO_TICK && !storm_unit_always_seen(match, conn, unit) &&
            was_out(match, conn, unit, tick - ticks, tick))
            storm_fail(match->verdict, STORM_WRONG, "interest", tick,
                       "client %u knows unit %u, which has been out of its view for %u ticks",
                       client, u, ticks);
    }
}

const struct storm_checker storm_check_interest = {.name = "interest",
                                                   .client_changed = client_changed};
