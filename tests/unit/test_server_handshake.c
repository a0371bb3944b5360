/// Tests server/handshake: which clients it admits, and what it answers the others.
#include "tests/unit/handshake_rig.h"

#include "hindcast/rng.h"
#include "tests/run_suite.h"

START_TEST(client_with_the_secret_of_a_valid_token_is_admitted_once) {
    struct client client = client_at(loopback(1000), 1);
    ck_assert(connects(&client));
    uint8_t first[HC_DATAGRAM_MAX];
    size_t size = answered;
    memcpy(first, answer, size);
    ck_assert_int_eq(send_connect(&client), HC_OK);
    ck_assert_uint_eq(answered, size);
    ck_assert_mem_eq(answer, first, size);
    ck_assert_uint_eq(hc_server_clients(host), 1);
}
END_TEST

/// Begins the host's Unix time anew, 100 s later.
static void expire_tokens(void) {
    host->admission.unix_time = (struct hc_unix_time){.read = false};
    hc_server_set_time(host, HC_TEST_UNIX_US + 100 * (uint64_t)SECOND_US, now_us);
}

START_TEST(admitted_attempt_is_not_checked_again) {
    struct client client = client_at(loopback(1000), 1);
    uint8_t first[HC_DATAGRAM_MAX];
    ck_assert(connects(&client));
    memcpy(first, answer, sizeof first);
    expire_tokens();
    ck_assert_int_eq(send_connect(&client), HC_OK);
    ck_assert_uint_eq(answered, sizeof first);
    ck_assert_mem_eq(answer, first, sizeof first);
    ck_assert_uint_eq(hc_server_stats(host)->denied, 0);
}
END_TEST

START_TEST(attempt_has_one_connection_and_one_accept_at_any_address) {
    struct client client = client_at(loopback(1000), 1), elsewhere = client;
    uint8_t first[HC_DATAGRAM_MAX];
    elsewhere.from.port = 2000;
    begin_attempt_as(&elsewhere, serial);
    ck_assert(connects(&client));
    memcpy(first, answer, sizeof first);
    for (unsigned n = 0; n < 4; n++) { // also after a second without DATA
        ck_assert(connects(&elsewhere));
        ck_assert_mem_eq(answer, first, sizeof first);
        ck_assert(hc_address_equal(&host->clients.peers[0].address, &elsewhere.from));
        ck_assert(connects(&client));
        ck_assert(hc_address_equal(&host->clients.peers[0].address, &client.from));
        now_us += SECOND_US;
    }
    ck_assert(connects(&elsewhere));
    ck_assert_int_eq(send_empty(&elsewhere), HC_OK);
    ck_assert_int_eq(send_connect(&client), HC_DUPLICATE); // from now on its DATA show its address
    ck_assert(hc_address_equal(&host->clients.peers[0].address, &elsewhere.from));
    ck_assert_uint_eq(hc_server_stats(host)->joins, 1);
    ck_assert_uint_eq(hc_server_stats(host)->resumed, 0);
}
END_TEST

START_TEST(attempt_cannot_move_to_an_address_that_is_full) {
    struct client client = client_at(hc_address_ipv4(192, 0, 2, 2, 1000), 1), elsewhere = client;
    elsewhere.from = hc_address_ipv4(192, 0, 2, 1, 1000);
    begin_attempt_as(&elsewhere, serial);
    ck_assert(connects(&client));
    for (uint64_t user = 2; user < 2 + PER_ADDRESS; user++) {
        struct client neighbour =
            client_at(hc_address_ipv4(192, 0, 2, 1, (uint16_t)(2000 + user)), user);
        ck_assert(connects(&neighbour));
        now_us += SECOND_US;
    }
    ck_assert_int_eq(send_connect(&elsewhere), HC_OK);
    ck_assert(is_denied(&elsewhere, HC_DENY_LIMIT, true));
    ck_assert(hc_address_equal(&host->clients.peers[0].address, &client.from));
}
END_TEST

