/// Players cheat with inputs for the far future and past, with too many inputs, and with their
/// clocks.
#include "hindcast/arena.h"
#include "hindcast/check.h"
#include "hindcast/rng.h"
#include "tests/sim/raw_client.h"
#include "tests/attack/honest_players.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum {
    CLIENTS = 4,
    LATENCY_MS = 20,
    TICK_US = 16667,
    DELAY = 3, ///< an honest input's stamp is so many ticks ahead
    PORT = 700,
};

static const struct hc_timeline *timeline_of(const struct honest_players *players) {
    return hc_server_timeline(hc_sim_host(players->sim));
}

static hc_tick head_of(const struct honest_players *players) {
    return hc_timeline_head(timeline_of(players));
}

static const struct hc_server_stats *stats_of(const struct honest_players *players) {
    return hc_server_stats(hc_sim_host(players->sim));
}

/// The compared figures of two runs.
struct outcome {
    hc_tick head, final;
    uint64_t chain, hash;
    uint64_t distance; ///< distance that the cheat's player has moved, units
};

static void look(const struct honest_players *players, struct outcome *outcome) {
    outcome->head = head_of(players);
    outcome->final = hc_sv_host_final(hc_sim_host(players->sim), &outcome->chain);
    outcome->hash = hc_timeline_hash(timeline_of(players), outcome->head);
}

static bool same(const struct outcome *a, const struct outcome *b) {
    return a->head == b->head && a->final == b->final && a->chain == b->chain && a->hash == b->hash;
}

// ---- A cheat, played by hand beside honest clients ----------------------------------------------

/// Keys of a player that always runs, and changes its direction every 15 ticks.
static const void *keys_at(hc_tick tick) {
    static const int8_t directions[8][2] = {{1, 0},  {1, 1},   {0, 1},  {-1, 1},
                                            {-1, 0}, {-1, -1}, {0, -1}, {1, -1}};
    static struct hc_arena_input keys;
    const int8_t *direction = directions[tick / 15 % 8];
    keys = (struct hc_arena_input){.move_x = direction[0], .move_y = direction[1]};
    return &keys;
}

/// The first tick of a run of inputs, and whether their directions are reversed.
struct source {
    hc_tick first;
    bool contrary;
};

static const void *source_keys(void *context, uint32_t index, uint32_t player) {
    const struct source *source = context;
    (void)player;
    return keys_at(source->first + index + (source->contrary ? 60 : 0));
}

struct walk {
    struct attack *attack;
    struct honest_players *players;
    struct raw_client raw;
    hc_tick next; ///< stamp
    uint64_t distance;
    int64_t x, y;
    bool seen;
};

static struct walk walk_begin(struct attack *attack, uint64_t seed) {
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, CLIENTS, LATENCY_MS, seed);
    config.host.clients = (uint16_t)(config.clients + 1);
    struct walk walk = {.attack = attack, .players = honest_create(&config)};
    honest_join_all(attack, walk.players);
    honest_admit(attack, walk.players, &walk.raw, PORT, 7, 7);
    walk.next = walk.raw.welcome.tick + 1;
    return walk;
}

static enum hc_status send_input(struct walk *walk, struct hc_input_message message,
                                 bool contrary) {
    struct source source = {.first = message.first, .contrary = contrary};
    return raw_client_send_input(&walk->raw, message, source_keys, &source,
                                 hc_sim_host_now(walk->players->sim));
}

/// Sends all inputs from the last one sent up to `ahead` ticks after the head.
static void send_honest_inputs(struct walk *walk, hc_tick ahead) {
    hc_tick head = head_of(walk->players), last = head + ahead;
    struct hc_input_message message = {.client_tick = head,
                                       .force_before = walk->raw.welcome.tick,
                                       .first = walk->next,
                                       .count = last + 1 - walk->next};
    if (last < walk->next)
        return;
    attack_require(walk->attack, send_input(walk, message, false) == HC_OK, "an input is refused");
    walk->next = last + 1;
}

