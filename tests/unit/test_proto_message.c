/// Tests proto/message and proto/input_run: encoding, decoding, ranges and room.
#include "hindcast/rng.h"
#include "hindcast/scene.h"
#include "proto/message.h"
#include "proto/pack.h"
#include "tests/unit/small_game.h"
#include "tests/run_suite.h"

#include <stdlib.h>
#include <string.h>

enum { INPUT_SIZE = sizeof(struct small_input) };

/// Inputs of a few players over as many ticks as a run may have.
struct history {
    uint8_t inputs[HC_INPUT_RUN_MAX][HC_OWN_PLAYERS_MAX][INPUT_SIZE];
};

static struct history history;
static struct hc_body body;
static uint8_t buffer[HC_DATA_BODY_MAX];

static const void *from_history(void *context, uint32_t index, uint32_t player) {
    return ((struct history *)context)->inputs[index][player];
}

/// Inputs that change with a chance of `ppm` a tick.
static void fill_history(struct hc_rng *rng, uint32_t ppm) {
    memset(&history, 0, sizeof history);
    for (uint32_t t = 0; t < HC_INPUT_RUN_MAX; t++) {
        for (uint32_t p = 0; p < HC_OWN_PLAYERS_MAX; p++) {
            if (t > 0)
                memcpy(history.inputs[t][p], history.inputs[t - 1][p], INPUT_SIZE);
            if (!hc_rng_chance(rng, ppm))
                continue;
            hc_field_set(&small_input_fields[0], history.inputs[t][p],
                         (int64_t)hc_rng_below(rng, 4) - 2);
            hc_field_set(&small_input_fields[1], history.inputs[t][p], hc_rng_below(rng, 8));
        }
    }
}

static void check_run(struct hc_input_run *run, uint32_t players, uint32_t count) {
    for (uint32_t t = 0; t < count; t++)
        for (uint32_t p = 0; p < players; p++) {
            const void *input = hc_input_run_next(run);
            ck_assert_ptr_nonnull(input);
            ck_assert_mem_eq(input, history.inputs[t][p], INPUT_SIZE);
        }
    ck_assert_ptr_null(hc_input_run_next(run));
}

START_TEST(an_input_run_reads_back_as_far_as_it_fits) {
    struct hc_rng rng = hc_rng_init(31, 0);
    for (int round = 0; round < 400; round++) {
        uint32_t players = 1 + hc_rng_below(&rng, HC_OWN_PLAYERS_MAX);
        uint32_t count = hc_rng_below(&rng, HC_INPUT_RUN_MAX + 1);
        size_t capacity = hc_rng_below(&rng, 3) == 0 ? hc_rng_below(&rng, 60) : sizeof buffer;
        fill_history(&rng, hc_rng_below(&rng, 1000001));
        uint32_t packed = count;
        size_t used = hc_input_run_pack(&small_game, players, &packed, from_history, &history,
                                        buffer, capacity);
        ck_assert_uint_le(used, capacity);
        // A tick of `players` takes at most 6 bits each.
        ck_assert(packed == count || used * 8 + players * 6 > capacity * 8);
        struct hc_input_run run;
        ck_assert_int_eq(hc_input_run_begin(&run, &small_game, players, packed, buffer, used),
                         HC_OK);
        check_run(&run, players, packed);
        if (used < sizeof buffer)
            ck_assert_int_eq(
                hc_input_run_begin(&run, &small_game, players, packed, buffer, used + 1),
                HC_MALFORMED);
    }
}
END_TEST

START_TEST(any_bits_of_an_input_run_decode_to_inputs_whose_fields_fit) {
    struct hc_rng rng = hc_rng_init(32, 0);
    unsigned accepted = 0;
    for (int round = 0; round < 20000; round++) {
        uint8_t bytes[3];
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = (uint8_t)hc_rng_next(&rng);
        struct hc_input_run run;
        uint32_t count = 1 + hc_rng_below(&rng, 12);
        if (hc_input_run_begin(&run, &small_game, 1, count, bytes, sizeof bytes) != HC_OK)
            continue;
        accepted++;
        const void *input;
        while ((input = hc_input_run_next(&run)) != NULL)
            for (uint32_t f = 0; f < small_game.input_field_count; f++)
                ck_assert(hc_field_fits(&small_input_fields[f],
                                        hc_field_get(&small_input_fields[f], input)));
    }
    ck_assert_uint_gt(accepted, 100);
}
END_TEST

