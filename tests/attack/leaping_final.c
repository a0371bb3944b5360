/// A player that holds its inputs back for long and then sends them: the final tick stands still,
/// and then leaps. What game events do the others learn?
#include "tests/attack/attack.h"
#include "tests/sim/event_record.h"
#include "tests/sim/loud_arena.h"
#include "tests/sim/players.h"

#include "hindcast/check.h"

#include <stdlib.h>

enum {
    CLIENTS = 6,
    HOLDER = CLIENTS - 1,
    LEAPS = 3,
    HELD_MS = 7000, ///< for so long it sends nothing; less than the timeout
    PLAY_MS = 2000,
    SETTLE_MS = 3000,
    LEAP_MIN = 255,     ///< ticks
    EVENTS_MAX = 40000, ///< events that happen at most
};

/// The events of the match, and those that each client was told.
struct match {
    struct hc_sim *sim;
    struct hc_server_game_event happened[EVENTS_MAX];
    uint32_t count;
    bool own[EVENTS_MAX][CLIENTS]; ///< of those that happened: the client's player emits it
    struct hc_event_record clients[CLIENTS];
    hc_tick begun[CLIENTS]; ///< of the client's first snapshot; HC_NO_TICK: none yet
    const char *fault;      ///< of an event that a client was told wrongly; NULL: none
    hc_tick final;
    unsigned leaps;
};

static void host_ticked(void *context, struct hc_sim *sim) {
    struct match *match = context;
    const struct hc_world *world = hc_server_world(hc_sim_host(sim));
    hc_tick final = hc_sv_host_final(hc_sim_host(sim), NULL);
    struct hc_server_game_event event;
    match->leaps += final - match->final >= LEAP_MIN;
    match->final = final;
    while (match->count < EVENTS_MAX && hc_server_next_game_event(hc_sim_host(sim), &event)) {
        for (unsigned i = 0; i < CLIENTS; i++)
            match->own[match->count][i] =
                world->owner_of[event.entity] == hc_client_player(hc_sim_client(sim, i), 0);
        match->happened[match->count++] = event;
    }
}

static void client_changed(void *context, struct hc_sim *sim, unsigned client) {
    struct match *match = context;
    struct hc_client_game_event event;
    hc_tick shown, as_of;
    while (hc_client_next_game_event(hc_sim_client(sim, client), hc_sim_client_now(sim, client),
                                     &event)) {
        const char *fault = hc_event_record_note(&match->clients[client], &event, false);
        match->fault = match->fault == NULL ? fault : match->fault;
    }
    if (match->begun[client] == HC_NO_TICK &&
        hc_client_snapshot(hc_sim_client(sim, client), &shown, &as_of))
        match->begun[client] = shown;
}

/// Sets the link up of the player that holds its inputs back, or that lets them go.
static void hold(struct match *match, bool holds) {
    struct hc_network_sim_config up = hc_sim_config(match->sim)->up;
    up.loss_ppm = holds ? HC_NETWORK_SIM_PPM : 0;
    hc_sim_set_link(match->sim, HOLDER, &up, NULL);
}

/// Plays a match of `game`.
static struct match *play(struct attack *attack, const struct hc_game *game) {
    struct match *match = calloc(1, sizeof *match);
    HC_ASSERT(match != NULL);
    struct hc_sim_config config = hc_sim_config_players(game, CLIENTS, 60, 5);
    config.host.history = HC_HISTORY_MAX;
    config.host.late_margin = HC_HISTORY_MAX;
    config.up.jitter_us = config.down.jitter_us = 20 * MS_US;
    config.client.prediction_limit = HC_PREDICTION_LIMIT_MAX;
    config.hooks.host_ticked = host_ticked;
    config.hooks.client_changed = client_changed;
    config.context = match;
    for (unsigned i = 0; i < CLIENTS; i++)
        match->begun[i] = HC_NO_TICK;
    match->sim = hc_sim_create(&config);
    HC_ASSERT(match->sim != NULL);
    bool connected = hc_sim_connect_all(match->sim);
    HC_ASSERT(connected);
    for (unsigned i = 0; i < LEAPS; i++) {
        hc_sim_run(match->sim, (uint64_t)PLAY_MS * MS_US);
        hold(match, true);
        hc_sim_run(match->sim, (uint64_t)HELD_MS * MS_US);
        hold(match, false);
    }
    hc_sim_run(match->sim, (uint64_t)PLAY_MS * MS_US);
    hc_sim_release_keys(match->sim);
    hc_sim_run(match->sim, (uint64_t)SETTLE_MS * MS_US);
    for (unsigned i = 0; i < CLIENTS; i++)
        attack_require(attack, hc_client_state(hc_sim_client(match->sim, i)) == HC_CLIENT_PLAYING,
                       "client %u does not play", i);
    attack_require(attack, match->leaps == LEAPS, "the final tick leaps %u times", match->leaps);
    attack_require(attack, match->fault == NULL, "an event is %s", match->fault);
    attack_require(attack, match->count < EVENTS_MAX, "too many events happen");
    return match;
}

static void end(struct match *match) {
    for (unsigned i = 0; i < CLIENTS; i++)
        hc_event_record_free(&match->clients[i]);
    hc_sim_destroy(match->sim);
    free(match);
}

/// Whether the client has not been told in the end that an event of its time happened.
static bool lacks(const struct match *match, unsigned client, uint32_t i) {
    const struct hc_server_game_event *event = &match->happened[i];
    uint8_t flags = hc_event_record_get(&match->clients[client], event->tick, event->entity,
                                        event->kind, event->number);
    return event->tick > match->begun[client] && flags != HC_EVENT_LATE &&
           flags != (HC_EVENT_PREDICTED | HC_EVENT_CONFIRMED);
}

void attack_leaping_final(struct attack *attack) {
    struct hc_loud_arena loud;
    hc_loud_arena_init(&loud, 0); // nobody shouts
    struct match *match = play(attack, &loud.game);
    uint64_t left_out = hc_server_stats(hc_sim_host(match->sim))->game_events_left_out;
    for (unsigned client = 0; client < CLIENTS; client++)
        for (uint32_t i = 0; i < match->count; i++)
            attack_try(attack, lacks(match, client, i));
    attack_require(attack, left_out == 0, "%llu events are left out", (unsigned long long)left_out);
    attack_effect(attack, "%u leaps of the final tick and %u events", match->leaps, match->count);
    end(match);

    hc_loud_arena_init(&loud, HC_NO_TICK);
    match = play(attack, &loud.game);
    left_out = hc_server_stats(hc_sim_host(match->sim))->game_events_left_out;
    uint64_t lacking = 0;
    for (unsigned client = 0; client < CLIENTS; client++)
        for (uint32_t i = 0; i < match->count; i++) {
            bool lacked = lacks(match, client, i);
            lacking += lacked;
            if (match->own[i][client])
                attack_try(attack, lacked);
        }
    attack_require(attack, left_out >= 1000, "only %llu events are left out",
                   (unsigned long long)left_out);
    attack_require(attack, lacking == left_out, "%llu events are left out, and %llu counted",
                   (unsigned long long)lacking, (unsigned long long)left_out);
    attack_effect(attack, "; with shouts %llu are left out and counted",
                  (unsigned long long)left_out);
    end(match);
    attack_require_none(attack, 5000);
}
