#include "proto/write/writer.h"

#include "proto/number.h"

#include <math.h>
#include <string.h>

#define JSON_INTEGER_LIMIT (1ll << 53)

void writer_append_real(struct text *text, double value, bool single)
{
    char digits[NUMBER_PRINT_SIZE];
    text_append(text, digits, number_print_real(value, single, digits));
}

char *writer_print_cells(enum kind kind, const void *row, const uint32_t *columns, uint32_t first,
                         uint32_t count, const struct cell_style *style, char *to)
{
    const size_t word_size = strlen(style->unreachable);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t column = columns != NULL ? columns[i] : first + i;
        const double distance = kind_element(kind, row, column);
        if (isfinite(distance)) {
            to += number_print_real(distance, kind == KIND_F4, to);
        } else {
            memcpy(to, style->unreachable, word_size);
            to += word_size;
        }
        *to++ = style->separator;
    }
    return count > 0 ? to - 1 : to;
}

void writer_append_cells(struct text *text, enum kind kind, const void *row,
                         const uint32_t *columns, uint32_t first, uint32_t count,
                         const struct cell_style *style)
{
    char *to = text_reserve(text, (size_t)count * CELL_SIZE);
    if (to != NULL) {
        const char *end = writer_print_cells(kind, row, columns, first, count, style, to);
        text_advance(text, (size_t)(end - to));
    }
}

void writer_append_distance(struct text *text, enum kind kind, const void *element)
{
    writer_append_cells(text, kind, element, NULL, 0, 1, &(struct cell_style){',', "null"});
}

void writer_append_vertex(struct text *text, const struct vertex_names *names, uint32_t row)
{
    char buffer[VERTEX_NAME_BUFFER];
    size_t size;
    const char *name = vertex_names_get(names, row, buffer, &size);
    int64_t number;
    /* JSON parsers that use doubles would round larger integers, so larger ones become strings. */
    if (vertex_names_numeric(names) && number_parse_integer(name, size, &number) &&
        number <= JSON_INTEGER_LIMIT && number >= -JSON_INTEGER_LIMIT) {
        text_append(text, name, size);
    } else {
        text_append_json_string(text, name, size);
    }
}

void writer_append_field(struct text *text, const struct vertex_names *names, uint32_t row)
{
    char buffer[VERTEX_NAME_BUFFER];
    size_t size;
    const char *name = vertex_names_get(names, row, buffer, &size);
    bool plain = size > 0 && name[0] != ' ' && name[0] != '\t' && name[size - 1] != ' ' &&
                 name[size - 1] != '\t';
    for (size_t i = 0; i < size; i++) {
        plain = plain && memchr(",\"\r\n", name[i], 4) == NULL;
    }
    if (plain) {
        text_append(text, name, size);
        return;
    }
    text_append_char(text, '"');
    for (size_t i = 0; i < size; i++) {
        text_append(text, "\"\"", name[i] == '"' ? 2 : 0);
        text_append(text, name + i, name[i] != '"');
    }
    text_append_char(text, '"');
}
