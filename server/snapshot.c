#include "server/making.h"

#include "common/mark.h"
#include "hindcast/rng.h"
#include "proto/value.h"

#include <string.h>

enum {
    ROOM_MIN = 160,  ///< bytes; with less to spend a snapshot waits for the next tick
    LOOK_TICKS = 8,  ///< between two looks at what a client sees
    AGAIN_BITS = 1,  ///< the name of a unit that the base told, more or less
    NAME_BITS = 8,   ///< of another
    INPUT_BITS = 8,  ///< an input, more or less
    INPUTS_NEAR = 8, ///< ticks of inputs of a unit that are told before another unit is
    ITEM_BITS = 40,  ///< a forced range, a join or a leave, at most
    KEEP_TICKS = 48, ///< since the newest base, from which on what that told is kept
    CHAIN_TICKS = 16 ///< heads of a group, whose first snapshot has the chain hash
};

hc_tick hc_sv_snapshot_tick(const struct hc_sv_host *host, const struct hc_sv_peer *peer) {
    hc_tick tick = hc_timeline_head(host->timeline);
    for (unsigned i = 0; !host->config.show_head && i < peer->own_count; i++)
        tick = hc_tick_min(tick, hc_timeline_complete(host->timeline, peer->own[i]) + 1);
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
static void count_bits(const struct hc_sv_making *making, size_t *before, uint64_t *spent) {
    size_t now = hc_bits_written(&making->bits);
    *spent += now - *before;
    *before = now;
}

// ---- What to tell -------------------------------------------------------------------------------

/// From which tick on the unit has been in view: what is told against an older value may list what
/// its owner did when it was not.
static hc_tick in_view_since(const struct hc_sv_making *making, hc_unit unit) {
    return making->peer->interest.since[unit];
}

static struct hc_sv_interest_look look_at(const struct hc_sv_making *making, hc_tick tick) {
    const struct hc_sv_peer *peer = making->peer;
    return hc_sv_interest_look_at(&peer->interest, making->host->timeline, tick, peer->own,
                                  peer->own_count);
}

/// What the client's newest value of the unit can be told against: its version, 0 for nothing, and
/// how that is named.
static hc_sv_version base_of(const struct hc_sv_making *making,
                             const struct hc_sv_ledger_unit *known, struct hc_snapshot_unit *told) {
    struct hc_unit_value value;
    told->from = HC_SNAPSHOT_NOTHING;
    told->as_of = known->acked_as_of;
    if (known->acked == 0 || hc_sv_making_held(making, told->unit, known->acked, &value) == NULL ||
        value.tick > making->head.tick || value.tick < in_view_since(making, told->unit))
        return 0;
    if (known->acked_as_of != making->head.base &&
        making->head.base - known->acked_as_of > HC_SNAPSHOT_AGE_MAX)
        return 0;
    told->from = known->acked_as_of == making->head.base ? HC_SNAPSHOT_BASE : HC_SNAPSHOT_OLDER;
    return known->acked;
}

static bool own_unit(const struct hc_sv_host *host, const struct hc_sv_peer *peer, hc_unit unit) {
    hc_player player = hc_unit_player(&host->world, unit);
    return unit == 0 || (player != HC_NO_PLAYER && is_own(peer, player));
}

/// How many ticks from the one shown on have known inputs of the unit's player that the client may
/// be told.
static uint32_t inputs_of(const struct hc_sv_making *making, hc_unit unit) {
    hc_player player = hc_unit_player(&making->host->world, unit);
    if (player == HC_NO_PLAYER || is_own(making->peer, player))
        return 0;
    return hc_tick_max(making->host->players[player].newest + 1, making->head.tick) -
           making->head.tick;
}

/// Adds the inputs from the tick shown on, up to the tick at which their player leaves the view, as
/// far as that has been simulated.
static void gather_inputs(struct hc_sv_making *making) {
    struct hc_sv_choice *choices = making->host->choices;
    hc_tick head = making->head.as_of, end = making->head.tick;
    for (uint32_t i = 0; i < making->choices; i++) {
        struct hc_sv_choice *choice = &choices[i];
        choice->inputs =
            choice->told.from == HC_SNAPSHOT_DROPPED ? 0 : inputs_of(making, choice->told.unit);
        end = hc_tick_max(end, making->head.tick + choice->inputs);
    }
    for (hc_tick t = making->head.tick + 1; t < end && t <= head; t++) {
        struct hc_sv_interest_look look = look_at(making, t);
        uint32_t before = t - making->head.tick;
        for (uint32_t i = 0; i < making->choices && !look.everything; i++)
            if (choices[i].inputs > before &&
                !hc_sv_interest_in_view(&look, choices[i].told.unit)) {
                HC_MARK("inputs-out-of-view");
                choices[i].inputs = before;
            }
    }
    for (uint32_t i = 0; i < making->choices; i++)
        choices[i].bits += INPUT_BITS * least(choices[i].inputs, INPUTS_NEAR);
}

/// Chooses how a unit in view is sent: against which value, and what that takes.
static void choose_base(struct hc_sv_making *making, const struct hc_sv_ledger_unit *known,
                        struct hc_sv_choice *choice) {
    uint8_t scratch[HC_SV_TELL_BYTES];
    hc_unit unit = choice->told.unit;
    choice->value = hc_sv_versions_now(&making->shown, unit);
    choice->base = base_of(making, known, &choice->told);
    if (!own_unit(making->host, making->peer, unit) &&
        hc_sv_making_too_dear(making, unit, choice->base, choice->value, making->head.tick)) {
        HC_MARK("guesses-all-taken");
        choice->base = 0;
        choice->told.from = HC_SNAPSHOT_NOTHING;
    }
    if (choice->told.from == HC_SNAPSHOT_BASE)
        choice->bits = AGAIN_BITS;
    choice->delta = hc_sv_making_counted(making, unit, choice->base, choice->value, scratch).bits;
    choice->bits += choice->delta;
}

/// Adds a unit that the client sees, or has seen and no longer does.
static void gather_unit(struct hc_sv_making *making, hc_unit unit,
                        const struct hc_sv_ledger_unit *known, bool sees) {
    struct hc_sv_host *host = making->host;
    struct hc_sv_peer *peer = making->peer;
    uint32_t view = host->world.game->view;
    struct hc_sv_choice *choice = &host->choices[making->choices];
    struct hc_sv_candidate *candidate = &host->candidates[making->choices++];
    *choice = (struct hc_sv_choice){.told = {.unit = unit, .from = HC_SNAPSHOT_DROPPED},
                                    .bits = NAME_BITS};
    if (sees)
        choose_base(making, known, choice);
    bool same = choice->delta <= 1 && known->known && sees;
    *candidate = (struct hc_sv_candidate){
        .unit = unit,
        .own = own_unit(host, peer, unit),
        .changed = !same,
        .distance = view == 0 ? 0
                              : hc_sv_interest_distance(&peer->interest, host->timeline,
                                                        making->head.tick, unit),
        .view = view};
    if (known->sent != 0 && sees) { // else it was out of view, or has just come into it
        uint32_t unsent = making->head.as_of - known->sent_as_of;
        if (unsent > host->stats.longest_unsent_ticks)
            host->stats.longest_unsent_ticks = unsent;
    }
}

/// Gathers all units that the client sees, or has seen and no longer does.
static void gather(struct hc_sv_making *making) {
    struct hc_sv_host *host = making->host;
    struct hc_sv_peer *peer = making->peer;
    uint32_t units = hc_unit_total(&host->world);
    making->choices = 0;
    host->stats.units_looked_at += units;
    // A new version may take an old one's place, so all are there before anything refers to one.
    for (uint32_t u = 0; u < units; u++)
        if (hc_sv_interest_sees(&peer->interest, (hc_unit)u))
            hc_sv_versions_now(&making->shown, (hc_unit)u);
    for (uint32_t u = 0; u < units; u++) {
        hc_unit unit = (hc_unit)u;
        const struct hc_sv_ledger_unit *known = hc_sv_ledger_unit(peer->ledger, unit);
        bool sees = hc_sv_interest_sees(&peer->interest, unit);
        hc_sv_ledger_compare(peer->ledger, unit, sees && known->acked != 0);
        if (!sees && !known->known)
            continue;
        gather_unit(making, unit, known, sees);
    }
    gather_inputs(making);
}

static struct hc_sv_choice *choice_of(const struct hc_sv_making *making, hc_unit unit) {
    struct hc_sv_choice *choices = making->host->choices;
    uint32_t low = 0, high = making->choices;
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        if (choices[middle].told.unit <= unit)
            low = middle;
        else
            high = middle;
    }
    return &choices[low];
}

