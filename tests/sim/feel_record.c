/// The recorded screens, and the comparison with the final states.
#include "tests/sim/feel_record.h"

#include <math.h>
#include <stdlib.h>

enum {
    TICK_US = SECOND_US / HC_FEEL_RATE,
    WHOLE = 65536,
    EARLIEST = 10, ///< ticks before the head at a press: no input is stamped earlier
    LATEST = 80,   ///< ticks after it: none is stamped later
    STILL = 15,    ///< frames in which a walker must have been shown at rest
    LEAP = 4,      ///< frames
};

static const double moved_px = 0.5, still_px = 0.1, right_px = 1;
static const double running_px = 0.8 * HC_FEEL_TRAVEL_PX, frozen_px = 0.2 * HC_FEEL_TRAVEL_PX;

struct place {
    double x, y; // pixels
};

static double between(struct place a, struct place b) {
    return hypot(a.x - b.x, a.y - b.y);
}

struct hc_feel_record *hc_feel_record_create(struct hc_sim *sim, unsigned walkers, uint32_t frames,
                                             hc_tick ticks) {
    struct hc_feel_record *record = calloc(1, sizeof *record);
    if (record == NULL)
        return NULL;
    record->walkers = walkers;
    record->frames_max = frames;
    record->ticks_max = ticks;
    record->first = record->final = hc_sv_host_final(hc_sim_host(sim), NULL);
    record->samples = calloc((size_t)walkers * walkers * frames, sizeof *record->samples);
    record->truth = calloc((size_t)walkers * ticks, sizeof *record->truth);
    record->presses = calloc(walkers, sizeof *record->presses);
    if (record->samples == NULL || record->truth == NULL || record->presses == NULL) {
        hc_feel_record_destroy(record);
        return NULL;
    }
    return record;
}

void hc_feel_record_destroy(struct hc_feel_record *record) {
    if (record == NULL)
        return;
    free(record->samples);
    free(record->truth);
    free(record->presses);
    free(record);
}

// ---- Recording ----------------------------------------------------------------------------------

static struct hc_feel_sample *sample_of(const struct hc_feel_record *record, unsigned screen,
                                        unsigned walker, uint32_t frame) {
    return &record
                ->samples[((size_t)screen * record->walkers + walker) * record->frames_max + frame];
}

void hc_feel_record_frame(struct hc_feel_record *record, struct hc_sim *sim) {
    for (unsigned screen = 0; screen < record->walkers; screen++) {
        const struct hc_client *client = hc_sim_client(sim, screen);
        uint64_t now_us = hc_sim_client_now(sim, screen);
        for (unsigned walker = 0; walker < record->walkers; walker++) {
            struct hc_feel_sample *sample = sample_of(record, screen, walker, record->frames);
            struct hc_client_shown shown;
            hc_player player = hc_client_player(hc_sim_client(sim, walker), 0);
            uint32_t fraction;
            sample->tick = HC_NO_TICK;
            if (hc_client_world(client) == NULL || player == HC_NO_PLAYER)
                continue;
            hc_entity entity = hc_world_player(hc_client_world(client), player);
            if (!hc_client_show(client, now_us, entity, &shown) ||
                !hc_client_show_tick_of(client, now_us, entity, &sample->tick, &fraction))
                continue;
            sample->fraction = (uint16_t)fraction;
            sample->x = (float)(HC_SHOWN(&shown, struct hc_walker, x) / HC_WALKER_UNITS);
            sample->y = (float)(HC_SHOWN(&shown, struct hc_walker, y) / HC_WALKER_UNITS);
        }
    }
    record->frames++;
}

bool hc_feel_record_press(struct hc_feel_record *record, unsigned client,
                          const struct hc_feel_press *press) {
    if (record->press_count[client] == HC_FEEL_PRESSES_MAX)
        return false;
    record->presses[client][record->press_count[client]++] = *press;
    return true;
}

