#include "server/http/ready_answer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const char json[] = "application/json";
static const char plain[] = "text/plain";
static const struct ready_answer_head head = {json, "aa", "\"aa-json\""};

static int create(void **state)
{
    static struct ready_answers answers;

    ready_answers_init(&answers);
    *state = &answers;
    return 0;
}

static int destroy(void **state)
{
    ready_answers_finish(*state);
    return 0;
}

static struct MHD_Response *take(struct ready_answers *answers, const struct ready_answer_head *of,
                                 const char *id, const char *bytes)
{
    struct MHD_Response *response = ready_answers_take(answers, of, id, bytes, strlen(bytes));

    assert_non_null(response);
    assert_string_equal(MHD_get_response_header(response, "X-Request-Id"), id);
    assert_string_equal(MHD_get_response_header(response, "Content-Type"), of->media_type);
    assert_string_equal(MHD_get_response_header(response, "ETag"), of->tag);
    assert_string_equal(MHD_get_response_header(response, "Vary"), "Accept");
    assert_string_equal(MHD_get_response_header(response, "Cache-Control"), "no-cache");
    assert_int_equal(MHD_get_response_headers(response, NULL, NULL), 5);
    return response;
}

/* What it would send. */
static void assert_bytes(const struct ready_answers *answers, struct MHD_Response *response,
                         const char *bytes)
{
    const struct ready_answer *answer = &answers->of_size[strlen(bytes) % READY_ANSWER_COUNT];

    assert_ptr_equal(answer->response, response);
    assert_int_equal(answer->size, strlen(bytes));
    assert_memory_equal(answer->bytes, bytes, strlen(bytes));
}

static void an_answer_of_the_same_size_is_used_again(void **state)
{
    struct ready_answers *answers = *state;
    struct MHD_Response *first;

    assert_false(ready_answers_has(answers, &head, 5));
    first = take(answers, &head, "0123", "12345");
    assert_bytes(answers, first, "12345");
    assert_true(ready_answers_has(answers, &head, 5));
    assert_false(ready_answers_has(answers, &head, 5 + READY_ANSWER_COUNT));
    assert_ptr_equal(take(answers, &head, "4567", "54321"), first);
    assert_bytes(answers, first, "54321");
}

static void an_id_of_another_length_takes_its_place(void **state)
{
    struct ready_answers *answers = *state;
    struct MHD_Response *first = take(answers, &head, "0123456789abcdef", "12345");

    assert_ptr_equal(take(answers, &head, "mine", "12345"), first);
    assert_ptr_equal(take(answers, &head, "fedcba9876543210", "12345"), first);
    assert_ptr_equal(take(answers, &head, "0123456789abcdef", "12345"), first);
}

static void another_result_or_form_gets_another_head(void **state)
{
    const struct ready_answer_head other = {json, "bb", "\"bb-json\""};
    const struct ready_answer_head text = {plain, "bb", "\"bb-text\""};
    struct ready_answers *answers = *state;

    take(answers, &head, "0123", "12345");
    assert_false(ready_answers_has(answers, &other, 5));
    assert_bytes(answers, take(answers, &other, "0123", "23456"), "23456");
    assert_false(ready_answers_has(answers, &text, 5));
    assert_bytes(answers, take(answers, &text, "0123", "34567"), "34567");
    assert_bytes(answers, take(answers, &head, "0123", "45678"), "45678");
}

static void sizes_that_share_a_place_displace_each_other(void **state)
{
    struct ready_answers *answers = *state;
    char bytes[READY_ANSWER_SIZE + 2] = {0};

    for (size_t size = 1; size <= READY_ANSWER_SIZE; size++) {
        memset(bytes, 'a' + (int)(size % 26), size);
        assert_bytes(answers, take(answers, &head, "0123", bytes), bytes);
    }
    memset(bytes, 'z', READY_ANSWER_SIZE + 1);
    assert_null(ready_answers_take(answers, &head, "0123", bytes, READY_ANSWER_SIZE + 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_answer_of_the_same_size_is_used_again, create, destroy),
        cmocka_unit_test_setup_teardown(an_id_of_another_length_takes_its_place, create, destroy),
        cmocka_unit_test_setup_teardown(another_result_or_form_gets_another_head, create, destroy),
        cmocka_unit_test_setup_teardown(sizes_that_share_a_place_displace_each_other, create,
                                        destroy),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
