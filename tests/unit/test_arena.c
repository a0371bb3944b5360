/// Tests of the arena's rules, map and tables on random play.
#include "common/arena/map.h"
#include "hindcast/fixed.h"
#include "hindcast/arena.h"
#include "hindcast/rng.h"
#include "hindcast/scene.h"
#include "check/plain.h"
#include "tests/run_suite.h"

#include <stdlib.h>
#include <string.h>

enum { PLAYERS = 8, RATE = 60, ROSTER_PPM = 1500 };

/// A world with players that roam, hunt and collect at random.
struct play {
    struct hc_world world;
    struct hc_plain *plain;
    struct hc_rng rng;
    struct hc_arena_input inputs[PLAYERS];
    uint8_t roster_changes[PLAYERS];
    uint8_t goals[PLAYERS];   ///< 0, 1: roam; 2: hunt; 3: collect
    uint8_t detours[PLAYERS]; ///< ticks
};

static void play_open(struct play *play, uint16_t rate, uint64_t seed) {
    *play = (struct play){.rng = hc_rng_init(seed, 1)};
    ck_assert_int_eq(hc_world_init(&play->world, &hc_arena, PLAYERS, rate, seed, NULL), HC_OK);
    play->plain = hc_plain_create(&play->world, false);
    ck_assert_ptr_nonnull(play->plain);
    hc_plain_start(play->plain);
}

static void play_close(struct play *play) {
    hc_plain_destroy(play->plain);
    hc_world_free(&play->world);
}

/// The state of `entity`; NULL when it is absent.
static const void *state_in(const struct hc_world *world, const struct hc_plain *plain,
                            hc_entity entity) {
    if (hc_plain_presence(plain)[entity] != HC_ALIVE)
        return NULL;
    return hc_plain_states(plain) + (size_t)entity * world->stride;
}

static const void *state_of(const struct play *play, hc_entity entity) {
    return state_in(&play->world, play->plain, entity);
}

static const struct hc_arena_player *player_of(const struct play *play, hc_player player) {
    return state_of(play, hc_world_player(&play->world, player));
}

static const struct hc_arena_referee *referee_of(const struct play *play) {
    return state_of(play, HC_REFEREE);
}

/// The distance to the nearest other living player; false when there is none.
static bool nearest_rival(const struct play *play, hc_player self, int32_t *dx, int32_t *dy) {
    const struct hc_arena_player *me = player_of(play, self);
    uint32_t best = UINT32_MAX;
    for (hc_player p = 0; p < PLAYERS; p++) {
        const struct hc_arena_player *player = player_of(play, p);
        if (p == self || player == NULL || player->health == 0)
            continue;
        uint32_t distance = hc_fixed_length(player->x - me->x, player->y - me->y);
        if (distance < best) {
            best = distance;
            *dx = player->x - me->x;
            *dy = player->y - me->y;
        }
    }
    return best < UINT32_MAX;
}

/// The distance to the favourite pickup of these 900 ticks, for which several players wait.
static void favourite_pickup(const struct play *play, hc_player self, int32_t *dx, int32_t *dy) {
    const struct hc_arena_player *me = player_of(play, self);
    uint32_t first = 1u + PLAYERS * play->world.per_owner, count = play->world.entities - first;
    hc_entity favourite = (hc_entity)(first + hc_plain_tick(play->plain) / 900 % count);
    const struct hc_arena_pickup *pickup = state_of(play, favourite);
    *dx = pickup->x - me->x;
    *dy = pickup->y - me->y;
}

static int8_t towards(int32_t d) {
    return (int8_t)(d > 40 ? 1 : d < -40 ? -1 : 0);
}

static void choose_input(struct play *play, hc_player self) {
    struct hc_arena_input *input = &play->inputs[self];
    const struct hc_arena_player *me = player_of(play, self);
    if (me == NULL) {
        *input = (struct hc_arena_input){0};
        return;
    }
    // A player that stands still may be stuck at a wall: it walks at random for a while.
    if (me->vx == 0 && me->vy == 0 && hc_rng_below(&play->rng, 15) == 0)
        play->detours[self] = 20;
    // A truce from time to time, because otherwise too few players live to meet at a pickup.
    if (hc_plain_tick(play->plain) % 3000 >= 2000)
        play->goals[self] = 3;
    else if (hc_rng_below(&play->rng, 120) == 0)
        play->goals[self] = (uint8_t)hc_rng_below(&play->rng, 4);
    if (play->detours[self] == 20 || hc_rng_below(&play->rng, 60) == 0) {
        input->move_x = (int8_t)((int32_t)hc_rng_below(&play->rng, 3) - 1);
        input->move_y = (int8_t)((int32_t)hc_rng_below(&play->rng, 3) - 1);
    }
    int32_t dx = 0, dy = 0;
    bool rival = nearest_rival(play, self, &dx, &dy);
    if (rival)
        input->aim = (uint8_t)(hc_fixed_angle(dx, dy) / (HC_FIXED_TURN / 256));
    if (play->goals[self] == 3)
        favourite_pickup(play, self, &dx, &dy);
    if (play->detours[self] > 0) {
        play->detours[self]--;
    } else if (play->goals[self] == 3 || (play->goals[self] == 2 && rival)) {
        input->move_x = towards(dx);
        input->move_y = towards(dy);
    }
    input->fire = play->goals[self] != 3 && hc_rng_below(&play->rng, 4) != 0;
}

