#include "proto/warning.h"

#include "proto/text.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const names[WARNING_COUNT] = {
    [WARNING_DIRECTED_ASSUMED] = "DirectedAssumed", [WARNING_COLUMNS_UNUSED] = "ColumnsUnused",
    [WARNING_PARALLEL_MERGED] = "ParallelMerged",   [WARNING_FORMAT_GUESSED] = "FormatGuessed",
    [WARNING_ZEROS_ARE_EDGES] = "ZerosAreEdges",    [WARNING_NAME_MOVED] = "NameMoved",
};

struct warning *warning_add(struct warnings *warnings, enum warning_code code, const char *format,
                            ...)
{
    va_list arguments;
    size_t at = 0;
    while (at < warnings->count && warnings->list[at].code < code) {
        at++;
    }
    struct warning *warning = &warnings->list[at];
    if (at == warnings->count || warning->code != code) {
        memmove(warning + 1, warning, (warnings->count - at) * sizeof(*warning));
        warnings->count++;
    }
    warning->code = code;
    warning->hint[0] = '\0';
    va_start(arguments, format);
    vsnprintf(warning->detail, sizeof(warning->detail), format, arguments);
    va_end(arguments);
    return warning;
}

void warning_hint(struct warning *warning, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(warning->hint, sizeof(warning->hint), format, arguments);
    va_end(arguments);
}

char *warning_print(const struct warnings *warnings)
{
    if (warnings->count == 0) {
        return NULL;
    }
    json_t *array = json_array();
    for (size_t i = 0; i < warnings->count; i++) {
        const struct warning *warning = &warnings->list[i];
        json_array_append_new(array, json_pack("{s:s, s:s, s:s}", "code", names[warning->code],
                                               "detail", warning->detail, "hint", warning->hint));
    }
    char *text = array != NULL ? text_print_json(array, JSON_COMPACT) : NULL;
    json_decref(array);
    return text;
}
