/// The words of a command line, split and quoted as by a shell.
///
/// Blanks separate words. Within '...' every character stands for itself, within "..." all but \"
/// and \\, and outside of both a backslash takes the next character as it is. Nothing is expanded:
/// $, * and ` are characters as others.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { HC_CL_WORDS_MAX = 96 };

/// Words that were split. All zeros: none.
struct hc_cl_words {
    unsigned count;
    const char *all[HC_CL_WORDS_MAX]; ///< [count] of `text`
    char *text;                       ///< owned
};

/// Splits a text. False: it cannot be split, and `why` says what is wrong with it, such as "has no
/// end of the quote at character 3"; there is nothing to free then.
bool hc_cl_words_split(const char *text, struct hc_cl_words *words, char *why, size_t why_size);

/// Frees the words.
void hc_cl_words_free(struct hc_cl_words *words);

/// Writes a word so that splitting gives it back: in quotes, unless it needs none.
void hc_cl_words_quote(FILE *out, const char *word);
