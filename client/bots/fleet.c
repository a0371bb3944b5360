/// Owns the bots of one process and their event loop.
#define _GNU_SOURCE

#include "client/bots/fleet.h"

#include "common/programs/thinker.h"
#include "client/bots/failure.h"
#include "client/bots/keys.h"
#include "client/light.h"
#include "client/shown.h"
#include "common/programs/clock.h"
#include "common/programs/report.h"
#include "hindcast/check.h"

#include <event2/event.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
    CLOSE_US = 2000000,       ///< longest time for closing all connections
    MESSAGES_MAX = 8,         ///< lines of each kind about single clients
    FRESH_US = 1000000,       ///< a client that received a datagram this recently is not cut off
    TURNS_US = 1000,          ///< interval in which many clients receive and send
    TOGETHER_MIN = 16,        ///< so many full clients do that together
    PROGRESS_END_US = 500000, ///< before the end without progress
    PROFILE_US = 50000,       ///< interval in which clients leave and join by the profile
    PICKS_MAX = 16,           ///< random clients to find one that plays
};

/// Purposes of random numbers.
enum { PURPOSE_LINK, PURPOSE_PICK };

/// Kinds of lines about single clients.
enum line { LINE_PLAYS, LINE_WAITS, LINE_LOST, LINE_REFUSED, LINE_ENDED, LINES };

/// One bot: a client with its socket, from its start in the ramp to its end.
struct bot {
    struct hc_cl_fleet *fleet;
    struct hc_client *client; ///< NULL before its start
    struct hc_cl_udp *udp;
    bool light;
    uint32_t number;                ///< in the whole run
    uint32_t token;                 ///< index of the session's token
    struct event *readable, *timer; ///< NULL of a light client
    struct hc_thinker brain;
    struct hc_cl_keys keys;                   ///< of a light client
    uint64_t begun_us, accepted_us, ended_us; ///< 0: not yet
    uint64_t armed_us;                        ///< deadline of the timer; 0: none yet
    uint64_t due_us;                          ///< deadline of the client alone, as of its last turn
    hc_tick decided;                          ///< newest tick for which the brain chose an input
    uint64_t received_us;                     ///< when the newest accepted datagram arrived
    bool received;                            ///< a snapshot
    struct hc_cl_due due;                     ///< the session's snapshots
    bool again;                               ///< it leaves to join again
    bool rejoined;
    bool ended;
    bool denial_printed; ///< for the current attempts to connect
    hc_tick first, last; ///< server ticks of the first and the newest snapshot, if `received`
};

struct hc_cl_fleet {
    struct hc_cl_fleet_config config;
    struct event_base *base;
    struct event *term, *interrupt, *end, *progress, *lights, *profile;
    struct hc_cl_sockets *sockets; ///< of the light clients; NULL: there are none
    uint64_t *light_due;           ///< [config.count_light] deadline of each
    uint32_t *light_turns;         ///< [config.count_light] the bots that are due
    uint64_t lights_us;            ///< deadline of the event `lights`
    uint32_t tokens;               ///< index of the next spare token
    uint64_t recycled;             ///< clients that left to join again
    bool stormed;
    struct hc_rng picks;
    uint64_t late_us; ///< longest lateness since the last progress
    uint64_t started_us, ended_us;
    uint64_t spent_us; ///< processor time of the process before the run
    bool leaving;
    uint32_t ended;                   ///< bots
    uint32_t lines[LINES];            ///< printed
    bool terminal;                    ///< standard error may show a line of progress
    struct hc_cl_fleet_result result; ///< of sessions that have ended, and of the whole fleet
    uint32_t bot_count;
    struct bot *bots; ///< [bot_count] full clients first
};

static void arm(struct event *timer, uint64_t deadline_us, uint64_t now_us) {
    uint64_t wait = deadline_us > now_us ? deadline_us - now_us : 0;
    struct timeval timeout = {.tv_sec = (time_t)(wait / 1000000),
                              .tv_usec = (suseconds_t)(wait % 1000000)};
    evtimer_add(timer, &timeout);
}

