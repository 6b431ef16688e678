/* Writes a graph edge by edge in a graph format, through a buffer of one MiB. */
#pragma once

#include "proto/format.h"
#include "proto/text.h"
#include "server/command/output_file.h"

struct edge_output {
    struct output_file file;
    enum format format;
    bool thousandths; /* weights are counted in thousandths and written as decimals */
    uint64_t written;
    struct text text;
    struct problem *reterr;
};

/* Zeroed by the caller before. The counts go into the header of formats that have one. nthu takes
 * integers and fewer than 2^31 vertices and edges: STATUS_BAD_PARAMETER otherwise. */
/* dimacs, edges, json and nthu. */
bool edge_output_writes(enum format format);

MUST_CHECK enum status edge_output_open(struct edge_output *output, const char *path,
                                        uint32_t vertex_count, uint64_t edge_count,
                                        struct problem *reterr);
/* Has the type of generate_sink.take; context is the output. */
MUST_CHECK enum status edge_output_take(void *context, uint32_t source, uint32_t target,
                                        uint64_t weight);
MUST_CHECK enum status edge_output_commit(struct edge_output *output, struct problem *reterr);
void edge_output_finish(struct edge_output *output);
