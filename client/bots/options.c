/// Owns the tables of the bots' options, their ranges and defaults.
#define _GNU_SOURCE // argp

#include "client/bots/options.h"

#include "common/decimal.h"
#include "proto/name.h"

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEY_CONNECT = 256,
    KEY_SPAWN,
    KEY_CLIENTS,
    KEY_DURATION,
    KEY_RAMP,
    KEY_PROCESSES,
    KEY_INPUT_DELAY,
    KEY_DISPLAY_OFFSET,
    KEY_OTHERS,
    KEY_LEAD,
    KEY_EXTRAPOLATION,
    KEY_LINK,
    KEY_LATENCY,
    KEY_JITTER,
    KEY_LOSS,
    KEY_BURST,
    KEY_DUPLICATE,
    KEY_REORDER,
    KEY_SEED,
    KEY_TOKEN,
    KEY_MATCH,
    KEY_NAME,
    KEY_GAME,
    KEY_JSON,
    KEY_LIGHT,
    KEY_SOURCES,
    KEY_LATENCY_TO,
    KEY_ACTIVITY,
    KEY_CHURN,
    KEY_STORM,
    KEY_SNAPSHOT_RATE,
    KEY_STEP,
    KEY_UNTIL,
    KEY_REPORT,
    KEY_SERVER_ARGS,
    KEY_SPLIT,
    KEY_RIGHT_LINK,
    KEY_BOT,
    KEY_OVERLAY,
    KEY_KEYS,
    KEY_WIDTH,
    KEY_HEIGHT,
    KEY_FRAMES,
    KEY_SCREENSHOT,
    KEY_DRAWING,
    KEY_END,
    GROUP_PROFILE = 1,
    GROUP_LINK = 2,
    GROUP_OTHER = 3,
    FRAMES_MAX = 1000000,
    PIXELS_MAX = 8192,
    WHY_MAX = 9000, ///< bytes of a sentence with two paths
};

static const struct argp_option bot_table[] = {
    {"connect", KEY_CONNECT, "HOST:PORT", 0, "The server; [ADDR]:PORT for IPv6", 0},
    {"count", KEY_CLIENTS, "N", 0, "Bots in this process (default 1)", 0},
    {"duration", KEY_DURATION, "S", 0, "Play for S seconds (default: until SIGINT or SIGTERM)", 0},
    {0},
};

static const struct argp_option load_table[] = {
    {"connect", KEY_CONNECT, "HOST:PORT", 0, "The server; [ADDR]:PORT for IPv6", 0},
    {"spawn", KEY_SPAWN, NULL, 0, "Start a hindcastd on 127.0.0.1, and report its figures too", 0},
    {"server-args", KEY_SERVER_ARGS, "ARGS", 0,
     "More arguments for the hindcastd of --spawn, separated by spaces, such as '--history 32 "
     "--npcs 2'; they replace those of the same name",
     0},
    {"clients", KEY_CLIENTS, "N", 0,
     "Full clients, which check every snapshot; 0 with --light (default 8)", 0},
    {"light", KEY_LIGHT, "N", 0,
     "Light clients besides: they make the server's whole work at little cost, and check no "
     "snapshot's contents (default 0)",
     0},
    {"duration", KEY_DURATION, "S", 0, "Play for S seconds (default 10)", 0},
    {"ramp", KEY_RAMP, "S", 0, "Start the clients evenly over S seconds before (default 0)", 0},
    {"processes", KEY_PROCESSES, "N", 0,
     "Spread the clients over N processes (default: one for each core)", 0},
    {"sources", KEY_SOURCES, "N", 0,
     "Source addresses of light clients, 127.1.0.1 and up, towards a server on 127.0.0.0/8 "
     "(default: one for each)",
     0},
    {"report", KEY_REPORT, "FILE", 0, "Write a page with plots over time, one HTML file", 0},
    {NULL, 0, NULL, 0, "The profile:", GROUP_PROFILE},
    {"activity", KEY_ACTIVITY, "PCT", 0,
     "Percentage of the time in which users press keys (default 100)", GROUP_PROFILE},
    {"churn", KEY_CHURN, "N", 0, "Clients a second that leave and join again (default 0)",
     GROUP_PROFILE},
    {"storm", KEY_STORM, "N", 0, "Clients that leave and join again at once, halfway (default 0)",
     GROUP_PROFILE},
    {"step", KEY_STEP, "N", 0,
     "Repeat the run with N more light clients each time, and find the most that the server holds",
     GROUP_PROFILE},
    {"until", KEY_UNTIL, "late|N", 0,
     "End --step at the first step that is not held, or at N clients (default late)",
     GROUP_PROFILE},
    {0},
};

