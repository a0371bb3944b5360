/// The probe of a match: each tick and each rewind reaches the inspector once, in bounded frames,
/// and a probe that is withdrawn is given back.
#include "server/daemon/probe.h"

#include "tests/scenario/scenario.h"

#include "hindcast/arena.h"
#include "tests/run_suite.h"
#include "tests/sim/byte_game.h"

#include <stdlib.h>
#include <string.h>

enum { CLIENTS = 4, TAKE_EVERY = 6 };

struct match {
    struct hc_sv_probe_seat seat;
    struct hc_rewind_log *log;
    uint64_t worlds;
    unsigned take_every; ///< ticks after which a frame is taken
    hc_tick newest;      ///< of the frames so far
    uint64_t rewinds, ticks, frames, lost_ticks, shown;
    uint32_t cid;
};

/// Takes the frame, if it is full, and checks it.
static void take(struct match *match, struct hc_sim *sim) {
    struct hc_sv_probe *probe = match->seat.held;
    const struct hc_sv_probe_frame *frame = probe != NULL ? hc_sv_probe_take(probe) : NULL;
    const struct hc_timeline *timeline = hc_server_timeline(hc_sim_host(sim));
    if (frame == NULL)
        return;
    match->frames++;
    bool good = true; // few assertions: each is slow
    for (uint32_t i = 0; i < frame->history.tick_count; i++) {
        bool follows =
            match->newest == 0 || i > 0 || frame->history.lost_ticks > 0
                ? frame->history.ticks[i].tick > match->newest
                : frame->history.ticks[i].tick == match->newest + frame->history.ticks[i].count;
        good &= follows;
        match->newest = frame->history.ticks[i].tick;
    }
    match->ticks += frame->history.tick_count;
    match->rewinds += frame->history.rewind_count + frame->history.lost_rewinds;
    match->lost_ticks += frame->history.lost_ticks;
    match->shown += frame->sights[0].count;
    good &= frame->history.worlds == match->worlds;
    good &= frame->head <= hc_timeline_head(timeline);
    good &= frame->client_total == frame->client_count;
    ck_assert(good);
    if (frame->client_count > 0)
        match->cid = frame->clients[0].session.cid;
    atomic_store(&probe->watched[0], match->cid);
    hc_sv_probe_return(probe);
}

static void host_ticked(void *context, struct hc_sim *sim) {
    struct match *match = context;
    struct hc_server *host = hc_sim_host(sim);
    const struct hc_sv_probe_work work = {.advance_us = 100};
    if (!hc_sv_probe_seat_is_taken(&match->seat))
        return;
    hc_sv_probe_seat_renew(&match->seat, host, match->worlds, match->log);
    hc_server_log_rewinds(host, match->seat.held != NULL ? match->log : NULL);
    if (match->seat.held != NULL)
        hc_sv_probe_note(match->seat.held, host, match->log, &work, hc_sim_host_now(sim));
    if (hc_timeline_head(hc_server_timeline(host)) % match->take_every == 0)
        take(match, sim);
}

/// A match of `clients` whose inputs are late.
static struct hc_sim *begin(struct match *match, unsigned clients) {
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, clients, 60, 5);
    hc_sim_fix_delays(&config.client, 0, 0);
    struct hc_sim *sim = hc_sim_create(&config);
    ck_assert_ptr_nonnull(sim);
    *match = (struct match){.worlds = 1, .take_every = TAKE_EVERY};
    match->log = hc_rewind_log_create(hc_server_world(hc_sim_host(sim)), NULL);
    hc_sim_observe(sim, &(struct hc_sim_hooks){.host_ticked = host_ticked}, match);
    ck_assert(hc_sim_join_all(sim));
    return sim;
}

static struct hc_sv_probe *offer(struct match *match) {
    struct hc_sv_probe *probe = hc_sv_probe_create();
    ck_assert_ptr_nonnull(probe);
    hc_sv_probe_offer(&match->seat, probe);
    return probe;
}

