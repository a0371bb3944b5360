/// Owns the steps of a simulated link, and the words for its conditions.
#include "client/view/simulated_link.h"

#include "hindcast/check.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { STEPS_MAX = 12, MS = 1000, PERCENT = HC_NETWORK_SIM_PPM / 100, KBIT_S = 125 };

/// A condition: its member in each direction that it is of, and its steps.
static const struct condition {
    const char *name, *unit;
    size_t offset;     ///< The offset of the member in struct hc_network_sim_config.
    uint32_t scale;    ///< The member counts 1/scale units.
    bool up, down;     ///< The directions.
    bool zero_is_most; ///< 0 is no limit.
    unsigned count;
    uint32_t steps[STEPS_MAX]; ///< [count] in ascending order, in `unit`
} conditions[HC_CL_CONDITIONS] = {
    {"latency",
     "ms",
     offsetof(struct hc_network_sim_config, latency_us),
     MS,
     true,
     true,
     false,
     12,
     {0, 5, 10, 20, 30, 50, 80, 100, 150, 200, 300, 500}},
    {"jitter",
     "ms",
     offsetof(struct hc_network_sim_config, jitter_us),
     MS,
     true,
     true,
     false,
     8,
     {0, 2, 5, 10, 20, 30, 50, 100}},
    {"loss",
     "%",
     offsetof(struct hc_network_sim_config, loss_ppm),
     PERCENT,
     true,
     true,
     false,
     8,
     {0, 1, 2, 5, 10, 20, 30, 50}},
    {"bandwidth up",
     "kbit/s",
     offsetof(struct hc_network_sim_config, bytes_per_s),
     KBIT_S,
     true,
     false,
     true,
     8,
     {8, 16, 32, 64, 128, 256, 512, 1024}},
    {"bandwidth down",
     "kbit/s",
     offsetof(struct hc_network_sim_config, bytes_per_s),
     KBIT_S,
     false,
     true,
     true,
     8,
     {8, 16, 32, 64, 128, 256, 512, 1024}},
};

static const char *const presets[] = {NULL, "good", "ok", "bad", "awful"};

static uint32_t get(const struct hc_network_sim_config *config, const struct condition *condition) {
    uint32_t value;
    memcpy(&value, (const char *)config + condition->offset, sizeof(value));
    return value;
}

static void set(struct hc_network_sim_config *config, const struct condition *condition,
                uint32_t value) {
    memcpy((char *)config + condition->offset, &value, sizeof(value));
}

/// The value of a condition, in its member's unit.
static uint32_t value_of(const struct hc_cl_simulated_link *link,
                         const struct condition *condition) {
    return get(condition->up ? &link->up : &link->down, condition);
}

/// Sets a condition, and what depends on it: no datagram arrives before it was sent, and a limited
/// bandwidth has a queue.
static void assign(struct hc_cl_simulated_link *link, const struct condition *condition,
                   uint32_t value) {
    struct hc_network_sim_config *const both[] = {&link->up, &link->down};
    const bool of[] = {condition->up, condition->down};
    for (unsigned i = 0; i < 2; i++) {
        if (!of[i])
            continue;
        set(both[i], condition, value);
        if (both[i]->jitter_us > both[i]->latency_us)
            both[i]->jitter_us = both[i]->latency_us;
        both[i]->queue_us = both[i]->bytes_per_s > 0 ? link->queue_us : 0;
    }
    link->preset = NULL;
}

static bool is_none(const struct hc_cl_simulated_link *link) {
    struct hc_network_sim_config none = hc_network_sim_config_default();
    return memcmp(&link->up, &none, sizeof(none)) == 0 &&
           memcmp(&link->down, &none, sizeof(none)) == 0;
}

struct hc_cl_simulated_link hc_cl_simulated_link_begin(const char *preset,
                                                       const struct hc_network_sim_config *both,
                                                       uint32_t queue_us) {
    return (struct hc_cl_simulated_link){
        .preset = preset, .up = *both, .down = *both, .queue_us = queue_us};
}

