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
    GOODBYE_US = 2000000,   ///< the longest that goodbyes may take
    SPARE_DESCRIPTORS = 64, ///< beside a socket for each client
    MESSAGES_MAX = 8,       ///< lines of each kind about single clients
    FRESH_US = 1000000,     ///< a client that received something this lately is not cut off
};

/// Which random numbers a client draws.
enum { PURPOSE_LINK };

/// Kinds of lines about single clients.
enum line { LINE_PLAYS, LINE_WAITS, LINE_LOST, LINE_REFUSED, LINE_ENDED, LINES };

/// One client, from its turn in the ramp to its end.
struct player {
    struct hc_cl_fleet *load;
    struct hc_client *client; ///< NULL before its turn
    struct hc_cl_udp *udp;
    struct event *readable, *timer;
    struct hc_cl_bot bot;
    uint64_t begun_us, accepted_us, over_us; ///< 0: not yet
    uint64_t armed_us;                       ///< when there is something to do; 0: not known yet
    hc_tick thought;                         ///< the bot has decided on this tick
    uint64_t received_us;                    ///< when the newest datagram came that was accepted
    bool received, over, waits; ///< waits: it is denied, goes on asking, and that was said
    hc_tick first, last;        ///< server ticks that snapshots showed, if `received`
};

struct hc_cl_fleet {
    struct hc_cl_fleet_config config;
    struct event_base *base;
    struct event *term, *interrupt, *end, *progress;
    uint64_t started_us, ended_us;
    bool leaving;
    uint32_t over;         ///< clients
    uint32_t lines[LINES]; ///< written
    bool terminal;         ///< a line of progress may stand there
    struct hc_cl_fleet_ends ends;
    struct hc_cl_fleet_self self;
    struct player *players; ///< [config.count]
};

static void arm(struct event *timer, uint64_t deadline_us, uint64_t now_us) {
    uint64_t wait = deadline_us > now_us ? deadline_us - now_us : 0;
    struct timeval timeout = {.tv_sec = (time_t)(wait / 1000000),
                              .tv_usec = (suseconds_t)(wait % 1000000)};
    evtimer_add(timer, &timeout);
}

/// Its number in the whole run.
static unsigned index_of(const struct player *player) {
    return player->load->config.first + (unsigned)(player - player->load->players);
}

static void retire(struct player *player, uint64_t now) {
    struct hc_cl_fleet *load = player->load;
    player->over = true;
    player->over_us = now;
    event_del(player->readable);
    event_del(player->timer);
    if (++load->over == load->config.count)
        event_base_loopbreak(load->base);
}

/// Prints a line about a client, for as many of each kind as are worth reading.
__attribute__((format(printf, 3, 4))) static void note(const struct player *player, enum line line,
                                                       const char *format, ...) {
    struct hc_cl_fleet *load = player->load;
    char text[512];
    va_list arguments;
    if (load->lines[line]++ >= MESSAGES_MAX) {
        if (load->lines[line] == MESSAGES_MAX + 1)
            fprintf(stderr, "%s: further clients of this kind are only counted\n",
                    load->config.program);
        return;
    }
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    fprintf(stderr, "%s%s: client %u %s\n", load->terminal ? "\r\033[K" : "", load->config.program,
            index_of(player), text);
}

/// Why a client is not admitted, as far as it knows; `over`: it has given up.
static void explain(const struct player *player, bool over, char *text, size_t size) {
    struct hc_client_attempt attempt = hc_client_attempt(player->client);
    struct hc_cl_udp_stats udp = hc_cl_udp_stats(player->udp);
    uint64_t expire_s = hc_token_expire_s(&player->load->config.tokens[index_of(player)]);
    hc_cl_failure_text(text, size, &attempt, over, expire_s <= (uint64_t)time(NULL), &udp);
}

