/* The constant table of all configuration keys, and the texts printed from it. Any thread. */
#pragma once

#include "server/config.h"

void config_defaults(struct config *config);

/* Prints the whole configuration as a commented file that config_load reads back to the same
 * values. config/apspd.ini is this text with the defaults. */
void config_print(const struct config *config, FILE *stream);
typedef void config_report(const char *section, const char *key, const char *value,
                           const char *old);
/* Calls report for each key whose value differs from its value in `file`, the configuration read
 * from the file alone. */
void config_compare(const struct config *config, const struct config *file, config_report *report);
/* Prints the flags of the program with their defaults, for --help. */
void config_print_help(enum config_program program, FILE *stream);

/* config_load uses the functions below to find keys in the table and to parse their values. */
struct config_option;
/* Returns the table's entry for a key, or NULL if the program has no such key. */
const struct config_option *config_option_find(enum config_program program, const char *section,
                                               size_t section_size, const char *key);
/* Parses and stores the value. origin: the file and line, environment variable or flag that the
 * value came from. STATUS_CONFIG with key, value and range in the problem. */
MUST_CHECK enum status config_option_set(struct config *config, const struct config_option *option,
                                         const char *value, const char *origin,
                                         struct problem *reterr);
/* Parses a decimal number; with `bytes`, KiB, MiB, GiB or TiB may follow. False if invalid. */
bool config_parse_number(const char *text, bool bytes, uint64_t *ret_value);
