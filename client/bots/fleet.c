/// Owns the bots of one process and their event loop.
#define _GNU_SOURCE

#include "client/bots/fleet.h"

#include "client/bots/bot.h"
#include "client/programs/token_feed.h"
#include "common/elapsed.h"
#include "common/programs/clock.h"
#include "common/programs/loop.h"
#include "common/programs/report.h"
#include "hindcast/check.h"

#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    CLOSE_US = 2000000,       ///< longest time for closing all connections
    TURNS_US = 1000,          ///< interval in which many clients receive and send
    TOGETHER_MIN = 16,        ///< full clients from which on they do that together
    PROGRESS_END_US = 500000, ///< before the end without progress
    PROFILE_US = 50000,       ///< interval in which clients leave and join by the profile
    FEED_S = 2,               ///< seconds of joins for which tokens are at hand
    FEED_MIN = 16,            ///< tokens at hand beyond those
    FEED_MAX = 4096,          ///< tokens at hand at most
    SEARCH_US = 50000,        ///< interval of the turns of the search
    PICKS_MAX = 16,           ///< random clients to find one that plays
};

/// Purposes of random numbers.
enum { PURPOSE_LINK, PURPOSE_PICK };

/// A bot in the loop of its fleet.
struct member {
    struct hc_cl_bot bot;
    struct hc_cl_fleet *fleet;
    struct event *readable, *timer; ///< NULL of a light client
    bool again;                     ///< the bot leaves to join again
    uint32_t token;                 ///< index of the token with which the bot joins again
    bool ended;
};

struct hc_cl_fleet {
    struct hc_cl_fleet_config config;
    struct event_base *base;
    struct event *term, *interrupt, *end, *progress, *lights, *profile, *search;
    struct hc_cl_sockets *sockets; ///< of the light clients; NULL: there are none
    uint64_t *light_due;           ///< [config.count_light] deadline of each
    uint32_t *light_turns;         ///< [config.count_light] the bots that are due
    uint64_t lights_us;            ///< deadline of the event `lights`
    uint32_t tokens;               ///< index of the next spare token
    struct hc_cl_token_feed *feed; ///< NULL: there are only spare ones
    uint64_t recycled;             ///< clients that left to join again
    bool stormed;
    bool gave_up; ///< The search for another server has failed.
    struct hc_rng picks;
    uint64_t ended_us;
    uint64_t spent_us; ///< processor time of the process before the run
    bool leaving;
    uint32_t ended;                   ///< members
    struct hc_cl_fleet_result result; ///< of sessions that have ended, and of the whole fleet
    struct hc_cl_bots bots;
    uint32_t member_count;
    struct member *members; ///< [member_count] full clients first
};

/// Sets the timer of a member.
static void arm_member(struct member *member, uint64_t deadline_us) {
    struct hc_cl_fleet *fleet = member->fleet;
    if (member->bot.light)
        fleet->light_due[(uint32_t)(member - fleet->members) - fleet->config.count] = deadline_us;
    else
        hc_loop_arm(member->timer, deadline_us, hc_clock_us());
}

/// Stops the events of a member; the last one ends the loop.
static void retire(struct member *member, uint64_t now) {
    struct hc_cl_fleet *fleet = member->fleet;
    member->ended = true;
    member->bot.ended_us = now;
    if (member->bot.light) {
        arm_member(member, UINT64_MAX);
    } else {
        event_del(member->readable);
        event_del(member->timer);
    }
    if (++fleet->ended == fleet->member_count)
        event_base_loopbreak(fleet->base);
}

/// Starts the member's client; false: it could not.
static bool begin(struct member *member, uint64_t now) {
    if (!hc_cl_bot_begin(&member->bot, now))
        return false;
    return member->bot.light || event_add(member->readable, NULL) == 0;
}

/// Ends a member whose client is closed; or begins it anew with another token, if it left for that.
/// Returns whether it goes on.
static bool rejoin(struct member *member, uint64_t now) {
    struct hc_cl_fleet *fleet = member->fleet;
    if (!member->again || fleet->leaving)
        return false;
    hc_cl_bot_add_session(&member->bot, now, &fleet->result);
    hc_cl_bot_renew(&member->bot, member->token);
    member->again = false;
    if (!member->bot.light)
        event_del(member->readable);
    return begin(member, now);
}

