/// Tests proto/ack and proto/cookie.
#include "hindcast/rng.h"
#include "proto/ack.h"
#include "proto/cookie.h"
#include "tests/run_suite.h"

#include <stdlib.h>
#include <string.h>

enum { REFERENCE = 1 << 16 };

/// A plain replay window: every seq ever accepted, from `base` on.
struct reference {
    uint32_t base, newest;
    bool seen[REFERENCE];
};

static enum hc_status expected(const struct reference *reference, uint32_t seq) {
    if (seq == 0)
        return HC_MALFORMED;
    if (seq > reference->newest)
        return HC_OK;
    if (reference->newest - seq >= HC_RECEIVED_WINDOW)
        return HC_TOO_OLD;
    return seq >= reference->base && reference->seen[seq - reference->base] ? HC_DUPLICATE : HC_OK;
}

static uint32_t expected_bits(const struct reference *reference) {
    uint32_t bits = 0;
    for (uint32_t i = 0; i < 32; i++) {
        uint32_t seq = reference->newest - 1 - i;
        if (reference->newest > i + 1 && seq >= reference->base)
            bits |= (uint32_t)reference->seen[seq - reference->base] << i;
    }
    return bits;
}

START_TEST(the_replay_window_agrees_with_a_set_of_all_seqs) {
    static const uint32_t bases[] = {1, (1u << 31) - 300, UINT32_MAX - REFERENCE};
    static struct reference reference;
    unsigned accepted = 0;
    for (uint32_t round = 0; round < 6; round++) {
        struct hc_rng rng = hc_rng_init(11, round);
        struct hc_received received = {0};
        memset(&reference, 0, sizeof reference);
        reference.base = bases[round % 3];
        uint32_t next = reference.base;
        for (int i = 0; i < 40000; i++) {
            // Mostly near the newest; sometimes a jump over more than the window.
            uint32_t jump = hc_rng_below(&rng, 2000) == 0 ? hc_rng_below(&rng, 700) : 0;
            uint32_t back = hc_rng_below(&rng, 400);
            if (next - reference.base >= REFERENCE - 1000)
                jump = 0;
            next +=
                jump + (next - reference.base < REFERENCE - 1000 && hc_rng_chance(&rng, 500000));
            uint32_t seq = next - (next > back ? back : 0) + hc_rng_below(&rng, 40);
            if (seq < reference.base && hc_rng_chance(&rng, 500000))
                seq = reference.base;
            enum hc_status status = hc_received_check(&received, seq);
            ck_assert_msg(status == expected(&reference, seq), "round %u step %d", round, i);
            if (status != HC_OK || seq < reference.base)
                continue;
            hc_received_accept(&received, seq);
            accepted++;
            reference.seen[seq - reference.base] = true;
            if (seq > reference.newest)
                reference.newest = seq;
            next = reference.newest > next ? reference.newest : next;
            ck_assert_uint_eq(received.newest, reference.newest);
            ck_assert_uint_eq(hc_received_ack_bits(&received), expected_bits(&reference));
        }
    }
    ck_assert_uint_gt(accepted, 20000);
}
END_TEST

START_TEST(an_ack_of_an_unsent_seq_is_malformed_and_changes_nothing) {
    static const uint32_t firsts[] = {1, (1u << 31) - 20};
    for (int f = 0; f < 2; f++) {
        static struct hc_sent sent, before;
        hc_sent_init(&sent, firsts[f]);
        for (uint32_t i = 0; i < 40; i++)
            ck_assert_uint_eq(hc_sent_next(&sent, i * 10), firsts[f] + i);
        before = sent;
        const struct {
            uint32_t ack, bits;
        } bad_acks[] = {{0, 1},
                        {firsts[f] + 40, 0},
                        {firsts[f] + 41, UINT32_MAX},
                        {firsts[f], 1},
                        {firsts[f] + 3, 8},
                        {firsts[f] - 1, 1},
                        {UINT32_MAX, UINT32_MAX},
                        {f == 0 ? INT32_MAX : 1, 0}};
        for (size_t i = 0; i < sizeof bad_acks / sizeof bad_acks[0]; i++) {
            struct hc_acked acked[HC_ACKS_MAX];
            uint32_t count = 99;
            enum hc_status status =
                hc_sent_acked(&sent, bad_acks[i].ack, bad_acks[i].bits, acked, &count);
            ck_assert_int_eq(status, HC_MALFORMED);
            ck_assert_uint_eq(count, 0);
        }
        ck_assert_mem_eq(&sent, &before, sizeof sent);
    }
}
END_TEST

