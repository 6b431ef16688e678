/* The places of the vertices that an answer in GeoJSON (RFC 7946) names. */
#pragma once

#include "server/http/request/request.h"
#include "server/store/coordinates_cache.h"

/* The offer of GeoJSON, behind that of JSON. */
#define GEO_OFFER 1
#define GEO_TYPE "application/geo+json"

/* Zeroed it lends nothing. */
struct geo {
    struct coordinates_cache *cache;
    struct located_graph *graph; /* lent */
};

/* Borrows those of the graph of the request's result. STATUS_NO_COORDINATES with a hint. */
MUST_CHECK enum status geo_borrow(const struct request *request, struct geo *geo,
                                  struct problem *reterr);
/* After STATUS_CORRUPT from the cache: of its two files the damaged one is noted. */
void geo_note_damage(const struct http_context *http_context, const char *graph_id);
void geo_give_back(struct geo *geo);
/* request_tag of a representation that changes with the coordinates too. */
bool geo_tag(struct request *request, const struct geo *geo, const char *representation);

bool geo_has(const struct geo *geo, uint32_t row);
/* Appends [longitude,latitude]. */
void geo_append_position(const struct geo *geo, uint32_t row, struct text *text);
/* Appends the members of a feature that is this vertex, up to its properties: a comma follows. */
void geo_append_point(const struct geo *geo, uint32_t row, struct text *text);
