/// Owns the turns of a bot, its inputs, its messages and its counts.
#include "client/bots/bot.h"

#include "common/elapsed.h"

#include "client/programs/failure.h"
#include "client/session.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
    MESSAGES_MAX = 8,    ///< lines of each kind about single clients
    NOTICES_MAX = 100,   ///< notices that are printed
    AGAIN_US = 10000000, ///< another client has the same notice so much later: it was said again
    FRESH_US = 1000000,  ///< a client that received a datagram this recently is not cut off
};

/// Prints a line about a client; at most MESSAGES_MAX of each kind.
__attribute__((format(printf, 3, 4))) static void
print_line(const struct hc_cl_bot *bot, enum hc_cl_bot_line line, const char *format, ...) {
    struct hc_cl_bots *bots = bot->bots;
    char text[512];
    va_list arguments;
    if (bots->lines[line]++ >= MESSAGES_MAX) {
        if (bots->lines[line] == MESSAGES_MAX + 1)
            fprintf(stderr, "%s: further clients of this kind are only counted\n",
                    bots->config->program);
        return;
    }
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    fprintf(stderr, "%s%s: client %u %s\n", bots->terminal ? "\r\033[K" : "", bots->config->program,
            bot->number, text);
}

/// Writes why a client is not admitted. `gave_up`: it no longer tries.
static void explain(const struct hc_cl_bot *bot, bool gave_up, char *text, size_t size) {
    uint64_t expire_s = hc_token_expire_s(&bot->bots->config->tokens[bot->token]);
    struct hc_cl_failure failure = {.attempt = hc_client_attempt(bot->runner.client),
                                    .udp = hc_cl_udp_stats(bot->runner.udp),
                                    .gave_up = gave_up,
                                    .expired = expire_s <= (uint64_t)time(NULL),
                                    .late_us = bot->late_us};
    hc_cl_failure_text(text, size, &failure);
}

/// The place in denied_by_reason: 0 of a reason that this version does not know.
static unsigned index_of(enum hc_deny_reason reason) {
    if (!hc_datagram_is_deny_reason(reason))
        return 0;
    return reason >= HC_DENY_GAME ? HC_DENY_REFUSED : reason;
}

/// Counts and prints a client that was not admitted, or not again. `gave_up`: it no longer tries.
static void count_refusal(const struct hc_cl_bot *bot, bool gave_up) {
    const struct hc_cl_bots *bots = bot->bots;
    struct hc_client_attempt attempt = hc_client_attempt(bot->runner.client);
    struct hc_cl_fleet_ends *ends = &bot->bots->result->ends;
    char text[320];
    *(attempt.denied ? &ends->denied : &ends->timeout) += 1;
    if (attempt.denied)
        ends->denied_by_reason[index_of(attempt.deny)]++;
    explain(bot, gave_up, text, sizeof(text));
    print_line(bot, HC_CL_BOT_REFUSED, "was not admitted by %s: %s", bots->config->server_name,
               text);
}

/// Prints once that a client was denied and still tries.
static void print_denial(struct hc_cl_bot *bot) {
    char text[320];
    enum hc_client_state state = hc_client_state(bot->runner.client);
    bool asks = state == HC_CLIENT_CONNECTING || state == HC_CLIENT_RECONNECTING;
    if (!asks || !hc_client_attempt(bot->runner.client).denied) {
        bot->denial_printed = bot->denial_printed && asks;
        return;
    }
    if (bot->denial_printed)
        return;
    bot->denial_printed = true;
    explain(bot, false, text, sizeof(text));
    print_line(bot, HC_CL_BOT_WAITS, "is not admitted yet, and still tries: %s", text);
}