/// Sets the timer of a bot.
static void arm_bot(struct bot *bot, uint64_t deadline_us) {
    struct hc_cl_fleet *fleet = bot->fleet;
    bot->armed_us = deadline_us;
    if (bot->light)
        fleet->light_due[bot - fleet->bots - fleet->config.count] = deadline_us;
    else
        arm(bot->timer, deadline_us, hc_clock_us());
}

/// Stops a bot's events; the last one ends the loop.
static void retire(struct bot *bot, uint64_t now) {
    struct hc_cl_fleet *fleet = bot->fleet;
    bot->ended = true;
    bot->ended_us = now;
    if (bot->light) {
        arm_bot(bot, UINT64_MAX);
    } else {
        event_del(bot->readable);
        event_del(bot->timer);
    }
    if (++fleet->ended == fleet->bot_count)
        event_base_loopbreak(fleet->base);
}

/// Prints a line about a client; at most MESSAGES_MAX of each kind.
__attribute__((format(printf, 3, 4))) static void print_line(const struct bot *bot, enum line line,
                                                             const char *format, ...) {
    struct hc_cl_fleet *fleet = bot->fleet;
    char text[512];
    va_list arguments;
    if (fleet->lines[line]++ >= MESSAGES_MAX) {
        if (fleet->lines[line] == MESSAGES_MAX + 1)
            fprintf(stderr, "%s: further clients of this kind are only counted\n",
                    fleet->config.program);
        return;
    }
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    fprintf(stderr, "%s%s: client %u %s\n", fleet->terminal ? "\r\033[K" : "",
            fleet->config.program, bot->number, text);
}

/// Writes why a client is not admitted. `gave_up`: it no longer tries.
static void explain(const struct bot *bot, bool gave_up, char *text, size_t size) {
    struct hc_client_attempt attempt = hc_client_attempt(bot->client);
    struct hc_cl_udp_stats udp = hc_cl_udp_stats(bot->udp);
    uint64_t expire_s = hc_token_expire_s(&bot->fleet->config.tokens[bot->token]);
    hc_cl_failure_text(text, size, &attempt, gave_up, expire_s <= (uint64_t)time(NULL), &udp);
}

/// Counts and prints a client that was not admitted, or not again. `gave_up`: it no longer tries.
static void count_refusal(const struct bot *bot, bool gave_up) {
    const struct hc_cl_fleet *fleet = bot->fleet;
    struct hc_client_attempt attempt = hc_client_attempt(bot->client);
    struct hc_cl_fleet_ends *ends = &bot->fleet->result.ends;
    char text[320];
    *(attempt.denied ? &ends->denied : &ends->timeout) += 1;
    if (attempt.denied)
        ends->denied_by_reason[attempt.deny >= HC_DENY_GAME ? HC_DENY_REFUSED : attempt.deny]++;
    explain(bot, gave_up, text, sizeof(text));
    print_line(bot, LINE_REFUSED, "was not admitted by %s: %s", fleet->config.server_name, text);
}

/// Prints once that a client was denied and still tries.
static void print_denial(struct bot *bot) {
    char text[320];
    enum hc_client_state state = hc_client_state(bot->client);
    bool asks = state == HC_CLIENT_CONNECTING || state == HC_CLIENT_RECONNECTING;
    if (!asks || !hc_client_attempt(bot->client).denied) {
        bot->denial_printed = bot->denial_printed && asks;
        return;
    }
    if (bot->denial_printed)
        return;
    bot->denial_printed = true;
    explain(bot, false, text, sizeof(text));
    print_line(bot, LINE_WAITS, "is not admitted yet, and still tries: %s", text);
}

/// Handles an event that ends the client.
static void on_last_event(struct bot *bot, const struct hc_client_event *event) {
    struct hc_cl_fleet_ends *ends = &bot->fleet->result.ends;
    const char *server = bot->fleet->config.server_name;
    switch (event->kind) {
    case HC_CLIENT_EVENT_DENIED:
        count_refusal(bot, true);
        break;
    case HC_CLIENT_EVENT_VERSION:
        ends->denied++;
        print_line(bot, LINE_REFUSED, "was not admitted: the server at %s is of another build",
                   server);
        break;
    case HC_CLIENT_EVENT_TIMEOUT:
        if (bot->accepted_us == 0 || hc_client_attempt(bot->client).denied) {
            count_refusal(bot, true);
            break;
        }
        ends->timeout++;
        print_line(bot, LINE_ENDED, "gave up: the server at %s is gone", server);
        break;
    default: // CLOSED; count_end has counted it if the client left itself
        if (event->close == HC_CLOSE_LEFT)
            break;
        ends->closed++;
        print_line(bot, LINE_ENDED, "was closed by %s: %s", server, hc_close_text(event->close));
        break;
    }
}

