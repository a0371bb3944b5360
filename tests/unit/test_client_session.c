/// How a client (hindcast/client.h) connects, keeps time, sends and leaves.
#include "client/client.h"
#include "tests/unit/client_rig.h"
#include "tests/run_suite.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

// ---- Handshake ----------------------------------------------------------------------------------

START_TEST(client_sends_hello_and_connect_every_quarter_second_until_answered) {
    config.timeout_us = 20000000;
    begin();
    for (int kind = HC_DATAGRAM_HELLO; kind <= HC_DATAGRAM_CONNECT; kind += 2) {
        for (int i = 0; i < 4; i++) {
            ck_assert_int_eq(next_datagram().kind, kind);
            ck_assert_int_eq(next_datagram().kind, HC_DATAGRAM_NONE);
            ck_assert_uint_eq(hc_client_deadline(client), now_us + RETRY_US);
            now_us += RETRY_US - 1;
            ck_assert_int_eq(next_datagram().kind, HC_DATAGRAM_NONE);
            now_us++;
        }
        now_us--; // the answer comes first
        if (kind == HC_DATAGRAM_HELLO)
            ck_assert_int_eq(give_cookie(), HC_OK);
        ck_assert_int_eq(give_cookie(), HC_DUPLICATE);
        now_us++;
    }
}
END_TEST

START_TEST(client_sends_hello_again_after_two_seconds_without_accept) {
    config.timeout_us = 60000000;
    begin();
    next_datagram();
    ck_assert_int_eq(give_cookie(), HC_OK);
    uint64_t until_us = now_us + 2000000;
    for (; now_us < until_us; now_us += 50000)
        ck_assert_int_ne(next_datagram().kind, HC_DATAGRAM_HELLO);
    ck_assert_int_eq(next_datagram().kind, HC_DATAGRAM_HELLO);
    ck_assert_int_eq(give_cookie(), HC_OK);
    ck_assert_int_eq(next_datagram().kind, HC_DATAGRAM_CONNECT);
}
END_TEST

/// Gives a COOKIE, which anybody that saw HELLO may have sent; 0: the server's.
static enum hc_status give_cookie_of(uint32_t number) {
    uint8_t out[HC_DATAGRAM_MAX];
    struct hc_datagram_cookie cookie = {.slot = 3};
    memcpy(cookie.client_nonce, nonce, sizeof nonce);
    memcpy(cookie.cookie, &number, sizeof number);
    return give(out, hc_datagram_put_cookie(&cookie, out));
}

/// CONNECTs that are sent now; `*own`: one of them has the server's COOKIE.
static unsigned count_connects(bool *own) {
    struct hc_connect connect;
    unsigned count = 0;
    for (;;) {
        struct sent sent = next_datagram();
        if (sent.kind != HC_DATAGRAM_CONNECT)
            return count;
        ck_assert_int_eq(hc_datagram_get_connect(sent.bytes, sizeof sent.bytes, &connect), HC_OK);
        uint32_t number;
        memcpy(&number, connect.cookie, sizeof number);
        *own |= number == 0;
        count++;
    }
}

START_TEST(client_sends_connect_with_every_cookie_and_not_only_the_first) {
    bool own = false;
    begin();
    next_datagram();
    for (uint32_t n = 1; n < HC_COOKIES; n++)
        ck_assert_int_eq(give_cookie_of(n), HC_OK);
    ck_assert_int_eq(give_cookie_of(0), HC_OK);
    ck_assert_int_eq(give_cookie_of(0), HC_DUPLICATE);
    for (unsigned i = 0; i < 4; i++, now_us += RETRY_US) {
        own = false;
        ck_assert_uint_eq(count_connects(&own), HC_COOKIES);
        ck_assert(own);
    }
    struct hc_welcome welcome = welcome_now();
    ck_assert_int_eq(give_accept(&welcome), HC_OK);
    ck_assert_uint_eq(count_connects(&own), 0);
}
END_TEST

START_TEST(each_of_too_many_cookies_has_the_same_chance) {
    enum { TIMES = 200, COOKIES = 40, WHEN = 20 };
    unsigned used = 0;
    config.timeout_us = 1000 * 1000000;
    begin();
    for (unsigned i = 0; i < TIMES; i++, now_us += 2000000) {
        bool own = false;
        ck_assert_int_eq(next_datagram().kind, HC_DATAGRAM_HELLO);
        for (uint32_t n = 1; n <= COOKIES; n++)
            give_cookie_of(n == WHEN ? 0 : n);
        ck_assert_uint_eq(count_connects(&own), HC_COOKIES); // no matter how many came
        used += own;
    }
    unsigned expected = TIMES * HC_COOKIES / COOKIES;
    ck_assert_uint_ge(used, expected / 2);
    ck_assert_uint_le(used, expected * 3 / 2);
}
END_TEST

