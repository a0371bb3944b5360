/// A joined client tries to cost the server more than an honest one, and strangers forge its DATA.
#include "hindcast/arena.h"
#include "hindcast/check.h"
#include "server/state.h"
#include "tests/attack/target.h"
#include "tests/attack/honest_players.h"

#include <stdlib.h>
#include <string.h>

enum {
    PLACES = 64,
    COSTLY = 8, ///< clients that take places of honest ones
    WARM = 120, ///< ticks, before
    TICKS = 60,
    TICK_US = 16667,
    DELAY = 3,
    FIRST_PORT = 700,
    NEAR_MS = 20, ///< latencies of clients at many distances, each way
    FAR_MS = 150,
    ACKS_LATE = 18, ///< datagrams
    ACKS_MORE = 7,  ///< up to so many more
};

/// How a client causes work.
enum costly_way { COSTLY_ACKS = 1, COSTLY_TICK = 2, COSTLY_OFFSET = 4, COSTLY_ALL = 7 };

/// The server's work.
struct work {
    double us;
    uint64_t deltas; ///< encoded
    uint64_t steps;  ///< by which baselines were extrapolated
    uint64_t units;  ///< looked at, for snapshots and for corrections
};

struct cost {
    double us, from_us;
    struct honest_players *players;
    hc_tick next[COSTLY];
    struct raw_client raws[COSTLY];
};

static void note_work(void *context, struct hc_sim *sim, enum hc_sim_work work, bool begins) {
    struct cost *cost = context;
    (void)sim, (void)work;
    if (begins)
        cost->from_us = attack_cpu_us();
    else
        cost->us += attack_cpu_us() - cost->from_us;
}

static const void *keys(void *context, uint32_t index, uint32_t player) {
    static struct hc_arena_input input;
    const hc_tick *first = context;
    (void)player;
    hc_sim_draw_keys(&hc_arena, 9, 3, 0, *first + index, &input);
    return &input;
}

static void send_costly(struct attack *attack, struct cost *cost, unsigned i, unsigned costly) {
    uint8_t bytes[HC_DATA_BODY_MAX], sealed[HC_DATAGRAM_MAX];
    struct hc_writer body = hc_bytes_writer(bytes, sizeof bytes);
    struct hc_server *host = hc_sim_host(cost->players->sim);
    struct raw_client *raw = &cost->raws[i];
    uint32_t sent = hc_sv_clients_of_cid(&host->clients, raw->cid)->connection.sent.next - 1;
    hc_tick head = hc_timeline_head(hc_server_timeline(host)), last = head + DELAY;
    uint32_t late = costly & COSTLY_ACKS ? ACKS_LATE + i % ACKS_MORE : 6;
    struct hc_input_message message = {.client_tick = costly & COSTLY_TICK ? 1 : head,
                                       .display_offset =
                                           costly & COSTLY_OFFSET ? HC_HISTORY_MAX : 0,
                                       .force_before = raw->welcome.tick,
                                       .first = cost->next[i],
                                       .count = last + 1 - cost->next[i]};
    if (last < cost->next[i])
        return;
    bool fits = hc_message_put_input(&body, &hc_arena, 1, &message, keys, &cost->next[i]);
    HC_ASSERT(fits);
    raw->ack = sent > late ? sent - late : 0;
    raw->ack_bits = raw->ack > 32 ? UINT32_MAX : 0;
    size_t size = raw_client_seal(raw, bytes, body.at, sealed);
    double from = attack_cpu_us();
    enum hc_status status =
        hc_server_receive(host, &raw->address, sealed, size, hc_sim_host_now(cost->players->sim));
    cost->us += attack_cpu_us() - from;
    attack_require(attack, status == HC_OK, "inputs are rejected");
    cost->next[i] = last + 1;
}

static struct work look(const struct cost *cost) {
    const struct hc_server_stats *stats = hc_server_stats(hc_sim_host(cost->players->sim));
    return (struct work){.us = cost->us,
                         .deltas = stats->deltas_encoded,
                         .steps = stats->extrapolation_steps,
                         .units = stats->units_examined};
}

/// Gives the honest clients latencies from NEAR_MS to FAR_MS.
static void spread(struct hc_sim *sim, const struct hc_network_sim_config *link, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        struct hc_network_sim_config own = *link;
        own.latency_us = (NEAR_MS + (FAR_MS - NEAR_MS) * i / (count - 1)) * MS_US;
        hc_sim_set_link(sim, i, &own, &own);
    }
}

