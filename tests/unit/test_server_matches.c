/// Several matches of one port: servers that share nothing, and the placement of clients whose
/// token names no match.
#include "hindcast/arena.h"
#include "hindcast/client.h"
#include "hindcast/server.h"
#include "server/matches/placement.h"
#include "tests/run_suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { MATCHES = 3, CLIENTS = 16, STEP_US = 5000, SECOND_US = 1000000, LIFE_S = 60 };
#define UNIX_US (UINT64_C(1700000000) * SECOND_US)

static const uint8_t secret[HC_SERVER_SECRET_SIZE] = {1},
                     cookie_secret[HC_SERVER_SECRET_SIZE] = {2};
static struct hc_server_config config;
static struct hc_server *servers[MATCHES + 1]; ///< by match; 0: a server of its own
static struct hc_sv_placement *placement;
static uint64_t now_us;
static unsigned away;       ///< a match that the placement hears nothing of; 0: none
static unsigned overloaded; ///< a match whose ticks take too long; 0: none

/// A client at the port of its index.
static struct player {
    struct hc_client *client;
    struct hc_credential credential;
    bool alone;    ///< of server 0
    bool watching; ///< without players
    struct hc_client_event event;
    unsigned match; ///< where it joined; 0: none
} players[CLIENTS];

static void create_server(unsigned match, uint64_t seed, struct hc_server *after) {
    config.match = match;
    config.matches = match != 0 ? MATCHES : 0;
    config.cookie_secret = match != 0 ? cookie_secret : NULL;
    config.seed = seed;
    servers[match] = hc_server_create(&config, UNIX_US, now_us);
    ck_assert_ptr_nonnull(servers[match]);
    if (after != NULL)
        hc_server_follow(servers[match], after);
}

static void create_placement(void) {
    struct hc_sv_placement_config place = {
        .matches = MATCHES,
        .clients = config.clients,
        .players = config.clients,
        .spectators = config.spectators,
        .protocol_id = hc_datagram_protocol_id(&hc_arena, hc_game_rule_hash(&hc_arena, NULL)),
        .keys = config.keys,
        .hash_seed = 7};
    memcpy(place.cookie_secret, cookie_secret, sizeof place.cookie_secret);
    placement = hc_sv_placement_create(&place);
    ck_assert_ptr_nonnull(placement);
}

static void set_up(void) {
    now_us = 5 * SECOND_US;
    away = 0;
    overloaded = 0;
    config = hc_server_config_default();
    config.game = &hc_arena;
    config.clients = 2;
    config.keys.count = 1;
    config.keys.keys[0].key[0] = 1;
    config.secret = secret;
    create_placement();
    for (unsigned match = 0; match <= MATCHES; match++)
        create_server(match, 10 + match, NULL);
}

static void remove_client(struct player *player) {
    hc_client_destroy(player->client);
    *player = (struct player){.client = NULL};
}

static void tear_down(void) {
    for (unsigned i = 0; i < CLIENTS; i++)
        remove_client(&players[i]);
    for (unsigned match = 0; match <= MATCHES; match++)
        hc_server_destroy(servers[match]);
    hc_sv_placement_destroy(placement);
}

/// Issues a token, or a ticket, that names `match`.
static struct hc_credential issue_kind(enum hc_token_kind kind, unsigned match,
                                       uint64_t client_id) {
    static uint8_t number;
    struct hc_credential credential;
    struct hc_token token = {.kind = kind,
                             .players = 1,
                             .watch = true,
                             .issued_s = now_us / SECOND_US + UNIX_US / SECOND_US - 5,
                             .match = (uint16_t)match,
                             .client_id = client_id};
    hc_token_put_ticket_id(token.token_id, ++number, token.issued_s);
    uint8_t nonce[HC_TOKEN_NONCE_SIZE] = {number};
    token.expire_s = token.issued_s + LIFE_S;
    token.secret[0] = number;
    hc_token_seal(&config.keys.keys[0],
                  hc_datagram_protocol_id(&hc_arena, hc_game_rule_hash(&hc_arena, NULL)), &token,
                  nonce, credential.token);
    memcpy(credential.secret, token.secret, sizeof credential.secret);
    return credential;
}

/// Issues a token that names `match`.
static struct hc_credential issue(unsigned match, uint64_t client_id) {
    return issue_kind(HC_TOKEN_CONNECT, match, client_id);
}

