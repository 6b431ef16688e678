#include "proto/format.h"

#include "proto/check.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static const struct format_info table[FORMAT_COUNT] = {
    [FORMAT_DIMACS] = {.format = FORMAT_DIMACS,
                       .name = "dimacs",
                       .description = "9th DIMACS Challenge shortest paths: p sp n m, a u v w",
                       .media_types = {"text/x-dimacs-gr", "application/x-dimacs-gr"},
                       .file_endings = {"gr", "dimacs"},
                       .graph_input = true},
    [FORMAT_EDGES] = {.format = FORMAT_EDGES,
                      .name = "edges",
                      .description = "one edge per line: source, target, weight (SNAP, CSV, TSV)",
                      .media_types = {"text/csv", "text/tab-separated-values"},
                      .file_endings = {"csv", "tsv", "txt", "edges", "edgelist", "konect", "el"},
                      .graph_input = true},
    [FORMAT_NTHU] = {.format = FORMAT_NTHU,
                     .name = "nthu",
                     .description = "int32 little-endian: V, E, then E of source, target, weight; "
                                    "the matrix as int32 rows",
                     .media_types = {"application/x-fw-nthu"},
                     .file_endings = {"nthu"},
                     .graph_input = true,
                     .matrix_output = true},
    [FORMAT_JSON] = {.format = FORMAT_JSON,
                     .name = "json",
                     .description = "{\"n\",\"edges\":[[u,v,w],..]} or node-link (NetworkX)",
                     .media_types = {"application/json"},
                     .file_endings = {"json"},
                     .graph_input = true,
                     .matrix_output = true},
    [FORMAT_NPY] = {.format = FORMAT_NPY,
                    .name = "npy",
                    .description = "NumPy array file, mapped with numpy.load(mmap_mode='r')",
                    .media_types = {"application/x-npy"},
                    .file_endings = {"npy"},
                    .matrix_output = true},
    [FORMAT_RAW] = {.format = FORMAT_RAW,
                    .name = "raw",
                    .description = "little-endian rows without a header",
                    .media_types = {"application/octet-stream"},
                    .file_endings = {"raw", "bin"},
                    .matrix_output = true},
};

const struct format_info *format_info(enum format format)
{
    CHECK((unsigned)format < FORMAT_COUNT);
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

/* Without parameters and the blanks before them. */
static size_t media_type_size(const char *media_type)
{
    size_t size = strcspn(media_type, ";");

    while (size > 0 && isspace((unsigned char)media_type[size - 1])) {
        size--;
    }
    return size;
}

static bool media_type_is(const char *media_type, const char *wanted)
{
    size_t size = media_type_size(media_type);

    return strlen(wanted) == size && strncasecmp(media_type, wanted, size) == 0;
}

enum format format_from_media_type(const char *media_type)
{
    for (int format = FORMAT_NONE + 1; format < FORMAT_COUNT; format++) {
        for (const char *const *at = table[format].media_types; *at != NULL; at++) {
            if (media_type_is(media_type, *at)) {
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
        if (matrix_output ? !table[format].matrix_output : !table[format].graph_input) {
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
    for (size_t i = 0; i < sizeof vague / sizeof vague[0]; i++) {
        if (media_type_is(media_type, vague[i])) {
            return true;
        }
    }
    return false;
}

static bool is_text(const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)bytes[i];

        if ((c < 0x20 && strchr("\t\n\v\f\r", c) == NULL) || c == 0 || c == 0x7F) {
            return false;
        }
    }
    return true;
}

enum verdict { VERDICT_OPEN, VERDICT_DIMACS, VERDICT_OTHER };

/* "c" opens comments but may also be the name of a vertex: only a line that cannot be an edge
 * decides at once. */
static enum verdict judge_line(const char *line, size_t size)
{
    if (size > 0 && line[size - 1] == '\r') {
        size--;
    }
    if (size == 0) {
        return VERDICT_OPEN;
    }
    if (size == 1) {
        return line[0] == 'c' ? VERDICT_DIMACS : VERDICT_OTHER;
    }
    if (line[1] != ' ' && line[1] != '\t') {
        return VERDICT_OTHER;
    }
    if (line[0] == 'c') {
        return VERDICT_OPEN;
    }
    if (line[0] == 'p' && size > 2 && isalpha((unsigned char)line[2])) {
        return VERDICT_DIMACS;
    }
    return VERDICT_OTHER;
}

static bool looks_like_dimacs(const char *bytes, size_t size)
{
    size_t whole = size;

    while (size > 0) {
        const char *end = memchr(bytes, '\n', size);
        size_t length = end == NULL ? size : (size_t)(end - bytes);

        switch (judge_line(bytes, length)) {
        case VERDICT_DIMACS:
            return true;
        case VERDICT_OTHER:
            return false;
        case VERDICT_OPEN:
            break;
        }
        length += end != NULL;
        bytes += length;
        size -= length;
    }
    /* A page of lines that all begin with "c " is a licence, not a graph. */
    return whole >= FORMAT_SNIFF_SIZE - 3;
}

enum format format_sniff(const char *bytes, size_t size)
{
    if (size >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0) {
        bytes += 3;
        size -= 3;
    }
    if (size == 0 || !is_text(bytes, size)) {
        return FORMAT_NONE;
    }
    while (size > 0 && strchr(" \t\r\n", *bytes) != NULL) {
        bytes++;
        size--;
    }
    if (size > 0 && (*bytes == '{' || *bytes == '[')) {
        return FORMAT_JSON;
    }
    return looks_like_dimacs(bytes, size) ? FORMAT_DIMACS : FORMAT_EDGES;
}
