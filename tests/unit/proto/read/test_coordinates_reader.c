#include "proto/read/coordinates_reader.h"
#include "tests/lib/names_fixture.h"

#include <math.h>

static const char *const words[] = {"a", "b", "c d"};

static enum status read_pieces(const char *text, size_t piece, struct coordinates **ret_coordinates,
                               struct problem *reterr)
{
    struct vertex_names *range = NULL;
    struct vertex_names *names = NULL;
    struct coordinates_reader *reader = NULL;
    const size_t size = strlen(text);
    enum status status = STATUS_OK;

    assert_int_equal(vertex_names_create_range(4, 1, &range), STATUS_OK);
    names = names_of(words, 3, false);
    const bool has_words = strchr(text, '!') != NULL;
    assert_int_equal(coordinates_reader_create(has_words ? names : range, &reader), STATUS_OK);
    for (size_t at = 0; at < size && status == STATUS_OK; at += piece) {
        const size_t left = size - at;

        status = coordinates_reader_feed(reader, text + at, left < piece ? left : piece, reterr);
    }
    if (status == STATUS_OK) {
        status = coordinates_reader_end(reader, ret_coordinates, reterr);
    }
    coordinates_reader_destroy(reader);
    vertex_names_destroy(names);
    vertex_names_destroy(range);
    return status;
}

static struct coordinates *read_text(const char *text)
{
    struct coordinates *whole = NULL;
    struct problem problem = {0};

    if (read_pieces(text, strlen(text) + 1, &whole, &problem) != STATUS_OK) {
        fail_msg("%s: %s", text, problem.detail);
    }
    for (size_t piece = 1; piece < 4; piece++) {
        struct coordinates *cut = NULL;

        assert_int_equal(read_pieces(text, piece, &cut, &problem), STATUS_OK);
        assert_int_equal(cut->located, whole->located);
        assert_memory_equal(cut->x, whole->x, cut->count * sizeof(double));
        assert_memory_equal(cut->y, whole->y, cut->count * sizeof(double));
        coordinates_destroy(cut);
    }
    return whole;
}

static void check_place(const char *text, bool is_plane, uint32_t located, uint32_t row, double x,
                        double y)
{
    struct coordinates *coordinates = read_text(text);

    assert_int_equal(coordinates->is_plane, is_plane);
    assert_int_equal(coordinates->located, located);
    assert_true(isnan(x) ? !coordinates_has(coordinates, row)
                         : coordinates->x[row] == x && coordinates->y[row] == y);
    coordinates_destroy(coordinates);
}

static void refuse_text(const char *text, uint64_t line, uint64_t column, const char *word)
{
    for (size_t piece = 1; piece < 200; piece += 66) {
        struct coordinates *coordinates = NULL;
        struct problem problem = {0};

        assert_int_equal(read_pieces(text, piece, &coordinates, &problem), STATUS_BAD_COORDINATES);
        assert_int_equal(problem.status, STATUS_BAD_COORDINATES);
        if (strstr(problem.detail, word) == NULL || problem.line != line ||
            problem.column != column) {
            fail_msg("%s: %d:%d %s", text, (int)problem.line, (int)problem.column, problem.detail);
        }
    }
}

TEST(dimacs_coordinates_are_in_microdegrees)
{
    check_place("c road\np aux sp co 2\nv 1 -73530767 41085396\nv 3 180000000 -90000000\n", false,
                2, 0, -73.530767, 41.085396);
    check_place("p aux sp co 1\r\nv 2 5 6\r\n", false, 1, 1, 5e-6, 6e-6);
}

TEST(dimacs_coordinates_beyond_the_degree_range_are_read_as_planar)
{
    check_place("p aux sp co 2\nv 1 5 6\nv 2 0 90000001\n", true, 2, 0, 5, 6);
}

TEST(csv_columns_are_found_by_their_header)
{
    check_place("Vertex,lon,lat\n1,7.5,46.25\n2,,\n", false, 1, 0, 7.5, 46.25);
    check_place("\xEF\xBB\xBFlat;osmid;note;longitude\n46.25;4;x;7.5\n", false, 1, 3, 7.5, 46.25);
    check_place("# places\n\nid\tx\ty\n3\t1e3\t-2\n", true, 1, 2, 1000, -2);
    check_place("vertex,lon,lat\n", false, 0, 2, NAN, NAN);
    check_place("name,x,y,lon,lat\n\"c d\",1,2,3,4\n#!\n", false, 1, 2, 3, 4);
}

TEST(x_and_y_columns_of_osmnx_are_read_as_degrees)
{
    check_place("osmid,y,x\n3,46.25,7.5\n", false, 1, 2, 7.5, 46.25);
    check_place("osmid,y,x\n3,46.25,7.5\n4,5200000,300000\n", true, 2, 2, 7.5, 46.25);
    check_place("id,y,x\n3,46.25,7.5\n", true, 1, 2, 7.5, 46.25);
}

TEST(invalid_coordinates_are_refused_with_their_line_number)
{
    refuse_text("p aux sp co 2\nv 1 5 6\n", 0, 0, "declares 2 vertices, but 1 were found");
    refuse_text("p aux sp co 1\nv 9 5 6\n", 2, 3, "'9'");
    refuse_text("p aux sp co 1\nv 1 5 east\n", 2, 7, "not a number");
    refuse_text("p aux sp co 1\nv 1 5 6 7\n", 2, 1, "neither");
    refuse_text("p sp 1 1\na 1 2 3\n", 1, 1, "neither 'p aux sp co N'");
    refuse_text("v 1 5 6\n", 1, 1, "neither");
    refuse_text("p aux sp co 1\nc\nc one\ncone\n", 4, 1, "neither");
    refuse_text("vertex,lon,lat\n1,181,0\n", 2, 1, "longitude must be");
    refuse_text("vertex,lon,lat\n1,1,2\n1,1,2\n", 3, 1, "already");
    refuse_text("vertex,lon,lat\n1,east,2\n", 2, 3, "not a number");
    refuse_text("vertex,lon,lat\n1,2\n", 2, 3, "too few");
    refuse_text("vertex,lon,lat\n5,2,3\n", 2, 1, "'5'");
    refuse_text("vertex,x,y\n1,1e101,3\n", 2, 1, "1e100");
    refuse_text("\n\n", 0, 0, "no coordinates");
    refuse_text("c nothing\n", 0, 0, "no coordinates");
    refuse_text("1,7.5,46.25\n", 1, 1, "does not name the columns");
    refuse_text("{\"type\":\"FeatureCollection\",\"features\":[]}", 1, 1, "GeoJSON");
}
