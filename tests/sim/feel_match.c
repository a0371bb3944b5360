/// Plays the walkers of a match, frame after frame.
#include "tests/sim/feel_match.h"

#include "client/client.h"
#include "hindcast/rng.h"
#include "server/state.h"
#include "tests/sim/feel_record.h"

#include <stdlib.h>
#include <string.h>

enum {
    WARM_UP_US = 8 * SECOND_US, ///< automatic delays have fallen by then
    REST_US = 3 * SECOND_US,    ///< after the last frame, until all shown ticks are final
    WALK = 900000 / HC_FEEL_FRAME_US,
    PAUSE = 1000000 / HC_FEEL_FRAME_US,
    PAUSE_MORE = 300000 / HC_FEEL_FRAME_US, ///< more, drawn
    TRIGGER = 400000 / HC_FEEL_FRAME_US,    ///< after a press
    TRIGGER_HELD = 100000 / HC_FEEL_FRAME_US,
    MARGIN_PX = 40, ///< a walk ends so far from the field's border
    WALK_PX = HC_FEEL_TRAVEL_PX * HC_FEEL_RATE * 9 / 10,
    DRAW_HELD = 11,
};

/// A person at a client.
struct person {
    struct hc_feel_press press; ///< The newest.
    struct hc_walker_input input;
    uint32_t next; ///< The frame of the next press.
};

/// Counts of the server and of the clients.
struct counts {
    struct hc_server_stats server;
    struct hc_timeline_stats timeline;
    struct hc_client_stats clients[HC_FEEL_CLIENTS_MAX];
};

struct match {
    const struct hc_feel_config *config;
    struct hc_feel_result *result;
    struct hc_sim *sim;
    struct hc_feel_record *record;
    unsigned measured;
    struct hc_rng rng;
    uint64_t datagrams;
    struct person people[HC_FEEL_CLIENTS_MAX];
    bool holds[HC_FEEL_CLIENTS_MAX][2]; ///< A datagram of the direction was held last.
};

// ---- Datagrams that take longer -----------------------------------------------------------------

/// Draws whether the next datagram of a direction takes longer, and sets its link.
static void draw_link(struct match *match, unsigned client, bool up) {
    const struct hc_feel_config *config = match->config;
    uint64_t random = hc_random(config->seed, (uint32_t)match->datagrams++, client, DRAW_HELD);
    bool held = random % HC_NETWORK_SIM_PPM < config->held_ppm;
    if (held == match->holds[client][up])
        return;
    match->holds[client][up] = held;
    struct hc_network_sim_config link = up ? config->up : config->down;
    link.latency_us += held ? config->held_us : 0;
    hc_sim_set_link(match->sim, client, up ? &link : NULL, up ? NULL : &link);
}

static void client_sent(void *context, struct hc_sim *sim, unsigned client, const uint8_t *bytes,
                        size_t size) {
    (void)sim, (void)bytes, (void)size;
    draw_link(context, client, true);
}

static void host_sent(void *context, struct hc_sim *sim, unsigned client, const uint8_t *bytes,
                      size_t size) {
    (void)sim, (void)bytes, (void)size;
    draw_link(context, client, false);
}

static void host_ticked(void *context, struct hc_sim *sim) {
    struct match *match = context;
    hc_feel_record_final(match->record, sim);
}

// ---- People -------------------------------------------------------------------------------------

/// Begins a walk along a random axis, away from a border that is near.
static bool begin_walk(struct match *match, unsigned client, uint32_t frame) {
    struct person *person = &match->people[client];
    const struct hc_client *from = hc_sim_client(match->sim, client);
    struct hc_client_shown self;
    hc_entity own = hc_world_player(hc_client_world(from), hc_client_player(from, 0));
    person->next = frame + WALK + PAUSE + hc_rng_below(&match->rng, PAUSE_MORE);
    if (!hc_client_show(from, hc_sim_client_now(match->sim, client), own, &self))
        return true;
    double x = HC_SHOWN(&self, struct hc_walker, x) / HC_WALKER_UNITS;
    double y = HC_SHOWN(&self, struct hc_walker, y) / HC_WALKER_UNITS;
    int way = hc_rng_below(&match->rng, 2) ? 1 : -1;
    bool across = hc_rng_below(&match->rng, 2);
    double at = across ? x : y, size = across ? HC_WALKER_WIDTH_PX : HC_WALKER_HEIGHT_PX;
    if (at + way * WALK_PX < MARGIN_PX || at + way * WALK_PX > size - MARGIN_PX)
        way = -way;
    person->input = (struct hc_walker_input){.move_x = (int8_t)(across ? way : 0),
                                             .move_y = (int8_t)(across ? 0 : way)};
    hc_tick head = hc_timeline_head(hc_server_timeline(hc_sim_host(match->sim)));
    person->press = (struct hc_feel_press){.down = frame,
                                           .up = frame + WALK,
                                           .trigger = frame + TRIGGER,
                                           .head = head,
                                           .fired = head + TRIGGER * HC_FEEL_RATE /
                                                               (SECOND_US / HC_FEEL_FRAME_US)};
    return client >= match->measured || hc_feel_record_press(match->record, client, &person->press);
}