START_TEST(connect_with_a_key_of_low_order_changes_nothing) {
    enum { CLIENT_KEY_AT = 301 };
    struct client client = client_at(loopback(1000), 1);
    uint8_t bytes[HC_DATAGRAM_MAX];
    for (uint8_t key = 0; key < 2; key++) { // the points 0 and 1
        size_t size = hc_endpoint_put_connect(&client.endpoint, &client.connect, bytes);
        memset(bytes + CLIENT_KEY_AT, 0, HC_EXCHANGE_KEY_SIZE);
        bytes[CLIENT_KEY_AT] = key;
        hc_token_put_proof(client.endpoint.credential.secret, bytes);
        ck_assert_int_eq(deliver(&client.from, bytes, size), HC_MALFORMED);
        ck_assert_uint_eq(answered, 0);
        ck_assert_uint_eq(hc_server_clients(host), 0);
    }
    ck_assert(connects(&client)); // neither the token nor the nonce is used
}
END_TEST

START_TEST(deny_names_the_fault_of_the_token) {
    // A token that the server cannot open has no secret that authenticates the DENY.
    static const enum hc_deny_reason reasons[] = {HC_DENY_TOKEN, HC_DENY_TOKEN, HC_DENY_EXPIRED,
                                                  HC_DENY_AUDIENCE, HC_DENY_TOKEN};
    struct hc_token_ring ring = hc_endpoint_token_ring();
    for (unsigned fault = 0; fault < 5; fault++) {
        struct hc_token token = token_of(1);
        struct hc_token_key key = ring.keys[0];
        struct client client = client_at(loopback((uint16_t)(1000 + fault)), 1);
        const struct hc_server_denials *denials = &hc_server_stats(host)->denials[reasons[fault]];
        uint64_t before = denials->count;
        key.id = (uint8_t)(key.id + (fault == 0));
        key.key[3] ^= fault == 1;
        token.expire_s = fault == 2 ? HC_TEST_UNIX_S : token.expire_s;
        token.audience += fault == 3;
        hc_endpoint_issue_token_as(&client.endpoint, &hc_arena, &key, &token, ++serial);
        if (fault == 4)
            client.endpoint.credential.token[100] ^= 1;
        ck_assert_int_eq(send_connect(&client), HC_OK);
        bool proven = reasons[fault] != HC_DENY_TOKEN;
        ck_assert_msg(is_denied(&client, reasons[fault], proven), "fault %u", fault);
        ck_assert_uint_eq(denials->count, before + 1);
        ck_assert(hc_address_equal(&denials->address, &client.from));
        ck_assert(denials->proven == proven && denials->client_id == (proven ? 1 : 0));
    }
    ck_assert_uint_eq(hc_server_clients(host), 0);
}
END_TEST

START_TEST(expired_token_without_its_secret_gets_no_answer) {
    struct hc_token token = token_of(1);
    struct client thief = client_at(loopback(1000), 1);
    token.expire_s = HC_TEST_UNIX_S;
    issue_token(&thief, &token);
    thief.endpoint.credential.secret[0] ^= 1;
    ck_assert_int_eq(send_connect(&thief), HC_MALFORMED);
    ck_assert_uint_eq(answered, 0);
    ck_assert_uint_eq(hc_server_stats(host)->unproven, 1);
}
END_TEST

START_TEST(connected_user_is_denied_until_its_connection_is_silent) {
    struct client first = client_at(loopback(1000), 1), second = client_at(loopback(1001), 1);
    ck_assert(connects(&first));
    ck_assert_int_eq(send_connect(&second), HC_OK);
    ck_assert(is_denied(&second, HC_DENY_CONNECTED, true));
    now_us += SECOND_US;
    begin_attempt(&second);
    ck_assert(connects(&second));
    ck_assert_uint_eq(hc_server_clients(host), 1);
}
END_TEST

