#include "tests/storm/broken.h"

#include "proto/snapshot.h"
#include "tests/storm/inside.h"

#include <stdlib.h>
#include <string.h>

enum {
    SHARE = 8,        ///< of the matches, one in so many
    SEQ_ON = 40,      ///< numbers between the newest and those that are made
    ACK_ON = 1000000, ///< beyond everything that was ever sent
    AFAR = 2000,      ///< ticks before the end of all ticks
};

static bool chosen(const struct storm_match *match) {
    return match->plan->seed % SHARE == 6;
}

void storm_broken_note(const struct storm_match *match, struct storm_heard *heard,
                       const uint8_t *bytes, size_t size) {
    if (!chosen(match) || hc_datagram_kind(bytes, size) != HC_DATAGRAM_DATA)
        return;
    heard->size = size;
    memcpy(heard->bytes, bytes, size);
}

/// A datagram to one side: client >= 0, or the server from the address of client ~client.
struct target {
    struct storm_match *match;
    int client;
    struct hc_data data; ///< of the newest; body borrowed
    uint32_t seq;
};

static uint64_t digest(const struct hc_timeline *timeline, const struct hc_world *world) {
    hc_tick head = hc_timeline_head(timeline);
    return storm_world_digest(world, hc_timeline_presence(timeline, head),
                              hc_timeline_states(timeline, head)) ^
           head;
}

static uint64_t condition(const struct target *target) {
    const struct storm_match *match = target->match;
    const struct hc_world *world = storm_truth_world(match->truth);
    if (target->client < 0)
        return digest(hc_sv_host_timeline(hc_sim_host(match->sim)), world) ^
               hc_sv_host_stats(hc_sim_host(match->sim))->inputs_received << 32;
    const struct hc_client *core = hc_sim_client(match->sim, (unsigned)target->client);
    return digest(hc_client_timeline(core), world) ^ hc_client_stats(core)->snapshots << 32 ^
           (uint64_t)hc_client_state(core) << 56;
}

static enum hc_status hand(const struct target *target, const uint8_t *bytes, size_t size) {
    struct hc_sim *sim = target->match->sim;
    if (target->client >= 0)
        return hc_client_receive(hc_sim_client(sim, (unsigned)target->client), bytes, size,
                                 hc_sim_client_now(sim, (unsigned)target->client));
    struct hc_address from = hc_sim_address(sim, (unsigned)~target->client);
    return hc_sv_host_receive(hc_sim_host(sim), &from, bytes, size, hc_sim_host_now(sim));
}

static void refuse(struct target *target, const char *what, const uint8_t *bytes, size_t size) {
    uint64_t before = condition(target);
    enum hc_status status = hand(target, bytes, size);
    bool host = target->client < 0;
    unsigned client = (unsigned)(host ? ~target->client : target->client);
    if (status == HC_OK || condition(target) != before)
        storm_fail(target->match->verdict, STORM_WRONG, "broken", 0, "%s %u %s a datagram %s: %s",
                   host ? "the server from client" : "client", client,
                   status == HC_OK ? "takes" : "is changed by", what, hc_status_text(status));
}

/// Hands over `data` with this body, under a fresh number unless that is what is broken.
static void refuse_body(struct target *target, const char *what, struct hc_data data,
                        const uint8_t *body, size_t size) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    memcpy(bytes + HC_DATA_BODY_AT, body, size);
    data.body = bytes + HC_DATA_BODY_AT;
    data.body_size = size;
    refuse(target, what, bytes, hc_datagram_put_data(&data, bytes));
}

/// What is broken in the same way for both sides.
static void refuse_frames(struct target *target) {
    struct hc_data data = target->data;
    struct hc_rng *rng = &target->match->attack;
    data.seq = target->seq++;
    size_t first = 0; // a body may end after any message
    if (hc_precheck(data.body, data.body_size, &first) == HC_OK)
        for (unsigned i = 0; i < 8; i++)
            refuse_body(target, "cut short", data, data.body,
                        1 + hc_rng_below(rng, (uint32_t)first - 1));
    struct hc_data wrong = data;
    wrong.ack = data.ack + ACK_ON;
    refuse_body(target, "that acknowledges what was never sent", wrong, data.body, data.body_size);
    wrong = data;
    wrong.cid ^= 1u << hc_rng_below(rng, 32);
    refuse_body(target, "of another connection", wrong, data.body, data.body_size);
    uint8_t bytes[HC_DATAGRAM_MAX];
    memcpy(bytes + HC_DATA_BODY_AT, data.body, data.body_size);
    data.body = bytes + HC_DATA_BODY_AT;
    size_t size = hc_datagram_put_data(&data, bytes);
    bytes[size - 1 - hc_rng_below(rng, HC_TAG_SIZE)] = 1;
    refuse(target, "with something where its tag will be", bytes, size);
    memset(bytes + size - HC_TAG_SIZE, 0, HC_TAG_SIZE);
    refuse(target, "of no length", bytes, 0);
    refuse(target, "too short for anything", bytes, HC_DATA_BODY_AT + HC_TAG_SIZE - 1);
    memset(bytes + 5, 0, 4);
    refuse(target, "numbered 0", bytes, size);
}

