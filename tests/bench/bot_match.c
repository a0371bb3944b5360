/// The match between bots: its bots, links, measured bytes and times.
#define _POSIX_C_SOURCE 200809L

#include "tests/bench/bot_match.h"
#include "tests/bench/corner_arena.h"

#include "common/programs/thinker.h"
#include "hindcast/arena.h"
#include "hindcast/rng.h"
#include "server/replication/look.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    JOIN_US = 250000,       ///< in which all have connected
    SHOWN_EACH_TICK = 400,  ///< samples of shown players, about
    CHANGED_ONE_IN = 8,     ///< snapshots of which the changed entities are counted
    TURNS_APART_US = 20000, ///< changes of direction that are watched, at least
    LAST_TURN_TICKS = 20,   ///< before the end no new change is watched
    TURN_TICKS = BENCH_TURN_MS * BENCH_TICK_RATE / 1000,
    SHOT_TICKS = BENCH_SHOT_MS * BENCH_TICK_RATE / 1000,
    TRIGGER_TICKS = 8, ///< ticks that the trigger is held for one shot
    PACKETS = 96,      ///< in flight on a link
};

struct player {
    struct hc_thinker bot;
    hc_tick decided_at; ///< tick of its newest decision; HC_NO_TICK: none
    hc_tick turned_at;
    hc_tick aimed_at;   ///< when it last changed its aim
    hc_tick fired_at;   ///< when it began to shoot
    hc_tick sampled_at; ///< tick of the newest frame
    struct hc_arena_input input;
};

/// Counts while measuring.
struct counted {
    uint64_t down_bytes, up_bytes, down, up;
    struct bench_snapshot_bits bits;
    uint64_t snapshots;                       ///< of the host, when the newest was counted
    uint64_t sampled_bytes, sampled_entities; ///< of bodies; changed ones in view
    uint64_t ns[HC_SIM_WORKS];
    uint64_t seen; ///< players in view, summed over the sampled snapshots
    uint64_t sampled;
    uint64_t turns, shots, player_ticks;
};

struct match {
    const struct bench_match_config *config;
    struct hc_game game; ///< the server's, because only the server uses `view`
    struct hc_sim *sim;
    struct player *players;
    const struct hc_sv_peer **peers; ///< [players] of each client, once all play
    bool measures;
    hc_tick last_turn; ///< after this tick no change of direction is watched
    uint64_t begun_ns, turned_us;
    hc_tick counted_to; ///< newest final tick whose inputs were counted
    struct counted counted;
    struct bench_display_error *display_error;
    struct bench_turn_delay turn_delay;
};

static uint64_t cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now); // because other programs use the machine
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint32_t step_of(const struct bench_match_config *config) {
    return BENCH_TICK_RATE / config->snapshot_rate;
}

// ---- Bots ---------------------------------------------------------------------------------------

/// Makes a bot turn, shoot and aim less often.
static void limit_rates(struct player *player, hc_tick tick, uint32_t aim_ticks,
                        const struct hc_arena_input *before) {
    struct hc_arena_input *input = &player->input;
    bool turns = input->move_x != before->move_x || input->move_y != before->move_y;
    if (turns && tick - player->turned_at < TURN_TICKS) {
        input->move_x = before->move_x;
        input->move_y = before->move_y;
    } else if (turns) {
        player->turned_at = tick;
    }
    if (input->fire && tick - player->fired_at >= SHOT_TICKS)
        player->fired_at = tick;
    if (tick - player->fired_at >= TRIGGER_TICKS)
        input->fire = 0;
    if (tick - player->aimed_at < aim_ticks && !input->fire)
        input->aim = before->aim;
    else
        player->aimed_at = tick;
}

