/// The runs of final ticks whose game events snapshots list for a client.
#include "server/replication/listing.h"

#include "common/mark.h"
#include "hindcast/check.h"
#include "proto/game_events.h"
#include "server/replication/builder.h"

enum { WORDS = HC_GAME_EVENTS_TICKS / 64 };

static void clear_bit(uint64_t bits[static WORDS], hc_tick tick) {
    bits[tick % HC_GAME_EVENTS_TICKS / 64] &= ~(UINT64_C(1) << tick % 64);
}

static bool has_bit(const uint64_t bits[static WORDS], hc_tick tick) {
    return (bits[tick % HC_GAME_EVENTS_TICKS / 64] >> tick % 64 & 1) != 0;
}

void hc_sv_listing_clear(struct hc_sv_listing *listing) {
    listing->from = HC_NO_TICK;
    listing->counted = 0;
    listing->carried = 0;
}

/// Notes the units that have events at `tick` and are out of view there, by its final states.
static void check_view(struct hc_sv_replicator *replicator, struct hc_sv_client *client,
                       hc_tick tick) {
    const struct hc_sv_final_events *finals = &replicator->final_events;
    const struct hc_sv_view *view = &client->interest.view;
    uint64_t number = hc_sv_final_events_first(finals, tick),
             end = hc_sv_final_events_end(finals, tick);
    if (number == end)
        return;
    HC_ASSERT(tick >= hc_timeline_oldest(replicator->config.timeline)); // see keep_up
    struct hc_sv_interest_sight sight;
    hc_sv_interest_sight_at(&client->interest, replicator->config.timeline, tick, client->own,
                            client->own_count, &sight);
    struct hc_sv_slot *slot = hc_sv_view_slot(view, view->first);
    while (slot != NULL && number < end && !sight.everything) {
        hc_unit unit = hc_sv_event_ring_at(&finals->ring, number)->unit;
        if (unit == slot->unit && hc_sv_slot_saw(slot, tick) &&
            !hc_sv_interest_in_view(&sight, unit)) {
            HC_MARK("event-out-of-view");
            if (hc_sv_slot_sees(slot) && slot->since <= tick)
                hc_sv_slot_out_of_view(slot, tick + 1);
            hc_sv_slot_cut(slot, tick);
        }
        if (unit <= slot->unit)
            number++;
        else
            slot = hc_sv_view_slot(view, slot->next);
    }
}

void hc_sv_listing_look(struct hc_sv_replicator *replicator, struct hc_sv_client *client) {
    const struct hc_sv_final_events *finals = &replicator->final_events;
    struct hc_sv_listing *listing = &client->listing;
    if (finals->ring.capacity == 0)
        return;
    if (listing->from == HC_NO_TICK) { // the client's world begins with the tick shown
        listing->from = client->shown + 1;
        listing->through = client->shown;
    }
    for (; listing->through < finals->final; listing->through++) {
        hc_tick tick = listing->through + 1;
        clear_bit(listing->acked, tick);
        if (tick >= finals->first)
            check_view(replicator, client, tick);
    }
}

void hc_sv_listing_keep_up(struct hc_sv_replicator *replicator, struct hc_sv_client *client) {
    const struct hc_sv_listing *listing = &client->listing;
    if (listing->from != HC_NO_TICK && listing->through < replicator->final_events.final &&
        listing->through < hc_timeline_oldest(replicator->config.timeline)) {
        HC_MARK("events-looked-at-between-snapshots");
        hc_sv_listing_look(replicator, client);
    }
}

/// Adds the run of ticks that the snapshot at a place carried, as far as the bits have them.
static void add_run(const struct hc_sv_listing *listing, unsigned place,
                    uint64_t bits[static WORDS]) {
    hc_tick first = listing->first[place], end = first + listing->count[place];
    for (hc_tick t = hc_tick_max(first, hc_tick_back(listing->through + 1, HC_GAME_EVENTS_TICKS));
         t < end; t++)
        bits[t % HC_GAME_EVENTS_TICKS / 64] |= UINT64_C(1) << t % 64;
}

/// Notes the runs that were acked, forgets those of the evicted places, and writes the ticks that
/// the client has received, or is about to receive, to `listed`.
static void settle(struct hc_sv_client *client, hc_sv_places gone, uint64_t listed[static WORDS]) {
    const struct hc_sv_sent_log *log = &client->sent_log;
    struct hc_sv_listing *listing = &client->listing;
    hc_sv_places acked = listing->carried & log->acked;
    listing->carried &= ~(acked | gone);
    for (; acked != 0; acked &= acked - 1)
        add_run(listing, (unsigned)__builtin_ctzll(acked), listing->acked);
    for (unsigned i = 0; i < WORDS; i++)
        listed[i] = listing->acked[i];
    for (hc_sv_places left = listing->carried & ~log->lost; left != 0; left &= left - 1)
        add_run(listing, (unsigned)__builtin_ctzll(left), listed);
}

/// Finds the events of a tick that the client sees.
static void find_seen(const struct hc_sv_builder *builder, hc_tick tick,
                      struct hc_sv_seen_events *seen) {
    const struct hc_sv_final_events *finals = &builder->replicator->final_events;
    hc_sv_seen_events_find(&finals->ring, hc_sv_final_events_first(finals, tick),
                           hc_sv_final_events_end(finals, tick), &builder->client->interest.view,
                           tick, seen);
}

