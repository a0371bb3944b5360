/// The ring of joins and leaves, the ranges of forced inputs, and both lists in a snapshot.
#include "server/replication/lists.h"

#include "common/alloc.h"
#include "common/mark.h"
#include "proto/message.h"
#include "server/replication/builder.h"

#include <string.h>

enum { ITEM_BITS = 40 }; ///< of a forced range, a join or a leave, at most

// ---- The roster ---------------------------------------------------------------------------------

size_t hc_sv_roster_layout(struct hc_sv_roster *roster, const struct hc_world *world,
                           uint8_t *base) {
    size_t used = 0;
    roster->players = hc_carve(base, &used, world->players * sizeof *roster->players);
    return used;
}

void hc_sv_roster_clear(struct hc_sv_roster *roster, const struct hc_world *world) {
    roster->first = roster->end = 0;
    for (hc_player p = 0; p < world->players; p++)
        roster->players[p] = (struct hc_sv_roster_player){.joined = HC_NO_TICK};
}

static const struct hc_snapshot_roster *change_at(const struct hc_sv_roster *roster,
                                                  uint64_t number) {
    return &roster->changes[number % HC_SNAPSHOT_ROSTER_MAX];
}

void hc_sv_roster_stamp(struct hc_sv_roster *roster, hc_player player, hc_tick tick,
                        enum hc_roster roster_change) {
    if (roster->end - roster->first == HC_SNAPSHOT_ROSTER_MAX)
        roster->first++;
    roster->changes[roster->end++ % HC_SNAPSHOT_ROSTER_MAX] =
        (struct hc_snapshot_roster){.player = player, .tick = tick, .roster_change = roster_change};
    roster->players[player].joined = roster_change == HC_ROSTER_JOIN ? tick : HC_NO_TICK;
}

void hc_sv_roster_input(struct hc_sv_roster *roster, hc_player player, hc_tick tick) {
    if (tick > roster->players[player].newest_input)
        roster->players[player].newest_input = tick;
}

hc_tick hc_sv_roster_joined(const struct hc_sv_roster *roster, hc_player player, hc_tick tick) {
    for (uint64_t number = roster->end; number-- > roster->first;) {
        const struct hc_snapshot_roster *change = change_at(roster, number);
        if (change->player == player && change->tick < tick)
            return change->roster_change == HC_ROSTER_JOIN ? change->tick : HC_NO_TICK;
    }
    // The ring has forgotten the join of a player that is still in.
    hc_tick joined = roster->players[player].joined;
    return joined != HC_NO_TICK && joined < tick ? joined : HC_NO_TICK;
}

/// The number of the oldest change from `tick` on; the end: none.
static uint64_t first_since(const struct hc_sv_roster *roster, hc_tick tick) {
    uint64_t number = roster->end;
    while (number > roster->first && change_at(roster, number - 1)->tick >= tick)
        number--;
    return number;
}

// ---- A client's items ---------------------------------------------------------------------------

void hc_sv_lists_clear(struct hc_sv_lists *lists) {
    lists->forced_count = 0;
    lists->roster_end = 0;
}

void hc_sv_lists_force(struct hc_sv_lists *lists, hc_player player, hc_tick first, uint32_t count) {
    for (unsigned i = 0; i < lists->forced_count; i++) {
        struct hc_sv_forced_range *range = &lists->forced[i];
        if (range->player != player || range->first + range->count != first ||
            range->count + count > HC_INPUT_RUN_MAX)
            continue;
        range->count += count;
        range->carried = 0;
        return;
    }
    if (lists->forced_count == HC_SV_FORCED_RANGES) {
        HC_MARK("forced-ranges-full");
        memmove(lists->forced, lists->forced + 1, --lists->forced_count * sizeof *lists->forced);
    }
    lists->forced[lists->forced_count++] =
        (struct hc_sv_forced_range){.player = player, .first = first, .count = count};
}

void hc_sv_lists_acked(struct hc_sv_lists *lists, const struct hc_sv_sent_log *sent_log) {
    unsigned left = 0;
    for (unsigned i = 0; i < lists->forced_count; i++)
        if ((lists->forced[i].carried & sent_log->acked) == 0)
            lists->forced[left++] = lists->forced[i];
    lists->forced_count = left;
}

void hc_sv_lists_evict(struct hc_sv_lists *lists, const struct hc_sv_sent_log *sent_log,
                       hc_sv_places gone, const struct hc_sv_roster *roster, hc_tick since) {
    for (unsigned i = 0; i < lists->forced_count; i++)
        lists->forced[i].carried &= ~gone;
    if (lists->roster_end < roster->first) // the places of all changes hold older ones
        lists->roster_end = roster->first;
    for (; lists->roster_end < roster->end; lists->roster_end++) {
        lists->roster[lists->roster_end % HC_SNAPSHOT_ROSTER_MAX].carried = 0;
        lists->roster[lists->roster_end % HC_SNAPSHOT_ROSTER_MAX].received = false;
    }
    for (uint64_t n = first_since(roster, since); n < roster->end; n++) {
        unsigned at = n % HC_SNAPSHOT_ROSTER_MAX;
        lists->roster[at].received |= (lists->roster[at].carried & sent_log->acked) != 0;
        lists->roster[at].carried &= ~gone;
    }
}