/// Adds the distance that a player has moved in the newest tick, unless it respawned.
static void measure(const struct honest_players *players, hc_player player, uint64_t *distance,
                    int64_t *x, int64_t *y, bool *seen) {
    enum { LEAP = HC_ARENA_RUN_SPEED / 6 };
    const struct hc_world *world = hc_client_world(hc_sim_client(players->sim, 1));
    const struct hc_timeline *timeline = timeline_of(players);
    hc_entity entity = hc_world_player(world, player);
    int64_t now_x = 0, now_y = 0;
    if (hc_timeline_presence(timeline, head_of(players))[entity] != HC_ALIVE)
        return;
    const uint8_t *state =
        hc_timeline_states(timeline, head_of(players)) + (size_t)entity * world->stride;
    hc_world_position(world, entity, state, &now_x, &now_y);
    int64_t gone = llabs(now_x - *x) + llabs(now_y - *y);
    if (*seen && gone < LEAP)
        *distance += (uint64_t)gone;
    *x = now_x;
    *y = now_y;
    *seen = true;
}

static void step(struct walk *walk) {
    hc_sim_run(walk->players->sim, TICK_US);
    measure(walk->players, walk->raw.welcome.own[0], &walk->distance, &walk->x, &walk->y,
            &walk->seen);
}

static void walk_end(struct walk *walk, struct outcome *outcome) {
    look(walk->players, outcome);
    outcome->distance = walk->distance;
    honest_require_unharmed(walk->attack, walk->players, CLIENTS);
    honest_destroy(walk->players);
}

// ---- Future inputs ------------------------------------------------------------------------------

/// Sends inputs beyond the future limit, from the nearest to the farthest tick.
static void send_future_inputs(struct walk *walk, unsigned n) {
    static const hc_tick far[] = {1, 2, 63, 64, 65, 512, 4096, 1 << 20};
    uint32_t future = walk->raw.welcome.future;
    hc_tick head = head_of(walk->players), beyond = head + future;
    struct hc_input_message message = {.client_tick = head, .force_before = walk->raw.welcome.tick};
    message.first = n % 16 < 8    ? beyond + far[n % 8]
                    : n % 16 < 12 ? (UINT32_C(1) << 31) - 2 + n % 4
                                  : UINT32_MAX - 520 - n % 4;
    message.count = n % 3 == 0 ? 1 : n % 3 == 1 ? 64 : HC_INPUT_RUN_MAX;
    if (n % 5 == 0)
        message.client_tick = n % 2 == 0 ? message.first : UINT32_MAX - 1;
    if (n % 7 == 0)
        message.display_offset = HC_HISTORY_MAX;
    uint64_t before = stats_of(walk->players)->inputs_received;
    send_input(walk, message, n % 2 == 0);
    walk->attack->tries += message.count;
    walk->attack->accepted += stats_of(walk->players)->inputs_received - before;
}

static void play_future(struct attack *attack, bool bombs, struct outcome *outcome) {
    enum { TICKS = 900 };
    struct walk walk = walk_begin(attack, 51);
    for (unsigned n = 0; n < TICKS; n++) {
        step(&walk);
        send_honest_inputs(&walk, DELAY);
        if (bombs)
            send_future_inputs(&walk, n);
        else
            raw_client_send_data(&walk.raw, NULL, 0, hc_sim_host_now(walk.players->sim));
    }
    walk_end(&walk, outcome);
}

void attack_future(struct attack *attack) {
    struct outcome honest, bombed;
    play_future(attack, false, &honest);
    play_future(attack, true, &bombed);
    attack_require(attack, same(&honest, &bombed), "the world is another one");
    attack_effect(attack, "the world of %d others is the same, tick by tick, up to %u", CLIENTS,
                  bombed.head);
    attack_require_none(attack, 100000);
}

static uint64_t sanitized;

static void count_and_sanitize(void *input) {
    sanitized++;
    hc_arena.sanitize_input(input);
}

