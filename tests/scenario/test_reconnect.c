/// Connections that are lost and made again: who is back when, with what, and what its user sees.
#include "tests/scenario/play.h"
#include "tests/scenario/require.h"
#include "tests/sim/spy.h"

#include "hindcast/rng.h"
#include "tests/run_suite.h"

#include <stdio.h>
#include <string.h>

enum { MS = PLAY_MS, SECOND = PLAY_S, CLIENTS_MAX = PLAY_CLIENTS_MAX };

/// A simulation in which everybody has played for a second.
static struct hc_sim *begin(const struct hc_sim_config *config) {
    struct hc_sim *sim = hc_sim_create(config);
    ck_assert(sim != NULL);
    for (unsigned c = 0; c < config->clients; c++) {
        hc_sim_setup(sim, c)->user = c + 1;
        ck_assert(hc_sim_connect(sim, c));
    }
    hc_sim_run(sim, SECOND);
    for (unsigned c = 0; c < config->clients; c++)
        ck_assert_int_eq(hc_client_state(hc_sim_client(sim, c)), HC_CLIENT_PLAYING);
    return sim;
}

static unsigned playing(struct hc_sim *sim) {
    unsigned count = 0;
    for (unsigned c = 0; c < hc_sim_clients(sim); c++)
        count += hc_client_state(hc_sim_client(sim, c)) == HC_CLIENT_PLAYING;
    return count;
}

static uint32_t events(const struct hc_sim *sim, unsigned client, enum hc_client_event_kind kind) {
    return hc_sim_events(sim, client)->count[kind];
}

static const struct hc_sv_host_stats *host_stats(struct hc_sim *sim) {
    return hc_sv_host_stats(hc_sim_host(sim));
}

static void darken(struct hc_sim *sim, unsigned client, bool dark) {
    struct hc_network_sim_config up = hc_sim_config(sim)->up, down = hc_sim_config(sim)->down;
    if (dark)
        up.loss_ppm = down.loss_ppm = HC_NETWORK_SIM_PPM;
    hc_sim_set_link(sim, client, &up, &down);
}

static void check_hashes(struct hc_sim *sim) {
    for (unsigned c = 0; c < hc_sim_clients(sim); c++)
        ck_assert_uint_eq(hc_client_stats(hc_sim_client(sim, c))->hash_mismatches, 0);
}

// ---- The server dies ----------------------------------------------------------------------------

START_TEST(a_server_that_was_killed_and_started_again_has_everybody_back_within_two_seconds) {
    struct hc_sim_config config = play_config_bare(CLIENTS_MAX, 40, 501);
    config.up.loss_ppm = config.down.loss_ppm = 20000;
    struct hc_sim *sim = begin(&config);
    ck_assert(hc_sim_restart_host(sim));
    uint64_t from_us = hc_sim_now(sim);
    for (unsigned n = 0; n < 5; n++)
        hc_sim_run(sim, 40 * MS); // all have heard that it knows nothing of them
    while (playing(sim) < CLIENTS_MAX && hc_sim_now(sim) < from_us + 10 * SECOND)
        hc_sim_run(sim, 10 * MS);
    printf("64 of 64 back after %lu ms\n", (unsigned long)((hc_sim_now(sim) - from_us) / MS));
    ck_assert_uint_le(hc_sim_now(sim) - from_us, 2 * SECOND);
    for (unsigned c = 0; c < CLIENTS_MAX; c++) {
        ck_assert_uint_eq(events(sim, c, HC_CLIENT_EVENT_LOST), 1);
        ck_assert_uint_eq(events(sim, c, HC_CLIENT_EVENT_RECONNECTED), 1);
    }
    ck_assert_uint_eq(host_stats(sim)->joins, CLIENTS_MAX);
    hc_sim_run(sim, SECOND);
    ck_assert_uint_eq(playing(sim), CLIENTS_MAX);
    check_hashes(sim);
    hc_sim_destroy(sim);
}
END_TEST

