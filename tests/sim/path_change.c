/// Disturbs one client of a match of walkers, and follows its delays.
#include "tests/sim/path_change.h"

#include "tests/sim/feel_match.h"

enum {
    CLIENTS = 4,
    CHANGED = 0, ///< the client with the change
    WAY_US = 50 * MS_US,
    JITTER_US = 3 * MS_US,
    CHANGE_US = 5 * SECOND_US,
    WINDOW_US = 10 * SECOND_US, ///< in which delays must be right again
    SECONDS = 16,
    FRAMES = SECONDS * SECOND_US / HC_FEEL_FRAME_US,
    SCAN_US = 200 * MS_US,
    SCAN_EVERY_US = 10 * SECOND_US,
};

/// How long each change lasts, and how much longer the ways are then.
static const struct change {
    const char *name;
    uint32_t lasts_us;
    int32_t up_us, down_us;
    uint32_t jitter_us; ///< of the uplink
    bool falls;         ///< delays fall in the end
    bool ends;          ///< the path is as before in the end
    bool follows;       ///< delays rise, and fall when the client clock has followed the way
} changes[HC_PATH_CHANGES] = {
    [HC_PATH_SCAN] = {"a scan of 200 ms every 10 s", SCAN_US, 0, 0, JITTER_US, true, true, false},
    [HC_PATH_LONGER] = {"both ways 40 ms longer", 0, 40 * MS_US, 40 * MS_US, JITTER_US, false,
                        false, false},
    [HC_PATH_SHORTER] = {"both ways 40 ms shorter", 0, -40 * MS_US, -40 * MS_US, JITTER_US, true,
                         false, false},
    [HC_PATH_UPLINK] = {.name = "uplink 100 ms longer, +- 20",
                        .up_us = 100 * MS_US,
                        .jitter_us = 20 * MS_US,
                        .falls = true,
                        .follows = true},
    [HC_PATH_SLOW_FRAME] = {"a frame of 40 ms", 40 * MS_US, 0, 0, JITTER_US, true, true, false},
    [HC_PATH_SUSPEND] = {"a suspend of 3 s", 3 * SECOND_US, 0, 0, JITTER_US, false, true, false},
};

struct disturbance {
    enum hc_path_change kind;
    uint32_t frames;
    uint32_t sum[FRAMES]; ///< Input delay and lead together.
    uint64_t late[FRAMES];
};

static struct hc_network_sim_config way(int64_t more_us, uint32_t jitter_us) {
    struct hc_network_sim_config link = hc_sim_link(0, 0);
    link.latency_us = (uint32_t)(WAY_US + more_us);
    link.jitter_us = jitter_us;
    return link;
}

/// Lets pass at the end of the scan what is sent in it.
static void scan(struct hc_sim *sim, uint64_t us) {
    uint64_t since_us = (us + SCAN_EVERY_US - CHANGE_US) % SCAN_EVERY_US;
    int64_t waits_us = since_us < SCAN_US ? (int64_t)(SCAN_US - since_us) : 0;
    struct hc_network_sim_config link = way(waits_us, waits_us > 0 ? 0 : JITTER_US);
    hc_sim_set_link(sim, CHANGED, &link, &link);
}

static void frame(void *context, struct hc_sim *sim, uint64_t us) {
    struct disturbance *disturbance = context;
    const struct change *change = &changes[disturbance->kind];
    struct hc_client_recent recent;
    hc_client_recent(hc_sim_client(sim, CHANGED), &recent);
    disturbance->sum[disturbance->frames] = recent.input_delay + recent.lead;
    disturbance->late[disturbance->frames] = hc_server_stats(hc_sim_host(sim))->inputs_late;
    disturbance->frames++;
    if (disturbance->kind == HC_PATH_SCAN && us >= CHANGE_US)
        scan(sim, us);
    if (us != CHANGE_US)
        return;
    if (disturbance->kind == HC_PATH_SLOW_FRAME || disturbance->kind == HC_PATH_SUSPEND)
        hc_sim_freeze_client(sim, CHANGED, hc_sim_now(sim) + change->lasts_us);
    struct hc_network_sim_config up = way(change->up_us, change->jitter_us),
                                 down = way(change->down_us, JITTER_US);
    if (disturbance->kind != HC_PATH_SCAN)
        hc_sim_set_link(sim, CHANGED, &up, &down);
}

bool hc_path_change_play(enum hc_path_change kind, struct hc_path_result *result) {
    static struct hc_feel_result feel;
    static struct disturbance disturbance;
    const struct change *change = &changes[kind];
    struct hc_feel_config config = {
        .clients = CLIENTS, .seconds = SECONDS, .seed = 8, .frame = frame, .context = &disturbance};
    disturbance = (struct disturbance){.kind = kind};
    hc_client_timing_preset("ahead", &config.timing);
    config.up = config.down = way(0, JITTER_US);
    if (!hc_feel_match(&config, &feel))
        return false;
    uint32_t begin = CHANGE_US / HC_FEEL_FRAME_US,
             done = begin + change->lasts_us / HC_FEEL_FRAME_US,
             end = begin + WINDOW_US / HC_FEEL_FRAME_US - 1;
    uint64_t trip_us = (uint64_t)(2 * WAY_US + change->up_us + change->down_us);
    *result = (struct hc_path_result){
        .name = change->name,
        .before = disturbance.sum[begin],
        .after = disturbance.sum[end],
        .bound_us = trip_us + (change->falls ? HC_PATH_LOWERED_US : HC_PATH_RAISED_US),
        .late = feel.late,
        .forced = feel.forced,
        .refused = feel.refused,
        .lost = feel.lost,
        .clock_jumps = feel.clock_jumps};
    uint32_t right = change->ends ? result->before : result->after;
    for (uint32_t f = begin; f <= end; f++) {
        uint64_t since_us = (uint64_t)(f > done ? f - done : 0) * HC_FEEL_FRAME_US;
        result->most = disturbance.sum[f] > result->most ? disturbance.sum[f] : result->most;
        if (disturbance.sum[f] + 1 < right ||
            ((change->falls || change->ends) && disturbance.sum[f] > right + 1))
            result->right_us = since_us + HC_FEEL_FRAME_US;
        if (disturbance.late[f] != disturbance.late[f - 1])
            result->late_us = since_us;
    }
    uint64_t rise = result->most - result->before;
    uint64_t slews_us = rise * HC_PATH_SLEW * SECOND_US / HC_FEEL_RATE;
    result->late_bound_us = HC_PATH_RAISED_US + trip_us + slews_us;
    if (change->follows) // the reports cover the rise until then
        result->bound_us += slews_us + HC_MARGIN_WINDOW_US;
    return true;
}
