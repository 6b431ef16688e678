#include "server/http/api/slice.h"
#include "tests/lib/test.h"

static struct vertex_names *make(void)
{
    static const char *const list[] = {"Rome", "a,b", "say \"x\"", "1:2", "K\xC3\xB6ln", ""};
    struct name_table *table;
    struct vertex_names *names;
    uint32_t row;

    assert_int_equal(name_table_create(&table), STATUS_OK);
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        assert_int_equal(name_table_intern(table, list[i], strlen(list[i]), &row), STATUS_OK);
    }
    assert_int_equal(vertex_names_create(&table, false, &names), STATUS_OK);
    return names;
}

TEST(ranges_exclude_their_end)
{
    static const struct {
        const char *text;
        uint32_t first;
        uint32_t count;
    } cases[] = {{"2:5", 2, 3}, {":2", 0, 2},  {"4:", 4, 2},
                 {":", 0, 6},   {"3:3", 3, 0}, {"6:", 6, 0}};
    static const char *const bad[] = {"0:7", "5:2", "7:", "0:99999999999999999999"};
    struct vertex_names *names = make();

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct slice slice = {0};

        assert_int_equal(slice_parse(&slice, names, "rows", cases[i].text, NULL), STATUS_OK);
        assert_null(slice.axis.list);
        assert_int_equal(slice.axis.first, cases[i].first);
        assert_int_equal(slice.axis.count, cases[i].count);
        slice_finish(&slice);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct slice slice = {0};

        assert_int_not_equal(slice_parse(&slice, names, "rows", bad[i], NULL), STATUS_OK);
        slice_finish(&slice);
    }
    vertex_names_destroy(names);
}

TEST(a_list_of_rows_consists_of_vertex_names)
{
    static const struct {
        const char *text;
        const uint32_t rows[4];
        uint32_t count;
    } cases[] = {
        {"Rome", {0}, 1},
        {"K\xC3\xB6ln,Rome,K\xC3\xB6ln", {4, 0, 4}, 3},
        {"\"a,b\",Rome", {1, 0}, 2},
        {"\"say \"\"x\"\"\"", {2}, 1},
        {"\"1:2\"", {3}, 1},
        {"1:2,Rome", {3, 0}, 2},
        {"", {5}, 1},
    };
    struct vertex_names *names = make();

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct slice slice = {0};

        assert_int_equal(slice_parse(&slice, names, "rows", cases[i].text, NULL), STATUS_OK);
        assert_int_equal(slice.axis.count, cases[i].count);
        assert_memory_equal(slice.axis.list, cases[i].rows, cases[i].count * sizeof(uint32_t));
        slice_finish(&slice);
    }
    vertex_names_destroy(names);
}

TEST(unknown_names_and_malformed_slices_are_refused)
{
    static const struct {
        const char *text;
        enum status status;
    } cases[] = {
        {"Paris", STATUS_NO_SUCH_VERTEX},
        {"Rome,Paris", STATUS_NO_SUCH_VERTEX},
        {"\"Rome", STATUS_BAD_PARAMETER},
        {"\"Rome\"x", STATUS_BAD_PARAMETER},
        {"\"Rome\",\"", STATUS_BAD_PARAMETER},
        {"-1:2", STATUS_BAD_PARAMETER},
        {"0:99999999999999999999", STATUS_BAD_PARAMETER},
        {"1:2:3", STATUS_BAD_PARAMETER},
        {"a:2", STATUS_NO_SUCH_VERTEX},
        {"\"1:2:3\"", STATUS_NO_SUCH_VERTEX},
        {"1:2:b", STATUS_NO_SUCH_VERTEX},
    };
    struct vertex_names *names = make();

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct problem problem = {0};
        struct slice slice = {0};

        assert_int_equal(slice_parse(&slice, names, "cols", cases[i].text, &problem),
                         cases[i].status);
        assert_int_equal(problem.status, cases[i].status);
        slice_finish(&slice);
    }
    vertex_names_destroy(names);
}

TEST(a_slice_may_contain_any_number_of_names)
{
    struct vertex_names *names;
    struct slice slice = {0};

    assert_int_equal(vertex_names_create_range(1000, 0, &names), STATUS_OK);
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(slice_add(&slice, names, "999", 3, NULL), STATUS_OK);
    }
    assert_int_equal(slice.axis.count, 1000);
    assert_int_equal(axis_at(&slice.axis, 777), 999);
    slice_finish(&slice);
    slice_all(&slice, names);
    assert_true(slice.axis.list == NULL && slice.axis.count == 1000);
    vertex_names_destroy(names);
}