static const struct argp_option view_table[] = {
    {"connect", KEY_CONNECT, "HOST:PORT", 0, "The server; [ADDR]:PORT for IPv6", 0},
    {"spawn", KEY_SPAWN, NULL, 0, "Start a hindcastd on 127.0.0.1 that ends with this program", 0},
    {"split", KEY_SPLIT, NULL, 0, "Show two clients side by side, each over its own link", 0},
    {"bot", KEY_BOT, NULL, 0, "Let bots play", 0},
    {"overlay", KEY_OVERLAY, NULL, 0, "Begin with the overlay of figures and ghosts (F1)", 0},
    {"keys", KEY_KEYS, NULL, 0, "Begin with the list of keys (F2)", 0},
    {"width", KEY_WIDTH, "N", 0, "Pixels of the window from left to right (default 1280)", 0},
    {"height", KEY_HEIGHT, "N", 0, "Pixels of the window from top to bottom (default 640)", 0},
    {"frames", KEY_FRAMES, "N", 0,
     "Need no display, and end after N frames of play (default: until the window is closed)", 0},
    {"screenshot", KEY_SCREENSHOT, "FILE", 0, "Write the last of --frames as a PNG picture", 0},
    {"drawing", KEY_DRAWING, "FILE", 0,
     "The drawing of --game, a plugin (default: dots, by kind of entity)", 0},
    {"right-link", KEY_RIGHT_LINK, "NAME", 0,
     "The link of the right client of --split (default: as the left one's)", GROUP_LINK},
    {0},
};

/// Options of both hindcast-bot and hindcast-load.
static const struct argp_option fleet_table[] = {
    {"snapshot-rate", KEY_SNAPSHOT_RATE, "HZ", 0,
     "Snapshots a second that each client is to receive; hindcast-load --spawn sets the server's "
     "--snapshot-rate (default: the tick rate)",
     0},
    {"latency-to", KEY_LATENCY_TO, "MS", 0,
     "Spread the clients' latencies evenly from --latency up to MS", GROUP_LINK},
    {"json", KEY_JSON, "FILE", 0, "Write the final report as one JSON object; - is standard output",
     GROUP_OTHER},
    {0},
};

