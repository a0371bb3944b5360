/// Messages over bad links, clients that change their address, and restarted servers.
#include "hindcast/arena.h"
#include "hindcast/check.h"
#include "hindcast/rng.h"
#include "tests/attack/honest_players.h"

#include <string.h>

enum { TICK_US = 16667 };

// ---- Events -------------------------------------------------------------------------------------

/// Counts one direction's numbered messages.
struct stream {
    uint32_t sent, received;
};

enum { ROOM = 200 };

/// Makes a message: its number, the count received from the other side, and bytes that follow from
/// the number.
static size_t make_message(uint32_t number, uint32_t received,
                           uint8_t out[static HC_MESSAGE_SIZE_MAX]) {
    struct hc_writer writer = hc_bytes_writer(out, HC_MESSAGE_SIZE_MAX);
    size_t more = (size_t)(hc_random(61, number, 0, 0) % 24);
    hc_bytes_put_u32(&writer, number);
    hc_bytes_put_u32(&writer, received);
    for (size_t i = 0; i < more; i++)
        hc_bytes_put_u8(&writer, (uint8_t)hc_random(61, number, 1, (uint32_t)i));
    return writer.at;
}

/// Checks the next message; returns the count that the other side had received.
static uint32_t check_message(struct attack *attack, struct stream *stream, const uint8_t *bytes,
                              size_t size) {
    uint8_t expected[HC_MESSAGE_SIZE_MAX];
    struct hc_reader reader = hc_bytes_reader(bytes, size);
    hc_bytes_get_u32(&reader);
    uint32_t received = hc_bytes_get_u32(&reader);
    size_t expected_size = make_message(++stream->received, received, expected);
    attack_try(attack, size != expected_size || memcmp(bytes, expected, size) != 0);
    return received;
}

static void exchange(struct attack *attack, struct honest_players *players, struct stream *up,
                     struct stream *down, uint32_t most) {
    struct hc_client *client = hc_sim_client(players->sim, 0);
    struct hc_server *host = hc_sim_host(players->sim);
    struct hc_server_message received;
    uint8_t bytes[HC_MESSAGE_SIZE_MAX];
    const uint8_t *message;
    size_t size;
    uint32_t acknowledged = down->sent; // by the client, in its messages
    while ((message = hc_client_next_message(client, &size)) != NULL)
        check_message(attack, down, message, size);
    while (up->sent < most &&
           hc_client_send_message(client, bytes,
                                  make_message(up->sent + 1, down->received, bytes)) == HC_OK)
        up->sent++;
    while ((message = hc_server_next_message(host, &received)) != NULL) {
        acknowledged = check_message(attack, up, message, received.size);
        while (down->sent < most && down->sent < acknowledged + ROOM &&
               hc_server_send_message(host, received.cid, bytes,
                                      make_message(down->sent + 1, up->received, bytes),
                                      hc_sim_host_now(players->sim)) == HC_OK)
            down->sent++;
    }
}

void attack_events(struct attack *attack) {
    enum { EVENTS = 100000, RATE = 20, STEP_US = 50000, LONGEST_S = 3600 };
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, 1, 1000, 61);
    struct stream up = {0}, down = {0};
    config.up.jitter_us = config.down.jitter_us = 100 * MS_US;
    config.up.loss_ppm = config.down.loss_ppm = HC_NETWORK_SIM_PPM / 4;
    config.up.duplicate_ppm = config.down.duplicate_ppm = HC_NETWORK_SIM_PPM / 4;
    config.host.tick_rate = RATE;
    config.client.prediction_limit = HC_PREDICTION_LIMIT_MAX;
    struct honest_players *players = honest_create(&config);
    honest_join_all(attack, players);
    while (up.received < EVENTS && hc_sim_now(players->sim) < (uint64_t)LONGEST_S * SECOND_US) {
        exchange(attack, players, &up, &down, EVENTS);
        hc_sim_run(players->sim, STEP_US);
    }
    attack_require(attack, up.received == EVENTS, "%u of %u came", up.received, EVENTS);
    attack_require(attack, down.received > EVENTS / 2, "only %u came down", down.received);
    attack_require(attack, hc_client_stats(hc_sim_client(players->sim, 0))->losses == 0,
                   "the connection was lost");
    attack_effect(attack, "%u up and %u down in %.0f s, each once and in its place", up.received,
                  down.received, (double)hc_sim_now(players->sim) / SECOND_US);
    attack_require_none(attack, EVENTS);
    honest_destroy(players);
}