START_TEST(forged_accept_costs_nothing_and_handshake_ends_with_the_true_one) {
    uint8_t out[HC_DATAGRAM_MAX], first[HC_DATAGRAM_MAX];
    struct hc_welcome welcome = welcome_now();
    begin();
    next_datagram();
    give_cookie();
    struct hc_writer writer = hc_bytes_writer(first + HC_ACCEPT_BODY_AT, HC_ACCEPT_BODY_MAX);
    ck_assert(hc_message_put_welcome(&writer, &welcome));
    struct hc_accept accept = {
        .cid = CID, .body = first + HC_ACCEPT_BODY_AT, .body_size = writer.at};
    memcpy(accept.client_nonce, nonce, sizeof nonce);
    hc_endpoint_serve(&endpoint, client);
    size_t size = hc_endpoint_put_accept(&endpoint, &accept, first);
    memcpy(out, first, size);
    out[size - 1] ^= 1;
    ck_assert_int_eq(give(out, size), HC_MALFORMED);
    ck_assert_int_eq(give(first, size), HC_OK);
    ck_assert_int_eq(next_datagram().kind, HC_DATAGRAM_DATA);
    ck_assert_int_eq(give(first, size), HC_DUPLICATE);
    ck_assert_int_eq(give_cookie(), HC_UNEXPECTED);
    struct hc_deny deny = {.reason = HC_DENY_FULL};
    memcpy(deny.client_nonce, nonce, sizeof nonce);
    size = hc_datagram_put_deny(&deny, out);
    hc_token_put_deny_mac(endpoint.credential.secret, out);
    ck_assert_int_eq(give(out, size), HC_UNEXPECTED);
    struct hc_version version = {.protocol_id = 1};
    memcpy(version.client_nonce, nonce, sizeof nonce);
    ck_assert_int_eq(give(out, hc_datagram_put_version(&version, out)), HC_UNEXPECTED);
    now_us += TICK_US * 10;
    ck_assert_int_eq(next_datagram().kind, HC_DATAGRAM_DATA); // its seq goes on
    ck_assert_int_eq(hc_client_state(client), HC_CLIENT_JOINING);
}
END_TEST

START_TEST(answers_to_another_attempt_are_refused) {
    struct hc_welcome welcome = welcome_now();
    uint8_t out[HC_DATAGRAM_MAX];
    begin();
    next_datagram();
    nonce[5] ^= 1;
    ck_assert_int_eq(give_cookie(), HC_UNEXPECTED);
    struct hc_version version = {.protocol_id = 1};
    memcpy(version.client_nonce, nonce, sizeof nonce);
    ck_assert_int_eq(give(out, hc_datagram_put_version(&version, out)), HC_UNEXPECTED);
    nonce[5] ^= 1;
    ck_assert_int_eq(give_cookie(), HC_OK);
    nonce[5] ^= 1;
    ck_assert_int_eq(give_accept(&welcome), HC_UNEXPECTED);
    struct hc_deny deny = {.reason = HC_DENY_FULL};
    memcpy(deny.client_nonce, nonce, sizeof nonce);
    ck_assert_int_eq(give(out, hc_datagram_put_deny(&deny, out)), HC_UNEXPECTED);
    ck_assert_int_eq(hc_client_state(client), HC_CLIENT_CONNECTING);
    ck_assert_uint_eq(hc_client_stats(client)->rejected[HC_UNEXPECTED], 4);
    ck_assert(no_event());
}
END_TEST

/// Gives the client of a complete handshake but for the answer to its CONNECT a proven DENY.
static void give_deny(enum hc_deny_reason reason, uint32_t retry_ms) {
    uint8_t out[HC_DATAGRAM_MAX];
    struct hc_deny deny = {.reason = reason, .retry_ms = retry_ms};
    memcpy(deny.client_nonce, nonce, sizeof nonce);
    size_t size = hc_datagram_put_deny(&deny, out);
    hc_token_put_deny_mac(endpoint.credential.secret, out);
    ck_assert_int_eq(give(out, size), HC_OK);
}

