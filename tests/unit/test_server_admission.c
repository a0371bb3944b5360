/// Tests of who is admitted: cookies, tokens, refused users, limits and room.
#include "server/admission.h"
#include "tests/unit/clients_rig.h"

#include <sodium.h>

enum { SECOND_US = 1000000, UNIX_S = 1700000000, RATE = 3, LIFE_S = 60, PROTOCOL_ID = 77 };

static const struct hc_address home = {.ip = {[10] = 0xff, 0xff, 10, 0, 0, 1}, .port = 1};
static const struct hc_address elsewhere = {.ip = {[10] = 0xff, 0xff, 10, 0, 0, 2}, .port = 1};

static struct hc_server_config config;
static struct hc_ratchet ratchet;
static struct hc_sv_admission admission;
static uint64_t now_us;
static uint8_t attempts; ///< so far: the nonce of the newest one

static void begin(struct hc_sv_admission *begun) {
    static const uint8_t secret[HC_RATCHET_SIZE] = {1};
    hc_ratchet_init(&ratchet, secret);
    ck_assert_uint_gt(hc_sv_admission_memory(&config, RIG_PLACES), 0);
    ck_assert(hc_sv_admission_init(begun, &config, PROTOCOL_ID, RIG_PLACES, &ratchet));
    hc_sv_admission_set_time(begun, (uint64_t)UNIX_S * SECOND_US, now_us);
}

static void set_up(void) {
    rig_create();
    attempts = 0;
    now_us = 5 * (uint64_t)SECOND_US;
    config = hc_server_config_default();
    config.game = &small_game;
    config.clients = RIG_PLAYERS;
    config.spectators = RIG_PLACES - RIG_PLAYERS;
    config.connects_per_address = RATE;
    config.session_life_s = 1000;
    config.keys = (struct hc_token_ring){.count = 1, .keys = {{.id = 1, .key = {2}}}};
    config.audience = 9;
    begin(&admission);
}

static void tear_down(void) {
    hc_sv_admission_free(&admission);
    hc_sv_admission_free(&admission); // has no effect
    rig_destroy();
}

// ---- Attempts -----------------------------------------------------------------------------------

/// A client with a credential.
struct client {
    uint64_t id;
    struct hc_credential credential;
};

static struct client with_token(uint64_t id) {
    struct client client = {.id = id};
    const struct hc_server_user user = {.client_id = id, .players = 2, .watch = true};
    ck_assert_int_eq(hc_sv_admission_issue(&admission, &user, LIFE_S, &client.credential, now_us),
                     HC_OK);
    return client;
}

/// A CONNECT for the verdict, and the changes that a test makes to it.
struct trial {
    const struct hc_address *from;
    uint8_t players;
    uint64_t protocol_id; ///< 0: the server's
    bool another_cookie;  ///< of another address
    bool repeated;        ///< of the attempt before
    bool another_secret;
    enum hc_deny_reason denied;
    bool is_overloaded, has_no_events;
};

/// Writes the CONNECT; returns its size.
static size_t put_connect(const struct client *client, const struct trial *trial, uint8_t *bytes) {
    struct hc_datagram_cookie cookie;
    struct hc_connect connect = {.protocol_id = PROTOCOL_ID, .players = trial->players};
    uint8_t secret[HC_TOKEN_SECRET_SIZE];
    if (trial->protocol_id != 0)
        connect.protocol_id = trial->protocol_id;
    connect.client_nonce[0] = trial->repeated ? attempts : ++attempts;
    hc_sv_admission_put_cookie(&admission, trial->another_cookie ? &elsewhere : trial->from,
                               connect.client_nonce, &cookie, now_us);
    connect.slot = cookie.slot;
    memcpy(connect.cookie, cookie.cookie, sizeof connect.cookie);
    memcpy(connect.token, client->credential.token, sizeof connect.token);
    memcpy(secret, client->credential.secret, sizeof secret);
    secret[0] ^= trial->another_secret;
    size_t size = hc_datagram_put_connect(&connect, bytes);
    hc_token_put_proof(secret, bytes);
    return size;
}