/// Whether an ack names the seq `ack` - `n`.
static bool names(uint32_t ack, uint32_t ack_bits, uint32_t n) {
    return ack != 0 && n < HC_ACKS_MAX && (n == 0 || (ack_bits >> (n - 1) & 1) != 0);
}

START_TEST(each_datagram_is_acked_once_with_the_time_it_was_sent) {
    static struct hc_sent sent;
    static struct hc_received received;
    static bool arrived[20000], acked_before[20000];
    struct {
        uint32_t ack, bits;
    } acks[100] = {{0, 0}}; // of the newest datagrams received, which may come in another order
    struct hc_rng rng = hc_rng_init(12, 0);
    uint32_t first = (1u << 31) - 10000;
    hc_sent_init(&sent, first);
    unsigned acked_count = 0;
    for (uint32_t i = 0; i < 20000; i++) {
        uint32_t seq = hc_sent_next(&sent, 1000 + i);
        if (hc_rng_chance(&rng, 700000)) {
            hc_received_accept(&received, seq);
            arrived[i] = true;
        }
        if (received.newest == 0 || !hc_rng_chance(&rng, 300000))
            continue;
        acks[i % 100].ack = received.newest;
        acks[i % 100].bits = hc_received_ack_bits(&received);
        for (uint32_t n = 0; n < 2; n++) { // the newest ack, and one that comes late
            uint32_t at = n == 0 ? i % 100 : hc_rng_below(&rng, 100), count;
            struct hc_acked acked[HC_ACKS_MAX];
            ck_assert_int_eq(hc_sent_acked(&sent, acks[at].ack, acks[at].bits, acked, &count),
                             HC_OK);
            for (uint32_t k = 0; k <= HC_ACKS_MAX; k++)
                if (names(acks[at].ack, acks[at].bits, k))
                    ck_assert(!hc_sent_misses(&sent, acks[at].ack - k));
            for (uint32_t k = 0; k < count; k++) {
                uint32_t index = acked[k].seq - first;
                ck_assert(arrived[index] && !acked_before[index]);
                ck_assert_uint_eq(acked[k].sent_us, 1000 + index);
                acked_before[index] = true;
                acked_count++;
            }
        }
    }
    unsigned all = 0;
    for (uint32_t i = 0; i < 20000; i++)
        all += arrived[i];
    ck_assert_uint_gt(acked_count, all - 100); // after 33 without an ack some are never acked
}
END_TEST

START_TEST(an_ack_of_a_forgotten_seq_is_skipped) {
    static struct hc_sent sent;
    hc_sent_init(&sent, 1);
    for (uint32_t i = 0; i < 3 * HC_SENT_RING; i++)
        hc_sent_next(&sent, i);
    struct hc_acked acked[HC_ACKS_MAX];
    uint32_t count;
    ck_assert_int_eq(hc_sent_acked(&sent, 100, UINT32_MAX, acked, &count), HC_OK);
    ck_assert_uint_eq(count, 0);
}
END_TEST

START_TEST(an_exempt_datagram_is_never_missed_and_can_be_acked) {
    static struct hc_sent sent;
    struct hc_acked acked[HC_ACKS_MAX];
    uint32_t count;
    hc_sent_init(&sent, 1);
    for (uint32_t seq = 1; seq <= 3 * HC_SENT_RING; seq++) {
        ck_assert_uint_eq(hc_sent_next(&sent, seq), seq);
        ck_assert(hc_sent_misses(&sent, seq));
        if (seq % 3 == 0) // but not the next one at its place in the ring
            hc_sent_exempt(&sent, seq);
        ck_assert(hc_sent_misses(&sent, seq) == (seq % 3 != 0));
        if (seq % 2 != 0)
            continue;
        ck_assert_int_eq(hc_sent_acked(&sent, seq, 0, acked, &count), HC_OK);
        ck_assert_uint_eq(count, 1);
    }
}
END_TEST

START_TEST(seqs_run_out_instead_of_repeating) {
    static struct hc_sent sent;
    hc_sent_init(&sent, UINT32_MAX - 2);
    ck_assert_uint_eq(hc_sent_next(&sent, 0), UINT32_MAX - 2);
    ck_assert_uint_eq(hc_sent_next(&sent, 0), UINT32_MAX - 1);
    ck_assert_uint_eq(hc_sent_next(&sent, 0), 0);
    ck_assert_uint_eq(hc_sent_next(&sent, 0), 0);
}
END_TEST