static void check_denied(enum hc_deny_reason reason, uint32_t retry_ms) {
    struct hc_client_event event;
    begin();
    next_datagram();
    give_cookie();
    give_deny(reason, retry_ms);
    ck_assert(hc_client_poll_event(client, &event));
    ck_assert_int_eq(event.kind, HC_CLIENT_EVENT_DENIED);
    ck_assert_int_eq(event.deny, reason);
    ck_assert_uint_eq(event.retry_ms, retry_ms);
    ck_assert_int_eq(hc_client_state(client), HC_CLIENT_CLOSED);
    ck_assert_uint_eq(hc_client_deadline(client), UINT64_MAX);
    ck_assert_int_eq(next_datagram().kind, HC_DATAGRAM_NONE);
}

START_TEST(deny_closes_the_client_with_its_reason) {
    check_denied(HC_DENY_LIMIT, 0);
}
END_TEST

START_TEST(deny_for_a_reason_of_a_later_version_closes_the_client_with_it) {
    check_denied((enum hc_deny_reason)63, 1500);
}
END_TEST

START_TEST(version_counts_only_while_connecting) {
    uint8_t out[HC_DATAGRAM_MAX];
    struct hc_version version = {.protocol_id = 1};
    play();
    memcpy(version.client_nonce, nonce, sizeof nonce);
    ck_assert_int_eq(give(out, hc_datagram_put_version(&version, out)), HC_UNEXPECTED);
    ck_assert_int_eq(hc_client_state(client), HC_CLIENT_PLAYING);
    hc_client_destroy(client);
    begin();
    next_datagram();
    memcpy(version.client_nonce, nonce, sizeof nonce);
    ck_assert_int_eq(give(out, hc_datagram_put_version(&version, out)), HC_OK);
    ck_assert(!event_is(HC_CLIENT_EVENT_VERSION)); // anybody can send it
    for (int i = 0; i < 4; i++) {
        now_us += 200000;
        next_datagram();
    }
    ck_assert(event_is(HC_CLIENT_EVENT_VERSION));
    ck_assert_uint_eq(hc_client_attempt(client).protocol_id, 1);
}
END_TEST

START_TEST(welcome_for_another_number_of_players_is_refused) {
    begin();
    unsigned created = blocks;
    next_datagram();
    give_cookie();
    struct hc_welcome welcome = welcome_now();
    welcome.own_count = 2;
    ck_assert_int_eq(give_accept(&welcome), HC_MALFORMED);
    ck_assert_int_eq(hc_client_state(client), HC_CLIENT_CONNECTING);
    ck_assert_uint_eq(blocks, created);
}
END_TEST

START_TEST(accept_with_a_key_of_low_order_is_refused) {
    struct hc_welcome welcome = welcome_now();
    uint8_t out[HC_DATAGRAM_MAX];
    begin();
    next_datagram();
    give_cookie();
    struct hc_writer writer = hc_bytes_writer(out + HC_ACCEPT_BODY_AT, HC_ACCEPT_BODY_MAX);
    ck_assert(hc_message_put_welcome(&writer, &welcome));
    struct hc_accept accept = {.cid = CID, .body = out + HC_ACCEPT_BODY_AT, .body_size = writer.at};
    memcpy(accept.client_nonce, nonce, sizeof nonce);
    size_t size = hc_datagram_put_accept(&accept, out);
    // Sealed with the token's secret and a shared secret of zeros.
    struct hc_seal_material material = {.protocol_id = endpoint.protocol_id, .cid = CID};
    struct hc_seal_keys keys;
    struct hc_sealer sealer;
    memcpy(material.secret, endpoint.credential.secret, sizeof material.secret);
    memcpy(material.token, endpoint.credential.token, sizeof material.token);
    memcpy(material.client_nonce, nonce, sizeof nonce);
    memcpy(material.client_key, client->link.handshake.attempt.key, sizeof material.client_key);
    hc_seal_derive(&material, &keys);
    hc_seal_init(&sealer, keys.s2c);
    hc_seal_accept(&sealer, out, size);
    ck_assert_int_eq(give(out, size), HC_MALFORMED);
    ck_assert_int_eq(hc_client_state(client), HC_CLIENT_CONNECTING);
    ck_assert_int_eq(give_accept(&welcome), HC_OK);
}
END_TEST