START_TEST(frames_have_each_tick_and_each_rewind_once) {
    struct match match;
    struct hc_sim *sim = begin(&match, CLIENTS);
    const struct hc_timeline_stats *stats = hc_timeline_stats(hc_server_timeline(hc_sim_host(sim)));
    struct hc_sv_probe *probe = offer(&match);
    uint64_t rewinds = stats->rewinds;
    hc_sim_run(sim, 5 * SECOND_US);
    while (match.newest < hc_timeline_head(hc_server_timeline(hc_sim_host(sim)))) {
        take(&match, sim); // the frame that is full, then one more tick
        hc_sim_run(sim, SECOND_US / 60);
    }
    ck_assert_uint_ge(match.ticks, 5 * 60 - 2);
    ck_assert_uint_eq(match.lost_ticks, 0);
    ck_assert_uint_gt(match.rewinds, 60);
    ck_assert_uint_le(match.rewinds, stats->rewinds - rewinds);
    ck_assert_uint_ge(match.rewinds + 3, stats->rewinds - rewinds);
    ck_assert_uint_gt(match.shown, match.frames);
    hc_sim_destroy(sim);
    free(probe);
    hc_rewind_log_destroy(match.log);
}
END_TEST

START_TEST(ticks_for_which_a_late_frame_has_no_room_are_counted) {
    struct match match;
    struct hc_sim *sim = begin(&match, CLIENTS);
    match.take_every = 4 * HC_SV_PROBE_TICKS;
    struct hc_sv_probe *probe = offer(&match);
    hc_sim_run(sim, (uint64_t)12 * HC_SV_PROBE_TICKS * SECOND_US / 60);
    ck_assert_uint_gt(match.lost_ticks, 2 * HC_SV_PROBE_TICKS);
    ck_assert_uint_ge(match.frames, 2);
    hc_sim_destroy(sim);
    free(probe);
    hc_rewind_log_destroy(match.log);
}
END_TEST

START_TEST(a_probe_is_given_back_whether_it_was_taken_or_not) {
    struct match match;
    struct hc_sim *sim = begin(&match, CLIENTS);
    struct hc_sv_probe *probe = offer(&match);
    ck_assert(hc_sv_probe_withdraw(&match.seat, probe)); // no tick was between
    hc_sv_probe_offer(&match.seat, probe);
    hc_sim_run(sim, SECOND_US);
    ck_assert_uint_gt(match.frames, 0);
    ck_assert(!hc_sv_probe_withdraw(&match.seat, probe));
    ck_assert(!hc_sv_probe_has_left(probe));
    struct hc_sv_probe *next = offer(&match); // somebody looks again at once
    match.newest = 0;
    hc_sim_run(sim, SECOND_US);
    ck_assert(hc_sv_probe_has_left(probe));
    ck_assert_ptr_eq(match.seat.held, next);
    free(probe);
    uint64_t count = hc_rewind_log_count(match.log);
    ck_assert(!hc_sv_probe_withdraw(&match.seat, next));
    hc_sim_run(sim, SECOND_US);
    ck_assert(!hc_sv_probe_seat_is_taken(&match.seat));
    count = hc_rewind_log_count(match.log);
    hc_sim_run(sim, SECOND_US); // nobody looks: nothing is recorded
    ck_assert_uint_eq(hc_rewind_log_count(match.log), count);
    free(next);
    hc_sim_destroy(sim);
    hc_rewind_log_destroy(match.log);
}
END_TEST

START_TEST(another_world_begins_anew) {
    struct match match;
    struct hc_sim *sim = begin(&match, CLIENTS);
    struct hc_sv_probe *probe = offer(&match);
    hc_sim_run(sim, SECOND_US);
    ck_assert_uint_gt(match.newest, 0);
    ck_assert(hc_sim_restart_host(sim));
    if (hc_sv_probe_take(probe) != NULL)
        hc_sv_probe_return(probe);
    match.worlds = 2;
    match.newest = 0;
    ck_assert(hc_sim_join_all(sim));
    uint64_t rewinds = match.rewinds;
    hc_sim_run(sim, 2 * SECOND_US);
    ck_assert_uint_gt(match.newest, 0);
    ck_assert_uint_gt(match.rewinds, rewinds);
    hc_sim_destroy(sim);
    free(probe);
    hc_rewind_log_destroy(match.log);
}
END_TEST