static struct hc_sv_verdict judge(const struct client *client, const struct trial *trial,
                                  struct hc_sv_attempt *attempt) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    size_t size = put_connect(client, trial, bytes);
    const struct hc_sv_asked asked = {.from = trial->from,
                                      .bytes = bytes,
                                      .size = size,
                                      .denied = trial->denied,
                                      .is_overloaded = trial->is_overloaded,
                                      .has_no_events = trial->has_no_events,
                                      .now_us = now_us};
    return hc_sv_admission_judge(&admission, &clients, &asked, attempt);
}

/// The reason for which the trial is denied; 0: it is admitted. Another verdict fails the test.
static int denial(const struct client *client, const struct trial *trial) {
    struct hc_sv_attempt attempt;
    struct hc_sv_verdict verdict = judge(client, trial, &attempt);
    ck_assert(verdict.kind == HC_SV_VERDICT_ADMITTED || verdict.kind == HC_SV_VERDICT_DENIED);
    ck_assert(attempt.proven);
    return verdict.kind == HC_SV_VERDICT_ADMITTED ? 0 : (int)verdict.reason;
}

/// Carries out an admitted attempt as a new session, with the nonce of the attempt.
static struct hc_sv_peer *admit(const struct client *client, const struct hc_address *from) {
    struct hc_sv_attempt attempt;
    const struct trial trial = {.from = from, .players = 1};
    ck_assert_int_eq(judge(client, &trial, &attempt).kind, HC_SV_VERDICT_ADMITTED);
    ck_assert_ptr_null(attempt.known);
    hc_sv_admission_use(&admission, &attempt.token, now_us);
    hc_sv_admission_begin(&admission, client->id);
    struct hc_sv_peer *peer = rig_join(client->id, 1, from);
    memcpy(peer->client_nonce, attempt.connect.client_nonce, HC_NONCE_SIZE);
    hc_sv_admission_set_user(&admission, &peer->user, &attempt.token, now_us);
    return peer;
}

// ---- Verdicts -----------------------------------------------------------------------------------

START_TEST(client_with_a_token_is_admitted_and_its_user_is_that_of_the_token) {
    struct client client = with_token(7);
    struct hc_sv_peer *peer = admit(&client, &home);
    ck_assert_uint_eq(peer->user.client_id, 7);
    ck_assert_uint_eq(peer->user.players, 2);
    ck_assert(peer->user.watch);
    ck_assert(!peer->user.by_ticket);
    ck_assert_uint_eq(peer->user.begun_s, UNIX_S);
    ck_assert_uint_eq(peer->user.end_us, now_us + 1000 * (uint64_t)SECOND_US);
}
END_TEST

START_TEST(attempt_that_proves_nothing_is_dropped) {
    struct client client = with_token(7);
    struct hc_sv_attempt attempt;
    struct hc_sv_verdict verdict =
        judge(&client, &(struct trial){.from = &home, .another_cookie = true}, &attempt);
    ck_assert_int_eq(verdict.kind, HC_SV_VERDICT_DROPPED);
    ck_assert_int_ne(verdict.status, HC_OK);
    ck_assert(!verdict.by_proof);
    verdict = judge(&client, &(struct trial){.from = &home, .another_secret = true}, &attempt);
    ck_assert_int_eq(verdict.kind, HC_SV_VERDICT_DROPPED);
    ck_assert_int_ne(verdict.status, HC_OK);
    ck_assert(verdict.by_proof);
    verdict = judge(&client, &(struct trial){.from = &home, .protocol_id = 1}, &attempt);
    ck_assert_int_eq(verdict.kind, HC_SV_VERDICT_OTHER_BUILD);
    client.credential.token[HC_TOKEN_SIZE - 1] ^= 1;
    verdict = judge(&client, &(struct trial){.from = &home}, &attempt);
    ck_assert_int_eq(verdict.kind, HC_SV_VERDICT_DENIED);
    ck_assert_int_eq(verdict.reason, HC_DENY_TOKEN);
    ck_assert(!attempt.proven);
}
END_TEST

