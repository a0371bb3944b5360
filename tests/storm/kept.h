/// Connections that are lost and made again: when either side takes one for lost, that players are
/// kept for as long as they must be and no longer, that nothing waits for their inputs meanwhile,
/// that who comes back in time has the same ones, and that a RESET has its connection's token.
#pragma once

#include "hindcast/client.h"
#include "server/host.h"

struct storm_match;
struct storm_conn;

/// What a client has to do with its connection, by its own clock.
struct storm_life {
    bool handed;         ///< it was handed a datagram just now,
    uint8_t handed_kind; ///< of this kind, and took it; 0: it did not
    bool lost;
    uint64_t begun_us, received_us, lost_us;
    uint64_t lost_at_us;   ///< when it was lost by the simulation's clock,
    uint64_t denied_at_us; ///< and when it was told to ask again later; 0: it was not
    hc_player players[HC_OWN_PLAYERS_MAX]; ///< that it was given last
};

/// The server says that it has begun, lost, or ended a connection; `conn` may be NULL.
void storm_kept_event(struct storm_match *match, const struct hc_sv_event *event,
                      const struct storm_conn *conn);

/// The server has advanced its head.
void storm_kept_ticked(struct storm_match *match);

/// The server sends the client in this seat something that is no DATA.
void storm_kept_answered(struct storm_match *match, unsigned client, const uint8_t *bytes,
                         size_t size);

/// A client has been created; it was handed a datagram; it tells an event; it has received or has
/// advanced.
void storm_kept_created(struct storm_match *match, unsigned client);
void storm_kept_received(struct storm_match *match, unsigned client, const uint8_t *bytes,
                         size_t size, enum hc_status status);
void storm_kept_client_event(struct storm_match *match, unsigned client,
                             const struct hc_client_event *event);
void storm_kept_changed(struct storm_match *match, unsigned client);
