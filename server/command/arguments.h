/* The command line of one subcommand: flags by its table, operands by its count. */
#pragma once

#include "server/command/command.h"

#include "proto/format.h"

/* argv: what the configuration left, the command's name first. Fills operands and values of the
 * call, which point into argv. STATUS_UNKNOWN_PARAMETER or STATUS_BAD_PARAMETER otherwise. */
MUST_CHECK enum status arguments_parse(const struct command *command, int argc, char **argv,
                                       struct command_call *call, struct problem *reterr);
void arguments_print_help(const struct command *command, FILE *stream);

/* The value of a flag in its type, STATUS_BAD_PARAMETER with its range otherwise. A flag that was
 * not given (text is NULL) leaves ret_value as it is. */
MUST_CHECK enum status arguments_number(const char *name, const char *text, uint64_t min,
                                        uint64_t max, uint64_t *ret_value, struct problem *reterr);
MUST_CHECK enum status arguments_bool(const char *name, const char *text, bool *ret_value,
                                      struct problem *reterr);
MUST_CHECK enum status arguments_kind(const char *name, const char *text, enum kind *ret_kind,
                                      struct problem *reterr);
/* Not given: by the ending of path, FORMAT_NONE when that says nothing. */
MUST_CHECK enum status arguments_format(const char *name, const char *text, const char *path,
                                        bool matrix_output, enum format *ret_format,
                                        struct problem *reterr);
