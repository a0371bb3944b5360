/// Tests that server/spent_tokens accepts no used token again, and that a client_id takes a
/// constant room.
#include "server/spent_tokens.h"

#include "hindcast/rng.h"
#include "tests/run_suite.h"

#include <stdlib.h>
#include <string.h>

enum { CAPACITY = 64, SECOND_US = 1000000, LIFE_S = 100 };

static struct hc_sv_spent spent;
static uint8_t *memory;
static uint64_t now_s, now_us;

static void set_up(void) {
    size_t bytes = hc_sv_spent_layout(&spent, CAPACITY, NULL);
    memory = calloc(1, bytes);
    ck_assert(memory != NULL);
    spent = (struct hc_sv_spent){.seed = 7};
    ck_assert_uint_eq(hc_sv_spent_layout(&spent, CAPACITY, memory), bytes);
    now_s = 1000;
    now_us = 50 * (uint64_t)SECOND_US;
}

static void tear_down(void) {
    free(memory);
}

static struct hc_token token_of(uint64_t client_id, uint64_t number) {
    struct hc_token token = {.issued_s = now_s, .expire_s = now_s + LIFE_S, .client_id = client_id};
    hc_token_put_ticket_id(token.token_id, number, 0);
    return token;
}

static struct hc_token ticket_of(uint64_t client_id, uint64_t number) {
    struct hc_token token = token_of(client_id, number);
    token.kind = HC_TOKEN_RESUME;
    return token;
}

/// Uses a token if it may be used. Returns 0, or the reason why it is denied.
static enum hc_deny_reason use(const struct hc_token *token) {
    enum hc_deny_reason reason = hc_sv_spent_check(&spent, token, false, now_us);
    if (reason == 0)
        ck_assert(hc_sv_spent_use(&spent, token, now_s, now_us));
    return reason;
}

/// Advances both clocks.
static void advance(uint64_t s) {
    now_s += s;
    now_us += s * SECOND_US;
}

START_TEST(token_opens_one_session) {
    struct hc_token first = token_of(1, 1), second = token_of(1, 2);
    ck_assert_int_eq(use(&first), 0);
    ck_assert_int_eq(use(&first), HC_DENY_USED);
    ck_assert_int_eq(hc_sv_spent_check(&spent, &first, true, now_us), 0);
    ck_assert_int_eq(use(&second), 0);
    hc_sv_spent_forget(&spent, 1, second.token_id, false);
    ck_assert_int_eq(use(&second), 0);
}
END_TEST

START_TEST(ticket_voids_older_tickets_of_its_client_id_only) {
    for (uint64_t number = 10; number < 15; number++) {
        struct hc_token ticket = ticket_of(1, number), other = ticket_of(2, 30 - number);
        ck_assert_int_eq(use(&ticket), 0);
        ck_assert_int_eq(use(&ticket), HC_DENY_USED);
        ck_assert_int_eq(use(&other), number == 10 ? 0 : HC_DENY_USED);
    }
    ck_assert_uint_eq(hc_sv_spent_ticket(&spent, 1), 14);
    ck_assert_uint_eq(hc_sv_spent_ticket(&spent, 2), 20);
    struct hc_token last = ticket_of(1, 14);
    hc_sv_spent_forget(&spent, 1, last.token_id, true);
    ck_assert_uint_eq(hc_sv_spent_ticket(&spent, 1), 13);
    advance(1);
    ck_assert_int_eq(use(&last), 0);
}
END_TEST

START_TEST(client_id_connects_once_a_second_and_five_times_at_once) {
    unsigned connects = 0;
    for (uint64_t n = 1; n <= 600; n++) {
        struct hc_token ticket = ticket_of(1, n);
        connects += use(&ticket) == 0;
        now_us += SECOND_US / 60;
    }
    ck_assert_uint_ge(connects, 14);
    ck_assert_uint_le(connects, 15);
    struct hc_token other = token_of(2, 1);
    ck_assert_int_eq(use(&other), 0);
}
END_TEST

START_TEST(long_lived_tokens_take_one_entry_and_are_used_once) {
    struct hc_token tokens[50];
    for (unsigned i = 0; i < 50; i++) {
        tokens[i] = token_of(1, i);
        tokens[i].expire_s = now_s + 86400 - i; // all to the same second
        advance(1);
        ck_assert_int_eq(use(&tokens[i]), 0);
    }
    ck_assert_uint_eq(spent.counts.users, 1);
    advance(5);
    for (unsigned i = 0; i < 50; i++)
        ck_assert_int_eq(use(&tokens[i]), HC_DENY_USED);
}
END_TEST