static void script(void *context, struct hc_sim *sim, unsigned client, unsigned index, hc_tick tick,
                   void *input) {
    struct match *match = context;
    struct player *player = &match->players[client];
    const struct hc_client *of = hc_sim_client(sim, client);
    const struct hc_timeline *timeline = hc_client_timeline(of);
    struct hc_arena_input before = player->input;
    if (player->decided_at != tick) {
        player->decided_at = tick;
        hc_thinker_think(&player->bot, hc_client_world(of), tick,
                         hc_timeline_presence(timeline, tick), hc_timeline_states(timeline, tick),
                         hc_client_player(of, index), &player->input);
        limit_rates(player, tick, match->config->aim_ticks, &before);
    }
    bool turns = player->input.move_x != before.move_x || player->input.move_y != before.move_y;
    if (turns && match->measures && tick <= match->last_turn &&
        hc_sim_now(sim) - match->turned_us >= TURNS_APART_US) {
        match->turned_us = hc_sim_now(sim);
        bench_turn_delay_turn(&match->turn_delay, hc_client_player(of, index),
                              tick + BENCH_INPUT_DELAY, &player->input);
    }
    memcpy(input, &player->input, sizeof player->input);
    if (match->config->recording != NULL)
        bench_recording_script(match->config->recording, client, input, sizeof player->input);
}

/// Counts the bots' turns and shots at `tick`, which is final.
static void count_rates(struct match *match, const struct hc_server *host, hc_tick tick) {
    const struct hc_world *world = &host->world;
    for (hc_player p = 0; p < world->players; p++) {
        const struct hc_arena_input *now = hc_timeline_effective(host->timeline, p, tick);
        const struct hc_arena_input *before = hc_timeline_effective(host->timeline, p, tick - 1);
        size_t at = (size_t)hc_world_player(world, p) * world->stride;
        const struct hc_arena_player *from =
            (const void *)(hc_timeline_states(host->timeline, tick - 1) + at);
        const struct hc_arena_player *to =
            (const void *)(hc_timeline_states(host->timeline, tick) + at);
        match->counted.turns += now->move_x != before->move_x || now->move_y != before->move_y;
        match->counted.shots += to->cooldown > from->cooldown;
        match->counted.player_ticks++;
    }
}

// ---- Bytes --------------------------------------------------------------------------------------

/// Counts the entities in the peer's view that differ at `tick` from the snapshot before, and adds
/// the players in view to `*players`.
static uint32_t changed(const struct hc_server *host, const struct hc_sv_peer *peer, hc_tick tick,
                        uint32_t step, uint64_t *players) {
    const struct hc_world *world = &host->world;
    const uint8_t *presence[2], *states[2];
    uint32_t count = 0;
    for (unsigned i = 0; i < 2; i++) {
        hc_tick at = hc_tick_max(hc_tick_back(tick, i * step), hc_timeline_oldest(host->timeline));
        presence[i] = hc_timeline_presence(host->timeline, at);
        states[i] = hc_timeline_states(host->timeline, at);
    }
    for (uint32_t u = 0; u < hc_unit_total(world); u++) {
        if (!hc_sv_view_sees(&peer->replication.interest.view, (hc_unit)u))
            continue;
        *players += u >= 1 && u <= world->players && u != peer->replication.own[0] + 1u;
        hc_entity first = hc_unit_first(world, (hc_unit)u);
        for (uint32_t e = first; e < first + hc_unit_count(world, (hc_unit)u); e++)
            count += presence[0][e] != presence[1][e] ||
                     memcmp(states[0] + (size_t)e * world->stride,
                            states[1] + (size_t)e * world->stride, world->stride) != 0;
    }
    return count;
}

static void host_sent(void *context, struct hc_sim *sim, unsigned client, const uint8_t *bytes,
                      size_t size) {
    struct match *match = context;
    struct counted *counted = &match->counted;
    const struct hc_server *host = hc_sim_host(sim);
    if (match->config->recording != NULL)
        bench_recording_host_sent(match->config->recording, sim, size);
    if (!match->measures || hc_datagram_kind(bytes, size) != HC_DATAGRAM_DATA)
        return;
    counted->down++;
    counted->down_bytes += size + BENCH_IP_UDP;
    const struct hc_sv_peer *peer = match->peers[client];
    bool is_snapshot = host->stats.snapshots != counted->snapshots;
    counted->snapshots = host->stats.snapshots;
    if (is_snapshot)
        bench_snapshot_bits_add(&counted->bits, host->replicator.builder);
    if (hc_random(3, client, hc_timeline_head(host->timeline), 0) % CHANGED_ONE_IN == 0) {
        counted->sampled++;
        counted->sampled_bytes += size - HC_DATA_BODY_AT - HC_TAG_SIZE;
        counted->sampled_entities +=
            changed(host, peer, hc_sv_look_tick(&host->replicator, &peer->replication),
                    step_of(match->config), &counted->seen);
    }
    if (is_snapshot && match->config->entropy != NULL)
        bench_entropy_take(match->config->entropy, host, step_of(match->config));
}

