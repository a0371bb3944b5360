#include "tests/storm/broken.h"

#include "client/session_internal.h"
#include "proto/delta.h"
#include "tests/storm/inside.h"

#include <stdlib.h>
#include <string.h>

enum {
    SHARE = 8,        ///< of the matches, one in so many
    SEQ_ON = 40,      ///< numbers between the newest and those that are made
    ACK_ON = 1000000, ///< beyond everything that was ever sent
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

/// Hands over what is sealed already, or never will be.
static enum hc_status hand_sealed(const struct target *target, const uint8_t *bytes, size_t size) {
    struct hc_sim *sim = target->match->sim;
    if (target->client >= 0)
        return hc_client_receive(hc_sim_client(sim, (unsigned)target->client), bytes, size,
                                 hc_sim_client_now(sim, (unsigned)target->client));
    struct hc_address from = hc_sim_address(sim, (unsigned)~target->client);
    return hc_sv_host_receive(hc_sim_host(sim), &from, bytes, size, hc_sim_host_now(sim));
}

static enum hc_status hand(const struct target *target, const uint8_t *bytes, size_t size) {
    uint8_t room[HC_DATAGRAM_MAX];
    return hand_sealed(
        target, hc_sim_seal(target->match->sim, target->client < 0, bytes, size, room), size);
}

static void refuse_sealed(struct target *target, const char *what, const uint8_t *bytes,
                          size_t size) {
    uint64_t before = condition(target);
    enum hc_status status = hand_sealed(target, bytes, size);
    bool host = target->client < 0;
    unsigned client = (unsigned)(host ? ~target->client : target->client);
    if (status == HC_OK || condition(target) != before)
        storm_fail(target->match->verdict, STORM_WRONG, "broken", 0, "%s %u %s a datagram %s: %s",
                   host ? "the server from client" : "client", client,
                   status == HC_OK ? "takes" : "is changed by", what, hc_status_text(status));
}

static void refuse(struct target *target, const char *what, const uint8_t *bytes, size_t size) {
    uint8_t room[HC_DATAGRAM_MAX];
    refuse_sealed(target, what,
                  hc_sim_seal(target->match->sim, target->client < 0, bytes, size, room), size);
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
    uint8_t sealed[HC_DATAGRAM_MAX];
    refuse_sealed(target, "that is not sealed", bytes, size);
    hc_sim_seal(target->match->sim, target->client < 0, bytes, size, sealed);
    sealed[5 + hc_rng_below(rng, (uint32_t)size - 5)] ^= (uint8_t)(1 << hc_rng_below(rng, 8));
    refuse_sealed(target, "with a bit changed on the way", sealed, size);
    refuse_sealed(target, "of the other direction",
                  hc_sim_seal(target->match->sim, target->client >= 0, bytes, size, sealed), size);
    refuse(target, "of no length", bytes, 0);
    refuse(target, "too short for anything", bytes, HC_DATA_BODY_AT + HC_TAG_SIZE - 1);
    memset(bytes + 5, 0, 4);
    refuse(target, "numbered 0", bytes, size);
}

/// What is wrong with a SNAPSHOT that tells nothing, of a head that the client has not had.
enum spoilt {
    SOUND,
    HASH,
    OLD_HEAD,
    BEFORE_TIME,
    NO_BASE,
    LOST_BASE,
    UNIT_BEYOND,
    UNIT_ABSURD,
    TOO_MANY_UNITS,
    FORCED_OF_NOBODY,
    FORCED_BEFORE_TIME,
    CONTROL_OF_NOBODY,
    CONTROL_BEFORE_TIME,
    CORRECTION_BEFORE_TIME,
    CORRECTION_BEYOND,
    CORRECTION_LOST,
    CUT,
    LONGER,
    PADDED,
    SPOILTS
};
static const char *const spoilt_what[SPOILTS] = {
    [HASH] = "with another hash",
    [OLD_HEAD] = "of a head that it has had",
    [BEFORE_TIME] = "from before all time",
    [NO_BASE] = "against a base and names none",
    [LOST_BASE] = "against a base that it never had",
    [UNIT_BEYOND] = "of a unit that there is not",
    [UNIT_ABSURD] = "of fewer units than it says",
    [TOO_MANY_UNITS] = "of more units than one may tell",
    [FORCED_OF_NOBODY] = "with forced inputs of nobody's",
    [FORCED_BEFORE_TIME] = "with inputs forced before all time",
    [CONTROL_OF_NOBODY] = "with a join of nobody's",
    [CONTROL_BEFORE_TIME] = "with a join before all time",
    [CORRECTION_BEFORE_TIME] = "with a correction of a tick before all time",
    [CORRECTION_BEYOND] = "with a correction of a unit that there is not",
    [CORRECTION_LOST] = "with a correction of what it never had",
    [CUT] = "cut short inside its bits",
    [LONGER] = "with a byte after its bits",
    [PADDED] = "with something in its last bits",
};

static void put_lists(struct hc_bits_writer *bits, const struct hc_world *world,
                      const struct hc_snapshot *head, enum spoilt spoil) {
    if (spoil == FORCED_OF_NOBODY || spoil == FORCED_BEFORE_TIME) {
        hc_bits_put(bits, 1, 1);
        hc_bits_put(bits, spoil == FORCED_OF_NOBODY ? head->own_count : 0, 2);
        hc_delta_put_number(bits, spoil == FORCED_BEFORE_TIME ? head->tick + 1 : 0, 5);
        hc_delta_put_number(bits, 0, 3);
    }
    hc_snapshot_put_end(bits);
    if (spoil == CONTROL_OF_NOBODY || spoil == CONTROL_BEFORE_TIME) {
        hc_bits_put(bits, 1, 1);
        hc_delta_put_number(bits, spoil == CONTROL_OF_NOBODY ? world->players : 0, 6);
        hc_delta_put_number(bits, spoil == CONTROL_BEFORE_TIME ? head->tick * 2 + 1 : 0, 4);
        hc_bits_put(bits, 0, 1);
    }
    hc_snapshot_put_end(bits);
}

/// Names of units; none is told again, for it names no base that the client has.
static void put_units(struct hc_bits_writer *bits, const struct hc_world *world,
                      enum spoilt spoil) {
    bool one = spoil == NO_BASE || spoil == UNIT_BEYOND;
    hc_delta_put_number(bits,
                        spoil == TOO_MANY_UNITS ? HC_SNAPSHOT_UNITS_MAX + 1
                        : spoil == UNIT_ABSURD  ? HC_SNAPSHOT_UNITS_MAX
                                                : one,
                        4);
    if (!one)
        return;
    hc_delta_put_number(bits, spoil == UNIT_BEYOND ? hc_unit_total(world) : 0, 4);
    if (spoil == NO_BASE) { // against the one before the base; no change follows
        hc_bits_put(bits, 1, 1);
        hc_bits_put(bits, 0, 6);
        hc_bits_put(bits, 1, 1);
    } else {
        hc_bits_put(bits, 0, 2); // dropped
    }
}

static void put_corrections(struct hc_bits_writer *bits, const struct hc_world *world,
                            const struct hc_snapshot *head, enum spoilt spoil) {
    if (spoil >= CORRECTION_BEFORE_TIME && spoil <= CORRECTION_LOST) {
        hc_bits_put(bits, 1, 1);
        hc_delta_put_number(bits, spoil == CORRECTION_BEFORE_TIME ? head->tick : 0, 3);
        hc_delta_put_number(bits, 0, 3);
        hc_delta_put_number(bits, spoil == CORRECTION_BEYOND ? hc_unit_total(world) : 0, 2);
        hc_bits_put(bits, spoil == CORRECTION_LOST, 1);
        if (spoil == CORRECTION_LOST)
            hc_bits_put(bits, 0, 8); // what the head before told, at what it showed
        hc_bits_put(bits, 1, 1);
    }
    hc_snapshot_put_end(bits);
}

/// Its bits, in `packed`; returns how many bytes.
static size_t put_spoilt(const struct hc_client *core, enum spoilt spoil, uint8_t *packed,
                         size_t size) {
    const struct hc_world *world = &core->world;
    struct hc_snapshot head = core->newest.snapshot;
    struct hc_bits_writer bits = hc_bits_writer(packed, size);
    hc_tick on = spoil == OLD_HEAD ? 0 : 2;
    head.as_of += on;
    head.tick += on;
    head.late_limit += on;
    head.final += on;
    for (unsigned i = 0; i < head.own_count; i++)
        head.complete[i] += on;
    if (spoil == BEFORE_TIME)
        head.as_of -= 32000;
    head.has_chain = false;
    head.hash = spoil == HASH;
    // Of the head before it there is no snapshot, nor will be.
    head.base = spoil == LOST_BASE ? head.as_of - 1 : HC_NO_TICK;
    if (spoil == BEFORE_TIME)
        head.tick = head.late_limit = head.final = head.as_of;
    hc_snapshot_put(&bits, &head);
    put_lists(&bits, world, &head, spoil);
    put_units(&bits, world, spoil);
    put_corrections(&bits, world, &head, spoil);
    size_t written = hc_bits_written(&bits), used = hc_bits_finish(&bits);
    HC_ASSERT(used > 0);
    if (spoil == CUT)
        used--;
    if (spoil == LONGER)
        packed[used++] = 0;
    if (spoil == PADDED && written % 8 != 0)
        packed[used - 1] |= 0x80;
    else if (spoil == PADDED)
        packed[used++] = 0x80;
    return used;
}

static void refuse_snapshots(struct target *target) {
    const struct hc_client *core = hc_sim_client(target->match->sim, (unsigned)target->client);
    for (unsigned spoil = SOUND + 1; spoil < SPOILTS; spoil++) {
        uint8_t packed[256], bytes[512];
        struct hc_writer writer = hc_bytes_writer(bytes, sizeof bytes);
        struct hc_data data = target->data;
        data.seq = target->seq++;
        if ((spoil == BEFORE_TIME && core->newest.snapshot.as_of >= 30000) ||
            (spoil == FORCED_OF_NOBODY && core->welcome.own_count == HC_OWN_PLAYERS_MAX) ||
            (spoil == FORCED_BEFORE_TIME && core->welcome.own_count == 0))
            continue;
        size_t size = put_spoilt(core, (enum spoilt)spoil, packed, sizeof packed);
        if (hc_snapshot_put_message(&writer, packed, size))
            refuse_body(target, spoilt_what[spoil], data, bytes, writer.at);
    }
}

/// What all of these were made of is taken, last: so each was refused for what was wrong with it.
static void take_sound(struct target *target) {
    const struct hc_client *core = hc_sim_client(target->match->sim, (unsigned)target->client);
    uint8_t packed[256], bytes[HC_DATAGRAM_MAX];
    struct hc_data data = target->data;
    struct hc_writer writer = hc_bytes_writer(bytes + HC_DATA_BODY_AT, HC_DATA_BODY_MAX);
    data.seq = target->seq++;
    size_t size = put_spoilt(core, SOUND, packed, sizeof packed);
    if (!hc_snapshot_put_message(&writer, packed, size))
        return;
    data.body = bytes + HC_DATA_BODY_AT;
    data.body_size = writer.at;
    enum hc_status status = hand(target, bytes, hc_datagram_put_data(&data, bytes));
    if (status != HC_OK)
        storm_fail(target->match->verdict, STORM_WRONG, "broken", 0,
                   "client %d refuses a snapshot that is sound: %s", target->client,
                   hc_status_text(status));
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
            hc_body_begin(&body, down.body, down.body_size) == HC_OK && body.count > 0 &&
            hc_body_next(&body) != HC_MESSAGE_EVENTS) // both say these
            refuse_body(target, "that speaks like a server", data, down.body, down.body_size);
    }
}