START_TEST(client_that_proves_its_last_connection_continues_it_at_once) {
    struct client client = client_at(loopback(1000), 1);
    ck_assert(connects(&client));
    for (unsigned n = 0; n < 3; n++) {
        uint32_t cid = client.cid;
        begin_attempt(&client);
        client.connect.continues = cid;
        ck_assert(connects(&client)); // also while the client has sent nothing with its last keys
        ck_assert(n != 1 || send_data(&client, NULL, 0) == HC_OK);
    }
    ck_assert_uint_eq(hc_server_stats(host)->resumed, 3);
}
END_TEST

/// How many messages wait for the client's ack.
static uint32_t unacked(void) {
    const struct hc_reliable_channel *messages = &host->clients.peers[0].messages;
    return messages->out.next - messages->out.oldest;
}

START_TEST(another_process_of_a_user_gets_no_messages_of_the_one_before) {
    struct client client = client_at(loopback(1000), 1), other = client_at(loopback(1001), 1);
    ck_assert(connects(&client));
    ck_assert_int_eq(hc_server_send_message(host, client.cid, "you", 3, now_us), HC_OK);
    begin_attempt(&client);
    client.connect.continues = client.cid;
    ck_assert(connects(&client));
    ck_assert(client.resumed);
    ck_assert_uint_eq(unacked(), 1);
    now_us += SECOND_US;
    begin_attempt(&other);
    ck_assert(connects(&other));
    ck_assert(!other.resumed);
    ck_assert_uint_eq(unacked(), 0);
    ck_assert_uint_eq(hc_server_stats(host)->resumed, 2);
}
END_TEST

START_TEST(close_has_one_answer) {
    struct client client = client_at(loopback(1000), 1);
    ck_assert(connects(&client));
    for (unsigned n = 0; n < 3; n++) { // also a repeated one
        uint64_t before = out;
        leave(&client);
        ck_assert_uint_gt(answered, 0);
        ck_assert_uint_eq(out - before, answered);
    }
}
END_TEST

START_TEST(cid_without_its_keys_continues_nothing) {
    struct client owner = client_at(loopback(1000), 1), thief = owner;
    ck_assert(connects(&owner));
    thief.from = loopback(1001);
    for (unsigned n = 0; n <= HC_CONNECTS_AT_ONCE; n++) {
        enum hc_deny_reason reason = n < HC_CONNECTS_AT_ONCE ? HC_DENY_CONNECTED : HC_DENY_RATE;
        begin_attempt(&thief);
        thief.connect.continues = owner.cid;
        ck_assert_int_eq(send_connect(&thief), HC_OK);
        ck_assert(is_denied(&thief, reason, true));
    }
    begin_attempt(&owner);
    owner.connect.continues = owner.cid;
    ck_assert(connects(&owner)); // the tries of others do not count for it
}
END_TEST

START_TEST(nonce_of_another_user_does_not_block_a_client) {
    struct client owner = client_at(loopback(1000), 1), copier = client_at(loopback(1001), 2);
    begin_attempt_as(&copier, serial + 1);
    begin_attempt_as(&owner, serial + 1);
    ck_assert(connects(&copier));
    leave(&copier);
    ck_assert(connects(&owner));
    leave(&owner);
    ck_assert_int_eq(send_connect(&owner), HC_DUPLICATE); // its own attempt is over
}
END_TEST

START_TEST(copied_token_gets_no_answer_and_its_owner_is_admitted) {
    struct client owner = client_at(loopback(1000), 1), thief = client_at(loopback(1001), 2);
    memcpy(thief.endpoint.credential.token, owner.endpoint.credential.token, HC_TOKEN_SIZE);
    for (unsigned n = 0; n < 100; n++) {
        memset(thief.endpoint.credential.secret, (int)n, HC_TOKEN_SECRET_SIZE);
        ck_assert_int_eq(send_connect(&thief), HC_MALFORMED);
        ck_assert_uint_eq(answered, 0);
    }
    ck_assert(connects(&owner));
}
END_TEST

