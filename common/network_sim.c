/// The draws that decide a packet's fate, and the heap of packets in flight.
#include "hindcast/network_sim.h"

#include "common/alloc.h"
#include "common/elapsed.h"
#include "hindcast/check.h"
#include "hindcast/rng.h"

#include <string.h>

/// The purpose of a random number; with the packet's number it determines the draw.
enum purpose {
    DRAW_BURST,
    DRAW_LOSS,
    DRAW_DUPLICATE,
    DRAW_JITTER,
    DRAW_REORDER,
    DRAW_HOLD,
    DRAW_COPY = 16, ///< added for the copy's own delay
};

/// A packet in flight.
struct flight {
    uint64_t due_us;
    uint64_t leaves_us; ///< when it has passed the bottleneck
    uint64_t order;     ///< number in the order of sending
    uint32_t slot;      ///< index of its bytes in `packets`
    uint16_t length;
};

struct hc_network_sim {
    struct hc_network_sim_config config;
    struct hc_network_sim_stats stats;
    const struct hc_allocator *allocator;
    uint64_t seed;
    uint64_t order;
    bool in_burst;
    uint64_t idle_us; ///< time at which the bottleneck's queue is empty
    uint32_t packets_max;
    uint32_t count;
    struct flight *heap; ///< [packets_max] the first `count` a min-heap; the rest own free slots
    uint8_t (*packets)[HC_NETWORK_SIM_PACKET_MAX]; ///< [packets_max]
};

struct hc_network_sim_config hc_network_sim_config_default(void) {
    return (struct hc_network_sim_config){0};
}

const char *hc_network_sim_config_check(const struct hc_network_sim_config *config) {
    if (config->latency_us > HC_NETWORK_SIM_DELAY_US_MAX)
        return "latency_us";
    if (config->jitter_us > HC_NETWORK_SIM_DELAY_US_MAX)
        return "jitter_us";
    if (config->loss_ppm > HC_NETWORK_SIM_PPM)
        return "loss_ppm";
    if (config->burst_mean > HC_NETWORK_SIM_BURST_MAX)
        return "burst_mean";
    if (config->duplicate_ppm > HC_NETWORK_SIM_PPM)
        return "duplicate_ppm";
    if (config->reorder_ppm > HC_NETWORK_SIM_PPM)
        return "reorder_ppm";
    if (config->queue_us > HC_NETWORK_SIM_DELAY_US_MAX)
        return "queue_us";
    return NULL;
}

bool hc_network_sim_preset(const char *name, struct hc_network_sim_config *config) {
    static const struct {
        const char *name;
        struct hc_network_sim_config config;
    } presets[] = {
        {"good", {.latency_us = 20000, .jitter_us = 2000}},
        {"ok", {.latency_us = 50000, .jitter_us = 10000, .loss_ppm = 10000}},
        {"bad", {.latency_us = 80000, .jitter_us = 20000, .loss_ppm = 50000}},
        {"awful", {.latency_us = 150000, .jitter_us = 50000, .loss_ppm = 200000, .burst_mean = 3}},
    };
    for (size_t i = 0; i < sizeof presets / sizeof presets[0]; i++)
        if (strcmp(name, presets[i].name) == 0) {
            *config = presets[i].config;
            return true;
        }
    return false;
}

struct hc_network_sim *hc_network_sim_create(const struct hc_network_sim_config *config,
                                             uint64_t seed, uint32_t packets_max,
                                             const struct hc_allocator *allocator) {
    if (hc_network_sim_config_check(config) != NULL || packets_max < 1 ||
        packets_max > HC_NETWORK_SIM_PACKETS_MAX)
        return NULL;
    struct hc_network_sim *sim = hc_allocate(allocator, sizeof *sim);
    if (sim == NULL)
        return NULL;
    sim->config = *config;
    sim->allocator = allocator;
    sim->seed = seed;
    sim->packets_max = packets_max;
    sim->heap = hc_allocate(allocator, packets_max * sizeof *sim->heap);
    sim->packets = hc_allocate_unset(allocator, packets_max * sizeof *sim->packets);
    if (sim->heap == NULL || sim->packets == NULL) {
        hc_network_sim_destroy(sim);
        return NULL;
    }
    for (uint32_t i = 0; i < packets_max; i++)
        sim->heap[i].slot = i;
    return sim;
}

void hc_network_sim_destroy(struct hc_network_sim *sim) {
    if (sim == NULL)
        return;
    const struct hc_allocator *allocator = sim->allocator;
    hc_release(allocator, sim->packets);
    hc_release(allocator, sim->heap);
    hc_release(allocator, sim);
}

