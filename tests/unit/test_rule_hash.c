/// Tests of hc_game_rule_hash: games with equal tables and different rules have different hashes.
#include "hindcast/arena.h"
#include "hindcast/scene.h"
#include "proto/datagram.h"
#include "tests/run_suite.h"
#include "tests/unit/scarce.h"

#include <string.h>

static bool step_with_weak_shots(struct hc_scene *scene, hc_entity self, void *out) {
    const struct hc_arena_player *before = hc_scene_state(scene, self);
    bool alive = hc_arena.step(scene, self, out);
    struct hc_arena_player *after = out;
    if (alive && before != NULL && scene->world->kind_of[self] == HC_ARENA_KIND_PLAYER &&
        after->health != 0 && after->health < before->health)
        after->health++;
    return alive;
}

static bool step_with_early_pickups(struct hc_scene *scene, hc_entity self, void *out) {
    bool alive = hc_arena.step(scene, self, out);
    struct hc_arena_pickup *pickup = out;
    if (alive && scene->world->kind_of[self] == HC_ARENA_KIND_PICKUP && pickup->refill == 100)
        pickup->refill = 99;
    return alive;
}

static bool step_without_leaves(struct hc_scene *scene, hc_entity self, void *out) {
    const void *before = hc_scene_state(scene, self);
    if (before == NULL || scene->world->kind_of[self] != HC_ARENA_KIND_PLAYER ||
        hc_scene_roster(scene) != HC_ROSTER_LEAVE)
        return hc_arena.step(scene, self, out);
    memcpy(out, before, sizeof(struct hc_arena_player));
    return true;
}

static void predict_nothing(const void *last, uint32_t age, void *out) {
    (void)last;
    (void)age;
    memset(out, 0, sizeof(struct hc_arena_input));
}

static void sanitize_walk(void *input) {
    hc_arena.sanitize_input(input);
    ((struct hc_arena_input *)input)->fire = 0;
}

static bool start_later(const struct hc_world *world, hc_entity self, void *out) {
    bool alive = hc_arena.start(world, self, out);
    if (alive && world->kind_of[self] == HC_ARENA_KIND_PICKUP)
        ((struct hc_arena_pickup *)out)->refill = 1;
    return alive;
}

START_TEST(another_rule_has_another_hash) {
    struct hc_game games[7];
    for (int i = 0; i < 7; i++)
        games[i] = hc_arena;
    games[1].step = step_with_weak_shots;
    games[2].step = step_with_early_pickups;
    games[3].step = step_without_leaves;
    games[4].predict_input = predict_nothing;
    games[5].sanitize_input = sanitize_walk;
    games[6].start = start_later;
    uint64_t hashes[7];
    for (int i = 0; i < 7; i++) {
        hashes[i] = hc_game_rule_hash(&games[i], NULL);
        ck_assert_uint_ne(hashes[i], 0);
        ck_assert_uint_eq(hc_game_hash(&games[i]), hc_game_hash(&hc_arena));
        for (int j = 0; j < i; j++)
            ck_assert_msg(hashes[i] != hashes[j], "games %d and %d have one hash", i, j);
    }
}
END_TEST

START_TEST(the_same_rule_has_the_same_hash) {
    ck_assert_uint_eq(hc_game_rule_hash(&hc_arena, NULL), hc_game_rule_hash(&hc_arena, NULL));
}
END_TEST

START_TEST(the_protocol_id_depends_on_the_rule) {
    ck_assert_uint_ne(hc_datagram_protocol_id(&hc_arena, 1), hc_datagram_protocol_id(&hc_arena, 2));
}
END_TEST

START_TEST(an_invalid_game_and_a_lack_of_memory_give_no_hash) {
    struct hc_game nameless = hc_arena;
    nameless.name = "";
    ck_assert_uint_eq(hc_game_rule_hash(&nameless, NULL), 0);
    bool made = false;
    for (int room = 0; !made; room++) {
        struct scarce scarce = {.left = room};
        struct hc_allocator allocator = {scarce_allocate, scarce_release, &scarce};
        ck_assert_int_lt(room, 100);
        uint64_t hash = hc_game_rule_hash(&hc_arena, &allocator);
        made = hash != 0;
        ck_assert(!made || hash == hc_game_rule_hash(&hc_arena, NULL));
        ck_assert_int_eq(scarce.held, 0);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("rule hash");
    TCase *tests = tcase_create("rule hash");
    tcase_add_test(tests, another_rule_has_another_hash);
    tcase_add_test(tests, the_same_rule_has_the_same_hash);
    tcase_add_test(tests, the_protocol_id_depends_on_the_rule);
    tcase_add_test(tests, an_invalid_game_and_a_lack_of_memory_give_no_hash);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