START_TEST(a_ticket_is_good_again_and_again_and_no_key_ever_seals_twice_with_one_number) {
    hc_spy_reset();
    struct hc_sim_config config = play_config_bare(2, 30, 502);
    struct hc_sim *sim = begin(&config);
    for (unsigned n = 0; n < 3; n++) {
        ck_assert(hc_sim_restart_host(sim));
        hc_sim_run(sim, 3 * SECOND);
        ck_assert_uint_eq(playing(sim), 2);
        darken(sim, 0, true);
        hc_sim_run(sim, 12 * SECOND);
        darken(sim, 0, false);
        hc_sim_run(sim, 3 * SECOND);
        ck_assert_uint_eq(playing(sim), 2);
    }
    ck_assert_uint_eq(events(sim, 0, HC_CLIENT_EVENT_RECONNECTED), 6);
    struct hc_spy seen = hc_spy_seen();
    ck_assert_uint_gt(seen.sealed, 5000);
    ck_assert_uint_eq(seen.repeats, 0);
    hc_sim_destroy(sim);
}
END_TEST

START_TEST(a_reset_is_believed_only_from_the_server_that_the_client_knows) {
    struct hc_sim_config config = play_config_bare(1, 20, 503);
    struct hc_sim *sim = begin(&config);
    struct hc_client *core = hc_sim_client(sim, 0);
    struct hc_reset reset = {.cid = 0};
    uint8_t bytes[HC_DATAGRAM_MAX];
    for (unsigned n = 0; n < 1000; n++) {
        for (unsigned i = 0; i < sizeof reset.token; i++)
            reset.token[i] = (uint8_t)hc_random(503, n, i, 0);
        reset.cid = n % 2 == 0 ? n : (uint32_t)hc_random(503, n, 99, 0);
        size_t size = hc_datagram_put_reset(&reset, bytes);
        ck_assert_int_ne(hc_client_receive(core, bytes, size, hc_sim_client_now(sim, 0)), HC_OK);
    }
    ck_assert_int_eq(hc_client_state(core), HC_CLIENT_PLAYING);
    hc_sim_destroy(sim);
}
END_TEST

START_TEST(what_nobody_knows_is_answered_by_so_many_resets_a_second_of_an_address_and_in_all) {
    enum { SECONDS = 2, EACH = 16, ALL = 10000 };
    struct hc_sim_config config = play_config_bare(1, 20, 504);
    struct hc_sim *sim = begin(&config);
    struct hc_sv_host *host = hc_sim_host(sim);
    struct hc_address stranger = hc_address_ipv4(192, 0, 2, 1, 5000), other, to;
    uint8_t bytes[HC_DATAGRAM_MAX] = {0}, out[HC_DATAGRAM_MAX];
    unsigned answers = 0;
    uint64_t now_us = hc_sim_host_now(sim);
    for (unsigned n = 0; n < SECONDS * 20000; n++, now_us += 50) {
        other = hc_address_ipv4(10, (uint8_t)(n >> 16), (uint8_t)(n >> 8), (uint8_t)n, 5000);
        struct hc_data data = {.cid = 0xffff0000u | n, .seq = 1 + n};
        size_t size = hc_datagram_put_data(&data, bytes), got;
        ck_assert_int_eq(hc_sv_host_receive(host, &stranger, bytes, size, now_us), HC_UNEXPECTED);
        while ((got = hc_sv_host_send(host, &to, out, now_us)) > 0) {
            ck_assert_uint_le(got, size);
            answers += hc_address_equal(&to, &stranger);
        }
        hc_sv_host_receive(host, &other, bytes, size, now_us);
    }
    while (hc_sv_host_send(host, &to, out, now_us) > 0) {
    }
    ck_assert_uint_ge(answers, SECONDS * EACH / 2); // where all are as busy
    ck_assert_uint_le(answers, (SECONDS + 1) * EACH + 1);
    uint64_t resets = host_stats(sim)->resets;
    ck_assert_uint_ge(resets, SECONDS * ALL);
    ck_assert_uint_le(resets, SECONDS * ALL + ALL / 20 + 1); // with what was saved up
    hc_sim_destroy(sim);
}
END_TEST