static const struct argp_option common_table[] = {
    {"input-delay", KEY_INPUT_DELAY, "N", 0, "Stamp inputs N ticks ahead (default 3)", 0},
    {"display-offset", KEY_DISPLAY_OFFSET, "N", 0,
     "Show the tick that is N behind the predicted one (default 0)", 0},
    {"others", KEY_OTHERS, "HOW", 0,
     "Show the other players as received or predicted (default: by the game: as received if it has "
     "lag compensation)",
     0},
    {"lead", KEY_LEAD, "N", 0, "Predict N ticks ahead of the server (default 0)", 0},
    {"extrapolation", KEY_EXTRAPOLATION, "NAME", 0,
     "The best way to encode snapshots that clients offer: hold, linear or step (default: step)",
     0},
    {NULL, 0, NULL, 0, "The simulated link, each direction:", GROUP_LINK},
    {"link", KEY_LINK, "NAME", 0,
     "good: 20 ms +- 2; ok: 50 +- 10, 1 % loss; bad: 80 +- 20, 5 %; awful: 150 +- 50, 20 % in "
     "bursts of 3 (default: none)",
     GROUP_LINK},
    {"latency", KEY_LATENCY, "MS", 0, "One way", GROUP_LINK},
    {"jitter", KEY_JITTER, "MS", 0, "Vary the latency by up to MS either way", GROUP_LINK},
    {"loss", KEY_LOSS, "PCT", 0, "Percentage of datagrams lost", GROUP_LINK},
    {"burst", KEY_BURST, "N", 0, "Mean length of a loss burst, in datagrams", GROUP_LINK},
    {"duplicate", KEY_DUPLICATE, "PCT", 0, "Percentage that arrives twice", GROUP_LINK},
    {"reorder", KEY_REORDER, "PCT", 0, "Percentage delayed by up to 50 ms more", GROUP_LINK},
    {NULL, 0, NULL, 0, "Other:", GROUP_OTHER},
    {"seed", KEY_SEED, "N", 0, "Seed of the links and the bots (default 1)", GROUP_OTHER},
    {"token", KEY_TOKEN, "FILE", 0,
     "Tokens to connect with, one on each line for each client (default: from a hindcastd --dev on "
     "this machine)",
     GROUP_OTHER},
    {"match", KEY_MATCH, "N", 0,
     "Ask a hindcastd --dev for tokens of match N of its --matches; 0: of any that has room "
     "(default 0)",
     GROUP_OTHER},
    {"name", KEY_NAME, "NAME", 0,
     "Ask a hindcastd --dev for tokens with this name, and numbers behind it for several clients "
     "(default: none)",
     GROUP_OTHER},
    {"game", KEY_GAME, "FILE", 0, "A plugin with the server's game (default: the arena)",
     GROUP_OTHER},
    {0},
};

/// The options that take a number: its decimal places, and its range in whole units.
static const struct number {
    int key;
    unsigned places;
    uint64_t min, max;
    const char *unit;
} numbers[] = {
    {KEY_CLIENTS, 0, 0, HC_CL_OPTIONS_CLIENTS_MAX, ""},
    {KEY_MATCH, 0, 0, HC_MATCH_MAX, ""},
    {KEY_DURATION, 6, 1, 1000000, " s"},
    {KEY_RAMP, 6, 0, 100000, " s"},
    {KEY_PROCESSES, 0, 1, HC_CL_OPTIONS_PROCESSES_MAX, ""},
    {KEY_INPUT_DELAY, 0, 0, HC_INPUT_DELAY_MAX, " ticks"},
    {KEY_DISPLAY_OFFSET, 0, 0, HC_DISPLAY_OFFSET_MAX, " ticks"},
    {KEY_LEAD, 0, 0, HC_LEAD_MAX, " ticks"},
    {KEY_LATENCY, 3, 0, HC_NETWORK_SIM_DELAY_US_MAX / 1000, " ms"},
    {KEY_JITTER, 3, 0, HC_NETWORK_SIM_DELAY_US_MAX / 1000, " ms"},
    {KEY_LOSS, 4, 0, 100, " %"},
    {KEY_BURST, 0, 1, HC_NETWORK_SIM_BURST_MAX, " datagrams"},
    {KEY_DUPLICATE, 4, 0, 100, " %"},
    {KEY_REORDER, 4, 0, 100, " %"},
    {KEY_SEED, 0, 0, INT64_MAX, ""}, // a JSON integer in the report
    {KEY_LIGHT, 0, 0, HC_CL_OPTIONS_CLIENTS_MAX, ""},
    {KEY_SOURCES, 0, 1, HC_CL_OPTIONS_CLIENTS_MAX, ""},
    {KEY_LATENCY_TO, 3, 0, HC_NETWORK_SIM_DELAY_US_MAX / 1000, " ms"},
    {KEY_ACTIVITY, 0, 0, 100, " %"},
    {KEY_CHURN, 3, 0, 10000, " a second"},
    {KEY_STORM, 0, 0, HC_CL_OPTIONS_CLIENTS_MAX, ""},
    {KEY_SNAPSHOT_RATE, 0, 1, HC_TICK_RATE_MAX, " Hz"},
    {KEY_STEP, 0, 1, HC_CL_OPTIONS_CLIENTS_MAX, ""},
    {KEY_FRAMES, 0, 1, FRAMES_MAX, ""},
    {KEY_WIDTH, 0, 160, PIXELS_MAX, ""},
    {KEY_HEIGHT, 0, 120, PIXELS_MAX, ""},
};