// ---- Clients that move --------------------------------------------------------------------------

enum {
    MOVERS = 100,
    MOVE_EVERY_S = 5,
    MOVES = 3,
    MOVE_LATENCY_MS = 40,
    MOVE_SEQS = 2048,
    MESSAGE_AT = HC_DATA_BODY_AT + 1, ///< after the array's header
    QUESTION_SIZE = HC_DATA_BODY_AT + HC_PATH_MESSAGE_SIZE + HC_TAG_SIZE,
};

struct moves {
    uint64_t changed_us[MOVERS]; ///< 0: it has received a snapshot since
    uint64_t longest_us, total_us;
    size_t sent_least, snapshot_most; ///< bytes: of a client's DATA, and of a snapshot
    bool sent[MOVERS][MOVE_SEQS], received[MOVERS][MOVE_SEQS];
};

static bool move_seq(const uint8_t *bytes, size_t size, uint32_t *seq) {
    uint32_t cid;
    return hc_datagram_get_data_clear(bytes, size, &cid, seq) == HC_OK && *seq < MOVE_SEQS;
}

static void note_client_sent(void *context, struct hc_sim *sim, unsigned client,
                             const uint8_t *bytes, size_t size) {
    struct moves *moves = context;
    (void)sim, (void)client;
    if (hc_datagram_kind(bytes, size) == HC_DATAGRAM_DATA &&
        (moves->sent_least == 0 || size < moves->sent_least))
        moves->sent_least = size;
}

static void note_host_sent(void *context, struct hc_sim *sim, unsigned client, const uint8_t *bytes,
                           size_t size) {
    struct moves *moves = context;
    uint32_t seq;
    (void)sim;
    if (move_seq(bytes, size, &seq))
        moves->sent[client][seq] = true;
}

static void note_client_received(void *context, struct hc_sim *sim, unsigned client,
                                 const uint8_t *opened, size_t size, enum hc_status status) {
    struct moves *moves = context;
    uint32_t seq;
    if (status != HC_OK || !move_seq(opened, size, &seq))
        return;
    moves->received[client][seq] = true;
    if (opened[MESSAGE_AT] != HC_MESSAGE_SNAPSHOT)
        return;
    moves->snapshot_most = size > moves->snapshot_most ? size : moves->snapshot_most;
    if (moves->changed_us[client] == 0)
        return;
    uint64_t took_us = hc_sim_now(sim) - moves->changed_us[client];
    moves->longest_us = took_us > moves->longest_us ? took_us : moves->longest_us;
    moves->total_us += took_us;
    moves->changed_us[client] = 0;
}

/// Counts the server's datagrams that a client has not received, except the last few, which are in
/// flight.
static uint32_t count_lost(const struct moves *moves, unsigned client) {
    enum { UNDER_WAY = 8 };
    uint32_t lost = 0, end = MOVE_SEQS;
    while (end > 0 && !moves->sent[client][end - 1])
        end--;
    for (uint32_t seq = 0; seq + UNDER_WAY < end; seq++)
        lost += moves->sent[client][seq] && !moves->received[client][seq];
    return lost;
}

/// Most clients stand still, which saves their time; all send inputs.
static void stand_still(void *context, struct hc_sim *sim, unsigned client, unsigned index,
                        hc_tick tick, void *input) {
    (void)context, (void)sim, (void)index, (void)tick;
    if (client % 16 != 0)
        memset(input, 0, sizeof(struct hc_arena_input));
}

