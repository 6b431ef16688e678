#include "proto/components.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

/* 0-2, 2-4, 5-4, and 1, 3 alone; rows 1, 3 and 4 are empty. */
static const uint64_t row_offset[] = {0, 1, 1, 2, 2, 2, 3};
static const uint32_t targets[] = {2, 4, 4};

static void parts_in_any_cut_make_the_same_components(void **state)
{
    (void)state;
    for (uint64_t piece = 1; piece <= 3; piece++) {
        struct components *components;

        assert_int_equal(components_create(6, &components), STATUS_OK);
        assert_int_equal(components_count(components), 6);
        for (uint64_t first = 0; first < 3; first += piece) {
            const uint64_t left = 3 - first;

            assert_true(components_unite(components, row_offset, targets + first, first,
                                         left < piece ? left : piece));
        }
        assert_int_equal(components_count(components), 3);
        components_destroy(components);
    }
}

static void nothing_more_is_asked_for_once_all_is_one(void **state)
{
    static const uint64_t offsets[] = {0, 2, 3, 4};
    static const uint32_t ends[] = {1, 2, 0, 0};
    struct components *components;

    (void)state;
    assert_int_equal(components_create(3, &components), STATUS_OK);
    assert_true(components_unite(components, offsets, ends, 0, 1));
    assert_false(components_unite(components, offsets, ends + 1, 1, 3));
    assert_int_equal(components_count(components), 1);
    components_destroy(components);
}

static void a_graph_may_be_empty(void **state)
{
    static const uint64_t offsets[] = {0};
    struct components *components;

    (void)state;
    assert_int_equal(components_create(0, &components), STATUS_OK);
    assert_false(components_unite(components, offsets, NULL, 0, 0));
    assert_int_equal(components_count(components), 0);
    components_destroy(components);
    components_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_in_any_cut_make_the_same_components),
        cmocka_unit_test(nothing_more_is_asked_for_once_all_is_one),
        cmocka_unit_test(a_graph_may_be_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
