/// Owns the defaults and the ranges of a client's configuration.
#include "client/config.h"

#include "proto/limits.h"

#include <sodium.h>
#include <stddef.h>
#include <string.h>

/// The size of the first struct hc_client_config with a size. A program of this library's SONAME
/// has at least its members.
enum { CONFIG_SIZE_MIN = offsetof(struct hc_client_config, log_context) + sizeof(void *) };

/// The size from which on delays can be automatic.
enum { AUTOMATIC_SIZE = offsetof(struct hc_client_config, lead_max) + sizeof(uint32_t) };

/// The preset that is the default.
static const struct hc_client_timing balanced = {.input_delay_max = 3, .lead_max = 1};

void hc_client_config_init(struct hc_client_config *config, uint32_t size) {
    bool automatic = size >= AUTOMATIC_SIZE;
    struct hc_client_config whole = {
        .size = size,
        .players = 1,
        .extrapolation = HC_EXTRAPOLATION_STEP,
        .input_delay = automatic ? balanced.input_delay : balanced.input_delay_max,
        .input_delay_max = balanced.input_delay_max,
        .lead_max = balanced.lead_max,
        .prediction_limit = 64,
        .smoothing_us = 50000,
        .timeout_us = HC_TIMEOUT_US,
        .reconnect_us = HC_RECONNECT_US,
    };
    memset(config, 0, size);
    memcpy(config, &whole, size < sizeof whole ? size : sizeof whole);
}

bool hc_cl_config_complete(const struct hc_client_config *config, struct hc_client_config *whole) {
    if (config->size < CONFIG_SIZE_MIN || config->size > sizeof *whole)
        return false;
    hc_client_config_init(whole, sizeof *whole);
    if (config->size < AUTOMATIC_SIZE) // its delays are fixed
        whole->input_delay_max = whole->lead_max = 0;
    memcpy(whole, config, config->size);
    return true;
}

const char *hc_cl_config_check(const struct hc_client_config *config) {
    if (config->game == NULL)
        return "game";
    if (config->players > HC_OWN_PLAYERS_MAX)
        return "players";
    if (config->extrapolation > HC_EXTRAPOLATION_STEP)
        return "extrapolation";
    if (config->input_delay > HC_INPUT_DELAY_MAX)
        return "input_delay";
    if (config->display_offset > HC_DISPLAY_OFFSET_MAX)
        return "display_offset";
    if (config->display_offset_max > HC_DISPLAY_OFFSET_MAX)
        return "display_offset_max";
    if (config->others > HC_OTHERS_AS_RECEIVED)
        return "others";
    if (config->lead > HC_LEAD_MAX)
        return "lead";
    if (config->prediction_limit < 1 || config->prediction_limit > HC_PREDICTION_LIMIT_MAX)
        return "prediction_limit";
    if (config->input_redundancy > HC_INPUT_RUN_MAX)
        return "input_redundancy";
    if (config->ticks_per_advance > HC_TICKS_PER_ADVANCE_MAX)
        return "ticks_per_advance";
    if (config->input_delay_max > HC_INPUT_DELAY_MAX)
        return "input_delay_max";
    if (config->lead_max > HC_LEAD_MAX)
        return "lead_max";
    if (config->prediction_limit <= config->lead || config->prediction_limit <= config->lead_max)
        return "prediction_limit"; // it would stall for good
    if (config->entropy != NULL && sodium_is_zero(config->entropy, HC_CLIENT_ENTROPY_SIZE))
        return "entropy"; // the caller has not set it
    return config->timeout_us == 0 ? "timeout_us" : NULL;
}

struct hc_client_timing hc_cl_config_timing(const struct hc_client_config *config) {
    return (struct hc_client_timing){.input_delay = config->input_delay,
                                     .input_delay_max = config->input_delay_max,
                                     .lead = config->lead,
                                     .lead_max = config->lead_max};
}

void hc_cl_config_set_timing(struct hc_client_config *config,
                             const struct hc_client_timing *timing) {
    config->input_delay = timing->input_delay;
    config->input_delay_max = timing->input_delay_max;
    config->lead = timing->lead;
    config->lead_max = timing->lead_max;
}

uint32_t hc_cl_config_ahead(const struct hc_client_config *config) {
    uint32_t delay = config->input_delay, lead = config->lead;
    return (delay > config->input_delay_max ? delay : config->input_delay_max) +
           (lead > config->lead_max ? lead : config->lead_max);
}

bool hc_client_timing_preset(const char *name, struct hc_client_timing *timing) {
    const struct {
        const char *name;
        struct hc_client_timing timing;
    } presets[] = {{"rewind", {.input_delay = 0}},
                   {"balanced", balanced},
                   {"ahead", {.input_delay_max = 3, .lead_max = 20}}};
    for (size_t i = 0; i < sizeof presets / sizeof *presets; i++)
        if (strcmp(name, presets[i].name) == 0) {
            *timing = presets[i].timing;
            return true;
        }
    return false;
}

const char *hc_client_config_check(const struct hc_client_config *config) {
    struct hc_client_config whole;
    if (!hc_cl_config_complete(config, &whole))
        return "size";
    const char *found = hc_cl_config_check(&whole);
    sodium_memzero(&whole, sizeof whole);
    return found;
}
