/// Measures what the inspector costs a server: the notes and frames of a probe, and the text of its
/// events, in a match of 64 players whose inputs are late.
#include "tests/bench/bench.h"
#include "tests/bench/floor.h"

#include "hindcast/arena.h"
#include "server/daemon/inspector_text.h"
#include "tests/sim/players.h"

#include <stdio.h>
#include <stdlib.h>

enum { PLAYERS = 64, WARM_UP_S = 3, MEASURED_S = 20, EVERY_TICKS = 6 };

struct inspected {
    struct hc_sv_probe_seat seat;
    struct hc_rewind_log *log;
    struct hc_sv_json_text text;
    uint64_t work_ns, begun_ns;        ///< of the server
    uint64_t note_ns, text_ns, frames; ///< of the inspector
    uint64_t ticks, bytes;
};

static void host_works(void *context, struct hc_sim *sim, enum hc_sim_work work, bool begins) {
    struct inspected *inspected = context;
    (void)sim, (void)work;
    if (begins)
        inspected->begun_ns = bench_cpu_ns();
    else
        inspected->work_ns += bench_cpu_ns() - inspected->begun_ns;
}

/// Takes the frame as the control thread does, and makes its texts.
static void take(struct inspected *inspected, const struct hc_world *world) {
    struct hc_sv_probe *probe = inspected->seat.held;
    const struct hc_sv_probe_frame *frame = hc_sv_probe_take(probe);
    if (frame == NULL)
        return;
    uint64_t begun = bench_cpu_ns();
    hc_sv_json_text_clear(&inspected->text);
    hc_sv_inspector_text_frame(&inspected->text, world, frame, ++inspected->frames);
    hc_sv_inspector_text_sight(&inspected->text, world, &frame->sights[0], inspected->frames);
    inspected->text_ns += bench_cpu_ns() - begun;
    inspected->bytes += inspected->text.size;
    if (frame->client_count > 0)
        atomic_store(&probe->watched[0], frame->clients[0].session.cid);
    hc_sv_probe_return(probe);
}

static void host_ticked(void *context, struct hc_sim *sim) {
    struct inspected *inspected = context;
    struct hc_server *host = hc_sim_host(sim);
    const struct hc_sv_probe_work work = {.advance_us = 1};
    inspected->ticks++;
    if (inspected->log == NULL)
        return;
    uint64_t begun = bench_cpu_ns();
    hc_sv_probe_seat_renew(&inspected->seat, host, 1, inspected->log);
    hc_server_log_rewinds(host, inspected->log);
    hc_sv_probe_note(inspected->seat.held, host, inspected->log, &work, hc_sim_host_now(sim));
    inspected->note_ns += bench_cpu_ns() - begun;
    if (inspected->ticks % EVERY_TICKS == 0)
        take(inspected, hc_server_world(host));
}

/// Plays the match, looked at or not; false: it could not be played.
static bool play(struct inspected *inspected, bool watched) {
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, PLAYERS, 50, 3);
    hc_sim_fix_delays(&config.client, 0, 0);
    struct hc_sim *sim = hc_sim_create(&config);
    if (sim == NULL)
        return false;
    struct hc_sv_probe *probe = watched ? hc_sv_probe_create() : NULL;
    if (watched) {
        inspected->log = hc_rewind_log_create(hc_server_world(hc_sim_host(sim)), NULL);
        hc_sv_probe_offer(&inspected->seat, probe);
    }
    hc_sim_observe(sim,
                   &(struct hc_sim_hooks){.host_works = host_works, .host_ticked = host_ticked},
                   inspected);
    bool good = hc_sim_join_all(sim);
    hc_sim_run(sim, (uint64_t)WARM_UP_S * SECOND_US);
    inspected->work_ns = inspected->note_ns = inspected->text_ns = 0;
    inspected->ticks = inspected->frames = inspected->bytes = 0;
    hc_sim_run(sim, (uint64_t)MEASURED_S * SECOND_US);
    hc_sim_destroy(sim);
    free(probe);
    hc_rewind_log_destroy(inspected->log);
    hc_sv_json_text_free(&inspected->text);
    return good;
}

bool bench_inspector(const struct bench_options *options, json_t *json) {
    struct inspected alone = {.log = NULL}, watched = {.log = NULL};
    (void)options;
    if (!play(&alone, false) || !play(&watched, true)) {
        fprintf(stderr, "the match of %d players could not be played\n", PLAYERS);
        return false;
    }
    double ticks = (double)watched.ticks, frames = (double)watched.frames;
    double tick_us = (double)alone.work_ns / (double)alone.ticks / 1000;
    double logged_us = (double)watched.work_ns / ticks / 1000;
    double note_us = (double)watched.note_ns / ticks / 1000;
    double text_us = (double)watched.text_ns / frames / 1000;
    double log_us = logged_us > tick_us ? logged_us - tick_us : 0; // less: it is within the noise
    double each_s_us = 60 * (note_us + log_us) + 10 * text_us;
    printf("a tick of %d players            %8.1f us\n", PLAYERS, tick_us);
    printf("the same with a log of rewinds  %8.1f us\n", logged_us);
    printf("the probe, for each tick        %8.1f us\n", note_us);
    printf("the text of a frame             %8.1f us, %.0f bytes\n", text_us,
           (double)watched.bytes / frames);
    printf("in all, of a core               %8.2f %%\n", each_s_us / 10000);
    json_array_append_new(json, json_pack("{s:f, s:f, s:f, s:f, s:f}", "tick_us", tick_us,
                                          "logged_tick_us", logged_us, "note_us", note_us,
                                          "text_us", text_us, "core_pct", each_s_us / 10000));
    return true;
}
