/// The datagrams of a floor, and its measured loops.
#define _POSIX_C_SOURCE 200809L

#include "tests/bench/floor.h"

#include "hindcast/check.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

uint64_t bench_cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now); // because other programs use the machine
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/// The connection of a DATA.
static struct hc_sealer *sealer_of(const struct bench_floor *floor, const uint8_t *bytes,
                                   size_t size) {
    uint32_t cid, seq;
    enum hc_status status = hc_datagram_get_data_clear(bytes, size, &cid, &seq);
    HC_ASSERT(status == HC_OK);
    return &floor->sealers[cid % HC_SERVER_CLIENTS_MAX];
}

bool bench_floor_init(struct bench_floor *floor) {
    *floor = (struct bench_floor){.sealers = calloc(HC_SERVER_CLIENTS_MAX, sizeof *floor->sealers),
                                  .open_ns = UINT64_MAX,
                                  .seal_ns = UINT64_MAX};
    for (unsigned i = 0; floor->sealers != NULL && i < HC_SERVER_CLIENTS_MAX; i++)
        memcpy(floor->sealers[i].key, &i, sizeof i);
    return floor->sealers != NULL;
}

void bench_floor_free(struct bench_floor *floor) {
    bench_events_free(&floor->received);
    bench_events_free(&floor->sent);
    free(floor->sealers);
}

void bench_floor_receives(struct bench_floor *floor, const uint8_t *bytes, size_t size) {
    uint8_t sealed[HC_DATAGRAM_MAX];
    struct hc_sealer sealer;
    struct bench_event event = {.size = size};
    if (hc_datagram_kind(bytes, size) != HC_DATAGRAM_DATA)
        return;
    memcpy(sealed, bytes, size);
    hc_seal_init(&sealer, sealer_of(floor, bytes, size)->key);
    hc_seal_data(&sealer, sealed, size);
    bench_events_add(&floor->received, &event, sealed);
}

void bench_floor_sends(struct bench_floor *floor, const uint8_t *bytes, size_t size) {
    struct bench_event event = {.size = size};
    if (hc_datagram_kind(bytes, size) == HC_DATAGRAM_DATA)
        bench_events_add(&floor->sent, &event, bytes);
}

static uint64_t open_all(const struct bench_floor *floor) {
    uint8_t opened[HC_DATAGRAM_MAX];
    uint64_t begun = bench_cpu_ns();
    for (size_t i = 0; i < floor->received.count; i++) {
        size_t size = floor->received.events[i].size;
        const uint8_t *bytes = floor->received.bytes + floor->received.events[i].offset;
        enum hc_status status =
            hc_seal_open_data(sealer_of(floor, bytes, size)->key, bytes, size, opened);
        HC_ASSERT(status == HC_OK);
    }
    return bench_cpu_ns() - begun;
}

static uint64_t seal_all(const struct bench_floor *floor) {
    for (unsigned i = 0; i < HC_SERVER_CLIENTS_MAX; i++)
        floor->sealers[i].next = 0;
    uint64_t begun = bench_cpu_ns();
    for (size_t i = 0; i < floor->sent.count; i++) {
        size_t size = floor->sent.events[i].size;
        uint8_t *bytes = floor->sent.bytes + floor->sent.events[i].offset;
        hc_seal_data(sealer_of(floor, bytes, size), bytes, size);
    }
    return bench_cpu_ns() - begun;
}

bool bench_floor_run(struct bench_floor *floor) {
    uint64_t open_ns = open_all(floor), seal_ns = seal_all(floor);
    floor->open_ns = open_ns < floor->open_ns ? open_ns : floor->open_ns;
    floor->seal_ns = seal_ns < floor->seal_ns ? seal_ns : floor->seal_ns;
    return !floor->received.failed && !floor->sent.failed;
}
