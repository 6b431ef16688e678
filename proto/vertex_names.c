#include "proto/vertex_names.h"

#include "proto/number.h"

#include <stdlib.h>
#include <string.h>

enum encoding {
    ENCODING_RANGE = 1,
    ENCODING_NUMBERS,      /* integers, printed as JSON numbers */
    ENCODING_NUMBER_TEXTS, /* strings that happen to be integers, printed as JSON strings */
    ENCODING_TEXTS
};

/* Header of encoded names. `count` i64 numbers, or `count` u32 lengths and the texts, follow it. */
struct header {
    uint32_t encoding;
    uint32_t count;
    uint64_t argument; /* first name of a range, or total size of the texts */
};

struct vertex_names {
    uint32_t count;
    bool numeric;
    uint32_t base;            /* name of row 0 if the names are a range */
    struct name_table *table; /* table of the names; NULL if they are a range */
};

enum status vertex_names_create_range(uint32_t count, uint32_t base,
                                      struct vertex_names **ret_names)
{
    struct vertex_names *names = malloc(sizeof(*names));

    if (names == NULL) {
        return STATUS_NO_MEMORY;
    }
    *names = (struct vertex_names){.count = count, .numeric = true, .base = base};
    *ret_names = names;
    return STATUS_OK;
}

/* Appends a name. Returns STATUS_CORRUPT for a duplicate. */
static enum status add_name(struct vertex_names *names, const char *name, size_t size)
{
    uint32_t row;
    STATUS_TRY(name_table_intern(names->table, name, size, &row));
    return row == names->count++ ? STATUS_OK : STATUS_CORRUPT;
}

static bool is_range(const struct name_table *table, uint32_t count)
{
    const int64_t base = count == 0 ? 0 : name_table_number(table, 0);
    bool is_range = base >= 0 && base <= UINT32_MAX;

    for (uint32_t row = 1; row < count && is_range; row++) {
        is_range = name_table_number(table, row) == base + row;
    }
    return is_range;
}

enum status vertex_names_create(struct name_table **take_table, bool numeric,
                                struct vertex_names **ret_names)
{
    struct name_table *table = *take_table;
    const uint32_t count = name_table_count(table);
    const bool is_numeric = numeric && name_table_is_numeric(table);
    const bool ranges = is_numeric && is_range(table, count);
    const uint32_t base = ranges && count > 0 ? (uint32_t)name_table_number(table, 0) : 0;

    STATUS_TRY(vertex_names_create_range(count, base, ret_names));
    if (ranges) {
        name_table_destroy(table);
    } else {
        (*ret_names)->numeric = is_numeric;
        (*ret_names)->table = table;
    }
    *take_table = NULL;
    return STATUS_OK;
}

void vertex_names_destroy(struct vertex_names *names)
{
    if (names == NULL) {
        return;
    }
    name_table_destroy(names->table);
    free(names);
}

uint32_t vertex_names_count(const struct vertex_names *names)
{
    return names->count;
}

bool vertex_names_numeric(const struct vertex_names *names)
{
    return names->numeric;
}

bool vertex_names_find(const struct vertex_names *names, const char *name, size_t size,
                       uint32_t *ret_row)
{
    int64_t number;

    if (names->table != NULL) {
        return name_table_find(names->table, name, size, ret_row);
    }
    if (!number_is_canonical_integer(name, size, &number) || number < names->base ||
        number - names->base >= names->count) {
        return false;
    }
    *ret_row = (uint32_t)(number - names->base);
    return true;
}

enum status vertex_names_require(const struct vertex_names *names, const char *name, size_t size,
                                 uint32_t *ret_row, struct problem *reterr)
{
    if (vertex_names_find(names, name, size, ret_row)) {
        return STATUS_OK;
    }
    return problem_refuse(reterr, STATUS_NO_SUCH_VERTEX,
                          "GET /v1/graphs/{g}/vertices lists the names of the vertices.",
                          "The graph has no vertex \"%.*s\".", size < 128 ? (int)size : 128, name);
}

const char *vertex_names_get(const struct vertex_names *names, uint32_t row,
                             char buffer[VERTEX_NAME_BUFFER], size_t *ret_size)
{
    char digits[NUMBER_PRINT_SIZE];

    CHECK(row < names->count);
    if (names->table != NULL) {
        return name_table_get(names->table, row, ret_size);
    }
    *ret_size = number_print_integer((int64_t)names->base + row, digits);
    memcpy(buffer, digits, *ret_size);
    return buffer;
}

