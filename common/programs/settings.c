/// Owns the parsing, the formats and the options of settings.
#define _GNU_SOURCE // argp, program_invocation_short_name

#include "common/programs/settings.h"

#include "common/decimal.h"
#include "hindcast/check.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEY_FIRST = 256, ///< of the options: no character
    GROUPS_MAX = 16,
    VALUE_MAX = 4200, ///< bytes of a value: a path, or a number
    COMMENT_MAX = 96, ///< bytes of a line of a comment
};

// ---- One setting --------------------------------------------------------------------------------

static uint64_t scale_of(const struct hc_setting *setting) {
    uint64_t scale = 1;
    for (unsigned i = 0; i < setting->places; i++)
        scale *= 10;
    return scale;
}

static uint64_t load(const struct hc_setting *setting, const void *values) {
    const void *at = (const char *)values + setting->offset;
    switch (setting->size) {
    case sizeof(bool):
        return *(const bool *)at;
    case sizeof(uint16_t):
        return *(const uint16_t *)at;
    case sizeof(uint32_t):
        return *(const uint32_t *)at;
    default:
        return *(const uint64_t *)at;
    }
}

static void store(const struct hc_setting *setting, uint64_t value, void *values) {
    void *at = (char *)values + setting->offset;
    switch (setting->size) {
    case sizeof(bool):
        *(bool *)at = value != 0;
        break;
    case sizeof(uint16_t):
        *(uint16_t *)at = (uint16_t)value;
        break;
    case sizeof(uint32_t):
        *(uint32_t *)at = (uint32_t)value;
        break;
    default:
        *(uint64_t *)at = value;
    }
}

/// Writes word `index` of the argument to `word`. False: there are fewer.
static bool word_at(const struct hc_setting *setting, uint64_t index, char *word, size_t size) {
    const char *begin = setting->argument;
    for (; index > 0 && begin != NULL; index--)
        begin = (begin = strchr(begin, '|')) != NULL ? begin + 1 : NULL;
    if (begin != NULL)
        snprintf(word, size, "%.*s", (int)strcspn(begin, "|"), begin);
    return begin != NULL;
}

void hc_setting_allow(const struct hc_setting *setting, char *text, size_t size) {
    char word[32];
    size_t at = 0;
    snprintf(text, size, "%s", setting->kind == HC_SETTING_KIND_FLAG ? "true or false" : "a text");
    if (setting->kind == HC_SETTING_KIND_FLAG || setting->kind >= HC_SETTING_KIND_TEXT)
        return;
    if (setting->kind == HC_SETTING_KIND_NUMBER) {
        snprintf(text, size, "a %snumber in [%" PRIu64 ", %" PRIu64 "]%s",
                 setting->places == 0 ? "whole " : "", setting->min, setting->max, setting->unit);
        return;
    }
    for (unsigned i = 0; word_at(setting, i, word, sizeof(word)); i++) {
        char more[32];
        bool last = !word_at(setting, i + 1, more, sizeof(more));
        const char *comma = i == 0 ? "" : last ? " or " : ", ";
        at += (size_t)snprintf(text + at, size - at, "%s%s", comma, word);
    }
}

static bool parse_number(const struct hc_setting *setting, const char *text, void *values) {
    uint64_t value = 0, scale = scale_of(setting);
    if (hc_decimal_parse(text, setting->places, &value) != HC_OK || value < setting->min * scale ||
        value > setting->max * scale)
        return false;
    store(setting, value, values);
    return true;
}

static bool parse_word(const struct hc_setting *setting, const char *text, void *values) {
    char word[32];
    uint64_t index = 0;
    while (word_at(setting, index, word, sizeof(word)) && strcmp(word, text) != 0)
        index++;
    if (!word_at(setting, index, word, sizeof(word)))
        return false;
    if (setting->kind == HC_SETTING_KIND_WORD)
        store(setting, index, values);
    return true;
}

static bool parse_flag(const struct hc_setting *setting, const char *text, void *values) {
    bool is_true = text == NULL || strcmp(text, "true") == 0;
    if (!is_true && strcmp(text, "false") != 0)
        return false;
    store(setting, is_true, values);
    return true;
}

static struct hc_setting_texts *texts_of(const struct hc_setting *setting, void *values) {
    return (void *)((char *)values + setting->offset);
}

static bool add_text(const struct hc_setting *setting, const char *text, void *values) {
    struct hc_setting_texts *texts = texts_of(setting, values);
    if (texts->count == HC_SETTING_TEXTS_MAX)
        return false;
    texts->all[texts->count++] = text;
    return true;
}

