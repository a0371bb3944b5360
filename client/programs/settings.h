/// The settings of hindcast-bot, hindcast-load and hindcast-view, each in one row.
///
/// X(type, member, name, VALUE, initial, programs, group, sentence): `type member` of struct
/// hc_cl_options is set by the option --name of `programs`, see common/programs/settings.h for
/// VALUE. `initial` is the default of `program`, in which `core` is hc_client_config_default().
#pragma once

#include "common/programs/settings.h"
#include "common/programs/trace_file.h"
#include "hindcast/client.h"
#include "hindcast/network_sim.h"

enum {
    HC_CL_OPTIONS_CLIENTS_MAX = 4096,
    HC_CL_OPTIONS_PROCESSES_MAX = 256,
    HC_CL_OPTIONS_DELAY_MS_MAX = HC_NETWORK_SIM_DELAY_US_MAX / 1000,
    HC_CL_OPTIONS_BANDWIDTH_KBIT_MAX = 1000000,
};

/// The programs, each a bit.
enum hc_cl_options_program {
    HC_CL_OPTIONS_BOT = 1,
    HC_CL_OPTIONS_LOAD = 2,
    HC_CL_OPTIONS_VIEW = 4,
    HC_CL_OPTIONS_FLEET = HC_CL_OPTIONS_BOT | HC_CL_OPTIONS_LOAD,
    HC_CL_OPTIONS_SPAWNS = HC_CL_OPTIONS_LOAD | HC_CL_OPTIONS_VIEW,
    HC_CL_OPTIONS_ALL = HC_CL_OPTIONS_FLEET | HC_CL_OPTIONS_VIEW,
};

/// The groups of settings.
enum hc_cl_settings_group {
    HC_CL_SETTINGS_RUN,
    HC_CL_SETTINGS_PROFILE,
    HC_CL_SETTINGS_LINK,
    HC_CL_SETTINGS_RESULTS,
    HC_CL_SETTINGS_OTHER,
};

#define HC_CL_SETTINGS_OF_RUN(X)                                                                   \
    X(const char *, connect, "connect", TEXT("HOST:PORT"), NULL, ALL, RUN,                         \
      "The server; [ADDR]:PORT for IPv6")                                                          \
    X(bool, spawn, "spawn", FLAG, false, SPAWNS, RUN,                                              \
      "Start a hindcastd on 127.0.0.1 that ends with this program; hindcast-load reports its "     \
      "figures too")                                                                               \
    X(const char *, server_args, "server-args", TEXT("ARGS"), NULL, LOAD, RUN,                     \
      "More arguments for the hindcastd of --spawn, in words as of a shell, such as '--history "   \
      "32 --npcs 2'; they replace those of the same name")                                         \
    X(uint32_t, count, "count", N(1, HC_CL_OPTIONS_CLIENTS_MAX), 1, BOT, RUN,                      \
      "Bots in this process")                                                                      \
    X(uint32_t, clients, "clients", N(0, HC_CL_OPTIONS_CLIENTS_MAX), 8, LOAD, RUN,                 \
      "Full clients, which check every snapshot; 0 with --light; a game with fewer players "       \
      "lowers the default")                                                                        \
    X(uint32_t, light, "light", N(0, HC_CL_OPTIONS_CLIENTS_MAX), 0, LOAD, RUN,                     \
      "Light clients besides: they make the server's whole work at little cost, and check no "     \
      "snapshot's contents")                                                                       \
    X(uint64_t, duration_us, "duration", S_IN_US(1, 1000000),                                      \
      program == HC_CL_OPTIONS_LOAD ? 10000000 : 0, FLEET, RUN,                                    \
      "Play for S seconds; hindcast-bot without it until SIGINT or SIGTERM")                       \
    X(uint64_t, ramp_us, "ramp", S_IN_US(0, 100000), 0, LOAD, RUN,                                 \
      "Start the clients evenly over S seconds before")                                            \
    X(uint32_t, processes, "processes",                                                            \
      OR(N(1, HC_CL_OPTIONS_PROCESSES_MAX), "one for each core"), 0, LOAD, RUN,                    \
      "Spread the clients over N processes")                                                       \
    X(uint32_t, sources, "sources", OR(N(1, HC_CL_OPTIONS_CLIENTS_MAX), "one for each"), 0, LOAD,  \
      RUN, "Source addresses of light clients, 127.1.0.1 and up, towards a server on 127.0.0.0/8") \
    X(const char *, report, "report", TEXT("FILE"), NULL, LOAD, RUN,                               \
      "Write a page with plots over time, one HTML file")                                          \
    X(uint32_t, snapshot_rate, "snapshot-rate", OR(HZ(1, HC_TICK_RATE_MAX), "the tick rate"), 0,   \
      FLEET, RUN,                                                                                  \
      "Snapshots a second that each client is to receive; hindcast-load --spawn sets the "         \
      "server's --snapshot-rate")                                                                  \
    X(uint32_t, activity, "activity", PERCENT(0, 100), 100, LOAD, PROFILE,                         \
      "Percentage of the time in which users press keys")                                          \
    X(uint32_t, churn_mhz, "churn", PER_S_IN_MILLI(0, 10000), 0, LOAD, PROFILE,                    \
      "Clients a second that leave and join again")                                                \
    X(uint32_t, storm, "storm", N(0, HC_CL_OPTIONS_CLIENTS_MAX), 0, LOAD, PROFILE,                 \
      "Clients that leave and join again at once, halfway")                                        \
    X(uint32_t, step, "step", N(1, HC_CL_OPTIONS_CLIENTS_MAX), 0, LOAD, PROFILE,                   \
      "Repeat the run with N more light clients each time, and find the most that the server "     \
      "holds")                                                                                     \
    X(const char *, until, "until", TEXT("late|N"), "late", LOAD, PROFILE,                         \
      "End --step at the first step that is not held, or at N clients")

