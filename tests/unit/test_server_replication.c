/// The replication without a host: one world, one client, and the client's reader of snapshots.
#include "client/world/snapshot_reader.h"
#include "hindcast/arena.h"
#include "hindcast/rng.h"
#include "server/replication/listing.h"
#include "server/replication/look.h"
#include "server/replication/priority.h"
#include "server/replication/snapshot.h"
#include "tests/run_suite.h"

#include <stdlib.h>
#include <string.h>

enum {
    FEW = 6, ///< players
    CROWD = 24,
    LATE = 1, ///< the first player whose inputs come late
    RATE = 60,
    TICK_US = 1000000 / RATE,
    CLIENT_RATE = 262144,
    SHOWN_BACK = 20, ///< ticks before the head that the client still shows
};

static struct hc_game game; ///< the arena
static struct hc_world world;
static struct hc_timeline *timeline;
static struct hc_sv_replicator replicator;
static struct hc_sv_client client;
static struct hc_cl_snapshot_reader *reader;
static struct hc_rng rng;
static uint8_t *memory;
static uint32_t seq;
static uint16_t players, late; ///< how many, and how many of them have late inputs
static uint32_t room_most;     ///< of a snapshot, bytes
static uint32_t body_max;      ///< The body of the connection has at most so many bytes.

/// A snapshot under way.
struct sent {
    uint32_t seq;
    uint8_t bytes[HC_DATA_BODY_MAX];
    size_t size;
    struct hc_server_stats stats; ///< of it alone
};

static hc_tick head(void) {
    return hc_timeline_head(timeline);
}

static uint64_t now_us(void) {
    return head() * (uint64_t)TICK_US;
}

/// Gives every player, the late ones apart unless `all`, an input for the head, and simulates a
/// tick.
static void pass(bool all) {
    for (hc_player p = 0; p < players && head() > 0; p++) {
        struct hc_arena_input input = {.move_x = (int8_t)(hc_rng_below(&rng, 3) - 1),
                                       .move_y = (int8_t)(hc_rng_below(&rng, 3) - 1),
                                       .aim = (uint8_t)hc_rng_below(&rng, 256),
                                       .fire = 1};
        if (p >= LATE && p < LATE + late && !all)
            continue;
        ck_assert_int_eq(hc_timeline_put_input(timeline, p, head(), &input), HC_OK);
        hc_sv_roster_input(&replicator.roster, p, head());
    }
    hc_timeline_advance(timeline);
    hc_sv_replicator_advance(&replicator, hc_tick_back(head(), SHOWN_BACK));
    hc_sv_listing_keep_up(&replicator, &client);
    hc_sv_client_report(&client, head(), SHOWN_BACK);
}

static void join(hc_player player) {
    ck_assert_int_eq(hc_timeline_put_roster(timeline, player, head(), HC_ROSTER_JOIN), HC_OK);
    hc_sv_roster_stamp(&replicator.roster, player, head(), HC_ROSTER_JOIN);
}

static void set_up_of(uint16_t count) {
    rng = hc_rng_init(91, 0);
    seq = 0;
    players = count;
    late = 1;
    room_most = UINT32_MAX;
    body_max = HC_DATA_BODY_MAX;
    ck_assert_int_eq(hc_world_init(&world, &game, players, RATE, 1, NULL), HC_OK);
    struct hc_timeline_config config = hc_timeline_config_default();
    config.world = &world;
    timeline = hc_timeline_create(&config);
    ck_assert_ptr_nonnull(timeline);
    struct hc_sv_replicator_config shared = {.world = &world,
                                             .timeline = timeline,
                                             .clients = 1,
                                             .history = config.history,
                                             .future = config.future};
    ck_assert(hc_sv_replicator_init(&replicator, &shared));
    size_t bytes = hc_sv_client_layout(&client, &replicator, NULL);
    memory = malloc(bytes);
    memset(memory, 0xa5, bytes);
    ck_assert_uint_eq(hc_sv_client_layout(&client, &replicator, memory), bytes);
    hc_sv_client_open(&client);
    hc_sv_client_connect(&client, 1, 3, CLIENT_RATE, 0);
    client.own_count = 1;
    client.own[0] = 0;
    reader = hc_cl_snapshot_reader_create(&world, client.own_count);
    ck_assert_ptr_nonnull(reader);
    hc_timeline_start(timeline);
    for (hc_player p = 0; p < players; p++)
        join(p);
    pass(true);
}

