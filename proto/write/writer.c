#include "proto/write/writer.h"

#include "proto/number.h"
#include "proto/problem.h"

#include <endian.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define NPY_MAGIC "\x93NUMPY"
#define NPY_MAGIC_SIZE 6
#define NPY_DICT_LIMIT 10000 /* numpy.load refuses longer ones too */

void npy_header_write(enum kind kind, uint64_t rows, uint64_t columns,
                      unsigned char header[NPY_HEADER_SIZE])
{
    static const unsigned char start[] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, NPY_HEADER_SIZE - 10,
                                          0};
    char dict[NPY_HEADER_SIZE];
    int size =
        snprintf(dict, sizeof(dict),
                 "{'descr': '<%s', 'fortran_order': False, 'shape': (%" PRIu64 ", %" PRIu64 "), }",
                 kind_name(kind), rows, columns);

    CHECK(kind != KIND_AUTO && size > 0 && sizeof(start) + (size_t)size < NPY_HEADER_SIZE);
    memcpy(header, start, sizeof(start));
    memset(header + sizeof(start), ' ', NPY_HEADER_SIZE - sizeof(start));
    memcpy(header + sizeof(start), dict, (size_t)size);
    header[NPY_HEADER_SIZE - 1] = '\n';
}

/* Where the dictionary lies; false when this is no .npy. */
static bool find_dict(const unsigned char *bytes, size_t size, size_t *ret_start, size_t *ret_size)
{
    uint32_t long_size;
    uint16_t short_size;

    if (size < 12 || memcmp(bytes, NPY_MAGIC, NPY_MAGIC_SIZE) != 0) {
        return false;
    }
    memcpy(&short_size, bytes + 8, sizeof(short_size));
    memcpy(&long_size, bytes + 8, sizeof(long_size));
    *ret_start = bytes[6] == 1 ? 10 : 12;
    *ret_size = bytes[6] == 1 ? le16toh(short_size) : le32toh(long_size);
    return bytes[6] >= 1 && bytes[6] <= 3 && *ret_size <= NPY_DICT_LIMIT &&
           *ret_size <= size - *ret_start;
}

/* The text after 'key': and blanks, NULL when the key is not there. */
static const char *value_of(const char *dict, const char *key)
{
    const char *at = strstr(dict, key);

    if (at == NULL) {
        return NULL;
    }
    at += strlen(key);
    at += strspn(at, " ");
    if (*at != ':') {
        return NULL;
    }
    return at + 1 + strspn(at + 1, " ");
}

static bool parse_extent(const char **at, uint64_t *ret_value)
{
    size_t size;
    int64_t value;

    *at += strspn(*at, " ");
    size = strspn(*at, "0123456789");
    if (!number_parse_integer(*at, size, &value)) {
        return false;
    }
    *at += size;
    *at += strspn(*at, " ");
    *ret_value = (uint64_t)value;
    return true;
}

static bool parse_shape(const char *at, uint64_t *ret_rows, uint64_t *ret_columns)
{
    if (*at++ != '(' || !parse_extent(&at, ret_rows) || *at++ != ',' ||
        !parse_extent(&at, ret_columns)) {
        return false;
    }
    at += *at == ',';
    at += strspn(at, " ");
    return *at == ')';
}

static bool parse_kind(const char *at, enum kind *ret_kind)
{
    char name[3] = {0};

    if (at == NULL || strnlen(at, 5) < 5 || at[0] != '\'' || at[1] != '<' || at[4] != '\'') {
        return false;
    }
    memcpy(name, at + 2, 2);
    return kind_from_name(name, ret_kind);
}

enum status npy_header_read(const unsigned char *bytes, size_t size, enum kind *ret_kind,
                            uint64_t *ret_rows, uint64_t *ret_columns, size_t *ret_offset,
                            struct problem *reterr)
{
    char dict[NPY_DICT_LIMIT + 1];
    const char *order;
    const char *shape;
    uint64_t columns;
    enum kind kind;
    uint64_t rows;
    size_t start;
    size_t count;

    if (!find_dict(bytes, size, &start, &count)) {
        return problem_set(reterr, STATUS_BAD_GRAPH, "This is no .npy file of version 1 to 3.");
    }
    memcpy(dict, bytes + start, count);
    dict[count] = '\0';
    if (!parse_kind(value_of(dict, "'descr'"), &kind)) {
        return problem_set(reterr, STATUS_BAD_GRAPH,
                           "The elements of the .npy file are none of <i4, <u2, <f4, <f8.");
    }
    order = value_of(dict, "'fortran_order'");
    if (order == NULL || strncmp(order, "False", 5) != 0) {
        return problem_set(reterr, STATUS_BAD_GRAPH, "The .npy file is not in C order.");
    }
    shape = value_of(dict, "'shape'");
    if (shape == NULL || !parse_shape(shape, &rows, &columns)) {
        return problem_set(reterr, STATUS_BAD_GRAPH, "The .npy file is not two-dimensional.");
    }
    *ret_kind = kind;
    *ret_rows = rows;
    *ret_columns = columns;
    *ret_offset = start + count;
    return STATUS_OK;
}

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
