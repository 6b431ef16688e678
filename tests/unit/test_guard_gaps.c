/* Heads as libmicrohttpd leaves them: some bytes have become NULs, and the strings point between.
 */
#include "server/http/guard_gaps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define LENGTH_OF(array) (sizeof(array) / sizeof((array)[0]))
#define HEADER_LIMIT 4

struct head {
    char bytes[256];
    size_t size;
    struct guard_header headers[HEADER_LIMIT];
    struct guard_request request;
};

/* The next string behind the NUL-terminated one, past what separates them. */
static char *next(char *string)
{
    string += strlen(string);
    while (*string == '\0' || strchr(" \t\r\n", *string) != NULL) {
        string++;
    }
    return string;
}

/* bytes: with NULs where they belong; '@' ends each string that is pointed to, as a NUL. */
static void make(struct head *head, const char *bytes, size_t size, size_t header_count)
{
    char *at = head->bytes;

    memset(head, 0, sizeof *head);
    memcpy(head->bytes, bytes, size);
    for (size_t i = 0; i < size; i++) {
        if (head->bytes[i] == '@') {
            head->bytes[i] = '\0';
        }
    }
    head->size = size;
    head->request.method = at;
    at = next(at);
    head->request.place_of_url = at;
    head->request.url = at;
    at = next(at);
    head->request.version = at;
    for (size_t i = 0; i < header_count; i++) {
        char *name = next(at);
        char *value = next(name);

        head->headers[i] = (struct guard_header){name, strlen(name), value, strlen(value)};
        at = value;
    }
    head->request.headers = head->headers;
    head->request.header_count = header_count;
    head->request.head_size = size;
}

#define MAKE(head, text, count) make((head), (text), sizeof(text) - 1, (count))
#define LINE "GET@/livez@HTTP/1.1@\n"

static void whole_heads_pass(void **state)
{
    struct head head;

    (void)state;
    MAKE(&head, LINE "Host@ a@\n\r\n", 1);
    assert_true(guard_gaps_head_is_whole(&head.request));
    MAKE(&head, LINE "Host@a@@X@ \t b@@@@", 2);
    assert_true(guard_gaps_head_is_whole(&head.request));
    MAKE(&head, "GET@/livez@HTTP/1.0@@@@", 0);
    assert_true(guard_gaps_head_is_whole(&head.request));
    MAKE(&head, "GET@ /livez@ HTTP/1.1@@Host@ a@@@@", 1);
    assert_true(guard_gaps_head_is_whole(&head.request));
}

static void what_was_cut_off_shows(void **state)
{
    struct head head;

    (void)state;
    MAKE(&head, "GET@/livez@HTTP/1.1@@Host@ a@b@@@@", 1);
    assert_false(guard_gaps_head_is_whole(&head.request));
    MAKE(&head, LINE "Host@ a@@@@@", 1);
    assert_false(guard_gaps_head_is_whole(&head.request));
    MAKE(&head, LINE "Host@ a@@@X@ b@@@@", 2);
    assert_false(guard_gaps_head_is_whole(&head.request));
    MAKE(&head, LINE "Host@@ a@@@@", 1);
    assert_false(guard_gaps_head_is_whole(&head.request));
    MAKE(&head, "GET@@/livez@HTTP/1.1@@Host@ a@@@@", 1);
    assert_false(guard_gaps_head_is_whole(&head.request));
}

static void a_name_of_no_bytes_shows(void **state)
{
    struct head head;

    (void)state;
    MAKE(&head, LINE "Host@ a@@@ b@@", 1);
    assert_false(guard_gaps_head_is_whole(&head.request));
    MAKE(&head, LINE "Host@ a@@@@@", 1);
    assert_false(guard_gaps_head_is_whole(&head.request));
    MAKE(&head, "GET@/livez@HTTP/1.0@@@@@", 0);
    assert_false(guard_gaps_head_is_whole(&head.request));
}

static void a_bare_line_feed_shows(void **state)
{
    struct head head;

    (void)state;
    MAKE(&head, "GET@/livez@HTTP/1.1@Host@ a@@@@", 1);
    assert_false(guard_gaps_head_is_whole(&head.request));
    MAKE(&head, LINE "Host@ a@X@ b@@@@", 2);
    assert_false(guard_gaps_head_is_whole(&head.request));
    MAKE(&head, LINE "Host@ a@@", 1);
    assert_false(guard_gaps_head_is_whole(&head.request));
    MAKE(&head, LINE "Host@ a@@@", 1);
    assert_false(guard_gaps_head_is_whole(&head.request));
    MAKE(&head, LINE "Host@ a@ @X@ b@@@@", 2); /* "a NUL blank LF" */
    assert_false(guard_gaps_head_is_whole(&head.request));
    MAKE(&head, LINE "Host@ a@@ X@ b@@@@", 2);
    assert_false(guard_gaps_head_is_whole(&head.request));
    MAKE(&head, LINE "Host@ a \t@@X@ b @@@@", 2);
    assert_true(guard_gaps_head_is_whole(&head.request));
}

static void strings_from_elsewhere_do_not_pass(void **state)
{
    struct head head;
    char value[] = "a";

    (void)state;
    MAKE(&head, LINE "Host@ a@@@@", 1);
    head.headers[0].value = value;
    assert_false(guard_gaps_head_is_whole(&head.request));
    MAKE(&head, LINE "Host@ a@@@@", 1);
    head.headers[0].value_size = SIZE_MAX;
    assert_false(guard_gaps_head_is_whole(&head.request));
    MAKE(&head, LINE "Host@ a@@@@", 1);
    head.request.head_size = 4;
    assert_false(guard_gaps_head_is_whole(&head.request));
    /* Out of their order. */
    MAKE(&head, LINE "Host@ a@@X@ b@@@@", 2);
    struct guard_header first = head.headers[0];
    head.headers[0] = head.headers[1];
    head.headers[1] = first;
    assert_false(guard_gaps_head_is_whole(&head.request));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_heads_pass),
        cmocka_unit_test(what_was_cut_off_shows),
        cmocka_unit_test(a_name_of_no_bytes_shows),
        cmocka_unit_test(a_bare_line_feed_shows),
        cmocka_unit_test(strings_from_elsewhere_do_not_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