/// Starts a client with `count` players in a free place.
static struct player *connect_players(const struct hc_credential *credential, bool alone,
                                      unsigned count) {
    struct hc_client_config client = hc_client_config_default();
    struct player *player = players;
    while (player->client != NULL)
        player++;
    ck_assert(player < players + CLIENTS);
    client.game = &hc_arena;
    client.credential = *credential;
    client.players = (uint8_t)count;
    *player = (struct player){.client = hc_client_create(&client, now_us),
                              .credential = *credential,
                              .alone = alone,
                              .watching = count == 0};
    return player;
}

/// The same with one player.
static struct player *connect_client(const struct hc_credential *credential, bool alone) {
    return connect_players(credential, alone, 1);
}

/// Polls the events of a match and gives the placement its sessions, as the daemon does.
static void poll_events(unsigned match) {
    struct hc_server_session sessions[CLIENTS];
    struct hc_server_event event;
    while (hc_server_poll_event(servers[match], &event)) {
        bool joined = event.kind == HC_SERVER_EVENT_JOINED;
        if (joined || event.kind == HC_SERVER_EVENT_RECONNECTED)
            players[event.address.port].match = match;
    }
    uint32_t count = hc_server_sessions(servers[match], sessions, CLIENTS);
    if (match != 0 && match != away)
        hc_sv_placement_set_match(placement, (uint16_t)match, sessions, count,
                                  hc_server_stats(servers[match])->overload.level >=
                                      HC_SERVER_OVERLOAD_REFUSE);
}

/// Gives a CONNECT to the match that its token names, or that the placement chooses.
static void give_connect(const struct hc_address *from, const uint8_t *bytes, size_t size,
                         uint16_t named) {
    struct hc_sv_placed placed = {.match = named};
    if (named == 0)
        hc_sv_placement_choose(placement, from, bytes, size, UNIX_US, now_us, &placed);
    unsigned match = placed.match != 0 ? placed.match : 1;
    (void)hc_sv_placement_give(&placed, servers[match], from, bytes, size, now_us);
    poll_events(match);
    hc_sv_placement_finish(placement, &placed);
}

/// Gives a client's datagram to the match that it is for: a HELLO to any.
static void give(const struct player *player, const uint8_t *bytes, size_t size) {
    struct hc_address from = hc_address_ipv4(127, 0, 0, 1, (uint16_t)(player - players));
    uint16_t match = hc_sv_placement_named(MATCHES, bytes, size);
    if (player->alone)
        (void)hc_server_receive(servers[0], &from, bytes, size, now_us);
    else if (hc_datagram_kind(bytes, size) == HC_DATAGRAM_CONNECT)
        give_connect(&from, bytes, size, match);
    else
        (void)hc_server_receive(servers[match != 0 ? match : 1 + bytes[16] % MATCHES], &from, bytes,
                                size, now_us);
}

/// The input of each client's user at each time.
static void press(struct player *player) {
    uint64_t draw = now_us / 100000 * 2654435761u;
    struct hc_arena_input input = {.move_x = (int8_t)(draw % 3 - 1),
                                   .move_y = (int8_t)(draw / 3 % 3 - 1),
                                   .aim = (uint8_t)(draw >> 8),
                                   .fire = (uint8_t)(draw >> 16 & 1)};
    if (!player->watching && hc_client_state(player->client) == HC_CLIENT_PLAYING)
        hc_client_set_input(player->client, 0, &input);
}

static void run_step(void) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct hc_address to;
    size_t size;
    for (struct player *player = players; player < players + CLIENTS; player++) {
        if (player->client == NULL)
            continue;
        press(player);
        hc_client_advance(player->client, now_us);
        while ((size = hc_client_send(player->client, bytes, now_us)) > 0)
            give(player, bytes, size);
    }
    for (unsigned match = 0; match <= MATCHES; match++) {
        hc_server_advance(servers[match], now_us);
        hc_server_note_work(servers[match], 0, 0, match == overloaded && match != 0 ? STEP_US : 0,
                            now_us);
        while ((size = hc_server_send(servers[match], &to, bytes, now_us)) > 0)
            if (players[to.port].client != NULL)
                (void)hc_client_receive(players[to.port].client, bytes, size, now_us);
        poll_events(match);
    }
    for (struct player *player = players; player < players + CLIENTS; player++)
        while (player->client != NULL && hc_client_poll_event(player->client, &player->event))
            ;
    now_us += STEP_US;
}

static void run(uint64_t us) {
    for (uint64_t end_us = now_us + us; now_us < end_us;)
        run_step();
}

