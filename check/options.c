/// Owns the command line of hindcast-check.
#include "check/options.h"

#define ROW(type, member, name, value, initial, sentence)                                          \
    HC_SETTING(struct hc_ck_options, member, name, value, 1, 0, HC_SETTING_FIXED, sentence)
static const struct hc_setting rows[HC_CK_SETTING_COUNT] = {HC_CK_SETTINGS(ROW)};

static const char about[] =
    "Checks the rule of a game: plays random histories, takes each step under several conditions "
    "that must not change its result, and compares what late inputs change with a simulation from "
    "scratch.\v"
    "Prints one sentence for each fault, and the command that repeats it. Exits with 0 if there is "
    "none, with 1 if there are some. Notes name the kinds of events that no history emits, and "
    "tell if no round ends.";

static error_t parse(int key, char *text, struct argp_state *state) {
    if (key == ARGP_KEY_ARG)
        argp_error(state, "unexpected argument '%s'", text);
    return hc_settings_take(state->input, key, text);
}

void hc_ck_options_parse(struct hc_ck_options *options, int argc, char **argv) {
#define INITIAL(type, member, name, value, initial, ...) .member = (initial),
    static const struct hc_ck_options defaults = {HC_CK_SETTINGS(INITIAL)};
    static const char *const groups[] = {"", NULL};
    struct hc_settings settings = {.rows = rows,
                                   .count = HC_CK_SETTING_COUNT,
                                   .program = 1,
                                   .groups = groups,
                                   .defaults = &defaults,
                                   .values = options,
                                   .given = options->given};
    *options = defaults;
    hc_settings_run(&settings, parse, about, argc, argv);
}
