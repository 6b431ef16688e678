#include "server/http/api/pair_rows.h"
#include "tests/lib/test.h"

TEST(rows_are_found_in_every_form)
{
    static const uint32_t rows[] = {0, 2, 1, 1};
    static const struct {
        enum pairs_form form;
        const char *body;
        size_t size;        /* 0: of the string */
        enum status status; /* once the two pairs were read */
        uint64_t line;
        uint64_t column;
    } cases[] = {
        {PAIRS_JSON, "{\"pairs\":[[5,7],[6,6]]}", 0, STATUS_OK, 0, 0},
        {PAIRS_CSV, "5,7\n6,6\n", 0, STATUS_OK, 0, 0},
        {PAIRS_P2P, "p aux sp p2p 2\nq 5 7\nq 6 6\n", 0, STATUS_OK, 0, 0},
        {PAIRS_BINARY, (const char *)rows, 16, STATUS_OK, 0, 0},
        {PAIRS_JSON, "{\"pairs\":[[5,7],[6,6],[5,8]]}", 0, STATUS_NO_SUCH_VERTEX, 0, 23},
        {PAIRS_CSV, "5,7\n6,6\n4,5\n", 0, STATUS_NO_SUCH_VERTEX, 3, 0},
    };
    struct vertex_names *names;

    assert_int_equal(vertex_names_create_range(3, 5, &names), STATUS_OK);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const size_t size = cases[i].size > 0 ? cases[i].size : strlen(cases[i].body);
        struct problem problem = {0};
        struct pairs_reader reader;
        uint32_t pair[1][2];
        size_t count;

        pairs_open(&reader, cases[i].form, cases[i].body, size);
        for (size_t k = 0; k < 2; k++) {
            assert_int_equal(pair_rows_read(&reader, names, 1, pair, &count, &problem), STATUS_OK);
            assert_int_equal(count, 1);
            assert_memory_equal(pair, rows + 2 * k, sizeof pair);
        }
        assert_int_equal(pair_rows_read(&reader, names, 1, pair, &count, &problem),
                         cases[i].status);
        assert_int_equal(reader.ended, cases[i].status == STATUS_OK);
        assert_int_equal(problem.line, cases[i].line);
        assert_int_equal(problem.column, cases[i].column);
        pairs_close(&reader);
    }
    vertex_names_destroy(names);
}

TEST(binary_is_whole_pairs_inside_the_matrix)
{
    static const uint32_t rows[] = {0, 1, 2, 3};
    struct vertex_names *names;
    struct problem problem;
    struct pairs_reader reader;
    uint32_t pairs[2][2];
    size_t count;

    assert_int_equal(vertex_names_create_range(3, 0, &names), STATUS_OK);
    pairs_open(&reader, PAIRS_BINARY, (const char *)rows, 15);
    assert_int_equal(pair_rows_read(&reader, names, 2, pairs, &count, &problem),
                     STATUS_BAD_REQUEST);
    pairs_open(&reader, PAIRS_BINARY, (const char *)rows, 16);
    assert_int_equal(pair_rows_read(&reader, names, 1, pairs, &count, &problem), STATUS_OK);
    assert_int_equal(count, 1);
    assert_int_equal(pair_rows_read(&reader, names, 2, pairs, &count, &problem),
                     STATUS_NO_SUCH_VERTEX);
    assert_non_null(strstr(problem.detail, "Pair 1 is (2, 3)"));
    vertex_names_destroy(names);
}
