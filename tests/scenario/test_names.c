/// Each client knows the right name of each player that it sees, whatever the network loses.
#include "tests/sim/players.h"

#include "hindcast/arena.h"
#include "hindcast/rng.h"
#include "tests/run_suite.h"

#include <stdio.h>
#include <string.h>

enum {
    CLIENTS = 24,
    SLOTS = 20,
    LIVES = 256,
    VIEW = 2400,
    NARROW_VIEW = 700,
    NAME = HC_TOKEN_NAME_SIZE + 1,
    PLENTY = 1000000, ///< bytes/s to a client
    LITTLE = 4000,
};

/// A player from its join to the next.
struct life {
    hc_tick joined;
    char name[NAME];
};

struct match {
    struct hc_sim *sim;
    struct life lives[SLOTS][LIVES];
    unsigned count[SLOTS];
    char next[SLOTS][NAME]; ///< the name of the slot's next life
    hc_tick scanned;        ///< roster changes before it are in `lives`
    bool hands_off;
    unsigned newest, former, foreign, left;
};

static void script(void *context, struct hc_sim *sim, unsigned client, unsigned index, hc_tick tick,
                   void *input) {
    const struct match *match = context;
    if (!match->hands_off)
        hc_sim_draw_keys(&hc_arena, hc_sim_config(sim)->seed, client, index, tick, input);
}

static void host_event(void *context, struct hc_sim *sim, const struct hc_server_event *event) {
    struct match *match = context;
    (void)sim;
    for (unsigned i = 0; event->kind == HC_SERVER_EVENT_JOINED && i < event->player_count; i++)
        memcpy(match->next[event->players[i]], event->name, sizeof event->name);
}

static void host_ticked(void *context, struct hc_sim *sim) {
    struct match *match = context;
    const struct hc_timeline *timeline = hc_server_timeline(hc_sim_host(sim));
    for (; match->scanned < hc_timeline_head(timeline); match->scanned++)
        for (hc_player p = 0; p < SLOTS; p++) {
            if (hc_timeline_roster(timeline, p, match->scanned) != HC_ROSTER_JOIN)
                continue;
            ck_assert_uint_lt(match->count[p], LIVES);
            struct life *life = &match->lives[p][match->count[p]++];
            life->joined = match->scanned;
            memcpy(life->name, match->next[p], NAME);
        }
}

/// The number of the player's life before `tick`, from 1 on; 0: none.
static unsigned life_at(const struct match *match, hc_player player, hc_tick tick) {
    unsigned life = match->count[player];
    while (life > 0 && match->lives[player][life - 1].joined >= tick)
        life--;
    return life;
}

/// The number of the player's life with this name, from 1 on; 0: none.
static unsigned life_named(const struct match *match, hc_player player, const char *name) {
    unsigned life = match->count[player];
    while (life > 0 && strcmp(match->lives[player][life - 1].name, name) != 0)
        life--;
    return life;
}

/// Whether the client sees the player in the newest state that it has received, at `*tick`.
static bool sees(const struct hc_client *client, hc_player player, hc_tick *tick) {
    const struct hc_timeline *timeline = hc_client_timeline(client);
    hc_tick as_of;
    hc_entity entity = hc_world_player(hc_client_world(client), player);
    return hc_client_snapshot(client, tick, &as_of) && *tick >= hc_timeline_oldest(timeline) &&
           hc_timeline_presence(timeline, *tick)[entity] == HC_ALIVE;
}

/// Whether the client has the server's state of the player at `tick`: it may not have heard yet
/// that the player has left, and then shows the former one.
static bool has_state(const struct match *match, const struct hc_client *client, hc_player player,
                      hc_tick tick) {
    const struct hc_world *world = hc_client_world(client);
    const struct hc_timeline *here = hc_client_timeline(client);
    const struct hc_timeline *there = hc_server_timeline(hc_sim_host(match->sim));
    hc_entity entity = hc_world_player(world, player);
    return tick >= hc_timeline_oldest(there) &&
           hc_timeline_presence(there, tick)[entity] == HC_ALIVE &&
           memcmp(hc_timeline_states(here, tick) + (size_t)entity * world->stride,
                  hc_timeline_states(there, tick) + (size_t)entity * world->stride,
                  hc_world_kind(world, entity)->state_size) == 0;
}