/// The state of a parse: the options so far, and what must wait for its end.
struct reading {
    struct hc_cl_options *options;
    enum hc_cl_options_program program;
    bool is_set[KEY_END - KEY_CONNECT];
    struct hc_network_sim_config link; ///< conditions given one by one
    const char *until;                 ///< as the user wrote it
};

/// The options of each program alone.
static const struct argp_option *const own_tables[] = {
    [HC_CL_OPTIONS_BOT] = bot_table,
    [HC_CL_OPTIONS_LOAD] = load_table,
    [HC_CL_OPTIONS_VIEW] = view_table,
};

static const char *option_name(const struct reading *reading, int key) {
    const struct argp_option *tables[] = {own_tables[reading->program], common_table, fleet_table};
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
        for (const struct argp_option *option = tables[i]; option->name || option->doc; option++)
            if (option->key == key && option->name != NULL)
                return option->name;
    return "";
}

static void refuse(const struct reading *reading, int key, const char *value, const char *allowed) {
    fprintf(stderr, "%s: --%s '%s': must be %s\n", program_invocation_short_name,
            option_name(reading, key), value, allowed);
    exit(2);
}

/// The value of a numeric option in units of its last decimal place; 0 for other options.
static uint64_t number(const struct reading *reading, int key, const char *text) {
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
        const struct number *option = &numbers[i];
        if (option->key != key)
            continue;
        uint64_t value = 0, scale = 1;
        for (unsigned k = 0; k < option->places; k++)
            scale *= 10;
        if (hc_decimal_parse(text, option->places, &value) == HC_OK &&
            value >= option->min * scale && value <= option->max * scale)
            return value;
        char allowed[96];
        snprintf(allowed, sizeof(allowed), "a %snumber in [%" PRIu64 ", %" PRIu64 "]%s",
                 option->places == 0 ? "whole " : "", option->min, option->max, option->unit);
        refuse(reading, key, text, allowed);
    }
    return 0;
}

/// Parses HOST:PORT or [HOST]:PORT.
static void parse_server(const struct reading *reading, const char *text) {
    struct hc_cl_options *options = reading->options;
    const char *colon = strrchr(text, ':');
    const char *begin = text, *end = colon;
    uint64_t port = 0;
    if (colon != NULL && text[0] == '[' && colon > text && colon[-1] == ']') {
        begin = text + 1;
        end = colon - 1;
    }
    bool good = colon != NULL && end > begin && (size_t)(end - begin) < sizeof(options->host) &&
                (begin != text || memchr(begin, ':', (size_t)(end - begin)) == NULL) &&
                hc_decimal_parse(colon + 1, 0, &port) == HC_OK && port >= 1 && port <= UINT16_MAX;
    if (!good)
        refuse(reading, KEY_CONNECT, text, "HOST:PORT or [ADDR]:PORT, the port in [1, 65535]");
    memcpy(options->host, begin, (size_t)(end - begin));
    options->host[end - begin] = '\0';
    snprintf(options->port, sizeof(options->port), "%u", (unsigned)(uint16_t)port);
}

/// Sets single conditions over the preset, in any order of the command line.
static void resolve_link(struct reading *reading) {
    struct hc_network_sim_config *link = &reading->options->link;
    const struct {
        int key;
        uint32_t *to, from;
    } fields[] = {
        {KEY_LATENCY, &link->latency_us, reading->link.latency_us},
        {KEY_JITTER, &link->jitter_us, reading->link.jitter_us},
        {KEY_LOSS, &link->loss_ppm, reading->link.loss_ppm},
        {KEY_BURST, &link->burst_mean, reading->link.burst_mean},
        {KEY_DUPLICATE, &link->duplicate_ppm, reading->link.duplicate_ppm},
        {KEY_REORDER, &link->reorder_ppm, reading->link.reorder_ppm},
    };
    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
        if (reading->is_set[fields[i].key - KEY_CONNECT]) {
            *fields[i].to = fields[i].from;
            reading->options->link_name = NULL;
        }
}

