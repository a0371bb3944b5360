/// A client whose build computes another world than the server says so, and leaves.
#include "tests/sim/players.h"

#include "hindcast/arena.h"
#include "tests/run_suite.h"

#include <string.h>

enum {
    CLIENTS = 3,
    LATENCY_MS = 30,
    RATE = 240,
    DIFFERS_FROM = 2000, ///< a tick that the match of hc_game_rule_hash does not reach
};

/// How the other build's players differ from a late tick on.
enum how { FARTHER, VANISHES };
static enum how how;

static bool step_other(struct hc_scene *scene, hc_entity self, void *out) {
    bool alive = hc_arena.step(scene, self, out);
    struct hc_arena_player *player = out;
    if (scene->world->kind_of[self] != HC_ARENA_KIND_PLAYER || scene->tick < DIFFERS_FROM)
        return alive;
    if (alive && how == FARTHER)
        player->x++;
    return alive && how == FARTHER;
}

/// The fate of the datagrams that the other build sends.
enum tampering { HONEST, LOSES_COMPARE, CLAIMS_VALUE, CLAIMS_ENTITY };

/// The desync events of each client, and the LEFT events of the server.
struct seen {
    enum how how;
    enum tampering tampering;
    unsigned desyncs[CLIENTS], left, tampered;
    struct hc_client_event desync; ///< the newest
    struct hc_server_event leave;  ///< the newest
};

/// Writes the CLOSE of a desync with another entity or value over that of a DATA; both are as long.
static void claim(uint8_t *datagram, size_t size, const struct hc_close *honest,
                  enum tampering tampering) {
    struct hc_close close = *honest;
    struct hc_writer writer =
        hc_bytes_writer(datagram + HC_DATA_BODY_AT, size - HC_DATA_BODY_AT - HC_TAG_SIZE);
    if (tampering == CLAIMS_ENTITY)
        close.desync.entity = HC_REFEREE;
    else
        close.desync.value ^= 1;
    ck_assert(hc_message_put_close(&writer, &close));
    ck_assert_uint_eq(writer.at, writer.size);
}

static bool tamper(void *context, struct hc_sim *sim, unsigned client, uint8_t *bytes,
                   size_t size) {
    static struct hc_body body;
    struct seen *seen = context;
    struct hc_data data;
    struct hc_close close;
    (void)sim;
    if (client != 0 || seen->tampering == HONEST ||
        hc_datagram_kind(bytes, size) != HC_DATAGRAM_DATA ||
        hc_datagram_get_data(bytes, size, &data) != HC_OK ||
        hc_body_begin(&body, data.body, data.body_size) != HC_OK)
        return true;
    bool asks = hc_body_next_of(&body, HC_MESSAGE_COMPARE) != HC_MESSAGE_END;
    seen->tampered += asks && seen->tampering == LOSES_COMPARE;
    if (asks && seen->tampering == LOSES_COMPARE)
        return false;
    hc_body_rewind(&body);
    if (hc_body_next_of(&body, HC_MESSAGE_CLOSE) == HC_MESSAGE_END ||
        hc_message_get_close(&body, &close) != HC_OK || close.reason != HC_CLOSE_DESYNC ||
        seen->tampering == LOSES_COMPARE)
        return true;
    seen->tampered++;
    claim(bytes, size, &close, seen->tampering);
    return true;
}

static void client_event(void *context, struct hc_sim *sim, unsigned client,
                         const struct hc_client_event *event) {
    struct seen *seen = context;
    (void)sim;
    if (event->kind != HC_CLIENT_EVENT_DESYNC)
        return;
    seen->desyncs[client]++;
    seen->desync = *event;
}

static void host_event(void *context, struct hc_sim *sim, const struct hc_server_event *event) {
    struct seen *seen = context;
    (void)sim;
    if (event->kind != HC_SERVER_EVENT_LEFT)
        return;
    seen->left++;
    seen->leave = *event;
}

static const struct hc_game *other_arena(void) {
    static struct hc_game other;
    other = hc_arena;
    other.step = step_other;
    other.step_run = NULL;
    return &other;
}