// ---- Silence ------------------------------------------------------------------------------------

enum { QUIET = 1 }; ///< the client that falls silent

/// A simulation that has begun, and the player whose client will fall silent.
struct silence {
    struct hc_sim *sim;
    hc_player player;
};

static struct silence silence_begin(unsigned clients, uint32_t loss_ppm, uint64_t seed) {
    struct hc_sim_config config = play_config_bare(clients, 50, seed);
    config.up.loss_ppm = config.down.loss_ppm = loss_ppm;
    struct hc_sim *sim = begin(&config);
    return (struct silence){.sim = sim, .player = hc_client_player(hc_sim_client(sim, QUIET), 0)};
}

static void silence_last(struct silence silence, uint64_t us) {
    darken(silence.sim, QUIET, true);
    hc_sim_run(silence.sim, us);
}

/// Everybody plays again `us` later, and who was silent has the player that it had.
static void silence_end(struct silence silence, uint64_t us) {
    darken(silence.sim, QUIET, false);
    hc_sim_run(silence.sim, us);
    ck_assert_uint_eq(playing(silence.sim), hc_sim_clients(silence.sim));
    ck_assert_uint_eq(hc_client_player(hc_sim_client(silence.sim, QUIET), 0), silence.player);
    check_hashes(silence.sim);
}

START_TEST(five_seconds_of_silence_are_only_a_stall) {
    struct silence silence = silence_begin(4, 0, 511);
    struct hc_sim *sim = silence.sim;
    silence_last(silence, 5 * SECOND);
    ck_assert_int_eq(hc_client_state(hc_sim_client(sim, QUIET)), HC_CLIENT_STALLED);
    silence_end(silence, 500 * MS);
    ck_assert_uint_eq(events(sim, QUIET, HC_CLIENT_EVENT_LOST), 0);
    ck_assert_uint_eq(events(sim, QUIET, HC_CLIENT_EVENT_STALLED), 1);
    ck_assert_uint_eq(events(sim, QUIET, HC_CLIENT_EVENT_RESUMED), 1);
    hc_sim_destroy(sim);
}
END_TEST

START_TEST(after_a_longer_silence_the_players_are_still_there) {
    for (uint32_t dark_s = 11; dark_s <= 35; dark_s += 12) {
        struct silence silence = silence_begin(2, 50000, 520 + dark_s);
        struct hc_sim *sim = silence.sim;
        silence_last(silence, (uint64_t)dark_s * SECOND);
        ck_assert_int_eq(hc_client_state(hc_sim_client(sim, QUIET)), HC_CLIENT_RECONNECTING);
        ck_assert_uint_eq(hc_sv_host_clients(hc_sim_host(sim)), 1);
        ck_assert_uint_eq(host_stats(sim)->lost, 1);
        silence_end(silence, 2 * SECOND);
        ck_assert_uint_eq(events(sim, QUIET, HC_CLIENT_EVENT_LOST), 1);
        ck_assert_uint_eq(events(sim, QUIET, HC_CLIENT_EVENT_RECONNECTED), 1);
        ck_assert(hc_sim_events(sim, QUIET)->last.kind == HC_CLIENT_EVENT_PLAYING);
        ck_assert_uint_eq(host_stats(sim)->resumed, 1);
        ck_assert_uint_eq(host_stats(sim)->leaves + host_stats(sim)->timeouts, 0);
        hc_sim_destroy(sim);
    }
}
END_TEST