/// Draws the inputs, joins and leaves of the current tick.
static void choose(struct play *play) {
    for (hc_player p = 0; p < PLAYERS; p++) {
        choose_input(play, p);
        play->roster_changes[p] = HC_ROSTER_NONE;
        if (hc_plain_tick(play->plain) == p || hc_rng_chance(&play->rng, ROSTER_PPM))
            play->roster_changes[p] = HC_ROSTER_JOIN;
        else if (hc_rng_chance(&play->rng, ROSTER_PPM / 3))
            play->roster_changes[p] = HC_ROSTER_LEAVE;
    }
}

static void step(struct hc_plain *plain, const struct play *play) {
    hc_plain_step(plain, (const uint8_t *)play->inputs, play->roster_changes);
}

/// All presence and states of one tick.
struct copy {
    uint8_t presence[256];
    _Alignas(8) uint8_t states[256 * HC_STATE_MAX];
};

static void copy_take(struct copy *copy, const struct play *play) {
    ck_assert_uint_le(play->world.entities, 256);
    memcpy(copy->presence, hc_plain_presence(play->plain), play->world.entities);
    memcpy(copy->states, hc_plain_states(play->plain),
           (size_t)play->world.entities * play->world.stride);
}

static const void *copied(const struct play *play, const struct copy *copy, hc_entity entity) {
    return copy->presence[entity] == HC_ALIVE ? copy->states + (size_t)entity * play->world.stride
                                              : NULL;
}

static bool any_roster_change(const struct play *play) {
    for (hc_player p = 0; p < PLAYERS; p++)
        if (play->roster_changes[p] != HC_ROSTER_NONE)
            return true;
    return false;
}

/// Sets the player before and after a tick; false unless it lived on in the same round.
static bool lived_on(const struct play *play, const struct copy *before, hc_player p,
                     const struct hc_arena_player **was, const struct hc_arena_player **is) {
    *was = copied(play, before, hc_world_player(&play->world, p));
    *is = player_of(play, p);
    return *was != NULL && *is != NULL && play->roster_changes[p] == HC_ROSTER_NONE &&
           (*was)->match == (*is)->match && (*was)->health > 0 && (*is)->health > 0;
}

START_TEST(the_tables_are_valid) {
    char why[256];
    ck_assert_pstr_eq(hc_game_check(&hc_arena, why, sizeof(why)), NULL);
}
END_TEST

START_TEST(every_field_fits_its_bits_and_no_player_stands_in_a_wall) {
    struct play play;
    play_open(&play, RATE, 11);
    for (int i = 0; i < 6000; i++) {
        choose(&play);
        step(play.plain, &play);
        for (uint32_t e = 0; e < play.world.entities; e++) {
            const void *state = state_of(&play, (hc_entity)e);
            const struct hc_kind *kind = hc_world_kind(&play.world, (hc_entity)e);
            for (unsigned f = 0; state != NULL && f < kind->field_count; f++)
                ck_assert_msg(
                    hc_field_fits(&kind->fields[f], hc_field_get(&kind->fields[f], state)),
                    "%s.%s at tick %d", kind->name, kind->fields[f].name, i);
        }
        for (hc_player p = 0; p < PLAYERS; p++) {
            const struct hc_arena_player *player = player_of(&play, p);
            const int32_t r = HC_ARENA_RADIUS;
            for (int corner = 0; player != NULL && corner < 4; corner++)
                ck_assert(!hc_arena_inside_wall(&play.world,
                                                player->x + (corner % 2 == 0 ? -r : r - 1),
                                                player->y + (corner / 2 == 0 ? -r : r - 1)));
        }
    }
    play_close(&play);
}
END_TEST

START_TEST(a_step_writes_all_of_its_state_and_depends_on_nothing_else) {
    struct play play;
    play_open(&play, RATE, 12);
    // The twin is one step ahead, so it fills the output with another pattern before each step.
    struct hc_plain *twin = hc_plain_create(&play.world, false);
    ck_assert_ptr_nonnull(twin);
    hc_plain_start(twin);
    step(twin, &play);
    hc_plain_load(twin, 0, hc_plain_presence(play.plain), hc_plain_states(play.plain));
    for (int i = 0; i < 4000; i++) {
        choose(&play);
        step(play.plain, &play);
        step(twin, &play);
        ck_assert_mem_eq(hc_plain_presence(twin), hc_plain_presence(play.plain),
                         play.world.entities);
        ck_assert_mem_eq(hc_plain_states(twin), hc_plain_states(play.plain),
                         (size_t)play.world.entities * play.world.stride);
    }
    hc_plain_destroy(twin);
    play_close(&play);
}
END_TEST

