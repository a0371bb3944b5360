/// Owns what each key changes of a client.
#include "client/view/knobs.h"

#include "common/input_fields.h"
#include "hindcast/check.h"

#include <inttypes.h>
#include <string.h>

enum { DELAY = 32 }; ///< bytes of a delay

static const char *const presets[] = {"rewind", "balanced", "ahead"};

struct hc_cl_knobs hc_cl_knobs_begin(const struct hc_cl_options *options, unsigned index) {
    bool right = index > 0;
    return (struct hc_cl_knobs){
        .link = hc_cl_simulated_link_begin(right ? options->right_link_name : options->link_name,
                                           right ? &options->right_link : &options->link,
                                           options->queue_us),
        .timing = options->timing,
        .auto_max = options->input_delay_max,
        .display = {.offset = options->display_offset, .others = options->others}};
}

void hc_cl_knobs_configure(const struct hc_cl_knobs *knobs, struct hc_client_config *config) {
    config->input_delay = knobs->timing.input_delay;
    config->input_delay_max = knobs->timing.input_delay_max;
    config->lead = knobs->timing.lead;
    config->lead_max = knobs->timing.lead_max;
    config->display_offset = knobs->display.offset;
    config->display_offset_max = HC_CL_KNOBS_DISPLAY_OFFSET;
    config->others = knobs->display.others;
}

// ---- The keys -----------------------------------------------------------------------------------

/// Writes a delay: "3", or "auto, 0 to 3".
static void write_delay(char text[static DELAY], uint32_t min, uint32_t max) {
    if (max > min)
        snprintf(text, DELAY, "auto, %" PRIu32 " to %" PRIu32, min, max);
    else
        snprintf(text, DELAY, "%" PRIu32, min);
}

static void next_timing(struct hc_cl_knobs *knobs, char *text) {
    enum { COUNT = sizeof(presets) / sizeof(*presets) };
    struct hc_client_timing preset;
    char delay[DELAY], lead[DELAY];
    unsigned next = 0;
    for (unsigned i = 0; i < COUNT; i++) {
        HC_ASSERT(hc_client_timing_preset(presets[i], &preset));
        if (memcmp(&preset, &knobs->timing, sizeof(preset)) == 0)
            next = (i + 1) % COUNT;
    }
    HC_ASSERT(hc_client_timing_preset(presets[next], &knobs->timing));
    write_delay(delay, knobs->timing.input_delay, knobs->timing.input_delay_max);
    write_delay(lead, knobs->timing.lead, knobs->timing.lead_max);
    snprintf(text, HC_CL_KNOBS_TEXT, "%s: input delay %s; lead %s", presets[next], delay, lead);
}

static void next_input_delay(struct hc_cl_knobs *knobs, char *text) {
    struct hc_client_timing *timing = &knobs->timing;
    char delay[DELAY];
    bool automatic = timing->input_delay_max > timing->input_delay;
    if (!automatic && timing->input_delay >= HC_CL_KNOBS_INPUT_DELAY) {
        timing->input_delay = 0;
        timing->input_delay_max = knobs->auto_max;
    } else {
        timing->input_delay = automatic ? 0 : timing->input_delay + 1;
        timing->input_delay_max = 0;
    }
    write_delay(delay, timing->input_delay, timing->input_delay_max);
    snprintf(text, HC_CL_KNOBS_TEXT, "input delay %s ticks", delay);
}

static void next_others(struct hc_cl_knobs *knobs, const struct hc_game *game, char *text) {
    enum hc_others *others = &knobs->display.others;
    bool received = *others == HC_OTHERS_AS_RECEIVED ||
                    (*others == HC_OTHERS_BY_GAME && hc_shown_ago_field(game) != NULL);
    *others = received ? HC_OTHERS_PREDICTED : HC_OTHERS_AS_RECEIVED;
    snprintf(text, HC_CL_KNOBS_TEXT, "others %s", received ? "predicted" : "as received");
}

