/// Owns the choice of the ticks that are shown: the own players' one as the game wants it, and the
/// others' one as late as their states come.
#include "client/world/display.h"

#include "common/input_fields.h"

enum {
    LATE = 1,   ///< of the remembered ticks, those whose snapshots may come too late: they are lost
    CALM = 64,  ///< ticks after which less is wanted, if less was needed
    STEPS = 8,  ///< ticks in which the offset changes by one tick
    LEAP = 8,   ///< ticks of difference above which that of the others leaps
    EARLY = 64, ///< ticks that the head is predicted early at most, because a snapshot has them
    WHOLE = HC_CL_INTERPOLATION_WHOLE,
};

/// Whether the others are shown as received.
static bool follows(const struct hc_client_config *config) {
    if (config->others == HC_OTHERS_BY_GAME)
        return hc_shown_ago_field(config->game) != NULL;
    return config->others == HC_OTHERS_AS_RECEIVED;
}

struct hc_cl_display hc_cl_display_begin(const struct hc_client_config *config,
                                         uint32_t input_delay) {
    struct hc_cl_display display = {.offset = config->display_offset,
                                    .follows = follows(config),
                                    .most = config->prediction_limit,
                                    .wanted = config->display_offset,
                                    .joined = !follows(config),
                                    .first = HC_NO_TICK};
    // Beyond the lookback a shot meets a later world than the one that was shown.
    uint32_t lookback = config->game->lookback;
    if (hc_shown_ago_field(config->game) != NULL && display.most + input_delay > lookback)
        display.most = lookback > input_delay ? lookback - input_delay : 0;
    display.from = display.now = display.before = (int64_t)display.offset * WHOLE;
    return display;
}

/// `way`, or `most` in its direction.
static int64_t at_most(int64_t way, int64_t most) {
    return way > most ? most : way < -most ? -most : way;
}

/// The offset of the own players at a position.
static int64_t own_at(const struct hc_cl_display *display, int64_t position) {
    int64_t gone = position > display->since ? position - display->since : 0;
    return display->from + at_most((int64_t)display->offset * WHOLE - display->from, gone / STEPS);
}

void hc_cl_display_choose(struct hc_cl_display *display, const struct hc_client_config *config,
                          int64_t position) {
    bool did_follow = display->follows;
    display->from = own_at(display, position);
    display->since = position;
    display->offset = config->display_offset;
    display->follows = follows(config);
    if (display->wanted < display->offset)
        display->wanted = display->offset;
    if (did_follow || !display->follows)
        return;
    if (display->joined)
        display->now = display->before = display->from;
    display->joined = false;
    display->wanted = display->offset;
    display->count = display->calm = display->peak = 0; // what was measured is too old
}

/// The ticks that nearly all of the newest `count` snapshots were behind at most.
static uint32_t needed(const struct hc_cl_display *display, uint32_t count) {
    uint8_t largest[LATE + 1] = {0}; // in descending order
    for (uint32_t i = 1; i <= count; i++) {
        uint8_t behind = display->behind[(display->count - i) % HC_CL_DISPLAY_SAMPLES];
        for (int at = 0; at <= LATE; at++)
            if (behind > largest[at]) {
                uint8_t smaller = largest[at];
                largest[at] = behind;
                behind = smaller;
            }
    }
    return largest[LATE];
}

/// Raises the wanted offset at once, and lowers it when less was needed for some time; in the first
/// seconds, in which the first inputs are farther behind, at once too.
static void want(struct hc_cl_display *display) {
    bool begins = display->count < 2 * HC_CL_DISPLAY_SAMPLES;
    uint32_t ticks = needed(display, begins ? display->count / 2 : HC_CL_DISPLAY_SAMPLES);
    ticks = ticks > display->most ? display->most : ticks;
    ticks = ticks < display->offset ? display->offset : ticks;
    display->peak = ticks > display->peak && !begins ? ticks : display->peak;
    if (begins)
        display->wanted = ticks;
    else if (ticks >= display->wanted || ++display->calm >= CALM) {
        display->wanted = display->peak;
        display->peak = display->calm = 0;
    }
}

/// Measures how far the newest snapshot is behind the tick `head`.
static void measure(struct hc_cl_display *display, hc_tick head, hc_tick newest) {
    if (newest == display->first)
        return; // the server has taken no input yet: it shows the same tick until then
    uint32_t behind = head > newest ? head - newest : 0;
    display->behind[display->count++ % HC_CL_DISPLAY_SAMPLES] =
        (uint8_t)(behind < UINT8_MAX ? behind : UINT8_MAX);
    want(display);
}

void hc_cl_display_predicted(struct hc_cl_display *display, hc_tick head, hc_tick newest) {
    if (display->first == HC_NO_TICK)
        display->first = newest;
    if (display->follows)
        measure(display, head, newest);
    int64_t own = own_at(display, (int64_t)head * WHOLE);
    int64_t way = (display->follows ? (int64_t)display->wanted * WHOLE : own) - display->now;
    display->before = display->now;
    display->now += at_most(way, WHOLE / STEPS);
    if (display->follows && at_most(way, (int64_t)LEAP * WHOLE) != way)
        display->before = display->now = (int64_t)display->wanted * WHOLE;
    display->joined |= !display->follows && display->before <= own;
}

/// An offset in ticks, rounded.
static uint32_t rounded(int64_t offset) {
    return (uint32_t)((offset + WHOLE / 2) / WHOLE);
}

uint32_t hc_cl_display_own(const struct hc_cl_display *display, hc_tick head) {
    return rounded(own_at(display, (int64_t)head * WHOLE));
}

/// Whether a moment is after another one.
static bool is_after(const struct hc_cl_interpolation_time *a,
                     const struct hc_cl_interpolation_time *b) {
    return a->tick > b->tick || (a->tick == b->tick && a->fraction > b->fraction);
}

static int64_t later(int64_t a, int64_t b) {
    return a > b ? a : b;
}

uint32_t hc_cl_display_others(const struct hc_cl_display *display, hc_tick head) {
    uint32_t own = hc_cl_display_own(display, head), others = rounded(display->now);
    return display->joined || others < own ? own : others;
}

uint32_t hc_cl_display_farthest(const struct hc_cl_display *display, hc_tick head) {
    int64_t early = ((int64_t)head - EARLY) * WHOLE, end = ((int64_t)head + 1) * WHOLE;
    int64_t own = later(own_at(display, early), own_at(display, end));
    int64_t others = display->joined ? own : later(display->now, display->before);
    return (uint32_t)((later(own, others) + WHOLE - 1) / WHOLE);
}

struct hc_cl_interpolation_times hc_cl_display_times(const struct hc_cl_display *display,
                                                     const struct hc_timeline *timeline,
                                                     int64_t position) {
    int64_t end = ((int64_t)hc_timeline_head(timeline) + 1) * WHOLE; // it rests there
    int64_t own = own_at(display, position < end ? position : end);
    struct hc_cl_interpolation_times times;
    times.own = hc_cl_interpolation_at(timeline, own, own, position);
    times.others = times.own;
    if (!display->joined)
        times.others = hc_cl_interpolation_at(timeline, display->before, display->now, position);
    if (is_after(&times.others, &times.own))
        times.others = times.own;
    return times;
}