static bool lives(const struct hc_arena_player *player) {
    return player != NULL && player->health > 0;
}

/// Copies the players of `play`; absent ones are all zeros.
static void copy_players(const struct play *play, struct hc_arena_player out[static PLAYERS],
                         bool present[static PLAYERS]) {
    for (hc_player p = 0; p < PLAYERS; p++) {
        const struct hc_arena_player *player = player_of(play, p);
        present[p] = player != NULL;
        out[p] = present[p] ? *player : (struct hc_arena_player){0};
    }
}

START_TEST(without_the_secret_no_player_appears_and_all_others_step_alike) {
    unsigned joined = 0, respawned = 0, restarted = 0;
    struct play play;
    play_open(&play, RATE, 31);
    struct hc_plain *client = hc_plain_create(&play.world, false);
    ck_assert_ptr_nonnull(client);
    hc_plain_set_secret(client, NULL);
    for (int i = 0; i < 20000; i++) {
        struct hc_arena_player before[PLAYERS];
        bool was[PLAYERS];
        choose(&play);
        hc_plain_load(client, hc_plain_tick(play.plain), hc_plain_presence(play.plain),
                      hc_plain_states(play.plain));
        copy_players(&play, before, was);
        step(play.plain, &play);
        step(client, &play);
        for (hc_player p = 0; p < PLAYERS; p++) {
            const struct hc_arena_player *is = player_of(&play, p);
            const struct hc_arena_player *held =
                state_in(&play.world, client, hc_world_player(&play.world, p));
            bool dead = was[p] && before[p].health == 0;
            bool appears = is != NULL && (!was[p] || dead || before[p].match != is->match ||
                                          play.roster_changes[p] == HC_ROSTER_JOIN);
            if (!lives(is) || !appears) {
                ck_assert_int_eq(is != NULL, held != NULL);
                ck_assert(is == NULL || memcmp(is, held, sizeof *is) == 0);
                continue;
            }
            ck_assert_int_eq(was[p], held != NULL);
            ck_assert(held == NULL || (held->x == before[p].x && held->y == before[p].y &&
                                       held->health == before[p].health));
            joined += held == NULL;
            respawned += held != NULL && dead;
            restarted += held != NULL && !dead;
        }
    }
    ck_assert_msg(joined > 5 && respawned > 20 && restarted > 4, "%u, %u, %u", joined, respawned,
                  restarted);
    hc_plain_destroy(client);
    play_close(&play);
}
END_TEST

/// The counts of events.
struct tally {
    unsigned kills, deaths, respawns, cures, boosts, contests, round_ends, restarts, wounds;
};

static void tally_players(const struct play *play, const struct copy *before, struct tally *tally) {
    for (hc_player p = 0; p < PLAYERS; p++) {
        const struct hc_arena_player *was = copied(play, before, hc_world_player(&play->world, p));
        const struct hc_arena_player *is = player_of(play, p);
        if (was == NULL || is == NULL || play->roster_changes[p] != HC_ROSTER_NONE)
            continue;
        tally->kills += is->score > was->score;
        tally->deaths += was->health > 0 && is->health == 0;
        tally->respawns += was->health == 0 && is->health > 0;
        tally->cures += was->health > 0 && is->health > was->health;
        tally->boosts += is->rapid > was->rapid;
        tally->wounds += is->health > 0 && is->health < was->health;
        tally->restarts += is->match != was->match;
        if (is->match != was->match)
            ck_assert_uint_eq(is->score + is->deaths, 0);
    }
    const struct hc_arena_referee *was = copied(play, before, HC_REFEREE);
    tally->round_ends += was->phase == HC_ARENA_PLAYING && referee_of(play)->phase == HC_ARENA_OVER;
}

START_TEST(players_kill_die_return_collect_contest_and_finish_rounds) {
    struct play play;
    struct copy before;
    struct tally tally = {0};
    play_open(&play, RATE, 13);
    for (int i = 0; i < 20000; i++) {
        choose(&play);
        copy_take(&before, &play);
        step(play.plain, &play);
        tally_players(&play, &before, &tally);
        for (uint32_t e = 0; e < play.world.entities; e++) {
            const struct hc_arena_pickup *pickup = copied(&play, &before, (hc_entity)e);
            if (play.world.kind_of[e] != HC_ARENA_KIND_PICKUP || pickup->refill > 0)
                continue;
            unsigned rivals = 0;
            for (hc_player p = 0; p < PLAYERS; p++) {
                const struct hc_arena_player *player =
                    copied(&play, &before, hc_world_player(&play.world, p));
                rivals +=
                    player != NULL && player->health > 0 &&
                    hc_fixed_length(player->x - pickup->x, player->y - pickup->y) < HC_ARENA_GRASP;
            }
            tally.contests += rivals >= 2;
        }
    }
    const unsigned *counts = (const unsigned *)&tally;
    for (unsigned i = 0; i < sizeof(tally) / sizeof(*counts); i++)
        ck_assert_msg(counts[i] > 0,
                      "nothing of one sort: %u kills, %u deaths, %u respawns, %u cures, %u boosts, "
                      "%u contests, %u round ends, %u restarts, %u wounds",
                      tally.kills, tally.deaths, tally.respawns, tally.cures, tally.boosts,
                      tally.contests, tally.round_ends, tally.restarts, tally.wounds);
    play_close(&play);
}
END_TEST