void attack_saved_inputs(struct attack *attack) {
    enum { USERS = 16, SAVED = 240 };
    struct hc_game game = hc_arena;
    game.sanitize_input = count_and_sanitize;
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, CLIENTS, LATENCY_MS, 62);
    config.host.clients = (uint16_t)(config.clients + USERS);
    config.host.game = config.client.game = &game;
    struct honest_players *players = honest_create(&config);
    struct raw_client users[USERS];
    honest_join_all(attack, players);
    for (unsigned u = 0; u < USERS; u++)
        honest_admit(attack, players, &users[u], (uint16_t)(PORT + u), 100 + u, 7);
    hc_sim_run(players->sim, SECOND_US);
    sanitized = 0;
    uint64_t taken = 0, inputs = stats_of(players)->inputs_received;
    for (unsigned n = 0; n < SAVED * USERS; n++) {
        struct source source = {.first = head_of(players) + 1 + n / USERS};
        struct hc_input_message message = {
            .client_tick = head_of(players), .first = source.first, .count = HC_INPUT_RUN_MAX};
        taken += raw_client_send_input(&users[n % USERS], message, source_keys, &source,
                                       hc_sim_host_now(players->sim)) == HC_OK;
        attack->tries += HC_INPUT_RUN_MAX;
    }
    inputs = stats_of(players)->inputs_received - inputs;
    uint64_t most = USERS * users[0].welcome.future;
    attack_require(attack, inputs == most, "%llu inputs are taken", (unsigned long long)inputs);
    attack_require(attack, sanitized == most, "%llu inputs are sanitized",
                   (unsigned long long)sanitized);
    attack_require(attack, taken <= USERS * (HC_FLOOD_DATAGRAMS * 60 / 2 + 1),
                   "%llu datagrams are taken", (unsigned long long)taken);
    attack_effect(attack, "%llu of %d datagrams are taken, and %llu inputs sanitized",
                  (unsigned long long)taken, SAVED * USERS, (unsigned long long)sanitized);
    honest_require_unharmed(attack, players, CLIENTS);
    honest_destroy(players);
    attack_require_none(attack, 1000000);
}

// ---- Speed --------------------------------------------------------------------------------------

enum speed {
    SPEED_HONEST,
    SPEED_AHEAD,    ///< three stamps in each tick
    SPEED_CONTRARY, ///< three inputs for each stamp
    SPEED_AGAIN,    ///< inputs for ticks that had theirs
    SPEEDS
};

static void send_too_many(struct walk *walk, enum speed speed) {
    hc_tick head = head_of(walk->players);
    struct hc_input_message message = {.client_tick = head, .force_before = walk->raw.welcome.tick};
    if (speed == SPEED_AHEAD && walk->next + 2 <= head + walk->raw.welcome.future) {
        send_honest_inputs(walk, walk->next + 2 - head);
        walk->attack->tries += 3;
        return;
    }
    send_honest_inputs(walk, DELAY);
    for (unsigned i = 0; i < 2 && (speed == SPEED_CONTRARY || speed == SPEED_AGAIN); i++) {
        message.first = speed == SPEED_CONTRARY ? walk->next - 1 : head - 20 - i;
        message.count = speed == SPEED_CONTRARY ? 1 : 20;
        if (message.first < message.force_before)
            message.force_before = message.first;
        uint64_t before = stats_of(walk->players)->inputs_received;
        send_input(walk, message, true);
        walk->attack->tries += message.count;
        walk->attack->accepted += stats_of(walk->players)->inputs_received - before;
    }
}

static void play_speed(struct attack *attack, enum speed speed, struct outcome *outcome) {
    enum { TICKS = 600 };
    struct walk walk = walk_begin(attack, 52);
    for (unsigned n = 0; n < TICKS; n++) {
        step(&walk);
        send_too_many(&walk, speed);
    }
    walk_end(&walk, outcome);
}

