/// What sealing costs a server, beside all else that it does.
#include "hindcast/arena.h"
#include "hindcast/check.h"
#include "proto/seal.h"
#include "tests/attack/yard.h"

#include <stdlib.h>
#include <string.h>

enum { PLAYERS = 64, PLAYED_S = 3, KEPT = 16384, PASSES = 5 };

/// A datagram that went over the wire, and the connection that it is of.
struct kept {
    const struct hc_party *party;
    bool up;
    size_t size;
    uint8_t bytes[HC_DATAGRAM_MAX];
};

struct sent_log {
    double host_us, from_us; ///< spent in the host; when its present work began
    uint64_t calls, datagrams, ticks;
    uint32_t kept;
    struct kept *all;
    bool runs;
};

static void note_work(struct yard *yard, enum hc_sim_work work, bool begins) {
    struct sent_log *sent_log = yard->context;
    if (!sent_log->runs)
        return;
    sent_log->calls += begins;
    sent_log->ticks += begins && work == HC_SIM_WORK_ADVANCE;
    if (begins)
        sent_log->from_us = attack_cpu_us();
    else
        sent_log->host_us += attack_cpu_us() - sent_log->from_us;
}

static void keep(struct yard *yard, bool up, const uint8_t *sealed, size_t size) {
    struct sent_log *sent_log = yard->context;
    uint32_t cid, seq;
    if (!sent_log->runs || hc_datagram_get_data_clear(sealed, size, &cid, &seq) != HC_OK)
        return;
    sent_log->datagrams++;
    if (sent_log->kept == KEPT || hc_sim_party(yard->sim, cid) == NULL)
        return;
    struct kept *kept = &sent_log->all[sent_log->kept++];
    kept->party = hc_sim_party(yard->sim, cid);
    kept->up = up;
    kept->size = size;
    memcpy(kept->bytes, sealed, size);
}

static void keep_up(struct yard *yard, unsigned client, const uint8_t *sealed, size_t size) {
    (void)client;
    keep(yard, true, sealed, size);
}

static void keep_down(struct yard *yard, unsigned client, const uint8_t *sealed, size_t size) {
    (void)client;
    keep(yard, false, sealed, size);
}

/// What the clock itself takes, which stands between the beginning and the end of each work.
static double clock_cost_us(void) {
    enum { TIMES = 20000 };
    double from = attack_cpu_us();
    for (unsigned i = 0; i < TIMES; i++)
        (void)attack_cpu_us();
    return (attack_cpu_us() - from) / TIMES;
}

/// Microseconds for a datagram: opened as the server opens those of clients, and sealed as it seals
/// its own; or only copied.
static double handle_all_us(struct attack *attack, struct sent_log *sent_log, bool sealed) {
    static uint8_t out[HC_DATAGRAM_MAX];
    unsigned opened = 0;
    double from = attack_cpu_us();
    for (uint32_t i = 0; i < sent_log->kept; i++) {
        struct kept *kept = &sent_log->all[i];
        if (!sealed) {
            memcpy(out, kept->bytes, kept->size);
            opened += out[0] == HC_DATAGRAM_DATA;
        } else if (kept->up) {
            opened +=
                hc_seal_open_data(kept->party->keys.c2s, kept->bytes, kept->size, out) == HC_OK;
        } else {
            struct hc_sealer sealer;
            memcpy(out, kept->bytes, kept->size);
            hc_seal_init(&sealer, kept->party->keys.s2c);
            hc_seal_data(&sealer, out, kept->size);
            opened++;
        }
    }
    double took = attack_cpu_us() - from;
    attack_require(attack, opened == sent_log->kept, "only %u of %u can be opened", opened,
                   sent_log->kept);
    return took / sent_log->kept;
}

static double least_us(struct attack *attack, struct sent_log *sent_log, bool sealed) {
    double least = handle_all_us(attack, sent_log, sealed);
    for (unsigned i = 1; i < PASSES; i++) {
        double took = handle_all_us(attack, sent_log, sealed);
        least = took < least ? took : least;
    }
    return least;
}

void attack_price(struct attack *attack) {
    struct hc_sim_config config = yard_config(PLAYERS, 0, 50, 71);
    struct sent_log sent_log = {.all = calloc(KEPT, sizeof *sent_log.all)};
    struct yard *yard = yard_create(&config);
    HC_ASSERT(sent_log.all != NULL);
    yard->context = &sent_log;
    yard->host_works = note_work;
    yard->client_sent = keep_up;
    yard->host_sent = keep_down;
    yard_join_all(attack, yard);
    sent_log.runs = true;
    hc_sim_run(yard->sim, PLAYED_S * YARD_S);
    sent_log.runs = false;
    double sealed_us = least_us(attack, &sent_log, true),
           plain_us = least_us(attack, &sent_log, false);
    double host_us = sent_log.host_us - (double)sent_log.calls * clock_cost_us();
    double each_us = host_us / (double)sent_log.datagrams,
           without_us = each_us - sealed_us + plain_us;
    attack->tries = sent_log.datagrams;
    attack_require(attack, each_us < 2 * without_us, "sealing takes more than all the rest");
    attack_effect(attack,
                  "x %.3f: a datagram takes the server %.2f us, %.2f of it for sealing (a copy: "
                  "%.3f); %d players, %.0f us a tick",
                  each_us / without_us, each_us, sealed_us, plain_us, PLAYERS,
                  host_us / (double)sent_log.ticks);
    yard_destroy(yard);
    free(sent_log.all);
}
