/// Owns the agenda of a match, and plays it.
#include "tests/storm/examples.h"
#include "tests/storm/match_internal.h"

#include "hindcast/arena.h"
#include "hindcast/check.h"
#include "tests/sim/games.h"
#include "tests/storm/checkers/truth.h"
#include "tests/storm/matches.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ACTIONS_MAX = 1024,
    ATTACKS_END = 448, ///< actions, after which no more attacks are added
    GOINGS_END = 800,  ///< actions, after which no client goes or comes any more
    PACKETS_MAX = 1024,
    LAST_PART = 30,
    SETTLED_TICKS = 20,
    SECOND_US = 1000000,
    RESTARTS_US = 400000, ///< from a server's word that it restarts until it does
    RETRIES = 4,          ///< times in the calm that those who gave up connect again
    BARRED_TICKS = 40,    ///< after which a barred user tries again
    MATCHES_TIMEOUT_MS = 3000,
    ASLEEP_US = 10000000, ///< more than all for which a clock stands still
};

enum { COUNT_SIZE = 16 }; ///< before each counted block

enum action_kind {
    CONNECT,
    GO,
    STALL,
    DARK,
    LIGHT,
    WORSE,
    BETTER,
    NARROW,
    WIDE,
    SCAN,
    SCANNED,
    ROUTE,
    SHARED_NARROW,
    SHARED_WIDE,
    JUMP,
    REBIND,
    KNOBS,
    HOST_STALL,
    SPLIT,
    JOINED,
    ATTACK,
    ANNOUNCE,
    RESTART,
    HEAL,
    LAST,
    CHECK,
    QUIET,
    SETTLED,
    RETRY,
    MATCHES,
    LEAVE,
    FILL,
    END
};

struct action {
    uint64_t at_us;
    enum action_kind kind;
    unsigned client;
};

struct agenda {
    unsigned count;
    struct action actions[ACTIONS_MAX];
};

int64_t storm_match_get(const struct storm_match *match, enum storm_match_key key) {
    return match->plan->match[key];
}

const struct hc_timeline *storm_match_timeline(const struct storm_match *match) {
    return hc_server_timeline(hc_sim_host(match->sim));
}

hc_tick storm_match_head(const struct storm_match *match) {
    return hc_timeline_head(storm_match_timeline(match));
}

bool storm_match_attacked(const struct storm_match *match) {
    return storm_match_get(match, STORM_hostile) > 0 && !match->options->tame;
}

void storm_wrong(struct storm_match *match, const char *oracle, hc_tick tick, unsigned client,
                 const char *text) {
    storm_fail(match->verdict, STORM_WRONG, oracle, tick, "client %u %s", client, text);
}

bool storm_match_sparse(const struct storm_match *match) {
    int64_t rate = storm_match_get(match, STORM_snapshot_rate);
    return rate > 0 && rate < storm_match_get(match, STORM_tick_rate);
}

int64_t storm_client_get(const struct storm_match *match, unsigned client,
                         enum storm_client_key key) {
    return match->plan->client[client][key];
}

int64_t storm_client_delay_max(const struct storm_match *match, unsigned client) {
    int64_t delay = storm_client_get(match, client, STORM_C_delay);
    int64_t most = storm_client_get(match, client, STORM_C_delay_max);
    return delay > most ? delay : most;
}

int64_t storm_client_lead_max(const struct storm_match *match, unsigned client) {
    int64_t lead = storm_client_get(match, client, STORM_C_lead);
    int64_t most = storm_client_get(match, client, STORM_C_lead_max);
    return lead > most ? lead : most;
}

uint32_t storm_client_limit(const struct storm_match *match, unsigned client) {
    int64_t limit = storm_client_get(match, client, STORM_C_limit);
    int64_t lead = storm_client_lead_max(match, client);
    return (uint32_t)(limit > lead ? limit : lead + 1);
}

// ---- The agenda ---------------------------------------------------------------------------------

static void add(struct agenda *agenda, uint64_t at_us, enum action_kind kind, unsigned client) {
    HC_ASSERT(agenda->count < ACTIONS_MAX);
    agenda->actions[agenda->count++] =
        (struct action){.at_us = at_us, .kind = kind, .client = client};
}

static int compare(const void *a, const void *b) {
    const struct action *x = a, *y = b;
    if (x->at_us != y->at_us)
        return x->at_us < y->at_us ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return x->client < y->client ? -1 : x->client > y->client;
}

static uint64_t at_tick(const struct storm_match *match, int64_t tick) {
    return (uint64_t)tick * match->tick_us;
}