static enum encoding encoding_of(const struct vertex_names *names)
{
    if (names->table == NULL) {
        return ENCODING_RANGE;
    }
    if (!name_table_is_numeric(names->table)) {
        return ENCODING_TEXTS;
    }
    return names->numeric ? ENCODING_NUMBERS : ENCODING_NUMBER_TEXTS;
}

static uint64_t text_size(const struct vertex_names *names)
{
    uint64_t sum = 0;
    size_t size;

    for (uint32_t row = 0; row < names->count; row++) {
        name_table_get(names->table, row, &size);
        sum += size;
    }
    return sum;
}

size_t vertex_names_encoded_size(const struct vertex_names *names)
{
    switch (encoding_of(names)) {
    case ENCODING_RANGE:
        return sizeof(struct header);
    case ENCODING_NUMBERS:
    case ENCODING_NUMBER_TEXTS:
        return sizeof(struct header) + (size_t)names->count * sizeof(int64_t);
    case ENCODING_TEXTS:
        break;
    }
    return sizeof(struct header) + (size_t)names->count * sizeof(uint32_t) + text_size(names);
}

void vertex_names_encode(const struct vertex_names *names, unsigned char *bytes)
{
    const enum encoding encoding = encoding_of(names);
    const struct header header = {encoding, names->count,
                                  encoding == ENCODING_TEXTS ? text_size(names) : names->base};
    unsigned char *at = bytes + sizeof(header);
    unsigned char *text = at + (size_t)names->count * sizeof(uint32_t);

    memcpy(bytes, &header, sizeof(header));
    for (uint32_t row = 0; row < names->count && encoding != ENCODING_RANGE; row++) {
        if (encoding != ENCODING_TEXTS) {
            const int64_t number = name_table_number(names->table, row);

            memcpy(at + (size_t)row * sizeof(number), &number, sizeof(number));
            continue;
        }
        size_t size;
        const char *name = name_table_get(names->table, row, &size);

        memcpy(at + (size_t)row * sizeof(uint32_t), &(uint32_t){(uint32_t)size}, sizeof(uint32_t));
        memcpy(text, name, size);
        text += size;
    }
}

static enum status decode_numbers(const unsigned char *at, size_t size, uint32_t count,
                                  struct vertex_names *names)
{
    char digits[NUMBER_PRINT_SIZE];

    if (size != (size_t)count * sizeof(int64_t)) {
        return STATUS_CORRUPT;
    }
    for (uint32_t row = 0; row < count; row++) {
        int64_t number;

        memcpy(&number, at + (size_t)row * sizeof(number), sizeof(number));
        STATUS_TRY(add_name(names, digits, number_print_integer(number, digits)));
    }
    return STATUS_OK;
}

static enum status decode_texts(const unsigned char *at, size_t size, uint32_t count,
                                struct vertex_names *names)
{
    size_t used = (size_t)count * sizeof(uint32_t);

    if (used > size) {
        return STATUS_CORRUPT;
    }
    for (uint32_t row = 0; row < count; row++) {
        uint32_t length;

        memcpy(&length, at + (size_t)row * sizeof(length), sizeof(length));
        if (length > VERTEX_NAME_LIMIT || length > size - used) {
            return STATUS_CORRUPT;
        }
        STATUS_TRY(add_name(names, (const char *)at + used, length));
        used += length;
    }
    return used == size && !name_table_is_numeric(names->table) ? STATUS_OK : STATUS_CORRUPT;
}

enum status vertex_names_decode(const unsigned char *bytes, size_t size,
                                struct vertex_names **ret_names)
{
    struct vertex_names *names;
    struct header header;

    if (size < sizeof(header)) {
        return STATUS_CORRUPT;
    }
    memcpy(&header, bytes, sizeof(header));
    if (header.encoding == ENCODING_RANGE) {
        return size == sizeof(header) && header.argument <= UINT32_MAX
                   ? vertex_names_create_range(header.count, (uint32_t)header.argument, ret_names)
                   : STATUS_CORRUPT;
    }
    if (header.encoding < ENCODING_NUMBERS || header.encoding > ENCODING_TEXTS) {
        return STATUS_CORRUPT;
    }
    STATUS_TRY(vertex_names_create_range(0, 0, &names));
    names->numeric = header.encoding == ENCODING_NUMBERS;
    enum status status = name_table_create(&names->table);
    STATUS_THEN(status, (header.encoding == ENCODING_TEXTS ? decode_texts : decode_numbers)(
                            bytes + sizeof(header), size - sizeof(header), header.count, names));
    if (status != STATUS_OK) {
        vertex_names_destroy(names);
        return status;
    }
    *ret_names = names;
    return STATUS_OK;
}