bool hc_setting_take(const struct hc_setting *setting, const char *text, void *values) {
    bool good = true;
    switch (setting->kind) {
    case HC_SETTING_KIND_FLAG:
        return parse_flag(setting, text, values);
    case HC_SETTING_KIND_NUMBER:
        return parse_number(setting, text, values);
    case HC_SETTING_KIND_TEXTS:
        return add_text(setting, text, values);
    case HC_SETTING_KIND_WORD:
        return parse_word(setting, text, values);
    case HC_SETTING_KIND_NAME:
        good = parse_word(setting, text, values);
        break;
    default:
        break;
    }
    if (good)
        memcpy((char *)values + setting->offset, &text, sizeof(text));
    return good;
}

bool hc_setting_parse(const struct hc_setting *setting, const char *text, void *values, char *why,
                      size_t why_size) {
    char allowed[HC_SETTING_TEXT_MAX];
    if (hc_setting_take(setting, text, values))
        return true;
    hc_setting_allow(setting, allowed, sizeof(allowed));
    if (setting->kind == HC_SETTING_KIND_TEXTS)
        snprintf(allowed, sizeof(allowed), "one of at most %d", HC_SETTING_TEXTS_MAX);
    snprintf(why, why_size, "--%s '%s': must be %s", setting->name, text, allowed);
    return false;
}

bool hc_setting_equal(const struct hc_setting *setting, const void *values, const void *others) {
    char value[VALUE_MAX], other[VALUE_MAX];
    bool has_value = hc_setting_format(setting, values, value, sizeof(value));
    bool has_other = hc_setting_format(setting, others, other, sizeof(other));
    return has_value == has_other && strcmp(value, other) == 0;
}

void hc_setting_copy(const struct hc_setting *setting, const void *from, void *to) {
    memcpy((char *)to + setting->offset, (const char *)from + setting->offset, setting->size);
}

static bool format_number(const struct hc_setting *setting, uint64_t value, char *text,
                          size_t size) {
    uint64_t scale = scale_of(setting), part = value % scale;
    int at = snprintf(text, size, "%" PRIu64, value / scale);
    if (part > 0)
        at += snprintf(text + at, size - (size_t)at, ".%0*" PRIu64, (int)setting->places, part);
    while (part > 0 && text[at - 1] == '0')
        text[--at] = '\0';
    return value >= setting->min * scale && value <= setting->max * scale;
}

bool hc_setting_format(const struct hc_setting *setting, const void *values, char *text,
                       size_t size) {
    const char *string = NULL;
    const struct hc_setting_texts *texts;
    *text = '\0';
    switch (setting->kind) {
    case HC_SETTING_KIND_TEXTS:
        texts = (const void *)((const char *)values + setting->offset);
        if (texts->count > 0)
            string = texts->all[texts->count - 1];
        break;
    case HC_SETTING_KIND_FLAG:
        snprintf(text, size, "%s", load(setting, values) != 0 ? "true" : "false");
        return true;
    case HC_SETTING_KIND_NUMBER:
        return format_number(setting, load(setting, values), text, size);
    case HC_SETTING_KIND_WORD:
        return word_at(setting, load(setting, values), text, size);
    default:
        memcpy(&string, (const char *)values + setting->offset, sizeof(string));
    }
    if (string != NULL)
        snprintf(text, size, "%s", string);
    return string != NULL;
}

void hc_setting_describe(const struct hc_setting *setting, const void *defaults, char *text,
                         size_t size) {
    char range[80] = "", value[VALUE_MAX] = "";
    const char *usual = setting->none;
    if (usual == NULL && setting->kind != HC_SETTING_KIND_FLAG &&
        hc_setting_format(setting, defaults, value, sizeof(value)))
        usual = value;
    if (setting->kind == HC_SETTING_KIND_NUMBER)
        snprintf(range, sizeof(range), "%" PRIu64 " to %" PRIu64 "%s", setting->min, setting->max,
                 setting->unit);
    if (*range == '\0' && usual == NULL)
        snprintf(text, size, "%s", setting->sentence);
    else
        snprintf(text, size, "%s (%s%s%s%s)", setting->sentence, range,
                 *range != '\0' && usual != NULL ? ", " : "", usual != NULL ? "default: " : "",
                 usual != NULL ? usual : "");
}

// ---- The command line ---------------------------------------------------------------------------

__attribute__((format(printf, 1, 2), noreturn)) static void fail(const char *format, ...) {
    va_list arguments;
    fprintf(stderr, "%s: ", program_invocation_short_name);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(2);
}

/// The setting of an option; NULL: `key` is none of the program.
static const struct hc_setting *row_of(const struct hc_settings *settings, int key) {
    if (key < KEY_FIRST || key >= KEY_FIRST + (int)settings->count)
        return NULL;
    return &settings->rows[key - KEY_FIRST];
}

