/// Checks that at the calm each client agrees with the server at every final tick.
#include "client/client.h"
#include "common/arena/map.h"
#include "tests/storm/checkers/checker.h"
#include "tests/storm/checkers/truth.h"

#include <stdio.h>

enum { AROUND = 8 }; ///< snapshots in which all is sent where there is not room for all in each

/// Whether the client knows all entities of a tick, and whether each player was there: without, it
/// does not step the referee.
static bool knows_all(const struct storm_match *match, const struct hc_timeline *own,
                      hc_tick tick) {
    const struct hc_timeline *server = storm_match_timeline(match);
    const struct hc_world *world = storm_truth_world(match->truth);
    if (tick < hc_timeline_oldest(server))
        return false;
    for (uint32_t e = 0; e < world->entities; e++)
        if (hc_timeline_presence(server, tick)[e] == HC_ALIVE &&
            hc_timeline_presence(own, tick)[e] == HC_UNKNOWN)
            return false;
    for (hc_player p = 0; p < world->players; p++)
        if (hc_timeline_presence(own, tick)[hc_world_player(world, p)] == HC_UNKNOWN)
            return false;
    return true;
}

/// Whether interest hides anything: a view across the whole map does not.
static bool hides(const struct hc_world *world) {
    uint32_t across = (uint32_t)hc_arena_side(world) * HC_ARENA_TILE;
    return world->game->view != 0 && world->game->view < across;
}

/// Whether the client knows all units at the final tick. If interest hides units, the client must
/// have known all of them for the AROUND snapshots before, because an unknown player may have
/// pushed a known one. If all players appear in one place, no snapshot since then may have been
/// full: the pushed player may push others, and a full snapshot may not correct them all.
static bool has_known_all(const struct storm_match *match, const struct storm_conn *conn,
                          const struct hc_timeline *own, hc_tick final) {
    bool hidden = hides(storm_truth_world(match->truth));
    hc_tick since = hidden ? hc_tick_back(final, AROUND * storm_calm_wait_ticks(match)) : final;
    bool spreads =
        hidden && storm_match_get(match, STORM_fray_crowd) != 0 && conn->full_head >= since;
    bool all = since >= hc_timeline_oldest(own) && !spreads;
    for (hc_tick t = since; t <= final && all; t++)
        all = knows_all(match, own, t);
    return all;
}

/// Whether the client could predict all: a player appears where only the server knows.
static bool could_predict_all(const struct storm_match *match, hc_tick final) {
    return storm_truth_appeared(match->truth) <
           hc_tick_back(final, AROUND * storm_calm_wait_ticks(match));
}

/// Compares all known units. A unit that was not sent at this very tick is predicted, which is
/// exact if the client knew all that there was.
///
/// A client whose ring is shorter than the final tick lags cannot hold it, nor can a stalled one.
static void client_changed(struct storm_match *match, void *state, unsigned client) {
    const struct hc_world *world = storm_truth_world(match->truth);
    const struct hc_client *core = hc_sim_client(match->sim, client);
    enum hc_client_state now = hc_client_state(core);
    const struct storm_conn *conn =
        storm_conns_find(&match->conns, client, match->seats[client].cid);
    (void)state;
    if (!match->settled || match->seats[client].hostile || conn == NULL || !conn->connected ||
        (now != HC_CLIENT_PLAYING && now != HC_CLIENT_STALLED))
        return;
    const struct hc_timeline *own = hc_client_timeline(core);
    hc_tick final = core->link.newest.snapshot.final, tick, as_of;
    if (!hc_client_snapshot(core, &tick, &as_of) || final < hc_timeline_oldest(own) ||
        final > hc_timeline_head(own) || final > storm_truth_final(match->truth))
        return;
    // A tick that was predicted from a key is shown so until the next input is known, up to W ticks
    // later; it may be final before it is sent again.
    if (final <= storm_truth_changed(match->truth) + (hc_tick)storm_match_get(match, STORM_history))
        return;
    bool all = has_known_all(match, conn, own, final) && could_predict_all(match, final);
    const uint8_t *presence = hc_timeline_presence(own, final);
    const uint8_t *states = hc_timeline_states(own, final);
    for (uint32_t u = 0; u < match->units.total; u++) {
        hc_unit unit = (hc_unit)u;
        char who[64];
        if (!storm_unit_known(world, unit, presence) ||
            storm_unit_digest(world, unit, presence, states) ==
                storm_truth_unit(match->truth, unit, final) ||
            (!all && !storm_units_received_at(match, client, conn, unit, final)))
            continue;
        snprintf(who, sizeof who, "client %u at the final tick %u", client, final);
        storm_units_fail(match, "agreement", final, unit, who, own,
                         storm_truth_state(match->truth, final));
        return;
    }
}

const struct storm_checker storm_check_agreement = {.name = "agreement",
                                                    .client_changed = client_changed};