void hc_cl_simulated_link_next_preset(struct hc_cl_simulated_link *link) {
    enum { COUNT = sizeof(presets) / sizeof(*presets) };
    unsigned next = is_none(link) ? 1 : 0;
    for (unsigned i = 1; i < COUNT; i++)
        if (link->preset != NULL && strcmp(link->preset, presets[i]) == 0)
            next = (i + 1) % COUNT;
    link->preset = presets[next];
    link->up = hc_network_sim_config_default();
    if (link->preset != NULL)
        HC_ASSERT(hc_network_sim_preset(link->preset, &link->up));
    link->down = link->up;
}

bool hc_cl_simulated_link_step(struct hc_cl_simulated_link *link, bool more) {
    const struct condition *condition = &conditions[link->chosen];
    uint32_t value = value_of(link, condition), next = value;
    bool unlimited = condition->zero_is_most && value == 0;
    for (unsigned i = 0; i < condition->count; i++) { // the nearest step above, or below
        uint32_t step = condition->steps[i] * condition->scale;
        if (more && step > value && next == value && !unlimited)
            next = step;
        if (!more && (step < value || unlimited))
            next = step;
    }
    if (more && next == value && condition->zero_is_most)
        next = 0;
    if (link->chosen == HC_CL_CONDITION_JITTER && next > link->up.latency_us)
        next = link->up.latency_us;
    if (next == value)
        return false;
    assign(link, condition, next);
    return true;
}

void hc_cl_simulated_link_copy(struct hc_cl_simulated_link *link,
                               const struct hc_cl_simulated_link *from) {
    const struct condition *condition = &conditions[from->chosen];
    link->chosen = from->chosen;
    if (value_of(link, condition) != value_of(from, condition))
        assign(link, condition, value_of(from, condition));
}

struct hc_network_sim_config hc_cl_simulated_link_most(const struct hc_cl_simulated_link *link) {
    struct hc_network_sim_config most = link->up;
    for (unsigned i = 0; i < HC_CL_CONDITIONS; i++) {
        const struct condition *condition = &conditions[i];
        uint32_t last = condition->steps[condition->count - 1] * condition->scale;
        if (!condition->zero_is_most && get(&most, condition) < last)
            set(&most, condition, last);
    }
    most.bytes_per_s = KBIT_S; // so that its queue counts
    most.queue_us = link->queue_us;
    return most;
}

/// Writes the bandwidth of one direction.
static const char *bandwidth(const struct hc_network_sim_config *config, char text[static 24]) {
    snprintf(text, 24, config->bytes_per_s > 0 ? "%g" : "no limit", config->bytes_per_s / 125.0);
    return text;
}

void hc_cl_simulated_link_describe(const struct hc_cl_simulated_link *link, char *text,
                                   size_t size) {
    const struct hc_network_sim_config *up = &link->up;
    char of_up[24], of_down[24];
    bool limited = up->bytes_per_s > 0 || link->down.bytes_per_s > 0;
    if (is_none(link)) {
        snprintf(text, size, "no simulated link");
        return;
    }
    int at =
        snprintf(text, size, "%s%s%g ms +- %g, %g %% loss",
                 link->preset != NULL ? link->preset : "", link->preset != NULL ? " link: " : "",
                 up->latency_us / 1e3, up->jitter_us / 1e3, up->loss_ppm / 1e4);
    if (!limited || at < 0 || (size_t)at >= size)
        return;
    text += at;
    size -= (size_t)at;
    if (up->bytes_per_s == link->down.bytes_per_s)
        snprintf(text, size, ", %s kbit/s", bandwidth(up, of_up));
    else
        snprintf(text, size, ", %s up, %s down kbit/s", bandwidth(up, of_up),
                 bandwidth(&link->down, of_down));
}

void hc_cl_simulated_link_describe_chosen(const struct hc_cl_simulated_link *link, char *text,
                                          size_t size) {
    const struct condition *condition = &conditions[link->chosen];
    uint32_t value = value_of(link, condition);
    if (condition->zero_is_most && value == 0)
        snprintf(text, size, "%s: no limit", condition->name);
    else
        snprintf(text, size, "%s %g %s", condition->name, (double)value / condition->scale,
                 condition->unit);
}
