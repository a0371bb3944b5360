/// Checks that each client shows each game event exactly once: what happened is confirmed, or shown
/// late, and what did not is cancelled. It reads the events of both ends.
#include "client/client.h"
#include "server/state.h"
#include "tests/sim/event_record.h"
#include "tests/storm/checkers/checker.h"
#include "tests/storm/checkers/truth.h"

#include <stdlib.h>

enum { LISTED_WORDS = HC_GAME_EVENTS_TICKS / 64, UNLISTED_TICKS = 192 };

/// A client's connection.
struct seat {
    struct hc_event_record record;
    bool any;      ///< a snapshot came
    hc_tick begun; ///< the tick that it showed
    uint64_t listed[LISTED_WORDS];
    hc_tick through;
};

struct game_events {
    struct hc_event_record happened;
    struct hc_server_game_event *events; ///< in the order of ticks
    uint32_t count, capacity;
    struct seat seats[STORM_CLIENTS_MAX];
};

static void wrong(struct storm_match *match, unsigned client, hc_tick tick, hc_entity entity,
                  uint8_t kind, uint32_t number, const char *what) {
    storm_fail(match->verdict, STORM_WRONG, "game-events", tick,
               "client %u: event %u (%u) of entity %u at tick %u is %s", client, kind, number,
               entity, tick, what);
}

// ---- The server ---------------------------------------------------------------------------------

static void host_ticked(struct storm_match *match, void *state) {
    struct game_events *all = state;
    struct hc_server_game_event event;
    while (hc_server_next_game_event(hc_sim_host(match->sim), &event)) {
        if (hc_event_record_get(&all->happened, event.tick, event.entity, event.kind,
                                event.number) != 0)
            wrong(match, 0, event.tick, event.entity, event.kind, event.number,
                  "final twice on the server");
        HC_ASSERT(hc_event_record_add(&all->happened, event.tick, event.entity, event.kind,
                                      event.number, HC_EVENT_HAPPENED));
        if (all->count == all->capacity) {
            all->capacity = all->capacity == 0 ? 1024 : all->capacity * 2;
            all->events = realloc(all->events, all->capacity * sizeof *all->events);
            HC_ASSERT(all->events != NULL);
        }
        all->events[all->count++] = event;
    }
}

// ---- The clients --------------------------------------------------------------------------------

static bool is_listed(const uint64_t listed[LISTED_WORDS], hc_tick tick) {
    return (listed[tick % HC_GAME_EVENTS_TICKS / 64] >> tick % 64 & 1) != 0;
}

/// Whether the client receives all events of the entity: it is its own, or it sees everything.
static bool sees_all_of(const struct storm_match *match, const struct hc_client *core,
                        hc_entity entity) {
    const struct hc_world *world = hc_client_world(core);
    if (core->link.welcome.own_count == 0 || (world->game->view == 0 && world->game->hides == NULL))
        return hc_server_stats(hc_sim_host(match->sim))->game_events_left_out == 0;
    for (unsigned i = 0; i < core->link.welcome.own_count; i++)
        if (world->owner_of[entity] == core->link.welcome.own[i])
            return true;
    return false;
}

/// Takes the events that the client shows its game.
static void take_shown(struct storm_match *match, struct game_events *all, unsigned client,
                       struct hc_client *core) {
    struct seat *seat = &all->seats[client];
    struct hc_client_game_event event;
    bool again = hc_client_stats(core)->losses > 0;
    while (hc_client_next_game_event(core, hc_sim_client_now(match->sim, client), &event)) {
        if (match->seats[client].hostile)
            continue;
        const char *fault = hc_event_record_note(&seat->record, &event, again);
        if (hc_client_stats(core)->game_events_unread > 0)
            continue; // the one before of this event may have been dropped unread
        bool happened = hc_event_record_get(&all->happened, event.tick, event.entity, event.kind,
                                            event.number) != 0;
        bool waits = hc_client_world(core)->game->event_kinds[event.kind].final_only;
        if (fault == NULL && waits && event.state != HC_CLIENT_GAME_EVENT_LATE)
            fault = "of a kind that waits for the final tick";
        if (fault == NULL && !happened &&
            (event.state == HC_CLIENT_GAME_EVENT_LATE ||
             event.state == HC_CLIENT_GAME_EVENT_CONFIRMED))
            fault = "listed, and did not happen";
        if (fault != NULL)
            wrong(match, client, event.tick, event.entity, event.kind, event.number, fault);
    }
}