/// Appends the body's first snapshot, changed by `change`.
static void refuse_snapshot(struct target *target, const char *what,
                            bool change(struct hc_snapshot *snapshot)) {
    static _Thread_local struct hc_body body;
    const struct hc_world *world = storm_truth_world(target->match->truth);
    uint8_t *presence = malloc(world->entities);
    uint8_t *states = malloc((size_t)world->entities * world->stride), bytes[HC_DATA_BODY_MAX];
    struct hc_writer writer = hc_bytes_writer(bytes, sizeof bytes);
    struct hc_snapshot snapshot;
    struct hc_data data = target->data;
    data.seq = target->seq++;
    if (presence == NULL || states == NULL)
        abort();
    if (hc_body_begin(&body, data.body, data.body_size) == HC_OK &&
        hc_body_next(&body) == HC_MESSAGE_SNAPSHOT &&
        hc_snapshot_get(&body, world, &snapshot, presence, states) == HC_OK && change(&snapshot) &&
        hc_snapshot_put(&writer, world, &snapshot, presence, states))
        refuse_body(target, what, data, bytes, writer.at);
    free(presence);
    free(states);
}

static bool fewer_own(struct hc_snapshot *snapshot) {
    return snapshot->own_count-- > 0;
}

static bool more_own(struct hc_snapshot *snapshot) {
    if (snapshot->own_count == HC_OWN_PLAYERS_MAX)
        return false;
    snapshot->complete[snapshot->own_count++] = snapshot->tick;
    return true;
}

static bool another_hash(struct hc_snapshot *snapshot) {
    snapshot->hash ^= 1;
    return true;
}

static bool from_afar(struct hc_snapshot *snapshot) {
    uint32_t on = HC_NO_TICK - AFAR - snapshot->as_of;
    snapshot->as_of += on;
    snapshot->tick += on;
    snapshot->refusal += on;
    snapshot->final += on;
    for (unsigned i = 0; i < snapshot->own_count; i++)
        snapshot->complete[i] += on;
    return true;
}

/// What only the other side says.
static void refuse_speech(struct target *target) {
    static _Thread_local struct hc_body body;
    uint8_t bytes[HC_DATA_BODY_MAX];
    struct hc_writer writer = hc_bytes_writer(bytes, sizeof bytes);
    struct hc_data data = target->data;
    const struct hc_game *game = storm_truth_world(target->match->truth)->game;
    struct hc_input_message message = {.client_tick = 1};
    data.seq = target->seq++;
    if (target->client >= 0 && hc_message_put_input(&writer, game, 0, &message, NULL, NULL))
        refuse_body(target, "that speaks like a client", data, bytes, writer.at);
    struct hc_welcome welcome = {.tick_rate = 60, .players = 1, .history = 64, .future = 64};
    writer = hc_bytes_writer(bytes, sizeof bytes);
    if (hc_message_put_welcome(&writer, &welcome))
        refuse_body(target, "with a WELCOME", data, bytes, writer.at);
    if (target->client < 0 && target->match->seats[~target->client].last_down.size > 0) {
        struct hc_data down;
        const struct storm_heard *heard = &target->match->seats[~target->client].last_down;
        if (hc_datagram_get_data(heard->bytes, heard->size, &down) == HC_OK &&
            hc_body_begin(&body, down.body, down.body_size) == HC_OK)
            refuse_body(target, "that speaks like a server", data, down.body, down.body_size);
    }
}

static bool is_own(const struct hc_client *core, hc_player player) {
    for (unsigned i = 0; i < HC_OWN_PLAYERS_MAX; i++)
        if (hc_client_player(core, i) == player)
            return true;
    return false;
}

/// A message that follows a SNAPSHOT, with a number out of its range.
struct fault {
    const char *what;
    uint8_t size, bytes[8];
};

