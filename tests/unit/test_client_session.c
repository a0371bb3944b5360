/// How a client (hindcast/client.h) connects, keeps time, sends and leaves.
#include "client/session.h"
#include "tests/unit/client_rig.h"
#include "tests/run_suite.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

// ---- Handshake ----------------------------------------------------------------------------------

START_TEST(hello_and_connect_are_said_every_quarter_of_a_second_until_answered) {
    config.timeout_us = 20000000;
    begin();
    for (int kind = HC_DATAGRAM_HELLO; kind <= HC_DATAGRAM_CONNECT; kind += 2) {
        for (int i = 0; i < 4; i++) {
            ck_assert_int_eq(hear().kind, kind);
            ck_assert_int_eq(hear().kind, HC_DATAGRAM_NONE);
            ck_assert_uint_eq(hc_client_deadline(client), now_us + RETRY_US);
            now_us += RETRY_US - 1;
            ck_assert_int_eq(hear().kind, HC_DATAGRAM_NONE);
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

START_TEST(with_a_cookie_that_has_not_helped_for_two_seconds_it_says_hello_again) {
    config.timeout_us = 60000000;
    begin();
    hear();
    ck_assert_int_eq(give_cookie(), HC_OK);
    uint64_t until_us = now_us + 2000000;
    for (; now_us < until_us; now_us += 50000)
        ck_assert_int_ne(hear().kind, HC_DATAGRAM_HELLO);
    ck_assert_int_eq(hear().kind, HC_DATAGRAM_HELLO);
    ck_assert_int_eq(give_cookie(), HC_OK);
    ck_assert_int_eq(hear().kind, HC_DATAGRAM_CONNECT);
}
END_TEST

/// A COOKIE that anybody may have sent who has seen the HELLO; 0: the server's.
static enum hc_status give_cookie_of(uint32_t number) {
    uint8_t out[HC_DATAGRAM_MAX];
    struct hc_datagram_cookie cookie = {.slot = 3};
    memcpy(cookie.client_nonce, nonce, sizeof nonce);
    memcpy(cookie.cookie, &number, sizeof number);
    return give(out, hc_datagram_put_cookie(&cookie, out));
}

/// How many CONNECTs it says now; `*own`: one of them is with the server's COOKIE.
static unsigned count_connects(bool *own) {
    struct hc_connect connect;
    unsigned count = 0;
    for (;;) {
        struct heard heard = hear();
        if (heard.kind != HC_DATAGRAM_CONNECT)
            return count;
        ck_assert_int_eq(hc_datagram_get_connect(heard.bytes, sizeof heard.bytes, &connect), HC_OK);
        uint32_t number;
        memcpy(&number, connect.cookie, sizeof number);
        *own |= number == 0;
        count++;
    }
}

START_TEST(a_cookie_that_somebody_else_sent_first_is_not_the_only_one_that_it_uses) {
    bool own = false;
    begin();
    hear();
    for (uint32_t n = 1; n < HC_CL_COOKIES; n++)
        ck_assert_int_eq(give_cookie_of(n), HC_OK);
    ck_assert_int_eq(give_cookie_of(0), HC_OK);
    ck_assert_int_eq(give_cookie_of(0), HC_DUPLICATE);
    for (unsigned i = 0; i < 4; i++, now_us += RETRY_US) {
        own = false;
        ck_assert_uint_eq(count_connects(&own), HC_CL_COOKIES);
        ck_assert(own);
    }
    struct hc_welcome welcome = welcome_now();
    ck_assert_int_eq(give_accept(&welcome), HC_OK);
    ck_assert_uint_eq(count_connects(&own), 0);
}
END_TEST

START_TEST(of_more_cookies_than_it_keeps_each_has_the_same_chance) {
    enum { TIMES = 200, COOKIES = 40, WHEN = 20 };
    unsigned used = 0;
    config.timeout_us = 1000 * 1000000;
    begin();
    for (unsigned i = 0; i < TIMES; i++, now_us += 2000000) {
        bool own = false;
        ck_assert_int_eq(hear().kind, HC_DATAGRAM_HELLO);
        for (uint32_t n = 1; n <= COOKIES; n++)
            give_cookie_of(n == WHEN ? 0 : n);
        ck_assert_uint_eq(count_connects(&own), HC_CL_COOKIES); // however many came
        used += own;
    }
    unsigned expected = TIMES * HC_CL_COOKIES / COOKIES;
    ck_assert_uint_ge(used, expected / 2);
    ck_assert_uint_le(used, expected * 3 / 2);
}
END_TEST

START_TEST(a_forged_accept_takes_nothing_from_the_true_one_and_after_that_nothing_is_believed) {
    uint8_t out[HC_DATAGRAM_MAX], first[HC_DATAGRAM_MAX];
    struct hc_welcome welcome = welcome_now();
    begin();
    hear();
    give_cookie();
    struct hc_writer writer = hc_bytes_writer(first + HC_ACCEPT_BODY_AT, HC_ACCEPT_BODY_MAX);
    ck_assert(hc_message_put_welcome(&writer, &welcome));
    struct hc_accept accept = {
        .cid = CID, .body = first + HC_ACCEPT_BODY_AT, .body_size = writer.at};
    memcpy(accept.client_nonce, nonce, sizeof nonce);
    hc_party_serve(&party, client);
    size_t size = hc_party_put_accept(&party, &accept, first);
    memcpy(out, first, size);
    out[size - 1] ^= 1;
    ck_assert_int_eq(give(out, size), HC_MALFORMED);
    ck_assert_int_eq(give(first, size), HC_OK);
    ck_assert_int_eq(hear().kind, HC_DATAGRAM_DATA);
    ck_assert_int_eq(give(first, size), HC_DUPLICATE);
    ck_assert_int_eq(give_cookie(), HC_UNEXPECTED);
    struct hc_deny deny = {.reason = HC_DENY_FULL};
    memcpy(deny.client_nonce, nonce, sizeof nonce);
    size = hc_datagram_put_deny(&deny, out);
    hc_token_put_deny_mac(party.credential.secret, out);
    ck_assert_int_eq(give(out, size), HC_UNEXPECTED);
    struct hc_version version = {.protocol_id = 1};
    memcpy(version.client_nonce, nonce, sizeof nonce);
    ck_assert_int_eq(give(out, hc_datagram_put_version(&version, out)), HC_UNEXPECTED);
    now_us += TICK_US * 10;
    ck_assert_int_eq(hear().kind, HC_DATAGRAM_DATA); // whose seq goes on
    ck_assert_int_eq(hc_client_state(client), HC_CLIENT_JOINING);
}
END_TEST

START_TEST(answers_to_another_attempt_are_refused) {
    struct hc_welcome welcome = welcome_now();
    uint8_t out[HC_DATAGRAM_MAX];
    begin();
    hear();
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

START_TEST(a_denial_closes_it_and_says_why) {
    uint8_t out[HC_DATAGRAM_MAX];
    begin();
    hear();
    give_cookie();
    struct hc_deny deny = {.reason = HC_DENY_LIMIT};
    memcpy(deny.client_nonce, nonce, sizeof nonce);
    size_t size = hc_datagram_put_deny(&deny, out);
    hc_token_put_deny_mac(party.credential.secret, out);
    ck_assert_int_eq(give(out, size), HC_OK);
    struct hc_client_event event;
    ck_assert(hc_client_poll_event(client, &event));
    ck_assert_int_eq(event.kind, HC_CLIENT_EVENT_DENIED);
    ck_assert_int_eq(event.deny, HC_DENY_LIMIT);
    ck_assert_int_eq(hc_client_state(client), HC_CLIENT_CLOSED);
    ck_assert_uint_eq(hc_client_deadline(client), UINT64_MAX);
    ck_assert_int_eq(hear().kind, HC_DATAGRAM_NONE);
}
END_TEST

START_TEST(news_of_another_version_counts_only_while_connecting) {
    uint8_t out[HC_DATAGRAM_MAX];
    struct hc_version version = {.protocol_id = 1};
    play();
    memcpy(version.client_nonce, nonce, sizeof nonce);
    ck_assert_int_eq(give(out, hc_datagram_put_version(&version, out)), HC_UNEXPECTED);
    ck_assert_int_eq(hc_client_state(client), HC_CLIENT_PLAYING);
    hc_client_destroy(client);
    begin();
    hear();
    memcpy(version.client_nonce, nonce, sizeof nonce);
    ck_assert_int_eq(give(out, hc_datagram_put_version(&version, out)), HC_OK);
    ck_assert(!event_is(HC_CLIENT_EVENT_VERSION)); // anybody can say so
    for (int i = 0; i < 4; i++) {
        now_us += 200000;
        hear();
    }
    ck_assert(event_is(HC_CLIENT_EVENT_VERSION));
}
END_TEST

START_TEST(a_welcome_for_another_number_of_players_is_refused) {
    begin();
    hear();
    give_cookie();
    struct hc_welcome welcome = welcome_now();
    welcome.own_count = 2;
    ck_assert_int_eq(give_accept(&welcome), HC_MALFORMED);
    ck_assert_int_eq(hc_client_state(client), HC_CLIENT_CONNECTING);
    ck_assert_uint_eq(blocks, 2); // those of hc_client_create
}
END_TEST

START_TEST(an_accept_with_a_key_of_low_order_is_refused) {
    struct hc_welcome welcome = welcome_now();
    uint8_t out[HC_DATAGRAM_MAX];
    begin();
    hear();
    give_cookie();
    struct hc_writer writer = hc_bytes_writer(out + HC_ACCEPT_BODY_AT, HC_ACCEPT_BODY_MAX);
    ck_assert(hc_message_put_welcome(&writer, &welcome));
    struct hc_accept accept = {.cid = CID, .body = out + HC_ACCEPT_BODY_AT, .body_size = writer.at};
    memcpy(accept.client_nonce, nonce, sizeof nonce);
    size_t size = hc_datagram_put_accept(&accept, out);
    // Sealed by one who knows the token's secret, and that zeros would be shared.
    struct hc_seal_material material = {.protocol_id = party.protocol_id, .cid = CID};
    struct hc_seal_keys keys;
    struct hc_sealer sealer;
    memcpy(material.secret, party.credential.secret, sizeof material.secret);
    memcpy(material.token, party.credential.token, sizeof material.token);
    memcpy(material.client_nonce, nonce, sizeof nonce);
    memcpy(material.client_key, client->handshake.key, sizeof material.client_key);
    hc_seal_derive(&material, &keys);
    hc_seal_init(&sealer, keys.s2c);
    hc_seal_accept(&sealer, out, size);
    ck_assert_int_eq(give(out, size), HC_MALFORMED);
    ck_assert_int_eq(hc_client_state(client), HC_CLIENT_CONNECTING);
    ck_assert_int_eq(give_accept(&welcome), HC_OK);
}
END_TEST

START_TEST(the_ephemeral_secret_is_erased_once_it_is_of_no_use) {
    struct hc_welcome welcome = welcome_now();
    begin();
    hear();
    give_cookie();
    ck_assert(!sodium_is_zero(client->handshake.secret, sizeof client->handshake.secret));
    ck_assert_int_eq(give_accept(&welcome), HC_OK);
    ck_assert(sodium_is_zero(client->handshake.secret, sizeof client->handshake.secret));
    hc_client_destroy(client);
    begin();
    ck_assert(!sodium_is_zero(client->handshake.secret, sizeof client->handshake.secret));
    hc_client_leave(client, now_us); // before it is admitted
    ck_assert(sodium_is_zero(client->handshake.secret, sizeof client->handshake.secret));
}
END_TEST

START_TEST(a_silent_server_is_given_up_at_the_time_announced) {
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
        while (hear().kind != HC_DATAGRAM_NONE)
            continue;
        ck_assert_int_ne(hc_client_state(client), HC_CLIENT_CLOSED);
        ck_assert_uint_eq(hc_client_deadline(client), until_us);
        now_us = until_us;
        hear();
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

START_TEST(it_runs_at_the_servers_tick_plus_the_lead) {
    config.lead = (uint32_t)_i;
    now_us = START_US + 99 * TICK_US;
    join();
    hear();
    ck_assert_int_eq(show_tick(99), HC_OK);
    now_us += TICK_US;
    for (hc_tick tick = 100; tick < 200; tick++) {
        hc_client_advance(client, now_us);
        ck_assert_uint_eq(head(), tick + config.lead);
        now_us += TICK_US - 1;
        hear();
        ck_assert_uint_eq(head(), tick + config.lead);
        ck_assert_int_eq(show_tick(tick), HC_OK);
        now_us++;
    }
    ck_assert_uint_eq(hc_client_stats(client)->stalls, 0);
    ck_assert_uint_eq(hc_client_stats(client)->rtt_min_us, 0);
    ck_assert_uint_eq(hc_client_stats(client)->snapshots_matched, 101);
}
END_TEST

START_TEST(a_round_trip_is_measured_whatever_acknowledged_the_datagram_before_the_snapshot) {
    uint8_t out[HC_DATAGRAM_MAX];
    play();
    uint64_t before = hc_client_stats(client)->rtt_us.count;
    for (hc_tick tick = 0; tick < 100; tick++) {
        now_us += 2 * TICK_US;
        hc_client_advance(client, now_us);
        while (hear().kind != HC_DATAGRAM_NONE)
            continue;
        struct hc_data data = {.cid = CID, .seq = ++seq, .ack = ack};
        ck_assert_int_eq(give(out, hc_datagram_put_data(&data, out)), HC_OK);
        ck_assert_int_eq(show_tick(head()), HC_OK);
        ck_assert_uint_eq(hc_client_stats(client)->rtt_us.count, before + tick + 1);
        struct hc_snapshot next = snapshot_of(head());
        next.as_of++;
        ck_assert_int_eq(give_snapshot(&next), HC_OK); // not another one of the same datagram
        ck_assert_uint_eq(hc_client_stats(client)->rtt_us.count, before + tick + 1);
    }
}
END_TEST

START_TEST(the_stamp_of_a_welcome_that_came_late_does_not_matter) {
    begin();
    hear();
    give_cookie();
    hear();
    struct hc_welcome welcome = welcome_now();
    now_us += 500000; // the same ACCEPT, sent again
    ck_assert_int_eq(give_accept(&welcome), HC_OK);
    ck_assert_int_eq(show_tick(50), HC_OK);
    hc_client_advance(client, now_us);
    // CONNECT was answered after half a second, HELLO at once: that is the time a round trip takes.
    ck_assert_uint_eq(head(), 50);
}
END_TEST

START_TEST(a_clock_that_turns_out_slower_is_waited_for) {
    play();
    now_us += 3 * TICK_US;
    hc_client_advance(client, now_us);
    ck_assert_uint_eq(head(), 103);
    hear();
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

START_TEST(it_stalls_at_the_prediction_limit_and_goes_on_with_the_next_state) {
    play();
    hc_tick shown = 100;
    for (int round = 0; round < 3; round++, shown += 16) {
        run_to(START_US + (shown + 15) * (uint64_t)TICK_US);
        ck_assert_uint_eq(head(), shown + config.prediction_limit);
        ck_assert_int_eq(hc_client_state(client), HC_CLIENT_STALLED);
        ck_assert(event_is(HC_CLIENT_EVENT_STALLED));
        ck_assert(no_event());
        ck_assert_int_eq(show_tick(shown + 13), HC_OK); // beyond the head: it begins anew
        hc_client_advance(client, now_us);
        ck_assert_uint_eq(head(), shown + 15);
        ck_assert_int_eq(hc_client_state(client), HC_CLIENT_PLAYING);
        ck_assert(event_is(HC_CLIENT_EVENT_RESUMED));
        now_us += TICK_US;
        ck_assert_int_eq(show_tick(shown + 16), HC_OK);
    }
    ck_assert_uint_eq(hc_client_stats(client)->stalls, 3);
    ck_assert_uint_eq(hc_client_stats(client)->restarts, 3);
    ck_assert_uint_ge(hc_client_stats(client)->stalled_ticks, 3 * 4);
    ck_assert_uint_le(hc_client_stats(client)->stalled_ticks, 3 * 5);
}
END_TEST

START_TEST(a_state_just_after_the_head_is_no_new_beginning) {
    play();
    struct hc_snapshot snapshot = snapshot_of(100);
    snapshot.complete[0] = 101;
    snapshot.tick = snapshot.as_of = 102; // which is due in two ticks, as far as is known
    ck_assert_int_eq(give_snapshot(&snapshot), HC_OK);
    ck_assert_uint_eq(head(), 102);
    ck_assert_uint_eq(hc_client_stats(client)->restarts, 0);
}
END_TEST

START_TEST(data_goes_out_once_per_tick_while_joining_playing_and_stalled) {
    now_us = START_US + 100 * TICK_US;
    join();
    run_to(now_us + 50 * TICK_US);
    ck_assert_uint_ge(ack, 50);
    ck_assert_uint_le(ack, 51);
    uint32_t before = ack;
    ck_assert_int_eq(show_tick(150), HC_OK);
    run_to(now_us + 50 * TICK_US);
    ck_assert_int_eq(hc_client_state(client), HC_CLIENT_STALLED);
    ck_assert_uint_ge(ack - before, 49);
    ck_assert_uint_le(ack - before, 51);
}
END_TEST

START_TEST(nothing_is_missed_and_nothing_done_for_nothing_by_sleeping_until_the_deadline) {
    config.prediction_limit = 5;
    play();
    hc_tick shown = 100;
    for (int i = 0; i < 300; i++) {
        while (hear().kind != HC_DATAGRAM_NONE)
            continue;
        uint64_t due_us = hc_client_deadline(client);
        ck_assert_uint_gt(due_us, now_us);
        hc_tick was = head();
        now_us = due_us - 1;
        ck_assert_int_eq(hear().kind, HC_DATAGRAM_NONE);
        ck_assert_uint_eq(head(), was);
        now_us = due_us;
        enum hc_client_state state = hc_client_state(client);
        bool sent = hear().kind != HC_DATAGRAM_NONE;
        ck_assert(sent || head() != was || hc_client_state(client) != state);
        hc_tick due = snapshot_of(1).as_of; // of which there is one snapshot
        if (i % 20 < 10 && due > shown)     // else it stalls
            ck_assert_int_eq(show_tick(shown = due), HC_OK);
    }
    ck_assert_uint_gt(hc_client_stats(client)->stalls, 5);
}
END_TEST

// ---- Inputs -------------------------------------------------------------------------------------

START_TEST(every_datagram_carries_all_inputs_not_acknowledged_one_for_each_tick) {
    uint8_t aims[300] = {0};
    play(); // at tick 100 the oldest input wanted is that of 100
    hc_tick acknowledged = 99;
    for (hc_tick tick = 100; tick < 200; tick++) {
        press((uint8_t)tick);
        now_us += TICK_US;
        struct heard heard = hear();
        aims[tick + config.input_delay] = (uint8_t)tick;
        ck_assert(heard.has_input);
        ck_assert_uint_eq(heard.input.client_tick, tick + 1);
        ck_assert_uint_eq(heard.input.first, acknowledged + 1);
        ck_assert_uint_eq(heard.input.force_before, heard.input.first);
        ck_assert_uint_eq(heard.input.first + heard.input.count, tick + config.input_delay + 1);
        for (uint32_t i = 0; i < heard.input.count; i++) {
            const struct hc_arena_input *input = hc_input_run_next(&heard.run);
            ck_assert_uint_eq(input->aim, aims[heard.input.first + i]);
            ck_assert_int_eq(input->move_x, heard.input.first + i >= 103);
        }
        if (tick % 7 == 0) {
            acknowledged = tick - 3;
            ck_assert_int_eq(show_tick(acknowledged + 1), HC_OK);
        }
    }
}
END_TEST

START_TEST(after_a_gap_in_its_ticks_it_stamps_on_without_a_gap_from_what_is_still_wanted) {
    play();
    press(7);
    run_to(now_us + 10 * TICK_US);
    now_us += 80 * TICK_US; // in which it is not asked to do anything, beyond its limit
    struct hc_snapshot snapshot = snapshot_of(190);
    ck_assert_int_eq(give_snapshot(&snapshot), HC_OK);
    press(9);
    now_us += TICK_US;
    struct heard heard = hear();
    ck_assert_uint_eq(heard.input.first, 190);
    ck_assert_uint_eq(heard.input.count, 4);
    for (hc_tick tick = 190; tick < 194; tick++) {
        const struct hc_arena_input *input = hc_input_run_next(&heard.run);
        ck_assert_uint_eq(input->aim, tick < 193 ? 7 : 9);
    }
    now_us += TICK_US;
    snapshot = snapshot_of(191);
    snapshot.late_limit = 192;
    ck_assert_int_eq(give_snapshot(&snapshot), HC_OK);
    heard = hear();
    ck_assert_uint_eq(heard.input.first, 192);
}
END_TEST

START_TEST(players_go_on_being_heard_while_it_stalls) {
    config.prediction_limit = 4;
    play();
    for (hc_tick tick = 100; tick < 180; tick++) {
        press((uint8_t)tick);
        now_us += TICK_US;
        struct heard heard = hear();
        ck_assert_uint_eq(head(), hc_tick_min(tick + 1, 104));
        // As far ahead of the head as its timeline takes inputs.
        hc_tick newest = hc_tick_min(tick + config.input_delay, 104 + 64);
        ck_assert_uint_eq(heard.input.first + heard.input.count, newest + 1);
        for (hc_tick t = heard.input.first; t <= newest; t++) {
            const struct hc_arena_input *input = hc_input_run_next(&heard.run);
            ck_assert_uint_eq(input->aim, t < 103 ? 0 : t - config.input_delay);
        }
    }
    ck_assert_int_eq(hc_client_state(client), HC_CLIENT_STALLED);
    // The state that has all of this in it is all that it takes.
    ck_assert_int_eq(show_tick(168), HC_OK);
    press(5);
    now_us += TICK_US;
    struct heard heard = hear();
    ck_assert_int_eq(hc_client_state(client), HC_CLIENT_STALLED); // at 172 of 181
    ck_assert_uint_eq(heard.input.first + heard.input.count, 183 + 1);
}
END_TEST

START_TEST(a_fixed_redundancy_forces_nothing_that_may_be_under_way_and_repeats_what_is_overdue) {
    config.input_redundancy = 4;
    play();
    for (hc_tick tick = 100; tick < 108; tick++) {
        now_us += TICK_US;
        struct heard heard = hear();
        hc_tick newest = tick + config.input_delay;
        // The round trip takes no time here: two ticks past the redundancy something was lost.
        bool overdue = newest - 99 > 4 + 2;
        ck_assert_uint_eq(heard.input.force_before, 100);
        ck_assert_uint_eq(heard.input.first, overdue ? 100 : newest - 3);
        ck_assert_uint_eq(heard.input.count, overdue ? newest - 99 : 4);
    }
}
END_TEST

START_TEST(before_the_first_state_nothing_is_stamped_or_forced) {
    now_us = START_US + 100 * TICK_US;
    join();
    struct heard heard = hear();
    ck_assert(heard.has_input);
    ck_assert_uint_eq(heard.input.count, 0);
    ck_assert_uint_le(heard.input.force_before, 100);
}
END_TEST

START_TEST(an_input_that_does_not_fit_its_fields_is_brought_into_them) {
    struct hc_arena_input input = {.move_x = 100, .move_y = -100, .fire = 200};
    play();
    hc_client_set_input(client, 0, &input);
    now_us += TICK_US;
    struct heard heard = hear();
    const struct hc_arena_input *got = NULL;
    for (uint32_t i = 0; i < heard.input.count; i++)
        got = hc_input_run_next(&heard.run);
    ck_assert_int_eq(got->move_x, 1);
    ck_assert_int_eq(got->move_y, -1);
    ck_assert_uint_eq(got->fire, 1);
}
END_TEST

// ---- The end ------------------------------------------------------------------------------------

START_TEST(goodbye_is_said_three_times_at_once_and_seven_times_later) {
    play();
    hc_client_leave(client, now_us);
    ck_assert_int_eq(hc_client_state(client), HC_CLIENT_LEAVING);
    for (int said = 0; said < 10; said++) {
        ck_assert_int_eq(hc_client_state(client), HC_CLIENT_LEAVING);
        if (said >= 3) {
            ck_assert_int_eq(hear().kind, HC_DATAGRAM_NONE);
            ck_assert_uint_eq(hc_client_deadline(client), now_us + 50000);
            now_us += 50000;
        }
        ck_assert(hear().has_close);
    }
    ck_assert_int_eq(hc_client_state(client), HC_CLIENT_CLOSED);
    ck_assert(event_is(HC_CLIENT_EVENT_CLOSED));
    ck_assert_int_eq(hear().kind, HC_DATAGRAM_NONE);
    ck_assert_int_eq(show_tick(101), HC_UNEXPECTED);
}
END_TEST

START_TEST(the_servers_goodbye_ends_it_at_once) {
    uint8_t out[HC_DATAGRAM_MAX];
    play();
    struct hc_writer writer = hc_bytes_writer(out + HC_DATA_BODY_AT, HC_DATA_BODY_MAX);
    ck_assert(hc_message_put_close(&writer, HC_CLOSE_KICKED));
    struct hc_data data = {
        .cid = CID, .seq = ++seq, .body = out + HC_DATA_BODY_AT, .body_size = writer.at};
    ck_assert_int_eq(give(out, hc_datagram_put_data(&data, out)), HC_OK);
    struct hc_client_event event;
    ck_assert(hc_client_poll_event(client, &event));
    ck_assert_int_eq(event.kind, HC_CLIENT_EVENT_CLOSED);
    ck_assert_int_eq(event.close, HC_CLOSE_KICKED);
    ck_assert_uint_eq(hc_client_deadline(client), UINT64_MAX);
}
END_TEST

/// Puts one of what wears keys out `left` before its end.
static void wear(int which, uint32_t left) {
    if (which == 0)
        client->connection.sent.next = HC_CL_RENEW_SEQ - left;
    else if (which == 1)
        client->connection.replay.newest = HC_CL_RENEW_SEQ - left;
    else
        client->connection.accepted_us = now_us + left - HC_CL_RENEW_US;
}

START_TEST(keys_are_used_for_so_long_and_no_longer) {
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
    ck_assert_int_eq(hear().kind, HC_DATAGRAM_HELLO);
}
END_TEST

START_TEST(memory_is_obtained_at_creation_and_acceptance_only) {
    now_us = START_US + 100 * TICK_US;
    join();
    unsigned joined = blocks;
    ck_assert_int_eq(show_tick(100), HC_OK);
    for (int i = 0; i < 500; i++) {
        now_us += TICK_US;
        hear();
        ck_assert_int_eq(show_tick(hc_tick_back(snapshot_of(1).as_of, 2)), HC_OK);
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
    hear();
    memcpy(out, nonce, HC_NONCE_SIZE);
    hc_client_destroy(client);
    client = NULL;
}

START_TEST(nonces_hang_on_entropy_token_and_time_and_on_nothing_else) {
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
    config.entropy = NULL; // of the operating system
    first_nonce(nonces[4]);
    first_nonce(nonces[5]);
    for (unsigned i = 0; i < 6; i++)
        for (unsigned k = 0; k < i; k++)
            ck_assert_mem_ne(nonces[i], nonces[k], HC_NONCE_SIZE);
}
END_TEST

START_TEST(every_setting_out_of_its_range_is_named) {
    ck_assert_str_eq(hc_client_config_check(&(struct hc_client_config){.players = 1}), "game");
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
    tcase_add_test(tests, hello_and_connect_are_said_every_quarter_of_a_second_until_answered);
    tcase_add_test(tests, with_a_cookie_that_has_not_helped_for_two_seconds_it_says_hello_again);
    tcase_add_test(tests, a_cookie_that_somebody_else_sent_first_is_not_the_only_one_that_it_uses);
    tcase_add_test(tests, of_more_cookies_than_it_keeps_each_has_the_same_chance);
    tcase_add_test(
        tests, a_forged_accept_takes_nothing_from_the_true_one_and_after_that_nothing_is_believed);
    tcase_add_test(tests, answers_to_another_attempt_are_refused);
    tcase_add_test(tests, a_denial_closes_it_and_says_why);
    tcase_add_test(tests, news_of_another_version_counts_only_while_connecting);
    tcase_add_test(tests, a_welcome_for_another_number_of_players_is_refused);
    tcase_add_test(tests, an_accept_with_a_key_of_low_order_is_refused);
    tcase_add_test(tests, the_ephemeral_secret_is_erased_once_it_is_of_no_use);
    tcase_add_test(tests, a_silent_server_is_given_up_at_the_time_announced);
    tcase_add_test(tests,
                   a_round_trip_is_measured_whatever_acknowledged_the_datagram_before_the_snapshot);
    tcase_add_test(tests, the_stamp_of_a_welcome_that_came_late_does_not_matter);
    tcase_add_test(tests, a_clock_that_turns_out_slower_is_waited_for);
    tcase_add_test(tests, it_stalls_at_the_prediction_limit_and_goes_on_with_the_next_state);
    tcase_add_test(tests, a_state_just_after_the_head_is_no_new_beginning);
    tcase_add_test(tests, data_goes_out_once_per_tick_while_joining_playing_and_stalled);
    tcase_add_test(tests,
                   nothing_is_missed_and_nothing_done_for_nothing_by_sleeping_until_the_deadline);
    tcase_add_test(tests, every_datagram_carries_all_inputs_not_acknowledged_one_for_each_tick);
    tcase_add_test(tests,
                   after_a_gap_in_its_ticks_it_stamps_on_without_a_gap_from_what_is_still_wanted);
    tcase_add_test(tests, players_go_on_being_heard_while_it_stalls);
    tcase_add_test(
        tests, a_fixed_redundancy_forces_nothing_that_may_be_under_way_and_repeats_what_is_overdue);
    tcase_add_test(tests, before_the_first_state_nothing_is_stamped_or_forced);
    tcase_add_test(tests, an_input_that_does_not_fit_its_fields_is_brought_into_them);
    tcase_add_test(tests, goodbye_is_said_three_times_at_once_and_seven_times_later);
    tcase_add_test(tests, the_servers_goodbye_ends_it_at_once);
    tcase_add_test(tests, memory_is_obtained_at_creation_and_acceptance_only);
    tcase_add_test(tests, entropy_of_zeros_is_refused);
    tcase_add_test(tests, nonces_hang_on_entropy_token_and_time_and_on_nothing_else);
    tcase_add_test(tests, every_setting_out_of_its_range_is_named);
    tcase_add_loop_test(tests, keys_are_used_for_so_long_and_no_longer, 0, 3);
    tcase_add_loop_test(tests, it_runs_at_the_servers_tick_plus_the_lead, 0, 6);
}

int main(void) {
    Suite *suite = suite_create("client_session");
    TCase *tests = tcase_create("client_session");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    add_all(tests);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
