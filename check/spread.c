/// Owns the random histories with late inputs.
#include "check/spread.h"

#include "check/history.h"
#include "common/draw_input.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    HISTORY_MIN = 4,   ///< ticks
    HISTORY_MORE = 20, ///< ticks, at most, above that
    HOLD = 20,         ///< ticks for which an input is held, at most
    COMPARE_EVERY = 8, ///< ticks
    JOIN = 100000,     ///< ppm of the ticks at which a player that is out joins
    LEAVE = 8000,
    LATE = 500000,   ///< ppm of the inputs that arrive late
    MISSING = 50000, ///< ppm of the inputs that never arrive
    PLACE = 96,
    TEXT = 320,
};

enum { SELECTIVE, FULL, TIMELINES };

struct player {
    bool in;
    hc_tick until; ///< the tick of the next input
    uint8_t input[HC_INPUT_MAX];
};

struct run {
    const struct hc_world *world;
    struct hc_timeline_config config;
    struct hc_timeline *timelines[TIMELINES];
    struct hc_history *record;
    struct player *players;
    uint8_t *inputs;   ///< [ticks][players][input_size]
    hc_tick *arrivals; ///< [ticks][players] the head at which the input arrives; HC_NO_TICK: never
    const char *what;  ///< the first difference, events or a state; NULL: there is none
    char text[TEXT];   ///< a sentence about it
};

static void put_input(struct run *run, hc_player player, hc_tick tick) {
    size_t cell = (size_t)tick * run->world->players + player;
    const uint8_t *input = run->inputs + cell * run->world->game->input_size;
    enum hc_status status = hc_history_put_input(run->record, player, tick, input);
    for (unsigned i = 0; i < TIMELINES; i++)
        HC_ASSERT(hc_timeline_put_input(run->timelines[i], player, tick, input) == status);
}

static void put_roster(struct run *run, hc_player player, hc_tick tick, enum hc_roster change) {
    enum hc_status status = hc_history_put_roster(run->record, player, tick, change);
    HC_ASSERT(status == HC_OK);
    for (unsigned i = 0; i < TIMELINES; i++)
        HC_ASSERT(hc_timeline_put_roster(run->timelines[i], player, tick, change) == status);
}

/// Lets a player join or leave at `tick`, or chooses its input and when that arrives.
static void act(struct run *run, struct hc_rng *rng, hc_player index, hc_tick tick) {
    struct player *player = &run->players[index];
    size_t cell = (size_t)tick * run->world->players + index;
    size_t size = run->world->game->input_size;
    run->arrivals[cell] = HC_NO_TICK;
    if (hc_rng_chance(rng, player->in ? LEAVE : JOIN)) {
        player->in = !player->in;
        put_roster(run, index, tick, player->in ? HC_ROSTER_JOIN : HC_ROSTER_LEAVE);
        return;
    }
    if (!player->in)
        return;
    if (tick >= player->until) {
        hc_draw_input(run->world->game, rng, player->input);
        player->until = tick + 1 + hc_rng_below(rng, HOLD);
    }
    memcpy(run->inputs + cell * size, player->input, size);
    if (!hc_rng_chance(rng, MISSING))
        run->arrivals[cell] =
            tick + (hc_rng_chance(rng, LATE) ? hc_rng_below(rng, run->config.history + 1) : 0);
}

/// Puts all inputs that arrive when the head is `head`.
static void put_arrivals(struct run *run, hc_tick head) {
    for (hc_tick t = hc_tick_back(head, run->config.history); t <= head; t++)
        for (hc_player p = 0; p < run->world->players; p++)
            if (run->arrivals[(size_t)t * run->world->players + p] == head)
                put_input(run, p, t);
}

/// Compares the game events of a tick.
static void compare_events(struct run *run, unsigned which, hc_tick tick) {
    uint32_t held, truly;
    char place[PLACE];
    for (uint32_t e = 0; e < run->world->entities && run->what == NULL; e++) {
        const hc_game_event *a =
            hc_timeline_events(run->timelines[which], tick, (hc_entity)e, &held);
        const hc_game_event *b = hc_history_events(run->record, tick, (hc_entity)e, &truly);
        if (held == truly && (held == 0 || memcmp(a, b, held * sizeof(*a)) == 0))
            continue;
        hc_ck_place(run->world, tick, (hc_entity)e, place, sizeof(place));
        run->what = "events";
        snprintf(run->text, TEXT,
                 "%s: after late inputs it has %" PRIu32 " events, and others, %" PRIu32
                 ", in a simulation from scratch",
                 place, held, truly);
    }
}

