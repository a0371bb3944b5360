#include "tests/bench/settling.h"

#include "tests/bench/match.h"

#include <stdlib.h>
#include <string.h>

enum { LIMIT_TICKS = BENCH_TURN_LIMIT_MS * BENCH_TICK_RATE / 1000 };

bool bench_settling_init(struct bench_settling *settling, struct hc_sim *sim,
                         const struct hc_sv_peer **peers) {
    settling->sim = sim;
    settling->peers = peers;
    for (unsigned i = 0; i < BENCH_TURNS; i++) {
        struct bench_turn *turn = &settling->turns[i];
        turn->hearers = calloc(hc_sim_clients(sim), sizeof *turn->hearers);
        if (turn->hearers == NULL)
            return false;
    }
    return true;
}

void bench_settling_free(struct bench_settling *settling) {
    for (unsigned i = 0; i < BENCH_TURNS; i++)
        free(settling->turns[i].hearers);
}

void bench_settling_turn(struct bench_settling *settling, hc_player player, hc_tick tick,
                         const struct hc_arena_input *input) {
    for (unsigned i = 0; i < BENCH_TURNS; i++) {
        struct bench_turn *turn = &settling->turns[i];
        if (turn->used)
            continue;
        *turn = (struct bench_turn){.used = true,
                                    .player = player,
                                    .tick = tick + 1,
                                    .move_x = input->move_x,
                                    .move_y = input->move_y,
                                    .due_us = hc_tick_due_us(tick, BENCH_TICK_RATE),
                                    .hearers = turn->hearers};
        return;
    }
}

// ---- What clients take it to be -----------------------------------------------------------------

static struct bench_turn_guess read_guess(const struct hc_timeline *timeline,
                                          const struct hc_world *world, hc_player player,
                                          hc_tick tick) {
    struct bench_turn_guess guess = {.tick = tick};
    hc_entity entity = hc_world_player(world, player);
    guess.presence = hc_timeline_presence(timeline, tick)[entity];
    memcpy(&guess.player, hc_timeline_states(timeline, tick) + (size_t)entity * world->stride,
           sizeof guess.player);
    return guess;
}

static bool same(const struct bench_turn_guess *a, const struct bench_turn_guess *b) {
    return a->tick == b->tick && a->presence == b->presence &&
           memcmp(&a->player, &b->player, sizeof a->player) == 0;
}

static void push(struct bench_turn_hearer *hearer, const struct bench_turn_guess *guess) {
    if (hearer->count == BENCH_TURN_GUESSES)
        memmove(hearer->extrapolation_budget, hearer->extrapolation_budget + 1,
                --hearer->count * sizeof *guess);
    hearer->extrapolation_budget[hearer->count++] = *guess;
}

static void note(const struct bench_settling *settling, const struct bench_turn *turn,
                 unsigned client) {
    const struct hc_client *from = hc_sim_client(settling->sim, client);
    const struct hc_timeline *timeline = hc_client_timeline(from);
    struct bench_turn_hearer *hearer = &turn->hearers[client];
    hc_tick ticks[2] = {turn->tick, 0}, as_of;
    if (!hc_client_snapshot(from, &ticks[1], &as_of))
        return;
    for (unsigned i = 0; i < 2; i++) {
        if (ticks[i] < hc_timeline_oldest(timeline) || ticks[i] > hc_timeline_head(timeline) ||
            (i == 1 && ticks[1] <= hearer->loss_checked_to))
            continue;
        struct bench_turn_guess guess =
            read_guess(timeline, hc_client_world(from), turn->player, ticks[i]);
        guess.since_us = hc_sim_now(settling->sim);
        bool known = false;
        for (uint32_t g = hearer->count; g > 0 && !known; g--) {
            if (hearer->extrapolation_budget[g - 1].tick != guess.tick)
                continue;
            known = same(&hearer->extrapolation_budget[g - 1], &guess);
            break;
        }
        if (!known)
            push(hearer, &guess);
        if (i == 1)
            hearer->loss_checked_to = ticks[1];
    }
}

void bench_settling_note(struct bench_settling *settling, unsigned client) {
    for (unsigned i = 0; i < BENCH_TURNS; i++) {
        const struct bench_turn *turn = &settling->turns[i];
        if (turn->used && turn->begun && turn->hearers[client].waits)
            note(settling, turn, client);
    }
}