/// The tick of this storm for one that was drawn.
static int64_t storm_tick(const struct storm_match *match, int64_t tick) {
    return storm_plan_tick(match->plan, tick);
}

static uint64_t storm_end_us(const struct storm_match *match) {
    return at_tick(match, storm_tick(match, storm_match_get(match, STORM_ticks)));
}

/// Adds something that lasts, unless it begins at tick 0 or after the storm.
static void add_span(const struct storm_match *match, struct agenda *agenda, unsigned client,
                     int64_t tick, int64_t ms, enum action_kind from, enum action_kind to) {
    uint64_t end_us = storm_end_us(match);
    uint64_t from_us = at_tick(match, storm_tick(match, tick)),
             to_us = from_us + (uint64_t)ms * 1000;
    if (tick == 0 || from_us >= end_us)
        return;
    add(agenda, from_us, from, client);
    if (to_us < end_us)
        add(agenda, to_us, to, client);
}

static uint64_t timeout_us(const struct storm_match *match) {
    int64_t ms = storm_match_get(match, STORM_timeout_ms);
    if (match->many != NULL && ms > MATCHES_TIMEOUT_MS)
        ms = MATCHES_TIMEOUT_MS;
    return (uint64_t)ms * 1000;
}

/// The time after a storm on a port with matches until all must be in.
static uint64_t matches_calm_us(const struct storm_match *match) {
    return storm_calm_us(match) + timeout_us(match) + RETRIES * (uint64_t)SECOND_US;
}

/// The restarts of a port with matches, and what it is checked for after the storm.
static void plan_matches(const struct storm_match *match, struct agenda *agenda) {
    int64_t restarts = storm_match_get(match, STORM_restarts);
    uint64_t keep_us = (uint64_t)storm_match_get(match, STORM_keep_ms) * 1000;
    uint64_t end_us = storm_end_us(match), check_us = end_us + matches_calm_us(match);
    for (int64_t k = 1; k <= restarts; k++) {
        uint64_t at_us = end_us * (uint64_t)k / (uint64_t)(restarts + 1);
        add(agenda, at_us, ANNOUNCE, 0);
        add(agenda, at_us + RESTARTS_US, RESTART, 0);
    }
    for (uint64_t k = 1; k <= RETRIES; k++)
        add(agenda, end_us + timeout_us(match) + k * SECOND_US, RETRY, 0);
    add(agenda, check_us, MATCHES, 0);
    add(agenda, check_us, LEAVE, 0);
    check_us += timeout_us(match) + keep_us + SECOND_US;
    add(agenda, check_us, FILL, 0);
    add(agenda, check_us + 4 * (uint64_t)SECOND_US, END, 0);
}

/// A client goes and connects again in turn until the storm is over.
static void plan_goings(const struct storm_match *match, struct agenda *agenda, unsigned i) {
    const int64_t *of = match->plan->client[i];
    int64_t ticks = storm_tick(match, storm_match_get(match, STORM_ticks));
    int64_t join = storm_tick(match, of[STORM_C_join_tick]);
    int64_t leave = storm_tick(match, of[STORM_C_leave_tick]);
    int64_t back = storm_tick(match, of[STORM_C_back_ticks]), stay = leave - join;
    add(agenda, at_tick(match, join), CONNECT, i);
    for (; stay > 0 && leave < ticks && agenda->count < GOINGS_END; leave += back + stay) {
        add(agenda, at_tick(match, leave), GO, i);
        if (back == 0 || leave + back >= ticks)
            return;
        add(agenda, at_tick(match, leave + back), CONNECT, i);
    }
}

/// A barred user tries to connect until all leave.
static void plan_tries(const struct storm_match *match, struct agenda *agenda, unsigned i) {
    uint64_t end_us = storm_end_us(match) + matches_calm_us(match);
    for (int64_t t = 1 + i; at_tick(match, t) < end_us && agenda->count < GOINGS_END;
         t += BARRED_TICKS)
        add(agenda, at_tick(match, t), CONNECT, i);
}

/// Something happens to a client again and again.
static void plan_again(const struct storm_match *match, struct agenda *agenda, unsigned i,
                       int64_t every, enum action_kind kind) {
    int64_t ticks = storm_tick(match, storm_match_get(match, STORM_ticks));
    every = storm_tick(match, every);
    for (int64_t t = every; t > 0 && t < ticks && agenda->count < GOINGS_END; t += every)
        add(agenda, at_tick(match, t), kind, i);
}

