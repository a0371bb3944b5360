/// Tests client/programs/words: splitting as a shell does, and quoting as its inverse.
#define _GNU_SOURCE // open_memstream

#include "client/programs/words.h"
#include "hindcast/rng.h"
#include "tests/run_suite.h"

#include <stdlib.h>
#include <string.h>

/// The text is split into these words, the last one followed by NULL.
static void is_split(const char *text, const char *const *wanted) {
    struct hc_cl_words words;
    char why[100] = "";
    ck_assert_msg(hc_cl_words_split(text, &words, why, sizeof why), "%s: %s", text, why);
    for (unsigned i = 0; i < words.count; i++) {
        ck_assert_msg(wanted[i] != NULL, "%s: %s", text, words.all[i]);
        ck_assert_str_eq(words.all[i], wanted[i]);
    }
    ck_assert_ptr_null(wanted[words.count]);
    hc_cl_words_free(&words);
}

START_TEST(words_are_split_as_by_a_shell) {
    is_split("", (const char *const[]){NULL});
    is_split("  a\tb \n", (const char *const[]){"a", "b", NULL});
    is_split("--game 'my game.so' x", (const char *const[]){"--game", "my game.so", "x", NULL});
    is_split("a'b c'\"d e\"f", (const char *const[]){"ab cd ef", NULL});
    is_split("'' \"\"", (const char *const[]){"", "", NULL});
    is_split("a\\ b \\'c", (const char *const[]){"a b", "'c", NULL});
    is_split("\"a\\\"b\\\\c\\d\"", (const char *const[]){"a\"b\\c\\d", NULL});
    is_split("'a\\b'", (const char *const[]){"a\\b", NULL});
    is_split("$HOME *.so `x`", (const char *const[]){"$HOME", "*.so", "`x`", NULL});
}
END_TEST

static void is_refused(const char *text, const char *wanted) {
    struct hc_cl_words words;
    char why[100] = "";
    ck_assert_msg(!hc_cl_words_split(text, &words, why, sizeof why), "%s", text);
    ck_assert_str_eq(why, wanted);
    ck_assert_ptr_null(words.text);
}

START_TEST(a_text_that_does_not_end_is_refused_with_its_place) {
    char many[2 * HC_CL_WORDS_MAX + 3], why_of_many[60];
    is_refused("ab 'c d", "has no end of the quote at character 4");
    is_refused("\"", "has no end of the quote at character 1");
    is_refused("\"a\\\"", "has no end of the quote at character 1");
    is_refused("a \\", "has nothing after the backslash at character 3");
    for (unsigned i = 0; i <= HC_CL_WORDS_MAX; i++)
        memcpy(&many[2 * i], "a ", 3);
    snprintf(why_of_many, sizeof why_of_many, "has too many words at character %d",
             2 * HC_CL_WORDS_MAX + 1);
    is_refused(many, why_of_many);
}
END_TEST

START_TEST(quoted_words_are_split_into_the_same_ones) {
    static const char letters[] = "ab-=/. \t\n'\"\\$*?~#&|;<>()\xc3\xa4";
    struct hc_rng rng = hc_rng_init(1, 0);
    char drawn[8][16];
    const char *wanted[9];
    for (unsigned round = 0; round < 500; round++) {
        char *text = NULL;
        size_t size = 0;
        FILE *out = open_memstream(&text, &size);
        unsigned count = hc_rng_below(&rng, 8) + 1;
        for (unsigned i = 0; i < count; i++) {
            unsigned length = hc_rng_below(&rng, 15);
            for (unsigned k = 0; k < length; k++)
                drawn[i][k] = letters[hc_rng_below(&rng, sizeof letters - 1)];
            drawn[i][length] = '\0';
            wanted[i] = drawn[i];
            fputs(i > 0 ? " " : "", out);
            hc_cl_words_quote(out, drawn[i]);
        }
        wanted[count] = NULL;
        fclose(out);
        is_split(text, wanted);
        free(text);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("words");
    TCase *tests = tcase_create("words");
    tcase_add_test(tests, words_are_split_as_by_a_shell);
    tcase_add_test(tests, a_text_that_does_not_end_is_refused_with_its_place);
    tcase_add_test(tests, quoted_words_are_split_into_the_same_ones);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
