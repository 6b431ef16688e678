#include "server/http/request/request_id.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void short_words_are_admitted(void **state)
{
    char text[REQUEST_ID_SIZE + 1];

    (void)state;
    assert_true(request_id_admit("mine.1-2_3"));
    assert_false(request_id_admit(""));
    assert_false(request_id_admit("not mine"));
    assert_false(request_id_admit("a\"b"));
    memset(text, 'x', sizeof text);
    text[REQUEST_ID_SIZE - 1] = '\0';
    assert_true(request_id_admit(text));
    text[REQUEST_ID_SIZE - 1] = 'x';
    text[REQUEST_ID_SIZE] = '\0';
    assert_false(request_id_admit(text));
}

static void each_number_has_an_id_of_its_own(void **state)
{
    char ids[64][REQUEST_ID_OWN_SIZE];

    (void)state;
    for (uint64_t i = 0; i < 64; i++) {
        request_id_print(12345, i < 32 ? i : (i << 32) + 7, ids[i]);
        assert_int_equal(strlen(ids[i]), REQUEST_ID_OWN_SIZE - 1);
        assert_int_equal(strspn(ids[i], "0123456789abcdef"), REQUEST_ID_OWN_SIZE - 1);
        for (uint64_t j = 0; j < i; j++) {
            assert_string_not_equal(ids[i], ids[j]);
        }
    }
    request_id_print(12346, 0, ids[1]);
    assert_string_not_equal(ids[0], ids[1]);
    request_id_print(12345, 0, ids[1]);
    assert_string_equal(ids[0], ids[1]);
}

static void an_id_has_sixteen_digits_of_each_kind(void **state)
{
    char seen[2 * 16] = {0};
    char id[REQUEST_ID_OWN_SIZE];

    (void)state;
    for (uint64_t i = 0; i < 1000; i++) {
        request_id_print(1, i, id);
        for (int at = 0; at < 2; at++) {
            const char digit = id[at * 15];

            seen[at * 16 + (digit <= '9' ? digit - '0' : digit - 'a' + 10)] = 1;
        }
    }
    for (size_t i = 0; i < sizeof seen; i++) {
        assert_true(seen[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_words_are_admitted),
        cmocka_unit_test(each_number_has_an_id_of_its_own),
        cmocka_unit_test(an_id_has_sixteen_digits_of_each_kind),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