START_TEST(repeated_attempt_gets_its_accept_again) {
    struct client client = with_token(7);
    struct hc_sv_peer *peer = admit(&client, &home);
    struct hc_sv_attempt attempt;
    const struct trial again = {.from = &home, .players = 1, .repeated = true};
    const struct trial moved = {.from = &elsewhere, .players = 1, .repeated = true};
    ck_assert_int_eq(judge(&client, &again, &attempt).kind, HC_SV_VERDICT_AGAIN);
    ck_assert_ptr_eq(attempt.known, peer);
    ck_assert_int_eq(judge(&client, &moved, &attempt).kind, HC_SV_VERDICT_AGAIN);
    peer->connection.received.newest = 1; // a DATA has come
    ck_assert_int_eq(judge(&client, &again, &attempt).kind, HC_SV_VERDICT_AGAIN);
    ck_assert_int_eq(judge(&client, &moved, &attempt).status, HC_DUPLICATE);
}
END_TEST

START_TEST(late_attempt_of_an_ended_connection_is_dropped) {
    struct client client = with_token(7);
    struct hc_sv_peer *peer = admit(&client, &home);
    struct hc_sv_attempt attempt;
    const struct trial again = {.from = &home, .players = 1, .repeated = true};
    hc_sv_clients_ended(&clients, peer, false, true, now_us);
    hc_sv_peer_closed(peer, &(struct hc_close){.reason = HC_CLOSE_LEFT});
    struct hc_sv_verdict verdict = judge(&client, &again, &attempt);
    ck_assert_int_eq(verdict.kind, HC_SV_VERDICT_DROPPED);
    ck_assert_int_eq(verdict.status, HC_DUPLICATE);
}
END_TEST

START_TEST(token_opens_one_session) {
    struct client client = with_token(7);
    const struct trial trial = {.from = &home, .players = 1};
    struct hc_sv_peer *peer = admit(&client, &home);
    hc_sv_admission_end(&admission, &peer->user, HC_CLOSE_LEFT, false, now_us);
    hc_sv_peer_end(peer, &(struct hc_close){.reason = HC_CLOSE_LEFT}, false, now_us);
    now_us += 10 * (uint64_t)SECOND_US;
    ck_assert_int_eq(denial(&client, &trial), HC_DENY_USED);
}
END_TEST

START_TEST(token_whose_accept_was_lost_is_unused_again) {
    struct client client = with_token(7);
    const struct trial trial = {.from = &home, .players = 1};
    struct hc_sv_peer *peer = admit(&client, &home);
    hc_sv_admission_end(&admission, &peer->user, HC_CLOSE_TIMEOUT, true, now_us);
    hc_sv_peer_end(peer, &(struct hc_close){.reason = HC_CLOSE_TIMEOUT}, false, now_us);
    now_us += 10 * (uint64_t)SECOND_US;
    ck_assert_int_eq(denial(&client, &trial), 0);
}
END_TEST

START_TEST(kick_voids_the_ticket_of_the_session_and_an_end_by_the_client_does_not) {
    const enum hc_close_reason reasons[] = {HC_CLOSE_LEFT, HC_CLOSE_KICKED};
    for (unsigned i = 0; i < 2; i++) {
        struct client client = with_token(7 + i), again = {.id = 7 + i};
        struct hc_sv_peer *peer = admit(&client, &home);
        struct hc_ticket ticket;
        hc_sv_admission_make_ticket(&admission, &peer->user, peer->connection.cid, &home, &ticket,
                                    now_us);
        again.credential = ticket.credential;
        hc_sv_admission_end(&admission, &peer->user, reasons[i], false, now_us);
        hc_sv_peer_end(peer, &(struct hc_close){.reason = reasons[i]}, false, now_us);
        now_us += 10 * (uint64_t)SECOND_US;
        const struct trial trial = {.from = &elsewhere, .players = 1};
        int expected = reasons[i] == HC_CLOSE_LEFT ? 0 : HC_DENY_USED;
        ck_assert_int_eq(denial(&again, &trial), expected);
    }
}
END_TEST

