#include "proto/read/charset.h"

#include "proto/text.h"
#include "tests/lib/test.h"

#include <dlfcn.h>
#include <errno.h>
#include <iconv.h>

static enum status append(void *context, const char *bytes, size_t size, struct problem *reterr)
{
    (void)reterr;
    text_append(context, bytes, size);
    return text_status(context);
}

static enum status convert(const char *charset, const char *bytes, size_t size, size_t piece,
                           struct text *text, struct problem *reterr)
{
    struct charset_converter *converter;
    enum status status = charset_converter_create(charset, append, text, &converter);

    assert_int_equal(status, STATUS_OK);
    for (size_t at = 0; at < size && status == STATUS_OK; at += piece) {
        status = charset_converter_feed(converter, bytes + at,
                                        size - at < piece ? size - at : piece, reterr);
    }
    if (status == STATUS_OK) {
        status = charset_converter_end(converter, reterr);
    }
    charset_converter_destroy(converter);
    return status;
}

static void becomes(const char *charset, const char *bytes, size_t size, const char *expected)
{
    for (size_t piece = 1; piece <= size; piece++) {
        struct text text = {0};

        assert_int_equal(convert(charset, bytes, size, piece, &text, NULL), STATUS_OK);
        assert_string_equal(text.bytes, expected);
        text_finish(&text);
    }
}

TEST(text_is_converted_to_utf8_however_the_input_is_split)
{
    becomes("iso-8859-1", "Z\xFCrich 1\n", 9, "Z\xC3\xBCrich 1\n");
    becomes("windows-1252", "\x80", 1, "\xE2\x82\xAC");
    becomes("shift_jis", "\x93\x8C\x8B\x9E", 4, "\xE6\x9D\xB1\xE4\xBA\xAC");
    becomes("utf-16be", "\0a\xD8\x3D\xDE\x00", 6, "a\xF0\x9F\x98\x80");
    becomes("gb18030", "\x84\x31\xA4\x39", 4, "\xEF\xBF\xBF");
}

TEST(text_longer_than_the_buffer_is_converted)
{
    static char bytes[100000];
    struct text text = {0};

    memset(bytes, '\xE9', sizeof bytes);
    assert_int_equal(convert("iso-8859-1", bytes, sizeof bytes, 33333, &text, NULL), STATUS_OK);
    assert_int_equal(text.size, 2 * sizeof bytes);
    assert_int_equal(text_utf8_size(text.bytes, text.size), text.size);
    text_finish(&text);
}

static void refused(const char *charset, const char *bytes, size_t size, uint64_t line,
                    uint64_t column)
{
    for (size_t piece = 1; piece <= size; piece++) {
        struct problem problem = {0};
        struct text text = {0};

        assert_int_equal(convert(charset, bytes, size, piece, &text, &problem), STATUS_BAD_GRAPH);
        assert_int_equal(problem.line, line);
        assert_int_equal(problem.column, column);
        assert_true(problem.hint[0] != '\0');
        text_finish(&text);
    }
}

TEST(errors_are_reported_with_their_line_and_column)
{
    refused("windows-1252", "1 2\n\xE9\x81", 6, 2, 3);
    refused("shift_jis", "1\n\n\x93", 4, 3, 1);
    refused("utf-16le", "1", 1, 1, 1);
}

/* The errno with which the iconv_open below fails; 0 = it does not fail. */
static int open_error;

iconv_t iconv_open(const char *to, const char *from)
{
    iconv_t (*real)(const char *, const char *);
    void *symbol = dlsym(RTLD_NEXT, "iconv_open");

    memcpy(&real, &symbol, sizeof real);
    errno = open_error;
    return open_error != 0 ? (iconv_t)-1 : real(to, from);
}

TEST(lack_of_memory_is_distinguished_from_an_unknown_charset)
{
    struct charset_converter *converter = NULL;

    open_error = ENOMEM;
    assert_int_equal(charset_converter_create("big5", NULL, NULL, &converter), STATUS_NO_MEMORY);
    open_error = EINVAL;
    assert_int_equal(charset_converter_create("big5", NULL, NULL, &converter),
                     STATUS_BAD_PARAMETER);
    open_error = 0;
}

TEST(charset_names_are_normalized_or_refused)
{
    static const char *const names[][2] = {{"UTF-8", "utf-8"},
                                           {"us-ascii", "utf-8"},
                                           {"Latin1", "iso-8859-1"},
                                           {"ISO-8859-15", "iso-8859-15"},
                                           {"UTF-16", "utf-16"}};
    static const char *const others[] = {"", "utf", "iso-2022-cn-ext", "latin1//IGNORE", "../x"};
    char charset[CHARSET_NAME_SIZE];
    struct problem problem;

    charset_load();
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        assert_int_equal(charset_choose(names[i][0], charset, NULL), STATUS_OK);
        assert_string_equal(charset, names[i][1]);
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        assert_int_equal(charset_choose(others[i], charset, &problem), STATUS_BAD_PARAMETER);
        assert_non_null(strstr(problem.hint, "utf-16, "));
        assert_non_null(strstr(problem.hint, "euc-kr."));
    }
}
