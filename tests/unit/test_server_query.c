/// Tests of A2S: requests of any bytes, challenges, answers and their pieces.
#include "server/daemon/query.h"

#include "common/bytes.h"
#include "hindcast/rng.h"
#include "tests/run_suite.h"

#include <stdio.h>
#include <string.h>

static const uint8_t key[HC_SV_QUERY_KEY_SIZE] = {1, 2, 3};
static uint8_t answer[HC_SV_QUERY_ANSWER_MAX];
static struct hc_rng rng;

static void set_up(void) {
    rng = hc_rng_init(1, 0);
}

/// Writes a request of a kind ('T', 'U' or 'V'); returns its size.
static size_t put_request(uint8_t kind, bool has_challenge, uint32_t challenge,
                          uint8_t out[static HC_SV_QUERY_REQUEST_MAX]) {
    static const char words[] = "Source Engine Query";
    struct hc_writer writer = hc_bytes_writer(out, HC_SV_QUERY_REQUEST_MAX);
    hc_bytes_put_u32(&writer, UINT32_MAX);
    hc_bytes_put_u8(&writer, kind);
    if (kind == 'T')
        hc_bytes_put(&writer, words, sizeof words);
    if (has_challenge)
        hc_bytes_put_u32(&writer, challenge);
    return writer.at;
}

static struct hc_address any_address(void) {
    struct hc_address address = {.port = (uint16_t)hc_rng_below(&rng, 65536)};
    for (unsigned i = 0; i < sizeof address.ip; i++)
        address.ip[i] = (uint8_t)hc_rng_below(&rng, 256);
    return address;
}

START_TEST(each_request_is_read_with_its_challenge) {
    static const struct {
        uint8_t kind;
        enum hc_sv_query_kind expected;
    } rows[] = {{'T', HC_SV_QUERY_INFO}, {'U', HC_SV_QUERY_PLAYERS}, {'V', HC_SV_QUERY_RULES}};
    uint8_t bytes[HC_SV_QUERY_REQUEST_MAX];
    for (unsigned i = 0; i < 3; i++) {
        struct hc_sv_query query =
            hc_sv_query_read(bytes, put_request(rows[i].kind, true, 0x12345678, bytes));
        ck_assert_int_eq(query.kind, rows[i].expected);
        ck_assert_uint_eq(query.challenge, 0x12345678);
    }
    struct hc_sv_query bare = hc_sv_query_read(bytes, put_request('T', false, 0, bytes));
    ck_assert_int_eq(bare.kind, HC_SV_QUERY_INFO);
    ck_assert_uint_eq(bare.challenge, 0);
}
END_TEST

START_TEST(no_request_is_answered_that_is_shorter_than_a_challenge_or_not_exact) {
    uint8_t bytes[HC_SV_QUERY_REQUEST_MAX + 1];
    for (unsigned round = 0; round < 200000; round++) {
        static const uint8_t kinds[] = "TUVWi";
        size_t size =
            put_request(kinds[hc_rng_below(&rng, 5)], hc_rng_below(&rng, 4) > 0, 7, bytes);
        switch (hc_rng_below(&rng, 4)) {
        case 0: // cut
            size = hc_rng_below(&rng, (uint32_t)size + 1);
            break;
        case 1: // longer
            while (size < sizeof bytes && hc_rng_below(&rng, 8) > 0)
                bytes[size++] = (uint8_t)hc_rng_below(&rng, 256);
            break;
        case 2: // changed
            bytes[hc_rng_below(&rng, (uint32_t)size)] ^= (uint8_t)(1 + hc_rng_below(&rng, 255));
            break;
        default:
            break;
        }
        struct hc_sv_query query = hc_sv_query_read(bytes, size);
        if (query.kind == HC_SV_QUERY_NONE)
            continue;
        ck_assert_uint_ge(size, HC_SV_QUERY_CHALLENGE_SIZE);
        uint8_t kind = query.kind == HC_SV_QUERY_INFO      ? 'T'
                       : query.kind == HC_SV_QUERY_PLAYERS ? 'U'
                                                           : 'V';
        uint8_t same[HC_SV_QUERY_REQUEST_MAX];
        bool has_challenge = kind != 'T' || size > 25;
        ck_assert_uint_eq(put_request(kind, has_challenge, query.challenge, same), size);
        ck_assert_mem_eq(same, bytes, size);
    }
}
END_TEST

START_TEST(a_challenge_holds_for_its_address_and_for_a_slot_and_the_next) {
    for (unsigned round = 0; round < 2000; round++) {
        struct hc_address from = any_address(), other = from;
        uint64_t now = (uint64_t)hc_rng_below(&rng, UINT32_MAX) * 1000;
        uint64_t slot_end = (now / HC_SV_QUERY_SLOT_US + 1) * HC_SV_QUERY_SLOT_US;
        struct hc_sv_query query = {.kind = HC_SV_QUERY_RULES,
                                    .challenge = hc_sv_query_challenge(key, &from, now)};
        ck_assert_uint_ne(query.challenge, 0);
        ck_assert_uint_ne(query.challenge, UINT32_MAX);
        ck_assert(hc_sv_query_is_proven(&query, key, &from, now));
        ck_assert(hc_sv_query_is_proven(&query, key, &from, slot_end + HC_SV_QUERY_SLOT_US - 1));
        ck_assert(!hc_sv_query_is_proven(&query, key, &from, slot_end + HC_SV_QUERY_SLOT_US));
        if (hc_rng_below(&rng, 2) > 0)
            other.port ^= (uint16_t)(1 + hc_rng_below(&rng, 65535));
        else
            other.ip[hc_rng_below(&rng, 16)] ^= (uint8_t)(1 + hc_rng_below(&rng, 255));
        ck_assert(!hc_sv_query_is_proven(&query, key, &other, now));
        query.challenge = 0;
        ck_assert(!hc_sv_query_is_proven(&query, key, &from, now));
    }
}
END_TEST

