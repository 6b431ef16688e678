/* The formats by name, media type and file ending: what is read, what is written. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum format {
    FORMAT_NONE = 0,
    FORMAT_DIMACS,
    FORMAT_MTX,
    FORMAT_METIS,
    FORMAT_EDGES,
    FORMAT_MATRIX,
    FORMAT_NTHU,
    FORMAT_JSON,
    FORMAT_JGF,
    FORMAT_GRAPHML,
    FORMAT_NPY,
    FORMAT_RAW,
    FORMAT_CSV,
    FORMAT_NDJSON,
    FORMAT_COUNT
};

struct format_info {
    const char *name;            /* as in ?format= */
    const char *description;     /* one line for people */
    const char *media_types[4];  /* first is canonical; NULL ends the list */
    const char *file_endings[8]; /* without the dot; NULL ends the list */
    bool graph_input;
    bool matrix_output;
    bool sniffed;                  /* told by its first bytes */
    const char *const *parameters; /* of an upload, beside format and name; NULL ends the list */
};

/* NULL for FORMAT_NONE. */
const struct format_info *format_info(enum format format);
enum format format_from_name(const char *name);
/* Whether it is the wanted one. Parameters after ';' and case do not count; NULL is none. */
bool format_media_type_is(const char *media_type, const char *wanted);
enum format format_from_media_type(const char *media_type);
/* By the ending of a file name, for the direction wanted. */
enum format format_from_path(const char *path, bool matrix_output);
/* A media type that says nothing: absent, curl's form default, octet-stream or plain text. */
bool format_media_type_is_vague(const char *media_type);