static void set_up(void) {
    game = hc_arena;
    set_up_of(FEW);
}

static void set_up_crowd(void) {
    game = hc_arena;
    set_up_of(CROWD);
}

static void set_up_seeing_all(void) {
    game = hc_arena;
    game.view = 0;
    set_up_of(FEW);
}

static void tear_down(void) {
    hc_cl_snapshot_reader_destroy(reader);
    free(memory);
    hc_sv_replicator_free(&replicator);
    hc_timeline_destroy(timeline);
    hc_world_free(&world);
}

static struct sent send_snapshot(void) {
    struct sent sent = {.seq = ++seq};
    struct hc_sv_snapshot_datagram datagram = {.seq = sent.seq,
                                               .refused_before = head(),
                                               .room =
                                                   hc_sv_snapshot_room(&client, body_max, now_us()),
                                               .every = 1};
    struct hc_writer body = hc_bytes_writer(sent.bytes, body_max);
    if (datagram.room > room_most)
        datagram.room = room_most;
    hc_sv_look(&replicator, &client);
    hc_sv_snapshot_send(&replicator, &client, &datagram, &body, &sent.stats);
    sent.size = body.at;
    return sent;
}

/// Reads a snapshot; every value must equal the timeline's. Returns what was received.
static const struct hc_cl_received *receive(const struct sent *sent) {
    static struct hc_body body;
    const struct hc_cl_received *received = NULL;
    ck_assert_int_eq(hc_body_begin(&body, sent->bytes, sent->size), HC_OK);
    ck_assert_int_eq(hc_body_next(&body), HC_MESSAGE_SNAPSHOT);
    ck_assert_int_eq(hc_cl_snapshot_reader_read(reader, &body, head(), &received), HC_OK);
    ck_assert_uint_gt(received->value_count, 0);
    for (uint32_t i = 0; i < received->value_count; i++) {
        const struct hc_cl_received_value *is = &received->values[i];
        size_t first = hc_unit_first(&world, is->unit), count = hc_unit_count(&world, is->unit);
        if (is->dropped)
            continue;
        const uint8_t *presence = hc_timeline_presence(timeline, is->value.tick) + first;
        const uint8_t *states = hc_timeline_states(timeline, is->value.tick) + first * world.stride;
        ck_assert_mem_eq(is->value.presence, presence, count);
        ck_assert_mem_eq(is->value.states, states, count * world.stride);
    }
    return received;
}

/// The client receives a snapshot, and its ack comes back.
static void ack(const struct sent *sent) {
    receive(sent);
    hc_sv_client_acked(&client, sent->seq);
    for (uint32_t lost = 1; lost + HC_LOST_AFTER <= sent->seq; lost++)
        hc_sv_client_lost(&client, lost);
}

START_TEST(every_value_is_read_as_the_timeline_has_it) {
    uint32_t values = 0;
    for (unsigned tick = 0; tick < 300; tick++) {
        struct sent sent = send_snapshot();
        if (hc_rng_below(&rng, 4) != 0) {
            values += receive(&sent)->value_count;
            hc_sv_client_acked(&client, sent.seq);
        }
        pass(true);
    }
    ck_assert_uint_gt(values, 300);
}
END_TEST

START_TEST(an_acked_snapshot_becomes_the_baseline_and_an_unacked_one_does_not) {
    struct sent first = send_snapshot();
    hc_tick base = head();
    ck_assert_uint_eq(receive(&first)->header.base, HC_NO_TICK);
    pass(true);
    struct sent second = send_snapshot();
    ck_assert_uint_eq(receive(&second)->header.base, HC_NO_TICK);
    hc_sv_client_acked(&client, first.seq);
    pass(true);
    struct sent third = send_snapshot();
    ck_assert_uint_eq(receive(&third)->header.base, base);
    ck_assert_uint_lt(third.size, first.size);
}
END_TEST