void attack_speed(struct attack *attack) {
    struct outcome outcomes[SPEEDS];
    double most = 0;
    for (enum speed speed = 0; speed < SPEEDS; speed++)
        play_speed(attack, speed, &outcomes[speed]);
    attack_require(attack, outcomes[SPEED_HONEST].distance > 5 * HC_ARENA_RUN_SPEED,
                   "the honest one hardly moves");
    for (enum speed speed = SPEED_AHEAD; speed < SPEEDS; speed++) {
        double ratio = (double)outcomes[speed].distance / (double)outcomes[SPEED_HONEST].distance;
        most = ratio > most ? ratio : most;
    }
    attack_require(attack, most <= 1.02, "a cheat goes %.3f times as far", most);
    attack_effect(attack, "the farthest goes %.3f times as far as an honest one, in 10 s", most);
    attack_require_none(attack, 10000);
}

// ---- The past -----------------------------------------------------------------------------------

enum { LATE_MARGIN = 2 }; ///< ticks

struct lag {
    struct attack *attack;
    uint32_t allowed, deepest; ///< rewinds, ticks
    bool measures;
};

static void note_rewind(void *context, struct hc_sim *sim) {
    struct lag *lag = context;
    const struct hc_timeline *timeline = hc_server_timeline(hc_sim_host(sim));
    uint32_t depth = (uint32_t)hc_timeline_stats(timeline)->depth;
    if (!lag->measures || depth == 0)
        return;
    lag->deepest = depth > lag->deepest ? depth : lag->deepest;
    attack_try(lag->attack, lag->allowed != 0 && depth > lag->allowed);
}

/// Plays 20 s with a client 80 ms away that, if it `chokes`, delays its datagrams for 500 ms of
/// every 2 s. The others are so near that they never cause a rewind. Returns the deepest rewind.
static uint32_t play_lag(struct attack *attack, uint32_t late_margin, bool chokes,
                         uint32_t allowed) {
    enum { FAR_MS = 80, ROUNDS = 10, CHOKE_MS = 500 };
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, CLIENTS, LATENCY_MS, 53);
    struct hc_network_sim_config away = hc_network_sim_config_default(), choked;
    struct lag lag = {.attack = attack, .allowed = allowed};
    config.host.late_margin = late_margin;
    struct honest_players *players = honest_create(&config);
    hc_sim_observe(players->sim, &(struct hc_sim_hooks){.host_ticked = note_rewind}, &lag);
    away.latency_us = FAR_MS * MS_US;
    choked = away;
    choked.loss_ppm = HC_NETWORK_SIM_PPM; // the next datagram carries the delayed inputs
    hc_sim_set_link(players->sim, 0, &away, &away);
    honest_join_all(attack, players);
    hc_sim_run(players->sim, SECOND_US);
    lag.measures = true;
    for (unsigned i = 0; i < ROUNDS; i++) {
        if (chokes)
            hc_sim_set_link(players->sim, 0, &choked, NULL);
        hc_sim_run(players->sim, CHOKE_MS * MS_US);
        hc_sim_set_link(players->sim, 0, &away, &away);
        hc_sim_run(players->sim, 2 * SECOND_US - CHOKE_MS * MS_US);
    }
    honest_require_unharmed(attack, players, 0);
    honest_destroy(players);
    return lag.deepest;
}

void attack_lag_switch(struct attack *attack) {
    enum { ROUND_TRIP = 10 }; // of 2 * 80 ms, ticks, rounded up
    uint32_t honest = play_lag(attack, HC_HISTORY_MAX, false, 0);
    uint32_t unbound = play_lag(attack, HC_HISTORY_MAX, true, 0);
    attack->tries = attack->accepted = 0;
    uint32_t bound = play_lag(attack, LATE_MARGIN, true, honest + LATE_MARGIN + 2);
    attack_require(attack, honest <= ROUND_TRIP, "an honest one rewinds %u ticks", honest);
    attack_require(attack, unbound > 20, "there is nothing to gain");
    attack_effect(attack, "deepest rewind %u ticks (honest %u, round trip %d; with W alone %u)",
                  bound, honest, ROUND_TRIP, unbound);
    attack_require_none(attack, 100);
}