static void require_moved(struct attack *attack, const struct honest_players *players,
                          const struct moves *moves, uint32_t rate) {
    // Both sides send once a tick: the client's datagram arrives within a tick and half a round
    // trip, and the answer within a tick and the other half. It takes a tick more for each further
    // datagram that the client must send to allow a PATH_CHALLENGE and the largest snapshot, three
    // bytes for one. The server's datagrams up to then, and from just before the change, are lost.
    uint32_t needed =
        (uint32_t)((QUESTION_SIZE + moves->snapshot_most - 1) / (3 * moves->sent_least)) + 1;
    uint64_t most_us = 2 * MOVE_LATENCY_MS * MS_US + (1 + needed) * SECOND_US / rate;
    uint32_t lost_most = 0, lost = 0, each = 2 * MOVE_LATENCY_MS * rate / 1000 + 1 + needed;
    unsigned connected = hc_sim_playing(players->sim);
    uint64_t moved = hc_server_stats(hc_sim_host(players->sim))->moved;
    for (unsigned i = 0; i < MOVERS; i++) {
        uint32_t own = count_lost(moves, i);
        lost += own;
        lost_most = own > lost_most ? own : lost_most;
    }
    attack->tries = MOVES * MOVERS;
    attack->accepted = MOVES * MOVERS - moved;
    honest_require_unharmed(attack, players, MOVERS);
    attack_require(attack, connected == MOVERS, "%u of %d stay connected", connected, MOVERS);
    attack_require(attack, moved == MOVES * MOVERS, "%u of %d moves were seen", (unsigned)moved,
                   MOVES * MOVERS);
    attack_require(attack, moves->longest_us <= most_us, "one receives no snapshot for %.0f ms",
                   (double)moves->longest_us / MS_US);
    attack_require(attack, lost_most <= MOVES * each, "one lost %u datagrams in %d moves",
                   lost_most, MOVES);
    attack_effect(attack,
                  "%u of %d stay; snapshots come again after %.0f ms, at most %.0f, of a round "
                  "trip of %d; %.1f of them lost each time, no input",
                  connected, MOVERS, (double)moves->total_us / (MOVES * MOVERS) / MS_US,
                  (double)moves->longest_us / MS_US, 2 * MOVE_LATENCY_MS,
                  (double)lost / (MOVES * MOVERS));
    attack_require_none(attack, MOVERS);
}

void attack_rebind(struct attack *attack) {
    enum { RATE = 30 };
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, MOVERS, MOVE_LATENCY_MS, 62);
    static struct moves moves;
    moves = (struct moves){.longest_us = 0};
    config.host.tick_rate = RATE;
    struct honest_players *players = honest_create(&config);
    hc_sim_observe(players->sim,
                   &(struct hc_sim_hooks){.client_sent = note_client_sent,
                                          .host_sent = note_host_sent,
                                          .client_received = note_client_received,
                                          .script = stand_still},
                   &moves);
    honest_join_all(attack, players);
    hc_sim_run(players->sim, SECOND_US);
    moves.snapshot_most = 0; // the first ones carry everything
    for (unsigned n = 0; n < MOVES * MOVERS; n++) {
        unsigned client = n % MOVERS;
        hc_sim_rebind(players->sim, client);
        moves.changed_us[client] = hc_sim_now(players->sim);
        hc_sim_run(players->sim, MOVE_EVERY_S * SECOND_US / MOVERS);
    }
    hc_sim_run(players->sim, SECOND_US);
    require_moved(attack, players, &moves, RATE);
    honest_destroy(players);
}

/// Client 0's newest datagram, which is still in flight, and the one before.
struct spoof {
    uint8_t newest[HC_DATAGRAM_MAX], older[HC_DATAGRAM_MAX];
    size_t newest_size, older_size;
};

static void record_datagram(void *context, struct hc_sim *sim, unsigned client,
                            const uint8_t *bytes, size_t size) {
    struct spoof *spoof = context;
    const uint8_t *sealed = hc_sim_sealed(sim);
    (void)bytes;
    if (client != 0 || hc_datagram_kind(sealed, size) != HC_DATAGRAM_DATA)
        return;
    memcpy(spoof->older, spoof->newest, spoof->newest_size);
    spoof->older_size = spoof->newest_size;
    memcpy(spoof->newest, sealed, size);
    spoof->newest_size = size;
}

