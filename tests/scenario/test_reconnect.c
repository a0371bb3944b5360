/// Lost connections are made again: clients resume their sessions, with their players and messages.
#include "tests/scenario/scenario.h"
#include "tests/scenario/require.h"
#include "tests/sim/crypto_calls.h"

#include "hindcast/arena.h"
#include "hindcast/rng.h"
#include "tests/run_suite.h"

#include <stdio.h>
#include <string.h>

enum { CLIENTS_MAX = SCENARIO_CLIENTS_MAX };

/// A simulation in which all clients have played for a second.
static struct hc_sim *begin(const struct hc_sim_config *config) {
    struct hc_sim *sim = hc_sim_create(config);
    ck_assert(sim != NULL);
    for (unsigned c = 0; c < config->clients; c++) {
        hc_sim_setup(sim, c)->user = c + 1;
        ck_assert(hc_sim_connect(sim, c));
    }
    hc_sim_run(sim, SECOND_US);
    for (unsigned c = 0; c < config->clients; c++)
        ck_assert_int_eq(hc_client_state(hc_sim_client(sim, c)), HC_CLIENT_PLAYING);
    return sim;
}

static uint32_t events(const struct hc_sim *sim, unsigned client, enum hc_client_event_kind kind) {
    return hc_sim_events(sim, client)->count[kind];
}

static const struct hc_server_stats *host_stats(struct hc_sim *sim) {
    return hc_server_stats(hc_sim_host(sim));
}

static void set_blackout(struct hc_sim *sim, unsigned client, bool blackout) {
    struct hc_network_sim_config up = hc_sim_config(sim)->up, down = hc_sim_config(sim)->down;
    if (blackout)
        up.loss_ppm = down.loss_ppm = HC_NETWORK_SIM_PPM;
    hc_sim_set_link(sim, client, &up, &down);
}

static void check_hashes(struct hc_sim *sim) {
    for (unsigned c = 0; c < hc_sim_clients(sim); c++)
        ck_assert_uint_eq(hc_client_stats(hc_sim_client(sim, c))->hash_mismatches, 0);
}

// ---- Killed servers -----------------------------------------------------------------------------

START_TEST(all_clients_of_a_restarted_server_play_again_within_two_seconds) {
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, CLIENTS_MAX, 40, 501);
    config.up.loss_ppm = config.down.loss_ppm = 20000;
    struct hc_sim *sim = begin(&config);
    ck_assert(hc_sim_restart_host(sim));
    uint64_t from_us = hc_sim_now(sim);
    for (unsigned n = 0; n < 5; n++)
        hc_sim_run(sim, 40 * MS_US); // all have received a RESET
    while (hc_sim_playing(sim) < CLIENTS_MAX && hc_sim_now(sim) < from_us + 10 * SECOND_US)
        hc_sim_run(sim, 10 * MS_US);
    printf("64 of 64 back after %lu ms\n", (unsigned long)((hc_sim_now(sim) - from_us) / MS_US));
    ck_assert_uint_le(hc_sim_now(sim) - from_us, 2 * SECOND_US);
    for (unsigned c = 0; c < CLIENTS_MAX; c++) {
        ck_assert_uint_eq(events(sim, c, HC_CLIENT_EVENT_LOST), 1);
        ck_assert_uint_eq(events(sim, c, HC_CLIENT_EVENT_RECONNECTED), 1);
    }
    ck_assert_uint_eq(host_stats(sim)->joins, CLIENTS_MAX);
    hc_sim_run(sim, SECOND_US);
    ck_assert_uint_eq(hc_sim_playing(sim), CLIENTS_MAX);
    check_hashes(sim);
    hc_sim_destroy(sim);
}
END_TEST

START_TEST(a_household_below_its_limit_gets_in_and_is_back_at_once_after_a_restart) {
    enum { HOUSEHOLD = 48, ALL_IN_S = 15 };
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, HOUSEHOLD, 30, 513);
    config.behind_router = true;
    config.host.clients_per_address = 64;
    struct hc_sim *sim = hc_sim_create(&config);
    ck_assert_ptr_nonnull(sim);
    ck_assert(hc_sim_connect_all(sim));
    hc_sim_run(sim, ALL_IN_S * SECOND_US);
    ck_assert_uint_eq(hc_sim_playing(sim), HOUSEHOLD);
    ck_assert_uint_ge(host_stats(sim)->denied, 1);
    ck_assert(hc_sim_restart_host(sim));
    hc_sim_run(sim, 3 * SECOND_US);
    ck_assert_uint_eq(hc_sim_playing(sim), HOUSEHOLD);
    check_hashes(sim);
    hc_sim_destroy(sim);
}
END_TEST

