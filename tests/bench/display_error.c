/// Samples of shown players, and their distance from the final states.
#include "tests/bench/display_error.h"

#include "hindcast/arena.h"

#include <math.h>
#include <stdlib.h>

enum { WHOLE = 65536, UNIT = 256 };

void bench_display_error_sample(struct bench_display_error *display_error, struct hc_sim *sim,
                                unsigned client, const struct hc_sv_peer *peer) {
    const struct hc_client *from = hc_sim_client(sim, client);
    uint64_t now_us = hc_sim_client_now(sim, client);
    const struct hc_world *world = hc_client_world(from);
    hc_tick tick;
    uint32_t fraction;
    if (!hc_client_show_tick(from, now_us, &tick, &fraction))
        return;
    for (hc_player p = 0; p < world->players && display_error->pending < BENCH_DISPLAY_PENDING;
         p++) {
        struct hc_client_shown seen;
        hc_entity entity = hc_world_player(world, p);
        if (p == peer->replication.own[0] ||
            !hc_sv_view_sees(&peer->replication.interest.view, (hc_unit)(1 + p)))
            continue;
        struct bench_display_error_sample *sample =
            &display_error->samples[display_error->pending++];
        *sample = (struct bench_display_error_sample){
            .tick = tick,
            .fraction = fraction,
            .entity = entity,
            .there = hc_client_show(from, now_us, entity, &seen)};
        if (sample->there) {
            sample->x = HC_SHOWN(&seen, struct hc_arena_player, x);
            sample->y = HC_SHOWN(&seen, struct hc_arena_player, y);
        }
    }
}

/// The living player at `tick`; NULL: absent or dead.
static const struct hc_arena_player *truth(const struct hc_server *host, hc_tick tick,
                                           hc_entity entity) {
    const uint8_t *states = hc_timeline_states(host->timeline, tick);
    const struct hc_arena_player *player =
        (const void *)(states + (size_t)entity * host->world.stride);
    bool alive = hc_timeline_presence(host->timeline, tick)[entity] == HC_ALIVE;
    return alive && player->health > 0 ? player : NULL;
}

static void judge(struct bench_display_error *display_error, const struct hc_server *host,
                  const struct bench_display_error_sample *sample) {
    const struct hc_arena_player *from = truth(host, sample->tick, sample->entity);
    const struct hc_arena_player *to = truth(host, sample->tick + 1, sample->entity);
    if (from == NULL || to == NULL)
        return;
    int64_t dx = to->x - from->x, dy = to->y - from->y, limit = host->world.game->kinds[1].teleport;
    if (llabs(dx) > limit || llabs(dy) > limit)
        return;
    if (!sample->there) {
        display_error->unseen++;
        return;
    }
    double x = from->x + (double)dx * sample->fraction / WHOLE;
    double y = from->y + (double)dy * sample->fraction / WHOLE;
    hc_histogram_record(&display_error->error,
                        (uint64_t)(UNIT * hypot(sample->x - x, sample->y - y)));
}

void bench_display_error_judge(struct bench_display_error *display_error,
                               const struct hc_server *host) {
    hc_tick oldest = hc_timeline_oldest(host->timeline);
    uint32_t waiting = 0;
    for (uint32_t i = 0; i < display_error->pending; i++) {
        const struct bench_display_error_sample *sample = &display_error->samples[i];
        if (sample->tick >= host->replicator.final)
            display_error->samples[waiting++] = *sample;
        else if (sample->tick >= oldest)
            judge(display_error, host, sample);
    }
    display_error->pending = waiting;
}
