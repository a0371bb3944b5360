/// The lists of events of open ticks: which the client lacks, and whether they fit.
#include "server/replication/early.h"

#include "common/mark.h"
#include "common/mix.h"
#include "hindcast/check.h"
#include "proto/game_events.h"
#include "server/replication/builder.h"

#include <string.h>

enum {
    ROOM_SHARE = 8, ///< the lists take at most this part of a snapshot's room
    TICK_BITS = 12, ///< bits of a tick beside its events, at most
};

void hc_sv_early_clear(struct hc_sv_early *early) {
    for (unsigned i = 0; i < HC_SV_EARLY_TICKS; i++)
        early->ticks[i].tick = HC_NO_TICK;
}

/// Leaves out the events of units that were out of view at the tick, which a rewind has changed
/// since it was shown.
static void leave_unseen(const struct hc_sv_builder *builder, hc_tick tick,
                         struct hc_sv_seen_events *seen) {
    const struct hc_sv_client *client = builder->client;
    struct hc_sv_interest_sight sight;
    uint32_t kept = 0;
    if (tick == builder->header.tick || seen->count == 0)
        return; // the look has found what is in view
    hc_sv_interest_sight_at(&client->interest, builder->timeline, tick, client->own,
                            client->own_count, &sight);
    for (uint32_t i = 0; i < seen->count; i++) {
        if (!seen->own[i] && !hc_sv_interest_in_view(&sight, seen->events[i].unit)) {
            HC_MARK("early-event-out-of-view");
            continue;
        }
        seen->own[kept] = seen->own[i];
        seen->events[kept++] = seen->events[i];
    }
    seen->count = kept;
}

static uint64_t hash_of(const struct hc_sv_event *events, uint32_t count) {
    uint64_t hash = 0;
    for (uint32_t i = 0; i < count; i++)
        hash = hc_mix(hash + 1, (uint64_t)events[i].entity << 32 | events[i].event);
    return hash;
}

/// The tick's entry. A new one says that the client was sent nothing, and that there is nothing.
static struct hc_sv_early_tick *entry_of(struct hc_sv_early *early, hc_tick tick) {
    struct hc_sv_early_tick *entry = &early->ticks[tick % HC_SV_EARLY_TICKS];
    if (entry->tick != tick)
        *entry = (struct hc_sv_early_tick){.tick = tick, .held = true};
    return entry;
}

/// Notes whether the list was acked, and forgets the evicted places.
static void settle(struct hc_sv_early_tick *entry, const struct hc_sv_sent_log *log,
                   hc_sv_places gone) {
    entry->held |= (entry->carried & log->acked) != 0;
    entry->carried &= ~gone;
}

/// Whether the snapshot need not carry the newest list of a tick. It shows one of the ticks.
static bool has(const struct hc_sv_builder *builder, const struct hc_sv_early_tick *entry) {
    const struct hc_sv_sent_log *log = &builder->client->sent_log;
    return entry->held ||
           (entry->tick != builder->header.tick && (entry->carried & ~log->lost) != 0);
}

/// Adds the events of a tick to the gathered ones, as the newest list of the entry; false: they do
/// not fit.
static bool gather_tick(struct hc_sv_builder *builder, struct hc_sv_early_tick *entry) {
    struct hc_sv_early_gathered *gathered = &builder->early;
    struct hc_sv_open_events *open = &builder->replicator->open_events;
    const struct hc_sv_open_tick *at = hc_sv_open_events_at(open, builder->timeline, entry->tick);
    uint32_t used = gathered->count == 0 ? 0 : gathered->ends[gathered->count - 1];
    struct hc_sv_seen_events seen;
    seen.events = gathered->events + used;
    seen.room = HC_SV_LISTING_EVENTS - builder->listing.used - used;
    hc_sv_seen_events_find(&open->ring, at->first, at->end, &builder->client->interest.view,
                           entry->tick, &seen);
    if (seen.count == seen.room)
        return false;
    leave_unseen(builder, entry->tick, &seen);
    uint32_t count = hc_sv_seen_events_cut(builder->world, &seen), bits = TICK_BITS;
    uint64_t hash = hash_of(seen.events, count);
    entry->version = at->version;
    if (entry->hash != hash)
        *entry = (struct hc_sv_early_tick){.tick = at->tick, .version = at->version, .hash = hash};
    if (has(builder, entry))
        return true;
    for (uint32_t i = 0; i < count; i++)
        bits += hc_game_events_bits(builder->world, hc_game_event_kind(seen.events[i].event));
    if (gathered->bits + bits > builder->room * 8 / ROOM_SHARE)
        return false;
    gathered->bits += bits;
    gathered->ticks[gathered->count] = at->tick;
    gathered->ends[gathered->count++] = (uint16_t)(used + count);
    return true;
}

void hc_sv_early_gather(struct hc_sv_builder *builder, hc_sv_places gone) {
    hc_tick tick = builder->header.tick, through = builder->client->listing.through;
    builder->early.count = builder->early.bits = 0;
    if (builder->replicator->open_events.ring.capacity == 0)
        return;
    through = hc_tick_max(through, hc_tick_back(tick, HC_SV_EARLY_TICKS));
    bool full = false;
    for (hc_tick t = tick; t > through; t--) {
        uint64_t version = hc_timeline_events_changed(builder->timeline, t);
        if (version == 0)
            continue; // the tick never had an event
        struct hc_sv_early_tick *entry = entry_of(&builder->client->early, t);
        settle(entry, &builder->client->sent_log, gone);
        if (!full && (entry->version != version || !has(builder, entry)))
            full = !gather_tick(builder, entry);
    }
    if (full)
        HC_MARK("early-lists-cut");
}

uint32_t hc_sv_early_reserve(const struct hc_sv_builder *builder) {
    return (builder->early.bits + 7) / 8;
}

void hc_sv_early_put(struct hc_sv_builder *builder) {
    const struct hc_sv_early_gathered *gathered = &builder->early;
    hc_tick before = builder->header.tick + 1;
    uint32_t at = 0;
    for (uint32_t i = 0; i < gathered->count; i++) {
        hc_tick tick = gathered->ticks[i];
        hc_game_events_put_early(&builder->bits, before, tick);
        for (; at < gathered->ends[i]; at++)
            hc_game_events_put_event(&builder->bits, builder->world, gathered->events[at].entity,
                                     gathered->events[at].event);
        hc_game_events_put_end(&builder->bits);
        entry_of(&builder->client->early, tick)->carried |= UINT64_C(1)
                                                            << builder->client->sent_log.newest;
        before = tick;
    }
}