/// Sends client 0's datagrams from another address: copies that arrive first, late copies, and
/// changed ones.
static void send_spoofed(struct attack *attack, struct honest_players *players,
                         const struct spoof *spoof, struct hc_rng *rng) {
    enum { CHANGED = 12 };
    struct hc_address from = hc_address_ipv4(127, 0, 0, 1, (uint16_t)(1 + hc_rng_below(rng, 1000)));
    struct hc_server *host = hc_sim_host(players->sim);
    uint64_t now = hc_sim_host_now(players->sim);
    uint8_t bytes[HC_DATAGRAM_MAX];
    uint64_t moved = hc_server_stats(host)->moved;
    hc_server_receive(host, &from, spoof->older, spoof->older_size, now);
    hc_server_receive(host, &from, spoof->newest, spoof->newest_size, now);
    for (unsigned i = 0; i < CHANGED; i++) {
        size_t bit = hc_rng_below(rng, (uint32_t)spoof->newest_size * 8);
        memcpy(bytes, spoof->newest, spoof->newest_size);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        if (i % 2 == 0) // as if it were the next one
            bytes[5] = (uint8_t)(spoof->newest[5] + 1 + i);
        hc_server_receive(host, &from, bytes, spoof->newest_size, now);
    }
    attack->tries += CHANGED + 2;
    attack->accepted += hc_server_stats(host)->moved - moved;
}

void attack_spoofed_rebind(struct attack *attack) {
    enum { ROUNDS = 1000 };
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, 4, MOVE_LATENCY_MS, 63);
    struct spoof spoof = {.newest_size = 0};
    struct honest_players *players = honest_create(&config);
    struct hc_rng rng = hc_rng_init(63, 1);
    hc_sim_observe(players->sim, &(struct hc_sim_hooks){.client_sent = record_datagram}, &spoof);
    honest_join_all(attack, players);
    hc_sim_run(players->sim, SECOND_US);
    for (unsigned i = 0; i < ROUNDS; i++) {
        hc_sim_run(players->sim, TICK_US);
        send_spoofed(attack, players, &spoof, &rng);
    }
    hc_sim_run(players->sim, SECOND_US);
    const struct hc_server_stats *stats = hc_server_stats(hc_sim_host(players->sim));
    attack->accepted += stats->moved;
    honest_require_unharmed(attack, players, 4);
    hc_sim_rebind(players->sim, 0);
    hc_sim_run(players->sim, SECOND_US);
    attack_require(attack, stats->moved == attack->accepted + 1, "its true move is not seen");
    attack_effect(attack,
                  "0 redirected; no client stalls or loses an input, its own move is accepted");
    attack_require_none(attack, 10000);
    honest_destroy(players);
}

// ---- Restarted servers --------------------------------------------------------------------------

enum { RETURNERS = 64 };

struct returns {
    uint64_t since_us, back_us[RETURNERS]; ///< 0: not yet
};

static void see_return(void *context, struct hc_sim *sim, unsigned client,
                       const struct hc_client_event *event) {
    struct returns *returns = context;
    if (event->kind == HC_CLIENT_EVENT_PLAYING && returns->since_us != 0 &&
        returns->back_us[client] == 0)
        returns->back_us[client] = hc_sim_now(sim) - returns->since_us;
}

void attack_restart(struct attack *attack) {
    enum { BOUND_US = 2 * SECOND_US, RESTARTS = 2 };
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, RETURNERS, MOVE_LATENCY_MS, 64);
    static struct returns returns;
    uint64_t slowest_us = 0;
    struct honest_players *players = honest_create(&config);
    returns = (struct returns){.since_us = 0};
    hc_sim_observe(players->sim,
                   &(struct hc_sim_hooks){.client_event = see_return, .script = stand_still},
                   &returns);
    honest_join_all(attack, players);
    for (unsigned n = 0; n < RESTARTS; n++) {
        hc_sim_run(players->sim, SECOND_US);
        returns = (struct returns){.since_us = hc_sim_now(players->sim)};
        attack_require(attack, hc_sim_restart_host(players->sim), "no other server");
        hc_sim_run(players->sim, BOUND_US);
        for (unsigned i = 0; i < RETURNERS; i++) {
            uint64_t took_us = returns.back_us[i];
            attack_try(attack, took_us == 0);
            slowest_us = took_us > slowest_us ? took_us : slowest_us;
        }
        attack_require(attack, hc_sim_playing(players->sim) == RETURNERS, "%u of %d play 2 s later",
                       hc_sim_playing(players->sim), RETURNERS);
    }
    attack_effect(attack, "all %d play again, the slowest after %.2f s, with their tickets",
                  RETURNERS, (double)slowest_us / SECOND_US);
    attack_require_none(attack, RETURNERS);
    honest_destroy(players);
}
