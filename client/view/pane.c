/// Owns the inputs and the end of a pane's client.
#include "client/view/pane.h"

#include "client/programs/failure.h"
#include "common/programs/clock.h"
#include "hindcast/rng.h"

#include <stdio.h>

// ---- The calls of the runner --------------------------------------------------------------------

/// Writes why the client was closed.
static void explain(struct hc_cl_pane *pane, const struct hc_client_event *event) {
    struct hc_cl_failure failure = {.attempt = hc_client_attempt(pane->runner.client),
                                    .udp = hc_cl_udp_stats(pane->runner.udp),
                                    .gave_up = true};
    pane->has_closed = true;
    if (event->kind == HC_CLIENT_EVENT_VERSION)
        hc_cl_failure_game(pane->why, sizeof(pane->why), pane->game, pane->protocol_id, "",
                           failure.attempt.protocol_id);
    else if (event->kind != HC_CLIENT_EVENT_CLOSED)
        hc_cl_failure_text(pane->why, sizeof(pane->why), &failure);
    else if (event->close != HC_CLOSE_DESYNC) // on_event has written where
        snprintf(pane->why, sizeof(pane->why), "%s", hc_close_text(event->close));
}

static void on_event(void *owner, const struct hc_client_event *event, uint64_t now_us) {
    struct hc_cl_pane *pane = owner;
    char text[HC_DIFFERENCE_TEXT_MAX];
    switch (event->kind) {
    case HC_CLIENT_EVENT_LOST:
        pane->restarts = event->loss == HC_CLIENT_LOSS_RESTART;
        break;
    case HC_CLIENT_EVENT_NOTICE:
        (void)hc_notice_line(event->notice, pane->server_notice);
        pane->server_notice_us = now_us;
        break;
    case HC_CLIENT_EVENT_DESYNC:
        snprintf(pane->why, sizeof(pane->why), "NOT OK: another world than the server's: %s",
                 hc_difference_text(&event->difference, text, sizeof(text)));
        break;
    case HC_CLIENT_EVENT_CLOSED:
    case HC_CLIENT_EVENT_DENIED:
    case HC_CLIENT_EVENT_VERSION:
    case HC_CLIENT_EVENT_TIMEOUT:
        explain(pane, event);
        break;
    default:
        break;
    }
}

/// Lets the bot choose an input once for each tick.
static void on_advances(void *owner, bool due, uint64_t now_us) {
    struct hc_cl_pane *pane = owner;
    hc_tick head;
    (void)now_us;
    if (pane->bot && due && hc_cl_runner_new_tick(&pane->runner, &head))
        hc_cl_runner_think(&pane->runner, &pane->brain);
}

static const struct hc_cl_runner_calls calls = {.advances = on_advances, .event = on_event};

// ---- The pane -----------------------------------------------------------------------------------

bool hc_cl_pane_open(struct hc_cl_pane *pane, const struct hc_cl_pane_config *config, char *why,
                     size_t why_size) {
    uint64_t seed = hc_random(config->seed, config->number, 0, 0);
    struct hc_client_config client = *config->client;
    hc_cl_knobs_configure(config->knobs, &client);
    *pane =
        (struct hc_cl_pane){.runner = {.calls = &calls,
                                       .owner = pane,
                                       .search = config->search,
                                       .trace.track = config->track},
                            .bot = config->bot,
                            .game = client.game,
                            .protocol_id = hc_datagram_protocol_id(client.game, client.rule_hash)};
    hc_thinker_init(&pane->brain, config->think, config->seed, config->number);
    struct hc_network_sim_config most = hc_cl_simulated_link_most(&config->knobs->link);
    pane->runner.udp = hc_cl_udp_open(config->server, &most, seed, why, why_size);
    if (pane->runner.udp == NULL)
        return false;
    (void)hc_cl_pane_apply(pane, config->knobs, HC_CL_KNOBS_LINK);
    if (hc_cl_runner_begin(&pane->runner, &client, false, hc_clock_us()))
        return true;
    snprintf(why, why_size, "no memory for a client");
    hc_cl_udp_close(pane->runner.udp);
    return false;
}

bool hc_cl_pane_apply(struct hc_cl_pane *pane, const struct hc_cl_knobs *knobs,
                      enum hc_cl_knobs_change change) {
    switch (change) {
    case HC_CL_KNOBS_LINK:
        hc_cl_udp_set_link(pane->runner.udp, &knobs->link.up, &knobs->link.down, hc_clock_us());
        return true;
    case HC_CL_KNOBS_TIMING:
        return hc_client_set_timing(pane->runner.client, &knobs->timing) == HC_OK;
    case HC_CL_KNOBS_DISPLAY:
        return hc_client_set_display(pane->runner.client, &knobs->display, hc_clock_us()) == HC_OK;
    default:
        return true;
    }
}

void hc_cl_pane_close(struct hc_cl_pane *pane) {
    hc_cl_runner_end(&pane->runner);
    hc_cl_udp_close(pane->runner.udp);
}

void hc_cl_pane_turn(struct hc_cl_pane *pane) {
    uint64_t now_us = hc_clock_us();
    hc_cl_udp_receive(pane->runner.udp, now_us);
    hc_cl_runner_turn(&pane->runner, now_us);
}
