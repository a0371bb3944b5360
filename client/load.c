#define _GNU_SOURCE

#include "client/load.h"

#include "client/bot.h"
#include "common/check.h"

#include <event2/event.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum {
    GOODBYE_US = 2000000,   ///< the longest that goodbyes may take
    SPARE_DESCRIPTORS = 64, ///< beside a socket for each client
    MESSAGES_MAX = 8,       ///< clients whose fate is told one by one
};

/// Which random numbers a client draws.
enum { PURPOSE_LINK };

/// One client, from its turn in the ramp to its end.
struct player {
    struct hc_cl_load *load;
    struct hc_client *client; ///< NULL before its turn
    struct hc_cl_udp *udp;
    struct event *readable, *timer;
    struct hc_cl_bot bot;
    uint64_t accepted_us, over_us; ///< 0: not yet
    hc_tick thought;               ///< the bot has decided on this tick
    bool heard, over;
    hc_tick first, last; ///< server ticks heard of, where `heard`
};

struct hc_cl_load {
    struct hc_cl_load_config config;
    struct event_base *base;
    struct event *term, *interrupt, *end, *progress;
    uint64_t started_us, ended_us;
    bool leaving;
    uint32_t over; ///< clients
    struct hc_cl_load_ends ends;
    struct player *players; ///< [config.clients]
};

static uint64_t clock_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static void arm(struct event *timer, uint64_t deadline_us, uint64_t now_us) {
    uint64_t wait = deadline_us > now_us ? deadline_us - now_us : 0;
    struct timeval timeout = {.tv_sec = (time_t)(wait / 1000000),
                              .tv_usec = (suseconds_t)(wait % 1000000)};
    evtimer_add(timer, &timeout);
}

static unsigned index_of(const struct player *player) {
    return (unsigned)(player - player->load->players);
}

static void retire(struct player *player, uint64_t now) {
    struct hc_cl_load *load = player->load;
    player->over = true;
    player->over_us = now;
    event_del(player->readable);
    event_del(player->timer);
    if (++load->over == load->config.clients)
        event_base_loopbreak(load->base);
}

/// Tells of a client that ends before its time.
static void tell(const struct player *player, const char *what) {
    const struct hc_cl_load *load = player->load;
    uint32_t count = load->ends.denied + load->ends.closed + load->ends.timeout;
    if (count <= MESSAGES_MAX)
        fprintf(stderr, "%s: client %u: %s\n", load->config.program, index_of(player), what);
    if (count == MESSAGES_MAX && load->config.clients > MESSAGES_MAX)
        fprintf(stderr, "%s: further clients are only counted\n", load->config.program);
}

static const char *deny_text(enum hc_deny_reason reason) {
    switch (reason) {
    case HC_DENY_FULL:
        return "is full";
    case HC_DENY_TOKEN:
        return "does not accept the token";
    case HC_DENY_SHUTDOWN:
        return "is going away";
    case HC_DENY_LIMIT:
        return "allows no more clients of this address now (--connects-per-address and "
               "--clients-per-address of hindcastd)";
    case HC_DENY_PLAYERS:
        return "allows fewer players in one client";
    }
    return "gives no known reason";
}

static void on_event(struct player *player, const struct hc_client_event *event, uint64_t now) {
    struct hc_cl_load *load = player->load;
    const char *server = load->config.server_name;
    char what[512];
    switch (event->kind) {
    case HC_CLIENT_EVENT_ACCEPTED:
        player->accepted_us = now;
        load->ends.accepted++;
        return;
    case HC_CLIENT_EVENT_PLAYING:
    case HC_CLIENT_EVENT_STALLED:
    case HC_CLIENT_EVENT_RESUMED:
    case HC_CLIENT_EVENT_LOST:
    case HC_CLIENT_EVENT_MOVED:
        return; // counted by the client
    case HC_CLIENT_EVENT_RECONNECTED:
        player->thought = HC_NO_TICK; // the world may be another one
        return;
    case HC_CLIENT_EVENT_DENIED:
        load->ends.denied++;
        snprintf(what, sizeof(what), "refused: the server at %s %s", server,
                 deny_text(event->deny));
        break;
    case HC_CLIENT_EVENT_VERSION:
        load->ends.denied++;
        snprintf(what, sizeof(what), "refused: the server at %s is of another build", server);
        break;
    case HC_CLIENT_EVENT_CLOSED:
        if (event->close == HC_CLOSE_LEFT) {
            load->ends.left += player->accepted_us != 0;
            return;
        }
        load->ends.closed++;
        snprintf(what, sizeof(what), "the server at %s ended the session: %s", server,
                 hc_message_close_text(event->close));
        break;
    case HC_CLIENT_EVENT_TIMEOUT:
        load->ends.timeout++;
        snprintf(what, sizeof(what),
                 player->accepted_us != 0 ? "the server at %s is gone: nothing heard for %.0f s"
                                          : "no server answers at %s within %.0f s",
                 server,
                 ((double)load->config.client.timeout_us +
                  (player->accepted_us != 0 ? (double)load->config.client.reconnect_us : 0)) /
                     1e6);
        break;
    }
    tell(player, what);
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
    if (!player->heard)
        player->first = as_of;
    player->heard = true;
    player->last = as_of;
}