/// A client with a token of no match, a second later.
static struct player *join(uint64_t client_id) {
    struct hc_credential credential = issue(0, client_id);
    struct player *player = connect_client(&credential, false);
    run(SECOND_US);
    return player;
}

START_TEST(match_plays_as_a_server_of_its_own) {
    // Match 1 is in a rewind storm, and match 2 busy. Match 3 has the seed and the secrets of a
    // server of its own, and the same inputs.
    hc_server_destroy(servers[1]);
    config.force_rewind = config.history;
    create_server(1, 11, NULL);
    config.force_rewind = 0;
    hc_server_destroy(servers[3]);
    hc_server_destroy(servers[0]);
    create_server(3, 5, NULL);
    create_server(0, 5, NULL);
    struct hc_credential credentials[] = {issue(1, 1), issue(2, 2), issue(3, 3), issue(0, 3)};
    for (unsigned i = 0; i < 4; i++)
        connect_client(&credentials[i], i == 3);
    hc_tick compared = 0;
    for (unsigned i = 0; i < 3 * SECOND_US / STEP_US; i++) {
        run_step();
        const struct hc_timeline *match = hc_server_timeline(servers[3]);
        const struct hc_timeline *alone = hc_server_timeline(servers[0]);
        hc_tick head = hc_timeline_head(match);
        ck_assert_uint_eq(head, hc_timeline_head(alone));
        for (hc_tick tick = hc_timeline_oldest(match); tick <= head; tick++)
            ck_assert_uint_eq(hc_timeline_hash(match, tick), hc_timeline_hash(alone, tick));
        compared = head;
    }
    ck_assert_uint_ge(compared, 100);
    const struct hc_server_stats *stats = hc_server_stats(servers[3]);
    ck_assert_uint_ge(stats->inputs_received, 100);
    ck_assert_uint_eq(stats->inputs_received, hc_server_stats(servers[0])->inputs_received);
    ck_assert_uint_eq(stats->snapshots, hc_server_stats(servers[0])->snapshots);
    ck_assert_uint_ge(hc_timeline_stats(hc_server_timeline(servers[1]))->resimulated_ticks, 1000);
}
END_TEST

START_TEST(token_admits_to_the_match_that_it_names_alone) {
    struct hc_credential credential = issue(2, 7);
    struct player *player = connect_client(&credential, false);
    run(SECOND_US);
    ck_assert_int_eq(hc_client_state(player->client), HC_CLIENT_PLAYING);
    ck_assert_uint_eq(player->match, 2);
    // A server that hosts one world takes no token of a match.
    credential = issue(2, 8);
    player = connect_client(&credential, true);
    run(SECOND_US);
    ck_assert_int_eq(player->event.kind, HC_CLIENT_EVENT_DENIED);
    ck_assert_int_eq(player->event.deny, HC_DENY_AUDIENCE);
}
END_TEST

START_TEST(clients_without_a_match_fill_one_match_after_the_other) {
    for (unsigned i = 0; i < MATCHES * 2; i++)
        ck_assert_uint_eq(join(100 + i)->match, 1 + i / 2);
    struct player *last = join(200);
    ck_assert_int_eq(last->event.kind, HC_CLIENT_EVENT_DENIED);
    ck_assert_int_eq(last->event.deny, HC_DENY_FULL);
    ck_assert_uint_eq(hc_sv_placement_most(placement), 2 * MATCHES);
}
END_TEST

START_TEST(spectators_watch_the_match_with_the_most_players_that_has_a_place_for_them) {
    ck_assert_uint_eq(config.spectators, 4);
    for (unsigned i = 0; i < 3; i++)
        ck_assert_uint_eq(join(100 + i)->match, 1 + i / 2);
    for (unsigned i = 0; i < 9; i++) {
        struct hc_credential credential = issue(0, 200 + i);
        struct player *watching = connect_players(&credential, false, 0);
        run(SECOND_US / 2);
        ck_assert_uint_eq(watching->match, 1 + i / 4);
    }
    ck_assert_uint_eq(join(103)->match, 2);
}
END_TEST

START_TEST(clients_that_connect_at_once_are_placed_where_each_finds_room) {
    struct player *joined[MATCHES * 2];
    unsigned counts[MATCHES + 1] = {0};
    for (unsigned i = 0; i < MATCHES * 2; i++) {
        struct hc_credential credential = issue(0, 300 + i);
        joined[i] = connect_client(&credential, false);
    }
    run(SECOND_US);
    for (unsigned i = 0; i < MATCHES * 2; i++) {
        ck_assert_int_eq(hc_client_state(joined[i]->client), HC_CLIENT_PLAYING);
        counts[joined[i]->match]++;
    }
    for (unsigned match = 1; match <= MATCHES; match++)
        ck_assert_uint_eq(counts[match], 2);
}
END_TEST