static void on_event(struct bot *bot, const struct hc_client_event *event, uint64_t now) {
    struct hc_cl_fleet *fleet = bot->fleet;
    switch (event->kind) {
    case HC_CLIENT_EVENT_ACCEPTED:
        bot->accepted_us = now;
        hc_histogram_record(&fleet->result.join_us, now - bot->begun_us);
        fleet->result.ends.accepted++;
        if (fleet->config.announces)
            print_line(bot, LINE_PLAYS, "plays on %s as player %u", fleet->config.server_name,
                       hc_client_player(bot->client, 0));
        break;
    case HC_CLIENT_EVENT_LOST:
        print_line(bot, LINE_LOST, "has lost its connection: %s", hc_cl_failure_loss(event->loss));
        break;
    case HC_CLIENT_EVENT_RECONNECTED:
        bot->decided = HC_NO_TICK; // the world may be new
        print_line(bot, LINE_PLAYS, "plays again on %s as player %u, %s", fleet->config.server_name,
                   hc_client_player(bot->client, 0),
                   event->resumed ? "where it was" : "in a new world");
        break;
    case HC_CLIENT_EVENT_DENIED:
    case HC_CLIENT_EVENT_VERSION:
    case HC_CLIENT_EVENT_CLOSED:
    case HC_CLIENT_EVENT_TIMEOUT:
        on_last_event(bot, event);
        break;
    default:
        break; // counted by the client
    }
}

/// Counts the other players that a full client sees at `head`, in each second after the ramp once.
static void count_others(const struct bot *bot, hc_tick head) {
    struct hc_cl_fleet_result *result = &bot->fleet->result;
    const struct hc_world *world = hc_client_world(bot->client);
    uint32_t tick_rate = hc_cl_light_tick_rate(bot->client);
    hc_player own = hc_client_player(bot->client, 0);
    if (head / tick_rate == bot->decided / tick_rate)
        return;
    result->looks++;
    const uint8_t *presence = hc_timeline_presence(hc_client_timeline(bot->client), head);
    for (hc_player p = 0; p < world->players; p++)
        result->others_seen += p != own && presence[hc_world_player(world, p)] == HC_ALIVE;
}

/// Chooses an input, once for each tick that the client predicts.
static void think(struct bot *bot, uint64_t now) {
    static const uint8_t idle[HC_INPUT_MAX];
    const struct hc_cl_fleet_config *config = &bot->fleet->config;
    enum hc_client_state state = hc_client_state(bot->client);
    uint32_t tick_rate = hc_cl_light_tick_rate(bot->client);
    hc_tick head;
    if ((state != HC_CLIENT_PLAYING && state != HC_CLIENT_STALLED) ||
        !hc_cl_light_head(bot->client, &head) || head == bot->decided)
        return;
    if (!bot->light && now >= bot->fleet->started_us + config->ramp_us)
        count_others(bot, head);
    bot->decided = head;
    if (!hc_cl_keys_active(config->seed, bot->number, head, tick_rate, config->activity_percent)) {
        hc_client_set_input(bot->client, 0, idle);
        return;
    }
    if (bot->light) {
        hc_client_set_input(bot->client, 0,
                            hc_cl_keys_choose(&bot->keys, config->client.game, head, tick_rate));
        return;
    }
    uint8_t input[HC_INPUT_MAX];
    const uint8_t *presence, *states;
    hc_cl_shown_world(bot->client, &head, &presence, &states);
    hc_thinker_think(&bot->brain, hc_client_world(bot->client), head, presence, states,
                     hc_client_player(bot->client, 0), input);
    hc_client_set_input(bot->client, 0, input);
}

