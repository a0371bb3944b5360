/// Owns the quoting of words.
#define _GNU_SOURCE // strdup

#include "client/programs/words.h"

#include <stdlib.h>
#include <string.h>

static const char blanks[] = " \t\r\n";

/// A text that is being split: what is read of it, and where the next character of a word goes.
struct cut {
    const char *begin, *from;
    char *to;
    const char *wrong;    ///< what is wrong; NULL: nothing
    const char *wrong_at; ///< where
};

/// Takes what stands in quotes, without them.
static void take_quoted(struct cut *cut, char quote) {
    const char *opened = cut->from++;
    while (*cut->from != '\0' && *cut->from != quote) {
        bool escapes =
            quote == '"' && *cut->from == '\\' && (cut->from[1] == '"' || cut->from[1] == '\\');
        cut->from += escapes;
        *cut->to++ = *cut->from++;
    }
    if (*cut->from == quote) {
        cut->from++;
        return;
    }
    cut->wrong = "has no end of the quote";
    cut->wrong_at = opened;
}

/// Takes one word, which begins at `from`.
static void take_word(struct cut *cut) {
    while (cut->wrong == NULL && *cut->from != '\0' && strchr(blanks, *cut->from) == NULL) {
        if (*cut->from == '\'' || *cut->from == '"') {
            take_quoted(cut, *cut->from);
            continue;
        }
        if (*cut->from == '\\' && cut->from[1] == '\0') {
            cut->wrong = "has nothing after the backslash";
            cut->wrong_at = cut->from;
            return;
        }
        cut->from += *cut->from == '\\';
        *cut->to++ = *cut->from++;
    }
}

bool hc_cl_words_split(const char *text, struct hc_cl_words *words, char *why, size_t why_size) {
    *words = (struct hc_cl_words){.text = malloc(2 * strlen(text) + 1)};
    struct cut cut = {.begin = text, .from = text, .to = words->text};
    if (words->text == NULL) {
        snprintf(why, why_size, "has no memory");
        return false;
    }
    while (cut.wrong == NULL && *(cut.from += strspn(cut.from, blanks)) != '\0') {
        if (words->count == HC_CL_WORDS_MAX) {
            cut.wrong = "has too many words";
            cut.wrong_at = cut.from;
            break;
        }
        words->all[words->count++] = cut.to;
        take_word(&cut);
        *cut.to++ = '\0'; // a blank, or the end, was read for it
    }
    if (cut.wrong == NULL)
        return true;
    snprintf(why, why_size, "%s at character %zu", cut.wrong,
             (size_t)(cut.wrong_at - cut.begin) + 1);
    hc_cl_words_free(words);
    return false;
}

void hc_cl_words_free(struct hc_cl_words *words) {
    free(words->text);
    *words = (struct hc_cl_words){.count = 0};
}

void hc_cl_words_quote(FILE *out, const char *word) {
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                "_@%+=:,./-";
    if (*word != '\0' && word[strspn(word, plain)] == '\0') {
        fputs(word, out);
        return;
    }
    fputc('\'', out);
    for (; *word != '\0'; word++)
        if (*word == '\'')
            fputs("'\\''", out);
        else
            fputc(*word, out);
    fputc('\'', out);
}
