/// The ring of joins and leaves, the ranges of forced inputs, and both lists in a snapshot.
#include "server/replication/lists.h"

#include "common/alloc.h"
#include "common/mark.h"
#include "common/prefetch.h"
#include "proto/message.h"
#include "server/replication/builder.h"

#include <string.h>

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
    uint64_t at = roster->end++ % HC_SNAPSHOT_ROSTER_MAX;
    roster->changes[at] =
        (struct hc_snapshot_roster){.player = player, .tick = tick, .roster_change = roster_change};
    roster->before[at] = roster->players[player].changed;
    roster->players[player].changed = roster->end;
    roster->players[player].joined = roster_change == HC_ROSTER_JOIN ? tick : HC_NO_TICK;
}

void hc_sv_roster_input(struct hc_sv_roster *roster, hc_player player, hc_tick tick) {
    if (tick > roster->players[player].newest_input)
        roster->players[player].newest_input = tick;
}

hc_tick hc_sv_roster_joined(const struct hc_sv_roster *roster, hc_player player, hc_tick tick) {
    // Only the player's own changes: the ring is long, and this is asked of many players.
    for (uint64_t at = roster->players[player].changed; at > roster->first;) {
        const struct hc_snapshot_roster *change = change_at(roster, --at);
        if (change->tick < tick)
            return change->roster_change == HC_ROSTER_JOIN ? change->tick : HC_NO_TICK;
        at = roster->before[at % HC_SNAPSHOT_ROSTER_MAX];
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

void hc_sv_lists_prefetch(const struct hc_sv_lists *lists) {
    hc_prefetch(&lists->forced_count, sizeof lists->forced_count);
    hc_prefetch(&lists->roster_end, sizeof lists->roster_end);
}

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

// ---- The lists in a snapshot --------------------------------------------------------------------

/// Gives up the evicted places `gone`, for the next snapshot, which names changes from `since` on.
static void evict(struct hc_sv_lists *lists, const struct hc_sv_sent_log *sent_log,
                  hc_sv_places gone, const struct hc_sv_roster *roster, hc_tick since) {
    for (unsigned i = 0; i < lists->forced_count; i++)
        lists->forced[i].carried &= ~gone;
    if (lists->roster_end < roster->first) // the places of all changes hold older ones
        lists->roster_end = roster->first;
    for (; lists->roster_end < roster->end; lists->roster_end++) {
        lists->carried[lists->roster_end % HC_SNAPSHOT_ROSTER_MAX] = 0;
        lists->received[lists->roster_end % HC_SNAPSHOT_ROSTER_MAX] = false;
    }
    for (uint64_t n = first_since(roster, since); n < roster->end; n++) {
        unsigned at = n % HC_SNAPSHOT_ROSTER_MAX;
        lists->received[at] |= (lists->carried[at] & sent_log->acked) != 0;
        lists->carried[at] &= ~gone;
    }
}

static void gather_forced(struct hc_sv_builder *builder) {
    struct hc_sv_client *client = builder->client;
    builder->lists.forced_count = 0;
    for (unsigned i = 0; i < client->lists->forced_count; i++) {
        struct hc_sv_forced_range *range = &client->lists->forced[i];
        struct hc_snapshot_forced forced = {.first = range->first, .count = range->count};
        while (client->own[forced.own] != range->player)
            forced.own++;
        if (range->first > builder->header.tick) {
            range->carried = 0;
            continue;
        }
        builder->ranges[builder->lists.forced_count] = range;
        builder->forced[builder->lists.forced_count++] = forced;
    }
}

/// Whether the selection is another player that the client sees.
static bool is_seen_player(const struct hc_sv_builder *builder,
                           const struct hc_sv_selection *selection) {
    return hc_unit_player(builder->world, selection->name.unit) != HC_NO_PLAYER &&
           !selection->own && selection->name.from != HC_SNAPSHOT_DROPPED;
}

/// Marks the other players that the client sees, for sees_player: a storm of joins asks it of many.
static void mark_seen_players(const struct hc_sv_builder *builder) {
    uint64_t *seen = builder->replicator->seen_players;
    memset(seen, 0, HC_SV_PLAYER_WORDS(builder->world) * sizeof *seen);
    for (uint32_t i = 0; i < builder->selection_count; i++) {
        const struct hc_sv_selection *selection = &builder->selections[i];
        if (!is_seen_player(builder, selection))
            continue;
        hc_player player = hc_unit_player(builder->world, selection->name.unit);
        seen[player / 64] |= UINT64_C(1) << player % 64;
    }
}

/// Whether the client sees this other player.
static bool sees_player(const struct hc_sv_builder *builder, hc_player player) {
    return (builder->replicator->seen_players[player / 64] >> player % 64 & 1) != 0;
}

/// Whether to send the client a join or leave: of another player that it sees, and that is still in
/// view where the change takes effect, as far as that is simulated.
static bool sends_change(const struct hc_sv_builder *builder,
                         const struct hc_snapshot_roster *change) {
    hc_unit unit = (hc_unit)(1 + change->player);
    if (!sees_player(builder, change->player))
        return false;
    if (change->tick < builder->header.tick || change->tick >= builder->header.as_of)
        return true;
    const struct hc_sv_client *client = builder->client;
    struct hc_sv_interest_sight sight;
    hc_sv_interest_sight_at(&client->interest, builder->timeline, change->tick + 1, client->own,
                            client->own_count, &sight);
    return hc_sv_interest_in_view(&sight, unit);
}

/// Adds a change; `at` is its place among the client's items, HC_SNAPSHOT_ROSTER_MAX: it is none.
static void add_change(struct hc_sv_builder *builder, struct hc_snapshot_roster change,
                       unsigned at) {
    builder->replicator->changes[builder->lists.change_count] = change;
    builder->replicator->change_items[builder->lists.change_count++] = (uint16_t)at;
}

/// Gathers the joins and leaves that the client may lack. Some are before the tick shown, because
/// the client may hold later inputs of the player's former stay. Those from that tick on are
/// sent in any case, because a client that begins anew there has lost them.
static void gather_recent_roster(struct hc_sv_builder *builder, hc_tick since) {
    const struct hc_sv_roster *roster = &builder->replicator->roster;
    struct hc_sv_lists *lists = builder->client->lists;
    hc_tick tick = builder->header.tick;
    uint64_t n = first_since(roster, since);
    if (n < roster->end)
        mark_seen_players(builder);
    for (; n < roster->end; n++) {
        const struct hc_snapshot_roster *change = change_at(roster, n);
        unsigned at = n % HC_SNAPSHOT_ROSTER_MAX;
        bool received = lists->received[at];
        if (received && change->tick < tick)
            continue;
        if (sends_change(builder, change))
            add_change(builder, *change, at);
        else
            lists->carried[at] = 0;
    }
}

/// Gathers of players without a known input since their join also that join, because the client may
/// know inputs of an earlier life.
static void gather_joins(struct hc_sv_builder *builder, hc_tick since) {
    hc_tick tick = builder->header.tick;
    for (uint32_t i = 0; i < builder->selection_count; i++) {
        const struct hc_sv_selection *selection = &builder->selections[i];
        if (!is_seen_player(builder, selection) || selection->value->unit.known != HC_NO_TICK)
            continue;
        hc_player player = hc_unit_player(builder->world, selection->name.unit);
        hc_tick joined = hc_sv_roster_joined(&builder->replicator->roster, player, tick);
        if (joined == HC_NO_TICK || joined >= since)
            continue;
        // A join farther back than can be named has the same effect there.
        struct hc_snapshot_roster join = {
            .player = player,
            .tick = hc_tick_max(joined, hc_tick_back(tick, HC_SNAPSHOT_SPAN_MAX)),
            .roster_change = HC_ROSTER_JOIN};
        add_change(builder, join, HC_SNAPSHOT_ROSTER_MAX);
    }
}

void hc_sv_lists_gather(struct hc_sv_builder *builder, hc_sv_places gone) {
    hc_tick since = hc_tick_back(builder->header.tick, builder->replicator->config.future);
    evict(builder->client->lists, &builder->client->sent_log, gone, &builder->replicator->roster,
          since);
    builder->lists.forced = builder->forced;
    builder->lists.changes = builder->replicator->changes;
    builder->lists.change_count = 0;
    gather_forced(builder);
    gather_recent_roster(builder, since);
    gather_joins(builder, since);
}

void hc_sv_lists_log(struct hc_sv_builder *builder) {
    const struct hc_snapshot_lists *lists = &builder->lists;
    hc_sv_places *carried = builder->client->lists->carried;
    hc_sv_places place = UINT64_C(1) << builder->client->sent_log.newest;
    // Without it in this snapshot the client may not have it with the newest ones.
    for (unsigned i = 0; i < lists->forced_count; i++)
        builder->ranges[i]->carried =
            i < lists->forced_written ? builder->ranges[i]->carried | place : 0;
    for (unsigned i = 0; i < lists->change_count; i++) {
        unsigned at = builder->replicator->change_items[i];
        if (at < HC_SNAPSHOT_ROSTER_MAX)
            carried[at] = i < lists->changes_written ? carried[at] | place : 0;
    }
}