START_TEST(unprintable_names_are_denied) {
    static const char *const names[] = {"\n", "a\x1b[31m", "\xff", "\xe2\x80\xaexyz", "a\0b"};
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct hc_token token = token_of(1);
        struct client client = client_at(loopback((uint16_t)(1000 + i)), 1);
        memcpy(token.name, names[i], i == 4 ? 3 : strlen(names[i]));
        issue_token(&client, &token);
        ck_assert_int_eq(send_connect(&client), HC_OK);
        ck_assert_msg(is_denied(&client, HC_DENY_NAME, true), "name %u", i);
    }
}
END_TEST

START_TEST(token_opens_one_session_and_reopens_it_while_it_lasts) {
    struct client client = client_at(loopback(1000), 1);
    ck_assert(connects(&client));
    now_us += SECOND_US;
    begin_attempt(&client); // as if its ACCEPT was lost
    ck_assert(connects(&client));
    ck_assert_uint_eq(hc_server_stats(host)->resumed, 1);
    leave(&client);
    ck_assert_uint_eq(hc_server_clients(host), 0);
    begin_attempt(&client);
    ck_assert_int_eq(send_connect(&client), HC_OK);
    ck_assert(is_denied(&client, HC_DENY_USED, true));
}
END_TEST

/// Connects again after a second of silence and sends a DATA. Returns whether both succeeded.
static bool connects_again(struct client *client) {
    now_us += SECOND_US;
    begin_attempt(client);
    return connects(client) && send_empty(client) == HC_OK;
}

START_TEST(ticket_reopens_its_session_until_a_later_one_is_used) {
    struct client client = client_at(loopback(1000), 1), by_token = client;
    struct client first = client, second = client;
    issue_ticket(&first, 1, 100);
    issue_ticket(&second, 1, 101);
    ck_assert(connects_again(&by_token) && connects_again(&by_token));
    ck_assert(connects_again(&first) && connects_again(&first));
    now_us += SECOND_US;
    begin_attempt(&by_token); // the first ticket has voided the token
    ck_assert_int_eq(send_connect(&by_token), HC_OK);
    ck_assert(is_denied(&by_token, HC_DENY_USED, true));
    ck_assert(connects_again(&second) && connects_again(&second));
    now_us += SECOND_US;
    begin_attempt(&first);
    ck_assert_int_eq(send_connect(&first), HC_OK);
    ck_assert(is_denied(&first, HC_DENY_USED, true));
    expire_tokens();
    begin_attempt(&second);
    ck_assert_int_eq(send_connect(&second), HC_OK);
    ck_assert(is_denied(&second, HC_DENY_EXPIRED, true));
    ck_assert_uint_eq(hc_server_stats(host)->joins, 1);
}
END_TEST

START_TEST(address_has_a_limit_of_connects_and_of_clients) {
    struct hc_address from = hc_address_ipv4(192, 0, 2, 1, 1000);
    unsigned admissions = 0, limited = 0;
    for (uint64_t user = 1; user <= 8; user++, from.port++) {
        struct client client = client_at(from, user);
        if (connects(&client))
            admissions++;
        else
            limited += is_denied(&client, HC_DENY_RATE, true);
    }
    ck_assert_uint_eq(admissions, config.connects_per_address);
    ck_assert_uint_eq(limited, 8 - admissions);
    for (uint64_t user = 9; admissions < PER_ADDRESS; user++, from.port++) {
        now_us += SECOND_US;
        struct client client = client_at(from, user);
        ck_assert(connects(&client));
        admissions++;
    }
    now_us += SECOND_US;
    struct client last = client_at(from, 98);
    ck_assert_int_eq(send_connect(&last), HC_OK);
    ck_assert(is_denied(&last, HC_DENY_LIMIT, true));
    struct client neighbour = client_at(hc_address_ipv4(192, 0, 2, 2, 1000), 99);
    ck_assert(connects(&neighbour));
}
END_TEST