/// Counts a client that was not admitted, or not again, and says why. `over`: it has given up.
static void refuse(const struct player *player, bool over) {
    const struct hc_cl_fleet *load = player->load;
    struct hc_client_attempt attempt = hc_client_attempt(player->client);
    struct hc_cl_fleet_ends *ends = &player->load->ends;
    char text[320];
    *(attempt.denied ? &ends->denied : &ends->timeout) += 1;
    if (attempt.denied)
        ends->denied_by_reason[attempt.deny]++;
    explain(player, over, text, sizeof(text));
    note(player, LINE_REFUSED, "was not admitted by %s: %s", load->config.server_name, text);
}

/// Says once that a client is denied and goes on asking.
static void note_denial(struct player *player) {
    char text[320];
    enum hc_client_state state = hc_client_state(player->client);
    bool asks = state == HC_CLIENT_CONNECTING || state == HC_CLIENT_RECONNECTING;
    if (!asks || !hc_client_attempt(player->client).denied) {
        player->waits = player->waits && asks;
        return;
    }
    if (player->waits)
        return;
    player->waits = true;
    explain(player, false, text, sizeof(text));
    note(player, LINE_WAITS, "is not admitted yet, and goes on asking: %s", text);
}

static const char *loss_text(enum hc_client_loss loss) {
    switch (loss) {
    case HC_CLIENT_LOSS_SILENCE:
        return "the server has fallen silent";
    case HC_CLIENT_LOSS_RESET:
        return "the server does not know it: it was started again, or has dropped it";
    case HC_CLIENT_LOSS_TIMEOUT:
        return "the server has received nothing for too long";
    case HC_CLIENT_LOSS_RENEWAL:
        return "it needs new keys";
    }
    return "for no known reason";
}

/// An event after which the client is no more.
static void on_last_event(struct player *player, const struct hc_client_event *event) {
    struct hc_cl_fleet_ends *ends = &player->load->ends;
    const char *server = player->load->config.server_name;
    switch (event->kind) {
    case HC_CLIENT_EVENT_DENIED:
        refuse(player, true);
        break;
    case HC_CLIENT_EVENT_VERSION:
        ends->denied++;
        note(player, LINE_REFUSED, "was not admitted: the server at %s is of another build",
             server);
        break;
    case HC_CLIENT_EVENT_TIMEOUT:
        if (player->accepted_us == 0 || hc_client_attempt(player->client).denied) {
            refuse(player, true);
            break;
        }
        ends->timeout++;
        note(player, LINE_ENDED, "gave up: the server at %s is gone", server);
        break;
    default: // CLOSED: counted before if it was this side's wish
        if (event->close == HC_CLOSE_LEFT)
            break;
        ends->closed++;
        note(player, LINE_ENDED, "was closed by %s: %s", server, hc_close_text(event->close));
        break;
    }
}

static void on_event(struct player *player, const struct hc_client_event *event, uint64_t now) {
    struct hc_cl_fleet *load = player->load;
    switch (event->kind) {
    case HC_CLIENT_EVENT_ACCEPTED:
        player->accepted_us = now;
        load->ends.accepted++;
        if (load->config.announces)
            note(player, LINE_PLAYS, "plays on %s as player %u", load->config.server_name,
                 hc_client_player(player->client, 0));
        break;
    case HC_CLIENT_EVENT_LOST:
        note(player, LINE_LOST, "has lost its connection: %s", loss_text(event->loss));
        break;
    case HC_CLIENT_EVENT_RECONNECTED:
        player->thought = HC_NO_TICK; // the world may be another one
        note(player, LINE_PLAYS, "plays again on %s as player %u, %s", load->config.server_name,
             hc_client_player(player->client, 0),
             event->resumed ? "where it was" : "in a world that has begun anew");
        break;
    case HC_CLIENT_EVENT_PLAYING:
    case HC_CLIENT_EVENT_STALLED:
    case HC_CLIENT_EVENT_RESUMED:
    case HC_CLIENT_EVENT_MOVED:
        break; // counted by the client
    default:
        on_last_event(player, event);
    }
}

