/// The event loops of the programs: a base with exact timers, and what each program does with its
/// events. A program that includes this links libevent.
#pragma once

#include "common/elapsed.h"
#include "common/programs/clock.h"

#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>

/// A base for one thread; the caller frees it. NULL: no memory or no descriptors.
static inline struct event_base *hc_loop_create(void) {
    struct event_base *base = NULL;
    struct event_config *config = event_config_new();
    if (config == NULL)
        return NULL;
    // Without these, timers are up to 3 ms late, and early by the duration of a callback.
    event_config_set_flag(config, EVENT_BASE_FLAG_PRECISE_TIMER);
    event_config_set_flag(config, EVENT_BASE_FLAG_NO_CACHE_TIME);
    base = event_base_new_with_config(config);
    event_config_free(config);
    return base;
}

/// Frees a base after its loop has ended; NULL is allowed.
static inline void hc_loop_free(struct event_base *base) {
    if (base != NULL)
        event_base_free(base);
}

/// Registers an event without a timeout. False: `event` is NULL, or there is no memory.
static inline bool hc_loop_add(struct event *event) {
    return event != NULL && event_add(event, NULL) == 0;
}

/// Lets a timer call back at `deadline_us`; `now_us` is the time of hc_clock_us. A deadline is
/// absolute, so errors of a timer that is set again and again do not add up.
static inline void hc_loop_arm(struct event *timer, uint64_t deadline_us, uint64_t now_us) {
    struct timeval timeout = hc_clock_span(hc_since(now_us, deadline_us));
    evtimer_add(timer, &timeout);
}

/// Frees an event; NULL is allowed.
static inline void hc_loop_free_event(struct event *event) {
    if (event != NULL)
        event_free(event);
}
