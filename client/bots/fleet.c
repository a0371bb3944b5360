/// Owns the bots of one process and their event loop.
#define _GNU_SOURCE

#include "client/bots/fleet.h"

#include "client/bots/bot.h"
#include "client/bots/failure.h"
#include "common/programs/clock.h"
#include "common/programs/report.h"
#include "hindcast/check.h"

#include <event2/event.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum {
    CLOSE_US = 2000000,     ///< longest time for closing all connections
    SPARE_DESCRIPTORS = 64, ///< besides one socket for each client
    MESSAGES_MAX = 8,       ///< lines of each kind about single clients
    FRESH_US = 1000000,     ///< a client that received a datagram this recently is not cut off
};

/// Purposes of a client's random numbers.
enum { PURPOSE_LINK };

/// Kinds of lines about single clients.
enum line { LINE_PLAYS, LINE_WAITS, LINE_LOST, LINE_REFUSED, LINE_ENDED, LINES };

/// One bot: a client with its socket, from its start in the ramp to its end.
struct bot {
    struct hc_cl_fleet *fleet;
    struct hc_client *client; ///< NULL before its start
    struct hc_cl_udp *udp;
    struct event *readable, *timer;
    struct hc_cl_bot brain;
    uint64_t begun_us, accepted_us, ended_us; ///< 0: not yet
    uint64_t armed_us;                        ///< deadline of the timer; 0: none yet
    hc_tick decided;                          ///< newest tick for which the brain chose an input
    uint64_t received_us;                     ///< when the newest accepted datagram arrived
    bool received;                            ///< a snapshot
    bool ended;
    bool denial_printed; ///< for the current attempts to connect
    hc_tick first, last; ///< server ticks of the first and the newest snapshot, if `received`
};

struct hc_cl_fleet {
    struct hc_cl_fleet_config config;
    struct event_base *base;
    struct event *term, *interrupt, *end, *progress;
    uint64_t started_us, ended_us;
    bool leaving;
    uint32_t ended;        ///< bots
    uint32_t lines[LINES]; ///< printed
    bool terminal;         ///< standard error may show a line of progress
    struct hc_cl_fleet_ends ends;
    struct hc_cl_fleet_self self;
    struct bot *bots; ///< [config.count]
};

static void arm(struct event *timer, uint64_t deadline_us, uint64_t now_us) {
    uint64_t wait = deadline_us > now_us ? deadline_us - now_us : 0;
    struct timeval timeout = {.tv_sec = (time_t)(wait / 1000000),
                              .tv_usec = (suseconds_t)(wait % 1000000)};
    evtimer_add(timer, &timeout);
}

/// The bot's number in the whole run.
static unsigned index_of(const struct bot *bot) {
    return bot->fleet->config.first + (unsigned)(bot - bot->fleet->bots);
}

/// Stops a bot's events; the last one ends the loop.
static void retire(struct bot *bot, uint64_t now) {
    struct hc_cl_fleet *fleet = bot->fleet;
    bot->ended = true;
    bot->ended_us = now;
    event_del(bot->readable);
    event_del(bot->timer);
    if (++fleet->ended == fleet->config.count)
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
            fleet->config.program, index_of(bot), text);
}

/// Writes why a client is not admitted. `gave_up`: it no longer tries.
static void explain(const struct bot *bot, bool gave_up, char *text, size_t size) {
    struct hc_client_attempt attempt = hc_client_attempt(bot->client);
    struct hc_cl_udp_stats udp = hc_cl_udp_stats(bot->udp);
    uint64_t expire_s = hc_token_expire_s(&bot->fleet->config.tokens[index_of(bot)]);
    hc_cl_failure_text(text, size, &attempt, gave_up, expire_s <= (uint64_t)time(NULL), &udp);
}

