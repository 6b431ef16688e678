#include "proto/warning.h"

#include "proto/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const names[WARNING_COUNT] = {
    [WARNING_DIRECTED_ASSUMED] = "DirectedAssumed", [WARNING_COLUMNS_UNUSED] = "ColumnsUnused",
    [WARNING_PARALLEL_MERGED] = "ParallelMerged",   [WARNING_FORMAT_GUESSED] = "FormatGuessed",
    [WARNING_ZEROS_ARE_EDGES] = "ZerosAreEdges",    [WARNING_NAME_MOVED] = "NameMoved",
    [WARNING_EDGES_ABSENT] = "EdgesAbsent",         [WARNING_ALL_WEIGHTS_ZERO] = "AllWeightsZero",
    [WARNING_WEIGHTS_ABSENT] = "WeightsAbsent",     [WARNING_HEADER_GUESSED] = "HeaderGuessed",
    [WARNING_DIRECTIONS_READ] = "DirectionsRead",   [WARNING_NEGATIVE_COSTS] = "NegativeCosts",
    [WARNING_KIND_CHANGED] = "KindChanged",         [WARNING_ROUNDED] = "Rounded",
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
    warning->hint[0] = warning->columns[0] = '\0';
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

static void append_columns(struct text *text, const char *columns)
{
    text_append_string(text, ",\"columns\":[");
    for (const char *at = columns; *at != '\0'; at += strspn(at, "\x1F")) {
        const size_t size = strcspn(at, "\x1F");
        text_append(text, ",", at > columns);
        text_append_json_string(text, at, size);
        at += size;
    }
    text_append_char(text, ']');
}

char *warning_print(const struct warnings *warnings)
{
    if (warnings->count == 0) {
        return NULL;
    }
    struct text text = {0};
    for (size_t i = 0; i < warnings->count; i++) {
        const struct warning *warning = &warnings->list[i];
        /* The detail is printed as a JSON string, because a name in it may have been cut inside a
         * character. */
        text_printf(&text, "%s{\"code\":\"%s\",\"detail\":", i == 0 ? "[" : ",",
                    names[warning->code]);
        text_append_json_string(&text, warning->detail, strlen(warning->detail));
        text_append_string(&text, ",\"hint\":");
        text_append_json_string(&text, warning->hint, strlen(warning->hint));
        if (warning->columns[0] != '\0') {
            append_columns(&text, warning->columns);
        }
        text_append_char(&text, '}');
    }
    text_append_string(&text, "]");
    return text_take(&text, NULL);
}
