#include "tests/storm/stamps.h"

#include "tests/storm/inside.h"

#include <string.h>

enum {
    GAP_MAX = 1024, ///< ticks of a gap that are looked at
    AHEAD_MAX = 64, ///< ticks that are stamped ahead of a head that waits
};

void storm_stamps_given(struct storm_match *match, unsigned client, unsigned index,
                        const void *input) {
    const struct hc_game *game = storm_truth_world(match->truth)->game;
    uint8_t *present = match->seats[client].stamps.present[index];
    memcpy(present, input, game->input_size);
    game->sanitize_input(present);
}

/// The least and the most that may have been stamped.
struct stamped {
    uint64_t least, most;
};

/// The slots of one tick: stamped with these inputs, or retracted; false when they were not stamped
/// (or, if they were never known, nobody can tell).
static bool look(struct storm_match *match, unsigned client, hc_tick tick,
                 uint8_t inputs[][HC_INPUT_MAX], struct stamped *stamped) {
    const struct hc_client *core = hc_sim_client(match->sim, client);
    const struct hc_timeline *own = hc_client_timeline(core);
    uint16_t size = hc_client_world(core)->game->input_size;
    bool all = true;
    for (unsigned i = 0; i < (unsigned)storm_client_get(match, client, STORM_C_players); i++) {
        hc_player player = hc_client_player(core, i);
        enum hc_slot slot = hc_timeline_slot(own, player, tick);
        stamped->least += slot == HC_SLOT_KNOWN;
        stamped->most += slot != HC_SLOT_UNKNOWN;
        all = all && slot != HC_SLOT_UNKNOWN;
        if (slot == HC_SLOT_KNOWN &&
            memcmp(hc_timeline_input(own, player, tick), inputs[i], size) != 0)
            storm_fail(match->verdict, STORM_WRONG, "sampled", tick,
                       "client %u: the input of player %u at %u is not the one sampled for it",
                       client, player, tick);
    }
    return all;
}

/// Ticks that no sample was for: from one on, all of them are given the input before.
static void look_at_gap(struct storm_match *match, unsigned client, hc_tick end,
                        struct stamped *stamped) {
    struct storm_stamps *stamps = &match->seats[client].stamps;
    const struct hc_timeline *own = hc_client_timeline(hc_sim_client(match->sim, client));
    hc_tick from = hc_tick_max(hc_timeline_oldest(own), hc_tick_back(end, GAP_MAX));
    uint64_t before = stamped->least;
    for (hc_tick t = stamps->any ? hc_tick_max(stamps->next, from) : from; t < end; t++)
        if (!look(match, client, t, stamps->last, stamped) && stamped->least > before)
            storm_fail(match->verdict, STORM_WRONG, "sampled", t,
                       "client %u: tick %u has no input, the one before it has", client, t);
}

/// What was sampled for `tick`, and the gap before it.
static void look_at_sample(struct storm_match *match, unsigned client, hc_tick tick,
                           struct stamped *stamped) {
    struct storm_stamps *stamps = &match->seats[client].stamps;
    if (stamps->any && stamps->next > tick)
        return; // one too many
    look_at_gap(match, client, tick, stamped);
    if (!look(match, client, tick, stamps->present, stamped))
        storm_fail(match->verdict, STORM_WRONG, "sampled", tick,
                   "client %u has predicted %u and stamped nothing for %u", client, stamps->head,
                   tick);
    memcpy(stamps->last, stamps->present, sizeof stamps->last);
    stamps->next = tick + 1;
    stamps->any = true;
}

/// While a client waits its players are heard all the same: the newest stamp that it has made,
/// HC_NO_TICK when there is none since the last.
static hc_tick newest_stamp(struct storm_match *match, unsigned client, hc_tick head) {
    const struct storm_stamps *stamps = &match->seats[client].stamps;
    const struct hc_client *core = hc_sim_client(match->sim, client);
    hc_tick newest = HC_NO_TICK;
    for (hc_tick t = stamps->any ? stamps->next : head; t <= head + AHEAD_MAX; t++)
        if (hc_timeline_slot(hc_client_timeline(core), hc_client_player(core, 0), t) ==
            HC_SLOT_KNOWN)
            newest = t;
    return newest;
}

/// Stamps came with a leap: nobody saw for which ticks they are, and those that the server had done
/// without by then were left out. But the newest is there, or was leapt over.
static void find_newest(struct storm_match *match, unsigned client, hc_tick head) {
    struct storm_stamps *stamps = &match->seats[client].stamps;
    const struct hc_client *core = hc_sim_client(match->sim, client);
    const struct hc_timeline *own = hc_client_timeline(core);
    hc_tick from = hc_tick_max(hc_timeline_oldest(own), stamps->next);
    for (hc_tick t = from; t <= head + AHEAD_MAX; t++)
        if (hc_timeline_slot(own, hc_client_player(core, 0), t) != HC_SLOT_UNKNOWN) {
            stamps->next = t + 1;
            stamps->any = true;
        }
}

void storm_stamps_changed(struct storm_match *match, unsigned client) {
    struct storm_stamps *stamps = &match->seats[client].stamps;
    const struct hc_client *core = hc_sim_client(match->sim, client);
    const struct hc_timeline *own = hc_client_timeline(core);
    const struct hc_client_stats *stats = hc_client_stats(core);
    unsigned players = (unsigned)storm_client_get(match, client, STORM_C_players);
    if (own == NULL || !hc_timeline_started(own))
        return;
    hc_tick head = hc_timeline_head(own);
    uint64_t sampled = stats->inputs_sampled - stamps->sampled;
    stamps->sampled = stats->inputs_sampled;
    if (!stamps->begun || stats->restarts != stamps->restarts) {
        // It may have predicted some ticks before it leapt.
        if (sampled > 0) {
            memcpy(stamps->last, stamps->present, sizeof stamps->last);
            stamps->next += stamps->any ? (hc_tick)(sampled / players) : 0;
            find_newest(match, client, head);
        }
        stamps->begun = true;
        stamps->head = head;
        stamps->restarts = stats->restarts;
        return;
    }
    struct stamped stamped = {0, 0};
    int64_t delay = storm_client_get(match, client, STORM_C_delay);
    int64_t future = storm_match_get(match, STORM_future);
    for (; players > 0 && stamps->head < head; stamps->head++)
        look_at_sample(match, client, stamps->head + (hc_tick)(delay < future ? delay : future),
                       &stamped);
    if (players > 0 && hc_client_state(core) == HC_CLIENT_STALLED) {
        hc_tick newest = newest_stamp(match, client, head);
        if (newest != HC_NO_TICK)
            look_at_sample(match, client, newest, &stamped);
    }
    stamps->head = head;
    if (sampled < stamped.least || sampled > stamped.most)
        storm_fail(match->verdict, STORM_WRONG, "counters", head,
                   "client %u counts %lu sampled inputs more, there were %lu to %lu", client,
                   (unsigned long)sampled, (unsigned long)stamped.least,
                   (unsigned long)stamped.most);
}
