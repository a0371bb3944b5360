/// What a client costs the server that was let in and asks for more work than it plays for.
#include "hindcast/arena.h"
#include "hindcast/check.h"
#include "server/host_internal.h"
#include "tests/attack/puppet.h"
#include "tests/attack/yard.h"

#include <stdlib.h>
#include <string.h>

enum {
    HONEST = 56,
    EVIL = 8,
    WARM = 120, ///< ticks, before
    TICKS = 60,
    TICK_US = 16667,
    DELAY = 3,
    FIRST_PORT = 700,
    ACKS_LATE = 18, ///< datagrams, and up to
    ACKS_MORE = 7,  ///< so many more
};

/// How a client makes work.
enum evil { EVIL_ACKS = 1, EVIL_TICK = 2, EVIL_OFFSET = 4, EVIL_ALL = 7 };

/// What the server has done.
struct work {
    double us;
    uint64_t deltas; ///< encoded
    uint64_t steps;  ///< by which baselines were extrapolated
    uint64_t units;  ///< looked at, for snapshots and for corrections
};

struct cost {
    double us, from_us;
    struct yard *yard;
    hc_tick next[EVIL];
    struct puppet puppets[EVIL];
};

static void note_work(struct yard *yard, enum hc_sim_work work, bool begins) {
    struct cost *cost = yard->context;
    (void)work;
    if (begins)
        cost->from_us = attack_cpu_us();
    else
        cost->us += attack_cpu_us() - cost->from_us;
}

static const void *keys(void *context, uint32_t index, uint32_t player) {
    static struct hc_arena_input input;
    const hc_tick *first = context;
    (void)player;
    yard_keys(9, 3, *first + index, &input);
    return &input;
}

static void send_evil(struct attack *attack, struct cost *cost, unsigned i, unsigned evil) {
    uint8_t bytes[HC_DATA_BODY_MAX], sealed[HC_DATAGRAM_MAX];
    struct hc_writer body = hc_bytes_writer(bytes, sizeof bytes);
    struct hc_sv_host *host = hc_sim_host(cost->yard->sim);
    struct puppet *puppet = &cost->puppets[i];
    uint32_t sent = hc_sv_host_peer(host, puppet->cid)->sent.next - 1;
    hc_tick head = hc_timeline_head(hc_sv_host_timeline(host)), last = head + DELAY;
    uint32_t late = evil & EVIL_ACKS ? ACKS_LATE + i % ACKS_MORE : 6;
    struct hc_input_message message = {.client_tick = evil & EVIL_TICK ? 1 : head,
                                       .display_offset = evil & EVIL_OFFSET ? HC_HISTORY_MAX : 0,
                                       .force_before = puppet->welcome.tick,
                                       .first = cost->next[i],
                                       .count = last + 1 - cost->next[i]};
    if (last < cost->next[i])
        return;
    bool fits = hc_message_put_input(&body, &hc_arena, 1, &message, keys, &cost->next[i]);
    HC_ASSERT(fits);
    uint32_t ack = sent > late ? sent - late : 0;
    size_t size = puppet_seal(puppet, bytes, body.at, ack, ack > 32 ? UINT32_MAX : 0, sealed);
    double from = attack_cpu_us();
    enum hc_status status =
        hc_sv_host_receive(host, &puppet->address, sealed, size, hc_sim_host_now(cost->yard->sim));
    cost->us += attack_cpu_us() - from;
    attack_require(attack, status == HC_OK, "inputs are rejected");
    cost->next[i] = last + 1;
}

static struct work look(const struct cost *cost) {
    const struct hc_sv_host_stats *stats = hc_sv_host_stats(hc_sim_host(cost->yard->sim));
    return (struct work){.us = cost->us,
                         .deltas = stats->deltas_encoded,
                         .steps = stats->extrapolation_steps,
                         .units = stats->units_looked_at};
}

/// What the server does in two seconds for the honest ones and `count` that are evil in that way.
static struct work play(struct attack *attack, unsigned count, unsigned evil) {
    struct hc_sim_config config = yard_config(HONEST, EVIL, 50, 59);
    bool known = hc_network_sim_preset("ok", &config.up);
    HC_ASSERT(known);
    config.down = config.up;
    struct cost *cost = calloc(1, sizeof *cost);
    HC_ASSERT(cost != NULL);
    cost->yard = yard_create(&config);
    cost->yard->context = cost;
    cost->yard->host_works = note_work;
    yard_join_all(attack, cost->yard);
    for (unsigned i = 0; i < count; i++) {
        struct puppet *puppet = &cost->puppets[i];
        puppet_begin(puppet, hc_sim_host(cost->yard->sim),
                     hc_address_ipv4(127, 0, 0, 1, (uint16_t)(FIRST_PORT + i)), 7 + i, 7 + i);
        attack_require(attack, puppet_join(puppet, 1, hc_sim_host_now(cost->yard->sim)),
                       "the cheat cannot join");
        cost->next[i] = puppet->welcome.tick + 1;
    }
    struct work from = {.us = 0};
    for (unsigned n = 0; n < WARM + TICKS; n++) {
        if (n == WARM)
            from = look(cost);
        for (unsigned i = 0; i < count; i++)
            send_evil(attack, cost, i, evil);
        hc_sim_run(cost->yard->sim, TICK_US);
    }
    struct work work = look(cost);
    yard_destroy(cost->yard);
    free(cost);
    attack->tries += count;
    return (struct work){.us = work.us - from.us,
                         .deltas = work.deltas - from.deltas,
                         .steps = work.steps - from.steps,
                         .units = work.units - from.units};
}