/// Makes the message in `writer` the current one of `body`.
static void reread(const struct hc_writer *writer) {
    ck_assert_int_eq(hc_body_begin(&body, writer->data, writer->at), HC_OK);
    ck_assert_int_ne(hc_body_next(&body), HC_MESSAGE_END);
}

static hc_tick random_tick(struct hc_rng *rng) {
    uint32_t bits = 1 + hc_rng_below(rng, 32);
    hc_tick tick = (hc_tick)(hc_rng_next(rng) >> (64 - bits));
    return tick >= HC_NO_TICK - HC_INPUT_RUN_MAX ? HC_NO_TICK - HC_INPUT_RUN_MAX - 1 : tick;
}

START_TEST(an_input_message_reads_back) {
    struct hc_rng rng = hc_rng_init(33, 0);
    for (int round = 0; round < 500; round++) {
        uint32_t players = hc_rng_below(&rng, HC_OWN_PLAYERS_MAX + 1);
        struct hc_input_message in = {
            .client_tick = random_tick(&rng),
            .display_offset = hc_rng_below(&rng, HC_HISTORY_MAX + 1),
            .ack_delay_us = hc_rng_below(&rng, HC_ACK_DELAY_MAX_US + 1),
            .first = random_tick(&rng),
            .count = players > 0 ? hc_rng_below(&rng, HC_INPUT_RUN_MAX + 1) : 0,
        };
        in.force_before = in.first - hc_rng_below(&rng, in.first + 1);
        fill_history(&rng, hc_rng_below(&rng, 300000));
        uint32_t wanted = in.count;
        size_t room = hc_rng_below(&rng, 2) == 0 ? 60 : sizeof buffer;
        struct hc_writer writer = hc_bytes_writer(buffer, room);
        ck_assert(hc_message_put_input(&writer, &small_game, players, &in, from_history, &history));
        ck_assert_uint_le(in.count, wanted);
        reread(&writer);
        struct hc_input_message out;
        struct hc_input_run run;
        ck_assert_int_eq(hc_message_get_input(&body, &small_game, players, &out, &run), HC_OK);
        ck_assert_uint_eq(out.client_tick, in.client_tick);
        ck_assert_uint_eq(out.display_offset, in.display_offset);
        ck_assert_uint_eq(out.ack_delay_us, in.ack_delay_us);
        ck_assert_uint_eq(out.force_before, in.force_before);
        ck_assert_uint_eq(out.first, in.first);
        ck_assert_uint_eq(out.count, in.count);
        check_run(&run, players, out.count);
    }
}
END_TEST

START_TEST(a_message_that_does_not_fit_leaves_the_body_unchanged) {
    struct hc_input_message input = {.client_tick = 70000, .first = 70000, .count = 100};
    struct hc_welcome welcome = {.tick_rate = 60, .players = 1, .future = 1};
    fill_history(&(struct hc_rng){7}, 500000);
    for (size_t room = 0; room < 12; room++) {
        struct hc_writer writer = hc_bytes_writer(buffer, room);
        bool fits = hc_message_put_close(&writer, &(struct hc_close){.reason = HC_CLOSE_LEFT});
        ck_assert_int_eq(fits, room >= 3);
        struct hc_writer before = writer;
        ck_assert(!hc_message_put_input(&writer, &small_game, 1, &input, from_history, &history));
        ck_assert(!hc_message_put_welcome(&writer, &welcome));
        ck_assert_mem_eq(&writer, &before, sizeof writer);
        ck_assert_uint_eq(input.count, 100);
    }
}
END_TEST

