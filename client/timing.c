/// Samples and stamps inputs, and predicts ticks up to the client clock plus the lead, or stalls.
#include "client/session_internal.h"

#include "common/mark.h"
#include "common/input_fields.h"
#include "hindcast/check.h"

#include <string.h>

void hc_cl_predict_set_input(struct hc_client *client, unsigned index, const void *input) {
    const struct hc_game *game = client->config.game;
    uint8_t *pressed = client->inputs.pressed[index];
    memcpy(pressed, input, game->input_size);
    hc_input_cut(game, pressed); // a value that does not fit its bits cannot be sent
    game->sanitize_input(pressed);
}

uint8_t *hc_cl_predict_stamped(struct hc_client *client, hc_tick tick, unsigned index) {
    size_t place = (size_t)(tick % HC_CL_INPUTS) * client->config.players + index;
    return client->inputs.stamped + place * client->config.game->input_size;
}

hc_tick hc_cl_predict_wanted(const struct hc_client *client) {
    const struct hc_snapshot *newest = &client->newest.snapshot;
    hc_tick wanted = HC_NO_TICK;
    HC_ASSERT(client->newest.any);
    for (uint8_t i = 0; i < client->welcome.own_count; i++)
        wanted = hc_tick_min(wanted, newest->complete[i] + 1);
    return hc_tick_max(wanted, newest->refused_before);
}

hc_tick hc_cl_predict_head(const struct hc_client *client) {
    return client->is_light ? client->prediction.light_head : hc_timeline_head(client->timeline);
}

struct hc_cl_prediction hc_cl_predict_begin(const struct hc_client_config *config,
                                            uint32_t future) {
    struct hc_cl_prediction prediction = {.input_delay = config->input_delay, .lead = config->lead};
    if (prediction.input_delay > future)
        prediction.input_delay = future;
    if (prediction.lead > future - prediction.input_delay)
        prediction.lead = future - prediction.input_delay;
    return prediction;
}

// ---- Inputs -------------------------------------------------------------------------------------

/// How many ticks the tick `offset` behind the predicted one, which is shown, is before `tick`, at
/// the time of a sample.
static uint32_t shown_ago(const struct hc_client *client, hc_tick tick, uint32_t offset) {
    hc_tick shown = hc_tick_back(hc_cl_predict_head(client), offset);
    if (!client->is_light)
        shown = hc_tick_max(shown, hc_timeline_oldest(client->timeline));
    return tick > shown ? tick - shown : 0;
}

static void stamp(struct hc_client *client, hc_tick tick) {
    struct hc_cl_prediction *prediction = &client->prediction;
    uint16_t size = client->config.game->input_size;
    uint32_t own = shown_ago(client, tick, client->display.offset);
    uint32_t others = shown_ago(client, tick, hc_cl_display_others(&client->display));
    for (uint8_t i = 0; i < client->welcome.own_count; i++) {
        uint8_t *input = prediction->last[i];
        hc_shown_ago_set(client->config.game, input, own, others);
        memcpy(hc_cl_predict_stamped(client, tick, i), input, size);
        if (!client->is_light)
            hc_timeline_put_input(client->timeline, client->welcome.own[i], tick, input);
        client->stats.inputs_sampled++;
    }
    if (client->is_light)
        hc_cl_light_stamped(client, tick);
    prediction->next = tick + 1;
    prediction->any = true;
}

/// Samples the inputs and stamps them with `end`. Ticks since the newest stamp take the input
/// before them, as far back as the server can still use it.
static void sample(struct hc_client *client, hc_tick end) {
    struct hc_cl_prediction *prediction = &client->prediction;
    hc_tick from = hc_tick_max(hc_cl_predict_wanted(client), hc_tick_back(end, HC_CL_INPUTS - 1));
    if (prediction->any)
        from = hc_tick_max(from, prediction->next);
    if (from < end)
        HC_MARK("stamp-gap-filled");
    for (hc_tick t = from; t < end; t++)
        stamp(client, t);
    if (prediction->any && prediction->next > end)
        return; // that tick has its input
    memcpy(prediction->last, client->inputs.pressed, sizeof prediction->last);
    stamp(client, end);
}