/// 32 random bits for the packet that is being sent.
static uint32_t draw(const struct hc_network_sim *sim, unsigned purpose) {
    uint64_t n = sim->stats.sent;
    return (uint32_t)(hc_random(sim->seed, (uint32_t)n, (uint32_t)(n >> 32), purpose) >> 32);
}

/// A number in [0, bound) from `bits`.
static uint32_t below(uint32_t bits, uint32_t bound) {
    return (uint32_t)((uint64_t)bits * bound >> 32);
}

static bool chance(const struct hc_network_sim *sim, unsigned purpose, uint32_t ppm) {
    return below(draw(sim, purpose), HC_NETWORK_SIM_PPM) < ppm;
}

/// Decides whether the packet that is being sent is lost. Bursts follow the model of Gilbert and
/// Elliott with a state that loses all packets and a state that loses none: a burst ends with the
/// probability 1 / mean, and begins with the probability that yields `loss_ppm` in the long run.
static bool lose(struct hc_network_sim *sim) {
    const struct hc_network_sim_config *config = &sim->config;
    if (config->burst_mean <= 1 || config->loss_ppm == 0 ||
        config->loss_ppm == HC_NETWORK_SIM_PPM) {
        sim->in_burst = chance(sim, DRAW_LOSS, config->loss_ppm);
        return sim->in_burst;
    }
    const uint64_t certain = UINT64_C(1) << 32;
    uint64_t lost = config->loss_ppm, passed = HC_NETWORK_SIM_PPM - config->loss_ppm;
    uint64_t end = certain / config->burst_mean;
    uint64_t begin = end * lost / passed;
    if (begin > certain) {
        // At this loss there is no gap between bursts of this length, so they become longer.
        begin = certain;
        end = certain * passed / lost;
    }
    uint32_t bits = draw(sim, DRAW_BURST);
    sim->in_burst = sim->in_burst ? bits >= end : bits < begin;
    return sim->in_burst;
}

/// The delay of the packet that is being sent, or with `copy` DRAW_COPY that of its copy.
static uint64_t delay_us(const struct hc_network_sim *sim, unsigned copy) {
    const struct hc_network_sim_config *config = &sim->config;
    uint64_t delay = (uint64_t)config->latency_us +
                     below(draw(sim, DRAW_JITTER + copy), 2 * config->jitter_us + 1);
    delay = delay > config->jitter_us ? delay - config->jitter_us : 0;
    if (chance(sim, DRAW_REORDER + copy, config->reorder_ppm))
        delay += 1 + below(draw(sim, DRAW_HOLD + copy), HC_NETWORK_SIM_REORDER_US_MAX);
    return delay;
}

static bool before(const struct flight *a, const struct flight *b) {
    return a->due_us != b->due_us ? a->due_us < b->due_us : a->order < b->order;
}

static void swap(struct hc_network_sim *sim, uint32_t a, uint32_t b) {
    struct flight flight = sim->heap[a];
    sim->heap[a] = sim->heap[b];
    sim->heap[b] = flight;
}

/// Moves the packet at `at` of the heap up to its place.
static void rise(struct hc_network_sim *sim, uint32_t at) {
    while (at > 0 && before(&sim->heap[at], &sim->heap[(at - 1) / 2])) {
        swap(sim, at, (at - 1) / 2);
        at = (at - 1) / 2;
    }
}

static void enqueue(struct hc_network_sim *sim, uint64_t leaves_us, uint64_t delay,
                    const void *bytes, size_t length) {
    if (sim->count == sim->packets_max) {
        sim->stats.dropped_full++;
        return;
    }
    uint32_t at = sim->count++;
    struct flight *flight = &sim->heap[at];
    flight->due_us = leaves_us + delay;
    flight->leaves_us = leaves_us;
    flight->order = sim->order++;
    flight->length = (uint16_t)length;
    if (length > 0)
        memcpy(sim->packets[flight->slot], bytes, length);
    rise(sim, at);
}

/// Removes the root; its slot becomes the first free one.
static void dequeue(struct hc_network_sim *sim) {
    HC_ASSERT(sim->count > 0);
    swap(sim, 0, --sim->count);
    uint32_t at = 0;
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= sim->count)
            return;
        if (child + 1 < sim->count && before(&sim->heap[child + 1], &sim->heap[child]))
            child++;
        if (!before(&sim->heap[child], &sim->heap[at]))
            return;
        swap(sim, at, child);
        at = child;
    }
}

// ---- The bottleneck -----------------------------------------------------------------------------

