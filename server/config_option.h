/* The table of configuration keys, and values as text: the part of config.c that does not care
 * where a value comes from. */
#pragma once

#include "server/config.h"

/* Values and names are shown to people up to this many bytes. */
#define CONFIG_OPTION_SHOWN 80
#define CONFIG_OPTION_TEXT_SIZE 320

enum config_option_type {
    OPTION_TEXT,
    OPTION_ADDRESS, /* text: HOST:PORT or unix:PATH, or none where that is the default */
    OPTION_HOSTS,   /* text: names of hosts with blanks or commas between, or none */
    OPTION_ORIGINS, /* the same of SCHEME://HOST[:PORT], and * */
    OPTION_U32,
    OPTION_SECONDS, /* u32 */
    OPTION_U64,
    OPTION_BYTES,  /* u64, suffixes accepted */
    OPTION_CHOICE, /* an enum: the place of the word in choices */
    OPTION_WORD    /* text that is one of choices */
};

struct config_option {
    const char *section;
    const char *key;
    enum config_option_type type;
    const char *fallback; /* the default */
    uint64_t min;
    uint64_t max;
    const char *const *choices; /* ends with NULL */
    size_t offset;              /* in struct config */
    size_t size;                /* of the member: the limit when it is text */
    const char *help;
};

/* By place in the table, sections together; NULL past the end. */
const struct config_option *config_option_at(size_t index);
/* NULL when there is no such key. */
const struct config_option *config_option_find(const char *section, size_t section_size,
                                               const char *key);

/* origin: the file and line, the environment variable or the flag that the value came from.
 * STATUS_CONFIG with key, value and range in the problem. */
MUST_CHECK enum status config_option_set(struct config *config, const struct config_option *option,
                                         const char *value, const char *origin,
                                         struct problem *reterr);
/* The value as text that config_option_set reads back. */
void config_option_get(const struct config *config, const struct config_option *option,
                       char ret_text[CONFIG_OPTION_TEXT_SIZE]);
/* Describes the allowed values in words. */
void config_option_range(const struct config_option *option,
                         char ret_text[CONFIG_OPTION_TEXT_SIZE]);