/// Gives a client its keys after a frame.
static bool play_person(struct match *match, unsigned client, uint32_t frame) {
    struct person *person = &match->people[client];
    if (frame == person->next && !begin_walk(match, client, frame))
        return false;
    if (frame == person->press.up)
        person->input = (struct hc_walker_input){.move_x = 0};
    if (match->config->shoots) {
        uint32_t trigger = person->press.trigger;
        person->input.fire = frame >= trigger && frame < trigger + TRIGGER_HELD && trigger > 0;
    }
    hc_client_set_input(hc_sim_client(match->sim, client), 0, &person->input);
    return true;
}

/// Takes the game events that a client is given in a frame.
static void take_events(struct match *match, unsigned client) {
    struct hc_client *from = hc_sim_client(match->sim, client);
    uint64_t now_us = hc_sim_client_now(match->sim, client);
    struct hc_client_game_event event;
    while (hc_client_next_game_event(from, now_us, &event)) {
        struct hc_feel_result *result = match->result;
        uint32_t frames, fraction;
        hc_tick shown;
        unsigned walker = 0;
        hc_player player = hc_client_world(from)->owner_of[event.entity];
        while (walker < match->measured &&
               hc_client_player(hc_sim_client(match->sim, walker), 0) != player)
            walker++;
        if (walker == client || walker == match->measured ||
            !hc_feel_record_trigger(match->record, walker, event.tick, &frames))
            continue;
        result->cancelled += event.state == HC_CLIENT_GAME_EVENT_CANCELLED;
        if (event.state > HC_CLIENT_GAME_EVENT_LATE)
            continue;
        result->shots++;
        hc_histogram_record(&result->delivered_us, (uint64_t)frames * HC_FEEL_FRAME_US);
        if (!hc_client_show_tick_of(from, now_us, event.entity, &shown, &fraction))
            continue;
        // The event is due when the tick before it is shown.
        uint64_t ago = shown >= event.tick ? (uint64_t)(shown + 1 - event.tick) << 16 : 0;
        hc_histogram_record(&result->behind_us,
                            (ago + (ago > 0 ? fraction : 0)) * (SECOND_US / HC_FEEL_RATE) >> 16);
    }
}

// ---- Counts -------------------------------------------------------------------------------------

static void count(const struct match *match, struct counts *counts) {
    struct hc_server *host = hc_sim_host(match->sim);
    counts->server = *hc_server_stats(host);
    counts->timeline = *hc_timeline_stats(hc_server_timeline(host));
    for (unsigned i = 0; i < match->measured; i++)
        counts->clients[i] = *hc_client_stats(hc_sim_client(match->sim, i));
}

/// Adds what a histogram has gained; its greatest value is that of all.
static void add_gain(struct hc_histogram *to, const struct hc_histogram *before,
                     const struct hc_histogram *after) {
    struct hc_histogram gain = *after;
    gain.count -= before->count;
    gain.sum -= before->sum;
    for (unsigned i = 0; i < HC_HISTOGRAM_BUCKETS; i++)
        gain.buckets[i] -= before->buckets[i];
    if (gain.count > 0)
        hc_histogram_merge(to, &gain);
}

static void sum_up(const struct match *match, const struct counts *before,
                   const struct counts *after) {
    struct hc_feel_result *result = match->result;
    const struct hc_server_stats *was = &before->server, *is = &after->server;
    result->ticks = after->timeline.advances - before->timeline.advances;
    result->rewinds = after->timeline.rewinds - before->timeline.rewinds;
    result->resimulated_ticks =
        after->timeline.resimulated_ticks - before->timeline.resimulated_ticks;
    result->inputs = is->inputs_received - was->inputs_received;
    result->late = is->inputs_late - was->inputs_late;
    result->forced = is->inputs_forced - was->inputs_forced;
    result->refused = is->inputs_refused - was->inputs_refused;
    result->lost = is->inputs_lost - was->inputs_lost;
    add_gain(&result->rewind_depth, &was->rewind_depth, &is->rewind_depth);
    for (unsigned i = 0; i < match->measured; i++) {
        const struct hc_client_stats *from = &before->clients[i], *to = &after->clients[i];
        result->rollbacks += to->rollbacks - from->rollbacks;
        result->corrections += to->corrections - from->corrections;
        result->clock_jumps += to->clock_jumps - from->clock_jumps;
        add_gain(&result->rollback_depth, &from->rollback_depth, &to->rollback_depth);
    }
}