/// The client's network looks for other networks, at another moment than those of other clients.
static void plan_scans(const struct storm_match *match, struct agenda *agenda, unsigned i) {
    const int64_t *of = match->plan->client[i];
    uint64_t every_us = (uint64_t)of[STORM_C_scan_every_ms] * 1000;
    uint64_t long_us = (uint64_t)of[STORM_C_scan_ms] * 1000, end_us = storm_end_us(match);
    uint64_t at_us = every_us * (i + 1) / (2 * STORM_CLIENTS_MAX);
    for (; long_us > 0 && at_us < end_us && agenda->count < GOINGS_END; at_us += every_us) {
        add(agenda, at_us, SCAN, i);
        if (at_us + long_us < end_us)
            add(agenda, at_us + long_us, SCANNED, i);
    }
}

static void plan_client(const struct storm_match *match, struct agenda *agenda, unsigned i) {
    const int64_t *of = match->plan->client[i];
    int64_t ticks = storm_tick(match, storm_match_get(match, STORM_ticks));
    int64_t stall = storm_tick(match, of[STORM_C_stall_tick]);
    int64_t jump = storm_tick(match, of[STORM_C_jump_tick]);
    if (match->many != NULL && storm_matches_barred(match, i))
        plan_tries(match, agenda, i);
    else
        plan_goings(match, agenda, i);
    if (stall < ticks && stall > 0)
        add(agenda, at_tick(match, stall), STALL, i);
    if (jump < ticks && jump > 0)
        add(agenda, at_tick(match, jump), JUMP, i);
    plan_again(match, agenda, i, of[STORM_C_rebind_ticks], REBIND);
    plan_again(match, agenda, i, of[STORM_C_knob_ticks], KNOBS);
    add_span(match, agenda, i, of[STORM_C_dark_tick], of[STORM_C_dark_ms], DARK, LIGHT);
    add_span(match, agenda, i, of[STORM_C_worse_tick], of[STORM_C_worse_ms], WORSE, BETTER);
    add_span(match, agenda, i, of[STORM_C_dip_tick], of[STORM_C_dip_ms], NARROW, WIDE);
    int64_t route = storm_tick(match, of[STORM_C_route_tick]);
    if (route < ticks && route > 0)
        add(agenda, at_tick(match, route), ROUTE, i);
    plan_scans(match, agenda, i);
    for (int64_t t = 1; match->seats[i].hostile && !match->options->tame && t < ticks; t++)
        if (agenda->count < ATTACKS_END)
            add(agenda, at_tick(match, t) + 1, ATTACK, i);
}

static void plan_all(const struct storm_match *match, struct agenda *agenda) {
    int64_t ticks = storm_tick(match, storm_match_get(match, STORM_ticks));
    int64_t stalls = storm_match_get(match, STORM_host_stalls);
    uint64_t end_us = storm_end_us(match);
    for (int64_t k = 0; k < stalls; k++)
        add(agenda, at_tick(match, (k + 1) * ticks / (stalls + 1)), HOST_STALL, 0);
    add_span(match, agenda, 0, storm_match_get(match, STORM_split_tick),
             storm_match_get(match, STORM_split_ms), SPLIT, JOINED);
    if (storm_match_get(match, STORM_shared) != 0)
        add_span(match, agenda, 0, storm_match_get(match, STORM_shared_dip_tick),
                 storm_match_get(match, STORM_shared_dip_ms), SHARED_NARROW, SHARED_WIDE);
    for (unsigned i = 0; i < match->clients; i++)
        plan_client(match, agenda, i);
    add(agenda, end_us, HEAL, 0);
    if (match->many != NULL) {
        plan_matches(match, agenda);
        qsort(agenda->actions, agenda->count, sizeof agenda->actions[0], compare);
        return;
    }
    uint64_t calm_us = end_us + storm_calm_us(match), quiet_us = end_us;
    if (storm_match_get(match, STORM_calm_inputs) != 0)
        quiet_us = calm_us;
    uint64_t settled_us = quiet_us + storm_calm_agree_us(match);
    settled_us = settled_us > calm_us ? settled_us : calm_us;
    add(agenda, calm_us - LAST_PART * match->tick_us, LAST, 0);
    add(agenda, calm_us, CHECK, 0);
    add(agenda, quiet_us, QUIET, 0);
    add(agenda, settled_us, SETTLED, 0);
    add(agenda, settled_us + SETTLED_TICKS * match->tick_us, END, 0);
    qsort(agenda->actions, agenda->count, sizeof agenda->actions[0], compare);
}

