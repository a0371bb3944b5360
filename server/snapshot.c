#include "server/core.h"

#include "common/mark.h"

#include <string.h>

enum { INPUT_SHARE = 6 }; ///< ticks of a player's inputs that go before the next player's

hc_tick hc_sv_snapshot_tick(const struct hc_sv_host *host, const struct hc_sv_peer *peer) {
    hc_tick tick = hc_timeline_head(host->timeline);
    for (unsigned i = 0; !host->config.show_head && i < peer->own_count; i++)
        tick = hc_tick_min(tick, hc_timeline_complete(host->timeline, peer->own[i]) + 1);
    return tick;
}

/// The hash of a tick, computed once for all the clients that are shown it at one head.
static uint64_t hash_of(struct hc_sv_host *host, hc_tick tick) {
    struct hc_sv_hash *entry = &host->hashes[tick % (host->config.history + 1)];
    hc_tick head = hc_timeline_head(host->timeline);
    if (entry->tick != tick || entry->head != head)
        *entry = (struct hc_sv_hash){
            .tick = tick, .head = head, .hash = hc_timeline_hash(host->timeline, tick)};
    return entry->hash;
}

static bool is_own(const struct hc_sv_peer *peer, hc_player player) {
    for (unsigned i = 0; i < peer->own_count; i++)
        if (peer->own[i] == player)
            return true;
    return false;
}

/// Gives the inputs of a player that are known, from the timeline.
struct source {
    const struct hc_timeline *timeline;
    hc_player player;
    hc_tick first;
};

static const void *known_input(void *context, uint32_t index, uint32_t player) {
    const struct source *source = context;
    (void)player; // a run of one player
    return hc_timeline_input(source->timeline, source->player, source->first + index);
}

static const void *same_input(void *context, uint32_t index, uint32_t player) {
    (void)index, (void)player; // one input alone
    return context;
}

static bool put_state(struct hc_sv_host *host, struct hc_sv_peer *peer, struct hc_writer *body,
                      hc_tick tick, uint64_t now_us) {
    struct hc_timeline *tl = host->timeline;
    hc_tick head = hc_timeline_head(tl);
    struct hc_snapshot snapshot = {.as_of = head,
                                   .phase_us = hc_sv_host_phase_us(host, now_us),
                                   .ack_delay_us = hc_sv_peer_ack_delay(peer, now_us),
                                   .tick = tick,
                                   .refusal = hc_tick_back(head, host->config.history),
                                   .final = host->final,
                                   .chain = host->chain,
                                   .hash = (uint32_t)hash_of(host, tick),
                                   .own_count = peer->own_count};
    for (unsigned i = 0; i < peer->own_count; i++) // show_head may be ahead of A
        snapshot.complete[i] =
            hc_tick_max(hc_timeline_complete(tl, peer->own[i]), hc_tick_back(tick, 1));
    return hc_snapshot_put(body, &host->world, &snapshot, hc_timeline_presence(tl, tick),
                           hc_timeline_states(tl, tick));
}

/// The newest join or leave of the player before `tick`, NULL: none is remembered.
static const struct hc_snapshot_control *control_before(const struct hc_sv_host *host,
                                                        hc_player player, hc_tick tick) {
    for (unsigned i = host->control_count; i-- > 0;) {
        const struct hc_snapshot_control *control =
            &host->controls[(host->control_first + i) % HC_SV_CONTROLS];
        if (control->player == player && control->tick < tick)
            return control;
    }
    return NULL;
}

static void put_bases(struct hc_sv_host *host, const struct hc_sv_peer *peer,
                      struct hc_writer *body, hc_tick tick) {
    uint8_t input[HC_INPUT_MAX];
    hc_tick known = 0;
    for (hc_player p = 0; p < host->world.players; p++) {
        const struct hc_sv_player *player = &host->players[p];
        struct hc_snapshot_control join = {
            .player = p, .tick = player->joined, .control = HC_CONTROL_JOIN};
        if (hc_timeline_newest_input(host->timeline, p, tick, &known, input)) {
            hc_snapshot_put_inputs(body, &host->world, tick, p, known, 1, same_input, input);
            continue;
        }
        // Nothing older counts: what the client knows may be of an earlier life.
        const struct hc_snapshot_control *control = control_before(host, p, tick);
        if (control == NULL && player->in && player->joined < tick)
            control = &join;
        if (control != NULL && control->control == HC_CONTROL_JOIN && !is_own(peer, p))
            hc_snapshot_put_control(body, tick, control);
    }
}

