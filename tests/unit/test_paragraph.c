#include "server/paragraph.h"

/* cmocka.h wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static void assert_printed(const char *prefix, const char *words, const char *expected)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    paragraph_print(stream, prefix, words);
    fclose(stream);
    assert_string_equal(text, expected);
    free(text);
}

#define TEN "nine-long "
#define SEVENTY TEN TEN TEN TEN TEN TEN TEN

static void lines_end_at_78_columns_behind_their_prefix(void **state)
{
    (void)state;
    assert_printed("", SEVENTY "and eight", SEVENTY "and\neight\n");
    assert_printed("", SEVENTY "12345678", SEVENTY "12345678\n");
    assert_printed("; ", SEVENTY "12345678",
                   "; nine-long" /**/
                   " nine-long nine-long nine-long nine-long nine-long "
                   "nine-long\n; 12345678\n");
}

static void a_word_that_fits_nowhere_has_its_own_line(void **state)
{
    (void)state;
    static const char word[] = "123456789012345678901234567890123456789012345678901234567890"
                               "12345678901234567890";
    char expected[200];
    char words[200];
    snprintf(words, sizeof words, "%s end", word);
    snprintf(expected, sizeof expected, "%s\nend\n", word);
    assert_printed("", words, expected);
}

static void no_words_are_no_line(void **state)
{
    (void)state;
    assert_printed("; ", "", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_end_at_78_columns_behind_their_prefix),
        cmocka_unit_test(a_word_that_fits_nowhere_has_its_own_line),
        cmocka_unit_test(no_words_are_no_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
