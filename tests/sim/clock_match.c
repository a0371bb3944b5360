/// Plays a client's clock against a server's.
#include "tests/sim/clock_match.h"

#include "common/elapsed.h"

enum { LOCAL_US = 7777777 }; ///< local time at the true time 0

// ---- Exchange -----------------------------------------------------------------------------------

/// An exponential delay: von Neumann's method, with integers alone.
static uint64_t exponential_us(struct hc_rng *rng, uint32_t mean_us) {
    for (uint64_t whole = 0;; whole++) {
        uint32_t first = (uint32_t)(hc_rng_next(rng) >> 32), last = first, next;
        unsigned run = 1;
        while ((next = (uint32_t)(hc_rng_next(rng) >> 32)) < last) {
            last = next;
            run++;
        }
        if (run % 2 == 1)
            return whole * mean_us + ((uint64_t)first * mean_us >> 32);
    }
}

void hc_exchange_begin(struct hc_exchange *exchange, const struct hc_exchange_config *config) {
    *exchange = (struct hc_exchange){.config = *config, .rng = hc_rng_init(config->seed, 0)};
    for (unsigned i = 0; i < HC_EXCHANGE_RING; i++)
        exchange->down[i].arrives_us = exchange->up[i].arrives_us = UINT64_MAX;
}

uint64_t hc_exchange_local_us(const struct hc_exchange *exchange, uint64_t true_us) {
    int64_t fast_us = (int64_t)true_us * exchange->config.ppm / 1000000;
    return LOCAL_US + true_us + (uint64_t)fast_us;
}

/// Sends a datagram of each end: the client's at `true_us`, the server's half an interval later,
/// which acks the newest one that has arrived.
static void send_both(struct hc_exchange *exchange, uint64_t true_us) {
    const struct hc_exchange_config *config = &exchange->config;
    uint64_t number = exchange->sent++, at = number % HC_EXCHANGE_RING, acked = UINT64_MAX;
    uint64_t server_us = true_us + 500000 / config->rate;
    exchange->up[at].sent_us = true_us;
    exchange->up[at].arrives_us =
        true_us + config->up_us + exponential_us(&exchange->rng, config->jitter_us);
    for (uint64_t back = 0; back < HC_EXCHANGE_RING && back <= number; back++)
        if (exchange->up[(number - back) % HC_EXCHANGE_RING].arrives_us <= server_us) {
            acked = number - back;
            break;
        }
    exchange->down[at].number = number + 1;
    exchange->down[at].acked = acked + 1; // 0: none
    exchange->down[at].arrives_us =
        server_us + config->down_us + exponential_us(&exchange->rng, config->jitter_us);
    if (acked == UINT64_MAX)
        return;
    uint64_t now_us = hc_exchange_local_us(exchange, exchange->down[at].arrives_us);
    uint64_t sent_us =
        hc_exchange_local_us(exchange, exchange->up[acked % HC_EXCHANGE_RING].sent_us);
    uint64_t delay_us = hc_since(exchange->up[acked % HC_EXCHANGE_RING].arrives_us, server_us);
    exchange->down[at].sample = (struct hc_exchange_sample){
        .now_us = now_us,
        .rtt_us = hc_since(delay_us, hc_since(sent_us, now_us)),
        .server_us = server_us + (uint64_t)exchange->set_us,
    };
}

bool hc_exchange_next(struct hc_exchange *exchange, uint64_t true_us,
                      struct hc_exchange_sample *sample) {
    for (;;) {
        unsigned first = 0;
        for (unsigned i = 1; i < HC_EXCHANGE_RING; i++)
            if (exchange->down[i].arrives_us < exchange->down[first].arrives_us)
                first = i;
        uint64_t arrives_us = exchange->down[first].arrives_us;
        uint64_t send_us = exchange->sent * 1000000 / exchange->config.rate;
        if (send_us <= true_us && send_us <= arrives_us) {
            send_both(exchange, send_us);
            continue;
        }
        if (arrives_us > true_us)
            return false;
        exchange->down[first].arrives_us = UINT64_MAX;
        uint64_t number = exchange->down[first].number, acked = exchange->down[first].acked;
        if (number <= exchange->newest)
            continue; // overtaken
        exchange->newest = number;
        if (acked <= exchange->measured)
            continue;
        exchange->measured = acked;
        *sample = exchange->down[first].sample;
        return true;
    }
}

// ---- Match --------------------------------------------------------------------------------------

/// Gives the clock all samples that have arrived.
static void take(struct hc_clock_match *match, uint64_t true_us) {
    struct hc_exchange_sample sample;
    while (hc_exchange_next(&match->exchange, true_us, &sample))
        hc_cl_clock_sample(&match->clock, sample.now_us, sample.rtt_us, sample.server_us);
    match->true_us = true_us;
}

void hc_clock_match_begin(struct hc_clock_match *match, const struct hc_exchange_config *config) {
    *match = (struct hc_clock_match){.config = hc_client_config_default()};
    hc_exchange_begin(&match->exchange, config);
    hc_cl_timing_begin(&match->timing, &match->config, 64, config->rate);
    while (!match->clock.known)
        take(match, match->true_us + 1000);
    uint64_t now_us = hc_exchange_local_us(&match->exchange, match->true_us);
    hc_cl_timing_restart(&match->timing, &match->clock, 0, now_us);
    match->timing.head = hc_cl_timing_due(&match->timing, now_us);
}

int64_t hc_clock_match_frame(struct hc_clock_match *match, uint64_t true_us) {
    struct hc_cl_timing *timing = &match->timing;
    take(match, true_us);
    uint64_t now_us = hc_exchange_local_us(&match->exchange, true_us);
    hc_cl_timing_follow(timing, &match->clock, now_us, &match->stats);
    hc_tick due = hc_cl_timing_due(timing, now_us);
    hc_tick end = hc_tick_min(due, hc_cl_timing_end(timing));
    while (timing->head < end)
        hc_cl_timing_step(timing);
    hc_cl_timing_finish(timing, due, now_us, &match->stats);
    return hc_offset(true_us + (uint64_t)match->exchange.set_us,
                     hc_clock_match_position(match, true_us));
}

uint64_t hc_clock_match_position(const struct hc_clock_match *match, uint64_t true_us) {
    return hc_cl_position_at(&match->timing.position,
                             hc_exchange_local_us(&match->exchange, true_us));
}