static void client_sent(void *context, struct hc_sim *sim, unsigned client, const uint8_t *bytes,
                        size_t size) {
    struct match *match = context;
    if (match->config->recording != NULL)
        bench_recording_client_sent(match->config->recording, sim, client, size);
    if (!match->measures || hc_datagram_kind(bytes, size) != HC_DATAGRAM_DATA)
        return;
    match->counted.up++;
    match->counted.up_bytes += size + BENCH_IP_UDP;
}

static void host_works(void *context, struct hc_sim *sim, enum hc_sim_work work, bool begins) {
    struct match *match = context;
    (void)sim;
    if (begins)
        match->begun_ns = cpu_ns();
    else if (match->measures)
        match->counted.ns[work] += cpu_ns() - match->begun_ns;
}

static void host_received(void *context, struct hc_sim *sim, unsigned client, uint16_t port,
                          const uint8_t *bytes, size_t size, enum hc_status status) {
    struct match *match = context;
    (void)client, (void)bytes, (void)status;
    bench_recording_host_received(match->config->recording, sim, port, size);
}

static void host_advances(void *context, struct hc_sim *sim) {
    struct match *match = context;
    bench_recording_host_advances(match->config->recording, sim);
}

static void client_received(void *context, struct hc_sim *sim, unsigned client,
                            const uint8_t *bytes, size_t size, enum hc_status status) {
    struct match *match = context;
    (void)bytes, (void)status;
    bench_recording_client_received(match->config->recording, sim, client, size);
}

// ---- Errors of clients --------------------------------------------------------------------------

static void client_changed(void *context, struct hc_sim *sim, unsigned client) {
    struct match *match = context;
    const struct hc_timeline *timeline = hc_client_timeline(hc_sim_client(sim, client));
    if (match->config->recording != NULL)
        bench_recording_client_changed(match->config->recording, sim, client);
    if (!match->measures || timeline == NULL || !hc_timeline_started(timeline))
        return;
    bench_turn_delay_note(&match->turn_delay, client);
    struct player *player = &match->players[client];
    hc_tick head = hc_timeline_head(timeline);
    if (player->sampled_at == head)
        return;
    player->sampled_at = head;
    uint64_t players = match->config->players;
    uint64_t one_in = players * (players < 64 ? players : 64) / SHOWN_EACH_TICK + 1;
    if (hc_random(client, head, 0, 0) % one_in == 0)
        bench_display_error_sample(match->display_error, sim, client, match->peers[client]);
}

static void host_ticked(void *context, struct hc_sim *sim) {
    struct match *match = context;
    const struct hc_server *host = hc_sim_host(sim);
    if (!match->measures) {
        match->counted_to = host->replicator.final;
        return;
    }
    bench_display_error_judge(match->display_error, host);
    bench_turn_delay_judge(&match->turn_delay);
    while (match->counted_to < host->replicator.final) {
        match->counted_to++;
        if (match->counted_to >= hc_timeline_oldest(host->timeline) + 2 &&
            match->counted_to < hc_timeline_head(host->timeline))
            count_rates(match, host, match->counted_to);
    }
}

// ---- The match ----------------------------------------------------------------------------------

static struct hc_sim_config sim_config(struct match *match) {
    const struct bench_match_config *config = match->config;
    struct hc_sim_config sim = hc_sim_config_players(&match->game, config->players, 0, 1);
    match->game = hc_arena;
    if (config->places > config->players) {
        bench_corner_arena(&match->game, &config->players);
        sim.host.clients = config->places;
    }
    match->game.view = config->view;
    sim.host.snapshot_rate = config->snapshot_rate;
    hc_sim_fix_delays(&sim.client, BENCH_INPUT_DELAY, 0);
    sim.client.extrapolation = config->extrapolation;
    sim.packets_max = PACKETS;
    if (sim.host.clients > 256) // to limit the clients' memory
        sim.client.prediction_limit = 24;
    sim.hooks = (struct hc_sim_hooks){.script = script,
                                      .host_works = host_works,
                                      .host_ticked = host_ticked,
                                      .client_changed = client_changed,
                                      .host_sent = host_sent,
                                      .client_sent = client_sent};
    if (config->recording != NULL) {
        sim.hooks.host_advances = host_advances;
        sim.hooks.host_received = host_received;
        sim.hooks.client_received = client_received;
    }
    sim.context = match;
    return sim;
}

