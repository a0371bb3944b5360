/// The door: what somebody must show to be let in, and what is said to who does not.
#include "hindcast/arena.h"
#include "hindcast/rng.h"
#include "proto/message.h"
#include "server/host_internal.h"
#include "tests/run_suite.h"
#include "tests/sim/endpoint.h"

#include <stdlib.h>
#include <string.h>

enum { SECOND_US = 1000000, PLACES = 8, HOUSEHOLD = 6 };

static struct hc_sv_host_config config;
static struct hc_sv_host *host;
static uint64_t now_us, serial;
static size_t answered; ///< bytes of the newest answer
static uint8_t answer[HC_DATAGRAM_MAX];
static uint64_t in, out; ///< bytes to and from addresses that nobody has shown to be their own

static void set_up(void) {
    now_us = 7 * (uint64_t)SECOND_US;
    config = hc_sv_host_config_default();
    config.game = &hc_arena;
    config.clients = PLACES;
    config.clients_per_address = HOUSEHOLD;
    config.keys = hc_endpoint_token_ring();
    config.unix_us = HC_TEST_UNIX_US;
    config.audience = 5;
    host = hc_sv_host_create(&config, now_us);
    ck_assert(host != NULL);
    serial = in = out = 0;
}

static void tear_down(void) {
    hc_sv_host_destroy(host);
}

/// Hands over a datagram and takes all answers; the last one to its sender stays in `answer`.
static enum hc_status hand(const struct hc_address *from, const uint8_t *bytes, size_t size) {
    uint8_t said[HC_DATAGRAM_MAX];
    struct hc_address to;
    size_t got;
    enum hc_status status = hc_sv_host_receive(host, from, bytes, size, now_us);
    answered = 0;
    in += size;
    while ((got = hc_sv_host_send(host, &to, said, now_us)) > 0) {
        out += got;
        if (!hc_address_equal(&to, from))
            continue;
        memcpy(answer, said, got);
        answered = got;
    }
    return status;
}

/// Somebody with a token, and a cookie for `from`.
struct guest {
    struct hc_address from;
    struct hc_endpoint endpoint;
    struct hc_connect connect;
    uint32_t cid, seq; ///< of its connection; the newest that it sent
};

static struct hc_token token_of(uint64_t user) {
    return (struct hc_token){.players = HC_OWN_PLAYERS_MAX,
                             .watch = true,
                             .expire_s = HC_TEST_UNIX_S + 60,
                             .client_id = user,
                             .audience = config.audience};
}

static void bring(struct guest *guest, const struct hc_token *token) {
    struct hc_token_ring ring = hc_endpoint_token_ring();
    hc_endpoint_issue_token_as(&guest->endpoint, &hc_arena, &ring.keys[0], token, ++serial);
}

/// Takes the ticket with this number, of a session that has just begun, in the place of a token.
static void bring_ticket(struct guest *guest, uint64_t user, uint64_t number) {
    struct hc_token_ring ring = hc_endpoint_token_ring();
    struct hc_token token = token_of(user);
    uint8_t nonce[HC_TOKEN_NONCE_SIZE] = {0};
    bring(guest, &token);
    memcpy(nonce, &serial, sizeof serial);
    token.kind = HC_TOKEN_RESUME;
    memcpy(token.secret, guest->endpoint.credential.secret, sizeof token.secret);
    hc_token_put_ticket_id(token.token_id, number, HC_TEST_UNIX_S);
    hc_token_seal(&ring.keys[0], guest->endpoint.protocol_id, &token, nonce,
                  guest->endpoint.credential.token);
}

/// Begins the attempt whose nonce is `attempt`.
static void greet_as(struct guest *guest, uint64_t attempt) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct hc_hello hello = {.protocol_id = hc_datagram_protocol_id(&hc_arena)};
    struct hc_datagram_cookie cookie;
    memcpy(hello.client_nonce, &attempt, sizeof attempt);
    ck_assert_int_eq(hand(&guest->from, bytes, hc_datagram_put_hello(&hello, bytes)), HC_OK);
    ck_assert_int_eq(hc_datagram_get_cookie(answer, answered, &cookie), HC_OK);
    guest->connect =
        (struct hc_connect){.protocol_id = hello.protocol_id, .slot = cookie.slot, .players = 1};
    memcpy(guest->connect.client_nonce, hello.client_nonce, HC_NONCE_SIZE);
    memcpy(guest->connect.cookie, cookie.cookie, HC_COOKIE_SIZE);
}