START_TEST(who_does_not_come_back_for_forty_seconds_is_gone_and_its_place_is_free) {
    struct silence silence = silence_begin(2, 0, 530);
    struct hc_sim *sim = silence.sim;
    hc_sim_kill(sim, QUIET);
    hc_sim_run(sim, 39 * SECOND);
    ck_assert_uint_eq(host_stats(sim)->timeouts, 0);
    // Its players stand in the world, and hold nothing back.
    const struct hc_timeline *timeline = hc_sv_host_timeline(hc_sim_host(sim));
    hc_tick head = hc_timeline_head(timeline);
    ck_assert_uint_le(head - hc_sv_host_final(hc_sim_host(sim), NULL), 6);
    hc_sim_run(sim, 2 * SECOND);
    ck_assert_uint_eq(host_stats(sim)->timeouts, 1);
    hc_sim_setup(sim, QUIET)->user = 77;
    ck_assert(hc_sim_connect(sim, QUIET));
    silence_end(silence, SECOND);
    hc_sim_destroy(sim);
}
END_TEST

START_TEST(another_process_of_the_same_user_goes_on_with_its_players) {
    struct silence silence = silence_begin(2, 0, 531);
    struct hc_sim *sim = silence.sim;
    ck_assert(hc_sim_connect(sim, QUIET)); // the one before is gone without a word
    silence_end(silence, 3 * SECOND);
    ck_assert_uint_eq(host_stats(sim)->resumed, 1);
    ck_assert_uint_eq(host_stats(sim)->joins, 2);
    hc_sim_destroy(sim);
}
END_TEST

// ---- Another address ----------------------------------------------------------------------------

/// When a client last heard a snapshot, and the longest that it waited for one.
struct waits {
    uint64_t received_us[CLIENTS_MAX], longest_us[CLIENTS_MAX];
};

static void note_wait(void *context, struct hc_sim *sim, unsigned client, const uint8_t *bytes,
                      size_t size, enum hc_status status) {
    struct waits *waits = context;
    uint64_t now_us = hc_sim_now(sim), waited_us = now_us - waits->received_us[client];
    if (status != HC_OK || hc_datagram_kind(bytes, size) != HC_DATAGRAM_DATA)
        return;
    if (waits->received_us[client] > 0 && waited_us > waits->longest_us[client])
        waits->longest_us[client] = waited_us;
    waits->received_us[client] = now_us;
}

START_TEST(a_client_whose_address_changes_now_and_then_loses_a_round_trip_each_time) {
    enum { LATENCY_MS = 60, CLIENTS = 8, CHANGES = 4, TICK_MS = 17 };
    static struct waits waits;
    struct hc_sim_config config = play_config_bare(CLIENTS, LATENCY_MS, 540);
    config.hooks.client_received = note_wait;
    config.context = &waits;
    struct hc_sim *sim = begin(&config);
    for (unsigned n = 0; n < CHANGES; n++) {
        for (unsigned c = 0; c < CLIENTS; c++)
            hc_sim_rebind(sim, c);
        hc_sim_run(sim, 3 * SECOND);
    }
    uint64_t longest_us = 0;
    for (unsigned c = 0; c < CLIENTS; c++) {
        longest_us = waits.longest_us[c] > longest_us ? waits.longest_us[c] : longest_us;
        ck_assert_uint_eq(events(sim, c, HC_CLIENT_EVENT_MOVED), CHANGES);
        ck_assert_uint_eq(events(sim, c, HC_CLIENT_EVENT_LOST), 0);
    }
    printf("%d changes of 8 addresses: waited for %lu ms at most, a round trip is %d ms\n", CHANGES,
           (unsigned long)(longest_us / MS), 2 * LATENCY_MS);
    ck_assert_uint_eq(playing(sim), CLIENTS);
    ck_assert_uint_eq(host_stats(sim)->moved, CHANGES * CLIENTS);
    // To the server, to say where, and back; a tick each, and one since the last was heard.
    ck_assert_uint_le(longest_us, (2 * LATENCY_MS + 3 * TICK_MS) * MS);
    check_hashes(sim);
    hc_sim_destroy(sim);
}
END_TEST