START_TEST(token_without_a_match_opens_one_session_in_one_match) {
    struct player *first = join(1);
    ck_assert_uint_eq(first->match, 1);
    (void)join(2);
    // Match 1 is full, but the token's session is there: its client takes its place again.
    struct hc_credential credential = first->credential;
    remove_client(first);
    run(2 * SECOND_US);
    struct player *again = connect_client(&credential, false);
    run(SECOND_US);
    ck_assert_int_eq(hc_client_state(again->client), HC_CLIENT_PLAYING);
    ck_assert_uint_eq(again->match, 1);
    // Once it has left, the token is used up, though other matches never saw it.
    hc_client_leave(again->client, now_us);
    run(SECOND_US);
    remove_client(again);
    again = connect_client(&credential, false);
    run(SECOND_US);
    ck_assert_int_eq(again->event.kind, HC_CLIENT_EVENT_DENIED);
    ck_assert_int_eq(again->event.deny, HC_DENY_USED);
}
END_TEST

/// Waits until the client is denied for `reason`.
static void await_denial(struct player *player, enum hc_deny_reason reason) {
    for (uint64_t end_us = now_us + SECOND_US;
         player->event.kind != HC_CLIENT_EVENT_DENIED && now_us < end_us;)
        run_step();
    ck_assert_int_eq(player->event.kind, HC_CLIENT_EVENT_DENIED);
    ck_assert_int_eq(player->event.deny, reason);
    remove_client(player);
}

START_TEST(token_whose_session_never_began_finds_room_in_another_match) {
    struct hc_credential credential = issue(0, 1);
    struct player *silent = connect_client(&credential, false);
    while (silent->match == 0)
        run_step();
    ck_assert_uint_eq(silent->match, 1);
    remove_client(silent); // its ACCEPT is lost
    run(config.timeout_us + SECOND_US);
    ck_assert_uint_eq(hc_server_stats(servers[1])->timeouts, 1);
    ck_assert_uint_eq(join(2)->match, 1);
    ck_assert_uint_eq(join(3)->match, 1);
    await_denial(connect_client(&credential, false), HC_DENY_FULL); // match 1 is
    struct player *again = connect_client(&credential, false);
    run(SECOND_US);
    ck_assert_uint_eq(again->match, 2);
    hc_client_leave(again->client, now_us);
    run(SECOND_US);
    remove_client(again);
    await_denial(connect_client(&credential, false), HC_DENY_USED);
}
END_TEST

START_TEST(denied_user_keeps_no_match_from_others) {
    const uint64_t banned = 666, greedy = 667;
    for (unsigned match = 1; match <= MATCHES; match++)
        ck_assert_int_eq(hc_server_set_refused(servers[match], &banned, 1, 0, now_us), HC_OK);
    for (unsigned i = 0; i < MATCHES * 2; i++) {
        struct hc_credential credential = issue(0, banned);
        await_denial(connect_client(&credential, false), HC_DENY_REFUSED);
        credential = issue(0, greedy); // for one player
        await_denial(connect_players(&credential, false, 2), HC_DENY_PLAYERS);
        credential = issue(0, 100 + i);
        struct player *honest = connect_client(&credential, false);
        run(SECOND_US / 4);
        ck_assert_uint_eq(honest->match, 1 + i / 2);
        run(2 * SECOND_US); // a user connects once a second
    }
}
END_TEST

/// The CONNECTs that the matches denied for this reason.
static uint64_t denials(enum hc_deny_reason reason) {
    uint64_t count = 0;
    for (unsigned match = 1; match <= MATCHES; match++)
        count += hc_server_stats(servers[match])->denials[reason].count;
    return count;
}

