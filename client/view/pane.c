/// Owns the datagrams, the inputs and the end of a pane's client.
#include "client/view/pane.h"

#include "client/bots/failure.h"
#include "client/shown.h"
#include "common/programs/clock.h"
#include "hindcast/rng.h"

#include <stdio.h>

bool hc_cl_pane_open(struct hc_cl_pane *pane, const struct hc_cl_pane_config *config, char *why,
                     size_t why_size) {
    uint64_t seed = hc_random(config->seed, config->number, 0, 0);
    const struct hc_client_config *client = config->client;
    *pane =
        (struct hc_cl_pane){.bot = config->bot,
                            .game = client->game,
                            .protocol_id = hc_datagram_protocol_id(client->game, client->rule_hash),
                            .decided = HC_NO_TICK};
    hc_thinker_init(&pane->brain, config->think, config->seed, config->number);
    pane->udp = hc_cl_udp_open(config->server, config->link, seed, why, why_size);
    if (pane->udp == NULL)
        return false;
    pane->client = hc_client_create(config->client, hc_clock_us());
    if (pane->client == NULL) {
        snprintf(why, why_size, "no memory for a client");
        hc_cl_udp_close(pane->udp);
    }
    return pane->client != NULL;
}

void hc_cl_pane_close(struct hc_cl_pane *pane) {
    hc_client_destroy(pane->client);
    hc_cl_udp_close(pane->udp);
}

/// Lets the bot choose an input once for each tick.
static void think(struct hc_cl_pane *pane) {
    const struct hc_timeline *timeline = hc_client_timeline(pane->client);
    enum hc_client_state state = hc_client_state(pane->client);
    const uint8_t *presence, *states;
    if (state != HC_CLIENT_PLAYING && state != HC_CLIENT_STALLED)
        return;
    hc_tick head = hc_timeline_head(timeline);
    if (head == pane->decided)
        return;
    pane->decided = head;
    hc_cl_shown_world(pane->client, &head, &presence, &states);
    hc_thinker_think(&pane->brain, hc_client_world(pane->client), head, presence, states,
                     hc_client_player(pane->client, 0), pane->input);
}

/// Writes why the client was closed.
static void explain(struct hc_cl_pane *pane, const struct hc_client_event *event) {
    struct hc_cl_failure failure = {.attempt = hc_client_attempt(pane->client),
                                    .udp = hc_cl_udp_stats(pane->udp),
                                    .gave_up = true};
    pane->has_closed = true;
    pane->is_other_build = event->kind == HC_CLIENT_EVENT_VERSION;
    switch (event->kind) {
    case HC_CLIENT_EVENT_CLOSED:
        if (event->close == HC_CLOSE_DESYNC) // take_events has written where
            break;
        snprintf(pane->why, sizeof(pane->why), "%s", hc_close_text(event->close));
        break;
    case HC_CLIENT_EVENT_VERSION:
        hc_cl_failure_game(pane->why, sizeof(pane->why), pane->game, pane->protocol_id, "",
                           failure.attempt.protocol_id);
        break;
    default:
        hc_cl_failure_text(pane->why, sizeof(pane->why), &failure);
    }
}

static void take_events(struct hc_cl_pane *pane) {
    struct hc_client_event event;
    char text[HC_DIFFERENCE_TEXT_MAX];
    while (hc_client_poll_event(pane->client, &event)) {
        if (event.kind == HC_CLIENT_EVENT_LOST)
            pane->restarts = event.loss == HC_CLIENT_LOSS_RESTART;
        if (event.kind == HC_CLIENT_EVENT_DESYNC)
            snprintf(pane->why, sizeof(pane->why), "NOT OK: another world than the server's: %s",
                     hc_difference_text(&event.difference, text, sizeof(text)));
        if (hc_client_state(pane->client) == HC_CLIENT_CLOSED &&
            (event.kind == HC_CLIENT_EVENT_CLOSED || event.kind == HC_CLIENT_EVENT_DENIED ||
             event.kind == HC_CLIENT_EVENT_VERSION || event.kind == HC_CLIENT_EVENT_TIMEOUT))
            explain(pane, &event);
    }
}

void hc_cl_pane_turn(struct hc_cl_pane *pane) {
    uint8_t bytes[HC_DATAGRAM_MAX + 1];
    uint64_t now_us = hc_clock_us();
    int received;
    hc_cl_udp_receive(pane->udp, now_us);
    while ((received = hc_cl_udp_take(pane->udp, bytes, now_us)) >= 0) {
        enum hc_status status = // the client counts what it refuses
            hc_client_receive(pane->client, bytes, (size_t)received, now_us);
        enum hc_client_state state = hc_client_state(pane->client);
        if (status == HC_OK && state != HC_CLIENT_CONNECTING && state != HC_CLIENT_RECONNECTING)
            pane->connected_us = now_us;
    }
    if (pane->bot)
        think(pane);
    hc_client_set_input(pane->client, 0, pane->input);
    hc_client_advance(pane->client, now_us);
    size_t size;
    while ((size = hc_client_send(pane->client, bytes, now_us)) > 0)
        hc_cl_udp_send(pane->udp, bytes, size, now_us);
    hc_cl_udp_flush(pane->udp, now_us);
    take_events(pane);
}

uint64_t hc_cl_pane_deadline(const struct hc_cl_pane *pane) {
    uint64_t client_us = hc_client_deadline(pane->client), link_us = hc_cl_udp_deadline(pane->udp);
    return client_us < link_us ? client_us : link_us;
}

void hc_cl_pane_leave(struct hc_cl_pane *pane) {
    hc_client_leave(pane->client, hc_clock_us());
}

bool hc_cl_pane_left(const struct hc_cl_pane *pane) {
    return hc_client_state(pane->client) == HC_CLIENT_CLOSED && hc_cl_udp_idle(pane->udp);
}