/// Everything that is due for one client at `now`, then the timer for what comes next.
static void turn(struct player *player, uint64_t now) {
    uint8_t bytes[HC_DATAGRAM_MAX + 1];
    int received;
    struct hc_client_event event;
    while ((received = hc_cl_udp_take(player->udp, bytes, now)) >= 0)
        // What was refused is in the client's statistics.
        (void)hc_client_receive(player->client, bytes, (size_t)received, now);
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

    bool closed = hc_client_state(player->client) == HC_CLIENT_CLOSED;
    if (closed && hc_cl_udp_idle(player->udp)) {
        retire(player, now);
        return;
    }
    uint64_t deadline = hc_client_deadline(player->client);
    uint64_t link = hc_cl_udp_deadline(player->udp);
    arm(player->timer, deadline < link ? deadline : link, clock_us());
}

static void on_readable(evutil_socket_t descriptor, short what, void *context) {
    struct player *player = context;
    uint64_t now = clock_us();
    (void)descriptor;
    (void)what;
    hc_cl_udp_receive(player->udp, now);
    turn(player, now);
}

/// The client's turn in the ramp; false: no memory.
static bool begin(struct player *player, uint64_t now) {
    struct hc_client_config config = player->load->config.client;
    // Two runs with the same seed must not pass for one client that tries again.
    if (getrandom(&config.seed, sizeof(config.seed), 0) != (ssize_t)sizeof(config.seed))
        return false;
    config.credential = player->load->config.tokens[index_of(player)];
    player->client = hc_client_create(&config, now);
    return player->client != NULL && event_add(player->readable, NULL) == 0;
}

static void on_timer(evutil_socket_t descriptor, short what, void *context) {
    struct player *player = context;
    uint64_t now = clock_us();
    (void)descriptor;
    (void)what;
    if (player->client == NULL && !begin(player, now)) {
        player->load->ends.denied++;
        tell(player, "no memory");
        retire(player, now);
        return;
    }
    turn(player, now);
}

/// Every client says goodbye; those that had no turn yet are over at once.
static void leave_all(struct hc_cl_load *load) {
    uint64_t now = clock_us();
    if (load->leaving) { // asked twice, or it takes too long
        event_base_loopbreak(load->base);
        return;
    }
    load->leaving = true;
    load->ended_us = now;
    arm(load->end, now + GOODBYE_US, now);
    for (uint32_t i = 0; i < load->config.clients; i++) {
        struct player *player = &load->players[i];
        if (player->over)
            continue;
        if (player->client == NULL) {
            retire(player, now);
            continue;
        }
        if (player->accepted_us == 0) {
            char what[512];
            load->ends.timeout++;
            snprintf(what, sizeof(what), "no server has answered at %s", load->config.server_name);
            tell(player, what);
        }
        hc_client_leave(player->client, now);
        turn(player, now);
    }
}

static void on_end(evutil_socket_t descriptor, short what, void *context) {
    (void)descriptor;
    (void)what;
    leave_all(context);
}

/// One line, overwritten each second; the newest figures of the clients that still play.
static void on_progress(evutil_socket_t descriptor, short what, void *context) {
    struct hc_cl_load *load = context;
    uint32_t playing = 0;
    uint64_t rollbacks = 0, rtt_us = 0, stalls = 0;
    (void)descriptor;
    (void)what;
    for (uint32_t i = 0; i < load->config.clients; i++) {
        const struct player *player = &load->players[i];
        if (player->client == NULL || player->over || !player->heard)
            continue;
        const struct hc_client_stats *stats = hc_client_stats(player->client);
        playing++;
        rollbacks += stats->rollbacks;
        stalls += stats->stalls;
        rtt_us += hc_histogram_percentile(&stats->rtt_us, 500);
    }
    fprintf(stderr,
            "\r%4.0f s  %" PRIu32 "/%" PRIu32 " playing  rtt %.0f ms  rollbacks %" PRIu64
            "  stalls %" PRIu64 "   ",
            (double)(clock_us() - load->started_us) / 1e6, playing, load->config.clients,
            playing == 0 ? 0.0 : (double)rtt_us / playing / 1e3, rollbacks, stalls);
}