/// Begins another attempt.
static void greet(struct guest *guest) {
    greet_as(guest, ++serial);
}

static struct guest guest_at(struct hc_address from, uint64_t user) {
    struct guest guest = {.from = from};
    struct hc_token token = token_of(user);
    bring(&guest, &token);
    greet(&guest);
    return guest;
}

static struct hc_address loopback(uint16_t port) {
    return hc_address_ipv4(127, 0, 0, 1, port);
}

static enum hc_status knock(const struct guest *guest) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    return hand(&guest->from, bytes,
                hc_endpoint_put_connect(&guest->endpoint, &guest->connect, bytes));
}

static bool admitted(struct guest *guest) {
    uint8_t opened[HC_DATAGRAM_MAX];
    struct hc_accept accept;
    if (knock(guest) != HC_OK ||
        hc_endpoint_get_accept(&guest->endpoint, answer, answered, opened, &accept) != HC_OK)
        return false;
    guest->cid = accept.cid;
    guest->seq = 0;
    return true;
}

/// Says a DATA with this body.
static enum hc_status say(struct guest *guest, const uint8_t *body, size_t size) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct hc_data data = {.cid = guest->cid, .seq = ++guest->seq, .body = body};
    data.body_size = size;
    return hand(&guest->from, bytes, hc_endpoint_put_data(&guest->endpoint, true, &data, bytes));
}

static enum hc_status speak(struct guest *guest) {
    return say(guest, NULL, 0);
}

static void leave(struct guest *guest) {
    uint8_t bytes[16];
    struct hc_writer body = hc_bytes_writer(bytes, sizeof bytes);
    ck_assert(hc_message_put_close(&body, HC_CLOSE_LEFT));
    ck_assert_int_eq(say(guest, bytes, body.at), HC_OK);
}

/// Whether the answer is a DENY for this reason; `vouched`: under the token's secret.
static bool denied(const struct guest *guest, enum hc_deny_reason reason, bool vouched) {
    struct hc_deny deny;
    return hc_datagram_get_deny(answer, answered, &deny) == HC_OK && deny.reason == reason &&
           hc_token_check_deny_mac(guest->endpoint.credential.secret, answer) ==
               (vouched ? HC_OK : HC_UNEXPECTED);
}

START_TEST(who_knows_the_secret_of_a_good_token_is_let_in_once) {
    struct guest guest = guest_at(loopback(1000), 1);
    ck_assert(admitted(&guest));
    uint8_t first[HC_DATAGRAM_MAX];
    size_t size = answered;
    memcpy(first, answer, size);
    ck_assert_int_eq(knock(&guest), HC_OK);
    ck_assert_uint_eq(answered, size);
    ck_assert_mem_eq(answer, first, size);
    ck_assert_uint_eq(hc_sv_host_clients(host), 1);
}
END_TEST

START_TEST(an_attempt_that_was_admitted_is_not_judged_again) {
    struct guest guest = guest_at(loopback(1000), 1);
    uint8_t first[HC_DATAGRAM_MAX];
    ck_assert(admitted(&guest));
    memcpy(first, answer, sizeof first);
    hc_sv_host_set_time(host, config.unix_us + 100 * (uint64_t)SECOND_US, now_us); // expired
    ck_assert_int_eq(knock(&guest), HC_OK);
    ck_assert_uint_eq(answered, sizeof first);
    ck_assert_mem_eq(answer, first, sizeof first);
    ck_assert_uint_eq(hc_sv_host_stats(host)->denied, 0);
}
END_TEST

