/// The arena without a network, twice: on a timeline alone, as a game plays without a server; then
/// with a server and two clients in one process, over simulated links and in virtual time.
///
///     ./offline [good|ok|bad|awful]
///
/// It opens no socket and reads no clock, so each run of a preset prints the same.
#include <hindcast/arena.h>
#include <hindcast/client.h>
#include <hindcast/network_sim.h>
#include <hindcast/server.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { PLAYERS = 2, RATE = 60, SECONDS = 10, SECOND_US = 1000000, STEP_US = 1000, PACKETS = 256 };

/// A bot of the arena, and what it needs from one tick to the next.
struct player {
    struct hc_rng rng;
    uint64_t memory[HC_BOT_MEMORY / 8];
    struct hc_arena_input input;
};

/// Chooses the player's input for the step from the timeline's head.
static void think(struct player *player, const struct hc_world *world,
                  const struct hc_timeline *timeline, hc_player number) {
    hc_tick head = hc_timeline_head(timeline);
    struct hc_bot bot;
    memset(&bot, 0, sizeof bot);
    memset(&player->input, 0, sizeof player->input);
    bot.world = world;
    bot.tick = head;
    bot.presence = hc_timeline_presence(timeline, head);
    bot.states = hc_timeline_states(timeline, head);
    bot.player = number;
    bot.rng = &player->rng;
    bot.memory = player->memory;
    hc_arena_think(&bot, &player->input);
}

// ---- A timeline alone ---------------------------------------------------------------------------

/// Plays without a server. Late inputs of a tick before the head would be put in the same way.
static bool play_alone(void) {
    struct hc_world world;
    struct hc_timeline_config config = hc_timeline_config_default();
    struct player players[PLAYERS];
    if (hc_world_init(&world, &hc_arena, PLAYERS, RATE, 1, NULL) != HC_OK)
        return false;
    config.world = &world;
    struct hc_timeline *timeline = hc_timeline_create(&config);
    if (timeline == NULL)
        return false;
    hc_timeline_start(timeline);
    memset(players, 0, sizeof players);
    for (hc_player p = 0; p < PLAYERS; p++) {
        players[p].rng = hc_rng_init(1, p);
        hc_timeline_put_roster(timeline, p, 0, HC_ROSTER_JOIN);
    }
    hc_timeline_advance(timeline);
    for (hc_tick tick = 1; tick < SECONDS * RATE; tick++) {
        for (hc_player p = 0; p < PLAYERS; p++) {
            think(&players[p], &world, timeline, p);
            hc_timeline_put_input(timeline, p, tick, &players[p].input);
        }
        hc_timeline_advance(timeline);
    }
    hc_tick head = hc_timeline_head(timeline);
    printf("alone: tick %u, hash %016" PRIx64 "\n", (unsigned)head,
           hc_timeline_hash(timeline, head));
    hc_timeline_destroy(timeline);
    hc_world_free(&world);
    return true;
}

// ---- A server and its clients -------------------------------------------------------------------

/// A client with its links to and from the server.
struct seat {
    struct hc_client *client;
    struct hc_network_sim *up, *down;
    struct hc_address address;
    struct player player;
};

static bool open_seat(struct seat *seat, struct hc_server *server, unsigned number,
                      const struct hc_network_sim_config *link) {
    static uint8_t entropy[HC_CLIENT_ENTROPY_SIZE];
    struct hc_client_config config = hc_client_config_default();
    struct hc_server_user user;
    memset(&user, 0, sizeof user);
    user.client_id = 1 + number;
    user.players = 1;
    entropy[0] = (uint8_t)(1 + number); // a game leaves it to the operating system
    config.game = &hc_arena;
    config.entropy = entropy;
    if (hc_server_issue(server, &user, 60, &config.credential, 0) != HC_OK)
        return false;
    memset(seat, 0, sizeof *seat);
    seat->client = hc_client_create(&config, 0);
    seat->up = hc_network_sim_create(link, 2 * number, PACKETS, NULL);
    seat->down = hc_network_sim_create(link, 2 * number + 1, PACKETS, NULL);
    seat->address = hc_address_ipv4(127, 0, 0, 1, (uint16_t)(1024 + number));
    seat->player.rng = hc_rng_init(2, number);
    return seat->client != NULL && seat->up != NULL && seat->down != NULL;
}