/// Messages, good and bad, that must not follow a SNAPSHOT.
static void refuse_appended(struct target *target) {
    static const struct fault {
        const char *what;
        uint8_t size, bytes[8];
    } faults[] = {
        {"with a message unheard of", 3, {0x92, 9, 0}},
        {"with a value that is no message", 1, {7}},
        {"with a CLOSE after its SNAPSHOT", 3, {0x92, HC_MESSAGE_CLOSE, 0}},
        {"with two SNAPSHOTs", 5, {0x92, HC_MESSAGE_SNAPSHOT, 0xc4, 1, 0}},
        {"with a value more", 1, {0}},
    };
    const struct hc_client *core = hc_sim_client(target->match->sim, (unsigned)target->client);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        uint8_t packed[256], bytes[512];
        struct hc_writer writer = hc_bytes_writer(bytes, sizeof bytes);
        struct hc_data data = target->data;
        data.seq = target->seq++;
        size_t size = put_spoilt(core, SOUND, packed, sizeof packed);
        if (!hc_snapshot_put_message(&writer, packed, size))
            continue;
        memcpy(bytes + writer.at, faults[i].bytes, faults[i].size);
        refuse_body(target, faults[i].what, data, bytes, writer.at + faults[i].size);
    }
}

/// The window ends 256 numbers behind the newest: last, for two of these are taken.
static void try_window(struct target *target) {
    static const struct {
        uint32_t behind;
        enum hc_status status;
    } tries[] = {{0, HC_OK},
                 {HC_REPLAY_WINDOW, HC_TOO_OLD},
                 {HC_REPLAY_WINDOW - 1, HC_OK},
                 {HC_REPLAY_WINDOW - 1, HC_DUPLICATE}};
    struct hc_data data = target->data;
    uint32_t newest = target->seq + 2 * HC_REPLAY_WINDOW;
    for (size_t i = 0; i < sizeof tries / sizeof tries[0]; i++) {
        uint8_t bytes[HC_DATAGRAM_MAX];
        data.seq = newest - tries[i].behind;
        data.body_size = 0;
        enum hc_status status = hand(target, bytes, hc_datagram_put_data(&data, bytes));
        if (status != tries[i].status)
            storm_fail(target->match->verdict, STORM_WRONG, "broken", 0,
                       "a datagram that is %u numbers behind the newest is judged: %s",
                       tries[i].behind, hc_status_text(status));
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
    refuse_snapshots(&target);
    refuse_speech(&target);
    refuse_appended(&target);
    take_sound(&target);
    if (hc_client_state(core) == state)
        try_window(&target);
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
    try_window(&target);
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