/// Takes as many as fit `room` bits, first things first; what does not fit is skipped. At most
/// `most`.
static uint32_t choose(struct hc_sv_making *making, uint32_t room, uint32_t most) {
    struct hc_sv_host *host = making->host;
    uint32_t taken = 0, used = 0, all = 0;
    for (uint32_t i = 0; i < making->choices; i++)
        all += host->choices[i].bits;
    bool fits = all <= room && making->choices <= most;
    for (uint32_t i = 0; i < making->choices; i++)
        host->choices[i].chosen = fits;
    if (fits)
        return making->choices;
    if (!making->ordered)
        hc_sv_budget_order(&making->peer->budget, host->candidates, making->choices);
    making->ordered = true;
    for (uint32_t i = 0; i < making->choices && taken < most; i++) {
        struct hc_sv_choice *choice = choice_of(making, host->candidates[i].unit);
        if (used + choice->bits > room)
            continue;
        used += choice->bits;
        choice->chosen = true;
        taken++;
    }
    return taken;
}

/// What the units chosen take with so many ticks of inputs, more or less.
static uint32_t bits_with(const struct hc_sv_making *making, uint32_t inputs) {
    uint32_t used = 0;
    for (uint32_t i = 0; i < making->choices; i++) {
        const struct hc_sv_choice *choice = &making->host->choices[i];
        uint32_t near = least(choice->inputs, INPUTS_NEAR);
        if (choice->chosen)
            used += choice->bits + INPUT_BITS * (least(choice->inputs, inputs) - near);
    }
    return used;
}

