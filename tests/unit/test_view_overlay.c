/// Tests of the places of an overlay's figures and bars.
#include "client/view/overlay.h"

#include "tests/run_suite.h"

enum { LONGEST = 21 /* letters of a name and its value */, PANE = 638 /* of two in a window */ };

static bool within(const SDL_Rect *inner, const SDL_Rect *outer) {
    return inner->x >= outer->x && inner->y >= outer->y &&
           inner->x + inner->w <= outer->x + outer->w && inner->y + inner->h <= outer->y + outer->h;
}

/// Fails unless all parts are in the box, in a pane of this size, and none is over another.
static void check_parts(const struct hc_cl_overlay_layout *at, int width, int height) {
    const SDL_Rect pane = {0, 0, width, height};
    SDL_Rect parts[HC_CL_OVERLAY_FIGURES + 1];
    for (int i = 0; i < HC_CL_OVERLAY_FIGURES; i++)
        parts[i] = at->figures[i];
    parts[HC_CL_OVERLAY_FIGURES] = at->bars;
    if (!within(&at->box, &pane))
        ck_abort_msg("%d x %d: the box leaves the pane", width, height);
    for (int i = 0; i <= HC_CL_OVERLAY_FIGURES; i++) {
        if (!within(&parts[i], &at->box))
            ck_abort_msg("%d x %d: part %d leaves the box", width, height, i);
        for (int k = 0; k < i; k++)
            if (SDL_HasIntersection(&parts[i], &parts[k]))
                ck_abort_msg("%d x %d: part %d is over part %d", width, height, i, k);
    }
}

START_TEST(figures_and_bars_are_within_their_box_at_every_size_of_a_pane) {
    unsigned shown = 0, sizes = 0;
    for (int width = 80; width < 2000; width++)
        for (int height = 60; height < 1200; height += 57, sizes++) {
            struct hc_cl_overlay_layout at = hc_cl_overlay_layout(width, height);
            if (at.scale == 0)
                continue;
            shown++;
            check_parts(&at, width, height);
            if (at.figures[0].w < at.scale * 6 * LONGEST)
                ck_abort_msg("%d x %d: a figure has too little room", width, height);
        }
    ck_assert_uint_gt(shown, sizes * 3 / 4);
}
END_TEST

START_TEST(larger_panes_have_larger_letters) {
    ck_assert_int_eq(hc_cl_overlay_layout(100, 600).scale, 0);
    ck_assert_int_eq(hc_cl_overlay_layout(160, 400).scale, 1);
    ck_assert_int_eq(hc_cl_overlay_layout(300, 600).scale, 2);
    struct hc_cl_overlay_layout at = hc_cl_overlay_layout(PANE, 640); // the bars are beside
    ck_assert(at.scale == 2 && at.bars.y == at.figures[0].y);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("view_overlay");
    TCase *tests = tcase_create("overlay");
    suite_add_tcase(suite, tests);
    tcase_add_test(tests, figures_and_bars_are_within_their_box_at_every_size_of_a_pane);
    tcase_add_test(tests, larger_panes_have_larger_letters);
    return run_suite(suite);
}
