/* Subcommands of apsp: arguments, JSON output and signals. Everything here runs on the main thread,
 * except command_interrupted and command_cancelled, which any thread may call. */
#pragma once

#include "proto/format.h"
#include "proto/warning.h"
#include "server/config.h"

#include <jansson.h>

#define COMMAND_FLAG_LIMIT 20
#define COMMAND_GRAPH_FORMATS "dimacs, mtx, metis, edges, matrix, json, jgf, graphml, npy, nthu"
#define COMMAND_MATRIX_FORMATS "npy, raw, nthu, json, csv, ndjson, mtx"
#define COMMAND_OPERAND_LIMIT 3
/* Clears the progress line on a terminal; used only if command_shows_progress returns true. */
#define WIPE_LINE "\r\033[K"

struct client;

struct command_flag {
    const char *name;  /* name without the dashes */
    const char *value; /* name of the value in --help; NULL: the flag is a switch */
    const char *help;  /* lines of at most 74 columns; all but the first are indented by 6 */
};

/* Arguments and results of one run. The first invalid value sets status and problem, and every
 * invalid value yields its default, so a command can read all its values and then check status. */
struct command_call {
    const struct command *command;
    const struct config *config;
    const char *operands[COMMAND_OPERAND_LIMIT];
    const char *values[COMMAND_FLAG_LIMIT]; /* indexed by flag; NULL: not given; "" for a switch */
    enum status status;
    struct problem *problem;
    const char *problem_path; /* file that the problem refers to, or NULL */
    struct warnings warnings; /* warnings about the graph that was read */
    struct ranks *ranks;      /* ranks that solve together; NULL: a single process */
    int exit_code;            /* exit code that overrides the status's; 0: no override */
};

struct command {
    const char *name;
    const char *operand_names[COMMAND_OPERAND_LIMIT]; /* names of the operands; ends with NULL */
    const char *summary;                              /* lines of at most 80 columns */
    const struct command_flag *flags;                 /* flags; the last has a NULL name */
    enum status (*run)(struct command_call *call, struct problem *reterr);
    /* Used by commands whose run is client_run, which calls ask. NULL for other commands. */
    enum status (*ask)(struct client *client, struct problem *reterr);
};

extern const struct command command_solve;
extern const struct command command_verify;
extern const struct command command_generate;
extern const struct command command_bench;
extern const struct command command_plan;
extern const struct command command_submit;
extern const struct command command_wait;
extern const struct command command_graphs;
extern const struct command command_rm;
extern const struct command command_ask;
extern const struct command command_get;
/* The commands that use a running service, NULL-terminated; empty without libcurl. */
extern const struct command *const command_client_list[];

/* Parses argv: the command's name, then the arguments that the configuration did not use. operands
 * and values borrow from argv. STATUS_UNKNOWN_PARAMETER, STATUS_BAD_PARAMETER. */
MUST_CHECK enum status command_parse(struct command_call *call, int argc, char **argv);
void command_print_help(const struct command *command, FILE *stream);
/* Prints text from a service or a file with control characters escaped as in JSON, so that a
 * terminal does not interpret them. */
void command_print_text(const char *bytes, size_t size, FILE *stream);
void command_print_string(const char *string, FILE *stream);
/* Prints the detail and, unless it is empty, the hint to standard error, one line each, escaped. */
void command_print_advice(const char *detail, const char *hint);
/* Prints a document as one escaped line and releases it. STATUS_NO_MEMORY when the document is
 * NULL, STATUS_IO. */
MUST_CHECK enum status command_print_json(json_t *document, FILE *stream, struct problem *reterr);

/* These functions return the value of a flag. Without the flag they return the fallback, KIND_AUTO,
 * or the format of the path's extension (FORMAT_NONE if unknown). */
uint64_t command_number(struct command_call *call, int flag, uint64_t min, uint64_t max,
                        uint64_t fallback);
enum kind command_kind(struct command_call *call, int flag);
enum format command_format(struct command_call *call, int flag, const char *path,
                           bool matrix_output);
/* Records STATUS_BAD_PARAMETER with the flag, its value, and `wanted`, the allowed values. */
void command_refuse_value(struct command_call *call, int flag, const char *wanted);

/* Chooses the format of a matrix written to path; npy if the file name has no extension. Refuses
 * binary output to a terminal, and an unknown extension, because a wrong format of a large matrix
 * would be noticed late. */
MUST_CHECK enum status command_output_format(struct command_call *call, int to, const char *path,
                                             enum format *ret_format, struct problem *reterr);

/* Returns whether standard error is a terminal that accepts escapes, and neither NO_COLOR nor
 * TERM=dumb is set. */
bool command_shows_progress(void);
/* Draws the progress bar. left_s: estimated seconds left; below 0: unknown. */
void command_draw_progress(const char *phase, double share, double left_s);
/* Catches the first SIGINT or SIGTERM, so that unfinished files can be removed; a second one kills
 * the process. */
void command_watch_signals(void);
bool command_interrupted(void);
/* Waits until a read of the file does not block. STATUS_CANCELLED after the first signal, even if
 * it arrives just before the wait. */
MUST_CHECK enum status command_wait_for_input(int file);
/* Does the same as command_interrupted, as a callback of struct observer; context is unused. */
bool command_cancelled(void *context);
