/// The prediction of a client: ticks ahead of the newest snapshot, with the inputs of their time.
#pragma once

#include "client/link/link.h"
#include "hindcast/client.h"

/// How many ticks behind the newest predicted one a client shows its world.
struct hc_cl_behind {
    uint32_t own;      ///< The own players are shown so many ticks behind.
    uint32_t others;   ///< The others are shown so many ticks behind.
    uint32_t farthest; ///< Nothing is shown more ticks behind.
    uint32_t rollback; ///< The newest rollback began so many ticks behind; 0: there was none.
    hc_tick oldest;    ///< Nothing before this tick is shown.
};

/// The result of an advance.
struct hc_cl_predict_result {
    bool stalled; ///< The client must wait for the server.
    bool jumped;  ///< The client's position in simulated time has jumped.
};

/// Predicts up to `tick`, or to the prediction limit; after the first snapshot.
void hc_cl_predict_up_to(struct hc_client *client, hc_tick tick);

/// Predicts the ticks that are due, as many as one advance may; after the first snapshot.
struct hc_cl_predict_result hc_cl_predict_advance(struct hc_client *client, uint64_t now_us);

/// When the next tick is due, or the stall begins or counts the next one; after the first snapshot.
uint64_t hc_cl_predict_deadline(const struct hc_client *client);

/// How far behind the client shows its world. A light client shows nothing, and reports what it is
/// configured to show.
struct hc_cl_behind hc_cl_predict_behind(const struct hc_client *client);

/// The report of the next INPUT, also before the first snapshot.
struct hc_cl_input_report hc_cl_predict_report(const struct hc_client *client);