/// Begins or continues a member at its deadline, and sets the next one.
static void wake(struct member *member, uint64_t now) {
    if (member->bot.runner.client == NULL && !begin(member, now)) {
        retire(member, now);
        return;
    }
    uint64_t deadline_us = hc_cl_bot_turn(&member->bot, now);
    if (deadline_us == UINT64_MAX && rejoin(member, now))
        deadline_us = hc_cl_bot_turn(&member->bot, now);
    if (deadline_us == UINT64_MAX && member->bot.runner.stranded && !member->fleet->leaving)
        return; // on_search begins or retires it
    if (deadline_us == UINT64_MAX)
        retire(member, now);
    else
        arm_member(member, deadline_us);
}

/// Makes a client leave.
static void leave(struct member *member, uint64_t now) {
    hc_cl_runner_leave(&member->bot.runner, now);
    wake(member, now);
}

static void on_readable(evutil_socket_t descriptor, short events, void *context) {
    struct member *member = context;
    uint64_t now = hc_clock_us();
    (void)descriptor, (void)events;
    hc_cl_udp_receive(member->bot.runner.udp, now);
    wake(member, now);
}

static void on_timer(evutil_socket_t descriptor, short events, void *context) {
    (void)descriptor, (void)events;
    wake(context, hc_clock_us());
}

static void on_light_datagram(void *context, uint32_t client, const uint8_t *bytes, size_t size) {
    struct hc_cl_fleet *fleet = context;
    struct member *member = &fleet->members[fleet->config.count + client];
    if (member->bot.runner.client == NULL || member->ended)
        return;
    hc_cl_udp_put(member->bot.runner.udp, bytes, size, hc_clock_us());
    uint64_t due_us = hc_cl_udp_deadline(member->bot.runner.udp);
    if (due_us < fleet->light_due[client])
        fleet->light_due[client] = due_us;
}

/// Loads what the turns after `turn` need, part by part: each part has the places of the next.
static void prefetch_turns(const struct hc_cl_fleet *fleet, uint32_t turn, uint32_t turns) {
    const struct member *members = fleet->members;
    if (turn + 4 < turns)
        __builtin_prefetch(&members[fleet->light_turns[turn + 4]]);
    if (turn + 3 < turns)
        __builtin_prefetch(members[fleet->light_turns[turn + 3]].bot.runner.udp);
    if (turn + 2 < turns)
        hc_cl_udp_prefetch(members[fleet->light_turns[turn + 2]].bot.runner.udp);
}

/// Gives every light client its turn that is due or has received something.
static void on_lights(evutil_socket_t descriptor, short events, void *context) {
    struct hc_cl_fleet *fleet = context;
    uint64_t now = hc_clock_us();
    (void)descriptor, (void)events;
    hc_cl_sockets_receive(fleet->sockets, on_light_datagram, fleet);
    uint32_t due = 0;
    for (uint32_t i = 0; i < fleet->config.count_light; i++)
        if (fleet->light_due[i] <= now)
            fleet->light_turns[due++] = fleet->config.count + i;
    for (uint32_t i = 0; i < due; i++) {
        prefetch_turns(fleet, i, due);
        now = hc_clock_us();
        wake(&fleet->members[fleet->light_turns[i]], now);
    }
    hc_cl_sockets_flush(fleet->sockets);
    fleet->lights_us += TURNS_US;
    if (fleet->lights_us < now) // the datagrams of the skipped turns have been sent now
        fleet->lights_us = now;
    hc_loop_arm(fleet->lights, fleet->lights_us, hc_clock_us());
}

/// Chooses the token with which a member joins again; false: there is none now.
static bool find_token(struct member *member) {
    struct hc_cl_fleet *fleet = member->fleet;
    struct hc_credential *own = &fleet->config.tokens[member->bot.number];
    member->token = member->bot.number;
    if (fleet->feed != NULL && hc_cl_token_feed_take(fleet->feed, own))
        return true;
    member->token = fleet->tokens;
    fleet->tokens += fleet->tokens < fleet->config.spare_end;
    return member->token < fleet->config.spare_end;
}

