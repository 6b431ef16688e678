#include "proto/coordinates.h"
#include "tests/lib/test.h"

#include <math.h>

#define COUNT 500

static struct coordinates *make(bool is_plane, uint32_t count, double places[][2])
{
    struct coordinates *coordinates = NULL;

    assert_int_equal(coordinates_create(count, &coordinates), STATUS_OK);
    coordinates->is_plane = is_plane;
    for (uint32_t row = 0; row < count; row++) {
        coordinates->x[row] = places[row][0];
        coordinates->y[row] = places[row][1];
    }
    coordinates_complete(coordinates);
    return coordinates;
}

static double haversine(double x, double y, const double place[2])
{
    const double radian = M_PI / 180;
    const double a = sin((place[1] - y) * radian / 2);
    const double b = sin((place[0] - x) * radian / 2);
    const double square = a * a + cos(y * radian) * cos(place[1] * radian) * b * b;

    return 2 * COORDINATES_EARTH_RADIUS * asin(fmin(1, sqrt(square)));
}

static void check_nearest(const struct coordinates *coordinates, double x, double y, uint32_t row,
                          double distance)
{
    uint32_t found;
    double length;

    assert_true(coordinates_nearest(coordinates, x, y, &found, &length));
    assert_int_equal(found, row);
    assert_true(fabs(length - distance) <= 1e-6 * (1 + distance));
}

TEST(the_nearest_vertex_equals_the_result_of_a_linear_search)
{
    static double places[COUNT][2];
    unsigned short seed[3] = {1, 2, 3};

    for (uint32_t row = 0; row < COUNT; row++) {
        places[row][0] = erand48(seed) * 360 - 180;
        places[row][1] = erand48(seed) * 180 - 90;
    }
    struct coordinates *coordinates = make(false, COUNT, places);
    for (unsigned i = 0; i < 200; i++) {
        const double x = erand48(seed) * 360 - 180;
        const double y = i % 4 == 0 ? 89.5 : erand48(seed) * 180 - 90;
        uint32_t best = 0;

        for (uint32_t row = 1; row < COUNT; row++) {
            best = haversine(x, y, places[row]) < haversine(x, y, places[best]) ? row : best;
        }
        check_nearest(coordinates, x, y, best, haversine(x, y, places[best]));
    }
    coordinates_destroy(coordinates);
}

TEST(the_nearest_vertex_may_be_across_the_antimeridian_or_a_pole)
{
    double places[][2] = {{-179.9, 0}, {170, 0}, {10, 89.9}, {0, 80}, {0, -90}};
    struct coordinates *coordinates = make(false, 5, places);

    check_nearest(coordinates, 179.9, 0, 0, haversine(179.9, 0, places[0]));
    check_nearest(coordinates, -170, 89.5, 2, haversine(-170, 89.5, places[2]));
    check_nearest(coordinates, 123, -90, 4, 0);
    coordinates_destroy(coordinates);
}

TEST(the_first_of_equally_near_vertices_in_a_plane_is_returned)
{
    double places[][2] = {{(double)NAN, (double)NAN}, {3, 4}, {-3, -4}, {900, 0}};
    struct coordinates *coordinates = make(true, 4, places);

    assert_int_equal(coordinates->located, 3);
    assert_false(coordinates_has(coordinates, 0));
    check_nearest(coordinates, 0, 0, 1, 5);
    check_nearest(coordinates, 1000, 0, 3, 100);
    coordinates_destroy(coordinates);
}

TEST(a_graph_without_coordinates_has_no_nearest_vertex)
{
    double places[][2] = {{(double)NAN, (double)NAN}};
    uint32_t row;
    double distance;

    for (uint32_t count = 0; count < 2; count++) {
        struct coordinates *coordinates = make(false, count, places);

        assert_false(coordinates_nearest(coordinates, 0, 0, &row, &distance));
        coordinates_destroy(coordinates);
    }
}
