/// Tests of the texts over a pane: whatever is shown, each stands whole in its box.
#include "client/view/texts.h"

#include "hindcast/arena.h"
#include "hindcast/rng.h"
#include "tests/run_suite.h"

#include <stdio.h>
#include <string.h>

enum { WIDTH_MIN = 320, WIDTH_MAX = 3840, WIDTH_STEP = 7 };

static struct hc_rng rng;
static struct hc_cl_labels labels;
static struct hc_cl_overlay_layout overlay;
static struct hc_cl_figure figures[HC_CL_FIGURE_COUNT];
static struct hc_cl_keys_row rows[HC_CL_KEYS_ROWS];

static void set_up(void) {
    SDL_SetHint(SDL_HINT_VIDEODRIVER, "dummy");
    ck_assert_int_eq(SDL_Init(SDL_INIT_VIDEO), 0); // has the names of keys
    rng = hc_rng_init(1, 0);
}

static void tear_down(void) {
    SDL_Quit();
}

/// A number with a random count of bits.
static uint64_t any(void) {
    uint64_t bits = (uint64_t)hc_rng_below(&rng, UINT32_MAX) << 32 | hc_rng_below(&rng, UINT32_MAX);
    return bits >> hc_rng_below(&rng, 64);
}

/// Figures of any size.
static void draw_figures(void) {
    struct hc_cl_figures_source source = {
        .recent = {.rtt_us = any(),
                   .rtt_min_us = any(),
                   .jitter_us = any(),
                   .loss_up_ppm = (uint32_t)any(),
                   .loss_down_ppm = (uint32_t)any(),
                   .margin_known = hc_rng_below(&rng, 2) > 0,
                   .margin_low_us = (int32_t)(uint32_t)any(),
                   .margin_median_us = (int32_t)(uint32_t)any(),
                   .snapshot_age_us = any(),
                   .predicted_ticks = (uint32_t)any(),
                   .others_ticks = (uint32_t)any(),
                   .in_flight_bytes = (uint32_t)any(),
                   .in_flight_bound_bytes = (uint32_t)any(),
                   .input_delay = (uint32_t)any(),
                   .lead = (uint32_t)any()},
        .from = {.now_us = 1},
        .to = {1 + any() / 2, any(), any(), any(), any(), any(), any(), any(), any(), any()},
        .timing = {.input_delay_max = (uint32_t)any(), .lead_max = (uint32_t)any()},
        .tick_rate = (uint32_t)any()};
    hc_cl_figures_write(&source, figures);
}

static bool within(const SDL_Rect *inner, const SDL_Rect *outer) {
    return inner->x >= outer->x && inner->y >= outer->y &&
           inner->x + inner->w <= outer->x + outer->w && inner->y + inner->h <= outer->y + outer->h;
}

/// Fails unless each text has the width of its letters and is in a box, and no two are over one
/// another or over the bars; all are in the pane.
static void check_labels(const struct hc_cl_texts_wish *wish) {
    const SDL_Rect pane = {0, 0, wish->width, wish->height};
    for (unsigned i = 0; i < labels.count; i++) {
        const struct hc_cl_label *label = &labels.at[i];
        unsigned boxes = 0;
        if (!within(&label->place, &pane))
            ck_abort_msg("%d x %d: '%s' leaves the pane", wish->width, wish->height, label->text);
        if (label->scale == 0)
            continue;
        if (label->place.w != hc_cl_canvas_width(label->scale, label->text) ||
            label->place.h != hc_cl_labels_height(label->scale))
            ck_abort_msg("%d x %d: '%s' is of another size", wish->width, wish->height,
                         label->text);
        if (overlay.bars.w > 0 && label->place.y < overlay.bars.y &&
            SDL_HasIntersection(&label->place, &overlay.bars))
            ck_abort_msg("%d x %d: '%s' is over the bars", wish->width, wish->height, label->text);
        for (unsigned k = 0; k < labels.count; k++) {
            const struct hc_cl_label *other = &labels.at[k];
            boxes += other->scale == 0 && within(&label->place, &other->place);
            if (other->scale > 0 && k != i && SDL_HasIntersection(&label->place, &other->place))
                ck_abort_msg("%d x %d: '%s' is over '%s'", wish->width, wish->height, label->text,
                             other->text);
        }
        if (boxes != 1)
            ck_abort_msg("%d x %d: '%s' is in %u boxes", wish->width, wish->height, label->text,
                         boxes);
    }
    if (overlay.bars.w > 0)
        ck_assert(within(&overlay.bars, &overlay.box));
}

