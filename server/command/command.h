/* A subcommand of apsp: its arguments, the JSON that it prints, and the signals that end it. */
#pragma once

#include "proto/format.h"
#include "proto/warning.h"
#include "server/config.h"
#include "server/solver/ranks.h"

#include <jansson.h>

#define COMMAND_FLAG_LIMIT 20
#define COMMAND_OPERAND_LIMIT 3
/* Ends a line of progress on a terminal, and clears it: only where command_shows_progress. */
#define WIPE_LINE "\r\033[K"

struct client;

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
    /* A command that asks a service runs by client_run, which calls this; NULL in others. */
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
/* The commands that ask a running service, from submit on: NULL-terminated, empty without libcurl.
 */
extern const struct command *const command_client_list[];

/* argv: the command's name, then what the configuration left. operands and values point into it.
 * STATUS_UNKNOWN_PARAMETER, STATUS_BAD_PARAMETER. */
MUST_CHECK enum status command_parse(struct command_call *call, int argc, char **argv);
void command_print_help(const struct command *command, FILE *stream);
/* Prints text that a service or a file may have chosen: control characters are escaped as in JSON,
 * so that a terminal shows them and does not obey them. */
void command_print_text(const char *bytes, size_t size, FILE *stream);
void command_print_string(const char *string, FILE *stream);
/* The same on standard error, a line each: what happened and, unless it is empty, what to do. */
void command_print_advice(const char *detail, const char *hint);
/* Prints a document as one line, as command_print_text does; takes it. STATUS_NO_MEMORY when it is
 * NULL, STATUS_IO. */
MUST_CHECK enum status command_print_json(json_t *document, FILE *stream, struct problem *reterr);

/* Values of flags. A flag that was not given has the fallback, KIND_AUTO, or the format that the
 * ending of path names (FORMAT_NONE where it names none). */
uint64_t command_number(struct command_call *call, int flag, uint64_t min, uint64_t max,
                        uint64_t fallback);
enum kind command_kind(struct command_call *call, int flag);
enum format command_format(struct command_call *call, int flag, const char *path,
                           bool matrix_output);
/* Notes STATUS_BAD_PARAMETER: the flag, its value, and what it must be. */
void command_refuse_value(struct command_call *call, int flag, const char *wanted);

/* The format of a matrix that is written to path: npy where the path has no ending. Refuses an
 * ending that names no format, since a large matrix in an unexpected format is found out too late,
 * and binary on standard output where that is a terminal, but for the flag force. */
MUST_CHECK enum status command_output_format(struct command_call *call, int to, int force,
                                             const char *path, enum format *ret_format,
                                             struct problem *reterr);

/* Whether standard error is a terminal that takes escapes: NO_COLOR and TERM=dumb say that it does
 * not. */
bool command_shows_progress(void);
/* Draws the line of progress; left_s: seconds, below 0 where they are not known. */
void command_draw_progress(const char *phase, double share, double left_s);
/* From now on the first SIGINT or SIGTERM is noted, so that unfinished files are removed; a second
 * one ends the process. */
void command_watch_signals(void);
bool command_interrupted(void);
/* The same for struct observer; context is not used. */
bool command_cancelled(void *context);
