/// Owns the turns of one client with its link.
#include "client/programs/runner.h"

#include "client/session.h"
#include "client/shown.h"

bool hc_cl_runner_begin(struct hc_cl_runner *runner, const struct hc_client_config *config,
                        bool light, uint64_t now_us) {
    runner->client = (light ? hc_cl_session_create_light : hc_client_create)(config, now_us);
    runner->decided = HC_NO_TICK;
    return runner->client != NULL;
}

void hc_cl_runner_end(struct hc_cl_runner *runner) {
    hc_client_destroy(runner->client);
    hc_cl_runner_trace_leave(&runner->trace);
    runner->client = NULL;
    runner->due_us = runner->received_us = 0;
    runner->stranded = false;
}

/// Gives the client the datagrams that have passed the link; returns whether there was one.
static bool receive(struct hc_cl_runner *runner, uint64_t now_us) {
    uint8_t bytes[HC_DATAGRAM_MAX + 1];
    int received;
    bool any = false;
    for (; (received = hc_cl_udp_take(runner->udp, bytes, now_us)) >= 0; any = true) {
        if (hc_client_receive(runner->client, bytes, (size_t)received, now_us) != HC_OK)
            continue; // the client counts what it refuses
        enum hc_client_state state = hc_client_state(runner->client);
        runner->received_us = now_us;
        if (state == HC_CLIENT_CONNECTING || state == HC_CLIENT_RECONNECTING)
            continue;
        runner->connected_us = now_us;
        if (runner->search != NULL)
            hc_cl_next_server_connected(runner->search, now_us);
    }
    return any;
}

static void take_events(struct hc_cl_runner *runner, uint64_t now_us) {
    struct hc_client_event event;
    while (hc_client_poll_event(runner->client, &event)) {
        if (event.kind == HC_CLIENT_EVENT_RECONNECTED) // the world may be new
            runner->decided = HC_NO_TICK;
        if (event.kind == HC_CLIENT_EVENT_VERSION)
            runner->stranded = runner->search != NULL && !runner->search->is_over;
        runner->calls->event(runner->owner, &event, now_us);
    }
}

/// Runs the client, which received something or has a deadline.
static void run(struct hc_cl_runner *runner, uint64_t now_us) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    size_t size;
    runner->calls->advances(runner->owner, hc_client_deadline(runner->client) <= now_us, now_us);
    hc_client_advance(runner->client, now_us);
    while ((size = hc_client_send(runner->client, bytes, now_us)) > 0)
        hc_cl_udp_send(runner->udp, bytes, size, now_us);
    take_events(runner, now_us);
    runner->due_us = hc_client_deadline(runner->client);
}

uint64_t hc_cl_runner_turn(struct hc_cl_runner *runner, uint64_t now_us) {
    hc_cl_runner_trace_begin(&runner->trace, runner->client);
    bool runs = receive(runner, now_us) || now_us >= runner->due_us;
    if (runs)
        run(runner, now_us);
    hc_cl_runner_trace_end(&runner->trace, runner->client, runs);
    hc_cl_udp_flush(runner->udp, now_us);
    return hc_cl_runner_deadline(runner);
}

uint64_t hc_cl_runner_deadline(const struct hc_cl_runner *runner) {
    bool closed = runner->due_us == UINT64_MAX; // only a closed client has no deadline
    if (closed && hc_cl_udp_idle(runner->udp))
        return UINT64_MAX;
    uint64_t link_us = hc_cl_udp_deadline(runner->udp);
    return runner->due_us < link_us ? runner->due_us : link_us;
}

void hc_cl_runner_leave(struct hc_cl_runner *runner, uint64_t now_us) {
    hc_client_leave(runner->client, now_us);
    runner->due_us = 0; // its deadlines have changed
}

bool hc_cl_runner_new_tick(struct hc_cl_runner *runner, hc_tick *head) {
    enum hc_client_state state = hc_client_state(runner->client);
    if ((state != HC_CLIENT_PLAYING && state != HC_CLIENT_STALLED) ||
        !hc_cl_session_head(runner->client, head) || *head == runner->decided)
        return false;
    runner->decided = *head;
    return true;
}

void hc_cl_runner_think(const struct hc_cl_runner *runner, struct hc_thinker *brain) {
    uint8_t input[HC_INPUT_MAX];
    const uint8_t *presence, *states;
    hc_tick shown;
    hc_cl_shown_world(runner->client, &shown, &presence, &states);
    hc_thinker_think(brain, hc_client_world(runner->client), shown, presence, states,
                     hc_client_player(runner->client, 0), input);
    hc_client_set_input(runner->client, 0, input);
}
