#include "tests/storm/beside.h"

#include "client/baselines.h"
#include "hindcast/rng.h"
#include "proto/datagram.h"
#include "tests/storm/inside.h"

#include <string.h>
#include <xxhash.h>

enum {
    FORCED_TOLD = 32, ///< stretches of forced inputs that a client is told at once
};

static void wrong(struct storm_match *match, const char *oracle, hc_tick tick, const char *text,
                  unsigned client) {
    storm_fail(match->verdict, STORM_WRONG, oracle, tick, "client %u: %s", client, text);
}

/// One multiplication: much is mixed, and only ever compared on this machine.
static uint64_t mix(uint64_t digest, uint64_t value) {
    digest = (digest ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return digest ^ digest >> 32;
}

static uint64_t mix_input(const struct hc_timeline *timeline, uint64_t digest, hc_player player,
                          hc_tick tick, uint16_t size) {
    uint64_t words[HC_INPUT_MAX / sizeof(uint64_t)] = {0};
    enum hc_roster roster_change = hc_timeline_roster(timeline, player, tick);
    if (roster_change != HC_ROSTER_NONE)
        digest = mix(digest, ((uint64_t)tick << 16 | player) << 2 | (uint64_t)roster_change);
    if (hc_timeline_slot(timeline, player, tick) != HC_SLOT_KNOWN)
        return digest;
    memcpy(words, hc_timeline_input(timeline, player, tick), size);
    digest = mix(mix(digest, ((uint64_t)tick << 16 | player) << 2), words[0]);
    return size > sizeof words[0] ? mix(digest, words[1]) : digest;
}

uint64_t storm_beside_digest(const struct hc_world *world, const struct hc_timeline *timeline,
                             hc_player player, hc_tick tick, hc_tick as_of) {
    // Who is not in has no inputs; what came of them before its leave was heard of may stay.
    bool done = hc_timeline_presence(timeline, tick)[hc_world_player(world, player)] != HC_ALIVE;
    uint64_t digest = 1;
    as_of = hc_tick_min(as_of, tick + 32); // what any client's window holds
    for (hc_tick t = tick; !done && t <= as_of; t++) {
        digest = mix_input(timeline, digest, player, t, world->game->input_size);
        done = hc_timeline_roster(timeline, player, t) == HC_ROSTER_LEAVE;
    }
    return digest | 1;
}

uint64_t storm_beside_hash(const struct hc_world *world, const uint8_t *presence,
                           const uint8_t *states) {
    uint64_t hash = 0;
    for (uint32_t e = 0; e < world->entities; e++) {
        uint8_t bytes[1 + HC_STATE_MAX] = {presence[e]};
        const struct hc_kind *kind = hc_world_kind(world, (hc_entity)e);
        size_t length = presence[e] == HC_ALIVE ? 1u + kind->state_size : 1u;
        for (uint16_t f = 0; presence[e] == HC_ALIVE && f < kind->field_count; f++) {
            const struct hc_field *field = &kind->fields[f];
            uint64_t value = (uint64_t)hc_field_get(field, states + (size_t)e * world->stride);
            for (unsigned i = 0; i < field->size; i++)
                bytes[1 + field->offset + i] = (uint8_t)(value >> 8 * i);
        }
        hash = XXH3_64bits_withSeed(bytes, length, hash);
    }
    return hash;
}

void storm_beside_stamps(struct storm_match *match, unsigned client, const struct storm_conn *conn,
                         const struct hc_input_message *message, struct hc_input_run *run) {
    const struct hc_timeline *own = hc_client_timeline(hc_sim_client(match->sim, client));
    size_t size = match->conns.game->input_size;
    for (uint32_t i = 0; i < message->count; i++)
        for (unsigned p = 0; p < conn->player_count; p++) {
            hc_tick tick = message->first + i;
            const uint8_t *input = hc_input_run_next(run);
            enum hc_slot slot = hc_timeline_slot(own, conn->players[p], tick);
            if (tick <= hc_timeline_oldest(own) || slot == HC_SLOT_RETRACTED)
                continue;
            if (slot != HC_SLOT_KNOWN)
                wrong(match, "own-stamps", tick, "sends an input that it does not use", client);
            else if (memcmp(input, hc_timeline_input(own, conn->players[p], tick), size) != 0)
                wrong(match, "own-stamps", tick, "sends another input than it uses", client);
        }
}

/// Whether the client must still have what the snapshot is told against: what it was told for so
/// long, the newest base, and one that gave way to a much newer one for as long after that. Older
/// heads than the base are referred to up to half as long before the snapshot.
static bool has_base(const struct storm_seen *seen, const struct hc_snapshot *snapshot) {
    if (seen->head == HC_NO_TICK)
        return true;
    bool late = snapshot->as_of + HC_CL_BASELINE_TICKS / 2 < seen->head;
    bool aside = snapshot->base == seen->before && seen->head - seen->after < HC_CL_BASELINE_TICKS;
    return !late && (snapshot->base == HC_NO_TICK || snapshot->base == seen->base || aside ||
                     snapshot->base + HC_CL_BASELINE_TICKS > seen->head);
}

static void see(struct storm_seen *seen, const struct hc_snapshot *snapshot) {
    if (seen->head == HC_NO_TICK || snapshot->as_of > seen->head)
        seen->head = snapshot->as_of;
    if (snapshot->base == HC_NO_TICK || (seen->base != HC_NO_TICK && snapshot->base <= seen->base))
        return;
    if (seen->base != HC_NO_TICK && snapshot->base - seen->base >= HC_CL_BASELINE_TICKS / 2) {
        seen->before = seen->base;
        seen->after = snapshot->base;
    }
    seen->base = snapshot->base;
}

void storm_beside_answered(struct storm_match *match, unsigned client, const uint8_t *bytes,
                           size_t size, enum hc_status status) {
    struct storm_seen *seen = &match->seats[client].seen;
    struct hc_data data;
    if (hc_datagram_get_data(bytes, size, &data) != HC_OK || data.seq >= STORM_SEQS)
        return;
    if (status == HC_OK && data.cid != seen->cid)
        *seen = (struct storm_seen){
            .cid = data.cid, .head = HC_NO_TICK, .base = HC_NO_TICK, .before = HC_NO_TICK};
    if (data.cid != seen->cid)
        return;
    const struct storm_conn *conn = storm_conns_named(&match->conns, data.cid);
    hc_tick near = hc_timeline_head(hc_sv_host_timeline(hc_sim_host(match->sim)));
    struct hc_snapshot snapshot;
    bool shows = conn != NULL &&
                 storm_counts_snapshot(bytes, size, near, (uint8_t)conn->player_count, &snapshot);
    bool before = seen->seqs[data.seq] != 0;
    if (status == HC_OK && before)
        wrong(match, "replay", 0, "takes a datagram twice", client);
    if (!before && (status == HC_DUPLICATE ||
                    (status == HC_TOO_OLD && seen->newest - data.seq < HC_REPLAY_WINDOW &&
                     (!shows || has_base(seen, &snapshot)))))
        wrong(match, "replay", 0, "refuses as too old what it did not have", client);
    if (status == HC_OK) {
        seen->seqs[data.seq] = 1;
        seen->newest = data.seq > seen->newest ? data.seq : seen->newest;
        if (shows)
            see(seen, &snapshot);
    }
}

void storm_beside_door(struct storm_match *match, unsigned client, const uint8_t *bytes,
                       size_t size) {
    struct storm_seat *seat = &match->seats[client];
    struct hc_datagram_cookie cookie;
    struct hc_accept accept;
    if (hc_datagram_get_cookie(bytes, size, &cookie) == HC_OK)
        memcpy(seat->nonces[seat->nonce_count++ % STORM_NONCES], cookie.client_nonce,
               HC_NONCE_SIZE);
    if (hc_datagram_get_accept(bytes, size, &accept) != HC_OK)
        return;
    for (unsigned i = 0; i < STORM_NONCES; i++)
        if (memcmp(seat->nonces[i], accept.client_nonce, HC_NONCE_SIZE) == 0)
            return;
    wrong(match, "cookie", 0, "is accepted without a cookie of its own", client);
}

/// How many stretches of forced inputs are told rather than one that ends at `tick`, of the player
/// that is number `own`: those after it, and of the others all that may have been forced with it.
static unsigned forced_since(struct storm_match *match, const struct storm_conn *conn, unsigned own,
                             hc_tick tick) {
    const struct hc_timeline *server = hc_sv_host_timeline(hc_sim_host(match->sim));
    hc_tick head = hc_timeline_head(server), final = storm_truth_final(match->truth);
    hc_tick with = storm_rtt_refuses(match)
                       ? hc_tick_back(tick, (uint32_t)storm_match_get(match, STORM_history))
                       : tick;
    unsigned count = 0;
    for (unsigned p = 0; p < conn->player_count; p++) {
        bool before = false;
        for (hc_tick t = p == own ? tick + 1 : with; t <= head; t++) {
            hc_player player = conn->players[p];
            enum hc_slot slot = t < final ? storm_truth_slot(match->truth, player, t)
                                          : hc_timeline_slot(server, player, t);
            count += slot == HC_SLOT_FORCED && !before;
            before = slot == HC_SLOT_FORCED;
        }
    }
    return count;
}

/// Own inputs that are finally forced must not be known to the client after a snapshot that shows a
/// later tick, but of more stretches than are remembered for it the oldest give way.
static void check_forced(struct storm_match *match, unsigned client, const struct storm_conn *conn,
                         const struct hc_timeline *own, hc_tick final) {
    for (unsigned p = 0; p < conn->player_count; p++)
        for (hc_tick t = hc_timeline_oldest(own); t < final; t++)
            if (storm_truth_slot(match->truth, conn->players[p], t) == HC_SLOT_FORCED &&
                hc_timeline_slot(own, conn->players[p], t) == HC_SLOT_KNOWN &&
                forced_since(match, conn, p, t) < FORCED_TOLD) {
                wrong(match, "retracted", t, "was not told that its input was forced", client);
                return;
            }
}

/// On clean links every tick that is shown and final is what it must be, of all units that have
/// been told for a while: corrections have come, except of ticks before a snapshot in which there
/// was no room for all, as the oldest are left out.
static void check_shown(struct storm_match *match, unsigned client, const struct storm_conn *conn,
                        const struct hc_client *core, const struct storm_sent *sent,
                        hc_tick final) {
    enum {
        A_WHILE = 64, // heads: until the server knows that it is known
    };
    const struct hc_world *world = storm_truth_world(match->truth);
    const struct hc_timeline *own = hc_client_timeline(core);
    hc_tick shown;
    uint32_t fraction;
    if (storm_match_sparse(match))
        return;
    if (!hc_client_show_tick(core, hc_sim_client_now(match->sim, client), &shown, &fraction))
        return;
    hc_tick end = hc_tick_min(final, hc_timeline_head(own));
    hc_tick first = hc_tick_max(hc_tick_max(shown, hc_timeline_oldest(own)), conn->full_head + 1);
    for (hc_tick t = first; t <= end; t++)
        for (uint32_t u = 0; u < match->units.total; u++) {
            const struct storm_heard_unit *unit = &match->seats[client].units[u];
            if (unit->as_of != sent->as_of || unit->dropped ||
                unit->since + A_WHILE > sent->as_of || unit->since + A_WHILE > t)
                continue;
            if (storm_unit_digest(world, (hc_unit)u, hc_timeline_presence(own, t),
                                  hc_timeline_states(own, t)) ==
                storm_truth_unit(match->truth, (hc_unit)u, t))
                continue;
            storm_units_fail(match, "shown", t, (hc_unit)u, "what is shown is final, and not so",
                             own, storm_truth_presence(match->truth, t),
                             storm_truth_states(match->truth, t));
            return;
        }
}

void storm_beside_taken(struct storm_match *match, unsigned client, const struct storm_conn *conn,
                        const struct storm_sent *sent, bool news) {
    const struct hc_client *core = hc_sim_client(match->sim, client);
    const struct hc_timeline *own = hc_client_timeline(core);
    hc_tick final;
    hc_unit unit;
    if (sent->tick < hc_timeline_oldest(own) || sent->tick > hc_timeline_head(own))
        return;
    if (!news && storm_units_differ(match, client, sent, &unit))
        storm_units_fail(match, "pins", sent->tick, unit,
                         "lets something older replace what it was shown", own, sent->presence,
                         sent->states);
    if (!news || !hc_client_final(core, &final, NULL) || final > storm_truth_final(match->truth))
        return;
    if (match->plan->seed % 4 == 3)
        check_forced(match, client, conn, own, final);
    if (match->last_part && !sent->full)
        check_shown(match, client, conn, core, sent, final);
}