START_TEST(token_expires_and_is_for_one_audience) {
    struct client client = with_token(7);
    const struct trial trial = {.from = &home, .players = 1};
    config.audience++;
    ck_assert_int_eq(denial(&client, &trial), HC_DENY_AUDIENCE);
    config.audience--;
    now_us += (LIFE_S + 1) * (uint64_t)SECOND_US;
    ck_assert_int_eq(denial(&client, &trial), HC_DENY_EXPIRED);
}
END_TEST

START_TEST(new_keys_replace_the_old_ones) {
    struct hc_sv_attempt attempt;
    struct client client = with_token(7);
    const struct trial trial = {.from = &home, .players = 1};
    const struct hc_token_ring other = {.count = 1, .keys = {{.id = 2, .key = {3}}}};
    hc_sv_admission_set_keys(&admission, &other);
    ck_assert_int_eq(judge(&client, &trial, &attempt).reason, HC_DENY_TOKEN);
    client = with_token(7);
    ck_assert_int_eq(denial(&client, &trial), 0);
}
END_TEST

START_TEST(refused_users_and_old_sessions_are_denied_and_ended) {
    struct client client = with_token(7), other = with_token(8);
    const struct trial trial = {.from = &elsewhere, .players = 1};
    const uint64_t refused[] = {7, 9}, wrong[] = {9, 7};
    struct hc_sv_peer *peer = admit(&other, &home);
    ck_assert_int_eq(hc_sv_admission_set_refused(&admission, wrong, 2, 0), HC_INVALID);
    ck_assert_int_eq(denial(&client, &trial), 0);
    ck_assert_int_eq(hc_sv_admission_set_refused(&admission, refused, 2, 0), HC_OK);
    ck_assert_int_eq(denial(&client, &trial), HC_DENY_REFUSED);
    ck_assert_int_eq(hc_sv_admission_refuses(&admission, &peer->user), 0);
    peer->user.client_id = 9;
    ck_assert_int_eq(hc_sv_admission_refuses(&admission, &peer->user), HC_CLOSE_REFUSED);
    ck_assert_int_eq(hc_sv_admission_set_refused(&admission, NULL, 0, UNIX_S + 1), HC_OK);
    ck_assert_int_eq(hc_sv_admission_refuses(&admission, &peer->user), HC_CLOSE_SESSION_OVER);
    ck_assert_int_eq(denial(&client, &trial), HC_DENY_EXPIRED);
}
END_TEST

START_TEST(server_that_follows_remembers_used_tokens_and_refused_users) {
    struct client client = with_token(7), other = with_token(9);
    const struct trial trial = {.from = &elsewhere, .players = 1};
    const uint64_t refused[] = {9};
    struct hc_sv_peer *peer = admit(&client, &home);
    static struct hc_sv_admission before;
    hc_sv_admission_set_refused(&admission, refused, 1, 0);
    hc_sv_admission_end(&admission, &peer->user, HC_CLOSE_LEFT, false, now_us);
    hc_sv_peer_end(peer, &(struct hc_close){.reason = HC_CLOSE_LEFT}, false, now_us);
    before = admission;
    begin(&admission);
    hc_sv_admission_follow(&admission, &before);
    hc_sv_admission_free(&before);
    now_us += 10 * (uint64_t)SECOND_US;
    ck_assert_int_eq(denial(&client, &trial), HC_DENY_USED);
    ck_assert_int_eq(denial(&other, &trial), HC_DENY_REFUSED);
}
END_TEST

START_TEST(address_connects_a_few_times_a_second_and_denied_attempts_do_not_count) {
    const struct trial trial = {.from = &home, .players = 1};
    const struct trial full = {.from = &home, .players = 1, .is_overloaded = true};
    for (unsigned i = 0; i < 10; i++) {
        struct client client = with_token(100 + i);
        ck_assert_int_eq(denial(&client, &full), HC_DENY_FULL);
    }
    for (unsigned i = 0; i < RATE; i++) {
        struct client client = with_token(200 + i);
        ck_assert_int_eq(denial(&client, &trial), 0);
    }
    struct client client = with_token(300);
    ck_assert_int_eq(denial(&client, &trial), HC_DENY_RATE);
    now_us += SECOND_US;
    ck_assert_int_eq(denial(&client, &trial), 0);
}
END_TEST

