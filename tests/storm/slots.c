#include "tests/storm/slots.h"

#include "tests/storm/inside.h"

#include <stdlib.h>
#include <string.h>

enum {
    TICKS = STORM_TICKS_MAX + HC_FUTURE_MAX + 1,
    RUNS = 1024, ///< of a client's DATA that are remembered
};

/// What one DATA of a client carries.
struct run {
    uint32_t seq;
    hc_tick first;
    uint32_t count;
};

/// What is known of an input.
enum fate {
    OPEN,
    UNSURE, ///< it may have come, nobody saw when
    SETTLED ///< it came, and was counted
};

/// One honest connection.
struct sender {
    const struct storm_conn *conn;
    struct run runs[RUNS];
    uint8_t heard[STORM_SEQS];
    uint8_t fates[HC_OWN_PLAYERS_MAX][TICKS]; ///< enum fate
    uint32_t swept;                           ///< datagrams before it are not waited for
    hc_tick told_head;                        ///< the server's when it told it something last
    uint64_t sent;                            ///< inputs, each as often as it was sent
    uint64_t settled;                         ///< of these, those whose fate was seen
};

struct player {
    bool in;
    uint32_t late_limit; ///< its inputs may be so late; ticks
    hc_tick joined;
    uint8_t kinds[TICKS]; ///< enum hc_slot
};

struct storm_slots {
    bool lost; ///< too much happened at once to be followed
    hc_player count;
    hc_tick head;
    hc_tick before; ///< head before the newest advance
    uint64_t received, late, forced, refused, lost_inputs;
    uint64_t unsure; ///< inputs that may have been refused or lost
    struct sender *senders[STORM_CONNS_MAX];
    struct player players[];
};

struct storm_slots *storm_slots_create(const struct storm_match *match) {
    // Without a window nobody sees what became of a slot.
    if (match->plan->seed % 4 != 3 || storm_match_get(match, STORM_history) == 0)
        return NULL;
    hc_player count = storm_truth_world(match->truth)->players;
    struct storm_slots *slots = calloc(1, sizeof *slots + count * sizeof slots->players[0]);
    if (slots != NULL)
        slots->count = count;
    return slots;
}

void storm_slots_destroy(struct storm_slots *slots) {
    for (unsigned i = 0; slots != NULL && i < STORM_CONNS_MAX; i++)
        free(slots->senders[i]);
    free(slots);
}

/// The window of the timeline.
static hc_tick first_of(const struct storm_match *match, hc_tick head) {
    return hc_tick_back(head, (uint32_t)storm_match_get(match, STORM_history));
}

static hc_tick last_of(const struct storm_match *match, hc_tick head) {
    return hc_tick_min(head + (uint32_t)storm_match_get(match, STORM_future), TICKS - 1);
}

static void compare(struct storm_match *match, const struct storm_slots *slots) {
    const struct hc_sv_host_stats *stats = hc_sv_host_stats(hc_sim_host(match->sim));
    if (stats->inputs_received != slots->received || stats->inputs_late != slots->late ||
        stats->inputs_forced != slots->forced)
        storm_fail(match->verdict, STORM_WRONG, "counters", slots->head,
                   "the server counts %lu inputs received, %lu late, %lu forced, there were %lu, "
                   "%lu, %lu",
                   (unsigned long)stats->inputs_received, (unsigned long)stats->inputs_late,
                   (unsigned long)stats->inputs_forced, (unsigned long)slots->received,
                   (unsigned long)slots->late, (unsigned long)slots->forced);
}

/// What has come since the head moved.
static void look(struct storm_match *match, struct storm_slots *slots, hc_player p) {
    const struct hc_timeline *timeline = hc_sv_host_timeline(hc_sim_host(match->sim));
    struct player *player = &slots->players[p];
    hc_tick last = last_of(match, slots->head);
    for (hc_tick t = first_of(match, slots->head); t <= last; t++) {
        uint8_t was = player->kinds[t], is = (uint8_t)hc_timeline_slot(timeline, p, t);
        if (is == was)
            continue;
        player->kinds[t] = is;
        slots->received += is == HC_SLOT_KNOWN;
        slots->late += is == HC_SLOT_KNOWN && t < slots->head;
        slots->forced += is == HC_SLOT_FORCED;
        if (was != HC_SLOT_UNKNOWN)
            storm_fail(match->verdict, STORM_WRONG, "rewritten", t,
                       "the slot of player %u at %u was %u and is %u", p, t, was, is);
    }
}