START_TEST(denied_connect_does_not_count_for_its_address) {
    struct client inside[CLIENTS], client = client_at(hc_address_ipv4(192, 0, 2, 1, 1000), 99);
    for (unsigned i = 0; i < CLIENTS; i++) {
        inside[i] = client_at(loopback((uint16_t)(1000 + i)), 1 + i);
        ck_assert(connects(&inside[i]));
    }
    for (unsigned n = 0; n < 20; n++) {
        ck_assert_int_eq(send_connect(&client), HC_OK);
        ck_assert(is_denied(&client, HC_DENY_FULL, true));
    }
    for (unsigned i = 0; i < CLIENTS; i++)
        leave(&inside[i]);
    for (unsigned i = 0; i < config.connects_per_address; i++) {
        struct client next = client_at(client.from, 100 + i);
        next.from.port = (uint16_t)(2000 + i);
        begin_attempt(&next);
        ck_assert(connects(&next));
    }
    ck_assert_int_eq(send_connect(&client), HC_OK);
    ck_assert(is_denied(&client, HC_DENY_RATE, true));
}
END_TEST

START_TEST(client_that_is_denied_more_players_retains_its_own) {
    struct client client = client_at(loopback(1000), 1), other = client_at(loopback(1001), 2);
    other.connect.players = HC_OWN_PLAYERS_MAX;
    ck_assert(connects(&client) && connects(&other));
    now_us += SECOND_US;
    begin_attempt(&client);
    client.connect.players = HC_OWN_PLAYERS_MAX; // of eight, its own one included
    ck_assert(connects(&client));
    ck_assert_uint_eq(hc_server_stats(host)->leaves, 1);
    struct client third = client_at(loopback(1002), 3);
    ck_assert_int_eq(send_connect(&third), HC_OK);
    ck_assert(is_denied(&third, HC_DENY_FULL, true));
    now_us += SECOND_US;
    begin_attempt(&other);
    other.connect.players = 0;
    ck_assert(connects(&other));
    ck_assert(connects(&third));
    now_us += SECOND_US;
    begin_attempt(&third);
    third.connect.players = HC_OWN_PLAYERS_MAX; // three are free besides its own
    ck_assert(connects(&third));
    now_us += SECOND_US;
    begin_attempt(&other);
    other.connect.players = 1;
    ck_assert_int_eq(send_connect(&other), HC_OK);
    ck_assert(is_denied(&other, HC_DENY_FULL, true));
    ck_assert_uint_eq(hc_server_stats(host)->leaves, 3);
    other.connect.players = 0;
    ck_assert(connects(&other)); // it watches as before
    ck_assert_uint_eq(hc_server_stats(host)->leaves, 3);
    ck_assert_uint_eq(hc_server_clients(host), 3);
}
END_TEST

START_TEST(connects_with_a_wrong_cookie_do_not_count_for_their_address) {
    struct hc_address victim = hc_address_ipv4(192, 0, 2, 1, 1000);
    struct client client = client_at(victim, 1);
    for (unsigned n = 0; n < 10000; n++) {
        struct client junk = client;
        junk.connect.cookie[n % HC_COOKIE_SIZE] ^= (uint8_t)(1 + n % 255);
        ck_assert_int_ne(send_connect(&junk), HC_OK);
    }
    ck_assert(connects(&client));
}
END_TEST

