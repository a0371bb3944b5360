/// Connections that are lost, clients that move, and a server that is started again.
#include "hindcast/arena.h"
#include "hindcast/check.h"
#include "hindcast/rng.h"
#include "tests/attack/yard.h"

#include <string.h>

enum { TICK_US = 16667 };

// ---- Events -------------------------------------------------------------------------------------

/// One direction of a stream of numbered events.
struct stream {
    uint32_t said, heard;
};

enum { SAYING_SIZE = 8, ROOM = 200 };

/// An event: its number, how many the other side had said by then, and some more that follows.
static size_t make_saying(uint32_t number, uint32_t heard, uint8_t out[static HC_EVENTS_SIZE_MAX]) {
    struct hc_writer writer = hc_bytes_writer(out, HC_EVENTS_SIZE_MAX);
    size_t more = hc_random(61, number, 0, 0) % 24;
    hc_bytes_put_u32(&writer, number);
    hc_bytes_put_u32(&writer, heard);
    for (size_t i = 0; i < more; i++)
        hc_bytes_put_u8(&writer, (uint8_t)hc_random(61, number, 1, (uint32_t)i));
    return writer.at;
}

/// Judges what was heard next; returns how many the other side had heard.
static uint32_t judge_saying(struct attack *attack, struct stream *stream, const uint8_t *bytes,
                             size_t size) {
    uint8_t expected[HC_EVENTS_SIZE_MAX];
    struct hc_reader reader = hc_bytes_reader(bytes, size);
    hc_bytes_get_u32(&reader);
    uint32_t heard = hc_bytes_get_u32(&reader);
    size_t expected_size = make_saying(++stream->heard, heard, expected);
    attack_try(attack, size != expected_size || memcmp(bytes, expected, size) != 0);
    return heard;
}

static void talk(struct attack *attack, struct yard *yard, struct stream *up, struct stream *down,
                 uint32_t most) {
    struct hc_client *client = hc_sim_client(yard->sim, 0);
    struct hc_sv_host *host = hc_sim_host(yard->sim);
    struct hc_sv_message heard;
    uint8_t bytes[HC_EVENTS_SIZE_MAX];
    const uint8_t *saying;
    size_t size;
    uint32_t acknowledged = down->said; // by the client, in its own sayings
    while ((saying = hc_client_next_message(client, &size)) != NULL)
        judge_saying(attack, down, saying, size);
    while (up->said < most &&
           hc_client_send_message(client, bytes, make_saying(up->said + 1, down->heard, bytes)) ==
               HC_OK)
        up->said++;
    while ((saying = hc_sv_host_next_message(host, &heard)) != NULL) {
        acknowledged = judge_saying(attack, up, saying, heard.size);
        while (down->said < most && down->said < acknowledged + ROOM &&
               hc_sv_host_send_message(host, heard.cid, bytes,
                                       make_saying(down->said + 1, up->heard, bytes),
                                       hc_sim_host_now(yard->sim)) == HC_OK)
            down->said++;
    }
}

void attack_events(struct attack *attack) {
    enum { EVENTS = 100000, RATE = 20, STEP_US = 50000, LONGEST_S = 3600 };
    struct hc_sim_config config = yard_config(1, 0, 1000, 61);
    struct stream up = {0}, down = {0};
    config.up.jitter_us = config.down.jitter_us = 100 * YARD_MS;
    config.up.loss_ppm = config.down.loss_ppm = HC_NETWORK_SIM_PPM / 4;
    config.up.duplicate_ppm = config.down.duplicate_ppm = HC_NETWORK_SIM_PPM / 4;
    config.host.tick_rate = RATE;
    config.client.prediction_limit = HC_PREDICTION_LIMIT_MAX;
    struct yard *yard = yard_create(&config);
    yard_join_all(attack, yard);
    while (up.heard < EVENTS && hc_sim_now(yard->sim) < (uint64_t)LONGEST_S * YARD_S) {
        talk(attack, yard, &up, &down, EVENTS);
        hc_sim_run(yard->sim, STEP_US);
    }
    attack_require(attack, up.heard == EVENTS, "%u of %u came", up.heard, EVENTS);
    attack_require(attack, down.heard > EVENTS / 2, "only %u came down", down.heard);
    attack_require(attack, hc_client_stats(hc_sim_client(yard->sim, 0))->losses == 0,
                   "the connection was lost");
    attack_effect(attack, "%u up and %u down in %.0f s, each once and in its place", up.heard,
                  down.heard, (double)hc_sim_now(yard->sim) / YARD_S);
    attack_require_none(attack, EVENTS);
    yard_destroy(yard);
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
    uint64_t changed_us[MOVERS]; ///< 0: it has heard a snapshot since
    uint64_t longest_us, total_us;
    size_t said_least, snapshot_most; ///< bytes: of a client's DATA, and of a snapshot
    bool sent[MOVERS][MOVE_SEQS], heard[MOVERS][MOVE_SEQS];
};