static void put_forced(struct hc_sv_peer *peer, struct hc_writer *body, hc_tick tick,
                       uint32_t seq) {
    for (unsigned i = 0; i < peer->forced_count; i++) {
        struct hc_sv_forced *range = &peer->forced[i];
        struct hc_snapshot_forced forced = {
            .player = range->player, .first = range->first, .count = range->count};
        bool fits = range->first <= tick && hc_snapshot_put_forced(body, tick, &forced);
        if (!fits)
            range->told = 0; // what was told before does not count on later datagrams
        else if (range->told == 0)
            range->told = seq;
    }
}

/// Others' joins and leaves, also those before `tick` after which the client may know inputs of an
/// earlier life, which had come early.
static void put_controls(struct hc_sv_host *host, const struct hc_sv_peer *peer,
                         struct hc_writer *body, hc_tick tick) {
    hc_tick since = hc_tick_back(tick, host->config.future);
    for (unsigned i = 0; i < host->control_count; i++) {
        const struct hc_snapshot_control *control =
            &host->controls[(host->control_first + i) % HC_SV_CONTROLS];
        if (control->tick >= since && !is_own(peer, control->player))
            hc_snapshot_put_control(body, tick, control);
    }
}

/// Runs of the player's known inputs in [from, end), as many as fit; false when not all did.
static bool put_player_inputs(struct hc_sv_host *host, struct hc_writer *body, hc_tick tick,
                              hc_player player, hc_tick from, hc_tick end) {
    const struct hc_timeline *tl = host->timeline;
    hc_tick newest = hc_tick_min(host->players[player].newest, end - 1);
    for (hc_tick t = from; t <= newest;) {
        uint32_t count = 0;
        while (t + count <= newest && count < HC_INPUT_RUN_MAX &&
               hc_timeline_slot(tl, player, t + count) == HC_SLOT_KNOWN)
            count++;
        struct source source = {.timeline = tl, .player = player, .first = t};
        if (count > 0 && hc_snapshot_put_inputs(body, &host->world, tick, player, t, count,
                                                known_input, &source) < count)
            return false;
        t += count > 0 ? count : 1;
    }
    return true;
}

/// The others' known inputs in [from, end), player by player; false when not all fitted.
static bool put_others(struct hc_sv_host *host, const struct hc_sv_peer *peer,
                       struct hc_writer *body, hc_tick tick, hc_tick from, hc_tick end) {
    for (hc_player p = 0; p < host->world.players; p++)
        if (!is_own(peer, p) && !put_player_inputs(host, body, tick, p, from, end))
            return false;
    return true;
}

/// The others' known inputs from `tick` on: one run each when there is room for all, else a few
/// ticks of everybody at a time, so that the nearest go first and nobody is left out for another.
static void put_inputs(struct hc_sv_host *host, const struct hc_sv_peer *peer,
                       struct hc_writer *body, hc_tick tick) {
    struct hc_writer before = *body;
    hc_tick end = hc_timeline_head(host->timeline) + host->config.future + 1;
    if (put_others(host, peer, body, tick, tick, end))
        return;
    *body = before;
    for (hc_tick from = tick; from < end; from += INPUT_SHARE)
        if (!put_others(host, peer, body, tick, from, hc_tick_min(from + INPUT_SHARE, end))) {
            HC_MARK("inputs-cut");
            return;
        }
}

