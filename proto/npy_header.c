#include "proto/npy_header.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *descr; /* as NumPy writes it */
    const char *name;
    size_t size;
} types[] = {
    [NPY_F4] = {"f4", "float32", 4}, [NPY_F8] = {"f8", "float64", 8},
    [NPY_I4] = {"i4", "int32", 4},   [NPY_I8] = {"i8", "int64", 8},
    [NPY_U2] = {"u2", "uint16", 2},  [NPY_U4] = {"u4", "uint32", 4},
};

/* The literal of a Python dictionary, as far as it was read. */
struct cursor {
    const char *at;
    const char *end;
};

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

static void skip_blanks(struct cursor *cursor)
{
    while (cursor->at < cursor->end && memchr(" \t\r\n", *cursor->at, 4) != NULL) {
        cursor->at++;
    }
}

static bool take(struct cursor *cursor, const char *text)
{
    size_t size = strlen(text);

    skip_blanks(cursor);
    if ((size_t)(cursor->end - cursor->at) < size || memcmp(cursor->at, text, size) != 0) {
        return false;
    }
    cursor->at += size;
    return true;
}

/* Without escapes, of which NumPy writes none here. */
static bool accept_string(struct cursor *cursor, const char **ret_text, size_t *ret_size)
{
    const char *end;
    char quote;

    skip_blanks(cursor);
    if (cursor->at == cursor->end || (*cursor->at != '\'' && *cursor->at != '"')) {
        return false;
    }
    quote = *cursor->at++;
    end = memchr(cursor->at, quote, (size_t)(cursor->end - cursor->at));
    if (end == NULL) {
        return false;
    }
    *ret_text = cursor->at;
    *ret_size = (size_t)(end - cursor->at);
    cursor->at = end + 1;
    return true;
}

static bool parse_number(struct cursor *cursor, uint64_t *ret_value)
{
    uint64_t value = 0;
    size_t digits = 0;

    skip_blanks(cursor);
    for (; cursor->at < cursor->end && *cursor->at >= '0' && *cursor->at <= '9'; digits++) {
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*cursor->at++ - '0'), &value)) {
            return false;
        }
    }
    /* Python 2 wrote its long integers so. */
    (void)take(cursor, "L");
    *ret_value = value;
    return digits > 0;
}

static enum status refuse_type(const char *descr, size_t size, struct problem *reterr)
{
    int shown = size > 40 ? 40 : (int)size;

    if (size > 0 && descr[0] == '>') {
        problem_set(reterr, STATUS_BAD_GRAPH, "The array is big-endian: its type is '%.*s'.", shown,
                    descr);
        problem_hint(reterr, "Save it little-endian: a.astype(a.dtype.newbyteorder('<')).");
    } else if (size > 1 && descr[1] == 'O') {
        problem_set(reterr, STATUS_BAD_GRAPH,
                    "The array holds Python objects, which only a program could read.");
        problem_hint(reterr, "Save it with numbers: a.astype('f8').");
    } else {
        problem_set(reterr, STATUS_BAD_GRAPH, "The array has type '%.*s', which is not read here.",
                    shown, descr);
        problem_hint(reterr, "Types f4, f8, i4, i8, u2 and u4 are: a.astype('f8').");
    }
    return STATUS_BAD_GRAPH;
}

static enum status parse_type(struct cursor *cursor, struct npy_header *header,
                              struct problem *reterr)
{
    const char *descr;
    size_t size;

    if (!accept_string(cursor, &descr, &size)) {
        problem_set(reterr, STATUS_BAD_GRAPH, "The array is one of records, not of numbers.");
        problem_hint(reterr, "Save the one field that has the weights.");
        return STATUS_BAD_GRAPH;
    }
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (size == 3 && descr[0] == '<' && memcmp(descr + 1, types[i].descr, 2) == 0) {
            header->type = (enum npy_type)i;
            header->item_size = types[i].size;
            return STATUS_OK;
        }
    }
    return refuse_type(descr, size, reterr);
}

static enum status refuse_dictionary(struct problem *reterr)
{
    problem_set(reterr, STATUS_BAD_GRAPH, "The header of the .npy file is damaged.");
    problem_hint(reterr, "Save the array again with numpy.save.");
    return STATUS_BAD_GRAPH;
}

static enum status parse_shape(struct cursor *cursor, struct npy_header *header,
                               struct problem *reterr)
{
    uint64_t sizes[2] = {0, 0};
    unsigned count = 0;

    if (!take(cursor, "(")) {
        return refuse_dictionary(reterr);
    }
    while (!take(cursor, ")")) {
        uint64_t size;

        if (!parse_number(cursor, &size)) {
            return refuse_dictionary(reterr);
        }
        if (count < 2) {
            sizes[count] = size;
        }
        count++;
        if (!take(cursor, ",") && (cursor->at == cursor->end || *cursor->at != ')')) {
            return refuse_dictionary(reterr);
        }
    }
    if (count != 2) {
        return problem_set(reterr, STATUS_BAD_GRAPH,
                           "The array has %u dimensions, but a matrix has 2.", count);
    }
    header->rows = sizes[0];
    header->columns = sizes[1];
    return STATUS_OK;
}