START_TEST(each_value_of_a_single_client_counts_as_an_encoded_delta) {
    for (unsigned tick = 0; tick < 10; tick++) {
        struct sent sent = send_snapshot();
        ck_assert_uint_eq(sent.stats.deltas_encoded, receive(&sent)->value_count);
        ck_assert_uint_eq(sent.stats.deltas_reused, 0);
        hc_sv_client_acked(&client, sent.seq);
        pass(true);
    }
}
END_TEST

START_TEST(a_lost_correction_is_sent_again) {
    for (unsigned tick = 0; tick < 10; tick++) {
        struct sent sent = send_snapshot();
        ack(&sent);
        pass(tick < 4); // then the inputs of LATE are predicted
    }
    struct hc_arena_input input = {.move_x = 1, .move_y = 1, .aim = 77};
    ck_assert_int_eq(hc_timeline_put_input(timeline, LATE, head() - 5, &input), HC_OK);
    pass(false);
    struct sent lost = send_snapshot();
    ck_assert_uint_gt(lost.stats.corrections, 0);
    ck_assert_uint_eq(lost.stats.snapshots_rewound, 0); // it shows the head
    for (unsigned i = 1; i < HC_LOST_AFTER; i++) {
        pass(false);
        struct sent sent = send_snapshot();
        ck_assert_uint_eq(sent.stats.corrections, 0); // the first may still arrive
        ack(&sent);
    }
    pass(false);
    struct sent sent = send_snapshot();
    ck_assert_uint_eq(sent.stats.corrections, 0);
    ack(&sent); // which proves the loss
    pass(false);
    struct sent again = send_snapshot();
    ck_assert_uint_ge(again.stats.corrections, lost.stats.corrections);
    ack(&again);
    pass(false);
    ck_assert_uint_eq(send_snapshot().stats.corrections, 0);
}
END_TEST

START_TEST(corrections_that_do_not_fit_follow_in_later_snapshots_and_none_is_repeated) {
    bool seen[FEW][256] = {{false}}; // by tick
    uint32_t corrections = 0, snapshots = 0;
    late = FEW - LATE;
    for (unsigned tick = 0; tick < 10; tick++) {
        struct sent sent = send_snapshot();
        ack(&sent);
        pass(tick < 4);
    }
    struct hc_arena_input input = {.move_x = 1, .move_y = 1, .aim = 77};
    for (hc_player p = LATE; p < LATE + late; p++)
        ck_assert_int_eq(hc_timeline_put_input(timeline, p, head() - 5, &input), HC_OK);
    pass(false);
    room_most = 120;
    for (struct sent sent = send_snapshot(); sent.stats.corrections > 0; sent = send_snapshot()) {
        const struct hc_cl_received *received = receive(&sent);
        for (uint32_t i = 0; i < received->value_count; i++) {
            const struct hc_cl_received_value *is = &received->values[i];
            hc_player player = hc_unit_player(&world, is->unit);
            if (player == HC_NO_PLAYER || is->value.tick == received->header.tick)
                continue;
            ck_assert_msg(!seen[player][is->value.tick], "player %u at %u", player, is->value.tick);
            seen[player][is->value.tick] = true;
            corrections++;
        }
        snapshots++;
        pass(false);
    }
    ck_assert_uint_ge(corrections, 4 * late);
    ck_assert_uint_ge(snapshots, 3);
}
END_TEST

START_TEST(forced_inputs_joins_and_leaves_are_repeated_until_one_snapshot_with_them_is_acked) {
    hc_sv_lists_force(client.lists, 0, head() - 1, 1);
    for (unsigned i = 0; i < 4; i++) {
        struct sent sent = send_snapshot();
        const struct hc_cl_received *received = receive(&sent);
        ck_assert_uint_eq(received->forced_count, i < 3);
        ck_assert_uint_eq(received->roster_count, i < 3 ? players - 1 : 0); // all but its own
        if (i == 2)
            hc_sv_client_acked(&client, sent.seq);
        pass(true);
    }
}
END_TEST

