/// The configuration of a client, as a program passes it and as the library uses it.
#pragma once

#include "hindcast/client.h"

/// Writes the program's configuration over the defaults to `*whole`; false: its size is unknown.
bool hc_cl_config_complete(const struct hc_client_config *config, struct hc_client_config *whole);

/// The name of the first field of a whole configuration that is out of its range; NULL: none is.
const char *hc_cl_config_check(const struct hc_client_config *whole);

/// Input delay and lead of a configuration.
struct hc_client_timing hc_cl_config_timing(const struct hc_client_config *config);

/// Sets input delay and lead of a configuration.
void hc_cl_config_set_timing(struct hc_client_config *config,
                             const struct hc_client_timing *timing);

/// The most ticks that input delay and lead may become together.
uint32_t hc_cl_config_ahead(const struct hc_client_config *config);
