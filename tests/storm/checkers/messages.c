/// Checks that each end receives every message of the other once and in order, as long as the
/// session lasts, and all of them when the links are clean. It sends them, too.
#include "client/client.h"
#include "hindcast/rng.h"
#include "server/state.h"
#include "tests/storm/checkers/checker.h"

#include <string.h>

enum {
    FIRST_SIZE = 16,     ///< bytes of the first message of a row at least, which identifies the row
    SHORT_SIZE = 24,     ///< most messages are shorter
    AT_ONCE = 4,         ///< messages sent together, at most
    UNACKED = 8192,      ///< bytes that may be unacked when an end sends more
    LIMITED = 1024,      ///< bytes that may be unacked where the server's rate is low
    WINDOW = 200,        ///< unacked messages with which the server sends more
    LATELY_US = 1000000, ///< a connection so young may still miss messages
    STREAM = 91,
};

enum way { TO_CLIENT, TO_SERVER };

/// A client's messages since its session began: a row.
struct client_row {
    uint32_t row;      ///< number of the row, from 1, among those of its seat
    uint32_t sent;     ///< messages of it
    uint32_t root;     ///< cid of the connection whose messages it receives; 0: none yet
    uint32_t received; ///< of those
    uint64_t turn;     ///< when it could send last; ticks of the simulation
};

/// The server's messages since a connection that resumed nothing, and those that it received.
struct host_row {
    uint32_t sent;
    uint32_t row; ///< of the client, which it receives; 0: nothing received
    uint32_t received;
};

struct messages {
    struct client_row clients[STORM_CLIENTS_MAX];
    struct host_row conns[STORM_CONNS_MAX];
};

/// The bytes of a message: of a row of the client in the seat, or of those sent to it since the
/// connection `row`.
static size_t bytes_of(const struct storm_match *match, unsigned seat, uint32_t row, enum way way,
                       uint32_t number, uint8_t out[static HC_MESSAGE_SIZE_MAX]) {
    struct hc_rng rng = hc_rng_init(match->plan->seed ^ (uint64_t)row << 16,
                                    (number * STORM_CLIENTS_MAX + seat) * 2 + (way == TO_SERVER));
    size_t size =
        1 + hc_rng_below(&rng, hc_rng_below(&rng, 16) == 0 ? HC_MESSAGE_SIZE_MAX : SHORT_SIZE);
    size = number == 1 && size < FIRST_SIZE ? FIRST_SIZE : size;
    for (size_t i = 0; i < size; i++)
        out[i] = (uint8_t)hc_rng_next(&rng);
    return size;
}

static bool is_message(const struct storm_match *match, unsigned seat, uint32_t row, enum way way,
                       uint32_t number, const uint8_t *message, size_t size) {
    uint8_t expected[HC_MESSAGE_SIZE_MAX];
    return size == bytes_of(match, seat, row, way, number, expected) &&
           memcmp(message, expected, size) == 0;
}

static void wrong(struct storm_match *match, unsigned client, uint32_t number, const char *text) {
    storm_fail(match->verdict, STORM_WRONG, "messages", storm_match_head(match),
               "client %u, message %u: %s", client, number, text);
}

/// The connection with which the session's messages began.
static const struct storm_conn *root_of(const struct storm_conn *conn) {
    while (conn != NULL && conn->resumed && conn->previous != NULL)
        conn = conn->previous;
    return conn;
}

static struct host_row *host_row_of(const struct storm_match *match, struct messages *messages,
                                    const struct storm_conn *root) {
    return &messages->conns[root - match->conns.conns];
}

/// How many messages are sent this time; 0: none.
static uint32_t count_of(const struct storm_match *match, unsigned client, uint64_t turn,
                         enum way way) {
    uint64_t every = (uint64_t)storm_match_get(match, STORM_talk);
    uint64_t random = hc_random(match->plan->seed, client, (uint32_t)turn, STREAM + way);
    if (match->healed || match->seats[client].hostile || random % every != 0)
        return 0;
    return 1 + (uint32_t)(random >> 32) % AT_ONCE;
}