static bool move_seq(const uint8_t *bytes, size_t size, uint32_t *seq) {
    uint32_t cid;
    return hc_datagram_get_data_clear(bytes, size, &cid, seq) == HC_OK && *seq < MOVE_SEQS;
}

static void note_said(struct yard *yard, unsigned client, const uint8_t *sealed, size_t size) {
    struct moves *moves = yard->context;
    (void)client;
    if (hc_datagram_kind(sealed, size) == HC_DATAGRAM_DATA &&
        (moves->said_least == 0 || size < moves->said_least))
        moves->said_least = size;
}

static void note_sent(struct yard *yard, unsigned client, const uint8_t *sealed, size_t size) {
    struct moves *moves = yard->context;
    uint32_t seq;
    if (move_seq(sealed, size, &seq))
        moves->sent[client][seq] = true;
}

static void note_heard(struct yard *yard, unsigned client, const uint8_t *opened, size_t size,
                       enum hc_status status) {
    struct moves *moves = yard->context;
    uint32_t seq;
    if (status != HC_OK || !move_seq(opened, size, &seq))
        return;
    moves->heard[client][seq] = true;
    if (opened[MESSAGE_AT] != HC_MESSAGE_SNAPSHOT)
        return;
    moves->snapshot_most = size > moves->snapshot_most ? size : moves->snapshot_most;
    if (moves->changed_us[client] == 0)
        return;
    uint64_t took_us = hc_sim_now(yard->sim) - moves->changed_us[client];
    moves->longest_us = took_us > moves->longest_us ? took_us : moves->longest_us;
    moves->total_us += took_us;
    moves->changed_us[client] = 0;
}

/// Datagrams of the server that a client has not heard, but for the last few, which are on their
/// way.
static uint32_t count_unheard(const struct moves *moves, unsigned client) {
    enum { UNDER_WAY = 8 };
    uint32_t unheard = 0, end = MOVE_SEQS;
    while (end > 0 && !moves->sent[client][end - 1])
        end--;
    for (uint32_t seq = 0; seq + UNDER_WAY < end; seq++)
        unheard += moves->sent[client][seq] && !moves->heard[client][seq];
    return unheard;
}

/// Most stand still, which spares their clients' time: all say their inputs.
static void stand_still(struct yard *yard, unsigned client, hc_tick tick, void *input) {
    if (client % 16 == 0)
        yard_keys(yard->seed, client, tick, input);
}

