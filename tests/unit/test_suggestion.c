#include "server/suggestion.h"

/* cmocka.h wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const char *best_for(const char *typed)
{
    struct suggestion suggestion = {.typed = typed};
    suggestion_consider(&suggestion, "verify");
    suggestion_consider(&suggestion, "solver");
    suggestion_consider(&suggestion, "solve");
    suggestion_consider(&suggestion, "a word that is longer than any flag may be");
    return suggestion.best;
}

static void the_nearest_word_is_suggested(void **state)
{
    (void)state;
    assert_string_equal(best_for("slove"), "solve");
    assert_string_equal(best_for("solvr"), "solver");
    assert_string_equal(best_for("verfy"), "verify");
    assert_string_equal(best_for("verifyy"), "verify");
}

static void another_word_is_not_suggested(void **state)
{
    (void)state;
    assert_null(best_for("generate"));
    assert_null(best_for(""));
    assert_null(best_for("a word that is longer than any flag may be"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_nearest_word_is_suggested),
        cmocka_unit_test(another_word_is_not_suggested),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
