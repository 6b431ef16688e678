#include "server/job/tenant.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void a_name_is_always_the_same_tenant(void **state)
{
    struct tenant_table *table;
    struct tenant *nobody;
    struct tenant *a;
    struct tenant *b;
    struct tenant *again;
    (void)state;
    assert_int_equal(tenant_table_create(&table), STATUS_OK);
    assert_int_equal(tenant_table_get(table, "", &nobody), STATUS_OK);
    assert_int_equal(tenant_table_get(table, "a", &a), STATUS_OK);
    assert_int_equal(tenant_table_get(table, "b", &b), STATUS_OK);
    assert_int_equal(tenant_table_get(table, "a", &again), STATUS_OK);
    assert_ptr_equal(a, again);
    assert_ptr_not_equal(a, b);
    assert_int_equal(tenant_number(nobody), 0);
    assert_int_equal(tenant_number(NULL), 0);
    assert_int_not_equal(tenant_number(a), 0);
    assert_int_not_equal(tenant_number(a), tenant_number(b));
    tenant_table_destroy(table);
}

static void jobs_that_wait_and_places_reserved_count_alike(void **state)
{
    struct tenant tenant = {.reserved_places = 1};
    const struct quota none = {0};
    const struct quota three = {.waiting_jobs = 3};
    struct problem problem;
    (void)state;
    atomic_store(&tenant.share.count, 1);
    assert_int_equal(tenant_check_jobs(&tenant, &three, &problem), STATUS_OK);
    atomic_store(&tenant.share.count, 2);
    assert_int_equal(tenant_check_jobs(&tenant, &three, &problem), STATUS_JOB_QUOTA);
    assert_true(problem.limit == 3 && problem.actual == 3);
    assert_int_equal(tenant_check_jobs(&tenant, &none, &problem), STATUS_OK);
}

static void bytes_are_those_there_and_those_to_come(void **state)
{
    struct tenant tenant = {.stored_bytes = 60, .reserved_bytes = 30};
    const struct quota none = {0};
    const struct quota hundred = {.stored_bytes = 100};
    struct problem problem;
    (void)state;
    assert_int_equal(tenant_check_bytes(&tenant, &hundred, 10, &problem), STATUS_OK);
    assert_int_equal(tenant_check_bytes(&tenant, &hundred, 11, &problem), STATUS_STORAGE_QUOTA);
    assert_true(problem.limit == 100 && problem.actual == 101);
    assert_int_equal(tenant_check_bytes(&tenant, &hundred, UINT64_MAX, &problem),
                     STATUS_STORAGE_QUOTA);
    assert_int_equal(tenant_check_bytes(&tenant, &none, UINT64_MAX, &problem), STATUS_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_is_always_the_same_tenant),
        cmocka_unit_test(jobs_that_wait_and_places_reserved_count_alike),
        cmocka_unit_test(bytes_are_those_there_and_those_to_come),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