START_TEST(a_client_reconnects_repeatedly_and_no_key_seals_twice_with_one_nonce) {
    hc_crypto_calls_reset();
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, 2, 30, 502);
    struct hc_sim *sim = begin(&config);
    for (unsigned n = 0; n < 3; n++) {
        ck_assert(hc_sim_restart_host(sim));
        hc_sim_run(sim, 3 * SECOND_US);
        ck_assert_uint_eq(hc_sim_playing(sim), 2);
        set_blackout(sim, 0, true);
        hc_sim_run(sim, 12 * SECOND_US);
        set_blackout(sim, 0, false);
        hc_sim_run(sim, 3 * SECOND_US);
        ck_assert_uint_eq(hc_sim_playing(sim), 2);
    }
    ck_assert_uint_eq(events(sim, 0, HC_CLIENT_EVENT_RECONNECTED), 6);
    struct hc_crypto_calls seen = hc_crypto_calls();
    ck_assert_uint_gt(seen.sealed, 5000);
    ck_assert_uint_eq(seen.repeats, 0);
    hc_sim_destroy(sim);
}
END_TEST

START_TEST(a_client_ignores_a_reset_without_its_connections_token) {
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, 1, 20, 503);
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

START_TEST(resets_are_limited_for_each_address_and_in_total) {
    enum { SECONDS = 2, EACH = 16, ALL = 10000 };
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, 1, 20, 504);
    struct hc_sim *sim = begin(&config);
    struct hc_server *host = hc_sim_host(sim);
    struct hc_address stranger = hc_address_ipv4(192, 0, 2, 1, 5000), other, to;
    uint8_t bytes[HC_DATAGRAM_MAX] = {0}, out[HC_DATAGRAM_MAX];
    unsigned answers = 0;
    uint64_t now_us = hc_sim_host_now(sim);
    for (unsigned n = 0; n < SECONDS * 20000; n++, now_us += 50) {
        other = hc_address_ipv4(10, (uint8_t)(n >> 16), (uint8_t)(n >> 8), (uint8_t)n, 5000);
        struct hc_data data = {.cid = 0xffff0000u | n, .seq = 1 + n};
        size_t size = hc_datagram_put_data(&data, bytes), message_in;
        ck_assert_int_eq(hc_server_receive(host, &stranger, bytes, size, now_us), HC_UNEXPECTED);
        while ((message_in = hc_server_send(host, &to, out, now_us)) > 0) {
            ck_assert_uint_le(message_in, size);
            answers += hc_address_equal(&to, &stranger);
        }
        hc_server_receive(host, &other, bytes, size, now_us);
    }
    while (hc_server_send(host, &to, out, now_us) > 0) {
    }
    ck_assert_uint_ge(answers, SECONDS * EACH / 2); // the total is shared with all others
    ck_assert_uint_le(answers, (SECONDS + 1) * EACH + 1);
    uint64_t resets = host_stats(sim)->resets;
    ck_assert_uint_ge(resets, SECONDS * ALL);
    ck_assert_uint_le(resets, SECONDS * ALL + ALL / 20 + 1); // with the saved-up allowance
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
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, clients, 50, seed);
    config.up.loss_ppm = config.down.loss_ppm = loss_ppm;
    struct hc_sim *sim = begin(&config);
    return (struct silence){.sim = sim, .player = hc_client_player(hc_sim_client(sim, QUIET), 0)};
}

static void silence_last(struct silence silence, uint64_t us) {
    set_blackout(silence.sim, QUIET, true);
    hc_sim_run(silence.sim, us);
}

/// Fails the test unless all clients play `us` later, and the silent one has its former player.
static void silence_end(struct silence silence, uint64_t us) {
    set_blackout(silence.sim, QUIET, false);
    hc_sim_run(silence.sim, us);
    ck_assert_uint_eq(hc_sim_playing(silence.sim), hc_sim_clients(silence.sim));
    ck_assert_uint_eq(hc_client_player(hc_sim_client(silence.sim, QUIET), 0), silence.player);
    check_hashes(silence.sim);
}

