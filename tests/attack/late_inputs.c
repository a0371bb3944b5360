/// Players try to change more of the past than their latency explains, or suffer from a longer
/// path.
#include "hindcast/arena.h"
#include "hindcast/check.h"
#include "server/state.h"
#include "tests/sim/raw_client.h"
#include "tests/attack/honest_players.h"

#include <string.h>

enum {
    CLIENTS = 4,
    LATENCY_MS = 20,
    TICK_US = 16667,
    PORT = 700,
    DELAY = 3,       ///< an input that is on time is stamped so many ticks ahead
    LATE_MARGIN = 2, ///< ticks
    CHOKE = 30,
    ROUNDS = 10,
};

/// The play of a cheat between two chokes.
struct style {
    uint32_t late;  ///< ticks by which its inputs are late, always
    uint32_t acks;  ///< datagrams by which its acknowledgements are late
    uint32_t paced; ///< ticks for which it plays a choke late before it catches up
};

struct cheat {
    struct attack *attack;
    struct honest_players *players;
    struct raw_client raw;
    hc_tick next; ///< stamp
    uint32_t acks, deepest;
    bool measures;
};

static hc_tick head_of(const struct honest_players *players) {
    return hc_timeline_head(hc_server_timeline(hc_sim_host(players->sim)));
}

static void note_depth(void *context, struct hc_sim *sim) {
    struct cheat *cheat = context;
    const struct hc_timeline *timeline = hc_server_timeline(hc_sim_host(sim));
    uint32_t depth = (uint32_t)hc_timeline_stats(timeline)->depth;
    if (cheat->measures && depth > cheat->deepest)
        cheat->deepest = depth;
}

static const void *keys(void *context, uint32_t index, uint32_t player) {
    static struct hc_arena_input input;
    const hc_tick *first = context;
    (void)player;
    input = (struct hc_arena_input){.move_x = (*first + index) / 2 % 2 == 0 ? 1 : -1};
    return &input;
}

/// Sends its inputs from the last one on up to the stamp `last`.
static void send_inputs(struct cheat *cheat, hc_tick last) {
    struct hc_server *host = hc_sim_host(cheat->players->sim);
    uint32_t sent = hc_sv_clients_of_cid(&host->clients, cheat->raw.cid)->connection.sent.next - 1;
    struct hc_input_message message = {.client_tick = head_of(cheat->players),
                                       .force_before = cheat->raw.welcome.tick,
                                       .first = cheat->next,
                                       .count = last + 1 - cheat->next};
    if (last < cheat->next)
        return;
    cheat->raw.ack = sent > cheat->acks ? sent - cheat->acks : 0;
    cheat->raw.ack_bits = cheat->raw.ack > 32 ? UINT32_MAX : 0;
    enum hc_status status = raw_client_send_input(&cheat->raw, message, keys, &cheat->next,
                                                  hc_sim_host_now(cheat->players->sim));
    attack_require(cheat->attack, status == HC_OK, "inputs are rejected");
    cheat->next = last + 1;
}

/// Plays so many ticks, with inputs `late` ticks late; 0: on time.
static void play(struct cheat *cheat, uint32_t ticks, uint32_t late) {
    for (uint32_t n = 0; n < ticks; n++) {
        hc_tick head = head_of(cheat->players);
        send_inputs(cheat, late > 0 ? hc_tick_back(head, late) : head + DELAY);
        hc_sim_run(cheat->players->sim, TICK_US);
    }
}

/// Returns the deepest rewind of a cheat that chokes for half a second every two.
static uint32_t choke_all(struct attack *attack, struct style style, uint32_t late_margin) {
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, CLIENTS, LATENCY_MS, 57);
    config.host.clients = (uint16_t)(config.clients + 1);
    config.host.late_margin = late_margin;
    struct cheat cheat = {.attack = attack, .players = honest_create(&config), .acks = style.acks};
    hc_sim_observe(cheat.players->sim, &(struct hc_sim_hooks){.host_ticked = note_depth}, &cheat);
    honest_join_all(attack, cheat.players);
    honest_admit(attack, cheat.players, &cheat.raw, PORT, 7, 7);
    cheat.next = cheat.raw.welcome.tick + 1;
    play(&cheat, 300, style.late);
    cheat.measures = true;
    for (unsigned i = 0; i < ROUNDS; i++) {
        hc_sim_run(cheat.players->sim, (uint64_t)CHOKE * TICK_US);
        play(&cheat, style.paced, style.late + CHOKE);
        play(&cheat, 120 - CHOKE - style.paced, style.late);
        attack->tries += CHOKE;
    }
    honest_require_unharmed(attack, cheat.players, CLIENTS + 1);
    honest_destroy(cheat.players);
    return cheat.deepest;
}

