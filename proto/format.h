/* The table of graph and matrix formats: names, media types, file endings and what each is used
 * for. Constant data for any thread. */
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
    const char *description;     /* one line for users */
    const char *media_types[4];  /* the first is canonical; NULL ends the list */
    const char *file_endings[8]; /* without the dot; NULL ends the list */
    bool graph_input;
    bool matrix_output;
    bool sniffed; /* recognized by the first bytes of a file */
    const char *const
        *parameters; /* upload parameters other than format and name; NULL ends the list */
};

/* Returns whether a matrix in this format is bytes rather than text. */
bool format_is_binary(enum format format);
/* Returns NULL for FORMAT_NONE. */
const struct format_info *format_info(enum format format);
enum format format_from_name(const char *name);
/* Returns whether media_type is `wanted`, ignoring case and parameters after ';'. NULL is not. */
bool format_media_type_is(const char *media_type, const char *wanted);
enum format format_from_media_type(const char *media_type);
/* The format with the file ending of this path, among formats that matrices are written in
 * (matrix_output) or that graphs are read from. */
enum format format_from_path(const char *path, bool matrix_output);
/* Returns whether a media type says nothing about the format: absent, curl's default for forms,
 * application/octet-stream or text/plain. */
bool format_media_type_is_vague(const char *media_type);