START_TEST(user_who_connects_too_often_is_denied_with_the_reason_and_gets_in_later) {
    for (unsigned i = 0; i < HC_CONNECTS_AT_ONCE; i++) {
        struct hc_credential credential = issue_kind(HC_TOKEN_RESUME, 0, 7);
        struct player *player = connect_client(&credential, false);
        run(SECOND_US / 20);
        ck_assert_uint_ne(player->match, 0);
        hc_client_leave(player->client, now_us);
        run(SECOND_US / 20);
        remove_client(player);
    }
    struct hc_credential credential = issue_kind(HC_TOKEN_RESUME, 0, 7);
    struct player *player = connect_client(&credential, false);
    run(SECOND_US);
    ck_assert_uint_eq(player->match, 0);
    ck_assert_uint_eq(denials(HC_DENY_RATE), 1);
    struct hc_client_attempt attempt = hc_client_attempt(player->client);
    ck_assert(attempt.denied && attempt.proven && attempt.deny == HC_DENY_RATE);
    run(3 * SECOND_US);
    ck_assert_int_eq(hc_client_state(player->client), HC_CLIENT_PLAYING);
    ck_assert_uint_eq(denials(HC_DENY_RATE), 1);
}
END_TEST

START_TEST(clients_go_to_another_match_while_one_is_overloaded) {
    ck_assert_uint_eq(join(1)->match, 1);
    overloaded = 1;
    run(20 * SECOND_US);
    ck_assert_int_eq(hc_server_stats(servers[1])->overload.level, HC_SERVER_OVERLOAD_REFUSE);
    ck_assert_uint_eq(join(2)->match, 2);
    overloaded = 0;
    run(60 * SECOND_US);
    ck_assert_uint_eq(join(3)->match, 1);
    ck_assert_uint_eq(hc_server_stats(servers[1])->denied, 0);
}
END_TEST

START_TEST(clients_go_to_another_match_while_one_is_away) {
    ck_assert_uint_eq(join(1)->match, 1);
    away = 1;
    hc_sv_placement_refuse(placement, 1);
    ck_assert_uint_eq(join(2)->match, 2);
    away = 0;
    run(SECOND_US);
    ck_assert_uint_eq(join(3)->match, 1);
}
END_TEST

START_TEST(user_with_another_token_returns_to_its_session) {
    ck_assert_uint_eq(join(8)->match, 1); // where a user without a session would be placed
    struct hc_credential credential = issue(3, 9);
    struct player *player = connect_client(&credential, false);
    run(SECOND_US);
    remove_client(player);
    run(2 * SECOND_US);
    ck_assert_uint_eq(join(9)->match, 3);
}
END_TEST

START_TEST(token_older_than_those_of_forgotten_users_is_denied_as_outdated) {
    uint64_t remembered = hc_sv_placement_remembered(placement).capacity;
    struct hc_credential old = issue(0, 1000);
    run(SECOND_US);
    for (uint64_t user = 1; user <= remembered; user++) {
        struct hc_credential credential = issue(0, user);
        struct player *player = connect_client(&credential, false);
        run(SECOND_US / 4);
        ck_assert_uint_eq(player->match, 1);
        hc_client_leave(player->client, now_us);
        run(SECOND_US / 4);
        remove_client(player);
    }
    ck_assert_uint_eq(hc_sv_placement_remembered(placement).users, remembered);
    (void)join(remembered + 1);
    ck_assert_uint_eq(hc_sv_placement_remembered(placement).forgotten, 1);
    await_denial(connect_client(&old, false), HC_DENY_OUTDATED);
    ck_assert_uint_ne(join(1000)->match, 0);
}
END_TEST

START_TEST(used_token_stays_used_in_the_next_world_of_its_match) {
    struct hc_credential credential = issue(2, 7);
    struct player *player = connect_client(&credential, false);
    run(SECOND_US);
    hc_client_leave(player->client, now_us);
    run(SECOND_US);
    remove_client(player);
    struct hc_server *before = servers[2];
    create_server(2, 99, before);
    hc_server_destroy(before);
    player = connect_client(&credential, false);
    run(SECOND_US);
    ck_assert_int_eq(player->event.kind, HC_CLIENT_EVENT_DENIED);
    ck_assert_int_eq(player->event.deny, HC_DENY_USED);
    credential = issue(2, 7);
    remove_client(player);
    player = connect_client(&credential, false);
    run(SECOND_US);
    ck_assert_int_eq(hc_client_state(player->client), HC_CLIENT_PLAYING);
}
END_TEST