/// The bytes that wait for the bottleneck at `now_us`.
static uint64_t waiting(const struct hc_network_sim *sim, uint64_t now_us) {
    return hc_since(now_us, sim->idle_us) * sim->config.bytes_per_s / 1000000;
}

/// Queues a packet for the bottleneck; false when there is no room. Writes the time at which it has
/// passed to `*leaves_us`.
static bool queue(struct hc_network_sim *sim, uint64_t now_us, size_t length, uint64_t *leaves_us) {
    const struct hc_network_sim_config *config = &sim->config;
    *leaves_us = now_us;
    if (config->bytes_per_s == 0)
        return true;
    uint64_t wait_us = hc_since(now_us, sim->idle_us);
    uint64_t room =
        config->queue_bytes + (uint64_t)config->queue_us * config->bytes_per_s / 1000000;
    if (wait_us > 0 && waiting(sim, now_us) + length > room)
        return false;
    uint64_t busy_us = ((uint64_t)length * 1000000 + config->bytes_per_s - 1) / config->bytes_per_s;
    sim->idle_us = *leaves_us = now_us + wait_us + busy_us;
    return true;
}

/// When what would have left the bottleneck at `leaves_us` does so, if the rate is `rate` from
/// `now_us` on; 0: no limit.
static uint64_t leaves_at(const struct hc_network_sim *sim, uint64_t leaves_us, uint32_t rate,
                          uint64_t now_us) {
    if (leaves_us <= now_us)
        return leaves_us;
    return rate == 0 ? now_us
                     : now_us + hc_since(now_us, leaves_us) * sim->config.bytes_per_s / rate;
}

/// Lets the packets that wait for the bottleneck pass it at another rate.
static void change_rate(struct hc_network_sim *sim, uint32_t rate, uint64_t now_us) {
    for (uint32_t i = 0; i < sim->count; i++) {
        struct flight *flight = &sim->heap[i];
        uint64_t leaves_us = leaves_at(sim, flight->leaves_us, rate, now_us);
        flight->due_us = leaves_us + hc_since(flight->leaves_us, flight->due_us);
        flight->leaves_us = leaves_us;
        rise(sim, i); // those before it are in order again
    }
    sim->idle_us = leaves_at(sim, sim->idle_us, rate, now_us);
}

enum hc_status hc_network_sim_set_config(struct hc_network_sim *sim, uint64_t now_us,
                                         const struct hc_network_sim_config *config) {
    if (hc_network_sim_config_check(config) != NULL)
        return HC_INVALID;
    if (config->bytes_per_s != sim->config.bytes_per_s)
        change_rate(sim, config->bytes_per_s, now_us);
    sim->config = *config;
    return HC_OK;
}

// ---- Sending and receiving ----------------------------------------------------------------------

void hc_network_sim_send(struct hc_network_sim *sim, uint64_t now_us, const void *bytes,
                         size_t length) {
    uint64_t leaves_us;
    HC_ASSERT(length <= HC_NETWORK_SIM_PACKET_MAX);
    sim->stats.sent++;
    bool lost = lose(sim); // drawn for every packet, so that fates do not depend on lengths
    if (!queue(sim, now_us, length, &leaves_us)) {
        sim->stats.dropped_queue++;
        return;
    }
    if (lost) {
        sim->stats.lost++;
        return;
    }
    enqueue(sim, leaves_us, delay_us(sim, 0), bytes, length);
    if (chance(sim, DRAW_DUPLICATE, sim->config.duplicate_ppm)) {
        sim->stats.duplicated++;
        enqueue(sim, leaves_us, delay_us(sim, DRAW_COPY), bytes, length);
    }
}

uint64_t hc_network_sim_deadline(const struct hc_network_sim *sim) {
    return sim->count == 0 ? UINT64_MAX : sim->heap[0].due_us;
}

int hc_network_sim_receive(struct hc_network_sim *sim, uint64_t now_us, void *buffer,
                           size_t capacity) {
    if (sim->count == 0 || sim->heap[0].due_us > now_us)
        return -1;
    const struct flight *flight = &sim->heap[0];
    size_t length = flight->length < capacity ? flight->length : capacity;
    if (length > 0)
        memcpy(buffer, sim->packets[flight->slot], length);
    dequeue(sim);
    sim->stats.delivered++;
    return (int)length;
}

uint32_t hc_network_sim_in_flight(const struct hc_network_sim *sim) {
    return sim->count;
}

struct hc_network_sim_stats hc_network_sim_stats(const struct hc_network_sim *sim) {
    return sim->stats;
}