/// Counts and prints a client that was not admitted, or not again. `gave_up`: it no longer tries.
static void count_refusal(const struct bot *bot, bool gave_up) {
    const struct hc_cl_fleet *fleet = bot->fleet;
    struct hc_client_attempt attempt = hc_client_attempt(bot->client);
    struct hc_cl_fleet_ends *ends = &bot->fleet->ends;
    char text[320];
    *(attempt.denied ? &ends->denied : &ends->timeout) += 1;
    if (attempt.denied)
        ends->denied_by_reason[attempt.deny]++;
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

static const char *loss_text(enum hc_client_loss loss) {
    switch (loss) {
    case HC_CLIENT_LOSS_SILENCE:
        return "it received nothing from the server for too long";
    case HC_CLIENT_LOSS_RESET:
        return "the server does not know it: the server was restarted, or has dropped it";
    case HC_CLIENT_LOSS_TIMEOUT:
        return "the server has received nothing for too long";
    case HC_CLIENT_LOSS_RENEWAL:
        return "it needs new keys";
    }
    return "for no known reason";
}

/// Handles an event that ends the client.
static void on_last_event(struct bot *bot, const struct hc_client_event *event) {
    struct hc_cl_fleet_ends *ends = &bot->fleet->ends;
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
        fleet->ends.accepted++;
        if (fleet->config.announces)
            print_line(bot, LINE_PLAYS, "plays on %s as player %u", fleet->config.server_name,
                       hc_client_player(bot->client, 0));
        break;
    case HC_CLIENT_EVENT_LOST:
        print_line(bot, LINE_LOST, "has lost its connection: %s", loss_text(event->loss));
        break;
    case HC_CLIENT_EVENT_RECONNECTED:
        bot->decided = HC_NO_TICK; // the world may be new
        print_line(bot, LINE_PLAYS, "plays again on %s as player %u, %s", fleet->config.server_name,
                   hc_client_player(bot->client, 0),
                   event->resumed ? "where it was" : "in a new world");
        break;
    case HC_CLIENT_EVENT_PLAYING:
    case HC_CLIENT_EVENT_STALLED:
    case HC_CLIENT_EVENT_RESUMED:
    case HC_CLIENT_EVENT_MOVED:
        break; // counted by the client
    default:
        on_last_event(bot, event);
    }
}

/// Chooses an input, once for each tick that the client predicts.
static void think(struct bot *bot) {
    const struct hc_timeline *timeline = hc_client_timeline(bot->client);
    enum hc_client_state state = hc_client_state(bot->client);
    if (timeline == NULL || !hc_timeline_started(timeline) ||
        (state != HC_CLIENT_PLAYING && state != HC_CLIENT_STALLED))
        return;
    hc_tick head = hc_timeline_head(timeline);
    if (head == bot->decided)
        return;
    bot->decided = head;
    uint8_t input[HC_INPUT_MAX];
    hc_cl_bot_think(&bot->brain, hc_client_world(bot->client), head,
                    hc_timeline_presence(timeline, head), hc_timeline_states(timeline, head),
                    hc_client_player(bot->client, 0), input);
    hc_client_set_input(bot->client, 0, input);
}

static void record_ticks(struct bot *bot) {
    hc_tick shown, as_of;
    if (!hc_client_snapshot(bot->client, &shown, &as_of))
        return;
    if (!bot->received)
        bot->first = as_of;
    bot->received = true;
    bot->last = as_of;
}

/// Records how late a client does its work, and how many datagrams were due. Of several that are
/// due at once it sends only one.
static void record_lateness(struct bot *bot, uint64_t now) {
    struct hc_cl_fleet_self *self = &bot->fleet->self;
    uint64_t deadline = hc_client_deadline(bot->client);
    if (hc_client_state(bot->client) != HC_CLIENT_PLAYING)
        return;
    if (bot->armed_us != 0 && now >= bot->armed_us)
        hc_histogram_record(&self->lateness_us, now - bot->armed_us);
    if (now >= deadline) {
        uint32_t tick_rate = hc_client_world(bot->client)->tick_rate;
        self->due += 1 + (now - deadline) * tick_rate / 1000000;
        self->sent++;
    }
}