START_TEST(ephemeral_secret_is_erased_after_its_use) {
    struct hc_welcome welcome = welcome_now();
    begin();
    next_datagram();
    give_cookie();
    const struct hc_cl_attempt *attempt = &client->link.handshake.attempt;
    ck_assert(!sodium_is_zero(attempt->secret, sizeof attempt->secret));
    ck_assert_int_eq(give_accept(&welcome), HC_OK);
    ck_assert(sodium_is_zero(attempt->secret, sizeof attempt->secret));
    hc_client_destroy(client);
    begin();
    attempt = &client->link.handshake.attempt;
    ck_assert(!sodium_is_zero(attempt->secret, sizeof attempt->secret));
    hc_client_leave(client, now_us); // before it is admitted
    ck_assert(sodium_is_zero(attempt->secret, sizeof attempt->secret));
}
END_TEST

START_TEST(client_times_out_at_the_announced_deadline) {
    config.reconnect_us = 0;
    for (int joined = 0; joined < 2; joined++) {
        seq = ack = 0;
        if (joined)
            play();
        else
            begin();
        uint64_t until_us = now_us + config.timeout_us;
        run_to(until_us - 1000);
        now_us = until_us - 1;
        while (next_datagram().kind != HC_DATAGRAM_NONE)
            continue;
        ck_assert_int_ne(hc_client_state(client), HC_CLIENT_CLOSED);
        ck_assert_uint_eq(hc_client_deadline(client), until_us);
        now_us = until_us;
        next_datagram();
        ck_assert_int_eq(hc_client_state(client), HC_CLIENT_CLOSED);
        if (joined)
            ck_assert(event_is(HC_CLIENT_EVENT_STALLED));
        ck_assert(event_is(HC_CLIENT_EVENT_TIMEOUT));
        if (!joined)
            hc_client_destroy(client);
    }
}
END_TEST

// ---- Playing ------------------------------------------------------------------------------------

START_TEST(head_runs_at_the_server_tick_plus_the_lead) {
    config.lead = (uint32_t)_i;
    now_us = START_US + 99 * TICK_US;
    join();
    next_datagram();
    ck_assert_int_eq(give_tick(99), HC_OK);
    now_us += TICK_US;
    for (hc_tick tick = 100; tick < 200; tick++) {
        hc_client_advance(client, now_us);
        ck_assert_uint_eq(head(), tick + config.lead);
        now_us += TICK_US - 1;
        next_datagram();
        ck_assert_uint_eq(head(), tick + config.lead);
        ck_assert_int_eq(give_tick(tick), HC_OK);
        now_us++;
    }
    ck_assert_uint_eq(hc_client_stats(client)->stalls, 0);
    ck_assert_uint_eq(hc_client_stats(client)->rtt_min_us, 0);
    ck_assert_uint_eq(hc_client_stats(client)->snapshots_matched, 101);
}
END_TEST

START_TEST(round_trip_is_measured_no_matter_which_datagram_acked_first) {
    uint8_t out[HC_DATAGRAM_MAX];
    play();
    uint64_t before = hc_client_stats(client)->rtt_us.count;
    for (hc_tick tick = 0; tick < 100; tick++) {
        now_us += 2 * TICK_US;
        hc_client_advance(client, now_us);
        while (next_datagram().kind != HC_DATAGRAM_NONE)
            continue;
        struct hc_data data = {.cid = CID, .seq = ++seq, .ack = ack};
        ck_assert_int_eq(give(out, hc_datagram_put_data(&data, out)), HC_OK);
        ck_assert_int_eq(give_tick(head()), HC_OK);
        ck_assert_uint_eq(hc_client_stats(client)->rtt_us.count, before + tick + 1);
        struct hc_snapshot next = snapshot_of(head());
        next.as_of++;
        ck_assert_int_eq(give_snapshot(&next), HC_OK); // not another one of the same datagram
        ck_assert_uint_eq(hc_client_stats(client)->rtt_us.count, before + tick + 1);
    }
}
END_TEST

START_TEST(stamp_of_a_late_welcome_does_not_matter) {
    begin();
    next_datagram();
    give_cookie();
    next_datagram();
    struct hc_welcome welcome = welcome_now();
    now_us += 500000; // the same ACCEPT, sent again
    ck_assert_int_eq(give_accept(&welcome), HC_OK);
    ck_assert_int_eq(give_tick(50), HC_OK);
    hc_client_advance(client, now_us);
    // The answer to CONNECT took half a second, that to HELLO no time: so does a round trip.
    ck_assert_uint_eq(head(), 50);
}
END_TEST