/// The kills of the shots of `player`; of all shots for HC_NO_PLAYER.
static unsigned kills_of(const struct play *play, const struct copy *copy, hc_player player) {
    unsigned kills = 0;
    for (uint32_t e = 0; e < play->world.entities; e++) {
        const struct hc_arena_shot *shot = copied(play, copy, (hc_entity)e);
        if (play->world.kind_of[e] == HC_ARENA_KIND_SHOT && shot != NULL &&
            (player == HC_NO_PLAYER || play->world.owner_of[e] == player))
            kills += shot->kills;
    }
    return kills;
}

START_TEST(every_kill_is_of_one_shot_and_scores_once) {
    struct play play;
    struct copy before, after;
    unsigned scored = 0;
    play_open(&play, RATE, 14);
    for (int i = 0; i < 12000; i++) {
        choose(&play);
        copy_take(&before, &play);
        step(play.plain, &play);
        copy_take(&after, &play);
        const struct hc_arena_referee *referee = copied(&play, &before, HC_REFEREE);
        unsigned victims = 0;
        for (hc_player p = 0; p < PLAYERS; p++) {
            hc_entity entity = hc_world_player(&play.world, p);
            const struct hc_arena_player *was = copied(&play, &before, entity);
            const struct hc_arena_player *is = copied(&play, &after, entity);
            if (was == NULL || is == NULL || play.roster_changes[p] != HC_ROSTER_NONE ||
                was->match != is->match)
                continue;
            victims += was->health > 0 && is->health == 0;
            ck_assert_uint_eq(is->score, was->score + kills_of(&play, &before, p));
            scored += is->score > was->score;
        }
        // A player that joins or leaves may drop a kill or a death; otherwise the sums agree.
        if (!any_roster_change(&play))
            ck_assert_uint_eq(kills_of(&play, &after, HC_NO_PLAYER),
                              referee->phase == HC_ARENA_PLAYING ? victims : 0);
        for (uint32_t e = 0; e < play.world.entities; e++) {
            const struct hc_arena_shot *shot = copied(&play, &before, (hc_entity)e);
            if (play.world.kind_of[e] == HC_ARENA_KIND_SHOT && shot != NULL && shot->life == 0)
                ck_assert_ptr_null(copied(&play, &after, (hc_entity)e));
        }
    }
    ck_assert_uint_gt(scored, 20);
    play_close(&play);
}
END_TEST

START_TEST(several_shots_that_strike_in_one_tick_share_one_kill) {
    struct play play;
    play_open(&play, RATE, 15);
    const uint16_t x = 8 * HC_ARENA_TILE, y = 7 * HC_ARENA_TILE + HC_ARENA_TILE / 2;
    struct hc_arena_referee referee = {.phase = HC_ARENA_PLAYING, .clock = 1000};
    hc_plain_overlay(play.plain, HC_REFEREE, HC_ALIVE, &referee);
    for (hc_player p = 0; p < 4; p++) {
        struct hc_arena_player player = {.x = x, .y = y, .health = 2 * HC_ARENA_DAMAGE};
        struct hc_arena_shot shot = {.x = x, .y = y, .life = 9};
        shot.angle = (uint8_t)(p * 64);
        player.x = (uint16_t)(p == 0 ? x : x + 5 * HC_ARENA_TILE);
        player.y = (uint16_t)(p == 0 ? y : y + p);
        hc_entity entity = hc_world_player(&play.world, p);
        hc_plain_overlay(play.plain, entity, HC_ALIVE, &player);
        if (p > 0)
            hc_plain_overlay(play.plain, (hc_entity)(entity + 1), HC_ALIVE, &shot);
    }
    step(play.plain, &play);
    ck_assert_uint_eq(player_of(&play, 0)->health, 0);
    step(play.plain, &play);
    // 50 health at 25 a hit: the second shot in the order of ids kills.
    ck_assert_uint_eq(player_of(&play, 1)->score, 0);
    ck_assert_uint_eq(player_of(&play, 2)->score, 1);
    ck_assert_uint_eq(player_of(&play, 3)->score, 0);
    play_close(&play);
}
END_TEST

