/* Coordinates lent to an answer, and the parts of GeoJSON (RFC 7946) that are made of them. */
#pragma once

#include "server/http/transport/stream.h"
#include "server/store/graph_cache.h"

/* Index of GeoJSON among the media types that a route offers; JSON is 0. */
#define GEO_OFFER 1
/* 16 hexadecimal digits, NUL */
#define GEO_ETAG_SIZE 17

/* Zeroed it lends nothing. */
struct geo {
    struct graph_cache *cache;
    const struct located_graph *graph;
};

/* STATUS_NO_COORDINATES with a hint. Of a graph whose file is damaged the scheduler is told. */
MUST_CHECK enum status geo_borrow(const struct request *request, const char *graph_id,
                                  struct geo *geo, struct problem *reterr);
void geo_give_back(struct geo *geo);
/* Borrows those of the graph of the stream's result, if the client prefers GeoJSON. The tag of the
 * answer then changes with the coordinates too. */
MUST_CHECK enum status geo_borrow_for_stream(struct stream *stream, struct geo *geo,
                                             struct problem *reterr);
/* The tag of the coordinates alone. */
void geo_print_etag(const struct geo *geo, char ret_etag[GEO_ETAG_SIZE]);

bool geo_has(const struct geo *geo, uint32_t row);
/* Appends x and y, or longitude and latitude, with the separator between them. */
void geo_append_position(const struct geo *geo, uint32_t row, const char *separator,
                         struct text *text);
/* Whether the short way between two vertices in degrees crosses the antimeridian. */
bool geo_crosses(const struct geo *geo, uint32_t from, uint32_t to);
/* Appends the end of a line at the antimeridian, and the begin of the next one there (RFC 7946,
 * 3.1.9). */
void geo_append_crossing(const struct geo *geo, uint32_t from, uint32_t to, struct text *text);
/* Appends the members of a feature that is this vertex, up to its properties: a comma follows. */
void geo_append_point(const struct geo *geo, uint32_t row, struct text *text);
