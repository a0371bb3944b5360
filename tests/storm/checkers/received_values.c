/// Checks that a client holds the values that it has received, until something newer arrives; and
/// that final ticks that it shows are right.
#include "tests/storm/checkers/checker.h"
#include "tests/storm/checkers/truth.h"

#include <stdio.h>

enum { ESTABLISHED = 64 }; ///< heads until the server knows that the client knows a unit

/// Every unit of the snapshot is as the server had it; a dropped one is unknown.
static void check_snapshot(struct storm_match *match, unsigned client,
                           const struct storm_sent *sent, hc_tick tick, hc_tick as_of) {
    const struct hc_timeline *own = hc_client_timeline(hc_sim_client(match->sim, client));
    hc_unit unit;
    char who[64];
    if (sent->as_of != as_of || sent->tick != tick) {
        storm_fail(match->verdict, STORM_WRONG, "received", tick,
                   "client %u has received tick %u as of %u, sent was %u as of %u", client, tick,
                   as_of, sent->tick, sent->as_of);
        return;
    }
    if (tick < hc_timeline_oldest(own) || tick > hc_timeline_head(own)) {
        storm_wrong(match, "received", tick, client, "does not hold the tick of its snapshot");
        return;
    }
    if (!storm_units_differ(match, client, sent, &unit))
        return;
    snprintf(who, sizeof who, "client %u after the snapshot of head %u", client, as_of);
    if (match->seats[client].units[unit].dropped)
        storm_fail(match->verdict, STORM_WRONG, "dropped", tick,
                   "%s still knows unit %u, which was dropped", who, unit);
    storm_units_fail(match, "received", tick, unit, who, own,
                     (struct storm_state){sent->presence, sent->states});
}

/// The inputs of the players of a snapshot come with it: the newest known one before its tick, and
/// all from there on for which there was room.
static void check_inputs(struct storm_match *match, unsigned client,
                         const struct storm_sent *sent) {
    const struct hc_world *world = storm_truth_world(match->truth);
    const struct hc_timeline *own = hc_client_timeline(hc_sim_client(match->sim, client));
    for (hc_player p = 0; p < world->players; p++) {
        if (sent->bases[p] == 0 ||
            !storm_units_received(match, client, sent->as_of, (hc_unit)(1 + p)))
            continue;
        if (storm_unit_base(world, own, p, sent->tick) != sent->bases[p])
            storm_fail(match->verdict, STORM_WRONG, "bases", sent->tick,
                       "client %u predicts player %u from another input before %u than the server "
                       "did at %u",
                       client, p, sent->tick, sent->as_of);
        if (!sent->cut && sent->inputs[p] != 0 &&
            storm_inputs_digest(world, own, p, sent->tick, sent->as_of) != sent->inputs[p])
            storm_fail(match->verdict, STORM_WRONG, "inputs", sent->tick,
                       "client %u does not know the inputs of player %u from %u on as the server "
                       "did at %u",
                       client, p, sent->tick, sent->as_of);
    }
}

/// The final tick that the client knows is one, with its chain hash. True: it knows one.
static bool check_final(struct storm_match *match, unsigned client, hc_tick *final) {
    uint64_t chain;
    if (!hc_client_final(hc_sim_client(match->sim, client), final, &chain))
        return false;
    if (*final > storm_truth_final(match->truth)) {
        storm_wrong(match, "final", *final, client, "knows a final tick that is none yet");
        return false;
    }
    if (chain != storm_truth_chain(match->truth, *final))
        storm_wrong(match, "chain", *final, client, "has received another chain hash");
    return true;
}

/// On clean links every tick that is shown and final is right in all units that the client has
/// known for a while: corrections have arrived, unless there was no room for them. A tick whose
/// snapshot left a unit out is predicted, and is not corrected.
static void check_shown(struct storm_match *match, unsigned client, const struct storm_conn *conn,
                        const struct storm_sent *sent, hc_tick final) {
    const struct hc_world *world = storm_truth_world(match->truth);
    const struct hc_client *core = hc_sim_client(match->sim, client);
    const struct hc_timeline *own = hc_client_timeline(core);
    hc_tick shown;
    uint32_t fraction;
    if (!match->last_part || sent->full || storm_match_sparse(match) ||
        !hc_client_show_tick(core, hc_sim_client_now(match->sim, client), &shown, &fraction))
        return;
    hc_tick end = hc_tick_min(final, hc_timeline_head(own));
    hc_tick first = hc_tick_max(hc_tick_max(shown, hc_timeline_oldest(own)), conn->full_head + 1);
    for (hc_tick t = first; t <= end; t++)
        for (uint32_t u = 0; u < match->units.total; u++) {
            const struct storm_received_unit *unit = &match->seats[client].units[u];
            if (unit->as_of != sent->as_of || unit->dropped ||
                unit->since + ESTABLISHED > hc_tick_min(sent->as_of, t) ||
                storm_unit_digest(world, (hc_unit)u, hc_timeline_presence(own, t),
                                  hc_timeline_states(own, t)) ==
                    storm_truth_unit(match->truth, (hc_unit)u, t) ||
                !storm_units_received_at(match, client, conn, (hc_unit)u, t))
                continue;
            storm_units_fail(match, "shown", t, (hc_unit)u, "a final tick that is shown", own,
                             storm_truth_state(match->truth, t));
            return;
        }
}

static void client_changed(struct storm_match *match, void *state, unsigned client) {
    const struct storm_seat *seat = &match->seats[client];
    const struct hc_client *core = hc_sim_client(match->sim, client);
    const struct hc_timeline *own = hc_client_timeline(core);
    const struct storm_conn *conn = storm_conns_find(&match->conns, client, seat->cid);
    hc_tick tick, as_of, final;
    hc_unit unit;
    (void)state;
    if (own == NULL || conn == NULL || !hc_client_snapshot(core, &tick, &as_of))
        return;
    const struct storm_sent *sent = &conn->sent[as_of % STORM_SENT];
    if (as_of != seat->seen_as_of) {
        check_snapshot(match, client, sent, tick, as_of);
        if (match->verdict->result != STORM_FINE)
            return;
        check_inputs(match, client, sent);
        if (check_final(match, client, &final) && !seat->hostile)
            check_shown(match, client, conn, sent, final);
    } else if (sent->as_of == as_of && !seat->hostile && tick >= hc_timeline_oldest(own) &&
               tick <= hc_timeline_head(own) && storm_units_differ(match, client, sent, &unit)) {
        storm_units_fail(match, "replaced", tick, unit, "something older replaces a snapshot", own,
                         (struct storm_state){sent->presence, sent->states});
    }
}

static void client_ends(struct storm_match *match, void *state, unsigned client) {
    const struct hc_client_stats *stats = hc_client_stats(hc_sim_client(match->sim, client));
    (void)state;
    if (stats->hash_mismatches > 0)
        storm_wrong(match, "hash", 0, client, "has received snapshots without their hash");
}

const struct storm_checker storm_check_received_values = {
    .name = "received values", .client_changed = client_changed, .client_ends = client_ends};