void hc_feel_record_final(struct hc_feel_record *record, struct hc_sim *sim) {
    const struct hc_timeline *timeline = hc_server_timeline(hc_sim_host(sim));
    const struct hc_world *world = hc_client_world(hc_sim_client(sim, 0));
    hc_tick final = hc_sv_host_final(hc_sim_host(sim), NULL);
    for (; record->final < final && record->final - record->first < record->ticks_max;
         record->final++)
        for (unsigned walker = 0; walker < record->walkers; walker++) {
            hc_player player = hc_client_player(hc_sim_client(sim, walker), 0);
            const uint8_t *states = hc_timeline_states(timeline, record->final);
            size_t at = (size_t)hc_world_player(world, player) * world->stride;
            record->truth[(size_t)walker * record->ticks_max + record->final - record->first] =
                *(const struct hc_walker *)(const void *)(states + at);
        }
}

bool hc_feel_record_trigger(const struct hc_feel_record *record, unsigned walker, hc_tick tick,
                            uint32_t *frames) {
    for (uint32_t i = record->press_count[walker]; i > 0; i--) {
        const struct hc_feel_press *press = &record->presses[walker][i - 1];
        if (press->fired == HC_NO_TICK || tick + EARLIEST < press->fired ||
            tick > press->fired + LATEST)
            continue;
        *frames = record->frames - 1 - press->trigger;
        return true;
    }
    return false;
}

// ---- Judging ------------------------------------------------------------------------------------

static struct place place_of(const struct hc_feel_sample *sample) {
    return (struct place){sample->x, sample->y};
}

/// The final state at a tick; false: it is not known.
static bool state_at(const struct hc_feel_record *record, unsigned walker, hc_tick tick,
                     struct place *place) {
    if (tick < record->first || tick >= record->final)
        return false;
    const struct hc_walker *state =
        &record->truth[(size_t)walker * record->ticks_max + tick - record->first];
    *place = (struct place){(double)state->x / HC_WALKER_UNITS, (double)state->y / HC_WALKER_UNITS};
    return true;
}

/// Where the walker of a sample should be shown.
static bool truth_of(const struct hc_feel_record *record, unsigned walker,
                     const struct hc_feel_sample *sample, struct place *place) {
    struct place from, to;
    if (sample->tick == HC_NO_TICK || !state_at(record, walker, sample->tick, &from) ||
        !state_at(record, walker, sample->tick + 1, &to))
        return false;
    double part = (double)sample->fraction / WHOLE;
    *place = (struct place){from.x + (to.x - from.x) * part, from.y + (to.y - from.y) * part};
    return true;
}

/// How far off a screen shows a walker in a frame, in pixels; below 0: that is not known.
static double error_at(const struct hc_feel_record *record, unsigned screen, unsigned walker,
                       uint32_t frame) {
    const struct hc_feel_sample *sample = sample_of(record, screen, walker, frame);
    struct place truth;
    return truth_of(record, walker, sample, &truth) ? between(place_of(sample), truth) : -1;
}

/// The last tick at which the walker of a press rests; false: it did not rest before, or does not
/// walk.
static bool begin_of(const struct hc_feel_record *record, unsigned walker,
                     const struct hc_feel_press *press, hc_tick *begin) {
    struct place rest, place;
    hc_tick from = hc_tick_back(press->head, EARLIEST);
    if (!state_at(record, walker, from, &rest))
        return false;
    for (hc_tick tick = from; tick < press->head + LATEST; tick++) {
        if (!state_at(record, walker, tick + 1, &place))
            return false;
        if (between(rest, place) > 0) {
            *begin = tick;
            return tick > from;
        }
    }
    return false;
}

static uint64_t frames_us(uint32_t frames) {
    return (uint64_t)frames * HC_FEEL_FRAME_US;
}

static uint64_t distance(double px) {
    return (uint64_t)(px * HC_FEEL_PX);
}

/// Adds the time until a screen shows the walker of a press move, if it showed it at rest.
static void judge_seen(const struct hc_feel_record *record, unsigned screen, unsigned walker,
                       const struct hc_feel_press *press, struct hc_histogram *out) {
    if (press->down < STILL)
        return;
    struct place rest = place_of(sample_of(record, screen, walker, press->down));
    for (uint32_t f = press->down - STILL; f < press->down; f++)
        if (between(rest, place_of(sample_of(record, screen, walker, f))) > still_px)
            return;
    for (uint32_t f = press->down + 1; f < press->up; f++)
        if (between(rest, place_of(sample_of(record, screen, walker, f))) > moved_px) {
            hc_histogram_record(out, frames_us(f - press->down));
            return;
        }
}