static void record_ticks(struct bot *bot, uint64_t now) {
    hc_tick shown, as_of;
    if (!hc_client_snapshot(bot->client, &shown, &as_of))
        return;
    if (!bot->received)
        bot->first = as_of;
    bot->received = true;
    bot->last = as_of;
    if (bot->due.from_us == 0)
        hc_cl_due_begin(&bot->due, hc_client_stats(bot->client),
                        hc_cl_udp_stats(bot->udp).sim_lost_down, now);
}

/// Records how late the datagram that is due is sent. Deadlines follow the client clock and never
/// the answers.
static void record_lateness(struct bot *bot, uint64_t now) {
    struct hc_cl_fleet *fleet = bot->fleet;
    enum hc_client_state state = hc_client_state(bot->client);
    if (now < bot->due_us || bot->due_us == 0 ||
        (state != HC_CLIENT_PLAYING && state != HC_CLIENT_STALLED))
        return;
    uint64_t late_us = now - bot->due_us;
    if (late_us > fleet->late_us)
        fleet->late_us = late_us;
    hc_cl_fleet_add_lateness(&fleet->result.self, late_us, hc_cl_light_tick_rate(bot->client));
}

static void retire_or_rejoin(struct bot *bot, uint64_t now);

/// Gives the client the datagrams that have passed the link; returns whether there was one.
static bool receive(struct bot *bot, uint64_t now) {
    uint8_t bytes[HC_DATAGRAM_MAX + 1];
    int received;
    bool any = false;
    for (; (received = hc_cl_udp_take(bot->udp, bytes, now)) >= 0; any = true)
        // The client counts what it refuses.
        if (hc_client_receive(bot->client, bytes, (size_t)received, now) == HC_OK)
            bot->received_us = now;
    return any;
}

/// Runs the client, which received something or has a deadline.
static void run(struct bot *bot, uint64_t now) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct hc_client_event event;
    size_t size;
    record_ticks(bot, now);
    if (hc_client_deadline(bot->client) <= now)
        think(bot, now);
    hc_client_advance(bot->client, now);
    while ((size = hc_client_send(bot->client, bytes, now)) > 0)
        hc_cl_udp_send(bot->udp, bytes, size, now);
    while (hc_client_poll_event(bot->client, &event))
        on_event(bot, &event, now);
    print_denial(bot);
    bot->due_us = hc_client_deadline(bot->client);
}

/// Does everything that is due for one bot at `now`, and sets its timer to the next deadline. Often
/// only the link is due, to send on.
static void turn(struct bot *bot, uint64_t now) {
    record_lateness(bot, now);
    if (receive(bot, now) || now >= bot->due_us)
        run(bot, now);
    hc_cl_udp_flush(bot->udp, now);
    bool closed = bot->due_us == UINT64_MAX; // only a closed client has no deadline
    if (closed && hc_cl_udp_idle(bot->udp)) {
        retire_or_rejoin(bot, now);
        return;
    }
    uint64_t link = hc_cl_udp_deadline(bot->udp);
    arm_bot(bot, bot->due_us < link ? bot->due_us : link);
}

/// Makes a client leave.
static void leave(struct bot *bot, uint64_t now) {
    hc_client_leave(bot->client, now);
    bot->due_us = 0; // its deadlines have changed
    turn(bot, now);
}

static void on_readable(evutil_socket_t descriptor, short events, void *context) {
    struct bot *bot = context;
    uint64_t now = hc_clock_us();
    (void)descriptor, (void)events;
    hc_cl_udp_receive(bot->udp, now);
    turn(bot, now);
}

/// Starts the bot's client; false: no memory.
static bool begin(struct bot *bot, uint64_t now) {
    struct hc_client_config config = bot->fleet->config.client;
    bot->begun_us = now;
    config.credential = bot->fleet->config.tokens[bot->token];
    bot->client = (bot->light ? hc_cl_light_create : hc_client_create)(&config, now);
    return bot->client != NULL && (bot->light || event_add(bot->readable, NULL) == 0);
}

