/* The graph that a command reads, and the flags that say how. */
#pragma once

#include "proto/graph.h"
#include "server/command/command.h"

/* Places of the flags that every command that reads a graph has first, in this order. */
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
    "      graphml, npy, nthu. Else the file's ending, else its first bytes decide."
/* The flags that are also parameters of the service, behind the one of the format. */
#define GRAPH_INPUT_PARAMETERS(at)                                                                 \
    [at + GRAPH_INPUT_DIRECTED] = {"directed", "true|false",                                       \
                                   "Whether edges lead one way; else what the format says, else\n" \
                                   "      true."},                                                 \
          [at + GRAPH_INPUT_WEIGHT] = {"weight", "NAME",                                           \
                                       "Column or attribute to take the weights from."},           \
          [at + GRAPH_INPUT_N] = {"n", "N", "The vertices are 0..N-1."},                           \
          [at +                                                                                    \
              GRAPH_INPUT_CHARSET] = {"charset", "NAME", "Charset of the text. Default: utf-8."},  \
          [at + GRAPH_INPUT_SOURCE_COLUMN] = {"source_column", "NAME", "Column of the sources."},  \
          [at + GRAPH_INPUT_TARGET_COLUMN] = {"target_column", "NAME", "Column of the targets."},  \
          [at + GRAPH_INPUT_DECIMAL] = {"decimal", ".|,", "Sign in decimals. Default: a point."},  \
          [at + GRAPH_INPUT_NO_EDGE] = {"no_edge", "VALUE",                                        \
                                        "Weight that stands for no edge, or none."}

#define GRAPH_INPUT_FLAGS                                                                          \
    [GRAPH_INPUT_FROM] = {"from", "FORMAT", GRAPH_INPUT_FORMATS},                                  \
    GRAPH_INPUT_PARAMETERS(GRAPH_INPUT_FROM)

/* Reads the call's first operand, "-" being standard input, compressed or not. A problem about its
 * content has the path in the call. Warnings are on standard error, and in the call. */
MUST_CHECK enum status graph_input_read(struct command_call *call, struct graph **ret_graph,
                                        double *ret_seconds, struct problem *reterr);