// ---- A large world ------------------------------------------------------------------------------

enum { ROCKS = 5000 };

struct rock {
    int32_t x, y;
};

static const struct hc_field rock_fields[] = {HC_FIELD(struct rock, x, 32, true),
                                              HC_FIELD(struct rock, y, 32, true)};
static const struct hc_kind rock_kinds[] = {
    BYTE_REFEREE,
    {.name = "rock",
     .state_size = sizeof(struct rock),
     .field_count = 2,
     .fields = rock_fields,
     .x = "x",
     .y = "y"},
};
static const struct hc_slots rock_owned[] = {{1, 1, 0}}, rock_unowned[] = {{1, ROCKS, 0}};

static bool rock_start(const struct hc_world *world, hc_entity self, void *out) {
    if (self == HC_REFEREE)
        return true;
    *(struct rock *)out = (struct rock){.x = self, .y = -(int32_t)self};
    return world->owner_of[self] == HC_NO_PLAYER;
}

static bool rock_step(struct hc_scene *scene, hc_entity self, void *out) {
    const void *state = hc_scene_state(scene, self);
    if (state != NULL)
        memcpy(out, state, hc_world_kind(scene->world, self)->state_size);
    return state != NULL;
}

START_TEST(a_large_world_is_sampled_evenly) {
    struct hc_game game = BYTE_GAME("rocks", 4, rock_kinds, rock_owned, rock_step);
    game.start = rock_start;
    game.unowned = rock_unowned;
    game.unowned_count = 1;
    struct hc_server_config config = hc_server_config_default();
    config.game = &game;
    config.clients = 4;
    config.keys.count = 1;
    struct hc_server *server = hc_server_create(&config, SECOND_US, 0);
    ck_assert_ptr_nonnull(server);
    struct match match = {.log = hc_rewind_log_create(hc_server_world(server), NULL)};
    struct hc_sv_probe *probe = offer(&match);
    const struct hc_sv_probe_work work = {.advance_us = 1};
    hc_server_advance(server, SECOND_US);
    hc_sv_probe_seat_renew(&match.seat, server, 1, match.log);
    hc_sv_probe_note(probe, server, match.log, &work, SECOND_US);
    const struct hc_sv_probe_frame *frame = hc_sv_probe_take(probe);
    ck_assert_ptr_nonnull(frame);
    ck_assert_uint_eq(frame->alive, ROCKS);
    ck_assert_uint_eq(frame->every, (ROCKS + HC_SV_PROBE_ENTITIES - 1) / HC_SV_PROBE_ENTITIES);
    ck_assert_uint_ge(frame->entity_count, ROCKS / frame->every - 1);
    bool good = true;
    for (uint32_t i = 0; i < frame->entity_count; i++) {
        const struct hc_sv_probe_entity *entity = &frame->entities[i];
        good &= entity->x == entity->entity && entity->y == -(int64_t)entity->entity;
        good &= i == 0 || entity->entity == entity[-1].entity + frame->every;
    }
    ck_assert(good);
    hc_server_destroy(server);
    hc_rewind_log_destroy(match.log);
    free(probe);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("probe");
    TCase *tc = tcase_create("probe");
    tcase_add_test(tc, frames_have_each_tick_and_each_rewind_once);
    tcase_add_test(tc, ticks_for_which_a_late_frame_has_no_room_are_counted);
    tcase_add_test(tc, a_probe_is_given_back_whether_it_was_taken_or_not);
    tcase_add_test(tc, another_world_begins_anew);
    tcase_add_test(tc, a_large_world_is_sampled_evenly);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