/// Lets the bot decide once for each tick that its client predicts.
static void think(struct player *player) {
    const struct hc_timeline *timeline = hc_client_timeline(player->client);
    enum hc_client_state state = hc_client_state(player->client);
    if (timeline == NULL || !hc_timeline_started(timeline) ||
        (state != HC_CLIENT_PLAYING && state != HC_CLIENT_STALLED))
        return;
    hc_tick head = hc_timeline_head(timeline);
    if (head == player->thought)
        return;
    player->thought = head;
    struct hc_arena_input input = hc_cl_bot_think(
        &player->bot, hc_client_world(player->client), head, hc_timeline_presence(timeline, head),
        hc_timeline_states(timeline, head), hc_client_player(player->client, 0));
    hc_client_set_input(player->client, 0, &input);
}

static void note_ticks(struct player *player) {
    hc_tick shown, as_of;
    if (!hc_client_snapshot(player->client, &shown, &as_of))
        return;
    if (!player->received)
        player->first = as_of;
    player->received = true;
    player->last = as_of;
}

/// Notes how late a client of this process does its work, and how many datagrams fell due
/// meanwhile: of several only one will be sent.
static void note_lateness(struct player *player, uint64_t now) {
    struct hc_cl_fleet_self *self = &player->load->self;
    uint64_t deadline = hc_client_deadline(player->client);
    if (hc_client_state(player->client) != HC_CLIENT_PLAYING)
        return;
    if (player->armed_us != 0 && now >= player->armed_us)
        hc_histogram_record(&self->lateness_us, now - player->armed_us);
    if (now >= deadline) {
        uint32_t tick_rate = hc_client_world(player->client)->tick_rate;
        self->due += 1 + (now - deadline) * tick_rate / 1000000;
        self->sent++;
    }
}

/// Everything that is due for one client at `now`, then the timer for what comes next.
static void turn(struct player *player, uint64_t now) {
    uint8_t bytes[HC_DATAGRAM_MAX + 1];
    int received;
    struct hc_client_event event;
    note_lateness(player, now);
    while ((received = hc_cl_udp_take(player->udp, bytes, now)) >= 0)
        // What was refused is in the client's statistics.
        if (hc_client_receive(player->client, bytes, (size_t)received, now) == HC_OK)
            player->received_us = now;
    note_ticks(player);
    if (hc_client_deadline(player->client) <= now)
        think(player);
    hc_client_advance(player->client, now);
    size_t size;
    while ((size = hc_client_send(player->client, bytes, now)) > 0)
        hc_cl_udp_send(player->udp, bytes, size, now);
    hc_cl_udp_flush(player->udp, now);
    while (hc_client_poll_event(player->client, &event))
        on_event(player, &event, now);
    note_denial(player);

    bool closed = hc_client_state(player->client) == HC_CLIENT_CLOSED;
    if (closed && hc_cl_udp_idle(player->udp)) {
        retire(player, now);
        return;
    }
    uint64_t deadline = hc_client_deadline(player->client);
    uint64_t link = hc_cl_udp_deadline(player->udp);
    player->armed_us = deadline < link ? deadline : link;
    arm(player->timer, player->armed_us, hc_clock_us());
}

static void on_readable(evutil_socket_t descriptor, short what, void *context) {
    struct player *player = context;
    uint64_t now = hc_clock_us();
    (void)descriptor;
    (void)what;
    hc_cl_udp_receive(player->udp, now);
    turn(player, now);
}

/// The client's turn in the ramp; false: no memory.
static bool begin(struct player *player, uint64_t now) {
    struct hc_client_config config = player->load->config.client;
    player->begun_us = now;
    config.credential = player->load->config.tokens[index_of(player)];
    player->client = hc_client_create(&config, now);
    return player->client != NULL && event_add(player->readable, NULL) == 0;
}

static void on_timer(evutil_socket_t descriptor, short what, void *context) {
    struct player *player = context;
    uint64_t now = hc_clock_us();
    (void)descriptor;
    (void)what;
    if (player->client == NULL && !begin(player, now)) {
        player->load->ends.failed++;
        note(player, LINE_REFUSED, "was not started: no memory");
        retire(player, now);
        return;
    }
    turn(player, now);
}

/// Whether a client has received nothing for longer than its link can explain.
static bool is_cut_off(const struct player *player, uint64_t now) {
    uint64_t rtt_us = hc_histogram_percentile(&hc_client_stats(player->client)->rtt_us, 500);
    return now - player->received_us > FRESH_US + 2 * rtt_us;
}