static void next_display_offset(struct hc_cl_knobs *knobs, char *text) {
    uint32_t *offset = &knobs->display.offset;
    *offset = *offset < HC_CL_KNOBS_DISPLAY_OFFSET ? *offset + 1 : 0;
    snprintf(text, HC_CL_KNOBS_TEXT, "display offset %" PRIu32 " ticks", *offset);
}

/// Steps the chosen condition. False: there is no further step.
static bool step(struct hc_cl_simulated_link *link, bool more, char *text) {
    bool changed = hc_cl_simulated_link_step(link, more);
    hc_cl_simulated_link_describe_chosen(link, text, HC_CL_KNOBS_TEXT);
    size_t length = strlen(text);
    if (!changed)
        snprintf(text + length, HC_CL_KNOBS_TEXT - length, ", no %s", more ? "more" : "less");
    return changed;
}

enum hc_cl_knobs_change hc_cl_knobs_press(struct hc_cl_knobs *knobs, enum hc_cl_window_key key,
                                          const struct hc_game *game, char text[HC_CL_KNOBS_TEXT]) {
    struct hc_cl_simulated_link *link = &knobs->link;
    text[0] = '\0';
    switch (key) {
    case HC_CL_WINDOW_KEY_preset_link:
        hc_cl_simulated_link_next_preset(link);
        hc_cl_simulated_link_describe(link, text, HC_CL_KNOBS_TEXT);
        return HC_CL_KNOBS_LINK;
    case HC_CL_WINDOW_KEY_condition:
        link->chosen = (link->chosen + 1) % HC_CL_CONDITIONS;
        snprintf(text, HC_CL_KNOBS_TEXT, "F5, F6: ");
        hc_cl_simulated_link_describe_chosen(link, text + strlen(text),
                                             HC_CL_KNOBS_TEXT - strlen(text));
        return HC_CL_KNOBS_NOTHING;
    case HC_CL_WINDOW_KEY_less:
    case HC_CL_WINDOW_KEY_more:
        return step(link, key == HC_CL_WINDOW_KEY_more, text) ? HC_CL_KNOBS_LINK
                                                              : HC_CL_KNOBS_NOTHING;
    case HC_CL_WINDOW_KEY_preset_timing:
        next_timing(knobs, text);
        return HC_CL_KNOBS_TIMING;
    case HC_CL_WINDOW_KEY_input_delay:
        next_input_delay(knobs, text);
        return HC_CL_KNOBS_TIMING;
    case HC_CL_WINDOW_KEY_others:
        next_others(knobs, game, text);
        return HC_CL_KNOBS_DISPLAY;
    case HC_CL_WINDOW_KEY_display_offset:
        next_display_offset(knobs, text);
        return HC_CL_KNOBS_DISPLAY;
    default:
        return HC_CL_KNOBS_NOTHING;
    }
}

void hc_cl_knobs_copy(struct hc_cl_knobs *knobs, enum hc_cl_window_key key,
                      const struct hc_cl_knobs *from) {
    switch (key) {
    case HC_CL_WINDOW_KEY_preset_link:
        knobs->link = from->link;
        break;
    case HC_CL_WINDOW_KEY_condition:
        knobs->link.chosen = from->link.chosen;
        break;
    case HC_CL_WINDOW_KEY_less:
    case HC_CL_WINDOW_KEY_more:
        hc_cl_simulated_link_copy(&knobs->link, &from->link);
        break;
    case HC_CL_WINDOW_KEY_preset_timing:
        knobs->timing = from->timing;
        break;
    case HC_CL_WINDOW_KEY_input_delay:
        knobs->timing.input_delay = from->timing.input_delay;
        knobs->timing.input_delay_max = from->timing.input_delay_max;
        break;
    case HC_CL_WINDOW_KEY_others:
        knobs->display.others = from->display.others;
        break;
    case HC_CL_WINDOW_KEY_display_offset:
        knobs->display.offset = from->display.offset;
        break;
    default:
        break;
    }
}