void attack_late_limit(struct attack *attack) {
    enum { LATE = 12, ACKS_LATE = 45 };
    const struct style on_time = {.late = 0}, late_acks = {.acks = ACKS_LATE},
                       late = {.late = LATE}, paced = {.paced = CHOKE};
    uint32_t unbound = choke_all(attack, on_time, HC_HISTORY_MAX);
    uint32_t honest = choke_all(attack, on_time, LATE_MARGIN);
    uint32_t acks = choke_all(attack, late_acks, LATE_MARGIN);
    uint32_t played = choke_all(attack, late, LATE_MARGIN);
    uint32_t follows = choke_all(attack, paced, LATE_MARGIN);
    attack_require(attack, unbound > 20, "there is nothing to gain");
    attack_require(attack, honest <= LATE_MARGIN + 1, "a choke rewinds %u ticks", honest);
    attack_require(attack, acks <= LATE_MARGIN + 1, "with late acks a choke rewinds %u ticks",
                   acks);
    attack_require(attack, played > LATE && played <= LATE + LATE_MARGIN + 1,
                   "inputs that are %d ticks late rewind %u", LATE, played);
    attack_require(attack, follows <= LATE_MARGIN + 1 + 2,
                   "a choke that is played late rewinds %u ticks", follows);
    attack_effect(attack,
                  "a choke of %d ticks rewinds %u (W alone: %u), with late acks %u, paced %u, from "
                  "one who plays %d late %u",
                  CHOKE, honest, unbound, acks, follows, LATE, played);
    attack_require_none(attack, 1000);
}

// ---- Sessions that begin nothing anew -----------------------------------------------------------

/// Returns the deepest rewind of a cheat that connects anew, and then sends nothing for a second
/// before it sends all inputs at once.
static uint32_t connect_again(struct attack *attack) {
    enum { SILENT = 61 }; // ticks: after a second its user counts as connected no more
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, CLIENTS, LATENCY_MS, 59);
    config.host.clients = (uint16_t)(config.clients + 1);
    config.host.late_margin = LATE_MARGIN;
    struct cheat cheat = {.attack = attack, .players = honest_create(&config)};
    struct hc_server *host = hc_sim_host(cheat.players->sim);
    hc_sim_observe(cheat.players->sim, &(struct hc_sim_hooks){.host_ticked = note_depth}, &cheat);
    honest_join_all(attack, cheat.players);
    for (unsigned i = 0; i <= ROUNDS; i++) {
        honest_admit(attack, cheat.players, &cheat.raw, PORT, 7, 7 + i);
        cheat.next = cheat.raw.welcome.tick + 1;
        cheat.measures = i > 0;
        hc_sim_run(cheat.players->sim, (i > 0 ? SILENT : 1) * (uint64_t)TICK_US);
        play(&cheat, 180, 0);
        hc_sim_run(cheat.players->sim, SILENT * (uint64_t)TICK_US);
        attack->tries += SILENT;
    }
    attack_require(attack, hc_server_stats(host)->resumed == ROUNDS, "it did not connect again");
    honest_require_unharmed(attack, cheat.players, CLIENTS + 1);
    honest_destroy(cheat.players);
    return cheat.deepest;
}

