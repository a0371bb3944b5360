/// The configuration of a client, as a program passes it and as the library uses it.
#pragma once

#include "hindcast/client.h"

/// Writes the program's configuration over the defaults to `*whole`; false: its size is unknown.
bool hc_cl_config_complete(const struct hc_client_config *config, struct hc_client_config *whole);

/// The name of the first field of a whole configuration that is out of its range; NULL: none is.
const char *hc_cl_config_check(const struct hc_client_config *whole);
