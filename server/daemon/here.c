/// Owns the place of each thread.
#include "server/daemon/here.h"

#include "hindcast/timeline.h"

#include <stddef.h>

/// Volatile: a handler of the same thread reads it.
static _Thread_local struct {
    volatile unsigned match;
    const char *volatile phase;
    const struct hc_server *volatile server;
} here;

void hc_sv_here_begin(unsigned match, const char *phase, const struct hc_server *server) {
    here.phase = phase;
    here.server = server;
    here.match = match;
}

void hc_sv_here_end(void) {
    here.match = 0;
}

struct hc_sv_here hc_sv_here_now(void) {
    struct hc_sv_here now = {.match = here.match, .phase = here.phase};
    if (now.match == 0 || here.server == NULL)
        return now;
    const struct hc_timeline *timeline = hc_server_timeline(here.server);
    now.steps = hc_timeline_stepping(timeline, &now.tick, &now.entity);
    if (!now.steps)
        now.tick = hc_timeline_head(timeline);
    return now;
}
