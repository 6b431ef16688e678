#include "proto/coordinates.h"

#include <math.h>

enum status coordinates_create(uint32_t count, struct coordinates **ret_coordinates)
{
    struct coordinates *coordinates = calloc(1, sizeof(*coordinates));
    if (coordinates == NULL) {
        return STATUS_NO_MEMORY;
    }
    coordinates->count = count;
    coordinates->x = malloc((count + (size_t)1) * sizeof(double));
    coordinates->y = malloc((count + (size_t)1) * sizeof(double));
    if (coordinates->x == NULL || coordinates->y == NULL) {
        coordinates_destroy(coordinates);
        return STATUS_NO_MEMORY;
    }
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
        free(coordinates->y);
        free(coordinates->unit);
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

static void find_unit(double longitude, double latitude, double ret_unit[3])
{
    const double radian = M_PI / 180;
    ret_unit[0] = cos(latitude * radian) * cos(longitude * radian);
    ret_unit[1] = cos(latitude * radian) * sin(longitude * radian);
    ret_unit[2] = sin(latitude * radian);
}

enum status coordinates_complete(struct coordinates *coordinates)
{
    const size_t count = coordinates->count;
    double unit[3];
    if (!coordinates->is_plane && coordinates->unit == NULL) {
        coordinates->unit = malloc(3 * count * sizeof(double) + 1);
        if (coordinates->unit == NULL) {
            return STATUS_NO_MEMORY;
        }
    }
    coordinates->located = 0;
    for (uint32_t row = 0; row < count; row++) {
        coordinates->located += coordinates_has(coordinates, row);
        if (!coordinates->is_plane) {
            find_unit(coordinates->x[row], coordinates->y[row], unit);
            for (size_t axis = 0; axis < 3; axis++) {
                coordinates->unit[axis * count + row] = unit[axis];
            }
        }
    }
    return STATUS_OK;
}

/* A scan of all: a million vertices take about a millisecond, and an index would have to be kept in
 * memory beside them. A vertex without a place is not nearer than any, as not-a-number is not less.
 * The chord grows with the arc, knows no antimeridian and no poles, and is exact where it is short.
 */
bool coordinates_nearest(const struct coordinates *coordinates, double x, double y,
                         uint32_t *ret_row, double *ret_distance)
{
    const size_t count = coordinates->count;
    const double *ux = coordinates->unit;
    double square = INFINITY;
    double unit[3];
    uint32_t nearest = 0;
    if (coordinates->located == 0) {
        return false;
    }
    if (coordinates->is_plane) {
        for (uint32_t row = 0; row < count; row++) {
            const double dx = coordinates->x[row] - x;
            const double dy = coordinates->y[row] - y;
            if (dx * dx + dy * dy < square) {
                square = dx * dx + dy * dy;
                nearest = row;
            }
        }
        *ret_distance = hypot(coordinates->x[nearest] - x, coordinates->y[nearest] - y);
    } else {
        const double *uy = ux + count;
        const double *uz = uy + count;
        find_unit(x, y, unit);
        for (uint32_t row = 0; row < count; row++) {
            const double dx = ux[row] - unit[0];
            const double dy = uy[row] - unit[1];
            const double dz = uz[row] - unit[2];
            if (dx * dx + dy * dy + dz * dz < square) {
                square = dx * dx + dy * dy + dz * dz;
                nearest = row;
            }
        }
        *ret_distance = 2 * COORDINATES_EARTH_RADIUS * asin(fmin(1, sqrt(square) / 2));
    }
    *ret_row = nearest;
    return true;
}