static void require_moved(struct attack *attack, struct yard *yard, uint32_t rate) {
    const struct moves *moves = yard->context;
    // Both sides speak once a tick: the client is heard within a tick of its own and half a round
    // trip, and answered within one of the server's and the other half; later by a tick for each
    // more of its datagrams that it takes to allow a question and the largest snapshot, three bytes
    // for one. What the server says up to then, and a moment before the change, is lost.
    uint32_t needed =
        (uint32_t)((QUESTION_SIZE + moves->snapshot_most - 1) / (3 * moves->said_least)) + 1;
    uint64_t most_us = 2 * MOVE_LATENCY_MS * YARD_MS + (1 + needed) * YARD_S / rate;
    uint32_t unheard_most = 0, unheard = 0, each = 2 * MOVE_LATENCY_MS * rate / 1000 + 1 + needed;
    unsigned kept = yard_playing(yard);
    uint64_t moved = hc_sv_host_stats(hc_sim_host(yard->sim))->moved;
    for (unsigned i = 0; i < MOVERS; i++) {
        uint32_t own = count_unheard(moves, i);
        unheard += own;
        unheard_most = own > unheard_most ? own : unheard_most;
    }
    attack->tries = MOVES * MOVERS;
    attack->accepted = MOVES * MOVERS - moved;
    yard_require_unharmed(attack, yard, MOVERS);
    attack_require(attack, kept == MOVERS, "%u of %d are kept", kept, MOVERS);
    attack_require(attack, moved == MOVES * MOVERS, "%u of %d moves were seen", (unsigned)moved,
                   MOVES * MOVERS);
    attack_require(attack, moves->longest_us <= most_us, "one is silent for %.0f ms",
                   (double)moves->longest_us / YARD_MS);
    attack_require(attack, unheard_most <= MOVES * each, "one lost %u datagrams in %d moves",
                   unheard_most, MOVES);
    attack_effect(attack,
                  "%u of %d kept; snapshots come again after %.0f ms, at most %.0f, of a round "
                  "trip of %d; %.1f of them lost each time, no input",
                  kept, MOVERS, (double)moves->total_us / (MOVES * MOVERS) / YARD_MS,
                  (double)moves->longest_us / YARD_MS, 2 * MOVE_LATENCY_MS,
                  (double)unheard / (MOVES * MOVERS));
    attack_require_none(attack, MOVERS);
}

void attack_rebind(struct attack *attack) {
    enum { RATE = 30 };
    struct hc_sim_config config = yard_config(MOVERS, 0, MOVE_LATENCY_MS, 62);
    static struct moves moves;
    moves = (struct moves){.longest_us = 0};
    config.host.tick_rate = RATE;
    struct yard *yard = yard_create(&config);
    yard->context = &moves;
    yard->client_sent = note_said;
    yard->host_sent = note_sent;
    yard->client_received = note_heard;
    yard->script = stand_still;
    yard_join_all(attack, yard);
    hc_sim_run(yard->sim, YARD_S);
    moves.snapshot_most = 0; // the first ones tell everything
    for (unsigned n = 0; n < MOVES * MOVERS; n++) {
        unsigned client = n % MOVERS;
        hc_sim_rebind(yard->sim, client);
        moves.changed_us[client] = hc_sim_now(yard->sim);
        hc_sim_run(yard->sim, MOVE_EVERY_S * YARD_S / MOVERS);
    }
    hc_sim_run(yard->sim, YARD_S);
    require_moved(attack, yard, RATE);
    yard_destroy(yard);
}

/// What was said last by somebody, on its way yet, and what was said before.
struct spoof {
    uint8_t newest[HC_DATAGRAM_MAX], older[HC_DATAGRAM_MAX];
    size_t newest_size, older_size;
};

static void overhear(struct yard *yard, unsigned client, const uint8_t *sealed, size_t size) {
    struct spoof *spoof = yard->context;
    if (client != 0 || hc_datagram_kind(sealed, size) != HC_DATAGRAM_DATA)
        return;
    memcpy(spoof->older, spoof->newest, spoof->newest_size);
    spoof->older_size = spoof->newest_size;
    memcpy(spoof->newest, sealed, size);
    spoof->newest_size = size;
}

