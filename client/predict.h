/// The prediction of a client: ticks ahead of the newest snapshot, with the inputs of their time.
#pragma once

#include "client/link/link.h"
#include "hindcast/client.h"

/// Predicts up to `tick`, or to the prediction limit; after the first snapshot.
void hc_cl_predict_up_to(struct hc_client *client, hc_tick tick, uint64_t now_us);

/// Predicts the ticks that are due, after the first snapshot. True: the client stalls, because it
/// must wait for the server.
bool hc_cl_predict_advance(struct hc_client *client, uint64_t now_us);

/// When the next tick is due, or the stall begins or counts the next one; after the first snapshot.
uint64_t hc_cl_predict_deadline(const struct hc_client *client);

/// The report of the next INPUT, also before the first snapshot.
struct hc_cl_input_report hc_cl_predict_report(const struct hc_client *client);
