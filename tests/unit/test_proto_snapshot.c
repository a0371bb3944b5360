/// What proto/snapshot promises: what is sent is what is read, for any world, bit for bit.
#include "common/rng.h"
#include "common/scene.h"
#include "proto/pack.h"
#include "proto/snapshot.h"
#include "tests/unit/small_game.h"
#include "tests/run_suite.h"

#include <stdlib.h>
#include <string.h>

enum { ENTITIES_MAX = 64 };

/// A world of random contents, and room to read one back.
struct scenery {
    struct hc_world world;
    uint8_t presence[ENTITIES_MAX], presence_read[ENTITIES_MAX];
    uint8_t states[ENTITIES_MAX * HC_STATE_MAX], states_read[ENTITIES_MAX * HC_STATE_MAX];
};

static struct hc_body body;
static uint8_t buffer[HC_DATA_BODY_MAX];

static int64_t lowest(const struct hc_field *field) {
    return field->is_signed ? -(INT64_C(1) << (field->bits - 1)) : 0;
}

/// A value that fits: often at an end of the range or near 0, where forms change their length.
static int64_t random_value(struct hc_rng *rng, const struct hc_field *field) {
    int64_t low = lowest(field), high = low + (INT64_C(1) << field->bits) - 1;
    switch (hc_rng_below(rng, 4)) {
    case 0:
        return low;
    case 1:
        return high;
    case 2:
        return low + (int64_t)(hc_rng_next(rng) & (uint64_t)(high - low));
    default: {
        int64_t small = (int64_t)hc_rng_below(rng, 600) - 300;
        return small < low ? low : small > high ? high : small;
    }
    }
}

static void random_state(struct hc_rng *rng, const struct hc_kind *kind, uint8_t *state) {
    for (uint32_t f = 0; f < kind->field_count; f++)
        hc_field_set(&kind->fields[f], state, random_value(rng, &kind->fields[f]));
}

static void random_scenery(struct hc_rng *rng, struct scenery *s, uint16_t players) {
    memset(s, 0, sizeof *s);
    ck_assert_int_eq(hc_world_init(&s->world, &small_game, players, 60, 5, NULL), HC_OK);
    ck_assert_uint_le(s->world.entities, ENTITIES_MAX);
    for (uint32_t e = 0; e < s->world.entities; e++) {
        s->presence[e] = (uint8_t)hc_rng_below(rng, 3);
        if (s->presence[e] == HC_ALIVE)
            random_state(rng, hc_world_kind(&s->world, (hc_entity)e),
                         s->states + (size_t)e * s->world.stride);
    }
}

static struct hc_snapshot random_head(struct hc_rng *rng) {
    struct hc_snapshot head = {
        .as_of = hc_rng_below(rng, 2) == 0 ? hc_rng_below(rng, 600) : (hc_tick)hc_rng_next(rng) / 2,
        .phase_us = hc_rng_below(rng, HC_PHASE_MAX_US + 1),
        .ack_delay_us = hc_rng_below(rng, HC_ACK_DELAY_MAX_US + 1),
        .chain = hc_rng_next(rng),
        .hash = (uint32_t)hc_rng_next(rng),
        .own_count = (uint8_t)hc_rng_below(rng, HC_OWN_PLAYERS_MAX + 1),
    };
    head.tick = hc_tick_back(head.as_of, hc_rng_below(rng, HC_HISTORY_MAX + 1));
    head.refusal = hc_tick_back(head.as_of, hc_rng_below(rng, HC_HISTORY_MAX + 1));
    head.final = hc_tick_back(head.as_of, hc_rng_below(rng, HC_HISTORY_MAX + 1));
    for (uint32_t i = 0; i < head.own_count; i++)
        head.complete[i] = head.tick + hc_rng_below(rng, 400) - (head.tick > 0);
    return head;
}

static void reread(const struct hc_writer *writer) {
    ck_assert_int_eq(hc_body_begin(&body, writer->data, writer->at), HC_OK);
    ck_assert_int_eq(hc_body_next(&body), HC_MESSAGE_SNAPSHOT);
}