START_TEST(five_seconds_of_silence_are_only_a_stall) {
    struct silence silence = silence_begin(4, 0, 511);
    struct hc_sim *sim = silence.sim;
    silence_last(silence, 5 * SECOND_US);
    ck_assert_int_eq(hc_client_state(hc_sim_client(sim, QUIET)), HC_CLIENT_STALLED);
    silence_end(silence, 500 * MS_US);
    ck_assert_uint_eq(events(sim, QUIET, HC_CLIENT_EVENT_LOST), 0);
    ck_assert_uint_eq(events(sim, QUIET, HC_CLIENT_EVENT_STALLED), 1);
    ck_assert_uint_eq(events(sim, QUIET, HC_CLIENT_EVENT_UNSTALLED), 1);
    hc_sim_destroy(sim);
}
END_TEST

START_TEST(a_client_has_its_players_again_after_a_longer_silence) {
    for (uint32_t blackout_s = 11; blackout_s <= 35; blackout_s += 12) {
        struct silence silence = silence_begin(2, 50000, 520 + blackout_s);
        struct hc_sim *sim = silence.sim;
        silence_last(silence, (uint64_t)blackout_s * SECOND_US);
        ck_assert_int_eq(hc_client_state(hc_sim_client(sim, QUIET)), HC_CLIENT_RECONNECTING);
        ck_assert_uint_eq(hc_server_clients(hc_sim_host(sim)), 1);
        ck_assert_uint_eq(host_stats(sim)->lost, 1);
        silence_end(silence, 2 * SECOND_US);
        ck_assert_uint_eq(events(sim, QUIET, HC_CLIENT_EVENT_LOST), 1);
        ck_assert_uint_eq(events(sim, QUIET, HC_CLIENT_EVENT_RECONNECTED), 1);
        ck_assert(hc_sim_events(sim, QUIET)->last.kind == HC_CLIENT_EVENT_PLAYING);
        ck_assert_uint_eq(host_stats(sim)->resumed, 1);
        ck_assert_uint_eq(host_stats(sim)->leaves + host_stats(sim)->timeouts, 0);
        hc_sim_destroy(sim);
    }
}
END_TEST

START_TEST(a_client_that_is_silent_for_forty_seconds_loses_its_players_and_frees_its_slot) {
    struct silence silence = silence_begin(2, 0, 530);
    struct hc_sim *sim = silence.sim;
    hc_sim_kill(sim, QUIET);
    hc_sim_run(sim, 39 * SECOND_US);
    ck_assert_uint_eq(host_stats(sim)->timeouts, 0);
    // Its players linger in the world and delay no final tick.
    const struct hc_timeline *timeline = hc_server_timeline(hc_sim_host(sim));
    hc_tick head = hc_timeline_head(timeline);
    ck_assert_uint_le(head - hc_sv_host_final(hc_sim_host(sim), NULL), 6);
    hc_sim_run(sim, 2 * SECOND_US);
    ck_assert_uint_eq(host_stats(sim)->timeouts, 1);
    hc_sim_setup(sim, QUIET)->user = 77;
    ck_assert(hc_sim_connect(sim, QUIET));
    silence_end(silence, SECOND_US);
    hc_sim_destroy(sim);
}
END_TEST

START_TEST(another_process_of_the_same_user_takes_over_its_players) {
    struct silence silence = silence_begin(2, 0, 531);
    struct hc_sim *sim = silence.sim;
    ck_assert(hc_sim_connect(sim, QUIET)); // without a CLOSE of the one before
    silence_end(silence, 3 * SECOND_US);
    ck_assert_uint_eq(host_stats(sim)->resumed, 1);
    ck_assert_uint_eq(host_stats(sim)->joins, 2);
    hc_sim_destroy(sim);
}
END_TEST

// ---- Another address ----------------------------------------------------------------------------

/// When each client last received a datagram, and its longest wait for one.
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