START_TEST(reasons_of_the_server_deny_only_new_sessions) {
    struct client client = with_token(7);
    struct hc_sv_attempt attempt;
    const struct trial busy = {.from = &home, .players = 1, .is_overloaded = true};
    const struct trial unread = {.from = &home, .players = 1, .has_no_events = true};
    struct hc_sv_verdict verdict = judge(&client, &busy, &attempt);
    ck_assert_int_eq(verdict.reason, HC_DENY_FULL);
    ck_assert(verdict.by_overload);
    ck_assert_uint_gt(verdict.retry_ms, 0);
    verdict = judge(&client, &unread, &attempt);
    ck_assert_int_eq(verdict.reason, HC_DENY_FULL);
    ck_assert(!verdict.by_overload);
    hc_sv_peer_lose(admit(&client, &home), now_us + 100 * (uint64_t)SECOND_US, now_us);
    now_us += 10 * (uint64_t)SECOND_US;
    ck_assert_int_eq(denial(&client, &busy), 0);
    ck_assert_int_eq(denial(&client, &unread), 0);
}
END_TEST

START_TEST(user_with_a_live_connection_is_denied_another) {
    struct client client = with_token(7), other = with_token(7);
    const struct trial trial = {.from = &elsewhere, .players = 1};
    admit(&client, &home)->connection.received_us = now_us;
    ck_assert_int_eq(denial(&other, &trial), HC_DENY_CONNECTED);
    now_us += HC_CONNECTED_US;
    ck_assert_int_eq(denial(&other, &trial), 0);
}
END_TEST

START_TEST(players_are_limited_by_the_token_the_server_and_the_room) {
    struct client client = with_token(7);
    struct trial trial = {.from = &home, .players = 3};
    ck_assert_int_eq(denial(&client, &trial), HC_DENY_PLAYERS);
    trial.players = 2;
    config.players_per_client = 1;
    ck_assert_int_eq(denial(&client, &trial), HC_DENY_PLAYERS);
    config.players_per_client = 2;
    for (unsigned i = 0; i < RIG_PLAYERS - 1; i++)
        hc_sv_players_add_npc(&clients.players);
    ck_assert_int_eq(denial(&client, &trial), HC_DENY_FULL);
    trial.players = 0;
    ck_assert_int_eq(denial(&client, &trial), 0);
    config.spectators = 0;
    ck_assert_int_eq(denial(&client, &trial), HC_DENY_PLAYERS);
}
END_TEST

static enum hc_deny_reason refuse_seven(void *context, const struct hc_server_user *user,
                                        const struct hc_address *from) {
    ck_assert(hc_address_equal(from, &home));
    ++*(unsigned *)context;
    return user->client_id == 7 ? HC_DENY_GAME : 0;
}

START_TEST(program_and_game_deny_for_their_reasons) {
    unsigned asked = 0;
    struct client client = with_token(7), other = with_token(8);
    struct trial trial = {.from = &home, .players = 1, .denied = HC_DENY_SPECTATORS};
    config.admit = refuse_seven;
    config.admit_context = &asked;
    ck_assert_int_eq(denial(&client, &trial), HC_DENY_SPECTATORS);
    ck_assert_uint_eq(asked, 0);
    trial.denied = 0;
    ck_assert_int_eq(denial(&client, &trial), HC_DENY_GAME);
    ck_assert_int_eq(denial(&other, &trial), 0);
    ck_assert_uint_eq(asked, 2);
}
END_TEST

START_TEST(closed_server_gives_the_time_until_it_is_back) {
    struct client client = with_token(7);
    struct hc_sv_attempt attempt;
    hc_sv_admission_close(&admission, 5000);
    struct hc_sv_verdict verdict =
        judge(&client, &(struct trial){.from = &home, .players = 1}, &attempt);
    ck_assert_int_eq(verdict.reason, HC_DENY_SHUTDOWN);
    ck_assert_uint_eq(verdict.retry_ms, 5000);
}
END_TEST

