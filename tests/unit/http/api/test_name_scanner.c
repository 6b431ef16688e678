#include "server/http/api/name_scanner.h"
#include "tests/lib/test.h"

static const char *const keys[] = {"one", "two", NULL};

static struct name_scanner begin(const char *body)
{
    struct name_scanner scanner;

    name_scanner_init(&scanner, body, strlen(body), "[..]");
    return scanner;
}

TEST(vertex_names_are_strings_or_numbers)
{
    static const struct {
        const char *body;
        const char *name;
    } cases[] = {
        {"12,", "12"},
        {" -3.5e2]", "-3.5e2"},
        {"007 ", "007"},
        {"\"a b\",", "a b"},
        {"\"\\u00e4\\\"\"", "\xC3\xA4\""},
        {"\"\"", ""},
        {"\n\"7\"", "7"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct name_scanner scanner = begin(cases[i].body);
        struct scanned_name name = {0};

        assert_int_equal(name_scanner_name(&scanner, &name, NULL), STATUS_OK);
        assert_int_equal(name.size, strlen(cases[i].name));
        assert_memory_equal(name.bytes, cases[i].name, name.size);
        name_scanner_release(&name);
    }
}

TEST(invalid_names_are_refused_at_their_first_byte)
{
    static const struct {
        const char *body;
        uint64_t column;
    } cases[] = {{"  null,", 3}, {"", 1}, {"1x,", 1}, {"\"a", 1}, {" \"\\q\"", 2}, {"[1]", 1}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct name_scanner scanner = begin(cases[i].body);
        struct scanned_name name = {0};
        struct problem problem = {0};

        assert_int_equal(name_scanner_name(&scanner, &name, &problem), STATUS_BAD_REQUEST);
        assert_int_equal(problem.column, cases[i].column);
    }
}

TEST(only_known_keys_of_an_object_are_accepted)
{
    struct name_scanner scanner = begin(" \"two\" : \"\\u006fne\":\"three\":1");
    struct problem problem;
    size_t index;

    assert_int_equal(name_scanner_key(&scanner, keys, &index, &problem), STATUS_OK);
    assert_int_equal(index, 1);
    assert_int_equal(name_scanner_key(&scanner, keys, &index, &problem), STATUS_OK);
    assert_int_equal(index, 0);
    assert_int_equal(name_scanner_key(&scanner, keys, &index, &problem), STATUS_BAD_REQUEST);
    assert_non_null(strstr(problem.detail, "[..]"));
}

TEST(whitespace_before_brackets_is_skipped)
{
    struct name_scanner scanner = begin(" [ ] \t");
    struct problem problem;

    assert_false(name_scanner_accept(&scanner, ']'));
    assert_int_equal(name_scanner_expect(&scanner, '[', &problem), STATUS_OK);
    assert_int_equal(name_scanner_end(&scanner, &problem), STATUS_BAD_REQUEST);
    assert_int_equal(problem.column, 4);
    assert_true(name_scanner_accept(&scanner, ']'));
    assert_int_equal(name_scanner_expect(&scanner, '[', &problem), STATUS_BAD_REQUEST);
    assert_int_equal(name_scanner_end(&scanner, &problem), STATUS_OK);
}