static bool create_player(struct hc_cl_load *load, uint32_t index, char *why, size_t why_size) {
    struct player *player = &load->players[index];
    player->load = load;
    player->thought = HC_NO_TICK;
    hc_cl_bot_init(&player->bot, load->config.seed, index);
    player->udp =
        hc_cl_udp_open(&load->config.server, &load->config.link,
                       hc_random(load->config.seed, index, PURPOSE_LINK, 0), why, why_size);
    if (player->udp == NULL)
        return false;
    player->readable = event_new(load->base, hc_cl_udp_descriptor(player->udp),
                                 EV_READ | EV_PERSIST, on_readable, player);
    player->timer = evtimer_new(load->base, on_timer, player);
    snprintf(why, why_size, "no memory for another client");
    return player->readable != NULL && player->timer != NULL;
}

/// The event base with what wakes the fleet as a whole.
static bool create_base(struct hc_cl_load *load) {
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

struct hc_cl_load *hc_cl_load_create(const struct hc_cl_load_config *config, char *why,
                                     size_t why_size) {
    HC_ASSERT(config->clients >= 1);
    raise_descriptors(config->clients);
    struct hc_cl_load *load = calloc(1, sizeof(*load));
    snprintf(why, why_size, "no memory");
    if (load == NULL)
        return NULL;
    load->config = *config;
    load->players = calloc(config->clients, sizeof(*load->players));
    bool good = load->players != NULL && create_base(load);
    for (uint32_t i = 0; good && i < config->clients; i++)
        good = create_player(load, i, why, why_size);
    if (good)
        return load;
    hc_cl_load_destroy(load);
    return NULL;
}

static void free_event(struct event *event) {
    if (event != NULL)
        event_free(event);
}

void hc_cl_load_destroy(struct hc_cl_load *load) {
    if (load == NULL)
        return;
    for (uint32_t i = 0; load->players != NULL && i < load->config.clients; i++) {
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

bool hc_cl_load_run(struct hc_cl_load *load) {
    const struct hc_cl_load_config *config = &load->config;
    struct timeval second = {.tv_sec = 1};
    bool terminal = isatty(STDERR_FILENO);
    load->started_us = clock_us();
    event_add(load->term, NULL);
    event_add(load->interrupt, NULL);
    for (uint32_t i = 0; i < config->clients; i++)
        arm(load->players[i].timer, load->started_us + config->ramp_us * i / config->clients,
            load->started_us);
    if (config->duration_us != 0)
        arm(load->end, load->started_us + config->ramp_us + config->duration_us, load->started_us);
    if (terminal)
        event_add(load->progress, &second);
    event_base_dispatch(load->base);
    if (load->ended_us == 0)
        load->ended_us = clock_us();
    if (terminal)
        fprintf(stderr, "\r%79s\r", "");

    uint32_t gone = load->ends.denied + load->ends.closed + load->ends.timeout;
    if (gone > 0)
        fprintf(stderr, "%s: %" PRIu32 " of %" PRIu32 " clients did not get to the end\n",
                config->program, gone, config->clients);
    return gone == 0;
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

void hc_cl_load_result(const struct hc_cl_load *load, struct hc_cl_load_result *result) {
    *result = (struct hc_cl_load_result){.ends = load->ends};
    result->duration_us = load->ended_us - load->started_us;
    hc_tick first = HC_NO_TICK, last = 0;
    for (uint32_t i = 0; i < load->config.clients; i++) {
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
        result->tick_rate = hc_client_world(player->client)->tick_rate;
        if (stats->rtt_us.count > 0) {
            result->jitter_us += stats->jitter_us;
            result->jitters++;
        }
        if (player->heard) {
            first = hc_tick_min(first, player->first);
            last = hc_tick_max(last, player->last);
        }
    }
    if (result->jitters > 0)
        result->jitter_us /= result->jitters;
    if (last > first)
        result->ticks = last - first;
}