// ---- The lists in a snapshot --------------------------------------------------------------------

/// Whether there may be one more item. The lists leave a quarter to the units; a later snapshot
/// carries the items left out.
static bool fits_item(const struct hc_sv_builder *builder) {
    return hc_bits_written(&builder->bits) + ITEM_BITS <= builder->room * 8 * 3 / 4;
}

static void put_forced(struct hc_sv_builder *builder) {
    struct hc_sv_client *client = builder->client;
    for (unsigned i = 0; i < client->lists->forced_count; i++) {
        struct hc_sv_forced_range *range = &client->lists->forced[i];
        struct hc_snapshot_forced forced = {.first = range->first, .count = range->count};
        while (client->own[forced.own] != range->player)
            forced.own++;
        if (range->first > builder->header.tick || !fits_item(builder)) {
            range->carried = 0; // the client may not have it with the newest snapshots
            continue;
        }
        hc_snapshot_put_forced(&builder->bits, builder->header.tick, &forced);
        range->carried |= UINT64_C(1) << client->sent_log.newest;
    }
    hc_snapshot_put_end(&builder->bits);
}

/// Whether to send the client a join or leave: of another player that it sees, and that is still in
/// view where the change takes effect, as far as that is simulated.
static bool sends_change(const struct hc_sv_builder *builder,
                         const struct hc_snapshot_roster *change) {
    hc_unit unit = (hc_unit)(1 + change->player);
    const struct hc_sv_selection *selection = hc_sv_builder_find(builder, unit);
    if (selection == NULL || selection->own || hc_sv_selection_drops(selection))
        return false;
    if (change->tick < builder->header.tick || change->tick >= builder->header.as_of)
        return true;
    struct hc_sv_interest_look look = hc_sv_builder_look(builder, change->tick + 1);
    return hc_sv_interest_in_view(&look, unit);
}

/// Puts the joins and leaves that the client may lack. Some are before the tick shown, because the
/// client may hold later inputs of the player's former stay. Those from that tick on are
/// sent in any case, because a client that begins anew there has lost them.
static void put_recent_roster(struct hc_sv_builder *builder, hc_tick since) {
    const struct hc_sv_roster *roster = &builder->replicator->roster;
    struct hc_sv_client *client = builder->client;
    hc_tick tick = builder->header.tick;
    for (uint64_t n = first_since(roster, since); n < roster->end; n++) {
        const struct hc_snapshot_roster *change = change_at(roster, n);
        unsigned at = n % HC_SNAPSHOT_ROSTER_MAX;
        bool received = client->lists->roster[at].received;
        if (received && change->tick < tick)
            continue;
        if (!sends_change(builder, change) || !fits_item(builder)) {
            client->lists->roster[at].carried = 0;
            continue;
        }
        hc_snapshot_put_roster(&builder->bits, tick, change);
        client->lists->roster[at].carried |= UINT64_C(1) << client->sent_log.newest;
    }
}

/// Of players without a known input since their join also that join, because the client may know
/// inputs of an earlier life.
static void put_joins(struct hc_sv_builder *builder, hc_tick since) {
    hc_tick tick = builder->header.tick;
    for (uint32_t i = 0; i < builder->selection_count; i++) {
        const struct hc_sv_selection *selection = &builder->selections[i];
        hc_player player = hc_unit_player(builder->world, selection->name.unit);
        if (player == HC_NO_PLAYER || selection->own || hc_sv_selection_drops(selection) ||
            selection->value->unit.known != HC_NO_TICK || !fits_item(builder))
            continue;
        hc_tick joined = hc_sv_roster_joined(&builder->replicator->roster, player, tick);
        if (joined == HC_NO_TICK || joined >= since)
            continue;
        // A join farther back than can be named has the same effect there.
        struct hc_snapshot_roster join = {
            .player = player,
            .tick = hc_tick_max(joined, hc_tick_back(tick, HC_SNAPSHOT_SPAN_MAX)),
            .roster_change = HC_ROSTER_JOIN};
        hc_snapshot_put_roster(&builder->bits, tick, &join);
    }
}

void hc_sv_lists_put(struct hc_sv_builder *builder) {
    hc_tick since = hc_tick_back(builder->header.tick, builder->replicator->config.future);
    put_forced(builder);
    put_recent_roster(builder, since);
    put_joins(builder, since);
    hc_snapshot_put_end(&builder->bits);
}
