/// Owns the meaning of controls for the input of any game.
#include "client/view/controls.h"

#include <math.h>
#include <string.h>

/// The greatest value of a signed field times `axis`; one bit holds -1 and 0.
static int64_t scaled(const struct hc_field *field, double axis) {
    double most = ldexp(1, field->bits - 1) - 1;
    int64_t value = (int64_t)lround(axis * fmax(most, 1));
    return hc_field_fits(field, value) ? value : 0;
}

/// The angle of a direction in 1/2^bits turns; 0 is towards +x, and a quarter towards +y.
static int64_t angle(const struct hc_field *field, double x, double y) {
    double full = ldexp(1, field->bits), turns = atan2(y, x) / (2 * acos(-1));
    int64_t value = (int64_t)lround(turns * full);
    return (value + (int64_t)full) % (int64_t)full;
}

static bool is_horizontal(const struct hc_field *field) {
    size_t length = strlen(field->name);
    return length > 0 && field->name[length - 1] == 'x';
}

static double stronger(double a, double b) {
    return fabs(a) > fabs(b) ? a : b;
}

static bool is_button(const struct hc_field *field) {
    return !field->is_signed && strcmp(field->name, "aim") != 0 && !field->shown_ago &&
           !field->own_shown_ago;
}

enum hc_cl_control hc_cl_controls_of(const struct hc_game *game, uint8_t index) {
    const struct hc_field *field = &game->input_fields[index];
    unsigned axes = 0, button = 0;
    for (uint8_t f = 0; f < game->input_field_count; f++)
        axes += game->input_fields[f].is_signed;
    for (uint8_t f = 0; f < index; f++)
        button += is_button(&game->input_fields[f]);
    if (field->is_signed && axes == 1)
        return HC_CL_CONTROL_BOTH;
    if (field->is_signed)
        return is_horizontal(field) ? HC_CL_CONTROL_X : HC_CL_CONTROL_Y;
    if (is_button(field))
        return button < HC_CL_CONTROLS_BUTTONS ? HC_CL_CONTROL_BUTTON + button : HC_CL_CONTROL_NONE;
    return field->shown_ago || field->own_shown_ago ? HC_CL_CONTROL_NONE : HC_CL_CONTROL_AIM;
}

void hc_cl_controls_apply(const struct hc_game *game, const struct hc_cl_controls *controls,
                          void *input) {
    for (uint8_t f = 0; f < game->input_field_count; f++) {
        const struct hc_field *field = &game->input_fields[f];
        enum hc_cl_control control = hc_cl_controls_of(game, f);
        switch (control) {
        case HC_CL_CONTROL_NONE:
            hc_field_set(field, input, 0);
            break;
        case HC_CL_CONTROL_X:
            hc_field_set(field, input, scaled(field, controls->x));
            break;
        case HC_CL_CONTROL_Y:
            hc_field_set(field, input, scaled(field, controls->y));
            break;
        case HC_CL_CONTROL_BOTH:
            hc_field_set(field, input, scaled(field, stronger(controls->y, controls->x)));
            break;
        case HC_CL_CONTROL_AIM:
            if (controls->aim_x != 0 || controls->aim_y != 0)
                hc_field_set(field, input, angle(field, controls->aim_x, controls->aim_y));
            break;
        default:
            hc_field_set(field, input, controls->buttons[control - HC_CL_CONTROL_BUTTON]);
        }
    }
}
