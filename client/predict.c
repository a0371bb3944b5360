/// Predicts ticks: samples the inputs for them and advances the world, if there is one.
#include "client/predict.h"

#include "client/client.h"
#include "hindcast/check.h"

/// The newest tick that may be predicted from the newest snapshot.
static hc_tick limit_of(const struct hc_client *client) {
    return hc_cl_timing_limit(&client->timing, client->link.newest.snapshot.tick);
}

struct hc_cl_behind hc_cl_predict_behind(const struct hc_client *client) {
    const struct hc_cl_world *world = client->world;
    uint32_t offset = client->config.display_offset;
    hc_tick head = client->timing.head;
    if (world == NULL)
        return (struct hc_cl_behind){.own = offset, .others = offset, .farthest = offset};
    return (struct hc_cl_behind){.own = hc_cl_display_own(&world->display, head),
                                 .others = hc_cl_display_others(&world->display, head),
                                 .farthest = hc_cl_display_farthest(&world->display, head),
                                 .rollback = world->rollback_ticks,
                                 .oldest = hc_timeline_oldest(world->timeline)};
}

/// The ticks at which the players are shown now.
static struct hc_cl_inputs_shown shown_now(const struct hc_client *client) {
    struct hc_cl_behind behind = hc_cl_predict_behind(client);
    hc_tick head = client->timing.head;
    return (struct hc_cl_inputs_shown){
        .own = hc_tick_max(hc_tick_back(head, behind.own), behind.oldest),
        .others = hc_tick_max(hc_tick_back(head, behind.others), behind.oldest)};
}

/// Samples the inputs and stamps them with `end`, and the ticks since the newest stamp.
static void sample(struct hc_client *client, hc_tick end) {
    struct hc_cl_inputs *inputs = &client->link.inputs;
    struct hc_cl_inputs_shown shown = shown_now(client);
    hc_tick first =
        hc_cl_inputs_sample(inputs, hc_cl_newest_wanted(&client->link.newest), end, &shown);
    client->stats.inputs_sampled += (uint64_t)(inputs->next - first) * inputs->players;
    if (client->world == NULL)
        return;
    for (hc_tick tick = first; tick < inputs->next; tick++)
        for (uint8_t i = 0; i < inputs->players; i++)
            hc_cl_world_put_input(client->world, i, tick, hc_cl_inputs_at(inputs, tick, i));
}

static void predict_tick(struct hc_client *client) {
    struct hc_cl_timing *timing = &client->timing;
    if (client->link.inputs.players > 0)
        sample(client, timing->head + timing->effective.input_delay);
    if (client->world != NULL)
        hc_cl_world_advance(client->world, timing->head + 1, client->link.newest.snapshot.tick);
    hc_cl_timing_step(timing);
}

void hc_cl_predict_up_to(struct hc_client *client, hc_tick tick) {
    hc_tick end = hc_tick_min(tick, limit_of(client));
    while (client->timing.head < end)
        predict_tick(client);
}

/// Samples inputs during a stall too. The next state comes when the server has them all, so inputs
/// that waited for it would cause the next stall.
static void sample_stalled(struct hc_client *client, hc_tick due) {
    const struct hc_cl_inputs *inputs = &client->link.inputs;
    hc_tick head = client->timing.head;
    hc_tick end =
        hc_tick_min(due - 1 + client->timing.effective.input_delay, head + HC_CL_WORLD_FUTURE_MIN);
    if (inputs->players > 0 && head < due && end >= inputs->next)
        sample(client, end);
}

struct hc_cl_predict_result hc_cl_predict_advance(struct hc_client *client, uint64_t now_us) {
    struct hc_cl_timing *timing = &client->timing;
    hc_cl_delays_take(&timing->effective, &client->link.margin,
                      &(struct hc_cl_delays_now){.now_us = now_us,
                                                 .rtt_us = client->link.connection.srtt_us,
                                                 .tick_rate = timing->tick_rate});
    struct hc_cl_predict_result result = {
        .jumped = hc_cl_timing_follow(timing, &client->link.clock, now_us, &client->stats)};
    hc_tick due = hc_cl_timing_due(timing, now_us);
    hc_cl_predict_up_to(client, hc_tick_min(due, hc_cl_timing_end(timing)));
    result.stalled = hc_cl_timing_must_stall(timing, due, limit_of(client));
    if (result.stalled) {
        hc_cl_timing_stall(timing, due, &client->stats);
        sample_stalled(client, due);
    } else {
        hc_cl_timing_resume(timing);
        result.jumped |= hc_cl_timing_finish(timing, due, now_us, &client->stats);
    }
    return result;
}

uint64_t hc_cl_predict_deadline(const struct hc_client *client) {
    return hc_cl_timing_deadline(&client->timing, limit_of(client));
}

struct hc_cl_input_report hc_cl_predict_report(const struct hc_client *client) {
    const struct hc_cl_link *link = &client->link;
    return (struct hc_cl_input_report){.client_tick = link->newest.any ? client->timing.head
                                                                       : link->welcome.tick,
                                       .display_offset = hc_cl_predict_behind(client).farthest};
}