// ---- The clients --------------------------------------------------------------------------------

static void begin_row(struct storm_match *match, void *state, unsigned client) {
    struct client_row *row = &((struct messages *)state)->clients[client];
    (void)match;
    *row = (struct client_row){.row = row->row + 1, .turn = row->turn};
}

static void client_event(struct storm_match *match, void *state, unsigned client,
                         const struct hc_client_event *event) {
    if (!match->seats[client].hostile && event->kind == HC_CLIENT_EVENT_RECONNECTED &&
        !event->resumed)
        begin_row(match, state, client);
}

static void client_receives(struct storm_match *match, struct messages *messages, unsigned client,
                            struct hc_client *core) {
    struct client_row *row = &messages->clients[client];
    const uint8_t *message;
    size_t size;
    while ((message = hc_client_next_message(core, &size)) != NULL) {
        const struct storm_conn *root =
            root_of(storm_conns_find(&match->conns, client, match->seats[client].cid));
        if (root == NULL || match->seats[client].hostile)
            continue;
        if (row->received++ == 0)
            row->root = root->cid;
        if (row->root != root->cid)
            wrong(match, client, row->received, "arrives in a session that it is not of");
        if (row->received > host_row_of(match, messages, root)->sent)
            wrong(match, client, row->received, "arrives, and the server never sent it");
        if (!is_message(match, client, root->cid, TO_CLIENT, row->received, message, size))
            wrong(match, client, row->received, "is another than the server sent");
    }
}

static void client_sends(struct storm_match *match, struct client_row *row, unsigned client,
                         struct hc_client *core) {
    uint64_t turn = hc_sim_now(match->sim) / match->tick_us;
    uint8_t bytes[HC_MESSAGE_SIZE_MAX];
    uint32_t count = turn > row->turn ? count_of(match, client, turn, TO_SERVER) : 0;
    row->turn = turn;
    for (; count > 0 && core->link.messages.out.used < UNACKED; count--) {
        size_t size = bytes_of(match, client, row->row, TO_SERVER, row->sent + 1, bytes);
        enum hc_status status = hc_client_send_message(core, bytes, size);
        if (status == HC_OK)
            row->sent++;
        else if (status != HC_FULL && status != HC_UNEXPECTED)
            wrong(match, client, row->sent + 1, hc_status_text(status));
    }
}

static void client_changed(struct storm_match *match, void *state, unsigned client) {
    struct messages *messages = state;
    struct hc_client *core = hc_sim_client(match->sim, client);
    if (storm_match_get(match, STORM_talk) == 0)
        return;
    client_receives(match, messages, client, core);
    client_sends(match, &messages->clients[client], client, core);
}

// ---- The server ---------------------------------------------------------------------------------

/// The row of the seat that begins with this message; 0: none.
static uint32_t row_of(const struct storm_match *match, const struct messages *messages,
                       unsigned client, const uint8_t *message, size_t size) {
    for (uint32_t row = messages->clients[client].row; row > 0; row--)
        if (is_message(match, client, row, TO_SERVER, 1, message, size))
            return row;
    return 0;
}

/// Whether a connection of another session receives this row.
static bool is_anothers(const struct storm_match *match, const struct messages *messages,
                        const struct storm_conn *root, uint32_t row) {
    for (unsigned i = 0; i < match->conns.count; i++) {
        const struct storm_conn *conn = &match->conns.conns[i];
        if (conn != root && conn->seat == root->seat && messages->conns[i].row == row)
            return true;
    }
    return false;
}

static void host_receives(struct storm_match *match, struct messages *messages,
                          struct hc_server *host) {
    struct hc_server_message received;
    const uint8_t *message;
    while ((message = hc_server_next_message(host, &received)) != NULL) {
        const struct storm_conn *root = root_of(storm_conns_any(&match->conns, received.cid));
        if (root == NULL || match->seats[root->seat].hostile)
            continue;
        struct host_row *row = host_row_of(match, messages, root);
        if (row->received++ == 0) {
            row->row = row_of(match, messages, root->seat, message, received.size);
            if (row->row == 0 || is_anothers(match, messages, root, row->row))
                wrong(match, root->seat, 1, "to the server begins no row of its own");
        } else if (!is_message(match, root->seat, row->row, TO_SERVER, row->received, message,
                               received.size)) {
            wrong(match, root->seat, row->received, "is another than the client sent");
        }
    }
}

