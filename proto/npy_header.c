#include "proto/npy_header.h"

#include <ctype.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *descr; /* NumPy's type code without the byte order */
    const char *name;
    size_t size;
} types[] = {
    [NPY_F4] = {"f4", "float32", 4}, [NPY_F8] = {"f8", "float64", 8},
    [NPY_I4] = {"i4", "int32", 4},   [NPY_I8] = {"i8", "int64", 8},
    [NPY_U2] = {"u2", "uint16", 2},  [NPY_U4] = {"u4", "uint32", 4},
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

/* Converts a Python literal as NumPy writes it, "{'descr': '<f8', 'shape': (3, 3L), }", to JSON in
 * place: replaces quotes, brackets, T and F, and removes trailing commas and the L of long
 * integers. Returns the new size. */
static size_t become_json(char *text, size_t size)
{
    static const char python[] = "'()TF";
    static const char json[] = "\"[]tf";
    size_t kept = 0;
    for (size_t i = 0; i < size; i++) {
        const char *found = text[i] != '\0' ? strchr(python, text[i]) : NULL;
        const char c = found != NULL ? json[found - python] : text[i];
        while (kept > 0 && (c == ']' || c == '}') && strchr(" ,", text[kept - 1]) != NULL) {
            kept--;
        }
        if (c != 'L' || kept == 0 || !isdigit((unsigned char)text[kept - 1])) {
            text[kept++] = c;
        }
    }
    return kept;
}

static enum status refuse_type(const char *descr, struct problem *reterr)
{
    if (descr[0] == '>') {
        return problem_refuse(reterr, STATUS_BAD_GRAPH,
                              "Save a little-endian array: a.astype(a.dtype.newbyteorder('<')).",
                              "The array is big-endian: its type is '%.40s'.", descr);
    }
    if (descr[0] != '\0' && descr[1] == 'O') {
        return problem_refuse(reterr, STATUS_BAD_GRAPH,
                              "Convert the array to numbers and save it again: a.astype('f8').",
                              "The array holds Python objects, which are not supported.");
    }
    return problem_refuse(reterr, STATUS_BAD_GRAPH,
                          "Convert the array to f4, f8, i4, i8, u2 or u4: a.astype('f8').",
                          "The array has type '%.40s', which is not supported.", descr);
}

static enum status find_type(const json_t *descr, struct npy_header *header, struct problem *reterr)
{
    const char *text = json_string_value(descr);
    if (text == NULL) {
        return problem_refuse(reterr, STATUS_BAD_GRAPH, "Save only the field with the weights.",
                              "The array has records instead of numbers.");
    }
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (text[0] == '<' && strcmp(text + 1, types[i].descr) == 0) {
            header->type = (enum npy_type)i;
            header->item_size = types[i].size;
            return STATUS_OK;
        }
    }
    return refuse_type(text, reterr);
}

static enum status refuse_dictionary(struct problem *reterr)
{
    return problem_refuse(reterr, STATUS_BAD_GRAPH, "Save the array again with numpy.save.",
                          "The header of the .npy file is damaged.");
}

static enum status find_members(json_t *dictionary, struct npy_header *ret_header,
                                struct problem *reterr)
{
    struct npy_header header = {.type = NPY_F4};
    json_t *descr;
    json_t *shape;
    json_int_t rows;
    json_int_t columns;
    int fortran;
    if (json_unpack(dictionary, "{s:o, s:b, s:o !}", "descr", &descr, "fortran_order", &fortran,
                    "shape", &shape) != 0 ||
        !json_is_array(shape)) {
        return refuse_dictionary(reterr);
    }
    STATUS_TRY(find_type(descr, &header, reterr));
    if (json_array_size(shape) != 2) {
        return problem_set(reterr, STATUS_BAD_GRAPH,
                           "The array has %zu dimensions, but a matrix has 2.",
                           json_array_size(shape));
    }
    if (json_unpack(shape, "[I, I]", &rows, &columns) != 0 || rows < 0 || columns < 0) {
        return refuse_dictionary(reterr);
    }
    header.rows = (uint64_t)rows;
    header.columns = (uint64_t)columns;
    header.fortran = fortran != 0;
    *ret_header = header;
    return STATUS_OK;
}

static enum status parse_dictionary(const unsigned char *bytes, size_t size,
                                    struct npy_header *ret_header, struct problem *reterr)
{
    char text[NPY_HEADER_LIMIT];
    memcpy(text, bytes, size);
    json_t *dictionary = json_loadb(text, become_json(text, size), JSON_REJECT_DUPLICATES, NULL);
    const enum status status = find_members(dictionary, ret_header, reterr);
    json_decref(dictionary);
    return status;
}

enum status npy_header_read(const unsigned char *bytes, size_t size, struct npy_header *ret_header,
                            size_t *ret_size, struct problem *reterr)
{
    if (size < 8) {
        *ret_size = 8;
        return STATUS_OK;
    }
    if (memcmp(bytes, "\x93NUMPY", 6) != 0) {
        return problem_refuse(
            reterr, STATUS_BAD_GRAPH,
            "Write the file with numpy.save; numpy.savez writes an archive (.npz).",
            "This is not an .npy file: its first bytes are wrong.");
    }
    if (bytes[6] < 1 || bytes[6] > 3 || bytes[7] != 0) {
        return problem_set(reterr, STATUS_BAD_GRAPH,
                           "The .npy file has version %u.%u; 1.0, 2.0 and 3.0 are supported.",
                           bytes[6], bytes[7]);
    }
    const size_t begin = bytes[6] == 1 ? 10 : 12;
    *ret_size = begin;
    if (size < begin) {
        return STATUS_OK;
    }
    uint32_t dictionary_size = (uint32_t)bytes[8] | (uint32_t)bytes[9] << 8;
    if (bytes[6] > 1) {
        dictionary_size |= (uint32_t)bytes[10] << 16 | (uint32_t)bytes[11] << 24;
    }
    if (dictionary_size > NPY_HEADER_LIMIT - 12) {
        return problem_set(reterr, STATUS_BAD_GRAPH,
                           "The header of the .npy file has %u bytes, but at most %d are accepted.",
                           dictionary_size, NPY_HEADER_LIMIT - 12);
    }
    *ret_size = begin + dictionary_size;
    return size < *ret_size ? STATUS_OK
                            : parse_dictionary(bytes + begin, dictionary_size, ret_header, reterr);
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