START_TEST(a_client_loses_at_most_a_round_trip_at_each_change_of_address) {
    enum { LATENCY_MS = 60, CLIENTS = 8, CHANGES = 4, TICK_MS = 17 };
    static struct waits waits;
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, CLIENTS, LATENCY_MS, 540);
    config.hooks.client_received = note_wait;
    config.context = &waits;
    struct hc_sim *sim = begin(&config);
    for (unsigned n = 0; n < CHANGES; n++) {
        for (unsigned c = 0; c < CLIENTS; c++)
            hc_sim_rebind(sim, c);
        hc_sim_run(sim, 3 * SECOND_US);
    }
    uint64_t longest_us = 0;
    for (unsigned c = 0; c < CLIENTS; c++) {
        longest_us = waits.longest_us[c] > longest_us ? waits.longest_us[c] : longest_us;
        ck_assert_uint_eq(events(sim, c, HC_CLIENT_EVENT_MOVED), CHANGES);
        ck_assert_uint_eq(events(sim, c, HC_CLIENT_EVENT_LOST), 0);
    }
    printf("%d changes of 8 addresses: waited for %lu ms at most, a round trip is %d ms\n", CHANGES,
           (unsigned long)(longest_us / MS_US), 2 * LATENCY_MS);
    ck_assert_uint_eq(hc_sim_playing(sim), CLIENTS);
    ck_assert_uint_eq(host_stats(sim)->moved, CHANGES * CLIENTS);
    // A round trip, a tick at each end, and a tick since the last datagram.
    ck_assert_uint_le(longest_us, (2 * LATENCY_MS + 3 * TICK_MS) * MS_US);
    check_hashes(sim);
    hc_sim_destroy(sim);
}
END_TEST

/// Copies every fourth datagram of a client, so that the copy arrives first, from a stranger.
static bool copy_first(void *context, struct hc_sim *sim, unsigned client, uint8_t *bytes,
                       size_t size) {
    unsigned *copies = context;
    (void)client;
    if (hc_datagram_kind(bytes, size) == HC_DATAGRAM_DATA && ++*copies % 4 == 0)
        hc_sim_inject(sim, client, 77, hc_sim_sealed(sim), size);
    return true;
}

START_TEST(copies_from_another_address_redirect_no_datagrams) {
    unsigned copies = 0;
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, 2, 50, 541);
    config.hooks.tamper = copy_first;
    config.context = &copies;
    struct hc_sim *sim = begin(&config);
    hc_sim_run(sim, 10 * SECOND_US);
    ck_assert_uint_gt(copies, 1000);
    ck_assert_uint_eq(host_stats(sim)->moved, 0);
    ck_assert_uint_eq(hc_sim_playing(sim), 2);
    for (unsigned c = 0; c < 2; c++)
        ck_assert_uint_eq(hc_client_stats(hc_sim_client(sim, c))->stalls, 0);
    // At most three bytes have answered one, and few datagrams in all.
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
    hc_server_set_keys(hc_sim_host(sim), ring);
    hc_sim_run(sim, SECOND_US);
    ck_assert_int_eq(hc_token_ring_use(ring), HC_OK);
    hc_server_set_keys(hc_sim_host(sim), ring);
}

START_TEST(a_client_that_plays_through_two_key_rotations_reconnects_with_its_newest_ticket) {
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, 3, 50, 550);
    struct hc_sim *sim = begin(&config);
    struct hc_token_ring ring = hc_endpoint_token_ring();
    rotate(sim, &ring, 201);
    hc_sim_run(sim, 2 * SECOND_US);
    rotate(sim, &ring, 202); // the first key is no longer accepted
    hc_sim_run(sim, 2 * SECOND_US);
    ck_assert_uint_eq(hc_sim_playing(sim), 3);
    set_blackout(sim, 0, true);
    hc_sim_run(sim, 20 * SECOND_US);
    set_blackout(sim, 0, false);
    hc_sim_run(sim, 2 * SECOND_US);
    ck_assert_uint_eq(events(sim, 0, HC_CLIENT_EVENT_RECONNECTED), 1);
    hc_sim_destroy(sim);
}
END_TEST

// ---- Messages -----------------------------------------------------------------------------------

/// The server answers every fourth message, because too many unacked ones would close the
/// connection.
enum { MESSAGES = 2400, ANSWERED = 4 };

/// Counts messages, up and down; they are numbered 0, 1, 2 and so on.
struct messages {
    uint32_t sent[2], received[2];
};

static void check_next(uint32_t *received, const uint8_t *message, size_t size) {
    uint32_t number;
    REQUIRE(size >= sizeof number, "a message of %zu bytes", size);
    memcpy(&number, message, sizeof number);
    REQUIRE(number == *received, "message %u came after %u others", number, *received);
    for (size_t i = sizeof number; i < size; i++)
        REQUIRE(message[i] == (uint8_t)number, "message %u came as another", number);
    ++*received;
}