/// The first tick that the client may still show when this snapshot arrives, HC_NO_TICK when
/// nothing is known of it. It shows ticks from its own less the display offset and one on; and its
/// own is the one last reported and, while that moves on, what the least round-trip time adds to
/// it, less one tick for a path that turns out shorter.
static hc_tick shown_from(const struct hc_sv_host *host, const struct hc_sv_peer *peer) {
    if (!peer->reported)
        return HC_NO_TICK;
    uint64_t rtt_us = peer->rtt_min_us == UINT64_MAX ? 0 : peer->rtt_min_us;
    uint32_t under_way = hc_tick_at_us(rtt_us, host->world.tick_rate);
    hc_tick own = peer->client_tick;
    if (peer->moves && under_way > 0)
        own = hc_tick_ahead(own, under_way - 1);
    return hc_tick_max(hc_timeline_oldest(host->timeline),
                       hc_tick_back(own, peer->display_offset + 1));
}

/// What the client does not hold of the past tick `at`; false when not all of it fitted.
static bool put_tick_corrections(struct hc_sv_host *host, struct hc_sv_peer *peer,
                                 struct hc_writer *body, hc_tick tick, hc_tick at, uint32_t seq) {
    const struct hc_world *world = &host->world;
    const uint8_t *presence = hc_timeline_presence(host->timeline, at);
    const uint8_t *states = hc_timeline_states(host->timeline, at);
    if (hc_sv_told_holds_all(&peer->told, &peer->sent, peer->acked, at, presence, states))
        return true;
    for (uint32_t e = 0; e < world->entities; e++) {
        const uint8_t *state = states + (size_t)e * world->stride;
        if (hc_sv_told_holds(&peer->told, &peer->sent, peer->acked, at, (hc_entity)e, presence[e],
                             state))
            continue;
        if (!hc_snapshot_put_correction(body, world, tick, at, (hc_entity)e, presence[e], state))
            return false;
        hc_sv_told_put(&peer->told, at, (hc_entity)e, presence[e], state, seq);
        host->stats.corrections++;
    }
    return true;
}

/// Past ticks that the client may still show and that are not what it holds, newest first.
static void put_corrections(struct hc_sv_host *host, struct hc_sv_peer *peer,
                            struct hc_writer *body, hc_tick tick, hc_tick from, uint32_t seq) {
    for (hc_tick t = tick; t > from; t--) {
        if (put_tick_corrections(host, peer, body, tick, t - 1, seq))
            continue;
        HC_MARK("corrections-cut");
        return;
    }
}

/// Remembers the tick shown, so that it can be corrected later.
static void remember(struct hc_sv_host *host, struct hc_sv_peer *peer, hc_tick tick, uint32_t seq) {
    hc_sv_told_put_all(&peer->told, tick, hc_timeline_presence(host->timeline, tick),
                       hc_timeline_states(host->timeline, tick), seq);
}

size_t hc_sv_snapshot_send(struct hc_sv_host *host, struct hc_sv_peer *peer,
                           uint8_t out[static HC_DATAGRAM_MAX], uint64_t now_us) {
    struct hc_writer body = hc_bytes_writer(out + HC_DATA_BODY_AT, HC_DATA_BODY_MAX);
    hc_tick tick = hc_sv_snapshot_tick(host, peer);
    uint32_t seq = peer->sent.next; // that hc_sv_peer_wrap is about to take
    bool fits = put_state(host, peer, &body, tick, now_us);
    HC_ASSERT(fits); // the configuration was checked for it
    put_bases(host, peer, &body, tick);
    put_forced(peer, &body, tick, seq);
    put_controls(host, peer, &body, tick);
    put_inputs(host, peer, &body, tick);
    put_corrections(host, peer, &body, tick, shown_from(host, peer), seq);
    // Also when the client is past it by now: its next report may be of an older tick than guessed.
    remember(host, peer, tick, seq);
    host->stats.snapshots++;
    if (tick >= host->rewound_from && tick < host->rewound_to) {
        HC_MARK("snapshot-of-rewound-tick");
        host->stats.snapshots_rewound++;
    }
    return hc_sv_peer_wrap(peer, out, body.at, now_us);
}
