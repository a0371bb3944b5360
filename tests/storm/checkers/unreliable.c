/// Checks that each unreliable message arrives at most once and unaltered, at the other end of the
/// connection that carried it. It sends them, too.
#include "common/bytes.h"
#include "hindcast/rng.h"
#include "tests/storm/checkers/checker.h"

#include <string.h>

enum {
    NUMBERS = 4096, ///< messages of a row that are told apart; it sends no more
    LONGEST = 120,  ///< bytes of a message at most
    NUMBER_AT = 3,  ///< place of a message's number, behind its direction and its row
    ID_SIZE = 5,
    STREAM = 97,
};

/// The messages that one end has sent: a client since it exists, or the server to a connection.
struct row {
    uint32_t sent;
    uint8_t arrived[NUMBERS / 8];
};

struct unreliable {
    struct row clients[STORM_CLIENTS_MAX], conns[STORM_CONNS_MAX];
    uint64_t turns[STORM_CLIENTS_MAX]; ///< when each client could send last
};

static void wrong(struct storm_match *match, unsigned client, uint32_t number, const char *text) {
    storm_fail(match->verdict, STORM_WRONG, "unreliable", storm_match_head(match),
               "client %u, unreliable message %u: %s", client, number, text);
}

/// The bytes of a message of the row `row`; all follow from the seed, the row and the number.
static size_t bytes_of(const struct storm_match *match, bool to_server, uint16_t row,
                       uint16_t number, uint8_t out[static LONGEST]) {
    struct hc_rng rng = hc_rng_init(match->plan->seed + to_server, (uint32_t)row << 16 | number);
    size_t size = ID_SIZE + hc_rng_below(&rng, LONGEST - ID_SIZE + 1);
    struct hc_writer writer = hc_bytes_writer(out, ID_SIZE);
    hc_bytes_put_u8(&writer, to_server);
    hc_bytes_put_u16(&writer, row);
    hc_bytes_put_u16(&writer, number);
    for (size_t i = ID_SIZE; i < size; i++)
        out[i] = (uint8_t)hc_rng_next(&rng);
    return size;
}

static void receive(struct storm_match *match, struct row *row, bool to_server, uint16_t index,
                    unsigned client, const uint8_t *message, size_t size) {
    uint8_t expected[LONGEST];
    struct hc_reader reader = hc_bytes_reader(message, size);
    hc_bytes_take(&reader, NUMBER_AT);
    uint16_t number = hc_bytes_get_u16(&reader);
    if (size < ID_SIZE || number >= row->sent ||
        size != bytes_of(match, to_server, index, number, expected) ||
        memcmp(message, expected, size) != 0)
        wrong(match, client, number, "is none that was sent");
    else if ((row->arrived[number / 8] >> number % 8 & 1) != 0)
        wrong(match, client, number, "arrives twice");
    else
        row->arrived[number / 8] |= (uint8_t)(1 << number % 8);
}

/// Whether an end sends a message this time.
static bool sends(const struct storm_match *match, unsigned client, uint64_t turn, bool to_server) {
    uint64_t every = (uint64_t)storm_match_get(match, STORM_talk);
    return !match->healed && !match->seats[client].hostile && every != 0 &&
           hc_random(match->plan->seed, client, (uint32_t)turn, STREAM + to_server) % every == 0;
}

static void client_changed(struct storm_match *match, void *state, unsigned client) {
    struct unreliable *all = state;
    struct hc_client *core = hc_sim_client(match->sim, client);
    const struct storm_conn *conn =
        storm_conns_find(&match->conns, client, match->seats[client].cid);
    const uint8_t *message;
    size_t size;
    while ((message = hc_client_next_unreliable(core, &size)) != NULL) {
        if (conn == NULL || match->seats[client].hostile)
            continue;
        uint16_t index = (uint16_t)(conn - match->conns.conns);
        receive(match, &all->conns[index], false, index, client, message, size);
    }
    uint64_t turn = hc_sim_now(match->sim) / match->tick_us;
    struct row *row = &all->clients[client];
    if (turn > all->turns[client] && row->sent < NUMBERS && sends(match, client, turn, true)) {
        uint8_t bytes[LONGEST];
        size = bytes_of(match, true, (uint16_t)client, (uint16_t)row->sent, bytes);
        row->sent += hc_client_send_unreliable(core, bytes, size) == HC_OK;
    }
    all->turns[client] = turn;
}

static void host_ticked(struct storm_match *match, void *state) {
    struct unreliable *all = state;
    struct hc_server *host = hc_sim_host(match->sim);
    struct hc_server_message received;
    const uint8_t *message;
    while ((message = hc_server_next_unreliable(host, &received)) != NULL) {
        const struct storm_conn *conn = storm_conns_any(&match->conns, received.cid);
        if (conn != NULL && !match->seats[conn->seat].hostile)
            receive(match, &all->clients[conn->seat], true, (uint16_t)conn->seat, conn->seat,
                    message, received.size);
    }
    for (unsigned i = 0; i < match->conns.count; i++) {
        const struct storm_conn *conn = &match->conns.conns[i];
        struct row *row = &all->conns[i];
        uint8_t bytes[LONGEST];
        if (!conn->connected || row->sent == NUMBERS ||
            !sends(match, conn->seat, storm_match_head(match), false))
            continue;
        size_t size = bytes_of(match, false, (uint16_t)i, (uint16_t)row->sent, bytes);
        row->sent += hc_server_send_unreliable(host, conn->cid, bytes, size) == HC_OK;
    }
}

const struct storm_checker storm_check_unreliable = {.name = "unreliable",
                                                     .state_size = sizeof(struct unreliable),
                                                     .host_ticked = host_ticked,
                                                     .client_changed = client_changed};
