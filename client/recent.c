/// Owns the recent state of a client for a display: its losses, its input buffer, its rollbacks.
#include "client/session_internal.h"

enum {
    LOSS_SHIFT = 6, ///< an outcome counts for 1/64
    LOSS_SPAN = 64, ///< datagrams of the server that are examined at
    MILLION = 1000000,
};

void hc_cl_recent_sent(struct hc_cl_recent *recent, uint32_t acked, uint32_t lost) {
    for (; acked > 0; acked--)
        recent->loss_up_ppm -= recent->loss_up_ppm >> LOSS_SHIFT;
    for (; lost > 0; lost--)
        recent->loss_up_ppm += (MILLION - recent->loss_up_ppm) >> LOSS_SHIFT;
}

/// The share of the server's newest datagrams that have not arrived. Those that may still come are
/// left out.
static uint32_t loss_down_ppm(const struct hc_replay *replay) {
    uint32_t missing = 0, examined = 0;
    for (uint32_t back = HC_LOST_AFTER; back < HC_LOST_AFTER + LOSS_SPAN; back++) {
        if (back >= replay->newest)
            break;
        examined++;
        missing += hc_replay_check(replay, replay->newest - back) == HC_OK;
    }
    return examined == 0 ? 0 : (uint32_t)((uint64_t)missing * MILLION / examined);
}

bool hc_client_recent(const struct hc_client *client, struct hc_client_recent *recent) {
    const struct hc_snapshot *newest = &client->newest.snapshot;
    *recent = (struct hc_client_recent){.input_delay = client->prediction.input_delay,
                                        .lead = client->prediction.lead};
    if (!client->newest.any)
        return false;
    recent->rtt_us = client->connection.srtt_us;
    recent->jitter_us = client->connection.rttvar_us;
    recent->loss_up_ppm = client->recent.loss_up_ppm;
    recent->loss_down_ppm = loss_down_ppm(&client->connection.replay);
    for (uint8_t i = 0; i < newest->own_count; i++) {
        int32_t buffer = (int32_t)(newest->complete[i] + 1 - newest->as_of);
        if (i == 0 || buffer < recent->input_buffer)
            recent->input_buffer = buffer;
    }
    recent->predicted_ticks = hc_cl_predict_head(client) - newest->tick;
    recent->rollback_ticks = client->recent.rollback_ticks;
    recent->others_ticks = hc_cl_display_others(&client->display);
    return true;
}