/// Counts names that no player of the slot had, and those of a former player beside a newer one.
static void client_changed(void *context, struct hc_sim *sim, unsigned index) {
    struct match *match = context;
    const struct hc_client *client = hc_sim_client(sim, index);
    hc_tick tick;
    for (hc_player p = 0; hc_client_world(client) != NULL && p < SLOTS; p++) {
        const char *name = hc_client_player_name(client, p);
        if (name == NULL)
            continue;
        unsigned life = life_named(match, p, name);
        match->foreign += life == 0;
        bool newest = sees(client, p, &tick) && has_state(match, client, p, tick);
        match->newest += newest;
        match->former += newest && life < life_at(match, p, tick);
    }
}

static void client_event(void *context, struct hc_sim *sim, unsigned client,
                         const struct hc_client_event *event) {
    struct match *match = context;
    (void)sim, (void)client;
    if (event->kind != HC_CLIENT_EVENT_PLAYER_LEFT || event->name[0] == 0)
        return;
    unsigned life = life_at(match, event->player, event->tick);
    match->left++;
    match->foreign += life == 0 || strcmp(match->lives[event->player][life - 1].name, event->name);
}

static void connect(struct match *match, unsigned client) {
    static unsigned number;
    snprintf(hc_sim_setup(match->sim, client)->name, HC_TOKEN_NAME_SIZE, "J\xc3\xbcrgen %u",
             ++number);
    ck_assert(hc_sim_connect(match->sim, client));
}

/// Connects, closes or kills a random client.
static void disturb(struct match *match, struct hc_rng *rng) {
    unsigned index = hc_rng_below(rng, CLIENTS);
    struct hc_client *client = hc_sim_client(match->sim, index);
    enum hc_client_state state = client == NULL ? HC_CLIENT_CLOSED : hc_client_state(client);
    if (state == HC_CLIENT_CLOSED)
        connect(match, index);
    else if (state != HC_CLIENT_CONNECTING && hc_rng_chance(rng, 200000))
        hc_sim_leave(match->sim, index);
    else if (hc_rng_chance(rng, 50000))
        hc_sim_kill(match->sim, index);
}

/// Begins a match whose clients are sent `rate` bytes a second each.
static void begin(struct match *match, const struct hc_game *game, uint64_t seed, uint32_t rate) {
    struct hc_sim_config config = hc_sim_config_players(game, CLIENTS, 60, seed);
    memset(match, 0, sizeof *match);
    config.up = config.down = hc_sim_link(60, 15);
    config.up.jitter_us = config.down.jitter_us = 50 * MS_US;
    config.host.clients = SLOTS;
    config.host.client_rate = rate;
    config.host.timeout_us = config.client.timeout_us = 2 * SECOND_US;
    config.host.linger_us = SECOND_US;
    config.context = match;
    config.hooks = (struct hc_sim_hooks){.script = script,
                                         .host_event = host_event,
                                         .host_ticked = host_ticked,
                                         .client_changed = client_changed,
                                         .client_event = client_event};
    match->sim = hc_sim_create(&config);
    ck_assert_ptr_nonnull(match->sim);
}

/// Counts the players that clients see, all of whose names must be known.
static unsigned check_all(const struct match *match) {
    unsigned known = 0;
    hc_tick tick;
    for (unsigned i = 0; i < CLIENTS; i++) {
        const struct hc_client *client = hc_sim_client(match->sim, i);
        if (client == NULL || hc_client_state(client) != HC_CLIENT_PLAYING)
            continue;
        for (hc_player p = 0; p < SLOTS; p++) {
            const char *name = hc_client_player_name(client, p);
            if (!sees(client, p, &tick))
                continue;
            ck_assert_ptr_nonnull(name);
            ck_assert_str_eq(name, match->lives[p][match->count[p] - 1].name);
            known++;
        }
    }
    return known;
}

/// Counts the names that clients keep of players that they do not see.
static unsigned count_kept(const struct match *match) {
    unsigned kept = 0;
    hc_tick tick;
    for (unsigned i = 0; i < CLIENTS; i++) {
        const struct hc_client *client = hc_sim_client(match->sim, i);
        if (client == NULL || hc_client_state(client) != HC_CLIENT_PLAYING)
            continue;
        for (hc_player p = 0; p < SLOTS; p++)
            kept += hc_client_player_name(client, p) != NULL && !sees(client, p, &tick);
    }
    return kept;
}