// ---- Actions ------------------------------------------------------------------------------------

void storm_match_connect(struct storm_match *match, unsigned client) {
    struct storm_seat *seat = &match->seats[client];
    STORM_NOTE(match, "client %u begins to connect", client);
    storm_observe_ends(match, client);
    for (unsigned i = 0; i < HC_OWN_PLAYERS_MAX; i++)
        hc_thinker_init(&seat->bots[i], hc_arena_think, match->plan->seed,
                        client * HC_OWN_PLAYERS_MAX + i);
    char *name = hc_sim_setup(match->sim, client)->name;
    memset(name, 0, HC_TOKEN_NAME_SIZE);
    // Names of attackers that come and go take bytes from the snapshots of others.
    if (storm_match_get(match, STORM_names) != 0 && storm_match_get(match, STORM_tame) == 0)
        snprintf(name, HC_TOKEN_NAME_SIZE, "client %u, %u", client, seat->connects++);
    if (!hc_sim_connect(match->sim, client))
        storm_fail(match->verdict, STORM_WRONG, "connect", 0, "client %u could not be created: %s",
                   client, hc_client_config_check(&hc_sim_setup(match->sim, client)->config));
    if (match->many != NULL)
        storm_matches_connects(match, client);
    storm_observe_created(match, client);
}

static void go(struct storm_match *match, unsigned client) {
    bool crash = storm_client_get(match, client, STORM_C_crash) != 0;
    if (hc_sim_client(match->sim, client) == NULL)
        return;
    STORM_NOTE(match, "client %u %s", client, crash ? "crashes" : "says goodbye");
    if (crash) {
        storm_observe_ends(match, client);
        hc_sim_kill(match->sim, client);
    } else {
        hc_sim_leave(match->sim, client);
        storm_observe_leaves(match, client);
    }
}

/// A trouble of the client lasts until then.
static void trouble_until(struct storm_match *match, unsigned client, uint64_t until_us) {
    uint64_t *trouble_us = &match->seats[client].trouble_us;
    *trouble_us = *trouble_us > until_us ? *trouble_us : until_us;
}

static void stall(struct storm_match *match, const struct action *action) {
    bool host = action->kind == HOST_STALL;
    int64_t ms = host ? storm_match_get(match, STORM_host_stall_ms)
                      : storm_client_get(match, action->client, STORM_C_stall_ms);
    uint64_t end_us = storm_end_us(match);
    uint64_t until_us = hc_sim_now(match->sim) + (uint64_t)ms * 1000;
    until_us = until_us < end_us ? until_us : end_us;
    uint64_t gone_us = until_us - hc_sim_now(match->sim);
    for (unsigned i = 0; i < match->clients; i++)
        if (host || i == action->client)
            trouble_until(match, i, until_us);
    if (host)
        hc_sim_freeze_host(match->sim, until_us);
    else
        hc_sim_freeze_client(match->sim, action->client, until_us);
    if (!host)
        match->seats[action->client].frozen_us = until_us;
    // Not by all of it: its clock must not go back if it is slow, too.
    if (!host && storm_client_get(match, action->client, STORM_C_sleeps) != 0)
        hc_sim_jump_clock(match->sim, action->client, -(int64_t)(gone_us - gone_us / 1000));
    STORM_NOTE(match, "%s %u does nothing for %lu ms", host ? "the server" : "client",
               action->client, (unsigned long)ms);
}

/// A number in [0, most] for the knobs of a client.
static uint32_t draw_knob(const struct storm_match *match, unsigned client, uint32_t purpose,
                          int64_t most) {
    uint32_t tick = (uint32_t)(hc_sim_now(match->sim) / match->tick_us);
    return (uint32_t)(hc_random(match->plan->seed, client + 1, tick, purpose) >> 32) %
           ((uint32_t)most + 1);
}