// ---- The match ----------------------------------------------------------------------------------

static bool set_up(struct match *match) {
    const struct hc_feel_config *config = match->config;
    struct hc_sim_config sim = hc_sim_config_players(&hc_walkers, config->clients, 0, config->seed);
    sim.host.tick_rate = HC_FEEL_RATE;
    sim.client.input_delay = config->timing.input_delay;
    sim.client.input_delay_max = config->timing.input_delay_max;
    sim.client.lead = config->timing.lead;
    sim.client.lead_max = config->timing.lead_max;
    sim.client.others = config->others;
    if (config->at_once)
        sim.client.smoothing_us = 0;
    sim.up = config->up;
    sim.down = config->down;
    sim.hooks.script = NULL;
    match->sim = hc_sim_create(&sim);
    if (match->sim == NULL)
        return false;
    for (unsigned i = 0; i < config->clients; i++) // not all in the same phase of a tick
        hc_sim_setup(match->sim, i)->clock_offset_us = hc_rng_below(&match->rng, SECOND_US);
    if (config->held_ppm > 0)
        hc_sim_observe(match->sim,
                       &(struct hc_sim_hooks){.client_sent = client_sent, .host_sent = host_sent},
                       match);
    if (config->last != NULL)
        hc_sim_set_link(match->sim, config->clients - 1, config->last, config->last);
    return hc_sim_join_all(match->sim);
}

static bool play_frames(struct match *match, uint32_t frames) {
    const struct hc_feel_config *config = match->config;
    uint64_t begin_us = hc_sim_now(match->sim);
    for (uint32_t frame = 0; frame < frames; frame++) {
        uint64_t us = (uint64_t)frame * HC_FEEL_FRAME_US;
        hc_sim_run_until(match->sim, begin_us + us);
        if (config->frame != NULL)
            config->frame(config->context, match->sim, us);
        hc_feel_record_frame(match->record, match->sim);
        for (unsigned i = 0; i < config->clients; i++)
            if (!play_person(match, i, frame))
                return false;
        for (unsigned i = 0; i < match->measured; i++) {
            struct hc_client_recent recent;
            hc_client_recent(hc_sim_client(match->sim, i), &recent);
            match->result->input_delay += (double)recent.input_delay / match->measured / frames;
            match->result->lead += (double)recent.lead / match->measured / frames;
            take_events(match, i);
        }
    }
    return hc_sim_playing(match->sim) == config->clients;
}

static bool play(struct match *match) {
    uint32_t frames = match->config->seconds * (SECOND_US / HC_FEEL_FRAME_US);
    static struct counts before, after;
    if (!set_up(match))
        return false;
    hc_sim_run(match->sim, WARM_UP_US);
    match->record = hc_feel_record_create(match->sim, match->measured, frames,
                                          (match->config->seconds + 4) * HC_FEEL_RATE);
    if (match->record == NULL)
        return false;
    hc_sim_observe(match->sim, &(struct hc_sim_hooks){.host_ticked = host_ticked}, match);
    for (unsigned i = 0; i < match->config->clients; i++)
        match->people[i].next = 1 + hc_rng_below(&match->rng, WALK + PAUSE);
    count(match, &before);
    if (!play_frames(match, frames))
        return false;
    count(match, &after);
    sum_up(match, &before, &after);
    hc_sim_run(match->sim, REST_US);
    hc_feel_record_judge(match->record, match->result);
    return true;
}

bool hc_feel_match(const struct hc_feel_config *config, struct hc_feel_result *result) {
    struct match match = {.config = config,
                          .result = result,
                          .measured = config->measured > 0 ? config->measured : config->clients,
                          .rng = hc_rng_init(config->seed, 0)};
    memset(result, 0, sizeof *result);
    bool played = play(&match);
    hc_feel_record_destroy(match.record);
    hc_sim_destroy(match.sim);
    return played;
}