/// Checks that all events of a tick that was listed for the client are shown and not taken back.
static void check_listed(struct storm_match *match, struct game_events *all, unsigned client,
                         const struct hc_client *core, hc_tick tick) {
    uint32_t low = 0, high = all->count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (all->events[middle].tick < tick)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < all->count && all->events[low].tick == tick; low++) {
        const struct hc_server_game_event *event = &all->events[low];
        uint8_t flags = hc_event_record_get(&all->seats[client].record, tick, event->entity,
                                            event->kind, event->number);
        if (sees_all_of(match, core, event->entity) &&
            (flags & (HC_EVENT_LATE | HC_EVENT_CONFIRMED)) == 0)
            wrong(match, client, tick, event->entity, event->kind, event->number,
                  flags == 0                          ? "not shown, although it happened"
                  : (flags & HC_EVENT_CANCELLED) != 0 ? "cancelled, although it happened"
                                                      : "not confirmed");
    }
}

static void client_changed(struct storm_match *match, void *state, unsigned client) {
    struct game_events *all = state;
    struct seat *seat = &all->seats[client];
    struct hc_client *core = hc_sim_client(match->sim, client);
    host_ticked(match, state);
    take_shown(match, all, client, core);
    if (match->seats[client].hostile || core->world == NULL || !core->link.newest.any)
        return;
    const struct hc_cl_game_events *events = &core->world->game_events;
    if (!events->any || hc_client_stats(core)->game_events_unread > 0)
        return;
    if (!seat->any) {
        seat->any = true;
        seat->begun = core->link.newest.snapshot.tick;
        seat->through = seat->begun;
    }
    for (hc_tick t = seat->through + 1; t <= events->through; t++)
        seat->listed[t % HC_GAME_EVENTS_TICKS / 64] &= ~(UINT64_C(1) << t % 64);
    seat->through = hc_tick_max(seat->through, events->through);
    hc_tick oldest =
        hc_tick_max(hc_tick_back(events->through, HC_GAME_EVENTS_TICKS - 1), seat->begun + 1);
    // Events of later ticks wait to be shown.
    hc_tick shown = hc_tick_min(events->shown.own.tick, events->shown.others.tick);
    for (hc_tick t = oldest; t <= hc_tick_min(events->through, shown + 1); t++) {
        if (!is_listed(events->listed, t) || is_listed(seat->listed, t))
            continue;
        seat->listed[t % HC_GAME_EVENTS_TICKS / 64] |= UINT64_C(1) << t % 64;
        check_listed(match, all, client, core, t);
    }
}

static void forget_connection(struct storm_match *match, void *state, unsigned client) {
    struct seat *seat = &((struct game_events *)state)->seats[client];
    (void)match;
    *seat = (struct seat){.record = seat->record};
}

static void forget(struct storm_match *match, void *state, unsigned client) {
    hc_event_record_free(&((struct game_events *)state)->seats[client].record);
    forget_connection(match, state, client);
}

/// Adds the client's counts to the outcome.
static void client_ends(struct storm_match *match, void *state, unsigned client) {
    const struct hc_event_record *record = &((struct game_events *)state)->seats[client].record;
    match->outcome->events_shown += record->shown;
    match->outcome->events_confirmed += record->confirmed;
    match->outcome->events_cancelled += record->cancelled;
    match->outcome->events_late += record->late;
}

/// At the calm every final tick that is not too new was listed.
static void calm(struct storm_match *match, void *state, enum storm_calm part) {
    struct game_events *all = state;
    for (unsigned i = 0; part == STORM_CALM_CHECK && i < match->clients; i++) {
        const struct seat *seat = &all->seats[i];
        const struct hc_client *core = hc_sim_client(match->sim, i);
        if (core == NULL || match->seats[i].hostile || !seat->any ||
            hc_client_state(core) != HC_CLIENT_PLAYING || core->config.game->event_kind_count == 0)
            continue;
        hc_tick end = hc_tick_back(seat->through, UNLISTED_TICKS);
        for (hc_tick t = hc_tick_max(hc_tick_back(seat->through, HC_GAME_EVENTS_TICKS - 16),
                                     seat->begun + 1);
             t < end; t++)
            if (!is_listed(seat->listed, t))
                storm_fail(match->verdict, STORM_STUCK, "game-events", t,
                           "tick %u was not listed for client %u, and tick %u is final", t, i,
                           seat->through);
    }
}

static void release(struct storm_match *match, void *state) {
    struct game_events *all = state;
    (void)match;
    hc_event_record_free(&all->happened);
    free(all->events);
    for (unsigned i = 0; i < STORM_CLIENTS_MAX; i++)
        hc_event_record_free(&all->seats[i].record);
}

const struct storm_checker storm_check_game_events = {.name = "game-events",
                                                      .state_size = sizeof(struct game_events),
                                                      .host_ticked = host_ticked,
                                                      .client_created = forget,
                                                      .client_reconnected = forget_connection,
                                                      .client_changed = client_changed,
                                                      .client_ends = client_ends,
                                                      .calm = calm,
                                                      .free = release};