START_TEST(a_pickup_goes_only_to_its_winner) {
    struct play play;
    struct copy before;
    unsigned given = 0;
    play_open(&play, RATE, 16);
    for (int i = 0; i < 12000; i++) {
        choose(&play);
        copy_take(&before, &play);
        step(play.plain, &play);
        bool cure[PLAYERS] = {0}, boost[PLAYERS] = {0};
        for (uint32_t e = 0; e < play.world.entities; e++) {
            const struct hc_arena_pickup *pickup = copied(&play, &before, (hc_entity)e);
            if (play.world.kind_of[e] != HC_ARENA_KIND_PICKUP || pickup->winner == HC_ARENA_NOBODY)
                continue;
            ck_assert_uint_lt(pickup->winner, PLAYERS);
            (pickup->gift == HC_ARENA_GIFT_HEALTH ? cure : boost)[pickup->winner] = true;
            const struct hc_arena_pickup *now = state_of(&play, (hc_entity)e);
            ck_assert_uint_eq(now->winner, HC_ARENA_NOBODY);
            ck_assert_uint_gt(now->refill, 0);
        }
        for (hc_player p = 0; p < PLAYERS; p++) {
            const struct hc_arena_player *was, *is;
            if (!lived_on(&play, &before, p, &was, &is))
                continue;
            if (boost[p])
                ck_assert_uint_eq(is->rapid, HC_ARENA_BOOST_MS * RATE / 1000);
            else
                ck_assert_uint_eq(is->rapid, was->rapid > 0 ? was->rapid - 1 : 0);
            if (is->health > was->health)
                ck_assert(cure[p]);
            given += boost[p] || cure[p];
        }
    }
    ck_assert_uint_gt(given, 20);
    play_close(&play);
}
END_TEST

START_TEST(the_nearer_of_two_players_wins_a_pickup_then_the_lower_id) {
    for (int d = 0; d <= 8; d++) {
        struct play play;
        play_open(&play, RATE, 17);
        hc_entity id = (hc_entity)(play.world.entities - 1);
        const struct hc_arena_pickup *pickup = state_of(&play, id);
        struct hc_arena_player player = {.health = HC_ARENA_HEALTH, .y = pickup->y};
        player.x = (uint16_t)(pickup->x - 90);
        hc_plain_overlay(play.plain, hc_world_player(&play.world, 2), HC_ALIVE, &player);
        player.x = (uint16_t)(pickup->x + 86 + d);
        hc_plain_overlay(play.plain, hc_world_player(&play.world, 5), HC_ALIVE, &player);
        step(play.plain, &play);
        pickup = state_of(&play, id);
        ck_assert_uint_eq(pickup->winner, d < 4 ? 5 : 2);
        play_close(&play);
    }
}
END_TEST

static bool same(const struct play *play, const struct hc_plain *other, hc_entity entity) {
    const void *a = state_of(play, entity), *b = state_in(&play->world, other, entity);
    if (a == NULL || b == NULL)
        return a == b;
    return memcmp(a, b, hc_world_kind(&play->world, entity)->state_size) == 0;
}

static bool in_reach(const struct hc_world *world, const struct hc_plain *plain, hc_entity a,
                     hc_entity b) {
    const void *sa = state_in(world, plain, a), *sb = state_in(world, plain, b);
    int64_t ax, ay, bx, by;
    return sa != NULL && sb != NULL && hc_world_position(world, a, sa, &ax, &ay) &&
           hc_world_position(world, b, sb, &bx, &by) && llabs(ax - bx) <= HC_ARENA_REACH &&
           llabs(ay - by) <= HC_ARENA_REACH;
}

