#include "tests/storm/talk.h"

#include "client/session_internal.h"
#include "hindcast/rng.h"
#include "server/host_internal.h"
#include "tests/storm/inside.h"

#include <string.h>

enum {
    FIRST_SIZE = 16,     ///< bytes of the first word of a row at least, by which it is known
    SHORT_SIZE = 24,     ///< most words are shorter
    WORDS = 4,           ///< at once, at most
    ON_THE_WAY = 8192,   ///< bytes up to which somebody says more,
    LIMITED = 1024,      ///< and where the server may send little
    WINDOW = 200,        ///< words on the way up to which the server says more
    LATELY_US = 1000000, ///< a connection so young may still have to be told
};

/// Who is spoken to.
enum way { TO_CLIENT, TO_SERVER };

/// The bytes of a word: of a row of the client in the seat, or of what is said to it, beginning
/// with the connection `row`.
static size_t word(const struct storm_match *match, unsigned seat, uint32_t row, enum way way,
                   uint32_t number, uint8_t out[static HC_EVENTS_SIZE_MAX]) {
    struct hc_rng rng = hc_rng_init(match->plan->seed ^ (uint64_t)row << 16,
                                    (number * STORM_CLIENTS_MAX + seat) * 2 + (way == TO_SERVER));
    size_t size =
        1 + hc_rng_below(&rng, hc_rng_below(&rng, 16) == 0 ? HC_EVENTS_SIZE_MAX : SHORT_SIZE);
    size = number == 1 && size < FIRST_SIZE ? FIRST_SIZE : size;
    for (size_t i = 0; i < size; i++)
        out[i] = (uint8_t)hc_rng_next(&rng);
    return size;
}

static void wrong(struct storm_match *match, unsigned client, uint32_t number, const char *text) {
    storm_fail(match->verdict, STORM_WRONG, "talk",
               hc_timeline_head(hc_sv_host_timeline(hc_sim_host(match->sim))),
               "client %u, word %u: %s", client, number, text);
}

/// The connection with which began what goes on with this one.
static struct storm_conn *root_of(struct storm_conn *conn) {
    while (conn != NULL && conn->goes_on && conn->before != NULL)
        conn = conn->before;
    return conn;
}

/// How many words are said this time, where games talk; 0: none.
static uint32_t words_of(const struct storm_match *match, unsigned client, uint64_t turn,
                         enum way way) {
    uint64_t every = (uint64_t)storm_match_get(match, STORM_talk);
    uint64_t random = hc_random(match->plan->seed, client, (uint32_t)turn, 91 + way);
    if (match->healed || match->seats[client].hostile || random % every != 0)
        return 0;
    return 1 + (uint32_t)(random >> 32) % WORDS;
}

// ---- The clients --------------------------------------------------------------------------------

/// What it says from now on nobody has heard before, and the other way round.
static void begin_row(struct storm_talk_seat *talk) {
    *talk = (struct storm_talk_seat){.row = talk->row + 1, .turn = talk->turn};
}

void storm_talk_created(struct storm_match *match, unsigned client) {
    begin_row(&match->seats[client].talk);
}

void storm_talk_event(struct storm_match *match, unsigned client,
                      const struct hc_client_event *event) {
    if (event->kind == HC_CLIENT_EVENT_RECONNECTED && !event->resumed)
        begin_row(&match->seats[client].talk);
}

static void client_hears(struct storm_match *match, unsigned client, struct hc_client *core) {
    struct storm_talk_seat *talk = &match->seats[client].talk;
    const uint8_t *message;
    uint8_t expected[HC_EVENTS_SIZE_MAX];
    size_t size;
    while ((message = hc_client_next_message(core, &size)) != NULL) {
        const struct storm_conn *root =
            root_of(storm_conns_find(&match->conns, client, match->seats[client].cid));
        if (root == NULL || match->seats[client].hostile)
            continue;
        if (talk->heard == 0)
            talk->root = root->cid;
        talk->heard++;
        if (talk->root != root->cid)
            wrong(match, client, talk->heard, "is heard on a connection that does not go on");
        if (talk->heard > root->talk.said)
            wrong(match, client, talk->heard, "is heard, and the server never said it");
        if (size != word(match, client, root->cid, TO_CLIENT, talk->heard, expected) ||
            memcmp(message, expected, size) != 0)
            wrong(match, client, talk->heard, "of the server is another than it said");
    }
}

static void client_says(struct storm_match *match, unsigned client, struct hc_client *core) {
    struct storm_talk_seat *talk = &match->seats[client].talk;
    uint64_t turn = hc_sim_now(match->sim) / match->tick_us;
    uint8_t bytes[HC_EVENTS_SIZE_MAX];
    uint32_t words = turn > talk->turn ? words_of(match, client, turn, TO_SERVER) : 0;
    talk->turn = turn;
    for (; words > 0 && core->messages.out.used < ON_THE_WAY; words--) {
        size_t size = word(match, client, talk->row, TO_SERVER, talk->said + 1, bytes);
        enum hc_status status = hc_client_send_message(core, bytes, size);
        if (status == HC_OK)
            talk->said++;
        else if (status != HC_FULL && status != HC_UNEXPECTED)
            wrong(match, client, talk->said + 1, hc_status_text(status));
    }
}