/// Begins or continues a bot at its deadline.
static void wake(struct bot *bot, uint64_t now) {
    if (bot->client == NULL && !begin(bot, now)) {
        bot->fleet->result.ends.failed++;
        print_line(bot, LINE_REFUSED, "was not started: no memory");
        retire(bot, now);
        return;
    }
    turn(bot, now);
}

static void on_timer(evutil_socket_t descriptor, short events, void *context) {
    (void)descriptor, (void)events;
    wake(context, hc_clock_us());
}

static void on_light_datagram(void *context, uint32_t client, const uint8_t *bytes, size_t size) {
    struct hc_cl_fleet *fleet = context;
    struct bot *bot = &fleet->bots[fleet->config.count + client];
    if (bot->client == NULL || bot->ended)
        return;
    hc_cl_udp_put(bot->udp, bytes, size, hc_clock_us());
    uint64_t due_us = hc_cl_udp_deadline(bot->udp);
    if (due_us < fleet->light_due[client])
        fleet->light_due[client] = due_us;
}

/// Loads what the turns after `turn` need, part by part: each part has the places of the next.
static void prefetch_turns(const struct hc_cl_fleet *fleet, uint32_t turn, uint32_t turns) {
    const struct bot *bots = fleet->bots;
    if (turn + 4 < turns)
        __builtin_prefetch(&bots[fleet->light_turns[turn + 4]]);
    if (turn + 3 < turns)
        __builtin_prefetch(bots[fleet->light_turns[turn + 3]].udp);
    for (uint32_t i = 1; i <= 2; i++) {
        const struct bot *bot = turn + i < turns ? &bots[fleet->light_turns[turn + i]] : NULL;
        if (bot != NULL && bot->client != NULL)
            hc_cl_light_prefetch(bot->client, 2 - i);
        if (bot != NULL && i == 2)
            hc_cl_udp_prefetch(bot->udp);
    }
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
        wake(&fleet->bots[fleet->light_turns[i]], now);
    }
    hc_cl_sockets_flush(fleet->sockets);
    fleet->lights_us += TURNS_US;
    if (fleet->lights_us < now) // the datagrams of the skipped turns have been sent now
        fleet->lights_us = now;
    arm(fleet->lights, fleet->lights_us, hc_clock_us());
}

/// Whether a client has received nothing for longer than its round trip explains.
static bool is_cut_off(const struct bot *bot, uint64_t now) {
    uint64_t rtt_us = hc_histogram_percentile(&hc_client_stats(bot->client)->rtt_us, 500);
    return now - bot->received_us > FRESH_US + 2 * rtt_us;
}

/// Counts how a client stands just before it leaves.
static void count_end(struct bot *bot, uint64_t now) {
    struct hc_cl_fleet_ends *ends = &bot->fleet->result.ends;
    enum hc_client_state state = hc_client_state(bot->client);
    if (bot->rejoined && bot->accepted_us == 0 && now - bot->begun_us < FRESH_US)
        return; // it would have joined in time
    if (bot->accepted_us == 0 ||
        (state == HC_CLIENT_RECONNECTING && hc_client_attempt(bot->client).denied)) {
        count_refusal(bot, false);
    } else if (state == HC_CLIENT_RECONNECTING || is_cut_off(bot, now)) {
        ends->cut_off++;
        print_line(bot, LINE_ENDED, "received nothing from %s for the last %.1f s",
                   bot->fleet->config.server_name, (double)(now - bot->received_us) / 1e6);
    } else if (state != HC_CLIENT_CLOSED) {
        ends->left++;
    }
}

/// Counts the snapshots of a session that ends, or leaves, at `now`.
static void count_snapshots(struct bot *bot, uint64_t now) {
    uint32_t rate = bot->fleet->config.snapshot_rate;
    if (rate == 0)
        rate = hc_cl_light_tick_rate(bot->client);
    hc_cl_due_count(&bot->due, hc_client_stats(bot->client),
                    hc_cl_udp_stats(bot->udp).sim_lost_down, rate, now,
                    &bot->fleet->result.snapshots);
}