START_TEST(a_leave_at_the_tick_of_a_snapshot_is_in_it) {
    for (unsigned i = 0; i < 2; i++, pass(true)) {
        struct sent sent = send_snapshot();
        ack(&sent); // the joins
    }
    hc_player last = --players;
    ck_assert_int_eq(hc_timeline_put_roster(timeline, last, head(), HC_ROSTER_LEAVE), HC_OK);
    hc_sv_roster_stamp(&replicator.roster, last, head(), HC_ROSTER_LEAVE);
    struct sent sent = send_snapshot();
    const struct hc_cl_received *received = receive(&sent);
    ck_assert_uint_eq(received->header.tick, head());
    ck_assert_uint_eq(received->roster_count, 1);
    ck_assert_uint_eq(received->roster_changes[0].player, last);
    ck_assert_uint_eq(received->roster_changes[0].tick, head());
    hc_sv_client_acked(&client, sent.seq);
    pass(true);
    sent = send_snapshot();
    ck_assert_uint_eq(receive(&sent)->roster_count, 0);
}
END_TEST

START_TEST(a_client_without_bandwidth_has_no_room_for_a_snapshot) {
    ck_assert_uint_eq(hc_sv_snapshot_room(&client, body_max, now_us()),
                      HC_DATA_BODY_MAX - HC_SNAPSHOT_OVERHEAD);
    hc_sv_bandwidth_spend(&client.bandwidth, CLIENT_RATE);
    ck_assert_uint_eq(hc_sv_snapshot_room(&client, body_max, now_us()), 0);
}
END_TEST

/// Leaves the client so many body bytes to spend.
static void leave_room(int32_t room) {
    uint32_t burst = CLIENT_RATE * HC_SV_BANDWIDTH_BURST_MS / 1000;
    hc_sv_bandwidth_begin(&client.bandwidth, CLIENT_RATE, now_us());
    hc_sv_bandwidth_spend(&client.bandwidth, burst - 2 * HC_SV_BANDWIDTH_OVERHEAD - (uint32_t)room);
    ck_assert_int_eq(hc_sv_bandwidth_room(&client.bandwidth, HC_DATA_BODY_MAX, now_us()), room);
}

START_TEST(every_snapshot_has_the_referee_and_the_own_players_in_any_room) {
    unsigned beyond = 0;
    hc_cl_snapshot_reader_destroy(reader);
    for (hc_player p = 0; p < HC_OWN_PLAYERS_MAX; p++)
        client.own[p] = p;
    client.own_count = HC_OWN_PLAYERS_MAX;
    reader = hc_cl_snapshot_reader_create(&world, client.own_count);
    for (unsigned tick = 0; tick < 300; tick++) {
        int32_t room = 160 + (int32_t)hc_rng_below(&rng, 200);
        for (hc_player p = 0; p < HC_OWN_PLAYERS_MAX && tick % 3 == 0; p++)
            hc_sv_lists_force(client.lists, p, head() - 1, 1);
        leave_room(room);
        struct sent sent = send_snapshot();
        const struct hc_cl_received *received = receive(&sent);
        unsigned own = 0;
        for (uint32_t i = 0; i < received->value_count; i++)
            own += hc_sv_client_owns_unit(&client, received->values[i].unit);
        ck_assert_uint_eq(own, 1 + HC_OWN_PLAYERS_MAX);
        if ((int32_t)sent.size > room) {
            beyond++;
            ck_assert_uint_eq(received->value_count, own);
            ck_assert_uint_eq(sent.stats.corrections, 0);
            ck_assert_int_lt(client.bandwidth.saved, 0);
        }
        pass(true);
    }
    ck_assert_uint_gt(beyond, 0);
}
END_TEST

