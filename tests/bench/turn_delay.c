/// The watched changes of direction, and the states that clients hold of them.
#include "tests/bench/turn_delay.h"

#include "tests/bench/bot_match.h"

#include <stdlib.h>
#include <string.h>

enum { LIMIT_TICKS = BENCH_TURN_LIMIT_MS * BENCH_TICK_RATE / 1000 };

bool bench_turn_delay_init(struct bench_turn_delay *turn_delay, struct hc_sim *sim,
                           const struct hc_sv_peer **peers) {
    turn_delay->sim = sim;
    turn_delay->peers = peers;
    for (unsigned i = 0; i < BENCH_TURNS; i++) {
        struct bench_turn *turn = &turn_delay->turns[i];
        turn->observers = calloc(hc_sim_clients(sim), sizeof *turn->observers);
        if (turn->observers == NULL)
            return false;
    }
    return true;
}

void bench_turn_delay_free(struct bench_turn_delay *turn_delay) {
    for (unsigned i = 0; i < BENCH_TURNS; i++)
        free(turn_delay->turns[i].observers);
}

void bench_turn_delay_turn(struct bench_turn_delay *turn_delay, hc_player player, hc_tick tick,
                           const struct hc_arena_input *input) {
    for (unsigned i = 0; i < BENCH_TURNS; i++) {
        struct bench_turn *turn = &turn_delay->turns[i];
        if (turn->used)
            continue;
        *turn = (struct bench_turn){.used = true,
                                    .player = player,
                                    .tick = tick + 1,
                                    .move_x = input->move_x,
                                    .move_y = input->move_y,
                                    .due_us = hc_tick_due_us(tick, BENCH_TICK_RATE),
                                    .observers = turn->observers};
        return;
    }
}

// ---- States of clients --------------------------------------------------------------------------

static struct bench_turn_state read_state(const struct hc_timeline *timeline,
                                          const struct hc_world *world, hc_player player,
                                          hc_tick tick) {
    struct bench_turn_state state = {.tick = tick};
    hc_entity entity = hc_world_player(world, player);
    state.presence = hc_timeline_presence(timeline, tick)[entity];
    memcpy(&state.player, hc_timeline_states(timeline, tick) + (size_t)entity * world->stride,
           sizeof state.player);
    return state;
}

static bool same(const struct bench_turn_state *a, const struct bench_turn_state *b) {
    return a->tick == b->tick && a->presence == b->presence &&
           memcmp(&a->player, &b->player, sizeof a->player) == 0;
}

static void push(struct bench_turn_observer *observer, const struct bench_turn_state *state) {
    if (observer->count == BENCH_TURN_STATES)
        memmove(observer->states, observer->states + 1, --observer->count * sizeof *state);
    observer->states[observer->count++] = *state;
}

static void note(const struct bench_turn_delay *turn_delay, const struct bench_turn *turn,
                 unsigned client) {
    const struct hc_client *from = hc_sim_client(turn_delay->sim, client);
    const struct hc_timeline *timeline = hc_client_timeline(from);
    struct bench_turn_observer *observer = &turn->observers[client];
    hc_tick ticks[2] = {turn->tick, 0}, as_of;
    if (!hc_client_snapshot(from, &ticks[1], &as_of))
        return;
    for (unsigned i = 0; i < 2; i++) {
        if (ticks[i] < hc_timeline_oldest(timeline) || ticks[i] > hc_timeline_head(timeline) ||
            (i == 1 && ticks[1] <= observer->newest_tick))
            continue;
        struct bench_turn_state state =
            read_state(timeline, hc_client_world(from), turn->player, ticks[i]);
        state.since_us = hc_sim_now(turn_delay->sim);
        bool known = false;
        for (uint32_t g = observer->count; g > 0 && !known; g--) {
            if (observer->states[g - 1].tick != state.tick)
                continue;
            known = same(&observer->states[g - 1], &state);
            break;
        }
        if (!known)
            push(observer, &state);
        if (i == 1)
            observer->newest_tick = ticks[1];
    }
}

void bench_turn_delay_note(struct bench_turn_delay *turn_delay, unsigned client) {
    for (unsigned i = 0; i < BENCH_TURNS; i++) {
        const struct bench_turn *turn = &turn_delay->turns[i];
        if (turn->used && turn->begun && turn->observers[client].waits)
            note(turn_delay, turn, client);
    }
}

