/// Owns the reads of a game that does not draw: states, ticks and counts.
#include "client/client.h"
#include "common/elapsed.h"
#include "client/predict.h"

enum hc_client_state hc_client_state(const struct hc_client *client) {
    return client->state;
}

struct hc_client_attempt hc_client_attempt(const struct hc_client *client) {
    const struct hc_cl_attempt *attempt = &client->link.handshake.attempt;
    return (struct hc_client_attempt){.answered = attempt->answered || attempt->hinted,
                                      .denied = attempt->hinted,
                                      .proven = attempt->proven,
                                      .deny = attempt->hint.reason,
                                      .protocol_id =
                                          attempt->version_received ? attempt->version_id : 0};
}

const struct hc_timeline *hc_client_timeline(const struct hc_client *client) {
    return client->world != NULL ? client->world->timeline : NULL;
}

const struct hc_world *hc_client_world(const struct hc_client *client) {
    return hc_client_timeline(client) != NULL ? &client->world->game_world : NULL;
}

hc_player hc_client_player(const struct hc_client *client, unsigned index) {
    const struct hc_welcome *welcome = &client->link.welcome;
    return index < welcome->own_count ? welcome->own[index] : HC_NO_PLAYER;
}

const char *hc_client_player_name(const struct hc_client *client, hc_player player) {
    const struct hc_world *world = hc_client_world(client);
    return world != NULL && player < world->players
               ? hc_cl_seen_name_of(&client->world->seen, player)
               : NULL;
}

bool hc_client_snapshot(const struct hc_client *client, hc_tick *shown, hc_tick *as_of) {
    const struct hc_cl_newest *newest = &client->link.newest;
    if (!newest->any)
        return false;
    *shown = newest->snapshot.tick;
    *as_of = newest->snapshot.as_of;
    return true;
}

bool hc_client_final(const struct hc_client *client, hc_tick *tick, uint64_t *chain) {
    const struct hc_cl_newest *newest = &client->link.newest;
    if (!newest->has_chain)
        return false;
    *tick = newest->final;
    if (chain != NULL)
        *chain = newest->chain;
    return true;
}

bool hc_client_recent(const struct hc_client *client, struct hc_client_recent *recent) {
    const struct hc_cl_link *link = &client->link;
    const struct hc_cl_delays *delays = &client->timing.effective;
    *recent = (struct hc_client_recent){.input_delay = delays->input_delay, .lead = delays->lead};
    if (!link->newest.any)
        return false;
    recent->rtt_us = link->connection.srtt_us;
    recent->jitter_us = link->connection.rttvar_us;
    recent->loss_up_ppm = link->losses.up_ppm;
    recent->loss_down_ppm = hc_cl_losses_down_ppm(&link->connection.received);
    recent->margin_known = link->margin.known;
    recent->margin_low_us = link->margin.low_us;
    recent->margin_median_us = link->margin.median_us;
    recent->snapshot_age_us = hc_since(link->newest.at_us, client->advanced_us);
    recent->rtt_min_us = link->trend.rtt_min_us;
    recent->drift_known = link->trend.drift_known;
    recent->drift_ppm = link->trend.drift_ppm;
    uint32_t bound = link->connection.flight.bound;
    recent->in_flight_bytes = link->connection.sent.in_flight;
    recent->in_flight_bound_bytes = bound == HC_FLIGHT_FREE ? 0 : bound;
    recent->predicted_ticks = client->timing.head - link->newest.snapshot.tick;
    struct hc_cl_behind behind = hc_cl_predict_behind(client);
    recent->rollback_ticks = behind.rollback;
    recent->others_ticks = behind.others;
    return true;
}

const struct hc_client_stats *hc_client_stats(const struct hc_client *client) {
    return &client->stats;
}