/// Whether a text stands there whole.
static bool shows(const char *text) {
    for (unsigned i = 0; i < labels.count; i++)
        if (labels.at[i].scale > 0 && strcmp(labels.at[i].text, text) == 0)
            return true;
    return false;
}

/// Whether the name and the value of every figure stand there whole.
static bool shows_all_figures(void) {
    for (unsigned i = 0; i < HC_CL_FIGURE_COUNT; i++)
        if (!shows(figures[i].name) || !shows(figures[i].value))
            return false;
    return true;
}

START_TEST(no_text_leaves_its_box_or_is_over_another_at_any_size_of_a_pane) {
    static const char *const titles[] = {"no simulated link",
                                         "150 ms +- 50, 30 % loss, no limit up, 128 down kbit/s"};
    for (int width = WIDTH_MIN; width <= WIDTH_MAX; width += WIDTH_STEP)
        for (unsigned which = 0; which < 8; which++) {
            struct hc_cl_texts_wish wish = {.width = width,
                                            .height = 90 + (int)hc_rng_below(&rng, 2160),
                                            .title = titles[which % 2],
                                            .notice = which % 3 > 0 ? "input delay 3 ticks" : NULL,
                                            .marked = which % 2 > 0,
                                            .figures = which % 4 > 0 ? figures : NULL,
                                            .keys = which > 3 ? rows : NULL};
            unsigned count = 1 + hc_rng_below(&rng, 2);
            wish.key_count = hc_cl_keys_list(&hc_arena, hc_rng_below(&rng, count), count, rows);
            draw_figures();
            hc_cl_texts_place(&wish, &labels, &overlay);
            check_labels(&wish);
        }
}
END_TEST

/// The words of a server, of any length, with characters of one to four bytes.
static const char *draw_words(void) {
    static const char *const letters[] = {
        "a", "Q", " ", "w", " ", "\xc3\xbc", "\xe2\x82\xac", "\xf0\x9f\x8e\xae"};
    static char words[HC_NOTICE_LINE_SIZE];
    unsigned most = hc_rng_below(&rng, 300);
    size_t size = 0;
    words[0] = '\0';
    while (size < most)
        size += (size_t)snprintf(words + size, sizeof words - size, "%s",
                                 letters[hc_rng_below(&rng, 8)]);
    return words;
}

START_TEST(the_words_of_a_server_stand_in_their_box_at_any_size_of_a_pane) {
    for (int width = 1; width <= WIDTH_MAX; width += width < WIDTH_MIN ? 3 : 11)
        for (unsigned which = 0; which < 4; which++) {
            struct hc_cl_texts_wish wish = {.width = width,
                                            .height = 1 + (int)hc_rng_below(&rng, 1200),
                                            .title = "no simulated link",
                                            .server_notice = draw_words(),
                                            .figures = which % 2 > 0 ? figures : NULL,
                                            .keys = which > 1 ? rows : NULL};
            wish.key_count = hc_cl_keys_list(&hc_arena, 0, 1, rows);
            draw_figures();
            hc_cl_texts_place(&wish, &labels, &overlay);
            check_labels(&wish);
        }
}
END_TEST

/// The letters of a text without its spaces, of which some end a line.
static size_t letters_of(const char *text) {
    size_t count = 0;
    for (; *text != '\0'; text++)
        count += *text != ' ';
    return count;
}

START_TEST(the_longest_words_of_a_server_stand_whole_in_a_pane_of_320_pixels) {
    struct hc_notice notice = {.kind = HC_NOTICE_ENDING, .seconds = 86400};
    char line[HC_NOTICE_LINE_SIZE];
    memset(notice.where, 'w', HC_NOTICE_WHERE_MAX);
    memset(notice.text, 't', HC_NOTICE_TEXT_MAX);
    size_t left = 0;
    struct hc_cl_texts_wish wish = {
        .width = 320, .height = 320, .title = "", .server_notice = hc_notice_line(&notice, line)};
    hc_cl_texts_place(&wish, &labels, &overlay);
    check_labels(&wish);
    for (unsigned i = 0; i < labels.count; i++) {
        ck_assert_int_le(labels.at[i].place.x + labels.at[i].place.w, 320);
        if (labels.at[i].scale > 0 && strcmp(labels.at[i].text, "F2: keys") != 0)
            left += letters_of(labels.at[i].text);
    }
    ck_assert_uint_eq(left, letters_of(line));
}
END_TEST

