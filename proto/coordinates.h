/* Coordinates of a graph's vertices: longitude and latitude in degrees, or points of a plane. One
 * thread fills in x and y; after coordinates_complete any thread may read the object. */
#pragma once

#include "proto/status.h"

#include <stdbool.h>
#include <stdint.h>

/* Mean radius of the Earth in metres (IUGG 1980, R1), for distances on the sphere. */
#define COORDINATES_EARTH_RADIUS 6371008.8
/* Largest |x| and |y| accepted for a plane, in files and queries, so that no square overflows. */
#define COORDINATES_LIMIT 1e100

struct coordinates {
    uint32_t count;     /* number of vertices of the graph */
    uint32_t located;   /* number of vertices that have coordinates */
    bool is_plane;      /* true: points of a plane, without a unit; false: longitude and latitude */
    double *x;          /* x of each row; not-a-number where the vertex has no coordinates */
    double *y;          /* y of each row, in the same allocation as x */
    double (*point)[3]; /* search point of each row: on the unit sphere, or in the plane at z = 0 */
};

/* Creates the object for `count` vertices, none of which has coordinates yet. */
MUST_CHECK enum status coordinates_create(uint32_t count, struct coordinates **ret_coordinates);
void coordinates_destroy(struct coordinates *coordinates);

bool coordinates_has(const struct coordinates *coordinates, uint32_t row);
/* Returns whether x is a longitude from -180 to 180 and y a latitude from -90 to 90. */
bool coordinates_are_degrees(double x, double y);
/* Counts located vertices and computes search points. Call it after the last change of x and y. */
void coordinates_complete(struct coordinates *coordinates);
/* Finds the vertex nearest to the point (x, y), or the first of several. ret_distance: in metres
 * along the great circle, or in the plane. Returns false if no vertex has coordinates. */
bool coordinates_nearest(const struct coordinates *coordinates, double x, double y,
                         uint32_t *ret_row, double *ret_distance);
