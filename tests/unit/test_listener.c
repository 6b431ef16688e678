#include "server/http/listener.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void other_words_are_no_address(void **state)
{
    static const char *const cases[] = {"",     "127.0.0.1", "a:",      "a:b",    "a:65536",
                                        "a:-1", "::1:80",    "[::1:80", "[]x:80", "a:80 "};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct problem problem = {0};
        int descriptor;
        char url[128];

        assert_int_equal(listener_open(cases[i], &descriptor, url, sizeof url, &problem),
                         STATUS_CONFIG);
        assert_non_null(strstr(problem.detail, "HOST:PORT"));
    }
}

static void a_free_port_is_taken_and_told(void **state)
{
    struct problem problem = {0};
    int first;
    int second;
    char url[128];

    (void)state;
    assert_int_equal(listener_open("127.0.0.1:0", &first, url, sizeof url, &problem), STATUS_OK);
    assert_int_equal(strncmp(url, "http://127.0.0.1:", 17), 0);
    assert_string_not_equal(url, "http://127.0.0.1:0");
    assert_int_equal(listener_open(url + 7, &second, url, sizeof url, &problem), STATUS_CONFIG);
    assert_non_null(strstr(problem.detail, "in use"));
    close(first);
}

static void an_unusable_address_is_explained(void **state)
{
    struct problem problem = {0};
    int descriptor;
    char url[128];

    (void)state;
    assert_int_equal(listener_open("8080", &descriptor, url, sizeof url, &problem), STATUS_CONFIG);
    assert_non_null(strstr(problem.detail, "HOST:PORT"));
    assert_int_equal(listener_open("192.0.2.1:0", &descriptor, url, sizeof url, &problem),
                     STATUS_CONFIG);
    assert_non_null(strstr(problem.detail, "192.0.2.1"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_words_are_no_address),
        cmocka_unit_test(a_free_port_is_taken_and_told),
        cmocka_unit_test(an_unusable_address_is_explained),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