/// Counts how a client stands that is about to leave.
static void count_end(struct player *player, uint64_t now) {
    struct hc_cl_fleet_ends *ends = &player->load->ends;
    enum hc_client_state state = hc_client_state(player->client);
    if (player->accepted_us == 0 ||
        (state == HC_CLIENT_RECONNECTING && hc_client_attempt(player->client).denied)) {
        refuse(player, false);
    } else if (state == HC_CLIENT_RECONNECTING || is_cut_off(player, now)) {
        ends->cut_off++;
        note(player, LINE_ENDED, "received nothing from %s for the last %.1f s",
             player->load->config.server_name, (double)(now - player->received_us) / 1e6);
    } else if (state != HC_CLIENT_CLOSED) {
        ends->left++;
    }
}

/// Every client says goodbye; those that had no turn yet are over at once.
static void leave_all(struct hc_cl_fleet *load) {
    uint64_t now = hc_clock_us();
    if (load->leaving) { // asked twice, or it takes too long
        event_base_loopbreak(load->base);
        return;
    }
    load->leaving = true;
    load->ended_us = now;
    arm(load->end, now + GOODBYE_US, now);
    for (uint32_t i = 0; i < load->config.count; i++) {
        struct player *player = &load->players[i];
        if (player->over)
            continue;
        if (player->client == NULL) {
            retire(player, now);
            continue;
        }
        count_end(player, now);
        hc_client_leave(player->client, now);
        turn(player, now);
    }
}

static void on_end(evutil_socket_t descriptor, short what, void *context) {
    (void)descriptor;
    (void)what;
    leave_all(context);
}

static void on_progress(evutil_socket_t descriptor, short what, void *context) {
    struct hc_cl_fleet *load = context;
    struct hc_cl_fleet_progress progress = {.elapsed_us = hc_clock_us() - load->started_us};
    (void)descriptor;
    (void)what;
    for (uint32_t i = 0; i < load->config.count; i++) {
        const struct player *player = &load->players[i];
        if (player->client == NULL || player->over)
            continue;
        const struct hc_client_stats *stats = hc_client_stats(player->client);
        enum hc_client_state state = hc_client_state(player->client);
        progress.rollbacks += stats->rollbacks;
        progress.stalls += stats->stalls;
        progress.stalled += state == HC_CLIENT_STALLED;
        progress.connecting += state == HC_CLIENT_CONNECTING || state == HC_CLIENT_RECONNECTING;
        if (state != HC_CLIENT_PLAYING)
            continue;
        progress.playing++;
        progress.rtt_us += hc_histogram_percentile(&stats->rtt_us, 500);
    }
    load->config.progress(load->config.progress_context, &progress);
}

static bool create_player(struct hc_cl_fleet *load, uint32_t index, char *why, size_t why_size) {
    struct player *player = &load->players[index];
    player->load = load;
    player->thought = HC_NO_TICK;
    hc_cl_bot_init(&player->bot, load->config.seed, index_of(player));
    player->udp = hc_cl_udp_open(&load->config.server, &load->config.link,
                                 hc_random(load->config.seed, index_of(player), PURPOSE_LINK, 0),
                                 why, why_size);
    if (player->udp == NULL)
        return false;
    player->readable = event_new(load->base, hc_cl_udp_descriptor(player->udp),
                                 EV_READ | EV_PERSIST, on_readable, player);
    player->timer = evtimer_new(load->base, on_timer, player);
    snprintf(why, why_size, "no memory for another client");
    return player->readable != NULL && player->timer != NULL;
}

/// The event base with what wakes the fleet as a whole.
static bool create_base(struct hc_cl_fleet *load) {
    struct event_config *config = event_config_new();
    if (config == NULL)
        return false;
    // Without these the timers are late by up to 3 ms, and early by what a callback takes.
    event_config_set_flag(config, EVENT_BASE_FLAG_PRECISE_TIMER);
    event_config_set_flag(config, EVENT_BASE_FLAG_NO_CACHE_TIME);
    load->base = event_base_new_with_config(config);
    event_config_free(config);
    if (load->base == NULL)
        return false;
    load->term = evsignal_new(load->base, SIGTERM, on_end, load);
    load->interrupt = evsignal_new(load->base, SIGINT, on_end, load);
    load->end = evtimer_new(load->base, on_end, load);
    load->progress = event_new(load->base, -1, EV_PERSIST, on_progress, load);
    return load->term != NULL && load->interrupt != NULL && load->end != NULL &&
           load->progress != NULL;
}

