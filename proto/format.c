#include "proto/format.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static const char *const of_binary[] = {"directed", "n", "no_edge", NULL};
static const char *const of_numbers[] = {"charset", "directed", "n", "no_edge", NULL};
static const char *const of_metis[] = {"charset", "n", "no_edge", NULL};
static const char *const of_matrix[] = {"charset", "decimal", "directed", "n", "no_edge", NULL};
static const char *const of_tables[] = {"charset", "decimal",       "directed",      "n",
                                        "no_edge", "source_column", "target_column", "weight",
                                        NULL};
static const char *const of_json[] = {"charset",       "directed",      "n",      "no_edge",
                                      "source_column", "target_column", "weight", NULL};
static const char *const of_attributes[] = {"charset", "directed", "n", "no_edge", "weight", NULL};

static const struct format_info table[FORMAT_COUNT] = {
    [FORMAT_DIMACS] = {.name = "dimacs",
                       .description = "DIMACS shortest paths: a line p sp n m, then lines a u v w",
                       .media_types = {"text/x-dimacs-gr", "application/x-dimacs-gr"},
                       .file_endings = {"gr", "dimacs"},
                       .parameters = of_numbers},
    [FORMAT_MTX] =
        {.name = "mtx",
         .description =
             "Matrix Market: coordinate or array; integer, real or pattern; general, symmetric or "
             "skew-symmetric; distances as an array, column by column, with inf for unreachable",
         .media_types = {"text/x-matrix-market", "application/x-matrix-market"},
         .file_endings = {"mtx", "mm"},
         .parameters = of_numbers,
         .matrix_output = true},
    [FORMAT_METIS] = {.name = "metis",
                      .description =
                          "METIS: a header n m [fmt [ncon]], then a line of neighbours per vertex",
                      .media_types = {"text/x-metis", "application/x-metis"},
                      .file_endings = {"graph", "metis"},
                      .parameters = of_metis},
    [FORMAT_EDGES] = {.name = "edges",
                      .description = "one edge per line: source, target, weight (SNAP, CSV, TSV)",
                      .media_types = {"text/csv", "text/tab-separated-values"},
                      .file_endings = {"csv", "tsv", "txt", "edges", "edgelist", "konect", "el"},
                      .parameters = of_tables},
    [FORMAT_MATRIX] = {.name = "matrix",
                       .description = "a square table of numbers (CSV, TSV or spaces), one row per "
                                      "line; an empty field, inf, nan or - marks a missing edge",
                       .media_types = {"text/x-matrix"},
                       .file_endings = {"matrix"},
                       .parameters = of_matrix},
    [FORMAT_NTHU] = {.name = "nthu",
                     .description = "little-endian int32: V, E, then source, target and weight of "
                                    "each edge; a matrix is stored row by row",
                     .media_types = {"application/x-fw-nthu"},
                     .file_endings = {"nthu"},
                     .parameters = of_binary,
                     .is_unmarked = true,
                     .matrix_output = true},
    [FORMAT_JSON] = {.name = "json",
                     .description = "{\"n\": n, \"edges\": [[u,v,w], ..]} or node-link (NetworkX)",
                     .media_types = {"application/json"},
                     .file_endings = {"json"},
                     .parameters = of_json,
                     .matrix_output = true},
    [FORMAT_JGF] = {.name = "jgf",
                    .description = "JSON Graph Format, version 1 or 2: weights in metadata.weight",
                    .media_types = {"application/vnd.jgf+json"},
                    .file_endings = {"jgf"},
                    .parameters = of_attributes},
    [FORMAT_GRAPHML] = {.name = "graphml",
                        .description = "GraphML: weights in the attribute named weight",
                        .media_types = {"application/graphml+xml", "application/xml", "text/xml"},
                        .file_endings = {"graphml", "xml"},
                        .parameters = of_attributes},
    [FORMAT_NPY] = {.name = "npy",
                    .description = "NumPy array file: a square matrix",
                    .media_types = {"application/x-npy"},
                    .file_endings = {"npy"},
                    .parameters = of_binary,
                    .matrix_output = true},
    [FORMAT_RAW] = {.name = "raw",
                    .description = "little-endian rows without a header",
                    .media_types = {"application/octet-stream"},
                    .file_endings = {"raw", "bin"},
                    .matrix_output = true},
    [FORMAT_CSV] = {.name = "csv",
                    .description = "one row per line; an empty field means unreachable",
                    .media_types = {"text/csv"},
                    .file_endings = {"csv"},
                    .matrix_output = true},
    [FORMAT_NDJSON] = {.name = "ndjson",
                       .description =
                           "one JSON array per line, one line per row; null means unreachable",
                       .media_types = {"application/x-ndjson", "application/jsonl"},
                       .file_endings = {"ndjson", "jsonl"},
                       .matrix_output = true},
};

bool format_is_binary(enum format format)
{
    return format == FORMAT_NPY || format == FORMAT_RAW || format == FORMAT_NTHU;
}

const struct format_info *format_info(enum format format)
{
    return format == FORMAT_NONE ? NULL : &table[format];
}

enum format format_from_name(const char *name)
{
    for (int format = FORMAT_NONE + 1; format < FORMAT_COUNT; format++) {
        if (strcmp(table[format].name, name) == 0) {
            return (enum format)format;
        }
    }
    return FORMAT_NONE;
}

bool format_media_type_is(const char *media_type, const char *wanted)
{
    size_t size = media_type == NULL ? 0 : strcspn(media_type, ";");

    while (size > 0 && isspace((unsigned char)media_type[size - 1])) {
        size--;
    }
    return strlen(wanted) == size && strncasecmp(media_type, wanted, size) == 0;
}

enum format format_from_media_type(const char *media_type)
{
    for (int format = FORMAT_NONE + 1; format < FORMAT_COUNT; format++) {
        for (const char *const *at = table[format].media_types; *at != NULL; at++) {
            if (format_media_type_is(media_type, *at)) {
                return (enum format)format;
            }
        }
    }
    return FORMAT_NONE;
}

enum format format_from_path(const char *path, bool matrix_output)
{
    const char *ending = strrchr(path, '.');

    if (ending == NULL || strchr(ending, '/') != NULL) {
        return FORMAT_NONE;
    }
    for (int format = FORMAT_NONE + 1; format < FORMAT_COUNT; format++) {
        if (matrix_output ? !table[format].matrix_output : table[format].parameters == NULL) {
            continue;
        }
        for (const char *const *at = table[format].file_endings; *at != NULL; at++) {
            if (strcasecmp(ending + 1, *at) == 0) {
                return (enum format)format;
            }
        }
    }
    return FORMAT_NONE;
}

bool format_media_type_is_vague(const char *media_type)
{
    static const char *const vague[] = {"", "application/x-www-form-urlencoded",
                                        "application/octet-stream", "text/plain",
                                        "binary/octet-stream"};

    if (media_type == NULL) {
        return true;
    }
    for (size_t i = 0; i < sizeof(vague) / sizeof(vague[0]); i++) {
        if (format_media_type_is(media_type, vague[i])) {
            return true;
        }
    }
    return false;
}