void storm_talk_client(struct storm_match *match, unsigned client) {
    struct hc_client *core = hc_sim_client(match->sim, client);
    if (storm_match_get(match, STORM_talk) == 0)
        return;
    client_hears(match, client, core);
    client_says(match, client, core);
}

// ---- The server ---------------------------------------------------------------------------------

/// Which row of the seat begins with this word; 0: none.
static uint32_t row_of(const struct storm_match *match, unsigned client, const uint8_t *message,
                       size_t size) {
    uint8_t expected[HC_EVENTS_SIZE_MAX];
    for (uint32_t row = match->seats[client].talk.row; row > 0; row--)
        if (size == word(match, client, row, TO_SERVER, 1, expected) &&
            memcmp(message, expected, size) == 0)
            return row;
    return 0;
}

/// Whether another connection, with which this one does not go on, hears this row.
static bool is_anothers(const struct storm_match *match, const struct storm_conn *root,
                        uint32_t row) {
    for (unsigned i = 0; i < match->conns.count; i++) {
        const struct storm_conn *conn = &match->conns.conns[i];
        if (conn != root && conn->seat == root->seat && conn->talk.row == row)
            return true;
    }
    return false;
}

static void host_hears(struct storm_match *match, struct hc_sv_host *host) {
    struct hc_sv_message heard;
    const uint8_t *message;
    uint8_t expected[HC_EVENTS_SIZE_MAX];
    while ((message = hc_sv_host_next_message(host, &heard)) != NULL) {
        struct storm_conn *root = root_of(storm_conns_named(&match->conns, heard.cid));
        if (root == NULL || match->seats[root->seat].hostile)
            continue;
        struct storm_talk_conn *talk = &root->talk;
        if (talk->heard++ == 0) {
            talk->row = row_of(match, root->seat, message, heard.size);
            if (talk->row == 0 || is_anothers(match, root, talk->row))
                wrong(match, root->seat, 1, "to the server begins nothing that it says");
        } else if (heard.size !=
                       word(match, root->seat, talk->row, TO_SERVER, talk->heard, expected) ||
                   memcmp(message, expected, heard.size) != 0) {
            wrong(match, root->seat, talk->heard, "to the server is another than it said");
        }
    }
}

static void host_says(struct storm_match *match, struct hc_sv_host *host, struct storm_conn *conn) {
    const struct hc_sv_peer *peer = hc_sv_host_peer(host, conn->cid);
    if (peer == NULL) {
        wrong(match, conn->seat, 0, "to a connection that the server does not have");
        return;
    }
    const struct hc_events_out *out = &peer->events_out;
    bool limited =
        storm_match_get(match, STORM_client_rate) != storm_match_keys[STORM_client_rate].neutral;
    uint32_t most = limited ? LIMITED : ON_THE_WAY;
    uint32_t words = words_of(match, conn->seat, hc_timeline_head(host->timeline), TO_CLIENT);
    struct storm_conn *root = root_of(conn);
    uint8_t bytes[HC_EVENTS_SIZE_MAX];
    for (; words > 0 && out->used < most && out->next - out->oldest < WINDOW; words--) {
        uint32_t number = ++root->talk.said;
        size_t size = word(match, conn->seat, root->cid, TO_CLIENT, number, bytes);
        enum hc_status status =
            hc_sv_host_send_message(host, conn->cid, bytes, size, hc_sim_host_now(match->sim));
        if (status != HC_OK)
            wrong(match, conn->seat, number, hc_status_text(status));
    }
}

/// Nobody is there any more to whom it could be said.
static void say_to_gone(struct storm_match *match, struct hc_sv_host *host,
                        const struct storm_conn *conn) {
    static const uint8_t word[] = {1};
    if (hc_sv_host_send_message(host, conn->cid, word, sizeof word, hc_sim_host_now(match->sim)) !=
        HC_UNEXPECTED)
        wrong(match, conn->seat, 0, "to a connection that is gone is taken");
}

void storm_talk_host(struct storm_match *match) {
    struct hc_sv_host *host = hc_sim_host(match->sim);
    if (storm_match_get(match, STORM_talk) == 0)
        return;
    host_hears(match, host);
    for (unsigned i = 0; i < match->conns.count; i++)
        if (match->conns.conns[i].there || match->conns.conns[i].kept)
            host_says(match, host, &match->conns.conns[i]);
        else
            say_to_gone(match, host, &match->conns.conns[i]);
}

// ---- The end ------------------------------------------------------------------------------------

void storm_talk_end(struct storm_match *match) {
    for (unsigned i = 0; i < match->clients && storm_match_get(match, STORM_talk) != 0; i++) {
        const struct hc_client *core = hc_sim_client(match->sim, i);
        const struct storm_talk_seat *talk = &match->seats[i].talk;
        struct storm_conn *conn = storm_conns_find(&match->conns, i, match->seats[i].cid);
        const struct storm_conn *root = root_of(conn);
        if (core == NULL || match->seats[i].hostile || conn == NULL || !conn->there ||
            hc_client_state(core) != HC_CLIENT_PLAYING ||
            hc_sim_now(match->sim) < conn->joined_us + LATELY_US)
            continue;
        if (talk->heard != root->talk.said)
            wrong(match, i, talk->heard + 1, "of the server has not been heard");
        if (root->talk.heard != talk->said)
            wrong(match, i, root->talk.heard + 1, "has not been heard by the server");
    }
}
