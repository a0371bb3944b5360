/// Takes the inputs of clients, counts them by their outcome, and forces slots.
#include "server/inputs.h"

#include "common/input_fields.h"
#include "common/mark.h"

#include <string.h>

uint32_t hc_sv_inputs_late_limit(const struct hc_server *server, const struct hc_sv_peer *peer) {
    return hc_sv_lateness_limit(&peer->lateness, server->config.late_margin,
                                server->overload.late_most);
}

void hc_sv_inputs_force(struct hc_server *server, struct hc_sv_peer *peer, hc_player player,
                        hc_tick before, enum hc_sv_inputs_cause cause) {
    struct hc_server_stats *stats = &server->stats;
    struct hc_timeline *tl = server->timeline;
    hc_tick from = hc_timeline_inputs_through(tl, player) + 1;
    hc_tick end = hc_tick_min(before, hc_timeline_head(tl) + server->test.future + 1);
    // List the slots before forcing them, because afterwards all forced slots look the same.
    for (hc_tick t = from; t < end; t++) {
        if (hc_timeline_slot(tl, player, t) != HC_SLOT_UNKNOWN)
            continue;
        if (t + server->config.history <= hc_timeline_head(tl))
            HC_MARK("slot-closed-by-window");
        hc_sv_lists_force(peer->replication.lists, player, t, 1);
    }
    uint64_t forced = hc_timeline_force(tl, player, end);
    stats->inputs_forced += forced;
    stats->forced_late += cause == HC_SV_INPUTS_LATE ? forced : 0;
    stats->forced_given_up += cause == HC_SV_INPUTS_GIVEN_UP ? forced : 0;
    stats->forced_silent += cause == HC_SV_INPUTS_SILENT ? forced : 0;
}

/// Notes a new input of `own` for `tick`: whether the client is idle, and how late it is.
static void note_input(struct hc_server *server, struct hc_sv_peer *peer, unsigned own,
                       hc_tick tick, const uint8_t *input) {
    hc_tick head = hc_timeline_head(server->timeline);
    size_t size = server->world.game->input_size;
    if (memcmp(peer->newest_input[own], input, size) != 0) {
        hc_sv_replicator_turn(&server->replicator, peer->replication.own[own],
                              peer->newest_input[own], input);
        memcpy(peer->newest_input[own], input, size);
        peer->active_at = head;
    }
    if (tick >= head)
        return;
    server->stats.inputs_late++;
    peer->late_inputs++;
    peer->late_ticks += head - tick;
    if (peer->late_ticks > server->stats.latest.ticks)
        server->stats.latest = (struct hc_server_latest){peer->user.client_id, peer->late_ticks};
}

/// The oldest tick that a client can have shown when it gave the inputs of this datagram: it had
/// the newest snapshot that its datagrams before have acked, and shows so many ticks before that.
static hc_tick oldest_shown(const struct hc_sv_client *client, hc_tick acked) {
    return acked == HC_NO_TICK ? 0 : hc_tick_back(acked, client->display_offset + 1);
}

/// Limits the tick that the client says it was shown when it gave the input of `tick`. Writes
/// whether it was before `oldest`, and whether it was farther back than the server allows.
static void limit_shown_ago(const struct hc_server *server, hc_tick oldest, hc_tick tick,
                            uint8_t *input, bool *unsent, bool *limited) {
    const struct hc_game *game = server->world.game;
    uint64_t most = (uint64_t)server->config.lag_compensation_ms * server->world.tick_rate / 1000;
    *unsent = hc_shown_ago_limit(game, input, tick > oldest ? tick - oldest : 0);
    *limited =
        hc_shown_ago_limit(game, input, most < game->lookback ? (uint32_t)most : game->lookback);
}

/// Counts an input whose slot has closed.
static void count_refused(struct hc_server *server) {
    server->stats.inputs_refused++;
    server->stats.refused_late++;
}