START_TEST(an_attempt_has_one_connection_and_one_accept_wherever_it_asks_from) {
    struct guest guest = guest_at(loopback(1000), 1), elsewhere = guest;
    uint8_t first[HC_DATAGRAM_MAX];
    elsewhere.from.port = 2000;
    greet_as(&elsewhere, serial);
    ck_assert(admitted(&guest));
    memcpy(first, answer, sizeof first);
    for (unsigned n = 0; n < 4; n++) { // also when nothing was heard for a while
        ck_assert(admitted(&elsewhere));
        ck_assert_mem_eq(answer, first, sizeof first);
        ck_assert(hc_address_equal(&host->peers[0].address, &elsewhere.from));
        ck_assert(admitted(&guest));
        ck_assert(hc_address_equal(&host->peers[0].address, &guest.from));
        now_us += SECOND_US;
    }
    ck_assert(admitted(&elsewhere));
    ck_assert_int_eq(speak(&elsewhere), HC_OK);
    ck_assert_int_eq(knock(&guest), HC_DUPLICATE); // from now on its DATA say where it is
    ck_assert(hc_address_equal(&host->peers[0].address, &elsewhere.from));
    ck_assert_uint_eq(hc_sv_host_stats(host)->joins, 1);
    ck_assert_uint_eq(hc_sv_host_stats(host)->resumed, 0);
}
END_TEST

START_TEST(an_attempt_cannot_go_to_an_address_that_has_its_clients) {
    struct guest guest = guest_at(hc_address_ipv4(192, 0, 2, 2, 1000), 1), elsewhere = guest;
    elsewhere.from = hc_address_ipv4(192, 0, 2, 1, 1000);
    greet_as(&elsewhere, serial);
    ck_assert(admitted(&guest));
    for (uint64_t user = 2; user < 2 + HOUSEHOLD; user++) {
        struct guest neighbour =
            guest_at(hc_address_ipv4(192, 0, 2, 1, (uint16_t)(2000 + user)), user);
        ck_assert(admitted(&neighbour));
        now_us += SECOND_US;
    }
    ck_assert_int_eq(knock(&elsewhere), HC_OK);
    ck_assert(denied(&elsewhere, HC_DENY_LIMIT, true));
    ck_assert(hc_address_equal(&host->peers[0].address, &guest.from));
}
END_TEST

START_TEST(a_connect_with_a_key_of_low_order_is_dropped_and_changes_nothing) {
    enum { CLIENT_KEY_AT = 301 };
    struct guest guest = guest_at(loopback(1000), 1);
    uint8_t bytes[HC_DATAGRAM_MAX];
    for (uint8_t key = 0; key < 2; key++) { // the points 0 and 1
        size_t size = hc_endpoint_put_connect(&guest.endpoint, &guest.connect, bytes);
        memset(bytes + CLIENT_KEY_AT, 0, HC_EXCHANGE_KEY_SIZE);
        bytes[CLIENT_KEY_AT] = key;
        hc_token_put_proof(guest.endpoint.credential.secret, bytes);
        ck_assert_int_eq(hand(&guest.from, bytes, size), HC_MALFORMED);
        ck_assert_uint_eq(answered, 0);
        ck_assert_uint_eq(hc_sv_host_clients(host), 0);
    }
    ck_assert(admitted(&guest)); // neither the token nor the nonce is used up
}
END_TEST

