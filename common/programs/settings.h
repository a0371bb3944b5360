/// Settings: the flags, numbers, words and texts that a program takes from its command line, and
/// from files (server/daemon/settings_file.h).
///
/// A program lists them once, in rows of an X-list. From the list come the members of a struct with
/// their defaults, the options of argp, `--help` with defaults and ranges, the keys of files, the
/// sentences about errors, and the printed configuration. A row has a VALUE:
///
///     FLAG                          the option has no argument; a bool
///     N TICKS HZ BYTES_PER_S UNITS PERCENT S MS MB (min, max)
///                                   a whole number; uint16_t, uint32_t or uint64_t
///     PER_S_IN_MILLI PERCENT_IN_PPM MS_IN_US S_IN_US KBIT_IN_BIT (min, max)
///                                   a number with decimal places; the member has the smaller unit
///     WORDS("a|b")                  one of these words; an enum that counts them from 0
///     NAMES("a|b")                  one of these words, or NULL; a const char *
///     TEXT("FILE")                  any text, or NULL; a const char *, and FILE stands in --help
///     TEXTS("FILE")                 such texts, of an option that may be given again; a struct
///                                   hc_setting_texts
///     OR(VALUE, "by itself")        one of the above, whose default is none and has these words
///
/// A number outside of its range is none, and so is a NULL.
#pragma once

#include <argp.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
    HC_SETTINGS_MAX = 96,         ///< of a program
    HC_SETTING_TEXT_MAX = 640,    ///< bytes of a sentence about a setting, but for its value
    HC_SETTING_TEXTS_MAX = 16,    ///< texts of TEXTS
    HC_SETTING_LINE_MAX = 512,    ///< bytes of a line of a file, with its terminator
    HC_SETTING_FAULTS_MAX = 32,   ///< faults that a list keeps
    HC_SETTING_COMMAND_LINE = -1, ///< group of options that no configuration has
};

enum hc_setting_kind {
    HC_SETTING_KIND_FLAG,
    HC_SETTING_KIND_NUMBER,
    HC_SETTING_KIND_WORD,
    HC_SETTING_KIND_NAME,
    HC_SETTING_KIND_TEXT,
    HC_SETTING_KIND_TEXTS,
};

/// Whether a setting may change while the program runs.
enum hc_setting_change { HC_SETTING_FIXED, HC_SETTING_LIVE };

/// The texts of an option, in the order of the command line.
struct hc_setting_texts {
    unsigned count;
    const char *all[HC_SETTING_TEXTS_MAX]; ///< [count]
};

/// A row of the list.
struct hc_setting {
    const char *name;     ///< of the option, without the dashes
    size_t offset, size;  ///< of the member
    unsigned programs;    ///< a bit for each program that has the option
    int group;            ///< index of its heading, or HC_SETTING_COMMAND_LINE
    const char *sentence; ///< the effect
    enum hc_setting_kind kind;
    const char *argument; ///< in --help; all words, with '|' between; NULL of a flag
    const char *unit;     ///< of a number, with a blank before it
    unsigned places;      ///< decimal places of a number
    uint64_t min, max;    ///< of a number, in `unit`
    const char *none;     ///< the default in words; NULL: it is a value, or it goes without saying
    enum hc_setting_change change;
};