/// Fills the record with the client_ids [0, CAPACITY), a second apart, and returns their tokens.
static const struct hc_token *fill(void) {
    static struct hc_token tokens[CAPACITY];
    for (uint64_t id = 0; id < CAPACITY; id++) {
        tokens[id] = token_of(id, 1);
        tokens[id].expire_s += 10 * LIFE_S;
        ck_assert_int_eq(use(&tokens[id]), 0);
        advance(1);
    }
    return tokens;
}

START_TEST(full_record_forgets_the_client_ids_whose_tokens_were_issued_first) {
    const struct hc_token *tokens = fill();
    for (uint64_t n = 0; n < CAPACITY / 2; n++) {
        struct hc_token early = token_of(2000, 1), late = token_of(1000 + n, 1);
        ck_assert_int_eq(use(&late), 0);
        ck_assert_uint_eq(spent.counts.users, CAPACITY);
        ck_assert_uint_eq(spent.counts.forgotten, n + 1);
        ck_assert_int_eq(use(&tokens[n]), HC_DENY_OUTDATED);
        ck_assert_int_eq(use(&tokens[n + 1]), HC_DENY_USED);
        early.issued_s = tokens[n].issued_s;
        ck_assert_int_eq(use(&early), HC_DENY_OUTDATED);
        early.issued_s++;
        ck_assert_int_eq(hc_sv_spent_check(&spent, &early, false, now_us), 0);
    }
}
END_TEST

START_TEST(forgotten_client_id_has_no_outdated_token_after_it_is_remembered_again) {
    const struct hc_token *tokens = fill();
    struct hc_token other = token_of(1000, 1), again = token_of(0, 2), ticket = ticket_of(0, 9);
    ck_assert_int_eq(use(&other), 0);
    ck_assert_int_eq(use(&again), 0);
    ck_assert_int_eq(use(&tokens[0]), HC_DENY_OUTDATED);
    ticket.issued_s = tokens[0].issued_s;
    ck_assert_int_eq(use(&ticket), HC_DENY_OUTDATED);
}
END_TEST

START_TEST(newly_used_ticket_keeps_its_client_id_remembered) {
    const struct hc_token *tokens = fill();
    struct hc_token ticket = ticket_of(0, 5), other = token_of(1000, 1);
    ck_assert_int_eq(use(&ticket), 0);
    ck_assert_int_eq(use(&other), 0);
    ck_assert_int_eq(use(&tokens[0]), HC_DENY_USED);
    ck_assert_int_eq(use(&ticket), HC_DENY_USED);
    ck_assert_int_eq(use(&tokens[1]), HC_DENY_OUTDATED);
}
END_TEST

START_TEST(client_ids_with_a_session_are_not_forgotten) {
    enum { SESSIONS = CAPACITY / 4 };
    const struct hc_token *tokens = fill();
    for (uint64_t id = 0; id < SESSIONS; id++)
        hc_sv_spent_begin(&spent, id);
    for (uint64_t n = 0; n < 10 * CAPACITY; n++, advance(1)) {
        struct hc_token token = token_of(1000 + n, 1);
        ck_assert_int_eq(use(&token), 0);
    }
    for (uint64_t id = 0; id < SESSIONS; id++) {
        ck_assert_int_eq(use(&tokens[id]), HC_DENY_USED);
        ck_assert_int_eq(hc_sv_spent_check(&spent, &tokens[id], true, now_us), 0);
        hc_sv_spent_end(&spent, id);
    }
    struct hc_token token = token_of(5000, 1);
    ck_assert_int_eq(use(&token), 0);
    ck_assert_int_eq(use(&tokens[0]), HC_DENY_OUTDATED);
}
END_TEST

START_TEST(record_whose_client_ids_all_have_a_session_denies_others_as_full) {
    fill();
    for (uint64_t id = 0; id < CAPACITY; id++)
        hc_sv_spent_begin(&spent, id);
    struct hc_token stranger = token_of(1000, 1), known = token_of(3, 2);
    ck_assert_int_eq(use(&stranger), HC_DENY_FULL);
    ck_assert(!hc_sv_spent_use(&spent, &stranger, now_s, now_us));
    ck_assert_int_eq(use(&known), 0);
    hc_sv_spent_end(&spent, 4);
    ck_assert_int_eq(use(&stranger), 0);
}
END_TEST