#define HC_CL_SETTINGS_OF_WINDOW(X)                                                                \
    X(bool, split, "split", FLAG, false, VIEW, RUN,                                                \
      "Show two clients side by side, each over its own link")                                     \
    X(bool, bot, "bot", FLAG, false, VIEW, RUN, "Let bots play")                                   \
    X(bool, overlay, "overlay", FLAG, false, VIEW, RUN,                                            \
      "Begin with the overlay of figures and ghosts (F1)")                                         \
    X(bool, keys, "keys", FLAG, false, VIEW, RUN, "Begin with the list of keys (F2)")              \
    X(uint32_t, width, "width", N(160, 8192), 1280, VIEW, RUN,                                     \
      "Pixels of the window from left to right")                                                   \
    X(uint32_t, height, "height", N(120, 8192), 640, VIEW, RUN,                                    \
      "Pixels of the window from top to bottom")                                                   \
    X(uint32_t, frames, "frames", OR(N(1, 1000000), "until the window is closed"), 0, VIEW, RUN,   \
      "Need no display, and end after N frames of play")                                           \
    X(const char *, press, "press", OR(TEXT("KEYS"), "none"), NULL, VIEW, RUN,                     \
      "Press and release these keys, one with each frame of play, such as "                        \
      "F3,'Left Shift+F7',Space")                                                                  \
    X(const char *, screenshot, "screenshot", TEXT("FILE"), NULL, VIEW, RUN,                       \
      "Write the last of --frames as a PNG picture")                                               \
    X(const char *, drawing, "drawing", OR(TEXT("FILE"), "dots, by kind of entity"), NULL, VIEW,   \
      RUN, "The drawing of --game, a plugin")                                                      \
    X(const char *, right_link_name, "right-link",                                                 \
      OR(NAMES("good|ok|bad|awful"), "as the left one's"), NULL, VIEW, LINK,                       \
      "The link of the right client of --split")