/// Adds the events of a tick to the gathered ones; false: there is no room for the tick.
static bool gather_tick(struct hc_sv_builder *builder, hc_tick tick) {
    struct hc_sv_listing_gathered *gathered = &builder->listing;
    struct hc_sv_seen_events seen;
    seen.events = gathered->events + gathered->used;
    seen.room = HC_SV_LISTING_EVENTS - gathered->used;
    find_seen(builder, tick, &seen);
    if (seen.count == seen.room && gathered->used > 0)
        return false;
    uint32_t kept = hc_sv_seen_events_cut(builder->world, &seen);
    gathered->left_out[gathered->count] = (uint16_t)(seen.count - kept);
    gathered->used += kept;
    return true;
}

/// Counts the events of a tick that is listed no more, without those that were counted when it was
/// listed: those that the client sees, or all, if they are gone.
static uint32_t count_dropped(struct hc_sv_builder *builder, hc_tick tick) {
    const struct hc_sv_final_events *finals = &builder->replicator->final_events;
    struct hc_sv_seen_events seen = {.events = builder->listing.events,
                                     .room = HC_SV_LISTING_EVENTS};
    if (tick + HC_GAME_EVENTS_TICKS <= finals->final + 1)
        return 0; // nothing is known of it
    if (hc_sv_final_events_first(finals, tick) < hc_sv_event_ring_oldest(&finals->ring))
        return (uint32_t)(hc_sv_final_events_end(finals, tick) -
                          hc_sv_final_events_first(finals, tick));
    find_seen(builder, tick, &seen);
    return tick < builder->client->listing.counted ? hc_sv_seen_events_cut(builder->world, &seen)
                                                   : seen.count;
}

/// Gives up the ticks before the first tick whose events are all there that the client has not
/// received.
static void drop_old(struct hc_sv_builder *builder, const uint64_t listed[static WORDS]) {
    struct hc_sv_listing *listing = &builder->client->listing;
    hc_tick first = hc_tick_min(builder->replicator->final_events.first, listing->through + 1);
    for (; listing->from < first; listing->from++)
        if (!has_bit(listed, listing->from))
            builder->stats->game_events_left_out += count_dropped(builder, listing->from);
}

void hc_sv_listing_gather(struct hc_sv_builder *builder, hc_sv_places gone) {
    const struct hc_sv_final_events *finals = &builder->replicator->final_events;
    struct hc_sv_listing *listing = &builder->client->listing;
    uint64_t listed[WORDS];
    builder->listing.count = builder->listing.used = 0;
    if (finals->ring.capacity == 0)
        return;
    settle(builder->client, gone, listed);
    drop_old(builder, listed);
    listing->from = hc_tick_max(listing->from, finals->first);
    while (listing->from <= listing->through && has_bit(listing->acked, listing->from))
        listing->from++;
    hc_tick tick = listing->from;
    while (tick <= listing->through && has_bit(listed, tick))
        tick++;
    builder->listing.first = tick;
    for (; tick <= listing->through && !has_bit(listed, tick); tick++) {
        if (!gather_tick(builder, tick))
            return;
        builder->listing.ends[builder->listing.count++] = (uint16_t)builder->listing.used;
    }
}

/// The bits of the gathered events in [first, end).
static uint32_t bits_of(const struct hc_sv_builder *builder, uint32_t first, uint32_t end) {
    uint32_t bits = 1;
    for (uint32_t i = first; i < end; i++)
        bits += hc_game_events_bits(builder->world,
                                    hc_game_event_kind(builder->listing.events[i].event));
    return bits;
}

/// How many of the gathered ticks fit beside the lists, into three quarters of the room.
static uint32_t fitting(const struct hc_sv_builder *builder) {
    enum { HEADER = 24 };
    const struct hc_sv_listing_gathered *gathered = &builder->listing;
    size_t bits = hc_bits_written(&builder->bits) + HEADER, room = builder->room * 8 * 3 / 4;
    uint32_t count = 0, end = 0;
    for (; count < gathered->count; end = gathered->ends[count++]) {
        bits += bits_of(builder, end, gathered->ends[count]);
        if (bits > room)
            break;
    }
    return count;
}

/// Counts the events that ticks leave out when these are put for the first time. Lost ones are put
/// again; ticks that never were come in ascending order.
static void count_left_out(struct hc_sv_builder *builder, uint32_t count) {
    struct hc_sv_listing *listing = &builder->client->listing;
    for (uint32_t i = 0; i < count; i++) {
        hc_tick tick = builder->listing.first + i;
        if (tick < listing->counted)
            continue;
        builder->stats->game_events_left_out += builder->listing.left_out[i];
        listing->counted = tick + 1;
    }
}

void hc_sv_listing_put(struct hc_sv_builder *builder) {
    const struct hc_sv_listing_gathered *gathered = &builder->listing;
    struct hc_sv_listing *listing = &builder->client->listing;
    unsigned place = builder->client->sent_log.newest;
    uint32_t count, at = 0;
    if (builder->replicator->final_events.ring.capacity == 0)
        return;
    count = fitting(builder);
    listing->first[place] = gathered->first;
    listing->count[place] = (uint16_t)count;
    count_left_out(builder, count);
    listing->carried &= ~(UINT64_C(1) << place);
    listing->carried |= (hc_sv_places)(count > 0) << place;
    if (count == 0) {
        hc_game_events_put_end(&builder->bits);
        return;
    }
    hc_game_events_put(&builder->bits, builder->header.final, gathered->first + count - 1, count);
    for (uint32_t i = 0; i < count; i++) {
        for (; at < gathered->ends[i]; at++)
            hc_game_events_put_event(&builder->bits, builder->world, gathered->events[at].entity,
                                     gathered->events[at].event);
        hc_game_events_put_end(&builder->bits);
    }
}