/// Puts one input of a client into the timeline, and counts it once by its outcome. An input comes
/// many times, because datagrams repeat it until it is acked.
static void put_input(struct hc_server *server, struct hc_sv_peer *peer, unsigned own, hc_tick tick,
                      const void *packed, hc_tick oldest) {
    uint8_t input[HC_INPUT_MAX];
    bool unsent, limited;
    hc_player player = peer->replication.own[own];
    hc_tick *seen = &peer->seen[own][tick % HC_SV_SEEN];
    if (*seen == tick + 1)
        return;
    memcpy(input, packed, server->world.game->input_size);
    server->world.game->sanitize_input(input);
    limit_shown_ago(server, oldest, tick, input, &unsent, &limited);
    switch (hc_timeline_put_input(server->timeline, player, tick, input)) {
    case HC_OK:
        server->stats.inputs_received++;
        server->stats.shown_ago_unsent += unsent;
        server->stats.shown_ago_limited += limited;
        note_input(server, peer, own, tick, input);
        hc_sv_roster_input(&server->replicator.roster, player, tick);
        break;
    case HC_TOO_OLD:
        count_refused(server);
        break;
    default: // its slot has an input, or was closed: at a join, as too late, or by force_before
        if (hc_timeline_slot(server->timeline, player, tick) != HC_SLOT_FORCED)
            break;
        if (tick + hc_sv_inputs_late_limit(server, peer) < hc_timeline_head(server->timeline))
            count_refused(server);
        else
            server->stats.inputs_lost++;
        break;
    }
    *seen = tick + 1;
}

/// How many of a datagram's ticks are not beyond the future limit. The others are refused, each
/// time, without a look at them: a repeat may still be in time.
static uint32_t ticks_in_time(const struct hc_server *server,
                              const struct hc_input_message *message) {
    hc_tick end = hc_timeline_head(server->timeline) + server->test.future + 1;
    uint32_t most = message->first < end ? end - message->first : 0;
    if (message->count > most)
        HC_MARK("input-too-new");
    return message->count < most ? message->count : most;
}

/// Notes how late the newest input of a datagram is, and its margin. A refused stamp beyond the
/// future must not hide later ones.
static void note_newest(struct hc_server *server, struct hc_sv_peer *peer,
                        const struct hc_input_message *message, uint64_t arrived_us) {
    hc_tick newest = hc_tick_min(message->first + message->count - 1,
                                 hc_timeline_head(server->timeline) + server->test.future);
    hc_sv_lateness_input(&peer->lateness, newest);
    hc_sv_margin_input(&peer->margin, newest, hc_sv_schedule_due_us(&server->schedule, newest + 1),
                       arrived_us);
}

void hc_sv_inputs_put(struct hc_server *server, struct hc_sv_peer *peer, hc_tick acked,
                      const struct hc_input_message *message, struct hc_input_run *run,
                      uint64_t arrived_us) {
    struct hc_sv_client *client = &peer->replication;
    hc_sv_client_report(client, message->client_tick, message->display_offset);
    hc_tick oldest = oldest_shown(client, acked);
    if (message->count > 0)
        note_newest(server, peer, message, arrived_us);
    uint32_t count = ticks_in_time(server, message);
    for (unsigned own = 0; own < client->own_count; own++) {
        if (!hc_sv_clients_plays(&server->clients, peer, client->own[own]))
            continue;
        hc_sv_inputs_force(server, peer, client->own[own], message->force_before,
                           HC_SV_INPUTS_GIVEN_UP);
        server->stats.inputs_refused += message->count - count;
        server->stats.refused_ahead += message->count - count;
    }
    for (uint32_t i = 0; i < count; i++) {
        for (unsigned own = 0; own < client->own_count; own++) {
            const void *input = hc_input_run_next(run);
            if (hc_sv_clients_plays(&server->clients, peer,
                                    client->own[own])) // otherwise its join is due
                put_input(server, peer, own, message->first + i, input, oldest);
        }
    }
}

enum hc_status hc_sv_inputs_put_npc(struct hc_server *server, hc_player player, hc_tick tick,
                                    const void *input) {
    const struct hc_game *game = server->world.game;
    uint8_t allowed[HC_INPUT_MAX], before[HC_INPUT_MAX] = {0};
    hc_tick known;
    if (!hc_sv_players_has_npc(&server->clients.players, player))
        return HC_UNEXPECTED;
    if (tick < hc_timeline_head(server->timeline))
        return HC_TOO_OLD;
    memcpy(allowed, input, game->input_size);
    hc_input_cut(game, allowed);
    game->sanitize_input(allowed);
    uint32_t ahead = tick - hc_timeline_head(server->timeline);
    hc_shown_ago_set(game, allowed, ahead, ahead);
    enum hc_status status = hc_timeline_put_input(server->timeline, player, tick, allowed);
    if (status == HC_OK) {
        hc_sv_roster_input(&server->replicator.roster, player, tick);
        hc_timeline_newest_input(server->timeline, player, tick, &known, before);
        hc_sv_replicator_turn(&server->replicator, player, before, allowed);
    }
    return status;
}