/// Sends inputs for ticks that are final.
static void send_ancient_inputs(struct walk *walk, unsigned n) {
    static const hc_tick ago[] = {66, 70, 100, 500, 1000};
    hc_tick head = head_of(walk->players), back = ago[n % 5];
    struct hc_input_message message = {.client_tick = n % 2 == 0 ? hc_tick_back(head, 1000) : head,
                                       .display_offset = n % 3 == 0 ? HC_HISTORY_MAX : 0,
                                       .ack_delay_us = n % 4 == 0 ? HC_ACK_DELAY_MAX_US : 0,
                                       .first = hc_tick_back(head, back)};
    hc_tick oldest = head - walk->raw.welcome.history;
    message.count = oldest - message.first;
    if (message.count > HC_INPUT_RUN_MAX)
        message.count = HC_INPUT_RUN_MAX;
    uint64_t before = stats_of(walk->players)->inputs_received;
    send_input(walk, message, true);
    walk->attack->tries += message.count;
    walk->attack->accepted += stats_of(walk->players)->inputs_received - before;
}

static void play_ancient(struct attack *attack, bool claims, struct outcome *outcome) {
    enum { TICKS = 1500, OLD = 1100 };
    struct walk walk = walk_begin(attack, 54);
    for (unsigned n = 0; n < TICKS; n++) {
        step(&walk);
        if (n < OLD || !claims)
            raw_client_send_data(&walk.raw, NULL, 0, hc_sim_host_now(walk.players->sim));
        else
            send_ancient_inputs(&walk, n);
    }
    look(walk.players, outcome);
    // The server has forced all inputs of the cheat, which sent none of its own.
    for (unsigned i = 0; i < CLIENTS; i++)
        attack_require(attack,
                       hc_client_stats(hc_sim_client(walk.players->sim, i))->inputs_forced == 0,
                       "client %u lost inputs", i);
    honest_require_unharmed(attack, walk.players, CLIENTS + 1);
    honest_destroy(walk.players);
}

void attack_ancient(struct attack *attack) {
    struct outcome honest, claimed;
    play_ancient(attack, false, &honest);
    play_ancient(attack, true, &claimed);
    attack_require(attack, same(&honest, &claimed), "the world is another one");
    attack_effect(attack, "the world of %d others is the same, tick by tick, up to %u", CLIENTS,
                  claimed.head);
    attack_require_none(attack, 50000);
}

// ---- Clocks -------------------------------------------------------------------------------------

#define DAY_US (UINT64_C(86400) * SECOND_US)

struct clocked {
    struct honest_players *players;
    uint64_t trace; ///< of all that the server received and did, with times
    uint64_t datagrams;
    uint64_t distance; ///< of client 0's player
    int64_t x, y;
    bool seen;
    uint64_t others; ///< hash of the heads and their times
};

static void mix(uint64_t *trace, const void *bytes, size_t size) {
    *trace = XXH64(bytes, size, *trace);
}

/// Handshakes depend on the clock, so only their sizes and kinds are mixed in.
static void mix_datagram(struct clocked *clocked, const uint8_t *opened, size_t size) {
    bool drawn = hc_datagram_kind(opened, size) != HC_DATAGRAM_DATA;
    mix(&clocked->trace, &size, sizeof size);
    mix(&clocked->trace, opened, drawn ? 1 : size);
    clocked->datagrams++;
}

static void trace_received(void *context, struct hc_sim *sim, unsigned client, uint16_t port,
                           const uint8_t *opened, size_t size, enum hc_status status) {
    struct clocked *clocked = context;
    uint64_t now = hc_sim_now(sim);
    (void)client, (void)port;
    mix(&clocked->trace, &now, sizeof now);
    mix(&clocked->trace, &status, sizeof status);
    mix_datagram(clocked, opened, size);
}

