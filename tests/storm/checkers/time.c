/// Checks the server's clock: ticks are done when they are due, and those that cannot be made up
/// for are left out.
#include "tests/storm/checkers/checker.h"

struct time {
    hc_tick head; ///< of the server when it was looked at last
};

static void host_ticked(struct storm_match *match, void *state) {
    struct time *time = state;
    const struct hc_server *host = hc_sim_host(match->sim);
    const struct hc_sim_config *config = hc_sim_config(match->sim);
    hc_tick head = storm_match_head(match);
    uint64_t now_us = hc_sim_host_now(match->sim), deadline_us = hc_server_deadline(host);
    uint64_t passed = hc_tick_at_us(hc_sim_now(match->sim), config->host.tick_rate);
    uint64_t gone = head + hc_server_stats(host)->ticks_missed;
    if (head - time->head > config->host_test.ticks_per_advance)
        storm_fail(match->verdict, STORM_WRONG, "time", head,
                   "the server does %u ticks at once, %u at most were allowed", head - time->head,
                   config->host_test.ticks_per_advance);
    if (deadline_us > now_us + match->tick_us)
        storm_fail(match->verdict, STORM_WRONG, "time", head, "the next tick is %lu us away",
                   (unsigned long)(deadline_us - now_us));
    if (gone > passed + 1 || gone + 1 < passed)
        storm_fail(match->verdict, STORM_WRONG, "time", head,
                   "the server is at tick %u and has left out %lu, but %lu have passed", head,
                   (unsigned long)(gone - head), (unsigned long)passed);
    time->head = head;
}

const struct storm_checker storm_check_time = {
    .name = "time", .state_size = sizeof(struct time), .host_ticked = host_ticked};