START_TEST(tiny_panes_show_as_much_as_has_room) {
    for (int width = 1; width < WIDTH_MIN; width += 3)
        for (int height = 1; height < 300; height += 13) {
            struct hc_cl_texts_wish wish = {.width = width,
                                            .height = height,
                                            .title = "bad link: 80 ms +- 20, 5 % loss",
                                            .notice = "others as received",
                                            .figures = figures,
                                            .keys = height % 2 > 0 ? rows : NULL};
            wish.key_count = hc_cl_keys_list(&hc_arena, 0, 1, rows);
            draw_figures();
            hc_cl_texts_place(&wish, &labels, &overlay);
            check_labels(&wish);
        }
}
END_TEST

START_TEST(usual_panes_show_all_figures_and_all_keys) {
    static const struct {
        int width, height;
        bool both; ///< There is room for both at once.
        unsigned clients;
    } panes[] = {{398, 400, false, 2}, {400, 250, false, 1}, {638, 640, true, 2},
                 {800, 500, true, 1},  {1280, 640, true, 1}, {1600, 1000, true, 1},
                 {3840, 2160, true, 1}};
    for (unsigned i = 0; i < sizeof(panes) / sizeof(*panes); i++) {
        struct hc_cl_texts_wish wish = {.width = panes[i].width,
                                        .height = panes[i].height,
                                        .title = "awful link: 150 ms +- 50, 20 % loss",
                                        .figures = figures};
        struct hc_cl_figures_source source = {.tick_rate = 60};
        hc_cl_figures_write(&source, figures);
        hc_cl_texts_place(&wish, &labels, &overlay);
        ck_assert(shows(wish.title) && shows_all_figures());
        wish.keys = rows;
        wish.key_count = hc_cl_keys_list(&hc_arena, 0, panes[i].clients, rows);
        hc_cl_texts_place(&wish, &labels, &overlay);
        for (unsigned k = 0; k < wish.key_count; k++)
            ck_assert_msg(shows(rows[k].name) && shows(rows[k].text), "%d x %d: no '%s'",
                          wish.width, wish.height, rows[k].name);
        ck_assert_int_eq(shows_all_figures(), panes[i].both);
        ck_assert_int_eq(overlay.box.w > 0, panes[i].both);
    }
}
END_TEST

START_TEST(larger_panes_have_larger_letters_and_narrow_ones_no_bars) {
    static const struct {
        int width, height, scale;
        bool bars;
    } panes[] = {{300, 200, 1, false},
                 {390, 205, 1, false},
                 {638, 640, 1, true},
                 {1280, 640, 2, true},
                 {3840, 2160, 4, true}};
    for (unsigned i = 0; i < sizeof(panes) / sizeof(*panes); i++) {
        SDL_Rect room = {0, 0, panes[i].width, panes[i].height};
        struct hc_cl_overlay_layout layout = hc_cl_overlay_layout(room);
        ck_assert_int_eq(layout.grid.scale, panes[i].scale);
        ck_assert_int_eq(layout.bars.w > 0, panes[i].bars);
    }
}
END_TEST

START_TEST(long_text_is_cut_with_points_and_one_of_the_list_goes_on_in_the_next_line) {
    struct hc_cl_keys_row row = {
        .name = "F1", .is_key = true, .text = "aaaa bbbb cccc dddddddddddd"};
    struct hc_cl_keys_layout layout;
    labels.count = 0;
    ck_assert_int_eq(hc_cl_labels_put(&labels, (SDL_Rect){0, 0, 40, 8}, 1, "abcdefgh", 1), 36);
    ck_assert_str_eq(labels.at[0].text, "abcd..");
    hc_cl_keys_arrange(&row, 1, (SDL_Rect){0, 0, 6 * (4 + 10) + 20, 100}, &layout);
    ck_assert(layout.whole && layout.count == 4);
    labels.count = 0;
    hc_cl_keys_put(&row, &layout, &labels);
    ck_assert(shows("aaaa bbbb") && shows("cccc") && shows("dddddddddd") && shows("dd"));
}
END_TEST

int main(void) {
    Suite *suite = suite_create("view_texts");
    TCase *tests = tcase_create("texts");
    suite_add_tcase(suite, tests);
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, no_text_leaves_its_box_or_is_over_another_at_any_size_of_a_pane);
    tcase_add_test(tests, the_words_of_a_server_stand_in_their_box_at_any_size_of_a_pane);
    tcase_add_test(tests, the_longest_words_of_a_server_stand_whole_in_a_pane_of_320_pixels);
    tcase_add_test(tests, tiny_panes_show_as_much_as_has_room);
    tcase_add_test(tests, usual_panes_show_all_figures_and_all_keys);
    tcase_add_test(tests, larger_panes_have_larger_letters_and_narrow_ones_no_bars);
    tcase_add_test(tests,
                   long_text_is_cut_with_points_and_one_of_the_list_goes_on_in_the_next_line);
    return run_suite(suite);
}
