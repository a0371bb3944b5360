#include "server/replication/builder.h"

#include "common/mark.h"
#include "hindcast/rng.h"
#include "proto/value.h"

#include <string.h>

enum {
    ROOM_MIN = 160, ///< bytes; with less to spend a snapshot waits for the next tick
    LOOK_TICKS = 8, ///< between two looks at what a client sees
    AGAIN_BITS = 1, ///< the name of a unit that the base told, more or less
    NAME_BITS = 8,  ///< of another
    INPUT_BITS = 8, ///< an input, more or less
    INPUTS_NEAR = HC_SNAPSHOT_INPUTS_NEAR,
    ITEM_BITS = 40,  ///< a forced range, a join or a leave, at most
    KEEP_TICKS = 48, ///< since the newest base, from which on what that told is kept
    CHAIN_TICKS = HC_SNAPSHOT_CHAIN_TICKS,
};

hc_tick hc_sv_snapshot_tick(const struct hc_sv_host *host, const struct hc_sv_peer *peer) {
    hc_tick tick = hc_timeline_head(host->timeline);
    for (unsigned i = 0; !host->config.show_head && i < peer->own_count; i++)
        tick = hc_tick_min(tick, hc_timeline_inputs_through(host->timeline, peer->own[i]) + 1);
    return tick;
}

