#include "proto/write/writer.h"

#include "proto/number.h"

#include <math.h>
#include <string.h>

static void append_integer(struct text *text, int64_t value)
{
    char digits[NUMBER_PRINT_SIZE];

    text_append(text, digits, number_print_integer(value, digits));
}

void writer_append_real(struct text *text, double value, bool single)
{
    char digits[NUMBER_PRINT_SIZE];

    text_append(text, digits, number_print_real(value, single, digits));
}

static void append_real(struct text *text, double value, bool single)
{
    if (!isfinite(value)) {
        text_append(text, "null", 4);
    } else {
        writer_append_real(text, value, single);
    }
}

void writer_append_distance(struct text *text, enum kind kind, const void *element)
{
    CHECK(kind != KIND_AUTO && kind != KIND_COUNT);
    switch (kind) {
    case KIND_I4:
        if (*(const int32_t *)element == UNREACHABLE_I4) {
            text_append(text, "null", 4);
        } else {
            append_integer(text, *(const int32_t *)element);
        }
        return;
    case KIND_U2:
        if (*(const uint16_t *)element == UNREACHABLE_U2) {
            text_append(text, "null", 4);
        } else {
            append_integer(text, *(const uint16_t *)element);
        }
        return;
    case KIND_F4:
        append_real(text, (double)*(const float *)element, true);
        return;
    case KIND_F8:
        append_real(text, *(const double *)element, false);
        return;
    case KIND_AUTO:
    case KIND_COUNT:
        break;
    }
}

void writer_append_vertex(struct text *text, const struct vertex_names *names, uint32_t row)
{
    char buffer[VERTEX_NAME_BUFFER];
    size_t size;
    const char *name = vertex_names_get(names, row, buffer, &size);

    if (vertex_names_numeric(names)) {
        text_append(text, name, size);
    } else {
        text_append_json_string(text, name, size);
    }
}

/* RFC 4180: in quotes where it has to be, and where outer blanks would be taken for none. */
static void append_field(struct text *text, const char *name, size_t size)
{
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

void writer_append_field(struct text *text, const struct vertex_names *names, uint32_t row)
{
    char buffer[VERTEX_NAME_BUFFER];
    size_t size;
    const char *name = vertex_names_get(names, row, buffer, &size);

    append_field(text, name, size);
}