/// Says from elsewhere what client 0 says: copies that are first, copies that are late, and changed
/// ones.
static void spoof_some(struct attack *attack, struct yard *yard, const struct spoof *spoof,
                       struct hc_rng *rng) {
    enum { CHANGED = 12 };
    struct hc_address from = hc_address_ipv4(127, 0, 0, 1, (uint16_t)(1 + hc_rng_below(rng, 1000)));
    struct hc_sv_host *host = hc_sim_host(yard->sim);
    uint64_t now = hc_sim_host_now(yard->sim);
    uint8_t bytes[HC_DATAGRAM_MAX];
    uint64_t moved = hc_sv_host_stats(host)->moved;
    hc_sv_host_receive(host, &from, spoof->older, spoof->older_size, now);
    hc_sv_host_receive(host, &from, spoof->newest, spoof->newest_size, now);
    for (unsigned i = 0; i < CHANGED; i++) {
        size_t bit = hc_rng_below(rng, (uint32_t)spoof->newest_size * 8);
        memcpy(bytes, spoof->newest, spoof->newest_size);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        if (i % 2 == 0) // as if it were the next one
            bytes[5] = (uint8_t)(spoof->newest[5] + 1 + i);
        hc_sv_host_receive(host, &from, bytes, spoof->newest_size, now);
    }
    attack->tries += CHANGED + 2;
    attack->accepted += hc_sv_host_stats(host)->moved - moved;
}

void attack_spoofed_rebind(struct attack *attack) {
    enum { ROUNDS = 1000 };
    struct hc_sim_config config = yard_config(4, 0, MOVE_LATENCY_MS, 63);
    struct spoof spoof = {.newest_size = 0};
    struct yard *yard = yard_create(&config);
    struct hc_rng rng = hc_rng_init(63, 1);
    yard->context = &spoof;
    yard->client_sent = overhear;
    yard_join_all(attack, yard);
    hc_sim_run(yard->sim, YARD_S);
    for (unsigned i = 0; i < ROUNDS; i++) {
        hc_sim_run(yard->sim, TICK_US);
        spoof_some(attack, yard, &spoof, &rng);
    }
    hc_sim_run(yard->sim, YARD_S);
    const struct hc_sv_host_stats *stats = hc_sv_host_stats(hc_sim_host(yard->sim));
    attack->accepted += stats->moved;
    yard_require_unharmed(attack, yard, 4);
    hc_sim_rebind(yard->sim, 0);
    hc_sim_run(yard->sim, YARD_S);
    attack_require(attack, stats->moved == attack->accepted + 1, "its true move is not seen");
    attack_effect(attack, "0 redirected; nobody stalls or loses an input, its own move is seen");
    attack_require_none(attack, 10000);
    yard_destroy(yard);
}

// ---- A server that is started again -------------------------------------------------------------

enum { RETURNERS = 64 };

struct returns {
    uint64_t since_us, back_us[RETURNERS]; ///< 0: not yet
};

static void see_return(struct yard *yard, unsigned client, const struct hc_client_event *event) {
    struct returns *returns = yard->context;
    if (event->kind == HC_CLIENT_EVENT_PLAYING && returns->since_us != 0 &&
        returns->back_us[client] == 0)
        returns->back_us[client] = hc_sim_now(yard->sim) - returns->since_us;
}

void attack_restart(struct attack *attack) {
    enum { BOUND_US = 2 * YARD_S, RESTARTS = 2 };
    struct hc_sim_config config = yard_config(RETURNERS, 0, MOVE_LATENCY_MS, 64);
    static struct returns returns;
    uint64_t slowest_us = 0;
    struct yard *yard = yard_create(&config);
    returns = (struct returns){.since_us = 0};
    yard->context = &returns;
    yard->client_event = see_return;
    yard->script = stand_still;
    yard_join_all(attack, yard);
    for (unsigned n = 0; n < RESTARTS; n++) {
        hc_sim_run(yard->sim, YARD_S);
        returns = (struct returns){.since_us = hc_sim_now(yard->sim)};
        attack_require(attack, hc_sim_restart_host(yard->sim), "no other server");
        hc_sim_run(yard->sim, BOUND_US);
        for (unsigned i = 0; i < RETURNERS; i++) {
            uint64_t took_us = returns.back_us[i];
            attack_try(attack, took_us == 0);
            slowest_us = took_us > slowest_us ? took_us : slowest_us;
        }
        attack_require(attack, yard_playing(yard) == RETURNERS, "%u of %d play 2 s later",
                       yard_playing(yard), RETURNERS);
    }
    attack_effect(attack, "all %d play again, the slowest after %.2f s, with their tickets",
                  RETURNERS, (double)slowest_us / YARD_S);
    attack_require_none(attack, RETURNERS);
    yard_destroy(yard);
}
