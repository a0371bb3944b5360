/// The rings of datagrams.
#include "tests/sim/tape.h"

#include "hindcast/check.h"

#include <string.h>

static void record(struct hc_sim_taped *taped, const struct hc_sim *sim, unsigned client,
                   const uint8_t *bytes, size_t size) {
    *taped = (struct hc_sim_taped){.client = client, .sent_us = hc_sim_now(sim), .size = size};
    memcpy(taped->opened, bytes, size);
    memcpy(taped->sealed, hc_sim_sealed(sim), size);
}

static void client_sent(void *context, struct hc_sim *sim, unsigned client, const uint8_t *bytes,
                        size_t size) {
    struct hc_sim_tape *tape = context;
    record(&tape->up[tape->ups++ % tape->length], sim, client, bytes, size);
}

static void host_sent(void *context, struct hc_sim *sim, unsigned client, const uint8_t *bytes,
                      size_t size) {
    struct hc_sim_tape *tape = context;
    record(&tape->down[tape->downs++ % tape->length], sim, client, bytes, size);
}

void hc_sim_tape_begin(struct hc_sim_tape *tape, struct hc_sim *sim, unsigned length) {
    HC_ASSERT(length >= 1 && length <= HC_SIM_TAPE_MAX);
    memset(tape, 0, sizeof *tape);
    tape->length = length;
    hc_sim_observe(sim, &(struct hc_sim_hooks){.client_sent = client_sent, .host_sent = host_sent},
                   tape);
}