// ---- What the server ends up with ---------------------------------------------------------------

static bool sees(const struct bench_settling *settling, unsigned client, hc_player player) {
    return hc_sv_interest_sees(&settling->peers[client]->replication.interest,
                               (hc_unit)(1 + player));
}

/// The tick is there: those who see the player now are to hear of it.
static void begin(struct bench_settling *settling, struct bench_turn *turn) {
    turn->begun = true;
    for (unsigned c = 0; c < hc_sim_clients(settling->sim); c++) {
        bool own = settling->peers[c]->replication.own[0] == turn->player;
        struct bench_turn_hearer *hearer = &turn->hearers[c];
        hearer->waits = !own && sees(settling, c, turn->player);
        hearer->loss_checked_to = turn->tick;
        hearer->count = 0;
        turn->waiting += hearer->waits;
        if (hearer->waits)
            note(settling, turn, c);
    }
}

/// Whether the input took effect, as it was stamped.
static bool happened(const struct bench_turn *turn, const struct hc_timeline *timeline) {
    const struct hc_arena_input *at = hc_timeline_effective(timeline, turn->player, turn->tick - 1);
    const struct hc_arena_input *before =
        hc_timeline_effective(timeline, turn->player, turn->tick - 2);
    return at->move_x == turn->move_x && at->move_y == turn->move_y &&
           (before->move_x != at->move_x || before->move_y != at->move_y);
}

/// Judges the guesses of final ticks, the earliest first.
static void judge(struct bench_turn *turn, struct bench_turn_hearer *hearer,
                  const struct hc_sv_host *host) {
    while (hearer->count > 0 && hearer->extrapolation_budget[0].tick <= host->replicator.final) {
        const struct bench_turn_guess *guess = &hearer->extrapolation_budget[0];
        if (guess->tick >= hc_timeline_oldest(host->timeline)) {
            struct bench_turn_guess truth =
                read_guess(host->timeline, &host->world, turn->player, guess->tick);
            if (same(&truth, guess)) {
                if (guess->since_us > turn->right_us)
                    turn->right_us = guess->since_us;
                hearer->waits = false;
                turn->waiting--;
                turn->told++;
                return;
            }
        }
        memmove(hearer->extrapolation_budget, hearer->extrapolation_budget + 1,
                --hearer->count * sizeof *guess);
    }
}

static void finish(struct bench_settling *settling, struct bench_turn *turn) {
    uint64_t took = turn->right_us > turn->due_us ? turn->right_us - turn->due_us : 0;
    bool never = turn->waiting > 0;
    turn->used = false;
    if (!turn->checked || (turn->told == 0 && !never))
        return; // it did not happen, or nobody had it in view
    settling->never += never;
    hc_histogram_record(&settling->right_us, never ? BENCH_TURN_LIMIT_MS * UINT64_C(1000) : took);
}

void bench_settling_judge(struct bench_settling *settling) {
    const struct hc_sv_host *host = hc_sim_host(settling->sim);
    hc_tick head = hc_timeline_head(host->timeline);
    for (unsigned i = 0; i < BENCH_TURNS; i++) {
        struct bench_turn *turn = &settling->turns[i];
        if (!turn->used || head < turn->tick)
            continue;
        if (!turn->begun)
            begin(settling, turn);
        if (!turn->checked && host->replicator.final >= turn->tick) {
            turn->checked = happened(turn, host->timeline);
            turn->used = turn->checked;
        }
        for (unsigned c = 0; turn->used && c < hc_sim_clients(settling->sim); c++) {
            struct bench_turn_hearer *hearer = &turn->hearers[c];
            if (hearer->waits && !sees(settling, c, turn->player)) {
                hearer->waits = false;
                turn->waiting--;
            } else if (hearer->waits && turn->checked) {
                judge(turn, hearer, host);
            }
        }
        if (turn->used && (turn->waiting == 0 || head > turn->tick + LIMIT_TICKS) && turn->checked)
            finish(settling, turn);
    }
}

void bench_settling_end(struct bench_settling *settling) {
    for (unsigned i = 0; i < BENCH_TURNS; i++)
        if (settling->turns[i].used)
            finish(settling, &settling->turns[i]);
}