START_TEST(a_welcome_reads_back) {
    struct hc_rng rng = hc_rng_init(34, 0);
    for (int round = 0; round < 500; round++) {
        struct hc_welcome in = {
            .tick_rate = (uint16_t)(1 + hc_rng_below(&rng, HC_TICK_RATE_MAX)),
            .players = (uint16_t)(4 + hc_rng_below(&rng, 5)),
            .seed = hc_rng_next(&rng),
            .history = hc_rng_below(&rng, HC_HISTORY_MAX + 1),
            .future = 1 + hc_rng_below(&rng, HC_FUTURE_MAX),
            .tick = random_tick(&rng),
            .phase_us = hc_rng_below(&rng, HC_PHASE_MAX_US + 1),
            .own_count = (uint8_t)hc_rng_below(&rng, HC_OWN_PLAYERS_MAX + 1),
        };
        in.late_limit = hc_rng_below(&rng, in.history + 1);
        in.resumed = round % 2 == 1;
        for (size_t i = 0; i < sizeof in.reset_token; i++)
            in.reset_token[i] = (uint8_t)hc_rng_next(&rng);
        for (uint32_t i = 0; i < in.own_count; i++)
            in.own[i] = (hc_player)((i + (uint32_t)round) % in.players);
        struct hc_writer writer = hc_bytes_writer(buffer, sizeof buffer);
        ck_assert(hc_message_put_welcome(&writer, &in));
        reread(&writer);
        struct hc_welcome out;
        ck_assert_int_eq(hc_message_get_welcome(&body, &small_game, &out), HC_OK);
        ck_assert(out.tick_rate == in.tick_rate && out.players == in.players);
        ck_assert(out.seed == in.seed && out.history == in.history && out.future == in.future);
        ck_assert(out.late_limit == in.late_limit && out.tick == in.tick);
        ck_assert(out.phase_us == in.phase_us && out.own_count == in.own_count);
        ck_assert_mem_eq(out.own, in.own, sizeof in.own);
        ck_assert_mem_eq(out.reset_token, in.reset_token, sizeof in.reset_token);
        ck_assert_int_eq(out.resumed, in.resumed);
    }
}
END_TEST

START_TEST(a_welcome_outside_its_ranges_is_malformed) {
    const struct hc_welcome good = {.tick_rate = 60,
                                    .players = 4,
                                    .history = 64,
                                    .future = 64,
                                    .late_limit = 64,
                                    .own_count = 2,
                                    .own = {1, 3}};
    struct hc_welcome bad[10];
    for (size_t i = 0; i < 10; i++)
        bad[i] = good;
    bad[0].tick_rate = 0;
    bad[1].tick_rate = HC_TICK_RATE_MAX + 1;
    bad[2].players = 0;
    bad[3].players = 9;
    bad[4].history = HC_HISTORY_MAX + 1;
    bad[5].future = 0;
    bad[6].late_limit = 65;
    bad[7].own[1] = 4;
    bad[8].own[1] = 1;
    bad[9].phase_us = HC_PHASE_MAX_US + 1;
    for (size_t i = 0; i < 10; i++) {
        struct hc_writer writer = hc_bytes_writer(buffer, sizeof buffer);
        ck_assert(hc_message_put_welcome(&writer, &bad[i]));
        reread(&writer);
        struct hc_welcome out;
        ck_assert_msg(hc_message_get_welcome(&body, &small_game, &out) == HC_MALFORMED, "%zu", i);
    }
}
END_TEST

START_TEST(a_welcome_pads_its_accept_with_zeros_only) {
    const struct hc_welcome in = {.tick_rate = 60, .players = 1, .future = 1};
    struct hc_writer writer = hc_bytes_writer(buffer, sizeof buffer);
    struct hc_welcome out;
    ck_assert(hc_message_put_welcome(&writer, &in));
    ck_assert_uint_eq(writer.at, HC_ACCEPT_BODY_MAX);
    for (size_t at = writer.at - 1000; at < writer.at; at++) {
        ck_assert_uint_eq(buffer[at], 0);
        buffer[at] = 1;
        ck_assert_int_eq(hc_body_begin(&body, buffer, writer.at), HC_OK);
        ck_assert_int_eq(hc_body_next(&body), HC_MESSAGE_WELCOME);
        ck_assert_int_eq(hc_message_get_welcome(&body, &small_game, &out), HC_MALFORMED);
        buffer[at] = 0;
    }
}
END_TEST

