/// The ring of joins and leaves.
#include "server/replication/roster.h"

#include "common/alloc.h"

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

uint64_t hc_sv_roster_since(const struct hc_sv_roster *roster, hc_tick tick) {
    uint64_t number = roster->end;
    while (number > roster->first && hc_sv_roster_at(roster, number - 1)->tick >= tick)
        number--;
    return number;
}

hc_tick hc_sv_roster_joined(const struct hc_sv_roster *roster, hc_player player, hc_tick tick) {
    for (uint64_t number = roster->end; number-- > roster->first;) {
        const struct hc_snapshot_roster *change = hc_sv_roster_at(roster, number);
        if (change->player == player && change->tick < tick)
            return change->roster_change == HC_ROSTER_JOIN ? change->tick : HC_NO_TICK;
    }
    // The ring has forgotten the join of a player that is still in.
    hc_tick joined = roster->players[player].joined;
    return joined != HC_NO_TICK && joined < tick ? joined : HC_NO_TICK;
}

uint32_t *hc_sv_roster_sent_since(struct hc_sv_roster_sent *sent, const struct hc_sv_roster *roster,
                                  uint64_t number) {
    if (sent->end < roster->first) // the places of all changes hold older ones
        sent->end = roster->first;
    for (; sent->end < roster->end; sent->end++)
        sent->since[sent->end % HC_SNAPSHOT_ROSTER_MAX] = 0;
    return &sent->since[number % HC_SNAPSHOT_ROSTER_MAX];
}