/// A jar with a fixed secret, and the client of a cookie.
struct visit {
    struct hc_cookie_jar jar;
    struct hc_address address;
    uint8_t nonce[HC_NONCE_SIZE], cookie[HC_COOKIE_SIZE];
    uint64_t now_us;
};

static struct visit visit_at(uint64_t now_us) {
    static const uint8_t secret[HC_COOKIE_SECRET_SIZE] = {1, 2, 3};
    struct visit visit = {.address = hc_address_ipv4(192, 0, 2, 1, 5000), .now_us = now_us};
    memset(visit.nonce, 7, sizeof visit.nonce);
    hc_cookie_init(&visit.jar, secret);
    hc_cookie_make(&visit.jar, hc_cookie_slot(now_us), &visit.address, visit.nonce, visit.cookie);
    return visit;
}

static enum hc_status check_at(struct visit *visit, uint64_t now_us) {
    return hc_cookie_check(&visit->jar, now_us, hc_cookie_slot(visit->now_us), &visit->address,
                           visit->nonce, visit->cookie);
}

START_TEST(a_cookie_is_valid_in_its_slot_and_the_next) {
    for (uint64_t slot = 1; slot < 5; slot++) {
        struct visit visit = visit_at(slot * HC_COOKIE_SLOT_US + 5);
        ck_assert_int_eq(check_at(&visit, visit.now_us), HC_OK);
        ck_assert_int_eq(check_at(&visit, (slot + 2) * HC_COOKIE_SLOT_US - 1), HC_OK);
        ck_assert_int_eq(check_at(&visit, (slot + 2) * HC_COOKIE_SLOT_US), HC_TOO_OLD);
        ck_assert_int_eq(check_at(&visit, slot * HC_COOKIE_SLOT_US - 1), HC_TOO_NEW);
        ck_assert_int_eq(check_at(&visit, visit.now_us), HC_OK);
    }
}
END_TEST

START_TEST(a_cookie_is_valid_for_one_address_port_nonce_and_secret) {
    struct visit visit = visit_at(123456789);
    for (int bit = 0; bit < 128; bit++) {
        struct visit other = visit;
        other.address.ip[bit / 8] ^= (uint8_t)(1u << bit % 8);
        ck_assert_int_eq(check_at(&other, visit.now_us), HC_MALFORMED);
        other = visit;
        other.nonce[bit / 8] ^= (uint8_t)(1u << bit % 8);
        ck_assert_int_eq(check_at(&other, visit.now_us), HC_MALFORMED);
        other = visit;
        other.cookie[bit / 8] ^= (uint8_t)(1u << bit % 8);
        ck_assert_int_eq(check_at(&other, visit.now_us), HC_MALFORMED);
        other = visit;
        other.address.port ^= (uint16_t)(1u << bit % 16);
        ck_assert_int_eq(check_at(&other, visit.now_us), HC_MALFORMED);
    }
    struct visit other = visit;
    uint8_t secret[HC_COOKIE_SECRET_SIZE] = {9};
    hc_cookie_init(&other.jar, secret);
    ck_assert_int_eq(check_at(&other, visit.now_us), HC_MALFORMED);
    // The cookie covers its slot: an old one cannot be relabelled.
    ck_assert_int_eq(hc_cookie_check(&visit.jar, visit.now_us, hc_cookie_slot(visit.now_us) - 1,
                                     &visit.address, visit.nonce, visit.cookie),
                     HC_MALFORMED);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("proto_ack");
    TCase *tests = tcase_create("ack");
    tcase_add_test(tests, the_replay_window_agrees_with_a_set_of_all_seqs);
    tcase_add_test(tests, an_ack_of_an_unsent_seq_is_malformed_and_changes_nothing);
    tcase_add_test(tests, each_datagram_is_acked_once_with_the_time_it_was_sent);
    tcase_add_test(tests, an_ack_of_a_forgotten_seq_is_skipped);
    tcase_add_test(tests, seqs_run_out_instead_of_repeating);
    tcase_add_test(tests, an_exempt_datagram_is_never_missed_and_can_be_acked);
    tcase_add_test(tests, a_cookie_is_valid_in_its_slot_and_the_next);
    tcase_add_test(tests, a_cookie_is_valid_for_one_address_port_nonce_and_secret);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
