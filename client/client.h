/// The parts of a client (hindcast/client.h): a link, its timing and a world.
#pragma once

#include "client/events.h"
#include "client/link/link.h"
#include "client/timing.h"
#include "client/world/desync.h"
#include "client/world/world.h"
#include "hindcast/client.h"

/// Only session.c writes to it, apart from the members that have a header of their own. The counts
/// are written where things happen: by link, timing, world and session.
struct hc_client {
    struct hc_client_config config; ///< The whole configuration, without entropy.
    struct hc_client_stats stats;
    enum hc_client_state state;
    uint32_t ahead_max;   ///< Input delay and lead are at most so many ticks together.
    uint64_t begun_us;    ///< The client was created at this time.
    uint64_t advanced_us; ///< The newest hc_client_advance was at this time.
    uint64_t lost_us;     ///< The connection was lost at this time, in HC_CLIENT_RECONNECTING.
    struct hc_cl_events events;
    struct hc_cl_link link;
    struct hc_cl_timing timing;
    struct hc_cl_desync desync;
    struct hc_cl_world *world; ///< NULL: the client is light.
};
