/// Tests server/daemon/udp: lanes do not displace each other, and every lost datagram is counted.
#define _GNU_SOURCE // seteuid

#include "common/programs/clock.h"
#include "proto/token.h"
#include "server/daemon/doors.h"
#include "server/daemon/udp.h"
#include "tests/run_suite.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { AWAIT_MS = 60000 }; // only ends a wait that hangs

static struct hc_sv_door *udp;
static int sender;
static struct sockaddr_in to;

/// Opens the port of a daemon with so many workers; NULL in `*doors`: it cannot be had.
static bool open_port(const char *bind_to, uint16_t port, uint16_t workers,
                      struct hc_sv_door **doors) {
    const struct hc_sv_options options = {.bind = bind_to, .port = port, .workers = workers};
    char why[256] = "";
    bool opened = hc_sv_udp_open(&options, doors, why, sizeof why);
    ck_assert(opened || why[0] != '\0');
    return opened;
}

static void open_all(const char *bind_to) {
    ck_assert(open_port(bind_to, 0, 1, &udp));
    sender = socket(AF_INET, SOCK_DGRAM, 0);
    ck_assert_int_ge(sender, 0);
    to = (struct sockaddr_in){.sin_family = AF_INET,
                              .sin_port = htons(udp->kind->facts(udp).address.port),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static void close_all(void) {
    udp->kind->close(udp);
    close(sender);
}

static void send_kind(uint8_t kind, size_t size) {
    uint8_t bytes[HC_DATAGRAM_MAX] = {kind};
    ck_assert_int_eq(sendto(sender, bytes, size, 0, (struct sockaddr *)&to, sizeof to),
                     (ssize_t)size);
}

/// Waits until a lane has a datagram to read: the kernel may deliver it a while after the send.
static bool await_lane(enum hc_sv_door_lane lane) {
    struct pollfd readable = {.fd = udp->descriptors[lane], .events = POLLIN};
    return poll(&readable, 1, AWAIT_MS) == 1;
}

/// Reads all datagrams of a lane, at least `least`, and returns their number. Each must begin with
/// `kind` (0: any byte).
static unsigned read_all(enum hc_sv_door_lane lane, uint8_t kind, unsigned least) {
    unsigned sum = 0, count;
    while ((sum >= least || await_lane(lane)) && (count = udp->kind->receive(udp, lane)) > 0) {
        for (unsigned i = 0; i < count; i++) {
            const struct hc_sv_datagram *datagram = &udp->in[i];
            ck_assert(kind == 0 || datagram->size == 0 || datagram->bytes[0] == kind);
        }
        sum += count;
    }
    return sum;
}

/// Whether this kernel sorts: otherwise only the DATA lane exists.
static bool sorts(void) {
    return udp->descriptors[HC_SV_DOOR_HELLO] >= 0;
}

static bool has_ipv6(void) {
    int descriptor = socket(AF_INET6, SOCK_DGRAM, 0);
    if (descriptor >= 0)
        close(descriptor);
    return descriptor >= 0;
}

START_TEST(first_byte_of_a_datagram_selects_its_lane_over_ipv4_and_ipv6) {
    for (unsigned family = 0; family < (has_ipv6() ? 2 : 1); family++) {
        open_all(family == 0 ? "127.0.0.1" : "::ffff:127.0.0.1");
        for (unsigned kind = 0; kind < 256; kind++)
            send_kind((uint8_t)kind, kind % 2 == 0 ? 1 : HC_DATAGRAM_MAX);
        send_kind(0, 0); // dropped where the kernel sorts
        unsigned others = sorts() ? 0 : 255;
        unsigned data = 1 + others + !sorts();
        ck_assert_uint_eq(read_all(HC_SV_DOOR_DATA, others > 0 ? 0 : HC_DATAGRAM_DATA, data), data);
        if (sorts()) {
            ck_assert_uint_eq(read_all(HC_SV_DOOR_CONNECT, HC_DATAGRAM_CONNECT, 1), 1);
            ck_assert_uint_eq(read_all(HC_SV_DOOR_HELLO, 0, 254), 254);
        }
        close_all();
    }
}
END_TEST

START_TEST(unread_hellos_displace_neither_data_nor_connects_and_are_counted) {
    enum { HELLOS = 20000 };
    open_all("127.0.0.1");
    for (unsigned i = 0; i < HELLOS; i++)
        send_kind(HC_DATAGRAM_HELLO, HC_DATAGRAM_MAX);
    if (sorts()) {
        send_kind(HC_DATAGRAM_DATA, 100);
        send_kind(HC_DATAGRAM_CONNECT, HC_DATAGRAM_MAX);
        ck_assert_uint_eq(read_all(HC_SV_DOOR_DATA, HC_DATAGRAM_DATA, 1), 1);
        ck_assert_uint_eq(read_all(HC_SV_DOOR_CONNECT, HC_DATAGRAM_CONNECT, 1), 1);
        uint64_t read = read_all(HC_SV_DOOR_HELLO, HC_DATAGRAM_HELLO, 1);
        struct hc_sv_door_stats stats = udp->kind->stats(udp);
        ck_assert_uint_gt(stats.handshake_drops, 0);
        ck_assert_uint_eq(read + stats.handshake_drops, HELLOS);
        ck_assert_uint_eq(stats.receive_drops, 0);
        ck_assert_uint_eq(udp->kind->stats(udp).handshake_drops, stats.handshake_drops);
    }
    close_all();
}
END_TEST

START_TEST(broadcast_datagram_reaches_one_lane) {
    int yes = 1;
    open_all("127.255.255.255");
    ck_assert_int_eq(setsockopt(sender, SOL_SOCKET, SO_BROADCAST, &yes, sizeof yes), 0);
    to.sin_addr.s_addr = htonl(0x7fffffff);
    for (unsigned i = 0; sorts() && i < 10; i++) {
        send_kind(HC_DATAGRAM_DATA, 100);
        send_kind(HC_DATAGRAM_CONNECT, HC_DATAGRAM_MAX);
        send_kind(HC_DATAGRAM_HELLO, HC_DATAGRAM_MAX);
    }
    for (enum hc_sv_door_lane lane = 0; sorts() && lane < HC_SV_DOOR_LANES; lane++)
        ck_assert_uint_eq(read_all(lane, 0, 10), 10);
    close_all();
}
END_TEST

/// Waits until the kernel stamps datagrams when they arrive: it begins to in a work queue, after
/// the system's first socket has asked for that, and stamps them when they are read until then.
static void await_stamps(void) {
    for (bool stamped = false; !stamped;) {
        send_kind(HC_DATAGRAM_DATA, 100);
        usleep(1000);
        uint64_t before_us = hc_clock_us();
        ck_assert(await_lane(HC_SV_DOOR_DATA));
        unsigned count = udp->kind->receive(udp, HC_SV_DOOR_DATA);
        for (unsigned i = 0; i < count; i++)
            stamped = udp->in[i].arrived_us < before_us;
    }
}

START_TEST(data_has_the_time_of_its_arrival_however_late_it_is_read) {
    enum { WAIT_US = 20000, COUNT = 3 };
    uint64_t sent_us[COUNT + 1];
    open_all("127.0.0.1");
    await_stamps();
    for (unsigned i = 0; i < COUNT; i++) {
        sent_us[i] = hc_clock_us();
        send_kind(HC_DATAGRAM_DATA, 100);
        usleep(WAIT_US);
    }
    sent_us[COUNT] = hc_clock_us();
    for (unsigned got = 0; got < COUNT;) {
        ck_assert(await_lane(HC_SV_DOOR_DATA));
        unsigned count = udp->kind->receive(udp, HC_SV_DOOR_DATA);
        for (unsigned i = 0; i < count; i++, got++) {
            // The clocks of the kernel and of the program may differ by their rounding.
            uint64_t at_us = udp->in[i].arrived_us;
            ck_assert_uint_ge(at_us + 1, sent_us[got]);
            ck_assert_uint_lt(at_us, sent_us[got + 1]);
        }
    }
    close_all();
}
END_TEST

START_TEST(second_server_cannot_open_the_same_port) {
    struct hc_sv_door *other = NULL;
    open_all("127.0.0.1");
    ck_assert(!open_port("127.0.0.1", ntohs(to.sin_port), 1, &other));
    ck_assert_ptr_null(other);
    close_all();
}
END_TEST

START_TEST(kernel_gives_each_worker_the_datagrams_of_its_matches) {
    enum { WORKERS = 3, MATCHES = 40 };
    struct hc_sv_door *ports[WORKERS] = {NULL};
    // Without the filters several workers are refused: then there is nothing to see.
    open_all("127.0.0.1");
    bool sorted = sorts();
    close_all();
    ck_assert_int_eq(open_port("127.0.0.1", 0, WORKERS, ports), sorted);
    if (!sorted)
        return;
    sender = socket(AF_INET, SOCK_DGRAM, 0);
    to.sin_port = htons(ports[0]->kind->facts(ports[0]).address.port);
    for (uint32_t match = 0; match <= MATCHES; match++) {
        uint8_t bytes[HC_DATAGRAM_MAX] = {HC_DATAGRAM_DATA};
        bytes[3] = (uint8_t)(match << 6 | 9); // a cid's upper 10 bits
        bytes[4] = (uint8_t)(match >> 2);
        ck_assert_int_ge(sendto(sender, bytes, 40, 0, (struct sockaddr *)&to, sizeof to), 0);
        bytes[0] = HC_DATAGRAM_CONNECT;
        bytes[HC_DATAGRAM_CONNECT_TOKEN_AT + 2] = (uint8_t)(match << 1 | 1); // the match of a token
        bytes[HC_DATAGRAM_CONNECT_TOKEN_AT + 3] = (uint8_t)(match >> 7 << 4 | 15);
        ck_assert_uint_eq(hc_token_match(bytes + HC_DATAGRAM_CONNECT_TOKEN_AT), match);
        ck_assert_int_ge(sendto(sender, bytes, sizeof bytes, 0, (struct sockaddr *)&to, sizeof to),
                         0);
        udp = ports[match % WORKERS];
        ck_assert_uint_eq(read_all(HC_SV_DOOR_DATA, HC_DATAGRAM_DATA, 1), 1);
        ck_assert_uint_eq(read_all(HC_SV_DOOR_CONNECT, HC_DATAGRAM_CONNECT, 1), 1);
    }
    for (unsigned i = 0; i < WORKERS; i++)
        ports[i]->kind->close(ports[i]);
    close(sender);
}
END_TEST

START_TEST(another_thread_goes_on_with_the_sockets_of_a_worker) {
    struct hc_sv_outgoing out = {.to = hc_address_ipv4(127, 0, 0, 1, 0), .size = 8};
    struct hc_sv_outgoing *batch[] = {&out};
    open_all("127.0.0.1");
    ck_assert_uint_eq(udp->kind->send(udp, batch, 1), 0); // the kernel refuses port 0
    struct hc_sv_door *before = udp;
    udp = before->kind->share(before);
    ck_assert_ptr_nonnull(udp);
    udp->kind->go_on(udp, before);
    ck_assert_uint_eq(udp->kind->stats(udp).send_errors, 1);
    before->kind->close(before);
    send_kind(HC_DATAGRAM_DATA, 100);
    ck_assert_uint_eq(read_all(HC_SV_DOOR_DATA, HC_DATAGRAM_DATA, 1), 1);
    if (sorts()) {
        send_kind(HC_DATAGRAM_HELLO, HC_DATAGRAM_MAX);
        ck_assert_uint_eq(read_all(HC_SV_DOOR_HELLO, HC_DATAGRAM_HELLO, 1), 1);
    }
    close_all();
}
END_TEST

START_TEST(few_connects_are_received_at_once_because_a_tick_waits_for_them) {
    open_all("127.0.0.1");
    if (sorts()) {
        for (unsigned i = 0; i < HC_SV_DOOR_CONNECTS + 1; i++)
            send_kind(HC_DATAGRAM_CONNECT, HC_DATAGRAM_CONNECT_SIZE);
        ck_assert(await_lane(HC_SV_DOOR_CONNECT));
        ck_assert_uint_le(udp->kind->receive(udp, HC_SV_DOOR_CONNECT), HC_SV_DOOR_CONNECTS);
        ck_assert_uint_ge(read_all(HC_SV_DOOR_CONNECT, HC_DATAGRAM_CONNECT, 1), 1);
    }
    close_all();
}
END_TEST

START_TEST(all_datagrams_are_sent_from_the_bound_port) {
    struct sockaddr_in local = {.sin_family = AF_INET}, from;
    socklen_t length = sizeof local;
    open_all("127.0.0.1");
    local.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ck_assert_int_eq(bind(sender, (struct sockaddr *)&local, sizeof local), 0);
    getsockname(sender, (struct sockaddr *)&local, &length);
    struct hc_address address = hc_address_ipv4(127, 0, 0, 1, ntohs(local.sin_port));
    static struct hc_sv_doors doors = {.count = 1};
    doors.all[0] = udp;
    for (unsigned i = 0; i < HC_SV_DOOR_BATCH + 1; i++) {
        memset(hc_sv_doors_room(&doors), (int)i, 8);
        hc_sv_doors_queue(&doors, &address, 8);
    }
    hc_sv_doors_flush(&doors);
    for (unsigned i = 0; i < HC_SV_DOOR_BATCH + 1; i++) {
        uint8_t bytes[16];
        length = sizeof from;
        struct pollfd readable = {.fd = sender, .events = POLLIN};
        ck_assert_int_eq(poll(&readable, 1, AWAIT_MS), 1);
        ssize_t got =
            recvfrom(sender, bytes, sizeof bytes, MSG_DONTWAIT, (struct sockaddr *)&from, &length);
        ck_assert_int_eq(got, 8);
        ck_assert_uint_eq(bytes[0], i);
        ck_assert_uint_eq(from.sin_port, to.sin_port);
    }
    ck_assert_uint_eq(udp->kind->stats(udp).send_errors, 0);
    close_all();
}
END_TEST

/// The receive buffer of a lane, as SO_RCVBUF asks for it: the kernel reports twice as much.
static uint32_t buffer_of(enum hc_sv_door_lane lane) {
    int size = 0;
    socklen_t length = sizeof size;
    ck_assert_int_eq(getsockopt(udp->descriptors[lane], SOL_SOCKET, SO_RCVBUF, &size, &length), 0);
    return (uint32_t)size / 2;
}

START_TEST(reported_receive_buffer_is_the_smallest_that_the_kernel_granted) {
    int small = 1 << 16;
    open_all("127.0.0.1");
    uint32_t granted = udp->kind->facts(udp).receive_buffer;
    ck_assert_uint_le(granted, udp->kind->facts(udp).receive_buffer_asked);
    for (enum hc_sv_door_lane lane = 0; lane < HC_SV_DOOR_LANES; lane++)
        if (udp->descriptors[lane] >= 0)
            ck_assert_uint_eq(buffer_of(lane), granted);
    enum hc_sv_door_lane last = sorts() ? HC_SV_DOOR_HELLO : HC_SV_DOOR_DATA;
    ck_assert_int_eq(
        setsockopt(udp->descriptors[last], SOL_SOCKET, SO_RCVBUF, &small, sizeof small), 0);
    ck_assert_uint_eq(udp->kind->facts(udp).receive_buffer, (uint32_t)small);
    close_all();
}
END_TEST

START_TEST(without_privilege_the_receive_buffer_is_bounded_by_rmem_max) {
    enum { NOBODY = 65534 };
    unsigned most = 0;
    FILE *file = fopen("/proc/sys/net/core/rmem_max", "r");
    if (file == NULL || fscanf(file, "%u", &most) != 1)
        most = 0; // not known in this network namespace
    if (file != NULL)
        fclose(file);
    bool was_root = geteuid() == 0;
    bool privileged = was_root && seteuid(NOBODY) != 0;
    open_all("127.0.0.1");
    uint32_t granted = udp->kind->facts(udp).receive_buffer;
    if (was_root && !privileged)
        ck_assert_int_eq(seteuid(0), 0);
    if (most != 0 && !privileged)
        ck_assert_uint_eq(granted, most < udp->kind->facts(udp).receive_buffer_asked
                                       ? most
                                       : udp->kind->facts(udp).receive_buffer_asked);
    close_all();
}
END_TEST

int main(void) {
    Suite *suite = suite_create("server_udp");
    TCase *tests = tcase_create("udp");
    tcase_add_test(tests, first_byte_of_a_datagram_selects_its_lane_over_ipv4_and_ipv6);
    tcase_add_test(tests, unread_hellos_displace_neither_data_nor_connects_and_are_counted);
    tcase_add_test(tests, broadcast_datagram_reaches_one_lane);
    tcase_add_test(tests, data_has_the_time_of_its_arrival_however_late_it_is_read);
    tcase_add_test(tests, second_server_cannot_open_the_same_port);
    tcase_add_test(tests, kernel_gives_each_worker_the_datagrams_of_its_matches);
    tcase_add_test(tests, another_thread_goes_on_with_the_sockets_of_a_worker);
    tcase_add_test(tests, few_connects_are_received_at_once_because_a_tick_waits_for_them);
    tcase_add_test(tests, all_datagrams_are_sent_from_the_bound_port);
    tcase_add_test(tests, reported_receive_buffer_is_the_smallest_that_the_kernel_granted);
    tcase_add_test(tests, without_privilege_the_receive_buffer_is_bounded_by_rmem_max);

    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
