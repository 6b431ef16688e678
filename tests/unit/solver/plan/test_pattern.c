#include "server/solver/plan/dissection.h"

#include "proto/graph.h"

/* cmocka.h wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A triangle 0 1 2 with 3 beside 2, each entry of vertex 0 twice. */
static struct pattern make_pattern(void)
{
    static const int32_t offset[] = {0, 4, 6, 9, 10};
    static const int32_t target[] = {1, 2, 1, 2, 0, 2, 0, 1, 3, 2};
    struct pattern pattern;
    assert_int_equal(pattern_init(&pattern, 4, 10), STATUS_OK);
    memcpy(pattern.offset, offset, sizeof(offset));
    memcpy(pattern.target, target, sizeof(target));
    return pattern;
}

static void equal_entries_are_kept_once(void **state)
{
    (void)state;
    static const int32_t offset[] = {0, 2, 4, 7, 8};
    static const int32_t target[] = {1, 2, 0, 2, 0, 1, 3, 2};
    struct pattern pattern = make_pattern();
    uint32_t mark[4];
    pattern_drop_parallel(&pattern, mark);
    assert_memory_equal(pattern.offset, offset, sizeof(offset));
    assert_memory_equal(pattern.target, target, sizeof(target));
    pattern_finish(&pattern);
    assert_null(pattern.target);
}

static void a_part_has_the_entries_between_its_vertices(void **state)
{
    (void)state;
    static const uint32_t vertices[] = {3, 2, 1};
    static const uint32_t local[] = {NO_VERTEX, 2, 1, 0};
    static const int32_t offset[] = {0, 1, 3, 4};
    static const int32_t target[] = {1, 2, 0, 1};
    struct pattern pattern = make_pattern();
    struct pattern part = {0};
    assert_int_equal(pattern_cut(&pattern, vertices, 3, local, &part), STATUS_OK);
    assert_int_equal(part.vertex_count, 3);
    assert_memory_equal(part.offset, offset, sizeof(offset));
    assert_memory_equal(part.target, target, sizeof(target));
    pattern_finish(&part);
    pattern_finish(&pattern);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_entries_are_kept_once),
        cmocka_unit_test(a_part_has_the_entries_between_its_vertices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