/// Compares a timeline with the record at `tick`, and notes the first entity that differs.
static void compare_tick(struct run *run, unsigned which, hc_tick tick) {
    const struct hc_world *world = run->world;
    const uint8_t *presence = hc_timeline_presence(run->timelines[which], tick);
    const uint8_t *states = hc_timeline_states(run->timelines[which], tick);
    const uint8_t *true_presence = hc_history_presence(run->record, tick);
    const uint8_t *true_states = hc_history_states(run->record, tick);
    char place[PLACE];
    for (uint32_t e = 0; e < world->entities && run->what == NULL; e++) {
        size_t at = (size_t)e * world->stride;
        if (presence[e] == true_presence[e] &&
            memcmp(states + at, true_states + at, world->stride) == 0)
            continue;
        const struct hc_field *field =
            hc_ck_differing(hc_world_kind(world, (hc_entity)e), states + at, true_states + at);
        hc_ck_place(world, tick, (hc_entity)e, place, sizeof(place));
        run->what = "state";
        if (field == NULL || presence[e] != true_presence[e])
            snprintf(run->text, TEXT,
                     "%s: after late inputs it is %s, and not so in a simulation from scratch",
                     place, presence[e] == HC_ALIVE ? "alive" : "absent");
        else
            snprintf(run->text, TEXT,
                     "%s: after late inputs field %.32s is %" PRId64 ", and %" PRId64
                     " in a simulation from scratch",
                     place, field->name, hc_field_get(field, states + at),
                     hc_field_get(field, true_states + at));
    }
}

static void compare(struct run *run) {
    hc_history_resimulate(run->record);
    for (unsigned i = 0; i < TIMELINES; i++)
        for (hc_tick t = hc_timeline_oldest(run->timelines[i]);
             t <= hc_timeline_head(run->timelines[i]); t++) {
            compare_tick(run, i, t);
            compare_events(run, i, t);
        }
}

static void play(struct run *run, struct hc_rng *rng, uint32_t ticks) {
    hc_history_start(run->record);
    for (unsigned i = 0; i < TIMELINES; i++)
        hc_timeline_start(run->timelines[i]);
    for (hc_tick tick = 0; tick + 1 < ticks && run->what == NULL; tick++) {
        for (hc_player p = 0; p < run->world->players; p++)
            act(run, rng, p, tick);
        put_arrivals(run, tick);
        for (unsigned i = 0; i < TIMELINES; i++)
            hc_timeline_advance(run->timelines[i]);
        hc_history_advance(run->record);
        if (tick % COMPARE_EVERY == COMPARE_EVERY - 1 || tick + 2 == ticks)
            compare(run);
    }
}

/// Plays a history that `rng` draws, and notes what differs in it. False: no memory.
static bool play_history(struct run *run, struct hc_rng *rng, uint32_t ticks) {
    const struct hc_world *world = run->world;
    size_t cells = (size_t)ticks * world->players;
    run->config = hc_timeline_config_default();
    run->config.world = world;
    run->config.history = HISTORY_MIN + hc_rng_below(rng, HISTORY_MORE + 1);
    run->record = hc_history_create(&run->config, ticks + run->config.future + 1);
    run->timelines[SELECTIVE] = hc_timeline_create(&run->config);
    run->config.full = true;
    run->timelines[FULL] = hc_timeline_create(&run->config);
    run->players = calloc(world->players, sizeof(*run->players));
    run->inputs = calloc(cells, world->game->input_size);
    run->arrivals = calloc(cells, sizeof(*run->arrivals));
    bool good = run->record != NULL && run->timelines[SELECTIVE] != NULL &&
                run->timelines[FULL] != NULL && run->players != NULL && run->inputs != NULL &&
                run->arrivals != NULL;
    if (good)
        play(run, rng, ticks);
    free(run->arrivals);
    free(run->inputs);
    free(run->players);
    hc_timeline_destroy(run->timelines[SELECTIVE]);
    hc_timeline_destroy(run->timelines[FULL]);
    hc_history_destroy(run->record);
    return good;
}

bool hc_ck_spread(const struct hc_world *world, struct hc_ck_faults *faults, struct hc_rng *rng,
                  uint32_t ticks) {
    struct run first = {.world = world}, again = {.world = world};
    struct hc_rng same = *rng;
    if (!play_history(&first, rng, ticks))
        return false;
    if (first.what == NULL)
        return true;
    if (!play_history(&again, &same, ticks)) // a game that keeps something differs elsewhere
        return false;
    if (again.what != NULL && strcmp(first.text, again.text) == 0)
        hc_ck_fault(faults, HC_CK_SPREAD, first.what, "%s", first.text);
    else
        hc_ck_fault(faults, HC_CK_REPEAT, "history",
                    "a history with late inputs gives another result when it is repeated: %s; "
                    "then %s",
                    first.text, again.what != NULL ? again.text : "nothing differs");
    return true;
}