/// Adds the counts of a bot's present session to `result`.
static void add_session(const struct bot *bot, uint64_t end_us, struct hc_cl_fleet_result *result) {
    if (bot->client == NULL || bot->accepted_us == 0)
        return;
    const struct hc_client_stats *stats = hc_client_stats(bot->client);
    hc_cl_fleet_add_stats(bot->light ? &result->light : &result->full, stats);
    uint64_t end = bot->ended && bot->ended_us < end_us ? bot->ended_us : end_us;
    if (end > bot->accepted_us)
        result->client_us += end - bot->accepted_us;
    if (hc_cl_light_tick_rate(bot->client) != 0)
        result->tick_rate = (uint16_t)hc_cl_light_tick_rate(bot->client);
    if (stats->rtt_us.count > 0) {
        result->jitter_us += stats->jitter_us;
        result->jitters++;
    }
    if (bot->received) {
        result->first = hc_tick_min(result->first, bot->first);
        result->last = hc_tick_max(result->last, bot->last);
    }
}

/// Ends a bot whose client is closed; or begins it anew with another token, if it left for that.
static void retire_or_rejoin(struct bot *bot, uint64_t now) {
    struct hc_cl_fleet *fleet = bot->fleet;
    if (!bot->again || fleet->leaving || fleet->tokens == fleet->config.spare_end) {
        retire(bot, now);
        return;
    }
    add_session(bot, now, &fleet->result);
    hc_client_destroy(bot->client);
    bot->client = NULL;
    bot->again = bot->received = bot->denial_printed = false;
    bot->accepted_us = bot->received_us = bot->due_us = 0;
    bot->due = (struct hc_cl_due){.from_us = 0};
    bot->decided = HC_NO_TICK;
    bot->token = fleet->tokens++;
    bot->rejoined = true;
    if (!bot->light)
        event_del(bot->readable);
    wake(bot, now);
}

/// Makes a random client that plays leave, to join again.
static void recycle(struct hc_cl_fleet *fleet, uint64_t now) {
    const struct hc_cl_fleet_config *config = &fleet->config;
    uint32_t first = config->count_light > 0 ? config->count : 0;
    for (unsigned i = 0; i < PICKS_MAX; i++) {
        struct bot *bot =
            &fleet->bots[first + hc_rng_below(&fleet->picks, fleet->bot_count - first)];
        if (bot->client == NULL || bot->ended || bot->again ||
            hc_client_state(bot->client) != HC_CLIENT_PLAYING)
            continue;
        count_end(bot, now);
        count_snapshots(bot, now);
        bot->again = true;
        leave(bot, now);
        return;
    }
}