START_TEST(an_input_changes_its_owners_slots_at_once_and_others_only_within_reach) {
    struct play play;
    play_open(&play, RATE, 18);
    struct hc_plain *other = hc_plain_create(&play.world, false);
    ck_assert_ptr_nonnull(other);
    unsigned own = 0, others = 0;
    for (int i = 0; i < 4000; i++) {
        choose(&play);
        memset(play.roster_changes, i < PLAYERS ? HC_ROSTER_JOIN : HC_ROSTER_NONE, PLAYERS);
        hc_plain_load(other, hc_plain_tick(play.plain), hc_plain_presence(play.plain),
                      hc_plain_states(play.plain));
        hc_player p = (hc_player)hc_rng_below(&play.rng, PLAYERS);
        step(play.plain, &play);
        struct hc_arena_input input = play.inputs[p];
        play.inputs[p].move_x = input.move_x > 0 ? -1 : 1;
        play.inputs[p].fire = !input.fire;
        step(other, &play);
        play.inputs[p] = input;
        bool changed[256];
        for (uint32_t e = 0; e < play.world.entities; e++) {
            changed[e] = !same(&play, other, (hc_entity)e);
            ck_assert(!changed[e] || play.world.owner_of[e] == p);
            own += changed[e];
        }
        // The next tick of both, from copies, so that the play itself does not change.
        struct play ahead = play;
        ahead.plain = hc_plain_create(&play.world, false);
        hc_plain_load(ahead.plain, hc_plain_tick(play.plain), hc_plain_presence(play.plain),
                      hc_plain_states(play.plain));
        struct hc_plain *was = hc_plain_create(&play.world, false);
        hc_plain_load(was, hc_plain_tick(other), hc_plain_presence(other), hc_plain_states(other));
        step(ahead.plain, &play);
        step(other, &play);
        for (uint32_t e = 1; e < play.world.entities; e++) {
            if (same(&ahead, other, (hc_entity)e) || play.world.owner_of[e] == p)
                continue;
            bool reached = false;
            for (uint32_t c = 1; c < play.world.entities; c++)
                reached |=
                    changed[c] && (in_reach(&play.world, play.plain, (hc_entity)c, (hc_entity)e) ||
                                   in_reach(&play.world, was, (hc_entity)c, (hc_entity)e));
            ck_assert(reached);
            others++;
        }
        hc_plain_destroy(was);
        hc_plain_destroy(ahead.plain);
    }
    ck_assert_uint_gt(own, 1000);
    ck_assert_uint_gt(others, 10);
    hc_plain_destroy(other);
    play_close(&play);
}
END_TEST

START_TEST(a_lone_player_changes_no_other_and_starts_no_round) {
    struct play play;
    play_open(&play, RATE, 19);
    for (int i = 0; i < 3000; i++) {
        choose(&play);
        memset(play.roster_changes, HC_ROSTER_NONE, PLAYERS);
        play.roster_changes[3] = i == 0 ? HC_ROSTER_JOIN : HC_ROSTER_NONE;
        step(play.plain, &play);
        ck_assert_uint_eq(referee_of(&play)->phase, HC_ARENA_WAITING);
        ck_assert_uint_eq(player_of(&play, 3)->health, HC_ARENA_HEALTH);
        for (uint32_t e = 1; e < play.world.entities; e++)
            if (play.world.owner_of[e] != 3 && play.world.owner_of[e] != HC_NO_PLAYER)
                ck_assert_uint_eq(hc_plain_presence(play.plain)[e], HC_ABSENT);
    }
    play_close(&play);
}
END_TEST

START_TEST(leaving_removes_the_players_shots_and_joining_again_resets_the_player) {
    struct play play;
    play_open(&play, RATE, 20);
    hc_entity self = hc_world_player(&play.world, 1);
    struct hc_arena_player player = {.x = 1920, .y = 1920, .health = 5, .score = 3};
    struct hc_arena_shot shot = {.x = 1920, .y = 1920, .life = 40};
    for (int join = 0; join <= 1; join++) {
        hc_plain_overlay(play.plain, self, HC_ALIVE, &player);
        hc_plain_overlay(play.plain, (hc_entity)(self + 2), HC_ALIVE, &shot);
        play.inputs[1].fire = 1;
        play.roster_changes[1] = join ? HC_ROSTER_JOIN : HC_ROSTER_LEAVE;
        step(play.plain, &play);
        for (unsigned slot = 1; slot <= HC_ARENA_SHOTS; slot++)
            ck_assert_ptr_null(state_of(&play, (hc_entity)(self + slot)));
        if (!join)
            ck_assert_ptr_null(player_of(&play, 1));
    }
    ck_assert_uint_eq(player_of(&play, 1)->health, HC_ARENA_HEALTH);
    ck_assert_uint_eq(player_of(&play, 1)->score, 0);
    play_close(&play);
}
END_TEST

START_TEST(overlapping_players_shove_each_other_apart_symmetrically) {
    const int32_t middle = 7 * HC_ARENA_TILE + HC_ARENA_TILE;
    for (int32_t gap = 0; gap < 2 * HC_ARENA_RADIUS; gap++) {
        struct play play;
        play_open(&play, RATE, 21);
        struct hc_arena_player player = {.health = HC_ARENA_HEALTH};
        player.x = (uint16_t)(10 * HC_ARENA_TILE);
        player.y = (uint16_t)(middle);
        hc_plain_overlay(play.plain, hc_world_player(&play.world, 0), HC_ALIVE, &player);
        player.x = (uint16_t)(player.x + gap);
        hc_plain_overlay(play.plain, hc_world_player(&play.world, 1), HC_ALIVE, &player);
        step(play.plain, &play);
        int32_t a = player_of(&play, 0)->x, b = player_of(&play, 1)->x;
        ck_assert_int_eq(a + b, 20 * HC_ARENA_TILE + gap);
        ck_assert_int_ge(b - a, 2 * HC_ARENA_RADIUS - 1);
        play_close(&play);
    }
}
END_TEST