/// Does everything that is due for one bot at `now`, and sets its timer to the next deadline.
static void turn(struct bot *bot, uint64_t now) {
    uint8_t bytes[HC_DATAGRAM_MAX + 1];
    int received;
    struct hc_client_event event;
    record_lateness(bot, now);
    while ((received = hc_cl_udp_take(bot->udp, bytes, now)) >= 0)
        // The client counts what it refuses.
        if (hc_client_receive(bot->client, bytes, (size_t)received, now) == HC_OK)
            bot->received_us = now;
    record_ticks(bot);
    if (hc_client_deadline(bot->client) <= now)
        think(bot);
    hc_client_advance(bot->client, now);
    size_t size;
    while ((size = hc_client_send(bot->client, bytes, now)) > 0)
        hc_cl_udp_send(bot->udp, bytes, size, now);
    hc_cl_udp_flush(bot->udp, now);
    while (hc_client_poll_event(bot->client, &event))
        on_event(bot, &event, now);
    print_denial(bot);

    bool closed = hc_client_state(bot->client) == HC_CLIENT_CLOSED;
    if (closed && hc_cl_udp_idle(bot->udp)) {
        retire(bot, now);
        return;
    }
    uint64_t deadline = hc_client_deadline(bot->client);
    uint64_t link = hc_cl_udp_deadline(bot->udp);
    bot->armed_us = deadline < link ? deadline : link;
    arm(bot->timer, bot->armed_us, hc_clock_us());
}

static void on_readable(evutil_socket_t descriptor, short events, void *context) {
    struct bot *bot = context;
    uint64_t now = hc_clock_us();
    (void)descriptor;
    (void)events;
    hc_cl_udp_receive(bot->udp, now);
    turn(bot, now);
}

/// Starts the bot's client; false: no memory.
static bool begin(struct bot *bot, uint64_t now) {
    struct hc_client_config config = bot->fleet->config.client;
    bot->begun_us = now;
    config.credential = bot->fleet->config.tokens[index_of(bot)];
    bot->client = hc_client_create(&config, now);
    return bot->client != NULL && event_add(bot->readable, NULL) == 0;
}

static void on_timer(evutil_socket_t descriptor, short events, void *context) {
    struct bot *bot = context;
    uint64_t now = hc_clock_us();
    (void)descriptor;
    (void)events;
    if (bot->client == NULL && !begin(bot, now)) {
        bot->fleet->ends.failed++;
        print_line(bot, LINE_REFUSED, "was not started: no memory");
        retire(bot, now);
        return;
    }
    turn(bot, now);
}

/// Whether a client has received nothing for longer than its round trip explains.
static bool is_cut_off(const struct bot *bot, uint64_t now) {
    uint64_t rtt_us = hc_histogram_percentile(&hc_client_stats(bot->client)->rtt_us, 500);
    return now - bot->received_us > FRESH_US + 2 * rtt_us;
}

/// Counts how a client stands just before it leaves.
static void count_end(struct bot *bot, uint64_t now) {
    struct hc_cl_fleet_ends *ends = &bot->fleet->ends;
    enum hc_client_state state = hc_client_state(bot->client);
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
    for (uint32_t i = 0; i < fleet->config.count; i++) {
        struct bot *bot = &fleet->bots[i];
        if (bot->ended)
            continue;
        if (bot->client == NULL) {
            retire(bot, now);
            continue;
        }
        count_end(bot, now);
        hc_client_leave(bot->client, now);
        turn(bot, now);
    }
}

static void on_end(evutil_socket_t descriptor, short events, void *context) {
    (void)descriptor;
    (void)events;
    leave_all(context);
}

static void on_progress(evutil_socket_t descriptor, short events, void *context) {
    struct hc_cl_fleet *fleet = context;
    struct hc_cl_fleet_progress progress = {.elapsed_us = hc_clock_us() - fleet->started_us};
    (void)descriptor;
    (void)events;
    for (uint32_t i = 0; i < fleet->config.count; i++) {
        const struct bot *bot = &fleet->bots[i];
        if (bot->client == NULL || bot->ended)
            continue;
        const struct hc_client_stats *stats = hc_client_stats(bot->client);
        enum hc_client_state state = hc_client_state(bot->client);
        progress.rollbacks += stats->rollbacks;
        progress.stalls += stats->stalls;
        progress.stalled += state == HC_CLIENT_STALLED;
        progress.connecting += state == HC_CLIENT_CONNECTING || state == HC_CLIENT_RECONNECTING;
        if (state != HC_CLIENT_PLAYING)
            continue;
        progress.playing++;
        progress.rtt_us += hc_histogram_percentile(&stats->rtt_us, 500);
    }
    fleet->config.progress(fleet->config.progress_context, &progress);
}