/// The client has not settled yet, so it waits; later it would run slower.
START_TEST(client_that_joins_waits_for_a_server_clock_that_is_slower) {
    play();
    now_us += 3 * TICK_US;
    hc_client_advance(client, now_us);
    ck_assert_uint_eq(head(), 103);
    next_datagram();
    struct hc_snapshot snapshot = snapshot_of(100);
    snapshot.as_of = 101; // two ticks less than estimated so far
    ck_assert_int_eq(give_snapshot(&snapshot), HC_OK);
    for (int i = 0; i < 2 * TICK_US / 1000; i++, now_us += 1000) {
        hc_client_advance(client, now_us);
        ck_assert_uint_eq(head(), 103);
    }
    ck_assert_uint_eq(hc_client_deadline(client) - now_us, TICK_US);
}
END_TEST

START_TEST(client_stalls_at_the_prediction_limit_and_goes_on_with_the_next_state) {
    play();
    hc_tick shown = 100;
    for (int round = 0; round < 3; round++, shown += 16) {
        run_to(START_US + (shown + 15) * (uint64_t)TICK_US);
        ck_assert_uint_eq(head(), shown + config.prediction_limit);
        ck_assert_int_eq(hc_client_state(client), HC_CLIENT_STALLED);
        ck_assert(event_is(HC_CLIENT_EVENT_STALLED));
        ck_assert(no_event());
        ck_assert_int_eq(give_tick(shown + 13), HC_OK); // after the head: it restarts
        hc_client_advance(client, now_us);
        ck_assert_uint_eq(head(), shown + 15);
        ck_assert_int_eq(hc_client_state(client), HC_CLIENT_PLAYING);
        ck_assert(event_is(HC_CLIENT_EVENT_UNSTALLED));
        now_us += TICK_US;
        ck_assert_int_eq(give_tick(shown + 16), HC_OK);
    }
    ck_assert_uint_eq(hc_client_stats(client)->stalls, 3);
    ck_assert_uint_eq(hc_client_stats(client)->restarts, 3);
    ck_assert_uint_ge(hc_client_stats(client)->stalled_ticks, 3 * 4);
    ck_assert_uint_le(hc_client_stats(client)->stalled_ticks, 3 * 5);
}
END_TEST

START_TEST(state_just_after_the_head_does_not_restart_the_timeline) {
    play();
    struct hc_snapshot snapshot = snapshot_of(100);
    snapshot.inputs_through[0] = 101;
    snapshot.tick = snapshot.as_of = 102; // due in two ticks by the client clock
    ck_assert_int_eq(give_snapshot(&snapshot), HC_OK);
    ck_assert_uint_eq(head(), 102);
    ck_assert_uint_eq(hc_client_stats(client)->restarts, 0);
}
END_TEST

START_TEST(client_sends_data_once_per_tick_while_joining_playing_and_stalled) {
    now_us = START_US + 100 * TICK_US;
    join();
    run_to(now_us + 50 * TICK_US);
    ck_assert_uint_ge(ack, 50);
    ck_assert_uint_le(ack, 51);
    uint32_t before = ack;
    ck_assert_int_eq(give_tick(150), HC_OK);
    run_to(now_us + 50 * TICK_US);
    ck_assert_int_eq(hc_client_state(client), HC_CLIENT_STALLED);
    ck_assert_uint_ge(ack - before, 49);
    ck_assert_uint_le(ack - before, 51);
}
END_TEST

START_TEST(deadline_is_never_too_late_and_never_too_early) {
    config.prediction_limit = 5;
    play();
    hc_tick shown = 100;
    for (int i = 0; i < 300; i++) {
        while (next_datagram().kind != HC_DATAGRAM_NONE)
            continue;
        uint64_t due_us = hc_client_deadline(client);
        ck_assert_uint_gt(due_us, now_us);
        hc_tick before = head();
        now_us = due_us - 1;
        ck_assert_int_eq(next_datagram().kind, HC_DATAGRAM_NONE);
        ck_assert_uint_eq(head(), before);
        now_us = due_us;
        enum hc_client_state state = hc_client_state(client);
        bool sends = next_datagram().kind != HC_DATAGRAM_NONE;
        ck_assert(sends || head() != before || hc_client_state(client) != state);
        hc_tick due = snapshot_of(1).as_of; // one snapshot for each
        if (i % 20 < 10 && due > shown)     // else it stalls
            ck_assert_int_eq(give_tick(shown = due), HC_OK);
    }
    ck_assert_uint_gt(hc_client_stats(client)->stalls, 5);
}
END_TEST