START_TEST(a_close_reads_back_with_every_reason_and_the_known_ones_have_a_text) {
    for (unsigned reason = 0; reason < 256; reason++) {
        struct hc_close in = {.reason = (enum hc_close_reason)reason,
                              .desync = {.tick = 77,
                                         .entity = 5,
                                         .field = 3,
                                         .compared = true,
                                         .value =
                                             reason % 2 == 0 ? INT32_MIN : (int64_t)UINT32_MAX},
                              .seconds = 5},
                        out;
        struct hc_writer writer = hc_bytes_writer(buffer, sizeof buffer);
        bool known = (reason >= HC_CLOSE_LEFT && reason < HC_CLOSE_REASONS_END) || reason >= 64;
        ck_assert(hc_message_put_close(&writer, &in));
        reread(&writer);
        ck_assert_int_eq(hc_message_get_close(&body, &out) == HC_OK, reason != 0);
        ck_assert_uint_eq(out.reason, reason);
        bool desync = reason == HC_CLOSE_DESYNC;
        ck_assert_uint_eq(out.desync.tick, desync ? 77 : 0);
        ck_assert_uint_eq(out.desync.entity, desync ? 5 : 0);
        ck_assert_uint_eq(out.desync.field, desync ? 3 : 0);
        ck_assert_int_eq(out.desync.compared, desync);
        ck_assert_int_eq(out.desync.value, desync ? in.desync.value : 0);
        ck_assert_uint_eq(out.seconds, reason == HC_CLOSE_RESTARTING ? 5 : 0);
        ck_assert_int_eq(strcmp(hc_close_text(in.reason), "unknown reason") != 0, known);
    }
}
END_TEST

START_TEST(a_close_may_have_values_that_its_reader_does_not_know) {
    static const uint8_t known[] = {2, 3}, reasons[] = {HC_CLOSE_KICKED, HC_CLOSE_RESTARTING};
    for (unsigned i = 0; i < 2; i++) {
        for (unsigned values = 1; values < 15; values++) {
            struct hc_close out;
            struct hc_writer writer = hc_bytes_writer(buffer, sizeof buffer);
            hc_bytes_put_u8(&writer, (uint8_t)(0x90 | values));
            hc_bytes_put_u8(&writer, HC_MESSAGE_CLOSE);
            for (unsigned at = 1; at < values; at++)
                hc_bytes_put_u8(&writer, reasons[i]);
            reread(&writer);
            ck_assert_int_eq(hc_message_get_close(&body, &out) == HC_OK, values >= known[i]);
        }
    }
}
END_TEST