/// A client's game chooses other delays and ticks to show, within those that were drawn.
static void change_knobs(struct storm_match *match, unsigned client) {
    struct hc_client *of = hc_sim_client(match->sim, client);
    int64_t delay = storm_client_delay_max(match, client);
    int64_t lead = storm_client_lead_max(match, client);
    if (of == NULL || hc_sim_now(match->sim) < match->seats[client].frozen_us)
        return;
    struct hc_client_timing timing = {
        .input_delay = draw_knob(match, client, 1, delay),
        .input_delay_max = draw_knob(match, client, 2, 1) > 0 ? (uint32_t)delay : 0,
        .lead = draw_knob(match, client, 3, lead),
        .lead_max = draw_knob(match, client, 4, 1) > 0 ? (uint32_t)lead : 0};
    struct hc_client_display display = {
        .offset = draw_knob(match, client, 5, storm_client_get(match, client, STORM_C_display)),
        .others = (enum hc_others)draw_knob(match, client, 6, HC_OTHERS_AS_RECEIVED)};
    STORM_NOTE(match, "client %u: input delay %u to %u, lead %u to %u, shows %u ticks back, %d",
               client, timing.input_delay, timing.input_delay_max, timing.lead, timing.lead_max,
               display.offset, (int)display.others);
    HC_ASSERT(hc_client_set_timing(of, &timing) == HC_OK);
    HC_ASSERT(hc_client_set_display(of, &display, hc_sim_client_now(match->sim, client)) == HC_OK);
}

/// A client's game chooses what was drawn, for the calm.
static void reset_knobs(struct storm_match *match, unsigned client) {
    struct hc_client *of = hc_sim_client(match->sim, client);
    const struct hc_client_config *config = &hc_sim_setup(match->sim, client)->config;
    if (of == NULL)
        return;
    struct hc_client_timing timing = {.input_delay = config->input_delay,
                                      .input_delay_max = config->input_delay_max,
                                      .lead = config->lead,
                                      .lead_max = config->lead_max};
    struct hc_client_display display = {config->display_offset, config->others};
    HC_ASSERT(hc_client_set_timing(of, &timing) == HC_OK);
    HC_ASSERT(hc_client_set_display(of, &display, hc_sim_client_now(match->sim, client)) == HC_OK);
}

static void heal(struct storm_match *match) {
    STORM_NOTE(match, "the storm is over");
    match->healed = true;
    match->healed_us = hc_sim_now(match->sim);
    storm_links_set_all(match);
    for (unsigned i = 0; i < match->clients; i++)
        reset_knobs(match, i);
}

static void change_links(struct storm_match *match, const struct action *action) {
    static const struct {
        enum storm_trouble trouble;
        bool on;
    } troubles[] = {
        [DARK] = {STORM_DARK, true},
        [LIGHT] = {STORM_DARK, false},
        [WORSE] = {STORM_WORSE, true},
        [BETTER] = {STORM_WORSE, false},
        [NARROW] = {STORM_DIP, true},
        [WIDE] = {STORM_DIP, false},
        [SCAN] = {STORM_SCAN, true},
        [SCANNED] = {STORM_SCAN, false},
        [ROUTE] = {STORM_ROUTE, true},
        [SHARED_NARROW] = {STORM_SHARED_DIP, true},
        [SHARED_WIDE] = {STORM_SHARED_DIP, false},
        [SPLIT] = {STORM_SPLIT, true},
        [JOINED] = {STORM_SPLIT, false},
    };
    storm_links_trouble(match, action->client, troubles[action->kind].trouble,
                        troubles[action->kind].on);
}

static void act_on_matches(struct storm_match *match, enum action_kind kind) {
    if (kind == ANNOUNCE)
        storm_matches_announce(match);
    else if (kind == RESTART)
        storm_matches_restart(match);
    else if (kind == RETRY)
        storm_matches_retry(match);
    else if (kind == MATCHES)
        storm_matches_check(match);
    else if (kind == LEAVE)
        storm_matches_leave(match);
    else if (kind == FILL)
        storm_matches_fill(match);
    else if (kind == END && match->many != NULL)
        storm_matches_end(match);
}

static void act(struct storm_match *match, const struct action *action) {
    bool all = action->kind == SPLIT || action->kind == JOINED || action->kind == HEAL ||
               action->kind == SHARED_NARROW || action->kind == SHARED_WIDE;
    for (unsigned i = 0; i < match->clients; i++)
        if (all || (action->kind < ATTACK && i == action->client))
            trouble_until(match, i, hc_sim_now(match->sim));
    switch (action->kind) {
    case CONNECT:
        storm_match_connect(match, action->client);
        break;
    case GO:
        go(match, action->client);
        break;
    case STALL:
    case HOST_STALL:
        stall(match, action);
        break;
    case JUMP:
        STORM_NOTE(match, "client %u: its clock jumps", action->client);
        match->seats[action->client].jumped_us = hc_sim_now(match->sim);
        hc_sim_jump_clock(match->sim, action->client,
                          storm_client_get(match, action->client, STORM_C_jump_ms) * 1000);
        break;
    case REBIND:
        STORM_NOTE(match, "client %u: another address", action->client);
        hc_sim_rebind(match->sim, action->client);
        break;
    case KNOBS:
        change_knobs(match, action->client);
        break;
    case DARK:
    case LIGHT:
    case WORSE:
    case BETTER:
    case NARROW:
    case WIDE:
    case SCAN:
    case SCANNED:
    case ROUTE:
    case SHARED_NARROW:
    case SHARED_WIDE:
    case SPLIT:
    case JOINED:
        change_links(match, action);
        break;
    case ATTACK:
        storm_attackers_attack(match, action->client);
        break;
    case HEAL:
        heal(match);
        break;
    case LAST:
        storm_observe_last_part(match);
        break;
    case CHECK:
        storm_observe_calm(match);
        break;
    case QUIET:
        STORM_NOTE(match, "inputs stop");
        match->quiet = true;
        break;
    case SETTLED:
        match->settled = true;
        break;
    default:
        act_on_matches(match, action->kind);
        break;
    }
}

