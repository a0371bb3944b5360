/// Checks that no value that the server sends is wrong, or hidden by interest. Reading every
/// snapshot is dear, so only some plans want it.
#include "client/world/snapshot_reader.h"
#include "server/state.h"
#include "tests/storm/checkers/checker.h"
#include "tests/storm/checkers/truth.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

struct sent_values {
    struct hc_cl_snapshot_reader *readers[STORM_CONNS_MAX]; ///< have accepted all so far
    struct hc_body body;
};

static uint64_t digest_of(const struct hc_world *world, const struct hc_cl_received_value *value) {
    uint32_t count = hc_unit_count(world, value->unit);
    uint64_t digest = value->unit;
    for (uint32_t e = 0; e < count; e++)
        digest = digest * 4 + value->value.presence[e];
    return XXH3_64bits_withSeed(value->value.states, (size_t)count * world->stride, digest);
}

/// A value is the server's, and so is its owner's newest input before.
static void check_value(struct storm_match *match, const struct storm_conn *conn,
                        const struct hc_cl_received_value *value) {
    const struct hc_timeline *server = storm_match_timeline(match);
    const struct hc_world *world = match->units.world;
    hc_player player = hc_unit_player(world, value->unit);
    hc_tick tick = value->value.tick, known = HC_NO_TICK;
    uint8_t input[HC_INPUT_MAX] = {0};
    if (tick < hc_timeline_oldest(server)) {
        storm_wrong(match, "sent", tick, conn->seat, "is sent a tick that is out of the ring");
        return;
    }
    if (digest_of(world, value) != storm_units_row(match, tick)[value->unit])
        storm_fail(match->verdict, STORM_WRONG, "sent", tick,
                   "client %u is sent a wrong %s of unit %u at %u", conn->seat,
                   value->correction ? "correction" : "value", value->unit, tick);
    if (storm_unit_hidden(match, conn, value->unit, tick))
        storm_wrong(match, "interest", tick, conn->seat, "is sent a unit out of its view");
    if (player == HC_NO_PLAYER)
        return;
    if (!hc_timeline_newest_input(server, player, tick, &known, input))
        known = HC_NO_TICK;
    if (value->value.known != known ||
        (known != HC_NO_TICK && memcmp(value->value.input, input, world->game->input_size) != 0))
        storm_fail(match->verdict, STORM_WRONG, "sent", tick,
                   "client %u is sent the input of player %u at %u for its newest before %u, which "
                   "is that at %u",
                   conn->seat, player, value->value.known, tick, known);
}

static void check_inputs(struct storm_match *match, const struct storm_conn *conn,
                         const struct hc_cl_received *received) {
    const struct hc_timeline *server = storm_match_timeline(match);
    size_t size = match->units.world->game->input_size;
    hc_tick head = hc_timeline_head(server);
    for (uint32_t i = 0; i < received->input_count; i++) {
        const struct hc_cl_received_input *input = &received->inputs[i];
        if (hc_timeline_slot(server, input->player, input->tick) != HC_SLOT_KNOWN ||
            memcmp(input->input, hc_timeline_input(server, input->player, input->tick), size) != 0)
            storm_wrong(match, "sent", input->tick, conn->seat, "is sent a wrong input");
        if (storm_unit_hidden(match, conn, (hc_unit)(1 + input->player),
                              hc_tick_min(input->tick, head)))
            storm_wrong(match, "interest", input->tick, conn->seat,
                        "is sent an input out of its view");
    }
}

static void check_roster(struct storm_match *match, const struct storm_conn *conn,
                         const struct hc_cl_received *received) {
    const struct hc_timeline *server = storm_match_timeline(match);
    hc_tick head = hc_timeline_head(server);
    hc_tick oldest = hc_tick_back(head, (uint32_t)storm_match_get(match, STORM_history));
    for (uint32_t i = 0; i < received->roster_count; i++) {
        const struct hc_snapshot_roster *change = &received->roster_changes[i];
        hc_tick after = hc_tick_max(hc_tick_min(change->tick + 1, head), received->header.tick);
        if (change->tick > oldest &&
            hc_timeline_roster(server, change->player, change->tick) != change->roster_change)
            storm_wrong(match, "sent", change->tick, conn->seat, "is sent a wrong roster change");
        if (storm_unit_hidden(match, conn, (hc_unit)(1 + change->player), after))
            storm_wrong(match, "interest", change->tick, conn->seat,
                        "is sent a roster change out of its view");
    }
}