/// Writes a text of --help; argp frees it.
static char *describe(int key, const char *text, void *input) {
    const struct hc_settings *settings = input;
    const struct hc_setting *setting = settings != NULL ? row_of(settings, key) : NULL;
    char *described = setting != NULL ? malloc(HC_SETTING_TEXT_MAX) : NULL;
    if (described == NULL)
        return (char *)text; // argp's own type
    hc_setting_describe(setting, settings->defaults, described, HC_SETTING_TEXT_MAX);
    return described;
}

/// Whether the program has a setting of the group.
static bool has_group(const struct hc_settings *settings, int group) {
    for (unsigned i = 0; i < settings->count; i++)
        if (settings->rows[i].group == group &&
            (settings->rows[i].programs & settings->program) != 0)
            return true;
    return false;
}

void hc_settings_run(struct hc_settings *settings, argp_parser_t parser, const char *about,
                     int argc, char **argv) {
    struct argp_option options[HC_SETTINGS_MAX + GROUPS_MAX + 1] = {{.name = NULL}};
    struct argp argp = {
        .options = options, .parser = parser, .doc = about, .help_filter = describe};
    unsigned used = 0;
    HC_ASSERT(settings->count <= HC_SETTINGS_MAX);
    for (int g = 0; settings->groups[g] != NULL; g++) // 0 would be the group of the row before
        if (*settings->groups[g] != '\0' && has_group(settings, g))
            options[used++] = (struct argp_option){.doc = settings->groups[g], .group = g + 1};
    for (unsigned i = 0; i < settings->count; i++) {
        const struct hc_setting *row = &settings->rows[i];
        if ((row->programs & settings->program) != 0)
            options[used++] =
                (struct argp_option){.name = row->name,
                                     .key = KEY_FIRST + (int)i,
                                     .arg = row->argument,
                                     .doc = row->sentence,
                                     .group = row->group < 0 ? row->group : row->group + 1};
    }
    argp_err_exit_status = 2;
    argp_parse(&argp, argc, argv, 0, NULL, settings);
}

error_t hc_settings_take(struct hc_settings *settings, int key, const char *text) {
    const struct hc_setting *setting = row_of(settings, key);
    char why[VALUE_MAX];
    if (setting == NULL)
        return ARGP_ERR_UNKNOWN;
    if (!hc_setting_parse(setting, text, settings->values, why, sizeof(why)))
        fail("%s", why);
    settings->given[key - KEY_FIRST] = true;
    return 0;
}

void hc_settings_refuse(const struct hc_settings *settings, unsigned index, const char *allowed,
                        ...) {
    char text[HC_SETTING_TEXT_MAX], value[VALUE_MAX];
    va_list arguments;
    HC_ASSERT(settings->given[index]);
    va_start(arguments, allowed);
    vsnprintf(text, sizeof(text), allowed, arguments);
    va_end(arguments);
    hc_setting_format(&settings->rows[index], settings->values, value, sizeof(value));
    fail("--%s '%s': must be %s", settings->rows[index].name, value, text);
}

void hc_settings_take_all(struct hc_settings *settings, const void *values, const bool *given) {
    for (unsigned i = 0; i < settings->count; i++) {
        if (!given[i])
            continue;
        hc_setting_copy(&settings->rows[i], values, settings->values);
        settings->given[i] = true;
        settings->places[i] = (struct hc_setting_place){.file = NULL};
    }
}

// ---- Faults -------------------------------------------------------------------------------------

/// Copies a text (NULL: none) as far as it fits, with '?' for what cannot be shown.
static void copy_shown(char *to, size_t size, const char *text) {
    size_t at = 0;
    for (; text != NULL && text[at] != '\0' && at + 1 < size; at++)
        to[at] = isprint((unsigned char)text[at]) ? text[at] : '?';
    to[at] = '\0';
}

void hc_setting_faults_add(struct hc_setting_faults *faults, const struct hc_setting_place *place,
                           const char *name, const char *value, const char *why) {
    if (faults->count < HC_SETTING_FAULTS_MAX) {
        struct hc_setting_fault *fault = &faults->kept[faults->count];
        fault->place = *place;
        copy_shown(fault->name, sizeof(fault->name), name);
        copy_shown(fault->value, sizeof(fault->value), value);
        copy_shown(fault->why, sizeof(fault->why), why);
    }
    faults->count++;
}

void hc_settings_fault(const struct hc_settings *settings, unsigned index, const char *allowed,
                       ...) {
    char why[HC_SETTING_TEXT_MAX] = "must be ", value[VALUE_MAX];
    size_t at = strlen(why);
    va_list arguments;
    HC_ASSERT(settings->given[index]);
    va_start(arguments, allowed);
    vsnprintf(why + at, sizeof(why) - at, allowed, arguments);
    va_end(arguments);
    hc_setting_format(&settings->rows[index], settings->values, value, sizeof(value));
    hc_setting_faults_add(settings->faults, &settings->places[index], settings->rows[index].name,
                          value, why);
}