/// Counts and prints a client that another build of the server turned away. `why`: a sentence; NULL
/// or empty: the client knows no more than the server's protocol_id.
static void count_version(const struct hc_cl_bot *bot, const char *why) {
    const struct hc_cl_fleet_config *config = bot->bots->config;
    const struct hc_client_config *client = &config->client;
    char text[256];
    if (why == NULL || why[0] == '\0') {
        hc_cl_failure_game(text, sizeof(text), client->game,
                           hc_datagram_protocol_id(client->game, client->rule_hash), "",
                           hc_client_attempt(bot->runner.client).protocol_id);
        why = text;
    }
    bot->bots->result->ends.denied++;
    print_line(bot, HC_CL_BOT_REFUSED, "was not admitted by %s: %s", config->server_name, why);
}

/// Handles an event that ends the client.
static void on_last_event(struct hc_cl_bot *bot, const struct hc_client_event *event) {
    struct hc_cl_fleet_ends *ends = &bot->bots->result->ends;
    const char *server = bot->bots->config->server_name;
    switch (event->kind) {
    case HC_CLIENT_EVENT_DENIED:
        count_refusal(bot, true);
        break;
    case HC_CLIENT_EVENT_VERSION:
        if (!bot->runner.stranded)
            count_version(bot, NULL);
        break;
    case HC_CLIENT_EVENT_TIMEOUT:
        if (bot->accepted_us == 0 || hc_client_attempt(bot->runner.client).denied) {
            count_refusal(bot, true);
            break;
        }
        ends->timeout++;
        if (hc_cl_udp_stats(bot->runner.udp).refused > 0)
            print_line(bot, HC_CL_BOT_ENDED, "gave up: the server at %s is gone", server);
        else
            print_line(bot, HC_CL_BOT_ENDED,
                       "gave up: nothing comes from the server at %s any more", server);
        break;
    default: // CLOSED; counted already if the client left itself
        if (event->close == HC_CLOSE_LEFT || event->close == HC_CLOSE_DESYNC)
            break;
        ends->closed++;
        print_line(bot, HC_CL_BOT_ENDED, "was closed by %s: %s", server,
                   hc_close_text(event->close));
        break;
    }
}

/// Counts and prints a client that computes another world than the server, and leaves.
static void on_desync(struct hc_cl_bot *bot, const struct hc_difference *difference) {
    struct hc_cl_fleet_result *result = bot->bots->result;
    char text[HC_DIFFERENCE_TEXT_MAX];
    hc_difference_text(difference, text, sizeof(text));
    if (result->ends.desynced++ == 0)
        memcpy(result->desync, text, sizeof(text));
    print_line(bot, HC_CL_BOT_DESYNC, "computes another world than %s: %s",
               bot->bots->config->server_name, text);
}

/// Whether another bot has had the notice a moment ago. This bot has each notice once.
static bool is_known(const struct hc_cl_bot *bot, const struct hc_notice *notice, uint64_t now) {
    for (unsigned i = 0; i < HC_CL_BOT_NOTICES; i++) {
        const struct hc_cl_bot_notice *known = &bot->bots->notices[i];
        if (known->kind == notice->kind && strcmp(known->text, notice->text) == 0 &&
            known->number != bot->number && hc_since(known->since_us, now) < AGAIN_US)
            return true;
    }
    return false;
}

/// Prints a notice of the server, once for all bots that have it.
static void print_notice(const struct hc_cl_bot *bot, const struct hc_notice *notice,
                         uint64_t now) {
    struct hc_cl_bots *bots = bot->bots;
    char line[HC_NOTICE_LINE_SIZE];
    if (is_known(bot, notice, now) || bots->notice_count >= NOTICES_MAX)
        return;
    struct hc_cl_bot_notice *printed = &bots->notices[bots->notice_count++ % HC_CL_BOT_NOTICES];
    *printed =
        (struct hc_cl_bot_notice){.kind = notice->kind, .number = bot->number, .since_us = now};
    memcpy(printed->text, notice->text, sizeof(printed->text));
    fprintf(stderr, "%s%s: %s: %s\n", bots->terminal ? "\r\033[K" : "", bots->config->program,
            bots->config->server_name, hc_notice_line(notice, line));
}