static uint32_t least(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

static bool is_own(const struct hc_sv_peer *peer, hc_player player) {
    for (unsigned i = 0; i < peer->own_count; i++)
        if (peer->own[i] == player)
            return true;
    return false;
}

/// Adds what was written since there were `*before` bits to `*spent`.
static void count_bits(const struct hc_sv_builder *builder, size_t *before, uint64_t *spent) {
    size_t now = hc_bits_written(&builder->bits);
    *spent += now - *before;
    *before = now;
}

// ---- What to tell -------------------------------------------------------------------------------

/// From which tick on the unit has been in view: what is told against an older value may list what
/// its owner did when it was not.
static hc_tick in_view_since(const struct hc_sv_builder *builder, hc_unit unit) {
    return builder->peer->interest.since[unit];
}

static struct hc_sv_interest_look look_at(const struct hc_sv_builder *builder, hc_tick tick) {
    const struct hc_sv_peer *peer = builder->peer;
    return hc_sv_interest_look_at(&peer->interest, builder->host->timeline, tick, peer->own,
                                  peer->own_count);
}

/// What the client's newest value of the unit can be told against: its version, 0 for nothing, and
/// how that is named.
static hc_sv_value_id base_of(const struct hc_sv_builder *builder,
                              const struct hc_sv_sent_log_unit *known,
                              struct hc_snapshot_unit *told) {
    struct hc_unit_value value;
    told->from = HC_SNAPSHOT_NOTHING;
    told->as_of = known->acked_as_of;
    if (known->acked == 0 ||
        hc_sv_builder_held(builder, told->unit, known->acked, &value) == NULL ||
        value.tick > builder->head.tick || value.tick < in_view_since(builder, told->unit))
        return 0;
    if (known->acked_as_of != builder->head.base &&
        builder->head.base - known->acked_as_of > HC_SNAPSHOT_AGE_MAX)
        return 0;
    told->from = known->acked_as_of == builder->head.base ? HC_SNAPSHOT_BASE : HC_SNAPSHOT_OLDER;
    return known->acked;
}

static bool own_unit(const struct hc_sv_host *host, const struct hc_sv_peer *peer, hc_unit unit) {
    hc_player player = hc_unit_player(&host->world, unit);
    return unit == 0 || (player != HC_NO_PLAYER && is_own(peer, player));
}

/// How many ticks from the one shown on have known inputs of the unit's player that the client may
/// be told.
static uint32_t inputs_of(const struct hc_sv_builder *builder, hc_unit unit) {
    hc_player player = hc_unit_player(&builder->host->world, unit);
    if (player == HC_NO_PLAYER || is_own(builder->peer, player))
        return 0;
    return hc_tick_max(builder->host->players[player].newest + 1, builder->head.tick) -
           builder->head.tick;
}

/// Adds the inputs from the tick shown on, up to the tick at which their player leaves the view, as
/// far as that has been simulated.
static void gather_inputs(struct hc_sv_builder *builder) {
    struct hc_sv_selection *selections = builder->host->selections;
    hc_tick head = builder->head.as_of, end = builder->head.tick;
    for (uint32_t i = 0; i < builder->selections; i++) {
        struct hc_sv_selection *selection = &selections[i];
        selection->inputs = selection->told.from == HC_SNAPSHOT_DROPPED
                                ? 0
                                : inputs_of(builder, selection->told.unit);
        end = hc_tick_max(end, builder->head.tick + selection->inputs);
    }
    for (hc_tick t = builder->head.tick + 1; t < end && t <= head; t++) {
        struct hc_sv_interest_look look = look_at(builder, t);
        uint32_t before = t - builder->head.tick;
        for (uint32_t i = 0; i < builder->selections && !look.everything; i++)
            if (selections[i].inputs > before &&
                !hc_sv_interest_in_view(&look, selections[i].told.unit)) {
                HC_MARK("inputs-out-of-view");
                selections[i].inputs = before;
            }
    }
    for (uint32_t i = 0; i < builder->selections; i++)
        selections[i].bits += INPUT_BITS * least(selections[i].inputs, INPUTS_NEAR);
}

/// Chooses how a unit in view is sent: against which value, and what that takes.
static void choose_base(struct hc_sv_builder *builder, const struct hc_sv_sent_log_unit *known,
                        struct hc_sv_selection *selection) {
    uint8_t scratch[HC_SV_ENCODE_BYTES];
    hc_unit unit = selection->told.unit;
    selection->value = hc_sv_sent_values_put(&builder->shown, unit);
    selection->base = base_of(builder, known, &selection->told);
    if (!own_unit(builder->host, builder->peer, unit) &&
        hc_sv_builder_too_dear(builder, unit, selection->base, selection->value,
                               builder->head.tick)) {
        HC_MARK("guesses-all-taken");
        selection->base = 0;
        selection->told.from = HC_SNAPSHOT_NOTHING;
    }
    if (selection->told.from == HC_SNAPSHOT_BASE)
        selection->bits = AGAIN_BITS;
    selection->delta =
        hc_sv_builder_counted(builder, unit, selection->base, selection->value, scratch).bits;
    selection->bits += selection->delta;
}

/// Adds a unit that the client sees, or has seen and no longer does.
static void gather_unit(struct hc_sv_builder *builder, hc_unit unit,
                        const struct hc_sv_sent_log_unit *known, bool sees) {
    struct hc_sv_host *host = builder->host;
    struct hc_sv_peer *peer = builder->peer;
    uint32_t view = host->world.game->view;
    struct hc_sv_selection *selection = &host->selections[builder->selections];
    struct hc_sv_candidate *candidate = &host->candidates[builder->selections++];
    *selection = (struct hc_sv_selection){.told = {.unit = unit, .from = HC_SNAPSHOT_DROPPED},
                                          .bits = NAME_BITS};
    if (sees)
        choose_base(builder, known, selection);
    bool same = selection->delta <= 1 && known->known && sees;
    *candidate = (struct hc_sv_candidate){
        .unit = unit,
        .own = own_unit(host, peer, unit),
        .changed = !same,
        .distance = view == 0 ? 0
                              : hc_sv_interest_distance(&peer->interest, host->timeline,
                                                        builder->head.tick, unit),
        .view = view};
    if (known->sent != 0 && sees) { // else it was out of view, or has just come into it
        uint32_t unsent = builder->head.as_of - known->sent_as_of;
        if (unsent > host->stats.longest_unsent_ticks)
            host->stats.longest_unsent_ticks = unsent;
    }
}

/// Gathers all units that the client sees, or has seen and no longer does.
static void gather(struct hc_sv_builder *builder) {
    struct hc_sv_host *host = builder->host;
    struct hc_sv_peer *peer = builder->peer;
    uint32_t units = hc_unit_total(&host->world);
    builder->selections = 0;
    host->stats.units_looked_at += units;
    // A new version may take an old one's place, so all are there before anything refers to one.
    for (uint32_t u = 0; u < units; u++)
        if (hc_sv_interest_sees(&peer->interest, (hc_unit)u))
            hc_sv_sent_values_put(&builder->shown, (hc_unit)u);
    for (uint32_t u = 0; u < units; u++) {
        hc_unit unit = (hc_unit)u;
        const struct hc_sv_sent_log_unit *known = hc_sv_sent_log_unit(peer->sent_log, unit);
        bool sees = hc_sv_interest_sees(&peer->interest, unit);
        hc_sv_sent_log_compare(peer->sent_log, unit, sees && known->acked != 0);
        if (!sees && !known->known)
            continue;
        gather_unit(builder, unit, known, sees);
    }
    gather_inputs(builder);
}

static struct hc_sv_selection *selection_of(const struct hc_sv_builder *builder, hc_unit unit) {
    struct hc_sv_selection *selections = builder->host->selections;
    uint32_t low = 0, high = builder->selections;
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        if (selections[middle].told.unit <= unit)
            low = middle;
        else
            high = middle;
    }
    return &selections[low];
}