/// Copies every fourth datagram of a client before it leaves, as from a stranger.
static bool copy_first(void *context, struct hc_sim *sim, unsigned client, uint8_t *bytes,
                       size_t size) {
    unsigned *copies = context;
    (void)client;
    if (hc_datagram_kind(bytes, size) == HC_DATAGRAM_DATA && ++*copies % 4 == 0)
        hc_sim_inject(sim, client, 77, hc_sim_sealed(sim), size);
    return true;
}

START_TEST(copies_from_another_address_redirect_nothing) {
    unsigned copies = 0;
    struct hc_sim_config config = play_config_bare(2, 50, 541);
    config.hooks.tamper = copy_first;
    config.context = &copies;
    struct hc_sim *sim = begin(&config);
    hc_sim_run(sim, 10 * SECOND);
    ck_assert_uint_gt(copies, 1000);
    ck_assert_uint_eq(host_stats(sim)->moved, 0);
    ck_assert_uint_eq(playing(sim), 2);
    for (unsigned c = 0; c < 2; c++)
        ck_assert_uint_eq(hc_client_stats(hc_sim_client(sim, c))->stalls, 0);
    // At most three bytes have gone there for each that came, and hardly anything.
    uint64_t bytes, sent = hc_sim_strangers(sim, &bytes);
    ck_assert_uint_le(bytes, copies / 4 * 3 * 50);
    ck_assert_uint_le(sent, 60);
    hc_sim_destroy(sim);
}
END_TEST

// ---- Keys ---------------------------------------------------------------------------------------

/// Publishes a key of bytes `fill`, and uses it a second later.
static void rotate(struct hc_sim *sim, struct hc_token_ring *ring, uint8_t fill) {
    uint8_t key[HC_TOKEN_KEY_SIZE];
    memset(key, fill, sizeof key);
    ck_assert_int_eq(hc_token_ring_publish(ring, key), HC_OK);
    hc_sv_host_set_keys(hc_sim_host(sim), ring);
    hc_sim_run(sim, SECOND);
    ck_assert_int_eq(hc_token_ring_use(ring), HC_OK);
    hc_sv_host_set_keys(hc_sim_host(sim), ring);
}

START_TEST(a_client_that_plays_through_two_rotations_reconnects_with_the_newest_ticket) {
    struct hc_sim_config config = play_config_bare(3, 50, 550);
    struct hc_sim *sim = begin(&config);
    struct hc_token_ring ring = hc_party_ring();
    rotate(sim, &ring, 201);
    hc_sim_run(sim, 2 * SECOND);
    rotate(sim, &ring, 202); // the first key is no longer accepted
    hc_sim_run(sim, 2 * SECOND);
    ck_assert_uint_eq(playing(sim), 3);
    darken(sim, 0, true);
    hc_sim_run(sim, 20 * SECOND);
    darken(sim, 0, false);
    hc_sim_run(sim, 2 * SECOND);
    ck_assert_uint_eq(events(sim, 0, HC_CLIENT_EVENT_RECONNECTED), 1);
    hc_sim_destroy(sim);
}
END_TEST

// ---- What games say -----------------------------------------------------------------------------

/// A server that has more on the way than may be loses its client, so it says less than it hears.
enum { MESSAGES = 2400, ANSWERED = 4 };

/// What has been heard, of each direction, must be 0, 1, 2 and so on.
struct talk {
    uint32_t said[2], heard[2];
};

static void hear_next(uint32_t *heard, const uint8_t *message, size_t size) {
    uint32_t number;
    REQUIRE(size >= sizeof number, "a message of %zu bytes", size);
    memcpy(&number, message, sizeof number);
    REQUIRE(number == *heard, "message %u came after %u others", number, *heard);
    for (size_t i = sizeof number; i < size; i++)
        REQUIRE(message[i] == (uint8_t)number, "message %u came as another", number);
    ++*heard;
}

static size_t put_next(uint32_t said, uint8_t message[static HC_EVENTS_SIZE_MAX]) {
    size_t size = sizeof said + said % 40;
    memset(message, (uint8_t)said, size);
    memcpy(message, &said, sizeof said);
    return size;
}