/// The client's acks are lost, so that each snapshot would take more than a small body has.
START_TEST(a_snapshot_fits_into_the_body_of_its_connection) {
    unsigned full = 0;
    for (unsigned tick = 0; tick < 300; tick++) {
        body_max = 300 + hc_rng_below(&rng, 800);
        struct sent sent = send_snapshot();
        receive(&sent);
        ck_assert_uint_le(sent.size, body_max);
        full += sent.size + 64 > body_max;
        pass(true);
    }
    ck_assert_uint_gt(full, 50);
}
END_TEST

START_TEST(a_unit_that_waits_gains_the_priority_of_a_changed_one) {
    uint32_t far = 0;
    uint32_t waiting = 0;
    hc_sv_priority_grow(&far, true, 1, 1);
    struct sent sent = send_snapshot();
    ack(&sent);
    for (unsigned tick = 0; tick < 400; tick++) // no baseline is left
        pass(true);
    leave_room(160);
    send_snapshot();
    const struct hc_sv_view *view = &client.interest.view;
    for (const struct hc_sv_slot *slot = hc_sv_view_slot(view, view->first); slot != NULL;
         slot = hc_sv_view_slot(view, slot->next)) {
        if (hc_unit_player(&world, slot->unit) == HC_NO_PLAYER)
            continue;
        waiting += slot->score > 0;
        ck_assert(slot->score == 0 || slot->score >= far);
    }
    ck_assert_uint_gt(waiting, 0);
}
END_TEST

START_TEST(a_new_connection_of_a_client_begins_without_baselines_and_with_its_players) {
    struct sent sent = send_snapshot();
    ack(&sent);
    hc_sv_client_connect(&client, 2, 3, CLIENT_RATE, now_us());
    hc_cl_snapshot_reader_destroy(reader);
    reader = hc_cl_snapshot_reader_create(&world, client.own_count);
    pass(true);
    sent = send_snapshot();
    ck_assert_uint_eq(receive(&sent)->header.base, HC_NO_TICK);
    ck_assert(hc_sv_client_owns(&client, 0));
}
END_TEST

/// Every player moves as before, but `turns`, if it is one, to another side; then a tick passes.
static void pass_steadily(hc_player turns) {
    static struct hc_arena_input inputs[CROWD];
    if (turns < players) {
        struct hc_arena_input before = inputs[turns];
        inputs[turns].move_x = (int8_t)(inputs[turns].move_x <= 0);
        hc_sv_replicator_turn(&replicator, turns, (const uint8_t *)&before,
                              (const uint8_t *)&inputs[turns]);
    }
    for (hc_player p = 0; p < players; p++) {
        inputs[p].aim++; // is no key
        ck_assert_int_eq(hc_timeline_put_input(timeline, p, head(), &inputs[p]), HC_OK);
        hc_sv_roster_input(&replicator.roster, p, head());
    }
    hc_timeline_advance(timeline);
    hc_sv_replicator_advance(&replicator, hc_tick_back(head(), SHOWN_BACK));
    hc_sv_listing_keep_up(&replicator, &client);
    hc_sv_client_report(&client, head(), 0);
}

static bool has_unit(const struct hc_cl_received *received, hc_unit unit) {
    for (uint32_t i = 0; i < received->value_count; i++)
        if (received->values[i].unit == unit && !received->values[i].correction)
            return true;
    return false;
}

START_TEST(every_other_snapshot_of_a_crowd_is_whole_and_a_player_that_turns_is_sent_at_once) {
    hc_tick sent_at[CROWD + 1];
    uint32_t values = 0, most = 0;
    for (hc_unit unit = 1; unit <= players; unit++)
        sent_at[unit] = head() + 30;
    for (unsigned tick = 0; tick < 200; tick++) {
        hc_player turned = tick % 5 == 0 ? (hc_player)(1 + hc_rng_below(&rng, CROWD - 1u)) : CROWD;
        pass_steadily(turned);
        struct sent sent = send_snapshot();
        const struct hc_cl_received *received = receive(&sent);
        hc_sv_client_acked(&client, sent.seq);
        if (tick < 30) // until the client knows all
            continue;
        ck_assert_uint_eq(received->header.tick, head());
        ck_assert(turned == CROWD || has_unit(received, turned + 1));
        ck_assert(has_unit(received, HC_REFEREE) && has_unit(received, 1)); // the own player
        for (hc_unit unit = 1; unit <= players; unit++) {
            if (has_unit(received, unit))
                sent_at[unit] = head();
            ck_assert_uint_le(head() - sent_at[unit], HC_SV_WHOLE_EVERY - 1);
            ck_assert(!hc_sv_cadence_is_whole(head()) || sent_at[unit] == head());
        }
        values += received->value_count;
        most += client.interest.view.count;
    }
    ck_assert_uint_lt(values, most * 6 / 10);
}
END_TEST

