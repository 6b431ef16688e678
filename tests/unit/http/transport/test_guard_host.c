#include "server/http/transport/guard_host.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define LENGTH_OF(array) (sizeof(array) / sizeof((array)[0]))

static void names_and_addresses_are_hosts(void **state)
{
    static const char *const hosts[] = {
        "",        "a",       "a.example", "a.example.",      "A-b_c~d", "127.0.0.1",
        "a:8080",  "a:",      "[::1]",     "[::1]:8080",      "[::]:",   "[::ffff:1.2.3.4]",
        "%41%2ea", "a!$&'()", "*+;=",      "xn--bcher-kva.a", ":8080",
    };

    (void)state;
    for (size_t i = 0; i < LENGTH_OF(hosts); i++) {
        assert_true(guard_host_is_valid(hosts[i], strlen(hosts[i])));
    }
}

static void all_else_is_none(void **state)
{
    static const char *const others[] = {
        "a b",  "a,b",  "a/b",   "http://a", "u@a",  "a?b",    "a#b",     "a\\b", "a:b", "a:1:2",
        "a:-1", "[::1", "[]",    "[a",       "[x]",  "[::1]a", "[::1]:x", "::1",  "%4",  "%zz",
        "a%",   "\xC3", "a\x7F", "\"a\"",    "<a>",  "{a}",    "a|b",     "a^b",  "`a`", " a",
        "a ",   "\ta",  "[%41]", "[:",       "[1]a", "[]:1",   "a:1 ",
    };

    (void)state;
    for (size_t i = 0; i < LENGTH_OF(others); i++) {
        assert_false(guard_host_is_valid(others[i], strlen(others[i])));
    }
    assert_false(guard_host_is_valid("a\0b", 3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_addresses_are_hosts),
        cmocka_unit_test(all_else_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