static void play_with_comings_and_goings(uint64_t seed, uint32_t view) {
    static struct match match;
    struct hc_game game = hc_arena;
    struct hc_rng rng = hc_rng_init(seed, 1);
    const struct hc_network_sim_config calm = hc_sim_link(60, 0);
    game.view = view;
    begin(&match, &game, seed, PLENTY);
    while (hc_sim_now(match.sim) < 20 * SECOND_US) {
        disturb(&match, &rng);
        hc_sim_run(match.sim, hc_rng_below(&rng, 120 * MS_US));
    }
    match.hands_off = true;
    for (unsigned i = 0; i < CLIENTS; i++)
        hc_sim_set_link(match.sim, i, &calm, &calm);
    hc_sim_run(match.sim, 5 * SECOND_US);
    unsigned known = check_all(&match), lives = 0;
    for (hc_player p = 0; p < SLOTS; p++)
        lives += match.count[p];
    printf("seed %lu: %u players in %u slots, %u names beside a state, %u former, %u foreign, %u "
           "of players "
           "that left, %u known at the end\n",
           (unsigned long)seed, lives, SLOTS, match.newest, match.former, match.foreign, match.left,
           known);
    ck_assert_uint_eq(match.former, 0);
    ck_assert_uint_eq(match.foreign, 0);
    ck_assert_uint_gt(match.newest, 10000);
    ck_assert_uint_gt(lives, 2 * SLOTS);
    ck_assert_uint_gt(match.left, 0);
    ck_assert_uint_gt(known, SLOTS);
    hc_sim_destroy(match.sim);
}

START_TEST(each_client_knows_the_right_name_of_each_player_that_it_sees) {
    play_with_comings_and_goings(1, VIEW);
    play_with_comings_and_goings(2, 0); // everything is in view
}
END_TEST

START_TEST(a_user_that_comes_back_under_another_name_is_known_by_it) {
    static struct match match;
    begin(&match, &hc_arena, 11, PLENTY);
    hc_sim_setup(match.sim, 0)->user = 7;
    connect(&match, 0);
    connect(&match, 1);
    hc_sim_run(match.sim, 2 * SECOND_US);
    hc_player player = hc_client_player(hc_sim_client(match.sim, 0), 0);
    hc_sim_kill(match.sim, 0);
    hc_sim_run(match.sim, 3 * (uint64_t)SECOND_US / 2);
    connect(&match, 0);
    hc_sim_run(match.sim, 2 * SECOND_US);
    const char *now = hc_sim_setup(match.sim, 0)->name;
    for (unsigned i = 0; i < 2; i++)
        ck_assert_str_eq(hc_client_player_name(hc_sim_client(match.sim, i), player), now);
    ck_assert_uint_eq(hc_client_player(hc_sim_client(match.sim, 0), 0), player);
    ck_assert_uint_eq(match.count[player], 1); // it never left
    hc_sim_destroy(match.sim);
}
END_TEST

/// Plays on links of which some are narrow now and then; returns the names that are kept once they
/// are calm.
static unsigned play_on_narrow_links(uint64_t seed) {
    static struct match match;
    const struct hc_network_sim_config calm = hc_sim_link(60, 0);
    struct hc_game game = hc_arena;
    struct hc_rng rng = hc_rng_init(seed, 1);
    game.view = NARROW_VIEW;
    begin(&match, &game, seed, LITTLE);
    while (hc_sim_now(match.sim) < 20 * SECOND_US) {
        struct hc_network_sim_config link = hc_sim_link(60, 15);
        link.bytes_per_s = hc_rng_chance(&rng, 500000) ? 0 : 2000;
        link.queue_us = SECOND_US;
        hc_sim_set_link(match.sim, hc_rng_below(&rng, CLIENTS), &link, &link);
        disturb(&match, &rng);
        hc_sim_run(match.sim, 200 * MS_US);
    }
    match.hands_off = true;
    for (unsigned i = 0; i < CLIENTS; i++)
        hc_sim_set_link(match.sim, i, &calm, &calm);
    hc_sim_run(match.sim, 5 * SECOND_US);
    unsigned kept = count_kept(&match);
    ck_assert_uint_gt(match.newest, 10000);
    hc_sim_destroy(match.sim);
    return kept;
}

START_TEST(a_client_on_a_congested_path_keeps_no_name_of_a_player_that_left_its_view) {
    unsigned kept = 0;
    for (uint64_t seed = 21; seed < 25; seed++)
        kept += play_on_narrow_links(seed);
    ck_assert_uint_eq(kept, 0);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("names");
    TCase *tests = tcase_create("names");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, a_user_that_comes_back_under_another_name_is_known_by_it);
    suite_add_tcase(suite, tests);
    TCase *long_plays = add_long_plays(suite);
    tcase_add_test(long_plays, each_client_knows_the_right_name_of_each_player_that_it_sees);
    tcase_add_test(long_plays,
                   a_client_on_a_congested_path_keeps_no_name_of_a_player_that_left_its_view);
    return run_suite(suite);
}