static size_t put_next(uint32_t sent, uint8_t message[static HC_MESSAGE_SIZE_MAX]) {
    size_t size = sizeof sent + sent % 40;
    memset(message, (uint8_t)sent, size);
    memcpy(message, &sent, sizeof sent);
    return size;
}

static void exchange(struct hc_sim *sim, struct messages *messages) {
    struct hc_client *core = hc_sim_client(sim, 0);
    uint8_t message[HC_MESSAGE_SIZE_MAX];
    struct hc_server_message received;
    const uint8_t *message_in;
    size_t size;
    if (messages->sent[0] < MESSAGES)
        messages->sent[0] +=
            hc_client_send_message(core, message, put_next(messages->sent[0], message)) == HC_OK;
    while ((message_in = hc_client_next_message(core, &size)) != NULL)
        check_next(&messages->received[1], message_in, size);
    while ((message_in = hc_server_next_message(hc_sim_host(sim), &received)) != NULL) {
        check_next(&messages->received[0], message_in, received.size);
        if (messages->sent[1] * ANSWERED < messages->received[0] &&
            hc_server_send_message(hc_sim_host(sim), received.cid, message,
                                   put_next(messages->sent[1], message),
                                   hc_sim_host_now(sim)) == HC_OK)
            messages->sent[1]++;
    }
}

START_TEST(messages_arrive_once_and_in_order_across_lost_connections) {
    struct messages messages = {.sent = {0}};
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, 1, 80, 560);
    config.up.loss_ppm = config.down.loss_ppm = 250000;
    config.up.duplicate_ppm = config.down.duplicate_ppm = 250000;
    config.up.jitter_us = config.down.jitter_us = 70 * MS_US;
    config.host.timeout_us = config.client.timeout_us = 3 * SECOND_US;
    struct hc_sim *sim = hc_sim_create(&config);
    ck_assert(sim != NULL && hc_sim_connect(sim, 0));
    for (unsigned n = 0; n < 40000 && messages.received[1] < MESSAGES / ANSWERED; n++) {
        hc_sim_run(sim, 5 * MS_US);
        exchange(sim, &messages);
        if (n % 1500 == 300)
            set_blackout(sim, 0, true);
        if (n % 1500 == 300 + (n / 1500 % 2 == 0 ? 900 : 200)) // 4.5 s, or 1 s
            set_blackout(sim, 0, false);
    }
    printf("%u and %u messages, %lu losses of the connection, %lu resumed\n", messages.received[0],
           messages.received[1], (unsigned long)hc_client_stats(hc_sim_client(sim, 0))->losses,
           (unsigned long)host_stats(sim)->resumed);
    ck_assert_uint_eq(messages.received[0], MESSAGES);
    ck_assert_uint_eq(messages.received[1], MESSAGES / ANSWERED);
    ck_assert_uint_gt(host_stats(sim)->resumed, 0);
    hc_sim_destroy(sim);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("reconnect");
    TCase *tests = tcase_create("reconnect");
    tcase_add_test(tests, all_clients_of_a_restarted_server_play_again_within_two_seconds);
    tcase_add_test(tests, a_client_reconnects_repeatedly_and_no_key_seals_twice_with_one_nonce);
    tcase_add_test(tests, a_client_ignores_a_reset_without_its_connections_token);
    tcase_add_test(tests, resets_are_limited_for_each_address_and_in_total);
    tcase_add_test(tests, five_seconds_of_silence_are_only_a_stall);
    tcase_add_test(tests, a_client_has_its_players_again_after_a_longer_silence);
    tcase_add_test(tests,
                   a_client_that_is_silent_for_forty_seconds_loses_its_players_and_frees_its_slot);
    tcase_add_test(tests, another_process_of_the_same_user_takes_over_its_players);
    tcase_add_test(tests, a_client_loses_at_most_a_round_trip_at_each_change_of_address);
    tcase_add_test(tests, copies_from_another_address_redirect_no_datagrams);
    tcase_add_test(tests,
                   a_client_that_plays_through_two_key_rotations_reconnects_with_its_newest_ticket);
    tcase_add_test(tests, messages_arrive_once_and_in_order_across_lost_connections);
    suite_add_tcase(suite, tests);
    tcase_add_test(add_long_plays(suite),
                   a_household_below_its_limit_gets_in_and_is_back_at_once_after_a_restart);
    return run_suite(suite);
}