START_TEST(tickets_and_paths_read_back_and_take_their_named_sizes) {
    struct hc_rng rng = hc_rng_init(35, 0);
    struct hc_ticket ticket, got;
    uint8_t path[HC_PATH_SIZE], got_path[HC_PATH_SIZE];
    for (size_t i = 0; i < sizeof ticket; i++)
        ((uint8_t *)&ticket)[i] = (uint8_t)hc_rng_next(&rng);
    for (size_t i = 0; i < sizeof path; i++)
        path[i] = (uint8_t)hc_rng_next(&rng);
    for (size_t room = 0; room <= HC_TICKET_SIZE; room++) {
        struct hc_writer writer = hc_bytes_writer(buffer, room);
        ck_assert_int_eq(hc_message_put_ticket(&writer, &ticket), room == HC_TICKET_SIZE);
        ck_assert_uint_eq(writer.at, room == HC_TICKET_SIZE ? room : 0);
        if (room < HC_TICKET_SIZE)
            continue;
        reread(&writer);
        ck_assert_int_eq(hc_message_get_ticket(&body, &got), HC_OK);
        ck_assert_mem_eq(&got, &ticket, sizeof got);
        ck_assert_int_eq(hc_message_get_path(&body, got_path), HC_MALFORMED);
        buffer[2 + 1]--; // a token of another length
        ck_assert_int_ne(hc_body_begin(&body, buffer, writer.at) == HC_OK &&
                                 hc_body_next(&body) == HC_MESSAGE_TICKET
                             ? hc_message_get_ticket(&body, &got)
                             : HC_MALFORMED,
                         HC_OK);
    }
    for (int answer = 0; answer < 2; answer++) {
        struct hc_writer writer = hc_bytes_writer(buffer, HC_PATH_MESSAGE_SIZE);
        ck_assert(hc_message_put_path(
            &writer, answer ? HC_MESSAGE_PATH_RESPONSE : HC_MESSAGE_PATH_CHALLENGE, path));
        ck_assert_uint_eq(writer.at, HC_PATH_MESSAGE_SIZE);
        reread(&writer);
        ck_assert_int_eq(hc_message_get_path(&body, got_path), HC_OK);
        ck_assert_mem_eq(got_path, path, sizeof path);
        ck_assert_int_eq(hc_message_get_ticket(&body, &got), HC_MALFORMED);
    }
}
END_TEST

START_TEST(a_message_read_as_another_type_is_malformed) {
    struct hc_writer writer = hc_bytes_writer(buffer, sizeof buffer);
    ck_assert(hc_message_put_close(&writer, &(struct hc_close){.reason = HC_CLOSE_LEFT}));
    reread(&writer);
    struct hc_welcome welcome;
    struct hc_input_message input;
    struct hc_input_run run;
    ck_assert_int_eq(hc_message_get_welcome(&body, &small_game, &welcome), HC_MALFORMED);
    ck_assert_int_eq(hc_message_get_input(&body, &small_game, 1, &input, &run), HC_MALFORMED);
}
END_TEST

START_TEST(a_spectator_sends_no_inputs) {
    struct hc_input_message in = {.client_tick = 5, .first = 5, .count = 3}, out;
    fill_history(&(struct hc_rng){9}, 500000);
    struct hc_writer writer = hc_bytes_writer(buffer, sizeof buffer);
    ck_assert(hc_message_put_input(&writer, &small_game, 1, &in, from_history, &history));
    reread(&writer);
    struct hc_input_run run;
    ck_assert_int_eq(hc_message_get_input(&body, &small_game, 0, &out, &run), HC_MALFORMED);
    ck_assert_int_eq(hc_message_get_input(&body, &small_game, 1, &out, &run), HC_OK);
}
END_TEST

/// Random names of ascending players, some as long as they may be.
static uint32_t draw_names(struct hc_rng *rng, struct hc_player_name names[HC_NAMES_EACH]) {
    static const char *const words[] = {"Ann", "J\xc3\xbcrgen", "\xe6\x97\xa5\xe6\x9c\xac", "x",
                                        "a name of thirty-two bytes, or 32"};
    uint32_t count = 1 + hc_rng_below(rng, HC_NAMES_EACH);
    hc_player player = 0;
    for (uint32_t i = 0; i < count; i++) {
        const char *word = words[hc_rng_below(rng, 5)];
        names[i] = (struct hc_player_name){.since = random_tick(rng)};
        names[i].player = player = (hc_player)(player + 1 + hc_rng_below(rng, 9));
        memcpy(names[i].name, word, strlen(word) < HC_NAME_MAX ? strlen(word) : HC_NAME_MAX);
    }
    return count;
}

