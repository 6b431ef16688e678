#include "tests/lib/names_fixture.h"

struct vertex_names *names_of(const char *const *strings, uint32_t count, bool numeric)
{
    struct name_table *table = NULL;
    struct vertex_names *names = NULL;
    uint32_t row;

    assert_int_equal(name_table_create(&table), STATUS_OK);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(name_table_intern(table, strings[i], strlen(strings[i]), &row), STATUS_OK);
        assert_int_equal(row, i);
    }
    assert_int_equal(vertex_names_create(&table, numeric, &names), STATUS_OK);
    return names;
}
