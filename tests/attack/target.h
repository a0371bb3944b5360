/// A server as the rows attack it with raw clients.
#pragma once

#include "tests/sim/raw_client.h"

/// Creates a host for `clients`, whose secret is as random as a daemon's.
struct raw_host target_create(uint16_t clients);