/// Sockets for all clients; a lower limit shows when one cannot be opened.
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
    struct hc_cl_fleet *load = calloc(1, sizeof(*load));
    snprintf(why, why_size, "no memory");
    if (load == NULL)
        return NULL;
    load->config = *config;
    load->terminal = isatty(STDERR_FILENO);
    load->players = calloc(config->count, sizeof(*load->players));
    bool good = load->players != NULL && create_base(load);
    for (uint32_t i = 0; good && i < config->count; i++)
        good = create_player(load, i, why, why_size);
    if (good)
        return load;
    hc_cl_fleet_destroy(load);
    return NULL;
}

static void free_event(struct event *event) {
    if (event != NULL)
        event_free(event);
}

void hc_cl_fleet_destroy(struct hc_cl_fleet *load) {
    if (load == NULL)
        return;
    for (uint32_t i = 0; load->players != NULL && i < load->config.count; i++) {
        struct player *player = &load->players[i];
        free_event(player->readable);
        free_event(player->timer);
        hc_client_destroy(player->client);
        hc_cl_udp_close(player->udp);
    }
    free_event(load->term);
    free_event(load->interrupt);
    free_event(load->end);
    free_event(load->progress);
    if (load->base != NULL)
        event_base_free(load->base);
    free(load->players);
    free(load);
}

void hc_cl_fleet_run(struct hc_cl_fleet *load) {
    const struct hc_cl_fleet_config *config = &load->config;
    struct timeval second = {.tv_sec = 1};
    uint64_t spent_us = hc_report_cpu_us();
    load->started_us = hc_clock_us();
    event_add(load->term, NULL);
    event_add(load->interrupt, NULL);
    for (uint32_t i = 0; i < config->count; i++)
        arm(load->players[i].timer,
            load->started_us + config->ramp_us * (config->first + i) / config->clients,
            load->started_us);
    if (config->duration_us != 0)
        arm(load->end, load->started_us + config->ramp_us + config->duration_us, load->started_us);
    if (config->progress != NULL)
        event_add(load->progress, &second);
    event_base_dispatch(load->base);
    if (load->ended_us == 0)
        load->ended_us = hc_clock_us();
    load->self.processes = 1;
    load->self.cpu_us = hc_report_cpu_us() - spent_us;
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
    sum->link_lost += one->link_lost;
    sum->link_dropped_full += one->link_dropped_full;
}

void hc_cl_fleet_result(const struct hc_cl_fleet *load, struct hc_cl_fleet_result *result) {
    *result =
        (struct hc_cl_fleet_result){.ends = load->ends, .self = load->self, .first = HC_NO_TICK};
    result->duration_us = load->ended_us - load->started_us;
    for (uint32_t i = 0; i < load->config.count; i++) {
        const struct player *player = &load->players[i];
        struct hc_cl_udp_stats udp = hc_cl_udp_stats(player->udp);
        add_udp(&result->udp, &udp);
        if (player->client == NULL || player->accepted_us == 0)
            continue;
        const struct hc_client_stats *stats = hc_client_stats(player->client);
        add_stats(&result->sum, stats);
        uint64_t end =
            player->over && player->over_us < load->ended_us ? player->over_us : load->ended_us;
        if (end > player->accepted_us)
            result->client_us += end - player->accepted_us;
        if (hc_client_world(player->client) != NULL)
            result->tick_rate = hc_client_world(player->client)->tick_rate;
        if (stats->rtt_us.count > 0) {
            result->jitter_us += stats->jitter_us;
            result->jitters++;
        }
        if (player->received) {
            result->first = hc_tick_min(result->first, player->first);
            result->last = hc_tick_max(result->last, player->last);
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