START_TEST(expired_tokens_make_room_before_any_is_forgotten) {
    for (uint64_t id = 0; id < CAPACITY; id++) {
        struct hc_token token = token_of(id, 1);
        token.expire_s += id % 2 * 10 * LIFE_S;
        token.issued_s += id % 2 == 0; // those that expire later were issued first
        ck_assert_int_eq(use(&token), 0);
    }
    advance(LIFE_S);
    for (uint64_t n = 0; n < CAPACITY / 2; n++) {
        struct hc_token token = token_of(1000 + n, 1);
        ck_assert_int_eq(use(&token), 0);
    }
    ck_assert_uint_eq(spent.counts.forgotten, 0);
}
END_TEST

START_TEST(new_users_are_admitted_while_the_record_holds_those_who_came_since_their_issue) {
    enum { USERS = 20000, EACH_S = CAPACITY / 8, WAIT_S = 5 };
    static struct hc_token waiting[EACH_S * WAIT_S];
    const unsigned count = sizeof waiting / sizeof waiting[0];
    for (unsigned n = 0; n < USERS + count; n++) {
        if (n >= count)
            ck_assert_int_eq(use(&waiting[n % count]), 0);
        waiting[n % count] = token_of(n, 1);
        waiting[n % count].expire_s += 10 * LIFE_S;
        if (n % EACH_S == EACH_S - 1)
            advance(1);
    }
    ck_assert_uint_eq(spent.counts.forgotten, USERS - CAPACITY);
}
END_TEST

START_TEST(void_session_has_no_token_and_no_ticket_left) {
    struct hc_token token = token_of(1, 1), early = token_of(1, 2), ticket = ticket_of(1, 7);
    early.issued_s--;
    ck_assert_int_eq(use(&token), 0);
    hc_sv_spent_void(&spent, 1, 7, 0, now_s);
    ck_assert_int_eq(use(&token), HC_DENY_USED);
    ck_assert_int_eq(use(&ticket), HC_DENY_USED);
    ck_assert_int_eq(use(&early), 0);
    struct hc_token other = token_of(1, 3);
    hc_sv_spent_void(&spent, 1, 7, now_s, now_s);
    ck_assert_int_eq(use(&other), HC_DENY_USED);
    advance(1);
    other = token_of(1, 4);
    ck_assert_int_eq(use(&other), 0);
}
END_TEST

START_TEST(void_session_is_remembered_until_its_tickets_have_expired) {
    struct hc_token token = token_of(0, 1), ticket = ticket_of(0, 7);
    ticket.expire_s = now_s + HC_TICKET_LIFE_S;
    ck_assert_int_eq(use(&token), 0);
    hc_sv_spent_void(&spent, 0, 7, 0, now_s);
    for (unsigned n = 0; n < HC_TICKET_LIFE_S; n++, advance(1)) {
        ck_assert_int_eq(use(&ticket), HC_DENY_USED);
        token = token_of(1 + n % (CAPACITY - 1), n);
        (void)use(&token);
    }
}
END_TEST

START_TEST(clock_set_back_admits_no_used_token) {
    enum { STRANGERS = 8 };
    struct hc_token tokens[CAPACITY];
    for (uint64_t id = 0; id < CAPACITY; id++) {
        tokens[id] = token_of(id, 1);
        ck_assert_int_eq(use(&tokens[id]), 0);
    }
    advance(10);
    now_s += LIFE_S;
    for (uint64_t id = 1000; id < 1000 + STRANGERS; id++) {
        struct hc_token stranger = token_of(id, 1);
        ck_assert_int_eq(use(&stranger), 0);
    }
    ck_assert_uint_eq(spent.counts.users, STRANGERS); // the others have expired
    now_s -= LIFE_S;
    for (uint64_t id = 0; id < CAPACITY; id++)
        ck_assert_int_eq(use(&tokens[id]), HC_DENY_USED);
}
END_TEST

START_TEST(copy_refuses_what_its_origin_refuses_and_lets_all_go) {
    const struct hc_token *tokens = fill();
    struct hc_sv_spent copy = {.seed = 0};
    size_t bytes = hc_sv_spent_layout(&copy, CAPACITY, NULL);
    uint8_t *other = calloc(1, bytes);
    ck_assert(other != NULL);
    hc_sv_spent_begin(&spent, 0);
    hc_sv_spent_layout(&copy, CAPACITY, other);
    hc_sv_spent_copy(&copy, &spent);
    for (uint64_t id = 0; id < CAPACITY; id++)
        ck_assert_int_eq(hc_sv_spent_check(&copy, &tokens[id], false, now_us), HC_DENY_USED);
    struct hc_token token = token_of(1000, 1);
    ck_assert(hc_sv_spent_use(&copy, &token, now_s, now_us));
    ck_assert_int_eq(hc_sv_spent_check(&copy, &tokens[0], false, now_us), HC_DENY_OUTDATED);
    free(other);
}
END_TEST

