// What the server believes that a client holds.
#include "common/rng.h"
#include "server/told.h"
#include "tests/unit/small_game.h"
#include "tests/run_suite.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS = 8, ENTITIES_MAX = 64, SENDS = 4000 };

static struct hc_world world;
static struct hc_sv_told told;
static uint8_t *memory;

static void set_up(void) {
    ck_assert_int_eq(hc_world_init(&world, &small_game, 3, 60, 1, NULL), HC_OK);
    ck_assert_uint_le(world.entities, ENTITIES_MAX);
    memory = calloc(1, hc_sv_told_layout(&told, &world, ROWS, NULL));
    hc_sv_told_layout(&told, &world, ROWS, memory);
    hc_sv_told_clear(&told);
}

static void tear_down(void) {
    free(memory);
    hc_world_free(&world);
}

/// A client that keeps, for every (tick, entity), the value of the newest datagram that arrived.
struct client {
    uint32_t seq[ROWS][ENTITIES_MAX];
    uint8_t value[ROWS][ENTITIES_MAX];
    hc_tick tick[ROWS];
};

static void arrive(struct client *client, uint32_t seq, hc_tick tick, hc_entity e, uint8_t value) {
    size_t row = tick % ROWS;
    if (client->tick[row] != tick) {
        memset(client->seq[row], 0, sizeof client->seq[row]);
        client->tick[row] = tick;
    }
    if (client->seq[row][e] < seq) {
        client->seq[row][e] = seq;
        client->value[row][e] = value;
    }
}

static const uint8_t *state_of(uint8_t value) {
    static uint8_t state[HC_STATE_MAX];
    memset(state, value, sizeof state);
    return state;
}

START_TEST(a_value_is_believed_held_only_where_the_client_holds_it) {
    struct client client = {0};
    struct hc_rng rng = hc_rng_init(1, 2);
    struct hc_sent sent;
    uint32_t acked = 0, believed = 0;
    struct hc_acked news[HC_ACKS_MAX];
    hc_sent_init(&sent, 1);
    for (uint32_t i = 0; i < SENDS; i++) {
        hc_tick head = 1 + i / 16, tick = head - hc_rng_below(&rng, head < ROWS ? head : ROWS);
        hc_entity e = (hc_entity)hc_rng_below(&rng, world.entities);
        uint8_t value = (uint8_t)hc_rng_below(&rng, 3);
        uint32_t seq = hc_sent_next(&sent, i), count = 0;
        hc_sv_told_put(&told, tick, e, HC_ALIVE, state_of(value), seq);
        if (!hc_rng_chance(&rng, 300000)) { // it arrives, and is acknowledged at once
            arrive(&client, seq, tick, e, value);
            ck_assert_int_eq(hc_sent_acked(&sent, seq, 0, news, &count), HC_OK);
            acked = seq;
        }
        for (e = 0; e < world.entities; e++) {
            // What was sent lately and not acknowledged may still arrive; look at the rest.
            size_t row = tick % ROWS;
            if (told.tick[row] != tick || told.seq[row * world.entities + e] == 0 ||
                told.seq[row * world.entities + e] + HC_SV_TOLD_REORDER > acked)
                continue;
            for (value = 0; value < 3; value++) {
                if (!hc_sv_told_holds(&told, &sent, acked, tick, e, HC_ALIVE, state_of(value)))
                    continue;
                believed++;
                ck_assert_uint_eq(client.tick[row], tick);
                ck_assert_uint_ne(client.seq[row][e], 0);
                ck_assert_uint_eq(client.value[row][e], value);
            }
        }
    }
    ck_assert_uint_gt(believed, SENDS);
}
END_TEST

START_TEST(a_lost_value_is_told_again_and_an_acknowledged_one_is_not) {
    struct hc_sent sent;
    struct hc_acked news[HC_ACKS_MAX];
    uint32_t count = 0;
    hc_sent_init(&sent, 1);
    uint32_t first = hc_sent_next(&sent, 0);
    hc_sv_told_put(&told, 5, 1, HC_ALIVE, state_of(1), first);
    ck_assert(hc_sv_told_holds(&told, &sent, 0, 5, 1, HC_ALIVE, state_of(1)));
    ck_assert(!hc_sv_told_holds(&told, &sent, 0, 5, 1, HC_ALIVE, state_of(2)));
    ck_assert(!hc_sv_told_holds(&told, &sent, 0, 5, 1, HC_ABSENT, state_of(0)));
    ck_assert(!hc_sv_told_holds(&told, &sent, 0, 4, 1, HC_ALIVE, state_of(1)));
    for (int i = 0; i < HC_SV_TOLD_REORDER; i++)
        hc_sent_next(&sent, 0);
    uint32_t newest = first + HC_SV_TOLD_REORDER;
    ck_assert_int_eq(hc_sent_acked(&sent, newest, 0, news, &count), HC_OK);
    ck_assert(!hc_sv_told_holds(&told, &sent, newest, 5, 1, HC_ALIVE, state_of(1)));
    ck_assert_int_eq(
        hc_sent_acked(&sent, newest, UINT32_C(1) << (HC_SV_TOLD_REORDER - 1), news, &count), HC_OK);
    ck_assert(hc_sv_told_holds(&told, &sent, newest, 5, 1, HC_ALIVE, state_of(1)));
}
END_TEST

START_TEST(a_newer_tick_takes_the_row_of_an_older_one) {
    struct hc_sent sent;
    hc_sent_init(&sent, 1);
    uint32_t seq = hc_sent_next(&sent, 0);
    hc_sv_told_put(&told, 3, 1, HC_ALIVE, state_of(1), seq);
    hc_sv_told_put(&told, 3 + ROWS, 2, HC_ALIVE, state_of(1), seq);
    ck_assert(!hc_sv_told_holds(&told, &sent, 0, 3, 1, HC_ALIVE, state_of(1)));
    ck_assert(!hc_sv_told_holds(&told, &sent, 0, 3 + ROWS, 1, HC_ALIVE, state_of(1)));
    hc_sv_told_put(&told, 3, 1, HC_ALIVE, state_of(1), seq); // too old to be kept
    ck_assert(!hc_sv_told_holds(&told, &sent, 0, 3, 1, HC_ALIVE, state_of(1)));
    ck_assert(hc_sv_told_holds(&told, &sent, 0, 3 + ROWS, 2, HC_ALIVE, state_of(1)));
}
END_TEST

int main(void) {
    Suite *suite = suite_create("server told");
    TCase *tc = tcase_create("told");
    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_add_test(tc, a_value_is_believed_held_only_where_the_client_holds_it);
    tcase_add_test(tc, a_lost_value_is_told_again_and_an_acknowledged_one_is_not);
    tcase_add_test(tc, a_newer_tick_takes_the_row_of_an_older_one);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
