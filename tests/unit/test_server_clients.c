/// Tests of the clients of a world: places, cids, ended connections, addresses and player slots.
#include "tests/unit/clients_rig.h"

static const struct hc_address home = {.ip = {[10] = 0xff, 0xff, 10, 0, 0, 1}, .port = 1};
static const struct hc_address elsewhere = {.ip = {[10] = 0xff, 0xff, 10, 0, 0, 2}, .port = 1};

static const struct hc_close left = {.reason = HC_CLOSE_LEFT};

static void set_up(void) {
    rig_create();
}

static void tear_down(void) {
    rig_destroy();
}

/// Ends the session of a client without CLOSE.
static void leave(struct hc_sv_peer *peer, uint64_t now_us) {
    hc_sv_players_leave(&clients.players, hc_sv_clients_place(&clients, peer),
                        peer->replication.own_count, peer->replication.own);
    hc_sv_clients_ended(&clients, peer, false, false, now_us);
    hc_sv_peer_end(peer, &left, false, now_us);
}

static unsigned count_taken(void) {
    unsigned count = 0;
    for (struct hc_sv_peer *peer = NULL; (peer = hc_sv_clients_next(&clients, peer)) != NULL;)
        count++;
    return count;
}

START_TEST(place_is_taken_until_the_tick_after_its_client_left) {
    struct hc_sv_peer *first = rig_join(1, 1, &home), *second = rig_join(2, 1, &elsewhere);
    ck_assert_uint_eq(count_taken(), 2);
    ck_assert_ptr_eq(hc_sv_clients_from(&clients, 1), second);
    leave(first, 0);
    ck_assert_uint_eq(count_taken(), 2);
    ck_assert_uint_eq(hc_sv_clients_connected_count(&clients), 1);
    hc_sv_clients_renew(&clients);
    ck_assert_uint_eq(count_taken(), 1);
    ck_assert_ptr_eq(hc_sv_clients_next(&clients, NULL), second);
    ck_assert(!hc_sv_clients_are_gone(&clients));
    leave(second, 0);
    ck_assert(hc_sv_clients_are_gone(&clients));
}
END_TEST

START_TEST(closing_client_with_the_fewest_closes_left_gives_its_place) {
    struct hc_sv_peer *peers[RIG_PLACES];
    uint8_t out[HC_DATAGRAM_MAX];
    for (unsigned i = 0; i < RIG_PLACES; i++)
        peers[i] = rig_join(1 + i, i < RIG_PLAYERS, &home);
    ck_assert_ptr_null(hc_sv_clients_find_free(&clients));
    hc_sv_peer_end(peers[2], &left, true, 0);
    hc_sv_peer_end(peers[4], &left, true, 0);
    ck_assert_uint_gt(hc_sv_peer_send_close(peers[4], out, 0), 0);
    ck_assert_ptr_eq(hc_sv_clients_find_free(&clients), peers[4]);
}
END_TEST

START_TEST(cid_finds_only_the_newest_connection) {
    struct hc_sv_peer *peer = rig_join(1, 1, &home);
    uint32_t cid = peer->connection.cid;
    ck_assert_ptr_eq(hc_sv_clients_of_cid(&clients, cid), peer);
    hc_sv_clients_ended(&clients, peer, false, true, 0);
    rig_connect(peer, 1, 99, &home, 0);
    ck_assert_ptr_null(hc_sv_clients_of_cid(&clients, cid));
    ck_assert_ptr_eq(hc_sv_clients_of_cid(&clients, peer->connection.cid), peer);
    ck_assert_ptr_null(hc_sv_clients_of_cid(&clients, UINT32_MAX));
    const struct hc_sv_ended *ended = hc_sv_clients_find_ended(&clients, cid, 0);
    ck_assert_ptr_nonnull(ended);
    ck_assert(ended->left);
}
END_TEST

START_TEST(cid_is_not_given_again_while_its_datagrams_may_arrive) {
    struct hc_sv_peer *peer = rig_join(1, 1, &home);
    uint64_t over_us = 2 * (uint64_t)HC_COOKIE_SLOT_US;
    ck_assert_uint_eq(hc_sv_clients_cid(&clients, peer, 0, 0), 0);
    ck_assert_uint_eq(hc_sv_clients_cid(&clients, peer, 1, 0), 0); // its present one
    leave(peer, 0);
    peer->connection.cid = 0;
    ck_assert_uint_eq(hc_sv_clients_cid(&clients, peer, 1, over_us - 1), 0);
    ck_assert_uint_ne(hc_sv_clients_cid(&clients, peer, 1, over_us), 0);
}
END_TEST

START_TEST(cid_of_a_match_shows_its_number) {
    struct hc_sv_peer *peer = hc_sv_clients_find_free(&clients);
    clients.config.match = 5;
    uint32_t cid = hc_sv_clients_cid(&clients, peer, UINT32_MAX, 0);
    ck_assert_uint_eq(cid >> HC_SERVER_CID_MATCH_AT, 5);
    ck_assert_uint_eq(cid & ((1 << HC_SV_MATCH_INDEX_BITS) - 1), 0);
}
END_TEST