/// Client 0 has another build.
static struct hc_sim *begin(struct seen *seen, uint32_t latency_ms, bool stays) {
    how = seen->how;
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, CLIENTS, latency_ms, 81);
    config.host.tick_rate = RATE;
    config.hooks.client_event = client_event;
    config.hooks.host_event = host_event;
    config.hooks.tamper = tamper;
    config.context = seen;
    struct hc_sim *sim = hc_sim_create(&config);
    ck_assert_ptr_nonnull(sim);
    hc_sim_setup(sim, 0)->config.game = other_arena();
    hc_sim_setup(sim, 0)->config.stays_desynced = stays;
    ck_assert(hc_sim_connect_all(sim));
    hc_sim_run(sim, (DIFFERS_FROM - 100) * (uint64_t)SECOND_US / RATE);
    for (unsigned i = 0; i < CLIENTS; i++)
        ck_assert_int_eq(hc_client_state(hc_sim_client(sim, i)), HC_CLIENT_PLAYING);
    return sim;
}

START_TEST(a_client_with_another_step_and_its_server_name_the_difference) {
    struct seen seen = {.left = 0};
    ck_assert_uint_eq(hc_game_rule_hash(other_arena(), NULL), hc_game_rule_hash(&hc_arena, NULL));
    struct hc_sim *sim = begin(&seen, LATENCY_MS, false);
    hc_sim_run(sim, 2 * (uint64_t)SECOND_US);
    ck_assert_uint_eq(seen.desyncs[0], 1);
    ck_assert_uint_eq(seen.desyncs[1] + seen.desyncs[2], 0);
    const struct hc_difference *client = &seen.desync.difference, *server = &seen.leave.difference;
    ck_assert_uint_gt(client->tick, DIFFERS_FROM);
    ck_assert_uint_le(client->tick, DIFFERS_FROM + RATE / 10);
    ck_assert_uint_eq(seen.desync.tick, client->tick);
    ck_assert(client->compared);
    ck_assert_str_eq(client->kind->name, "player");
    ck_assert_str_eq(client->field->name, "x");
    // Its step moves a player by one unit more, from the baseline on.
    ck_assert_int_gt(client->client_value, client->server_value);
    ck_assert_int_lt(client->client_value, client->server_value + RATE / 10);
    ck_assert_int_eq(hc_client_state(hc_sim_client(sim, 0)), HC_CLIENT_CLOSED);
    ck_assert_int_eq(hc_sim_events(sim, 0)->last.kind, HC_CLIENT_EVENT_CLOSED);
    ck_assert_int_eq(hc_sim_events(sim, 0)->last.close, HC_CLOSE_DESYNC);
    ck_assert_uint_eq(seen.left, 1);
    ck_assert_int_eq(seen.leave.close, HC_CLOSE_DESYNC);
    ck_assert(server->compared && server->tick == client->tick && server->entity == client->entity);
    ck_assert(server->kind == client->kind && strcmp(server->field->name, "x") == 0);
    ck_assert_int_eq(server->client_value, client->client_value);
    ck_assert_int_eq(server->server_value, client->server_value);
    ck_assert_uint_eq(hc_server_stats(hc_sim_host(sim))->desyncs, 1);
    ck_assert_uint_eq(hc_server_clients(hc_sim_host(sim)), CLIENTS - 1);
    hc_sim_destroy(sim);
}
END_TEST

START_TEST(a_client_with_another_rule_of_death_names_the_presence) {
    struct seen seen = {.left = 0, .how = VANISHES};
    struct hc_sim *sim = begin(&seen, LATENCY_MS, false);
    hc_sim_run(sim, 2 * (uint64_t)SECOND_US);
    ck_assert_uint_eq(seen.desyncs[0], 1);
    const struct hc_difference *client = &seen.desync.difference, *server = &seen.leave.difference;
    ck_assert(client->compared && server->compared && client->field == NULL);
    ck_assert_str_eq(client->kind->name, "player");
    ck_assert_int_eq(client->client_value, HC_ABSENT);
    ck_assert_int_eq(client->server_value, HC_ALIVE);
    ck_assert(server->kind == client->kind && server->field == NULL);
    ck_assert_int_eq(server->client_value, HC_ABSENT);
    ck_assert_int_eq(server->server_value, HC_ALIVE);
    hc_sim_destroy(sim);
}
END_TEST