/// Whether the server has the event at its newest head.
static bool happens(const struct hc_timeline *server, const struct hc_cl_received_event *event) {
    uint32_t count;
    const hc_game_event *events = hc_timeline_events(server, event->tick, event->entity, &count);
    for (uint32_t i = 0; i < count; i++)
        if (events[i] == event->event)
            return true;
    return false;
}

/// The early lists are of ticks that are not final, and say nothing that is not so at this head,
/// that the client does not see, or that waits for the final tick.
static void check_early(struct storm_match *match, const struct storm_conn *conn,
                        const struct hc_cl_received *received) {
    const struct hc_timeline *server = storm_match_timeline(match);
    const struct hc_world *world = match->units.world;
    uint32_t first = received->event_count;
    for (uint32_t i = 0; i < received->early_count; first = received->early[i++].end)
        for (uint32_t at = first; at < received->early[i].end; at++) {
            const struct hc_cl_received_event *event = &received->events[at];
            unsigned kind = hc_game_event_kind(event->event);
            if (event->tick <= received->header.final || event->tick > received->header.tick)
                storm_wrong(match, "sent", event->tick, conn->seat, "is sent a wrong early tick");
            else if (!happens(server, event))
                storm_wrong(match, "sent", event->tick, conn->seat, "is sent a wrong early event");
            if (world->game->event_kinds[kind].final_only)
                storm_wrong(match, "sent", event->tick, conn->seat, "is sent an event too early");
            if (storm_unit_hidden(match, conn, hc_unit_of(world, event->entity), event->tick))
                storm_wrong(match, "interest", event->tick, conn->seat,
                            "is sent an event out of its view");
        }
}

static void check_header(struct storm_match *match, const struct storm_conn *conn,
                         const struct hc_snapshot *header) {
    const struct hc_server *host = hc_sim_host(match->sim);
    const struct hc_timeline *server = storm_match_timeline(match);
    uint64_t chain;
    hc_tick final = hc_sv_host_final(host, &chain);
    bool right = header->as_of == hc_timeline_head(server) && header->final == final &&
                 (!header->has_chain || header->chain == chain);
    for (unsigned i = 0; i < conn->player_count; i++)
        right = right &&
                header->inputs_through[i] == hc_timeline_inputs_through(server, conn->players[i]);
    if (!right)
        storm_wrong(match, "sent", header->as_of, conn->seat, "is sent a wrong header");
}

/// Reads the snapshot as a client that has received all before it; NULL: there is none.
static const struct hc_cl_received *read(struct storm_match *match, struct sent_values *sent,
                                         const struct storm_datagram *datagram) {
    const struct storm_conn *conn = datagram->conn;
    struct hc_cl_snapshot_reader **reader = &sent->readers[conn - match->conns.conns];
    const struct hc_cl_received *received = NULL;
    struct hc_body *body = &sent->body;
    hc_tick head = storm_match_head(match);
    if (*reader == NULL)
        *reader = hc_cl_snapshot_reader_create(match->units.world, conn->player_count);
    if (*reader == NULL)
        abort();
    enum hc_status status = hc_body_begin(body, datagram->data.body, datagram->data.body_size);
    if (status == HC_OK && hc_body_next(body) == HC_MESSAGE_SNAPSHOT)
        status = hc_cl_snapshot_reader_read(*reader, body, head, &received);
    if (status != HC_OK)
        storm_wrong(match, "sent", head, conn->seat, "is sent a snapshot that cannot be read");
    return received;
}

static void host_sent(struct storm_match *match, void *state, unsigned client,
                      const struct storm_datagram *datagram, bool copy) {
    (void)client;
    if (storm_match_get(match, STORM_told) == 0 || copy || datagram->conn == NULL ||
        datagram->type != HC_MESSAGE_SNAPSHOT)
        return;
    const struct storm_conn *conn = datagram->conn;
    const struct hc_cl_received *received = read(match, state, datagram);
    if (received == NULL)
        return;
    check_header(match, conn, &received->header);
    check_inputs(match, conn, received);
    check_roster(match, conn, received);
    check_early(match, conn, received);
    for (uint32_t i = 0; i < received->value_count; i++)
        if (!received->values[i].dropped)
            check_value(match, conn, &received->values[i]);
}

static void release(struct storm_match *match, void *state) {
    (void)match;
    for (unsigned i = 0; i < STORM_CONNS_MAX; i++)
        hc_cl_snapshot_reader_destroy(((struct sent_values *)state)->readers[i]);
}

const struct storm_checker storm_check_sent_values = {.name = "sent values",
                                                      .state_size = sizeof(struct sent_values),
                                                      .host_sent = host_sent,
                                                      .free = release};