/// Makes clients leave and join by the profile: some each second, and many at once, halfway.
static void on_profile(evutil_socket_t descriptor, short events, void *context) {
    struct hc_cl_fleet *fleet = context;
    const struct hc_cl_fleet_config *config = &fleet->config;
    uint64_t now = hc_clock_us(), begun_us = fleet->started_us + config->ramp_us;
    uint64_t played_us = now > begun_us ? now - begun_us : 0;
    (void)descriptor, (void)events;
    if (fleet->leaving)
        return;
    uint64_t wanted = (uint64_t)((double)played_us * config->churn_per_s / 1e6);
    for (; fleet->recycled < wanted; fleet->recycled++)
        recycle(fleet, now);
    if (config->storm == 0 || fleet->stormed || played_us < config->duration_us / 2)
        return;
    fleet->stormed = true;
    for (uint32_t i = 0; i < config->storm; i++)
        recycle(fleet, now);
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
    arm(fleet->end, now + CLOSE_US, now);
    for (uint32_t i = 0; i < fleet->bot_count; i++) {
        struct bot *bot = &fleet->bots[i];
        if (bot->ended)
            continue;
        if (bot->client == NULL) {
            retire(bot, now);
            continue;
        }
        if (!bot->again) {
            count_end(bot, now);
            count_snapshots(bot, now);
        }
        leave(bot, now);
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
    struct hc_cl_fleet_progress progress = {.elapsed_us = hc_clock_us() - fleet->started_us,
                                            .snapshots = fleet->result.full.snapshots +
                                                         fleet->result.light.snapshots,
                                            .rollbacks = fleet->result.full.rollbacks,
                                            .stalls = fleet->result.full.stalls,
                                            .late_us = fleet->late_us,
                                            .cpu_us = hc_report_cpu_us() - fleet->spent_us};
    (void)descriptor, (void)events;
    // Not all processes would have a sample of the last moment.
    uint64_t end_us = fleet->config.ramp_us + fleet->config.duration_us;
    if (fleet->leaving ||
        (fleet->config.duration_us != 0 && progress.elapsed_us + PROGRESS_END_US > end_us))
        return;
    fleet->late_us = 0;
    for (uint32_t i = 0; i < fleet->bot_count; i++) {
        const struct bot *bot = &fleet->bots[i];
        struct hc_cl_udp_stats udp = hc_cl_udp_stats(bot->udp);
        progress.bytes_in += udp.bytes_in + HC_REPORT_OVERHEAD * udp.datagrams_in;
        progress.bytes_out += udp.bytes_out + HC_REPORT_OVERHEAD * udp.datagrams_out;
        progress.lost += udp.sim_lost;
        if (bot->client == NULL || bot->ended)
            continue;
        const struct hc_client_stats *stats = hc_client_stats(bot->client);
        enum hc_client_state state = hc_client_state(bot->client);
        progress.snapshots += stats->snapshots;
        progress.rollbacks += stats->rollbacks;
        progress.stalls += stats->stalls;
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

static bool create_bot(struct hc_cl_fleet *fleet, uint32_t index, char *why, size_t why_size) {
    const struct hc_cl_fleet_config *config = &fleet->config;
    struct bot *bot = &fleet->bots[index];
    bot->fleet = fleet;
    bot->decided = HC_NO_TICK;
    bot->light = index >= config->count;
    bot->number = bot->light ? config->clients + config->first_light + (index - config->count)
                             : config->first + index;
    bot->token = bot->number;
    struct hc_network_sim_config link = hc_cl_fleet_link(config, bot->number);
    uint64_t seed = hc_random(config->seed, bot->number, PURPOSE_LINK, 0);
    hc_thinker_init(&bot->brain, config->think, config->seed, bot->number);
    hc_cl_keys_init(&bot->keys, config->seed, bot->number);
    if (bot->light) {
        fleet->light_due[index - config->count] = UINT64_MAX;
        bot->udp =
            hc_cl_udp_share(fleet->sockets, index - config->count, &link, seed, why, why_size);
        return bot->udp != NULL;
    }
    bot->udp = hc_cl_udp_open(&config->server, &link, seed, why, why_size);
    if (bot->udp == NULL)
        return false;
    bot->readable = event_new(fleet->base, hc_cl_udp_descriptor(bot->udp), EV_READ | EV_PERSIST,
                              on_readable, bot);
    bot->timer = evtimer_new(fleet->base, on_timer, bot);
    snprintf(why, why_size, "no memory for another client");
    return bot->readable != NULL && bot->timer != NULL;
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
    struct event_config *config = event_config_new();
    if (config == NULL)
        return false;
    // Without these, timers are up to 3 ms late, and early by the duration of a callback.
    event_config_set_flag(config, EVENT_BASE_FLAG_PRECISE_TIMER);
    event_config_set_flag(config, EVENT_BASE_FLAG_NO_CACHE_TIME);
    fleet->base = event_base_new_with_config(config);
    event_config_free(config);
    if (fleet->base == NULL)
        return false;
    fleet->term = evsignal_new(fleet->base, SIGTERM, on_end, fleet);
    fleet->interrupt = evsignal_new(fleet->base, SIGINT, on_end, fleet);
    fleet->end = evtimer_new(fleet->base, on_end, fleet);
    fleet->progress = event_new(fleet->base, -1, EV_PERSIST, on_progress, fleet);
    fleet->lights = evtimer_new(fleet->base, on_lights, fleet);
    fleet->profile = event_new(fleet->base, -1, EV_PERSIST, on_profile, fleet);
    return fleet->term != NULL && fleet->interrupt != NULL && fleet->end != NULL &&
           fleet->progress != NULL && fleet->lights != NULL && fleet->profile != NULL;
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
    fleet->terminal = isatty(STDERR_FILENO);
    fleet->result.first = HC_NO_TICK;
    fleet->tokens = config->spare_first;
    fleet->picks = hc_rng_init(hc_random(config->seed, config->first, PURPOSE_PICK, 0), 0);
    fleet->bot_count = config->count + config->count_light;
    fleet->bots = calloc(fleet->bot_count, sizeof(*fleet->bots));
    bool good = fleet->bots != NULL && create_base(fleet) && create_sockets(fleet, why, why_size);
    for (uint32_t i = 0; good && i < fleet->bot_count; i++)
        good = create_bot(fleet, i, why, why_size);
    if (good)
        return fleet;
    hc_cl_fleet_destroy(fleet);
    return NULL;
}

static void free_event(struct event *event) {
    if (event != NULL)
        event_free(event);
}

void hc_cl_fleet_destroy(struct hc_cl_fleet *fleet) {
    if (fleet == NULL)
        return;
    for (uint32_t i = 0; fleet->bots != NULL && i < fleet->bot_count; i++) {
        struct bot *bot = &fleet->bots[i];
        free_event(bot->readable);
        free_event(bot->timer);
        hc_client_destroy(bot->client);
        hc_cl_udp_close(bot->udp);
    }
    free_event(fleet->term);
    free_event(fleet->interrupt);
    free_event(fleet->end);
    free_event(fleet->progress);
    free_event(fleet->lights);
    free_event(fleet->profile);
    hc_cl_sockets_close(fleet->sockets);
    if (fleet->base != NULL)
        event_base_free(fleet->base);
    free(fleet->light_due);
    free(fleet->light_turns);
    free(fleet->bots);
    free(fleet);
}

void hc_cl_fleet_run(struct hc_cl_fleet *fleet) {
    const struct hc_cl_fleet_config *config = &fleet->config;
    struct timeval second = {.tv_sec = 1}, profile = {.tv_usec = PROFILE_US};
    uint32_t clients = config->clients + config->lights;
    fleet->spent_us = hc_report_cpu_us();
    fleet->started_us = hc_clock_us();
    event_add(fleet->term, NULL);
    event_add(fleet->interrupt, NULL);
    for (uint32_t i = 0; i < fleet->bot_count; i++)
        arm_bot(&fleet->bots[i],
                fleet->started_us + config->ramp_us * fleet->bots[i].number / clients);
    fleet->lights_us = fleet->started_us;
    if (config->count_light > 0)
        arm(fleet->lights, fleet->lights_us, fleet->started_us);
    if (config->churn_per_s > 0 || config->storm > 0)
        event_add(fleet->profile, &profile);
    if (config->duration_us != 0)
        arm(fleet->end, fleet->started_us + config->ramp_us + config->duration_us,
            fleet->started_us);
    if (config->progress != NULL)
        event_add(fleet->progress, &second);
    // A process that sleeps and wakes for single datagrams spends a third of its time on that.
    while (event_base_loop(fleet->base, EVLOOP_ONCE) == 0 && !event_base_got_break(fleet->base))
        if (config->count >= TOGETHER_MIN)
            hc_clock_sleep(TURNS_US - (hc_clock_us() - fleet->started_us) % TURNS_US);
    if (fleet->ended_us == 0)
        fleet->ended_us = hc_clock_us();
    struct hc_cl_fleet_self *self = &fleet->result.self;
    self->processes = 1;
    self->cpu_us = hc_report_cpu_us() - fleet->spent_us;
    for (uint32_t i = 0; i < config->count; i++)
        self->dropped += hc_cl_udp_dropped(fleet->bots[i].udp);
    if (fleet->sockets != NULL) {
        self->dropped += hc_cl_sockets_stats(fleet->sockets).dropped;
        self->send_errors = hc_cl_sockets_stats(fleet->sockets).send_errors;
    }
}

void hc_cl_fleet_result(const struct hc_cl_fleet *fleet, struct hc_cl_fleet_result *result) {
    *result = fleet->result;
    result->duration_us = fleet->ended_us - fleet->started_us;
    for (uint32_t i = 0; i < fleet->bot_count; i++) {
        struct hc_cl_udp_stats udp = hc_cl_udp_stats(fleet->bots[i].udp);
        hc_cl_fleet_add_udp(&result->udp, &udp);
        add_session(&fleet->bots[i], fleet->ended_us, result);
    }
}