static void host_sends(struct storm_match *match, struct messages *messages, struct hc_server *host,
                       const struct storm_conn *conn) {
    const struct hc_sv_peer *peer = hc_sv_clients_of_cid(&host->clients, conn->cid);
    if (peer == NULL) {
        wrong(match, conn->seat, 0, "to a connection that the server does not have");
        return;
    }
    const struct hc_reliable_out *out = &peer->messages.out;
    bool limited =
        storm_match_get(match, STORM_client_rate) != storm_match_keys[STORM_client_rate].neutral;
    uint32_t most = limited ? LIMITED : UNACKED;
    uint32_t count = count_of(match, conn->seat, storm_match_head(match), TO_CLIENT);
    const struct storm_conn *root = root_of(conn);
    uint8_t bytes[HC_MESSAGE_SIZE_MAX];
    for (; count > 0 && out->used < most && out->next - out->oldest < WINDOW; count--) {
        uint32_t number = ++host_row_of(match, messages, root)->sent;
        size_t size = bytes_of(match, conn->seat, root->cid, TO_CLIENT, number, bytes);
        enum hc_status status =
            hc_server_send_message(host, conn->cid, bytes, size, hc_sim_host_now(match->sim));
        if (status != HC_OK)
            wrong(match, conn->seat, number, hc_status_text(status));
    }
}

/// A message to a connection that has ended is refused.
static void send_to_ended(struct storm_match *match, struct hc_server *host,
                          const struct storm_conn *conn) {
    static const uint8_t message[] = {1};
    if (hc_server_send_message(host, conn->cid, message, sizeof message,
                               hc_sim_host_now(match->sim)) != HC_UNEXPECTED)
        wrong(match, conn->seat, 0, "to a connection that has ended is accepted");
}

static void host_ticked(struct storm_match *match, void *state) {
    struct hc_server *host = hc_sim_host(match->sim);
    if (storm_match_get(match, STORM_talk) == 0)
        return;
    host_receives(match, state, host);
    for (unsigned i = 0; i < match->conns.count; i++)
        if (match->conns.conns[i].connected || match->conns.conns[i].lingering)
            host_sends(match, state, host, &match->conns.conns[i]);
        else
            send_to_ended(match, host, &match->conns.conns[i]);
}

// ---- The end ------------------------------------------------------------------------------------

static void end(struct storm_match *match, void *state) {
    struct messages *messages = state;
    for (unsigned i = 0; i < match->clients && storm_match_get(match, STORM_talk) != 0; i++) {
        const struct hc_client *core = hc_sim_client(match->sim, i);
        const struct client_row *client = &messages->clients[i];
        const struct storm_conn *conn = storm_conns_find(&match->conns, i, match->seats[i].cid);
        if (core == NULL || match->seats[i].hostile || conn == NULL || !conn->connected ||
            hc_client_state(core) != HC_CLIENT_PLAYING ||
            storm_client_get(match, i, STORM_C_rebind_ticks) != 0 || // it may have moved just now
            hc_sim_now(match->sim) < conn->joined_us + LATELY_US)
            continue;
        const struct host_row *host = host_row_of(match, messages, root_of(conn));
        if (client->received != host->sent)
            wrong(match, i, client->received + 1, "of the server has not arrived");
        if (host->received != client->sent)
            wrong(match, i, host->received + 1, "has not arrived at the server");
    }
}

const struct storm_checker storm_check_messages = {.name = "messages",
                                                   .state_size = sizeof(struct messages),
                                                   .host_ticked = host_ticked,
                                                   .client_created = begin_row,
                                                   .client_event = client_event,
                                                   .client_changed = client_changed,
                                                   .end = end};