START_TEST(names_read_back_or_do_not_fit) {
    struct hc_rng rng = hc_rng_init(36, 0);
    struct hc_player_name in[HC_NAMES_EACH], out[HC_NAMES_EACH];
    for (int round = 0; round < 500; round++) {
        uint32_t in_count = draw_names(&rng, in), count = 0;
        struct hc_writer writer = hc_bytes_writer(buffer, sizeof buffer);
        ck_assert(hc_message_put_names(&writer, in, in_count));
        size_t size = writer.at;
        reread(&writer);
        uint32_t players = in[in_count - 1].player + 1u;
        ck_assert_int_eq(hc_message_get_names(&body, players, out, &count), HC_OK);
        ck_assert_uint_eq(count, in_count);
        ck_assert_mem_eq(out, in, count * sizeof *in);
        ck_assert_int_eq(hc_message_get_names(&body, players - 1, out, &count), HC_MALFORMED);
        writer = hc_bytes_writer(buffer, hc_rng_below(&rng, (uint32_t)size));
        ck_assert(!hc_message_put_names(&writer, in, in_count));
        ck_assert_uint_eq(writer.at, 0);
    }
}
END_TEST

/// Reads a NAMES of two players with these numbers and the second of these names.
static enum hc_status read_names(hc_player first, hc_player second, const char *name) {
    struct hc_writer writer = hc_bytes_writer(buffer, sizeof buffer);
    struct hc_player_name out[HC_NAMES_EACH];
    uint32_t count;
    hc_pack_array(&writer, 7);
    hc_pack_uint8(&writer, HC_MESSAGE_NAMES);
    for (unsigned i = 0; i < 2; i++) {
        hc_pack_uint16(&writer, i == 0 ? first : second);
        hc_pack_uint32(&writer, 5);
        hc_pack_bin(&writer, strlen(i == 0 ? "Ann" : name));
        hc_pack_bin_body(&writer, i == 0 ? "Ann" : name, strlen(i == 0 ? "Ann" : name));
    }
    reread(&writer);
    return hc_message_get_names(&body, 8, out, &count);
}

START_TEST(names_that_cannot_be_shown_or_are_out_of_order_are_malformed) {
    ck_assert_int_eq(read_names(3, 4, "Ann"), HC_OK);
    ck_assert_int_eq(read_names(4, 4, "Ann"), HC_MALFORMED);
    ck_assert_int_eq(read_names(4, 3, "Ann"), HC_MALFORMED);
    ck_assert_int_eq(read_names(3, 8, "Ann"), HC_MALFORMED);
    ck_assert_int_eq(read_names(3, 4, ""), HC_MALFORMED);
    ck_assert_int_eq(read_names(3, 4, "An\n"), HC_MALFORMED);
    ck_assert_int_eq(read_names(3, 4, "An\xff"), HC_MALFORMED);
    ck_assert_int_eq(read_names(3, 4,
                                "\xe2\x80\xae"
                                "Ann"),
                     HC_MALFORMED); // right to left
    ck_assert_int_eq(read_names(3, 4, "a name of more than thirty-two by"), HC_MALFORMED);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("proto_message");
    TCase *tests = tcase_create("message");
    tcase_add_test(tests, an_input_run_reads_back_as_far_as_it_fits);
    tcase_add_test(tests, any_bits_of_an_input_run_decode_to_inputs_whose_fields_fit);
    tcase_add_test(tests, an_input_message_reads_back);
    tcase_add_test(tests, a_message_that_does_not_fit_leaves_the_body_unchanged);
    tcase_add_test(tests, a_welcome_reads_back);
    tcase_add_test(tests, a_welcome_outside_its_ranges_is_malformed);
    tcase_add_test(tests, a_welcome_pads_its_accept_with_zeros_only);
    tcase_add_test(tests, a_close_reads_back_with_every_reason_and_the_known_ones_have_a_text);
    tcase_add_test(tests, a_close_may_have_values_that_its_reader_does_not_know);
    tcase_add_test(tests, tickets_and_paths_read_back_and_take_their_named_sizes);
    tcase_add_test(tests, a_message_read_as_another_type_is_malformed);
    tcase_add_test(tests, a_spectator_sends_no_inputs);
    tcase_add_test(tests, names_read_back_or_do_not_fit);
    tcase_add_test(tests, names_that_cannot_be_shown_or_are_out_of_order_are_malformed);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