static void check_head(const struct hc_snapshot *a, const struct hc_snapshot *b) {
    ck_assert_uint_eq(a->as_of, b->as_of);
    ck_assert_uint_eq(a->phase_us, b->phase_us);
    ck_assert_uint_eq(a->ack_delay_us, b->ack_delay_us);
    ck_assert_uint_eq(a->tick, b->tick);
    ck_assert_uint_eq(a->refusal, b->refusal);
    ck_assert_uint_eq(a->final, b->final);
    ck_assert(a->chain == b->chain);
    ck_assert_uint_eq(a->hash, b->hash);
    ck_assert_uint_eq(a->own_count, b->own_count);
    ck_assert_mem_eq(a->complete, b->complete, sizeof a->complete);
}

START_TEST(a_snapshot_of_any_world_comes_back_bit_for_bit) {
    static struct scenery s;
    for (uint32_t round = 0; round < 500; round++) {
        struct hc_rng rng = hc_rng_init(41, round);
        random_scenery(&rng, &s, (uint16_t)(1 + hc_rng_below(&rng, 8)));
        struct hc_snapshot in = random_head(&rng), out;
        struct hc_writer writer = hc_bytes_writer(buffer, sizeof buffer);
        ck_assert(hc_snapshot_put(&writer, &s.world, &in, s.presence, s.states));
        ck_assert_uint_le(writer.at, hc_snapshot_worst(&s.world));
        reread(&writer);
        memset(s.presence_read, 0xee, sizeof s.presence_read);
        memset(s.states_read, 0xee, sizeof s.states_read);
        ck_assert_int_eq(hc_snapshot_get(&body, &s.world, &out, s.presence_read, s.states_read),
                         HC_OK);
        check_head(&in, &out);
        ck_assert_mem_eq(s.presence, s.presence_read, s.world.entities);
        ck_assert_mem_eq(s.states, s.states_read, (size_t)s.world.entities * s.world.stride);
        hc_world_free(&s.world);
    }
}
END_TEST

/// Sets every field to the value that takes the most bytes.
static void fatten(struct scenery *s) {
    for (uint32_t e = 0; e < s->world.entities; e++) {
        const struct hc_kind *kind = hc_world_kind(&s->world, (hc_entity)e);
        s->presence[e] = HC_ALIVE;
        for (uint32_t f = 0; f < kind->field_count; f++) {
            const struct hc_field *field = &kind->fields[f];
            int64_t low = lowest(field);
            hc_field_set(field, s->states + (size_t)e * s->world.stride,
                         field->is_signed ? low : (INT64_C(1) << field->bits) - 1);
        }
    }
}

START_TEST(the_worst_snapshot_is_as_long_as_promised) {
    static struct scenery s;
    for (uint16_t players = 1; players <= 8; players++) {
        random_scenery(&(struct hc_rng){1}, &s, players);
        fatten(&s);
        struct hc_snapshot head = {.as_of = 1u << 20,
                                   .phase_us = HC_PHASE_MAX_US,
                                   .ack_delay_us = HC_ACK_DELAY_MAX_US,
                                   .tick = (1u << 20) - HC_HISTORY_MAX,
                                   .refusal = (1u << 20) - HC_HISTORY_MAX,
                                   .final = (1u << 20) - HC_HISTORY_MAX,
                                   .chain = UINT64_MAX,
                                   .hash = UINT32_MAX,
                                   .own_count = HC_OWN_PLAYERS_MAX};
        for (uint32_t i = 0; i < head.own_count; i++)
            head.complete[i] = head.tick + HC_SNAPSHOT_SPAN_MAX;
        struct hc_writer writer = hc_bytes_writer(buffer, sizeof buffer);
        ck_assert(hc_snapshot_put(&writer, &s.world, &head, s.presence, s.states));
        // The list's header is counted at its longest also where a short list needs less.
        ck_assert_uint_le(writer.at, hc_snapshot_worst(&s.world));
        ck_assert_uint_ge(writer.at + 2, hc_snapshot_worst(&s.world));
        writer = hc_bytes_writer(buffer, writer.at - 1);
        ck_assert(!hc_snapshot_put(&writer, &s.world, &head, s.presence, s.states));
        ck_assert(writer.at == 0 && !writer.failed);
        hc_world_free(&s.world);
    }
}
END_TEST