#define HC_CL_SETTINGS_OF_CLIENT(X)                                                                \
    X(const char *, timing_name, "timing", NAMES("rewind|balanced|ahead"), "balanced", ALL, RUN,   \
      "rewind: input delay and lead 0; balanced: an automatic input delay, and a lead of at most " \
      "1; ahead: a lead of up to 20. The others replace parts of it")                              \
    X(const char *, input_delay, "input-delay", OR(TEXT("auto|TICKS"), "that of --timing"), NULL,  \
      ALL, RUN,                                                                                    \
      "Stamp inputs so many ticks ahead; auto: as few as let them arrive in time, up to "          \
      "--input-delay-max")                                                                         \
    X(uint32_t, input_delay_max, "input-delay-max", TICKS(0, HC_INPUT_DELAY_MAX), 3, ALL, RUN,     \
      "Greatest automatic input delay")                                                            \
    X(uint32_t, display_offset, "display-offset", TICKS(0, HC_DISPLAY_OFFSET_MAX),                 \
      core.display_offset, ALL, RUN, "Show the tick that is so many behind the predicted one")     \
    X(const char *, lead, "lead", OR(TEXT("auto|TICKS"), "that of --timing"), NULL, ALL, RUN,      \
      "Predict so many ticks ahead of the server; auto: as few as let inputs arrive in time, up "  \
      "to 20")                                                                                     \
    X(enum hc_others, others, "others", WORDS("game|predicted|received"), core.others, ALL, RUN,   \
      "Show the other players predicted, as received, or as the game says: as received if it "     \
      "has lag compensation")                                                                      \
    X(enum hc_extrapolation, extrapolation, "extrapolation", WORDS("hold|linear|step"),            \
      core.extrapolation, ALL, RUN, "The best way to encode snapshots that clients offer")         \
    X(const char *, link_name, "link", OR(NAMES("good|ok|bad|awful"), "none"), NULL, ALL, LINK,    \
      "good: 20 ms +- 2; ok: 50 +- 10, 1 % loss; bad: 80 +- 20, 5 %; awful: 150 +- 50, 20 % in "   \
      "bursts of 3. The others replace parts of it")                                               \
    X(uint32_t, latency_to_us, "latency-to", MS_IN_US(0, HC_CL_OPTIONS_DELAY_MS_MAX), 0, FLEET,    \
      LINK, "Spread the clients' latencies evenly from --latency up to MS; 0: not")                \
    X(uint32_t, bandwidth_bit_s, "bandwidth",                                                      \
      OR(KBIT_IN_BIT(1, HC_CL_OPTIONS_BANDWIDTH_KBIT_MAX), "no limit"), 0, ALL, LINK,              \
      "Let datagrams pass one after another, at KBIT kbit/s without the headers of IP and UDP")    \
    X(uint64_t, seed, "seed", N(0, INT64_MAX), 1, ALL, OTHER, "Seed of the links and the bots")    \
    X(const char *, token, "token", OR(TEXT("FILE"), "from a hindcastd --dev on this machine"),    \
      NULL, ALL, OTHER, "Tokens to connect with, one on each line for each client")                \
    X(const char *, key_file, "key-file", OR(TEXT("FILE"), "none"), NULL, FLEET, OTHER,            \
      "Issue the tokens here, with the key file of a server that runs elsewhere; hindcastd must "  \
      "lie beside this program")                                                                   \
    X(uint64_t, audience, "audience", N(0, UINT64_MAX), 0, FLEET, OTHER,                           \
      "The server's --audience, for --key-file")                                                   \
    X(uint32_t, match, "match", N(0, HC_MATCH_MAX), 0, ALL, OTHER,                                 \
      "Ask for tokens of match N of a server's --matches; 0: of any that has room")                \
    X(const char *, name, "name", OR(TEXT("NAME"), "none"), NULL, ALL, OTHER,                      \
      "Ask a hindcastd --dev for tokens with this name, and numbers behind it for several "        \
      "clients")                                                                                   \
    X(const char *, game, "game", OR(TEXT("FILE"), "the arena"), NULL, ALL, OTHER,                 \
      "A plugin with the server's game")                                                           \
    X(const char *, json, "json", TEXT("FILE"), NULL, FLEET, OTHER,                                \
      "Write the final report as one JSON object; - is standard output")                           \
    X(const char *, trace, "trace", OR(TEXT("FILE"), "none"), NULL, VIEW, OTHER,                   \
      "Write what frames, predicted ticks and rollbacks do into FILE, for ui.perfetto.dev or "     \
      "chrome://tracing")                                                                          \
    X(uint32_t, trace_limit_mb, "trace-limit", MB(1, HC_TRACE_LIMIT_MB_MAX), HC_TRACE_LIMIT_MB,    \
      VIEW, OTHER, "Size at which a trace ends")