/// Measures the server's work in a second for PLACES clients, of which the last `count` are costly.
static struct work play(struct attack *attack, bool many_distances, unsigned count,
                        unsigned costly) {
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, PLACES - count, 50, 59);
    config.host.clients = (uint16_t)(config.clients + count);
    bool known = hc_network_sim_preset("ok", &config.up);
    HC_ASSERT(known);
    config.down = config.up;
    struct cost *cost = calloc(1, sizeof *cost);
    HC_ASSERT(cost != NULL);
    cost->players = honest_create(&config);
    hc_sim_observe(cost->players->sim, &(struct hc_sim_hooks){.host_works = note_work}, cost);
    honest_join_all(attack, cost->players);
    if (many_distances)
        spread(cost->players->sim, &config.up, PLACES - count);
    for (unsigned i = 0; i < count; i++) {
        struct raw_client *raw = &cost->raws[i];
        honest_admit(attack, cost->players, raw, (uint16_t)(FIRST_PORT + i), 7 + i, 7 + i);
        cost->next[i] = raw->welcome.tick + 1;
    }
    struct work from = {.us = 0};
    for (unsigned n = 0; n < WARM + TICKS; n++) {
        if (n == WARM)
            from = look(cost);
        for (unsigned i = 0; i < count; i++)
            send_costly(attack, cost, i, costly);
        hc_sim_run(cost->players->sim, TICK_US);
    }
    struct work work = look(cost);
    honest_destroy(cost->players);
    free(cost);
    attack->tries += count;
    return (struct work){.us = work.us - from.us,
                         .deltas = work.deltas - from.deltas,
                         .steps = work.steps - from.steps,
                         .units = work.units - from.units};
}

/// The work of a costly client, as a multiple of an honest one's in its place.
static double ratio(double honest, double with_costly) {
    return 1 + (with_costly - honest) / COSTLY / (honest / PLACES);
}

static double all(const struct work *work) {
    return (double)(work->deltas + work->steps + work->units);
}

static double larger(double a, double b) {
    return a > b ? a : b;
}

void attack_client_cost(struct attack *attack) {
    static const unsigned ways[] = {COSTLY_ACKS, COSTLY_ALL};
    struct work honest = play(attack, false, 0, 0), ordinary = play(attack, false, COSTLY, 0);
    struct work apart = play(attack, true, 0, 0), costly = play(attack, true, COSTLY, COSTLY_ALL);
    double among_many = ratio(all(&apart), all(&costly));
    double deltas = 0, steps = 0, units = 0, most = 0, us = 0;
    for (unsigned w = 0; w < sizeof ways / sizeof ways[0]; w++) {
        costly = play(attack, false, COSTLY, ways[w]);
        most = larger(most, ratio(all(&honest), all(&costly)));
        deltas = larger(deltas, ratio((double)honest.deltas, (double)costly.deltas));
        steps = larger(steps, ratio((double)honest.steps, (double)costly.steps));
        units = larger(units, ratio((double)honest.units, (double)costly.units));
        us = larger(us, ratio(honest.us, costly.us));
    }
    attack_require(attack, most <= 2, "it makes the work of %.2f", most);
    attack_require(attack, among_many <= 2.5, "at many distances it makes the work of %.2f",
                   among_many);
    attack_effect(attack,
                  "%d in the places of honest ones: work x %.2f, at many distances %.2f: deltas "
                  "encoded %.2f, ticks extrapolated %.2f, units looked at %.2f; time x %.1f of "
                  "%.0f us a tick, without its tricks x %.1f",
                  COSTLY, most, among_many, deltas, steps, units, us, honest.us / PLACES / TICKS,
                  ratio(honest.us, ordinary.us));
    attack_require_none(attack, COSTLY);
}

// ---- Forged DATA --------------------------------------------------------------------------------