/// Makes a random client that plays leave, to join again; false: there is no token for it now.
static bool recycle(struct hc_cl_fleet *fleet, uint64_t now) {
    const struct hc_cl_fleet_config *config = &fleet->config;
    uint32_t first = config->count_light > 0 ? config->count : 0;
    for (unsigned i = 0; i < PICKS_MAX; i++) {
        struct member *member =
            &fleet->members[first + hc_rng_below(&fleet->picks, fleet->member_count - first)];
        struct hc_cl_bot *bot = &member->bot;
        if (bot->runner.client == NULL || member->ended || member->again ||
            hc_client_state(bot->runner.client) != HC_CLIENT_PLAYING)
            continue;
        if (!find_token(member))
            return false;
        hc_cl_bot_count_end(bot, now);
        hc_cl_bot_count_snapshots(bot, now);
        member->again = true;
        leave(member, now);
        break;
    }
    return true;
}

/// Makes clients leave and join by the profile: some each second, and many at once, halfway.
static void on_profile(evutil_socket_t descriptor, short events, void *context) {
    struct hc_cl_fleet *fleet = context;
    const struct hc_cl_fleet_config *config = &fleet->config;
    uint64_t now = hc_clock_us(), begun_us = fleet->bots.started_us + config->ramp_us;
    uint64_t played_us = hc_since(begun_us, now);
    (void)descriptor, (void)events;
    if (fleet->leaving)
        return;
    uint64_t wanted = (uint64_t)((double)played_us * config->churn_per_s / 1e6);
    if (fleet->feed != NULL)
        hc_cl_token_feed_fill(fleet->feed);
    while (fleet->recycled < wanted && recycle(fleet, now))
        fleet->recycled++;
    if (config->storm == 0 || fleet->stormed || played_us < config->duration_us / 2)
        return;
    fleet->stormed = true;
    for (uint32_t i = 0; i < config->storm; i++)
        (void)recycle(fleet, now);
}

/// Begins all clients anew on a server that was started anew.
static void join_next(struct hc_cl_fleet *fleet, uint64_t now) {
    struct hc_cl_fleet_config *config = &fleet->config;
    const struct hc_plugin *plugin = config->next_server->config.plugin;
    for (uint32_t i = 0; i < fleet->member_count; i++)
        if (!fleet->members[i].ended && fleet->members[i].bot.runner.client != NULL)
            hc_cl_bot_lose(&fleet->members[i].bot, now);
    hc_cl_next_server_apply(config->next_server); // no client has the former game any more
    config->client.game = plugin->game;
    config->client.rule_hash = plugin->rule_hash;
    config->think = plugin->think;
    for (uint32_t i = 0; i < fleet->member_count; i++) {
        struct member *member = &fleet->members[i];
        if (member->ended)
            continue;
        hc_cl_bot_restart(&member->bot);
        if (member->bot.begun_us != 0) // the others follow in the ramp
            arm_member(member, now);
    }
    hc_cl_next_server_connected(config->next_server, now);
}

/// Gives up the clients that wait for the search; all of them if another game is played there now.
static void give_up(struct hc_cl_fleet *fleet, uint64_t now) {
    const char *why = fleet->config.next_server->why;
    fleet->gave_up = true;
    for (uint32_t i = 0; i < fleet->member_count; i++) {
        struct member *member = &fleet->members[i];
        if (member->ended || member->bot.runner.client == NULL ||
            (!member->bot.runner.stranded && why[0] == '\0'))
            continue;
        hc_cl_bot_give_up(&member->bot, why);
        retire(member, now);
    }
}

/// Searches for the server if no client hears it.
static void on_search(evutil_socket_t descriptor, short events, void *context) {
    struct hc_cl_fleet *fleet = context;
    uint64_t now = hc_clock_us();
    (void)descriptor, (void)events;
    if (fleet->leaving || fleet->gave_up)
        return;
    enum hc_cl_next_server_state state = hc_cl_next_server_turn(fleet->config.next_server, now);
    if (state == HC_CL_NEXT_SERVER_FOUND)
        join_next(fleet, hc_clock_us());
    else if (state == HC_CL_NEXT_SERVER_FAILED)
        give_up(fleet, now);
}

