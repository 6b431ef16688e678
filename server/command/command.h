/* One subcommand of apsp: its words for --help and what runs it. */
#pragma once

#include "server/config.h"

#define COMMAND_ARGUMENT_LIMIT 16
#define COMMAND_OPERAND_LIMIT 2

/* A flag of a command. */
struct command_argument {
    const char *name;    /* without the dashes */
    const char *operand; /* what --help calls its value; NULL: a switch */
    const char *help;
};

/* What the user asked, and where a failure is told. */
struct command_call {
    const struct config *config;
    const char *operands[COMMAND_OPERAND_LIMIT];
    /* By place in the command's arguments: NULL when not given, "" for a switch. */
    const char *values[COMMAND_ARGUMENT_LIMIT];
    const char *problem_path; /* the file that a problem is about, or NULL */
    bool matrix_is_input;     /* a matrix that is not right is bad input, not a failed device */
};

struct command {
    const char *name;
    const char *operand_names[COMMAND_OPERAND_LIMIT]; /* NULL ends the list */
    const char *summary;
    const struct command_argument *arguments; /* ends with a NULL name */
    enum status (*run)(struct command_call *call, struct problem *reterr);
};

extern const struct command command_solve;
extern const struct command command_verify;
extern const struct command command_generate;
extern const struct command command_bench;
extern const struct command command_plan;
extern const struct command command_plot;