/// Adds the time until another screen shows the walker of a press right.
static void judge_right(const struct hc_feel_record *record, unsigned screen, unsigned walker,
                        const struct hc_feel_press *press, struct hc_feel_result *result) {
    hc_tick begin, walk = (hc_tick)(frames_us(press->up - press->down) / TICK_US);
    if (!begin_of(record, walker, press, &begin))
        return;
    uint32_t right = 0, wrong = 0, last = 0;
    for (uint32_t f = press->down + 1; f < record->frames; f++) {
        const struct hc_feel_sample *sample = sample_of(record, screen, walker, f);
        double error = error_at(record, screen, walker, f);
        if (error < 0 || sample->tick >= begin + walk)
            break;
        last = f;
        if (error > right_px) {
            wrong++;
            right = 0;
        } else if (right == 0 && sample->tick > begin) {
            right = f;
        }
    }
    if (last == 0)
        return;
    result->presses++;
    result->never += right == 0;
    hc_histogram_record(&result->right_us, frames_us((right > 0 ? right : last + 1) - press->down));
    hc_histogram_record(&result->wrong_us, frames_us(wrong));
}

/// Adds how far off the walker is shown at most from frame `from` until before frame `to`.
static void judge_pop(const struct hc_feel_record *record, unsigned screen, unsigned walker,
                      uint32_t from, uint32_t to, struct hc_histogram *out) {
    double most = -1;
    for (uint32_t f = from; f < to; f++)
        most = fmax(most, error_at(record, screen, walker, f));
    if (most >= 0)
        hc_histogram_record(out, distance(most));
}

/// Ticks in a row, and the most of them.
static void count_run(bool goes_on, uint32_t *run, uint32_t *most) {
    *run = goes_on ? *run + 1 : 0;
    *most = *run > *most ? *run : *most;
}

/// Adds what is shown in all frames: its leaps, and how long it is far off or frozen.
static void judge_frames(const struct hc_feel_record *record, unsigned screen, unsigned walker,
                         struct hc_feel_result *result) {
    uint32_t off = 0, frozen = 0;
    hc_tick tick = HC_NO_TICK;
    struct place shown_at = {0}, true_at = {0}; // in the first frame of the tick before
    for (uint32_t f = LEAP; f < record->frames; f++) {
        const struct hc_feel_sample *now = sample_of(record, screen, walker, f),
                                    *before = sample_of(record, screen, walker, f - LEAP);
        struct place shown = place_of(now), truth, earlier;
        if (!truth_of(record, walker, now, &truth) || !truth_of(record, walker, before, &earlier))
            continue;
        struct place expected = {before->x + truth.x - earlier.x, before->y + truth.y - earlier.y};
        hc_histogram_record(&result->leap, distance(between(shown, expected)));
        if (now->tick == tick)
            continue;
        count_run(between(shown, truth) > HC_FEEL_TRAVEL_PX, &off, &result->off_ticks);
        if (tick != HC_NO_TICK)
            count_run(between(truth, true_at) > running_px && between(shown, shown_at) < frozen_px,
                      &frozen, &result->frozen_ticks);
        tick = now->tick;
        shown_at = shown;
        true_at = truth;
    }
}

void hc_feel_record_judge(const struct hc_feel_record *record, struct hc_feel_result *result) {
    for (unsigned screen = 0; screen < record->walkers; screen++)
        for (unsigned walker = 0; walker < record->walkers; walker++) {
            bool own = screen == walker;
            for (uint32_t i = 0; i + 1 < record->press_count[walker]; i++) {
                const struct hc_feel_press *press = &record->presses[walker][i];
                judge_seen(record, screen, walker, press, own ? &result->own_us : &result->seen_us);
                judge_pop(record, screen, walker, press->down, press[1].down,
                          own ? &result->own_pop : &result->pop);
                if (!own)
                    judge_right(record, screen, walker, press, result);
            }
            if (!own)
                judge_frames(record, screen, walker, result);
        }
}