/// Refuses an option that would have no effect, or another one than it says, beside the others.
static void check_link(const struct reading *reading) {
    const struct hc_network_sim_config *link = &reading->options->link;
    char text[24], allowed[64];
    if (link->jitter_us > link->latency_us) { // no datagram arrives before it was sent
        snprintf(text, sizeof(text), "%g", link->jitter_us / 1e3);
        snprintf(allowed, sizeof(allowed), "at most --latency, which is %g",
                 link->latency_us / 1e3);
        refuse(reading, KEY_JITTER, text, allowed);
    }
    if (reading->is_set[KEY_BURST - KEY_CONNECT] && link->loss_ppm == 0) {
        snprintf(text, sizeof(text), "%" PRIu32, link->burst_mean);
        refuse(reading, KEY_BURST, text, "with --loss PCT above 0, or a --link with loss");
    }
}

/// Checks the numbers of clients against each other.
static void check_clients(const struct reading *reading) {
    const struct hc_cl_options *options = reading->options;
    uint32_t clients = options->clients + options->light, steps = options->step;
    char text[16], allowed[96];
    if (clients == 0 && steps == 0)
        refuse(reading, KEY_CLIENTS, "0", "a whole number in [1, 4096]");
    if (clients > HC_CL_OPTIONS_CLIENTS_MAX) {
        snprintf(text, sizeof(text), "%" PRIu32, options->light);
        refuse(reading, KEY_LIGHT, text, "at most 4096 together with --clients");
    }
    if (options->storm > clients + steps) { // each leaves and joins again once
        snprintf(text, sizeof(text), "%" PRIu32, options->storm);
        snprintf(allowed, sizeof(allowed), "at most the clients, which are %" PRIu32,
                 clients + steps);
        refuse(reading, KEY_STORM, text, allowed);
    }
    if (reading->is_set[KEY_SOURCES - KEY_CONNECT] && options->light == 0 && steps == 0) {
        snprintf(text, sizeof(text), "%" PRIu32, options->sources);
        refuse(reading, KEY_SOURCES, text, "with --light N or --step N");
    }
    if (steps == 0 && options->processes > clients) {
        snprintf(text, sizeof(text), "%" PRIu32, options->processes);
        snprintf(allowed, sizeof(allowed), "at most --clients%s, which is %" PRIu32,
                 options->light > 0 ? " and --light" : "", clients);
        refuse(reading, KEY_PROCESSES, text, allowed);
    }
    if (steps == 0 && reading->is_set[KEY_UNTIL - KEY_CONNECT])
        refuse(reading, KEY_UNTIL, reading->until, "with --step N");
}

/// Checks the options of hindcast-view against each other, and sets its clients and links.
static void resolve_view(struct reading *reading, struct argp_state *state) {
    struct hc_cl_options *options = reading->options;
    bool split = reading->is_set[KEY_SPLIT - KEY_CONNECT];
    bool right = reading->is_set[KEY_RIGHT_LINK - KEY_CONNECT];
    if (right && !split)
        argp_error(state, "--right-link NAME is for --split");
    if (options->screenshot != NULL && options->frames == 0)
        argp_error(state, "--screenshot FILE needs --frames N");
    if (options->drawing != NULL && options->game == NULL)
        argp_error(state, "--drawing FILE needs --game FILE");
    options->clients = split ? 2 : 1;
    if (!right) {
        options->right_link = options->link;
        options->right_link_name = options->link_name;
    }
}