START_TEST(a_token_is_denied_for_what_is_wrong_with_it) {
    // A token that the server cannot open has no secret to deny under.
    static const enum hc_deny_reason reasons[] = {HC_DENY_TOKEN, HC_DENY_TOKEN, HC_DENY_EXPIRED,
                                                  HC_DENY_AUDIENCE, HC_DENY_TOKEN};
    struct hc_token_ring ring = hc_endpoint_token_ring();
    for (unsigned fault = 0; fault < 5; fault++) {
        struct hc_token token = token_of(1);
        struct hc_token_key key = ring.keys[0];
        struct guest guest = guest_at(loopback((uint16_t)(1000 + fault)), 1);
        const struct hc_sv_denials *denials = &hc_sv_host_stats(host)->denials[reasons[fault]];
        uint64_t before = denials->count;
        key.id = (uint8_t)(key.id + (fault == 0));
        key.key[3] ^= fault == 1;
        token.expire_s = fault == 2 ? HC_TEST_UNIX_S : token.expire_s;
        token.audience += fault == 3;
        hc_endpoint_issue_token_as(&guest.endpoint, &hc_arena, &key, &token, ++serial);
        if (fault == 4)
            guest.endpoint.credential.token[100] ^= 1;
        ck_assert_int_eq(knock(&guest), HC_OK);
        bool proven = reasons[fault] != HC_DENY_TOKEN;
        ck_assert_msg(denied(&guest, reasons[fault], proven), "fault %u", fault);
        ck_assert_uint_eq(denials->count, before + 1);
        ck_assert(hc_address_equal(&denials->address, &guest.from));
        ck_assert(denials->proven == proven && denials->client_id == (proven ? 1 : 0));
    }
    ck_assert_uint_eq(hc_sv_host_clients(host), 0);
}
END_TEST

START_TEST(a_thief_of_a_token_that_is_worth_nothing_gets_no_answer) {
    struct hc_token token = token_of(1);
    struct guest thief = guest_at(loopback(1000), 1);
    token.expire_s = HC_TEST_UNIX_S;
    bring(&thief, &token);
    thief.endpoint.credential.secret[0] ^= 1;
    ck_assert_int_eq(knock(&thief), HC_MALFORMED);
    ck_assert_uint_eq(answered, 0);
    ck_assert_uint_eq(hc_sv_host_stats(host)->unproven, 1);
}
END_TEST

START_TEST(a_user_that_is_connected_is_denied_and_admitted_once_it_is_silent) {
    struct guest first = guest_at(loopback(1000), 1), second = guest_at(loopback(1001), 1);
    ck_assert(admitted(&first));
    ck_assert_int_eq(knock(&second), HC_OK);
    ck_assert(denied(&second, HC_DENY_CONNECTED, true));
    now_us += SECOND_US;
    greet(&second);
    ck_assert(admitted(&second));
    ck_assert_uint_eq(hc_sv_host_clients(host), 1);
}
END_TEST

START_TEST(a_nonce_that_another_user_has_used_keeps_nobody_out) {
    struct guest owner = guest_at(loopback(1000), 1), copier = guest_at(loopback(1001), 2);
    greet_as(&copier, serial + 1);
    greet_as(&owner, serial + 1);
    ck_assert(admitted(&copier));
    leave(&copier);
    ck_assert(admitted(&owner));
    leave(&owner);
    ck_assert_int_eq(knock(&owner), HC_DUPLICATE); // its own attempt is over
}
END_TEST

START_TEST(a_copied_token_gets_no_answer_and_its_owner_gets_in) {
    struct guest owner = guest_at(loopback(1000), 1), thief = guest_at(loopback(1001), 2);
    memcpy(thief.endpoint.credential.token, owner.endpoint.credential.token, HC_TOKEN_SIZE);
    for (unsigned n = 0; n < 100; n++) {
        memset(thief.endpoint.credential.secret, (int)n, HC_TOKEN_SECRET_SIZE);
        ck_assert_int_eq(knock(&thief), HC_MALFORMED);
        ck_assert_uint_eq(answered, 0);
    }
    ck_assert(admitted(&owner));
}
END_TEST

START_TEST(names_that_cannot_be_shown_are_denied) {
    static const char *const names[] = {"\n", "a\x1b[31m", "\xff", "\xe2\x80\xaexyz", "a\0b"};
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct hc_token token = token_of(1);
        struct guest guest = guest_at(loopback((uint16_t)(1000 + i)), 1);
        memcpy(token.name, names[i], i == 4 ? 3 : strlen(names[i]));
        bring(&guest, &token);
        ck_assert_int_eq(knock(&guest), HC_OK);
        ck_assert_msg(denied(&guest, HC_DENY_NAME, true), "name %u", i);
    }
}
END_TEST