/// Sends forged DATA with a client's cid, from one address or from many, and between them the
/// client's own, from its address or, if it `moves`, from another. Returns the microseconds for a
/// forged one.
static double flood_forged(struct attack *attack, bool many, bool moves) {
    enum { EACH = 2000, FORGED_TICKS = 60 };
    static uint8_t bytes[HC_DATAGRAM_MAX];
    struct raw_host target = target_create(2);
    struct raw_client raw;
    double us = 0;
    raw_client_begin(&raw, target.host, hc_address_ipv4(10, 0, 0, 1, 4000), 3, 3);
    attack_require(attack, raw_client_join(&raw, 1, target.now_us), "it cannot join");
    const struct hc_server_stats *stats = hc_server_stats(target.host);
    for (uint32_t tick = 0; tick < FORGED_TICKS; tick++) {
        raw_host_run(&target, TICK_US, &raw);
        uint64_t forged = stats->forged;
        if (moves)
            raw.address = hc_address_ipv4(10, 0, 0, 2, 4000);
        attack_require(attack, raw_client_send_data(&raw, NULL, 0, target.now_us) == HC_OK,
                       "the client's own DATA is refused");
        double from = attack_cpu_us();
        for (uint32_t i = 0; i < EACH; i++) {
            struct hc_address address = hc_address_ipv4(10, 9, many ? (uint8_t)(i / 200) : 0,
                                                        many ? (uint8_t)(i % 200) : 7, 99);
            struct hc_data data = {.cid = raw.cid, .seq = 1000 + i};
            hc_datagram_put_data(&data, bytes);
            bool accepted = hc_server_receive(target.host, &address, bytes, sizeof bytes,
                                              target.now_us) == HC_OK;
            attack_try(attack, accepted);
        }
        us += attack_cpu_us() - from;
        attack_require(attack, raw_client_send_data(&raw, NULL, 0, target.now_us) == HC_OK,
                       "the client's own DATA is refused after them");
        attack_require(attack,
                       stats->forged - forged <=
                           (many ? HC_FORGED_PER_CONNECTION : HC_FORGED_PER_SOURCE),
                       "%llu are opened in a tick", (unsigned long long)(stats->forged - forged));
    }
    raw_host_destroy(&target);
    return us / EACH / FORGED_TICKS;
}

void attack_forged_data(struct attack *attack) {
    double one = flood_forged(attack, false, false), many = flood_forged(attack, true, false);
    flood_forged(attack, false, true);
    flood_forged(attack, true, true);
    attack_effect(attack, "one of 1,200 bytes takes %.2f us from one address, %.2f from many", one,
                  many);
    attack_require_none(attack, 400000);
}

// ---- Forged copies ------------------------------------------------------------------------------

static const struct hc_address home = {.ip = {[10] = 0xff, 0xff, 10, 0, 0, 1}, .port = 4000};
static const struct hc_address stranger = {.ip = {[10] = 0xff, 0xff, 10, 9, 0, 7}, .port = 99};

/// Sends a forged DATA with the client's cid, the seq of its newest one or a later one, and zeros
/// instead of the sealed bytes.
static void send_forged(struct attack *attack, const struct raw_host *target,
                        const struct raw_client *raw, struct hc_address from, uint32_t later) {
    uint8_t bytes[HC_DATAGRAM_MAX] = {0};
    struct hc_data data = {.cid = raw->cid, .seq = raw->seq + later};
    hc_datagram_put_data(&data, bytes);
    attack_try(attack, hc_server_receive(target->host, &from, bytes, sizeof bytes,
                                         target->now_us) == HC_OK);
}

/// Moves the client while forged duplicates come from its old address. Requires that its snapshots
/// go to the new one, and returns their count.
static uint64_t move_beside_copies(struct attack *attack, struct raw_host *target,
                                   struct raw_client *raw) {
    enum { MOVE_TICKS = 20 };
    raw->address.port++;
    for (uint32_t tick = 0; tick < MOVE_TICKS; tick++) {
        attack_require(attack, raw_client_send_data(raw, NULL, 0, target->now_us) == HC_OK,
                       "not taken");
        send_forged(attack, target, raw, home, 0);
        raw_host_run(target, TICK_US, raw);
    }
    uint64_t copies = hc_server_stats(target->host)->copies;
    attack_require(attack, copies >= MOVE_TICKS / 2, "only %u snapshots go there",
                   (unsigned)copies);
    return copies;
}

/// Sends copies of one DATA from another address. Requires that all but 16 a tick are dropped
/// unopened.
static void send_copies(struct attack *attack, struct raw_host *target, struct raw_client *raw) {
    enum { COPIES = 500 };
    uint8_t bytes[HC_DATAGRAM_MAX];
    const struct hc_server_stats *stats = hc_server_stats(target->host);
    size_t size = raw_client_seal(raw, NULL, 0, bytes);
    bool taken =
        hc_server_receive(target->host, &raw->address, bytes, size, target->now_us) == HC_OK;
    attack_require(attack, taken, "the client's own DATA is refused");
    uint64_t dropped = stats->dropped;
    for (uint32_t i = 0; i < COPIES; i++)
        attack_try(attack, hc_server_receive(target->host, &stranger, bytes, size,
                                             target->now_us) == HC_OK);
    attack_require(attack, stats->dropped - dropped >= COPIES - HC_FORGED_PER_SOURCE,
                   "only %u are dropped", (unsigned)(stats->dropped - dropped));
}

