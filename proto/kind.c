#include "proto/kind.h"

#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "files and responses are written in the byte order of memory, little-endian"
#endif

static const struct {
    const char *name;
    size_t size;
    bool is_float;
} table[KIND_COUNT] = {
    [KIND_AUTO] = {"auto", 0, false}, [KIND_I4] = {"i4", 4, false}, [KIND_U2] = {"u2", 2, false},
    [KIND_F4] = {"f4", 4, true},      [KIND_F8] = {"f8", 8, true},
};

size_t kind_size(enum kind kind)
{
    return table[kind].size;
}

const char *kind_name(enum kind kind)
{
    return table[kind].name;
}

bool kind_from_name(const char *name, enum kind *ret_kind)
{
    for (int kind = 0; kind < KIND_COUNT; kind++) {
        if (strcmp(table[kind].name, name) == 0) {
            *ret_kind = (enum kind)kind;
            return true;
        }
    }
    return false;
}

bool kind_is_float(enum kind kind)
{
    return table[kind].is_float;
}