static bool create_bot(struct hc_cl_fleet *fleet, uint32_t index, char *why, size_t why_size) {
    struct bot *bot = &fleet->bots[index];
    bot->fleet = fleet;
    bot->decided = HC_NO_TICK;
    hc_cl_bot_init(&bot->brain, fleet->config.think, fleet->config.seed, index_of(bot));
    bot->udp = hc_cl_udp_open(&fleet->config.server, &fleet->config.link,
                              hc_random(fleet->config.seed, index_of(bot), PURPOSE_LINK, 0), why,
                              why_size);
    if (bot->udp == NULL)
        return false;
    bot->readable = event_new(fleet->base, hc_cl_udp_descriptor(bot->udp), EV_READ | EV_PERSIST,
                              on_readable, bot);
    bot->timer = evtimer_new(fleet->base, on_timer, bot);
    snprintf(why, why_size, "no memory for another client");
    return bot->readable != NULL && bot->timer != NULL;
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
    return fleet->term != NULL && fleet->interrupt != NULL && fleet->end != NULL &&
           fleet->progress != NULL;
}

/// Raises the limit of descriptors for all sockets. If it stays too low, opening a socket fails.
static void raise_descriptors(uint32_t clients) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= clients + SPARE_DESCRIPTORS)
        return;
    limit.rlim_cur = clients + SPARE_DESCRIPTORS;
    if (limit.rlim_cur > limit.rlim_max)
        limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

