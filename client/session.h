/// The calls of a client (hindcast/client.h) for bots, beside its public face.
///
/// A light client is a link without a world: it loads a server as others do at little cost of its
/// own, with the handshake, inputs, acks and encryption of a client, but it decodes no snapshot and
/// predicts no world.
#pragma once

#include "hindcast/client.h"
#include "hindcast/rewind.h"

/// Creates a light client that starts to connect at `now_us`; its errors are those of
/// hc_client_create. All functions of hindcast/client.h take it. hc_client_world and
/// hc_client_timeline return NULL, and hc_client_show and hc_client_show_tick false.
/// snapshots_matched, rollbacks, rollback_depth, hash_checks, hash_mismatches and corrections of
/// its counts stay 0.
struct hc_client *hc_cl_session_create_light(const struct hc_client_config *config,
                                             uint64_t now_us);

/// Records the rollbacks of the present world in `log`, which is of its parameters, and calls
/// `watch` for its work (hc_timeline_watch); both may be NULL. False: there is no world yet.
bool hc_cl_session_watch(struct hc_client *client, struct hc_rewind_log *log,
                         hc_timeline_watch *watch, void *context);

/// Writes the newest predicted tick to `*head`; false before the first snapshot.
bool hc_cl_session_head(const struct hc_client *client, hc_tick *head);

/// The server's tick rate in Hz; 0 before HC_CLIENT_EVENT_ACCEPTED.
uint32_t hc_cl_session_tick_rate(const struct hc_client *client);
