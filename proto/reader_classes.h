/* The readers, and what they share: only reader.c and the readers themselves include this. */
#pragma once

#include "proto/reader.h"

extern const struct reader_class reader_dimacs_class;
extern const struct reader_class reader_edges_class;
extern const struct reader_class reader_nthu_class;
extern const struct reader_class reader_graphml_class;
extern const struct reader_class reader_json_class;
extern const struct reader_class reader_jgf_class;
extern const struct reader_class reader_mtx_class;
extern const struct reader_class reader_metis_class;
extern const struct reader_class reader_npy_class;

/* Puts a failure of graph_builder_add_* into words, without a line; false when it did not fail. */
bool reader_add_failed(enum status status, const struct graph_options *options,
                       struct problem *reterr);

/* STATUS_TOO_LARGE when the options do not admit that many edges. */
MUST_CHECK enum status reader_admit_edges(const struct graph_options *options, uint64_t edge_count,
                                          struct problem *reterr);

/* STATUS_BAD_PARAMETER when the parameter n is not the count that the file announces. */
MUST_CHECK enum status reader_admit_count(const struct graph_options *options, uint64_t announced,
                                          struct problem *reterr);

/* STATUS_BAD_PARAMETER when the options name where the weights are, in a format that leaves no
 * choice.
 */
MUST_CHECK enum status reader_admit_weight_name(const struct graph_options *options,
                                                struct problem *reterr);

/* Adds an edge with its weight still in text, which stood at this column: integers exactly,
 * decimals correctly rounded; anything else is refused in words. */
MUST_CHECK enum status reader_add_edge(struct graph_builder *builder,
                                       const struct graph_options *options, const uint32_t ends[2],
                                       const char *weight, size_t size, uint64_t column,
                                       struct problem *reterr);

/* The same text as a double, exact for every integer that is taken. */
MUST_CHECK enum status reader_parse_weight(const char *weight, size_t size, uint64_t column,
                                           double *ret_weight, struct problem *reterr);
