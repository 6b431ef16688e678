/* The table of all configuration keys, and what is printed of it. */
#pragma once

#include "server/config.h"

void config_defaults(struct config *config);

/* The whole configuration as a commented file that config_load reads back to the same values:
 * config/apspd.ini is this text with the defaults. */
void config_print(const struct config *config, FILE *stream);
/* A line for each key that is another than in the configuration of the file alone. */
void config_print_overruled(const struct config *config, const struct config *of_file,
                            const char *path, FILE *stream);
/* The list of flags with defaults, for --help; all of the daemon's. */
void config_print_help(enum config_program program, FILE *stream);

/* A key of the table, and a value for it as text: of no concern to others than config_load. */
struct config_option;
/* NULL where the program has no such key. */
const struct config_option *config_option_find(enum config_program program, const char *section,
                                               size_t section_size, const char *key);
/* origin: the file and line, the environment variable or the flag that the value came from.
 * STATUS_CONFIG with key, value and range in the problem. */
MUST_CHECK enum status config_option_set(struct config *config, const struct config_option *option,
                                         const char *value, const char *origin,
                                         struct problem *reterr);
/* Digits, and where bytes may be meant KiB, MiB, GiB or TiB behind them. */
bool config_parse_number(const char *text, bool bytes, uint64_t *ret_value);
