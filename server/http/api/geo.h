/* Coordinates borrowed from the graph cache for one answer, and the parts of GeoJSON (RFC 7946)
 * made from them. Used by the thread of the connection. */
#pragma once

#include "server/http/transport/stream.h"
#include "server/store/graph_cache.h"

/* Index of GeoJSON among the media types that a route offers; JSON has index 0. */
#define GEO_OFFER 1
/* Size of the tag of coordinates: 16 hexadecimal digits and a NUL. */
#define GEO_ETAG_SIZE 17

/* The coordinates that an answer has borrowed; a zeroed struct has borrowed none. */
struct geo {
    struct graph_cache *cache;
    const struct located_graph *graph;
};

/* Borrows a graph's coordinates, or returns STATUS_NO_COORDINATES with a hint. If the graph's file
 * is damaged, notifies the scheduler. */
MUST_CHECK enum status geo_borrow(const struct request *request, const char *graph_id,
                                  struct geo *geo, struct problem *reterr);
/* Gives borrowed coordinates back. context is a struct geo, as for a stream's close function. */
void geo_give_back(void *context);
/* Borrows the coordinates of the result's graph if the client prefers GeoJSON, and adds their tag
 * to the answer's ETag. */
MUST_CHECK enum status geo_borrow_for_stream(struct stream *stream, struct geo *geo,
                                             struct problem *reterr);
/* Prints the tag of the coordinates. */
void geo_print_etag(const struct geo *geo, char ret_etag[GEO_ETAG_SIZE]);

bool geo_has(const struct geo *geo, uint32_t row);
/* Appends x and y, or longitude and latitude, with the separator between them. */
void geo_append_position(const struct geo *geo, uint32_t row, const char *separator,
                         struct text *text);
/* Returns whether the shorter arc between two vertices crosses the antimeridian. */
bool geo_crosses(const struct geo *geo, uint32_t from, uint32_t to);
/* Ends a line at the antimeridian and begins another on the other side (RFC 7946 section 3.1.9). */
void geo_append_crossing(const struct geo *geo, uint32_t from, uint32_t to, struct text *text);
/* Appends the start of a vertex's feature, up to the comma before further properties. */
void geo_append_point(const struct geo *geo, uint32_t row, struct text *text);