// ---- Inputs -------------------------------------------------------------------------------------

START_TEST(every_datagram_carries_all_unacked_inputs_one_per_tick) {
    uint8_t aims[300] = {0};
    play(); // at tick 100 the oldest wanted input is that of 100
    hc_tick acked = 99;
    for (hc_tick tick = 100; tick < 200; tick++) {
        press((uint8_t)tick);
        now_us += TICK_US;
        struct sent sent = next_datagram();
        aims[tick + config.input_delay] = (uint8_t)tick;
        ck_assert(sent.has_input);
        ck_assert_uint_eq(sent.input.client_tick, tick + 1);
        ck_assert_uint_eq(sent.input.first, acked + 1);
        ck_assert_uint_eq(sent.input.force_before, sent.input.first);
        ck_assert_uint_eq(sent.input.first + sent.input.count, tick + config.input_delay + 1);
        for (uint32_t i = 0; i < sent.input.count; i++) {
            const struct hc_arena_input *input = hc_input_run_next(&sent.run);
            ck_assert_uint_eq(input->aim, aims[sent.input.first + i]);
            ck_assert_int_eq(input->move_x, sent.input.first + i >= 103);
        }
        if (tick % 7 == 0) {
            acked = tick - 3;
            ck_assert_int_eq(give_tick(acked + 1), HC_OK);
        }
    }
}
END_TEST

START_TEST(client_fills_a_gap_in_its_stamps_from_the_oldest_wanted_input) {
    play();
    press(7);
    run_to(now_us + 10 * TICK_US);
    now_us += 80 * TICK_US; // without a call, beyond its prediction limit
    struct hc_snapshot snapshot = snapshot_of(190);
    ck_assert_int_eq(give_snapshot(&snapshot), HC_OK);
    press(9);
    now_us += TICK_US;
    struct sent sent = next_datagram();
    ck_assert_uint_eq(sent.input.first, 190);
    ck_assert_uint_eq(sent.input.count, 4);
    for (hc_tick tick = 190; tick < 194; tick++) {
        const struct hc_arena_input *input = hc_input_run_next(&sent.run);
        ck_assert_uint_eq(input->aim, tick < 193 ? 7 : 9);
    }
    now_us += TICK_US;
    snapshot = snapshot_of(191);
    snapshot.refused_before = 192;
    ck_assert_int_eq(give_snapshot(&snapshot), HC_OK);
    sent = next_datagram();
    ck_assert_uint_eq(sent.input.first, 192);
}
END_TEST

START_TEST(client_sends_new_inputs_while_it_stalls) {
    config.prediction_limit = 4;
    play();
    for (hc_tick tick = 100; tick < 180; tick++) {
        press((uint8_t)tick);
        now_us += TICK_US;
        struct sent sent = next_datagram();
        ck_assert_uint_eq(head(), hc_tick_min(tick + 1, 104));
        // The timeline takes inputs up to 64 ticks after the head.
        hc_tick newest = hc_tick_min(tick + config.input_delay, 104 + 64);
        ck_assert_uint_eq(sent.input.first + sent.input.count, newest + 1);
        for (hc_tick t = sent.input.first; t <= newest; t++) {
            const struct hc_arena_input *input = hc_input_run_next(&sent.run);
            ck_assert_uint_eq(input->aim, t < 103 ? 0 : t - config.input_delay);
        }
    }
    ck_assert_int_eq(hc_client_state(client), HC_CLIENT_STALLED);
    // The state with all these inputs lets it predict on.
    ck_assert_int_eq(give_tick(168), HC_OK);
    press(5);
    now_us += TICK_US;
    struct sent sent = next_datagram();
    ck_assert_int_eq(hc_client_state(client), HC_CLIENT_STALLED); // at 172 of 181
    ck_assert_uint_eq(sent.input.first + sent.input.count, 183 + 1);
}
END_TEST

START_TEST(fixed_redundancy_forces_nothing_in_flight_and_resends_overdue_inputs) {
    config.input_redundancy = 4;
    play();
    for (hc_tick tick = 100; tick < 108; tick++) {
        now_us += TICK_US;
        struct sent sent = next_datagram();
        hc_tick newest = tick + config.input_delay;
        // The round trip is 0 here: two ticks beyond the redundancy an input counts as lost.
        bool overdue = newest - 99 > 4 + 2;
        ck_assert_uint_eq(sent.input.force_before, 100);
        ck_assert_uint_eq(sent.input.first, overdue ? 100 : newest - 3);
        ck_assert_uint_eq(sent.input.count, overdue ? newest - 99 : 4);
    }
}
END_TEST