void hc_setting_faults_print(const struct hc_setting_faults *faults) {
    const char *program = program_invocation_short_name;
    for (unsigned i = 0; i < faults->count && i < HC_SETTING_FAULTS_MAX; i++) {
        const struct hc_setting_fault *fault = &faults->kept[i];
        bool in_file = fault->place.file != NULL;
        fprintf(stderr, "%s: %s%s", program, in_file ? fault->place.file : "", in_file ? ":" : "");
        if (fault->place.line > 0)
            fprintf(stderr, "%u:", fault->place.line);
        if (fault->name[0] != '\0')
            fprintf(stderr, "%s%s '%s':", in_file ? " " : "--", fault->name, fault->value);
        fprintf(stderr, "%s%s\n", in_file || fault->name[0] != '\0' ? " " : "", fault->why);
    }
    if (faults->count > HC_SETTING_FAULTS_MAX)
        fprintf(stderr, "%s: and %u more\n", program, faults->count - HC_SETTING_FAULTS_MAX);
}

// ---- The whole list -----------------------------------------------------------------------------

/// Prints a comment, broken into lines at blanks.
static void print_comment(FILE *out, const char *text) {
    while (*text != '\0') {
        size_t size = strlen(text), cut = COMMENT_MAX;
        if (size > COMMENT_MAX) {
            while (cut > 0 && text[cut] != ' ')
                cut--;
            size = cut > 0 ? cut : COMMENT_MAX;
        }
        fprintf(out, "# %.*s\n", (int)size, text);
        text += size;
        text += *text == ' ';
    }
}

/// Prints the effect of a setting, the values that it takes, its default, and whether it may
/// change.
static void print_description(const struct hc_settings *settings, const struct hc_setting *row,
                              FILE *out) {
    char text[2 * HC_SETTING_TEXT_MAX], allowed[HC_SETTING_TEXT_MAX];
    hc_setting_describe(row, settings->defaults, text, sizeof(text));
    print_comment(out, text);
    hc_setting_allow(row, allowed, sizeof(allowed));
    if (row->kind != HC_SETTING_KIND_NUMBER && row->kind != HC_SETTING_KIND_TEXT)
        fprintf(out, "# It is %s.\n", allowed);
    if (row->change == HC_SETTING_LIVE)
        fprintf(out, "# It may change while the program runs.\n");
}

void hc_settings_print(const struct hc_settings *settings, FILE *out) {
    char value[VALUE_MAX];
    for (int g = 0; settings->groups[g] != NULL; g++) {
        fprintf(out, "\n# ---- %s\n", settings->groups[g]);
        for (unsigned i = 0; i < settings->count; i++) {
            const struct hc_setting *row = &settings->rows[i];
            if ((row->programs & settings->program) == 0 || row->group != g)
                continue;
            fputc('\n', out);
            print_description(settings, row, out);
            bool has_value = hc_setting_format(row, settings->values, value, sizeof(value));
            fprintf(out, "%s%s =%s%s\n", settings->given[i] ? "" : ";", row->name,
                    has_value ? " " : "", value);
        }
    }
}

/// Writes the key of a setting: its name and its unit.
static void write_key(const struct hc_setting *row, char *key, size_t size) {
    snprintf(key, size, "%s%s", row->name, row->kind == HC_SETTING_KIND_NUMBER ? row->unit : "");
    for (char *at = key; *at != '\0'; at++)
        *at = isalnum((unsigned char)*at) ? (char)tolower((unsigned char)*at) : '_';
}

json_t *hc_settings_json(const struct hc_setting *rows, unsigned count, const void *values) {
    json_t *object = json_object();
    char key[64], value[VALUE_MAX];
    for (const struct hc_setting *row = rows; row < rows + count; row++) {
        if (row->group < 0 || row->kind >= HC_SETTING_KIND_NAME ||
            !hc_setting_format(row, values, value, sizeof(value)))
            continue;
        uint64_t number = load(row, values);
        write_key(row, key, sizeof(key));
        if (row->kind == HC_SETTING_KIND_FLAG)
            json_object_set_new(object, key, json_boolean(number != 0));
        else if (row->kind == HC_SETTING_KIND_WORD || row->max > INT64_MAX)
            json_object_set_new(object, key, json_string(value));
        else if (row->places == 0)
            json_object_set_new(object, key, json_integer((json_int_t)number));
        else
            json_object_set_new(object, key, json_real((double)number / (double)scale_of(row)));
    }
    return object;
}