START_TEST(a_token_opens_one_session_and_that_again_while_it_stands) {
    struct guest guest = guest_at(loopback(1000), 1);
    ck_assert(admitted(&guest));
    now_us += SECOND_US;
    greet(&guest); // its answer was lost, say, and its address is another one
    ck_assert(admitted(&guest));
    ck_assert_uint_eq(hc_sv_host_stats(host)->resumed, 1);
    leave(&guest);
    ck_assert_uint_eq(hc_sv_host_clients(host), 0);
    greet(&guest);
    ck_assert_int_eq(knock(&guest), HC_OK);
    ck_assert(denied(&guest, HC_DENY_USED, true));
}
END_TEST

/// Connects once more after a second of silence, and is heard; whether it was admitted.
static bool comes_again(struct guest *guest) {
    now_us += SECOND_US;
    greet(guest);
    return admitted(guest) && speak(guest) == HC_OK;
}

START_TEST(a_ticket_opens_its_session_again_until_a_later_one_is_used) {
    struct guest guest = guest_at(loopback(1000), 1), by_token = guest;
    struct guest first = guest, second = guest;
    bring_ticket(&first, 1, 100);
    bring_ticket(&second, 1, 101);
    ck_assert(comes_again(&by_token) && comes_again(&by_token));
    ck_assert(comes_again(&first) && comes_again(&first));
    now_us += SECOND_US;
    greet(&by_token); // which its session has left behind
    ck_assert_int_eq(knock(&by_token), HC_OK);
    ck_assert(denied(&by_token, HC_DENY_USED, true));
    ck_assert(comes_again(&second) && comes_again(&second));
    now_us += SECOND_US;
    greet(&first);
    ck_assert_int_eq(knock(&first), HC_OK);
    ck_assert(denied(&first, HC_DENY_USED, true));
    hc_sv_host_set_time(host, config.unix_us + 100 * (uint64_t)SECOND_US, now_us); // expired
    greet(&second);
    ck_assert_int_eq(knock(&second), HC_OK);
    ck_assert(denied(&second, HC_DENY_EXPIRED, true));
    ck_assert_uint_eq(hc_sv_host_stats(host)->joins, 1);
}
END_TEST

START_TEST(one_address_connects_so_often_and_has_so_many_clients) {
    struct hc_address from = hc_address_ipv4(192, 0, 2, 1, 1000);
    unsigned let_in = 0, limited = 0;
    for (uint64_t user = 1; user <= 8; user++, from.port++) {
        struct guest guest = guest_at(from, user);
        if (admitted(&guest))
            let_in++;
        else
            limited += denied(&guest, HC_DENY_RATE, true);
    }
    ck_assert_uint_eq(let_in, config.connects_per_address);
    ck_assert_uint_eq(limited, 8 - let_in);
    for (uint64_t user = 9; let_in < HOUSEHOLD; user++, from.port++) {
        now_us += SECOND_US;
        struct guest guest = guest_at(from, user);
        ck_assert(admitted(&guest));
        let_in++;
    }
    now_us += SECOND_US;
    struct guest last = guest_at(from, 98);
    ck_assert_int_eq(knock(&last), HC_OK);
    ck_assert(denied(&last, HC_DENY_LIMIT, true));
    struct guest neighbour = guest_at(hc_address_ipv4(192, 0, 2, 2, 1000), 99);
    ck_assert(admitted(&neighbour));
}
END_TEST

START_TEST(a_connect_that_is_denied_counts_as_none) {
    struct guest inside[PLACES], guest = guest_at(hc_address_ipv4(192, 0, 2, 1, 1000), 99);
    for (unsigned i = 0; i < PLACES; i++) {
        inside[i] = guest_at(loopback((uint16_t)(1000 + i)), 1 + i);
        ck_assert(admitted(&inside[i]));
    }
    for (unsigned n = 0; n < 20; n++) {
        ck_assert_int_eq(knock(&guest), HC_OK);
        ck_assert(denied(&guest, HC_DENY_FULL, true));
    }
    for (unsigned i = 0; i < PLACES; i++)
        leave(&inside[i]);
    for (unsigned i = 0; i < config.connects_per_address; i++) {
        struct guest next = guest_at(guest.from, 100 + i);
        next.from.port = (uint16_t)(2000 + i);
        greet(&next);
        ck_assert(admitted(&next));
    }
    ck_assert_int_eq(knock(&guest), HC_OK);
    ck_assert(denied(&guest, HC_DENY_RATE, true));
}
END_TEST

