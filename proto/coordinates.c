#include "proto/coordinates.h"

#include <math.h>

enum status coordinates_create(uint32_t count, struct coordinates **ret_coordinates)
{
    struct coordinates *coordinates = calloc(1, sizeof(*coordinates));
    if (coordinates == NULL) {
        return STATUS_NO_MEMORY;
    }
    coordinates->count = count;
    coordinates->x = malloc(2 * (count + (size_t)1) * sizeof(double));
    coordinates->point = malloc((count + (size_t)1) * sizeof(*coordinates->point));
    if (coordinates->x == NULL || coordinates->point == NULL) {
        coordinates_destroy(coordinates);
        return STATUS_NO_MEMORY;
    }
    coordinates->y = coordinates->x + count;
    for (uint32_t row = 0; row < count; row++) {
        coordinates->x[row] = coordinates->y[row] = (double)NAN;
    }
    *ret_coordinates = coordinates;
    return STATUS_OK;
}

void coordinates_destroy(struct coordinates *coordinates)
{
    if (coordinates != NULL) {
        free(coordinates->x);
        free(coordinates->point);
        free(coordinates);
    }
}

bool coordinates_has(const struct coordinates *coordinates, uint32_t row)
{
    return !isnan(coordinates->x[row]);
}

bool coordinates_are_degrees(double x, double y)
{
    return fabs(x) <= 180 && fabs(y) <= 90;
}

static void find_point(bool is_plane, double x, double y, double ret_point[3])
{
    const double radian = M_PI / 180;
    ret_point[0] = is_plane ? x : cos(y * radian) * cos(x * radian);
    ret_point[1] = is_plane ? y : cos(y * radian) * sin(x * radian);
    ret_point[2] = is_plane ? 0 : sin(y * radian);
}

void coordinates_complete(struct coordinates *coordinates)
{
    coordinates->located = 0;
    for (uint32_t row = 0; row < coordinates->count; row++) {
        coordinates->located += coordinates_has(coordinates, row);
        find_point(coordinates->is_plane, coordinates->x[row], coordinates->y[row],
                   coordinates->point[row]);
    }
}

/* Scans all vertices: a million take a few milliseconds, and an index would need more memory. On
 * the sphere it compares chords. A chord grows with its arc, needs no special cases at the
 * antimeridian and the poles, and is accurate for short distances. Vertices without coordinates are
 * never nearest, because comparisons with not-a-number are false. */
bool coordinates_nearest(const struct coordinates *coordinates, double x, double y,
                         uint32_t *ret_row, double *ret_distance)
{
    double place[3];
    double least = INFINITY;
    uint32_t nearest = 0;
    if (coordinates->located == 0) {
        return false;
    }
    find_point(coordinates->is_plane, x, y, place);
    for (uint32_t row = 0; row < coordinates->count; row++) {
        const double dx = coordinates->point[row][0] - place[0];
        const double dy = coordinates->point[row][1] - place[1];
        const double dz = coordinates->point[row][2] - place[2];
        const double square = dx * dx + dy * dy + dz * dz;
        if (square < least) {
            least = square;
            nearest = row;
        }
    }
    *ret_distance = coordinates->is_plane
                        ? hypot(coordinates->x[nearest] - x, coordinates->y[nearest] - y)
                        : 2 * COORDINATES_EARTH_RADIUS * asin(fmin(1, sqrt(least) / 2));
    *ret_row = nearest;
    return true;
}
