/// The command line of hindcast-check, each option in one row.
#pragma once

#include "common/programs/settings.h"
#include "common/programs/trace_file.h"

enum {
    HC_CK_HISTORIES_MAX = 1000000,
    HC_CK_TICKS_MAX = 100000,
};

/// X(type, member, name, VALUE, initial, sentence): the option --name sets `type member` of struct
/// hc_ck_options, whose default is `initial`; common/programs/settings.h describes VALUE.
#define HC_CK_SETTINGS(X)                                                                          \
    X(const char *, game, "game", OR(TEXT("FILE"), "the arena"), NULL, "The plugin to check")      \
    X(const char *, build, "build", TEXT("FILE"), NULL,                                            \
      "The same game in another build, such as with -O0: its results must be equal")               \
    X(uint64_t, seed, "seed", N(0, INT64_MAX), 1,                                                  \
      "Seed of the first history; each next one adds 1")                                           \
    X(uint64_t, histories, "histories", N(1, HC_CK_HISTORIES_MAX), 60, "Random histories to play") \
    X(uint32_t, ticks, "ticks",                                                                    \
      OR(N(1, HC_CK_TICKS_MAX), "60 to 299, and 16 times as many in every tenth"), 0,              \
      "Ticks of each history")                                                                     \
    X(const char *, json, "json", TEXT("FILE"), NULL,                                              \
      "Write the report as one JSON object; - is standard output")                                 \
    X(const char *, trace, "trace", OR(TEXT("FILE"), "none"), NULL,                                \
      "Write how long each part takes into FILE, for ui.perfetto.dev or chrome://tracing")         \
    X(uint32_t, trace_limit_mb, "trace-limit", MB(1, HC_TRACE_LIMIT_MB_MAX), HC_TRACE_LIMIT_MB,    \
      "Size at which a trace ends")

/// The numbers of the settings.
enum hc_ck_setting {
#define HC_CK_SETTING_ENUM(type, member, ...) HC_CK_SETTING_##member,
    HC_CK_SETTINGS(HC_CK_SETTING_ENUM) HC_CK_SETTING_COUNT
};

struct hc_ck_options {
#define HC_CK_SETTING_MEMBER(type, member, ...) type member;
    HC_CK_SETTINGS(HC_CK_SETTING_MEMBER)
    bool given[HC_CK_SETTING_COUNT]; ///< whether the command line sets it
};

/// Parses the arguments over the defaults. On --help and --version it prints and exits with 0. On
/// an error it names the option, the value and the allowed range, and exits with 2.
void hc_ck_options_parse(struct hc_ck_options *options, int argc, char **argv);