/// Makes all clients leave, and retires bots that have not started.
static void leave_all(struct hc_cl_fleet *fleet) {
    uint64_t now = hc_clock_us();
    if (fleet->leaving) { // a second signal, or CLOSE_US has passed
        event_base_loopbreak(fleet->base);
        return;
    }
    fleet->leaving = true;
    fleet->ended_us = now;
    hc_loop_arm(fleet->end, now + CLOSE_US, now);
    for (uint32_t i = 0; i < fleet->member_count; i++) {
        struct member *member = &fleet->members[i];
        if (member->ended)
            continue;
        if (member->bot.runner.client == NULL) {
            retire(member, now);
            continue;
        }
        if (!member->again) {
            hc_cl_bot_count_end(&member->bot, now);
            hc_cl_bot_count_snapshots(&member->bot, now);
        }
        leave(member, now);
    }
    if (fleet->sockets != NULL)
        hc_cl_sockets_flush(fleet->sockets);
}

static void on_end(evutil_socket_t descriptor, short events, void *context) {
    (void)descriptor, (void)events;
    leave_all(context);
}

static void on_progress(evutil_socket_t descriptor, short events, void *context) {
    struct hc_cl_fleet *fleet = context;
    struct hc_cl_fleet_progress progress = {
        .elapsed_us = hc_since(fleet->bots.started_us, hc_clock_us()),
        .snapshots = fleet->result.full.snapshots + fleet->result.light.snapshots,
        .rollbacks = fleet->result.full.rollbacks,
        .stalls = fleet->result.full.stalls,
        .inputs_forced = fleet->result.full.inputs_forced + fleet->result.light.inputs_forced,
        .late_us = fleet->bots.late_us,
        .cpu_us = hc_since(fleet->spent_us, hc_report_cpu_us())};
    (void)descriptor, (void)events;
    // Not all processes would have a sample of the last moment.
    uint64_t end_us = fleet->config.ramp_us + fleet->config.duration_us;
    if (fleet->leaving ||
        (fleet->config.duration_us != 0 && progress.elapsed_us + PROGRESS_END_US > end_us))
        return;
    fleet->bots.late_us = 0;
    for (uint32_t i = 0; i < fleet->member_count; i++) {
        const struct hc_cl_bot *bot = &fleet->members[i].bot;
        struct hc_cl_udp_stats udp = hc_cl_udp_stats(bot->runner.udp);
        progress.bytes_in += udp.bytes_in + HC_REPORT_OVERHEAD * udp.datagrams_in;
        progress.bytes_out += udp.bytes_out + HC_REPORT_OVERHEAD * udp.datagrams_out;
        progress.lost += udp.sim_lost;
        if (bot->runner.client == NULL || fleet->members[i].ended)
            continue;
        const struct hc_client_stats *stats = hc_client_stats(bot->runner.client);
        enum hc_client_state state = hc_client_state(bot->runner.client);
        progress.snapshots += stats->snapshots;
        progress.rollbacks += stats->rollbacks;
        progress.stalls += stats->stalls;
        progress.inputs_forced += stats->inputs_forced;
        progress.stalled += state == HC_CLIENT_STALLED;
        progress.connecting += state == HC_CLIENT_CONNECTING || state == HC_CLIENT_RECONNECTING;
        if (state != HC_CLIENT_PLAYING)
            continue;
        progress.playing++;
        // A median of thousands of histograms would make this process late.
        progress.rtt_us +=
            bot->light ? stats->rtt_min_us : hc_histogram_percentile(&stats->rtt_us, 500);
    }
    fleet->config.progress(fleet->config.progress_context, &progress);
}

static bool create_member(struct hc_cl_fleet *fleet, uint32_t index, char *why, size_t why_size) {
    const struct hc_cl_fleet_config *config = &fleet->config;
    struct member *member = &fleet->members[index];
    struct hc_cl_bot *bot = &member->bot;
    bool light = index >= config->count;
    uint32_t number = light ? config->clients + config->first_light + (index - config->count)
                            : config->first + index;
    struct hc_network_sim_config link = hc_cl_fleet_link(config, number);
    uint64_t seed = hc_random(config->seed, number, PURPOSE_LINK, 0);
    member->fleet = fleet;
    hc_cl_bot_init(bot, &fleet->bots, light, number);
    if (light) {
        fleet->light_due[index - config->count] = UINT64_MAX;
        bot->runner.udp =
            hc_cl_udp_share(fleet->sockets, index - config->count, &link, seed, why, why_size);
        return bot->runner.udp != NULL;
    }
    bot->runner.udp = hc_cl_udp_open(&config->server, &link, seed, why, why_size);
    if (bot->runner.udp == NULL)
        return false;
    member->readable = event_new(fleet->base, hc_cl_udp_descriptor(bot->runner.udp),
                                 EV_READ | EV_PERSIST, on_readable, member);
    member->timer = evtimer_new(fleet->base, on_timer, member);
    snprintf(why, why_size, "no memory for another client");
    return member->readable != NULL && member->timer != NULL;
}