START_TEST(resets_are_limited_for_an_address_and_for_all) {
    unsigned of_one = 0, of_all = 0;
    while (of_one < 1000 && hc_sv_admission_takes_reset(&admission, &home, now_us))
        of_one++;
    ck_assert_uint_ge(of_one, 1);
    ck_assert_uint_le(of_one, HC_RESETS_PER_ADDRESS);
    for (unsigned i = 0; i < 10000; i++) {
        struct hc_address from = hc_address_ipv4(10, 1, (uint8_t)(i / 250), (uint8_t)(i % 250), 1);
        of_all += hc_sv_admission_takes_reset(&admission, &from, now_us);
    }
    ck_assert_uint_ge(of_all, 1);
    ck_assert_uint_lt(of_all, HC_RESETS_PER_S / 10);
}
END_TEST

START_TEST(reset_tokens_take_turns_with_the_keys) {
    uint8_t first[HC_RESET_TOKEN_SIZE], second[HC_RESET_TOKEN_SIZE], third[HC_RESET_TOKEN_SIZE];
    const struct hc_token_ring two = {.count = 2,
                                      .keys = {{.id = 2, .key = {3}}, {.id = 1, .key = {2}}}};
    hc_sv_admission_set_keys(&admission, &two);
    hc_sv_admission_reset_token(&admission, 0, 5, &home, first);
    hc_sv_admission_reset_token(&admission, 1, 5, &home, second);
    hc_sv_admission_reset_token(&admission, 2, 5, &home, third);
    ck_assert_mem_ne(first, second, sizeof first);
    ck_assert_mem_eq(first, third, sizeof first);
}
END_TEST

START_TEST(names_that_cannot_be_shown_are_not_taken) {
    struct hc_credential credential;
    struct hc_server_user user = {.client_id = 7, .players = 1, .name = "Ada\n"};
    ck_assert_int_eq(hc_sv_admission_issue(&admission, &user, LIFE_S, &credential, now_us),
                     HC_INVALID);
    user.name[3] = 0;
    ck_assert_int_eq(hc_sv_admission_issue(&admission, &user, LIFE_S, &credential, now_us), HC_OK);
    user.players = HC_OWN_PLAYERS_MAX + 1;
    ck_assert_int_eq(hc_sv_admission_issue(&admission, &user, LIFE_S, &credential, now_us),
                     HC_INVALID);
}
END_TEST

int main(void) {
    if (sodium_init() < 0)
        return 1;
    Suite *suite = suite_create("server_admission");
    TCase *tests = tcase_create("admission");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, client_with_a_token_is_admitted_and_its_user_is_that_of_the_token);
    tcase_add_test(tests, attempt_that_proves_nothing_is_dropped);
    tcase_add_test(tests, repeated_attempt_gets_its_accept_again);
    tcase_add_test(tests, late_attempt_of_an_ended_connection_is_dropped);
    tcase_add_test(tests, token_opens_one_session);
    tcase_add_test(tests, token_whose_accept_was_lost_is_unused_again);
    tcase_add_test(tests, kick_voids_the_ticket_of_the_session_and_an_end_by_the_client_does_not);
    tcase_add_test(tests, token_expires_and_is_for_one_audience);
    tcase_add_test(tests, new_keys_replace_the_old_ones);
    tcase_add_test(tests, refused_users_and_old_sessions_are_denied_and_ended);
    tcase_add_test(tests, server_that_follows_remembers_used_tokens_and_refused_users);
    tcase_add_test(tests, address_connects_a_few_times_a_second_and_denied_attempts_do_not_count);
    tcase_add_test(tests, reasons_of_the_server_deny_only_new_sessions);
    tcase_add_test(tests, user_with_a_live_connection_is_denied_another);
    tcase_add_test(tests, players_are_limited_by_the_token_the_server_and_the_room);
    tcase_add_test(tests, program_and_game_deny_for_their_reasons);
    tcase_add_test(tests, closed_server_gives_the_time_until_it_is_back);
    tcase_add_test(tests, resets_are_limited_for_an_address_and_for_all);
    tcase_add_test(tests, reset_tokens_take_turns_with_the_keys);
    tcase_add_test(tests, names_that_cannot_be_shown_are_not_taken);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
