#include "proto/name_table.h"
#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#define MANY 5000u

/* Returns short and long names; each long name begins with another name. */
static size_t name_of(uint32_t number, char name[32])
{
    return (size_t)snprintf(name, 32, "%s%u", number % 2 == 0 ? "" : "a longer name ", number / 2);
}

static struct name_table *make(void)
{
    struct name_table *table = NULL;

    assert_int_equal(name_table_create(&table), STATUS_OK);
    for (uint32_t i = 0; i < 2 * MANY; i++) {
        char name[32];
        const size_t size = name_of(i % MANY, name);
        uint32_t row;

        assert_int_equal(name_table_intern(table, name, size, &row), STATUS_OK);
        assert_int_equal(row, i % MANY);
    }
    assert_int_equal(name_table_count(table), MANY);
    return table;
}

TEST(each_name_is_found_by_row_and_by_text)
{
    struct name_table *table = make();
    uint32_t row;

    for (uint32_t i = 0; i < MANY; i++) {
        char wanted[32];
        const size_t wanted_size = name_of(i, wanted);
        size_t size;
        const char *name = name_table_get(table, i, &size);

        assert_int_equal(size, wanted_size);
        assert_memory_equal(name, wanted, size);
        assert_true(name_table_find(table, wanted, size, &row));
        assert_int_equal(row, i);
    }
    assert_false(name_table_find(table, "a longer name", 13, &row));
    assert_false(name_table_find(table, "1\0", 2, &row));
    assert_int_equal(name_table_intern(table, "1\0", 2, &row), STATUS_OK);
    assert_int_equal(row, MANY);
    assert_false(name_table_is_numeric(table));
    name_table_destroy(table);
}

TEST(a_permutation_changes_the_rows_of_names)
{
    struct name_table *table = make();
    static uint32_t row_of[MANY];

    for (uint32_t i = 0; i < MANY; i++) {
        row_of[i] = (i * 7 + 3) % MANY;
    }
    assert_int_equal(name_table_permute(table, row_of), STATUS_OK);
    for (uint32_t i = 0; i < MANY; i++) {
        char name[32];
        uint32_t row;

        assert_true(name_table_find(table, name, name_of(i, name), &row));
        assert_int_equal(row, row_of[i]);
    }
    name_table_destroy(table);
}

TEST(numeric_names_are_sorted_by_value)
{
    static const char *const names[] = {"7", "-3", "9223372036854775807", "0", "123456789"};
    static const uint32_t wanted[] = {2, 0, 4, 1, 3};
    struct name_table *table = NULL;
    uint32_t row_of[5];
    uint32_t row;

    assert_int_equal(name_table_create(&table), STATUS_OK);
    for (size_t i = 0; i < 5; i++) {
        assert_true(name_table_is_numeric(table));
        assert_int_equal(name_table_intern(table, names[i], strlen(names[i]), &row), STATUS_OK);
    }
    assert_true(name_table_number(table, 2) == INT64_MAX);
    assert_int_equal(name_table_find_integer(table, 7), 0);
    assert_int_equal(name_table_find_integer(table, 8), UINT32_MAX);
    assert_int_equal(name_table_find_integer(table, UINT32_MAX), UINT32_MAX);
    assert_int_equal(name_table_order(table, row_of), STATUS_OK);
    assert_memory_equal(row_of, wanted, sizeof wanted);
    assert_int_equal(name_table_intern(table, "07", 2, &row), STATUS_OK);
    assert_false(name_table_is_numeric(table));
    name_table_destroy(table);
}
