/// Tests server/daemon/doors: a worker with several doors reads one after another, and each
/// datagram leaves by the door of its destination.
#include "server/daemon/doors.h"
#include "tests/run_suite.h"

#include <string.h>

/// A door whose datagrams the test makes. Its peers have its `net` as the first byte of their
/// address; every address is a peer of the door of net 0.
struct fake {
    struct hc_sv_door door;
    uint8_t net;
    unsigned waiting[HC_SV_DOOR_LANES]; ///< datagrams of each lane
    unsigned sent;
    uint32_t sizes; ///< The sum of their sizes.
    bool closed;
};

static struct fake web, udp, fresh;
static struct hc_sv_doors doors;

static unsigned receive(struct hc_sv_door *door, enum hc_sv_door_lane lane) {
    struct fake *fake = (struct fake *)door;
    unsigned count = fake->waiting[lane], most = hc_sv_door_batch(lane);
    count = count < most ? count : most;
    for (unsigned i = 0; i < count; i++)
        door->in[i] = (struct hc_sv_datagram){.size = fake->net};
    fake->waiting[lane] -= count;
    return count;
}

static unsigned send_own(struct hc_sv_door *door, struct hc_sv_outgoing **out, unsigned count) {
    struct fake *fake = (struct fake *)door;
    unsigned others = 0;
    for (unsigned i = 0; i < count; i++) {
        if (fake->net != 0 && out[i]->to.ip[0] != fake->net) {
            out[others++] = out[i];
            continue;
        }
        fake->sent++;
        fake->sizes += out[i]->size;
    }
    return others;
}

static struct hc_sv_door *share(const struct hc_sv_door *door) {
    if (door != &web.door)
        return NULL; // no descriptors
    fresh = web;
    return &fresh.door;
}

static void close_fake(struct hc_sv_door *door) {
    ((struct fake *)door)->closed = true;
}

static struct hc_sv_door_facts facts(const struct hc_sv_door *door) {
    return (struct hc_sv_door_facts){.capacity = door == &web.door ? 10 : 20,
                                     .receive_buffer = door == &web.door ? 1 : 2};
}

static struct hc_sv_door_stats stats(struct hc_sv_door *door) {
    return (struct hc_sv_door_stats){.sorted = door == &udp.door,
                                     .send_errors = 1,
                                     .receive_drops = ((struct fake *)door)->net + 2u,
                                     .handshake_drops = 3};
}

static const struct hc_sv_door_kind kind = {.receive = receive,
                                            .send = send_own,
                                            .share = share,
                                            .close = close_fake,
                                            .facts = facts,
                                            .stats = stats};

static void set_up(void) {
    web = (struct fake){.door.kind = &kind, .net = 7};
    udp = (struct fake){.door.kind = &kind};
    memset(&doors, 0, sizeof doors);
    doors.count = 2;
    doors.all[0] = &web.door;
    doors.all[1] = &udp.door;
}

START_TEST(each_door_is_read_to_its_end_in_turn) {
    static const struct {
        unsigned count;
        uint8_t net;
        bool more;
    } expected[] = {{64, 7, true}, {36, 7, true}, {64, 0, true}, {1, 0, false}, {0, 7, true}};
    web.waiting[HC_SV_DOOR_DATA] = 100;
    udp.waiting[HC_SV_DOOR_DATA] = 65;
    for (unsigned i = 0; i < sizeof expected / sizeof *expected; i++) {
        struct hc_sv_batch batch = hc_sv_doors_receive(&doors, HC_SV_DOOR_DATA);
        ck_assert_uint_eq(batch.count, expected[i].count);
        ck_assert_int_eq(batch.more, expected[i].more);
        if (batch.count > 0)
            ck_assert_uint_eq(batch.datagrams[batch.count - 1].size, expected[i].net);
    }
}
END_TEST

START_TEST(lanes_have_turns_of_their_own_and_a_lane_that_a_door_lacks_is_empty) {
    web.door.descriptors[HC_SV_DOOR_CONNECT] = -1;
    web.waiting[HC_SV_DOOR_CONNECT] = 1; // it is never asked for it
    udp.waiting[HC_SV_DOOR_CONNECT] = HC_SV_DOOR_CONNECTS + 1;
    udp.waiting[HC_SV_DOOR_DATA] = 1;
    struct hc_sv_batch batch = hc_sv_doors_receive(&doors, HC_SV_DOOR_CONNECT);
    ck_assert(batch.count == 0 && batch.more);
    batch = hc_sv_doors_receive(&doors, HC_SV_DOOR_DATA); // of the first door still
    ck_assert(batch.count == 0 && batch.more);
    batch = hc_sv_doors_receive(&doors, HC_SV_DOOR_CONNECT);
    ck_assert(batch.count == HC_SV_DOOR_CONNECTS && batch.more);
    batch = hc_sv_doors_receive(&doors, HC_SV_DOOR_CONNECT);
    ck_assert(batch.count == 1 && !batch.more);
    batch = hc_sv_doors_receive(&doors, HC_SV_DOOR_DATA);
    ck_assert(batch.count == 1 && !batch.more);
}
END_TEST

START_TEST(each_datagram_leaves_by_the_door_of_its_destination) {
    struct hc_address to = {.port = 1};
    uint32_t web_sizes = 0, udp_sizes = 0;
    for (unsigned i = 0; i < HC_SV_DOOR_BATCH + 10; i++) {
        to.ip[0] = i % 3 == 0 ? web.net : (uint8_t)i | 8;
        *(i % 3 == 0 ? &web_sizes : &udp_sizes) += i;
        hc_sv_doors_room(&doors)[0] = 1;
        hc_sv_doors_queue(&doors, &to, i);
        ck_assert_uint_eq(web.sent + udp.sent, i + 1 < HC_SV_DOOR_BATCH ? 0 : HC_SV_DOOR_BATCH);
    }
    hc_sv_doors_flush(&doors);
    ck_assert_uint_eq(web.sent, (HC_SV_DOOR_BATCH + 12) / 3);
    ck_assert_uint_eq(web.sent + udp.sent, HC_SV_DOOR_BATCH + 10);
    ck_assert_uint_eq(web.sizes, web_sizes);
    ck_assert_uint_eq(udp.sizes, udp_sizes);
}
END_TEST

START_TEST(counts_and_capacity_are_of_all_doors) {
    struct hc_sv_door_stats sum = hc_sv_doors_stats(&doors);
    ck_assert(sum.sorted && sum.send_errors == 2 && sum.receive_drops == 11);
    ck_assert_uint_eq(sum.handshake_drops, 6);
    struct hc_sv_door_facts all = hc_sv_doors_facts(&doors);
    ck_assert(all.capacity == 10 && all.receive_buffer == 2);
}
END_TEST

START_TEST(a_worker_without_all_doors_for_another_thread_has_none) {
    ck_assert_ptr_null(hc_sv_doors_share(&doors));
    ck_assert(fresh.closed && !web.closed && !udp.closed);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("server_doors");
    TCase *tc = tcase_create("doors");
    tcase_add_checked_fixture(tc, set_up, NULL);
    tcase_add_test(tc, each_door_is_read_to_its_end_in_turn);
    tcase_add_test(tc, lanes_have_turns_of_their_own_and_a_lane_that_a_door_lacks_is_empty);
    tcase_add_test(tc, each_datagram_leaves_by_the_door_of_its_destination);
    tcase_add_test(tc, counts_and_capacity_are_of_all_doors);
    tcase_add_test(tc, a_worker_without_all_doors_for_another_thread_has_none);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