/// Takes as many as fit `room` bits, first things first; what does not fit is skipped. At most
/// `most`.
static uint32_t choose(struct hc_sv_builder *builder, uint32_t room, uint32_t most) {
    struct hc_sv_host *host = builder->host;
    uint32_t taken = 0, used = 0, all = 0;
    for (uint32_t i = 0; i < builder->selections; i++)
        all += host->selections[i].bits;
    bool fits = all <= room && builder->selections <= most;
    for (uint32_t i = 0; i < builder->selections; i++)
        host->selections[i].chosen = fits;
    if (fits)
        return builder->selections;
    if (!builder->ordered)
        hc_sv_priority_order(&builder->peer->budget, host->candidates, builder->selections);
    builder->ordered = true;
    for (uint32_t i = 0; i < builder->selections && taken < most; i++) {
        struct hc_sv_selection *selection = selection_of(builder, host->candidates[i].unit);
        if (used + selection->bits > room)
            continue;
        used += selection->bits;
        selection->chosen = true;
        taken++;
    }
    return taken;
}

/// What the units chosen take with so many ticks of inputs, more or less.
static uint32_t bits_with(const struct hc_sv_builder *builder, uint32_t inputs) {
    uint32_t used = 0;
    for (uint32_t i = 0; i < builder->selections; i++) {
        const struct hc_sv_selection *selection = &builder->host->selections[i];
        uint32_t near = least(selection->inputs, INPUTS_NEAR);
        if (selection->chosen)
            used += selection->bits + INPUT_BITS * (least(selection->inputs, inputs) - near);
    }
    return used;
}