/// Returns the deepest rewind while a client's inputs take 400 ms longer for two seconds of each
/// five, with another port each 0.4 s.
static uint32_t change_ports(struct attack *attack) {
    enum { NEAR_MS = 0, FAR_MS = 400, TURNS = 80, TURN_MS = 400 };
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, CLIENTS, NEAR_MS, 60);
    struct hc_network_sim_config links[2] = {hc_network_sim_config_default(),
                                             hc_network_sim_config_default()};
    links[1].latency_us = FAR_MS * MS_US;
    config.host.late_margin = LATE_MARGIN;
    struct cheat cheat = {.attack = attack, .players = honest_create(&config)};
    struct hc_sim *sim = cheat.players->sim;
    hc_sim_observe(cheat.players->sim, &(struct hc_sim_hooks){.host_ticked = note_depth}, &cheat);
    honest_join_all(attack, cheat.players);
    hc_sim_run(sim, 3 * SECOND_US);
    cheat.measures = true;
    for (unsigned i = 0; i < TURNS; i++) {
        hc_sim_set_link(sim, 0, &links[i % 5 >= 3], NULL);
        hc_sim_rebind(sim, 0);
        hc_sim_run(sim, TURN_MS * MS_US);
        attack->tries++;
    }
    attack_require(attack, hc_server_stats(hc_sim_host(sim))->moved >= TURNS / 4,
                   "it did not move");
    honest_destroy(cheat.players);
    return cheat.deepest;
}

void attack_hindsight(struct attack *attack) {
    uint32_t anew = connect_again(attack), moved = change_ports(attack);
    attack_require(attack, anew <= LATE_MARGIN + 1, "a new connection rewinds %u ticks", anew);
    attack_require(attack, moved <= LATE_MARGIN + 1 + 3, "new ports rewind %u ticks", moved);
    attack_effect(attack, "%d connections, each silent for a second: %u ticks; %s: %u", ROUNDS,
                  anew, "a port changed each 0.4 s", moved);
    attack_require_none(attack, 500);
}

// ---- Paths that change --------------------------------------------------------------------------

/// Counts inputs that the server forces in so many milliseconds.
static uint64_t forced_in(struct honest_players *players, uint32_t ms) {
    const struct hc_server_stats *stats = hc_server_stats(hc_sim_host(players->sim));
    uint64_t before = stats->inputs_forced;
    hc_sim_run(players->sim, (uint64_t)ms * MS_US);
    return stats->inputs_forced - before;
}

/// Counts forced inputs when a client gets 180 ms farther away: within `ms`, and in the ten seconds
/// after.
static uint64_t get_far(struct attack *attack, uint32_t late_margin, bool moves, uint32_t ms,
                        uint64_t *after) {
    enum { NEAR_MS = 20, FAR_MS = 200 };
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, CLIENTS, NEAR_MS, 58);
    struct hc_network_sim_config far = hc_network_sim_config_default();
    far.latency_us = FAR_MS * MS_US;
    config.host.late_margin = late_margin;
    hc_sim_fix_delays(&config.client, 3, 0); // automatic ones slew for 300 ms more
    struct honest_players *players = honest_create(&config);
    honest_join_all(attack, players);
    hc_sim_run(players->sim, 3 * SECOND_US);
    attack_require(attack, hc_server_stats(hc_sim_host(players->sim))->inputs_forced == 0,
                   "inputs are lost before the path changes");
    hc_sim_set_link(players->sim, 0, &far, &far);
    if (moves)
        hc_sim_rebind(players->sim, 0);
    uint64_t lost = forced_in(players, ms);
    *after = forced_in(players, 10000);
    attack->tries++;
    honest_require_unharmed(attack, players, 0);
    honest_destroy(players);
    return lost;
}

void attack_far_path(struct attack *attack) {
    enum { FOLLOWED_MS = 2000 };
    struct hc_server_config defaults = hc_server_config_default();
    uint64_t after, lost = get_far(attack, LATE_MARGIN, false, FOLLOWED_MS, &after);
    attack_require(attack, after == 0, "a client that got farther away loses inputs for good");
    attack_require(attack, lost > 0, "nothing was refused");
    uint64_t moved = get_far(attack, LATE_MARGIN, true, FOLLOWED_MS, &after);
    attack_require(attack, after == 0, "a client that moved away loses inputs for good");
    attack_require(attack, moved <= lost + lost / 4, "a new address costs %llu more inputs",
                   (unsigned long long)(moved - lost));
    uint64_t usual = get_far(attack, defaults.late_margin, false, FOLLOWED_MS, &after);
    attack_require(attack, usual == 0 && after == 0, "the default late margin loses %llu inputs",
                   (unsigned long long)(usual + after));
    attack_effect(
        attack,
        "20 ms to 200: %llu inputs lost in the first %d ms, %llu with a new address, none "
        "after; none by default",
        (unsigned long long)lost, FOLLOWED_MS, (unsigned long long)moved);
    attack_require_none(attack, 3);
}