START_TEST(late_connect_of_an_ended_attempt_is_known) {
    struct hc_sv_peer *peer = rig_join(1, 1, &home);
    uint8_t nonce[HC_NONCE_SIZE] = {1}, other[HC_NONCE_SIZE] = {2};
    ck_assert(!hc_sv_clients_has_ended(&clients, 1, nonce, 0));
    leave(peer, 0);
    ck_assert(hc_sv_clients_has_ended(&clients, 1, nonce, 0));
    ck_assert(!hc_sv_clients_has_ended(&clients, 1, other, 0));
    ck_assert(!hc_sv_clients_has_ended(&clients, 2, nonce, 0));
    ck_assert(!hc_sv_clients_has_ended(&clients, 1, nonce, 2 * (uint64_t)HC_COOKIE_SLOT_US));
}
END_TEST

START_TEST(attempt_whose_accept_was_lost_may_come_again) {
    uint8_t nonce[HC_NONCE_SIZE] = {1};
    hc_sv_clients_ended(&clients, rig_join(1, 1, &home), true, false, 0);
    ck_assert(!hc_sv_clients_has_ended(&clients, 1, nonce, 0));
}
END_TEST

START_TEST(user_is_found_while_its_session_lasts) {
    struct hc_sv_peer *peer = rig_join(1, 1, &home);
    rig_join(2, 1, &home);
    ck_assert_ptr_eq(hc_sv_clients_of_user(&clients, 1), peer);
    ck_assert_ptr_null(hc_sv_clients_of_user(&clients, 3));
    hc_sv_peer_lose(peer, 1000, 0);
    ck_assert_ptr_eq(hc_sv_clients_of_user(&clients, 1), peer);
    hc_sv_peer_end(peer, &left, false, 0);
    ck_assert_ptr_null(hc_sv_clients_of_user(&clients, 1));
    ck_assert_uint_eq(clients.search.matches, 3);
}
END_TEST

START_TEST(address_is_full_with_as_many_clients_as_allowed) {
    const struct hc_address other_port = {.ip = {[10] = 0xff, 0xff, 10, 0, 0, 1}, .port = 9};
    const struct hc_address loopback = hc_address_ipv4(127, 0, 0, 1, 1);
    struct hc_sv_peer *peer = rig_join(1, 1, &home);
    ck_assert(!hc_sv_clients_address_is_full(&clients, &home, NULL));
    rig_join(2, 1, &other_port);
    ck_assert(hc_sv_clients_address_is_full(&clients, &home, NULL));
    ck_assert(!hc_sv_clients_address_is_full(&clients, &home, peer));
    ck_assert(!hc_sv_clients_address_is_full(&clients, &elsewhere, NULL));
    hc_sv_clients_move(&clients, peer, &elsewhere);
    ck_assert(hc_address_equal(&peer->address, &elsewhere));
    ck_assert(!hc_sv_clients_address_is_full(&clients, &home, NULL));
    hc_sv_clients_move(&clients, peer, &loopback);
    rig_join(3, 1, &loopback);
    ck_assert(!hc_sv_clients_address_is_full(&clients, &loopback, NULL));
}
END_TEST

START_TEST(room_is_of_players_and_of_spectators) {
    struct hc_sv_peer *peer = rig_join(1, 2, &home);
    ck_assert(hc_sv_clients_have_room(&clients, NULL, 2, 0));
    ck_assert(!hc_sv_clients_have_room(&clients, NULL, 3, 0));
    ck_assert(hc_sv_clients_have_room(&clients, peer, 2, 0));
    ck_assert(hc_sv_clients_have_room(&clients, peer, 4, 0));
    ck_assert(!hc_sv_clients_have_room(&clients, NULL, 0, 0));
    ck_assert(hc_sv_clients_have_room(&clients, NULL, 0, 1));
    rig_join(2, 0, &home);
    ck_assert(!hc_sv_clients_have_room(&clients, NULL, 0, 1));
}
END_TEST

START_TEST(sessions_are_listed_with_their_state) {
    struct hc_server_session sessions[2];
    rig_join(1, 2, &home);
    hc_sv_peer_lose(rig_join(2, 1, &home), 1000, 0);
    leave(rig_join(3, 1, &home), 0);
    ck_assert_uint_eq(hc_sv_clients_sessions(&clients, NULL, 0), 2);
    ck_assert_uint_eq(hc_sv_clients_sessions(&clients, sessions, 2), 2);
    ck_assert_uint_eq(sessions[0].client_id, 1);
    ck_assert_uint_eq(sessions[0].player_count, 2);
    ck_assert(sessions[0].connected);
    ck_assert_uint_eq(sessions[1].client_id, 2);
    ck_assert(!sessions[1].connected);
}
END_TEST