START_TEST(a_value_outside_its_field_is_malformed) {
    static struct scenery s;
    random_scenery(&(struct hc_rng){1}, &s, 1);
    // The referee alone: clock of 16 bits, phase of 2, lead of 8 and signed.
    static const struct {
        int64_t clock, phase, lead;
        bool passes;
    } cases[] = {{65535, 3, -128, true}, {0, 0, 127, true},       {65536, 0, 0, false},
                 {-1, 0, 0, false},      {0, 4, 0, false},        {0, 0, 128, false},
                 {0, 0, -129, false},    {0, 0, INT64_MIN, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct hc_writer writer = hc_bytes_writer(buffer, sizeof buffer);
        hc_pack_array(&writer, 11);
        hc_pack_int(&writer, HC_MESSAGE_SNAPSHOT);
        for (int zero = 0; zero < 8; zero++)
            hc_pack_int(&writer, 0);
        hc_pack_array(&writer, 0);
        hc_pack_array(&writer, 3);
        hc_pack_int64(&writer, cases[i].clock);
        hc_pack_int64(&writer, cases[i].phase);
        hc_pack_int64(&writer, cases[i].lead);
        reread(&writer);
        struct hc_snapshot out;
        enum hc_status status =
            hc_snapshot_get(&body, &s.world, &out, s.presence_read, s.states_read);
        ck_assert_msg((status == HC_OK) == cases[i].passes, "case %zu", i);
    }
    hc_world_free(&s.world);
}
END_TEST

START_TEST(a_correction_tells_something_of_an_entity_at_a_tick_before) {
    static struct scenery s;
    random_scenery(&(struct hc_rng){1}, &s, 1);
    // back: ticks before the snapshot's; nil: not told, which a correction cannot say.
    static const struct {
        uint32_t back, entity;
        bool nil, passes;
    } cases[] = {{1, 1, false, true},  {512, 1, false, true},  {1, 1, true, false},
                 {0, 1, false, false}, {513, 1, false, false}, {1, 60, false, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct hc_snapshot head = {.as_of = 2000, .tick = 2000, .refusal = 2000, .final = 2000};
        struct hc_writer writer = hc_bytes_writer(buffer, sizeof buffer);
        ck_assert(hc_snapshot_put(&writer, &s.world, &head, s.presence, s.states));
        hc_pack_array(&writer, 4);
        hc_pack_int(&writer, HC_MESSAGE_CORRECTION);
        hc_pack_uint32(&writer, cases[i].back);
        hc_pack_uint32(&writer, cases[i].entity);
        if (cases[i].nil)
            hc_pack_nil(&writer);
        else
            hc_pack_false(&writer);
        reread(&writer);
        ck_assert_int_eq(hc_body_next(&body), HC_MESSAGE_CORRECTION);
        struct hc_snapshot_correction out;
        enum hc_status status = hc_snapshot_get_correction(&body, &s.world, head.tick, &out);
        ck_assert_msg((status == HC_OK) == cases[i].passes, "case %zu", i);
    }
    hc_world_free(&s.world);
}
END_TEST

static const void *same_input(void *context, uint32_t index, uint32_t player) {
    (void)index, (void)player;
    return context;
}

/// What a random datagram holds after its SNAPSHOT, in order.
struct item {
    enum hc_message_type type;
    struct hc_snapshot_inputs inputs;
    struct small_input input;
    struct hc_snapshot_control control;
    struct hc_snapshot_forced forced;
    struct hc_snapshot_correction correction;
};

static bool put_item(struct hc_rng *rng, struct hc_writer *writer, const struct hc_world *world,
                     hc_tick tick, struct item *item) {
    hc_player player = (hc_player)hc_rng_below(rng, world->players);
    hc_tick near = hc_tick_back(tick, hc_rng_below(rng, 70)) + hc_rng_below(rng, 70);
    uint32_t count = 1 + hc_rng_below(rng, HC_INPUT_RUN_MAX);
    memset(item, 0, sizeof *item);
    item->type = (enum hc_message_type)(HC_MESSAGE_INPUTS + hc_rng_below(rng, 4));
    switch ((int)item->type) {
    case HC_MESSAGE_INPUTS:
        item->inputs.player = player;
        item->inputs.first = near;
        item->input = (struct small_input){.right = -2, .buttons = (uint8_t)hc_rng_below(rng, 8)};
        item->inputs.count = hc_snapshot_put_inputs(writer, world, tick, player, near, count,
                                                    same_input, &item->input);
        return item->inputs.count > 0;
    case HC_MESSAGE_CONTROL:
        item->control = (struct hc_snapshot_control){
            .player = player,
            .tick = near,
            .control = hc_rng_below(rng, 2) == 0 ? HC_CONTROL_JOIN : HC_CONTROL_LEAVE};
        return hc_snapshot_put_control(writer, tick, &item->control);
    case HC_MESSAGE_FORCED:
        item->forced = (struct hc_snapshot_forced){
            .player = player, .first = hc_tick_back(tick, hc_rng_below(rng, 600)), .count = count};
        return hc_snapshot_put_forced(writer, tick, &item->forced);
    default:
        item->correction.tick = hc_tick_back(tick, 1 + hc_rng_below(rng, HC_HISTORY_MAX));
        item->correction.entity = (hc_entity)hc_rng_below(rng, world->entities);
        item->correction.presence = (uint8_t)(HC_ABSENT + (int)hc_rng_below(rng, 2));
        if (item->correction.presence == HC_ALIVE)
            random_state(rng, hc_world_kind(world, item->correction.entity),
                         item->correction.state);
        return hc_snapshot_put_correction(
            writer, world, tick, item->correction.tick, item->correction.entity,
            (enum hc_presence)item->correction.presence, item->correction.state);
    }
}

static void check_inputs(const struct item *item, struct hc_snapshot_inputs *out) {
    ck_assert(out->player == item->inputs.player && out->first == item->inputs.first);
    ck_assert_uint_eq(out->count, item->inputs.count);
    for (uint32_t i = 0; i < out->count; i++)
        ck_assert_mem_eq(hc_input_run_next(&out->run), &item->input, sizeof item->input);
    ck_assert_ptr_null(hc_input_run_next(&out->run));
}

static void check_item(const struct hc_world *world, hc_tick tick, const struct item *item) {
    struct item out;
    memset(&out, 0, sizeof out);
    ck_assert_int_eq(body.type, item->type);
    switch ((int)item->type) {
    case HC_MESSAGE_INPUTS:
        ck_assert_int_eq(hc_snapshot_get_inputs(&body, world, tick, &out.inputs), HC_OK);
        check_inputs(item, &out.inputs);
        break;
    case HC_MESSAGE_CONTROL:
        ck_assert_int_eq(hc_snapshot_get_control(&body, world, tick, &out.control), HC_OK);
        ck_assert(out.control.player == item->control.player);
        ck_assert(out.control.tick == item->control.tick);
        ck_assert(out.control.control == item->control.control);
        break;
    case HC_MESSAGE_FORCED:
        ck_assert_int_eq(hc_snapshot_get_forced(&body, world, tick, &out.forced), HC_OK);
        ck_assert(out.forced.player == item->forced.player);
        ck_assert(out.forced.first == item->forced.first);
        ck_assert(out.forced.count == item->forced.count);
        break;
    default:
        ck_assert_int_eq(hc_snapshot_get_correction(&body, world, tick, &out.correction), HC_OK);
        ck_assert(out.correction.tick == item->correction.tick);
        ck_assert(out.correction.entity == item->correction.entity);
        ck_assert(out.correction.presence == item->correction.presence);
        ck_assert_mem_eq(out.correction.state, item->correction.state, HC_STATE_MAX);
    }
}

START_TEST(a_datagram_filled_until_nothing_fits_is_read_in_the_same_order) {
    static struct scenery s;
    static struct item items[HC_DATA_BODY_MAX];
    for (uint32_t round = 0; round < 300; round++) {
        struct hc_rng rng = hc_rng_init(42, round);
        random_scenery(&rng, &s, (uint16_t)(1 + hc_rng_below(&rng, 8)));
        struct hc_snapshot head = random_head(&rng), out;
        head.as_of += 1000; // so that every item has ticks to be at
        head.tick += 1000;
        head.refusal += 1000;
        head.final += 1000;
        head.own_count = 0;
        struct hc_writer writer = hc_bytes_writer(buffer, sizeof buffer);
        ck_assert(hc_snapshot_put(&writer, &s.world, &head, s.presence, s.states));
        uint32_t count = 0;
        for (int failures = 0; failures < 5;) {
            size_t before = writer.at;
            if (put_item(&rng, &writer, &s.world, head.tick, &items[count])) {
                count++;
            } else {
                failures++;
                ck_assert(writer.at == before && !writer.failed);
            }
        }
        reread(&writer);
        ck_assert_int_eq(hc_snapshot_get(&body, &s.world, &out, s.presence_read, s.states_read),
                         HC_OK);
        for (uint32_t i = 0; i < count; i++) {
            ck_assert_int_ne(hc_body_next(&body), HC_MESSAGE_END);
            check_item(&s.world, head.tick, &items[i]);
        }
        ck_assert_int_eq(hc_body_next(&body), HC_MESSAGE_END);
        hc_world_free(&s.world);
    }
}
END_TEST

/// Reads every message of a body as its type says, whatever comes of it.
static void read_all(const struct hc_world *world, struct scenery *s) {
    struct item out;
    struct hc_snapshot head = {0};
    enum hc_message_type type;
    while ((type = hc_body_next(&body)) != HC_MESSAGE_END) {
        if (type == HC_MESSAGE_SNAPSHOT)
            (void)hc_snapshot_get(&body, world, &head, s->presence_read, s->states_read);
        (void)hc_snapshot_get_inputs(&body, world, head.tick, &out.inputs);
        (void)hc_snapshot_get_control(&body, world, head.tick, &out.control);
        (void)hc_snapshot_get_forced(&body, world, head.tick, &out.forced);
        (void)hc_snapshot_get_correction(&body, world, head.tick, &out.correction);
    }
}

START_TEST(cut_and_flipped_snapshots_are_read_without_fault) {
    static struct scenery s;
    for (uint32_t round = 0; round < 20; round++) {
        struct hc_rng rng = hc_rng_init(43, round);
        random_scenery(&rng, &s, 3);
        struct hc_snapshot head = random_head(&rng);
        struct hc_writer writer = hc_bytes_writer(buffer, sizeof buffer);
        ck_assert(hc_snapshot_put(&writer, &s.world, &head, s.presence, s.states));
        for (int i = 0; i < 40; i++) {
            struct item item;
            if (head.tick > 1000)
                (void)put_item(&rng, &writer, &s.world, head.tick, &item);
        }
        for (uint32_t i = 0; i < 1000; i++) {
            size_t size = i < writer.at ? i : writer.at;
            uint8_t *bytes = malloc(size + 1); // so that a sanitizer sees the end
            memcpy(bytes, buffer, size);
            for (uint32_t flip = 0; size > 0 && flip < i % 4; flip++)
                bytes[hc_rng_below(&rng, (uint32_t)size)] ^= (uint8_t)(1u << flip);
            if (hc_body_begin(&body, bytes, size) == HC_OK)
                read_all(&s.world, &s);
            free(bytes);
        }
        hc_world_free(&s.world);
    }
}
END_TEST

START_TEST(the_chain_depends_on_every_hash_before) {
    uint64_t chain = 0, other = 0;
    for (uint64_t t = 1; t < 100; t++) {
        chain = hc_snapshot_chain(chain, t);
        other = hc_snapshot_chain(other, t == 50 ? 0 : t);
        ck_assert_int_eq(chain == other, t < 50);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("proto_snapshot");
    TCase *tests = tcase_create("snapshot");
    tcase_add_test(tests, a_snapshot_of_any_world_comes_back_bit_for_bit);
    tcase_add_test(tests, the_worst_snapshot_is_as_long_as_promised);
    tcase_add_test(tests, a_value_outside_its_field_is_malformed);
    tcase_add_test(tests, a_correction_tells_something_of_an_entity_at_a_tick_before);
    tcase_add_test(tests, a_datagram_filled_until_nothing_fits_is_read_in_the_same_order);
    tcase_add_test(tests, cut_and_flipped_snapshots_are_read_without_fault);
    tcase_add_test(tests, the_chain_depends_on_every_hash_before);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