static void run_client(struct seat *seat, uint64_t now_us) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    int received;
    size_t size;
    while ((received = hc_network_sim_receive(seat->down, now_us, bytes, sizeof bytes)) >= 0)
        hc_client_receive(seat->client, bytes, (size_t)received, now_us);
    if (hc_client_state(seat->client) == HC_CLIENT_PLAYING) {
        think(&seat->player, hc_client_world(seat->client), hc_client_timeline(seat->client),
              hc_client_player(seat->client, 0));
        hc_client_set_input(seat->client, 0, &seat->player.input);
    }
    hc_client_advance(seat->client, now_us);
    while ((size = hc_client_send(seat->client, bytes, now_us)) > 0)
        hc_network_sim_send(seat->up, now_us, bytes, size);
}

static void run_server(struct hc_server *server, struct seat seats[PLAYERS], uint64_t now_us) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct hc_address to;
    int received;
    size_t size;
    for (unsigned i = 0; i < PLAYERS; i++)
        while ((received = hc_network_sim_receive(seats[i].up, now_us, bytes, sizeof bytes)) >= 0)
            hc_server_receive(server, &seats[i].address, bytes, (size_t)received, now_us);
    if (now_us >= hc_server_deadline(server))
        hc_server_advance(server, now_us);
    while ((size = hc_server_send(server, &to, bytes, now_us)) > 0)
        hc_network_sim_send(seats[to.port - 1024].down, now_us, bytes, size);
}

/// Prints a client's figures; true: it plays, and every world that it was sent had the right hash.
static bool report(const struct seat *seat) {
    const struct hc_client_stats *stats = hc_client_stats(seat->client);
    printf("player %u: %" PRIu64 " snapshots, %" PRIu64 " rollbacks, %" PRIu64 " of %" PRIu64
           " hashes wrong\n",
           (unsigned)hc_client_player(seat->client, 0), stats->snapshots, stats->rollbacks,
           stats->hash_mismatches, stats->hash_checks);
    return hc_client_state(seat->client) == HC_CLIENT_PLAYING && stats->snapshots > 0 &&
           stats->hash_mismatches == 0;
}

static bool play_together(const struct hc_network_sim_config *link) {
    static const uint8_t secret[HC_SERVER_SECRET_SIZE] = {
        1}; // a real server has none that is known
    struct hc_server_config config = hc_server_config_default();
    struct seat seats[PLAYERS];
    bool ok = true;
    config.game = &hc_arena;
    config.clients = PLAYERS;
    config.tick_rate = RATE;
    config.secret = secret;
    config.keys.count = 1;
    struct hc_server *server = hc_server_create(&config, SECOND_US, 0);
    if (server == NULL)
        return false;
    for (unsigned i = 0; i < PLAYERS; i++)
        if (!open_seat(&seats[i], server, i, link))
            return false;
    for (uint64_t now_us = 0; now_us < SECONDS * (uint64_t)SECOND_US; now_us += STEP_US) {
        run_server(server, seats, now_us);
        for (unsigned i = 0; i < PLAYERS; i++)
            run_client(&seats[i], now_us);
    }
    for (unsigned i = 0; i < PLAYERS; i++) {
        ok = report(&seats[i]) && ok;
        hc_client_destroy(seats[i].client);
        hc_network_sim_destroy(seats[i].up);
        hc_network_sim_destroy(seats[i].down);
    }
    hc_server_destroy(server);
    return ok;
}

int main(int argc, char **argv) {
    struct hc_network_sim_config link;
    if (argc > 2 || !hc_network_sim_preset(argc == 2 ? argv[1] : "bad", &link)) {
        fprintf(stderr, "usage: offline [good|ok|bad|awful]\n");
        return 2;
    }
    bool ok = play_alone();
    ok = play_together(&link) && ok;
    return ok ? 0 : 1;
}