START_TEST(client_stamps_and_forces_nothing_before_the_first_state) {
    now_us = START_US + 100 * TICK_US;
    join();
    struct sent sent = next_datagram();
    ck_assert(sent.has_input);
    ck_assert_uint_eq(sent.input.count, 0);
    ck_assert_uint_le(sent.input.force_before, 100);
}
END_TEST

START_TEST(input_that_does_not_fit_its_fields_is_cut_to_them) {
    struct hc_arena_input input = {.move_x = 100, .move_y = -100, .fire = 200};
    play();
    hc_client_set_input(client, 0, &input);
    now_us += TICK_US;
    struct sent sent = next_datagram();
    const struct hc_arena_input *last = NULL;
    for (uint32_t i = 0; i < sent.input.count; i++)
        last = hc_input_run_next(&sent.run);
    ck_assert_int_eq(last->move_x, 1);
    ck_assert_int_eq(last->move_y, -1);
    ck_assert_uint_eq(last->fire, 1);
}
END_TEST

// ---- The end ------------------------------------------------------------------------------------

/// Sets one of the limits of keys to `left` before its end.
static void wear(int which, uint32_t left) {
    if (which == 0)
        client->link.connection.sent.next = HC_SEQ_RENEW - left;
    else if (which == 1)
        client->link.connection.received.newest = HC_SEQ_RENEW - left;
    else
        client->link.connection.begun_us = now_us + left - HC_KEYS_LIFE_US;
}

START_TEST(client_renews_its_keys_at_their_limits) {
    struct hc_client_event event;
    play();
    wear(_i, 1);
    hc_client_advance(client, now_us);
    ck_assert_int_eq(hc_client_state(client), HC_CLIENT_PLAYING);
    wear(_i, 0);
    hc_client_advance(client, now_us);
    ck_assert(hc_client_poll_event(client, &event));
    ck_assert_int_eq(event.kind, HC_CLIENT_EVENT_LOST);
    ck_assert_int_eq(event.loss, HC_CLIENT_LOSS_RENEWAL);
    ck_assert_int_eq(next_datagram().kind, HC_DATAGRAM_HELLO);
}
END_TEST

START_TEST(client_without_another_seq_sends_nothing_and_closes) {
    uint8_t out[HC_DATAGRAM_MAX];
    play();
    now_us += TICK_US;
    hc_client_advance(client, now_us);
    client->link.connection.sent.next = UINT32_MAX; // after the check for renewal
    ck_assert_uint_eq(hc_client_send(client, out, now_us), 0);
    ck_assert_int_eq(hc_client_state(client), HC_CLIENT_CLOSED);
}
END_TEST

START_TEST(client_allocates_only_at_creation_and_acceptance) {
    now_us = START_US + 100 * TICK_US;
    join();
    unsigned joined = blocks;
    ck_assert_int_eq(give_tick(100), HC_OK);
    for (int i = 0; i < 500; i++) {
        now_us += TICK_US;
        next_datagram();
        ck_assert_int_eq(give_tick(hc_tick_back(snapshot_of(1).as_of, 2)), HC_OK);
    }
    hc_client_leave(client, now_us);
    run_to(now_us + 1000000);
    ck_assert_uint_eq(blocks, joined);
}
END_TEST

START_TEST(entropy_of_zeros_is_refused) {
    static const uint8_t zeros[HC_CLIENT_ENTROPY_SIZE];
    config.entropy = zeros;
    ck_assert_str_eq(hc_client_config_check(&config), "entropy");
    ck_assert_ptr_null(hc_client_create(&config, 0));
    ck_assert_uint_eq(blocks, 0);
    config.entropy = NULL;
    ck_assert_ptr_null(hc_client_config_check(&config));
}
END_TEST

/// The nonce of a client that begins now.
static void first_nonce(uint8_t out[HC_NONCE_SIZE]) {
    begin();
    next_datagram();
    memcpy(out, nonce, HC_NONCE_SIZE);
    hc_client_destroy(client);
    client = NULL;
}