void attack_forged_copies(struct attack *attack) {
    enum { EACH = 500, STALL_TICKS = 60 };
    struct raw_host target = target_create(2);
    struct raw_client raw;
    raw_client_begin(&raw, target.host, home, 3, 3);
    attack_require(attack, raw_client_join(&raw, 1, target.now_us), "it cannot join");
    raw_host_run(&target, TICK_US, &raw);
    attack_require(attack, raw_client_send_data(&raw, NULL, 0, target.now_us) == HC_OK,
                   "not taken");
    raw_host_run(&target, TICK_US, &raw);
    uint64_t copies = move_beside_copies(attack, &target, &raw);
    raw.address = home;
    const struct hc_server_stats *stats = hc_server_stats(target.host);
    for (uint32_t tick = 0; tick < STALL_TICKS; tick++) {
        raw_host_run(&target, TICK_US, &raw);
        for (uint32_t i = 0; i < EACH; i++) // before the client's own
            send_forged(attack, &target, &raw, home, 1 + i);
        attack_require(attack, raw_client_send_data(&raw, NULL, 0, target.now_us) == HC_OK,
                       "the client's own DATA is refused");
        uint64_t forged = stats->forged;
        for (uint32_t i = 0; i < EACH; i++)
            send_forged(attack, &target, &raw, stranger, 0);
        attack_require(attack, stats->forged - forged <= HC_FORGED_PER_SOURCE,
                       "%u duplicates are opened in a tick", (unsigned)(stats->forged - forged));
    }
    raw_host_run(&target, TICK_US, &raw);
    send_copies(attack, &target, &raw);
    attack_effect(attack,
                  "%u of 20 snapshots go to a new address beside them; %d duplicates are opened in "
                  "a tick",
                  (unsigned)copies, HC_FORGED_PER_SOURCE);
    attack_require_none(attack, 2 * EACH * STALL_TICKS);
    raw_host_destroy(&target);
}

// ---- Silent players -----------------------------------------------------------------------------

enum {
    WATCHERS = 4,
    SILENT = 16, ///< clients with four players each
    CHURN = 160, ///< joins and leaves of four others: more than a server remembers
    SILENT_WARM = 90,
    SILENT_TICKS = 150,
};

/// A world that spectators watch, and whose clients press keys or do not.
struct watched {
    struct raw_host target;
    bool silent;
    struct raw_client watchers[WATCHERS], clients[SILENT];
};

static const void *no_keys(void *context, uint32_t index, uint32_t player) {
    static const struct hc_arena_input input;
    (void)context;
    (void)index;
    (void)player;
    return &input;
}

/// Joins as `user`, with the next port of loopback, where nothing limits connects.
static void join_watched(struct attack *attack, struct watched *watched, struct raw_client *raw,
                         uint64_t user, uint8_t players) {
    raw_client_begin(raw, watched->target.host,
                     hc_address_ipv4(127, 0, 0, 1, (uint16_t)(FIRST_PORT + user)), user, user);
    attack_require(attack, raw_client_join(raw, players, watched->target.now_us),
                   "a client cannot join");
}

static void begin_watched(struct attack *attack, struct watched *watched, bool silent) {
    struct raw_client guest;
    uint64_t user = 1;
    watched->target = target_create(4 * SILENT + 8 + WATCHERS);
    watched->silent = silent;
    for (unsigned i = 0; i < SILENT; i++)
        join_watched(attack, watched, &watched->clients[i], user++, 4);
    for (unsigned i = 0; i < CHURN; i++) {
        join_watched(attack, watched, &guest, user++, 4);
        raw_host_run(&watched->target, 2 * TICK_US, NULL);
        raw_client_leave(&guest, watched->target.now_us);
    }
    for (unsigned i = 0; i < WATCHERS; i++)
        join_watched(attack, watched, &watched->watchers[i], user++, 0);
    raw_host_run(&watched->target, 2 * TICK_US, NULL);
}

