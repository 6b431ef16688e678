/* Reads a command's graph, and defines the flags that control how it is read. Main thread. */
#pragma once

#include "proto/graph.h"
#include "server/command/command.h"

/* Indexes of the flags that come first, in this order, in every command that reads a graph. */
enum graph_input_flag {
    GRAPH_INPUT_FROM,
    GRAPH_INPUT_DIRECTED,
    GRAPH_INPUT_WEIGHT,
    GRAPH_INPUT_N,
    GRAPH_INPUT_CHARSET,
    GRAPH_INPUT_SOURCE_COLUMN,
    GRAPH_INPUT_TARGET_COLUMN,
    GRAPH_INPUT_DECIMAL,
    GRAPH_INPUT_NO_EDGE,
    GRAPH_INPUT_COUNT
};

#define GRAPH_INPUT_FORMATS                                                                        \
    "Format of the graph: dimacs, mtx, metis, edges, matrix, json, jgf,\n"                         \
    "      graphml, npy, nthu. Default: by the file extension, else the first bytes."
/* The flags after --from; each is also an upload parameter of the service. */
#define GRAPH_INPUT_PARAMETERS(at)                                                                 \
    [at +                                                                                          \
        GRAPH_INPUT_DIRECTED] = {"directed", "true|false",                                         \
                                 "Whether edges are directed. Default: as in the file, else\n"     \
                                 "      true."},                                                   \
        [at + GRAPH_INPUT_WEIGHT] = {"weight", "NAME",                                             \
                                     "Column or attribute that holds the weights."},               \
        [at + GRAPH_INPUT_N] = {"n", "N", "Number of vertices, whose names are 0 to N-1."},        \
        [at + GRAPH_INPUT_CHARSET] = {"charset", "NAME", "Charset of the text. Default: utf-8."},  \
        [at +                                                                                      \
            GRAPH_INPUT_SOURCE_COLUMN] = {"source_column", "NAME", "Column of source vertices."},  \
        [at +                                                                                      \
            GRAPH_INPUT_TARGET_COLUMN] = {"target_column", "NAME", "Column of target vertices."},  \
        [at + GRAPH_INPUT_DECIMAL] = {"decimal", ".|,", "Decimal separator. Default: a point."},   \
        [at + GRAPH_INPUT_NO_EDGE] = {                                                             \
            "no_edge", "VALUE", "Weight that marks a missing edge, or none if no weight does."}

#define GRAPH_INPUT_FLAGS                                                                          \
    [GRAPH_INPUT_FROM] = {"from", "FORMAT", GRAPH_INPUT_FORMATS},                                  \
    GRAPH_INPUT_PARAMETERS(GRAPH_INPUT_FROM)

/* Reads the graph in the call's first operand, compressed or not; "-" is standard input. Sets
 * problem_path if a problem concerns the content. Prints warnings to standard error and stores them
 * in the call. */
MUST_CHECK enum status graph_input_read(struct command_call *call, struct graph **ret_graph,
                                        struct problem *reterr);
