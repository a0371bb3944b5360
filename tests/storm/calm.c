/// Owns how long the calm after a storm lasts.
#include "tests/storm/match_internal.h"

enum {
    SECOND_US = 1000000,
    STRAGGLE_US = 50000 + 20000, ///< the longest that reordering holds a packet back, and more
    CLOCK_SAMPLES = 70,          ///< snapshots after which the clock filter has forgotten the storm
    REACT_TICKS = 60,
    MARGIN = 5,
    AROUND = 8, ///< snapshots in which all is sent where there is not room for all in each
};

static uint64_t ms(const struct storm_match *match, unsigned client, enum storm_client_key key) {
    return (uint64_t)storm_client_get(match, client, key) * 1000;
}

uint64_t storm_calm_rtt_us(const struct storm_match *match, unsigned client) {
    return ms(match, client, STORM_C_up_latency_ms) + ms(match, client, STORM_C_down_latency_ms);
}

static uint32_t ticks_of(const struct storm_match *match, uint64_t us) {
    return (uint32_t)((us + match->tick_us - 1) / match->tick_us);
}

/// How many ticks the storm lasts.
static int64_t storm_ticks(const struct storm_match *match) {
    return storm_plan_tick(match->plan, storm_match_get(match, STORM_ticks));
}

/// The longest queue on a link: none where any number of bytes may go at once.
static uint64_t queue_us(const struct storm_match *match, unsigned client,
                         enum storm_client_key rate, enum storm_client_key queue) {
    return storm_client_get(match, client, rate) != 0 ? ms(match, client, queue) : 0;
}

uint64_t storm_calm_straggle_us(const struct storm_match *match, unsigned client) {
    uint64_t up = ms(match, client, STORM_C_up_latency_ms) +
                  ms(match, client, STORM_C_up_jitter_ms) +
                  queue_us(match, client, STORM_C_up_rate, STORM_C_up_queue_ms);
    uint64_t down = ms(match, client, STORM_C_down_latency_ms) +
                    ms(match, client, STORM_C_down_jitter_ms) +
                    queue_us(match, client, STORM_C_down_rate, STORM_C_down_queue_ms);
    int64_t worse =
        storm_plan_tick(match->plan, storm_client_get(match, client, STORM_C_worse_tick));
    uint64_t worse_us = 0;
    if (worse != 0 && worse < storm_ticks(match))
        worse_us = ms(match, client, STORM_C_worse_latency_ms);
    int64_t route = storm_client_get(match, client, STORM_C_route_ms);
    if (route > 0 && storm_client_get(match, client, STORM_C_route_tick) != 0)
        worse_us += (uint64_t)route * 1000;
    return (up > down ? up : down) + worse_us + STRAGGLE_US;
}

static uint64_t most(const struct storm_match *match,
                     uint64_t of(const struct storm_match *match, unsigned client)) {
    uint64_t most_us = 0;
    for (unsigned i = 0; i < match->clients; i++)
        most_us = of(match, i) > most_us ? of(match, i) : most_us;
    return most_us;
}

uint32_t storm_calm_wait_ticks(const struct storm_match *match) {
    enum { LEAST = 4000, NEEDED = 221 }; // bytes/s after the worst losses, bytes of a snapshot
    int64_t rate = storm_match_get(match, STORM_client_rate);
    int64_t ticks = storm_match_get(match, STORM_tick_rate);
    int64_t shown = storm_match_get(match, STORM_snapshot_rate);
    uint64_t bad_us = (uint64_t)storm_ticks(match) * match->tick_us +
                      most(match, storm_calm_straggle_us) + SECOND_US;
    for (uint64_t s = 0; s <= bad_us / SECOND_US && rate > LEAST; s++)
        rate -= rate / 7 + 1;
    rate = rate > LEAST ? rate : LEAST;
    int64_t wait = (NEEDED * ticks + rate - 1) / rate;
    if (shown > 0 && shown < ticks)
        wait += (ticks + shown - 1) / shown - 1;
    return (uint32_t)wait;
}

/// The most ticks that a client can be ahead of a server that has skipped ticks: the skipped ones,
/// but not more than its prediction limit.
static uint64_t ahead_ticks(const struct storm_match *match) {
    int64_t stalled_ms =
        storm_match_get(match, STORM_host_stalls) * storm_match_get(match, STORM_host_stall_ms);
    uint64_t left_out = ticks_of(match, (uint64_t)stalled_ms * 1000), most_ticks = 0;
    for (unsigned i = 0; i < match->clients; i++) {
        uint64_t limit = storm_client_limit(match, i);
        most_ticks = limit > most_ticks ? limit : most_ticks;
    }
    return most_ticks < left_out ? most_ticks : left_out;
}

/// The links deliver what the storm left on them; then a round trip and W + REACT_TICKS ticks pass.
/// If ahead_ticks exceeds W, it takes the place of W, because a client that is ahead stalls until
/// the server has caught up. The ticks always suffice for CLOCK_SAMPLES snapshots.
uint64_t storm_calm_us(const struct storm_match *match) {
    uint64_t history = (uint64_t)storm_match_get(match, STORM_history);
    uint64_t ahead = ahead_ticks(match);
    uint64_t ticks = (ahead > history ? ahead : history) + REACT_TICKS;
    if (ticks < CLOCK_SAMPLES * (uint64_t)storm_calm_wait_ticks(match))
        ticks = CLOCK_SAMPLES * (uint64_t)storm_calm_wait_ticks(match);
    return most(match, storm_calm_straggle_us) + most(match, storm_calm_rtt_us) +
           ticks * match->tick_us;
}

/// The time after a client's last key until the server no longer predicts from it: the latency up,
/// and the ticks by which the client stamps inputs ahead. If the latency up exceeds the latency
/// down, the client clock is ahead by half the difference, which is added.
static uint64_t last_key_us(const struct storm_match *match, unsigned client) {
    uint64_t up = ms(match, client, STORM_C_up_latency_ms);
    uint64_t down = ms(match, client, STORM_C_down_latency_ms);
    uint64_t ahead =
        (uint64_t)(storm_client_delay_max(match, client) + storm_client_lead_max(match, client));
    return up + (up > down ? (up - down) / 2 : 0) + ahead * match->tick_us;
}

static uint64_t down_us(const struct storm_match *match, unsigned client) {
    return ms(match, client, STORM_C_down_latency_ms);
}

/// Until the server has all inputs and the clients have its states, and W until all that is shown
/// was simulated since; and, where there is not room for all units, until all were sent.
uint64_t storm_calm_agree_us(const struct storm_match *match) {
    uint64_t wait = storm_calm_wait_ticks(match);
    uint64_t ticks = (uint64_t)storm_match_get(match, STORM_history) + MARGIN + wait - 1;
    if (wait > 1)
        ticks += wait * AROUND;
    return most(match, last_key_us) + most(match, down_us) + ticks * match->tick_us;
}