/// How many honest clients one evil client costs, by what the evil ones add.
static double ratio(double honest, double with_evil) {
    return (with_evil - honest) / EVIL / (honest / HONEST);
}

static double larger(double a, double b) {
    return a > b ? a : b;
}

void attack_cost(struct attack *attack) {
    static const unsigned ways[] = {EVIL_ACKS, EVIL_TICK, EVIL_OFFSET, EVIL_ALL};
    struct work honest = play(attack, 0, 0);
    double all = (double)(honest.deltas + honest.steps + honest.units);
    double deltas = 0, steps = 0, units = 0, most = 0, us = 0;
    for (unsigned w = 0; w < sizeof ways / sizeof ways[0]; w++) {
        struct work evil = play(attack, EVIL, ways[w]);
        most = larger(most, ratio(all, (double)(evil.deltas + evil.steps + evil.units)));
        deltas = larger(deltas, ratio((double)honest.deltas, (double)evil.deltas));
        steps = larger(steps, ratio((double)honest.steps, (double)evil.steps));
        units = larger(units, ratio((double)honest.units, (double)evil.units));
        us = larger(us, ratio(honest.us, evil.us));
    }
    attack_require(attack, most <= 2, "it makes the work of %.2f", most);
    attack_effect(attack,
                  "%d beside %d: work x %.2f: deltas encoded %.2f, ticks extrapolated %.2f, units "
                  "looked at %.2f; time x %.1f of %.0f us a tick",
                  EVIL, HONEST, most, deltas, steps, units, us, honest.us / HONEST / TICKS);
    attack_require_none(attack, EVIL);
}

// ---- Forged DATA --------------------------------------------------------------------------------

/// DATA that name the puppet's connection, from one address or from as many as there are; and
/// between them one of its own, from where it is or, `moves`, from somewhere else. Returns the
/// microseconds that a forged one took.
static double forge(struct attack *attack, bool many, bool moves) {
    enum { EACH = 2000, FORGED_TICKS = 60 };
    static uint8_t bytes[HC_DATAGRAM_MAX];
    struct gate gate = gate_open(2);
    struct puppet puppet;
    double us = 0;
    puppet_begin(&puppet, gate.host, hc_address_ipv4(10, 0, 0, 1, 4000), 3, 3);
    attack_require(attack, puppet_join(&puppet, 1, gate.now_us), "it cannot join");
    const struct hc_sv_host_stats *stats = hc_sv_host_stats(gate.host);
    for (uint32_t tick = 0; tick < FORGED_TICKS; tick++) {
        gate_run(&gate, TICK_US, &puppet);
        uint64_t forged = stats->forged;
        if (moves)
            puppet.address = hc_address_ipv4(10, 0, 0, 2, 4000);
        attack_require(attack, puppet_data(&puppet, NULL, 0, gate.now_us) == HC_OK,
                       "its own is not taken");
        double from = attack_cpu_us();
        for (uint32_t i = 0; i < EACH; i++) {
            struct hc_address address = hc_address_ipv4(10, 9, many ? (uint8_t)(i / 200) : 0,
                                                        many ? (uint8_t)(i % 200) : 7, 99);
            struct hc_data data = {.cid = puppet.cid, .seq = 1000 + i};
            hc_datagram_put_data(&data, bytes);
            bool accepted =
                hc_sv_host_receive(gate.host, &address, bytes, sizeof bytes, gate.now_us) == HC_OK;
            attack_try(attack, accepted);
        }
        us += attack_cpu_us() - from;
        attack_require(attack, puppet_data(&puppet, NULL, 0, gate.now_us) == HC_OK,
                       "its own is not taken after them");
        attack_require(
            attack, stats->forged - forged <= (many ? HC_SV_FORGED_CONNECTION : HC_SV_FORGED_EACH),
            "%llu are opened in a tick", (unsigned long long)(stats->forged - forged));
    }
    gate_close(&gate);
    return us / EACH / FORGED_TICKS;
}

void attack_forged_data(struct attack *attack) {
    double one = forge(attack, false, false), many = forge(attack, true, false);
    forge(attack, false, true);
    forge(attack, true, true);
    attack_effect(attack, "one of 1,200 bytes takes %.2f us from one address, %.2f from many", one,
                  many);
    attack_require_none(attack, 400000);
}