/// The row of `member_` in `struct_`. `change_`: HC_SETTING_LIVE or HC_SETTING_FIXED.
#define HC_SETTING(struct_, member_, name_, value_, programs_, group_, change_, sentence_)         \
    {.name = (name_),                                                                              \
     .offset = offsetof(struct_, member_),                                                         \
     .size = sizeof(((struct_ *)0)->member_),                                                      \
     .programs = (programs_),                                                                      \
     .group = (group_),                                                                            \
     .change = (change_),                                                                          \
     .sentence = (sentence_),                                                                      \
     HC_SETTING_##value_},

#define HC_SETTING_NUMBER(argument_, unit_, places_, min_, max_)                                   \
    .kind = HC_SETTING_KIND_NUMBER, .argument = (argument_), .unit = (unit_), .places = (places_), \
    .min = (min_), .max = (max_)
#define HC_SETTING_N(min, max) HC_SETTING_NUMBER("N", "", 0, min, max)
#define HC_SETTING_PER_S_IN_MILLI(min, max) HC_SETTING_NUMBER("N", " a second", 3, min, max)
#define HC_SETTING_TICKS(min, max) HC_SETTING_NUMBER("TICKS", " ticks", 0, min, max)
#define HC_SETTING_HZ(min, max) HC_SETTING_NUMBER("HZ", " Hz", 0, min, max)
#define HC_SETTING_BYTES_PER_S(min, max) HC_SETTING_NUMBER("BYTES", " bytes/s", 0, min, max)
#define HC_SETTING_KBIT_IN_BIT(min, max) HC_SETTING_NUMBER("KBIT", " kbit/s", 3, min, max)
#define HC_SETTING_UNITS(min, max) HC_SETTING_NUMBER("UNITS", " units", 0, min, max)
#define HC_SETTING_PERCENT(min, max) HC_SETTING_NUMBER("PCT", " %", 0, min, max)
#define HC_SETTING_PERCENT_IN_PPM(min, max) HC_SETTING_NUMBER("PCT", " %", 4, min, max)
#define HC_SETTING_MS(min, max) HC_SETTING_NUMBER("MS", " ms", 0, min, max)
#define HC_SETTING_MS_IN_US(min, max) HC_SETTING_NUMBER("MS", " ms", 3, min, max)
#define HC_SETTING_MB(min, max) HC_SETTING_NUMBER("MB", " MB", 0, min, max)
#define HC_SETTING_S(min, max) HC_SETTING_NUMBER("S", " s", 0, min, max)
#define HC_SETTING_S_IN_US(min, max) HC_SETTING_NUMBER("S", " s", 6, min, max)
#define HC_SETTING_OR(value_, none_) HC_SETTING_##value_, .none = (none_)
#define HC_SETTING_FLAG .kind = HC_SETTING_KIND_FLAG
#define HC_SETTING_WORDS(words) .kind = HC_SETTING_KIND_WORD, .argument = (words)
#define HC_SETTING_NAMES(words) .kind = HC_SETTING_KIND_NAME, .argument = (words)
#define HC_SETTING_TEXT(argument_) .kind = HC_SETTING_KIND_TEXT, .argument = (argument_)
#define HC_SETTING_TEXTS(argument_) .kind = HC_SETTING_KIND_TEXTS, .argument = (argument_)

/// The line of a file that sets a setting.
struct hc_setting_place {
    const char *file; ///< borrowed; NULL: the command line, or nothing
    unsigned line;    ///< from 1; 0: of no line
};

/// A fault of a setting, or of a file of settings. The texts can be shown: other bytes of a file
/// are '?'.
struct hc_setting_fault {
    struct hc_setting_place place;
    char name[64];   ///< the setting or the key; empty: the fault is of none
    char value[256]; ///< the value that is refused
    char why[384];   ///< such as "must be a whole number in [1, 60] s"
};

/// Faults in the order in which they were found; all zeros: none.
struct hc_setting_faults {
    unsigned count; ///< the first HC_SETTING_FAULTS_MAX are kept
    struct hc_setting_fault kept[HC_SETTING_FAULTS_MAX];
};

/// The settings of one program.
struct hc_settings {
    const struct hc_setting *rows; ///< [count]
    unsigned count;                ///< at most HC_SETTINGS_MAX
    unsigned program;              ///< the one bit of this program
    const char *const *groups;     ///< the headings, a NULL last; that of group 0 may be empty
    const void *defaults;          ///< a struct with the rows' members
    void *values;                  ///< the struct that is set, at first a copy of the defaults
    bool *given;                   ///< [count] whether the command line or a file sets it

    // Of a program that reads files.
    struct hc_setting_place *places;    ///< [count] the lines that set them
    char (*texts)[HC_SETTING_LINE_MAX]; ///< [count] the texts of files
    struct hc_setting_faults *faults;   ///< what is wrong
};

/// Sets the member of `setting` in `values` to an argument, which stays borrowed if it is a text;
/// NULL is the argument of a flag's option, and in a file a flag is true or false. False: it cannot
/// be taken.
bool hc_setting_take(const struct hc_setting *setting, const char *text, void *values);

/// Writes the values that hc_setting_take takes, such as "a whole number in [1, 60] s".
void hc_setting_allow(const struct hc_setting *setting, char *text, size_t size);

/// As hc_setting_take; `why` is a sentence that names the option, the argument and what is allowed.
bool hc_setting_parse(const struct hc_setting *setting, const char *text, void *values, char *why,
                      size_t why_size);

/// Whether a setting has the same value in `values` and in `others`. Texts are compared.
bool hc_setting_equal(const struct hc_setting *setting, const void *values, const void *others);

/// Copies a setting's member. A text is still borrowed.
void hc_setting_copy(const struct hc_setting *setting, const void *from, void *to);

/// Writes the member's value in `values` to `text` as the option takes it. False: it has none.
bool hc_setting_format(const struct hc_setting *setting, const void *values, char *text,
                       size_t size);

/// Writes the text of --help: the sentence, the range, and the value in `defaults`.
void hc_setting_describe(const struct hc_setting *setting, const void *defaults, char *text,
                         size_t size);

/// Parses the command line: `parser` is called as argp does, with the settings as input, and gives
/// hc_settings_take the keys that it does not take itself. `about` is the text around the options.
/// On --help and --version it prints and exits with 0; on an error it prints a sentence and exits
/// with 2.
void hc_settings_run(struct hc_settings *settings, argp_parser_t parser, const char *about,
                     int argc, char **argv);

/// Takes a setting's option. ARGP_ERR_UNKNOWN: `key` is none.
error_t hc_settings_take(struct hc_settings *settings, int key, const char *text);

/// Takes those settings of `values`, which the command line set, that are `given`, in place of what
/// files said.
void hc_settings_take_all(struct hc_settings *settings, const void *values, const bool *given);

/// Adds a fault. `name` and `value` may be NULL.
void hc_setting_faults_add(struct hc_setting_faults *faults, const struct hc_setting_place *place,
                           const char *name, const char *value, const char *why);

/// Adds the fault that setting `index`, which was given, must be as `allowed` says, a format of
/// printf.
__attribute__((format(printf, 3, 4))) void
hc_settings_fault(const struct hc_settings *settings, unsigned index, const char *allowed, ...);

/// Prints a line on standard error for each fault, with its file and line, or its option.
void hc_setting_faults_print(const struct hc_setting_faults *faults);

/// Prints that setting `index`, which was given, must be as `allowed` says, a format of printf, and
/// exits with 2.
__attribute__((format(printf, 3, 4), noreturn)) void
hc_settings_refuse(const struct hc_settings *settings, unsigned index, const char *allowed, ...);

/// Prints all settings as a file, each behind a comment with its effect, range and default, and
/// whether it may change: `name = value` if it is given, else `;name = value` with the default,
/// or `;name =` where there is none. No line but that of a text has more than 100 bytes.
void hc_settings_print(const struct hc_settings *settings, FILE *out);

/// The flags, numbers and words of `values` that have a value, as an object whose keys name the
/// units, such as `tick_rate_hz`. Numbers whose range exceeds 63 bits are strings. The caller
/// releases it.
json_t *hc_settings_json(const struct hc_setting *rows, unsigned count, const void *values);