static void converse(struct hc_sim *sim, struct talk *talk) {
    struct hc_client *core = hc_sim_client(sim, 0);
    uint8_t message[HC_EVENTS_SIZE_MAX];
    struct hc_sv_message heard;
    const uint8_t *got;
    size_t size;
    if (talk->said[0] < MESSAGES)
        talk->said[0] +=
            hc_client_send_message(core, message, put_next(talk->said[0], message)) == HC_OK;
    while ((got = hc_client_next_message(core, &size)) != NULL)
        hear_next(&talk->heard[1], got, size);
    while ((got = hc_sv_host_next_message(hc_sim_host(sim), &heard)) != NULL) {
        hear_next(&talk->heard[0], got, heard.size);
        if (talk->said[1] * ANSWERED < talk->heard[0] &&
            hc_sv_host_send_message(hc_sim_host(sim), heard.cid, message,
                                    put_next(talk->said[1], message),
                                    hc_sim_host_now(sim)) == HC_OK)
            talk->said[1]++;
    }
}

START_TEST(what_games_say_arrives_once_and_in_order_whatever_becomes_of_the_connection) {
    struct talk talk = {.said = {0}};
    struct hc_sim_config config = play_config_bare(1, 80, 560);
    config.up.loss_ppm = config.down.loss_ppm = 250000;
    config.up.duplicate_ppm = config.down.duplicate_ppm = 250000;
    config.up.jitter_us = config.down.jitter_us = 70 * MS;
    config.host.timeout_us = config.client.timeout_us = 3 * SECOND;
    struct hc_sim *sim = hc_sim_create(&config);
    ck_assert(sim != NULL && hc_sim_connect(sim, 0));
    for (unsigned n = 0; n < 40000 && talk.heard[1] < MESSAGES / ANSWERED; n++) {
        hc_sim_run(sim, 5 * MS);
        converse(sim, &talk);
        if (n % 1500 == 300)
            darken(sim, 0, true);
        if (n % 1500 == 300 + (n / 1500 % 2 == 0 ? 900 : 200)) // 4.5 s, or 1 s
            darken(sim, 0, false);
    }
    printf("%u and %u messages, %lu losses of the connection, %lu resumed\n", talk.heard[0],
           talk.heard[1], (unsigned long)hc_client_stats(hc_sim_client(sim, 0))->losses,
           (unsigned long)host_stats(sim)->resumed);
    ck_assert_uint_eq(talk.heard[0], MESSAGES);
    ck_assert_uint_eq(talk.heard[1], MESSAGES / ANSWERED);
    ck_assert_uint_gt(host_stats(sim)->resumed, 0);
    hc_sim_destroy(sim);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("reconnect");
    TCase *tests = tcase_create("reconnect");
    tcase_add_test(
        tests, a_server_that_was_killed_and_started_again_has_everybody_back_within_two_seconds);
    tcase_add_test(tests,
                   a_ticket_is_good_again_and_again_and_no_key_ever_seals_twice_with_one_number);
    tcase_add_test(tests, a_reset_is_believed_only_from_the_server_that_the_client_knows);
    tcase_add_test(
        tests, what_nobody_knows_is_answered_by_so_many_resets_a_second_of_an_address_and_in_all);
    tcase_add_test(tests, five_seconds_of_silence_are_only_a_stall);
    tcase_add_test(tests, after_a_longer_silence_the_players_are_still_there);
    tcase_add_test(tests, who_does_not_come_back_for_forty_seconds_is_gone_and_its_place_is_free);
    tcase_add_test(tests, another_process_of_the_same_user_goes_on_with_its_players);
    tcase_add_test(tests, a_client_whose_address_changes_now_and_then_loses_a_round_trip_each_time);
    tcase_add_test(tests, copies_from_another_address_redirect_nothing);
    tcase_add_test(tests,
                   a_client_that_plays_through_two_rotations_reconnects_with_the_newest_ticket);
    tcase_add_test(tests,
                   what_games_say_arrives_once_and_in_order_whatever_becomes_of_the_connection);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