static void set_links(const struct match *match, uint32_t loss_ppm) {
    const struct bench_match_config *config = match->config;
    for (unsigned c = 0; c < config->players; c++) {
        uint64_t spread = (uint64_t)(config->far_us - config->near_us) * c;
        struct hc_network_sim_config link = {.latency_us = config->near_us +
                                                           (uint32_t)(spread / config->players),
                                             .loss_ppm = loss_ppm};
        hc_sim_set_link(match->sim, c, &link, &link);
    }
}

static bool set_up(struct match *match) {
    const struct bench_match_config *config = match->config;
    struct hc_sim_config sim = sim_config(match);
    match->players = calloc(config->players, sizeof *match->players);
    match->peers = calloc(config->players, sizeof *match->peers);
    match->display_error = calloc(1, sizeof *match->display_error);
    match->sim = hc_sim_create(&sim);
    if (match->players == NULL || match->peers == NULL || match->display_error == NULL ||
        match->sim == NULL)
        return false;
    if (config->recording != NULL)
        bench_recording_created(config->recording, match->sim);
    set_links(match, 0); // so that no handshake lasts longer than the others
    for (unsigned c = 0; c < config->players; c++) {
        hc_thinker_init(&match->players[c].bot, hc_arena_think, 1, c);
        match->players[c].decided_at = HC_NO_TICK;
        // Not all at once.
        match->players[c].fired_at = (hc_tick)hc_random(2, c, 0, 0) % SHOT_TICKS - SHOT_TICKS;
    }
    for (unsigned c = 0; c < config->players; c++) {
        hc_sim_run_until(match->sim, (uint64_t)JOIN_US * c / config->players);
        if (!hc_sim_connect(match->sim, c))
            return false;
        if (config->recording != NULL && c == config->recording->recorded)
            bench_recording_connected(config->recording, match->sim);
    }
    return bench_turn_delay_init(&match->turn_delay, match->sim, match->peers);
}

/// Finds the peer of each client; false: a client does not play.
static bool find_peers(struct match *match) {
    struct hc_server *host = hc_sim_host(match->sim);
    for (unsigned c = 0; c < match->config->players; c++) {
        uint16_t port = hc_sim_address(match->sim, c).port;
        for (unsigned i = 0; i < host->config.clients; i++)
            if (host->clients.peers[i].state == HC_SV_PEER_PLAYING &&
                host->clients.peers[i].address.port == port)
                match->peers[c] = &host->clients.peers[i];
        if (match->peers[c] == NULL ||
            hc_client_state(hc_sim_client(match->sim, c)) != HC_CLIENT_PLAYING)
            return false;
    }
    return true;
}

static double percent(double part, double whole) {
    return whole > 0 ? 100 * part / whole : 0;
}

static void sum_shares(const struct bench_snapshot_bits *bits, double bytes,
                       struct bench_match_result *result) {
    double all = 8 * bytes;
    result->own = percent((double)bits->own, all);
    result->others = percent((double)bits->others, all);
    result->unowned = percent((double)bits->unowned, all);
    result->inputs = percent((double)bits->inputs, all);
    result->names = percent((double)bits->names, all);
    result->corrections = percent((double)bits->corrections, all);
    result->head = percent((double)bits->header, all);
    result->overhead = 100 - result->own - result->others - result->unowned - result->inputs -
                       result->names - result->corrections - result->head;
    result->value_bits = (double)(bits->own + bits->others + bits->unowned);
}