/// Appends messages to the snapshot that was taken last.
static void refuse_appended(struct target *target, hc_player own, hc_player other) {
    enum { I = HC_MESSAGE_INPUTS, C = HC_MESSAGE_CONTROL, F = HC_MESSAGE_FORCED };
    enum { R = HC_MESSAGE_CORRECTION, SMALL_MAX = 0x7f, LIST = 0x90, BINARY = 0xc4, MINUS = 0xff };
    const uint8_t nobody = (uint8_t)storm_truth_world(target->match->truth)->players;
    const struct fault faults[] = {
        {"with FORCED of no ticks", 5, {LIST + 4, F, (uint8_t)own, 0, 0}},
        {"with FORCED after what is shown", 5, {LIST + 4, F, (uint8_t)own, MINUS, 1}},
        {"with FORCED of another's player", 5, {LIST + 4, F, (uint8_t)other, 0, 1}},
        {"with FORCED and a value more", 6, {LIST + 5, F, (uint8_t)own, 0, 1, 0}},
        {"with INPUTS of no ticks", 7, {LIST + 5, I, (uint8_t)other, 0, 0, BINARY, 0}},
        {"with INPUTS without bits", 7, {LIST + 5, I, (uint8_t)other, 0, 1, BINARY, 0}},
        {"with INPUTS of nobody", 8, {LIST + 5, I, nobody, 0, 1, BINARY, 1, 0}},
        {"with a CONTROL that is none", 5, {LIST + 4, C, (uint8_t)other, 0, 0}},
        {"with a CONTROL unheard of", 5, {LIST + 4, C, (uint8_t)other, 0, 3}},
        {"with a CONTROL and a value less", 4, {LIST + 3, C, (uint8_t)other, 0}},
        {"with a CORRECTION of what is shown", 5, {LIST + 4, R, 0, 1, 0xc2}},
        {"with a CORRECTION of nothing", 5, {LIST + 4, R, 1, 1, 0xc0}},
        {"with a message unheard of", 3, {LIST + 2, 9, 0}},
        {"with a value that is no message", 1, {7}},
    };
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        struct hc_data data = target->data;
        uint8_t bytes[HC_DATA_BODY_MAX];
        data.seq = target->seq++;
        if (data.body_size + faults[i].size > sizeof bytes || own >= SMALL_MAX ||
            other >= SMALL_MAX)
            continue;
        memcpy(bytes, data.body, data.body_size);
        memcpy(bytes + data.body_size, faults[i].bytes, faults[i].size);
        refuse_body(target, faults[i].what, data, bytes, data.body_size + faults[i].size);
    }
}

static void break_client(struct storm_match *match, unsigned client) {
    const struct storm_heard *heard = &match->seats[client].last_down;
    struct target target = {.match = match, .client = (int)client};
    const struct hc_client *core = hc_sim_client(match->sim, client);
    enum hc_client_state state = core == NULL ? HC_CLIENT_CLOSED : hc_client_state(core);
    if ((state != HC_CLIENT_PLAYING && state != HC_CLIENT_STALLED) || heard->size == 0 ||
        hc_datagram_get_data(heard->bytes, heard->size, &target.data) != HC_OK ||
        target.data.cid != match->seats[client].cid)
        return;
    target.seq = target.data.seq + SEQ_ON;
    refuse_frames(&target);
    refuse_snapshot(&target, "for fewer players", fewer_own);
    refuse_snapshot(&target, "for more players", more_own);
    refuse_snapshot(&target, "with another hash", another_hash);
    refuse_snapshot(&target, "from the end of time", from_afar);
    refuse_speech(&target);
    hc_player own = hc_client_player(core, 0), other = 0;
    while (other < storm_truth_world(match->truth)->players && is_own(core, other))
        other++;
    if (other < storm_truth_world(match->truth)->players)
        refuse_appended(&target, storm_client_get(match, client, STORM_C_players) > 0 ? own : other,
                        other);
}

static void break_host(struct storm_match *match, unsigned client) {
    const struct storm_heard *heard = &match->seats[client].last_up;
    struct target target = {.match = match, .client = ~(int)client};
    if (heard->size == 0 || hc_datagram_get_data(heard->bytes, heard->size, &target.data) != HC_OK)
        return;
    const struct storm_conn *conn = storm_conns_find(&match->conns, client, target.data.cid);
    if (conn == NULL || !conn->there)
        return;
    target.seq = target.data.seq + SEQ_ON;
    refuse_frames(&target);
    refuse_speech(&target);
}

void storm_broken_end(struct storm_match *match) {
    if (!chosen(match) || match->verdict->result != STORM_FINE)
        return;
    for (unsigned i = 0; i < match->clients; i++)
        if (!match->seats[i].hostile) {
            break_client(match, i);
            break_host(match, i);
        }
}