START_TEST(nonces_depend_on_entropy_token_and_time_only) {
    uint8_t nonces[6][HC_NONCE_SIZE], other[HC_CLIENT_ENTROPY_SIZE] = {5, [31] = 1};
    first_nonce(nonces[0]);
    first_nonce(nonces[1]);
    ck_assert_mem_eq(nonces[0], nonces[1], HC_NONCE_SIZE);
    now_us++;
    first_nonce(nonces[1]);
    config.credential.token[200] ^= 1;
    first_nonce(nonces[2]);
    config.entropy = other;
    first_nonce(nonces[3]);
    config.entropy = NULL; // the operating system's
    first_nonce(nonces[4]);
    first_nonce(nonces[5]);
    for (unsigned i = 0; i < 6; i++)
        for (unsigned k = 0; k < i; k++)
            ck_assert_mem_ne(nonces[i], nonces[k], HC_NONCE_SIZE);
}
END_TEST

START_TEST(config_check_names_every_setting_out_of_range) {
    struct hc_client_config without_game = hc_client_config_default();
    ck_assert_str_eq(hc_client_config_check(&without_game), "game");
    ck_assert_ptr_null(hc_client_config_check(&config));
    config.players = 5;
    ck_assert_str_eq(hc_client_config_check(&config), "players");
    config.players = 4;
    config.prediction_limit = 0;
    ck_assert_str_eq(hc_client_config_check(&config), "prediction_limit");
    ck_assert_ptr_null(hc_client_create(&config, 0));
    ck_assert_uint_eq(blocks, 0);
}
END_TEST

static void add_all(TCase *tests) {
    tcase_add_test(tests, client_sends_hello_and_connect_every_quarter_second_until_answered);
    tcase_add_test(tests, client_sends_hello_again_after_two_seconds_without_accept);
    tcase_add_test(tests, client_sends_connect_with_every_cookie_and_not_only_the_first);
    tcase_add_test(tests, each_of_too_many_cookies_has_the_same_chance);
    tcase_add_test(tests, forged_accept_costs_nothing_and_handshake_ends_with_the_true_one);
    tcase_add_test(tests, answers_to_another_attempt_are_refused);
    tcase_add_test(tests, deny_closes_the_client_with_its_reason);
    tcase_add_test(tests, deny_for_a_reason_of_a_later_version_closes_the_client_with_it);
    tcase_add_test(tests, version_counts_only_while_connecting);
    tcase_add_test(tests, welcome_for_another_number_of_players_is_refused);
    tcase_add_test(tests, accept_with_a_key_of_low_order_is_refused);
    tcase_add_test(tests, ephemeral_secret_is_erased_after_its_use);
    tcase_add_test(tests, client_times_out_at_the_announced_deadline);
    tcase_add_test(tests, round_trip_is_measured_no_matter_which_datagram_acked_first);
    tcase_add_test(tests, stamp_of_a_late_welcome_does_not_matter);
    tcase_add_test(tests, client_that_joins_waits_for_a_server_clock_that_is_slower);
    tcase_add_test(tests, client_stalls_at_the_prediction_limit_and_goes_on_with_the_next_state);
    tcase_add_test(tests, state_just_after_the_head_does_not_restart_the_timeline);
    tcase_add_test(tests, client_sends_data_once_per_tick_while_joining_playing_and_stalled);
    tcase_add_test(tests, deadline_is_never_too_late_and_never_too_early);
    tcase_add_test(tests, every_datagram_carries_all_unacked_inputs_one_per_tick);
    tcase_add_test(tests, client_fills_a_gap_in_its_stamps_from_the_oldest_wanted_input);
    tcase_add_test(tests, client_sends_new_inputs_while_it_stalls);
    tcase_add_test(tests, fixed_redundancy_forces_nothing_in_flight_and_resends_overdue_inputs);
    tcase_add_test(tests, client_stamps_and_forces_nothing_before_the_first_state);
    tcase_add_test(tests, input_that_does_not_fit_its_fields_is_cut_to_them);
    tcase_add_test(tests, client_allocates_only_at_creation_and_acceptance);
    tcase_add_test(tests, entropy_of_zeros_is_refused);
    tcase_add_test(tests, nonces_depend_on_entropy_token_and_time_only);
    tcase_add_test(tests, config_check_names_every_setting_out_of_range);
    tcase_add_test(tests, client_without_another_seq_sends_nothing_and_closes);
    tcase_add_loop_test(tests, client_renews_its_keys_at_their_limits, 0, 3);
    tcase_add_loop_test(tests, head_runs_at_the_server_tick_plus_the_lead, 0, 6);
}

int main(void) {
    Suite *suite = suite_create("client_session");
    TCase *tests = tcase_create("client_session");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    add_all(tests);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