/// How many ticks of inputs fit beside the units chosen, the same for everybody.
static uint32_t choose_inputs(const struct hc_sv_making *making, uint32_t room) {
    uint32_t low = INPUTS_NEAR, high = HC_SNAPSHOT_INPUTS_MAX;
    if (bits_with(making, high) <= room)
        return high;
    while (low < high) {
        uint32_t middle = (low + high + 1) / 2;
        if (bits_with(making, middle) <= room)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static uint32_t hash_of(const struct hc_sv_making *making) {
    const struct hc_sv_host *host = making->host;
    const struct hc_world *world = &host->world;
    const uint8_t *presence = hc_timeline_presence(host->timeline, making->head.tick);
    const uint8_t *states = hc_timeline_states(host->timeline, making->head.tick);
    uint64_t hash = 0;
    for (uint32_t i = 0; i < making->choices; i++) {
        const struct hc_sv_choice *choice = &host->choices[i];
        if (!choice->chosen || choice->told.from == HC_SNAPSHOT_DROPPED)
            continue;
        hc_entity first = hc_unit_first(world, choice->told.unit);
        for (uint32_t e = first; e < first + hc_unit_count(world, choice->told.unit); e++)
            hash += hc_unit_entity_hash(world, (hc_entity)e, presence[e],
                                        states + (size_t)e * world->stride);
    }
    return (uint32_t)hash;
}

// ---- Writing ------------------------------------------------------------------------------------

/// Whether one of the lists before the units may have one more: a quarter is left to the units, and
/// what is left out is told when there is room.
static bool room_for_item(const struct hc_sv_making *making) {
    const struct hc_bits_writer *bits = &making->bits;
    return hc_bits_written(bits) + ITEM_BITS <= bits->size * 8 * 3 / 4;
}

static void put_forced(struct hc_sv_making *making, uint32_t seq) {
    struct hc_sv_peer *peer = making->peer;
    for (unsigned i = 0; i < peer->forced_count; i++) {
        struct hc_sv_forced *range = &peer->forced[i];
        struct hc_snapshot_forced forced = {.first = range->first, .count = range->count};
        while (peer->own[forced.own] != range->player)
            forced.own++;
        if (range->first > making->head.tick || !room_for_item(making)) {
            range->told = 0; // what was told before does not count on later snapshots
            continue;
        }
        hc_snapshot_put_forced(&making->bits, making->head.tick, &forced);
        if (range->told == 0)
            range->told = seq;
    }
    hc_snapshot_put_end(&making->bits);
}

/// Whether the client is sent a join or leave: of another player that it sees, and that is still in
/// view where the control takes effect, as far as that has been simulated.
static bool concerns(const struct hc_sv_making *making, const struct hc_snapshot_control *control) {
    hc_unit unit = (hc_unit)(1 + control->player);
    const struct hc_sv_choice *choice = choice_of(making, unit);
    if (is_own(making->peer, control->player) || choice->told.unit != unit ||
        choice->told.from == HC_SNAPSHOT_DROPPED)
        return false;
    if (control->tick < making->head.tick || control->tick >= making->head.as_of)
        return true;
    struct hc_sv_interest_look look = look_at(making, control->tick + 1);
    return hc_sv_interest_in_view(&look, unit);
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

/// Joins and leaves that the client may not have heard of yet, also those before the tick shown
/// after which it may know inputs of an earlier life, which had come early. Those from that tick on
/// are told in any case, for a client that begins anew there has lost them.
static void put_recent_controls(struct hc_sv_making *making, uint32_t seq) {
    const struct hc_sv_host *host = making->host;
    struct hc_sv_peer *peer = making->peer;
    hc_tick tick = making->head.tick, since = hc_tick_back(tick, host->config.future);
    unsigned first = host->control_count;
    while (first > 0 &&
           host->controls[(host->control_first + first - 1) % HC_SV_CONTROLS].tick >= since)
        first--;
    for (unsigned i = first; i < host->control_count; i++) {
        unsigned place = (host->control_first + i) % HC_SV_CONTROLS;
        const struct hc_snapshot_control *control = &host->controls[place];
        uint32_t *told = &peer->control_told[place];
        bool heard = *told != 0 && peer->acked_snapshot >= *told;
        if (heard && control->tick < tick)
            continue;
        if (!concerns(making, control) || !room_for_item(making)) {
            *told = heard ? *told : 0; // what was told before does not count on later snapshots
            continue;
        }
        hc_snapshot_put_control(&making->bits, tick, control);
        *told = *told == 0 ? seq : *told;
    }
}

/// Of whoever has done nothing known since, also the join of the life shown, for what the client
/// knows may be of an earlier one.
static void put_controls(struct hc_sv_making *making, uint32_t seq) {
    const struct hc_sv_host *host = making->host;
    hc_tick tick = making->head.tick, since = hc_tick_back(tick, host->config.future);
    put_recent_controls(making, seq);
    for (uint32_t i = 0; i < making->choices; i++) {
        const struct hc_sv_choice *choice = &host->choices[i];
        hc_player player = hc_unit_player(&host->world, choice->told.unit);
        struct hc_unit_value value;
        if (player == HC_NO_PLAYER || is_own(making->peer, player) ||
            choice->told.from == HC_SNAPSHOT_DROPPED)
            continue;
        if (hc_sv_versions_get(&host->versions, choice->value, &value) == NULL ||
            value.known != HC_NO_TICK || !room_for_item(making))
            continue;
        const struct hc_sv_player *slot = &host->players[player];
        struct hc_snapshot_control join = {
            .player = player, .tick = slot->joined, .control = HC_CONTROL_JOIN};
        const struct hc_snapshot_control *control = control_before(host, player, tick);
        if (control == NULL && slot->in && slot->joined < tick)
            control = &join;
        if (control == NULL || control->control != HC_CONTROL_JOIN || control->tick >= since)
            continue;
        join.tick = hc_tick_max(control->tick, hc_tick_back(tick, HC_SNAPSHOT_SPAN_MAX));
        hc_snapshot_put_control(&making->bits, tick, &join); // an older one says no more
    }
    hc_snapshot_put_end(&making->bits);
}

/// Where the bits of a unit's value are counted.
static uint64_t *spent_on(struct hc_sv_making *making, hc_unit unit) {
    if (hc_unit_player(&making->host->world, unit) == HC_NO_PLAYER)
        return &making->spent.unowned;
    bool own = own_unit(making->host, making->peer, unit);
    return own ? &making->spent.own : &making->spent.others;
}

static void put_names(struct hc_sv_making *making) {
    struct hc_snapshot_unit units[HC_SNAPSHOT_UNITS_MAX];
    uint32_t count = 0;
    for (uint32_t i = 0; i < making->choices; i++)
        if (making->host->choices[i].chosen)
            units[count++] = making->host->choices[i].told;
    hc_snapshot_put_names(&making->bits, &making->head, &making->base, units, count);
}

/// Writes the head, what was forced, who came and went, and all units chosen; false when that does
/// not fit.
static bool write_units(struct hc_sv_making *making, uint32_t seq) {
    struct hc_sv_host *host = making->host;
    uint8_t scratch[HC_SV_TELL_BYTES];
    size_t counted = 0;
    making->spent = (struct hc_sv_snapshot_bits){0};
    making->head.hash = hash_of(making);
    hc_snapshot_put(&making->bits, &making->head);
    put_forced(making, seq);
    put_controls(making, seq);
    count_bits(making, &counted, &making->spent.head);
    put_names(making);
    count_bits(making, &counted, &making->spent.names);
    for (uint32_t i = 0; i < making->choices && !making->bits.failed; i++) {
        const struct hc_sv_choice *choice = &host->choices[i];
        hc_unit unit = choice->told.unit;
        if (!choice->chosen || choice->told.from == HC_SNAPSHOT_DROPPED)
            continue;
        struct hc_sv_making_bits delta =
            hc_sv_making_delta(making, unit, choice->base, choice->value, scratch);
        hc_bits_append(&making->bits, delta.data, delta.bits);
        count_bits(making, &counted, spent_on(making, unit));
        hc_player player = hc_unit_player(&host->world, unit);
        struct hc_unit_value value;
        if (player != HC_NO_PLAYER &&
            hc_sv_versions_get(&host->versions, choice->value, &value) != NULL)
            hc_snapshot_put_inputs(&making->bits, host->timeline, host->world.game, player, &value,
                                   making->head.tick + least(choice->inputs, making->inputs));
        count_bits(making, &counted, &making->spent.inputs);
    }
    struct hc_bits_writer ended = making->bits;
    hc_snapshot_put_end(&ended); // of the corrections
    return !ended.failed;
}

/// Counts by field what the values told have taken, of a share of them.
static void count_fields(struct hc_sv_making *making, uint32_t seq) {
    uint8_t scratch[HC_SV_TELL_BYTES];
    for (uint32_t i = 0; i < making->choices; i++) {
        const struct hc_sv_choice *choice = &making->host->choices[i];
        struct hc_bits_writer bits = hc_bits_writer(scratch, sizeof scratch);
        // Each client's and each unit's in turn, whatever the rhythm it is told in.
        uint32_t turn = (seq + making->peer->cid + choice->told.unit) % HC_SV_FIELDS_EACH;
        if (turn != 0 || !choice->chosen || choice->told.from == HC_SNAPSHOT_DROPPED)
            continue;
        hc_sv_making_write(making, choice->told.unit, choice->base, choice->value, &bits,
                           &making->host->stats.sampled);
        HC_ASSERT(!bits.failed);
    }
}

static void tell(struct hc_sv_making *making) {
    struct hc_sv_peer *peer = making->peer;
    for (uint32_t i = 0; i < making->choices; i++) {
        const struct hc_sv_choice *choice = &making->host->choices[i];
        if (!choice->chosen)
            continue;
        bool kept = hc_sv_ledger_tell(peer->ledger, choice->told.unit, making->head.tick,
                                      choice->value, false);
        HC_ASSERT(kept); // there is room for more units than one snapshot tells
        hc_sv_budget_told(&peer->budget, choice->told.unit);
    }
}

/// Fills the datagram with units. Where that was taken by mistake for smaller than it is, the
/// farthest inputs go, then the last units.
static void put_units(struct hc_sv_making *making, uint32_t room, uint32_t seq) {
    struct hc_bits_writer before = making->bits;
    uint32_t count = choose(making, room, HC_SNAPSHOT_UNITS_MAX);
    making->inputs = choose_inputs(making, room);
    while (!write_units(making, seq)) {
        making->bits = before;
        if (making->inputs > INPUTS_NEAR) {
            making->inputs -= (making->inputs - INPUTS_NEAR + 3) / 4;
            continue;
        }
        HC_ASSERT(count > 0); // a head and two lists always fit
        count = choose(making, room, count - 1 - count / 8);
    }
    count_fields(making, seq);
    tell(making);
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
                    hc_tick_back(hc_timeline_head(host->timeline), HC_SV_LEDGER_SNAPSHOTS - 1));
    return hc_tick_max(oldest, hc_tick_back(own, peer->display_offset + 1));
}

/// A unit that the client may show wrongly at a tick.
struct correction {
    struct hc_snapshot_correction told;
    hc_sv_version base, value;
};

/// Whether two values of the unit, of one tick, have the same states: when they differ in what the
/// owner is known to have done nothing is shown otherwise.
static bool alike(const struct hc_sv_host *host, hc_unit unit, hc_sv_version a, hc_sv_version b) {
    struct hc_unit_value x, y;
    size_t count = hc_unit_count(&host->world, unit);
    return a == b || (hc_sv_versions_get(&host->versions, a, &x) != NULL &&
                      hc_sv_versions_get(&host->versions, b, &y) != NULL &&
                      memcmp(x.presence, y.presence, count) == 0 &&
                      memcmp(x.states, y.states, count * host->world.stride) == 0);
}

/// Whether the client is to know of a tick of which it holds nothing: where each tick has its
/// snapshot it is told of all, also of those that T leapt over; where they are rarer, what lies
/// between two of them is its own simulation, and only what was told and lost is told again.
static bool is_to_hold(const struct hc_sv_making *making, hc_unit unit, hc_tick at) {
    const struct hc_sv_host_config *config = &making->host->config;
    return config->snapshot_rate == 0 || config->snapshot_rate == config->tick_rate ||
           hc_sv_ledger_told(making->peer->ledger, unit, at);
}

/// What the client does not hold of the past tick `at`, into `out`; returns how many.
static uint32_t gather_corrections(struct hc_sv_making *making, hc_tick at, struct correction *out,
                                   uint32_t most) {
    struct hc_sv_host *host = making->host;
    struct hc_sv_peer *peer = making->peer;
    uint32_t count = 0;
    struct hc_sv_versions_row row = hc_sv_versions_row(&host->versions, host->timeline, at);
    struct hc_sv_interest_look look = look_at(making, at);
    host->stats.units_looked_at += making->choices;
    for (uint32_t i = 0; i < making->choices; i++) // as in gather
        if (host->choices[i].told.from != HC_SNAPSHOT_DROPPED)
            hc_sv_versions_now(&row, host->choices[i].told.unit);
    for (uint32_t i = 0; i < making->choices && count < most; i++) {
        hc_unit unit = host->choices[i].told.unit;
        const struct hc_sv_ledger_unit *known = hc_sv_ledger_unit(peer->ledger, unit);
        struct hc_unit_value value;
        hc_tick as_of = HC_NO_TICK;
        if (host->choices[i].told.from == HC_SNAPSHOT_DROPPED || known->acked == 0)
            continue; // what it does not know yet it does not show either
        hc_sv_version now = hc_sv_versions_now(&row, unit);
        hc_sv_version held = hc_sv_ledger_holds(peer->ledger, unit, at, &as_of);
        if (alike(host, unit, held, now) || (held == 0 && !is_to_hold(making, unit, at)))
            continue;
        if (!hc_sv_interest_in_view(&look, unit)) {
            HC_MARK("correction-out-of-view");
            continue;
        }
        struct correction *correction = &out[count++];
        *correction =
            (struct correction){.told = {.unit = unit, .as_of = HC_NO_TICK}, .value = now};
        if (as_of != HC_NO_TICK && making->head.as_of - as_of <= HC_SNAPSHOT_CORRECTION_AGE &&
            hc_sv_versions_get(&host->versions, held, &value) != NULL) {
            correction->told.as_of = as_of;
            correction->told.same = true;
            correction->base = held;
        } else if (making->head.as_of - known->acked_as_of <= HC_SNAPSHOT_CORRECTION_AGE &&
                   hc_sv_making_held(making, unit, known->acked, &value) != NULL &&
                   value.tick <= at && value.tick >= in_view_since(making, unit)) {
            if (hc_sv_making_too_dear(making, unit, known->acked, now, at))
                continue;
            correction->told.as_of = known->acked_as_of;
            correction->base = known->acked;
        }
    }
    return count;
}

/// Puts corrections of one tick, all or as many as fit; returns how many.
static uint32_t put_tick_corrections(struct hc_sv_making *making, hc_tick before, hc_tick at,
                                     const struct correction *corrections, uint32_t count) {
    uint8_t scratch[HC_SV_TELL_BYTES];
    for (; count > 0; count -= 1 + count / 4) {
        struct hc_bits_writer attempt = making->bits;
        hc_unit next = 0;
        hc_snapshot_put_correction_tick(&making->bits, before, at, count);
        for (uint32_t i = 0; i < count && !making->bits.failed; i++) {
            const struct correction *correction = &corrections[i];
            hc_snapshot_put_correction(&making->bits, &making->head, next, &correction->told);
            next = (hc_unit)(correction->told.unit + 1);
            struct hc_sv_making_bits delta = hc_sv_making_counted(
                making, correction->told.unit, correction->base, correction->value, scratch);
            hc_bits_append(&making->bits, delta.data, delta.bits);
        }
        struct hc_bits_writer ended = making->bits;
        hc_snapshot_put_end(&ended);
        if (!ended.failed)
            return count;
        making->bits = attempt;
        if (count == 1)
            return 0;
    }
    return 0;
}

/// Past ticks that the client may still show and that are not what it holds, newest first.
static void put_corrections(struct hc_sv_making *making) {
    struct hc_sv_host *host = making->host;
    struct correction corrections[HC_SNAPSHOT_CORRECTIONS_MAX];
    hc_tick from = shown_from(host, making->peer), before = making->head.tick;
    uint32_t left = HC_SNAPSHOT_CORRECTIONS_MAX;
    size_t counted = hc_bits_written(&making->bits);
    for (hc_tick t = making->head.tick; t > from && from != HC_NO_TICK && left > 0; t--) {
        hc_tick at = t - 1, equal = hc_sv_ledger_equal_at(making->peer->ledger, at);
        if (equal != HC_NO_TICK && hc_timeline_changed(host->timeline, at) <= equal)
            continue;
        uint32_t wanted = gather_corrections(making, at, corrections, left);
        if (wanted == 0) {
            hc_sv_ledger_equals(making->peer->ledger, at);
            continue;
        }
        uint32_t put = put_tick_corrections(making, before, at, corrections, wanted);
        for (uint32_t i = 0; i < put; i++) {
            bool kept = hc_sv_ledger_tell(making->peer->ledger, corrections[i].told.unit, at,
                                          corrections[i].value, true);
            HC_ASSERT(kept);
            host->stats.corrections++;
        }
        left -= put;
        if (put < wanted) {
            HC_MARK("corrections-cut");
            break;
        }
        if (left > 0) // else there may be more
            hc_sv_ledger_equals(making->peer->ledger, at);
        before = at;
    }
    hc_snapshot_put_end(&making->bits);
    count_bits(making, &counted, &making->spent.corrections);
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

static void begin(struct hc_sv_making *making, uint32_t seq, uint64_t now_us) {
    struct hc_sv_host *host = making->host;
    struct hc_sv_peer *peer = making->peer;
    hc_tick head = hc_timeline_head(host->timeline), tick = hc_sv_snapshot_tick(host, peer);
    hc_sv_ledger_begin(peer->ledger, head, seq);
    if (head - hc_sv_ledger_base(peer->ledger) >= KEEP_TICKS)
        hc_sv_kept_take(&peer->kept, peer->ledger, &host->versions);
    making->head =
        (struct hc_snapshot){.as_of = head,
                             .phase_us = hc_sv_host_phase_us(host, now_us),
                             .ack_delay_us = hc_sv_peer_ack_delay(peer, now_us),
                             .tick = tick,
                             .refusal = hc_tick_back(head, hc_sv_host_refusal(host, peer)),
                             .final = host->final,
                             .has_chain = begins_group(peer, head),
                             .chain = host->chain,
                             .base = hc_sv_ledger_base(peer->ledger),
                             .own_count = peer->own_count};
    peer->newest_head = head;
    if (making->head.base != HC_NO_TICK)
        making->base.count = hc_sv_ledger_units(peer->ledger, making->head.base, making->base.units,
                                                HC_SNAPSHOT_UNITS_MAX);
    for (unsigned i = 0; i < peer->own_count; i++) // show_head may be ahead of A
        making->head.complete[i] =
            hc_tick_max(hc_timeline_complete(host->timeline, peer->own[i]), hc_tick_back(tick, 1));
    if (peer->looked == HC_NO_TICK || head - peer->looked >= LOOK_TICKS) {
        hc_sv_interest_update(&peer->interest, host->timeline, tick, peer->own, peer->own_count);
        peer->looked = head;
    } else {
        hc_sv_interest_narrow(&peer->interest, host->timeline, tick, peer->own, peer->own_count);
    }
    hc_tick base = making->head.base == HC_NO_TICK ? tick : making->head.base;
    making->own_steps = peer->own_count * hc_sv_making_steps(hc_tick_min(base, tick), tick);
    making->guess = hc_sv_guess_begin(&host->guesses, peer->guesses_saved, head - base, head - tick,
                                      making->own_steps);
    making->shown = hc_sv_versions_row(&host->versions, host->timeline, tick);
    making->referee_version = hc_sv_versions_now(&making->shown, 0);
    bool alive = hc_timeline_presence(host->timeline, tick)[HC_REFEREE] == HC_ALIVE;
    making->referee = alive ? hc_timeline_states(host->timeline, tick) : NULL;
}

/// Steps that all units of the snapshot would take, each extrapolated from the base.
static uint32_t asked_steps(const struct hc_sv_making *making) {
    hc_tick tick = making->head.tick, base = making->head.base;
    return base == HC_NO_TICK || base > tick ? 0 : making->choices * hc_sv_making_steps(base, tick);
}

size_t hc_sv_snapshot_send(struct hc_sv_host *host, struct hc_sv_peer *peer,
                           uint8_t out[static HC_DATAGRAM_MAX], uint64_t now_us) {
    uint8_t packed[HC_DATA_BODY_MAX];
    struct hc_writer body = hc_bytes_writer(out + HC_DATA_BODY_AT, HC_DATA_BODY_MAX);
    struct hc_sv_making making = {.host = host, .peer = peer};
    uint32_t seq = peer->sent.next; // that hc_sv_peer_wrap is about to take
    int32_t room = hc_sv_budget_room(&peer->budget, HC_DATA_BODY_MAX, now_us);
    if (room < ROOM_MIN) {
        HC_MARK("snapshot-put-off");
        peer->put_off = true;
        return 0;
    }
    peer->news_went = peer->put_off = false;
    size_t size = (size_t)room - HC_SNAPSHOT_OVERHEAD;
    making.bits = hc_bits_writer(packed, size);
    begin(&making, seq, now_us);
    gather(&making);
    hc_sv_budget_grow(&peer->budget, host->candidates, making.choices);
    put_units(&making, (uint32_t)size * 8, seq);
    put_corrections(&making);
    size = hc_bits_finish(&making.bits);
    bool fits = hc_snapshot_put_message(&body, packed, size);
    HC_ASSERT(!making.bits.failed && fits);
    host->stats.snapshots++;
    peer->guesses_saved = hc_sv_guess_end(&host->guesses, &making.guess, asked_steps(&making),
                                          making.own_steps, hc_sv_peer_guesses_most(peer));
    add_spent(&host->stats.bits, &making.spent);
    if (making.head.tick >= host->rewound_from && making.head.tick < host->rewound_to) {
        HC_MARK("snapshot-of-rewound-tick");
        host->stats.snapshots_rewound++;
    }
    size_t bytes = hc_sv_peer_wrap(peer, out, body.at, now_us);
    hc_sv_budget_spend(&peer->budget, (uint32_t)body.at);
    return bytes;
}