static void check_name(const struct reading *reading, struct argp_state *state) {
    const char *name = reading->options->wish.name;
    if (reading->options->token != NULL)
        argp_error(state, "--name NAME is for the tokens of a hindcastd --dev");
    if (strlen(name) > HC_CL_TOKENS_NAME_MAX ||
        hc_name_check((const uint8_t *)name, strlen(name)) != HC_OK)
        argp_error(state, "--name '%s': must be UTF-8 that can be shown, of at most %d bytes", name,
                   HC_CL_TOKENS_NAME_MAX);
}

/// Checks options against each other once all are parsed.
static void resolve(struct reading *reading, struct argp_state *state) {
    const struct hc_cl_options *options = reading->options;
    bool connects = options->host[0] != '\0';
    if (reading->program == HC_CL_OPTIONS_BOT && !connects)
        argp_error(state, "--connect HOST:PORT is needed");
    if (connects && options->spawn)
        argp_error(state, "--connect HOST:PORT and --spawn exclude each other");
    if (reading->program != HC_CL_OPTIONS_BOT && !connects && !options->spawn)
        argp_error(state, "one of --connect HOST:PORT and --spawn is needed");
    if (options->spawn && options->token != NULL)
        argp_error(state, "--token FILE is for a server elsewhere, not for --spawn");
    if (options->server_args != NULL && !options->spawn)
        argp_error(state, "--server-args ARGS is for the server of --spawn");
    if (options->wish.match != 0 && (options->spawn || options->token != NULL))
        argp_error(state, "--match N is for the tokens of a hindcastd --dev with --matches");
    if (options->wish.name != NULL)
        check_name(reading, state);
    check_clients(reading);
    resolve_link(reading);
    check_link(reading);
    if (reading->program == HC_CL_OPTIONS_VIEW)
        resolve_view(reading, state);
    if (reading->is_set[KEY_LATENCY_TO - KEY_CONNECT] &&
        options->latency_to_us < options->link.latency_us) {
        char text[24], allowed[64];
        snprintf(text, sizeof(text), "%g", options->latency_to_us / 1e3);
        snprintf(allowed, sizeof(allowed), "at least --latency, which is %g",
                 options->link.latency_us / 1e3);
        refuse(reading, KEY_LATENCY_TO, text, allowed);
    }
}

/// Sets a numeric option of the load's profile.
static void set_load_number(struct hc_cl_options *options, int key, uint32_t small) {
    switch (key) {
    case KEY_LIGHT:
        options->light = small;
        break;
    case KEY_SOURCES:
        options->sources = small;
        break;
    case KEY_LATENCY_TO:
        options->latency_to_us = small;
        break;
    case KEY_ACTIVITY:
        options->activity = small;
        break;
    case KEY_CHURN:
        options->churn_mhz = small;
        break;
    case KEY_STORM:
        options->storm = small;
        break;
    case KEY_SNAPSHOT_RATE:
        options->snapshot_rate = small;
        break;
    case KEY_STEP:
        options->step = small;
        break;
    case KEY_WIDTH:
        options->width = small;
        break;
    case KEY_HEIGHT:
        options->height = small;
        break;
    case KEY_FRAMES:
        options->frames = small;
        break;
    default:
        break;
    }
}

/// Sets a numeric option.
static void set_number(struct reading *reading, int key, uint64_t value) {
    struct hc_cl_options *options = reading->options;
    struct hc_network_sim_config *link = &reading->link;
    uint32_t small = (uint32_t)value;
    switch (key) {
    case KEY_CLIENTS:
        options->clients = small;
        break;
    case KEY_DURATION:
        options->duration_us = value;
        break;
    case KEY_RAMP:
        options->ramp_us = value;
        break;
    case KEY_PROCESSES:
        options->processes = small;
        break;
    case KEY_MATCH:
        options->wish.match = small;
        break;
    case KEY_INPUT_DELAY:
        options->input_delay = small;
        break;
    case KEY_DISPLAY_OFFSET:
        options->display_offset = small;
        break;
    case KEY_LEAD:
        options->lead = small;
        break;
    case KEY_LATENCY:
        link->latency_us = small;
        break;
    case KEY_JITTER:
        link->jitter_us = small;
        break;
    case KEY_LOSS:
        link->loss_ppm = small;
        break;
    case KEY_BURST:
        link->burst_mean = small;
        break;
    case KEY_DUPLICATE:
        link->duplicate_ppm = small;
        break;
    case KEY_REORDER:
        link->reorder_ppm = small;
        break;
    case KEY_SEED:
        options->seed = value;
        break;
    default:
        set_load_number(options, key, small);
        break;
    }
}

