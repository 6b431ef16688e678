/* A subcommand of apsp, the reading of its arguments and of its graph, the JSON that it prints, and
 * the signals that end it. */
#pragma once

#include "proto/format.h"
#include "proto/graph.h"
#include "proto/matrix.h"
#include "proto/text.h"
#include "proto/warning.h"
#include "server/config.h"
#include "server/solver/ranks.h"

#include <jansson.h>

#define COMMAND_FLAG_LIMIT 16
#define COMMAND_OPERAND_LIMIT 3
/* Ends a line of progress on a terminal, and clears it: only where command_shows_progress. */
#define WIPE_LINE "\r\033[K"

struct command_flag {
    const char *name;  /* without the dashes */
    const char *value; /* the name of its value in --help; NULL for a switch */
    const char *help;  /* lines of at most 74 columns; the ones after the first are indented by 6 */
};

/* The arguments of one run. A value that is wrong sets status and problem once and gives the
 * default, so that a command reads all its values and then looks at status. */
struct command_call {
    const struct command *command;
    const struct config *config;
    const char *operands[COMMAND_OPERAND_LIMIT];
    const char *values[COMMAND_FLAG_LIMIT]; /* by flag; NULL = not given, "" for a switch */
    enum status status;
    struct problem *problem;
    const char *problem_path; /* the file that a problem is about, or NULL */
    struct warnings warnings; /* about the graph that was read */
    struct ranks *ranks;      /* NULL = this process is alone */
    bool matrix_is_input;     /* a wrong matrix is bad input then, not a failed device */
    int exit_code;            /* in place of that of the status; 0 = none */
};

struct command {
    const char *name;
    const char *operand_names[COMMAND_OPERAND_LIMIT]; /* NULL ends the list */
    const char *summary;                              /* lines of at most 80 columns */
    const struct command_flag *flags;                 /* ends with a NULL name */
    enum status (*run)(struct command_call *call, struct problem *reterr);
};

extern const struct command command_solve;
extern const struct command command_verify;
extern const struct command command_generate;
extern const struct command command_bench;
extern const struct command command_plan;
/* The commands that ask a running service, in client.h: NULL-terminated. */
extern const struct command *const command_client_list[];

/* ---- completion.c ---- */

/* The lines that make a shell (bash, zsh or fish) complete commands and flags. False for another.
 */
bool command_print_completion(const char *shell, const struct command *const *commands,
                              size_t count);

/* argv: the command's name, then what the configuration left. operands and values point into it.
 * STATUS_UNKNOWN_PARAMETER, STATUS_BAD_PARAMETER. */
MUST_CHECK enum status command_parse(struct command_call *call, int argc, char **argv);
/* Prints the command with its operands. */
void command_print_call(const struct command *command, FILE *stream);
void command_print_help(const struct command *command, FILE *stream);
/* Prints a document as one line; takes it. STATUS_NO_MEMORY when it is NULL, STATUS_IO. */
MUST_CHECK enum status command_print_json(json_t *document, FILE *stream);

/* Values of flags. A flag that was not given has the fallback, KIND_AUTO, or the format that the
 * ending of path names (FORMAT_NONE where it names none). */
uint64_t command_number(struct command_call *call, int flag, uint64_t min, uint64_t max,
                        uint64_t fallback);
enum kind command_kind(struct command_call *call, int flag);
enum format command_format(struct command_call *call, int flag, const char *path,
                           bool matrix_output);
/* Notes STATUS_BAD_PARAMETER: the flag, its value, and what it must be. */
void command_refuse_value(struct command_call *call, int flag, const char *wanted);

/* Refuses a binary matrix on standard output where that is a terminal, but for the flag force. */
MUST_CHECK enum status command_check_terminal(const struct command_call *call, int force,
                                              enum format format, const char *path,
                                              struct problem *reterr);

/* Whether standard error is a terminal that takes escapes: NO_COLOR and TERM=dumb say that it does
 * not. */
bool command_shows_progress(void);
/* From now on the first SIGINT or SIGTERM is noted, so that unfinished files are removed; a second
 * one ends the process. */
void command_watch_signals(void);
bool command_interrupted(void);
/* The same for struct observer; context is not used. */
bool command_cancelled(void *context);

/* ---- Graph input ---- */

/* Places of the flags that every command that reads a graph has first, in this order. */
enum graph_input_flag {
    GRAPH_INPUT_FROM,
    GRAPH_INPUT_DIRECTED,
    GRAPH_INPUT_WEIGHT,
    GRAPH_INPUT_N,
    GRAPH_INPUT_CHARSET,
    GRAPH_INPUT_COUNT
};

#define GRAPH_INPUT_FLAGS                                                                          \
    [GRAPH_INPUT_FROM] =                                                                           \
        {"from", "FORMAT",                                                                         \
         "Format of the graph: dimacs, mtx, metis, edges, matrix, json, jgf,\n"                    \
         "      graphml, npy, nthu. Else the file's ending, else its first bytes decide."},        \
    [GRAPH_INPUT_DIRECTED] = {"directed", "true|false",                                            \
                              "Whether edges lead one way; else what the format says, else\n"      \
                              "      true."},                                                      \
    [GRAPH_INPUT_WEIGHT] = {"weight", "NAME", "Column or attribute to take the weights from."},    \
    [GRAPH_INPUT_N] = {"n", "N", "The vertices are 0..N-1."},                                      \
    [GRAPH_INPUT_CHARSET] = {"charset", "NAME", "Charset of the text. Default: utf-8."}

/* Reads the call's first operand, "-" being standard input, compressed or not. A problem about its
 * content has the path in the call. Warnings are on standard error, and in the call. */
MUST_CHECK enum status graph_input_read(struct command_call *call, struct graph **ret_graph,
                                        double *ret_seconds, struct problem *reterr);

/* ---- Output ----
 *
 * Files that a command writes, and the matrix of a solve in one of them. A regular file appears
 * under its name only when it is complete: it is written beside it as NAME.tmp and renamed.
 * Standard output ("-"), pipes and devices are written as they are. Both structs are zeroed by the
 * caller before open, so that finishing is always allowed. */

struct output_file {
    int file;         /* -1 when closed */
    const char *path; /* borrowed for the life of the struct */
    char *draft_path; /* NULL when written in place */
};

MUST_CHECK enum status output_file_open(struct output_file *output, const char *path,
                                        struct problem *reterr);
/* Writes the text and empties it, once it has at least this many bytes. STATUS_CANCELLED after a
 * signal. */
MUST_CHECK enum status output_file_flush(struct output_file *output, struct text *text,
                                         size_t least, struct problem *reterr);
/* Gives the complete file its name. */
MUST_CHECK enum status output_file_commit(struct output_file *output, struct problem *reterr);
/* Closes; a draft that was not committed is removed. */
void output_file_finish(struct output_file *output);

/* npy, raw and nthu are mapped files that the solver writes into; text formats, and outputs that
 * cannot be mapped, are memory that is written at the end. */
struct output_matrix {
    struct output_file file;
    enum format format;
    struct matrix matrix; /* its elements are inside the mapping */
    char *mapping;
    size_t mapping_size;
    int mapped_file; /* of the mapping; 0 = of none */
};

MUST_CHECK enum status output_matrix_open(struct output_matrix *output, const char *path,
                                          enum format format, enum kind kind, uint32_t vertex_count,
                                          struct problem *reterr);
/* Writes what is not in the file yet, and commits it. */
MUST_CHECK enum status output_matrix_commit(struct output_matrix *output, const struct graph *graph,
                                            struct problem *reterr);
void output_matrix_finish(struct output_matrix *output);