// ---- Early lists --------------------------------------------------------------------------------

enum { TICKS = 512, LISTED_MAX = 64, LATE_BY = 6, STANDING = 3 };

/// The newest early list of each tick that the client has received, ring by tick.
static struct list {
    hc_tick tick;
    uint32_t count;
    struct hc_cl_received_event events[LISTED_MAX];
} lists[TICKS];
static uint32_t sent_lists; ///< all that the client has received

static void take_lists(const struct hc_cl_received *received) {
    uint32_t at = received->event_count;
    for (uint32_t i = 0; i < received->early_count; i++) {
        struct list *list = &lists[received->early[i].tick % TICKS];
        *list = (struct list){.tick = received->early[i].tick};
        for (; at < received->early[i].end; at++)
            list->events[list->count++] = received->events[at];
    }
    sent_lists += received->early_count;
}

/// Whether the newest list of a tick is what the timeline has. Without a list nothing happened.
static bool is_listed(hc_tick tick) {
    const struct list *list = &lists[tick % TICKS];
    uint32_t at = 0, count;
    for (uint32_t e = 0; (e = hc_timeline_next_emitter(timeline, tick, e)) < world.entities; e++) {
        const hc_game_event *events = hc_timeline_events(timeline, tick, (hc_entity)e, &count);
        for (uint32_t i = 0; i < count; i++, at++)
            if (list->tick != tick || at >= list->count || list->events[at].entity != e ||
                list->events[at].event != events[i])
                return false;
    }
    return list->tick != tick || at == list->count;
}

/// A tick in which the inputs of the late player come LATE_BY ticks late, and `own` says whether
/// those of the client come.
static void pass_late(bool own) {
    struct hc_arena_input input = {.move_x = (int8_t)(hc_rng_below(&rng, 3) - 1),
                                   .aim = (uint8_t)hc_rng_below(&rng, 256),
                                   .fire = (uint8_t)hc_rng_below(&rng, 2)};
    if (head() > LATE_BY)
        ck_assert_int_eq(hc_timeline_put_input(timeline, LATE, head() - LATE_BY, &input), HC_OK);
    for (hc_player p = 0; p < players; p++)
        if (p != LATE && (p != 0 || own))
            ck_assert_int_eq(hc_timeline_put_input(timeline, p, head(), &input), HC_OK);
    hc_timeline_advance(timeline);
    hc_sv_replicator_advance(&replicator, hc_tick_back(head(), SHOWN_BACK));
}

static void begin_lists(void) {
    sent_lists = 0;
    for (unsigned i = 0; i < TICKS; i++)
        lists[i].tick = HC_NO_TICK;
    struct sent first = send_snapshot(); // what is listed is of later ticks
    ack(&first);
}

START_TEST(early_lists_say_what_the_timeline_has_of_each_open_tick_after_each_rewind) {
    uint32_t ticks = 0, all = 0;
    begin_lists();
    for (unsigned i = 0; i < 400; i++) {
        pass_late(true);
        struct sent sent = send_snapshot();
        const struct hc_cl_received *received = receive(&sent);
        take_lists(received);
        hc_sv_client_acked(&client, sent.seq);
        ck_assert_uint_eq(received->header.tick, head());
        for (hc_tick t = hc_tick_max(replicator.final, 1) + 1; t <= head(); t++)
            ck_assert_msg(is_listed(t), "tick %u at the head %u", t, head());
        ticks += lists[head() % TICKS].tick == head();
        all += hc_timeline_events_changed(timeline, head()) > 0;
    }
    ck_assert_uint_gt(ticks, 30);
    ck_assert_uint_gt(sent_lists, ticks + 20); // rewinds have changed some
    ck_assert_uint_le(ticks, all);             // and others have none
}
END_TEST