static enum status parse_order(struct cursor *cursor, struct npy_header *header,
                               struct problem *reterr)
{
    header->fortran = take(cursor, "True");
    return header->fortran || take(cursor, "False") ? STATUS_OK : refuse_dictionary(reterr);
}

enum member { MEMBER_DESCR = 1, MEMBER_ORDER = 2, MEMBER_SHAPE = 4 };

static enum status parse_member(struct cursor *cursor, unsigned *seen, struct npy_header *header,
                                struct problem *reterr)
{
    static const struct {
        const char *name;
        enum member member;
        enum status (*take)(struct cursor *cursor, struct npy_header *header,
                            struct problem *reterr);
    } members[] = {
        {"descr", MEMBER_DESCR, parse_type},
        {"fortran_order", MEMBER_ORDER, parse_order},
        {"shape", MEMBER_SHAPE, parse_shape},
    };
    const char *name;
    size_t size;

    if (!accept_string(cursor, &name, &size) || !take(cursor, ":")) {
        return refuse_dictionary(reterr);
    }
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        if (strlen(members[i].name) == size && memcmp(members[i].name, name, size) == 0) {
            if ((*seen & members[i].member) != 0) {
                return refuse_dictionary(reterr);
            }
            *seen |= members[i].member;
            return members[i].take(cursor, header, reterr);
        }
    }
    return refuse_dictionary(reterr);
}

static enum status parse(const char *dictionary, size_t size, struct npy_header *ret_header,
                         struct problem *reterr)
{
    struct cursor cursor = {dictionary, dictionary + size};
    struct npy_header header = {.type = NPY_F4};
    enum status status = STATUS_OK;
    unsigned seen = 0;

    if (!take(&cursor, "{")) {
        return refuse_dictionary(reterr);
    }
    while (status == STATUS_OK && !take(&cursor, "}")) {
        status = parse_member(&cursor, &seen, &header, reterr);
        if (status == STATUS_OK && !take(&cursor, ",") &&
            (cursor.at == cursor.end || *cursor.at != '}')) {
            return refuse_dictionary(reterr);
        }
    }
    skip_blanks(&cursor);
    if (status != STATUS_OK) {
        return status;
    }
    if (seen != (MEMBER_DESCR | MEMBER_ORDER | MEMBER_SHAPE) || cursor.at != cursor.end) {
        return refuse_dictionary(reterr);
    }
    *ret_header = header;
    return STATUS_OK;
}

enum status npy_header_read(const unsigned char *bytes, size_t size, struct npy_header *ret_header,
                            size_t *ret_size, struct problem *reterr)
{
    uint32_t dictionary_size;
    size_t begin;

    if (size < 8) {
        *ret_size = 8;
        return STATUS_OK;
    }
    if (memcmp(bytes, "\x93NUMPY", 6) != 0) {
        problem_set(reterr, STATUS_BAD_GRAPH, "This is no .npy file: it has another beginning.");
        problem_hint(reterr, "numpy.save writes one; an .npz is an archive of several.");
        return STATUS_BAD_GRAPH;
    }
    if (bytes[6] < 1 || bytes[6] > 3 || bytes[7] != 0) {
        return problem_set(reterr, STATUS_BAD_GRAPH,
                           "The .npy file has version %u.%u; 1.0, 2.0 and 3.0 are read.", bytes[6],
                           bytes[7]);
    }
    begin = bytes[6] == 1 ? 10 : 12;
    *ret_size = begin;
    if (size < begin) {
        return STATUS_OK;
    }
    dictionary_size = (uint32_t)bytes[8] | (uint32_t)bytes[9] << 8;
    if (bytes[6] > 1) {
        dictionary_size |= (uint32_t)bytes[10] << 16 | (uint32_t)bytes[11] << 24;
    }
    if (dictionary_size > NPY_HEADER_LIMIT - 12) {
        return problem_set(reterr, STATUS_BAD_GRAPH,
                           "The header of the .npy file has %u bytes, more than %d.",
                           dictionary_size, NPY_HEADER_LIMIT - 12);
    }
    *ret_size = begin + dictionary_size;
    return size < *ret_size
               ? STATUS_OK
               : parse((const char *)bytes + begin, dictionary_size, ret_header, reterr);
}

const char *npy_header_type_name(enum npy_type type)
{
    return types[type].name;
}

enum kind npy_header_kind(enum npy_type type)
{
    enum kind kind = KIND_AUTO;
    return kind_from_name(types[type].descr, &kind) ? kind : KIND_AUTO;
}