START_TEST(used_tokens_of_a_removed_client_id_stay_void) {
    struct hc_token token = token_of(0, 1), ticket = ticket_of(0, 1), later;
    ck_assert_int_eq(use(&token), 0);
    ck_assert_int_eq(use(&ticket), 0);
    for (uint64_t id = 1; id <= CAPACITY; id++) { // the last one removes the others
        now_s += id == CAPACITY ? LIFE_S : 0;
        now_us += id == CAPACITY ? 10 * SECOND_US : 0;
        later = token_of(id, 1);
        ck_assert_int_eq(use(&later), 0);
    }
    now_s -= LIFE_S / 2;
    later = token_of(0, 2);
    ck_assert_int_eq(use(&later), 0);
    ck_assert_int_eq(use(&token), HC_DENY_USED);
    ck_assert_int_eq(use(&ticket), HC_DENY_USED);
}
END_TEST

/// Compares with a list of used tokens.
START_TEST(random_history_accepts_no_used_token_again) {
    enum { STEPS = 200000, IDS = 3 * CAPACITY, TOKENS = 4096 };
    static struct hc_token used[TOKENS];
    struct hc_rng rng = hc_rng_init(3, 0);
    unsigned count = 0, accepted = 0, again = 0;
    for (unsigned step = 0; step < STEPS; step++) {
        advance(hc_rng_below(&rng, 2));
        if (hc_rng_below(&rng, 500) == 0)
            now_s = now_s + hc_rng_below(&rng, 400) - 200;
        if (count > 0 && step % 2 == 0) {
            const struct hc_token *old = &used[hc_rng_below(&rng, count)];
            if (old->expire_s > now_s) {
                again++;
                ck_assert_int_ne(hc_sv_spent_check(&spent, old, false, now_us), 0);
            }
            continue;
        }
        uint64_t id = hc_rng_below(&rng, IDS);
        struct hc_token token = step % 4 == 1 ? ticket_of(id, step) : token_of(id, step);
        token.expire_s += hc_rng_below(&rng, 900);
        if (use(&token) == 0)
            used[accepted++ % TOKENS] = token;
        count = accepted < TOKENS ? accepted : TOKENS;
    }
    ck_assert_uint_gt(accepted, STEPS / 40);
    ck_assert_uint_gt(again, STEPS / 40);
    ck_assert_uint_le(spent.counts.users, CAPACITY);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("server_spent_tokens");
    TCase *tests = tcase_create("spent_tokens");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, token_opens_one_session);
    tcase_add_test(tests, ticket_voids_older_tickets_of_its_client_id_only);
    tcase_add_test(tests, client_id_connects_once_a_second_and_five_times_at_once);
    tcase_add_test(tests, long_lived_tokens_take_one_entry_and_are_used_once);
    tcase_add_test(tests, full_record_forgets_the_client_ids_whose_tokens_were_issued_first);
    tcase_add_test(tests, forgotten_client_id_has_no_outdated_token_after_it_is_remembered_again);
    tcase_add_test(tests, newly_used_ticket_keeps_its_client_id_remembered);
    tcase_add_test(tests, client_ids_with_a_session_are_not_forgotten);
    tcase_add_test(tests, record_whose_client_ids_all_have_a_session_denies_others_as_full);
    tcase_add_test(tests, expired_tokens_make_room_before_any_is_forgotten);
    tcase_add_test(tests,
                   new_users_are_admitted_while_the_record_holds_those_who_came_since_their_issue);
    tcase_add_test(tests, void_session_has_no_token_and_no_ticket_left);
    tcase_add_test(tests, void_session_is_remembered_until_its_tickets_have_expired);
    tcase_add_test(tests, clock_set_back_admits_no_used_token);
    tcase_add_test(tests, copy_refuses_what_its_origin_refuses_and_lets_all_go);
    tcase_add_test(tests, used_tokens_of_a_removed_client_id_stay_void);
    tcase_add_test(tests, random_history_accepts_no_used_token_again);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