START_TEST(early_list_comes_with_the_state_of_its_tick_and_again_if_it_is_lost) {
    uint32_t stood = 0, lost = 0, old = 0, missing = 0;
    begin_lists();
    for (unsigned i = 0; i < 600; i++) {
        bool clean = i >= 588, standing = !clean && i % 9 < STANDING;
        static const struct hc_arena_input none;
        for (hc_tick t = hc_tick_back(head(), STANDING); t < head() && !standing; t++)
            hc_timeline_put_input(timeline, 0, t, &none); // the own inputs that did not come
        pass_late(!standing);
        struct sent sent = send_snapshot();
        if (clean || hc_rng_below(&rng, 3) != 0) {
            const struct hc_cl_received *received = receive(&sent);
            hc_tick tick = received->header.tick;
            take_lists(received);
            ck_assert_msg(tick <= replicator.final || is_listed(tick), "tick %u", tick);
            stood += tick < head();
            hc_sv_client_acked(&client, sent.seq);
        } else {
            lost++;
        }
        for (uint32_t s = 1; s + HC_LOST_AFTER <= seq; s++)
            hc_sv_client_lost(&client, s);
        hc_tick oldest = replicator.final + 1; // its list was lost three times in a row at most
        bool has_events = oldest < head() && hc_timeline_events_changed(timeline, oldest) > 0;
        old += has_events;
        missing += has_events && !is_listed(oldest);
    }
    for (hc_tick t = replicator.final + 1; t <= head(); t++)
        ck_assert_msg(is_listed(t), "tick %u at the head %u", t, head());
    ck_assert_uint_gt(old, 50);
    ck_assert_uint_lt(missing * 8, old); // one in three is lost
    ck_assert_uint_gt(stood, 50);
    ck_assert_uint_gt(lost, 100);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("server replication");
    TCase *tc = tcase_create("replication");
    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_add_test(tc, every_value_is_read_as_the_timeline_has_it);
    tcase_add_test(tc, an_acked_snapshot_becomes_the_baseline_and_an_unacked_one_does_not);
    tcase_add_test(tc, each_value_of_a_single_client_counts_as_an_encoded_delta);
    tcase_add_test(tc, a_lost_correction_is_sent_again);
    tcase_add_test(tc, corrections_that_do_not_fit_follow_in_later_snapshots_and_none_is_repeated);
    tcase_add_test(
        tc, forced_inputs_joins_and_leaves_are_repeated_until_one_snapshot_with_them_is_acked);
    tcase_add_test(tc, a_leave_at_the_tick_of_a_snapshot_is_in_it);
    tcase_add_test(tc, a_client_without_bandwidth_has_no_room_for_a_snapshot);
    tcase_add_test(tc, every_snapshot_has_the_referee_and_the_own_players_in_any_room);
    tcase_add_test(tc, a_unit_that_waits_gains_the_priority_of_a_changed_one);
    tcase_add_test(tc, a_new_connection_of_a_client_begins_without_baselines_and_with_its_players);
    suite_add_tcase(suite, tc);
    tc = tcase_create("crowd");
    tcase_add_checked_fixture(tc, set_up_crowd, tear_down);
    tcase_add_test(
        tc, every_other_snapshot_of_a_crowd_is_whole_and_a_player_that_turns_is_sent_at_once);
    tcase_add_test(tc, every_value_is_read_as_the_timeline_has_it);
    tcase_add_test(tc, a_snapshot_fits_into_the_body_of_its_connection);
    suite_add_tcase(suite, tc);
    tc = tcase_create("early lists");
    tcase_add_checked_fixture(tc, set_up_seeing_all, tear_down);
    tcase_add_test(tc, early_lists_say_what_the_timeline_has_of_each_open_tick_after_each_rewind);
    tcase_add_test(tc, early_list_comes_with_the_state_of_its_tick_and_again_if_it_is_lost);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