START_TEST(a_client_that_wants_more_players_than_are_free_keeps_those_that_it_has) {
    struct guest guest = guest_at(loopback(1000), 1), other = guest_at(loopback(1001), 2);
    other.connect.players = HC_OWN_PLAYERS_MAX;
    ck_assert(admitted(&guest) && admitted(&other));
    now_us += SECOND_US;
    greet(&guest);
    guest.connect.players = HC_OWN_PLAYERS_MAX; // of eight, its own one given back
    ck_assert(admitted(&guest));
    ck_assert_uint_eq(hc_sv_host_stats(host)->leaves, 1);
    struct guest third = guest_at(loopback(1002), 3);
    ck_assert_int_eq(knock(&third), HC_OK);
    ck_assert(denied(&third, HC_DENY_FULL, true));
    now_us += SECOND_US;
    greet(&other);
    other.connect.players = 0;
    ck_assert(admitted(&other));
    ck_assert(admitted(&third));
    now_us += SECOND_US;
    greet(&third);
    third.connect.players = HC_OWN_PLAYERS_MAX; // three are free, and its own
    ck_assert(admitted(&third));
    now_us += SECOND_US;
    greet(&other);
    other.connect.players = 1;
    ck_assert_int_eq(knock(&other), HC_OK);
    ck_assert(denied(&other, HC_DENY_FULL, true));
    ck_assert_uint_eq(hc_sv_host_stats(host)->leaves, 3);
    other.connect.players = 0;
    ck_assert(admitted(&other)); // it watches as before
    ck_assert_uint_eq(hc_sv_host_stats(host)->leaves, 3);
    ck_assert_uint_eq(hc_sv_host_clients(host), 3);
}
END_TEST

START_TEST(what_nobody_has_shown_to_be_its_own_costs_its_address_nothing) {
    struct hc_address victim = hc_address_ipv4(192, 0, 2, 1, 1000);
    struct guest guest = guest_at(victim, 1);
    for (unsigned n = 0; n < 10000; n++) {
        struct guest junk = guest;
        junk.connect.cookie[n % HC_COOKIE_SIZE] ^= (uint8_t)(1 + n % 255);
        ck_assert_int_ne(knock(&junk), HC_OK);
    }
    ck_assert(admitted(&guest));
}
END_TEST

START_TEST(no_answer_is_longer_than_what_it_answers) {
    struct hc_rng rng = hc_rng_init(12, 0);
    struct hc_address from = hc_address_ipv4(192, 0, 2, 9, 1);
    for (unsigned kind = 0; kind < 256; kind++)
        for (size_t size = 0; size <= HC_DATAGRAM_MAX + 1; size += 1 + hc_rng_below(&rng, 40)) {
            uint8_t bytes[HC_DATAGRAM_MAX + 1];
            for (size_t i = 0; i < size; i++)
                bytes[i] = (uint8_t)hc_rng_next(&rng);
            if (size > 0)
                bytes[0] = (uint8_t)kind;
            if (size > 8 && kind % 2 == 1)
                memcpy(bytes + 1, HC_DATAGRAM_MAGIC, HC_MAGIC_SIZE);
            uint64_t out_before = out;
            from.port++;
            hand(&from, bytes, size);
            ck_assert_uint_le(out - out_before, size);
            now_us += 10000;
        }
    for (uint64_t user = 1; user <= 20; user++) { // and for those who mean it
        in = out = 0;
        struct guest guest = guest_at(loopback((uint16_t)(2000 + user)), user);
        knock(&guest);
        ck_assert_uint_le(out, in);
    }
}
END_TEST

/// Ticks go by for a second; how many datagrams went to the guest.
static unsigned wait_second(const struct guest *guest) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct hc_address to;
    unsigned sent = 0;
    for (unsigned tick = 0; tick < 60; tick++) {
        now_us += SECOND_US / 60 + 1;
        hc_sv_host_advance(host, now_us);
        while (hc_sv_host_send(host, &to, bytes, now_us) > 0)
            sent += hc_address_equal(&to, &guest->from);
    }
    return sent;
}