void storm_slots_advances(struct storm_match *match) {
    struct storm_slots *slots = match->slots;
    if (slots == NULL || slots->lost)
        return;
    for (hc_player p = 0; p < slots->count; p++)
        if (slots->players[p].in)
            look(match, slots, p);
    slots->before = slots->head;
    compare(match, slots);
}

/// How long each player's inputs are waited for: not at all where they are kept for who has lost
/// its connection.
static void find_refusals(struct storm_match *match, struct storm_slots *slots) {
    for (hc_player p = 0; p < slots->count; p++)
        slots->players[p].late_limit = (uint32_t)storm_match_get(match, STORM_history);
    for (unsigned i = 0; i < match->conns.count; i++) {
        struct storm_conn *conn = &match->conns.conns[i];
        conn->late_limit_before = conn->late_limit;
        conn->late_limit = storm_rtt_late_limit(match, conn);
        for (unsigned own = 0; (conn->there || conn->kept) && own < conn->player_count; own++)
            slots->players[conn->players[own]].late_limit = conn->kept ? 0 : conn->late_limit;
    }
}

/// The tick `head` has been done: all inputs are given up that have not come and are as late as
/// they may be.
static void give_up(const struct storm_match *match, struct storm_slots *slots,
                    struct player *player) {
    for (hc_tick t = first_of(match, slots->head); t + player->late_limit <= slots->head; t++)
        if (t > player->joined && player->kinds[t] == HC_SLOT_UNKNOWN) {
            player->kinds[t] = HC_SLOT_FORCED;
            slots->forced++;
        }
}

/// The tick `head` has been done: what is too late is given up, who leaves is not waited for.
static void pass(struct storm_match *match, struct storm_slots *slots, hc_player p,
                 const struct hc_timeline *timeline) {
    struct player *player = &slots->players[p];
    hc_tick head = slots->head;
    enum hc_roster roster_change = hc_timeline_roster(timeline, p, head);
    if (roster_change == HC_ROSTER_JOIN) {
        player->in = true;
        player->joined = head;
    }
    player->in = player->in && roster_change != HC_ROSTER_LEAVE;
    // Everything up to the join counts as known.
    if (player->in)
        give_up(match, slots, player);
    if (roster_change == HC_ROSTER_NONE)
        return;
    memset(player->kinds + head + 1, HC_SLOT_UNKNOWN, TICKS - head - 1);
    for (hc_tick t = first_of(match, head + 1); t <= head; t++)
        player->kinds[t] = (uint8_t)hc_timeline_slot(timeline, p, t);
}

void storm_slots_ticked(struct storm_match *match) {
    struct storm_slots *slots = match->slots;
    const struct hc_timeline *timeline = hc_sv_host_timeline(hc_sim_host(match->sim));
    hc_tick head = hc_timeline_head(timeline);
    if (slots == NULL || slots->lost)
        return;
    // Joins and leaves of ticks that have left the window already cannot be seen.
    slots->lost = head - slots->head > (uint32_t)storm_match_get(match, STORM_history) ||
                  last_of(match, head) == TICKS - 1;
    find_refusals(match, slots);
    for (; !slots->lost && slots->head < head; slots->head++)
        for (hc_player p = 0; p < slots->count; p++)
            pass(match, slots, p, timeline);
    if (!slots->lost)
        compare(match, slots);
}

// ---- What is delivered --------------------------------------------------------------------------

static struct sender *sender_of(struct storm_match *match, const struct storm_conn *conn) {
    struct sender **sender = &match->slots->senders[conn - match->conns.conns];
    if (*sender == NULL && (*sender = calloc(1, sizeof **sender)) != NULL) {
        (*sender)->conn = conn;
        (*sender)->told_head = HC_NO_TICK;
    }
    return *sender;
}

void storm_slots_stamped(struct storm_match *match, const struct storm_conn *conn, uint32_t seq,
                         hc_tick first, uint32_t count) {
    if (match->slots == NULL)
        return;
    struct sender *sender = sender_of(match, conn);
    if (sender == NULL)
        return;
    sender->runs[seq % RUNS] = (struct run){.seq = seq, .first = first, .count = count};
    sender->sent += (uint64_t)count * conn->player_count;
}