START_TEST(server_sends_a_keep_alive_while_a_byte_may_be_sent) {
    uint8_t sent[HC_DATAGRAM_MAX];
    struct hc_address to;
    struct client client = client_at(loopback(1000), 1);
    ck_assert(connects(&client));
    ck_assert_int_eq(send_empty(&client), HC_OK);
    struct hc_sv_peer *peer = hc_sv_clients_of_cid(&host->clients, client.cid);
    now_us += HC_KEEP_ALIVE_US;
    peer->ticket.acked = true;
    for (uint32_t room = 0; room < 2; room++) {
        struct hc_sv_bandwidth *bandwidth = &peer->replication.bandwidth;
        hc_sv_bandwidth_begin(bandwidth, config.client_rate, now_us);
        uint32_t full = (uint32_t)hc_sv_bandwidth_room(bandwidth, INT32_MAX, now_us);
        hc_sv_bandwidth_spend(bandwidth, full - HC_SV_BANDWIDTH_OVERHEAD - room);
        ck_assert_int_eq(hc_sv_bandwidth_room(bandwidth, INT32_MAX, now_us), room);
        peer->messages_due = true;
        hc_sv_outbox_seek(&host->outbox, 0);
        size_t size = hc_server_send(host, &to, sent, now_us);
        ck_assert_int_eq(size > 0, room == 1);
    }
}
END_TEST

START_TEST(server_does_not_reuse_a_cid_soon) {
    struct hc_ratchet first_draws;
    uint32_t first_cid = 0;
    hc_server_destroy(host);
    config.clients = 1;
    host = hc_sv_host_create(&config, NULL, HC_TEST_UNIX_US, now_us);
    ck_assert(host != NULL);
    for (unsigned i = 0; i < 3; i++) {
        struct client client = client_at(loopback((uint16_t)(1000 + i)), 1);
        if (i == 0)
            first_draws = host->ratchet;
        if (i == 2)
            host->ratchet = first_draws;
        ck_assert(connects(&client));
        ck_assert_uint_ne(client.cid, first_cid);
        if (i == 0)
            first_cid = client.cid;
        leave(&client);
    }
}
END_TEST

START_TEST(every_connection_has_a_nonce_of_the_server_of_its_own) {
    struct client first = client_at(loopback(1000), 1), second = client_at(loopback(1001), 2);
    ck_assert(connects(&first) && connects(&second));
    ck_assert_mem_ne(first.server_nonce, second.server_nonce, HC_NONCE_SIZE);
}
END_TEST

START_TEST(session_ends_when_its_life_is_over) {
    hc_server_destroy(host);
    config.session_life_s = 30;
    host = hc_sv_host_create(&config, NULL, HC_TEST_UNIX_US, now_us);
    ck_assert(host != NULL);
    struct client client = client_at(loopback(1000), 1);
    ck_assert(connects(&client));
    for (unsigned second = 1; second <= 30; second++) {
        ck_assert_uint_eq(hc_server_clients(host), 1);
        now_us += SECOND_US;
        ck_assert_int_eq(send_empty(&client), HC_OK);
        hc_server_advance(host, now_us);
    }
    ck_assert_uint_eq(hc_server_clients(host), 0);
}
END_TEST

START_TEST(no_answer_is_longer_than_the_received_datagram) {
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
            deliver(&from, bytes, size);
            ck_assert_uint_le(out - out_before, size);
            now_us += 10000;
        }
    for (uint64_t user = 1; user <= 20; user++) { // the same for honest clients
        in = out = 0;
        struct client client = client_at(loopback((uint16_t)(2000 + user)), user);
        send_connect(&client);
        ck_assert_uint_le(out, in);
    }
}
END_TEST

/// Runs the server for a second. Returns the number of datagrams to the client.
static unsigned wait_second(const struct client *client) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct hc_address to;
    unsigned sent = 0;
    for (unsigned tick = 0; tick < 60; tick++) {
        now_us += SECOND_US / 60 + 1;
        hc_server_advance(host, now_us);
        while (hc_server_send(host, &to, bytes, now_us) > 0)
            sent += hc_address_equal(&to, &client->from);
    }
    return sent;
}