static void predict_tick(struct hc_client *client) {
    if (client->welcome.own_count > 0)
        sample(client, hc_cl_predict_head(client) + client->prediction.input_delay);
    if (client->is_light) {
        client->prediction.light_head++;
    } else {
        hc_cl_session_resimulate(client); // inputs of ticks before the head were stamped
        hc_timeline_advance(client->timeline);
    }
    client->prediction.ticks++;
    if (client->is_light)
        return;
    hc_cl_display_predicted(&client->display, hc_timeline_head(client->timeline),
                            client->newest.snapshot.tick);
    hc_cl_game_events_predict(&client->game_events, client->timeline, &client->world,
                              &client->stats);
}

// ---- Ticks --------------------------------------------------------------------------------------

/// The newest tick that may be predicted from the newest snapshot.
static hc_tick limit_of(const struct hc_client *client) {
    return hc_tick_ahead(client->newest.snapshot.tick, client->config.prediction_limit);
}

/// When the head becomes `tick`.
static uint64_t due_us(const struct hc_client *client, hc_tick tick) {
    hc_tick server = hc_tick_back(tick, client->prediction.lead);
    return hc_cl_clock_local_us(&client->clock, hc_tick_due_us(server, client->welcome.tick_rate));
}

static void predict_up_to(struct hc_client *client, hc_tick tick, uint64_t now_us) {
    hc_tick end = hc_tick_min(tick, limit_of(client)), head = hc_cl_predict_head(client);
    if (head >= end)
        return;
    for (; head < end; head++)
        predict_tick(client);
    // Stored once: a better estimate of the server's clock must not move the shown state back.
    uint64_t head_us = due_us(client, head);
    client->prediction.head_us = head_us < now_us ? head_us : now_us;
}

/// Samples inputs during a stall too. The next state comes when the server has them all, so inputs
/// that waited for it would cause the next stall.
static void sample_stalled(struct hc_client *client, hc_tick target) {
    hc_tick head = hc_cl_predict_head(client);
    hc_tick end = hc_tick_min(target - 1 + client->prediction.input_delay, head + HC_CL_FUTURE_MIN);
    if (client->welcome.own_count > 0 && head < target && end >= client->prediction.next)
        sample(client, end);
}

static void stall(struct hc_client *client, hc_tick target) {
    hc_tick head = hc_cl_predict_head(client);
    if (client->state == HC_CLIENT_PLAYING) {
        HC_MARK("client-stalled");
        client->state = HC_CLIENT_STALLED;
        client->stats.stalls++;
        client->prediction.stalled_target = head;
        hc_cl_session_event(client, &(struct hc_client_event){.kind = HC_CLIENT_EVENT_STALLED});
    }
    if (target > client->prediction.stalled_target) {
        client->stats.stalled_ticks += target - client->prediction.stalled_target;
        client->prediction.stalled_target = target;
    }
}

static void unstall(struct hc_client *client) {
    if (client->state != HC_CLIENT_STALLED)
        return;
    HC_MARK("client-unstalled");
    client->state = HC_CLIENT_PLAYING;
    hc_cl_session_event(client, &(struct hc_client_event){.kind = HC_CLIENT_EVENT_UNSTALLED});
}

void hc_cl_predict_advance(struct hc_client *client, uint64_t now_us) {
    uint64_t server_us = hc_cl_clock_server_us(&client->clock, now_us);
    hc_tick server = hc_tick_at_us(server_us, client->welcome.tick_rate);
    hc_tick target = hc_tick_ahead(server, client->prediction.lead);
    predict_up_to(client, target, now_us);
    hc_tick head = hc_cl_predict_head(client);
    hc_tick late_margin =
        hc_tick_max(3, hc_tick_at_us(HC_CL_AHEAD_US, client->welcome.tick_rate) + 1);
    // The head is ahead of the clock when the server has missed ticks: then it stalls, too.
    if (head < target || head > hc_tick_ahead(target, late_margin)) {
        stall(client, target);
        sample_stalled(client, target);
    } else {
        unstall(client);
    }
}

void hc_cl_predict_restart(struct hc_client *client, uint64_t now_us) {
    client->prediction.head_us = now_us;
}

void hc_cl_predict_catch_up(struct hc_client *client, hc_tick tick, uint64_t now_us) {
    predict_up_to(client, tick, now_us);
}

uint64_t hc_cl_predict_deadline(const struct hc_client *client) {
    hc_tick head = hc_cl_predict_head(client);
    bool stalled = head >= limit_of(client) && client->state == HC_CLIENT_STALLED;
    return due_us(client,
                  (stalled ? hc_tick_max(head, client->prediction.stalled_target) : head) + 1);
}
