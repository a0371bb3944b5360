/// Compares the server's time for sealing with the rest of its work.
#include "hindcast/arena.h"
#include "hindcast/check.h"
#include "proto/seal.h"
#include "tests/attack/honest_players.h"

#include <stdlib.h>
#include <string.h>

enum { PLAYERS = 64, PLAYED_S = 3, RECORDED_MAX = 16384, PASSES = 5 };

/// A recorded datagram, and the endpoint of its connection.
struct recorded {
    const struct hc_endpoint *endpoint;
    bool up;
    size_t size;
    uint8_t bytes[HC_DATAGRAM_MAX];
};

struct recording {
    double host_us, from_us; ///< spent in the host; when its current call began
    uint64_t calls, datagrams, ticks;
    uint32_t count;
    struct recorded *all;
    bool runs;
};

static void note_work(void *context, struct hc_sim *sim, enum hc_sim_work work, bool begins) {
    struct recording *recording = context;
    (void)sim;
    if (!recording->runs)
        return;
    recording->calls += begins;
    recording->ticks += begins && work == HC_SIM_WORK_ADVANCE;
    if (begins)
        recording->from_us = attack_cpu_us();
    else
        recording->host_us += attack_cpu_us() - recording->from_us;
}

static void record(struct recording *recording, struct hc_sim *sim, bool up, size_t size) {
    const uint8_t *sealed = hc_sim_sealed(sim);
    uint32_t cid, seq;
    if (!recording->runs || hc_datagram_get_data_clear(sealed, size, &cid, &seq) != HC_OK)
        return;
    recording->datagrams++;
    if (recording->count == RECORDED_MAX || hc_sim_endpoint(sim, cid) == NULL)
        return;
    struct recorded *recorded = &recording->all[recording->count++];
    recorded->endpoint = hc_sim_endpoint(sim, cid);
    recorded->up = up;
    recorded->size = size;
    memcpy(recorded->bytes, sealed, size);
}

static void record_up(void *context, struct hc_sim *sim, unsigned client, const uint8_t *bytes,
                      size_t size) {
    (void)client, (void)bytes;
    record(context, sim, true, size);
}

static void record_down(void *context, struct hc_sim *sim, unsigned client, const uint8_t *bytes,
                        size_t size) {
    (void)client, (void)bytes;
    record(context, sim, false, size);
}

/// Measures the clock itself, whose time is part of each measured call.
static double clock_cost_us(void) {
    enum { TIMES = 20000 };
    double from = attack_cpu_us();
    for (unsigned i = 0; i < TIMES; i++)
        (void)attack_cpu_us();
    return (attack_cpu_us() - from) / TIMES;
}

/// Returns the microseconds for a datagram: opening it if it is a client's, sealing it if it is the
/// server's; or only copying it.
static double handle_all_us(struct attack *attack, struct recording *recording, bool sealed) {
    static uint8_t out[HC_DATAGRAM_MAX];
    unsigned opened = 0;
    double from = attack_cpu_us();
    for (uint32_t i = 0; i < recording->count; i++) {
        struct recorded *recorded = &recording->all[i];
        if (!sealed) {
            memcpy(out, recorded->bytes, recorded->size);
            opened += out[0] == HC_DATAGRAM_DATA;
        } else if (recorded->up) {
            opened += hc_seal_open_data(recorded->endpoint->keys.c2s, recorded->bytes,
                                        recorded->size, out) == HC_OK;
        } else {
            struct hc_sealer sealer;
            memcpy(out, recorded->bytes, recorded->size);
            hc_seal_init(&sealer, recorded->endpoint->keys.s2c);
            hc_seal_data(&sealer, out, recorded->size);
            opened++;
        }
    }
    double took = attack_cpu_us() - from;
    attack_require(attack, opened == recording->count, "only %u of %u can be opened", opened,
                   recording->count);
    return took / recording->count;
}

static double least_us(struct attack *attack, struct recording *recording, bool sealed) {
    double least = handle_all_us(attack, recording, sealed);
    for (unsigned i = 1; i < PASSES; i++) {
        double took = handle_all_us(attack, recording, sealed);
        least = took < least ? took : least;
    }
    return least;
}

void attack_sealing_cost(struct attack *attack) {
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, PLAYERS, 50, 71);
    struct recording recording = {.all = calloc(RECORDED_MAX, sizeof *recording.all)};
    struct honest_players *players = honest_create(&config);
    HC_ASSERT(recording.all != NULL);
    hc_sim_observe(players->sim,
                   &(struct hc_sim_hooks){
                       .host_works = note_work, .client_sent = record_up, .host_sent = record_down},
                   &recording);
    honest_join_all(attack, players);
    recording.runs = true;
    hc_sim_run(players->sim, PLAYED_S * SECOND_US);
    recording.runs = false;
    double sealed_us = least_us(attack, &recording, true),
           plain_us = least_us(attack, &recording, false);
    double host_us = recording.host_us - (double)recording.calls * clock_cost_us();
    double each_us = host_us / (double)recording.datagrams,
           without_us = each_us - sealed_us + plain_us;
    attack->tries = recording.datagrams;
    attack_require(attack, each_us < 2 * without_us, "sealing takes more than all the rest");
    attack_effect(attack,
                  "x %.3f: a datagram takes the server %.2f us, %.2f of it for sealing (a copy: "
                  "%.3f); %d players, %.0f us a tick",
                  each_us / without_us, each_us, sealed_us, plain_us, PLAYERS,
                  host_us / (double)recording.ticks);
    honest_destroy(players);
    free(recording.all);
}