/// Records the delays in effect.
static void record_delays(const struct hc_cl_bot *bot) {
    struct hc_client_recent recent;
    (void)hc_client_recent(bot->runner.client, &recent);
    hc_histogram_record(&bot->bots->result->input_delay, recent.input_delay);
    hc_histogram_record(&bot->bots->result->lead, recent.lead);
}

static void on_event(void *owner, const struct hc_client_event *event, uint64_t now) {
    struct hc_cl_bot *bot = owner;
    struct hc_cl_bots *bots = bot->bots;
    switch (event->kind) {
    case HC_CLIENT_EVENT_DESYNC:
        on_desync(bot, &event->difference);
        break;
    case HC_CLIENT_EVENT_ACCEPTED:
        bot->accepted_us = now;
        hc_histogram_record(&bots->result->join_us, hc_since(bot->begun_us, now));
        record_delays(bot); // they are known already
        bots->result->ends.accepted++;
        bots->result->full.reconnects += bot->lost;
        bot->lost = false;
        if (bots->config->announces)
            print_line(bot, HC_CL_BOT_PLAYS, "plays on %s as player %u", bots->config->server_name,
                       hc_client_player(bot->runner.client, 0));
        break;
    case HC_CLIENT_EVENT_NOTICE:
        print_notice(bot, event->notice, now);
        break;
    case HC_CLIENT_EVENT_LOST:
        print_line(bot, HC_CL_BOT_LOST, "has lost its connection: %s",
                   hc_cl_failure_loss(event->loss));
        break;
    case HC_CLIENT_EVENT_RECONNECTED:
        print_line(bot, HC_CL_BOT_PLAYS, "plays again on %s as player %u, %s",
                   bots->config->server_name, hc_client_player(bot->runner.client, 0),
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
/// `before`: the head at which it chose its last input.
static void count_others(const struct hc_cl_bot *bot, hc_tick head, hc_tick before) {
    struct hc_cl_fleet_result *result = bot->bots->result;
    const struct hc_world *world = hc_client_world(bot->runner.client);
    uint32_t tick_rate = hc_cl_session_tick_rate(bot->runner.client);
    hc_player own = hc_client_player(bot->runner.client, 0);
    if (head / tick_rate == before / tick_rate)
        return;
    result->others.count++;
    const uint8_t *presence = hc_timeline_presence(hc_client_timeline(bot->runner.client), head);
    for (hc_player p = 0; p < world->players; p++)
        result->others.sum += p != own && presence[hc_world_player(world, p)] == HC_ALIVE;
}

/// Chooses an input, once for each tick that the client predicts.
static void think(struct hc_cl_bot *bot, uint64_t now) {
    static const uint8_t idle[HC_INPUT_MAX];
    const struct hc_cl_fleet_config *config = bot->bots->config;
    struct hc_client *client = bot->runner.client;
    uint32_t tick_rate = hc_cl_session_tick_rate(client);
    hc_tick head, before = bot->runner.decided;
    if (!hc_cl_runner_new_tick(&bot->runner, &head))
        return;
    if (head / tick_rate != before / tick_rate)
        record_delays(bot);
    if (!bot->light && now >= bot->bots->started_us + config->ramp_us)
        count_others(bot, head, before);
    if (!hc_cl_keys_active(config->seed, bot->number, head, tick_rate, config->activity_percent))
        hc_client_set_input(client, 0, idle);
    else if (bot->light)
        hc_client_set_input(client, 0,
                            hc_cl_keys_choose(&bot->keys, config->client.game, head, tick_rate));
    else
        hc_cl_runner_think(&bot->runner, &bot->brain);
}

static void record_ticks(struct hc_cl_bot *bot, uint64_t now) {
    hc_tick shown, as_of;
    if (!hc_client_snapshot(bot->runner.client, &shown, &as_of))
        return;
    if (!bot->received)
        bot->first = as_of;
    bot->received = true;
    bot->last = as_of;
    if (hc_client_stats(bot->runner.client)->snapshots != bot->snapshots)
        bot->snapshot_us = now;
    bot->snapshots = hc_client_stats(bot->runner.client)->snapshots;
    if (bot->due.from_us == 0)
        hc_cl_due_begin(&bot->due, hc_client_stats(bot->runner.client),
                        hc_cl_udp_stats(bot->runner.udp).sim_lost_down, now);
}

/// Records how old the newest snapshot is at a tick. A round trip counts only if it is answered, so
/// a server that stands still for a while hardly shows in it; here each tick of that time counts.
static void record_age(const struct hc_cl_bot *bot, uint64_t now) {
    enum hc_client_state state = hc_client_state(bot->runner.client);
    if (bot->received && (state == HC_CLIENT_PLAYING || state == HC_CLIENT_STALLED))
        hc_histogram_record(&bot->bots->result->snapshot_age_us, hc_since(bot->snapshot_us, now));
}

/// Records how late the datagram that is due is sent. Deadlines follow the client clock and never
/// the answers.
static void record_lateness(struct hc_cl_bot *bot, uint64_t now) {
    struct hc_cl_bots *bots = bot->bots;
    enum hc_client_state state = hc_client_state(bot->runner.client);
    if (now < bot->runner.due_us || bot->runner.due_us == 0)
        return;
    uint64_t late_us = hc_since(bot->runner.due_us, now);
    if (state == HC_CLIENT_CONNECTING && late_us > bot->late_us)
        bot->late_us = late_us;
    if (state != HC_CLIENT_PLAYING && state != HC_CLIENT_STALLED)
        return;
    if (late_us > bots->late_us)
        bots->late_us = late_us;
    hc_cl_fleet_add_lateness(&bots->result->self, late_us,
                             hc_cl_session_tick_rate(bot->runner.client));
}

static void on_advances(void *owner, bool due, uint64_t now) {
    struct hc_cl_bot *bot = owner;
    record_ticks(bot, now);
    if (!due)
        return;
    record_age(bot, now);
    think(bot, now);
}

static const struct hc_cl_runner_calls calls = {.advances = on_advances, .event = on_event};

uint64_t hc_cl_bot_turn(struct hc_cl_bot *bot, uint64_t now) {
    record_lateness(bot, now);
    uint64_t deadline_us = hc_cl_runner_turn(&bot->runner, now);
    print_denial(bot);
    return deadline_us;
}

void hc_cl_bot_init(struct hc_cl_bot *bot, struct hc_cl_bots *bots, bool light, uint32_t number) {
    const struct hc_cl_fleet_config *config = bots->config;
    *bot =
        (struct hc_cl_bot){.runner = {.calls = &calls, .owner = bot, .search = config->next_server},
                           .bots = bots,
                           .light = light,
                           .number = number,
                           .token = number};
    hc_thinker_init(&bot->brain, config->think, config->seed, number);
    hc_cl_keys_init(&bot->keys, config->seed, number);
}

bool hc_cl_bot_begin(struct hc_cl_bot *bot, uint64_t now) {
    struct hc_client_config config = bot->bots->config->client;
    bot->begun_us = now;
    config.credential = bot->bots->config->tokens[bot->token];
    if (hc_cl_runner_begin(&bot->runner, &config, bot->light, now))
        return true;
    bot->bots->result->ends.failed++;
    print_line(bot, HC_CL_BOT_REFUSED, "was not started: no memory");
    return false;
}

void hc_cl_bot_renew(struct hc_cl_bot *bot, uint32_t token) {
    hc_cl_runner_end(&bot->runner);
    bot->received = bot->denial_printed = false;
    bot->accepted_us = bot->late_us = bot->snapshots = 0;
    bot->due = (struct hc_cl_due){.from_us = 0};
    bot->token = token;
    bot->rejoined = true;
}

void hc_cl_bot_lose(struct hc_cl_bot *bot, uint64_t now) {
    uint64_t end_us = bot->runner.connected_us != 0 ? bot->runner.connected_us : now;
    enum hc_client_state state = hc_client_state(bot->runner.client);
    // The client itself has counted the loss if it reconnects.
    bot->bots->result->full.losses +=
        state == HC_CLIENT_JOINING || state == HC_CLIENT_PLAYING || state == HC_CLIENT_STALLED;
    bot->lost = bot->lost || bot->accepted_us != 0;
    if (bot->received)
        hc_cl_bot_count_snapshots(bot, bot->snapshot_us);
    hc_cl_bot_add_session(bot, end_us, bot->bots->result);
    hc_cl_bot_renew(bot, bot->token);
}

void hc_cl_bot_restart(struct hc_cl_bot *bot) {
    const struct hc_cl_fleet_config *config = bot->bots->config;
    hc_thinker_init(&bot->brain, config->think, config->seed, bot->number);
    hc_cl_keys_init(&bot->keys, config->seed, bot->number);
}

void hc_cl_bot_give_up(struct hc_cl_bot *bot, const char *why) {
    count_version(bot, why);
    bot->runner.stranded = false;
}

/// Whether a client has received nothing for longer than its round trip explains.
static bool is_cut_off(const struct hc_cl_bot *bot, uint64_t now) {
    uint64_t rtt_us = hc_histogram_percentile(&hc_client_stats(bot->runner.client)->rtt_us, 500);
    return hc_since(bot->runner.received_us, now) > FRESH_US + 2 * rtt_us;
}

void hc_cl_bot_count_end(struct hc_cl_bot *bot, uint64_t now) {
    struct hc_cl_fleet_ends *ends = &bot->bots->result->ends;
    enum hc_client_state state = hc_client_state(bot->runner.client);
    if (bot->rejoined && bot->accepted_us == 0 && hc_since(bot->begun_us, now) < FRESH_US)
        return; // it would have joined in time
    if (bot->accepted_us == 0 ||
        (state == HC_CLIENT_RECONNECTING && hc_client_attempt(bot->runner.client).denied)) {
        count_refusal(bot, false);
    } else if (state == HC_CLIENT_RECONNECTING || is_cut_off(bot, now)) {
        ends->cut_off++;
        print_line(bot, HC_CL_BOT_ENDED, "received nothing from %s for the last %.1f s",
                   bot->bots->config->server_name,
                   (double)hc_since(bot->runner.received_us, now) / 1e6);
    } else if (state != HC_CLIENT_CLOSED) {
        ends->left++;
    }
}

void hc_cl_bot_count_snapshots(struct hc_cl_bot *bot, uint64_t now) {
    uint32_t rate = bot->bots->config->snapshot_rate;
    if (rate == 0)
        rate = hc_cl_session_tick_rate(bot->runner.client);
    hc_cl_due_count(&bot->due, hc_client_stats(bot->runner.client),
                    hc_cl_udp_stats(bot->runner.udp).sim_lost_down, rate, now,
                    &bot->bots->result->snapshots);
}

void hc_cl_bot_add_session(const struct hc_cl_bot *bot, uint64_t end_us,
                           struct hc_cl_fleet_result *result) {
    if (bot->runner.client == NULL || bot->accepted_us == 0)
        return;
    const struct hc_client_stats *stats = hc_client_stats(bot->runner.client);
    hc_cl_fleet_add_stats(bot->light ? &result->light : &result->full, stats);
    uint64_t end = bot->ended_us != 0 && bot->ended_us < end_us ? bot->ended_us : end_us;
    if (end > bot->accepted_us)
        result->client_us += end - bot->accepted_us;
    if (hc_cl_session_tick_rate(bot->runner.client) != 0)
        result->tick_rate = (uint16_t)hc_cl_session_tick_rate(bot->runner.client);
    if (stats->rtt_us.count > 0) {
        result->jitter_us.sum += stats->jitter_us;
        result->jitter_us.count++;
    }
    if (bot->received) {
        result->first = hc_tick_min(result->first, bot->first);
        result->last = hc_tick_max(result->last, bot->last);
    }
}
