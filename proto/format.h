/* The table of graph and matrix formats: names, media types, file extensions, and what each format
 * is used for. The data is constant, so any thread may read it. */
#pragma once

#include <stdbool.h>

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
    const char *name;            /* value of the parameter format= */
    const char *description;     /* description for users: one line */
    const char *media_types[4];  /* canonical media type first; NULL ends the list */
    const char *file_endings[8]; /* extensions without the dot; NULL ends the list */
    bool matrix_output;
    bool is_unmarked; /* the first bytes of a file do not show that it has this format */
    /* Upload parameters other than format and name; NULL ends the list. NULL: no format of graphs.
     */
    const char *const *parameters;
};

/* Returns whether a matrix in this format is binary rather than text. */
bool format_is_binary(enum format format);
/* Returns the properties of a format; NULL for FORMAT_NONE. */
const struct format_info *format_info(enum format format);
enum format format_from_name(const char *name);
/* Returns whether media_type is `wanted`, ignoring case and parameters. False for NULL. */
bool format_media_type_is(const char *media_type, const char *wanted);
enum format format_from_media_type(const char *media_type);
/* Returns the format with the file extension of this path. Considers only formats of matrices if
 * matrix_output is true, otherwise only formats from which graphs are read. */
enum format format_from_path(const char *path, bool matrix_output);
/* Returns whether a media type says nothing about the format: it is absent, or text/plain, a
 * generic binary type, or the type of HTML forms, which curl sends by default. */
bool format_media_type_is_vague(const char *media_type);