START_TEST(token_of_another_configuration_admits_only_if_it_is_a_ticket) {
    static const struct {
        enum hc_token_kind kind;
        unsigned match;
        bool alone;
        unsigned joins; ///< the match, when it is admitted
        enum hc_deny_reason deny;
    } cases[] = {
        {HC_TOKEN_CONNECT, 0, true, 0, 0},
        {HC_TOKEN_CONNECT, 2, true, 0, HC_DENY_AUDIENCE},
        {HC_TOKEN_CONNECT, MATCHES + 1, true, 0, HC_DENY_AUDIENCE},
        {HC_TOKEN_RESUME, 0, true, 0, 0},
        {HC_TOKEN_RESUME, 2, true, 0, 0},
        {HC_TOKEN_RESUME, HC_MATCH_MAX, true, 0, 0},
        {HC_TOKEN_CONNECT, 0, false, 1, 0},
        {HC_TOKEN_CONNECT, 2, false, 2, 0},
        {HC_TOKEN_CONNECT, MATCHES + 1, false, 0, HC_DENY_AUDIENCE},
        {HC_TOKEN_RESUME, 0, false, 1, 0},
        {HC_TOKEN_RESUME, 2, false, 2, 0},
        {HC_TOKEN_RESUME, MATCHES + 1, false, 1, 0},
        {HC_TOKEN_RESUME, HC_MATCH_MAX, false, 1, 0},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct hc_credential credential = issue_kind(cases[i].kind, cases[i].match, 100 + i);
        for (unsigned again = 0; again < 2; again++) { // a token or ticket opens one session
            enum hc_deny_reason deny = again && cases[i].deny == 0 ? HC_DENY_USED : cases[i].deny;
            struct player *player = connect_client(&credential, cases[i].alone);
            run(SECOND_US);
            if (deny == 0) {
                ck_assert_msg(hc_client_state(player->client) == HC_CLIENT_PLAYING, "case %u", i);
                ck_assert_msg(player->match == cases[i].joins, "case %u", i);
            } else {
                ck_assert_msg(player->event.kind == HC_CLIENT_EVENT_DENIED, "case %u", i);
                ck_assert_msg(player->event.deny == deny, "case %u", i);
            }
            hc_client_leave(player->client, now_us);
            run(SECOND_US);
            remove_client(player);
        }
    }
}
END_TEST

/// Replaces all servers and the placement, as a program that is started again.
static void restart(void) {
    for (unsigned match = 0; match <= MATCHES; match++) {
        hc_server_destroy(servers[match]);
        create_server(match, 20 + match, NULL);
    }
    hc_sv_placement_destroy(placement);
    create_placement();
}

START_TEST(clients_play_on_when_a_restart_makes_many_matches_of_one_world_and_back) {
    struct player *clients[2];
    for (unsigned i = 0; i < 2; i++) {
        struct hc_credential credential = issue(0, 7 + i);
        clients[i] = connect_client(&credential, true);
    }
    run(SECOND_US);
    for (unsigned turn = 0; turn < 6; turn++) {
        restart();
        for (unsigned i = 0; i < 2; i++)
            clients[i]->alone = turn % 2 != 0;
        run(3 * SECOND_US);
        for (unsigned i = 0; i < 2; i++) {
            ck_assert_int_eq(hc_client_state(clients[i]->client), HC_CLIENT_PLAYING);
            ck_assert_uint_eq(clients[i]->match, turn % 2 == 0);
        }
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("matches");
    TCase *tests = tcase_create("matches");
    suite_add_tcase(suite, tests);
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, match_plays_as_a_server_of_its_own);
    tcase_add_test(tests, token_admits_to_the_match_that_it_names_alone);
    tcase_add_test(tests, clients_without_a_match_fill_one_match_after_the_other);
    tcase_add_test(tests,
                   spectators_watch_the_match_with_the_most_players_that_has_a_place_for_them);
    tcase_add_test(tests, clients_that_connect_at_once_are_placed_where_each_finds_room);
    tcase_add_test(tests, token_without_a_match_opens_one_session_in_one_match);
    tcase_add_test(tests, token_whose_session_never_began_finds_room_in_another_match);
    tcase_add_test(tests, denied_user_keeps_no_match_from_others);
    tcase_add_test(tests, user_who_connects_too_often_is_denied_with_the_reason_and_gets_in_later);
    tcase_add_test(tests, clients_go_to_another_match_while_one_is_overloaded);
    tcase_add_test(tests, clients_go_to_another_match_while_one_is_away);
    tcase_add_test(tests, user_with_another_token_returns_to_its_session);
    tcase_add_test(tests, token_older_than_those_of_forgotten_users_is_denied_as_outdated);
    tcase_add_test(tests, used_token_stays_used_in_the_next_world_of_its_match);
    tcase_add_test(tests, token_of_another_configuration_admits_only_if_it_is_a_ticket);
    tcase_add_test(tests, clients_play_on_when_a_restart_makes_many_matches_of_one_world_and_back);
    return run_suite(suite);
}