// ---- Forged copies ------------------------------------------------------------------------------

static const struct hc_address home = {.ip = {[10] = 0xff, 0xff, 10, 0, 0, 1}, .port = 4000};
static const struct hc_address stranger = {.ip = {[10] = 0xff, 0xff, 10, 9, 0, 7}, .port = 99};

/// DATA with the puppet's cid and the seq of its newest one, or a later one, and with zeros instead
/// of all that is sealed.
static void forge_one(struct attack *attack, const struct gate *gate, const struct puppet *puppet,
                      struct hc_address from, uint32_t later) {
    uint8_t bytes[HC_DATAGRAM_MAX] = {0};
    struct hc_data data = {.cid = puppet->cid, .seq = puppet->seq + later};
    hc_datagram_put_data(&data, bytes);
    attack_try(attack,
               hc_sv_host_receive(gate->host, &from, bytes, sizeof bytes, gate->now_us) == HC_OK);
}

/// A client moves, and somebody says forged duplicates from where it was: its snapshots go to the
/// new address all the same. Returns how many did.
static uint64_t move_beside_copies(struct attack *attack, struct gate *gate,
                                   struct puppet *puppet) {
    enum { MOVE_TICKS = 20 };
    puppet->address.port++;
    for (uint32_t tick = 0; tick < MOVE_TICKS; tick++) {
        attack_require(attack, puppet_data(puppet, NULL, 0, gate->now_us) == HC_OK, "not taken");
        forge_one(attack, gate, puppet, home, 0);
        gate_run(gate, TICK_US, puppet);
    }
    uint64_t copies = hc_sv_host_stats(gate->host)->copies;
    attack_require(attack, copies >= MOVE_TICKS / 2, "only %u snapshots go there",
                   (unsigned)copies);
    return copies;
}

/// Copies of one DATA from elsewhere, all but 16 a tick of which are dropped unopened.
static void copy_many(struct attack *attack, struct gate *gate, struct puppet *puppet) {
    enum { COPIES = 500 };
    uint8_t bytes[HC_DATAGRAM_MAX];
    const struct hc_sv_host_stats *stats = hc_sv_host_stats(gate->host);
    size_t size = puppet_seal(puppet, NULL, 0, 0, 0, bytes);
    bool taken =
        hc_sv_host_receive(gate->host, &puppet->address, bytes, size, gate->now_us) == HC_OK;
    attack_require(attack, taken, "its own is not taken");
    uint64_t dropped = stats->dropped;
    for (uint32_t i = 0; i < COPIES; i++)
        attack_try(attack,
                   hc_sv_host_receive(gate->host, &stranger, bytes, size, gate->now_us) == HC_OK);
    attack_require(attack, stats->dropped - dropped >= COPIES - HC_SV_FORGED_EACH,
                   "only %u are dropped", (unsigned)(stats->dropped - dropped));
}

void attack_forged_copies(struct attack *attack) {
    enum { EACH = 500, STALL_TICKS = 60 };
    struct gate gate = gate_open(2);
    struct puppet puppet;
    puppet_begin(&puppet, gate.host, home, 3, 3);
    attack_require(attack, puppet_join(&puppet, 1, gate.now_us), "it cannot join");
    gate_run(&gate, TICK_US, &puppet);
    attack_require(attack, puppet_data(&puppet, NULL, 0, gate.now_us) == HC_OK, "not taken");
    gate_run(&gate, TICK_US, &puppet);
    uint64_t copies = move_beside_copies(attack, &gate, &puppet);
    puppet.address = home;
    const struct hc_sv_host_stats *stats = hc_sv_host_stats(gate.host);
    for (uint32_t tick = 0; tick < STALL_TICKS; tick++) {
        gate_run(&gate, TICK_US, &puppet);
        for (uint32_t i = 0; i < EACH; i++) // before its own, which are taken all the same
            forge_one(attack, &gate, &puppet, home, 1 + i);
        attack_require(attack, puppet_data(&puppet, NULL, 0, gate.now_us) == HC_OK,
                       "its own is not taken");
        uint64_t forged = stats->forged;
        for (uint32_t i = 0; i < EACH; i++)
            forge_one(attack, &gate, &puppet, stranger, 0);
        attack_require(attack, stats->forged - forged <= HC_SV_FORGED_EACH,
                       "%u duplicates are opened in a tick", (unsigned)(stats->forged - forged));
    }
    gate_run(&gate, TICK_US, &puppet);
    copy_many(attack, &gate, &puppet);
    attack_effect(attack,
                  "%u of 20 snapshots go to a new address beside them; %d duplicates are opened in "
                  "a tick",
                  (unsigned)copies, HC_SV_FORGED_EACH);
    attack_require_none(attack, 2 * EACH * STALL_TICKS);
    gate_close(&gate);
}