START_TEST(info_has_all_its_values_and_counts_that_fit_no_byte_are_cut) {
    static const uint8_t expected[] =
        "\xff\xff\xff\xffI\x11name\0map\0folder\0game\0\0\0\xff\x08\x02"
        "dl\x01\0"
        "0.2\0\xa0\x40\x9ctags";
    const struct hc_sv_query_info info = {"name", "map", "folder", "game", "0.2", "tags",
                                          40000,  300,   8,        2,      true};
    size_t size = hc_sv_query_put_info(&info, answer);
    ck_assert_uint_eq(size, sizeof expected);
    ck_assert_mem_eq(answer, expected, size);
}
END_TEST

START_TEST(players_have_names_and_times_and_no_more_than_255_are_listed) {
    static struct hc_sv_query_player players[HC_SV_QUERY_PLAYERS_MAX + 5];
    for (unsigned i = 0; i < HC_SV_QUERY_PLAYERS_MAX + 5; i++) {
        memset(players[i].name, 'n', HC_SV_QUERY_NAME_SIZE - 1);
        players[i].seconds = UINT32_MAX;
    }
    snprintf(players[0].name, sizeof players[0].name, "Ann");
    players[0].seconds = 65;
    static const uint8_t one[] = "\xff\xff\xff\xff"
                                 "D\x01\0Ann\0\0\0\0\0\0\0\x82\x42";
    ck_assert_uint_eq(hc_sv_query_put_players(players, 1, answer), sizeof one - 1);
    ck_assert_mem_eq(answer, one, sizeof one - 1);
    size_t size = hc_sv_query_put_players(players, HC_SV_QUERY_PLAYERS_MAX + 5, answer);
    ck_assert_uint_eq(answer[5], HC_SV_QUERY_PLAYERS_MAX);
    ck_assert_uint_eq(size, 6 + 13 + 254 * (9 + HC_SV_QUERY_NAME_SIZE));
    ck_assert_uint_eq(hc_sv_query_put_players(players, 0, answer), 6);
}
END_TEST

START_TEST(rules_that_have_no_room_are_left_out_and_not_counted) {
    static char value[1000];
    struct hc_sv_query_rule rules[40];
    memset(value, 'v', sizeof value - 1);
    for (unsigned i = 0; i < 40; i++)
        rules[i] = (struct hc_sv_query_rule){"name", value};
    size_t size = hc_sv_query_put_rules(rules, 40, answer);
    unsigned count = answer[5] | (unsigned)answer[6] << 8;
    ck_assert_uint_eq(count, (HC_SV_QUERY_ANSWER_MAX - 7) / (5 + sizeof value));
    ck_assert_uint_eq(size, 7 + count * (5 + sizeof value));
}
END_TEST

START_TEST(the_pieces_of_an_answer_make_it_up) {
    static uint8_t whole[HC_SV_QUERY_ANSWER_MAX], piece[HC_SV_QUERY_PIECE_MAX];
    for (size_t size = 5; size <= sizeof whole; size += 1 + hc_rng_below(&rng, 400)) {
        unsigned pieces = hc_sv_query_pieces(size);
        size_t made = 0;
        for (size_t i = 0; i < size; i++)
            answer[i] = (uint8_t)hc_rng_below(&rng, 256);
        for (unsigned i = 0; i < pieces; i++) {
            size_t used = hc_sv_query_put_piece(answer, size, UINT32_MAX, i, piece);
            size_t header = pieces == 1 ? 0 : 12;
            ck_assert_uint_le(used, HC_SV_QUERY_PIECE_MAX);
            if (pieces > 1) {
                static const uint8_t begin[] = {0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f};
                ck_assert_mem_eq(piece, begin, sizeof begin);
                ck_assert_uint_eq(piece[8], pieces);
                ck_assert_uint_eq(piece[9], i);
            }
            memcpy(whole + made, piece + header, used - header);
            made += used - header;
        }
        ck_assert_uint_eq(made, size);
        ck_assert_mem_eq(whole, answer, size);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("server_query");
    TCase *tests = tcase_create("server_query");
    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_add_test(tests, each_request_is_read_with_its_challenge);
    tcase_add_test(tests, no_request_is_answered_that_is_shorter_than_a_challenge_or_not_exact);
    tcase_add_test(tests, a_challenge_holds_for_its_address_and_for_a_slot_and_the_next);
    tcase_add_test(tests, info_has_all_its_values_and_counts_that_fit_no_byte_are_cut);
    tcase_add_test(tests, players_have_names_and_times_and_no_more_than_255_are_listed);
    tcase_add_test(tests, rules_that_have_no_room_are_left_out_and_not_counted);
    tcase_add_test(tests, the_pieces_of_an_answer_make_it_up);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
