/// The calls of a client to the page: lines of its log, and the beginnings and ends of rollbacks.
#pragma once

#include "hindcast/client.h"

/// Makes a client of this configuration call hindcast.js, which knows it by `number`, no address;
/// `rollbacks`: also for each rollback.
HC_EXPORT void hc_web_hook(struct hc_client_config *config, void *number, bool rollbacks);