START_TEST(server_sends_few_datagrams_before_the_first_data) {
    enum { MOST = 16 };
    struct client client = client_at(loopback(1000), 1);
    ck_assert(connects(&client));
    ck_assert_uint_eq(wait_second(&client), MOST);
    ck_assert_uint_eq(wait_second(&client), 0);
    ck_assert_int_eq(send_empty(&client), HC_OK);
    ck_assert_uint_gt(wait_second(&client), 2 * MOST);
    begin_attempt(&client); // each connection begins with the limit
    ck_assert(connects(&client));
    ck_assert_uint_eq(wait_second(&client), MOST);
}
END_TEST

START_TEST(connection_without_seqs_is_lost_and_its_client_reconnects) {
    struct client client = client_at(loopback(1000), 1);
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct hc_address to;
    struct hc_server_event event;
    struct hc_data data = {.seq = 1};
    ck_assert(connects(&client));
    while (hc_server_poll_event(host, &event))
        data.cid = event.cid;
    ck_assert_int_eq(
        deliver(&client.from, bytes, hc_endpoint_put_data(&client.endpoint, true, &data, bytes)),
        HC_OK);
    host->clients.peers[0].connection.sent.next = HC_SEQ_LOST - 10;
    for (unsigned tick = 0; tick < 30; tick++) {
        now_us += SECOND_US / 60;
        (void)hc_server_send_message(host, data.cid, "hi", 2, now_us);
        hc_server_advance(host, now_us);
        while (hc_server_send(host, &to, bytes, now_us) > 0) {
        }
    }
    ck_assert_uint_eq(hc_server_clients(host), 0);
    begin_attempt(&client);
    ck_assert(connects(&client));
    ck_assert_uint_eq(hc_server_clients(host), 1);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("server_handshake");
    TCase *tests = tcase_create("handshake");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, client_with_the_secret_of_a_valid_token_is_admitted_once);
    tcase_add_test(tests, admitted_attempt_is_not_checked_again);
    tcase_add_test(tests, attempt_has_one_connection_and_one_accept_at_any_address);
    tcase_add_test(tests, attempt_cannot_move_to_an_address_that_is_full);
    tcase_add_test(tests, connect_with_a_key_of_low_order_changes_nothing);
    tcase_add_test(tests, deny_names_the_fault_of_the_token);
    tcase_add_test(tests, expired_token_without_its_secret_gets_no_answer);
    tcase_add_test(tests, connected_user_is_denied_until_its_connection_is_silent);
    tcase_add_test(tests, client_that_proves_its_last_connection_continues_it_at_once);
    tcase_add_test(tests, another_process_of_a_user_gets_no_messages_of_the_one_before);
    tcase_add_test(tests, close_has_one_answer);
    tcase_add_test(tests, cid_without_its_keys_continues_nothing);
    tcase_add_test(tests, nonce_of_another_user_does_not_block_a_client);
    tcase_add_test(tests, copied_token_gets_no_answer_and_its_owner_is_admitted);
    tcase_add_test(tests, unprintable_names_are_denied);
    tcase_add_test(tests, token_opens_one_session_and_reopens_it_while_it_lasts);
    tcase_add_test(tests, ticket_reopens_its_session_until_a_later_one_is_used);
    tcase_add_test(tests, address_has_a_limit_of_connects_and_of_clients);
    tcase_add_test(tests, denied_connect_does_not_count_for_its_address);
    tcase_add_test(tests, client_that_is_denied_more_players_retains_its_own);
    tcase_add_test(tests, connects_with_a_wrong_cookie_do_not_count_for_their_address);
    tcase_add_test(tests, server_sends_a_keep_alive_while_a_byte_may_be_sent);
    tcase_add_test(tests, server_does_not_reuse_a_cid_soon);
    tcase_add_test(tests, every_connection_has_a_nonce_of_the_server_of_its_own);
    tcase_add_test(tests, session_ends_when_its_life_is_over);
    tcase_add_test(tests, no_answer_is_longer_than_the_received_datagram);
    tcase_add_test(tests, server_sends_few_datagrams_before_the_first_data);
    tcase_add_test(tests, connection_without_seqs_is_lost_and_its_client_reconnects);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