/// Measures the distance of a running player in one second, and of a shot in its life.
static void measure_speed(uint16_t rate, int32_t *run, int32_t *flight) {
    struct play play;
    play_open(&play, rate, 22);
    // Between two rows of cells the map has no walls.
    struct hc_arena_player player = {.health = HC_ARENA_HEALTH, .vx = HC_ARENA_RUN_SPEED};
    player.x = 2 * HC_ARENA_TILE;
    player.y = 7 * HC_ARENA_TILE + HC_ARENA_TILE / 2;
    hc_entity self = hc_world_player(&play.world, 0);
    hc_plain_overlay(play.plain, self, HC_ALIVE, &player);
    play.inputs[0] = (struct hc_arena_input){.move_x = 1, .fire = 1};
    step(play.plain, &play);
    int32_t from = -1;
    *flight = 0;
    *run = -1;
    for (int i = 1; i <= rate; i++) {
        const struct hc_arena_shot *shot = state_of(&play, (hc_entity)(self + 1));
        if (shot != NULL && from < 0)
            from = shot->x;
        if (shot != NULL && shot->x - from > *flight)
            *flight = shot->x - from;
        if (i == rate)
            *run = player_of(&play, 0)->x - player.x;
        play.inputs[0].fire = 0;
        step(play.plain, &play);
    }
    play_close(&play);
}

START_TEST(speeds_per_second_are_equal_at_every_tick_rate) {
    static const uint16_t rates[] = {10, 30, 60, 90, 120, 240};
    for (unsigned i = 0; i < sizeof(rates) / sizeof(*rates); i++) {
        int32_t run, flight;
        measure_speed(rates[i], &run, &flight);
        ck_assert_int_eq(run, HC_ARENA_RUN_SPEED);
        ck_assert_int_le(abs(flight - HC_ARENA_SHOT_SPEED * HC_ARENA_SHOT_MS / 1000), 1);
    }
}
END_TEST

/// Marks the free tiles in reach of tile `from` in `marks[side * side]`; returns their number.
static uint32_t flood(const struct hc_world *world, uint32_t from, uint8_t *marks,
                      uint32_t *stack) {
    int32_t side = hc_arena_side(world);
    uint32_t depth = 0, reached = 0;
    stack[depth++] = from;
    marks[from] = 1;
    while (depth > 0) {
        int32_t at = (int32_t)stack[--depth];
        reached++;
        const int32_t next[4] = {at - 1, at + 1, at - side, at + side};
        for (int i = 0; i < 4; i++)
            if (!marks[next[i]] && !hc_arena_wall(world, next[i] % side, next[i] / side)) {
                marks[next[i]] = 1;
                stack[depth++] = (uint32_t)next[i];
            }
    }
    return reached;
}

START_TEST(every_free_tile_of_any_map_can_be_reached_and_the_map_fits_16_bits) {
    static const uint16_t sizes[] = {1, 2, 5, 8, 300, 1024, HC_ARENA_PLAYERS};
    for (uint64_t seed = 0; seed < 28; seed++) {
        struct hc_world world;
        uint16_t players = sizes[seed % 7];
        ck_assert_int_eq(hc_world_init(&world, &hc_arena, players, RATE, seed, NULL), HC_OK);
        int32_t side = hc_arena_side(&world);
        ck_assert_int_le(side * HC_ARENA_TILE, 65536);
        ck_assert_int_ge(side * side, 64 * (players < 1024 ? players : 1024));
        uint32_t tiles = (uint32_t)(side * side), free_tiles = 0;
        uint8_t *marks = calloc(tiles, 1);
        uint32_t *stack = calloc(tiles, sizeof(*stack));
        ck_assert(marks != NULL && stack != NULL);
        for (uint32_t i = 0; i < tiles; i++)
            free_tiles += !hc_arena_wall(&world, (int32_t)i % side, (int32_t)i / side);
        ck_assert_uint_eq(flood(&world, (uint32_t)(7 * side + 7), marks, stack), free_tiles);
        ck_assert_uint_lt(free_tiles, tiles * 9 / 10);
        for (uint64_t r = 0; r < 200; r++) {
            uint16_t x, y;
            hc_arena_free_place(&world, hc_random(seed, (uint32_t)r, 0, 0), &x, &y);
            ck_assert(!hc_arena_inside_wall(&world, x, y));
        }
        free(stack);
        free(marks);
        hc_world_free(&world);
    }
}
END_TEST

/// The bytes of the longest msgpack integer that a field needs.
static unsigned msgpack_bytes_max(const struct hc_field *field) {
    unsigned bits = field->bits;
    return bits <= (field->is_signed ? 6u : 7u) ? 1 : bits <= 8 ? 2 : bits <= 16 ? 3 : 5;
}