static void trace_sent(void *context, struct hc_sim *sim, unsigned client, const uint8_t *opened,
                       size_t size) {
    (void)sim, (void)client;
    mix_datagram(context, opened, size);
}

static void trace_tick(void *context, struct hc_sim *sim) {
    struct clocked *clocked = context;
    struct honest_players *players = clocked->players;
    hc_tick head = head_of(players);
    uint64_t hash = hc_timeline_hash(timeline_of(players), head), now = hc_sim_now(sim);
    mix(&clocked->trace, &hash, sizeof hash);
    mix(&clocked->others, &head, sizeof head);
    mix(&clocked->others, &now, sizeof now);
    hc_player player = hc_client_player(hc_sim_client(players->sim, 0), 0);
    if (hc_sim_playing(players->sim) > 0 && player != HC_NO_PLAYER &&
        hc_client_world(hc_sim_client(players->sim, 1)) != NULL)
        measure(players, player, &clocked->distance, &clocked->x, &clocked->y, &clocked->seen);
}

/// Client 0 always runs.
static void run_about(void *context, struct hc_sim *sim, unsigned client, unsigned index,
                      hc_tick tick, void *input) {
    (void)context, (void)sim, (void)index;
    if (client == 0)
        memcpy(input, keys_at(tick), sizeof(struct hc_arena_input));
}

/// The delays are fixed: with others its inputs would be late, and corrections of the head, which
/// move a player to and fro, would count as its way.
static struct clocked play_clock(struct attack *attack, uint64_t offset_us, int32_t ppm,
                                 bool shared) {
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, CLIENTS, LATENCY_MS, 55);
    hc_sim_fix_delays(&config.client, 3, 0);
    struct honest_players *players = honest_create(&config);
    static struct clocked clocked;
    clocked = (struct clocked){.players = players, .trace = 1};
    hc_sim_observe(players->sim,
                   &(struct hc_sim_hooks){.host_ticked = trace_tick,
                                          .host_received = trace_received,
                                          .host_sent = trace_sent,
                                          .script = run_about},
                   &clocked);
    hc_sim_setup(players->sim, 0)->clock_offset_us = offset_us;
    hc_sim_setup(players->sim, 0)->clock_ppm = ppm;
    attack_require(attack, hc_sim_connect_all(players->sim), "no memory");
    hc_sim_run(players->sim, 15 * SECOND_US);
    honest_require_unharmed(attack, players, shared ? CLIENTS : 0);
    honest_destroy(players);
    return clocked;
}

void attack_clock_day(struct attack *attack) {
    struct clocked honest = play_clock(attack, 2 * DAY_US, 0, true);
    struct clocked behind = play_clock(attack, DAY_US, 0, true);
    struct clocked ahead = play_clock(attack, 3 * DAY_US, 0, true);
    attack->tries = behind.datagrams + ahead.datagrams;
    attack->accepted = (uint64_t)(honest.trace != behind.trace) + (honest.trace != ahead.trace);
    attack_effect(attack, "a day behind and a day ahead: all that the server does is the same");
    attack_require_none(attack, 5000);
}

void attack_clock_fast(struct attack *attack) {
    enum { TEN_TIMES = 9 * HC_NETWORK_SIM_PPM };
    struct clocked honest = play_clock(attack, 0, 0, true);
    struct clocked fast = play_clock(attack, 0, TEN_TIMES, false);
    double ratio = (double)fast.distance / (double)honest.distance;
    attack->tries = fast.datagrams;
    attack_require(attack, honest.others == fast.others, "the server ticks otherwise");
    attack_require(attack, honest.distance > 5 * HC_ARENA_RUN_SPEED, "no client moves");
    attack_require(attack, ratio <= 1.02, "it goes %.3f times as far", ratio);
    attack_effect(
        attack, "goes %.3f times as far as an honest one; the server's ticks are the same", ratio);
    attack_require_none(attack, 5000);
}
