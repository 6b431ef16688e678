#include "server/http/ready_answer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const char json[] = "application/json";
static const char plain[] = "text/plain";
static const struct ready_answer_head head = {json, "aa", "\"aa-json\""};

static pthread_key_t key;

static int create(void **state)
{
    assert_int_equal(ready_answers_open(&key), STATUS_OK);
    *state = ready_answers_of_thread(key);
    assert_non_null(*state);
    return 0;
}

static int destroy(void **state)
{
    (void)state;
    ready_answers_close(key);
    return 0;
}

static struct ready_answer *find_or_make(struct ready_answers *answers,
                                         const struct ready_answer_head *of, size_t size)
{
    struct ready_answer *answer = ready_answers_find(answers, of, size);

    return answer != NULL ? answer : ready_answers_make(answers, of, size);
}

/* Lent and looked at. */
static struct ready_answer *lend(struct ready_answers *answers, const struct ready_answer_head *of,
                                 const char *id, const char *bytes)
{
    struct ready_answer *answer = find_or_make(answers, of, strlen(bytes));

    assert_non_null(answer);
    struct MHD_Response *response = ready_answer_lend(answer, id, bytes);
    assert_non_null(response);
    assert_ptr_equal(answer->response, response);
    assert_string_equal(MHD_get_response_header(response, "X-Request-Id"), id);
    assert_string_equal(MHD_get_response_header(response, "Content-Type"), of->media_type);
    assert_string_equal(MHD_get_response_header(response, "ETag"), of->tag);
    assert_string_equal(MHD_get_response_header(response, "Vary"), "Accept");
    assert_string_equal(MHD_get_response_header(response, "Cache-Control"), "no-cache");
    assert_int_equal(MHD_get_response_headers(response, NULL, NULL), 5);
    assert_int_equal(answer->size, strlen(bytes));
    assert_memory_equal(answer->bytes, bytes, strlen(bytes));
    return answer;
}

static struct ready_answer *use(struct ready_answers *answers, const struct ready_answer_head *of,
                                const char *id, const char *bytes)
{
    struct ready_answer *answer = lend(answers, of, id, bytes);

    ready_answer_give_back(answer);
    return answer;
}

static void an_answer_of_the_same_size_is_used_again(void **state)
{
    struct ready_answers *answers = *state;

    assert_null(ready_answers_find(answers, &head, 5));
    struct ready_answer *first = use(answers, &head, "0123", "12345");
    assert_ptr_equal(ready_answers_find(answers, &head, 5), first);
    assert_null(ready_answers_find(answers, &head, 5 + READY_ANSWER_COUNT));
    assert_ptr_equal(use(answers, &head, "4567", "54321"), first);
}

static void an_id_of_another_length_takes_its_place(void **state)
{
    struct ready_answers *answers = *state;
    struct ready_answer *first = use(answers, &head, "0123456789abcdef", "12345");

    assert_ptr_equal(use(answers, &head, "mine", "12345"), first);
    assert_ptr_equal(use(answers, &head, "fedcba9876543210", "12345"), first);
    assert_ptr_equal(use(answers, &head, "0123456789abcdef", "12345"), first);
}

static void another_result_or_form_gets_another_head(void **state)
{
    struct ready_answers *answers = *state;
    const struct ready_answer_head other = {json, "bb", "\"bb-json\""};
    const struct ready_answer_head text = {plain, "bb", "\"bb-text\""};

    use(answers, &head, "0123", "12345");
    assert_null(ready_answers_find(answers, &other, 5));
    use(answers, &other, "0123", "23456");
    assert_null(ready_answers_find(answers, &text, 5));
    use(answers, &text, "0123", "34567");
    use(answers, &head, "0123", "45678");
}

static void sizes_that_share_a_place_displace_each_other(void **state)
{
    struct ready_answers *answers = *state;
    char bytes[READY_ANSWER_SIZE + 2] = {0};

    for (size_t size = 1; size <= READY_ANSWER_SIZE; size++) {
        memset(bytes, 'a' + (int)(size % 26), size);
        use(answers, &head, "0123", bytes);
    }
    assert_null(ready_answers_make(answers, &head, READY_ANSWER_SIZE + 1));
}

static void one_that_is_lent_is_left_alone(void **state)
{
    struct ready_answers *answers = *state;
    struct ready_answer *lent = lend(answers, &head, "0123", "12345");

    assert_null(ready_answers_find(answers, &head, 5));
    assert_null(ready_answers_make(answers, &head, 5));
    use(answers, &head, "0123", "123456");
    assert_memory_equal(lent->bytes, "12345", 5);
    ready_answer_give_back(lent);
    assert_ptr_equal(ready_answers_find(answers, &head, 5), lent);
}

static void *use_one(void *context)
{
    struct ready_answers *answers = ready_answers_of_thread(key);

    *(struct ready_answers **)context = answers;
    return answers == NULL ? NULL : ready_answers_make(answers, &head, 5);
}

/* They end with it: sanitizers see what would be left. */
static void each_thread_has_its_own(void **state)
{
    struct ready_answers *others = NULL;
    pthread_t thread;
    void *made = NULL;

    assert_int_equal(pthread_create(&thread, NULL, use_one, &others), 0);
    assert_int_equal(pthread_join(thread, &made), 0);
    assert_non_null(made);
    assert_ptr_not_equal(others, *state);
    assert_null(ready_answers_find(*state, &head, 5));
    assert_ptr_equal(ready_answers_of_thread(key), *state);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, create, destroy)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_answer_of_the_same_size_is_used_again),
        TEST(an_id_of_another_length_takes_its_place),
        TEST(another_result_or_form_gets_another_head),
        TEST(sizes_that_share_a_place_displace_each_other),
        TEST(one_that_is_lent_is_left_alone),
        TEST(each_thread_has_its_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