/// How many ticks of inputs fit beside the units chosen, the same for everybody.
static uint32_t choose_inputs(const struct hc_sv_builder *builder, uint32_t room) {
    uint32_t low = INPUTS_NEAR, high = HC_SNAPSHOT_INPUTS_MAX;
    if (bits_with(builder, high) <= room)
        return high;
    while (low < high) {
        uint32_t middle = (low + high + 1) / 2;
        if (bits_with(builder, middle) <= room)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static uint32_t hash_of(const struct hc_sv_builder *builder) {
    const struct hc_sv_host *host = builder->host;
    const struct hc_world *world = &host->world;
    const uint8_t *presence = hc_timeline_presence(host->timeline, builder->head.tick);
    const uint8_t *states = hc_timeline_states(host->timeline, builder->head.tick);
    uint64_t hash = 0;
    for (uint32_t i = 0; i < builder->selections; i++) {
        const struct hc_sv_selection *selection = &host->selections[i];
        if (!selection->chosen || selection->told.from == HC_SNAPSHOT_DROPPED)
            continue;
        hc_entity first = hc_unit_first(world, selection->told.unit);
        for (uint32_t e = first; e < first + hc_unit_count(world, selection->told.unit); e++)
            hash += hc_unit_entity_hash(world, (hc_entity)e, presence[e],
                                        states + (size_t)e * world->stride);
    }
    return (uint32_t)hash;
}

// ---- Writing ------------------------------------------------------------------------------------

/// Whether one of the lists before the units may have one more: a quarter is left to the units, and
/// what is left out is told when there is room.
static bool room_for_item(const struct hc_sv_builder *builder) {
    const struct hc_bits_writer *bits = &builder->bits;
    return hc_bits_written(bits) + ITEM_BITS <= bits->size * 8 * 3 / 4;
}

static void put_forced(struct hc_sv_builder *builder, uint32_t seq) {
    struct hc_sv_peer *peer = builder->peer;
    for (unsigned i = 0; i < peer->forced_count; i++) {
        struct hc_sv_forced *range = &peer->forced[i];
        struct hc_snapshot_forced forced = {.first = range->first, .count = range->count};
        while (peer->own[forced.own] != range->player)
            forced.own++;
        if (range->first > builder->head.tick || !room_for_item(builder)) {
            range->told = 0; // what was told before does not count on later snapshots
            continue;
        }
        hc_snapshot_put_forced(&builder->bits, builder->head.tick, &forced);
        if (range->told == 0)
            range->told = seq;
    }
    hc_snapshot_put_end(&builder->bits);
}

/// Whether the client is sent a join or leave: of another player that it sees, and that is still in
/// view where the control takes effect, as far as that has been simulated.
static bool concerns(const struct hc_sv_builder *builder,
                     const struct hc_snapshot_roster *roster_change) {
    hc_unit unit = (hc_unit)(1 + roster_change->player);
    const struct hc_sv_selection *selection = selection_of(builder, unit);
    if (is_own(builder->peer, roster_change->player) || selection->told.unit != unit ||
        selection->told.from == HC_SNAPSHOT_DROPPED)
        return false;
    if (roster_change->tick < builder->head.tick || roster_change->tick >= builder->head.as_of)
        return true;
    struct hc_sv_interest_look look = look_at(builder, roster_change->tick + 1);
    return hc_sv_interest_in_view(&look, unit);
}

/// The newest join or leave of the player before `tick`, NULL: none is remembered.
static const struct hc_snapshot_roster *roster_before(const struct hc_sv_host *host,
                                                      hc_player player, hc_tick tick) {
    for (unsigned i = host->roster_count; i-- > 0;) {
        const struct hc_snapshot_roster *roster_change =
            &host->roster_changes[(host->roster_first + i) % HC_SV_ROSTER_CHANGES];
        if (roster_change->player == player && roster_change->tick < tick)
            return roster_change;
    }
    return NULL;
}

/// Joins and leaves that the client may not have heard of yet, also those before the tick shown
/// after which it may know inputs of an earlier life, which had come early. Those from that tick on
/// are told in any case, for a client that begins anew there has lost them.
static void put_recent_roster(struct hc_sv_builder *builder, uint32_t seq) {
    const struct hc_sv_host *host = builder->host;
    struct hc_sv_peer *peer = builder->peer;
    hc_tick tick = builder->head.tick, since = hc_tick_back(tick, host->config.future);
    unsigned first = host->roster_count;
    while (first > 0 &&
           host->roster_changes[(host->roster_first + first - 1) % HC_SV_ROSTER_CHANGES].tick >=
               since)
        first--;
    for (unsigned i = first; i < host->roster_count; i++) {
        unsigned place = (host->roster_first + i) % HC_SV_ROSTER_CHANGES;
        const struct hc_snapshot_roster *roster_change = &host->roster_changes[place];
        uint32_t *told = &peer->roster_sent[place];
        bool heard = *told != 0 && peer->acked_snapshot >= *told;
        if (heard && roster_change->tick < tick)
            continue;
        if (!concerns(builder, roster_change) || !room_for_item(builder)) {
            *told = heard ? *told : 0; // what was told before does not count on later snapshots
            continue;
        }
        hc_snapshot_put_roster(&builder->bits, tick, roster_change);
        *told = *told == 0 ? seq : *told;
    }
}

/// Of whoever has done nothing known since, also the join of the life shown, for what the client
/// knows may be of an earlier one.
static void put_rosters(struct hc_sv_builder *builder, uint32_t seq) {
    const struct hc_sv_host *host = builder->host;
    hc_tick tick = builder->head.tick, since = hc_tick_back(tick, host->config.future);
    put_recent_roster(builder, seq);
    for (uint32_t i = 0; i < builder->selections; i++) {
        const struct hc_sv_selection *selection = &host->selections[i];
        hc_player player = hc_unit_player(&host->world, selection->told.unit);
        struct hc_unit_value value;
        if (player == HC_NO_PLAYER || is_own(builder->peer, player) ||
            selection->told.from == HC_SNAPSHOT_DROPPED)
            continue;
        if (hc_sv_sent_values_get(&host->sent_values, selection->value, &value) == NULL ||
            value.known != HC_NO_TICK || !room_for_item(builder))
            continue;
        const struct hc_sv_player *slot = &host->players[player];
        struct hc_snapshot_roster join = {
            .player = player, .tick = slot->joined, .roster_change = HC_ROSTER_JOIN};
        const struct hc_snapshot_roster *roster_change = roster_before(host, player, tick);
        if (roster_change == NULL && slot->in && slot->joined < tick)
            roster_change = &join;
        if (roster_change == NULL || roster_change->roster_change != HC_ROSTER_JOIN ||
            roster_change->tick >= since)
            continue;
        join.tick = hc_tick_max(roster_change->tick, hc_tick_back(tick, HC_SNAPSHOT_SPAN_MAX));
        hc_snapshot_put_roster(&builder->bits, tick, &join); // an older one says no more
    }
    hc_snapshot_put_end(&builder->bits);
}

/// Where the bits of a unit's value are counted.
static uint64_t *spent_on(struct hc_sv_builder *builder, hc_unit unit) {
    if (hc_unit_player(&builder->host->world, unit) == HC_NO_PLAYER)
        return &builder->spent.unowned;
    bool own = own_unit(builder->host, builder->peer, unit);
    return own ? &builder->spent.own : &builder->spent.others;
}

static void put_names(struct hc_sv_builder *builder) {
    struct hc_snapshot_unit units[HC_SNAPSHOT_UNITS_MAX];
    uint32_t count = 0;
    for (uint32_t i = 0; i < builder->selections; i++)
        if (builder->host->selections[i].chosen)
            units[count++] = builder->host->selections[i].told;
    hc_snapshot_put_names(&builder->bits, &builder->head, &builder->base, units, count);
}

/// Writes the head, what was forced, who came and went, and all units chosen; false when that does
/// not fit.
static bool write_units(struct hc_sv_builder *builder, uint32_t seq) {
    struct hc_sv_host *host = builder->host;
    uint8_t scratch[HC_SV_ENCODE_BYTES];
    size_t counted = 0;
    builder->spent = (struct hc_sv_snapshot_bits){0};
    builder->head.hash = hash_of(builder);
    hc_snapshot_put(&builder->bits, &builder->head);
    put_forced(builder, seq);
    put_rosters(builder, seq);
    count_bits(builder, &counted, &builder->spent.head);
    put_names(builder);
    count_bits(builder, &counted, &builder->spent.names);
    for (uint32_t i = 0; i < builder->selections && !builder->bits.failed; i++) {
        const struct hc_sv_selection *selection = &host->selections[i];
        hc_unit unit = selection->told.unit;
        if (!selection->chosen || selection->told.from == HC_SNAPSHOT_DROPPED)
            continue;
        struct hc_sv_builder_bits delta =
            hc_sv_builder_delta(builder, unit, selection->base, selection->value, scratch);
        hc_bits_append(&builder->bits, delta.data, delta.bits);
        count_bits(builder, &counted, spent_on(builder, unit));
        hc_player player = hc_unit_player(&host->world, unit);
        struct hc_unit_value value;
        if (player != HC_NO_PLAYER &&
            hc_sv_sent_values_get(&host->sent_values, selection->value, &value) != NULL)
            hc_snapshot_put_inputs(&builder->bits, host->timeline, host->world.game, player, &value,
                                   builder->head.tick + least(selection->inputs, builder->inputs));
        count_bits(builder, &counted, &builder->spent.inputs);
    }
    struct hc_bits_writer ended = builder->bits;
    hc_snapshot_put_end(&ended); // of the corrections
    return !ended.failed;
}

/// Counts by field what the values told have taken, of a share of them.
static void count_fields(struct hc_sv_builder *builder, uint32_t seq) {
    uint8_t scratch[HC_SV_ENCODE_BYTES];
    for (uint32_t i = 0; i < builder->selections; i++) {
        const struct hc_sv_selection *selection = &builder->host->selections[i];
        struct hc_bits_writer bits = hc_bits_writer(scratch, sizeof scratch);
        // Each client's and each unit's in turn, whatever the rhythm it is told in.
        uint32_t turn = (seq + builder->peer->cid + selection->told.unit) % HC_SV_FIELDS_EACH;
        if (turn != 0 || !selection->chosen || selection->told.from == HC_SNAPSHOT_DROPPED)
            continue;
        hc_sv_builder_write(builder, selection->told.unit, selection->base, selection->value, &bits,
                            &builder->host->stats.sampled);
        HC_ASSERT(!bits.failed);
    }
}

static void tell(struct hc_sv_builder *builder) {
    struct hc_sv_peer *peer = builder->peer;
    for (uint32_t i = 0; i < builder->selections; i++) {
        const struct hc_sv_selection *selection = &builder->host->selections[i];
        if (!selection->chosen)
            continue;
        bool pinned = hc_sv_sent_log_put(peer->sent_log, selection->told.unit, builder->head.tick,
                                         selection->value, false);
        HC_ASSERT(pinned); // there is room for more units than one snapshot tells
        hc_sv_priority_sent(&peer->budget, selection->told.unit);
    }
}

/// Fills the datagram with units. Where that was taken by mistake for smaller than it is, the
/// farthest inputs go, then the last units.
static void put_units(struct hc_sv_builder *builder, uint32_t room, uint32_t seq) {
    struct hc_bits_writer before = builder->bits;
    uint32_t count = choose(builder, room, HC_SNAPSHOT_UNITS_MAX);
    builder->inputs = choose_inputs(builder, room);
    while (!write_units(builder, seq)) {
        builder->bits = before;
        if (builder->inputs > INPUTS_NEAR) {
            builder->inputs -= (builder->inputs - INPUTS_NEAR + 3) / 4;
            continue;
        }
        HC_ASSERT(count > 0); // a head and two lists always fit
        count = choose(builder, room, count - 1 - count / 8);
    }
    count_fields(builder, seq);
    tell(builder);
}

// ---- Corrections --------------------------------------------------------------------------------

/// The first tick that the client may still show when this snapshot arrives, HC_NO_TICK when
/// nothing is known of it. It shows ticks from its own less the display offset and one on; and its
/// own is the one last reported and, while that moves on, what the least round-trip time adds to
/// it, less one tick for a path that turns out shorter. Of what it was told of older ticks than the
/// ledger's nothing is remembered.
static hc_tick shown_from(const struct hc_sv_host *host, const struct hc_sv_peer *peer) {
    if (!peer->reported)
        return HC_NO_TICK;
    uint64_t rtt_us = peer->rtt_min_us == UINT64_MAX ? 0 : peer->rtt_min_us;
    uint32_t under_way = hc_tick_at_us(rtt_us, host->world.tick_rate);
    hc_tick own = peer->client_tick;
    if (peer->moves && under_way > 0)
        own = hc_tick_ahead(own, under_way - 1);
    hc_tick oldest =
        hc_tick_max(hc_timeline_oldest(host->timeline),
                    hc_tick_back(hc_timeline_head(host->timeline), HC_SV_SENT_LOG_SNAPSHOTS - 1));
    return hc_tick_max(oldest, hc_tick_back(own, peer->display_offset + 1));
}

/// A unit that the client may show wrongly at a tick.
struct correction {
    struct hc_snapshot_correction told;
    hc_sv_value_id base, value;
};

/// Whether two values of the unit, of one tick, have the same states: when they differ in what the
/// owner is known to have done nothing is shown otherwise.
static bool alike(const struct hc_sv_host *host, hc_unit unit, hc_sv_value_id a, hc_sv_value_id b) {
    struct hc_unit_value x, y;
    size_t count = hc_unit_count(&host->world, unit);
    return a == b || (hc_sv_sent_values_get(&host->sent_values, a, &x) != NULL &&
                      hc_sv_sent_values_get(&host->sent_values, b, &y) != NULL &&
                      memcmp(x.presence, y.presence, count) == 0 &&
                      memcmp(x.states, y.states, count * host->world.stride) == 0);
}

/// Whether the client is to know of a tick of which it holds nothing: where each tick has its
/// snapshot it is told of all, also of those that T leapt over; where they are rarer, what lies
/// between two of them is its own simulation, and only what was told and lost is told again.
static bool is_to_hold(const struct hc_sv_builder *builder, hc_unit unit, hc_tick at) {
    const struct hc_sv_host_config *config = &builder->host->config;
    return config->snapshot_rate == 0 || config->snapshot_rate == config->tick_rate ||
           hc_sv_sent_log_has(builder->peer->sent_log, unit, at);
}

/// What the client does not hold of the past tick `at`, into `out`; returns how many.
static uint32_t gather_corrections(struct hc_sv_builder *builder, hc_tick at,
                                   struct correction *out, uint32_t most) {
    struct hc_sv_host *host = builder->host;
    struct hc_sv_peer *peer = builder->peer;
    uint32_t count = 0;
    struct hc_sv_sent_values_row row =
        hc_sv_sent_values_row(&host->sent_values, host->timeline, at);
    struct hc_sv_interest_look look = look_at(builder, at);
    host->stats.units_looked_at += builder->selections;
    for (uint32_t i = 0; i < builder->selections; i++) // as in gather
        if (host->selections[i].told.from != HC_SNAPSHOT_DROPPED)
            hc_sv_sent_values_put(&row, host->selections[i].told.unit);
    for (uint32_t i = 0; i < builder->selections && count < most; i++) {
        hc_unit unit = host->selections[i].told.unit;
        const struct hc_sv_sent_log_unit *known = hc_sv_sent_log_unit(peer->sent_log, unit);
        struct hc_unit_value value;
        hc_tick as_of = HC_NO_TICK;
        if (host->selections[i].told.from == HC_SNAPSHOT_DROPPED || known->acked == 0)
            continue; // what it does not know yet it does not show either
        hc_sv_value_id now = hc_sv_sent_values_put(&row, unit);
        hc_sv_value_id held = hc_sv_sent_log_holds(peer->sent_log, unit, at, &as_of);
        if (alike(host, unit, held, now) || (held == 0 && !is_to_hold(builder, unit, at)))
            continue;
        if (!hc_sv_interest_in_view(&look, unit)) {
            HC_MARK("correction-out-of-view");
            continue;
        }
        struct correction *correction = &out[count++];
        *correction =
            (struct correction){.told = {.unit = unit, .as_of = HC_NO_TICK}, .value = now};
        if (as_of != HC_NO_TICK && builder->head.as_of - as_of <= HC_SNAPSHOT_CORRECTION_AGE &&
            hc_sv_sent_values_get(&host->sent_values, held, &value) != NULL) {
            correction->told.as_of = as_of;
            correction->told.same = true;
            correction->base = held;
        } else if (builder->head.as_of - known->acked_as_of <= HC_SNAPSHOT_CORRECTION_AGE &&
                   hc_sv_builder_held(builder, unit, known->acked, &value) != NULL &&
                   value.tick <= at && value.tick >= in_view_since(builder, unit)) {
            if (hc_sv_builder_too_dear(builder, unit, known->acked, now, at))
                continue;
            correction->told.as_of = known->acked_as_of;
            correction->base = known->acked;
        }
    }
    return count;
}

/// Puts corrections of one tick, all or as many as fit; returns how many.
static uint32_t put_tick_corrections(struct hc_sv_builder *builder, hc_tick before, hc_tick at,
                                     const struct correction *corrections, uint32_t count) {
    uint8_t scratch[HC_SV_ENCODE_BYTES];
    for (; count > 0; count -= 1 + count / 4) {
        struct hc_bits_writer attempt = builder->bits;
        hc_unit next = 0;
        hc_snapshot_put_correction_tick(&builder->bits, before, at, count);
        for (uint32_t i = 0; i < count && !builder->bits.failed; i++) {
            const struct correction *correction = &corrections[i];
            hc_snapshot_put_correction(&builder->bits, &builder->head, next, &correction->told);
            next = (hc_unit)(correction->told.unit + 1);
            struct hc_sv_builder_bits delta = hc_sv_builder_counted(
                builder, correction->told.unit, correction->base, correction->value, scratch);
            hc_bits_append(&builder->bits, delta.data, delta.bits);
        }
        struct hc_bits_writer ended = builder->bits;
        hc_snapshot_put_end(&ended);
        if (!ended.failed)
            return count;
        builder->bits = attempt;
        if (count == 1)
            return 0;
    }
    return 0;
}

/// Past ticks that the client may still show and that are not what it holds, newest first.
static void put_corrections(struct hc_sv_builder *builder) {
    struct hc_sv_host *host = builder->host;
    struct correction corrections[HC_SNAPSHOT_CORRECTIONS_MAX];
    hc_tick from = shown_from(host, builder->peer), before = builder->head.tick;
    uint32_t left = HC_SNAPSHOT_CORRECTIONS_MAX;
    size_t counted = hc_bits_written(&builder->bits);
    for (hc_tick t = builder->head.tick; t > from && from != HC_NO_TICK && left > 0; t--) {
        hc_tick at = t - 1, equal = hc_sv_sent_log_equal_at(builder->peer->sent_log, at);
        if (equal != HC_NO_TICK && hc_timeline_changed(host->timeline, at) <= equal)
            continue;
        uint32_t wanted = gather_corrections(builder, at, corrections, left);
        if (wanted == 0) {
            hc_sv_sent_log_mark_equal(builder->peer->sent_log, at);
            continue;
        }
        uint32_t put = put_tick_corrections(builder, before, at, corrections, wanted);
        for (uint32_t i = 0; i < put; i++) {
            bool pinned = hc_sv_sent_log_put(builder->peer->sent_log, corrections[i].told.unit, at,
                                             corrections[i].value, true);
            HC_ASSERT(pinned);
            host->stats.corrections++;
        }
        left -= put;
        if (put < wanted) {
            HC_MARK("corrections-cut");
            break;
        }
        if (left > 0) // else there may be more
            hc_sv_sent_log_mark_equal(builder->peer->sent_log, at);
        before = at;
    }
    hc_snapshot_put_end(&builder->bits);
    count_bits(builder, &counted, &builder->spent.corrections);
}

static void add_spent(struct hc_sv_snapshot_bits *sum, const struct hc_sv_snapshot_bits *spent) {
    sum->head += spent->head;
    sum->names += spent->names;
    sum->own += spent->own;
    sum->others += spent->others;
    sum->unowned += spent->unowned;
    sum->inputs += spent->inputs;
    sum->corrections += spent->corrections;
}

// ---- A snapshot ---------------------------------------------------------------------------------

/// Whether a snapshot of this head is the peer's first of a group of CHAIN_TICKS heads. Groups
/// begin at another head for each peer, so that not all peers are sent the chain hash in the same
/// tick.
static bool begins_group(const struct hc_sv_peer *peer, hc_tick head) {
    uint64_t offset = CHAIN_TICKS - peer->cid % CHAIN_TICKS;
    return peer->newest_head == HC_NO_TICK ||
           (head + offset) / CHAIN_TICKS != (peer->newest_head + offset) / CHAIN_TICKS;
}

static void begin(struct hc_sv_builder *builder, uint32_t seq, uint64_t now_us) {
    struct hc_sv_host *host = builder->host;
    struct hc_sv_peer *peer = builder->peer;
    hc_tick head = hc_timeline_head(host->timeline), tick = hc_sv_snapshot_tick(host, peer);
    hc_sv_sent_log_begin(peer->sent_log, head, seq);
    if (head - hc_sv_sent_log_base(peer->sent_log) >= KEEP_TICKS)
        hc_sv_pinned_take(&peer->pinned, peer->sent_log, &host->sent_values);
    builder->head =
        (struct hc_snapshot){.as_of = head,
                             .phase_us = hc_sv_host_phase_us(host, now_us),
                             .ack_delay_us = hc_sv_peer_ack_delay(peer, now_us),
                             .tick = tick,
                             .late_limit = hc_tick_back(head, hc_sv_host_late_limit(host, peer)),
                             .final = host->final,
                             .has_chain = begins_group(peer, head),
                             .chain = host->chain,
                             .base = hc_sv_sent_log_base(peer->sent_log),
                             .own_count = peer->own_count};
    peer->newest_head = head;
    if (builder->head.base != HC_NO_TICK)
        builder->base.count = hc_sv_sent_log_units(peer->sent_log, builder->head.base,
                                                   builder->base.units, HC_SNAPSHOT_UNITS_MAX);
    for (unsigned i = 0; i < peer->own_count; i++) // show_head may be ahead of A
        builder->head.complete[i] = hc_tick_max(
            hc_timeline_inputs_through(host->timeline, peer->own[i]), hc_tick_back(tick, 1));
    if (peer->interest_at == HC_NO_TICK || head - peer->interest_at >= LOOK_TICKS) {
        hc_sv_interest_update(&peer->interest, host->timeline, tick, peer->own, peer->own_count);
        peer->interest_at = head;
    } else {
        hc_sv_interest_narrow(&peer->interest, host->timeline, tick, peer->own, peer->own_count);
    }
    hc_tick base = builder->head.base == HC_NO_TICK ? tick : builder->head.base;
    builder->own_steps = peer->own_count * hc_sv_builder_steps(hc_tick_min(base, tick), tick);
    builder->extrapolation =
        hc_sv_extrapolation_begin(&host->extrapolation_budget, peer->extrapolation_saved,
                                  head - base, head - tick, builder->own_steps);
    builder->shown = hc_sv_sent_values_row(&host->sent_values, host->timeline, tick);
    builder->referee_version = hc_sv_sent_values_put(&builder->shown, 0);
    bool alive = hc_timeline_presence(host->timeline, tick)[HC_REFEREE] == HC_ALIVE;
    builder->referee = alive ? hc_timeline_states(host->timeline, tick) : NULL;
}

/// Steps that all units of the snapshot would take, each extrapolated from the base.
static uint32_t asked_steps(const struct hc_sv_builder *builder) {
    hc_tick tick = builder->head.tick, base = builder->head.base;
    return base == HC_NO_TICK || base > tick
               ? 0
               : builder->selections * hc_sv_builder_steps(base, tick);
}

size_t hc_sv_snapshot_send(struct hc_sv_host *host, struct hc_sv_peer *peer,
                           uint8_t out[static HC_DATAGRAM_MAX], uint64_t now_us) {
    uint8_t packed[HC_DATA_BODY_MAX];
    struct hc_writer body = hc_bytes_writer(out + HC_DATA_BODY_AT, HC_DATA_BODY_MAX);
    struct hc_sv_builder builder = {.host = host, .peer = peer};
    uint32_t seq = peer->sent.next; // that hc_sv_peer_wrap is about to take
    int32_t room = hc_sv_bandwidth_room(&peer->budget, HC_DATA_BODY_MAX, now_us);
    if (room < ROOM_MIN) {
        HC_MARK("snapshot-put-off");
        peer->snapshot_starved = true;
        return 0;
    }
    peer->messages_sent = peer->snapshot_starved = false;
    size_t size = (size_t)room - HC_SNAPSHOT_OVERHEAD;
    builder.bits = hc_bits_writer(packed, size);
    begin(&builder, seq, now_us);
    gather(&builder);
    hc_sv_priority_grow(&peer->budget, host->candidates, builder.selections);
    put_units(&builder, (uint32_t)size * 8, seq);
    put_corrections(&builder);
    size = hc_bits_finish(&builder.bits);
    bool fits = hc_snapshot_put_message(&body, packed, size);
    HC_ASSERT(!builder.bits.failed && fits);
    host->stats.snapshots++;
    peer->extrapolation_saved = hc_sv_extrapolation_end(
        &host->extrapolation_budget, &builder.extrapolation, asked_steps(&builder),
        builder.own_steps, hc_sv_peer_extrapolation_most(peer));
    add_spent(&host->stats.bits, &builder.spent);
    if (builder.head.tick >= host->rewound_from && builder.head.tick < host->rewound_to) {
        HC_MARK("snapshot-of-rewound-tick");
        host->stats.snapshots_rewound++;
    }
    size_t bytes = hc_sv_peer_wrap(peer, out, body.at, now_us);
    hc_sv_bandwidth_spend(&peer->budget, (uint32_t)body.at);
    return bytes;
}