// ---- Setting up ---------------------------------------------------------------------------------

static void *counted_allocate(void *context, size_t bytes) {
    size_t *total = context, *block = malloc(COUNT_SIZE + bytes);
    if (block == NULL)
        return NULL;
    *block = bytes;
    *total += bytes;
    return (uint8_t *)block + COUNT_SIZE;
}

static void counted_release(void *context, void *bytes) {
    size_t *total = context;
    if (bytes == NULL)
        return;
    size_t *block = (size_t *)(void *)((uint8_t *)bytes - COUNT_SIZE);
    *total -= *block;
    free(block);
}

static const struct hc_game *game_of(struct storm_match *match) {
    const struct hc_game *example =
        storm_examples_game((unsigned)storm_match_get(match, STORM_example));
    if (example != NULL)
        return example;
    if (storm_match_get(match, STORM_lanes) != 0)
        return &lanes;
    uint32_t view = (uint32_t)storm_match_get(match, STORM_view);
    match->near_arena = hc_arena;
    match->near_arena.view = view != 0 ? view : hc_arena.view;
    for (unsigned i = 0; i < hc_arena.event_kind_count; i++) {
        match->event_kinds[i] = hc_arena.event_kinds[i];
        match->event_kinds[i].final_only = storm_match_get(match, STORM_final_kinds) >> i & 1;
    }
    match->near_arena.event_kinds = match->event_kinds;
    if (storm_match_get(match, STORM_fray_ms) == 0)
        return &match->near_arena;
    match->quick_arena = (struct storm_quick_arena){
        .phase_ms = (uint32_t)storm_match_get(match, STORM_fray_ms),
        .wait_ms = (uint32_t)storm_match_get(match, STORM_fray_wait_ms),
        .whim = (uint32_t)storm_match_get(match, STORM_fray_whim),
        .goal = (uint8_t)storm_match_get(match, STORM_fray_goal),
        .health = (uint8_t)storm_match_get(match, STORM_fray_health),
        .crowd = storm_match_get(match, STORM_fray_crowd) != 0,
        .lookback = match->plan->seed % 3 == 0 ? 1 + (uint32_t)(match->plan->seed % 25) : 0,
    };
    storm_quick_arena_init(&match->quick_arena);
    match->quick_arena.game.view = match->near_arena.view;
    match->quick_arena.game.event_kinds = match->event_kinds;
    return &match->quick_arena.game;
}