static void sum_up(const struct match *match, const struct hc_server_stats *before,
                   const struct hc_server_stats *after, struct bench_match_result *result) {
    const struct counted *counted = &match->counted;
    const struct bench_match_config *config = match->config;
    double client_ticks = (double)config->ticks * config->players;
    double client_s = client_ticks / BENCH_TICK_RATE;
    double encoded = (double)(after->deltas_encoded - before->deltas_encoded);
    double reused = (double)(after->deltas_reused - before->deltas_reused);
    *result = (struct bench_match_result){
        .players = config->players,
        .snapshot_rate = config->snapshot_rate,
        .in_view = (double)counted->seen / (double)counted->sampled,
        .down_kbit = (double)counted->down_bytes * 8 / 1000 / client_s,
        .up_kbit = (double)counted->up_bytes * 8 / 1000 / client_s,
        .down_datagrams = (double)counted->down / client_s,
        .up_datagrams = (double)counted->up / client_s,
        .bytes_each = (double)counted->sampled_bytes / (double)counted->sampled_entities,
        .delta_cache = percent(reused, encoded + reused),
        .wait_ms = (double)after->longest_unsent_ticks * 1000 / BENCH_TICK_RATE,
        .send_us = (double)counted->ns[HC_SIM_WORK_SEND] / 1000 /
                   (double)(after->snapshots - before->snapshots),
        .corrected = (double)(after->corrections - before->corrections) / client_s,
    };
    for (unsigned i = 0; i < HC_SIM_WORKS; i++)
        result->work_us += (double)counted->ns[i] / 1000 / client_ticks;
    sum_shares(&counted->bits, (double)counted->down_bytes, result);
}

/// Adds the figures of final ticks.
static void sum_up_late(const struct match *match, struct bench_match_result *result) {
    const struct hc_histogram *error = &match->display_error->error,
                              *right = &match->turn_delay.right_us;
    const double pixel = 256.0 * HC_ARENA_PIXEL;
    double player_s = (double)match->counted.player_ticks / BENCH_TICK_RATE;
    result->error_p50 = (double)hc_histogram_percentile(error, 500) / pixel;
    result->error_p95 = (double)hc_histogram_percentile(error, 950) / pixel;
    result->unseen = percent((double)match->display_error->unseen,
                             (double)match->display_error->unseen + (double)error->count);
    result->right_p50 = (double)hc_histogram_percentile(right, 500) / 1000;
    result->right_p95 = (double)hc_histogram_percentile(right, 950) / 1000;
    result->never = percent((double)match->turn_delay.never, (double)right->count);
    result->turns = (double)match->counted.turns / player_s;
    result->shots = (double)match->counted.shots / player_s;
    for (unsigned c = 0; c < match->config->players; c++) {
        const struct hc_client_stats *stats = hc_client_stats(hc_sim_client(match->sim, c));
        result->faults += (double)(stats->rejected[HC_MALFORMED] + stats->rejected[HC_INVALID] +
                                   stats->rejected[HC_TOO_OLD]);
    }
}

static void run_ticks(struct match *match, uint32_t ticks) {
    hc_sim_run(match->sim, hc_tick_due_us(ticks, BENCH_TICK_RATE));
}

static bool play(struct match *match, struct bench_match_result *result) {
    struct hc_server *host = hc_sim_host(match->sim);
    run_ticks(match, match->config->warm_up_ticks / 2);
    set_links(match, match->config->loss_ppm);
    run_ticks(match, match->config->warm_up_ticks / 2);
    if (!find_peers(match))
        return false;
    host->stats.longest_unsent_ticks = 0;
    struct hc_server_stats *before = malloc(sizeof *before);
    if (before == NULL)
        return false;
    *before = host->stats;
    match->counted.snapshots = host->stats.snapshots;
    if (match->config->recording != NULL)
        bench_recording_measures(match->config->recording, match->sim);
    match->measures = true;
    match->last_turn = hc_timeline_head(host->timeline) + match->config->ticks - LAST_TURN_TICKS;
    run_ticks(match, match->config->ticks);
    bench_turn_delay_end(&match->turn_delay);
    sum_up(match, before, &host->stats, result);
    sum_up_late(match, result);
    free(before);
    return true;
}

bool bench_match(const struct bench_match_config *config, struct bench_match_result *result) {
    struct match match = {.config = config};
    bool ok = set_up(&match) && play(&match, result);
    bench_turn_delay_free(&match.turn_delay);
    hc_sim_destroy(match.sim);
    free(match.display_error);
    free(match.peers);
    free(match.players);
    return ok;
}