// ---- Final states of the server -----------------------------------------------------------------

static bool sees(const struct bench_turn_delay *turn_delay, unsigned client, hc_player player) {
    return hc_sv_view_sees(&turn_delay->peers[client]->replication.interest.view,
                           (hc_unit)(1 + player));
}

/// Begins at the turn's tick, with the clients that see the player then.
static void begin(struct bench_turn_delay *turn_delay, struct bench_turn *turn) {
    turn->begun = true;
    for (unsigned c = 0; c < hc_sim_clients(turn_delay->sim); c++) {
        bool own = turn_delay->peers[c]->replication.own[0] == turn->player;
        struct bench_turn_observer *observer = &turn->observers[c];
        observer->waits = !own && sees(turn_delay, c, turn->player);
        observer->newest_tick = turn->tick;
        observer->count = 0;
        turn->waiting += observer->waits;
        if (observer->waits)
            note(turn_delay, turn, c);
    }
}

/// Whether the input took effect at its tick.
static bool took_effect(const struct bench_turn *turn, const struct hc_timeline *timeline) {
    const struct hc_arena_input *at = hc_timeline_effective(timeline, turn->player, turn->tick - 1);
    const struct hc_arena_input *before =
        hc_timeline_effective(timeline, turn->player, turn->tick - 2);
    return at->move_x == turn->move_x && at->move_y == turn->move_y &&
           (before->move_x != at->move_x || before->move_y != at->move_y);
}

/// Compares the observer's states of final ticks, the earliest first.
static void judge(struct bench_turn *turn, struct bench_turn_observer *observer,
                  const struct hc_server *host) {
    while (observer->count > 0 && observer->states[0].tick <= host->replicator.final) {
        const struct bench_turn_state *state = &observer->states[0];
        if (state->tick >= hc_timeline_oldest(host->timeline)) {
            struct bench_turn_state truth =
                read_state(host->timeline, &host->world, turn->player, state->tick);
            if (same(&truth, state)) {
                if (state->since_us > turn->right_us)
                    turn->right_us = state->since_us;
                observer->waits = false;
                turn->waiting--;
                turn->right++;
                return;
            }
        }
        memmove(observer->states, observer->states + 1, --observer->count * sizeof *state);
    }
}

static void finish(struct bench_turn_delay *turn_delay, struct bench_turn *turn) {
    uint64_t took = turn->right_us > turn->due_us ? turn->right_us - turn->due_us : 0;
    bool never = turn->waiting > 0;
    turn->used = false;
    if (!turn->checked || (turn->right == 0 && !never))
        return; // it took no effect, or no client had it in view
    turn_delay->never += never;
    hc_histogram_record(&turn_delay->right_us, never ? BENCH_TURN_LIMIT_MS * UINT64_C(1000) : took);
}

void bench_turn_delay_judge(struct bench_turn_delay *turn_delay) {
    const struct hc_server *host = hc_sim_host(turn_delay->sim);
    hc_tick head = hc_timeline_head(host->timeline);
    for (unsigned i = 0; i < BENCH_TURNS; i++) {
        struct bench_turn *turn = &turn_delay->turns[i];
        if (!turn->used || head < turn->tick)
            continue;
        if (!turn->begun)
            begin(turn_delay, turn);
        if (!turn->checked && host->replicator.final >= turn->tick) {
            turn->checked = took_effect(turn, host->timeline);
            turn->used = turn->checked;
        }
        for (unsigned c = 0; turn->used && c < hc_sim_clients(turn_delay->sim); c++) {
            struct bench_turn_observer *observer = &turn->observers[c];
            if (observer->waits && !sees(turn_delay, c, turn->player)) {
                observer->waits = false;
                turn->waiting--;
            } else if (observer->waits && turn->checked) {
                judge(turn, observer, host);
            }
        }
        if (turn->used && (turn->waiting == 0 || head > turn->tick + LIMIT_TICKS) && turn->checked)
            finish(turn_delay, turn);
    }
}

void bench_turn_delay_end(struct bench_turn_delay *turn_delay) {
    for (unsigned i = 0; i < BENCH_TURNS; i++)
        if (turn_delay->turns[i].used)
            finish(turn_delay, &turn_delay->turns[i]);
}