static struct hc_sim_config sim_config(struct storm_match *match,
                                       const struct hc_allocator *allocator) {
    const struct hc_game *game = game_of(match);
    struct storm_varying varying = {.seed = match->plan->seed,
                                    .tick_rate = (unsigned)storm_match_get(match, STORM_tick_rate),
                                    .fields = match->plan->seed % 4 == 1,
                                    .flags = storm_match_get(match, STORM_flags) != 0};
    if (varying.fields || varying.flags) {
        storm_varied_game_init(&match->varied, game, &varying);
        if (game == &match->quick_arena.game) // its address leads to its numbers
            match->quick_arena.game.kinds = match->varied.kinds;
        else
            game = &match->varied.game;
    }
    struct hc_sim_config config = hc_sim_config_default(game);
    config.seed = match->plan->seed;
    config.clients = match->clients;
    config.packets_max = PACKETS_MAX;
    config.trace_worlds = match->options->deep;
    config.hooks = match->many != NULL ? storm_matches_hooks() : storm_observe_hooks();
    config.context = match;
    config.matches = match->many != NULL ? (unsigned)storm_match_get(match, STORM_matches) : 0;
    config.host.clients =
        match->many != NULL ? storm_matches_room(match) : (uint16_t)storm_plan_slots(match->plan);
    config.host.tick_rate = (uint16_t)storm_match_get(match, STORM_tick_rate);
    config.host.history = (uint32_t)storm_match_get(match, STORM_history);
    config.host.late_margin = (uint32_t)storm_match_get(match, STORM_slack);
    config.host_test.future = (uint32_t)storm_match_get(match, STORM_future);
    config.host.force_rewind = (uint32_t)storm_match_get(match, STORM_force_rewind);
    if (config.host.force_rewind > config.host.history)
        config.host.force_rewind = config.host.history;
    config.host.timeout_us = (uint32_t)timeout_us(match);
    config.host.linger_us = (uint32_t)storm_match_get(match, STORM_keep_ms) * 1000;
    config.host_test.ticks_per_advance = (uint32_t)storm_match_get(match, STORM_ticks_per_advance);
    config.host.client_rate = (uint32_t)storm_match_get(match, STORM_client_rate);
    config.host.snapshot_rate = (uint16_t)storm_match_get(match, STORM_snapshot_rate);
    if (config.host.snapshot_rate > config.host.tick_rate)
        config.host.snapshot_rate = config.host.tick_rate;
    config.host.allocator = allocator;
    config.shares = storm_match_get(match, STORM_shared) != 0;
    config.shared_up = storm_links_shared(match, true);
    config.shared_down = storm_links_shared(match, false);
    return config;
}

static void set_up_client(struct storm_match *match, unsigned i) {
    const int64_t *of = match->plan->client[i];
    struct hc_sim_setup *setup = hc_sim_setup(match->sim, i);
    setup->config.players = (uint8_t)of[STORM_C_players];
    setup->config.input_delay = (uint32_t)of[STORM_C_delay];
    setup->config.lead = (uint32_t)of[STORM_C_lead];
    setup->config.input_delay_max = (uint32_t)of[STORM_C_delay_max];
    setup->config.lead_max = (uint32_t)of[STORM_C_lead_max];
    setup->config.display_offset = (uint32_t)of[STORM_C_display];
    setup->config.others = (enum hc_others)of[STORM_C_others];
    setup->config.prediction_limit = storm_client_limit(match, i);
    setup->config.input_redundancy = (uint32_t)of[STORM_C_redundancy];
    setup->config.extrapolation = (enum hc_extrapolation)of[STORM_C_extrapolation];
    setup->config.smoothing_us = (uint32_t)of[STORM_C_smoothing_ms] * 1000;
    if (of[STORM_C_pops] != 0)
        setup->config.smoothing_us = 0;
    setup->config.timeout_us = (uint32_t)timeout_us(match);
    setup->config.reconnect_us = (uint32_t)of[STORM_C_reconnect_ms] * 1000;
    if (of[STORM_C_same_user] != 0)
        setup->user = (uint64_t)(i + 1) << 32;
    setup->clock_offset_us = (uint64_t)of[STORM_C_clock_offset_s] * 1000000;
    if (of[STORM_C_sleeps] != 0)
        setup->clock_offset_us += ASLEEP_US;
    setup->clock_ppm = (int32_t)of[STORM_C_clock_ppm];
    setup->frame_us = (uint32_t)of[STORM_C_frame_ms] * 1000;
    setup->keeps_port = of[STORM_C_same_port] != 0;
    struct storm_seat *seat = &match->seats[i];
    seat->allocator = (struct hc_allocator){
        .allocate = counted_allocate, .release = counted_release, .context = &seat->bytes};
    setup->config.allocator = &seat->allocator; // used at each ACCEPT alone
    if (match->many != NULL)
        storm_matches_set_up_client(match, i);
    storm_links_set(match, i);
}

