/// Owns the typists of a match: their taps, their frames and the counts of their presses.
#include "tests/sim/tap_match.h"

#include "common/timeline.h"
#include "hindcast/rng.h"
#include "tests/sim/byte_game.h"
#include "tests/sim/players.h"

#include <string.h>

enum {
    EVENTS = 2 * HC_TAP_MATCH_TAPS,
    SPACING_US = 110 * MS_US, ///< from tap to tap, at least: more than two of the longest frames
    SPREAD_US = 20 * MS_US,   ///< more, drawn
    REST_US = 3 * SECOND_US,  ///< before the first tap and after the last one, in all
    KNOWN_TICKS = 30,         ///< behind the head all inputs have come
};

const uint32_t hc_tap_match_rates[HC_TAP_MATCH_CLIENTS] = {20, 30, 60, 144, 240, 1000};

static const struct hc_kind kinds[] = {BYTE_REFEREE,
                                       {"player", 1, 1, byte_fields, NULL, NULL, 0, 0}};
static const struct hc_slots owned[] = {{.kind = 1, .count = 1}};

static bool step(struct hc_scene *scene, hc_entity self, void *out) {
    *(uint8_t *)out = 0;
    return self == HC_REFEREE || hc_scene_roster(scene) == HC_ROSTER_JOIN ||
           hc_scene_state(scene, self) != NULL;
}

/// The person and the frames of one client.
struct typist {
    struct hc_client *client;
    uint64_t at_us[EVENTS]; ///< press, release, press, and so on
    unsigned next;
    uint64_t frame_us, next_frame_us;
    uint8_t was; ///< The button at the tick that was counted last.
};

struct match {
    const struct hc_tap_match_config *config;
    struct hc_sim *sim;
    struct hc_tap_match_count *counts;
    hc_tick counted; ///< Ticks before it are counted.
    struct typist typists[HC_TAP_MATCH_CLIENTS];
};

static void count(void *context, struct hc_sim *sim) {
    struct match *match = context;
    const struct hc_timeline *timeline = hc_server_timeline(hc_sim_host(sim));
    for (; match->counted + KNOWN_TICKS < hc_timeline_head(timeline); match->counted++)
        for (unsigned c = 0; c < HC_TAP_MATCH_CLIENTS; c++) {
            struct typist *typist = &match->typists[c];
            hc_player player = hc_client_player(typist->client, 0);
            const uint8_t *input = hc_timeline_input(timeline, player, match->counted);
            uint8_t is = input != NULL ? *input : 0;
            match->counts[c].presses += is && !typist->was;
            match->counts[c].ticks += is;
            typist->was = is;
        }
}

static void begin(struct match *match) {
    struct hc_rng rng = hc_rng_init(5, match->config->at_frames);
    uint64_t now_us = hc_sim_now(match->sim);
    match->counted = hc_timeline_head(hc_server_timeline(hc_sim_host(match->sim)));
    for (unsigned c = 0; c < HC_TAP_MATCH_CLIENTS; c++) {
        struct typist *typist = &match->typists[c];
        typist->client = hc_sim_client(match->sim, c);
        typist->frame_us = SECOND_US / hc_tap_match_rates[c];
        typist->next_frame_us = now_us + hc_rng_below(&rng, MS_US);
        for (unsigned k = 0; k < EVENTS; k += 2) {
            uint64_t at_us = now_us + SECOND_US + k / 2 * (uint64_t)SPACING_US;
            typist->at_us[k] = at_us + hc_rng_below(&rng, SPREAD_US);
            typist->at_us[k + 1] = typist->at_us[k] + match->config->tap_us;
        }
    }
}

/// Gives a client the events of its keys up to `now_us`.
static void take_events(struct typist *typist, uint64_t now_us) {
    for (; typist->next < EVENTS && typist->at_us[typist->next] <= now_us; typist->next++) {
        uint8_t input = typist->next % 2 == 0;
        hc_client_set_input(typist->client, 0, &input);
    }
}

/// When the client has its next frame, or takes its next event.
static uint64_t next_of(const struct match *match, const struct typist *typist) {
    uint64_t next_us = typist->next_frame_us;
    if (!match->config->at_frames && typist->next < EVENTS && typist->at_us[typist->next] < next_us)
        next_us = typist->at_us[typist->next];
    return next_us;
}

/// Plays up to `end_us`. Events come before a frame of the same time.
static void play(struct match *match, uint64_t end_us) {
    struct hc_sim *sim = match->sim;
    while (hc_sim_now(sim) < end_us) {
        uint64_t next_us = end_us;
        for (unsigned c = 0; c < HC_TAP_MATCH_CLIENTS; c++)
            if (next_of(match, &match->typists[c]) < next_us)
                next_us = next_of(match, &match->typists[c]);
        hc_sim_run_until(sim, next_us - 1);
        for (unsigned c = 0; c < HC_TAP_MATCH_CLIENTS; c++)
            if (next_of(match, &match->typists[c]) == next_us)
                take_events(&match->typists[c], next_us);
        hc_sim_run_until(sim, next_us);
        for (unsigned c = 0; c < HC_TAP_MATCH_CLIENTS; c++) {
            struct typist *typist = &match->typists[c];
            if (typist->next_frame_us > next_us)
                continue;
            typist->next_frame_us += typist->frame_us;
            hc_sim_freeze_client(sim, c, typist->next_frame_us);
        }
    }
}

bool hc_tap_match_play(const struct hc_tap_match_config *config,
                       struct hc_tap_match_count counts[HC_TAP_MATCH_CLIENTS]) {
    static struct match match;
    struct hc_field field = {
        .name = "button", .size = 1, .bits = 1, .sampling = (uint8_t)config->sampling};
    struct hc_game game = BYTE_GAME("taps", HC_TAP_MATCH_CLIENTS, kinds, owned, step);
    game.input_fields = &field;
    struct hc_sim_config sim = hc_sim_config_players(&game, HC_TAP_MATCH_CLIENTS, 30, 5);
    sim.hooks.script = NULL;
    memset(counts, 0, HC_TAP_MATCH_CLIENTS * sizeof *counts);
    match = (struct match){.config = config, .counts = counts, .sim = hc_sim_create(&sim)};
    bool played = match.sim != NULL && hc_sim_join_all(match.sim);
    if (played) {
        begin(&match);
        hc_sim_observe(match.sim, &(struct hc_sim_hooks){.host_ticked = count}, &match);
        play(&match, hc_sim_now(match.sim) + REST_US + HC_TAP_MATCH_TAPS * (uint64_t)SPACING_US);
    }
    hc_sim_destroy(match.sim);
    return played;
}