struct hc_cl_fleet *hc_cl_fleet_create(const struct hc_cl_fleet_config *config, char *why,
                                       size_t why_size) {
    HC_ASSERT(config->count >= 1 && config->first + config->count <= config->clients);
    raise_descriptors(config->count);
    struct hc_cl_fleet *fleet = calloc(1, sizeof(*fleet));
    snprintf(why, why_size, "no memory");
    if (fleet == NULL)
        return NULL;
    fleet->config = *config;
    fleet->terminal = isatty(STDERR_FILENO);
    fleet->bots = calloc(config->count, sizeof(*fleet->bots));
    bool good = fleet->bots != NULL && create_base(fleet);
    for (uint32_t i = 0; good && i < config->count; i++)
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
    for (uint32_t i = 0; fleet->bots != NULL && i < fleet->config.count; i++) {
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
    if (fleet->base != NULL)
        event_base_free(fleet->base);
    free(fleet->bots);
    free(fleet);
}

void hc_cl_fleet_run(struct hc_cl_fleet *fleet) {
    const struct hc_cl_fleet_config *config = &fleet->config;
    struct timeval second = {.tv_sec = 1};
    uint64_t spent_us = hc_report_cpu_us();
    fleet->started_us = hc_clock_us();
    event_add(fleet->term, NULL);
    event_add(fleet->interrupt, NULL);
    for (uint32_t i = 0; i < config->count; i++)
        arm(fleet->bots[i].timer,
            fleet->started_us + config->ramp_us * (config->first + i) / config->clients,
            fleet->started_us);
    if (config->duration_us != 0)
        arm(fleet->end, fleet->started_us + config->ramp_us + config->duration_us,
            fleet->started_us);
    if (config->progress != NULL)
        event_add(fleet->progress, &second);
    event_base_dispatch(fleet->base);
    if (fleet->ended_us == 0)
        fleet->ended_us = hc_clock_us();
    fleet->self.processes = 1;
    fleet->self.cpu_us = hc_report_cpu_us() - spent_us;
}

static void add_stats(struct hc_client_stats *sum, const struct hc_client_stats *one) {
    const struct {
        uint64_t *to, from;
    } counts[] = {
        {&sum->datagrams_in, one->datagrams_in},
        {&sum->datagrams_out, one->datagrams_out},
        {&sum->bytes_in, one->bytes_in},
        {&sum->bytes_out, one->bytes_out},
        {&sum->snapshots, one->snapshots},
        {&sum->snapshots_matched, one->snapshots_matched},
        {&sum->snapshots_stale, one->snapshots_stale},
        {&sum->rollbacks, one->rollbacks},
        {&sum->stalls, one->stalls},
        {&sum->stalled_ticks, one->stalled_ticks},
        {&sum->inputs_sampled, one->inputs_sampled},
        {&sum->inputs_forced, one->inputs_forced},
        {&sum->hash_checks, one->hash_checks},
        {&sum->hash_mismatches, one->hash_mismatches},
        {&sum->corrections, one->corrections},
        {&sum->restarts, one->restarts},
        {&sum->losses, one->losses},
        {&sum->reconnects, one->reconnects},
    };
    for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
        *counts[i].to += counts[i].from;
    for (unsigned i = 0; i < HC_STATUS_COUNT; i++)
        sum->rejected[i] += one->rejected[i];
    hc_histogram_merge(&sum->rollback_depth, &one->rollback_depth);
    hc_histogram_merge(&sum->rtt_us, &one->rtt_us);
    sum->memory_bytes += one->memory_bytes;
}

static void add_udp(struct hc_cl_udp_stats *sum, const struct hc_cl_udp_stats *one) {
    sum->datagrams_in += one->datagrams_in;
    sum->bytes_in += one->bytes_in;
    sum->datagrams_out += one->datagrams_out;
    sum->bytes_out += one->bytes_out;
    sum->send_errors += one->send_errors;
    sum->sim_lost += one->sim_lost;
    sum->sim_dropped_full += one->sim_dropped_full;
}

void hc_cl_fleet_result(const struct hc_cl_fleet *fleet, struct hc_cl_fleet_result *result) {
    *result =
        (struct hc_cl_fleet_result){.ends = fleet->ends, .self = fleet->self, .first = HC_NO_TICK};
    result->duration_us = fleet->ended_us - fleet->started_us;
    for (uint32_t i = 0; i < fleet->config.count; i++) {
        const struct bot *bot = &fleet->bots[i];
        struct hc_cl_udp_stats udp = hc_cl_udp_stats(bot->udp);
        add_udp(&result->udp, &udp);
        if (bot->client == NULL || bot->accepted_us == 0)
            continue;
        const struct hc_client_stats *stats = hc_client_stats(bot->client);
        add_stats(&result->sum, stats);
        uint64_t end =
            bot->ended && bot->ended_us < fleet->ended_us ? bot->ended_us : fleet->ended_us;
        if (end > bot->accepted_us)
            result->client_us += end - bot->accepted_us;
        if (hc_client_world(bot->client) != NULL)
            result->tick_rate = hc_client_world(bot->client)->tick_rate;
        if (stats->rtt_us.count > 0) {
            result->jitter_us += stats->jitter_us;
            result->jitters++;
        }
        if (bot->received) {
            result->first = hc_tick_min(result->first, bot->first);
            result->last = hc_tick_max(result->last, bot->last);
        }
    }
}

void hc_cl_fleet_merge(struct hc_cl_fleet_result *result, const struct hc_cl_fleet_result *other) {
    const struct {
        uint32_t *to, from;
    } ends[] = {
        {&result->ends.accepted, other->ends.accepted},
        {&result->ends.left, other->ends.left},
        {&result->ends.cut_off, other->ends.cut_off},
        {&result->ends.denied, other->ends.denied},
        {&result->ends.closed, other->ends.closed},
        {&result->ends.timeout, other->ends.timeout},
        {&result->ends.failed, other->ends.failed},
        {&result->jitters, other->jitters},
        {&result->self.processes, other->self.processes},
    };
    for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
        *ends[i].to += ends[i].from;
    for (unsigned i = 0; i < HC_DENY_REASONS_END; i++)
        result->ends.denied_by_reason[i] += other->ends.denied_by_reason[i];
    if (other->duration_us > result->duration_us)
        result->duration_us = other->duration_us;
    result->client_us += other->client_us;
    if (other->tick_rate != 0)
        result->tick_rate = other->tick_rate;
    result->first = hc_tick_min(result->first, other->first);
    result->last = hc_tick_max(result->last, other->last);
    add_stats(&result->sum, &other->sum);
    result->jitter_us += other->jitter_us;
    add_udp(&result->udp, &other->udp);
    result->self.cpu_us += other->self.cpu_us;
    result->self.due += other->self.due;
    result->self.sent += other->self.sent;
    hc_histogram_merge(&result->self.lateness_us, &other->self.lateness_us);
}

void hc_cl_fleet_merge_progress(struct hc_cl_fleet_progress *progress,
                                const struct hc_cl_fleet_progress *other) {
    if (other->elapsed_us > progress->elapsed_us)
        progress->elapsed_us = other->elapsed_us;
    progress->playing += other->playing;
    progress->stalled += other->stalled;
    progress->connecting += other->connecting;
    progress->rtt_us += other->rtt_us;
    progress->rollbacks += other->rollbacks;
    progress->stalls += other->stalls;
}