static bool set_up(struct storm_match *match, const struct hc_allocator *allocator) {
    match->clients = (unsigned)storm_match_get(match, STORM_clients);
    match->tick_us = 1000000 / (uint64_t)storm_match_get(match, STORM_tick_rate) + 1;
    match->seats = calloc(match->clients, sizeof *match->seats);
    if (match->seats == NULL)
        return false;
    for (unsigned i = 0; i < match->clients; i++)
        match->seats[i].hostile = storm_plan_hostile(match->plan, i);
    if (storm_matches_planned(match->plan))
        storm_matches_begin(match);
    match->attack = hc_rng_init(match->plan->seed, 77);
    struct hc_sim_config config = sim_config(match, allocator);
    match->sim = hc_sim_create(&config);
    if (match->sim == NULL)
        return false;
    storm_conns_init(&match->conns, config.host.game);
    if (match->many != NULL) {
        for (unsigned i = 0; i < match->clients; i++)
            set_up_client(match, i);
        return true;
    }
    storm_observe_begin(match);
    match->truth = storm_truth_create(hc_sim_config(match->sim), match->options->deep,
                                      &match->conns, match->verdict);
    for (unsigned i = 0; i < match->clients; i++)
        set_up_client(match, i);
    if (match->truth != NULL)
        storm_units_init(&match->units, storm_truth_world(match->truth));
    return match->truth != NULL;
}

static void tear_down(struct storm_match *match) {
    storm_conns_free(&match->conns);
    hc_sim_destroy(match->sim);
    storm_observe_free(match);
    storm_units_free(&match->units);
    storm_truth_destroy(match->truth); // the others have borrowed its world
    storm_matches_free(match);
    free(match->seats);
    free(match);
}

// ---- Playing ------------------------------------------------------------------------------------

/// Runs in short pieces, so that a match ends soon after its failure.
static void run_until(struct storm_match *match, uint64_t until_us) {
    while (hc_sim_now(match->sim) < until_us && match->verdict->result == STORM_FINE) {
        uint64_t piece_us = hc_sim_now(match->sim) + 8 * match->tick_us;
        hc_sim_run_until(match->sim, piece_us < until_us ? piece_us : until_us);
    }
}

static hc_tick head_of(const struct storm_match *match) {
    return hc_timeline_head(hc_server_timeline(hc_sim_host(match->sim)));
}

/// The calm lasts until the server has done the ticks of a match: after a brief storm, or when it
/// has left some out.
static void lengthen(struct storm_match *match) {
    hc_tick head = head_of(match);
    if (head >= STORM_TICKS_MIN)
        return;
    run_until(match, hc_sim_now(match->sim) + (STORM_TICKS_MIN + 1 - head) * match->tick_us);
    if (match->verdict->result == STORM_FINE && head_of(match) < STORM_TICKS_MIN)
        storm_fail(match->verdict, STORM_STUCK, "short", head_of(match),
                   "the server is at tick %u only, it was at %u %u ticks ago", head_of(match), head,
                   STORM_TICKS_MIN + 1 - head);
}

static void run(struct storm_match *match) {
    static _Thread_local struct agenda agenda;
    agenda.count = 0;
    plan_all(match, &agenda);
    for (unsigned i = 0; i < agenda.count && match->verdict->result == STORM_FINE; i++) {
        run_until(match, agenda.actions[i].at_us);
        if (match->verdict->result == STORM_FINE)
            act(match, &agenda.actions[i]);
    }
    if (match->verdict->result == STORM_FINE && match->many == NULL)
        lengthen(match);
    for (unsigned i = 0; i < match->clients; i++)
        storm_observe_ends(match, i);
    storm_observe_end(match);
}

void storm_match_play(const struct storm_plan *plan, const struct storm_options *options,
                      struct storm_outcome *outcome) {
    *outcome = (struct storm_outcome){.ticks = 0};
    struct storm_match *match = calloc(1, sizeof *match);
    if (match == NULL)
        abort();
    match->plan = plan;
    match->options = options;
    match->outcome = outcome;
    match->verdict = &outcome->verdict;
    struct hc_allocator allocator = {
        .allocate = counted_allocate, .release = counted_release, .context = &match->host_bytes};
    // Counting touches all memory, which is dear.
    if (!set_up(match, plan->seed % 16 == 0 ? &allocator : NULL)) {
        storm_fail(match->verdict, STORM_WRONG, "set-up", 0, "the match cannot be set up");
        if (match->sim == NULL) {
            free(match->seats);
            storm_matches_free(match);
            free(match);
            return;
        }
    } else {
        run(match);
    }
    if (match->many == NULL) {
        outcome->ticks = head_of(match);
        HC_ASSERT(outcome->verdict.result != STORM_FINE || outcome->ticks >= STORM_TICKS_MIN);
    }
    outcome->virtual_us = hc_sim_now(match->sim);
    outcome->trace = hc_sim_trace(match->sim);
    for (unsigned i = 0; i < match->clients; i++)
        outcome->clients[i] = match->seats[i].counts;
    if (options->print != NULL && outcome->verdict.result != STORM_FINE)
        storm_event_log_print(&match->log, options->print);
    tear_down(match);
}