static void parse_until(struct reading *reading, const char *text) {
    uint64_t clients = 0;
    reading->until = text;
    if (strcmp(text, "late") != 0 && (hc_decimal_parse(text, 0, &clients) != HC_OK || clients < 1 ||
                                      clients > HC_CL_OPTIONS_CLIENTS_MAX))
        refuse(reading, KEY_UNTIL, text, "late, or a whole number in [1, 4096]");
    reading->options->until = (uint32_t)clients;
}

/// Parses the name of a link's preset.
static const char *parse_link(const struct reading *reading, int key, const char *text,
                              struct hc_network_sim_config *link) {
    if (!hc_network_sim_preset(text, link))
        refuse(reading, key, text, "good, ok, bad or awful");
    return text;
}

static enum hc_extrapolation parse_extrapolation(const struct reading *reading, const char *text) {
    static const char *const names[] = {[HC_EXTRAPOLATION_HOLD] = "hold",
                                        [HC_EXTRAPOLATION_LINEAR] = "linear",
                                        [HC_EXTRAPOLATION_STEP] = "step"};
    unsigned how = 0;
    while (how <= HC_EXTRAPOLATION_STEP && strcmp(text, names[how]) != 0)
        how++;
    if (how > HC_EXTRAPOLATION_STEP)
        refuse(reading, KEY_EXTRAPOLATION, text, "hold, linear or step");
    return (enum hc_extrapolation)how;
}

static enum hc_others parse_others(struct reading *reading, const char *text) {
    if (strcmp(text, "received") == 0)
        return HC_OTHERS_AS_RECEIVED;
    if (strcmp(text, "predicted") != 0)
        refuse(reading, KEY_OTHERS, text, "received or predicted");
    return HC_OTHERS_PREDICTED;
}

/// Sets an option that takes no number. False: it is another option.
static bool set_text(struct reading *reading, int key, const char *text) {
    struct hc_cl_options *options = reading->options;
    const struct {
        int key;
        const char **to;
    } paths[] = {
        {KEY_TOKEN, &options->token},     {KEY_NAME, &options->wish.name},
        {KEY_GAME, &options->game},       {KEY_JSON, &options->json},
        {KEY_REPORT, &options->report},   {KEY_SCREENSHOT, &options->screenshot},
        {KEY_DRAWING, &options->drawing}, {KEY_SERVER_ARGS, &options->server_args},
    };
    for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++)
        if (paths[i].key == key) {
            *paths[i].to = text;
            return true;
        }
    switch (key) {
    case KEY_CONNECT:
        parse_server(reading, text);
        return true;
    case KEY_SPAWN:
        options->spawn = true;
        return true;
    case KEY_EXTRAPOLATION:
        options->extrapolation = parse_extrapolation(reading, text);
        return true;
    case KEY_OTHERS:
        options->others = parse_others(reading, text);
        return true;
    case KEY_LINK:
        options->link_name = parse_link(reading, key, text, &options->link);
        return true;
    case KEY_RIGHT_LINK:
        options->right_link_name = parse_link(reading, key, text, &options->right_link);
        return true;
    case KEY_UNTIL:
        parse_until(reading, text);
        return true;
    case KEY_BOT:
        options->bot = true;
        return true;
    case KEY_OVERLAY:
        options->overlay = true;
        return true;
    case KEY_KEYS:
        options->keys = true;
        return true;
    case KEY_SPLIT: // resolve_view
        return true;
    default:
        return false;
    }
}

