/// Owns what a report says of its origin, and what of a command line is secret.
#define _GNU_SOURCE // clock_gettime, open_memstream, sched_getaffinity

#include "client/bots/origin.h"

#include "client/programs/words.h"

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

enum { SECRET_MIN = 64 }; ///< characters of the shortest secret, a key in hexadecimal digits

static const char hidden[] = "HIDDEN";

json_t *hc_cl_origin_date(void) {
    char text[32] = "";
    struct timespec now;
    struct tm utc;
    clock_gettime(CLOCK_REALTIME, &now);
    if (gmtime_r(&now.tv_sec, &utc) != NULL)
        strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc);
    return json_string(text);
}

/// The name of the processor, as Linux has it; null: unknown.
static json_t *processor(void) {
    static const char key[] = "model name";
    char line[256];
    json_t *name = NULL;
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file != NULL && name == NULL && fgets(line, sizeof(line), file) != NULL) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, key, sizeof(key) - 1) != 0 || colon == NULL)
            continue;
        line[strcspn(line, "\n")] = '\0';
        name = json_string(colon + 1 + strspn(colon + 1, " "));
    }
    if (file != NULL)
        fclose(file);
    return name != NULL ? name : json_null();
}

static json_t *host(void) {
    struct utsname system;
    cpu_set_t set;
    char kernel[2 * sizeof(system.release)] = "";
    bool known = uname(&system) == 0;
    int cores = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
    if (known)
        snprintf(kernel, sizeof(kernel), "%s %s", system.sysname, system.release);
    return json_pack("{s:s, s:o, s:i, s:s}", "machine", known ? system.machine : "", "processor",
                     processor(), "cores", cores, "kernel", kernel);
}

/// Writes a word with HIDDEN in place of each part that is as long as a key.
static void put_scrubbed(FILE *out, const char *word) {
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                  "_-";
    while (*word != '\0') {
        size_t run = strspn(word, letters);
        if (run >= SECRET_MIN)
            fputs(hidden, out);
        else
            fwrite(word, 1, run, out);
        word += run;
        if (*word != '\0')
            fputc(*word++, out);
    }
}

/// Whether the option `name`, of `size` characters, is about secrets. It may be cut short.
static bool is_secret(const char *name, size_t size) {
    static const char *const words[] = {"token", "key", "secret", "password", "credential"};
    char text[64];
    if (size == 0 || size >= sizeof(text))
        return size > 0;
    snprintf(text, sizeof(text), "%.*s", (int)size, name);
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (strstr(text, words[i]) != NULL || strncmp(words[i], text, size) == 0)
            return true;
    return false;
}

/// Whether the option, which may be cut short, is --server-args.
static bool has_words(const char *name, size_t size) {
    return size >= 3 && strncmp("server-args", name, size) == 0;
}

static char *join(unsigned count, const char *const *words, bool inner);

/// Writes a value: hidden, or without what is secret in it.
static void put_value(FILE *out, const char *value, bool secret, bool inner) {
    struct hc_cl_words words;
    char why[80];
    if (secret) {
        fputs(hidden, out);
    } else if (inner && hc_cl_words_split(value, &words, why, sizeof(why))) {
        char *joined = join(words.count, words.all, false);
        fputs(joined != NULL ? joined : hidden, out);
        free(joined);
        hc_cl_words_free(&words);
    } else {
        put_scrubbed(out, value);
    }
}

char *hc_cl_origin_words(const char *words) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL)
        return NULL;
    put_value(out, words, false, true);
    fclose(out);
    return text;
}

/// Writes word `i`, and whether the value of a secret option, or of --server-args, comes next.
static void put_word(FILE *out, const char *word, bool *secret, bool *inner, bool outer) {
    // A value may begin with dashes, too.
    bool is_option = !*secret && !*inner && strncmp(word, "--", 2) == 0;
    size_t size = is_option ? strcspn(word + 2, "=") : 0;
    const char *value = is_option && word[2 + size] == '=' ? word + 2 + size + 1 : NULL;
    bool now_secret = is_option && is_secret(word + 2, size);
    char name[256];
    bool now_inner = outer && is_option && has_words(word + 2, size);
    if (!is_option) {
        put_value(out, word, *secret, *inner);
        *secret = *inner = false;
        return;
    }
    snprintf(name, sizeof(name), "%.*s", (int)size, word + 2);
    fputs("--", out);
    put_scrubbed(out, name);
    if (value != NULL) {
        fputc('=', out);
        put_value(out, value, now_secret, now_inner);
    }
    *secret = now_secret && value == NULL;
    *inner = now_inner && value == NULL;
}

/// The words as one line, which the caller frees; NULL: no memory. `outer`: --server-args has words
/// of its own.
static char *join(unsigned count, const char *const *words, bool outer) {
    char *line = NULL, *word = NULL;
    size_t line_size = 0, word_size = 0;
    bool secret = false, inner = false;
    FILE *out = open_memstream(&line, &line_size);
    for (unsigned i = 0; out != NULL && i < count; i++) {
        FILE *one = open_memstream(&word, &word_size);
        if (one == NULL)
            break;
        put_word(one, words[i], &secret, &inner, outer);
        fclose(one);
        if (i > 0)
            fputc(' ', out);
        hc_cl_words_quote(out, word);
        free(word);
    }
    if (out != NULL)
        fclose(out);
    return line;
}

json_t *hc_cl_origin(int argc, char **argv) {
    char *line = join((unsigned)argc, (const char *const *)argv, true);
    json_t *text = json_string(line != NULL ? line : "");
    free(line);
    if (text == NULL) // a word is no UTF-8
        text = json_string(hidden);
    return json_pack("{s:o, s:o, s:o}", "date", hc_cl_origin_date(), "host", host(), "command_line",
                     text);
}