START_TEST(little_goes_to_a_client_before_it_is_heard_and_all_from_then_on) {
    enum { MOST = 16 };
    struct guest guest = guest_at(loopback(1000), 1);
    ck_assert(admitted(&guest));
    ck_assert_uint_eq(wait_second(&guest), MOST);
    ck_assert_uint_eq(wait_second(&guest), 0);
    ck_assert_int_eq(speak(&guest), HC_OK);
    ck_assert_uint_gt(wait_second(&guest), 2 * MOST);
    greet(&guest); // each connection begins so
    ck_assert(admitted(&guest));
    ck_assert_uint_eq(wait_second(&guest), MOST);
}
END_TEST

START_TEST(a_connection_whose_numbers_run_out_is_lost_and_comes_back) {
    struct guest guest = guest_at(loopback(1000), 1);
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct hc_address to;
    struct hc_sv_event event;
    struct hc_data data = {.seq = 1};
    ck_assert(admitted(&guest));
    while (hc_sv_host_poll_event(host, &event))
        data.cid = event.cid;
    ck_assert_int_eq(
        hand(&guest.from, bytes, hc_endpoint_put_data(&guest.endpoint, true, &data, bytes)), HC_OK);
    host->peers[0].sent.next = HC_SV_SEQ_MAX - 10;
    for (unsigned tick = 0; tick < 30; tick++) {
        now_us += SECOND_US / 60;
        (void)hc_sv_host_send_message(host, data.cid, "hi", 2, now_us);
        hc_sv_host_advance(host, now_us);
        while (hc_sv_host_send(host, &to, bytes, now_us) > 0) {
        }
    }
    ck_assert_uint_eq(hc_sv_host_clients(host), 0);
    greet(&guest);
    ck_assert(admitted(&guest));
    ck_assert_uint_eq(hc_sv_host_clients(host), 1);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("server_door");
    TCase *tests = tcase_create("door");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, who_knows_the_secret_of_a_good_token_is_let_in_once);
    tcase_add_test(tests, an_attempt_that_was_admitted_is_not_judged_again);
    tcase_add_test(tests, an_attempt_has_one_connection_and_one_accept_wherever_it_asks_from);
    tcase_add_test(tests, an_attempt_cannot_go_to_an_address_that_has_its_clients);
    tcase_add_test(tests, a_connect_with_a_key_of_low_order_is_dropped_and_changes_nothing);
    tcase_add_test(tests, a_token_is_denied_for_what_is_wrong_with_it);
    tcase_add_test(tests, a_thief_of_a_token_that_is_worth_nothing_gets_no_answer);
    tcase_add_test(tests, a_user_that_is_connected_is_denied_and_admitted_once_it_is_silent);
    tcase_add_test(tests, a_nonce_that_another_user_has_used_keeps_nobody_out);
    tcase_add_test(tests, a_copied_token_gets_no_answer_and_its_owner_gets_in);
    tcase_add_test(tests, names_that_cannot_be_shown_are_denied);
    tcase_add_test(tests, a_token_opens_one_session_and_that_again_while_it_stands);
    tcase_add_test(tests, a_ticket_opens_its_session_again_until_a_later_one_is_used);
    tcase_add_test(tests, one_address_connects_so_often_and_has_so_many_clients);
    tcase_add_test(tests, a_connect_that_is_denied_counts_as_none);
    tcase_add_test(tests, a_client_that_wants_more_players_than_are_free_keeps_those_that_it_has);
    tcase_add_test(tests, what_nobody_has_shown_to_be_its_own_costs_its_address_nothing);
    tcase_add_test(tests, no_answer_is_longer_than_what_it_answers);
    tcase_add_test(tests, little_goes_to_a_client_before_it_is_heard_and_all_from_then_on);
    tcase_add_test(tests, a_connection_whose_numbers_run_out_is_lost_and_comes_back);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