/// Plays a tick; returns the server's time for it.
static double play_watched(struct attack *attack, struct watched *watched) {
    struct raw_host *target = &watched->target;
    hc_tick head = hc_timeline_head(hc_server_timeline(target->host));
    for (unsigned i = 0; i < SILENT; i++) {
        struct raw_client *raw = &watched->clients[i];
        hc_tick first = watched->silent ? raw->welcome.tick : head;
        struct hc_input_message message = {.client_tick = head,
                                           .force_before = first,
                                           .first = first,
                                           .count = watched->silent ? 0 : 1};
        attack_require(attack,
                       raw_client_send_input(raw, message, no_keys, NULL, target->now_us) == HC_OK,
                       "inputs are rejected");
    }
    for (unsigned i = 0; i < WATCHERS; i++) {
        struct raw_client *raw = &watched->watchers[i];
        raw->ack = hc_sv_clients_of_cid(&target->host->clients, raw->cid)->connection.sent.next - 1;
        raw->ack_bits = raw->ack > 32 ? UINT32_MAX : 0;
        raw_client_send_data(raw, NULL, 0, target->now_us);
    }
    double from = attack_cpu_us();
    raw_host_run(target, TICK_US, NULL);
    return attack_cpu_us() - from;
}

void attack_silent_players(struct attack *attack) {
    static struct watched silent, speaking;
    double silent_us = 0, speaking_us = 0;
    begin_watched(attack, &silent, true);
    begin_watched(attack, &speaking, false);
    for (unsigned n = 0; n < SILENT_WARM + SILENT_TICKS; n++) {
        double a = play_watched(attack, &silent), b = play_watched(attack, &speaking);
        silent_us += n < SILENT_WARM ? 0 : a;
        speaking_us += n < SILENT_WARM ? 0 : b;
        attack->tries += SILENT;
    }
    double more = silent_us / speaking_us;
    attack_require(attack, more <= 2, "a tick takes %.1f times as long", more);
    attack_effect(attack, "%d clients of 4 players that press nothing: a tick takes %.2f times",
                  SILENT, more);
    attack_require_none(attack, SILENT * SILENT_TICKS);
    raw_host_destroy(&silent.target);
    raw_host_destroy(&speaking.target);
}

// ---- Questions --------------------------------------------------------------------------------

enum { ASKING_TICKS = 300, ASKS_EACH = 4, ASKED_UNITS = 16 };

/// Sends a question about the newest snapshot, in which every hash is wrong.
static void ask(struct raw_host *target, struct raw_client *raw) {
    uint8_t hashes[HC_COMPARE_HASH_BYTES * ASKED_UNITS], bytes[HC_DATA_BODY_MAX];
    struct hc_writer body = hc_bytes_writer(bytes, sizeof bytes);
    struct hc_compare compare = {.as_of = hc_timeline_head(hc_server_timeline(target->host)),
                                 .count = ASKED_UNITS,
                                 .hashes = hashes};
    memset(hashes, 0xa5, sizeof hashes);
    bool fits = hc_compare_put(&body, &compare);
    HC_ASSERT(fits);
    (void)raw_client_send_data(raw, bytes, body.at, target->now_us);
}

/// A client that asks, and the answers to it.
struct asker {
    struct raw_client raw;
    uint64_t answers;
};

static void count_answer(void *context, const struct hc_address *to, const uint8_t *bytes,
                         size_t size) {
    static struct hc_body body;
    struct asker *asker = context;
    uint8_t opened[HC_DATAGRAM_MAX];
    (void)to;
    asker->answers += raw_client_find(&asker->raw, bytes, size, HC_MESSAGE_DIFFERS, opened, &body);
}

void attack_questions(struct attack *attack) {
    struct raw_host target = target_create(8);
    struct asker asker = {.answers = 0};
    raw_client_begin(&asker.raw, target.host, hc_address_ipv4(127, 0, 0, 1, FIRST_PORT), 1, 1);
    attack_require(attack, raw_client_join(&asker.raw, 1, target.now_us), "the client cannot join");
    target.sent = count_answer;
    target.context = &asker;
    for (unsigned n = 0; n < ASKING_TICKS; n++) {
        for (unsigned i = 0; i < ASKS_EACH; i++, attack->tries++)
            ask(&target, &asker.raw);
        raw_host_run(&target, TICK_US, NULL);
    }
    attack->accepted = asker.answers;
    attack_require(attack, attack->accepted >= 1 && attack->accepted <= HC_COMPARES_MAX,
                   "%llu of %llu were answered", (unsigned long long)attack->accepted,
                   (unsigned long long)attack->tries);
    attack_require(attack, hc_server_clients(target.host) == 1, "the client is gone");
    attack_effect(attack, "%llu questions where worlds differ: %llu answers",
                  (unsigned long long)attack->tries, (unsigned long long)attack->accepted);
    raw_host_destroy(&target);
}