/// Opens the sockets of the light clients, if there are any.
static bool create_sockets(struct hc_cl_fleet *fleet, char *why, size_t why_size) {
    const struct hc_cl_fleet_config *config = &fleet->config;
    if (config->count_light == 0)
        return true;
    fleet->light_due = calloc(config->count_light, sizeof(*fleet->light_due));
    fleet->light_turns = calloc(config->count_light, sizeof(*fleet->light_turns));
    if (fleet->light_due == NULL || fleet->light_turns == NULL)
        return false;
    fleet->sockets =
        hc_cl_sockets_open(&config->server, config->first_light, config->count_light,
                           config->sources > 0 ? config->sources : config->lights, why, why_size);
    return fleet->sockets != NULL;
}

/// Makes the event base and the events of the whole fleet.
static bool create_base(struct hc_cl_fleet *fleet) {
    fleet->base = hc_loop_create();
    if (fleet->base == NULL)
        return false;
    fleet->term = evsignal_new(fleet->base, SIGTERM, on_end, fleet);
    fleet->interrupt = evsignal_new(fleet->base, SIGINT, on_end, fleet);
    fleet->end = evtimer_new(fleet->base, on_end, fleet);
    fleet->progress = event_new(fleet->base, -1, EV_PERSIST, on_progress, fleet);
    fleet->lights = evtimer_new(fleet->base, on_lights, fleet);
    fleet->profile = event_new(fleet->base, -1, EV_PERSIST, on_profile, fleet);
    fleet->search = event_new(fleet->base, -1, EV_PERSIST, on_search, fleet);
    return fleet->term != NULL && fleet->interrupt != NULL && fleet->end != NULL &&
           fleet->progress != NULL && fleet->lights != NULL && fleet->profile != NULL &&
           fleet->search != NULL;
}

/// Opens the feed of tokens if it is configured; false: no memory.
static bool create_feed(struct hc_cl_fleet *fleet) {
    const struct hc_cl_fleet_config *config = &fleet->config;
    if (config->feed == NULL || config->churn_per_s <= 0)
        return true;
    uint32_t room = FEED_MIN + (uint32_t)(FEED_S * config->churn_per_s);
    room = room < FEED_MAX ? room : FEED_MAX;
    fleet->feed = hc_cl_token_feed_open(&config->server, config->feed, room);
    return fleet->feed != NULL;
}

struct hc_cl_fleet *hc_cl_fleet_create(const struct hc_cl_fleet_config *config, char *why,
                                       size_t why_size) {
    HC_ASSERT(config->count + config->count_light >= 1 &&
              config->first + config->count <= config->clients &&
              config->first_light + config->count_light <= config->lights);
    hc_cl_sockets_raise_limit(config->count + config->count_light);
    struct hc_cl_fleet *fleet = calloc(1, sizeof(*fleet));
    snprintf(why, why_size, "no memory");
    if (fleet == NULL)
        return NULL;
    fleet->config = *config;
    fleet->bots = (struct hc_cl_bots){
        .config = &fleet->config, .result = &fleet->result, .terminal = isatty(STDERR_FILENO)};
    fleet->result.first = HC_NO_TICK;
    fleet->tokens = config->spare_first;
    fleet->picks = hc_rng_init(hc_random(config->seed, config->first, PURPOSE_PICK, 0), 0);
    fleet->member_count = config->count + config->count_light;
    fleet->members = calloc(fleet->member_count, sizeof(*fleet->members));
    bool good = fleet->members != NULL && create_base(fleet) && create_feed(fleet) &&
                create_sockets(fleet, why, why_size);
    for (uint32_t i = 0; good && i < fleet->member_count; i++)
        good = create_member(fleet, i, why, why_size);
    if (good)
        return fleet;
    hc_cl_fleet_destroy(fleet);
    return NULL;
}

