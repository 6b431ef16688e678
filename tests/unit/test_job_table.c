#include "server/job/job_table.h"
#include "server/job/tenant.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static int set_up(void **state)
{
    struct job_table *table;
    assert_int_equal(job_table_create(&table), STATUS_OK);
    *state = table;
    return 0;
}

static int tear_down(void **state)
{
    job_table_destroy(*state);
    return 0;
}

static struct job *add(struct job_table *table, const char *key)
{
    struct job *job;
    assert_int_equal(job_create("g_one", KIND_I4, 1000, &job), STATUS_OK);
    memcpy(job->idempotency_key, key, strlen(key) + 1);
    job->accepted = true;
    struct job *added = job;
    assert_int_equal(job_table_add(table, &job), STATUS_OK);
    assert_null(job);
    return added;
}

static void a_job_is_found_by_its_id_and_its_key(void **state)
{
    struct job *job = add(*state, "order-1");
    struct job *other = add(*state, "order-2");
    assert_ptr_equal(job_table_find(*state, NULL, job->id), job);
    assert_ptr_equal(job_table_find_key(*state, NULL, "order-2"), other);
    assert_null(job_table_find(*state, NULL, "j_absent"));
    assert_null(job_table_find_key(*state, NULL, "order-3"));
}

static void a_key_of_one_tenant_is_not_that_of_another(void **state)
{
    struct tenant tenants[2] = {{.number = 1}, {.number = 2}};
    struct job *jobs[2];
    for (int i = 0; i < 2; i++) {
        struct job *job;
        assert_int_equal(job_create("g_one", KIND_I4, 1000, &job), STATUS_OK);
        memcpy(job->idempotency_key, "order-1", 8);
        job->tenant = &tenants[i];
        job->accepted = true;
        jobs[i] = job;
        assert_int_equal(job_table_add(*state, &job), STATUS_OK);
    }
    assert_ptr_equal(job_table_find_key(*state, &tenants[0], "order-1"), jobs[0]);
    assert_ptr_equal(job_table_find_key(*state, &tenants[1], "order-1"), jobs[1]);
    assert_null(job_table_find_key(*state, NULL, "order-1"));
    assert_ptr_equal(job_table_find(*state, &tenants[0], jobs[0]->id), jobs[0]);
    assert_null(job_table_find(*state, &tenants[1], jobs[0]->id));
    assert_null(job_table_find(*state, NULL, jobs[0]->id));
    job_table_remove(*state, jobs[0]);
    assert_null(job_table_find_key(*state, &tenants[0], "order-1"));
    assert_ptr_equal(job_table_find_key(*state, &tenants[1], "order-1"), jobs[1]);
    job_table_remove(*state, jobs[1]);
}

static void jobs_without_a_key_are_not_found_by_the_empty_key(void **state)
{
    struct job *first = add(*state, "");
    struct job *second = add(*state, "");
    assert_ptr_equal(first->newer, second);
    assert_null(job_table_find_key(*state, NULL, ""));
}

static void a_job_not_accepted_is_found_by_its_key_alone(void **state)
{
    struct job *job = add(*state, "order-1");
    job->accepted = false;
    assert_null(job_table_find(*state, NULL, job->id));
    assert_ptr_equal(job_table_find_key(*state, NULL, "order-1"), job);
}

static void a_removed_job_is_not_found(void **state)
{
    struct job *job = add(*state, "order-1");
    char id[JOB_ID_SIZE];
    memcpy(id, job->id, sizeof(id));
    job_table_remove(*state, job);
    assert_null(job_table_find(*state, NULL, id));
    assert_null(job_table_find_key(*state, NULL, "order-1"));
    assert_null(job_table_newest(*state));
    assert_null(job_table_oldest(*state));
}

static void the_order_of_creation_survives_removals(void **state)
{
    struct job *first = add(*state, "");
    struct job *second = add(*state, "");
    struct job *third = add(*state, "");
    job_table_remove(*state, second);
    assert_ptr_equal(job_table_oldest(*state), first);
    assert_ptr_equal(first->newer, third);
    assert_ptr_equal(third->older, first);
    job_table_remove(*state, third);
    assert_ptr_equal(job_table_newest(*state), first);
}

static void an_id_too_long_to_be_one_is_not_found(void **state)
{
    char id[400];
    memset(id, 'j', sizeof(id) - 1);
    id[sizeof(id) - 1] = '\0';
    assert_null(job_table_find(*state, NULL, id));
    assert_null(job_table_find_key(*state, NULL, id));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_job_is_found_by_its_id_and_its_key),
        TEST(a_key_of_one_tenant_is_not_that_of_another),
        TEST(jobs_without_a_key_are_not_found_by_the_empty_key),
        TEST(a_job_not_accepted_is_found_by_its_key_alone),
        TEST(a_removed_job_is_not_found),
        TEST(the_order_of_creation_survives_removals),
        TEST(an_id_too_long_to_be_one_is_not_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
