/// Short taps of a button count once each on the server, whatever the frames of the client.
#include "tests/scenario/scenario.h"
#include "tests/sim/byte_game.h"

#include "hindcast/rng.h"
#include "tests/run_suite.h"

#include <stdlib.h>

enum {
    TAPS = 200,
    SPACING_US = 110 * MS_US, ///< from tap to tap, at least
    CLIENTS = 6,
    LENGTHS = 4,
};

static const uint32_t frames_per_second[CLIENTS] = {20, 30, 60, 144, 240, 1000};
static const uint32_t length_us[LENGTHS] = {4 * MS_US, 8 * MS_US, 12 * MS_US, 20 * MS_US};

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
    uint64_t at_us[2 * TAPS]; ///< press, release, press, and so on
    unsigned next;
    uint64_t frame_us, next_frame_us;
};

/// A play, whose typists tap from a second on.
struct play {
    struct hc_game game;
    struct hc_field field;
    struct scenario *scenario;
    bool at_frames; ///< A client takes the events of its keys at its frames, else as they come.
    uint32_t tap_us;
    struct typist typists[CLIENTS];
};

static struct play *begin(enum hc_sampling sampling, bool at_frames, uint32_t tap_us) {
    struct play *play = calloc(1, sizeof *play);
    ck_assert_ptr_nonnull(play);
    play->game = (struct hc_game)BYTE_GAME("taps", CLIENTS, kinds, owned, step);
    play->field =
        (struct hc_field){.name = "button", .size = 1, .bits = 1, .sampling = (uint8_t)sampling};
    play->game.input_fields = &play->field;
    play->at_frames = at_frames;
    play->tap_us = tap_us;
    struct hc_sim_config config = hc_sim_config_players(&play->game, CLIENTS, 30, 5);
    config.hooks.script = NULL;
    play->scenario = scenario_create(&config);
    ck_assert(hc_sim_join_all(play->scenario->sim));
    struct hc_rng rng = hc_rng_init(5, at_frames);
    for (unsigned c = 0; c < CLIENTS; c++) {
        struct typist *typist = &play->typists[c];
        uint64_t at_us = hc_sim_now(play->scenario->sim) + SECOND_US;
        typist->client = hc_sim_client(play->scenario->sim, c);
        typist->frame_us = SECOND_US / frames_per_second[c];
        typist->next_frame_us = hc_sim_now(play->scenario->sim) + hc_rng_below(&rng, 1000);
        for (unsigned k = 0; k < TAPS; k++, at_us += SPACING_US) {
            typist->at_us[2 * k] = at_us + hc_rng_below(&rng, 20 * MS_US);
            typist->at_us[2 * k + 1] = typist->at_us[2 * k] + tap_us;
        }
    }
    return play;
}

/// Gives a client the events of its keys up to `now_us`.
static void take_events(struct typist *typist, uint64_t now_us) {
    for (; typist->next < 2 * TAPS && typist->at_us[typist->next] <= now_us; typist->next++) {
        uint8_t input = typist->next % 2 == 0;
        hc_client_set_input(typist->client, 0, &input);
    }
}

/// When the client has its next frame, or takes its next event.
static uint64_t next_of(const struct play *play, const struct typist *typist) {
    uint64_t next_us = typist->next_frame_us;
    if (!play->at_frames && typist->next < 2 * TAPS && typist->at_us[typist->next] < next_us)
        next_us = typist->at_us[typist->next];
    return next_us;
}

/// Plays until all taps are final. Clients do nothing between their frames.
static void play_on(struct play *play) {
    struct hc_sim *sim = play->scenario->sim;
    uint64_t end_us = hc_sim_now(sim) + 3 * SECOND_US + (uint64_t)TAPS * SPACING_US;
    while (hc_sim_now(sim) < end_us) {
        uint64_t next_us = end_us;
        for (unsigned c = 0; c < CLIENTS; c++)
            if (next_of(play, &play->typists[c]) < next_us)
                next_us = next_of(play, &play->typists[c]);
        hc_sim_run_until(sim, next_us - 1);
        for (unsigned c = 0; c < CLIENTS; c++)
            if (next_of(play, &play->typists[c]) == next_us)
                take_events(&play->typists[c], next_us);
        hc_sim_run_until(sim, next_us);
        for (unsigned c = 0; c < CLIENTS; c++) {
            struct typist *typist = &play->typists[c];
            if (typist->next_frame_us > next_us)
                continue;
            typist->next_frame_us += typist->frame_us;
            hc_sim_freeze_client(sim, c, typist->next_frame_us);
        }
    }
}

/// Counts the presses of a client's button in the inputs that the server knows, and in `*ticks`
/// the ticks in which it is pressed.
static unsigned count_presses(const struct play *play, unsigned client, unsigned *ticks) {
    const struct final_record *record = play->scenario->record;
    hc_player player = hc_client_player(play->typists[client].client, 0);
    unsigned presses = 0;
    uint8_t was = 0;
    *ticks = 0;
    for (hc_tick tick = play->scenario->joined[player] + 1; tick < record_final(record); tick++) {
        uint8_t is = record_inputs(record, tick)[player];
        presses += is && !was;
        *ticks += is;
        was = is;
    }
    return presses;
}

static void end(struct play *play) {
    scenario_check_hashes(play->scenario);
    scenario_destroy(play->scenario);
    free(play);
}

static void check_every_tap_counts_once(bool at_frames, uint32_t tap_us) {
    struct play *play = begin(HC_SAMPLING_BY_BITS, at_frames, tap_us);
    uint32_t tick_us = SECOND_US / hc_sim_config(play->scenario->sim)->host.tick_rate;
    play_on(play);
    for (unsigned c = 0; c < CLIENTS; c++) {
        uint32_t frame_us = (uint32_t)play->typists[c].frame_us;
        unsigned ticks, presses = count_presses(play, c, &ticks);
        ck_assert_msg(presses == TAPS, "taps of %u us, %u frames/s: %u of %u count", tap_us,
                      frames_per_second[c], presses, TAPS);
        // A tap that begins in one frame and ends in the next is held for a frame.
        ck_assert_uint_le(ticks, TAPS * (2 + (tap_us > frame_us ? tap_us : frame_us) / tick_us));
    }
    end(play);
}

START_TEST(every_tap_counts_once_if_the_client_is_given_each_event_as_it_comes) {
    check_every_tap_counts_once(false, length_us[_i]);
}
END_TEST

START_TEST(every_tap_counts_once_if_the_client_is_given_all_events_at_its_frames) {
    check_every_tap_counts_once(true, length_us[_i]);
}
END_TEST

START_TEST(a_button_of_which_the_newest_sample_alone_counts_loses_taps) {
    struct play *play = begin(HC_NEWEST, false, length_us[0]);
    unsigned ticks;
    play_on(play);
    for (unsigned c = 0; c < CLIENTS; c++)
        ck_assert_uint_lt(count_presses(play, c, &ticks), TAPS / 2);
    end(play);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("taps");
    TCase *tests = tcase_create("taps");
    tcase_add_loop_test(tests, every_tap_counts_once_if_the_client_is_given_each_event_as_it_comes,
                        0, LENGTHS);
    tcase_add_loop_test(
        tests, every_tap_counts_once_if_the_client_is_given_all_events_at_its_frames, 0, LENGTHS);
    tcase_add_test(tests, a_button_of_which_the_newest_sample_alone_counts_loses_taps);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