void hc_cl_fleet_destroy(struct hc_cl_fleet *fleet) {
    if (fleet == NULL)
        return;
    for (uint32_t i = 0; fleet->members != NULL && i < fleet->member_count; i++) {
        struct member *member = &fleet->members[i];
        hc_loop_free_event(member->readable);
        hc_loop_free_event(member->timer);
        hc_cl_runner_end(&member->bot.runner);
        hc_cl_udp_close(member->bot.runner.udp);
    }
    hc_loop_free_event(fleet->term);
    hc_loop_free_event(fleet->interrupt);
    hc_loop_free_event(fleet->end);
    hc_loop_free_event(fleet->progress);
    hc_loop_free_event(fleet->lights);
    hc_loop_free_event(fleet->profile);
    hc_loop_free_event(fleet->search);
    hc_cl_token_feed_close(fleet->feed);
    hc_cl_sockets_close(fleet->sockets);
    hc_loop_free(fleet->base);
    free(fleet->light_due);
    free(fleet->light_turns);
    free(fleet->members);
    free(fleet);
}

void hc_cl_fleet_run(struct hc_cl_fleet *fleet) {
    const struct hc_cl_fleet_config *config = &fleet->config;
    struct timeval second = {.tv_sec = 1}, profile = {.tv_usec = PROFILE_US};
    struct timeval search = {.tv_usec = SEARCH_US};
    uint32_t clients = config->clients + config->lights;
    fleet->spent_us = hc_report_cpu_us();
    fleet->bots.started_us = hc_clock_us();
    event_add(fleet->term, NULL);
    event_add(fleet->interrupt, NULL);
    for (uint32_t i = 0; i < fleet->member_count; i++)
        arm_member(&fleet->members[i], fleet->bots.started_us + config->ramp_us *
                                                                    fleet->members[i].bot.number /
                                                                    clients);
    fleet->lights_us = fleet->bots.started_us;
    if (config->count_light > 0)
        hc_loop_arm(fleet->lights, fleet->lights_us, fleet->bots.started_us);
    if (config->churn_per_s > 0 || config->storm > 0)
        event_add(fleet->profile, &profile);
    if (config->next_server != NULL) {
        hc_cl_next_server_connected(config->next_server, fleet->bots.started_us);
        event_add(fleet->search, &search);
    }
    if (config->duration_us != 0)
        hc_loop_arm(fleet->end, fleet->bots.started_us + config->ramp_us + config->duration_us,
                    fleet->bots.started_us);
    if (config->progress != NULL)
        event_add(fleet->progress, &second);
    // A process that sleeps and wakes for single datagrams spends a third of its time on that.
    while (event_base_loop(fleet->base, EVLOOP_ONCE) == 0 && !event_base_got_break(fleet->base))
        if (config->count >= TOGETHER_MIN)
            hc_clock_sleep(TURNS_US - hc_since(fleet->bots.started_us, hc_clock_us()) % TURNS_US);
    if (fleet->ended_us == 0)
        fleet->ended_us = hc_clock_us();
    struct hc_cl_fleet_self *self = &fleet->result.self;
    self->processes = 1;
    self->cpu_us = hc_since(fleet->spent_us, hc_report_cpu_us());
    for (uint32_t i = 0; i < config->count; i++)
        self->dropped += hc_cl_udp_dropped(fleet->members[i].bot.runner.udp);
    if (fleet->sockets != NULL) {
        self->dropped += hc_cl_sockets_stats(fleet->sockets).dropped;
        self->send_errors = hc_cl_sockets_stats(fleet->sockets).send_errors;
    }
}

void hc_cl_fleet_result(const struct hc_cl_fleet *fleet, struct hc_cl_fleet_result *result) {
    *result = fleet->result;
    result->duration_us = hc_since(fleet->bots.started_us, fleet->ended_us);
    for (uint32_t i = 0; i < fleet->member_count; i++) {
        struct hc_cl_udp_stats udp = hc_cl_udp_stats(fleet->members[i].bot.runner.udp);
        hc_counters_add(&hc_cl_fleet_udp_counters, &result->udp, &udp);
        hc_cl_bot_add_session(&fleet->members[i].bot, fleet->ended_us, result);
    }
}