START_TEST(a_whole_world_of_eight_fits_one_datagram) {
    struct hc_world world;
    ck_assert_int_eq(hc_world_init(&world, &hc_arena, PLAYERS, RATE, 1, NULL), HC_OK);
    unsigned bytes = 0;
    for (uint32_t e = 0; e < world.entities; e++) {
        const struct hc_kind *kind = hc_world_kind(&world, (hc_entity)e);
        bytes++;
        for (unsigned f = 0; f < kind->field_count; f++)
            bytes += msgpack_bytes_max(&kind->fields[f]);
    }
    ck_assert_uint_le(bytes, 950);
    hc_world_free(&world);
}
END_TEST

START_TEST(sanitizing_makes_any_input_legal_and_leaves_a_legal_one) {
    for (unsigned bits = 0; bits < 1u << 13; bits++) {
        struct hc_arena_input input = {
            .move_x = (int8_t)((int)(bits & 3) - 2),
            .move_y = (int8_t)((int)(bits >> 2 & 3) - 2),
            .aim = (uint8_t)(bits >> 4 & 255),
            .fire = (uint8_t)(bits >> 12),
        };
        struct hc_arena_input before = input;
        hc_arena.sanitize_input(&input);
        ck_assert(input.move_x >= -1 && input.move_x <= 1 && input.move_y >= -1 &&
                  input.move_y <= 1 && input.fire <= 1);
        if (before.move_x != -2 && before.move_y != -2)
            ck_assert_mem_eq(&before, &input, sizeof(input));
    }
}
END_TEST

START_TEST(a_predicted_input_is_held_then_decays_to_neutral_and_holds_its_aim) {
    const struct hc_arena_input last = {.move_x = -1, .move_y = 1, .aim = 77, .fire = 1};
    struct hc_arena_input input, older = last;
    hc_arena.predict_input(&last, 1, &input);
    ck_assert_mem_eq(&input, &last, sizeof(input));
    for (uint32_t age = 2; age < 300; age++) {
        hc_arena.predict_input(&last, age, &input);
        ck_assert(input.aim == 77 && input.fire <= older.fire &&
                  abs(input.move_x) <= abs(older.move_x) && abs(input.move_y) <= abs(older.move_y));
        older = input;
    }
    ck_assert(input.move_x == 0 && input.move_y == 0 && input.fire == 0);
}
END_TEST

START_TEST(a_fixed_play_ends_with_its_golden_hash) {
    // Changes with a rule, a constant, the map, a table or the players of this file. Each but the
    // last also raises hc_arena.version. It is equal on every machine and with every compiler.
    const uint64_t golden = UINT64_C(0x27aa7b2caf6d2889);
    struct play play;
    play_open(&play, RATE, 2023);
    for (int i = 0; i < 3000; i++) {
        choose(&play);
        step(play.plain, &play);
    }
    uint64_t hash =
        hc_world_hash(&play.world, hc_plain_presence(play.plain), hc_plain_states(play.plain));
    ck_assert_msg(hash == golden, "0x%016llx", (unsigned long long)hash);
    play_close(&play);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("arena");
    TCase *rules = tcase_create("rules");
    tcase_add_test(rules, the_tables_are_valid);
    tcase_add_test(rules, a_step_writes_all_of_its_state_and_depends_on_nothing_else);
    tcase_add_test(rules, players_kill_die_return_collect_contest_and_finish_rounds);
    tcase_add_test(rules, every_kill_is_of_one_shot_and_scores_once);
    tcase_add_test(rules, several_shots_that_strike_in_one_tick_share_one_kill);
    tcase_add_test(rules, a_pickup_goes_only_to_its_winner);
    tcase_add_test(rules, the_nearer_of_two_players_wins_a_pickup_then_the_lower_id);
    tcase_add_test(rules, an_input_changes_its_owners_slots_at_once_and_others_only_within_reach);
    tcase_add_test(rules, a_lone_player_changes_no_other_and_starts_no_round);
    tcase_add_test(rules, leaving_removes_the_players_shots_and_joining_again_resets_the_player);
    tcase_add_test(rules, overlapping_players_shove_each_other_apart_symmetrically);
    tcase_add_test(rules, speeds_per_second_are_equal_at_every_tick_rate);
    tcase_add_test(rules, every_free_tile_of_any_map_can_be_reached_and_the_map_fits_16_bits);
    tcase_add_test(rules, a_whole_world_of_eight_fits_one_datagram);
    tcase_add_test(rules, sanitizing_makes_any_input_legal_and_leaves_a_legal_one);
    tcase_add_test(rules, a_predicted_input_is_held_then_decays_to_neutral_and_holds_its_aim);
    tcase_add_test(rules, a_fixed_play_ends_with_its_golden_hash);
    suite_add_tcase(suite, rules);
    TCase *long_plays = add_long_plays(suite);
    tcase_add_test(long_plays, every_field_fits_its_bits_and_no_player_stands_in_a_wall);
    tcase_add_test(long_plays, without_the_secret_no_player_appears_and_all_others_step_alike);
    return run_suite(suite);
}