#define HC_CL_SETTINGS_OF_RESULTS(X)                                                               \
    X(struct hc_setting_texts, fail_if, "fail-if", TEXTS("COND"),                                  \
      (struct hc_setting_texts){.count = 0}, LOAD, RESULTS,                                        \
      "Exit with 3 if the condition is true of the report, such as 'rtt_ms.p99>120': a number's "  \
      "path in --json, one of < <= > >= == != and a number; may be given 16 times")                \
    X(const char *, compare, "compare", TEXT("FILE"), NULL, LOAD, RESULTS,                         \
      "Compare the report with one that --json wrote earlier, and exit with 4 if a figure is "     \
      "worse")                                                                                     \
    X(const char *, tolerance, "tolerance", TEXT("PCT"), "10%", LOAD, RESULTS,                     \
      "Percentage by which a figure may be worse with --compare, 0% to 1000%")                     \
    X(const char *, json_lines, "json-lines", TEXT("FILE"), NULL, LOAD, RESULTS,                   \
      "Write one JSON object on a line for each second; - is standard output")                     \
    X(const char *, junit, "junit", TEXT("FILE"), NULL, LOAD, RESULTS,                             \
      "Write the verdict, the conditions and the comparison as test cases in JUnit's XML")         \
    X(const char *, markdown, "markdown", TEXT("FILE"), NULL, LOAD, RESULTS,                       \
      "Write a summary in Markdown")

/// The conditions of a link, which are members of hc_network_sim_config too.
#define HC_CL_SETTINGS_OF_LINK(X)                                                                  \
    X(uint32_t, latency_us, "latency", MS_IN_US(0, HC_CL_OPTIONS_DELAY_MS_MAX), 0, ALL, LINK,      \
      "One way")                                                                                   \
    X(uint32_t, jitter_us, "jitter", MS_IN_US(0, HC_CL_OPTIONS_DELAY_MS_MAX), 0, ALL, LINK,        \
      "Vary the latency by up to MS either way")                                                   \
    X(uint32_t, loss_ppm, "loss", PERCENT_IN_PPM(0, 100), 0, ALL, LINK,                            \
      "Percentage of datagrams lost")                                                              \
    X(uint32_t, burst_mean, "burst", N(1, HC_NETWORK_SIM_BURST_MAX), 0, ALL, LINK,                 \
      "Mean length of a loss burst, in datagrams")                                                 \
    X(uint32_t, duplicate_ppm, "duplicate", PERCENT_IN_PPM(0, 100), 0, ALL, LINK,                  \
      "Percentage that arrives twice")                                                             \
    X(uint32_t, reorder_ppm, "reorder", PERCENT_IN_PPM(0, 100), 0, ALL, LINK,                      \
      "Percentage delayed by up to 50 ms more")                                                    \
    X(uint32_t, queue_us, "queue", MS_IN_US(0, HC_CL_OPTIONS_DELAY_MS_MAX), 200000, ALL, LINK,     \
      "Drop datagrams that would wait longer for --bandwidth")

/// All settings.
#define HC_CL_SETTINGS(X)                                                                          \
    HC_CL_SETTINGS_OF_RUN(X)                                                                       \
    HC_CL_SETTINGS_OF_WINDOW(X)                                                                    \
    HC_CL_SETTINGS_OF_CLIENT(X) HC_CL_SETTINGS_OF_LINK(X) HC_CL_SETTINGS_OF_RESULTS(X)
