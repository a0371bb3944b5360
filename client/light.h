/// Light clients, which load a server as others do at little cost of their own: the handshake,
/// inputs, acks and encryption of a client, but no world and no prediction.
///
/// A light client opens each snapshot and reads its header, but none of its values. It acks
/// snapshots that it has not decoded, and so the server encodes the next ones against them, as for
/// any client.
#pragma once

#include "hindcast/client.h"

/// Creates a light client that starts to connect at `now_us`; its errors are those of
/// hc_client_create. All functions of hindcast/client.h take it. hc_client_world and
/// hc_client_timeline return NULL, and hc_client_show and hc_client_show_tick false.
/// snapshots_matched, rollbacks, rollback_depth, hash_checks, hash_mismatches and corrections of
/// its stats stay 0.
struct hc_client *hc_cl_light_create(const struct hc_client_config *config, uint64_t now_us);

/// Asks the processor to load what each datagram and each tick uses of a light client, at first by
/// `stage` 0, and a moment later by 1. The clients of a load test are together larger than the
/// caches.
void hc_cl_light_prefetch(const struct hc_client *client, unsigned stage);

/// Writes the newest predicted tick of any client to `*head`; false before its first snapshot.
bool hc_cl_light_head(const struct hc_client *client, hc_tick *head);

/// The server's tick rate in Hz, of any client; 0 before HC_CLIENT_EVENT_ACCEPTED.
uint32_t hc_cl_light_tick_rate(const struct hc_client *client);