START_TEST(next_owner_of_a_slot_joins_a_tick_after_the_leave) {
    struct hc_sv_players *players = &clients.players;
    hc_player found[HC_OWN_PLAYERS_MAX];
    struct hc_sv_peer *peer = rig_join(1, 1, &home);
    ck_assert_int_eq(hc_sv_players_stamp(players, 0, 10), HC_ROSTER_JOIN);
    ck_assert_int_eq(hc_sv_players_stamp(players, 0, 11), HC_ROSTER_NONE);
    ck_assert_uint_eq(players->slots[0].named, 11);
    ck_assert(hc_sv_clients_plays(&clients, peer, 0));
    leave(peer, 0);
    ck_assert(!hc_sv_clients_plays(&clients, peer, 0));
    ck_assert_uint_eq(hc_sv_players_find(players, RIG_PLAYERS, found), RIG_PLAYERS);
    hc_sv_players_assign(players, 3, 1, found);
    ck_assert_uint_eq(hc_sv_players_find(players, RIG_PLAYERS, found), RIG_PLAYERS - 1);
    ck_assert_int_eq(hc_sv_players_stamp(players, 0, 12), HC_ROSTER_LEAVE);
    ck_assert(!hc_sv_players_plays(players, 3, 0));
    ck_assert_int_eq(hc_sv_players_stamp(players, 0, 13), HC_ROSTER_JOIN);
    ck_assert(hc_sv_players_plays(players, 3, 0));
}
END_TEST

START_TEST(next_owner_that_leaves_first_never_joins) {
    struct hc_sv_players *players = &clients.players;
    const hc_player own[HC_OWN_PLAYERS_MAX] = {0};
    hc_sv_players_assign(players, 0, 1, own);
    hc_sv_players_stamp(players, 0, 0);
    hc_sv_players_leave(players, 0, 1, own);
    hc_sv_players_assign(players, 1, 1, own);
    hc_sv_players_leave(players, 1, 1, own);
    ck_assert_int_eq(hc_sv_players_stamp(players, 0, 1), HC_ROSTER_LEAVE);
    ck_assert_uint_eq(hc_sv_players_next(players, 0), RIG_PLAYERS);
    ck_assert_int_eq(hc_sv_players_stamp(players, 0, 2), HC_ROSTER_NONE);
}
END_TEST

START_TEST(npcs_take_the_highest_free_slots) {
    struct hc_sv_players *players = &clients.players;
    const uint8_t name[HC_TOKEN_NAME_SIZE] = "Ada";
    ck_assert_uint_eq(hc_sv_players_add_npc(players), RIG_PLAYERS - 1);
    rig_join(1, RIG_PLAYERS - 1, &home);
    ck_assert_uint_eq(hc_sv_players_add_npc(players), HC_NO_PLAYER);
    ck_assert_uint_eq(hc_sv_players_next(players, 0), 0);
    ck_assert(!hc_sv_players_has_npc(players, 0));
    ck_assert(!hc_sv_players_has_npc(players, RIG_PLAYERS));
    ck_assert(hc_sv_players_has_npc(players, RIG_PLAYERS - 1));
    hc_sv_players_name_npc(players, RIG_PLAYERS - 1, name, 5);
    ck_assert_str_eq((const char *)players->slots[RIG_PLAYERS - 1].npc_name, "Ada");
    ck_assert_uint_eq(players->slots[RIG_PLAYERS - 1].named, 5);
    ck_assert(!hc_sv_players_remove_npc(players, 0));
    ck_assert(hc_sv_players_remove_npc(players, RIG_PLAYERS - 1));
    ck_assert(!hc_sv_players_has_npc(players, RIG_PLAYERS - 1));
    ck_assert_int_eq(hc_sv_players_stamp(players, RIG_PLAYERS - 1, 1), HC_ROSTER_NONE);
    ck_assert_uint_eq(hc_sv_players_add_npc(players), RIG_PLAYERS - 1);
}
END_TEST

START_TEST(each_name_has_a_number_of_its_own) {
    struct hc_sv_players *players = &clients.players;
    hc_sv_players_named(players, 0, 3);
    uint32_t number = players->slots[0].name_number;
    hc_sv_players_named(players, 0, 3);
    ck_assert_uint_gt(players->slots[0].name_number, number);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("server_clients");
    TCase *tests = tcase_create("clients");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, place_is_taken_until_the_tick_after_its_client_left);
    tcase_add_test(tests, closing_client_with_the_fewest_closes_left_gives_its_place);
    tcase_add_test(tests, cid_finds_only_the_newest_connection);
    tcase_add_test(tests, cid_is_not_given_again_while_its_datagrams_may_arrive);
    tcase_add_test(tests, cid_of_a_match_shows_its_number);
    tcase_add_test(tests, late_connect_of_an_ended_attempt_is_known);
    tcase_add_test(tests, attempt_whose_accept_was_lost_may_come_again);
    tcase_add_test(tests, user_is_found_while_its_session_lasts);
    tcase_add_test(tests, address_is_full_with_as_many_clients_as_allowed);
    tcase_add_test(tests, room_is_of_players_and_of_spectators);
    tcase_add_test(tests, sessions_are_listed_with_their_state);
    tcase_add_test(tests, next_owner_of_a_slot_joins_a_tick_after_the_leave);
    tcase_add_test(tests, next_owner_that_leaves_first_never_joins);
    tcase_add_test(tests, npcs_take_the_highest_free_slots);
    tcase_add_test(tests, each_name_has_a_number_of_its_own);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