static error_t parse(int key, char *text, struct argp_state *state) {
    struct reading *reading = state->input;
    if (key == ARGP_KEY_ARG)
        argp_error(state, "unexpected argument '%s'", text);
    if (key < KEY_CONNECT || key >= KEY_END)
        return ARGP_ERR_UNKNOWN;
    reading->is_set[key - KEY_CONNECT] = true;
    if (!set_text(reading, key, text))
        set_number(reading, key, number(reading, key, text));
    return 0;
}

/// Parses the whole command line: passes options to `parse`, and resolves them at the end.
static error_t parse_program(int key, char *text, struct argp_state *state) {
    if (key == ARGP_KEY_INIT)
        for (size_t i = 0; state->root_argp->children[i].argp != NULL; i++)
            state->child_inputs[i] = state->input;
    if (key == ARGP_KEY_END) {
        resolve(state->input, state);
        return 0;
    }
    return parse(key, text, state);
}

/// Loads the game. Without --clients there are no more than its players.
static void load_game(struct hc_cl_options *options, bool clients_given) {
    char why[WHY_MAX];
    if (!hc_plugin_load(&options->plugin, options->game, why, sizeof(why))) {
        fprintf(stderr, "%s: %s\n", program_invocation_short_name, why);
        exit(2);
    }
    uint32_t most = options->plugin.game->players_max;
    uint32_t light = options->light > 0 ? options->light : options->step; // of the first step
    most = most > light ? most - light : 0;
    if (!clients_given && options->clients > most)
        options->clients = most;
}

void hc_cl_options_parse(struct hc_cl_options *options, enum hc_cl_options_program program,
                         int argc, char **argv) {
    static const struct argp common = {.options = common_table, .parser = parse};
    static const struct argp fleet = {.options = fleet_table, .parser = parse};
    static const struct argp_child children[] = {{&common, 0, NULL, 0}, {&fleet, 0, NULL, 0}, {0}};
    static const struct argp_child view_children[] = {{&common, 0, NULL, 0}, {0}};
    const struct argp argps[] = {
        [HC_CL_OPTIONS_BOT] =
            {.options = bot_table,
             .parser = parse_program,
             .children = children,
             .doc = "Headless bots that play on a Hindcast server, each over its own "
                    "simulated link.\v"
                    "The report's first line and the exit status give the verdict on the run; "
                    "docs/REPORT.md explains the other lines."},
        [HC_CL_OPTIONS_LOAD] =
            {.options = load_table,
             .parser = parse_program,
             .children = children,
             .doc = "Plays with many bots on a Hindcast server, and reports their cost and the "
                    "quality of play.\v"
                    "The report's first line and the exit status give the verdict on the run; "
                    "docs/REPORT.md explains the other lines."},
        [HC_CL_OPTIONS_VIEW] =
            {.options = view_table,
             .parser = parse_program,
             .children = view_children,
             .doc = "A window in which a person plays on a Hindcast server, over a simulated "
                    "link.\v"
                    "Keys: W A S D or the arrows move, the mouse aims, space or a mouse button "
                    "fires; with --split W A S D are the left client's, and the arrows and Enter "
                    "the right one's. Gamepads: a stick moves, the other aims, A or a trigger "
                    "fires. F1 toggles the overlay, Escape ends. F2 lists all keys, also those of "
                    "the game: a button for each of its input's fields."},
    };
    struct hc_client_config client = hc_client_config_default();
    *options = (struct hc_cl_options){
        .clients = program == HC_CL_OPTIONS_LOAD ? 8 : 1,
        .duration_us = program == HC_CL_OPTIONS_LOAD ? 10000000 : 0,
        .input_delay = client.input_delay,
        .display_offset = client.display_offset,
        .lead = client.lead,
        .extrapolation = client.extrapolation,
        .link = hc_network_sim_config_default(),
        .seed = 1,
        .activity = 100,
        .width = 1280,
        .height = 640,
    };
    struct reading reading = {.options = options, .program = program};
    argp_err_exit_status = 2;
    argp_parse(&argps[program], argc, argv, 0, NULL, &reading);
    load_game(options, reading.is_set[KEY_CLIENTS - KEY_CONNECT]);
}