/// The question is lost for long enough that the server has forgotten the snapshot.
START_TEST(a_client_without_an_answer_names_a_suspect) {
    struct seen seen = {.left = 0, .tampering = LOSES_COMPARE};
    struct hc_sim *sim = begin(&seen, LATENCY_MS, false);
    hc_sim_run(sim, 3 * (uint64_t)SECOND_US);
    ck_assert_uint_eq(seen.desyncs[0], 1);
    ck_assert_uint_gt(seen.tampered, 5);
    const struct hc_difference *client = &seen.desync.difference, *server = &seen.leave.difference;
    ck_assert(!client->compared && !server->compared);
    ck_assert_str_eq(client->kind->name, "player");
    ck_assert_str_eq(client->field->name, "x");
    ck_assert(server->kind == client->kind && strcmp(server->field->name, "x") == 0);
    ck_assert_int_eq(server->client_value, 0);
    hc_sim_destroy(sim);
}
END_TEST

START_TEST(a_server_names_its_own_value_whatever_a_client_claims) {
    struct seen seen = {.left = 0, .tampering = CLAIMS_VALUE};
    struct hc_sim *sim = begin(&seen, LATENCY_MS, false);
    hc_sim_run(sim, 2 * (uint64_t)SECOND_US);
    ck_assert_uint_gt(seen.tampered, 0);
    const struct hc_difference *client = &seen.desync.difference, *server = &seen.leave.difference;
    ck_assert(server->compared && server->entity == client->entity);
    ck_assert_int_eq(server->client_value, client->client_value ^ 1);
    ck_assert_int_eq(server->server_value, client->server_value);
    hc_sim_destroy(sim);
}
END_TEST

START_TEST(a_server_names_no_value_of_an_entity_that_it_was_not_asked_for) {
    struct seen seen = {.left = 0, .tampering = CLAIMS_ENTITY};
    struct hc_sim *sim = begin(&seen, LATENCY_MS, false);
    hc_sim_run(sim, 2 * (uint64_t)SECOND_US);
    ck_assert_uint_gt(seen.tampered, 0);
    const struct hc_difference *server = &seen.leave.difference;
    ck_assert_int_eq(seen.leave.close, HC_CLOSE_DESYNC);
    ck_assert(!server->compared && server->entity == HC_REFEREE);
    ck_assert_int_eq(server->client_value, 0);
    ck_assert_int_eq(server->server_value, 0);
    hc_sim_destroy(sim);
}
END_TEST

START_TEST(a_client_that_stays_reports_its_desync_once) {
    struct seen seen = {.left = 0};
    struct hc_sim *sim = begin(&seen, LATENCY_MS, true);
    hc_sim_run(sim, 2 * (uint64_t)SECOND_US);
    ck_assert_uint_eq(seen.desyncs[0], 1);
    ck_assert(seen.desync.difference.compared);
    ck_assert_uint_eq(hc_client_stats(hc_sim_client(sim, 0))->desyncs, 1);
    ck_assert_uint_gt(hc_client_stats(hc_sim_client(sim, 0))->hash_mismatches, 3);
    ck_assert_uint_eq(seen.left, 0);
    ck_assert_uint_eq(hc_server_clients(hc_sim_host(sim)), CLIENTS);
    hc_sim_destroy(sim);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("desync");
    TCase *tests = tcase_create("desync");
    tcase_add_test(tests, a_client_with_another_step_and_its_server_name_the_difference);
    tcase_add_test(tests, a_client_with_another_rule_of_death_names_the_presence);
    tcase_add_test(tests, a_client_without_an_answer_names_a_suspect);
    tcase_add_test(tests, a_server_names_its_own_value_whatever_a_client_claims);
    tcase_add_test(tests, a_server_names_no_value_of_an_entity_that_it_was_not_asked_for);
    tcase_add_test(tests, a_client_that_stays_reports_its_desync_once);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