/// An input came at head `before`: too early, too late, or for a slot that had been closed. The
/// same one is counted once, but each time that it comes too early. One for a tick up to its
/// player's join counts as known whenever it comes; players of one client may join at different
/// ticks.
static void settle(struct storm_match *match, struct sender *sender, unsigned own, hc_tick tick) {
    struct storm_slots *slots = match->slots;
    const struct player *player = &slots->players[sender->conn->players[own]];
    uint8_t *fate = &sender->fates[own][tick];
    bool forced = player->kinds[tick] == HC_SLOT_FORCED;
    if (*fate == SETTLED || tick <= player->joined)
        return;
    if (*fate == UNSURE)
        slots->unsure++;
    else if (tick > slots->before + (uint32_t)storm_match_get(match, STORM_future))
        slots->refused++;
    else if (tick < first_of(match, slots->before) ||
             (forced && tick + sender->conn->late_limit_before < slots->before))
        slots->refused++;
    else if (forced && tick + sender->conn->late_limit < slots->before)
        slots->unsure++; // it depends on the round trips known when it came
    else
        slots->lost_inputs += forced;
    if (tick <= slots->before + (uint32_t)storm_match_get(match, STORM_future))
        *fate = SETTLED;
}

/// A DATA has been taken, at head `before` if it is `dated`, or may have been.
static void take(struct storm_match *match, struct sender *sender, uint32_t seq, bool dated) {
    const struct run *run = &sender->runs[seq % RUNS];
    unsigned players = sender->conn->player_count;
    if (run->seq != seq)
        return;
    sender->settled += dated ? (uint64_t)run->count * players : 0;
    for (hc_tick t = run->first; t < run->first + run->count && t < TICKS; t++)
        for (unsigned own = 0; own < players; own++)
            if (dated)
                settle(match, sender, own, t);
            else if (sender->fates[own][t] == OPEN)
                sender->fates[own][t] = UNSURE;
}

void storm_slots_host_sent(struct storm_match *match, unsigned client, const uint8_t *bytes,
                           size_t size) {
    struct storm_slots *slots = match->slots;
    struct hc_data data;
    if (slots == NULL || slots->lost || hc_datagram_get_data(bytes, size, &data) != HC_OK ||
        data.ack >= STORM_SEQS)
        return;
    const struct storm_conn *conn = storm_conns_find(&match->conns, client, data.cid);
    struct sender *sender = conn != NULL && conn->honest ? sender_of(match, conn) : NULL;
    if (sender == NULL)
        return;
    // Only what has come between two ticks has come at a head that is known.
    bool dated = sender->told_head == slots->before && slots->head == slots->before + 1;
    sender->told_head = slots->head;
    for (; sender->swept + HC_ACKS_MAX <= data.ack; sender->swept++) // acks do not reach so far
        if (sender->heard[sender->swept] == 0)
            take(match, sender, sender->swept, false);
    for (uint32_t i = 0; i < HC_ACKS_MAX && i < data.ack; i++) {
        uint32_t seq = data.ack - i;
        if ((i > 0 && (data.ack_bits >> (i - 1) & 1) == 0) || sender->heard[seq] != 0)
            continue;
        sender->heard[seq] = 1;
        take(match, sender, seq, dated);
    }
}

void storm_slots_end(struct storm_match *match) {
    const struct hc_sv_host_stats *stats = hc_sv_host_stats(hc_sim_host(match->sim));
    const struct storm_slots *slots = match->slots;
    uint64_t open = slots != NULL ? slots->unsure : 0;
    if (slots == NULL || slots->lost || storm_match_get(match, STORM_hostile) > 0)
        return;
    for (unsigned i = 0; i < STORM_CONNS_MAX; i++)
        if (slots->senders[i] != NULL)
            open += slots->senders[i]->sent - slots->senders[i]->settled;
    if (stats->inputs_refused < slots->refused || stats->inputs_refused > slots->refused + open ||
        stats->inputs_lost < slots->lost_inputs || stats->inputs_lost > slots->lost_inputs + open)
        storm_fail(match->verdict, STORM_WRONG, "counters", slots->head,
                   "the server counts %lu inputs refused and %lu lost, there were %lu and %lu, and "
                   "%lu of which nothing is known",
                   (unsigned long)stats->inputs_refused, (unsigned long)stats->inputs_lost,
                   (unsigned long)slots->refused, (unsigned long)slots->lost_inputs,
                   (unsigned long)open);
}
